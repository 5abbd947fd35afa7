"""Draw ratings from stated models; their systems and documents are called ``sim-…``.

``campaign`` is a general model of an annotation campaign whose parts can be switched on and off. ``stand_in`` draws
what stands in for a registered data set, by its recipe in ``recipes.toml``: a table of the same columns, types of items
and design, which passes through the same code. ``categories`` and ``protocol_study`` draw categories whose expected
kappa is chosen in advance, ``post_edited`` outputs with post-edits.
"""

import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit.data.simulate.campaign import Behaviour, Control, Design, Quality, campaign
from evalkit.data.simulate.reliability import categories, post_edited, protocol_study

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


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """Read the recipe of each data set that is stood in for: its maker, ``module.function`` here, and its options."""
    return tomllib.loads((Path(__file__).parent / "recipes.toml").read_text(encoding="utf-8"))


def stand_in(name: str, *, seed: int = 7, **changes: Any) -> pd.DataFrame:
    """Draw the stand-in of a registered data set by its recipe. changes: options that replace the recipe's.

    >>> stand_in("contrastive-esa")["system"].nunique()
    10
    """
    recipe = recipes()[name] | changes
    module, _, maker = recipe["maker"].partition(".")
    options = {option: value for option, value in recipe.items() if option != "maker"}
    return getattr(import_module(f"evalkit.data.simulate.{module}"), maker)(seed=seed, **options)
