"""Read the scores of a table as a whole: words, the scale that they have, and which way is better."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from evalkit.data.importing.cells import checks, columns, ladders, numbers, orientation, scales
from evalkit.data.importing.cells.columns import vocabulary
from evalkit.data.importing.formats import Head
from evalkit.data.importing.kinds.layouts import Layout
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report

_GERMAN = vocabulary(
    "satz satznr satzid segmentnummer dokument ausgangssprache zielsprache ausgangstext zieltext übersetzung "
    "bewerter bewerterin prüfer sprachpaar maschine annotatorin"
)
_MOST_RANKS = 100
_WIDEST = 10  # a scale that several criteria may share, though some do not reach its ends


@dataclass
class Scored:
    """A column of scores, ready to be converted. weak: the scale is a guess from few scores."""

    frame: pd.DataFrame
    scale: tuple[float, float] | None
    lower: bool | set[str]
    why: str
    weak: bool = False


@dataclass
class Scoring:
    """What is known of a table whose scores are to be read.

    told: the scale of its format; sure: that is named, else it is no more than a guess from the first rows.
    """

    frame: pd.DataFrame
    names: dict[str, str]
    values: dict[str, str]
    options: Options
    report: Report
    head: Head
    told: tuple[float, float] | None = None
    sure: bool = False

    def of_column(self, name: str) -> Scored:
        """Read a single column of scores; where a column names criteria, each has its own orientation."""
        cells, ends = self._in_words(self.frame[name], name)
        frame, values = self.frame.assign(**{name: cells}), self._numbers(cells)
        criteria = self.names.get("criterion")
        if criteria is None or not self.frame[criteria].notna().any():
            lower, why = self._oriented(name, values, self._groups())
            scale, weak = self._scale(name, values, ends, lower=lower)
            return Scored(frame, scale, lower, why, weak)
        low, reasons = set(), []
        for criterion in map(str, self.frame[criteria].dropna().unique()):
            own = np.where(self.frame[criteria].eq(criterion), values, np.nan)
            lower, why = self._oriented(criterion, own, None, column=name)
            low |= {criterion} if lower else set()
            reasons.append(orientation.of(criterion, why))
        whole = bool(low) and len(low) == self.frame[criteria].nunique()
        scale, weak = self._scale(name, values, ends, lower=whole)
        if low and not whole and not self.options.scale:
            scale, self.report.scale_from = None, "none, because low is good for some criteria only"
        return Scored(frame, scale, whole or low, orientation.joined(reasons), weak)

    def of_columns(self, wide: Layout) -> dict[str, Scored]:
        """Read columns of scores: criteria each by themselves, those of systems or annotators together."""
        found = {name: self._in_words(self.frame[name], name) for name in wide.columns}
        frame = self.frame.assign(**{name: numbers.said(cells) for name, (cells, _) in found.items()})
        values = {name: self._numbers(cells) for name, (cells, _) in found.items()}
        if wide.role == "criterion":
            return self._of_criteria(frame, wide, values, {name: ends for name, (_, ends) in found.items()})
        whole = np.concatenate([*values.values()])
        groups = None
        if wide.role == "system":
            groups = pd.Series(np.tile(np.arange(len(frame)), len(values)))
        elif (own := self._groups()) is not None:
            groups = pd.Series(
                np.concatenate([own.to_numpy() + place * (own.max() + 1) for place in range(len(values))])
            )
        ends = next((ends for _, ends in found.values() if ends), None)
        heading = self._together([*wide.columns])
        systems = len(values) if wide.role == "system" else 0
        lower, why = self._oriented(heading, whole, groups, systems=systems)
        scale, weak = self._scale(heading, whole, ends, lower=lower)
        return {name: Scored(frame, scale, lower, why, weak) for name in wide.columns}

    def _of_criteria(
        self,
        frame: pd.DataFrame,
        wide: Layout,
        values: dict[str, np.ndarray],
        ends: dict[str, tuple[float, float] | None],
    ) -> dict[str, Scored]:
        scored, sources = {}, {}
        for name, own in values.items():
            lower, why = self._oriented(name, own, self._groups())
            scale, weak = self._scale(name, own, ends[name], lower=lower)
            scored[name] = Scored(frame, scale, lower, orientation.of(wide.columns[name], why), weak)
            sources[name] = self.report.scale_from
        self._tell_scales(wide, scored, sources, values)
        return scored

    def _tell_scales(
        self, wide: Layout, scored: dict[str, Scored], sources: dict[str, str], values: dict[str, np.ndarray]
    ) -> None:
        """Say where the scales of criteria come from; those that differ little are made one."""
        each = [one.scale for one in scored.values()]
        if len({*each}) > 1 and None not in each and not any(one.lower for one in scored.values()):
            shared = scales.holding([scale for scale in each if scale])
            if shared and shared[1] - shared[0] <= _WIDEST:
                for one in scored.values():
                    one.scale = shared
        guessed = all(source.startswith(scales.GUESSED) for source in sources.values())
        if len({(one.scale, one.lower) for one in scored.values()}) == 1:
            said = [scales.proposed(np.concatenate([*values.values()]))[1]] if guessed else [*sources.values()]
            self.report.scale_from = "; ".join(dict.fromkeys(said))
            return
        ends = {name: "{:g} to {:g}, ".format(*one.scale) if one.scale else "" for name, one in scored.items()}
        told = "; ".join(f"{wide.columns[name]}: {ends[name]}{sources[name]}" for name in scored)
        self.report.scale_from = f"criteria differ: {told}"

    def _in_words(self, cells: pd.Series, name: str) -> tuple[pd.Series, tuple[float, float] | None]:
        return ladders.scored(cells, self.options.words, self.report.note, heading=f"{self.head.name}, {name}")

    def _numbers(self, cells: pd.Series) -> np.ndarray:
        """Read numbers; those of attention checks tell nothing of the others."""
        found = numbers.read(cells, self.options.decimal, typed=self.head.typed)[0].copy()
        found[self._checks] = np.nan
        return found

    @cached_property
    def _checks(self) -> list[int]:
        """List the places of rows that are no judgements."""
        return [*checks.found(self.frame, self.names, self.options.item_types, origin=self.head.name)]

    def _groups(self) -> pd.Series | None:
        """Number what one annotator judged together: the systems' translations of a segment."""
        known = ("annotator", "doc", "segment", "src_lang", "tgt_lang", "pair", "criterion")
        keys = [self.names[ours] for ours in known if ours in self.names]
        if "segment" not in self.names or "system" not in self.names:
            return None
        return self.frame.groupby(keys, dropna=False, sort=False).ngroup()

    def _oriented(
        self, heading: str, values: np.ndarray, groups: pd.Series | None, *, systems: int = 0, column: str = ""
    ) -> tuple[bool, str]:
        low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0, 0)
        if low != 1 or high > _MOST_RANKS:
            groups = None
        elif groups is not None:
            keep = np.isfinite(values)
            values, groups = values[keep], groups[keep]
        if not systems and "system" in self.names:
            systems = self.frame[self.names["system"]].nunique()
        german = any(columns.plain(name) in _GERMAN for name in self.head.header)
        origin = f"{self.head.name}, {column}" if column else self.head.name
        told = self.options.lower_is_better
        return orientation.found(heading, values, told, origin=origin, groups=groups, systems=systems, german=german)

    def _scale(
        self, heading: str, values: np.ndarray, ends: tuple[float, float] | None, *, lower: bool
    ) -> tuple[tuple[float, float] | None, bool]:
        """Return the scale, as told, stated or proposed, and whether it is a guess from few scores."""
        stated = columns.scale_in(heading)
        if self.options.scale:
            return self.options.scale, False
        if stated:
            return stated, self._from(f"of the heading {heading}")
        if ends:
            return ends, self._from("of its words")
        if self.told and (self.sure or np.isfinite(values).sum() < scales.FEW):
            return self.told, False
        if lower and orientation.kind(heading):
            return None, self._from(f"{heading} has no upper end; --scale LOW:HIGH states one")
        scale, how = scales.proposed(values, signed=self.options.lower_is_better is not None)
        self._from(how)
        return scale, int(np.isfinite(values).sum()) < scales.FEW

    def _from(self, how: str) -> bool:
        self.report.scale_from = how
        return False

    def _together(self, names: list[str]) -> str:
        """Name several columns: by the words that all of them have, or by themselves."""
        shared = [word for word in columns.words(names[0]) if all(word in columns.words(name) for name in names)]
        stated = {columns.scale_in(name) for name in names}
        ends = stated.pop() if len(stated) == 1 else None
        title = " ".join(shared) or ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        return title + (f" ({ends[0]:g}-{ends[1]:g})" if ends else "")
