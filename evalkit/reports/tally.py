"""How many printed numbers were recomputed, and how many of these match: counted by what each comparison rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from evalkit.stats.terms import pluralize
from evalkit.stats.verdicts import BASES, WORDS, in_words

RECOMPUTED, PRINT, DEFINITION, OFFICIAL = BASES
#: What a page calls numbers of a basis.
_CALLED = {
    RECOMPUTED: "Rests on data",
    PRINT: "Follows from print",
    DEFINITION: "Definitions, worked examples",
    OFFICIAL: "Official results of shared tasks",
}
_ROUNDING, _GONE = WORDS[1:3]
#: Verdicts in the order of a sentence, with the verb for one and for several.
_VERBS = {
    "match": ("matches", "match"),
    _ROUNDING: ("is within rounding of its inputs", "are within rounding of their inputs"),
    "differs": ("differs", "differ"),
}
#: The columns of ``table``.
COLUMNS = (*_VERBS, _GONE)
#: Causes that a sentence names before it sums up the others.
_MOST = 4


def count(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Count judged rows of comparisons with print, each row once.

    Returns ``bases``: basis -> verdict in words (``COLUMNS``) -> how many numbers; ``lacking``: cause -> how many
    printed numbers could not be computed; ``absent``: the same of official results, which papers do not print;
    ``printed``: how many numbers papers print; ``tables``: (item, paper) -> how many recomputed numbers match.
    """
    rows = list(rows)
    found = Counter((row["basis"], in_words(row)) for row in rows)
    gone = [row for row in rows if row["verdict"] == _GONE]
    causes = [Counter(row["lacking"] for row in gone if (row["basis"] == OFFICIAL) is own) for own in (False, True)]
    match = [row for row in rows if row["basis"] == RECOMPUTED and row["verdict"] == "match"]
    return {
        "bases": {basis: {word: found[basis, word] for word in COLUMNS if found[basis, word]} for basis in BASES},
        "lacking": dict(causes[0].most_common()),
        "absent": dict(causes[1].most_common()),
        "printed": sum(row["basis"] != OFFICIAL for row in rows),
        "tables": dict(Counter((row.get("item", ""), row.get("paper", "")) for row in match).most_common()),
    }


def sentences(counts: dict[str, Any]) -> list[str]:
    """Tell a count in words: what was recomputed from data first, what cannot be had last.

    >>> row = {"verdict": "match", "basis": RECOMPUTED}
    >>> gone = {"verdict": "not reproducible", "basis": RECOMPUTED, "lacking": "annotations never released"}
    >>> sentences(count([row, row, {"verdict": "differs", "basis": RECOMPUTED}, gone]))[0]
    'Recomputed from data: 3 of 4 printed numbers (75 %); 2 match, 1 differs.'
    >>> sentences(count([gone]))
    ['Recomputed from data: none of 1 printed number.', 'Not recomputed: 1 (annotations never released).']
    >>> sentences(count([]))
    []
    """
    told = []
    if counts["printed"]:
        found = _computed(counts)
        done, printed = sum(found.values()), pluralize(counts["printed"], "printed number")
        share = f" ({100 * done / counts['printed']:.0f} %); {_verdicts(found)}" if done else ""
        told.append(f"Recomputed from data: {f'{done:,}' if done else 'none'} of {printed}{share}.")
    match = sum(counts["tables"].values())
    (item, paper), most = next(iter(counts["tables"].items()), (("", ""), 0))
    if match / 2 < most < match:
        told.append(f"{most:,} of the {match:,} that match are one table ({paper}, {item}).")
    for what, causes in (("Not recomputed", counts["lacking"]), ("Official results not to be had", counts["absent"])):
        if causes:
            told.append(f"{what}: {sum(causes.values()):,} ({_causes(causes)}).")
    return told


def table(counts: dict[str, Any]) -> list[tuple[str, list[int]]]:
    """Lay a count out: what numbers rest on, and how many have each verdict of ``COLUMNS``, and in all.

    The numbers that papers print add up in a row of their own, above official results, which are counted apart.

    >>> rows = [{"verdict": "match", "basis": basis} for basis in BASES]
    >>> [(name, numbers[-1]) for name, numbers in table(count(rows))][-2:]
    [('All printed numbers', 3), ('Official results of shared tasks', 1)]
    """
    rows = {}
    for basis, found in counts["bases"].items():
        if found:
            rows[basis] = [*(found.get(word, 0) for word in COLUMNS), sum(found.values())]
    official = rows.pop(OFFICIAL, None)
    told = [(_CALLED[basis], numbers) for basis, numbers in rows.items()]
    if len(rows) > 1:
        told.append(("All printed numbers", [sum(column) for column in zip(*rows.values(), strict=True)]))
    return told + ([(_CALLED[OFFICIAL], official)] if official else [])


def _computed(counts: dict[str, Any]) -> dict[str, int]:
    """Return verdict -> how many numbers, of those that were recomputed from data."""
    return {word: number for word, number in counts["bases"][RECOMPUTED].items() if word != _GONE}


def shown(counts: dict[str, Any]) -> dict[str, Any]:
    """Return what pages show of a count: a bar, sentences, and a table with its columns."""
    return {"bar": bar(counts), "sentences": sentences(counts), "columns": COLUMNS, "rows": table(counts)}


def brief(counts: dict[str, Any]) -> str:
    """Tell in a few words how many recomputed numbers match those printed; '' where none was recomputed.

    >>> row = {"verdict": "match", "basis": RECOMPUTED}
    >>> brief(count([row, row, {"verdict": "differs", "basis": RECOMPUTED}])), brief(count([]))
    ('2 of 3 recomputed numbers match the paper', '')
    """
    found = _computed(counts)
    done, match = sum(found.values()), found.get("match", 0)
    verb = "matches" if match == 1 else "match"
    return f"{match:,} of {pluralize(done, 'recomputed number')} {verb} the paper" if done else ""


def bar(counts: dict[str, Any]) -> dict[str, int]:
    """Return the parts of a bar over the numbers that papers print: verdicts of recomputed ones, and the rest.

    >>> bar(count([{"verdict": "match", "basis": RECOMPUTED}, {"verdict": "match", "basis": DEFINITION}]))
    {'match': 1, 'rest': 1}
    """
    recomputed = _computed(counts)
    rest = counts["printed"] - sum(recomputed.values())
    parts = {{_ROUNDING: "rounding"}.get(word, word): number for word, number in recomputed.items()}
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
