"""Intervals for any number of looks, and rules that stop a campaign: loops by hand, laws, and false alarms counted."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.human.adaptive import estimates, policies, replaying, sequences, stopping

#: Rules that hold exactly, whatever the scores are; and those that are allowed to be asked at every look.
EXACT = ("intervals of each system", "bets on shared screens")


def grid(systems=5, texts=60, *, seed=5, gap=0.0):
    """Draw scores of texts; the last system is better than the one before by ``gap``, the others by 4 points each."""
    rng = np.random.default_rng(seed)
    level = 70 + 4.0 * np.arange(systems)
    level[-1] = level[-2] + gap
    return np.clip(level[:, None] + rng.normal(0, 5, texts) + rng.normal(0, 9, (systems, texts)), 0, 100)


def twins(policy, *, campaigns=300, screens=240, seed=3, gap=0.0):
    """Steer campaigns whose last two systems do not differ, or differ by ``gap`` on every text."""
    rng = np.random.default_rng(seed)
    drawn = replaying.draw(grid(), campaigns=campaigns, screens=screens, rng=rng, alike=(3, 4))
    drawn[..., 4] += gap
    return replaying.steer(drawn, policies.named(policy), rng=rng)


def bernstein_by_hand(scores, alpha, cap):
    """Follow theorem 2 of Waudby-Smith & Ramdas (2024), one score after another."""
    mean, spread, total, weighed, margin = 0.5, 0.25, 0.0, 0.0, math.log(2 / alpha)
    first, squares, low, high, found = 0.5, 0.25, 0.0, 1.0, []
    for time, x in enumerate(scores, 1):
        bet = min(math.sqrt(2 * math.log(2 / alpha) / (spread * time * math.log(1 + time))), cap)
        total, weighed = total + bet, weighed + bet * x
        margin += 4 * (x - mean) ** 2 * (-math.log(1 - bet) - bet) / 4
        low, high = max(low, (weighed - margin) / total), min(high, (weighed + margin) / total)
        found.append((low, high))
        first += x
        mean = first / (time + 1)
        squares += (x - mean) ** 2
        spread = squares / (time + 1)
    return np.array(found).T


@settings(deadline=None, max_examples=40)
@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=40), st.floats(0.01, 0.3))
def test_empirical_bernstein_equals_a_loop_over_the_scores_that_were_seen(cells, alpha):
    scores = np.array([np.nan if cell is None else cell for cell in cells])
    seen = np.isfinite(scores)
    low, high = sequences.empirical_bernstein(scores, seen, alpha=alpha)
    told = bernstein_by_hand(scores[seen], alpha, sequences.CAP)
    assert low[seen] == pytest.approx(told[0] if seen.any() else [], abs=1e-9)
    assert high[seen] == pytest.approx(told[1] if seen.any() else [], abs=1e-9)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) <= 0).all()
    unseen = ~seen[1:]
    assert (np.diff(low)[unseen] == 0).all()


def normal_by_hand(scores, tuned, alpha):
    """Follow theorem 2.2 of Waudby-Smith et al. (2024)."""
    square = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / tuned
    found = []
    for time in range(2, len(scores) + 1):
        part = scores[:time]
        rest = 2 * (time * square + 1) / (time**2 * square) * math.log(math.sqrt(time * square + 1) / alpha)
        found.append((part.mean() - part.std() * rest**0.5, part.mean() + part.std() * rest**0.5))
    return np.array(found).T


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.integers(3, 60), st.integers(2, 200), st.floats(0.01, 0.3))
def test_asymptotic_sequence_equals_the_formula(seed, number, tuned, alpha):
    scores = np.random.default_rng(seed).normal(3, 2, number)
    found = np.array(sequences.asymptotic(scores, tuned=tuned, alpha=alpha))
    assert found[:, 1:] == pytest.approx(normal_by_hand(scores, tuned, alpha), rel=1e-9)
    assert np.isinf(found[:, 0]).all()
    gaps = np.insert(scores, range(1, number + 1), np.nan)
    some = np.array(sequences.asymptotic(gaps, np.isfinite(gaps), tuned=tuned, alpha=alpha))
    assert some[:, ::2] == pytest.approx(found)
    assert some[:, 1::2] == pytest.approx(found)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_wealth_is_the_mean_of_products(differences):
    told = np.mean([np.cumprod(1 + bet * np.array(differences)) for bet in sequences.BETS], axis=0)
    assert np.exp(sequences.wealth(np.array(differences))) == pytest.approx(told, rel=1e-9)
    doubled = np.repeat(differences, 2)
    every_other = np.arange(len(doubled)) % 2 == 0
    assert np.exp(sequences.wealth(doubled, every_other))[::2] == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize(
    ("mean", "draw"),
    [
        (0.1, lambda rng, shape: rng.beta(1, 9, shape)),
        (0.3, lambda rng, shape: rng.binomial(1, 0.3, shape).astype(float)),
    ],
)
def test_sequences_of_bounded_scores_hold_at_all_times_at_once(mean, draw):
    """Skewed scores, and only 0 and 1; the share that ever misses is at most alpha, 3 standard errors allowed."""
    alpha, campaigns = 0.1, 1500
    scores = draw(np.random.default_rng(4), (campaigns, 400))
    limit = alpha + 3 * math.sqrt(alpha * (1 - alpha) / campaigns)
    low, high = sequences.empirical_bernstein(scores, alpha=alpha)
    assert ((low > mean) | (high < mean)).any(axis=1).mean() <= limit
    low, high = sequences.asymptotic(scores, tuned=150, alpha=alpha, start=50)
    assert ((low > mean) | (high < mean)).any(axis=1).mean() <= limit
    reached = sequences.wealth(scores - mean).max(axis=1) >= math.log(1 / alpha)
    assert reached.mean() <= limit
    assert (sequences.wealth(scores - mean + 0.1)[:, -1] > math.log(1 / alpha)).mean() > 0.9


@pytest.mark.parametrize("policy", list(policies.POLICIES))
def test_rules_for_every_look_keep_their_level_and_a_daily_test_does_not(policy):
    log = twins(policy)
    when = stopping.looks(240)
    found = stopping.rates(stopping.verdicts(log, (4, 3), when)).set_index("rule")
    for rule in stopping.ANY_TIME:
        assert found.loc[rule, "low"] <= 0.05  # 300 campaigns
    assert (found.loc[list(EXACT), "rate"] <= 0.05).all()
    assert found.loc["a test at every look", "low"] > 0.05
    assert found["nominal"].eq(0.05).all()


def test_rules_find_a_large_difference_and_name_the_better_system():
    """Bounded bets need many screens: intervals of each system are the slowest."""
    log = twins("uniform", campaigns=60, screens=900, gap=12.0)
    found = stopping.verdicts(log, (4, 3), stopping.looks(900))
    power = stopping.rates(found, better=1).set_index("rule")
    assert power["rate"].drop("intervals of each system").min() > 0.9
    turned = stopping.rates(stopping.verdicts(log, (3, 4), stopping.looks(900)), better=-1).set_index("rule")
    assert turned["rate"].to_dict() == power["rate"].to_dict()
    assert power["nominal"].isna().all()
    assert power.loc["a test at the end", "saved"] == 0
    assert power.loc["interval of the weighted difference", "saved"] > 0.2


def test_a_weighted_difference_equals_a_loop_over_screens():
    log = twins("greedy", campaigns=2, screens=150)
    when = stopping.looks(150)
    said = stopping.weighted_test(log, 4, 1, when)
    assert (said[:, :-1] == 0).all()
    for campaign in range(2):
        guess = dict(zip((4, 1), estimates.earlier(log.of((4, 1)))[campaign].T, strict=True))
        gained = []
        for screen in range(150):
            said_of = []
            for k in (4, 1):
                score, chance = log.scores[campaign, screen, k], log.probability[campaign, screen, k]
                off = 0 if np.isnan(score) else (score - guess[k][screen]) / chance
                said_of.append(guess[k][screen] + off)
            gained.append(said_of[0] - said_of[1])
        off = stats.ttest_1samp(gained, 0).statistic
        assert said[campaign, -1] == (np.sign(off) if abs(off) > stats.norm.ppf(0.975) else 0)


def test_a_daily_test_is_welchs_at_each_look():
    log = twins("by rank", campaigns=2, screens=120, gap=6.0)
    when = stopping.looks(120)
    assert when.screens.tolist() == [40, 60, 80, 100, 120]
    for campaign, look in [(0, 0), (1, 2), (0, 4)]:
        part = log.scores[campaign, : when.screens[look]]
        a, b = (part[:, k][np.isfinite(part[:, k])] for k in (4, 3))
        off = stats.ttest_ind(a, b, equal_var=False).statistic
        told = np.sign(off) if abs(off) > stats.norm.ppf(0.975) else 0
        assert stopping.daily_test(log, 4, 3, when)[campaign, look] == told
    assert (stopping.final_test(log, 4, 3, when)[:, -1] == stopping.daily_test(log, 4, 3, when)[:, -1]).all()


def test_the_strict_test_is_a_path_of_chance_that_stays_within_its_bound():
    """The same bound on sums of normal steps, looked at 1000 times: O'Brien & Fleming's level."""
    paths = np.cumsum(np.random.default_rng(1).standard_normal((4000, 1000)), axis=1) / np.sqrt(1000)
    reached = (np.abs(paths) > stats.norm.ppf(1 - 0.05 / 4)).any(axis=1).mean()
    assert 0.035 < reached < 0.055  # a little below 0.05: looks are not endless
    log, when = twins("uniform", campaigns=40, gap=3.0), stopping.looks(240)
    off = np.abs(stopping._standardised(log, 4, 3, when)) * np.sqrt(when.screens / 240)
    told = stopping.planned_test(log, 4, 3, when) != 0
    assert (told == (off > stats.norm.ppf(1 - 0.05 / 4))).all()
    assert 0 < told.any(axis=1).sum() < 40


def test_exact_rules_do_not_see_what_was_shown_elsewhere():
    """Verdicts on two systems are the same if all other systems' scores are lost, and on a stretched scale."""
    log = twins("Thompson", campaigns=20, screens=400, gap=9.0)
    when = stopping.looks(400)
    bare = replaying.Log(log.scores.copy(), log.probability)
    bare.scores[..., :3] = np.nan
    wide = replaying.Log(log.scores / 20 - 1, log.probability)
    scaled = stopping.Looks(when.screens, when.alpha, (-1.0, 4.0))
    for name in (*EXACT, "interval of shared screens"):
        told = stopping.RULES[name](log, 4, 3, when)
        assert (told == stopping.RULES[name](bare, 4, 3, when)).all()
        assert (told == stopping.RULES[name](wide, 4, 3, scaled)).all()


@pytest.mark.parametrize(
    ("looks", "printed"),
    [(1, ".050"), (2, ".083"), (3, ".107"), (4, ".126"), (5, ".142"), (10, ".193"), (20, ".248"), (50, ".320")],
)
def test_repeated_tests_err_as_armitage_1969_print(looks, printed):
    assert f"{stopping.repeated(looks):.3f}".removeprefix("0") == printed


def test_a_strict_test_goes_by_the_share_of_what_was_planned():
    """Half of a plan asks of a last look what a look at half time asks of a whole one."""
    rng = np.random.default_rng(7)
    scores = np.stack([rng.normal(60, 10, (60, 200)), rng.normal(56.5, 10, (60, 200))], axis=2)
    log = replaying.Log(scores, np.ones_like(scores))
    half = stopping.planned_test(log, 0, 1, stopping.Looks(np.array([100]), share=np.array([0.5])))
    both = stopping.planned_test(log, 0, 1, stopping.Looks(np.array([100, 200])))
    late = stopping.planned_test(log, 0, 1, stopping.Looks(np.array([100]), share=np.array([1.0])))
    np.testing.assert_array_equal(half[:, 0], both[:, 0])
    assert half.sum() < late.sum()
