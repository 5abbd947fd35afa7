"""How many printed numbers were recomputed, and how many of these match: counted by what each comparison rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from evalkit.stats.terms import pluralize
from evalkit.stats.verdicts import BASES, WORDS, in_words

RECOMPUTED, PRINT, DEFINITION, OFFICIAL = BASES
#: What a page calls numbers of a basis, beside those recomputed from data.
_CALLED = {
    PRINT: "Print compared with print",
    DEFINITION: "Definitions and worked examples",
    OFFICIAL: "Official results of shared tasks",
}
#: Verdicts in the order of a sentence, with the verb for one and for several.
_VERBS = {
    "match": ("matches", "match"),
    WORDS[1]: ("is within rounding of its inputs", "are within rounding of their inputs"),
    "differs": ("differs", "differ"),
}
#: Causes that a sentence names before it sums up the others.
_MOST = 4


def count(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Count judged rows of comparisons with print.

    Returns ``bases``: basis -> verdict in words -> how many numbers that were computed; ``lacking``: cause -> how many
    numbers that were not; ``printed``: how many numbers papers print, which leaves official results out.
    """
    rows = list(rows)
    computed = [row for row in rows if row["verdict"] != "not reproducible"]
    bases = {basis: Counter(in_words(row) for row in computed if row["basis"] == basis) for basis in BASES}
    return {
        "bases": {basis: {word: found[word] for word in _VERBS if found[word]} for basis, found in bases.items()},
        "lacking": dict(Counter(row["lacking"] for row in rows if row["verdict"] == "not reproducible").most_common()),
        "printed": sum(row["basis"] != OFFICIAL for row in rows),
    }


def sentences(counts: dict[str, Any]) -> list[str]:
    """Tell a count in words, a sentence a basis: what was recomputed from data first, what cannot be had last.

    >>> row = {"verdict": "match", "basis": RECOMPUTED}
    >>> gone = {"verdict": "not reproducible", "basis": RECOMPUTED, "lacking": "annotations never released"}
    >>> sentences(count([row, row, {"verdict": "differs", "basis": RECOMPUTED}, gone]))[0]
    'Recomputed from data: 3 of 4 printed numbers (75 %); 2 match, 1 differs.'
    >>> sentences(count([gone]))
    ['Recomputed from data: none of 1 printed number.', 'Not recomputed: 1 (annotations never released).']
    >>> sentences(count([]))
    []
    """
    bases, lacking = counts["bases"], counts["lacking"]
    told = []
    if counts["printed"]:
        done, printed = sum(bases[RECOMPUTED].values()), pluralize(counts["printed"], "printed number")
        share = f" ({100 * done / counts['printed']:.0f} %)" if done else ""
        first = f"Recomputed from data: {done or 'none'} of {printed}{share}"
        told.append(f"{first}; {_verdicts(bases[RECOMPUTED])}." if done else f"{first}.")
    told += [
        f"{called}: {sum(bases[basis].values()):,}; {_verdicts(bases[basis])}."
        for basis, called in _CALLED.items()
        if bases[basis]
    ]
    if lacking:
        told.append(f"Not recomputed: {sum(lacking.values()):,} ({_causes(lacking)}).")
    return told


def brief(counts: dict[str, Any]) -> str:
    """Tell in a few words how many recomputed numbers match those printed; '' where none was recomputed.

    >>> row = {"verdict": "match", "basis": RECOMPUTED}
    >>> brief(count([row, row, {"verdict": "differs", "basis": RECOMPUTED}])), brief(count([]))
    ('2 of 3 recomputed numbers match the paper', '')
    """
    found = counts["bases"][RECOMPUTED]
    done, match = sum(found.values()), found.get("match", 0)
    verb = "matches" if match == 1 else "match"
    return f"{match:,} of {pluralize(done, 'recomputed number')} {verb} the paper" if done else ""


def bar(counts: dict[str, Any]) -> dict[str, int]:
    """Return the parts of a bar over the numbers that papers print: verdicts of recomputed ones, and the rest.

    >>> bar(count([{"verdict": "match", "basis": RECOMPUTED}, {"verdict": "match", "basis": DEFINITION}]))
    {'match': 1, 'rest': 1}
    """
    recomputed = counts["bases"][RECOMPUTED]
    rest = counts["printed"] - sum(recomputed.values())
    parts = {{WORDS[1]: "rounding"}.get(word, word): number for word, number in recomputed.items()}
    return parts | ({"rest": rest} if rest else {}) if recomputed else {}


def _verdicts(found: dict[str, int]) -> str:
    """Say how many numbers match, and how many do not: "40 match, 1 differs"; "all match" where none does not."""
    if list(found) == ["match"] and found["match"] > 1:
        return "all match"
    return ", ".join(f"{number:,} {_VERBS[word][number > 1]}" for word, number in found.items())


def _causes(lacking: dict[str, int]) -> str:
    """Name the commonest causes with their numbers, and sum up the others."""
    if len(lacking) == 1:
        return next(iter(lacking))
    named = [f"{cause}: {number:,}" for cause, number in list(lacking.items())[:_MOST]]
    others = sum(list(lacking.values())[_MOST:])
    return "; ".join([*named, f"other causes: {others:,}"] if others else named)
