"""Knowles & Lo 2024 on WMT22: published z-scores recomputed, and the tables behind the claims of their prose."""

from evalkit.papers.knowles2024.annotators import amounts, beside, lowest_between
from evalkit.papers.knowles2024.calibration import derived, imagined, of_additional
from evalkit.papers.knowles2024.degraded import of_context, of_earlier_years
from evalkit.papers.knowles2024.z_scores import PIPELINES, compare_with_published

__all__ = [
    "PIPELINES",
    "amounts",
    "beside",
    "compare_with_published",
    "derived",
    "imagined",
    "lowest_between",
    "of_additional",
    "of_context",
    "of_earlier_years",
]
