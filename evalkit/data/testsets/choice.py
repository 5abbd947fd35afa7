"""Choose, by rules that are told, what a test set leaves open: language pair, human scores, reference, systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages
from evalkit.data.names import is_human
from evalkit.data.testsets.folder import Folder, find_pair, listed, parted

#: Kinds of human scores in the order in which the shared tasks have preferred them; others come last, by name.
PREFERRED = ("mqm", "esa", "da-sqm", "wmt-appraise", "wmt", "wmt-raw")
#: What whole systems are ranked by where segments have raw scores (WMT19 to WMT21): the standardised ones.
_OF_SYSTEMS = {"wmt-raw": "wmt-z"}
_CALLED = {"mqm": "MQM", "esa": "ESA", "da-sqm": "DA+SQM"}


def ranked(golds: Iterable[str]) -> list[str]:
    """Sort kinds of human scores as they are preferred: MQM, ESA, DA+SQM, other assessments, then all others by name.

    A kind has variants, such as esa-human1 or mqm.merged; the plain name comes before them.

    >>> ranked(["wmt-z", "esa-human2", "esa-human1", "wmt-raw", "mqm", "stars"])
    ['mqm', 'esa-human1', 'esa-human2', 'wmt-raw', 'stars', 'wmt-z']
    """

    def place(name: str) -> tuple[int, bool, str]:
        plain = name.lower()
        fits = [number for number, kind in enumerate(PREFERRED) if plain == kind]
        near = [number for number, kind in enumerate(PREFERRED[:4]) if plain.startswith((f"{kind}-", f"{kind}."))]
        return ((fits or near or [len(PREFERRED)])[0], not fits, name)

    return sorted(golds, key=place)


def called(gold: str) -> str:
    """Return what human scores are called on a page.

    >>> called("da-sqm"), called("esa-human1")
    ('DA+SQM', 'esa-human1')
    """
    return _CALLED.get(gold, gold)


def pair_of(folder: Folder, wanted: str, *, scored: bool) -> tuple[str, str]:
    """Choose a language pair: as asked, or the one with most human scores of segments; and say how, where it chose.

    scored: only pairs that metrics scored. Raises DataError where there is none, or not the one asked for.
    """
    if wanted:
        return find_pair(folder, wanted), ""
    counts = {pair: _judged(folder, pair) for pair in folder.pairs}
    there = {pair: count for pair, count in counts.items() if count is not None}
    if not there:
        raise DataError(
            f"{folder.name}/human-scores has no scores of segments, <pair>.<name>.seg.score, of "
            f"{listed(folder.pairs)}. "
            "Metrics can only be compared with people's scores: add them, or name another test set."
        )
    found = {pair: count for pair, count in there.items() if not scored or folder.metrics(pair)}
    if not found:
        raise DataError(
            f"{folder.name}/metric-scores has no folder with scores, <metric>-<reference>.seg.score, of "
            f"{listed(there)}, which people judged. Add them, or pass your own with -p metric=FILE."
        )
    best = max(sorted(found), key=lambda pair: found[pair])
    others = [pair for pair in sorted(found) if pair != best]
    why = f"{best} has most human scores; also there: {listed(others)} (-p pair=…)." if others else ""
    return best, why


def _judged(folder: Folder, pair: str) -> int | None:
    """Count the segment scores of the preferred human scores of a pair; None where there is no file of any."""
    golds = ranked(name for name, level in folder.people(pair) if level == "seg")
    if not golds:
        return None
    content = delimited.content(folder.people(pair)[golds[0], "seg"])
    return content.count(b"\n") - content.count(b"None")


def golds_of(people: Mapping[tuple[str, str], Path], wanted: str, pair: str) -> tuple[str, str, str]:
    """Choose the human scores of segments and of systems ("" where there are none): as asked, or as they are preferred.

    Returns both, and how they were chosen where there was a choice. Raises DataError where there are none of segments.
    """
    golds = ranked({name for name, level in people if level == "seg"})
    whole = {name for name, level in people if level == "sys"}
    if not golds:
        raise DataError(
            f"human-scores/ has no scores of segments of {pair}, {pair}.<name>.seg.score. Add them, or choose another "
            "language pair with -p pair=…"
        )
    if wanted and wanted not in golds:
        raise DataError(f"There are no human scores {wanted!r} of segments of {pair}. Choose among {listed(golds)}.")
    gold = wanted or golds[0]
    other = _OF_SYSTEMS.get(gold, "") if not wanted else ""
    of_systems = other if other in whole else gold if gold in whole else ""
    told = []
    if golds[1:] and not wanted:
        rule = "the first in the shared tasks' order: MQM, ESA, DA+SQM, other assessments, others by name"
        told.append(f"{gold} was chosen among the human scores ({listed(golds)}): {rule} (-p gold=…).")
    if of_systems not in ("", gold):
        told.append(f"Whole systems are compared with {of_systems}, as in WMT19 to WMT21.")
    return gold, of_systems, " ".join(told)


def of_reference(names: Collection[str], references: Collection[str], wanted: str) -> tuple[dict[str, str], str]:
    """Choose the metrics that read one reference, or none, and name them.

    names: as files name them, such as BLEU-refA. Returns what each is called (by its plain name, or by the whole one
    where the metric is there with and without a reference), and how the reference was chosen.
    Raises DataError where no metric reads the reference that was asked for.
    """
    parts = {name: parted(name, references) for name in names}
    single = Counter(reference for _, reference in parts.values() if reference not in ("", "src", "all"))
    several = {name: count for name, count in single.items() if "." not in name} or dict(single)
    if wanted and wanted not in single:
        raise DataError(f"No metric reads the reference {wanted!r}. Choose among {listed(sorted(single)) or 'none'}.")
    reference = wanted or max(sorted(several), key=lambda name: several[name], default="")
    kept = [name for name, (_, read) in parts.items() if read in ("", "src", reference)]
    if not reference:
        kept = list(names)
    bases = Counter(parts[name][0] for name in kept)
    shown = {name: parts[name][0] if bases[parts[name][0]] == 1 else name for name in kept}
    left = [name for name in names if name not in shown]
    counts = listed(f"{name}: {count}" for name, count in sorted(single.items()))
    why = f"Metrics compared are those that read the reference {reference}, or none ({counts}); {len(left)} that read "
    return shown, f"{why}others are left out (-p reference=…)." if left and not wanted else ""


def set_apart(systems: Sequence[str], references: Collection[str], leave_out: Collection[str]) -> pd.DataFrame:
    """List which of the judged systems are compared with none, and why: system, why.

    references: names of reference translations, which people made. leave_out: as asked. Raises DataError for a name
    that no judged system has.
    """
    unknown = [name for name in leave_out if name not in systems]
    if unknown:
        raise DataError(f"leave_out: people judged no system {unknown[0]!r}. Choose among {listed(systems)}.")
    human = is_human(pd.Series(list(systems), dtype="str")).to_numpy()
    rows = []
    for name, alike in zip(systems, human, strict=True):
        if name in references:
            rows.append((name, "a reference translation"))
        elif alike or name.startswith("synthetic_ref"):
            rows.append((name, "named as human translations are"))
        elif name in leave_out:
            rows.append((name, "left out as asked"))
    return pd.DataFrame(rows, columns=["system", "why"], dtype="str")


def codes(pair: str) -> tuple[str, str]:
    """Return the source and the target language of a pair as this suite writes them.

    >>> codes("en-cs_CZ")
    ('eng', 'ces_CZ')
    """
    source, _, target = languages.in_full(pair).partition("-")
    return source, target
