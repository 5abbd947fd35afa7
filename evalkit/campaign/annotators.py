"""How each annotator works, whom rules propose to look at, and what each is told of their own judgements."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import WORDING, Finding, Result, finding, or_missing, which
from evalkit.campaign.method import order
from evalkit.campaign.opening import STEPS, Campaign, from_ratings
from evalkit.data.schemas import ITEM
from evalkit.human import annotators
from evalkit.stats.terms import pluralize

#: Who would be looked at; rules that do not fit a scale are set aside, with the reason.
RULES = ("unique_scores < 6", "sd < 5", "median_abs_diff > 20", "with_others < 0.1", "seconds < 2", "qc_p >= 0.05")
#: Measures in points of the scale from 0 to 100.
_POINTS = ("mean", "sd", "at_ends", "median_abs_diff", "max_abs_diff")
#: What a row says of an annotator, where anybody has it.
MEASURES = ["annotator", "n", "unique_scores", "at_ends", "mean", "sd", "median_abs_diff", "with_others", "seconds"]
MEASURES += ["drift", "qc_difference", "qc_p", "missing"]
#: Measures whose absence is worth a word.
WANTED = ("median_abs_diff", "with_others", "seconds", "drift", "qc_p")


class Profiles(Result):
    """How each annotator of the pair works, on a scale from 0 to 100.

    table: one row per annotator, lenient ones first; measures that nobody has are left out. lacks: those of ``WANTED``
    that nobody has. scores: the judgements on 0 to 100, for a figure.
    """

    def tell(self) -> Iterator[Finding]:
        """Say how far annotators' means are apart, and which measures nobody has."""
        means = self.table["mean"]
        ends = {"people": means, "low": means.min(), "high": means.max()}
        yield finding("people.means" if len(means) > 1 else "people.mean", **ends)
        yield from which("lacks", self, **dict.fromkeys(self.lacks, True))

    @property
    def busiest(self) -> pd.DataFrame:
        """``scores`` of the 20 annotators who gave most, lenient ones first, for a picture."""
        busiest = self.scores["annotator"].value_counts().index[:20]
        order = [name for name in self.table["annotator"] if name in set(busiest)]
        part = self.scores[self.scores["annotator"].isin(order)]
        return part.sort_values("annotator", key=lambda names: names.map(order.index), kind="stable")


@or_missing("profiles", of_people=True)
def profile_annotators(campaign: Campaign) -> Profiles:
    """Describe every annotator of the pair in one row of ``MEASURES``."""
    hundred = campaign.hundred
    table = annotators.profiles(hundred).set_index("annotator")
    control = campaign.control.set_index("annotator").reindex(table.index)
    table = table.assign(qc_difference=control["qc_difference"], qc_p=control["qc_p"]).reset_index()
    if stamped(hundred):
        table = table.assign(seconds=np.nan)
    known = table[MEASURES].notna().any()
    known["missing"] = table["missing"].nunique() > 1  # what all lack is said once
    shown = table[known.index[known]].sort_values("mean", ascending=False, kind="stable", ignore_index=True)
    return Profiles(
        pair=campaign.pair, table=shown, lacks=tuple(name for name in WANTED if not known[name]), scores=hundred
    )


class Screening(Result):
    """Whom rules propose to look at; nobody is left out of anything by this.

    rules: those applied; cells: in words, for tables; aside: those set aside, with the reason. totals: how many each
    rule asks to look at; common: rules that name most of the annotators they can be applied to, and how many of how
    many: they say something about the scale or the task, and propose nobody. named: annotator, rule, value. proposed:
    annotators, out of ``annotators``; looked_at: how many a rule could be applied to; unknown: rules that could be
    applied to nobody. share: of the judgements, by those proposed. first: the system with the highest score;
    first_without: the same without those proposed, "" where the others did not judge all systems.
    """

    def tell(self) -> Iterator[Finding]:
        """Say which rules were applied, and whom they name."""
        said = annotators.rules_in_words([*self.aside, *self.rules])
        yield from (finding("rules.aside", rule=said[rule], why=why) for rule, why in self.aside.items())
        yield from (finding("rules.common", rule=said[rule], counts=counts) for rule, counts in self.common.items())
        if not self.rules:
            yield finding("lacks.rules")
            return
        yield finding("rules.named" if self.proposed else "rules.nobody", found=self)
        if self.unknown:
            yield finding("lacks.rules_applied", found=self, rules=[said[rule] for rule in self.unknown])


@or_missing("rules", of_people=True)
def screen_annotators(campaign: Campaign, *, rules: Sequence[str] = RULES, score: str = "auto") -> Screening:
    """Apply rules such as "sd < 5" within the pair, on 0 to 100; quality control looks at all pairs of its annotators.

    score: what systems are ranked by, with and without those proposed (see ``choose_method``).
    """
    used, aside = _fitting(campaign, [str(annotators.Rule.parse(rule)) for rule in rules])
    found = annotators.screen(campaign.everywhere, [*used, *aside])
    found = found[found["pair"].eq(campaign.pair) & found["rule"].isin(used)]
    known = found[found["value"].notna()]
    told = known.groupby("rule", sort=False)["flagged"].agg(["sum", "size"])
    common = told[(told["size"] > 1) & (told["sum"] > told["size"] / 2)]
    odd = found["flagged"] & ~found["rule"].isin(common.index)
    named = found.loc[odd, ["annotator", "rule", "value"]].reset_index(drop=True)
    proposed = tuple(sorted(named["annotator"].unique()))
    gone = campaign.part["annotator"].isin(proposed)
    before, after = order(campaign, campaign.part, score=score), order(campaign, campaign.part[~gone], score=score)
    comparable = len(before) > 1 and set(after) == set(before)
    said = Screening(pair=campaign.pair, rules=tuple(used), aside=aside, named=named, proposed=proposed)
    said.cells = {"rule": annotators.rules_in_words(used)}
    said.totals = annotators.screening_totals(found)
    said.annotators, said.looked_at = (rows["annotator"].nunique() for rows in (campaign.part, known))
    said.unknown = tuple(rule for rule in used if rule not in told.index)
    said.share = float(gone.mean())
    said.first = before[0] if before else ""
    said.first_without = after[0] if comparable else ""
    said.common = {str(rule): (int(some), int(of)) for rule, some, of in common.itertuples()}
    return said


def _fitting(campaign: Campaign, rules: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Split rules into those that fit the scale, and those set aside with the reason.

    A rule on the number of distinct scores, or on the ends of the scale, says nothing on a scale of few steps, and a
    rule in points of 100 nothing where nobody has said where the scale ends.
    """
    aside = {}
    for rule in rules:
        measure = rule.split()[0]
        if campaign.steps <= STEPS and measure in ("unique_scores", "at_ends"):
            aside[rule] = f"all annotators together used {pluralize(campaign.steps, 'different score')}"
        elif not campaign.known_scale and measure in _POINTS:
            aside[rule] = "it is in points of 100, and the ends of the scale are not declared"
        elif measure == "seconds" and stamped(campaign.part):
            aside[rule] = "many judgements end as they start, so the time of a single one is not known"
    return [rule for rule in rules if rule not in aside], aside


def stamped(part: pd.DataFrame) -> bool:
    """Tell whether times are stamps of the moment a score is set, not lengths of judgements.

    So where a quarter of the judgements took less than a tenth of a second, which nobody can.

    >>> stamped(pd.DataFrame({"started": [0.0, 5.0], "ended": [0.0, 9.0]}))
    True
    """
    if not {"started", "ended"} <= set(part.columns):
        return False
    lengths = (part["ended"] - part["started"]).dropna()
    return bool(len(lengths)) and float((lengths < 0.1).mean()) >= 0.25


# What annotators are told

#: Habits that a person is told, in their words.
HABITS = WORDING["habits"]
#: Fewest others whose median is told, so that it is nobody's own.
OTHERS = 3
#: Most items to look at again; least distance of such a score, in points of 100.
ITEMS, FAR = 10, 20.0
_TEXTS = ["source", "hypothesis"]


class Feedback(Result):
    """What one annotator is told of a language pair; nobody else is named, and nobody ranked.

    habits: habit, yours, others (their median; missing where fewer than ``OTHERS`` have it). scores: score, whose, for
    a figure. again: items whose score is far from the others' mean even when it is taken out how strict each is: what
    tells the item, yours, others, apart (points of 100). shared: items that others judged. twice: items whose first
    and last score are far apart: first, last.
    """


def give_feedback(ratings: pd.DataFrame) -> dict[str, list[Feedback]]:
    """Collect what each annotator is told: name -> a ``Feedback`` for each of their language pairs.

    ratings: all judgements of a campaign. Scores are on 0 to 100, 100 the best. Systems are named only where no texts
    tell which output is meant, so that nobody who judges on learns them.
    Raises DataError where the file names no annotators, or holds comparisons.
    """
    found: dict[str, list[Feedback]] = {}
    for pair in from_ratings(ratings).pairs:
        campaign = from_ratings(ratings, pair=pair)
        profiles = profile_annotators(campaign)
        if not profiles or campaign.compares:
            what = "holds comparisons" if campaign.compares else "names no annotators"
            raise DataError(f"There is no feedback for annotators: {pair} {what}.")
        own = profiles.table.set_index("annotator")
        habits = own[[name for name in HABITS if name in own]].astype(float)
        beside = annotators.beside_others(campaign.hundred).dropna(subset="others")
        for name in habits.index:
            found.setdefault(name, []).append(_feedback(campaign, name, habits, beside))
    return found


def _feedback(campaign: Campaign, name: str, habits: pd.DataFrame, beside: pd.DataFrame) -> Feedback:
    """Collect what one annotator is told of a campaign's pair."""
    own = campaign.hundred[campaign.hundred["annotator"].eq(name)]
    others = habits.drop(name)
    medians = others.median().where(others.notna().sum() >= OTHERS)
    table = pd.DataFrame({"habit": habits.columns.map(HABITS), "yours": habits.loc[name], "others": medians})
    whose = campaign.hundred["annotator"].eq(name).map({True: "yours", False: "the others'"})
    told = [column for column in _TEXTS if column in own] or ["system"]
    items = own.drop_duplicates(ITEM)[[*dict.fromkeys([*ITEM, *told])]]

    gap = (mine := beside[beside["annotator"].eq(name)])["score"] - mine["others"]
    apart = mine.assign(yours=mine["score"], apart=gap - gap.mean())
    far = apart[apart["apart"].abs() >= FAR].sort_values("apart", key=lambda gap: -gap.abs(), kind="stable").head(ITEMS)
    shown = [*(["doc"] if own["doc"].nunique() > 1 else []), "segment", *told]
    counted = own[own["item_type"].ne("degraded")]
    scores = counted.groupby(ITEM, sort=False)["score"].agg(["size", "first", "last"]).reset_index()
    twice = scores[(scores["size"] > 1) & (scores["first"] - scores["last"]).abs().ge(FAR)].head(ITEMS)
    return Feedback(
        annotator=name,
        pair=campaign.pair,
        habits=table.dropna(subset="yours").reset_index(drop=True),
        scores=pd.DataFrame({"score": campaign.hundred["score"], "whose": whose}).sort_values("whose", ascending=False),
        again=far.merge(items, on=ITEM)[[*shown, "yours", "others", "apart"]],
        shared=len(mine),
        twice=twice.merge(items, on=ITEM)[[*shown, "first", "last"]],
    )
