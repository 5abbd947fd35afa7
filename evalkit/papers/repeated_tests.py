"""Compare what Armitage, McPherson and Rowe (1969) print of tests at many looks with recomputed numbers."""

from __future__ import annotations

import pandas as pd

from evalkit.human import adaptive
from evalkit.papers import claims
from evalkit.stats import verdicts


def armitage(printed: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed chances of a false alarm, of tests at 5 % at so many looks, with ours."""
    looks = printed["looks"].astype(int)
    return claims.rows(
        printed,
        "printed",
        computed=[adaptive.repeated(one) for one in looks],
        item=printed["item"].tolist(),
        cell=[f"false alarms at 5 %, {one} looks" if one > 1 else "false alarms at 5 %, one look" for one in looks],
        basis="definition",
    )


def in_words(rows: pd.DataFrame) -> str:
    """Say how many of the printed chances come out."""
    hits = sum(verdicts.verdict(row.printed, row.computed) == "match" for row in rows.itertuples())
    return (
        f"What so many tests come to is known where scores are normal and looks evenly spaced: {hits} of {len(rows)} "
        "chances that Armitage, McPherson and Rowe (1969) print come out (compared at the end)."
    )
