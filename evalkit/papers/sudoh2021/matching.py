"""Put labels beside the translations that they are about, and check that they belong together."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named


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


def alignment(labelled: pd.DataFrame, *, dimension: str = "adequacy") -> pd.DataFrame:
    """Correlate labels with direct assessments in each test set, as they stand and moved by one row.

    labelled: as ``joined`` makes it. Labels count as places in the order of print, averaged over annotators. Returns
    src_lang, tgt_lang, doc, correlation (Spearman), shifted (labels moved by one row: near 0 where rows fit), n.
    """
    place = {name: number for number, name in enumerate(categories(dimension), 1)}
    part = labelled[labelled["dimension"] == dimension].assign(place=lambda f: f["label"].map(place).astype(float))
    means = part.groupby(KEY, sort=False)[["place", "z"]].mean().reset_index()
    means = means.iloc[means["segment"].astype(int).argsort(kind="stable")]
    rows = []
    for keys, some in means.groupby(KEY[:3]):
        label, z = some["place"].to_numpy(), some["z"].to_numpy()
        found = (stats.spearmanr(label, z).statistic, stats.spearmanr(np.roll(label, 1), z).statistic)
        rows.append((*keys, *map(float, found), len(some)))
    return pd.DataFrame(rows, columns=[*KEY[:3], "correlation", "shifted", "n"])
