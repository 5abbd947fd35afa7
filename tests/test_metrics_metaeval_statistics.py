"""Metrics against humans: matched by name, correlated as scipy and mt-metrics-eval do, ties calibrated exactly."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import ROOT, DataError
from evalkit.data.provenance import like
from evalkit.metrics.metaeval import chance, correlations, rankings, scores, spa, ties
from evalkit.metrics.metaeval.scores import Scores, align, coverage

ORACLE = ROOT / "tests" / "oracles" / "mt_metrics_eval_wmt23_en-de.csv"
OURS = {
    "sys_pearson": ("system", "pearson", "none"),
    "sys_spearman": ("system", "spearman", "none"),
    "sys_kendall_b": ("system", "kendall_b", "none"),
    "seg_pearson_none": ("segment", "pearson", "none"),
    "seg_pearson_item": ("segment", "pearson", "item"),
    "seg_pearson_sys": ("segment", "pearson", "system"),
    "seg_kendall_b_none": ("segment", "kendall_b", "none"),
    "seg_kendall_b_item": ("segment", "kendall_b", "item"),
    "seg_kendall_b_sys": ("segment", "kendall_b", "system"),
}


def made(values, human):
    """Name the rows and columns of arrays."""
    values, human = np.asarray(values, float), np.asarray(human, float)
    metrics, systems, segments = (tuple(f"{kind}{i}" for i in range(n)) for kind, n in zip("msd", values.shape))
    return Scores(metrics, systems, segments, values, human, pair="eng-deu")


def drawn(seed, *, metrics=3, systems=4, segments=6, values=0, gaps=0.0):
    """Draw metrics that resemble the humans' scores; of so many distinct values (0: all distinct), some missing."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments)) + rng.normal(size=(systems, 1))
    found = human + rng.normal(size=(metrics, systems, segments))
    if values:
        human, found = np.round(human * values / 4), np.round(found * values / 4) / 8
    found[rng.random(found.shape) < gaps] = np.nan
    human[rng.random(human.shape) < gaps] = np.nan
    return made(found, human)


def rows(cells, metric, **columns):
    """Turn systems × segments into a table of scores, without the missing ones."""
    frame = pd.DataFrame(
        [
            {
                "src_lang": "eng",
                "tgt_lang": "deu",
                "system": f"s{i}",
                "doc": f"doc{j % 2}",
                "segment": str(j // 2),
                "metric": metric,
                "score": value,
                **columns,
            }
            for (i, j), value in np.ndenumerate(cells)
            if np.isfinite(value)
        ]
    )
    source = {"name": "drawn", "source": "simulated", "origin": "a test", "digest": "none"}
    return like(frame, frame, source=source)


@pytest.fixture(scope="module")
def wmt23(real):
    """Align a pair of WMT23 with MQM at both levels, without references, as mt-metrics-eval does."""

    def load(src, tgt):
        tables = []
        for name in ("wmt23-metrics", "wmt23-human", "wmt23-metrics-systems", "wmt23-human-systems"):
            table = real(name)
            table = table[(table["src_lang"] == src) & (table["tgt_lang"] == tgt)]
            tables.append(table[table["metric"] == "mqm"] if "human" in name else table)
        without = ("refA", "synthetic_ref")
        return align(*tables[:2], without=without), align(*tables[2:], without=without)

    return load


# --- matching by names ---


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 0.6]), st.booleans())
@settings(max_examples=25)
def test_scores_find_their_cell_whatever_is_missing_and_in_whatever_order(seed, gaps, categories):
    there = drawn(seed, gaps=gaps)
    tables = [rows(cells, name) for cells, name in zip(there.values, there.metrics)]
    metric, human = pd.concat(tables), rows(there.human, "DA")
    metric, human = (table.sample(frac=1, random_state=seed % 1000) for table in (metric, human))
    if np.isfinite(there.values + there.human).sum() == 0:
        return
    expected = {
        kind: {(r.metric, r.system, f"{r.doc}:{r.segment}"): r.score for r in table.itertuples()}
        for kind, table in (("metric", metric), ("human", human))
    }
    if categories:
        names = ["src_lang", "tgt_lang", "system", "doc", "segment", "metric"]
        metric, human = metric.astype(dict.fromkeys(names, "category")), human.astype(dict.fromkeys(names, "category"))
    found = align(metric, human)
    assert found.level == "segment"
    assert found.pair == "eng-deu"
    for i, system in enumerate(found.systems):
        for j, segment in enumerate(found.segments):
            assert found.human[i, j] == pytest.approx(
                expected["human"].get(("DA", system, segment), np.nan), nan_ok=True
            )
            for m, name in enumerate(found.metrics):
                score = expected["metric"].get((name, system, segment), np.nan)
                assert found.values[m, i, j] == pytest.approx(score, nan_ok=True)
    counted = coverage(found).set_index("metric")
    for name, cells in zip(found.metrics, found.values):
        assert counted.loc[name, "scored"] == (np.isfinite(cells) & np.isfinite(found.human)).sum()
        assert counted.loc[name, ["scored", "missing"]].sum() == len(human[human["system"].isin(found.systems)])


def test_scores_of_whole_systems_have_one_column():
    table = rows(np.array([[3.0], [2]]), "m").drop(columns=["doc", "segment"])
    found = align(table, table.assign(metric="mqm"))
    assert (found.level, found.segments, found.values.shape) == ("system", ("",), (1, 2, 1))


def test_what_does_not_match_is_refused_in_a_sentence():
    metric, human = rows(np.ones((2, 4)), "m"), rows(np.ones((2, 4)), "mqm")
    with pytest.raises(DataError, match="several language pairs: eng-deu, eng-jpn"):
        align(metric, human.assign(tgt_lang="jpn"))
    with pytest.raises(DataError, match="several human scores, mqm and DA"):
        align(metric, pd.concat([human, human.assign(metric="DA")]))
    with pytest.raises(DataError, match="m scored s1 doc1:1 more than once"):
        align(pd.concat([metric, metric.tail(1)]), human)
    with pytest.raises(DataError, match="no translation in common"):
        align(metric, human.assign(doc=human["doc"] + "x"))
    with pytest.raises(DataError, match="no translation in common"):
        align(metric, human, without=["s0", "s1"])
    assert align(metric, human, without=["s0"]).systems == ("s1",)
    with pytest.raises(DataError, match="no metric 'x' here"):
        align(metric, human).only(["x"])


# --- correlations ---


def scipys(x, y):
    """Compute one sample's statistics by scipy and by comparing every two members."""
    pairs = [np.sign([x[i] - x[j], y[i] - y[j]]) for i, j in itertools.combinations(range(len(x)), 2)]
    same = [a == b for a, b in pairs]
    untied = [a == b for a, b in pairs if b]
    found = {"accuracy_2way": np.mean(untied) if untied else np.nan, "accuracy_3way": np.mean(same)}
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        found |= {"pearson": stats.pearsonr(x, y)[0], "spearman": stats.spearmanr(x, y)[0]}
        found |= {f"kendall_{v}": stats.kendalltau(x, y, variant=v)[0] for v in "bc"}
    return found


@given(
    st.integers(0, 10**6),
    st.integers(2, 8),
    st.sampled_from([3, 9, 60]),
    st.sampled_from([0, 3, 9]),
    st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=12)
def test_every_statistic_equals_scipys_averaged_over_groups(seed, systems, segments, values, gaps):
    there = drawn(seed, metrics=2, systems=systems, segments=segments, values=values, gaps=gaps)
    table = correlations.correlations(there).set_index(["statistic", "grouping", "metric"])
    for grouping in correlations.GROUPINGS:
        human = correlations.grouped(there.human, grouping)
        for name, cells in zip(there.metrics, there.values):
            samples = []
            for x, y in zip(correlations.grouped(cells, grouping), human):
                both = np.isfinite(x) & np.isfinite(y)
                samples += [scipys(x[both], y[both])] if both.sum() > 1 else []
            for statistic in correlations.STATISTICS:
                each = [s[statistic] for s in samples if np.isfinite(s.get(statistic, np.nan))]
                row = table.loc[(statistic, grouping, name)]
                assert row["groups"] == len(each), (statistic, grouping)
                expected = np.mean(each) if each else np.nan
                assert row["value"] == pytest.approx(expected, abs=1e-12, nan_ok=True), (statistic, grouping)


def test_real_correlations_equal_mt_metrics_evals(wmt23):
    segment, system = wmt23("eng", "deu")
    tables = [correlations.correlations(each) for each in (system, segment)]
    found = pd.concat(tables).set_index(["level", "statistic", "grouping", "metric"])["value"].sort_index()
    oracle = pd.read_csv(ORACLE)
    oracle["metric"] = oracle["metric"].str.replace("-(refA|src)$", "", regex=True)
    assert set(oracle["metric"]) == set(system.metrics)
    for quantity, key in OURS.items():
        printed = oracle.set_index("metric")[quantity].dropna()
        assert len(printed) == len((system if key[0] == "system" else segment).metrics)
        assert np.abs(found.loc[key][printed.index] - printed).max() < 1e-12, quantity


@given(st.integers(0, 10**6), st.sampled_from([0, 4]))
@settings(max_examples=15)
def test_negating_a_metric_and_reordering_cells(seed, values):
    there = drawn(seed, metrics=1, values=values)
    order = np.random.default_rng(seed).permutation(there.human.shape[1])
    turned = made(-there.values[:, :, order], there.human[:, order])
    before, after = (
        correlations.correlations(s).set_index(["statistic", "grouping"])["value"] for s in (there, turned)
    )
    for name in ("pearson", "spearman", "kendall_b", "kendall_c"):
        assert after[name].to_numpy() == pytest.approx(-before[name].to_numpy(), abs=1e-12, nan_ok=True)
    x, y = there.values[0].ravel(), there.human.ravel()
    tied = np.mean([x[i] == x[j] for i, j in itertools.combinations(range(len(x)), 2) if y[i] != y[j]])
    both = before["accuracy_2way", "none"] + after["accuracy_2way", "none"]
    assert both == pytest.approx(1 - tied, abs=1e-12)


def test_unknown_statistics_are_named():
    with pytest.raises(DataError, match=r"'tau' is not known here\. Choose among pearson"):
        correlations.correlations(drawn(1), statistics=["tau"])
    with pytest.raises(DataError, match="Choose among none, item, system"):
        correlations.correlations(drawn(1), groupings=["document"])


# --- ties ---


def best_by_trying(metric, human):
    """Try every difference as a threshold, and 0."""
    segments = []
    for x, y in zip(metric.T, human.T):
        both = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        pairs = [(x[i] - x[j], y[i] - y[j]) for i, j in itertools.combinations(both, 2)]
        segments += [np.array(pairs)] if pairs else []
    tries = sorted({0.0} | {abs(d) for pairs in segments for d in pairs[:, 0]})
    accuracy = [
        np.mean([(np.sign(np.where(abs(p[:, 0]) <= t, 0, p[:, 0])) == np.sign(p[:, 1])).mean() for p in segments])
        for t in tries
    ]
    best = next(i for i, a in enumerate(accuracy) if a > max(accuracy) - 1e-12)
    return accuracy[best], tries[best]


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0, 3, 8]), st.sampled_from([0.0, 0.35]))
@settings(max_examples=40)
def test_calibration_finds_the_best_of_all_thresholds(seed, systems, values, gaps):
    there = drawn(seed, metrics=2, systems=systems, values=values, gaps=gaps)
    table = ties.acc_eq(there)
    for row, cells in zip(table.itertuples(), there.values):
        if not row.groups:
            assert np.isnan(row.value)
            continue
        value, threshold = best_by_trying(cells, there.human)
        assert row.value == pytest.approx(value, abs=1e-12)
        assert row.threshold == threshold
    if table["groups"].min():
        again = ties.acc_eq(there, thresholds=dict(zip(table["metric"], table["threshold"])))
        assert again["value"].to_numpy() == pytest.approx(table["value"].to_numpy(), abs=1e-12)


@pytest.mark.parametrize("seed", [49, 101, 117, 286])  # sums of weights make the larger threshold look better here
def test_of_equally_good_thresholds_the_smallest_is_chosen_however_sums_round(seed):
    there = drawn(seed, metrics=1, segments=30, values=8, gaps=0.3)
    value, threshold = best_by_trying(there.values[0], there.human)
    found = ties.acc_eq(there)
    assert found["threshold"].item() == threshold
    assert found["value"].item() == pytest.approx(value, abs=1e-12)


def test_real_acc_eq_equals_mt_metrics_evals(wmt23):
    segment, _ = wmt23("eng", "deu")
    found = ties.acc_eq(segment).set_index("metric")
    oracle = pd.read_csv(ORACLE).dropna(subset="seg_acc_eq_item")
    oracle = oracle.assign(metric=oracle["metric"].str.replace("-(refA|src)$", "", regex=True)).set_index("metric")
    assert len(oracle) == len(found) == 43
    assert np.abs(found["value"] - oracle["seg_acc_eq_item"]).max() < 1e-12
    # where several thresholds are equally good, theirs is one or another, by the rounding of a running sum
    later = oracle["seg_acc_eq_epsilon"] - found["threshold"].reindex(oracle.index)
    assert later.min() > -1e-9
    assert (later.abs() < 1e-9).sum() == 40
    theirs = later[later > 1e-9].index
    given_theirs = ties.acc_eq(segment.only(list(theirs)), thresholds=oracle["seg_acc_eq_epsilon"] + 1e-11)
    assert given_theirs["value"].to_numpy() == pytest.approx(found.loc[theirs, "value"].to_numpy(), abs=1e-12)


def test_thresholds_are_for_segments_and_named_metrics():
    with pytest.raises(DataError, match="no threshold for the metric m1"):
        ties.acc_eq(drawn(1), thresholds={"m0": 0.1})
    whole = Scores(("m",), ("A", "B"), ("",), np.ones((1, 2, 1)), np.ones((2, 1)))
    with pytest.raises(DataError, match="not of whole systems"):
        ties.acc_eq(whole)
    with pytest.raises(DataError, match="not of whole systems"):
        spa.spa(whole)


# --- soft pairwise accuracy ---


@pytest.mark.parametrize("values", [0, 3])
def test_confidences_are_those_of_scipys_paired_permutation_test(values):
    there = drawn(5, metrics=1, systems=3, segments=9, values=values)
    flips = 20_000
    mask = spa.flipped(9, flips=flips, seed=1)
    found = spa.confidences((there.human @ mask)[:, None])[0]
    for p, (i, j) in zip(found, itertools.combinations(range(3), 2)):
        exact = stats.permutation_test(
            (there.human[i], there.human[j]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            vectorized=True,
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        ).pvalue
        assert abs(p - exact) < 5 * np.sqrt(exact * (1 - exact) / flips) + 1e-9


@given(st.integers(0, 10**6), st.sampled_from([0, 3]), st.sampled_from([0.0, 0.04]), st.sampled_from([30, 2300]))
@settings(max_examples=20)
def test_spa_is_one_less_the_mean_distance_of_p_values(seed, values, gaps, flips):
    there = drawn(seed, metrics=2, systems=4, segments=8, values=values, gaps=gaps)
    for row, cells in zip(spa.spa(there, flips=flips, seed=3).itertuples(), there.values):
        columns = np.isfinite(cells + there.human).all(axis=0)
        assert row.n == columns.sum()
        if not row.n:
            assert np.isnan(row.value)
            continue
        signs = np.where(spa.flipped(row.n, flips=flips, seed=3).T, -1, 1)
        distances = []
        for i, j in itertools.combinations(range(4), 2):
            p = [
                np.mean(signs @ (side[i] - side[j]) >= (side[i] - side[j]).sum() - 1e-9)
                for side in (cells[:, columns], there.human[:, columns])
            ]
            distances.append(abs(p[0] - p[1]))
        assert row.value == pytest.approx(1 - np.mean(distances), abs=1e-12)


def test_a_metric_that_is_the_humans_has_an_spa_of_1():
    there = drawn(3)
    assert spa.spa(made(there.human[None] * 3 + 1, there.human))["value"].tolist() == [1.0]


def test_one_system_alone_leaves_nothing_to_order():
    alone = drawn(3, systems=1)
    table = chance.every_statistic(alone)
    by_system = table["grouping"].eq("system") | table["grouping"].eq("none") & table["statistic"].ne("spa")
    assert table.loc[by_system, "value"].notna().all()
    assert table.loc[~by_system, "value"].isna().all()


# --- ranks ---


def test_a_cluster_ends_where_one_of_its_metrics_is_significantly_better():
    values = pd.DataFrame({"metric": list("dcba"), "value": [0.1, 0.3, 0.8, 0.8]})
    p = {"ab": 0.5, "ac": 0.04, "ad": 0.01, "bc": 0.2, "bd": 0.05, "cd": 0.3}
    tests = pd.DataFrame([{"metric_a": a, "metric_b": b, "p": each} for (a, b), each in p.items()])
    table = rankings.rank_table(values, tests)
    assert table.to_numpy().tolist() == [["a", 0.8, 1, 2], ["b", 0.8, 1, 1], ["c", 0.3, 2, 0], ["d", 0.1, 2, 0]]
    matrix = rankings.p_matrix(values, tests)
    assert matrix.loc["b", "d"] == 0.05
    assert np.isnan(matrix.to_numpy()[np.tril_indices(4)]).all()
    assert rankings.rank_table(values, tests.assign(p=tests["p"] / 10))["rank"].tolist() == [1, 2, 3, 4]


def test_ranks_need_one_statistic_and_all_tests():
    values = pd.DataFrame({"metric": ["a", "b", "a"], "value": [1.0, 2, 3]})
    tests = pd.DataFrame({"metric_a": ["a"], "metric_b": ["c"], "p": [0.1]})
    with pytest.raises(DataError, match="The metric a has several values"):
        rankings.rank_table(values, tests)
    with pytest.raises(DataError, match="Not every two of the metrics were compared"):
        rankings.rank_table(values.head(2), tests)


# --- chance ---


def test_a_metric_that_knows_nothing():
    there = drawn(2, metrics=1, systems=6, segments=400, values=3)
    length = rows(np.arange(2400.0).reshape(6, 400) % 7, "length")
    table = chance.chance(there, length=align(length, rows(there.human, "mqm")))
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
    assert row["low"] > max(tied, (1 - tied) / 2) - 0.03
    assert row["value"] < max(tied, (1 - tied) / 2) + 0.03
    assert set(table["metric"]) == {"constant", "random", "length"}
    assert set(table["statistic"]) == {*correlations.STATISTICS, "acc_eq", "spa"}


def test_length_counts_characters():
    outputs = pd.DataFrame({"system": ["A", "B"], "segment": ["1", "1"], "hypothesis": ["Grüße", None]})
    assert chance.lengths(outputs)["score"].tolist() == [5.0, 0.0]


def test_patterns_and_pairings_cover_every_metric_and_every_two_once():
    there = drawn(4, metrics=5, gaps=0.1)
    there.values[[1, 3]] = 1.0
    groups = scores.patterns(there)
    assert sorted(np.concatenate([members for _, members in groups])) == [0, 1, 2, 3, 4]
    seen = []
    for cells, members, pairs in scores.pairings(there):
        for a, b in members[pairs]:
            assert (cells == np.isfinite(there.values[a] + there.values[b] + there.human)).all()
            seen.append(tuple(sorted((int(a), int(b)))))
    assert sorted(seen) == list(itertools.combinations(range(5), 2))
