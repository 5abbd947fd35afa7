"""Results that reports show and do not compute: made by a model in another environment, kept with how to make them."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import ROOT, DataError, one_line

FOLDER = ROOT / "data" / "reference" / "elsewhere"


@dataclass(frozen=True)
class Elsewhere:
    """What a model computed of real data, and all that is needed to compute it again.

    model, package, sha256: its name, where it comes from, the digest of its weights. commands: in order. data: name ->
    digest of the texts that were read. settings: what else the numbers depend on. tables: name -> rows.
    """

    model: str
    package: str
    sha256: str
    commands: list[str]
    data: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """Return one of the tables; DataError names those there are."""
        if name not in self.tables:
            raise DataError(f"{self.model} has no table {name!r} here. Choose among {', '.join(self.tables)}.")
        return pd.DataFrame(self.tables[name])

    @property
    def told(self) -> str:
        """Say for a caption by what, and that it was elsewhere, the numbers were computed."""
        return f"computed elsewhere with {self.model}, SHA-256 of its weights {self.sha256[:12]}…"


def read(name: str, folder: Path = FOLDER) -> Elsewhere:
    """Read committed results by their name; DataError names the nearest where there are none of that name.

    >>> read("minilm_wmt23").model
    'all-MiniLM-L6-v2'
    """
    known = {path.stem: path for path in sorted(folder.glob("*.json"))}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0) or ["nothing"]
        raise DataError(f"No results {name!r} were computed elsewhere. Did you mean {near[0]}?")
    try:
        return Elsewhere(**json.loads(known[name].read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as problem:
        reason = f"{type(problem).__name__}: {one_line(problem)}"
        raise DataError(f"{known[name]} cannot be read ({reason}). Restore it with git checkout.") from problem


def write(path: str | Path, results: Elsewhere) -> None:
    """Write results, numbers rounded to six digits after the point, so that another machine gives the same bytes."""
    text = json.dumps(_rounded(asdict(results)), indent=1, ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _rounded(value: Any) -> Any:
    """Round every number, and put nothing in place of what is not one."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return (None if value != value else round(value, 6)) if isinstance(value, float) else value
