"""Every door is tried with some of the inputs that ``make fuzz`` tries by the hundred thousand."""

import importlib
import os
import re
from collections import Counter

import pytest

from tests import fuzz
from tests.doors import DOORS, OUTCOMES, demand_quiet

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
    line, broken = fuzz.attack("registry", count, 5)
    came = {what: int(number) for number, what in re.findall(r"(\d+) (read|told|refused)", line)}
    assert line.startswith(f"registry: {count} inputs, ")
    assert (sum(came.values()), broken) == (count, 0)
