"""Automatic scores and tables of marked errors: beside results, at the command line, in archives, and as published."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data.typology import SCHEMES, WMT
from evalkit.human import mqm
from evalkit.reports import cli
from tests.makers import imports
from tests.workbooks import tarred

pytestmark = pytest.mark.usefixtures("own_folder")


def people():
    """Judgements of two systems on six segments, and what a metric would give each, without chance."""
    frame = pd.DataFrame([(system, str(n)) for system in "AB" for n in range(1, 7)], columns=["system", "segment"])
    frame = frame.assign(annotator="Ann", score=np.arange(20, 32), lp="en-de")
    return frame.assign(comet=frame["system"].map({"A": 0.5, "B": 0.25}) + frame["segment"].astype(int) / 100)


def test_metrics_are_read_beside_a_result_without_importing_again(imported, tmp_path):
    table = people()[["system", "segment", "comet"]]
    table.to_csv("m.csv", index=False)
    campaign = people().drop(columns="comet").to_csv(index=False)
    ratings, *_ = imported(campaign)
    beside = data.open_judges("c.parquet", ratings=ratings, metrics=["m.csv"])
    assert beside[["system", "segment", "score"]].values.tolist() == table.values.tolist()
    imported(campaign, metric_files=["m.csv"])
    within = data.open_judges("c.parquet")
    assert beside.attrs["source"] == within.attrs["source"], "the same files, the same digests"
    assert (within.attrs["source"]["name"], within.attrs["source"]["origin"]) == ("c-metrics", "my.csv, m.csv")
    for files, words in ((["m.csv"], "called comet"), ("absent.csv", r"absent\.csv is not there")):
        with pytest.raises(DataError, match=words):
            data.open_judges("c.parquet", ratings=ratings, metrics=files)


def test_the_command_takes_columns_and_files_of_metrics():
    people().to_csv("my.csv", index=False)
    people()[["system", "segment"]].assign(TER=0.5).to_csv("m.csv", index=False)
    assert (
        cli.main(
            [
                "import",
                "my.csv",
                *["--metric", "comet", "--metric", "TER-", "--metrics", "m.csv", "--out", "my.parquet"],
            ]
        )
        == 0
    )
    assert data.open_judges("my.parquet")["annotator"].unique().tolist() == ["comet", "TER"]


# Marked errors

GOOGLES = imports()["errors_give_scores_and_spans_with_their_places_and_sides"]["text"]
SIDES = imports()["errors_two_systems_on_a_screen"]["text"]


def test_marks_lie_where_their_text_stands_and_weigh_what_the_package_gives_them(imported):
    ratings, spans, _ = imported(GOOGLES, "mqm_ende.tsv")
    for row in spans.merge(ratings, on=["system", "segment", "annotator"]).itertuples():
        text = {"target": row.hypothesis, "source": row.source}[row.side]
        assert text[int(row.start) : int(row.end)] == row.text
    assert mqm.segment_scores(ratings, spans, WMT)["mqm"].tolist() == pytest.approx(ratings["score"].tolist())


@pytest.mark.parametrize("told", ["nobody", "minor=x", "minor=-1", "=5", "*=1", "release nobody", ""])
def test_weights_that_are_none_are_refused(told, imported):
    with pytest.raises(DataError, match=r"^--weights"):
        imported(GOOGLES, "mqm_ende.tsv", weights=told)


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_of_weights_is_found_by_its_name(name, imported):
    faultless = "system\tseg_id\trater\tcategory\tseverity\nA\t1\tr\tNo-error\tno-error\n"
    *_, report = imported(faultless, "mqm_ende.tsv", weights=name.upper())
    assert report.weights.startswith(SCHEMES[name].describe())


def test_the_one_table_of_an_archive_is_read(imported, tmp_path):
    members = {"a/mqm_ende.tsv": SIDES, "a/._mqm_ende.tsv": b"\0", "README.md": b"read me"}
    ratings, *_ = imported(tarred(tmp_path / "x.tar.gz", members))
    assert (len(ratings), set(ratings["tgt_lang"])) == (5, {"deu"})
    with pytest.raises(DataError, match=r"--lower-is-better"):
        imported(tmp_path / "x.tar.gz", lower_is_better=True)  # scores made of errors are not turned round
    with pytest.raises(DataError, match="unpack it"):
        imported(tarred(tmp_path / "y.tar.gz", members | {"b.tsv": b"x"}))


GOOGLE = "google/wmt-mqm-human-evaluation/*"
#: The table of TED talks, English to German, in the README of google/wmt-mqm-human-evaluation.
PRINTED = """ref 0.91 Facebook-AI 1.06 Online-W 1.12 VolcTrans-AT 1.24 metricsystem3 1.44 VolcTrans-GLAT 1.49
    HuaweiTSC 1.50 metricsystem1 1.63 metricsystem2 1.69 metricsystem5 1.72 UEdin 1.77 metricsystem4 1.78
    eTranslation 1.96 Nemo 2.14"""


def test_ted_talks_give_the_scores_that_are_published(imported, mirrored):
    ratings, *_ = imported(mirrored(f"{GOOGLE}/ted/ende/mqm_ted_ende.tsv"))
    averages = pd.read_csv(mirrored(f"{GOOGLE}/ted/ende/*.avg_seg_scores.tsv"), sep=r"\s+")
    expected = averages.dropna().astype({"seg_id": str}).set_index(["system", "seg_id"])["mqm_avg_score"]
    expected = expected.rename({"ref-A": "ref"}, level="system")
    assert len(expected) == len(ratings) == 7406
    found = ratings.set_index(["system", "segment"])["score"]
    assert (found.loc[expected.index] - expected).abs().max() < 1e-6, "each segment"
    means = -ratings.groupby("system")["score"].mean()
    printed = dict(zip(PRINTED.split()[::2], map(float, PRINTED.split()[1::2]), strict=True))
    off = {name for name, score in printed.items() if abs(means[name] - score) > 0.005}
    assert off == {"eTranslation"}, "printed 1.96, where the repository's own averages of segments give 1.9688"
    assert means["eTranslation"] == pytest.approx(-expected.loc["eTranslation"].mean(), abs=1e-6)
    assert means["eTranslation"] == pytest.approx(1.9688, abs=5e-5)
    assert set(ratings.query("item_type == 'reference'")["system"]) == {"ref"}
