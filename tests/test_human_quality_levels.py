"""Quality levels of marked errors: examples and definitions of MQM, intervals of Poisson counts, verdicts that hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from statsmodels.stats.rates import confint_poisson

from evalkit import DataError, campaign, data
from evalkit.campaign.findings import say
from evalkit.data import importing
from evalkit.human import quality_levels as levels
from evalkit.human.quality_levels import Tolerance

MINOR = (1.0, 1.0)


def test_mqm_s_example_and_its_definitions():
    """Ten minor errors in 1,000 words are a raw score of 99 (themqm.org's example); the rest are its definitions."""
    assert levels.raw_score(10, 1000) == 99
    ten = Tolerance([(1000, 10)])  # scaling factor (100 - 90) / 10 = 1: a penalty point per 1,000 words is a point
    assert ten.score([10, 20, 5], [1000, 1000, 1000]).tolist() == [90, 80, 95]
    assert ten.score([10, 5], [2000, 500]).tolist() == [95, 90]
    assert Tolerance([(1000, 2)], threshold=98).score([2, 3], [1000, 1000]).tolist() == [98, 97]


@given(st.floats(50, 5000), st.floats(1, 100), st.floats(1.05, 50), st.floats(0.02, 0.98))
def test_a_logarithm_goes_through_both_points_and_is_one_and_nears_the_line_where_they_are_proportional(
    n, t, longer, at
):
    more = 1 + at * (longer - 1)
    curve = Tolerance([(n, t), (n * longer, t * more)])
    assert curve.allowed([n, n * longer]) == pytest.approx([t, t * more], rel=1e-6)
    size = np.geomspace(n / 10, 10 * n * longer, 40)
    steps = np.diff(curve.allowed(size)) / np.diff(size)
    assert (steps > 0).all()
    assert (np.diff(steps) <= 1e-9 * steps[0]).all()  # less and less for a further word
    nearly = Tolerance([(n, t), (n * longer, t * longer * (1 - 1e-6))])
    assert nearly.allowed(2 * n) == pytest.approx(2 * t, rel=1e-2)


def test_the_logarithm_is_the_papers_curve():
    b = optimize.brentq(lambda b: 10 * np.log1p(b * 8000) - 30 * np.log1p(b * 1000), 1e-9, 1)
    a, size = 10 / np.log1p(b * 1000), np.array([0, 200, 5000, 1e6])
    assert Tolerance([(8000, 30), (1000, 10)]).allowed(size) == pytest.approx(a * np.log1p(b * size))


@pytest.mark.parametrize("points", [[], [(1000, 0)], [(1000, 10), (2000, 10)], [(1000, 10), (2000, 20)], [(9, 9)] * 3])
def test_points_that_no_tolerance_goes_through_are_refused(points):
    with pytest.raises(DataError):
        Tolerance(points)


@pytest.mark.parametrize("count", [0, 1, 7, 120])
def test_intervals_of_errors_of_one_weight_are_exact_poisson_ones(count):
    low, high = levels.penalty_interval(5 * count, 25 * count, another=(5, 25))
    expected = np.nan_to_num(confint_poisson(count, 1, method="exact-c"))
    assert [low / 5, high / 5] == pytest.approx(list(expected))


@pytest.mark.parametrize("errors", [2, 20, 200])
def test_intervals_of_weighted_errors_hold(errors):
    rng, weight, share = np.random.default_rng(errors), np.array([0.1, 1, 5, 25]), np.array([0.3, 0.45, 0.24, 0.01])
    counts = rng.poisson(errors * share, (4000, 4))
    ends = levels.penalty_interval(counts @ weight, counts @ weight**2, another=(share @ weight, share @ weight**2))
    holds = (ends[0] <= errors * share @ weight) & (errors * share @ weight <= ends[1])
    assert 0.94 <= holds.mean() <= 1


def drawn(rng, rates, *, documents=40, length=5, noise=0.0):
    """Draw texts of systems whose errors come at some rate per word, the same in each document or not."""
    rows = []
    for system, rate in rates.items():
        for doc in range(documents):
            own = rate * rng.gamma(1 / noise, noise) if noise else rate
            words = rng.integers(10, 40, length)
            errors = rng.poisson(own * words)
            rows += [(system, f"{doc} {k}", doc, words[k], 5.0 * errors[k], 25.0 * errors[k], 0) for k in range(length)]
    return pd.DataFrame(rows, columns=["system", "item", "group", "words", "penalty", "squares", "critical"])


def test_few_texts_pass_or_fail_that_should_not_and_as_many_words_as_needed_do():
    """Just at the tolerance, either verdict is wrong: 5 %, or a little more."""
    rng, tolerance, alike = np.random.default_rng(4), Tolerance([(1000, 10)]), [f"edge {n}" for n in range(150)]
    for noise in (0.0, 1.0):
        texts = drawn(rng, dict.fromkeys(alike, 0.002), noise=noise)
        table = levels.quality_levels(texts, another=(5, 25), tolerance=tolerance)
        assert (table["verdict"] != levels.SHORT).mean() < 0.12
    needed = levels.words_needed(0.015, 0.075, tolerance)
    errors = rng.poisson(0.003 * needed, 300)
    low, _ = levels.penalty_interval(5 * errors, 25 * errors, another=(5, 25))
    assert (low > tolerance.allowed(needed)).mean() == pytest.approx(0.8, abs=0.08)
    assert np.isnan(levels.words_needed(0.01, 0.05, tolerance))


def test_judges_of_one_text_are_averaged_and_a_critical_error_fails():
    rows = drawn(np.random.default_rng(1), {"a": 0.001, "b": 0.02})
    twice = pd.concat([rows, rows.assign(penalty=0.0, squares=0.0)])
    table, halved = (
        levels.quality_levels(one, another=MINOR, tolerance=Tolerance([(1000, 50)])).set_index("system")
        for one in (rows, twice)
    )
    assert halved["penalty"].to_dict() == pytest.approx((table["penalty"] / 2).to_dict())
    assert halved["words"].to_dict() == table["words"].to_dict()
    assert table["verdict"].to_dict() == {"a": levels.PASSED, "b": levels.FAILED}
    rows.loc[0, "critical"] = 1
    again = levels.quality_levels(rows, another=MINOR, tolerance=Tolerance([(1000, 50)])).set_index("system")
    assert again["verdict"].to_dict() == {"a": levels.CRITICAL, "b": levels.FAILED}


def test_a_campaign_of_mqm_is_graded_by_words_of_its_source(own_salt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "one two three four five six seven eight nine ten"
    found = {True: ("Accuracy/Mistranslation", "Major"), False: ("No-error", "no-error")}
    rows = [
        (system, f"d{doc}", k, 5 * doc + k, "ann", text, "x", *found[(doc + k) % 5 < 2 * (system == "A")])
        for system in "AB"
        for doc in range(12)
        for k in range(5)
    ]
    heads = ["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity"]
    pd.DataFrame(rows, columns=heads).to_csv("mqm.tsv", sep="\t", index=False)
    languages = {"src_lang": "eng", "tgt_lang": "deu"}
    importing.import_campaign(["mqm.tsv"], "my.parquet", keep_names=True, values=languages)
    mine = campaign.from_ratings(*data.open_campaign("my.parquet"))
    found = campaign.grade_quality(mine, tolerated=[1000, 40])
    graded = found.table.set_index("system")
    assert graded["words"].to_dict() == {"A": 600, "B": 600}
    assert graded["per_1000"].to_dict() == pytest.approx({"A": 24 * 5 / 0.6, "B": 0})
    assert graded["verdict"].to_dict() == {"A": levels.FAILED, "B": levels.PASSED}
    assert "1 system of 2 passes" in " ".join(say(found))
    assert "tolerated" in " ".join(say(campaign.grade_quality(mine)))
