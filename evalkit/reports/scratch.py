"""Folders that belong to one run, and that a later run clears away where this one was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil


@contextlib.contextmanager
def scratch(parent: Path, name: str) -> Iterator[Path]:
    """Give this process a folder of its own below ``parent``; clear away those of processes that have gone.

    The folder's name starts with ``name``, this machine's name and the process id. Raises OSError where it cannot be.
    """
    mark = f"{name}-{socket.gethostname()}-"
    for left in parent.glob(f"{mark}*"):
        pid = left.name.removeprefix(mark).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{mark}{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
