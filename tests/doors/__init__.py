"""Doors: text, workbooks and Parquet, spoilt from a seed, end at the command line in a result or in one sentence.

``tests/test_doors.py`` tries a few seeds of each, ``make fuzz COUNT=…`` as many as one likes.
"""

import contextlib
import os
import resource
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np

from evalkit import data
from evalkit.reports import cli
from tests.doors import inputs

DOORS = {"text": inputs.text, "workbook": inputs.workbook, "parquet": inputs.parquet}
SECONDS, MEGABYTES = 20, 1024


class Slow(BaseException):
    """One input took too long. No ``Exception``, which a reader may catch where a parser raises whatever it likes."""


def _late(*_):
    raise Slow(f"more than {SECONDS} s")


def _peak():
    """Tell the most memory that this process ever had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@contextlib.contextmanager
def _heard():
    """Take what is written to the screen, by compiled code, too."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stream:
        kept = os.dup(2)
        os.dup2(stream.fileno(), 2)
        try:
            with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(stream):
                yield stream
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def attempt(door, seed, folder):
    """Import the input of a seed at the command line; return its exit status, or raise where it breaks the rule."""
    for left in folder.glob("*"):
        left.unlink()
    name, content, words = DOORS[door](np.random.default_rng(seed))
    (folder / name).write_bytes(content)
    before, out = _peak(), folder / "result.parquet"
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with _heard() as stream:
            status = cli.main(["import", str(folder / name), "--allow-rejected", "--out", str(out), *words])
            sys.stderr.flush()
            stream.seek(0)
            said = stream.read()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    assert _peak() - before < MEGABYTES, f"{_peak() - before:,.0f} MB"
    assert "Traceback" not in said, said
    assert "panicked" not in said, said
    assert status in (0, 1), f"status {status}: {said}"
    if status == 0:
        assert len(data.open_campaign(out)[0])
        return status
    assert not [*folder.glob("*result*")], "an import that fails leaves nothing"
    *progress, sentence = said.splitlines()
    assert all(line.endswith("rows read") for line in progress), said
    assert sentence.startswith("evalkit: "), sentence
    assert sentence.endswith((".", "…", "?")), sentence
    assert len(sentence) < 8_000, sentence
    return status


def first_folder():
    """Make a folder for attempts, in memory where there is such a place, with a salt of its own."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(dir=shared))
    os.environ["EVALKIT_SALT_FILE"] = str(folder / "salt")
    (folder / "in").mkdir()
    return folder
