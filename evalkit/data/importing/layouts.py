"""Know layouts whose headings tell too little: none at all, forms with a column a question, places on a screen.

Google Forms and Qualtrics export a row a respondent; some tables name several systems a row, each at a place with its
own scores (sys1, quality1, sys2, …). Both become a row a judgement.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile

import pandas as pd

from evalkit import DataError
from evalkit.data import mturk
from evalkit.data.importing import numbers
from evalkit.data.importing.comparisons import STEMS
from evalkit.data.importing.comparisons import columns as compared_columns
from evalkit.data.importing.options import Options
from evalkit.data.importing.tables import Row, Table
from evalkit.data.importing.vocabulary import bare, is_criterion, listed, meaning, words

# Rows without headings, or under headings that are cut otherwise

START = ["username", "system", "itemId", "itemType", "srcLang", "trgLang", "score"]
DOC, END, BATCH = ["docId", "isDocScore"], ["timeStart", "timeEnd"], ["batchNo", "itemRow"]
#: The columns of Appraise's exports without a header: segments alone, segments of documents, error spans, two systems
#: at a time (two rows a screen); with ``--batch-info`` Appraise adds the last ones.
APPRAISE = [
    [*START, *shown, *END, *batch]
    for shown in ([], DOC, [*DOC, "spans"], ["errors", "sourceErrors"])
    for batch in ([], BATCH, [*BATCH, "target"])
]
#: What a cell of a column reads like; of the others, anything.
_CELLS = {
    "itemType": "(?i:tgt|bad|ref|chk)",
    **dict.fromkeys(("srcLang", "trgLang"), r"[A-Za-z]{2,3}([-_]\w+)?"),
    **dict.fromkeys(("score", *END), r"-?\d+([.,]\d+)?([eE][+-]?\d+)?"),
    **dict.fromkeys((*BATCH, "target"), r"\d+"),
    "isDocScore": "True|False",
    "spans": r"\[[^\0]*",
}
_ANY = r"[^\0]*"
#: How a row of each layout reads, with zeros between its cells.
_ROWS = [(re.compile("\0".join(f"({_CELLS.get(name, _ANY)})" for name in names)), names) for names in APPRAISE]
_MOSTLY = 0.8  # of the first rows that must have one layout


def without_headings(rows: list[Row]) -> tuple[list[str], int] | None:
    """Return the names of columns that rows have without headings, or under ones cut by spaces; and the line before.

    None for other rows.
    """
    line, cells = rows[0]
    if " ".join(cells).split() == mturk.COLUMNS:
        return mturk.COLUMNS, line
    known = [_appraise(own) for _, own in rows]
    if known[0] and known.count(known[0]) >= _MOSTLY * len(known):
        return known[0], 0
    return None


def _appraise(cells: list[str]) -> list[str] | None:
    """Return the layout of Appraise that a row has, or None."""
    row = "\0".join(map(str.strip, cells))
    return next((names for pattern, names in _ROWS if pattern.fullmatch(row)), None)


def line_of_survey(rows: list[Row]) -> int | None:
    """Return the place of the row in which Qualtrics writes its own identifiers; None where there is none."""
    ids = [any(cell.startswith('{"ImportId"') for cell in cells) for _, cells in rows[:6]]
    places = [place for place, are_ids in enumerate(ids) if are_ids]
    return places[0] if places and places[0] else None


# Forms

_IN_BRACKETS = re.compile(r"(.*?)\s*\[([^\[\]]+)\]")
_LOOPED = re.compile(r"(\d+)_(\w*[^\W\d_]\w*)")  # Qualtrics' loop & merge: the round, then the question
_ASIDE = re.compile(r"_(TEXT|DO)(_|$)|(First|Last) Click$|Page Submit$|Click Count$")
_PERSON = re.compile(r"mail|prolific|participant|annotator|rater|\b(your|full|my) (name|id)\b|\bname\b", re.I)
_RESPONSE = ("ResponseId", "Response ID", "ResponseID")
_TRIAL = {"Survey Preview", "Survey Test", "Spam", "1", "8"}  # Qualtrics' Status of what is no answer
#: A place on a screen, or a name that hides a system: nothing tells which.
_PLACE = re.compile(
    r"((translation|output|version|option|candidate|hypothesis|text|mt|system|statement|übersetzung|variante?|choice)"
    r"[\W_]*)?([a-h]|\d{1,2}|left|right|first|second|third)",
    re.I,
)
_COUNTED = re.compile(r"(sentence|segment|item|source|text|satz|phrase|line|no|nr)?[\W_]*\d+\W*", re.I)
_STEM = 5  # letters that adequate and adequacy, fluent and fluency share
_STEMS = {word[:_STEM] for word in listed("criteria") if len(word) >= _STEM} - {"trans"}  # transfer, not translation
_LONG = 40  # letters of a label that is a sentence rather than a system's name
_UNTOLD = "nothing says what each answer is of. Write it into the headings: 1. Source text: adequacy [System]."


_SAME = "Or pass --wide systems, where each is the same system in every question."
#: What a column of a form is of: a segment, a system ("" where the user names it), and a measure.
_Role = tuple[str, str, str]


def of_form(table: Table, options: Options) -> Table:
    """Return a table with a row for each answer where it is a form's export; else as it is.

    Systems are the rows of a question that is asked again and again, segments are the questions (or the other way
    round, where rows are counted or are sentences). Several questions about each segment become criteria.
    Raises DataError where rows are places on a screen, of which the file does not say which system stood there.
    """
    asked = _google(table) if bare(table.header[0][:_LONG]) in listed("form_stamps") else _qualtrics(table)
    if not asked or {"system", "segment", "score"} & {*options.columns}:
        return table
    roles = _roles(table.name, asked, options)
    shared = [name for name in table.header if name not in asked]
    person, people = _person(shared, options), table.cells[shared]
    notes = [*table.notes]
    if "Status" in shared and (trial := people["Status"].isin(_TRIAL)).any():
        people = people[~trial]
        notes.append(f"{trial.sum():,} responses are previews, tests or spam (Status) and were left out")
    if person is not None:
        lines = [f"respondent on line {line}" for line in people.index]
        people = people.assign(annotator=people[person] if person else lines)
        notes.append(f"people are named by {person!r}" if person else "each response is taken as a person of its own")
    measures = [*dict.fromkeys(measure for _, _, measure in roles.values())]
    cells = _stacked(table.cells, people, roles, ["segment", "system"], measures)
    cells = cells.drop(columns=[ours for ours in ("segment", "system") if ours in options.values])
    segments, systems, _ = map(set, zip(*roles.values()))
    several = f" and {len(systems)} systems ({', '.join(sorted(systems))})" if systems - {""} else ""
    notes.append(f"each respondent's row became a row for each judgement: {len(segments)} segments{several}")
    return replace(table, cells=cells, notes=notes)


def _stacked(
    cells: pd.DataFrame, shared: pd.DataFrame, roles: Mapping[str, tuple[str, ...]], keys: list[str], answers: list[str]
) -> pd.DataFrame:
    """Write a row for each key that columns are of, beside what its row has besides; rows without answers go.

    roles: heading -> its keys, and last the column that it becomes. answers: which of these hold judgements.
    """
    columns = pd.MultiIndex.from_tuples(roles.values(), names=[*keys, None])
    long = cells[[*roles]].set_axis(columns, axis=1).stack(keys, future_stack=True)
    judged = long[answers].apply(numbers.said).notna().any(axis=1)
    return shared.join(long[judged].reset_index(keys), how="inner").astype("str")


def _google(table: Table) -> dict[str, tuple[str, str]]:
    """Take the questions of Google Forms: rows of a grid in brackets."""
    bare_of = {name: re.sub(r" \(column \d+\)$", "", name) for name in table.header}  # headings that stand twice
    grids = {name: _IN_BRACKETS.fullmatch(" ".join(heading.split())) for name, heading in bare_of.items()}
    return _in_grids({name: (one[1], one[2]) for name, one in grids.items() if one and one[1]})


def _qualtrics(table: Table) -> dict[str, tuple[str, str]]:
    """Take the questions of Qualtrics, whose texts stand below short names; none where it is no such export."""
    place = line_of_survey(table.first) if table.first else None
    if place is None:
        return {}
    texts = [" ".join(cell.split()) for cell in table.first[place - 1][1]]
    asked = {}
    for name, text in zip(table.header, texts):
        if _ASIDE.search(name) or _ASIDE.search(text):
            continue
        if looped := _LOOPED.fullmatch(name):
            asked[name] = (looped[1], text)
        elif " - " in text:
            question, _, row = text.rpartition(" - ")
            asked[name] = (question, row)
    grids = _in_grids(asked)
    return grids if len(grids) > 1 else {}


def _in_grids(asked: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Leave out what no other question asks: Comments [optional]."""
    questions = Counter(question for question, _ in asked.values())
    rows = Counter(row for _, row in asked.values())
    return {name: (q, row) for name, (q, row) in asked.items() if questions[q] > 1 or rows[row] > 1}


def _roles(origin: str, asked: dict[str, tuple[str, str]], options: Options) -> dict[str, _Role]:
    """Say of each column which segment, system and measure it is of."""
    rows = [*dict.fromkeys(row for _, row in asked.values())]
    if len({*asked.values()}) < len(asked):
        raise DataError(f"{origin} asks one question about one thing twice, and {_UNTOLD}")
    if all(map(is_criterion, rows)):
        if "system" not in options.values:
            raise DataError(f"{origin} asks for {', '.join(rows)}, and {_UNTOLD} Or pass --value system=NAME.")
        return {name: (question, "", row) for name, (question, row) in asked.items()}
    measured = _measured(origin, [*dict.fromkeys(question for question, _ in asked.values())])
    segments = [*dict.fromkeys(segment for segment, _ in measured.values())]
    turned = all(_COUNTED.fullmatch(row) or len(row) > _LONG for row in rows) and not all(map(_PLACE.fullmatch, rows))
    turned = turned and len(segments) > 1
    labels = segments if turned else rows
    systems = _bare(labels)
    places = [system for system in systems.values() if _PLACE.fullmatch(system)]
    if places and options.wide != "systems":
        raise DataError(f"{origin}: {', '.join(places[:8])} may be places on a screen, and {_UNTOLD} {_SAME}")
    systems = dict(zip(labels, labels)) if places else systems
    roles = {name: (*measured[question], row) for name, (question, row) in asked.items()}
    return {
        name: (row, systems[segment], measure) if turned else (segment, systems[row], measure)
        for name, (segment, measure, row) in roles.items()
    }


def _measured(origin: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """Tell what questions are about from what they ask: the segment and the measure of each.

    Several measures are told by words of criteria, such as adequate and fluent; what else the questions say must tell
    the segments then. Raises DataError where it does not.
    """
    named = {question: tuple(w for w in words(question) if w[:_STEM] in _STEMS) for question in questions}
    criteria, rest = {*named.values()}, {question: _without(question, own) for question, own in named.items()}
    if () in criteria or len(criteria) == 1:
        if not _asks_several(questions):
            return {question: (question, "score") for question in questions}
    elif len({*zip(rest.values(), named.values())}) == len(questions) == len(criteria) * len({*rest.values()}):
        return {question: (rest[question], " ".join(own)) for question, own in named.items()}
    raise DataError(f"{origin} asks several things about each segment, and {_UNTOLD}")


def _without(question: str, own: tuple[str, ...]) -> str:
    """Leave the words of criteria out of a question."""
    return " ".join(re.sub(rf"\b({'|'.join(map(re.escape, own))})\b", " ", question, flags=re.I).split()).strip(" :-")


def _asks_several(questions: list[str]) -> bool:
    """Tell whether questions ask in several ways, whose first or last words come equally often in all."""
    plainly = [re.sub(r"^\W*\d+\w?\W+", "", question).split() for question in questions]
    counts = [Counter(" ".join(own[end]) for own in plainly) for end in (slice(-3, None), slice(None, 3))]
    return any(1 < len(ways) < len(questions) and len({*ways.values()}) == 1 for ways in counts)


def _bare(labels: list[str]) -> dict[str, str]:
    """Take away the words that all labels begin or end with: what is left names each."""
    cut = [label.split() for label in labels]
    for _ in range(2 if len(labels) > 1 else 0):  # from both sides
        same = len([*takewhile(lambda alike: len({*alike}) == 1, zip(*cut))])
        cut = [own[same:][::-1] for own in cut]
    rest = [" ".join(own).strip("()[]:'\"") for own in cut]
    return dict(zip(labels, rest if all(rest) else labels))


def _person(shared: list[str], options: Options) -> str | None:
    """Choose the column that says who answered; "" where none does, None where the user or a heading tells."""
    if "annotator" in {*options.columns, *options.values, *map(meaning, shared)}:
        return None
    named = [name for name in shared if _PERSON.search(name)]
    return named[0] if len(named) == 1 else next((name for name in _RESPONSE if name in shared), "")


# Places on a screen

_SPOT = re.compile(r"\d{1,2}|[a-h]|left|right|first|second")
_SYSTEM = re.compile(rf"({STEMS})(name|id|tag|label|system|model)?|name")
_FEW = 20  # names of systems that may all differ; texts are more


def of_places(table: Table, options: Options) -> Table:
    """Return a table with a row for each system where its rows hold several; else as it is.

    The score at a place is of the system that the same row names there: places are no systems.
    """
    found, places = compared_columns(table, options), _places(table.header)
    own = {name for columns in places.values() for name in columns.values()}
    asked = {found.names.get("preference"), found.names.get("score")} - {None, *own}
    named = {"system"} & {*map(meaning, table.header), *options.columns, *options.values}
    if not places or asked or named or found.on_screen or "score" in options.columns:
        return table
    names = _measures(table, places)
    shared = [name for name in table.header if name not in own]
    titles = [*shared, *names.values()]
    if not names or len({*titles}) < len(titles):
        return table
    roles = {name: (spot, title) for base, title in names.items() for spot, name in places[base].items()}
    measured = [title for title in names.values() if title != "system"]
    cells = _stacked(table.cells, table.cells[shared], roles, ["place"], measured).drop(columns="place")
    systems = [name for name, (_, title) in roles.items() if title == "system"]
    note = f"each row holds {len(systems)} systems, named in {', '.join(systems)}; a score is of the one at its place"
    return replace(table, cells=cells, notes=[*table.notes, note])


def _places(header: list[str]) -> dict[str, dict[str, str]]:
    """Map what headings say beside a place to its columns, by the places, which are the same for all."""
    columns: dict[str, dict[str, str]] = {}
    for name in header:
        cut = re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])", " ", name)
        parts = [part.casefold() for part in re.findall(r"[^\W_]+", cut)]
        spots = [part for part in parts if _SPOT.fullmatch(part)]
        if len(spots) == 1 and len(parts) > 1:
            columns.setdefault(" ".join(part for part in parts if part not in spots), {})[spots[0]] = name
    every = max((own.keys() for base, own in columns.items() if _names_systems(base)), key=len, default=())
    return {base: own for base, own in columns.items() if own.keys() == every} if len(every) > 1 else {}


def _names_systems(base: str) -> bool:
    return bool(_SYSTEM.fullmatch(base.replace(" ", "")))


def _measures(table: Table, places: dict[str, dict[str, str]]) -> dict[str, str]:
    """Name the columns of each place: what names the systems, and the scores; none where either is not there."""
    cells = {base: pd.concat([table.judged(name) for name in own.values()]) for base, own in places.items()}
    scored = [base for base, own in cells.items() if numbers.is_numeric(own.tolist())]
    few = max(_FEW, len(table.cells) / 2)
    named = [base for base in places if _names_systems(base) and base not in scored and cells[base].nunique() <= few]
    measures = [base for base in scored if meaning(base) == "score" or not _names_systems(base)]
    measures = [base for base in measures if not {"id", "rank"} & {*base.split()}]
    if not named or not measures:
        return {}
    system = min(named, key=lambda base: cells[base].nunique())
    titles = {base: "_".join(word for word in base.split() if word not in system.split()) or base for base in measures}
    if len(measures) == 1 and meaning(titles[measures[0]]) == "score":
        titles = {measures[0]: "score"}
    return {system: "system", **titles}
