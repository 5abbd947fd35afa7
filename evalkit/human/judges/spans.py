"""May a judge's marks stand in for those of the people who marked errors? The alternative annotator test on spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evalkit.data.schemas import ITEM
from evalkit.human.judges.replacing import trials
from evalkit.human.protocols import bias

#: What is tried beside other people: the model's suggested marks where all of them are known, and no marks at all.
MODEL, NOTHING = "GEMBA-MQM's marks", "no marks"
#: How this set of people is named.
DATA = "ESA marks"
_ITEM, _SPAN = ITEM, ["start", "end"]


def mask(spans: Sequence[tuple[int, int]]) -> int:
    """Turn spans into one whole number that has bit n set where character n is marked; spans may overlap.

    spans: start and end of each, the end excluded, from 0.

    >>> bin(mask([(0, 2), (1, 3), (5, 6)]))
    '0b100111'
    """
    found = 0
    for start, end in spans:
        found |= ((1 << max(int(end) - int(start), 0)) - 1) << int(start)
    return found


def alike(one: int, other: int) -> float:
    r"""Say how alike two people's marks of one translation are: the F1 of marked characters, 1 where neither marks any.

    .. math:: F_1 = 2 |A \cap B| / (|A| + |B|)

    one, other: results of ``mask``. Caveat: a mark beside the right word counts as nothing, and severities not at all.

    >>> round(alike(mask([(0, 4)]), mask([(2, 8)])), 3), alike(0, 0), alike(0, mask([(0, 1)]))
    (0.4, 1.0, 0.0)
    """
    total = one.bit_count() + other.bit_count()
    return 2 * (one & other).bit_count() / total if total else 1.0


def answers(scored: pd.DataFrame, marked: pd.DataFrame) -> pd.DataFrame:
    """Lay people's marks out as items × annotators of ``mask``; empty where somebody did not judge.

    scored: judgements (protocol, annotator, ``ITEM``), outputs of systems only. marked: error marks of the same
    protocols, of which those without a place (omissions) count as none. One column is one person in one collection.
    """
    own = scored[scored["item_type"] == "system"].astype(dict.fromkeys(["protocol", *_ITEM], "str"))
    where = ["protocol", *_ITEM]
    masks = _masks(marked, where)
    who = own["protocol"] + " " + own["annotator"].fillna("").astype("str")
    found = [masks.get(key, 0) for key in own[where].itertuples(index=False, name=None)]
    table = own.assign(who=who, mask=pd.Series(found, index=own.index, dtype=object))
    return table.pivot(index=_ITEM, columns="who", values="mask")


def _masks(marked: pd.DataFrame, where: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Put the marks of each place into one mask."""
    kept = marked[(marked["end"] > marked["start"]) & (marked["start"] >= 0)]
    if "item_type" in kept:
        kept = kept[kept["item_type"].astype("str") != "degraded"]
    spans: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for *key, start, end in kept[[*where, *_SPAN]].astype(dict.fromkeys(where, "str")).itertuples(index=False):
        spans.setdefault(tuple(key), []).append((start, end))
    return {key: mask(own) for key, own in spans.items()}


def marks(
    scored: pd.DataFrame,
    marked: pd.DataFrame,
    released: pd.DataFrame,
    *,
    collections: Sequence[str] = ("ESA-1", "ESA-2"),
    others: Sequence[str] = ("ESAAI-1", "ESAAI-2", "MQM-1", "WMT-MQM"),
    epsilons: Sequence[float],
) -> pd.DataFrame:
    """Try other people's marks, and those that a model suggested, in place of the people of some collections.

    scored: the result of ``protocols.scores``. marked: marks of all collections, as ``protocols.marks.with_wmt`` gives
    them. released: scores as released, which tell where the suggestions are known. Returns data and the columns of
    ``replacing.trials``.
    Caveat: the release has the model's marks only where people left them standing. They are tried on translations where
    none can be missing, which are those whose suggestions people found worth keeping, or that had none.
    """
    people = answers(scored[scored["protocol"].isin(collections)], marked)
    found = trials(people, _judges(scored, marked, released, people, others), alignment=alike, epsilons=epsilons)
    found.insert(0, "data", DATA)
    return found


def _judges(
    scored: pd.DataFrame, marked: pd.DataFrame, released: pd.DataFrame, people: pd.DataFrame, others: Sequence[str]
) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield who marks in their place."""
    for name in others:
        own = scored[scored["protocol"] == name]
        if len(own):
            wide = answers(own.assign(annotator=""), marked)
            yield name, "people", wide.iloc[:, 0]
    if "suggested" in marked:
        known = bias.suggestions(marked, released)
        whole = known[known["known"] == known["most"]].set_index(_ITEM).index
        masks = _masks(bias.known_suggestions(marked), _ITEM)
        items = whole.intersection(people.index)
        yield MODEL, "metric", pd.Series([masks.get(key, 0) for key in items], index=items, dtype=object)
    yield NOTHING, "knows nothing", pd.Series(np.zeros(len(people), int), index=people.index, dtype=object)
