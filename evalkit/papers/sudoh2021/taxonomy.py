"""Define the labels of Sudoh et al. 2021: codes, categories, explanations, and the orders they can be put in.

The explanations are the paper's own words (Tables 2 and 3). F means two things, so every
table that is shown names labels by their category.
"""

from typing import NamedTuple

import pandas as pd

from evalkit import DataError, data

#: Columns that name one labelled translation.
KEY = ["src_lang", "tgt_lang", "doc", "segment"]
#: Ways to put the labels of a dimension in order, worst first, in words.
ORDERS = {
    "print": "the order of the paper's Tables 2 and 3",
    "severity": "the order of the paper's footnote 14, by which it settles disagreement",
}
#: Adequacy labels that the paper calls critical content errors. Incomprehensible output is named apart from them.
CRITICAL = ("Unrelated", "Contradiction", "Serious")


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
    return {name: rows.loc[rows["dimension"] == name, columns].reset_index(drop=True) for name in TABLES}


#: Dimension -> its labels: code, category, print and severity (places from 1, the worst), critical, explanation.
TAXONOMIES = _read()


def places(dimension: str, *, order: str = "severity") -> dict[str, int]:
    """Number the codes of a dimension from 1, the worst, in one of the orders.

    Raises DataError for a dimension or an order that is not known.

    >>> places("adequacy")
    {'C': 1, 'F': 2, 'N': 3, 'O': 4, 'B': 5, 'A': 6, 'S': 7}
    """
    table = taxonomy(dimension)
    if order not in ORDERS:
        raise DataError(f"order={order!r} is not known. Use one of {', '.join(ORDERS)}.")
    table = table.sort_values(order)
    return dict(zip(table["code"].tolist(), table[order].tolist(), strict=True))


def categories(dimension: str, *, order: str = "print") -> list[str]:
    """List the categories of a dimension, worst first.

    >>> categories("fluency")
    ['Incomprehensible', 'Poor', 'Fair', 'Good', 'Excellent']
    """
    names = taxonomy(dimension).set_index("code")["category"]
    return [names[code] for code in places(dimension, order=order)]


def taxonomy(dimension: str) -> pd.DataFrame:
    """Return the labels of a dimension, or say which dimensions there are.

    >>> taxonomy("adequacy").query("critical")["category"].tolist()
    ['Unrelated', 'Contradiction', 'Serious']
    """
    if dimension not in TAXONOMIES:
        raise DataError(f"dimension={dimension!r} is not known. Use one of {', '.join(TAXONOMIES)}.")
    return TAXONOMIES[dimension]


def named(labels: pd.DataFrame) -> pd.DataFrame:
    """Replace the codes in ``label`` by their categories, each row by the rules of its ``dimension``.

    Raises DataError for a code that its dimension does not have.

    >>> named(pd.DataFrame({"dimension": ["fluency", "adequacy"], "label": ["F", "F"]}))["label"].tolist()
    ['Incomprehensible', 'Serious']
    """
    known = {(dim, code): name for dim, t in TAXONOMIES.items() for code, name in zip(t["code"], t["category"])}
    names = [known.get(key) for key in zip(labels["dimension"], labels["label"], strict=True)]
    if None in names:
        row = labels.iloc[names.index(None)]
        raise DataError(f"{row['label']!r} is no label of {row['dimension']}. Load the labels with evalkit.data.")
    return labels.assign(label=names)
