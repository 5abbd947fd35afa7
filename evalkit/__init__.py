"""evalkit: the helper package behind a suite of notebooks on the human evaluation of machine translation."""

from pathlib import Path

__version__ = "0.1.0"

#: The project's folder: studies, published tables, the registry and the reports live below it.
ROOT = Path(__file__).resolve().parent.parent


class DataError(Exception):
    """A problem that the user can mend, told in one sentence: what is wrong, where, and what to do."""


def one_line(problem: object) -> str:
    """Return the first line of a message, of bounded length, or else the name of the problem's class.

    >>> one_line(ValueError("no such file\\nsecond line")), one_line(KeyboardInterrupt())
    ('no such file', 'KeyboardInterrupt')
    """
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]
