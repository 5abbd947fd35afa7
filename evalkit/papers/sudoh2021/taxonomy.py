"""Define the labels of Sudoh et al. 2021: codes, categories, explanations, and the orders they can be put in.

The explanations are the paper's own words (Tables 2 and 3). F means two things, so every
table that is shown names labels by their category.
"""

from typing import NamedTuple

import pandas as pd

from evalkit import DataError

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

_ROWS = {
    "fluency": [
        ("F", "Incomprehensible", 1, "The sentence is not comprehensible."),
        (
            "D",
            "Poor",
            2,
            "Some contents are not easy to understand by typographical/grammatical errors and problematic expressions",
        ),
        ("B", "Fair", 3, "All the contents are easy to understand in spite of some typographical/grammatical errors"),
        (
            "A",
            "Good",
            4,
            "All the contents are easy to understand and free from grammatical errors, but some "
            "expressions are not very fluent",
        ),
        ("S", "Excellent", 5, "All the contents are easy to understand, and all the expressions are flawless"),
    ],
    "adequacy": [
        (
            "N",
            "Incomprehensible",
            3,
            "The contents cannot be understood due to fluency and comprehension issues, so "
            "the hypothesis is not eligible for the adequacy evaluation.",
        ),
        ("O", "Unrelated", 4, "The hypothesis delivers information that is not related to the reference"),
        ("C", "Contradiction", 1, "The hypothesis delivers information that contradicts the reference"),
        (
            "F",
            "Serious",
            2,
            "The hypothesis delivers information that may cause serious misunderstanding due to some "
            "content errors but does not contradict the reference",
        ),
        (
            "B",
            "Fair",
            5,
            "The hypothesis has some problems in its contents but does not cause a serious misunderstanding",
        ),
        ("A", "Good", 6, "The hypothesis has some minor problems in its contents that do not make a misunderstanding"),
        ("S", "Excellent", 7, "The hypothesis delivers information equivalent to the reference."),
    ],
}


def _table(dimension: str) -> pd.DataFrame:
    """Lay a dimension's labels out, a row each."""
    rows = [
        (code, category, place, severity, dimension == "adequacy" and category in CRITICAL, explanation)
        for place, (code, category, severity, explanation) in enumerate(_ROWS[dimension], 1)
    ]
    return pd.DataFrame(rows, columns=["code", "category", "print", "severity", "critical", "explanation"])


#: Dimension -> its labels: code, category, print and severity (places from 1, the worst), critical, explanation.
TAXONOMIES = {dimension: _table(dimension) for dimension in _ROWS}


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
