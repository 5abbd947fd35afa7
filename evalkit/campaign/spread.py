"""How annotators are spread over systems: what their judgements can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.stats import widths


@dataclass(frozen=True)
class Spread:
    """How annotators' judgements are spread over systems.

    kept: efficiency of the design, the share of the worst kept difference between systems that is left once annotators'
    levels are taken out: 1 where all judged the systems in the same proportions, 0 where people tell systems apart.
    freedom: degrees of freedom that annotators give a difference of two systems, at the least; fewest: the systems of
    which they give least. per_system: judgements of a system by an annotator, on average.
    """

    kept: float
    freedom: float
    fewest: tuple[str, ...]
    per_system: float

    @property
    def told(self) -> str:
        """What is left of the worst kept difference, in words."""
        return (
            f"In the comparison of systems that suffers most, {self.kept:.0%} of what was judged can be told apart "
            "from differences between annotators."
        )

    @classmethod
    def of(cls, rows: pd.DataFrame, calibration: pd.DataFrame | None = None) -> Spread:
        """Measure the spread of judgements (annotator, system); calibration items count as one more system.

        >>> rows = pd.DataFrame({"annotator": list("aabbbb"), "system": list("xyxxyy")})
        >>> found = Spread.of(rows)
        >>> found.kept, round(found.freedom, 2)
        (1.0, 1.0)
        """
        if rows["system"].nunique() < 2:
            return cls(1.0, 0.0, (), 0.0)
        counts = pd.crosstab(rows["annotator"], rows["system"])
        freedom = freedom_of(counts.to_numpy(float))
        pairs = np.stack(np.triu_indices(counts.shape[1], 1), axis=1)
        fewest = counts.columns[pairs[freedom.argmin()]]
        per_system, own = float(counts.to_numpy().mean()), counts
        if calibration is not None and len(calibration):
            more = calibration.groupby("annotator").size().reindex(counts.index, fill_value=0)
            own = counts.assign(calibration=more) if more.any() else counts
        kept = float(widths.efficiency(own.to_numpy(float))[0])
        return cls(kept, float(freedom.min()), tuple(map(str, fewest)), per_system)


def freedom_of(counts: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom that units give the difference of every two systems; units × systems."""
    pairs = np.stack(np.triu_indices(counts.shape[1], 1), axis=1)
    return widths.few_units(np.moveaxis((counts / counts.sum(axis=0))[:, pairs], 0, 1))[1]
