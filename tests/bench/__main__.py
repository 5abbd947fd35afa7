"""Print how fast this package is beside other libraries, measured in turn in one run: `make bench`."""

import importlib
import os
import pkgutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

for library in ("OPENBLAS", "MKL", "OMP"):  # before numpy is imported: one core for either side
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def seconds(call: Callable[[], object], runs: int) -> float:
    """Return the median wall time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _part(share: float) -> str:
    return f"{share:.1%}" if share >= 0.001 else f"one part in {1 / share:,.0f}"


def main(wanted: list[str]) -> None:
    """Run the cases of every module in this folder, or of those named."""
    here = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name[0] != "_"]
    print(f"{'what':<66}{'ours':>10}{'theirs':>10}{'ratio':>8}{'goal':>6}  compared with")
    for name in wanted or here:
        for what, goal, ours, theirs, share, against in importlib.import_module(f"{__package__}.{name}").cases():
            once = seconds(ours, 1)  # first calls import and allocate
            mine, other = seconds(ours, 5 if once > 0.05 else 50), seconds(theirs, 1) / share
            part = "" if share == 1 else f", measured on {_part(share)} of the work"
            row = f"{what:<66}{mine:>8.4f} s{other:>8.2f} s{other / mine:>7.1f}x{goal:>5}x  {against}{part}"
            print(row, flush=True)
    print("Medians of 5 runs of ours (50 of short ones), one run of theirs, in turn, one core each. Nothing can fail.")


main(sys.argv[1:])
