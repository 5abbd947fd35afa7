"""Lay out what Google Forms and Qualtrics export, a row a respondent and a column a question, as a row a judgement."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from evalkit import DataError
from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import MOST_COLUMNS, Rows, Source, headings
from evalkit.data.importing.kinds.layouts import CRITERIA, is_criterion
from evalkit.data.importing.options import Options

#: The first heading of an export of Google Forms, in the languages that it writes it in.
_STAMPS = columns.vocabulary(
    "timestamp zeitstempel horodateur marcatemporal carimbodedatahora informazionicronologiche tijdstempel "
    "sygnaturaczasowa časovéraziítko časovérazítko отметкавремени タイムスタンプ 时间戳记 타임스탬프"
)
_IN_BRACKETS = re.compile(r"(.*?)\s*\[([^\[\]]+)\]")
_LOOPED = re.compile(r"(\d+)_(\w*[^\W\d_]\w*)")  # Qualtrics' loop & merge: the round, then the question
_ASIDE = re.compile(r"_(TEXT|DO)(_|$)|(First|Last) Click$|Page Submit$|Click Count$")
_ASKED = {
    "system": columns.vocabulary("system systems model engine"),
    "segment": columns.vocabulary("sentence segment item satz phrase"),
    "doc": columns.vocabulary("document dokument"),
}
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
_STEMS = {word[:_STEM] for word in CRITERIA if len(word) >= _STEM} - {"trans"}  # transfer is one, translation none
_LONG = 40  # letters of a label that is a sentence rather than a system's name


@dataclass(frozen=True)
class _Form:
    """An export: its headings, the line they end on, and of each question in a grid what it asks of which row."""

    header: list[str]
    line: int
    asked: dict[str, tuple[str, str]]
    status: str = ""


def unfolded(source: Source, options: Options) -> Source:
    """Return a source with a row for each answer where it is an export of such a tool; else as it is.

    Systems are the rows of a question that is asked again and again, segments are the questions (or the other way
    round, where rows are counted or are sentences). Several questions about each segment become criteria.
    Raises DataError where rows are places on a screen, of which the file does not say which system stood there.
    """
    form = _google(source) or _qualtrics(source)
    if form and not form.asked:
        return _named(source, form, options)
    if form is None or {"system", "segment", "score"} & {*options.columns}:
        return source
    roles = _roles(source.path.name, form, options)
    measures = [*dict.fromkeys(measure for *_, measure in roles.values())]
    shared = [name for name in form.header if name not in form.asked]
    person = _person(shared, options)
    named = [name for name in ("segment", "system") if name not in options.values]
    titles = [*shared, *(["annotator"] if person is not None else []), *named, *measures]
    if len({*titles}) < len(titles):
        return source
    read = partial(_answers, source=source, form=form, roles=roles, person=person, named=named, measures=measures)
    first = read(titles, form.line).frame.head(len(source.head)).fillna("")
    below = [(int(line), list(row)) for line, row in zip(first.index, first.itertuples(index=False, name=None))]
    systems = {system for _, system, _ in roles.values()} - {""}
    told = f"{len({segment for segment, *_ in roles.values()})} segments" + (
        f" and {len(systems)} systems ({', '.join(sorted(systems))})" if systems else ""
    )
    note = f"a row for each respondent and a column for each question became a row for each judgement: {told}"
    people = "each response is taken as a person of its own" if person == "" else f"people are named by {person!r}"
    notes = [*source.notes, note, *([people] if person is not None else [])]
    return replace(source, head=[(form.line, titles), *below], read=read, notes=notes)


def _google(source: Source) -> _Form | None:
    """Take an export of Google Forms: a time first, and rows of a grid in brackets."""
    for line, cells in source.head[:3]:
        if cells and len(cells) <= MOST_COLUMNS and columns.plain(cells[0][:_LONG]) in _STAMPS:
            header = headings(cells)
            grids = {name: _IN_BRACKETS.fullmatch(" ".join(cell.split())) for name, cell in zip(header, cells)}
            asked = {name: (found[1], found[2]) for name, found in grids.items() if found and found[1]}
            return _Form(header, line, _in_grids(asked))
    return None


def _named(source: Source, form: _Form, options: Options) -> Source:
    """Name the columns of a form that was filled in once a judgement by what its questions ask for."""
    titles, told = [*form.header], []
    known = {*map(columns.meaning, titles), *options.columns, *options.values}
    free = {*titles} - {*options.single.values()}
    for ours, words in _ASKED.items():
        named = [name for name in titles if name in free and words & {*columns.words(name)}]
        if ours not in known and len(named) == 1:
            titles[titles.index(named[0])] = ours
            told.append(f"{named[0]!r} is the {ours}")
    person = [name for name in titles if name in free and _PERSON.search(name)]
    if "annotator" not in known and len(person) == 1:
        titles[titles.index(person[0])] = "annotator"
        told.append(f"{person[0]!r} is the annotator")
    rest = [(line, cells) for line, cells in source.head if line > form.line]
    return replace(source, head=[(form.line, titles), *rest], notes=[*source.notes, *told])


def _qualtrics(source: Source) -> _Form | None:
    """Take an export of Qualtrics: short names, the questions' texts, and a line of its own identifiers."""
    for place, (line, cells) in enumerate(source.head[:6]):
        if place and len(cells) <= MOST_COLUMNS and any(cell.startswith('{"ImportId"') for cell in cells):
            header = headings(source.head[max(place - 2, 0)][1])
            texts = [" ".join(cell.split()) for cell in source.head[place - 1][1]]
            asked = {}
            for name, text in zip(header, texts):
                if _ASIDE.search(name) or _ASIDE.search(text):
                    continue
                if found := _LOOPED.fullmatch(name):
                    asked[name] = (found[1], text)
                elif " - " in text:
                    question, _, row = text.rpartition(" - ")
                    asked[name] = (question, row)
            status = "Status" if "Status" in header else ""
            return _Form(header, line, grids, status) if len(grids := _in_grids(asked)) > 1 else None
    return None


def _in_grids(asked: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Leave out what no other question asks: Comments [optional]."""
    questions = Counter(question for question, _ in asked.values())
    rows = Counter(row for _, row in asked.values())
    return {name: (q, row) for name, (q, row) in asked.items() if questions[q] > 1 or rows[row] > 1}


def _roles(origin: str, form: _Form, options: Options) -> dict[str, tuple[str, str, str]]:
    """Say of each column which segment, system ("" where the user names it) and measure it is of."""
    questions = [*dict.fromkeys(question for question, _ in form.asked.values())]
    rows = [*dict.fromkeys(row for _, row in form.asked.values())]
    if len({*form.asked.values()}) < len(form.asked):
        raise DataError(
            f"{origin} asks one question about one thing twice, and nothing says of which segment or system each is. "
            "Give each question's heading its segment, and each row of it its system: 1. Source text [System]."
        )
    if all(map(is_criterion, rows)):
        if "system" not in options.values:
            raise DataError(
                f"{origin} asks for {', '.join(rows)} in each question, and nothing says which system's translation it "
                "shows. Where all are of one system, pass --value system=NAME."
            )
        return {name: (question, "", row) for name, (question, row) in form.asked.items()}
    measured = _measured(origin, questions)
    segments = [*dict.fromkeys(segment for segment, _ in measured.values())]
    turned = all(_COUNTED.fullmatch(row) or len(row) > _LONG for row in rows) and not all(map(_PLACE.fullmatch, rows))
    if turned and len(segments) > 1:
        systems = _bare(segments)
        roles = {name: (row, systems[measured[q][0]], measured[q][1]) for name, (q, row) in form.asked.items()}
    else:
        systems = _bare(rows)
        roles = {name: (measured[q][0], systems[row], measured[q][1]) for name, (q, row) in form.asked.items()}
    places = [system for system in systems.values() if _PLACE.fullmatch(system)]
    if places and options.wide != "systems":
        raise DataError(
            f"{origin}: {', '.join(places[:8])} may be places on a screen, and nothing says which system stood there. "
            "Where each is the same system in every question, pass --wide systems; else write the system's name into "
            "the heading of each column: 1. Source text [System]."
        )
    return roles


def _measured(origin: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """Tell what questions are about from what they ask: the segment and the measure of each.

    Several measures are told by words of criteria, such as adequate and fluent; what else the questions say, or else
    the number before each, must tell the segments then. Raises DataError where it does not.
    """
    words = {question: [w for w in columns.words(question) if w[:_STEM] in _STEMS] for question in questions}
    if all(words.values()) and len({*map(tuple, words.values())}) > 1:
        rest = {question: _without(question, own) for question, own in words.items()}
        number = {question: (re.match(r"\W*(\d+)", question) or [""])[0] for question in questions}
        ways = len({*map(tuple, words.values())})
        for told in (rest, number):
            pairs = {(told[question], *words[question]) for question in questions}
            if len(pairs) == len(questions) == ways * len({*told.values()}):
                return {question: (told[question], " ".join(own)) for question, own in words.items()}
    elif len({*_ways(questions).values()}) == 1:
        return {question: (question, "score") for question in questions}
    raise DataError(
        f"{origin} asks several things about each segment, and its questions do not say which belong together. Begin "
        "each with the number of its segment and name one criterion in it: 1. Source text: adequacy [System]."
    )


def _without(question: str, own: list[str]) -> str:
    """Leave the words of criteria out of a question."""
    return " ".join(re.sub(rf"\b({'|'.join(map(re.escape, own))})\b", " ", question, flags=re.I).split()).strip(" :-")


def _ways(questions: list[str]) -> dict[str, str]:
    """Say in which way each question asks: by its first or last words, where these come equally often in all."""
    bare = {question: re.sub(r"^\W*\d+\w?\W+", "", question).split() for question in questions}
    for end in (slice(-3, None), slice(None, 3)):
        ways = {question: " ".join(own[end]) for question, own in bare.items()}
        counts = Counter(ways.values())
        if 1 < len(counts) < len(questions) and len({*counts.values()}) == 1:
            return ways
    return dict.fromkeys(questions, "")


def _bare(labels: list[str]) -> dict[str, str]:
    """Take away the words that all labels begin or end with: what is left names each."""
    words = [label.split() for label in labels]
    start = end = 0
    while len(labels) > 1 and all(len(own) > start + 1 and own[start] == words[0][start] for own in words):
        start += 1
    while len(labels) > 1 and all(len(own) > start + end + 1 and own[-1 - end] == words[0][-1 - end] for own in words):
        end += 1
    bare = {label: " ".join(own[start : len(own) - end]).strip("()[]:'\"") for label, own in zip(labels, words)}
    return (
        bare if all(bare.values()) and not all(map(_PLACE.fullmatch, bare.values())) else {one: one for one in labels}
    )


def _person(shared: list[str], options: Options) -> str | None:
    """Choose the column that says who answered; "" where none does, None where the user or a heading tells."""
    if "annotator" in {*options.columns, *options.values, *map(columns.meaning, shared)}:
        return None
    named = [name for name in shared if _PERSON.search(name)]
    return named[0] if len(named) == 1 else next((name for name in _RESPONSE if name in shared), "")


def _answers(
    header: list[str],
    after: int,
    *,
    source: Source,
    form: _Form,
    roles: dict[str, tuple[str, str, str]],
    person: str | None,
    named: list[str],
    measures: list[str],
) -> Rows:
    """Read the answers: a row for each respondent, segment and system that has one."""
    rows = source.read(form.header, form.line)
    people, notes = rows.frame, [*rows.notes]
    if form.status and (trial := people[form.status].isin(_TRIAL)).any():
        people = people[~trial]
        notes.append(f"{trial.sum():,} responses are previews, tests or spam ({form.status}) and were left out")
    shared = [name for name in form.header if name not in form.asked]
    parts = []
    for segment, system in dict.fromkeys((segment, system) for segment, system, _ in roles.values()):
        part = people[shared].copy()
        if person is not None:
            part["annotator"] = people[person] if person else [f"respondent on line {line}" for line in people.index]
        told = {"segment": segment, "system": system}
        for name in named:
            part[name] = told[name]
        for measure in measures:
            own = [name for name, role in roles.items() if role == (segment, system, measure)]
            part[measure] = people[own[0]] if own else pd.Series(pd.NA, index=people.index, dtype="str")
        parts.append(part[part[measures].apply(numbers.said).notna().any(axis=1)])
    frame = pd.concat(parts).sort_index(kind="stable").set_axis(header, axis=1)
    return Rows(frame, lambda place: frame.iloc[place].fillna("").tolist(), rows.broken, notes)
