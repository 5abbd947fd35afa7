"""Choose a design: which numbers of segments, annotators and judgements suffice, and which of them is cheapest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.planning.components import variances as variances_of
from evalkit.human.planning.power import power, simulate_power

#: How many more separate annotators than the fewest are tried, in steps of two.
MOST_CREWS = 40
_PLAN = ["arrangement", "calibration", "segments", "judgements_each", "annotators", "judgements", "cost", "power"]


def curve(
    variances: Mapping[str, float], *, deltas: Sequence[float], segments: Sequence[int], **design: Any
) -> pd.DataFrame:
    """Return the power for every difference and number of segments: delta, segments, power. design: see ``power``."""
    grid = power(variances, delta=np.asarray(deltas)[:, None], segments=np.asarray(segments)[None], **design)
    table = pd.DataFrame(grid, index=pd.Index(deltas, name="delta"), columns=pd.Index(segments, name="segments"))
    return table.stack().rename("power").reset_index()


@dataclass(frozen=True)
class Limits:
    """What a campaign may cost, and the test that it must pass.

    target: power to be reached. alpha: error of the first kind of the two-sided test. cost_judgement, cost_annotator:
    of one judgement, of finding and training one annotator, in one currency. capacity: most judgements by one
    annotator, those of the calibration set among them. most_segments: size of the test set. most_judgements: of one
    translation. fewest_annotators: so that no single taste decides, where the variances have none. block: segments
    of a document. calibrations: sizes of calibration sets to try where annotators' levels matter; 0: none. metric: the
    correlation on differences of a metric that scores the whole test set, 0: none (see ``power``).
    """

    target: float = 0.8
    alpha: float = 0.05
    cost_judgement: float = 1.0
    cost_annotator: float = 100.0
    capacity: int = 1000
    most_segments: int = 2000
    most_judgements: int = 3
    fewest_annotators: int = 3
    block: int = 10
    calibrations: tuple[int, ...] = (0, 20, 50, 100)
    metric: float = 0.0

    def __post_init__(self) -> None:
        """Refuse limits that no design can meet."""
        if not 0 < self.alpha < self.target < 1:
            raise DataError(f"A target power of {self.target:g} is impossible. Give one between {self.alpha:g} and 1.")
        if not 1 <= self.block <= self.most_segments / 2 or self.capacity < 2 * self.block:
            raise DataError(f"Documents of {self.block} segments do not fit: raise most_segments or capacity.")
        if min(self.calibrations, default=-1) < 0 or self.most_judgements < 1 or self.fewest_annotators < 1:
            raise DataError(
                "calibrations must be sizes of 0 or more, and at least one judgement by one annotator made."
            )


def plan(variances: Mapping[str, float], *, delta: float, limits: Limits = Limits()) -> pd.DataFrame:
    """List the designs that find a difference of ``delta`` points within the limits, the cheapest first.

    Every arrangement that has a test is tried (see ``ARRANGEMENTS``), with every number of judgements of a translation
    and size of calibration set, and for each the fewest segments, in whole documents, that reach the target power in
    closed form.
    ``same`` and ``mixed`` take as few annotators as the limits allow; for ``separate``, and for ``same`` where
    annotators have tastes, their number is searched, too.
    Returns arrangement, calibration, segments, judgements_each (of a translation), annotators, judgements (all, those
    of the calibration set included), cost, power. Raises DataError where no design suffices.
    """
    found = _search(variances, delta, limits)
    if found.empty:
        raise DataError(
            f"No design within the limits finds {delta:g} points with power {limits.target:g}. "
            f"Raise most_segments or delta.{_smallest(variances, delta, limits)}"
        )
    return found


def _smallest(variances: Mapping[str, float], delta: float, limits: Limits) -> str:
    """Say roughly the smallest difference that a design finds, by halving; "" where none is near."""
    low, high = delta, 64 * delta
    if _search(variances, high, limits).empty:
        return ""
    while high - low > 0.05 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _search(variances, middle, limits).empty else (low, middle)
    return f" The smallest difference that one finds is about {high:.2g} points."


def by_pair(table: pd.DataFrame, *, delta: float, limits: Limits = Limits(), shared: float = 0.5) -> pd.DataFrame:
    """Take the cheapest design of each language pair: pair and the columns of ``plan``, missing where none suffices.

    table: the result of ``components``, with or without the component taste. shared: see ``variances``.
    """
    rows = [cheapest(variances_of(table, pair, shared=shared), delta=delta, limits=limits) for pair in table["pair"]]
    designs = pd.DataFrame(rows).reset_index(drop=True).convert_dtypes()
    return pd.concat([table["pair"].reset_index(drop=True), designs], axis=1)


def cheapest(variances: Mapping[str, float], *, delta: float, limits: Limits = Limits()) -> pd.Series:
    """Take the cheapest design of ``plan``: its columns, missing where none suffices."""
    found = _search(variances, delta, limits)
    return (found.iloc[0] if len(found) else pd.Series(dtype=object)).reindex(_PLAN)


def _search(variances: Mapping[str, float], delta: float, limits: Limits) -> pd.DataFrame:
    """Search the designs of ``plan``; no rows where none suffices."""
    if delta <= 0:
        raise DataError(f"A difference of {delta:g} points cannot be found. Give delta above 0.")
    rows = []
    for arrangement, calibration, each, crew in _designs(
        limits, tastes=variances.get("taste", 0) > 0, levels=not np.isnan(variances["annotator"])
    ):
        whole = evenly_shared(limits, arrangement=arrangement, crew=crew)
        if not len(whole):
            continue
        reached = power(
            variances,
            delta=delta,
            segments=whole,
            judgements=each,
            annotators=crew,
            arrangement=arrangement,
            block=limits.block,
            calibration=calibration,
            alpha=limits.alpha,
            metric=limits.metric,
            scored=limits.most_segments,
        )
        enough = np.flatnonzero(reached >= limits.target)
        if not len(enough):
            continue
        segments = int(whole[enough[0]])
        ordinary, free = 2 * segments * each, limits.capacity - calibration
        at_once = each if arrangement == "same" else 2 * each
        people = crew or max(math.ceil(ordinary / free), limits.fewest_annotators, at_once)
        total = ordinary + people * calibration
        cost = total * limits.cost_judgement + people * limits.cost_annotator
        if ordinary <= people * free:
            rows.append((arrangement, calibration, segments, each, people, total, cost, float(reached[enough[0]])))
    return pd.DataFrame(rows, columns=_PLAN).sort_values(["cost", "judgements", "segments"], ignore_index=True)


def evenly_shared(limits: Limits, *, arrangement: str, crew: int) -> np.ndarray:
    """List the numbers of segments, in whole documents, that a crew can share evenly; crew 0: any number of people.

    >>> evenly_shared(Limits(most_segments=70, block=10), arrangement="same", crew=3).tolist()
    [30, 60]
    """
    sizes = np.arange(2, limits.most_segments // limits.block + 1) * limits.block
    shares = crew // 2 if arrangement == "separate" else crew
    return np.asarray(sizes[sizes % (limits.block * max(shares, 1)) == 0])


def setting(
    *, favourites: bool, arrangement: str = "same", judgements: int = 1, annotators: int = 0, calibration: int = 0
) -> str:
    """Say in a few words what a curve of power is about; annotators where their number matters, else 0.

    >>> setting(favourites=True, annotators=13)
    'the same 13 annotators for both systems, each translation scored once, people having favourites'
    """
    crew = f" {annotators}" if annotators and (favourites or arrangement == "separate") else ""
    who = {
        "same": f"the same{crew} annotators for both systems",
        "mixed": "annotators dealt out at random",
        "separate": f"{crew} annotators, half of them for each system".strip(),
    }[arrangement]
    calibrated = f" after a calibration set of {calibration} segments" if calibration else ""
    return (
        f"{who}, each translation scored {_times(judgements)}{calibrated}, "
        f"{'people' if favourites else 'nobody'} having favourites"
    )


def _times(judgements: int) -> str:
    return {1: "once", 2: "twice"}.get(judgements, f"{judgements} times")


def _designs(limits: Limits, *, tastes: bool, levels: bool) -> Iterator[tuple[str, int, int, int]]:
    """Yield arrangement, calibration, judgements of a translation, annotators (0: as few as their capacity allows).

    Where annotators have tastes, ``same`` has each document judged once by one of a searched number, and ``mixed`` no
    test. levels: whether annotators' levels are known; else nothing is planned in which they do not cancel.
    """
    sets = [size for size in limits.calibrations if levels and limits.capacity - size >= limits.block]
    even = max(4, limits.fewest_annotators + limits.fewest_annotators % 2)
    if tastes:
        fewest = max(2, limits.fewest_annotators)
        yield from (("same", 0, 1, crew) for crew in range(fewest, fewest + MOST_CREWS))
    for each in range(1, limits.most_judgements + 1) if not tastes else ():
        yield "same", 0, each, 0
        yield from (("mixed", size, each, 0) for size in sets)
    yield from (("separate", size, 1, crew) for size in sets for crew in range(even, even + MOST_CREWS, 2))


def compare(
    variances: Mapping[str, float],
    *,
    deltas: Sequence[float],
    limits: Limits = Limits(),
    resamples: int = 1000,
    seed: int = 7,
) -> pd.DataFrame:
    """List the cheapest design of each kind for each difference, its power also by simulation.

    deltas: true differences, points. Kinds are the arrangements, with and without a calibration set. Returns delta,
    the columns of ``plan`` (power in closed form as ``power_closed_form``), and power, power_low, power_high from
    ``resamples`` simulated campaigns. Kinds that reach no design within the limits have no row. Raises DataError where
    that holds of all.
    """
    parts = []
    for delta in deltas:
        found = _search(variances, delta, limits)
        kinds = found["arrangement"] + (found["calibration"] > 0).astype(str)
        parts.append(found[~kinds.duplicated()].assign(delta=float(delta)))
    table = pd.concat(parts, ignore_index=True)
    if table.empty:
        raise DataError(f"No design within the limits finds {max(deltas):g} points. Raise most_segments or delta.")
    simulated = [
        simulate_power(
            variances,
            delta=row.delta,
            segments=row.segments,
            judgements=row.judgements_each,
            annotators=row.annotators,
            arrangement=row.arrangement,
            calibration=row.calibration,
            block=limits.block,
            alpha=limits.alpha,
            resamples=resamples,
            seed=seed + row.Index,
        )
        for row in table.itertuples()
    ]
    table = table.rename(columns={"power": "power_closed_form"}).join(pd.DataFrame(simulated))
    return table[["delta", *table.columns.drop("delta")]]


def describe(design: Mapping[str, Any], *, delta: float) -> str:
    """Say in one sentence what a design of ``plan`` asks for."""
    how = {
        "same": "each of whom scores both systems' translations of a document",
        "mixed": "with the documents of the two systems dealt out to them by chance",
        "separate": "half of them for each system",
    }[design["arrangement"]]
    crew = f"{design['annotators']} annotators, {how}"
    calibrated = f", after a calibration set of {design['calibration']} segments" if design["calibration"] else ""
    return (
        f"To distinguish two systems {delta:g} points apart you need {design['segments']:,} segments, each translation "
        f"scored {_times(design['judgements_each'])}, so {design['judgements']:,} judgements by {crew}{calibrated}."
    )


def span(designs: pd.DataFrame, unit: str) -> str:
    """Say between which numbers of a unit the designs of ``by_pair`` lie, and how many language pairs have none.

    >>> designs = pd.DataFrame({"pair": ["eng-deu", "eng-jpn", "eng-zho"], "segments": [410, 1890, None]})
    >>> span(designs, "segments")
    '410 to 1,890 segments (in 1 of 3 language pairs no campaign within the limits does it)'
    """
    found = designs[unit].dropna()
    numbers = f"{int(found.min()):,} to {int(found.max()):,}" if len(found) else "more than the limits allow:"
    lost = len(designs) - len(found)
    none = f" (in {lost} of {len(designs)} language pairs no campaign within the limits does it)"
    return f"{numbers} {unit}{none if lost else ''}"
