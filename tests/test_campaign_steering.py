"""Steered campaigns: weighted means by hand and against full grids, what is told otherwise, when to stop."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign, data
from evalkit.campaign import steering
from evalkit.campaign.checks import steered as check
from evalkit.human import adaptive
from tests.makers import laid_out
from tests.pages import opened, telling

weigh_steered = telling(campaign.weigh_steered)
may_stop = telling(campaign.may_stop)

LANGUAGES = {"src_lang": "eng", "tgt_lang": "deu", "segment": "1", "item_type": "system"}


def rows(log, systems, *, number=0, day=40, kept=True):
    """Write one campaign of a log as judgements: a row an output that was shown; screens of a day after each other."""
    found = []
    for screen, (scores, chance) in enumerate(zip(log.scores[number], log.probability[number], strict=True)):
        at = {
            "doc": f"d{screen}",
            "annotator": f"p{screen % 7}",
            "hit": f"h{screen}",
            "started": 1.7e9 // 86400 * 86400 + screen // day * 86400.0 + screen % day * 60,
        }
        for place in np.flatnonzero(np.isfinite(scores)):
            own = {"system": systems[place], "score": scores[place]}
            found.append(LANGUAGES | at | own | ({"probability": chance[place]} if kept else {}))
    return pd.DataFrame(found)


def simulated(*, policy="by rank", step=2.0, systems=6, screens=300, campaigns=1, seed=4):
    """Steer drawn scores; systems are ``step`` points apart, the last is the best."""
    rng = np.random.default_rng(seed)
    level = 70 + step * np.arange(systems)[:, None] + rng.normal(0, 6, 200)
    grid = np.clip(level + rng.normal(0, 8, (systems, 200)), 0, 100)
    drawn = adaptive.draw(grid, campaigns=campaigns, screens=screens, rng=rng)
    return adaptive.steer(drawn, policy, rng=rng, start=8), [f"S{i}" for i in range(systems)]


def weighed(frame):
    return weigh_steered(opened(frame))


@pytest.fixture(scope="module")
def material(real):
    return adaptive.materials({"wmt24-esa": real("wmt24-esa")})


def test_means_are_weighted_by_one_over_the_probability():
    """Two segments of A on screen 1, one on screen 2; by hand."""
    at = [
        ("1", "A", "1", 80, 0.5),
        ("1", "A", "2", 60, 0.5),
        ("2", "A", "1", 50, 0.25),
        ("1", "B", "1", 40, 0.5),
        ("2", "B", "1", 30, 1.0),
    ]
    names = ["doc", "system", "segment", "score", "probability"]
    found = weighed(laid_out(at, " ".join(names))).table.set_index("system")
    assert found.loc["A", ["judgements", "plain"]].tolist() == [3, pytest.approx(190 / 3)]
    assert found.loc["A", "weighted"] == pytest.approx((80 * 2 + 60 * 2 + 50 * 4) / 8)
    assert found.loc["B", "weighted"] == pytest.approx((40 * 2 + 30) / 3)
    assert found.loc["A", "worth"] == pytest.approx(8**2 / (2**2 + 2**2 + 4**2) / 3)
    assert np.isnan(found["any_low"]).all(), "the file has no order in time"


@pytest.mark.slow
def test_weighted_means_are_those_of_the_full_grid_and_plain_ones_lie_below(material):
    """Real judgements of all systems, replayed as a tool would have steered: the truth is known."""
    off = {"plain": [], "weighted": []}
    for one in material:
        rng = np.random.default_rng(11)
        drawn = adaptive.draw(one.scores, campaigns=12, screens=one.screens(), rng=rng)
        log = adaptive.steer(drawn, "by rank", rng=rng, start=6)
        truth = dict(zip(one.systems, one.truth, strict=True))
        for number in range(12):
            found = weighed(rows(log, one.systems, number=number)).table.set_index("system")
            for name, values in off.items():
                values.append((found[name] - pd.Series(truth)).mean())
    plain, weighted = (np.array(off[name]) for name in ("plain", "weighted"))
    error = weighted.std(ddof=1) / np.sqrt(len(weighted))
    assert plain.mean() < -0.15
    assert plain.mean() < -3 * plain.std(ddof=1) / np.sqrt(len(plain))
    assert abs(weighted.mean()) < min(3 * error, 0.5 * abs(plain.mean()))


def test_a_file_with_probabilities_is_weighted_after_its_import(tmp_path, material):
    one = material[0]
    rng = np.random.default_rng(5)
    drawn = adaptive.draw(one.scores, campaigns=1, screens=one.screens(), rng=rng)
    log = adaptive.steer(drawn, "by rank", rng=rng, start=6)
    path = tmp_path / "steered.csv"
    rows(log, one.systems).to_csv(path, index=False)
    mine = campaign.from_ratings(*data.open_campaign(path))
    found = weigh_steered(mine)
    weights = np.where(log.shown[0], 1 / np.where(log.shown[0], log.probability[0], 1), 0)
    expected = (weights * np.nan_to_num(log.scores[0])).sum(axis=0) / weights.sum(axis=0)
    assert found.table.set_index("system")["weighted"][list(one.systems)].tolist() == pytest.approx(expected.tolist())
    assert found.ordered
    assert found.table["low"].lt(found.table["weighted"]).all()
    assert found.table["any_low"].lt(found.table["plain"]).all()


def test_screens_stand_in_the_order_of_time_and_hold_what_was_shown_together():
    log, systems = simulated(screens=60)
    frame = rows(log, systems).sample(frac=1, random_state=3)
    found = steering.screens_of(opened(frame))
    assert found.systems == tuple(systems)
    np.testing.assert_allclose(found.scores, log.scores[0])
    np.testing.assert_allclose(np.nan_to_num(found.probability), np.where(log.shown[0], log.probability[0], 0))
    assert len(np.unique(found.days)) == 2


@pytest.mark.parametrize("change", ["constant", "even", "none"])
def test_what_was_not_steered_is_told_nothing(change):
    log, systems = simulated(policy="uniform")
    frame = rows(log, systems, kept=change != "none")
    if change == "constant":
        frame["probability"] = 0.5
    assert not weighed(frame)


def test_uneven_counts_that_follow_scores_matter_and_cannot_be_weighted_without_probabilities():
    log, systems = simulated(step=4, screens=400)
    frame = rows(log, systems, kept=False)
    found = weighed(frame)
    assert found.matters
    assert not found.weighted
    assert not weighed(frame.assign(score=100 - frame["score"])), "leaders have fewer"


def test_a_column_that_says_something_else_is_not_used():
    """Such as how sure a model was: as probabilities, its values would stand for screens that never were."""
    frame = rows(*simulated(step=4, screens=400))
    frame["probability"] = np.random.default_rng(0).uniform(0.01, 0.08, len(frame))
    assert not weighed(frame).weighted
    frame["probability"] = np.where(np.arange(len(frame)) % 3, np.nan, 0.3)
    assert "67%" in weighed(frame).why


@pytest.mark.parametrize(
    ("plain", "weighted", "p", "verdict"),
    [
        ([80, 70], [80, 70.4], [1, 0.4], "fine"),
        ([80, 70], [80, 74], [1, 0.01], "look"),  # the mean of B moves
        ([79, 80], [81, 80], [0.2, 1], "look"),  # the first system is another one
        ([80, 70], np.nan, np.nan, "unknown"),
    ],
)
def test_a_check_speaks_where_it_matters(plain, weighted, p, verdict):
    table = pd.DataFrame({"system": ["A", "B"], "judgements": [90, 30], "plain": plain, "weighted": weighted, "p": p})
    table = table.assign(low=0.0, high=100.0, any_low=np.nan, any_high=np.nan, worth=[0.9, 0.3])
    known = verdict != "unknown"
    found = steering.Steering("x", table, known, 0, "", not known, False)
    assert check(SimpleNamespace(steering=found)).verdict == verdict
    assert check(SimpleNamespace(steering=steering.NOT_STEERED)) is None


# May the campaign stop?


def test_a_clear_winner_ends_a_watched_campaign_and_the_look_is_named():
    mine = opened(rows(*simulated(step=9, systems=4, screens=400)))
    found = may_stop(mine, weigh_steered(mine), planned=1200, resamples=100)
    assert found.table["rule"].tolist() == [steering.NAIVE, steering.STRICT, steering.SHARED]
    assert (found.systems, found.rule["verdict"]) == (("S3", "S2"), "S3 is better")
    assert found.daily
    assert found.rule["screens"] < 400
    assert found.rule["screens"] % 40 == 0, "a day has 40 screens"


def test_a_strict_test_takes_the_share_of_what_was_planned():
    """The same judgements, planned to be many more, are looked at as early ones; what exceeds the plan is not asked."""
    log, systems = simulated(step=3, systems=4, screens=400, seed=8)
    mine = opened(rows(log, systems))
    steered = weigh_steered(mine)
    early, late = (may_stop(mine, steered, planned=planned, resamples=50) for planned in (100_000, 1200))
    assert (early.rule["verdict"], early.looks) == ("not yet", late.looks)
    half = may_stop(mine, steered, planned=600, resamples=50)
    assert half.looks < late.looks


def test_false_alarms_are_those_of_many_looks_without_a_difference():
    log, systems = simulated(step=0, systems=4, screens=600, policy="uniform")
    mine = opened(rows(log, systems, day=20))
    found = may_stop(mine, weigh_steered(mine), planned=1800, resamples=400).table.set_index("rule")
    assert found.loc[steering.NAIVE, "low"] > 0.1
    assert found.loc[[steering.STRICT, steering.SHARED], "low"].max() <= 0.05


def test_nobody_is_asked_who_does_not_look_or_has_no_order_in_time():
    frame = rows(*simulated(policy="uniform"))
    even = weighed(frame)
    assert not may_stop(opened(frame), even)
    assert not may_stop(opened(frame.drop(columns=["started"])), even, planned=500)
    assert not may_stop(opened(rows(*simulated(screens=39))), even, planned=500)
