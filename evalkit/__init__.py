"""evalkit: the helper package behind a suite of notebooks on the human evaluation of machine translation."""

from pathlib import Path

__version__ = "0.1.0"

#: The project's folder: studies, published tables, the registry and the reports live below it.
ROOT = Path(__file__).resolve().parent.parent


class DataError(Exception):
    """A problem that the user can mend, told in one sentence: what is wrong, where, and what to do."""
