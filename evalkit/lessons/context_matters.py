"""The exercises of the lesson "Context matters: the degraded-context test, and the trap of dependence".

A HIT is a table of judgements in the order in which they were made; a loss is an original's score less its copy's.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human import context
from evalkit.lessons.checker import Exercise, Function, Value

_KEYS = ["system", "doc", "segment"]


def losses(hit: pd.DataFrame) -> np.ndarray:
    """Return the loss of every repeat in a HIT, in the order in which the repeats were shown."""
    columns = {"hit": "h", "src_lang": "xxx", "tgt_lang": "eng", "annotator": "a"}
    return context.pairs(hit.assign(**columns))["difference"].to_numpy()


def degraded_before(items: list[str]) -> np.ndarray:
    """Count, for each item of a copy, the degraded items that were shown before it."""
    bad = np.array([item == "degraded" for item in items])
    return np.cumsum(bad) - bad


def welch_t(after: np.ndarray, before: np.ndarray) -> float:
    """Return Welch's t for the mean loss after degraded context less the mean loss before it."""
    return float(stats.ttest_ind(after, before, equal_var=False).statistic)


def p_by_document(table: pd.DataFrame) -> float:
    """Return the two-sided p of a t-test over the documents' mean losses."""
    return float(stats.ttest_1samp(table.groupby("document")["difference"].mean(), 0).pvalue)


def p_by_flipping(table: pd.DataFrame, signs: np.ndarray) -> float:
    """Return the share of sign flips, the given one included, whose mean loss is at least as far from 0.

    table: document, difference. signs: flips x documents, 1 or -1, documents in the order of their names.
    """
    sums = table.groupby("document")["difference"].sum().to_numpy()
    hits = (np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9).sum()
    return float((hits + 1) / (len(signs) + 1))


def _hits() -> list[tuple]:
    """Draw two small HITs in which two documents number their segments alike."""
    rng = np.random.default_rng(3)
    return [(_hit(rng),) for _ in range(2)]


def _hit(rng: np.random.Generator) -> pd.DataFrame:
    kinds = ["repeat", "degraded", "repeat", "reference", "repeat"]
    parts = []
    for doc, copy in (("d1", False), ("d2", True), ("d3", False), ("d1", True), ("d2", False)):
        items = list(rng.permutation(kinds)) if copy else ["system"] * len(kinds)
        score = rng.integers(0, 101, len(kinds)).astype(float)
        parts.append(
            pd.DataFrame(
                {
                    "system": "S-" + doc[-1],
                    "doc": doc,
                    "segment": [*"12345"],
                    "item_type": items,
                    "copy": copy,
                    "score": score,
                }
            )
        )
    return pd.concat(parts, ignore_index=True).assign(position=range(5 * len(parts)))


def _joined(hit: pd.DataFrame, *, keys: list[str], kinds: list[str]) -> np.ndarray:
    """Subtract copies from originals, found by some keys, for some kinds of items: right or wrong by its arguments."""
    originals = hit[~hit["copy"]].drop_duplicates(keys)
    copies = hit[hit["copy"] & hit["item_type"].isin(kinds)].sort_values("position")
    both = copies.merge(originals, on=keys, suffixes=("", "_original"))
    return (both["score_original"] - both["score"]).to_numpy()


def _items() -> list[tuple]:
    return [
        (["repeat", "degraded", "repeat", "reference", "repeat", "degraded", "degraded", "repeat"],),
        (["degraded", "reference", "degraded", "repeat"],),
        (["repeat", "repeat"],),
    ]


def _counted(items: list[str], kinds: set[str]) -> np.ndarray:
    return np.array([item in kinds for item in items])


def _two_groups() -> list[tuple]:
    rng = np.random.default_rng(4)
    sizes = [(12, 5), (30, 8), (6, 40)]
    return [(rng.normal(2, 9, a).round(1), rng.normal(0, 3, b).round(1)) for a, b in sizes]


def _difference(after: np.ndarray, before: np.ndarray) -> float:
    return float(np.mean(after) - np.mean(before))


def _tables() -> list[tuple]:
    return [(_table(np.random.default_rng(seed), documents),) for seed, documents in ((5, 6), (6, 12), (7, 9))]


def _table(rng: np.random.Generator, documents: int) -> pd.DataFrame:
    """Draw whole-numbered losses of documents with one to six repeats each."""
    document = np.repeat([f"d{n:02}" for n in range(documents)], rng.integers(1, 7, documents))
    shared = dict(zip(np.unique(document), rng.normal(4, 8, documents), strict=True))
    loss = np.round([shared[name] for name in document] + rng.normal(0, 4, len(document)))
    return pd.DataFrame({"document": document, "difference": loss}).sample(frac=1, random_state=8)


def _flips() -> list[tuple]:
    rng, made = np.random.default_rng(9), []
    for (table,) in _tables():
        documents = table["document"].nunique()
        made.append((table, rng.choice([-1, 1], (200, documents))))
    two = pd.DataFrame({"document": ["a", "a", "b"], "difference": [1.0, 2.0, 3.0]})
    return [*made, (two, np.array([[1, -1], [1, 1], [-1, -1], [-1, 1]]))]


def _flipped(table: pd.DataFrame, signs: np.ndarray) -> tuple[np.ndarray, float]:
    sums = table.groupby("document")["difference"].sum().to_numpy()
    return signs @ sums, sums.sum()


EXERCISES: dict[str, Exercise] = {
    "losses": Function(
        right=losses,
        trials=_hits,
        mistakes={
            "size_is_right": lambda hit: -losses(hit),
            "some_of_your_pairs_compare": lambda hit: _joined(
                hit, keys=_KEYS, kinds=["repeat", "degraded", "reference"]
            ),
            "segment_1_of_one_document": lambda hit: _joined(hit, keys=["segment"], kinds=["repeat"]),
        },
    ),
    "degraded_before": Function(
        right=degraded_before,
        trials=_items,
        mistakes={
            "count_an_item_among_those": lambda items: np.cumsum(_counted(items, {"degraded"})),
            "count_human_references": lambda items: degraded_before(
                ["degraded" if i == "reference" else i for i in items]
            ),
            "count_the_whole_copy": lambda items: np.full(len(items), _counted(items, {"degraded"}).sum()),
        },
    ),
    "welch_t": Function(
        right=welch_t,
        trials=_two_groups,
        mistakes={
            "standard_deviations_divide": lambda after, before: (
                _difference(after, before) / np.sqrt(np.var(after) / len(after) + np.var(before) / len(before))
            ),
            "pooled_both_groups_into": lambda after, before: float(stats.ttest_ind(after, before).statistic),
            "divide_by_the_scatter": lambda after, before: (
                _difference(after, before) / np.sqrt(np.var(after, ddof=1) + np.var(before, ddof=1))
            ),
            "standard_errors_of_independent": lambda after, before: (
                _difference(after, before)
                / (np.std(after, ddof=1) / np.sqrt(len(after)) + np.std(before, ddof=1) / np.sqrt(len(before)))
            ),
        },
    ),
    "reason": Value(
        right=lambda: "C",
        names=lambda: "ABCD",
        mistakes={
            "with_so_many_losses_their": lambda: "A",
            "small_sample_makes_p": lambda: "B",
            "simulation_has_no_effect": lambda: "D",
        },
    ),
    "p_by_document": Function(
        right=p_by_document,
        trials=_tables,
        mistakes={
            "plain_test_again": lambda table: float(stats.ttest_1samp(table["difference"], 0).pvalue),
            "document_with_many_repeats": lambda table: float(
                stats.ttest_1samp(table.groupby("document")["difference"].sum(), 0).pvalue
            ),
            "p_is_one_sided": lambda table: p_by_document(table) / 2,
        },
    ),
    "p_by_flipping": Function(
        right=p_by_flipping,
        trials=_flips,
        mistakes={
            "look_at_one_side": lambda table, signs: float(
                np.mean(_flipped(table, signs)[0] >= _flipped(table, signs)[1])
            ),
            "p_value_of_0_would": lambda table, signs: float(
                np.mean(np.abs(_flipped(table, signs)[0]) >= abs(_flipped(table, signs)[1]) - 1e-9)
            ),
            "count_flips_on_one_side": lambda table, signs: float(
                ((_flipped(table, signs)[0] >= _flipped(table, signs)[1] - 1e-9).sum() + 1) / (len(signs) + 1)
            ),
            "flips_that_are_exactly": lambda table, signs: float(
                ((np.abs(_flipped(table, signs)[0]) > abs(_flipped(table, signs)[1]) + 1e-9).sum() + 1)
                / (len(signs) + 1)
            ),
        },
    ),
}
