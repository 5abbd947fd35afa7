"""Draw a campaign: what a protocol asks, which documents the hours allow, calibration, control, screens in order."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.design import assignment
from evalkit.campaign.design.assignment import Item, Screen, demand_connected, pairs_by_document
from evalkit.campaign.design.texts import Texts
from evalkit.campaign.findings import Result, words
from evalkit.data.provenance import scale_of
from evalkit.human import calibration

#: Levels of quality of which a calibration set has equally many items, evenly over the scale (Licht et al. 2022).
LEVELS = 5
_SCREEN = 10  # items of a screen of the calibration set
_TRIES = 20  # spans that are tried for a degraded text
_LONG_WORD = 25  # a text whose words are longer on average has no spaces between them


class Protocol(Result):
    """A way of asking.

    question: for annotators, in a sentence. pearmut: what a campaign's ``info`` says of it. times, scores: the public
    campaigns that tell how long a judgement takes and what scatters. scale: ends of its scores, None where errors make
    them. together: how many systems' translations stand on one screen (0: all).
    """

    scale: tuple[float, float] | None = None
    together = 1

    @property
    def heading(self) -> str:
        """How the column of scores is headed, with the ends of the scale.

        >>> PROTOCOLS["XSTS"].heading
        'score (1-5)'
        """
        return "score ({:g}-{:g})".format(*self.scale) if self.scale else "score"

    @property
    def marks(self) -> bool:
        """Whether errors are marked in the texts, for which a tool is needed."""
        return self.pearmut["protocol"] in ("ESA", "cESA", "MQM")

    @property
    def compares(self) -> bool:
        """Whether one answer compares two translations, so that no item has a score of its own."""
        return self.together == 2


_TOLD = tomllib.loads(Path(__file__).with_name("protocols.toml").read_text(encoding="utf-8"))
#: Seconds and variances of public campaigns, see ``protocols.toml``.
MEASURED: dict[str, dict[str, Any]] = _TOLD.pop("measured")
#: By their names, as the field writes them.
PROTOCOLS = {
    name: Protocol(name=name, **told | ({"scale": tuple(told["scale"])} if "scale" in told else {}))
    for name, told in _TOLD.items()
}


def get_protocol(name: str) -> Protocol:
    """Return a protocol by its name, in whatever case.

    >>> get_protocol("esa").name
    'ESA'
    """
    found = {known.casefold(): one for known, one in PROTOCOLS.items()}.get(name.strip().casefold())
    if not found:
        raise DataError(f"{name!r} is no protocol that is known here. Choose one of {', '.join(PROTOCOLS)}.")
    return found


@dataclass(frozen=True)
class Wish:
    """What a campaign is to be.

    annotators: their names. hours: of each; None judges all documents. seconds: that a judgement takes. overlap: share
    of documents judged by two. calibration: items that all judge. degraded, repeats: shares of all first showings that
    come again, as degraded items or as they were. everybody: judges all documents by all systems, as a class does; then
    nothing overlaps. opponents: of a comparison, how many others each system meets in a document; None: all. seed: of
    all that is drawn.
    """

    protocol: Protocol
    annotators: tuple[str, ...]
    hours: float | None = None
    seconds: float = 30.0
    overlap: float = 0.2
    calibration: int = 0
    degraded: float = 0.05
    repeats: float = 0.05
    everybody: bool = False
    opponents: int | None = None
    seed: int = 7

    def __post_init__(self) -> None:
        """Refuse what nobody can do."""
        for name, most in (("overlap", 1), ("degraded", 0.5), ("repeats", 0.5)):
            if not 0 <= getattr(self, name) <= most:
                raise DataError(f"--{name} {getattr(self, name):g} is no share. Give a number like 0.1.")
        if (self.hours is not None and not 0 < self.hours < 1e4) or not 0 < self.seconds < 1e5 or self.calibration < 0:
            raise DataError("Hours, seconds and the size of the calibration set are numbers above 0. Correct them.")

    @property
    def times(self) -> float:
        """How many people judge a document by a system, on average."""
        if self.everybody:
            return len(self.annotators)
        return 1 + self.overlap * (len(self.annotators) > 1)

    @property
    def capacity(self) -> float:
        """How many judgements an annotator can make."""
        return float("inf") if self.hours is None else self.hours * 3600 // self.seconds

    @property
    def shares(self) -> dict[str, float]:
        """Which share of first showings comes again, by kind."""
        return {"degraded": self.degraded, "repeat": self.repeats}


class Drawn(Result):
    """A campaign as it was drawn: everybody's screens in order, and what is to be known of them.

    wish: as it was carried out. documents: those of the main part; reserved: those of the calibration set. notes: what
    could not be had.
    """

    @property
    def judgements(self) -> list[int]:
        """How many each annotator makes."""
        return [_count(mine) for mine in self.screens]


def draw(texts: Texts, wish: Wish, *, prior: pd.DataFrame | None = None) -> Drawn:
    """Draw a campaign; the same wish, texts and seed draw the same one.

    prior: earlier ratings of these texts, of which the calibration set is chosen. Raises DataError where the hours do
    not allow a single document.
    """
    rng = np.random.default_rng(wish.seed)
    notes: list[str] = []
    if wish.protocol.compares and (wish.calibration or wish.degraded or wish.repeats):
        wish = replace(wish, calibration=0, degraded=0.0, repeats=0.0)
        notes.append(words("drawn.compares"))
    systems = list(texts.outputs)
    if wish.protocol.together != 1 and len(systems) < 2:
        raise DataError(f"{wish.protocol.name} compares systems, and there is one. Name the output of another, too.")
    common = _calibration(texts, wish, rng, prior=prior, notes=notes) if wish.calibration else []
    reserved = tuple(sorted({texts.docs[item.segment] for screen in common for item in screen.items}))
    wish = replace(wish, calibration=_count(common))
    sizes = {doc: len(places) for doc, places in texts.documents.items() if doc not in reserved}
    if not sizes:
        raise DataError("The calibration set takes all documents. Lower --calibration, or tell more documents.")
    order = [list(sizes)[place] for place in rng.permutation(len(sizes))]
    shown = _shown(wish, systems, order, rng)
    room = (wish.capacity - _count(common)) / (1 + wish.degraded + wish.repeats)
    columns = shown[order[0]]
    wide = len(columns) if wish.protocol.compares else sum(map(len, columns))
    counts = np.cumsum([sizes[doc] * wide * wish.times for doc in order])
    many = int((counts <= room * len(wish.annotators)).sum())
    drawn = _whole(texts, wish, shown, order[:many], common, rng) if many else None
    while drawn and many > 1 and (most := max(map(_count, drawn))) > wish.capacity:
        many = min(many - 1, int(many * wish.capacity / most) or 1)
        drawn = _whole(texts, wish, shown, order[:many], common, rng)
    if not drawn:
        raise DataError(words("refused.hours", wish=wish, systems=systems))
    if wish.opponents is not None:
        demand_connected(systems, [pair for doc in order[:many] for pair in shown[doc]])
    if many < len(order):
        notes.append(words("drawn.hours", many=many, all=len(order)))
    screens, documents = tuple(map(tuple, drawn)), tuple(order[:many])
    return Drawn(wish=wish, screens=screens, documents=documents, reserved=reserved, notes=tuple(notes))


def _shown(
    wish: Wish, systems: list[str], docs: list[str], rng: np.random.Generator
) -> dict[str, Sequence[tuple[str, ...]]]:
    """Say what each document is shown by: as its protocol has it, or by pairs of some systems."""
    if wish.opponents is None or wish.opponents == len(systems) - 1:
        return dict.fromkeys(docs, assignment.columns(systems, wish.protocol.together))
    if not wish.protocol.compares:
        raise DataError(f"--opponents is for comparisons of two, and {wish.protocol.name} is none. Leave it out.")
    return {**pairs_by_document(systems, docs, wish.opponents, rng)}


def _count(screens: Sequence[Screen]) -> int:
    return sum(screen.judgements for screen in screens)


def _screen(texts: Texts, doc: str, systems: tuple[str, ...], kind: str = "", *, compared: bool = False) -> Screen:
    """Show a document by some systems. kind: of its items; empty where they are systems' and people's translations."""
    kinds = tuple(kind or ("reference" if system in texts.humans else "system") for system in systems)
    items = [
        Item(place, systems, kinds, tuple(texts.outputs[system][place] for system in systems), compared)
        for place in texts.documents[doc]
    ]
    return Screen(doc, kind or "main", tuple(items))


def _whole(
    texts: Texts,
    wish: Wish,
    shown: Mapping[str, Sequence[tuple[str, ...]]],
    docs: Sequence[str],
    common: Sequence[Screen],
    rng: np.random.Generator,
) -> list[list[Screen]]:
    """Draw everybody's screens of some documents: the calibration set first, then the rest with its copies.

    What shares of single judgements come to, and what who has few documents cannot be shown again, others are shown.
    """
    sizes, crew = {doc: len(texts.documents[doc]) for doc in docs}, len(wish.annotators)
    if wish.everybody:
        showings = assignment.to_everybody(sizes, shown, annotators=crew)
    else:
        showings = assignment.assign(sizes, shown, annotators=crew, overlap=wish.overlap, rng=rng)
    originals = []
    turns: assignment.Turns = {}
    for own in showings:
        mine = assignment.with_sides(assignment.ordered(own, rng), turns, rng)
        originals.append([_screen(texts, one.doc, one.systems, compared=wish.protocol.compares) for one in mine])
    found: list[list[Screen]] = [[] for _ in originals]
    due = dict.fromkeys(wish.shares, 0.0)
    for number in sorted(range(crew), key=lambda one: len(originals[one])):
        copies = _copies(texts, wish, originals[number], due, rng)
        found[number] = [*common, *assignment.insert(originals[number], copies, rng)]
    return found


def _copies(
    texts: Texts, wish: Wish, originals: Sequence[Screen], due: dict[str, float], rng: np.random.Generator
) -> dict[int, Screen]:
    """Choose documents that are shown again, degraded or as they are; each once, the last one in part.

    due: judgements of each kind that are lacking so far, which is kept up. Nobody has more than twice their own share.
    """
    total, found = _count(originals), {}
    for kind, share in wish.shares.items():
        due[kind] += share * total
        left = min(due[kind], 2 * share * total)
        for place in map(int, rng.permutation(len(originals))):
            many = round(left / originals[place].items[0].judgements)
            if many < 1:
                break
            if place in found or not assignment.places_of_copy(place, len(originals), kind):
                continue
            if copy := _copied(texts, originals[place], kind, many, rng):
                found[place] = copy
                left -= copy.judgements
                due[kind] -= copy.judgements
    return found


def _copied(texts: Texts, original: Screen, kind: str, many: int, rng: np.random.Generator) -> Screen | None:
    """Copy so many items in a row, exactly or degraded; None where nothing of a screen can be degraded.

    A degraded copy holds nothing but degraded texts, so that none suffers from its neighbours.
    """
    items = []
    for item in original.items:
        shown: Sequence[str | None] = item.texts
        if kind == "degraded":
            shown = [degraded(text, texts.outputs[system], rng) for system, text in zip(item.systems, item.texts)]
        texts_shown = tuple(text for text in shown if text is not None)
        if len(texts_shown) == len(item.texts):
            items.append(item._replace(kinds=(kind,) * len(shown), texts=texts_shown))
    first = int(rng.integers(max(1, len(items) - many + 1)))
    chosen = tuple(items[first : first + many])
    return Screen(original.doc, kind, chosen) if chosen else None


# Degraded texts


def span_length(words: int) -> int:
    """Return how many words of a translation are replaced.

    Source: Graham et al. 2017, "Can machine translation systems be evaluated by the crowd alone?", section 3.

    >>> [span_length(words) for words in (1, 2, 5, 6, 9, 16, 20, 21, 40)]
    [1, 2, 2, 3, 4, 5, 5, 5, 10]
    """
    steps = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
    return next((length for most, length in steps if words <= most), words // 4)


def degraded(text: str, donors: Sequence[str], rng: np.random.Generator) -> str | None:
    """Replace a span of a text by an equally long one of another, from ``donors``; None where that changes nothing.

    Words are cut by spaces; a text without any is cut into letters. The span does not touch the first nor the last
    word where the text is long enough. A text of one word, which would be replaced whole, is not degraded.
    """
    words = text.split()
    unit = r"\S" if words and sum(map(len, words)) / len(words) > _LONG_WORD else r"\S+"
    places = [match.span() for match in re.finditer(unit, text)]
    count, length = len(places), span_length(len(places))
    if count < 2:
        return None
    inner = 1 if count - length >= 2 else 0
    for _ in range(_TRIES):
        donor = donors[int(rng.integers(len(donors)))]
        taken = [match.span() for match in re.finditer(unit, donor)]
        if len(taken) < length:
            continue
        start = int(rng.integers(inner, count - length - inner + 1))
        other = int(rng.integers(len(taken) - length + 1))
        piece = donor[taken[other][0] : taken[other + length - 1][1]]
        found = text[: places[start][0]] + piece + text[places[start + length - 1][1] :]
        if found.split() != words:
            return found
    return None


# What everybody judges: items that earlier annotators agreed on or, without any, whole documents


def _calibration(
    texts: Texts, wish: Wish, rng: np.random.Generator, *, prior: pd.DataFrame | None, notes: list[str]
) -> list[Screen]:
    """Return the screens of the calibration set, whose documents nobody judges otherwise.

    prior: earlier ratings of these texts: then the items are those agreed upon, as many for each level of quality.
    Without, whole documents are drawn, one by this and one by that system.
    """
    screens = _drawn(texts, wish, rng) if prior is None else _agreed(texts, wish, prior, rng)
    way = "agreed" if prior is not None else "drawn" if screens else "none"
    told = {"levels": LEVELS, "have": _count(screens), "wanted": wish.calibration}
    notes.append(words(f"drawn.calibration_{way}", **told))
    return screens


def _drawn(texts: Texts, wish: Wish, rng: np.random.Generator) -> list[Screen]:
    """Draw documents until there are about as many items as wanted; systems take turns."""
    systems = [name for name in texts.outputs if name not in texts.humans] or list(texts.outputs)
    docs, groups = list(texts.documents), assignment.columns(systems, wish.protocol.together)
    turn = rng.permutation(len(groups))
    screens: list[Screen] = []
    for doc in (docs[place] for place in rng.permutation(len(docs))):
        group = groups[int(turn[len(screens) % len(groups)])]
        have, more = _count(screens), len(texts.documents[doc]) * len(group)
        if len(screens) < len(docs) - 1 and abs(have + more - wish.calibration) < abs(have - wish.calibration):
            screens.append(_screen(texts, doc, group, "calibration"))
    return screens


def _agreed(texts: Texts, wish: Wish, prior: pd.DataFrame, rng: np.random.Generator) -> list[Screen]:
    """Choose items that earlier annotators agreed on, and show each by itself, in an order by chance."""
    place = {(doc, str(line)): line - 1 for line, doc in enumerate(texts.docs, 1)}
    named = prior[["doc", "segment", "system"]].astype("str")
    known = prior[[(doc, segment) in place and system in texts.outputs for doc, segment, system in named.to_numpy()]]
    if known.empty:
        raise DataError(words("refused.prior"))
    steps = np.linspace(*scale_of(prior), LEVELS).tolist()
    agreed = calibration.agreed_items(known, levels=steps)["level"].value_counts()
    fewest = LEVELS * int(agreed.reindex(steps, fill_value=0).min())
    remedy = f"Pass --calibration {fewest}, or a larger --pilot."
    each = max(1, wish.calibration // LEVELS)
    chosen = calibration.choose_set(known, per_level=each, levels=steps, seed=wish.seed, remedy=remedy)
    items = []
    for row in (chosen.iloc[int(number)] for number in rng.permutation(len(chosen))):
        segment, system = place[str(row["doc"]), str(row["segment"])], str(row["system"])
        group = (system, *(other for other in sorted(texts.outputs) if other != system))
        group = group[: wish.protocol.together or None]
        shown = tuple(texts.outputs[one][segment] for one in group)
        items.append(Item(segment, group, ("calibration",) * len(group), shown))
    starts = range(0, len(items), _SCREEN)
    return [Screen("", "calibration", tuple(items[start : start + _SCREEN])) for start in starts]
