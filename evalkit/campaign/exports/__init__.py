"""Files for papers and spreadsheets out of a report's JSON, all of them or none.

tables: CSV and Parquet. latex: tables of a page. placing: one export takes the place of the one before. The room
``paperwork`` has the methods, their references, and the datasheet.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalkit import DataError, __version__
from evalkit.campaign import paperwork
from evalkit.campaign.exports import tables
from evalkit.campaign.exports.latex import fits, latex
from evalkit.campaign.exports.placing import placed
from evalkit.campaign.exports.tables import read_csv, split
from evalkit.data import delimited
from evalkit.data.registry import digest

__all__ = ["export", "latex", "read", "read_csv", "split"]

#: Largest report that is read, bytes, with so many lists and objects, so deep: no study's has a hundredth of it.
LARGEST = 64 << 20
_MOST_LISTS, _DEEPEST = 1_000_000, 50
_REMEDY = "Name the JSON file beside a report's HTML."
_NOTE = (
    "UTF-8; a gap is an empty cell. Text that a spreadsheet would run as a formula has an apostrophe before it, and "
    "so has text that begins with one: evalkit.campaign.exports.read_csv takes it away. Parquet holds all texts as "
    "they are."
)


def export(report: Path, out: Path) -> list[Path]:
    """Write a report's tables, the methods with their references, the datasheet, and single values.

    report: a study's JSON report. out: a folder, made where it is not there; what an earlier export wrote there is
    replaced, all at once (see ``placing.placed``).
    Returns the files: NAME.csv and NAME.parquet for every table, NAME.tex for tables of a page, values.json,
    methods.txt, .md, .tex and .bib, datasheet.md and .json where the report has one, and export.json, which lists them.
    Raises DataError where the report cannot be read, or is of a study that failed or was skipped; where a file of the
    earlier export was changed since, such as a datasheet that somebody filled in.
    """
    found = read(report)
    recorded, values = split(found["recorded"])
    with placed(out) as folder:
        names, kinds = [], {}
        for stem, (name, table) in tables.stems(recorded).items():
            tables.write(table, folder / stem, what=f"{report.name}: the table {name}")
            kinds[f"{stem}.csv"] = tables.kinds(table)
            names += [f"{stem}.csv", f"{stem}.parquet"]
            if fits(table):
                (folder / f"{stem}.tex").write_text(
                    latex(table, name=name, signature=found["signature"]), encoding="utf-8"
                )
                names.append(f"{stem}.tex")
        texts = {"values.json": _json(values), **paperwork.files(found)}
        for name, content in texts.items():
            (folder / name).write_text(content, encoding="utf-8")
        names += texts
        listed = {
            "study": found["study"],
            "signature": found["signature"],
            "evalkit": __version__,
            "csv": _NOTE,
            "columns": kinds,
            "files": {name: digest(folder / name) for name in names},
        }
        (folder / tables.LIST).write_text(_json(listed), encoding="utf-8")
    return [out / name for name in [*names, tables.LIST]]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Read a study's JSON report; DataError where it is none, or not a good one."""
    if not path.exists():
        raise DataError(f"There is no {path}. Run the study first: evalkit run STUDY.")
    content = delimited.content(path, most=LARGEST, remedy=_REMEDY)
    try:
        found = _parsed(content)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path.name} is no JSON report ({problem}). {_REMEDY}") from None
    if not _is_report(found):
        raise DataError(f"{path.name} is no report of a study. {_REMEDY}")
    if found["status"] != "ok":
        raise DataError(f"{path.name}: the study {found['study']} {found['status']}. Run it again, then export.")
    return found


def _parsed(content: bytes) -> Any:
    """Parse JSON as studies write it. Raises ValueError for what could not be written again as it is."""
    if content.count(b"[") + content.count(b"{") > _MOST_LISTS:
        raise ValueError(f"more than {_MOST_LISTS:,} lists and objects")
    found = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    if _is_deep(found, _DEEPEST):
        raise ValueError(f"more than {_DEEPEST} lists within lists")
    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # halves of letters can stand in JSON, in no file
    return found


def _once(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its entries; of two with one name, one would be lost."""
    found = dict(entries)
    if len(found) < len(entries):
        raise ValueError("an entry is there twice")
    return found


def _is_deep(value: Any, left: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(one, (dict, list)) and (not left or _is_deep(one, left - 1)) for one in inside)


def _is_report(found: Any) -> bool:
    """Tell whether JSON has the form of a study's report."""
    kinds = {"study": str, "status": str, "recorded": dict, "signature": str, "data": list, "parameters": dict}
    if not isinstance(found, dict) or not all(isinstance(found.get(key), kind) for key, kind in kinds.items()):
        return False
    sources = all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("source"), str)
        for one in found["data"]
    )
    return sources and found["study"].isidentifier() and found["status"] in ("ok", "failed", "skipped")
