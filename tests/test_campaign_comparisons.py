"""A campaign of comparisons: ranked by strengths, refused where systems never met, places and screens told."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import campaign
from evalkit.campaign.agreement import measure_agreement
from evalkit.data import compared
from tests.makers import comparisons, finished
from tests.pages import telling

find_comparisons = telling(campaign.find_comparisons)
rank_systems = telling(campaign.rank_systems)

FAST = {"resamples": 40, "seed": 1}


def judged(rows):
    """Rows of (annotator, segment, system_a, system_b, preference, first) as an imported file has them."""
    table = pd.DataFrame(rows, columns=["annotator", "segment", "system_a", "system_b", "preference", "first"])
    table = table.assign(src_lang="eng", tgt_lang="deu", doc="d" + table["segment"].str[0])
    return finished(compared.as_judgements(table.astype("str")), (0.0, 1.0))


def drawn(worth, pairs, *, people=6, segments=20, place=0.0, seed=1, first="a"):
    """Answers after Davidson: every person compares each pair of systems on every segment; the order is drawn."""
    sizes = {"people": people, "documents": segments}
    table = comparisons(seed, strengths=worth, pairs=pairs, place=place, tie=0.5, first="a", **sizes)
    return campaign.from_ratings(finished(compared.as_judgements(table.assign(first=first).astype("str")), (0.0, 1.0)))


def every(names):
    return [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10_000))
def test_where_all_met_equally_often_the_expected_share_is_the_share_that_was_won(seed):
    found = drawn({"A": 0.6, "B": 0.0, "C": -0.4}, every("ABC"), people=5, segments=8, seed=seed, first="unknown")
    assert found.compares
    table = rank_systems(found, **FAST).systems.set_index("system")
    wins = found.judged.groupby("system")["score"].mean()
    assert table["expected"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-9)
    assert table["mean"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-12)


def test_whom_a_system_met_does_not_matter():
    """B, second best, met only the best one; C, third, only the worst."""
    worth = {"A": 2.0, "B": 1.0, "C": 0.0, "D": -1.5}
    ranking = rank_systems(drawn(worth, [("A", "B"), ("A", "C"), ("C", "D")], segments=60), **FAST)
    assert ranking.names == list("ABCD")
    assert ranking.means["B"] < ranking.means["C"], "shares of wins would have it the other way round"
    tests = ranking.pairwise.set_index(["better", "worse"])
    assert tests.loc[("B", "D"), ["wins", "ties", "losses"]].tolist() == [0, 0, 0]
    assert np.isnan(tests.loc[("B", "D"), "superiority"])
    assert bool(tests.loc[("B", "D"), "significant"])


def test_systems_that_never_met_are_refused_and_each_group_has_strengths_of_its_own():
    found = drawn({"A": 0.5, "B": 0.0, "C": 0.3, "D": 0.0}, [("A", "B"), ("C", "D")])
    whole = campaign.analyse(found, **FAST)
    assert not whole.ranking
    met = find_comparisons(found, whole.ranking, **FAST)
    assert met.groups == [["A", "B"], ["C", "D"]]
    assert met.table.groupby("group")["strength"].sum().tolist() == pytest.approx([0, 0], abs=1e-9)


def test_the_strength_of_a_system_that_never_lost_stays_finite():
    rows = [(f"p{who}", str(segment), "A", "B", "a", "a") for who in range(5) for segment in range(6)]
    rows += [(f"p{who}", "9", "B", "C", answer, "a") for who, answer in enumerate(["a", "b", "tie", "b", "a"])]
    found = campaign.from_ratings(judged(rows))
    ranking = rank_systems(found, **FAST)
    assert ranking.top == "A"
    assert np.isfinite(ranking.table["score"]).all()


def test_the_effect_of_the_place_is_found_taken_out_and_told():
    worth = {"A": 0.4, "B": 0.0, "C": -0.4}
    found = drawn(worth, every("ABC"), segments=60, place=0.8)
    ranking = rank_systems(found, **FAST)
    met = find_comparisons(found, ranking, **FAST)
    effect, low, high = met.place
    assert low < 0.8 < high
    assert effect == pytest.approx(0.8, abs=0.15)
    strength = ranking.standing.table().set_index("system")["strength"]
    assert strength.to_dict() == pytest.approx(worth, abs=0.2)


@pytest.mark.parametrize(("first", "pairs"), [("unknown", every("ABC")), ("a", [("A", "B"), ("A", "C")])])
def test_a_place_that_cannot_be_told_is_unknown(first, pairs):
    rows = [
        (f"p{who}", str(segment), a, b, ["a", "b", "tie"][(who + segment) % 3], first)
        for who in range(5)
        for segment in range(9)
        for a, b in pairs
    ]
    found = campaign.from_ratings(judged(rows))
    assert find_comparisons(found, rank_systems(found, **FAST), **FAST).place is None


def test_people_who_give_the_same_answers_agree_whatever_a_system_met():
    """Of A they think otherwise against B than against C: only an item that names both is one."""
    rows = [
        (f"p{who}", str(segment), "A", other, answer, "a")
        for who in range(3)
        for segment in range(12)
        for other, answer in (("B", "a" if segment % 2 else "b"), ("C", "b" if segment % 2 else "a"))
    ]
    found = campaign.from_ratings(judged(rows))
    agreement = measure_agreement(found, resamples=20)
    assert agreement.estimate == pytest.approx(1)
    assert agreement.items == 24
    assert campaign.count_judgements(found).duplicates == 0


@pytest.mark.nightly
def test_tests_of_equal_systems_are_significant_no_more_often_than_they_may_be():
    """One-sided at .05 of whichever is ahead: a tenth of campaigns. 60 campaigns; more than 13 has a chance of .003."""
    found = [drawn({"A": 0.0, "B": 0.0}, [("A", "B")], people=6, segments=8, seed=seed) for seed in range(60)]
    hits = [rank_systems(one, unit="documents", **FAST).pairwise["significant"].iloc[0] for one in found]
    assert sum(hits) <= 13
    clear = drawn({"A": 1.0, "B": 0.0}, [("A", "B")], people=6, segments=30)
    assert rank_systems(clear, **FAST).pairwise["significant"].all()


def test_people_s_translations_compete_and_have_no_place():
    found = drawn({"A": 0.3, "B": 0.0, "refA": 1.5}, every(["A", "B", "refA"]), segments=40)
    ranking = rank_systems(found, **FAST)
    assert (ranking.names, ranking.humans["system"].tolist()) == (["A", "B"], ["refA"])
    assert ranking.systems["system"].tolist()[0] == "refA"
    assert ranking.systems["rank"].isna().tolist() == [True, False, False]
    assert ranking.duels["better"].tolist() == ["refA", "refA"]


def test_other_rules_for_lines_and_normalising_are_refused_plainly():
    found = drawn({"A": 0.3, "B": 0.0}, [("A", "B")])
    ranking = rank_systems(found, lines="wmt22", **FAST)
    assert "these are comparisons" in ranking.refused
    assert "no level" in campaign.normalize_scores(found).reason


def test_one_system_against_a_persons_translation_is_ranked_without_tests_between_systems():
    found = drawn({"mt": -1.0, "human": 0.5}, [("mt", "human")])
    ranking = rank_systems(found, **FAST)
    assert [*found.humans] == ["human"]
    assert ranking.table["system"].tolist() == ["mt"]
    assert ranking.pairwise.empty
    [duel] = ranking.duels.to_dict("records")
    assert (duel["better"], duel["worse"]) == ("human", "mt")
