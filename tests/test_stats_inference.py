"""Correlations, resampling, tests and widths: against scipy, by enumeration, in simulation, and by laws."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats import multitest
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from evalkit import DataError
from evalkit.papers.licht2022.languages import split_r2
from evalkit.stats import correlation, inference, widths
from tests import widths_by_hand

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall_b": lambda x, y: stats.kendalltau(x, y).statistic,
    "kendall_c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}


def ours(name, x, y):
    if name == "kendall_c":
        return correlation.count_pairs(x, y).kendall_c()
    return getattr(correlation, name)(x, y)


def sample(seed, size, gaps):
    """Two stacks of five samples with ties; the first side of the first sample does not vary."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (2, 5, size)).astype(float)
    x[0] = 3.0
    x[rng.random(x.shape) < gaps], y[rng.random(y.shape) < gaps] = np.nan, np.nan
    return x, y


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("size", [12, 300])  # compared all with all, and sorted
def test_stacks_of_samples_equal_scipy_one_by_one(name, size, gaps):
    x, y = sample(size, size, gaps)
    found = ours(name, x, y)
    assert np.isnan(found[0])
    for value, one, other in zip(found[1:], x[1:], y[1:]):
        there = np.isfinite(one) & np.isfinite(other)
        assert value == pytest.approx(SCIPY[name](one[there], other[there]), abs=1e-12)


@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 2), min_size=2, max_size=20), st.floats(0.1, 9), st.floats(-9, 9))
def test_shift_and_scale_change_nothing_and_minus_turns_round(points, scale, offset):
    x, y = np.array(points, float).T
    for name in SCIPY:
        plain = ours(name, x, y)
        assert ours(name, scale * x + offset, y) == pytest.approx(plain, abs=1e-9, nan_ok=True)
        assert ours(name, -x, y) == pytest.approx(-plain, abs=1e-9, nan_ok=True)
        assert ours(name, y, x) == pytest.approx(plain, abs=1e-12, nan_ok=True)


# Weighted


def clusters(seed):
    rng = np.random.default_rng(seed)
    cluster = np.sort(rng.integers(0, 8, 60))
    cluster = np.unique(cluster, return_inverse=True)[1]
    x, y = rng.integers(0, 7, (2, 60)).astype(float)
    times = rng.multinomial(cluster.max() + 1, np.full(cluster.max() + 1, 1 / (cluster.max() + 1)), size=20)
    return x, y, cluster, times


def test_resampled_clusters_have_the_correlations_of_repeated_rows_and_within_them_only_their_own_pairs_count():
    x, y, cluster, times = clusters(4)
    found = correlation.Clustered(x, y, cluster)(times.astype(float))
    by_values = correlation.kendall_b_of_values(x, y, times[:, cluster])
    i, j = np.nonzero(np.equal.outer(cluster, cluster))
    a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
    for k, counts in enumerate(times[:, cluster]):
        both, w = (x.repeat(counts), y.repeat(counts)), counts[i]
        assert found[k, 0] == pytest.approx(stats.pearsonr(*both).statistic, abs=1e-12)
        assert found[k, 1] == pytest.approx(stats.kendalltau(*both).statistic, abs=1e-12)
        assert by_values[k] == pytest.approx(found[k, 1], abs=1e-12)
        assert found[k, 2] == pytest.approx((w * a * b).sum() / np.sqrt((w * a**2).sum() * (w * b**2).sum()))


def test_rows_may_come_in_any_order_and_those_with_gaps_are_left_out():
    x, y, cluster, times = clusters(7)
    order = np.random.default_rng(1).permutation(62)
    gapped = [np.append(side, [np.nan, 3.0])[order] for side in (x, y)]
    gapped[1][np.flatnonzero(order == 61)] = np.nan
    found = correlation.Clustered(*gapped, np.append(cluster, [0, 1])[order])(times.astype(float))
    np.testing.assert_allclose(found, correlation.Clustered(x, y, cluster)(times.astype(float)), atol=1e-12)


def test_a_side_that_does_not_vary_has_no_correlation():
    x, y, cluster, times = clusters(6)
    for side in (np.full(60, 2.1), np.full(60, np.nan)):
        assert np.isnan(correlation.Clustered(side, y, cluster)(times.astype(float))).all()
    assert np.isnan(correlation.kendall_b_of_values(x, np.zeros(60), times[:, cluster])).all()


# Bootstrap, permutation, multiplicity and two samples against scipy, statsmodels and textbooks


def mean_of(stack):
    return stack.mean(axis=1)


def test_bootstrap_equals_scipy_draw_for_draw():
    data = np.random.default_rng(1).normal(size=25)
    theirs = stats.bootstrap(
        (data,), np.mean, n_resamples=700, method="percentile", rng=np.random.default_rng(7), confidence_level=0.9
    )
    ours = inference.bootstrap(data, mean_of, resamples=700, seed=np.random.default_rng(7))
    np.testing.assert_allclose(ours, theirs.bootstrap_distribution)
    np.testing.assert_allclose(inference.interval(ours, level=0.9), tuple(theirs.confidence_interval))
    np.testing.assert_allclose(inference.standard_error(ours), theirs.standard_error)


# Bootstrap of units


def test_a_cluster_is_drawn_whole_and_gives_the_variance_of_cluster_means():
    labels, y = np.repeat(np.arange(30), 4), np.random.default_rng(4).normal(size=30).repeat(4)
    counts = inference.resample(lambda counts: counts, labels.astype(str), resamples=20_000, seed=7)
    assert (counts.reshape(-1, 30, 4) == counts.reshape(-1, 30, 4)[:, :, :1]).all()
    assert inference.standard_error(counts @ y / 120) == pytest.approx(y.std() / np.sqrt(30), rel=0.02)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda f: inference.resample(f, [], resamples=5, seed=7), "one observation"),
        (lambda f: inference.bootstrap([], f, resamples=5, seed=7), "one observation"),
        (lambda f: inference.adjust([0.1], method="bonferoni"), "bonferoni"),
        (lambda f: inference.adjust([0.1, 1.5]), "0 to 1"),
        (lambda f: inference.cut(0), "0 resamples"),
        (lambda f: split_r2([1, 2, 3], [1, 2, 3], splits=5, rng=np.random.default_rng(0)), "4 points"),
    ],
)
def test_what_cannot_be_drawn_or_tested_is_told(call, word):
    with pytest.raises(DataError, match=word):
        call(lambda counts: counts)


# Permutation tests


DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])  # eighths of an inch


def test_darwins_maize_has_the_p_value_that_fisher_printed():
    """Fisher 1935, section 21: 863 of 32,768 sign arrangements sum to 314 or more; both sides 1,726, p = 0.05267."""
    rows = np.stack([DARWIN, np.zeros(15), DARWIN / 8])  # all share the arrangements
    p = inference.sign_flips(rows, resamples=1, seed=7)
    assert (p * 2**15).tolist() == [863, 2**15, 863]
    assert round(100 * 2 * float(p[0]), 3) == 5.267


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=9))
def test_exact_sign_flips_equal_scipy(values):
    y = np.array(values) / 10  # tenths: sums in another order differ in their last digits, and ties abound
    sums = np.array(list(itertools.product((-1, 1), repeat=len(values)))) @ values
    [upper] = inference.sign_flips(y[None], resamples=1, seed=7)
    assert upper * len(sums) == (sums >= sum(values)).sum()
    options = {"permutation_type": "samples", "alternative": "greater", "n_resamples": np.inf}
    theirs = stats.permutation_test((np.array(values),), np.sum, **options)  # whole numbers: it knows no tolerance
    assert upper == pytest.approx(theirs.pvalue, abs=1e-12)


def test_masks_are_equally_likely():
    masks = inference.random_masks(3, 8000, np.random.default_rng(7))
    assert stats.chisquare(np.bincount(masks @ [1, 2, 4], minlength=8)).pvalue > 0.01


# Jackknife


def test_the_jackknife_of_a_mean_is_the_textbook_standard_error():
    x = np.random.default_rng(3).normal(size=(25, 2))
    without = np.stack([np.delete(x, k, axis=0).mean(axis=0) for k in range(25)])
    np.testing.assert_allclose(inference.jackknife_error(without), stats.sem(x))
    theirs = stats.ttest_1samp(x[:, 0], 0).confidence_interval(0.9)
    ours = inference.jackknife_interval(x[:, 0].mean(), without[:, 0], level=0.9)
    assert ours == pytest.approx((theirs.low, theirs.high))


def test_units_of_one_value_may_be_counted_and_undefined_ones_add_nothing():
    values, times = np.array([1.0, 2.0, 4.0]), np.array([3, 1, 2])
    assert inference.jackknife_error(values, times) == pytest.approx(inference.jackknife_error(values.repeat(times)))
    gap = inference.jackknife_error([1.0, np.nan, 3.0])
    assert float(gap) == pytest.approx(np.sqrt(2 / 3 * 2))


# Multiplicity


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(inference.ADJUSTMENTS)))
def test_adjusted_p_values_are_those_of_statsmodels_gaps_aside(p, method):
    adjusted = inference.adjust([*p, np.nan], method=method)
    np.testing.assert_array_equal(adjusted[:-1], multitest.multipletests(p, method=method)[1])
    assert np.isnan(adjusted[-1])
    assert (adjusted[:-1] >= np.array(p) - 1e-12).all()


# Tests of two samples, a test a row: those that scipy has, too, are held to it in the tests of rankings


def test_stouffer_equals_scipy():
    p = np.random.default_rng(1).random((5, 4))
    expected = [stats.combine_pvalues(row, method="stouffer").pvalue for row in p]
    assert inference.stouffer(p) == pytest.approx(np.array(expected), rel=1e-9)


def test_sign_flips_count_all_signs_of_few_differences():
    difference = np.array([[3.0, 1, 2, np.nan], [1, -1, 4, 0]])
    p = inference.sign_flips(difference, resamples=1000, seed=7)
    assert p.tolist() == [2 / 16, 6 / 16]  # a gap has a sign, too, which changes no sum


def test_sign_flips_and_redrawing_agree_with_student_on_many_normal_differences():
    difference = np.random.default_rng(5).normal(0.1, 1, (6, 400))
    expected = inference.paired_t(difference)
    for p in (
        inference.sign_flips(difference, resamples=20_000, seed=7),
        inference.redrawn(difference, resamples=20_000, seed=7),
        inference.above_by_bca(difference, resamples=20_000, seed=7),
    ):
        assert p == pytest.approx(expected, abs=0.012)


def apart(x, y, axis=-1):
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


@pytest.mark.parametrize("resamples", [5, 100, 1000])
@pytest.mark.parametrize("statistic", [np.mean, apart])
@pytest.mark.filterwarnings("ignore")
def test_scipys_interval_lies_above_zero_at_every_level_above_the_bca_level(statistic, resamples):
    rng = np.random.default_rng(resamples)
    kinds = [lambda n: rng.normal(0.3, 1, n), lambda n: rng.integers(-1, 3, n).astype(float), lambda n: np.full(n, 2.0)]
    above = set()
    for case in range(60):
        samples = [kinds[case % 3](size) for size in rng.integers(2, 25, 1 + (statistic is apart))]
        level = rng.choice([0.02, 0.05, 0.2])
        theirs = stats.bootstrap(
            samples, statistic, n_resamples=resamples, confidence_level=1 - level, alternative="greater", rng=rng
        )
        found = inference.bca_level([one[None] for one in samples], theirs.bootstrap_distribution[:, None])[0]
        assert (found < level) == (theirs.confidence_interval.low > 0), (samples, found)
        above.add(bool(found < level))
    assert above == {True, False}


def test_nothing_observed_and_no_spread_prove_nothing():
    nothing, flat = np.full((1, 5), np.nan), np.full((1, 5), 50.0)
    assert inference.above_by_bca(nothing, resamples=20, seed=7).tolist() == [1.0]
    assert inference.above_by_bca(flat, resamples=20, seed=7).tolist() == [1.0]
    assert inference.signed_rank(flat - flat).tolist() == [1.0]
    assert inference.paired_t(nothing).tolist() == [1.0]
    assert inference.independent_t(flat, flat).tolist() == [1.0]


# One width


def mean(score):
    return inference.column_means(np.asarray(score, float)[:, None])


def judged(rng, *, documents=30, people=30, each=10, spread=(0.0, 0.0, 1.0), crew=0):
    """Judge every document's translations once, by people at random; spread: of documents, people and noise."""
    document = np.repeat(np.arange(documents), each)
    person = rng.integers(0, people, len(document))
    of_documents, of_people, noise = spread
    score = rng.normal(0, of_documents, documents)[document] + rng.normal(0, of_people, people)[person]
    return score + rng.normal(0, noise, len(document)), {"documents": document, f"people {crew}": person}


def fair(found):
    """Return the variance without factors for few units."""
    return widths.crossed_variance({kinds: (sums**2).sum(axis=0) for kinds, sums in found.sums.items()})


@pytest.mark.parametrize("spread", [(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 0.1)])
def test_the_variance_of_a_mean_is_statsmodels_two_way_clustered_one(spread):
    score, units = judged(np.random.default_rng(1), spread=spread)
    [found] = widths.redraw([widths.Part(mean(score), units, len(score))], resamples=4000, seed=2)
    fitted = OLS(score, np.ones((len(score), 1))).fit()
    both, *single = (np.squeeze(one) for one in cov_cluster_2groups(fitted, *units.values(), use_correction=False))
    assert fair(found)[0] == pytest.approx(max(both, *single), rel=1e-6)
    assert found.narrowed().var() == pytest.approx(float(found.spread()[0][0]), rel=0.1)


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_draws_vary_as_the_sum_over_all_combinations_and_noise_counts_as_often_as_there_are(kinds):
    rng = np.random.default_rng(kinds)
    frame = pd.DataFrame(rng.integers(0, 25, (600, kinds)), columns=list("abc")[:kinds])
    score = rng.normal(0, 1, 600)
    units = {name: frame[name].to_numpy() for name in frame}
    [found] = widths.redraw([widths.Part(mean(score), units, 600)], resamples=6000, seed=3)
    influence = (score - score.mean()) / 600
    for size in range(1, kinds + 1):
        for some in itertools.combinations(frame, size):
            by_loops = pd.Series(influence).groupby([frame[name] for name in some]).sum()
            assert (found.sums[some] ** 2).sum() == pytest.approx((by_loops**2).sum(), rel=1e-6)
    assert found.draws.var() == pytest.approx(sum((one**2).sum() for one in found.sums.values()), rel=0.15)
    assert found.draws.var() / fair(found) == pytest.approx(2**kinds - 1, rel=0.25)  # nothing but noise scatters


def test_what_two_campaigns_share_cancels_in_their_difference():
    rng = np.random.default_rng(8)
    (one, units), (other, others) = (judged(rng, spread=(3, 1, 1), crew=crew) for crew in (0, 1))
    texts = rng.normal(0, 5, 30)[units["documents"]]
    parts = [widths.Part(mean(score + texts), own, 300) for score, own in ((one, units), (other, others))]
    difference = widths.combine(widths.redraw(parts, resamples=300, seed=1), [1, -1])

    def both(times):
        return mean(one + texts)(times[:, :300]) - mean(other + texts)(times[:, 300:])

    once = np.ones((1, 600))
    assert difference.estimate == pytest.approx(both(once)[0])
    scores = (one + texts, -other - texts)
    influence = np.concatenate([(score - score.mean()) / 300 for score in scores])
    by_document = pd.Series(influence).groupby(np.concatenate([units["documents"], others["documents"]])).sum()
    assert (difference.sums["documents",] ** 2).sum() == pytest.approx((by_document**2).sum(), rel=1e-6)
    [alone] = widths.redraw(parts[:1], resamples=10, seed=1)
    assert (difference.sums["documents",] ** 2).sum() < (alone.sums["documents",] ** 2).sum()
    assert len(difference.sums) == 5  # documents, either crew, and documents with either
    drawn = widths.redraw(parts, resamples=50, seed=1)
    np.testing.assert_array_equal(widths.combine(drawn, [1, 0]).interval(), drawn[0].interval())
    np.testing.assert_array_equal(widths.combine([drawn[0]] * 2, [1, -1]).interval(), [[0], [0]])


@settings(max_examples=20)
@given(st.floats(0.1, 10), st.floats(-50, 50), st.integers(0, 99))
def test_another_scale_or_other_names_change_nothing(factor, shift, seed):
    score, units = judged(np.random.default_rng(seed), documents=6, people=4, each=4, spread=(1, 1, 1))
    named = {kind: np.char.add("x", codes.astype(str)) for kind, codes in units.items()}
    parts = [
        widths.Part(mean(values), own, len(score)) for values, own in ((score, units), (factor * score + shift, named))
    ]
    ours, theirs = (widths.redraw([part], resamples=10, seed=1)[0] for part in parts)
    (variance, freedom), (other, same) = ours.spread(), theirs.spread()
    assert (other, same) == (pytest.approx(factor**2 * variance, rel=1e-9), pytest.approx(freedom, rel=1e-9))
    np.testing.assert_allclose(theirs.narrowed(), factor * ours.narrowed() + shift, rtol=1e-9, atol=1e-9)


def halves(rng, *, rows=400):
    """Draw two campaigns of which the second judged the first half of the documents: statistic, units, complete."""
    document = np.sort(rng.integers(0, 40, rows))
    people = {name: rng.integers(0, 15, rows) for name in ("one", "other")}
    people["one"][document >= 20] += 15  # who judged the first half did not judge the second
    x, y = rng.normal(0, 1, rows) + rng.normal(0, 1, (2, rows))
    complete = document < 20
    sums = correlation.moments(x[complete], y[complete]).T

    def statistic(times):
        return correlation.pearson_of_sums(times[:, complete] @ sums)[:, None]

    return x[complete], y[complete], {"documents": document} | people, complete[:, None], statistic


def test_influences_on_a_correlation_are_those_of_its_formula_and_none_where_nothing_is_judged():
    """Source of the formula: Devlin, Gnanadesikan & Kettenring 1975."""
    x, y, units, complete, statistic = halves(np.random.default_rng(12))
    [found] = widths.redraw([widths.Part(statistic, units, 400, complete)], resamples=5, seed=1)
    zx, zy = ((side - side.mean()) / side.std() for side in (x, y))
    influence = (zx * zy - (zx * zy).mean() * (zx**2 + zy**2) / 2) / len(x)
    for kind, codes in units.items():
        wanted = np.bincount(codes[complete[:, 0]], influence, codes.max() + 1)
        np.testing.assert_allclose(found.sums[kind,][:, 0], wanted, rtol=1e-5, atol=1e-9)
        judged = np.bincount(codes[complete[:, 0]], minlength=codes.max() + 1) > 0
        np.testing.assert_array_equal(found.shares[kind,][:, 0, 0] > 0, judged)
        assert (found.sums[kind,][~judged] == 0).all()
    assert (found.shares["one",] > 0).sum() == 15  # of 30


def test_units_count_by_their_rows_for_each_value_and_those_without_a_row_not_at_all():
    """The fourth value rests on one unit and is not stretched, the last one on no row."""
    rng = np.random.default_rng(14)
    score, unit = rng.normal(0, 1, (90, 5)), np.repeat(np.arange(30), 3)
    some = (unit < 8) & (np.arange(90) % 3 <= unit % 3)
    judged = np.stack([np.ones(90, bool), unit < 5, some, unit < 1, unit < 0], axis=1)

    def means(times):
        with np.errstate(invalid="ignore"):
            return times @ (score * judged) / (times @ judged)

    [found] = widths.redraw([widths.Part(means, {"documents": unit}, 90, judged)], resamples=400, seed=1)
    variance, freedom = found.spread()
    for value, part in enumerate(judged.T[:3]):
        shares = np.bincount(unit, part) / part.sum()
        factor, degrees = widths_by_hand.few(shares[shares > 0, None])
        assert (variance[value], freedom[value]) == pytest.approx((factor * fair(found)[value], degrees), rel=1e-9)
    assert freedom[:2] == pytest.approx([29, 4])
    plain, wide = (np.nanstd(one[:, :3], axis=0) for one in (found.narrowed(), found.narrowed(few=True)))
    assert wide / plain == pytest.approx(stats.t.ppf(0.975, freedom[:3]) / stats.norm.ppf(0.975), rel=1e-9)
    assert [end[3] for end in found.interval()] == pytest.approx([found.estimate[3]] * 2)
    assert np.isnan(found.estimate[4])


def test_the_width_of_a_mean_is_that_of_influences_whether_measured_or_by_formula():
    score, units = judged(np.random.default_rng(3), documents=12, people=5, each=4, spread=(1, 1, 1))
    [found] = widths.redraw([widths.Part(mean(score), units, len(score))], resamples=5, seed=2)
    exact = widths.Influences.of_means(score[:, None], np.ones((len(score), 1)), units)
    for one, other in zip(found.spread(), exact.spread(), strict=True):
        assert one == pytest.approx(other[0], rel=1e-6)


def test_the_last_bits_of_a_statistic_which_are_a_processors_own_do_not_show():
    *_, units, complete, statistic = halves(np.random.default_rng(15))
    rng = np.random.default_rng(16)

    def elsewhere(times):
        found = statistic(times)
        return found * (1 + rng.choice([-1, 0, 1], found.shape) * 2.0**-52)

    parts = [widths.Part(own, units, 400, complete) for own in (statistic, elsewhere)]
    here, there = (widths.redraw([part], resamples=300, seed=1)[0].interval() for part in parts)
    np.testing.assert_allclose(there, here, rtol=1e-10)


def test_a_single_unit_is_not_drawn_and_a_statistic_with_jumps_is_not_narrowed():
    score, units = judged(np.random.default_rng(9), people=1)
    part = widths.Part(mean(score), units, len(score))
    [found] = widths.redraw([part], resamples=20, seed=1)
    assert list(found.sums) == [("documents",)]
    assert fair(found) == pytest.approx((found.sums["documents",] ** 2).sum(axis=0))
    still = widths.Part(lambda times: (mean(score)(times) > 0).astype(float), units, len(score))
    [found] = widths.redraw([still], resamples=20, seed=1)
    assert found.spread()[0].tolist() == [0]
    [found] = widths.redraw([widths.Part(mean(score), {}, len(score))], resamples=3, seed=1)
    np.testing.assert_allclose(found.narrowed(), np.full((3, 1), score.mean()))


def design(rng, name):
    """Say who judges what: annotator, document and system of each judgement; four systems."""
    document, system = (codes.ravel() for codes in np.meshgrid(np.arange(20), np.arange(4), indexing="ij"))
    document, system = np.repeat(document, 2), np.repeat(system, 2)
    if name == "complete":
        return np.repeat(np.arange(8), len(system)), np.tile(document, 8), np.tile(system, 8)
    if name == "whole documents":
        return rng.permutation(20)[document] % 8, document, system
    if name == "nested":
        return 4 * rng.integers(0, 5, len(system)) + system, document, system
    return rng.integers(0, 8, len(system)), document, system


@pytest.mark.slow
@pytest.mark.parametrize("name", ["complete", "whole documents", "scattered", "nested"])
def test_intervals_cover_scores_differences_and_places(name):
    """300 campaigns: three standard errors of a coverage of 95 % are 1.5 % to 4 %, as intervals of a campaign vary."""
    truth, rng, covered = np.array([76.0, 74, 71, 66]), np.random.default_rng(11), []
    for number in range(300):
        person, document, system = design(rng, name)
        score = truth[system] + rng.normal(0, 6, 20)[person] + rng.normal(0, 3, (20, 4))[person, system]
        score += rng.normal(0, 6, 20)[document] + rng.normal(0, 3, (20, 4))[document, system]
        score += rng.normal(0, 10, len(system))
        member = np.eye(4)[system]
        influences = widths.Influences.of_means(member * score[:, None], member, {"a": person, "d": document})
        means, reach = member.T @ score / member.sum(axis=0), influences.half_widths()
        own, apart = means - truth, np.subtract.outer(means - truth, means - truth)
        ranks = stats.rankdata(-influences.draws(means, resamples=200, seed=number), axis=1)
        low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")
        places = (low <= np.arange(1, 5)) & (np.arange(1, 5) <= high)
        differences = (np.abs(apart) <= reach)[~np.eye(4, dtype=bool)]
        covered.append([(np.abs(own) <= np.diag(reach)).mean(), differences.mean(), places.mean()])
    means, differences, places = np.mean(covered, axis=0)
    assert 0.91 <= means <= 0.99
    assert 0.92 <= differences <= 0.995
    assert places >= 0.94
