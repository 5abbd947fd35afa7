"""Take the objects of JSON: lines of them, an array, or an object that holds arrays; nested ones a row a judgement."""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import delimited, languages
from evalkit.data.importing import numbers, vocabulary
from evalkit.data.importing.tables import HEAD, MOST_COLUMNS, Rejection, Table, text_table
from evalkit.data.importing.vocabulary import bare, is_criterion, meaning

_DEEPEST = 32  # objects within objects
_MOST_VALUES = 6_000_000  # of a file, by its commas and opening brackets
_ALONE = ({"annotation", "item_i"}, {"info", "payload"}, {"data", "annotations"})  # one object, whatever lists it has
_REMEDY = "Write an array of objects, or one object a line."
_DAMAGED = "is not UTF-8, or holds a damaged letter: save the file in UTF-8"
_BLANK = b"\xef\xbb\xbf \t\r\n"

Object = dict[str, Any]
Cells = Mapping[str, Any]


@dataclass
class Records:
    """The objects of a file or, of an object with several arrays, those of one; each with its line.

    What is read as a whole has no lines: there objects are counted from 1. title: the array's name. broken: lines
    that hold no object.
    """

    objects: list[tuple[int, Object]]
    broken: list[Rejection] = field(default_factory=list)
    title: str = ""
    notes: list[str] = field(default_factory=list)


class Digits(str):
    """A number as it is written."""

    __slots__ = ()


def loaded(text: bytes) -> tuple[Any, str]:
    """Read JSON: what it says, and why it is none. Numbers are texts of their digits.

    >>> loaded(b'{"score": 4.50}')
    ({'score': '4.50'}, '')
    """
    try:
        hooks: dict[str, Any] = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), Digits)
        said = json.loads(text.decode("utf-8-sig"), **hooks, object_pairs_hook=_object)
    except UnicodeDecodeError:
        return None, _DAMAGED
    except (ValueError, RecursionError) as problem:
        return None, f"is no JSON object: {problem}"
    return said, ""


def in_cell(cell: object) -> Any:
    """Read JSON that stands in a cell; None where it is none."""
    return loaded(cell.encode("utf-8", "surrogatepass"))[0] if isinstance(cell, str) else None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Take an object, in which a name stands once: JSON would silently take the last."""
    if len(said := dict(pairs)) < len(pairs):
        raise ValueError("a name stands twice in it")
    return said


def content(path: Path, remedy: str) -> bytes:
    """Read a file of JSON. Raises DataError, ending in the remedy, where it holds more than memory has room for."""
    text = delimited.content(path)
    if sum(map(text.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise DataError(f"{path.name} holds more than {_MOST_VALUES:,} values, more than can be read at once. {remedy}")
    return text


def whole(path: Path, remedy: str) -> Any:
    """Read a side file that is JSON as a whole. Raises DataError, ending in the remedy, where it is none."""
    said, reason = loaded(content(path, remedy))
    if reason:
        raise DataError(f"{path.name} {reason}. {remedy}")
    return said


def records(path: Path) -> list[Records]:
    """Take the objects of a JSON file: one list, or one for each array of an object that holds several.

    Raises DataError where it holds no object, or is no sound JSON.
    """
    text = content(path, "Split it, or write the judgements as CSV.")
    start = text.lstrip(_BLANK)[:1]
    said, problem = loaded(text) if start in (b"[", b"{") else (None, "")
    if said is not None:
        return _of_whole(path, said)
    if start != b"[" and any(isinstance(loaded(line)[0], dict) for line in text.split(b"\n", HEAD)[:HEAD]):
        return [_lines(path, text)]
    raise DataError(f"{path.name} {problem or 'has no JSON object in it'}. {_REMEDY}")


def _lines(path: Path, text: bytes) -> Records:
    """Take an object from each line."""
    found = []
    for line, raw in enumerate(io.BytesIO(text), 1):
        if raw.strip(_BLANK):
            said, reason = loaded(raw)
            if b"\\ud" in raw.lower() or b"\xef\xbf\xbd" in raw:
                reason = reason or _flaw(said)
            sound = not reason and isinstance(said, dict)
            found.append((line, said, reason, "" if sound else raw.decode("utf-8-sig", "replace").strip()))
    return _gathered(path, found, "Write one object a line (JSON Lines).")


def _of_whole(path: Path, said: Any) -> list[Records]:
    """Take the objects of an array, of an object's arrays, or the one object that there is; and count them."""
    arrays = {"": said}
    if isinstance(said, dict):
        arrays = {name: value for name, value in said.items() if _objects(value)}
        try:
            others = flat({name: value for name, value in said.items() if name not in arrays})
        except (ValueError, RecursionError):
            others = {}
        if not arrays or vocabulary.count_known(others) > 1 or any(one <= set(said) for one in _ALONE):
            arrays = {"": [said]}
    found = []
    for title, values in arrays.items():
        note = f"{title or 'the file'} is read as a whole: what is called a line is the number of an object in it"
        counted = ((place, value, _flaw(value), "") for place, value in enumerate(values, 1))
        found.append(replace(_gathered(path, counted, _REMEDY), title=title, notes=[note]))
    return found


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value[:HEAD])


def _gathered(path: Path, found: Iterable[tuple[int, Any, str, str]], remedy: str) -> Records:
    """Gather the objects among values, each with its line, why it is none, and how it stands there then."""
    result = Records([])
    for line, value, reason, shown in found:
        if reason or not isinstance(value, dict):
            result.broken.append(Rejection(line, reason or "is no JSON object", cells=[shown or ascii(value)]))
        else:
            result.objects.append((line, value))
    if not result.objects:
        raise DataError(f"{path.name} has no JSON object in it. {remedy}")
    return result


def _flaw(said: Any) -> str:
    """Say which letters of a value are none: half of a surrogate pair, which no file can hold, or a damaged one."""
    try:
        text = json.dumps(said, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which is no letter: write the whole letter"
    except RecursionError:
        return "is no JSON object: it nests too deep"
    return _DAMAGED if "\ufffd" in text else ""


def flat(said: Cells, before: str = "", depth: int = 0) -> dict[str, str]:
    """Write an object as cells: an object within it under dotted names, nothing as nothing, lists as JSON.

    Raises ValueError where objects nest too deep, or two values have one name.

    >>> flat({"rater": {"id": "Ann"}, "score": 4, "spans": [1, 2], "seen": None})
    {'rater.id': 'Ann', 'score': '4', 'spans': '[1, 2]', 'seen': ''}
    """
    if depth > _DEEPEST:
        raise ValueError(f"objects nest more than {_DEEPEST} deep")
    cells: dict[str, str] = {}
    for name, value in said.items():
        title = f"{before}{name}"
        inner = flat(value, f"{title}.", depth + 1) if isinstance(value, dict) and value else {title: cell(value)}
        if twice := [one for one in inner if one in cells]:
            raise ValueError(f"two values have the name {min(twice)}")
        cells |= inner
        if len(cells) > 2 * MOST_COLUMNS:
            raise ValueError(f"more than {2 * MOST_COLUMNS:,} values")
    return cells


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
        pairs = (f"{json.dumps(str(name), ensure_ascii=False)}: {as_text(one)}" for name, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_table(path: Path, read: Records) -> Table:
    """Lay objects out as a table under dotted names, nested ones a row a judgement."""
    read = _unfolded(read)
    rows = []
    for line, said in read.objects:
        try:
            rows.append((line, flat(said)))
        except (ValueError, RecursionError) as problem:
            names = as_text([*said][:MOST_COLUMNS])
            read.broken.append(Rejection(line, f"is no JSON object: {problem}", cells=[names]))
    return laid_out(path, read, rows)


def laid_out(path: Path, read: Records, rows: Iterable[tuple[int, Cells]], *, kind: str = "") -> Table:
    """Make a table of rows of cells; the names of all rows are its columns, wherever one appears.

    Cells that are no texts stay what they are. Raises DataError where there are more names than a table has columns.
    """
    rows, names = list(rows), dict[str, None]()
    for line, cells in rows:
        names |= dict.fromkeys(cells)
        if len(names) > MOST_COLUMNS:
            raise DataError(
                f"{path.name}, line {line}: more than {MOST_COLUMNS:,} different names up to here. Use the same names."
            )
    texts = [name for name in names if all(isinstance(cells.get(name, ""), str) for _, cells in rows)]
    lines = [line for line, _ in rows]
    frame = text_table({name: [cells.get(name, "") for _, cells in rows] for name in texts}, lines)
    for name in (name for name in names if name not in texts):
        frame[name] = [cells.get(name) for _, cells in rows]
    titles = [name if name.strip() else f"column {place}" for place, name in enumerate(frame, 1)]
    return Table(
        path,
        frame.set_axis(titles, axis=1),
        kind=kind,
        title=read.title,
        named=read.title if languages.in_name(read.title) else path.name,
        notes=read.notes,
        broken=sorted(read.broken, key=lambda one: one.line),
    )


# Nested objects, in which names are people, systems or segments

_LOOKS = {
    "annotator": re.compile(
        r"(w|a|ann|p|worker|annotator|rater|user|judge|participant|evaluator)[\W_]*\d+|\S+@\S+", re.I
    ),
    "segment": re.compile(r"(item|it|seg|segment|sent|sentence|line|src)?[\W_]*\d+", re.I),
}
_CALLED = {role: frozenset(words.split()) for role, words in vocabulary.table("called").items()}
_OF_ERRORS = {"severity", "category", "start", "end", "start_i", "end_i", "span"}
_MOST = 8  # levels of objects


def _unfolded(read: Records) -> Records:
    """Return records with an object for each judgement where theirs hold several under names; else as they are.

    Names that are no headings, at as many places as there are judgements, become a column: of annotators, systems or
    segments where what the object is called, how the names look, or what else is lacking tells which; else of that
    object's own name, which ``--map`` then takes. Where a file is nothing but such names, level upon level, each level
    is a column: level 1, level 2, …
    """
    rows, levels = read.objects, dict[str, tuple[list[str], set[str]]]()
    if not _headed(_names(said for _, said in rows)) and all(len(said) > 1 for _, said in rows):
        rows = [(line, {"": said}) for line, said in rows]
    while len(levels) < _MOST and (inside := _several([said for _, said in rows])):
        held = [said[name] for _, said in rows for name in inside if isinstance(said.get(name), dict)]
        levels[level := f"level {len(levels) + 1}"] = inside, _names(held)
        rows = [(line, one) for line, said in rows for one in _each(said, inside, level)]
    if any("" in said for _, said in rows):
        return read  # not all of it is judgements
    called = _called(levels, _names(said for _, said in rows))
    rows = [(line, {called.get(name, name): value for name, value in said.items()}) for line, said in rows]
    notes = [
        f"what {', '.join(inside) or 'each object'} holds became a row each"
        + (f", by {called[level]}" if names else "")
        for level, (inside, names) in levels.items()
    ]
    return replace(read, objects=rows, notes=[*read.notes, *notes])


def _names(objects: Iterable[Object]) -> set[str]:
    return {name for one in objects for name in one}


def _headed(names: Iterable[str]) -> bool:
    return any(meaning(name) is not None or is_criterion(name) or name in vocabulary.OTHERS for name in names)


def _scored(names: Iterable[str]) -> bool:
    return any(meaning(name) == "score" or is_criterion(name) for name in names)


def _called(levels: Mapping[str, tuple[list[str], set[str]]], present: set[str]) -> dict[str, str]:
    """Call each level of names what it is, where no other may be it; the last one by what is lacking.

    What is not told is called as the object in which it stands, or by its number. levels: of each the headings under
    which it stands, and its names.
    """
    lacking, names = _lacking(present), {level: (inside[0], own) for level, (inside, own) in levels.items() if own}
    told = {level: _role(*own, lacking) for level, own in names.items()}
    called = {level: role for level, role in told.items() if role and [*told.values()].count(role) == 1}
    left, lacking = names.keys() - called.keys(), [role for role in lacking if role not in called.values()]
    if len(left) == len(lacking) == 1:
        return called | dict(zip(left, lacking))
    for level in sorted(left):
        [heading, _] = names[level]
        called[level] = level if heading in {"", *present, *called.values()} else heading
    return called


def _lacking(headings: set[str]) -> list[str]:
    """Say what no heading tells; a source text tells the segment."""
    have = {meaning(name) for name in headings}
    return [role for role in _CALLED if role not in have and not (role == "segment" and "source" in have)]


def _role(heading: str, names: set[str], lacking: list[str]) -> str:
    """Say what names are, of what is lacking: as they look, or their object is called; "" where open."""
    called = [role for role, words in _CALLED.items() if bare(heading) in words]
    looks = [role for role, look in _LOOKS.items() if all(map(look.fullmatch, names))]
    return next((role for role in (*looks, *called) if role in lacking), "")


def _several(objects: list[Object]) -> list[str]:
    """Find what holds several judgements in each object: criteria whose scores stand under names, or one heading."""
    first = objects[0] if objects else {}
    criteria = [name for name, value in first.items() if is_criterion(name) and isinstance(value, dict)]
    candidates = [criteria, *([name] for name in first)]
    return next((inside for inside in candidates if inside and _holds(inside, objects)), [])


def _holds(inside: list[str], objects: list[Object]) -> bool:
    """Tell whether objects hold several judgements under headings: a list of them, or names that lead to them."""
    heading, first = inside[0], objects[0]
    if isinstance(listed := first[heading], list):
        if not all(isinstance(one, dict) for one in listed) or "score" in map(meaning, first):
            return False
        names = _names(listed)
        return _scored(names) and "annotator" in map(meaning, names) and not _OF_ERRORS & names
    if not isinstance(first[heading], dict):
        return False
    held = [said[name] for said in objects for name in inside if isinstance(said.get(name), dict)]
    names, parts = _names(held), [part for value in held for part in value.values()]
    if not parts or _headed(names):
        return False
    if all(isinstance(part, dict) for part in parts):
        called = any(bare(heading) in words for words in _CALLED.values())
        below = [one for part in parts for one in part.values()]
        deeper = any(isinstance(one, dict) for one in below) if called else not heading and bool(below)
        return deeper or _scored(_names(parts))
    role = _role(heading, names, _lacking({*first}))
    told = role == "annotator" or bare(heading) in _CALLED.get(role, ())
    given = [text for part in parts if (text := cell(part)) and text.casefold() not in numbers.ABSENT]
    return (told or is_criterion(heading) or (not heading and len(first) > 1)) and numbers.is_numeric(given)


def _each(said: Object, inside: list[str], level: str) -> Iterator[Object]:
    """Take the judgements of an object apart, each with what all of them share."""
    rest = {name: value for name, value in said.items() if name not in inside}
    values = {name: said.get(name) or {} for name in inside}
    listed = values[inside[0]]
    if all(isinstance(held, dict) for held in values.values()):
        for one in dict.fromkeys(one for held in values.values() for one in held):
            parts = [_part(name, held.get(one)) for name, held in values.items()]
            yield rest | {level: one} | {name: value for part in parts for name, value in part.items()}
    elif isinstance(listed, list) and all(isinstance(one, dict) for one in listed):
        yield from (rest | one for one in listed)
    else:  # not what the others have there: a row of its own, which lacks what a judgement must have
        yield said


def _part(heading: str, part: Any) -> Object:
    """Take what stands under a name: what a criterion got, a score, a judgement, or a further level of names."""
    if is_criterion(heading) or (not heading and isinstance(part, dict) and not _headed(part)):
        return {heading: part}
    return part if isinstance(part, dict) else {"score": part}
