"""Why a metric's correlation within systems overstates what it saves when two systems are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit.metrics import powered
from evalkit.metrics.metaeval.scores import Scores
from evalkit.stats.correlation import pearson

#: What correlates: within a system everything; of that, what all systems share cancels in a difference.
WITHIN, HARD, DIFFERENCES = "segments of a system", "how hard segments are", "differences of two systems"
BY_DOCUMENT = "differences of two systems, means of documents"


def correlations(scores: Scores, metric: str) -> pd.DataFrame:
    """Take a metric's correlation with human scores apart: within systems, shared by all of them, and on differences.

    Returns metric, what, r (of ``DIFFERENCES`` and ``WITHIN``: the root of the mean squared correlation, over pairs or
    systems; of ``HARD``: of the segments' means over systems), saved (its square: the share of judgements that a metric
    saves at most) and share (of the variance of a system's human scores: what all systems have in common, and what
    differs; missing for means of documents, of which there must be three).

    >>> hard, own = np.array([9.0, 1, 5, 3]), np.array([[1.0, 0, 0, 1], [0, 1, 1, 0]])
    >>> names = tuple("AB"), ("x:1", "x:2", "y:1", "y:2")
    >>> found = correlations(Scores(("m",), *names, (hard - own)[None], hard + own), "m").set_index("what")
    >>> found.loc[[HARD, DIFFERENCES], "saved"].round(2).tolist()
    [1.0, 1.0]
    """
    saved = powered.saved(scores.only([metric])).set_index("what")["saved"]
    whole = (np.isfinite(scores.only([metric]).values[0]) & scores.judged).all(axis=0)
    human, values = scores.human[:, whole], scores.only([metric]).values[0][:, whole]
    spread = np.cov(human)
    common = float((spread.sum() - np.trace(spread)) / (len(spread) - 1) / np.trace(spread))
    hard = float(pearson(values.mean(axis=0), human.mean(axis=0)))
    averaged = by_document(scores, metric)
    enough = len(averaged.segments) > 2
    documents = powered.saved(averaged).set_index("what")["saved"][powered.WHAT[1]] if enough else np.nan
    rows = [
        (WITHIN, saved[powered.WHAT[0]], 1.0),
        (HARD, hard**2, common),
        (DIFFERENCES, saved[powered.WHAT[1]], 1 - common),
        (BY_DOCUMENT, documents, np.nan),
    ]
    table = pd.DataFrame(rows, columns=["what", "saved", "share"])
    table.insert(1, "r", np.sqrt(table["saved"]))
    table.insert(0, "metric", metric)
    return table


def by_document(scores: Scores, metric: str) -> Scores:
    """Average human and metric scores over each document's segments that all systems have."""
    own = scores.only([metric])
    whole = (np.isfinite(own.values[0]) & own.judged).all(axis=0)
    documents = np.array([name.rsplit(":", 1)[0] for name in own.segments], dtype=str)[whole]
    names, codes = np.unique(documents, return_inverse=True)
    member = (codes == np.arange(len(names))[:, None]) / np.bincount(codes)[:, None]
    sides = own.human[:, whole] @ member.T, own.values[:, :, whole] @ member.T
    return replace(own, segments=tuple(map(str, names)), human=sides[0], values=sides[1])
