"""The house itself: rooms and their doors, pins, notebooks, and what must never be committed."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evalkit import ROOT
from evalkit.reports import notebooks

# Left to right; rooms in the same set do not know each other.
ROOMS = [
    {"evalkit"},
    {"data"},
    {"stats"},
    {"human", "metrics"},
    {"neural"},
    {"show"},
    {"papers"},
    {"campaign"},
    {"reports"},
    {"lessons"},
]
STUDIES = sorted((ROOT / "notebooks" / "studies").glob("*.ipynb"))
FORBIDDEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.With, ast.While)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")


def rank(room: str) -> int:
    return next(i for i, rooms in enumerate(ROOMS) if room in rooms)


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "evalkit").with_suffix("").parts
    return "evalkit" if parts == ("__init__",) else parts[0]


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which room is entered"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == "evalkit":
                inner = name.split(".")[1] if "." in name else "evalkit"
                rooms.add(inner if any(inner in there for there in ROOMS) else "evalkit")
    return rooms


def test_a_room_imports_only_from_rooms_to_its_left():
    for path in sorted((ROOT / "evalkit").rglob("*.py")):
        here = room_of(path)
        for there in imported_rooms(path) - {here}:
            assert rank(there) < rank(here), f"{path}: {here} imports {there}"


def test_inside_the_room_of_campaigns_imports_go_one_way_too():
    """Left to right, as its docstring says; ``analysis`` and ``figures`` stand between rooms, the rest before all."""
    stages = [
        set(),
        {"systems"},
        {"people"},
        {"against", "judges", "planning"},
        {"analysis"},
        {"checks", "design"},
        {"paperwork"},
        {"sentences"},
        {"figures", "exports"},
        {"views"},
    ]
    place = {room: i for i, rooms in enumerate(stages) for room in rooms}
    found = set()
    for path in sorted((ROOT / "evalkit" / "campaign").rglob("*.py")):
        here = path.relative_to(ROOT / "evalkit" / "campaign").with_suffix("").parts[0]
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in chain.from_iterable(ast.walk(top) for top in tree.body if here != "__init__"):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evalkit.campaign"):
                for there in {f"{node.module}.{alias.name}".split(".")[2] for alias in node.names} - {here}:
                    found.add(there)
                    assert place.get(there, 0) <= place.get(here, 0), f"{path}: {here} imports {there}"
                    assert there not in place or place[there] < place[here], f"{path}: {here} and {there} are level"
    assert found >= place.keys() - {"exports", "views"}


def test_what_one_paper_needs_is_imported_by_nothing_else():
    papers = ROOT / "evalkit" / "papers"
    for paper in (folder.name for folder in papers.iterdir() if (folder / "__init__.py").is_file()):
        for path in (ROOT / "evalkit").rglob("*.py"):
            if papers / paper not in path.parents:
                text = path.read_text(encoding="utf-8")
                assert not re.search(rf"evalkit\.papers(\.{paper}\b| import .*\b{paper}\b)", text), path


def test_only_stats_sees_pingouin_and_only_reports_sees_nbconvert():
    for third_party, room in (("pingouin", "stats"), ("nbconvert", "reports"), ("papermill", "reports")):
        users = {
            room_of(path)
            for path in (ROOT / "evalkit").rglob("*.py")
            if re.search(rf"^\s*(import|from) {third_party}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
        }
        assert users == {room}


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


def test_continuous_integration_runs_what_the_readme_names():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in ("make reports", "make test", "make test-slow", "make check"):
        assert command in readme + contributing
        assert command == "make test-slow" or re.search(rf"^{command}$", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "selected"), [("test", '-m "not slow"'), ("test SLOW=1", ""), ("test-slow", "-m slow")]
)
def test_continuous_integration_runs_the_slow_tests_in_the_same_go(command, selected):
    made = ["make", "--dry-run", "--assume-old=.venv/.ready", *command.split()]
    environment = {name: text for name, text in os.environ.items() if name != "SLOW" and not name.startswith("MAKE")}
    told = subprocess.run(made, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
    assert told.rstrip().endswith(f"-m pytest -n auto --dist worksteal {selected}".rstrip())
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^export SLOW=1\b.*\nmake test$", script, re.MULTILINE)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_is_large_or_names_a_machine_or_a_package_index():
    machine = re.compile(r"/(root|home|Users|work|tmp)/\w|extra-index-url|trusted-host\b.*=|find-links\b.*=")
    for path in tracked():
        assert path.stat().st_size < 1_000_000, path
        if path.suffix in {".png"}:
            continue
        text = path.read_text(encoding="utf-8")
        if path != Path(__file__):
            assert not machine.search(text), f"{path}: {machine.search(text)[0]}"


def cells(path: Path, kind: str) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def test_a_study_chooses_arranges_and_explains_and_nothing_else():
    for path in STUDIES:
        for cell in cells(path, "code"):
            source = "".join(cell["source"])
            where = f"{path.name}: {source}"
            lines = [line for line in source.splitlines() if line.strip()]
            assert len(lines) <= 15 or "parameters" in cell["metadata"].get("tags", []), where
            assert not re.search(r"^\s*[%!]", source, re.MULTILINE), f"no magics in {where}"
            for node in ast.walk(ast.parse(source)):
                assert not isinstance(node, FORBIDDEN), f"{type(node).__name__} in {where}"
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                    assert module.split(".")[0] in {"evalkit", "pandas", "numpy"}, f"formulas live in evalkit: {where}"


def test_a_comprehension_is_made_for_its_value():
    """What is done only for its effect is a loop; in the last line of a cell, a comprehension would be shown, too."""
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    paths = [path for path in tracked() if path.suffix in {".py", ".ipynb"}]
    assert {".py", ".ipynb"} == {path.suffix for path in paths}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        sources = [text] if path.suffix == ".py" else ["".join(cell["source"]) for cell in cells(path, "code")]
        for node in chain.from_iterable(ast.walk(ast.parse(source)) for source in sources):
            thrown_away = isinstance(node, ast.Expr) and isinstance(node.value, comprehensions)
            assert not thrown_away, f"{path}: write a for loop instead of {ast.unparse(node)}"


def test_no_study_writes_over_a_parameter():
    """Who runs the cell of parameters again and then a later one would run it on other values than a report has."""
    for path in STUDIES:
        names = {parameter.name for parameter in notebooks.parameters(path)}
        for cell in cells(path, "code"):
            if "parameters" in cell["metadata"].get("tags", []):
                continue
            tree = ast.parse("".join(cell["source"]))
            named = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
            written = {node.id for node in named if isinstance(node.ctx, ast.Store)}
            assert not written & names, f"{path}: a cell writes over {written & names}"


def test_a_study_opens_with_its_question_and_ends_with_its_signature():
    for path in STUDIES:
        everything = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert "".join(everything[0]["source"]).startswith("# "), path
        assert everything[1]["metadata"]["tags"] == ["parameters"], path
        assert all(parameter.help for parameter in notebooks.parameters(path)), f"{path}: a parameter has no comment"
        assert "show.signature(" in "".join(everything[-1]["source"]), path
        prose = "\n".join("".join(cell["source"]) for cell in cells(path, "markdown"))
        titles = set(re.findall(r"^## (.*)", prose, re.MULTILINE))
        own = path.stem == "campaign"  # its first page is for organisers, and no paper prints its numbers
        beside = "Beside the official ranking" if own else "Compared with the paper"
        assert {"What to do", beside, "Limits", "References"} <= titles, path
