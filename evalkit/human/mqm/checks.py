"""Check errors by the rules of annotation: known types, places within the text, at most so many, no overlaps."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, UNSTATED
from evalkit.data.typology import TYPOLOGIES
from evalkit.human.mqm.scores import KEY

_PLACE = ["src_lang", "tgt_lang", *ITEM]


def check_spans(spans: pd.DataFrame, *, typology: str | None = None, texts: pd.DataFrame | None = None) -> None:
    """Refuse errors whose type a typology does not know, or that lie outside the text they are marked in.

    typology: a name in ``TYPOLOGIES``; an unstated type passes. texts: what was judged, with src_lang, tgt_lang,
    system, doc, segment, source, hypothesis; ``start`` and ``end`` then count characters of the hypothesis, or of the
    source where ``side`` says so. An error of no length (something is missing there) is within the text up to its end.
    Raises DataError naming the first such error and how many more there are.
    """
    if typology is not None:
        if typology not in TYPOLOGIES:
            raise DataError(f"There is no typology {typology!r}. Choose one of: {'; '.join(TYPOLOGIES)}.")
        kind = spans["error_type"].astype("str")
        wrong = np.flatnonzero(~kind.isin([*TYPOLOGIES[typology], UNSTATED]))
        if len(wrong):
            raise DataError(
                f"{_told(spans, wrong)}: {kind.iloc[wrong[0]]!r} is no type of error in {typology}. Correct it."
            )
    if texts is None:
        return
    lengths = (
        texts[_PLACE]
        .astype("str")
        .assign(target=texts["hypothesis"].str.len(), source=texts["source"].str.len())
        .drop_duplicates(_PLACE)
    )
    placed = spans[_PLACE].astype("str").merge(lengths, on=_PLACE, how="left", validate="many_to_one")
    absent = np.flatnonzero(placed["target"].isna())
    if len(absent):
        raise DataError(f"{_told(spans, absent)}: the judged text is not at hand. Pass the texts of all judgements.")
    in_source = spans["side"].eq("source").to_numpy() if "side" in spans else np.zeros(len(spans), bool)
    length = np.where(in_source, placed["source"], placed["target"])
    outside = np.flatnonzero((spans["start"].to_numpy() < 0) | (spans["end"].to_numpy() > length))
    if len(outside):
        row = spans.iloc[outside[0]]
        raise DataError(
            f"{_told(spans, outside)}: an error at {row['start']:g} to {row['end']:g} lies outside a text of "
            f"{length[outside[0]]:.0f} characters. Correct it, or pass the text that was annotated."
        )


def overlapping(spans: pd.DataFrame) -> pd.Series:
    """Mark errors that share a character with another error of the same judgement and side, in the order of ``spans``.

    IndicMT-Eval's guidelines want the most severe of them only; scores count all that are marked.

    >>> errors = pd.DataFrame({"segment": ["1", "1", "1"], "annotator": "a", "start": [0, 3, 5], "end": [4, 5, 9]})
    >>> overlapping(errors).tolist()
    [True, True, False]
    """
    key = [name for name in [*KEY, "side"] if name in spans]
    frame = spans.reset_index(drop=True)
    order = frame.sort_values([*key, "start", "end"], kind="stable")
    reach = (
        order.groupby(key, observed=True)["end"].cummax().groupby([order[name] for name in key], observed=True).shift()
    )
    meets_before = order["start"] < reach
    # an error meets a later one when some later start lies before its end; the next start is the smallest of them
    following = order.groupby(key, observed=True)["start"].shift(-1)
    return (meets_before | (following < order["end"])).sort_index().set_axis(spans.index)


def _told(spans: pd.DataFrame, wrong: np.ndarray) -> str:
    """Name the first of the errors that break a rule, and count the others."""
    row = spans.iloc[wrong[0]]
    place = ", ".join(str(row[name]) for name in [*KEY, "span"] if name in spans)
    return place + (f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else "")
