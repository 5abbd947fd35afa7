"""What stands in the place of an analysis that the data do not allow: the reason, and what to collect."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, ParamSpec, TypeVar

from evalkit import DataError

P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Missing:
    """An analysis that these data do not allow; false, so that ``if found:`` asks whether there is something to show.

    reason: why, in a sentence. collect: what to collect so that there is something, in sentences.
    """

    reason: str
    collect: str

    def __bool__(self) -> Literal[False]:
        return False


def or_missing(collect: str) -> Callable[[Callable[P, Result]], Callable[P, Result | Missing]]:
    """Decorate an analysis: where it raises DataError it returns ``Missing``, with the error's sentence as the reason.

    collect: what to collect when the analysis cannot work on these data.
    """

    def decorate(analyse: Callable[P, Result]) -> Callable[P, Result | Missing]:
        @functools.wraps(analyse)
        def attempt(*arguments: P.args, **options: P.kwargs) -> Result | Missing:
            try:
                return analyse(*arguments, **options)
            except DataError as problem:
                return Missing(str(problem), collect)

        return attempt

    return decorate
