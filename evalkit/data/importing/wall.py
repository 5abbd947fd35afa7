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
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.ipc as ipc

from evalkit import DataError

MEMORY = 1_500 << 20  # bytes of the child
SECONDS = 20  # of a processor, for one file
_PATIENCE = 10  # times as long by the clock: other processes may keep the child waiting
_TEXTS = (pa.string(), pa.large_string())
_AGAIN = "Import the campaign again."
_lock = threading.RLock()
_child: "subprocess.Popen[bytes] | None" = None
_owner = 0  # the process that started it: a fork must not share it


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


def parsed(path: Path, kind: str, remedy: str, **said: Any) -> tuple[Any, pa.Table | None]:
    """Let the child parse a file; return what it found, and the table where there is one.

    kind: what ``child`` offers. said: what the child must know besides.
    Raises DataError where the file is damaged, or takes more memory or time than it may.
    """
    with _lock, tempfile.TemporaryDirectory() as folder:
        done, table, child = Path(folder, "done"), Path(folder, "table"), start()
        problem = _waited(child, json.dumps([kind, str(path.resolve()), folder, said]), done)
        told, found = (problem, None) if problem else json.loads(done.read_text(encoding="utf-8"))
        if told:
            raise DataError(f"{path.name} {told}. {remedy}")
        return found, ipc.open_file(pa.OSFile(str(table))).read_all() if table.exists() else None


def _waited(child: "subprocess.Popen[bytes]", request: str, done: Path) -> str:
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
    return ""


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()


def frame(table: pa.Table) -> pd.DataFrame:
    """Turn an Arrow table into pandas' own, texts into its texts."""
    kinds = dict.fromkeys(_TEXTS, pd.StringDtype(na_value=np.nan))
    return table.to_pandas(types_mapper=kinds.get, ignore_metadata=True)


def label(path: Path) -> dict[str, Any]:
    """Read what a Parquet file says of itself: label, columns as ``name: type``, and how many rows it has.

    Raises DataError where it is no sound one.
    """
    return dict(parsed(path, "label", _AGAIN)[0])


def parquet(path: Path) -> pd.DataFrame:
    """Read a whole Parquet table, its pages held against their checksums.

    Raises DataError where it is damaged, or would unfold to more than can be held in memory. Compare apache/arrow,
    issue 45283: pyarrow aborts on some damaged ones.
    """
    table = parsed(path, "parquet", _AGAIN)[1]
    assert table is not None
    return frame(table)
