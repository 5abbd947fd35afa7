"""Scores, significance clusters and uncertainty of rankings of systems, as WMT computes them and beyond.

All functions take ratings tables (see ``evalkit.data.schemas``) and work within each language pair; ``score`` names the
column that is ranked: raw scores, z-scores, or what ``evalkit.human.normalization`` made of them. Higher is better.
"""

from evalkit.human.ranking.movement import further, rank_ranges, rank_shifts, rankings, resampled, summarize_shifts
from evalkit.human.ranking.official import (
    DIGITS,
    compare_clusters,
    compare_p_values,
    compare_with_official,
    explain_missing,
    flat_annotators,
    missing_scores,
    official_scores,
    tally,
    tally_clusters,
)
from evalkit.human.ranking.pairwise import TESTS, pairwise_tests, significance_clusters
from evalkit.human.ranking.rules import LINES, RULES, LineRule
from evalkit.human.ranking.scores import COUNTED, system_scores

__all__ = [
    "COUNTED",
    "DIGITS",
    "LINES",
    "RULES",
    "TESTS",
    "LineRule",
    "compare_clusters",
    "compare_p_values",
    "compare_with_official",
    "explain_missing",
    "flat_annotators",
    "further",
    "missing_scores",
    "official_scores",
    "pairwise_tests",
    "rank_ranges",
    "rank_shifts",
    "rankings",
    "resampled",
    "significance_clusters",
    "summarize_shifts",
    "system_scores",
    "tally",
    "tally_clusters",
]
