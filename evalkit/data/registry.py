"""Read the registry: which files make up a data set, where they live, and how their bytes are recognised."""

import difflib
import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalkit import ROOT, DataError, one_line

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
    """One data set: what it is, whose it is, the ends of its scale, and which function reads its files.

    ``data/README.md`` says what is in it and what to beware of. loader: ``module.function`` in ``evalkit.data``.
    stand_in: whether ``evalkit.data.stand_ins`` draws one. optional: not fetched unless it is named. base: what the
    addresses of its files have in common. mapped: the user says which of its columns is which of ours. kept: the table
    that its loader makes is kept in the cache, for parsing takes long. released: a year or an ISO date, "" where
    unknown; dated_by: what it is the date of.
    """

    name: str
    title: str
    licence: str
    citation: str
    loader: str
    files: tuple[File, ...]
    stand_in: bool = False
    optional: bool = False
    scale: tuple[float, float] | None = None
    base: str = ""
    mapped: bool = False
    kept: bool = False
    released: str = ""
    dated_by: str = ""


def toml(path: Path, *, remedy: str) -> dict[str, Any]:
    """Read a file of settings in TOML; DataError, ending in the remedy, where it is none or cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no {path}. Correct the path.") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise DataError(f"{path} cannot be read: {one_line(problem)}. {remedy}") from None


def digest(path: Path, *, kind: str = "sha256") -> str:
    """Compute a file's digest, ``git`` for the id that git gives a blob or ``sha256``, with its kind in front.

    Source: git hashes the header ``blob <length>`` and a zero byte before the content.
    """
    value = hashlib.sha1(f"blob {path.stat().st_size}\0".encode()) if kind == "git" else hashlib.sha256()
    with path.open("rb") as stream:
        return f"{kind}:{hashlib.file_digest(stream, lambda: value).hexdigest()}"


@cache
def _contents() -> dict[str, Any]:
    """Parse the registry once a process."""
    return toml(_PLACE, remedy="Restore it with git checkout.")


@cache
def entries() -> dict[str, Entry]:
    """List the registered data sets by name."""
    return {name: _entry(name, fields) for name, fields in _contents().items() if name != "published"}


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    """Make an entry of its fields, addresses in full."""
    files = tuple(File(**file | {"url": fields.get("base", "") + file["url"]}) for file in fields["files"])
    scale = tuple(map(float, fields["scale"])) if "scale" in fields else None
    return Entry(name=name, **fields | {"files": files, "scale": scale})


def entry(name: str) -> Entry:
    """Find a data set, or name the nearest one."""
    known = entries()
    if name not in known:
        raise DataError(f"There is no data set {name!r} in data/registry.toml. Did you mean {nearest(name, known)}?")
    return known[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name that is most like the one given."""
    return difflib.get_close_matches(name, [*known], n=1, cutoff=0)[0]


def released(name: str) -> dict[str, str]:
    """Return the date of a data set and what dates it; of several joined by ``+``, where they share both; or nothing.

    >>> released("wmt22-calibration-hits"), released("no-such-set")
    ({'released': '2022-11-03', 'dated_by': 'file name'}, {})
    """
    known = [_contents().get(part, {}) for part in name.split("+")]
    dates = [{key: one[key] for key in ("released", "dated_by") if key in one} for one in known]
    return dates[0] if all(one == dates[0] for one in dates) else {}


def publication(table: str) -> str:
    """Say what a published table was copied from.

    >>> publication("licht2022_table5")
    'Licht et al. 2022, Table 5'
    """
    source, _, number = table.partition("_table")
    origin = _contents().get("published", {}).get(source, source)
    return f"{origin}, Table {number}" if number else origin
