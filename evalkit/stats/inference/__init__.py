"""Uncertainty and comparison: bootstrap, permutation tests, multiplicity, power, correlation, fit on held-out halves.

Arrays in, arrays out. What draws takes a ``numpy.random.Generator`` and draws one stream, or a ``seed`` and draws in
blocks with streams of their own: then the results are the same to the last bit on one process (``workers=1``), on
several, and on a Dask cluster (``scheduler="tcp://…"``, or the environment variable ``EVALKIT_SCHEDULER``).
"""

from evalkit.stats.inference.blocks import BATCH, in_blocks, spread
from evalkit.stats.inference.experiments import power
from evalkit.stats.inference.fit import pearson, split_r2
from evalkit.stats.inference.multiplicity import ADJUSTMENTS, adjust
from evalkit.stats.inference.permutation import EXACT_UP_TO, TOLERANCE, Permuted, Shuffles, Swaps, permutation_test
from evalkit.stats.inference.resampling import bootstrap, bootstrap_means, interval, median, resample, standard_error

__all__ = [
    "ADJUSTMENTS", "BATCH", "EXACT_UP_TO", "TOLERANCE", "Permuted", "Shuffles", "Swaps", "adjust", "bootstrap",
    "bootstrap_means", "in_blocks", "interval", "median", "pearson", "permutation_test", "power", "resample",
    "split_r2", "spread", "standard_error",
]  # fmt: skip
