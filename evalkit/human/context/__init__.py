"""Repeated segments before and after degraded context: what degraded neighbours do to the score of an unchanged one."""

from evalkit.human.context.differences import SCALES, contrasts, gap, repeats, sensitivity, welch
from evalkit.human.context.pairing import degraded_item_effect, group_sizes, label_example, pairs, restrict, summary
from evalkit.human.context.robustness import dose, equivalence, order_effects, permutation, robust

__all__ = [
    "SCALES",
    "contrasts",
    "degraded_item_effect",
    "dose",
    "equivalence",
    "gap",
    "group_sizes",
    "label_example",
    "order_effects",
    "pairs",
    "permutation",
    "repeats",
    "restrict",
    "robust",
    "sensitivity",
    "summary",
    "welch",
]
