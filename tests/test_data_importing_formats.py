"""Importing each format on small examples: layouts, spans, sheets, and what a spreadsheet does to numbers."""

import csv
import datetime
import json
import zipfile

import openpyxl
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.appraise import documents
from evalkit.human import mqm

pytestmark = pytest.mark.usefixtures("own_salt")


@pytest.fixture
def imported(tmp_path, own_salt):
    """Import a text or a workbook under the names of its people; return ratings, spans, report and rejected rows."""

    def run(content, *, name="my.csv", **told):
        path = tmp_path / name
        if isinstance(content, openpyxl.Workbook):
            content.save(path)
        elif content is not None:
            path.write_text(content, encoding="utf-8")
        told = {"keep_names": True} | told
        report, _ = importing.import_campaign([path], tmp_path / "c.parquet", **({"allow_rejected": True} | told))
        assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
        rejected = tmp_path / "c.rejected.csv"
        rows = list(csv.DictReader(rejected.open(encoding="utf-8-sig"))) if rejected.exists() else []
        return *data.open_campaign(tmp_path / "c.parquet"), report, rows

    return run


APPRAISE = {
    9: "deu01,SysA,{segment},{kind},eng,deu,{score},{start},{end}",
    11: "deu01,SysA,{segment},{kind},eng,deu,{score},doc#1-2,False,{start},{end}",
    12: "deu01,SysA,{segment},{kind},eng,deu,{score},doc,False,"
    '"[{{""start_i"":3,""end_i"":5,""severity"":""major""}}]",{start},{end}',
}


def appraise(width, *rows):
    return "".join(
        APPRAISE[width].format(segment=segment, kind=kind, score=score, start=f"{place}.5", end=f"{place + 1}.25")
        + "\n"
        for place, (segment, kind, score) in enumerate(rows)
    )


@pytest.mark.parametrize("width", [9, 11, 12])
def test_layouts_of_appraise_are_told_by_their_rows(width, imported):
    ratings, spans, report, _ = imported(appraise(width, (1, "TGT", 80), (2, "TGT", 0), (3, "BAD", 7)))
    assert report.format == ("esa" if width == 12 else "appraise")
    assert ratings["score"].tolist() == [80, 0, 7]
    assert ratings["item_type"].tolist()[-1] == "degraded"
    assert ratings["hit"].tolist() == ["deu01"] * 3
    assert ratings["started"].tolist() == [0.5, 1.5, 2.5]
    if width == 12:
        assert spans[["start", "end", "severity"]].values.tolist() == [[3, 6, "major"]] * 3


def test_headings_of_appraise_may_stand_above_and_be_mapped(imported):
    head = "login,system,itemID,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    text = head + appraise(11, (1, "TGT", 80), (1, "TGT", 85))
    with pytest.raises(DataError, match="username"):
        imported(text, format="appraise")
    ratings, *_ = imported(text, format="appraise", columns={"annotator": "login"})
    assert ratings["item_type"].tolist() == ["system", "repeat"]


def test_a_mark_without_a_document_is_rejected_in_its_row(imported):
    rows = ["a,S,1,TGT,eng,jpn,90,d#1-4#dup,False,[],1,2", "a,S,2,TGT,eng,jpn,9,#dup,False,[],3,4"]
    ratings, _, report, rejected = imported("\n".join(rows) + "\n", format="esa")
    assert ratings["doc"].tolist() == ["d"]
    assert report.rows_rejected == 1
    assert "no document before it" in rejected[0]["reason"]


def test_documents_with_degraded_copies_equal_the_suites_own_loader(imported, tmp_path):
    rows, moment = [], 0
    for account in ("deu01", "deu02"):
        for doc in ("a#1-4", "b#1-4", "c#1-4"):
            for copy in ("", "#bad") if doc != "c#1-4" else ("",):
                order = [1, 2, 3, 4] if (account, doc, copy) != ("deu02", "a#1-4", "") else [1, 3, 2, 4]
                for segment in order:
                    kind = "BAD" if copy and segment > 2 else "TGT"
                    moment += 7
                    judged = f"{account},S,{segment},{kind},eng,deu,{moment % 101},{doc}{copy}"
                    rows.append(f"{judged},False,{moment}.5,{moment + 5}.5")
                rows.append(f"{account},S,4,TGT,eng,deu,50,{doc}{copy},True,{moment + 6}.5,{moment + 6}.75")
    (tmp_path / "rows.csv").write_text("\n".join(rows), encoding="utf-8")
    header = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
    (tmp_path / "header.csv").write_text(header, encoding="utf-8")
    expected = documents([tmp_path / "rows.csv", tmp_path / "header.csv"])
    ratings, _, report, _ = imported(None, name="rows.csv")
    pd.testing.assert_frame_equal(ratings[list(expected)], expected, check_dtype=False)
    counts = expected.attrs["excluded"]
    assert counts["segment scores of snippets scored out of order"] == 4
    assert sum(report.excluded.values()) == sum(counts.values())
    assert report.rows_rejected == 0


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("oops", "is no list in JSON"),
        ('[{""start_i"":3}]', "lacks start_i, end_i or severity"),
        ('[{""start_i"":9,""end_i"":5,""severity"":""major""}]', "is no stretch"),
        ('[{""start_i"":1,""end_i"":5,""severity"":""awful""}]', "severity 'awful'"),
        ("[" * 100_000, "is no list in JSON"),
        ("no list at all, and long: " + "oops. " * 50, "is no list in JSON"),
    ],
)
def test_a_row_with_broken_spans_is_rejected_alone(cell, reason, imported):
    rows = appraise(12, (1, "TGT", 80), (2, "TGT", 70), (3, "TGT", 60), (4, "TGT", 50), (5, "TGT", 40))
    text = rows + f'deu01,SysA,6,TGT,eng,deu,30,doc,False,"{cell}",9.5,9.75\n'
    ratings, spans, _, rejected = imported(text)
    assert len(ratings) == len(spans) == 5
    assert [row["line"] for row in rejected] == ["6"]
    assert pd.Series(rejected[0]["reason"]).str.contains(reason).all()


MQM = """system\tdoc\tdoc_seg_id\tglobal_seg_id\trater\tsource\ttarget\tcategory\tseverity\tmetadata
A\td1\t1\t7\tr1\tHello "world\tHallo <v>Welt</v>!\tAccuracy/Mistranslation\tMajor\t{}
A\td1\t1\t7\tr1\tHello "world\tHallo Welt<v>!</v>\tFluency/Punctuation\tMinor\t{}
A\td1\t2\t8\tr1\tBye\tTschüss\tNo-error\tno-error\t{}
B\td1\t1\t7\tr1\t<v>Hello</v> "world\tWelt\tAccuracy/Omission\tMinor\t{}
B\td1\t2\t8\tr1\tBye\t<v>Xyz</v>\tNon-translation!\tMajor\t{}
refA\td1\t1\t7\tr1\tHello "world\t<v>Hallo</v> Welt\tSource error\tMajor\t{}
A\td1\t2\t8\tr2\tBye\t<v>Tschüss</v>\tStyle/Awkward\tNeutral\t{}
"""


def test_mqm_tables_give_scores_and_spans(imported):
    ratings, spans, report, rejected = imported(MQM, name="mqm_test_ende.tsv")
    assert report.format == "mqm"
    assert (report.rows_folded, rejected, report.scale) == (1, [], None)
    assert ratings["score"].tolist() == [-5.1, 0, -1, -25, 0, 0]
    assert ratings["item_type"].tolist() == ["system"] * 4 + ["reference", "system"]
    assert ratings["segment"].tolist() == ["7", "8", "7", "8", "7", "8"]
    assert ratings["hypothesis"].tolist()[0] == "Hallo Welt!"
    places = spans[["start", "end", "side", "text"]].values.tolist()
    assert places[:3] == [[6, 10, "target", "Welt"], [10, 11, "target", "!"], [0, 5, "source", "Hello"]]
    texts = {"target": ratings["hypothesis"], "source": ratings["source"]}
    for row in spans.merge(ratings, on=["system", "segment", "annotator"]).itertuples():
        text = {"target": row.hypothesis, "source": row.source}[row.side]
        assert text[int(row.start) : int(row.end)] == row.text, texts


def test_scores_of_mqm_tables_are_those_of_the_scheme_they_name(imported):
    ratings, spans, *_ = imported(MQM, name="mqm_test_ende.tsv")
    scored = mqm.segment_scores(ratings, spans, "Freitag et al. 2021 (WMT)")
    assert scored["mqm"].tolist() == pytest.approx(ratings["score"].tolist(), abs=1e-12)


def test_a_judgement_with_an_error_of_unknown_weight_is_rejected_as_a_whole(imported):
    bad = MQM.replace("Fluency/Punctuation\tMinor", "Fluency/Punctuation\tTrivial")
    ratings, spans, _, rejected = imported(bad, name="mqm_test_ende.tsv")
    assert [row["line"] for row in rejected] == ["2", "3"]
    assert not (ratings["system"].eq("A") & ratings["segment"].eq("7")).any()
    assert not (spans["system"].eq("A") & spans["segment"].eq("7")).any()


WIDE = "Segment ID,Source,Target,Evaluator 1,Evaluator 2,Score rater Eve,Comment\n"


def test_xsts_with_a_column_per_evaluator(imported):
    text = WIDE + "1,a,b,4,5,,x\n2,c,d,3,,2,\n3,e,f,,,,\n4,g,h,6,1,NA,\n5,i,j,2,3,4,\n"
    ratings, _, report, rejected = imported(text, name="xsts.en-ja.csv")
    assert report.format == "xsts"
    assert ratings.groupby("annotator")["score"].apply(list).to_dict() == {
        "Evaluator 1": [4, 3, 2],
        "Evaluator 2": [5, 1, 3],
        "Score rater Eve": [2, 4],
    }
    assert [(row["line"], row["column"]) for row in rejected] == [
        ("4", "score"),
        ("5", "Evaluator 1"),
    ]
    assert report.blank_cells == 3, "NA is no judgement, as an empty cell"
    assert report.scale == [1, 5]


def test_a_repeated_row_of_evaluators_is_rejected_cell_by_cell_with_its_own_line(imported):
    _, _, _, rejected = imported("segment,lp,Evaluator 1,Evaluator 2\n1,en-de,4,x5\n\n1,en-de,4,5\n2,en-de,,3\n")
    assert [(row["line"], row["reason"]) for row in rejected] == [
        ("2", "is not a number"),
        ("4", "repeats the judgement of line 2: drop one of them"),
    ]


def test_names_in_headings_become_pseudonyms_everywhere(imported, tmp_path):
    text = (
        WIDE.replace("Evaluator 1", "Rater Anna").replace("Evaluator 2", "Rater Bob") + "1,a,b,4,5,3,x\n2,c,d,6,4,1,\n"
    )
    ratings, *_ = imported(text, name="xsts.en-ja.csv", keep_names=False)
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("c.*") if path.suffix != ".parquet")
    assert ratings["annotator"].nunique() == 3
    for name in ("Anna", "Bob", "Eve"):
        assert name not in written + ratings.to_csv()


def test_evaluators_columns_can_be_named(imported):
    text = "Source,Anna,Bob\nx y,4,5\nz,3,2\n"
    ratings, _, report, _ = imported(text, name="xsts.en-ja.csv", columns={"score": ["Anna", "Bob"]})
    assert ratings["annotator"].tolist() == ["Anna", "Bob", "Anna", "Bob"]
    assert ratings["segment"].nunique() == 2
    assert report.format == "xsts"


def test_long_scores_from_one_to_five_are_taken_for_xsts_and_the_report_says_why(imported):
    rows = "".join(f"en,de,A,{place},Ann,{place % 5 + 1}\n" for place in range(9))
    _, _, report, _ = imported("src_lang,tgt_lang,system,segment,rater,score\n" + rows)
    assert (report.format, report.scale) == ("xsts", [1, 5])
    assert "scores that are 1 to 5 only" in report.how


def test_crowd_ratings_with_raw_scores_need_no_means(imported):
    head = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time\n"
    rows = [
        "H1\tW1\tcs\ten\tad\t1\tA\td1\tSYSTEM\t1\t80\t9.0",
        "H1\tW1\tcs\ten\tad\t1\tA\td2\tREPEAT\t1\t85\t9.0",
        "H1\tW1\tcs\ten\tad\t1\tA\td1\tSYSTEM\t2\t180\t9.0",
        "H1\tW1\tcs\ten\tad\t1\tA\td1\tODD\t3\t80\t9.0",
    ]
    ratings, _, report, rejected = imported(head + "\n".join(rows) + "\n")
    assert report.format == "mturk-da"
    assert ratings["score"].tolist() == [80, 85]
    assert ratings["copy"].tolist() == [False, True]
    assert [row["column"] for row in rejected] == ["score", "type"]
    with pytest.raises(DataError, match=r"standardised scores.*trk-mean-sd\.txt"):
        imported(head + rows[0].replace("\t80\t", "\t-0.31\t") + "\n", name="ad-csen-good-stnd.csv")


def book(*rows, title="Scores"):
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    return workbook


HEADINGS = ["No", "Source", "Target", "Language pair", "Evaluator 1", "Evaluator 2"]


def test_a_workbook_of_xsts_scores(imported):
    workbook = book(
        ["XSTS, May"], [], HEADINGS, *([n, f"s{n}", f"t{n}", "en-ja", n % 5 + 1, 5.0 - n % 3] for n in range(6))
    )
    workbook.create_sheet("Notes").append(["Dear all"])
    workbook["Notes"].append(["thank you"])
    ratings, _, report, _ = imported(workbook, name="scores.xlsx")
    assert report.format == "xsts"
    assert len(ratings) == 12
    assert ratings.query("annotator == 'Evaluator 2'")["score"].tolist() == [5, 4, 3, 5, 4, 3]
    assert any("other sheets were not read: Notes" in note for note in report.notes)


def test_what_a_spreadsheet_does_to_numbers_is_rejected(imported):
    good = [[n, f"s{n}", f"t{n}", "en-ja", n % 5 + 1, 3] for n in range(8)]
    workbook = book(
        HEADINGS,
        *good,
        [8, "s8", "t8", "en-ja", datetime.datetime(2026, 5, 3), 3],
        [9, "s9", "t9", "en-ja", 0.8, 3],
        [10, "s10", "t10", "en-ja", "=1+2", 3],
        [11, "s11", "t11", "en-ja", "4,5", 3],
        [12, "s12", "t12", "en-ja", 45780, 3],
    )
    workbook.active["E11"].number_format = "0%"
    ratings, _, _, rejected = imported(workbook, name="scores.xlsx")
    reasons = {row["line"]: row["reason"] for row in rejected}
    for line, text in {
        "10": "reads like a date",
        "11": "percentage",
        "12": "without a stored value",
        "14": "spreadsheet made of",
    }.items():
        assert text in reasons[line]
    assert len(rejected) == 4
    assert ratings.query("annotator == 'Evaluator 1'")["score"].tolist()[-1] == 4.5


def test_merged_cells_name_all_their_rows_but_score_only_one(imported):
    rows = [
        ["A", 1, "Ann", 80, "en-de"],
        [None, 2, "Ann", 70, "en-de"],
        [None, 3, "Ann", 60, "en-de"],
        ["B", 1, "Ann", 50, "en-de"],
        ["B", 2, "Ann", None, "en-de"],
        [None, 3, "Ann", 40, "en-de"],
    ]
    workbook = book(["Title"], ["system", "segment", "rater", "score", "lp"], *rows)
    for cells in ("A1:C1", "A3:A5", "D6:D7"):
        workbook.active.merge_cells(cells)
    ratings, _, report, rejected = imported(workbook, name="scores.xlsx")
    assert ratings["system"].tolist() == ["A", "A", "A", "B"], (
        "what is merged goes on to the end of its cell, no further"
    )
    assert ratings["score"].tolist() == [80, 70, 60, 50]
    assert [(row["line"], row["column"]) for row in rejected] == [("7", "score"), ("8", "system")]
    assert any("read as the value of each of their rows, in system" in note for note in report.notes)
    assert any("merged cells, such as D6:D7, of which only the first" in note for note in report.notes)


def test_several_sheets_are_one_campaign_unless_one_is_named(imported):
    workbook = book(["system", "segment", "rater", "score", "lp"], ["A", 1, "Ann", 80, "en-de"], title="May")
    workbook.create_sheet("June").append(["system", "segment", "rater", "score", "lp"])
    workbook["June"].append(["A", 2, "Ann", 60, "en-de"])
    assert imported(workbook, name="scores.xlsx")[0]["score"].tolist() == [80, 60]
    assert imported(workbook, name="scores.xlsx", sheet="June")[0]["score"].tolist() == [60]
    with pytest.raises(DataError, match="no sheet 'July'; it has May, June"):
        imported(workbook, name="scores.xlsx", sheet="July")


def test_numbers_and_names_of_a_workbook_come_back_exactly(imported):
    scores = [0.3, 1e-7, 100, 33.33333333333334]  # openpyxl writes 16 digits
    workbook = book(
        ["system", "segment", "rater", "score", "lp"],
        *(["007", n, "Ann", score, "en-de"] for n, score in enumerate(scores)),
    )
    ratings, *_ = imported(workbook, name="scores.xlsx")
    assert ratings["score"].tolist() == scores
    assert ratings["system"].unique().tolist() == ["007"]
    assert ratings["segment"].tolist() == ["0", "1", "2", "3"]


def archive(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in parts.items():
            out.writestr(name, content)


def test_archives_that_burst_or_are_no_workbooks_are_refused(imported, tmp_path):
    path = tmp_path / "x.xlsx"
    archive(path, {"xl/workbook.xml": "x", "xl/sharedStrings.xml": b" " * (300 << 20)})
    with pytest.raises(DataError, match="would unpack to"):
        imported(None, name="x.xlsx")
    archive(path, {"a.csv": "x"})
    with pytest.raises(DataError, match="a zip archive, not a workbook"):
        imported(None, name="x.xlsx")
    archive(path, {"content.xml": "x"})
    with pytest.raises(DataError, match="no sound workbook"):
        imported(None, name="x.xlsx")
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'
    archive(path, {"[Content_Types].xml": bomb, "xl/workbook.xml": bomb})
    with pytest.raises(DataError, match="no sound workbook"):
        imported(None, name="x.xlsx")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "no sound workbook"),
        (b"%PDF-1.7", "PDF"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"", "is empty"),
        (b"\n\n", "has no rows"),
        (b"a\0b\0\0\0,", "zero bytes"),
    ],
)
def test_what_is_no_table_is_told(start, message, imported, tmp_path):
    (tmp_path / "my.csv").write_bytes(start)
    with pytest.raises(DataError, match=message):
        imported(None)


def test_scales_differ_only_apart(tmp_path):
    (tmp_path / "a.csv").write_text(appraise(11, (1, "TGT", 80)), encoding="utf-8")
    (tmp_path / "b.tsv").write_text(MQM, encoding="utf-8")
    told = r"a\.csv has scores from 0 to 100; b\.tsv has scores without ends\. Import each by itself\."
    with pytest.raises(DataError, match=told):
        importing.import_campaign(
            [tmp_path / "a.csv", tmp_path / "b.tsv"], tmp_path / "c.parquet", values={"pair": "en-de"}
        )


def test_a_format_that_is_named_must_fit(imported):
    with pytest.raises(DataError, match="is not WMT's Mechanical Turk ratings"):
        imported(MQM, name="mqm_ende.tsv", format="mturk-da")


def test_the_report_is_the_same_twice(imported, tmp_path):
    imported(MQM, name="mqm_test_ende.tsv")
    first = {path.name: path.read_bytes() for path in tmp_path.glob("c.*")}
    imported(MQM, name="mqm_test_ende.tsv")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("c.*")} == first
    assert json.loads(first["c.import.json"])["digest"].startswith("sha256:")
