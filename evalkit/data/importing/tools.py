"""Lay out what Label Studio, Doccano and Prodigy export as a row per judgement, with its errors.

Source: the tools' documentation of their exports (labelstud.io/guide/export, doccano.github.io, prodi.gy/docs/api-
interfaces). A label that is a severity is one; any other is a category.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from evalkit.data.importing import annotated, numbers, records
from evalkit.data.importing.annotated import Error
from evalkit.data.importing.comparisons import head_two
from evalkit.data.importing.records import Cells, Records
from evalkit.data.importing.tables import Table, text_digest
from evalkit.data.importing.vocabulary import bare, is_quality, meaning, words

_FIRST = 50  # objects by which a tool is told
_SEVERITY = r"(neutral|trivial|minor|major|critical)"
_LABEL = re.compile(rf"{_SEVERITY}(?:[\W_]{{1,4}}(.{{1,200}}))?|(.{{1,200}}?)[\W_]{{1,4}}{_SEVERITY}\W?", re.I | re.S)
_STEPS, _WORDS = 11, 60  # steps of a scale in words, letters of one
#: What Label Studio and others put around the answers of a task, in its short export.
_FRAME = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history")


@dataclass
class Judged:
    """What one annotator said of one task: cells that say who, when and of what, scores by name, and errors.

    errors: None where the task asks for none. preferred: the side that was chosen, where two translations were shown.
    """

    line: int
    cells: dict[str, str]
    scores: list[tuple[str, str]]
    errors: list[Error] | None
    kind: str = ""
    preferred: str | None = None


@dataclass(frozen=True)
class _Tool:
    """A tool's exports: how an object of one is told, and what is judged in it."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    judged: Callable[[int, Mapping[str, Any]], Iterator[Judged]]


def laid_out(path: Path, read: Records) -> Table | None:
    """Lay objects out as the tool's module does whose export they are; None where they are no tool's."""
    first = [said for _, said in read.objects[:_FIRST]]
    tool = next((tool for tool in _TOOLS if first and all(map(tool.fits, first))), None)
    if not tool:
        return None
    judged = [one for line, said in read.objects for one in tool.judged(line, said)]
    _settle(judged)
    scored = any(one.scores or one.preferred is not None for one in judged)
    compared = (scored or tool.name == "prodigy") and any(head_two(one.cells) for one in judged[:_FIRST])
    if compared or any(one.preferred is not None for one in judged):
        read.notes = ["what is called a line is the number of a comparison in the file"]
        return records.laid_out(path, read, _preferences(judged))
    return records.laid_out(path, read, _rows(tool.name, judged), kind=tool.name)


def is_short_table(table: Table) -> bool:
    """Tell whether CSV is Label Studio's, with errors or choices as JSON in its cells; other tables need no tool."""
    below = (cell for _, cells in table.first[1:] for cell in cells)
    return _is_row(dict.fromkeys(table.header)) and any(
        cell.lstrip()[:2] == "[{" or cell.startswith(('{"choices"', '{"selected"')) for cell in below
    )


def of_table(table: Table) -> Table | None:
    """Lay such a table out as its tool's export."""
    rows = table.cells.fillna("").to_dict("records")
    read = Records([*zip(map(int, table.cells.index), rows)], table.broken, notes=table.notes)
    return laid_out(table.path, read)


def _settle(every: list[Judged]) -> None:
    """Keep as scores what is one: numbers, or few words that recur; all else is a text, such as a comment."""
    said: dict[str, list[str]] = {}
    for judged in every:
        for name, text in judged.scores:
            said.setdefault(name, []).append(text)
    texts = {name for name, cells in said.items() if not _are_scores(cells)}
    for judged in every:
        judged.cells |= {name: text for name, text in judged.scores if name in texts}
        judged.scores = [(name, text) for name, text in judged.scores if name not in texts]


def _are_scores(cells: list[str]) -> bool:
    """Tell numbers, and words of a scale, from texts.

    >>> _are_scores(["4", "3.5"]), _are_scores(["Good", "Fair", "Good"]), _are_scores(["The end is wrong.", "fine"])
    (True, True, False)
    """
    few = len({*cells}) <= _STEPS and max(map(len, cells)) <= _WORDS
    return numbers.is_numeric(cells) or (few and 2 * len({*cells}) <= len(cells) + 1)


def _rows(tool: str, every: list[Judged]) -> Iterator[tuple[int, Cells]]:
    """Yield a row per judgement and criterion."""
    errors = [one for judged in every if not judged.kind for one in judged.errors or ()]
    typed, scored = any(one["category"] for one in errors), any(judged.scores for judged in every)
    # a task of Label Studio does not say whether it asks for errors where none are marked
    asked = bool(errors) or (tool != "label-studio" and any(judged.errors is not None for judged in every))
    several = len({name for judged in every for name, _ in judged.scores}) > 1
    named = _named(every)
    made = asked and (typed or not (scored or "score" in named))
    both = made and scored
    for judged in every:
        cells: dict[str, Any] = {annotated.KIND: judged.kind} | judged.cells | _segment(judged.cells, named)
        if judged.errors is not None:
            cells[annotated.ERRORS] = judged.errors
        if made or judged.kind:
            yield judged.line, cells | {annotated.SCORED: annotated.BY_ERRORS} | ({"criterion": "MQM"} if both else {})
        for name, score in judged.scores if not judged.kind else ():
            own = {"criterion": name} if several or both else {}
            yield judged.line, cells | own | {"score": score, annotated.SCORED: annotated.BY_PERSON}
        if not judged.kind and not made and not judged.scores:
            yield judged.line, cells | {annotated.SCORED: annotated.BY_PERSON}


def _preferences(every: list[Judged]) -> Iterator[tuple[int, Cells]]:
    """Yield a row per comparison, as tables of preferences have them; the task's own fields name the systems."""
    named = _named(every)
    chosen = any(one.preferred is not None for one in every)
    for place, judged in enumerate(every, 1):
        cells = judged.cells | _segment(judged.cells, named)
        cells.pop(annotated.NAMED)
        if chosen:
            said = {"preference": judged.preferred or ""}
        else:
            said = dict(judged.scores) or {name: cells[name] for name in cells if meaning(name) == "score"}
        yield place, cells | (dict.fromkeys(said, "") if judged.kind else said)


def _named(every: list[Judged]) -> set[str | None]:
    return {meaning(name) for judged in every[:_FIRST] for name in judged.cells}


def _segment(cells: Mapping[str, str], named: set[str | None]) -> dict[str, str]:
    """Name a segment by its source text, else by its task, where no field names it."""
    if "segment" in named:
        return {annotated.NAMED: "id"}
    if text := next((cell for name, cell in cells.items() if cell and meaning(name) == "source"), ""):
        return {"segment": text_digest(text), annotated.NAMED: "text"}
    return {"segment": cells.get("task", ""), annotated.NAMED: "task"}


def _error(start: Any, end: Any, label: str, text: Any = None, side: str = "target") -> Error:
    """Write an error as Pearmut does, its end included; a label may be its severity, its category, or both."""
    severity, category = "", label
    if read := _LABEL.fullmatch(label.strip()):
        severity, category = read[1] or read[4], read[2] or read[3] or ""
    first, last = _whole(start), _whole(end)
    return {
        "start_i": first,
        "end_i": last - 1 if isinstance(last, int) else last,
        "side": side,
        "severity": severity.casefold() or None,
        "category": category or None,
        "text": text,
    }


def _whole(value: Any) -> Any:
    """Read a place; what is no whole number stays, and is rejected."""
    return int(value) if str(value).isdecimal() and len(str(value)) < 12 else value if value is None else str(value)


# Label Studio


def _of_task(line: int, said: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a task of Label Studio's JSON: an annotation a judgement."""
    task = records.flat(said["data"]) | {"task": records.cell(said.get("id"))}
    for one in said["annotations"]:
        if not isinstance(one, dict):
            continue
        results = [result for result in one.get("result") or () if isinstance(result, dict)]
        kind = "cancelled" if one.get("was_cancelled") else "truth" if one.get("ground_truth") else ""
        person = one.get("completed_by")
        if isinstance(person, dict):
            person = person.get("email") or person.get("id")
        who = {"annotator": records.cell(person)} if person is not None else {}
        chosen = [records.cell(_value(result)["selected"]) for result in results if "selected" in _value(result)]
        cells = task | who | _when(one)
        yield Judged(line, cells, _scores(results), _regions(results), kind, chosen[0] if chosen else None)


def _when(one: Mapping[str, Any]) -> dict[str, str]:
    """Say when an annotation was begun and stored."""
    stored = one.get("created_at")
    if not stored:
        return {}
    try:
        moment = datetime.fromisoformat(str(stored)).timestamp()
        return {"started": repr(moment - float(str(one.get("lead_time")))), "ended": repr(moment)}
    except (ValueError, OverflowError):
        return {"ended": str(stored)}


def _value(result: Mapping[str, Any]) -> Mapping[str, Any]:
    value = result.get("value")
    return value if isinstance(value, dict) else {}


def _scores(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """List what was said of a whole task: ratings, numbers, and single choices."""
    placed = {result.get("id") for result in results if _labels(_value(result)) is not None} - {None}
    scores = []
    for result in results:
        value = _value(result)
        if result.get("id") in placed or "start" in value:
            continue
        for kind in ("rating", "number", "choices", "taxonomy", "text"):
            said = value.get(kind)
            said = said[0] if isinstance(said, list) and len(said) == 1 else said
            said = said[-1] if kind == "taxonomy" and isinstance(said, list) and said else said
            if said is not None and (kind != "text" or numbers.is_numeric([records.cell(said)])):
                scores.append((str(result.get("from_name") or kind), records.cell(said)))
    return scores


def _labels(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the labels of a marked stretch; None where a result marks none."""
    labels = value.get("labels", value.get("hypertextlabels"))
    return labels if isinstance(labels, list) and "start" in value else None


def _regions(results: Sequence[Mapping[str, Any]]) -> list[Error]:
    """List the errors of an annotation; choices and taxonomies of the same region say more of one."""
    more: dict[Any, list[str]] = {}
    graded: dict[Any, dict[str, str]] = {}
    for result in results:
        value = _value(result)
        if _labels(value) is not None:
            continue
        paths = ["/".join(map(str, path)) for path in value.get("taxonomy") or () if isinstance(path, list)]
        said = [*map(str, value.get("choices") or ()), *paths]
        if len(said) == 1 and "severity" in words(str(result.get("from_name"))):
            graded[result.get("id")] = {"severity": said[0].casefold()}
        else:
            more.setdefault(result.get("id"), []).extend(said)
    errors = []
    for result in results:
        value = _value(result)
        if (labels := _labels(value)) is None:
            continue
        offsets = value.get("globalOffsets")  # of HTML, whose start and end count within their elements
        whole = offsets if isinstance(offsets, dict) else value
        side = "source" if meaning(str(result.get("to_name"))) == "source" else "target"
        one = _error(whole.get("start"), whole.get("end"), "", text=value.get("text"), side=side)
        called = _called([*map(str, labels), *more.get(result.get("id"), [])])
        errors.append(one | called | graded.get(result.get("id"), {}))
    return errors


def _called(labels: list[str]) -> dict[str, Any]:
    """Tell severity and category among several labels of one error."""
    read = [_error(0, 1, label) for label in labels]
    severity = next((one["severity"] for one in read if one["severity"]), None)
    return {"severity": severity, "category": " / ".join(one["category"] for one in read if one["category"]) or None}


def _is_row(said: Mapping[str, Any]) -> bool:
    return {"annotation_id", "annotator"} <= set(said) and bool({"lead_time", "created_at"} & set(said))


def _of_row(line: int, said: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a row of Label Studio's short JSON or CSV: what was said stands under its own name beside the data."""
    cells: dict[str, str] = {"task": records.cell(said.get("id")), "annotator": records.cell(said["annotator"])}
    scores: list[tuple[str, str]] = []
    regions: list[dict[str, Any]] = []
    marked, preferred, names = False, None, [*said]
    answers = names[names.index("id") + 1 : names.index("annotator")] if "id" in names[1:] else []
    for name, value in ((name, _unpacked(value)) for name, value in said.items() if name not in _FRAME):
        if _are_regions(value):
            side, marked = "source" if meaning(name) == "source" else name, True
            for one in value:
                place = (str(one["start"]), str(one.get("end")))
                regions.append({"id": place, "value": one, "to_name": side, "from_name": name})
        elif isinstance(value, dict) and "selected" in value:
            preferred = records.cell(value["selected"])
        elif (score := _score(value, name in answers or _is_judgement(name))) is not None:
            scores.append((name, score))
        else:
            cells[name] = records.cell(value)
    yield Judged(line, cells | _when(said), scores, _regions(regions) if marked else None, preferred=preferred)


def _are_regions(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "start" in one for one in value)


def _score(value: Any, answers: bool) -> str | None:
    """Take a value as a score: choices, a rating, a path through a taxonomy or, where its field answers, any cell."""
    if isinstance(value, dict):
        return " - ".join(map(str, value["choices"])) if value.get("choices") else None
    if isinstance(value, list):
        only = value[0] if len(value) == 1 else None
        rated = only.get("rating", only.get("number")) if isinstance(only, dict) else None
        rated = only[-1] if isinstance(only, list) and only else rated
        return None if rated is None else records.cell(rated)
    return records.cell(value) if answers and value not in (None, "") else None


def _is_judgement(name: str) -> bool:
    """Tell whether a field is called what a judgement is."""
    return is_quality(name) or bare(name) in ("rating", "choice", "stars", "sentiment")


def _unpacked(value: Any) -> Any:
    """Read JSON in a cell of CSV."""
    if isinstance(value, str) and value[:2] in ("[{", '{"'):
        said, reason = records.loaded(value.encode("utf-8", "surrogatepass"))
        return value if reason else said
    return value


# Doccano and Prodigy


def _triples(said: Mapping[str, Any]) -> list[Any] | None:
    """Return the labelled stretches of an object of Doccano; None where it is none."""
    labels = next((said[name] for name in ("label", "labels", "entities", "annotations") if name in said), None)
    if not isinstance(said.get("text", said.get("data")), str) or not isinstance(labels, list):
        return None
    placed = all(
        (isinstance(one, list) and len(one) == 3) or (isinstance(one, dict) and "start_offset" in one) for one in labels
    )
    return labels if placed else None


def _of_doccano(line: int, said: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a text of Doccano: all labels are one annotator's, unless each names its user, as early versions do."""
    left = ("label", "labels", "entities", "annotations", "relations", "text", "data", "id", "Comments", "comments")
    cells = records.flat({name: value for name, value in said.items() if name not in left})
    cells |= {"task": records.cell(said.get("id")), "hypothesis": str(said.get("text", said.get("data")))}
    by_user: dict[str | None, list[Error]] = {}
    for one in _triples(said) or ():
        user = records.cell(one["user"]) if isinstance(one, dict) and one.get("user") is not None else None
        start, end, label = (
            one if isinstance(one, list) else (one["start_offset"], one.get("end_offset"), one.get("label"))
        )
        by_user.setdefault(user, []).append(_error(start, end, str(label)))
    for user, errors in (by_user or {None: []}).items():
        yield Judged(line, cells | ({"annotator": user} if user is not None else {}), [], errors)


def _of_prodigy(line: int, said: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a task of Prodigy: its spans, and what was chosen."""
    left = {"text", "spans", "tokens", "options", "accept", "answer", "config", "html"}
    plain = {name: value for name, value in said.items() if name not in left and not name.startswith("_")}
    who = said.get("_annotator_id") or said.get("_session_id")
    cells = records.flat(plain) | {"task": records.cell(said.get("_input_hash"))}
    cells |= {"annotator": records.cell(who)} if who else {}
    cells |= {"ended": records.cell(said["_timestamp"])} if said.get("_timestamp") is not None else {}
    cells |= {"hypothesis": str(said["text"])} if isinstance(said.get("text"), str) else {}
    errors: list[Error] | None = None if "options" in said else []
    if isinstance(said.get("spans"), list):
        spans = [one for one in said["spans"] if isinstance(one, dict)]
        errors = [
            _error(one.get("start"), one.get("end"), str(one.get("label") or ""), text=one.get("text")) for one in spans
        ]
    chosen = said.get("accept")
    scores = [("choice", records.cell(chosen[0]))] if isinstance(chosen, list) and len(chosen) == 1 else []
    yield Judged(line, cells, scores, errors, "" if said["answer"] == "accept" else "cancelled")


_TOOLS = (
    _Tool(
        "label-studio",
        lambda said: isinstance(said.get("data"), dict) and isinstance(said.get("annotations"), list),
        _of_task,
    ),
    _Tool("label-studio", _is_row, _of_row),
    _Tool("prodigy", lambda said: "answer" in said and bool({"_input_hash", "_task_hash"} & set(said)), _of_prodigy),
    _Tool("doccano", lambda said: _triples(said) is not None, _of_doccano),
)
