"""Figures of the comparison of protocols, a module per question."""

from evalkit.show.plots.protocols.agreement import coefficients
from evalkit.show.plots.protocols.attention import noticed
from evalkit.show.plots.protocols.effort import certainty_cost
from evalkit.show.plots.protocols.rankings import consistency_curves, place_table
from evalkit.show.plots.protocols.sessions import changes
from evalkit.show.plots.protocols.suggestions import suggestions_kept

__all__ = [
    "certainty_cost",
    "changes",
    "coefficients",
    "consistency_curves",
    "noticed",
    "place_table",
    "suggestions_kept",
]
