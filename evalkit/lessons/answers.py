"""Answers of students: whether there is one, whether two are the same, and what is wrong with the form of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd


def given(answer: Any) -> bool:
    """Tell whether an answer was given: ``...`` and None are what an unfilled cell holds.

    >>> given(...), given(None), given(0)
    (False, False, True)
    """
    return answer is not None and answer is not ...


def same(found: Any, wanted: Any) -> bool:
    """Tell whether two answers are the same: texts letter by letter, numbers to nine digits, gaps equal to gaps.

    A Series is compared by its labels, a set or a list of texts without its order, and a mapping key by key.

    >>> same(0.1 + 0.2, 0.3), same([1, 2], np.array([1.0, 2.0])), same(" CAL-1", "CAL-1"), same(["b", "a"], {"a", "b"})
    (True, True, True, True)
    """
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
        )
    if isinstance(wanted, str) or isinstance(found, str):
        return isinstance(wanted, str) and isinstance(found, str) and found.strip() == wanted.strip()
    if _texts(wanted):
        return _texts(found) and sorted(map(str, found)) == sorted(map(str, wanted))
    if isinstance(found, pd.Series) and isinstance(wanted, pd.Series) and _relabelled(found, wanted):
        found = found.reindex(wanted.index)
    found, wanted = _numbers(found), _numbers(wanted)
    if found is None or wanted is None or found.shape != wanted.shape:
        return False
    return bool(np.allclose(found, wanted, rtol=1e-9, atol=1e-12, equal_nan=True))


def form(found: Any, wanted: Any) -> str | None:
    """Say what is wrong with the form of an answer, where something is: kind, length, keys, unit, rounding, sign.

    >>> form(0.5, [1.0] * 8), form(50, 0.5)
    ('This is a number, and 8 values are asked for.', 'This is a percentage. Give it as a share, between 0 and 1.')
    """
    if isinstance(wanted, dict):
        return _keys(found, wanted)
    if isinstance(wanted, str) != isinstance(found, str):
        return _quoted(found, wanted) or _mismatch(found, wanted)
    if isinstance(wanted, str):
        return None
    if isinstance(wanted, (bool, np.bool_)) != isinstance(found, (bool, np.bool_)):
        return _mismatch(found, wanted)
    mine, right = _numbers(found), _numbers(wanted)
    if right is None:
        return None
    if mine is None or mine.shape != right.shape:
        return _mismatch(found, wanted)
    return _unit(mine, right)


def _mismatch(found: Any, wanted: Any) -> str:
    """Say that an answer is of another kind than what is asked for."""
    given, asked = _kind(found), _kind(wanted)
    begin, verb = "These are" if _many(given) else "This is", "are" if _many(asked) else "is"
    return f"{begin} {given}, and {asked} {verb} asked for."


def _many(kind: str) -> bool:
    """Tell whether a kind of answer is spoken of in the plural."""
    return kind.endswith(" values")


def _quoted(found: Any, wanted: Any) -> str | None:
    """Say what is wrong with a number that was written as a text, such as "0.5" or "50 %"."""
    if not isinstance(found, str) or _numbers(wanted) is None:
        return None
    if _numbers(found.strip().removesuffix("%")) is None:
        return None
    return "This is a text, because it stands in quotation marks. Give the number itself, without quotation marks or %."


def _keys(found: Any, wanted: dict) -> str | None:
    """Say which keys of a mapping are missing or unknown."""
    if not isinstance(found, dict):
        return f"This is {_kind(found)}. Asked for is a mapping with the keys {_listed(wanted)}: {{key: value, ...}}."
    unknown, lacking = [key for key in found if key not in wanted], [key for key in wanted if key not in found]
    if unknown:
        return f"There is no {_listed(unknown)} among the keys. They are {_listed(wanted)}."
    return f"The key {_listed(lacking)} is missing." if lacking else None


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(repr(name) for name in names)


def _unit(mine: np.ndarray, right: np.ndarray) -> str | None:
    """Say whether numbers are right but for rounding, a percentage or the sign."""
    for digits in (1, 2, 3, 4):
        if np.array_equal(mine, right.round(digits), equal_nan=True):
            return "This is right but for rounding. Give the number unrounded, and round only where you print it."
    percent = 100 * right
    if same(mine, percent) or any(np.array_equal(mine, percent.round(digits), equal_nan=True) for digits in (0, 1, 2)):
        return "This is a percentage. Give it as a share, between 0 and 1."
    if same(mine, -right):
        return "This has the right size and the wrong sign. What is subtracted from what?"
    return None


def _numbers(answer: Any) -> np.ndarray | None:
    try:
        return np.asarray(list(answer) if isinstance(answer, (set, frozenset)) else answer, dtype=float)
    except Exception:  # students hand in anything, and numpy calls its methods
        return None


def _texts(answer: Any) -> bool:
    return isinstance(answer, (list, tuple, set, frozenset, pd.Series, pd.Index, np.ndarray)) and (
        len(answer) > 0 and all(isinstance(each, str) for each in answer)
    )


def _relabelled(found: pd.Series, wanted: pd.Series) -> bool:
    """Tell whether two series hold the same labels, each once."""
    return found.index.is_unique and wanted.index.is_unique and set(found.index) == set(wanted.index)


def _kind(answer: Any) -> str:
    """Name what an answer is, in words.

    >>> _kind(0.5), _kind([1, 2, 3]), _kind("a"), _kind(math.sqrt)
    ('a number', '3 values', 'a text', 'a function')
    """
    if isinstance(answer, str):
        return "a text"
    if isinstance(answer, (bool, np.bool_)):
        return "True or False"
    if callable(answer):
        return "a function"
    if isinstance(answer, pd.DataFrame) or (isinstance(answer, np.ndarray) and answer.ndim == 2):
        return "a table of {} by {}".format(*answer.shape)
    if isinstance(answer, np.ndarray) and answer.ndim == 0:
        return _kind(answer.item())
    if isinstance(answer, (list, tuple, set, frozenset, dict, pd.Series, pd.Index, np.ndarray)):
        return f"{len(answer)} value{'' if len(answer) == 1 else 's'}"
    if isinstance(answer, float) and math.isnan(answer):
        return "not a number (nan)"
    return "a number" if _numbers(answer) is not None else f"of type {type(answer).__name__}"
