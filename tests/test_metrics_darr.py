"""Relative rankings and variants of Kendall's tau: the paper's examples, brute force, laws, official results."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, data, show
from evalkit.metrics import darr, rankings, statistics
from evalkit.metrics.darr import VARIANTS, Matrix
from evalkit.metrics.scores import align, each_pair, of_pair, pick
from evalkit.papers import claims
from tests.makers import metric_scores, named_scores, read

SOFT, HARD, NONE = (VARIANTS[name] for name in ("soft", "hard", "no penalty"))
LAW = settings(deadline=None, max_examples=40)
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


@pytest.mark.parametrize(
    ("variant", "right", "wrong", "tied", "printed"),
    [("no penalty", 1, 0, 99, 1), ("no penalty", 70, 30, 0, 0.4), ("soft", 80, 0, 20, 0.8), ("soft", 20, 0, 80, 0.2)],
)
def test_the_papers_examples(variant, right, wrong, tied, printed):
    people = np.ones(right + wrong + tied)
    metric = np.repeat([1, -1, 0], [right, wrong, tied])
    assert VARIANTS[variant].tau(darr.count(people, metric)) == pytest.approx(printed, abs=1e-15)
    table = darr.examples().set_index("example")[variant]
    assert printed in table.round(12).tolist()


@given(any_matrix(), st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), max_size=60))
@LAW
def test_tau_is_the_mean_of_the_cells_that_count(matrix, pairs):
    rows = [row.split() for row in matrix.cells.split("/")]
    kept = [int(rows[h + 1][m + 1]) for h, m in pairs if rows[h + 1][m + 1] != "X"]
    counts = darr.count([h for h, _ in pairs], [m for _, m in pairs])
    assert matrix.pairs(counts) == len(kept)
    expected = sum(kept) / len(kept) if kept else np.nan
    np.testing.assert_allclose(matrix.tau(counts), expected, rtol=1e-14)


@given(any_matrix(), st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=60))
@LAW
def test_a_negated_metric_gets_the_negated_tau_of_the_opposite(matrix, pairs):
    people, metric = np.array(pairs).T
    one, counts = matrix.tau(darr.count(people, metric)), darr.count(people, -metric)
    kept = counts[~np.isnan(matrix.negated)].sum()
    other = np.nansum(matrix.negated * counts) / kept if kept else np.nan
    np.testing.assert_allclose(one, -other, rtol=1e-14)
    if matrix.symmetric:
        np.testing.assert_allclose(matrix.tau(counts), -one, rtol=1e-14)


@given(scored(metrics=1))
@LAW
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


@pytest.mark.parametrize("cells", ["1 0 -1", "1 0 -1 / X X X / -1 0 2", "1 0 / X X X / -1 0 1", ""])
def test_a_matrix_that_is_none_is_refused(cells):
    with pytest.raises(DataError, match="three rows of three cells, each 1, 0, -1 or X"):
        Matrix("mine", cells)


# Pairs, thresholds, ties


@given(scored(), st.sampled_from([0, 5, 12.5, 25, 60]), st.booleans())
@LAW
def test_tables_against_counting_one_by_one(scores, threshold, strict):
    boundary = "more than" if strict else "at least"
    pairs = darr.from_scores(scores)
    counts = darr.tables(scores, pairs, thresholds=[threshold], boundary=boundary)
    for metric in range(2):
        np.testing.assert_array_equal(counts[metric, 0], by_hand(scores, metric, threshold=threshold, strict=strict))


@given(scored())
@LAW
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


@given(scored(), st.randoms())
@LAW
def test_the_order_of_systems_and_segments_is_irrelevant(scores, random):
    s, n = (random.sample(range(k), k) for k in scores.human.shape)
    shuffled = replace(
        scores,
        systems=tuple(scores.systems[k] for k in s),
        segments=tuple(scores.segments[k] for k in n),
        values=scores.values[:, s][:, :, n],
        human=scores.human[s][:, n],
    )
    one, other = (darr.results({"eng-deu": which}, thresholds=[25.0]) for which in (scores, shuffled))
    pd.testing.assert_frame_equal(one, other)


def test_both_readings_of_the_boundary_and_ties_of_people():
    pairs = darr.from_scores(named_scores(np.empty((0, 4, 1)), [[100.0], [75.0], [74.0], [74.0]]))
    assert darr.order(pairs).tolist() == [1, 1, 1, 0, 0, 0]
    assert darr.order(pairs, boundary="more than").tolist() == [0, 1, 1, 0, 0, 0]
    assert darr.order(pairs, threshold=0).tolist() == [1, 1, 1, 1, 1, 0]


def test_identical_translations_are_found_by_name_and_tied_on_demand():
    people = read(
        """
        system segment score hypothesis
        A 1 90 same
        B 1 10 same
        C 1 50 other
        A 2 5 same
        B 2 95 else""",
        src_lang="eng",
        tgt_lang="deu",
        doc="d",
        metric="DA",
    )
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
    order = ["no penalty", "soft", "hard", "human ties", "human ties, error-like"]
    assert tied.loc[order, "pairs"].tolist() == [3, 3, 3, 4, 4]
    assert plain.loc[order, "pairs"].tolist() == [4] * 5


@given(scored())
@LAW
def test_negation_is_really_a_negated_metric(scores):
    found = darr.negated(scores, metrics=scores.metrics).set_index(["metric", "variant"])["tau_negated"]
    turned = darr.results({"eng-deu": replace(scores, values=-scores.values)})
    expected = turned.set_index(["metric", "variant"])["tau"]
    np.testing.assert_allclose(found, expected.reindex(found.index), rtol=1e-12)


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
@LAW
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
    assert table["rank"].idxmin() == "A"
    still = trueskill.TrueSkill(draw_probability=0, tau=0)
    one, other = trueskill.rate_1vs1(still.create_rating(), still.create_rating(), env=still)
    played = darr.trueskill(darr.from_ranks(ranked({"A": 1, "B": 2})), np.array([1])).set_index("system")["mu"]
    assert (played["A"], played["B"]) == (one.mu, other.mu)


@given(st.permutations(list("ABCD")))
@settings(deadline=None, max_examples=10)
def test_who_always_wins_ranks_first_whatever_the_names(names):
    rankings_ = [ranked(dict(zip(names, range(1, 5), strict=True)), segment=str(n)) for n in range(30)]
    pairs = darr.from_ranks(pd.concat(rankings_))
    better = darr.order(pairs, threshold=1)
    assert darr.trueskill(pairs, better)["system"].tolist() == list(names)
    wins = darr.expected_wins(pairs, better)
    assert wins["system"].tolist() == list(names)
    np.testing.assert_allclose(wins["expected_wins"], [1, 2 / 3, 1 / 3, 0])


# Official results of WMT20


@pytest.fixture(scope="module")
def wmt20(real):
    scores = real("wmt20-metrics")
    return each_pair(scores[scores["reference"] == "newstest2020"], real("wmt20-da"))


def matched(rows):
    return [row for row in rows.itertuples() if show.verdict(row.printed, row.computed) == "match"]


@pytest.mark.slow
def test_all_official_results_come_out_to_the_last_digit(wmt20):
    table = darr.results(wmt20)
    official = data.published("wmt20_darr")
    checked = claims.compare("shared_tasks", {"darr": table}, items="official DARR")
    assert len(checked) == checked["place"].nunique() == 2 * 78
    assert set(checked["basis"]) == {"official result"}
    assert official["pair"].nunique() == len(wmt20) == 18
    assert len(matched(checked)) == len(checked)
    assert len(table[table["variant"] == "hard"]) == 78, "every metric at hand has an official result"
    one = {"khm-eng": wmt20["khm-eng"].only(["chrF"])}
    alone = claims.compare("shared_tasks", {"darr": darr.results(one)}, items="official DARR")
    assert alone["computed"].notna().sum() == alone["lacking"].eq("").sum() == 2, "others are told as missing"


@pytest.mark.slow
def test_the_sweep_and_who_is_first(wmt20):
    chosen = {pair: wmt20[pair] for pair in ("deu-eng", "khm-eng")}
    sweep = darr.results(chosen, thresholds=[float(step) for step in range(1, 51)])
    at_25 = darr.results(chosen)
    key = ["pair", "variant", "metric"]
    same, alone = (t.drop(columns="rank").sort_values(key, ignore_index=True) for t in (sweep, at_25))
    pd.testing.assert_frame_equal(same[same["threshold"] == 25].reset_index(drop=True), alone)
    firsts = darr.firsts(at_25).set_index("pair")
    for (pair, variant), part in at_25.groupby(["pair", "variant"]):
        assert firsts.loc[pair, variant] == part.set_index("metric")["tau"].idxmax()
        assert part.loc[part["rank"] == 1, "metric"].iloc[0] == firsts.loc[pair, variant]
    assert firsts.loc["deu-eng", ["no penalty", "soft", "same"]].tolist() == ["TER", "chrF", False]
    unrest = darr.rank_instability(sweep).set_index(["pair", "variant"])
    part = sweep[(sweep["pair"] == "deu-eng") & (sweep["variant"] == "hard")]
    orders = {tuple(p.sort_values("metric")["rank"]) for _, p in part.groupby("threshold")}
    leaders = {m for _, p in part.groupby("threshold") for m in p.loc[p["rank"] == 1, "metric"]}
    assert unrest.loc[("deu-eng", "hard")].tolist() == [50, len(orders), len(leaders)]


@pytest.mark.slow
def test_identical_translations_that_darr_orders_in_real_data(real):
    """Oracle: plain pandas, one pair of systems after the other."""
    outputs, people = real("wmt23-outputs"), real("wmt23-human").query("metric == 'da-sqm'")
    scores = each_pair(people, people)["eng-deu"]
    assert not any(name.startswith("ref") for name in scores.systems)
    found = darr.identical_but_ordered({scores.pair: scores}, outputs)
    key = dict.fromkeys(("doc", "segment", "system"), "str")
    wide, da = (
        of_pair(table, "eng-deu").astype(key).pivot(index=["doc", "segment"], columns="system", values=column)
        for table, column in ((outputs, "hypothesis"), (people, "score"))
    )
    da = da.reindex(wide.index)
    by_hand = 0
    for a, b in itertools.combinations([name for name in wide if name != "refA"], 2):
        by_hand += int(((wide[a] == wide[b]) & ((da[a] - da[b]).abs() >= 25)).sum())
    assert len(found) == by_hand > 0
    assert (found["score_better"] - found["score_worse"]).ge(25).all()


def test_wmt17_scored_one_text_twice(real):
    table = real("wmt17-da")
    texts = table[table["hypothesis"] != ""]
    options = {"threshold": 0, "boundary": "more than"}
    found = [darr.identical_but_ordered({s.pair: s}, texts, **options) for s in each_pair(texts, texts).values()]
    found = pd.concat(found)[["doc_segment", "better"]].drop_duplicates()
    assert found.to_numpy().tolist() == [["newstest2017:1220", "C-3MA.4958"]]


# Rankings side by side


@pytest.fixture(scope="module")
def small():
    """Scores of segments, their means by system, all statistics of both, and all tests."""
    told = {"pair": "eng-deu", "gold": "mqm", "metrics": tuple("abcd")}
    segments = metric_scores(1, (5, 40), noise=[0.3, 0.6, 1, 3], **told)
    systems = named_scores(segments.values.mean(axis=2), segments.human.mean(axis=1), data="systems", **told)
    values = pd.concat([statistics.every_statistic(s) for s in (segments, systems)], ignore_index=True)
    tested = rankings.every_test({"eng-deu": segments}, {"eng-deu": systems}, draws=200)
    return segments, systems, values, tested


def test_ranks_side_by_side_are_the_ranks_of_the_values(small):
    values = small[2]
    table = rankings.side_by_side(values)
    assert table["metric"].iloc[0] == "a"
    assert list(table.columns[1:]) == list(rankings.MAIN.values())
    for name in rankings.MAIN.values():
        part = rankings.from_ratings(values, name).set_index("metric")["value"].reindex(table["metric"])
        assert table[name].tolist() == stats.rankdata(-part, method="min").tolist()


def test_disagreement_against_scipy_and_counting(small):
    values = small[2]
    for row in rankings.disagreement(values).itertuples():
        a, b = (
            rankings.from_ratings(values, n).set_index("metric")["value"] for n in (row.statistic_a, row.statistic_b)
        )
        a, b = a.align(b, join="inner")
        assert row.tau_b == pytest.approx(stats.kendalltau(a, b).statistic, nan_ok=True)
        pairs = list(itertools.combinations(a.index, 2))
        assert row.swapped == pytest.approx(sum((a[x] - a[y]) * (b[x] - b[y]) < 0 for x, y in pairs) / len(pairs))


def test_what_moves_metrics(small):
    segments, _, values, _ = small
    places = rankings.side_by_side(values)
    movers = rankings.rank_shifts(places, segments).set_index("metric")
    assert (movers["spread"] == movers["worst"] - movers["best"]).all()
    assert movers["spread"].is_monotonic_decreasing
    for metric, row in movers.iterrows():
        of_metric = places.set_index("metric").loc[metric]
        assert row["best"] == of_metric.min() == of_metric[row["best_by"]]
        assert row["worst"] == of_metric.max() == of_metric[row["worst_by"]]
    v = segments.values.round()
    tied = rankings.rank_shifts(places, replace(segments, values=v)).set_index("metric")["tied"]
    pairs = list(itertools.combinations(range(5), 2))
    assert tied["a"] == pytest.approx(np.mean([v[0, i] == v[0, j] for i, j in pairs]))
    groups = pd.DataFrame(segments.values[1].T)
    assert movers.loc["b", "between"] == pytest.approx(groups.mean().var(ddof=0) / groups.stack().var(ddof=0))


def test_spa_is_tested_on_demand_and_tests_what_is_ranked(small):
    segments, systems, values, tested = small
    assert "spa" not in set(tested["statistic"])
    more = rankings.every_test({"eng-deu": segments}, {"eng-deu": systems}, shown=["SPA"], draws=200)
    value = rankings.from_ratings(values, "SPA").set_index("metric")["value"]
    for row in rankings.from_ratings(more, "SPA").itertuples():
        assert row.difference == pytest.approx(value[row.metric_a] - value[row.metric_b], abs=1e-12)
        assert 0 < row.p <= 1


def test_differences_near_a_size_by_hand():
    base = {"data": "x", "pair": "eng-deu", "level": "segment", "statistic": "acc_eq", "metric_a": "a", "metric_b": "b"}
    tested = pd.DataFrame({"difference": [0.001, 0.006, 0.009, 0.012, 0.02, 0.03]}).assign(**base, exact=True)
    tested["p"] = [0.5, 0.2, 0.03, 0.4, 0.01, 0.001]
    row = rankings.near(tested.sample(frac=1, random_state=3), size=0.01).iloc[0]
    assert row.tolist() == ["segment acc_eq", 6, 3, 1, 0.009, 0.02]
    almost = pd.concat([tested.assign(p=0.01)] * 4 + [tested.assign(p=[0.5, 0.01, 0.01, 0.01, 0.01, 0.01])])
    told = rankings.near(almost, size=0.01).iloc[0]
    assert told[["smallest", "from_here"]].tolist() == [0.001, 0.001], "one exception in thirty is within 5 %"
    assert np.isnan(rankings.near(tested.assign(p=0.5), size=0.01).iloc[0]["from_here"])
    with pytest.raises(DataError, match="size is 0"):
        rankings.near(tested, size=0)


# Refusals


def test_what_is_not_there_is_named(small):
    names = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1", "metric": "DA"}
    people = pd.DataFrame({"system": ["A", "B", "refA", "Human-A.0"]}).assign(score=1.0, **names)
    sourced = people.copy()
    sourced.attrs["source"] = {"name": "two", "source": "simulated", "origin": "a test", "digest": "none"}
    scores = each_pair(sourced, sourced)
    assert pick(scores, "eng-deu").systems == ("A", "B"), "human translations are left out"
    pairs = darr.from_scores(small[0])
    for words, call in {
        "where it comes from": lambda: each_pair(people, people),
        "'deu-eng'.* eng-deu": lambda: pick(scores, "deu-eng"),
        "no language pair": lambda: each_pair(sourced, sourced.assign(tgt_lang="fra")),
        "'over'": lambda: darr.order(pairs, boundary="over"),
        "ascend": lambda: darr.ordered_up_to(pairs, [5, 1]),
        "twice": lambda: darr.from_ranks(pd.concat([ranked({"A": 1, "B": 2}), ranked({"A": 2})])),
        "'Pearson'": lambda: rankings.from_ratings(small[2], "Pearson"),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


# Figures


def test_tables_of_matrices_hold_their_cells_and_what_follows_from_them():
    listed = darr.cells()
    grid = darr.grid().set_index("variant")
    overview = darr.overview().set_index("variant")
    examples = darr.examples().set_index("example")
    for name, matrix in VARIANTS.items():
        own = listed[listed["variant"] == name]
        values = pd.to_numeric(own["value"], errors="coerce").to_numpy().reshape(3, 3)
        np.testing.assert_array_equal(values, matrix.values)
        assert grid.loc[name].tolist() == own["value"].tolist()
        negated = np.array_equal(-matrix.values[:, ::-1], matrix.values, equal_nan=True)
        assert overview.at[name, "symmetric"] == ("yes" if negated else "no")
        tied = matrix.values[2, 1]
        expected = 1 / (1 if np.isnan(tied) else 100) + (0 if np.isnan(tied) else 0.99 * tied)
        assert examples.at["99 ties, 1 concordant", name] == pytest.approx(expected)
