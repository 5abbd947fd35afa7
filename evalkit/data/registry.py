"""Read the registry: which files make up a data set, where they live, and how their bytes are recognised."""

import difflib
import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalkit import ROOT, DataError

_PLACE = ROOT / "data" / "registry.toml"
_RAW_GITHUB = "raw.githubusercontent.com"


@dataclass(frozen=True)
class File:
    """One file of a data set: its public address and, where known, its size and digest."""

    url: str
    bytes: int | None = None
    git: str | None = None
    sha256: str | None = None

    @property
    def path(self) -> str:
        """Name the file's place below a mirror or the cache.

        >>> File("https://raw.githubusercontent.com/owner/repo/commit/a/b.csv").path
        'owner/repo/commit/a/b.csv'
        >>> File("https://example.org/x.zip").path
        'example.org/x.zip'
        """
        parts = urlsplit(self.url)
        return parts.path.lstrip("/") if parts.netloc == _RAW_GITHUB else parts.netloc + parts.path

    @property
    def digest(self) -> str | None:
        """Print the digest that the registry expects, with its kind; None where the registry knows none."""
        return f"git:{self.git}" if self.git else f"sha256:{self.sha256}" if self.sha256 else None


@dataclass(frozen=True)
class Entry:
    """One data set: what it is, whose it is, the ends of its scale, and which function reads its files."""

    name: str
    title: str
    licence: str
    citation: str
    loader: str
    files: tuple[File, ...]
    simulator: str | None = None
    optional: bool = False
    scale: tuple[float, float] | None = None
    base: str = ""  # what the addresses of its files have in common
    mapped: bool = False  # the user says which of its columns is which of ours
    kept: bool = False  # the table that its loader makes is kept in the cache, for parsing takes long


def digest(path: Path, *, kind: str = "sha256") -> str:
    """Compute a file's digest, ``git`` for the id that git gives a blob or ``sha256``, with its kind in front.

    Source: git hashes the header ``blob <length>`` and a zero byte before the content.
    """
    value = hashlib.sha1(f"blob {path.stat().st_size}\0".encode()) if kind == "git" else hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            value.update(block)
    return f"{kind}:{value.hexdigest()}"


@cache
def _contents() -> dict[str, Any]:
    """Parse the registry once a process."""
    try:
        return tomllib.loads(_PLACE.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise DataError(f"{_PLACE} cannot be read: {problem}. Restore it with git checkout.") from problem


def entries() -> dict[str, Entry]:
    """List the registered data sets by name."""
    found = {}
    for name, fields in _contents().items():
        if name == "published":
            continue
        try:
            base = fields.get("base", "")
            files = tuple(File(**file | {"url": base + file["url"]}) for file in fields["files"])
            scale = tuple(map(float, fields["scale"])) if "scale" in fields else None
            found[name] = Entry(name=name, **fields | {"files": files, "scale": scale})
        except (TypeError, KeyError) as problem:
            raise DataError(f"{_PLACE}, entry {name}: {problem}. See data/README.md for the fields.") from problem
    return found


def entry(name: str) -> Entry:
    """Find a data set, or name the nearest one."""
    known = entries()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0)
        raise DataError(f"There is no data set {name!r} in data/registry.toml. Did you mean {', '.join(near)}?")
    return known[name]


def publication(table: str) -> str:
    """Say what a published table was copied from.

    >>> publication("licht2022_table5")
    'Licht et al. 2022, Table 5'
    """
    source, _, number = table.partition("_table")
    origin = _contents().get("published", {}).get(source, source)
    return f"{origin}, Table {number}" if number else origin
