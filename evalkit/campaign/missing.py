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


#: What stands in the place of all that is said of annotators, where a file does not say who they are.
NOBODY = Missing(
    "The file does not name who judged, so nothing is said of annotators.",
    "If a column names them, import the file again with --map annotator=HEADING.",
)


def or_missing(
    collect: str, *, of_people: bool = False
) -> Callable[[Callable[P, Result]], Callable[P, Result | Missing]]:
    """Decorate an analysis: where it raises DataError it returns ``Missing``, with the error's sentence as the reason.

    collect: what to collect when the analysis cannot work on these data. of_people: whether it asks who judged what,
    so that it says nothing of a campaign, its first argument, that does not name annotators.
    """

    def decorate(analyse: Callable[P, Result]) -> Callable[P, Result | Missing]:
        @functools.wraps(analyse)
        def attempt(*arguments: P.args, **options: P.kwargs) -> Result | Missing:
            if of_people and not arguments[0].names_people:  # type: ignore[attr-defined]
                return NOBODY
            try:
                return analyse(*arguments, **options)
            except DataError as problem:
                return Missing(str(problem), collect)

        return attempt

    return decorate
