"""Every door is tried with some of the inputs that ``make fuzz`` tries by the hundred thousand."""

import importlib
import os
from collections import Counter

import pytest

from tests.doors import DOORS, OUTCOMES

#: Inputs a door at every run.
NUMBER = int(os.environ.get("EVALKIT_MUTATIONS", "150"))


@pytest.mark.parametrize("door", DOORS)
def test_spoilt_input_is_read_or_refused_in_a_sentence(door, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    attempt = importlib.import_module(f"tests.doors.{door}").attempt
    came = Counter(attempt(seed, tmp_path) for seed in range(NUMBER))
    assert came.keys() <= set(OUTCOMES)
    assert came["refused"] + came["told"], "nothing was refused or told: the door's inputs are not spoilt"
    assert came["read"] + came["told"], "nothing was read: the door shows nothing"
