"""Lay out what Label Studio, Doccano and Prodigy export as a row per judgement, with its errors.

A tool is a line of ``_TOOLS``: how an object of it is told, and a function that says what was judged in it. A label
that is a severity is one; any other is a category. Source: the tools' documentation of their exports
(labelstud.io/guide/export, doccano.github.io, prodi.gy/docs/api-interfaces).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evalkit.data import languages
from evalkit.data.importing import annotated, numbers, records
from evalkit.data.importing.comparisons import head_two
from evalkit.data.importing.records import Cells, Records
from evalkit.data.importing.tables import HEAD, Table, text_digest
from evalkit.data.importing.vocabulary import bare, is_quality, meaning, words

_CUT = "_#_"  # between the parts of a name, as WMT writes them
_SEVERITY = r"(neutral|trivial|minor|major|critical)"
_LABEL = re.compile(rf"{_SEVERITY}(?:[\W_]{{1,4}}(.{{1,200}}))?|(.{{1,200}}?)[\W_]{{1,4}}{_SEVERITY}\W?", re.I | re.S)
#: What fields are called that hold a judgement, and what a value has that was said of a task or a stretch.
_JUDGED, _VALUES = {"rating", "choice", "stars", "sentiment"}, {"start", "choices", "selected", "rating", "number"}
_IN_CELLS = ("[{", '{"choices"', '{"selected"')  # how answers begin that stand in a cell of CSV
_STEPS, _WORDS = 11, 60  # steps of a scale in words, letters of one
#: What Label Studio and others put around the answers of a task, in its short export.
_FRAME = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history")
Object = Mapping[str, Any]


@dataclass
class Judged:
    """What one annotator said of one task: cells that say who, when and of what; scores by name; and errors.

    errors: None where the task asks for none. kind: what it is if no judgement (``annotated.NO_JUDGEMENTS``).
    preferred: the side that was chosen, where two translations were shown. ends: of the scales of scores, by name.
    """

    line: int
    cells: dict[str, str]
    scores: dict[str, str] = field(default_factory=dict)
    errors: list[Any] | None = None
    kind: str = ""
    preferred: str | None = None
    ends: Mapping[str, str] = field(default_factory=dict)


def laid_out(path: Path, read: Records) -> Table | None:
    """Lay objects out as the tool's whose export they are; None where they are no tool's."""
    first = [said for _, said in read.objects[:HEAD]]
    fitting = [(tool, judged) for tool, fits, judged in _TOOLS if first and all(map(fits, first))]
    if not fitting:
        return None
    tool, judged = fitting[0]
    every = [one for line, said in read.objects for one in judged(line, said)]
    _settle(every)
    scored = any(one.scores or one.preferred is not None for one in every)
    compared = (scored or tool == "prodigy") and any(head_two(one.cells) for one in every[:HEAD])
    if compared or any(one.preferred is not None for one in every):
        read.notes = ["what is called a line is the number of a comparison in the file"]
        return records.laid_out(path, read, _preferences(every))
    # a task of Label Studio does not say whether it asks for errors where none are marked
    silent: tuple[Any, ...] = (None, []) if tool == "label-studio" else (None,)
    asked = any(one.errors not in silent for one in every if not one.kind)
    asked &= not any(one.scores for one in every) and "score" not in _named(every)
    return records.laid_out(path, read, rows_of(every, asked=asked), kind=tool)


def of_table(table: Table) -> Table:
    """Lay out CSV of Label Studio's, with errors or choices as JSON in its cells; other tables need no tool."""
    below = (cell.lstrip() for _, cells in table.first[1:] for cell in cells)
    if not _is_row(dict.fromkeys(table.header)) or not any(cell.startswith(_IN_CELLS) for cell in below):
        return table
    rows = table.cells.fillna("").to_dict("records")
    read = Records([*zip(map(int, table.cells.index), rows)], table.broken, notes=table.notes)
    return laid_out(table.path, read) or table


def _settle(every: list[Judged]) -> None:
    """Keep as scores what is one: numbers, or few words that recur; all else is a text, such as a comment."""
    for name in dict.fromkeys(name for judged in every for name in judged.scores):
        if not _are_scores([judged.scores[name] for judged in every if name in judged.scores]):
            for judged in (judged for judged in every if name in judged.scores):
                judged.cells[name] = judged.scores.pop(name)


def _are_scores(cells: list[str]) -> bool:
    """Tell numbers, and words of a scale, from texts.

    >>> _are_scores(["4", "3.5"]), _are_scores(["Good", "Fair", "Good"]), _are_scores(["The end is wrong.", "fine"])
    (True, True, False)
    """
    few = len({*cells}) <= _STEPS and max(map(len, cells)) <= _WORDS
    return numbers.is_numeric(cells) or (few and 2 * len({*cells}) <= len(cells) + 1)


def rows_of(every: list[Judged], *, asked: bool = False, criteria: bool = False) -> Iterator[tuple[int, Cells]]:
    """Yield a row per judgement and criterion: of each score and, where errors have types, of what these make.

    asked: errors make scores though none has a type. criteria: scores are named even if there is but one.
    """
    counted = [judged for judged in every if judged.kind not in annotated.NO_JUDGEMENTS]
    errors = [one for judged in counted if isinstance(judged.errors, list) for one in judged.errors]
    typed = any(_is_object(one) and one.get("category") for one in errors)
    names, made = {name for judged in every for name in judged.scores}, asked or typed
    if typed and not any(judged.scores.get("score", "").strip("0.") for judged in counted):
        names.discard("score")  # nobody was asked for it
    criteria |= len(names) > 1 or (made and bool(names))
    named = _named(every)
    for judged in every:
        cells: dict[str, Any] = {annotated.KIND: judged.kind} | judged.cells | _segment(judged.cells, named)
        if judged.errors is not None:
            cells[annotated.ERRORS] = judged.errors
        if judged.kind in annotated.NO_JUDGEMENTS:
            yield judged.line, cells
            continue
        if made:
            yield judged.line, cells | {annotated.MADE: "yes"} | ({"criterion": "MQM"} if criteria else {})
        for name, score in ((name, score) for name, score in judged.scores.items() if name in names):
            own = {"score": score} | ({"criterion": name} if criteria else {})
            yield judged.line, cells | own | ({annotated.ENDS: judged.ends[name]} if name in judged.ends else {})
        if not made and not judged.scores:
            yield judged.line, cells


def _preferences(every: list[Judged]) -> Iterator[tuple[int, Cells]]:
    """Yield a row per comparison, as tables of preferences have them; the task's own fields name the systems."""
    chosen, named = any(one.preferred is not None for one in every), _named(every)
    for place, judged in enumerate(every, 1):
        cells = judged.cells | _segment(judged.cells, named)
        cells.pop(annotated.NAMED)
        said = judged.scores or {name: cells[name] for name in cells if meaning(name) == "score"}
        said = {"preference": judged.preferred or ""} if chosen else said
        yield place, cells | (dict.fromkeys(said, "") if judged.kind else said)


def _named(every: list[Judged]) -> set[str | None]:
    return {meaning(name) for judged in every[:HEAD] for name in judged.cells}


def _segment(cells: Mapping[str, str], named: set[str | None]) -> dict[str, str]:
    """Name a segment by its source text, else by its task, where no field names it."""
    if annotated.NAMED in cells or "segment" in named:
        return {annotated.NAMED: cells.get(annotated.NAMED, "id")}
    if text := next((cell for name, cell in cells.items() if cell and meaning(name) == "source"), ""):
        return {"segment": text_digest(text), annotated.NAMED: "text"}
    return {"segment": cells.get("task", ""), annotated.NAMED: "task"}


def _error(start: Any, end: Any, labels: Sequence[str], **more: Any) -> dict[str, Any]:
    """Write an error as Pearmut does, its end included. more: side, text, or its severity where labels do not tell."""
    first, last = annotated.place(start), annotated.place(end)
    last = last - 1 if isinstance(last, int) else last
    return {"start_i": first, "end_i": last, "side": "target"} | _called(labels) | more


def _called(labels: Iterable[str]) -> dict[str, Any]:
    """Tell severity and category of labels; one may be either, or both."""
    levels, kinds = list[str](), list[str]()
    for label in labels:
        read = _LABEL.fullmatch(label.strip())
        levels += [read[1] or read[4]] if read else []
        kinds += [read[2] or read[3] or ""] if read else [label]
    return {"severity": levels[0].casefold() if levels else None, "category": " / ".join(filter(None, kinds))}


# Label Studio: an annotation is a list of results, each of a control (from_name) and perhaps of a region (id)


def _of_task(line: int, said: Object) -> Iterator[Judged]:
    """Read a task of Label Studio's JSON: an annotation a judgement."""
    task = records.flat(said["data"]) | {"task": records.cell(said.get("id"))}
    for one in filter(_is_object, said["annotations"]):
        kind = "cancelled" if one.get("was_cancelled") else "truth" if one.get("ground_truth") else ""
        person = one.get("completed_by")
        if isinstance(person, dict):
            person = person.get("email") or person.get("id")
        who = {"annotator": records.cell(person)} if person is not None else {}
        results = [result for result in one.get("result") or () if _is_object(result)]
        yield _annotated(line, task | who | _when(one), results, kind)


def _of_row(line: int, said: Object) -> Iterator[Judged]:
    """Read a row of Label Studio's short JSON or CSV: what was said stands under its own name beside the data."""
    cells = {"task": records.cell(said.get("id")), "annotator": records.cell(said["annotator"])} | _when(said)
    names, results = [*said], list[dict[str, Any]]()
    answers = names[names.index("id") + 1 : names.index("annotator")] if "id" in names[1:] else []
    for name in (name for name in names if name not in _FRAME):
        value = said[name]
        if isinstance(value, str) and value[:2] in ("[{", '{"'):  # in a cell of CSV
            value = records.in_cell(value) or value
        own = value if isinstance(value, list) else [value]
        answered = name in answers or bare(name) in _JUDGED or is_quality(name)
        if own and all(_is_object(one) and _VALUES & {*one} for one in own):
            values = own
        elif value and answered and not isinstance(value, list | dict):
            values = [{"choices": [value]}]
        else:
            cells[name] = records.cell(value)
            continue
        side = "source" if meaning(name) == "source" else name
        for one in values:
            stretch = (str(one["start"]), str(one.get("end"))) if "start" in one else None
            results.append({"id": stretch, "to_name": side, "from_name": name, "value": one})
    yield _annotated(line, cells, results)


def _annotated(line: int, cells: dict[str, str], results: Sequence[Object], kind: str = "") -> Judged:
    """Say what results come to: those of a marked region are its error, the others judge the whole."""
    values = [result["value"] if _is_object(result.get("value")) else {} for result in results]
    regions: list[dict[str, Any]] = []
    for result, value in zip(results, values):
        if _is_region(value):
            offsets = value.get("globalOffsets")  # of HTML, whose start and end count within their elements
            whole = offsets if _is_object(offsets) else value
            side = "source" if meaning(str(result.get("to_name"))) == "source" else "target"
            labels = [*map(str, value.get("labels", value.get("hypertextlabels")))]
            error = {"start": whole.get("start"), "end": whole.get("end"), "text": value.get("text"), "side": side}
            regions.append({"id": result.get("id"), "error": error | {"labels": labels}})
    judged = Judged(line, cells, kind=kind)
    for result, value in ((result, value) for result, value in zip(results, values) if not _is_region(value)):
        name, region = str(result.get("from_name") or result.get("type")), result.get("id")
        about = [one for one in regions if region is not None and one["id"] == region]
        said = [*map(str, value.get("choices") or ()), *map(_path, value.get("taxonomy") or ())]
        for one in about:
            if len(said) == 1 and "severity" in words(name):
                one["error"]["severity"] = said[0].casefold()
            else:
                one["error"]["labels"] += said
        if "selected" in value:
            judged.preferred = records.cell(value["selected"])
        elif not about and "start" not in value and (score := _score(value)) is not None:
            judged.scores[name] = score
    judged.errors = [_error(**one["error"]) for one in regions]
    return judged


def _is_region(value: Object) -> bool:
    """Tell whether a result marks a stretch and labels it."""
    return isinstance(value.get("labels", value.get("hypertextlabels")), list) and "start" in value


def _path(path: Any) -> str:
    return "/".join(map(str, path)) if isinstance(path, list) else str(path)


def _score(value: Object) -> str | None:
    """Take what was said of a whole task: a rating, a number, choices, the end of a path, or a number in a text."""
    for kind in ("rating", "number", "choices", "taxonomy", "text"):
        said = value.get(kind)
        if kind == "choices" and isinstance(said, list):
            said = " - ".join(map(records.cell, said)) or None
        if kind == "taxonomy" and isinstance(said, list) and len(said) == 1 and isinstance(said[0], list):
            said = said[0][-1:]
        said = said[0] if isinstance(said, list) and len(said) == 1 else said
        if said is not None and (kind != "text" or numbers.is_numeric([records.cell(said)])):
            return records.cell(said)
    return None


def _when(one: Object) -> dict[str, str]:
    """Say when an annotation was begun and stored."""
    stored = one.get("created_at")
    if not stored:
        return {}
    try:
        moment = datetime.fromisoformat(str(stored)).timestamp()
        return {"started": repr(moment - float(str(one.get("lead_time")))), "ended": repr(moment)}
    except (ValueError, OverflowError):
        return {"ended": str(stored)}


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_row(said: Object) -> bool:
    return {"annotation_id", "annotator"} <= set(said) and bool({"lead_time", "created_at"} & set(said))


# Doccano and Prodigy


def _stretches(said: Object) -> list[Any] | None:
    """Return the labelled stretches of an object of Doccano; None where it is none."""
    labels = next((said[name] for name in ("label", "labels", "entities", "annotations") if name in said), None)
    if not isinstance(said.get("text", said.get("data")), str) or not isinstance(labels, list):
        return None
    found = []
    for one in labels:
        if isinstance(one, list) and len(one) == 3:
            found.append((*one, None))
        elif _is_object(one) and "start_offset" in one:
            found.append((one["start_offset"], one.get("end_offset"), one.get("label"), one.get("user")))
        else:
            return None
    return found


def _of_doccano(line: int, said: Object) -> Iterator[Judged]:
    """Read a text of Doccano: all labels are one annotator's, unless each names its user, as early versions do."""
    left = ("label", "labels", "entities", "annotations", "relations", "text", "data", "id", "Comments", "comments")
    cells = records.flat({name: value for name, value in said.items() if name not in left})
    cells |= {"task": records.cell(said.get("id")), "hypothesis": str(said.get("text", said.get("data")))}
    by_user: dict[str, list[Any]] = {}
    for start, end, label, user in _stretches(said) or ():
        by_user.setdefault(records.cell(user), []).append(_error(start, end, [str(label)]))
    for user, errors in (by_user or {"": []}).items():
        yield Judged(line, cells | ({"annotator": user} if user else {}), errors=errors)


def _of_prodigy(line: int, said: Object) -> Iterator[Judged]:
    """Read a task of Prodigy: its spans, and what was chosen."""
    left = {"text", "spans", "tokens", "options", "accept", "answer", "config", "html"}
    plain = {name: value for name, value in said.items() if name not in left and not name.startswith("_")}
    cells = records.flat(plain) | {"task": records.cell(said.get("_input_hash"))}
    told = {"annotator": said.get("_annotator_id") or said.get("_session_id"), "ended": said.get("_timestamp")}
    told["hypothesis"] = said.get("text")
    cells |= {name: records.cell(value) for name, value in told.items() if value}
    spans, chosen = said.get("spans"), said.get("accept")
    errors = [
        _error(one.get("start"), one.get("end"), [str(one.get("label") or "")], text=one.get("text"))
        for one in filter(_is_object, spans if isinstance(spans, list) else ())
    ]
    scores = {"choice": records.cell(chosen[0])} if isinstance(chosen, list) and len(chosen) == 1 else {}
    kind = "" if said["answer"] == "accept" else "cancelled"
    yield Judged(line, cells, scores, errors if isinstance(spans, list) or "options" not in said else None, kind)


# WMT25's release (humeval/04-collect_humeval.py of wmt-conference/wmt25-general-mt): a segment with the judgements of
# each system, which are numbered: human1, errors1, annotator1, human2, …


def parts_of_name(name: str) -> dict[str, str]:
    """Cut a name as WMT writes it into languages, domain, document and segment; another is the segment's.

    >>> parts_of_name("en-ja_JP_#_news_#_guardian.1_#_s0")
    {'pair': 'en-ja_JP', 'domain': 'news', 'doc': 'guardian.1', 'segment': 's0'}
    >>> parts_of_name("en-es-0")
    {'segment': 'en-es-0'}
    """
    pair, *rest = name.split(_CUT)
    if not rest or not languages.split(pair):
        return {"segment": name}
    *before, segment = rest
    if len(before) == 2:
        return {"pair": pair, "domain": before[0], "doc": before[1], "segment": segment}
    return {"pair": pair, "doc": _CUT.join(before) or "all", "segment": segment}


def _of_wmt25(line: int, said: Object) -> Iterator[Judged]:
    """Read a segment: each of its numbered judgements of a system."""
    texts, told = said["tgt_text"], parts_of_name(str(said["doc_id"]))
    for system, judged in said["scores"].items():
        of_system = {"system": system, "source": said.get("src_text"), "hypothesis": texts.get(system)}
        for number in (name.removeprefix("human") for name in judged if name.startswith("human")):
            cells = of_system | {"annotator": judged.get(f"annotator{number}"), annotated.NAMED: "id"} | told
            scores = {"score": records.cell(judged[f"human{number}"])}
            written = {name: records.cell(value) for name, value in cells.items()}
            yield Judged(line, written, scores, judged.get(f"errors{number}"), ends={"score": "0:100"})


def _is_of_wmt25(said: Object) -> bool:
    scores: Any = said.get("scores")
    return {"doc_id", "tgt_text"} <= {*said} and _is_object(scores) and all(map(_is_object, scores.values()))


#: A tool's name, how an object of its exports is told, and what says what was judged in it.
_TOOLS: tuple[tuple[str, Callable[[Object], bool], Callable[[int, Object], Iterator[Judged]]], ...] = (
    ("label-studio", lambda said: _is_object(said.get("data")) and isinstance(said.get("annotations"), list), _of_task),
    ("label-studio", _is_row, _of_row),
    ("prodigy", lambda said: "answer" in said and bool({"_input_hash", "_task_hash"} & set(said)), _of_prodigy),
    ("doccano", lambda said: _stretches(said) is not None, _of_doccano),
    ("wmt25", _is_of_wmt25, _of_wmt25),
)
