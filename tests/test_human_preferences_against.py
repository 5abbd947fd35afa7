"""Strengths, points and win rates against evalica and choix, which know nothing of this package."""

import choix
import evalica
import numpy as np
import pytest
from evalica import Winner
from makers import comparisons

from evalkit.human import preferences

WINNERS = {"a": Winner.X, "b": Winner.Y, "tie": Winner.Draw}
EXACT = {"tolerance": 1e-13, "limit": 1_000_000}


def table(seed, *, tie=0.6):
    """Random answers between seven systems that differ; every two have met."""
    strengths = np.random.default_rng(seed).normal(0, 0.7, 7)
    return comparisons(seed, strengths=strengths, size=400, tie=tie)


def asked(frame):
    return frame["system_a"], frame["system_b"], frame["preference"].map(WINNERS)


def centred(scores, systems):
    logs = np.log(scores[systems].to_numpy())
    return logs - logs.mean()


@pytest.mark.parametrize("seed", range(8))
def test_ties_that_count_half(seed):
    frame = table(seed)
    fitted = preferences.fit(frame, ties="half")
    theirs = evalica.bradley_terry(*asked(frame), **EXACT)
    assert fitted.strength == pytest.approx(centred(theirs.scores, fitted.cells.systems), abs=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_davidsons_ties_are_newmans(seed):
    """Newman (2023) adds 2v times the root of both strengths for a tie: Davidson's model with t = log 2v."""
    frame = table(seed)
    fitted = preferences.fit(frame, ties="davidson")
    theirs = evalica.newman(*asked(frame), **EXACT)
    assert fitted.strength == pytest.approx(centred(theirs.scores, fitted.cells.systems), abs=1e-9)
    assert fitted.tie[0] == pytest.approx(np.log(2 * theirs.v), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_without_ties_choix_has_the_same_strengths(seed):
    frame = table(seed, tie=0)
    fitted = preferences.fit(frame)
    number = {name: place for place, name in enumerate(fitted.cells.systems)}
    won = frame["preference"].eq("a")
    winner, loser = frame["system_a"].where(won, frame["system_b"]), frame["system_b"].where(won, frame["system_a"])
    pairs = list(zip(winner.map(number), loser.map(number)))
    theirs = choix.opt_pairwise(len(number), pairs, alpha=0, tol=1e-12)
    assert fitted.strength == pytest.approx(theirs - theirs.mean(), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_points_and_win_rates(seed):
    frame = table(seed)
    points = preferences.elo(frame, orders=0).set_index("system")["points"]
    theirs = evalica.elo(*asked(frame)).scores
    assert points.to_dict() == pytest.approx(theirs.to_dict(), abs=1e-9)
    average = preferences.win_rates(frame).set_index("system")["average"]
    assert average.to_dict() == pytest.approx(evalica.average_win_rate(*asked(frame)).scores.to_dict(), abs=1e-12)
