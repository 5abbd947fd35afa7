"""Rankings made of preferences: strengths after Bradley and Terry, circles, and the preferences of a paper."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.data import parity
from evalkit.human import ranking

tournaments = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(1, 9, (5, 5)))


@pytest.mark.parametrize("seed", range(3))
def test_strengths_are_those_of_a_logistic_regression(seed):
    wins = np.random.default_rng(seed).integers(1, 20, (6, 6)) * (1 - np.eye(6))
    first, second = np.triu_indices(6, 1)
    design = np.zeros((len(first), 6))
    design[np.arange(len(first)), first], design[np.arange(len(first)), second] = 1, -1
    won = np.column_stack([wins[first, second], wins[second, first]])
    fit = sm.GLM(won, design[:, 1:], family=sm.families.Binomial()).fit()
    strength = np.exp(np.r_[0, fit.params])
    assert ranking.bradley_terry(wins) == pytest.approx(strength / strength.sum(), rel=1e-6)


@given(tournaments, st.permutations(range(5)))
def test_renaming_systems_or_playing_everything_twice_changes_no_strength(wins, order):
    strength = ranking.bradley_terry(wins)
    assert ranking.bradley_terry(wins[np.ix_(order, order)]) == pytest.approx(strength[order], rel=1e-6)
    assert ranking.bradley_terry(2 * wins) == pytest.approx(strength, rel=1e-6)
    assert strength.sum() == pytest.approx(1)


@given(tournaments)
def test_expected_wins_are_the_wins_that_there_are(wins):
    strength, own = ranking.bradley_terry(wins), wins * (1 - np.eye(5))
    chance = strength[:, None] / np.add.outer(strength, strength)
    assert ((own + own.T) * chance * (1 - np.eye(5))).sum(axis=1) == pytest.approx(own.sum(axis=1), rel=1e-5)


@pytest.mark.parametrize("wins", [[[0, 3], [0, 0]], [[0, 1, 0], [1, 0, 0], [0, 0, 0]], np.zeros((2, 2))])
def test_strengths_that_have_no_estimate_are_refused(wins):
    with pytest.raises(DataError, match="never lost to the others, or never met them"):
        ranking.bradley_terry(wins)


@given(st.integers(0, 2**32 - 1))
def test_circles_are_those_that_counting_wins_gives(seed):
    beats = np.triu(np.random.default_rng(seed).integers(0, 2, (7, 7)), 1)
    beats = beats + np.tril(1 - beats.T, -1)
    won = beats.sum(axis=1)
    assert len(ranking.circles(beats)) == 7 * 6 * 5 // 6 - (won * (won - 1) // 2).sum()  # Kendall & Babington Smith
    for i, j, k in ranking.circles(beats):
        assert beats[[i, j, k], [j, k, i]].all()


def test_what_a_single_ranking_orders_has_no_circle():
    assert ranking.circles(np.triu(np.ones((6, 6)), 1)) == []


@pytest.mark.parametrize(
    ("criterion", "unit", "printed"),
    [("adequacy", "document", (37, 11, 52)), ("fluency", "document", (22, 29, 50)),
     ("adequacy", "sentence", (50, 9, 41)), ("fluency", "sentence", (32, 17, 51))],
)  # fmt: skip
def test_real_preferences_are_those_that_the_paper_prints(real, criterion, unit, printed):
    ratings = real("laeubli-parity")
    own = ratings[ratings["system"].eq("mt") & ratings["criterion"].eq(criterion) & ratings["unit"].eq(unit)]
    shares = own["choice"].value_counts(normalize=True)[["mt", "tie", "human"]]
    assert tuple((100 * shares + 1e-9).round().astype(int)) == printed


def test_real_preferences_leave_out_what_the_paper_leaves_out(real):
    ratings = real("laeubli-parity")
    assert len(ratings) == 2 * 816
    assert ratings.attrs["excluded"] == {"comparisons of sentences from judged documents": 416}
    assert ratings.groupby(["annotator", "criterion", "doc"])["score"].sum().eq(1).all()


def test_an_answer_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(
        "participant_id,condition,type,exp_item_number,rating\nA,fluency,document,E-1,mt\nA,fluency,document,E-2,both\n"
    )
    with pytest.raises(DataError, match=r"ratings.csv, line 3: the choice 'both' is none of"):
        parity.comparisons([path])


def test_a_tie_is_half_a_win_for_either():
    one = pd.DataFrame(
        {"annotator": ["A"], "criterion": ["fluency"], "unit": ["document"], "item": ["E-1"], "choice": ["tie"]}
    )
    assert parity.as_judgements(one, origin="a test")["score"].tolist() == [0.5, 0.5]
