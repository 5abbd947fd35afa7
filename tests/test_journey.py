"""What the README and CONTRIBUTING print, done as it stands there: with the wheel from an empty folder, and in a clone."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from evalkit import ROOT, __version__
from evalkit.reports import cli
from tests.test_studies import check_simulated

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.M | re.S)
FENCED = [line.strip() for language, block in BLOCKS if not language for line in block.splitlines()]
COMMANDS = [shlex.split(line, comments=True)[1:] for line in FENCED if line.startswith("evalkit ")]
INLINE = [shlex.split(text)[1:] for text in re.findall(r"`(evalkit [a-z][^`]*)`", README)]
#: Parameters that say how long a run takes, made short: what is tried here is the way, not the numbers.
SHORT = {"wmt22_calibration_hits": ["-p", "splits=4", "-p", "resamples=20"], "campaign": ["-p", "resamples=50"]}
GIT = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
IMPORT_ALL = """
import importlib, pkgutil, evalkit
for module in pkgutil.walk_packages(evalkit.__path__, 'evalkit.'):
    if not module.name.endswith('__main__'): importlib.import_module(module.name)
from evalkit import data
print(evalkit.__file__, len(data.published('licht2022_table6')))
"""


@pytest.mark.parametrize("words", COMMANDS + INLINE, ids=" ".join)
def test_each_command_and_option_of_the_readme_is_known(words, capsys):
    assert cli.main([*words, "--help"]) == 0
    assert "Usage: evalkit" in capsys.readouterr().out


def test_each_make_target_that_pages_name_is_there():
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    pages = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
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
def test_the_readmes_commands_run_as_printed_with_the_wheel_and_write_only_where_one_stands(installed, tmp_path):
    before = installed.written()
    lines = [f"Sentence number {number} of a text that somebody wrote." for number in range(60)]
    (tmp_path / "source.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "outputs").mkdir()
    for system in ("alpha", "beta", "gamma"):
        (tmp_path / "outputs" / f"{system}.txt").write_text("\n".join(f"{system}: {line}" for line in lines) + "\n")
    made = {"source.txt", "outputs", "spring", "campaign.parquet", "campaign.import.json", "reports", "my-reports"}

    for words in COMMANDS:
        short = SHORT[words[1]] if words[0] == "run" else []
        printed = installed.evalkit(*words, *short, folder=tmp_path).split()
        if words[0] == "run":
            assert printed[-1].endswith(f"{words[1]}.html"), "the report just made comes last"
        if words[:2] == ["new", "campaign"]:  # then people judge, in Pearmut
            log = tmp_path / "spring" / "data" / "annotations" / "spring.jsonl"
            log.parent.mkdir(parents=True)
            log.write_text(judged(json.loads((tmp_path / "spring" / "campaign.json").read_text())))
    assert {path.name for path in tmp_path.iterdir()} == made | {"for-the-paper"}
    assert (tmp_path / "for-the-paper" / "methods.bib").exists()
    report = json.loads((tmp_path / "reports" / "campaign.json").read_text())
    assert {row["system"] for row in report["recorded"]["rankings"]} == {"alpha", "beta", "gamma"}
    assert report["signature"].startswith(f"evalkit:{__version__}|")
    check_simulated(tmp_path / "my-reports", "wmt22_calibration_hits")

    copies = installed.evalkit("student", folder=tmp_path).split()
    assert len(copies) == len(list((ROOT / "notebooks" / "lessons").glob("*.ipynb")))
    place, rows = installed.python("-c", IMPORT_ALL, folder=tmp_path).split()
    assert place == str(installed.package / "__init__.py")
    assert int(rows) > 1
    for command in (["tidy"], ["new", "study", "mine", "--data", "wmt-slt22", "--title", "T"]):
        with pytest.raises(AssertionError, match="this is an installation"):
            installed.evalkit(*command, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == made | {"for-the-paper", "student"}
    assert installed.written() == before


def judged(campaign):
    """Write what Pearmut would log of a campaign by ESA in which everything was judged."""
    lines = []
    for user, task in zip(campaign["info"]["users"], campaign["data"], strict=True):
        for number, screen in enumerate(task):
            said = [{model: {"score": 7 * number % 101, "error_spans": []} for model in item["tgt"]} for item in screen]
            times = [{"time": 1e9 + 100 * number + 60 * end, "action": ("load", "submit")[end]} for end in (0, 1)]
            lines.append({"user_id": user, "item_i": number, "item": screen, "annotation": said, "actions": times})
    return "".join(json.dumps(line) + "\n" for line in lines)


# CONTRIBUTING's recipe


@pytest.mark.nightly
def test_the_five_steps_make_a_study_that_runs_and_can_be_taken_out_again(real, tmp_path):
    ratings = real("wmt-slt22")
    for name in listed("--cached", "--others", "--exclude-standard"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "before"]):
        run([*GIT, *words], tmp_path)
    *steps, last = blocks()
    assert {verb for verb, *_ in steps} == {"run", "file", "cell below", "append to", "row of the table in"}
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
        verb = re.match(r"# (file|cell below|append to|row of the table in): (.*)$", first)
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
    elif verb == "append to":
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
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
