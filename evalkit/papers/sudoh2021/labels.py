"""The labels of Sudoh et al. 2021 beside the translations that they are about: how often each is given, which direct
assessments go with it, and how far annotators agree.

Explanations of labels are the paper's own words (Tables 2 and 3). F means two things, so every table that is shown
names labels by their category.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError, data
from evalkit.stats import agreement, inference

#: Columns that name one labelled translation.
KEY = ["src_lang", "tgt_lang", "doc", "segment"]
#: Ways to put the labels of a dimension in order, worst first, in words.
ORDERS = {
    "print": "the order of the paper's Tables 2 and 3",
    "severity": "the order of the paper's footnote 14, by which it settles disagreement",
}
#: Adequacy labels that the paper calls critical content errors. Incomprehensible output is named apart from them.
CRITICAL = ("Unrelated", "Contradiction", "Serious")
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
_PAIR_MEASURES = [("cohen_kappa", "none"), ("percent_agreement", "none")]
#: Coefficients of agreement as pages call them.
_NAMES = {"fleiss_kappa": "Fleiss' kappa", "percent_agreement": "percent agreement"}


class Tables(NamedTuple):
    """The numbers of the paper's tables of one dimension: how often, how assessed, and how predicted each label is."""

    shares: int
    means: int
    counts: int
    confusion: int
    scores: int


TABLES = {"fluency": Tables(4, 6, 9, 11, 12), "adequacy": Tables(5, 7, 10, 13, 14)}


def _read() -> dict[str, pd.DataFrame]:
    """Read the labels of both dimensions, in the order of print."""
    rows = data.published("sudoh2021_labels").astype({"severity": int})
    rows["print"] = rows.groupby("dimension").cumcount() + 1
    rows["critical"] = rows["critical"].eq("yes")
    columns = ["code", "category", "print", "severity", "critical", "explanation"]
    return {name: own[columns].reset_index(drop=True) for name, own in rows.groupby("dimension", sort=False)}


#: Dimension -> its labels: code, category, print and severity (places from 1, the worst), critical, explanation.
TAXONOMIES = _read()


def places(dimension: str, *, order: str = "severity") -> dict[str, int]:
    """Number the codes of a dimension from 1, the worst, in one of ``ORDERS``.

    >>> places("adequacy")
    {'C': 1, 'F': 2, 'N': 3, 'O': 4, 'B': 5, 'A': 6, 'S': 7}
    """
    table = TAXONOMIES[dimension].sort_values(order)
    return dict(zip(table["code"].tolist(), table[order].tolist(), strict=True))


def categories(dimension: str, *, order: str = "print") -> list[str]:
    """List the categories of a dimension, worst first.

    >>> categories("fluency")
    ['Incomprehensible', 'Poor', 'Fair', 'Good', 'Excellent']
    """
    names = TAXONOMIES[dimension].set_index("code")["category"]
    return [names[code] for code in places(dimension, order=order)]


def named(labels: pd.DataFrame) -> pd.DataFrame:
    """Replace the codes in ``label`` by their categories, each row by the rules of its ``dimension``.

    >>> named(pd.DataFrame({"dimension": ["fluency", "adequacy"], "label": ["F", "F"]}))["label"].tolist()
    ['Incomprehensible', 'Serious']
    """
    known = {(dim, code): name for dim, t in TAXONOMIES.items() for code, name in zip(t["code"], t["category"])}
    return labels.assign(label=[known[key] for key in zip(labels["dimension"], labels["label"], strict=True)])


def joined(labels: pd.DataFrame, translations: pd.DataFrame) -> pd.DataFrame:
    """Put each label beside its translation, and name labels by category.

    labels: ratings with dimension and label (codes). translations: rows of ``sudoh-translations``. Returns one row per
    label: KEY, dimension, annotator, label (category), hypothesis, reference, z, split.
    Raises DataError for a label of a line that has no translation.
    """
    texts = translations[[*KEY, "hypothesis", "reference", "z", "split"]]
    merged = named(labels)[[*KEY, "dimension", "annotator", "label"]].merge(texts, on=KEY, how="left")
    if (lost := merged["reference"].isna()).any():
        place = ", ".join(merged.loc[lost, KEY].iloc[0])
        raise DataError(f"{place}: a label without a translation. Load labels and translations of one release.")
    return merged


def standing(labels: pd.DataFrame) -> str:
    """Say on which rows a table stands: its test sets, and how many translations.

    >>> twice = pd.DataFrame({"src_lang": ["ces"] * 2, "tgt_lang": "eng", "doc": "newstest2016", "segment": "1"})
    >>> standing(twice)
    'newstest2016 (1)'
    """
    unique = labels.drop_duplicates(KEY)
    return ", ".join(f"{doc} ({count:,})" for doc, count in unique.groupby("doc").size().items())


def shares(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count labels: each annotator's share of each category, with a 95 % interval.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, share, low, high, count, n, rows; labels that
    were never given have share 0. Intervals are Wilson's with the rows divided by the design effect of sentences that
    recur.  Source: Wilson 1927; Kish 1965 (design effect).
    """
    from statsmodels.stats.proportion import proportion_confint

    tables = {}
    for (dimension, annotator), part in labelled.groupby(["dimension", "annotator"], sort=False):
        hits = pd.get_dummies(part["label"]).reindex(columns=categories(dimension), fill_value=False).astype(float)
        share, size = hits.mean(), len(part)
        robust = (hits - share).groupby(part["reference"]).sum().pow(2).sum() / size**2
        effect = (robust * size / (share * (1 - share))).fillna(1.0).clip(lower=1.0)
        low, high = proportion_confint(share * size / effect, size / effect, method="wilson")
        table = pd.DataFrame({"share": share, "low": low.clip(lower=0.0), "high": high.clip(upper=1.0)})
        table = table.assign(count=hits.sum().astype(int), n=size, rows=standing(part))
        tables[dimension, annotator] = table.rename_axis("label")
    return pd.concat(tables, names=["dimension", "annotator"]).reset_index()


def da_by_label(labelled: pd.DataFrame) -> pd.DataFrame:
    """Average the standardised direct assessments of what an annotator gave each label.

    labelled: as ``joined`` makes it. Returns dimension, annotator, label, mean, sd, n, of (the annotator's labels in
    all), low, high, rows; a label that was never given has n 0 and no mean. sd divides by n, as the digits of the
    paper's Tables 6 and 7 demand. low, high: 95 % interval of the mean, robust to sentences that recur
    (see ``contrasts``).
    """
    tables = {}
    for (dimension, annotator), part in labelled.groupby(["dimension", "annotator"], sort=False):
        table = part.groupby("label")["z"].agg(mean="mean", sd=lambda z: z.std(ddof=0), n="size")
        table = table.reindex(categories(dimension))
        _, cov, sentences = _fit(part, categories(dimension))
        half = np.sqrt(np.diag(cov)) * stats.t.ppf(0.975, np.maximum(sentences - 1, 1))
        half = pd.Series(half, index=cov.index).reindex(table.index).where(table["n"] > 1)
        table = table.assign(low=table["mean"] - half, high=table["mean"] + half, of=len(part), rows=standing(part))
        tables[dimension, annotator] = table.assign(n=table["n"].fillna(0).astype(int))
    found = pd.concat(tables, names=["dimension", "annotator"]).reset_index()
    return found[["dimension", "annotator", "label", "mean", "sd", "n", "of", "low", "high", "rows"]]


def contrasts(labelled: pd.DataFrame, *, models: Sequence[str] = tuple(MODELS)) -> pd.DataFrame:
    """Test the differences of mean direct assessments in ``FINDING``, annotator by annotator.

    labelled: as ``joined`` makes it. models: what is held constant, names in ``MODELS``.
    Returns model, annotator, label, against, difference, low, high (95 %), t, df, p, p_holm, n, n_against.
    Errors are robust to sentences that recur (sandwich over references, which occur up to seven times); df is the
    smaller number of sentences of the two labels less one, which is conservative. p is two-sided; p_holm is corrected
    for all tests of one model. A contrast that the rows cannot tell has no values.
    Source: Liang & Zeger 1986; Holm 1979.
    """
    part = labelled[labelled["dimension"] == "adequacy"]
    rows = []
    for annotator, some in part.groupby("annotator", sort=False):
        for model in models:
            rows += [{"annotator": annotator, "model": model} | row for row in _contrasted(some, model)]
    columns = ["model", "annotator", "label", "against", "difference", "low", "high", "t", "df", "p", "p_holm"]
    found = pd.DataFrame(rows).reindex(columns=[*columns, "n", "n_against"])
    for _, some in found.groupby("model"):
        found.loc[some.index, "p_holm"] = inference.adjust(some["p"], method="holm")
    return found


def _contrasted(part: pd.DataFrame, model: str) -> Iterator[dict]:
    """Compute the contrasts of one annotator under one model; without values where the rows cannot tell."""
    groups = {"all rows": None, "same test set": KEY[:3], "same sentence": ["reference"]}[model]
    beta, cov, sentences = _fit(part, categories("adequacy"), groups)
    for label, against in FINDING:
        n, n_against = (int(part["label"].eq(name).sum()) for name in (label, against))
        row = {"label": label, "against": against, "n": n, "n_against": n_against}
        error, df = 0.0, 0
        if min(n, n_against) > 1:
            variance = cov.at[label, label] + cov.at[against, against] - 2 * cov.at[label, against]
            error, df = np.sqrt(max(variance, 0)), min(sentences[label], sentences[against]) - 1
        if error > 0 and df > 0:
            difference = beta[label] - beta[against]
            low, high = stats.t.interval(0.95, df, difference, error)
            row |= {"difference": difference, "low": low, "high": high, "t": difference / error, "df": float(df)}
            row["p"] = float(2 * stats.t.sf(abs(difference / error), df))
        yield row


def _fit(
    part: pd.DataFrame, names: Sequence[str], groups: list[str] | None = None
) -> tuple[pd.Series, pd.DataFrame, pd.Series]:
    """Regress z on labels, with effects of groups taken out if asked; errors clustered by sentence.

    Returns coefficients, their covariance, and the number of sentences behind each label that occurs (with groups taken
    out: those whose group also holds another label, for others say nothing). Why not statsmodels, which is the oracle
    in the tests: with groups taken out the labels' columns sum to 0, of which it warns.
    """
    given = [name for name in names if part["label"].eq(name).any()]
    table = pd.get_dummies(part["label"])[given].astype(float).assign(z=part["z"].astype(float))
    telling = part
    if groups is not None:
        table = table - table.groupby([part[name] for name in groups]).transform("mean")
        telling = part[part.groupby(groups)["label"].transform("nunique") > 1]
    x, z = table[given].to_numpy(), table["z"].to_numpy()
    inverse = np.linalg.pinv(x.T @ x, hermitian=True)
    beta = inverse @ (x.T @ z)
    scores = table[given].mul(z - x @ beta, axis=0).groupby(part["reference"]).sum().to_numpy()
    cov = inverse @ (scores.T @ scores) @ inverse * len(scores) / max(len(scores) - 1, 1)
    sentences = telling.groupby("label")["reference"].nunique().reindex(given, fill_value=0)
    return pd.Series(beta, index=given), pd.DataFrame(cov, index=given, columns=given), sentences


def finding(contrasted: pd.DataFrame) -> pd.DataFrame:
    """Say how clearly contradictions and serious errors are assessed above incomprehensible output.

    contrasted: the result of ``contrasts``. Returns model, tests (those that the rows could tell), above (differences
    above 0), clear (these with a corrected p below 0.05), least and most (the smallest and the largest difference).
    """
    rows = contrasted[contrasted["label"].isin(["Contradiction", "Serious"])]
    rows = rows[rows["against"] == "Incomprehensible"].assign(above=lambda tests: tests["difference"] > 0)
    rows = rows.assign(clear=rows["above"] & rows["p_holm"].lt(0.05))
    kinds = {"tests": "count", "above": "sum", "clear": "sum", "least": "min", "most": "max"}
    agg = {name: (name if name in rows else "difference", kind) for name, kind in kinds.items()}
    return rows.groupby("model", sort=False).agg(**agg).reset_index()


def overall(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Estimate Fleiss' kappa and Krippendorff's alpha of each dimension, with bootstrap intervals over translations.

    labels: one row per label given, with the columns of ``KEY``, dimension, annotator and label (a code). Only
    translations that every annotator of the table labelled count. Alpha is nominal, then ordinal under each order of
    the labels (once, where the orders are the same).
    Returns dimension, annotators ("A-B-C"), coefficient, order (empty for coefficients without one), estimate, low,
    high, n.  Caveat: translations of one sentence by several systems are taken as independent, so intervals are narrow.
    """
    rows = []
    for dimension, table in _whole(labels):
        orders = ORDERS if places(dimension, order="print") != places(dimension) else ["print"]
        tried = [("", "Fleiss' kappa", "fleiss_kappa", "none"), ("", "nominal alpha", "krippendorff_alpha", "nominal")]
        tried += [(order, "ordinal alpha", "krippendorff_alpha", "ordinal") for order in orders]
        for order, name, coefficient, level in tried:
            placed = table.map(places(dimension, order=order or "severity").get)
            found = agreement.coefficients(placed, measures=[(coefficient, level)], resamples=resamples, seed=seed)
            rows.append(_arranged(found.assign(coefficient=name, order=order), dimension, table))
    return pd.concat(rows, ignore_index=True)


def on_criticality(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7, by: str | None = None) -> pd.DataFrame:
    """Estimate agreement on one question of adequacy: is there a critical content error or not?

    Arguments as in ``overall``. by: a column such as src_lang, for an estimate per group (``group``; all together is
    "all"). Columns as in ``overall`` with group, and share, the mean share of labels that say critical. Where only one
    answer occurs, the estimate is missing.
    """
    only = labels[labels["dimension"] == "adequacy"]
    groups = {"all": only} | ({str(name): part for name, part in only.groupby(by)} if by else {})
    codes, rows = set(TAXONOMIES["adequacy"].query("critical")["code"]), []
    for group, part in groups.items():
        for dimension, table in _whole(part):
            said = table.isin(codes).astype(float)
            share = float(said.to_numpy().mean())
            found = pd.DataFrame({"coefficient": ["fleiss_kappa"], "estimate": np.nan, "low": np.nan, "high": np.nan})
            if 0 < share < 1:
                measures = [(name, "none") for name in _NAMES]
                found = agreement.coefficients(said, measures=measures, resamples=resamples, seed=seed)
            found = found.assign(order="", coefficient=found["coefficient"].map(_NAMES))
            rows.append(_arranged(found, dimension, table).assign(share=share))
            rows[-1].insert(0, "group", group)
    return pd.concat(rows, ignore_index=True)


def pairwise(labels: pd.DataFrame, *, resamples: int = 500, seed: int = 7, shared: bool = False) -> pd.DataFrame:
    """Measure the agreement of every two annotators, with bootstrap intervals over translations.

    labels: ratings with dimension and label (codes). shared: only translations that all annotators of a dimension
    labelled, so that pairs can be compared with each other.
    Returns dimension, pair (``A-B``), kappa, kappa_low, kappa_high, concordance (share of equal labels),
    concordance_low, concordance_high, n, rows. Two annotators who labelled nothing in common have no row.
    Source: Cohen 1960.  Caveat: kappa treats all differences alike.
    """
    rows = []
    for dimension in labels["dimension"].unique():
        table = _by_annotator(labels, dimension)
        table = table.dropna() if shared else table
        options: dict[str, Any] = {"categories": categories(dimension), "resamples": resamples, "seed": seed}
        found = agreement.pairwise(table, measures=_PAIR_MEASURES, **options)
        for (a, b), own in found[found["items"] > 0].groupby(["annotator_a", "annotator_b"], sort=False):
            values = own[["estimate", "low", "high"]].to_numpy().ravel()
            both = table[[a, b]].dropna()
            rows.append((dimension, f"{a}-{b}", *values, len(both), standing(both.reset_index())))
    measured = [f"{name}{end}" for name in ("kappa", "concordance") for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=["dimension", "pair", *measured, "n", "rows"])


def confusion_between(labels: pd.DataFrame, *, dimension: str = "adequacy") -> pd.DataFrame:
    """Count which labels every two annotators gave the same translations.

    Returns pair (``A-B``), first (label of A), second (of B), count, first_annotator, second_annotator, share (of A's
    label that B called so; missing where A never used it), dimension; all combinations of labels have a row, worst
    labels first.
    """
    table, names, parts = _by_annotator(labels, dimension), categories(dimension), {}
    for a, b in itertools.combinations(table.columns, 2):
        counts = pd.crosstab(table[a], table[b]).reindex(index=names, columns=names, fill_value=0)
        counts = counts.rename_axis(index="first", columns="second").stack().rename("count").to_frame()
        parts[f"{a}-{b}"] = counts.assign(first_annotator=a, second_annotator=b)
    long = pd.concat(parts, names=["pair"]).reset_index()
    total = long.groupby(["pair", "first"])["count"].transform("sum")
    return long.assign(share=long["count"] / total.where(total > 0), dimension=dimension)


def _whole(labels: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Go through the dimensions: name, and codes by translation and annotator without gaps."""
    for dimension in [name for name in TABLES if labels["dimension"].eq(name).any()]:
        wide = labels[labels["dimension"] == dimension].pivot(index=KEY, columns="annotator", values="label").dropna()
        if wide.shape[1] < 2 or wide.empty:
            raise DataError(f"{dimension}: no translation has labels by two annotators or more. Choose others.")
        yield dimension, wide


def _arranged(found: pd.DataFrame, dimension: str, table: pd.DataFrame) -> pd.DataFrame:
    """Arrange estimates in the columns of a result."""
    named = found.assign(dimension=dimension, annotators="-".join(map(str, table.columns)), n=len(table))
    return named[["dimension", "annotators", "coefficient", "order", "estimate", "low", "high", "n"]]


def _by_annotator(labels: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Pivot one dimension to translations × annotators, with categories in the cells."""
    part = named(labels[labels["dimension"] == dimension])
    return part.pivot(index=KEY, columns="annotator", values="label")
