"""Read one file out of a zip or tar archive without trusting the archive.

Nothing is written to disk, so no name can lead anywhere; an archive that tries is refused all the same.
"""

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from evalkit import DataError

_OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
           NotImplementedError, ValueError)  # fmt: skip


def member(path: Path, name: str, *, most_files: int = 10_000, most_bytes: int = 1 << 30) -> bytes:
    """Return the content of the one file called ``name``, in whatever folder of the archive it lies.

    most_files, most_bytes: bounds on the members and on what they hold unpacked, against archives made to burst.
    Raises DataError where the archive is damaged, passes a bound, holds links, devices or names that lead out of it,
    or does not have exactly one such file.
    """
    seen, found, left = [], [], most_bytes
    try:
        for place, size, read in _members(path, most_bytes):
            if len(seen) == most_files:
                raise DataError(f"{path.name} holds more than {most_files} files. Do not use this file.")
            seen.append(_safe(path, place))
            left -= size
            if left < 0:
                raise DataError(f"{path.name} unpacks to more than {most_bytes} bytes. Do not use this file.")
            if PurePosixPath(place).name == name:
                found.append(read())
    except _BROKEN as problem:
        raise DataError(f"{path.name} is no sound zip or tar archive: {problem}. Fetch it again.") from problem
    if len(found) != 1:
        some = ", ".join(seen[:10]) or "nothing"
        raise DataError(f"{path.name} has {len(found)} files {name}, not 1; it holds {some}. Fetch the right archive.")
    return found[0]


def _members(path: Path, most_bytes: int) -> Iterator[tuple[str, int, object]]:
    """Yield name, unpacked size and reader of each regular file, whatever kind of archive it is."""
    with path.open("rb") as stream:
        magic = stream.read(6)
    if magic.startswith(b"PK"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                _regular(path, info.filename, kind in (0, stat.S_IFREG, stat.S_IFDIR))
                if not info.is_dir():
                    yield info.filename, info.file_size, lambda info=info: _exactly(archive.open(info), info.file_size)
        return
    opener = next((opener for start, opener in _OPENERS.items() if magic.startswith(start)), open)
    with opener(path, "rb") as stream, tarfile.open(fileobj=_Bounded(stream, most_bytes, path.name), mode="r|") as tar:
        for info in tar:
            _regular(path, info.name, info.isfile() or info.isdir())
            if info.isfile():
                yield info.name, info.size, lambda info=info: _exactly(tar.extractfile(info), info.size)


def _exactly(stream, size: int) -> bytes:
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


def _regular(path: Path, name: str, regular: bool) -> None:
    """Refuse links, devices and pipes."""
    if not regular:
        raise DataError(f"{path.name} holds {name!r}, which is a link or a device. Do not use this file.")


class _Bounded:
    """Read a decompressed stream until it has given more bytes than an honest archive would hold."""

    def __init__(self, stream, most: int, name: str):
        self.stream, self.most, self.name = stream, most, name
        self.left = most + (1 << 20)  # room for tar's own headers

    def read(self, size: int) -> bytes:
        block = self.stream.read(min(size, self.left + 1))
        self.left -= len(block)
        if self.left < 0:
            raise DataError(f"{self.name} unpacks to more than {self.most} bytes. Do not use this file.")
        return block
