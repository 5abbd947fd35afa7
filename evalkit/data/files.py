"""Find, download and verify single files: a mirror first, then the cache, then the public address.

``EVALKIT_DATA_MIRROR``: a folder (read in place) or a URL that replaces every origin. ``EVALKIT_DATA_DIR``: the cache,
which is else ``data/cache`` in a clone, and the user's cache folder elsewhere.
``EVALKIT_OFFLINE``: set and not 0, the network stays untouched.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evalkit import CLONE, ROOT, DataError
from evalkit.data import downloads
from evalkit.data.registry import File, digest

if TYPE_CHECKING:
    import pandas as pd

_MOST_BYTES = 4 << 30  # for a file whose size the registry does not know
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|.*@|.*://", re.IGNORECASE | re.DOTALL)  # what is, or should be, an address
_PATIENCE = 20.0  # seconds that others may keep a folder to themselves
_STALE = 3600.0  # seconds after which what a killed process left unfinished is nobody's any more


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
    mirror = os.environ.get("EVALKIT_DATA_MIRROR", "").strip()
    place = mirror.removeprefix("file://").rstrip("/")
    if _ADDRESS.match(place) and not os.path.isdir(place):  # whatever it is, it may hold a password
        return None, downloads.checked(place, name="EVALKIT_DATA_MIRROR")
    return (Path(place or "/") if mirror else None), None


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
            path = _download(f"{base}/{file.path}" if base else file.url, file, progress=progress)
        except DataError as problem:
            raise DataError(f"{damage} {problem}".strip()) from None
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


def _complaint(path: Path, file: File) -> str:
    """Say how a copy differs from the file it should be, and what to do; empty where it does not."""
    try:
        flaw = _flaw(path, file)
    except OSError as problem:
        return f"{path} cannot be read: {problem.strerror}. Give yourself the right to read it."
    if not flaw:
        return ""
    remedy = "Put a good copy in its place, or delete it and run `evalkit data fetch`."
    return f"{path} is altered or cut short: {flaw}. {remedy}"


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
            downloads.bring(url, sink, most=file.bytes or _MOST_BYTES, progress=bar)
        if flaw := _flaw(part, file):
            raise DataError(f"{downloads.shown(url)} could not be fetched: {flaw}. {downloads.HINT}")
        part.replace(target)
    except OSError as problem:
        raise _unwritable(problem) from problem
    finally:
        if part is not None:
            part.unlink(missing_ok=True)
    return target


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
    """Keep other processes of ours from moving files into a folder meanwhile, where the system can lock one.

    A kill unlocks it. Raises DataError where another process keeps it for long. Caveat: Windows locks no folders, nor
    do some file systems of networks.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(PermissionError):
            place = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, place)
            end = time.monotonic() + _PATIENCE
            while not _locked(place):
                if time.monotonic() > end:
                    raise DataError(
                        f"Another process has been writing into {folder} for {_PATIENCE:.0f} seconds. Wait until it "
                        "ends, or stop it, and try again."
                    )
                time.sleep(0.02)
        yield


def _locked(place: int) -> bool:
    """Lock an open folder, and tell whether that is done, or cannot be."""
    try:
        import fcntl

        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _unwritable(problem: OSError) -> DataError:
    """Tell that the cache cannot be written, and how to have it elsewhere."""
    return DataError(f"The cache {cache()} cannot be written: {problem.strerror}. Set EVALKIT_DATA_DIR to another one.")
