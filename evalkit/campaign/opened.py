"""A campaign as the sections see it: one file's judgements, and the language pair that is looked at in detail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.campaign.names import readable, renamed
from evalkit.data import registry
from evalkit.data.provenance import declared_scale, like, source_of
from evalkit.data.schemas import with_pair
from evalkit.human import annotators, normalization
from evalkit.stats.terms import pluralize

#: Up to so many different scores a scale counts as one of steps (ordinal), above as continuous.
STEPS = 11


@dataclass(frozen=True)
class Campaign:
    """One file of judgements, higher is better, and the language pair in detail.

    ratings: all judgements with the column ``pair``; ``score`` is turned round where lower was better. pair: the one
    in detail; ``part`` has its judgements, with z-scores per annotator over all kinds of items as ``normalized`` (0 for
    who gave one score throughout). spans: marked errors, or None. scale: ends of the scale, after turning.
    known_scale: whether the ends are declared, not just the lowest and highest score seen. segment: the columns that
    name a segment across systems. example: public data stand in for a file of one's own. renamed: how many names of
    systems and annotators are shown shorter than they are, or without characters that cannot be seen.
    """

    ratings: pd.DataFrame
    part: pd.DataFrame
    pair: str
    spans: pd.DataFrame | None
    scale: tuple[float, float]
    known_scale: bool
    segment: tuple[str, ...]
    turned: bool = False
    example: bool = False
    renamed: int = 0

    @property
    def counted(self) -> tuple[str, ...]:
        """Item types that rank systems: their outputs and unchanged repeats, or calibration items where that is all."""
        return ("system", "repeat") if self.part["item_type"].eq("system").any() else ("calibration", "repeat")

    @cached_property
    def judged(self) -> pd.DataFrame:
        """The pair's judgements that rank systems; no rows where only references or degraded items were judged.

        A name that has second showings only, such as a reference in a quality-control copy, is no system.
        """
        own = self.part.loc[self.part["item_type"].eq(self.counted[0]), "system"].unique()
        return self.part[self.part["item_type"].isin(self.counted) & self.part["system"].isin(own)]

    @property
    def sources(self) -> list[pd.DataFrame]:
        """The tables that the report rests on, with their provenance."""
        return [self.ratings, *([self.spans] if self.spans is not None else [])]

    @property
    def told(self) -> str:
        """One sentence: whose data these are, and what is looked at in detail."""
        name = source_of(self.ratings)["name"]
        whose = f"This is an example on public data ({name}), not a campaign of yours" if self.example else name
        turned = " Low scores are good here, so all scores are turned round: higher is better." if self.turned else ""
        others = len(self.pairs) - 1
        rest = f"; {others} more in the overviews" if others else ""
        cut = (
            f" {pluralize(self.renamed, 'name')} of systems or annotators, longer than a line or with unseen "
            f"characters, {'is' if self.renamed == 1 else 'are'} shortened."
            if self.renamed
            else ""
        )
        return f"{whose}: {pluralize(len(self.ratings), 'judgement')}. In detail: {self.pair}{rest}.{turned}{cut}"

    @cached_property
    def hundred(self) -> pd.DataFrame:
        """The pair's judgements on a scale from 0 to 100, for measures and rules that are stated in its points."""
        return self.on_hundred(self.part)

    @cached_property
    def control(self) -> pd.DataFrame:
        """Quality control of the pair's annotators, over all of their pairs: annotator and columns qc_…"""
        people = self.part["annotator"].unique()
        rows = self.ratings[self.ratings["annotator"].isin(people)]
        found = annotators.quality_control(self.on_hundred(rows.reset_index(drop=True)))
        return found[found["pair"] == self.pair].drop(columns="pair").reset_index(drop=True)

    def on_hundred(self, ratings: pd.DataFrame) -> pd.DataFrame:
        """Map scores of this campaign to a scale from 0 to 100."""
        low, high = self.scale
        moved = ratings.assign(score=((ratings["score"] - low) * (100 / (high - low))).clip(0, 100))
        return like(moved, ratings, scale=(0.0, 100.0))

    @property
    def width(self) -> float:
        """Points from one end of the scale to the other."""
        return self.scale[1] - self.scale[0]

    @property
    def steps(self) -> int:
        """How many different scores the pair's annotators gave."""
        return int(self.part["score"].nunique())

    @property
    def ordinal(self) -> bool:
        """Tell whether the scale has few steps, such as XSTS's 1 to 5."""
        return self.steps <= STEPS

    @property
    def systems(self) -> list[str]:
        """The systems that were judged, by name."""
        return sorted(self.judged["system"].unique())

    @property
    def pairs(self) -> list[str]:
        """The file's language pairs, the one with most judgements first."""
        return _by_size(self.ratings["pair"]).index.tolist()


def opened(
    file: str = "",
    dataset: str = "wmt22-mturk",
    *,
    pair: str = "",
    higher_is_better: bool = True,
    fallback: bool = False,
) -> Campaign:
    """Open a person's file, or the registered data set where no file is named.

    file: made by ``evalkit import``, or an export that it knows. Its folder is left out of all that is shown, for it
    may be private. pair: see ``of``. fallback: the example may be simulated where its data cannot be had.
    """
    if file:
        ratings, spans = data.open_campaign(Path(file))
    else:
        ratings, spans = data.load(dataset, fallback=fallback), None
        if "score" not in ratings or "item_type" not in ratings:
            raise DataError(
                f"{dataset} holds no judgements by annotators. Choose another data set: see evalkit data list."
            )
        if f"{dataset}-spans" in registry.entries():
            spans = data.load(f"{dataset}-spans", fallback=fallback)
    return of(ratings, spans, pair=pair, higher_is_better=higher_is_better, example=not file)


def of(
    ratings: pd.DataFrame,
    spans: pd.DataFrame | None = None,
    *,
    pair: str = "",
    higher_is_better: bool = True,
    example: bool = False,
) -> Campaign:
    """Look at a ratings table as a campaign.

    pair: the language pair in detail; "" takes the one with most judgements. Where lower scores are better, they are
    turned round: on a scale from 0 to 25, a 3 becomes 22.
    Raises DataError for a language pair that is not there.
    """
    known = declared_scale(ratings)
    frame = with_pair(ratings).reset_index(drop=True)
    shown = {name: readable(sorted(frame[name].astype("str").unique())) for name in ("system", "annotator")}
    frame = renamed(frame, shown)
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
    own = {"spans": spans, "scale": (low, high), "known_scale": known is not None, "segment": _segment(part)}
    own["renamed"] = sum(map(len, shown.values()))
    return Campaign(frame, part, chosen, **own, turned=not higher_is_better, example=example)


def _by_size(pairs: pd.Series) -> pd.Series:
    """Count judgements by language pair, the largest first, equal ones by name."""
    return pairs.groupby(pairs).size().sort_values(ascending=False, kind="stable")


def _segment(part: pd.DataFrame) -> tuple[str, ...]:
    """Say which columns name a segment across systems.

    Documents and segments together, unless no two systems share one so, their numbers alone are shared, and no system
    has a number twice: some files name a document anew for each system and number segments throughout.
    """
    full = part[["system", "doc", "segment"]].drop_duplicates()
    if full.duplicated(["doc", "segment"]).any() or full.duplicated(["system", "segment"]).any():
        return ("doc", "segment")
    return ("segment",) if full.duplicated("segment").any() else ("doc", "segment")


def wide(campaign: Campaign, values: pd.DataFrame, *, score: str = "score") -> pd.DataFrame:
    """Arrange mean scores as segments × systems, NaN where a system's segment was not judged."""
    return values.pivot_table(index=list(campaign.segment), columns="system", values=score, aggfunc="mean")


def shared_segments(campaign: Campaign) -> float:
    """Return the share of segments that every two systems have in common, of those that the smaller one has.

    The lowest over all pairs of systems: 1 where all were judged on the same segments, 0 where two share none.
    """
    there = wide(campaign, campaign.judged).notna().to_numpy(float)
    if there.shape[1] < 2:
        return 1.0
    common, own = there.T @ there, there.sum(axis=0)
    upper = np.triu_indices(len(own), 1)
    return float((common[upper] / np.minimum(own[upper[0]], own[upper[1]])).min())
