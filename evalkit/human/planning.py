"""Plan a campaign: the chance to find a difference between two systems, and the cheapest design that finds it.

Power: in closed form, by simulation, watched every day, or of people's choices instead of scores. Designs: which
numbers of segments, annotators and judgements suffice. Variances are those of ``components.of_pair``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special, stats

from evalkit import DataError
from evalkit.human.components import NEEDED, Variances, of_pair
from evalkit.stats import inference

#: Who judges which system. same: whoever scores a document scores it by both systems. mixed: each document is given
#: to other annotators for each system, by chance.
ARRANGEMENTS = ("same", "mixed")
#: How many more annotators than the fewest are tried where their number decides.
MOST_CREWS = 40
#: Most segments that ``smallest_crew`` looks for, and most annotators.
MOST_SEGMENTS, MOST_PEOPLE = 20000, 1000
#: How the design without a metric is called.
ALONE = "people alone"
_PLAN = ["arrangement", "calibration", "segments", "judgements_each", "annotators", "judgements", "cost", "power"]


def power(
    variances: Variances,
    *,
    delta: ArrayLike,
    segments: ArrayLike,
    annotators: ArrayLike = 10,
    alpha: float = 0.05,
    **design: Any,
) -> np.ndarray:
    r"""Return the chance of finding a true difference between two systems, by a two-sided paired t-test.

    delta: true difference of mean scores, points. segments: n source segments, translated by both systems, in
    documents of ``block`` b segments. variances: see ``components.of_pair``. design: fields of ``Design``; judgements:
    r, of each translation.
    The test is over the D = n / b documents' differences, whose variance is

    .. math:: \sigma_d^2 = 2\,(V_{document} + V_{item}/b + (V_{residual}/b + V_{block} + \kappa V_{level}) / r)

    with :math:`\kappa` = 0 for ``same`` and 1 for ``mixed``. Power is that of the noncentral t distribution with D - 1
    degrees of freedom and noncentrality :math:`\delta\sqrt{D}/\sigma_d`; exact for normal scores in ``same``.
    ``calibration``: segments of single documents that annotators' levels are estimated on; 0: raw scores. Broadcasts
    delta, segments, annotators.
    A sixth variance, ``taste``, says how differently annotators like a system. Then documents of one annotator are no
    independent evidence: in ``same`` the test is over the m annotators' differences, each from D / m documents, with
    variance :math:`2\,(V_{taste} + (V_{document} + V_{item}/b + V_{block} + V_{residual}/b)\,m/D)` and m - 1 degrees of
    freedom; ``mixed`` has no such test.
    metric: the correlation :math:`\rho` of a metric with human scores on differences of the two systems. As
    a control variate on N = ``scored`` segments, judged ones included, it takes :math:`\rho^2(1 - n/N)` off the
    variance of documents, items and noise, but nothing off levels and tastes, and one degree of freedom.
    Caveat: ``mixed`` is an approximation that improves with the number of annotators. The ends of the scale are not in
    the model.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> power(V, delta=3, segments=[100, 200], block=10).round(2).tolist()
    [0.2, 0.38]
    """
    planned = _fitting(variances, **design)
    shift, freedom, units = planned.test(variances, delta, segments, annotators)
    if planned.over_annotators and (np.min(units) < 2 or (np.asarray(segments) < units * planned.block).any()):
        raise DataError("A test over annotators needs two of them or more, and a document for each.")
    return t_power(shift, freedom, alpha=alpha)


@dataclass(frozen=True)
class Design:
    """Who judges what, and how often, but for the numbers of segments and annotators; the options of ``power``.

    over_annotators: whether the test is over annotators' differences, not documents', where the same judge both.
    """

    arrangement: str = "same"
    over_annotators: bool = False
    calibration: int = 0
    judgements: int = 1
    block: int = 10
    metric: float = 0.0
    scored: float = np.inf

    def test(
        self, variances: Variances, delta: ArrayLike, segments: ArrayLike, annotators: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the noncentrality of ``power``'s test, its degrees of freedom, and over how many units it is."""
        self.check(variances, segments, annotators)
        documents = np.asarray(segments, float) / self.block
        units = np.asarray(annotators) if self.over_annotators else documents
        left = 1 - self.metric**2 * np.clip(1 - np.asarray(segments, float) / self.scored, 0, 1)
        own = left * document_variance(variances, block=self.block, judgements=self.judgements)
        added = self.added_variance(variances) / self.judgements
        error = np.sqrt(2 * (own / documents + added / units))
        return np.abs(np.asarray(delta, float)) / error, np.maximum(units - 1 - (self.metric > 0), 1), units

    def added_variance(self, variances: Variances) -> float:
        """Return what scatters between annotators beside their documents, squared points: tastes, and where they do not
        cancel, levels, or what a calibration set leaves of them.
        """
        taste, level = variances.get("taste", 0.0), variances["annotator"]
        if self.calibration:
            level = (variances["block"] + variances["residual"]) / self.calibration
        return taste if self.arrangement == "same" else taste + level

    def check(self, variances: Variances, segments: ArrayLike, annotators: ArrayLike) -> None:
        """Refuse what no test can be made of."""
        known = {name: variances.get(name, -1) for name in NEEDED}
        if self.arrangement == "same" and math.isnan(known["annotator"]):
            known["annotator"] = 0.0  # nobody knows it, and it cancels
        wrong = [name for name, value in known.items() if not value >= 0]
        few = self.block < 1 or self.judgements < 1 or np.min(segments) < 2 * self.block
        dealt = self.arrangement == "mixed" and variances.get("taste", 0) > 0
        problems = {
            f"arrangement={self.arrangement!r} is not known": self.arrangement not in ARRANGEMENTS,
            f"the components {', '.join(wrong)} are missing or negative; give squared points": wrong,
            f"it needs two documents or more: raise segments to {2 * self.block:g}, or make block smaller": few,
            f"a metric's correlation is from 0 to below 1, and not {self.metric:g}": not 0 <= self.metric < 1,
            "annotators with tastes judge each segment once; set judgements to 1": self.over_annotators
            and self.judgements > 1,
            "annotators with tastes make documents dealt out by chance no independent evidence; "
            "choose the arrangement same": dealt,
        }
        for problem, there in problems.items():
            if there:
                raise DataError(f"This design has no test: {problem}.")


def _fitting(variances: Variances, *, arrangement: str = "same", **design: Any) -> Design:
    """Make a design: over annotators where the same ones judge both systems, and like them differently."""
    return Design(arrangement, arrangement == "same" and variances.get("taste", 0) > 0, **design)


def t_power(shift: ArrayLike, freedom: ArrayLike, *, alpha: float = 0.05) -> np.ndarray:
    """Return the power of a two-sided t-test with its noncentrality ``shift``, 0 or more; both broadcast.

    shift: the true difference over its standard error. freedom: degrees of freedom, 1 or more.

    >>> t_power([0, 3], [9, 9]).round(2).tolist()
    [0.05, 0.76]
    """
    shift, freedom = np.asarray(shift, float), np.asarray(freedom, float)
    critical = stats.t.isf(alpha / 2, freedom)
    # The wrong tail has less than the normal's probability below -shift, which vanishes; scipy gives NaN far out there.
    wrong_sign = np.where(shift < 8, stats.nct.cdf(-critical, freedom, np.minimum(shift, 8)), 0.0)
    return np.asarray(stats.nct.sf(critical, freedom, shift) + wrong_sign)


def document_variance(variances: Variances, *, block: float, judgements: int = 1) -> float:
    """Return what scatters in the mean of a document's ``block`` segments of one system, squared points.

    judgements: of each translation, by as many annotators. Levels of annotators, and their tastes, are not in it.

    >>> document_variance({"document": 5.0, "item": 40.0, "block": 20.0, "residual": 60.0}, block=10)
    35.0
    """
    noise = (variances["residual"] / block + variances["block"]) / judgements
    return variances["document"] + variances["item"] / block + noise


def curve(variances: Variances, *, deltas: Sequence[float], segments: Sequence[int], **design: Any) -> pd.DataFrame:
    """Return the power for every difference and number of segments: delta, segments, power. design: see ``power``."""
    grid = power(variances, delta=np.asarray(deltas)[:, None], segments=np.asarray(segments)[None], **design)
    table = pd.DataFrame(grid, index=pd.Index(deltas, name="delta"), columns=pd.Index(segments, name="segments"))
    return table.stack().rename("power").reset_index()


def simulate_power(
    variances: Variances,
    *,
    delta: float,
    segments: int,
    annotators: int = 10,
    alpha: float = 0.05,
    resamples: int = 2000,
    over: str = "annotators",
    seed: int = 7,
    **options: Any,
) -> dict[str, float]:
    """Count how often simulated campaigns find a true difference; every single judgement is drawn.

    Scores are the sum of normal effects with the given variances; the calibration set is drawn too, and each
    annotator's mean on it is taken off their scores. The test is that of ``power``; ``segments`` is rounded down to
    whole documents (with taste: to as many for each annotator). over:
    "documents" tests over documents where annotators have tastes, as if they had none. options: fields of ``Design``.
    Returns power, power_low, power_high: the share of ``resamples`` campaigns with p below alpha and its 95 % Wilson
    interval.
    """
    design = _fitting(variances, **options)
    design.check(variances, segments, annotators)
    each = 2 * design.judgements
    if design.arrangement == "mixed" and annotators < each:
        raise DataError(f"Mixed annotators: {each} judge each document. Raise annotators to that number.")
    documents, by_person = segments // design.block, design.over_annotators
    if by_person:
        documents = documents // annotators * annotators
    if not documents:
        raise DataError("Each annotator needs a document. Raise segments, or lower annotators.")

    def found(campaigns: int, rng: np.random.Generator) -> int:
        differences = delta + _campaigns(variances, design, (campaigns, annotators, documents), rng)
        if by_person and over == "annotators":
            differences = differences.reshape(campaigns, annotators, -1).mean(axis=2)
        return int((stats.ttest_1samp(differences, 0, axis=1).pvalue < alpha).sum())

    numbers = documents * design.block * each + annotators * (design.calibration + documents)
    hits = sum(inference.in_blocks(found, resamples, seed=np.random.default_rng(seed), numbers=numbers))
    interval = stats.binomtest(hits, resamples).proportion_ci(0.95, method="wilson")
    return {"power": hits / resamples, "power_low": float(interval.low), "power_high": float(interval.high)}


def _campaigns(
    variances: Variances, design: Design, shape: tuple[int, int, int], rng: np.random.Generator
) -> np.ndarray:
    """Draw campaigns judgement by judgement; return (campaigns, units) differences of the units' mean scores.

    shape: of campaigns, annotators, documents.
    """
    campaigns, annotators, documents = shape
    judges, block, arrangement = design.judgements, design.block, design.arrangement

    def normal(variance: float, *sizes: int) -> np.ndarray:
        return rng.standard_normal((campaigns, *sizes), dtype=np.float32) * np.float32(math.sqrt(variance))

    levels = normal(0.0 if arrangement == "same" else variances["annotator"], annotators)
    if design.calibration:  # what is taken off holds the level itself and the mean error over the set
        noise = normal(variances["block"], annotators, design.calibration)
        levels = -(noise + normal(variances["residual"], annotators, design.calibration)).mean(axis=2, dtype=float)
    dealt = "evenly" if design.over_annotators else arrangement
    who = _assigned((campaigns, documents, 2, judges), annotators, dealt, rng)
    given = np.take_along_axis(levels[:, None, None, :], who, axis=3)
    if taste := variances.get("taste", 0.0):
        given = given + np.take_along_axis(normal(taste, 2, annotators)[:, None], who, axis=3)
    scores = normal(variances["residual"], documents, 2, judges, block)
    scores += normal(variances["item"], documents, 2, 1, block) + normal(variances["document"], documents, 2, 1, 1)
    scores += (given + normal(variances["block"], documents, 2, judges))[..., None]
    means = scores.mean(axis=(3, 4), dtype=float)
    return means[:, :, 0] - means[:, :, 1]


def _assigned(
    shape: tuple[int, int, int, int], annotators: int, arrangement: str, rng: np.random.Generator
) -> np.ndarray:
    """Say who judges which document by which system: ``shape`` (campaigns, documents, 2, judges) of annotators."""
    campaigns, documents, _, judges = shape
    if arrangement == "evenly":
        return np.broadcast_to(np.repeat(np.arange(annotators), documents // annotators)[:, None, None], shape)
    drawn = rng.random((campaigns, documents, annotators)).argsort(axis=2)
    if arrangement == "same":
        return np.broadcast_to(drawn[:, :, None, :judges], shape)
    return drawn[..., : 2 * judges].reshape(shape)


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

    def designs(self, variances: Variances) -> Iterator[tuple[Design, np.ndarray | None]]:
        """Yield designs, and the numbers of annotators to try with each (None: as few as can be).

        Where annotators have tastes, ``same`` has each document judged once by one of a searched number, and ``mixed``
        no test. Where levels are unknown (missing), nothing is planned in which they do not cancel.
        """
        plain = Design(block=self.block, metric=self.metric, scored=self.most_segments)
        known = not np.isnan(variances["annotator"])
        sets = [size for size in self.calibrations if known and self.capacity - size >= self.block]
        if variances.get("taste", 0) > 0:
            yield replace(plain, over_annotators=True), np.arange(MOST_CREWS) + max(2, self.fewest_annotators)
        else:
            for each in range(1, self.most_judgements + 1):
                yield replace(plain, judgements=each), None
                yield from ((replace(plain, arrangement="mixed", calibration=n, judgements=each), None) for n in sets)


def plan(variances: Variances, *, delta: float, limits: Limits = Limits()) -> pd.DataFrame:
    """List the designs that find a difference of ``delta`` points within the limits, the cheapest first.

    Every arrangement that has a test is tried (see ``ARRANGEMENTS``), with every number of judgements of a translation
    and size of calibration set, and for each the fewest segments, in whole documents, that reach the target power in
    closed form.
    Designs take as few annotators as the limits allow; where annotators have tastes, their number is searched, too.
    Returns arrangement, calibration, segments, judgements_each (of a translation), annotators, judgements (all, those
    of the calibration set included), cost, power. Raises DataError where no design suffices.
    """
    found = _search(variances, delta, limits)
    if found.empty:
        raise DataError(
            f"No design within the limits finds {delta:g} points with power {limits.target:g}. "
            "Raise most_segments or delta."
        )
    return found


def by_pair(table: pd.DataFrame, *, delta: float, limits: Limits = Limits(), shared: float = 0.5) -> pd.DataFrame:
    """Take the cheapest design of each language pair: pair and the columns of ``plan``, missing where none suffices.

    table: of ``components.estimate``, with or without the component taste. shared: see ``components.of_pair``.
    """
    rows = [cheapest(of_pair(table, pair, shared=shared), delta=delta, limits=limits) for pair in table["pair"]]
    designs = pd.DataFrame(rows).reset_index(drop=True).convert_dtypes()
    return pd.concat([table["pair"].reset_index(drop=True), designs], axis=1)


def cheapest(variances: Variances, *, delta: float, limits: Limits = Limits()) -> pd.Series:
    """Take the cheapest design of ``plan``: its columns, missing where none suffices."""
    found = _search(variances, delta, limits)
    return (found.iloc[0] if len(found) else pd.Series(dtype=object)).reindex(_PLAN)


def with_metric(
    variances: Variances, *, delta: float, limits: Limits, correlations: Mapping[str, float]
) -> pd.DataFrame:
    """Take the cheapest design without a metric, and with one of each correlation, and count what is saved.

    correlations: name -> correlation on differences of two systems (see ``power``); its sign does not matter. The
    metric scores all ``limits.most_segments`` segments at no cost.
    Returns metric (``ALONE`` first), r, at_most (r squared: the share that endless scored segments would save), the
    columns of ``plan``, fewer (judgements saved) and share (of those of people alone); missing where no design does.
    Caveat: the correlation is that of single segments, each judged as often as where it was measured, and is taken to
    hold for means of documents.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> found = with_metric(V, delta=3, limits=Limits(most_segments=4000), correlations={"within": 0.7, "paired": 0.37})
    >>> found[["metric", "judgements", "share"]].round(2).values.tolist()
    [['people alone', 1100, 0.0], ['within', 620, 0.44], ['paired', 980, 0.11]]
    """
    names = {ALONE: 0.0} | {name: abs(value) for name, value in correlations.items()}
    rows = [cheapest(variances, delta=delta, limits=replace(limits, metric=value)) for value in names.values()]
    metrics = pd.DataFrame({"metric": names.keys(), "r": names.values()}).assign(at_most=lambda found: found["r"] ** 2)
    table = metrics.join(pd.DataFrame(rows).reset_index(drop=True).convert_dtypes())
    fewer = table["judgements"].iloc[0] - table["judgements"]
    return table.assign(fewer=fewer, share=(fewer / table["judgements"].iloc[0]).astype("Float64"))


def compare(
    variances: Variances, *, deltas: Sequence[float], limits: Limits = Limits(), resamples: int = 1000, seed: int = 7
) -> pd.DataFrame:
    """List the cheapest design of each kind for each difference, its power also by simulation.

    deltas: true differences, points. Kinds are the arrangements, with and without a calibration set. Returns delta,
    the columns of ``plan`` (power in closed form as ``power_closed_form``), and power, power_low, power_high from
    ``resamples`` simulated campaigns. Kinds that reach no design within the limits have no row. Raises DataError where
    that holds of all.
    """
    table = pd.concat([_search(variances, delta, limits).assign(delta=float(delta)) for delta in deltas])
    if table.empty:
        raise DataError(f"No design within the limits finds {max(deltas):g} points. Raise most_segments or delta.")
    kinds = table.assign(kind=table["calibration"] > 0)[["delta", "arrangement", "kind"]]
    table = table[~kinds.duplicated()].reset_index(drop=True)
    names = ["delta", "arrangement", "calibration", "segments", "annotators", "judgements"]
    designs = table.assign(judgements=table["judgements_each"])[names].to_dict("records")
    options: dict[str, Any] = {"block": limits.block, "alpha": limits.alpha, "resamples": resamples}
    simulated = [simulate_power(variances, **one, **options, seed=seed + k) for k, one in enumerate(designs)]
    table = table.rename(columns={"power": "power_closed_form"}).join(pd.DataFrame(simulated))
    return table[["delta", *table.columns.drop("delta")]]


class Crew(NamedTuple):
    """Annotators who judge two systems, and segments of their own for each of them.

    segments_each: of one annotator, in whole documents, each translation judged once. variance: of the difference of
    the two systems' mean scores, squared points.
    """

    annotators: int
    segments_each: int
    segments: int
    variance: float


def smallest_crew(
    variances: Variances, *, delta: float, block: int, capacity: int, over_annotators: bool
) -> Crew | None:
    r"""Return the cheapest crew that finds ``delta`` points at the default ``Limits``; None where none is.

    Whoever judges a segment judges it by both systems (``same``, see ``power``), each translation once. variances: as
    ``components.of_pair`` returns them. block: segments of a document. capacity: most judgements of one annotator.
    over_annotators: whether the test is over annotators' differences. It then has m - 1 degrees of freedom, and with d
    documents each the variance is

    .. math:: v = \frac{2}{m}\Big(V_{taste} + \frac{V_{document} + V_{block} + (V_{item} + V_{residual})/b}{d}\Big)

    Otherwise it is over all documents, and only their number matters.
    Raises DataError for a document that is larger than what one annotator may judge.

    >>> V = {"document": 5.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0, "taste": 6.0}
    >>> smallest_crew(V, delta=6, block=10, capacity=400, over_annotators=True)
    Crew(annotators=8, segments_each=50, segments=400, variance=3.25)
    """
    limits = Limits(block=block, capacity=capacity, most_segments=MOST_SEGMENTS, fewest_annotators=1)
    parts = {**variances, "taste": variances.get("taste", 0.0) * over_annotators}
    crews = np.arange(2, MOST_PEOPLE + 1) if over_annotators else None
    design = Design(block=block, over_annotators=over_annotators)
    if delta <= 0 or (table := _rows(parts, delta, limits, design, crews)).empty:
        return None
    people, segments = table.loc[table["cost"].astype(float).idxmin(), ["annotators", "segments"]].astype(int)
    own = document_variance(variances, block=block) * block / segments
    each = math.ceil(segments // block / people) * block
    return Crew(people, each, segments, 2 * (parts["taste"] / people + own))


def _search(variances: Variances, delta: float, limits: Limits) -> pd.DataFrame:
    """Search the designs of ``plan``; no rows where none suffices."""
    if delta <= 0:
        raise DataError(f"A difference of {delta:g} points cannot be found. Give delta above 0.")
    parts = []
    for design, crews in limits.designs(variances):
        rows = _rows(variances, delta, limits, design, crews)
        if len(rows):
            shift, freedom, _ = design.test(
                variances, delta, rows["segments"].to_numpy(), rows["annotators"].to_numpy()
            )
            parts.append(rows.assign(power=t_power(shift, freedom, alpha=limits.alpha)))
    table = pd.concat(parts) if parts else pd.DataFrame(columns=_PLAN)
    return table.sort_values(["cost", "judgements", "segments"], ignore_index=True)


def _rows(variances: Variances, delta: float, limits: Limits, design: Design, crews: np.ndarray | None) -> pd.DataFrame:
    """Make ``plan``'s rows, but for the power: of each crew, or of one as small as can be; none where none suffices."""
    both = 2 if design.arrangement == "same" else 1  # who judges a document judges it by both systems
    free, each = limits.capacity - design.calibration, design.judgements
    segments = _fewest_segments(variances, delta, limits, design, crews)
    if crews is None:
        people = np.ceil(segments / limits.block * each * 2 / both / (free // (both * limits.block)))
        crews = np.maximum(people, max(limits.fewest_annotators, each * 2 // both))
    kept = (segments <= limits.most_segments) & (2 * segments * each <= crews * free)
    segments, crews = segments[kept].astype(int), crews[kept].astype(int)
    judgements = 2 * segments * each + crews * design.calibration
    cost = judgements * limits.cost_judgement + crews * limits.cost_annotator
    columns = (design.arrangement, design.calibration, segments, each, crews, judgements, cost)
    return pd.DataFrame(dict(zip(_PLAN, columns, strict=False)))


def _fewest_segments(
    variances: Variances, delta: float, limits: Limits, design: Design, crews: np.ndarray | None
) -> np.ndarray:
    """Find by halving with how few segments each crew's test reaches the target; infinite where none does.

    crews: numbers of annotators where the test is over them, who then judge equally many documents each; None where it
    is over documents.
    """
    people = np.array([1]) if crews is None else crews  # of documents dealt to anybody the number does not matter
    most = limits.most_segments // limits.block
    needed = _shifts(limits.target, limits.alpha, max(MOST_PEOPLE, most))

    def enough(number: np.ndarray) -> np.ndarray:
        segments = np.maximum(number * people, 2) * limits.block
        shift, freedom, _ = design.test(variances, delta, segments, people)
        return shift >= needed[freedom.astype(int) - 1]

    low, high = np.zeros(len(people), int), most // people
    reached = (high > 0) & enough(high)
    while (high - low > 1).any():
        middle = (low + high) // 2
        there = enough(middle)
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return np.where(reached, np.maximum(high * people, 2) * limits.block, np.inf)


@functools.cache
def _shifts(target: float, alpha: float, most: int) -> np.ndarray:
    """Return the noncentrality with which tests of 1, 2, … degrees of freedom find the right sign with ``target``."""
    freedom = np.arange(1, most + 1)
    return special.nctdtrinc(freedom, 1 - target, stats.t.isf(alpha / 2, freedom))


def evenly_shared(limits: Limits, *, crew: int) -> np.ndarray:
    """List the numbers of segments, in whole documents, that a crew can share evenly; crew 0: any number of people.

    >>> evenly_shared(Limits(most_segments=70, block=10), crew=3).tolist()
    [30, 60]
    """
    sizes = np.arange(2, limits.most_segments // limits.block + 1) * limits.block
    return np.asarray(sizes[sizes % (limits.block * max(crew, 1)) == 0])


def describe(design: Mapping[str, Any], *, delta: float) -> str:
    """Say in two sentences what a design of ``plan`` asks for."""
    how = {
        "same": "each of whom scores both systems' translations of a document",
        "mixed": "with the documents of the two systems dealt out to them by chance",
    }[design["arrangement"]]
    each = design["judgements_each"]
    often = {1: "once", 2: "twice"}.get(each, f"{each} times")
    calibrated = f", after a calibration set of {design['calibration']} segments" if design["calibration"] else ""
    return (
        f"To distinguish two systems {delta:g} points apart you need {design['segments']:,} segments and "
        f"{design['annotators']} annotators, {how}{calibrated}. "
        f"Each translation is scored {often}, which makes {design['judgements']:,} judgements."
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
