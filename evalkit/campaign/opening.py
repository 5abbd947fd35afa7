"""A campaign as its analyses see it: one file's judgements, and the language pair that is looked at in detail."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.campaign.findings import Finding, Result, finding, which
from evalkit.data import compared, registry, schemas
from evalkit.data.names import UNNAMED, is_human
from evalkit.data.provenance import declared_scale, like, reading_of, source_of
from evalkit.data.schemas import of_systems, segment_key, with_pair
from evalkit.human import annotators, components, normalization

#: Longest name that is shown whole, characters.
LONGEST = 60
#: What would turn the rest of a sentence round, or break its line.
_UNSEEN = re.compile(r"[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


def readable(names: list[str]) -> dict[str, str]:
    """Map names to what is shown for them, where that differs: long ones are cut, and two of them never meet.

    >>> readable(["online-A", "x" * 70, "x" * 80, "a" + chr(0x202E) + "b"])["a" + chr(0x202E) + "b"]
    'a b'
    >>> sorted(len(short) for short in readable(["x" * 70, "x" * 80]).values())
    [60, 60]
    """
    taken = {name for name in names if _short(name) == name}
    shown: dict[str, str] = {}
    for name in names:
        if name in taken and name not in shown.values():
            continue
        marks = itertools.chain([""], (f" ({number})" for number in itertools.count(2)))
        tried = (_short(name, LONGEST - len(mark)) + mark for mark in marks)
        shown[name] = next(short for short in tried if short not in taken)
        taken.add(shown[name])
    return shown


def renamed(table: pd.DataFrame, shown: dict[str, dict[str, str]]) -> pd.DataFrame:
    """Put the names to be shown into columns; the type of a column, such as category, becomes text where it changes."""
    new = {column: table[column].astype("str").replace(names) for column, names in shown.items() if names}
    return like(table.assign(**new), table)


def _short(name: str, length: int = LONGEST) -> str:
    whole = re.sub(r"\s+", " ", _UNSEEN.sub(" ", name)).strip() or "(no name)"
    return whole if len(whole) <= length else f"{whole[: length - 1].rstrip()}…"


#: Up to so many different scores a scale counts as one of steps (ordinal), above as continuous.
STEPS = 11


@dataclass(frozen=True, eq=False)
class Campaign(Result):
    """One file of judgements, higher is better, and the language pair in detail.

    ratings: all judgements with the column ``pair``; ``score`` is turned round where lower was better. pair: the one
    in detail; ``part`` has its judgements, with z-scores per annotator over all kinds of items as ``normalized`` (0 for
    who gave one score throughout), and scores less their annotator's strictness as ``adjusted``. spans: marked errors,
    or None. scale: ends of the scale, after turning.
    known_scale: whether the ends are declared, not just the lowest and highest score seen. segment: the columns that
    name a segment across systems. turned: whether low scores were good. example: public data stand in for a file of
    one's own. renamed: how many names of systems and annotators are shown shorter than they are, or without characters
    that cannot be seen. criterion: what was judged, of the file's ``criteria``; empty where it names none. whole: the
    file's judgements by all criteria, as they were given.
    """

    ratings: pd.DataFrame
    part: pd.DataFrame
    pair: str
    spans: pd.DataFrame | None
    scale: tuple[float, float]
    known_scale: bool
    segment: tuple[str, ...]
    turned: bool
    example: bool
    renamed: int
    criterion: str
    whole: pd.DataFrame

    def tell(self) -> Iterator[Finding]:
        """Say which file and which language pair this is about, and what was done to scores and names."""
        pairs = {"name": source_of(self.ratings)["name"], "others": self.pairs[1:]}
        yield finding("mine.pairs" if self.pairs[1:] else "mine.pair", found=self, **pairs)
        yield from which("mine", self, turned=self.turned, renamed=self.renamed)

    @cached_property
    def names_people(self) -> bool:
        """Whether the file says who gave which judgement; where it does not, nothing is said of annotators."""
        people = {name.strip().casefold() for name in self.part["annotator"].unique()}
        return not reading_of(self.ratings).get("unnamed") and not people <= UNNAMED

    @property
    def sources(self) -> list[pd.DataFrame]:
        """The tables that the report rests on, with their provenance."""
        return [self.ratings, *([self.spans] if self.spans is not None else [])]

    @property
    def ranked_types(self) -> tuple[str, ...]:
        """Item types that rank systems: their outputs and unchanged repeats, or calibration items where that is all."""
        return schemas.ranked_types(self.part)

    @cached_property
    def compared(self) -> pd.DataFrame:
        """The pair's judgements of systems and of people's translations: what a ranking shows."""
        return schemas.scored(self.part)

    @cached_property
    def humans(self) -> tuple[str, ...]:
        """People's translations: references under a name of their own, and what is called so, such as HUMAN-B.

        None where no other system was judged: then people's translations are what is ranked.
        """
        ranked = of_systems(self.part, self.ranked_types)["system"].unique()
        names = pd.Series(self.compared["system"].unique(), dtype="str")
        people = is_human(names) | ~names.isin(ranked)
        return () if people.all() else tuple(sorted(names[people]))

    @cached_property
    def judged(self) -> pd.DataFrame:
        """The pair's judgements that rank systems; no rows where only references or degraded items were judged.

        A name that has second showings only, such as a reference in a quality-control copy, is no system, and neither
        are people's translations.
        """
        ranked = of_systems(self.part, self.ranked_types)
        return ranked[~ranked["system"].isin(self.humans)]

    @property
    def calibrating(self) -> pd.DataFrame:
        """The pair's judgements of calibration items, where these rank no systems."""
        known = self.part["item_type"].eq("calibration")
        return self.part[known & ("calibration" not in self.ranked_types)]

    @cached_property
    def strict(self) -> components.Strictness | None:
        """How strict annotators are; None where nothing tells, or comparisons leave no room for it.

        Learned from all they judged but degraded items. Calibration items count as one more system.
        """
        own = self.part[self.part["item_type"].ne("degraded")]
        if own.empty or self.compares:
            return None
        apart = own["item_type"].where(~own["item_type"].isin(self.ranked_types), "")
        kind = apart + " " + own["system"].astype("str").where(apart.ne("calibration"), "")
        segment = own.groupby(list(self.segment)).ngroup().to_numpy()
        rows = np.flatnonzero(self.part["item_type"].ne("degraded"))
        return components.estimate_strictness(own["score"].to_numpy(float), kind, own["annotator"], segment, rows)

    def adjusted(self) -> Self:
        """Take annotators' strictness out of scores: ``part`` gets, or renews, its column ``adjusted``."""
        taken = self.strict.of(self.part["annotator"]) if self.strict else 0.0
        return replace(self, part=like(self.part.assign(adjusted=self.part["score"] - taken), self.part))

    @cached_property
    def compares(self) -> bool:
        """Whether each judgement is half of a comparison: what it says for one system, its other half says against.

        Of two translations the better one, or a tie; or how far one number favours either.
        """
        rows, middle = self.compared, sum(self.scale) / 2
        if rows.empty or not {"against", "hit"} <= {*rows} or rows["against"].isna().any():
            return False
        halves = (rows["score"] - middle).groupby([rows[name] for name in (*compared.TOGETHER, "hit") if name in rows])
        return bool(halves.sum().abs().lt(1e-9 * (self.scale[1] - self.scale[0])).all())

    @cached_property
    def comparisons(self) -> pd.DataFrame:
        """The pair's comparisons (``schemas.COMPARISONS``), of systems and people's translations."""
        return compared.of_scores(self.compared)

    def asked(self, ratings: pd.DataFrame, *, once: bool = False) -> pd.DataFrame:
        """Name as the system what annotators were asked about: of comparisons both systems, else the table as it is.

        Whoever judged A against B and whoever judged A against C judged no item in common. once: keep one half of each
        comparison, so that it counts once.
        """
        if not self.compares:
            return ratings
        kept = ratings[ratings["system"] < ratings["against"]] if once else ratings
        return like(kept.assign(system=kept["system"] + " against " + kept["against"]), ratings)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Mean scores as segments × systems, NaN where a system's segment was not judged."""
        return self.judged.pivot_table(index=list(self.segment), columns="system", values="score", aggfunc="mean")

    @cached_property
    def shared_segments(self) -> float:
        """Share of segments that every two systems have in common, of those that the smaller one has.

        The lowest over all pairs of systems: 1 where all were judged on the same segments, 0 where two share none.
        """
        there = self.cells.notna().to_numpy(float)
        if there.shape[1] < 2:
            return 1.0
        common, own = there.T @ there, there.sum(axis=0)
        upper = np.triu_indices(len(own), 1)
        return float((common[upper] / np.minimum(own[upper[0]], own[upper[1]])).min())

    @cached_property
    def hundred(self) -> pd.DataFrame:
        """The pair's judgements on a scale from 0 to 100, for measures and rules that are stated in its points."""
        return self.on_hundred(self.asked(self.part))

    @cached_property
    def everywhere(self) -> pd.DataFrame:
        """All judgements by the pair's annotators, in whatever pair, on a scale from 0 to 100."""
        by_them = self.ratings["annotator"].isin(self.part["annotator"].unique())
        return self.on_hundred(self.asked(self.ratings[by_them].reset_index(drop=True)))

    @cached_property
    def control(self) -> pd.DataFrame:
        """Quality control of the pair's annotators, over all of their pairs: annotator and columns qc_…"""
        found = annotators.quality_control(self.everywhere)
        return found[found["pair"] == self.pair].drop(columns="pair").reset_index(drop=True)

    def on_hundred(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Stretch scores onto a scale from 0 to 100; those that are there already stay as they are, to the last bit."""
        (low, high), score = self.scale, ratings["score"]
        if self.scale != (0.0, 100.0):
            score = ((score - low) * (100 / (high - low))).clip(0, 100)
        return like(ratings.assign(score=score), ratings, scale=(0.0, 100.0))

    @property
    def layout(self) -> str:
        """How segments are named, as ``components.estimate`` calls it: within documents, or by numbers alone."""
        return "campaign" if self.segment == ("doc", "segment") else "numbered"

    @property
    def steps(self) -> int:
        """How many different scores the pair's annotators gave."""
        return int(self.part["score"].nunique())

    @property
    def systems(self) -> list[str]:
        """The systems that were judged, by name."""
        return sorted(self.judged["system"].unique())

    @property
    def criteria(self) -> list[str]:
        """What the file's judgements are of, as its rows name it first; empty where it names none."""
        return list(dict.fromkeys(self.whole.get("criterion", ())))

    @property
    def receipt(self) -> pd.DataFrame:
        """How the file was read, as its import told it: what, and how; no rows where that is not known."""
        return pd.DataFrame(reading_of(self.ratings).get("receipt", {}).items(), columns=["what", "how"]).astype("str")

    @property
    def orientation(self) -> str:
        """Which way is better, as the import told it; empty where it did not."""
        return str(reading_of(self.ratings).get("orientation", ""))

    @property
    def pairs(self) -> list[str]:
        """The file's language pairs, the one with most judgements first."""
        return _by_size(self.ratings["pair"]).index.tolist()


def example(dataset: str, *, fallback: bool = False) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Load a registered data set that stands in for a file of one's own: ratings, and error spans where it has them.

    fallback: a marked simulation may stand in where the data cannot be had.
    Raises DataError for a data set without judgements by annotators.
    """
    ratings = data.load(dataset, fallback=fallback)
    if "score" not in ratings or "item_type" not in ratings:
        raise DataError(f"{dataset} holds no judgements by annotators. Choose another data set: see evalkit data list.")
    has_spans = f"{dataset}-spans" in registry.entries()
    return ratings, data.load(f"{dataset}-spans", fallback=fallback) if has_spans else None


def from_ratings(
    ratings: pd.DataFrame,
    spans: pd.DataFrame | None = None,
    *,
    pair: str = "",
    criterion: str = "",
    higher_is_better: bool = True,
    example: bool = False,
) -> Campaign:
    """Look at a ratings table as a campaign.

    ratings, spans: as ``data.open_campaign`` reads them from a file. pair: the language pair in detail; "" takes the
    one with most judgements. criterion: of several, the one in detail; "" takes the first. Where lower scores are
    better, they are turned round: on a scale from 0 to 25, a 3 becomes 22. example: public data stand in for a file of
    one's own.
    Raises DataError for a language pair or a criterion that is not there.
    """
    whole, there = ratings, list(dict.fromkeys(ratings.get("criterion", ())))
    criterion = (criterion or there[0]) if there else ""
    if there:
        ratings = like(whole[whole["criterion"] == criterion].drop(columns="criterion"), whole)
    if ratings.empty and there:
        raise DataError(f"criterion: there is no {criterion!r} in these data. Choose one of: {', '.join(there)}.")
    known = declared_scale(ratings)
    frame = with_pair(ratings).reset_index(drop=True)
    shown = {name: readable(sorted(frame[name].astype("str").unique())) for name in ("system", "annotator")}
    frame = renamed(frame, shown | ({"against": shown["system"]} if "against" in frame else {}))
    low, high = map(float, known or (frame["score"].min(), frame["score"].max()))
    if not high > low:
        low, high = low - 0.5, low + 0.5  # one score throughout and no scale declared
    if not higher_is_better:
        frame["score"] = low + high - frame["score"]
    low, high = min(low, frame["score"].min()), max(high, frame["score"].max())
    frame.attrs["scale"] = (low, high)
    counts = _by_size(frame["pair"])
    chosen = pair or counts.index[0]
    if chosen not in counts:
        raise DataError(f"pair: there is no {chosen!r} in these data. Choose one of: {', '.join(counts.index)}.")
    part = frame[frame["pair"] == chosen].reset_index(drop=True)
    part = normalization.normalize(part, no_spread="zero")
    if spans is not None:
        named = spans["src_lang"].astype("str") + "-" + spans["tgt_lang"].astype("str")
        spans, source = renamed(spans.assign(pair=named.to_numpy()), shown), source_of(spans)
        if source["name"] == source_of(frame)["name"]:
            spans = like(spans, spans, source=source | {"name": f"{source['name']}-errors"})
    told: dict[str, Any] = {"turned": not higher_is_better, "example": example, "criterion": criterion, "whole": whole}
    told |= {"scale": (low, high), "known_scale": known is not None, "segment": segment_key(part)}
    return Campaign(frame, part, chosen, spans, renamed=sum(map(len, shown.values())), **told).adjusted()


def of_criterion(campaign: Campaign, criterion: str) -> Campaign:
    """Look at another criterion of the same file, in the same language pair."""
    turned = {"higher_is_better": not campaign.turned}
    return from_ratings(campaign.whole, pair=campaign.pair, criterion=criterion, **turned)


def _by_size(pairs: pd.Series) -> pd.Series:
    """Count judgements by language pair, the largest first, equal ones by name."""
    return pairs.groupby(pairs).size().sort_values(ascending=False, kind="stable")
