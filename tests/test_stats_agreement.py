"""Agreement: correlations of annotators, and coefficients beyond chance, against their oracles and textbook examples."""

import itertools
import warnings
from functools import partial

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from evalkit import ROOT, DataError
from evalkit.stats import agreement
from evalkit.stats.agreement import coded, pattern_counts
from tests.makers import laid_out


def ratings_of(scores):
    """Make a ratings table from an array of items × annotators; NaN means that the annotator skipped the item."""
    return laid_out(scores, "segment annotator", item_type="calibration")


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


def extremes(scores):
    """Name the highest and lowest correlations between annotators."""
    return agreement.correlation_extremes(agreement.correlations(ratings_of(scores)))


def test_two_named_annotators_stand_beside_the_lowest_correlation():
    scores = ratings_of([[1, 1, 4], [2, 2, 3], [3, 4, 2], [4, 3, 1.0]])
    found = agreement.lowest_by_repeats(scores, ["p0", "p1"]).query("statistic == 'spearman'")
    assert found["repeats"].tolist() == [*agreement.REPEATS]
    assert found["lowest"].tolist() == pytest.approx([-1] * 5)
    assert found["named"].tolist() == pytest.approx([0.8] * 5)
    assert set(found["lowest_between"]) == {"p0 p2"}


THEIRS = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall_b": stats.kendalltau}
THEIRS["kendall_c"] = partial(stats.kendalltau, variant="c")


@pytest.mark.parametrize("name", THEIRS)
def test_annotators_correlate_as_in_scipy_over_the_items_that_both_have(name):
    rng = np.random.default_rng(4)
    scores = with_gaps(rng.integers(0, 9, (40, 1)) + rng.integers(0, 9, (40, 4)), 0.2, rng)
    pairs = [scores[list(pair)].dropna().to_numpy().T for pair in itertools.combinations(scores, 2)]
    wanted = [[found.statistic, found.pvalue] for found in (THEIRS[name](*both) for both in pairs)]
    found = agreement.correlations(ratings_of(scores)).query("statistic == @name")[["value", "p"]].to_numpy()
    assert found == pytest.approx(np.array(wanted), abs=1e-12)
    ends = extremes(scores).set_index("statistic").loc[name, ["min", "min_p", "max", "max_p"]]
    assert ends.tolist() == pytest.approx([*min(wanted), *max(wanted)], abs=1e-12)
    scores[4] = 70.0  # of somebody who gives one score only nothing is known, and that is counted
    assert extremes(scores)["undefined"].tolist() == [4] * 4


# Agreement beyond chance


ORACLES = ROOT / "tests" / "oracles"
#: Four coders, twelve units, five categories: Krippendorff 2011, section A.
CODERS = (
    pd.DataFrame([list("123321412..."), list("1233224125.3"), list(".3332342251."), list("12332441251.")])
    .T.replace(".", np.nan)
    .astype(float)
)
#: Thirty patients, six psychiatrists each, five diagnoses: Fleiss 1971, Table 1 (depression, personality disorder,
#: schizophrenia, neurosis, other), the number of psychiatrists who chose each.
DIAGNOSES = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


def estimate(scores, name, level="none", **options):
    """Estimate one coefficient without a bootstrap."""
    return agreement.coefficients(scores, measures=[(name, level)], resamples=0, **options)["estimate"].iloc[0]


def fleiss_1971():
    """Write the diagnoses as patients × six anonymous psychiatrists."""
    return pd.DataFrame([np.repeat(np.arange(5), list(map(int, row))) for row in DIAGNOSES.split()])


def with_gaps(scores, share, rng):
    return pd.DataFrame(scores).astype(float).mask(rng.random(np.shape(scores)) < share)


@st.composite
def tables(draw, annotators=None, categories=5, gaps=True):
    """Draw ratings in which something is comparable and more than one category is used."""
    shape = (draw(st.integers(6, 25)), annotators or draw(st.integers(2, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    truth = rng.integers(1, categories + 1, (shape[0], 1))
    scores = np.where(rng.random(shape) < 0.6, truth, rng.integers(1, categories + 1, shape))
    table = with_gaps(scores, draw(st.sampled_from([0, 0.25])) if gaps else 0, rng)
    paired = table[table.notna().sum(axis=1) > 1]
    assume(paired.stack().nunique() > 2)
    return table


# Printed examples


@pytest.mark.parametrize(
    ("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorff_2011(level, printed):
    assert round(estimate(CODERS, "krippendorff_alpha", level), 3) == printed


def test_kappa_of_fleiss_1971_overall_and_per_category():
    scores = fleiss_1971()
    assert round(estimate(scores, "fleiss_kappa"), 3) == 0.430
    chosen = [scores.eq(category).astype(float) for category in range(5)]
    assert [round(one.to_numpy().mean(), 3) for one in chosen] == [0.144, 0.144, 0.167, 0.306, 0.239]
    assert [round(estimate(one, "fleiss_kappa"), 3) for one in chosen] == [0.245, 0.245, 0.520, 0.471, 0.566]


PRINTED = {"gwet_ac1": 0.775, "fleiss_kappa": 0.761, "conger_kappa": 0.763, "randolph_kappa": 0.773}
PRINTED |= {"percent_agreement": 0.818}


@pytest.mark.parametrize("name", PRINTED)
def test_coefficients_of_gwet_2014(name):
    # the same ratings, but the only one of the last unit is another annotator's
    ratings = pd.read_csv(ORACLES / "irrcac_ratings.csv")
    found = estimate(ratings[ratings["table"] == "gwet"].filter(like="annotator"), name)
    assert round(found, 3) == PRINTED[name]


# Other libraries


def test_values_and_standard_errors_equal_irrcac():
    ratings = pd.read_csv(ORACLES / "irrcac_ratings.csv")
    names = {"fleiss": "fleiss_kappa", "conger": "conger_kappa", "bp": "randolph_kappa", "gwet": "gwet_ac2"}
    levels = {"identity": "none", "linear": "linear", "quadratic": "quadratic"}
    of_alpha = {"identity": "nominal", "quadratic": "interval"}  # alpha has no linear level
    checked = 0
    for row in pd.read_csv(ORACLES / "irrcac.csv").itertuples():
        scores = ratings[ratings["table"] == row.table].filter(like="annotator").dropna(how="all", axis=1)
        if row.method == "krippendorff" and row.weights in of_alpha:
            assert estimate(scores, "krippendorff_alpha", of_alpha[row.weights]) == pytest.approx(row.value, abs=1e-11)
        elif row.method != "krippendorff":
            measure = (names[row.method], levels[row.weights])
            found = agreement.coefficients(scores, measures=[measure], resamples=0).iloc[0]
            assert (found["estimate"], found["se"]) == pytest.approx((row.value, row.se), abs=1e-11)
            checked += 1
    assert checked == 60


@given(tables(), st.sampled_from(agreement.LEVELS))
def test_alpha_equals_krippendorff(scores, level):
    theirs = krippendorff.alpha(scores.T.to_numpy(), level_of_measurement=level)
    assert estimate(scores, "krippendorff_alpha", level) == pytest.approx(theirs, abs=1e-10)


@given(tables(), st.sampled_from(agreement.WEIGHTS))
def test_pairs_equal_scikit_learn_and_kappa_of_many_is_their_mean(scores, level):
    # categories 1 to 5 are all named: scikit-learn takes distances between positions, this package between values
    options = {"categories": [1, 2, 3, 4, 5], "resamples": 0}
    found = agreement.pairwise(scores, measures=[("cohen_kappa", level)], **options)
    defined = []
    for row, (a, b) in zip(found.itertuples(), itertools.combinations(scores.columns, 2), strict=True):
        both = scores[[a, b]].dropna()
        if np.isnan(row.estimate):
            assert "undefined" in row.note
            assert both.stack().nunique() < 2
            continue
        weights = None if level == "none" else level
        theirs = cohen_kappa_score(both[a], both[b], weights=weights, labels=[1, 2, 3, 4, 5])
        assert row.estimate == pytest.approx(theirs, abs=1e-12)
        assert row.items == len(both)
        defined.append(theirs)
    assert estimate(scores, "cohen_kappa", level, categories=[1, 2, 3, 4, 5]) == pytest.approx(np.mean(defined))


@given(tables(annotators=2, gaps=False), st.sampled_from(agreement.WEIGHTS))
def test_the_standard_error_of_cohens_kappa_equals_statsmodels(scores, level):
    joint = pd.crosstab(scores[0], scores[1]).reindex(index=range(1, 6), columns=range(1, 6), fill_value=0)
    theirs = inter_rater.cohens_kappa(joint.to_numpy(), wt=None if level == "none" else level)
    measures = [("cohen_kappa", level)]
    found = agreement.coefficients(scores, measures=measures, resamples=0, categories=range(1, 6)).iloc[0]
    assert found["se"] == pytest.approx(theirs.std_kappa, abs=1e-7)  # a root of a difference near 0 loses digits


@settings(max_examples=15)
@given(tables(gaps=False))
def test_intraclass_correlations_equal_pingouins(scores):
    theirs = agreement.intraclass(laid_out(scores, "segment annotator")).iloc[0]  # pingouin does this one
    assume(np.isfinite(theirs["agreement"]))
    for kind in ("agreement", "consistency"):
        assert estimate(scores, f"icc_{kind}", "interval") == pytest.approx(theirs[kind], abs=1e-9)


# Laws


ALL = [*agreement.MEASURES, ("gwet_ac2", "linear"), ("fleiss_kappa", "quadratic"), ("krippendorff_alpha", "ratio")]


def estimates(scores, measures=ALL, **options):
    return agreement.coefficients(scores, measures=measures, resamples=0, **options)["estimate"].to_numpy()


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_annotators_and_items_is_irrelevant(scores, random):
    columns, rows = list(scores.columns), list(scores.index)
    random.shuffle(columns)
    random.shuffle(rows)
    assert estimates(scores.loc[rows, columns]) == pytest.approx(estimates(scores), abs=1e-12)


@given(tables(), st.permutations([1, 2, 3, 4, 5]))
def test_other_labels_leave_nominal_measures_alone(scores, labels):
    nominal = [measure for measure in ALL if measure[1] in ("none", "nominal")]
    renamed = scores.replace(dict(zip([1.0, 2, 3, 4, 5], map(float, labels), strict=True)))
    assert estimates(renamed, nominal) == pytest.approx(estimates(scores, nominal), abs=1e-12)
    names = scores.map(lambda value: value if pd.isna(value) else "vwxyz"[int(value) - 1]).astype(object)
    assert estimates(names, nominal) == pytest.approx(estimates(scores, nominal), abs=1e-12)


@given(tables())
def test_perfect_agreement_is_one(scores):
    first = scores.bfill(axis=1).iloc[:, 0].dropna()
    assume(first.nunique() > 1)
    perfect = pd.DataFrame({"a": first, "b": first, "c": first})
    found = agreement.coefficients(perfect, measures=ALL, resamples=20)
    assert found["estimate"].to_numpy() == pytest.approx(np.ones(len(ALL)), abs=1e-12)
    assert found["se"].to_numpy() == pytest.approx(np.zeros(len(ALL)), abs=1e-7)


@given(tables(), st.floats(0.1, 9), st.floats(-50, 50))
def test_interval_alpha_and_weighted_kappas_forgive_another_unit(scores, gain, shift):
    alphas = [("krippendorff_alpha", "interval"), ("krippendorff_alpha", "ordinal")]
    measures = [*alphas, ("fleiss_kappa", "quadratic"), ("cohen_kappa", "linear")]
    assert estimates(gain * scores + shift, measures) == pytest.approx(estimates(scores, measures), abs=1e-9)


@given(tables(annotators=2, gaps=False))
def test_two_annotators_without_gaps_make_one_of_the_kappas(scores):
    assert estimate(scores, "scott_pi") == pytest.approx(estimate(scores, "fleiss_kappa"), abs=1e-12)
    assert estimate(scores, "conger_kappa") == pytest.approx(estimate(scores, "cohen_kappa"), abs=1e-12)
    assert estimate(scores, "gwet_ac1") == pytest.approx(estimate(scores, "gwet_ac2"), abs=1e-12)


@pytest.mark.parametrize("items", [60, 4000])
def test_both_ways_to_draw_have_the_means_and_the_variances_of_a_bootstrap(items):
    rng = np.random.default_rng(4)
    table = coded(pd.DataFrame(rng.choice([1.0, 2, 3], (items, 2), p=[0.7, 0.2, 0.1])))
    assert (30 * len(table.times) < items) == (items == 4000)
    drawn = np.concatenate(list(pattern_counts(table, resamples=4000, rng=rng)))
    share = table.times / items
    assert (drawn.sum(axis=1) == items).all()
    assert drawn.mean(axis=0) == pytest.approx(table.times, abs=5 * np.sqrt(items / 4 / 4000))
    assert drawn.var(axis=0) == pytest.approx(items * share * (1 - share), rel=0.15)


# Patterns, draws, standard errors


def test_the_interval_equals_that_of_resampled_tables():
    rng = np.random.default_rng(11)
    truth = rng.integers(1, 5, (300, 1))
    scores = np.where(rng.random((300, 3)) < 0.6, truth, rng.integers(1, 5, (300, 3)))
    found = agreement.coefficients(pd.DataFrame(scores), measures=[("fleiss_kappa", "none")], resamples=4000).iloc[0]
    counts, _ = inter_rater.aggregate_raters(scores)
    draws = [inter_rater.fleiss_kappa(counts[rng.integers(0, 300, 300)]) for _ in range(4000)]
    assert (found["low"], found["high"]) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.005)
    assert found["se"] == pytest.approx(np.std(draws), rel=0.05)


def test_the_jackknife_leaves_out_one_item_at_a_time():
    scores = with_gaps(np.random.default_rng(6).integers(1, 4, (15, 3)), 0.2, np.random.default_rng(7))
    scores = scores[scores.notna().sum(axis=1) > 0].reset_index(drop=True)
    for level in agreement.LEVELS:
        values = [
            krippendorff.alpha(scores.drop(i).T.to_numpy(), level_of_measurement=level) for i in range(len(scores))
        ]
        expected = np.sqrt((len(values) - 1) * np.var(values))
        row = agreement.coefficients(scores, measures=[("krippendorff_alpha", level)], resamples=0).iloc[0]
        assert row["se"] == pytest.approx(expected, rel=1e-9)


# Inputs that define nothing


def test_one_category_is_an_error_that_names_what_is_defined():
    same = pd.DataFrame({"a": [3.0] * 5, "b": [3.0] * 5})
    for name, level in ALL:
        if name == "percent_agreement":
            assert estimate(same, name, level) == 1
        else:
            with pytest.raises(DataError, match=rf"{name} is undefined: all ratings are 3\.0.*categories"):
                estimate(same, name, level)
    assert estimate(same, "gwet_ac1", categories=[1, 2, 3]) == 1
    assert estimate(same, "randolph_kappa", categories=[1, 2, 3]) == 1


def test_where_a_row_is_undefined_its_note_says_why():
    scores = pd.DataFrame({"a": [1, 1, 2, np.nan], "b": [1, 1, np.nan, 2], "c": [np.nan, np.nan, np.nan, 1.0]})
    found = agreement.pairwise(scores, resamples=10).set_index(["annotator_a", "annotator_b"])["note"]
    assert found.loc[[("a", "b")]].str.contains("undefined: all ratings are 1").all()
    assert found.loc[[("a", "c")]].str.contains("no item").all()


ONE, RANDOM = ratings_of(np.ones((3, 2))), np.random.default_rng(2).integers(0, 5, size=(30, 3))


def of_two(a, b, **options):
    return agreement.coefficients(pd.DataFrame({"a": a, "b": b}), **options)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: extremes([[1.0], [2.0], [3.0]]), "two annotators"),
        (lambda: extremes([[1, np.nan], [2, np.nan], [np.nan, 3.0], [np.nan, 4.0]]), "p0 and p1 share 0 items"),
        (lambda: extremes(np.full((5, 2), 3.0)), "no spearman"),
        (lambda: agreement.score_matrix(pd.concat([ONE, ONE.assign(tgt_lang="jpn")])), "these are 2"),
        (lambda: agreement.score_matrix(ONE, repeats="middle"), "middle"),
        (lambda: of_two([1.0, 2], [np.nan, np.nan]), "here are 1"),
        (lambda: of_two([1.0, np.nan], [np.nan, 2]), "No item"),
        (lambda: of_two([1.0, np.inf], [1.0, 2]), "infinite"),
        (lambda: of_two([1.0, 9], [1.0, 2], categories=[1, 2, 3]), r"9\.0\D* categories"),
        (lambda: of_two(["x", "y"], ["x", "x"], measures=[("cohen_kappa", "linear")]), "numbers"),
        (lambda: of_two([1.0, 2], [1.0, 1], measures=[("kappa", "none")]), "'kappa'"),
        (lambda: of_two([1.0, 2], [1.0, 1], measures=[("fleiss_kappa", "ordinal")]), "'ordinal'"),
        (lambda: of_two([-1.0, 2], [-1.0, 1], measures=[("krippendorff_alpha", "ratio")]), "starts at 0"),
        (lambda: of_two([1.0, np.nan], [1.0, 1], measures=[("icc_agreement", "interval")]), "all annotators"),
        (lambda: of_two([1.0, 2, 1], [1.0, np.nan, 1], measures=[("cohen_kappa", "none")]), "compared"),
    ],
)
def test_what_cannot_be_estimated_is_told(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_a_tiny_sample_gives_values_without_warnings_and_counts_undefined_resamples():
    scores = pd.DataFrame({"a": [1.0, 1, 2], "b": [1.0, 1, 2], "c": [np.nan, 2, 2]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = agreement.coefficients(scores, resamples=50)
    assert found[["estimate", "se", "low", "high"]].notna().all(axis=None)
    fleiss = found[found["coefficient"] == "fleiss_kappa"].iloc[0]
    assert "of 50 resamples, which are left out" in fleiss["note"]


# Bands


BANDS = [
    *((-0.1, "landis-koch", "poor"), (0.20, "landis-koch", "slight"), (0.81, "landis-koch", "almost perfect")),
    *((0.667, "krippendorff", "tentative conclusions only"), (0.80, "krippendorff", "reliable")),
    *((0.75, "fleiss", "excellent"), (0.41, "altman", "moderate"), (1.0, "cicchetti", "excellent")),
]


@pytest.mark.parametrize(("value", "scheme", "name"), BANDS)
def test_bands_are_as_their_sources_print_them(value, scheme, name):
    assert agreement.band(value, scheme=scheme) == name
    with pytest.raises(DataError, match="no band"):
        agreement.band(1.2, scheme=scheme)
