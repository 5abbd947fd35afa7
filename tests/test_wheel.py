"""The wheel in an environment of its own: every command works from an empty folder and writes only there."""

import json
import subprocess
import zipfile

import pytest

from evalkit import ROOT, __version__

pytestmark = pytest.mark.slow

SHEET = "system,doc,segment,annotator,score\n" + "".join(
    f"{system},d{segment % 4},{segment},{annotator},{60 + 7 * number + 3 * (segment * 7 % 5) - 2 * (segment % 3)}\n"
    for number, system in enumerate(("one", "two", "three"))
    for segment in range(24)
    for annotator in ("Ann", "Bob")
)


def test_the_wheel_carries_the_clones_own_notebooks_tables_and_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        carried = {name.removeprefix("evalkit/project/") for name in names if name.startswith("evalkit/project/")}
        for name in carried:
            assert archive.read(f"evalkit/project/{name}") == (ROOT / name).read_bytes()
        [entry] = [name for name in names if name.endswith("METADATA")]
        described = archive.read(entry).decode()
    listed = ["git", "ls-files", "-z", "notebooks", "data"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert carried == set(filter(None, tracked.split("\0")))
    assert "evalkit/py.typed" in names
    assert f"\nVersion: {__version__}\n" in described
    assert "\nRequires-Python: >=3.11\n" in described
    assert {"lab", "distributed", "dev"} == {
        line.partition(": ")[2] for line in described.splitlines() if line.startswith("Provides-Extra")
    }


def test_everything_can_be_imported(installed, tmp_path):
    every = (
        "import importlib, pkgutil, evalkit\n"
        "for module in pkgutil.walk_packages(evalkit.__path__, 'evalkit.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "print(evalkit.__file__)"
    )
    assert installed.python("-c", every, folder=tmp_path).split() == [str(installed.package / "__init__.py")]
    assert list(tmp_path.iterdir()) == []


def test_a_campaign_goes_from_file_to_paper(installed, tmp_path):
    before = installed.written()
    (tmp_path / "scores.csv").write_text(SHEET)
    languages = ["--value", "src_lang=deu", "--value", "tgt_lang=eng"]
    assert installed.evalkit("import", "scores.csv", *languages, folder=tmp_path).split()[0] == "campaign.parquet"
    printed = installed.evalkit("run", "campaign", "-p", "file=campaign.parquet", folder=tmp_path).split()
    assert printed == [str(tmp_path / "reports" / name) for name in ("index.html", "campaign.html")]
    assert installed.evalkit("export", "reports/campaign.json", "--out", "paper", folder=tmp_path)
    assert installed.evalkit("new", "campaign", "spring", folder=tmp_path).split() == ["spring"]
    copies = installed.evalkit("student", folder=tmp_path).split()
    assert len(copies) == len(list((ROOT / "notebooks" / "lessons").glob("*.ipynb")))
    count = "from evalkit import data; print(len(data.published('licht2022_table6')))"
    assert int(installed.python("-c", count, folder=tmp_path)) > 1
    there = {path.name for path in tmp_path.iterdir()}
    made = {"campaign.parquet", "campaign.import.json", "reports", "paper", "spring", "student"}
    assert there == made | {"scores.csv"}
    assert installed.written() == before


def test_all_studies_run_on_simulated_data(installed, simulated_reports):
    """What those reports show is tested in ``test_studies.py``."""
    folder = simulated_reports()
    assert [path.name for path in folder.parent.iterdir()] == ["reports"]
    assert "campaign" in installed.evalkit("list", folder=folder.parent)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    assert {report["study"] for report in reports} == {
        path.stem for path in (ROOT / "notebooks/studies").glob("*.ipynb")
    }
    assert {report["status"] for report in reports} == {"ok"}
    assert all(report["signature"].startswith(f"evalkit:{__version__}|") for report in reports)


def test_what_belongs_to_a_clone_says_so(installed, tmp_path):
    for command in (["tidy"], ["new", "study", "mine", "--data", "wmt-slt22", "--title", "T"]):
        with pytest.raises(AssertionError, match="this is an installation"):
            installed.evalkit(*command, folder=tmp_path)
