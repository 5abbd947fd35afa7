"""Agreement between annotators: oracles, laws, and inputs for which nothing is defined."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.stats import agreement


def ratings_of(scores: np.ndarray, *, pair: tuple[str, str] = ("eng", "jpn")) -> pd.DataFrame:
    """Make a ratings table from an array of items × annotators; NaN means that the annotator skipped the item."""
    items, annotators = scores.shape
    rows = [
        {"src_lang": pair[0], "tgt_lang": pair[1], "system": "s", "doc": "d", "segment": f"{i:03d}",
         "annotator": f"a{j:02d}", "score": scores[i, j], "item_type": "calibration"}
        for j in range(annotators) for i in range(items) if not np.isnan(scores[i, j])
    ]  # fmt: skip
    return pd.DataFrame(rows)


def values_of(scores: np.ndarray) -> dict[str, float]:
    """Correlate two annotators by each statistic."""
    return agreement.correlations(ratings_of(scores)).set_index("statistic")["value"].to_dict()


few_scores = st.integers(0, 6).map(float)
two_annotators = st.integers(4, 25).flatmap(
    lambda n: st.lists(st.tuples(few_scores, few_scores), min_size=n, max_size=n)
).map(np.array)  # fmt: skip


@given(two_annotators)
def test_tau_c_is_its_definition(scores):
    x, y = scores.T
    m = min(len(set(x)), len(set(y)))
    assume(m > 1)
    balance = sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in itertools.combinations(range(len(x)), 2))
    defined = 2 * balance / (len(x) ** 2 * (m - 1) / m)
    assert values_of(scores)["kendall_c"] == pytest.approx(defined, abs=1e-12)


@given(two_annotators)
def test_rank_and_product_correlations_equal_pandas(scores):
    assume(all(len(set(column)) > 1 for column in scores.T))
    frame, values = pd.DataFrame(scores), values_of(scores)
    for name in ("spearman", "pearson"):
        # pandas computes both without scipy.stats.spearmanr or pearsonr
        assert values[name] == pytest.approx(frame.corr(method=name).iloc[0, 1], abs=1e-9)


@given(two_annotators, st.floats(0.1, 9), st.floats(-50, 50))
def test_a_strict_or_wide_scale_leaves_every_correlation_alone_and_a_reversed_one_negates_it(scores, gain, shift):
    assume(all(len(set(column)) > 1 for column in scores.T))
    moved, turned = scores.copy(), scores.copy()
    moved[:, 1] = gain * scores[:, 1] + shift
    turned[:, 1] = -scores[:, 1]
    before = values_of(scores)
    assert set(before) == {"spearman", "pearson", "kendall_c", "kendall_b"}
    assert values_of(moved) == pytest.approx(before, abs=1e-9)
    assert values_of(turned) == pytest.approx({name: -value for name, value in before.items()}, abs=1e-9)


def test_extremes_name_the_annotators_at_either_end_whatever_their_order():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=40)
    scores = np.column_stack([truth, truth + 0.1 * rng.normal(size=40), -truth + 0.1 * rng.normal(size=40)])
    ratings = ratings_of(scores)
    for rows in (ratings, ratings.sample(frac=1, random_state=1)):
        row = agreement.correlation_extremes(agreement.correlations(rows)).set_index("statistic").loc["spearman"]
        assert row["max_between"] == "a00 a01"
        assert row["min"] < -0.9 < 0.9 < row["max"]
        oracle = pd.DataFrame(scores).corr("spearman").to_numpy()[[0, 0, 1], [1, 2, 2]]
        assert row["median"] == pytest.approx(np.median(oracle))


def test_repeated_scores_are_averaged_or_chosen_as_asked():
    once = ratings_of(np.array([[10.0, 1.0], [20.0, 2.0], [30.0, 3.0]]))
    again = pd.concat([once, once.iloc[[0]].assign(score=50.0, item_type="repeat")])
    cells = {how: agreement.score_matrix(again, repeats=how).iloc[0, 0] for how in agreement.REPEATS}
    assert cells == {"mean": 30.0, "first": 10.0, "last": 50.0, "min": 10.0, "max": 50.0}


def test_intraclass_equals_the_mean_squares_of_a_two_way_analysis_of_variance():
    rng = np.random.default_rng(5)
    n, k = 30, 4
    scores = rng.normal(size=(n, 1)) * 2 + rng.normal(size=(1, k)) * 3 + rng.normal(size=(n, k))
    grand = scores.mean()
    rows, columns = scores.mean(1, keepdims=True), scores.mean(0, keepdims=True)
    ms_r = k * ((rows - grand) ** 2).sum() / (n - 1)
    ms_c = n * ((columns - grand) ** 2).sum() / (k - 1)
    ms_e = ((scores - rows - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    found = agreement.intraclass(ratings_of(scores)).iloc[0]
    assert found["consistency"] == pytest.approx((ms_r - ms_e) / (ms_r + (k - 1) * ms_e), rel=1e-9)
    assert found["agreement"] == pytest.approx(
        (ms_r - ms_e) / (ms_r + (k - 1) * ms_e + k * (ms_c - ms_e) / n), rel=1e-9
    )
    assert found["agreement_low"] < found["agreement"] < found["agreement_high"]


def test_intraclass_of_shrout_and_fleiss_1979():
    # Six targets rated by four judges: Table 2 of the paper; its ICC(2,1) and ICC(3,1) are printed as .29 and .71.
    scores = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
    )
    found = agreement.intraclass(ratings_of(scores)).iloc[0]
    assert (round(found["agreement"], 2), round(found["consistency"], 2)) == (0.29, 0.71)


def test_an_annotator_with_one_score_has_undefined_correlations_that_are_counted():
    rng = np.random.default_rng(1)
    scores = np.column_stack([rng.normal(size=12), rng.normal(size=12), np.full(12, 70.0)])
    extremes = agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))
    assert extremes["undefined"].tolist() == [2, 2, 2, 2]
    assert extremes[["min", "median", "max"]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([[1.0], [2.0], [3.0]]), "at least two annotators"),
        (np.array([[1, np.nan], [2, np.nan], [np.nan, 3.0], [np.nan, 4.0]]), "a00 and a01 share 0 items"),
        (np.full((5, 2), 3.0), "no spearman correlation is defined"),
    ],
)
def test_what_cannot_be_computed_is_said_in_a_sentence(scores, message):
    with pytest.raises(DataError, match=message):
        agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))


def test_a_score_matrix_is_of_one_language_pair_and_of_known_treatment():
    both = pd.concat([ratings_of(np.ones((3, 2))), ratings_of(np.ones((3, 2)), pair=("eng", "deu"))])
    with pytest.raises(DataError, match="these are 2"):
        agreement.score_matrix(both)
    with pytest.raises(DataError, match="repeats='middle' is not known"):
        agreement.score_matrix(ratings_of(np.ones((3, 2))), repeats="middle")


def test_lowest_by_variant_shows_the_named_pair_or_gaps():
    rng = np.random.default_rng(2)
    ratings = ratings_of(rng.integers(0, 5, size=(30, 3)).astype(float))
    table = agreement.lowest_by_variant(ratings, between=("a00", "a02"))
    assert len(table) == len(agreement.REPEATS) * 4
    assert (table["lowest"] <= table["named"] + 1e-12).all()
    assert agreement.lowest_by_variant(ratings, between=("x", "y"))["named"].isna().all()
    with pytest.raises(DataError, match=r"eng-deu: no such language pair here\. Choose one of: eng-jpn"):
        agreement.extreme_annotators(agreement.correlation_extremes(agreement.correlations(ratings)), "eng-deu")
