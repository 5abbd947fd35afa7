"""Find, download and verify files, a mirror first, then the cache, then the public address; unpack and keep them.

``EVALKIT_DATA_MIRROR``: a folder (read in place) or a URL that replaces every origin. ``EVALKIT_DATA_DIR``: the cache,
which is else ``data/cache`` in a clone, and the user's cache folder elsewhere.
``EVALKIT_OFFLINE``: set and not 0, the network stays untouched.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import io
import itertools
import lzma
import os
import re
import sys
import tarfile
import time
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from evalkit import CLONE, ROOT, DataError
from evalkit.data.registry import File, digest

if TYPE_CHECKING:
    import pandas as pd

_MOST_BYTES = 4 << 30  # of a download whose size the registry does not know
_MOST_UNPACKED = 1 << 30  # of the files in an archive that nobody knows the digest of
_TIMES = (3.0, 15.0)  # seconds to wait for a connection, and for the next bytes
_REST = 60.0  # seconds for which a host that did not answer is not asked again
_STALE = 3600.0  # seconds after which what a killed process left unfinished is nobody's any more
_silent: dict[str, float] = {}  # hosts that did not answer, and when: without a network, wait once and not per file
_HINT = "Check the network, or set EVALKIT_DATA_MIRROR to a folder or address that has the file."
#: What a damaged archive may end in; ValueError and RuntimeError come from its headers.
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)


def cache() -> Path:
    """Name the folder of downloads: a clone's own, and else where this system keeps a user's caches."""
    if given := os.environ.get("EVALKIT_DATA_DIR"):
        return Path(given)
    if CLONE:
        return ROOT / "data" / "cache"
    import platformdirs

    return platformdirs.user_cache_path("evalkit")


def _mirror() -> tuple[Path | None, str | None]:
    """Read the mirror variable: a folder, or a base address, or neither."""
    place = os.environ.get("EVALKIT_DATA_MIRROR", "").strip().removeprefix("file://").rstrip("/")
    if "://" not in place:
        return (Path(place) if place else None), None
    if not place.startswith(("http://", "https://")):  # whatever it is, it may hold a password
        raise DataError("EVALKIT_DATA_MIRROR is neither a folder nor an address like https://host/folder. Correct it.")
    return None, place


def locate(file: File) -> Path | None:
    """Find a verified copy without the network; None where there is none.

    Raises DataError where the only copies fail their digest: which file, what was expected, what was found.
    """
    folder, _ = _mirror()
    complaints = []
    for path in [base / unquote(file.path) for base in (folder, cache()) if base]:
        if not os.path.isfile(path):
            continue
        try:
            flaw = _flaw(path, file)
        except OSError as problem:
            flaw = f"it cannot be read ({problem.strerror})"
        if not flaw:
            return path
        remedy = "Put a good copy in its place, or delete it and run `evalkit data fetch`."
        complaints.append(f"{path} is altered or cut short: {flaw}. {remedy}")
    if complaints:
        raise DataError(" ".join(complaints))
    return None


def obtain(file: File, *, progress: bool = False) -> Path:
    """Return a verified copy, downloading it when there is none or only a damaged one.

    Raises DataError where that is impossible, with what was tried and the remedy.
    """
    try:
        if path := locate(file):
            return path
        damage = ""
    except DataError as problem:
        damage = str(problem)
    folder, base = _mirror()
    if not file.digest:
        place = (folder or cache()) / unquote(file.path)
        absent = f"{file.path} has no known digest, so it is never downloaded unseen."
        raise DataError(damage or f"{absent} Fetch {file.url} by hand, look at it, and put it at {place}.")
    if folder:
        absent = f"{file.path} is neither in the mirror {folder} nor in the cache."
        raise DataError(damage or f"{absent} Complete the mirror, or unset EVALKIT_DATA_MIRROR.")
    if os.environ.get("EVALKIT_OFFLINE", "0") not in ("", "0"):
        absent = f"{file.path} is not in the cache, and EVALKIT_OFFLINE forbids the network."
        raise DataError(damage or f"{absent} Unset it, or set EVALKIT_DATA_MIRROR to a folder that has the file.")
    try:
        return _download(f"{base}/{file.path}" if base else file.url, file, progress=progress)
    except DataError as problem:
        raise DataError(f"{damage} {problem}".strip()) from None


def _flaw(path: Path, file: File) -> str:
    """Say in a few words how a copy differs from the file it should be; empty where it does not."""
    size = path.stat().st_size
    actual = digest(path, kind=file.digest.partition(":")[0]) if file.digest else None
    if actual == file.digest and file.bytes in (None, size):
        return ""
    wanted = f"{file.digest} ({file.bytes} bytes)" if file.bytes else file.digest
    return f"expected {wanted}, found {actual} ({size} bytes)"


def _download(url: str, file: File, *, progress: bool) -> Path:
    """Bring one file into the cache: written beside its place, verified, then moved there in one step."""
    from tqdm import tqdm

    target = cache() / unquote(file.path)
    looks = {"total": file.bytes, "unit": "B", "unit_scale": True, "leave": False, "desc": target.name[-30:]}
    part = None
    try:
        part = beside(target)
        with part.open("xb") as sink, tqdm(disable=not progress, **looks) as bar:
            problem = _brought(url, sink, most=file.bytes or _MOST_BYTES, progress=bar)
        if not problem and (flaw := _flaw(part, file)):
            problem = f"{flaw}. {_HINT}"
        if problem:  # raised outside any except: its context would tell the password in an address
            raise DataError(f"{file.path} could not be fetched: {problem}")
        part.replace(target)
    except OSError as full:
        told = f"The cache {cache()} cannot be written: {full.strerror}. Set EVALKIT_DATA_DIR to another one."
        raise DataError(told) from full
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
    return target


def _brought(url: str, sink: IO[bytes], *, most: int, progress: Any) -> str:
    """Write what a server gives into ``sink``; say what went wrong, and what to do. Errors of the disk are raised.

    most: bytes after which it is stopped. progress: is told the bytes that came (``update``).
    """
    import requests

    host, came = urlsplit(url).hostname or "", 0
    if time.monotonic() - _silent.get(host, float("-inf")) < _REST:
        return f"{host} did not answer a moment ago. {_HINT}"
    try:  # bytes are asked for as they lie on the server: what is packed for the way can unfold to anything
        with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=_TIMES) as response:
            if response.status_code != 200:  # also 206, 204 and the like: no error, and not the file either
                return f"the server answers {response.status_code}. {_HINT}"
            for block in response.iter_content(1 << 16):
                came += len(block)
                if came > most:
                    return f"the download was stopped after {most} bytes, for there should be no more. {_HINT}"
                sink.write(block)
                progress.update(len(block))
    except requests.exceptions.ChunkedEncodingError:
        return f"the server's answer broke off. {_HINT}"
    except (requests.ConnectionError, requests.Timeout) as problem:
        _silent[host] = time.monotonic()
        return f"{host} does not answer ({type(problem).__name__}). {_HINT}"
    except (requests.RequestException, ValueError) as problem:
        return f"the address, or the server's answer, is malformed ({type(problem).__name__}). {_HINT}"
    return ""


def beside(target: Path) -> Path:
    """Name a file of this process's own beside ``target``, clearing away what killed downloads of it left there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        if is_abandoned(left):
            left.unlink(missing_ok=True)  # another process clears away, too
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")


def is_abandoned(left: Path) -> bool:
    """Tell whether an unfinished file or folder is so old that the process which began it must have been killed."""
    try:
        return time.time() - left.stat().st_mtime > _STALE
    except OSError:  # its process has just finished it
        return False


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes of ours from moving files into a folder meanwhile; a kill unlocks it.

    Caveat: Windows locks no folders, nor do some file systems of networks.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            place = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, place)
            fcntl.flock(place, fcntl.LOCK_EX)
        yield


def kept(name: str, loader: Callable[[list[Path]], pd.DataFrame], paths: list[Path], *, digest: str) -> pd.DataFrame:
    """Return ``loader(paths)``, from the cache where the same code has read files of the same content before.

    name: of the data set, of which one table is kept, as Parquet. digest: of the files' content. A kept table bears in
    its name what it was made from and a digest of its content, and is held against both at every load. One that was
    damaged, or that cannot be written, is parsed again.
    """
    import pandas as pd
    import pyarrow

    folder, made_from = cache() / "parsed", _made_from(digest)
    for place in sorted(folder.glob(f"{name}.{made_from}.*.parquet")):
        with contextlib.suppress(OSError, pyarrow.ArrowException):
            if place.name == f"{name}.{made_from}.{_short(content := place.read_bytes())}.parquet":
                return pd.read_parquet(io.BytesIO(content))
    frame = loader(paths)
    frame.to_parquet(buffer := io.BytesIO())
    target = folder / f"{name}.{made_from}.{_short(buffer.getvalue())}.parquet"
    try:
        part = beside(target)
        part.write_bytes(buffer.getvalue())
        part.replace(target)
        for older in set(folder.glob(f"{name}.*.parquet")) - {target}:
            older.unlink(missing_ok=True)
    except OSError as problem:
        print(f"evalkit: {name} could not be kept: {problem.strerror}. It is parsed at each load.", file=sys.stderr)
    return frame


def _made_from(digest: str) -> str:
    """Name what a table depends on: the content of its files, and the code and vocabulary that read them."""
    import pandas as pd

    here = [path for path in sorted(Path(__file__).parent.rglob("*")) if path.suffix in (".py", ".csv", ".toml")]
    return _short(b"".join([digest.encode(), pd.__version__.encode(), *(path.read_bytes() for path in here)]))


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


class Damaged(DataError):
    """What is no archive of a known kind, or is damaged."""


def member(path: Path, name: str) -> bytes:
    """Return the content of the one file called ``name``, in whatever folder of the archive it lies.

    Raises DataError where the archive is damaged, or does not have exactly one such file.
    """
    found = [content for _, content in members(path, lambda place: PurePosixPath(place).name == name)]
    if len(found) != 1:
        raise DataError(f"{path.name} has {len(found)} files {name}, not 1. Fetch the right archive.")
    return found[0]


def only(path: Path, wanted: re.Pattern[str]) -> tuple[str, bytes] | None:
    """Return name and content of the one file of an archive whose name ``wanted`` fits; None unless it is one."""
    fitting = members(path, lambda place: bool(wanted.fullmatch(PurePosixPath(place).name)), most=_MOST_UNPACKED)
    found = [(PurePosixPath(place).name, content) for place, content in itertools.islice(fitting, 2)]
    return found[0] if len(found) == 1 else None


def members(path: Path, is_wanted: Callable[[str], bool], *, most: float = float("inf")) -> Iterator[tuple[str, bytes]]:
    """Yield place and content of each wanted file of a zip or tar archive.

    most: bytes that all files may have unpacked, by what their headers say, beyond which none is read.
    Raises DataError where the archive is damaged.
    """
    try:
        for place, size, content in _walked(path):
            if (most := most - size) < 0:
                raise DataError(f"{path.name} unpacks to more than {_MOST_UNPACKED >> 30} GiB. Do not use this file.")
            if is_wanted(place):
                yield place, content()
    except _BROKEN as problem:
        raise Damaged(f"{path.name} is no sound zip or tar archive: {problem}. Fetch it again.") from problem


def _walked(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Yield name, unpacked size and reader of each regular file."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, info.file_size, partial(archive.read, info)
        return
    with tarfile.open(path) as tar:
        for entry in tar:
            if entry.isfile() and (content := tar.extractfile(entry)):
                yield entry.name, entry.size, content.read
