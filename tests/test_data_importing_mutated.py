"""What comes in comes out: files of each layout, written in many ways and damaged, against the numbers in them."""

import os

import numpy as np
import pytest

from tests.doors.judgements import LAYOUTS, case, hold

#: Layouts of whose rows some scores are damaged.
DAMAGED = {"commas", "tabs", "semicolons", "decimal commas", "workbook", "JSON lines", "JSON array"}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_numbers_that_come_in_come_out(layout, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    number = int(os.environ.get("EVALKIT_MUTATIONS", "40"))
    damaged = 0
    for seed in range(number):
        drawn = case(np.random.default_rng(seed), layout)
        hold(drawn, tmp_path)
        damaged += bool(drawn.damaged)
    assert damaged or layout not in DAMAGED
