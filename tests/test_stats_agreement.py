"""Agreement between annotators: oracles, laws, inputs for which nothing is defined."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.stats import agreement
from evalkit.stats.agreement import pairs
from tests.makers import laid_out


def ratings_of(scores):
    """Make a ratings table from an array of items × annotators; NaN means that the annotator skipped the item."""
    return laid_out(scores, "segment annotator", item_type="calibration")


def test_extremes_name_the_annotators_at_either_end_whatever_their_order():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=40)
    scores = np.column_stack([truth, truth + 0.1 * rng.normal(size=40), -truth + 0.1 * rng.normal(size=40)])
    ratings = ratings_of(scores)
    for rows in (ratings, ratings.sample(frac=1, random_state=1)):
        row = agreement.correlation_extremes(agreement.correlations(rows)).set_index("statistic").loc["spearman"]
        assert row["max_between"] == "p0 p1"
        assert row["min"] < -0.9 < 0.9 < row["max"]
        oracle = pd.DataFrame(scores).corr("spearman").to_numpy()[[0, 0, 1], [1, 2, 2]]
        assert row["median"] == pytest.approx(np.median(oracle))


def test_repeated_scores_are_averaged_or_chosen_as_asked():
    once = ratings_of(np.array([[10.0, 1.0], [20.0, 2.0], [30.0, 3.0]]))
    again = pd.concat([once, once.iloc[[0]].assign(score=50.0, item_type="repeat")])
    cells = {how: agreement.score_matrix(again, repeats=how).iloc[0, 0] for how in agreement.REPEATS}
    assert cells == {"mean": 30.0, "first": 10.0, "last": 50.0, "min": 10.0, "max": 50.0}


def test_intraclass_of_shrout_and_fleiss_1979():
    """Six targets rated by four judges: Table 2 of the paper; its ICC(2,1) and ICC(3,1) are printed as .29 and .71."""
    scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = agreement.intraclass(ratings_of(scores)).iloc[0]
    assert (round(found["agreement"], 2), round(found["consistency"], 2)) == (0.29, 0.71)


def test_an_annotator_with_one_score_has_undefined_correlations_that_are_counted():
    rng = np.random.default_rng(1)
    scores = np.column_stack([rng.normal(size=12), rng.normal(size=12), np.full(12, 70.0)])
    found = extremes(scores)
    assert found["undefined"].tolist() == [2, 2, 2, 2]
    assert found[["min", "median", "max"]].notna().all(axis=None)


def extremes(scores):
    """Name the highest and lowest correlations between annotators."""
    return agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))


ONE, RANDOM = ratings_of(np.ones((3, 2))), np.random.default_rng(2).integers(0, 5, size=(30, 3))


def test_lowest_by_variant_shows_the_named_pair_or_gaps():
    table = agreement.lowest_by_variant(ratings_of(RANDOM), between=("p0", "p2"))
    assert len(table) == len(agreement.REPEATS) * 4
    assert (table["lowest"] <= table["named"] + 1e-12).all()
    assert agreement.lowest_by_variant(ratings_of(RANDOM), between=("x", "y"))["named"].isna().all()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: extremes([[1.0], [2.0], [3.0]]), "two annotators"),
        (lambda: extremes([[1, np.nan], [2, np.nan], [np.nan, 3.0], [np.nan, 4.0]]), "p0 and p1 share 0 items"),
        (lambda: extremes(np.full((5, 2), 3.0)), "no spearman"),
        (lambda: agreement.extreme_annotators(extremes(RANDOM), "eng-xxx"), "eng-xxx"),
        (lambda: agreement.score_matrix(pd.concat([ONE, ONE.assign(tgt_lang="jpn")])), "these are 2"),
        (lambda: agreement.score_matrix(ONE, repeats="middle"), "middle"),
    ],
)
def test_what_cannot_be_computed_is_told(call, word):
    with pytest.raises(DataError, match=word):
        call()


# Correlations of all pairs at once: the same numbers as scipy gives pair by pair


SCIPY = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c"),
    "kendall_b": stats.kendalltau,
}


def held_against_scipy(scores, *, every=1):
    """Compare values to 1e-12 and p-values to 1e-9 of themselves, for every two columns, or for some of the pairs."""
    n, found = pairs.all_pairs(scores)
    assert list(found) == list(SCIPY)
    for number, (a, b) in list(enumerate(itertools.combinations(range(scores.shape[1]), 2)))[::every]:
        x, y = scores[np.isfinite(scores[:, [a, b]]).all(axis=1)][:, [a, b]].T
        assert n[number] == len(x)
        defined = len(x) > 2 and np.ptp(x) > 0 and np.ptp(y) > 0
        for name, oracle in SCIPY.items():
            value, p = (each[number] for each in found[name])
            if not defined:
                assert np.isnan(value)
                assert np.isnan(p)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = oracle(x, y)
            assert value == pytest.approx(theirs[0], abs=1e-12), name
            # next to a perfect correlation p rests on the last digit of 1 - |value|
            close = 1e-7 if 1 - abs(value) < 1e-12 else 1e-14
            assert p == pytest.approx(theirs[1], rel=1e-9, abs=close), name


def drawn(rows, columns, values, gaps, seed):
    """Draw correlated columns with so many distinct values (0: all distinct), some cells missing."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(rows, 1)) + rng.normal(size=(rows, columns))
    if values:
        edges = np.quantile(scores, np.linspace(0, 1, values + 1)[1:-1])
        scores = np.digitize(scores, edges).astype(float)
    scores[rng.random(scores.shape) < gaps] = np.nan
    return scores


VALUES, GAPS = st.sampled_from([0, 2, 3, 5, 12]), st.sampled_from([0, 0.3])


@given(st.integers(3, 70), st.integers(2, 5), VALUES, GAPS, st.integers(0, 10**6))
def test_every_pair_equals_scipy(rows, columns, values, gaps, seed):
    held_against_scipy(drawn(rows, columns, values, gaps, seed))


@pytest.mark.parametrize(("values", "gaps"), [(7, 0.25), (0, 0), (40, 0.25)])
def test_many_columns_equal_scipy_across_blocks(values, gaps, monkeypatch):
    monkeypatch.setattr(pairs, "_BLOCK", 30_000)
    held_against_scipy(drawn(301, 40, values, gaps, seed=3), every=5)


def test_perfect_and_reversed_orders_have_scipys_exact_p():
    x = np.arange(50.0)
    turned = np.column_stack([x, x, -x, np.r_[1.0, 0, np.arange(2, 50)]])
    held_against_scipy(turned)
    held_against_scipy(turned[:10])
