"""May the campaign stop now? Rules that may be asked at every look, and how often each would have erred here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.missing import Missing, or_missing
from evalkit.campaign.opening import Campaign
from evalkit.campaign.systems.screens import Screens, of_campaign
from evalkit.campaign.systems.steering import ALPHA, Steering
from evalkit.human import adaptive
from evalkit.human.adaptive import Log, Looks
from evalkit.stats.inference import share_interval

NAIVE, STRICT = "a test at every look", "a strict test at every look"
SHARED, EACH = "interval of shared screens", "intervals of each mean"
_RULES = {
    NAIVE: adaptive.daily_test,
    STRICT: adaptive.planned_test,
    SHARED: adaptive.shared_sequence,
    EACH: adaptive.separate_sequence,
}
COLLECT = "Record when each judgement began (a column started), and look from 40 screens on."


@dataclass(frozen=True, eq=False)
class Stopping:
    """What each rule says of the two first systems, as if it had been asked at every look.

    table: rule, verdict (a system that is better, or "not yet"), screens (at which it said so first; all, if it has
    not), false_alarms, low, high (shares of redrawn campaigns without a difference in which the rule names a winner, 95
    % interval), nominal. looks: how many there were. daily: at the end of each day; else every 20 screens. planned: how
    many judgements were to be made, 0 where that is not known.
    """

    pair: str
    systems: tuple[str, str]
    table: pd.DataFrame
    screens: int
    looks: int
    daily: bool
    planned: int
    judgements: int

    @property
    def rule(self) -> pd.Series:
        """The rule to go by: the strict test where a number was planned, else the interval."""
        return self.table.iloc[-1 if not self.planned else self.table["rule"].eq(STRICT).to_numpy().argmax()]


@or_missing(COLLECT)
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
    screens = of_campaign(campaign)
    if len(screens.systems) < 2 or not screens.ordered or len(screens.scores) < adaptive.FIRST:
        raise DataError(f"{campaign.pair} has no order in time, or fewer than {adaptive.FIRST} screens.")
    means = (
        screens.plain
        if not (steering and steering.weighted)
        else np.array([steering.table.set_index("system")["weighted"][name] for name in screens.systems])
    )
    first, second = np.argsort(-means, kind="stable")[:2]
    at, daily = _looks(screens)
    share = np.cumsum(screens.judgements.sum(axis=1))[at - 1] / (planned or np.inf)
    at, share = (part[: int((share < 1).sum()) + 1] for part in (at, share))
    log, when = _of_two(screens, first, second, at, np.minimum(share, 1))
    rules = [NAIVE, *[STRICT] * bool(planned), SHARED if log.shown.all(axis=2).sum() >= adaptive.SHARED else EACH]
    names = (screens.systems[first], screens.systems[second])
    rng = np.random.default_rng(seed)
    null = _without_difference(log, resamples, rng)
    rows = [_asked(rule, log, null, when, at, names) for rule in rules]
    return Stopping(
        campaign.pair,
        names,
        pd.DataFrame(rows),
        len(screens.scores),
        len(at),
        daily,
        planned,
        int(screens.judgements.sum()),
    )


def _looks(screens: Screens) -> tuple[np.ndarray, bool]:
    """Return the numbers of screens after which people looked: at the end of each day, or every 20 screens."""
    count = len(screens.scores)
    if screens.days is not None and len(np.unique(screens.days)) > 2:
        at = np.append(np.flatnonzero(np.diff(screens.days) > 0) + 1, count)
        return at[(at >= adaptive.FIRST) | (at == count)], True
    return adaptive.looks(count).screens, False


def _of_two(screens: Screens, first: int, second: int, at: np.ndarray, share: np.ndarray) -> tuple[Log, Looks]:
    """Keep the screens that show one of two systems, and the looks among them that have some."""
    log = screens.log.of([first, second])
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
    return {
        "rule": rule,
        "verdict": better,
        "screens": int(at[look]),
        "false_alarms": errors / len(null.scores),
        "low": float(low[0]),
        "high": float(high[0]),
        "nominal": ALPHA,
    }
