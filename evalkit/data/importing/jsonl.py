"""Read JSON lines, an object a line; numbers keep their digits, nested values stay JSON."""

import io
import json
from pathlib import Path

from evalkit import DataError
from evalkit.data.importing.rows import HEAD, LONGEST, MOST_COLUMNS, Broken, Rows, Source, framed
from evalkit.data.mqm import once


def source(path: Path, content: bytes, digest: str) -> Source:
    """Take a file with a JSON object on each line. The names of all objects are its columns, wherever one appears.

    Raises DataError where it holds no object, or its objects have more names than a table has columns.
    """
    columns: dict[str, list[str]] = {}
    lines: list[int] = []
    broken: list[Broken] = []
    same: dict[str, str] = {}  # each distinct cell once
    for line, raw in enumerate(io.BytesIO(content), 1):
        if len(raw) > LONGEST:
            raise DataError(f"{path.name}, line {line}: longer than {LONGEST >> 20} MiB. Is it JSON Lines?")
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8", "replace").strip()
        if not text:
            continue
        found, reason = _object(text)
        if reason:
            broken.append(Broken(line, reason, [text]))
            continue
        for name in found:
            if name not in columns:
                columns[name] = [""] * len(lines)
        if len(columns) > MOST_COLUMNS:
            raise DataError(
                f"{path.name}, line {line}: more than {MOST_COLUMNS:,} different names up to here. Write each "
                "judgement under the same names."
            )
        for name, cells in columns.items():
            cell = found.get(name, "")
            cells.append(same.setdefault(cell, cell))
        lines.append(line)
    if not columns:
        raise DataError(f"{path.name} has no JSON object on its lines. Write one object a line (JSON Lines).")

    def row(place: int) -> list[str]:
        return [cells[place] for cells in columns.values()]

    def read(header: list[str], after: int) -> Rows:
        return Rows(framed(zip(lines, zip(*columns.values())), header), row, broken)

    titles = [name if name.strip() else f"column {place}" for place, name in enumerate(columns, 1)]
    head = [(0, titles), *((line, row(place)) for place, line in enumerate(lines[:HEAD]))]
    return Source(path, digest, head, read)


def _object(text: str) -> tuple[dict[str, str], str]:
    """Read one line: its cells as text, and why it is no object."""
    if "\ufffd" in text:
        return {}, "is not UTF-8, or holds a damaged letter: save the file in UTF-8"
    try:
        found = json.loads(text, parse_float=_Digits, parse_int=_Digits, parse_constant=_Digits, object_pairs_hook=once)
        if isinstance(found, dict):
            cells = {str(name): _cell(value) for name, value in found.items()}
            "".join([*cells, *cells.values()]).encode()
            return cells, ""
    except UnicodeEncodeError:
        return {}, "holds half of a surrogate pair, which is no letter: write the whole letter"
    except (ValueError, RecursionError) as problem:
        return {}, f"is no JSON object: {problem}"
    return {}, "is no JSON object"


class _Digits(str):
    """A number as it is written."""


def _cell(value: object) -> str:
    """Write a value as a cell: text as it is, nothing as nothing, lists and objects as JSON."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value)
    return _nested(value)


def _nested(value: object) -> str:
    """Write a nested value as JSON, numbers with their own digits."""
    if isinstance(value, _Digits):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(name), ensure_ascii=False)}: {_nested(one)}"
                               for name, one in value.items()) + "}"  # fmt: skip
    if isinstance(value, list):
        return "[" + ", ".join(map(_nested, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
