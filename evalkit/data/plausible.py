"""Doubt a file that nobody knows the digest of before it is trusted: a login page or half an archive is not data."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

_ZIPPED = (".zip", ".xlsx", ".ods")
_PACKED: dict[str, Callable] = {".gz": gzip.open, ".tgz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TABLES = (".csv", ".tsv", ".txt", ".tab")
_FIRST = {".parquet": b"PAR1", ".xls": b"\xd0\xcf\x11\xe0", ".pdf": b"%PDF-"}
_MARKED = (".html", ".htm", ".xml", ".sgm", ".svg")  # what may begin with <
_HEAD, _SMALL = 4096, 64  # bytes looked at; and bytes below which a file of an unknown kind is nobody's data


def flaw(path: Path, *, name: str, kind: str = "") -> str:
    """Say in a few words why a file cannot be what its name says; empty where it can.

    name: how the file is called where it comes from. kind: the type that a server gave it, such as text/html.
    Caveat: this finds what is plainly something else. Only a digest tells a file from a similar one.

    >>> import tempfile
    >>> login = Path(tempfile.mkdtemp(), "x")
    >>> _ = login.write_bytes(b"<html>login</html>")
    >>> flaw(login, name="ratings.zip"), flaw(login, name="ratings.csv")
    ('it is a web page, perhaps one that asks for a login', 'it is a web page, perhaps one that asks for a login')
    """
    ending = Path(name).suffix.lower()
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(path.stat().st_size - _HEAD, 0))
        tail = stream.read(_HEAD)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start:
        return "it is empty"
    page = start.startswith(b"<") or kind.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")
    if page and ending not in _MARKED:
        return "it is a web page, perhaps one that asks for a login"
    return _unlike(path, ending, start, tail.rstrip())


def _unlike(path: Path, ending: str, start: bytes, end: bytes) -> str:
    """Say why a file is not of the kind that its name's ending says."""
    if ending in _ZIPPED:
        return "" if start.startswith(b"PK") and zipfile.is_zipfile(path) else "it is no whole zip archive"
    if ending in _PACKED:
        return "" if _opens(path, _PACKED[ending]) else f"it is not packed as {ending} says"
    if ending == ".parquet" and not end.endswith(b"PAR1"):
        return "it does not end as Parquet does"
    if first := _FIRST.get(ending):
        return "" if start.startswith(first) else f"it does not begin as a file called {ending} does"
    if ending == ".json":
        return "" if start[:1] + end[-1:] in (b"[]", b"{}") else "it is no whole JSON"
    if ending in _TABLES or ending == ".jsonl":
        return _no_table(start, b"{[" if ending == ".jsonl" else b",;\t| ")
    return f"it has only {path.stat().st_size} bytes" if path.stat().st_size < _SMALL else ""


def _opens(path: Path, opener: Callable) -> bool:
    """Tell whether the beginning of a packed file can be unpacked, to something."""
    try:
        with opener(path, "rb") as stream:
            return bool(stream.read(1))
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return False


def _no_table(start: bytes, signs: bytes) -> str:
    """Say why a text holds no rows: bytes of no text, one line only, or a first line with nothing that parts cells."""
    lines = start.splitlines()
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "it is no text"
    return "" if len(lines) > 1 and any(sign in lines[0] for sign in signs) else "it has no rows"
