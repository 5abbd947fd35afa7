"""How far annotators agree: correlations, shares of variance, agreement beyond chance, and what they agree on.

``correlations``, ``intraclass`` and their kin take a ratings table (see ``evalkit.data.schemas``) and work within each
language pair. ``coefficients``, ``per_category`` and ``pairwise`` take items × annotators, as ``score_matrix`` makes it
of one language pair. Where an annotator scored an item more than once, the mean of these scores stands for them unless
said otherwise. ``dawid_skene`` and ``mace`` take labels, a row each, and look for the likeliest one of each item.
"""

from evalkit.stats.agreement.bands import BANDS, Bands, band
from evalkit.stats.agreement.beyond_chance import MEASURES, RESAMPLE, coefficients, pairwise, per_category
from evalkit.stats.agreement.correlation import (
    correlation_extremes,
    correlations,
    extreme_annotators,
    lowest_by_variant,
)
from evalkit.stats.agreement.icc import intraclass
from evalkit.stats.agreement.labels import LabelModel, dawid_skene, mace
from evalkit.stats.agreement.matrix import REPEATS, score_matrix
from evalkit.stats.agreement.replication import cross_replication
from evalkit.stats.agreement.scales import LEVELS, WEIGHTS

__all__ = [
    "BANDS",
    "LEVELS",
    "MEASURES",
    "REPEATS",
    "RESAMPLE",
    "WEIGHTS",
    "Bands",
    "LabelModel",
    "band",
    "coefficients",
    "correlation_extremes",
    "correlations",
    "cross_replication",
    "dawid_skene",
    "extreme_annotators",
    "intraclass",
    "lowest_by_variant",
    "mace",
    "pairwise",
    "per_category",
    "score_matrix",
]
