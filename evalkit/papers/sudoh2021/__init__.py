"""Critical translation errors: labels, how far people agree on them, their reduction to one, and classification.

``taxonomy`` says what labels there are; ``distributions`` and ``pairwise`` describe them; ``printed`` and ``claimed``
line results up with the paper's. Other modules are entered by their own names.
"""

from evalkit.papers.sudoh2021.claimed import claim_tables
from evalkit.papers.sudoh2021.distributions import FINDING, MODELS, averages, contrasts, da_by_label, shares
from evalkit.papers.sudoh2021.matching import alignment, joined, standing
from evalkit.papers.sudoh2021.pairwise import confusion_between, pairwise
from evalkit.papers.sudoh2021.printed import UNRELEASED, UNTRAINED, explained, unprinted_rows, whole_only
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, KEY, ORDERS, TAXONOMIES, categories, named, places, taxonomy

__all__ = [
    "CRITICAL", "FINDING", "KEY", "MODELS", "ORDERS", "TAXONOMIES", "UNRELEASED", "UNTRAINED", "alignment",
    "averages", "categories", "claim_tables", "confusion_between", "contrasts", "da_by_label", "explained",
    "joined", "named", "pairwise", "places", "shares", "standing", "taxonomy", "unprinted_rows",
    "whole_only",
]  # fmt: skip
