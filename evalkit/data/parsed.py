"""Keep the tables that take seconds to parse, as Parquet in the cache, each under what it was made from."""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow

from evalkit import schemas
from evalkit.data import files


def table(name: str, loader: Callable[..., pd.DataFrame], paths: list[Path], *, digest: str) -> pd.DataFrame:
    """Return ``loader(paths)``, from the cache where the same code has read files of the same content before.

    name: of the data set, of which one table is kept. digest: of the files' content. A table that is damaged, or that
    cannot be written, is parsed again.
    """
    place = files.cache() / "parsed" / f"{name}.{_key(digest)}.parquet"
    try:
        return pd.read_parquet(place, page_checksum_verification=True)
    except (OSError, pyarrow.ArrowException):
        frame = loader(paths)
    try:
        part = files.beside(place)
        frame.to_parquet(part, write_page_checksum=True)
        part.replace(place)
        for older in set(place.parent.glob(f"{name}.*.parquet")) - {place}:
            older.unlink(missing_ok=True)
    except OSError as problem:
        print(f"evalkit: {place} could not be kept: {problem.strerror}. It is parsed at each load.", file=sys.stderr)
    return frame


def _key(digest: str) -> str:
    """Name what a table depends on: the content of its files, and the code that reads and checks them."""
    code = [path.read_bytes() for path in sorted([Path(schemas.__file__), *Path(__file__).parent.glob("*.py")])]
    return hashlib.sha256(b"".join([digest.encode(), pd.__version__.encode(), *code])).hexdigest()[:32]
