"""Strengths from comparisons: textbook numbers, evalica, laws, what is refused; the study of preferences."""

import evalica
import numpy as np
import pandas as pd
import pytest
from evalica import Winner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from evalkit import DataError
from evalkit.data import compared
from evalkit.human import preferences, side_by_side
from tests.makers import comparisons, laid_out

#: Games of baseball in 1987: wins of the row against the column. Agresti 2002, Table 10.10, with his estimates.
TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
BASEBALL = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
AGRESTI = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]


def table(rows):
    """Rows of (system_a, system_b, preference, times)."""
    whole = [row[:3] for row in rows for _ in range(row[3])]
    return pd.DataFrame(whole, columns=["system_a", "system_b", "preference"])


def of_wins(wins, names):
    return table([(names[i], names[j], "a", int(wins[i][j])) for i in range(len(names)) for j in range(len(names))])


def drawn(size=300, systems=5, seed=3, place=0.0, tie=1.3):
    """Answers drawn from Davidson's model with random strengths."""
    strengths = np.random.default_rng(seed).normal(0, 1, systems)
    return comparisons(seed, strengths=strengths, size=size, tie=tie, place=place)


def test_baseball_has_the_strengths_and_the_fit_that_agresti_prints():
    fitted = preferences.fit(of_wins(BASEBALL, TEAMS))
    strength = dict(zip(fitted.cells.systems, fitted.strength))
    assert [round(strength[team] - strength["Baltimore"], 2) for team in TEAMS] == AGRESTI
    observed, expected = fitted.cells.counts[:, :2], fitted.expected()[:, :2]
    assert round(2 * (observed * np.log(observed / expected)).sum(), 1) == 15.7
    assert preferences.goodness(fitted).strengths.freedom == 15


def odds(wins):
    return preferences.fit_cells(preferences.of_wins(pd.DataFrame(wins))).odds


def plain_likelihood(values, frame, systems, ties, place):
    """The log likelihood as the papers write it, answer by answer."""
    power = np.exp(values[: len(systems)])
    at = {name: k for k, name in enumerate(systems)}
    home, extra = (values[len(systems)] if place else 0.0), np.exp(values[-1])
    total = 0.0
    for row in frame.itertuples():
        one, other = power[at[row.system_a]], power[at[row.system_b]]
        one = one * np.exp(home if row.first == "a" else -home)
        if ties == "davidson":
            whole = one + other + extra * np.sqrt(one * other)
            chance = {"a": one / whole, "b": other / whole, "tie": extra * np.sqrt(one * other) / whole}
        else:  # Rao and Kupper's theta is above 1
            theta = 1 + extra
            ahead, behind = one + theta * other, other + theta * one
            chance = {"a": one / ahead, "b": other / behind, "tie": (theta**2 - 1) * one * other / (ahead * behind)}
        total += np.log(chance[row.preference])
    return total


@pytest.mark.parametrize("place", [False, True])
@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_the_fit_is_the_maximum_that_another_optimiser_finds_in_another_likelihood(ties, place):
    frame = drawn(80, 4, place=0.4)
    fitted = preferences.fit(frame, ties=ties, place=place)
    systems = fitted.cells.systems

    def worth(values):
        return -plain_likelihood(values, frame, systems, ties, place) + values[: len(systems)].sum() ** 2

    found = minimize(worth, np.zeros(len(systems) + place + 1), method="BFGS", options={"gtol": 1e-6})
    assert fitted.strength == pytest.approx(found.x[: len(systems)], abs=1e-4)
    assert fitted.likelihood == pytest.approx(-found.fun, abs=1e-6)
    own = fitted.values[-1] if ties == "davidson" else np.log(np.expm1(fitted.values[-1]))
    assert own == pytest.approx(found.x[-1], abs=1e-4)
    if place:
        assert fitted.place[0] == pytest.approx(found.x[len(systems)], abs=1e-4)


@settings(max_examples=10)
@given(st.integers(0, 10_000), st.sampled_from(["half", "davidson", "rao-kupper"]))
def test_laws_of_a_fit(seed, ties):
    """The order of rows and sides is irrelevant; all rows twice change nothing; answers turned turn the ranking."""
    frame = drawn(60, 3, seed=seed)
    assume(len(preferences.separated(preferences.count(frame))) == 1)
    fitted = preferences.fit(frame, ties=ties)
    flip = {"a": "b", "b": "a", "tie": "tie"}
    sides = frame.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    sides["preference"] = sides["preference"].map(flip)
    for other in (frame.sample(frac=1, random_state=1), sides, pd.concat([frame, frame])):
        assert preferences.fit(other, ties=ties).strength == pytest.approx(fitted.strength, abs=1e-7)
    turned = frame.assign(preference=frame["preference"].map(flip))
    assert preferences.fit(turned, ties=ties).strength == pytest.approx(-fitted.strength, abs=1e-7)
    assert fitted.strength.sum() == pytest.approx(0, abs=1e-9)


SEPARATE = [("A", "B", "a", 1), ("B", "A", "a", 1), ("C", "D", "tie", 2)]
UNBEATEN = [("A", "B", "a", 5), ("B", "C", "a", 2), ("C", "B", "a", 1), ("C", "B", "tie", 1)]


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: odds([[0, 3], [0, 0]]), "never lost to"),
        (lambda: odds([[0, 1, 0], [1, 0, 0], [0, 0, 0]]), "never compared"),
        (lambda: odds(np.zeros((2, 2))), "never compared"),
        (lambda: preferences.fit(table(SEPARATE)), r"A and C .* \(A, B; C, D\)"),
        (lambda: preferences.fit(table(SEPARATE), spread=preferences.WEAK), "A and C"),
        (lambda: preferences.fit(table(UNBEATEN)), "A never lost to, or tied with, B and C"),
        (lambda: preferences.fit(drawn(50, 3).assign(first="unknown"), place=True), "first"),
        (lambda: preferences.fit(drawn(50, 3), ties="thirds"), "thirds"),
    ],
)
def test_what_has_no_estimate_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_who_won_everything_has_a_finite_strength_with_a_prior():
    fitted = preferences.fit(table(UNBEATEN), spread=preferences.WEAK)
    assert (np.diff(fitted.strength) < 0).all()
    assert np.isfinite(fitted.strength).all()
    assert preferences.separated(fitted.cells) == [["A"], ["B", "C"]]


ANSWERS = st.tuples(st.integers(0, 4), st.integers(1, 4), st.sampled_from(["a", "b", "tie"]))


@given(st.lists(ANSWERS, min_size=1, max_size=14))
def test_a_fit_is_refused_exactly_where_strengths_run_away(rows):
    """Brute force: strengths have an estimate where each system can reach each other one along answers."""
    frame = table([(f"s{a}", f"s{(a + shift) % 5}", answer, 1) for a, shift, answer in rows])
    systems = sorted({*frame["system_a"], *frame["system_b"]})
    reach = {name: {name} for name in systems}
    for _ in systems:
        for row in frame.itertuples():
            if row.preference != "b":
                reach[row.system_a] |= reach[row.system_b]
            if row.preference != "a":
                reach[row.system_b] |= reach[row.system_a]
    if all(len(found) == len(systems) for found in reach.values()):
        assert np.isfinite(preferences.fit(frame, ties="half").strength).all()
    else:
        with pytest.raises(DataError, match=r"never compared|never lost to"):
            preferences.fit(frame, ties="half")


def test_circles_are_those_of_the_counts_and_chance_makes_few_where_strengths_differ():
    circle = [("A", "B", "a", 9), ("B", "C", "a", 9), ("C", "A", "a", 9), ("A", "B", "b", 1)]
    fitted = preferences.fit(table([*circle, ("A", "D", "a", 6), ("A", "D", "b", 2)]))
    found = preferences.circles(fitted, draws=200)
    assert (found.triples, found.found) == (1, [("A", "B", "C")])
    assert preferences.goodness(fitted).strengths.p < 1e-6
    assert abs(preferences.residuals(fitted)["residual"][0]) > 2


@given(st.integers(0, 2**32 - 1))
def test_circles_are_those_that_counting_wins_gives(seed):
    beats = np.triu(np.random.default_rng(seed).integers(0, 2, (7, 7)), 1)
    beats = beats + np.tril(1 - beats.T, -1)
    won, number = beats.sum(axis=1), {name: k for k, name in enumerate("ABCDEFG")}
    found = preferences.in_circles(preferences.of_wins(pd.DataFrame(beats, [*number], [*number])))
    assert len(found) == 7 * 6 * 5 // 6 - (won * (won - 1) // 2).sum()  # Kendall & Babington Smith
    for i, j, k in ([number[name] for name in triple] for triple in found):
        assert beats[[i, j, k], [j, k, i]].all() or beats[[j, k, i], [i, j, k]].all()


def test_goodness_is_uniform_where_the_model_is_right():
    p = [preferences.goodness(preferences.fit(drawn(3000, 5, seed=seed))).strengths.p for seed in range(20)]
    assert 0.3 < np.mean(p) < 0.7


def test_intervals_are_wider_where_few_people_differ():
    """People who lean to one system each: drawing people says so, drawing documents alone does not."""
    leans = [-2, 2, -1.5, 1.5, 1, -1]
    parts = [comparisons(k, strengths=[lean, 0], people=1, documents=40, tie=0) for k, lean in enumerate(leans)]
    frame = pd.concat([part.assign(annotator=f"p{k}") for k, part in enumerate(parts)])
    both, texts = (
        preferences.standing(frame, resamples=200, **units).table for units in ({}, {"units": ["documents"]})
    )
    width = [(found["high"] - found["low"]).iloc[0] for found in (both, texts)]
    assert width[0] > 2 * width[1]


def test_shares_are_those_of_a_count():
    frame = drawn(200, 3)
    found = preferences.shares(frame, resamples=100)
    assert found.groupby(["system_a", "system_b"])["share"].sum().to_numpy() == pytest.approx(1)
    one = found[found["system_a"].eq("S0") & found["system_b"].eq("S1") & found["answer"].eq("a")]
    met = frame[frame[["system_a", "system_b"]].isin(["S0", "S1"]).all(axis=1)]
    won = np.where(met["preference"].eq("a"), met["system_a"], np.where(met["preference"].eq("b"), met["system_b"], ""))
    assert one["share"].iloc[0] == pytest.approx((won == "S0").mean())


# Strengths, points and win rates against evalica, which knows nothing of this package


WINNERS = {"a": Winner.X, "b": Winner.Y, "tie": Winner.Draw}
EXACT = {"tolerance": 1e-13, "limit": 1_000_000}


def asked(frame):
    return frame["system_a"], frame["system_b"], frame["preference"].map(WINNERS)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("ties", "theirs_of"), [("half", evalica.bradley_terry), ("davidson", evalica.newman)])
def test_strengths_with_ties_are_those_of_evalica(ties, theirs_of, seed):
    """Newman (2023) adds 2v times the root of both strengths for a tie: Davidson's model with t = log 2v."""
    frame = drawn(400, 7, seed=seed)
    fitted, theirs = preferences.fit(frame, ties=ties), theirs_of(*asked(frame), **EXACT)
    logs = np.log(theirs.scores[fitted.cells.systems].to_numpy())
    assert fitted.strength == pytest.approx(logs - logs.mean(), abs=1e-9)
    if ties == "davidson":
        assert fitted.values[-1] == pytest.approx(np.log(2 * theirs.v), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_points_and_win_rates(seed):
    frame = drawn(400, 7, seed=seed)
    points, rng = preferences.elo(frame, seed=1).set_index("system")["points"], np.random.default_rng(1)
    theirs = [evalica.elo(*asked(frame.iloc[rng.permutation(len(frame))])).scores for _ in range(100)]
    assert points.to_dict() == pytest.approx(pd.concat(theirs, axis=1).mean(axis=1).to_dict(), abs=1e-9)
    average = preferences.win_rates(frame).set_index("system")["average"]
    assert average.to_dict() == pytest.approx(evalica.average_win_rate(*asked(frame)).scores.to_dict(), abs=1e-12)


# The study of preferences


SCREENS = pd.DataFrame({"system": ["A", "B"], "against": ["B", "A"]})


def judged(rows, **others):
    """(segment, system, score, errors) of one person."""
    return laid_out(rows, "segment system score errors", **others)


def test_pairs_are_those_of_the_screens():
    found = side_by_side.pairs(judged([("1", "A", -1.0, 1), ("1", "B", -5.0, 1), ("1", "C", 0.0, 0)]), SCREENS)
    assert found[["pair", "a", "b", "errors"]].to_numpy().tolist() == [["A | B", -1.0, -5.0, 2]]
    shown = [("1", "A", -1.0, 1, "B"), ("1", "B", -5.0, 1, "A"), ("1", "A", -9.0, 1, "C")]
    both = laid_out(shown, "segment system score errors against")
    assert side_by_side.pairs(both, SCREENS)[["a", "b"]].to_numpy().tolist() == [[-1.0, -5.0]]


def test_a_mark_is_found_again_where_the_same_words_are_marked_in_the_other_text():
    texts = {("A", "d", "1"): "der rote Hund bellt", ("B", "d", "1"): "ein rote Hund bellt laut"}
    marks = [("A", 4.0, 8.0), ("A", 9.0, 13.0), ("A", 0.0, 3.0), ("B", 4.0, 13.0)]
    spans = pd.DataFrame(marks, columns=["system", "start", "end"])
    spans = spans.assign(doc="d", segment="1", annotator="p0", side="target")
    judgements = judged([("1", "A", -1.0, 3), ("1", "B", -1.0, 1)])
    found = side_by_side.found_again(spans, texts, judgements, SCREENS)
    assert found[["system", "again", "same"]].to_numpy().tolist() == [[system, 1.0, True] for system in "AAB"]
    none = side_by_side.found_again(spans[spans["system"].eq("A")], texts, judgements, SCREENS)
    assert none["again"].tolist() == [0.0, 0.0], "'der' does not stand in the other text"


@pytest.mark.slow
def test_choices_follow_marks_as_often_as_a_count_says(real):
    found = side_by_side.follow(real("literary-preferences"), resamples=50).set_index("choices")
    table = real("literary-preferences")
    told = table[table["marks_a"].ne(table["marks_b"])]
    fewer = np.where(told["marks_a"] < told["marks_b"], "a", "b")
    assert found.at["all", "share"] == pytest.approx((fewer == told["preference"]).mean())
    assert (found.at["all", "n"], found.at["all", "equal"]) == (len(told), len(table) - len(told))


def scores(rng, noise, size=400):
    """Three systems .3 apart, a segment a document, with noise of some shape."""
    drawn = noise(rng, (size, 3)) + np.array([0.0, 0.3, 0.6])
    return laid_out(drawn.T, "system segment", documents=range(size))


def test_a_comparison_is_worth_what_pitman_says():
    """Of normal differences 2/pi = .64 of a mean, of differences with heavy tails more than a mean."""
    rng = np.random.default_rng(4)
    normal = scores(rng, lambda rng, shape: rng.normal(0, 1, shape), 3000)
    heavy = scores(rng, lambda rng, shape: rng.standard_t(1.5, shape), 3000)
    found = side_by_side.worths({"normal": normal, "heavy": heavy}).set_index("data")["efficiency"]
    assert found["normal"] == pytest.approx(2 / np.pi, abs=0.1)
    assert found["heavy"] > 1


def test_where_nothing_differs_nothing_is_told():
    rng = np.random.default_rng(0)
    flat = scores(rng, lambda rng, shape: rng.normal(0, 1, shape), 60).assign(score=rng.normal(0, 1, 180))
    found = side_by_side.worths({"flat": flat}).iloc[0]
    assert np.isnan(found["efficiency"])
    assert "no two systems" in found["why"]


def test_z_of_documents_is_that_of_means_where_each_has_one_segment():
    own = scores(np.random.default_rng(1), lambda rng, shape: rng.normal(0, 1, shape), 50)
    table = side_by_side.z_statistics(compared.of_scores(own))
    wide = own.pivot(index="segment", columns="system", values="score")
    gap = wide["S0"] - wide["S1"]
    assert table["scores"][0] == pytest.approx(gap.mean() / (gap.std(ddof=1) / np.sqrt(50)))
