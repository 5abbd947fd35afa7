"""Import foreign files and tell what came of each, in numbers made here from the Parquet that was written."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from tests.frozen import words
from tests.frozen.running import SHARED, Outcome, evalkit, files_in, own_folder, two_at_a_time
from tests.frozen.store import within
from tests.frozen.tables import Rows

#: Lets pseudonyms be the same at every import.
SALT = ("--salt", "frozen")
_COMMIT = re.compile(r"/[0-9a-f]{40}(?=/)")
_PLACES = ("strangers/", "hostile/", "data/")
_ROWS = ("rows_read", "rows_kept", "rows_rejected", "rows_excluded", "rows_folded", "blank_cells")


def collect(path: str, seeds: bool = False) -> dict[str, dict[str, list[Rows]]]:
    """Import what a path names: the tables of each command, by file of frozen tables. Nothing is drawn at random."""
    jobs = [job for job in _jobs() if within(path, f"imports/{job[0]}/{job[1]}")]
    found: dict[str, dict[str, list[Rows]]] = {}
    # what takes long begins first
    jobs.sort(key=lambda job: -sum(Path(word).stat().st_size for word in job[2] if Path(word).is_file()))
    for (group, name, _), tables in zip(jobs, two_at_a_time(_imported, jobs), strict=True):
        for table, rows in tables.items():
            found.setdefault(f"imports/{group}", {})[f"{name}/{table}"] = [rows]
    return found


def _jobs() -> list[tuple[str, str, list[str]]]:
    """List the commands: group, name, words."""
    told = tomllib.loads((Path(__file__).parent / "imports.toml").read_text(encoding="utf-8"))
    jobs = []
    for group, patterns in told["each"].items():
        names = sorted({name for pattern in patterns for name in found(pattern)})
        jobs += [
            (group, _COMMIT.sub("", name).split("/", 1)[1], [str(SHARED / name)])
            for name in names
            if not name.endswith("README.md")
        ]
    return jobs + [("together", name, spelled(command)) for name, command in told["together"].items()]


def found(pattern: str) -> list[str]:
    """Name the files of the shared folder that fit a pattern, relative to it."""
    return sorted(path.relative_to(SHARED).as_posix() for path in SHARED.glob(pattern))


def spelled(command: str) -> list[str]:
    """Split a command into words, with the paths of files in place of patterns."""
    whole = []
    for word in shlex.split(command):
        whole += [str(SHARED / name) for name in found(word)] if word.startswith(_PLACES) else [word]
    return whole


def _imported(job: tuple[str, str, list[str]]) -> dict[str, Rows]:
    """Import in a folder of its own; return the tables that tell what came of it."""
    with own_folder() as folder:
        outcome = evalkit(["import", *job[2], *SALT])
        written = [{"file": name} for name in sorted(files_in(folder))]
        if outcome.code or not Path("campaign.parquet").exists():
            return {"result": [_refused(outcome)]} | ({"files": written} if written else {})
        receipt = json.loads(Path("campaign.import.json").read_text(encoding="utf-8"))
        ratings = pd.read_parquet("campaign.parquet")
        spans = Path("campaign.spans.parquet")
        marked = pd.read_parquet(spans) if spans.exists() else pd.DataFrame()
    tables = {
        "result": [{"exit": outcome.code} | _said(receipt) | _counted(ratings) | {"spans": len(marked)}],
        "systems": _systems(ratings),
        "systems told": _told(receipt["systems"], ["criterion", "system"]),
        "people": _people(ratings),
        "apart": _apart(receipt),
        "spans": _spans(marked),
        "files": written,
    }
    return {name: rows for name, rows in tables.items() if rows}


def _refused(outcome: Outcome) -> dict[str, Any]:
    """Tell how an import ended that wrote nothing."""
    said = outcome.told.rpartition("evalkit: ")[2] if outcome.code else ""
    return {"exit": outcome.code, "refusal": words.key("refusal", said)}


def _said(receipt: dict[str, Any]) -> dict[str, Any]:
    """Take from the receipt what was read, and which way is better."""
    low, high = receipt["scale"] or (None, None)
    keyed = {group: words.key(group, receipt[group]) for group in ("orientation", "scale_from", "segments")}
    counts = {name: receipt[name] for name in _ROWS}
    told = {"people told": receipt["annotators"], "spans told": receipt["spans"], "judges": len(receipt["judges"])}
    notes = {"notes": words.keys("note", receipt["notes"]), "unsure segments": receipt["unsure_segments"]}
    return {"format": receipt["format"], "scale low": low, "scale high": high, **keyed, **counts, **told, **notes}


def _counted(ratings: pd.DataFrame) -> dict[str, Any]:
    """Count what stands in the table of judgements; deviations betray scores at wrong segments or people."""
    item = (
        ratings["src_lang"]
        .astype(str)
        .str.cat([ratings[name].astype(str) for name in ("tgt_lang", "doc", "segment")], "\n")
    )
    of_systems = ratings["item_type"].astype(str) == "system"
    scores = ratings["score"].astype(float)
    return {
        "judgements": len(ratings),
        "people": ratings["annotator"].nunique(),
        "pairs": len(ratings[["src_lang", "tgt_lang"]].drop_duplicates()),
        "documents": len(ratings[["src_lang", "tgt_lang", "doc"]].drop_duplicates()),
        "segments": item.nunique(),
        "segments by systems": len(set(zip(item[of_systems], ratings["system"].astype(str)[of_systems], strict=True))),
        "lowest": float(scores.min()),
        "highest": float(scores.max()),
        "sd of segments' means": _sd(scores.groupby(item).mean()),
        "sd of people's means": _sd(scores.groupby(ratings["annotator"].astype(str)).mean()),
        "times": int(ratings["started"].notna().sum()) if "started" in ratings else 0,
    }


def _sd(values: pd.Series) -> float | None:
    """Return a standard deviation; of a single value there is none."""
    return float(values.std()) if len(values) > 1 else None


def _systems(ratings: pd.DataFrame) -> Rows:
    """Count and average the judgements of each system, by kind of item and criterion."""
    by = [name for name in ("criterion", "item_type", "system") if name in ratings]
    grouped = ratings[by].astype(str).assign(score=ratings["score"].astype(float)).groupby(by)["score"]
    return [
        dict(zip(by, name, strict=True)) | {"judgements": len(scores), "mean": float(scores.mean())}
        for name, scores in grouped
    ]


def _told(rows: list[dict[str, Any]], by: list[str]) -> Rows:
    """Sort what the receipt tells of systems."""
    return sorted(rows, key=lambda row: [str(row.get(name, "")) for name in by])


def _people(ratings: pd.DataFrame) -> Rows:
    """Count and average the judgements of each person, without names: from most to fewest."""
    grouped = ratings["score"].astype(float).groupby(ratings["annotator"].astype(str)).agg(["size", "mean"])
    ordered = sorted(grouped.itertuples(index=False), key=lambda row: (-row[0], row[1]))
    return [{"judgements": int(size), "mean": float(mean)} for size, mean in ordered]


def _apart(receipt: dict[str, Any]) -> Rows:
    """Count rows that were set apart, by reason."""
    return [
        {"kind": kind, "reason": words.key("apart", reason), "rows": count}
        for kind, part in (("rejected", "reasons"), ("excluded", "excluded"))
        for reason, count in sorted(receipt[part].items())
    ]


def _spans(marked: pd.DataFrame) -> Rows:
    """Count marked errors by category and severity."""
    if not len(marked):
        return []
    by = [name for name in ("error_type", "severity") if name in marked]
    counts = marked[by].astype(object).fillna("").astype(str).value_counts(sort=False).sort_index()
    return [dict(zip(by, name, strict=True)) | {"marks": int(count)} for name, count in counts.items()]
