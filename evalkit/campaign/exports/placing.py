"""One export takes the place of the one before: all of its files or none, whatever happens in between."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit import DataError
from evalkit.campaign.exports.tables import LIST
from evalkit.data.registry import digest

_STALE = 3600.0  # seconds after which what a killed export left is nobody's any more
_PART = ".evalkit-part"


@contextmanager
def placed(out: Path) -> Iterator[Path]:
    """Hand out an empty folder; when the block ends well, what is in it becomes the export in ``out``.

    A folder that holds an export and nothing else changes places with the new one in one step, so that a kill or a full
    disk leaves the earlier export or the new one. Where other files are there, too, or the system cannot do that, files
    are moved one by one: ``export.json`` goes first and comes last.
    Raises DataError where ``out`` is a file, or a file of the earlier export was changed since.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file. Name a folder with --out.")
    earlier = _listed(out)
    for name, expected in earlier.items():
        if (out / name).is_file() and digest(out / name) != expected:
            raise DataError(
                f"{out / name} was changed since it was exported, and would be lost. Move it elsewhere, or name "
                "another folder with --out."
            )
    real = out.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    whole = _replaceable(real, earlier)
    draft = _draft(real.parent if whole else real, real.name)
    try:
        yield draft
        if not (whole and _exchanged(draft, real)):
            _move_each(draft, real, set(earlier))
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _listed(out: Path) -> dict[str, str]:
    """Read which files an earlier export wrote, with their digests; none where its list is not there."""
    try:
        found = json.loads((out / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    plain = isinstance(found, dict) and all(Path(name).name == name and name not in (".", "..") for name in found)
    return {name: str(value) for name, value in found.items()} if plain else {}


def _replaceable(real: Path, earlier: dict[str, str]) -> bool:
    """Tell whether a folder can go as a whole: an export and nothing else, nobody stands in it, and it can be moved."""
    if not real.exists():
        return True
    here = Path.cwd().resolve()
    if here == real or real in here.parents or os.path.ismount(real) or not os.access(real.parent, os.W_OK):
        return False
    return {path.name for path in real.iterdir()} <= {*earlier, *([LIST] if earlier else [])}


def _draft(parent: Path, name: str) -> Path:
    """Make a folder for unfinished files, and remove what exports that were killed left long ago."""
    for left in parent.iterdir():
        ours = left.name.startswith(f".{name}.") and left.name.endswith(_PART)
        if ours and time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
    draft = parent / f".{name}.{uuid.uuid4().hex}{_PART}"
    try:
        draft.mkdir(parents=True)
    except OSError as problem:
        raise DataError(f"{parent} cannot be written ({problem.strerror}). Name another folder with --out.") from None
    return draft


def _exchanged(draft: Path, real: Path) -> bool:
    """Put a folder in the place of another in one step; False where the system cannot."""
    try:
        if not real.exists() or not any(real.iterdir()):
            os.rename(draft, real)  # over an empty folder, too
            return True
    except OSError:
        return False
    return _swap(os.fsencode(draft), os.fsencode(real))


def _swap(one: bytes, other: bytes) -> bool:
    """Let two folders change names, as Linux and macOS can."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(one, other, 2) == 0)  # RENAME_SWAP
        here = -100  # AT_FDCWD: paths are as they stand
        return bool(system.renameat2(here, one, here, other, 2) == 0)  # RENAME_EXCHANGE
    except (OSError, AttributeError, TypeError):
        return False


def _move_each(draft: Path, real: Path, earlier: set[str]) -> None:
    """Move files one by one; the list of the export goes first and comes last, so that a mixed folder has none."""
    real.mkdir(parents=True, exist_ok=True)
    (real / LIST).unlink(missing_ok=True)
    names = {path.name for path in draft.iterdir()}
    for name in sorted(names - {LIST}):
        os.replace(draft / name, real / name)
    for name in earlier - names:
        (real / name).unlink(missing_ok=True)
    os.replace(draft / LIST, real / LIST)
