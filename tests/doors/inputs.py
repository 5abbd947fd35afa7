"""What stands before the doors: small sound files of many kinds, and ways to spoil them."""

import functools
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit.data import importing
from tests.makers import cases, imports
from tests.workbooks import HEAD, book, compound, ods, old_book, parts_of, row, saved, zipped

ROWS = [[system, n, person, 10.0 * n + 5, "en-de"] for system in ("Ada", "Ü,2") for n in range(5) for person in "pq"]
TABLE = pd.DataFrame(ROWS, columns=HEAD)
#: Small sound files of every kind, by the names of their cases: those whose scores stand in them, and others.
NUMBERS, OTHERS = cases("cases/doors").values()
FILES = {name: (imports()[name].get("name", "my.csv"), imports()[name]["text"]) for name in NUMBERS + OTHERS}
#: Pieces that have broken parsers, whatever they stand in.
_PIECES = (
    b'\0|\xff|"|""|,|;|\t|\n|\r|\r\n|\xef\xbb\xbf|\xff\xfe|1e999|NaN|Infinity|-0|\xed\xa0\x80|\\ud800|\\u0000|[|{|]|}'
    b'|"":1,|{"":{"":1}}|null|true|"\\|\\|\xe2\x80\xa8|\x1a|\x0b|\x85|\xc2\x85|\xc2\xa0|+2AA-|=1+1|#|\x1f\x8b|PK\3\4'
    b"|PAR1|\xe2\x80\xae|8,5|\x1b[31m|{}|[],|<v>|#bad|2026-05-03|1.5%|\xe2\x88\x925"
)
PIECES = [*_PIECES.split(b"|"), b"[" * 500, b'{"a":' * 330, b"9" * 400]
#: Pieces of XML, and of what a sheet says of itself, that have broken parsers.
_TAGS = (
    b'<f>1</f>|<c r="XFD1048576"><v>1</v></c>|<v>|</c>|</row>| t="s"| t="e"| s="1"|99999999|-1|<row/>|&x;|&#0;|&#xD800;'
    b"|\0|\xff|<!--|<![CDATA[|<?xml version='1.0' encoding='utf-16'?>|\"|<|>|/| r=\"A1\"|1e999|NaN|<is><t>x</t></is>"
    b'|<mergeCell ref="A1:XFD1048576"/>|<sheet name="x" r:id="rId1"/>|../../x|#N/A| table:number-columns-repeated="16384"'
    b'|<table:table-row table:number-rows-repeated="9999"/>| table:number-rows-spanned="1048576"|</table:table>'
)
TAGS = [*_TAGS.split(b"|"), b'<!DOCTYPE a [<!ENTITY a "b">]>', b"<a>" * 300, b" " * 999, b"<c><v>1</v></c>" * 9999]


def drawn(rng, some):
    """Draw one of a list."""
    return some[int(rng.integers(len(some)))]


def spoilt(content, rng, pieces=PIECES):
    """Put pieces and bytes in, take some out, double some, cut the end off."""
    for _ in range(rng.integers(1, 6)):
        place, gap = int(rng.integers(len(content) + 1)), int(rng.integers(0, 12))
        middle = drawn(rng, (drawn(rng, pieces), drawn(rng, pieces), rng.bytes(1), b"", content[place // 2 : place]))
        content = content[:place] + middle + content[place + gap * int(rng.integers(2)) :]
    return content[: rng.integers(len(content) + 1)] if rng.random() < 0.05 else content


def text(rng):
    """Draw a file of text: its name, its bytes, and further words for the command line."""
    name, whole = FILES[drawn(rng, [*FILES])]
    whole = whole.encode(drawn(rng, ("utf-8", "utf-8", "utf-16", "utf-8-sig")))
    encoding = drawn(rng, ("utf-8", "utf-16", "cp1252", "undefined", "base64", "no such"))
    return name, spoilt(whole, rng), ["--encoding", encoding] if rng.random() < 0.1 else []


SHEETS = {
    "my.xlsx": saved(book(Scores=[HEAD, *ROWS], Notes=[["Read this."]])),
    "my.ods": ods(Scores=[row(*cells) for cells in (HEAD, *ROWS)]),
}


def workbook(rng):
    """Draw a workbook: spoilt as a whole, or within a part or its stream."""
    name = drawn(rng, ("my.xlsx", "my.xlsx", "my.ods", "my.xls"))
    if name == "my.xls":
        stream = old_book(Scores=[HEAD, *ROWS])
        whole = rng.random() < 0.5
        return name, spoilt(compound(stream), rng) if whole else compound(spoilt(stream, rng)), []
    parts = parts_of(SHEETS[name])
    part = drawn(rng, sorted(parts)) if rng.random() < 0.5 else max(parts, key=lambda one: len(parts[one]))
    way = rng.random()
    if way < 0.3:
        return name, spoilt(SHEETS[name], rng), []
    if way < 0.8:
        parts[part] = spoilt(parts[part], rng, TAGS)
    elif way < 0.9:
        del parts[part]
    else:
        parts[drawn(rng, (part.upper(), "../x", "content.xml", "xl/vbaProject.bin", "EncryptedPackage"))] = b"<x/>"
    return name, zipped(parts), []


@functools.cache
def _imported():
    """Import a campaign: the bytes of its result."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "my.csv")
        TABLE.to_csv(path, index=False)
        importing.import_campaign([path], Path(folder, "c.parquet"), salt="pepper")
        return Path(folder, "c.parquet").read_bytes()


def parquet(rng):
    """Draw a campaign that was imported, spoilt in its bytes or in what it says of itself, or as another table."""
    content = _imported()
    way, table = rng.random(), pq.read_table(pa.BufferReader(content))
    if way < 0.1:
        return "c.parquet", content, []
    if way < 0.4:
        return "c.parquet", spoilt(content, rng), []
    if way < 0.7:
        start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        return "c.parquet", content[:start] + spoilt(content[start:], rng), []
    place, stream = int(rng.integers(table.num_columns)), pa.BufferOutputStream()
    kind = drawn(rng, (pa.null(), pa.binary(), pa.date32(), pa.list_(pa.string()), pa.string()))
    others = {
        "lost": table.remove_column(place),
        "retyped": table.set_column(place, table.column_names[place], pa.nulls(len(table), kind)),
        "endless": table.take(pa.array([0] * 1_000_000)),
    }
    pq.write_table(drawn(rng, [*others.values()]), stream, compression=drawn(rng, ("zstd", "snappy", "none")))
    return "c.parquet", stream.getvalue().to_pybytes(), []
