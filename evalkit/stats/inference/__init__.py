"""Uncertainty and comparison: bootstrap, jackknife, permutation tests, many tests at once.

Arrays in, arrays out. What draws takes a ``seed``: of an integer, blocks of replications draw from streams of their
own; a ``numpy.random.Generator`` is drawn from in turn.
"""

from evalkit.stats.inference.blocks import BATCH, in_blocks, spread
from evalkit.stats.inference.contrasts import Influences, efficiency, few_units
from evalkit.stats.inference.crossed import Part, Redrawn, combine, crossed_variance, redraw
from evalkit.stats.inference.jackknife import jackknife_error, jackknife_interval
from evalkit.stats.inference.multiplicity import ADJUSTMENTS, adjust
from evalkit.stats.inference.permutation import (
    EXACT_UP_TO,
    TOLERANCE,
    Permuted,
    Shuffles,
    Swaps,
    count_hits,
    permutation_test,
)
from evalkit.stats.inference.resampling import (
    bootstrap,
    bootstrap_means,
    column_means,
    defined_interval,
    interval,
    median,
    resample,
    standard_error,
    unit_counts,
)
from evalkit.stats.inference.shares import share_interval

__all__ = [
    "ADJUSTMENTS",
    "BATCH",
    "EXACT_UP_TO",
    "TOLERANCE",
    "Influences",
    "Part",
    "Permuted",
    "Redrawn",
    "Shuffles",
    "Swaps",
    "adjust",
    "bootstrap",
    "bootstrap_means",
    "column_means",
    "combine",
    "count_hits",
    "crossed_variance",
    "defined_interval",
    "efficiency",
    "few_units",
    "in_blocks",
    "interval",
    "jackknife_error",
    "jackknife_interval",
    "median",
    "permutation_test",
    "redraw",
    "resample",
    "share_interval",
    "spread",
    "standard_error",
    "unit_counts",
]
