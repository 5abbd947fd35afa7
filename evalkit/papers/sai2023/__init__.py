"""Sai et al. 2023: the paper's tables audited, its error spans and metrics compared with print."""

from evalkit.papers.sai2023.audit import misprints
from evalkit.papers.sai2023.claimed import claim_tables, said_of_print
from evalkit.papers.sai2023.search import explain, odd_rows, single_errors
from evalkit.papers.sai2023.systems import (
    combined,
    common_sentences,
    copies,
    denominators,
    fitting_counts,
    placement,
    places,
    system_means,
)

__all__ = [
    "claim_tables",
    "combined",
    "common_sentences",
    "copies",
    "denominators",
    "explain",
    "fitting_counts",
    "misprints",
    "odd_rows",
    "placement",
    "places",
    "said_of_print",
    "single_errors",
    "system_means",
]
