"""Agreement between annotators: oracles, laws, inputs for which nothing is defined; Dawid-Skene and MACE."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.stats import agreement
from evalkit.stats.agreement import all_pairs
from tests.makers import laid_out


def ratings_of(scores):
    """Make a ratings table from an array of items × annotators; NaN means that the annotator skipped the item."""
    return laid_out(scores, "segment annotator", item_type="calibration")


def values_of(scores: np.ndarray) -> dict[str, float]:
    """Correlate two annotators by each statistic."""
    return agreement.correlations(ratings_of(scores)).set_index("statistic")["value"].to_dict()


few_scores = st.integers(0, 6).map(float)
two_annotators = st.lists(st.tuples(few_scores, few_scores), min_size=4, max_size=25).map(np.array)


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
        assert row["max_between"] == "p0 p1"
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
    grand, rows, columns = scores.mean(), scores.mean(1, keepdims=True), scores.mean(0, keepdims=True)
    ms_r = k * ((rows - grand) ** 2).sum() / (n - 1)
    ms_c = n * ((columns - grand) ** 2).sum() / (k - 1)
    ms_e = ((scores - rows - columns + grand) ** 2).sum() / ((n - 1) * (k - 1))
    found = agreement.intraclass(ratings_of(scores)).iloc[0]
    consistency = (ms_r - ms_e) / (ms_r + (k - 1) * ms_e)
    absolute = (ms_r - ms_e) / (ms_r + (k - 1) * ms_e + k * (ms_c - ms_e) / n)
    assert (found["consistency"], found["agreement"]) == pytest.approx((consistency, absolute), rel=1e-9)
    assert found["agreement_low"] < found["agreement"] < found["agreement_high"]


def test_intraclass_of_shrout_and_fleiss_1979():
    """Six targets rated by four judges: Table 2 of the paper; its ICC(2,1) and ICC(3,1) are printed as .29 and .71."""
    scores = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = agreement.intraclass(ratings_of(scores)).iloc[0]
    assert (round(found["agreement"], 2), round(found["consistency"], 2)) == (0.29, 0.71)


def test_an_annotator_with_one_score_has_undefined_correlations_that_are_counted():
    rng = np.random.default_rng(1)
    scores = np.column_stack([rng.normal(size=12), rng.normal(size=12), np.full(12, 70.0)])
    extremes = agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))
    assert extremes["undefined"].tolist() == [2, 2, 2, 2]
    assert extremes[["min", "median", "max"]].notna().all(axis=None)


@pytest.mark.parametrize(
    ("scores", "word"),
    [
        ([[1.0], [2.0], [3.0]], "two annotators"),
        ([[1, np.nan], [2, np.nan], [np.nan, 3.0], [np.nan, 4.0]], "p0 and p1 share 0 items"),
        (np.full((5, 2), 3.0), "no spearman"),
    ],
)
def test_what_cannot_be_computed_is_told(scores, word):
    with pytest.raises(DataError, match=word):
        agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))


def test_a_score_matrix_is_of_one_language_pair_and_of_known_treatment():
    one = ratings_of(np.ones((3, 2)))
    for table, options in ((pd.concat([one, one.assign(tgt_lang="jpn")]), {}), (one, {"repeats": "middle"})):
        with pytest.raises(DataError, match=r"these are 2|middle"):
            agreement.score_matrix(table, **options)


def test_lowest_by_variant_shows_the_named_pair_or_gaps():
    ratings = ratings_of(np.random.default_rng(2).integers(0, 5, size=(30, 3)))
    table = agreement.lowest_by_variant(ratings, between=("p0", "p2"))
    assert len(table) == len(agreement.REPEATS) * 4
    assert (table["lowest"] <= table["named"] + 1e-12).all()
    assert agreement.lowest_by_variant(ratings, between=("x", "y"))["named"].isna().all()
    with pytest.raises(DataError, match="eng-xxx"):
        agreement.extreme_annotators(agreement.correlation_extremes(agreement.correlations(ratings)), "eng-xxx")


# Correlations of all pairs at once: the same numbers as scipy gives pair by pair


SCIPY = {
    "spearman": stats.spearmanr,
    "pearson": stats.pearsonr,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c"),
    "kendall_b": stats.kendalltau,
}


def held_against_scipy(scores, *, every=1):
    """Compare values to 1e-12 and p-values to 1e-9 of themselves, for every two columns, or for some of the pairs."""
    n, found = all_pairs.all_pairs(scores)
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


@pytest.mark.parametrize("gaps", [0, 0.25])
@pytest.mark.parametrize("values", [7, 0, 40])
def test_many_columns_equal_scipy_across_blocks(values, gaps, monkeypatch):
    monkeypatch.setattr(all_pairs, "_BLOCK", 30_000)
    held_against_scipy(drawn(301, 40, values, gaps, seed=3), every=5)


def test_perfect_and_reversed_orders_have_scipys_exact_p():
    x = np.arange(50.0)
    turned = np.column_stack([x, x, -x, np.r_[1.0, 0, np.arange(2, 50)]])
    held_against_scipy(turned)
    held_against_scipy(turned[:10])


def test_two_rows_or_a_constant_column_define_nothing():
    n, found = all_pairs.all_pairs(np.array([[1.0, 2, 5], [2, np.nan, 5], [3, 1, 5]]))
    assert n.tolist() == [2, 3, 2]
    assert all(np.isnan(value).all() and np.isnan(p).all() for value, p in found.values())


# Dawid-Skene and MACE


#: Dawid & Skene 1979, Table 1: 45 patients, three judgements by the first observer, then one by each of four others.
ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212
1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111
1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111
2322222 1211111 2222222
"""
KEY = ["segment", "annotator", "label"]


def test_dawid_skene_gives_what_its_authors_print():
    words = enumerate(ANAESTHETISTS.split())
    said = pd.DataFrame([(n, "1112345"[k], label) for n, word in words for k, label in enumerate(word)], columns=KEY)
    found = agreement.dawid_skene(said, item=("segment",))
    assert found.shares.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    first = found.errors.loc["1"].round(2).to_numpy().tolist()
    assert first == [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]


def plain(judged, iterations):
    """Run Dawid-Skene as the paper writes it, one number at a time."""
    items, people, names = (sorted(judged[name].unique()) for name in KEY)
    said = {(i, a): [row.label for row in rows.itertuples()] for (i, a), rows in judged.groupby(KEY[:2])}
    truth = {}
    for i in items:
        every = [label for a in people for label in said.get((i, a), [])]
        truth[i] = {t: every.count(t) / len(every) for t in names}
    for _ in range(iterations):
        share = {t: sum(truth[i][t] for i in items) / len(items) for t in names}
        error = {}
        for a in people:
            for t in names:
                counts = {g: sum(truth[i][t] * said.get((i, a), []).count(g) for i in items) for g in names}
                total = sum(counts.values())
                error[a, t] = {g: counts[g] / total if total else 1 / len(names) for g in names}
        evidence = 0.0
        for i in items:
            joint = {t: share[t] for t in names}
            for t in names:
                for a in people:
                    for g in said.get((i, a), []):
                        joint[t] *= error[a, t][g]
            total = sum(joint.values())
            evidence += math.log(total)
            truth[i] = {t: joint[t] / total for t in names}
    return evidence, np.array([[truth[i][t] for t in names] for i in items])


def labelled(rng, *, items=25, people=4, labels="xyz", right=0.7):
    truth = rng.integers(0, len(labels), items)
    wrong = rng.integers(0, len(labels), (items, people))
    said = np.where(rng.random((items, people)) < right, truth[:, None], wrong)
    there = rng.random((items, people)) < 0.85
    there[:, 0] = True
    rows = [(i, f"a{p}", labels[said[i, p]]) for i in range(items) for p in range(people) if there[i, p]]
    return pd.DataFrame(rows, columns=KEY), truth


@pytest.mark.parametrize("seed", range(4))
def test_dawid_skene_equals_a_plain_implementation(seed):
    judged, _ = labelled(np.random.default_rng(seed))
    found = agreement.dawid_skene(judged, item=("segment",))
    evidence, truth = plain(judged, len(found.log_likelihood))
    assert found.log_likelihood[-1] == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(found.posterior.to_numpy(), truth, atol=1e-8)


@given(st.integers(0, 10_000), st.sampled_from([agreement.dawid_skene, agreement.mace]))
def test_the_likelihood_never_falls_and_probabilities_are_probabilities(seed, fit):
    judged, _ = labelled(np.random.default_rng(seed), items=12, people=3)
    found = fit(judged, item=("segment",), tolerance=1e-4)
    assert (np.diff(found.log_likelihood) > -1e-9).all()
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(found.errors.sum(axis=1), 1)
    assert found.annotators["accuracy"].between(0, 1 + 1e-12).all()


@given(st.integers(0, 10_000), st.permutations(["x", "y", "z"]))
def test_names_of_labels_and_the_order_of_rows_do_not_matter(seed, names):
    judged, _ = labelled(np.random.default_rng(seed), items=12, people=3)
    other = dict(zip("xyz", names))
    renamed = judged.assign(label=judged["label"].map(other)).sample(frac=1, random_state=seed)
    one, two = (agreement.dawid_skene(table, item=("segment",), tolerance=1e-4) for table in (judged, renamed))
    np.testing.assert_allclose(one.posterior.rename(columns=other)[two.posterior.columns], two.posterior, atol=1e-6)


def test_mace_recovers_who_knows_and_its_likelihood_is_that_of_its_errors():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 3000)
    competence, habit = [0.9, 0.6, 0.3, 0.0], [1, 2, 3, 4]
    rows = []
    for a, (knows, favourite) in enumerate(zip(competence, habit)):
        spam = np.where(rng.random(3000) < 0.7, favourite - 1, rng.integers(0, 4, 3000))
        said = np.where(rng.random(3000) < knows, truth, spam)
        rows.append(pd.DataFrame({"segment": np.arange(3000), "annotator": f"a{a}", "label": said}))
    judged = pd.concat(rows)
    found = agreement.mace(judged, item=("segment",), restarts=3)
    # competence is a proportion of 3,000 items, a third of them uninformative: four standard errors are about 0.06
    np.testing.assert_allclose(found.annotators["competence"], competence, atol=0.06)
    wide = judged.pivot(index="segment", columns="annotator", values="label")
    joint = np.full((3000, 4), 0.25)
    for name in wide:
        joint *= found.errors.loc[name].to_numpy()[:, wide[name]].T
    assert found.log_likelihood[-1] == pytest.approx(np.log(joint.sum(axis=1)).sum(), rel=1e-9)
    assert (found.labels.to_numpy() == truth).mean() > (wide.mode(axis=1)[0].to_numpy() == truth).mean()


@pytest.mark.parametrize("fit", [agreement.dawid_skene, agreement.mace])
def test_tables_without_labels_and_too_few_iterations_are_told(fit):
    judged, _ = labelled(np.random.default_rng(1))
    for table, word in ((judged.drop(columns="label"), "label"), (judged.assign(label=None), "missing")):
        with pytest.raises(DataError, match=word):
            fit(table, item=("segment",))
    with pytest.raises(DataError, match="none"):
        fit(judged.iloc[:0], item=("segment",))
    with pytest.raises(DataError, match="2 iterations"):
        fit(judged, item=("segment",), iterations=2)
