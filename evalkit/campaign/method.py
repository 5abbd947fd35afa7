"""How systems are compared: one choice of scores, test and resampling, behind every number that compares them."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import Result, words
from evalkit.campaign.opening import Campaign
from evalkit.data.provenance import like
from evalkit.human.ranking import lines as engine
from evalkit.human.ranking import rules, scores
from evalkit.human.ranking.rules import LineRule
from evalkit.human.ranking.scores import SegmentMeans, influenced, segment_means
from evalkit.stats import widths


class Spread(Result):
    """How annotators' judgements are spread over systems.

    kept: efficiency of the design, the share of the worst kept difference between systems that is left once annotators'
    levels are taken out: 1 where all judged the systems in the same proportions, 0 where people tell systems apart.
    freedom: degrees of freedom that annotators give a difference of two systems, at the least; fewest: the systems of
    which they give least. per_system: judgements of a system by an annotator, on average.
    """

    @property
    def told(self) -> str:
        """What is left of the worst kept difference, in words."""
        return words("by.left", kept=self.kept)

    @classmethod
    def of(cls, rows: pd.DataFrame, calibration: pd.DataFrame | None = None) -> Self:
        """Measure the spread of judgements (annotator, system); calibration items count as one more system.

        >>> rows = pd.DataFrame({"annotator": list("aabbbb"), "system": list("xyxxyy")})
        >>> found = Spread.of(rows)
        >>> found.kept, round(found.freedom, 2)
        (1.0, 1.0)
        """
        if rows["system"].nunique() < 2:
            return cls(kept=1.0, freedom=0.0, fewest=(), per_system=0.0)
        counts = pd.crosstab(rows["annotator"], rows["system"])
        freedom = freedom_of(counts.to_numpy(float))
        pairs = np.stack(np.triu_indices(counts.shape[1], 1), axis=1)
        fewest = counts.columns[pairs[freedom.argmin()]]
        per_system, own = float(counts.to_numpy().mean()), counts
        if calibration is not None and len(calibration):
            more = calibration.groupby("annotator").size().reindex(counts.index, fill_value=0)
            own = counts.assign(calibration=more) if more.any() else counts
        kept = float(widths.efficiency(own.to_numpy(float))[0])
        return cls(kept=kept, freedom=float(freedom.min()), fewest=tuple(map(str, fewest)), per_system=per_system)


def freedom_of(counts: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom that units give the difference of every two systems; units × systems."""
    pairs = np.stack(np.triu_indices(counts.shape[1], 1), axis=1)
    return widths.few_units(np.moveaxis((counts / counts.sum(axis=0))[:, pairs], 0, 1))[1]


#: What to rank by -> its column: raw scores, scores with each annotator's strictness taken out, z-scores per annotator.
COLUMNS = {"raw": "score", "adjusted": "adjusted", "z": "normalized"}
SCORES = ("auto", *COLUMNS)
#: From this efficiency of the annotators × systems design on, raw scores say the same as adjusted ones.
EVEN = 0.95
#: Below these, it is told; it is warned of; strictness and systems cannot be told apart.
TOLD, WARNED, CONFOUNDED = 0.7, 0.2, 0.05
#: Fewest degrees of freedom that annotators give a difference, for annotators to be drawn anew.
FREEDOM = 2.5
#: What may be drawn anew, as the parameter ``unit`` names it; "auto" chooses by who judged what.
UNITS = ("auto", "annotators", "documents", "segments", "annotators and documents")
#: Fewest annotators for resamples of annotators, counted as if all had judged equally much.
PEOPLE = 5
#: Share of an annotator's documents (or segments) among all from which on the two are drawn independently.
CROSSED = 0.5
#: Fewest documents for documents, not segments, to be drawn anew.
DOCUMENTS = 20
#: The rule for lines that is ours; see ``rules.RULES``.
OWN_LINES = "units"
#: How every two systems are tested; alpha: one-sided, after Holm's correction.
_TESTS: dict[str, Any] = {"test": "t", "alpha": 0.05, "correction": "holm"}
_RULE = LineRule(**_TESTS)
_WORDS = {"annotator": "annotators", "doc": "documents", "segment": "segments"}


class Method(Result):
    """How systems are scored, tested against each other, and drawn anew: one way for all numbers that compare them.

    column: one of ``COLUMNS``. why: the reason for it. unit: the columns whose values are drawn anew, one or two that
    are crossed, "segment" for what names one. why_unit: the reason. redrawn: those of resamples, where there are any.
    kept: how much of each difference between systems is left once annotators' levels are taken out, at the least (see
    ``Spread``). barred: why there can be no order, if so.
    item_types, segment: which judgements count, and the columns that name a segment. alpha: one-sided level, after
    Holm's correction. lines: the rule of ``rules.RULES`` that draws lines between clusters; tests, intervals and
    places stay as they are under any. compares: judgements are halves of comparisons, so that strengths are ranked (see
    ``strengths``).
    """

    alpha = _TESTS["alpha"]

    def but(self, **changed: Any) -> Self:
        """Return the same way in all but some respects."""
        return type(self)(**vars(self) | changed)

    @property
    def by_z(self) -> bool:
        """Whether z-scores, not raw scores, are compared."""
        return self.column == "normalized"

    @property
    def score(self) -> str:
        """What is compared, as the parameter ``score`` names it."""
        return next(name for name, column in COLUMNS.items() if column == self.column)

    @property
    def title(self) -> str:
        """What systems are compared by, in words."""
        return words(f"titles.{'wins' if self.compares else self.score}")

    @property
    def scores_name(self) -> str:
        """The scores that are compared, in words."""
        return words(f"scores.{self.score}")

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

    def scores(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Score systems; see ``scores.system_scores``."""
        return scores.system_scores(ratings, **self._options)

    def table(self, campaign: Campaign) -> SegmentMeans:
        """Score systems and people's translations, and say what chance does to their scores: for tests, intervals."""
        rows = campaign.compared
        (table,) = segment_means(rows, score=self.column, item_types=self.item_types, segment=self.segment).values()
        counted = campaign.part.index.isin(rows.index)
        strict = campaign.strict if self.column == "adjusted" else None
        how: dict[str, Any] = {"score": self.column, "segment": self.segment, "units": self.unit, "strict": strict}
        return influenced(table, campaign.part, counted, **how)

    def clusters(self, campaign: Campaign, table: SegmentMeans) -> pd.DataFrame:
        """Part systems into clusters: as ``lines.significance_clusters``, or by the rule that ``lines`` names.

        table: those of the systems. Under another rule than ours, cluster, wins, losses, rank_top and rank_bottom are
        its own; the order stays.
        """
        found = engine.cluster(campaign.pair, table, _RULE).table
        if self.lines == OWN_LINES:
            return found
        ruled = engine.rule_clusters(
            campaign.judged, rule=self.lines, unit=self.redrawn, item_types=self.item_types, segment=self.segment
        )
        own = ["cluster", "wins", "losses", "rank_top", "rank_bottom"]
        return found.drop(columns=own).merge(ruled[["system", *own]], on="system")[list(found.columns)]

    def pairwise(self, campaign: Campaign, table: SegmentMeans) -> pd.DataFrame:
        """Test every two systems of a table; see ``lines.pairwise_tests``."""
        found = engine.compare(campaign.pair, table, _RULE).drop(columns="pair")
        return found.rename(columns={"adjusted": "adjusted_p"})

    def shifts(self, variants: Mapping[str, pd.DataFrame], **drawn: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Compare rankings of the same judgements made otherwise: ``lines.rank_shifts`` and ``rankings``."""
        found = engine.resampled(variants, unit=self.redrawn, **self._options, **_TESTS, **drawn)
        return engine.rank_shifts(found), engine.rankings(found)


def choose_method(
    campaign: Campaign,
    *,
    score: str = "auto",
    unit: str = "auto",
    lines: str = OWN_LINES,
    ratings: pd.DataFrame | None = None,
) -> Method:
    """Choose how to compare the pair's systems. ratings: other judgements of the pair than all, such as screened ones.

    score: see ``SCORES``; unit: see ``UNITS``; lines: a rule's name, see ``rules.RULES``; DataError for another.
    """
    rules.named(lines)
    for name, value, known in (("score", score, SCORES), ("unit", unit, UNITS)):
        if value not in known:
            raise DataError(f"{name}={value!r}: choose one of {', '.join(known)}.")
    rows = campaign.judged if ratings is None else ratings
    spread = Spread.of(rows, campaign.calibrating)
    chosen, why = _fitting_score(rows, spread) if score == "auto" else (score, _as_told(score, spread))
    if unit == "auto":
        redrawn, why_unit = _exchangeable(campaign, rows)
    else:
        redrawn, why_unit = _named(campaign, unit), words("over.told", unit=unit)
    units, barred, kept = redrawn, "", spread.kept
    if campaign.compares:
        chosen, kept, why = "raw", 1.0, words("by.compares")
    elif unit == "auto":
        units, why_unit = _drawn(campaign, rows, spread)
        several, apart = rows["annotator"].nunique() > 1, spread.kept < CONFOUNDED and spread.freedom < FREEDOM
        barred = words("by.barred", fewest=spread.fewest) if several and apart else ""
    if not campaign.names_people:
        why_unit, why = words("over.unnamed"), why if campaign.compares else words("by.unnamed")
    found = Method(column=COLUMNS[chosen], why=why, unit=units, why_unit=why_unit, redrawn=redrawn, kept=kept)
    found.item_types, found.segment = (*campaign.ranked_types, "reference"), campaign.segment
    found.lines, found.compares, found.barred = lines, campaign.compares, barred
    return found


def _drawn(campaign: Campaign, rows: pd.DataFrame, spread: Spread) -> tuple[tuple[str, ...], str]:
    """Choose what another campaign of this kind would have drawn otherwise, with the reason: people, too, if enough."""
    people, counts = rows["annotator"].nunique(), pd.crosstab(rows["doc"], rows["system"]).to_numpy(float)
    documents = campaign.segment == ("doc", "segment") and freedom_of(counts).min(initial=np.inf) >= FREEDOM
    text = "doc" if documents else "segment"
    if people < 2 or not campaign.names_people:
        return (text,), words("over.one")
    if spread.freedom >= FREEDOM:
        return ("annotator", text), words("over.both", people=people, texts=_WORDS[text])
    return (text,), words("over.few", people=people, fewest=spread.fewest)


def _exchangeable(campaign: Campaign, rows: pd.DataFrame) -> tuple[tuple[str, ...], str]:
    """Choose what resamples draw, with the reason.

    Annotators, where there are enough: each comes with all that they judged. Texts as well, where most annotators
    judged most texts, so that one text's judgements are not one annotator's. Texts alone, where few people judged.
    """
    documents = rows["doc"].nunique() >= DOCUMENTS and campaign.segment == ("doc", "segment")
    text, shares = "doc" if documents else "segment", rows["annotator"].value_counts(normalize=True)
    people = round(1 / float((shares**2).sum()), 6) if len(shares) else 0.0
    told = {"people": len(shares), "count": people, "texts": _WORDS[text]}
    if people < PEOPLE:
        return (text,), words(
            f"over.{'one' if len(shares) < 2 else 'too_few' if len(shares) < PEOPLE else 'uneven'}", **told
        )
    columns = [text] if text == "doc" else list(campaign.segment)
    judged = len(rows.drop_duplicates(["annotator", *columns]))
    if judged / (len(shares) * len(rows.drop_duplicates(columns))) >= CROSSED:
        return ("annotator", text), words("over.crossed", **told)
    return ("annotator",), words("over.nested", **told)


def _named(campaign: Campaign, unit: str) -> tuple[str, ...]:
    """Return the columns of a unit that is asked for; DataError where documents are not the same for all systems."""
    if "documents" in unit and campaign.segment == ("segment",):
        raise DataError(
            f"unit={unit!r}: documents have other names for each system here. Choose annotators or segments."
        )
    return tuple(column for column, word in _WORDS.items() if word in unit)


def _as_told(score: str, spread: Spread) -> str:
    """Say that a kind of scores was asked for, and what is wrong with it here."""
    sound = score == "adjusted" or spread.kept >= TOLD
    return words("by.told" if sound else f"by.told_{score}", score=score, left=spread.told)


def _fitting_score(rows: pd.DataFrame, spread: Spread) -> tuple[str, str]:
    """Choose raw or adjusted scores by how annotators are spread over systems, with the reason."""
    if rows["annotator"].nunique() < 2:
        return "raw", words("by.one")
    if spread.kept >= EVEN:
        return "raw", words("by.even")
    if spread.kept < CONFOUNDED:
        return "raw", words("by.confounded")
    why = words("by.adjusted")
    return "adjusted", why if spread.kept >= TOLD else words("by.adjusted_not_z", adjusted=why, left=spread.told)


def order(campaign: Campaign, ratings: pd.DataFrame, *, score: str = "auto") -> list[str]:
    """Return the systems in the order of their scores, on other judgements of the pair; none where nothing is left."""
    rows = ratings[ratings["item_type"].isin(campaign.ranked_types) & ratings["system"].isin(campaign.systems)]
    if rows.empty:
        return []
    rows = like(rows.reset_index(drop=True), campaign.part)
    method = choose_method(campaign, score=score, ratings=rows)
    if method.barred:
        return []
    found = method.scores(rows)
    return found.sort_values("score", ascending=False, kind="stable")["system"].tolist()
