"""The door of files of automatic scores, whose numbers are known, matched with a campaign's judgements."""

from __future__ import annotations

import csv
import functools
import io
import json
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.data import importing
from tests.doors import refused
from tests.doors.judgements import JUNK, NOISE

Key = tuple[str, str, str]  # metric, system, segment
SYSTEMS, SEGMENTS = ("Ada", "Bravo-2", "Ürün"), tuple(map(str, range(1, 7)))
LAYOUTS = ("named", "wide", "alone", "objects", "lines", "folder")
METRICS = {"COMET": (0.0, 1.0), "chrF": (0.0, 100.0), "TER": (0.0, 150.0), "own+": (-5.0, 5.0)}
_NUMBER = re.compile(rb"[-+]?[.\d]+(?:[eE][-+]?\d+)?")


@functools.cache
def people() -> pd.DataFrame:
    """Import judgements of all outputs by two people, once."""
    rows = [
        f"{system},d,{segment},{person},{10 * int(segment)},eng,deu"
        for system in SYSTEMS
        for segment in SEGMENTS
        for person in ("Ann", "Bob")
    ]
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "my.csv"), Path(folder, "c.parquet")
        path.write_text("\n".join(["system,doc,segment,annotator,score,src_lang,tgt_lang", *rows, ""]))
        importing.import_campaign([path], out, keep_names=True)
        return data.open_campaign(out)[0]


def drawn(rng: np.random.Generator) -> dict[Key, float | None]:
    """Draw the scores of one to three metrics; of a few outputs there are none."""
    names = rng.choice(sorted(METRICS), rng.integers(1, 4), replace=False)
    gaps = rng.choice([0.0, 0.2])
    return {
        (str(name), system, segment): None if rng.random() < gaps else round(float(rng.uniform(*METRICS[name])), 4)
        for name in names
        for system in SYSTEMS
        for segment in SEGMENTS
    }


def written(
    layout: str, scores: dict[Key, float | None], rng: np.random.Generator
) -> dict[str, tuple[bytes, set[Key]]]:
    """Write files by their names, each with the keys of damaged cells in it."""
    metrics = list(dict.fromkeys(key[0] for key in scores))
    cells = {
        key: str(rng.choice(["", "None", "nan"])) if score is None else f"{score!r}" for key, score in scores.items()
    }
    spoilt = {key for key in cells if rng.random() < 0.3 / len(cells)}
    cells |= {key: str(rng.choice(JUNK)) for key in spoilt}
    if layout in ("lines", "folder"):
        return {
            f"{metric.rstrip('+')}-refA.seg.score": (
                "".join(
                    f"{system}\t{cells[metric, system, segment] or 'None'}\n"
                    for system in SYSTEMS
                    for segment in SEGMENTS
                ).encode(),
                {key for key in spoilt if key[0] == metric},
            )
            for metric in metrics
        }
    outputs = [(system, segment) for system in SYSTEMS for segment in SEGMENTS]
    noise = [str(rng.choice(NOISE)) for _ in outputs] if rng.random() < 0.3 else []
    if layout == "wide":
        rows = [{"system": s, "doc": "d", "segment": g} | {m: cells[m, s, g] for m in metrics} for s, g in outputs]
    else:
        rows = [
            {"system": s, "doc": "d", "segment": g, "metric": m, "score": cells[m, s, g]}
            for m in metrics
            for s, g in outputs
        ]
    if layout == "alone":
        rows = [
            {name: cell for name, cell in row.items() if name != "metric"}
            for row in rows
            if row["metric"] == metrics[0]
        ]
        spoilt = {key for key in spoilt if key[0] == metrics[0]}
    for row, cell in zip(rows, noise * len(metrics)):
        row["comment"] = cell
    rows = [rows[place] for place in rng.permutation(len(rows))]
    if layout == "objects":
        return {"m.jsonl": ("".join(json.dumps(row) + "\n" for row in rows).encode(), spoilt)}
    stream, delimiter = io.StringIO(), str(rng.choice([",", "\t", ";"]))
    writer = csv.DictWriter(stream, list(dict.fromkeys(name for row in rows for name in row)), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    name = f"{metrics[0]}.csv" if layout == "alone" else "m.tsv" if delimiter == "\t" else "m.csv"
    return {name: (stream.getvalue().encode(str(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))), spoilt)}


def attempt(seed: int, folder: Path) -> str:
    """Match the files of a seed with the campaign: each number as it was written, or a sentence."""
    rng = np.random.default_rng(seed)
    layout, scores, place = LAYOUTS[seed % len(LAYOUTS)], drawn(rng), folder / f"metrics{seed}"
    files = written(layout, scores, rng)
    place.mkdir()
    flipped = rng.random() < 0.4
    for name, (content, _) in files.items():
        path = place / ("metric-scores/en-de" if layout == "folder" else "") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_flipped(content, rng) if flipped else content)
    named = [place] if layout == "folder" else sorted(place.iterdir())
    damaged = {key for _, spoilt in files.values() for key in spoilt}
    try:
        found = data.open_judges(ratings=people(), metrics=named)
        told = None
    except DataError as problem:
        told = problem
    finally:
        content = b"\n".join(path.read_bytes() for path in place.rglob("*") if path.is_file()).replace(b"\0", b"")
        shutil.rmtree(place)
    if told:
        assert flipped or damaged, told
        return refused(told, *(path.name for path in named), *files, "--metric ")  # which names the metric
    own = found[found["level"] == "segment"]
    kept = dict(zip(zip(own["annotator"], own["system"], own["segment"]), own["score"]))
    assert len(kept) == len(own), "an output is scored twice"
    if flipped:
        there = {
            float(one)
            for text in (content, content.replace(b",", b"."))
            for one in _NUMBER.findall(text)
            if _is_number(one)
        }
        assert set(kept.values()) <= there, set(kept.values()) - there
        return "told"
    there = {key[0] for key in scores} if layout != "alone" else {next(iter(scores))[0]}
    wanted = {
        (key[0].rstrip("+"), *key[1:]): score for key, score in scores.items() if score is not None and key[0] in there
    }
    sound = {key for key in wanted if key not in {(name.rstrip("+"), *rest) for name, *rest in damaged}}
    assert {key: kept.get(key) for key in sound} == {key: wanted[key] for key in sound}
    assert kept.keys() <= wanted.keys() | {(name.rstrip("+"), *rest) for name, *rest in damaged}
    return "told" if damaged else "read"


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bytes, or lose the end."""
    changed = bytearray(content)
    for _ in range(rng.integers(0, 4)):
        changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed[: rng.integers(len(changed))]) if rng.random() < 0.2 else bytes(changed)
