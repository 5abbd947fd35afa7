"""Steered campaigns: probabilities as enumerated, a log as replayed by hand, estimates as their laws say."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.human.adaptive import estimates, policies, replaying

POLICIES = list(policies.POLICIES)


def grid(systems=6, texts=40, *, step=1.0, seed=5):
    """Draw scores from 0 to 100; texts differ, systems are ``step`` points apart, the last is the best."""
    rng = np.random.default_rng(seed)
    level = 80 + step * np.arange(systems)[:, None] + rng.normal(0, 5, texts)
    return np.clip(level + rng.normal(0, 9, (systems, texts)), 0, 100)


def replay(name, *, campaigns=400, screens=200, seed=2, start=5, table=None, **how):
    rng = np.random.default_rng(seed)
    drawn = replaying.draw(grid() if table is None else table, campaigns=campaigns, screens=screens, rng=rng)
    return drawn, replaying.steer(drawn, policies.named(name), rng=rng, start=start, **how)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(0.05, 5), min_size=3, max_size=5), st.integers(1, 3))
def test_inclusion_is_what_every_order_of_draws_adds_up_to(weights, shown):
    found = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights)), shown):
        left, chance = sum(weights), 1.0
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        found[list(order)] += chance
    assert policies.inclusion(np.array(weights), shown) == pytest.approx(found, rel=1e-9)
    assert found.sum() == pytest.approx(shown)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(POLICIES), st.integers(2, 9), st.data())
def test_every_policy_gives_probabilities_that_add_up_to_a_screen(name, systems, data):
    shown = data.draw(st.integers(1, systems))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    state = policies.State(
        rng.integers(0, 30, (4, systems)).astype(float),
        rng.normal(80, 5, (4, systems)),
        rng.uniform(0, 200, (4, systems)),
    )
    chance = policies.named(name)(state, shown, rng)
    assert chance.shape == (4, systems)
    assert chance.min() >= 0
    assert chance.max() <= 1 + 1e-9
    assert chance.sum(axis=1) == pytest.approx(np.full(4, shown))
    if name in ("by rank", "greedy", "elimination") and systems > shown:  # Thompson draws, and may favour another
        best = state.means.argmax(axis=1)
        assert (chance[range(4), best] >= chance.mean(axis=1) - 1e-9).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.integers(3, 8), st.integers(1, 3))
def test_screens_show_equally_many_and_each_system_as_often_as_is_asked_for(seed, systems, shown):
    rng = np.random.default_rng(seed)
    chance = policies.inclusion(rng.uniform(0.02, 1, systems), shown)
    hit = replaying.chosen(np.broadcast_to(chance, (4000, systems)), rng)
    assert set(hit.sum(axis=1)) == {shown}
    off = (hit.mean(axis=0) - chance) / np.sqrt(chance * (1 - chance) / 4000 + 1e-12)
    assert np.abs(off[chance < 1 - 1e-9]).max(initial=0) < 5  # 30 examples of up to 8 systems
    assert hit[:, chance > 1 - 1e-9].all()


@pytest.mark.parametrize("name", ["by rank", "greedy", "elimination"])
def test_a_logged_probability_is_that_of_the_scores_seen_before(name):
    """Replay one campaign by hand: what was seen until the last look, and the policy's answer to it."""
    every, warm = 7, 10  # 6 systems, 3 a screen, each about 5 times
    _, log = replay(name, campaigns=3, screens=60, every=every)
    for screen in range(60):
        look = screen if screen < warm else warm + (screen - warm) // every * every
        seen = log.scores[:1, :look]
        if screen < warm:
            assert (log.probability[0, screen] == 0.5).all()
            continue
        state = policies.State(
            log.shown[:1, :look].sum(axis=1).astype(float), np.nanmean(seen, axis=1), np.nanvar(seen, axis=1, ddof=1)
        )
        told = policies.named(name)(state, 3, np.random.default_rng(0))
        assert log.probability[0, screen] == pytest.approx(told[0], abs=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_a_log_holds_the_drawn_scores_of_what_was_shown(name):
    drawn, log = replay(name, campaigns=20)
    assert (log.scores[log.shown] == drawn[log.shown]).all()
    assert (log.shown.sum(axis=2) == 3).all()
    assert (log.probability[log.shown] > 0).all()
    pair = log.of((4, 1))
    assert np.array_equal(pair.scores, log.scores[..., [4, 1]], equal_nan=True)
    assert (pair.probability == log.probability[..., [4, 1]]).all()


def by_hand(scores, chance, name):
    """Compute one system's estimate and standard error, screen by screen. chance: all screens; scores: NaN unseen."""
    top, below, parts, seen = 0.0, 0.0, [], []
    for y, p, guess in zip(scores[0], chance, scores[1], strict=True):
        if p == 0:
            continue
        hit = not np.isnan(y)
        if name == "plain mean":
            gamma, h = (y, 1.0) if hit else (0.0, 0.0)
        elif name == "weighted, stabilised":
            gamma, h = (y, 1 / p) if hit else (0.0, 0.0)
        elif name == "weighted":
            gamma, h = (y / p if hit else 0.0), 1.0
        else:
            gamma = guess + ((y - guess) / p if hit else 0.0)
            h = p**0.5 if name.endswith("adaptive weights") else 1.0
        seen.append(hit)
        top, below = top + h * gamma, below + h
        parts.append((h, gamma))
    mean = top / below
    error = sum(h**2 * (gamma - mean) ** 2 for h, gamma in parts) ** 0.5 / below
    counts = sum(seen)
    return mean, error * (counts / (counts - 1)) ** 0.5 if name in ("plain mean", "weighted, stabilised") else error


@pytest.mark.parametrize("name", list(estimates.ESTIMATES))
@pytest.mark.parametrize("policy", ["by rank", "elimination"])
def test_estimates_equal_a_loop_over_screens(name, policy):
    _, log = replay(policy, campaigns=2, screens=90, table=grid(step=6.0))
    found = estimates.ESTIMATES[name](log)
    for campaign, place in itertools.product(range(2), range(6)):
        guesses = []
        for screen in range(90):
            past = log.scores[campaign, :screen]
            own = past[:, place][~np.isnan(past[:, place])]
            guesses.append(own.mean() if len(own) else np.nanmean(past) if screen else 0.0)
        told = by_hand((log.scores[campaign, :, place], guesses), log.probability[campaign, :, place], name)
        assert (found.means[campaign, place], found.errors[campaign, place]) == pytest.approx(told, rel=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
def test_weights_take_the_bias_away_that_steering_brings(policy):
    """Elimination excepted, where some probabilities are 0; 4 standard errors over 6 systems and 2 estimates."""
    truth = grid().mean(axis=1)
    found = estimates.score(replay(policy, campaigns=1500)[1], truth).set_index("estimate")
    for name in ("weighted", "augmented") if policy != "elimination" else ():
        assert (np.abs(found.loc[name, "bias"]) < 4 * found.loc[name, "noise"]).all()
    plain = found.loc["plain mean"]
    if policy in ("greedy", "Thompson"):  # the plain means of all systems together are too low
        assert plain["bias"].mean() < -5 * plain["noise"].mean()
    if policy == "uniform":
        assert (np.abs(plain["bias"]) < 4 * plain["noise"]).all()
        assert plain["coverage"].between(0.93, 0.97).all()  # 1500 campaigns: 0.95 ± 3.5 standard errors


@settings(deadline=None, max_examples=20)
@given(st.floats(-30, 30), st.floats(0.2, 3))
def test_a_shift_and_a_scale_of_scores_move_ratios_and_augmented_estimates_alike(shift, scale):
    _, log = replay("by rank", campaigns=5)
    moved = replaying.Log(log.scores * scale + shift, log.probability)
    for name in ("plain mean", "weighted, stabilised"):
        old, new = (estimates.ESTIMATES[name](one) for one in (log, moved))
        assert new.means == pytest.approx(old.means * scale + shift, rel=1e-9)
        assert new.errors == pytest.approx(old.errors * scale, rel=1e-9)


def test_systems_without_shared_texts_are_drawn_each_from_its_own():
    table = grid()
    table[1, ::2] = np.nan
    rng = np.random.default_rng(1)
    with pytest.raises(DataError, match="shared=False"):
        replaying.draw(table, campaigns=2, screens=3, rng=rng)
    drawn = replaying.draw(table, campaigns=300, screens=100, rng=rng, shared=False)
    assert drawn.mean(axis=(0, 1)) == pytest.approx(np.nanmean(table, axis=1), abs=0.3)
    assert abs(np.corrcoef(drawn[..., 0].ravel(), drawn[..., 2].ravel())[0, 1]) < 0.03
    assert set(np.unique(drawn[..., 1])) == set(table[1, 1::2])


def test_what_cannot_be_is_refused():
    drawn = np.zeros((2, 5, 3))
    for shown in (0, 4):
        with pytest.raises(DataError, match="from 1 to 3"):
            replaying.steer(drawn, policies.uniform, rng=np.random.default_rng(0), shown=shown)
    with pytest.raises(DataError, match="Thompson"):
        policies.named("thomson")
