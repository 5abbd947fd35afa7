"""The shared tasks' lists, clusters and averages, statistics by name, and sentinels: against loops and oracles."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, data
from evalkit.metrics import rankings, significance, statistics
from evalkit.metrics.scores import averaged
from evalkit.metrics.statistics import by_unit, correlations, pair_differences
from tests.makers import metric_scores, named_scores, read

ALMOST = 1e-9
USUAL = rankings.printed(data.published("metric_tests"))


def cells(seed, shape, *, metrics=3, worst=2.0, **options):
    """Draw metrics of which each resembles people less than the one before, in documents of three segments."""
    noise = np.linspace(0.5, worst, metrics)
    return metric_scores(seed, shape, metrics=metrics, noise=noise, length=3, **options)


# --- statistics by name ---


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
@settings(max_examples=20)
def test_pair_differences_are_pearsons_r_of_all_differences_both_ways_round(seed, gaps):
    there = cells(seed, (4, 9), gaps=gaps)
    found = pair_differences(there).set_index("metric")
    for name, values in zip(there.metrics, there.values):
        pairs = itertools.permutations(range(4), 2)
        x, y = np.hstack([[side[i] - side[j] for side in (values, there.human)] for i, j in pairs])
        both = np.isfinite(x + y)
        assert found.loc[name, "value"] == pytest.approx(stats.pearsonr(x[both], y[both])[0], abs=1e-12)
        assert found.loc[name, "n"] == both.sum() / 2


def test_pair_differences_do_not_see_which_segments_are_hard():
    there = cells(3, (4, 9))
    plain = pair_differences(there)["value"].to_numpy()
    harder = replace(there, values=there.values + 100 * np.arange(9))
    assert pair_differences(harder)["value"].to_numpy() == pytest.approx(plain)
    one = correlations(harder, statistics=["pearson"], groupings=["none"])["value"]
    assert (one < 0.5).all(), "over all segments they do"
    assert pair_differences(replace(there, values=-there.values))["value"].to_numpy() == pytest.approx(-plain)
    assert np.isnan(pair_differences(named_scores(np.zeros((1, 4, 9)), there.human))["value"]).all()


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_by_document_is_pandas_means_correlated_by_scipy(grouping):
    there = cells(5, (4, 9))
    documents = [name.partition(":")[0] for name in there.segments]
    found = by_unit(there, documents, level="document")
    found = found[(found["grouping"] == grouping) & (found["level"] == "document")].set_index("metric")["value"]
    gold = pd.DataFrame(there.human.T).groupby(documents).mean()  # documents × systems
    for name, values in zip(there.metrics, there.values):
        metric = pd.DataFrame(values.T).groupby(documents).mean()
        sides = {
            "none": [(metric.stack(), gold.stack())],
            "item": [(metric.loc[d], gold.loc[d]) for d in metric.index],
            "system": [(metric[s], gold[s]) for s in metric],
        }[grouping]
        assert found[name] == pytest.approx(np.mean([stats.pearsonr(*side)[0] for side in sides]), abs=1e-7)


def test_a_unit_in_which_a_judged_cell_lacks_its_score_has_none_and_unjudged_cells_do_not_count():
    human = np.array([[1.0, 3, np.nan], [0, 2, 4]])
    values = np.array([[[5.0, 7, 99], [np.nan, 1, 1]]])
    whole = averaged(named_scores(values, human), ["d", "d", ""])
    assert whole.segments == ("d",)
    assert whole.human.tolist() == [[2.0], [1.0]]
    assert whole.values[0, 0].tolist() == [6.0]
    assert np.isnan(whole.values[0, 1]).all()


@given(st.integers(0, 10**6), st.sampled_from([0, 8]))
@settings(max_examples=12)
def test_accuracy_over_two_test_sets_is_the_share_of_all_pairs_and_p_that_of_all_swaps(seed, values):
    sets = [cells(seed, (3,), values=values), cells(seed + 1, (4,), values=values)]
    found, tests = significance.pooled_accuracy(sets)
    values = np.concatenate([each.values[:, :, 0] for each in sets], axis=1)
    human = np.concatenate([each.human[:, 0] for each in sets])
    pairs = [*itertools.combinations(range(3), 2), *itertools.combinations(range(3, 7), 2)]

    def accuracy(x):
        return np.mean([np.sign(np.round(x[i] - x[j], 12)) == np.sign(human[i] - human[j]) for i, j in pairs])

    assert found["value"].tolist() == pytest.approx([accuracy(values[number]) for number in range(3)], abs=1e-12)
    assert tests["exact"].all()
    for row in tests.itertuples():
        a, b = (stats.zscore(values[int(name[1:])]) for name in (row.metric_a, row.metric_b))
        masks = itertools.product([False, True], repeat=7)
        swapped = [accuracy(np.where(mask, b, a)) - accuracy(np.where(mask, a, b)) for mask in masks]
        assert row.difference == pytest.approx(accuracy(a) - accuracy(b), abs=1e-12)
        assert row.p == pytest.approx(np.mean(np.array(swapped) >= row.difference - ALMOST), abs=1e-12)


# --- a test of SPA that ends early ---


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_clusters_are_the_same_where_only_deciding_comparisons_go_on(seed):
    there = cells(seed, (5, 60), metrics=8, worst=9)
    values = statistics.spa(there, flips=100)
    options = {"statistic": "spa", "draws": 120, "flips": 100, "look": 20}
    every, needed = (significance.perm_both(there, **options, clusters=clusters) for clusters in (False, True))
    one, other = (rankings.rank_table(values, tests) for tests in (every, needed))
    assert one["rank"].max() > 1
    assert one["rank"].tolist() == other["rank"].tolist()


@given(st.integers(0, 10**6), st.integers(2, 8))
@settings(max_examples=40)
def test_what_does_not_decide_clusters_may_be_anything(seed, metrics):
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 5, metrics) / 4
    pairs = np.column_stack(np.triu_indices(metrics, 1))
    p = rng.random(len(pairs)) ** 3
    sure = (p < 0.02) & (value[pairs[:, 0]] != value[pairs[:, 1]])
    p = np.where(sure, p, np.maximum(p, 0.03))
    free = ~significance.deciding(value, pairs, sure) & ~sure

    def clusters(p):
        names = np.array([f"m{n}" for n in range(metrics)])
        tests = pd.DataFrame({"metric_a": names[pairs[:, 0]], "metric_b": names[pairs[:, 1]], "p": p})
        return rankings.rank_table(pd.DataFrame({"metric": names, "value": value}), tests)["rank"].tolist()

    assert clusters(p) == clusters(np.where(free, 1 - p, p))


# --- lists of tasks ---


def test_the_lists_are_as_long_as_the_shared_tasks_say_and_their_weights_add_up():
    listed = data.published("metric_tasks")
    sizes = {"WMT22": 201, "WMT23": 10, "WMT24 on WMT23": 6, "WMT24": 6, "WMT25": 32}
    assert listed.groupby("year").size().to_dict() == sizes
    for year, part in listed.groupby("year"):
        assert sum(Fraction(weight) for weight in part["weight"]) == 1, year
        assert part["task"].tolist() == [str(n + 1) for n in range(len(part))]
    known = {key[:2] for key in statistics.WORDS}
    assert set(zip(listed["level"], listed["statistic"])) <= known
    entries = data.published("metric_entries")
    assert not entries.duplicated(["data", "metric"]).any()
    assert set(entries["role"]) == {"primary", "baseline"}


def small():
    """Two language pairs of a test set, and a list of tasks about it."""
    pairs = {"eng-deu": 1, "zho-eng": 2}
    segments = {pair: cells(seed, (5, 30), metrics=4, pair=pair, gold="mqm") for pair, seed in pairs.items()}
    systems = {pair: cells(seed, (6,), metrics=4, pair=pair, gold="mqm") for pair, seed in pairs.items()}
    listed = read("""
        task level pairs statistic grouping domain human weight
        1 system eng-deu,zho-eng,heb-eng accuracy none - yes 1/2
        2 system eng-deu pearson none - no 1/8
        3 system zho-eng spa none - no 1/8
        4 segment zho-eng acc_eq item - no 1/16
        5 segment zho-eng kendall_b item - no 1/16
        6 segment zho-eng pearson none news no 1/16
        7 segment eng-deu pearson none - yes 1/16""").fillna("")
    listed = listed.astype({"task": "str"}).assign(pairs=listed["pairs"].str.replace(",", " "))
    return listed.assign(year="WMT99", data="wmt99", gold="mqm"), systems, segments


def test_tasks_are_computed_where_their_scores_are_here_and_others_say_why_not():
    listed, systems, segments = small()
    there = rankings.here(listed, systems, segments, data="wmt99")
    assert there["found"].tolist() == ["eng-deu zho-eng", "eng-deu", "zho-eng", "zho-eng", "zho-eng", "", ""]
    assert there["name"][0] == "WMT99, 1: accuracy of systems, eng-deu + zho-eng (of 3 pairs)"
    assert "domains" in there["why"][5]
    assert "human translations" in there["why"][6]
    other = rankings.here(listed.assign(gold="esa"), systems, segments, data="wmt99")
    assert (set(other["found"]), other["why"][1]) == ({""}, "no esa scores of eng-deu here")
    alone = rankings.here(listed, {}, segments, data="wmt99")
    assert alone["found"].tolist() == ["", "", "zho-eng", "zho-eng", "zho-eng", "", ""], "SPA is made of segments"
    gone = rankings.absent(pd.concat([listed, listed.assign(year="WMT98", data="wmt98")]), there)
    assert gone[["list", "tasks", "here"]].to_numpy().tolist() == [["WMT99", 7, 5], ["WMT98", 7, 0]]
    assert "wmt98" in gone["why"][1]


def test_ranks_are_those_of_the_statistics_and_tests_they_name():
    listed, systems, segments = small()
    there = rankings.here(listed, systems, segments, data="wmt99")
    test = USUAL | {"draws": 40, "look": 20, "flips": 60}
    found = rankings.ranks(there, systems, segments, entries=["m0", "m1", "m3", "not here"], test=test)
    assert list(found) == ["task", "metric", "score", "cluster"]
    assert set(found["metric"]) == {"m0", "m1", "m3"}
    by_task = {name: part.reset_index(drop=True) for name, part in found.groupby("task", sort=False)}
    names = there.set_index("task")["name"]
    three = systems["eng-deu"].only(["m0", "m1", "m3"])
    tested = significance.perm_both(three, statistic="pearson")
    expected = rankings.rank_table(correlations(three, statistics=["pearson"]), tested)
    pearson = by_task[names["2"]][["metric", "score", "cluster"]].to_numpy().tolist()
    assert pearson == expected[["metric", "value", "rank"]].to_numpy().tolist()
    own = statistics.spa(segments["zho-eng"].only(["m0", "m1", "m3"]), flips=60)["value"]
    assert by_task[names["3"]]["score"].tolist() == sorted(own, reverse=True)
    assert by_task[names["5"]]["cluster"].isna().all(), "Kendall's tau is not tested here"
    everyone = rankings.ranks(there, systems, segments, entries=["nobody"], test=test)
    assert set(everyone["metric"]) == {"m0", "m1", "m2", "m3"}
    nothing = rankings.ranks(there.assign(found=""), systems, segments, test=USUAL)
    assert nothing.empty
    with pytest.raises(DataError, match="'tau' is not known here"):
        rankings.ranks(there[1:].assign(statistic="tau"), systems, segments, test=USUAL)


def test_averages_weigh_tasks_and_bring_correlations_from_0_to_1():
    listed, systems, segments = small()
    there = rankings.here(listed, systems, segments, data="wmt99").iloc[:3]
    ranked = read("""
        task metric score cluster
        0 a .5 1
        0 b .4 2
        1 a -.2 2
        1 b .6 1
        1 c .9 1
        2 b .7 1
        2 a .6 1""")
    ranked["task"] = ranked["task"].map(there["name"])
    found = rankings.averages(ranked, there).set_index("metric")
    weights = np.array([1 / 2 * 2 / 3, 1 / 8, 1 / 8])  # the first task is here for two of three language pairs
    weights = weights / weights.sum()
    assert found.index.tolist() == ["b", "a"], "c is not in all tasks; b's mean is the higher one"
    assert found.loc["a", "score"] == pytest.approx(weights @ [0.5, 0.4, 0.6])
    assert found.loc["b", "cluster"] == pytest.approx(weights @ [2, 1, 1])
    assert found["first"].to_dict() == {"a": 2, "b": 2}


def test_a_test_set_without_a_list_is_asked_what_a_list_asks_of_each_pair():
    listed = data.published("metric_tasks")
    made = rankings.like(listed, "WMT24", data="mine", pair="eng-mas", gold="esa")
    found = made[["year", "statistic", "pairs", "gold", "weight"]].to_numpy().tolist()
    assert found == [["as WMT24", name, "eng-mas", "esa", "1/2"] for name in ("spa", "acc_eq")]
    assert USUAL == {"draws": 1000, "look": 100, "settled": (0.02, 0.5), "seed": 7}
