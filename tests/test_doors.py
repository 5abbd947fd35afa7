"""Every door is tried with a few of the inputs that ``make fuzz`` tries by the thousand."""

import pytest

from tests.doors import DOORS, attempt


@pytest.mark.parametrize("door", DOORS)
def test_spoilt_input_ends_in_a_result_or_in_one_sentence(door, tmp_path, own_salt):
    (tmp_path / "in").mkdir()
    came = [attempt(door, seed, tmp_path / "in") for seed in range(20)]
    assert {*came} == {0, 1}, "the door shows nothing: none, or each, of its inputs was read"
