"""Rebuild with which probability Pearmut's dynamic assignment showed each system on each screen.

Pearmut logs no probabilities, but they follow from what had been logged when a screen was loaded, and from the
campaign's own file. First all systems below ``dynamic_coldstart`` judgements are drawn evenly; then ``dynamic_models``
of them, one after another, by weights of their places in the order of mean scores. Source: Pearmut
(github.com/zouharvi/pearmut), ``assignment.py`` of release 1.1.6, and of two earlier states, whose weights differ.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from evalkit.data.designs import by_place, inclusion
from evalkit.data.importing.kinds.pearmut_campaign import RESET, Campaign, Entry

#: Pearmut's own values where a campaign's file has none.
_COLDSTART, _SHOWN = 5, 1
#: Nats by which one rule must fit the log better than another to be told from it.
_TOLD = 5.0
#: Standard errors by which a system may be shown more or less often than a rule says, and the share of outputs that it
#: may give no chance, before it does not fit.
_FITS, _CHANCELESS = 4.0, 0.02
_LEAST = 1e-3  # probability that a likelihood takes at least


@dataclass(frozen=True)
class Rule:
    """A state of Pearmut: its name in words, the weight of a place counted from 1, and what its start counts."""

    name: str
    weight: Callable[[np.ndarray], np.ndarray]
    by_document: bool = False


RULES = (
    Rule("1/2, 1/2, 1/3, 1/4 … (release 1.1.6)", by_place, by_document=True),
    Rule("1, 1/√2, 1/√3 … (an earlier state)", lambda place: place**-0.5),
    Rule("1, 1/2, 1/3 … (an earlier state)", lambda place: 1 / place),
)


@dataclass
class _Known:
    """What a log says after each entry of each system: (entries + 1, systems)."""

    sums: np.ndarray
    scores: np.ndarray
    outputs: np.ndarray
    documents: np.ndarray


@dataclass
class _Done:
    """What one annotator has added since they began: sums, numbers of scores and outputs, and documents by system."""

    added: np.ndarray
    documents: set[tuple[str, int]] = field(default_factory=set)


def is_dynamic(campaign: Campaign) -> bool:
    """Tell whether a campaign's file says that scores had a say in what was shown."""
    return campaign.info.get("assignment") == "dynamic"


def probabilities(entries: Sequence[Entry], campaign: Campaign) -> tuple[list[Mapping[str, float]], list[str]]:
    """Return for each entry the probability of every system that it showed, and how it was found in words.

    No probabilities, and why, where the campaign's file does not tell enough, or the log fits no known rule.
    """
    systems = _systems(campaign)
    shown = min(_whole(campaign.info.get("dynamic_models"), _SHOWN), len(systems))
    if len(systems) < 2 or not entries:
        return [], ["probabilities of dynamic assignment were not rebuilt: the campaign's file lists no systems"]
    known, place = _history(entries, systems, len(campaign.documents)), {name: i for i, name in enumerate(systems)}
    again = _again(entries)
    judged = [
        (number, [place[name] for name in _models(entry) if name in place])
        for number, entry in enumerate(entries)
        if entry.position.isdecimal() and _models(entry) and again[number] is None
    ]
    before = _before(entries)[[number for number, _ in judged]]
    seen = np.zeros((len(judged), len(systems)), bool)
    for row, (_, those) in enumerate(judged):
        seen[row, those] = True
    start = _whole(campaign.info.get("dynamic_coldstart"), _COLDSTART)
    found = [_chances(rule, known, before, shown, start, len(campaign.documents)) for rule in RULES]
    fits = [_likelihood(chance, seen) for chance in found]
    best = int(np.argmax(fits))
    if why := _misfit(found[best], seen):
        return [], [f"probabilities of dynamic assignment were not rebuilt: {why}"]
    if fits[best] - fits[0] < _TOLD:
        best = 0
    unsure = [rule.name for rule, fit in zip(RULES, fits) if rule is not RULES[best] and fits[best] - fit < _TOLD]
    by_entry: list[Mapping[str, float]] = [{} for _ in entries]
    for row, (number, those) in enumerate(judged):
        by_entry[number] = {systems[i]: float(found[best][row, i]) for i in those if found[best][row, i] > 0}
    for number, first in enumerate(again):
        by_entry[number] = by_entry[number] if first is None else by_entry[first]
    return by_entry, [_told(RULES[best], unsure, shown, len(systems))]


def _told(rule: Rule, unsure: Sequence[str], shown: int, systems: int) -> str:
    sure = f"; the log cannot tell it from {' or '.join(unsure)}" if unsure else "; the log fits it best"
    return (
        f"assignment was dynamic: the probability of each system on each screen was rebuilt from the order of the log "
        f"({shown} of {systems} systems a screen, weights by place {rule.name}{sure})"
    )


def _systems(campaign: Campaign) -> list[str]:
    """List the systems that the first item has, as all must."""
    first = campaign.documents[0][0] if campaign.documents and campaign.documents[0] else None
    outputs = first.get("tgt") if isinstance(first, dict) else None
    return sorted(map(str, outputs)) if isinstance(outputs, dict) else []


def _whole(value: object, default: int) -> int:
    return int(str(value)) if str(value).isdecimal() and int(str(value)) else default


def _models(entry: Entry) -> list[str]:
    """List what a screen showed: the systems of its first item; none where it was skipped, reset or is a form."""
    first = entry.said[0] if entry.said else None
    return [*first] if isinstance(first, dict) else []


def _again(entries: Sequence[Entry]) -> list[int | None]:
    """Name for each entry the one that it replaces, as its annotator went back to a screen: it was no draw."""
    found: list[int | None] = []
    first: dict[tuple[str, str, str], int] = {}
    for number, entry in enumerate(entries):
        if entry.said == [RESET]:
            first = {key: place for key, place in first.items() if key[0] != entry.user}
        keys = [(entry.user, entry.position, name) for name in _models(entry)]
        found.append(next((first[key] for key in keys if key in first), None))
        for key in keys:
            first.setdefault(key, number)
    return found


def _before(entries: Sequence[Entry]) -> np.ndarray:
    """Count for each entry how many had been logged when it was loaded; without times, all that stand before it."""
    ended = [max(entry.times) if entry.times else -np.inf for entry in entries]
    logged = np.maximum.accumulate(np.array(ended))
    loaded = [
        np.searchsorted(logged, min(entry.times), side="right") if entry.times else number
        for number, entry in enumerate(entries)
    ]
    return np.minimum(np.array(loaded, int), np.arange(len(entries)))


def _history(entries: Sequence[Entry], systems: Sequence[str], documents: int) -> _Known:
    """Follow what Pearmut knows from entry to entry; who begins anew takes their own away."""
    place = {name: i for i, name in enumerate(systems)}
    counts, done = np.zeros((len(entries) + 1, 3, len(systems))), np.zeros((len(entries) + 1, len(systems)))
    held: dict[tuple[str, int], int] = {}
    by_user: dict[str, _Done] = {}
    for number, entry in enumerate(entries, 1):
        mine = by_user.setdefault(entry.user, _Done(np.zeros((3, len(systems)))))
        counts[number], done[number] = counts[number - 1], done[number - 1]
        if entry.said == [RESET]:
            counts[number] -= mine.added
            for one in mine.documents:
                held[one] -= 1
                done[number, one[1]] -= held[one] == 0
            del by_user[entry.user]
            continue
        added = _added(entry, place)
        counts[number] += added
        mine.added += added
        if entry.position.isdecimal():
            for one in {(entry.position, place[name]) for name in _models(entry) if name in place} - mine.documents:
                held[one] = held.get(one, 0) + 1
                done[number, one[1]] += held[one] == 1
                mine.documents.add(one)
    return _Known(counts[:, 0], counts[:, 1], counts[:, 2], done)


def _added(entry: Entry, place: Mapping[str, int]) -> np.ndarray:
    """Sum an entry's scores by system, and count scores and outputs: (3, systems)."""
    added = np.zeros((3, len(place)))
    for said in entry.said:
        for name, judged in said.items() if isinstance(said, dict) else ():
            if name in place:
                score = _score(judged)
                added[:, place[name]] += (score or 0.0, score is not None, 1)
    return added


def _score(judged: Any) -> float | None:
    """Return the score of an output as Pearmut takes it: the slider's or, of several, their mean."""
    if not isinstance(judged, dict):
        return None
    sliders = judged.get("sliders")
    given = (
        [judged.get("score")]
        if judged.get("score") is not None or not isinstance(sliders, dict)
        else [value for value in sliders.values() if value is not None]
    )
    try:
        return statistics.fmean(float(str(value)) for value in given)
    except (ValueError, statistics.StatisticsError):
        return None


def _chances(rule: Rule, known: _Known, before: np.ndarray, shown: int, start: int, documents: int) -> np.ndarray:
    """Return the probability that each screen shows each system, (screens, systems), by one rule."""
    counts = (known.documents if rule.by_document else known.outputs)[before]
    means = np.divide(known.sums, known.scores, where=known.scores > 0, out=np.zeros_like(known.sums))[before]
    found = np.empty_like(means)
    for row, (count, mean) in enumerate(zip(counts, means)):
        first = count < start
        if first.any():
            found[row] = _filled(first, shown, np.full(int(first.sum()), min(1.0, shown / first.sum())))
            continue
        left = count < documents if rule.by_document else np.ones(len(count), bool)
        chance = _of_places(rule, int(left.sum()), shown) if left.sum() > shown else np.ones(int(left.sum()))
        found[row] = _filled(left, shown, _by_place(chance, mean[left]))
    return found


def _filled(open_: np.ndarray, shown: int, chance: np.ndarray) -> np.ndarray:
    """Put chances of the systems that a draw is among into their places; where they are too few, any others fill up."""
    rest = ~open_
    found = np.where(rest, max(shown - open_.sum(), 0) / max(rest.sum(), 1), 0.0)
    found[open_] = chance
    return found


def _by_place(chance: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Give each system the chance of its place, the highest mean first; those that are level share theirs."""
    ordered = np.sort(means)[::-1]
    first, last = np.searchsorted(-ordered, -means, side="left"), np.searchsorted(-ordered, -means, side="right")
    total = np.concatenate([[0.0], np.cumsum(chance)])
    return (total[last] - total[first]) / (last - first)


@lru_cache(maxsize=256)
def _of_places(rule: Rule, systems: int, shown: int) -> np.ndarray:
    return inclusion(rule.weight(np.arange(1.0, systems + 1)), shown)


def _likelihood(chance: np.ndarray, seen: np.ndarray) -> float:
    """Return the logarithm of how probable it is that each system was seen where it was, and not elsewhere."""
    safe = np.clip(chance, _LEAST, 1 - _LEAST)
    return float(np.log(np.where(seen, safe, 1 - safe)).sum())


def _misfit(chance: np.ndarray, seen: np.ndarray) -> str:
    """Say in what the log differs from a rule; empty where in nothing that matters."""
    if not len(seen):
        return "the log holds no screens of the campaign"
    lost = float((chance[seen] <= 0).mean())
    spread = np.sqrt((chance * (1 - chance)).sum(axis=0))
    off = np.divide(np.abs((seen - chance).sum(axis=0)), spread, where=spread > 0, out=np.zeros(len(spread)))
    if lost > _CHANCELESS or off.max() > _FITS:
        return "the log does not fit what Pearmut's known versions do with this campaign's file"
    return ""
