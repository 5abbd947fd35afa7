"""What the study of preferences says: sentences of computed numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from evalkit.stats.terms import join_names, pluralize


@dataclass(frozen=True, eq=False)
class Verdict:
    """All that the sentences rest on.

    measures: ``study.changed``. answers: ``study.answers``. literary: ``marked.follow``. fits: ``study.fitting``.
    worths: ``study.worths``. first: ``study.placed``. parts: groups of systems side by side that share no system.
    """

    measures: pd.DataFrame
    answers: pd.DataFrame
    literary: pd.DataFrame
    fits: pd.DataFrame
    worths: pd.DataFrame
    first: tuple[float, float]
    parts: int

    def headline(self) -> str:
        """Say the result, and what its interval leaves out."""
        again = self._measure("marks found again, same")
        settled = again["low"] > 0 or again["high"] < 0
        verdict = "This difference is clear." if settled else "We cannot tell this difference from chance."
        return (
            "Words that two translations share, marked in one, were marked in the other in "
            f"{again['side_by_side']:.0f} % of cases side by side, in {again['pointwise']:.0f} % one by one. "
            f"{self._undrawn() or verdict}"
        )

    def steps(self) -> list[str]:
        """Say what to do."""
        same, other = (self._measure(f"marks found again, {one}")["side_by_side"] for one in ("same", "other"))
        advice = "put translations on one screen" if same > other else "one screen did not help"
        sent, docs = (self._share("adequacy", unit, "a") for unit in ("sentence", "document"))
        return [
            f"Where marks should mean the same, {advice}: the same raters, marking words in one translation that "
            f"another shares, marked them there, too, in {same:.0f} % of cases on one screen, on different screens in "
            f"{other:.0f} %.",
            "Show whole documents where a person's translation competes: of sentences it was preferred for adequacy in "
            f"{100 * sent:.0f} %, of documents in {100 * docs:.0f} %.",
            "Link all systems through others: what was never compared, even through others, cannot be ranked by any "
            f"model ({self.parts} groups here, where five fixed screens were used).",
            f"Offer ties: where none could be answered, {100 * self._difficult():.0f} % of choices were called "
            "difficult.",
        ]

    def sure(self) -> str:
        """Say how sure the change is."""
        found = self._measure("marks found again, same")
        gap = found["side_by_side"] - found["pointwise"]
        return (
            f"Marks found again on the same screen: {gap:+.0f} points, 95 % interval {found['low']:+.0f} to "
            f"{found['high']:+.0f}, drawing documents{f' and raters {drawn}' if (drawn := found['drawn']) else ''}. "
            "One by one and side by side were judged by other people at other times."
        )

    def _undrawn(self) -> str:
        """Say whose raters no interval takes in; empty where both ways have several."""
        drawn = self._measure("marks found again, same")["drawn"]
        left = [way for way in ("one by one", "side by side") if way not in drawn]
        if not left:
            return ""
        return (
            f"Whether the screen or the raters made the difference is open: those {' and '.join(left)} are not told "
            "apart, so no interval here takes in how they differ."
        )

    def contrast(self) -> list[str]:
        """Say whether contrast sharpens or bends."""
        apart, gap = self._measure("distance of systems"), self._measure("distance of the two")
        sharp, equal = self._measure("the same, %"), self._measure("pairs with equal")
        return [
            f"Bend: systems that share a screen stand {apart['side_by_side']:.2f} points of MQM apart, one by one "
            f"{apart['pointwise']:.2f} ({self._told(apart)}); two translations {gap['side_by_side']:.2f} against "
            f"{gap['pointwise']:.2f} ({self._told(gap)}).",
            f"Sharpen: the distance of systems is {sharp['side_by_side']:.0f} % of the spread of differences, one by "
            f"one {sharp['pointwise']:.0f} % ({self._told(sharp)}); {equal['side_by_side']:.0f} % of pairs have equal "
            f"scores, one by one {equal['pointwise']:.0f} % ({self._told(equal)}).",
        ]

    def choices(self) -> str:
        """Say whether literary preferences follow marks."""
        every, clear, difficult = (row for _, row in self.literary.iterrows())
        return (
            f"The translation with fewer marks was preferred in {100 * every['share']:.0f} % of {every['n']} choices: "
            f"{100 * clear['share']:.0f} % of clear and {100 * difficult['share']:.0f} % of difficult ones; in "
            f"{every['equal']} both had as many. No choice was made twice and nobody is named, so that agreement "
            "between people cannot be computed."
        )

    def place(self) -> str:
        """Say what standing first adds."""
        gain, p = self.first
        return (
            f"Literary translations, whose order was drawn: standing first adds {gain:+.2f} to the log odds "
            f"(likelihood ratio test, answers taken as independent: p = {p:.2f})."
        )

    def scale(self) -> str:
        """Say whether one scale of strengths holds."""
        told = [
            self._held("one scale of strengths", "circle of pairs", "freedom", "p"),
            self._held("one rate of ties", "second pair with ties", "ties_freedom", "ties_p"),
        ]
        circles, triples = int(self.fits["circles"].sum()), int(self.fits["triples"].sum())
        return f"{' '.join(told)} Of {pluralize(triples, 'triple')} of systems, {circles} go in a circle."

    def _held(self, what: str, needs: str, freedom: str, p: str) -> str:
        """Say how many tables can contradict a part of the model at all, and which of them do."""
        own = self.fits[self.fits[freedom] > 0]
        bad = own.loc[own[p] < 0.05, "data"]
        verdict = f"{len(bad) or 'none'} of these {'do' if len(bad) > 1 else 'does'}, at p < 0.05"
        verdict += f" ({join_names(bad)})" if len(bad) else ""
        return (
            f"Only comparisons with a {needs} can contradict {what}: {len(own)} of {pluralize(len(self.fits), 'table')}"
            f"{f'; {verdict}' if len(own) else ''}."
        )

    def certainty(self) -> str:
        """Say what a comparison is worth beside two scores."""
        own = self.worths[self.worths["efficiency"].notna()]
        told = "; ".join(
            f"{row.data} {row.efficiency:.1f} ({row.low:.1f} to {row.high:.1f})" for row in own.itertuples()
        )
        sure = int((own["low"].gt(1) | own["high"].lt(1)).sum())
        return (
            "What a comparison made of two scores is worth, as a share of the certainty of the scores: "
            f"{told or 'cannot be told'}. At .5, twice as many are needed; above 1, a count of wins is surer than "
            "means of scores, as where few heavy penalties make scores scatter. Surely other than 1 in "
            f"{sure} of {len(own)}: so few systems hardly tell."
        )

    def _measure(self, start: str) -> pd.Series:
        return self.measures[self.measures["measure"].str.startswith(start)].iloc[0]

    def _difficult(self) -> float:
        own = (self.literary["n"] + self.literary["equal"]).to_numpy(float)
        return float(own[2] / own[0])

    def _share(self, criterion: str, unit: str, answer: str) -> float:
        own = self.answers[self.answers["criterion"].eq(criterion) & self.answers["unit"].eq(unit)]
        return float(own.loc[own["answer"].eq(answer), "share"].iloc[0])

    @staticmethod
    def _told(row: pd.Series) -> str:
        sure = row["low"] > 0 or row["high"] < 0
        return f"difference {row['low']:+.2f} to {row['high']:+.2f}" + ("" if sure else ", not sure")


def orders(rated: pd.DataFrame) -> str:
    """Say whether average win rates and Elo's points order systems as strengths do.

    rated: ``study.simpler``.

    >>> rated = pd.DataFrame({"data": "d", "system": ["A", "B"], "strength": [0.2, -0.2], "average": [0.6, 0.4],
    ...                       "points": [990.0, 1010.0]})
    >>> orders(rated)
    "Of 1 pair of systems, average win rates order 0 otherwise than strengths do, Elo's points 1."
    """
    both = rated.merge(rated, on="data", suffixes=("", "_other"))
    both = both[both["strength"] > both["strength_other"]]
    otherwise = [int((both[name] < both[f"{name}_other"]).sum()) for name in ("average", "points")]
    return (
        f"Of {pluralize(len(both), 'pair')} of systems, average win rates order {otherwise[0]} otherwise than "
        f"strengths do, Elo's points {otherwise[1]}."
    )
