"""Every door is tried with some of the inputs that ``make fuzz`` tries by the hundred thousand."""

import importlib
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import fuzz, tried
from tests.doors import DOORS, OUTCOMES, demand_quiet

_ROW = re.compile(r"\| `(\w+)`[^|]*\| ([\d,]+) \| ([\d,]+) / ([\d,]+) / ([\d,]+) \| ([\d,]+) \| (\d+) \|")
#: Inputs a door at every run.
NUMBER = int(os.environ.get("EVALKIT_MUTATIONS", "150"))


@pytest.mark.parametrize("door", DOORS)
def test_spoilt_input_is_read_or_refused_in_a_sentence(door, tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    attempt = importlib.import_module(f"tests.doors.{door}").attempt
    came = Counter(attempt(seed, tmp_path) for seed in range(NUMBER))
    demand_quiet(capfd.readouterr().err)
    assert came.keys() <= set(OUTCOMES)
    assert came["refused"] + came["told"], "nothing was refused or told: the door's inputs are not spoilt"
    assert came["read"] + came["told"], "nothing was read: the door shows nothing"


@pytest.mark.slow
def test_the_driver_tries_every_input_once_and_goes_on_with_new_processes(monkeypatch):
    """More inputs than all processes may try at once: Python's own limit of tasks a process made it wait forever."""
    monkeypatch.setattr(fuzz, "_PIECE", 2)
    monkeypatch.setattr(fuzz, "_PIECES", 1)
    count = 4 * (os.cpu_count() or 1) + 1
    line, broken = fuzz.attack("registry", range(5, 5 + count))
    assert line.startswith(f"registry: {count} inputs, ")
    assert (_came(line).total(), broken) == (count, 0)


def _came(line: str) -> Counter[str]:
    """Read what inputs came to out of the driver's line."""
    return Counter({what: int(number) for number, what in re.findall(r"(\d+) (read|told|refused)", line)})


@pytest.mark.slow
def test_an_attack_that_ended_goes_on_where_it_was(tmp_path, monkeypatch):
    """What a record names is not tried again, whoever wrote it; what is tried is added, under the code's own name."""
    monkeypatch.setattr(fuzz, "_PIECE", 4)
    record = tmp_path / "tried.tsv"
    fuzz.attack("registry", range(3, 9), record)
    (before,) = tried.read(record)
    earlier = tried.Tried("registry", "of old", [range(12, 13)], Counter(refused=1), 0, 1.0)
    other = tried.Tried("lines", before.code, [range(100)], Counter(read=100), 2, 30.0)
    tried.write(record, [before, earlier, other])
    line, _ = fuzz.attack("registry", range(15), record)
    own, *rest = tried.read(record)
    assert rest == [earlier, other]
    assert line.startswith("registry: 8 inputs, ")
    assert (own.inputs, own.came.total(), own.broke) == (14, 14, 0)
    assert sorted(seed for part in own.seeds for seed in part) == [*range(12), 13, 14]
    again, _ = fuzz.attack("registry", range(15), record)
    assert again.startswith("registry: 0 inputs, ")
    assert own.came == _came(fuzz.attack("registry", range(12))[0]) + _came(fuzz.attack("registry", range(13, 15))[0])


@given(st.sets(st.integers(0, 60)), st.integers(0, 40), st.integers(0, 30), st.integers(1, 7))
def test_what_is_left_is_each_seed_that_was_not_tried_once(done, first, count, piece):
    record = [tried.Tried("lines", "a", [range(seed, seed + 1) for seed in sorted(done)])]
    pieces = [*tried.left(record, "lines", range(first, first + count), piece)]
    assert all(0 < len(part) <= piece for part in pieces)
    assert [seed for part in pieces for seed in part] == sorted({*range(first, first + count)} - done)
    assert [*tried.left(record, "registry", range(count), piece)] == [*tried.left([], "", range(count), piece)]


def test_the_counts_that_are_told_are_those_of_the_record():
    """tests/README.md tells, for each door, what tests/doors/tried.tsv adds up to."""
    record = tried.read(Path(__file__).parent / "doors" / "tried.tsv")
    lines = Path(__file__).with_name("README.md").read_text(encoding="utf-8").splitlines()
    rows = [row.groups() for row in map(_ROW.match, lines) if row]
    told = {door: [int(count.replace(",", "")) for count in counts] for door, *counts in rows}
    assert told.keys() == {one.door for one in record}
    for door, counts in told.items():
        own = tried.whole(record, door)
        each = round(1000 * own.seconds / own.inputs)
        assert counts == [own.inputs, *(own.came[outcome] for outcome in OUTCOMES), own.broke, each], door
