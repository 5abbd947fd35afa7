"""The wheel in an environment of its own: every command works from an empty folder and writes only there."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from evalkit import ROOT, __version__
from evalkit.reports.studies import Layout, read_studies

pytestmark = pytest.mark.slow

SHEET = "system,doc,segment,annotator,score\n" + "".join(
    f"{system},d{segment % 4},{segment},{annotator},{60 + 7 * number + 3 * (segment * 7 % 5) - 2 * (segment % 3)}\n"
    for number, system in enumerate(("one", "two", "three"))
    for segment in range(24)
    for annotator in ("Ann", "Bob")
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel with what is installed here, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Install the wheel beside the packages that are here, read-only; give its folder and what runs a command."""
    home = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python, wheel]
    subprocess.run([sys.executable, "-m", *install], check=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.check_output([python, "-c", where], text=True).strip())
    # a line in a .pth file names a folder, but obeys no .pth file there: the clone that is installed here stays unseen
    (site / "packages.pth").write_text(sysconfig.get_path("purelib"))
    package = site / "evalkit"
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EVALKIT_", "PYTHON", "XDG_"))}
    environment = kept | {
        "HOME": str(home), "EVALKIT_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1",
        "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),  # nbconvert's own templates lie beside its package
    }  # fmt: skip

    def run(*command, folder):
        done = subprocess.run([python, *command], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    yield package, run
    for path in [package, *package.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)  # for whoever clears the folder away


def evalkit(*words):
    """Return the words of Python's command line that run one of ours."""
    return ["-m", "evalkit.reports.cli", *words]


def snapshot(folder):
    """Tell what lies in a folder."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


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
    package, run = installed
    every = (
        "import importlib, pkgutil, evalkit\n"
        "for module in pkgutil.walk_packages(evalkit.__path__, 'evalkit.'):\n"
        "    if not module.name.endswith('__main__'): importlib.import_module(module.name)\n"
        "print(evalkit.__file__)"
    )
    assert run("-c", every, folder=tmp_path).split() == [str(package / "__init__.py")]
    assert list(tmp_path.iterdir()) == []


def test_a_campaign_goes_from_file_to_paper(installed, tmp_path):
    package, run = installed
    before = snapshot(package)
    (tmp_path / "scores.csv").write_text(SHEET)
    languages = ["--value", "src_lang=deu", "--value", "tgt_lang=eng"]
    assert run(*evalkit("import", "scores.csv", *languages), folder=tmp_path).split()[0] == "campaign.parquet"
    printed = run(*evalkit("run", "campaign", "-p", "file=campaign.parquet"), folder=tmp_path).split()
    assert printed == [str(tmp_path / "reports" / name) for name in ("campaign.html", "index.html")]
    assert run(*evalkit("export", "reports/campaign.json", "--out", "paper"), folder=tmp_path)
    assert run(*evalkit("new", "campaign", "spring"), folder=tmp_path).split() == ["spring"]
    copies = run(*evalkit("student"), folder=tmp_path).split()
    assert len(copies) == len(list((ROOT / "notebooks" / "lessons").glob("*.ipynb")))
    table = run("-c", "from evalkit import data; print(len(data.published('licht2022_table6')))", folder=tmp_path)
    assert int(table) > 1
    there = {path.name for path in tmp_path.iterdir()}
    made = {"campaign.parquet", "campaign.import.json", "reports", "paper", "spring", "student"}
    assert there == made | {"scores.csv"}
    assert snapshot(package) == before


def test_all_studies_run_on_simulated_data(installed, tmp_path):
    package, run = installed
    before = snapshot(package)
    assert "campaign" in run(*evalkit("list"), folder=tmp_path)
    run(*evalkit("run", "--all"), folder=tmp_path)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "reports").glob("*.json")]
    assert {report["study"] for report in reports} == set(read_studies(Layout()))
    assert {report["status"] for report in reports} == {"ok"}
    assert all(report["signature"].startswith(f"evalkit:{__version__}|") for report in reports)
    assert snapshot(package) == before


def test_what_belongs_to_a_clone_says_so(installed, tmp_path):
    _, run = installed
    for command in (["tidy"], ["new", "study", "mine", "--data", "wmt-slt22", "--title", "T"]):
        with pytest.raises(AssertionError, match="this is an installation"):
            run(*evalkit(*command), folder=tmp_path)
