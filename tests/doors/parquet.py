"""Campaigns as imports write them, spoilt: bytes, pages, labels, types, what unfolds too far, and what lies beside."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit import DataError, data
from evalkit.campaign import from_ratings
from evalkit.data import importing
from evalkit.data.importing import writing
from tests.doors import refused

Key = tuple[str, str, str]
ENDINGS = ("parquet", "spans.parquet", "judges.parquet", "import.json")
VALUES = (
    None,
    1,
    -1,
    0.5,
    1e308,
    True,
    [],
    {},
    [1],
    [None, None],
    ["a"],
    "",
    "a",
    "\ud800",
    {"a": 1},
    [5, 1],
    [0, 100],
)
TYPES = (
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.date32(),
    pa.timestamp("ns"),
    pa.binary(),
    pa.large_string(),
    pa.bool_(),
    pa.dictionary(pa.int32(), pa.string()),
    pa.list_(pa.string()),
    pa.struct([("a", pa.string())]),
    pa.map_(pa.string(), pa.string()),
    pa.decimal128(9, 2),
    pa.null(),
    pa.duration("s"),
    pa.string_view(),
)


@cache
def sound(parent: Path) -> tuple[dict[str, bytes], dict[Key, float]]:
    """Import a campaign with marked errors and a judge; return its files and its people's scores."""
    rows, scores = [], {}
    for number, (system, segment, person) in enumerate(
        (s, g, a) for s in "ABC" for g in "123456" for a in ("x", "y", "m")
    ):
        score = float(number % 101)
        spans = [{"start_i": 1, "end_i": 3, "severity": "minor", "error_type": None}] * (number % 3)
        rows.append(
            [
                person,
                system,
                segment,
                "TGT",
                "eng",
                "deu",
                f"{score:g}",
                "d",
                "False",
                json.dumps(spans),
                f"{1000 + number}.5",
                f"{1001 + number}.25",
            ]
        )
        scores |= {} if person == "m" else {(system, segment, person): score}
    path = parent / "sound.csv"
    pd.DataFrame(rows).to_csv(path, header=False, index=False)
    importing.import_campaign([path], parent / "sound.parquet", keep_names=True, judges=["m"])
    files = {ending: (parent / f"sound.{ending}").read_bytes() for ending in ENDINGS}
    for ending in ENDINGS:
        (parent / f"sound.{ending}").unlink()
    path.unlink()
    return files, scores


def flip_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bytes, anywhere or in the metadata at the end."""
    found = bytearray(content)
    first = 0 if rng.random() < 0.4 else max(len(found) - 8 - int.from_bytes(found[-8:-4], "little") % len(found), 0)
    for _ in range(rng.integers(1, 6)):
        found[rng.integers(min(first, len(found) - 1), len(found))] = rng.integers(256)
    return bytes(found)


def cut(content: bytes, rng: np.random.Generator) -> bytes:
    """Lose a piece, at the end or within."""
    place = int(rng.integers(len(content) + 1))
    return content[:place] + (b"" if rng.random() < 0.5 else content[place + int(rng.integers(1, 99)) :])


def other_length(content: bytes, rng: np.random.Generator) -> bytes:
    """Say another length of the metadata."""
    length = (0, 1, 2**31 - 1, 2**32 - 1, len(content), int(rng.integers(2**31)))[rng.integers(6)]
    return content[:-8] + struct.pack("<I", length) + content[-4:]


def put_in(content: bytes, rng: np.random.Generator) -> bytes:
    """Put the end of the file, or zeros, in some place; or a password's sign at both ends."""
    if rng.random() < 0.2:
        return b"PARE" + content[4:-4] + b"PARE"
    place = int(rng.integers(len(content)))
    return content[:place] + (content[-64:], bytes(64), b"\xff" * 16)[rng.integers(3)] + content[place:]


def _rewritten(content: bytes, change, label: dict | None = None, **options: object) -> bytes:
    """Read a sound table, change it and write it under its label, or another, as whoever forges one may."""
    table = pq.read_table(pa.BufferReader(content))
    label = json.loads(pq.read_metadata(pa.BufferReader(content)).metadata[b"evalkit"]) if label is None else label
    table, label = change(table).replace_schema_metadata(None), {k: v for k, v in label.items() if k != "check"}
    label |= {"check": writing._check(label, table.schema, table.num_rows)}
    stream = pa.BufferOutputStream()
    options = {"compression": "zstd", "write_page_checksum": True} | options
    with pq.ParquetWriter(stream, table.schema, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})
    return stream.getvalue().to_pybytes()


def other_label(content: bytes, rng: np.random.Generator) -> bytes:
    """Say something else of the table, or nothing."""
    label = json.loads(pq.read_metadata(pa.BufferReader(content)).metadata[b"evalkit"])
    name, value = sorted(label)[rng.integers(len(label))], VALUES[rng.integers(len(VALUES))]
    if rng.random() < 0.2:
        del label[name]
    else:
        label[name] = value
    return _rewritten(content, lambda table: table, label if rng.random() < 0.95 else {})


def other_type(content: bytes, rng: np.random.Generator) -> bytes:
    """Write a column in another type, as nulls where it cannot be."""
    kind = TYPES[rng.integers(len(TYPES))]

    def change(table: pa.Table) -> pa.Table:
        place = int(rng.integers(table.num_columns))
        try:
            column = table.column(place).cast(kind)
        except pa.ArrowException:
            column = pa.nulls(len(table), kind)
        return table.set_column(place, table.column_names[place], column)

    return _rewritten(content, change)


def other_columns(content: bytes, rng: np.random.Generator) -> bytes:
    """Lose a column, have one twice or under another name, or have more of them, or texts that are none."""

    def change(table: pa.Table) -> pa.Table:
        place, way = int(rng.integers(table.num_columns)), rng.integers(6)
        if way == 0:
            return table.remove_column(place)
        if way == 1:
            return table.append_column(table.column_names[place], table.column(place))
        if way == 2:
            names = ["", "score", "x\0", "pair", "line", "normalized", "\u202e"]
            names = [*table.column_names[:place], names[rng.integers(len(names))], *table.column_names[place + 1 :]]
            return table.rename_columns(names)
        if way == 3:
            for number in range(int(rng.integers(1, 300))):
                table = table.append_column(f"c{number}", table.column(place))
            return table
        if way == 4:
            bad = pa.Array.from_buffers(
                pa.string(), 1, [None, pa.py_buffer(struct.pack("<ii", 0, 2)), pa.py_buffer(b"\xff\xed")]
            )
            return table.set_column(0, table.column_names[0], pa.chunked_array([bad] * len(table)))
        return table.slice(0, int(rng.integers(0, 3)))

    return _rewritten(content, change)


def other_values(content: bytes, rng: np.random.Generator) -> bytes:
    """Put what is no score, no name or no kind of item into a column."""
    values = (None, "", "bad", "\0", "a" * 5000, "\u202e", np.nan, np.inf, -1e308, 1e15, 5.0)

    def change(table: pa.Table) -> pa.Table:
        place, value = int(rng.integers(table.num_columns)), values[rng.integers(len(values))]
        cells = table.column(place).to_pylist()
        for at in rng.integers(0, len(cells), size=int(rng.integers(1, 4))):
            cells[at] = value
        try:
            return table.set_column(place, table.column_names[place], pa.array(cells, table.schema.types[place]))
        except (pa.ArrowException, TypeError):
            return table

    return _rewritten(content, change)


def unfolding(content: bytes, rng: np.random.Generator) -> bytes:
    """Repeat rows, or one long text, as few bytes."""

    def change(table: pa.Table) -> pa.Table:
        long, count = "x" * int(rng.integers(1, 300_000)), int(rng.integers(1, 40)) * len(table)
        if rng.random() < 0.5:
            return table.take(pa.array(np.zeros(50_000 * int(rng.integers(1, 20)), dtype=np.int64)))
        cells = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), [long]).dictionary_decode()
        return table.take(pa.array(np.arange(count) % len(table))).set_column(3, table.column_names[3], cells)

    return _rewritten(content, change)


def other_writer(content: bytes, rng: np.random.Generator) -> bytes:
    """Write the same table as other programs do: without checksums, packed in another way, with other pages."""
    ways = (
        {"compression": "snappy"},
        {"compression": "none"},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"write_page_checksum": False},
        {"version": "1.0"},
        {"write_statistics": False},
        {"store_schema": False},
        {"data_page_size": 1},
    )
    return _rewritten(content, lambda table: table, **ways[rng.integers(len(ways))])


def other_kind(content: bytes, rng: np.random.Generator) -> bytes:
    """Be something else, or nothing."""
    return (b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(4) + b"PAR1", b"a,b\n1,2\n", b"\x1f\x8b" + content, b"PK\3\4")[
        rng.integers(7)
    ]


WAYS = (
    flip_bytes,
    flip_bytes,
    flip_bytes,
    cut,
    other_length,
    put_in,
    other_label,
    other_label,
    other_type,
    other_columns,
    other_values,
    other_writer,
    other_kind,
)


def of_report(content: bytes, rng: np.random.Generator) -> bytes:
    """Spoil the report beside the result: values of other kinds, or bytes."""
    if rng.random() < 0.4:
        return flip_bytes(content, rng)
    said = json.loads(content)
    said[sorted(said)[rng.integers(len(said))]] = VALUES[rng.integers(len(VALUES))]
    return json.dumps(said).encode() if rng.random() < 0.9 else b"[" * 9999


def attempt(seed: int, folder: Path) -> str:
    """Open the campaign of a seed, one file of which is spoilt; its scores are what they were, or it is refused."""
    rng = np.random.default_rng(seed)
    files, scores = sound(folder)
    which = ENDINGS[rng.choice(4, p=(0.7, 0.1, 0.1, 0.1))]
    way = None if rng.random() < 0.05 else unfolding if rng.random() < 0.02 else WAYS[rng.integers(len(WAYS))]
    if which == "import.json" and way:
        way = of_report
    changed = files | ({which: way(files[which], rng)} if way else {})
    for ending, content in changed.items():
        (folder / f"c.{ending}").write_bytes(content)
    try:
        ratings, spans = data.open_campaign(folder / "c.parquet")
        judges = data.open_judges(folder / "c.parquet")
        campaign = from_ratings(ratings, spans)
    except DataError as problem:
        told = problem
    else:
        told = None
    if told:
        assert way, f"a sound campaign was refused: {told}"
        return refused(DataError(str(told).replace("\n", " ")), *(f"c.{ending}" for ending in ENDINGS), "pair:")
    campaign.receipt.to_json()
    ratings.to_json()
    found = dict(zip(zip(ratings["system"], ratings["segment"], ratings["annotator"], strict=True), ratings["score"]))
    if way not in (other_values, unfolding, other_columns, other_type, other_label):  # which are tables of their own
        assert found == scores, "a number or a name changed"
        assert (spans is None, judges is None) == (False, False) or changed != files
        assert way or campaign.scale == (0, 100)
    return "read"
