"""What needs a pretrained model or word vectors: nothing of their packages is imported before it is asked for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence

from evalkit import DataError


def in_a_sentence(main: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
    """Make a command's exit code of what it does: 0, or 2 after a DataError, which is told on standard error.

    >>> @in_a_sentence
    ... def main(arguments):
    ...     raise DataError("There is no file pairs.csv.")
    >>> main([])
    2
    """

    @functools.wraps(main)
    def ended(arguments: Sequence[str] | None = None) -> int:
        try:
            main(arguments)
        except DataError as problem:
            print(problem, file=sys.stderr)
            return 2
        return 0

    return ended
