"""Find segments by their source texts: the same text in the same document is the same segment."""

import pandas as pd

_MOST = 1_000_000  # comparisons for one showing; where a text stands thousands of times, no order is sought


def segments(shown: pd.DataFrame, *, document: list[str]) -> pd.Series:
    """Number the segments of each document by the order of their source texts; missing where a text leaves it open.

    shown: account, showing, number (order of items within a showing), source, and the columns of ``document``. The
    longest showing of a document gives the order. A text that a document has twice is told apart by its neighbours.

    >>> table = pd.DataFrame({"account": list("aaabb"), "showing": "d", "doc": "d", "number": [1, 2, 3, 8, 9],
    ...                       "source": ["x", "y", "x", "y", "x"]})
    >>> segments(table, document=["doc"]).tolist()
    ['1', '2', '3', '2', '3']
    """
    who = [name for name in ("account", "target", "showing") if name in shown]
    item = [*document, *who, "number"]
    table = shown.sort_values("number", kind="stable").drop_duplicates(item)  # an item may be submitted again
    found: dict[object, str | None] = {}
    for _, part in table.groupby(document, sort=False):
        seen = {key: items["source"].tolist() for key, items in part.groupby(who, sort=False)}
        whole = max(seen.values(), key=len)
        known = set(whole)
        order = [*whole, *dict.fromkeys(text for texts in seen.values() for text in texts if text not in known)]
        places = _places(order)
        for key, items in part.groupby(who, sort=False):
            found.update(zip(items.index, _aligned(seen[key], order, places)))
    of_item = pd.Series(list(found.values()), index=pd.MultiIndex.from_frame(table.loc[list(found), item]), dtype="str")
    return pd.Series(of_item.reindex(pd.MultiIndex.from_frame(shown[item])).to_numpy(), index=shown.index, dtype="str")


def _places(texts: list[str]) -> dict[str, list[int]]:
    """Say where each text of a document stands, from 1."""
    found: dict[str, list[int]] = {}
    for place, text in enumerate(texts, 1):
        found.setdefault(text, []).append(place)
    return found


def _aligned(texts: list[str], whole: list[str], places: dict[str, list[int]]) -> list[str | None]:
    """Place the texts of a showing among those of the document; None where several places fit."""
    starts = places[texts[0]]
    if len(starts) * len(texts) <= _MOST:
        starts = [start for start in starts if whole[start - 1 : start - 1 + len(texts)] == texts]
        if len(starts) == 1:
            return [str(starts[0] + place) for place in range(len(texts))]
    return [str(places[text][0]) if len(places[text]) == 1 else None for text in texts]
