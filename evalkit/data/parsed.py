"""Keep the tables that take seconds to parse, as Parquet in the cache, each under its origin and its digest."""

import hashlib
import io
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow

from evalkit.data import files


def table(name: str, loader: Callable[..., pd.DataFrame], paths: list[Path], *, digest: str) -> pd.DataFrame:
    """Return ``loader(paths)``, from the cache where the same code has read files of the same content before.

    name: of the data set, of which one table is kept. digest: of the files' content. A kept table bears in its name
    what it was made from and a digest of its content, and is held against both at every load. One that was damaged, or
    that cannot be written, is parsed again.
    """
    made_from = _key(digest)
    for place in _kept(name, made_from):
        try:
            if (content := _sound(place, made_from)) is not None:
                return pd.read_parquet(io.BytesIO(content))
        except (OSError, pyarrow.ArrowException):
            continue
    frame = loader(paths)
    try:
        _keep(frame, name, made_from)
    except OSError as problem:
        print(f"evalkit: {name} could not be kept: {problem.strerror}. It is parsed at each load.", file=sys.stderr)
    return frame


def states(name: str, *, digest: str) -> list[tuple[str, str]]:
    """Say of each kept table of a data set what it is worth: ``verified``, ``altered`` or, of other code, ``outdated``.

    Only a verified one is ever used. digest: of the files' content, as in ``table``.
    """
    made_from, told = _key(digest), []
    for place in _kept(name, "*"):
        state = "outdated"
        if place.name.split(".")[-3] == made_from:
            state = "altered" if _sound(place, made_from) is None else "verified"
        told.append((f"parsed/{place.name}", state))
    return told


def _folder() -> Path:
    return files.cache() / "parsed"


def _kept(name: str, made_from: str) -> list[Path]:
    """List what lies in the cache under a data set's name."""
    return sorted(_folder().glob(f"{name}.{made_from}.*.parquet"))


def _sound(place: Path, made_from: str) -> bytes | None:
    """Read a kept table once; None where it is not what was kept under this name."""
    content = place.read_bytes()
    return content if place.name.split(".")[-3:-1] == [made_from, _short(content)] else None


def _keep(frame: pd.DataFrame, name: str, made_from: str) -> None:
    """Write a table under its digest, in the place of all that lay there under the data set's name."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    content = buffer.getvalue()
    place = _folder() / f"{name}.{made_from}.{_short(content)}.parquet"
    part = files.beside(place)
    part.write_bytes(content)
    part.replace(place)
    for older in set(place.parent.glob(f"{name}.*.parquet")) - {place}:
        older.unlink(missing_ok=True)


def _key(digest: str) -> str:
    """Name what a table depends on: the content of its files, and the code that reads and checks them."""
    code = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    return _short(b"".join([digest.encode(), pd.__version__.encode(), *code]))


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
