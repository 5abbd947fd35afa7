"""Workbooks of all kinds: XLSX with several sheets, OpenDocument and old binary ones, within bounds, percentages told.

The .ods and .xls files are written here byte by byte from the formats' descriptions; no spreadsheet program made them.
"""

import json
import struct
import zipfile
from xml.sax.saxutils import quoteattr

import openpyxl
import pytest

from evalkit import DataError
from evalkit.data.importing.files import xls

HEAD = ["system", "segment", "rater", "score", "lp"]


#: Many rows of small files are wrong on purpose.


# Several sheets


@pytest.fixture
def imported(imported):
    """Name what is written as workbooks are named."""
    return lambda content, name="scores.xlsx", **options: imported(content, name, **options)


def book(**rows):
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, cells in rows.items():
        sheet = workbook.create_sheet(title)
        for row in cells:
            sheet.append(row)
    return workbook


def scored(*scores, system="A", pair="en-de"):
    return [HEAD, *([system, n, "Ann", score, pair] for n, score in enumerate(scores))]


def test_sheets_of_one_kind_are_one_campaign_and_others_are_told(imported, tmp_path):
    workbook = book(Guide=[["Read this first."], ["Then judge."]], May=scored(80, 70), June=scored(60, 150, system="B"))
    ratings, _, report = imported(workbook)
    assert ratings[["system", "score"]].values.tolist() == [["A", 80], ["A", 70], ["B", 60]]
    assert any("of 2 sheets were put together: May, June; --sheet names one" in note for note in report.notes)
    assert any("other sheets were not read: Guide" in note for note in report.notes)
    assert [(row["file"], row["line"]) for row in report.first] == [("scores.xlsx, June", 3)]
    assert [entry["name"] for entry in report.files] == ["scores.xlsx"]
    label = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    assert len(label["files"]) == 1
    assert imported(workbook, sheet="June")[0]["system"].tolist() == ["B"]


def test_the_same_judgement_on_two_sheets_counts_once(imported):
    ratings, _, report = imported(book(Draft=scored(80), Final=scored(75)))
    assert ratings["score"].tolist() == [80]
    assert report.reasons == {"judges again, with another score, what another line judged": 1}
    assert "line 2 of 'scores.xlsx, Draft'" in report.first[0]["reason"]


def test_sheets_of_different_kinds_are_not_mixed(imported):
    mqm = [["system", "seg_id", "rater", "category", "severity", "lp"], ["A", 1, "Ann", "Other", "Major", "en-de"]]
    with pytest.raises(
        DataError, match=r"of different formats: Scores \(csv\), Errors \(mqm\)\. Name one with --sheet"
    ):
        imported(book(Scores=scored(80), Errors=mqm))


@pytest.mark.parametrize(
    ("titles", "pairs"),
    [
        (("en-de", "en-cs"), ["eng-deu", "eng-ces"]),
        (("German", "Hindi"), ["und-deu", "und-hin"]),
        (("x", "y"), ["und-und"] * 2),
    ],
)
def test_titles_of_sheets_state_languages(imported, titles, pairs):
    rows = {title: [row[:-1] for row in scored(80, system=title)] for title in titles}
    ratings, *_ = imported(book(**rows))
    assert (ratings["src_lang"] + "-" + ratings["tgt_lang"]).tolist() == pairs


def test_a_sheet_each_language_is_one_campaign(imported, mirrored):
    """IndicMT-Eval in two sheets: each translation once, in the language that its sheet names."""
    hindi = openpyxl.load_workbook(mirrored("../strangers/indic_small.xlsx")).active
    rows = [list(row) for row in hindi.iter_rows(values_only=True)]
    score = rows[0].index("Computed_scores")
    sheets = {"Guide": [["Read this."], ["Judge."]], "Hindi": rows[:12], "Tamil": [rows[0], *rows[12:]]}
    ratings, _, report = imported(book(**sheets))
    assert ratings["tgt_lang"].tolist() == ["hin"] * 11 + ["tam"] * (len(rows) - 12)
    assert ratings["score"].tolist() == [row[score] for row in rows[1:]]
    assert report.rows_rejected == 0


# OpenDocument


def cell(value, **more):
    """Write a cell: a number, a text, a percentage (like "85%"), nothing, or XML as it is."""
    told = "".join(f" {name.replace('__', ':').replace('_', '-')}={quoteattr(str(one))}" for name, one in more.items())
    if value is None:
        return f"<table:table-cell{told}/>"
    if isinstance(value, str) and value.startswith("<"):
        return value
    kind, number = "string", ""
    if isinstance(value, int | float):
        kind, number, value = "float", f' office:value="{value}"', "as it is shown"
    elif value.endswith("%"):
        kind, number = "percentage", f' office:value="{float(value[:-1]) / 100}"'
    text = f"<text:p>{value}</text:p></table:table-cell>"
    return f'<table:table-cell office:value-type="{kind}"{number}{told}>{text}'


def row(*cells, again=1):
    repeated = f' table:number-rows-repeated="{again}"' if again > 1 else ""
    return f"<table:table-row{repeated}>{''.join(map(cell, cells))}</table:table-row>"


NAMES = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "table", "text", "style", "calcext"))
STYLES = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'


def ods(path, doctype="", manifest="", **tables):
    """Write an OpenDocument spreadsheet. A title that begins with Hidden is hidden."""
    body = "".join(
        f'<table:table table:name="{title}" table:style-name="{"ta2" if title.startswith("Hidden") else "ta1"}">'
        f"{''.join(rows)}</table:table>"
        for title, rows in tables.items()
    )
    xml = (
        f'<?xml version="1.0"?>{doctype}<office:document-content {NAMES}><office:automatic-styles>{STYLES}'
        f"</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        out.writestr("content.xml", xml)
        if manifest:
            out.writestr("META-INF/manifest.xml", manifest)
    return path


def test_an_opendocument_sheet_is_read(imported, tmp_path):
    comment = (
        '<table:table-cell office:value-type="float" office:value="61.5"><office:annotation><text:p>not this'
        "</text:p></office:annotation><text:p>61,5</text:p></table:table-cell>"
    )
    spaced = (
        '<table:table-cell office:value-type="string"><text:p>A<text:s text:c="2"/>B</text:p><text:p>C</text:p>'
        "</table:table-cell>"
    )
    path = ods(
        tmp_path / "my.ods",
        Scores=[
            row(*HEAD, "source"),
            row("S", 1, "Ann", 80, "en-de", spaced),
            row(None, None),
            row("S", 2, "Ann", comment, "en-de", "x"),
            row("S", 3, "Ann", 1e-7, "en-de", "x"),
            row(None, again=1_048_570),
        ],
        HiddenNotes=[row(*HEAD), row("S", 9, "Ann", 1, "en-de")],
    )
    ratings, _, report = imported(path)
    assert ratings["score"].tolist() == [80, 61.5, 1e-7]
    assert ratings["source"].tolist()[0] == "A  B\nC"
    assert any("hidden sheets were not read: HiddenNotes" in note for note in report.notes)
    assert imported(path, sheet="HiddenNotes")[0]["segment"].tolist() == ["9"]


def test_opendocument_repetitions_are_unfolded(imported, tmp_path):
    path = ods(
        tmp_path / "my.ods",
        Scores=[
            row("system", "segment", "rater", cell(None, table__number_columns_repeated=2), "score", "lp"),
            row("S", 1, "Ann", cell("", table__number_columns_repeated=2), 80, "en-de"),
            row("T", 1, "Ann", None, None, 70, "en-de", again=3),
            row(cell(None, table__number_columns_repeated=16_384)),
        ],
    )
    ratings, _, report = imported(path)
    assert ratings[["system", "score"]].values.tolist() == [["S", 80], ["T", 70]]
    assert report.reasons == {"repeats the judgement of another line": 2}
    assert [one["line"] for one in report.first] == [4, 5]


def test_opendocument_percentages_errors_and_formulas_are_no_scores(imported, tmp_path):
    error = (
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>'
        "#DIV/0!</text:p></table:table-cell>"
    )
    blank = '<table:table-cell table:formula="of:=A1"/>'
    path = ods(
        tmp_path / "my.ods",
        Scores=[
            row(*HEAD),
            row("S", 1, "Ann", 80, "en-de"),
            row("S", 2, "Ann", "85%", "en-de"),
            row("S", 3, "Ann", error, "en-de"),
            row("S", 4, "Ann", blank, "en-de"),
        ],
    )
    ratings, _, report = imported(path)
    assert ratings["score"].tolist() == [80]
    assert [(one["value"], one["line"]) for one in report.first] == [
        ('"85%"', 3),
        ('"#DIV/0!"', 4),
        ('"=(not computed)"', 5),
    ]


def test_opendocument_merged_cells_are_filled_down(imported, tmp_path):
    merged = cell("S", table__number_rows_spanned=2, table__number_columns_spanned=1)
    path = ods(
        tmp_path / "my.ods",
        Scores=[
            row(*HEAD),
            row(merged, 1, "Ann", 80, "en-de"),
            row("<table:covered-table-cell/>", 2, "Ann", 70, "en-de"),
        ],
    )
    assert imported(path)[0]["system"].tolist() == ["S", "S"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(*HEAD), row(cell("x", table__number_columns_repeated=16_000))], "cells in up to 16,000 columns"),
        ([row(*HEAD), row(*["x"] * 1000, again=1_000_000)], "cells in up to 1,000,001 rows and 1,000 columns"),
        ([row(*HEAD), *[row("x", again=1_048_576)] * 2], "cells in up to 1,048,577 rows"),
        ([row(*HEAD), row(cell("x", table__number_columns_repeated="9" * 30))], "is no number of times"),
        ([row(*HEAD), row(cell("x", table__number_columns_repeated="-1"))], "is no number of times"),
        ([row(*HEAD), row("y" * 1000, again=700_000)], "Remove what is not the table"),
    ],
)
def test_opendocument_bombs_are_refused_before_they_are_unfolded(imported, tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        imported(ods(tmp_path / "my.ods", Scores=rows))


def test_opendocument_with_definitions_a_password_or_damage_is_refused(imported, tmp_path):
    laughs = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    with pytest.raises(DataError, match="XML with definitions of its own"):
        imported(ods(tmp_path / "my.ods", doctype=laughs, Scores=[row(*HEAD), row("S", 1, "&b;", 80, "en-de")]))
    with pytest.raises(DataError, match=r"has a password\. Save it without one"):
        imported(ods(tmp_path / "my.ods", manifest="<manifest:encryption-data/>", Scores=[row(*HEAD)]))
    with pytest.raises(DataError, match="is no sound workbook"):
        imported(ods(tmp_path / "my.ods", Scores=[row(*HEAD), "<table:table-row>"]))


# Old binary workbooks


def record(kind, body=b""):
    return struct.pack("<HH", kind, len(body)) + body


def label(at, column, text):
    flag, letters = (0, text.encode("latin-1")) if text.isascii() else (1, text.encode("utf-16-le"))
    return record(0x0204, struct.pack("<HHHHB", at, column, 0, len(text), flag) + letters)


def number(at, column, value, style=0):
    return record(0x0203, struct.pack("<HHHd", at, column, style, value))


def of_row(at, cells):
    """Write the cells of a row; a pair is a number and its style."""
    found = b""
    for column, value in enumerate(cells):
        if isinstance(value, bytes):
            found += value
        elif isinstance(value, tuple):
            found += number(at, column, *value)
        elif value is not None:
            found += label(at, column, value) if isinstance(value, str) else number(at, column, value)
    return found


BOF = {kind: record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0)) for kind in (0x0005, 0x0010)}
END = record(0x000A)
#: Styles 0 to 2: General, 0 %, and a percentage of one's own making.
LOOKS = record(0x041E, struct.pack("<HHB", 170, 6, 0) + b"0.000%"[:6]) + b"".join(
    record(0x00E0, struct.pack("<HH", 0, code) + bytes(16)) for code in (0, 9, 170)
)


def old_book(extra=b"", **tables):
    """Write a workbook's stream: its sheets, each a list of rows. A title that begins with Hidden is hidden."""
    bodies = {
        title: BOF[0x0010] + b"".join(of_row(at, cells) for at, cells in enumerate(rows)) + END
        for title, rows in tables.items()
    }

    def start(places):
        named = b"".join(
            record(0x0085, struct.pack("<IBBBB", place, title.startswith("Hidden"), 0, len(title), 0) + title.encode())
            for place, title in zip(places, tables)
        )
        return BOF[0x0005] + extra + LOOKS + named + END

    size, places = len(start([0] * len(tables))), []
    for body in bodies.values():
        places.append(size)
        size += len(body)
    return start(places) + b"".join(bodies.values())


def compound(stream, name="Workbook"):
    """Put a stream into a compound file, in sectors of 512 bytes; short ones go where short streams go."""
    short = len(stream) < 4096
    entries = [
        ("Root Entry", 5, 2 if short else 0xFFFFFFFE, (len(stream) + 63) // 64 * 64 if short else 0),
        (name, 2, 0 if short else 2, len(stream)),
    ]
    data_sectors = (len(stream) + 511) // 512
    chain = [*range(3, 2 + data_sectors), 0xFFFFFFFE]
    minis = (len(stream) + 63) // 64
    small = [*range(1, minis), 0xFFFFFFFE] if short else []
    small_at = 2 + data_sectors if short else 0xFFFFFFFE
    tables = 1
    while (2 + data_sectors + short + tables - 1) > 128 * tables:
        tables += 1
    extra = list(range(2 + data_sectors + short, 2 + data_sectors + short + tables - 1))
    table = [0xFFFFFFFD, 0xFFFFFFFE, *chain, *([0xFFFFFFFE] * short), *([0xFFFFFFFD] * len(extra))]
    table += [0xFFFFFFFF] * (128 * tables - len(table))
    heads = [0, *extra] + [0xFFFFFFFF] * (109 - tables)
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(16)
        + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
        + struct.pack("<IIIIIIIII", 0, tables, 1, 0, 4096, small_at, int(short), 0xFFFFFFFE, 0)
        + struct.pack("<109I", *heads)
    )
    directory = b""
    for place, (title, kind, first, size) in enumerate(entries):
        letters = title.encode("utf-16-le") + b"\0\0"
        links = (0xFFFFFFFF, 0xFFFFFFFF, 1 if place == 0 else 0xFFFFFFFF)
        directory += (
            letters.ljust(64, b"\0")
            + struct.pack("<HBBIII", len(letters), kind, 1, *links)
            + bytes(36)
            + struct.pack("<IQ", first, size)
        )
    packed = struct.pack(f"<{128 * tables}I", *table)
    small_table = struct.pack(f"<{len(small)}I", *small).ljust(512, b"\xff") if short else b""
    return (
        header
        + packed[:512]
        + directory.ljust(512, b"\0")
        + stream.ljust(512 * data_sectors, b"\0")
        + small_table
        + packed[512:]
    )


def rows_of(count):
    return [HEAD, *(["S", n, "Jürgen Ω", n % 101, "en-de"] for n in range(count))]


@pytest.mark.parametrize("count", [3, 200, 5_000])
def test_an_old_workbook_is_read_whatever_its_size(imported, count):
    ratings, *_ = imported(compound(old_book(Scores=rows_of(count))), "my.xls")
    assert ratings["score"].tolist() == [n % 101 for n in range(count)]
    assert set(ratings["annotator"]) == {"Jürgen Ω"}


def test_percentages_and_errors_of_an_old_workbook_are_no_scores(imported):
    error = record(0x0205, struct.pack("<HHHBB", 4, 3, 0, 7, 1))
    rows = [
        HEAD,
        ["S", 1, "Ann", 80, "en-de"],
        ["S", 2, "Ann", (0.85, 1), "en-de"],
        ["S", 3, "Ann", (0.5, 2), "en-de"],
        ["S", 4, "Ann", error, "en-de"],
        ["S", 5, "Ann", (0.25, 0), "en-de"],
    ]
    ratings, _, report = imported(compound(old_book(Scores=rows)), "my.xls")
    assert ratings["score"].tolist() == [80, 0.25]
    assert [(one["value"], one["line"]) for one in report.first] == [('"85%"', 3), ('"50%"', 4), ('"#DIV/0!"', 5)]


def test_packed_numbers_of_an_old_workbook_are_told_percentages_too(imported):
    def small(value):
        return (int(value * 100) << 2) | 3  # a whole number, divided by 100

    many = record(0x00BD, struct.pack("<HHHIHIH", 2, 3, 1, small(0.85), 0, small(7), 4))
    one = record(0x027E, struct.pack("<HHHI", 3, 3, 1, small(0.5)))
    rows = [
        [*HEAD[:4], "doc", "lp"],
        ["S", 1, "Ann", 80, "7", "en-de"],
        ["S", 2, "Ann", many, None, "en-de"],
        ["S", 3, "Ann", one, "7", "en-de"],
    ]
    ratings, _, report = imported(compound(old_book(Scores=rows)), "my.xls")
    assert ratings["score"].tolist() == [80]
    assert [one["value"] for one in report.first] == ['"85%"', '"50%"']


def test_old_workbooks_have_sheets_too(imported):
    tables = {
        "en-de": [row[:-1] for row in rows_of(2)],
        "en-cs": [row[:-1] for row in rows_of(3)],
        "Guide": [["Read this."], ["Then judge."]],
        "Hidden": rows_of(9),
    }
    ratings, _, report = imported(compound(old_book(**tables)), "my.xls")
    assert ratings["tgt_lang"].tolist() == ["deu"] * 2 + ["ces"] * 3
    assert any("hidden sheets were not read: Hidden" in note for note in report.notes)
    with pytest.raises(DataError, match=r"no sheet 'x'; it has en-de, en-cs, Guide, Hidden"):
        imported(compound(old_book(**tables)), "my.xls", sheet="x")


def test_old_workbooks_that_span_too_much_or_hide_are_refused(imported, monkeypatch):
    wide = old_book(Scores=[HEAD, [number(65_535, 255, 1)]], More=[HEAD, [number(65_535, 255, 1)]])
    with pytest.raises(DataError, match=r"sheets that span 33,554,432 cells"):
        imported(compound(wide), "my.xls")
    with pytest.raises(DataError, match=r"has a password\. Save it without one"):
        imported(compound(old_book(extra=record(0x002F, bytes(54)), Scores=rows_of(1))), "my.xls")
    with pytest.raises(DataError, match=r"has a password\. Save it without one"):
        imported(compound(bytes(5000), "EncryptedPackage"), "my.xlsx")
    with pytest.raises(DataError, match="is an old office document, no workbook"):
        imported(compound(bytes(5000), "WordDocument"), "my.xls")
    monkeypatch.setattr(xls, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match=r"larger than 0 MiB"):
        imported(compound(old_book(Scores=rows_of(100))), "my.xls")


def test_what_an_old_workbook_only_claims_to_hold_is_refused_before_room_is_made(imported):
    """calamine makes room for it at once, and ends the whole program where there is none."""
    claim = record(0x0200, struct.pack("<IIHHH", 0, 0xFFFFFFF0, 0, 256, 0))
    with pytest.raises(DataError, match=r"sheets that span 1,099,511,623,680 cells"):
        imported(compound(old_book(Scores=[[claim], *rows_of(3)])), "my.xls")
    texts = record(0x00FC, struct.pack("<II", 1, 0x7FFFFFFF))
    with pytest.raises(DataError, match="more texts than the file can hold"):
        imported(compound(old_book(extra=texts, Scores=rows_of(3))), "my.xls")


def test_a_damaged_old_workbook_is_refused_in_a_sentence(imported):
    content = compound(old_book(Scores=rows_of(300)))
    for cut in (8, 100, 511, 512, 600, 1024, 1500, 2048, len(content) // 2):
        with pytest.raises(DataError, match=r"my\.xls "):
            imported(content[:cut], "my.xls")
    circle = bytearray(content)
    circle[512 + 4 * 3 : 512 + 4 * 4] = struct.pack("<I", 2)  # a sector that leads back
    with pytest.raises(DataError, match="in a circle"):
        imported(bytes(circle), "my.xls")


def test_a_binary_workbook_of_xml_days_is_refused(imported, tmp_path):
    with zipfile.ZipFile(tmp_path / "my.xlsb", "w") as out:
        out.writestr("xl/workbook.bin", b"x")
    with pytest.raises(DataError, match=r"\.xlsb\): save it as \.xlsx"):
        imported(tmp_path / "my.xlsb")
