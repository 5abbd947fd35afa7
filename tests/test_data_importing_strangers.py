"""Files as strangers send them: what they lack is stated, what they state twice is refused, rejected rows come back."""

import csv
import json
import re

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing.files import xlsx
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.reports import cli, starter

HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score"
GOOD = ["eng,deu,A,d,1,Ann,80", "eng,deu,B,d,1,Ann,70", "eng,deu,A,d,1,Bob,60.5", "eng,deu,B,d,1,Bob,0"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def lines(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


def imported(folder, content, *, name="my.csv", **told):
    """Write a file, import it under its people's names, and return ratings and report."""
    path = folder / name
    if isinstance(content, openpyxl.Workbook):
        content.save(path)
    else:
        path.write_text(content, encoding="utf-8")
    report, _ = importing.import_campaign(
        [path], folder / "c.parquet", **({"keep_names": True, "allow_rejected": True} | told)
    )
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    return data.open_campaign(folder / "c.parquet")[0], report


def rejected_in(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def delivery(*rows, head=("No.", "Engine", "Source text", "Translation", "Linguist", "Score (1-5)", "Comment")):
    """Make a workbook as a language service provider sends it: a title above, a second sheet with notes."""
    book = openpyxl.Workbook()
    book.active.title = "Scores"
    for row in (["Evaluation, delivery of May"], [], list(head), *rows):
        book.active.append(list(row))
    book.active.merge_cells("A1:G1")
    book.create_sheet("Notes").append(["Notes"])
    book["Notes"].append(["The linguists were briefed."])
    return book


JUDGED = [
    [1, "A", "one", "eins", "Ann", 4, ""],
    [2, "B", "one", "ein", "Ann", "3,5", "?"],
    [],
    [None] * 7,
    [3, "A", "two", "zwei", "Ann", 4.5, ""],
    [4, "B", "two", "beide", "Ann", "5", ""],
    [5, "A", "one", "eins", "Bob", 6, ""],
]


def test_a_delivery_of_xsts_scores_is_read_without_being_told_anything(tmp_path):
    ratings, report = imported(tmp_path, delivery(*JUDGED), name="delivery.xlsx")
    assert (report.format, report.scale, report.scale_from) == ("xsts", [1, 5], "of the heading Score (1-5)")
    assert ratings["score"].tolist() == [4, 3.5, 4.5, 5]
    assert ratings["segment"].nunique() == 2
    assert ratings["segment"].iloc[0] == ratings["segment"].iloc[1] != ratings["segment"].iloc[2]
    assert [(row["line"], row["value"]) for row in report.first] == [(10, '"6"')]
    assert report.unused == ["No.", "Comment"]


def test_languages_that_nothing_states_are_unknown_and_said_to_be(tmp_path):
    ratings, report = imported(tmp_path, delivery(*JUDGED), name="delivery.xlsx")
    assert set(ratings["src_lang"]) == set(ratings["tgt_lang"]) == {"und"}
    assert any("nothing says the languages" in note and "--value pair=en-de" in note for note in ratings.attrs["notes"])
    short = "tgt_lang,system,doc,segment,annotator,score"
    ratings, report = imported(tmp_path, lines("deu,A,d,1,Ann,80", header=short))
    assert ratings[["src_lang", "tgt_lang"]].values.tolist() == [["und", "deu"]]
    assert any("(src_lang)" in note and "--value src_lang=eng" in note for note in report.notes)
    ratings, _ = imported(tmp_path, lines("deu,A,d,1,Ann,80", header=short), values={"src_lang": "en"})
    assert ratings["src_lang"].tolist() == ["eng"]


def test_one_language_that_is_told_leaves_the_other_to_the_pair(tmp_path):
    text = lines("en-de,A,d,1,Ann,80", header="lp,system,doc,segment,annotator,score")
    ratings, _ = imported(tmp_path, text, values={"src_lang": "fr"})
    assert ratings[["src_lang", "tgt_lang"]].values.tolist() == [["fra", "deu"]]


def test_headings_in_two_rows_are_joined(tmp_path):
    head = ["Segment ID", "Source text", "System", "Score (1-5)", None, None]
    rows = [
        [None, None, None, "Linguist 1", "Linguist 2", "Linguist 3"],
        [1, "one", "A", 4, 5, "4,5"],
        [1, "one", "B", 3, None, 2],
        [2, "two", "A", 3, 3, 3],
    ]
    ratings, report = imported(tmp_path, delivery(*rows, head=head), name="delivery.en-ja.xlsx")
    assert report.format == "xsts"
    assert ratings.groupby("annotator")["score"].apply(list).to_dict() == {
        "Linguist 1": [4, 3, 3],
        "Linguist 2": [5, 3],
        "Linguist 3": [4.5, 2, 3],
    }
    assert (report.blank_cells, report.rows_rejected) == (1, 0)


def test_a_row_of_data_is_not_taken_for_headings(tmp_path):
    text = "segment,system,rater,score,lp,,\n1,A,Ann,80,en-de,,\n,,,,,seen,by Bob\n2,A,Ann,70,en-de,,\n"
    ratings, report = imported(tmp_path, text)
    assert ratings["score"].tolist() == [80, 70]
    assert report.rows_rejected == 1


def test_a_heading_states_the_scale_of_any_table(tmp_path):
    header = HEADER.replace("score", "Score [0–7]")
    ratings, report = imported(tmp_path, lines("eng,deu,A,d,1,Ann,7", "eng,deu,A,d,2,Ann,8", header=header))
    assert (report.format, report.scale) == ("csv", [0, 7])
    assert ratings["score"].tolist() == [7]
    assert imported(tmp_path, lines("eng,deu,A,d,2,Ann,8", header=header), scale=(0, 10))[1].scale == [0, 10]
    (tmp_path / "other.csv").write_text(lines(*GOOD), encoding="utf-8")
    (tmp_path / "my.csv").write_text(lines("eng,deu,A,d,1,Eve,7", header=header), encoding="utf-8")
    with pytest.raises(DataError, match=r"my\.csv has scores from 0 to 7; other\.csv has scores from 0 to 100"):
        importing.import_campaign([tmp_path / "my.csv", tmp_path / "other.csv"], tmp_path / "c.parquet")


APPRAISE = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd"
TWICE = {
    "csv": (lines(GOOD[0] + ",99", header=HEADER + ",score"), "score could be 'score' or 'score .column 8.'"),
    "case": (lines(GOOD[0] + ",99", header=HEADER + ",Score"), "score could be 'score' or 'Score'"),
    "languages": (lines(GOOD[0] + ",fra", header=HEADER + ",Tgt_Lang"), "tgt_lang could be"),
    "appraise": (f"{APPRAISE},Score\nu,S,1,TGT,eng,deu,80,d,False,1.5,2.5,7\n", "'score' and 'Score' are one heading"),
    "mqm": (
        "system\tseg_id\trater\tcategory\tseverity\tSeverity\tlp\nA\t1\tr\tOther\tMajor\tMinor\ten-de\n",
        "'severity' and 'Severity' are one heading",
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_heading_that_stands_twice_is_never_chosen_by_chance(name, tmp_path):
    text, message = TWICE[name]
    with pytest.raises(DataError, match=message):
        imported(tmp_path, text)


def test_errors_of_a_spreadsheet_name_nothing(tmp_path):
    rows = [
        [1, "A", "one", "eins", "Ann", 4, ""],
        [2, "=A1", "one", "x", "Ann", 4, ""],
        [3, "#REF!", "one", "x", "Ann", 4, ""],
        [4, "A", "two", "zwei", "=B9", 4, ""],
    ]
    ratings, report = imported(tmp_path, delivery(*rows), name="delivery.xlsx")
    assert ratings["system"].tolist() == ["A"]
    assert report.reasons == {"is a formula's error, or a formula without a stored value": 3}
    text = (
        "system\tseg_id\trater\tcategory\tseverity\tlp\nA\t1\tr\tOther\tMajor\ten-de\n#N/A\t2\tr\tOther\tMajor\ten-de\n"
    )
    assert imported(tmp_path, text)[1].rows_rejected == 1


def test_names_that_a_spreadsheet_may_have_made_dates_of_are_told(tmp_path):
    import datetime

    head = ["Engine", "Segment ID", "Linguist", "Score (1-5)"]
    book = delivery(["A", datetime.datetime(2026, 3, 13), "Ann", 4], head=head)
    assert any(
        "segment holds dates, such as 2026-03-13" in note for note in imported(tmp_path, book, name="x.xlsx")[1].notes
    )


def test_of_sheets_without_judgements_the_likeliest_is_told_and_hidden_ones_are_named(tmp_path):
    book = delivery(["A", "one"], head=["Engine", "Source text"])
    book.create_sheet("Old").append(["Engine"])
    book["Old"].sheet_state = "hidden"
    with pytest.raises(
        DataError, match=r"^sheet 'Scores': .*lacks .*hidden sheets were not read: Old; --sheet"
    ) as told:
        imported(tmp_path, book, name="x.xlsx")
    assert "Notes" not in str(told.value)


def test_a_sheet_that_claims_rows_without_end_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "MOST_ROWS", 5)
    with pytest.raises(DataError, match="more than 5 rows"):
        imported(tmp_path, delivery(*JUDGED), name="x.xlsx")


def test_a_raw_file_that_needs_options_says_where_they_belong(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(lines("eng,deu,A,d,1,80", header=HEADER.replace("annotator,", "")), encoding="utf-8")
    with pytest.raises(
        DataError, match=r"--map annotator=HEADING.*Options belong to the import: evalkit import my\.csv"
    ):
        data.open_campaign(path)


def test_columns_headed_by_people_are_proposed_as_their_scores(tmp_path):
    head, rows = "Source text,Translation,Ayumi Tanaka,Bob,No", ["one,eins,4,5,17", "two,zwei,3,3.5,18"]
    way = r"Ayumi Tanaka, Bob hold numbers, and nothing says what they are.* --wide annotators --value system=TEXT"
    with pytest.raises(DataError, match=way):
        imported(tmp_path, lines(*rows, header=head))
    told, _ = imported(tmp_path, lines(*rows, header=head), wide="annotators", values={"system": "mt"})
    (tmp_path / "my.csv").write_text(lines(*rows, header=head), encoding="utf-8")
    assert run("my.csv", "--map", "score=Ayumi Tanaka+Bob") == 0
    ratings, _ = data.open_campaign(tmp_path / "campaign.parquet")
    assert ratings["score"].tolist() == told["score"].tolist() == [4, 5, 3, 3.5]


def test_what_an_import_excluded_and_assumed_is_known_when_its_result_is_opened(tmp_path):
    ratings, report = imported(tmp_path, lines(*GOOD, "eng,deu,A,d,2,Ann,104"))
    assert ratings.attrs["excluded"] == {"rows (is outside 0-100)": 1}
    assert ratings.attrs["notes"] == report.notes
    (tmp_path / "c.import.json").write_text("[]", encoding="utf-8")
    assert "notes" not in data.open_campaign(tmp_path / "c.parquet")[0].attrs


def test_reasons_are_counted_whatever_line_they_name(tmp_path):
    _, report = imported(tmp_path, lines(*GOOD, *GOOD))
    assert report.reasons == {"repeats the judgement of another line": 4}


REPAIRED = lines(*GOOD[:2], "eng,deu,C,d,1,Ann,104", "eng,deu,C,d,2,Bob,x", "eng,deu,C,d,3,Bob,7,5")


def test_rejected_rows_are_imported_again_once_they_are_repaired(tmp_path, capsys):
    (tmp_path / "my.csv").write_text(REPAIRED, encoding="utf-8")
    assert cli.main(["import", "my.csv", "--allow-rejected"]) == 0
    rejected = tmp_path / "campaign.rejected.csv"
    rows = rejected_in(rejected)
    assert [(row["line"], row["score"]) for row in rows] == [("4", "104"), ("5", "x"), ("6", "")]
    text = rejected.read_text(encoding="utf-8-sig").replace(",104,\n", ",10.4,\n").replace(",x,\n", ",11,\n")
    rejected.write_text(text, encoding="utf-8-sig")
    assert run("my.csv", "campaign.rejected.csv", "--allow-rejected", "--out", "two.parquet") == 0
    ratings, _ = data.open_campaign(tmp_path / "two.parquet")
    first, _ = data.open_campaign(tmp_path / "campaign.parquet")
    assert ratings["score"].tolist() == [80, 70, 10.4, 11]
    assert ratings["annotator"].nunique() == 2, "a pseudonym stays the same"
    assert ratings["annotator"][2] == first["annotator"][0]
    assert [row["file"] for row in rejected_in(tmp_path / "two.rejected.csv")] == ["my.csv"] * 3 + [rejected.name]
    assert "is still uncut" in (tmp_path / "two.rejected.csv").read_text(encoding="utf-8-sig")


def test_repaired_rows_may_be_saved_by_a_spreadsheet_and_keep_the_languages_of_the_first_files_name(tmp_path):
    header = "system,doc,segment,annotator,score"
    imported(tmp_path, lines("A,d,1,Ann,5", "B,d,1,Ann,104", header=header), name="scores.en-hi.csv")
    rows = rejected_in(tmp_path / "c.rejected.csv")
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    book.active.append([*list(rows[0].values())[:-2], 14])
    ratings, _ = imported(tmp_path, book, name="repaired.xlsx", format="csv")
    assert ratings[["src_lang", "tgt_lang", "system", "score"]].values.tolist() == [["eng", "hin", "B", 14]]
    semicolons = "\n".join(";".join(row) for row in (list(rows[0]), [*list(rows[0].values())[:-2], "14,5", ""]))
    ratings, _ = imported(tmp_path, semicolons.replace("is outside 0-100: correct it, or", "x"))
    assert ratings["score"].tolist() == [14.5]


def test_rows_that_were_excluded_stay_so(tmp_path):
    rows = (
        "u,S,1,TGT,eng,deu,80,d,True,1.5,2.5\nu,S,1,TGT,eng,deu,80,d,False,1.5,2.5\nu,S,2,TGT,eng,deu,180,d,False,3,4\n"
    )
    _, report = imported(tmp_path, rows)
    assert (report.rows_excluded, report.rows_rejected) == (1, 1)
    path = tmp_path / "repaired.csv"
    path.write_text((tmp_path / "c.rejected.csv").read_text(encoding="utf-8-sig").replace(",180,d", ",18,d"), "utf-8")
    with pytest.raises(
        DataError, match=r"repaired\.csv holds rejected rows of format appraise.*Mend them in the export"
    ):
        importing.import_campaign([path], tmp_path / "c.parquet")
    report, _ = importing.import_campaign([path], tmp_path / "c.parquet", format="csv")
    assert (report.format, report.rows_read, report.rows_kept) == ("csv", 1, 1)
    assert "repaired.csv: 1 rows that had been excluded were passed over" in report.notes


MQM = "system\tseg_id\trater\tcategory\tseverity\tlp\n" + "".join(
    f"{row}\ten-de\n"
    for row in (
        "A\t1\tr\tOther\tMajor",
        "A\t1\tr\tOther\tMinor",
        "B\t1\tr\tOther\tMinor",
        "C\t1\tr\tNo-error\tno-error",
        "D\t1\tr\tNo-error\t",
        "E\t1\tr\t\tno-error",
    )
)


@pytest.mark.parametrize(
    ("before", "after", "column"),
    [
        ("Other\tMajor", "\tMajor", "category"),
        ("Other\tMajor", "Other\t", "severity"),
        ("A\t1\tr\tOther\tMajor\ten-de", "A\t1\tr\tOther", ""),
        ("A\t1\tr\tOther\tMajor\ten-de", "A\t1\tr\tOther\tMajor\ten-de\tx", ""),
    ],
)
def test_an_error_that_cannot_be_read_takes_its_judgement_with_it(before, after, column, tmp_path):
    assert imported(tmp_path, MQM, name="m.tsv")[0]["score"].tolist() == [-6, -1, 0, 0, 0]
    ratings, report = imported(tmp_path, MQM.replace(before, after), name="m.tsv")
    assert ratings["system"].tolist() == ["B", "C", "D", "E"], "half of its errors would make A look better than it is"
    assert report.first[0]["column"] == column
    assert [entry["line"] for entry in report.first] == [2, 3]


def test_of_a_row_with_a_column_per_evaluator_only_the_rejected_cell_is_kept_to_be_repaired(tmp_path):
    text = "segment,lp,Evaluator 1,Evaluator 2,Evaluator 3\n1,en-de,4,5,3\n2,en-de,9,2,x\n"
    imported(tmp_path, text, keep_names=False)
    rows = rejected_in(tmp_path / "c.rejected.csv")
    people = [name for name in rows[0] if name.startswith("a-")]
    assert [[row[name] for name in people] for row in rows] == [["9", "", ""], ["", "", "x"]]
    path = tmp_path / "repaired.csv"
    path.write_text((tmp_path / "c.rejected.csv").read_text(encoding="utf-8-sig").replace("-de,9", "-de,1"), "utf-8")
    before, _ = data.open_campaign(tmp_path / "c.parquet")
    again, _ = data.open_campaign(path, format="xsts", allow_rejected=True)
    assert again[["segment", "annotator", "score"]].values.tolist() == [["2", people[0], 1]]
    assert set(again["annotator"]) <= set(before["annotator"])


CELLS = st.sampled_from(["80", "7.5", "x", "", "101", "1 000", "3-May"])


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=5), CELLS), min_size=1)
)
def test_once_all_scores_are_repaired_nothing_is_lost(tmp_path, rows):
    """What an import kept, with what a second one keeps of its rejected rows, is every row that names a system."""
    with (tmp_path / "all.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*HEADER.split(","), "kept"])
        writer.writerow(["eng", "deu", "S", "d", "first", "Ann", "1", "x"])
        for place, (system, score) in enumerate(rows):
            writer.writerow(["eng", "deu", system, "d", str(place), "Ann", score, "y"])
    importing.import_campaign([tmp_path / "all.csv"], tmp_path / "all.parquet", salt="pepper", allow_rejected=True)
    kept = set(data.open_campaign(tmp_path / "all.parquet")[0]["segment"])
    rejected = tmp_path / "all.rejected.csv"
    if rejected.exists():
        repaired = rejected_in(rejected)
        for row in repaired:
            row["score"] = row["score"] if re.fullmatch(r"80|7\.5", row["score"]) else "50"
        with (tmp_path / "repaired.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(repaired[0]))
            writer.writeheader()
            writer.writerows(repaired)
        files = [tmp_path / "all.csv", tmp_path / "repaired.csv"]
        report, _ = importing.import_campaign(files, tmp_path / "two.parquet", salt="pepper", allow_rejected=True)
        assert report.rows_read == report.rows_kept + report.rows_rejected
        kept = set(data.open_campaign(tmp_path / "two.parquet")[0]["segment"])
        rejected.unlink()
    assert kept == {"first", *(str(place) for place, (system, _) in enumerate(rows) if system.strip())}


def run(*words):
    return cli.main(["import", *words])


def test_a_result_is_renewed_but_not_written_over_by_other_files(tmp_path, capsys):
    (tmp_path / "may.csv").write_text(lines(*GOOD[:2]), encoding="utf-8")
    (tmp_path / "june.csv").write_text(lines(*GOOD[2:]), encoding="utf-8")
    assert run("may.csv") == run("may.csv") == 0
    before = (tmp_path / "campaign.parquet").read_bytes()
    assert run("june.csv") == 1
    assert "campaign.parquet is there already and was made from may.csv" in capsys.readouterr().err
    assert (tmp_path / "campaign.parquet").read_bytes() == before
    assert run("may.csv", "june.csv") == 0, "nothing of the earlier result is lost"
    assert run("june.csv") == 1
    assert run("june.csv", "--replace") == 0
    (tmp_path / "mine.parquet").write_text("a note", encoding="utf-8")
    assert run("may.csv", "--out", "mine.parquet") == 1
    assert "was not written by an import" in capsys.readouterr().err
    assert (tmp_path / "mine.parquet").read_text(encoding="utf-8") == "a note"


@pytest.mark.parametrize("name", ["z.spans.parquet", "z.judges.parquet", "z.import.json", "z.rejected.csv"])
@pytest.mark.parametrize("content", ["a note", "[]", '{"files": "mine"}', "PAR1"])
def test_what_others_keep_beside_a_result_is_not_written_over(name, content, tmp_path, capsys):
    (tmp_path / "may.csv").write_text(lines(*GOOD), encoding="utf-8")
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert run("may.csv", "--out", "z.parquet") == 1
    told = capsys.readouterr().err
    assert told.startswith(f"evalkit: {name} ")
    assert "--replace" in told
    assert not (tmp_path / "z.parquet").exists()
    assert (tmp_path / name).read_text(encoding="utf-8") == content
    assert run("may.csv", "--out", "z.parquet", "--replace") == 0
    assert run("may.csv", "--out", "z.parquet") == 0, "what an import wrote, it renews"


def test_a_folder_is_not_taken_for_a_result(tmp_path, capsys):
    (tmp_path / "may.csv").write_text(lines(*GOOD), encoding="utf-8")
    (tmp_path / "z.spans.parquet").mkdir()
    assert run("may.csv", "--out", "z.parquet", "--replace") == 1
    assert "z.spans.parquet is a folder" in capsys.readouterr().err
    assert not (tmp_path / "z.parquet").exists()


@pytest.mark.parametrize("value", ["system=", "system=  ", "doc=\u200b", "may.csv:annotator="])
def test_a_value_of_all_rows_is_a_text(value, tmp_path, capsys):
    (tmp_path / "may.csv").write_text(lines(*GOOD), encoding="utf-8")
    assert run("may.csv", "--value", value) == 1
    assert "gives no text" in capsys.readouterr().err
    assert not (tmp_path / "campaign.parquet").exists()


def test_repairs_are_not_written_over(tmp_path, capsys):
    (tmp_path / "my.csv").write_text(lines(*GOOD, "eng,deu,A,d,2,Ann,104"), encoding="utf-8")
    assert run("my.csv") == 1
    assert "1 of 5 rows (20.0%) cannot be read, and nothing was imported" in capsys.readouterr().err
    assert not [*tmp_path.glob("campaign*")]
    assert run("my.csv", "--allow-rejected") == run("my.csv", "--allow-rejected") == 0
    rejected = tmp_path / "campaign.rejected.csv"
    rejected.write_text(rejected.read_text(encoding="utf-8-sig").replace("104", "10.4"), encoding="utf-8")
    assert run("my.csv", "--allow-rejected") == 1
    assert "campaign.rejected.csv was changed since an import wrote it" in capsys.readouterr().err
    both = run("my.csv", "campaign.rejected.csv", "--allow-rejected")
    assert both == run("campaign.rejected.csv", "--replace") == 1
    assert "is to be read and would be written over" in capsys.readouterr().err
    assert "10.4" in rejected.read_text(encoding="utf-8")
    assert run("my.csv", "--replace", "--allow-rejected") == 0


def test_a_pseudonym_is_nobodys_name_and_stays_as_it_is():
    aliases = Pseudonyms("pepper")
    alias = aliases.one("Ann")
    assert aliases.one(alias) == aliases.mask(alias) == Pseudonyms("salt").one(alias) == alias
    assert aliases.one("Ann") == alias
    assert aliases.count == 1


def test_an_export_that_a_spreadsheet_saved_with_decimal_commas_is_read_all_the_same(tmp_path):
    rows = [
        f"u{place % 3};S;{place};TGT;eng;deu;{place + 60};d;False;1724108{place}87,807;1724108{place}97,25"
        for place in range(6)
    ]
    for text in ("\n".join(rows), "\n".join([APPRAISE.replace(",", ";"), *rows])):
        ratings, report = imported(tmp_path, text)
        assert (report.format, report.rows_rejected) == ("appraise", 0)
        assert sorted(ratings["started"])[:2] == [1724108087.807, 1724108187.807]


@pytest.mark.parametrize("top", [5, 100])
def test_the_example_row_of_the_template_changes_nothing(tmp_path, top):
    example = (starter.campaign("spring", tmp_path) / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert len(example) == 2
    rows = [
        f"eng,deu,{system},d,{place},{name},{(place * 7 + len(name)) % top + 1},,,,"
        for system in "AB"
        for place in range(10)
        for name in ("Ann", "Robert")
    ]
    [(plain, without), (left, said)] = [
        imported(tmp_path, "\n".join(lines) + "\n") for lines in ([example[0], *rows], [*example, *rows])
    ]
    assert plain.equals(left)
    assert plain.attrs["scale"] == left.attrs["scale"]
    assert (said.rows_read, said.rows_kept, said.rows_rejected, said.rows_excluded) == (40, 40, 0, 0)
    note = "scores.csv: the example row of the template was passed over (EXAMPLE-delete-this-row)"
    assert [one.partition(": ")[2] for one in said.notes if one not in without.notes] == [note.partition(": ")[2]]


def test_several_columns_that_are_not_there_are_told_at_once(tmp_path):
    with pytest.raises(DataError, match=r"has no column 'a', 'b'; it has .*Correct --map doc=… --map segment=…\."):
        imported(tmp_path, "system,score,annotator\nA,1,x\n", columns={"doc": "a", "segment": "b"})


def test_the_template_may_keep_its_empty_columns(tmp_path):
    folder = starter.campaign("spring", tmp_path)
    rows = [
        f"eng,deu,{system},d,{place},{name},{place * 9},{'repeat' if place > 8 else ''},,,"
        for system in "AB"
        for place in range(10)
        for name in ("Ann", "Bob")
    ]
    text = (folder / "scores.csv").read_text(encoding="utf-8").strip() + "\n" + "\n".join(rows) + "\n"
    ratings, report = imported(tmp_path, text)
    assert (report.rows_kept, report.rows_rejected) == (40, 0)
    assert "hit" not in ratings
    assert ratings["item_type"].value_counts().to_dict() == {"system": 36, "repeat": 4}
    assert any("rows without a kind of item were taken as outputs of systems" in note for note in report.notes)
    assert "the column hit is empty" in report.notes
    assert [note for note in report.notes if "the example row of the template was passed over" in note]
    late = text + "".join(f"eng,deu,C,d,{place},Ann,5,,{'h' * (place == 44)},,\n" for place in range(45))
    with pytest.raises(DataError, match="line 87: hit is filled here and empty on the first rows"):
        imported(tmp_path, late)
    every, report = imported(tmp_path, text.replace(",repeat,", ",,").replace("eng,deu", ","))
    assert set(every["src_lang"]) == {"und"}
    assert set(every["item_type"]) == {"system"}


def test_the_report_of_an_import_is_sound_json_without_names(tmp_path):
    imported(
        tmp_path,
        delivery(*JUDGED, [9, "A", "two", "x", "Zoe Doe", "seen by Zoe Doe", "Zoe Doe"]),
        name="d.xlsx",
        keep_names=False,
    )
    report = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    assert report["rows_rejected"] == 2
    for path in tmp_path.glob("c.*"):
        assert b"Zoe" not in path.read_bytes()


#: The folder's files of comparisons and of crowds: what has to be told, and each system's judgements and mean.
SHARED = {
    "pref_conditions.csv": ({}, {"default": (139, 65.5 / 139), "guided": (139, 73.5 / 139)}),
    "slider.jsonl": ({"positive": "hyp_b_id"}, {"alpha": (34, 13.74), "beta": (42, 2.05), "gamma": (44, -12.57)}),
    "ranks_wmt.csv": (
        {},
        {
            "cmu": (64, -4.06),
            "jhu": (69, -2.65),
            "kit": (67, -3.61),
            "limsi": (63, -3.10),
            "online-A": (66, -2.41),
            "uedin": (71, -1.79),
        },
    ),
    "mturk_batch.csv": ({}, {"A": (20, 70.35), "B": (20, 57.90), "C": (20, 46.35)}),
}


@pytest.mark.parametrize("name", SHARED)
def test_the_folders_comparisons_and_crowds(name, tmp_path, mirrored):
    told, right = SHARED[name]
    importing.import_campaign([mirrored(f"../strangers/{name}")], tmp_path / "c.parquet", **told)
    found = data.open_campaign(tmp_path / "c.parquet")[0].groupby("system")["score"].agg(["size", "mean"])
    assert {system: (size, round(mean, 2)) for system, size, mean in found.itertuples()} == {
        system: (size, round(mean, 2)) for system, (size, mean) in right.items()
    }
