"""Read one file out of a zip or tar archive without trusting the archive.

Nothing is written to disk, so no name can lead anywhere; an archive that tries is refused all the same.
"""

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from evalkit import DataError

_MOST_BYTES = 1 << 30  # of a small archive, or of one file in it
MANY_FILES, MANY_BYTES = 100_000, 16 << 30  # bounds of a large archive
_OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


class Damaged(DataError):
    """What is no archive of a known kind, or is damaged."""


def member(
    path: Path, name: str, *, most_files: int = 10_000, most_bytes: int = _MOST_BYTES, links: bool = False
) -> bytes:
    """Return the content of the one file called ``name``, in whatever folder of the archive it lies.

    most_files, most_bytes: bounds on the members and on what they hold unpacked, against archives made to burst.
    links: pass over links, which nothing follows here, instead of refusing an archive that has any.
    Raises DataError where the archive is damaged, passes a bound, holds links, devices or names that lead out of it,
    or does not have exactly one such file.
    """
    seen, found = [], []
    for place, read in _walked(path, most_files=most_files, most_bytes=most_bytes, links=links):
        seen.append(place)
        if PurePosixPath(place).name == name:
            found.append(read())
    if len(found) != 1:
        some = ", ".join(seen[:10]) or "nothing"
        raise DataError(f"{path.name} has {len(found)} files {name}, not 1; it holds {some}. Fetch the right archive.")
    return found[0]


def only(path: Path, wanted: re.Pattern[str]) -> tuple[str, bytes] | None:
    """Return name and content of the one file of a small archive whose name ``wanted`` fits; None unless it is one.

    Bounds and refusals are those of ``member``.
    """
    found: list[tuple[str, bytes]] = []
    for place, read in _walked(path, most_files=10_000, most_bytes=_MOST_BYTES, links=False):
        if wanted.fullmatch(PurePosixPath(place).name):
            if found:
                return None
            found.append((PurePosixPath(place).name, read()))
    return found[0] if found else None


def members(path: Path, wanted: re.Pattern[str]) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the matched name and the content of each file of a large archive whose name ``wanted`` fits, one by one.

    Bounds are those of a large archive, refusals those of ``member``; links, which nothing follows here, are passed
    over. A file packed with gzip is unpacked, to 1 GiB at most, and named without its ``.gz``.
    """
    for place, read in _walked(path, most_files=MANY_FILES, most_bytes=MANY_BYTES, links=True):
        if name := wanted.fullmatch(place.removesuffix(".gz")):
            content = read()
            yield name, unpacked(content, origin=place) if content.startswith(b"\x1f\x8b") else content


def unpacked(content: bytes, *, origin: str) -> bytes:
    """Unpack what gzip packed, within a bound."""
    try:
        with gzip.open(io.BytesIO(content)) as stream:
            found = stream.read(_MOST_BYTES + 1)
    except _BROKEN as problem:
        raise DataError(f"{origin} is no sound gzip file: {problem}. Fetch its archive again.") from problem
    if len(found) > _MOST_BYTES:
        raise DataError(f"{origin} unpacks to more than {_MOST_BYTES} bytes. Do not use this file.")
    return found


def _walked(path: Path, *, most_files: int, most_bytes: int, links: bool) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield name and reader of each regular file, within bounds."""
    files, left = 0, most_bytes
    try:
        for place, size, read in _members(path, most_bytes, links):
            files += 1
            if files > most_files:
                raise DataError(f"{path.name} holds more than {most_files} files. Do not use this file.")
            left -= size
            if left < 0:
                raise DataError(f"{path.name} unpacks to more than {most_bytes} bytes. Do not use this file.")
            yield _safe(path, place), partial(_sound, path, read)
    except _BROKEN as problem:
        raise _broken(path, problem) from problem


def _sound(path: Path, read: Callable[[], bytes]) -> bytes:
    """Read a member, or say that its archive is damaged."""
    try:
        return read()
    except _BROKEN as problem:
        raise _broken(path, problem) from problem


def _broken(path: Path, problem: Exception) -> Damaged:
    return Damaged(f"{path.name} is no sound zip or tar archive: {problem}. Fetch it again.")


def _members(path: Path, most_bytes: int, links: bool) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield name, unpacked size and reader of each regular file, whatever kind of archive it is."""
    with path.open("rb") as stream:
        magic = stream.read(6)
    if magic.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                linked = links and kind == stat.S_IFLNK
                regular = _regular(path, info.filename, kind in (0, stat.S_IFREG, stat.S_IFDIR), linked)
                if regular and not info.is_dir():
                    yield info.filename, info.file_size, partial(_zipped, archive, info)
        return
    opener = next((opener for start, opener in _OPENERS.items() if magic.startswith(start)), open)
    with opener(path, "rb") as stream:
        bounded: Any = _Bounded(stream, most_bytes, path.name)
        with tarfile.open(fileobj=bounded, mode="r|") as tar:
            for entry in tar:
                linked = links and (entry.issym() or entry.islnk())
                if _regular(path, entry.name, entry.isfile() or entry.isdir(), linked) and entry.isfile():
                    yield entry.name, entry.size, partial(_tarred, tar, entry)


def _zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    return _exactly(archive.open(info), info.file_size)


def _tarred(tar: tarfile.TarFile, info: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(info)
    return _exactly(stream, info.size) if stream else b""


def _exactly(stream: IO[bytes], size: int) -> bytes:
    """Read what a member says it holds; one that holds more or less is damaged or lies."""
    with stream:
        content = stream.read(size + 1)
    if len(content) != size:
        raise ValueError("a member does not have the size it claims")
    return content


def _safe(path: Path, name: str) -> str:
    """Refuse names that lead out of the archive."""
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0] or "\0" in name:
        raise DataError(f"{path.name} holds the name {name!r}, which leads out of the archive. Do not use this file.")
    return name


def _regular(path: Path, name: str, regular: bool, passed: bool) -> bool:
    """Tell regular files; refuse links, devices and pipes unless they are to be passed over."""
    if not regular and not passed:
        raise DataError(f"{path.name} holds {name!r}, which is a link or a device. Do not use this file.")
    return regular


class _Bounded:
    """Read a decompressed stream until it has given more bytes than an honest archive would hold."""

    def __init__(self, stream: IO[bytes], most: int, name: str):
        self.stream, self.most, self.name = stream, most, name
        self.left = most + (1 << 20)  # room for tar's own headers

    def read(self, size: int) -> bytes:
        block = self.stream.read(min(size, self.left + 1))
        self.left -= len(block)
        if self.left < 0:
            raise DataError(f"{self.name} unpacks to more than {self.most} bytes. Do not use this file.")
        return block
