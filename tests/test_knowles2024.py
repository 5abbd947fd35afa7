"""Knowles & Lo 2024: its numbers and claims have one row each, and what is built for them is right."""

import itertools
import json

import numpy as np
import pandas as pd
import pingouin
import pytest

from evalkit import ROOT, data
from evalkit.human import annotators as people
from evalkit.human import calibration, normalization
from evalkit.papers import knowles2024, wmt
from evalkit.stats import verdicts
from tests.makers import laid_out

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


def made_up(seed, *, documents=12, length=8, people=8, spread=15.0):
    """Calibration items whose documents differ by ``spread`` points, annotators by level and gain."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, spread, (documents, 1)) + rng.normal(0, 5, (documents, length))
    heard = quality.reshape(-1, 1) + rng.normal(0, 4, (documents * length, people))
    score = 50 + rng.normal(0, 12, people) + rng.uniform(0.5, 1.5, people) * heard
    table = laid_out(score, "segment annotator", documents=np.repeat(np.arange(documents), length))
    return table.assign(item_type="calibration", score=table["score"].clip(0, 100))


def test_a_common_set_is_worth_more_where_documents_differ_and_nothing_where_they_are_alike():
    unlike = normalization.common_or_own(made_up(1, spread=25), splits=60).iloc[0]
    assert unlike["documents"] == 3
    assert unlike["low"] > 0.02
    alike = [normalization.common_or_own(made_up(seed, spread=0.0), splits=60)["gain"].iloc[0] for seed in range(6)]
    assert abs(np.mean(alike)) < 0.01


def test_agreement_from_a_common_set_is_that_of_scores_put_on_it_by_hand():
    """Oracle: every split in halves, and ICC(A,1) of McGraw & Wong 1996 from pingouin."""
    table = made_up(3, documents=8, people=5)
    found = normalization.common_or_own(table, splits=1, seed=4).iloc[0]
    icc = []
    for held in itertools.combinations(table["doc"].unique(), 4):
        half = table[table["doc"].isin(held)]
        icc.append(pingouin.intraclass_corr(half, "segment", "annotator", "score")["ICC"].iloc[1])
    assert min(abs(value - found["raw"]) for value in icc) < 1e-9


def test_work_worth_a_set_of_100_is_as_sure_as_the_set_in_simulation():
    parts = {"pair": ["p"], "document": [30.0], "item": [50.0], "annotator": [0.0], "block": [12.0], "residual": [80.0]}
    table = pd.DataFrame(parts | {"block_length": [10.0]})
    [work] = calibration.equal_work(table)["judgements"]
    assert work == np.ceil(100 * (1 + (10 * 30 + 50) / (10 * 12 + 80)))
    rng = np.random.default_rng(1)
    sizes = {"own": work // 10 * 10, "set": 100}
    errors = {}
    for way, size in sizes.items():
        blocks = (3000, size // 10)
        noise = rng.normal(0, np.sqrt(80), (*blocks, 10)).mean(2) + rng.normal(0, np.sqrt(12), blocks)
        if way == "own":  # on the set, all judge the same, and what the texts are cancels
            noise += rng.normal(0, np.sqrt(30), blocks) + rng.normal(0, np.sqrt(50), (*blocks, 10)).mean(2)
        errors[way] = noise.mean(1).std() * np.sqrt(size / (work if way == "own" else 100))
    assert errors["own"] == pytest.approx(errors["set"], rel=0.05)


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
