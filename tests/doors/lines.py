"""Text of all kinds, spoilt: JSON, JSON lines, CSV and TSV, as bytes, in encodings that fit and that do not."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np

from evalkit import DataError, data
from evalkit.data import importing
from tests.doors import refused

Key = tuple[str, str, str]  # system, segment, annotator
SYSTEMS, PEOPLE = ("Ada", "Ürün", "B,2", "=cmd"), ("Ann", "Zoë", "Bob Ko")
NAMES = ["system", "doc", "segment", "annotator", "score", "pair"]
#: Pieces that have broken parsers, whatever they stand in.
PIECES = (
    b"\0",
    b"\xff",
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"1e999",
    b"NaN",
    b"Infinity",
    b"-0",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\u0000",
    b"[",
    b"{",
    b"]",
    b"}",
    b"[" * 500,
    b'{"a":' * 330,
    b'"":1,',
    b'{"":{"":1}}',
    b"null",
    b"true",
    b'"\\',
    b"\\",
    b"\xe2\x80\xa8",
    b"\x1a",
    b"\x0b",
    b"\x85",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"9" * 400,
    b"+2AA-",
    b"=1+1",
    b"#",
    b"\x1f\x8b",
    b"PK\3\4",
    b"PAR1",
    b"\xe2\x80\xae",
    b"\xef\xbf\xbd",
    b"8,5",
    b"\x1b[31m",
    b"__proto__",
    b'"score":7,',
    b"xn--",
    b"{}",
    b"[],",
)
ENCODINGS = (
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-7",
    "cp1252",
    "latin-1",
    "cp932",
    "gb18030",
    "ascii",
    "undefined",
    "punycode",
    "idna",
    "rot13",
    "base64",
    "hex",
    "zlib",
    "bz2",
    "uu",
    "quopri",
    "unicode_escape",
    "raw_unicode_escape",
    "mbcs",
    "charmap",
    "hz",
    "iso2022_jp",
    "cp037",
    "no such",
    "",
    "../x",
    "a\0b",
    "ü",
    "x" * 999,
)
KINDS = ("csv", "tsv", "semicolons", "jsonl", "json", "object")


def judgements(rng: np.random.Generator) -> dict[Key, float]:
    """Draw who gave which score to what."""
    systems, people = SYSTEMS[: rng.integers(1, 5)], PEOPLE[: rng.integers(1, 4)]
    keys = [(s, str(g), a) for s in systems for g in range(rng.integers(1, 5)) for a in people]
    return {key: float(rng.integers(0, 101)) for key in keys}


def written(judged: dict[Key, float], kind: str, rng: np.random.Generator) -> bytes:
    """Write judgements in one of the kinds."""
    rows = [[s, "d", g, a, f"{score:g}", "en-de"] for (s, g, a), score in judged.items()]
    if kind in ("jsonl", "json", "object"):
        objects = [dict(zip(NAMES, row, strict=True)) | {"score": float(row[4])} for row in rows]
        ascii_only = bool(rng.integers(2))
        if kind == "jsonl":
            return "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in objects).encode()
        return json.dumps(objects if kind == "json" else {"rows": objects}, ensure_ascii=ascii_only).encode()
    stream = io.StringIO()
    delimiter = {"csv": ",", "tsv": "\t", "semicolons": ";"}[kind]
    quoting = csv.QUOTE_ALL if rng.random() < 0.3 else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=str(rng.choice(["\n", "\r\n"])))
    writer.writerows([NAMES, *rows])
    return stream.getvalue().encode()


def spoilt(content: bytes, rng: np.random.Generator) -> bytes:
    """Spoil bytes in one to five ways."""
    for _ in range(rng.integers(1, 6)):
        place, piece = int(rng.integers(len(content) + 1)), PIECES[rng.integers(len(PIECES))]
        gap = int(rng.integers(0, 12))
        way = rng.integers(8)
        if way < 3:
            content = content[:place] + piece + content[place:]
        elif way == 3:
            content = content[:place] + piece + content[place + gap :]
        elif way == 4:
            content = content[:place] + bytes([rng.integers(256)]) + content[place + 1 :]
        elif way == 5:
            content = content[:place] + content[int(rng.integers(len(content) + 1)) :]
        elif way == 6:
            content = content[:place] + content[place + gap :]
        else:
            content = _in_strings(content, piece, rng)
    return content


def _in_strings(content: bytes, piece: bytes, rng: np.random.Generator) -> bytes:
    """Put a piece at the start of a text in quotes, or of a cell, where it is part of a value or of a key."""
    mark = (b'"', b",", b"\t", b"\n", b'":')[rng.integers(5)]
    places = [place for place in range(len(content)) if content.startswith(mark, place)]
    place = places[rng.integers(len(places))] + len(mark) if places else 0
    return content[:place] + piece + content[place:]


def attempt(seed: int, folder: Path) -> str:
    """Import the file of a seed; one that is not spoilt comes in as it was written, whatever it is written in."""
    rng = np.random.default_rng(seed)
    kind, judged = KINDS[rng.integers(len(KINDS))], judgements(rng)
    content, options, sound = written(judged, kind, rng), {}, rng.random() < 0.15
    if rng.random() < 0.25:
        told = ENCODINGS[rng.integers(len(ENCODINGS))]
        options = {"encoding": told} if told else {}
        if kind in ("csv", "tsv", "semicolons") and rng.random() < 0.5:
            content, sound = _in_encoding(content, told, sound)
        else:
            sound = sound and (told in ("utf-8", "") or kind in ("jsonl", "json", "object"))
    content = content if sound else spoilt(content, rng)
    name = {"csv": "my.csv", "tsv": "my.tsv", "semicolons": "my.csv", "jsonl": "my.jsonl"}.get(kind, "my.json")
    name = name if sound or rng.random() < 0.9 else f"my.{rng.choice(['txt', 'csv', 'jsonl', 'xlsx', 'parquet'])}"
    return opened(folder, name, content, judged if sound else None, scale=(0, 100), **options)


def _in_encoding(content: bytes, name: str, sound: bool) -> tuple[bytes, bool]:
    """Write a text in an encoding, where that can write it; what no file is written in is to be refused."""
    try:
        return content.decode().encode(name), False
    except (LookupError, ValueError):
        return content, False


def opened(
    folder: Path,
    name: str,
    content: bytes,
    known: dict[Key, float] | None,
    *,
    held: dict[Key, float] | None = None,
    **options: object,
) -> str:
    """Import a file and open the result. known: what a sound one holds; held: what one holds unless it is refused.

    What is kept of a spoilt one is no number that does not stand there, and each row is accounted for.
    """
    path, out, told = folder / name, folder / "c.parquet", None
    path.write_bytes(content)
    for left in folder.glob("c.*"):
        left.unlink()
    try:
        report, _ = importing.import_campaign([path], out, keep_names=True, allow_rejected=True, **options)
        ratings, _ = data.open_campaign(out)
    except DataError as problem:
        told = problem
    finally:
        path.unlink()
    if told:
        assert known is None, f"a sound file was refused: {told}"
        assert not [*folder.glob("c.*"), *folder.glob(".c.*")]
        return refused(told, name, "--encoding")
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    assert len(ratings) == report.rows_kept
    for text in (report.as_json(), "\n".join(report.sentences()), *ratings.select_dtypes("str").to_numpy().ravel()):
        text.encode()  # no half letters
    found = {
        (s, g, a): score
        for s, g, a, score in ratings[["system", "segment", "annotator", "score"]].itertuples(index=False, name=None)
    }
    assert held in (None, found), "a number or a name changed"
    if known is None:
        assert ratings["score"].between(*(report.scale or (-1e300, 1e300))).all()
        return "told" if report.rows_rejected + report.rows_excluded or report.notes else "read"
    assert found == known, "a number or a name changed"
    return "read"
