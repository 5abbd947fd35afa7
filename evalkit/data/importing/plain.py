"""Read tables with a row per judgement, or a row per item and a column of scores per evaluator: CSV and XSTS."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import metrics, numbers, scales, vocabulary, wide
from evalkit.data.importing.comparisons import demand_one
from evalkit.data.importing.judgements import checks, converted, demand_columns, with_languages
from evalkit.data.importing.options import WIDE, Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Judgements, Rejection, Table, constant, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import ITEM_TYPES, Columns, bare, listed, meaning, words
from evalkit.data.importing.wide import OF_PERSON, SCORE, Layout
from evalkit.data.names import plain

XSTS_SCALE = (1.0, 5.0)
_NUMBERED = re.compile(rf"{SCORE}[\W_]+\w{{1,12}}|{SCORE}\W*\d+", re.I)
_COUNTED = re.compile(rf"{SCORE}[\W_]*(\d{{1,3}}|[a-z])", re.I)
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")
_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")  # columns that may be there and empty, as in a template
_PART, _SEGMENT = "(column)", "(segment)"  # headings of columns that are made
_CALLED = "by a column called XSTS"
_SHOWN = 20  # columns that are named
_OF_ROLE = {"annotator": "evaluator", "system": "system", "criterion": "criterion"}
_MOST_RANKS = 100
_WIDEST = 10  # a scale that several criteria may share, though some do not reach its ends
Ends = tuple[float, float]


def lacks_csv(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to have a judgement a row, or columns of scores; and why it is one."""
    have = wide.known(table, options)
    layout, why = wide.layout(table, options), "by its headings"
    if layout and layout.role:
        have |= {"score", layout.role}
        why = f"by its headings, with {len(layout.columns)} columns of scores, one per {_OF_ROLE[layout.role]}"
    elif wide.single(table, options):
        have.add("score")
    wanted = ["system", "segment", "annotator", "score"]
    missing = [name for name in wanted if name not in have and not (name == "segment" and "source" in have)]
    return (missing if len(missing) < len(wanted) else None), why


def lacks_xsts(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to hold XSTS scores: a column for each evaluator, or all scores from 1 to 5."""
    people = _evaluators(table, options)
    have = {meaning(name) for name in table.header} | {*options.columns, *options.values}
    anchored = bool(have & {"segment", "source", "hypothesis"})
    if people:
        why = f"by its {len(people)} columns of scores from 1 to 5, one per evaluator"
        return [] if anchored else ["a column of segments or source texts"], why
    told = options.single.get("score")
    named = [told] if told in table.header else [name for name in table.header if meaning(name) == "score"]
    missing = [name for name in ("annotator", "score") if name not in have] + ["segment or source"] * (not anchored)
    if len(named) != 1 or missing:
        return (missing or ["one column of scores"]) if len(missing) < 3 else None, ""
    cells, stated = table.samples(named[0]), vocabulary.scale_in(named[0])
    if stated:
        return [] if stated == XSTS_SCALE else ["a scale from 1 to 5"], f"by its heading {named[0]}"
    if "xsts" in bare(named[0]):
        return [], _CALLED
    if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)):
        return [], "by its headings, and by scores that are 1 to 5 only"
    return ["scores from 1 to 5 on its first rows"], ""


def _evaluators(table: Table, options: Options) -> list[str]:
    """List the columns that hold the scores of one evaluator each; fewer than two are none."""
    told = options.columns.get("score")
    if isinstance(told, list):
        layout = wide.layout(table, options)
        fits = layout and layout.role == "annotator" and all(_share(table, name) > 0.5 for name in told)
        return told if fits else []
    named = {meaning(name) for name in table.header} | {*options.columns, *options.values}
    if told or "annotator" in named or options.wide not in (None, "annotators"):
        return []
    unknown = [name for name in table.header if meaning(name) is None]
    of_person = [name for name in unknown if OF_PERSON.fullmatch(name.strip())]
    shares = {name: _share(table, name) for name in unknown}
    if any(shares[name] > 0.5 for name in of_person):  # then a column that starts badly is one of scores, too
        more = {name for name in of_person if shares[name] > 0 or table.judged(name).empty}
    else:
        more = {name for name in unknown if _NUMBERED.fullmatch(name.strip()) and shares[name] > 0.8}
        others = [name for name in unknown if _COUNTED.fullmatch(name.strip()) and more]  # by number or letter
        more |= {name for name in others if shares[name] > 0 or table.judged(name).empty}
    found = [name for name in unknown if name in more]
    return found if len(found) > 1 else []


def _share(table: Table, name: str) -> float:
    """Compute which part of a column's cells are scores from 1 to 5."""
    cells = table.judged(name)
    return float(cells.str.fullmatch(_ON_SCALE).mean()) if len(cells) else 0.0


def convert_csv(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read a row per judgement, or columns of scores, under our names, synonyms of them, or names that are told."""
    layout = wide.layout(table, options)
    if layout and layout.role:
        return _convert(table, options, receipt, _known(table, options, layout), layout)
    single = wide.single(table, options)
    told = ({"score": single} if single else {}) | options.single
    known = vocabulary.mapped(_free(table, options), told, origin=table.name, given=options.values)
    if single:
        known.how["score"] = "heading"
    more = [name for name in wide.candidates(table, options) if vocabulary.is_quality(name) and name != single]
    if more:
        receipt.note(f"{', '.join(more)} may hold judgements, too: --wide criteria reads all of them")
    return _convert(table, options, receipt, known)


def convert_xsts(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read XSTS scores, however they are laid out; segments that nothing names are the lines."""
    people = _evaluators(table, options)
    layout = Layout("annotator", {name: name for name in people}) if people else None
    sure = receipt.how == "as told" or lacks_xsts(table, options)[1] == _CALLED
    return _convert(table, options, receipt, _known(table, options, layout), layout, xsts=True, sure=sure)


def _free(table: Table, options: Options, parts: dict[str, str] | None = None) -> list[str]:
    apart = {*(parts or ()), *metrics.taken(options.metric_columns, table.header)}
    return [name for name in table.header if name not in apart]


def _known(table: Table, options: Options, layout: Layout | None) -> Columns:
    """Map what is no column of scores, where these are columns of their own."""
    header = _free(table, options, layout.columns if layout else None)
    given = {*options.values, *(("score", layout.role) if layout else ())}
    known = vocabulary.mapped(header, options.single, origin=table.name, given=given)
    if layout and layout.role in wide.known(table, options):
        those = next(name for name, role in WIDE.items() if role == layout.role)
        raise DataError(f"{table.name}: {those} have a column of scores each, so {layout.role} cannot be mapped, too.")
    return known


def _convert(
    table: Table,
    options: Options,
    receipt: Receipt,
    known: Columns,
    layout: Layout | None = None,
    *,
    xsts: bool = False,
    sure: bool = False,
) -> Judgements:
    """Read rows under columns that are known; what they lack is given a plain value, and that is told.

    sure: that the scale is XSTS's is said, else it is no more than a guess from the first rows.
    """
    demand_one(table, options)
    cells, values = table.cells, dict(options.values)
    _leave_empty(known, table, receipt)
    with_languages(known.names, values, table, receipt)
    _leave_foreign_kinds(known, cells, options, receipt)
    have = {*known.names, *values, *((layout.role,) if layout else ())}
    for ours, value in {"doc": "all", **({"system": "mt"} if xsts else {})}.items():
        if ours not in have:
            values[ours] = value
            ways = f"all rows were given {value!r} (--value {ours}=… gives another)"
            receipt.note(f"no column names {'documents' if ours == 'doc' else f'the {ours}'}; {ways}")
    if "segment" not in have and (xsts or "source" in known.names):
        cells = _with_segments(cells, known, receipt)
    have = {*known.names, *values, *(("score", layout.role) if layout else ())}
    demand_columns(have, origin=table.name, header=table.header)
    if not xsts and "item_type" not in {*known.names, *values}:
        receipt.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
    receipt.describe(known.names, known.how, _free(table, options, layout.columns if layout else None))
    for note in known.notes:
        receipt.note(note)
    rule: dict[str, Any] = {"options": options, "note": receipt.note, "typed": table.typed}
    scoring = _Scoring(table, cells, known.names, options, receipt, XSTS_SCALE if xsts else None, sure)
    if not layout:
        scored = scoring.of_column(known.names["score"])
        receipt.orientation = scales.joined([*filter(None, [receipt.orientation]), scored.why])
        result = converted(scored.cells, known.names, values, scale=scored.scale, lower=scored.lower, **rule)
        result.weak, result.read = scored.weak, len(scored.cells)
        return result
    shown = ", ".join([*layout.columns][:_SHOWN]) + (" …" if len(layout.columns) > _SHOWN else "")
    each = f"{len(layout.columns)} columns, one per {_OF_ROLE[layout.role]}"
    each += "" if layout.role == "annotator" else f" ({shown})"
    receipt.mapping["score"] = {"theirs": each, "how": "their headings"}
    return _of_columns(scoring.of_columns(layout), layout, known.names, values, receipt, rule)


def _leave_empty(known: Columns, table: Table, receipt: Receipt) -> None:
    """Leave out columns that a judgement can do without where they are empty, as in a template.

    Raises DataError where one is filled further down.
    """
    for ours in _SPARE:
        name = known.names.get(ours)
        if not name or table.cells.empty or known.how[ours] == "as told" or table.samples(name):
            continue
        del known.names[ours], known.how[ours]
        receipt.note(f"the column {name} is empty")
        if (filled := table.cells.index[table.cells[name].notna()]).size:
            raise DataError(
                f"{table.name}, line {filled[0]}: {name} is filled here and empty on the first rows. Fill it in for "
                "all rows, or empty it."
            )


def _leave_foreign_kinds(known: Columns, cells: pd.DataFrame, options: Options, receipt: Receipt) -> None:
    """Leave out a column called type, or the like, whose values are no kinds of items."""
    name = known.names.get("item_type", "")
    if known.how.get("item_type") != "synonym":
        return
    kinds = {*ITEM_TYPES, *listed("usual_kinds"), *(kind.casefold() for kind in options.item_types)}
    held = {plain(cell).casefold() for cell in cells[name].dropna().unique()}
    apart = listed("check_kinds") | listed("practice_kinds")
    if not held <= kinds and not any(bare(kind) in apart for kind in held):
        del known.names["item_type"], known.how["item_type"]
        receipt.note(
            f"{name} was not taken for kinds of items, because it holds other words; --map item_type={name!r} would"
        )


def _with_segments(cells: pd.DataFrame, known: Columns, receipt: Receipt) -> pd.DataFrame:
    """Name segments by their source texts or, where there are none, by their lines."""
    text = known.names.get("source")
    how = "by their source texts (eight digits of a hash)" if text else "by their lines in the file"
    receipt.note(f"no column names segments; they were named {how}")
    known.names["segment"], known.how["segment"] = _SEGMENT, "made"
    names = pd.Series(cells.index.astype("str"), index=cells.index, dtype="str")
    if text:
        names = mapped_cells(cells[text], text_digest).fillna(names)
    return cells.assign(**{_SEGMENT: names})


def _of_columns(
    scored: "dict[str, _Scored]",
    layout: Layout,
    names: dict[str, str],
    values: dict[str, str],
    receipt: Receipt,
    rule: dict[str, Any],
) -> Judgements:
    """Read columns of scores, whose empty cells are no judgements."""
    first = next(iter(scored.values()))
    judged = first.cells[[*scored]].notna().to_numpy()
    nobody = ~judged.any(axis=1)
    reason = f"has no score of any {_OF_ROLE[layout.role]}"
    rejected = [Rejection(int(line), "score", "", reason) for line in first.cells.index[nobody]]
    parts: list[Judgements] = []
    others = first.cells.drop(columns=[*scored])
    for place, (name, column) in enumerate(scored.items()):
        part = others[judged[:, place]].assign(**{name: column.cells[name][judged[:, place]]})
        part = part.assign(**{_PART: constant(layout.columns[name], part.index)})
        own = names | {"score": name, layout.role: _PART}
        parts.append(converted(part, own, values, scale=column.scale, lower=column.lower, **rule))
        rejected += parts[-1].rejected
    receipt.blank_cells += int((~judged[~nobody]).sum())
    receipt.orientation = scales.joined(column.why for column in scored.values())
    ratings = pd.concat([one.ratings for one in parts])
    order = np.lexsort((np.repeat(range(len(parts)), [len(one.ratings) for one in parts]), ratings.index.to_numpy()))
    people = [*layout.columns] if layout.role == "annotator" else []
    alias = rule["options"].pseudonyms
    for row in rejected:
        row.column = alias.one(row.column) if row.column in people else row.column
    ends = {one.scale for one in parts}
    return Judgements(
        ratings.iloc[order],
        sorted(rejected, key=lambda row: row.line),
        names,
        ends.pop() if len(ends) == 1 else None,
        people=people,
        role=layout.role,
        parts=layout.columns,
        read=int(judged.sum() + nobody.sum()),
        weak=all(one.weak for one in scored.values()),
    )


# The scores of a table as a whole: words, the scale that they have, and which way is better


@dataclass
class _Scored:
    """A column of scores, ready to be converted. weak: the scale is a guess from few scores."""

    cells: pd.DataFrame
    scale: Ends | None
    lower: bool | set[str]
    why: str
    weak: bool = False


@dataclass
class _Scoring:
    """What is known of a table whose scores are to be read. told: the scale of its format; sure: that is said."""

    table: Table
    cells: pd.DataFrame
    names: dict[str, str]
    options: Options
    receipt: Receipt
    told: Ends | None
    sure: bool

    def of_column(self, name: str) -> _Scored:
        """Read a single column of scores; where a column names criteria, each has its own orientation."""
        scores, ends = self._in_numbers(name)
        cells, values = self.cells.assign(**{name: scores}), self._numbers(scores)
        criteria = self.names.get("criterion")
        if criteria is None or not self.cells[criteria].notna().any():
            lower, why = self._oriented(name, values, self._groups())
            scale, weak = self._scale(name, values, ends, lower=lower)
            return _Scored(cells, scale, lower, why, weak)
        low, reasons = set(), []
        for criterion in map(str, self.cells[criteria].dropna().unique()):
            own = np.where(self.cells[criteria].eq(criterion), values, np.nan)
            lower, why = self._oriented(criterion, own, None, column=name)
            low |= {criterion} if lower else set()
            reasons.append(scales.of_criterion(criterion, why))
        whole = bool(low) and len(low) == self.cells[criteria].nunique()
        scale, weak = self._scale(name, values, ends, lower=whole)
        if low and not whole and not self.options.scale:
            scale, self.receipt.scale_from = None, "none, because low is good for some criteria only"
        return _Scored(cells, scale, whole or low, scales.joined(reasons), weak)

    def of_columns(self, layout: Layout) -> dict[str, _Scored]:
        """Read columns of scores: criteria each by themselves, those of systems or annotators together."""
        read = {name: self._in_numbers(name) for name in layout.columns}
        cells = self.cells.assign(**{name: numbers.said(scores) for name, (scores, _) in read.items()})
        values = {name: self._numbers(scores) for name, (scores, _) in read.items()}
        ends = {name: ends for name, (_, ends) in read.items()}
        own = self._groups()
        if layout.role == "criterion":
            scored, sources = {}, {}
            for name in values:
                lower, why = self._oriented(name, values[name], own)
                scale, weak = self._scale(name, values[name], ends[name], lower=lower)
                scored[name] = _Scored(cells, scale, lower, scales.of_criterion(layout.columns[name], why), weak)
                sources[name] = self.receipt.scale_from
            self._tell_scales(layout, scored, sources, values)
            return scored
        whole = np.concatenate([*values.values()])
        groups, systems = None, 0
        if layout.role == "system":
            groups, systems = pd.Series(np.tile(np.arange(len(cells)), len(values))), len(values)
        elif own is not None:
            shifted = [own.to_numpy() + place * (own.max() + 1) for place in range(len(values))]
            groups = pd.Series(np.concatenate(shifted))
        heading = _together([*layout.columns])
        lower, why = self._oriented(heading, whole, groups, systems=systems)
        scale, weak = self._scale(heading, whole, next(filter(None, ends.values()), None), lower=lower)
        return {name: _Scored(cells, scale, lower, why, weak) for name in layout.columns}

    def _tell_scales(
        self, layout: Layout, scored: dict[str, _Scored], sources: dict[str, str], values: dict[str, np.ndarray]
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
            self.receipt.scale_from = "; ".join(dict.fromkeys(said))
            return
        ends = {name: "{:g} to {:g}, ".format(*one.scale) if one.scale else "" for name, one in scored.items()}
        told = "; ".join(f"{layout.columns[name]}: {ends[name]}{sources[name]}" for name in scored)
        self.receipt.scale_from = f"criteria differ: {told}"

    def _in_numbers(self, name: str) -> tuple[pd.Series, Ends | None]:
        heading = f"{self.table.name}, {name}"
        return scales.in_numbers(self.cells[name], self.options.words, self.receipt.note, heading=heading)

    def _numbers(self, cells: pd.Series) -> np.ndarray:
        """Read numbers; those of attention checks tell nothing of the others."""
        values = numbers.read(cells, self.options.decimal, typed=self.table.typed)[0].copy()
        values[self._checks] = np.nan
        return values

    @cached_property
    def _checks(self) -> list[int]:
        """List the places of rows that are no judgements."""
        return [*checks(self.cells, self.names, self.options.item_types, origin=self.table.name)]

    def _groups(self) -> pd.Series | None:
        """Number what one annotator judged together: the systems' translations of a segment."""
        if "segment" not in self.names or "system" not in self.names:
            return None
        known = ("annotator", "doc", "segment", "src_lang", "tgt_lang", "pair", "criterion")
        keys = [self.names[ours] for ours in known if ours in self.names]
        return self.cells.groupby(keys, dropna=False, sort=False).ngroup()

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
            systems = self.cells[self.names["system"]].nunique()
        german = any(bare(name) in listed("german") for name in self.table.header)
        origin = f"{self.table.name}, {column}" if column else self.table.name
        told = self.options.lower_is_better
        return scales.orientation(heading, values, told, origin=origin, groups=groups, systems=systems, german=german)

    def _scale(self, heading: str, values: np.ndarray, ends: Ends | None, *, lower: bool) -> tuple[Ends | None, bool]:
        """Return the scale, as told, stated or proposed, and whether it is a guess from few scores."""
        few = int(np.isfinite(values).sum()) < scales.FEW
        if self.options.scale:
            return self.options.scale, False
        if stated := vocabulary.scale_in(heading):
            self.receipt.scale_from = f"of the heading {heading}"
            return stated, False
        if ends:
            self.receipt.scale_from = "of its words"
            return ends, False
        if self.told and (self.sure or few):
            return self.told, False
        if lower and vocabulary.tendency(heading):
            self.receipt.scale_from = f"{heading} has no upper end; --scale LOW:HIGH states one"
            return None, False
        signed = self.options.lower_is_better is not None
        scale, self.receipt.scale_from = scales.proposed(values, signed=signed)
        return scale, few


def _together(names: list[str]) -> str:
    """Name several columns: by the words that all of them have, or by themselves."""
    shared = [word for word in words(names[0]) if all(word in words(name) for name in names)]
    stated = {vocabulary.scale_in(name) for name in names}
    ends = stated.pop() if len(stated) == 1 else None
    title = " ".join(shared) or ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return title + (f" ({ends[0]:g}-{ends[1]:g})" if ends else "")
