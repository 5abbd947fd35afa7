"""Ways to choose segments: plain readings of their definitions, laws of what comes of a choice, and odds that hold.

On WMT23's two language pairs, all four utilities and the chosen 50, 100 and 200 segments were also equal to those of
subset2evaluate 1.0.25.
"""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import ppi
from evalkit.show.plots import planning as draw
from tests.makers import named_scores


@given(st.integers(0, 10**6), st.integers(2, 7), st.booleans())
@settings(max_examples=40, deadline=None)
def test_utilities_are_what_their_definitions_say(seed, systems, coarse):
    rng = np.random.default_rng(seed)
    metric = rng.integers(0, 3, (systems, 12)).astype(float) if coarse else rng.normal(size=(systems, 12))
    means = metric.mean(axis=1)
    for place, own in enumerate(metric.T):
        assert metric.var(axis=0)[place] == pytest.approx(np.var(own))
        level = len(set(own)) == 1 or len(set(means)) == 1
        tau = 0 if level else stats.kendalltau(own, means, variant="c").statistic
        assert ppi.consistency(metric)[place] == pytest.approx(tau)


@given(st.lists(st.lists(st.text("ab ", max_size=8), min_size=3, max_size=3), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_diversity_is_one_less_the_mean_f_score_of_words(texts):
    def overlap(one, two):
        a, b = Counter(one.split()), Counter(two.split())
        return 2 * (a & b).total() / (a.total() + b.total()) if a and b else 1.0

    expected = [-np.mean([overlap(*pair) for pair in combinations(each, 2)]) for each in texts]
    assert ppi.diversity(texts).tolist() == pytest.approx(expected)


def plainly(human, chosen, weight):
    """Say what comes of a choice, one pair of systems at a time."""
    n, values = len(chosen), []
    for one, two in combinations(range(len(human)), 2):
        gaps = human[one] - human[two]
        gaps = gaps if gaps.mean() >= 0 else -gaps
        found, true = float(gaps[chosen] @ weight), gaps.mean()
        error = np.sqrt(((gaps[chosen] - found) ** 2 * weight**2).sum() * n / (n - 1))
        p = stats.norm.sf(found / error), stats.norm.sf(true / stats.sem(gaps))
        values.append((1 - abs(p[0] - p[1]), (found > 0) == (true > 0), found - true, found, true, (found - true) ** 2))
    agreement, accuracy, bias, found, true, square = np.mean(values, axis=0)
    means = np.mean(human[:, chosen] @ weight - human.mean(axis=1))
    return agreement, accuracy, means, bias, found / true, np.sqrt(square)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30, deadline=None)
def test_what_comes_of_a_choice_is_computed_pair_by_pair(seed, even):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(5, 40)) + rng.normal(size=(5, 1))
    chosen = rng.permutation(40)[:15]
    weight = np.full(15, 1 / 15) if even else rng.dirichlet(np.ones(15))
    assert ppi.outcome(human, chosen, weight).tolist() == pytest.approx(plainly(human, chosen, weight))


def test_all_segments_say_what_all_say_and_a_perfect_metric_corrects_everything():
    rng = np.random.default_rng(4)
    human = rng.normal(size=(4, 30))
    whole = ppi.outcome(human, np.arange(30), np.full(30, 1 / 30))
    assert whole.tolist() == pytest.approx([1, 1, 0, 0, 1, 0], abs=1e-9)
    hard = np.argsort(human.mean(axis=0))[:10]
    off, corrected = (ppi.outcome(human, hard, np.full(10, 0.1), other) for other in (None, 2 * human + 3))
    assert off[2] < -0.3  # hard segments have lower scores
    assert corrected[1:].tolist() == pytest.approx([1, 0, 0, 1, 0], abs=1e-9)


def test_systems_whose_means_differ_in_last_bits_alone_are_in_no_order():
    """A third of 0.1, 0.1 and 0.4 is more than of 0.4, 0.1 and 0.1; over all segments, one system is better."""
    human = np.array([[0.1, 0.1, 0.4, 1.0, 0.0], [0.4, 0.1, 0.1, 0.0, 0.0]])
    assert np.diff(human[:, :3] @ (np.ones(3) / 3)) != 0
    for better in (human, human[:, [2, 1, 0, 3, 4]]):  # there the better one has the larger sum, and the smaller
        assert ppi.outcome(better, np.arange(3), np.ones(3) / 3)[1] == 0


def test_odds_are_known_and_weights_undo_them():
    rng = np.random.default_rng(5)
    metric = rng.normal(size=(6, 200)) * rng.gamma(1, 1, 200)
    chances = ppi.odds(metric, 40)
    assert chances.sum() == pytest.approx(40)
    assert chances.min() >= 0.5 * 40 / 200
    draws = [ppi.drawn(chances, rng) for _ in range(3000)]
    assert {len(each) for each in draws} == {40}
    often = np.bincount(np.concatenate(draws), minlength=200) / 3000
    # a share of 3000 draws has a standard error of at most .009: 200 of them stay within four
    assert np.abs(often - chances).max() < 4 * 0.0092
    value = metric.std(axis=0)
    plain = np.mean([value[each].mean() for each in draws])
    weighted = np.mean([np.average(value[each], weights=1 / chances[each]) for each in draws])
    assert plain > 1.2 * value.mean()
    assert weighted == pytest.approx(value.mean(), rel=0.02)
    assert ppi.odds(np.ones((3, 20)), 5).tolist() == pytest.approx([0.25] * 20)
    assert ppi.odds(metric, 200).max() <= 1


def known_set(segments=160, seed=3):
    """Make a test set: hard segments have low scores that differ more between systems, and the metric knows it."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(1.0, 1.0, segments)
    human = -hard * (1 + np.arange(4)[:, None] * 0.3) + 0.5 * rng.normal(size=(4, segments))
    metric = human + 0.5 * rng.normal(size=human.shape)
    scores = named_scores(metric[None], human, length=4, metrics=("m",))
    rows = [(system, *name.split(":")) for system, name in product(scores.systems, scores.segments)]
    outputs = pd.DataFrame(rows, columns=["system", "doc", "segment"]).assign(src_lang="eng", tgt_lang="deu")
    outputs["hypothesis"] = [" ".join(rng.choice(list("abcdef"), 4)) for _ in rows]
    return {"eng-deu": scores}, outputs


def test_ways_are_compared_and_only_chance_is_free_of_bias():
    scored, outputs = known_set()
    metric = {"eng-deu": "m"}
    found = ppi.compare_choices(scored, metric, outputs, budgets=[20, 40.0], redrawn=40)
    again = ppi.compare_choices(scored, metric, outputs.sample(frac=1, random_state=1), budgets=[40, 20], redrawn=40)
    pd.testing.assert_frame_equal(found, again)
    assert len(found) == 2 * 7
    at = found[found["budget"] == 20].set_index("way")
    human = scored["eng-deu"].human
    for way in (ppi.RANDOM, ppi.DRAWN):
        assert at.loc[way, "bias_means"] == pytest.approx(0, abs=0.06)  # 200 draws of 20, sd 1.5
        assert at.loc[way, "stretch"] == pytest.approx(1, abs=0.08)
    for way in (ppi.VARIANCE, ppi.AVERAGE):
        assert at.loc[way, "bias_means_high"] < -1
        assert at.loc[way, "stretch_low"] > 1.5
    hard = np.argsort(scored["eng-deu"].values[0].mean(axis=0), kind="stable")[:20]
    assert at.loc[ppi.AVERAGE, "bias_means"] == pytest.approx(human[:, hard].mean() - human.mean())
    assert at.loc[ppi.RANDOM, ["lead", "lead_low", "lead_high"]].tolist() == [0, 0, 0]
    assert (at["low"] <= at["high"]).all()
    assert "metric variance" in draw.choosing(found[found["budget"] == 20]).get_label()
    said = ppi.choice_in_words(found, data="eng-deu", budget=20)
    assert f"{at.loc[ppi.VARIANCE, 'stretch']:.1f} times" in said
    for words, small, budgets in (("fewer than ten", known_set(segments=8)[0], [5]), ("5 segments", scored, [4, 20])):
        with pytest.raises(DataError, match=words):
            ppi.compare_choices(small, metric, outputs, budgets=budgets)
