"""Steered campaigns: which systems to show next, what their means are worth, and may one stop now?

Replays draw scores from real judgements, so that each system's true mean is known. A judgement weighs one over the
logged probability that its screen shows the system.

Source of ``by_rank``: dynamic assignment of Pearmut 1.1.6 (github.com/zouharvi/pearmut, ``assignment.py``), a tool in
use at WMT26 with three systems a screen. Earlier states of it had other weights, such as 1, 1/2, 1/3 ….
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit.data.designs import inclusion_by_place
from evalkit.data.schemas import with_pair
from evalkit.human.ranking.scores import COUNTED
from evalkit.stats.inference import share_interval

#: Systems on a screen, as at WMT26, and times that each is shown, drawn evenly, before scores have a say.
SHOWN, START = 3, 20
#: Share of screens on which ``greedy`` shows systems that were drawn evenly.
EVENLY = 0.1
#: Screens after which the first look is taken, and those between looks: a day's work.
FIRST, DAY = 40, 20
#: Screens with both systems at which ``shared_sequence`` is tightest; it speaks from half as many on.
SHARED = 50
#: Points at which ``repeated`` follows a density.
NODES = 200
#: Fewest systems, and fewest texts of each, of a language pair that is replayed; most screens of a replay.
LEAST_SYSTEMS, LEAST_TEXTS, MOST_SCREENS = 5, 10, 600
#: What is asked of stopping rules, in words that fit a table's heading.
ALIKE, BETTER = "two alike", "better by {:g}"


@dataclass(frozen=True)
class Log:
    """Campaigns as they were logged, each array (campaigns, screens, systems).

    scores: NaN where a screen did not show a system. probability: that the screen would show it, given what was known
    before; 0 where it could not.
    """

    scores: np.ndarray
    probability: np.ndarray

    @cached_property
    def shown(self) -> np.ndarray:
        """Which systems each screen showed."""
        return np.isfinite(self.scores)

    @cached_property
    def known(self) -> np.ndarray:
        """The scores, 0 where there is none."""
        return np.where(self.shown, self.scores, 0)

    @cached_property
    def weights(self) -> np.ndarray:
        """One over the probability of what was shown, 0 elsewhere."""
        return self.shown / np.where(self.shown, self.probability, 1)

    def of(self, systems: Sequence[int]) -> Log:
        """Return what the campaigns logged of some systems, in this order."""
        places = list(systems)
        return Log(self.scores[..., places], self.probability[..., places])


# Which systems to show next


def uniform(places: np.ndarray, shown: int) -> np.ndarray:
    """Show every system as often as every other."""
    return np.full(places.shape, shown / places.shape[-1])


def by_rank(places: np.ndarray, shown: int) -> np.ndarray:
    """Draw systems with weights 1/2, 1/2, 1/3, 1/4 … by their place so far, as Pearmut does."""
    return inclusion_by_place(places.shape[-1], shown)[places]


def greedy(places: np.ndarray, shown: int) -> np.ndarray:
    """Show the systems that lead, and on one screen in ten any (ε-greedy, ε = ``EVENLY``)."""
    return EVENLY * uniform(places, shown) + (1 - EVENLY) * (places < shown)


#: A name, as the study prints it -> each system's place so far, counted from 0, (campaigns, systems), and systems a
#: screen -> the probability that a screen shows a system, likewise.
POLICIES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "uniform": uniform,
    "by rank": by_rank,
    "greedy": greedy,
}


def draw(
    grid: np.ndarray,
    *,
    campaigns: int,
    screens: int,
    rng: np.random.Generator,
    alike: Sequence[int] = (),
    shared: bool = True,
) -> np.ndarray:
    """Draw what every system would be given on every screen: (campaigns, screens, systems).

    grid: systems × texts, a score for each; NaN only where ``shared`` is false. shared: all systems of a screen
    translate one text; else each has texts of its own, for judgements that no two systems share. alike: systems that
    exchange their names at random on every screen, so that they do not differ at all.
    """
    shape = (campaigns, screens)
    if shared:
        drawn = grid[:, rng.integers(grid.shape[1], size=shape)].transpose(1, 2, 0)
    else:
        pools = [row[np.isfinite(row)] for row in grid]
        drawn = np.stack([pool[rng.integers(len(pool), size=shape)] for pool in pools], axis=2)
    if len(alike):
        order = np.broadcast_to(np.arange(len(grid)), drawn.shape).copy()
        order[..., list(alike)] = rng.permuted(order[..., list(alike)], axis=-1)
        drawn = np.take_along_axis(drawn, order, axis=-1)
    return drawn


def steer(
    drawn: np.ndarray, policy: str, *, rng: np.random.Generator, shown: int = SHOWN, start: int = START, every: int = 10
) -> Log:
    """Let a policy choose what is seen of drawn scores.

    drawn: what ``draw`` returns. policy: a name of ``POLICIES``. shown: systems a screen. start: screens are even until
    each system was shown about so often. every: screens that are given out before the policy looks at scores again, as
    people work at the same time. A system that nobody saw is taken for the best.
    """
    campaigns, screens, systems = drawn.shape
    chance, scores = np.empty_like(drawn), np.full_like(drawn, np.nan)
    counts, sums = np.zeros((2, campaigns, systems))
    warm = -(-systems * start // shown)
    for first in [*range(0, min(warm, screens), every), *range(warm, screens, every)]:
        last = min(first + every, warm if first < warm else screens, screens)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
        places = np.argsort(np.argsort(-means, axis=1, kind="stable"), axis=1)
        choose = uniform if first < warm else POLICIES[policy]
        chance[:, first:last] = choose(places, shown)[:, None]
        seen = chosen(chance[:, first:last], rng)
        np.copyto(scores[:, first:last], drawn[:, first:last], where=seen)
        counts += seen.sum(axis=1)
        sums += np.where(seen, drawn[:, first:last], 0).sum(axis=1)
    return Log(scores, chance)


def chosen(chance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose systems so that each has the probability that is asked for, and every screen shows equally many.

    chance: (…, systems), from 0 to 1, sums are whole. Systematic sampling in random order (Madow 1949): a step of 1
    along the summed probabilities, from a random start.
    """
    order = rng.random(chance.shape).argsort(axis=-1)
    ends = np.cumsum(np.take_along_axis(chance, order, axis=-1), axis=-1)
    ends[..., -1] = np.round(ends[..., -1])
    steps = np.ceil(ends - rng.random((*chance.shape[:-1], 1)))
    found = np.zeros(chance.shape, bool)
    np.put_along_axis(found, order, np.diff(steps, axis=-1, prepend=0) > 0, axis=-1)
    return found


# What means are worth


#: Means and their standard errors, (campaigns, systems) each; NaN where a system was not judged.
Estimate = tuple[np.ndarray, np.ndarray]
#: A name, as the study prints it -> how means are estimated. In turn: as if nobody had steered; by one over the
#: probability, divided by the sum of weights (Hájek 1971) or by the screens (Horvitz & Thompson 1952).
ESTIMATES: dict[str, Callable[[Log], Estimate]] = {
    "plain mean": lambda log: ratio(log.scores, log.shown.astype(float)),
    "weighted, stabilised": lambda log: ratio(log.scores, log.weights),
    "weighted": lambda log: _average(log.weights * log.known, (log.probability > 0).astype(float)),
}
PLAIN, WEIGHTED = [*ESTIMATES][:2]


def ratio(scores: np.ndarray, weights: np.ndarray) -> Estimate:
    """Average judgements by weights, with the error of a ratio, and one degree of freedom less.

    scores: (campaigns, screens, systems), of any value where the weight is 0. weights: alike, 0 or more.
    """
    counts = (weights > 0).sum(axis=1)
    means, errors = _average(np.where(weights > 0, scores, 0), weights)
    return means, errors * np.sqrt(counts / np.maximum(counts - 1, 1))


def _average(screens: np.ndarray, weights: np.ndarray) -> Estimate:
    """Average over screens, with the error that a martingale has."""
    total = weights.sum(axis=1)
    sums = np.einsum("cts,cts->cs", weights, screens)
    means = np.divide(sums, total, where=total > 0, out=np.full(total.shape, np.nan))
    off = weights * (screens - means[:, None])
    return means, np.sqrt(np.einsum("cts,cts->cs", off, off)) / np.where(total > 0, total, np.nan)


def score(log: Log, truth: pd.Series) -> pd.DataFrame:
    """Tell how far each estimate is from the truth: estimate, system, bias, noise, rmse, coverage, judgements.

    truth: the mean of each system, by name. noise: standard error of the bias, from the number of campaigns. coverage:
    the share of the 95 % intervals that hold the truth.
    """
    means, errors = np.swapaxes([estimate(log) for estimate in ESTIMATES.values()], 0, 1)
    off = means - truth.to_numpy()  # (estimates, campaigns, systems), as the errors
    held = np.where(np.isfinite(errors), np.abs(off) <= stats.norm.ppf(0.975) * errors, np.nan)
    columns = {
        "bias": np.nanmean(off, axis=1),
        "noise": np.nanstd(off, axis=1, ddof=1) / np.sqrt(off.shape[1]),
        "rmse": np.sqrt(np.nanmean(off**2, axis=1)),
        "coverage": np.nanmean(held, axis=1),
        "judgements": np.broadcast_to(log.shown.sum(axis=1).mean(axis=0), (len(off), len(truth))),
    }
    rows = pd.MultiIndex.from_product([ESTIMATES, truth.index], names=["estimate", "system"])
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()}, rows).reset_index()


# Intervals that hold at every look, and rules that stop a campaign. What a system, or two, score on the screens that
# show them has one mean, whatever chose the screen, so they hold under any steering, with probabilities unknown.


def asymptotic(scores: np.ndarray, *, tuned: int, alpha: float = 0.05, start: int = 2) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the running interval of a mean of scores of any size, which holds at all times once there are many.

    scores: time along the last axis, NaN where none was seen. tuned: the number at which it is tightest. start: no
    interval before so many.
    With running standard deviation :math:`\hat\sigma_t` and :math:`\rho` set by ``tuned``, half its width is

    .. math:: \hat\sigma_t \sqrt{\frac{2 (t\rho^2 + 1)}{t^2 \rho^2} \log\frac{\sqrt{t\rho^2 + 1}}{\alpha}}

    Source: Waudby-Smith et al. 2024, theorem 2.2 and appendix B.2; Robbins 1970 for normal scores.
    Caveat: a central limit stands behind it. Weights above 10 or so, and few screens, bend it.

    >>> low, high = asymptotic(np.tile([0.4, 0.6], 100), tuned=100)
    >>> (high - low)[[9, 99, 199]].round(3).tolist()
    [0.244, 0.061, 0.043]
    """
    seen = np.isfinite(scores)
    counts, known = np.cumsum(seen, axis=-1), np.where(seen, scores, 0.0)
    time = np.maximum(counts, 1)
    means = np.cumsum(known, axis=-1) / time
    spread = np.sqrt(np.clip(np.cumsum(known**2, axis=-1) / time - means**2, 0, None))
    rho = (2 * np.log(1 / alpha) + np.log(2 * np.log(1 / alpha) + 1)) / tuned
    wide = spread * np.sqrt(2 * (time * rho + 1) / (time**2 * rho) * np.log(np.sqrt(time * rho + 1) / alpha))
    wide = np.where(counts < max(start, 2), np.inf, wide)
    return means - wide, means + wide


@dataclass(frozen=True)
class Looks:
    """When a campaign is looked at, and how sure one wants to be. screens: their numbers, counted from 1.

    share: of what was planned, that is there at each look, up to 1; None: the last look is the end.
    """

    screens: np.ndarray
    alpha: float = 0.05
    share: np.ndarray | None = None


def looks(screens: int) -> Looks:
    """Look every day of a campaign of so many screens, from ``FIRST`` on, and at its end.

    >>> looks(90).screens.tolist()
    [40, 60, 80, 90]
    """
    return Looks(np.unique([*range(min(FIRST, screens), screens + 1, DAY), screens]))


def daily_test(log: Log, when: Looks) -> np.ndarray:
    """Test the plain means of two systems at every look as if it were the only one (Welch 1947)."""
    return _beyond(_standardised(log, when), stats.norm.ppf(1 - when.alpha / 2))


def planned_test(log: Log, when: Looks) -> np.ndarray:
    r"""Test the plain means at every look, the more strictly the earlier, up to an end that was planned before.

    With :math:`t` the share of the planned screens, the bound is :math:`\Phi^{-1}(1 - \alpha/4)/\sqrt{t}`: a path of
    chance stays within it until the end with :math:`1 - \alpha` or more, by the reflection principle (O'Brien &
    Fleming 1979; Lan & DeMets 1983). Caveat: screens stand for information, which steering spreads unevenly.
    """
    share = when.screens / when.screens[-1] if when.share is None else when.share
    bound = stats.norm.ppf(1 - when.alpha / 4) / np.sqrt(share)
    return _beyond(_standardised(log, when), bound)


def final_test(log: Log, when: Looks) -> np.ndarray:
    """Test the plain means once, at the end, behind looks that have no verdict."""
    return daily_test(log, when) * (np.arange(len(when.screens)) == len(when.screens) - 1)


def separate_sequence(log: Log, when: Looks) -> np.ndarray:
    """Hold intervals of each system's mean side by side that hold at all looks, once there are many screens."""
    how: dict[str, Any] = {"tuned": SHARED, "alpha": when.alpha / 2, "start": SHARED // 2}
    one, other = (asymptotic(own, **how) for own in np.moveaxis(log.scores, -1, 0))
    return _apart(one, other, when)


def shared_sequence(log: Log, when: Looks) -> np.ndarray:
    """Follow the difference on screens that show both by an interval that holds at all looks, once there are many."""
    gap = log.scores[..., 0] - log.scores[..., 1]
    return _apart(asymptotic(gap, tuned=SHARED, alpha=when.alpha, start=SHARED // 2), (0, 0), when)


#: A rule, of a log of two systems -> campaigns × looks: 1 where it calls the first better, -1 the second, 0 not yet.
RULES: dict[str, Callable[[Log, Looks], np.ndarray]] = {
    "a test at every look": daily_test,
    "a strict test at every look": planned_test,
    "a test at the end": final_test,
    "interval of shared screens": shared_sequence,
}
NAIVE, STRICT = [*RULES][:2]
#: Rules that may be asked at every look.
ANY_TIME = (STRICT, [*RULES][-1])


def _standardised(log: Log, when: Looks) -> np.ndarray:
    """Return the difference of plain means over its standard error at every look, missing without two judgements."""
    at = when.screens - 1
    counts = np.cumsum(log.shown, axis=1)[:, at].astype(float)
    sums, squares = (np.cumsum(log.known**power, axis=1)[:, at] for power in (1, 2))
    counts[counts < 2] = np.nan
    means = sums / counts
    errors = np.clip(squares / counts - means**2, 0, None) / (counts - 1)
    total = errors.sum(axis=2)
    return (means[..., 0] - means[..., 1]) / np.sqrt(np.where(total > 0, total, np.nan))


def _beyond(off: np.ndarray, bound: np.ndarray | float) -> np.ndarray:
    return np.where(np.abs(off) > bound, np.sign(off), 0)


def _apart(one: tuple[Any, Any], other: tuple[Any, Any], when: Looks) -> np.ndarray:
    """Say at each look which of two running intervals lies above the other, or of one interval and 0."""
    found = np.where(one[0] > other[1], 1.0, np.where(other[0] > one[1], -1.0, 0.0))
    return found[:, when.screens - 1]


def verdicts(log: Log, pair: tuple[int, int], when: Looks) -> pd.DataFrame:
    """Ask each rule at every look whether one of two systems is better: a row a rule and campaign.

    Returns rule, verdict (1: the first, -1: the second, 0: never one), screens (at the first verdict; else all), saved
    (the share of screens that were not needed then), nominal (how often a rule may be wrong).
    """
    parts, two = [], log.of(pair)
    for name, rule in RULES.items():
        found = rule(two, when)
        at = np.where(found.any(axis=1), (found != 0).argmax(axis=1), -1)
        verdict = found[np.arange(len(found)), at].astype(int)
        parts.append(pd.DataFrame({"rule": name, "verdict": verdict, "screens": when.screens[at]}))
    table = pd.concat(parts, ignore_index=True)
    return table.assign(saved=1 - table["screens"] / when.screens[-1], nominal=when.alpha)


def rates(found: pd.DataFrame, *, better: int = 0) -> pd.DataFrame:
    """Count campaigns in which a rule says that one of two systems is better: a row a rule, in their order.

    found: what ``verdicts`` returns, of one kind of campaigns. better: 1 if the first is truly better, and only that
    verdict counts; 0 if they do not differ, so that either is a false alarm.
    Returns rule, rate, low, high (95 %), nominal (missing where they differ), saved (mean), campaigns.
    """
    hit = found["verdict"].eq(better) if better else found["verdict"].ne(0)
    by_rule = found.assign(hit=hit, nominal=np.nan if better else found["nominal"]).groupby("rule", sort=False)
    columns = {"rate": ("hit", "mean"), "nominal": ("nominal", "max"), "saved": ("saved", "mean")}
    table = by_rule.agg(hits=("hit", "sum"), campaigns=("hit", "size"), **columns).reset_index()
    low, high = share_interval(table["hits"], table["campaigns"])
    return table.assign(low=low, high=high)[["rule", "rate", "low", "high", "nominal", "saved", "campaigns"]]


def repeated(looks: int, *, alpha: float = 0.05) -> float:
    r"""Return the chance that a test at each of some looks finds a difference where there is none.

    Looks come after equally many normal scores each, whose variance is known. The density of sums that no look has
    stopped is followed from look to look, by Gauss and Legendre's quadrature within :math:`\pm z\sqrt{k}`.
    Source: Armitage, McPherson & Rowe 1969. Caveat: chances below 1e-8 are lost.

    >>> [round(repeated(looks), 3) for looks in (1, 2, 5, 10)]
    [0.05, 0.083, 0.142, 0.193]
    """
    bound, (nodes, weights) = stats.norm.ppf(1 - alpha / 2), np.polynomial.legendre.leggauss(NODES)
    at, density = nodes * bound, stats.norm.pdf(nodes * bound)
    for look in range(2, looks + 1):
        before, at = at, nodes * bound * np.sqrt(look)
        density = stats.norm.pdf(at[:, None] - before) @ (weights * bound * np.sqrt(look - 1) * density)
    return float(1 - (weights * bound * np.sqrt(looks) * density).sum())


# Replays of real judgements


@dataclass(frozen=True, eq=False)
class Material:
    """Scores of one language pair's documents, systems × documents, the best system first, NaN where there are fewer.

    shared: whether all systems translated the same documents.
    """

    data: str
    pair: str
    systems: tuple[str, ...]
    scores: np.ndarray
    shared: bool

    def screens(self, shown: int = SHOWN) -> int:
        """Return how many screens of so many systems the real campaign would have filled, up to ``MOST_SCREENS``."""
        return min(round(np.isfinite(self.scores).sum() / min(shown, len(self.systems))), MOST_SCREENS)

    @property
    def truth(self) -> pd.Series:
        """The mean of each system, by name, which a replay is to find."""
        return pd.Series(np.nanmean(self.scores, axis=1), self.systems)


def materials(ratings: Mapping[str, pd.DataFrame]) -> list[Material]:
    """Lay out judgements as systems' scores of documents, one for each language pair that has enough of both.

    ratings: name -> judgements (system, doc, segment, annotator, score). A document's score is the mean over its
    segments, of all annotators where systems share documents; where they do not, of each annotator's.
    """
    found = []
    for name, table in ratings.items():
        for pair, part in with_pair(table[table["item_type"].isin(COUNTED)]).groupby("pair"):
            one = _material(name, str(pair), part)
            if len(one.systems) >= LEAST_SYSTEMS and np.isfinite(one.scores).sum(axis=1).min() >= LEAST_TEXTS:
                found.append(one)
    return found


def _material(name: str, pair: str, part: pd.DataFrame) -> Material:
    """Average each document's segments; keep what nearly all systems share, or all judgements if that is little."""
    wide = part.groupby(["system", "doc"])["score"].mean().unstack("system")
    full = wide.loc[:, wide.notna().mean() > 0.9].dropna()
    shared = full.shape[1] >= LEAST_SYSTEMS and len(full) > len(wide) / 2
    if not shared:
        hits = part.groupby(["system", "doc", "annotator"])["score"].mean().reset_index()
        hits["number"] = hits.groupby("system").cumcount()
        full = hits.pivot(index="number", columns="system", values="score")
    full = full[full.mean().sort_values(ascending=False, kind="stable").index]
    return Material(name, pair, tuple(map(str, full.columns)), full.to_numpy(float).T, shared)


def _steered(
    one: Material, assignment: str, shown: int, campaigns: int, seed: list[int], *, better: float | None = None
) -> Log:
    """Steer a replay after an even start of a quarter at most; better: by how much, of two that are made alike."""
    rng, screens, shown = np.random.default_rng(seed), one.screens(shown), min(shown, len(one.systems))
    alike = () if better is None else (0, 1)
    drawn = draw(one.scores, campaigns=campaigns, screens=screens, rng=rng, alike=alike, shared=one.shared)
    drawn[..., 1] -= better or 0.0
    start = min(START, screens * shown // (4 * len(one.systems)))
    return steer(drawn, assignment, rng=rng, shown=shown, start=start)


def replay(used: Iterable[Material], *, shown: int = SHOWN, campaigns: int = 200, seed: int = 7) -> pd.DataFrame:
    """Steer replayed campaigns by every assignment, and tell how far each estimate is off, system by system.

    shown: systems on a screen; all of them where there are fewer.
    Returns data, pair, assignment, estimate, system, bias, noise, rmse, coverage and judgements; see ``score``.
    Units are those of the scores.
    """
    parts = {}
    for number, one in enumerate(used):
        for assignment in POLICIES:
            log = _steered(one, assignment, shown, campaigns, [seed, number])
            parts[one.data, one.pair, assignment] = score(log, one.truth)
    return pd.concat(parts, names=["data", "pair", "assignment"]).reset_index([0, 1, 2]).reset_index(drop=True)


def alarms(
    used: Iterable[Material], *, points: float = 3.0, shown: int = SHOWN, campaigns: int = 200, seed: int = 7
) -> pd.DataFrame:
    """Ask every stopping rule about the two best systems, made alike, or one made better by ``points``.

    used: of scores from 0 to 100; those whose systems share no documents are left out.
    Returns assignment, situation and the columns of ``rates``, over all campaigns of all language pairs.
    """
    shared, parts = [one for one in used if one.shared], {}
    for assignment in POLICIES:
        for better in (0.0, points):
            found = []
            for number, one in enumerate(shared):
                log = _steered(one, assignment, shown, campaigns, [seed, number], better=better)
                found.append(verdicts(log, (0, 1), looks(one.screens(shown))))
            named = BETTER.format(better) if better else ALIKE
            parts[assignment, named] = rates(pd.concat(found, ignore_index=True), better=int(better > 0))
    return pd.concat(parts, names=["assignment", "situation"]).reset_index([0, 1]).reset_index(drop=True)


def best_rule(alarms: pd.DataFrame) -> str:
    """Return the rule to use at every look: of those that keep their level, the one that finds most."""
    alike = alarms["nominal"].notna()
    excess = (alarms["low"] - alarms["nominal"])[alike].groupby(alarms["rule"]).max()
    found = alarms[~alike].groupby("rule")["rate"].mean().reindex(ANY_TIME)
    kept = found[excess.reindex(found.index) <= 0]
    return str((kept if len(kept) else found).idxmax())


def span(alarms: pd.DataFrame, rule: str) -> str:
    """Say from what to what a rule's false alarms go over assignments."""
    values = 100 * alarms.loc[alarms["rule"].eq(rule) & alarms["situation"].eq(ALIKE), "rate"]
    low, high = f"{values.min():.0f}", f"{values.max():.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"
