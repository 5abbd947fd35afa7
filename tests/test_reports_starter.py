"""What a person starts from: the folder of a campaign, a further study, words that a shell completes."""

import csv
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from evalkit import ROOT, DataError, __version__
from evalkit.data import schemas
from evalkit.data.importing.reading import EXAMPLE as ANNOTATOR
from evalkit.reports import cli, starter, studies


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
    assert not [path for path in folder.rglob("*") if path.is_file() and "{{" in path.read_text(encoding="utf-8")]


def test_the_entry_of_a_new_campaign_is_a_study_that_can_be_asked_for_its_parameters(tmp_path, capsys):
    folder = starter.campaign("spring", tmp_path)
    entries = studies.read_studies(studies.Layout(studies=folder / "studies.toml"))
    assert entries["spring"].notebook.is_file()
    assert entries["spring"].parameters == {"file": "campaign.parquet"}
    assert cli.main(["params", "spring", "--studies", str(folder / "studies.toml")]) == 0
    assert "'campaign.parquet'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["two words", "../up", "", "a-b", "ünïcode"])
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dataset": "wmt-slt2", "title": "T"}, "wmt-slt22"),
        ({"dataset": "wmt-slt22", "title": 'a "b"'}, "without quotation marks"),
        ({"dataset": "wmt-slt22", "title": "two\nlines"}, "one line"),
        ({"dataset": "wmt-slt22", "title": " "}, "one line"),
    ],
)
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
    assert completed("evalkit run critical_errors -p dim") == ["dimension=adequacy"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_lines_for_the_shell_that_is_asked_for(shell, capsys):
    assert cli.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "evalkit" in text
    assert "_EVALKIT_COMPLETE" in text


def test_the_citation_file_is_complete_and_of_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "version", "license"} <= cited.keys()
    assert str(cited["version"]) == __version__
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {__version__}, {cited['date-released']}\n" in changes
    assert f"evalkit:{__version__}|" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_own_studies_are_listed_from_their_file(own_studies, capsys):
    assert cli.main(["list", "--studies", str(own_studies)]) == 0
    assert capsys.readouterr().out.startswith("first  First")
