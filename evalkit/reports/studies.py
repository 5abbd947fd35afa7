"""Which studies there are, read from ``notebooks/studies.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit import ROOT, DataError
from evalkit.reports.notebooks import suggestion

FIELDS = {"notebook", "title", "question", "paper", "link", "data", "optional", "fallback", "parameters"}


@dataclass(frozen=True)
class Layout:
    """Where a run reads the suite's studies and writes its reports, by default into the folder that one stands in."""

    studies: Path = ROOT / "notebooks" / "studies.toml"
    reports: Path = field(default_factory=lambda: Path.cwd() / "reports")
    reference: Path = ROOT / "data" / "reference"

    @property
    def notebooks(self) -> Path:
        """The folder that the entries' ``notebook`` paths start from."""
        return self.studies.parent


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
    try:
        entries = tomllib.loads(layout.studies.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no {layout.studies}. Correct the path.") from None
    except ValueError as problem:
        raise DataError(f"{layout.studies} cannot be read: {problem}. Correct that line.") from None
    return {name: _study(name, entry, layout) for name, entry in entries.items()}


def _study(name: str, entry: Any, layout: Layout) -> Study:
    where = f"{layout.studies}, [{name}]"
    if not name.isidentifier():
        raise DataError(f"{where}: a study's name is also a file's name. Use letters, digits and underscores.")
    if not isinstance(entry, dict) or not {"notebook", "title"} <= entry.keys():
        raise DataError(f"{where} needs at least the keys notebook and title.")
    if unknown := sorted(entry.keys() - FIELDS):
        raise DataError(f"{where} has no key '{unknown[0]}'. {suggestion(unknown[0], FIELDS)}")
    lists = {key: tuple(entry.get(key, ())) for key in ("data", "optional")}
    return Study(**{**entry, **lists, "name": name, "notebook": layout.notebooks / entry["notebook"]})


def choose(studies: dict[str, Study], names: list[str]) -> list[Study]:
    """Pick studies by name, each once; DataError names the nearest study for an unknown one."""
    for name in names:
        if name not in studies:
            raise DataError(f"There is no study '{name}'. {suggestion(name, studies)} See: evalkit list")
    return [studies[name] for name in dict.fromkeys(names)]
