"""Find segments by their source texts: the same text in the same document is the same segment."""

import pandas as pd


def segments(shown: pd.DataFrame, *, document: list[str]) -> pd.Series:
    """Number the segments of each document by the order of their source texts; missing where a text leaves it open.

    shown: account, showing, number (order of items within a showing), source, and the columns of ``document``. The
    longest showing of a document gives the order. A text that a document has twice is told apart by its neighbours.

    >>> table = pd.DataFrame({"account": list("aaabb"), "showing": "d", "doc": "d", "number": [1, 2, 3, 8, 9],
    ...                       "source": ["x", "y", "x", "y", "x"]})
    >>> segments(table, document=["doc"]).tolist()
    ['1', '2', '3', '2', '3']
    """
    table = shown.sort_values("number", kind="stable")
    who = [name for name in ("account", "target", "showing") if name in table]
    found: dict[object, str | None] = {}
    for _, part in table.groupby(document, sort=False):
        seen = {key: items["source"].tolist() for key, items in part.groupby(who, sort=False)}
        whole = max(seen.values(), key=len)
        more = dict.fromkeys(text for texts in seen.values() for text in texts if text not in set(whole))
        order = [*whole, *more]
        for key, items in part.groupby(who, sort=False):
            found |= dict(zip(items.index, _aligned(seen[key], order)))
    return pd.Series([found[line] for line in shown.index], index=shown.index, dtype="str")


def _aligned(texts: list[str], whole: list[str]) -> list[str | None]:
    """Place the texts of a showing among those of the document; None where several places fit."""
    starts = [start for start in range(len(whole)) if whole[start : start + len(texts)] == texts]
    if len(starts) == 1:
        return [str(starts[0] + place + 1) for place in range(len(texts))]
    return [str(whole.index(text) + 1) if whole.count(text) == 1 else None for text in texts]
