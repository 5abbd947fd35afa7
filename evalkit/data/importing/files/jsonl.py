"""Read JSON: lines of objects, an array of them, or an object that holds arrays; numbers keep their digits."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from evalkit import DataError
from evalkit.data import languages
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import HEAD, LONGEST, MOST_COLUMNS, Breaking, Broken, Rows, Source, framed
from evalkit.data.mqm import once

_MOST_INSIDE, _MOST_VALUES = 2_000_000, 5_000_000  # lists and objects, and values: of each kind up to 1 GB in memory
_MOST_IN_ONE, _MOST_NAMES = 2_000_000, 100_000  # values of one object with all in it, and names of one
_MOST_WHOLE = 256 << 20  # bytes of JSON that is read as a whole; lines are read one by one
_DEEPEST = 32  # objects within objects
_ALONE = ({"annotation", "item_i"}, {"info", "payload"}, {"data", "annotations"})  # one object, whatever lists it has
_REMEDY = "Write an array of objects, or one object a line."
_DAMAGED = "is not UTF-8, or holds a damaged letter: save the file in UTF-8"

Row = tuple[int, Mapping[str, str]]  # a line, and its cells under their names


@dataclass
class Records:
    """The objects of a file or, of an object with several arrays, those of one; each with its line.

    What is read as a whole has no lines: there objects are counted from 1. title: the array's name. broken: lines
    that hold no object.
    """

    found: list[tuple[int, dict[str, Any]]]
    broken: list[Broken] = field(default_factory=list)
    title: str = ""
    notes: list[str] = field(default_factory=list)


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


def records(path: Path, content: bytes) -> list[Records]:
    """Take the objects of a JSON file: one list, or one for each array of an object that holds several.

    Raises DataError where it holds no object, is no sound JSON, or is larger than can be read as a whole.
    """
    start = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    first = next((line for line in io.BytesIO(content) if line.strip(b"\xef\xbb\xbf \t\r\n")), b"")
    if len(first) > LONGEST and not start.startswith(b"["):
        raise DataError(f"{path.name} has a line of more than {LONGEST >> 20} MiB. Is it JSON Lines?")
    _demand_few(path.name, content)
    if start.startswith(b"{"):
        _demand_few(f"{path.name}, in its first object,", first, _MOST_IN_ONE)
    alone, reason = loaded(first)
    lines = content.count(b"\n", content.find(first) + len(first)) if first.endswith(b"\n") else 0
    several = lines and content[content.find(first) + len(first) :].strip()
    if not reason and several:
        return [_lines(path, content)]
    if start[:1] not in (b"[", b"{"):
        return [_lines(path, content)]
    if len(content) > _MOST_WHOLE:
        raise DataError(f"{path.name} is JSON of more than {_MOST_WHOLE >> 20} MiB. Write one object a line (.jsonl).")
    whole, problem = (alone, reason) if first == content or not (several or reason) else loaded(content)
    if problem:
        if start.startswith(b"{") and any(isinstance(loaded(line)[0], dict) for line in content.split(b"\n")[:HEAD]):
            return [_lines(path, content)]
        raise DataError(f"{path.name} {problem}. {_REMEDY}")
    return _of_whole(path, whole)


def _demand_few(name: str, content: bytes, most: int = _MOST_VALUES) -> None:
    """Refuse what holds more lists, objects and values than can be held in memory, however few bytes each has."""
    inside, values = _counts(content)
    if inside > _MOST_INSIDE or values > most:  # some may be letters of texts
        whole = content.replace(rb"\\", b"").replace(rb"\"", b"")
        marks = np.frombuffer(whole.translate(None, bytes({*range(256)} - {*b'"[{,'})), dtype=np.uint8)
        inside, values = _counts(marks[np.cumsum(marks == ord('"'), dtype=np.uint8) % 2 == 0].tobytes())
    if inside > _MOST_INSIDE or values > most:
        raise DataError(
            f"{name} holds {inside:,} lists and objects and {values:,} values, more than can be read at once. "
            "Split it, or write the judgements as CSV."
        )


def _counts(content: bytes) -> tuple[int, int]:
    return content.count(b"[") + content.count(b"{"), content.count(b",")


def loaded(text: bytes) -> tuple[Any, str]:
    """Read JSON within bounds: what it says, and why it is none. Numbers are texts of their digits.

    >>> loaded(b'{"score": 4.50}')
    ({'score': '4.50'}, '')
    """
    try:
        found = json.loads(
            text.decode("utf-8-sig"),
            parse_float=Digits,
            parse_int=Digits,
            parse_constant=Digits,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError:
        return None, _DAMAGED
    except (ValueError, RecursionError) as problem:
        return None, f"is no JSON object: {problem}"
    return found, ""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Take an object, in which a name stands once, and that a table's columns could hold."""
    if len(pairs) > _MOST_NAMES:
        raise ValueError(f"one object has {len(pairs):,} names")
    return once(pairs)


def _lines(path: Path, content: bytes) -> Records:
    """Take an object from each line."""
    result = Records([], Breaking(path.name, _REMEDY))
    for line, raw in enumerate(io.BytesIO(content), 1):
        if len(raw) > LONGEST:
            raise DataError(f"{path.name}, line {line}: longer than {LONGEST >> 20} MiB. Is it JSON Lines?")
        if not raw.strip(b"\xef\xbb\xbf \t\r\n"):
            continue
        found, reason = loaded(raw)
        if not reason and (b"\\ud" in raw.lower() or b"\xef\xbf\xbd" in raw):
            reason = _flaw(found)
        if not reason and not isinstance(found, dict):
            reason = "is no JSON object"
        if reason:
            result.broken.append(Broken(line, reason, [raw.decode("utf-8-sig", "replace").strip()]))
        else:
            result.found.append((line, found))
    if not result.found:
        raise DataError(f"{path.name} has no JSON object on its lines. Write one object a line (JSON Lines).")
    return result


def _flaw(found: Any) -> str:
    """Say which letters of a value are none: half of a surrogate pair, which no file can hold, or a damaged one."""
    try:
        text = json.dumps(found, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which is no letter: write the whole letter"
    except RecursionError:
        return "is no JSON object: it nests too deep"
    return _DAMAGED if "\ufffd" in text else ""


def _of_whole(path: Path, whole: Any) -> list[Records]:
    """Take the objects of an array, of an object's arrays, or the one object that there is."""
    if isinstance(whole, list):
        return [_counted(path, whole, "")]
    if not isinstance(whole, dict):
        raise DataError(f"{path.name} holds one value, no objects. {_REMEDY}")
    arrays = {name: value for name, value in whole.items() if _objects(value)}
    others = {name: value for name, value in whole.items() if name not in arrays}
    if not arrays or columns.count_known(_names(others)) > 1 or any(one <= set(whole) for one in _ALONE):
        return [_counted(path, [whole], "")]
    return [_counted(path, value, name) for name, value in arrays.items()]


def _names(found: Mapping[str, Any]) -> list[str]:
    """Name the cells of an object; none where it cannot be written as cells."""
    try:
        return list(flat(found))
    except (ValueError, RecursionError):
        return []


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value[:HEAD])


def _counted(path: Path, values: list[Any], title: str) -> Records:
    """Count the objects of an array."""
    result = Records([], Breaking(path.name, _REMEDY), title=title)
    where = f"the array {title!r}" if title else "the file"
    result.notes = [f"{where} is read as a whole: what is called a line is the number of an object in it"]
    for place, value in enumerate(values, 1):
        reason = _flaw(value) or ("" if isinstance(value, dict) else "is no JSON object")
        if reason:
            result.broken.append(Broken(place, reason, [ascii(value)]))
        else:
            result.found.append((place, value))
    if not result.found:
        raise DataError(f"{path.name} has no JSON object in it. {_REMEDY}")
    return result


def flattened(path: Path, read: Records) -> Iterator[Row]:
    """Yield the cells of each object under dotted names; objects that nest too deep go to the broken ones."""
    for line, found in read.found:
        try:
            yield line, flat(found)
        except (ValueError, RecursionError) as problem:
            names = as_text([*islice(found, MOST_COLUMNS)])
            read.broken.append(Broken(line, f"is no JSON object: {problem}", [names]))


def flat(found: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, str]:
    """Write an object as cells: an object within it under dotted names, nothing as nothing, lists as JSON.

    Raises ValueError where objects nest too deep, or two values have one name.

    >>> flat({"rater": {"id": "Ann"}, "score": 4, "spans": [1, 2], "seen": None})
    {'rater.id': 'Ann', 'score': '4', 'spans': '[1, 2]', 'seen': ''}
    """
    if depth > _DEEPEST:
        raise ValueError(f"objects nest more than {_DEEPEST} deep")
    cells: dict[str, str] = {}
    for name, value in found.items():
        title = f"{before}{name}"
        inner = flat(value, f"{title}.", depth + 1) if isinstance(value, dict) and value else {title: cell(value)}
        if twice := [one for one in inner if one in cells]:
            raise ValueError(f"two values have the name {min(twice)}")
        cells |= inner
        if len(cells) > 2 * MOST_COLUMNS:
            raise ValueError(f"more than {2 * MOST_COLUMNS:,} values")
    return cells


def source(path: Path, digest: str, read: Records, rows: Iterable[Row], notes: Iterable[str] = ()) -> Source:
    """Lay rows out as a table. The names of all rows are its columns, wherever one appears.

    Raises DataError where they have more names than a table has columns.
    """
    cells: dict[str, list[str]] = {}
    lines: list[int] = []
    same: dict[str, str] = {}  # each distinct cell once
    for line, found in rows:
        for name in found:
            if name not in cells:
                cells[name] = [""] * len(lines)
        if len(cells) > MOST_COLUMNS:
            raise DataError(
                f"{path.name}, line {line}: more than {MOST_COLUMNS:,} different names up to here. Write each "
                "judgement under the same names."
            )
        for name, column in cells.items():
            text = found.get(name, "")
            column.append(same.setdefault(text, text))
        lines.append(line)

    def row(place: int) -> list[str]:
        return [column[place] for column in cells.values()]

    def taken(header: list[str], after: int) -> Rows:
        return Rows(
            framed(zip(lines, zip(*cells.values())), header), row, sorted(read.broken, key=lambda one: one.line)
        )

    titles = [name if name.strip() else f"column {place}" for place, name in enumerate(cells, 1)]
    head = [(0, titles), *((line, row(place)) for place, line in enumerate(lines[:HEAD]))]
    return Source(
        path,
        digest,
        head,
        taken,
        [*read.notes, *notes],
        title=read.title,
        named=read.title if languages.in_name(read.title) else "",
    )


def cell(value: object) -> str:
    """Write a value as a cell: text as it is, nothing as nothing, lists and objects as JSON."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value)
    return as_text(value)


def as_text(value: object) -> str:
    """Write a value as JSON, numbers with their own digits."""
    if isinstance(value, Digits):
        return str(value)
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{json.dumps(str(name), ensure_ascii=False)}: {as_text(one)}" for name, one in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
