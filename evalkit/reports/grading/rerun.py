"""Execute a student's answers again, with the lesson's own checks, in a process that is bounded.

This runs code of strangers with the rights of whoever grades. The process has a folder of its own for a home, no access
to data over the network by this package, and limits of time, memory and size of files; it can still do what its user
can. A student who knows how could also deceive the check from within. It is for one's own students, on a machine where
that does no harm.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data.files import cache
from evalkit.reports import notebooks
from evalkit.reports.grading.handed_in import Lesson, checked, of_payload

MEMORY, FILE = 8 << 30, 200 << 20  # bytes that the process may have, and that a file may have
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "EVALKIT_DATA_MIRROR", "VIRTUAL_ENV")


def merged(cells: Sequence[Mapping[str, Any]], lesson: Lesson) -> list[str]:
    """Return the code to run: what students were given as it was, with their answers and what they added.

    Checks come from the lesson; one that is gone stands at the end. Parameters are the student's where they are
    literals, without a file that is not here.
    """
    codes, left = [], {name: check for name, (check, _) in lesson.exercises.items()}
    for cell in cells:
        given = lesson.given.get(str(cell.get("id")))
        if cell.get("cell_type") != "code":
            continue
        name = checked(cell) if checked(cell) in lesson.exercises else checked(given or {"source": ""})
        if name:
            if check := left.pop(name, None):
                codes.append(notebooks.source(dict(lesson.given[check])))
        elif given is None or "exercise" in notebooks.tags(given):
            codes.append(notebooks.source(dict(cell)))
        elif "parameters" in notebooks.tags(given):
            codes.append(_parameters(notebooks.source(dict(cell)), notebooks.source(given)))
        else:
            codes.append(notebooks.source(given))
    return [*codes, *(notebooks.source(dict(lesson.given[check])) for check in left.values())]


def _parameters(theirs: str, ours: str) -> str:
    """Return the parameters of a student as literals, or the lesson's own where theirs are none."""
    try:
        told = notebooks.declarations(theirs, origin="the notebook")
    except DataError:
        return ours
    lines = [
        f"{one.name} = {one.default!r}"
        for one in told
        if not (one.names_a_file and one.default and not Path(one.default).is_file())
    ]
    return "\n".join([ours, *lines])


def rerun(codes: Sequence[str], *, seconds: float) -> tuple[dict[str, tuple[str, str]], str]:
    """Run cells; return exercise -> kind and hint, and what stopped them ("" where nothing did)."""
    with tempfile.TemporaryDirectory(prefix="evalkit-grade-") as place:
        given, taken = Path(place) / "cells.json", Path(place) / "results.jsonl"
        given.write_text(json.dumps(list(codes)), encoding="utf-8")
        command = [sys.executable, "-P", "-m", "evalkit.reports.grading.worker", str(given), str(taken)]
        options: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {}
        process = subprocess.Popen(
            command,
            cwd=place,
            env=_environment(place),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **options,
        )
        try:
            code = process.wait(timeout=seconds)
            problem = "" if code == 0 else "the run was stopped by the system (memory, time or size of a file)"
        except subprocess.TimeoutExpired:
            problem = f"the run took more than {seconds:g} s"
        finally:
            _end(process)
        return _results(taken), problem


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
    process.wait()


def _environment(place: str) -> dict[str, str]:
    """Return what the process may know: no names or keys of who grades."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    package = str(Path(__file__).resolve().parents[3])
    own = {
        "HOME": place,
        "USERPROFILE": place,
        "IPYTHONDIR": place,
        "MPLCONFIGDIR": place,
        "MPLBACKEND": "Agg",
        "EVALKIT_OFFLINE": "1",
        "EVALKIT_DATA_DIR": str(cache()),
        "PYTHONPATH": package,
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return kept | own


def _results(taken: Path) -> dict[str, tuple[str, str]]:
    """Read what the checks said, as far as the run came; the last word on an exercise counts."""
    found = {}
    lines = taken.read_text(encoding="utf-8", errors="replace").splitlines() if taken.is_file() else []
    for line in lines:
        with contextlib.suppress(ValueError, AttributeError, RecursionError):
            payload = json.loads(line)
            found[str(payload.get("exercise"))] = of_payload(payload)
    return found
