"""Who annotated what, how each annotator uses the scale, how consistent they are, and who should be screened.

All functions take a ratings table (see ``evalkit.data.schemas``) and work within each language pair.
"""

from evalkit.human.annotators.campaign import accounts, contents, keep, shared_snippets, workload
from evalkit.human.annotators.consistency import (
    agreement_with_others,
    beside_others,
    intra_annotator_consistency,
    repeats,
    two_hits,
)
from evalkit.human.annotators.pace import PAUSE, drift, since_last, speed
from evalkit.human.annotators.profiles import profiles
from evalkit.human.annotators.quality_control import Caliper, one_score_hits, quality_control, removed
from evalkit.human.annotators.screening import (
    MEASURES,
    RULES,
    Rule,
    agreement_change,
    exclude_annotators,
    rules_in_words,
    screen,
    screening_totals,
    stability,
)
from evalkit.human.annotators.ticks import FIVE_TICKS, GRIDS, SQM_TICKS, discretisation, even_share, scale_grid, ticks
from evalkit.human.annotators.usage import bimodality, score_counts, usage

__all__ = [
    "FIVE_TICKS",
    "GRIDS",
    "MEASURES",
    "PAUSE",
    "RULES",
    "SQM_TICKS",
    "Caliper",
    "Rule",
    "accounts",
    "agreement_change",
    "agreement_with_others",
    "beside_others",
    "bimodality",
    "contents",
    "discretisation",
    "drift",
    "even_share",
    "exclude_annotators",
    "intra_annotator_consistency",
    "keep",
    "one_score_hits",
    "profiles",
    "quality_control",
    "removed",
    "repeats",
    "rules_in_words",
    "scale_grid",
    "score_counts",
    "screen",
    "screening_totals",
    "shared_snippets",
    "since_last",
    "speed",
    "stability",
    "ticks",
    "two_hits",
    "usage",
    "workload",
]
