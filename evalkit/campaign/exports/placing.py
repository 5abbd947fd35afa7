"""One export takes the place of the one before: all of its files or none, whatever happens in between."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from evalkit import DataError
from evalkit.campaign.exports.tables import LIST
from evalkit.data.files import alone, is_abandoned
from evalkit.data.registry import digest

_PART = ".evalkit-part"
_UNFINISHED = "This export was interrupted, and its files are of two reports. Export again."


@contextmanager
def placed(out: Path) -> Iterator[Path]:
    """Hand out an empty folder; when the block ends well, what is in it becomes the export in ``out``.

    A first export is there in one step. Over an earlier one, files are moved one by one. Meanwhile ``export.json`` says
    that the export is unfinished, and lists the files of both, so that after a kill nothing takes them for one export,
    and the next export clears them away.
    Raises DataError where ``out`` is a file, a file of the earlier export was changed since, or one that no export
    wrote has a name that this one needs.
    """
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file. Name a folder with --out.")
    real = out.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    with alone(real.parent):
        earlier = _listed(out)
        for name, expected in earlier.items():
            if (out / name).is_file() and digest(out / name) not in expected:
                raise DataError(
                    f"{out / name} was changed since it was exported, and would be lost. Move it elsewhere, or name "
                    "another folder with --out."
                )
        inside = real.exists() and (os.path.ismount(real) or not os.access(real.parent, os.W_OK))
        draft = _draft(real if inside else real.parent, real.name)
        try:
            yield draft
            _demand_no_others(draft, real, earlier)
            if not real.exists() or not any(real.iterdir()):
                os.replace(draft, real)  # over an empty folder, too
            else:
                _move_each(draft, real, earlier)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _listed(out: Path) -> dict[str, list[str]]:
    """Read which files an earlier export wrote, each with its digests; none where its list is not there.

    A file has two digests where an export was interrupted while files were moved: it may be the old one or the new one.
    """
    try:
        found = json.loads((out / LIST).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    plain = isinstance(found, dict) and all(_plain(name) for name in found)
    return {name: one if isinstance(one, list) else [one] for name, one in found.items()} if plain else {}


def _plain(name: str) -> bool:
    """Tell whether a name is one of a file in the folder itself."""
    return Path(name).name == name and name not in (".", "..") and "\0" not in name


def _draft(parent: Path, name: str) -> Path:
    """Make a folder for unfinished files, and remove what exports that were killed left long ago."""
    for left in parent.iterdir():
        ours = left.name.startswith(f".{name}.") and left.name.endswith(_PART)
        if ours and is_abandoned(left):
            shutil.rmtree(left, ignore_errors=True)
    draft = parent / f".{name}.{uuid.uuid4().hex}{_PART}"
    try:
        draft.mkdir(parents=True)
    except OSError as problem:
        raise DataError(f"{parent} cannot be written ({problem.strerror}). Name another folder with --out.") from None
    return draft


def _demand_no_others(draft: Path, real: Path, earlier: Mapping[str, list[str]]) -> None:
    """Refuse to write over files that no export wrote."""
    ours = {*earlier, *([LIST] if earlier else [])}
    if others := [
        path.name for path in sorted(draft.iterdir()) if path.name not in ours and (real / path.name).exists()
    ]:
        raise DataError(
            f"{real / others[0]} was not written by an export, and would be lost. Move it elsewhere, or name another "
            "folder with --out."
        )


def _move_each(draft: Path, real: Path, earlier: Mapping[str, list[str]]) -> None:
    """Move files one by one; until the last is moved, the list of the export says that it is unfinished."""
    real.mkdir(parents=True, exist_ok=True)
    new = _listed(draft)
    mixed = {name: [*earlier.get(name, []), *new.get(name, [])] for name in {**earlier, **new}}
    said = json.dumps({"unfinished": _UNFINISHED, "files": mixed}, ensure_ascii=False, indent=1)
    (draft / f"{LIST}.unfinished").write_text(f"{said}\n", encoding="utf-8")
    os.replace(draft / f"{LIST}.unfinished", real / LIST)
    for name in sorted(new):
        os.replace(draft / name, real / name)
    for name in earlier.keys() - new.keys():
        (real / name).unlink(missing_ok=True)
    os.replace(draft / LIST, real / LIST)
