"""The tables in which the claims of sections 3.6 to 4.4 of Knowles & Lo 2024 are looked up."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from evalkit.human import annotators, normalization
from evalkit.papers.knowles2024.annotators import amounts, beside, lowest_between
from evalkit.stats import agreement

#: Numbers of ticks of a scale in use, as the paper calls them.
_GRIDS = {5: "five ticks", 7: "seven ticks", 13: "seven ticks and midpoints"}


def imagined(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate two imagined annotators who give one score each, 60 and 50: one, other, value (Pearson's), outcome.

    ratings: whose first two annotators' items they score. outcome: "undefined" where there is no correlation.
    """
    first = sorted(ratings["annotator"].unique())[:2]
    both = ratings[ratings["annotator"].isin(first)]
    both = both.assign(score=both["annotator"].eq(first[0]) * 10.0 + 50)
    found = agreement.correlations(both).query("statistic == 'pearson'")
    outcome = found["value"].map("{:.2f}".format).replace({"1.00": "perfect", "nan": "undefined"})
    words = {"one": "60 for every segment", "other": "50 for every segment"}
    return found.assign(**words, outcome=outcome)[[*words, "value", "outcome"]]


def derived(ratings: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Add to the study's tables those that only its claims need: name -> table.

    ratings: the calibration HITs. tables: among them usage, extremes, profiles and grids (scales in use).
    """
    usage, grids = tables["usage"], tables["grids"]
    apart = pd.DataFrame({"steps": [1, 2], "points": annotators.SQM_TICKS[1:3]})
    return dict(tables) | {
        "counts": annotators.score_counts(ratings),
        "grids": grids.assign(marks=grids["ticks"].map(_GRIDS).fillna("others")),
        "usage": usage.assign(range=usage["max"] - usage["min"]),
        "beside engjpn1611": beside(usage, "engjpn1611"),
        "lowest pairs": lowest_between(tables["extremes"], tables["profiles"]),
        "ticks apart": apart,
    }


def of_additional(
    additional: pd.DataFrame, calibration: pd.DataFrame, consistency: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Make the tables of the additional HITs beside the calibration HITs: name -> table.

    additional: WMT22's DA+SQM ratings of the annotators of the calibration HITs. consistency: the result of
    ``annotators.intra_annotator_consistency`` for the two.
    """
    ends = consistency.assign(range=consistency["use"].isin(["min", "max"]))
    far = normalization.mean_distances(normalization.means(additional, calibration=calibration))
    medians = far.pivot(index="pair", columns="level", values="median").reset_index()
    return {
        "wmt22-da-sqm order": normalization.order_kept(normalization.normalize(additional, by=("hit",))),
        "wmt22-da-sqm steadiness": ends,
        "wmt22-da-sqm segments": amounts(additional),
        "wmt22-da-sqm means": medians.assign(hits_further=medians["HIT"] > medians["annotator"]),
    }
