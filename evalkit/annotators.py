"""Who annotated what, how each annotator uses the scale, and how consistent they are with themselves.

All functions take a ratings table (see ``evalkit.schemas``) and work within each language pair.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.schemas import ITEM, with_pair

#: The seven tick marks of WMT's DA+SQM slider, on its scale from 0 to 100 (Kocmi et al. 2022).
SQM_TICKS = tuple(100 * step / 6 for step in range(7))


def accounts(ratings: pd.DataFrame, additional: pd.DataFrame, *, complete_at: int) -> pd.DataFrame:
    """List who took part in a calibration: judgements given, additional HITs done, and whether to keep them.

    ratings: calibration items, one row per judgement. additional: one row per additional HIT, columns hit, annotator.
    complete_at: judgements in a complete calibration HIT.
    Returns pair, annotator, judgements, additional_hits, complete, kept; ``kept`` asks for a complete calibration HIT
    and at least one additional HIT, as Knowles & Lo 2024 do (section 3.6).
    """
    done = with_pair(ratings).groupby(["pair", "annotator"]).size().rename("judgements").reset_index()
    done["additional_hits"] = done["annotator"].map(additional.groupby("annotator")["hit"].nunique()).fillna(0)
    done["additional_hits"] = done["additional_hits"].astype(int)
    done["complete"] = done["judgements"] == complete_at
    done["kept"] = done["complete"] & (done["additional_hits"] > 0)
    return done


def keep(ratings: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of the annotators that ``accounts`` marks as kept; raise DataError when none is left."""
    kept = listed.loc[listed["kept"], "annotator"]
    left = ratings[ratings["annotator"].isin(kept)]
    if left.empty:
        raise DataError(
            "No annotator is left: nobody both completed the calibration HIT and did an additional one. "
            "Check that the mapping belongs to these ratings, and the number of judgements in a complete HIT."
        )
    return left.reset_index(drop=True)


def contents(ratings: pd.DataFrame) -> pd.DataFrame:
    """Describe what was annotated per language pair (Knowles & Lo 2024, Table 1).

    Returns pair, triplets (distinct system, snippet, segment), snippets, systems, and the minimum, median and maximum
    number of distinct segments of a snippet as translated by one system. A snippet is what ``doc`` holds.
    """
    items = with_pair(ratings).drop_duplicates(["pair", *ITEM])
    per_document = items.groupby(["pair", "doc", "system"]).size().groupby("pair").agg(["min", "median", "max"])
    by_pair = items.groupby("pair")
    table = by_pair.agg(triplets=("segment", "size"), snippets=("doc", "nunique"), systems=("system", "nunique"))
    return table.join(per_document.add_prefix("segments_")).reset_index()


def shared_snippets(ratings: pd.DataFrame) -> pd.DataFrame:
    """List the snippets translated by more than one system: pair, doc, systems (sorted, space-separated)."""
    by_doc = with_pair(ratings).groupby(["pair", "doc"])["system"].unique().map(sorted)
    return by_doc[by_doc.map(len) > 1].map(" ".join).rename("systems").reset_index()


def workload(listed: pd.DataFrame) -> pd.DataFrame:
    """Summarise who stays and how many additional HITs they did (Knowles & Lo 2024, the annotator half of Table 2).

    listed: the result of ``accounts``. Returns pair, annotators, additional_hits_min, _median, _max (of those kept),
    incomplete (left out: calibration HIT not finished) and without_additional (left out: finished it, did no other).
    """
    kept = listed[listed["kept"]].groupby("pair")["additional_hits"]
    table = kept.agg(["size", "min", "median", "max"]).add_prefix("additional_hits_")
    table = table.rename(columns={"additional_hits_size": "annotators"})
    out = listed.groupby("pair").agg(incomplete=("complete", lambda c: int((~c).sum())), accounts=("kept", "size"))
    table = table.join(out)
    table["without_additional"] = table.pop("accounts") - table["annotators"] - table["incomplete"]
    return table.reset_index()


def usage(ratings: pd.DataFrame, *, scale: tuple[float, float] = (0, 100)) -> pd.DataFrame:
    """Describe how each annotator uses the scale: its range, its shape, how many of its steps.

    Returns pair, annotator, n, unique_scores, min, max, mean, sd (ddof=1), skewness (Fisher-Pearson, adjusted; negative
    where a tail of low scores follows a crowd of high ones) and at_ends (share of scores in the lowest and the highest
    tenth of the scale). Every judgement counts, repeats too. sd is NaN for a single judgement, skewness below three
    judgements and where all scores are equal.
    """
    scores = with_pair(ratings).groupby(["pair", "annotator"])["score"]
    table = scores.agg(n="size", unique_scores="nunique", min="min", max="max", mean="mean", sd="std", skewness="skew")
    tenth = (scale[1] - scale[0]) / 10
    ends = (ratings["score"] <= scale[0] + tenth) | (ratings["score"] >= scale[1] - tenth)
    at_ends = with_pair(ratings.assign(score=ends)).groupby(["pair", "annotator"])["score"].mean()
    return table.assign(skewness=table["skewness"].where(table["sd"] > 0), at_ends=at_ends).reset_index()


def score_counts(ratings: pd.DataFrame) -> pd.DataFrame:
    """Count how often each annotator gave each score: pair, annotator, score, judgements."""
    return with_pair(ratings).groupby(["pair", "annotator", "score"]).size().rename("judgements").reset_index()


def repeats(ratings: pd.DataFrame) -> pd.DataFrame:
    """Measure each annotator's consistency on items scored more than once.

    Returns pair, annotator, n (repeated items), median_abs_diff, max_abs_diff (points of the scale); the difference of
    an item is that between its highest and lowest score. Annotators without repeated items have no row.
    Source: Knowles & Lo 2024, section 4.1.  Caveat: with 5 to 7 items, as there, it is an impression only.
    """
    scores = with_pair(ratings).groupby(["pair", "annotator", *ITEM])["score"].agg(["size", "min", "max"])
    again = scores[scores["size"] > 1]
    difference = (again["max"] - again["min"]).groupby(["pair", "annotator"])
    return difference.agg(n="size", median_abs_diff="median", max_abs_diff="max").reset_index()


def ticks(ratings: pd.DataFrame, *, marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0) -> pd.DataFrame:
    """Measure how much each annotator's scores crowd around a slider's tick marks.

    marks: positions of the ticks on the scale. within: how far from a mark, in points, still counts as on it.
    Returns one row per annotator and mark: pair, annotator, mark, share (of the annotator's judgements, 0 to 1).
    What an annotator who ignored the marks would show depends on the shape of their scores; for scores spread evenly
    it is ``even_share(marks, within=within)``.
    """
    if min(np.diff(marks), default=np.inf) <= 2 * within:
        raise DataError(f"Marks closer than {2 * within:g} points would count a score twice. Use a smaller 'within'.")
    scores = with_pair(ratings)[["pair", "annotator", "score"]]
    near = np.abs(scores["score"].to_numpy()[:, None] - np.asarray(marks)) <= within
    flags = pd.DataFrame(near, columns=pd.Index(marks, name="mark"))
    shares = flags.groupby([scores["pair"].to_numpy(), scores["annotator"].to_numpy()]).mean()
    return shares.rename_axis(["pair", "annotator"]).stack().rename("share").reset_index()


def discretisation(shares: pd.DataFrame) -> pd.DataFrame:
    """Say how much of each annotator's scores lies on the marks, and which mark attracts them most.

    shares: the result of ``ticks``. Returns pair, annotator, on_marks (share of judgements, 0 to 1), favourite (a
    mark's position) and favourite_share, those who lean on the marks most first.
    """
    by_annotator = shares.groupby(["pair", "annotator"])["share"]
    favourite = shares.loc[by_annotator.idxmax()].set_index(["pair", "annotator"])
    favourite = favourite.rename(columns={"mark": "favourite", "share": "favourite_share"})
    table = by_annotator.sum().rename("on_marks").to_frame().join(favourite)
    return table.sort_values("on_marks", ascending=False, kind="stable").reset_index()


def even_share(
    *, marks: tuple[float, ...] = SQM_TICKS, within: float = 1.0, scale: tuple[int, int] = (0, 100)
) -> float:
    """Return the share of scores that lie on a mark when every whole number of the scale is equally likely.

    >>> round(even_share(), 3)
    0.149
    """
    scores = np.arange(scale[0], scale[1] + 1)
    return float((np.abs(scores[:, None] - np.asarray(marks)) <= within).any(axis=1).mean())
