"""Every import ends with a receipt that can be checked by hand; files of different kinds make one campaign."""

import json

import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.reports import cli

HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score,item_type"
ROWS = [
    "eng,deu,A,d,1,Ann,80,system",
    "eng,deu,A,d,1,Bob,60,system",
    "eng,deu,B,d,1,Ann,70,system",
    "eng,deu,B,d,1,Bob,900,system",
    "eng,deu,refA,d,1,Ann,90,reference",
    "eng,deu,A,d,1,Ann,5,degraded",
]
ESA = 'ann,C,1,TGT,eng,deu,50,d,False,"[{""start_i"":3,""end_i"":5,""severity"":""major""}]",1.5,2.5\n'


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def file(folder, name, *rows, header=HEADER):
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_the_receipt_counts_what_came_and_what_became_of_it(tmp_path):
    report, _ = importing.import_campaign(
        [file(tmp_path, "a.csv", *ROWS)],
        tmp_path / "c.parquet",
        keep_names=True,
        item_types={},
        scale=(0, 100),
        allow_rejected=True,
    )
    assert (report.rows_read, report.rows_kept, report.rows_rejected, report.rows_excluded) == (6, 5, 1, 0)
    kept = pd.DataFrame([row.split(",") for row in ROWS], columns=HEADER.split(",")).astype({"score": float})
    kept = kept[kept["score"] <= 100]
    shown = kept[kept["item_type"].ne("degraded")]
    for name, rows, table in (("system", report.systems, shown), ("annotator", report.people, shown)):
        expected = table.groupby(name)["score"].agg(["size", "mean"])
        assert {row[name]: (row["judgements"], row["mean"]) for row in rows} == {
            key: (row["size"], row["mean"]) for key, row in expected.iterrows()
        }
    text = "\n".join(report.sentences())
    assert "scale: 0 to 100 (as told)" in text
    assert [line.split() for line in report.sentences() if line.startswith("refA")] == [["refA", "1", "90.00"]]
    assert "1 rejected: is outside 0-100" in text


def test_checking_writes_nothing(tmp_path, capsys):
    file(tmp_path, "a.csv", *ROWS[:3])
    before = sorted(tmp_path.rglob("*"))
    assert cli.main(["import", "a.csv", "--check", "--keep-names"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "3 rows read: 3 kept" in told.err
    assert sorted(tmp_path.rglob("*")) == before
    cli.main(["import", "a.csv", "--keep-names"])
    assert capsys.readouterr().err == told.err  # the same receipt as when files are written


def test_files_of_two_kinds_make_one_campaign(tmp_path):
    (tmp_path / "esa.csv").write_text(ESA, encoding="utf-8")
    files = [file(tmp_path, "a.csv", *ROWS[:3]), tmp_path / "esa.csv"]
    report, _ = importing.import_campaign(files, tmp_path / "c.parquet", keep_names=True)
    assert report.format == "csv + esa"
    ratings, spans = data.open_campaign(tmp_path / "c.parquet")
    assert dict(ratings.groupby("system")["score"].mean()) == {"A": 70, "B": 70, "C": 50}
    assert spans["system"].tolist() == ["C"]
    assert spans["severity"].tolist() == ["major"]


def test_results_of_imports_are_files_of_a_campaign_too(tmp_path):
    (tmp_path / "esa.csv").write_text(ESA, encoding="utf-8")
    importing.import_campaign([tmp_path / "esa.csv"], tmp_path / "one.parquet")
    importing.import_campaign([file(tmp_path, "a.csv", *ROWS[:3])], tmp_path / "two.parquet")
    report, _ = importing.import_campaign(["one.parquet", "two.parquet"], tmp_path / "both.parquet")
    both, spans = data.open_campaign(tmp_path / "both.parquet")
    one, two = (data.open_campaign(tmp_path / name)[0] for name in ("one.parquet", "two.parquet"))
    assert sorted(both["annotator"]) == sorted([*one["annotator"], *two["annotator"]])  # pseudonyms stay as they were
    assert sorted(both["score"]) == sorted([*one["score"], *two["score"]])
    assert len(spans) == 1
    assert (report.rows_read, report.rows_kept, report.format) == (4, 4, "imported")
    importing.import_campaign(["one.parquet", "a.csv"], tmp_path / "mixed.parquet")
    assert data.open_campaign(tmp_path / "mixed.parquet")[0]["score"].tolist() == [50, 80, 60, 70]


def test_a_foreign_parquet_is_refused(tmp_path):
    pd.DataFrame({"score": [1.0]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match=r"x\.parquet is a Parquet table that no import wrote\. Write it as CSV"):
        importing.import_campaign(["x.parquet"], tmp_path / "c.parquet")


def test_a_value_may_differ_by_file(tmp_path):
    header = "src_lang,tgt_lang,system,segment,annotator,score"
    first = file(tmp_path, "a.csv", "eng,deu,A,1,Ann,80", header=header)
    second = file(tmp_path, "b.csv", "eng,deu,A,1,Ann,60", header=header)
    told = {"a.csv:doc": "first", "b.csv:doc": "second"}
    importing.import_campaign([first, second], tmp_path / "c.parquet", values=told)
    ratings = data.open_campaign(tmp_path / "c.parquet")[0]
    assert dict(zip(ratings["doc"], ratings["score"])) == {"first": 80, "second": 60}
    with pytest.raises(DataError, match=r"--value c\.csv:…: no file of that name is imported"):
        importing.import_campaign([first], tmp_path / "d.parquet", values={"c.csv:doc": "x"})
    with pytest.raises(DataError, match="'dco' is none of our columns"):
        importing.import_campaign([first], tmp_path / "d.parquet", values={"a.csv:dco": "x"})


def test_scales_that_differ_are_no_campaign(tmp_path):
    first = file(tmp_path, "a.csv", *ROWS[:3])
    second = file(
        tmp_path, "b.csv", "eng,deu,A,d,2,Ann,3", header="src_lang,tgt_lang,system,doc,segment,annotator,score (1-5)"
    )
    with pytest.raises(
        DataError, match=r"a\.csv has scores from 0 to 100; b\.csv has scores from 1 to 5\. Import each"
    ):
        importing.import_campaign([first, second], tmp_path / "c.parquet")


def test_the_report_repeats_the_receipt(tmp_path):
    importing.import_campaign([file(tmp_path, "a.csv", *ROWS[:3])], tmp_path / "c.parquet")
    receipt = data.open_campaign(tmp_path / "c.parquet")[0].attrs["reading"]["receipt"]
    said = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    assert receipt["rows"] == f"{said['rows_read']} read, {said['rows_kept']} kept" == "3 read, 3 kept"
    assert receipt["scale"].startswith("0 to 100")
