"""The way in: what is read, set apart and written; that names stay hidden, and that nothing is lost or written over."""

import json
import re
import stat

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.reports import cli, starter
from evalkit.reports.cli import campaigns
from tests.doors.testsets import write as a_testset
from tests.makers import cases, imports, rejected_rows

ROWS = cases("cases/data_importing")["rows"]
HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score"
GOOD = ["eng,deu,A,d,1,Ann,80", "eng,deu,B,d,1,Ann,70", "eng,deu,A,d,1,Bob,60.5", "eng,deu,B,d,1,Bob,0"]


pytestmark = pytest.mark.usefixtures("own_folder")


def lines(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


def file(folder, name, *rows, header=HEADER):
    path = folder / name
    path.write_text(lines(*rows, header=header), encoding="utf-8")
    return path


def run(*words):
    return cli.main(["import", *map(str, words)])


def scores(path):
    return data.open_campaign(path)[0]["score"].tolist()


# What is read, and what is set apart


def test_bad_rows_are_rejected_with_their_lines_and_the_rest_is_kept(imported, tmp_path):
    good = [f"eng,deu,A,e,{n},Bob,{n % 101}" for n in range(2_500)]  # or too many rows were bad
    text = lines(*GOOD, *(f"eng,deu,{row}" for row in ROWS), "eng,deu,C,d,9,Ann,50", *good)
    ratings, _, report = imported(text, keep_names=False)
    rejected = rejected_rows(tmp_path / "c.rejected.csv")
    told = {row["line"]: (row["column"], row["reason"]) for row in rejected}
    for line, (row, (column, reason)) in enumerate(ROWS.items(), start=6):
        assert told[str(line)][0] == column, row
        assert reason in told[str(line)][1], row
    assert len(rejected) == len(ROWS)
    assert ratings["score"].tolist() == [80, 70, 60.5, 0, 50, *(n % 101 for n in range(2_500))]
    assert not any("Ann" in cell for row in rejected for cell in row.values())
    assert any("line 6" in sentence for sentence in report.sentences())


def test_rejected_rows_are_counted_and_told_when_a_raw_file_is_opened(tmp_path):
    path = file(tmp_path, "my.csv", *GOOD, "eng,deu,A,d,2,Ann,104")
    with pytest.raises(DataError, match=r"1 of 5 rows \(20\.0%\).*--allow-rejected"):
        data.open_campaign(path)
    ratings, spans = data.open_campaign(path, allow_rejected=True)
    assert (len(ratings), spans, ratings.attrs["source"]["name"]) == (4, None, "my")
    assert sum(ratings.attrs["excluded"].values()) == 1
    lacking = file(tmp_path, "no.csv", "eng,deu,A,d,1,80", header=HEADER.replace("annotator,", ""))
    with pytest.raises(DataError, match=r"--map annotator=HEADING.*evalkit import no\.csv"):
        data.open_campaign(lacking)


def test_one_row_in_a_hundred_may_be_refused_and_no_more_without_being_asked(tmp_path, capsys):
    rows = [f"eng,deu,{system},d,{n},Ann,{n}" for system in "AB" for n in range(90)]
    spoilt = [rows[0][:-1] + "85%", rows[1][:-1] + "x", *rows[2:]]
    path = file(tmp_path, "my.csv", *spoilt)
    assert run(path) == 1
    said = capsys.readouterr().err
    assert all(word in said for word in ("2 of 180", "percentage", "not a number", "--allow-rejected"))
    assert not [*tmp_path.glob("campaign*")]
    assert run(path, "--allow-rejected") == 0
    assert len(scores("campaign.parquet")) == 178
    assert run(file(tmp_path, "one.csv", spoilt[0], *rows[1:]), "--out", "one.parquet") == 0


# What is told besides the file


def test_a_value_may_differ_by_file(tmp_path):
    header = "src_lang,tgt_lang,system,segment,annotator,score"
    first = file(tmp_path, "a.csv", "eng,deu,A,1,Ann,80", header=header)
    second = file(tmp_path, "b.csv", "eng,deu,A,1,Ann,60", header=header)
    told = {"a.csv:doc": "first", "b.csv:doc": "second"}
    importing.import_campaign([first, second], tmp_path / "c.parquet", values=told)
    ratings = data.open_campaign(tmp_path / "c.parquet")[0]
    assert dict(zip(ratings["doc"], ratings["score"])) == {"first": 80, "second": 60}
    for name, word in {"c.csv:doc": r"c\.csv", "a.csv:dco": "dco"}.items():
        with pytest.raises(DataError, match=word):
            importing.import_campaign([first], tmp_path / "d.parquet", values={name: "x"})


# The receipt


def test_the_receipt_counts_what_came_and_what_became_of_it(tmp_path):
    """Degraded copies say nothing of a system or a person; a system's scores in two languages make no mean."""
    rows = [
        *("A,d,1,Ann,80,system", "A,d,1,Bob,60,system", "B,d,1,Ann,70,system", "B,d,1,Bob,900,system"),
        *("refA,d,1,Ann,90,reference", "A,d,1,Ann,5,degraded"),
    ]
    rows = [*(f"eng,deu,{row}" for row in rows), "eng,fra,A,d,1,Ann,40,system"]
    path = file(tmp_path, "a.csv", *rows, header=HEADER + ",item_type")
    told = {"keep_names": True, "scale": (0, 100), "allow_rejected": True}
    report, _ = importing.import_campaign([path], tmp_path / "c.parquet", **told)
    assert (report.rows_read, report.rows_kept, report.rows_rejected, report.rows_excluded) == (7, 6, 1, 0)
    systems = {(row["pair"], row["system"]): (row["judgements"], row["mean"]) for row in report.systems}
    people = {row["annotator"]: (row["judgements"], row["mean"]) for row in report.people}
    german = {("eng-deu", name): told for name, told in {"A": (2, 70), "B": (1, 70), "refA": (1, 90)}.items()}
    assert systems == german | {("eng-fra", "A"): (1, 40)}
    assert people == {"Ann": (4, 70), "Bob": (1, 60)}
    known = data.open_campaign(tmp_path / "c.parquet")[0].attrs
    assert (known["scale"], known["source"]["source"], known["source"]["origin"]) == ((0, 100), "real", "a.csv")
    assert re.fullmatch("sha256:[0-9a-f]{64}", known["source"]["digest"])


def test_checking_writes_nothing_and_says_the_same(tmp_path, capsys):
    file(tmp_path, "a.csv", *GOOD)
    before = sorted(tmp_path.rglob("*"))
    assert run("a.csv", "--check", "--keep-names") == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert sorted(tmp_path.rglob("*")) == before
    assert run("a.csv", "--keep-names") == 0
    assert capsys.readouterr().err.partition("format")[2] == told.err.partition("format")[2]


def test_the_command_prints_paths_on_stdout_and_the_receipt_on_stderr(tmp_path, capsys):
    file(tmp_path, "my.csv", *GOOD)
    assert run("my.csv", "--out", "c.parquet", "--scale", "0:90", "--keep-names") == 0
    printed = capsys.readouterr()
    assert printed.out.split() == ["c.parquet", "c.import.json"]
    assert "4 rows read: 4 kept, 0 rejected" in printed.err
    report = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    assert (report["rows_kept"], report["scale"]) == (4, [0, 90])
    for value in ("system=", "doc=\u200b", "my.csv:annotator="):
        assert run("my.csv", "--value", value) == 1
        assert "no text" in capsys.readouterr().err


def test_the_table_of_formats_is_printed_and_is_what_the_command_takes(capsys):
    assert run("--formats") == 0
    printed = capsys.readouterr().out
    assert [name for name in importing.FORMATS if name != "auto" and f"{name}: " not in printed] == []
    [taken] = [option.type for option in campaigns.import_files.params if option.name == "format"]
    assert {*taken.choices} == {*importing.FORMATS}


def test_an_import_is_the_same_twice(imported, tmp_path):
    imported(lines(*GOOD, "eng,deu,A,d,2,Ann,104"))
    first = {path.name: path.read_bytes() for path in tmp_path.glob("c.*")}
    imported(lines(*GOOD, "eng,deu,A,d,2,Ann,104"))
    assert {path.name: path.read_bytes() for path in tmp_path.glob("c.*")} == first


# Names


def test_names_stand_nowhere_in_what_is_written(tmp_path, capsys):
    rows = [
        "en,de,A,d,1,%s,80,task-%s-1,%s@x.org",
        "en,de,A,d,2,%s,104,task-%s-1,%s@x.org",
        "en,de,A,d,3,%s,80,task-%s-1",
        "en,de,A,d,1,%s,80,task-%s-1,%s@x.org",
        "en,de,A,d,9,%s,1,%s,%s,%s",
        "en,de,A,d,4,%s,,task-%s,%s",
    ]
    rows = [row.replace("%s", "Annabel Leigh") for row in rows]
    path = file(tmp_path, "my.csv", *rows, header=HEADER + ",hit,e-mail")
    assert run(path, "--allow-rejected", "--out", "c.parquet") == 0
    printed, written = capsys.readouterr(), [*tmp_path.glob("c.*")]
    assert len(written) == 3
    table = pq.read_table(tmp_path / "c.parquet").to_pylist()
    everything = b"".join(found.read_bytes() for found in written).decode("utf-8", "replace")
    everything += printed.out + printed.err + json.dumps(table)
    assert not re.search("annabel|leigh", everything, re.IGNORECASE)
    assert table[0]["hit"] == f"task-{table[0]['annotator']}-1"


@pytest.mark.parametrize(
    ("case", "names"),
    [
        ("pearmut_gives_one_judgement_an_output_and_sets_everything_else_apart", r"Secret|\b(ann|bob)\b"),
        ("a_column_per_evaluator_where_na_is_no_judgement", "Evaluator|Eve"),
    ],
)
def test_names_in_forms_and_headings_stand_nowhere_either(case, names, imported, tmp_path):
    text = imports()[case]["text"].replace("Evaluator ", "Evaluator A")  # a number alone is nobody's name
    hidden, *_ = imported(text, imports()[case]["name"], keep_names=False)
    written = hidden.to_csv() + (tmp_path / "c.rejected.csv").read_text() + (tmp_path / "c.import.json").read_text()
    assert not re.search(names, written)


def test_pseudonyms_are_the_same_at_a_second_import_and_others_with_another_salt(imported, tmp_path):
    def people(*rows, **told):
        return {*imported(lines(*rows), keep_names=False, **told)[0]["annotator"]}

    first = people(*GOOD)
    assert all(re.fullmatch("a-[a-z2-7]{10}", alias) for alias in first)
    assert people(*reversed(GOOD)) == first
    assert first.isdisjoint(people(*GOOD, salt="pepper"))
    salt = tmp_path / "config" / "salt"
    assert stat.S_IMODE(salt.stat().st_mode) == 0o600
    many = [f"eng,deu,A,d,{n},P{n},5" for n in range(500)]
    assert len(people(*many)) == 500, "different people have different pseudonyms"
    again = people(*(row.replace("Ann", min(first)) for row in GOOD))
    assert min(first) in again, "a pseudonym is nobody's name and stays as it is"
    salt.write_text("", encoding="ascii")
    with pytest.raises(DataError, match=r"salt"):
        people(*GOOD)


def test_models_that_judge_keep_their_names_and_are_kept_apart(tmp_path):
    rows = [*GOOD, *(row.replace("Ann", "GPT-4o judge") for row in GOOD[:2])]
    told = {"salt": "pepper", "judges": ["GPT-4o judge"]}
    importing.import_campaign([file(tmp_path, "my.csv", *rows)], tmp_path / "c.parquet", **told)
    ratings = data.open_campaign(tmp_path / "c.parquet")[0]
    assert (len(ratings), ratings["annotator"].nunique()) == (4, 2)
    assert {*data.open_judges(tmp_path / "c.parquet")["annotator"]} == {"GPT-4o judge"}
    assert "Ann" not in (tmp_path / "c.import.json").read_text(encoding="utf-8")


# Several files


def test_several_files_are_one_campaign(tmp_path):
    one, two = file(tmp_path, "0.csv", GOOD[0]), file(tmp_path, "1.csv", GOOD[1])
    report, _ = importing.import_campaign([one, two], tmp_path / "c.parquet")
    assert [entry["name"] for entry in report.files] == ["0.csv", "1.csv"]
    assert scores("c.parquet") == [80, 70]
    file(tmp_path, "1.csv", GOOD[0])
    with pytest.raises(DataError, match=r"same content"):
        importing.import_campaign([one, two], tmp_path / "c.parquet")
    file(tmp_path, "1.csv", *GOOD[:2])
    importing.import_campaign([one, two], tmp_path / "c.parquet", allow_rejected=True)
    assert "0.csv" in rejected_rows(tmp_path / "c.rejected.csv")[0]["reason"]


def test_files_of_two_kinds_and_results_of_imports_make_one_campaign(tmp_path):
    esa = 'ann,C,1,TGT,eng,deu,50,d,False,"[{""start_i"":3,""end_i"":5,""severity"":""major""}]",1.5,2.5\n'
    (tmp_path / "esa.csv").write_text(esa, encoding="utf-8")
    file(tmp_path, "a.csv", *GOOD)
    report, _ = importing.import_campaign(["a.csv", "esa.csv"], tmp_path / "c.parquet", keep_names=True)
    ratings, spans = data.open_campaign(tmp_path / "c.parquet")
    assert report.format == "csv + esa"
    assert ratings.groupby("system")["score"].mean().to_dict() == {"A": 70.25, "B": 35, "C": 50}
    assert spans[["system", "severity"]].values.tolist() == [["C", "major"]]
    importing.import_campaign(["esa.csv"], "one.parquet")
    importing.import_campaign(["a.csv"], "two.parquet")
    importing.import_campaign(["one.parquet", "two.parquet"], "both.parquet")
    both, spans = data.open_campaign("both.parquet")
    parts = pd.concat([data.open_campaign(name)[0] for name in ("one.parquet", "two.parquet")])
    assert len(spans) == 1
    assert sorted(zip(both["annotator"], both["score"])) == sorted(zip(parts["annotator"], parts["score"]))


def test_scales_that_differ_are_no_campaign(tmp_path):
    first = file(tmp_path, "a.csv", *GOOD)
    second = file(tmp_path, "b.csv", "eng,deu,A,d,2,Ann,3", header=HEADER + " (1-5)")
    errors = file(tmp_path, "c.tsv", "A\t1\tr\tOther\tMajor", header="system\tseg_id\trater\tcategory\tseverity")
    for other in (second, errors):
        with pytest.raises(DataError, match=rf"a\.csv has scores from 0 to 100; {other.name}.*Import each"):
            importing.import_campaign([first, other], tmp_path / "c.parquet")


# Results


def test_nothing_sound_is_an_error_and_leaves_the_earlier_result_alone(tmp_path):
    bad = file(tmp_path, "bad.csv", "eng,deu,A,d,1,Ann,104")
    with pytest.raises(DataError, match=r"none is a sound judgement .*outside 0-100"):
        importing.import_campaign([bad], "out.parquet")
    assert not [*tmp_path.glob("*out*")]
    good = file(tmp_path, "good.csv", *GOOD, "eng,deu,A,d,2,Ann,104")
    importing.import_campaign([good], "out.parquet", allow_rejected=True)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("out*")}
    assert set(before) == {"out.parquet", "out.rejected.csv", "out.import.json"}
    with pytest.raises(DataError):
        importing.import_campaign([bad], "out.parquet")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("out*")} == before
    importing.import_campaign([file(tmp_path, "bad.csv", *GOOD)], "out.parquet")
    assert not (tmp_path / "out.rejected.csv").exists(), "the rejected rows of another import are gone"


def test_a_result_is_renewed_but_not_written_over_by_other_files(tmp_path, capsys):
    file(tmp_path, "may.csv", *GOOD[:2])
    file(tmp_path, "june.csv", *GOOD[2:])
    assert run("may.csv") == run("may.csv") == 0
    assert run("june.csv") == 1
    assert "may.csv" in capsys.readouterr().err
    assert scores("campaign.parquet") == [80, 70]
    assert run("may.csv", "june.csv") == 0, "nothing of the earlier result is lost"
    assert run("june.csv") == 1
    assert run("june.csv", "--replace") == 0


OTHERS = ["z.parquet", "z.spans.parquet", "z.judges.parquet", "z.import.json", "z.rejected.csv"]


@pytest.mark.parametrize(
    ("name", "content"), [*((name, "a note") for name in OTHERS), (OTHERS[3], '{"files": "mine"}')]
)
def test_what_others_keep_beside_a_result_is_not_written_over(name, content, tmp_path, capsys):
    file(tmp_path, "may.csv", *GOOD)
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert run("may.csv", "--out", "z.parquet") == 1
    told = capsys.readouterr().err
    assert name in told
    assert "--replace" in told or name == "z.parquet"
    assert [path.name for path in tmp_path.glob("z.*")] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == content
    if name != "z.parquet":
        assert run("may.csv", "--out", "z.parquet", "--replace") == 0
        assert run("may.csv", "--out", "z.parquet") == 0, "what an import wrote, it renews"


def test_rejected_rows_run_nothing_in_a_spreadsheet(imported, tmp_path):
    """A name may begin with a sign as well, and stays as it is."""
    systems = ["=cmd|' /C calc'!A0", "-1+1", "'quoted", "plain"]
    good = [f"eng,deu,{name},d,{n},p,{n + 50}" for n, name in enumerate(systems)]
    bad = [
        f"eng,deu,{name},e,{n},p,{cell}"
        for n, (name, cell) in enumerate(zip(systems, ["=5x", "+6x", "@SUM(A1)", "-8x"]))
    ]
    imported(lines(*good, *bad), scale=(0, 100))
    cells = [cell for row in rejected_rows(tmp_path / "c.rejected.csv") for cell in row.values()]
    assert [cell for cell in cells if cell.startswith("'")] == ["'=5x", "'+6x", "'@SUM(A1)", "'-8x"]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_judges_are_of_the_campaign_whose_ratings_were_opened(tmp_path):
    importing.import_campaign([file(tmp_path, "one.csv", *GOOD)], "c.parquet")
    ratings, _ = data.open_campaign("c.parquet")
    assert data.open_judges("c.parquet", ratings=ratings.head(3)) is None
    importing.import_campaign([file(tmp_path, "two.csv", *GOOD[:2])], "c.parquet")
    with pytest.raises(DataError, match=r"c\.parquet was imported anew"):
        data.open_judges("c.parquet", ratings=ratings.head(3))


@pytest.mark.parametrize("changed", ["human-scores/en-cs.esa.seg.score", "documents/en-cs.docs"])
def test_a_file_that_changes_while_it_is_imported_is_rejected(tmp_path, changed):
    """Rows of both contents were a result, under the digest of the old one; what lies beside a file counts, too."""
    path = a_testset(tmp_path / "wmt24") / "human-scores/en-cs.esa.seg.score"
    place = tmp_path / "wmt24" / changed
    old = place.read_bytes()

    def meanwhile(_):
        place.write_bytes(old + b"\n")

    with pytest.raises(DataError, match=rf"{re.escape(place.name)} changed while it was read"):
        importing.import_campaign([path], "c.parquet", tell=meanwhile)
    assert not (tmp_path / "c.parquet").exists()
    place.write_bytes(old)
    first, _ = importing.import_campaign([path], "c.parquet")
    (tmp_path / "wmt24/documents/en-cs.docs").write_bytes(b"news\td\n" * 12)
    assert importing.import_campaign([path], "c.parquet")[0].digest != first.digest


def test_batches_beside_a_file_are_in_its_digest(imported, tmp_path):
    case = imports()["appraise_batches_tell_segments_task_by_task_by_lines"]
    (tmp_path / "batches.json").write_text(case["beside"]["batches.json"])
    without, beside = (imported(case["text"], batches=given)[2] for given in ([], [tmp_path / "batches.json"]))
    assert without.digest != beside.digest


# The template


def test_the_example_row_and_the_empty_columns_of_the_template_change_nothing(imported, tmp_path):
    example = (starter.campaign("spring", tmp_path) / "scores.csv").read_text(encoding="utf-8").splitlines()
    pairs = [(system, n, name) for system in "AB" for n in range(10) for name in ("Ann", "Robert")]
    rows = [f"eng,deu,{system},d,{n},{name},{n * 7 + len(name)},{'repeat' * (n > 8)},,," for system, n, name in pairs]
    plain, _, without = imported(lines(*rows, header=example[0]))
    left, _, said = imported(lines(*example[1:], *rows, header=example[0]))
    assert len(example) == 2
    assert plain.equals(left)
    assert plain.attrs["scale"] == left.attrs["scale"]
    assert (said.rows_read, said.rows_kept, "hit" in left) == (40, 40, False)
    assert left["item_type"].value_counts().to_dict() == {"system": 36, "repeat": 4}
    assert [note for note in said.notes if note not in without.notes and "example row" in note]


def test_a_foreign_parquet_is_refused(tmp_path):
    pq.write_table(pa.table({"x": [1]}), "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1 nothing")
    for name, word in {"x.parquet": "import", "y.parquet": "Parquet"}.items():
        with pytest.raises(DataError, match=rf"{name[0]}\.parquet.*{word}"):
            data.open_campaign(name)
        with pytest.raises(DataError, match=rf"{name[0]}\.parquet"):
            importing.import_campaign([name], "c.parquet")
