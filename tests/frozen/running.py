"""Run the command line as its users do: by the name of its console script, in a folder of one's own."""

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
#: Starts the console script of the package that Python finds first, as its wrapper does.
SCRIPT = (
    "import sys; from importlib.metadata import entry_points;"
    "[script] = entry_points(group='console_scripts', name='evalkit'); sys.exit(script.load()())"
)


class Outcome(NamedTuple):
    """How a command ended, what it printed, and what it told on standard error."""

    code: int
    out: str
    told: str


def evalkit(words: Iterable[str]) -> Outcome:
    """Run one command in this process, in the current folder."""
    [script] = entry_points(group="console_scripts", name="evalkit")
    out, told = io.StringIO(), io.StringIO()
    arguments, sys.argv = sys.argv, ["evalkit", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            code = script.load()()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = arguments
    return Outcome(int(code or 0), out.getvalue(), told.getvalue())


@contextlib.contextmanager
def own_folder() -> Iterable[Path]:
    """Stand in a folder that is new and goes away."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        yield Path(name)


def prepare() -> None:
    """Set what every command needs: the data of the shared folder, one thread, and no word from outside."""
    if (SHARED / "data").is_dir():
        os.environ.setdefault("EVALKIT_DATA_MIRROR", str(SHARED / "data"))
    os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


def two_at_a_time(work: Callable[[Any], Any], jobs: list[Any]) -> list[Any]:
    """Do jobs in two processes, in their order."""
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(work, jobs))


def files_in(folder: Path) -> dict[str, int]:
    """Name the files below a folder, with the time at which each was written."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }
