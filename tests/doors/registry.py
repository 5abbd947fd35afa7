"""The door of the registry: TOML that is damaged, of other types, or that would lead out of the cache.

Beside the cache lies a file that must never be read as data, and never be deleted.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote

import numpy as np

from evalkit import DataError, data
from evalkit.data import files, registry

_ENTRY = {
    "title": "Läubli’s “set”",
    "licence": "none",
    "citation": "Ann 2020",
    "loader": "appraise.ratings",
    "released": "2022-11-03",
    "dated_by": "repository",
    "scale": [0, 100],
    "optional": False,
    "files": [{"url": "https://example.org/a/b.csv", "sha256": "0" * 64, "bytes": 9}],
}
_OTHER = {
    **_ENTRY,
    "base": "https://raw.githubusercontent.com/o/r/c/",
    "simulator": "campaign",
    "kept": True,
    "files": [{"url": "x y.csv", "git": "0" * 40}, {"url": "z.zip"}],
}
#: Addresses that lead nowhere, or out of the cache, however they are written.
_ADDRESSES = r"""https://h/../../canary.csv https://h/%2e%2e/%2e%2e/canary.csv https://h/%2E%2E%2f%2E%2E%2fcanary.csv
https://../canary.csv https://h/a/./b https://h//canary.csv /canary.csv file:///etc/passwd ../canary.csv https:///canary.csv
https://h\..\..\canary.csv https://h/..%5c..%5ccanary.csv C:\canary.csv https://h/a%00b https://h/%0a https://u:p@h/x
https://%2e%2e/%2e%2e/canary.csv https://raw.githubusercontent.com/../canary.csv ftp://h/x http://[ https://h/ https://h
https://raw.githubusercontent.com//../canary.csv https://h/.../x https://raw.githubusercontent.com/%2fetc/passwd //h/x
https://h/a/..;/b https:canary.csv https://h:99999/x https://raw.githubusercontent.com/ https://%2f/etc/passwd
https://h/%ff%fe https://h/a.csv/../../../../canary.csv https://h/a%252e%252e/b https://RAW.githubusercontent.com/../x"""
ADDRESSES = _ADDRESSES.split()
VALUES: list[Any] = [
    *(0, -1, 1.5, True, "", "x", [], ["x"], {}, {"a": 1}, [1], [[]], float("inf"), float("nan"), [0, float("nan")]),
    *([5, 1], ["a", "b"], [0, 1, 2], "../x", "os.system", "a.b.c", "é", "\0", "0" * 40, "G" * 64, 1 << 70, 1 << 20_000),
    *("appraise.absent", "absent.absent", "__init__.x", "appraise.__class__", "2022-02-30", "a" * 5000),
]
NAMES = ["../canary", "a/b", "", ".", "..", "a\nb", "published", "é", "a" * 300, "/x", "a+b", "*", "[x]", "C:x", "\0"]
TEXTS = [
    *(b"a = " + b"[" * 5000, b"\xff\xfe", b"\0", b"", b"x = 1", b"[published]\na = 1", b"published = 3", b"a" * 9999),
    *(b"[a.b.c]", b"a = 1979-05-27", b"[[x]]", b"'" * 7, b"x = 0x" + b"f" * 9000, b"a." * 4000 + b"b = 1"),
]


def attempt(seed: int, folder: Path) -> str:
    """Read one registry through every door that reads it, and hold what it says against what stands in it."""
    rng = np.random.default_rng(seed)
    content, damaged = _damaged(rng)
    place, cache = folder / "registry.toml", folder / "deep" / "er" / "cache"
    place.write_bytes(content)
    cache.mkdir(parents=True, exist_ok=True)
    for canary in (folder, folder / "deep", cache.parent):
        (canary / "canary.csv").write_text("a,b\n1,2\n")
    with _reading(place, cache):
        try:
            found = registry.entries()
            _use(found, cache)
        except DataError as problem:
            told = str(problem)
            assert damaged, f"an honest registry was refused: {told}"
            assert "registry.toml" in told, told
            assert not {"Traceback", "\n"} & {*told.split(" "), *told}, told
            return "refused"
    for canary in (folder, folder / "deep", cache.parent):
        assert (canary / "canary.csv").exists(), "what lies outside the cache was deleted"
    _same(found, tomllib.loads(content.decode()))
    return "read"


def _use(found: dict[str, registry.Entry], cache: Path) -> None:
    """Do with a registry what commands do, without the network; look for paths that leave the cache."""
    data.listing()
    data.verify()
    for name, entry in found.items():
        registry.released(name)
        for file in entry.files:
            assert (cache / unquote(file.path)).resolve().is_relative_to(cache.resolve()), (
                f"{file.url} leaves the cache"
            )
            assert files._pin_path(file).resolve().is_relative_to(cache.resolve()), (
                f"the pin of {file.url} leaves the cache"
            )
            assert cache.resolve() != (cache / unquote(file.path)).resolve(), f"{file.url} is the cache itself"
            files.forget(file)
        with contextlib.suppress(DataError):  # nothing is here; what it would be read by is looked up all the same
            data.load(name)
        data._function(entry.loader)
    registry.publication("a_table1")


def _same(found: dict[str, registry.Entry], written: dict[str, Any]) -> None:
    """Demand that entries are what was written."""
    written.pop("published", None)
    assert found.keys() == written.keys()
    for name, fields in written.items():
        entry = found[name]
        assert (entry.title, entry.loader, entry.released) == (
            fields["title"],
            fields["loader"],
            fields.get("released", ""),
        )
        assert [file.url for file in entry.files] == [fields.get("base", "") + file["url"] for file in fields["files"]]
        assert [file.bytes for file in entry.files] == [file.get("bytes") for file in fields["files"]]
        assert list(entry.scale or []) == fields.get("scale", [])


@contextlib.contextmanager
def _reading(place: Path, cache: Path) -> Iterator[None]:
    """Read this registry and this cache, and no network."""
    setting = {"EVALKIT_DATA_DIR": str(cache), "EVALKIT_DATA_MIRROR": "", "EVALKIT_OFFLINE": "1"}
    registry._contents.cache_clear()
    try:
        with (
            mock.patch.dict(os.environ, setting),
            mock.patch.object(registry, "_PLACE", place),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            yield
    finally:
        registry._contents.cache_clear()


def _damaged(rng: np.random.Generator) -> tuple[bytes, bool]:
    """Write a registry, with one kind of damage, or none."""
    entries: dict[str, Any] = copy.deepcopy({"one": _ENTRY, "two-2": _OTHER, "published": {"a": "Ann 2020"}})
    fields = entries[str(rng.choice(["one", "two-2"]))]
    file = fields["files"][rng.integers(len(fields["files"]))]
    match kind := int(rng.integers(8)):
        case 1:
            file["url"] = ADDRESSES[rng.integers(len(ADDRESSES))]
            fields.pop("base", None)
        case 2:
            place = [fields, fields, file][rng.integers(3)]
            key = str(rng.choice([*place, "base", "simulator", "unknown", "git", "bytes"]))
            place[key] = VALUES[rng.integers(len(VALUES))]
        case 3:
            fields.pop(str(rng.choice(list(fields))))
        case 4:
            entries[NAMES[rng.integers(len(NAMES))]] = fields
        case 5:
            fields["base"] = "https://h/" + "../" * int(rng.integers(1, 5))
        case 6:
            return TEXTS[rng.integers(len(TEXTS))] + (b"\n" + _toml(entries) if rng.random() < 0.5 else b""), True
        case 7:
            return _mutated(_toml(entries), rng), True
    return _toml(entries), kind > 0


def _mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Change, cut out or repeat some bytes."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        start = int(rng.integers(len(changed)))
        piece = [rng.bytes(1), b"", bytes(changed[start : start + 40]) * 2, b"..", b"/", b"\\", b'"'][rng.integers(7)]
        changed[start : start + int(rng.integers(0, 9))] = piece
    return bytes(changed)


def _toml(entries: dict[str, Any]) -> bytes:
    """Write tables as TOML, each value in its inline form."""
    lines = []
    for name, fields in entries.items():
        lines += [f"[{json.dumps(name)}]", *(f"{key} = {_inline(value)}" for key, value in fields.items())]
    return "\n".join(lines).encode()


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, int) and value.bit_length() > 64:
        return hex(value)
    return repr(value) if isinstance(value, float) else json.dumps(value)
