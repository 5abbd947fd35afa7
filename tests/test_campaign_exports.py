"""What `evalkit export` writes: tables, LaTeX, and the folder that appears all at once."""

import contextlib
import csv as plain_csv
import errno
import io
import json
import os
import re
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, campaign
from evalkit.campaign import exports, paperwork
from evalkit.campaign.exports import placing, tables
from evalkit.campaign.paperwork.markup import tex
from evalkit.data import files, registry
from evalkit.data.spreadsheets import guarded, unguarded
from evalkit.reports import cli


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report in the shape of a study's JSON, with hostile names."""
    recorded = {
        "rankings": [
            {"system": "a_b & $x$ \\input{y}", "score": 1.23456, "sure": True, "note": None},
            {"system": "=1+1", "score": None, "sure": False, "note": "x"},
        ],
        "nested": [{"name": "n", "value": [1, 2]}, {"name": "m", "value": None}],
        "alpha": 0.5,
        "none": [],
        "methods": {"text": "By a_b *and* more (Holm 1979).", "markdown": "", "references": ["Holm, S. (1979)."]},
        "long": [{"n": number} for number in range(100)],
        "../odd name": [{"n": 1}],
    }
    found = {
        "study": "campaign",
        "title": "t",
        "status": "ok",
        "seconds": 1.0,
        "parameters": {"seed": 7},
        "data": [{"name": "mine", "source": "simulated", "origin": "o", "digest": "d"}],
        "recorded": recorded,
        "published": [],
        "headline": "h",
        "signature": "evalkit:0.1.0|data:x@1|seed:7",
    }
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


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[]", "no report of a study"),
        ("{", "no JSON report"),
        ('{"study": "x"}', "no report of a study"),
        (
            json.dumps(
                {"study": "x", "status": "failed", "recorded": {}, "signature": "", "data": [], "parameters": {}}
            ),
            "the study x failed",
        ),
        (
            json.dumps(
                {"study": "x", "status": "ok", "recorded": {}, "signature": "", "data": ["x"], "parameters": {}}
            ),
            "no report of a study",
        ),
        ('{"study": "camp', "no JSON report"),
        ("[" * 100_000, "no JSON report"),
    ],
)
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


@given(LETTERS, LETTERS)
def test_no_program_that_cuts_cells_elsewhere_finds_a_formula_in_a_csv(one, other):
    stream = io.StringIO()
    plain_csv.writer(stream).writerow([guarded(one), guarded(other)])
    for sign in ";\t":  # as Excel does where commas are decimal marks: quotes inside a cell are letters
        for row in plain_csv.reader(io.StringIO(stream.getvalue(), newline=""), delimiter=sign):
            for cell in row:
                if cell.lstrip('\0\ufeff\u200b" ').startswith(STARTS):
                    float(cell.partition(",")[0])  # a number, or one and the next cell, which runs nothing


TEXTS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\tx",
    "\r=1",
    "'",
    "'=1",
    "007",
    "1e5",
    "-5",
    "NA",
    "None",
    "True",
    "a,b",
    'q"q',
    "é字",
    " lead",
    "  =1+1",
    "line\nend",
]


def exported(recorded, folder):
    """Export a report that records these values."""
    found = {"study": "s", "status": "ok", "parameters": {}, "data": [], "recorded": recorded, "signature": "s|1"}
    path = folder / "r.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    campaign.export(path, folder / "out")
    return folder / "out"


def test_csv_holds_no_formula_and_is_read_back_as_it_was_recorded(tmp_path):
    rows = [
        {"system": text, "=score": number - 2.5, "n": -number, "sure": number % 2 == 0, "gap": None}
        for number, text in enumerate(TEXTS)
    ]
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


def versions(folder, tables=1):
    """Write two reports that share a table and have one each of their own, or some; return their paths."""
    made = []
    for name in ("old", "new"):
        recorded = {"shared": [{"x": name}], f"only_{name}": [{"y": 1}]}
        recorded |= {f"table_{number}": [{name: number}] for number in range(1, tables)}
        found = {"study": name, "status": "ok", "parameters": {}, "data": [], "recorded": recorded, "signature": name}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(found), encoding="utf-8")
        made.append(path)
    return made


def is_whole(folder, beside=frozenset()):
    """Tell that a folder holds one export: every file that its list names, as it names it, and no other but some."""
    listed = json.loads((folder / "export.json").read_text(encoding="utf-8"))["files"]
    there = {path.name for path in folder.iterdir()} - {"export.json"} - beside
    there -= {name for name in there if name.endswith(".evalkit-part")}  # of killed exports, hidden; cleared away later
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
STEPS = [
    (tables, "write", 0),
    (tables, "write", 1),
    (paperwork, "files", 0),
    (placing, "_exchanged", 0),
    (shutil, "rmtree", 0),
]


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside other files"])
def test_exports_at_the_same_time_follow_one_another(others, tmp_path):
    """Each found the other's files half there: a traceback, or files of both reports in one folder."""
    reports, children = versions(tmp_path, tables=3), []
    (tmp_path / "out").mkdir()
    if others:
        (tmp_path / "out/main.tex").write_text("mine")
    for number in range(4):
        if not (child := os.fork()):
            with contextlib.suppress(BaseException):
                for _ in range(5):
                    campaign.export(reports[number % 2], tmp_path / "out")
                os._exit(0)
            os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert is_whole(tmp_path / "out", beside={"main.tex"} if others else set())
    assert len(list(tmp_path.iterdir())) == 3, "no drafts are left"


def test_who_keeps_the_folder_for_long_is_told(tmp_path, monkeypatch):
    pytest.importorskip("fcntl", reason="does not apply: this system locks no folders")
    monkeypatch.setattr(files, "_PATIENCE", 0.1)
    old, _ = versions(tmp_path)
    with files.alone(tmp_path), pytest.raises(DataError, match=r"Another process has been writing into .*, and try ag"):
        campaign.export(old, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    campaign.export(old, tmp_path / "out")
    assert is_whole(tmp_path / "out")


def ends_in(child, seconds):
    """Wait for a child that may be killed after so many seconds; return how it ended."""
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside other files"])
def test_no_kill_at_any_moment_leaves_two_reports_mixed_that_pass_for_one(others, tmp_path):
    reports, rng, killed = versions(tmp_path, tables=6), np.random.default_rng(7), 0
    (tmp_path / "out").mkdir()
    if others:
        (tmp_path / "out/main.tex").write_text("mine")
    begun = time.monotonic()
    campaign.export(reports[0], tmp_path / "out")
    took = time.monotonic() - begun
    for number in range(50):
        child = os.fork()
        if not child:
            campaign.export(reports[(number + 1) % 2], tmp_path / "out")
            os._exit(0)
        killed += bool(ends_in(child, rng.uniform(0, 1.2 * took)))
        listed = json.loads((tmp_path / "out/export.json").read_text(encoding="utf-8"))
        if "unfinished" in listed:
            assert others
            with pytest.raises(DataError, match="no list of a whole export"):
                exports.read_csv(next((tmp_path / "out").glob("*.csv")))
            campaign.export(reports[number % 2], tmp_path / "out")
        assert is_whole(tmp_path / "out", beside={"main.tex"} if others else set())
    assert killed >= 20, "most exports were killed"


@pytest.mark.parametrize("others", [False, True], ids=["alone", "beside other files"])
def test_files_that_cannot_be_written_leave_the_earlier_export(others, tmp_path, capsys):
    resource = pytest.importorskip("resource")
    old, new = versions(tmp_path, tables=2)
    campaign.export(old, tmp_path / "out")
    if others:
        (tmp_path / "out/main.tex").write_text("mine")
    before = contents(tmp_path / "out")
    for most in (0, 1, 15, 100, 500, 1500):
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            assert cli.main(["export", str(new), "--out", str(tmp_path / "out")]) == 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert contents(tmp_path / "out") == before
        assert {path.name for path in tmp_path.iterdir()} == {"old.json", "new.json", "out"}, "no drafts are left"
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 6
    assert all("File too large" in line for line in told)


def test_an_export_that_was_interrupted_among_other_files_says_so_and_the_next_one_clears_up(tmp_path, monkeypatch):
    old, new = versions(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/main.tex").write_text("mine")
    campaign.export(old, tmp_path / "out")
    moved = []

    def stopped(source, target):
        moved.append(Path(target).name)
        if len(moved) == 4:
            raise KeyboardInterrupt
        os.rename(source, target)

    monkeypatch.setattr(placing.os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        campaign.export(new, tmp_path / "out")
    monkeypatch.undo()
    assert moved[0] == "export.json", "what tells that it is unfinished comes first"
    assert "two reports" in json.loads((tmp_path / "out/export.json").read_text(encoding="utf-8"))["unfinished"]
    with pytest.raises(DataError, match="no list of a whole export"):
        exports.read_csv(tmp_path / "out/shared.csv")
    campaign.export(new, tmp_path / "out")
    assert is_whole(tmp_path / "out", beside={"main.tex"})


@pytest.mark.parametrize("name", ["shared.csv", "export.json", "methods.md"])
def test_a_file_that_no_export_wrote_is_not_written_over(name, tmp_path):
    old, _ = versions(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("[]")
    with pytest.raises(DataError, match=f"{name} was not written by an export"):
        campaign.export(old, tmp_path / "out")
    assert contents(tmp_path / "out") == {name: b"[]"}


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


@pytest.mark.parametrize(
    ("recorded", "problem"),
    [
        ('{"a": [{"x": NaN}]}', "no JSON report"),
        ('{"a": 1e999}', "no JSON report"),
        ('{"a": 1, "a": 2}', "there twice"),
        ('{"a": ' + "[" * 60 + "]" * 60 + "}", "lists within lists"),
        ('{"a": [' + "[]," * 1_000_000 + "0]}", "more than 1,000,000 lists"),
    ],
)
def test_a_report_that_could_not_be_written_again_as_it_is_is_refused(recorded, problem, tmp_path):
    head = '{"study": "s", "status": "ok", "parameters": {}, "data": [], "signature": "", "recorded": '
    (tmp_path / "r.json").write_text(f"{head}{recorded}}}")
    with pytest.raises(DataError, match=problem):
        campaign.export(tmp_path / "r.json", tmp_path / "out")


@pytest.mark.parametrize("place", ["pipe", "/dev/zero", "folder"])
def test_what_is_no_file_is_no_report(place, tmp_path):
    (tmp_path / "folder").mkdir()
    if place == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("the system has no pipes with names")
        os.mkfifo(tmp_path / "pipe")
    if not (tmp_path / place).exists():
        pytest.skip(f"the system has no {place}")
    with pytest.raises(DataError, match="cannot be read: Is a dir" if place == "folder" else "is a pipe or a device"):
        campaign.export(tmp_path / place, tmp_path / "out")


def test_whole_numbers_that_floats_would_round_stay_whole(tmp_path):
    huge = 2**53 + 1
    recorded = {
        "gaps": [{"n": huge}, {"n": None}, {"n": 1}],
        "mixed": [{"n": huge}, {"n": 0.5}, {}],
        "": [{"": 1}],
        "nested": [{"n": ""}, {"n": [1]}, {}],
        "rows": [{"a": "x"}, {"b": 1}, {"b": "y"}, {}],
    }
    out = exported(recorded, tmp_path)
    for name, cells in (("gaps", [huge, None, 1]), ("mixed", [str(huge), "0.5", None])):
        for table in (exports.read_csv(out / f"{name}.csv"), pd.read_parquet(out / f"{name}.parquet")):
            assert [None if pd.isna(cell) else cell for cell in table["n"]] == cells
    assert list(exports.read_csv(out / "table.csv")) == [""], "a heading may be empty"
    assert exports.read_csv(out / "rows.csv")["b"].isna().tolist() == [True, False, False, True], "a gap is no text"


def test_headings_may_hold_any_letters(tmp_path):
    out = exported({"t": [{"a{b}%s": 1, "é": 2, "e\u0301": 3}], "𝔘" * 90: [{"x": 1}], "con": [{"x": 1}]}, tmp_path)
    assert r"a\{b\}\%s & é & é \\" in (out / "t.tex").read_text(encoding="utf-8")
    assert list(exports.read_csv(out / "t.csv")) == ["a{b}%s", "é", "e\u0301"]
    assert (out / "con_2.csv").is_file(), "a name that is a device to Windows"
    assert exports.latex(pd.DataFrame({"[2cm]": [1]}), name="t").splitlines()[5] == r"{}[2cm] \\"
