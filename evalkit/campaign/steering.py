"""Campaigns that show leading systems more often: means that are not bent by it, and rules that say when to stop."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.campaign.findings import Finding, Missing, Result, finding, or_missing, words
from evalkit.campaign.opening import Campaign
from evalkit.data.provenance import reading_of
from evalkit.human import adaptive
from evalkit.human.adaptive import NAIVE, STRICT, Log, Looks
from evalkit.stats import inference
from evalkit.stats.correlation import ratio
from evalkit.stats.inference import share_interval


class Screens(Result):
    """A pair's screens × systems: what one annotator judged of one text at a time.

    scores: mean of a screen's judgements of a system, NaN where it was not shown. judgements: how many these are.
    probability: that the screen showed it, NaN where that is not known. ordered: whether screens stand in the order of
    time. days: days since 1970 on which they began, or None. written: whether the file has probabilities at all. shown:
    which systems each showed. weights: how many screens each of these stands for, one over the probability; 0 where
    that is not known. plain: the mean of all judgements of each system.
    """


def screens_of(campaign: Campaign) -> Screens:
    """Lay out the judgements that rank systems as screens.

    A screen of Pearmut is an entry of its log, in whose order they are. Elsewhere it is what an annotator judged of a
    document, or of a segment where there are no documents, in one HIT; its time is when its first judgement began.
    """
    judged, logged = campaign.judged, reading_of(campaign.ratings).get("format") == "pearmut"
    timed = "started" in judged and len(judged) > 0 and bool(judged["started"].notna().all())
    text = ["doc"] if judged["doc"].nunique() > 1 else list(campaign.segment)
    own = ["hit", *["started"] * timed] if logged else [*(["hit"] if "hit" in judged else []), *text]
    number = judged.groupby(["annotator", *own], sort=False).ngroup().to_numpy()
    began = judged["started"].groupby(number).min() if timed else pd.Series(np.arange(number.max(initial=-1) + 1))
    place = began.sort_values(kind="stable").index
    written = "probability" in judged
    table = judged.assign(screen=number, probability=judged["probability"] if written else np.nan)
    cells = table.groupby(["screen", "system"]).agg(
        score=("score", "mean"), judgements=("score", "size"), probability=("probability", "mean")
    )
    cells = cells.unstack("system").reindex(place)
    scores, counts, chance = (cells[name].to_numpy(float) for name in ("score", "judgements", "probability"))
    counts = np.nan_to_num(counts)
    found = Screens(scores=scores, judgements=counts, probability=chance, shown=counts > 0)
    found.systems, found.written = tuple(map(str, cells["score"].columns)), written
    found.ordered = timed or logged
    found.days = np.floor(began[place].to_numpy() / 86400) if timed else None
    found.weights = np.nan_to_num(found.shown / chance)
    found.plain = np.nansum(scores * counts, axis=0) / counts.sum(axis=0)
    return found


#: Share of judgements that may lack a probability, which are then left out of weighted means.
LACKING = 0.05
#: Times as many judgements as another system has, from which on counts are uneven; and the chance of that at random.
UNEVEN, CHANCE = 1.5, 0.001
#: How far the screens that a system's weights stand for may be from those there were, as a factor and in errors.
FACTOR, ERRORS = 2.0, 4.0
#: Screens at which intervals that hold at every look are tightest, and before which there are none.
TUNED, START = 100, 20
ALPHA = 0.05
#: Few campaigns are steered, so that those which are not are told nothing.
NOT_STEERED = Missing("Every system was as likely to be shown as any other.", "")


class Steering(Result):
    """How often each system was shown, and its mean without and with weights.

    table: system, judgements, plain, weighted (by 1 / probability), low, high (95 %, of the weighted mean, for one
    look), p (that plain and weighted mean differ by chance alone; Holm), any_low, any_high (of the plain mean, at every
    look; missing without an order in time); the best at the top. weighted: whether there are probabilities; why: if
    not, why. lacking: judgements without one. logged: whether the file is Pearmut's log.
    """

    def tell(self) -> Iterator[Finding]:
        """Say what was shown more often, what that does to means, and what weights change."""
        if not self.weighted:
            of_column = "column" in self.why
            yield finding("steering.unweighted" if of_column else "steering.suspected", found=self, **self.counts)
            why = self.why and not of_column
            yield finding("steering.remedy_log" if self.logged else "steering.remedy", found=self, why=why)
            return
        yield finding("steering.weighted", found=self, **self.counts)
        gap = (self.table["weighted"] - self.table["plain"]).agg(["min", "max", "mean"])
        yield finding("steering.range", found=self, moved=self.in_short, gap=gap)

    @property
    def counts(self) -> dict[str, object]:
        """The systems with most and with fewest judgements, and how many these are."""
        counts = self.table.set_index("system")["judgements"]
        return {"most": counts.idxmax(), "least": counts.idxmin(), "high": counts.max(), "low": counts.min()}

    @property
    def in_short(self) -> Finding:
        """What weights change."""
        if not self.weighted:
            return finding("steering.if_scores")
        return finding(
            "steering.moved" if self.moved else "steering.still", found=self, first=self.table["system"].iloc[0]
        )

    @property
    def moved(self) -> list[str]:
        """The systems whose mean moves beyond chance when judgements are weighted."""
        return self.table.loc[self.table["p"] < ALPHA, "system"].tolist()

    @property
    def matters(self) -> bool:
        """Whether plain means cannot be relied on, as far as can be known."""
        return not self.weighted or bool(self.moved) or self.other_first

    @property
    def other_first(self) -> bool:
        """Whether another system comes first when judgements are weighted."""
        return self.weighted and bool(self.table["plain"].idxmax() != self.table["weighted"].idxmax())


@or_missing("")
def weigh_steered(campaign: Campaign) -> Steering:
    """Weigh judgements by one over the probability that they were made, where that was not even.

    Without probabilities, uneven counts that follow the scores are told. Nothing to tell is a ``Missing`` without
    advice: few campaigns are steered.
    """
    if campaign.judged["system"].nunique() < 2:
        raise DataError("One system was judged.")
    screens = screens_of(campaign)
    why = _unusable(screens)
    if not why and np.nanmax(screens.probability) - np.nanmin(screens.probability) < 1e-9:
        raise DataError("Every screen showed each system with the same probability.")
    if why and not _follows_scores(screens):
        raise DataError("Counts of judgements do not follow scores.")
    table = _means(screens, screens.weights if not why else np.zeros(screens.scores.shape))
    found = Steering(pair=campaign.pair, weighted=not why, why=why if screens.written else "")
    found.table = table.sort_values("plain" if why else "weighted", ascending=False, ignore_index=True)
    found.lacking = int(screens.judgements[screens.weights == 0].sum())
    found.logged = reading_of(campaign.ratings).get("format") == "pearmut"
    return found


def _unusable(screens: Screens) -> str:
    """Say why a file's probabilities cannot be used, or that it has none; empty where they can."""
    share = screens.judgements[screens.weights == 0].sum() / screens.judgements.sum()
    if share > LACKING:
        return f"{share:.0%} of the judgements have no probability" if share < 1 else "there are no probabilities"
    weights = screens.weights
    stands, error = weights.sum(axis=0), np.sqrt((weights * (weights - 1)).sum(axis=0))
    there = len(screens.scores)
    off = (stands > FACTOR * there) | (stands < there / FACTOR)
    off &= np.abs(stands - there) > ERRORS * error
    if not off.any():
        return ""
    worst = int(np.argmax(np.where(off, np.abs(np.log(np.maximum(stands, 1e-9) / there)), -1)))
    return words("steering.off", system=screens.systems[worst], stands=stands[worst], there=there)


def _follows_scores(screens: Screens) -> bool:
    """Tell whether some systems were shown far more often than others, and those that score higher more often."""
    counts = screens.shown.sum(axis=0)
    if len(counts) < 4 or counts.max() < UNEVEN * counts.min() or stats.chisquare(counts).pvalue > CHANCE:
        return False
    found = stats.spearmanr(counts, screens.plain)
    return bool(found.statistic > 0 and found.pvalue < ALPHA)


def _means(screens: Screens, weights: np.ndarray) -> pd.DataFrame:
    """Average the judgements of each system without and with weights of screens.

    p: that both means are the same, which rest on the same screens (Holm).
    """
    counts, scores = screens.judgements, np.nan_to_num(screens.scores)
    weights = counts * weights
    (plain, _), (weighted, errors) = (adaptive.ratio(scores[None], own[None]) for own in (counts, weights))
    wide = stats.norm.ppf(1 - ALPHA / 2) * errors[0]
    any_low, any_high = _any_look(screens) if screens.ordered else (np.nan, np.nan)
    sums = [own.sum(axis=0) for own in (weights, counts)]
    gap = ratio(weights * (scores - weighted[0]), sums[0]) - ratio(counts * (scores - plain[0]), sums[1])
    shown = np.maximum(screens.shown.sum(axis=0), 2)
    error = np.sqrt((gap**2).sum(axis=0) * shown / (shown - 1))
    table = pd.DataFrame({"system": screens.systems, "judgements": sums[1].astype(int), "plain": plain[0]})
    table = table.assign(weighted=weighted[0], low=weighted[0] - wide, high=weighted[0] + wide)
    table["p"] = inference.adjust(2 * stats.norm.sf(np.abs(ratio(weighted[0] - plain[0], error))))
    return table.assign(any_low=any_low, any_high=any_high)


def _any_look(screens: Screens) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals of plain means that hold at every look; longer screens count for more."""
    shown = screens.shown
    size = screens.judgements / np.maximum(screens.judgements.sum(axis=0) / np.maximum(shown.sum(axis=0), 1), 1)
    scores = screens.plain + size * (np.nan_to_num(screens.scores) - screens.plain)
    low, high = adaptive.asymptotic(np.where(shown, scores, np.nan).T, tuned=TUNED, alpha=ALPHA, start=START)
    low, high = (np.where(np.isfinite(end[:, -1]), end[:, -1], np.nan) for end in (low, high))
    return low, high


SHARED, EACH = "interval of shared screens", "intervals of each mean"
_RULES = adaptive.RULES | {EACH: adaptive.separate_sequence}


class Stopping(Result):
    """What each rule says of the two first systems, as if it had been asked at every look.

    table: rule, verdict (a system that is better, or "not yet"), screens (at which it said so first; all, if it has
    not), false_alarms, low, high (shares of redrawn campaigns without a difference in which the rule names a winner, 95
    % interval), nominal. rule: the row to go by, the strict test where a number was planned, else the interval. looks:
    how many there were. daily: at the end of each day; else every 20 screens. planned: how many judgements were to be
    made, 0 where that is not known.
    """

    def tell(self) -> Iterator[Finding]:
        """Say whether one may stop, and how often such a rule errs."""
        naive = self.table[self.table["rule"].eq(NAIVE)].iloc[0]
        yield finding("stopping.may", found=self, rule=self.rule, naive=naive, no=self.rule["verdict"] == "not yet")
        if not self.planned:
            yield finding("stopping.unplanned", strict=STRICT)


@or_missing("order")
def may_stop(
    campaign: Campaign, steering: Steering | Missing, *, planned: int = 0, resamples: int = 500, seed: int = 7
) -> Stopping:
    """Ask at every look until now whether the first system is better than the second.

    steering: what ``weigh_steered`` found; a campaign that is neither steered nor has a planned number is not asked.
    planned: judgements of the pair's systems that are to be made; 0: not known. False alarms are counted in
    ``resamples`` campaigns that keep who was shown when, and turn what is left of each screen's scores, less their
    systems' means, round by chance.
    """
    if not (steering or planned):
        raise DataError("Nobody asks whether to stop.")
    screens = screens_of(campaign)
    if len(screens.systems) < 2 or not screens.ordered or len(screens.scores) < adaptive.FIRST:
        raise DataError(f"{campaign.pair} has no order in time, or fewer than {adaptive.FIRST} screens.")
    means = screens.plain
    if steering and steering.weighted:
        means = steering.table.set_index("system").loc[[*screens.systems], "weighted"].to_numpy()
    first, second = np.argsort(-means, kind="stable")[:2]
    at, daily = _looks(screens)
    share = np.cumsum(screens.judgements.sum(axis=1))[at - 1] / (planned or np.inf)
    at, share = (part[: int((share < 1).sum()) + 1] for part in (at, share))
    log, when = _of_two(screens, first, second, at, np.minimum(share, 1))
    rules = [NAIVE, *[STRICT] * bool(planned), SHARED if log.shown.all(axis=2).sum() >= adaptive.SHARED else EACH]
    names = (screens.systems[first], screens.systems[second])
    rng = np.random.default_rng(seed)
    null = _without_difference(log, resamples, rng)
    table = pd.DataFrame([_asked(rule, log, null, when, at, names) for rule in rules])
    found = Stopping(pair=campaign.pair, systems=names, table=table, rule=table.iloc[1 if planned else -1])
    found.screens, found.looks, found.daily, found.planned = len(screens.scores), len(at), daily, planned
    return found


def _looks(screens: Screens) -> tuple[np.ndarray, bool]:
    """Return the numbers of screens after which people looked: at the end of each day, or every 20 screens."""
    count = len(screens.scores)
    if screens.days is not None and len(np.unique(screens.days)) > 2:
        at = np.append(np.flatnonzero(np.diff(screens.days) > 0) + 1, count)
        return at[(at >= adaptive.FIRST) | (at == count)], True
    return adaptive.looks(count).screens, False


def _of_two(screens: Screens, first: int, second: int, at: np.ndarray, share: np.ndarray) -> tuple[Log, Looks]:
    """Keep the screens that show one of two systems, and the looks among them that have some."""
    log = Log(screens.scores[None], np.nan_to_num(screens.probability)[None]).of([first, second])
    own = log.shown[0].any(axis=1)
    places = np.maximum(np.cumsum(own)[at - 1], 1)
    return Log(log.scores[:, own], log.probability[:, own]), Looks(places, ALPHA, share=share)


def _without_difference(log: Log, campaigns: int, rng: np.random.Generator) -> Log:
    """Draw campaigns in which the two do not differ: what was shown stays, each screen's deviations change sign."""
    rest = log.scores - np.nanmean(log.scores, axis=1, keepdims=True)
    signs = rng.choice([-1.0, 1.0], size=(campaigns, rest.shape[1], 1))
    return Log(signs * rest, np.broadcast_to(log.probability, (campaigns, *rest.shape[1:])))


def _asked(rule: str, log: Log, null: Log, when: Looks, at: np.ndarray, names: tuple[str, str]) -> dict[str, object]:
    """Ask one rule at every look, and count how often it would have erred."""
    said = _RULES[rule](log, when)[0]
    look = int((said != 0).argmax()) if said.any() else len(at) - 1
    errors = int((_RULES[rule](null, when) != 0).any(axis=1).sum())
    low, high = share_interval([errors], [len(null.scores)])
    better = "not yet" if not said.any() else f"{names[0] if said[look] > 0 else names[1]} is better"
    row = {"rule": rule, "verdict": better, "screens": int(at[look]), "false_alarms": errors / len(null.scores)}
    return row | {"low": float(low[0]), "high": float(high[0]), "nominal": ALPHA}
