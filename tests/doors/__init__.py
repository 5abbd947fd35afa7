"""Doors: text, workbooks and Parquet, spoilt from a seed, end at the command line in a result or in one sentence.

``tests/test_data_importing_exact.py`` tries a few seeds of each, ``make fuzz COUNT=…`` as many as one likes.
"""

import contextlib
import faulthandler
import io
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from evalkit import data
from evalkit.reports import cli
from tests.doors import inputs

DOORS = {"text": inputs.text, "workbook": inputs.workbook, "parquet": inputs.parquet}
SECONDS, MEGABYTES = 20, 1024
_HARD = 300  # seconds by the clock


def _used():
    """Tell the seconds of a processor that this process took, and the most memory that it ever had, in megabytes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def attempt(door, seed, folder):
    """Import the input of a seed at the command line; return its exit status, or raise where it breaks the rule."""
    for left in folder.glob("*"):
        left.unlink()
    name, content, words = DOORS[door](np.random.default_rng(seed))
    (folder / name).write_bytes(content)
    (seconds, peak), out, stream = _used(), folder / "result.parquet", io.StringIO()
    with contextlib.redirect_stderr(stream), contextlib.redirect_stdout(stream):
        status = cli.main(["import", str(folder / name), "--allow-rejected", "--out", str(out), *words])
    said, (now, most) = stream.getvalue(), _used()
    assert now - seconds < SECONDS, f"{now - seconds:.0f} s"
    assert most - peak < MEGABYTES, f"{most - peak:,.0f} MB"
    assert "Traceback" not in said, said
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


def tried(door, seeds):
    """Try the inputs of some seeds: how many were read, and what broke the rule. What hangs in compiled code ends."""
    folder, read, broken = first_folder(), 0, []
    for seed in seeds:
        faulthandler.dump_traceback_later(_HARD, exit=True)
        try:
            read += attempt(door, seed, folder / "in") == 0
        except (Exception, SystemExit) as problem:  # whatever it is, it is told with what brings it back
            broken.append(f"{door}, seed {seed}: {type(problem).__name__}: {problem!s:.500}")
    faulthandler.cancel_dump_traceback_later()
    shutil.rmtree(folder)
    return read, broken
