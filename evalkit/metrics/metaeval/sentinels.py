"""Metrics that cannot know how good a translation is, because they see too little: the floor of each statistic.

A statistic that gives them a high value rewards something else than telling good translations from bad ones, such as
knowing which segments are hard. Source: Perrella et al. 2024, "Guardians of the machine translation meta-evaluation",
whose sentinels are large models trained on other years; these are a regression on eight counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit.data.schemas import ITEM
from evalkit.metrics.metaeval.chance import every_statistic, lengths
from evalkit.metrics.metaeval.correlations import by_unit, pair_differences
from evalkit.metrics.metaeval.scores import Scores, averaged
from evalkit.stats.terms import join_names

#: What each sentinel sees.
SEES = {
    "source length": "the number of characters of the source; shorter counts as better",
    "length": "the number of characters of the translation; longer counts as better",
    "source only": "eight counts of the source, weighted to fit human scores of other documents",
    "output only": "the same counts of the translation",
}
#: What names a statistic.
STATISTIC = ["level", "statistic", "grouping"]
#: The statistics of a figure, and how they are written.
WORDS = {
    ("system", "pearson", "none"): "Pearson's r of systems",
    ("system", "accuracy_3way", "none"): "accuracy of systems",
    ("system", "spa", "none"): "SPA",
    ("segment", "pearson", "none"): "Pearson's r over all segments",
    ("segment", "pearson", "system"): "Pearson's r within systems",
    ("segment", "pearson", "item"): "Pearson's r within segments",
    ("segment", "kendall_b", "none"): "Kendall's τ-b over all segments",
    ("segment", "kendall_b", "item"): "Kendall's τ-b within segments",
    ("segment", "pearson_differences", "item"): "Pearson's r of differences",
    ("segment", "acc_eq", "item"): "accuracy with ties (acc_eq)",
    ("document", "pearson", "none"): "Pearson's r over all documents",
    ("document", "pearson", "item"): "Pearson's r within documents",
}
_FOLDS = 5
_RIDGE = 1.0
_KEYS = ["src_lang", "tgt_lang", *ITEM]


def features(texts: pd.Series) -> np.ndarray:
    """Count what can be counted of a text without reading it: texts × 8.

    Logarithms of its numbers of characters and of words, characters per word, and the shares of digits, capitals,
    punctuation, characters outside ASCII, and of the marks # and @.

    >>> features(pd.Series(["Go to 10!"])).round(2).tolist()
    [[2.3, 1.39, 3.0, 0.22, 0.11, 0.11, 0.0, 0.0]]
    """
    texts = texts.fillna("").astype("str")
    size = texts.str.len().to_numpy(float)
    words = texts.str.split().str.len().to_numpy(float)
    some = np.maximum(size, 1)
    classes = (r"[0-9]", r"[A-ZÄÖÜ]", r"[^\w\s]", r"[^\x00-\x7f]", r"[#@]")
    shares = [texts.str.count(each).to_numpy(float) / some for each in classes]
    return np.column_stack([np.log1p(size), np.log1p(words), size / np.maximum(words, 1), *shares])


def cross_validated(inputs: np.ndarray, target: np.ndarray, documents: Sequence[str]) -> np.ndarray:
    """Predict each row from a ridge regression on the rows of other documents; rows without a target get one, too.

    inputs: rows × features; target: one for each row, NaN where there is none. Documents are dealt to five parts in the
    order of their names; a single document leaves nothing to learn from, and the prediction is NaN.
    """
    part = pd.factorize(pd.Series(documents, dtype=object), sort=True)[0] % _FOLDS
    found = np.full(len(target), np.nan)
    for held_out in np.unique(part):
        train = (part != held_out) & np.isfinite(target)
        if train.sum() > 1:
            mean, spread = inputs[train].mean(axis=0), inputs[train].std(axis=0)
            scaled = (inputs - mean) / np.where(spread > 0, spread, 1)
            x, level = scaled[train], target[train].mean()
            weights = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ (target[train] - level))
            found[part == held_out] = level + scaled[part == held_out] @ weights
    return found


def sentinels(outputs: pd.DataFrame, human_scores: pd.DataFrame) -> pd.DataFrame:
    """Score translations of one language pair by every metric of ``SEES``: columns as of scores of segments.

    outputs: src_lang, tgt_lang, system, doc, segment, source, hypothesis. human_scores: one kind, of the same pair; the
    regressions learn from those of other documents.
    """
    keys = [name for name in _KEYS if name in outputs]
    table = outputs.astype(dict.fromkeys(keys, "str"))
    people = human_scores[[*keys, "score"]].astype(dict.fromkeys(keys, "str"))
    target = table[keys].merge(people, on=keys, how="left")["score"].to_numpy(float)
    names = table[keys]
    own = {"source length": -table["source"].fillna("").str.len().to_numpy(float)}
    for name, column in (("source only", "source"), ("output only", "hypothesis")):
        distinct, place = np.unique(table[column].fillna("").to_numpy(object), return_inverse=True)
        own[name] = cross_validated(features(pd.Series(distinct))[place], target, table["doc"].tolist())
    parts = [names.assign(metric=name, score=score) for name, score in own.items()]
    return pd.concat([*parts, lengths(table)[[*keys, "metric", "score"]]], ignore_index=True).dropna(subset=["score"])


def every_grouping(
    segments: Scores, domains: Mapping[str, str] | None = None, *, systems: Scores | None = None, seed: int = 7
) -> pd.DataFrame:
    """Evaluate metrics by all statistics, and besides by differences within pairs, by documents and by domains.

    segments: names of segments begin with their document (``document:segment``). domains: document -> domain.
    systems: the metrics' own scores of systems; None: means over the segments that people judged.
    Returns level (system, segment, document, domain), statistic, grouping, metric, value. By one domain alone, and
    where a document is a segment, nothing new is said, and rows are left out.
    """
    documents = [name.rsplit(":", 1)[0] for name in segments.segments]
    whole = averaged(segments, ["all"] * len(documents))
    whole = Scores(whole.metrics, whole.systems, ("",), whole.values, whole.human) if systems is None else systems
    tables = [every_statistic(whole, segments, seed=seed), pair_differences(segments)]
    if 1 < len(set(documents)) < len(documents):
        tables.append(by_unit(segments, documents, level="document"))
    of = [(domains or {}).get(name, "") for name in documents]
    if len(set(of)) > 1:
        tables.append(by_unit(segments, of, level="domain"))
    return pd.concat(tables, ignore_index=True)[[*STATISTIC, "metric", "value"]]


def floor(metrics: pd.DataFrame, floors: pd.DataFrame) -> pd.DataFrame:
    """Say how many metrics a sentinel is above, by each statistic.

    metrics, floors: results of ``every_grouping`` for real metrics and for sentinels. A statistic that a sentinel has
    no value for counts as 0, as in WMT: within a segment, what sees only the source gives all translations one score.
    Returns level, statistic, grouping, sentinel, value, above (metrics below it), metrics, share.
    """
    rows = []
    for key, own in floors.groupby(STATISTIC, sort=False):
        real = metrics[(metrics[STATISTIC] == list(key)).all(axis=1)]["value"].dropna().to_numpy()
        for sentinel, value in own[["metric", "value"]].fillna({"value": 0.0}).itertuples(index=False):
            rows.append((*key, sentinel, value, int((real < value).sum()), len(real)))
    found = pd.DataFrame(rows, columns=[*STATISTIC, "sentinel", "value", "above", "metrics"])
    return found.assign(share=found["above"] / found["metrics"].where(found["metrics"] > 0))


def name_of(level: str, statistic: str, grouping: str) -> str:
    """Write a statistic in words.

    >>> name_of("segment", "acc_eq", "item"), name_of("domain", "pearson", "system")
    ('accuracy with ties (acc_eq)', 'domain pearson by system')
    """
    plain = f"{level} {statistic}" + ("" if grouping == "none" else f" by {grouping}")
    return WORDS.get((level, statistic, grouping), plain)


def in_words(table: pd.DataFrame) -> list[str]:
    """Say which statistics of ``WORDS`` a sentinel fools most and least: the result of ``floor``."""
    named = table[[key in WORDS for key in zip(*(table[name] for name in STATISTIC), strict=True)]]
    blind = named[named["sentinel"].str.startswith("source")]
    worst = blind.groupby(STATISTIC, sort=False)["share"].max().sort_values(ascending=False, kind="stable")
    fooled, safe = worst[worst >= 0.2], worst[worst < 0.05]
    listed = [f"{WORDS[key]} ({share:.0%})" for key, share in fooled.head(4).items()]
    spared = [WORDS[key] for key in safe.index if key[0] == "segment"]
    seeing = named[~named["sentinel"].str.startswith("source")]
    top = seeing.loc[seeing.groupby("sentinel", sort=False)["share"].idxmax()]
    others = [
        f"{row.sentinel} {row.share:.0%} ({WORDS[row.level, row.statistic, row.grouping]})" for row in top.itertuples()
    ]
    return [
        "What sees nothing but the source is above many real metrics by "
        f"{join_names(listed) if listed else 'no statistic'}, and above next to none by "
        f"{join_names(spared) if spared else 'no statistic of segments'}. So a high value over all segments, or "
        "within systems, does not show that a metric can tell two translations apart.",
        f"What sees nothing but the translation is above so many where it does best: {join_names(others)}.",
    ]
