"""Labels beside the translations that they are about: how often each is given, and which assessments go with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named
from evalkit.stats import inference

#: What the paper says of adequacy (its section 4.3.2), as contrasts: the first label's mean less the second's.
FINDING = (
    ("Contradiction", "Incomprehensible"),
    ("Serious", "Incomprehensible"),
    ("Contradiction", "Unrelated"),
    ("Serious", "Unrelated"),
    ("Incomprehensible", "Unrelated"),
)
#: What a contrast holds constant, in words.
MODELS = {
    "all rows": "nothing",
    "same test set": "the test set and its language pair",
    "same sentence": "the sentence (the reference that both are compared with)",
}


def joined(labels: pd.DataFrame, translations: pd.DataFrame) -> pd.DataFrame:
    """Put each label beside its translation, and name labels by category.

    labels: ratings with dimension and label (codes). translations: rows of ``sudoh-translations``. Returns one row per
    label: KEY, dimension, annotator, label (category), hypothesis, reference, z, split.
    Raises DataError where a file of labels has more or fewer lines than its test set has translations, with the line.
    """
    texts = translations[[*KEY, "hypothesis", "reference", "z", "split"]]
    frame = named(labels)[[*KEY, "dimension", "annotator", "label"]]
    merged = frame.merge(texts, on=KEY, how="left", validate="many_to_one")
    alone = merged["reference"].isna()
    if alone.any():
        row = merged[alone].iloc[0]
        raise DataError(
            f"{row['doc']}, {row['src_lang']}-{row['tgt_lang']}, {row['dimension']} of {row['annotator']}, line "
            f"{row['segment']}: no translation stands on this line. Give as many labels as there are translations."
        )
    sizes = translations.groupby(KEY[:3]).size()
    for where, count in merged.groupby([*KEY[:3], "dimension", "annotator"]).size().items():
        if count < sizes[where[:3]]:
            doc, pair = where[2], f"{where[0]}-{where[1]}"
            raise DataError(
                f"{doc}, {pair}, {where[3]} of {where[4]}: {count} labels for {sizes[where[:3]]} translations; line "
                f"{count + 1} is not labelled. Give as many labels as there are translations."
            )
    return merged


def standing(labels: pd.DataFrame) -> str:
    """Say on which rows a table stands: its test sets, and how many translations.

    >>> twice = pd.DataFrame({"src_lang": ["ces"] * 2, "tgt_lang": "eng", "doc": "newstest2016", "segment": "1"})
    >>> standing(twice)
    'newstest2016 (1)'
    """
    unique = labels.drop_duplicates(KEY)
    return ", ".join(f"{doc} ({count:,})" for doc, count in unique.groupby("doc").size().items())


def alignment(labelled: pd.DataFrame) -> pd.DataFrame:
    """Correlate labels of adequacy with direct assessments in each test set, as they stand and moved by one row.

    labelled: as ``joined`` makes it. Labels count as places in the order of print, averaged over annotators. Returns
    src_lang, tgt_lang, doc, correlation (Spearman), shifted (labels moved by one row: near 0 where rows fit), n.
    """
    place = {name: number for number, name in enumerate(categories("adequacy"), 1)}
    part = labelled[labelled["dimension"] == "adequacy"].assign(place=lambda f: f["label"].map(place).astype(float))
    means = part.groupby(KEY, sort=False)[["place", "z"]].mean().reset_index()
    means = means.iloc[means["segment"].astype(int).argsort(kind="stable")]
    rows = []
    for keys, some in means.groupby(KEY[:3]):
        label, z = some["place"].to_numpy(), some["z"].to_numpy()
        found = (stats.spearmanr(label, z).statistic, stats.spearmanr(np.roll(label, 1), z).statistic)
        rows.append((*keys, *map(float, found), len(some)))
    return pd.DataFrame(rows, columns=[*KEY[:3], "correlation", "shifted", "n"])


def shares(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count labels: each annotator's share of each category, with a 95 % interval.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, share, low, high, count, n, rows; labels that
    were never given have share 0. Intervals are Wilson's with the rows divided by the design effect of sentences that
    recur.  Source: Wilson 1927; Kish 1965 (design effect).
    """
    from statsmodels.stats.proportion import proportion_confint

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
            low, high = proportion_confint(share * size / effect, size / effect, method="wilson")
            rows.append(
                (dimension, annotator, label, share, max(low, 0.0), min(high, 1.0), int(hit.sum()), size, where)
            )
    columns = ["dimension", "annotator", "label", "share", "low", "high", "count", "n", "rows"]
    return pd.DataFrame(rows, columns=columns)


def da_by_label(labelled: pd.DataFrame) -> pd.DataFrame:
    """Average the standardised direct assessments of what an annotator gave each label.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, mean, sd, n, of (the annotator's labels in
    all), low, high, rows; a label that was never given has n 0 and no mean. sd divides by n, as the digits of the
    paper's Tables 6 and 7 demand. low, high: 95 % interval of the mean, robust to sentences that recur
    (see ``contrasts``).
    """
    tables = []
    for (dimension, annotator), part in labelled.groupby(["dimension", "annotator"], sort=False):
        names = categories(dimension)
        found = part.groupby("label")["z"].agg(mean="mean", sd=lambda z: z.std(ddof=0), n="size").reindex(names)
        _, cov, given, sentences = _fit(part, names, None)
        half = pd.Series(np.nan, index=names)
        half[given] = np.sqrt(np.diag(cov)) * stats.t.ppf(0.975, np.maximum(sentences - 1, 1))
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
) -> pd.DataFrame:
    """Test differences of mean direct assessments between labels, annotator by annotator.

    labelled: as ``joined`` makes it. pairs: the first label's mean less the second's. models: what is held constant,
    names in ``MODELS``. by: columns to test apart, such as ``src_lang``.
    Returns [by], model, annotator, label, against, difference, low, high (95 %), t, df, p, p_holm, d, superior, n,
    n_against.
    Errors are robust to sentences that recur (sandwich over references, which occur up to seven times); df is the
    smaller number of sentences of the two labels less one, which is conservative. p is two-sided; p_holm is corrected
    for all tests of one model. d: difference over the pooled sd. superior: the chance that a translation with the first
    label is assessed higher than one with the second (ties half). A contrast that the rows cannot tell has no values.
    Source: Liang & Zeger 1986; Holm 1979; Vargha & Delaney 2000.
    """
    unknown = [name for pair in pairs for name in pair if name not in categories(dimension)]
    if unknown or [name for name in models if name not in MODELS]:
        wrong = unknown[0] if unknown else next(name for name in models if name not in MODELS)
        raise DataError(f"{wrong!r} is no label of {dimension}, or no model. Models are {', '.join(MODELS)}.")
    part = labelled[labelled["dimension"] == dimension]
    rows = []
    for keys, some in part.groupby([*by, "annotator"], sort=False):
        for model in models:
            rows += [(*keys[:-1], model, keys[-1], *row) for row in _contrasted(some, pairs, model, dimension)]
    columns = [*by, "model", "annotator", "label", "against", "difference", "low", "high", "t", "df", "p"]
    found = pd.DataFrame(rows, columns=[*columns, "d", "superior", "n", "n_against"])
    found.insert(len(columns), "p_holm", np.nan)
    for _, some in found.groupby("model"):
        found.loc[some.index, "p_holm"] = inference.adjust(some["p"], method="holm")
    return found


def finding(contrasted: pd.DataFrame) -> pd.DataFrame:
    """Say how clearly contradictions and serious errors are assessed above incomprehensible output.

    contrasted: the result of ``contrasts``. Returns model, tests (those that the rows could tell), above (differences
    above 0), clear (these with a corrected p below 0.05), least and most (the smallest and the largest difference).
    """
    rows = contrasted[contrasted["label"].isin(["Contradiction", "Serious"])]
    rows = rows[rows["against"] == "Incomprehensible"].assign(above=lambda tests: tests["difference"] > 0)
    rows = rows.assign(clear=rows["above"] & rows["p_holm"].lt(0.05))
    return (
        rows.groupby("model", sort=False)
        .agg(
            tests=("difference", "count"),
            above=("above", "sum"),
            clear=("clear", "sum"),
            least=("difference", "min"),
            most=("difference", "max"),
        )
        .reset_index()
    )


def superiority(one: np.ndarray, other: np.ndarray) -> float:
    """Return the chance that a value of one sample lies above one of the other, ties counting half.

    Source: Mann & Whitney 1947; Vargha & Delaney 2000.

    >>> superiority([1, 2], [0, 2])
    0.625
    """
    return float(stats.mannwhitneyu(one, other, method="asymptotic").statistic / (len(one) * len(other)))


def _contrasted(part: pd.DataFrame, pairs: Sequence[tuple[str, str]], model: str, dimension: str) -> list[tuple]:
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
        if not (variance > 0 and df > 0 and np.isfinite(difference)):
            rows.append((label, against, *[np.nan] * 8, n, n_against))
            continue
        se = np.sqrt(variance)
        half, t = stats.t.ppf(0.975, df) * se, difference / se
        pooled = np.sqrt(((n - 1) * one.var(ddof=1) + (n_against - 1) * other.var(ddof=1)) / (n + n_against - 2))
        d = difference / pooled if pooled > 0 else np.nan
        found = difference, difference - half, difference + half, t, float(df), float(2 * stats.t.sf(abs(t), df))
        rows.append((label, against, *found, d, superiority(one, other), n, n_against))
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
