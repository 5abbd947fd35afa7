"""What attacks on the doors came to, in a file that outlives them: an attack that ended goes on where it was.

A line a door and state of the code, of which it tells the seeds that were tried (``1000000+200`` are 200 from a
million on), what came of their inputs, how many broke the rule, and the seconds that a processor took.
"""

import csv
import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.doors import OUTCOMES

_COLUMNS = ("door", "code", "seeds", *OUTCOMES, "broke", "seconds")


@dataclass
class Tried:
    """What came of one door's inputs in one state of the code."""

    door: str
    code: str
    seeds: list[range] = field(default_factory=list)
    came: Counter[str] = field(default_factory=Counter)
    broke: int = 0
    seconds: float = 0.0

    @property
    def inputs(self) -> int:
        """How many were tried."""
        return sum(map(len, self.seeds))

    def add(self, seeds: range, came: Counter[str], broke: int, seconds: float) -> None:
        """Add what some more seeds came to."""
        if self.seeds and self.seeds[-1].stop == seeds.start:
            seeds = range(self.seeds.pop().start, seeds.stop)
        self.seeds.append(seeds)
        self.came, self.broke, self.seconds = self.came + came, self.broke + broke, self.seconds + seconds


def read(path: Path) -> list[Tried]:
    """Read a record; nothing where there is none."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            Tried(
                row["door"],
                row["code"],
                [_seeds(part) for part in row["seeds"].split()],
                Counter({outcome: int(row[outcome]) for outcome in OUTCOMES}),
                int(row["broke"]),
                float(row["seconds"]),
            )
            for row in csv.DictReader(stream, delimiter="\t")
        ]


def write(path: Path, record: Iterable[Tried]) -> None:
    """Write a record, whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream, delimiter="\t", lineterminator="\n")
        lines.writerow(_COLUMNS)
        for one in record:
            seeds = " ".join(f"{part.start}+{len(part)}" for part in one.seeds)
            counts = [one.came[outcome] for outcome in OUTCOMES]
            lines.writerow([one.door, one.code, seeds, *counts, one.broke, round(one.seconds)])
    os.replace(part, path)


def of(record: list[Tried], door: str, code: str) -> Tried:
    """Return the line of a door and a state of the code; a new one where there is none."""
    for one in record:
        if (one.door, one.code) == (door, code):
            return one
    record.append(Tried(door, code))
    return record[-1]


def whole(record: Iterable[Tried], door: str) -> Tried:
    """Add up what all states of the code came to."""
    total = Tried(door, "")
    for one in record:
        if one.door == door:
            total.seeds += one.seeds
            total.came += one.came
            total.broke += one.broke
            total.seconds += one.seconds
    return total


def left(record: Iterable[Tried], door: str, seeds: range, piece: int) -> Iterator[range]:
    """Cut the seeds that no state of the code has tried yet into pieces, none of which is longer than ``piece``.

    >>> [*left([Tried("lines", "a", [range(2, 4)])], "lines", range(9), 3)]
    [range(0, 2), range(4, 7), range(7, 9)]
    """
    done = sorted((one.start, one.stop) for tried in record if tried.door == door for one in tried.seeds)
    begin = seeds.start
    for start, stop in [*done, (seeds.stop, seeds.stop)]:
        end = min(start, seeds.stop)
        yield from (range(place, min(place + piece, end)) for place in range(begin, end, piece))
        begin = max(begin, stop)


def code() -> str:
    """Name the state of the code: the commit, and whether anything was changed since."""
    told = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip()


def _seeds(part: str) -> range:
    """Read some seeds."""
    first, count = map(int, part.split("+"))
    return range(first, first + count)
