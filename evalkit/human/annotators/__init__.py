"""Who annotated what, how each annotator uses the scale, how consistent they are, and who should be screened.

All functions take a ratings table (see ``evalkit.data.schemas``) and work within each language pair.
"""

from evalkit.human.annotators.campaign import accounts, contents, keep, shared_snippets, workload
from evalkit.human.annotators.grids import GRIDS, scale_grid
from evalkit.human.annotators.marks import FIVE_TICKS, SQM_TICKS, discretisation, even_share, ticks
from evalkit.human.annotators.measures import MEASURES, quality_control
from evalkit.human.annotators.others import agreement_with_others, beside_others
from evalkit.human.annotators.pace import drift, speed
from evalkit.human.annotators.profiles import bimodality, profiles
from evalkit.human.annotators.removed import Caliper, removed
from evalkit.human.annotators.screening import (
    RULES,
    Rule,
    agreement_change,
    screen,
    screening_totals,
    stability,
    exclude_annotators,
)
from evalkit.human.annotators.steadiness import USES, intra_annotator_consistency, two_hits
from evalkit.human.annotators.usage import repeats, score_counts, usage

__all__ = [
    "FIVE_TICKS", "GRIDS", "MEASURES", "RULES", "SQM_TICKS", "USES", "Caliper", "Rule", "accounts", "agreement_change",
    "agreement_with_others", "beside_others", "bimodality", "contents", "discretisation", "drift", "even_share",
    "scale_grid", "keep", "profiles", "quality_control", "removed", "repeats", "score_counts", "screen", "screening_totals",
    "shared_snippets", "speed", "stability", "intra_annotator_consistency", "ticks", "two_hits", "usage", "exclude_annotators", "workload",
]  # fmt: skip
