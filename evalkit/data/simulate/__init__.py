"""Draw ratings from stated models; their systems and documents are called ``sim-…``.

``campaign`` is a general model of an annotation campaign whose parts can be switched on and off. ``stand_in`` draws
what stands in for a registered data set, by its recipe in ``recipes.toml``, which passes through the same code as the
real table. ``categories`` and ``protocol_study`` draw categories whose expected kappa is chosen in advance,
``post_edited`` outputs with post-edits.
"""

from evalkit.data.simulate.campaign import (
    Behaviour,
    Control,
    Design,
    Quality,
    campaign,
    categories,
    post_edited,
    protocol_study,
)
from evalkit.data.simulate.standins import recipes, stand_in

__all__ = [
    "Behaviour",
    "Control",
    "Design",
    "Quality",
    "campaign",
    "categories",
    "post_edited",
    "protocol_study",
    "recipes",
    "stand_in",
]
