"""Reference results: what the studies compute on the real data, committed as small JSON tables.

    python -m evalkit.reports.reference [STUDY...]

Runs the studies with the parameters of ``studies.toml`` and refuses to write anything that rests on simulated data.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit import CLONE, DataError
from evalkit.reports import execute, findings
from evalkit.reports.notebooks import write_text
from evalkit.reports.studies import Layout

#: Rows of a recorded table beyond which only their number is kept: the committed results stay small enough to read.
LONGEST = 2000


def reference(report: dict[str, Any]) -> dict[str, Any]:
    """Reduce a report to its reference results; DataError where it is not good or rests on simulated data."""
    name = report["study"]
    if report["status"] != "ok":
        raise DataError(f"{name} {report['status']}: {report['reason']} Reference results come from good runs only.")
    for source in report["data"]:
        if source["source"] not in ("real", "published"):
            raise DataError(
                f"{name} ran on {source['source']} data for {source['name']}. "
                "Fetch the real data (evalkit data fetch), then make the reference results."
            )
    data = [{"name": source["name"], "digest": source["digest"]} for source in report["data"]]
    kept = {key: report[key] for key in ("signature", "parameters", "headline", "recorded", "published")}
    tables = report["recorded"]
    rows = {key: len(value) for key, value in tables.items() if isinstance(value, list) and len(value) > LONGEST}
    kept["recorded"] = {key: value for key, value in tables.items() if key not in rows}
    return {"study": name, "data": data, **kept, "rows_left_out": rows}


def write_references(names: list[str] | None = None, layout: Layout | None = None) -> list[Path]:
    """Run studies (default: all) apart from the reports folder and write their reference results; return the files."""
    if not (CLONE or layout):
        raise DataError("Reference results are part of the project, and this is an installation. Clone the project.")
    layout = layout or Layout()
    with tempfile.TemporaryDirectory(prefix="evalkit-reference-") as folder:
        apart = replace(layout, reports=Path(folder))
        outcomes = execute.run(names, apart, tell=lambda line: print(line, file=sys.stderr))
        reports = [json.loads((Path(folder) / f"{outcome.study}.json").read_text("utf-8")) for outcome in outcomes]
    results = [reference(report) for report in reports]  # all of them first: nothing is written when one is refused
    written = [layout.reference / f"{result['study']}.json" for result in results]
    for path, result in zip(written, results, strict=True):
        write_text(path, findings.canonical(result))
    return written


if __name__ == "__main__":
    print(*write_references(sys.argv[1:] or None), sep="\n")
