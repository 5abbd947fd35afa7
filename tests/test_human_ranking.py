"""Rankings: scores, tests and lines against scipy and by hand, laws; rules that WMT drew lines by, and how often they err."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError, data
from evalkit.data import stand_ins
from evalkit.human.ranking import lines, rules, scores, trials
from evalkit.human.ranking.scores import influences, segment_means
from evalkit.papers import wmt
from tests import widths_by_hand
from tests.makers import laid_out, ratings


def rated(rows):
    return laid_out(rows, "system segment item_type score").assign(z=lambda frame: frame["score"] / 10)


def of_scores(scores, **columns):
    """Make ratings of a table systems × segments; missing scores are no rows."""
    return laid_out(scores, "system segment", **columns)


SMALL = [
    *(("A", "1", "system", 80.0), ("A", "1", "repeat", 40.0), ("A", "2", "system", 30.0), ("A", "2", "degraded", 0.0)),
    *(("B", "1", "system", 50.0), ("B", "2", "reference", 100.0), ("B", "2", "system", 44.0)),
]


def test_segments_are_averaged_before_systems_and_only_system_and_repeat_count():
    found = scores.system_scores(rated(SMALL)).set_index("system")
    assert found["score"].to_dict() == {"A": 45.0, "B": 47.0}  # ((80 + 40) / 2 + 30) / 2
    assert found["judgements"].to_dict() == {"A": 3, "B": 2}
    assert found["rank"].to_dict() == {"A": 2, "B": 1}
    without = scores.system_scores(rated(SMALL), item_types=("system",)).set_index("system")
    assert without.at["A", "score"] == 55.0


# Tests between systems, cluster lines, uncertainty of ranks: against scipy, brute force, WMT's files and laws


def drawn(seed, *, systems=5, segments=40, levels=None, missing=0.2, step=0.25):
    """Draw systems × segments with gaps; few levels make ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=segments) + rng.normal(size=(systems, segments)) - step * np.arange(systems)[:, None]
    if levels:
        scores = np.round(scores * levels) / levels
    return np.where(rng.random(scores.shape) < missing, np.nan, scores)


def sides(scores, row):
    """Return both systems' scores: on each one's own segments, and on those that both have."""
    a, b = scores[int(row.better[1:])], scores[int(row.worse[1:])]
    both = np.isfinite(a - b)
    return (a[np.isfinite(a)], b[np.isfinite(b)]), (a[both], b[both])


def either_t(own, both, side):
    return min(
        stats.ttest_rel(*both, alternative=side), stats.ttest_ind(*own, alternative=side), key=lambda t: t.pvalue
    )


#: Test -> scipy's, of both systems' own segments and of those that both have.
OF_SCIPY = {
    "rank sum": lambda own, both, side: stats.mannwhitneyu(*own, alternative=side),
    "matched rank sum": lambda own, both, side: stats.mannwhitneyu(*both, alternative=side),
    "signed rank": lambda own, both, side: stats.wilcoxon(*both, alternative=side),
    "either t": either_t,
}


@pytest.mark.parametrize(("segments", "levels"), [(9, None), (40, None), (40, 2), (90, None), (150, 4)])
@pytest.mark.parametrize("test", ["mann-whitney", "wilcoxon", *OF_SCIPY])
@pytest.mark.parametrize("side", ["greater", "two-sided"])
def test_every_test_equals_scipys_pair_by_pair(test, side, segments, levels):
    """R's are exact below 50 segments without ties, where scipy is told to be; beyond both are normal."""
    scores, exact = drawn(segments, segments=segments, levels=levels), segments < 50 and levels is None
    options = {"alternative": side, "method": "exact" if exact else "asymptotic"}
    for row in lines.pairwise_tests(of_scores(scores), test=test, two_sided=side == "two-sided").itertuples():
        own, both = sides(scores, row)
        if test == "mann-whitney":
            theirs = stats.mannwhitneyu(*own, **options)
        elif test == "wilcoxon":
            theirs = stats.wilcoxon(*both, correction=not exact, **options)
        else:
            theirs = OF_SCIPY[test](own, both, side)
        assert row.p == pytest.approx(theirs.pvalue, rel=1e-9, abs=1e-14)
        unmatched = test in ("mann-whitney", "rank sum")
        gaps = np.subtract.outer(*own) if unmatched else np.subtract(*both)
        assert (row.wins, row.ties, row.losses) == ((gaps > 0).sum(), (gaps == 0).sum(), (gaps < 0).sum())
        assert row.superiority == pytest.approx(((gaps > 0) + (gaps == 0) / 2).mean())
        assert (row.n_better, row.n_worse) == tuple(map(len, own if unmatched else both))
        assert row.difference == pytest.approx(own[0].mean() - own[1].mean())


def test_textbook_examples():
    """Hollander & Wolfe 1973, as R's help page of wilcox.test prints them (W = 35, p 0.1272; V = 40, p 0.01953)."""
    permeability = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    row = lines.pairwise_tests(of_scores([permeability, [1.15, 0.88, 0.90, 0.74, 1.21, *[np.nan] * 5]])).iloc[0]
    assert (row["wins"], round(row["p"], 4)) == (35, 0.1272)
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    row = lines.pairwise_tests(of_scores([before, after]), test="wilcoxon").iloc[0]
    assert (row["better"], round(row["p"], 5)) == ("S0", 0.01953)


def test_permutation_comes_close_to_all_signs():
    scores = drawn(3, systems=3, segments=12, missing=0.1)
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    found, again = (lines.pairwise_tests(of_scores(scores), test="permutation", resamples=20_000) for _ in range(2))
    for row in found.itertuples():
        _, (a, b) = sides(scores, row)
        difference = np.r_[a - b, np.zeros(12 - len(a))]
        extreme = signs @ difference >= difference.sum() - 1e-9
        error = 4 * np.sqrt(extreme.mean() * (1 - extreme.mean()) / 20_000) + 1 / 20_000
        assert abs(row.p - extreme.mean()) <= error
    pd.testing.assert_frame_equal(found, again)


def test_holm_and_alpha_decide_what_is_significant():
    scores = drawn(5, segments=60)
    plain, corrected = (lines.pairwise_tests(of_scores(scores), correction=how) for how in (None, "holm"))
    np.testing.assert_allclose(corrected["adjusted"], multipletests(plain["p"], method="holm")[1])
    assert (plain["significant"] == (plain["p"] < 0.05)).all()
    assert 0 < corrected["significant"].sum() < plain["significant"].sum()


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.floats(0, 1), st.sampled_from(["all", "own"]))
def test_clusters_follow_from_the_wins(seed, step, line):
    judged = of_scores(drawn(seed, segments=30, step=step))
    table = lines.significance_clusters(judged, line=line).set_index("system")
    won = lines.pairwise_tests(judged).query("significant")
    assert table["wins"].to_dict() == {s: (won["better"] == s).sum() for s in table.index}
    assert table["losses"].to_dict() == {s: (won["worse"] == s).sum() for s in table.index}
    assert (table["rank_top"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_bottom"]).all()
    pairs, names = set(zip(won["better"], won["worse"])), list(table.index)
    beats = [[(a, b) in pairs for b in names] for a in names]
    assert table["cluster"].tolist() == (1 + np.cumsum([0, *brute(beats, line)[:-1]])).tolist()


def test_wmt22s_published_p_values_wins_and_lines_come_out_to_their_last_digit(real):
    judged, printed = real("wmt22-mturk"), data.published("wmt22_pvalues")
    compared = wmt.compare_p_values(judged, printed)
    shown = compared.dropna(subset="official")
    assert len(shown) == len(printed) == compared["significant"].sum()
    assert shown["off"].max() < 1e-13
    published = data.published("wmt_clusters")
    compared = wmt.compare_clusters({"wmt22-mturk": judged}, published)
    assert len(compared) == 73
    assert compared[["equal_wins", "equal_line"]].all(axis=None)
    with pytest.raises(DataError, match="only one of"):
        wmt.compare_clusters({"wmt22-mturk": judged}, published.replace({"system": {compared["system"][0]: "another"}}))


@pytest.mark.parametrize("test", rules.TESTS)
def test_one_system_is_a_cluster_and_equal_ones_are_told_apart_by_nothing(test):
    alone = lines.significance_clusters(of_scores([[1.0, 2, 3]]), test=test)
    assert alone[["cluster", "wins", "losses", "rank_top", "rank_bottom"]].values.tolist() == [[1, 0, 0, 1, 1]]
    same = lines.pairwise_tests(of_scores(np.full((3, 9), 50.0)), test=test)
    assert same[["p", "superiority"]].values.tolist() == [[1, 0.5]] * 3
    assert lines.significance_clusters(of_scores(np.full((3, 9), 50.0)), test=test)["cluster"].tolist() == [1, 1, 1]


def test_every_segment_counts_once_and_what_names_a_segment():
    judged = of_scores([[10, 30], [20, 20]])
    again = pd.concat([judged, judged[judged["segment"] == "001"]]).reset_index(drop=True)
    again = again.assign(annotator=[str(k) for k in range(len(again))])
    assert scores.system_scores(again)["score"].tolist() == [20, 20]
    two = of_scores([[10, 30]], segment="1", doc=["d", "e"])
    assert scores.system_scores(two)["segments"].tolist() == [2]
    assert scores.system_scores(two, segment=("segment",))["segments"].tolist() == [1]


def test_missing_scores_are_left_out_and_rounding_makes_ties():
    values = np.array([[1.0, 2.0, np.nan], [1 / 3, 1.0, 2.0]])
    judged = of_scores(np.nan_to_num(values, nan=9)).assign(normalized=values.ravel())
    assert scores.system_scores(judged, score="normalized")["segments"].tolist() == [2, 3]
    means = segment_means(judged, score="normalized", digits=2)["eng-deu"].means
    assert means.tolist()[1] == [0.33, 1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda r: lines.significance_clusters(r, test="sign"), "mann-whitney"),
        (lambda r: lines.pairwise_tests(r, correction="bh"), "holm"),
        (lambda r: lines.significance_clusters(r, line="some"), "least"),
        (lambda r: lines.pairwise_tests(r, item_types=("reference",)), "item type reference"),
        (lambda r: lines.pairwise_tests(r.assign(segment=r["system"] + r["segment"]), test="wilcoxon"), "S2 and S1"),
        (lambda r: lines.rank_ranges(r, unit="topic"), "topic"),
        (lambda r: lines.rank_ranges(r[r["system"].ne("S1") | r["segment"].eq("000")]), "known of S1"),
        (lambda r: lines.resampled({"a": r, "b": r[r["system"] != "S1"]}), "S1"),
        (lambda r: scores.system_scores(r, score="z"), "column z"),
    ],
)
def test_problems_are_named(call, word):
    with pytest.raises(DataError, match=word):
        call(of_scores(np.arange(24.0).reshape(3, 8)))


# What is drawn anew


def campaign(seed=1, *, people=6, documents=12, systems=2, length=3, taste=0.0, crossed=False, gap=0.0):
    """Annotators judge all systems on documents of their own, or on all; they may like systems differently."""
    sizes = {"people": people, "documents": documents, "systems": systems, "length": length}
    spread = {"taste": taste, "residual": 4.0}
    return ratings(seed, **sizes, each=None if crossed else 1, gap=gap, spread=spread, scale=None)


@pytest.mark.parametrize(("unit", "taste"), [("segment", 0.0), ("annotator", 3.0)])
def test_over_units_of_equally_many_judgements_tests_and_intervals_are_students(unit, taste):
    judged = campaign(7, taste=taste, gap=1.0)
    wide = judged.pivot_table(index=unit, columns="system", values="score")
    [found] = lines.pairwise_tests(judged, test="t", unit=unit).to_dict("records")
    theirs = stats.ttest_rel(wide[found["better"]], wide[found["worse"]], alternative="greater")
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found["difference"] == pytest.approx(wide.mean()[found["better"]] - wide.mean()[found["worse"]])
    table = lines.rank_ranges(judged, unit=unit).set_index("system")
    for system, own in wide.items():
        ends = stats.ttest_1samp(own, 0).confidence_interval(0.95)
        assert table.loc[system, ["low", "high"]].tolist() == pytest.approx(list(ends), rel=1e-9)


def test_the_variance_of_a_difference_is_the_sandwich_clustered_by_annotator():
    """Unequal shares of segments and of the work: statsmodels' cluster-robust variance of a regression on the system."""
    judged = ratings(3, systems=2, documents=24, length=3, people=6, each=2, spread={"taste": 4.0}, missing=0.4)
    share = 1 / judged.groupby(["system", "segment"])["score"].transform("size")
    table = segment_means(judged, unit="annotator")["eng-deu"]
    variance, freedom = influences([table]).spread()
    design = sm.add_constant((judged["system"] == "S1").astype(float))
    clusters = {"groups": pd.factorize(judged["annotator"])[0], "use_correction": False, "df_correction": False}
    fitted = sm.WLS(judged["score"], design, weights=share).fit(cov_type="cluster", cov_kwds=clusters)
    factor, degrees = widths_by_hand.few(table.weights / table.weights.sum(axis=0))
    assert variance[0, 1] == pytest.approx(fitted.cov_params().iloc[1, 1] * factor, rel=1e-9)
    assert freedom[0, 1] == pytest.approx(degrees, rel=1e-9)
    alone, _ = widths_by_hand.few(table.weights[:, :1] / table.weights[:, 0].sum())
    assert variance[0, 0] == pytest.approx(fitted.cov_params().iloc[0, 0] * alone, rel=1e-9)  # the mean of S0


@pytest.mark.parametrize("unit", ["doc", "annotator", ("annotator", "doc"), ("annotator", "segment")])
def test_differences_of_draws_spread_as_widely_as_their_intervals(unit):
    judged = campaign(1, people=40, documents=80, systems=3, taste=3.0, crossed=isinstance(unit, tuple))
    table = segment_means(judged.sample(frac=0.8, random_state=2), unit=unit)["eng-deu"]
    found = influences([table])
    drawn = found.draws(table.totals(), resamples=10_000, seed=5)
    wide = np.std(drawn[:, :, None] - drawn[:, None], axis=0) * 1.96
    np.testing.assert_allclose(wide, found.half_widths() * (1 - np.eye(3)), rtol=0.03)
    assert drawn.mean(axis=0) == pytest.approx(table.totals(), abs=0.1)


def test_campaigns_in_one_table_are_compared_as_if_each_were_alone():
    campaigns = {f"l{seed}": campaign(seed, taste=3.0, crossed=True) for seed in range(3)}
    both = pd.concat([one.assign(tgt_lang=name) for name, one in campaigns.items()], ignore_index=True)
    for unit in (("annotator", "doc"), None):
        found = lines.pairwise_tests(both, test="t", unit=unit).set_index("pair")
        for name, one in campaigns.items():
            [alone] = lines.pairwise_tests(one, test="t", unit=unit).to_dict("records")
            assert found.loc[f"eng-{name}", ["better", "p"]].tolist() == [alone["better"], alone["p"]]


def test_equal_outputs_and_constant_differences():
    """No spread and no difference proves nothing; no spread with a difference proves no more than signs would."""
    judged = campaign(1)
    first = judged[judged["system"] == "S0"]
    same = pd.concat([first, first.assign(system="T")])
    assert lines.pairwise_tests(same, test="t")["p"].tolist() == [1.0]
    ahead = pd.concat([first, first.assign(system="T", score=first["score"] + 1)])
    [row] = lines.pairwise_tests(ahead, test="t", unit="annotator").to_dict("records")
    assert (row["better"], row["p"]) == ("T", pytest.approx(0.5**6))


def test_systems_without_a_common_segment_are_compared_as_independent():
    judged = campaign(2, documents=24, gap=2.0)
    odd = judged["segment"].astype(int) % 2 == 1
    apart = judged[(judged["system"] == "S0") == odd]
    [row] = lines.pairwise_tests(apart, test="t").to_dict("records")
    one, other = (apart.loc[apart["system"] == name, "score"] for name in (row["better"], row["worse"]))
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    freedom = len(one) + len(other) - 2  # either has as many segments
    assert row["p"] == pytest.approx(stats.t.sf((one.mean() - other.mean()) / error, freedom))
    assert np.isnan(row["superiority"])


# Uncertainty of ranks and their moves between variants


def small(seed, *, systems=4, segments=30, step=0.3):
    """Draw systems that are ``step`` standard deviations apart, in documents of three segments."""
    spread = {"residual": 1.0, "segment": 0.0, "annotator": 0.0}
    sizes = {"systems": systems, "documents": segments // 3, "length": 3, "people": ["a"]}
    return ratings(seed, **sizes, gap=step, level=0, spread=spread, scale=None)


def test_ranks_are_sure_where_systems_are_far_apart_and_open_where_they_are_equal():
    sure = lines.rank_ranges(small(1, step=3))
    assert sure[["rank", "rank_low", "rank_high"]].eq(np.arange(1, 5)[:, None]).all(axis=None)
    assert sure["best"].tolist() == [1, 0, 0, 0]
    same = small(1, step=0).assign(score=lambda f: f.groupby("segment")["score"].transform("first"))
    tied = lines.rank_ranges(same)
    assert tied[["rank", "rank_low", "rank_high", "best"]].eq(1).all(axis=None)


def test_moves_are_those_of_the_single_rankings_and_another_unit_moves_nothing():
    turk, rng = stand_ins.stand_in("wmt22-mturk", seed=3), np.random.default_rng(1)
    noisy = turk["score"] + rng.normal(0, 40, len(turk))
    variants = {"raw": turk, "twice": turk.assign(score=2 * turk["score"] + 3), "noisy": turk.assign(score=noisy)}
    found = lines.resampled(variants, resamples=50)
    table, moved = lines.rankings(found), lines.rank_shifts(found)
    key, columns = ["variant", "pair", "system"], ["score", "rank", "cluster"]
    alone = pd.concat([lines.significance_clusters(frame).assign(variant=name) for name, frame in variants.items()])
    alone, table = (one.set_index(key).sort_index() for one in (alone, table))
    pd.testing.assert_frame_equal(table[columns], alone[columns])
    assert table["moved"].ne(0).any()
    for row in moved.itertuples():
        first, rows = (alone.loc[(name, row.pair)] for name in ("raw", row.variant))
        places = first["rank"] - rows["rank"]
        assert table.loc[(row.variant, row.pair), "moved"].tolist() == places.tolist()
        assert row.moved == places.ne(0).sum()
        assert row.tau_b == pytest.approx(stats.kendalltau(first["score"], rows["score"]).statistic)
        signs = [np.sign(np.subtract.outer(*2 * [one["cluster"].to_numpy()])) for one in (first, rows)]
        assert row.cluster_changes == (signs[0] != signs[1]).sum() / 2
    twice = moved[moved["variant"] == "twice"]
    assert twice[["tau_b", "tau_b_low", "tau_b_high", "noise_share"]].eq(1).all(axis=None)
    assert twice[["moved", "beyond_noise", "cluster_changes"]].eq(0).all(axis=None)


def test_noise_equals_a_loop():
    judged = small(6)
    other = judged.assign(score=judged["score"].sample(frac=1, random_state=3).to_numpy())
    row = lines.rank_shifts(lines.resampled({"a": judged, "b": other}, resamples=300, seed=11)).iloc[0]
    table = segment_means(judged)["eng-deu"]
    picks = np.random.default_rng(11).integers(0, 30, (300, 30))
    full = table.means.mean(axis=1)
    taus = [stats.kendalltau(table.means[:, chosen].mean(axis=1), full).statistic for chosen in picks]
    assert row["tau_b_noise"] == pytest.approx(np.median(taus))
    assert row["noise_share"] == np.mean(np.array(taus) <= row["tau_b"] + 1e-12)


# Rules for lines between systems


NAMES = list(rules.RULES)
#: Tests that draw in the order of the segments.
DRAWING = ("permutation", "bootstrap", "either bootstrap")


def ruled(seed=0, *, systems=5, documents=12, step=3.0, gaps=0.0, domains=2):
    """Draw judgements: every system on the same documents, one annotator a document and system, scores 0 to 100."""
    spread = {"block": 6.0, "residual": 12.0, "segment": 0.0, "annotator": 0.0}
    sizes = {"systems": systems, "documents": documents, "length": 4, "people": 6, "each": 1, "dealt": "showing"}
    frame = ratings(seed, **sizes, gap=step, level=70, spread=spread, missing=gaps, step=1)
    return frame.assign(domain="x" + (frame["doc"].str[1:].astype(int) % domains).astype(str))


OPTIONS = {"segment": ("doc", "segment"), "item_types": ("system",)}


def brute(beats, line):
    """Say below which systems a line stands, pair by pair."""
    size, found = len(beats), []
    won = [sum(row) for row in beats]
    for k in range(size - 1):
        above, below = range(k + 1), range(k + 1, size)
        bottom = [next((b for b in range(a + 1, size) if beats[a][b]), size) for a in range(size)]
        top = [next((a for a in range(b - 1, -1, -1) if beats[a][b]), -1) for b in range(size)]
        found.append(
            {
                "all": all(beats[a][b] for a in above for b in below),
                "own": won[k] == len(below),
                "least": min(won[a] for a in above) == len(below),
                "next": bool(beats[k][k + 1]),
                "ranges": all(bottom[a] <= k + 1 for a in above) and all(top[b] >= k for b in below),
            }[line]
        )
    return [*found, True]


@given(st.integers(2, 7), st.integers(0, 2**21 - 1), st.sampled_from(sorted(rules.LINES)))
def test_lines_equal_brute_force(size, bits, line):
    flags = iter(np.binary_repr(bits, 21))
    beats = np.zeros((size, size), bool)
    for a, b in itertools.combinations(range(size), 2):
        beats[a, b] = next(flags) == "1"
    assert rules.ends(beats, line).tolist() == brute(beats.tolist(), line)


def test_correcting_over_lines_equals_holm_on_the_highest_p_across_each_line():
    p = np.random.default_rng(4).random(15) ** 6
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6, 1)] = p
    highest = [matrix[: k + 1, k + 1 :].max() for k in range(5)]
    adjusted = np.empty(5)
    running = 0.0
    for place, k in enumerate(np.argsort(highest)):
        running = max(running, (5 - place) * highest[k])
        adjusted[k] = min(running, 1)
    found = np.zeros((6, 6))
    found[np.triu_indices(6, 1)] = rules.corrected(p, rules.named("units-lines"))
    for a, b in itertools.combinations(range(6), 2):
        assert math.isclose(found[a, b], adjusted[a:b].min())


def by_hand(frame, name):
    """Rank and test as WMT's scripts do, in loops, with scipy: order and who beats whom."""
    rule = rules.named(name)
    frame = frame.copy()
    if rule.by == "z":
        grouped = frame.groupby("annotator")["score"]
        frame["score"] = (frame["score"] - grouped.transform("mean")) / grouped.transform("std")
    table = frame.pivot(index=["doc", "segment"], columns="system", values="score")
    domain = frame.drop_duplicates(["doc", "segment"]).set_index(["doc", "segment"])["domain"].loc[table.index]
    mean = table.groupby(domain).mean().mean() if rule.mean == "domains" else table.mean()
    order = mean.sort_values(ascending=False).index
    beats = np.zeros((len(order), len(order)), bool)
    for i, j in itertools.combinations(range(len(order)), 2):
        a, b = table[order[i]], table[order[j]]
        both = a.notna() & b.notna()
        side = "two-sided" if rule.two_sided else "greater"
        if rule.test == "rank sum":
            p = stats.mannwhitneyu(a.dropna(), b.dropna(), alternative=side).pvalue
        elif rule.test == "matched rank sum":
            p = stats.mannwhitneyu(a[both], b[both], alternative=side).pvalue
        elif rule.test == "signed rank":
            p = stats.wilcoxon((a - b)[both], alternative=side).pvalue
        elif rule.test == "signed rank by domain":
            parts = [stats.wilcoxon((a - b)[both & (domain == one)]).pvalue for one in sorted(domain.unique())]
            p = stats.norm.sf(sum(stats.norm.ppf(1 - part) for part in parts) / math.sqrt(len(parts)))
        elif rule.test == "either bootstrap":
            draws = {"n_resamples": 2000, "confidence_level": 0.95, "alternative": "greater", "rng": i * 99 + j}
            paired = stats.bootstrap([(a - b)[both]], np.mean, **draws)
            means = stats.bootstrap([a.dropna(), b.dropna()], lambda x, y, axis: x.mean(axis) - y.mean(axis), **draws)
            p = 1.0 - max(one.confidence_interval.low > 0 for one in (paired, means))
        else:
            paired = stats.ttest_rel(a, b, nan_policy="omit").pvalue
            p = min(paired, stats.ttest_ind(a, b, nan_policy="omit").pvalue)
        beats[i, j] = p < 0.05
    return list(order), beats


@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_wmt26s_last_rule_decides_as_scipy_does_but_for_what_other_draws_decide_otherwise(gaps):
    frame, rule = ruled(documents=30, gaps=gaps, step=2.0), rules.named("wmt26-final")
    order, beats = by_hand(frame, "wmt26-final")
    runs = [lines.apply_rule(frame, replace(rule, resamples=2000), seed=seed, **OPTIONS)[0] for seed in range(20)]
    assert runs[0].table["system"].tolist() == order
    found = np.array([one.beats for one in runs])
    sure = found.all(axis=0) | ~found.any(axis=0)
    assert (found[0] == beats)[sure].all()
    assert sure.mean() > 0.9
    assert beats.any()
    one = lines.apply_rule(frame, rule, resamples=7, **OPTIONS)[0]
    again = lines.apply_rule(frame, replace(rule, resamples=None), resamples=100, **OPTIONS)[0]
    np.testing.assert_array_equal(one.p, again.p)  # a rule that says how many it draws draws as many
    assert one.table["cluster"].tolist() == (1 + np.cumsum([0, *brute(one.beats.tolist(), "all")[:-1]])).tolist()
    for place, (top, bottom) in enumerate(one.table[["rank_top", "rank_bottom"]].to_numpy()):
        assert top == 1 + max([k + 1 for k in range(place) if one.beats[k, place]], default=0)
        assert bottom == min([k for k in range(place + 1, len(order)) if one.beats[place, k]], default=len(order))


@pytest.mark.parametrize(
    "name", ["wmt20", "wmt22", "wmt23", "wmt24", "wmt24-micro", "wmt25", "wmt25-ranges", "wmt26", "wmt26-next"]
)
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_a_rule_equals_its_script_in_loops(name, gaps):
    parted = 0
    for seed in range(2):
        frame = ruled(seed, documents=30, gaps=gaps, step=2.0)
        order, beats = by_hand(frame, name)
        one = lines.apply_rule(frame, rules.named(name), **OPTIONS)[0]
        assert one.table["system"].tolist() == order
        assert (one.beats == beats).all()
        cluster = 1 + np.cumsum([0, *brute(beats.tolist(), rules.named(name).line)[:-1]])
        assert one.table["cluster"].tolist() == cluster.tolist()
        parted += int(beats.sum())
    assert parted


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(NAMES), st.floats(0.2, 3), st.floats(-20, 20))
def test_names_of_systems_order_of_rows_and_a_change_of_scale_change_no_line(seed, name, gain, shift):
    frame = ruled(seed, systems=4)
    other = frame.sample(frac=1, random_state=seed) if not rules.named(name).apart else frame
    other = other.assign(score=np.round(other["score"] * gain + shift, 9), system="x" + other["system"])
    one, two = (lines.rule_clusters(f, rule=name, resamples=100, **OPTIONS) for f in (frame, other))
    assert two["system"].tolist() == ["x" + system for system in one["system"]]
    if rules.named(name).test not in DRAWING:
        assert one["cluster"].tolist() == two["cluster"].tolist()


def test_what_a_rule_needs_is_said():
    frame = ruled(1)
    apart = frame[(frame["system"] == "S0") == (frame["doc"] < "d06")]
    cases = [(frame.drop(columns="annotator"), "wmt22", "annotator"), (frame, "wmt25-range", "wmt25-ranges")]
    for table, rule, word in [*cases, (apart, "wmt26", "no two segments")]:
        with pytest.raises(DataError, match=word):
            lines.rule_clusters(table, rule=rule, **OPTIONS)
    _, counts = lines.side_by_side({"mine": (apart, OPTIONS)}, ["wmt20", "wmt26"])
    assert counts.set_index("rule")["why"].str.contains("share no").to_dict() == {"wmt20": False, "wmt26": True}


def test_what_each_rule_parts_is_counted():
    rows = [(rule, *row) for rule, ends in zip("xyz", (2, 1, 1)) for row in (("A", 1), ("B", ends))]
    frame = pd.DataFrame(rows, columns=["rule", "system", "cluster"]).assign(data="d", pair="p")
    frame.loc[frame["rule"] == "z", "cluster"] = [2, 1]
    found = lines.parted(frame)[["better", "worse", "rules", "of", "against", "names"]]
    assert found.to_numpy().tolist() == [["A", "B", 1, 3, 1, "x"]]


def laid(seed=1, **options):
    return trials.grids({"drawn": ruled(seed, systems=8, documents=40, step=0.0, **options)})


def test_exchanging_names_keeps_the_mean_over_systems_and_the_level_of_a_test_by_segment():
    (grid,) = laid()

    def swapped(by, campaigns, **options):
        return trials.swapped(grid, by=by, campaigns=campaigns, rng=np.random.default_rng(1), **options)

    batch = next(swapped("document", 3, points=(0.0,) * 8))
    np.testing.assert_allclose(batch.tables["raw"].means.mean(axis=1), np.tile(grid.raw.mean(axis=0), (3, 1)))
    both = trials.rates(swapped("segment", 300), "alike")
    single = both[~both["rule"].str.startswith("wmt26")]  # these take the better of two tests
    error = np.sqrt(single["nominal"] * (1 - single["nominal"]) / 300)
    assert (single["rate"] <= single["nominal"] + 4 * error).all()
    assert (both["low"] <= 2 * both["nominal"]).all()
    by_document = trials.rates(swapped("document", 300), "alike").set_index("rule")
    assert by_document.loc["units", "low"] <= 0.1
    assert by_document.loc["wmt24-micro", "low"] > 0.05, "what depends within documents is no independent evidence"


def test_rearranged_campaigns_are_tested_as_ratings_are():
    (grid,) = laid(seed=6, gaps=0.1)
    options = {"by": "document", "campaigns": 1, "points": (9.0, 4.0, 0.0), "true": True}
    batch = next(trials.swapped(grid, rng=np.random.default_rng(3), **options))
    frame = laid_out(batch.tables["raw"].means[0], "system segment", documents=grid.docs)
    frame["domain"] = [f"x{grid.domains[int(segment)]}" for segment in frame["segment"]]
    names = [name for name in NAMES if rules.named(name).by == "raw" and rules.named(name).test != "permutation"]
    _, parted = trials.lined(batch, [rules.named(name) for name in names])
    for name, found in zip(names, parted[:, 0], strict=True):
        one = lines.apply_rule(frame, rules.named(name), **OPTIONS, resamples=200)[0]
        assert found == one.beats.any(), name


def test_halves_of_a_crowd_split_every_judgement_once():
    frame = ruled(2, systems=2, documents=60)
    frame["annotator"] = "a" + (frame.index % 24).astype(str)
    frame = frame.assign(z=frame["score"] / 10, segment=frame["doc"] + frame["segment"])
    batch = next(trials.halves(frame, campaigns=8, rng=np.random.default_rng(0)))
    raw = batch.tables["raw"]
    assert raw.weights.shape == (4, 24, 2)
    assert ((raw.weights > 0).sum(axis=(1, 2)) == 24).all()
    np.testing.assert_allclose(raw.weights.sum(axis=1), np.isfinite(raw.means).sum(axis=-1))
    np.testing.assert_allclose(raw.sums.sum(axis=1), np.nansum(raw.means, axis=-1))
