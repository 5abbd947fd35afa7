"""Turn rows under known columns into judgements in our vocabulary; rows that break a rule are told, not guessed."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data import names as naming
from evalkit.data.importing import numbers
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.report import Rejection

#: What exports call the kinds of items, and what we call them.
ITEM_TYPES = {
    "tgt": "system", "mt": "system", "target": "system", "bad": "degraded", "bad_ref": "degraded", "ref": "reference",
    "chk": "repeat", "cal": "calibration",
} | {name: name for name in schemas.ITEM_TYPES}  # fmt: skip
_HUMAN = re.compile(r"ref(erence)?[-_ .]?\w?(\.\d)?|human([-_ .]\w)?(\.\d)?|translator.*", re.IGNORECASE)
_DAY = r"\d{4}-\d\d-\d\d 00:00:00"  # a date without a time, as a sheet is read
_TEXTS = ("source", "hypothesis", "reference")


@dataclass
class Options:
    """What the user told about a campaign's files, and what is to happen to names."""

    pseudonyms: Pseudonyms
    columns: dict[str, str | list[str]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    item_types: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    sheet: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    looks: naming.Looks = field(default_factory=naming.Looks)


@dataclass
class Converted:
    """What a chunk gave: judgements (index ``line``), errors marked in them, and rows that are no judgements."""

    ratings: pd.DataFrame
    rejected: list[Rejection] = field(default_factory=list)
    spans: pd.DataFrame | None = None
    read: int | None = None  # judgements looked at, where they are not one a row
    folded: int = 0  # further rows that went into judgements which have a row already


class Judgements:
    """Convert chunk after chunk of one file.

    names: our name -> the file's heading. values: our name -> the one value that all rows have. note: told what the
    user should know. typed: the cells are a workbook's.
    """

    def __init__(self, names: dict[str, str], values: dict[str, str], options: Options,
                 scale: tuple[float, float] | None, note: Callable[[str], None], *, typed: bool = False):  # fmt: skip
        self.names, self.values, self.options, self.scale, self.note = names, dict(values), options, scale, note
        self.typed = typed
        self.numbers = numbers.Numbers(options.decimal, typed)
        self._varieties: dict[tuple[str, str], tuple[str, str]] = {}
        self.kinds = ITEM_TYPES | {kind.casefold(): ours for kind, ours in options.item_types.items()}
        if "item_type" not in names:
            self.values.setdefault("item_type", options.item_types.get("", "system"))

    def convert(self, frame: pd.DataFrame) -> Converted:
        """Convert rows: what is rejected is not in the result."""
        frame = self.options.looks.alike(frame, self.names)
        self._frame, self._rejected = frame, {}
        table = {}
        for ours in ("src_lang", "tgt_lang"):
            table[ours] = self._language(ours)
        for ours in ("system", "doc", "segment", "annotator"):
            table[ours] = self._needed(ours)
        table["score"] = self._score()
        table["item_type"] = self._item_type()
        if "hit" in self.names or "hit" in self.values:
            table["hit"] = self._hit(table["annotator"])
        for ours in ("started", "ended"):
            if ours in self.names:
                table[ours] = self._time(ours)
        for ours in (*_TEXTS, "domain", "mark"):
            if ours in self.names:
                table[ours] = frame[self.names[ours]]
        for ours, kind in (
            ("copy", "truth"),
            ("position", "number"),
            ("errors", "number"),
            ("z", "number"),
            ("hit_seconds", "number"),
        ):
            if ours in self.names:
                table[ours] = self._extra(ours, kind)
        table["annotator"] = self.options.pseudonyms.column(table["annotator"])
        ratings = pd.DataFrame(table, index=frame.index)
        keep = np.ones(len(frame), dtype=bool)
        keep[list(self._rejected)] = False
        rejected = [self._rejected[place] for place in sorted(self._rejected)]
        return Converted(ratings[keep], rejected)

    def reject(self, place: int, ours: str, reason: str, *, kind: str = "rejected") -> None:
        """Reject a row, once."""
        if place in self._rejected:
            return
        heading = self.names.get(ours, ours)
        cell = self._frame[heading].iloc[place] if heading in self._frame else None
        value = "" if cell is None or pd.isna(cell) else str(cell)
        name = self._annotator(place)
        if ours == "annotator":
            value = self.options.pseudonyms.one(value) if value else ""
        line = int(self._frame.index[place])
        self._rejected[place] = Rejection(line, heading, value, reason, kind, name)

    def _annotator(self, place: int) -> str | None:
        heading = self.names.get("annotator")
        cell = self._frame[heading].iloc[place] if heading in self._frame else None
        return None if cell is None or pd.isna(cell) else str(cell)

    def _column(self, ours: str) -> pd.Series:
        """Return a column of the file, or the one value that all rows have."""
        if ours in self.names:
            return self._frame[self.names[ours]]
        value = self.values[ours]
        return pd.Series(pd.array([value], dtype="str").take(np.zeros(len(self._frame), int)), index=self._frame.index)

    def _needed(self, ours: str) -> pd.Series:
        """Return a column in which every row must have something."""
        cells = self._column(ours)
        for place, reason in numbers.nameless(cells).items():
            self.reject(place, ours, reason)
        if self.typed and ours in schemas.ITEM and (dates := cells[cells.str.fullmatch(_DAY, na=False)]).size:
            self.note(
                f"{ours} holds dates, such as {dates.iloc[0][:10]}: if a spreadsheet made them of names like 3-13, "
                "give the column the format Text and type them again"
            )
        return cells

    def _language(self, ours: str) -> pd.Series:
        """Return languages as ISO 639-3 codes; what is not known stays as it is."""
        if ours in self.names or ours in self.values:
            return mapped_cells(self._needed(ours), lambda text: self._code(ours, text))
        side = 0 if ours == "src_lang" else 1
        pairs = self._frame[self.names["pair"]]
        if pairs.hasnans:
            for place in np.flatnonzero(pairs.isna()):
                self.reject(int(place), "pair", "is empty: fill it in, or drop the row")
        found = mapped_cells(pairs, lambda text: self._half(ours, text, side))
        for place in np.flatnonzero(found.isna() & pairs.notna()):
            self.reject(int(place), "pair", "is no language pair like en-de or eng-deu: correct it")
        return found

    def _code(self, ours: str, text: str) -> str:
        """Return the code of a language, and note what was left away to get it.

        Raises DataError where two varieties, such as zh-CN and zh-TW, would become one language.
        """
        code = languages.code(text) or text
        variety = text.strip().casefold().replace("_", "-").partition("-")[2]
        before = self._varieties.setdefault((ours, code), (variety, text))
        if before[0] != variety:
            raise DataError(
                f"{ours} has {before[1]} and {text}, which would become one language, {code}. Import each by itself, "
                "or write codes of your own that have no hyphen or underscore."
            )
        if variety and code != text:
            self.note(f"{ours} {text} was read as {code}")
        return code

    def _half(self, ours: str, text: str, side: int) -> str | None:
        """Return one language of a pair, by the same rule."""
        pair = languages.split(text)
        if pair is None:
            return None
        halves = re.split(r"(?<=[a-zA-Z])-(?=[a-zA-Z]{2,3}[-_])|(?<=_[A-Za-z]{4})-", text.strip(), maxsplit=1)
        return self._code(ours, halves[side]) if len(halves) == 2 and languages.code(halves[side]) else pair[side]

    def _score(self) -> np.ndarray:
        values, wrong = self.numbers.read(self._frame[self.names["score"]])
        for place, reason in wrong.items():
            self.reject(place, "score", reason)
        for place, reason in numbers.off_scale(values, self.scale).items():
            self.reject(place, "score", reason)
        return values + 0.0

    def _item_type(self) -> pd.Series:
        cells = self._column("item_type")
        if cells.hasnans:
            cells = cells.fillna("system")
            self.note("rows without a kind of item were taken as outputs of systems (item_type system)")
        kinds = mapped_cells(cells, lambda text: self.kinds.get(text.casefold()))
        for place in np.flatnonzero(kinds.isna() & cells.notna()):
            self.reject(int(place), "item_type", f"is none of {', '.join(schemas.ITEM_TYPES)}: correct it, or map it")
        return kinds

    def _hit(self, annotators: pd.Series) -> pd.Series:
        """Return the HITs, in which no annotator's name is left."""
        hits = self._needed("hit")
        aliases = self.options.pseudonyms
        if aliases.keep:
            return hits
        pairs = hits.fillna("") + "\0" + annotators.fillna("")
        return mapped_cells(pairs, lambda text: _hidden(*text.partition("\0")[::2], aliases) or None)

    def _time(self, ours: str) -> np.ndarray:
        values, wrong, zoneless = numbers.times(self._column(ours))
        for place, reason in wrong.items():
            self.reject(place, ours, reason)
        if zoneless:
            self.note(f"times in {self.names[ours]} name no time zone; they were taken as UTC")
        return values

    def _extra(self, ours: str, kind: str) -> pd.Series | np.ndarray:
        """Return a column that belongs to a table of ours, with its type."""
        cells = self._frame[self.names[ours]]
        if kind == "truth":
            found = mapped_cells(cells, lambda text: {"true": "1", "false": "0"}.get(text.casefold()))
            for place in np.flatnonzero(found.isna()):
                self.reject(int(place), ours, "is neither True nor False: correct it")
            return found.eq("1")
        values, wrong = numbers.Numbers(self.options.decimal, self.typed).read(cells)
        for place, reason in wrong.items():
            if reason != numbers.MISSING:
                self.reject(place, ours, reason)
        return values


def mapped_cells(cells: pd.Series, function: Callable[[str], str | None]) -> pd.Series:
    """Apply a function to each distinct text of a column; None becomes missing, and what is missing stays so.

    >>> mapped_cells(pd.Series(["a", "b", "a"], dtype="str"), {"a": "x"}.get).tolist()
    ['x', nan, 'x']
    """
    codes, distinct = pd.factorize(cells)
    found = pd.array([*(function(str(text)) for text in distinct), None], dtype="str")
    return pd.Series(found.take(codes), index=cells.index)


def human(systems: pd.Series, note: Callable[[str], None]) -> pd.Series:
    """Tell which systems are people's translations by their names, and say so.

    >>> human(pd.Series(["refA", "translator-B", "Human-A.0", "Refiner"]), print).tolist()
    called references, not systems, by their names: Human-A.0, refA, translator-B
    [True, True, True, False]
    """
    found = systems.str.fullmatch(_HUMAN)
    if found.any():
        note(f"called references, not systems, by their names: {', '.join(sorted(systems[found].unique()))}")
    return found


def _hidden(hit: str, name: str, aliases: Pseudonyms) -> str:
    """Replace an annotator's name inside the name of a HIT, however it is written."""
    return re.sub(re.escape(name), aliases.one(name), hit, flags=re.IGNORECASE) if name else hit


def lacking(names: dict[str, str], values: dict[str, str], *, origin: str, header: list[str]) -> None:
    """Refuse a file that lacks a column which every judgement needs.

    Raises DataError that names all that is lacking, and how to give it.
    """
    have = {*names, *values}
    if wanted := [ours for ours in ("system", "segment", "annotator", "score") if ours not in have]:
        raise DataError(f"{origin} has no column for {', '.join(wanted)}; it has {', '.join(header)}. {ways(wanted)}")


def ways(wanted: list[str]) -> str:
    """Say how to give what a file lacks.

    >>> ways(["annotator"])
    'Say which column it is with --map annotator=HEADING, or give one value for all rows: --value annotator=TEXT.'
    """
    maps = " ".join(f"--map {ours}=HEADING" for ours in wanted)
    values = " ".join(f"--value {ours}=TEXT" for ours in wanted if ours != "score")
    return f"Say which column it is with {maps}" + (f", or give one value for all rows: {values}." if values else ".")
