"""Attack the doors of tests/doors with thousands of spoilt inputs each, on all cores.

Run by hand: ``python -m tests.fuzz 100000`` for all doors, ``python -m tests.fuzz 1000 parquet lines`` for some. What
breaks the rule is told with the seed that brings it back: any exception, a trace on standard error, more than 20 s of
computing, more than 1 GB on top of what the process had. An input that is waited for longer ends the run. At the end a
line a door counts what came of its inputs. With ``--record`` a file keeps it, and a run that was ended goes on.
"""

import argparse
import faulthandler
import gc
import importlib
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import IO

from tqdm import tqdm

from tests import tried
from tests.doors import DOORS, OUTCOMES, demand_quiet

SECONDS, MEGABYTES = 20, 1024
#: Inputs that one process tries before it reports, and reports of a process before all are made anew (for memory's
#: high mark). Not by the executor's own count of tasks: before Python 3.11.9 it waits forever once all have ended.
_PIECE, _PIECES = 100, 40
#: Where Linux keeps files in memory: doors write several for each input.
_MEMORY = "/dev/shm"
#: What waits, or hangs inside compiled code that no signal ends, ends the process after so many seconds.
_HARD = 120


class Slow(BaseException):
    """One input took too long. No ``Exception``, which doors may catch where a parser raises whatever it likes."""


def _late(*_: object) -> None:
    raise Slow(f"more than {SECONDS} s")


def _peak() -> float:
    """Tell the most memory that this process ever had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@contextmanager
def _heard() -> Iterator[tuple[Callable[[], str], IO[str]]]:
    """Take what is written on standard error, by compiled code, too: what tells the new part, and the screen itself."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as stream, os.fdopen(os.dup(2), "w") as screen:
        os.dup2(stream.fileno(), 2)

        def heard() -> str:
            sys.stderr.flush()
            length = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            written = stream.read(length)
            stream.seek(0)
            stream.truncate()
            return written.decode(errors="replace")

        try:
            yield heard, screen
        finally:
            os.dup2(screen.fileno(), 2)


def piece(door: str, seeds: range) -> tuple[Counter[str], list[str], float, float]:
    """Try the inputs of some seeds: how many came to what, what broke, seconds of a processor, growth of memory."""
    attempt = importlib.import_module(f"tests.doors.{door}").attempt
    gc.freeze()  # what was imported stays; looking through it again takes a tenth of the time
    signal.signal(signal.SIGPROF, _late)
    outcomes: Counter[str] = Counter()
    broken, begun, least = [], time.process_time(), _peak()
    in_memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=in_memory) as folder, _heard() as (heard, screen):
        os.environ["EVALKIT_SALT_FILE"] = str(Path(folder, "salt"))
        for seed in seeds:
            before = _peak()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            faulthandler.dump_traceback_later(_HARD, exit=True, file=screen)
            try:
                outcome = attempt(seed, Path(folder))
                assert outcome in OUTCOMES, f"an attempt came to {outcome!r}"
                assert _peak() - before < MEGABYTES, f"{_peak() - before:,.0f} MB"
                demand_quiet(heard())
                outcomes[outcome] += 1
            except (Exception, Slow) as problem:  # whatever it is, it is told with what brings it back
                broken.append(f"{door}, seed {seed}: {type(problem).__name__}: {problem!s:.500}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                faulthandler.cancel_dump_traceback_later()
    return outcomes, broken, time.process_time() - begun, _peak() - least


def attack(door: str, seeds: range, record: Path | None = None) -> tuple[str, int]:
    """Try some inputs of one door; return its line of counts and how many broke the rule.

    record: a file of what was tried before, which is left out, and of what is tried now.
    """
    before = tried.read(record) if record else []
    own, grown = tried.of(before, door, tried.code() if record else ""), 0.0
    pieces = [*tried.left(before, door, seeds, _PIECE)]
    new = tried.Tried(door, own.code)
    at_once = _PIECES * (os.cpu_count() or 1)
    with tqdm(total=len(seeds), initial=len(seeds) - sum(map(len, pieces)), unit="file", desc=door) as bar:
        for begin in range(0, len(pieces), at_once):
            some = pieces[begin : begin + at_once]
            # Spawned, not forked: nothing of the parent is shared.
            with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
                for (came, wrong, took, more), one in zip(pool.map(piece, [door] * len(some), some), some):
                    for line in wrong:
                        bar.write(line)
                    for part in (own, new):
                        part.add(one, came, len(wrong), took)
                    if record:
                        tried.write(record, before)
                    grown = max(grown, more)
                    bar.update(len(one))
    told = ", ".join(f"{new.came[outcome]:,} {outcome}" for outcome in OUTCOMES)
    each = 1000 * new.seconds / max(new.inputs, 1)
    line = f"{door}: {new.inputs:,} inputs, {told}, {new.broke} broke the rule; {each:.1f} ms each, "
    return line + f"at most {grown:,.0f} MB more", new.broke


def main() -> None:
    """Attack the doors named on the command line, or all; fail when something broke the rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=100_000, help="inputs a door (default: %(default)s)")
    parser.add_argument("doors", nargs="*", choices=[*DOORS, []], metavar="door", help=", ".join(DOORS))
    parser.add_argument("--first", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--record", type=Path, help="go on where this file says that an attack ended, and add to it")
    told = parser.parse_args()
    seeds = range(told.first, told.first + told.count)
    lines, broken = zip(*(attack(door, seeds, told.record) for door in told.doors or DOORS))
    print(*lines, sep="\n")
    if sum(broken):
        raise SystemExit(f"{sum(broken)} inputs broke the rule")


if __name__ == "__main__":
    main()
