"""Turn rows under known columns into judgements in our vocabulary; rows that break a rule are told, not guessed."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data.importing import numbers, vocabulary
from evalkit.data.importing.options import Options, Pseudonyms
from evalkit.data.importing.receipt import Note, Receipt
from evalkit.data.importing.tables import EXCLUDED, Judgements, Rejection, Table, constant, demand_few, mapped_cells
from evalkit.data.importing.vocabulary import ITEM_TYPES, listed
from evalkit.data.names import is_human

_CHECK, _PRACTICE = "is an attention check", "is an item of the tutorial"
_MOST_CHECKS = 0.5  # share of the rows that can be checks
_OF_EACH_ROW = ("score", "preference", "first", "category", "severity")  # one value for all rows would be nonsense
#: Headings under which texts stand, or languages.
_OF_LANGUAGES = {"src_lang": ("src", "source"), "tgt_lang": ("tgt", "trg", "target")}
_DAY = r"\d{4}-\d\d-\d\d"  # a date without a time, as a sheet is read
_BETWEEN = re.compile(r"(?<=[a-zA-Z])-(?=[a-zA-Z]{2,3}[-_])|(?<=_[A-Za-z]{4})-")  # the sides of a language pair
_TAKEN = ("source", "hypothesis", "reference", "post_edit", "domain", "mark")
_NUMBERS = ("position", "errors", "z", "hit_seconds", "screen_place")
Ends = tuple[float, float]
Scales = Ends | Mapping[str, Ends | None] | None  # of all scores, or of those of each criterion


def ordered(names: Collection[str]) -> list[str]:
    """Bring our columns into their order."""
    return [name for name in (*schemas.RATINGS.columns, *vocabulary.EXTRAS) if name in names]


@dataclass
class Rows:
    """Rows of a table on their way to judgements.

    names: our name -> the heading. values: our name -> the one value that all rows have. cells: of the table, with rows
    numbered from 0. lines: the line of each. gone: rows that are set apart, by their numbers. further: rows whose
    judgement has a row already.
    """

    table: Table
    options: Options
    receipt: Receipt
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values = dict(self.options.values)
        self.gone: dict[int, Rejection] = {}
        self.take(self.table.cells)

    def take(self, cells: pd.DataFrame) -> None:
        """Take other rows, each under the line that it stands on, in place of the table's."""
        self.lines, self.cells = cells.index, cells.reset_index(drop=True)
        self.further = np.zeros(len(cells), bool)

    @property
    def known(self) -> set[str]:
        """Our columns that the file or the user gives."""
        return {*self.names, *self.values}

    @property
    def kept(self) -> np.ndarray:
        """Mark the rows that are judgements so far."""
        keep = ~self.further
        keep[[*self.gone]] = False
        return keep

    def note(self, text: str) -> None:
        """Remember something that the user should know."""
        self.receipt.note(text)

    def column(self, ours: str) -> pd.Series:
        """Return a column of the file, or what all rows have: one value, or nothing."""
        name = self.names.get(ours)
        return constant(self.values.get(ours), self.cells.index) if name is None else self.cells[name]

    def give(self, **columns: object) -> None:
        """Add columns that are made, under our names."""
        self.cells = self.cells.assign(**{f"({ours})": cells for ours, cells in columns.items()})
        self.names |= {ours: f"({ours})" for ours in columns}

    def reject(self, rows: Iterable[int], column: str, reason: str, kind: str = "rejected") -> None:
        """Set rows apart for what stands under a heading, each once."""
        self.refuse(column, dict.fromkeys(map(int, rows), reason), kind)

    def refuse(self, column: str, reasons: Mapping[int, str], kind: str = "rejected") -> None:
        """Set rows apart for what stands under a heading, by their numbers, each with its reason."""
        person = self.names.get("annotator", "")
        # a frame takes long to find a cell
        value, name = (self.cells[one].array if one in self.cells else None for one in (column, person))
        for row, reason in reasons.items():
            if row not in self.gone:
                cell, who = (one[row] if one is not None else None for one in (value, name))
                text = cell if isinstance(cell, str) and column != person else ""
                self.gone[row] = Rejection(row, reason, column, text, kind, who if isinstance(who, str) else None)
        demand_few(self.gone.values())

    def complete(self, header: Sequence[str] | None = None, *, made: Collection[str] = ()) -> None:
        """Add what rows can do without, languages and documents, and say which column became what.

        header: the headings that say something, where some do not. made: our columns that
        are yet to be made. Raises DataError where rows lack what every judgement needs.
        """
        self._add_languages()
        if "doc" not in self.known:
            self.values["doc"] = "all"
        header = self.table.header if header is None else header
        if wanted := [ours for ours in ("system", "segment", "annotator", "score") if ours not in {*self.known, *made}]:
            there = ", ".join(header)
            raise DataError(f"{self.table.name} has no column for {', '.join(wanted)}; it has {there}. {ways(wanted)}")
        found = {ours: name for ours, name in self.names.items() if name in self.table.header}
        self.receipt.describe(found, header)
        self.cells = self.options.looks.alike(self.cells, self.names)

    def _add_languages(self) -> None:
        """Take languages from two columns of nothing else, or the file's name; where nothing says them: unknown."""
        held = {
            ours: name
            for name in map(str, self.cells)
            for ours, headings in _OF_LANGUAGES.items()
            if vocabulary.bare(name) in headings
            and (codes := {languages.code(text) for text in self.cells[name].dropna().unique()})
            and None not in codes
        }
        if len(held) == 2 and not {*held, "pair"} & self.known:
            self.names = {ours: name for ours, name in self.names.items() if name not in held.values()} | held
        if "pair" in self.names and {"src_lang", "tgt_lang"} <= self.known:
            del self.names["pair"]
        lacks = [ours for ours in ("src_lang", "tgt_lang") if not {ours, "pair"} & self.known]
        if len(lacks) == 2 and (pair := languages.in_name(self.table.named)):
            self.values |= dict(zip(lacks, pair))
            self.note(f"the languages were read from the name of {self.table.named}: {pair[0]}-{pair[1]}")
        elif "tgt_lang" in lacks and (language := languages.code(self.table.title)):
            self.values["tgt_lang"] = language
            self.note(f"the language of translations was read from the title {self.table.title!r}: {language}")
        if lacks := [ours for ours in lacks if ours not in self.values]:
            self.values |= dict.fromkeys(lacks, languages.UNKNOWN)
            way = "--value pair=en-de" if len(lacks) == 2 else f"--value {lacks[0]}=eng"
            self.note(f"nothing says the languages ({', '.join(lacks)}): they are {languages.UNKNOWN}; pass {way}")

    def judgements(self, *, scale: Scales, lower: Collection[str] = ()) -> Judgements:
        """Convert rows to judgements, and reject those that break a rule.

        scale: its ends, or those of each criterion ("" of all). lower: criteria of which lower is better, so that their
        scores are taken negative and the scale is turned round.
        """
        options, names, note = self.options, self.names, self.note
        own_kinds, kept = "item_type" in self.known, slice(None) if self.kept.all() else self.kept
        self.values = {"item_type": options.item_types.get("", "system")} | self.values
        frame = self.cells[kept]
        index, have = frame.index, self.known
        table: dict[str, pd.Series | np.ndarray] = {}

        def refuse(ours: str, wrong: Mapping[int, str]) -> None:
            if wrong:
                self.refuse(names.get(ours, ours), {int(index[place]): reason for place, reason in wrong.items()})

        def column(ours: str) -> pd.Series:
            return self.column(ours)[kept]

        def needed(ours: str) -> pd.Series:
            """Return a column in which every row must have something."""
            cells = column(ours)
            refuse(ours, numbers.nameless(cells))
            if self.table.typed and ours in schemas.ITEM and (dates := cells[cells.str.fullmatch(_DAY, na=False)]).size:
                note(
                    f"{ours} holds dates, such as {dates.iloc[0]}: if a spreadsheet made them of names like 3-13, give "
                    "the column the format Text and type them again"
                )
            return cells

        def number(ours: str) -> tuple[np.ndarray, dict[int, str]]:
            return numbers.read(column(ours), options.decimal, typed=self.table.typed)

        def on_lines(ours: str) -> pd.Series:
            return column(ours).set_axis(self.lines[index])

        for heading, reason, marked in checks(frame, names, options.item_types, origin=self.table.name):
            self.reject(index[marked], heading, reason, EXCLUDED)
        for side, ours in enumerate(("src_lang", "tgt_lang")):
            if ours in have:
                table[ours] = _languages(needed(ours), ours, note)
            else:
                pairs = needed("pair")
                table[ours] = halves = _languages(pairs, ours, note, side)
                unread = index[halves.isna() & pairs.notna()]
                self.reject(unread, names["pair"], "is no language pair like en-de or eng-deu: correct it")
        table |= {ours: needed(ours) for ours in ("system", "doc", "segment", "annotator")}
        scores, wrong = number("score")
        refuse("score", wrong)
        each, sign = scale if isinstance(scale, Mapping) else {"": scale}, np.ones(len(scores))
        for criterion, ends in each.items():
            of = column("criterion").eq(criterion).to_numpy() if criterion else np.ones(len(scores), bool)
            refuse("score", numbers.off_scale(np.where(of, scores, np.nan), ends))
            sign[of] = -1 if criterion in lower else 1
        table["score"] = sign * scores + 0.0
        table["item_type"] = kinds = _kinds(column("item_type"), options, note)
        if not own_kinds and not is_human(table["system"]).all():
            table["item_type"] = kinds.mask(people(table["system"], note) & kinds.eq("system"), "reference")
        unknown = index[kinds.isna() & column("item_type").notna()]
        wanted = f"is none of {', '.join(schemas.ITEM_TYPES)}: correct it, or map it"
        self.reject(unknown, names.get("item_type", "item_type"), wanted)
        if "hit" in have:
            table["hit"] = _hits(needed("hit"), column("annotator"), options.pseudonyms)
        elif options.accounts:  # several accounts of one person stay apart
            table["hit"] = options.pseudonyms.column(column("annotator"), accounts=True)
        if "screen" in names:
            table["screen"] = _hits(column("screen"), column("annotator"), options.pseudonyms)
        table |= {ours: needed(ours) for ours in ("criterion", "against") if ours in have}
        table |= {ours: _times(on_lines(ours), names[ours], note) for ours in ("started", "ended") if ours in names}
        table |= {ours: column(ours) for ours in _TAKEN if ours in names}
        for ours in (name for name in _NUMBERS if name in names):
            table[ours], wrong = number(ours)
            refuse(ours, {place: reason for place, reason in wrong.items() if reason != numbers.MISSING})
        if "probability" in names:
            chances, _ = number("probability")
            table["probability"] = chances = np.where((chances > 0) & (chances <= 1), chances, np.nan)
            _tell_left(on_lines("probability"), chances, names["probability"], "number above 0 and up to 1", note)
        if "copy" in names:
            truth = mapped_cells(column("copy"), lambda text: {"true": "1", "false": "0"}.get(text.casefold()))
            self.reject(index[truth.isna()], names["copy"], "is neither True nor False: correct it")
            table["copy"] = truth.eq("1")
        table["annotator"] = options.pseudonyms.column(column("annotator"))
        ratings = pd.DataFrame(table, index=index)
        turned = {(-own[1], -own[0]) if own and name in lower else own for name, own in each.items()}
        return Judgements(ratings[self.kept[index]], names=names, scale=turned.pop() if len(turned) == 1 else None)


def _kinds(cells: pd.Series, options: Options, note: Note) -> pd.Series:
    """Return the kinds of items in our words, missing where a word is none."""
    if cells.hasnans:
        cells = cells.fillna("system")
        note("rows without a kind of item were taken as outputs of systems (item_type system)")
    told = {kind.casefold(): ours for kind, ours in options.item_types.items()}
    usual = listed("usual_kinds")
    known = dict.fromkeys(usual, "system") | ITEM_TYPES | told
    if there := sorted({kind for kind in cells.unique() if kind.casefold() in usual - {*options.item_types}}):
        note(f"items of the kind {', '.join(there)} were taken as outputs of systems (item_type system)")
    return mapped_cells(cells, lambda text: known.get(text.casefold()))


def _times(cells: pd.Series, name: str, note: Note) -> np.ndarray:
    """Read the times of a column, and say how its dates were read, and which of its cells were left empty."""
    moments, zoneless, remark = numbers.times(cells)
    if remark.startswith("dates like"):
        remark += ": write them like 2026-01-31 10:15:00"
    _tell_left(cells, moments, name, "time that can be read", note)
    if remark:
        note(f"{name}: {remark}")
    if zoneless:
        note(f"times in {name} name no time zone; they were taken as UTC")
    return moments


def _tell_left(cells: pd.Series, values: np.ndarray, name: str, what: str, note: Note) -> None:
    """Say which cells of a column were left empty because they hold something else than they should."""
    left = np.flatnonzero(cells.notna() & np.isnan(values))
    if len(left):
        first = f"the first on line {cells.index[left[0]]}, {str(cells.iloc[left[0]])[:40]!r}"
        note(f"{name} was left empty in {len(left):,} rows, where it holds no {what} ({first})")


def _languages(cells: pd.Series, ours: str, note: Note, side: int | None = None) -> pd.Series:
    """Return languages, or one side of pairs, as ISO 639-3 codes; those that are not known stay as they are.

    Raises DataError where two varieties, such as zh-CN and zh-TW, would become one language.
    """
    read: dict[str, dict[str, str]] = {}  # code -> variety -> how it was written

    def code(text: str) -> str | None:
        if side is not None:
            if (pair := languages.split(text)) is None:
                return None
            halves = _BETWEEN.split(text.strip(), maxsplit=1)
            text = halves[side] if len(halves) == 2 and languages.code(halves[side]) else pair[side]
        known = languages.code(text) or text
        read.setdefault(known, {}).setdefault(text.strip().casefold().replace("_", "-").partition("-")[2], text)
        return known

    result = mapped_cells(cells, code)
    for known, varieties in read.items():
        if len(varieties) > 1:
            raise DataError(
                f"{ours} has {' and '.join(varieties.values())}, which would become one language, {known}. Import each "
                "by itself, or write codes of your own that have no hyphen or underscore."
            )
        for variety, text in varieties.items():
            if variety and known != text:
                note(f"{ours} {text} was read as {known}")
    return result


def _hits(hits: pd.Series, annotators: pd.Series, aliases: Pseudonyms) -> pd.Series:
    """Return the HITs, in which no annotator's name is left, however it is written."""
    if aliases.keep:
        return hits

    def hidden(text: str) -> str | None:
        hit, _, name = text.partition("\0")
        return (re.sub(re.escape(name), aliases.one(name), hit, flags=re.IGNORECASE) if name else hit) or None

    return mapped_cells(hits.fillna("") + "\0" + annotators.fillna(""), hidden)


def people(systems: pd.Series, note: Note) -> pd.Series:
    """Tell which systems are people's translations by their names, and say so.

    >>> people(pd.Series(["refA", "translator-B", "Human-A.0", "Refiner"]), print).tolist()
    called references, not systems, by their names: Human-A.0, refA, translator-B
    [True, True, True, False]
    """
    human = is_human(systems)
    if human.any():
        note(f"called references, not systems, by their names: {', '.join(sorted(systems[human].unique()))}")
    return human


def ways(wanted: list[str]) -> str:
    """Say how to give what a file lacks.

    >>> ways(["annotator"])
    'Say which column it is with --map annotator=HEADING, or give one value for all rows: --value annotator=TEXT.'
    """
    maps = " ".join(f"--map {ours}=HEADING" for ours in wanted)
    values = " ".join(f"--value {ours}=TEXT" for ours in wanted if ours not in _OF_EACH_ROW)
    return f"Say which column it is with {maps}" + (f", or give one value for all rows: {values}." if values else ".")


# Attention checks, which are no judgements of the campaign: marked in a column, by a kind, or as a system


def is_check_heading(name: str) -> bool:
    """Tell whether a heading is one under which checks are marked.

    >>> is_check_heading("is_attention_check"), is_check_heading("attention span")
    (True, False)
    """
    return vocabulary.bare(name) in listed("check_headings")


def checks(
    frame: pd.DataFrame, names: dict[str, str], ours: dict[str, str], *, origin: str
) -> Iterator[tuple[str, str, np.ndarray]]:
    """List what marks rows as no judgements: its heading, the reason, and which rows.

    names: our name -> the file's heading. ours: kinds of items (small) that the user maps, which are never checks.
    Raises DataError where a column would mark most rows.
    """
    for name in [name for name in frame if is_check_heading(name) and name not in names.values()]:
        small = frame[name].str.casefold()
        yes = small.isin(listed("yes"))
        if not (yes | small.isin(listed("no")) | small.isna()).all():
            continue  # it says something else than yes or no
        if len(yes) and yes.mean() > _MOST_CHECKS:
            raise DataError(f"{origin}: {name} marks {yes.mean():.0%} of the rows as checks. Rename the column.")
        yield name, _CHECK, yes.to_numpy()
    mine = {vocabulary.bare(kind) for kind in ours}
    for column, known, reason in (
        ("item_type", listed("check_kinds") - mine, _CHECK),
        ("item_type", listed("practice_kinds") - mine, _PRACTICE),
        ("system", listed("check_systems"), _CHECK),
    ):
        if (name := names.get(column, "")) in frame:
            kinds = [str(text) for text in frame[name].dropna().unique()]
            hits = [kind for kind in kinds if vocabulary.bare(kind).rstrip("0123456789") in known]
            yield name, reason, frame[name].isin(hits).to_numpy()
