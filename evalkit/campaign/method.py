"""How systems are compared: one choice of scores, test and resampling, behind every number that compares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.opening import Campaign
from evalkit.data.provenance import like
from evalkit.human import ranking
from evalkit.human.ranking import by_rule, rules
from evalkit.stats import correlation

#: What to rank by: z where annotators judged systems unequally often, raw scores elsewhere; or always one of them.
SCORES = ("auto", "raw", "z")
#: From this association of annotators and systems on (Cramér's V), raw means compare annotators as well as systems.
UNEVEN = 0.1
#: Share of judgements by annotators of a single system up to which z-scores are used all the same.
FEW = 0.05
#: What may be drawn anew, as the parameter ``unit`` names it; "auto" chooses by who judged what.
UNITS = ("auto", "annotators", "documents", "segments", "annotators and documents")
#: Fewest annotators for annotators to be drawn anew, counted as if all had judged equally much.
PEOPLE = 5
#: Share of an annotator's documents (or segments) among all from which on the two are drawn independently.
CROSSED = 0.5
#: Fewest documents for documents, not segments, to be drawn anew.
DOCUMENTS = 20
#: The rule for lines that is ours; see ``ranking.RULES``.
OWN_LINES = "units"
_WORDS = {"annotator": "annotators", "doc": "documents", "segment": "segments"}


@dataclass(frozen=True)
class Method:
    """How systems are scored, tested against each other, and drawn anew: one way for all numbers that compare them.

    column: ``score``, or ``normalized`` for z-scores per annotator. why: the reason for that column. unit: the columns
    whose values are drawn anew, one or two that are crossed, "segment" for what names one. why_unit: the reason.
    item_types, segment: which judgements count, and the columns that name a segment. alpha: one-sided level, after
    Holm's correction. lines: the rule of ``ranking.RULES`` that draws lines between clusters; tests, intervals and
    places stay as they are under any. compares: judgements are halves of comparisons, so that strengths are ranked (see
    ``systems.strengths``).
    """

    column: str
    why: str
    unit: tuple[str, ...]
    why_unit: str
    item_types: tuple[str, ...]
    segment: tuple[str, ...]
    alpha: float = 0.05
    lines: str = OWN_LINES
    compares: bool = False

    @property
    def by_z(self) -> bool:
        """Whether z-scores, not raw scores, are compared."""
        return self.column == "normalized"

    @property
    def title(self) -> str:
        """What systems are compared by, in words."""
        if self.compares:
            return "expected share of comparisons won"
        return "z-score" if self.by_z else "mean score"

    @property
    def drawn(self) -> str:
        """What is drawn anew, in words."""
        return " and ".join(_WORDS[name] for name in self.unit)

    @property
    def draws_people(self) -> bool:
        """Whether annotators are drawn anew, so that numbers hold for other annotators, too."""
        return "annotator" in self.unit

    @property
    def _options(self) -> dict[str, Any]:
        return {"score": self.column, "item_types": self.item_types, "segment": self.segment}

    @property
    def _tests(self) -> dict[str, Any]:
        return {"test": "t", "alpha": self.alpha, "correction": "holm"}

    def scores(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Score systems; see ``ranking.system_scores``."""
        return ranking.system_scores(ratings, **self._options)

    def clusters(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Part systems into clusters: ``ranking.significance_clusters``, or by the rule that ``lines`` names.

        Under another rule than ours, cluster, wins, losses, rank_top and rank_bottom are its own; the order stays.
        """
        found = ranking.significance_clusters(ratings, unit=self.unit, **self._options, **self._tests)
        if self.lines == OWN_LINES:
            return found
        ruled = by_rule.rule_clusters(
            ratings, rule=self.lines, unit=self.unit, item_types=self.item_types, segment=self.segment
        )
        own = ["cluster", "wins", "losses", "rank_top", "rank_bottom"]
        return found.drop(columns=own).merge(ruled[["system", *own]], on="system")[list(found.columns)]

    def pairwise(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Test every two systems; see ``ranking.pairwise_tests``."""
        return ranking.pairwise_tests(ratings, unit=self.unit, **self._options, **self._tests)

    def places(self, ratings: pd.DataFrame, *, resamples: int, seed: int) -> pd.DataFrame:
        """Draw intervals of scores and of places; see ``ranking.rank_ranges``."""
        drawn: dict[str, Any] = {"unit": self.unit, "widen": True, "resamples": resamples, "seed": seed}
        return ranking.rank_ranges(ratings, **drawn, **self._options)

    def shifts(self, variants: Mapping[str, pd.DataFrame], **drawn: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Compare rankings of the same judgements made otherwise: ``ranking.rank_shifts`` and ``ranking.rankings``."""
        found = ranking.resampled(variants, unit=self.unit, widen=True, **self._options, **self._tests, **drawn)
        return ranking.rank_shifts(found), ranking.rankings(found)


def choose_method(
    campaign: Campaign, *, score: str = "auto", unit: str = "auto", lines: str = OWN_LINES,
    ratings: pd.DataFrame | None = None,
) -> Method:  # fmt: skip
    """Choose how to compare the pair's systems. ratings: other judgements of the pair than all, such as screened ones.

    score: see ``SCORES``; unit: see ``UNITS``; lines: a rule's name, see ``ranking.RULES``; DataError for another.
    """
    rules.named(lines)
    for name, value, known in (("score", score, SCORES), ("unit", unit, UNITS)):
        if value not in known:
            raise DataError(f"{name}={value!r}: choose one of {', '.join(known)}.")
    rows = campaign.judged if ratings is None else ratings
    chosen, why = (score, f"score is set to {score}") if score != "auto" else _fitting_score(rows)
    if campaign.compares:
        chosen, why = (
            "raw",
            "strengths are fitted to comparisons (Bradley-Terry; ties after Davidson), so that it does ",
        )
        why += "not matter whom a system met"
    units, why_unit = _exchangeable(campaign, rows) if unit == "auto" else (_named(campaign, unit), f"unit is {unit}")
    if not campaign.names_people:
        why_unit = "the file does not name who judged"
        why = why if campaign.compares else f"{why_unit}, so nobody's strictness can be taken out"
    return Method(
        column="normalized" if chosen == "z" else "score",
        why=why,
        unit=units,
        why_unit=why_unit,
        item_types=(*campaign.ranked_types, "reference"),
        segment=campaign.segment,
        lines=lines,
        compares=campaign.compares,
    )


def _exchangeable(campaign: Campaign, rows: pd.DataFrame) -> tuple[tuple[str, ...], str]:
    """Choose what another campaign of this kind would have drawn otherwise, with the reason.

    Annotators, where there are enough: each comes with all that they judged. Texts as well, where most annotators
    judged most texts, so that one text's judgements are not one annotator's. Texts alone, where few people judged.
    """
    text, shares = _text(campaign, rows), rows["annotator"].value_counts(normalize=True)
    people = round(1 / float((shares**2).sum()), 6) if len(shares) else 0.0
    if people < PEOPLE:
        if len(shares) < 2:
            return (text,), "one annotator judged all, so what follows holds for this annotator only"
        alike = f", who count as {people:.1f} because some gave many more judgements than others," * (
            len(shares) >= PEOPLE
        )
        who = f"{len(shares)} annotators{alike} are too few to be drawn"
        return (text,), f"{who}, so what follows holds for these annotators only"
    columns = [text] if text == "doc" else list(campaign.segment)
    judged = len(rows.drop_duplicates(["annotator", *columns]))
    filled = judged / (len(shares) * len(rows.drop_duplicates(columns)))
    if filled >= CROSSED:
        return ("annotator", text), f"{len(shares)} annotators judged most of the same {_WORDS[text]}"
    return ("annotator",), f"{len(shares)} annotators each judged {_WORDS[text]} of their own"


def _text(campaign: Campaign, rows: pd.DataFrame) -> str:
    """Choose documents, where there are enough that systems have in common, or segments."""
    return "doc" if rows["doc"].nunique() >= DOCUMENTS and campaign.segment == ("doc", "segment") else "segment"


def _named(campaign: Campaign, unit: str) -> tuple[str, ...]:
    """Return the columns of a unit that is asked for; DataError where documents are not the same for all systems."""
    if "documents" in unit and campaign.segment == ("segment",):
        raise DataError(
            f"unit={unit!r}: documents have other names for each system here. Choose annotators or segments."
        )
    return {"annotators": ("annotator",), "documents": ("doc",), "segments": ("segment",)}.get(
        unit, ("annotator", "doc")
    )


def _fitting_score(rows: pd.DataFrame) -> tuple[str, str]:
    """Choose z-scores or raw scores by how annotators are spread over systems, with the reason."""
    spread = Spread.of(rows)
    several = spread.one_system <= FEW
    mix = f"Cramér's V of annotators and systems is {spread.association:.2f}"
    if spread.association >= UNEVEN and several:
        return "z", f"annotators judged the systems unequally often ({mix}; from {UNEVEN} on, z-scores compare)"
    if rows["annotator"].nunique() < 2:
        return "raw", "there is one annotator, so nobody's strictness can favour a system"
    if several:
        return "raw", f"annotators judged the systems about equally often ({mix}), so strict ones favour no system"
    return "raw", f"many annotators judged one system only, and z-scores would hide how good it is ({mix})"


def order(campaign: Campaign, ratings: pd.DataFrame, *, score: str = "auto") -> list[str]:
    """Return the systems in the order of their scores, on other judgements of the pair; none where nothing is left."""
    rows = ratings[ratings["item_type"].isin(campaign.ranked_types) & ratings["system"].isin(campaign.systems)]
    if rows.empty:
        return []
    rows = like(rows.reset_index(drop=True), campaign.part)
    found = choose_method(campaign, score=score, ratings=rows).scores(rows)
    return found.sort_values("score", ascending=False, kind="stable")["system"].tolist()


@dataclass(frozen=True)
class Spread:
    """How annotators' judgements are spread over systems.

    association: Cramér's V of annotators and systems, 0 to 1. one_system: share of judgements by annotators of a
    single system; 1 where there are none. per_system: judgements of a system by an annotator, on average. even:
    whether all annotators judged the systems in the same proportions.
    """

    association: float
    one_system: float
    per_system: float
    even: bool

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Spread:
        """Measure the spread of judgements (annotator, system).

        >>> Spread.of(pd.DataFrame({"annotator": list("aabbbb"), "system": list("xyxxyy")})).even
        True
        """
        if rows.empty:
            return cls(0.0, 1.0, 0.0, True)
        counts = pd.crosstab(rows["annotator"], rows["system"]).to_numpy(float)
        single = counts[(counts > 0).sum(axis=1) == 1].sum()
        even = bool(np.allclose(counts, correlation.expected(counts)))
        return cls(correlation.cramers_v(counts), float(single / counts.sum()), float(counts.mean()), even)
