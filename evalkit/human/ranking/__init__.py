"""Scores, significance clusters and uncertainty of rankings of systems, as WMT computes them and beyond.

All functions take ratings tables (see ``evalkit.data.schemas``) and work within each language pair; ``score`` names the
column that is ranked: raw scores, z-scores, or what ``evalkit.human.normalization`` made of them. Higher is better.
"""

from evalkit.human.ranking.lines import pairwise_tests, rule_clusters, significance_clusters
from evalkit.human.ranking.movement import further, rank_ranges, rank_shifts, rankings, resampled, summarize_shifts
from evalkit.human.ranking.rules import LINES, RULES, TESTS, LineRule
from evalkit.human.ranking.scores import COUNTED, system_scores

__all__ = [
    "COUNTED",
    "LINES",
    "RULES",
    "TESTS",
    "LineRule",
    "further",
    "pairwise_tests",
    "rank_ranges",
    "rank_shifts",
    "rankings",
    "resampled",
    "rule_clusters",
    "significance_clusters",
    "summarize_shifts",
    "system_scores",
]
