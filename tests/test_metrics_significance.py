"""Is one metric better than another? Equal to trying every swap, to plain loops, and honest under the null."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import significance, statistics
from evalkit.stats import inference
from tests.makers import metric_scores, named_scores

ALMOST = 1e-9  # how close counts as equal in the loops below, which round differently
SEEDS = st.integers(0, 10**6)


def r(x, y):
    """Correlate; 0 where a swapped metric does not vary."""
    return 0.0 if np.ptp(x) < ALMOST or np.ptp(y) < ALMOST else np.corrcoef(x, y)[0, 1]


def accuracy(x, y):
    pairs = itertools.combinations(range(len(x)), 2)
    return np.mean([np.sign(np.round(x[i] - x[j], 12)) == np.sign(y[i] - y[j]) for i, j in pairs])


def every_swap(a, b, human, statistic):
    """Try all 2^n swaps of two standardised metrics: the difference, and the share that reaches it."""
    masks = list(itertools.product([False, True], repeat=len(a)))
    observed, hits = swapped(stats.zscore(a), stats.zscore(b), lambda x: statistic(x, human), masks)
    return observed, hits / len(masks)


def swapped(a, b, value, masks):
    """Try some swaps of two metrics in a loop: the difference of their values, and how many swaps reach it."""
    observed = value(a) - value(b)
    hits = 0
    for mask in masks:
        one, other = np.where(mask, b, a), np.where(mask, a, b)
        hits += value(one) - value(other) >= abs(observed) - ALMOST
    return observed, hits


def by_pair(scores, **options):
    """Map two metrics to the first's difference to the second, the p-value of the better one, and if it is exact."""
    found = {}
    for row in significance.perm_both(scores, **options).itertuples():
        ordered = row.metric_a < row.metric_b
        key = (row.metric_a, row.metric_b) if ordered else (row.metric_b, row.metric_a)
        found[key] = (row.difference if ordered else -row.difference, row.p, row.exact)
    return found


def random_swaps(cells, count, *, seed, block=512):
    """Draw the swaps that a test draws, and their complements: all that it tries."""
    draw = inference.Swaps(cells).drawn
    half = np.concatenate(list(inference.in_blocks(draw, count, seed=seed, block=block)))
    return np.concatenate([half, ~half])


# Scores of systems: all swaps


@pytest.mark.parametrize(("name", "statistic"), [("pearson", r), ("accuracy_3way", accuracy)])
@given(SEEDS, st.integers(3, 7), st.sampled_from([0, 3, 9]))
@settings(max_examples=20)
def test_p_values_of_systems_are_those_of_trying_every_swap(name, statistic, seed, systems, values):
    there = metric_scores(seed, (systems,), values=values)
    found, human = by_pair(there, statistic=name), there.human[:, 0]
    for (i, a), (j, b) in itertools.combinations(enumerate(there.values[:, :, 0]), 2):
        difference, p, exact = found[f"m{i}", f"m{j}"]
        assert exact
        if name == "pearson" and min(np.ptp(a), np.ptp(b), np.ptp(human)) == 0:
            assert np.isnan([difference, p]).all()
        elif min(np.ptp(a), np.ptp(b)) > 0:
            assert (difference, p) == pytest.approx(every_swap(a, b, human, statistic), abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.1, 1 / 3])
def test_a_swapped_metric_that_does_not_vary_correlates_with_nothing(scale):
    human = np.array([-1.0, 1.0, 0.0])
    two = scale * np.array([[0.0, 0, 1], [1, 0, 0]])  # swapping the last scores makes the first constant
    p = significance.perm_both(named_scores(two, human), statistic="pearson")["p"].item()
    assert p == pytest.approx(every_swap(*two, human, r)[1], abs=1e-12)
    rounding = significance._r(
        np.array([3e-17, 0.5]), np.array([2e-17, 0.25])
    )  # covariance over variance, of lengths 1
    assert rounding.tolist() == [0.0, 1.0]


def random_like_exact(there, monkeypatch, name, draws):
    """Test with all swaps and with some, which must agree within their error; return what all swaps say."""
    exact = significance.perm_both(there, statistic=name)
    with monkeypatch.context() as patch:
        patch.setattr(inference, "EXACT_UP_TO", 8)
        random = significance.perm_both(there, statistic=name, draws=draws, seed=5)
    assert exact["exact"].all()
    assert not random["exact"].any()
    assert (exact["metric_a"] == random["metric_a"]).all()
    error = np.sqrt(exact["p"] * (1 - exact["p"]) / draws) + 1 / draws
    assert (np.abs(exact["p"] - random["p"]) / error).max() < 5
    return exact


@pytest.mark.parametrize("name", ["pearson", "accuracy_3way"])
def test_random_swaps_agree_with_all_of_them(name, monkeypatch):
    random_like_exact(metric_scores(11, (12,), metrics=12), monkeypatch, name, draws=4000)


def test_under_the_null_p_is_small_as_seldom_as_it_says():
    rng = np.random.default_rng(4)
    p = []
    for _ in range(250):
        human = rng.normal(size=8)
        two = named_scores(human + rng.normal(size=(2, 8)), human)
        p.append(significance.perm_both(two, statistic="pearson")["p"].item())
    for alpha in (0.05, 0.2):  # one of two equals is the better one: twice the one-sided level
        expected = 2 * alpha
        assert abs(np.mean(np.array(p) <= alpha) - expected) < 4 * np.sqrt(expected * (1 - expected) / 250)


# Scores of segments


def test_pearson_of_segments_equals_the_loop_of_swaps():
    there = metric_scores(2, (4, 10), metrics=4, values=6)
    found = by_pair(there, statistic="pearson", draws=400, seed=9)
    masks = random_swaps(40, 200, seed=9)
    for i, j in itertools.combinations(range(4), 2):
        a, b = (stats.zscore(there.values[k].ravel()) for k in (i, j))
        observed, hits = swapped(a, b, lambda x: r(x, there.human.ravel()), masks)
        assert found[f"m{i}", f"m{j}"] == pytest.approx((observed, (hits + 1) / 401, False), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_of_metrics_that_differ_in_last_bits_alone_the_one_listed_first_stands_first(seed):
    there = metric_scores(seed, (4, 30), metrics=1)
    both = np.concatenate([there.values, there.values * 0.3 + 0.7])
    for order in ([0, 1], [1, 0]):
        found = significance.perm_both(named_scores(both[order], there.human), statistic="pearson", draws=9)
        assert found[["metric_a", "metric_b"]].to_numpy().tolist() == [["m0", "m1"]]
        assert found["difference"].item() == pytest.approx(0, abs=1e-12)


def test_two_metrics_are_compared_on_the_cells_that_both_scored():
    there = metric_scores(6, (4, 30), metrics=4)
    gaps, human = there.values, there.human
    gaps[1, 0, :9] = gaps[2, 1:, 20:] = np.nan
    human[3, 5] = np.nan
    found = by_pair(there, statistic="pearson", draws=20_000)
    assert len(found) == 6
    for i, j in itertools.combinations(range(4), 2):
        both = np.isfinite(gaps[i] + gaps[j] + human)
        x, y, h = gaps[i][both], gaps[j][both], human[both]
        difference, p, _ = found[f"m{i}", f"m{j}"]
        assert difference == pytest.approx(r(x, h) - r(y, h), abs=1e-12)
        alone = by_pair(named_scores([[x], [y]], [h]), statistic="pearson", draws=20_000, seed=3)
        assert p == pytest.approx(alone["m0", "m1"][1], abs=5 * np.sqrt(0.5 / 20_000))
    full = by_pair(named_scores(gaps[[0, 3]], human), statistic="pearson", draws=20_000)
    assert full["m0", "m1"][0] == pytest.approx(found["m0", "m3"][0], abs=1e-12)


def right(there):
    """Mark the right pairs of every metric at its own threshold, as lists of segments."""
    thresholds = statistics.acc_eq(there).set_index("metric")["threshold"]
    found = []
    for name, metric in zip(there.metrics, there.values):
        segments = []
        for x, y in zip(metric.T, there.human.T):
            ok = np.flatnonzero(np.isfinite(y))
            pairs = [(x[i] - x[j], y[i] - y[j]) for i, j in itertools.combinations(ok, 2)]
            segments.append([np.sign(d if abs(d) > thresholds[name] else 0) == np.sign(h) for d, h in pairs])
        found.append([np.array(each, float) for each in segments if each])
    return found


def share_of_swaps(gain):
    """Try all signs of some gains: their sum, and the share of swaps that reach it."""
    signs = np.array(list(itertools.product([1, -1], repeat=len(gain))))
    return gain.sum(), np.mean(signs @ gain >= abs(gain.sum()) - ALMOST)


@given(SEEDS, st.sampled_from([0, 3]))
@settings(max_examples=12)
def test_acc_eq_by_pairs_is_the_share_of_all_swaps_of_pairs(seed, values):
    there = metric_scores(seed, (3, 4), metrics=2, values=values)
    gain = np.subtract(*[np.concatenate(each) for each in right(there)])
    expected = share_of_swaps(gain / len(gain))
    assert by_pair(there, statistic="acc_eq")["m0", "m1"] == pytest.approx((*expected, True), abs=1e-12)


@given(SEEDS, st.booleans())
@settings(max_examples=12)
def test_acc_eq_by_segments_is_the_share_of_all_swaps_of_segments(seed, gaps):
    there = metric_scores(seed, (4, 8), metrics=2, values=3)
    if gaps:
        there.human[0, :3] = np.nan
    found = by_pair(there, statistic="acc_eq", unit="item")["m0", "m1"]
    gain = np.subtract(*[[segment.mean() for segment in each] for each in right(there)]) / 8
    assert found == pytest.approx((*share_of_swaps(gain), True), abs=1e-12)


def test_acc_eq_by_pairs_with_unequal_segments_agrees_with_all_swaps():
    there = metric_scores(8, (4, 4), metrics=2, values=3)
    there.human[0, :2] = there.human[:2, 3] = np.nan
    difference, p, exact = by_pair(there, statistic="acc_eq", draws=40_000)["m0", "m1"]
    gain = np.subtract(*[np.concatenate([segment / len(segment) / 4 for segment in each]) for each in right(there)])
    total, expected = share_of_swaps(gain[gain != 0])
    assert not exact
    assert difference == pytest.approx(total, abs=1e-12)
    assert 0 < expected < 1
    assert p == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 40_000))


@pytest.mark.parametrize("values", [0, 3])
def test_spa_equals_the_loop_that_tests_all_systems_anew(values):
    there = metric_scores(3, (4, 12), values=values)
    table = by_pair(there, statistic="spa", draws=30, flips=50, seed=2)
    flips = np.where(statistics.flipped(12, flips=50, seed=2).T, -1, 1)
    masks = random_swaps(48, 15, seed=2, block=8).reshape(30, 4, 12)

    def p(scores):
        gaps = [scores[i] - scores[j] for i, j in itertools.combinations(range(4), 2)]
        return np.array([np.mean(flips @ gap >= gap.sum() - ALMOST) for gap in gaps])

    def value(scores):
        return 1 - np.abs(p(scores) - p(there.human)).mean()

    for i, j in itertools.combinations(range(3), 2):
        a, b = (stats.zscore(there.values[k], axis=None) for k in (i, j))
        observed, hits = swapped(a, b, value, masks)
        assert table[f"m{i}", f"m{j}"] == pytest.approx((observed, (hits + 1) / 31, False), abs=1e-12)


def test_spa_uses_segments_with_all_systems_and_says_so_by_its_level():
    there = metric_scores(3, (3, 12), metrics=2)
    kept = [k for k in range(12) if k != 4]
    whole = named_scores(there.values[:, :, kept], there.human[:, kept])
    there.values[0, 1, 4] = np.nan
    table, alone = (significance.perm_both(s, statistic="spa", draws=20, flips=40) for s in (there, whole))
    assert table["level"].tolist() == ["system"]
    assert table["difference"].item() == pytest.approx(alone["difference"].item(), abs=1e-12)
    assert table["p"].item() == alone["p"].item()


@pytest.mark.parametrize(
    ("options", "words"), [({"statistic": "kendall_b"}, "'kendall_b'.* segments"), ({"unit": "document"}, "'document'")]
)
def test_tests_that_do_not_exist_are_refused(options, words):
    with pytest.raises(DataError, match=words):
        significance.perm_both(metric_scores(5), **{"statistic": "acc_eq"} | options)
