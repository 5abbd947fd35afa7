"""Lay out what Label Studio exports, in full or short, as judgements; and what all annotation tools say of one."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import jsonl
from evalkit.data.importing.kinds import layouts
from evalkit.data.importing.kinds.paired import is_numeric

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
    errors: list[dict[str, Any]] | None
    kind: str = ""
    preferred: str | None = None


def are_scores(cells: list[str]) -> bool:
    """Tell numbers, and words of a scale, from texts.

    >>> are_scores(["4", "3.5"]), are_scores(["Good", "Fair", "Good"]), are_scores(["The end is wrong.", "fine"])
    (True, True, False)
    """
    few = len({*cells}) <= _STEPS and max(map(len, cells)) <= _WORDS
    return is_numeric(cells) or (few and 2 * len({*cells}) <= len(cells) + 1)


def error(start: Any, end: Any, label: str, severity: str = "", text: Any = None, side: str = "target") -> dict:
    """Write an error as Pearmut does, its end included; a label may be its severity, its category, or both."""
    category = label
    if found := _LABEL.fullmatch(label.strip()):
        severity, category = severity or found[1] or found[4], found[2] or found[3] or ""
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


def is_task(found: Mapping[str, Any]) -> bool:
    return isinstance(found.get("data"), dict) and isinstance(found.get("annotations"), list)


def of_task(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
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
            if said is not None and (kind != "text" or is_numeric([jsonl.cell(said)])):
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
        one = error(whole.get("start"), whole.get("end"), "", text=value.get("text"), side=side)
        called = _called([*map(str, labels), *more.get(result.get("id"), [])])
        found.append(one | called | graded.get(result.get("id"), {}))
    return found


def _called(labels: list[str]) -> dict[str, Any]:
    """Tell severity and category among several labels of one error."""
    read = [error(0, 1, label) for label in labels]
    severity = next((one["severity"] for one in read if one["severity"]), None)
    return {"severity": severity, "category": " / ".join(one["category"] for one in read if one["category"]) or None}


def is_row(found: Mapping[str, Any]) -> bool:
    return {"annotation_id", "annotator"} <= set(found) and bool({"lead_time", "created_at"} & set(found))


def of_row(line: int, found: Mapping[str, Any]) -> Iterator[Judged]:
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
            regions += [
                {"id": (str(one["start"]), str(one.get("end"))), "value": one, "to_name": side, "from_name": name}
                for one in value
            ]
            marked = True
        elif isinstance(value, dict) and "selected" in value:
            preferred = jsonl.cell(value["selected"])
        elif isinstance(value, dict) and value.get("choices"):
            scores.append((name, " - ".join(map(str, value["choices"]))))
        elif (
            isinstance(value, list)
            and len(value) == 1
            and isinstance(value[0], dict)
            and (said := value[0].get("rating", value[0].get("number"))) is not None
        ):
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
