"""The wall: a child process parses foreign files while its parent watches its memory and its time.

Parsers may be brought to burst, to hang or to abort; then the child ends, and the import with a sentence. One child
serves all files of a process; it imports nothing of ours (``child``), and what it hands on are JSON and Arrow files.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.ipc as ipc

from evalkit import DataError, one_line
from evalkit.data import delimited

MEMORY = 1_500 << 20  # bytes of the child
SECONDS = 20  # of a processor, for one file
_PATIENCE = 10  # times as long by the clock: other processes may keep the child waiting
_TEXTS = (pa.string(), pa.large_string())
_KINDS = {*_TEXTS, pa.float64(), pa.int64(), pa.bool_(), pa.null()}
_AGAIN = "Import the campaign again."
_lock = threading.RLock()
_child: "subprocess.Popen[bytes] | None" = None
_owner = 0  # the process that started it: a fork must not share it

content = delimited.content


def start() -> "subprocess.Popen[bytes]":
    """Start the child where none runs, such as while the command line still loads."""
    global _child, _owner
    if _child is None or _owner != os.getpid() or _child.poll() is not None:
        command = [sys.executable, "-I", str(Path(__file__).with_name("child.py"))]
        nothing = subprocess.DEVNULL  # parsers write traces of their panics to standard error
        _child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing)
        _owner = os.getpid()
        atexit.register(_child.kill)
    return _child


@contextmanager
def parsed(path: Path, kind: str, remedy: str, *, name: str = "", **said: Any) -> Iterator[Path]:
    """Let the child parse a file; give the folder into which it wrote what it found.

    kind: what ``child`` offers. name: what the file is called, where its path does not tell. said: what the child must
    know besides. Raises DataError where the file is damaged, or takes more memory or time than it may.
    """
    with _lock, tempfile.TemporaryDirectory() as folder:
        done, child = Path(folder) / "done", start()
        problem = _asked(child, json.dumps([kind, str(path.resolve()), folder, said]), done)
        if problem:
            raise DataError(f"{name or path.name} {problem}. {remedy}")
        yield done.parent


def _asked(child: "subprocess.Popen[bytes]", request: str, done: Path) -> str:
    """Wait until a request is done; tell what came between."""
    assert child.stdin is not None
    try:
        seen = psutil.Process(child.pid)
        used, begun, pause = sum(seen.cpu_times()[:2]), time.monotonic(), 0.001
        child.stdin.write(f"{request}\n".encode())
        child.stdin.flush()
        while not done.exists():
            if child.poll() is not None:
                return "breaks its parser"
            spent, passed = sum(seen.cpu_times()[:2]) - used, time.monotonic() - begun
            large = seen.memory_info().rss > MEMORY
            if large or spent > SECONDS or passed > SECONDS * _PATIENCE:
                _end(child)
                return f"takes more {'memory' if large else 'time'} to read than a campaign needs"
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        if seen.memory_info().rss > MEMORY // 3:  # what it keeps would count against the next file
            _end(child)
    except (OSError, psutil.NoSuchProcess):
        _end(child)
        return "breaks its parser"
    return str(json.loads(done.read_text(encoding="utf-8")))


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()


def said(folder: Path, name: str) -> Any:
    """Read what the child wrote as JSON."""
    return json.loads((folder / name).read_text(encoding="utf-8"))


def arrow(folder: Path, name: str) -> pa.Table:
    """Read what the child wrote as an Arrow file."""
    return ipc.open_file(pa.OSFile(str(folder / name))).read_all()


def texts(table: pa.Table) -> pd.DataFrame:
    """Turn an Arrow table into pandas' own, texts into its texts."""
    kinds = dict.fromkeys(_TEXTS, pd.StringDtype(na_value=np.nan))
    return table.to_pandas(types_mapper=kinds.get, ignore_metadata=True)


def demand_readable(path: Path, remedy: str) -> None:
    """Let the child read a file's JSON, whole or line by line, so that this process may; sound or not."""
    with parsed(path, "json", remedy):
        pass


class Label(NamedTuple):
    """What a Parquet file says of itself: its label, its columns as ``name: type``, and how many rows it has."""

    label: str
    columns: list[str]
    rows: int


def label(path: Path) -> Label:
    """Read what a Parquet file says of itself. Raises DataError where it is no sound one."""
    with parsed(path, "label", _AGAIN) as folder:
        return Label(**said(folder, "label"))


def parquet(path: Path) -> pd.DataFrame:
    """Read a whole Parquet table, its pages held against their checksums.

    Raises DataError where it is damaged, has columns of other types than text, numbers and truth, or would unfold to
    more than can be held in memory. Compare apache/arrow, issue 45283: pyarrow aborts on some damaged ones.
    """
    with parsed(path, "parquet", _AGAIN) as folder:
        table = arrow(folder, "table")
    if odd := next((one for one in table.schema if one.type not in _KINDS), None):
        raise DataError(
            f"{path.name}, column {one_line(odd.name)}: of the type {one_line(odd.type)}, which no import writes. "
            "Import the file that it was made from."
        )
    if len(set(table.column_names)) < table.num_columns:
        raise DataError(f"{path.name} is damaged: two columns have one name. {_AGAIN}")
    return texts(table)
