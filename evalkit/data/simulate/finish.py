"""Hold what was drawn against the schema of real data, and note on it what it was drawn with."""

from typing import Any

import pandas as pd

from evalkit.data import schemas


def finished(
    frame: pd.DataFrame,
    schema: schemas.Schema = schemas.RATINGS,
    *,
    seed: int,
    scale: tuple[float, float] | None = None,
    **facts: Any,
) -> pd.DataFrame:
    """Return a drawn table as a loader would: the schema's columns first and in its order, seed and scale noted.

    Raises DataError where the simulation breaks a rule of the schema, or leaves the scale.
    """
    known = [name for name in schema.columns if name in frame]
    others = [name for name in frame if name not in known]
    made = schemas.check(frame[[*known, *others]], schema, origin="the simulation", scale=scale)
    made.attrs = {"seed": seed, **({"scale": scale} if scale else {}), **facts}
    return made


def seeded(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Note the seed on a table that has no schema."""
    frame.attrs = {"seed": seed}
    return frame
