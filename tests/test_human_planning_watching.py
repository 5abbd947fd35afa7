"""Watched campaigns in a plan: the closed form against drawn paths, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.human.planning import crossed, watched


@pytest.mark.parametrize("shift", [1.0, 2.8, 4.0])
def test_the_closed_form_is_what_drawn_paths_do(shift):
    """3,000 paths of 1,000 looks; fewer looks than endless miss a few."""
    steps = np.random.default_rng(2).standard_normal((3000, 1000)) / np.sqrt(1000) + shift / 1000
    reached = np.maximum.accumulate(np.cumsum(steps, axis=1) > stats.norm.ppf(1 - 0.05 / 4), axis=1)
    for share in (0.3, 0.6, 1.0):
        assert reached[:, int(1000 * share) - 1].mean() == pytest.approx(crossed(shift, share), abs=0.04)


def test_what_is_needed_on_average_is_what_drawn_paths_need():
    power = 0.9
    table = watched(power=power).set_index("rule")
    planned, needed = table.loc["a strict test at every look"]
    shift = np.sqrt(planned) * (stats.norm.ppf(0.975) + stats.norm.ppf(power))
    steps = np.random.default_rng(3).standard_normal((3000, 1000)) / np.sqrt(1000) + shift / 1000
    hit = np.cumsum(steps, axis=1) > stats.norm.ppf(1 - 0.05 / 4)
    ends = np.where(hit.any(axis=1), hit.argmax(axis=1) + 1, 1000) / 1000
    assert hit.any(axis=1).mean() == pytest.approx(power, abs=0.03)
    assert planned * ends.mean() == pytest.approx(needed, abs=0.03)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.5, 0.97), st.floats(0.01, 0.2))
def test_watching_asks_for_more_and_needs_less(power, alpha):
    table = watched(power=power, alpha=alpha).set_index("rule")
    planned, needed = table.loc["a strict test at every look"]
    assert 1 < planned < 1.35
    assert needed < planned
    assert needed < 1 or power < 0.7


@given(st.floats(0.0, 6.0), st.floats(0.01, 1.0), st.floats(0.01, 1.0))
@settings(deadline=None, max_examples=50)
def test_the_chance_grows_with_time_and_with_the_difference(shift, one, other):
    low, high = sorted((one, other))
    assert crossed(shift, low) <= crossed(shift, high) + 1e-12
    assert crossed(shift, high) <= crossed(shift + 0.1, high) + 1e-12
    assert crossed(0.0) == pytest.approx(0.025)  # either direction, together alpha
