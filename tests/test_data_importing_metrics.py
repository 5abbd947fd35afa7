"""Automatic scores that an import reads: columns of people's file, tables, mt-metrics-eval's layout; misfits."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.reports import cli


@pytest.fixture(autouse=True)
def own_folder(own_salt, tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them, and results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def people(segments=6):
    """Judgements of two systems by two people; segments are numbers in one of two documents."""
    keys = [(system, n, person) for system in "AB" for n in range(1, segments + 1) for person in ("Ann", "Bob")]
    frame = pd.DataFrame(keys, columns=["system", "segment", "annotator"])
    frame["doc"] = np.where(frame["segment"] <= 3, "d1", "d2")
    frame["score"] = np.random.default_rng(1).integers(20, 90, len(frame))
    plain = {"src_lang": "eng", "tgt_lang": "deu", "item_type": "system"}
    return frame.astype({"segment": "str"}).assign(**plain)


def scores_of(frame):
    """A score of each item, without chance: what a metric would give it."""
    return frame["system"].map({"A": 0.5, "B": 0.25}) + frame["segment"].astype(int) / 100


def imported(frame, **options):
    frame.to_csv("my.csv", index=False)
    report, _ = importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, **options)
    return report, data.open_judges("my.parquet")


def held(found, name):
    """Scores of one metric by (system, segment)."""
    own = found[(found["annotator"] == name) & (found["level"] == "segment")]
    assert not own.duplicated(["system", "doc", "segment"]).any()
    return own.set_index(["system", "segment"])["score"].to_dict()


def expected():
    items = people().drop_duplicates(["system", "segment"])
    return dict(zip(zip(items["system"], items["segment"]), scores_of(items)))


def better(found):
    """Say of each metric which scores are better."""
    return found.groupby("annotator")["better"].first().to_dict()


def judged():
    return data.open_campaign("my.parquet")[0]


# Columns


def test_columns_are_metrics_an_item_a_score():
    frame = people()
    frame["wmt22-comet"], frame["ter"], frame["own"] = scores_of(frame), 1 - scores_of(frame), scores_of(frame)
    frame["MetricX-24"] = -scores_of(frame)  # errors below 0 have been turned round
    report, found = imported(frame, metric_columns=["COMET=wmt22-comet", "ter", "own-", "MetricX-24"])
    assert (sorted(judged()["annotator"].unique()), judged()["score"].sum()) == (["Ann", "Bob"], frame["score"].sum())
    assert held(found, "COMET") == pytest.approx(expected())
    assert better(found) == {"COMET": "higher", "ter": "lower", "own": "lower", "MetricX-24": "higher"}
    assert all("12 of 12 items" in line for line in report.metrics)


def test_a_well_known_heading_is_named_and_never_taken():
    frame = people().assign(comet=scores_of, GEMBA=50.0)
    report, found = imported(frame)
    assert found is None
    for name in ("comet", "GEMBA"):
        assert any(f"--metric {name}" in note for note in report.notes)
    wide = people().drop(columns="score").assign(adequacy=people()["score"], TER=30.0)
    imported(wide)
    assert judged()["score"].sum() == people()["score"].sum(), "not TER's besides, as a second criterion"
    columns = people().pivot_table(index=["system", "segment"], columns="annotator", values="score").reset_index()
    imported(columns.assign(GEMBA=50.0), wide="annotators")
    assert sorted(judged()["annotator"].unique()) == ["Ann", "Bob"]


ASKED = {
    "own": r"--metric own\+",
    "gemba-mqm": "higher or lower scores of gemba-mqm",
    "absent": "--metric absent",
    "words": "words holds no number",
}


@pytest.mark.parametrize("told", ASKED)
def test_what_nothing_tells_is_asked(told):
    frame = people().assign(own=1.0, words="fine", **{"gemba-mqm": 3.0})
    with pytest.raises(DataError, match=ASKED[told]):
        imported(frame, metric_columns=[told])
    assert not Path("my.parquet").exists()


def test_scores_of_one_output_that_differ_are_averaged_and_told():
    frame = people().assign(bleu=lambda t: scores_of(t) + t["annotator"].eq("Bob") * 0.02)
    frame.loc[0, "bleu"] = np.nan
    report, found = imported(frame, metric_columns=["bleu"])
    right = {key: value + 0.01 for key, value in expected().items()} | {("A", "1"): expected()["A", "1"] + 0.02}
    assert held(found, "bleu") == pytest.approx(right)
    assert any("of 11, the mean stands" in note for note in report.notes)


def test_degraded_items_are_other_texts():
    frame = people()
    bad = frame[frame["segment"].eq("1")].assign(item_type="degraded", score=5)
    both = pd.concat([frame, bad]).assign(comet=lambda t: scores_of(t) * t["item_type"].eq("system"))
    assert held(imported(both, metric_columns=["comet"])[1], "comet") == pytest.approx(expected())


# Tables


def table_of_metrics():
    items = people().drop_duplicates(["system", "segment"])[["system", "doc", "segment"]]
    return items.assign(COMET=scores_of, TER=lambda t: 1 - scores_of(t))


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "long.csv", "no_docs.csv", "other_docs.csv"])
def test_tables_are_matched_by_names(name):
    table = table_of_metrics()[::-1]
    if name == "long.csv":
        table = table.melt(["system", "doc", "segment"], var_name="metric", value_name="score")
    if name == "no_docs.csv":
        table = table.drop(columns="doc")
    if name == "other_docs.csv":
        table["doc"] = "x" + table["doc"]
    if name.endswith("jsonl"):
        table.to_json(name, orient="records", lines=True)
    else:
        table.to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")
    report, found = imported(people(), metric_files=[name])
    assert held(found, "COMET") == pytest.approx(expected())
    assert held(found, "TER") == pytest.approx({key: 1 - value for key, value in expected().items()})
    assert better(found) == {"COMET": "higher", "TER": "lower"}
    assert "12 of 12 items, matched by system" in report.metrics[0]
    assert ("documents are called otherwise" in report.metrics[0]) == (name == "other_docs.csv")


def test_what_does_not_match_is_counted():
    more = pd.DataFrame({"system": ["Z", "A"], "doc": ["d1", "d9"], "segment": ["1", "1"], "COMET": [1.0, 1.0]})
    table = pd.concat([table_of_metrics().query("not (system == 'B' and segment == '2')"), more])
    table[["system", "doc", "segment", "COMET"]].to_csv("m.csv", index=False)
    report, found = imported(people(), metric_files=["m.csv"])
    right = {key: value for key, value in expected().items() if key != ("B", "2")}
    unjudged = found["doc"].eq("d9")  # a system's other segments are kept: they may stand in for judgements
    assert found.loc[unjudged, ["system", "segment", "score"]].values.tolist() == [["A", "1", 1.0]]
    assert held(found[~unjudged], "COMET") == pytest.approx(right)
    assert all(told in report.metrics[0] for told in ("11 of 12 items", "2 further scores", "Z"))


MISFITS = {
    "segment": lambda t: t.drop(columns="segment"),
    "none of its 12 scores": lambda t: t.assign(system="Z" + t["system"]),
    "more than once": lambda t: pd.concat([t, t.assign(COMET=0.1)]),
    "line 2, column COMET": lambda t: t.assign(COMET="high"),
    "COMET has no score": lambda t: t.assign(COMET=np.nan),
    "whose scores": lambda t: t.rename(columns={"COMET": "ours", "TER": "mine"}),
    "no row that names": lambda t: t.assign(metric="", score="1"),
}


@pytest.mark.parametrize("words", MISFITS)
def test_tables_that_cannot_be_matched_are_refused(words):
    MISFITS[words](table_of_metrics()).to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=rf"m\.csv.*{words}"):
        imported(people(), metric_files=["m.csv"])


def test_documents_and_languages_are_needed_where_people_judged_several_of_one_name():
    same = people().assign(segment=lambda t: ((t["segment"].astype(int) - 1) % 3).astype(str))
    table_of_metrics().drop(columns="doc").to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=r"m\.csv has no column doc"):
        imported(same, metric_files=["m.csv"])
    pairs = pd.concat([people(), people().assign(tgt_lang="jpn")])
    table_of_metrics().to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=r"m\.csv does not say the languages"):
        imported(pairs, metric_files=["m.csv"])
    table_of_metrics().assign(pair="en-ja").to_csv("m.csv", index=False)
    assert imported(pairs, metric_files=["m.csv"])[1]["tgt_lang"].unique().tolist() == ["jpn"]


# mt-metrics-eval's layout


def layout(folder, *, first=1, lines=6, name="COMET-refA", documents=True, scored=lambda line: True):
    """Write mt-metrics-eval's files of a metric: each system's segments in order."""
    place = folder / "metric-scores" / "en-de"
    place.mkdir(parents=True, exist_ok=True)
    starts, rows = {"B": 0.25, "A": 0.5, "Z": 0}, []
    for system, n in ((system, n) for system in starts for n in range(lines)):
        rows.append(f"{system}\t{starts[system] + (n + first) / 100 if scored(n) else None}\n")
    (place / f"{name}.seg.score").write_text("".join(rows), encoding="utf-8")
    if documents:
        (folder / "documents").mkdir(exist_ok=True)
        docs = ["news\td1\n" if n + first <= 3 else "news\td2\n" for n in range(lines)]
        (folder / "documents" / "en-de.docs").write_text("".join(docs), encoding="utf-8")
    return place / f"{name}.seg.score"


@pytest.mark.parametrize("first", [1, 0])
def test_lines_are_counted_as_documents_say(tmp_path, first):
    report, found = imported(people(), metric_files=[layout(tmp_path, first=first, lines=7 - first)])
    assert held(found, "COMET") == pytest.approx(expected())
    assert f"counted from {first}" in report.metrics[0]


def test_numbers_within_documents_are_matched_by_the_documents(tmp_path):
    def within(frame):
        return frame.assign(segment=((frame["segment"].astype(int) - 1) % 3).astype(str))

    report, found = imported(within(people()), metric_files=[layout(tmp_path)])
    assert "the order within documents, counted from 0" in report.metrics[0]
    right = within(people().drop_duplicates(["system", "segment"]).assign(score=scores_of))
    keys = ["system", "doc", "segment"]
    assert found.set_index(keys)["score"].to_dict() == pytest.approx(right.set_index(keys)["score"].to_dict())


def test_without_documents_only_what_is_sure_is_matched(tmp_path):
    _, found = imported(people(), metric_files=[layout(tmp_path, documents=False)])
    assert held(found, "COMET") == pytest.approx(expected()), "segment 6 of 6 lines: counted from 1"
    unsure = layout(tmp_path / "more", documents=False, lines=9)
    for frame, words in (
        (people(), "nothing tells which"),
        (people().assign(segment=lambda t: "s" + t["segment"]), "'s1', 's2'"),
        (people().assign(system=lambda t: t["system"] + "1"), "no system has the same name"),
    ):
        with pytest.raises(DataError, match=words):
            imported(frame, metric_files=[unsure])
    holes = layout(tmp_path / "holes", documents=False, lines=9, scored=lambda n: n < 6)
    _, found = imported(people(), metric_files=[holes])
    assert held(found, "COMET") == pytest.approx(expected()), "only lines 1 to 6 have scores: those are people's"


def test_folders_have_many_metrics_and_scores_of_systems(tmp_path):
    for name in ("COMET-refA", "TER-refA", "BLEU-refA", "BLEU-refB"):
        layout(tmp_path / "wmt", name=name)
    scores = tmp_path / "wmt" / "metric-scores"
    (scores / "en-de" / "slide-src.sys.score").write_text("A\t3\nB\t2\nZ\t1\n")
    _, found = imported(people(), metric_files=[tmp_path / "wmt"])
    assert sorted(found["annotator"].unique()) == ["BLEU-refA", "BLEU-refB", "COMET", "TER", "slide"]
    assert better(found)["TER"] == "lower", "positive, though the layout keeps higher"
    whole = found[found["level"] == "system"]
    assert whole[["annotator", "system", "score"]].values.tolist() == [["slide", "A", 3], ["slide", "B", 2]]
    assert better(imported(people(), metric_files=[tmp_path / "wmt"], metric_columns=["TER+"])[1])["TER"] == "higher"


BROKEN = {
    b"A\t0.1\nA\n": "line 2",
    b"A\t0.1\nA\thigh\n": "line 2: 'high'",
    b"A\t0.1\nA\tinf\n": "line 2: 'inf'",
    "A\t0.1\nA\t0,2\ufeff\n".encode("utf-16"): "UTF-8",
    b"A\t0.1\nA\t0.2\nB\t0.1\n": "B has 1 lines, A 2",
}


@pytest.mark.parametrize("content", BROKEN)
def test_broken_layouts_are_refused(tmp_path, content):
    (tmp_path / "en-de.COMET-refA.seg.score").write_bytes(content)
    with pytest.raises(DataError, match=BROKEN[content]):
        imported(people(), metric_files=[tmp_path / "en-de.COMET-refA.seg.score"])


# Beside a result, and at the command line


def test_metrics_are_read_beside_a_result_without_importing_again():
    imported(people())
    ratings = judged()
    table_of_metrics().to_csv("m.csv", index=False)
    found = data.open_judges("my.parquet", ratings=ratings, metrics=["m.csv"])
    assert held(found, "COMET") == pytest.approx(expected())
    source = found.attrs["source"]
    assert (source["name"], source["origin"]) == ("my-metrics", "my.csv, m.csv")
    imported(people(), metric_files=["m.csv"])
    assert data.open_judges("my.parquet").attrs["source"] == source, "the same files, the same digests"
    for files, words in ((["m.csv"], "called COMET"), ("absent.csv", r"absent\.csv is not there")):
        with pytest.raises(DataError, match=words):
            data.open_judges("my.parquet", ratings=ratings, metrics=files)


def test_the_command_takes_columns_and_files(capsys):
    people().assign(comet=scores_of).to_csv("my.csv", index=False)
    table_of_metrics()[["system", "segment", "TER"]].to_csv("m.csv", index=False)
    words = ["import", "my.csv", "--metric", "comet", "--metric", "TER-", "--metrics", "m.csv", "--out", "my.parquet"]
    assert cli.main(words) == 0
    assert "TER: m.csv, 12 of 12 items" in capsys.readouterr().err
    assert data.open_judges("my.parquet")["annotator"].unique().tolist() == ["comet", "TER"]
