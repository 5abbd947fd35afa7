"""One width: against statsmodels' two-way clusters, loops, and what campaigns really vary."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from evalkit.stats import correlation, inference, widths
from tests import widths_by_hand


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


def covered(rng, spread, *, people=30, campaigns=200):
    """Return in which share of campaigns the interval of the mean holds the true one, 0: narrowed, and plain draws."""
    held = []
    for number in range(campaigns):
        score, units = judged(rng, spread=spread, people=people)
        part = widths.Part(mean(score), units, len(score))
        [found] = widths.redraw([part], resamples=200, seed=number)
        ends = np.array([found.interval(), inference.interval(found.draws)])[..., 0]
        held.append((ends[:, 0] < 0) & (ends[:, 1] > 0))
    return np.mean(held, axis=0)


SPREADS = [((0, 0, 1), 30), ((1, 0.5, 1), 30), ((0.3, 1, 1), 10)]


@pytest.mark.parametrize(("spread", "people"), SPREADS)
def test_intervals_of_a_mean_cover_as_often_as_they_say_whatever_scatters(spread, people):
    narrowed, plain = covered(np.random.default_rng(5), spread, people=people)
    assert 0.90 <= narrowed <= 0.985
    if (spread, people) == ((0, 0, 1), 30):
        assert plain > 0.99  # as wide as the root of three times the variance


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
    rng = np.random.default_rng(14)
    score, unit = rng.normal(0, 1, (90, 3)), np.repeat(np.arange(30), 3)
    judged = np.stack([np.ones(90, bool), unit < 5, (unit < 8) & (np.arange(90) % 3 <= unit % 3)], axis=1)

    def means(times):
        with np.errstate(invalid="ignore"):
            return times @ (score * judged) / (times @ judged)

    [found] = widths.redraw([widths.Part(means, {"documents": unit}, 90, judged)], resamples=400, seed=1)
    variance, freedom = found.spread()
    for value, part in enumerate(judged.T):
        shares = np.bincount(unit, part) / part.sum()
        factor, degrees = widths_by_hand.few(shares[shares > 0, None])
        assert (variance[value], freedom[value]) == pytest.approx((factor * fair(found)[value], degrees), rel=1e-9)
    assert freedom[:2] == pytest.approx([29, 4])
    plain, wide = (np.nanstd(one, axis=0) for one in (found.narrowed(), found.narrowed(few=True)))
    assert wide / plain == pytest.approx(stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975), rel=1e-9)


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


def test_a_value_that_rests_on_no_row_or_on_one_unit_is_not_stretched():
    score, unit = np.arange(6.0), np.array([0, 0, 1, 1, 2, 2])
    judged = np.stack([unit < 0, unit < 1], axis=1)

    def means(times):
        with np.errstate(invalid="ignore"):
            return times @ (score[:, None] * judged) / (times @ judged)

    [found] = widths.redraw([widths.Part(means, {"documents": unit}, 6, judged)], resamples=50, seed=1)
    (_, low), (_, high) = found.interval()
    assert np.isnan(found.estimate[0])
    assert (low, high) == pytest.approx((0.5, 0.5))


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


def test_draws_without_a_value_are_left_out():
    there = widths.Part(lambda times: np.where(times[:, :1] > 0, 5.0, np.nan), {"documents": np.arange(2)}, 2)
    [found] = widths.redraw([there], resamples=60, seed=1)
    assert np.isnan(found.draws).any()
    assert [float(end[0]) for end in found.interval()] == [5, 5]


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
        effects = [
            rng.normal(0, 6, 20)[person],
            rng.normal(0, 3, (20, 4))[person, system],
            rng.normal(0, 6, 20)[document],
        ]
        effects += [rng.normal(0, 3, (20, 4))[document, system], rng.normal(0, 10, len(system))]
        member = np.eye(4)[system]
        score = truth[system] + sum(effects)
        influences = widths.Influences.of_means(member * score[:, None], member, {"a": person, "d": document})
        means, reach = member.T @ score / member.sum(axis=0), influences.half_widths()
        apart = (means - truth)[:, None] - (means - truth)
        ranks = stats.rankdata(-influences.draws(means, resamples=200, seed=number), axis=1)
        low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="nearest")
        places = (low <= np.arange(1, 5)) & (np.arange(1, 5) <= high)
        covered.append(
            [
                (np.abs(means - truth) <= np.diag(reach)).mean(),
                (np.abs(apart) <= reach)[~np.eye(4, dtype=bool)].mean(),
                places.mean(),
            ]
        )
    means, differences, places = np.mean(covered, axis=0)
    assert 0.91 <= means <= 0.99
    assert 0.92 <= differences <= 0.995
    assert places >= 0.94
