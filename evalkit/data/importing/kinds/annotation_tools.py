"""Lay out what Label Studio, Doccano and Prodigy export as a row per judgement, with its errors as JSON.

Source: the tools' documentation of their exports (labelstud.io/guide/export, doccano.github.io, prodi.gy/docs/api-
interfaces). A label that is a severity is one; any other is a category.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files import jsonl
from evalkit.data.importing.files.jsonl import Records, Row
from evalkit.data.importing.kinds import annotated, layouts
from evalkit.data.importing.kinds.preferences import head_two

_SEVERITY = r"(neutral|trivial|minor|major|critical)"
_LABEL = re.compile(rf"{_SEVERITY}(?:[\W_]{{1,4}}(.{{1,200}}))?|(.{{1,200}}?)[\W_]{{1,4}}{_SEVERITY}\W?", re.I | re.S)
_FIRST = 50  # objects by which a tool is told
_MOSTLY, _STEPS, _WORDS = 0.8, 11, 60  # share of numbers among scores; steps of a scale in words, letters of one
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
    errors: list[dict[str, Any]] | None
    kind: str = ""
    preferred: str | None = None


@dataclass(frozen=True)
class Tool:
    """A tool's exports: how an object of one is told, and what is judged in it."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    judged: Callable[[int, Mapping[str, Any]], Iterator[Judged]]


def is_short_table(cells: Iterable[str], below: Iterable[Iterable[str]]) -> bool:
    """Tell whether CSV is Label Studio's, with errors or choices as JSON in its cells; other tables need no tool."""
    return _is_row(dict.fromkeys(cells)) and any(
        cell.lstrip()[:2] == "[{" or cell.startswith(('{"choices"', '{"selected"')) for row in below for cell in row
    )


def tool_of(found: list[tuple[int, dict[str, Any]]]) -> Tool | None:
    """Tell whose export objects are; None where no tool's."""
    first = [one for _, one in found[:_FIRST]]
    return next((tool for tool in TOOLS if first and all(map(tool.fits, first))), None)


def rows(tool: Tool, read: Records) -> Iterator[Row]:
    """Yield a row per judgement and criterion; of comparisons a row each, as tables of preferences have them."""
    every = [judged for line, one in read.found for judged in tool.judged(line, one)]
    _settle(every)
    scored = any(judged.scores or judged.preferred is not None for judged in every)
    if any(judged.preferred is not None for judged in every) or (
        scored or tool.name == "prodigy") and any(head_two(judged.cells) for judged in every[:_FIRST]):  # fmt: skip
        read.notes = ["what is called a line is the number of a comparison in the file"]
        yield from _preferences(every)
        return
    errors = [one for judged in every if not judged.kind for one in judged.errors or ()]
    typed, scored = any(one["category"] for one in errors), any(judged.scores for judged in every)
    # a task of Label Studio does not say whether it asks for errors where none are marked
    asked = bool(errors) or (tool.name != "label-studio" and any(judged.errors is not None for judged in every))
    several = len({name for judged in every for name, _ in judged.scores}) > 1
    named = {columns.meaning(name) for judged in every[:_FIRST] for name in judged.cells}
    for judged in every:
        cells = {annotated.TOOL: tool.name, annotated.KIND: judged.kind} | judged.cells
        cells |= _segment(judged.cells, named)
        if judged.errors is not None:
            cells[annotated.ERRORS] = jsonl.as_text(judged.errors)
        made = asked and (typed or not (scored or "score" in named))
        both = made and scored
        if made or judged.kind:
            yield judged.line, cells | {annotated.SCORED: annotated.BY_ERRORS} | ({"criterion": "MQM"} if both else {})
        for name, score in judged.scores if not judged.kind else ():
            own = {"criterion": name} if several or both else {}
            yield judged.line, cells | own | {"score": score, annotated.SCORED: annotated.BY_PERSON}
        if not judged.kind and not made and not judged.scores:
            yield judged.line, cells | {annotated.SCORED: annotated.BY_PERSON}


def _preferences(every: list[Judged]) -> Iterator[Row]:
    """Yield a row per comparison; the task's own fields name the systems."""
    named = {columns.meaning(name) for judged in every[:_FIRST] for name in judged.cells}
    for place, judged in enumerate(every, 1):
        cells = {name: cell for name, cell in (judged.cells | _segment(judged.cells, named)).items()
                 if name != annotated.NAMED}  # fmt: skip
        if any(one.preferred is not None for one in every):
            said = {"preference": judged.preferred or ""}
        else:
            said = dict(judged.scores) or {name: cells[name] for name in cells if columns.meaning(name) == "score"}
        yield place, cells | (dict.fromkeys(said, "") if judged.kind else said)


def _settle(every: list[Judged]) -> None:
    """Keep as scores what is one: numbers, or few words that recur; what else was written, such as a comment, is told."""
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

    >>> _are_scores(["4", "3.5"]), _are_scores(["Good", "Fair", "Good"]), _are_scores(["The end is wrong.", "fine", "ok"])
    (True, True, False)
    """
    numeric = np.isfinite(numbers.read(pd.Series(cells, dtype="str"))[0]).mean() > _MOSTLY
    return bool(numeric) or (
        len(cells) > 1
        and len({*cells}) <= _STEPS
        and max(map(len, cells)) <= _WORDS
        and 2 * len({*cells}) <= len(cells) + 1
    )


def _segment(cells: Mapping[str, str], named: set[str | None]) -> dict[str, str]:
    """Name a segment by its source text, else by its task, where no field names it."""
    if "segment" in named:
        return {annotated.NAMED: "id"}
    text = next((cell for name, cell in cells.items() if cell and columns.meaning(name) == "source"), "")
    if text:
        plainly = " ".join(text.split()).encode("utf-8", "surrogatepass")
        return {"segment": hashlib.sha256(plainly).hexdigest()[:8], annotated.NAMED: "text"}
    return {"segment": cells.get("task", ""), annotated.NAMED: "task"}


def _error(start: Any, end: Any, label: str, severity: str = "", text: Any = None, side: str = "target") -> dict:
    """Write an error as Pearmut does, its end included; a label may be its severity, its category, or both."""
    category = label
    if found := _LABEL.fullmatch(label.strip()):
        severity, category = severity or found[1] or found[4], found[2] or found[3] or ""
    first, last = _whole(start), _whole(end)
    return {"start_i": first, "end_i": last - 1 if isinstance(last, int) else last, "side": side,
            "severity": severity.casefold() or None, "category": category or None, "text": text}  # fmt: skip


def _whole(value: Any) -> Any:
    """Read a place; what is no whole number stays, and is rejected."""
    return int(value) if str(value).isdecimal() and len(str(value)) < 12 else value if value is None else str(value)


# Label Studio


def _is_task(found: Mapping[str, Any]) -> bool:
    return isinstance(found.get("data"), dict) and isinstance(found.get("annotations"), list)


def _of_task(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a task of Label Studio's JSON: an annotation a judgement."""
    task = jsonl.flat(found["data"]) | {"task": jsonl.cell(found.get("id"))}
    for one in found["annotations"]:
        if not isinstance(one, dict):
            continue
        results = [result for result in one.get("result") or () if isinstance(result, dict)]
        kind = "cancelled" if one.get("was_cancelled") else "truth" if one.get("ground_truth") else ""
        cells = task | _who(one) | _when(one)
        preferred = [jsonl.cell(_value(result)["selected"]) for result in results if "selected" in _value(result)]
        yield Judged(line, cells, _scores(results), _regions(results), kind, preferred[0] if preferred else None)


def _who(one: Mapping[str, Any]) -> dict[str, str]:
    """Say who annotated; where nobody is named, no cell says it."""
    person = one.get("completed_by")
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    return {"annotator": jsonl.cell(person)} if person is not None else {}


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
    found = []
    for result in results:
        value = _value(result)
        if result.get("id") in placed or "start" in value:
            continue
        for kind in ("rating", "number", "choices", "taxonomy", "text"):
            said = value.get(kind)
            said = said[0] if isinstance(said, list) and len(said) == 1 else said
            said = said[-1] if kind == "taxonomy" and isinstance(said, list) and said else said
            if said is not None and (kind != "text" or _are_scores([jsonl.cell(said)])):
                found.append((str(result.get("from_name") or kind), jsonl.cell(said)))
    return found


def _labels(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the labels of a marked stretch; None where a result marks none."""
    labels = value.get("labels", value.get("hypertextlabels"))
    return labels if isinstance(labels, list) and "start" in value else None


def _regions(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """List the errors of an annotation; choices and taxonomies of the same region say more of one."""
    more: dict[Any, list[str]] = {}
    graded: dict[Any, dict[str, str]] = {}
    for result in results:
        value = _value(result)
        if _labels(value) is not None:
            continue
        paths = ["/".join(map(str, path)) for path in value.get("taxonomy") or () if isinstance(path, list)]
        said = [*map(str, value.get("choices") or ()), *paths]
        if len(said) == 1 and "severity" in columns.words(str(result.get("from_name"))):
            graded[result.get("id")] = {"severity": said[0].casefold()}
        else:
            more.setdefault(result.get("id"), []).extend(said)
    found = []
    for result in results:
        value = _value(result)
        if (labels := _labels(value)) is None:
            continue
        offsets = value.get("globalOffsets")  # of HTML, whose start and end count within their elements
        whole = offsets if isinstance(offsets, dict) else value
        side = "source" if columns.meaning(str(result.get("to_name"))) == "source" else "target"
        error = _error(whole.get("start"), whole.get("end"), "", text=value.get("text"), side=side)
        called = _called([*map(str, labels), *more.get(result.get("id"), [])])
        found.append(error | called | graded.get(result.get("id"), {}))
    return found


def _called(labels: list[str]) -> dict[str, Any]:
    """Tell severity and category among several labels of one error."""
    read = [_error(0, 1, label) for label in labels]
    severity = next((one["severity"] for one in read if one["severity"]), None)
    return {"severity": severity, "category": " / ".join(one["category"] for one in read if one["category"]) or None}


def _is_row(found: Mapping[str, Any]) -> bool:
    return {"annotation_id", "annotator"} <= set(found) and bool({"lead_time", "created_at"} & set(found))


def _of_row(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a row of Label Studio's short JSON or CSV: what was said stands under its own name beside the data."""
    cells: dict[str, str] = {"task": jsonl.cell(found.get("id")), "annotator": jsonl.cell(found["annotator"])}
    scores: list[tuple[str, str]] = []
    regions: list[dict[str, Any]] = []
    marked = preferred = None
    names = [*found]
    answers = names[names.index("id") + 1 : names.index("annotator")] if "id" in names[1:] else []
    for name, value in found.items():
        if name in _FRAME:
            continue
        value = _unpacked(value)
        if isinstance(value, list) and value and all(isinstance(one, dict) and "start" in one for one in value):
            side = "source" if columns.meaning(name) == "source" else name
            regions += [{"id": (str(one["start"]), str(one.get("end"))), "value": one, "to_name": side, "from_name": name}
                        for one in value]  # fmt: skip
            marked = True
        elif isinstance(value, dict) and "selected" in value:
            preferred = jsonl.cell(value["selected"])
        elif isinstance(value, dict) and value.get("choices"):
            scores.append((name, " - ".join(map(str, value["choices"]))))
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and (
            said := value[0].get("rating", value[0].get("number"))
        ) is not None:  # fmt: skip
            scores.append((name, jsonl.cell(said)))
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and value[0]:
            scores.append((name, jsonl.cell(value[0][-1])))  # a path through a taxonomy
        elif (
            value not in (None, "", [])
            and (name in answers or _is_judgement(name))
            and not isinstance(value, dict | list)
        ):
            scores.append((name, jsonl.cell(value)))
        else:
            cells[name] = jsonl.cell(value)
    yield Judged(line, cells | _when(found), scores, _regions(regions) if marked else None, preferred=preferred)


def _is_judgement(name: str) -> bool:
    """Tell whether a field is called what a judgement is."""
    return layouts.is_quality(name) or columns.plain(name) in ("rating", "choice", "stars", "sentiment")


def _unpacked(value: Any) -> Any:
    """Read JSON in a cell of CSV."""
    if isinstance(value, str) and value[:2] in ("[{", '{"'):
        found, reason = jsonl.loaded(value.encode("utf-8", "surrogatepass"))
        return value if reason else found
    return value


# Doccano and Prodigy


def _triples(found: Mapping[str, Any]) -> list[Any] | None:
    """Return the labelled stretches of an object of Doccano; None where it is none."""
    labels = next((found[name] for name in ("label", "labels", "entities", "annotations") if name in found), None)
    if not isinstance(found.get("text", found.get("data")), str) or not isinstance(labels, list):
        return None
    placed = all((isinstance(one, list) and len(one) == 3) or (isinstance(one, dict) and "start_offset" in one)
                 for one in labels)  # fmt: skip
    return labels if placed else None


def _of_doccano(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a text of Doccano: all labels are one annotator's, unless each names its user, as early versions do."""
    left = ("label", "labels", "entities", "annotations", "relations", "text", "data", "id", "Comments", "comments")
    cells = jsonl.flat({name: value for name, value in found.items() if name not in left})
    cells |= {"task": jsonl.cell(found.get("id")), "hypothesis": str(found.get("text", found.get("data")))}
    by_user: dict[str | None, list[dict[str, Any]]] = {}
    for one in _triples(found) or ():
        user = jsonl.cell(one["user"]) if isinstance(one, dict) and one.get("user") is not None else None
        start, end, label = (one if isinstance(one, list) else
                             (one["start_offset"], one.get("end_offset"), one.get("label")))  # fmt: skip
        by_user.setdefault(user, []).append(_error(start, end, str(label)))
    for user, errors in (by_user or {None: []}).items():
        yield Judged(line, cells | ({"annotator": user} if user is not None else {}), [], errors)


def _is_prodigy(found: Mapping[str, Any]) -> bool:
    return "answer" in found and bool({"_input_hash", "_task_hash"} & set(found))


def _of_prodigy(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a task of Prodigy: its spans, and what was chosen."""
    left = {"text", "spans", "tokens", "options", "accept", "answer", "config", "html"}
    plain = {name: value for name, value in found.items() if name not in left and not name.startswith("_")}
    who = found.get("_annotator_id") or found.get("_session_id")
    cells = jsonl.flat(plain) | {"task": jsonl.cell(found.get("_input_hash"))}
    cells |= {"annotator": jsonl.cell(who)} if who else {}
    cells |= {"ended": jsonl.cell(found["_timestamp"])} if found.get("_timestamp") is not None else {}
    cells |= {"hypothesis": str(found["text"])} if isinstance(found.get("text"), str) else {}
    spans = found.get("spans")
    errors = None
    if isinstance(spans, list):
        errors = [_error(one.get("start"), one.get("end"), str(one.get("label") or ""), text=one.get("text"))
                  for one in spans if isinstance(one, dict)]  # fmt: skip
    elif "options" not in found:
        errors = []
    chosen = found.get("accept")
    scores = [("choice", jsonl.cell(chosen[0]))] if isinstance(chosen, list) and len(chosen) == 1 else []
    yield Judged(line, cells, scores, errors, "" if found["answer"] == "accept" else "cancelled")


TOOLS = (
    Tool("label-studio", _is_task, _of_task),
    Tool("label-studio", _is_row, _of_row),
    Tool("prodigy", _is_prodigy, _of_prodigy),
    Tool("doccano", lambda found: _triples(found) is not None, _of_doccano),
)
