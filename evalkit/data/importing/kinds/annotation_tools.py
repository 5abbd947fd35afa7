"""Lay out what Label Studio, Doccano and Prodigy export as a row per judgement, with its errors as JSON.

Source: the tools' documentation of their exports (labelstud.io/guide/export, doccano.github.io, prodi.gy/docs/api-
interfaces). A label that is a severity is one; any other is a category.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import jsonl
from evalkit.data.importing.files.jsonl import Records, Row
from evalkit.data.importing.kinds import annotated
from evalkit.data.importing.kinds.label_studio import Judged, are_scores, error, is_row, is_task, of_row, of_task
from evalkit.data.importing.kinds.paired import head_two

_FIRST = 50  # objects by which a tool is told


@dataclass(frozen=True)
class Tool:
    """A tool's exports: how an object of one is told, and what is judged in it."""

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    judged: Callable[[int, Mapping[str, Any]], Iterator[Judged]]


def is_short_table(cells: Iterable[str], below: Iterable[Iterable[str]]) -> bool:
    """Tell whether CSV is Label Studio's, with errors or choices as JSON in its cells; other tables need no tool."""
    return is_row(dict.fromkeys(cells)) and any(
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
        (scored or tool.name == "prodigy") and any(head_two(judged.cells) for judged in every[:_FIRST])
    ):
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
        cells = {
            name: cell
            for name, cell in (judged.cells | _segment(judged.cells, named)).items()
            if name != annotated.NAMED
        }
        if any(one.preferred is not None for one in every):
            said = {"preference": judged.preferred or ""}
        else:
            said = dict(judged.scores) or {name: cells[name] for name in cells if columns.meaning(name) == "score"}
        yield place, cells | (dict.fromkeys(said, "") if judged.kind else said)


def _settle(every: list[Judged]) -> None:
    """Keep as scores what is one: numbers, or few words that recur; all else is a text, such as a comment."""
    said: dict[str, list[str]] = {}
    for judged in every:
        for name, text in judged.scores:
            said.setdefault(name, []).append(text)
    texts = {name for name, cells in said.items() if not are_scores(cells)}
    for judged in every:
        judged.cells |= {name: text for name, text in judged.scores if name in texts}
        judged.scores = [(name, text) for name, text in judged.scores if name not in texts]


def _segment(cells: Mapping[str, str], named: set[str | None]) -> dict[str, str]:
    """Name a segment by its source text, else by its task, where no field names it."""
    if "segment" in named:
        return {annotated.NAMED: "id"}
    text = next((cell for name, cell in cells.items() if cell and columns.meaning(name) == "source"), "")
    if text:
        plainly = " ".join(text.split()).encode("utf-8", "surrogatepass")
        return {"segment": hashlib.sha256(plainly).hexdigest()[:8], annotated.NAMED: "text"}
    return {"segment": cells.get("task", ""), annotated.NAMED: "task"}


# Doccano and Prodigy


def _triples(found: Mapping[str, Any]) -> list[Any] | None:
    """Return the labelled stretches of an object of Doccano; None where it is none."""
    labels = next((found[name] for name in ("label", "labels", "entities", "annotations") if name in found), None)
    if not isinstance(found.get("text", found.get("data")), str) or not isinstance(labels, list):
        return None
    placed = all(
        (isinstance(one, list) and len(one) == 3) or (isinstance(one, dict) and "start_offset" in one) for one in labels
    )
    return labels if placed else None


def _of_doccano(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
    """Read a text of Doccano: all labels are one annotator's, unless each names its user, as early versions do."""
    left = ("label", "labels", "entities", "annotations", "relations", "text", "data", "id", "Comments", "comments")
    cells = jsonl.flat({name: value for name, value in found.items() if name not in left})
    cells |= {"task": jsonl.cell(found.get("id")), "hypothesis": str(found.get("text", found.get("data")))}
    by_user: dict[str | None, list[dict[str, Any]]] = {}
    for one in _triples(found) or ():
        user = jsonl.cell(one["user"]) if isinstance(one, dict) and one.get("user") is not None else None
        start, end, label = (
            one if isinstance(one, list) else (one["start_offset"], one.get("end_offset"), one.get("label"))
        )
        by_user.setdefault(user, []).append(error(start, end, str(label)))
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
        errors = [
            error(one.get("start"), one.get("end"), str(one.get("label") or ""), text=one.get("text"))
            for one in spans
            if isinstance(one, dict)
        ]
    elif "options" not in found:
        errors = []
    chosen = found.get("accept")
    scores = [("choice", jsonl.cell(chosen[0]))] if isinstance(chosen, list) and len(chosen) == 1 else []
    yield Judged(line, cells, scores, errors, "" if found["answer"] == "accept" else "cancelled")


TOOLS = (
    Tool("label-studio", is_task, of_task),
    Tool("label-studio", is_row, of_row),
    Tool("prodigy", _is_prodigy, _of_prodigy),
    Tool("doccano", lambda found: _triples(found) is not None, _of_doccano),
)
