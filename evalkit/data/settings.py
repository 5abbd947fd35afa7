"""Read settings in TOML, the registry's and other people's: whatever the file is, within bounds or with a sentence."""

import tomllib
from pathlib import Path
from typing import Any

from evalkit import DataError, one_line

_MOST_BYTES = 4 << 20
_MOST_PARTS = 100  # of a dotted key, whose reading takes the square of their number


def toml(path: Path, *, remedy: str) -> dict[str, Any]:
    """Read a file of settings; DataError, ending in the remedy, where it is none, too large or cannot be parsed."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe could be read for ever
            raise DataError(f"{path} is no file. {remedy}")
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(f"{path} is larger than {_MOST_BYTES >> 20} MB, so it is no file of settings. {remedy}")
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if line.partition("=")[0].count(".") >= _MOST_PARTS:
                raise DataError(f"{path}, line {number}: a name of more than {_MOST_PARTS} parts. {remedy}")
        return tomllib.loads(text)
    except FileNotFoundError:
        raise DataError(f"There is no {path}. Correct the path.") from None
    except OSError as problem:
        raise DataError(f"{path} cannot be read: {problem.strerror}. {remedy}") from None
    except RecursionError:
        raise DataError(f"{path} cannot be read: it is nested too deeply. {remedy}") from None
    except ValueError as problem:  # of bytes that are no text, and of text that is no TOML
        raise DataError(f"{path} cannot be read: {one_line(problem)}. {remedy}") from None
