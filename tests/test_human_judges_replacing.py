"""Metrics and people in place of annotators: the same as the test on tables made by hand, and what scales change."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import laid_out

from evalkit import DataError
from evalkit.human.judges import alternative_annotator, replacing


def tables(seed, *, noise=0.8):
    """Draw two collections of 200 translations by three people each, and judges: one like people, one random."""
    rng = np.random.default_rng(seed)
    number = np.arange(200)
    system, person = np.char.add("s", (number % 4).astype(str)), number % 3
    quality = rng.normal(0, 1, 200)
    scored = []
    for collection in ("ESA-1", "ESA-2", "MQM-1"):
        score = 70 + 5 * person + (4 + 3 * person) * (quality + noise * rng.normal(size=200))
        scored.append(laid_out(zip(system, number, person, score, strict=True), protocol=collection))
    judges = {"good": 0.1 * (quality + 0.5 * noise * rng.normal(size=200)), "random": rng.normal(size=200)}
    metrics = [laid_out(zip(system, number, own), "system segment score", metric=name) for name, own in judges.items()]
    return pd.concat(scored, ignore_index=True), pd.concat(metrics, ignore_index=True)


def test_it_is_the_test_on_scores_standardised_by_hand():
    scored, metrics = tables(1)
    found = replacing.stand_ins(scored, metrics, collections=["ESA-1", "ESA-2"], people=["MQM-1"], epsilons=[0.15])
    wide = {}
    for (collection, who), own in scored[scored["protocol"] != "MQM-1"].groupby(["protocol", "annotator"]):
        z = (own["score"] - own["score"].mean()) / own["score"].std(ddof=1)
        wide[f"{collection} {who}"] = pd.Series(z.to_numpy(), index=own["segment"])
    own = metrics[metrics["metric"] == "good"].set_index("segment")["score"]
    judge = (own - own.mean()) / own.std(ddof=1)
    by_hand = alternative_annotator(pd.DataFrame(wide), judge, alignment="rmse", epsilon=0.15)
    [row] = found[found["judge"] == "good"].itertuples()
    assert (row.winning_rate, row.advantage, row.passed) == (by_hand.winning_rate, by_hand.advantage, by_hand.passed)
    assert (row.annotators, row.items, row.kind) == (6, 200, "metric")
    assert set(found["kind"]) == {"people", "metric", "knows nothing"}


@given(st.integers(0, 1000), st.floats(0.01, 50), st.floats(-9, 9))
@settings(max_examples=4, deadline=None)
def test_whose_unit_a_score_has_does_not_matter(seed, slope, shift):
    scored, metrics = tables(seed)
    moved = metrics.assign(score=slope * metrics["score"] + shift)
    for options in ({"scale": "rank"}, {}):
        one, other = (
            replacing.stand_ins(scored, each, collections=["ESA-1", "ESA-2"], **options).sort_values("judge")
            for each in (metrics, moved)
        )
        assert one["advantage"].tolist() == pytest.approx(other["advantage"].tolist(), abs=0.011)


@given(st.integers(0, 1000))
@settings(max_examples=4, deadline=None)
def test_a_judge_that_knows_more_is_nearer_and_a_larger_epsilon_lets_more_pass(seed):
    found = replacing.stand_ins(*tables(seed), collections=["ESA-1", "ESA-2"], epsilons=[0, 0.1, 0.3])
    advantage = found.groupby("judge")["advantage"].first()
    assert advantage["good"] > 0.5 > advantage["random"]
    for _, own in found.groupby("judge"):
        assert own["winning_rate"].is_monotonic_increasing


def test_who_answers_always_the_same_is_nearer_than_one_who_answers_at_random():
    scored, metrics = tables(4)
    still = metrics[metrics["metric"] == "random"].assign(metric="still", score=3.0)
    for scale in replacing.SCALES:
        every = pd.concat([metrics, still])
        found = replacing.stand_ins(scored, every, collections=["ESA-1", "ESA-2"], scale=scale)
        advantage = found.groupby("judge")["advantage"].first()
        assert advantage["still"] > advantage["random"]
        assert advantage[replacing.CONSTANT] == advantage["still"]


def test_what_cannot_be_is_refused():
    scored, metrics = tables(2)
    elsewhere = metrics.assign(system="elsewhere")
    cases = [
        (metrics, {"scale": "inch"}, "inch"),
        (metrics, {"collections": ["ESA-7"]}, "ESA-7"),
        (elsewhere, {}, "No"),
    ]
    for judges, options, word in cases:
        with pytest.raises(DataError, match=word):
            replacing.stand_ins(scored, judges, **{"collections": ["ESA-1", "ESA-2"], **options})


def test_every_set_of_annotators_is_tried_with_the_others_as_judges():
    scored, metrics = tables(3)
    more = scored[scored["protocol"].isin(["ESA-1", "ESA-2"])]
    more = more.assign(protocol=more["protocol"].str.replace("ESA", "ESAAI"))
    both = pd.concat([scored, more])
    found = replacing.every_set(both, metrics, epsilons=[0.15])
    for name, collections in replacing.SETS.items():
        own = found[found["data"] == name].reset_index(drop=True)
        others = [one for one in ("ESA-1", "ESA-2", "ESAAI-1", "ESAAI-2", "MQM-1") if one not in collections]
        assert set(own.loc[own["kind"] == "people", "judge"]) == set(others)
        once = replacing.stand_ins(both, metrics, collections=collections, people=others, epsilons=[0.15])
        pd.testing.assert_frame_equal(own.drop(columns="data"), once)


def test_people_who_judged_the_same_translations_elsewhere_are_a_set_of_their_own():
    scored, metrics = tables(5)
    more = scored[scored["protocol"] != "MQM-1"]
    both = pd.concat([scored, more.assign(protocol=more["protocol"].str.replace("ESA", "ESAAI"))])
    twice = [scored[scored["protocol"] == name].assign(annotator=name) for name in ("ESA-1", "ESA-2")]
    alone = twice[0].assign(segment="alone " + twice[0]["segment"])
    rated = pd.concat([*twice, alone]).drop(columns="protocol")
    found = replacing.every_set(both, metrics, rated=rated, epsilons=[0.15])
    own = found[found["data"] == "MQM eng-deu"].set_index("judge").loc["good"]
    sides = [part.set_index("segment")["score"] for part in (*twice, metrics[metrics["metric"] == "good"])]
    one, other, judge = ((side - side.mean()) / side.std(ddof=1) for side in sides)
    people = pd.DataFrame({"ESA-1": one, "ESA-2": other})
    by_hand = alternative_annotator(people, judge, alignment="rmse", epsilon=0.15)
    assert (own["advantage"], own["annotators"], own["items"]) == (by_hand.advantage, 2, 200)
    assert set(replacing.every_set(both, metrics, rated=alone, epsilons=[0.15])["data"]) == set(replacing.SETS)
