"""What the judgements that there are tell of the difference between two systems."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.planning.components import TASTE, causes_of


def contrast_variance(
    ratings: pd.DataFrame, variances: Mapping[str, float], *, first: str, second: str, layout: str = "campaign"
) -> float:
    r"""Return the variance of the difference of two systems' mean scores, for who judged what in these ratings.

    A system's score is the mean of its segments' means. With the weight :math:`w_i` of a judgement in the difference
    (negative for the second system), and the levels l of each component c,

    .. math:: \operatorname{var} = \sum_c V_c \sum_l \Big(\sum_{i \in l} w_i\Big)^2 + V_{residual} \sum_i w_i^2

    so what two systems have in common cancels, and an annotator who judged much counts for more. ratings: judgements of
    one language pair, outputs of systems. variances: as ``planning.variances`` returns them, squared points. layout: as
    in ``components``.
    Caveat: segments judged for one system only are taken to be as hard as the others.

    >>> two = pd.DataFrame({"system": ["A", "B"], "doc": "d", "segment": "1", "annotator": "p"})
    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
    >>> contrast_variance(two, V, first="A", second="B")
    252.0
    """
    rows = ratings[ratings["system"].isin([first, second])]
    if rows["system"].nunique() < 2:
        raise DataError(f"There are no judgements of {first} and {second} both. Name two systems that were judged.")
    causes = causes_of(ratings, layout) | TASTE
    each = rows.groupby(causes["item"])["system"].transform("size").to_numpy(float)
    segments = rows.drop_duplicates(causes["item"])["system"].value_counts()
    weight = np.where(rows["system"] == first, 1.0, -1.0) / each / rows["system"].map(segments).to_numpy(float)
    total = variances["residual"] * float((weight**2).sum())
    for name in (name for name in causes if name in variances):
        levels = rows.groupby(causes[name], sort=False).ngroup().to_numpy()
        apart = float((np.bincount(levels, weight) ** 2).sum())
        total += variances[name] * apart if apart > 1e-12 else 0.0  # what cancels may be unknown
    if np.isnan(total):
        raise DataError(
            f"Nobody judged both {first} and {second}, or what others judged, so how strict people are cannot be told "
            "from how good systems are. Have several people judge both systems."
        )
    return total
