"""Read what reports recorded: of every study, and of campaigns, under one seed or several."""

import json
import os
import shutil
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tests.frozen import words
from tests.frozen.imports import SALT, spelled
from tests.frozen.running import ROOT, evalkit, own_folder, two_at_a_time
from tests.frozen.store import Refused, within
from tests.frozen.tables import Rows, rows_of

Tables = dict[str, Rows]
#: Besides the default one; with it they are five.
SEEDS = (11, 23, 42, 101)
#: Documents of sentences, which no table is.
_PROSE = ("methods", "datasheet")


def seeds_folder() -> Path:
    """Return where reports under other seeds are kept: a folder for each seed."""
    return Path(os.environ.get("EVALKIT_SEEDS") or ROOT / "build" / "seeds")


def studies(path: str, seeds: bool = False) -> dict[str, dict[str, list[Rows]]]:
    """Read every study's report, from the folder EVALKIT_REPORTS or from a run of all; ``seeds``: other seeds' too."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(os.environ.get("EVALKIT_REPORTS") or made)
        if folder == Path(made):
            _run(["--all"], folder)
        names = [name for name in _studies_in(folder) if within(path, f"studies/{name}")]
        now = {name: tables(_read(folder / f"{name}.json")) for name in names}
    return _under_seeds("studies", now, seeds, of=tables)


def campaigns(path: str, seeds: bool = False) -> dict[str, dict[str, list[Rows]]]:
    """Report on the campaigns that a path names."""
    names = [name for name in _campaigns() if within(path, f"campaigns/{name}")]
    with tempfile.TemporaryDirectory() as made:
        two_at_a_time(_report, [(name, None, Path(made) / f"{name}.json") for name in names])
        now = {name: tables(_read(Path(made) / f"{name}.json"), outer=False) for name in names}
    return _under_seeds("campaigns", now, seeds, of=lambda report: tables(report, outer=False))


def run_seeds() -> None:
    """Make the reports under other seeds that are not there yet: of all studies, and of all campaigns."""
    for seed in SEEDS:
        folder = seeds_folder() / str(seed)
        known = [line.split()[0] for line in evalkit(["list"]).out.splitlines() if line and not line.startswith(" ")]
        if lacking := [name for name in known if not (folder / "studies" / f"{name}.json").exists()]:
            _run([*lacking, "-p", f"seed={seed}", "--jobs", "1"], folder / "studies")
        places = [(name, seed, folder / "campaigns" / f"{name}.json") for name in _campaigns()]
        two_at_a_time(_report, [job for job in places if not job[2].exists()])


def tables(report: dict[str, Any], *, outer: bool = True) -> Tables:
    """Make tables of a report: what it recorded, what it compared with print, and how it ended.

    outer: also its parameters and data, which a campaign's file of its own has in another place at every run. Of checks
    the verdicts are kept by key: what was found is told in sentences.
    """
    made = {name: rows_of(value) for name, value in report["recorded"].items() if name not in _PROSE}
    made["published"] = rows_of(report["published"])
    made["status"] = [{"status": report["status"]}]
    if outer:
        made["parameters"] = rows_of({key: value for key, value in report["parameters"].items() if key != "seed"})
        made["data"] = [{name: source.get(name) for name in ("name", "source", "digest")} for source in report["data"]]
    if "checks" in made and all("result" in row for row in made["checks"]):
        made["checks"] = [
            {"check": words.key("check", row["check"]), "verdict": words.key("verdict", row["result"])}
            for row in made["checks"]
        ]
    return {name: rows for name, rows in made.items() if rows}


def _under_seeds(part: str, now: dict[str, Tables], seeds: bool, of: Any) -> dict[str, dict[str, list[Rows]]]:
    """Add to each table the same one under other seeds; one that is not there under another seed has no rows then."""
    versions = {f"{part}/{name}": {table: [rows] for table, rows in made.items()} for name, made in now.items()}
    for name, made in now.items() if seeds else ():
        for seed in SEEDS:
            path = seeds_folder() / str(seed) / part / f"{name}.json"
            if not path.exists():
                raise Refused(f"{path} is not there. Run first: python -m tests.frozen seeds")
            other = of(_read(path))
            for table in made:
                versions[f"{part}/{name}"][table].append(other.get(table, []))
    return versions


def _read(path: Path) -> dict[str, Any]:
    """Read a report."""
    return json.loads(path.read_text(encoding="utf-8"))


def _studies_in(folder: Path) -> list[str]:
    """Name the studies that have a report in a folder."""
    return sorted(path.stem for path in folder.glob("*.json") if "recorded" in _read(path))


def _run(told: list[str], folder: Path) -> None:
    """Run studies into a folder; stop where one fails."""
    outcome = evalkit(["run", *told, "--out", str(folder)])
    if outcome.code:
        raise Refused(f"evalkit run {' '.join(told)} ended with {outcome.code}: {outcome.told[-1000:]}")


def _campaigns() -> dict[str, dict[str, Any]]:
    """Read which campaigns there are."""
    return tomllib.loads((Path(__file__).parent / "campaigns.toml").read_text(encoding="utf-8"))


def _report(job: tuple[str, int | None, Path]) -> None:
    """Import a campaign, report on it under a seed (None: the default), and put the report's JSON in a place."""
    name, seed, place = job
    told = _campaigns()[name]
    parameters = [*told.get("parameters", ()), *([] if seed is None else [f"seed={seed}"])]
    with own_folder() as folder:
        if files := told.get("files"):
            outcome = evalkit(["import", *spelled(files), *SALT])
            if outcome.code:
                raise Refused(f"{name} cannot be imported: {outcome.told}")
            parameters.append("file=campaign.parquet")
        chosen = [word for parameter in parameters for word in ("-p", parameter)]
        outcome = evalkit(["run", "campaign", *chosen, "--jobs", "1"])
        place.parent.mkdir(parents=True, exist_ok=True)
        if outcome.code:  # a report that fails is a result, too
            place.write_text(json.dumps({"status": "failed", "recorded": {}, "published": []}), encoding="utf-8")
        else:
            shutil.move(folder / "reports" / "campaign.json", place)
