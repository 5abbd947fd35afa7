"""Find, download and verify single files: a mirror first, then the cache, then the public address.

``EVALKIT_DATA_MIRROR``: a folder (read in place) or a URL that replaces every origin. ``EVALKIT_DATA_DIR``: the cache,
which is else ``data/cache`` in a clone, and the user's cache folder elsewhere.
``EVALKIT_OFFLINE``: set and not 0, the network stays untouched.
"""

from __future__ import annotations

import contextlib
import glob
import os
import socket
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from evalkit import CLONE, ROOT, DataError
from evalkit.data import secret
from evalkit.data.registry import File, digest

if TYPE_CHECKING:
    import pandas as pd

_MOST_BYTES = 4 << 30  # for a file whose size the registry does not know
_RESOLVE, _CONNECT, _READ = 3.0, 3.0, 15.0  # seconds to wait for a name, a connection, the next bytes
_REST = 60.0  # seconds for which a host that did not answer is not asked again
_STALE = 3600.0  # seconds after which an unfinished download is nobody's any more
_silent: dict[str, float] = {}  # hosts that did not answer, and when: without a network, wait once and not per file


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
    mirror = os.environ.get("EVALKIT_DATA_MIRROR", "").rstrip("/")
    if urlsplit(mirror).scheme in ("http", "https"):
        return None, mirror
    return (Path(mirror.removeprefix("file://")) if mirror else None), None


def locate(file: File) -> Path | None:
    """Find a verified copy without the network; None where there is none.

    Raises DataError where the only copies fail their digest: which file, what was expected, what was found.
    """
    folder, _ = _mirror()
    complaints = []
    for base in filter(None, (folder, cache())):
        path = base / unquote(file.path)
        if os.path.isfile(path):
            complaint = _complaint(path, file)
            if not complaint:
                return path
            complaints.append(complaint)
    if complaints:
        raise DataError(" ".join(complaints))
    return None


def obtain(file: File, *, progress: bool = False) -> Path:
    """Return a verified copy, downloading it when there is none or only a damaged one.

    Raises DataError where that is impossible, with what was tried and the remedy.
    """
    try:
        path, damage = locate(file), ""
    except DataError as problem:
        path, damage = None, str(problem)
    if path is None:
        folder, base = _mirror()
        if folder:
            absent = f"{file.path} is neither in the mirror {folder} nor in the cache."
            raise DataError(damage or f"{absent} Complete the mirror, or unset EVALKIT_DATA_MIRROR.")
        if os.environ.get("EVALKIT_OFFLINE", "0") not in ("", "0"):
            absent = f"{file.path} is not in the cache, and EVALKIT_OFFLINE forbids the network."
            raise DataError(damage or f"{absent} Unset it, or set EVALKIT_DATA_MIRROR to a folder that has the file.")
        try:
            path = _download(f"{base}/{file.path}" if base else file.url, file, progress=progress)
        except DataError as problem:
            raise DataError(f"{damage} {problem}".strip()) from problem
    if not _expected(file):
        _pin(file, path)
    return path


def stamp(path: Path) -> tuple[int, ...]:
    """Say what the file system knows of a file's content; writing to it changes this, whatever is written.

    Caveat: time moves in steps of some milliseconds there; whoever needs certainty compares digests besides.
    """
    seen = path.stat()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def steady(loader: Callable[..., pd.DataFrame], wanted: Iterable[File]) -> Callable[..., pd.DataFrame]:
    """Make a loader refuse files that change between their verification and the end of its reading."""

    def read(paths: list[Path], **options: object) -> pd.DataFrame:
        before = [stamp(path) for path in paths]
        frame = loader(paths, **options)
        for file in wanted:
            locate(file)  # raises where it is another one by now
        if changed := [path for path, seen in zip(paths, before) if stamp(path) != seen]:
            raise DataError(f"{changed[0]} changed while it was read. Load it again when nothing writes to it.")
        return frame

    return read


def recognised(file: File) -> str:
    """Print the digest by which a file is recognised, with a remark where it was taken on trust."""
    if file.digest:
        return file.digest
    return f"{pin} (trusted on first use)" if (pin := _expected(file)) else "unknown"


def _pin_path(file: File) -> Path:
    """Name the note that holds the digest of a file which was taken on trust."""
    return cache() / f"{unquote(file.path)}.sha256"


def _expected(file: File) -> str | None:
    """Look up the digest a file must have: the registry's, or the one that this user noted on first trusting it.

    A note without this user's seal (see ``secret``) is none: the file is taken on trust again, and that is said again.
    """
    if file.digest or not os.path.isfile(pin := _pin_path(file)):
        return file.digest
    noted, _, seal = pin.read_text(encoding="ascii", errors="replace").strip().partition(" ")
    return noted if seal == (secret.seal(file.url, noted) or "") else None


def _complaint(path: Path, file: File) -> str:
    """Say how a copy differs from the file it should be; empty where it does not."""
    try:
        size, expected = path.stat().st_size, _expected(file)
        actual = digest(path, kind=expected.partition(":")[0]) if expected else None
    except OSError as problem:
        return f"{path} cannot be read: {problem.strerror}. Give yourself the right to read it."
    if actual != expected or file.bytes not in (None, size):
        wanted = f"{expected} ({file.bytes} bytes)" if file.bytes else expected
        pinned = "" if file.digest else f" If the new file is the right one, delete {_pin_path(file)}."
        return (
            f"{path} is altered or cut short: expected {wanted}, found {actual} ({size} bytes). "
            f"Put a good copy in its place, or delete it and run `evalkit data fetch`.{pinned}"
        )
    return ""


def _pin(file: File, path: Path) -> None:
    """Note the digest of a file that the registry cannot recognise, loudly: later loads demand the same bytes."""
    found = digest(path)
    print(
        f"evalkit: {file.url} has no known digest. Taken on trust as {found}; other bytes are refused from now on.",
        file=sys.stderr,
    )
    target = _pin_path(file)
    try:
        part = beside(target)
        part.write_text(f"{found} {secret.seal(file.url, found) or ''}".strip(), encoding="ascii")
        part.replace(target)
    except OSError as problem:
        raise _unwritable(problem) from problem


def _download(url: str, file: File, *, progress: bool) -> Path:
    """Bring one file into the cache: written beside its place, verified, then moved there in one step."""
    import requests
    from tqdm import TqdmWarning, tqdm

    with warnings.catch_warnings():  # pooch would like a progress bar made of widgets, which nobody asked for
        warnings.simplefilter("ignore", TqdmWarning)
        from pooch import HTTPDownloader

    host = urlsplit(url).netloc
    failed = f"{url} could not be fetched:"
    hint = "Check the network, or set EVALKIT_DATA_MIRROR to a folder or address that has the file."
    if time.monotonic() - _silent.get(host, float("-inf")) < _REST:
        raise DataError(f"{failed} {host} did not answer a moment ago. {hint}")
    target = cache() / unquote(file.path)
    try:
        part = beside(target)
    except OSError as problem:
        raise _unwritable(problem) from problem
    looks = {"total": file.bytes or 1, "unit": "B", "unit_scale": True, "leave": False, "desc": target.name[-30:]}
    try:
        with part.open("xb") as sink, tqdm(disable=not progress, **looks) as bar:
            _resolve(url)
            fetch = HTTPDownloader(progressbar=bar, chunk_size=1 << 16, timeout=(_CONNECT, _READ))
            fetch(url, _Bounded(sink, file.bytes or _MOST_BYTES), None)
        if complaint := _complaint(part, file):
            raise DataError(f"{failed} {complaint.partition(': ')[2].partition('. ')[0]}. {hint}")
        part.replace(target)
    except (requests.ConnectionError, requests.Timeout) as problem:
        _silent[host] = time.monotonic()
        raise DataError(f"{failed} {host} does not answer ({type(problem).__name__}). {hint}") from problem
    except requests.HTTPError as problem:
        raise DataError(f"{failed} the server answers {problem.response.status_code}. {hint}") from problem
    except requests.RequestException as problem:
        raise DataError(f"{failed} {type(problem).__name__}. Try again; nothing half-done was kept.") from problem
    except OSError as problem:
        raise _unwritable(problem) from problem
    finally:
        part.unlink(missing_ok=True)
    return target


class _Bounded:
    """Pass bytes on to a file until there are more than there may be."""

    def __init__(self, sink, most: int):
        self.sink, self.left, self.most = sink, most, most

    def write(self, block: bytes) -> None:
        self.left -= len(block)
        if self.left < 0:
            raise DataError(
                f"The download of {self.sink.name} was stopped after {self.most} bytes. Ask its server why."
            )
        self.sink.write(block)

    def flush(self) -> None:
        self.sink.flush()


def _resolve(url: str) -> None:
    """Find that a host has no address within seconds, where the system's own search may take a minute."""
    import requests

    server = urlsplit(requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)) or url)
    outcome: list[Exception | None] = []

    def look() -> None:
        try:
            socket.getaddrinfo(server.hostname, server.port or 443)
            outcome.append(None)
        except (OSError, UnicodeError) as problem:
            outcome.append(problem)

    search = threading.Thread(target=look, daemon=True)
    search.start()
    search.join(_RESOLVE)
    if outcome != [None]:
        raise requests.ConnectionError(f"no address for {server.hostname}") from (outcome or [None])[0]


def beside(target: Path) -> Path:
    """Name a file of this process's own beside ``target``, clearing away what killed downloads of it left there."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with contextlib.suppress(FileNotFoundError):  # another process clears away, too
            if time.time() - left.stat().st_mtime > _STALE:
                left.unlink()
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")


def _unwritable(problem: OSError) -> DataError:
    """Tell that the cache cannot be written, and how to have it elsewhere."""
    return DataError(f"The cache {cache()} cannot be written: {problem.strerror}. Set EVALKIT_DATA_DIR to another one.")
