"""What trials of rules, and rules side by side, come to in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from evalkit.human.ranking import by_rule, rule_trials, rules
from evalkit.human.ranking.rule_trials import ANY_TEST, BY_DOCUMENT, BY_SEGMENT, COUPLES, DOMAINS, HALVES, SIX


@dataclass(frozen=True, eq=False)
class Verdict:
    """Rules tried on rearranged judgements, and applied to real ones.

    errors: the tables of ``rule_trials``. rankings, counts: those of ``by_rule.side_by_side``. points: the difference
    by which power is compared. grids: how many rankings were rearranged.
    """

    errors: pd.DataFrame
    rankings: pd.DataFrame
    counts: pd.DataFrame
    points: float
    grids: int

    @cached_property
    def rates(self) -> pd.DataFrame:
        """Rule × situation, in percent, and ``level``; a situation that the data do not allow is missing."""
        wide = rule_trials.wide(self.errors).set_index("rule")
        known = [BY_DOCUMENT, BY_SEGMENT, HALVES, DOMAINS, SIX, ANY_TEST, COUPLES]
        return wide.reindex(columns=[*wide.columns, *(name for name in known if name not in wide)])

    @cached_property
    def best(self) -> str:
        """The rule to use."""
        return rule_trials.advice(self.errors, points=self.points)

    @cached_property
    def applied(self) -> pd.DataFrame:
        """The counts of rules that could be applied."""
        return self.counts[self.counts["why"].eq("")]

    @cached_property
    def shared(self) -> pd.DataFrame:
        """The counts of rankings to which every rule could be applied."""
        everywhere = self.applied.groupby(["data", "pair"])["rule"].transform("size")
        return self.applied[everywhere == self.counts["rule"].nunique()]

    @cached_property
    def totals(self) -> pd.DataFrame:
        """Sums over the rankings that all rules share: rule, rankings, lines, parted, beaten, unproved."""
        each = self.shared.groupby("rule")
        sums = each[["lines", "parted", "beaten", "unproved"]].sum().astype(int)
        sums.insert(0, "rankings", each.size())
        return sums.reindex(list(rules.RULES), fill_value=0)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every two systems that some rule parts; see ``by_rule.parted``."""
        return by_rule.parted(self.rankings)

    def steps(self) -> list[str]:
        """Say what to do."""
        lines, best = self.totals["lines"], self.best
        wmt = lines[lines.index.str.startswith("wmt")]
        loose = self.totals.loc["wmt25"]
        return [
            f"Draw lines by the rule “{best}”: {rules.named(best).title}. Where two systems do not differ, it draws a "
            f"line in {self._of(best, BY_DOCUMENT)} of campaigns (its level is {self.rates.loc[best, 'level']:.0f} %), "
            f"WMT's rules in {self._span(BY_DOCUMENT)} instead of {self._promised()}. In a report of your own: "
            f"-p lines={best}.",
            f"Expect fewer lines: {lines[best]} in {self.totals.loc[best, 'rankings']} rankings, where WMT's rules "
            f"draw {wmt.min()} ({wmt.idxmin()}) to {wmt.max()} ({wmt.idxmax()}). A missing line does not say “equal”: "
            "print intervals of scores beside the lines.",
            f"Do not test neighbours only: of {loose['parted']} pairs of systems that “wmt25” parts, its own test does "
            f"not part {loose['unproved']}.",
        ]

    def headline(self) -> str:
        """Say the main finding."""
        return (
            f"WMT's rules for cluster lines part two systems that do not differ in {self._span(BY_DOCUMENT)} of "
            f"campaigns, where they promise {self._promised()}, because segments of one document are not "
            f"independent evidence. A test that takes whole documents as drawn does so in "
            f"{self._of(self.best, BY_DOCUMENT)}, where it promises {self.rates.loc[self.best, 'level']:.0f} %."
        )

    def sure(self) -> str:
        """Say how sure that is."""
        number = self.errors["campaigns"]
        return (
            f"How sure? Each share rests on {number.min()} to {number.max()} campaigns, rearranged from {self.grids} "
            "rankings of real judgements. They ask what other texts and people would bring; if segments were "
            f"independent, WMT's rules would err in {self._span(BY_SEGMENT)}."
        )

    def levels(self) -> list[str]:
        """Say which rules keep their level."""
        best, either = self.best, "wmt26"
        return [
            f"Names exchanged by segment: WMT's rules err in {self._span(BY_SEGMENT)} of campaigns, as they should. By "
            f"document: {self._span(BY_DOCUMENT)}. Halves of one system's annotators: {self._span(HALVES)}. “{best}”: "
            f"{self._of(best, BY_SEGMENT)}, {self._of(best, BY_DOCUMENT)} and {self._of(best, HALVES)}.",
            f"“Paired or independent, whichever finds more” ({either}) errs in {self._of(either, BY_SEGMENT)} by "
            f"segment, {self._of(either, BY_DOCUMENT)} by document, and {self._of(either, HALVES)} where other people "
            "judged the two systems.",
            "Signed ranks combined over domains (wmt24) lose the direction of each domain's difference, so that "
            f"domains that contradict each other add up: it parts {self._of('wmt24', DOMAINS)} of pairs that are equal "
            "on average and up to 5 points apart within domains; the same test over all segments, "
            f"{self._of('wmt24-micro', DOMAINS)}.",
            f"Many tests: among six alike systems, some test of WMT's rules parts two in {self._span(ANY_TEST)} of "
            f"campaigns. That all above must beat all below hides much of it ({self._span(SIX)} have a line), but not "
            f"between couples that stand far apart ({self._span(COUPLES)}).",
        ]

    def power(self) -> list[str]:
        """Say what rules find."""
        two, groups = rule_trials.POWER.format(self.points), rule_trials.GROUPS.format(self.points)
        return [
            f"{self.points:g} points between two systems: “{self.best}” draws the line in {self._of(self.best, two)} "
            f"of campaigns, WMT's rules in {self._span(two)}, with false ones in {self._span(BY_DOCUMENT)}.",
            f"The line between three systems and three others, {self.points:g} points below: corrected over lines "
            f"(units-lines), it is found in {self._of('units-lines', groups)}; over all pairs (units), in "
            f"{self._of('units', groups)}; not corrected (units-plain), in {self._of('units-plain', groups)}, with "
            f"false lines between couples in {self._of('units-plain', COUPLES)}.",
        ]

    def sides(self) -> str:
        """Say what rules have in common on real judgements."""
        pairs = self.pairs
        alone = pairs.loc[pairs["rules"] == 1, "names"].value_counts()
        whose = f", most of these by {alone.index[0]} ({alone.iloc[0]})" if len(alone) else ""
        return (
            f"Of {len(pairs)} pairs of systems that some rule parts, {(pairs['rules'] == pairs['of']).sum()} are "
            f"parted by every rule that can be applied, {alone.sum()} by one only{whose}; in "
            f"{(pairs['against'] > 0).sum()}, rules part them in opposite directions."
        )

    def adjacency(self) -> str:
        """Say what testing neighbours only does to transitivity."""
        wmt25, wmt26 = self.totals.loc["wmt25"], self.totals.loc["wmt26-next"]
        return (
            "Where only neighbours are tested, a system above a line need not beat one below: the rule's own test does "
            f"not part {wmt25['unproved']} of the {wmt25['parted']} pairs that wmt25 parts, nor {wmt26['unproved']} of "
            f"{wmt26['parted']} of wmt26-next. By the same tests, wmt25 draws {wmt25['lines']} lines and the ranges of "
            f"its tables {self.totals.loc['wmt25-ranges', 'lines']}."
        )

    def one(self, name: str) -> pd.DataFrame:
        """Return a ranking under every rule by its data and pair, or the first one where there is none of this name."""
        title = self.rankings["data"] + " " + self.rankings["pair"]
        return self.rankings[title == (name if name in set(title) else title.iloc[0])]

    def _of(self, rule: str, situation: str) -> str:
        value = self.rates.loc[rule, situation]
        return "no campaign here" if pd.isna(value) else f"{value:.0f} %"

    def _promised(self) -> str:
        """Return the levels that WMT's rules set themselves."""
        return f"{' or '.join(f'{level:.0f}' for level in sorted(self._wmt('level').unique()))} %"

    def _wmt(self, column: str) -> pd.Series:
        return self.rates.loc[self.rates.index.str.startswith("wmt"), column].dropna()

    def _span(self, situation: str) -> str:
        """Return the lowest and the highest share of WMT's rules."""
        values = self._wmt(situation)
        return f"{values.min():.0f} to {values.max():.0f} %" if len(values) else "no campaign here"
