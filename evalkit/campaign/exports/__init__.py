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
from evalkit.data.registry import digest

__all__ = ["export", "latex", "read", "read_csv", "split"]

#: Largest report that is read, bytes.
LARGEST = 200_000_000
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
        listed = {"study": found["study"], "signature": found["signature"], "evalkit": __version__, "csv": _NOTE,
                  "columns": kinds, "files": {name: digest(folder / name) for name in names}}  # fmt: skip
        (folder / tables.LIST).write_text(_json(listed), encoding="utf-8")
    return [out / name for name in [*names, tables.LIST]]


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def read(path: Path) -> dict[str, Any]:
    """Read a study's JSON report; DataError where it is none, or not a good one."""
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path.name} is larger than any report. Name the JSON file beside a report's HTML.")
        content = path.read_text(encoding="utf-8")
        found = json.loads(content)
        json.dumps(found, ensure_ascii=False).encode()  # halves of letters can stand in JSON, and in no file
    except FileNotFoundError:
        raise DataError(f"There is no {path}. Run the study first: evalkit run STUDY.") from None
    except (ValueError, RecursionError) as problem:
        raise DataError(
            f"{path.name} is no JSON report ({problem}). Name the JSON file beside a report's HTML."
        ) from None
    kinds = {"study": str, "status": str, "recorded": dict, "signature": str, "data": list, "parameters": dict}
    whole = isinstance(found, dict) and all(isinstance(found.get(key), kind) for key, kind in kinds.items())
    sources = found["data"] if whole else []
    named = all(isinstance(source, dict) and {"name", "source"} <= source.keys() for source in sources)
    if not (whole and named):
        raise DataError(f"{path.name} is no report of a study. Name the JSON file beside a report's HTML.")
    if found["status"] != "ok":
        raise DataError(f"{path.name}: the study {found['study']} {found['status']}. Run it again, then export.")
    return found
