"""What people write by hand for a run, spoilt: mappings, lists of accounts, designs, ``studies.toml``, parameters."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evalkit import DataError
from evalkit.data import designs
from evalkit.data.importing.accounts import owners
from evalkit.data.importing.options import gathered
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.reports import execute, findings, index, notebooks
from evalkit.reports.studies import Layout, read_studies
from tests.doors.exported import refused

#: Values that TOML can hold, most of them in the wrong place.
VALUES = [
    '"x"',
    '""',
    "1",
    "-1",
    "1.10",
    "true",
    "nan",
    "inf",
    "2024-01-01",
    "[]",
    '["a", "b"]',
    "[1, [2]]",
    "{}",
    '"a\\nb"',
    "{a = {b = 1}}",
    '"\\u0000"',
    "9" * 400,
    "[1, 5]",
    '["1", "5"]',
    "[5, 1]",
    '"15"',
    "[true, 5]",
    '"eng"',
    "'''\n'''",
    '"system"',
    '"index"',
    "1e400",
    '"../../etc/passwd"',
    '"https://example.org"',
    '"javascript:a()"',
    "0x1F",
    "[" * 300 + "]" * 300,
    '"\\u202e"',
    '" "',
]
NAMES = ["systm", "'a b'", "score", "pair", '""', "index", "notebook"]
MAPPING = """scale = [0, 100]
decimal = "."
[columns]
score = "DA"
system = ["a", "b"]
[values]
src_lang = "eng"
doc = 7
[item_types]
ref = "reference"
"""
STUDIES = """[mine]
notebook = "mine.ipynb"
title = "A study"
question = "Which?"
paper = "Nobody 2020"
link = "https://example.org/a"
data = ["xsts"]
optional = []
fallback = "simulated"
[mine.parameters]
seed = 8
rules = ["a < 5"]
[other]
notebook = "mine.ipynb"
title = "Another"
"""
DECLARED = """seed: int = 7  # any integer
share: float = 0.5  # of all
rules: list[str] = ["sd < 5"]  # in order
file: str = ""  # path of a file
sure: bool = True  # or not
"""
ACCOUNTS = "account,person\ndeu01,Ann\ndeu02,Ann\ndeu03,Bob\n"
JUNK = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"[",
    b"]",
    b"=",
    b'"',
    b"'",
    b"#",
    b"\r",
    b"\n\n",
    b"[a]",
    b"[[a]]",
    b"a.b = 1",
    b"\\",
    b"\\ud800",
    b"{",
    b"}",
    b",",
    b"\xe2\x80\xa8",
    b"[mine]",
    b"[index]",
    b"[Mine]",
    b"9" * 5000,
]


def attempt(seed: int, folder: Path) -> str:
    """Write the settings of a seed, sound or spoilt, and read them; see ``tests.doors``."""
    rng, place = np.random.default_rng(seed), folder / f"settings{seed}"
    place.mkdir()
    try:
        return WAYS[rng.integers(len(WAYS))](rng, place)
    finally:
        shutil.rmtree(place)


def _of(rng: np.random.Generator, choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def spoil(rng: np.random.Generator, text: str) -> bytes:
    """Spoil a few lines of a file of settings: other values, other names, lines lost and doubled, bytes."""
    lines = text.splitlines()
    for _ in range(rng.integers(3)):
        at = int(rng.integers(len(lines)))
        name, equals, value = lines[at].partition(" = ")
        if equals and rng.random() < 0.7:
            lines[at] = f"{name} = {_of(rng, VALUES)}"
        elif equals and rng.random() < 0.5:
            lines[at] = f"{_of(rng, NAMES)} = {value}"
        else:
            lines[at : at + 1] = _of(rng, [[], [lines[at]] * 2, ["x = 1", lines[at]]])
        lines = lines or [""]
    content = "\n".join([*lines, ""]).encode()
    return _bytes(rng, content) if rng.random() < 0.3 else content


def _bytes(rng: np.random.Generator, content: bytes) -> bytes:
    at = int(rng.integers(len(content)))
    cut = at + int(rng.integers(3)) if rng.random() < 0.8 else len(content)
    return content[:at] + _of(rng, JUNK) + content[cut:]


def _write(rng: np.random.Generator, path: Path, content: bytes) -> Path:
    """Write a file, or seldom something in its place that is none."""
    kind = rng.random()
    if kind < 0.02:
        path.mkdir()
    elif kind < 0.04 and hasattr(os, "mkfifo"):
        os.mkfifo(path)
    elif kind < 0.06 and Path("/dev/zero").exists():
        path.symlink_to("/dev/zero")
    elif kind > 0.01:
        path.write_bytes(content)
    return path


def mapping(rng: np.random.Generator, folder: Path) -> str:
    """Read a mapping; what it says is in the options as it stands there."""
    content = spoil(rng, MAPPING)
    path = _write(rng, folder / "map.toml", content)
    try:
        told, _ = gathered(Pseudonyms("salt"), mapping=path)
    except DataError as problem:
        return refused(problem)
    assert all(isinstance(one, str) and one for one in [*told.values.values(), *told.item_types.values()])
    if told.scale:
        assert np.isfinite(told.scale).all()
        assert told.scale[0] < told.scale[1]
    if content == MAPPING.encode():
        assert (told.scale, told.values) == ((0, 100), {"src_lang": "eng", "doc": "7"})
    return "read"


def accounts(rng: np.random.Generator, folder: Path) -> str:
    """Read whose accounts are whose."""
    whole = {"deu01": "Ann", "deu02": "Ann", "deu03": "Bob"}
    turned = {"Ann": ["deu01", "deu02"], "Bob": ["deu03"]}
    text = ACCOUNTS if rng.random() < 0.5 else json.dumps(_of(rng, [whole, turned]))
    content = _bytes(rng, text.encode()) if rng.random() < 0.7 else text.encode()
    try:
        found = owners(_write(rng, folder / "accounts.csv", content))
    except DataError as problem:
        return refused(problem, "accounts.csv")
    assert all(isinstance(one, str) and one for pair in found.items() for one in pair)
    if content == text.encode():
        assert found == whole
    return "read"


def design(rng: np.random.Generator, folder: Path) -> str:
    """Read a campaign's design."""
    entry = designs.Entry(1, 1, "d1", "1", {"m1": "system"})
    said = {"scale": [0, 100], "annotators": ["Ann"], "seed": 7, "planned": {}, "protocol": "ESA"}
    text = designs.written(said, {"m1": "Ada"}, {"i1": entry, "i2": entry})
    content = _bytes(rng, text.encode()) if rng.random() < 0.8 else text.encode()
    try:
        found = designs.read(_write(rng, folder / "design.json", content))
    except DataError as problem:
        return refused(problem, "design.json")
    assert all(found.find(item) for item in found.items)
    if content == text.encode():
        assert found.items == {"i1": entry, "i2": entry}
    return "read"


def notebook(rng: np.random.Generator, declared: bytes) -> bytes:
    """Write a notebook that declares parameters, sound or spoilt."""
    text = declared.decode("utf-8", "replace")
    cells: list[Any] = [
        {"cell_type": "markdown", "source": "# A study", "metadata": {}, "id": "a"},
        {"cell_type": "code", "source": text, "metadata": {"tags": ["parameters"]}, "id": "b"},
    ]
    whole: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    if rng.random() < 0.2:
        junk = _of(rng, [None, 1, [], {}, "x", [1], {"tags": 1}, {"tags": [1]}])
        _of(rng, [whole, *cells])[_of(rng, ["cells", "source", "metadata", "nbformat"])] = junk
    content = json.dumps(whole).encode()
    return _bytes(rng, content) if rng.random() < 0.1 else content


def studies(rng: np.random.Generator, folder: Path) -> str:
    """Read studies with their parameters, bind what a user passes, and write the overview of a folder of reports."""
    content = spoil(rng, STUDIES)
    declared = spoil(rng, DECLARED) if rng.random() < 0.4 else DECLARED.encode()
    (folder / "mine.ipynb").write_bytes(notebook(rng, declared))
    values = _of(
        rng,
        [
            {},
            {},
            {"seed": "11"},
            {"seed": "x"},
            {"rules": "[a, b]"},
            {"share": "nan"},
            {"sure": "maybe"},
            {"rules": "[" * 500},
            {"rules": "[{[]: 1}]"},
            {"file": "nowhere"},
            {"\0": "1"},
        ],
    )
    layout = Layout(_write(rng, folder / "studies.toml", content), folder / "reports", folder / "reference")
    try:
        known = read_studies(layout)
        for study in known.values():
            bound = execute.settings(study, values)
            assert {one.name for one in notebooks.parameters(study.notebook)} == bound.keys()
        assert "index" not in known
    except DataError as problem:
        return refused(problem)
    assert all(isinstance(study.title, str) for study in known.values())
    return "read"


def reports(rng: np.random.Generator, folder: Path) -> str:
    """Write the overview of a folder in which reports are whatever somebody left there."""
    (folder / "studies.toml").write_text(STUDIES)
    (folder / "reports").mkdir()
    row = {"verdict": "match", "basis": "recomputed from data", "item": "t", "cell": "c", "printed": "1"}
    good = {
        "study": "mine",
        "title": "t",
        "status": "ok",
        "seconds": 1.0,
        "parameters": {},
        "headline": "h",
        "data": [{"name": "d", "source": _of(rng, ["real", "simulated"]), "origin": "o", "digest": "g"}],
        "recorded": {},
        "published": [row],
        "signature": "s",
    }
    texts = [json.dumps(good), json.dumps(good | {"status": "failed", "reason": "because"})]
    foreign = ["[]", "5", '"x"', "null", "{}", '{"status": "ok"}', "[" * 5000, '{"a": NaN}', '{"status": []}', "<html>"]
    for name in ("mine.json", "mine.failed.json", "other.json"):
        text = _of(rng, texts + foreign)
        spoilt = _spoilt_report(rng, text) if text in texts and rng.random() < 0.5 else text.encode()
        if rng.random() < 0.8:
            _write(rng, folder / "reports" / name, spoilt)
    (folder / "reports" / "mine.html").write_bytes(_of(rng, [b"<h2 id='a'>x</h2>", b"\xff\xfe", b""]))
    html = index.page(Layout(folder / "studies.toml", folder / "reports", folder / "reports"))
    assert html.startswith("<!DOCTYPE html>") or html.startswith("<!doctype html>")
    assert findings.read_report(folder / "reports" / "nowhere.json") is None
    return "read"


def _spoilt_report(rng: np.random.Generator, text: str) -> bytes:
    if rng.random() < 0.3:
        return _bytes(rng, text.encode())
    found = json.loads(text)
    junk = _of(rng, [None, 1, "x", [], {}, [1], [{}], {"a": 1}, [[]], ["x"]])
    holder = _of(rng, [found, found, *found["data"], *found["published"]])
    holder[_of(rng, list(holder))] = junk
    return json.dumps(found).encode()


WAYS: tuple[Callable[[np.random.Generator, Path], str], ...] = (
    mapping,
    mapping,
    mapping,
    studies,
    studies,
    studies,
    reports,
    reports,
    accounts,
    design,
)
