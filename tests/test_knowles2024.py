"""Knowles & Lo 2024: its numbers and claims have one row each, and what is built for them is right."""

import json

import pandas as pd
import pytest

from evalkit import ROOT, data
from evalkit.human import annotators as people
from evalkit.papers import knowles2024, wmt
from evalkit.stats import verdicts

LISTS = ("knowles2024_prose", "knowles2024_context")


@pytest.fixture(scope="module")
def claimed():
    return pd.concat([data.published(name).fillna("") for name in LISTS], ignore_index=True)


def test_each_claim_belongs_to_one_study_that_holds_no_others(claimed):
    notebooks = {path.stem: json.loads(path.read_text()) for path in (ROOT / "notebooks" / "studies").glob("*.ipynb")}
    source = {name: "".join("".join(cell["source"]) for cell in book["cells"]) for name, book in notebooks.items()}
    for name in LISTS:
        own = set(data.published(name)["study"])
        users = {study for study, text in source.items() if f'data.published("{name}")' in text}
        assert users == own
        for study in own if len(own) > 1 else ():
            assert f'printed[printed["study"] == "{study}"]' in source[study]


def test_two_claims_that_fail_are_counted(real):
    """Oracle: plain pandas on the calibration HITs, all of whose 17 annotators of eng-jpn are kept."""
    ratings = real("wmt22-calibration-hits")
    accounts = people.accounts(ratings, real("wmt22-calibration-mapping"), complete_at=100)
    kept = people.keep(ratings, accounts)
    japanese = kept[kept["tgt_lang"] == "jpn"].groupby("annotator")["score"]
    distinct, spread = japanese.nunique().drop("engjpn1614"), japanese.std()
    assert (len(distinct), (distinct >= 40).sum()) == (16, 3)
    assert spread.rank()["engjpn1611"] == 6
    beside = knowles2024.beside(people.usage(kept), "engjpn1611").set_index("annotator")
    expected = (spread - spread["engjpn1611"]).drop("engjpn1611")
    pd.testing.assert_series_equal(beside["sd_above"], expected, check_names=False)


def test_who_has_the_lowest_correlation_is_explained_by_either_of_the_two():
    extremes = pd.DataFrame({"pair": "p", "statistic": ["r", "s", "t"], "min_between": ["a b", "c b", "c d"]})
    profiles = pd.DataFrame({"pair": "p", "annotator": list("abcd"), "min": [52.0, 0, 50, 10]})
    table = knowles2024.lowest_between(extremes, profiles.assign(grid=["none", "none", "none", "7"]))
    assert table["high_only"].tolist() == [True, False, False]
    assert table["coarse"].tolist() == [False, False, True]
    assert table["explained"].tolist() == [True, False, True]


@pytest.mark.parametrize(("year", "scale", "equal"), [(21, "z", 80), (22, "z", 68), (21, "raw", 77), (22, "raw", 58)])
def test_official_scores_are_rows_and_each_difference_has_its_reason(year, scale, equal, real):
    ratings, official = real(f"wmt{year}-mturk"), real(f"wmt{year}-mturk-ranking")
    rows = wmt.compare_scores(ratings, official, scale=scale, paper=f"WMT{year}, official ranking")
    judged = pd.DataFrame(verdicts.judge(rows))
    assert len(judged) == len(official)
    assert (judged["verdict"] == "match").sum() == equal
    assert judged.loc[judged["verdict"] == "differs", "note"].str.contains("with 0 for these the score becomes").all()
    absent = rows[judged["verdict"] == "not reproducible"]
    assert set(absent["lacking"]) == ({"scores not here: WMT21 zho-eng"} if year == 21 else set())
    assert judged.set_index(["item", "cell"]).index.is_unique
