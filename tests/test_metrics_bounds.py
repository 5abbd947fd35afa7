"""People and metrics that know nothing as contestants: plain formulas, and laws that any contest keeps."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge

from evalkit import DataError
from evalkit.data import simulate
from evalkit.human import protocols
from evalkit.metrics import bounds, rankings, scores, statistics
from tests.makers import metric_scores, named_scores


@pytest.fixture(scope="module")
def tables():
    judged, released = simulate.stand_in("wmt23-protocols"), simulate.stand_in("wmt23-protocols-released")
    scored = protocols.scores(judged, released, simulate.stand_in("wmt23-human"))
    metrics = simulate.stand_in("wmt23-metrics")
    few = metrics[metrics["metric"].isin(["sim-metric-05", "sim-metric-40"])]
    return scored, few, simulate.stand_in("wmt23-outputs")


@pytest.fixture(scope="module")
def entered(tables):
    return bounds.contest(*tables)


def plain(scored, name, gold):
    """Read two collections' scores, systems × segments, out of the long table by dictionaries."""
    parts = {}
    for one in {*bounds.TWO.get(name, (name,)), *bounds.TWO.get(gold, (gold,))}:
        rows = scored[(scored["protocol"] == one) & (scored["item_type"] == "system")]
        parts[one] = {(r.system, r.segment): r.score for r in rows.itertuples()}
    shared = set.intersection(*(set(part) for part in parts.values()))
    systems = sorted({system for system, _ in shared})
    segments = [s for s in sorted({segment for _, segment in shared}) if all((one, s) in shared for one in systems)]

    def grid(which):
        own = [parts[one] for one in bounds.TWO.get(which, (which,))]
        return np.array([[np.mean([part[one, s] for part in own]) for s in segments] for one in systems])

    return grid(name), grid(gold)


@pytest.mark.parametrize(("person", "gold"), [("ESA-1", "WMT-MQM"), ("ESAAI-1 + ESAAI-2", "ESA-1 + ESA-2")])
def test_people_come_to_what_plain_formulas_say(tables, person, gold):
    found, _ = bounds.ceiling({gold: bounds.contest(*tables, gold=gold)}, resamples=2)
    value = found[found["contestant"] == person].set_index("statistic")["value"]
    own, best = plain(tables[0], person, gold)
    assert own.shape[1] == bounds.contest(*tables).segments.human.shape[1]
    assert value["segment Pearson"] == pytest.approx(stats.pearsonr(own.ravel(), best.ravel()).statistic)
    assert value["system Pearson"] == pytest.approx(stats.pearsonr(own.mean(1), best.mean(1)).statistic)
    within = [stats.kendalltau(x, y).statistic for x, y in zip(own.T, best.T, strict=True)]
    assert value["segment Kendall b by item"] == pytest.approx(np.nanmean(within))
    i, j = np.triu_indices(len(own), 1)
    one, other = own.mean(1), best.mean(1)
    assert value["system accuracy"] == np.mean(np.sign(one[i] - one[j]) == np.sign(other[i] - other[j]))


def test_a_segment_that_one_contestant_left_out_is_out_for_all(tables, entered):
    scored, metrics, outputs = tables
    kept = entered.segments.segments[0].rsplit(":", 1)[1]
    gone = (metrics["metric"] == "sim-metric-05") & (metrics["segment"] == kept) & (metrics["src_lang"] == "eng")
    one = gone & (metrics["system"] == entered.segments.systems[3])
    assert one.sum() == 1
    fewer = bounds.contest(scored, metrics[~one], outputs)
    assert set(entered.segments.segments) - set(fewer.segments.segments) == {entered.segments.segments[0]}


def test_random_and_constant_scores_are_those_of_chance(entered):
    found, _ = bounds.ceiling({"WMT-MQM": entered}, resamples=2)
    found = found.set_index(["contestant", "statistic"])
    expected = (
        bounds.chance_levels(entered.segments).assign(name=lambda t: rankings.label(t)).set_index(["metric", "name"])
    )
    for name in ("segment acc_eq", "SPA", "segment Pearson"):
        assert found.loc[("random", name), "value"] == expected.loc[("random", name), "value"]
    assert ("constant", "segment Pearson") not in found.index
    tied = bounds.tied(entered)["WMT-MQM"]
    assert found.loc[("constant", "segment acc_eq"), "value"] == pytest.approx(tied)


def test_a_metric_passes_only_where_the_paired_difference_says_so(entered):
    table, passed = bounds.ceiling({"WMT-MQM": entered}, resamples=200)
    found = passed.query("statistic == 'segment acc_eq'").reset_index(drop=True)
    rows, drawn = statistics.draws(entered.segments, resamples=200, unit="document")
    place = {row.metric: row.Index for row in rows.itertuples() if row.statistic == "acc_eq"}
    value = table[table["statistic"] == "segment acc_eq"].set_index("contestant")["value"]
    metrics = [name for name, kind in entered.kinds.items() if kind == "metric"]
    for row in found.itertuples():
        own = drawn[:, place[row.person]]
        lows = [np.percentile(drawn[:, place[name]] - own, 2.5) for name in metrics]
        assert (row.metrics, row.surely) == (len(metrics), sum(low > 0 for low in lows))
        assert row.surely <= row.above <= row.metrics
        assert row.difference == pytest.approx(value[row.best] - row.value)
    best = bounds.leaders(found)
    assert (best.groupby("kind")["value"].max() == found.groupby("kind")["value"].max()).all()


def test_contests_of_several_golds_stand_in_one_table_people_first_and_the_best_first(tables):
    contests = {gold: bounds.contest(*tables, gold=gold) for gold in ("WMT-MQM", "MQM-1")}
    found, passed = bounds.ceiling(contests, resamples=20, flips=20)
    kinds = list(bounds.KINDS)
    for _, own in found.groupby(["gold", "statistic"]):
        assert list(own["kind"].map(kinds.index)) == sorted(own["kind"].map(kinds.index))
        assert all(part["value"].is_monotonic_decreasing for _, part in own.groupby("kind"))
    for gold, one in contests.items():
        alone = bounds.ceiling({gold: one}, resamples=20, flips=20)
        for whole, part in zip((found, passed), alone, strict=True):
            pd.testing.assert_frame_equal(whole[whole["gold"] == gold].reset_index(drop=True), part)


@given(st.floats(0.1, 50), st.floats(-100, 100))
@settings(max_examples=4, deadline=None)
def test_the_scale_of_a_persons_scores_does_not_matter(entered, slope, shift):
    segments = replace(entered.segments, values=np.round(slope * entered.segments.values + shift, 6))
    both = {"plain": entered, "turned": bounds.Contest(segments, entered.kinds)}
    found = bounds.ceiling(both, resamples=2)[0].query("statistic in ['system Pearson', 'segment Pearson']")
    wide = found.pivot(index=["contestant", "statistic"], columns="gold", values="value")
    assert wide["turned"].to_numpy() == pytest.approx(wide["plain"].to_numpy(), abs=1e-4)


def test_what_cannot_be_is_refused(tables, entered):
    scored, metrics, outputs = tables
    fewer = metrics[metrics["system"] != metrics["system"].iloc[0]]
    for words, call in {
        "'page'": lambda: statistics.bootstrap(entered.segments, resamples=2, unit="page"),
        "'BLEU'": lambda: bounds.contest(*tables, gold="BLEU"),
        "whole systems": lambda: bounds.measures(named_scores(np.ones((1, 2)), np.ones(2))),
        "No segment": lambda: bounds.contest(scored, fewer, outputs),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


@pytest.mark.slow
def test_on_the_real_collections_a_hundred_and_fifty_six_segments_are_whole(real):
    judged, released, human = (real(f"wmt23-{name}") for name in ("protocols", "protocols-released", "human"))
    scored = protocols.scores(judged, released, human)
    found = bounds.contest(scored, real("wmt23-metrics"), real("wmt23-outputs"))
    assert found.segments.values.shape == (52, 12, 156)
    kinds = {"metric": 43, "one person": 6, "two people": 2, "knows nothing": 1}
    assert pd.Series(found.kinds).value_counts().to_dict() == kinds


# --- sentinels ---


def test_a_cross_validated_ridge_is_scikit_learns_and_never_sees_its_own_document():
    rng = np.random.default_rng(5)
    inputs, documents = rng.normal(size=(40, 3)), [f"d{n // 4}" for n in range(40)]
    target = inputs @ [1.0, -2, 0.5] + rng.normal(size=40)
    target[7] = np.nan
    found = bounds.cross_validated(inputs, target, documents)
    part = np.array([int(name[1:]) for name in documents]) % 5
    train = (part != 2) & np.isfinite(target)
    scaled = (inputs - inputs[train].mean(axis=0)) / inputs[train].std(axis=0)
    model = Ridge(alpha=1.0).fit(scaled[train], target[train])
    assert found[part == 2] == pytest.approx(model.predict(scaled[part == 2]), abs=1e-9)
    other = np.where(np.array(documents) == "d3", target + 50, target)
    again = bounds.cross_validated(inputs, other, documents)
    assert again[12:16] == pytest.approx(found[12:16], abs=1e-12)
    assert not np.allclose(again, found)
    assert np.isnan(bounds.cross_validated(inputs, target, ["one"] * 40)).all()


def texts(systems=4, segments=12):
    """Translations whose sources get longer, and human scores that fall with the length of the source."""
    rows = [
        (f"s{i}", f"d{j // 2}", str(j), "word " * (1 + j % 6), f"{'x' * (i + j)} {j}")
        for i, j in itertools.product(range(systems), range(segments))
    ]
    outputs = pd.DataFrame(rows, columns=["system", "doc", "segment", "source", "hypothesis"])
    outputs = outputs.assign(src_lang="eng", tgt_lang="deu")
    score = -outputs["source"].str.len() + np.random.default_rng(2).normal(size=len(outputs))
    return outputs, outputs.drop(columns=["source", "hypothesis"]).assign(metric="mqm", score=score)


def test_sentinels_see_one_side_and_fool_statistics_over_all_segments_but_none_within():
    outputs, people = texts()
    blind = bounds.sentinels(outputs, people)
    assert set(blind["metric"]) == {"source length", "length", "source only", "output only"}
    for name in ("source length", "source only"):
        own = blind[blind["metric"] == name]
        assert (own.groupby("segment")["score"].nunique() == 1).all(), "a source has one score"
    aligned = scores.align(blind, people, data="x")
    found = bounds.every_grouping(aligned, {f"d{n}": "news" if n < 3 else "chat" for n in range(6)})
    assert set(found["level"]) == {"system", "segment", "document", "domain"}
    weak = found.assign(value=0.3)[found["metric"] == "length"].assign(metric="real")
    floor = bounds.beaten(weak, found).set_index([*bounds.STATISTIC, "sentinel"])
    assert floor.loc[("segment", "pearson", "none", "source length"), "above"] == 1
    assert floor.loc[("segment", "pearson", "item", "source length"), ["value", "share"]].tolist() == [0, 0]
    alone = bounds.every_grouping(metric_scores(1, (3, 6), length=1), {f"d{n}": "news" for n in range(6)})
    assert set(alone["level"]) == {"system", "segment"}, "a document a segment and one domain say nothing new"


# --- whether a judge's scores mean what people's do ---

JUDGES = ("GEMBA-MQM", "other")
OWN_UNIT = {"same_unit": ["GEMBA-MQM"]}


def judged(seed, *, documents=8, missing=0.1):
    """Draw whole numbers below 0 of five systems in documents of four segments."""
    rng = np.random.default_rng(seed)
    human = -rng.integers(0, 6, (5, 4 * documents)).astype(float)
    values = np.round(0.5 * human - 2 + rng.normal(0, 1, (2, *human.shape)))
    for side in (values, human):
        side[rng.random(side.shape) < missing] = np.nan
    return named_scores(values, human, length=4, metrics=JUDGES)


def value_of(scores, metric="GEMBA-MQM"):
    found = bounds.measures(scores, **OWN_UNIT, resamples=2)
    return found[found["metric"] == metric].set_index("measure")["value"]


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_every_measure_is_what_scipy_and_a_plain_loop_make_of_it(seed):
    scores = judged(seed)
    value, x, y = value_of(scores), scores.values[0], scores.human
    there = np.isfinite(x) & np.isfinite(y)
    line = stats.linregress(y[there], x[there])
    assert value["bias"] == pytest.approx(x[there].mean() - y[there].mean())
    assert value["spread"] == pytest.approx(x[there].std(ddof=1) / y[there].std(ddof=1))
    assert value["slope"] == pytest.approx(line.slope)
    both = [there[a] & there[b] for a, b in itertools.combinations(range(5), 2)]
    tied, people = (
        np.concatenate([(side[a] == side[b])[kept] for (a, b), kept in zip(itertools.combinations(range(5), 2), both)])
        for side in (x, y)
    )
    assert value["ties"] == pytest.approx(tied.mean())
    assert value["more ties"] == pytest.approx(tied.mean() - people.mean())
    assert set(value_of(scores, "other").index).isdisjoint({"bias", "spread", "slope"})
    assert bounds.measures(scores, resamples=2)["cells"].iloc[0] == there.sum()


@given(st.integers(0, 10**6), st.floats(0.1, 9), st.floats(-20, 20))
@settings(max_examples=15, deadline=None)
def test_a_shift_is_bias_and_a_stretch_is_spread_and_neither_is_anything_else(seed, by, shift):
    scores = judged(seed)
    one, other = value_of(scores), value_of(replace(scores, values=by * scores.values + shift))
    mean = np.nanmean(np.where(scores.judged, scores.values[0], np.nan))
    assert other["bias"] - one["bias"] == pytest.approx((by - 1) * mean + shift, abs=1e-6)
    for name in ("spread", "slope"):
        assert other[name] == pytest.approx(by * one[name], abs=1e-6)
    for name in ("drift", "more drift"):
        assert other[name] == pytest.approx(one[name], abs=1e-6)
    turned = replace(scores, values=scores.values[:, ::-1], human=scores.human[::-1])
    assert value_of(turned).to_numpy() == pytest.approx(one.to_numpy())


def test_who_copies_people_is_calibrated():
    scores = judged(3, missing=0)
    copy = replace(scores, metrics=("GEMBA-MQM",), values=scores.human[None])
    found = bounds.measures(copy, **OWN_UNIT, resamples=50).set_index("measure")
    expected = {"bias": 0, "spread": 1, "slope": 1, "more ties": 0, "more drift": 0}
    for name, value in expected.items():
        assert found.loc[name, ["value", "low", "high"]].tolist() == pytest.approx([value] * 3, abs=1e-9)


def test_a_drift_that_was_planted_is_found_and_single_segments_tell_none():
    place = np.tile(np.linspace(0, 1, 4), 40)
    rng = np.random.default_rng(1)
    values = 3 * place + rng.normal(0, 0.5, (1, 5, 160))
    scores = named_scores(values, rng.normal(size=(5, 160)), length=4)
    found = bounds.measures(scores, resamples=100).set_index("measure")
    assert found.loc["drift", "value"] == pytest.approx(3 / values.std(), rel=0.05)
    assert found.loc["drift", "low"] < 3 / values.std() < found.loc["drift", "high"]
    fit = stats.linregress(np.tile(place, 5), (values / values.std()).ravel())
    assert found.loc["drift", "value"] == pytest.approx(fit.slope)
    alone = bounds.measures(scores, documents=[str(n) for n in range(160)], resamples=2)
    assert set(alone["measure"]) == {"ties", "more ties"}


def test_intervals_draw_documents():
    scores = judged(7, documents=30, missing=0)
    found = bounds.measures(scores, **OWN_UNIT, resamples=2000).set_index(["metric", "measure"])
    gaps = (scores.values[0] - scores.human).mean(axis=0).reshape(30, 4).mean(axis=1)
    row = found.loc["GEMBA-MQM", "bias"]
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.96 * gaps.std() / np.sqrt(30), rel=0.1)
    one = bounds.measures(scores, **OWN_UNIT, documents=["d"] * 120, resamples=9).set_index("measure")
    assert (one["low"] == one["high"]).all()


def kin(seed=1, *, favoured=0.0):
    """Draw five metrics' scores of eight systems; the first metric favours the first system."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 1, (8, 1)) + rng.normal(0, 0.3, (8, 75))
    values = quality + rng.normal(0, 0.5, (5, *quality.shape))
    values[0, 0] += favoured
    names = {
        "metrics": ("GEMBA-MQM", "BLEU", *"abc"),
        "systems": ("GPT4-5shot", "NLLB_MBR_BLEU", "NLLB_Greedy", *"defgh"),
    }
    return named_scores(values, quality + rng.normal(0, 0.5, quality.shape), length=3, **names)


def test_a_judge_that_favours_its_own_kind_is_found_and_one_that_does_not_is_not():
    fair, unfair = (bounds.own_kind(kin(favoured=by), resamples=200).set_index("metric") for by in (0.0, 0.8))
    assert list(fair.index) == ["GEMBA-MQM", "BLEU"]
    assert unfair.loc["GEMBA-MQM", "beyond_low"] > 0.3
    assert fair.loc["GEMBA-MQM", "beyond_low"] < 0 < fair.loc["GEMBA-MQM", "beyond_high"]
    assert bounds.own_kind(kin().only(["a", "b"])).empty


def test_favour_is_a_difference_of_standard_scores():
    scores = kin(4, favoured=0.5)
    row = bounds.own_kind(scores, resamples=5).set_index("metric").loc
    means = pd.DataFrame(scores.values.mean(axis=2).T, columns=scores.metrics, index=scores.systems)
    z = means.apply(stats.zscore, ddof=1).sub(stats.zscore(scores.human.mean(axis=1), ddof=1), axis=0)
    gap = z.loc["GPT4-5shot"] - z.drop(index="GPT4-5shot").mean()
    assert row["GEMBA-MQM"]["value"] == pytest.approx(gap["GEMBA-MQM"])
    assert row["GEMBA-MQM"]["others"] == pytest.approx(gap.drop("GEMBA-MQM").median())
    both = z.loc["NLLB_MBR_BLEU"] - z.loc["NLLB_Greedy"]
    assert row["BLEU"]["value"] == pytest.approx(both["BLEU"])
    assert row["BLEU"]["beyond"] == pytest.approx(both["BLEU"] - both.drop("BLEU").median())


def test_judges_are_compared_on_several_sets_and_the_smallest_bias_stands_first():
    pools = {"one": judged(1), "two": judged(2)}
    found = bounds.compare_judges(pools, JUDGES, resamples=20)
    for name, pool in pools.items():
        alone = bounds.measures(pool, **OWN_UNIT, resamples=20).rename(columns={"metric": "judge"})
        own = found[found["data"] == name].drop(columns="data").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone[own.columns].reset_index(drop=True))
    wide = found[found["data"] == "one"].pivot(index="judge", columns="measure", values="value")
    laid = bounds.laid_out(found, data="one")
    assert laid["judge"].tolist() == ["GEMBA-MQM"], "the other judge has another unit"
    assert laid["people"].item() == pytest.approx(wide.at["GEMBA-MQM", "ties"] - wide.at["GEMBA-MQM", "more ties"])
