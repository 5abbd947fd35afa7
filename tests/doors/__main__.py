"""Attack the doors with spoilt inputs on all cores: ``python -m tests.doors 1000``, with other seeds ``--first 5000``."""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.doors import DOORS, tried

_PIECE = 100  # inputs that one process tries, so that none grows old


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
            came = [*pool.map(tried, [door] * len(pieces), pieces)]
        broken = [line for _, some in came for line in some]
        print(f"{door}: {told.count:,} inputs, {sum(read for read, _ in came):,} read, {len(broken)} broke the rule")
        wrong += broken
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
