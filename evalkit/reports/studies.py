"""The studies that there are (``notebooks/studies.toml``)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit import ROOT, DataError
from evalkit.data import registry
from evalkit.reports.notebooks import Misuse, bind, misuse, parameters, suggestion

#: What an entry has under each key.
FIELDS: dict[str, Any] = dict.fromkeys(("notebook", "title", "question", "paper", "link", "fallback"), str) | {
    "data": list,
    "optional": list,
    "parameters": dict,
}
_WANTED: dict[Any, str] = {str: "a text", list: "a list of texts", dict: "a table"}
_LINK = re.compile(r"https?://[^\s\0-\x1f]+")
_LONGEST = 100  # characters of a name, so that files can have it
_TAKEN = "index"  # what the overview of all reports is called


@dataclass(frozen=True)
class Layout:
    """Where a run reads the suite's studies and writes its reports, by default into the folder that one stands in."""

    studies: Path = ROOT / "notebooks" / "studies.toml"
    reports: Path = field(default_factory=lambda: Path.cwd() / "reports")
    reference: Path = ROOT / "data" / "reference"


@dataclass(frozen=True)
class Study:
    """One entry of ``studies.toml``: a notebook, the data that it needs and the report that it makes."""

    name: str
    notebook: Path
    title: str
    question: str = ""
    paper: str = ""
    link: str = ""
    data: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    fallback: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


def read_studies(layout: Layout) -> dict[str, Study]:
    """Read all studies by name, in the file's order; DataError for a file or an entry that cannot be used."""
    entries = registry.toml(layout.studies, remedy="Name a studies.toml, and correct that line of it.")
    return {name: _study(name, entry, layout) for name, entry in entries.items()}


def _study(name: str, entry: Any, layout: Layout) -> Study:
    where = f"{layout.studies}, [{name:.60}]"
    if not name.isidentifier() or len(name) > _LONGEST or name.lower() == _TAKEN:
        raise DataError(
            f"{where}: a study's name is also a file's name. Use letters, digits and underscores, and not {_TAKEN}."
        )
    if not isinstance(entry, dict) or not {"notebook", "title"} <= entry.keys():
        raise DataError(f"{where} needs at least the keys notebook and title.")
    for key, value in entry.items():
        if key not in FIELDS:
            raise DataError(f"{where} has no key '{key:.60}'. {suggestion(key, FIELDS)}")
        if not isinstance(value, FIELDS[key]) or (FIELDS[key] is list and any(type(one) is not str for one in value)):
            raise DataError(f"{where}: {key} must be {_WANTED[FIELDS[key]]}, not {str(value)[:80]!r}. Correct it.")
    if entry.get("link") and not _LINK.fullmatch(entry["link"]):
        raise DataError(f"{where}: link is no address. Write one that begins with https://.")
    lists = {key: tuple(entry.get(key, ())) for key in ("data", "optional")}
    return Study(**{**entry, **lists, "name": name, "notebook": layout.studies.parent / entry["notebook"]})


def choose(studies: dict[str, Study], names: list[str]) -> list[Study]:
    """Pick studies by name, each once; DataError names the nearest study for an unknown one."""
    for name in names:
        if name not in studies:
            raise Misuse(f"There is no study '{name}'. {suggestion(name, studies)} See: evalkit list")
    return [studies[name] for name in dict.fromkeys(names)]


def settings(study: Study, values: dict[str, Any]) -> dict[str, Any]:
    """Bind a study's parameters: the notebook's defaults, then ``studies.toml``, then ``values``."""
    declared = parameters(study.notebook)
    defaults = {parameter.name: parameter.default for parameter in declared}
    own = bind(declared, study.parameters, origin=f"studies.toml, [{study.name}.parameters]")
    with misuse():
        return defaults | own | bind(declared, values, origin=study.name)
