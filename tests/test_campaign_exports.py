"""What `evalkit export` writes: tables, LaTeX, and the folder that appears all at once."""

import csv as plain_csv
import errno
import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, campaign
from evalkit.campaign import exports, paperwork
from evalkit.campaign.exports import placing, tables
from evalkit.campaign.paperwork.markup import tex
from evalkit.data import registry
from evalkit.data.spreadsheets import guarded, unguarded
from evalkit.reports import cli


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report in the shape of a study's JSON, with hostile names."""
    recorded = {
        "rankings": [{"system": "a_b & $x$ \\input{y}", "score": 1.23456, "sure": True, "note": None},
                     {"system": "=1+1", "score": None, "sure": False, "note": "x"}],
        "nested": [{"name": "n", "value": [1, 2]}, {"name": "m", "value": None}], "alpha": 0.5, "none": [],
        "methods": {"text": "By a_b *and* more (Holm 1979).", "markdown": "", "references": ["Holm, S. (1979)."]},
        "long": [{"n": number} for number in range(100)], "../odd name": [{"n": 1}],
    }  # fmt: skip
    found = {"study": "campaign", "title": "t", "status": "ok", "seconds": 1.0, "parameters": {"seed": 7},
             "data": [{"name": "mine", "source": "simulated", "origin": "o", "digest": "d"}], "recorded": recorded,
             "published": [], "headline": "h", "signature": "evalkit:0.1.0|data:x@1|seed:7"}  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "campaign.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_exports_hold_every_table_to_the_last_digit(report, tmp_path):
    written = {path.name for path in campaign.export(report, tmp_path / "out")}
    recorded = json.loads(report.read_text(encoding="utf-8"))["recorded"]
    for name in ("rankings", "nested", "long"):
        assert {f"{name}.csv", f"{name}.parquet"} <= written
    csv, parquet = exports.read_csv(tmp_path / "out/rankings.csv"), pd.read_parquet(tmp_path / "out/rankings.parquet")
    assert csv["system"].tolist() == parquet["system"].tolist() == [row["system"] for row in recorded["rankings"]]
    assert csv["score"].iloc[0] == parquet["score"].iloc[0] == 1.23456
    assert parquet["sure"].tolist() == [True, False]
    assert pd.isna(parquet["score"].iloc[1])
    assert "long.tex" not in written
    assert "rankings.tex" in written
    assert {path.parent for path in campaign.export(report, tmp_path / "out")} == {tmp_path / "out"}
    assert json.loads((tmp_path / "out/values.json").read_text(encoding="utf-8"))["alpha"] == 0.5


def test_latex_and_markdown_escape_what_comes_from_data(report, tmp_path):
    campaign.export(report, tmp_path)
    text = (tmp_path / "rankings.tex").read_text(encoding="utf-8")
    assert r"a\_b \& \$x\$ \textbackslash{}input\{y\} & 1.235 & yes & -- \\" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    assert "seed:7" in text.splitlines()[0]
    markdown = (tmp_path / "methods.md").read_text(encoding="utf-8")
    assert r"By a\_b \*and\* more (Holm 1979)." in markdown
    assert "SIMULATED" in markdown
    assert "evalkit:0.1.0|data:x@1|seed:7" in markdown
    assert "Holm, S." in markdown
    assert "Signature: evalkit:0.1.0|data:x@1|seed:7" in (tmp_path / "methods.txt").read_text(encoding="utf-8")


def test_latex_of_any_text_keeps_braces_balanced_and_nothing_unescaped():
    for text in ("\\", "{{}", "%", "a\nb", "^~", "_#&$", "<|>", "\\end{tabular}", "✓ fine", "`x`", "“q”…"):
        found = tex(text)
        bare = re.sub(r"\\[{}$&#_%]", "", found)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert not set("%#&_^~\n`✓") & set(bare.replace("``", ""))


def test_a_row_of_latex_cannot_be_taken_for_an_option_and_strange_letters_are_announced():
    table = pd.DataFrame({"system": ["[2cm]", "*", "b"], "score": [-0.5, None, 1e-7], "note": ["-x", "--", "ü"]})
    lines = exports.latex(table, name="t").splitlines()
    assert r"{}[2cm] & $-$0.5 & -x \\" in lines
    assert r"{}* & -- & -- \\" in lines
    assert not any(line.startswith("%") for line in lines)
    assert exports.latex(table.assign(note="字"), name="t").startswith("% Some letters")


def test_tables_whose_names_make_the_same_file_do_not_meet(report, tmp_path):
    found = json.loads(report.read_text(encoding="utf-8"))
    found["recorded"] = {"a b": [{"x": 1}], "a/b": [{"x": 2}], "A_B": [{"x": 3}], "huge": [{"x": 1}]}
    found["recorded"]["methods"] = {"text": "t", "references": 5}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    campaign.export(path, tmp_path / "out")
    values = [pd.read_csv(tmp_path / "out" / f"{name}.csv")["x"].iloc[0] for name in ("a_b", "a_b_2", "A_B_3")]
    assert values == [1, 2, 3]
    found["recorded"] = {"huge": [{"x": 10**30}]}
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(DataError, match="the table huge is none that a study writes"):
        campaign.export(path, tmp_path / "other")


@pytest.mark.parametrize(("content", "problem"), [
    ("[]", "no report of a study"), ("{", "no JSON report"), ('{"study": "x"}', "no report of a study"),
    (json.dumps({"study": "x", "status": "failed", "recorded": {}, "signature": "", "data": [], "parameters": {}}),
     "the study x failed"),
    (json.dumps({"study": "x", "status": "ok", "recorded": {}, "signature": "", "data": ["x"], "parameters": {}}),
     "no report of a study"),
    ('{"study": "camp', "no JSON report"), ("[" * 100_000, "no JSON report"),
])  # fmt: skip
def test_what_is_no_good_report_is_refused_in_a_sentence(content, problem, tmp_path, capsys):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    assert cli.main(["export", str(tmp_path / "r.json"), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_prints_the_files_it_wrote(report, tmp_path, capsys):
    assert cli.main(["export", str(report), "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all((tmp_path / "out" / line.rpartition("/")[2]).is_file() for line in lines)
    assert cli.main(["export", str(tmp_path / "absent.json"), "--out", str(tmp_path)]) == 1
    assert cli.main(["export", str(report), "--out", str(report)]) == 1


def test_columns_of_sentences_break_lines_in_latex():
    table = pd.DataFrame({"check": ["short"], "found": ["a long sentence " * 5], "to_do": ["x" * 41], "n": [1]})
    assert r"\begin{tabular}{lp{0.38\linewidth}p{0.38\linewidth}r}" in exports.latex(table, name="t").splitlines()
    assert r"\begin{tabular}{lr}" in exports.latex(table[["check", "n"]], name="t").splitlines()


#: What spreadsheets take for the beginning of a formula.
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


@given(st.text(max_size=12) | st.tuples(st.sampled_from([*STARTS, "'", " ="]), st.text(max_size=8)).map("".join))
def test_no_text_runs_in_a_spreadsheet_and_every_text_comes_back(text):
    written = guarded(text)
    assert unguarded(written) == text
    if written.lstrip().startswith(STARTS) or written.startswith(STARTS):
        float(written)  # a number is all it can be
    else:
        assert written in (text, f"'{text}")


TEXTS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\r=1", "'", "'=1", "007", "1e5", "-5", "NA", "None",
         "True", "a,b", 'q"q', "é字", " lead", "  =1+1", "line\nend"]  # fmt: skip


def exported(recorded, folder):
    """Export a report that records these values."""
    found = {"study": "s", "status": "ok", "parameters": {}, "data": [], "recorded": recorded, "signature": "s|1"}
    path = folder / "r.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    campaign.export(path, folder / "out")
    return folder / "out"


def test_csv_holds_no_formula_and_is_read_back_as_it_was_recorded(tmp_path):
    rows = [{"system": text, "=score": number - 2.5, "n": -number, "sure": number % 2 == 0, "gap": None}
            for number, text in enumerate(TEXTS)]  # fmt: skip
    out = exported({"table": rows, "mixed": [{"value": -0.5}, {"value": "=1"}, {"value": 3}]}, tmp_path)
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
    assert "apostrophe" in json.loads((out / "export.json").read_text(encoding="utf-8"))["csv"]


def contents(folder):
    """Everything in a folder, byte by byte."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def versions(folder):
    """Write two reports that share a table and have one each of their own; return their paths."""
    made = []
    for name in ("old", "new"):
        recorded = {"shared": [{"x": name}], f"only_{name}": [{"y": 1}]}
        found = {"study": name, "status": "ok", "parameters": {}, "data": [], "recorded": recorded, "signature": name}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(found), encoding="utf-8")
        made.append(path)
    return made


def is_whole(folder):
    """Tell that a folder holds one export: every file that its list names, as it names it, and no other."""
    listed = json.loads((folder / "export.json").read_text(encoding="utf-8"))["files"]
    there = {path.name for path in folder.iterdir()} - {"export.json"}
    return there == set(listed) and all(registry.digest(folder / name) == listed[name] for name in listed)


def test_two_exports_of_a_report_are_the_same_bytes_and_nothing_of_an_earlier_one_stays(tmp_path):
    old, new = versions(tmp_path)
    campaign.export(old, tmp_path / "out")
    first = contents(tmp_path / "out")
    campaign.export(old, tmp_path / "out")
    assert contents(tmp_path / "out") == first
    written = campaign.export(new, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {path.name for path in written}
    assert is_whole(tmp_path / "out")
    assert not (tmp_path / "out/only_old.csv").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"old.json", "new.json", "out"}, "no drafts are left"


#: Where an export can be stopped: a step, and how many of its calls go well first.
STEPS = [(tables, "write", 0), (tables, "write", 1), (paperwork, "files", 0), (placing, "_exchanged", 0),
         (shutil, "rmtree", 0)]  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize(("module", "step", "good"), STEPS)
def test_an_export_that_is_killed_leaves_the_earlier_one_or_the_new_one(module, step, good, tmp_path, monkeypatch):
    old, new = versions(tmp_path)
    campaign.export(old, tmp_path / "out")
    before = contents(tmp_path / "out")
    original, calls = getattr(module, step), []

    def killed(*arguments, **options):
        calls.append(step)
        if len(calls) > good:
            os._exit(9)
        return original(*arguments, **options)

    child = os.fork()
    if not child:
        monkeypatch.setattr(module, step, killed)
        campaign.export(new, tmp_path / "out")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert is_whole(tmp_path / "out")
    assert contents(tmp_path / "out") == before or (tmp_path / "out/only_new.csv").exists()
    campaign.export(new, tmp_path / "out")
    assert is_whole(tmp_path / "out")


def test_a_full_disk_leaves_the_earlier_export_and_no_draft(tmp_path, monkeypatch, capsys):
    old, new = versions(tmp_path)
    campaign.export(old, tmp_path / "out")
    before = contents(tmp_path / "out")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert cli.main(["export", str(new), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "No space left" in told
    assert told.count("\n") == 1
    assert contents(tmp_path / "out") == before
    assert {path.name for path in tmp_path.iterdir()} == {"old.json", "new.json", "out"}


def test_what_others_keep_in_the_folder_stays(tmp_path, monkeypatch):
    old, new = versions(tmp_path)
    out = tmp_path / "paper"
    (out / "figures").mkdir(parents=True)
    (out / "main.tex").write_text("mine")
    for report in (old, new):
        campaign.export(report, out)
    assert (out / "main.tex").read_text() == "mine"
    assert (out / "figures").is_dir()
    assert not (out / "only_old.csv").exists()
    assert (out / "only_new.csv").exists()
    alone = tmp_path / "alone"
    campaign.export(old, alone)
    monkeypatch.chdir(alone)
    campaign.export(new, Path())
    assert Path.cwd() == alone
    assert is_whole(alone), "whoever stands in the folder still stands in it"


def test_a_system_that_cannot_exchange_folders_moves_files(tmp_path, monkeypatch):
    old, new = versions(tmp_path)
    campaign.export(old, tmp_path / "out")
    monkeypatch.setattr(placing, "_swap", lambda *_: False)
    campaign.export(new, tmp_path / "out")
    assert is_whole(tmp_path / "out")
    assert not (tmp_path / "out/only_old.csv").exists()


def test_a_file_that_somebody_filled_in_is_not_written_over(tmp_path):
    old, new = versions(tmp_path)
    campaign.export(old, tmp_path / "out")
    (tmp_path / "out/methods.md").write_text("My own words.")
    with pytest.raises(DataError, match=r"methods\.md was changed since it was exported"):
        campaign.export(new, tmp_path / "out")
    assert (tmp_path / "out/methods.md").read_text() == "My own words."
    assert (tmp_path / "out/only_old.csv").exists()


def test_half_a_letter_is_no_report(tmp_path):
    with pytest.raises(DataError, match="no JSON report"):
        exported({"table": [{"x": "\ud800"}]}, tmp_path)
