"""Turn rows under known columns into judgements in our vocabulary; rows that break a rule are told, not guessed."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import languages, schemas
from evalkit.data.importing.automatic.items import Metric
from evalkit.data.importing.cells import checks, numbers
from evalkit.data.importing.cells.columns import vocabulary
from evalkit.data.importing.files.rows import Seen
from evalkit.data.importing.options import Options
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.importing.rejected import EXCLUDED, Rejecting, Rejection
from evalkit.data.names import is_human

#: What exports call the kinds of items, and what we call them.
ITEM_TYPES = {
    "tgt": "system",
    "mt": "system",
    "target": "system",
    "bad": "degraded",
    "bad_ref": "degraded",
    "ref": "reference",
    "chk": "repeat",
    "cal": "calibration",
} | {name: name for name in schemas.ITEM_TYPES}
#: What exports call the usual items, where they have others, too.
USUAL = vocabulary("normal regular main test real standard item task default evaluation eval")
_OF_EACH_ROW = ("score", "preference", "first", "category", "severity")  # one value for all rows would be nonsense
_DAY = r"\d{4}-\d\d-\d\d"  # a date without a time, as a sheet is read
_TAKEN = ("source", "hypothesis", "reference", "domain", "mark")
_NUMBERS = ("position", "errors", "z", "hit_seconds", "screen_place")


@dataclass
class Converted:
    """What a file gave: judgements (index ``line``), errors marked in them, and rows that are no judgements.

    names: our name -> the file's heading. people: headings that are annotators themselves. parts: headings of columns
    of scores -> what they name, which is our column ``role``. beside: files that were read together with this one.
    weak: the scale is a guess from few scores. metrics: automatic scores that an earlier import has set apart.
    """

    ratings: pd.DataFrame
    rejected: list[Rejection] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    spans: pd.DataFrame | None = None
    read: int | None = None  # judgements looked at, where they are not one a row
    folded: int = 0  # further rows that went into judgements which have a row already
    people: Sequence[str] = ()
    role: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    weak: bool = False
    beside: Sequence[Seen] = ()
    metrics: Sequence[Metric] = ()


def converted(
    frame: pd.DataFrame,
    names: dict[str, str],
    values: dict[str, str],
    options: Options,
    *,
    scale: tuple[float, float] | None,
    note: Callable[[str], None],
    typed: bool = False,
    lower: bool | Collection[str] = False,
) -> Converted:
    """Convert rows to judgements, and reject those that break a rule.

    names: our name -> the file's heading. values: our name -> the one value that all rows have. note: gets what the
    user should know. typed: the cells are a workbook's. lower: lower is better, so that scores are taken negative and
    the scale turned round; or the criteria of which that holds.
    """
    frame = options.looks.alike(frame, names)
    reject = Rejecting(frame, names.get("annotator"))

    def column(ours: str) -> pd.Series:
        """Return a column of the file, or the one value that all rows have."""
        return frame[names[ours]] if ours in names else constant(values[ours], frame.index)

    def refuse(ours: str, wrong: dict[int, str]) -> None:
        for place, reason in wrong.items():
            reject([place], names.get(ours, ours), reason)

    def needed(ours: str) -> pd.Series:
        """Return a column in which every row must have something."""
        cells = column(ours)
        refuse(ours, numbers.nameless(cells))
        if typed and ours in schemas.ITEM and (dates := cells[cells.str.fullmatch(_DAY, na=False)]).size:
            note(
                f"{ours} holds dates, such as {dates.iloc[0]}: if a spreadsheet made them of names like 3-13, "
                "give the column the format Text and type them again"
            )
        return cells

    given, values = {*values}, {"item_type": options.item_types.get("", "system")} | values
    marked = checks.found(frame, names, options.item_types)
    for place, (name, reason) in marked.items():
        reject([place], name, reason, EXCLUDED)
    table: dict[str, pd.Series | np.ndarray] = _languages(frame, names, {*names, *values}, needed, reject, note)
    table |= {ours: needed(ours) for ours in ("system", "doc", "segment", "annotator")}
    scores, wrong = numbers.read(column("score"), options.decimal, typed=typed)
    refuse("score", wrong)
    refuse("score", numbers.off_scale(scores, scale))
    table["score"] = np.where(_low(lower, column, frame), -scores, scores) + 0.0
    if said := checks.told(marked, scores):
        note(said)
    kinds = column("item_type")
    if kinds.hasnans:
        kinds = kinds.fillna("system")
        note("rows without a kind of item were taken as outputs of systems (item_type system)")
    known = (
        dict.fromkeys(USUAL, "system")
        | ITEM_TYPES
        | {kind.casefold(): ours for kind, ours in options.item_types.items()}
    )
    if usual := sorted({kind for kind in kinds.dropna().unique() if kind.casefold() in USUAL - {*options.item_types}}):
        note(f"items of the kind {', '.join(usual)} were taken as outputs of systems (item_type system)")
    table["item_type"] = ours_kinds = mapped_cells(kinds, lambda text: known.get(text.casefold()))
    if "item_type" not in {*names, *given} and not is_human(table["system"]).all():
        people = human(table["system"], note) & ours_kinds.eq("system")
        table["item_type"] = ours_kinds = ours_kinds.mask(people, "reference")
    reject(
        np.flatnonzero(ours_kinds.isna() & kinds.notna()),
        names.get("item_type", "item_type"),
        f"is none of {', '.join(schemas.ITEM_TYPES)}: correct it, or map it",
    )
    if "hit" in names or "hit" in values:
        table["hit"] = _hits(needed("hit"), column("annotator"), options.pseudonyms)
    elif options.accounts:  # several accounts of one person stay apart
        table["hit"] = options.pseudonyms.column(column("annotator"), accounts=True)
    if "screen" in names:
        table["screen"] = _hits(column("screen"), column("annotator"), options.pseudonyms)
    table |= {ours: needed(ours) for ours in ("criterion", "against") if ours in names or ours in values}
    for moment in [name for name in ("started", "ended") if name in names]:
        table[moment], left, zoneless, said = numbers.times(column(moment))
        _tell_times(column(moment), left, said, names[moment], note)
        if zoneless:
            note(f"times in {names[moment]} name no time zone; they were taken as UTC")
    table |= {ours: column(ours) for ours in _TAKEN if ours in names}
    for ours in (name for name in _NUMBERS if name in names):
        table[ours], wrong = numbers.read(column(ours), options.decimal, typed=typed)
        refuse(ours, {place: reason for place, reason in wrong.items() if reason != numbers.MISSING})
    if "probability" in names:
        table["probability"] = _probabilities(column("probability"), options, names["probability"], note, typed=typed)
    if "copy" in names:
        truth = mapped_cells(column("copy"), lambda text: {"true": "1", "false": "0"}.get(text.casefold()))
        reject(np.flatnonzero(truth.isna()), names["copy"], "is neither True nor False: correct it")
        table["copy"] = truth.eq("1")
    table["annotator"] = options.pseudonyms.column(column("annotator"))
    turned = (-scale[1], -scale[0]) if scale and lower is True else scale
    return Converted(pd.DataFrame(table, index=frame.index)[reject.kept], reject.rows, names, turned)


def _low(lower: bool | Collection[str], column: Callable[[str], pd.Series], frame: pd.DataFrame) -> np.ndarray:
    """Mark the rows whose scores are better where they are lower."""
    if isinstance(lower, bool):
        return np.full(len(frame), lower)
    return column("criterion").isin([*lower]).to_numpy() if lower else np.zeros(len(frame), bool)


def _tell_times(cells: pd.Series, left: list[int], said: str, name: str, note: Callable[[str], None]) -> None:
    """Say how the dates of a column were read, and which of its cells were left empty."""
    if left:
        first = f"the first on line {cells.index[left[0]]}, {cells.iloc[left[0]][:40]!r}"
        why = f"; {said}: write them like 2026-01-31 10:15:00" if said.startswith("dates like") else ""
        note(f"{name} was left empty in {len(left):,} rows, where it holds no time that can be read ({first}{why})")
    if said.startswith("dates were"):
        note(f"{name}: {said}")


def _probabilities(
    cells: pd.Series, options: Options, name: str, note: Callable[[str], None], *, typed: bool
) -> np.ndarray:
    """Return the probabilities of a column, missing where a cell holds none; and say so, as the score is sound."""
    values, _ = numbers.read(cells, options.decimal, typed=typed)
    wrong = np.flatnonzero(cells.notna() & ~((values > 0) & (values <= 1)))
    if len(wrong):
        first = f"the first on line {cells.index[wrong[0]]}, {str(cells.iloc[wrong[0]])[:40]!r}"
        note(f"{name} was left empty in {len(wrong):,} rows, where it is no number above 0 and up to 1 ({first})")
    return np.where((values > 0) & (values <= 1), values, np.nan)


def constant(value: str, index: pd.Index) -> pd.Series:
    """Repeat one text for all rows."""
    return pd.Series(pd.array([value], dtype="str").take(np.zeros(len(index), int)), index=index)


def _languages(
    frame: pd.DataFrame,
    names: dict[str, str],
    have: set[str],
    needed: Callable[[str], pd.Series],
    reject: Rejecting,
    note: Callable[[str], None],
) -> dict[str, pd.Series]:
    """Return both languages as ISO 639-3 codes; what is not known stays as it is.

    Raises DataError where two varieties, such as zh-CN and zh-TW, would become one language.
    """
    seen: dict[tuple[str, str], tuple[str, str]] = {}

    def code(ours: str, text: str) -> str:
        found = languages.code(text) or text
        variety = text.strip().casefold().replace("_", "-").partition("-")[2]
        before = seen.setdefault((ours, found), (variety, text))
        if before[0] != variety:
            raise DataError(
                f"{ours} has {before[1]} and {text}, which would become one language, {found}. Import each by itself, "
                "or write codes of your own that have no hyphen or underscore."
            )
        if variety and found != text:
            note(f"{ours} {text} was read as {found}")
        return found

    def half(ours: str, side: int, text: str) -> str | None:
        if (pair := languages.split(text)) is None:
            return None
        halves = re.split(r"(?<=[a-zA-Z])-(?=[a-zA-Z]{2,3}[-_])|(?<=_[A-Za-z]{4})-", text.strip(), maxsplit=1)
        return code(ours, halves[side]) if len(halves) == 2 and languages.code(halves[side]) else pair[side]

    table = {}
    for side, ours in enumerate(("src_lang", "tgt_lang")):
        if ours in have:
            table[ours] = mapped_cells(needed(ours), partial(code, ours))
        else:
            pairs = frame[names["pair"]]
            reject(np.flatnonzero(pairs.isna()), names["pair"], "is empty: fill it in, or drop the row")
            table[ours] = mapped_cells(pairs, partial(half, ours, side))
            reject(
                np.flatnonzero(table[ours].isna() & pairs.notna()),
                names["pair"],
                "is no language pair like en-de or eng-deu: correct it",
            )
    return table


def _hits(hits: pd.Series, annotators: pd.Series, aliases: Pseudonyms) -> pd.Series:
    """Return the HITs, in which no annotator's name is left, however it is written."""
    if aliases.keep:
        return hits

    def hidden(text: str) -> str | None:
        hit, _, name = text.partition("\0")
        return (re.sub(re.escape(name), aliases.one(name), hit, flags=re.IGNORECASE) if name else hit) or None

    return mapped_cells(hits.fillna("") + "\0" + annotators.fillna(""), hidden)


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
    found = is_human(systems)
    if found.any():
        note(f"called references, not systems, by their names: {', '.join(sorted(systems[found].unique()))}")
    return found


def demand_columns(have: Iterable[str], *, origin: str, header: list[str]) -> None:
    """Refuse a file that lacks a column which every judgement needs.

    Raises DataError that names all that is lacking, and how to give it.
    """
    if wanted := [ours for ours in ("system", "segment", "annotator", "score") if ours not in have]:
        raise DataError(f"{origin} has no column for {', '.join(wanted)}; it has {', '.join(header)}. {ways(wanted)}")


def ways(wanted: list[str]) -> str:
    """Say how to give what a file lacks.

    >>> ways(["annotator"])
    'Say which column it is with --map annotator=HEADING, or give one value for all rows: --value annotator=TEXT.'
    """
    maps = " ".join(f"--map {ours}=HEADING" for ours in wanted)
    values = " ".join(f"--value {ours}=TEXT" for ours in wanted if ours not in _OF_EACH_ROW)
    return f"Say which column it is with {maps}" + (f", or give one value for all rows: {values}." if values else ".")
