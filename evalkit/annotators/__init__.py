"""Who annotated what, how each annotator uses the scale, how consistent they are, and who should be screened.

All functions take a ratings table (see ``evalkit.schemas``) and work within each language pair.
"""

from evalkit.annotators.campaign import accounts, contents, keep, shared_snippets, workload
from evalkit.annotators.grids import GRIDS, grids
from evalkit.annotators.marks import FIVE_TICKS, SQM_TICKS, discretisation, even_share, ticks
from evalkit.annotators.measures import MEASURES, quality_control
from evalkit.annotators.others import agreement_with_others, beside_others
from evalkit.annotators.pace import drift, speed
from evalkit.annotators.paper import amounts, beside, lowest_between
from evalkit.annotators.profiles import bimodality, profiles
from evalkit.annotators.removed import Caliper, removed
from evalkit.annotators.screening import (
    RULES,
    Rule,
    agreement_moves,
    screen,
    screening_totals,
    stability,
    without,
)
from evalkit.annotators.steadiness import USES, steadiness, two_hits
from evalkit.annotators.usage import repeats, score_counts, usage

__all__ = [
    "FIVE_TICKS", "GRIDS", "MEASURES", "RULES", "SQM_TICKS", "USES", "Caliper", "Rule", "accounts", "agreement_moves",
    "agreement_with_others", "amounts", "beside", "beside_others", "bimodality", "contents", "discretisation", "drift",
    "even_share", "grids", "keep", "lowest_between", "profiles", "quality_control", "removed", "repeats",
    "score_counts", "screen", "screening_totals", "shared_snippets", "speed", "stability", "steadiness", "ticks",
    "two_hits", "usage", "without", "workload",
]  # fmt: skip
