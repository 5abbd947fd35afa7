"""Parameters, canonical form and student copies of notebooks, all without a kernel."""

import json

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.reports import notebooks
from evalkit.reports.notebooks import Parameter, bind, declarations

CODE = """seed: int = 7  # any integer; same seed, same report
threshold: float = 1
pair: str = "eng-jpn"  # a pair of languages, such as "eng-jpn"
fallback: bool = True
systems: list = ["a", "b"]  # in any order
levels: list[int] = [1, 2]
equation: str = "a=b # no comment"
"""
DECLARED = declarations(CODE, origin="here")


def write(path, *cells):
    """Write a notebook of (type, source, tags) cells and return its path."""
    made = [
        {"cell_type": kind, "source": source, "metadata": {"tags": tags, "scrolled": True}}
        for kind, source, tags in cells
    ]
    for cell in made:
        if cell["cell_type"] == "code":
            cell |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": "x"}], "execution_count": 3}
    metadata = {"papermill": {"start_time": "now"}, "kernelspec": {"name": "my-venv", "display_name": "Mine"}}
    path.write_text(json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_parameters_are_read_with_type_default_and_help(tmp_path):
    path = write(tmp_path / "a.ipynb", ("markdown", "# T", []), ("code", CODE, ["parameters"]), ("code", "x = 1", []))
    assert notebooks.parameters(path) == DECLARED
    assert [(p.name, p.kind, p.default) for p in DECLARED] == [
        ("seed", "int", 7),
        ("threshold", "float", 1.0),
        ("pair", "str", "eng-jpn"),
        ("fallback", "bool", True),
        ("systems", "list[str]", ["a", "b"]),
        ("levels", "list[int]", [1, 2]),
        ("equation", "str", "a=b # no comment"),
    ]
    assert DECLARED[0].help == "any integer; same seed, same report"
    assert DECLARED[2].help == 'a pair of languages, such as "eng-jpn"'
    assert type(DECLARED[1].default) is float


def test_a_notebook_without_parameters_has_none(tmp_path):
    assert notebooks.parameters(write(tmp_path / "a.ipynb", ("code", "x = 1", []))) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("seed = 7", "'seed = 7' is no typed literal"),
        ("seed: int = len([])", "the default of seed is computed"),
        ("seed: int = 'seven'", "seed must be of type int, not 'seven'"),
        ("seed: int | None = None", "unknown type 'int | None'"),
        ("seed: int =", "no valid Python"),
        ("import os", "is no typed literal"),
    ],
)
def test_a_parameters_cell_that_cannot_be_read_is_told(code, message):
    with pytest.raises(DataError, match=message.replace("|", r"\|").replace("[", r"\[")):
        declarations(code, origin="study.ipynb")


def test_two_parameters_cells_are_refused(tmp_path):
    path = write(tmp_path / "a.ipynb", ("code", "a: int = 1", ["parameters"]), ("code", "b: int = 1", ["parameters"]))
    with pytest.raises(DataError, match="2 cells tagged 'parameters'"):
        notebooks.parameters(path)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("pair", "007", "007"),
        ("pair", "a=b", "a=b"),
        ("seed", "007", 7),
        ("threshold", "1e-3", 0.001),
        ("threshold", "2", 2.0),
        ("fallback", "no", False),
        ("systems", "a, 007,c", ["a", "007", "c"]),
        ("systems", "['x', 'y']", ["x", "y"]),
        ("systems", "[x, y]", ["x", "y"]),
        ("systems", "", []),
        ("levels", "3,4", [3, 4]),
    ],
)
def test_a_text_takes_the_declared_type(name, text, value):
    bound = bind(DECLARED, {name: text})[name]
    assert bound == value
    assert type(bound) is type(value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("seed", "7.0"),
        ("seed", "1_0"),
        ("threshold", "nan"),
        ("fallback", "2"),
        ("levels", "1,b"),
        ("seed", True),
        ("systems", "[a"),
    ],
)
def test_a_value_of_another_type_is_refused(name, text):
    with pytest.raises(DataError, match=f"parameter {name} must be"):
        bind(DECLARED, {name: text})


def test_an_unknown_parameter_names_the_nearest():
    with pytest.raises(DataError, match=r"has no parameter 'tresholt'. Did you mean 'threshold'\?"):
        bind(DECLARED, {"tresholt": "1"})
    with pytest.raises(DataError, match="Known: equation, fallback"):
        bind(DECLARED, {"zzz": "1"})


@settings(max_examples=50)
@given(st.text())
def test_a_string_stays_the_string_it_is(text):
    assert bind([Parameter("name", "str", "")], {"name": text}) == {"name": text}


@settings(max_examples=50)
@given(st.lists(st.integers()), st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_what_python_prints_is_read_back(levels, threshold, fallback):
    values = {"levels": levels, "threshold": threshold, "fallback": fallback}
    assert bind(DECLARED, {name: str(value) for name, value in values.items()}) == values


def test_tidy_strips_what_a_run_leaves_and_changes_nothing_twice(tmp_path):
    path = write(tmp_path / "a.ipynb", ("markdown", "# Größe\n", []), ("code", "x = 1\ny = 2", ["keep"]))
    assert notebooks.tidy(path, check=True)
    assert notebooks.tidy(path)
    assert not notebooks.tidy(path)
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "Größe" in text
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert [cell.id for cell in notebook.cells] == ["cell-01", "cell-02"]
    assert notebook.cells[1].outputs == []
    assert notebook.cells[1].execution_count is None
    assert notebook.cells[1].metadata == {"tags": ["keep"]}
    assert notebook.metadata == notebooks.METADATA
    assert [path.name for path in tmp_path.iterdir()] == ["a.ipynb"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "There is no notebook"), ("{", "is no notebook"), ('{"nbformat": 3}', "not in notebook format 4")],
)
def test_a_file_that_is_no_notebook_is_told(tmp_path, content, message):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=message):
        notebooks.read(path)


@pytest.mark.parametrize(
    "content",
    [
        '{"nbformat": 4, "cells": 5}',
        '{"nbformat": 4, "cells": ["x"]}',
        '{"nbformat": 4, "cells": [{"cell_type": "code"}]}',
        '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "metadata": {"tags": 1}}]}',
        "[" * 5000,
    ],
)
def test_what_has_another_form_is_no_notebook(content, tmp_path):
    (tmp_path / "a.ipynb").write_text(content)
    with pytest.raises(DataError, match=r"a\.ipynb"):
        notebooks.parameters(tmp_path / "a.ipynb")


@pytest.mark.parametrize(
    "code", ["x: list = [{[]: 1}]", "x: int = 1\0", "x: list = " + "[" * 5000, "x: int = " + "9" * 5000]
)
def test_what_is_no_literal_is_no_parameter(code):
    with pytest.raises(DataError, match="here"):
        declarations(code, origin="here")
    with pytest.raises(DataError, match="systems must be a list"):
        bind(DECLARED, {"systems": "[{[]: 1}"})
