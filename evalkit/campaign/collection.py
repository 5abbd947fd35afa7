"""What was collected: judgements by system and annotator, missing cells, duplicates, and marked errors."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.findings import WORDING, Finding, Missing, Result, finding, or_missing, which
from evalkit.campaign.opening import Campaign
from evalkit.data.schemas import ITEM, UNSTATED
from evalkit.human import mqm, quality_levels
from evalkit.stats.terms import pluralize

#: How a report calls the kinds of items, and what judgements that rank no system are for.
KINDS, _USES = WORDING["kinds"], WORDING["uses"]
#: Kinds that coverage by annotator counts apart, where there are such.
_WATCHED = ("repeat", "degraded", "reference", "calibration")
_COUNTS = {
    "judgements": ("score", "size"),
    "systems": ("system", "nunique"),
    "documents": ("doc", "nunique"),
    "annotators": ("annotator", "nunique"),
    "mean": ("score", "mean"),
    "sd": ("score", "std"),
}


class Collection(Result):
    """What the file holds of all language pairs, and of the one in detail.

    pairs, kinds, systems, annotators: counts by language pair, kind of item, system and annotator; the last three are
    of the pair in detail; ``systems`` counts what ranks systems, ``annotators`` that and human translations. segments;
    cells: segments × systems; judged, several: cells with a judgement, and with judgements by two annotators or more.
    judgements: by all of these annotators. duplicates: unmarked second judgements. notes: how the file was read.
    assumed_scale: the lowest and the highest score, where no ends are declared. names_people: whether the file says who
    judged; where it does not, tables count no annotators. uses: the file's judgements, summed up to those that rank
    systems: judgements, what, used_for.
    """

    names_people = True

    def tell(self) -> Iterator[Finding]:
        """Say how much was judged, by how many people, and how the file was read."""
        never = self.cells - self.judged
        yield finding("collected.judged", found=self, never=never)
        if self.cells:
            yield finding("collected.cells", found=self, never=never, share=never / self.cells)
        unnamed = not self.duplicates and not self.names_people
        yield from which("collected", self, twice=self.duplicates, unnamed=unnamed, assumed=self.notes)
        yield from which("lacks", self, scale=self.assumed_scale)


def count_judgements(campaign: Campaign) -> Collection:
    """Count what was collected: who judged what, what nobody judged, what somebody judged twice."""
    part, judged = campaign.part, campaign.judged
    kinds = part["item_type"].map(KINDS).value_counts().rename_axis("kind").rename("judgements").reset_index()
    people = judged.groupby([*campaign.segment, "system"])["annotator"].nunique()
    unnamed = [] if campaign.names_people else ["annotators"]
    by_name = _by_annotator(part, campaign.compared)
    found = Collection(pair=campaign.pair, uses=_uses(campaign), kinds=kinds, duplicates=_duplicates(part))
    found.pairs = _by_pair(campaign.ratings).drop(columns=unnamed)
    found.systems = _by_system(judged, campaign.segment).drop(columns=unnamed)
    found.annotators = by_name.head(0 if unnamed else len(by_name))
    found.judgements = int(by_name["judgements"].sum())
    found.segments, found.cells = len(campaign.cells), int(campaign.cells.size)
    found.judged, found.several = len(people), int((people > 1).sum())
    found.notes = tuple(campaign.ratings.attrs.get("notes", ()))
    found.names_people = campaign.names_people
    found.assumed_scale = None if campaign.known_scale else campaign.scale
    return found


def _uses(campaign: Campaign) -> pd.DataFrame:
    """Reconcile the counts: what the file holds, what of it is set apart for which use, and what ranks systems."""
    part, whole = campaign.part, campaign.whole
    humans = len(campaign.compared) - len(campaign.judged)
    apart = [
        ("of other criteria", len(whole) - len(campaign.ratings), "their own rankings"),
        ("of other language pairs", len(campaign.ratings) - len(part), "the overviews"),
    ]
    rest = part[~part.index.isin(campaign.compared.index)]["item_type"].value_counts()
    apart += [(f"of {KINDS[kind]}", int(number), _USES[kind]) for kind, number in rest.items()]
    apart += [("of human translations", humans, "shown beside the systems, and tests against them")]
    rows = [(len(whole), "in the file", "")]
    rows += [(number, f"less {what}", use) for what, number, use in apart if number]
    rows += [(len(campaign.judged), "left of systems", "ranking, tests, intervals and plan")]
    return pd.DataFrame(rows, columns=["judgements", "what", "used_for"])


def _counted(ratings: pd.DataFrame, by: str) -> pd.DataFrame:
    return ratings.groupby(by).agg(**{name: how for name, how in _COUNTS.items() if how[0] != by})


def _by_pair(ratings: pd.DataFrame) -> pd.DataFrame:
    """Count per language pair; all item types count, and sd is missing for a single judgement."""
    table = _counted(ratings, "pair")
    table.insert(3, "translated_segments", ratings.drop_duplicates(["pair", *ITEM]).groupby("pair").size())
    return table.reset_index()


def _by_system(judged: pd.DataFrame, segment: tuple[str, ...]) -> pd.DataFrame:
    """Count per system, with its segments, their share of all segments, and the mean of their means."""
    means = judged.groupby(["system", *segment])["score"].mean().groupby("system").mean()
    table = _counted(judged, "system").assign(mean=means)
    segments = judged.drop_duplicates(["system", *segment])
    table.insert(1, "segments", segments.groupby("system").size())
    table.insert(2, "share_of_segments", table["segments"] / max(len(segments.drop_duplicates(list(segment))), 1))
    return table.reset_index()


def _by_annotator(part: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Count per annotator what scores systems, and apart from it each kind of item that needs watching."""
    kinds = part.groupby(["annotator", "item_type"]).size().unstack(fill_value=0)
    watched = kinds[[kind for kind in _WATCHED if kind in kinds]]
    counted = _counted(compared, "annotator").reindex(watched.index)
    whole = counted.columns.difference(["mean", "sd"])
    return counted.fillna(dict.fromkeys(whole, 0)).astype(dict.fromkeys(whole, int)).join(watched).reset_index()


def _duplicates(part: pd.DataFrame) -> int:
    """Count judgements of an item that its annotator had judged before, where no repeat or calibration is meant.

    Degraded items and references are left out as well: quality control shows them in several HITs on purpose.
    """
    beside = [name for name in ("against",) if name in part]  # of a comparison, another one shows another system
    return int(part[part["item_type"].eq("system")].duplicated([*ITEM, "annotator", *beside]).sum())


class Errors(Result):
    """Marked errors of the pair's systems.

    by_system: errors, segments, errors a judgement (per_segment) and a count of each severity, the fewest first.
    types: counts of types; no rows where annotators stated none. errors, judgements: how many.
    """

    def tell(self) -> Iterator[Finding]:
        """Say how many errors were marked, and in whose outputs."""
        yield finding("errors.marked", found=self, few=self.by_system.iloc[0], many=self.by_system.iloc[-1])
        yield from which("errors", self, no_types=self.types.empty)


@or_missing("errors")
def count_errors(campaign: Campaign) -> Errors:
    """Count marked errors by system, severity and type."""
    judged = campaign.judged
    if campaign.spans is None:
        raise DataError("there are no marked errors beside the scores.")
    spans = of_judged(campaign)
    if spans.empty:
        raise DataError(f"nobody marked an error in {pluralize(len(judged), 'judgement')} of {campaign.pair}.")
    by_system = mqm.errors_per_system(judged, spans, by="pair").drop(columns="pair").set_index("system")
    severities = pd.crosstab(spans["system"].astype("str"), spans["severity"].astype("str")).rename_axis(columns=None)
    by_system = by_system.join(severities.reindex(by_system.index, fill_value=0)).reset_index()
    by_system = by_system.sort_values("per_segment", kind="stable", ignore_index=True)
    types = mqm.type_counts(spans, by="pair").drop(columns="pair")
    types = types.head(len(types) if types["error_type"].ne(UNSTATED).any() else 0)
    return Errors(pair=campaign.pair, by_system=by_system, types=types, errors=len(spans), judgements=len(judged))


def of_judged(campaign: Campaign) -> pd.DataFrame:
    """Return the errors marked in the pair's judgements that rank systems: none of degraded items, of references.

    An empty table without rows or columns where the campaign has no marked errors.
    """
    if campaign.spans is None:
        return pd.DataFrame()
    spans = campaign.spans[campaign.spans["pair"].eq(campaign.pair)]
    if "item_type" in spans:
        spans = spans[spans["item_type"].isin(campaign.ranked_types)]
    return spans[spans["system"].astype("str").isin(campaign.judged["system"])]


class Levels(Result):
    """What level of quality marked errors show of each system, by penalty points per word.

    table: see ``quality_levels.quality_levels``. counted: whose words, the source's or the translation's. tolerance:
    None where none is told. documents: whether their scatter says how sure a penalty is.
    """

    def tell(self) -> Iterator[Finding]:
        """Say whose penalty is lowest and highest, and what passes where that is told."""
        rows = list(self.table.itertuples())
        yield finding("levels.per_word", found=self, best=rows[0], worst=rows[-1])
        if self.tolerance is None:
            yield finding("levels.untold")
            return
        verdicts = self.table["verdict"]
        counts = {"passed": verdicts.eq(quality_levels.PASSED).sum(), "short": verdicts.eq(quality_levels.SHORT).sum()}
        failed = len(rows) - sum(counts.values())
        yield finding("levels.verdicts", found=self, systems=len(rows), failed=failed, **counts)
        near = [row for row in rows if row.verdict == quality_levels.SHORT and row.words_needed == row.words_needed]
        needed = min(near, key=lambda row: row.words_needed, default=())
        yield from which("levels", self, needed=needed, critical=verdicts.eq(quality_levels.CRITICAL).any())


@or_missing("levels")
def grade_quality(campaign: Campaign, *, tolerated: Sequence[float] = ()) -> Levels | Missing:
    """Grade the pair's systems by the weights of their errors.

    tolerated: words, and the penalty points that a text of so many words may have: once for MQM's linear scores, twice
    for logarithmic ones, not at all for penalties and raw scores alone. Words are the source's, or the translation's
    where the source is written without spaces.
    """
    tolerance = quality_levels.Tolerance.of(tolerated) if len(tolerated) else None
    judged, spans = campaign.judged, of_judged(campaign)
    if "weight" not in spans:
        return Missing("", "")  # no MQM
    languages = dict(zip(("source", "hypothesis"), campaign.pair.split("-")))
    sides = [side for side, one in languages.items() if side in judged and one not in quality_levels.UNSPACED]
    if not sides:
        raise DataError("the file has no text in a language with spaces between words, so words cannot be counted.")
    found, weight = mqm.judgements(judged, spans), spans["weight"].to_numpy(float)
    critical = spans["severity"].astype("str").eq("critical").to_numpy()
    sums = {"penalty": weight, "squares": weight**2, "critical": critical}
    rows = judged[["system"]].assign(
        item=judged[ITEM].astype("str").agg(" ".join, axis=1),
        group=judged.get("doc", ""),
        words=quality_levels.count_words(judged[sides[0]].fillna("")),
        **{name: np.bincount(found, each, len(judged)) for name, each in sums.items()},
    )
    another = float(weight.mean()), float((weight**2).mean())
    table = quality_levels.quality_levels(rows, another=another, tolerance=tolerance)
    counted = "source" if sides[0] == "source" else "translation"
    documents = rows["group"].nunique() >= quality_levels.GROUPS
    return Levels(pair=campaign.pair, table=table, counted=counted, tolerance=tolerance, documents=documents)
