"""Attack the doors with spoilt inputs on all cores: ``python -m tests.doors 1000``, with other seeds ``--first 5000``."""

import argparse
import faulthandler
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.doors import DOORS, attempt, first_folder

#: Inputs that one process tries, so that none grows old; what hangs in compiled code ends its process after seconds.
_PIECE, _HARD = 100, 120


def _piece(door, seeds):
    """Try the inputs of some seeds: how many were read, and what broke the rule."""
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


def main():
    """Attack every door; fail when something broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1000, help="inputs a door (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    told = parser.parse_args()
    last, wrong = told.first + told.count, []
    pieces = [range(begin, min(begin + _PIECE, last)) for begin in range(told.first, last, _PIECE)]
    for door in DOORS:
        with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=20) as pool:
            came = [*pool.map(_piece, [door] * len(pieces), pieces)]
        broken = [line for _, some in came for line in some]
        print(f"{door}: {told.count:,} inputs, {sum(read for read, _ in came):,} read, {len(broken)} broke the rule")
        wrong += broken
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
