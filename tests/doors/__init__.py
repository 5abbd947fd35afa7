"""Doors: text, workbooks and Parquet, spoilt from a seed, end at the command line in a result or in one sentence.

``tests/test_data_importing_exact.py`` tries a few seeds of each, with ``make fuzz COUNT=…`` as many as one likes.
"""

import contextlib
import io
import resource
import sys

import numpy as np

from evalkit import data
from evalkit.reports import cli
from tests.doors import inputs

DOORS = {"text": inputs.text, "workbook": inputs.workbook, "parquet": inputs.parquet}
SECONDS, MEGABYTES = 20, 1024


def _used():
    """Tell the seconds of a processor that this process took, and the most memory that it ever had, in megabytes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def attempt(door, seed, folder):
    """Import the input of a seed at the command line; return its exit status, or raise where it breaks the rule."""
    print(f"{door}, seed {seed}")  # pytest shows the last one where the rule is broken
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
