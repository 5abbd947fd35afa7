"""evalkit: the helper package behind a suite of notebooks on the human evaluation of machine translation."""

from pathlib import Path

__version__ = "0.2.0"

_CARRIED = Path(__file__).resolve().parent / "project"  # what a wheel brings along, see pyproject.toml

#: Whether the package is a clone's. Nothing is ever written into an installation.
CLONE = not _CARRIED.is_dir()

#: The folder of notebooks/ and data/: the clone, or what the wheel carries.
ROOT = Path(__file__).resolve().parent.parent if CLONE else _CARRIED


class DataError(Exception):
    """A problem that the user can mend, told in one sentence: what is wrong, where, and what to do."""


def one_line(problem: object) -> str:
    """Return the first line of a message, of bounded length, or else the name of the problem's class.

    >>> one_line(ValueError("no such file\\nsecond line")), one_line(KeyboardInterrupt())
    ('no such file', 'KeyboardInterrupt')
    """
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]
