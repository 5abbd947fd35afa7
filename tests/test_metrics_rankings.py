"""Metrics ranked by the shared tasks' lists, and a test set or a metric of one's own: against loops and other code."""

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
from evalkit.data import files, registry, testsets
from evalkit.metrics import rankings, significance, statistics
from evalkit.metrics.scores import averaged
from evalkit.metrics.statistics import by_unit, correlations, pair_differences
from evalkit.reports import cli, execute, findings
from evalkit.reports.studies import Layout, read_studies
from evalkit.stats.terms import join_names
from tests.doors.testsets import SYSTEMS, lines, write
from tests.makers import metric_scores, named_scores, read

# --- The shared tasks' lists, clusters and averages, statistics by name, and sentinels: against loops and oracles


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


# --- A test set and a metric of one's own: where it stands, by other code; what a page says; paths and titles


STUDY = "metric_meta_evaluation"


def scores_in(path):
    return pd.read_csv(path, sep="\t", names=["system", "score"], na_values="None")


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "wmt25", "wmt25", segments=30)


@pytest.fixture
def mine(tmp_path, folder):
    """Return scores of one's own that are the published ones of COMET with noise."""
    rng = np.random.default_rng(3)
    table = scores_in(folder / "metric-scores/en-sr_Cyrl_RS/COMET-refA.seg.score")
    rows = {name: (part["score"] + rng.normal(0, 1, len(part))).tolist() for name, part in table.groupby("system")}
    path = tmp_path / "mine.seg.score"
    path.write_text(lines(rows))
    return path


def test_ones_own_values_are_those_of_scipy(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    segments, systems = rankings.aligned(testset)
    values = statistics.every_statistic(segments[testset.pair], systems[testset.pair])
    values = values[values["metric"] == "mine (yours)"].set_index(["level", "statistic", "grouping"])["value"]
    own, people = scores_in(mine), scores_in(folder / "human-scores/en-sr_Cyrl_RS.esa-human1.seg.score")
    own["place"], people["place"] = (table.groupby("system").cumcount() for table in (own, people))
    both = own.merge(people, on=["system", "place"]).dropna()
    both = both[both["system"].isin(SYSTEMS)]
    expected = stats.pearsonr(both["score_x"], both["score_y"]).statistic
    assert values["segment", "pearson", "none"] == pytest.approx(expected, abs=1e-12)
    taus = [stats.kendalltau(part["score_x"], part["score_y"]).statistic for _, part in both.groupby("place")]
    assert values["segment", "kendall_b", "item"] == pytest.approx(np.nanmean(taus), abs=1e-12)
    whole = scores_in(folder / "human-scores/en-sr_Cyrl_RS.esa-human1.sys.score").set_index("system")["score"]
    means = own.groupby("system")["score"].mean()
    expected = stats.pearsonr(means[list(SYSTEMS)], whole[list(SYSTEMS)]).statistic
    assert values["system", "pearson", "none"] == pytest.approx(expected, abs=1e-12)


def test_what_may_be_claimed_is_what_the_tests_found(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    segments, systems = rankings.aligned(testset)
    both = segments[testset.pair], systems[testset.pair]
    values = statistics.every_statistic(*both)
    tests = rankings.every_test(segments, systems, draws=200)
    leaders = {
        name: rankings.rank_table(values, tests, statistic=name).assign(low=np.nan, high=np.nan)
        for name in ("system Pearson", "segment acc_eq")
    }
    found = rankings.standings(leaders, tests, testset.yours)
    acc = rankings.from_ratings(tests, "segment acc_eq")
    ahead = acc[(acc["metric_a"] == testset.yours) & (acc["p"] <= 0.05)]["metric_b"]
    behind = acc[(acc["metric_b"] == testset.yours) & (acc["p"] <= 0.05)]["metric_a"]
    row = found.set_index("statistic").loc["segment acc_eq"]
    assert len(ahead) + len(behind)
    assert (row["better"], row["worse"], row["alike"]) == (len(ahead), len(behind), 4 - len(ahead) - len(behind))
    assert (row["better_than"], row["worse_than"]) == tuple(join_names(names) or "none" for names in (ahead, behind))
    own = leaders["segment acc_eq"].set_index("metric").loc[testset.yours]
    assert (row["value"], row["cluster"], row["of"]) == (own["value"], own["rank"], 5)
    assert row["place"] == leaders["segment acc_eq"]["metric"].tolist().index(testset.yours) + 1
    assert all(name in rankings.claims(found, metric=testset.yours)[1] for name in (*ahead, *behind))
    assert f"of 5 by {rankings.WORDS['segment acc_eq']}" in rankings.headline(found, testset, [])
    assert testset.yours in rankings.title(testset)
    nothing = rankings.standings(leaders, tests, "flat")
    assert ["has no value" in claim for claim in rankings.claims(nothing, metric="flat")] == [True, True]
    assert "has no value" in rankings.headline(nothing, testset, [])


def test_what_was_left_out_and_what_lies_far_off_are_told(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    _, systems = rankings.aligned(testset)
    far = rankings.outliers(systems[testset.pair])
    told = rankings.basis(testset, ["Alpha"])
    assert all(name in told for name in (*testset.golds, *testset.apart["system"]))
    assert "leave_out=Alpha" in told
    assert set(far) <= set(systems[testset.pair].systems)
    assert "leave_out" not in rankings.basis(testset, [])


def test_an_upside_down_metric_or_gold_is_warned_of_and_nothing_turned(folder, mine, tmp_path):
    table = scores_in(mine)
    path = tmp_path / "ter.seg.score"
    path.write_text(lines({name: (-part["score"]).tolist() for name, part in table.groupby("system")}))

    def warned(**options):
        testset = testsets.open_testset(folder, metric=str(path), **options)
        segments, systems = rankings.aligned(testset)
        return testset, statistics.every_statistic(segments[testset.pair], systems[testset.pair])

    testset, values = warned()
    told = rankings.upside_down(testset, values)[0]
    assert told.startswith("ter (yours) falls where human scores rise")
    assert "Is a low score good" in rankings.headline(rankings.standings({}, values, "ter"), testset, [told])
    assert "-p lower_is_better=yours" in told
    testset, values = warned(lower_is_better=["yours"])
    assert not any(told.startswith("ter (yours)") for told in rankings.upside_down(testset, values))
    testset, values = warned(lower_is_better=["esa-human1", "yours"])
    assert any("run again with -p lower_is_better=esa-human1" in told for told in rankings.upside_down(testset, values))


def test_one_metric_alone_cannot_be_compared(folder):
    for path in sorted((folder / "metric-scores" / "en-sr_Cyrl_RS").glob("[CU]*")) + sorted(folder.rglob("Kiwi*")):
        path.unlink()
    with pytest.raises(DataError, match=r"Only chrF has scores of segments of eng-srp_Cyrl_RS\. .* add the scores"):
        rankings.aligned(testsets.open_testset(folder))


def test_metrics_without_scores_of_segments_or_of_some_systems_are_told(folder, mine):
    place = folder / "metric-scores" / "en-sr_Cyrl_RS"
    path = place / "chrF-refA.sys.score"
    path.write_text(path.read_text().replace("Alpha", "Alhpa"))
    testset = testsets.open_testset(folder)
    _, systems = rankings.aligned(testset)
    told = "At system level, chrF has no score of Alpha: compared on the others only."
    assert rankings.lacking(systems[testset.pair]) == [told]
    assert any("Alhpa" in note for note in testset.notes)
    for path in place.glob("*.seg.score"):
        path.unlink()
    with pytest.raises(DataError, match="metric-scores/ has no scores of segments of eng-srp_Cyrl_RS"):
        rankings.aligned(testsets.open_testset(folder))


# Paths, titles and pages


def test_a_folder_a_file_and_a_name_are_told_apart_on_the_command_line(folder, mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = read_studies(Layout())[STUDY]
    bound = execute.bound(study, {"data": "wmt25", "metric": "mine.seg.score"}, Layout().studies.parent)
    assert (bound.parameters["data"], bound.parameters["metric"]) == (str(folder), str(mine))
    assert bound.data == ()
    bound = execute.bound(study, {"metric": "MetricX-23-QE-b"}, Layout().studies.parent)
    assert (bound.parameters["metric"], bound.data) == ("MetricX-23-QE-b", study.data)
    for name, value, kind in (("data", "wmt26", "folder"), ("metric", "no.seg.score", "file")):
        with pytest.raises(DataError, match=rf"{name}={value} is no {kind} in .*Correct the path"):
            execute.bound(study, {name: value}, Layout().studies.parent)


@pytest.mark.slow
def test_the_page_of_ones_own_folder_and_metric_is_whole_and_about_them(folder, mine, tmp_path, capsys):
    values = {"data": folder, "metric": mine, "draws": 50, "resamples": 20}
    words = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    assert cli.main(["run", STUDY, *words, "--out", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    report = findings.read_report(tmp_path / "out" / f"{STUDY}.json")
    assert report["title"] == "mine (yours) on wmt25 eng-srp_Cyrl_RS: how well does it agree with people?"
    assert "mine (yours) comes" in report["headline"]
    assert {one["name"] for one in report["data"]} >= {"wmt25/metric-scores", "wmt25/human-scores", "mine.seg.score"}
    assert not report["published"]
    assert not {"darr", "kept", "sweep"} & report["recorded"].keys()
    assert {row["statistic"] for row in report["recorded"]["standing"]} == {"system Pearson", "segment acc_eq"}
    html = (tmp_path / "out" / f"{STUDY}.html").read_text()
    assert "How ties are counted" not in html
    assert "esa-human1 was chosen among the human scores (esa-human1, esa-human2)" in html


@pytest.mark.nightly
def test_a_folder_of_wmt23_gives_the_numbers_of_the_standard_run(real, tmp_path):
    for name in ("metrics", "human", "metrics-systems", "human-systems", "outputs"):
        real(f"wmt23-{name}")
        for file in registry.entry(f"wmt23-{name}").files:
            place = tmp_path / "a set" / file.url.partition("/wmt23/")[2]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.symlink_to(files.obtain(file))
    words = ["-p", f"data={tmp_path / 'a set'}", "-p", "pair=eng-deu", "--out", str(tmp_path / "out")]
    assert cli.main(["run", STUDY, *words]) == 0
    found = findings.read_report(tmp_path / "out" / f"{STUDY}.json")["recorded"]
    standard = findings.read_report(Layout().reference / f"{STUDY}.json")["recorded"]
    for name in ("ranks", "disagreement", "movers", "chance"):
        assert found[name] == standard[name], name
    for name in ("intervals", "clusters", "coverage"):
        of_pair = [row for row in standard[name] if row.get("pair", "eng-deu") == "eng-deu"]
        ours = [{**row, "data": None} for row in found[name]]
        assert ours == [{**row, "data": None} for row in of_pair], name
