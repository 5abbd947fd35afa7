"""Compare what Armitage, McPherson and Rowe (1969) print of tests at many looks with recomputed numbers."""

from __future__ import annotations

import pandas as pd

from evalkit.human.adaptive import stopping
from evalkit.papers import claims


def armitage(printed: pd.DataFrame) -> pd.DataFrame:
    """Compare the printed chances of a false alarm, of tests at 5 % at so many looks, with ours."""
    looks = printed["looks"].astype(int)
    return claims.rows(
        printed, "printed", computed=[stopping.repeated(one) for one in looks], item=printed["item"].tolist(),
        cell=[f"false alarms at 5 %, {one} looks" if one > 1 else "false alarms at 5 %, one look" for one in looks],
        basis="definition",
    )  # fmt: skip
