"""Find, download and verify files, a mirror first, then the cache, then the public address; unpack and keep them.

``EVALKIT_DATA_MIRROR``: a folder (read in place) or a URL that replaces every origin. ``EVALKIT_DATA_DIR``: the cache,
which is else ``data/cache`` in a clone, and the user's cache folder elsewhere.
``EVALKIT_OFFLINE``: set and not 0, the network stays untouched.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tarfile
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from evalkit import CLONE, ROOT, DataError
from evalkit.data.registry import File, digest

if TYPE_CHECKING:
    import pandas as pd

_TIMES = (3.0, 15.0)  # seconds to wait for a connection, and for the next bytes
_HINT = "Check the network, or set EVALKIT_DATA_MIRROR to a folder or address that has the file."


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
        complaints.append(f"{path} is altered or cut short: {flaw}. Replace it, or `evalkit data fetch` another.")
    if complaints:
        raise DataError(" ".join(complaints))
    return None


def obtain(file: File, *, progress: bool = False) -> Path:
    """Return a verified copy, downloading it when there is none or only a damaged one.

    Raises DataError where that is impossible, with what was tried and the remedy.
    """
    damage = ""
    try:
        if path := locate(file):
            return path
    except DataError as problem:
        damage = str(problem)
    folder, base = _mirror()
    if not file.digest:
        place = (folder or cache()) / unquote(file.path)
        why = f"has no known digest. Fetch {file.url} by hand, look at it, and put it at {place}."
    elif folder:
        why = f"is neither in the mirror {folder} nor in the cache. Complete the mirror, or unset EVALKIT_DATA_MIRROR."
    elif os.environ.get("EVALKIT_OFFLINE", "0") not in ("", "0"):
        why = "is not in the cache, and EVALKIT_OFFLINE forbids the network. Unset it, or set EVALKIT_DATA_MIRROR."
    else:
        return _download(f"{base}/{file.path}" if base else file.url, file, progress=progress)
    raise DataError(damage or f"{file.path} {why}")


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
    try:
        with replacing(target) as part, tqdm(disable=not progress, **looks) as bar:
            with part.open("xb") as sink:
                problem = _brought(url, sink, bar)
            problem = problem or _flaw(part, file)
            if problem:  # raised outside any except: its context would tell the password in an address
                raise DataError(f"{file.path} could not be fetched: {problem}. {_HINT}")
    except OSError as full:
        told = f"The cache {cache()} cannot be written: {full.strerror}. Set EVALKIT_DATA_DIR to another one."
        raise DataError(told) from full
    return target


def _brought(url: str, sink: IO[bytes], progress: Any) -> str:
    """Write what a server gives into ``sink``; say what went wrong. Errors of the disk are raised."""
    import requests

    try:  # bytes are asked for as they lie on the server: what is packed for the way can unfold to anything
        with requests.get(url, headers={"Accept-Encoding": "identity"}, stream=True, timeout=_TIMES) as response:
            if response.status_code != 200:  # also 206, 204 and the like: no error, and not the file either
                return f"the server answers {response.status_code}"
            for block in response.iter_content(1 << 16):
                sink.write(block)
                progress.update(len(block))
    except (requests.RequestException, ValueError) as problem:
        return f"{urlsplit(url).hostname} gives no whole answer ({type(problem).__name__})"
    return ""


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a file of this process's own beside ``target``, which takes its place when it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


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
    its name what it was made from, and its pages a checksum each. One that was damaged, or that cannot be written, is
    parsed again.
    """
    import pandas as pd
    import pyarrow

    place = cache() / "parsed" / f"{name}.{_made_from(digest)}.parquet"
    with contextlib.suppress(OSError, pyarrow.ArrowException):
        return pd.read_parquet(place, page_checksum_verification=True)
    frame = loader(paths)
    try:
        with replacing(place) as part:
            frame.to_parquet(part, write_page_checksum=True)
        for older in set(place.parent.glob(f"{name}.*.parquet")) - {place}:
            older.unlink(missing_ok=True)
    except OSError as problem:
        print(f"evalkit: {name} could not be kept: {problem.strerror}. It is parsed at each load.", file=sys.stderr)
    return frame


def _made_from(digest: str) -> str:
    """Name what a table depends on: the content of its files, and the code and vocabulary that read them."""
    import pandas as pd

    here = [path for path in sorted(Path(__file__).parent.rglob("*")) if path.suffix in (".py", ".csv", ".toml")]
    whole = b"".join([digest.encode(), pd.__version__.encode(), *(path.read_bytes() for path in here)])
    return hashlib.sha256(whole).hexdigest()[:32]


def member(path: Path, name: str) -> bytes:
    """Return the content of the one file called ``name``, in whatever folder of a zip or tar archive it lies.

    Raises DataError where the archive is damaged, or does not have exactly one such file.
    """
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                found = [archive.read(place) for place in archive.namelist() if PurePosixPath(place).name == name]
        else:
            with tarfile.open(path) as tar:
                places = [one for one in tar if one.isfile() and PurePosixPath(one.name).name == name]
                found = [stream.read() for one in places if (stream := tar.extractfile(one))]
    except Exception as problem:  # whatever unpacking meets
        raise DataError(f"{path.name} is no sound zip or tar archive: {problem}. Fetch it again.") from problem
    if len(found) != 1:
        raise DataError(f"{path.name} has {len(found)} files {name}, not 1. Fetch the right archive.")
    return found[0]
