"""The house: pins, what notebooks may hold, what was frozen, and what README and CONTRIBUTING print, done as it stands there."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evalkit import ROOT, __version__
from evalkit.reports import cli, notebooks
from tests import makers
from tests.frozen import __main__ as frozen_main
from tests.frozen.commands import judge, texts
from tests.frozen.comparing import compare
from tests.frozen.store import Refused, Store
from tests.frozen.tables import frozen
from tests.test_studies import check_simulated

STUDIES = sorted((ROOT / "notebooks" / "studies").glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_every_direct_dependency_is_pinned_exactly_and_installed_so():
    pinned = {canonicalize_name(pin.name): pin for pin in map(Requirement, LOCK.splitlines())}
    extras = chain.from_iterable(PROJECT["project"]["optional-dependencies"].values())
    for requirement in map(Requirement, [*PROJECT["project"]["dependencies"], *extras]):
        if (name := canonicalize_name(requirement.name)) == "evalkit":
            continue
        [pin] = pinned[name].specifier
        assert pin.operator == "=="
        assert pin.version in requirement.specifier
        if requirement.marker is None or requirement.marker.evaluate():
            assert metadata.version(name) == pin.version
    assert "://" not in LOCK


def test_what_the_package_imports_is_a_dependency_of_its_own():
    """Nothing is there only because another package happens to bring it; what is not installed here is neural."""
    brought = metadata.packages_distributions()
    extras = PROJECT["project"]["optional-dependencies"]
    direct = [*PROJECT["project"]["dependencies"], *extras["lab"], *extras["distributed"]]
    own = {canonicalize_name(Requirement(text).name) for text in direct}
    for path in (ROOT / "evalkit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in {name.partition(".")[0] for name in names} - {"evalkit"} - sys.stdlib_module_names:
                bringing = set(map(canonicalize_name, brought.get(name, ())))
                assert not bringing or bringing & own, f"{path} imports {name}"


def test_conda_gives_the_same_pins_as_make():
    from rattler import MatchSpec

    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *packages, last = environment["dependencies"]
    specs = {spec.name.normalized: spec for spec in map(MatchSpec, packages)}
    assert set(specs) == {"python", "pip", "make"}
    assert str(specs["python"].version) == "3.11.*" or str(specs["python"].version) == "3.11"
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    # pip gets the same two arguments on both routes, so the same lock decides every version
    assert last == {"pip": ["-c requirements.lock", "-e .[dev]"]}
    assert "--constraint requirements.lock --editable '.[dev]'" in makefile


def test_no_tracked_file_is_large_or_names_a_machine_or_a_package_index():
    machine = re.compile(r"/(root|home|Users|work|tmp)/\w|extra-index-url|trusted-host\b.*=|find-links\b.*=")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for path in (ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()):
        assert path.stat().st_size < 1_000_000, path
        found = machine.search(path.read_text(encoding="utf-8", errors="replace"))
        assert found is None or path.name == "test_project.py", f"{path}: {found[0]}"


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_opens_with_its_question_and_ends_with_its_signature(path):
    first, second, *rest = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "".join(first["source"]).startswith("# ")
    assert second["metadata"]["tags"] == ["parameters"]
    assert all(parameter.help for parameter in notebooks.parameters(path)), "a parameter has no comment"
    assert "show.signature(" in "".join(rest[-1]["source"])
    prose = "\n".join("".join(cell["source"]) for cell in rest if cell["cell_type"] == "markdown")
    # no paper prints a campaign's numbers, and its references stand with its methods
    beside = set() if path.stem == "campaign" else {"Compared with the paper", "References"}
    assert {"What to do", "Limits", *beside} <= set(re.findall(r"^## (.*)", prose, re.MULTILINE))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_cells_of_a_study_are_short_and_none_writes_over_a_parameter(path):
    """Who ran a cell that does, and then an earlier one, would see other values than a report has."""
    parameters = {parameter.name for parameter in notebooks.parameters(path)}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or "parameters" in cell["metadata"].get("tags", []):
            continue
        source = "".join(cell["source"])
        assert len([line for line in source.splitlines() if line.strip()]) <= 15, source
        assert not [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Try | ast.ClassDef)], source
        stored = [node for node in ast.walk(ast.parse(source)) if isinstance(getattr(node, "ctx", None), ast.Store)]
        assert not parameters & {getattr(node, "id", "") for node in stored}, source


# What holds later steps against what was frozen: a changed number is found, and chance excuses no more than it may.

ROWS = [{"system": name, "mean": mean, "n": 10} for name, mean in (("a", 1.0), ("b", 2.0), ("c", 3.0))]


def moved(by, rows=ROWS):
    return [row | {"mean": row["mean"] + by} for row in rows]


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (moved(1e-8), ("a", "mean")),
        ([*ROWS[:2], ROWS[2] | {"n": 11}], ("c", "n")),
        (ROWS[:2], ("c", "")),
        ([*ROWS, {"system": "d", "mean": 1.0, "n": 1}], ("d", "")),
        ([{"system": "a", "mean": 1.0}, *ROWS[1:]], ("a", "n")),
        ([ROWS[0] | {"mean": None}, *ROWS[1:]], ("a", "mean")),
    ],
    ids=["a number", "a count", "a row less", "a row more", "a cell less", "nothing instead"],
)
def test_what_changed_is_a_difference(rows, where):
    found = compare(frozen([ROWS]), rows).differences
    assert (found[0].row, found[0].column) == where


def test_chance_excuses_four_standard_deviations_over_seeds_and_no_more():
    table = frozen([moved(by) for by in (0.0, 0.1, -0.1, 0.2, -0.2)])  # their standard deviation is 0.158
    assert compare(frozen([ROWS]), ROWS[::-1]) == ([], 9, 0), "the order of rows is no difference"
    assert compare(table, moved(0.6)) == ([], 9, 3)
    assert len(compare(table, moved(0.7)).differences) == 3
    assert len(compare(table, [row | {"n": 11} for row in ROWS]).differences) == 3


def tables(**made):
    """Stand in for what the package computes: one part, one file."""
    return {"part": lambda path, seeds=False: {"part/one": {name: [rows] for name, rows in made.items()}}}


def test_what_is_frozen_is_written_over_only_with_a_reason(tmp_path):
    store = Store(tmp_path)
    frozen_main.freeze([], store, tables(t=ROWS))
    assert frozen_main.compare_all([], store, tables(t=ROWS)) == 0
    assert frozen_main.compare_all([], store, tables(t=moved(1))) == 3
    assert frozen_main.compare_all([], store, tables(u=ROWS)) == 2, "a table that is gone, and one that is new"
    for path in ("part", "part/one/t"):
        with pytest.raises(Refused, match="frozen already"):
            frozen_main.freeze([path], store, tables(t=moved(1)))
    (tmp_path / "changes.toml").write_text('[[change]]\ntable = "part/one/t"\nreason = "one more"\n', encoding="utf-8")
    frozen_main.freeze(["part/one/t"], store, tables(t=moved(1)))
    assert frozen_main.compare_all([], store, tables(t=moved(1))) == 0
    with pytest.raises(Refused, match="this very reason"):
        frozen_main.freeze(["part/one/t"], store, tables(t=moved(2)))


# What the README and CONTRIBUTING print, done as it stands there: with the wheel from an empty folder, and in a clone.

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {"README": README} | {
    page.stem: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))
}


def commands_of(page):
    """Return the words of each command of evalkit that a page prints on a line of its own."""
    lines = [line.strip() for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S) for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("evalkit ")]


COMMANDS = {name: commands_of(page) for name, page in PAGES.items()}
INLINE = [shlex.split(text)[1:] for page in PAGES.values() for text in re.findall(r"`(evalkit [a-z][^`]*)`", page)]
#: Parameters that say how long a run takes, made short: what is tried here is the way, not the numbers.
SHORT = {"wmt22_calibration_hits": ["-p", "splits=4", "-p", "resamples=20"], "campaign": ["-p", "resamples=20"]}
GIT = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
IMPORT_ALL = """
import importlib, pkgutil, evalkit
for module in pkgutil.walk_packages(evalkit.__path__, 'evalkit.'):
    if not module.name.endswith('__main__'): importlib.import_module(module.name)
from evalkit import data
print(evalkit.__file__, len(data.published('licht2022_table6')))
"""


@pytest.mark.parametrize("words", [*chain(*COMMANDS.values()), *INLINE], ids=" ".join)
def test_each_command_and_option_of_the_readme_is_known(words, capsys):
    words = [word for word in words if word != "--formats"]  # which prints its table whatever follows
    assert cli.main([*words, "--help"]) == 0
    assert "Usage: evalkit" in capsys.readouterr().out


def test_each_make_target_that_pages_name_is_there():
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    pages = "\n".join(PAGES.values()) + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {"reports", "test"} <= set(re.findall(r"(?:^|`)make ([a-z-]+)", pages, re.M)) <= set(made)


@pytest.mark.slow
def test_the_wheel_carries_the_clones_own_notebooks_tables_and_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        carried = {name.removeprefix("evalkit/project/") for name in names if name.startswith("evalkit/project/")}
        for name in carried:
            assert archive.read(f"evalkit/project/{name}") == (ROOT / name).read_bytes()
        [entry] = [name for name in names if name.endswith("METADATA")]
        described = archive.read(entry).decode()
    assert carried == set(listed("notebooks", "data"))
    assert "evalkit/py.typed" in names
    assert f"\nVersion: {__version__}\n" in described
    assert "\nRequires-Python: >=3.11\n" in described
    extras = re.findall(r"^Provides-Extra: (.*)$", described, re.M)
    assert sorted(extras) == ["dev", "distributed", "lab"]


def listed(*options):
    """Return the names of the clone's files that git lists."""
    command = ["git", "ls-files", "-z", *options]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


@pytest.mark.slow
def test_the_pages_commands_run_as_printed_with_the_wheel_and_write_only_where_one_stands(installed, tmp_path):
    before = installed.written()
    for page, commands in COMMANDS.items():
        folder = tmp_path / page
        folder.mkdir()
        texts(folder)
        makers.ratings(systems=["alpha", "beta", "gamma"]).to_csv(folder / "scores.csv", index=False)
        for words in commands:
            short = SHORT[words[1]] if words[0] == "run" else []
            printed = installed.evalkit(*words, *short, folder=folder).split()
            if words[0] == "run":
                assert printed[-1].endswith(f"{words[1]}.html"), "the report just made comes last"
            if words[:2] == ["new", "campaign"]:  # then people judge, in Pearmut
                judge(folder / "spring")
    given, made = (
        {"source.txt", "outputs", "rejected.csv", "scores.csv"},
        {"campaign.parquet", "campaign.import.json", "reports"},
    )
    written = {page: {path.name for path in (tmp_path / page).iterdir()} - given for page in PAGES}
    assert written["README"] == made | {"for-the-paper", "demo"}
    assert written["campaign"] == made | {"for-the-paper", "feedback", "spring"}
    assert written["running"] == {"my-reports"}
    assert (tmp_path / "campaign" / "for-the-paper" / "methods.bib").exists()
    for page in ("README", "campaign"):
        report = json.loads((tmp_path / page / "reports" / "campaign.json").read_text())
        assert {row["system"] for row in report["recorded"]["rankings"]} == {"alpha", "beta", "gamma"}
        assert report["signature"].startswith(f"evalkit:{__version__}|")
    shown = json.loads((tmp_path / "README" / "demo" / "campaign.json").read_text())
    judgements = pd.read_csv(ROOT / "data" / "demo" / "wmt23.csv")
    means = {row["system"]: row["mean"] for row in shown["recorded"]["rankings"]}
    assert means == pytest.approx(judgements.groupby("system")["score"].mean().to_dict())
    check_simulated(tmp_path / "running" / "my-reports", "wmt22_calibration_hits")

    copies = installed.evalkit("student", folder=tmp_path).split()
    assert len(copies) == len(list((ROOT / "notebooks" / "lessons").glob("*.ipynb")))
    place, rows = installed.python("-c", IMPORT_ALL, folder=tmp_path).split()
    assert place == str(installed.package / "__init__.py")
    assert int(rows) > 1
    for command in (["tidy"], ["new", "study", "mine", "--data", "wmt-slt22", "--title", "T"]):
        with pytest.raises(AssertionError, match="this is an installation"):
            installed.evalkit(*command, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*PAGES, "student"}
    assert installed.written() == before


# CONTRIBUTING's recipe


@pytest.mark.nightly
def test_the_five_steps_are_followed_and_taken_back(real, tmp_path):
    ratings = real("wmt-slt22")
    for name in listed("--cached", "--others", "--exclude-standard"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "before"]):
        run([*GIT, *words], tmp_path)
    *steps, last = blocks()
    assert {verb for verb, *_ in steps} == {"run", "file", "cell below", "row of the table in"}
    for verb, place, text in steps:
        follow(verb, place, text, tmp_path)
    report = json.loads((tmp_path / "build" / "look" / "ends_of_the_scale.json").read_text(encoding="utf-8"))
    assert report["status"] == "ok"
    assert report["data"][0]["source"] == "real"
    lowest = {row["annotator"]: row["lowest"] for row in report["recorded"]["ends"]}
    assert lowest == pytest.approx(ratings["score"].eq(0).groupby(ratings["annotator"]).mean().to_dict())
    reference = json.loads((tmp_path / "data" / "reference" / "ends_of_the_scale.json").read_text(encoding="utf-8"))
    assert reference["recorded"]["ends"] == report["recorded"]["ends"]
    assert run([*GIT, "status", "--porcelain"], tmp_path)
    follow(*last, tmp_path)
    assert run([*GIT, "status", "--porcelain"], tmp_path) == ""


def blocks():
    """Return what to do with each block of the recipe, where, and its text, in order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text.split("## Add a study in five steps")[1].split("\n## ")[0]
    found = []
    for body in re.findall(r"^```\w+\n(.*?)^```$", recipe, re.MULTILINE | re.DOTALL):
        first, _, rest = body.partition("\n")
        verb = re.match(r"# (file|cell below|row of the table in): (.*)$", first)
        found.append((verb[1], verb[2], rest) if verb else ("run", "", body))
    return found


def run(command, folder):
    own = {"PYTHONPATH": str(folder), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment = {name: text for name, text in os.environ.items() if name != "EVALKIT_DEMAND_DATA"} | own
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def follow(verb, place, text, folder):
    """Do what one block of the recipe says."""
    path = folder / place
    if verb == "run":
        run(["bash", "-euo", "pipefail", "-c", text], folder)
    elif verb == "file":
        path.write_text(text, encoding="utf-8")
    elif verb == "cell below":
        path = folder / "notebooks" / "studies" / "ends_of_the_scale.ipynb"
        notebook = json.loads(path.read_text(encoding="utf-8"))
        [heading] = [i for i, cell in enumerate(notebook["cells"]) if place in "".join(cell["source"])]
        code = next(cell for cell in notebook["cells"][heading:] if cell["cell_type"] == "code")
        code["source"] = text.rstrip("\n")
        path.write_text(json.dumps(notebook), encoding="utf-8")
    else:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if line.startswith("| `"))
        path.write_text("".join([*lines[: last + 1], text, *lines[last + 1 :]]), encoding="utf-8")
