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
from evalkit.metrics import bounds, intervals, rankings, scores
from tests.makers import metric_scores


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
    found = bounds.hold(bounds.contest(*tables, gold=gold), resamples=2).table
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


def test_the_same_segments_whatever_the_gold_and_no_gold_judges_itself(tables, entered):
    for gold in bounds.GOLDS:
        found = bounds.contest(*tables, gold=gold)
        assert found.segments.segments == entered.segments.segments
        assert np.isfinite(found.segments.values).all()
        assert np.isfinite(found.segments.human).all()
        halves = set(bounds.TWO.get(gold, (gold,)))
        for name in found.segments.metrics:
            assert halves.isdisjoint(bounds.TWO.get(name, (name,))), (gold, name)
    assert set(entered.kinds) == set(entered.segments.metrics)


def test_a_segment_that_one_contestant_left_out_is_out_for_all(tables, entered):
    scored, metrics, outputs = tables
    kept = entered.segments.segments[0].rsplit(":", 1)[1]
    gone = (metrics["metric"] == "sim-metric-05") & (metrics["segment"] == kept) & (metrics["src_lang"] == "eng")
    one = gone & (metrics["system"] == entered.segments.systems[3])
    assert one.sum() == 1
    fewer = bounds.contest(scored, metrics[~one], outputs)
    assert set(entered.segments.segments) - set(fewer.segments.segments) == {entered.segments.segments[0]}


def test_random_and_constant_scores_are_those_of_chance(entered):
    found = bounds.floor(entered).set_index(["contestant", "statistic"])
    expected = (
        bounds.chance_levels(entered.segments).assign(name=lambda t: rankings.label(t)).set_index(["metric", "name"])
    )
    for name in ("segment acc_eq", "SPA", "segment Pearson"):
        assert found.loc[("random", name), "value"] == expected.loc[("random", name), "value"]
    assert ("constant", "segment Pearson") not in found.index
    tied = bounds.tied(entered)["WMT-MQM"]
    assert found.loc[("constant", "segment acc_eq"), "value"] == pytest.approx(tied)


def test_a_metric_passes_only_where_the_paired_difference_says_so(entered):
    held = bounds.hold(entered, resamples=200)
    found = bounds.passing(held).query("statistic == 'segment acc_eq'").reset_index(drop=True)
    rows = held.table[held.table["statistic"] == "segment acc_eq"]
    place = dict(zip(rows["contestant"], rows.index, strict=True))
    metrics = [name for name, kind in entered.kinds.items() if kind == "metric"]
    for row in found.itertuples():
        own = held.drawn[:, place[row.person]]
        lows = [np.percentile(held.drawn[:, place[name]] - own, 2.5) for name in metrics]
        assert (row.metrics, row.surely) == (len(metrics), sum(low > 0 for low in lows))
        assert row.surely <= row.above <= row.metrics
        assert row.difference == pytest.approx(held.table["value"][place[row.best]] - row.value)
    best = bounds.leaders(found)
    assert (best.groupby("kind")["value"].max() == found.groupby("kind")["value"].max()).all()


def test_contests_of_several_golds_stand_in_one_table_people_first_and_the_best_first(tables):
    golds = ["WMT-MQM", "MQM-1"]
    contests = {gold: bounds.contest(*tables, gold=gold) for gold in golds}
    held = {gold: bounds.hold(one, resamples=20, flips=20) for gold, one in contests.items()}
    floors = {gold: bounds.floor(one) for gold, one in contests.items()}
    found = bounds.together(held, floors)
    assert len(found) == sum(len(one.table) + len(floors[gold]) for gold, one in held.items())
    kinds = list(bounds.KINDS)
    for _, own in found.groupby(["gold", "statistic"]):
        assert list(own["kind"].map(kinds.index)) == sorted(own["kind"].map(kinds.index))
        assert all(part["value"].is_monotonic_decreasing for _, part in own.groupby("kind"))
    everywhere = bounds.passing_everywhere(held)
    for gold in golds:
        own = everywhere[everywhere["gold"] == gold].drop(columns="gold").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, bounds.passing(held[gold]))


@given(st.floats(0.1, 50), st.floats(-100, 100))
@settings(max_examples=4, deadline=None)
def test_the_scale_of_a_persons_scores_does_not_matter(entered, slope, shift):
    found = bounds.hold(entered, resamples=2).table
    segments = replace(entered.segments, values=np.round(slope * entered.segments.values + shift, 6))
    again = bounds.hold(bounds.Contest(segments, scores.of_systems(segments), entered.kinds), resamples=2).table
    linear = found["statistic"].isin(["system Pearson", "segment Pearson"])
    assert again["value"][linear].to_numpy() == pytest.approx(found["value"][linear].to_numpy(), abs=1e-4)


def test_documents_are_drawn_whole(entered):
    every, whole = (
        intervals.bootstrap(entered.segments, resamples=300, **unit).query(
            "statistic == 'pearson' and grouping == 'none'"
        )
        for unit in ({}, {"unit": "document"})
    )
    assert (every["value"].to_numpy() == whole["value"].to_numpy()).all()
    own = np.array([name.rsplit(":", 1)[0] for name in entered.segments.segments])
    rng = np.random.default_rng(1)
    x, y = entered.segments.values[0], entered.segments.human
    drawn = []
    for _ in range(600):
        picks = np.concatenate([np.flatnonzero(own == doc) for doc in rng.choice(np.unique(own), len(np.unique(own)))])
        drawn.append(np.corrcoef(x[:, picks].ravel(), y[:, picks].ravel())[0, 1])
    low, high = np.percentile(drawn, [2.5, 97.5])
    width = whole["high"].iloc[0] - whole["low"].iloc[0]
    assert width == pytest.approx(high - low, rel=0.2)


def test_what_cannot_be_is_refused(tables, entered):
    scored, metrics, outputs = tables
    fewer = metrics[metrics["system"] != metrics["system"].iloc[0]]
    for words, call in {
        "'page'": lambda: intervals.bootstrap(entered.segments, resamples=2, unit="page"),
        "'BLEU'": lambda: bounds.contest(*tables, gold="BLEU"),
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
