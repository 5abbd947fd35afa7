"""How far annotators agree: correlations, shares of variance, agreement beyond chance.

``correlations``, ``intraclass`` and their kin take a ratings table (see ``evalkit.data.schemas``) and work within each
language pair. ``coefficients``, ``per_category`` and ``pairwise`` take items × annotators, as ``score_matrix`` makes it
of one language pair. Where an annotator scored an item more than once, the mean of these scores stands for them unless
said otherwise.
"""

from evalkit.stats.agreement.coefficients import (
    BANDS,
    LEVELS,
    MEASURES,
    WEIGHTS,
    band,
    coefficients,
    of_mean_squares,
    pairwise,
    per_category,
    weights,
)
from evalkit.stats.agreement.pairs import (
    REPEATS,
    correlation_extremes,
    correlations,
    cross_replication,
    extreme_annotators,
    intraclass,
    lowest_by_variant,
    score_matrix,
)

__all__ = [
    "BANDS",
    "LEVELS",
    "MEASURES",
    "REPEATS",
    "WEIGHTS",
    "band",
    "coefficients",
    "correlation_extremes",
    "correlations",
    "cross_replication",
    "extreme_annotators",
    "intraclass",
    "lowest_by_variant",
    "of_mean_squares",
    "pairwise",
    "per_category",
    "score_matrix",
    "weights",
]
