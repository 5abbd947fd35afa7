"""Read JSON lines, an object a line; numbers keep their digits, nested values stay JSON."""

import json
from collections.abc import Iterator
from pathlib import Path

from evalkit import DataError
from evalkit.data.importing.chunks import MOST_COLUMNS, Broken, Chunk, framed
from evalkit.data.importing.text import HEAD, LONGEST
from evalkit.data.registry import digest

_BATCH = 20_000  # lines


class Lines:
    """A file with a JSON object on each line. The names of all its objects are its columns, wherever one first appears.

    Raises DataError where its first lines hold no object, or its objects have more names than a table has columns.
    """

    def __init__(self, path: Path):
        self.path, self.notes, self.digest = path, [], digest(path)
        objects = []
        for line, found in self._objects():
            if isinstance(found, dict):
                objects.append((line, found))
            if len(objects) == HEAD or line > 10 * HEAD:
                break
        if not objects:
            raise DataError(f"{path.name} has no JSON object on its first lines. Write one object a line (JSON Lines).")
        self.names = self._names()
        self.head = [(0, self.names)] + [
            (line, [found.get(name, "") for name in self.names]) for line, found in objects
        ]

    def chunks(self, header: list[str], *, after: int) -> Iterator[Chunk]:
        """Yield the objects as rows; ``header`` renames the columns in order."""
        rows, lines, broken = [], [], []
        for line, found in self._objects():
            if isinstance(found, str):
                broken.append(Broken(line, found.partition("\0")[0], [found.partition("\0")[2]]))
            else:
                rows.append([found.get(name, "") for name in self.names])
                lines.append(line)
            if len(rows) + len(broken) == _BATCH:
                yield Chunk(framed(rows, lines, header), rows.__getitem__, broken)
                rows, lines, broken = [], [], []
        if rows or broken:
            yield Chunk(framed(rows, lines, header), rows.__getitem__, broken)

    def _names(self) -> list[str]:
        """List the names of all objects, in the order in which they first appear."""
        names: dict[str, None] = {}
        for line, text in self._texts():
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                continue  # told when its row is read
            if isinstance(found, dict) and not names.keys() >= found.keys():
                names |= dict.fromkeys(found)
                if len(names) > MOST_COLUMNS:
                    raise DataError(
                        f"{self.path.name}, line {line}: more than {MOST_COLUMNS:,} different names up to here. Write "
                        "each judgement under the same names."
                    )
        return list(names)

    def _objects(self) -> Iterator[tuple[int, dict[str, str] | str]]:
        """Yield line and object, or for a broken line the reason with the line's text."""
        for line, text in self._texts():
            yield line, _object(text)

    def _texts(self) -> Iterator[tuple[int, str]]:
        """Yield the lines that hold anything, with their numbers."""
        with self.path.open("rb") as stream:
            for line, raw in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
                if len(raw) > LONGEST:
                    raise DataError(
                        f"{self.path.name}, line {line}: longer than {LONGEST >> 20} MiB. Is it JSON Lines?"
                    )
                text = raw.decode("utf-8-sig" if line == 1 else "utf-8", "replace").strip()
                if text:
                    yield line, text


def _object(text: str) -> dict[str, str] | str:
    """Read one line: its cells as text, or why it is no object."""
    if "\ufffd" in text:
        return f"is not UTF-8, or holds a damaged letter: save the file in UTF-8\0{text}"
    try:
        found = json.loads(
            text, parse_float=_Digits, parse_int=_Digits, parse_constant=_Digits, object_pairs_hook=_once
        )
    except (ValueError, RecursionError) as problem:
        return f"is no JSON object: {problem}\0{text}"
    if not isinstance(found, dict):
        return f"is no JSON object\0{text}"
    return {str(name): _cell(value) for name, value in found.items()}


class _Digits(str):
    """A number as it is written."""


def _once(pairs: list[tuple[str, object]]) -> dict:
    """Refuse an object that names something twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in it")
    return found


def _cell(value: object) -> str:
    """Write a value as a cell; numbers within lists are numbers again."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str, cls=_Encoder)


class _Encoder(json.JSONEncoder):
    """Write nested values, numbers with their own digits."""

    def encode(self, value: object) -> str:
        if isinstance(value, _Digits):
            return str(value)
        if isinstance(value, dict):
            inner = (
                f"{json.dumps(str(name), ensure_ascii=False)}: {self.encode(item)}" for name, item in value.items()
            )
            return "{" + ", ".join(inner) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.encode, value)) + "]"
        return super().encode(value)
