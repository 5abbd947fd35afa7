"""Ways of choosing which systems an annotator is shown next, each with the probability that a system is shown.

Source of ``by_rank``: dynamic assignment of Pearmut 1.1.6 (github.com/zouharvi/pearmut, ``assignment.py``), a tool in
use at WMT26 with three systems a screen. Earlier states of it had other weights, such as 1, 1/2, 1/3 ….
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evalkit import DataError
from evalkit.data.designs import by_place, inclusion

#: Share of screens on which ``greedy`` and ``thompson`` show systems that were drawn evenly.
EVENLY = 0.1
#: Draws from the posterior by which ``thompson`` chooses: one of them at random, so that probabilities are exact.
DRAWS = 100
#: About the chance that ``elimination`` ever sets aside the best system, shared by all systems.
RISK = 0.1


@dataclass(frozen=True)
class State:
    """What is known before a screen: counts, means and variances, each (campaigns, systems)."""

    counts: np.ndarray
    means: np.ndarray
    variances: np.ndarray


#: State, systems a screen, random numbers -> the probability that a screen shows a system, (campaigns, systems).
Policy = Callable[[State, int, np.random.Generator], np.ndarray]


def uniform(state: State, shown: int, rng: np.random.Generator) -> np.ndarray:
    """Show every system as often as every other."""
    return np.full(state.means.shape, shown / state.means.shape[1])


def by_rank(state: State, shown: int, rng: np.random.Generator) -> np.ndarray:
    """Draw systems with weights 1/2, 1/2, 1/3, 1/4 … by their place so far, as Pearmut does."""
    places = np.argsort(np.argsort(-state.means, axis=1, kind="stable"), axis=1)
    return _of_places(state.means.shape[1], shown)[places]


def greedy(state: State, shown: int, rng: np.random.Generator) -> np.ndarray:
    """Show the systems that lead, and on one screen in ten any (ε-greedy, ε = ``EVENLY``)."""
    places = np.argsort(np.argsort(-state.means, axis=1, kind="stable"), axis=1)
    return _mixed((places < shown).astype(float), shown)


def thompson(state: State, shown: int, rng: np.random.Generator) -> np.ndarray:
    """Show systems as often as they lead in draws from what is known of their means; see ``DRAWS`` and ``EVENLY``."""
    errors = np.sqrt(state.variances / np.maximum(state.counts, 1))
    means = state.means[:, None] + errors[:, None] * rng.standard_normal((len(errors), DRAWS, errors.shape[1]))
    least = np.partition(means, -shown, axis=2)[..., -shown, None]
    return _mixed((means >= least).mean(axis=1), shown)


def elimination(state: State, shown: int, rng: np.random.Generator) -> np.ndarray:
    """Show evenly those that may yet be the best, and no other (successive elimination; Even-Dar et al. 2006).

    A system is set aside where its mean lies below the best by more than both intervals, which are meant to hold at
    about as many looks as the counts double; it comes back if the best falls.
    """
    counts, systems = np.maximum(state.counts, 2), state.means.shape[1]
    wide = np.sqrt(2 * state.variances * np.log(2 * systems * np.log2(2 * counts) / RISK) / counts)
    left = state.means + wide >= (state.means - wide).max(axis=1, keepdims=True)
    number = left.sum(axis=1, keepdims=True)
    others = np.clip(shown - number, 0, None) / np.maximum(systems - number, 1)
    return np.where(left, np.minimum(shown / number, 1.0), others)


#: A name, as the study prints it -> how systems are chosen once all have been judged a few times.
POLICIES: dict[str, Policy] = {
    "uniform": uniform,
    "by rank": by_rank,
    "greedy": greedy,
    "Thompson": thompson,
    "elimination": elimination,
}


def named(name: str) -> Policy:
    """Return a policy by its name; DataError, naming those there are, where there is none."""
    if name not in POLICIES:
        raise DataError(f"There is no assignment {name!r}. Choose one of: {', '.join(POLICIES)}.")
    return POLICIES[name]


@lru_cache(maxsize=64)
def _of_places(systems: int, shown: int) -> np.ndarray:
    """Return the probability that the first, the second … is on a screen."""
    return inclusion(by_place(np.arange(1.0, systems + 1)), shown)


def _mixed(chance: np.ndarray, shown: int) -> np.ndarray:
    return EVENLY * shown / chance.shape[1] + (1 - EVENLY) * chance
