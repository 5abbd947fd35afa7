"""Draw documents anew for all protocols at once, and people anew within each protocol."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from evalkit.stats.inference import in_blocks, interval, unit_counts

#: Maps how often each row was drawn, (batch, rows), to (batch, ...).
Statistic = Callable[[np.ndarray], np.ndarray]


def redrawn(statistic: Statistic, rows: pd.DataFrame, *, resamples: int, seed: int) -> np.ndarray:
    """Draw the bootstrap distribution of a statistic of judgements under several protocols, (resamples, ...).

    rows: protocol, doc, annotator. All protocols judged the same documents, so a draw of documents is one for all of
    them; nobody worked under two protocols, so people are drawn within theirs, and rows without an annotator (those of
    a model, or of scores released without names) follow their documents alone. A row counts as often as its document
    and its person together. Source: Owen 2007; ``stats.inference.resample`` for a single protocol.
    Caveat: with about ten people a protocol, intervals say little about people of another kind; and noise that belongs
    to neither person nor document counts three times, so they are rather too wide than too narrow.

    >>> judged = pd.DataFrame({"protocol": "A", "doc": ["x", "x", "y"], "annotator": ["1", "2", "1"]})
    >>> redrawn(lambda times: times.sum(1), judged, resamples=2, seed=7).shape
    (2,)
    """
    documents, document = _coded(rows["doc"])
    named = np.flatnonzero(rows["annotator"].notna())
    protocol = rows["protocol"].astype("str").to_numpy()
    crews = [named[protocol[named] == name] for name in np.unique(protocol[named])]
    people = [(crew, *_coded(rows["annotator"].iloc[crew])) for crew in crews]

    def drawn(batch: int, rng: np.random.Generator) -> np.ndarray:
        times = unit_counts(documents, batch, rng)[:, document]
        for crew, size, person in people:
            times[:, crew] *= unit_counts(size, batch, rng)[:, person]
        return statistic(times)

    return np.concatenate(list(in_blocks(drawn, resamples, seed=seed, numbers=2 * len(rows))))


def with_interval(statistic: Statistic, rows: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
    """Return a statistic's estimates with their 95 % percentile intervals: estimate, low, high, a row a value.

    statistic, rows: see ``redrawn``; the statistic gives (batch, values). Draws without a value are left out.

    >>> judged = pd.DataFrame({"protocol": "A", "doc": ["x", "y"], "annotator": ["1", "1"]})
    >>> with_interval(lambda times: times @ [[1.0], [3.0]] / 2, judged, resamples=99, seed=7).round(1).values.tolist()
    [[2.0, 1.0, 3.0]]
    """
    [estimate] = statistic(np.ones((1, len(rows))))
    draws = redrawn(statistic, rows, resamples=resamples, seed=seed)
    known = [column[np.isfinite(column)] for column in draws.T]
    ends = [interval(column) if len(column) else (np.nan, np.nan) for column in known]
    low, high = np.array(ends, float).reshape(-1, 2).T
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high})


def covariances(columns: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the covariance matrices of columns under each weighting of rows, (batch, columns, columns).

    columns: (rows, columns). times: (batch, rows). NaN where no row is drawn.

    >>> covariances(np.array([[1.0, 2], [3, 6]]), np.array([[1.0, 1]]))[0].tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """
    centred = columns - columns.mean(axis=0)  # little is lost by cancellation then
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = times / times.sum(axis=1, keepdims=True)
    means = shares @ centred
    products = shares @ (centred[:, :, None] * centred[:, None, :]).reshape(len(centred), -1)
    return products.reshape(-1, *2 * centred.shape[1:]) - means[:, :, None] * means[:, None, :]


def _coded(labels: pd.Series) -> tuple[int, np.ndarray]:
    """Count the labels, and number each row's."""
    distinct, codes = np.unique(labels.astype("str").to_numpy(), return_inverse=True)
    return len(distinct), codes
