"""Which judgements score systems and people's translations: the same ones in a receipt, in counts and in rankings."""

from __future__ import annotations

import pandas as pd

from evalkit.data.schemas import of_systems


def ranked_types(ratings: pd.DataFrame) -> tuple[str, ...]:
    """Say which kinds of items rank systems: outputs and second showings, or calibration items where that is all."""
    return ("system", "repeat") if ratings["item_type"].eq("system").any() else ("calibration", "repeat")


def scored(ratings: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgements of one language pair that score systems and people's translations, and nothing else.

    A reference counts where it has a name of its own; one under a system's name checks annotators.

    >>> table = pd.DataFrame({"system": ["A", "A", "A", "ref"],
    ...                       "item_type": ["system", "degraded", "reference", "reference"]})
    >>> scored(table).index.tolist()
    [0, 3]
    """
    ranked = of_systems(ratings, ranked_types(ratings))
    references = ratings["item_type"].eq("reference") & ~ratings["system"].isin(ranked["system"].unique())
    return ratings[ratings.index.isin(ranked.index) | references]
