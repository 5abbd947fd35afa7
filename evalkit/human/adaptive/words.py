"""What replays of steered campaigns come to in tables and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from evalkit.human.adaptive import stopping, trials

PLAIN, WEIGHTED, PEARMUT, EVEN = "plain mean", "weighted, stabilised", "by rank", "uniform"
NAIVE, ONCE = "a test at every look", "a test at the end"


@dataclass(frozen=True, eq=False)
class Verdict:
    """Every assignment replayed. replay, alarms: the tables of ``trials``. points: the difference to be found."""

    replay: pd.DataFrame
    alarms: pd.DataFrame
    points: float
    campaigns: int

    @cached_property
    def means(self) -> pd.DataFrame:
        """Over all systems: estimate, assignment, bias (mean), lowest, too_low (share), rmse, coverage.

        Plain means come first, then weighted ones, as the first page has them.
        """
        first = self.replay["estimate"].map({PLAIN: 0, WEIGHTED: 1}).fillna(2)
        ordered = self.replay.iloc[first.argsort(kind="stable")]
        by_kind = ordered.groupby(["estimate", "assignment"], sort=False)
        return by_kind.agg(
            bias=("bias", "mean"),
            lowest=("bias", "min"),
            too_low=("bias", lambda bias: float((bias < 0).mean())),
            rmse=("rmse", "mean"),
            coverage=("coverage", "mean"),
        ).reset_index()

    @cached_property
    def recorded(self) -> pd.DataFrame:
        """What other tools read: plain and weighted means of every system, without widths and counts."""
        part = self.replay[self.replay["estimate"].isin([PLAIN, WEIGHTED])]
        return part.drop(columns=["width", "judgements", "noise"])

    @cached_property
    def by_data(self) -> pd.DataFrame:
        """The mean bias of plain means, and of weighted ones, in every language pair: a row a pair and estimate."""
        part = self.replay[self.replay["estimate"].isin([PLAIN, WEIGHTED])]
        keys = ["data", "pair", "estimate"]
        wide = part.pivot_table(index=keys, columns="assignment", values="bias", sort=False)
        return wide.rename_axis(columns=None).reset_index()

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Every rule's rates in percent: situation, rule, and a column an assignment."""
        wide = self.alarms.assign(rate=100 * self.alarms["rate"]).pivot_table(
            index=["situation", "rule"], columns="assignment", values="rate", sort=False
        )
        return wide.rename_axis(columns=None).reset_index()

    @cached_property
    def best(self) -> str:
        """The rule to use at every look: of those that keep their level, the one that finds most."""
        alike = self.alarms["nominal"].notna()
        excess = (self.alarms["low"] - self.alarms["nominal"])[alike].groupby(self.alarms["rule"]).max()
        found = self.alarms[~alike].groupby("rule")["rate"].mean().reindex(stopping.ANY_TIME)
        kept = found[excess.reindex(found.index) <= 0]
        return str((kept if len(kept) else found).idxmax())

    def headline(self) -> str:
        """Say the main finding."""
        steered = self._of(PLAIN).drop([PEARMUT, EVEN])
        return (
            "Sending more judgements to the systems that lead makes plain means too low: on average by "
            f"{self._bias(PEARMUT)} points as Pearmut steers, by {-steered['bias'].min():.2f} under "
            f"“{steered['bias'].idxmin()}”. Who tests every day finds a winner between two equal systems in "
            f"{self._span(NAIVE)} of campaigns instead of "
            f"{100 * self._rows(NAIVE, alike=True)['nominal'].max():.0f} %."
        )

    def steps(self) -> list[str]:
        """Say what to do."""
        saved = self._rows(self.best, alike=False)["saved"]
        weighted = self._of(WEIGHTED)
        worst = weighted.index[(weighted["rmse"] - self._of(PLAIN)["rmse"]).argmax()]
        return [
            f"To look every day, plan the number of screens beforehand and take “{self.best}”: between two equal "
            f"systems it names a winner in {self._span(self.best)} of campaigns (a test at p < 0.05 every day: "
            f"{self._span(NAIVE)}). It finds {self.points:g} points in {self._span(self.best, alike=False)}, and one "
            f"test at the end in {self._span(ONCE, alike=False)}; it saves {100 * saved.min():.0f} to "
            f"{100 * saved.max():.0f} % of the screens.",
            f"Steer gently, and log the probability of every system on every screen. As Pearmut steers, means weighted "
            f"by them are off by {self._bias(PEARMUT, WEIGHTED)} points on average instead of {self._bias(PEARMUT)}, "
            f"and scatter by {self._cost(PEARMUT)} % more.",
            f"Do not weigh where leaders get nearly everything: under “{worst}” the weights are so uneven that "
            f"estimates scatter by {self._cost(worst)} % more. Say there that plain means of all but the leaders are "
            "too low, or judge evenly if scores matter and not only the winner.",
        ]

    def sure(self) -> str:
        """Say how sure that is."""
        number, pairs = self.alarms["campaigns"].max(), self.replay.groupby(["data", "pair"]).ngroups
        return (
            f"How sure? {self.campaigns} campaigns under each assignment were replayed from {pairs} rankings of real "
            f"judgements, and {number} for each rate; a single system's bias has a standard error of "
            f"{self.replay.loc[self.replay['estimate'].eq(PLAIN), 'noise'].median():.2f} points. Under “{EVEN}”, where "
            f"there is none, the mean bias comes out as {self._of(PLAIN).loc[EVEN, 'bias']:+.2f}."
        )

    def bent(self) -> list[str]:
        """Say how means are bent, and what weights do."""
        plain, weighted = self._of(PLAIN), self._of(WEIGHTED)
        share = 100 * plain["too_low"]
        return [
            f"As Pearmut steers, plain means of {share[PEARMUT]:.0f} % of the systems are too low, by up to "
            f"{-plain.loc[PEARMUT, 'lowest']:.1f} points. A single mean is off by {plain.loc[PEARMUT, 'rmse']:.1f} "
            "points by chance alone, so that its interval holds nearly as often as it should "
            f"({100 * plain.loc[PEARMUT, 'coverage']:.0f} %); but chance averages out over language pairs, and this "
            "does not.",
            f"Weighted by probabilities and divided by the sum of weights, the mean bias is between "
            f"{weighted['bias'].min():+.2f} and {weighted['bias'].max():+.2f}. Intervals then hold in "
            f"{100 * weighted['coverage'].min():.0f} to {100 * weighted['coverage'].max():.0f} % instead of 95 %.",
        ]

    def stop(self) -> list[str]:
        """Say what rules for stopping do."""
        exact = "bets on shared screens"
        return [
            f"Between two equal systems a test at every look errs in {self._span(NAIVE)} of campaigns, one test at "
            f"the end in {self._span(ONCE)}, “{self.best}” in {self._span(self.best)}.",
            f"Rules that need no plan and no normal distribution pay for it: “{exact}” errs in {self._span(exact)}, "
            f"and finds {self.points:g} points in {self._span(exact, alike=False)} of campaigns of this size.",
        ]

    def _of(self, estimate: str) -> pd.DataFrame:
        return self.means[self.means["estimate"] == estimate].set_index("assignment")

    def _bias(self, assignment: str, estimate: str = PLAIN) -> str:
        return f"{abs(self._of(estimate).loc[assignment, 'bias']):.2f}"

    def _cost(self, assignment: str) -> str:
        error = [self._of(name).loc[assignment, "rmse"] for name in (WEIGHTED, PLAIN)]
        return f"{100 * (error[0] / error[1] - 1):.0f}"

    def _rows(self, rule: str, *, alike: bool) -> pd.DataFrame:
        part = self.alarms[self.alarms["rule"] == rule]
        return part[part["situation"].eq(trials.ALIKE) == alike]

    def _span(self, rule: str, *, alike: bool = True) -> str:
        rate = 100 * self._rows(rule, alike=alike)["rate"]
        low, high = f"{rate.min():.0f}", f"{rate.max():.0f}"
        return f"{low} %" if low == high else f"{low} to {high} %"


def assignment_table() -> pd.DataFrame:
    """List the ways of steering in words: assignment, what it does."""
    rows = {
        "uniform": "shows every system equally often",
        "by rank": "draws systems by weights 1/2, 1/2, 1/3, 1/4 … of their place so far (Pearmut 1.1.6)",
        "greedy": "shows the three that lead, on one screen in ten any (ε-greedy)",
        "Thompson": "shows a system as often as it may be among the best three, on one screen in ten any",
        "elimination": "shows evenly what may yet be the best, and nothing else",
    }
    return pd.DataFrame({"assignment": list(rows), "what it does": list(rows.values())})
