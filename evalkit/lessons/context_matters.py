"""The exercises of the lesson "Context matters: the degraded-context test, and the trap of dependence".

A HIT is a table of judgements in the order in which they were made; a loss is an original's score less its copy's.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human import context
from evalkit.lessons.checker import Exercise, Function, letter


def losses(hit: pd.DataFrame) -> np.ndarray:
    """Return the loss of every repeat in a HIT, in the order in which the repeats were shown."""
    columns = {"hit": "h", "src_lang": "xxx", "tgt_lang": "eng", "annotator": "a"}
    return context.pairs(hit.assign(**columns))["difference"].to_numpy()


def degraded_before(items: Iterable[str]) -> np.ndarray:
    """Count, for each item of a copy, the degraded items that were shown before it."""
    bad = np.array([item == "degraded" for item in items])
    return np.cumsum(bad) - bad


def welch_t(after: np.ndarray, before: np.ndarray) -> float:
    """Return Welch's t for the mean loss after degraded context less the mean loss before it."""
    return float(stats.ttest_ind(after, before, equal_var=False).statistic)


def p_by_document(table: pd.DataFrame, *, of: str = "mean") -> float:
    """Return the two-sided p of a t-test over the documents' mean losses, or over another number of each."""
    return float(stats.ttest_1samp(table.groupby("document")["difference"].agg(of), 0).pvalue)


def p_by_flipping(table: pd.DataFrame, signs: np.ndarray) -> float:
    """Return the share of sign flips, the given one included, whose mean loss is at least as far from 0.

    table: document, difference. signs: flips x documents, 1 or -1, documents in the order of their names.
    """
    flipped, own = _totals(table, signs)
    return float(((np.abs(flipped) >= abs(own) - 1e-9).sum() + 1) / (len(signs) + 1))


def _totals(table: pd.DataFrame, signs: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the total loss after each flip of whole documents, and that of the data as they are."""
    sums = table.groupby("document")["difference"].sum().to_numpy()
    return signs @ sums, sums.sum()


def _hits() -> list[tuple]:
    """Draw two small HITs in which two documents number their segments alike."""
    rng, made = np.random.default_rng(3), []
    kinds = ["repeat", "degraded", "repeat", "reference", "repeat"]
    for _ in range(2):
        hit = pd.DataFrame({"doc": np.repeat(["d1", "d2", "d3", "d1", "d2"], 5), "segment": [*"12345"] * 5})
        hit["system"] = "S-" + hit["doc"].str[-1]
        hit["copy"] = np.repeat([False, True, False, True, False], 5)
        hit["item_type"] = np.where(hit["copy"], np.tile(rng.permutation(kinds), 5), "system")
        made.append((hit.assign(score=rng.integers(0, 101, 25).astype(float), position=range(25)),))
    return made


def _items() -> list[tuple]:
    first = ["repeat", "degraded", "repeat", "reference", "repeat", "degraded", "degraded", "repeat"]
    return [(first,), (["degraded", "reference", "degraded", "repeat"],), (["repeat", "repeat"],)]


def _two_groups() -> list[tuple]:
    rng = np.random.default_rng(4)
    return [(rng.normal(2, 9, n).round(1), rng.normal(0, 3, m).round(1)) for n, m in ((12, 5), (30, 8), (6, 40))]


def _tables() -> list[tuple]:
    """Draw whole-numbered losses of documents with one to six repeats each."""
    rng, made = np.random.default_rng(5), []
    for documents in (6, 12, 9):
        place = np.repeat(np.arange(documents), rng.integers(1, 7, documents))
        loss = np.round(rng.normal(4, 8, documents)[place] + rng.normal(0, 4, len(place)))
        made.append((pd.DataFrame({"document": place, "difference": loss}).sample(frac=1, random_state=8),))
    return made


def _flips() -> list[tuple]:
    rng = np.random.default_rng(9)
    two = pd.DataFrame({"document": ["a", "a", "b"], "difference": [1.0, 2.0, 3.0]})
    made = [(table, rng.choice([-1, 1], (200, table["document"].nunique()))) for (table,) in _tables()]
    return [*made, (two, np.array([[1, -1], [1, 1], [-1, -1], [-1, 1]]))]


EXERCISES: dict[str, Exercise] = {
    "losses": Function(
        right=losses,
        trials=_hits,
        mistakes={
            "size_is_right": lambda hit: -losses(hit),
            "some_of_your_pairs_compare": lambda hit: losses(hit.replace(["degraded", "reference"], "repeat")),
        },
    ),
    "degraded_before": Function(
        right=degraded_before,
        trials=_items,
        mistakes={
            "count_an_item_among_those": lambda items: np.cumsum(np.array(items) == "degraded"),
            "count_human_references": lambda items: degraded_before(np.char.replace(items, "reference", "degraded")),
            "count_the_whole_copy": lambda items: np.full(len(items), items.count("degraded")),
        },
    ),
    "welch_t": Function(
        right=welch_t,
        trials=_two_groups,
        mistakes={
            "standard_deviations_divide": lambda after, before: (
                (after.mean() - before.mean()) / np.sqrt(after.var() / len(after) + before.var() / len(before))
            ),
            "pooled_both_groups_into": lambda after, before: float(stats.ttest_ind(after, before).statistic),
            "divide_by_the_scatter": lambda after, before: (
                (after.mean() - before.mean()) / np.sqrt(after.var(ddof=1) + before.var(ddof=1))
            ),
        },
    ),
    "reason": letter("C"),
    "p_by_document": Function(
        right=p_by_document,
        trials=_tables,
        mistakes={
            "plain_test_again": lambda table: float(stats.ttest_1samp(table["difference"], 0).pvalue),
            "document_with_many_repeats": lambda table: p_by_document(table, of="sum"),
            "p_is_one_sided": lambda table: p_by_document(table) / 2,
        },
    ),
    "p_by_flipping": Function(
        right=p_by_flipping,
        trials=_flips,
        mistakes={
            "p_value_of_0": lambda table, signs: (p_by_flipping(table, signs) * (len(signs) + 1) - 1) / len(signs),
            "count_flips_on_one_side": lambda table, signs: float(
                ((_totals(table, signs)[0] >= _totals(table, signs)[1] - 1e-9).sum() + 1) / (len(signs) + 1)
            ),
        },
    ),
}
