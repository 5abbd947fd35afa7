"""Whether a study's parameters can be used: types, ranges and choices, each problem in one sentence with its remedy.

A study calls these in the one cell after its parameters, with the parameters' names as keywords; ``evalkit run -p``
executes the same cell before any kernel starts. Nothing heavy is imported, and no data are read: what only data can
tell, such as who the annotators are, is checked where the data are known, by ``choice``, too.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from evalkit import DataError
from evalkit.reports.notebooks import suggestion

__all__ = ["choice", "number", "numbers", "scale", "text", "texts", "truth", "whole"]
#: The ends of a range: how a sentence says them, and what a value is to them.
LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "above": ("above", operator.gt),
    "at_least": ("of at least", operator.ge),
    "below": ("below", operator.lt),
    "at_most": ("of at most", operator.le),
}


def __dir__() -> list[str]:
    """Offer what notebooks call, and no imports, where somebody presses Tab."""
    return __all__


def truth(**values: Any) -> None:
    """Demand True or False: a text like "no" would count as true.

    >>> truth(higher_is_better="no")
    Traceback (most recent call last):
    evalkit.DataError: higher_is_better = 'no' is neither True nor False. Write True or False, without quotation marks.
    """
    for name, value in values.items():
        if not isinstance(value, bool):
            raise DataError(
                f"{name} = {value!r} is neither True nor False. Write True or False, without quotation marks."
            )


def text(**values: Any) -> None:
    """Demand text. What may stand in it is checked where it is used."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise DataError(f"{name} = {value!r} is no text. Write it in quotation marks.")


def whole(**limits_and_values: Any) -> None:
    """Demand whole numbers, within the range that ``number`` takes.

    >>> whole(splits=0, at_least=1)
    Traceback (most recent call last):
    evalkit.DataError: splits = 0 cannot be used. Give a whole number of at least 1.
    """
    _within(limits_and_values, "a whole number", int)


def number(**limits_and_values: Any) -> None:
    """Demand finite numbers, within a range whose ends belong to it (``at_least``, ``at_most``) or do not.

    >>> number(target=80, above=0, below=1)
    Traceback (most recent call last):
    evalkit.DataError: target = 80 cannot be used. Give a number above 0 and below 1.
    """
    _within(limits_and_values, "a number", (int, float))


def numbers(*, length: int | None = None, may_be_empty: bool = False, **limits_and_values: Any) -> None:
    """Demand lists of numbers, each within the range that ``number`` takes.

    >>> numbers(deltas=[2, 0.0], above=0)
    Traceback (most recent call last):
    evalkit.DataError: deltas[1] = 0.0 cannot be used. Give a number above 0.
    """
    limits, values = _apart(limits_and_values)
    _lists(values, partial(number, **limits), may_be_empty=may_be_empty)
    for name, value in values.items():
        if length is not None and value and len(value) != length:
            raise DataError(f"{name} has {len(value)} numbers. Give {length}.")


def scale(**values: Any) -> None:
    """Demand the two ends of a scale, the lower one first; an empty list leaves them to the data.

    >>> scale(ratings_scale=[100, 0])
    Traceback (most recent call last):
    evalkit.DataError: ratings_scale = [100, 0] is no scale. Give its lowest and its highest score, such as [0, 100].
    """
    numbers(may_be_empty=True, **values)
    for name, value in values.items():
        if value and not (len(value) == 2 and value[0] < value[1]):
            raise DataError(f"{name} = {value!r} is no scale. Give its lowest and its highest score, such as [0, 100].")


def texts(*, may_be_empty: bool = False, **values: Any) -> None:
    """Demand lists of text."""
    _lists(values, text, may_be_empty=may_be_empty)


def choice(*, of: Iterable[str], may_be_empty: bool = False, **values: Any) -> None:
    """Demand one of the names in ``of``; the sentence tells the nearest, or which there are where none is near.

    may_be_empty: whether "" leaves the choice to the study.

    >>> choice(pair="eng-jnp", of=["eng-deu", "eng-jpn"])
    Traceback (most recent call last):
    evalkit.DataError: There is no pair 'eng-jnp'. Did you mean 'eng-jpn'?
    """
    known = list(of)
    text(**values)
    for name, value in values.items():
        if value not in known and not (may_be_empty and value == ""):
            raise DataError(f"There is no {name.replace('_', ' ')} {value!r}. {suggestion(value, known)}")


def _apart(limits_and_values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the limits of a range from the values that are to be in it."""
    limits = {name: limits_and_values[name] for name in LIMITS if name in limits_and_values}
    return limits, {name: value for name, value in limits_and_values.items() if name not in LIMITS}


def _within(limits_and_values: dict[str, Any], noun: str, kind: Any) -> None:
    limits, values = _apart(limits_and_values)
    wanted = " and ".join(f"{LIMITS[name][0]} {end:g}" for name, end in limits.items())
    for name, value in values.items():
        right = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
        if not (right and all(LIMITS[limit][1](value, end) for limit, end in limits.items())):
            raise DataError(f"{name} = {value!r} cannot be used. Give {noun} {wanted}".rstrip() + ".")


def _lists(values: dict[str, Any], check: Callable[..., None], *, may_be_empty: bool) -> None:
    for name, value in values.items():
        if not isinstance(value, list):
            raise DataError(f"{name} = {value!r} is no list. Write it in brackets, such as [{value!r}].")
        if not (value or may_be_empty):
            raise DataError(f"{name} is empty. Name at least one.")
        for place, item in enumerate(value):
            check(**{f"{name}[{place}]": item})
