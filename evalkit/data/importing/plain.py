"""Read tables of judgements: a score a row, or columns of scores of systems, annotators or criteria; CSV and XSTS."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.importing import metrics, numbers, scales, vocabulary
from evalkit.data.importing.comparisons import demand_one
from evalkit.data.importing.judgements import Rows, checks, is_check_heading
from evalkit.data.importing.options import ALIAS, WIDE, Options
from evalkit.data.importing.scales import Ends, Part
from evalkit.data.importing.tables import Judgements, Table, mapped_cells, text_digest
from evalkit.data.importing.vocabulary import bare, is_criterion, is_quality, listed, meaning, words
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
_IN_BRACKETS = re.compile(r"\s*(\([^()]*\)|\[[^][]*\])\s*")
_ON_SCALE = re.compile(r"[1-4]([.,]0+|[.,]50*)?|5([.,]0+)?")
_SOME, _MOST, _LARGEST = 0.2, 0.8, 1e5  # shares of cells that are numbers: with more than most, it may be scores
_NARROW, _ALIKE = 4, 5  # times that a scale is narrower than the others'; numbers that may be alike by chance
_STEPS, _WORD = 11, re.compile(r"[^\W\d_][^\W_]*(?:[ '’-][^\W_]+){0,5}")  # of a scale in words
_SPARE = ("src_lang", "tgt_lang", "pair", "doc", "hit")  # columns that may be there and empty, as in a template
_SHOWN = 20  # columns that are named
_TOGETHER = ("annotator", "doc", "segment", "src_lang", "tgt_lang", "pair", "criterion")


# Which columns hold scores, and what several of them are


@dataclass
class Scores:
    """The columns of a table that hold scores: heading -> what it names.

    role: what several of them are: system, annotator or criterion; "" of a single column. question: what is unclear,
    where nothing says what several columns are.
    """

    role: str = ""
    columns: dict[str, str] = field(default_factory=dict)
    question: str = ""


def known(table: Table, options: Options) -> set[str | None]:
    """Name what a file's headings and the user give, without what the user says that no column gives."""
    unwanted = {ours for ours, theirs in options.columns.items() if not theirs}
    return ({*map(meaning, _free(table, options))} | {*options.columns, *options.values}) - unwanted


def _free(table: Table, options: Options, apart: Iterable[str] = ()) -> list[str]:
    """List the headings but some, and those of metrics."""
    taken = {column for _, column, _ in metrics.asked(options.metric_columns, table.header)} | {*apart}
    return [name for name in table.header if name not in taken]


def layout(table: Table, options: Options) -> Scores:
    """Say which columns hold scores and what they are; none where a heading or the user names the one that does.

    Raises DataError where the user names columns that are not there, or says what none can be.
    """
    told, have = options.columns.get("score"), known(table, options)
    if isinstance(told, list):
        wanted = {f"score{place}": name for place, name in enumerate(told)}
        vocabulary.demand_present(table.header, wanted, origin=table.name)
        return _named(WIDE[options.wide] if options.wide else _by_others(told, have) or "annotator", told)
    if told or ("score" in have and not options.wide):
        return Scores()
    numeric = candidates(table, options)
    found = _as_told(table, options, numeric, have) if options.wide else _decided(table, options, numeric, have)
    if found.role in ("system", "annotator"):
        _demand_neighbours(table, [*found.columns], options)
    return found


def _as_told(table: Table, options: Options, numeric: list[str], have: set[str | None]) -> Scores:
    """Take the columns of scores for what the user says they are."""
    role = WIDE[str(options.wide)]
    if role == "criterion":  # a flag is no criterion, unless its heading names one
        numeric = [name for name in _free(table, options) if name in numeric or meaning(name) == "score"]
        marks = {name: {*numbers.read(table.judged(name))[0]} for name in numeric if not is_criterion(name)}
        numeric = [name for name in numeric if not marks.get(name) or not marks[name] <= {0.0, 1.0}] or numeric
    if len(numeric) < 2 and {role, "score"} <= have:
        return Scores()  # a form's questions were laid out as rows already
    if len(numeric) < 2:
        raise DataError(f"{table.name} has no two columns of scores. Pass --map score=A+B --wide {options.wide}.")
    return _named(role, numeric)


def _decided(table: Table, options: Options, numeric: list[str], have: set[str | None]) -> Scores:
    """Decide what columns of scores are by their headings, and by the other columns."""
    named = [name for name in numeric if _is_pure(name)]
    others = [name for name in numeric if name not in named]
    people = _people(table, options, others)
    whole = {"annotator", "system"} <= have
    if len(named) > 1 and (whole or not others):
        return _named("criterion", named)
    if len(named) == 1:
        return Scores("", {named[0]: ""})
    if len(people) > 1 and "annotator" not in have and not named:
        return _named("annotator", people)
    mixed = not whole and (named or any(map(_touches_criterion, others)))
    if len(others) > 1 and not mixed and _are_alike(table, others) and (role := _by_others(others, have)):
        return _named(role, others)
    judged = [] if named else [name for name in others if is_quality(name)]
    if len(judged) == 1 or len(numeric) < 2:
        return Scores("", dict.fromkeys(judged, ""))
    return Scores(question=f"{', '.join(numeric[:_SHOWN])} hold numbers, and nothing says what they are")


def _people(table: Table, options: Options, numeric: list[str]) -> list[str]:
    """List the columns that hold the scores of one evaluator each, by their headings.

    Where one of them holds scores from 1 to 5, another that starts badly or late is one, too; and score 1, score 2 are.
    """
    for pattern, least in ((_OF_PERSON, 0.5), (_NUMBERED, _MOST)):
        alike = [name for name in _unknown(table, options) if pattern.fullmatch(name)]
        shares = {name: _on_scale(table, name) for name in alike}
        if any(share > least for share in shares.values()):
            return [name for name, share in shares.items() if share > 0 or table.judged(name).empty]
    return [name for name in numeric if _OF_PERSON.fullmatch(name)]


def _on_scale(table: Table, name: str) -> float:
    """Compute which part of a column's cells are scores from 1 to 5."""
    cells = table.judged(name)
    return float(cells.str.fullmatch(_ON_SCALE).mean()) if len(cells) else 0.0


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


def _are_alike(table: Table, names: list[str]) -> bool:
    """Tell whether columns hold numbers of one kind: on scales of about one width, none of them all the same."""
    values = [_values(table.judged(name)) for name in names]
    widths = {high - low for low, high in (scales.proposed(own)[0] or (0.0, 0.0) for own in values)}
    flat = any(len(own) > _ALIKE and len({*own}) == 1 for own in values)
    return not flat and (len(widths) == 1 or max(widths) < _NARROW * min(widths))


def _named(role: str, names: list[str]) -> Scores:
    """Name what columns are: by their headings, without the word score where all have it."""
    if role == "annotator":
        return Scores(role, {name: name for name in names})
    called = [_AFFIX.sub("", name, count=1).strip() for name in names]
    if not (all(map(_AFFIX.search, names)) and len(set(called)) == len(names) and all(called)):
        called = names
    if role == "criterion":
        short = [_IN_BRACKETS.sub(" ", name).strip() or name for name in called]
        called = short if len(set(short)) == len(names) else names
    return Scores(role, dict(zip(names, called)))


def _demand_neighbours(table: Table, names: list[str], options: Options) -> None:
    """Raise DataError where a column that looks like those of scores cannot be used: a system or a person would go."""
    people = all(map(_OF_PERSON.fullmatch, names))
    first, last = (table.header.index(name) for name in (names[0], names[-1]))
    for name in _unknown(table, options):
        place, cells = table.header.index(name), table.judged(name)
        if place < first or name in names or len(cells) < _ALIKE or (people and not _OF_PERSON.fullmatch(name)):
            continue
        if name in vocabulary.EXTRAS or is_check_heading(name) or vocabulary.is_metric(name) or _is_no_score(name):
            continue
        values = numbers.read(cells)[0]
        share, odd = np.isfinite(values).mean(), cells[np.isnan(values)]
        counted = share > _MOST and place < last and bool((np.abs(values) < _LARGEST).all())
        if counted or _SOME <= share <= _MOST:
            why = "its numbers count up" if counted else f"{odd.iloc[0][:40]!r} on line {odd.index[0]} is no score"
            raise DataError(
                f"{table.name}: the column {name!r} looks like those of scores ({', '.join(names[:3])}), but {why}. "
                "Correct it (NA is no judgement), or name all columns of scores: --map 'score=HEADING+HEADING'."
            )


def _unknown(table: Table, options: Options) -> list[str]:
    """List the headings that nothing says the meaning of."""
    return [name for name in _free(table, options, options.single.values()) if meaning(name) is None]


def candidates(table: Table, options: Options) -> list[str]:
    """List the columns of unknown meaning that hold scores, or may do so."""
    free = _unknown(table, options)
    table.scores |= {name: _may_be_scores(name, table.judged(name)) for name in free if name not in table.scores}
    found = [name for name in free if table.scores[name]]
    # a metric is people's only where nothing else is
    return [name for name in found if not vocabulary.is_metric(name)] or found


def _is_no_score(heading: str) -> bool:
    return bool({*words(heading)} & listed("not_scores"))


def _may_be_scores(name: str, cells: pd.Series) -> bool:
    """Tell whether a column holds scores: numbers or words of a scale, and no ids, times or lengths."""
    quality, no_score = is_quality(name), _is_no_score(name) or is_check_heading(name)
    if (name in vocabulary.EXTRAS and not vocabulary.tendency(name)) or (no_score and not quality):
        return False
    if cells.empty:
        return is_criterion(name) or bool(_OF_PERSON.fullmatch(name))
    if cells.str.startswith(("[", "{")).mean() > _MOST:  # lists of marked errors
        return False
    if quality and not (is_criterion(name) and no_score):
        return True
    values = _values(cells)
    scores = values[np.isfinite(values)]
    if scores.size <= _MOST * values.size:
        return False
    steps = np.diff(scores)
    counted = scores.size > 3 and steps[0] != 0 and bool((steps == steps[0]).all())  # 1, 2, 3 …
    return not counted and bool((np.abs(scores) < _LARGEST).all())


def _values(texts: pd.Series) -> np.ndarray:
    """Return the numbers that cells are, or that their words may be; NaN where they are neither."""
    try:
        return numbers.read(scales.in_numbers(texts, {}, lambda line: None, heading="")[0])[0]
    except DataError:  # words of a scale, which the user must say, or any other text
        steps = texts.str.strip().unique()
        in_words = len(steps) <= _STEPS and all(map(_WORD.fullmatch, steps))
        return np.full(len(texts), 1.0 if in_words else np.nan)


def lacks_csv(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Say what a table lacks to have a judgement a row, or columns of scores; and why it is one."""
    have, found, why = known(table, options), layout(table, options), "by its headings"
    if found.role:
        why += f", with {len(found.columns)} columns of scores, one per {found.role}"
    if found.columns:
        have |= {"score", found.role}
    wanted = ["system", "segment", "annotator", "score"]
    missing = [name for name in wanted if name not in have and not (name == "segment" and "source" in have)]
    return (missing if len(missing) < len(wanted) else None), why


def lacks_xsts(table: Table, options: Options) -> tuple[list[str] | None, str]:
    """Tell whether a table holds scores from 1 to 5, in one column or one for each evaluator: then it lacks nothing."""
    have, found = known(table, options), layout(table, options)
    told = options.single.get("score")
    named = [name for name in table.header if (name == told if told else meaning(name) == "score")]
    if not have & {"segment", "source", "hypothesis"}:
        return None, ""
    if found.role == "annotator" and any(_on_scale(table, name) > 0.5 for name in found.columns):
        return [], f"by its {len(found.columns)} columns of scores from 1 to 5, one per annotator"
    if found.role or len(named) != 1 or "annotator" not in have:
        return None, ""
    if stated := vocabulary.scale_in(named[0]):
        return [] if stated == XSTS_SCALE else None, f"by its heading {named[0]}"
    if "xsts" in bare(named[0]):
        return [], "by a column called XSTS"
    cells = table.samples(named[0])
    why = "by its headings, and by scores that are 1 to 5 only"
    return [] if len(cells) >= 5 and all(map(_ON_SCALE.fullmatch, cells)) else None, why


# Judgements


def convert_csv(rows: Rows, *, xsts: bool = False) -> Judgements:
    """Read a row per judgement, or columns of scores, under our names, synonyms of them, or names that are told.

    xsts: the scores are XSTS's; what they lack is plain: segments that nothing names are the lines, the system is mt.
    """
    table, options, receipt = rows.table, rows.options, rows.receipt
    found = layout(table, options)
    more = [name for name in candidates(table, options) if is_quality(name) and name not in found.columns]
    if more and not found.role and not xsts:
        rows.note(f"{', '.join(more)} may hold judgements, too: --wide criteria reads all of them")
    demand_one(table, options)
    _name(rows, found, xsts=xsts)
    ends = _in_numbers(rows, [*found.columns] if found.role else [rows.names["score"]])
    if found.role:
        _melt(rows, found)
    parts = _parts(rows, found, ends)
    keys = [rows.names[ours] for ours in _TOGETHER if ours in rows.names]
    keys = keys if {"segment", "system"} <= {*rows.names} else []
    together = pd.DataFrame({"row": rows.lines}) if found.role == "system" else rows.cells[keys]
    if "system" in rows.names:
        together = together.assign(system=rows.column("system").to_numpy())
    usual = XSTS_SCALE if xsts else None
    sure = xsts and (receipt.how == "as told" or "xsts" in bare(rows.names["score"]))
    before = [receipt.orientation] if receipt.orientation and not found.role else []
    receipt.scale_from = scales.settle(parts, table, options, together, usual=usual, sure=sure)
    receipt.orientation = "; ".join(dict.fromkeys([*before, *(part.why for part in parts.values())]))
    low = [name for name, part in parts.items() if part.lower]
    result = rows.judgements(scale={name: part.scale for name, part in parts.items()}, lower=low)
    result.weak = all(part.weak for part in parts.values())
    if found.role:  # say of rejected judgements under which heading they stand
        result.role, result.parts = found.role, found.columns
        heading = rows.column(found.role).map({title: name for name, title in found.columns.items()})
        for row in rows.gone.values():
            if row.column == rows.names["score"]:
                row.column = heading[row.line]
                if found.role == "annotator":
                    row.column = options.pseudonyms.one(row.column)
    return result


def _name(rows: Rows, found: Scores, *, xsts: bool) -> None:
    """Map our names to headings; give plain values for what a table lacks, and tell that; and name segments."""
    table, options = rows.table, rows.options
    if found.role and found.role in known(table, options):
        those = next(name for name, role in WIDE.items() if role == found.role)
        raise DataError(f"{table.name}: {those} have a column of scores each, so {found.role} cannot be mapped, too.")
    own, made = (found.columns, {"score", found.role}) if found.role else ({}, set[str]())
    header, one = _free(table, options, own), {} if found.role else dict(zip(["score"], found.columns))
    given = {*options.values, *made}
    rows.names, notes = vocabulary.mapped(header, one | options.single, origin=table.name, given=given)
    _leave_out(rows)
    for ours, value in {"doc": "all", **({"system": "mt"} if xsts else {})}.items():
        if ours not in rows.known | made:
            rows.values[ours] = value
            ways = f"all rows were given {value!r} (--value {ours}=… gives another)"
            rows.note(f"no column names {'documents' if ours == 'doc' else f'the {ours}'}; {ways}")
    if "segment" not in rows.known and (xsts or "source" in rows.names):
        _name_segments(rows)
    rows.complete(header, made=made)
    if not xsts and "item_type" not in rows.known:
        rows.note("no column tells kinds of items; all were taken as outputs of systems (item_type system)")
    for note in notes:
        rows.note(note)


def _leave_out(rows: Rows) -> None:
    """Leave out columns that are empty, as in a template, and one called type whose values are no kinds of items."""
    names, told = rows.names, rows.options.columns
    for ours in [ours for ours in _SPARE if ours in names and ours not in told]:
        if len(rows.cells) and rows.column(ours).isna().all():
            rows.note(f"the column {names.pop(ours)} is empty")
    if "item_type" not in names or "item_type" in told or bare(names["item_type"]) == bare("item_type"):
        return
    kinds = {*vocabulary.ITEM_TYPES, *listed("usual_kinds"), *(kind.casefold() for kind in rows.options.item_types)}
    held = {plain(cell).casefold() for cell in rows.column("item_type").dropna().unique()}
    if not held <= kinds and not {*map(bare, held)} & (listed("check_kinds") | listed("practice_kinds")):
        name = names.pop("item_type")
        rows.note(f"{name} holds other words than kinds of items, and was not used; pass --map item_type={name!r}")


def _name_segments(rows: Rows) -> None:
    """Name segments by their source texts or, where there are none, by their lines."""
    how = "their source texts (eight digits of a hash)" if "source" in rows.names else "their lines in the file"
    rows.note(f"no column names segments; they were named by {how}")
    lines = pd.Series(rows.lines.astype("str"), rows.cells.index, dtype="str")
    rows.give(segment=mapped_cells(rows.column("source"), text_digest).fillna(lines))


# Columns of scores


def _in_numbers(rows: Rows, names: list[str]) -> dict[str, Ends | None]:
    """Put numbers in place of words of scales; return the ends of these scales by heading."""
    read = {
        name: scales.in_numbers(rows.cells[name], rows.options.words, rows.note, heading=f"{rows.table.name}, {name}")
        for name in names
    }
    rows.cells = rows.cells.assign(**{name: column for name, (column, _) in read.items()})
    return {name: ends for name, (_, ends) in read.items()}


def _melt(rows: Rows, found: Scores) -> None:
    """Write columns of scores as a row a score, and set apart rows without any."""
    names, titles = [*found.columns], np.array([*found.columns.values()], dtype=object)
    shown = f" ({', '.join(names[:_SHOWN])}{' …' if len(names) > _SHOWN else ''})" if found.role != "annotator" else ""
    rows.receipt.mapping["score"] = f"{len(names)} columns, one per {found.role}{shown}"
    scores = rows.cells[names].apply(numbers.said)
    judged = scores.notna().to_numpy()
    nobody = ~judged.any(axis=1)
    rows.receipt.blank_cells += int((~judged[~nobody]).sum())
    judged[nobody, 0] = True  # such a row stays one, to be told of
    row, column = judged.nonzero()
    rows.take(rows.cells.drop(columns=names).iloc[row].set_axis(rows.lines[row]))
    made = {"score": scores.to_numpy(object)[row, column], found.role: titles[column]}
    rows.give(**{ours: pd.array(own, dtype="str") for ours, own in made.items()})
    rows.reject(np.flatnonzero(nobody[row]), "score", f"has no score of any {found.role}")


def _parts(rows: Rows, found: Scores, ends: dict[str, Ends | None]) -> dict[str, Part]:
    """Tell the scores of criteria apart, without those of attention checks; "" where the table has none."""
    values = numbers.read(rows.column("score"), rows.options.decimal, typed=rows.table.typed)[0].copy()
    for *_, marked in checks(rows.cells, rows.names, rows.options.item_types, origin=rows.table.name):
        values[marked] = np.nan
    criterion, of_words = rows.column("criterion"), next(filter(None, ends.values()), None)
    if not criterion.notna().any():
        heading = _together([*found.columns]) if found.role else rows.names["score"]
        return {"": Part(heading, values, of_words)}
    headings = {str(name): str(name) for name in criterion.dropna().unique()}
    if found.role == "criterion":  # in the order of the columns
        headings = {title: name for name, title in found.columns.items()}
    return {
        name: Part(heading, np.where(criterion.eq(name), values, np.nan), ends.get(heading, of_words))
        for name, heading in headings.items()
    }


def _together(names: list[str]) -> str:
    """Name several columns: by the words that all of them have, or by themselves."""
    shared = [word for word in words(names[0]) if all(word in words(name) for name in names)]
    stated = {vocabulary.scale_in(name) for name in names}
    ends = stated.pop() if len(stated) == 1 else None
    title = " ".join(shared) or ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
    return title + (f" ({ends[0]:g}-{ends[1]:g})" if ends else "")
