"""Compare how often annotators give each label, and which direct assessments go with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.papers.sudoh2021.matching import standing
from evalkit.papers.sudoh2021.taxonomy import KEY, categories
from evalkit.stats import inference

#: What the paper says of adequacy (its section 4.3.2), as contrasts: the first label's mean less the second's.
FINDING = (
    ("Contradiction", "Incomprehensible"), ("Serious", "Incomprehensible"), ("Contradiction", "Unrelated"),
    ("Serious", "Unrelated"), ("Incomprehensible", "Unrelated"),
)  # fmt: skip
#: What a contrast holds constant, in words.
MODELS = {
    "all rows": "nothing",
    "same test set": "the test set and its language pair",
    "same sentence": "the sentence (the reference that both are compared with)",
}


def shares(labelled: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Count labels: each annotator's share of each category, with an interval.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, share, low, high, count, n, rows; labels that
    were never given have share 0. Intervals are Wilson's with the rows divided by the design effect of sentences that
    recur.  Source: Wilson 1927; Kish 1965 (design effect).
    """
    rows = []
    for (dimension, annotator), part in labelled.groupby(["dimension", "annotator"], sort=False):
        sentence = pd.factorize(part["reference"])[0]
        where = standing(part)
        for label in categories(dimension):
            hit = part["label"].eq(label).to_numpy()
            share, size = hit.mean(), len(part)
            simple = share * (1 - share) / size
            robust = float((np.bincount(sentence, weights=hit - share) ** 2).sum()) / size**2
            effect = max(1.0, robust / simple) if simple > 0 else 1.0
            low, high = _wilson(share, size / effect, level)
            rows.append((dimension, annotator, label, share, low, high, int(hit.sum()), size, where))
    columns = ["dimension", "annotator", "label", "share", "low", "high", "count", "n", "rows"]
    return pd.DataFrame(rows, columns=columns)


def da_by_label(labelled: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Average the standardised direct assessments of what an annotator gave each label.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, mean, sd, n, of (the annotator's labels in
    all), low, high, rows; a label that was never given has n 0 and no mean. sd divides by n, as the digits of the
    paper's Tables 6 and 7 demand. low, high: interval of the mean, robust to sentences that recur (see ``contrasts``).
    """
    tables = []
    for (dimension, annotator), part in labelled.groupby(["dimension", "annotator"], sort=False):
        names = categories(dimension)
        found = part.groupby("label")["z"].agg(mean="mean", sd=lambda z: z.std(ddof=0), n="size").reindex(names)
        _, cov, given, sentences = _fit(part, names, None)
        half = pd.Series(np.nan, index=names)
        half[given] = np.sqrt(np.diag(cov)) * stats.t.ppf((1 + level) / 2, np.maximum(sentences - 1, 1))
        half = half.where(found["n"] > 1)
        found = found.assign(low=found["mean"] - half, high=found["mean"] + half, of=len(part), rows=standing(part))
        found["n"] = found["n"].fillna(0).astype(int)
        found.insert(0, "dimension", dimension)
        found.insert(1, "annotator", annotator)
        tables.append(found.reset_index(names="label"))
    columns = ["dimension", "annotator", "label", "mean", "sd", "n", "of", "low", "high", "rows"]
    return pd.concat(tables, ignore_index=True)[columns]


def contrasts(
    labelled: pd.DataFrame,
    *,
    pairs: Sequence[tuple[str, str]] = FINDING,
    dimension: str = "adequacy",
    models: Sequence[str] = tuple(MODELS),
    by: Sequence[str] = (),
    level: float = 0.95,
) -> pd.DataFrame:
    """Test differences of mean direct assessments between labels, annotator by annotator.

    labelled: as ``joined`` makes it. pairs: the first label's mean less the second's. models: what is held constant,
    names in ``MODELS``. by: columns to test apart, such as ``src_lang``.
    Returns [by], model, annotator, label, against, difference, low, high, t, df, p, p_holm, d, superior, n, n_against.
    Errors are robust to sentences that recur (sandwich over references, which occur up to seven times); df is the
    smaller number of sentences of the two labels less one, which is conservative. p is two-sided; p_holm is corrected
    for all tests of one model. d: difference over the pooled sd. superior: the chance that a translation with the first
    label is assessed higher than one with the second (ties half). A contrast that the rows cannot tell has no values.
    Source: Liang & Zeger 1986; Holm 1979; Vargha & Delaney 2000.
    """
    unknown = [name for pair in pairs for name in pair if name not in categories(dimension)]
    if unknown or [name for name in models if name not in MODELS]:
        told = unknown[0] if unknown else next(name for name in models if name not in MODELS)
        raise DataError(f"{told!r} is no label of {dimension}, or no model. Models are {', '.join(MODELS)}.")
    part = labelled[labelled["dimension"] == dimension]
    rows = []
    for keys, some in part.groupby([*by, "annotator"], sort=False):
        for model in models:
            rows += [(*keys[:-1], model, keys[-1], *row) for row in _contrasted(some, pairs, model, dimension, level)]
    columns = [*by, "model", "annotator", "label", "against", "difference", "low", "high", "t", "df", "p"]
    found = pd.DataFrame(rows, columns=[*columns, "d", "superior", "n", "n_against"])
    found.insert(len(columns), "p_holm", np.nan)
    for _, some in found.groupby("model"):
        found.loc[some.index, "p_holm"] = inference.adjust(some["p"], method="holm")
    return found


def _contrasted(part: pd.DataFrame, pairs: Sequence[tuple[str, str]], model: str, dimension: str, level: float) -> list:
    """Compute the contrasts of one annotator under one model."""
    names = categories(dimension)
    within = {
        "all rows": None,
        "same test set": part.groupby(KEY[:3]).ngroup().to_numpy(),
        "same sentence": pd.factorize(part["reference"])[0],
    }[model]
    beta, cov, given, sentences = _fit(part, names, within)
    place = {name: i for i, name in enumerate(given)}
    rows = []
    for label, against in pairs:
        one, other = (part.loc[part["label"] == name, "z"].to_numpy() for name in (label, against))
        n, n_against = len(one), len(other)
        if min(n, n_against) < 2:
            rows.append((label, against, *[np.nan] * 8, n, n_against))
            continue
        weights = np.zeros(len(given))
        weights[[place[label], place[against]]] = 1, -1
        difference, variance = float(weights @ beta), float(weights @ cov @ weights)
        df = min(sentences[place[label]], sentences[place[against]]) - 1
        estimable = variance > 0 and df > 0 and np.isfinite(difference)
        se = np.sqrt(variance) if estimable else np.nan
        half = stats.t.ppf((1 + level) / 2, df) * se if estimable else np.nan
        t = difference / se if estimable else np.nan
        p = float(2 * stats.t.sf(abs(t), df)) if estimable else np.nan
        pooled = np.sqrt(((n - 1) * one.var(ddof=1) + (n_against - 1) * other.var(ddof=1)) / (n + n_against - 2))
        superior = stats.mannwhitneyu(one, other, method="asymptotic").statistic / (n * n_against)
        d = difference / pooled if pooled > 0 and estimable else np.nan
        found = (difference, difference - half, difference + half, t, float(df), p, d, float(superior))
        rows.append((label, against, *(found if estimable else [np.nan] * 8), n, n_against))
    return rows


def _fit(
    part: pd.DataFrame, names: Sequence[str], within: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray]:
    """Regress z on labels, with effects of groups taken out if asked; errors clustered by sentence.

    Returns coefficients, their covariance, the labels that occur, and the number of sentences behind each label
    (with groups taken out: those whose group also holds another label, for others say nothing).
    """
    given = [name for name in names if part["label"].eq(name).any()]
    x = (part["label"].to_numpy()[:, None] == np.array(given, dtype=object)).astype(float)
    z = part["z"].to_numpy(float)
    sentence = pd.factorize(part["reference"])[0]
    telling = np.ones(len(z), bool)
    if within is not None:
        size = np.bincount(within)
        share = _sums(x, within) / size[:, None]
        x = x - share[within]
        z = z - (np.bincount(within, weights=z) / size)[within]
        telling = share.max(axis=1)[within] < 1
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    beta = inverse @ (x.T @ z)
    scores = _sums(x * (z - x @ beta)[:, None], sentence)
    groups = len(scores)
    cov = inverse @ (scores.T @ scores) @ inverse * (groups / max(groups - 1, 1))
    marked = [part["label"].eq(name).to_numpy() & telling for name in given]
    return beta, cov, given, np.array([len(np.unique(sentence[rows])) for rows in marked])


def _sums(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Sum the rows of each group."""
    total = np.zeros((groups.max() + 1, values.shape[1]))
    np.add.at(total, groups, values)
    return total


def _wilson(share: float, size: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    q = stats.norm.ppf((1 + level) / 2)
    middle = (share + q**2 / (2 * size)) / (1 + q**2 / size)
    half = q / (1 + q**2 / size) * np.sqrt(share * (1 - share) / size + q**2 / (4 * size**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Average shares over annotators, each with the rows that they labelled; ``annotator`` reads "average".

    table: as ``shares`` makes it. n is the smallest number of rows of an annotator.

    >>> two = pd.DataFrame({"dimension": "fluency", "annotator": ["A", "B"], "label": "Poor", "share": [0.1, 0.3],
    ...                     "n": [9, 5], "rows": ["all", "some"]})
    >>> averages(two)[["annotator", "label", "share", "n"]].to_dict("records")
    [{'annotator': 'average', 'label': 'Poor', 'share': 0.2, 'n': 5}]
    """
    found = table.groupby(["dimension", "label"], sort=False).agg(share=("share", "mean"), n=("n", "min")).reset_index()
    found.insert(1, "annotator", "average")
    return found.assign(rows="each annotator's rows")
