"""Scores, significance clusters and uncertainty of rankings of systems, as WMT computes them and beyond.

All functions take ratings tables (see ``evalkit.data.schemas``) and work within each language pair; ``score`` names the
column that is ranked: raw scores, z-scores, or what ``evalkit.human.normalization`` made of them. Higher is better.
"""

from evalkit.human.ranking.clusters import LINES, clusters
from evalkit.human.ranking.movement import moves, rankings
from evalkit.human.ranking.official import (
    DIGITS,
    against_clusters,
    against_official,
    against_p_values,
    explain_missing,
    flat_annotators,
    tally,
)
from evalkit.human.ranking.pairwise import TESTS, wins
from evalkit.human.ranking.resampling import rank_ranges
from evalkit.human.ranking.scores import COUNTED, SEGMENT, system_scores

__all__ = [
    "COUNTED", "DIGITS", "LINES", "SEGMENT", "TESTS", "against_clusters", "against_official", "against_p_values",
    "clusters", "explain_missing", "flat_annotators", "moves", "rank_ranges", "rankings", "system_scores", "tally",
    "wins",
]  # fmt: skip
