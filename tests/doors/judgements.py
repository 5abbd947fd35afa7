"""The door of campaign files whose numbers are known: what an import gives is held against what was written.

A case is drawn from a random generator: judgements, a layout, ways of writing that change nothing (order of rows and
columns, delimiter, encoding, ends of lines, further columns), and damage to some rows, whose numbers are then unsure.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import openpyxl

from evalkit import DataError, data
from evalkit.data import importing

Key = tuple[str, str, str]  # system, segment, annotator
SYSTEMS = ["Ada", "Bravo-2", "Ürün", "D, E"]
PEOPLE = ["Ann", "Bob Ko", "Zoë"]
JUNK = ["n/a", "", "85%", "12a", "1e400", "=1+1", "—", "101", "-1", "Excellent!!"]
NOISE = ["ok", 'he said "no", twice', "x;y\tz", "1999", "ü", "<b>&amp;</b>", "=SUM(A1)", ""]


@dataclass
class Case:
    """A file, what it is called, how it is imported, and the score of each judgement in it, but for damaged ones."""

    layout: str
    name: str
    content: bytes
    options: dict = field(default_factory=dict)
    scores: dict[Key, float] = field(default_factory=dict)
    damaged: set[Key] = field(default_factory=set)
    cut: bool = False  # the end of the file is missing, so any of its last rows may be


@dataclass
class Written:
    """Rows as a layout writes them, each with the judgements in it; a row's score may be overwritten."""

    header: list[str]
    rows: list[tuple[list[str], list[Key]]]
    scores: list[int]  # columns whose cells are scores
    options: dict = field(default_factory=dict)


def case(rng: np.random.Generator, layout: str = "") -> Case:
    """Draw a file of one layout, or of any."""
    layout = layout or str(rng.choice(sorted(LAYOUTS)))
    judged = judgements(rng)
    return LAYOUTS[layout](layout, judged, rng)


def judgements(rng: np.random.Generator) -> dict[Key, float]:
    """Draw who gave which score to what; some are missing."""
    systems = list(rng.choice(SYSTEMS, rng.integers(2, 5), replace=False))
    people = list(rng.choice(PEOPLE, rng.integers(1, 4), replace=False))
    segments = [f"{number}" for number in range(rng.integers(4, 12))]
    keys = [(str(s), str(g), str(a)) for s in systems for g in segments for a in people]
    return {key: float(rng.integers(0, 101)) for key in keys if rng.random() < 0.95 or key[1] == "0"}


def _long(judged: dict[Key, float], rng: np.random.Generator, *, half: bool = False) -> Written:
    """Write a row per judgement, with headings that people use."""
    names = {
        "system": ["system", "System", "sys_id", "MT system"][rng.integers(0, 3)],
        "doc": ["doc", "document_id", "docid"][rng.integers(0, 3)],
        "segment": ["segment", "segment_id", "SegID"][rng.integers(0, 3)],
        "annotator": ["annotator", "rater", "Evaluator ID"][rng.integers(0, 3)],
        "score": ["score", "Rating", "da_score"][rng.integers(0, 3)],
    }
    rows = []
    for (system, segment, person), score in judged.items():
        number = f"{score:g}" if not half else f"{score / 2:g}".replace(".", ",")
        rows.append(([system, "d1", segment, person, number], [(system, segment, person)]))
    return Written(list(names.values()), rows, [4])


def _wide(judged: dict[Key, float]) -> Written:
    """Write a row per segment and person, and a column per system."""
    systems = list(dict.fromkeys(key[0] for key in judged))
    rows = []
    for segment, person in dict.fromkeys(key[1:] for key in judged):
        keys = [(system, segment, person) for system in systems]
        cells = [f"{judged[key]:g}" if key in judged else "" for key in keys]
        rows.append(([person, segment, *cells], [key for key in keys if key in judged]))
    return Written(["annotator", "segment", *systems], rows, [], {"wide": "systems"})


def disturbed(written: Written, rng: np.random.Generator) -> tuple[Written, set[Key]]:
    """Shuffle rows and columns, add further columns, and damage the score of some rows."""
    header, rows, scores = list(written.header), [(list(cells), keys) for cells, keys in written.rows], written.scores
    damaged: set[Key] = set()
    if scores and rng.random() < 0.4:
        for place in rng.choice(len(rows), min(len(rows), int(rng.integers(1, 4))), replace=False):
            rows[place][0][int(rng.choice(scores))] = str(rng.choice(JUNK))
            damaged |= set(rows[place][1])
    if rng.random() < 0.5:
        header.append("comment")
        for cells, _ in rows:
            cells.append(str(rng.choice(NOISE)))
    if rng.random() < 0.5:
        rows = [rows[place] for place in rng.permutation(len(rows))]
    if rng.random() < 0.5:
        order = rng.permutation(len(header))
        header = [header[place] for place in order]
        rows = [([cells[place] for place in order], keys) for cells, keys in rows]
    return Written(header, rows, [], written.options), damaged


def _text(written: Written, rng: np.random.Generator, delimiter: str) -> str:
    stream = io.StringIO()
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=delimiter, quoting=quoting, lineterminator=str(rng.choice(["\n", "\r\n"])))
    writer.writerow(written.header)
    for cells, _ in written.rows:
        writer.writerow(cells)
        if rng.random() < 0.02:
            stream.write("\n")
    return stream.getvalue()


def _encoded(text: str, rng: np.random.Generator) -> bytes:
    return text.encode(str(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])))


def _delimited(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    half = layout == "decimal commas"
    shown = _wide(judged) if layout == "systems as columns" else _long(judged, rng, half=half)
    written, damaged = disturbed(shown, rng)
    delimiter = {"tabs": "\t", "semicolons": ";", "decimal commas": ";"}.get(layout, ",")
    scores = {key: score / 2 if half else score for key, score in judged.items()}
    text = _text(written, rng, delimiter)
    cut = rng.random() < 0.05
    if cut:
        text = text[: int(len(text) * rng.uniform(0.5, 1))]
    name = "my.tsv" if delimiter == "\t" else "my.csv"
    return Case(layout, name, _encoded(text, rng), {"scale": (0, 100), **written.options}, scores, damaged, cut)


def _workbook(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    written, damaged = disturbed(_long(judged, rng), rng)
    book = openpyxl.Workbook()
    book.active.append(written.header)
    for cells, _ in written.rows:
        book.active.append([float(cell) if _plain(cell) else cell for cell in cells])
        for cell in book.active[book.active.max_row]:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type  # "=1+1" is a text here
    stream = io.BytesIO()
    book.save(stream)
    return Case(layout, "my.xlsx", stream.getvalue(), {"scale": (0, 100)}, judged, damaged)


def _plain(cell: str) -> bool:
    return cell.isascii() and cell.isdecimal()


def _objects(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    written, damaged = disturbed(_long(judged, rng), rng)
    rows = [dict(zip(written.header, cells, strict=True)) for cells, _ in written.rows]
    for row in rows:
        for name, cell in row.items():
            if _plain(cell) and name.casefold() in ("score", "rating", "da_score"):
                row[name] = int(cell)
    if layout == "JSON lines":
        text, name = "".join(json.dumps(row, ensure_ascii=bool(rng.integers(0, 2))) + "\n" for row in rows), "my.jsonl"
    else:
        text, name = json.dumps(rows, indent=int(rng.integers(0, 3)) or None), "my.json"
    return Case(layout, name, text.encode(), {"scale": (0, 100)}, judged, damaged)


def _mqm(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    """Write a row per error; scores are minus minor 1, major 5, and no error is a judgement of 0."""
    rows, scores = [], {}
    for key in judged:
        minor, major = int(rng.integers(0, 3)), int(rng.integers(0, 2))
        scores[key] = -float(minor + 5 * major)
        errors = ["minor"] * minor + ["Major"] * major
        blank = str(rng.choice(["No-error", "no-error", "None", ""]))
        for severity in errors or [blank]:
            category = "Accuracy/Mistranslation" if severity in ("minor", "Major") else blank
            system, segment, person = key
            rows.append(([system, "d1", segment, person, "source", "target", category, severity], [key]))
    header = ["system", "doc", "seg_id", "rater", "source", "target", "category", "severity"]
    written, _ = disturbed(Written(header, rows, []), rng)
    return Case(layout, "my.tsv", _encoded(_text(written, rng, "\t"), rng), {}, scores)


def _preferences(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    """Write a row per comparison of two systems; each is worth 1, 0.5 or 0."""
    systems = list(dict.fromkeys(key[0] for key in judged))[:2]
    answers = [("A", "tie", "B"), ("left", "equal", "right"), ("SYSTEM A", "Tie", "SYSTEM B")][int(rng.integers(0, 3))]
    rows, scores = [], {}
    for segment, person in dict.fromkeys(key[1:] for key in judged):
        worth = int(rng.integers(0, 3))  # for the first: 1, a half, 0
        keys = [(system, segment, person) for system in systems]
        scores |= dict(zip(keys, (1 - worth / 2, worth / 2), strict=True))
        rows.append(([person, segment, *systems, answers[worth]], keys))
    written, _ = disturbed(Written(["annotator", "segment", "system_a", "system_b", "preference"], rows, []), rng)
    return Case(layout, "my.csv", _encoded(_text(written, rng, ","), rng), {}, scores)


def _people(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    """Write a row per translation, and a column of scores per annotator."""
    people = list(dict.fromkeys(key[2] for key in judged))
    rows = []
    for system, segment in dict.fromkeys(key[:2] for key in judged):
        keys = [(system, segment, person) for person in people]
        cells = [f"{judged[key]:g}" if key in judged else "" for key in keys]
        rows.append(([system, segment, *cells], [key for key in keys if key in judged]))
    written, _ = disturbed(Written(["system", "segment", *people], rows, []), rng)
    told = {"scale": (0, 100), "wide": "annotators", "columns": {"score": people if len(people) > 1 else people[0]}}
    if len(people) == 1:
        told |= {"wide": None, "values": {"annotator": people[0]}}
    return Case(layout, "my.csv", _encoded(_text(written, rng, ","), rng), told, judged)


def _pearmut(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    """Write Pearmut's log of screens: all outputs of a segment at once, with spans and times."""
    lines = []
    for place, (segment, person) in enumerate(dict.fromkeys(key[1:] for key in judged)):
        marked = {"start_i": 0, "end_i": 2, "severity": "minor", "category": None}
        given = {
            key[0]: {"score": int(score), "error_spans": [marked] * int(rng.integers(0, 2))}
            for key, score in judged.items()
            if key[1:] == (segment, person)
        }
        actions = [{"time": 1.7e9 + place, "type": "focus"}, {"time": 1.7e9 + place + 9, "type": "submit"}]
        line = {"user_id": person, "item_i": int(segment), "annotation": given, "actions": actions, "time": 9}
        lines.append(json.dumps(line, ensure_ascii=bool(rng.integers(0, 2))))
    return Case(layout, "my.jsonl", "\n".join([*lines, ""]).encode(), {"columns": {"segment": "item_i"}}, judged)


def _esa(layout: str, judged: dict[Key, float], rng: np.random.Generator) -> Case:
    """Write Appraise's rows of error span annotation: no header, times that rise, spans as JSON."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for place, ((system, segment, person), score) in enumerate(judged.items()):
        spans = [{"start_i": 1, "end_i": 3, "severity": "minor", "error_type": None}] * int(rng.integers(0, 3))
        system = system.replace(", ", "")
        cells = [person.replace(" ", ""), system, segment, "TGT", "eng", "deu", f"{score:g}", "d1", "False"]
        writer.writerow([*cells, json.dumps(spans), f"{1000 + place}.5", f"{1001 + place}.25"])
    scores = {(s.replace(", ", ""), g, a.replace(" ", "")): score for (s, g, a), score in judged.items()}
    return Case(layout, "my.csv", stream.getvalue().encode(), {}, scores)


LAYOUTS: dict[str, Callable[[str, dict[Key, float], np.random.Generator], Case]] = {
    "commas": _delimited,
    "tabs": _delimited,
    "semicolons": _delimited,
    "decimal commas": _delimited,
    "systems as columns": _delimited,
    "workbook": _workbook,
    "JSON lines": _objects,
    "JSON array": _objects,
    "MQM": _mqm,
    "ESA": _esa,
    "preferences": _preferences,
    "annotators as columns": _people,
    "Pearmut": _pearmut,
}


def attempt(seed: int, folder: Path) -> str:
    """Import the file of a seed, of each layout in turn."""
    layouts = sorted(LAYOUTS)
    return hold(case(np.random.default_rng(seed), layouts[seed % len(layouts)]), folder)


def hold(drawn: Case, folder: Path) -> str:
    """Import a case and hold the result against it: each number kept as it is or, where it was damaged, refused."""
    path, out = folder / drawn.name, folder / "c.parquet"
    path.write_bytes(drawn.content)
    for left in folder.glob("c.*"):
        left.unlink()
    try:
        report, _ = importing.import_campaign([path], out, keep_names=True, allow_rejected=True, **drawn.options)
    except DataError:
        assert drawn.cut or drawn.scores.keys() == drawn.damaged, "a sound file was refused"
        return "refused"
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    ratings, _ = data.open_campaign(out)
    kept = dict(zip(zip(ratings["system"], ratings["segment"], ratings["annotator"], strict=True), ratings["score"]))
    assert len(kept) == len(ratings), "a judgement is there twice"
    sound = {key: score for key, score in drawn.scores.items() if key not in drawn.damaged}
    if not drawn.cut:
        assert kept == sound
        assert report.rows_rejected == len(drawn.damaged)
        return "told" if drawn.damaged else "read"
    # Of the last row, a name or a number may have lost its end, and later rows are gone.
    odd = [key for key, score in kept.items() if sound.get(key) != score]
    wide = {"systems as columns": [1, 2], "annotators as columns": [0, 1], "preferences": [1, 2]}
    shared = wide.get(drawn.layout, [0, 1, 2])  # what all judgements of one row have in common
    assert len({tuple(key[place] for place in shared) for key in odd}) <= 1
    ended = drawn.content.rstrip(b"\0").endswith((b"\n", b"\r"))
    assert ended or any("cut off" in note for note in report.notes)
    return "told"
