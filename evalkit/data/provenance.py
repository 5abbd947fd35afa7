"""What a table knows of itself: where it came from, the ends of its scale, and other facts that numbers rest on.

pandas carries ``DataFrame.attrs`` through selections and new columns, and drops them in ``concat`` of different tables,
in ``merge``, ``pivot`` and ``agg``. So such facts are read here and nowhere else, and a lost one is an error that names
the table and the remedy: no default stands in for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import ROOT, DataError
from evalkit.data import registry

#: Kinds of sources, the weakest first: what holds simulated and real data is simulated.
KINDS = ("simulated", "published", "real")
#: Seconds since 1970 that are the time of a judgement: the years 2000 to 2099. Others count from something else.
_TIMES = (946_684_800, 4_102_444_800)
#: The lowest and the highest score that can be given.
Scale = tuple[float, float]
_KEPT = "carry it over with provenance.like(table, origin), or stack tables with provenance.stack([...])"


def source_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return a table's ``name, source, origin, digest``, or raise DataError where it has none.

    >>> source_of(pd.DataFrame({"pair": ["eng-jpn"]}))
    Traceback (most recent call last):
    evalkit.DataError: The table of 1 row with pair does not say where it comes from. Load it with evalkit.data, or...
    """
    found = frame.attrs.get("source", {})
    if not {"name", "source", "origin", "digest"} <= {*found}:
        raise DataError(f"{called(frame)} does not say where it comes from. Load it with evalkit.data, or {_KEPT}.")
    return {key: found[key] for key in ("name", "source", "origin", "digest")}


def dates_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return what dates a table of real data: ``released`` and ``dated_by`` of its registry entry, and ``judged``.

    judged: the first and the last day, in UTC, of the time stamps of its judgements (``started``, ``ended``), where it
    has them. A file's own time of change is no date of its data, and a copy has another one.

    >>> made = {"name": "my", "source": "real", "origin": "my.csv", "digest": "d"}
    >>> ratings = pd.DataFrame({"started": [1.7e9, None], "ended": [1.7e9 + 60, 1.7e9 + 86400]})
    >>> ratings.attrs["source"] = made
    >>> dates_of(ratings)
    {'judged': ['2023-11-14', '2023-11-15']}
    """
    source = source_of(frame)
    if source["source"] != "real":  # a simulation has no date, and what a paper prints has its year in its origin
        return {}
    found: dict[str, Any] = registry.released(source["name"]) if source["origin"].startswith("https://") else {}
    stamps = [frame[column].dropna() for column in ("started", "ended") if column in frame]
    times = [float(end) for column in stamps for end in column[column.between(*_TIMES)].agg(["min", "max"]).dropna()]
    if times:
        found["judged"] = [datetime.fromtimestamp(end, UTC).date().isoformat() for end in (min(times), max(times))]
    return found


def scale_of(frame: pd.DataFrame, *, given: Scale | None = None) -> Scale:
    """Return the lowest and the highest score that an annotator could give: those given, or else the table's own.

    Raises DataError where neither is known, and where an end lies above the other.

    >>> scale_of(pd.DataFrame({"score": [3.0]}), given=(1, 5))
    (1.0, 5.0)
    >>> scale_of(pd.DataFrame({"score": [3.0]}))
    Traceback (most recent call last):
    evalkit.DataError: The table of 1 row with score does not say where its scale ends. Pass scale=(low, high), or...
    """
    found = given if given is not None else frame.attrs.get("scale")
    if found is None:
        raise DataError(f"{called(frame)} does not say where its scale ends. Pass scale=(low, high), or {_KEPT}.")
    low, high = map(float, found)
    if not low < high:
        raise DataError(f"{called(frame)}: the scale runs from {low:g} to {high:g}. Give its lowest score first.")
    return low, high


def declared_scale(frame: pd.DataFrame) -> Scale | None:
    """Return the ends of a table's scale, None where its source does not tell them; a lost entry is an error."""
    if "scale" not in frame.attrs:
        scale_of(frame)
    return None if frame.attrs["scale"] is None else scale_of(frame)


def fact(frame: pd.DataFrame, name: str, *, by: str) -> Any:
    """Return what ``by``, the function that made the table, wrote on it under ``name``, or say how to get it back.

    >>> fact(pd.DataFrame({"mean": [52.0]}), "categories", by="human.observed.matrices")
    Traceback (most recent call last):
    evalkit.DataError: The table of 1 row with mean has lost its 'categories', which human.observed.matrices writes...
    """
    if name not in frame.attrs:
        raise DataError(f"{called(frame)} has lost its {name!r}, which {by} writes on its result: {_KEPT}.")
    return frame.attrs[name]


def reading_of(frame: pd.DataFrame) -> Mapping[str, Any]:
    """Return how an import read a table's files; empty for one that no import made, or whose report is not beside it.

    receipt: what -> how, in words. format: of the file, as ``--format`` names it. orientation: which way was better in
    the file. segments: how they were found; unsure_segments: the share of them of which that is not certain.
    """
    return frame.attrs.get("reading", {})


def called(frame: pd.DataFrame) -> str:
    """Name a table for a message: as its source is called, or else by its size and first columns.

    >>> called(pd.DataFrame({"system": ["A", "B"], "score": [1.0, 2.0]}))
    'The table of 2 rows with system, score'
    """
    if name := (frame.attrs.get("source") or {}).get("name"):
        return f"The table {name}" if name != "table" else "The table"
    columns = ", ".join(map(str, frame.columns[:4])) or "no columns"
    more = f" and {frame.shape[1] - 4} more" if frame.shape[1] > 4 else ""
    return f"The table of {len(frame):,} row{'' if len(frame) == 1 else 's'} with {columns}{more}"


def like(frame: pd.DataFrame, origin: pd.DataFrame, **facts: Any) -> pd.DataFrame:
    """Return a table with all that another, which it was made from, knows of itself, and further facts.

    >>> ratings = pd.DataFrame({"score": [1.0]})
    >>> ratings.attrs["scale"] = (1, 5)
    >>> like(ratings.merge(pd.DataFrame({"score": [1.0]})), ratings, seed=7).attrs
    {'scale': (1, 5), 'seed': 7}
    """
    made = frame.copy(deep=False)
    made.attrs = {**origin.attrs, **facts}
    return made


def merged(tables: pd.DataFrame | Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the one source of what rests on several tables: of the weakest kind among them, digests joined.

    tables: one table or several. Raises DataError where a table does not say where it comes from, or there is none.
    """
    tables = [tables] if isinstance(tables, pd.DataFrame) else list(tables)
    sources = [source_of(table) for table in tables]
    if not sources:
        raise DataError("No table is named that the numbers rest on. Name all that they were computed from.")
    marks = {"name": "+", "origin": "; ", "digest": "+"}
    joined = {key: mark.join(dict.fromkeys(source[key] for source in sources)) for key, mark in marks.items()}
    weakest = min((source["source"] for source in sources), key=KINDS.index)
    return sources[0] | joined | {"source": weakest}


def stack(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Put loaded tables below one another; the whole has one source, the weakest of theirs, and their common scale.

    Rows are numbered anew. Facts are kept where all tables have the same, and why one is simulated. Raises DataError
    where a table does not say where it comes from, or scales differ.

    >>> ratings = pd.DataFrame({"score": [1.0]})
    >>> ratings.attrs |= {"scale": (1, 5), "source": {"name": "a", "source": "real", "origin": "o", "digest": "d"}}
    >>> drawn = ratings.copy()
    >>> drawn.attrs["source"] |= {"name": "b", "source": "simulated", "digest": "e"}
    >>> whole = stack([ratings, drawn])
    >>> len(whole), whole.attrs["scale"], whole.attrs["source"]["source"], whole.attrs["source"]["digest"]
    (2, (1, 5), 'simulated', 'd+e')
    """
    tables = list(tables)
    source, ends = merged(tables), [table.attrs.get("scale", "no known ends") for table in tables]
    if other := next((place for place, scale in enumerate(ends) if scale != ends[0]), 0):
        told = f"{called(tables[0])} has scores from {ends[0]}, and {called(tables[other])} from {ends[other]}"
        raise DataError(f"{told}. Bring them to one scale before stacking, or look at them apart.")
    whole = pd.concat(tables, ignore_index=True)
    facts, *others = (table.attrs for table in tables)
    whole.attrs = {name: value for name, value in facts.items() if all(own.get(name) == value for own in others)}
    if why := dict.fromkeys(table.attrs["why_simulated"] for table in tables if "why_simulated" in table.attrs):
        whole.attrs["why_simulated"] = " ".join(why)
    whole.attrs["source"] = source
    return whole


@dataclass(frozen=True)
class Elsewhere:
    """What a model computed of real data in another environment, and all that is needed to compute it again.

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
        """Return one of the tables."""
        return pd.DataFrame(self.tables[name])

    @property
    def told(self) -> str:
        """Say for a caption by what, and that it was elsewhere, the numbers were computed."""
        return f"computed elsewhere with {self.model}, SHA-256 of its weights {self.sha256[:12]}…"

    def write(self, path: str | Path) -> None:
        """Write the results, numbers rounded to six digits after the point: another machine gives the same bytes."""
        plain = json.dumps(asdict(self))
        rounded = json.loads(plain, parse_float=lambda text: round(float(text), 6), parse_constant=lambda _: None)
        text = json.dumps(rounded, indent=1, ensure_ascii=False, allow_nan=False)
        Path(path).write_text(text + "\n", encoding="utf-8")


def elsewhere(name: str, folder: Path = ROOT / "data" / "reference" / "elsewhere") -> Elsewhere:
    """Read committed results, which reports show and do not compute, by their name.

    >>> elsewhere("minilm_wmt23").model
    'all-MiniLM-L6-v2'
    """
    return Elsewhere(**json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
