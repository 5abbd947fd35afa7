"""System scores as WMT computes them: by hand, by law, and to the digits of the official files."""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import laid_out, read
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.human import ranking
from evalkit.human.ranking.scores import segment_means


def ratings(rows):
    return laid_out(rows, "system segment item_type score").assign(z=lambda frame: frame["score"] / 10)


def campaign(scores, **columns):
    """Make ratings of a table systems × segments; missing scores are no rows."""
    return laid_out(scores, "system segment", **columns)


SMALL = [
    *(("A", "1", "system", 80.0), ("A", "1", "repeat", 40.0), ("A", "2", "system", 30.0), ("A", "2", "degraded", 0.0)),
    *(("B", "1", "system", 50.0), ("B", "2", "reference", 100.0), ("B", "2", "system", 44.0)),
]


def test_segments_are_averaged_before_systems_and_only_system_and_repeat_count():
    scores = ranking.system_scores(ratings(SMALL)).set_index("system")
    assert scores["score"].to_dict() == {"A": 45.0, "B": 47.0}  # ((80 + 40) / 2 + 30) / 2
    assert scores["judgements"].to_dict() == {"A": 3, "B": 2}
    assert scores["rank"].to_dict() == {"A": 2, "B": 1}
    without = ranking.system_scores(ratings(SMALL), item_types=("system",)).set_index("system")
    assert without.at["A", "score"] == 55.0


def test_moves_are_told_against_the_official_order():
    official = read("""
        system raw  z   segments judgements src_lang tgt_lang
        B      47.0 4.7 2        2          eng      deu
        A      45.1 4.5 2        3          eng      deu
    """)
    official = official.astype({"raw": "str", "z": "str"})  # as printed
    compared = ranking.compare_with_official(ratings(SMALL), official, scale="raw").set_index("system")
    assert compared["equal"].to_dict() == {"B": True, "A": False}
    assert compared["moved"].to_dict() == {"B": -1, "A": 1}
    with pytest.raises(DataError, match="only one of"):
        ranking.compare_with_official(ratings(SMALL), official.replace({"A": "C"}))


@given(st.permutations(SMALL), st.floats(0.1, 9), st.floats(-50, 50))
def test_order_of_rows_is_irrelevant_and_ranks_survive_a_change_of_scale(rows, gain, shift):
    plain, moved = ranking.system_scores(ratings(SMALL)), ratings(rows)
    moved["score"] = moved["score"] * gain + shift
    changed = ranking.system_scores(moved)
    assert changed["rank"].tolist() == plain["rank"].tolist()
    assert np.allclose(changed["score"], plain["score"] * gain + shift)


@given(st.integers(0, 3))
def test_zeros_taken_away_are_found_again(which):
    """Judgements of 0 that vanish from a file leave the official score within the bounds."""
    zeros = [("A", "1", "system", 0.0), ("A", "3", "system", 0.0), ("B", "4", "system", 0.0), ("B", "1", "repeat", 0.0)]
    full = ratings([*SMALL, *zeros])
    gone = full.drop(index=len(SMALL) + which)
    true = ranking.system_scores(full)
    official = true.assign(raw=true["score"].round(1).astype(str), z="0", src_lang="eng", tgt_lang="deu")
    compared = ranking.compare_with_official(gone, official.drop(columns=["pair"]), scale="raw")
    told = ranking.explain_missing(gone, compared, scale="raw")
    assert len(told) == 1
    assert told["explained"].all()


@pytest.mark.parametrize(
    ("year", "scale", "equal", "pairs_that_differ"),
    [
        (21, "z", 80, set()),
        (21, "raw", 77, {"deu-eng"}),
        (22, "z", 68, {"deu-eng", "jpn-eng"}),
        (22, "raw", 58, {"deu-eng", "jpn-eng"}),
    ],
)
def test_official_rankings_come_out_to_the_printed_digits(year, scale, equal, pairs_that_differ, real):
    rated, official = real(f"wmt{year}-mturk"), real(f"wmt{year}-mturk-ranking")
    compared = ranking.compare_with_official(rated, official, scale=scale)
    assert compared["equal"].sum() == equal
    wrong = compared[~compared["equal"]]
    assert set(wrong["pair"]) == pairs_that_differ
    complete = compared["judgements"] == compared["official_judgements"]
    assert compared.loc[complete, "equal"].all(), "whatever differs lacks judgements"
    assert ranking.explain_missing(rated, compared, scale=scale)["explained"].all()


# Tests between systems, cluster lines, uncertainty of ranks: against scipy, brute force, WMT's files and laws


@pytest.fixture(scope="module")
def wmt(real):
    """Load a year's judgements once for all tests here."""
    return functools.cache(lambda year: real(f"wmt{year}-mturk"))


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
    for row in ranking.pairwise_tests(campaign(scores)).itertuples():
        a, b = own(scores, row.better), own(scores, row.worse)
        assert row.p == pytest.approx(stats.mannwhitneyu(a, b, **options).pvalue, rel=1e-9)
        assert (row.wins, row.ties) == ((a[:, None] > b).sum(), (a[:, None] == b).sum())
        assert row.superiority == pytest.approx(stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)))
        assert row.difference == pytest.approx(a.mean() - b.mean())
    for row in ranking.pairwise_tests(campaign(scores), test="wilcoxon").itertuples():
        a, b = matched(scores, row)
        told = stats.wilcoxon(a, b, correction=not exact, **options)
        assert row.p == pytest.approx(told.pvalue, rel=1e-9)
        assert (row.wins, row.ties, row.losses) == ((a > b).sum(), (a == b).sum(), (a < b).sum())
        assert row.n_better == row.n_worse == len(a)


def test_textbook_examples():
    """Hollander & Wolfe 1973, as R's help page of wilcox.test prints them (W = 35, p 0.1272; V = 40, p 0.01953)."""
    permeability = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46]
    row = ranking.pairwise_tests(campaign([permeability, [1.15, 0.88, 0.90, 0.74, 1.21, *[np.nan] * 5]])).iloc[0]
    assert (row["wins"], round(row["p"], 4)) == (35, 0.1272)
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    row = ranking.pairwise_tests(campaign([before, after]), test="wilcoxon").iloc[0]
    assert (row["better"], round(row["p"], 5)) == ("S0", 0.01953)


def test_signed_ranks_of_darwins_maize():
    """Fisher's pairs of plants (The Design of Experiments, 1935), in eighths of an inch, and all choices of signs."""
    crossed = [188, 96, 168, 176, 153, 172, 177, 163, 146, 173, 186, 168, 177, 184, 96]
    selfed = [139, 163, 160, 160, 147, 149, 149, 122, 132, 144, 130, 144, 102, 124, 144]
    row = ranking.pairwise_tests(campaign([crossed, selfed]), test="wilcoxon").iloc[0]
    difference = np.subtract(crossed, selfed)
    ranks = stats.rankdata(np.abs(difference))
    sums = np.array(list(itertools.product([0, 1], repeat=len(ranks)))) @ ranks
    observed = ranks[difference > 0].sum()
    assert observed == 96
    assert row["p"] == pytest.approx((sums >= observed).mean(), rel=1e-12)


def test_permutation_comes_close_to_all_signs():
    scores = drawn(3, systems=3, segments=12, missing=0.1)
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    found, again = (ranking.pairwise_tests(campaign(scores), test="permutation", resamples=20_000) for _ in range(2))
    for row in found.itertuples():
        a, b = matched(scores, row)
        difference = np.r_[a - b, np.zeros(12 - len(a))]
        extreme = signs @ difference >= difference.sum() - 1e-9
        error = 4 * np.sqrt(extreme.mean() * (1 - extreme.mean()) / 20_000) + 1 / 20_000
        assert abs(row.p - extreme.mean()) <= error
    pd.testing.assert_frame_equal(found, again)


def test_holm_and_alpha_decide_what_is_significant():
    scores = drawn(5, segments=60)
    plain, corrected = (ranking.pairwise_tests(campaign(scores), correction=how) for how in (None, "holm"))
    np.testing.assert_allclose(corrected["adjusted"], multipletests(plain["p"], method="holm")[1])
    assert (plain["significant"] == (plain["p"] < 0.05)).all()
    assert (corrected["significant"] == (corrected["adjusted"] < 0.05)).all()
    assert 0 < corrected["significant"].sum() < plain["significant"].sum()
    assert ranking.pairwise_tests(campaign(scores), alpha=1e-12)["significant"].sum() == 0


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.floats(0, 1), st.sampled_from(["all", "own"]))
def test_clusters_follow_from_the_wins(seed, step, line):
    ratings = campaign(drawn(seed, segments=30, step=step))
    table = ranking.significance_clusters(ratings, line=line).set_index("system")
    won = ranking.pairwise_tests(ratings).query("significant")
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


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.floats(0.1, 9), st.floats(-50, 50))
def test_a_change_of_scale_and_the_order_of_rows_change_no_line(seed, gain, shift):
    ratings = campaign(drawn(seed, levels=3))
    other = ratings.sample(frac=1, random_state=seed).assign(score=lambda f: np.round(f["score"] * gain + shift, 9))
    columns = ["system", "rank", "cluster", "rank_top", "rank_bottom"]
    one, two = (ranking.significance_clusters(frame)[columns] for frame in (ratings, other))
    pd.testing.assert_frame_equal(
        one.sort_values("system", ignore_index=True), two.sort_values("system", ignore_index=True)
    )


def test_a_system_may_win_over_one_with_a_higher_mean_when_asked():
    """One disaster pulls the mean of the system that is better nearly everywhere."""
    rng = np.random.default_rng(1)
    steady = rng.normal(0, 1, 60)
    ratings = campaign([steady, np.r_[steady[:-1] + 0.9, -200]])
    plain = ranking.significance_clusters(ratings).set_index("system")
    assert plain["rank"].to_dict() == {"S0": 1, "S1": 2}
    assert plain["wins"].sum() == 0
    told = ranking.significance_clusters(ratings, with_upsets=True, line="own").set_index("system")
    assert told["wins"].to_dict() == {"S0": 0, "S1": 1}
    assert told["rank_top"].to_dict() == {"S0": 2, "S1": 1}


def test_wmt22s_published_p_values_come_out_to_their_last_digit(wmt):
    printed = data.published("wmt22_pvalues")
    compared = ranking.compare_p_values(wmt(22), printed)
    shown = compared.dropna(subset="official")
    assert len(shown) == len(printed) == compared["significant"].sum()
    assert set(compared["pair"]) == set(printed["pair"])
    assert shown["off"].max() < 1e-13
    assert compared.loc[compared["official"].isna(), "p"].min() >= 0.05, "what is not printed is not significant"
    unrounded = ranking.pairwise_tests(wmt(22), score="z").merge(shown, on=["pair", "better", "worse"])
    assert (unrounded["p_x"] / unrounded["p_y"] - 1).abs().max() > 1e-3, "the digits of the files decide on ties"


@pytest.mark.parametrize("year", [21, 22])
def test_published_wins_and_lines_come_out_for_every_system(year, wmt):
    published = data.published("wmt_clusters")
    compared = ranking.compare_clusters({f"wmt{year}-mturk": wmt(year)}, published)
    assert len(compared) == {21: 80, 22: 73}[year]
    assert compared["equal_wins"].all()
    assert compared["equal_line"].all()
    other = compared[compared["line_all"] != compared["official_line"]]
    assert other[["pair", "system"]].values.tolist() == {21: [["deu-eng", "UF.15"]], 22: []}[year]


def test_simulated_ratings_are_held_against_nothing():
    published = data.published("wmt_clusters")
    simulated = simulate.wmt22_mturk()
    assert ranking.compare_clusters({"wmt22-mturk": simulated}, published).empty
    assert ranking.compare_p_values(simulated, data.published("wmt22_pvalues")).empty


@pytest.mark.parametrize("test", ranking.TESTS)
def test_one_system_is_a_cluster_and_equal_ones_are_told_apart_by_nothing(test):
    alone = ranking.significance_clusters(campaign([[1.0, 2, 3]]), test=test)
    assert alone[["cluster", "wins", "losses", "rank_top", "rank_bottom"]].values.tolist() == [[1, 0, 0, 1, 1]]
    same = ranking.pairwise_tests(campaign(np.full((3, 9), 50.0)), test=test)
    assert same[["p", "superiority"]].values.tolist() == [[1, 0.5]] * 3
    assert ranking.significance_clusters(campaign(np.full((3, 9), 50.0)), test=test)["cluster"].tolist() == [1, 1, 1]


def test_every_segment_counts_once_and_what_names_a_segment():
    ratings = campaign([[10, 30], [20, 20]])
    again = pd.concat([ratings, ratings[ratings["segment"] == "001"]]).reset_index(drop=True)
    again = again.assign(annotator=[str(k) for k in range(len(again))])
    assert ranking.system_scores(again)["score"].tolist() == [20, 20]
    assert ranking.system_scores(again)["rank"].tolist() == [1, 1]
    two = campaign([[10, 30]], segment="1", doc=["d", "e"])
    assert ranking.system_scores(two)["segments"].tolist() == [2]
    assert ranking.system_scores(two, segment=("segment",))["segments"].tolist() == [1]


def test_missing_scores_are_left_out_and_rounding_makes_ties():
    scores = np.array([[1.0, 2.0, np.nan], [1 / 3, 1.0, 2.0]])
    ratings = campaign(np.nan_to_num(scores, nan=9)).assign(normalized=scores.ravel())
    table = ranking.system_scores(ratings, score="normalized")
    assert table["segments"].tolist() == [2, 3]
    assert table["judgements"].tolist() == [2, 3]
    means = segment_means(ratings, score="normalized", digits=2)["eng-deu"].means
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
        (lambda r: ranking.rank_ranges(r[r["system"].ne("S1") | r["segment"].eq("000")]), "no judgement of S1"),
        (lambda r: ranking.resampled({}), "no variant"),
        (lambda r: ranking.resampled({"a": r, "b": r}, score={"a": "score"}), "variant b"),
        (lambda r: ranking.resampled({"a": r, "b": r[r["system"] != "S1"]}), "S1"),
        (lambda r: ranking.system_scores(r, score="z"), "column z"),
    ],
)
def test_problems_are_named(call, word):
    with pytest.raises(DataError, match=word):
        call(campaign(np.arange(24.0).reshape(3, 8)))
