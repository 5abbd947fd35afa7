"""How many printed numbers were recomputed, and how many of these match: counted by what each comparison rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

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
#: The verdicts of ``table``.
COLUMNS = [*_VERBS, _GONE]
#: Causes that a sentence names before it sums up the others.
_MOST = 4


def count(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Return judged rows of comparisons with print as a table of what is counted, the verdicts in words."""
    rows = list(rows)
    counted = pd.DataFrame(rows, dtype=object).reindex(columns=["basis", "lacking", "paper", "item"])
    return counted.assign(verdict=[in_words(row) for row in rows])


def sentences(counted: pd.DataFrame) -> list[str]:
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
    told, found, official = [], recomputed(counted), counted["basis"].eq(OFFICIAL)
    done, printed = sum(found.values()), int((~official).sum())
    if printed:
        verdicts = ", ".join(f"{number:,} {_VERBS[word][number > 1]}" for word, number in found.items())
        verdicts = "all match" if found.keys() == {"match"} and done > 1 else verdicts
        share = f" ({100 * done / printed:.0f} %); {verdicts}" if done else ""
        numbers = f"{f'{done:,}' if done else 'none'} of {pluralize(printed, 'printed number')}"
        told.append(f"Recomputed from data: {numbers}{share}.")
    match = counted[counted["basis"].eq(RECOMPUTED) & counted["verdict"].eq("match")]
    for where, most in match[["paper", "item"]].value_counts().head(1).items():
        if len(match) / 2 < most < len(match):
            told.append(f"{most:,} of the {len(match):,} that match are one table ({', '.join(where)}).")
    for what, own in (("Not recomputed", ~official), ("Official results not to be had", official)):
        causes = counted["lacking"][own].value_counts()
        if len(causes):
            told.append(f"{what}: {causes.sum():,} ({_causes(causes)}).")
    return told


def _causes(causes: pd.Series) -> str:
    """Name the commonest causes with their numbers, and sum up the others."""
    if len(causes) == 1:
        return str(causes.index[0])
    named = [f"{cause}: {number:,}" for cause, number in causes.head(_MOST).items()]
    return "; ".join(named + [f"other causes: {causes.iloc[_MOST:].sum():,}"] * (len(causes) > _MOST))


def recomputed(counted: pd.DataFrame) -> dict[str, int]:
    """Return how many numbers have each verdict, of those that were recomputed from data."""
    found = counted["verdict"][counted["basis"].eq(RECOMPUTED)].value_counts().reindex(list(_VERBS)).dropna()
    return found.astype(int).to_dict()


def table(counted: pd.DataFrame) -> list[tuple[str, list[int]]]:
    """Lay a count out: what numbers rest on, and how many have each verdict of ``COLUMNS``, and in all.

    The numbers that papers print add up in a row of their own, above official results, which are counted apart.

    >>> rows = [{"verdict": "match", "basis": basis} for basis in BASES]
    >>> [(name, numbers[-1]) for name, numbers in table(count(rows))][-2:]
    [('All printed numbers', 3), ('Official results of shared tasks', 1)]
    """
    wide = pd.crosstab(counted["basis"], counted["verdict"]).reindex(index=BASES, columns=COLUMNS, fill_value=0)
    wide["all"] = wide.sum(axis=1)
    wide = wide[wide["all"] > 0]
    printed = wide.drop(index=OFFICIAL, errors="ignore")
    rows = [(_CALLED[str(basis)], numbers) for basis, numbers in wide.iterrows()]
    if len(printed) > 1:
        rows.insert(len(printed), ("All printed numbers", printed.sum()))
    return [(name, numbers.tolist()) for name, numbers in rows]


def shown(counted: pd.DataFrame) -> dict[str, Any]:
    """Return what pages show of a count: sentences, and a table with its columns."""
    return {"sentences": sentences(counted), "columns": COLUMNS, "rows": table(counted)}


def brief(counted: pd.DataFrame) -> str:
    """Tell in a few words how many recomputed numbers match those printed; '' where none was recomputed.

    >>> row = {"verdict": "match", "basis": RECOMPUTED}
    >>> brief(count([row, row, {"verdict": "differs", "basis": RECOMPUTED}])), brief(count([]))
    ('2 of 3 recomputed numbers match the paper', '')
    """
    found = recomputed(counted)
    done, match = sum(found.values()), found.get("match", 0)
    verb = "matches" if match == 1 else "match"
    return f"{match:,} of {pluralize(done, 'recomputed number')} {verb} the paper" if done else ""
