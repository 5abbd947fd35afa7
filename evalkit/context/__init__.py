"""Repeated segments before and after degraded context: what spoilt neighbours do to the score of an unchanged one."""

from evalkit.context.pairing import group_sizes, label_example, noticed, pairs, restrict, summary
from evalkit.context.paper import SCALES, contrasts, gap, repeats, sensitivity, welch
from evalkit.context.robustness import dose, equivalence, order_effects, permutation, robust

__all__ = [
    "SCALES", "contrasts", "dose", "equivalence", "gap", "group_sizes", "label_example", "noticed",
    "order_effects", "pairs", "permutation", "repeats", "restrict", "robust", "sensitivity", "summary", "welch",
]  # fmt: skip
