"""Notebooks that students hand in, sound and spoilt, as ``grade`` reads them: records come out as they were drawn."""

from __future__ import annotations

import csv
import functools
import io
import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from evalkit import DataError
from evalkit.reports import grading
from evalkit.reports.grading import collecting, handed_in
from evalkit.show import MIME
from tests.doors import exported
from tests.doors.exported import JUNK, TEXTS, runs

#: What may stand where a check left its verdict.
SPOILT: list[Any] = [
    *JUNK,
    *TEXTS,
    ["✓ Right", 1],
    {"data": 5},
    [{"data": {"text/plain": [None]}}],
    "✗ Not yet. \x1b[2J",
    [{"data": {MIME: {"kind": "check", "found": ["right"], "hint": {"a": [1]}}}}],
]
CODES = [
    "(" * 300,
    "-" * 9000 + "1",
    "x" * 20_000,
    "check(" * 90,
    "\0",
    "check(1)",
    "lessons.of('nothing')",
    "check = lessons.of('planning')",
    "check('')",
    "check(*[1])",
    "é" * 500,
]
WAYS = [
    "nothing",
    "nothing",
    "put",
    "put",
    "put",
    "lose",
    "lose",
    "code",
    "code",
    "flip",
    "cut",
    "insert",
    "nest",
    "encode",
    "twice",
    "swap",
]


@functools.cache
def known() -> dict[str, handed_in.Lesson]:
    """Read the lessons once."""
    return handed_in.lessons()


def notebook(rng: np.random.Generator) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """Draw a student's notebook of a lesson, and kind and hint of each exercise in it."""
    modules = sorted(known())
    lesson = known()[modules[rng.integers(len(modules))]]
    cells = {name: json.loads(json.dumps(cell)) for name, cell in lesson.given.items()}
    wanted = {}
    for number, (name, (check, answer)) in enumerate(lesson.exercises.items()):
        kind, hint = str(rng.choice(handed_in.KINDS)), str(exported._of(rng, TEXTS))
        wanted[name] = (kind, "" if kind == "right" else handed_in.plain(hint))
        said = {"kind": "check", "exercise": name, "passed": kind == "right", "found": kind, "hint": hint}
        data = {"text/plain": "told", MIME: said}
        cells[check] |= {"outputs": [{"output_type": "display_data", "data": data, "metadata": {}}]}
        cells[check]["execution_count"] = 2 * number + 2
        if answer:
            cells[answer] |= {"source": f"answer = {number}", "execution_count": 2 * number + 1}
    return {"cells": list(cells.values()), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, wanted


def spoilt(rng: np.random.Generator, way: str, found: dict[str, Any]) -> str | bytes:
    """Write a notebook, spoilt in some way."""
    cells = found["cells"]
    cell = cells[rng.integers(len(cells))]
    if way == "put":  # in the notebook anywhere, or where checks leave their verdict
        checks = [one for one in cells if one.get("outputs")]
        holder, key = exported._parent(exported._of(rng, [found, *checks, *checks]), rng)
        holder[key] = exported._of(rng, SPOILT)
    elif way == "code":
        cell["source"] = exported._of(rng, [*CODES, [*CODES[:2], 1], [], None])
    elif way == "swap":
        rng.shuffle(cells)
    elif way == "twice":
        cells.append(cell)
    elif way in ("lose", "flip", "cut", "insert", "nest", "encode"):
        return getattr(exported, way)(rng, found)
    return json.dumps(found)


def attempt(seed: int, folder: Path) -> str:
    """Grade a sound notebook beside a spoilt one; see ``tests.doors``."""
    rng = np.random.default_rng(seed)
    place, said = folder / f"handed{seed}", list[str]()
    sound, wanted = notebook(rng)
    way, (other, records) = str(rng.choice(WAYS)), notebook(rng)
    content = spoilt(rng, way, other)
    for name, written in (("anna", json.dumps(sound)), ("bert", content)):
        (place / name).mkdir(parents=True)
        (place / name / "x.ipynb").write_bytes(written if isinstance(written, bytes) else written.encode())
    try:
        with patch.object(collecting, "lessons", known):
            graded = grading.grade(place, say=said.append)
    except DataError as problem:
        raise AssertionError("a spoilt notebook took a sound one with it") from problem
    finally:
        shutil.rmtree(place)
    rows = {name: {one.exercise: one for one in graded if one.student == name} for name in ("anna", "bert")}
    assert {name: (one.kind, one.hint) for name, one in rows["anna"].items()} == wanted
    assert not [one for one in rows["anna"].values() if one.doubt]
    table = list(csv.reader(io.StringIO(grading.as_csv(graded), newline="")))
    assert len({len(row) for row in table}) == 1
    assert not [cell for row in table for cell in row if runs(cell)]
    assert all(len(line) <= 80 and line.isprintable() for line in grading.as_text(graded).splitlines())
    if not rows["bert"]:
        assert way not in ("nothing", "swap", "twice")
        [line] = said
        assert line.startswith("left out: "), line
        assert "x.ipynb" in line, line
        assert line.endswith((".", "…")), line
        return "refused"
    if way in ("nothing", "swap"):
        assert {name: (one.kind, one.hint) for name, one in rows["bert"].items()} == records
    return "told" if any(one.doubt for one in rows["bert"].values()) else "read"
