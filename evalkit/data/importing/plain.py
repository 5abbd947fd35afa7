"""Read tables of judgements: a score a row, or columns of scores of systems, annotators or criteria; CSV and XSTS."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import metrics, numbers, scales, vocabulary
from evalkit.data.importing.comparisons import demand_one
from evalkit.data.importing.judgements import checks, converted, demand_columns, is_check_heading, with_languages
from evalkit.data.importing.options import ALIAS, WIDE, Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Judgements, Rejection, Table, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import (
    ITEM_TYPES,
    Columns,
    bare,
    is_criterion,
    is_metric,
    is_quality,
    listed,
    meaning,
    words,
)
from evalkit.data.names import plain

XSTS_SCALE = (1.0, 5.0)
_PERSON = (
    r"(evaluator|rater|annotator|linguist|reviewer|judge|translator|evaluador|bewerter|évaluateur|annotateur|anotador"
    r"|hodnotitel)"
)
_SCORE_WORD = r"(score|xsts|rating|note|bewertung)"
_OF_PERSON = re.compile(rf"({_SCORE_WORD}\W*_?)?{_PERSON}\W*_?.{{1,40}}|{ALIAS.pattern}", re.I)
_NUMBERED = re.compile(rf"{_SCORE_WORD}[\W_]+\w{{1,12}}|{_SCORE_WORD}\W*\d+", re.I)
_AFFIX = re.compile(rf"{_SCORE_WORD}s?(?:\W|_)+|(?:\W|_)+{_SCORE_WORD}s?", re.I)
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")
_SOME, _MOST, _LARGEST = 0.2, 0.8, 1e5  # shares of cells that are numbers: with more than most, it may be scores
_NARROW, _ALIKE = 4, 5  # times that a scale is narrower than the others'; numbers that may be alike by chance
_STEPS, _WORD = 11, re.compile(r"[^\W\d_][^\W_]*(?:[ '’-][^\W_]+){0,5}")  # of a scale in words
_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")  # columns that may be there and empty, as in a template
_PART, _SCORE, _SEGMENT = "(column)", "(score)", "(segment)"  # headings of columns that are made
_CALLED = "by a column called XSTS"
_SHOWN = 20  # columns that are named
_OF_ROLE = {"annotator": "evaluator", "system": "system", "criterion": "criterion"}
_TOGETHER = ("annotator", "doc", "segment", "src_lang", "tgt_lang", "pair", "criterion")
_MOST_RANKS = 100
_WIDEST = 10  # a scale that several criteria may share, though some do not reach its ends
Ends = tuple[float, float]


# Which columns hold scores, and what several of them are


@dataclass
class Layout:
    """Columns of scores, and what they are. role: system, annotator or criterion; "" where nothing says.

    columns: heading -> what it names. question: what is unclear, where role is "".
    """

    role: str
    columns: dict[str, str] = field(default_factory=dict)
    question: str = ""


def known(table: Table, options: Options) -> set[str | None]:
    """Name what a file's headings and the user give, without what the user says that no column gives."""
    unwanted = {ours for ours, theirs in options.columns.items() if not theirs}
    return ({*map(meaning, _free(table, options))} | {*options.columns, *options.values}) - unwanted


def _free(table: Table, options: Options, apart: Iterable[str] = ()) -> list[str]:
    """List the headings but some, and those of metrics."""
    taken = metrics.taken(options.metric_columns, table.header) | {*apart}
    return [name for name in table.header if name not in taken]


def layout(table: Table, options: Options) -> Layout | None:
    """Say which columns are scores of a wide table, and what they are; None where the table has one column of scores.

    Raises DataError where the user names columns that are not there, or says what none can be.
    """
    told, have = options.columns.get("score"), known(table, options)
    if isinstance(told, list):
        wanted = {f"score{place}": name for place, name in enumerate(told)}
        vocabulary.demand_present(table.header, wanted, origin=table.name)
        return _named(WIDE[options.wide] if options.wide else _by_others(told, have) or "annotator", told)
    if told:
        return None
    numeric = candidates(table, options)
    if options.wide:
        found = _as_told(table, options, numeric, have)
    else:
        found = None if "score" in have else _decided(table, numeric, have)
    if found and found.role != "criterion":
        _demand_neighbours(table, [*found.columns], options)
    return found


def _as_told(table: Table, options: Options, numeric: list[str], have: set[str | None]) -> Layout | None:
    """Take the columns of scores for what the user says they are."""
    role = WIDE[str(options.wide)]
    if role == "criterion":  # a flag is no criterion, unless its heading names one
        numeric = [name for name in _free(table, options) if name in numeric or meaning(name) == "score"]
        marks = {name: {*numbers.read(table.judged(name))[0]} for name in numeric if not is_criterion(name)}
        flags = [name for name, own in marks.items() if own and own <= {0.0, 1.0}]
        numeric = [name for name in numeric if name not in flags or len(flags) == len(numeric)]
    if len(numeric) < 2 and {role, "score"} <= have:
        return None  # a form's questions were laid out as rows already
    if len(numeric) < 2:
        raise DataError(
            f"{table.name} has no two columns of scores that could be {options.wide}. Name them: --map "
            f"'score=HEADING+HEADING' --wide {options.wide}."
        )
    return _named(role, numeric)


def _demand_neighbours(table: Table, names: list[str], options: Options) -> None:
    """Raise DataError where a column that looks like those of scores cannot be used: a system or a person would go."""
    if any(re.fullmatch(r"[\d.,]+", name) for name in names):  # a row of values is no row of headings
        return
    people = all(_OF_PERSON.fullmatch(name.strip()) for name in names)
    first, last = (table.header.index(name) for name in (names[0], names[-1]))
    for place, name in enumerate(table.header):
        if place < first or name in names or name not in _unknown(table, options) or name in vocabulary.EXTRAS:
            continue
        if is_check_heading(name) or is_metric(name) or {*words(name)} & listed("not_scores"):
            continue
        cells = table.judged(name)
        if len(cells) < _ALIKE or (people and not _OF_PERSON.fullmatch(name.strip())):
            continue
        values = numbers.read(cells)[0]
        share = np.isfinite(values).mean()
        beside = f"{table.name}: the column {name!r} looks like those of scores ({', '.join(names[:3])}), but "
        if _SOME <= share <= _MOST:
            line, text = next((line, text) for line, text in cells[np.isnan(values)].items())
            raise DataError(
                f"{beside}{text[:40]!r} on line {line} is no score. Correct it, or write NA where there is no "
                "judgement."
            )
        if place < last and share > _MOST and (np.abs(values) < _LARGEST).all():
            raise DataError(
                f"{beside}its numbers count up like those of rows. If they are scores, name all columns of scores: "
                "--map 'score=HEADING+HEADING'; else move it before them."
            )


def _unknown(table: Table, options: Options) -> list[str]:
    """List the headings that nothing says the meaning of."""
    return [name for name in _free(table, options, options.single.values()) if meaning(name) is None]


def single(table: Table, options: Options) -> str | None:
    """Return the one column that holds the scores though it is not called so, such as errors or adequacy."""
    if "score" in known(table, options) or options.wide:
        return None
    found = candidates(table, options)
    named = [name for name in found if _is_pure(name)] or [name for name in found if is_quality(name)]
    return named[0] if len(named) == 1 else None


def candidates(table: Table, options: Options) -> list[str]:
    """List the columns of unknown meaning that hold scores, or may do so."""
    free = _unknown(table, options)
    table.scores |= {name: _may_be_scores(name, table.judged(name)) for name in free if name not in table.scores}
    found = [name for name in free if table.scores[name]]
    return [name for name in found if not is_metric(name)] or found  # a metric is people's only where nothing else is


def _may_be_scores(name: str, cells: pd.Series) -> bool:
    """Tell whether a column holds scores: numbers or words of a scale, and no ids, times or lengths."""
    no_scores = bool({*words(name)} & listed("not_scores"))
    if name in vocabulary.EXTRAS and not vocabulary.tendency(name):
        return False
    quality = is_quality(name)
    if not quality and (no_scores or is_check_heading(name)):
        return False
    if cells.empty:
        return is_criterion(name) or bool(_OF_PERSON.fullmatch(name))
    if quality and not (is_criterion(name) and no_scores):
        return True
    values = _values(cells)
    scores = values[np.isfinite(values)]
    if scores.size <= _MOST * values.size:
        return False
    steps = np.diff(scores)
    counted = scores.size > 3 and steps[0] != 0 and bool((steps == steps[0]).all())  # 1, 2, 3 …
    return not counted and bool((np.abs(scores) < _LARGEST).all())


def _values(texts: pd.Series) -> np.ndarray:
    try:
        texts, _ = scales.in_numbers(texts, {}, lambda line: None, heading="")
    except DataError:  # words of a scale, which the user must say, or any other text
        steps = texts.str.strip().unique()
        in_words = len(steps) <= _STEPS and all(map(_WORD.fullmatch, steps))
        return np.full(len(texts), 1.0 if in_words else np.nan)
    return numbers.read(texts)[0]


def _by_others(names: list[str], have: set[str | None]) -> str:
    """Say what columns are by the other columns: what a judgement lacks."""
    if {"annotator", "system"} <= have:
        return "criterion"
    return "system" if "annotator" in have and not any(map(_touches_criterion, names)) else ""


def _is_pure(heading: str) -> bool:
    """Tell whether a heading names a judgement, and no system or person besides."""
    plainly = listed("criteria") | listed("fillers") | listed("not_scores") | listed("counting")
    return is_quality(heading) and all(word in plainly or vocabulary.is_low(word) for word in words(heading))


def _touches_criterion(heading: str) -> bool:
    return bool(listed("criteria") & set(words(heading)) or vocabulary.tendency(heading))


def _decided(table: Table, numeric: list[str], have: set[str | None]) -> Layout | None:
    """Decide by the headings, and by the other columns."""
    named = [name for name in numeric if _is_pure(name)]
    others = [name for name in numeric if name not in named]
    people = [name for name in others if _OF_PERSON.fullmatch(name.strip())]
    whole = {"annotator", "system"} <= have
    if len(named) > 1 and (not others or whole):
        return _named("criterion", named)
    if len(named) == 1 and whole:
        return None  # one criterion, which is the score
    if len(people) > 1 and "annotator" not in have and not named:
        return _named("annotator", people)
    if len(numeric) < 2:
        return None
    if not whole and (named or any(map(_touches_criterion, others))):
        question = "hold numbers; some name what was judged, others do not"
    elif odd := _odd(table, others):
        question = f"hold numbers, but those of {odd} are of another kind"
    elif role := _by_others(others, have):
        return _named(role, others)
    else:
        question = "hold numbers, and nothing says what they are"
    return Layout("", dict.fromkeys(numeric, ""), f"{', '.join(numeric[:_SHOWN])} {question}")


def _odd(table: Table, names: list[str]) -> str:
    """Name a column whose numbers are not of the others' kind: on a far narrower or wider scale, or all alike."""
    values = {name: _values(table.judged(name)) for name in names}
    spans = {name: scale[1] - scale[0] if (scale := scales.proposed(own)[0]) else 0.0 for name, own in values.items()}
    usual = Counter(spans.values()).most_common(1)[0][0]
    for name, span in spans.items():
        alike = len(values[name]) > _ALIKE and len(set(values[name])) == 1
        if alike or (span != usual and max(span, usual) >= _NARROW * min(span, usual)):
            return name
    return ""


def _named(role: str, names: list[str]) -> Layout:
    """Name what columns are: by their headings, without the word score where all have it."""
    if role == "annotator":
        return Layout(role, {name: name for name in names})
    called = [_AFFIX.sub("", name, count=1).strip() for name in names]
    if not (all(map(_AFFIX.search, names)) and len(set(called)) == len(names) and all(called)):
        called = names
    if role == "criterion":
        short = [re.sub(r"\s*(\([^()]*\)|\[[^][]*\])\s*", " ", name).strip() or name for name in called]
        called = short if len(set(short)) == len(names) else names
    return Layout(role, dict(zip(names, called)))


def _evaluators(table: Table, options: Options) -> Layout | None:
    """Find the columns that hold the scores of one evaluator each, from 1 to 5; fewer than two are none."""
    told = options.columns.get("score")
    if isinstance(told, list):
        found = layout(table, options)
        return found if found and found.role == "annotator" and all(_share(table, one) > 0.5 for one in told) else None
    if told or "annotator" in known(table, options) or options.wide not in (None, "annotators"):
        return None
    for pattern, least in ((_OF_PERSON, 0.5), (_NUMBERED, _MOST)):
        alike = [name for name in table.header if meaning(name) is None and pattern.fullmatch(name.strip())]
        shares = {name: _share(table, name) for name in alike}
        if any(share > least for share in shares.values()):  # then one that starts badly or late is one, too
            people = [name for name, share in shares.items() if share > 0 or table.judged(name).empty]
            return Layout("annotator", {name: name for name in people}) if len(people) > 1 else None
    return None


def _share(table: Table, name: str) -> float:
    """Compute which part of a column's cells are scores from 1 to 5."""
    cells = table.judged(name)
    return float(cells.str.fullmatch(_ON_SCALE).mean()) if len(cells) else 0.0


def lacks_csv(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to have a judgement a row, or columns of scores; and why it is one."""
    have = known(table, options)
    found, why = layout(table, options), "by its headings"
    if found and found.role:
        have |= {"score", found.role}
        why = f"by its headings, with {len(found.columns)} columns of scores, one per {_OF_ROLE[found.role]}"
    elif single(table, options):
        have.add("score")
    wanted = ["system", "segment", "annotator", "score"]
    missing = [name for name in wanted if name not in have and not (name == "segment" and "source" in have)]
    return (missing if len(missing) < len(wanted) else None), why


def lacks_xsts(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to hold XSTS scores: a column for each evaluator, or all scores from 1 to 5."""
    have = {*map(meaning, table.header), *options.columns, *options.values}
    unanchored = [] if have & {"segment", "source", "hypothesis"} else ["a column of segments or source texts"]
    if people := _evaluators(table, options):
        return unanchored, f"by its {len(people.columns)} columns of scores from 1 to 5, one per evaluator"
    told = options.single.get("score")
    named = [told] if told in table.header else [name for name in table.header if meaning(name) == "score"]
    missing = [name for name in ("annotator", "score") if name not in have] + unanchored
    if len(named) != 1 or missing:
        return (missing or ["one column of scores"]) if len(missing) < 3 else None, ""
    if stated := vocabulary.scale_in(named[0]):
        return [] if stated == XSTS_SCALE else ["a scale from 1 to 5"], f"by its heading {named[0]}"
    if "xsts" in bare(named[0]):
        return [], _CALLED
    cells = table.samples(named[0])
    if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)):
        return [], "by its headings, and by scores that are 1 to 5 only"
    return ["scores from 1 to 5 on its first rows"], ""


# Judgements


def convert_csv(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read a row per judgement, or columns of scores, under our names, synonyms of them, or names that are told."""
    found, told = layout(table, options), options.single
    if found and found.role:
        return _convert(table, options, receipt, _columns(table, options, told, found), found)
    if one := single(table, options):
        told = {"score": one} | told
    columns = _columns(table, options, told)
    if one:
        columns.how["score"] = "heading"
    if more := [name for name in candidates(table, options) if is_quality(name) and name != one]:
        receipt.note(f"{', '.join(more)} may hold judgements, too: --wide criteria reads all of them")
    return _convert(table, options, receipt, columns)


def convert_xsts(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read XSTS scores, however they are laid out; segments that nothing names are the lines."""
    people = _evaluators(table, options)
    columns = _columns(table, options, options.single, people)
    return _convert(table, options, receipt, columns, people, xsts=True)


def _columns(table: Table, options: Options, told: dict[str, str], found: Layout | None = None) -> Columns:
    """Map what is no column of scores, where these are columns of their own."""
    if found and found.role in known(table, options):
        those = next(name for name, role in WIDE.items() if role == found.role)
        raise DataError(f"{table.name}: {those} have a column of scores each, so {found.role} cannot be mapped, too.")
    given = {*options.values, *(("score", found.role) if found else ())}
    return vocabulary.mapped(
        _free(table, options, found.columns if found else ()), told, origin=table.name, given=given
    )


def _convert(
    table: Table,
    options: Options,
    receipt: Receipt,
    known: Columns,
    found: Layout | None = None,
    *,
    xsts: bool = False,
) -> Judgements:
    """Read rows under columns that are known; what they lack is given a plain value, and that is told."""
    demand_one(table, options)
    cells, values, names = table.cells, dict(options.values), known.names
    _leave_empty(known, table, receipt)
    with_languages(names, values, table, receipt)
    _leave_foreign_kinds(known, cells, options, receipt)
    made = {"score", found.role} if found else set()
    for ours, value in {"doc": "all", **({"system": "mt"} if xsts else {})}.items():
        if ours not in {*names, *values, *made}:
            values[ours] = value
            ways = f"all rows were given {value!r} (--value {ours}=… gives another)"
            receipt.note(f"no column names {'documents' if ours == 'doc' else f'the {ours}'}; {ways}")
    if "segment" not in {*names, *values} and (xsts or "source" in names):
        cells = _with_segments(cells, known, receipt)
    demand_columns({*names, *values, *made}, origin=table.name, header=table.header)
    if not xsts and "item_type" not in {*names, *values}:
        receipt.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
    receipt.describe(names, known.how, _free(table, options, found.columns if found else ()))
    for note in known.notes:
        receipt.note(note)
    ends: dict[str, Ends | None] = {}
    nobody: list[Rejection] = []
    own, lines = names, cells.index
    if found:
        own = names | {"score": _SCORE, found.role: _PART}
        cells, ends, nobody = _long(table, cells, found, options, receipt)
        lines = cells.index
        cells = cells.reset_index(drop=True)  # one line holds several judgements: rows go by their places
    else:
        scores, ends[names["score"]] = _in_numbers(table, cells, names["score"], options, receipt)
        cells = cells.assign(**{names["score"]: scores})
    sure = xsts and (receipt.how == "as told" or lacks_xsts(table, options)[1] == _CALLED)
    how = _Scoring(table, cells, own, options, receipt, ends, XSTS_SCALE if xsts else None, sure, found, lines)
    result = converted(
        cells, own, values, options, scale=how.scale, lower=how.lower, note=receipt.note, typed=table.typed
    )
    result.weak, result.read = how.weak, len(cells) + len(nobody)
    return _by_columns(result, cells, lines, names, found, nobody, options) if found else result


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
    if known.how.get("item_type") != "synonym":
        return
    name = known.names["item_type"]
    kinds = {*ITEM_TYPES, *listed("usual_kinds"), *(kind.casefold() for kind in options.item_types)}
    held = {plain(cell).casefold() for cell in cells[name].dropna().unique()}
    if not held <= kinds and not {*map(bare, held)} & (listed("check_kinds") | listed("practice_kinds")):
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


# Columns of scores


def _in_numbers(
    table: Table, cells: pd.DataFrame, name: str, options: Options, receipt: Receipt
) -> tuple[pd.Series, Ends | None]:
    return scales.in_numbers(cells[name], options.words, receipt.note, heading=f"{table.name}, {name}")


def _long(
    table: Table, cells: pd.DataFrame, found: Layout, options: Options, receipt: Receipt
) -> tuple[pd.DataFrame, dict[str, Ends | None], list[Rejection]]:
    """Write columns of scores as a row a score; the ends of the scales of words; and rows without any score."""
    names, titles = [*found.columns], np.array([*found.columns.values()], dtype=object)
    shown = ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")
    each = f"{len(names)} columns, one per {_OF_ROLE[found.role]}"
    each += "" if found.role == "annotator" else f" ({shown})"
    receipt.mapping["score"] = {"theirs": each, "how": "their headings"}
    read = {name: _in_numbers(table, cells, name, options, receipt) for name in names}
    scores = pd.DataFrame({name: numbers.said(column) for name, (column, _) in read.items()})
    judged = scores.notna().to_numpy()
    nobody = ~judged.any(axis=1)
    receipt.blank_cells += int((~judged[~nobody]).sum())
    rows, columns = judged.nonzero()
    made = {_SCORE: scores.to_numpy(object)[rows, columns], _PART: titles[columns]}
    long = (
        cells.drop(columns=names).iloc[rows].assign(**{name: pd.array(own, dtype="str") for name, own in made.items()})
    )
    reason = f"has no score of any {_OF_ROLE[found.role]}"
    rejected = [Rejection(int(line), "score", "", reason) for line in cells.index[nobody]]
    return long, {name: ends for name, (_, ends) in read.items()}, rejected


def _by_columns(
    result: Judgements,
    cells: pd.DataFrame,
    lines: pd.Index,
    names: dict[str, str],
    found: Layout,
    nobody: list[Rejection],
    options: Options,
) -> Judgements:
    """Say of judgements on which line each stands, and of rejected ones under which heading."""
    heading = {title: name for name, title in found.columns.items()}
    people = [*found.columns] if found.role == "annotator" else []
    for row in result.rejected:
        if row.column == _SCORE:
            name = heading[cells[_PART].iloc[row.line]]
            row.column = options.pseudonyms.one(name) if people else name
        row.line = int(lines[row.line])
    result.ratings = result.ratings.set_axis(lines[result.ratings.index])
    result.rejected = sorted([*nobody, *result.rejected], key=lambda row: row.line)
    result.names, result.people, result.role, result.parts = names, people, found.role, found.columns
    return result


# The scores of a table as a whole: the scale that they have, and which way is better


@dataclass
class _Scoring:
    """Find the scale of scores, or of each criterion, and for which lower is better.

    ends: of the words of each column of scores. told: the scale of the format; sure: that is said. weak: the scale is a
    guess from few scores.
    """

    table: Table
    cells: pd.DataFrame
    names: dict[str, str]
    options: Options
    receipt: Receipt
    ends: dict[str, Ends | None]
    told: Ends | None
    sure: bool
    found: Layout | None
    lines: pd.Index
    scale: Ends | dict[str, Ends | None] | None = None
    lower: bool | set[str] = False
    weak: bool = False

    def __post_init__(self) -> None:
        score, found = self.cells[self.names["score"]], self.found
        self.values = numbers.read(score, self.options.decimal, typed=self.table.typed)[0].copy()
        self.values[[*checks(self.cells, self.names, self.options.item_types, origin=self.table.name)]] = np.nan
        heading = _together([*found.columns]) if found else self.names["score"]
        criterion = self.cells[self.names["criterion"]] if "criterion" in self.names else None
        of_words = next(filter(None, self.ends.values()), None)
        if criterion is None or not criterion.notna().any():
            self.lower, why = self._oriented(heading, self.values)
            self.scale, self.weak = self._scale(heading, self.values, of_words, lower=self.lower)
            self._tell([why])
            return
        headings = {title: name for name, title in found.columns.items()} if found else {}
        parts = {
            name: np.where(criterion.eq(name), self.values, np.nan) for name in map(str, criterion.dropna().unique())
        }
        if headings:  # in the order of the columns
            parts = {name: parts.get(name, self.values[:0]) for name in headings}
        sides = {name: self._oriented(headings.get(name, name), own) for name, own in parts.items()}
        low = {name for name, (lower, _) in sides.items() if lower}
        self._tell([scales.of_criterion(name, why) for name, (_, why) in sides.items()])
        self.lower = low if len(low) < len(parts) or headings else True
        if headings:
            self._scales(parts, headings, low)
            return
        self.scale, self.weak = self._scale(heading, self.values, of_words, lower=self.lower is True)
        if 0 < len(low) < len(parts) and not self.options.scale:
            self.scale, self.receipt.scale_from = None, "none, because low is good for some criteria only"

    def _tell(self, reasons: list[str]) -> None:
        before = [self.receipt.orientation] if self.receipt.orientation and not self.found else []
        self.receipt.orientation = scales.joined([*before, *reasons])

    def _scales(self, parts: dict[str, np.ndarray], headings: dict[str, str], low: set[str]) -> None:
        """Find the scale of each criterion that has a column; those that differ little are made one."""
        each, sources, weak = {}, {}, []
        for name, own in parts.items():
            each[name], few = self._scale(headings[name], own, self.ends[headings[name]], lower=name in low)
            sources[name] = self.receipt.scale_from
            weak.append(few)
        known = [scale for scale in each.values() if scale]
        shared = scales.holding(known) if len(known) == len(each) and not low else None
        if shared and shared[1] - shared[0] <= _WIDEST:
            each = dict.fromkeys(each, shared)
        self.scale, self.weak = each, all(weak)
        if len({*each.values()}) == 1 and len(low) in (0, len(each)):
            guessed = all(source.startswith(scales.GUESSED) for source in sources.values())
            said = [scales.proposed(self.values)[1]] if guessed else [*sources.values()]
            self.receipt.scale_from = "; ".join(dict.fromkeys(said))
            return
        ends = {name: "{:g} to {:g}, ".format(*scale) if scale else "" for name, scale in each.items()}
        self.receipt.scale_from = "criteria differ: " + "; ".join(
            f"{name}: {ends[name]}{sources[name]}" for name in each
        )

    def _groups(self) -> pd.Series | None:
        """Number what one annotator judged together: the systems' translations of a segment."""
        if self.found and self.found.role == "system":
            return pd.Series(self.lines, index=self.cells.index)  # a row of the file
        if "segment" not in self.names or "system" not in self.names:
            return None
        keys = [self.names[ours] for ours in _TOGETHER if ours in self.names]
        return self.cells.groupby(keys, dropna=False, sort=False).ngroup()

    def _oriented(self, heading: str, values: np.ndarray) -> tuple[bool, str]:
        low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0, 0)
        groups = self._groups() if low == 1 and high <= _MOST_RANKS else None
        if groups is not None:
            keep = np.isfinite(values)
            values, groups = values[keep], groups[keep]
        systems = self.cells[self.names["system"]].nunique() if "system" in self.names else 0
        german = any(bare(name) in listed("german") for name in self.table.header)
        told, origin = self.options.lower_is_better, self.table.name
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
