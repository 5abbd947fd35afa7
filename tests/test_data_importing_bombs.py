"""Files made to burst, hang or lie: each is refused in one sentence that names it; and labels that no import writes."""

import itertools
import json
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing import writing
from tests import workbooks

HEAD = ["system", "doc", "segment", "annotator", "score", "lp"]
ROWS = [[*HEAD], *([s, "d", str(n), "Ann", 80.0 + n, "en-de"] for s in "AB" for n in range(9))]
TABLE = pd.DataFrame(ROWS[1:], columns=HEAD)
CSV = TABLE.to_csv(index=False).encode()
SHEET = "xl/worksheets/sheet1.xml"


def opened(tmp_path, content, name="my.csv", **options):
    path = tmp_path / name
    path.write_bytes(content)
    return importing.import_campaign([path], tmp_path / "c.parquet", keep_names=True, allow_rejected=True, **options)[0]


def xlsx(part=SHEET, before=b"</sheetData>", piece=b"", **parts):
    """A workbook with a piece put before the end of something in one of its parts."""
    found = workbooks.parts_of(workbooks.saved(workbooks.book(Scores=ROWS)))
    assert before in found[part]
    return workbooks.zipped(found | {part: found[part].replace(before, piece + before)} | parts)


def ods(inside=""):
    return workbooks.ods(Scores=[*(workbooks.row(*row) for row in ROWS), inside])


def old(*more, extra=b""):
    return workbooks.compound(workbooks.old_book(extra, Scores=[*ROWS, *more]))


def entry(at, value, kind="<I"):
    """A workbook whose archive says something else of its sheet than is so."""
    content = xlsx()
    place = content.rfind(SHEET.encode()) - 46
    assert content[place : place + 4] == b"PK\1\2"
    piece = struct.pack(kind, value)
    return content[: place + at] + piece + content[place + at + len(piece) :]


def blank(megabytes):
    return b"<row>" + b" " * (megabytes << 20) + b"</row>"


def shared(length, cells):
    """A workbook whose cells all show one long text that is stored once."""
    rows = b"".join(b'<row><c t="s"><v>0</v></c></row>' for _ in range(cells))
    text = b"<si><t>" + b"x" * length + b"</t></si>"
    return xlsx(piece=rows, **{"xl/sharedStrings.xml": b"<sst>" + text * 40 + b"</sst>"})


def named(names):
    return json.dumps({f"k{n}": n for n in range(names)}).encode()


def sheet_beyond_the_end():
    stream = workbooks.old_book(Scores=ROWS)
    place = stream.index(struct.pack("<HH", 0x0085, 14)) + 4
    return workbooks.compound(stream[:place] + struct.pack("<I", 1 << 20) + stream[place + 4 :])


WIDE = (
    '<table:table-row table:number-rows-repeated="15000"><table:table-cell table:number-columns-repeated="1900" '
    'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>'
)
TEXT_CELL = ('<table:table-cell office:value-type="string"><text:p>', "</text:p></table:table-cell>")
BLANKS = '<text:s text:c="999"/>' * 9_000
BOMBS = {
    "merged cells over one another.xlsx": lambda: xlsx(
        before=b"</worksheet>", piece=b"<mergeCells>" + b'<mergeCell ref="A2:A1048576"/>' * 1000 + b"</mergeCells>"
    ),
    "many merged cells.xlsx": lambda: xlsx(before=b"</worksheet>", piece=b'<mergeCell ref="A2:A3"/>' * 200_001),
    "one cell far out.xlsx": lambda: xlsx(piece=b'<row r="50"><c r="Z1048576"><v>1</v></c></row>'),
    "a row of many cells.xlsx": lambda: xlsx(piece=b"<row>" + b"<c><v>1</v></c>" * 2001 + b"</row>"),
    "blanks without end.xlsx": lambda: xlsx(piece=blank(200)),
    "blanks beside noise.xlsx": lambda: xlsx(
        piece=blank(20), **{"xl/media/a.png": np.random.default_rng(3).bytes(1 << 20)}
    ),
    "styles.xlsx": lambda: xlsx("xl/styles.xml", b"</cellXfs>", b'<xf numFmtId="9"/>' * 250_000),
    "sheets.xlsx": lambda: xlsx("xl/workbook.xml", b"</sheets>", b'<sheet name="x" r:id="rId1"/>' * 1001),
    "one text in all cells.xlsx": lambda: shared(100_000, 20_000),
    "a size that lies.xlsx": lambda: entry(24, 99),
    "packed in no usual way.xlsx": lambda: entry(10, 12, "<H"),
    "parts over one another.xlsx": lambda: entry(42, 0),
    "a password.xlsx": lambda: entry(8, 1, "<H"),
    "two parts of one name.xlsx": lambda: xlsx(**{"XL/Worksheets/Sheet1.xml": b"<x/>"}),
    "deep.ods": lambda: ods("<x>" * 300 + "</x>" * 300),
    "rows again.ods": lambda: ods(WIDE),
    "a cell without end.ods": lambda: ods(workbooks.row(BLANKS.join(TEXT_CELL))),
    "wider than any.xls": lambda: old([*ROWS[1], *[1.0] * 251]),
    "a sheet beyond the end.xls": sheet_beyond_the_end,
    "empty lists.jsonl": lambda: b"[" + b"[]," * 4_000_000 + b"[]]\n",
    "names.json": lambda: named(400_000),
    "deep.json": lambda: b'{"rows": [' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"]}",
    "deeper.json": lambda: b"[" * 100_000 + b"]" * 100_000,
    "a heading without end.csv": lambda: b"x," * 10_000_000 + b"\n" + CSV,
    "repeats.csv": lambda: CSV + CSV.splitlines(keepends=True)[1] * 1_000_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_one_sentence(name, tmp_path):
    with pytest.raises(DataError) as refused:
        opened(tmp_path, BOMBS[name](), name)
    told = str(refused.value)
    assert told.startswith(name)
    assert "\n" not in told
    assert len(told) < 1000


def test_what_the_bombs_are_made_of_is_read(tmp_path):
    for name, content in (("my.xlsx", xlsx()), ("my.ods", ods()), ("my.xls", old()), ("my.csv", CSV)):
        assert opened(tmp_path, content, name).rows_kept == 18
    long = xlsx(before=b"</worksheet>", piece=b'<mergeCells><mergeCell ref="A2:A1048576"/></mergeCells>')
    assert opened(tmp_path, long, "my.xlsx").rows_kept == 18


@pytest.mark.parametrize(
    "encoding", ["undefined", "punycode", "idna", "rot13", "base64", "hex", "zlib", "unicode_escape", "a\0b", "nothing"]
)
def test_encodings_that_no_file_is_written_in_are_refused(encoding, tmp_path):
    with pytest.raises(DataError, match="is no encoding of files"):
        opened(tmp_path, CSV, encoding=encoding)


@pytest.mark.parametrize(("content", "encoding"), [(b"a,b\n1,2", "utf-16"), (b"a,b\n+2AA-,2\n", "utf-7")])
def test_text_that_is_not_in_the_encoding_named_is_refused(content, encoding, tmp_path):
    with pytest.raises(DataError, match=rf"my\.csv is not sound {encoding}"):
        opened(tmp_path, content, encoding=encoding)


# Campaigns as Parquet


@pytest.fixture
def campaign(tmp_path, own_salt):
    opened(tmp_path, CSV)
    return tmp_path / "c.parquet"


def rewritten(path, change, label=None):
    """Write a table anew, as whoever forges one may; its label fits it, unless another is given."""
    table = change(pq.read_table(path).replace_schema_metadata(None))
    label = writing.label_of(path) if label is None else label
    label |= {"check": writing._check(label, table.schema, table.num_rows)}
    with pq.ParquetWriter(path, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})


def repeated(table, cell, count):
    """A table of many rows that share one document's name, which is stored once."""
    taken = table.take(pa.array(np.arange(count) % len(table)))
    folded = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), [cell])
    return taken.set_column(taken.column_names.index("doc"), "doc", folded.dictionary_decode())


@pytest.mark.parametrize(
    "change",
    [
        lambda table: repeated(table, "x" * (1 << 20), 1000),
        lambda table: table.take(pa.array(np.zeros(8_000_000, dtype=np.int64))),
        *(
            lambda table, kind=kind: table.set_column(3, table.column_names[3], pa.nulls(len(table), kind))
            for kind in (pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string()), pa.binary(), pa.date32())
        ),
    ],
)
def test_a_table_that_unfolds_too_far_or_has_types_of_no_import_is_refused(change, campaign):
    rewritten(campaign, change)
    with pytest.raises(DataError, match=r"^c\.parquet") as refused:
        data.open_campaign(campaign)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *itertools.product(["scale"], ([100, 0], "0-100", [0, None], [True, 5])),
        *itertools.product(["origin"], (None, "\ud800")),
        ("digest", ["a"]),
        ("files", "my.csv"),
        ("metrics", [{}]),
    ],
)
def test_a_label_that_no_import_writes_is_refused(name, value, campaign):
    rewritten(campaign, lambda table: table, writing.label_of(campaign) | {name: value})
    with pytest.raises(DataError, match=r"c\.parquet is damaged"):
        data.open_campaign(campaign)


def test_a_label_that_somebody_changed_is_noticed(campaign):
    content = campaign.read_bytes()
    before = b'"scale":' if b'"scale":' in content else b"annotator"
    campaign.write_bytes(content.replace(before, before.upper()))
    with pytest.raises(DataError, match=r"c\.parquet"):
        data.open_campaign(campaign)


@pytest.mark.parametrize("value", [None, 3, "x", [1], {"a": "b"}, {"a": None}])
@pytest.mark.parametrize("name", ["notes", "reasons", "rows_read", "scale", "plan", "judges", "unsure_segments"])
def test_a_report_of_other_kinds_beside_a_campaign_is_passed_over_or_read(name, value, campaign):
    beside = campaign.with_name("c.import.json")
    said = json.loads(beside.read_text(encoding="utf-8"))
    for one in (said | {name: value}, {other: kept for other, kept in said.items() if other != name}):
        beside.write_text(json.dumps(one), encoding="utf-8")
        assert len(data.open_campaign(campaign)[0]) == 18


def test_a_column_whose_levels_do_not_fit_its_type_does_not_end_the_process(campaign):
    """pyarrow aborts where it is asked for such a column's metadata: no exception, no traceback, nothing."""
    content, name = campaign.read_bytes(), b"\x18\x05score"
    assert content.count(b"\x25\x02" + name) == 1  # of the schema: may be missing
    campaign.write_bytes(content.replace(b"\x25\x02" + name, b"\x25\x00" + name))  # never is
    with pytest.raises(DataError, match=r"^c\.parquet is damaged: .* Import the campaign again\.$"):
        data.open_campaign(campaign)
