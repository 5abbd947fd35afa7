"""System scores and tests between systems as WMT has them, what is drawn anew, and moves between variants."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.human import ranking
from evalkit.human.ranking.scores import influences, segment_means
from evalkit.papers import wmt
from evalkit.show.plots import ranking as draw
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
    scores = ranking.system_scores(rated(SMALL)).set_index("system")
    assert scores["score"].to_dict() == {"A": 45.0, "B": 47.0}  # ((80 + 40) / 2 + 30) / 2
    assert scores["judgements"].to_dict() == {"A": 3, "B": 2}
    assert scores["rank"].to_dict() == {"A": 2, "B": 1}
    without = ranking.system_scores(rated(SMALL), item_types=("system",)).set_index("system")
    assert without.at["A", "score"] == 55.0


def test_moves_are_told_against_the_official_order():
    official = pd.DataFrame(
        [("B", "47.0", "4.7", 2), ("A", "45.1", "4.5", 3)], columns=["system", "raw", "z", "judgements"]
    )
    official = official.assign(segments=2, src_lang="eng", tgt_lang="deu")
    compared = wmt.compare_with_official(rated(SMALL), official, scale="raw").set_index("system")
    assert compared["equal"].to_dict() == {"B": True, "A": False}
    assert compared["moved"].to_dict() == {"B": -1, "A": 1}
    with pytest.raises(DataError, match="only one of"):
        wmt.compare_with_official(rated(SMALL), official.replace({"A": "C"}))


@settings(max_examples=10)
@given(st.permutations(SMALL), st.floats(0.1, 9), st.floats(-50, 50))
def test_order_of_rows_is_irrelevant_and_ranks_survive_a_change_of_scale(rows, gain, shift):
    plain, moved = ranking.system_scores(rated(SMALL)), rated(rows)
    moved["score"] = moved["score"] * gain + shift
    changed = ranking.system_scores(moved)
    assert changed["rank"].tolist() == plain["rank"].tolist()
    assert np.allclose(changed["score"], plain["score"] * gain + shift)


@given(st.integers(0, 3))
def test_zeros_taken_away_are_found_again(which):
    """Judgements of 0 that vanish from a file leave the official score within the bounds."""
    zeros = [("A", "1", "system", 0.0), ("A", "3", "system", 0.0), ("B", "4", "system", 0.0), ("B", "1", "repeat", 0.0)]
    full = rated([*SMALL, *zeros])
    gone = full.drop(index=len(SMALL) + which)
    true = ranking.system_scores(full)
    official = true.assign(raw=true["score"].round(1).astype(str), z="0", src_lang="eng", tgt_lang="deu")
    compared = wmt.compare_with_official(gone, official.drop(columns=["pair"]), scale="raw")
    told = wmt.explain_missing(gone, compared, scale="raw")
    assert len(told) == 1
    assert told["explained"].all()


# Tests between systems, cluster lines, uncertainty of ranks: against scipy, brute force, WMT's files and laws


def drawn(seed, *, systems=5, segments=40, levels=None, missing=0.2, step=0.25):
    """Draw systems × segments with gaps; few levels make ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=segments) + rng.normal(size=(systems, segments)) - step * np.arange(systems)[:, None]
    if levels:
        scores = np.round(scores * levels) / levels
    return np.where(rng.random(scores.shape) < missing, np.nan, scores)


def matched(scores, row):
    """Return both systems' scores on the segments that both have."""
    a, b = scores[int(row.better[1:])], scores[int(row.worse[1:])]
    both = np.isfinite(a) & np.isfinite(b)
    return a[both], b[both]


def own(scores, name):
    row = scores[int(name[1:])]
    return row[np.isfinite(row)]


@pytest.mark.parametrize(("segments", "levels"), [(40, None), (40, 2), (90, None), (90, 4)])
def test_every_test_equals_scipys_pair_by_pair(segments, levels):
    """Below 50 segments without ties both are exact, elsewhere both take the normal distribution."""
    scores = drawn(segments, segments=segments, levels=levels)
    exact = segments < 50 and levels is None
    method = "exact" if exact else "asymptotic"
    options = {"alternative": "greater", "method": method}
    for row in ranking.pairwise_tests(of_scores(scores)).itertuples():
        a, b = own(scores, row.better), own(scores, row.worse)
        assert row.p == pytest.approx(stats.mannwhitneyu(a, b, **options).pvalue, rel=1e-9)
        assert (row.wins, row.ties) == ((a[:, None] > b).sum(), (a[:, None] == b).sum())
        assert row.superiority == pytest.approx(stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)))
        assert row.difference == pytest.approx(a.mean() - b.mean())
    for row in ranking.pairwise_tests(of_scores(scores), test="wilcoxon").itertuples():
        a, b = matched(scores, row)
        told = stats.wilcoxon(a, b, correction=not exact, **options)
        assert row.p == pytest.approx(told.pvalue, rel=1e-9)
        assert (row.wins, row.ties, row.losses) == ((a > b).sum(), (a == b).sum(), (a < b).sum())
        assert row.n_better == row.n_worse == len(a)


def test_textbook_examples():
    """Hollander & Wolfe 1973, as R's help page of wilcox.test prints them (W = 35, p 0.1272; V = 40, p 0.01953)."""
    permeability = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    row = ranking.pairwise_tests(of_scores([permeability, [1.15, 0.88, 0.90, 0.74, 1.21, *[np.nan] * 5]])).iloc[0]
    assert (row["wins"], round(row["p"], 4)) == (35, 0.1272)
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    row = ranking.pairwise_tests(of_scores([before, after]), test="wilcoxon").iloc[0]
    assert (row["better"], round(row["p"], 5)) == ("S0", 0.01953)


def test_permutation_comes_close_to_all_signs():
    scores = drawn(3, systems=3, segments=12, missing=0.1)
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    found, again = (ranking.pairwise_tests(of_scores(scores), test="permutation", resamples=20_000) for _ in range(2))
    for row in found.itertuples():
        a, b = matched(scores, row)
        difference = np.r_[a - b, np.zeros(12 - len(a))]
        extreme = signs @ difference >= difference.sum() - 1e-9
        error = 4 * np.sqrt(extreme.mean() * (1 - extreme.mean()) / 20_000) + 1 / 20_000
        assert abs(row.p - extreme.mean()) <= error
    pd.testing.assert_frame_equal(found, again)


def test_holm_and_alpha_decide_what_is_significant():
    scores = drawn(5, segments=60)
    plain, corrected = (ranking.pairwise_tests(of_scores(scores), correction=how) for how in (None, "holm"))
    np.testing.assert_allclose(corrected["adjusted"], multipletests(plain["p"], method="holm")[1])
    assert (plain["significant"] == (plain["p"] < 0.05)).all()
    assert 0 < corrected["significant"].sum() < plain["significant"].sum()


@settings(max_examples=12)
@given(st.integers(0, 10_000), st.floats(0, 1), st.sampled_from(["all", "own"]))
def test_clusters_follow_from_the_wins(seed, step, line):
    judged = of_scores(drawn(seed, segments=30, step=step))
    table = ranking.significance_clusters(judged, line=line).set_index("system")
    won = ranking.pairwise_tests(judged).query("significant")
    assert table["wins"].to_dict() == {s: (won["better"] == s).sum() for s in table.index}
    assert table["losses"].to_dict() == {s: (won["worse"] == s).sum() for s in table.index}
    assert (table["rank_top"] <= table["rank"]).all()
    assert (table["rank"] <= table["rank_bottom"]).all()
    beats = {(a, b) for a, b in zip(won["better"], won["worse"], strict=True)}
    for k, name in enumerate(table.index[:-1]):
        ends = table["cluster"].iloc[k + 1] - table["cluster"].iloc[k]
        below = table.index[k + 1 :]
        above = table.index[: k + 1] if line == "all" else [name]
        assert ends == all((a, b) in beats for a in above for b in below)


def test_a_system_may_win_over_one_with_a_higher_mean_when_asked():
    """One disaster pulls the mean of the system that is better nearly everywhere."""
    rng = np.random.default_rng(1)
    steady = rng.normal(0, 1, 60)
    judged = of_scores([steady, np.r_[steady[:-1] + 0.9, -200]])
    plain = ranking.significance_clusters(judged).set_index("system")
    assert plain["rank"].to_dict() == {"S0": 1, "S1": 2}
    assert plain["wins"].sum() == 0
    told = ranking.significance_clusters(judged, upsets=True, line="own").set_index("system")
    assert told["wins"].to_dict() == {"S0": 0, "S1": 1}
    assert told["rank_top"].to_dict() == {"S0": 2, "S1": 1}


def test_wmt22s_published_p_values_wins_and_lines_come_out_to_their_last_digit(real):
    judged, printed = real("wmt22-mturk"), data.published("wmt22_pvalues")
    compared = wmt.compare_p_values(judged, printed)
    shown = compared.dropna(subset="official")
    assert len(shown) == len(printed) == compared["significant"].sum()
    assert shown["off"].max() < 1e-13
    compared = wmt.compare_clusters({"wmt22-mturk": judged}, data.published("wmt_clusters"))
    assert len(compared) == 73
    assert compared[["equal_wins", "equal_line"]].all(axis=None)


@pytest.mark.parametrize("test", ranking.TESTS)
def test_one_system_is_a_cluster_and_equal_ones_are_told_apart_by_nothing(test):
    alone = ranking.significance_clusters(of_scores([[1.0, 2, 3]]), test=test)
    assert alone[["cluster", "wins", "losses", "rank_top", "rank_bottom"]].values.tolist() == [[1, 0, 0, 1, 1]]
    same = ranking.pairwise_tests(of_scores(np.full((3, 9), 50.0)), test=test)
    assert same[["p", "superiority"]].values.tolist() == [[1, 0.5]] * 3
    assert ranking.significance_clusters(of_scores(np.full((3, 9), 50.0)), test=test)["cluster"].tolist() == [1, 1, 1]


def test_every_segment_counts_once_and_what_names_a_segment():
    judged = of_scores([[10, 30], [20, 20]])
    again = pd.concat([judged, judged[judged["segment"] == "001"]]).reset_index(drop=True)
    again = again.assign(annotator=[str(k) for k in range(len(again))])
    assert ranking.system_scores(again)["score"].tolist() == [20, 20]
    two = of_scores([[10, 30]], segment="1", doc=["d", "e"])
    assert ranking.system_scores(two)["segments"].tolist() == [2]
    assert ranking.system_scores(two, segment=("segment",))["segments"].tolist() == [1]


def test_missing_scores_are_left_out_and_rounding_makes_ties():
    scores = np.array([[1.0, 2.0, np.nan], [1 / 3, 1.0, 2.0]])
    judged = of_scores(np.nan_to_num(scores, nan=9)).assign(normalized=scores.ravel())
    assert ranking.system_scores(judged, score="normalized")["segments"].tolist() == [2, 3]
    means = segment_means(judged, score="normalized", digits=2)["eng-deu"].means
    assert means.tolist()[1] == [0.33, 1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda r: ranking.significance_clusters(r, test="sign"), "mann-whitney"),
        (lambda r: ranking.pairwise_tests(r, correction="bh"), "holm"),
        (lambda r: ranking.significance_clusters(r, line="some"), "least"),
        (lambda r: ranking.pairwise_tests(r, item_types=("reference",)), "item type reference"),
        (lambda r: ranking.pairwise_tests(r.assign(segment=r["system"] + r["segment"]), test="wilcoxon"), "S2 and S1"),
        (lambda r: ranking.rank_ranges(r, unit="topic"), "topic"),
        (lambda r: ranking.rank_ranges(r[r["system"].ne("S1") | r["segment"].eq("000")]), "known of S1"),
        (lambda r: ranking.resampled({}), "no variant"),
        (lambda r: ranking.resampled({"a": r, "b": r}, score={"a": "score"}), "variant b"),
        (lambda r: ranking.resampled({"a": r, "b": r[r["system"] != "S1"]}), "S1"),
        (lambda r: ranking.system_scores(r, score="z"), "column z"),
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


@pytest.mark.parametrize("seed", range(2))
def test_by_segments_it_is_the_paired_t_test(seed):
    judged = campaign(seed, gap=1.0)
    wide = judged.pivot(index="segment", columns="system", values="score")
    [found] = ranking.pairwise_tests(judged, test="t").to_dict("records")
    theirs = stats.ttest_rel(wide[found["better"]], wide[found["worse"]], alternative="greater")
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found["difference"] == pytest.approx(wide.mean()[found["better"]] - wide.mean()[found["worse"]])


@pytest.mark.parametrize("seed", range(2))
def test_by_annotators_who_judged_equally_much_it_is_the_t_test_of_their_differences(seed):
    judged = campaign(seed, taste=3.0)
    means = judged.pivot_table(index="annotator", columns="system", values="score")
    [found] = ranking.pairwise_tests(judged, test="t", unit="annotator").to_dict("records")
    theirs = stats.ttest_rel(means[found["better"]], means[found["worse"]], alternative="greater")
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_the_variance_of_a_difference_is_the_sandwich_clustered_by_annotator():
    """Unequal shares of the work: statsmodels' cluster-robust variance of a regression on the system."""
    judged = campaign(3, people=6, documents=24, taste=4.0).sample(frac=0.6, random_state=1)
    judged = judged.assign(segment=np.arange(len(judged)).astype("str"))  # each judgement a segment of its own
    table = segment_means(judged, unit="annotator")["eng-deu"]
    variance, freedom = influences([table]).spread()
    design = sm.add_constant((judged["system"] == "S1").astype(float))
    groups = pd.factorize(judged["annotator"])[0]
    fitted = sm.OLS(judged["score"], design).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False, "df_correction": False}
    )
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


def test_intervals_of_few_units_are_t_intervals():
    judged = campaign(7, taste=3.0)
    means = judged.pivot_table(index="annotator", columns="system", values="score")
    table = ranking.rank_ranges(judged, unit="annotator").set_index("system")
    for system, own in means.items():
        low, high = stats.t.interval(0.95, 5, own.mean(), stats.sem(own))
        assert table.loc[system, ["low", "high"]].tolist() == pytest.approx([low, high], rel=1e-9)


def together(campaigns):
    """Put campaigns into one table, each a language pair of its own, which are compared apart: a call for all."""
    return pd.concat([one.assign(tgt_lang=f"l{number}") for number, one in enumerate(campaigns)], ignore_index=True)


def test_campaigns_in_one_table_are_compared_as_if_each_were_alone():
    campaigns = [campaign(seed, taste=3.0, crossed=True) for seed in range(20)]
    for options in ({"unit": ("annotator", "doc")}, {}):
        alone = pd.concat([ranking.pairwise_tests(one, test="t", **options) for one in campaigns])
        found = ranking.pairwise_tests(together(campaigns), test="t", **options).set_index("pair")
        found = found.loc[[f"eng-l{number}" for number in range(20)]]
        assert found["better"].tolist() == alone["better"].tolist()
        assert found["p"].tolist() == alone["p"].tolist()


def test_equal_outputs_and_constant_differences():
    """No spread and no difference proves nothing; no spread with a difference proves no more than signs would."""
    judged = campaign(1)
    first = judged[judged["system"] == "S0"]
    same = pd.concat([first, first.assign(system="T")])
    assert ranking.pairwise_tests(same, test="t")["p"].tolist() == [1.0]
    ahead = pd.concat([first, first.assign(system="T", score=first["score"] + 1)])
    [row] = ranking.pairwise_tests(ahead, test="t", unit="annotator").to_dict("records")
    assert (row["better"], row["p"]) == ("T", pytest.approx(0.5**6))


def test_systems_without_a_common_segment_are_compared_as_independent():
    judged = campaign(2, documents=24, gap=2.0)
    odd = judged["segment"].astype(int) % 2 == 1
    apart = judged[(judged["system"] == "S0") == odd]
    [row] = ranking.pairwise_tests(apart, test="t").to_dict("records")
    one, other = (apart.loc[apart["system"] == name, "score"] for name in (row["better"], row["worse"]))
    error = np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    freedom = len(one) + len(other) - 2  # either has as many segments
    assert row["p"] == pytest.approx(stats.t.sf((one.mean() - other.mean()) / error, freedom))
    assert np.isnan(row["superiority"])


# Uncertainty of ranks and their moves between variants


@pytest.fixture(scope="module")
def turk():
    return simulate.stand_in("wmt22-mturk", seed=3)


@pytest.fixture(scope="module")
def variants(turk):
    rng = np.random.default_rng(1)
    noisy = turk.assign(score=turk["score"] + rng.normal(0, 40, len(turk)))
    return {"raw": turk, "twice": turk.assign(score=2 * turk["score"] + 3), "noisy": noisy}


def small(seed, *, systems=4, segments=30, step=0.3):
    """Draw systems that are ``step`` standard deviations apart, in documents of three segments."""
    spread = {"residual": 1.0, "segment": 0.0, "annotator": 0.0}
    sizes = {"systems": systems, "documents": segments // 3, "length": 3, "people": ["a"]}
    return ratings(seed, **sizes, gap=step, level=0, spread=spread, scale=None)


def test_annotators_bring_all_their_judgements():
    """Annotators share some segments: one brings each judgement with its share of the segment."""
    second = small(9).assign(annotator="b")[lambda f: f["segment"].astype(int) < 12]
    third = small(8).assign(annotator="c")[lambda f: f["segment"].astype(int) > 20]
    judged = pd.concat([small(3), second, third], ignore_index=True)
    shares = 1 / judged.groupby(["system", "segment"])["score"].transform("size")
    table = segment_means(judged, unit="annotator")["eng-deu"]
    [found] = influences([table]).sums.values()
    means = pd.Series(table.totals(), table.systems)
    weighed = shares / shares.groupby(judged["system"]).transform("sum")
    own = (judged["score"] - judged["system"].map(means)) * weighed
    again = own.groupby([judged["annotator"], judged["system"]]).sum().unstack()
    np.testing.assert_allclose(found, again.loc[table.units, table.systems], atol=1e-12)


def test_ranks_are_sure_where_systems_are_far_apart_and_open_where_they_are_equal():
    sure = ranking.rank_ranges(small(1, step=3))
    assert sure[["rank", "rank_low", "rank_high"]].eq(np.arange(1, 5)[:, None]).all(axis=None)
    assert sure["best"].tolist() == [1, 0, 0, 0]
    same = small(1, step=0).assign(score=lambda f: f.groupby("segment")["score"].transform("first"))
    tied = ranking.rank_ranges(same)
    assert tied[["rank", "rank_low", "rank_high", "best"]].eq(1).all(axis=None)


def test_a_change_of_units_moves_nothing(variants):
    moved = ranking.rank_shifts(ranking.resampled(variants, resamples=100)).query("variant == 'twice'")
    assert len(moved) == 7
    assert moved[["tau_b", "tau_b_low", "tau_b_high", "noise_share"]].eq(1).all(axis=None)
    assert moved[["moved", "beyond_noise", "cluster_changes"]].eq(0).all(axis=None)


def test_moves_are_those_of_the_single_rankings(variants):
    found = ranking.resampled(variants, resamples=50)
    table, moved = ranking.rankings(found), ranking.rank_shifts(found)
    single = {name: ranking.significance_clusters(frame) for name, frame in variants.items()}
    for (pair, variant), rows in table.groupby(["pair", "variant"], sort=False):
        alone = single[variant][single[variant]["pair"] == pair].set_index("system")
        rows = rows.set_index("system")
        columns = ["score", "rank", "cluster"]
        pd.testing.assert_frame_equal(rows[columns], alone.loc[rows.index, columns])
        first = table[(table["pair"] == pair) & (table["variant"] == "raw")].set_index("system").loc[rows.index]
        assert (rows["moved"] == first["rank"] - rows["rank"]).all()
        if variant != "raw":
            row = moved[(moved["pair"] == pair) & (moved["variant"] == variant)].iloc[0]
            assert row["tau_b"] == pytest.approx(stats.kendalltau(first["score"], rows["score"]).statistic)
            assert row["moved"] == rows["moved"].ne(0).sum()
            pairs = itertools.combinations(range(len(rows)), 2)
            signs = [np.sign(own["cluster"].to_numpy()[:, None] - own["cluster"].to_numpy()) for own in (first, rows)]
            assert row["cluster_changes"] == sum(signs[0][i, j] != signs[1][i, j] for i, j in pairs)
    assert table["moved"].ne(0).any()


def test_a_swap_beyond_noise_is_told_from_one_within():
    """The second variant lifts S3 to the top by far, and S1 over S0 by a hair that depends on the segments."""
    judged = small(4, segments=60, step=0)
    judged = judged.assign(score=judged["score"] - np.where(judged["system"] == "S3", 5, 0))
    plus = np.random.default_rng(2).normal(0.02, 1, 60)
    score = judged["score"] + np.where(judged["system"] == "S3", 9, 0)
    score += np.where(judged["system"] == "S1", plus[judged["segment"].astype(int)], 0)
    table = ranking.rankings(ranking.resampled({"before": judged, "after": judged.assign(score=score)}))
    after = table.query("variant == 'after'").set_index("system")
    assert after.at["S3", "rank"] == 1
    assert after["beyond_noise"].to_dict()["S3"]
    assert not after.at["S1", "beyond_noise"]


def test_noise_equals_a_loop():
    judged = small(6)
    other = judged.assign(score=judged["score"].sample(frac=1, random_state=3).to_numpy())
    row = ranking.rank_shifts(ranking.resampled({"a": judged, "b": other}, resamples=300, seed=11)).iloc[0]
    table = segment_means(judged)["eng-deu"]
    picks = np.random.default_rng(11).integers(0, 30, (300, 30))
    full = table.means.mean(axis=1)
    taus = [stats.kendalltau(table.means[:, chosen].mean(axis=1), full).statistic for chosen in picks]
    assert row["tau_b_noise"] == pytest.approx(np.median(taus))
    assert row["noise_share"] == np.mean(np.array(taus) <= row["tau_b"] + 1e-12)
    places = [(stats.rankdata(-table.means[:, chosen].mean(axis=1)) != stats.rankdata(-full)).sum() for chosen in picks]
    assert row["moved_noise"] == np.median(places)


def test_figures_are_drawn_of_pairs_that_there_are(variants):
    found = ranking.resampled(variants, resamples=50)
    ranked, moved = ranking.rankings(found), ranking.rank_shifts(found)
    pair, ranges = ranked["pair"].iloc[0], ranking.rank_ranges(variants["raw"], resamples=50)
    compared, grouped = (test(variants["raw"]) for test in (ranking.pairwise_tests, ranking.significance_clusters))
    draw.bump_chart(ranked, pair=pair)
    draw.win_matrix(compared, pair=pair)
    draw.rank_forest(ranges, pair=pair)
    assert len(draw.rank_forest(ranges, pair=pair, clustered=grouped).axes[0].collections) == 2
    draw.moves_strip(moved)
    with pytest.raises(DataError, match="xxx-yyy"):
        draw.bump_chart(ranked, pair="xxx-yyy")
