"""Run the README's commands one after the other: how each ends, and which files it writes."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tests.frozen.running import ROOT, SCRIPT, evalkit, files_in, own_folder
from tests.frozen.tables import Rows


def collect(path: str, seeds: bool = False) -> dict[str, dict[str, list[Rows]]]:
    """Run all commands; two tables: how each ended, and the files that each wrote."""
    told = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
    exits: Rows = []
    files: Rows = []

    def run(command: str, folder: Path, start: Any, label: str = "") -> None:
        before = files_in(folder)
        code = start(shlex.split(command))
        exits.append({"command": label + command, "exit": code})
        written = sorted(name for name, time in files_in(folder).items() if before.get(name) != time)
        files.extend(
            {"command": label + command, "file": name}
            for name in written
            if "__pycache__" not in name and not name.startswith("data/cache")
        )

    with own_folder() as folder:
        texts(folder)
        for command in told["before_judging"]:
            run(command, folder, lambda words: evalkit(words).code)
        judge(folder / "spring")
        for command in told["after_judging"]:
            run(command, folder, lambda words: evalkit(words).code)
    with own_folder() as folder:
        for name in ("evalkit", "notebooks", "data"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("cache", "__pycache__"))
        for name in ("README.md", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        for command in told["in_a_copy"]:
            run(command, folder, lambda words: _apart(words, folder), "in a copy: ")
    return {"commands/readme": {"exits": [exits], "files": [files]}}


def _apart(words: list[str], folder: Path) -> int:
    """Run a command of the copy of the project in a folder, in a process of its own."""
    command = [sys.executable, "-c", SCRIPT, *words]
    return subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True
    ).returncode


def texts(folder: Path) -> None:
    """Write a source, three systems' translations of it, and a table of which one row cannot be read."""
    lines = [f"Sentence number {number} of a text that somebody wrote." for number in range(60)]
    (folder / "source.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "outputs").mkdir()
    for system in ("alpha", "beta", "gamma"):
        text = "".join(f"{system}: {line}\n" for line in lines)
        (folder / "outputs" / f"{system}.txt").write_text(text, encoding="utf-8")
    rows = [f"{system},d,{n},Ann,{60 + n}" for n in range(5) for system in ("A", "B")] + ["A,d,9,Ann,much"]
    (folder / "rejected.csv").write_text("\n".join(["system,doc,segment,annotator,score", *rows, ""]), encoding="utf-8")


def judge(folder: Path) -> None:
    """Write what Pearmut would log once everybody has judged everything; scores count up."""
    campaign = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    log, score = [], 0
    for user, task in zip(campaign["info"]["users"], campaign["data"], strict=True):
        for number, screen in enumerate(task):
            said: list[dict[str, Any]] = []
            for item in screen:
                said.append({})
                for model in item["tgt"]:
                    score += 1
                    said[-1][model] = {"score": score % 101, "sliders": None, "error_spans": [], "textfield": None}
            times = [
                {"time": 1e9 + 100 * number + after, "action": name} for after, name in ((0, "load"), (60, "submit"))
            ]
            line = {"user_id": user, "item_i": number, "item": screen, "annotation": said, "actions": times}
            log.append(json.dumps(line))
    place = folder / "data" / "annotations" / "spring.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(log) + "\n", encoding="utf-8")
