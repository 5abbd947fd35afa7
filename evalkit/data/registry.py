"""Read the registry: which files make up a data set, where they live, and how their bytes are recognised."""

import difflib
import hashlib
import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalkit import ROOT, DataError

_PLACE = ROOT / "data" / "registry.toml"
_RAW_GITHUB = "raw.githubusercontent.com"
#: What a data set's date is: of the last change of its files up to the registered commit, in their names, or of the
#: publication that they were released with.
DATED_BY = ("repository", "file name", "publication")


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
    released: str = ""  # a year or an ISO date; "" where unknown
    dated_by: str = ""  # which date that is, one of DATED_BY

    def __post_init__(self) -> None:
        """Refuse a date that is none, and one that does not say what it is the date of."""
        if not (self.released or self.dated_by):
            return
        if not is_date(self.released):
            raise DataError(f"released = {self.released!r} is neither a year nor a date like 2022-11-03")
        if self.dated_by not in DATED_BY:
            raise DataError(f"dated_by = {self.dated_by!r} is none of {', '.join(DATED_BY)}")


def is_date(text: object) -> bool:
    """Tell whether a value is the text of a year or of a day that there is.

    >>> is_date("2022"), is_date("2022-11-03"), is_date("2022-11-31"), is_date(2022), is_date("20221103")
    (True, True, False, False, False)
    """
    if not isinstance(text, str) or not re.fullmatch(r"(19|20)\d\d(-\d\d-\d\d)?", text, re.ASCII):
        return False
    try:
        date.fromisoformat(text if "-" in text else f"{text}-01-01")
    except ValueError:
        return False
    return True


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
        except (TypeError, KeyError, DataError) as problem:
            raise DataError(f"{_PLACE}, entry {name}: {problem}. See data/README.md for the fields.") from problem
    return found


def entry(name: str) -> Entry:
    """Find a data set, or name the nearest one."""
    known = entries()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0)
        raise DataError(f"There is no data set {name!r} in data/registry.toml. Did you mean {', '.join(near)}?")
    return known[name]


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
