"""A campaign of comparisons: ranked by strengths, refused where systems never met, places and screens told."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import campaign
from evalkit.campaign.checks import PROBLEM, run_checks
from evalkit.campaign.people.agreement import measure_agreement
from evalkit.campaign.sentences import headline, say
from evalkit.campaign.sentences.say import Lacking, known
from evalkit.data import compared
from evalkit.human import preferences

FAST = {"resamples": 40, "seed": 1}


def judged(rows, **attrs):
    """Rows of (annotator, segment, system_a, system_b, preference, first) as an imported file has them."""
    table = pd.DataFrame(rows, columns=["annotator", "segment", "system_a", "system_b", "preference", "first"])
    table = table.assign(src_lang="eng", tgt_lang="deu", doc="d" + table["segment"].str[0])
    ratings = compared.as_judgements(table.astype("str"))
    ratings.attrs |= {"scale": (0.0, 1.0), "source": {"name": "mine", "source": "real", "origin": "m", "digest": "0"}}
    return ratings


def drawn(worth, pairs, *, people=6, segments=20, place=0.0, tie=0.5, seed=1, first=""):
    """Answers after Davidson: every person compares each pair of systems on every segment; the order is drawn."""
    rng, rows = np.random.default_rng(seed), []
    for who in range(people):
        for segment in range(segments):
            for a, b in pairs:
                a, b = (a, b) if rng.random() < 0.5 else (b, a)
                lead = worth[a] - worth[b] + place
                chance = np.exp([lead / 2, -lead / 2, np.log(tie)])
                answer = rng.choice(["a", "b", "tie"], p=chance / chance.sum())
                rows.append((f"p{who}", f"{segment}", a, b, answer, first or "a"))
    return campaign.from_ratings(judged(rows))


def every(names):
    return [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10_000))
def test_where_all_met_equally_often_the_expected_share_is_the_share_that_was_won(seed):
    found = drawn({"A": 0.6, "B": 0.0, "C": -0.4}, every("ABC"), people=5, segments=8, seed=seed, first="unknown")
    assert found.compares
    table = campaign.rank_systems(found, **FAST).systems.set_index("system")
    wins = found.judged.groupby("system")["score"].mean()
    assert table["expected"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-9)
    assert table["mean"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-12)


def test_whom_a_system_met_does_not_matter():
    """B, second best, met only the best one; C, third, only the worst."""
    worth = {"A": 2.0, "B": 1.0, "C": 0.0, "D": -1.5}
    ranking = campaign.rank_systems(drawn(worth, [("A", "B"), ("A", "C"), ("C", "D")], segments=60), **FAST)
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
    checks = run_checks(whole)
    told = headline(whole, checks)
    assert "A and C were never compared, even through others: there are 2 groups (A, B; C, D)" in told
    [check] = [check for check in checks if check.question.startswith("Were all systems compared")]
    assert check.verdict == PROBLEM
    assert whole.pairs["ranked_by"].tolist() == ["nothing: some systems were never compared, even through others"]
    comparisons = campaign.find_comparisons(found, whole.ranking, **FAST)
    assert comparisons.groups == [["A", "B"], ["C", "D"]]
    assert comparisons.table.groupby("group")["strength"].sum().tolist() == pytest.approx([0, 0], abs=1e-9)
    assert "nothing says how systems of two groups stand to each other" in " ".join(say(comparisons))


def test_a_system_that_never_lost_is_told_and_its_strength_stays_finite():
    rows = [(f"p{who}", str(segment), "A", "B", "a", "a") for who in range(5) for segment in range(6)]
    rows += [(f"p{who}", "9", "B", "C", answer, "a") for who, answer in enumerate(["a", "b", "tie", "b", "a"])]
    found = campaign.from_ratings(judged(rows))
    ranking = campaign.rank_systems(found, **FAST)
    assert ranking.top == "A"
    told = say(campaign.find_comparisons(found, ranking, **FAST))
    assert any(sentence.startswith("A never lost to, or tied with, B: better, but by how much") for sentence in told)
    assert "A and C were never compared" in " ".join(told)
    assert np.isfinite(ranking.table["score"]).all()


def test_the_effect_of_the_place_is_found_taken_out_and_told():
    worth = {"A": 0.4, "B": 0.0, "C": -0.4}
    found = drawn(worth, every("ABC"), segments=60, place=0.8)
    ranking = campaign.rank_systems(found, **FAST)
    comparisons = campaign.find_comparisons(found, ranking, **FAST)
    effect, low, high = comparisons.place
    assert low < 0.8 < high
    assert effect == pytest.approx(0.8, abs=0.15)
    strength = ranking.standing.fitted.table().set_index("system")["strength"]
    assert strength.to_dict() == pytest.approx(worth, abs=0.2)
    assert any("favours a translation: of two equal ones it would win" in sentence for sentence in say(comparisons))
    assert not [sentence for sentence in say(comparisons) if isinstance(sentence, Lacking)]


@pytest.mark.parametrize(
    ("first", "pairs", "why"),
    [
        ("unknown", every("ABC"), "the file does not say which translation stood first"),
        ("always", [("A", "B"), ("A", "C")], "which system stood first follows from which two were compared"),
    ],
)
def test_a_place_that_cannot_be_told_is_said_to_be_unknown(first, pairs, why):
    rng = np.random.default_rng(2)
    rows = [
        (f"p{who}", str(segment), a, b, rng.choice(["a", "b", "tie"]), "a" if first == "always" else first)
        for who in range(5)
        for segment in range(9)
        for a, b in pairs
    ]
    found = campaign.from_ratings(judged(rows))
    comparisons = campaign.find_comparisons(found, campaign.rank_systems(found, **FAST), **FAST)
    assert comparisons.place is None
    [lacks] = [sentence for sentence in say(comparisons) if isinstance(sentence, Lacking)]
    assert why in lacks


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
    hits = [campaign.rank_systems(one, unit="documents", **FAST).pairwise["significant"].iloc[0] for one in found]
    assert sum(hits) <= 13
    clear = drawn({"A": 1.0, "B": 0.0}, [("A", "B")], people=6, segments=30)
    assert campaign.rank_systems(clear, **FAST).pairwise["significant"].all()


def test_people_s_translations_compete_and_have_no_place():
    found = drawn({"A": 0.3, "B": 0.0, "refA": 1.5}, every(["A", "B", "refA"]), segments=40)
    ranking = campaign.rank_systems(found, **FAST)
    assert (ranking.names, ranking.humans["system"].tolist()) == (["A", "B"], ["refA"])
    assert ranking.systems["system"].tolist()[0] == "refA"
    assert ranking.systems["rank"].isna().tolist() == [True, False, False]
    assert ranking.duels["better"].tolist() == ["refA", "refA"]


def test_other_rules_for_lines_and_normalising_are_refused_plainly():
    found = drawn({"A": 0.3, "B": 0.0}, [("A", "B")])
    ranking = campaign.rank_systems(found, lines="wmt22", **FAST)
    assert "these are comparisons" in ranking.refused
    assert any("these are comparisons" in sentence for sentence in say(ranking))
    assert "no level" in campaign.normalize_scores(found).reason
    assert not campaign.compare_screens(found, ranking, **FAST)


def scored(screens=True, people=5, segments=12, seed=4):
    """Scores of three translations on one screen, the first place five points better."""
    rng, rows = np.random.default_rng(seed), []
    for who in range(people):
        for segment in range(segments):
            for place, system in enumerate(rng.permutation(["A", "B", "C"]), 1):
                score = 60 + {"A": 8, "B": 2, "C": 0}[system] - 6 * place + rng.normal(0, 8)
                rows.append((f"p{who}", f"{segment}", system, float(score), f"s{segment}", float(place)))
    table = pd.DataFrame(rows, columns=["annotator", "segment", "system", "score", "screen", "screen_place"])
    table = table.assign(src_lang="eng", tgt_lang="deu", doc="d" + table["segment"], item_type="system")
    table.attrs |= {"scale": (0.0, 100.0), "source": {"name": "m", "source": "real", "origin": "m", "digest": "0"}}
    return campaign.from_ratings(table if screens else table.drop(columns=["screen", "screen_place"]))


def test_scores_of_one_screen_say_what_comparisons_would():
    found = scored()
    ranking = campaign.rank_systems(found, **FAST)
    screens = campaign.compare_screens(found, ranking, **FAST)
    assert (screens.screens, len(screens.found.answers)) == (60, 180)
    straight = compared.of_scores(found.part, together=())
    own = preferences.fit(straight).table()
    assert screens.found.table["system"].tolist() == own["system"].tolist()
    assert screens.order == pytest.approx(1)
    assert screens.found.place[1] > 0, "the first place is better"
    told = known(screens)
    assert told[0].startswith("60 screens with two scores or more make 180 comparisons")
    assert any("Standing first on the screen" in sentence for sentence in told)
    assert not campaign.find_comparisons(found, ranking, **FAST)
    assert not campaign.compare_screens(scored(screens=False), ranking, **FAST)


def test_one_system_against_a_persons_translation_is_ranked_without_tests_between_systems():
    found = drawn({"mt": -1.0, "human": 0.5}, [("mt", "human")])
    ranking = campaign.rank_systems(found, **FAST)
    assert [*found.humans] == ["human"]
    assert ranking.table["system"].tolist() == ["mt"]
    assert ranking.pairwise.empty
    [duel] = ranking.duels.to_dict("records")
    assert (duel["better"], duel["worse"]) == ("human", "mt")
