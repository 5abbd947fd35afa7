"""What the lessons teach, held against formulas, other implementations and the page for teachers."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit.human import planning
from evalkit.lessons import context_matters, metric_correlations
from evalkit.lessons import planning as lesson_planning
from evalkit.stats import inference


@pytest.mark.parametrize("seed", range(3))
def test_flipping_documents_is_the_permutation_test_of_the_package(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"document": rng.choice([*"abcdefg"], 40), "difference": rng.normal(1, 3, 40)})
    sums = table.groupby("document")["difference"].sum().to_numpy()
    every = np.where(inference.Swaps(len(sums)).numbered(1, 2 ** len(sums)), -1, 1)  # all but the one given
    test = inference.permutation_test(lambda m: abs(np.where(m, -1, 1) @ sums), inference.Swaps(len(sums)), seed=1)
    assert test.exact
    assert context_matters.p_by_flipping(table, every) == pytest.approx(float(test.p))


def test_copying_every_pair_changes_no_test_that_lets_documents_count():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"document": np.repeat([*"abcdef"], 3), "difference": rng.normal(2, 4, 18)})
    ten = pd.concat([table] * 10)
    signs = rng.choice([-1, 1], (300, 6))
    for test in (context_matters.p_by_document, lambda t: context_matters.p_by_flipping(t, signs)):
        assert test(ten) == pytest.approx(test(table))
    plain = [stats.ttest_1samp(t["difference"], 0).pvalue for t in (table, ten)]
    assert plain[1] < plain[0] / 10, "the plain test is fooled"


@pytest.mark.parametrize("judgements", [1, 3])
def test_the_variance_of_a_document_is_that_behind_the_power_of_the_package(judgements):
    v = {"document": 3.0, "item": 70.0, "annotator": 90.0, "block": 11.0, "residual": 150.0}
    segments, block, delta = 160, 8, 2.0
    documents = segments // block
    error = lesson_planning.standard_error(v, segments, judgements, block)
    critical = stats.t.isf(0.025, documents - 1)
    expected = stats.nct.sf(critical, documents - 1, delta / error) + stats.nct.cdf(
        -critical, documents - 1, delta / error
    )
    found = planning.power(v, delta=delta, segments=segments, judgements=judgements, block=block)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_the_simulation_of_the_lesson_has_the_variance_of_its_formula():
    v = lesson_planning.EXAMPLE
    drawn = lesson_planning.one_campaign(v, 5.0, 40_000, 10, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(5, abs=5 * np.sqrt(lesson_planning.document_variance(v) / 40_000))
    assert drawn.var() == pytest.approx(lesson_planning.document_variance(v), rel=5 * np.sqrt(2 / 40_000))


@pytest.mark.parametrize("seed", range(4))
def test_toy_counts_and_accuracy_are_what_counting_by_hand_gives(seed):
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 4, (2, 8)).astype(float)
    found = dict.fromkeys(("concordant", "discordant", "metric_ties", "human_ties", "both_tie"), 0)
    right, kept, points = 0, 0, 0
    for i in range(8):
        for j in range(i):
            h, m = human[i] - human[j], metric[i] - metric[j]
            kind = "both_tie" if h == m == 0 else "human_ties" if h == 0 else "metric_ties" if m == 0 else ""
            found[kind or ("concordant" if h * m > 0 else "discordant")] += 1
            right += (h == 0 and abs(m) <= 1) or (h * m > 0 and abs(m) > 1)
            kept += abs(25 * h) >= 25
            points += (1 if h * m > 0 else -1) if abs(25 * h) >= 25 else 0
    assert metric_correlations.counted(human, metric) == found
    assert metric_correlations.accuracy(human, metric, 1.0) == pytest.approx(right / 28)
    assert metric_correlations.darr_tau(25 * human, metric) == pytest.approx(points / kept)
