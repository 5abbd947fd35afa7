"""Judges beside the people of direct assessments: the regression against scikit-learn, the trials against the test."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import read

from evalkit.data import simulate
from evalkit.human.judges import alternative_annotator, assessed, replacing


@given(st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_the_regression_is_scikit_learn_s_and_sees_nothing_of_the_part_it_judges(seed):
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    rng = np.random.default_rng(seed)
    facts = pd.DataFrame(rng.normal(2, 3, (80, 3)), columns=list("abc"))
    truth, part = pd.Series(facts["a"] - facts["b"] * facts["c"] + rng.normal(size=80)), np.repeat(["x", "y"], 40)
    found = assessed.crossed(facts, truth, part)
    for one in "xy":
        here = part == one
        scaler = StandardScaler()
        scaler.fit(facts[~here])
        scaler.scale_ = facts[~here].std(ddof=1).to_numpy()
        model = make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(alpha=1.0))
        model.fit(scaler.transform(facts[~here]), truth[~here])
        assert found[here].to_numpy() == pytest.approx(model.predict(scaler.transform(facts[here])), abs=1e-8)
    spoilt = truth.where(part == "x", -99.0)
    again = assessed.crossed(facts, spoilt, part)
    assert again[part == "y"].tolist() == found[part == "y"].tolist()
    assert again[part == "x"].tolist() != found[part == "x"].tolist()


def test_each_pair_is_tried_with_the_release_s_z_scores():
    people = simulate.mlqe_pe_people()
    people = people[(people["src_lang"] == "est") & (people["segment"].astype(int) < 100)]
    found = assessed.assessed(people, epsilons=[0.1]).set_index("judge")
    wide = people.pivot(index=["doc", "segment"], columns="annotator", values="z")
    own = people.drop_duplicates(["doc", "segment"]).set_index(["doc", "segment"])["model_score"].reindex(wide.index)
    by_hand = alternative_annotator(wide, (own - own.mean()) / own.std(), alignment="rmse", epsilon=0.1)
    row = found.loc[assessed.MODEL]
    assert (row["winning_rate"], row["advantage"]) == (by_hand.winning_rate, by_hand.advantage)
    assert (row["data"], row["annotators"], row["items"]) == ("MLQE-PE est-eng", 6, 200)
    still = alternative_annotator(wide, 0 * own, alignment="rmse", epsilon=0.1)
    assert found.loc[replacing.CONSTANT, "advantage"] == still.advantage
    assert found.loc[assessed.LEARNED, "advantage"] > found.loc[assessed.MODEL, "advantage"] - 0.1


def test_models_stand_beside_the_judge_that_knows_nothing():
    table = read("""
        data judge kind     winning_rate advantage passed
        a    good  metric   0.75         0.8       True
        a    bad   metric   0.25         0.9       False
        a    zero  nothing  1.0          0.9       True
        b    good  metric   0.5          0.8       True
        b    zero  nothing  0.0          0.2       False
        b    p     people   1.0          1.0       True
    """)
    table = table.replace({"kind": {"nothing": "knows nothing"}}).assign(epsilon=0.1, annotators=4)
    beside = replacing.beside_nothing(table, epsilon=0.1)
    assert beside[["data", "judge", "rate", "nothing", "rate_nothing"]].to_numpy().tolist() == [
        ["a", "good", 0.75, "zero", 1.0],
        ["b", "good", 0.5, "zero", 0.0],
    ]
    first, second = replacing.verdicts(beside, epsilon=0.1)[:2]
    assert "2 of 2" in first
    assert "too, for a:" in second
    assert "for none" in replacing.verdicts(beside[1:], epsilon=0.1)[1]


def test_people_who_use_the_ends_for_different_translations_let_a_constant_pass():
    rng = np.random.default_rng(3)
    people = pd.DataFrame(rng.choice([-1.0, 1.0], (200, 4), p=[0.5, 0.5]), columns=list("abcd"))
    found = alternative_annotator(people, pd.Series(0.0, index=people.index), alignment="rmse", epsilon=0.1)
    assert found.passed
    assert found.winning_rate == 1.0
