"""The house itself: pins, what notebooks may hold, and what must never be committed. Layers: ``lint-imports``."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from evalkit import ROOT
from evalkit.reports import notebooks

STUDIES = sorted((ROOT / "notebooks" / "studies").glob("*.ipynb"))
#: What a cell of a study may not hold: studies choose, arrange and explain, and nothing else.
FORBIDDEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Try, ast.With, ast.While)
#: What it may import: single tests stand in cells.
ALLOWED = ("evalkit", "pandas", "numpy", "scipy", "statsmodels", "pingouin")
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
    beside = set() if path.stem == "campaign" else {"Compared with the paper"}  # no paper prints its numbers
    assert {"What to do", "Limits", "References", *beside} <= set(re.findall(r"^## (.*)", prose, re.MULTILINE))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_chooses_arranges_and_explains_and_nothing_else(path):
    """Who ran a cell that writes over a parameter, and then an earlier one, would see other values than a report has."""
    parameters = {parameter.name for parameter in notebooks.parameters(path)}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or "parameters" in cell["metadata"].get("tags", []):
            continue
        source = "".join(cell["source"])
        assert len([line for line in source.splitlines() if line.strip()]) <= 15, source
        assert not re.search(r"^\s*[%!]", source, re.MULTILINE), f"no magics in {source}"
        for node in ast.walk(ast.parse(source)):
            assert not isinstance(node, FORBIDDEN), f"{type(node).__name__} in {source}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert module.split(".")[0] in ALLOWED, f"formulas live in evalkit: {source}"
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert node.id not in parameters, f"a cell writes over {node.id}"
