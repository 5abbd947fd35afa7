"""Metrics against humans as scipy and mt-metrics-eval correlate them, and whether one metric is better than another."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import ROOT, DataError
from evalkit.data.provenance import like
from evalkit.metrics import bounds, rankings, significance, statistics
from evalkit.metrics.scores import align, coverage
from evalkit.stats import inference
from tests.makers import metric_scores, named_scores

#: Columns of what mt-metrics-eval computed -> level, statistic and grouping here.
OURS = {f"sys_{name}": ("system", name, "none") for name in ("pearson", "spearman", "kendall_b", "accuracy_3way")} | {
    f"seg_{name}_{grouping[:4].replace('syst', 'sys')}": ("segment", name, grouping)
    for name in ("pearson", "kendall_b")
    for grouping in ("none", "item", "system")
}
OURS["seg_pearson_differences"] = ("segment", "pearson_differences", "item")
SEEDS = st.integers(0, 10**6)


def rows(cells, metric):
    """Turn systems × segments into a table of scores, without the missing ones."""
    found = [
        (f"s{i}", f"doc{j % 2}", str(j // 2), value) for (i, j), value in np.ndenumerate(cells) if np.isfinite(value)
    ]
    frame = pd.DataFrame(found, columns=["system", "doc", "segment", "score"])
    frame = frame.assign(src_lang="eng", tgt_lang="deu", metric=metric)
    return like(frame, frame, source={"name": "drawn", "source": "simulated", "origin": "a test", "digest": "none"})


@pytest.fixture(scope="module")
def wmt23(real):
    """English-German of WMT23 with MQM, of segments and of systems, without references, as mt-metrics-eval has them."""
    tables = []
    for name in ("wmt23-metrics", "wmt23-human", "wmt23-metrics-systems", "wmt23-human-systems"):
        table = real(name).query("src_lang == 'eng' and tgt_lang == 'deu'")
        tables.append(table[table["metric"] == "mqm"] if "human" in name else table)
    return [align(*pair, without=("refA", "synthetic_ref")) for pair in (tables[:2], tables[2:])]


@pytest.fixture(scope="module")
def oracle():
    """What mt-metrics-eval computes of the same."""
    table = pd.read_csv(ROOT / "tests" / "oracles" / "mt_metrics_eval_wmt23_en-de.csv")
    return table.assign(metric=table["metric"].str.replace("-(refA|src)$", "", regex=True)).set_index("metric")


# Matching by names


@given(SEEDS, st.sampled_from([0.0, 0.3, 0.6]), st.booleans())
@settings(max_examples=12)
def test_scores_find_their_cell_whatever_is_missing_and_in_whatever_order(seed, gaps, categories):
    there = metric_scores(seed, gaps=gaps)
    metric = pd.concat([rows(cells, name) for cells, name in zip(there.values, there.metrics)])
    metric, human = (table.sample(frac=1, random_state=seed % 1000) for table in (metric, rows(there.human, "DA")))
    if np.isfinite(there.values + there.human).sum() == 0:
        return
    expected = {(r.metric, r.system, f"{r.doc}:{r.segment}"): r.score for r in pd.concat([metric, human]).itertuples()}
    if categories:
        names = dict.fromkeys(["src_lang", "tgt_lang", "system", "doc", "segment", "metric"], "category")
        metric, human = metric.astype(names), human.astype(names)
    found = align(metric, human)
    assert (found.level, found.pair) == ("segment", "eng-deu")
    for name, cells in [("DA", found.human), *zip(found.metrics, found.values)]:
        for (i, j), score in np.ndenumerate(cells):
            wanted = expected.get((name, found.systems[i], found.segments[j]), np.nan)
            assert score == pytest.approx(wanted, nan_ok=True)
    counted = coverage(found).set_index("metric")
    for name, cells in zip(found.metrics, found.values):
        assert counted.loc[name, "scored"] == (np.isfinite(cells) & np.isfinite(found.human)).sum()
        assert counted.loc[name, ["scored", "missing"]].sum() == len(human[human["system"].isin(found.systems)])


# Correlations


def pairs_of(x, y):
    """List the differences of every two members of a sample that are there, on both sides."""
    both = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    return np.array([(x[i] - x[j], y[i] - y[j]) for i, j in itertools.combinations(both, 2)]).reshape(-1, 2)


def scipys(x, y):
    """Compute one sample's statistics by scipy and by comparing every two members."""
    signs = np.sign(pairs_of(x, y))
    same = signs[:, 0] == signs[:, 1]
    untied = same[signs[:, 1] != 0]
    found = {"accuracy_2way": untied.mean() if len(untied) else np.nan, "accuracy_3way": same.mean()}
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        found |= {"pearson": stats.pearsonr(x, y)[0], "spearman": stats.spearmanr(x, y)[0]}
        found |= {f"kendall_{v}": stats.kendalltau(x, y, variant=v)[0] for v in "bc"}
    return found


@given(SEEDS, st.integers(2, 8), st.sampled_from([3, 9, 60]), st.sampled_from([0, 3, 9]), st.sampled_from([0.0, 0.3]))
@settings(max_examples=12)
def test_every_statistic_equals_scipys_averaged_over_groups(seed, systems, segments, values, gaps):
    there = metric_scores(seed, (systems, segments), metrics=2, values=values, gaps=gaps)
    table = statistics.correlations(there).set_index(["statistic", "grouping", "metric"])
    for grouping in statistics.GROUPINGS:
        human = statistics.grouped(there.human, grouping)
        for name, cells in zip(there.metrics, there.values):
            samples = []
            for x, y in zip(statistics.grouped(cells, grouping), human):
                both = np.isfinite(x) & np.isfinite(y)
                samples += [scipys(x[both], y[both])] if both.sum() > 1 else []
            for statistic in statistics.STATISTICS:
                each = [s[statistic] for s in samples if np.isfinite(s.get(statistic, np.nan))]
                row = table.loc[(statistic, grouping, name)]
                assert row["groups"] == len(each), (statistic, grouping)
                expected = np.mean(each) if each else np.nan
                assert row["value"] == pytest.approx(expected, abs=1e-12, nan_ok=True), (statistic, grouping)


def test_real_correlations_equal_mt_metrics_evals(wmt23, oracle):
    segment, system = wmt23
    tables = [statistics.correlations(system), statistics.correlations(segment), statistics.pair_differences(segment)]
    found = pd.concat(tables)
    found = found.set_index(["level", "statistic", "grouping", "metric"])["value"].sort_index()
    assert set(oracle.index) == set(system.metrics)
    for quantity, key in OURS.items():
        printed = oracle[quantity].dropna()
        assert len(printed) == len((system if key[0] == "system" else segment).metrics)
        assert np.abs(found.loc[key][printed.index] - printed).max() < 1e-12, quantity


# Ties


def best_by_trying(metric, human):
    """Try every difference as a threshold, and 0."""
    segments = [pairs for pairs in map(pairs_of, metric.T, human.T) if len(pairs)]
    tries = sorted({0.0} | {abs(d) for pairs in segments for d in pairs[:, 0]})
    tied = [[(np.where(abs(p[:, 0]) <= t, 0, np.sign(p[:, 0])), np.sign(p[:, 1])) for p in segments] for t in tries]
    accuracy = [np.mean([(one == other).mean() for one, other in each]) for each in tied]
    best = next(i for i, a in enumerate(accuracy) if a > max(accuracy) - 1e-12)
    return accuracy[best], tries[best]


@given(SEEDS, st.integers(2, 5), st.sampled_from([0, 3, 8]), st.sampled_from([0.0, 0.35]))
def test_calibration_finds_the_best_of_all_thresholds(seed, systems, values, gaps):
    there = metric_scores(seed, (systems, 6), metrics=2, values=values, gaps=gaps)
    table = statistics.acc_eq(there)
    for row, cells in zip(table.itertuples(), there.values):
        if not row.groups:
            assert np.isnan(row.value)
            continue
        value, threshold = best_by_trying(cells, there.human)
        assert row.value == pytest.approx(value, abs=1e-12)
        assert row.threshold == threshold
    if table["groups"].min():
        again = statistics.acc_eq(there, thresholds=dict(zip(table["metric"], table["threshold"])))
        assert again["value"].to_numpy() == pytest.approx(table["value"].to_numpy(), abs=1e-12)


@pytest.mark.parametrize("seed", [49, 101, 117, 286])  # sums of weights make the larger threshold look better here
def test_of_equally_good_thresholds_the_smallest_is_chosen_however_sums_round(seed):
    there = metric_scores(seed, (4, 30), metrics=1, values=8, gaps=0.3)
    value, threshold = best_by_trying(there.values[0], there.human)
    found = statistics.acc_eq(there)
    assert found["threshold"].item() == threshold
    assert found["value"].item() == pytest.approx(value, abs=1e-12)


def test_real_acc_eq_equals_mt_metrics_evals(wmt23, oracle):
    segment, _ = wmt23
    found = statistics.acc_eq(segment).set_index("metric")
    oracle = oracle.dropna(subset="seg_acc_eq_item")
    assert len(oracle) == len(found) == 43
    assert np.abs(found["value"] - oracle["seg_acc_eq_item"]).max() < 1e-12
    # where several thresholds are equally good, theirs is one or another, by the rounding of a running sum
    later = oracle["seg_acc_eq_epsilon"] - found["threshold"].reindex(oracle.index)
    assert later.min() > -1e-9
    assert (later.abs() < 1e-9).sum() == 40
    theirs = later[later > 1e-9].index
    given_theirs = statistics.acc_eq(segment.only(list(theirs)), thresholds=oracle["seg_acc_eq_epsilon"] + 1e-11)
    assert given_theirs["value"].to_numpy() == pytest.approx(found.loc[theirs, "value"].to_numpy(), abs=1e-12)


# Soft pairwise accuracy


def their_flips(segments, *, flips, seed):
    kept = np.rint(np.random.default_rng(4).random((flips, segments), dtype=np.float32))
    return (1 - kept).T / segments


def test_real_spa_equals_mt_metrics_evals_with_its_flips_and_nearly_with_others(wmt23, oracle, monkeypatch):
    printed = oracle["sys_spa"].dropna()
    plain = statistics.spa(wmt23[0]).set_index("metric")["value"]
    monkeypatch.setattr(statistics, "flipped", their_flips)
    found = statistics.spa(wmt23[0]).set_index("metric")["value"]
    assert len(printed) == len(found) == 43
    assert np.abs(found - printed).max() < 4e-5  # one of 1,000 flips ends in a tie, which either rounds otherwise
    assert np.abs(plain - printed).max() < 0.005


@given(SEEDS, st.sampled_from([0, 3]), st.sampled_from([0.0, 0.04]), st.sampled_from([30, 2300]))
def test_spa_is_one_less_the_mean_distance_of_p_values(seed, values, gaps, flips):
    there = metric_scores(seed, (4, 8), metrics=2, values=values, gaps=gaps)
    for row, cells in zip(statistics.spa(there, flips=flips, seed=3).itertuples(), there.values):
        columns = np.isfinite(cells + there.human).all(axis=0)
        assert row.n == columns.sum()
        if not row.n:
            assert np.isnan(row.value)
            continue
        signs = np.where(statistics.flipped(row.n, flips=flips, seed=3).T, -1, 1)
        distances = []
        for i, j in itertools.combinations(range(4), 2):
            gaps_of = [side[i, columns] - side[j, columns] for side in (cells, there.human)]
            p = [np.mean(signs @ gap >= gap.sum() - 1e-9) for gap in gaps_of]
            distances.append(abs(p[0] - p[1]))
        assert row.value == pytest.approx(1 - np.mean(distances), abs=1e-12)


# Ranks


def test_a_cluster_ends_where_one_of_its_metrics_is_significantly_better():
    values = pd.DataFrame({"metric": list("dcba"), "value": [0.1, 0.3, 0.8, 0.8]})
    pairs = list(itertools.combinations("abcd", 2))
    tests = pd.DataFrame(pairs, columns=["metric_a", "metric_b"]).assign(p=[0.5, 0.04, 0.01, 0.2, 0.05, 0.3])
    table = rankings.rank_table(values, tests)
    assert table.to_numpy().tolist() == [["a", 0.8, 1, 2], ["b", 0.8, 1, 1], ["c", 0.3, 2, 0], ["d", 0.1, 2, 0]]
    assert rankings.rank_table(values, tests.assign(p=tests["p"] / 10))["rank"].tolist() == [1, 2, 3, 4]


# Chance


def test_a_metric_that_knows_nothing():
    there = metric_scores(2, (6, 400), metrics=1, values=3, pair="eng-deu")
    length = rows(np.arange(2400.0).reshape(6, 400) % 7, "length")
    table = bounds.chance_levels(there, length=align(length, rows(there.human, "mqm")))
    found = table.set_index(["metric", "statistic", "grouping"])
    first, second = np.triu_indices(6, 1)
    tied = (there.human[first] == there.human[second]).mean()
    assert found.loc[("constant", "acc_eq", "item"), "value"] == pytest.approx(tied)
    assert found.loc[("constant", "accuracy_2way", "none"), "value"] == 0
    assert np.isnan(found.loc[("constant", "pearson", "none"), "value"])
    for statistic, expected in (("pearson", 0), ("kendall_b", 0), ("accuracy_2way", 0.5)):
        row = found.loc[("random", statistic, "item")]
        assert row["low"] < expected < row["high"]
    row = found.loc[("random", "acc_eq", "item")]
    best = max(tied, (1 - tied) / 2)
    assert row["low"] > best - 0.03
    assert row["value"] < best + 0.03
    assert set(table["metric"]) == {"constant", "random", "length"}
    assert set(table["statistic"]) == {*statistics.STATISTICS, "acc_eq", "spa"}


# Refusals

METRIC, HUMAN = rows(np.ones((2, 4)), "m"), rows(np.ones((2, 4)), "mqm")
WHOLE = named_scores(np.ones((1, 2)), np.ones(2))
VALUES = pd.DataFrame({"metric": ["a", "b", "a"], "value": [1.0, 2, 3]})
TESTS = pd.DataFrame({"metric_a": ["a"], "metric_b": ["c"], "p": [0.1]})


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("eng-deu, eng-jpn", lambda: align(METRIC, HUMAN.assign(tgt_lang="jpn"))),
        ("mqm and DA", lambda: align(METRIC, pd.concat([HUMAN, HUMAN.assign(metric="DA")]))),
        ("m scored s1 doc1:1 more than once", lambda: align(pd.concat([METRIC, METRIC.tail(1)]), HUMAN)),
        ("no translation in common", lambda: align(METRIC, HUMAN.assign(doc=HUMAN["doc"] + "x"))),
        ("no translation in common", lambda: align(METRIC, HUMAN, without=["s0", "s1"])),
        ("no metric 'x'", lambda: align(METRIC, HUMAN, without=["s0"]).only(["x"])),
        ("'tau'.* pearson", lambda: statistics.correlations(metric_scores(), statistics=["tau"])),
        ("none, item, system", lambda: statistics.correlations(metric_scores(), groupings=["document"])),
        ("metric m1", lambda: statistics.acc_eq(metric_scores(), thresholds={"m0": 0.1})),
        ("not of whole systems", lambda: statistics.acc_eq(WHOLE)),
        ("not of whole systems", lambda: statistics.spa(WHOLE)),
        ("a has several values", lambda: rankings.rank_table(VALUES, TESTS)),
        ("'kendall_b'.* segments", lambda: significance.perm_both(metric_scores(5), statistic="kendall_b")),
        ("'document'", lambda: significance.perm_both(metric_scores(5), statistic="acc_eq", unit="document")),
        ("every two", lambda: rankings.rank_table(VALUES.head(2), TESTS)),
    ],
)
def test_what_cannot_be_compared_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()


# --- intervals


def some(seed=3, *, gaps=True):
    """Two metrics and human scores with ties, and gaps on both sides."""
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 12, (5, 24)).astype(float) + np.arange(5)[:, None]
    values = np.stack([human + rng.normal(0, 4, human.shape), rng.integers(0, 4, human.shape).astype(float)])
    if gaps:
        values[0, 1, 3] = values[1, 0, 5] = human[2, 7] = np.nan
    return named_scores(values, human, metrics=("good", "coarse"))


def columns_of(scores, columns):
    """Keep some segments, or repeat them."""
    segments = tuple(map(str, range(len(columns))))
    return replace(scores, segments=segments, values=scores.values[:, :, columns], human=scores.human[:, columns])


def expected(scores, metric):
    """All statistics but SPA, from their definitions."""
    x, y = scores.values[metric], scores.human
    both = np.isfinite(x) & np.isfinite(y)
    over_all = scipys(x[both], y[both])
    within = [stats.kendalltau(*side[:, there]).statistic for side, there in zip(np.stack([x.T, y.T], axis=1), both.T)]
    means = [np.nanmean(np.where(both, side, np.nan), axis=1) for side in (x, y)]
    of_systems = scipys(*means)
    return {
        "pearson": over_all["pearson"],
        "kendall_b": over_all["kendall_b"],
        "kendall_b_within": np.nanmean(within),
        "acc_eq": best_by_trying(x, y)[0],
        "system_pearson": of_systems["pearson"],
        "system_kendall_b": of_systems["kendall_b"],
    }


def values_of(scores, **options):
    return statistics.agreement(scores, **options).pivot(index="metric", columns="statistic", values="value")


def test_values_follow_from_the_definitions():
    scores = some()
    found = values_of(scores)
    for place, name in enumerate(scores.metrics):
        for statistic, value in expected(scores, place).items():
            assert found.loc[name, statistic] == pytest.approx(value, abs=1e-12), (name, statistic)
    whole = some(gaps=False)
    own = values_of(whole, flips=4000)["spa"][list(whole.metrics)].to_numpy()
    other_flips = statistics.spa(whole, flips=4000)["value"].to_numpy()
    assert own == pytest.approx(other_flips, abs=0.03)


def test_documents_are_drawn_as_a_whole():
    scores = some(gaps=False)
    one = statistics.agreement(scores, units=["d"] * 24, resamples=20).query("statistic != 'spa'")
    for end in ("low", "high"):
        assert one[end].to_numpy() == pytest.approx(one["value"].to_numpy())
    halves = statistics.agreement(scores, units=["a"] * 12 + ["b"] * 12, resamples=200)
    first, second = (expected(columns_of(scores, half), 0)["kendall_b"] for half in (range(12), range(12, 24)))
    row = halves.query("metric == 'good' and statistic == 'kendall_b'").iloc[0]
    ends = sorted([first, second, row["value"]])  # one document twice, or each once: copies of a cell tie on both sides
    assert (row["low"], row["high"]) == pytest.approx((ends[0], ends[-1]), abs=1e-9)


def test_what_is_not_defined_is_missing():
    scores = some(gaps=False)
    flat = replace(scores, metrics=("flat",), values=np.ones((1, 5, 24)))
    found = values_of(flat).loc["flat"]
    assert found.drop("acc_eq").isna().all()
    assert 0 < found["acc_eq"] < 1  # the share of people's ties
    single = replace(scores, systems=("A",), values=scores.values[:, :1], human=scores.human[:1])
    found = values_of(single).loc["good"]
    assert found[["kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa"]].isna().all()
    assert found["pearson"] == pytest.approx(stats.pearsonr(scores.values[0, 0], scores.human[0]).statistic)
    nothing = replace(scores, values=np.full_like(scores.values, np.nan))
    assert statistics.agreement(nothing, resamples=20)["value"].isna().all()


def test_scores_of_whole_systems_stand_for_means():
    scores = some(gaps=False)
    own = np.array([[5.0, 4, 3, 2, 1], [np.nan] * 5])
    found, plain = values_of(scores, systems=own), values_of(scores)
    means = scores.human.mean(axis=1)
    assert found.loc["good", "system_pearson"] == pytest.approx(stats.pearsonr(own[0], means).statistic)
    assert found.loc["good", "system_kendall_b"] == pytest.approx(stats.kendalltau(own[0], means).statistic)
    assert found.loc["coarse"].to_numpy() == pytest.approx(plain.loc["coarse"].to_numpy())


def test_ties_are_those_of_the_scores_that_people_gave():
    scores = some(gaps=False)
    shifted = replace(scores, human=scores.human + np.random.default_rng(0).normal(0, 1e-6, scores.human.shape))
    found, plain = values_of(shifted, ties=scores.human)["acc_eq"], values_of(scores)["acc_eq"]
    assert found.to_numpy() == pytest.approx(plain.to_numpy())


# Bootstrap intervals: a weight of two is the same as the unit there twice, and the whole data are the statistic

KEY = ["level", "statistic", "grouping", "metric"]


def repeated(scores, weights, *, axis):
    """Write every segment, or system, as often as its weight says."""
    human, values = (np.repeat(each, weights.astype(int), axis=axis) for each in (scores.human, scores.values))
    systems, segments = (tuple(map(str, range(n))) for n in human.shape)
    segments = segments if axis == -1 else scores.segments
    return replace(scores, systems=systems, segments=segments, values=values, human=human)


@pytest.mark.parametrize("gaps", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(7,), (4, 30)])
def test_without_resampling_the_value_is_the_statistic(shape, gaps):
    there = metric_scores(3, shape, values=6, gaps=gaps)
    table = statistics.bootstrap(there, resamples=50, seed=5)
    both = table.merge(statistics.every_statistic(there, seed=5), on=KEY, suffixes=("", "_told"))
    assert len(both) == len(table) == 3 * {"system": 2, "segment": 4}[there.level]
    assert both["value"].to_numpy() == pytest.approx(both["value_told"].to_numpy(), abs=1e-12, nan_ok=True)
    defined = both.dropna(subset=["value"])
    assert (defined["low"] <= defined["high"]).all()
    assert (defined["low"] < defined["high"]).any()


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_segments_are_repetitions(seed, gaps):
    there = metric_scores(seed, (4, 9), values=6, gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(9, np.full(9, 1 / 9)).astype(float)
    again = repeated(there, weights, axis=-1)
    thresholds = statistics.acc_eq(there).set_index("metric")["threshold"]
    tables = [statistics.correlations(again), statistics.acc_eq(again, thresholds=thresholds)]
    told = {tuple(row[name] for name in KEY): row["value"] for table in tables for _, row in table.iterrows()}
    estimates = statistics._of_segments(there, 1)
    kendall = statistics._stacked([statistics._kendall(*each) for each in statistics._cells(there)])
    for (level, statistic, grouping), estimate in [*estimates.items(), (("segment", "kendall_b", "none"), kendall)]:
        if level == "segment":
            expected = [told[level, statistic, grouping, metric] for metric in there.metrics]
            assert estimate(weights[None])[:, 0] == pytest.approx(expected, abs=1e-9, nan_ok=True), statistic


@given(SEEDS, st.sampled_from([0.0, 0.2]))
@settings(max_examples=12)
def test_weights_of_systems_are_repetitions_that_are_not_compared_with_each_other(seed, gaps):
    there = metric_scores(seed, (6,), values=6, gaps=gaps)
    weights = np.random.default_rng(seed).multinomial(6, np.full(6, 1 / 6)).astype(float)
    again = repeated(there, weights, axis=-2)
    told = statistics.correlations(again).set_index(["statistic", "metric"])["value"]
    found = {name: estimate(weights[None])[:, 0] for (_, name, _), estimate in statistics._of_systems(there).items()}
    assert found["pearson"] == pytest.approx([told["pearson", name] for name in there.metrics], abs=1e-9, nan_ok=True)
    origin = np.repeat(np.arange(6), weights.astype(int))
    for m, metric in enumerate(there.metrics):
        same = []
        for i, j in itertools.combinations(range(len(origin)), 2):
            x, y = (side[i, 0] - side[j, 0] for side in (again.values[m], again.human))
            same += [np.sign(x) == np.sign(y)] if origin[i] != origin[j] and np.isfinite(x + y) else []
        expected = np.mean(same) if same else np.nan
        assert found["accuracy_3way"][m] == pytest.approx(expected, abs=1e-12, nan_ok=True), metric


def test_spa_of_weighted_systems_is_a_weighted_mean_over_pairs():
    there = metric_scores(2, (5, 12), values=6)
    weights = np.array([2.0, 0, 1, 1, 1])
    estimate = statistics._of_segments(there, 4)["system", "spa", "none"]
    for (metric, human), value in zip(
        statistics.metric_and_human_p(there, flips=1000, seed=4), estimate(weights[None])[:, 0]
    ):
        weight = [weights[i] * weights[j] for i, j in itertools.combinations(range(5), 2)]
        assert value == pytest.approx(1 - np.average(np.abs(metric - human), weights=weight), abs=1e-12)


# Is one metric better than another? Equal to trying every swap, to plain loops, and honest under the null.

ALMOST = 1e-9  # how close counts as equal in the loops below, which round differently


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
    drawn = inference.in_blocks(lambda *size: inference.random_masks(cells, *size), count, seed=seed, block=block)
    half = np.concatenate(list(drawn))
    return np.concatenate([half, ~half])


# Scores of systems: all swaps


@pytest.mark.parametrize(("name", "statistic"), [("pearson", r), ("accuracy_3way", accuracy)])
@given(SEEDS, st.integers(3, 7), st.sampled_from([0, 3, 9]))
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


@given(SEEDS, st.sampled_from([0, 3]), st.sampled_from(["pair", "item"]), st.booleans())
@settings(max_examples=24)
def test_acc_eq_is_the_share_of_all_swaps_of_pairs_or_of_segments(seed, values, unit, gaps):
    there = metric_scores(seed, (3, 4) if unit == "pair" else (4, 8), metrics=2, values=values)
    if unit == "pair":
        gain = np.subtract(*[np.concatenate(each) for each in right(there)])
    else:
        there.human[0, :3] = np.nan if gaps else there.human[0, :3]
        gain = np.subtract(*[[segment.mean() for segment in each] for each in right(there)])
    expected = (*share_of_swaps(gain / len(gain)), True)
    assert by_pair(there, statistic="acc_eq", unit=unit)["m0", "m1"] == pytest.approx(expected, abs=1e-12)


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
