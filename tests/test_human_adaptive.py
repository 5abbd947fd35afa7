"""Steered campaigns: probabilities, logs and estimates as enumerated or replayed by hand; rules that stop them; trials."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit.data.designs import inclusion
from evalkit.human import adaptive
from tests.makers import chances_by_orders, ratings

POLICIES = list(adaptive.POLICIES)


def grid(systems=6, texts=40, *, step=1.0, seed=5):
    """Draw scores from 0 to 100; texts differ, systems are ``step`` points apart, the last is the best."""
    rng = np.random.default_rng(seed)
    level = 80 + step * np.arange(systems)[:, None] + rng.normal(0, 5, texts)
    return np.clip(level + rng.normal(0, 9, (systems, texts)), 0, 100)


def replay(name, *, campaigns=400, screens=200, seed=2, start=5, table=None, **how):
    rng = np.random.default_rng(seed)
    drawn = adaptive.draw(grid() if table is None else table, campaigns=campaigns, screens=screens, rng=rng)
    return drawn, adaptive.steer(drawn, name, rng=rng, start=start, **how)


@given(st.lists(st.floats(0.05, 5), min_size=3, max_size=5), st.integers(1, 3))
def test_inclusion_is_what_every_order_of_draws_adds_up_to(weights, shown):
    found = chances_by_orders(weights, shown)
    assert inclusion(np.array(weights), shown) == pytest.approx(found, rel=1e-9)
    assert found.sum() == pytest.approx(shown)


@given(st.sampled_from(POLICIES), st.integers(2, 9), st.data())
def test_every_policy_gives_probabilities_that_add_up_to_a_screen(name, systems, data):
    shown = data.draw(st.integers(1, systems))
    places = np.random.default_rng(data.draw(st.integers(0, 99))).permuted([range(systems)] * 4, axis=1)
    chance = adaptive.POLICIES[name](places, shown)
    assert chance.shape == (4, systems)
    assert chance.min() >= 0
    assert chance.max() <= 1 + 1e-9
    assert chance.sum(axis=1) == pytest.approx(np.full(4, shown))


@given(st.integers(0, 999), st.integers(3, 8), st.integers(1, 3))
def test_screens_show_equally_many_and_each_system_as_often_as_is_asked_for(seed, systems, shown):
    rng = np.random.default_rng(seed)
    chance = inclusion(rng.uniform(0.02, 1, systems), shown)
    hit = adaptive.chosen(np.broadcast_to(chance, (4000, systems)), rng)
    assert set(hit.sum(axis=1)) == {shown}
    off = (hit.mean(axis=0) - chance) / np.sqrt(chance * (1 - chance) / 4000 + 1e-12)
    assert np.abs(off[chance < 1 - 1e-9]).max(initial=0) < 5  # 30 examples of up to 8 systems
    assert hit[:, chance > 1 - 1e-9].all()


@pytest.mark.parametrize("name", ["by rank", "greedy"])
def test_a_logged_probability_is_that_of_the_scores_seen_before(name):
    """Replay one campaign by hand: what was seen until the last look, and the policy's answer to it."""
    every, warm = 7, 10  # 6 systems, 3 a screen, each about 5 times
    drawn, log = replay(name, campaigns=3, screens=60, every=every)
    assert (log.scores[log.shown] == drawn[log.shown]).all()
    assert (log.probability[log.shown] > 0).all()
    for screen in range(60):
        look = screen if screen < warm else warm + (screen - warm) // every * every
        seen = log.scores[:1, :look]
        if screen < warm:
            assert (log.probability[0, screen] == 0.5).all()
            continue
        places = stats.rankdata(-np.nanmean(seen, axis=1), axis=1, method="ordinal").astype(int) - 1
        assert log.probability[0, screen] == pytest.approx(adaptive.POLICIES[name](places, 3)[0], abs=1e-9)


def by_hand(scores, chance, name):
    """Compute one system's estimate and standard error, screen by screen. chance: all screens; scores: NaN unseen."""
    top, below, parts, seen = 0.0, 0.0, [], []
    for y, p in zip(scores, chance, strict=True):
        hit = not np.isnan(y)
        if name == "plain mean":
            gamma, h = (y, 1.0) if hit else (0.0, 0.0)
        elif name == "weighted, stabilised":
            gamma, h = (y, 1 / p) if hit else (0.0, 0.0)
        else:
            gamma, h = (y / p if hit else 0.0), 1.0
        seen.append(hit)
        top, below = top + h * gamma, below + h
        parts.append((h, gamma))
    mean = top / below
    error = sum(h**2 * (gamma - mean) ** 2 for h, gamma in parts) ** 0.5 / below
    counts = sum(seen)
    return mean, error * (counts / (counts - 1)) ** 0.5 if name in ("plain mean", "weighted, stabilised") else error


@pytest.mark.parametrize("name", list(adaptive.ESTIMATES))
@pytest.mark.parametrize("policy", ["by rank", "greedy"])
def test_estimates_equal_a_loop_over_screens(name, policy):
    _, log = replay(policy, campaigns=2, screens=90, table=grid(step=6.0))
    means, errors = adaptive.ESTIMATES[name](log)
    for campaign, place in itertools.product(range(2), range(6)):
        told = by_hand(log.scores[campaign, :, place], log.probability[campaign, :, place], name)
        assert (means[campaign, place], errors[campaign, place]) == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_weights_take_the_bias_away_that_steering_brings(policy):
    """Four standard errors are allowed over 6 systems."""
    truth = pd.Series(grid().mean(axis=1))
    found = adaptive.score(replay(policy, campaigns=1000)[1], truth).set_index("estimate")
    assert (np.abs(found.loc["weighted", "bias"]) < 4 * found.loc["weighted", "noise"]).all()
    plain = found.loc["plain mean"]
    if policy == "greedy":  # the plain means of all systems together are too low
        assert plain["bias"].mean() < -5 * plain["noise"].mean()
    if policy == "uniform":
        assert (np.abs(plain["bias"]) < 4 * plain["noise"]).all()
        assert plain["coverage"].between(0.926, 0.974).all()  # 1000 campaigns: 0.95 ± 3.5 standard errors


def test_systems_without_shared_texts_are_drawn_each_from_its_own():
    table = grid()
    table[1, ::2] = np.nan
    rng = np.random.default_rng(1)
    drawn = adaptive.draw(table, campaigns=300, screens=100, rng=rng, shared=False)
    assert drawn.mean(axis=(0, 1)) == pytest.approx(np.nanmean(table, axis=1), abs=0.3)
    assert abs(np.corrcoef(drawn[..., 0].ravel(), drawn[..., 2].ravel())[0, 1]) < 0.03
    assert set(np.unique(drawn[..., 1])) == set(table[1, 1::2])


# Intervals for any number of looks, and rules that stop a campaign


def twins(policy, *, campaigns=300, screens=240, seed=3, gap=0.0):
    """Steer campaigns whose last two systems do not differ, or differ by ``gap`` on every text."""
    rng = np.random.default_rng(seed)
    drawn = adaptive.draw(grid(5, 60, step=4.0), campaigns=campaigns, screens=screens, rng=rng, alike=(3, 4))
    drawn[..., 4] += gap
    return adaptive.steer(drawn, policy, rng=rng)


def normal_by_hand(scores, tuned, alpha):
    """Follow theorem 2.2 of Waudby-Smith et al. (2024)."""
    square = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned
    found = []
    for time in range(2, len(scores) + 1):
        part = scores[:time]
        rest = 2 * (time * square + 1) / (time**2 * square) * math.log(math.sqrt(time * square + 1) / alpha)
        found.append((part.mean() - part.std() * rest**0.5, part.mean() + part.std() * rest**0.5))
    return np.array(found).T


@given(st.integers(0, 999), st.integers(3, 60), st.integers(2, 200), st.floats(0.01, 0.3))
def test_asymptotic_sequence_equals_the_formula(seed, number, tuned, alpha):
    scores = np.random.default_rng(seed).normal(3, 2, number)
    found = np.array(adaptive.asymptotic(scores, tuned=tuned, alpha=alpha))
    assert found[:, 1:] == pytest.approx(normal_by_hand(scores, tuned, alpha), rel=1e-9)
    assert np.isinf(found[:, 0]).all()
    gaps = np.insert(scores, range(1, number + 1), np.nan)
    some = np.array(adaptive.asymptotic(gaps, tuned=tuned, alpha=alpha))
    assert some[:, ::2] == pytest.approx(found)
    assert some[:, 1::2] == pytest.approx(found)


@pytest.mark.parametrize(("a", "b"), [(1, 9), (0.003, 0.007)])
def test_sequences_of_bounded_scores_hold_at_all_times_at_once(a, b):
    """Skewed scores, and hardly any but 0 and 1; the share that ever misses is at most alpha, 3 standard errors allowed."""
    alpha, campaigns, mean = 0.1, 1500, a / (a + b)
    scores = np.random.default_rng(4).beta(a, b, (campaigns, 400))
    limit = alpha + 3 * math.sqrt(alpha * (1 - alpha) / campaigns)
    low, high = adaptive.asymptotic(scores, tuned=150, alpha=alpha, start=50)
    assert ((low > mean) | (high < mean)).any(axis=1).mean() <= limit


@pytest.mark.parametrize("policy", list(adaptive.POLICIES))
def test_rules_for_every_look_keep_their_level_and_a_daily_test_does_not(policy):
    log = twins(policy)
    when = adaptive.looks(240)
    found = adaptive.rates(adaptive.verdicts(log, (4, 3), when)).set_index("rule")
    for rule in adaptive.ANY_TIME:
        assert found.loc[rule, "low"] <= 0.05  # 300 campaigns
    assert found.loc["a test at every look", "low"] > 0.05


def test_rules_find_a_large_difference_and_name_the_better_system():
    log = twins("uniform", campaigns=60, screens=900, gap=12.0)
    found = adaptive.verdicts(log, (4, 3), adaptive.looks(900))
    power = adaptive.rates(found, better=1).set_index("rule")
    assert power["rate"].min() > 0.9
    turned = adaptive.rates(adaptive.verdicts(log, (3, 4), adaptive.looks(900)), better=-1).set_index("rule")
    assert turned["rate"].to_dict() == power["rate"].to_dict()
    assert power.loc["interval of shared screens", "saved"] > 0.2


def test_a_daily_test_is_welchs_at_each_look():
    log = twins("by rank", campaigns=2, screens=120, gap=6.0)
    when = adaptive.looks(120)
    assert when.screens.tolist() == [40, 60, 80, 100, 120]
    for campaign, look in [(0, 0), (1, 2), (0, 4)]:
        part = log.scores[campaign, : when.screens[look]]
        a, b = (part[:, k][np.isfinite(part[:, k])] for k in (4, 3))
        off = stats.ttest_ind(a, b, equal_var=False).statistic
        told = np.sign(off) if abs(off) > stats.norm.ppf(0.975) else 0
        assert adaptive.daily_test(log.of((4, 3)), when)[campaign, look] == told
        reached = abs(off) * np.sqrt(when.screens[look] / 120) > stats.norm.ppf(1 - 0.05 / 4)
        assert (adaptive.planned_test(log.of((4, 3)), when)[campaign, look] != 0) == reached
    assert (adaptive.final_test(log.of((4, 3)), when)[:, -1] == adaptive.daily_test(log.of((4, 3)), when)[:, -1]).all()


def test_shared_screens_do_not_tell_what_was_shown_elsewhere():
    """Verdicts on two systems are the same if all other systems' scores are lost, and on a stretched scale."""
    log = twins("greedy", campaigns=20, screens=400, gap=9.0)
    when = adaptive.looks(400)
    bare = adaptive.Log(log.scores.copy(), log.probability)
    bare.scores[..., :3] = np.nan
    wide = adaptive.Log(log.scores / 20 - 1, log.probability)
    told = adaptive.shared_sequence(log.of((4, 3)), when)
    assert (told == adaptive.shared_sequence(bare.of((4, 3)), when)).all()
    assert (told == adaptive.shared_sequence(wide.of((4, 3)), when)).all()


@pytest.mark.parametrize(
    ("looks", "printed"),
    [(1, ".050"), (2, ".083"), (3, ".107"), (4, ".126"), (5, ".142"), (10, ".193"), (20, ".248"), (50, ".320")],
)
def test_repeated_tests_err_as_armitage_1969_print(looks, printed):
    assert f"{adaptive.repeated(looks):.3f}".removeprefix("0") == printed


def test_a_strict_test_goes_by_the_share_of_what_was_planned():
    """Half of a plan asks of a last look what a look at half time asks of a whole one."""
    rng = np.random.default_rng(7)
    scores = np.stack([rng.normal(60, 10, (60, 200)), rng.normal(56.5, 10, (60, 200))], axis=2)
    log = adaptive.Log(scores, np.ones_like(scores))
    half = adaptive.planned_test(log.of((0, 1)), adaptive.Looks(np.array([100]), share=np.array([0.5])))
    both = adaptive.planned_test(log.of((0, 1)), adaptive.Looks(np.array([100, 200])))
    late = adaptive.planned_test(log.of((0, 1)), adaptive.Looks(np.array([100]), share=np.array([1.0])))
    np.testing.assert_array_equal(half[:, 0], both[:, 0])
    assert half.sum() < late.sum()


# What of real judgements is replayed, and the tables that replays come to


def campaign(*, systems=6, documents=50, own=False, seed=0):
    """Judge every system on the same documents, or each on documents of its own; better the later it comes."""
    sizes = {"systems": systems, "documents": documents, "length": 2, "people": 4, "each": 1, "dealt": "item"}
    spread = {"segment": 0.0, "annotator": 0.0, "residual": 12.0}
    table = ratings(seed, **sizes, gap=-4, spread=spread)
    return table.assign(doc=table["doc"] + (table["system"] if own else ""))


def test_documents_shared_by_all_systems_are_a_grid_and_the_best_system_comes_first():
    table = campaign()
    (found,) = adaptive.materials({"mine": table})
    assert found.shared
    assert found.scores.shape == (6, 50)
    assert (found.screens(), found.screens(2), found.screens(9)) == (100, 150, 50)  # 300 documents, three on a screen
    means = table.groupby(["system", "doc"])["score"].mean().groupby("system").mean().sort_values(ascending=False)
    assert list(found.systems) == list(means.index)
    assert found.truth.to_dict() == pytest.approx(means.to_dict())
    rare = table["system"].eq("S2") & table["doc"].ne("d01")
    lacking = table["system"].eq("S3") & table["doc"].isin(["d07", "d08"])
    (found,) = adaptive.materials({"mine": table[~rare & ~lacking]})
    assert sorted(found.systems) == ["S0", "S1", "S3", "S4", "S5"]
    assert found.scores.shape == (5, 48), "hardly judged systems, and documents that some lack, are left out"


def test_a_replay_has_a_row_for_each_system_estimate_and_assignment():
    used = adaptive.materials({"mine": campaign(), "own": campaign(own=True)})
    found = adaptive.replay(used, campaigns=40)
    assert found.groupby(["data", "assignment", "estimate"]).size().eq(6).all()
    steered = found[found["assignment"].eq("greedy") & found["estimate"].eq("plain mean")].set_index(
        ["data", "system"]
    )["judgements"]
    for name in ("mine", "own"):
        assert steered[name, "S5"] > 2 * steered[name, "S0"]


def test_alarms_count_campaigns_of_all_language_pairs_that_share_documents():
    used = adaptive.materials({"a": campaign(), "b": campaign(seed=1), "own": campaign(own=True)})
    found = adaptive.alarms(used, points=25.0, campaigns=30)
    assert found["campaigns"].eq(60).all()
    rate = found[found["assignment"].eq("by rank")].set_index(["situation", "rule"])["rate"]
    assert rate["better by 25", "a strict test at every look"] > 0.9
    assert rate[adaptive.ALIKE, "a strict test at every look"] < 0.2
