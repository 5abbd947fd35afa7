"""Files made to burst, hang or lie: each is refused in one sentence before anything of it is unfolded."""

import json
import os
import struct
import zlib
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doors.workbooks import HEAD, SHEET

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing import rejected, writing
from evalkit.data.importing.files import jsonl, parquet, parts, rows, sheets, text, xls, xlsx
from tests.doors import workbooks

ROWS = [[*HEAD], *([s, "d", str(n), "Ann", 80.0 + n, "en-de"] for s in "AB" for n in range(9))]
END = b"</sheetData>"


def opened(tmp_path, content, name="my.xlsx", **options):
    path = tmp_path / name
    path.write_bytes(content)
    return importing.import_campaign([path], tmp_path / "c.parquet", keep_names=True, allow_rejected=True, **options)[0]


def changed(part=SHEET, *, shared=False, **pairs):
    """A workbook one part of which has something put before or after its end."""
    found = workbooks.xlsx(ROWS, shared=shared)
    for after, piece in pairs.items():
        mark = {"cells": END, "merged": b"</worksheet>", "styles": b"</cellXfs>", "sheets": b"</sheets>"}[after]
        found[part] = found[part].replace(mark, piece + mark)
    return workbooks.zipped(found)


@pytest.mark.parametrize("shared", [True, False])
def test_what_the_doors_write_is_read(shared, tmp_path):
    for name, content in (
        ("my.xlsx", workbooks.zipped(workbooks.xlsx(ROWS, shared=shared))),
        ("my.ods", workbooks.zipped(workbooks.ods(ROWS))),
        ("my.xls", workbooks.compound(workbooks.xls(ROWS, np.random.default_rng(int(shared))))),
    ):
        assert opened(tmp_path, content, name).rows_kept == 18


# Workbooks


def test_merged_cells_over_one_another_are_refused_and_others_are_read_at_once(tmp_path):
    """Each of 100,000 merged cells over the whole column took its turn: 150 s for 9 KB."""
    long = b"<mergeCells>" + b'<mergeCell ref="A2:A1048576"/>' * 1000 + b"</mergeCells>"
    with pytest.raises(DataError, match=r"my\.xlsx has merged cells over one another\. Unmerge them"):
        opened(tmp_path, changed(merged=long))
    with pytest.raises(DataError, match="too many merged cells"):
        opened(tmp_path, changed(merged=b'<mergeCell ref="A2:A3"/>' * 200_001))
    assert opened(tmp_path, changed(merged=b'<mergeCells><mergeCell ref="A2:A1048576"/></mergeCells>')).rows_kept == 18


@pytest.mark.parametrize(
    ("part", "pairs", "message"),
    [
        (SHEET, {"cells": b'<row r="50"><c r="Z1048576"><v>1</v></c></row>'}, "1,048,576 rows and 26 columns"),
        (SHEET, {"cells": b"<row>" + b"<c><v>1</v></c>" * 2001 + b"</row>"}, "in up to 19 rows"),
        (SHEET, {"cells": b"<row>" + b" " * (20 << 20) + b"</row>"}, "would unpack to"),
        ("xl/styles.xml", {"styles": b'<xf numFmtId="9"/>' * 250_000}, "more styles than a workbook has"),
        ("xl/workbook.xml", {"sheets": b'<sheet name="x" r:id="rId1"/>' * 1001}, "more sheets than a workbook has"),
        ("xl/workbook.xml", {"sheets": b'<sheet name="x" r:id="rId1"/>'}, "two sheets of one part"),
    ],
)
def test_parts_rows_and_cells_have_bounds(part, pairs, message, tmp_path):
    with pytest.raises(DataError, match=message):
        opened(tmp_path, changed(part, **pairs))


def test_a_row_without_end_and_blanks_without_end_are_soon_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_TIMES", 100_000)
    with pytest.raises(DataError, match="a row without end"):
        opened(tmp_path, changed(cells=b"<row>" + b" " * (14 << 20) + b"</row>"))
    blanks = b'<row r="60"><c r="A60"><f>1</f>' + b" " * (3 << 20) + b"</c></row>"
    assert opened(tmp_path, changed(cells=blanks)).rows_kept == 18


def test_noise_beside_a_part_does_not_excuse_what_it_unfolds_to(tmp_path):
    noise = np.random.default_rng(3).bytes(1 << 20)
    parts = workbooks.xlsx(ROWS)
    parts[SHEET] = parts[SHEET].replace(END, b"<row>" + b" " * (20 << 20) + b"</row>" + END)
    padded = workbooks.zipped(parts | {"xl/media/a.png": noise})
    assert 100 * len(padded) > 21 << 20  # taken as a whole, the file would unfold to little enough
    with pytest.raises(DataError, match="would unpack to"):
        opened(tmp_path, padded)


def test_texts_that_many_cells_share_are_counted_before_each_gets_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "_MOST_TEXT", 1 << 20)
    found = workbooks.xlsx(ROWS, shared=True)
    found["xl/sharedStrings.xml"] = found["xl/sharedStrings.xml"].replace(
        b"<t>Ann</t>", b"<t>" + b"x" * 99_999 + b"</t>"
    )
    with pytest.raises(DataError, match="repeats texts to more than"):
        opened(tmp_path, workbooks.zipped(found))
    found["xl/_rels/workbook.xml.rels"] = found["xl/_rels/workbook.xml.rels"].replace(b'"sharedS', b'"x/sharedS')
    found["xl/x/SharedStrings.xml"] = found.pop("xl/sharedStrings.xml")
    with pytest.raises(DataError, match="repeats texts to more than"):
        opened(tmp_path, workbooks.zipped(found))


def entry(content, name, at, value, short=False):
    """Change what an archive's list says of a part."""
    place = content.rfind(name.encode()) - 46
    assert content[place : place + 4] == b"PK\1\2"
    piece = struct.pack("<H" if short else "<I", value)
    return content[: place + at] + piece + content[place + at + len(piece) :]


def test_archives_that_lie_are_refused(tmp_path):
    content = workbooks.zipped(workbooks.xlsx(ROWS))
    start = workbooks.xlsx(ROWS)[SHEET][:99]
    small = entry(entry(content, SHEET, 24, 99), SHEET, 16, zlib.crc32(start))  # what it says is right, and not all
    other = entry(content, SHEET, 42, 0)
    for spoilt, message in (
        (small, "is not whole"),
        (entry(content, SHEET, 10, 12, short=True), "in no usual way"),
        (other, "over one another|no sound workbook"),
        (entry(content, SHEET, 8, 1, short=True), "a password"),
    ):
        with pytest.raises(DataError, match=message):
            opened(tmp_path, spoilt)
    twice = workbooks.xlsx(ROWS) | {"XL/Worksheets/Sheet1.xml": b"<x/>"}
    with pytest.raises(DataError, match="two parts of one name"):
        opened(tmp_path, workbooks.zipped(twice))


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<x>" * 300 + "</x>" * 300, "nest too deep"),
        ("</table:table><table:table>" * 1001, "more sheets than a workbook has"),
        (
            '<table:table-row table:number-rows-repeated="15000"><table:table-cell table:number-columns-repeated="1900" '
            'office:value-type="string"><text:p>x</text:p></table:table-cell></table:table-row>',
            "15,019 rows and 1,900",
        ),
        (
            '<table:table-row><table:table-cell office:value-type="string"><text:p>'
            + '<text:s text:c="999"/>' * 9_000
            + "</text:p></table:table-cell></table:table-row>",
            "a cell without end",
        ),
    ],
)
def test_opendocument_has_the_same_bounds(inside, message, tmp_path):
    found = workbooks.ods(ROWS)
    found["content.xml"] = found["content.xml"].replace(b"</table:table>", inside.encode() + b"</table:table>")
    with pytest.raises(DataError, match=message):
        opened(tmp_path, workbooks.zipped(found), "my.ods")


def test_old_workbooks_have_the_same_bounds(tmp_path, monkeypatch):
    stream = workbooks.xls(ROWS, np.random.default_rng(1))
    place = stream.index(struct.pack("<HH", 0x0085, 14))
    start = stream[place + 4 : place + 8]
    two = stream[:place] + stream[place : place + 18] + stream[place:]
    moved = struct.pack("<I", struct.unpack("<I", start)[0] + 18)
    with pytest.raises(DataError, match="two sheets in one place"):
        opened(tmp_path, workbooks.compound(two.replace(start, moved)), "my.xls")
    monkeypatch.setattr(xls, "_MOST_TEXT", 20)
    with pytest.raises(DataError, match="repeats texts to more than"):
        opened(tmp_path, workbooks.compound(stream), "my.xls")


def test_an_old_workbook_wider_than_any_is_refused(tmp_path):
    """5 KB with one cell far out took 1.1 GB."""
    rng = np.random.default_rng(0)
    for wide, message in (
        (256, ""),
        (257, r"^my\.xls is no sound workbook: .*257 columns, where an old workbook ends at"),
    ):
        content = workbooks.compound(workbooks.xls([*ROWS, [*ROWS[1], *[1.0] * (wide - 6)]], rng))
        with pytest.raises(DataError, match=message) if message else nullcontext():
            opened(tmp_path, content, "my.xls")


def test_a_sheet_beyond_the_end_of_an_old_workbook_is_refused(tmp_path):
    stream = workbooks.xls(ROWS, np.random.default_rng(1))
    place = stream.index(struct.pack("<HH", 0x0085, 14)) + 4
    spoilt = stream[:place] + struct.pack("<I", 1 << 20) + stream[place + 4 :]
    with pytest.raises(DataError, match=r"^my\.xls is no sound workbook: .*a sheet beyond its end"):
        opened(tmp_path, workbooks.compound(spoilt), "my.xls")


@pytest.mark.parametrize("name", ["_of_xls", "_sources"])
def test_a_panic_inside_the_parser_is_told_in_the_sentence_alone(name, tmp_path, monkeypatch, capfd):
    """Rust writes the trace of a panic to standard error itself, before Python hears of it."""

    def panic(*_):
        os.write(2, b"thread '<unnamed>' panicked")
        raise BaseException("index out of range")  # as pyo3's is none of Exception

    monkeypatch.setattr(sheets, name, panic)
    content = workbooks.compound(workbooks.xls(ROWS, np.random.default_rng(1))) if name == "_of_xls" else changed()
    with pytest.raises(DataError, match=r"is no sound workbook: BaseException: index out of range\."):
        opened(tmp_path, content, "my.xls" if name == "_of_xls" else "my.xlsx")
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"


@pytest.mark.parametrize("width", [8224, 50, 31, 7])
def test_shared_texts_of_old_workbooks_are_measured_wherever_they_are_cut(width):
    texts = ["a" * 40, "ü" * 9, "", "long text " * 30]
    whole = b"".join(struct.pack("<HB", len(one), 0) + one.encode("latin-1") for one in texts)
    found, place = [struct.pack("<II", 9, len(texts))], 0
    ends, at = [], 0
    for one in texts:
        ends.append((at, at + 3 + len(one)))
        at += 3 + len(one)
    while place < len(whole):
        end = min(place + width, len(whole))
        end = next((first for first, _ in ends if first < end < first + 3), end)  # heads are never cut
        inner = any(first + 3 <= place < last and place > first + 3 for first, last in ends) and len(found) > 1
        found.append((b"\0" if inner else b"") + whole[place:end])
        place = end
    assert xls._lengths([found[0] + found[1], *found[2:]]) == [len(one) for one in texts]
    assert xls._lengths([found[0] + whole[:20]]) == [32_767] * 4


# Campaigns as Parquet


@pytest.fixture
def campaign(tmp_path, own_salt):
    opened(tmp_path, pd.DataFrame(ROWS[1:], columns=HEAD).to_csv(index=False).encode(), "my.csv")
    return tmp_path / "c.parquet"


def rewritten(path, change, label=None):
    """Write a table anew, as whoever forges one may; its label fits it, unless another is given."""
    table = change(pq.read_table(path).replace_schema_metadata(None))
    label = writing.label_of(path) if label is None else label
    label |= {"check": writing._check(label, table.schema, table.num_rows)}
    with pq.ParquetWriter(path, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})


def repeated(table, name, cell, count):
    taken = table.take(pa.array(np.arange(count) % len(table)))
    folded = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, dtype=np.int32)), [cell])
    return taken.set_column(taken.column_names.index(name), name, folded.dictionary_decode())


def test_a_table_that_unfolds_too_far_is_refused_by_what_it_says_of_itself(campaign, monkeypatch):
    monkeypatch.setattr(parquet, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(parquet, "_TIMES", 10)
    rewritten(campaign, lambda table: table.take(pa.array(np.zeros(200_000, dtype=np.int64))))
    with pytest.raises(DataError, match=r"c\.parquet would unfold to 200,000 rows of \d+ columns"):
        data.open_campaign(campaign)


@pytest.mark.parametrize(
    ("length", "count", "message"), [(3 << 20, 9, "more than 1 MiB"), (90_000, 99, r"[\d,]{8,} bytes")]
)
def test_a_cell_that_is_stored_once_and_meant_often_is_counted_first(length, count, message, campaign, monkeypatch):
    monkeypatch.setattr(parquet, "_ALWAYS", 1 << 20)
    monkeypatch.setattr(parquet, "_TIMES", 1)
    rewritten(campaign, lambda table: repeated(table, "doc", "x" * length, count))
    with pytest.raises(DataError, match=f"would unfold to {message}"):
        data.open_campaign(campaign)


def test_dictionaries_within_bounds_are_read_as_they_were_written(campaign, monkeypatch):
    before, _ = data.open_campaign(campaign)
    monkeypatch.setattr(parquet, "_ALWAYS", 2_000)  # so that every dictionary is looked into
    pd.testing.assert_frame_equal(data.open_campaign(campaign)[0], before)
    table = pq.read_table(campaign)
    folded = pq.read_table(campaign, read_dictionary=["doc", "system"])
    assert parquet._unfolded(campaign, folded).equals(table)


@pytest.mark.parametrize(
    "kind", [pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string()), pa.binary(), pa.date32()]
)
def test_types_that_no_import_writes_are_refused(kind, campaign):
    rewritten(campaign, lambda table: table.set_column(3, table.column_names[3], pa.nulls(len(table), kind)))
    with pytest.raises(
        DataError,
        match=r"c\.parquet(, column \w+: of the type .*, which| is damaged: it says of itself what) no import writes",
    ):
        data.open_campaign(campaign)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", [100, 0]),
        ("scale", "0-100"),
        ("scale", [0, None]),
        ("origin", None),
        ("digest", ["a"]),
        ("files", "my.csv"),
        ("origin", "\ud800"),
        ("metrics", [{}]),
        ("scale", [True, 5]),
    ],
)
def test_a_label_that_no_import_writes_is_refused(name, value, campaign):
    rewritten(campaign, lambda table: table, writing.label_of(campaign) | {name: value})
    with pytest.raises(DataError, match=r"c\.parquet is damaged"):
        data.open_campaign(campaign)


def test_a_damaged_end_is_noticed_though_only_pages_have_checksums(campaign):
    content = campaign.read_bytes()
    for before, after in ((b'"scale": [0.0, 100.0]', b'"scale": [0.0, 900.0]'), (b"annotator", b"annotatoR")):
        assert before in content or before == b'"scale": [0.0, 100.0]'
        if before in content:
            campaign.write_bytes(content.replace(before, after))
            with pytest.raises(DataError, match=r"c\.parquet"):
                data.open_campaign(campaign)
    campaign.write_bytes(content)
    assert len(data.open_campaign(campaign)[0]) == 18


def test_tables_of_before_labels_had_a_digest_are_still_read(campaign):
    table, label = pq.read_table(campaign), writing.label_of(campaign)
    with pq.ParquetWriter(campaign, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})
    assert len(data.open_campaign(campaign)[0]) == 18


@pytest.mark.parametrize("value", [None, 3, "x", [1], {"a": "b"}, {"a": None}])
@pytest.mark.parametrize("name", ["notes", "reasons", "rows_read", "scale", "plan", "judges", "unsure_segments"])
def test_a_report_of_other_kinds_beside_a_campaign_is_passed_over_or_read(name, value, campaign):
    beside = campaign.with_name("c.import.json")
    said = json.loads(beside.read_text(encoding="utf-8"))
    beside.write_text(json.dumps(said | {name: value}), encoding="utf-8")
    ratings, _ = data.open_campaign(campaign)
    assert len(ratings) == 18


def test_a_report_that_lacks_a_part_is_read_without_it(campaign):
    beside = campaign.with_name("c.import.json")
    said = json.loads(beside.read_text(encoding="utf-8"))
    for name in said:
        rest = {other: value for other, value in said.items() if other != name}
        beside.write_text(json.dumps(rest), encoding="utf-8")
        ratings, _ = data.open_campaign(campaign)
        assert len(ratings) == 18
        assert ("notes" in ratings.attrs) == (name != "digest")  # which tells that the report is of this import


def test_a_column_whose_levels_do_not_fit_its_type_does_not_end_the_process(campaign):
    """pyarrow aborts where it is asked for such a column's metadata: no exception, no traceback, nothing."""
    content, name = campaign.read_bytes(), b"\x18\x05score"
    assert content.count(b"\x25\x02" + name) == 1  # of the schema: may be missing
    campaign.write_bytes(content.replace(b"\x25\x02" + name, b"\x25\x00" + name))  # never is
    with pytest.raises(
        DataError, match=r"^c\.parquet is damaged: .*histogram size mismatch.* Import the campaign again\.$"
    ):
        data.open_campaign(campaign)


@given(
    st.recursive(
        st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=200),
        lambda inner: (
            st.lists(inner, max_size=20).filter(lambda many: len({type(one) for one in many}) < 2)
            | st.dictionaries(st.integers(1, 40), inner, max_size=5)
        ),
        max_leaves=30,
    ).filter(lambda found: isinstance(found, dict))
)
def test_metadata_are_read_as_they_were_written(found):
    def length(value):
        made = b""
        while value > 127:
            value, made = value >> 7, made + bytes([value & 127 | 128])
        return made + bytes([value])

    def number(value):
        return length((value << 1) ^ (value >> 63))

    def written(value):
        """The kind of a value, and its bytes."""
        if isinstance(value, int):
            return 6, number(value)
        if isinstance(value, bytes):
            return 8, length(len(value)) + value
        if isinstance(value, list):
            parts = [written(one) for one in value]
            kind = parts[0][0] if parts else 6
            head = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([240 | kind]) + length(len(value))
            return 9, head + b"".join(part for _, part in parts)
        made, last = b"", 0
        for field, one in sorted(value.items()):
            kind, part = written(one)
            step = field - last
            made += (bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + number(field)) + part
            last = field
        return 12, made + b"\0"

    assert parquet._Thrift(written(found)[1]).fields() == found


# JSON and text


def test_a_line_of_empty_lists_is_counted_and_not_read(tmp_path, monkeypatch):
    """60 MB of ``[],`` took 3.3 GB."""
    monkeypatch.setattr(jsonl, "_MOST_INSIDE", 1000)
    for name in ("my.jsonl", "my.json"):
        with pytest.raises(
            DataError, match=rf"{name} holds 1,002 lists and objects and 1,000 values, more than can be"
        ):
            opened(tmp_path, b"[" + b"[]," * 1000 + b"[]]\n", name)


def test_an_object_of_many_names_or_that_nests_deep_is_refused(tmp_path):
    many = json.dumps({f"k{n}": n for n in range(100_000)})
    deep = '{"a":' * 40 + "1" + "}" * 40
    for content in (many, deep, f'{{"rows": [{deep}], "b": {deep}}}'):
        with pytest.raises(DataError, match=r"my\.json"):
            opened(tmp_path, content.encode(), "my.json")


def test_an_object_of_more_names_than_columns_could_ever_be_is_refused_at_once(tmp_path, monkeypatch):
    """4 million names in 50 MB took 26 s and 1.7 GB."""
    many = json.dumps({f"k{n}": n for n in range(2_000)}).encode()
    monkeypatch.setattr(jsonl, "_MOST_NAMES", 1_999)
    with pytest.raises(DataError, match=r"my\.json is no JSON object: one object has 2,000 names"):
        opened(tmp_path, many, "my.json")
    monkeypatch.setattr(jsonl, "_MOST_IN_ONE", 1_000)
    with pytest.raises(DataError, match=r"my\.json, in its first object, holds 1 lists and objects and 1,999 values"):
        opened(tmp_path, many, "my.json")


def test_commas_and_brackets_in_texts_are_no_values(tmp_path, monkeypatch):
    own = {"rater": "A", "x": 'a, b [c], "d, {\\\\'}
    rows = [json.dumps({"system": s, "segment": str(n), "score": 7 * n} | own) for s in "AB" for n in range(9)]
    monkeypatch.setattr(jsonl, "_MOST_VALUES", 18 * 4)
    monkeypatch.setattr(jsonl, "_MOST_INSIDE", 18 + 1)
    content, values = "\n".join(rows).encode(), {"src_lang": "en", "tgt_lang": "de"}
    assert opened(tmp_path, content, "my.jsonl", values=values).rows_kept == 18
    monkeypatch.setattr(jsonl, "_MOST_INSIDE", 17)
    with pytest.raises(DataError, match=r"my\.jsonl holds 18 lists and objects and 72 values, more than can be"):
        opened(tmp_path, content, "my.jsonl", values=values)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("A,1,Ann,80,en-de", "repeats an earlier judgement"),
        ("A,1,Ann,180,en-de", "is outside 0-100"),
        ("A,1,,80,en-de", "is empty"),
    ],
)
def test_more_rejected_rows_than_anyone_mends_are_refused(row, reason, tmp_path, monkeypatch):
    """3 million rows that repeat one judgement took a minute and more."""
    sound = [f"{s},{n},Ann,{10 * n},en-de" for s in "AB" for n in range(10)]
    content = "\n".join(["system,segment,rater,score,lp", *sound, *[row] * 31, ""]).encode()
    monkeypatch.setattr(rejected, "MOST", 30)
    with pytest.raises(DataError, match=rf"^my\.csv, line 52: more than 30 rows up to here are no .*{reason}"):
        opened(tmp_path, content, "my.csv", scale=(0, 100))
    monkeypatch.setattr(rejected, "MOST", 31)
    if row.startswith("A,1,Ann,80"):
        assert opened(tmp_path, content, "my.csv", scale=(0, 100)).rows_rejected == 31
    else:  # only A would lose rows: --allow-rejected would leave the rest of a kind
        with pytest.raises(DataError, match=rf"^my\.csv: 31 of 51 rows .*{reason}"):
            opened(tmp_path, content, "my.csv", scale=(0, 100))


@pytest.mark.parametrize("name", ["my.csv", "my.jsonl"])
def test_many_lines_that_are_no_rows_end_the_import(name, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MOST_BROKEN", 100)
    content = pd.DataFrame(ROWS[1:], columns=HEAD)
    start = content.to_csv(index=False) if name == "my.csv" else content.to_json(orient="records", lines=True)
    with pytest.raises(DataError, match=rf"{name}, line \d+: more than 100 lines up to here are no rows of it"):
        opened(tmp_path, (start + "[]\n" * 101).encode(), name)


def test_lines_too_long_or_too_many_are_refused(tmp_path, monkeypatch):
    start = pd.DataFrame(ROWS[1:], columns=HEAD).to_csv(index=False).encode()
    monkeypatch.setattr(text, "_LONGEST", 10_000)
    with pytest.raises(DataError, match=r"my\.csv has a line of more than"):
        opened(tmp_path, start + b"[]," * 5000, "my.csv")
    monkeypatch.setattr(text, "_MOST_CUT", 100)
    with pytest.raises(DataError, match=r"my\.csv has 120 lines, some of them blank"):
        opened(tmp_path, start + b"\n" * 101, "my.csv")


@pytest.mark.parametrize(
    "encoding", ["undefined", "punycode", "idna", "rot13", "base64", "hex", "zlib", "unicode_escape", "a\0b", "nothing"]
)
def test_encodings_that_no_file_is_written_in_are_refused(encoding, tmp_path):
    start = pd.DataFrame(ROWS[1:], columns=HEAD).to_csv(index=False).encode()
    with pytest.raises(DataError, match="is no encoding of files"):
        opened(tmp_path, start, "my.csv", encoding=encoding)


@pytest.mark.parametrize(("content", "encoding"), [(b"a,b\n1,2", "utf-16"), (b"a,b\n+2AA-,2\n", "utf-7")])
def test_text_that_is_not_in_the_encoding_named_is_refused(content, encoding, tmp_path):
    with pytest.raises(DataError, match=rf"my\.csv is not sound {encoding}"):
        opened(tmp_path, content, "my.csv", encoding=encoding)
