"""Uncertainty of ranks and their moves between variants: against plain loops, closed forms and laws."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import ratings
from scipy import stats

from evalkit import DataError
from evalkit.data import simulate
from evalkit.human import ranking
from evalkit.human.ranking.drawn import draws
from evalkit.human.ranking.movement import cluster_changes
from evalkit.human.ranking.scores import segment_means
from evalkit.show.plots import ranking as draw


@pytest.fixture(scope="module")
def turk():
    return simulate.wmt22_mturk(seed=3)


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


def test_draws_equal_a_loop_over_drawn_segments():
    """The same draws, written out: segments are repeated as often as drawn, gaps stay gaps."""
    judged = small(2).drop(index=[40, 41, 100])  # the first system keeps all, hence the order
    for unit, size in (("doc", 10), (None, 30)):
        table = segment_means(judged, unit=unit)["eng-deu"]
        drawn = draws("eng-deu", [table], resamples=7, rng=np.random.default_rng(5))[0]
        picks = np.random.default_rng(5).integers(0, size, (7, size))
        units = np.arange(30) // 3 if unit else np.arange(30)
        for row, chosen in zip(drawn, picks, strict=True):
            columns = np.concatenate([np.flatnonzero(units == one) for one in chosen])
            np.testing.assert_allclose(row, np.nanmean(table.means[:, columns], axis=1), rtol=1e-12)


def test_annotators_are_drawn_with_all_their_judgements():
    """Two annotators share some segments: a drawn one brings each judgement with its share of the segment."""
    second = small(9).assign(annotator="b")[lambda f: f["segment"].astype(int) < 12]
    third = small(8).assign(annotator="c")[lambda f: f["segment"].astype(int) > 20]
    judged = pd.concat([small(3), second, third], ignore_index=True)
    shares = 1 / judged.groupby(["system", "segment"])["score"].transform("size")
    table = segment_means(judged, unit="annotator")["eng-deu"]
    drawn = draws("eng-deu", [table], resamples=9, rng=np.random.default_rng(5))[0]
    for row, chosen in zip(drawn, np.random.default_rng(5).integers(0, 3, (9, 3)), strict=True):
        parts = [judged[judged["annotator"] == "abc"[k]].assign(share=shares) for k in chosen]
        again = pd.concat(parts).assign(weighed=lambda f: f["score"] * f["share"]).groupby("system")
        np.testing.assert_allclose(row, again["weighed"].sum() / again["share"].sum(), rtol=1e-12)
    plain, by_name = (ranking.rank_ranges(judged, unit=unit, resamples=40) for unit in (None, "segment"))
    pd.testing.assert_frame_equal(plain, by_name)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000), st.sampled_from([None, "doc", "annotator", "segment"]))
def test_sums_by_unit_add_up_to_the_scores(seed, unit):
    judged = small(seed).sample(400, replace=True, random_state=seed)
    judged = judged.assign(annotator=np.random.default_rng(seed).integers(0, 5, len(judged)).astype(str))
    table = segment_means(judged, unit=unit)["eng-deu"]
    np.testing.assert_allclose(table.sums.sum(axis=0) / table.weights.sum(axis=0), table.totals(), rtol=1e-12)


def test_the_interval_of_a_mean_is_that_of_theory():
    """Percentiles of 4,000 draws lie within 4 of their standard errors of mean ± 1.96 sd/√n."""
    judged = small(1, segments=400)
    table = ranking.rank_ranges(judged, resamples=4000).set_index("system")
    scores = judged.groupby("system")["score"]
    error = scores.std(ddof=0) / np.sqrt(400)
    assert (np.abs(table["high"] - table["score"] - 1.96 * error) < 0.15 * error).all()
    assert (np.abs(table["score"] - table["low"] - 1.96 * error) < 0.15 * error).all()
    np.testing.assert_allclose(table["score"], scores.mean().loc[table.index])


def test_ranks_are_sure_where_systems_are_far_apart_and_open_where_they_are_equal():
    sure = ranking.rank_ranges(small(1, step=3))
    assert sure[["rank", "rank_low", "rank_high"]].eq(np.arange(1, 5)[:, None]).all(axis=None)
    assert sure["best"].tolist() == [1, 0, 0, 0]
    same = small(1, step=0).assign(score=lambda f: f.groupby("segment")["score"].transform("first"))
    tied = ranking.rank_ranges(same)
    assert tied[["rank", "rank_low", "rank_high", "best"]].eq(1).all(axis=None)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=8))
def test_cluster_changes_count_pairs_of_systems(pairs):
    one, other = np.array(pairs).T
    loop = sum(np.sign(one[i] - one[j]) != np.sign(other[i] - other[j]) for i in range(len(one)) for j in range(i))
    assert cluster_changes(one, other) == cluster_changes(other, one) == loop
    assert cluster_changes(one, one) == 0


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
            assert row["beyond_noise"] == (rows["beyond_noise"] & rows["moved"].ne(0)).sum()
            assert row["cluster_changes"] == cluster_changes(first["cluster"].to_numpy(), rows["cluster"].to_numpy())
            assert (row["clusters"], row["clusters_first"]) == (rows["cluster"].max(), first["cluster"].max())
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
    moved = ranking.rank_shifts(ranking.resampled({"before": judged, "after": judged.assign(score=score)})).iloc[0]
    again = ranking.rank_shifts(ranking.resampled({"before": judged, "same": judged})).iloc[0]
    assert moved["tau_b"] < again["tau_b"] == 1
    assert again["noise_share"] == 1


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


def test_columns_may_differ_between_variants(turk):
    both = {"raw": turk, "z": turk}
    one = ranking.rankings(ranking.resampled(both, score={"raw": "score", "z": "z"}, resamples=20))
    alone = ranking.system_scores(turk, score="z").set_index(["pair", "system"])["score"]
    told = one.query("variant == 'z'").set_index(["pair", "system"])["score"]
    np.testing.assert_allclose(told.sort_index(), alone.sort_index())


def test_figures_hold_the_tables_values(variants):
    found = ranking.resampled(variants, resamples=50)
    ranked, moved = ranking.rankings(found), ranking.rank_shifts(found)
    pair, ranges = ranked["pair"].iloc[0], ranking.rank_ranges(variants["raw"], resamples=50)
    compared, grouped = (test(variants["raw"]) for test in (ranking.pairwise_tests, ranking.significance_clusters))
    rows = ranges[ranges["pair"] == pair]
    assert len(draw.bump_chart(ranked, pair=pair).axes[0].lines) == len(rows)
    texts = [text.get_text() for text in draw.win_matrix(compared, pair=pair).axes[0].texts[:-1]]
    assert texts == [f"{100 * p:.0f}" for p in compared.loc[compared["pair"] == pair, "superiority"]]
    assert list(draw.rank_forest(ranges, pair=pair).axes[0].lines[0].get_xdata()) == list(rows["rank"])
    assert len(draw.rank_forest(ranges, pair=pair, clustered=grouped).axes[0].collections) == 2
    drawn = sorted(x for line in draw.moves_strip(moved).axes[0].lines[:2] for x in line.get_xdata())
    np.testing.assert_allclose(drawn, sorted(moved["tau_b"]))


def test_dollar_signs_are_drawn_as_such_and_unknown_pairs_are_named(variants):
    hostile = {name: frame.assign(system=frame["system"] + r"$\frac{1}$") for name, frame in variants.items()}
    ranked = ranking.rankings(ranking.resampled(hostile, resamples=20))
    figure = draw.bump_chart(ranked, pair=ranked["pair"].iloc[0])
    figure.canvas.draw()  # an unclosed equation would raise here
    with pytest.raises(DataError, match="xxx-yyy"):
        draw.bump_chart(ranked, pair="xxx-yyy")
