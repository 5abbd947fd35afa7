"""CONTRIBUTING's recipe, followed to the letter in a copy of the project, and undone again."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit import ROOT

GIT = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]


def blocks() -> list[tuple[str, str, str, str]]:
    """Language, what to do with it, where, and text of each block of the recipe, in order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text.split("## Add a study in five steps")[1].split("\n## ")[0]
    found = []
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", recipe, re.MULTILINE | re.DOTALL):
        first, _, rest = body.partition("\n")
        verb = re.match(r"# (file|cell below|append to|row of the table in): (.*)$", first)
        found.append((language, verb[1], verb[2], rest) if verb else (language, "run", "", body))
    return found


def run(command: list[str], folder: Path) -> str:
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    environment.pop("EVALKIT_DEMAND_DATA", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def follow(verb: str, place: str, text: str, folder: Path) -> None:
    """Do what one block of the recipe says that is not a command."""
    if verb == "cell below":
        [path] = (folder / "notebooks" / "studies").glob("ends_of_the_scale.ipynb")
        notebook = json.loads(path.read_text(encoding="utf-8"))
        [heading] = [i for i, cell in enumerate(notebook["cells"]) if place in "".join(cell["source"])]
        code = next(cell for cell in notebook["cells"][heading:] if cell["cell_type"] == "code")
        code["source"] = text.rstrip("\n")
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return
    path = folder / place
    if verb == "file":
        path.write_text(text, encoding="utf-8")
    elif verb == "append to":
        path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    else:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        last = max(i for i, line in enumerate(lines) if line.startswith("| `"))
        path.write_text("".join([*lines[: last + 1], text, *lines[last + 1 :]]), encoding="utf-8")


@pytest.mark.slow
def test_the_five_steps_make_a_study_that_runs_and_can_be_taken_out_again(real, tmp_path):
    real("wmt-slt22")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    run([*GIT, "init", "--quiet"], tmp_path)
    run([*GIT, "add", "--all"], tmp_path)
    run([*GIT, "commit", "--quiet", "-m", "before"], tmp_path)
    *steps, last = blocks()
    assert {verb for _, verb, _, _ in steps} == {"run", "file", "cell below", "append to", "row of the table in"}
    for language, verb, place, text in steps:
        if verb == "run":
            assert language == "sh"
            run(["bash", "-euo", "pipefail", "-c", text], tmp_path)
        else:
            follow(verb, place, text, tmp_path)
    report = json.loads((tmp_path / "build" / "look" / "ends_of_the_scale.json").read_text(encoding="utf-8"))
    assert report["status"] == "ok"
    assert report["data"][0]["source"] == "real"
    ratings = real("wmt-slt22")
    lowest = {row["annotator"]: row["lowest"] for row in report["recorded"]["ends"]}
    assert lowest == pytest.approx(ratings["score"].eq(0).groupby(ratings["annotator"]).mean().to_dict())
    reference = json.loads((tmp_path / "data" / "reference" / "ends_of_the_scale.json").read_text(encoding="utf-8"))
    assert reference["recorded"]["ends"] == report["recorded"]["ends"]
    assert run([*GIT, "status", "--porcelain"], tmp_path)
    run(["bash", "-euo", "pipefail", "-c", last[3]], tmp_path)
    assert run([*GIT, "status", "--porcelain"], tmp_path) == ""
