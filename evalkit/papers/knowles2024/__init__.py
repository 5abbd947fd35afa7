"""Knowles & Lo 2024 on WMT22: the official scores and z-scores, recomputed."""

from evalkit.papers.knowles2024.annotators import amounts, beside, lowest_between
from evalkit.papers.knowles2024.z_scores import PIPELINES, compare_with_published

__all__ = ["PIPELINES", "amounts", "beside", "compare_with_published", "lowest_between"]
