"""The verdict on a printed number: whether the computed one rounds to it, and what the comparison rests on."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pandas as pd

from evalkit import DataError

#: What a comparison with print may rest on: people's or systems' data; other numbers in the same print; what a term
#: means, worked examples and arithmetic; or results that a shared task released beside its data.
BASES = ("recomputed from data", "follows from other printed numbers", "definition", "official result")
#: Verdicts as pages say them, what needs attention first. The second is, in the JSON, a number that ``differs`` and has
#: ``reachable``: it does not round to print, and rounding of its inputs explains that.
WORDS = ("differs", "within rounding of its inputs", "not reproducible", "match")

#: The note of a number that differs under parameters of one's own only: a study's own runs have none of these.
UNEXPLAINED = "With the study's own parameters it matches; no reason is recorded for others."

#: Numbers that papers spell out.
_SPELLED = dict(zip(["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], range(10)))


def verdict(printed: str, computed: Any) -> str:
    """Judge a computed value against a printed one: ``match``, ``differs`` or ``not reproducible``.

    A number matches when it rounds to the printed digits (a tie may round either way). ``<0.001`` matches any smaller
    number, and numbers below ten may be spelled out.

    >>> verdict("0.69", 0.6934), verdict("0.69", 0.6951), verdict("<0.001", 1e-9), verdict("HUMAN-B", "translator-B")
    ('match', 'differs', 'match', 'differs')
    >>> verdict(".71", None), verdict("six", 6)
    ('not reproducible', 'match')
    """
    if missing(computed):
        return "not reproducible"
    number = _number(printed)
    if number is None:
        return "match" if str(computed) == printed else "differs"
    if isinstance(computed, str):
        return "differs"
    if printed.startswith("<"):
        return "match" if computed < float(number) else "differs"
    return "match" if reachable(printed, computed, computed) else "differs"


def reachable(printed: str, low: Any, high: Any) -> bool:
    """Tell whether some value from ``low`` to ``high`` rounds to a printed number; no, where an end is missing.

    >>> reachable("4.43", 4.421, 4.451), reachable("4.43", 4.436, 4.451), reachable("4.43", None, None)
    (True, False, False)
    """
    number = _number(printed)
    if number is None or missing(low) or missing(high):
        return False
    slack = 1e-9 * max(half(printed), abs(float(number)))  # a tie is a tie also in binary, however small it is
    return low - slack <= float(number) + half(printed) and high + slack >= float(number) - half(printed)


def half(printed: str) -> float:
    """Return half a unit of a printed number's last digit, as far as rounding may move it; NaN where print has words.

    >>> half("0.12"), half("7"), half("2.0e-05")
    (0.005, 0.5, 5e-07)
    """
    number = _number(printed)
    return math.nan if number is None else float(Decimal(5).scaleb(int(number.as_tuple().exponent) - 1))


def judge(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Judge the rows of a comparison with print.

    rows: columns paper, item, cell, printed (as in print), computed (a number or text; missing when it cannot be had),
    note (why, where it is no match; ``UNEXPLAINED`` where it says nothing), basis (one of ``BASES``), lacking (what is
    missing, in a few words, where nothing was computed), place (where the printed number stands in the transcription;
    "" for one that a data file holds), and optionally low, high: the values that rounded inputs allow.
    Returns a mapping a row: paper, item, cell, printed, computed, verdict, note, basis; where they say something,
    lacking, place, reachable.
    Raises DataError for a row without basis, and for one that cannot be had and does not say why.
    """
    if absent := [name for name in ("note", "basis", "lacking", "place") if name not in rows]:
        raise DataError(f"Rows to compare with print lack {', '.join(absent)}. Make them with evalkit.papers.claims.")
    return [_judged(row) for row in rows.assign(note=rows["note"].fillna("")).to_dict("records")]


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    """Judge one row; DataError where it lacks what a reader needs to believe it."""
    where, outcome = f"{row['item']}, {row['cell']}", verdict(row["printed"], row["computed"])
    if row["basis"] not in BASES:
        raise DataError(f"{where}: the basis {row['basis']!r} is none of {', '.join(BASES)}. Name one in the row.")
    if outcome == "not reproducible" and not (row["lacking"] and row["note"].strip()):
        raise DataError(f"{where}: 'not reproducible' needs a few words for what is lacking. Add them to the row.")
    row["note"] = row["note"] if outcome == "match" or row["note"].strip() else UNEXPLAINED
    judged = {key: row[key] for key in ("paper", "item", "cell", "printed", "computed")}
    judged |= {"verdict": outcome, "note": row["note"], "basis": row["basis"]}
    judged |= {"lacking": row["lacking"]} if outcome == "not reproducible" else {}
    judged |= {"place": row["place"]} if row["place"] else {}
    if outcome == "differs" and reachable(row["printed"], row.get("low"), row.get("high")):
        judged["reachable"] = [row["low"], row["high"]]
    return judged


def unchecked(rows: pd.DataFrame, *, lacking: str, note: str) -> pd.DataFrame:
    """Take the computed values out of rows that this run cannot speak to, and say why."""
    return rows.assign(computed=None, lacking=lacking, note=note).drop(columns=["low", "high"], errors="ignore")


def in_words(judged: dict[str, Any]) -> str:
    """Say a judged row's verdict in the words of ``WORDS``.

    >>> in_words({"verdict": "differs"}), in_words({"verdict": "differs", "reachable": [1.0, 2.0]})
    ('differs', 'within rounding of its inputs')
    """
    return WORDS[1] if "reachable" in judged else judged["verdict"]


def as_printed(computed: Any, printed: str) -> Any:
    """Show a computed number with one digit more than print has, so that a reader sees what it rounds to.

    >>> as_printed(0.69341, "0.69"), as_printed(9e-7, "<0.001"), as_printed(1400, "1,400"), as_printed(2e-5, "2.0e-05")
    ('0.693', '9e-07', '1400', '2.00e-05')
    """
    if missing(computed) or isinstance(computed, (str, bool)):
        return computed
    if printed.startswith("<"):
        return f"{computed:.1g}"
    if isinstance(computed, float) and "." in printed:
        places = len(printed.lower().split("e")[0].split(".")[-1]) + 1
        return f"{computed:.{places}{'e' if 'e' in printed.lower() else 'f'}}"
    return f"{computed:.4g}" if isinstance(computed, float) and not computed.is_integer() else f"{computed:.0f}"


def missing(value: Any) -> bool:
    """Tell whether a single value is a gap: None, pandas' gaps, NaN."""
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))


def _number(printed: str) -> Decimal | None:
    """Read a printed number, without its bound; None where print has words."""
    digits = str(_SPELLED.get(printed, printed)).lstrip("<")
    try:
        return Decimal(digits.replace(",", "").replace("−", "-"))  # print sets a minus sign
    except ArithmeticError:
        return None
