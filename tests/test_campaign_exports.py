"""What `evalkit export` writes: tables, LaTeX, and the folder that appears all at once."""

import contextlib
import csv as plain_csv
import json
import os
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, campaign
from evalkit.campaign import exports, paperwork
from evalkit.campaign.paperwork.markup import tex
from evalkit.data import registry
from evalkit.data.delimited import guarded, unguarded
from evalkit.reports import cli

GOOD = {"study": "s", "status": "ok", "parameters": {"seed": 7}, "data": [], "recorded": {}, "signature": "s|seed:7"}
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
both_ways = pytest.mark.parametrize("others", [False, True], ids=["alone", "beside other files"])


def written(folder, name="r", **changes):
    """Write a report in the shape of a study's JSON, and return its path."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(GOOD | changes), encoding="utf-8")
    return path


def exported(folder, recorded, **changes):
    """Export a report that records these values; return the folder."""
    campaign.export(written(folder, recorded=recorded, **changes), folder / "out")
    return folder / "out"


def test_exports_hold_every_table_to_the_last_digit(tmp_path, capsys):
    rankings = [
        {"system": "a_b & $x$ \\input{y}", "score": 1.23456, "sure": True, "note": None},
        {"system": "=1+1", "score": None, "sure": False, "note": "x"},
    ]
    recorded = {"rankings": rankings, "alpha": 0.5, "none": [], "long": [{"n": n} for n in range(100)]}
    report = written(tmp_path, recorded=recorded, data=[{"name": "mine", "source": "simulated"}])
    assert cli.main(["export", str(report), "--out", str(tmp_path / "out")]) == 0
    names = {line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}, "the command prints the files it wrote"
    assert {"rankings.csv", "rankings.parquet", "rankings.tex", "long.csv", "long.parquet", "methods.md"} <= names
    assert "long.tex" not in names
    csv, parquet = exports.read_csv(tmp_path / "out/rankings.csv"), pd.read_parquet(tmp_path / "out/rankings.parquet")
    for name in ("system", "score", "sure", "note"):
        for table in (csv, parquet):
            assert [None if pd.isna(cell) else cell for cell in table[name]] == [row[name] for row in rankings]
    assert json.loads((tmp_path / "out/values.json").read_text(encoding="utf-8"))["alpha"] == 0.5
    text = (tmp_path / "out/rankings.tex").read_text(encoding="utf-8")
    assert r"a\_b \& \$x\$ \textbackslash{}input\{y\} & 1.235 & yes & -- \\" in text
    assert "seed:7" in text.splitlines()[0]
    assert "SIMULATED" in (tmp_path / "out/methods.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["\\", "{{}", "%", "a\nb", "^~", "_#&$", "<|>", "\\end{tabular}", "✓ fine", "`x`", "“q”…"]
)
def test_latex_of_any_text_keeps_braces_balanced_and_nothing_unescaped(text):
    found = tex(text)
    bare = re.sub(r"\\[{}$&#_%]", "", found)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("%#&_^~\n`✓") & set(bare.replace("``", ""))


def test_a_row_of_latex_cannot_be_taken_for_an_option_and_strange_letters_are_announced():
    table = pd.DataFrame({"[2cm]": ["[2cm]", "*", "b"], "score": [-0.5, None, 1e-7], "note": ["-x", "--", "ü"]})
    lines = exports.latex(table, name="t").splitlines()
    assert {r"{}[2cm] & score & note \\", r"{}[2cm] & $-$0.5 & -x \\", r"{}* & -- & -- \\"} <= set(lines)
    assert not any(line.startswith("%") for line in lines)
    assert exports.latex(table.assign(note="字"), name="t").startswith("% Some letters")
    long = pd.DataFrame({"check": ["short"], "found": ["a long sentence " * 5], "n": [1]})
    assert r"\begin{tabular}{lp{" in exports.latex(long, name="t"), "columns of sentences break lines"


def test_tables_whose_names_make_the_same_file_do_not_meet(tmp_path):
    out = exported(tmp_path, {"a b": [{"x": 1}], "a/b": [{"x": 2}], "A_B": [{"x": 3}]})
    assert [exports.read_csv(out / f"{name}.csv")["x"].iloc[0] for name in ("a_b", "a_b_2", "A_B_3")] == [1, 2, 3]


REPORTS = {
    "[]": "no report of a study",
    "{": "no JSON report",
    json.dumps(GOOD | {"status": "failed"}): "failed",
    json.dumps(GOOD | {"recorded": {"huge": [{"x": 10**30}]}}): "huge",
    json.dumps(GOOD | {"recorded": {"x": float("nan")}}): "no JSON report",
}


@pytest.mark.parametrize("content", REPORTS, ids=range(len(REPORTS)))
def test_what_is_no_good_report_is_refused_and_leaves_nothing(content, tmp_path, capsys):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    assert cli.main(["export", str(tmp_path / "r.json"), "--out", str(tmp_path / "out")]) == 1
    assert REPORTS[content] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("place", "word"), [("absent", "There is no"), ("folder", "Is a dir"), ("pipe", "is a pipe")])
def test_what_is_no_file_is_no_report(place, word, tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=word):
        campaign.export(tmp_path / place, tmp_path / "out")


#: What spreadsheets take for the beginning of a formula.
STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
LETTERS = st.text(st.sampled_from("=+-@＝＋－＠';,\t\r\n \"\ufeff\u200b\0a1.e"), max_size=12) | st.text(max_size=12)


@given(LETTERS)
def test_no_text_runs_in_a_spreadsheet_and_every_text_comes_back(text):
    written = guarded(text)
    assert unguarded(written) == text
    assert unguarded(guarded(written)) == written
    for part, now in zip(re.split("[;\t\r\n]", text), re.split("[;\t\r\n]", written), strict=True):
        assert now in (part, f"'{part}")
        if now.lstrip('\0\ufeff\u200b" ').startswith(STARTS):
            float(now)  # a number is all it can be


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\r=1", "'", "'=1", "  =1+1"]
TEXTS = [*FORMULAS, "007", "1e5", "-5", "NA", "None", "True", "a,b", 'q"q', "é字", " lead", "line\nend"]


def test_csv_holds_no_formula_and_is_read_back_as_it_was_recorded(tmp_path):
    rows = [
        {"system": text, "=score": number - 2.5, "n": -number, "sure": number % 2 == 0, "gap": None}
        for number, text in enumerate(TEXTS)
    ]
    out = exported(tmp_path, {"table": rows, "mixed": [{"value": -0.5}, {"value": "=1"}, {"value": 3}]})
    with (out / "table.csv").open(encoding="utf-8", newline="") as stream:
        head, *cells = plain_csv.reader(stream)
    assert head == ["system", "'=score", "n", "sure", "gap"]
    assert not [row[0] for row in cells if row[0].lstrip().startswith(("=", "+", "@", "-")) and row[0] != "-5"]
    assert [row[2] for row in cells[:3]] == ["0", "-1", "-2"], "negative numbers stay numbers"
    back, parquet = exports.read_csv(out / "table.csv"), pd.read_parquet(out / "table.parquet")
    for name in ("system", "=score", "n", "sure"):
        assert back[name].tolist() == parquet[name].tolist() == [row[name] for row in rows]
    assert back["gap"].isna().all()
    assert exports.read_csv(out / "mixed.csv")["value"].tolist() == ["-0.5", "=1", "3"]


def test_whole_numbers_that_floats_would_round_stay_whole_and_headings_may_hold_any_letters(tmp_path):
    huge = 2**53 + 1
    recorded = {
        "gaps": [{"n": huge}, {"n": None}, {"n": 1}],
        "": [{"": 1}],
        "nested": [{"n": ""}, {"n": [1]}, {}],
        "rows": [{"a": "x"}, {"b": 1}, {"b": "y"}, {}],
        "letters": [{"a{b}%s": 1, "é": 2, "e\u0301": 3}],
    }
    out = exported(tmp_path, recorded)
    for table in (exports.read_csv(out / "gaps.csv"), pd.read_parquet(out / "gaps.parquet")):
        assert [None if pd.isna(cell) else cell for cell in table["n"]] == [huge, None, 1]
    assert list(exports.read_csv(out / "table.csv")) == [""], "a heading may be empty"
    assert exports.read_csv(out / "rows.csv")["b"].isna().tolist() == [True, False, False, True], "a gap is no text"
    assert list(exports.read_csv(out / "letters.csv")) == ["a{b}%s", "é", "e\u0301"]
    assert r"a\{b\}\%s & é & é \\" in (out / "letters.tex").read_text(encoding="utf-8")


def contents(folder):
    """Everything in a folder, byte by byte."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def versions(tmp_path):
    """Two reports that share a table and have one each of their own."""
    return [
        written(tmp_path, name, recorded={"shared": [{"x": name}], f"only_{name}": [{"y": 1}]})
        for name in ("old", "new")
    ]


def is_whole(folder, beside=frozenset()):
    """Tell that a folder holds one export: every file that its list names, as it names it, and no other but some."""
    listed = json.loads((folder / "export.json").read_text(encoding="utf-8"))["files"]
    there = {path.name for path in folder.iterdir()} - {"export.json"} - beside
    there -= {name for name in there if name.endswith(".evalkit-part")}  # of killed exports, hidden; cleared away later
    return there == set(listed) and all(registry.digest(folder / name) == listed[name] for name in listed)


def test_two_exports_of_a_report_are_the_same_bytes_and_nothing_of_an_earlier_one_stays(tmp_path, versions):
    (old, new), out = versions, tmp_path / "out"
    campaign.export(old, out)
    first = contents(out)
    campaign.export(old, out)
    assert contents(out) == first
    files = campaign.export(new, out)
    assert {path.name for path in out.iterdir()} == {path.name for path in files}
    assert not (out / "only_old.csv").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"old.json", "new.json", "out"}, "no drafts are left"
    (out / "export.json").write_text("{}")
    with pytest.raises(DataError, match="no list of a whole export"):
        exports.read_csv(out / "shared.csv")


@needs_fork
def test_an_export_that_is_killed_leaves_the_earlier_one(tmp_path, versions, monkeypatch):
    (old, new), out = versions, tmp_path / "out"
    campaign.export(old, out)
    before = contents(out)
    child = os.fork()
    if not child:
        monkeypatch.setattr(paperwork, "files", lambda report: os._exit(9))
        campaign.export(new, out)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert contents(out) == before
    campaign.export(new, out)
    assert is_whole(out)


@needs_fork
@both_ways
def test_exports_at_the_same_time_follow_one_another(others, tmp_path, versions):
    """Each found the other's files half there: a traceback, or files of both reports in one folder."""
    children = []
    (tmp_path / "out").mkdir()
    if others:
        (tmp_path / "out/main.tex").write_text("mine")
    for number in range(3):
        if not (child := os.fork()):
            with contextlib.suppress(BaseException):
                for _ in range(3):
                    campaign.export(versions[number % 2], tmp_path / "out")
                os._exit(0)
            os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 3
    assert is_whole(tmp_path / "out", beside={"main.tex"} if others else set())


@pytest.mark.parametrize("name", ["shared.csv", "export.json", "methods.md"])
def test_what_no_export_wrote_or_somebody_filled_in_is_not_written_over(name, tmp_path, versions):
    (old, new), out = versions, tmp_path / "out"
    out.mkdir()
    (out / name).write_text("[]")
    with pytest.raises(DataError, match=name):
        campaign.export(old, out)
    assert contents(out) == {name: b"[]"}
    (out / name).unlink()
    campaign.export(old, out)
    (out / "methods.md").write_text("My own words.")
    with pytest.raises(DataError, match=r"methods\.md"):
        campaign.export(new, out)
    assert (out / "methods.md").read_text() == "My own words."
    assert (out / "only_old.csv").exists()
