"""What the reports cost: seconds, processor time and bytes of each study alone, then of all of them in one run."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from evalkit.reports.studies import Layout, read_studies

EVALKIT = [sys.executable, "-m", "evalkit.reports.cli"]


def lines() -> Iterator[str]:
    """Yield the lines of the table; data are fetched before the clock runs."""
    studies = read_studies(Layout())
    if subprocess.run([*EVALKIT, "data", "fetch"], stdout=subprocess.DEVNULL, check=False).returncode:
        yield "The studies are not timed: their data cannot be had. Set EVALKIT_DATA_MIRROR, or allow the network."
        return
    yield f"{'study':<28}{'seconds':>9}{'processor':>11}{'page':>10}{'JSON':>10}"
    for name in [*studies, "--all"]:
        with TemporaryDirectory() as folder:
            wall, processor = spent("run", name, "--out", folder)
            chosen = list(studies) if name == "--all" else [name]
            page, data = (sum(Path(folder, one + end).stat().st_size for one in chosen) for end in (".html", ".json"))
        yield f"{name:<28}{wall:>7.1f} s{processor:>9.1f} s{page / 1000:>7,.0f} kB{data / 1000:>7,.0f} kB"


def spent(*words: str) -> tuple[float, float]:
    """Return the seconds and the processor time of one command and of all that it starts."""
    before, start = os.times(), time.perf_counter()
    subprocess.run([*EVALKIT, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, processor
