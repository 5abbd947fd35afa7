"""Kendall's tau as evaluation matrices: what it counts when humans and a metric order two translations so and so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evalkit import DataError

#: The order of two translations: the first is worse, both are equal, the first is better.
ORDERS = ("<", "=", ">")
#: All cells of a matrix, human order first.
CELLS = [(human, metric) for human in ORDERS for metric in ORDERS]
_YES = {True: "yes", False: "no"}
_VALUES = {"1": 1.0, "0": 0.0, "-1": -1.0, "X": np.nan}
#: Cells that a formula names together: concordant, discordant, tied by the metric, by humans, by both.
_GROUPS = {
    symbol: [(name[0], name[1]) for name in names.split()]
    for symbol, names in {"C": "<< >>", "D": "<> ><", "M": "<= >=", "H": "=< =>", "B": "=="}.items()
}


@dataclass(frozen=True)
class Matrix:
    """Say what each combination of a human order (row) and a metric's order (column) counts: 1, 0, -1, or X, left out.

    cells: three rows cut by ``/``, for human <, =, >, with three values each, for the metric's <, =, >. What follows
    from them: counting (``tau``), ``formula``, the ``printed`` matrix, and whether the sign of the metric matters.

    >>> soft = Matrix("soft", "1 0 -1 / X X X / -1 0 1")
    >>> soft.formula
    '(C − D) / (C + D + M)'
    >>> soft.tau([[40, 20, 0], [9, 9, 9], [0, 0, 40]]).item()  # 80 concordant pairs, 20 that the metric ties
    0.8
    """

    name: str
    cells: str
    title: str = ""

    def __post_init__(self) -> None:
        rows = [row.split() for row in self.cells.split("/")]
        if [len(row) for row in rows] != [3, 3, 3] or any(cell not in _VALUES for row in rows for cell in row):
            raise DataError(
                f"The matrix {self.name!r} reads {self.cells!r}. Write three rows of three cells, each 1, 0, -1 or X: "
                "'1 0 -1 / X X X / -1 0 1'."
            )

    @property
    def values(self) -> np.ndarray:
        """Return the matrix as 3 × 3 numbers, NaN where a pair is left out."""
        return np.array([[_VALUES[cell] for cell in row.split()] for row in self.cells.split("/")])

    def pairs(self, counts: ArrayLike) -> np.ndarray:
        """Count the pairs that take part. counts: … × 3 × 3, human by metric."""
        return np.where(np.isnan(self.values), 0, np.asarray(counts)).sum(axis=(-2, -1))

    def tau(self, counts: ArrayLike) -> np.ndarray:
        """Return the mean of the cells over the pairs that take part, from -1 to 1; NaN where none does.

        counts: … × 3 × 3 numbers of pairs, human by metric. The result keeps its sign. Stanchev et al. 2020 set bars
        around numerator and denominator; read as absolute values they would make TER's official -0.04 a +0.04.
        """
        total = self.pairs(counts)
        gain = np.nansum(self.values * np.asarray(counts, float), axis=(-2, -1))
        return np.where(total > 0, gain / np.where(total > 0, total, 1), np.nan)

    @property
    def formula(self) -> str:
        """Write the coefficient as a formula of numbers of pairs.

        C concordant, D discordant, M tied by the metric alone, H tied by humans alone, B by both; a cell that counts
        otherwise than its mirror image is written by itself, humans' order first.
        """
        found: dict[str, float] = {}
        for symbol, names in _GROUPS.items():
            values = [self.values[ORDERS.index(human), ORDERS.index(metric)] for human, metric in names]
            alike = len(set(map(str, values))) == 1
            found |= (
                {symbol: values[0]}
                if alike
                else {f"({human}{metric})": v for (human, metric), v in zip(names, values, strict=True)}
            )
        gain = [symbol for symbol, value in found.items() if value == 1]
        loss = [symbol for symbol, value in found.items() if value == -1]
        above = " − ".join([" + ".join(gain) or "0", *loss])
        return f"({above}) / ({' + '.join(symbol for symbol, value in found.items() if not np.isnan(value)) or '0'})"

    @property
    def opposite(self) -> Matrix:
        """Return the matrix that gives a negated metric the negated coefficient: columns turned, signs changed."""
        turned = {value: cell for cell, value in _VALUES.items() if not np.isnan(value)}
        rows = [" ".join(turned.get(-v + 0.0, "X") for v in row[::-1]) for row in self.values]
        return Matrix(f"{self.name}, opposite", " / ".join(rows), self.title)

    @property
    def symmetric(self) -> bool:
        """Tell whether negating a metric negates its coefficient, so that a strong negative one means as much."""
        return np.array_equal(self.values, self.opposite.values, equal_nan=True)

    @property
    def printed(self) -> pd.DataFrame:
        """Print the matrix as a table: a row per human order, a column per order of the metric."""
        rows = [row.split() for row in self.cells.split("/")]
        frame = pd.DataFrame(rows, columns=[f"metric {order}" for order in ORDERS])
        frame.insert(0, "human", list(ORDERS))
        return frame


#: Table 4 (Macháček and Bojar 2014; Ma et al. 2019) and Table 5 of Stanchev et al. 2020.
VARIANTS = {
    matrix.name: matrix
    for matrix in (
        Matrix("no penalty", "1 X -1 / X X X / -1 X 1", "Table 4a: pairs that a metric ties are left out"),
        Matrix("soft", "1 0 -1 / X X X / -1 0 1", "Table 4b: such pairs count as neither right nor wrong"),
        Matrix("hard", "1 -1 -1 / X X X / -1 -1 1", "Table 4c, the official one: such pairs count as wrong"),
        Matrix("human ties", "1 0 -1 / 0 1 0 / -1 0 1", "Table 5, accuracy-like: ties of both count as right"),
        Matrix("human ties, error-like", "1 0 -1 / 0 -1 0 / -1 0 1", "Table 5 for a metric of errors"),
    )
}


def count(human: ArrayLike, metric: ArrayLike) -> np.ndarray:
    """Count pairs by order: 3 × 3, humans' <, =, > by the metric's. human, metric: -1, 0 or 1 a pair.

    >>> count([-1, -1, 0, 1], [-1, 0, 0, -1]).tolist()
    [[1, 1, 0], [0, 1, 0], [1, 0, 0]]
    """
    cell = (np.asarray(human, int) + 1) * 3 + np.asarray(metric, int) + 1
    return np.bincount(cell.reshape(-1), minlength=9).reshape(3, 3)


def overview(matrices: dict[str, Matrix] | None = None) -> pd.DataFrame:
    """List matrices: variant, what it is, the formula that follows from it, symmetric, mirrored (yes or no).

    symmetric: negating a metric negates its coefficient. mirrored: it does, once the matrix is changed for another of
    these, as Table 5 for accuracies is for the one for error rates.
    """
    listed = (matrices or VARIANTS).values()
    rows: list[dict[str, Any]] = []
    for matrix in listed:
        mirrored = any(np.array_equal(other.values, matrix.opposite.values, equal_nan=True) for other in listed)
        answers = {"symmetric": _YES[matrix.symmetric], "mirrored": _YES[mirrored]}
        rows.append({"variant": matrix.name, "meaning": matrix.title, "formula": matrix.formula} | answers)
    return pd.DataFrame(rows)


def cells(matrices: dict[str, Matrix] | None = None) -> pd.DataFrame:
    """List all cells of matrices as rows: variant, human, metric, value (1, 0, -1 or X)."""
    rows = []
    for name, matrix in (matrices or VARIANTS).items():
        for (human, metric), value in zip(CELLS, matrix.cells.replace("/", " ").split(), strict=True):
            number = value if value == "X" else int(value)
            rows.append({"variant": name, "human": human, "metric": metric, "value": number})
    return pd.DataFrame(rows)


def grid(matrices: dict[str, Matrix] | None = None) -> pd.DataFrame:
    """Lay matrices out in a row each: variant, and a column a cell, human order first."""
    table = cells(matrices).pivot(index="variant", columns=["human", "metric"], values="value")
    table = table.loc[list(matrices or VARIANTS), CELLS].set_axis(
        [f"{human} {metric}" for human, metric in CELLS], axis=1
    )
    return table.reset_index()


def examples(matrices: dict[str, Matrix] | None = None) -> pd.DataFrame:
    """Work out the four examples of Stanchev et al. 2020, section 3, under each matrix.

    Columns example, then tau under each matrix. A metric has so many concordant, discordant and tied pairs; humans tie
    none.
    """
    cases = {
        "99 ties, 1 concordant": (1, 0, 99),
        "70 concordant, 30 discordant": (70, 30, 0),
        "20 ties, 80 concordant": (80, 0, 20),
        "80 ties, 20 concordant": (20, 0, 80),
    }
    rows = []
    for example, (right, wrong, tied) in cases.items():
        counts = np.array([[0, 0, 0], [0, 0, 0], [wrong, tied, right]])
        rows.append({"example": example} | {n: float(m.tau(counts)) for n, m in (matrices or VARIANTS).items()})
    return pd.DataFrame(rows)
