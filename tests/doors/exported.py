"""Reports, sound and spoilt, through ``export``: what it writes is what the report records, or nothing is written."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign import exports
from evalkit.data.registry import digest

TEXTS = [
    "Ada",
    "=cmd|' /C calc'!A0",
    "+SUM(1)",
    "-x",
    "@a",
    "\t=1",
    "\r=1",
    "'",
    "007",
    "1e5",
    "-3.5",
    "NA",
    "True",
    "",
    "a,b",
    'q"q',
    "字",
    " lead",
    "line\nend",
    "<b>&amp;</b>",
    "$x$",
    "\u202e",
    "\x00",
    "𝔘",
    "x;=1",
    ";+1",
    '"=1',
    "\ufeff=1",
]
NAMES = [
    "system",
    "score",
    "=n",
    "a b",
    "-",
    "ü",
    "",
    "CON",
    "export",
    "../x",
    "a{b}%s",
    "n" * 300,
    "@",
    "\t",
    "a\nb",
    "values",
    "𝔘" * 90,
    "e\u0301",
    "é",
]
NUMBERS = [0, -1, 3.25, -0.125, 1e-300, 1e300, 2**53 + 1, 123456789.123456, 1 / 3, -7]
JUNK = [
    None,
    True,
    -1,
    1e400,
    10**30,
    2**63,
    math.nan,
    "x",
    "",
    "\ud800",
    "\x00",
    [],
    {},
    [[]],
    [{}],
    {"": {}},
    [1, "x"],
    [{"a": 1}, 2],
    {"name": 1},
    "n" * 500,
    [{"a": {"b": [1]}}],
    "real",
    [{"": ""}],
    -0.0,
    [None],
    "\u2028",
    [{"a": 2**70}, {"a": None}],
    [{"a": True}, {"a": 1}],
    [{"a": [math.nan]}],
    [{"a": 2**53 + 1}, {"a": None}],
    [{"a": 2**53 + 1}, {"a": 0.5}],
    [{"a": 1}, {"A": 2}],
    {"key": {}},
]


def report(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a report as a study writes it."""
    tables = {_name(rng): _table(rng) for _ in range(rng.integers(1, 4))}
    values = {"alpha": 0.5, "note": _of(rng, TEXTS), "list": [1, 2], "nothing": []}
    return {
        "study": "campaign",
        "title": "t",
        "status": "ok",
        "seconds": 1.0,
        "parameters": {"rules": ["a < 5"]},
        "data": [{"name": "mine", "source": "real", "origin": "o", "digest": "git:ab"}],
        "recorded": {**tables, **values, **_words(rng)},
        "published": [],
        "signature": "evalkit|seed:7",
    }


def _of(rng: np.random.Generator, choices: list[Any]) -> Any:
    return choices[rng.integers(len(choices))]


def _name(rng: np.random.Generator) -> str:
    return _of(rng, NAMES) if rng.random() < 0.5 else f"table_{rng.integers(9)}"


def _table(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw rows whose columns hold texts, numbers, truth or whatever there is; some cells are gaps."""
    kinds: list[list[Any]] = [TEXTS, NUMBERS, [True, False], [*TEXTS, *NUMBERS, True], [[1, "x"], {"a": "=1"}], [None]]
    columns = {_name(rng): _of(rng, kinds) for _ in range(rng.integers(1, 5))}
    gaps = rng.choice([0.0, 0.2])
    return [
        {name: None if rng.random() < gaps else _of(rng, kind) for name, kind in columns.items()}
        for _ in range(rng.integers(1, 6))
    ]


def _words(rng: np.random.Generator) -> dict[str, Any]:
    """Draw what a campaign's report records for a paper."""
    work = {"key": "holm1979", "kind": "article", "author": "Holm, S.", "title": "A {T}est", "year": "1979"}
    methods = {
        "text": "By a_b (Holm 1979).",
        "latex": r"By a\_b \citep{holm1979}.",
        "markdown": "By",
        "references": ["Holm, S. (1979)."],
        "bibliography": [work],
    }
    answer = {"number": "1.1", "criterion": "", "question": "Which?", "known": _of(rng, TEXTS), "blank": "a link"}
    sheet = {"template": "HEDS", "source": "s", "summary": "Of 1 questions", "answers": [answer] * 2}
    return ({"methods": methods} if rng.random() < 0.7 else {}) | ({"datasheet": sheet} if rng.random() < 0.7 else {})


def _places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the way to every value inside another."""
    inside = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    return [place, *(one for key, inner in inside for one in _places(inner, (*place, key)))]


def _parent(found: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Choose a value inside a report: what holds it, and its key there."""
    way = _of(rng, _places(found)[1:])
    for key in way[:-1]:
        found = found[key]
    return found, way[-1]


def put_junk(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Put something of another kind in the place of a value."""
    holder, key = _parent(found, rng)
    holder[key] = _of(rng, JUNK)
    return json.dumps(found)


def lose(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Leave out an entry."""
    holder, key = _parent(found, rng)
    del holder[key]
    return json.dumps(found)


def rename(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Give an entry a strange name, or add one of that name."""
    holder, key = _parent(found, rng)
    if isinstance(holder, dict):
        holder[_of(rng, [*NAMES, "\ud800", "a/b", "."])] = holder.pop(key) if rng.random() < 0.7 else _of(rng, JUNK)
    return json.dumps(found)


def repeat_key(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Write an entry twice, with another value."""
    return json.dumps(found)[:-1] + f', "{_of(rng, list(found))}": {json.dumps(_of(rng, JUNK))}}}'


def nest(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Nest a value deeply."""
    depth = int(_of(rng, [50, 500, 990, 5000]))
    holder, key = _parent(found, rng)
    holder[key] = "@@"
    return json.dumps(found).replace('"@@"', "[" * depth + "]" * depth)


def flip(rng: np.random.Generator, found: dict[str, Any]) -> bytes:
    """Change some bytes."""
    content = bytearray(json.dumps(found, ensure_ascii=False).encode())
    for _ in range(rng.integers(1, 5)):
        content[rng.integers(len(content))] = rng.integers(256)
    return bytes(content)


def cut(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Lose the end."""
    text = json.dumps(found)
    return text[: rng.integers(len(text))]


def insert(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Put signs of JSON somewhere."""
    text = json.dumps(found)
    place = int(rng.integers(len(text)))
    return text[:place] + _of(rng, [*'{}[]",:0-\\e', "NaN", "\\ud800", "1e999", "9" * 5000]) + text[place:]


def as_page(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Take the page for the report."""
    return f"<!DOCTYPE html><html><body>{json.dumps(found)}</body></html>"[: rng.integers(1, 500)]


def encode(rng: np.random.Generator, found: dict[str, Any]) -> bytes:
    """Write it in another encoding."""
    return json.dumps(found, ensure_ascii=False).encode(_of(rng, ["utf-16", "utf-8-sig", "utf-32", "utf-7"]))


def refuse_status(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Say that the study failed."""
    return json.dumps(found | {"status": _of(rng, ["failed", "skipped", "", "x\ny", "OK"])})


def nothing(rng: np.random.Generator, found: dict[str, Any]) -> str:
    """Leave it as it is."""
    return json.dumps(found, ensure_ascii=bool(rng.integers(2)))


WAYS: list[Callable[[np.random.Generator, dict[str, Any]], str | bytes]] = [
    nothing,
    nothing,
    put_junk,
    put_junk,
    put_junk,
    put_junk,
    lose,
    lose,
    rename,
    rename,
    repeat_key,
    nest,
    flip,
    cut,
    insert,
    as_page,
    encode,
    refuse_status,
]


def attempt(seed: int, folder: Path) -> str:
    """Export the report of a seed and hold what was written against what is in it; see ``tests.doors``."""
    rng = np.random.default_rng(seed)
    path, out = folder / f"r{seed}.json", folder / f"out{seed}"
    content = _of(rng, WAYS)(rng, report(rng))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        written = exports.export(path, out)
    except DataError as problem:
        assert not out.exists(), "a refused report left files"
        return refused(problem, path.name)
    else:
        _check(json.loads(path.read_bytes().decode("utf-8")), out, written)
        return "read"
    finally:
        path.unlink()
        shutil.rmtree(out, ignore_errors=True)


def refused(problem: DataError, name: str = "") -> str:
    """Demand that a refusal is a sentence that names a file, and return what that is called."""
    told = str(problem)
    assert name in told, told
    assert "\n" not in told, told
    assert len(told) < 700, told
    assert "Traceback" not in told, told
    assert told.endswith((".", "…", ")", "?")), told
    return "refused"


def _check(found: dict[str, Any], out: Path, written: list[Path]) -> None:
    """Demand that a folder holds the export and nothing else, and that its tables are the recorded ones."""
    assert {path.name for path in out.iterdir()} == {path.name for path in written}
    listed = json.loads((out / "export.json").read_text(encoding="utf-8"))["files"]
    assert {*listed, "export.json"} == {path.name for path in written}
    assert all(digest(out / name) == listed[name] for name in listed)
    recorded, tables = found["recorded"], [name for name in written if name.suffix == ".csv"]
    shown = {name: rows for name, rows in recorded.items() if _is_table(rows)}
    assert len(tables) == len(shown), "every table is a file"
    values = json.loads((out / "values.json").read_text(encoding="utf-8"))
    assert _same(values, {name: value for name, value in recorded.items() if name not in shown})
    for path, rows in zip(tables, shown.values()):
        _check_table(path, rows)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value) and any(value)


def _check_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Demand that CSV and Parquet hold each cell of a table, and that the CSV holds no formula."""
    headings = list(dict.fromkeys(name for row in rows for name in row))
    whole, plain = pd.read_parquet(path.with_suffix(".parquet")), exports.read_csv(path)
    assert list(whole) == list(plain) == headings, (list(whole), list(plain), headings)
    assert len(whole) == len(plain) == len(rows), (len(whole), len(plain), len(rows))
    for name in headings:
        cells = [row.get(name) for row in rows]
        known = [cell for cell in cells if cell is not None]
        for place, cell in enumerate(cells):
            _check_cell(whole[name].iloc[place], cell, known)
            gap = cell == "" and not any(isinstance(one, (dict, list)) for one in known)  # as in every CSV
            _check_cell(plain[name].iloc[place], None if gap else cell, known)
    with path.open(encoding="utf-8", newline="") as stream:
        for line in csv.reader(stream):
            for cell in line:
                assert not runs(cell), cell


def runs(cell: str) -> bool:
    """Tell whether a spreadsheet takes a cell for a formula, or a part of it where other signs part cells there.

    A number runs nothing.
    """
    parts = [part.lstrip('\0 \t\v\f\u00a0\u200b\ufeff"') for part in re.split("[;\t\r\n]", cell)]
    return any(part[:1] in tuple("=+-@＝＋－＠") and not _is_number(part) for part in parts if part)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text[-1].isdecimal() or text[-1] == "."


def _check_cell(got: Any, cell: Any, known: list[Any]) -> None:
    """Demand that a cell is the recorded value, or its text where its column holds values of several kinds."""
    if cell is None:
        assert pd.isna(got), repr(got)
    elif isinstance(cell, (dict, list)) or any(isinstance(one, (dict, list)) for one in known):
        assert _same(json.loads(got), cell), (got, cell)
    elif isinstance(got, str):
        assert got == str(cell), (got, cell)
    else:
        assert isinstance(got, (bool, np.bool_)) == isinstance(cell, bool), (got, cell)
        assert got == cell, (got, cell)
        assert int(got) == int(cell), (got, cell)


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
