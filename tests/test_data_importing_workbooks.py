"""Workbooks of all kinds: XLSX with several sheets, OpenDocument and old binary ones, what spreadsheets do to numbers.

The .ods and .xls files are written byte by byte from the formats' descriptions; no spreadsheet program made them.
"""

import datetime
import re
import struct
import zlib

import pytest

from evalkit import DataError
from tests.workbooks import HEAD, book, cell, compound, number, ods, old_book, parts_of, record, row, saved, zipped


@pytest.fixture
def imported(imported):
    """Name what is written as workbooks are named."""
    return lambda content, name="scores.xlsx", **options: imported(content, name, **options)


def scored(*scores, system="A", pair="en-de"):
    return [HEAD, *([system, n, "Ann", score, pair] for n, score in enumerate(scores))]


# Several sheets


def test_sheets_of_one_kind_are_one_campaign_and_others_are_told(imported):
    workbook = book(Guide=[["Read this first."], ["Then judge."]], May=scored(80, 70), June=scored(60, 150, system="B"))
    ratings, _, report = imported(workbook)
    assert ratings[["system", "score"]].values.tolist() == [["A", 80], ["A", 70], ["B", 60]]
    assert any("May, June" in note and "--sheet" in note for note in report.notes)
    assert any("Guide" in note for note in report.notes)
    assert [(entry["file"], entry["line"]) for entry in report.first] == [("scores.xlsx, June", 3)]
    assert [entry["name"] for entry in report.files] == ["scores.xlsx"]
    assert imported(workbook, sheet="June")[0]["system"].tolist() == ["B"]
    with pytest.raises(DataError, match=r"no sheet 'July'; it has Guide, May, June"):
        imported(workbook, sheet="July")


def test_the_same_judgement_on_two_sheets_counts_once(imported):
    ratings, _, report = imported(book(Draft=scored(80), Final=scored(75)))
    assert (ratings["score"].tolist(), report.rows_rejected) == ([80], 1)
    assert "'scores.xlsx, Draft'" in report.first[0]["reason"]


def test_sheets_of_different_kinds_are_not_mixed(imported):
    mqm = [["system", "seg_id", "rater", "category", "severity", "lp"], ["A", 1, "Ann", "Other", "Major", "en-de"]]
    with pytest.raises(DataError, match=r"Scores \(csv\), Errors \(mqm\).*--sheet"):
        imported(book(Scores=scored(80), Errors=mqm))


TITLES = {"en-de en-cs": "eng-deu eng-ces", "German Hindi": "und-deu und-hin", "x y": "und-und und-und"}


@pytest.mark.parametrize("titles", TITLES)
def test_titles_of_sheets_state_languages(titles, imported):
    rows = {title: [cells[:-1] for cells in scored(80, system=title)] for title in titles.split()}
    ratings, *_ = imported(book(**rows))
    assert (ratings["src_lang"] + "-" + ratings["tgt_lang"]).tolist() == TITLES[titles].split()


# Deliveries


def delivery(*rows, head="No.;Engine;Source text;Translation;Linguist;Score (1-5);Comment"):
    """Make a workbook as a language service provider sends it: a title above, a second sheet with notes."""
    title = [["Evaluation, delivery of May"], []]
    workbook = book(Scores=[*title, head.split(";"), *rows], Notes=[["Notes"], ["The linguists were briefed."]])
    workbook["Scores"].merge_cells("A1:G1")
    return workbook


JUDGED = [
    *([1, "A", "one", "eins", "Ann", 4, ""], [2, "B", "one", "ein", "Ann", "3,5", "?"], [], [None] * 7),
    *([3, "A", "two", "zwei", "Ann", 4.5, ""], [4, "B", "two", "beide", "Ann", "5", ""]),
    [5, "A", "one", "eins", "Zoe Doe", 6, "seen by Zoe Doe"],
]


def test_a_delivery_is_read_without_being_told_anything(imported, tmp_path):
    ratings, _, report = imported(delivery(*JUDGED))
    assert (report.format, report.scale) == ("xsts", [1, 5])
    assert ratings["score"].tolist() == [4, 3.5, 4.5, 5]
    assert ratings["segment"].factorize()[0].tolist() == [0, 0, 1, 1]
    assert [(entry["line"], entry["value"]) for entry in report.first] == [(10, '"6"')]
    assert report.unused == ["No.", "Comment"]
    imported(delivery(*JUDGED), keep_names=False)
    assert not any(re.search(rb"Zoe|Doe|Ann\b", path.read_bytes()) for path in tmp_path.glob("c.*[jv]*"))


def test_headings_in_two_rows_are_joined(imported):
    rows = [
        [None, None, None, "Linguist 1", "Linguist 2", "Linguist 3"],
        *([1, "one", "A", 4, 5, "4,5"], [1, "one", "B", 3, None, 2], [2, "two", "A", 3, 3, 3]),
    ]
    ratings, _, report = imported(delivery(*rows, head="Segment ID;Source text;System;Score (1-5)"))
    found = ratings.groupby("annotator")["score"].apply(list).to_dict()
    assert found == {"Linguist 1": [4, 3, 3], "Linguist 2": [5, 3], "Linguist 3": [4.5, 2, 3]}
    assert (report.format, report.blank_cells, report.rows_rejected) == ("xsts", 1, 0)


WIDE = "Segment ID,Source,Target,Evaluator 1,Evaluator 2,Score rater Eve,Comment\n"


def test_a_column_per_evaluator(imported, tmp_path):
    text = WIDE + "1,a,b,4,5,,x\n2,c,d,3,,2,\n3,e,f,,,,\n4,g,h,6,1,NA,\n5,i,j,2,3,4,\n"
    ratings, _, report = imported(text, "xsts.en-ja.csv")
    found = ratings.groupby("annotator")["score"].apply(list).to_dict()
    assert found == {"Evaluator 1": [4, 3, 2], "Evaluator 2": [5, 1, 3], "Score rater Eve": [2, 4]}
    assert [(entry["line"], entry["column"]) for entry in report.first] == [(4, "score"), (5, "Evaluator 1")]
    assert (report.format, report.blank_cells, report.scale) == ("xsts", 3, [1, 5]), (
        "NA is no judgement, as empty cells"
    )
    hidden, _, _ = imported(re.sub("Evaluator ([12])", r"Rater Anna\1", text), "xsts.en-ja.csv", keep_names=False)
    written = hidden.to_csv() + (tmp_path / "c.rejected.csv").read_text() + (tmp_path / "c.import.json").read_text()
    assert not any(name in written for name in ("Anna", "Eve"))


def test_an_evaluators_column_counts_that_is_empty_on_the_first_rows(imported):
    rows = [f"{n},en-de,text {n},4,5,{'2' * (n >= 60)}" for n in range(70)]
    ratings, _, _ = imported("\n".join(["segment,lp,source,score 1,score 2,score 3", *rows, ""]), "my.csv")
    assert ratings.groupby("annotator").size().to_dict() == {"score 1": 70, "score 2": 70, "score 3": 10}


# What a spreadsheet does to numbers and names


def test_what_a_spreadsheet_does_to_numbers_is_rejected(imported):
    odd = [datetime.datetime(2026, 5, 3), 0.8, "=1+2", "4,5", 45780]
    cells = [*(n % 5 + 1 for n in range(8)), *odd]
    rows = [[n, f"s{n}", f"t{n}", "en-ja", score, 3] for n, score in enumerate(cells)]
    workbook = book(Scores=[["No", "Source", "Target", "Language pair", "Evaluator 1", "Evaluator 2"], *rows])
    workbook.active["E11"].number_format = "0%"
    ratings, _, report = imported(workbook)
    reasons = {entry["line"]: entry["reason"] for entry in report.first}
    words = {10: "date", 11: "percentage", 12: "without a stored value", 14: "spreadsheet"}
    assert {*reasons} == {*words}
    assert all(word in reasons[line] for line, word in words.items())
    assert ratings.query("annotator == 'Evaluator 1'")["score"].tolist() == [*cells[:8], 4.5]


SHEET = "xl/worksheets/sheet1.xml"


def changed(*rows, part=SHEET, workbook=None, **instead):
    """Save a workbook of which a part has something put before a mark: cells, merged, styles or sheets."""
    parts = parts_of(saved(workbook or book(Scores=scored(*rows or range(18)))))
    marks = {"cells": b"</sheetData>", "merged": b"</worksheet>", "styles": b"</cellXfs>", "sheets": b"</sheets>"}
    for name, piece in instead.items():
        assert marks[name] in parts[part]
        parts[part] = parts[part].replace(marks[name], piece + marks[name])
    return zipped(parts)


def test_a_percentage_an_error_and_an_unknown_formula_are_no_empty_cells(imported):
    """calamine reads 85 % as .85, and errors and formulas without a stored value as nothing."""
    workbook = book(Scores=scored(*range(18), 0.85))
    workbook.active["D20"].number_format = "0%"
    odd = [b'<c r="D30" t="e"><v>#DIV/0!</v></c>', b'<c r="D31"><f>1+1</f></c>', b'<c r="D32"><f>1+1</f><v></v></c>']
    texts = '<c r="{}{}" t="inlineStr"><is><t>{}</t></is></c>'
    cells = b""
    for n, piece in enumerate(odd, 30):
        named = "".join(texts.format(column, n, value) for column, value in zip("ABCE", ("A", n, "Ann", "en-de")))
        cells += f'<row r="{n}">{named}'.encode() + piece + b"</row>"
    ratings, _, report = imported(changed(workbook=workbook, cells=cells))
    assert (len(ratings), report.rows_rejected, report.blank_cells) == (18, 4, 0)
    assert [entry["value"] for entry in report.first][:2] == ['"85%"', '"#DIV/0!"']


def test_names_that_a_spreadsheet_may_have_made_dates_of_are_told(imported):
    workbook = book(Scores=[HEAD, ["A", datetime.datetime(2026, 3, 13), "Ann", 4, "en-de"]])
    assert any("segment holds dates, such as 2026-03-13" in note for note in imported(workbook)[2].notes)


def test_merged_cells_name_all_their_rows_but_score_only_one(imported):
    rows = [("A", 1, 80), (None, 2, 70), (None, 3, 60), ("B", 1, 50), ("B", 2, None), (None, 3, 40)]
    workbook = book(Scores=[["Title"], HEAD, *([name, n, "Ann", score, "en-de"] for name, n, score in rows)])
    for cells in ("A1:C1", "A3:A5", "D6:D7"):
        workbook.active.merge_cells(cells)
    ratings, _, report = imported(workbook)
    assert ratings["system"].tolist() == ["A", "A", "A", "B"], "a merged cell goes on to its end, no further"
    assert ratings["score"].tolist() == [80, 70, 60, 50]
    assert [(entry["line"], entry["column"]) for entry in report.first] == [(7, "score"), (8, "system")]
    assert len([note for note in report.notes if "merged" in note or "each of their rows" in note]) == 2


def test_numbers_and_names_of_a_workbook_come_back_exactly(imported):
    scores = [0.3, 1e-7, 100, 33.33333333333334]  # openpyxl writes 16 digits
    ratings, *_ = imported(book(Scores=scored(*scores, system="007")))
    assert ratings["score"].tolist() == scores
    assert (ratings["system"].unique().tolist(), ratings["segment"].tolist()) == (["007"], ["0", "1", "2", "3"])


# OpenDocument


def test_an_opendocument_sheet_is_read(imported):
    comment = (
        '<table:table-cell office:value-type="float" office:value="61.5"><office:annotation><text:p>not this'
        "</text:p></office:annotation><text:p>61,5</text:p></table:table-cell>"
    )
    spaced = (
        '<table:table-cell office:value-type="string"><text:p>A<text:s text:c="2"/>B</text:p><text:p>C</text:p>'
        "</table:table-cell>"
    )
    content = ods(
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
    ratings, _, report = imported(content, "my.ods")
    assert ratings["score"].tolist() == [80, 61.5, 1e-7]
    assert ratings["source"].tolist()[0] == "A  B\nC"
    assert any("HiddenNotes" in note for note in report.notes)
    assert imported(content, "my.ods", sheet="HiddenNotes")[0]["segment"].tolist() == ["9"]


def test_opendocument_repetitions_are_unfolded_and_merged_cells_filled_down(imported):
    two = cell(None, table__number_columns_repeated=2)
    merged = cell("U", table__number_rows_spanned=2, table__number_columns_spanned=1)
    rows = [
        row("system", "segment", "rater", two, "score", "lp"),
        row("S", 1, "Ann", cell("", table__number_columns_repeated=2), 80, "en-de"),
        row("T", 1, "Ann", None, None, 70, "en-de", again=3),
        row(merged, 1, "Ann", two, 60, "en-de"),
        row("<table:covered-table-cell/>", 2, "Ann", two, 50, "en-de"),
        row(cell(None, table__number_columns_repeated=16_384)),
    ]
    ratings, _, report = imported(ods(Scores=rows), "my.ods")
    assert ratings[["system", "score"]].values.tolist() == [["S", 80], ["T", 70], ["U", 60], ["U", 50]]
    assert [entry["line"] for entry in report.first] == [4, 5]


def test_opendocument_percentages_errors_and_formulas_are_no_scores(imported):
    error = (
        '<table:table-cell table:formula="of:=1/0" office:value-type="string" calcext:value-type="error"><text:p>'
        "#DIV/0!</text:p></table:table-cell>"
    )
    cells = [80, "85%", error, '<table:table-cell table:formula="of:=A1"/>']
    rows = [row("S", n, "Ann", one, "en-de") for n, one in enumerate(cells)]
    ratings, _, report = imported(ods(Scores=[row(*HEAD), *rows]), "my.ods")
    assert ratings["score"].tolist() == [80]
    assert [entry["value"] for entry in report.first] == ['"85%"', '"#DIV/0!"', '"=(not computed)"']


# Old binary workbooks


def rows_of(count):
    return [HEAD, *(["S", n, "Jürgen Ω", n % 101, "en-de"] for n in range(count))]


@pytest.mark.parametrize("count", [3, 2_000])
def test_an_old_workbook_is_read_whatever_its_size(imported, count):
    ratings, *_ = imported(compound(old_book(Scores=rows_of(count))), "my.xls")
    assert ratings["score"].tolist() == [n % 101 for n in range(count)]
    assert set(ratings["annotator"]) == {"Jürgen Ω"}


def test_percentages_and_errors_of_an_old_workbook_are_no_scores(imported):
    def packed(value):
        return (int(value * 100) << 2) | 3  # a whole number, divided by 100

    error = record(0x0205, struct.pack("<HHHBB", 4, 3, 0, 7, 1))
    many = record(0x00BD, struct.pack("<HHHIHIH", 6, 3, 1, packed(0.35), 0, packed(7), 4))
    one = record(0x027E, struct.pack("<HHHI", 7, 3, 1, packed(0.45)))
    cells = [80, (0.85, 1), (0.5, 2), error, (0.25, 0), many, one]
    rows = [["S", n, "Ann", score, None if score is many else 7, "en-de"] for n, score in enumerate(cells)]
    ratings, _, report = imported(compound(old_book(Scores=[[*HEAD[:4], "doc", "lp"], *rows])), "my.xls")
    assert ratings["score"].tolist() == [80, 0.25]
    assert [entry["value"] for entry in report.first] == ['"85%"', '"50%"', '"#DIV/0!"', '"35%"', '"45%"']


def test_old_workbooks_have_sheets_too(imported):
    bare = [cells[:-1] for cells in rows_of(2)]
    tables = {"en-de": bare, "en-cs": bare, "Guide": [["Read this."]], "Hidden": rows_of(9)}
    ratings, _, report = imported(compound(old_book(**tables)), "my.xls")
    assert ratings["tgt_lang"].tolist() == ["deu"] * 2 + ["ces"] * 2
    assert any("Hidden" in note for note in report.notes)


# Workbooks made to burst, hang or lie, and damaged ones: each is refused in one sentence

FAR = [HEAD, [number(65_535, 255, 1)]]
OVER = b"<mergeCells>" + b'<mergeCell ref="A2:A1048576"/>' * 1000 + b"</mergeCells>"
BOMBS = {  # what each is, the word that must occur, and its content
    "merged cells over one another.xlsx": ("merged", lambda: changed(merged=OVER)),
    "a cell far away.xlsx": ("", lambda: changed(cells=b'<row r="50"><c r="XFD1048576"><v>1</v></c></row>')),
    "a wide row.xlsx": ("rows", lambda: changed(cells=b"<row>" + b"<c><v>1</v></c>" * 3000 + b"</row>")),
    "one text in all cells.xlsx": ("", lambda: shared(100_000, 20_000)),
    "repeated columns.ods": ("columns", lambda: ods(S=[row(cell("x", table__number_columns_repeated=16_000))])),
    "repeated rows.ods": ("rows", lambda: ods(S=[row(*HEAD), row(*["x"] * 1000, again=1_000_000)])),
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
def test_workbooks_made_to_burst_or_lie_are_refused_in_a_sentence(name, imported):
    word, made = BOMBS[name]
    with pytest.raises(DataError, match=rf"(?s)(?=.*{re.escape(name)}).*{word}") as refused:
        imported(made(), name)
    assert len(str(refused.value).splitlines()) == 1


def test_many_merged_cells_and_blanks_are_no_bombs(imported):
    merged = b'<mergeCells><mergeCell ref="A2:A1048576"/></mergeCells>'
    blanks = b'<row r="60"><c r="A60"><f>1</f>' + b" " * (20 << 20) + b"</c></row>"
    for piece in ({"merged": merged}, {"cells": blanks}):
        assert imported(changed(**piece))[2].rows_kept == 18
