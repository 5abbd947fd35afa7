"""Metrics ranked by the shared tasks' lists, Kendall's tau and its variants: examples, brute force, laws, official results."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, data
from evalkit.data import testsets
from evalkit.metrics import darr, rankings, significance, statistics
from evalkit.metrics.darr import VARIANTS, Matrix
from evalkit.metrics.scores import align, averaged, coverage, each_pair
from evalkit.metrics.statistics import pair_differences
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
def test_pair_differences_are_pearsons_r_of_all_differences_both_ways_round(seed, gaps):
    there = cells(seed, (4, 9), gaps=gaps)
    found = pair_differences(there).set_index("metric")
    for name, values in zip(there.metrics, there.values):
        pairs = itertools.permutations(range(4), 2)
        x, y = np.hstack([[side[i] - side[j] for side in (values, there.human)] for i, j in pairs])
        both = np.isfinite(x + y)
        assert found.loc[name, "value"] == pytest.approx(stats.pearsonr(x[both], y[both])[0], abs=1e-12)
        assert found.loc[name, "n"] == both.sum() / 2


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
    ranked = rankings.ranks(there, systems, segments, test=USUAL | {"draws": 40})
    assert ranked.groupby("task")["cluster"].count()[there["name"][4]] == 0, "Kendall's tau is not tested here"
    with pytest.raises(DataError, match="'tau' is not known here"):
        rankings.ranks(there[1:].assign(statistic="tau"), systems, segments, test=USUAL)


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
    leaders = {n: rankings.rank_table(values, tests, statistic=n) for n in ("system Pearson", "segment acc_eq")}
    leaders = {name: table.assign(low=np.nan, high=np.nan) for name, table in leaders.items()}
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
    assert f"of 5 by {rankings.WORDS['segment acc_eq']}" in rankings.headline(found, testset, [])
    assert "has no value" in rankings.headline(rankings.standings(leaders, tests, "flat"), testset, [])


def test_an_upside_down_metric_or_gold_is_warned_of_and_nothing_turned(folder, mine, tmp_path):
    table = scores_in(mine)
    path = tmp_path / "ter.seg.score"
    path.write_text(lines({name: (-part["score"]).tolist() for name, part in table.groupby("system")}))

    for turned, names in {(): ["yours"], ("yours",): [], ("esa-human1", "yours"): ["yours", "esa-human1"]}.items():
        testset = testsets.open_testset(folder, metric=str(path), lower_is_better=list(turned))
        segments, systems = rankings.aligned(testset)
        values = statistics.every_statistic(segments[testset.pair], systems[testset.pair])
        told = rankings.upside_down(testset, values)
        found = [name for name in ("yours", "esa-human1") if any(f"lower_is_better={name};" in one for one in told)]
        assert found == names, turned
        said = rankings.headline(rankings.standings({}, values, "ter"), testset, told)
        assert ("Is a low score good" in said) == ("yours" in names)


def test_metrics_without_scores_of_segments_or_of_some_systems_are_told(folder, mine):
    place = folder / "metric-scores" / "en-sr_Cyrl_RS"
    path = place / "chrF-refA.sys.score"
    path.write_text(path.read_text().replace("Alpha", "Alhpa"))
    testset = testsets.open_testset(folder)
    _, systems = rankings.aligned(testset)
    assert coverage(systems[testset.pair]).set_index("metric")["missing"].to_dict()["chrF"] == 1
    assert any("Alhpa" in note for note in testset.notes)
    for pattern, words in (("[CU]*", r"chrF.*: add <metric>"), ("*.seg.score", "no metric")):
        for path in [*place.glob(pattern), *place.glob("Kiwi*")]:
            path.unlink()
        with pytest.raises(DataError, match=f"scores of segments of .* by {words}"):
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
    for name, value, kind in (("data", "wmt26", "file or folder"), ("metric", "no.seg.score", "file")):
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
    assert {one["name"] for one in report["data"]} >= {"wmt25", "mine.seg.score"}
    assert not report["published"]
    assert "darr" not in report["recorded"]
    assert {row["statistic"] for row in report["recorded"]["standing"]} == {"system Pearson", "segment acc_eq"}
    html = (tmp_path / "out" / f"{STUDY}.html").read_text()
    assert "esa-human1 was chosen among the human scores (esa-human1, esa-human2)" in html


# Relative rankings and variants of Kendall's tau: the paper's examples, brute force, laws, official results.

SOFT, HARD, NONE = (VARIANTS[name] for name in ("soft", "hard", "no penalty"))
CELLS = st.sampled_from(["1", "0", "-1", "X"])


@st.composite
def any_matrix(draw):
    return Matrix("any", " / ".join(" ".join(draw(CELLS) for _ in range(3)) for _ in range(3)))


@st.composite
def scored(draw, *, metrics=2):
    """Scores with many ties and gaps: whole numbers, some missing, of metrics and of humans."""
    shape = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(0, 4, (metrics, *shape)).astype(float)
    people = rng.integers(0, 101, shape).astype(float) // draw(st.sampled_from([1, 5, 25])) * 5
    values[rng.random(values.shape) < 0.15] = np.nan
    people[rng.random(people.shape) < 0.15] = np.nan
    return named_scores(values, people, pair="eng-deu")


def by_hand(scores, metric, *, threshold, strict=False):
    """Count pairs one by one, as the definition reads: human order by the metric's."""
    counts = np.zeros((3, 3), dtype=int)
    for segment in range(len(scores.segments)):
        for one, other in itertools.combinations(range(len(scores.systems)), 2):
            gap = scores.human[one, segment] - scores.human[other, segment]
            said = scores.values[metric, one, segment] - scores.values[metric, other, segment]
            if np.isnan(gap) or np.isnan(said):
                continue
            far = abs(gap) > threshold if strict else abs(gap) >= threshold
            counts[int(np.sign(gap)) * (far and gap != 0) + 1, int(np.sign(said)) + 1] += 1
    return counts


# Matrices


@given(any_matrix(), st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), max_size=60))
def test_tau_is_the_mean_of_the_cells_that_count(matrix, pairs):
    rows = [row.split() for row in matrix.cells.split("/")]
    kept = [int(rows[h + 1][m + 1]) for h, m in pairs if rows[h + 1][m + 1] != "X"]
    counts = darr.count([h for h, _ in pairs], [m for _, m in pairs])
    assert matrix.pairs(counts) == len(kept)
    expected = sum(kept) / len(kept) if kept else np.nan
    np.testing.assert_allclose(matrix.tau(counts), expected, rtol=1e-14)


@pytest.mark.parametrize("cells", ["1 0 -1", "1 0 -1 / X X X / -1 0 2", "1 0 / X X X / -1 0 1", ""])
def test_a_matrix_that_is_none_is_refused(cells):
    with pytest.raises(DataError, match="three rows of three cells, each 1, 0, -1 or X"):
        Matrix("mine", cells)


# Pairs, thresholds, ties


@given(scored(), st.sampled_from([0, 5, 12.5, 25, 60]), st.booleans())
def test_tables_against_counting_one_by_one(scores, threshold, strict):
    boundary = "more than" if strict else "at least"
    pairs = darr.from_scores(scores)
    counts = darr.tables(scores, pairs, thresholds=[threshold], boundary=boundary)
    for metric in range(2):
        np.testing.assert_array_equal(counts[metric, 0], by_hand(scores, metric, threshold=threshold, strict=strict))


@given(scored())
def test_one_sweep_equals_each_threshold_alone(scores):
    steps = [0, 1, 5, 10, 25, 26, 50]
    pairs = darr.from_scores(scores)
    counts = darr.tables(scores, pairs, thresholds=steps)
    for place, step in enumerate(steps):
        np.testing.assert_array_equal(counts[:, [place]], darr.tables(scores, pairs, thresholds=[step]))
    assert (np.diff(counts[:, :, [0, 2]].sum(axis=(2, 3)), axis=1) <= 0).all(), "a higher threshold keeps no more pairs"
    assert (counts.sum(axis=(2, 3)) == counts.sum(axis=(2, 3))[:, :1]).all()
    left = darr.kept({"eng-deu": scores}, thresholds=steps)
    assert left["pairs"].tolist() == [int((darr.order(pairs, threshold=step) != 0).sum()) for step in steps]


def test_both_readings_of_the_boundary_and_ties_of_people():
    pairs = darr.from_scores(named_scores(np.empty((0, 4, 1)), [[100.0], [75.0], [74.0], [74.0]]))
    assert darr.order(pairs).tolist() == [1, 1, 1, 0, 0, 0]
    assert darr.order(pairs, boundary="more than").tolist() == [0, 1, 1, 0, 0, 0]
    assert darr.order(pairs, threshold=0).tolist() == [1, 1, 1, 1, 1, 0]


def test_identical_translations_are_found_by_name_and_tied_on_demand():
    texts = {"A1": "same", "B1": "same", "C1": "other", "A2": "same", "B2": "else"}
    people = pd.DataFrame(map(list, texts), columns=["system", "segment"])
    people = people.assign(score=[90.0, 10, 50, 5, 95], hypothesis=list(texts.values()))
    people = people.assign(src_lang="eng", tgt_lang="deu", doc="d", metric="DA")
    texts = people.sample(frac=1, random_state=1)
    scores = align(people.assign(metric="m"), people, data="two")
    pairs = darr.from_scores(scores, outputs=texts)
    found = list(zip(pairs.first, pairs.second, pairs.segment, pairs.same, strict=True))
    assert found == [(0, 1, 0, True), (0, 1, 1, False), (0, 2, 0, False), (1, 2, 0, False)]
    assert darr.order(pairs).tolist() == [1, -1, 1, -1]
    assert darr.ordered_up_to(pairs, [25.0], tie_identical=True).tolist() == [0, 1, 1, 1]
    found = darr.identical_but_ordered({scores.pair: scores}, texts)
    assert found.drop(columns="pair").values.tolist() == [["d:1", "A", "B", 90.0, 10.0, "same"]]
    counted = darr.ties({"eng-deu": scores}, outputs=texts).iloc[0]
    assert counted[["pairs", "identical", "ties", "ties_identical"]].tolist() == [4, 1, 0, 0]
    assert darr.ties({"eng-deu": scores})["identical"].isna().all(), "unknown is not none"
    effect = darr.effect_of_identical(scores, texts).set_index("variant")
    assert effect.loc["hard", ["pairs", "pairs_tied", "moved", "metrics"]].tolist() == [4, 3, 0, 1]
    tied, plain = (darr.results({"eng-deu": scores}, outputs=out).set_index("variant") for out in (texts, None))
    pd.testing.assert_series_equal(effect["largest_change"], tied["tau"] - plain["tau"], check_names=False)
    assert tied["pairs"].tolist() == [3, 3, 3, 4, 4]
    assert plain["pairs"].tolist() == [4] * 5


# Relative ranking, Expected Wins, TrueSkill, DA


def ranked(ranks, annotator="a", segment="1"):
    rows = {"annotator": annotator, "doc": "d", "segment": segment, "system": list(ranks), "rank": list(ranks.values())}
    return pd.DataFrame(rows)


def test_a_ranking_of_five_is_ten_pairs():
    pairs = darr.from_ranks(ranked({"A": 1, "B": 2, "C": 2, "D": 4, "E": 5}))
    better = darr.order(pairs, threshold=1)
    assert len(pairs) == 10
    assert sorted(better.tolist()) == [0] + [1] * 9
    two = pd.concat([ranked({"A": 1, "B": 2}), ranked({"A": 2, "B": 1}, annotator="b")])
    assert darr.order(darr.from_ranks(two), threshold=1).tolist() == [1, -1], "annotators' rankings stay apart"


@given(scored())
def test_expected_wins_against_counting_one_by_one(scores):
    pairs = darr.from_scores(scores)
    better = darr.order(pairs, threshold=5)
    won = dict.fromkeys(itertools.product(scores.systems, repeat=2), 0)
    for first, second, sign in zip(pairs.first, pairs.second, better, strict=True):
        winner, loser = (first, second) if sign > 0 else (second, first)
        won[scores.systems[winner], scores.systems[loser]] += abs(int(sign))
    for row in darr.expected_wins(pairs, better).itertuples():
        met = [(won[row.system, b], won[b, row.system]) for b in scores.systems]
        shares = [wins / (wins + losses) for wins, losses in met if wins + losses]
        assert row.expected_wins == pytest.approx(np.mean(shares)) if shares else np.isnan(row.expected_wins)


def test_trueskill_is_the_packages_match_by_match():
    import trueskill

    pairs = darr.from_ranks(pd.concat([ranked({"A": 1, "B": 2, "C": 2}, segment=str(n)) for n in range(4)]))
    better = darr.order(pairs, threshold=1)
    world = trueskill.TrueSkill(draw_probability=1 / 3, tau=0)
    skill = [world.create_rating() for _ in range(3)]
    for match in np.random.default_rng(3).permutation(12):
        a, b = pairs.first[match], pairs.second[match]
        skill[a], skill[b] = trueskill.rate_1vs1(skill[a], skill[b], drawn=better[match] == 0, env=world)
    table = darr.trueskill(pairs, better, seed=3).set_index("system")
    found = table.loc[["A", "B", "C"], ["mu", "sigma"]].to_numpy().tolist()
    assert found == [[rating.mu, rating.sigma] for rating in skill]


# Rankings side by side


@pytest.fixture(scope="module")
def small_darr():
    """Scores of segments, their means by system, all statistics of both, and all tests."""
    told = {"pair": "eng-deu", "gold": "mqm", "metrics": tuple("abcd")}
    segments = metric_scores(1, (5, 40), noise=[0.3, 0.6, 1, 3], **told)
    systems = named_scores(segments.values.mean(axis=2), segments.human.mean(axis=1), data="systems", **told)
    values = pd.concat([statistics.every_statistic(s) for s in (segments, systems)], ignore_index=True)
    tested = rankings.every_test({"eng-deu": segments}, {"eng-deu": systems}, draws=200)
    return segments, systems, values, tested


def test_differences_near_a_size_by_hand():
    base = {"data": "x", "pair": "eng-deu", "level": "segment", "statistic": "acc_eq", "metric_a": "a", "metric_b": "b"}
    base["grouping"] = "item"
    tested = pd.DataFrame({"difference": [0.001, 0.006, 0.009, 0.012, 0.02, 0.03]}).assign(**base, exact=True)
    tested["p"] = [0.5, 0.2, 0.03, 0.4, 0.01, 0.001]
    row = rankings.near(tested.sample(frac=1, random_state=3), size=0.01).iloc[0]
    assert row.tolist() == ["segment acc_eq", 6, 3, 1, 0.009, 0.02]
    almost = pd.concat([tested.assign(p=0.01)] * 4 + [tested.assign(p=[0.5, 0.01, 0.01, 0.01, 0.01, 0.01])])
    told = rankings.near(almost, size=0.01).iloc[0]
    assert told[["smallest", "from_here"]].tolist() == [0.001, 0.001], "one exception in thirty is within 5 %"
    assert np.isnan(rankings.near(tested.assign(p=0.5), size=0.01).iloc[0]["from_here"])


# Refusals


def test_what_is_not_there_is_named(small_darr):
    names = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1", "metric": "DA"}
    people = pd.DataFrame({"system": ["A", "B", "refA", "Human-A.0"]}).assign(score=1.0, **names)
    sourced = people.copy()
    sourced.attrs["source"] = {"name": "two", "source": "simulated", "origin": "a test", "digest": "none"}
    scores = each_pair(sourced, sourced)
    assert scores["eng-deu"].systems == ("A", "B"), "human translations are left out"
    pairs = darr.from_scores(small_darr[0])
    for words, call in {
        "where it comes from": lambda: each_pair(people, people),
        "no language pair": lambda: each_pair(sourced, sourced.assign(tgt_lang="fra")),
        "ascend": lambda: darr.ordered_up_to(pairs, [5, 1]),
        "'Pearson'": lambda: rankings.from_ratings(small_darr[2], "Pearson"),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


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


@given(st.integers(0, 10**6))
@settings(max_examples=8)
def test_tests_that_end_where_nothing_can_be_significant_any_more_make_the_same_clusters(seed):
    there = cells(seed, (5, 30), metrics=5, worst=1.2)
    how = {"statistic": "spa", "draws": 200, "flips": 50, "look": 50, "settled": (0.0, 1.0)}
    tests = [significance.perm_both(there, **how, alpha=alpha) for alpha in (1.0, significance.ALPHA)]
    whole, early = (rankings.rank_table(statistics.spa(there, flips=50), each)["rank"].tolist() for each in tests)
    assert whole == early


@given(scored(metrics=1))
def test_variants_against_scipys_kendall_and_gamma(scores):
    x, y = scores.human[:, 0], scores.values[0, :, 0]
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    one = named_scores(y[None, :, None], x[:, None])
    counts = darr.tables(one, darr.from_scores(one), thresholds=[0])[0, 0]
    right, wrong = counts[0, 0] + counts[2, 2], counts[0, 2] + counts[2, 0]
    ordered_x, ordered_y = counts[[0, 2]].sum(), counts[:, [0, 2]].sum()
    if len(x) > 1 and ordered_x and ordered_y:
        expected = stats.kendalltau(x, y).statistic
        assert (right - wrong) / np.sqrt(ordered_x * ordered_y) == pytest.approx(expected, abs=1e-12)
        assert SOFT.tau(counts) == pytest.approx(stats.somersd(x, y).statistic, abs=1e-12), "Somers' d, humans given"
    if right + wrong:
        assert NONE.tau(counts) == pytest.approx((right - wrong) / (right + wrong)), "Goodman and Kruskal's gamma"


@pytest.mark.parametrize("grouping", ["none", "item", "system"])
def test_by_document_is_pandas_means_correlated_by_scipy(grouping):
    there = cells(5, (4, 9))
    documents = [name.partition(":")[0] for name in there.segments]
    found = statistics.by_unit(there, documents, level="document")
    found = found[(found["grouping"] == grouping) & (found["level"] == "document")].set_index("metric")["value"]
    gold = pd.DataFrame(there.human.T).groupby(documents).mean()  # documents × systems
    for name, values in zip(there.metrics, there.values):
        metric = pd.DataFrame(values.T).groupby(documents).mean()
        axis = {"item": 1, "system": 0}.get(grouping)
        each = [metric.stack().corr(gold.stack())] if axis is None else metric.corrwith(gold, axis=axis)
        assert found[name] == pytest.approx(np.mean(each), abs=1e-7)
