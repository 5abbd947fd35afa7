"""Scores made comparable across annotators: many methods behind one function, and what each does to the scores.

forms: how scores are moved, and what each way assumes and destroys · ratings: from a ratings table to one with
normalised scores · mixed: bias and gain by a mixed-effects model · order: what happens to the order of an annotator's
scores · strictness: how strict annotators are, from who judged what · held_out: which method, and which set of items,
brings annotators closest.
"""

from evalkit.human.normalization.forms import METHODS, Method, methods
from evalkit.human.normalization.held_out import COMPARED, common_or_own, held_out, summarize_cross_validation
from evalkit.human.normalization.mixed import MixedEffects, mixed_effects
from evalkit.human.normalization.order import ORDINARY, inversions, mean_distances, means, order_kept, order_summary
from evalkit.human.normalization.ratings import NO_SPREAD, normalize, variants
from evalkit.human.normalization.strictness import Strictness, estimate_strictness

__all__ = [
    "COMPARED",
    "METHODS",
    "NO_SPREAD",
    "ORDINARY",
    "Method",
    "MixedEffects",
    "Strictness",
    "common_or_own",
    "estimate_strictness",
    "held_out",
    "inversions",
    "mean_distances",
    "means",
    "methods",
    "mixed_effects",
    "normalize",
    "order_kept",
    "order_summary",
    "summarize_cross_validation",
    "variants",
]
