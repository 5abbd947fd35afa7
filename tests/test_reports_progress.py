"""How far a run is, told by the sections of its studies."""

import json

from evalkit.reports import execute, progress
from evalkit.reports.notebooks import METADATA


def notebook(path, *cells):
    made = [
        {"cell_type": kind, "source": source, "metadata": {}, "id": f"c{place}"}
        | ({"outputs": [], "execution_count": None} if kind == "code" else {})
        for place, (kind, source) in enumerate(cells)
    ]
    path.write_text(json.dumps({"cells": made, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}))
    return path


CELLS = [("markdown", "# A study"), ("code", "1"), ("markdown", "## The data\n\n### Rows"), ("code", "# no heading")]


def outcome(name, folder):
    return execute.Outcome(name, "ok", folder)


def test_sections_are_told_at_most_once_in_a_while_and_ends_always(tmp_path, monkeypatch):
    clock = iter([0.0, 3.0, 3.0, 4.0, 6.0, 6.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    told = []
    here = progress.Progress({"a": notebook(tmp_path / "a.ipynb", *CELLS)}, told.append)
    here.begin("a", "A study")  # after 3 seconds
    here.begin("a", "The data")  # a second later
    assert list(here.over([], [outcome("a", tmp_path)])) == [outcome("a", tmp_path)]
    assert told == ["a: A study (1 of 2)", "a: ok"]


def test_on_a_terminal_a_bar_names_the_section_and_reaches_its_end(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    here = progress.Progress({name: notebook(tmp_path / f"{name}.ipynb", *CELLS) for name in "ab"}, lambda line: None)
    for heading in ("A study", "The data"):
        here.begin("a", heading)
    list(here.over([outcome("a", tmp_path)], [outcome("b", tmp_path)]))  # b failed before its first section
    assert here.bar.n == here.bar.total == 6
    assert "a: The data (2 of 2)" in capsys.readouterr().err


def test_nobody_is_told_where_nobody_asked(tmp_path, capsys):
    here = progress.Progress({"a": tmp_path / "absent.ipynb"}, None)
    list(here.over([outcome("a", tmp_path)], []))
    assert capsys.readouterr().err == ""


def test_a_run_tells_the_sections_of_its_notebook(tmp_path, monkeypatch):
    from evalkit.reports.studies import Layout

    monkeypatch.setattr(progress, "EVERY", -1.0)
    monkeypatch.setattr("evalkit.reports.kernels.PRELOAD", ())
    notebook(tmp_path / "a.ipynb", *CELLS)
    (tmp_path / "studies.toml").write_text('[a]\nnotebook = "a.ipynb"\ntitle = "A"\n')
    told = []
    execute.run(None, Layout(studies=tmp_path / "studies.toml", reports=tmp_path / "reports"), tell=told.append)
    assert told == ["a: A study (1 of 2)", "a: The data (2 of 2)", "a: ok"]
