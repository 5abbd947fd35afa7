"""What holds whatever happens: runs and exports that are killed or meet each other, texts that would run, Pythons."""

import contextlib
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from evalkit import ROOT, campaign
from evalkit.campaign import exports, paperwork
from evalkit.data import registry
from evalkit.reports import execute, grading, kernels, notebooks
from evalkit.reports.studies import Layout, Study, read_studies
from tests.makers import project
from tests.test_lessons_classroom import KAPPA, NAMES, WRONG, hand_in, wrong

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


# Exports


def written(folder, name, recorded):
    """Write a report in the shape of a study's JSON."""
    found = {"study": "s", "status": "ok", "parameters": {}, "data": [], "recorded": recorded, "signature": "s"}
    path = folder / f"{name}.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


@pytest.fixture
def versions(tmp_path):
    """Two reports that share a table and have one each of their own."""
    return [written(tmp_path, name, {"shared": [{"x": name}], f"only_{name}": [{"y": 1}]}) for name in ("old", "new")]


def is_whole(folder):
    """Tell that a folder holds one export: every file that its list names, as it names it, and no other."""
    listed = json.loads((folder / "export.json").read_text(encoding="utf-8"))["files"]
    there = {path.name for path in folder.iterdir() if not path.name.endswith(".evalkit-part")} - {"export.json"}
    return there == set(listed) and all(registry.digest(folder / name) == listed[name] for name in listed)


@needs_fork
def test_an_export_that_is_killed_leaves_the_earlier_one(tmp_path, versions, monkeypatch):
    (old, new), out = versions, tmp_path / "out"
    campaign.export(old, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    child = os.fork()
    if not child:
        monkeypatch.setattr(paperwork, "files", lambda report: os._exit(9))
        campaign.export(new, out)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    campaign.export(new, out)
    assert is_whole(out)


@needs_fork
def test_exports_at_the_same_time_follow_one_another(tmp_path, versions):
    children = []
    for number in range(3):
        if not (child := os.fork()):
            with contextlib.suppress(BaseException):
                for _ in range(3):
                    campaign.export(versions[number % 2], tmp_path / "out")
                os._exit(0)
            os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 3
    assert is_whole(tmp_path / "out")


def test_tables_whose_names_make_the_same_file_do_not_meet(tmp_path):
    campaign.export(written(tmp_path, "r", {"a b": [{"x": 1}], "a/b": [{"x": 2}], "A_B": [{"x": 3}]}), tmp_path / "out")
    found = [exports.read_csv(tmp_path / "out" / f"{name}.csv")["x"].iloc[0] for name in ("a_b", "a_b_2", "A_B_3")]
    assert found == [1, 2, 3]


# Texts of others


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\tx",
    "\r=1",
    "'",
    "'=1",
    "  =1+1",
    "007",
    "-5",
    "NA",
    "a,b",
]


def test_csv_holds_no_formula_and_is_read_back_as_it_was_recorded(tmp_path):
    rows = [{"system": text, "=score": number - 2.5, "n": -number} for number, text in enumerate(FORMULAS)]
    campaign.export(written(tmp_path, "r", {"table": rows}), tmp_path / "out")
    with (tmp_path / "out" / "table.csv").open(encoding="utf-8", newline="") as stream:
        head, *cells = csv.reader(stream)
    assert head == ["system", "'=score", "n"]
    assert not [row[0] for row in cells if row[0].lstrip().startswith(("=", "+", "@", "-")) and row[0] != "-5"]
    assert [row[2] for row in cells[:3]] == ["0", "-1", "-2"], "negative numbers stay numbers"
    assert exports.read_csv(tmp_path / "out" / "table.csv").to_dict("records") == rows


def test_neither_a_terminal_nor_a_spreadsheet_obeys_what_students_write(tmp_path):
    hints = {NAMES[0]: wrong("\x1b[2Jgone\nsecond \x07 line"), NAMES[1]: wrong("=HYPERLINK(1)", "other")}
    for name in ("\x1b[31mred", "=cmd|'calc'!A1", "+1", "@me"):
        hand_in(tmp_path / name / KAPPA.name, {NAMES[0]: WRONG}, hints)
    found = grading.grade(tmp_path)
    assert not [letter for letter in grading.as_text(found) if not letter.isprintable() and letter != "\n"]
    cells = [cell for row in csv.reader(io.StringIO(grading.as_csv(found).removeprefix("\ufeff"))) for cell in row]
    assert not [cell for cell in cells if cell.strip().startswith(("=", "@", "-", "+")) and cell != "+1"]


# Runs


def test_of_two_runs_at_once_no_page_stands_beside_the_numbers_of_the_other(tmp_path, monkeypatch):
    """What belongs together is moved while no other run moves anything."""
    fcntl = pytest.importorskip("fcntl", reason="does not apply: this system locks no folders")
    write_text, locked = notebooks.write_text, set()

    def seen(final, text):
        folder = os.open(final.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            locked.add(final.name)
        os.close(folder)
        write_text(final, text)

    monkeypatch.setattr(notebooks, "write_text", seen)
    execute.run(None, project(tmp_path, {"one": ["assert True"]}))
    assert locked == {"one.html", "one.json"}


def test_no_kernel_outlives_its_run(tmp_path):
    notebook = Path(__file__).parent / "notebooks" / "sleeps.ipynb"
    task = Study("sleeps", notebook, "Sleeps", parameters={"marker": str(tmp_path / "asleep")})
    with ThreadPoolExecutor() as threads:
        with kernels.Kernels() as pool:
            asleep = threads.submit(kernels.execute_notebook, task, tmp_path / "a.ipynb", 60, pool)
            while not (tmp_path / "asleep").exists():
                time.sleep(0.05)
            processes = [psutil.Process(manager.provisioner.pid) for manager in pool.started]
            assert all(process.is_running() for process in processes)
        assert psutil.wait_procs(processes, timeout=5)[1] == []
        with pytest.raises(Exception, match="the kernel died"):
            asleep.result(timeout=10)


def other_pythons():
    """Return the commands of further Pythons that this suite supports and that start here."""
    found = {}
    for minor in ("3.12", "3.13", "3.14"):
        path = shutil.which(f"python{minor}")
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            found[minor] = path
    return {minor: path for minor, path in found.items() if sys.version_info[:2] != tuple(map(int, minor.split(".")))}


@pytest.mark.nightly
@pytest.mark.skipif(not other_pythons(), reason="no further Python on this machine: python3.12 or newer on the PATH")
def test_further_pythons_record_the_same_to_the_bit(on_real_data, tmp_path):
    for minor, path in other_pythons().items():
        subprocess.run([path, "-m", "venv", "--without-pip", tmp_path / minor], check=True)
        python = tmp_path / minor / "bin" / "python"
        install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        subprocess.run([*install, "--constraint", "requirements.lock", "--editable", "."], cwd=ROOT, check=True)
        told = tmp_path / f"reports-{minor}"
        subprocess.run([python, "-m", "evalkit.reports.cli", "run", "--all", "--out", told], cwd=ROOT, check=True)
        for name in read_studies(Layout()):
            here, there = (json.loads((one / f"{name}.json").read_text("utf-8")) for one in (on_real_data, told))
            for part in ("headline", "recorded", "published", "signature"):
                assert here[part] == there[part], f"{name}, {part}, Python {minor}"
