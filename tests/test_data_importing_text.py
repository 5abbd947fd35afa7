"""Text and workbooks as strangers send them: encodings, delimiters, decimals, headings, sheets, JSON in its shapes."""

import csv
import datetime
import io
import os
import re
import shutil
import struct
import sys
import zlib

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import importing
from tests.doors.testsets import write as a_testset
from tests.makers import each
from tests.workbooks import HEAD, book, cell, compound, number, ods, old_book, parts_of, record, row, saved, zipped

HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score"
GOOD = ["eng,deu,A,d,1,Ann,80", "eng,deu,B,d,1,Ann,70", "eng,deu,A,d,1,Bob,60.5", "eng,deu,B,d,1,Bob,0"]


def lines(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


# Encodings

GERMAN = "src_lang;tgt_lang;system;doc;segment;annotator;score\neng;deu;S;d;1;Jürgen Weiß;85,5\n"


@each
def test_encodings_are_told_apart_and_said(encoding, name, imported):
    content = GERMAN.replace("Jürgen Weiß", name).encode(encoding)
    ratings, _, report = imported(content)
    assert ratings[["annotator", "score"]].values.tolist() == [[name, 85.5]]
    if not encoding.startswith("utf"):
        assert any(f"read as {encoding}" in note for note in report.notes)
        assert imported(content, encoding=encoding)[0].equals(ratings)


NAMED = [  # what comes, in which encoding it is said to be, and what is said of that
    *(("a,b\n1,2", name, "no encoding") for name in ("rot13", "base64", "a\0b", "cp0")),
    (b"a,b\n1,2", "utf-16", "is not sound utf-16"),
    (b"a,b\n+2AA-,2\n", "utf-7", "is not sound utf-7"),
    (b"a,\xff\n", "utf-8", "is not sound utf-8"),
]


@pytest.mark.parametrize(("content", "encoding", "word"), NAMED)
def test_text_that_is_not_in_the_encoding_named_is_refused(content, encoding, word, imported):
    with pytest.raises(DataError, match=word):
        imported(content, encoding=encoding)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.sampled_from(".,"))
def test_numbers_come_back_to_the_last_bit(imported, values, mark):
    values = [value for value in values if mark == "." or "e" not in repr(value)] + [0.5]
    rows = [f"eng;deu;A;d;{n};Ann;{repr(value).replace('.', mark)}" for n, value in enumerate(values)]
    told = {"scale": (-1e9, 1e9), "decimal": mark}
    assert imported(lines(*rows, header=HEADER.replace(",", ";")), **told)[0]["score"].tolist() == values


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text('ab"\n ,', min_size=1, max_size=6), min_size=1, max_size=6), st.sampled_from("\t,;"))
def test_what_csv_writes_is_read_back_whatever_cell_goes_on_over_lines(imported, cells, delimiter):
    stream = io.StringIO()
    rows = [["A", cell, n, "Ann", 80] for n, cell in enumerate(cells)]
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([["system", "source", "segment", "annotator", "score"], *rows])
    ratings, _, report = imported(stream.getvalue())
    assert report.rows_rejected == 0
    assert ratings["source"].fillna("").tolist() == [cell.strip() for cell in cells]


@pytest.mark.parametrize("last", ['"no end', 'no" end', '"a" b'])
def test_a_quote_that_is_a_letter_takes_no_other_row_of_tabs_with_it(last, imported):
    rows = [f"A\t{n}\tAnn\t{n}\t{cell}" for n, cell in enumerate([last] * 5 + ['ends here"'])]
    ratings, _, _ = imported(lines(*rows, header="system\tsegment\tannotator\tscore\tsource"), "my.tsv")
    assert ratings["source"].tolist() == [last] * 5 + ['ends here"']


def test_a_blank_line_between_rows_is_no_row(imported):
    ratings, _, report = imported(lines(GOOD[0], "", *GOOD[1:]))
    assert (len(ratings), report.rows_read, report.rows_rejected) == (4, 4, 0)


# What is refused

REFUSED = [  # what comes, as bytes or text, and a word of what is said
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "workbook"),
    (b"\x1f\x8b\x08", "compressed"),
    (b"", "empty"),
    (b"\n\n", "no rows"),
    (b"a\0b\0\0\0,", "zero bytes"),
    (b"[" * 100_000 + b"]" * 100_000, r"my\.json"),
]


@pytest.mark.parametrize(("content", "word"), REFUSED, ids=lambda text: str(text)[:12])
def test_what_is_no_table_is_refused(content, word, imported):
    with pytest.raises(DataError, match=word):
        imported(content, "my.json" if "json" in word else "my.csv")


# Names that look alike

ALIKE = ["Café A", "Cafe\u0301 A", "\ufeffCafé A", "Caf\u00ade\u0301\u200b A\u2060", "Café\u00a0A", "Café\u202fA\ufe0f"]


@pytest.mark.parametrize("ours", ["system", "annotator", "doc", "segment", "tgt_lang", "item_type"])
def test_names_that_look_alike_are_one_and_that_is_told(ours, imported, tmp_path):
    """A byte-order mark inside the file, a soft hyphen or another form of é split one system in two."""
    usual = {"tgt_lang": "deu", "item_type": "degraded"}.get(ours, "Café A")
    forms = [usual, *(f"{usual[:2]}{mark}{usual[2:]}" for mark in "\u200b\u00ad\ufeff\u2060\u061c")]
    forms += ALIKE[1:] if usual == "Café A" else []
    plain = {"src_lang": "eng", "tgt_lang": "deu", "system": "S", "doc": "d", "annotator": "Ann", "item_type": "system"}
    frame = pd.DataFrame(
        [plain | {"segment": str(n * (ours != "segment")), "score": 10 + n} for n in range(len(forms))]
    )
    frame = frame.assign(started=range(len(forms)), **{ours: forms})
    text = frame.to_csv(index=False)
    ratings, _, report = imported(text)
    assert (ratings[ours].unique().tolist(), report.rows_kept) == ([usual], len(forms))
    [note] = [note for note in ratings.attrs["notes"] if "look alike" in note]
    assert f"in {len(forms) - 1} cells of {ours}" in note
    _, _, hidden = imported(text, keep_names=False)
    assert hidden.annotators == 1
    assert "Caf" not in (tmp_path / "c.import.json").read_text(encoding="utf-8") or ours != "annotator"


# Files that were cut off

CUT = "system,segment,annotator,lp,score\nA,1,Ann,en-de,70\nB,1,Ann,en-de,85\nA,2,Ann,en-de,8"


@pytest.mark.parametrize(
    ("encoding", "end"),
    [*(("utf-8", end) for end in ("", "5", "5\n", "5\r", "\n\n", "5\n  ")), ("utf-16", "5"), ("utf-16", "5\n")],
)
def test_a_text_that_does_not_end_in_a_line_break_may_be_cut_off(encoding, end, imported):
    """85 read as 8 was taken as whole."""
    content = CUT.replace("\n", "\r") + end if end == "5\r" else CUT + end
    ratings, _, _ = imported(content.encode(encoding))
    warned = [note for note in ratings.attrs["notes"] if "does not end in a line break" in note]
    assert len(warned) == (end in ("", "5"))
    assert all("line 4" in note for note in warned)


# Names of files


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="does not apply: names of files are always text there")
def test_a_file_whose_name_is_no_text_is_refused(tmp_path):
    """As archives from elsewhere bring them; a traceback or, in a folder, left out without a word."""
    top = a_testset(tmp_path / "wmt24")
    name = os.fsdecode(b"gr\xf6\xdfe")
    lost = [top / f"human-scores/en-cs.{name}.seg.score", top / f"system-outputs/en-cs/{name}.txt"]
    for path in lost:
        shutil.copy(next((top / "system-outputs/en-cs").iterdir()), path)
    with pytest.raises(DataError, match=r"gr\udcf6\udcdfe\S* is no text in UTF-8"):
        importing.import_campaign(lost[:1], top / "c.parquet")
    with pytest.raises(DataError, match=r"gr\udcf6\udcdfe\S* is no text in UTF-8"):
        data.open_testset(top)


# Workbooks of all kinds: XLSX with several sheets, OpenDocument and old binary ones, what spreadsheets do to numbers.


@pytest.fixture
def imported_book(imported):
    """Name what is written as workbooks are named."""
    return lambda content, name="scores.xlsx", **options: imported(content, name, **options)


def scored(*scores, system="A", pair="en-de"):
    return [HEAD, *([system, n, "Ann", score, pair] for n, score in enumerate(scores))]


def test_an_evaluators_column_counts_that_is_empty_on_the_first_rows(imported_book):
    rows = [f"{n},en-de,text {n},4,5,{'2' * (n >= 60)}" for n in range(70)]
    ratings, _, _ = imported_book("\n".join(["segment,lp,source,score 1,score 2,score 3", *rows, ""]), "my.csv")
    assert ratings.groupby("annotator").size().to_dict() == {"score 1": 70, "score 2": 70, "score 3": 10}


# What a spreadsheet does to numbers and names


def test_what_a_spreadsheet_does_to_numbers_is_rejected(imported_book):
    odd = [datetime.datetime(2026, 5, 3), 0.8, "4,5", 45780, "#DIV/0!"]  # calamine reads 80 % as .8, errors as nothing
    cells = [*(n % 5 + 1 for n in range(8)), *odd]
    rows = [[n, f"s{n}", f"t{n}", "en-ja", score, 3] for n, score in enumerate(cells)]
    workbook = book(Scores=[["No", "Source", "Target", "Language pair", "Evaluator 1", "Evaluator 2"], *rows])
    workbook.active["E11"].number_format = "0%"
    ratings, _, report = imported_book(workbook)
    reasons = {entry["line"]: entry["reason"] for entry in report.first}
    words = {10: "date", 11: "percentage", 13: "outside", 14: "formula"}
    assert {*reasons} == {*words}
    assert all(word in reasons[line] for line, word in words.items())
    assert ratings.query("annotator == 'Evaluator 1'")["score"].tolist() == [*cells[:8], 4.5]


SHEET = "xl/worksheets/sheet1.xml"


def changed(cells=b"", merged=b""):
    """Save a workbook of eighteen scores with further XML of rows, and of merged cells."""
    parts = parts_of(saved(book(Scores=scored(*range(18)))))
    for piece, end in ((cells, b"</sheetData>"), (merged, b"</worksheet>")):
        assert end in parts[SHEET]
        parts[SHEET] = parts[SHEET].replace(end, piece + end)
    return zipped(parts)


def test_a_formula_whose_value_is_an_empty_text_is_an_empty_cell(imported_book):
    empty = b'<row r="30"><c r="D30" t="str"><f>IF(1,"","")</f><v></v></c></row>'
    assert imported_book(changed(cells=empty))[2].rows_kept == 18


def test_merged_cells_name_all_their_rows_but_score_only_one(imported_book):
    rows = [("A", 1, 80), (None, 2, 70), (None, 3, 60), ("B", 1, 50), ("B", 2, None), (None, 3, 40)]
    workbook = book(Scores=[["Title"], HEAD, *([name, n, "Ann", score, "en-de"] for name, n, score in rows)])
    for cells in ("A1:C1", "A3:A5", "D6:D7"):
        workbook.active.merge_cells(cells)
    ratings, _, report = imported_book(workbook)
    assert ratings["system"].tolist() == ["A", "A", "A", "B"], "a merged cell goes on to its end, no further"
    assert ratings["score"].tolist() == [80, 70, 60, 50]
    assert [(entry["line"], entry["column"]) for entry in report.first] == [(7, "score"), (8, "system")]
    assert len([note for note in report.notes if "merged" in note or "each of their rows" in note]) == 2


# OpenDocument


COMMENT = (
    '<table:table-cell office:value-type="float" office:value="61.5"><office:annotation><text:p>not this</text:p>'
    "</office:annotation><text:p>61,5</text:p></table:table-cell>"
)
SPACED = (
    '<table:table-cell office:value-type="string"><text:p>A<text:s text:c="2"/>B</text:p><text:p>C</text:p>'
    "</table:table-cell>"
)
ERROR = (
    '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>#DIV/0!'
    "</text:p></table:table-cell>"
)


def test_an_opendocument_sheet_is_read_with_its_repetitions(imported_book):
    two = cell(None, table__number_columns_repeated=2)
    scores = [
        row("system", "segment", "rater", two, "score", "lp", "source"),
        row("S", 1, "Ann", cell("", table__number_columns_repeated=2), 80, "en-de", SPACED),
        row(None, None),
        row("S", 2, "Ann", None, None, COMMENT, "en-de", "x"),
        row("S", 3, "Ann", None, None, 1e-7, "en-de", "x"),
        row("T", 1, "Ann", None, None, 70, "en-de", "x", again=3),
        row("U", 1, "Ann", two, ERROR, "en-de", "x"),
        row(cell(None, table__number_columns_repeated=16_384)),
        row(None, again=1_048_560),
    ]
    content = ods(Scores=scores, HiddenNotes=[row(*HEAD), row("S", 9, "Ann", 1, "en-de")])
    ratings, _, report = imported_book(content, "my.ods")
    assert ratings["score"].tolist() == [80, 61.5, 1e-7, 70]
    assert ratings["source"].tolist()[0] == "A  B\nC"
    told = [(entry["line"], entry["value"]) for entry in report.first]
    assert sorted(told) == [(7, '"70"'), (8, '"70"'), (9, '"#DIV/0!"')], "repeated judgements, and no score"
    assert any("HiddenNotes" in note for note in report.notes)
    assert imported_book(content, "my.ods", sheet="HiddenNotes")[0]["segment"].tolist() == ["9"]


# Old binary workbooks


def rows_of(count):
    return [HEAD, *(["S", n, "Jürgen Ω", n % 101, "en-de"] for n in range(count))]


@pytest.mark.parametrize("count", [3, 2_000])
def test_an_old_workbook_is_read_whatever_its_size(imported_book, count):
    ratings, *_ = imported_book(compound(old_book(Scores=rows_of(count))), "my.xls")
    assert ratings["score"].tolist() == [n % 101 for n in range(count)]
    assert set(ratings["annotator"]) == {"Jürgen Ω"}


def test_percentages_and_errors_of_an_old_workbook_are_no_scores(imported_book):
    def packed(value):
        return (int(value * 100) << 2) | 3  # a whole number, divided by 100

    error = record(0x0205, struct.pack("<HHHBB", 4, 3, 0, 7, 1))
    many = record(0x00BD, struct.pack("<HHHIHIH", 6, 3, 1, packed(0.35), 0, packed(7), 4))
    one = record(0x027E, struct.pack("<HHHI", 7, 3, 1, packed(0.45)))
    cells = [80, (0.85, 1), (0.5, 2), error, (0.25, 0), many, one]
    rows = [["S", n, "Ann", score, None if score is many else 7, "en-de"] for n, score in enumerate(cells)]
    ratings, _, report = imported_book(compound(old_book(Scores=[[*HEAD[:4], "doc", "lp"], *rows])), "my.xls")
    assert ratings["score"].tolist() == [80, 0.25]
    assert [entry["value"] for entry in report.first] == ['"85%"', '"50%"', '"#DIV/0!"', '"35%"', '"45%"']


def test_old_workbooks_have_sheets_too(imported_book):
    bare = [cells[:-1] for cells in rows_of(2)]
    tables = {"en-de": bare, "en-cs": bare, "Guide": [["Read this."]], "Hidden": rows_of(9)}
    ratings, _, report = imported_book(compound(old_book(**tables)), "my.xls")
    assert ratings["tgt_lang"].tolist() == ["deu"] * 2 + ["ces"] * 2
    assert any("Hidden" in note for note in report.notes)


# Workbooks made to burst, hang or lie, and damaged ones: each is refused in one sentence

BARE = b'<row r="30"><c r="D30"><f>1+1</f>%b</c></row>'
ONE = row("S", 1, "Ann", 80, "en-de")
FAR = [HEAD, [number(65_535, 255, 1)]]
OVER = b"<mergeCells>" + b'<mergeCell ref="A2:A1048576"/>' * 1000 + b"</mergeCells>"
BOMBS = {  # what each is, the word that must occur, and its content
    "merged cells over one another.xlsx": ("merged", lambda: changed(merged=OVER)),
    "a cell far away.xlsx": ("", lambda: changed(cells=b'<row r="50"><c r="XFD1048576"><v>1</v></c></row>')),
    "a wide row.xlsx": ("rows", lambda: changed(cells=b"<row>" + b"<c><v>1</v></c>" * 3000 + b"</row>")),
    "one text in all cells.xlsx": ("", lambda: shared(100_000, 20_000)),
    "repeated columns.ods": ("columns", lambda: ods(S=[row(cell("x", table__number_columns_repeated=16_000))])),
    "repeated rows.ods": ("rows", lambda: ods(S=[row(*HEAD), row(*["x"] * 1000, again=1_000_000)])),
    "a formula.xlsx": ("without a stored value", lambda: changed(cells=BARE % b"")),
    "a formula without a number.xlsx": ("without a stored value", lambda: changed(cells=BARE % b"<v></v>")),
    "a percentage.ods": ("percentages", lambda: ods(S=[row(*HEAD), ONE, row("S", 2, "Ann", "85%", "en-de")])),
    "merged cells.ods": ("merged", lambda: ods(S=[row(*HEAD), ONE, row(cell("S", table__number_rows_spanned=2))])),
    "a password.ods": ("password", lambda: ods(manifest="<manifest:encryption-data/>", S=[row(*HEAD)])),
    "an open row.ods": ("no sound", lambda: ods(S=[row(*HEAD), "<table:table-row>"])),
    "cells far away.xls": ("", lambda: compound(old_book(Scores=FAR, More=FAR))),
    "one wide row.xls": ("no sound", lambda: compound(old_book(Scores=[*rows_of(3), [1.0] * 257]))),
    "a password.xls": ("password", lambda: compound(old_book(extra=record(0x002F, bytes(54)), Scores=rows_of(1)))),
    "a secret.xlsx": ("password", lambda: compound(bytes(5000), "EncryptedPackage")),
    "a table.xlsx": ("not a workbook", lambda: zipped({"a.csv": "x"})),
    "cut after a row.xlsx": ("no sound", lambda: lying(True)),
    "cut within a row.xlsx": ("no sound", lambda: lying(False)),
    "two of one name.xlsx": ("name", lambda: zipped(parts_of(changed()) | {SHEET.upper(): b"<x/>"})),
}


def lying(cut):
    """Make a workbook whose list of parts says that its sheet ends early, checksum included."""
    content = changed()
    sheet = parts_of(content)[SHEET]
    end = sheet.index(b"</row>", 700) + 6 if cut else 99
    entry = content.rfind(SHEET.encode()) - 46  # of the sheet, in the list at the archive's end
    lie = bytearray(content)
    lie[entry + 16 : entry + 20] = zlib.crc32(sheet[:end]).to_bytes(4, "little")
    lie[entry + 24 : entry + 28] = end.to_bytes(4, "little")
    return bytes(lie)


def shared(length, cells):
    """Make a workbook whose cells all show one long text that is stored once."""
    parts = parts_of(changed(cells=b'<row><c t="s"><v>0</v></c></row>' * cells))
    return zipped(parts | {"xl/sharedStrings.xml": b"<sst><si><t>" + b"x" * length + b"</t></si></sst>"})


#: Those that take seconds are tried at night, the others before each change.
LONG = ("repeated rows.ods", "one text in all cells.xlsx")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.nightly) if name in LONG else name for name in BOMBS]
)
def test_workbooks_made_to_burst_or_lie_are_refused_in_a_sentence(name, imported_book):
    word, made = BOMBS[name]
    with pytest.raises(DataError, match=rf"(?s)(?=.*{re.escape(name)}).*{word}") as refused:
        imported_book(made(), name)
    assert len(str(refused.value).splitlines()) == 1


def test_many_merged_cells_and_blanks_are_no_bombs(imported_book):
    merged = b'<mergeCells><mergeCell ref="A2:A1048576"/></mergeCells>'
    blanks = b'<row r="60"><c r="A60"><f>1</f><v>1</v>' + b" " * (20 << 20) + b"</c></row>"
    for piece in ({"merged": merged}, {"cells": blanks}):
        assert imported_book(changed(**piece))[2].rows_kept == 18
