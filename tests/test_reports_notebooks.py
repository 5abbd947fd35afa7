"""Notebooks: parameters, canonical form, copies, those that start a study; and the overview of all reports."""

import csv
import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalkit import ROOT, DataError, __version__
from evalkit.data import schemas
from evalkit.data.importing.reading import EXAMPLE as ANNOTATOR
from evalkit.reports import check, cli, execute, findings, index, notebooks, starter, studies, tally
from evalkit.reports.notebooks import bind, declarations
from evalkit.reports.studies import Layout, read_studies
from evalkit.stats import verdicts
from tests.makers import each, project
from tests.test_reports import Page

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
    assert notebooks.parameters(write(tmp_path / "b.ipynb", ("code", "x = 1", []))) == []
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


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("seed = 7", "'seed = 7' is no typed literal"),
        ("seed: int = len([])", "is no typed literal"),
        ("seed: int = 'seven'", "seed must be of type int, not 'seven'"),
        ("seed: int | None = None", "is no typed literal"),
        ("seed: int =", "no valid Python"),
        ("import os", "is no typed literal"),
        ("x: list = [{[]: 1}]", "here"),
        ("x: int = 1\0", "here"),
        ("x: list = " + "[" * 5000, "here"),
        ("x: int = " + "9" * 5000, "here"),
    ],
    ids=range(10),
)
def test_a_parameters_cell_that_cannot_be_read_is_told(code, message):
    with pytest.raises(DataError, match=re.escape(message)):
        declarations(code, origin="here")


@each
def test_a_text_takes_the_declared_type(name, text, value):
    bound = bind(DECLARED, {name: text})[name]
    assert bound == value
    assert type(bound) is type(value)


@each
def test_a_value_of_another_type_is_refused(name, text):
    with pytest.raises(DataError, match=f"parameter {name} must be"):
        bind(DECLARED, {name: text})


@given(st.lists(st.integers()), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.text())
def test_what_python_prints_is_read_back(levels, threshold, fallback, pair):
    values = {"levels": levels, "threshold": threshold, "fallback": fallback, "pair": pair}
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


PARAMETERS = {"cell_type": "code", "source": "a: int = 1", "metadata": {"tags": ["parameters"]}}
PARAMETERS |= {"outputs": [], "execution_count": None}
TWICE = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [PARAMETERS] * 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{", "is no notebook"),
        ('{"nbformat": 3}', "is no notebook"),
        ('{"nbformat": 4, "cells": 5}', r"a\.ipynb"),
        ('{"nbformat": 4, "cells": ["x"]}', r"a\.ipynb"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code"}]}', r"a\.ipynb"),
        ("[" * 5000, r"a\.ipynb"),
        (json.dumps(TWICE), "2 cells tagged 'parameters'"),
    ],
    ids=range(8),
)
def test_a_file_that_is_no_notebook_is_told(tmp_path, content, message):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=message):
        notebooks.parameters(path)


TASKS = {name: execute.bound(study, {}, Layout().studies.parent) for name, study in read_studies(Layout()).items()}


def choices_of(name):
    """Execute a study's cell of checks and collect what each parameter may be."""
    found = {}
    source = notebooks.checks(TASKS[name].notebook).replace("from evalkit.reports import check", "")

    class Spy:
        def __getattr__(self, kind):
            def called(**given):
                of = given.pop("of", None)
                found.update(dict.fromkeys(given, of if of is None else list(of)))

            return called

    exec(source, dict(TASKS[name].parameters) | {"check": Spy()})
    return found


@pytest.mark.parametrize("name", TASKS)
def test_each_parameter_is_checked(name):
    assert choices_of(name).keys() >= TASKS[name].parameters.keys()


@pytest.mark.parametrize(
    ("call", "given", "sentence"),
    [
        ("truth", {"higher_is_better": "no"}, "higher_is_better = 'no' is neither True nor False"),
        ("whole", {"seed": True}, "seed = True cannot be used. Give a whole number."),
        ("whole", {"seed": 70, "at_most": 9}, "seed = 70 cannot be used. Give a whole number of at most 9."),
        ("number", {"delta": float("nan")}, "delta = nan cannot be used. Give a number."),
        ("text", {"pair": 7}, "pair = 7 is no text. Write it in quotation marks."),
        ("texts", {"rules": "sd < 5"}, "rules = 'sd < 5' is no list. Write it in brackets, such as ['sd < 5']."),
        ("texts", {"rules": []}, "rules is empty. Name at least one."),
        ("choice", {"pair": "xyz", "of": map(str, range(30))}, "There is no pair 'xyz'. Known: 0, 1, "),
        ("choice", {"pair": "xyz", "of": []}, "There is no pair 'xyz'. Known: none."),
        ("numbers", {"deltas": [2, 0.0], "above": 0}, "deltas[1] = 0.0 cannot be used. Give a number above 0."),
        ("texts", {"rules": ["sd < 5", 5]}, "rules[1] = 5 is no text."),
        ("numbers", {"typed": [1], "length": 5}, "typed has 1 numbers. Give 5."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(call, given, sentence):
    with pytest.raises(DataError) as told:
        getattr(check, call)(**given)
    assert str(told.value).startswith(sentence)


def test_what_can_be_used_passes():
    check.number(delta=3, target=0.8, above=0)  # a whole number is a number
    check.numbers(typed=[], may_be_empty=True)
    check.choice(pair="", of=["eng-deu"], may_be_empty=True)
    check.scale(scale=[])
    check.scale(scale=[1, 5])
    check.choice(shown="SPA", of=iter(["SPA"]))


@each
def test_language_pairs_that_can_be_chosen_are_those_of_the_data(study, parameter, dataset, real):
    table = real(dataset)
    pairs = set(table["src_lang"].astype(str) + "-" + table["tgt_lang"].astype(str))
    assert set(choices_of(study)[parameter]) == pairs


def test_a_campaign_starts_with_a_template_that_the_schema_accepts_a_checklist_and_instructions(tmp_path, capsys):
    assert cli.main(["new", "campaign", "spring", "--out", str(tmp_path)]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert folder == tmp_path / "spring"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    own = {"README.md", "checklist.md", "scores.csv", "studies.toml", "campaign.ipynb"}
    assert files == own | {f"instructions/{name}.md" for name in ("xsts", "da_sqm", "esa")}
    header, example = csv.reader((folder / "scores.csv").read_text(encoding="utf-8").splitlines())
    required = {name for name, column in schemas.RATINGS.columns.items() if column.required}
    assert required <= set(header) <= set(schemas.RATINGS.columns)
    assert dict(zip(header, example, strict=True))["annotator"] == ANNOTATOR, "an import passes the example over"
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in header)
    written = [path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()]
    assert not [text for text in written if re.search(r"\{\{ ?\w+ ?\}\}", text)], "each gap is filled"
    [entry] = studies.read_studies(studies.Layout(studies=folder / "studies.toml")).values()
    assert (entry.notebook.is_file(), entry.parameters) == (True, {"file": "campaign.parquet"})
    assert cli.main(["params", "spring", "--studies", str(folder / "studies.toml")]) == 0
    assert "'campaign.parquet'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["two words", "../up", ""])
def test_a_name_that_cannot_be_a_files_is_refused(name, tmp_path):
    with pytest.raises(DataError, match="Use letters, digits and underscores"):
        starter.campaign(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_already_is_left_alone(tmp_path):
    (tmp_path / "spring").mkdir()
    (tmp_path / "spring" / "mine.txt").write_text("keep")
    with pytest.raises(DataError, match="there already, and nothing in it was touched"):
        starter.campaign("spring", tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["spring", "mine.txt"]


@pytest.fixture
def own_studies(tmp_path):
    (tmp_path / "studies.toml").write_text('[first]\nnotebook = "first.ipynb"\ntitle = "First"\n')
    return tmp_path / "studies.toml"


def test_a_new_study_has_an_entry_and_says_so_once(own_studies):
    path = starter.study("second", dataset="wmt-slt22", title="What: a title's <b>?", studies=own_studies)
    entries = tomllib.loads(own_studies.read_text())
    assert list(entries) == ["first", "second"]
    assert entries["second"]["data"] == ["wmt-slt22"]
    assert entries["second"]["fallback"] == "simulated"
    assert "What: a title's <b>?" in path.read_text()
    before = own_studies.read_text(), path.read_text()
    with pytest.raises(DataError, match="study called second already"):
        starter.study("second", dataset="wmt-slt22", title="Again", studies=own_studies)
    assert (own_studies.read_text(), path.read_text()) == before


@each
def test_a_study_that_could_not_run_is_refused(options, message, own_studies):
    before = own_studies.read_text()
    with pytest.raises(DataError, match=message):
        starter.study("second", studies=own_studies, **options)
    assert own_studies.read_text() == before
    assert not (own_studies.parent / "studies").exists()


def completed(line: str) -> list[str]:
    """What bash would offer at the end of a line, asked for as bash asks."""
    environment = os.environ | {
        "_EVALKIT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "evalkit.reports.cli"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_a_shell_completes_commands_studies_and_data_sets():
    assert {"run", "import", "new"} <= set(completed("evalkit "))
    assert completed("evalkit run wmt22_cal") == ["wmt22_calibration_hits"]
    assert "wmt-slt22" in completed("evalkit data fetch wmt-")
    assert "campaign" in completed("evalkit new ")


def test_the_citation_file_is_complete_and_of_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= cited.keys()
    assert str(cited["version"]) == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {__version__}, {cited['date-released']}\n" in changes
    assert f"evalkit:{__version__}|" in (ROOT / "README.md").read_text(encoding="utf-8")


# The overview of all reports, and the links that lead over it from one report to another.


def layout(folder):
    """Write a project of two studies, agreement and ranking."""
    entry = "[{0}]\nnotebook = '{0}.ipynb'\ntitle = 'T'\n"
    (folder / "studies.toml").write_text(entry.format("agreement") + entry.format("ranking"))
    return Layout(studies=folder / "studies.toml")


def test_the_tour_leads_to_every_study_and_lesson_by_its_own_heading():
    folder = ROOT / "notebooks"
    tour = "\n".join(cell["source"] for cell in notebooks.read(folder / "start_here.ipynb")["cells"])
    for path in folder.glob("*/*.ipynb"):
        heading = notebooks.read(path)["cells"][0]["source"].splitlines()[0].lstrip("# ")
        assert f"[{heading}]({path.relative_to(folder).as_posix()})" in tour


# The tally of printed numbers: bases apart, what was recomputed first, no number counted twice or lost


def test_the_sentences_of_a_mixed_report():
    match, differs = {"verdict": "match"}, {"verdict": "differs"}
    data, prints, definition, official = ({"basis": basis} for basis in verdicts.BASES)
    gone = [data | {"verdict": "not reproducible", "lacking": cause} for cause in ["x", "x", "x", *"aabbccd"]]
    recomputed = [match | data, match | data, differs | data, differs | data | {"reachable": [1, 2]}]
    others = [match | prints, *[match | definition] * 3, match | official, differs | official]
    rows = [*recomputed, *others, *gone]
    assert tally.sentences(tally.count(rows)) == [
        "Recomputed from data: 4 of 18 printed numbers (22 %); 2 match, 1 is within rounding of its inputs, 1 differs.",
        "Not recomputed: 10 (x: 3; a: 2; b: 2; c: 2; other causes: 1).",
    ]
    assert [numbers for _, numbers in tally.table(tally.count(rows))] == [
        [2, 1, 1, 10, 14],
        [1, 0, 0, 0, 1],
        [3, 0, 0, 0, 3],
        [6, 1, 1, 10, 18],
        [1, 0, 1, 0, 2],
    ]


#: A report but for one thing: nothing says whether its data are real.
UNSOURCED = {"status": "ok", "seconds": 1, "study": "agreement", "recorded": {}, "published": [], "headline": "h"}
UNSOURCED |= {"data": [{"name": "d"}]}


@pytest.mark.parametrize(
    "content", ["[]", "5", "{}", '{"status": "ok"}', "[" * 5000, "\xff", '{"status": ["ok"]}', json.dumps(UNSOURCED)]
)
def test_what_is_no_report_is_not_in_the_overview(content, tmp_path):
    there = replace(layout(tmp_path), reports=tmp_path, reference=tmp_path)
    (tmp_path / "agreement.html").write_bytes(b"<p>\xff</p>")
    for name in ("agreement.json", "agreement.failed.json"):
        (tmp_path / name).write_bytes(content.encode("latin-1"))
        assert findings.read_report(tmp_path / name) is None
    assert "There is no report in this folder yet." in index.page(there)


def loose_ends(folder):
    """Return the links of a folder's pages that lead to no file in it, or to no anchor of that file."""
    pages = {path.name: Page(path) for path in folder.glob("*.html")}
    anchors = {name: [one["id"] for _, one, _ in page.elements if "id" in one] for name, page in pages.items()}
    loose = []
    for name, page in pages.items():
        assert len(anchors[name]) == len(set(anchors[name])), name
        for link in (one["href"] for one in page.all("a")):
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", f"{name}: {link}"
                continue
            target = parts.path or name
            known = anchors.get(target, ())
            there = (folder / target).is_file() and (not parts.fragment or unquote(parts.fragment) in known)
            loose += [] if there else [(name, link)]
    return loose


ONE = """# One

See [the other](two.ipynb), [its section](two.ipynb#What-is-R&D,-then?),
and [below](#Below,-here).

## Below, here

A [third](three.ipynb#Anything) one."""
TWO = "# Two\n\n## What is R&D, then?\n\nNothing."


def prose(folder, **studies):
    """Lay out a project of studies that are one Markdown cell each."""
    cells = {name: [("markdown", text, []), "seed: int = 7  # any"] for name, text in studies.items()}
    return project(folder, cells, title='"The study <two>"', link='"https://example.org"')


def good(layout, *names, **options):
    assert [one.status for one in execute.run(list(names), layout, **options)] == ["ok"] * len(names)


def test_a_link_to_a_report_that_was_not_made_leads_to_what_makes_it(tmp_path):
    layout = prose(tmp_path, one=ONE, two=TWO)
    good(layout, "one")
    assert loose_ends(layout.reports) == []
    alone = (layout.reports / "one.html").read_bytes()
    index = (layout.reports / "index.html").read_text(encoding="utf-8")
    assert "Referred to, and not in this folder" in index
    assert re.search(r'<li id="two">The study &lt;two&gt; \(<code>evalkit run two</code> makes it\)', index)
    assert '<li id="three">three</li>' in index, "a study that is not ours"
    assert 'href="two.html' not in index

    told = []
    good(layout, "two", tell=told.append)
    assert told[-1] == "two: ok", "a run tells how far it is"
    assert (layout.reports / "one.html").read_bytes() == alone, "a report is not touched by what is made beside it"
    assert loose_ends(layout.reports) == []
    index = (layout.reports / "index.html").read_text(encoding="utf-8")
    assert '<h3 id="two">' in index
    assert '<li id="two">' not in index


def test_no_link_is_loose_in_the_small_site(site):
    assert loose_ends(site[0].reports) == []


@pytest.mark.slow
def test_no_link_is_loose_in_the_reports_of_all_studies(all_reports):
    assert loose_ends(all_reports) == []
    index = (all_reports / "index.html").read_text(encoding="utf-8")
    assert "not in this folder" not in index


# In JupyterLab


def headings(cells):
    """Return the anchors that JupyterLab makes of a notebook's headings."""
    words = re.findall(r"^#{1,6} (.+)$", "\n".join(cell["source"] for cell in cells), flags=re.MULTILINE)
    return {word.strip().replace(" ", "-") for word in words}


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").rglob("*.ipynb")), ids=lambda path: path.stem)
def test_every_link_of_a_notebook_leads_to_a_file_and_a_heading_there(path):
    cells = [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "markdown"]
    for cell in cells:
        for link in re.findall(r"\]\(([^)\s]+)\)", cell["source"]):
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "attachment"), link
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            assert target.is_file(), link
            if parts.fragment or link.endswith("?"):
                there = [one for one in notebooks.read(target)["cells"] if one["cell_type"] == "markdown"]
                assert unquote(link.partition("#")[2]) in headings(there), link
