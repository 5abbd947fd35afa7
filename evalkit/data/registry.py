"""Read the registry: which files make up a data set, where they live, and how their bytes are recognised."""

import difflib
import hashlib
import math
import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from evalkit import ROOT, DataError
from evalkit.data import settings

_PLACE = ROOT / "data" / "registry.toml"
_RAW_GITHUB = "raw.githubusercontent.com"
#: What a data set's date is: of the last change of its files up to the registered commit, in their names, or of the
#: publication that they were released with.
DATED_BY = ("repository", "file name", "publication")
#: The type of what an entry has under each name, and of what a file has; dates have a check of their own.
_FIELDS = {
    "title": str,
    "licence": str,
    "citation": str,
    "loader": str,
    "files": list,
    "simulator": str,
    "scale": list,
    "optional": bool,
    "mapped": bool,
    "kept": bool,
    "base": str,
    "released": object,
    "dated_by": object,
}
_NEEDED = ("title", "licence", "citation", "loader", "files")
_OF_FILES = {"url": str, "bytes": int, "git": str, "sha256": str}
_DIGITS = {"git": 40, "sha256": 64}
_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]*", re.ASCII | re.IGNORECASE)  # a data set's name, which names files, too
_PLACED = re.compile(r"\w+\.\w+", re.ASCII)  # module.function


@dataclass(frozen=True)
class File:
    """One file of a data set: its public address and, where known, its size and digest."""

    url: str
    bytes: int | None = None
    git: str | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        """Refuse an address that leads out of the cache, and digests and sizes that are none."""
        if not _leads_in(self.url):
            raise DataError(
                f"the address {_told(self.url)} names no file inside the cache. Write it like https://host/a/file, "
                "without . or .. or a name or password in it"
            )
        for kind, digits in _DIGITS.items():
            if (value := getattr(self, kind)) is not None and not re.fullmatch(f"[0-9a-f]{{{digits}}}", value):
                raise DataError(f"{kind} = {_told(value)} is no digest of {digits} hexadecimal digits in lower case")
        if self.bytes is not None and not 0 <= self.bytes < 1 << 63:
            raise DataError(f"bytes = {_told(self.bytes)} is no size of a file")

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


def _told(value: object) -> str:
    """Write a value for a message: in one line, and of what is long its beginning."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more digits, or deeper nesting, than Python writes
        return f"a long {type(value).__name__}"
    return text if len(text) < 200 else f"{text[:200]}…"


def _leads_in(url: str) -> bool:
    """Tell whether an address is one on the web whose place lies below whatever folder it is put into.

    >>> _leads_in("https://example.org/a/b.csv"), _leads_in("https://example.org/a/%2e%2e/%2e%2e/b"), _leads_in("/b")
    (True, False, False)
    """
    try:
        parts = urlsplit(url)
        found = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:  # half an IPv6 address, a port that is none
        return False
    if not found or not parts.path:
        return False
    names = unquote(parts.netloc + parts.path).split("/")
    return all(name.isprintable() and "\\" not in name and name.strip(". ") for name in names)


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
            raise DataError(f"released = {_told(self.released)} is neither a year nor a date like 2022-11-03")
        if self.dated_by not in DATED_BY:
            raise DataError(f"dated_by = {_told(self.dated_by)} is none of {', '.join(DATED_BY)}")


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
    found = settings.toml(_PLACE, remedy="Restore it with git checkout.")
    for name, fields in found.items():
        texts = isinstance(fields, dict) and (name != "published" or all(type(one) is str for one in fields.values()))
        if not texts:
            raise DataError(f"{_PLACE}, {_told(name)}: it is no table of fields. See data/README.md for the fields.")
    return found


def entries() -> dict[str, Entry]:
    """List the registered data sets by name."""
    found = {}
    for name, fields in _contents().items():
        if name == "published":
            continue
        try:
            found[name] = _entry(name, fields)
        except DataError as problem:
            called = name if _SAFE.fullmatch(name) else _told(name)
            raise DataError(f"{_PLACE}, entry {called}: {problem}. See data/README.md for the fields.") from problem
    return found


def _entry(name: str, fields: dict[str, Any]) -> Entry:
    """Make an entry of its fields; DataError, without the place, for what does not fit."""
    if not _SAFE.fullmatch(name):
        raise DataError("its name is also a file's. Use letters, digits, - and _")
    _demand(fields, _FIELDS, needed=_NEEDED)
    for key in ("loader", "simulator"):
        if key in fields and not _PLACED.fullmatch(fields[key] if key == "loader" else f"simulate.{fields[key]}"):
            raise DataError(f"{key} = {_told(fields[key])} names no function. Write the loader like module.function")
    if not fields["files"]:
        raise DataError("it has no files")
    for file in fields["files"]:
        if not isinstance(file, dict):
            raise DataError(f"{_told(file)} among its files is no table with url")
        _demand(file, _OF_FILES, needed=("url",))
    base = fields.get("base", "")
    files = tuple(File(**file | {"url": base + file["url"]}) for file in fields["files"])
    return Entry(name=name, **fields | {"files": files, "scale": _ends(fields["scale"]) if "scale" in fields else None})


def _demand(fields: dict[str, Any], types: dict[str, type], *, needed: tuple[str, ...]) -> None:
    """Refuse fields that are unknown, missing, or of another type than the one under their name."""
    if missing := [key for key in needed if key not in fields]:
        raise DataError(f"it has no {missing[0]}")
    for key, value in fields.items():
        if key not in types:
            raise DataError(f"it has an unknown field {_told(key)}. Known: {', '.join(types)}")
        if not isinstance(value, types[key]) or (types[key] is int and isinstance(value, bool)):
            raise DataError(f"{key} = {_told(value)} is of another type than {types[key].__name__}")


def _ends(scale: list[Any]) -> tuple[float, float]:
    """Return the ends of a scale: two numbers, the lower first."""
    if [type(end) in (int, float) and math.isfinite(end) for end in scale] != [True, True] or not scale[0] < scale[1]:
        raise DataError(f"scale = {_told(scale)} is not a lowest and a highest score")
    return float(scale[0]), float(scale[1])


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
