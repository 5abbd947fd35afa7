"""The exercises of the lesson "Context matters: the degraded-context test, and the trap of dependence".

A HIT is a table of judgements in the order in which they were made; a loss is an original's score less its copy's.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.human import context
from evalkit.lessons.exercises import Exercise, Function, Mistake, Value

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
        mistakes=(
            Mistake(
                answer=lambda hit: -losses(hit),
                hint="The size is right, the sign is not. A loss is positive where the copy scored lower.",
            ),
            Mistake(
                answer=lambda hit: _joined(hit, keys=_KEYS, kinds=["repeat", "degraded", "reference"]),
                hint="Some of your pairs compare two different texts. Which items of a copy are unchanged?",
            ),
            Mistake(
                answer=lambda hit: _joined(hit, keys=["segment"], kinds=["repeat"]),
                hint="Segment 1 of one document is not segment 1 of another. What names a segment completely?",
            ),
        ),
        otherwise="Compare with the example by eye: how many repeats does this HIT have, and what is the first loss?",
        well="Copy and original belong together by system, document and segment, and only unchanged items count.",
    ),
    "degraded_before": Function(
        right=degraded_before,
        trials=_items,
        mistakes=(
            Mistake(
                answer=lambda items: np.cumsum(_counted(items, {"degraded"})),
                hint="You count an item among those shown before itself. What had the annotator seen by then?",
            ),
            Mistake(
                answer=lambda items: degraded_before(["degraded" if i == "reference" else i for i in items]),
                hint="You count human references too. They were exchanged, but were they spoilt?",
            ),
            Mistake(
                answer=lambda items: np.full(len(items), _counted(items, {"degraded"}).sum()),
                hint="You count the whole copy. An annotator cannot be influenced by what comes later.",
            ),
        ),
        otherwise="Go through a short list by hand: one number for each item, starting with 0.",
        well="Repeats with 0 are 'before' degraded context, all others 'after' it.",
    ),
    "welch_t": Function(
        right=welch_t,
        trials=_two_groups,
        mistakes=(
            Mistake(
                answer=lambda after, before: -welch_t(after, before),
                hint="The size is right, the sign is not. A larger loss after degraded context means a positive t.",
            ),
            Mistake(
                answer=lambda after, before: (
                    _difference(after, before) / np.sqrt(np.var(after) / len(after) + np.var(before) / len(before))
                ),
                hint="Your standard deviations divide by n. Those of a sample divide by n - 1: see the option ddof.",
            ),
            Mistake(
                answer=lambda after, before: float(stats.ttest_ind(after, before).statistic),
                hint="You pooled both groups into one standard deviation. Welch lets each group have its own.",
            ),
            Mistake(
                answer=lambda after, before: (
                    _difference(after, before) / np.sqrt(np.var(after, ddof=1) + np.var(before, ddof=1))
                ),
                hint="You divide by the scatter of single losses. How far does a mean of n of them scatter?",
            ),
            Mistake(
                answer=lambda after, before: (
                    _difference(after, before)
                    / (np.std(after, ddof=1) / np.sqrt(len(after)) + np.std(before, ddof=1) / np.sqrt(len(before)))
                ),
                hint="Standard errors of independent means do not simply add up. What does: they, or their squares?",
            ),
        ),
        otherwise="Compute the two standard errors of the means first and print them; then combine them.",
        well="The t-value measures a difference in standard errors. It cannot know whether pairs are independent.",
    ),
    "reason": Value(
        right=lambda: "C",
        mistakes=(
            Mistake(
                answer=lambda: "A",
                hint="With so many losses their mean is close to normal, whatever each looks like. Look at drift.",
            ),
            Mistake(
                answer=lambda: "B",
                hint="A small sample makes p-values large, not too small: t allows for n. Is n what it seems to be?",
            ),
            Mistake(
                answer=lambda: "D",
                hint="The simulation has no effect of context: it was drawn without any. So what is left to explain?",
            ),
        ),
        names=lambda: "ABCD",
        otherwise="Give one of the letters A, B, C or D, in quotation marks.",
        well="What the pairs of a document share is drawn once for all of them, so they are fewer than they look.",
    ),
    "p_by_document": Function(
        right=p_by_document,
        trials=_tables,
        mistakes=(
            Mistake(
                answer=lambda table: float(stats.ttest_1samp(table["difference"], 0).pvalue),
                hint="This is the plain test again: every pair still counts as a piece of evidence of its own.",
            ),
            Mistake(
                answer=lambda table: float(stats.ttest_1samp(table.groupby("document")["difference"].sum(), 0).pvalue),
                hint="A document with many repeats now counts more because it is long. What describes a document?",
            ),
            Mistake(
                answer=lambda table: p_by_document(table) / 2,
                hint="This p is one-sided. The lesson asks for both sides: a gain would be a finding, too.",
            ),
        ),
        otherwise="Reduce the table to one number for each document first; how many numbers are left?",
        well="Copying every row ten times would now change nothing, and that is how it should be.",
    ),
    "p_by_flipping": Function(
        right=p_by_flipping,
        trials=_flips,
        mistakes=(
            Mistake(
                answer=lambda table, signs: float(np.mean(_flipped(table, signs)[0] >= _flipped(table, signs)[1])),
                hint="You look at one side, and the data as they are do not count. Add them above and below the line.",
            ),
            Mistake(
                answer=lambda table, signs: float(
                    np.mean(np.abs(_flipped(table, signs)[0]) >= abs(_flipped(table, signs)[1]) - 1e-9)
                ),
                hint="A p-value of 0 would be possible here. The data as they are count as one of the arrangements.",
            ),
            Mistake(
                answer=lambda table, signs: float(
                    ((_flipped(table, signs)[0] >= _flipped(table, signs)[1] - 1e-9).sum() + 1) / (len(signs) + 1)
                ),
                hint="You count flips on one side only. How far from 0, in either direction?",
            ),
            Mistake(
                answer=lambda table, signs: float(
                    ((np.abs(_flipped(table, signs)[0]) > abs(_flipped(table, signs)[1]) + 1e-9).sum() + 1)
                    / (len(signs) + 1)
                ),
                hint="Flips that are exactly as extreme as the data are left out. 'At least as far' includes them.",
            ),
        ),
        otherwise="Flip the sum of each document, add up, and compare with the sum of the data as they are.",
        well="The test needs no normal distribution, only that whole documents could as well have gone the other way.",
    ),
}
