"""What an executed notebook has found, as data: the JSON report.

A notebook says its findings through display outputs of type ``show.MIME``; nothing is read out of HTML.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import delimited
from evalkit.reports import tally
from evalkit.reports.studies import Study
from evalkit.show import MIME


def payloads(notebook: Any) -> list[dict[str, Any]]:
    """Return every payload of an executed notebook, in the order of its cells."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return [payload for output in outputs if (payload := payload_of(output))]


def payload_of(output: Any) -> dict[str, Any] | None:
    """Return the payload that one output carries, if it carries one."""
    return output.get("data", {}).get(MIME)


def collect(notebook: Any) -> dict[str, Any]:
    """Gather sources, recorded values, comparisons, headline and signature; DataError for a name recorded twice."""
    found: dict[str, Any] = {"data": [], "recorded": {}, "published": [], "headline": "", "signature": ""}
    for payload in payloads(notebook):
        match payload:
            case {"kind": "source", "name": name, "source": source, "origin": origin, "digest": digest}:
                entry = {"name": name, "source": source, "origin": origin, "digest": digest}
                dates = payload.get("dates", {})
                listed = next((one for one in found["data"] if entry.items() <= one.items()), None)
                if listed is None:
                    found["data"].append(entry | dates)
                elif days := [*listed.get("judged", ()), *dates.get("judged", ())]:  # in one table or another of it
                    listed["judged"] = [min(days), max(days)]
            case {"kind": "record", "name": name, "value": value}:
                if name in found["recorded"]:
                    raise DataError(f"The notebook records '{name}' twice. Give each value a name of its own.")
                found["recorded"][name] = value
            case {"kind": "published", "rows": rows}:
                found["published"].extend(rows)
            case {"kind": "headline" | "signature" | "title" as kind, "text": text}:
                found[kind] = text
            case _:
                raise DataError(f"The notebook displays a payload that no report knows: {str(payload)[:80]}.")
    return found


def report(
    study: Study, status: str, *, seconds: float, found: dict[str, Any] | None = None, reason: str = ""
) -> dict[str, Any]:
    """Build a study's JSON report; ``found`` comes from ``collect``, ``reason`` says why there is nothing found."""
    head = {"study": study.name, "title": study.title, "status": status, "seconds": round(seconds, 1)}
    head |= {"parameters": study.parameters}
    return head | (found or collect({"cells": []})) | ({"reason": reason} if reason else {})


def canonical(report: dict[str, Any]) -> str:
    """Write a report as JSON, keys in the order of the notebook; DataError where a recorded value is no number."""
    try:
        return json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError:
        bad = [name for name, value in report["recorded"].items() if re.search("NaN|Infinity", json.dumps(value))]
        where = f"recorded value '{bad[0]}'" if bad else "comparison with print"
        raise DataError(f"The {where} holds a NaN or an infinity. Record None where there is no number.") from None


def read_report(path: Path) -> dict[str, Any] | None:
    """Read a JSON report, or reference results; None where there are none, or something else has their name."""
    try:
        found = json.loads(delimited.content(path))
        tally.count(found["published"])
        texts = [found["study"], found["headline"]]
        if "status" in found:  # reference results have none
            good = found["status"] == "ok" and found["seconds"] >= 0
            texts += [found["status"], "" if good else found["reason"], *(one["source"] for one in found["data"])]
        well = isinstance(found["recorded"], dict) and all(isinstance(one, str) for one in texts)
    except (DataError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return found if well else None


def simulated(report: dict[str, Any]) -> bool:
    """Say whether anything in a report comes from simulated data."""
    return any(source["source"] == "simulated" for source in report["data"])


def earlier(reference: dict[str, Any] | None) -> dict[str, str]:
    """Tell the reference results' headline and tally in words; empty where there are none."""
    if reference is None:
        return {"headline": "", "sentence": ""}
    told = tally.sentences(tally.count(reference["published"]))
    return {"headline": reference.get("headline", ""), "sentence": " ".join(told)}
