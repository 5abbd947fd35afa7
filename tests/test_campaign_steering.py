"""Steered campaigns: weighted means by hand and against full grids, what is told otherwise, when to stop."""

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign, data
from evalkit.campaign import sentences
from evalkit.campaign.checks import FINE, LOOK, UNKNOWN
from evalkit.campaign.checks.systems import steered as check
from evalkit.campaign.systems import screens as on_screens
from evalkit.campaign.systems import steering, stopping
from evalkit.human.adaptive import policies, replaying, trials

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


def opened(frame, scale=(0.0, 100.0)):
    frame = frame.copy()
    frame.attrs |= {"source": {"name": "mine", "source": "real", "origin": "", "digest": ""}, "scale": scale}
    return campaign.from_ratings(frame)


def simulated(*, policy="by rank", step=2.0, systems=6, screens=300, campaigns=1, seed=4):
    """Steer drawn scores; systems are ``step`` points apart, the last is the best."""
    rng = np.random.default_rng(seed)
    level = 70 + step * np.arange(systems)[:, None] + rng.normal(0, 6, 200)
    grid = np.clip(level + rng.normal(0, 8, (systems, 200)), 0, 100)
    drawn = replaying.draw(grid, campaigns=campaigns, screens=screens, rng=rng)
    return replaying.steer(drawn, policies.named(policy), rng=rng, start=8), [f"S{i}" for i in range(systems)]


@pytest.fixture(scope="module")
def material(real):
    return trials.materials({"wmt24-esa": real("wmt24-esa")})


def test_means_are_weighted_by_one_over_the_probability():
    """Two segments of A on screen 1, one on screen 2; by hand."""
    at = [
        ("1", "A", 1, 80, 0.5),
        ("1", "A", 2, 60, 0.5),
        ("2", "A", 1, 50, 0.25),
        ("1", "B", 1, 40, 0.5),
        ("2", "B", 1, 30, 1.0),
    ]
    frame = pd.DataFrame(
        [
            LANGUAGES
            | {
                "doc": doc,
                "annotator": "p",
                "system": system,
                "segment": str(segment),
                "score": float(score),
                "probability": chance,
            }
            for doc, system, segment, score, chance in at
        ]
    )
    found = steering.weigh_steered(opened(frame)).table.set_index("system")
    assert found.loc["A", ["judgements", "plain"]].tolist() == [3, pytest.approx(190 / 3)]
    assert found.loc["A", "weighted"] == pytest.approx((80 * 2 + 60 * 2 + 50 * 4) / 8)
    assert found.loc["B", "weighted"] == pytest.approx((40 * 2 + 30) / 3)
    assert found.loc["A", "worth"] == pytest.approx(8**2 / (2**2 + 2**2 + 4**2) / 3)
    assert np.isnan(found["any_low"]).all(), "the file has no order in time"


def test_weighted_means_are_those_of_the_full_grid_and_plain_ones_lie_below(material):
    """Real judgements of all systems, replayed as a tool would have steered: the truth is known."""
    off = {"plain": [], "weighted": []}
    for one in material:
        rng = np.random.default_rng(11)
        drawn = replaying.draw(one.scores, campaigns=12, screens=one.screens(), rng=rng)
        log = replaying.steer(drawn, policies.named("by rank"), rng=rng, start=6)
        truth = dict(zip(one.systems, one.truth, strict=True))
        for number in range(12):
            found = steering.weigh_steered(opened(rows(log, one.systems, number=number))).table.set_index("system")
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
    drawn = replaying.draw(one.scores, campaigns=1, screens=one.screens(), rng=rng)
    log = replaying.steer(drawn, policies.named("by rank"), rng=rng, start=6)
    path = tmp_path / "steered.csv"
    rows(log, one.systems).to_csv(path, index=False)
    mine = campaign.from_ratings(*data.open_campaign(path))
    found = campaign.weigh_steered(mine)
    weights = np.where(log.shown[0], 1 / np.where(log.shown[0], log.probability[0], 1), 0)
    expected = (weights * np.nan_to_num(log.scores[0])).sum(axis=0) / weights.sum(axis=0)
    assert found.table.set_index("system")["weighted"][list(one.systems)].tolist() == pytest.approx(expected.tolist())
    assert found.ordered
    assert found.shown == ["system", "judgements", "plain", "weighted", "low", "high", "any_low", "any_high"]
    assert found.table["low"].lt(found.table["weighted"]).all()
    assert found.table["any_low"].lt(found.table["plain"]).all()


def test_screens_stand_in_the_order_of_time_and_hold_what_was_shown_together():
    log, systems = simulated(screens=60)
    frame = rows(log, systems).sample(frac=1, random_state=3)
    found = on_screens.of_campaign(opened(frame))
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
    found = campaign.weigh_steered(opened(frame))
    assert not found
    assert sentences.known(found) == []
    assert sentences.steered(found) == []


def test_uneven_counts_without_probabilities_are_told_with_their_direction_and_remedy():
    log, systems = simulated(step=4, screens=400)
    found = campaign.weigh_steered(opened(rows(log, systems, kept=False)))
    assert found.matters
    assert not found.weighted
    assert "weighted" not in found.shown
    said = " ".join(sentences.say(found))
    most, least = (found.table.loc[found.table["judgements"].agg(name), "system"] for name in ("idxmax", "idxmin"))
    assert f"{most} has" in said
    assert least in said
    assert "plain means tend to be too low, most for systems that were shown little" in said
    assert "add a column probability" in said
    assert "If counts were fixed before the first score, nothing is bent" in said
    assert "too low" in sentences.steered(found)[0]


def test_counts_that_do_not_follow_scores_are_no_steering():
    log, systems = simulated(step=4, screens=400)
    turned = dict(zip(systems, [*systems[3:], *systems[:3]], strict=True))
    frame = rows(log, systems, kept=False)
    mixed = frame.assign(score=100 - frame["score"])
    assert not campaign.weigh_steered(opened(mixed)), "leaders have fewer"
    assert campaign.weigh_steered(opened(frame.assign(system=frame["system"].map(turned))))  # names do not matter


def test_a_column_that_says_something_else_is_not_used():
    """Such as how sure a model was: as probabilities, its values would stand for screens that never were."""
    log, systems = simulated(step=4, screens=400)
    frame = rows(log, systems)
    frame["probability"] = np.random.default_rng(0).uniform(0.01, 0.08, len(frame))
    found = campaign.weigh_steered(opened(frame))
    assert not found.weighted
    assert "stand for" in found.why
    assert "They cannot be weighted: the column probability does not say" in " ".join(sentences.say(found))
    frame["probability"] = np.where(np.arange(len(frame)) % 3, np.nan, 0.3)
    assert "67% of the judgements have no probability" in campaign.weigh_steered(opened(frame)).why


def test_a_few_judgements_without_a_probability_are_left_out_and_told():
    log, systems = simulated()
    frame = rows(log, systems)
    frame.loc[[3, 30], "probability"] = np.nan
    found = campaign.weigh_steered(opened(frame))
    assert (found.weighted, found.lacking) == (True, 2)
    assert "2 judgements without one are left out" in " ".join(sentences.say(found))


def table(plain, weighted, p):
    frame = pd.DataFrame({"system": ["A", "B"], "judgements": [90, 30], "plain": plain, "weighted": weighted, "p": p})
    return frame.assign(low=0.0, high=100.0, any_low=np.nan, any_high=np.nan, worth=[0.9, 0.3])


class Found:
    """An analysis of which only the steering is looked at."""

    def __init__(self, found):
        self.steering = found


@pytest.mark.parametrize(
    ("found", "verdict", "says"),
    [
        (steering.NOT_STEERED, None, ""),
        (steering.Steering("x", table([80, 70], [80, 70.4], [1, 0.4]), True, 0, "", False, False), FINE, "none moves"),
        (
            steering.Steering("x", table([80, 70], [80, 74], [1, 0.01]), True, 0, "", False, False),
            LOOK,
            "mean of B moves",
        ),
        (steering.Steering("x", table([80, 79], [80, 81], [1, 0.2]), True, 0, "", False, False), LOOK, "B comes first"),
        (
            steering.Steering("x", table([80, 70], np.nan, np.nan), False, 0, "", True, False),
            UNKNOWN,
            "no probabilities",
        ),
    ],
)
def test_a_check_and_the_first_page_speak_only_where_it_matters(found, verdict, says):
    if found and found.weighted:
        ordered = found.table.sort_values("weighted", ascending=False, ignore_index=True)
        found = steering.Steering("x", ordered, True, 0, "", False, False)
    made = check(Found(found))
    assert (made and made.verdict) == verdict
    assert not made or says in made.found
    assert bool(sentences.steered(found)) == (verdict in (LOOK, UNKNOWN))
    if found and not found.weighted:
        assert "campaigns/NAME.json" in " ".join(sentences.say(found))


# May the campaign stop?


def test_a_clear_winner_ends_a_watched_campaign_and_the_look_is_named():
    log, systems = simulated(step=9, systems=4, screens=400)
    mine = opened(rows(log, systems))
    found = campaign.may_stop(mine, campaign.weigh_steered(mine), planned=1200, resamples=100)
    assert found.table["rule"].tolist() == [stopping.NAIVE, stopping.STRICT, stopping.SHARED]
    assert (found.systems, found.rule["verdict"]) == (("S3", "S2"), "S3 is better")
    assert found.rule["screens"] < 400
    assert found.daily
    assert found.rule["screens"] % 40 == 0, "a day has 40 screens"
    said = sentences.say(found)[0]
    assert "May you stop now? By “a strict test at every look”, yes, as far as S3 and S2 are asked" in said
    assert f"after {found.rule['screens']} of 400 screens" in said


def test_a_strict_test_takes_the_share_of_what_was_planned():
    """The same judgements, planned to be many more, are looked at as early ones; what exceeds the plan is not asked."""
    log, systems = simulated(step=3, systems=4, screens=400, seed=8)
    mine = opened(rows(log, systems))
    steered = campaign.weigh_steered(mine)
    early, late = (campaign.may_stop(mine, steered, planned=planned, resamples=50) for planned in (100_000, 1200))
    assert (early.rule["verdict"], early.looks) == ("not yet", late.looks)
    half = campaign.may_stop(mine, steered, planned=600, resamples=50)
    assert half.looks < late.looks


def test_false_alarms_are_those_of_many_looks_without_a_difference():
    log, systems = simulated(step=0, systems=4, screens=600, policy="uniform")
    mine = opened(rows(log, systems, day=20))
    found = campaign.may_stop(mine, campaign.weigh_steered(mine), planned=1800, resamples=400).table.set_index("rule")
    assert found.loc[stopping.NAIVE, "low"] > 0.1
    assert found.loc[[stopping.STRICT, stopping.SHARED], "low"].max() <= 0.05


def test_nobody_is_asked_who_does_not_look_or_has_no_order_in_time():
    log, systems = simulated(policy="uniform")
    frame = rows(log, systems)
    even = campaign.weigh_steered(opened(frame))
    assert not campaign.may_stop(opened(frame), even)
    untimed = frame.drop(columns=["started"])
    assert not campaign.may_stop(opened(untimed), even, planned=500)
    assert not campaign.may_stop(opened(rows(*simulated(screens=39))), even, planned=500)


def test_without_shared_screens_each_systems_interval_is_followed_and_a_plan_is_recommended():
    log, systems = simulated(step=9, systems=5, screens=400)
    frame = rows(log, systems).groupby("doc").sample(1, random_state=1)
    frame["probability"] /= 3
    mine = opened(frame)
    found = campaign.may_stop(mine, campaign.weigh_steered(mine), resamples=50)
    assert found.table["rule"].tolist() == [stopping.NAIVE, stopping.EACH]
    assert "-p planned=N" in sentences.say(found)[1]
