"""Give results of a designed campaign their roles back: what annotators saw as codes, its design knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import designs
from evalkit.data.designs import Design, Entry
from evalkit.data.importing import annotated, vocabulary
from evalkit.data.importing.tables import HEAD, Seen, Table, broken

_ITEM = "item"  # the heading of identifiers in the tables that a design is written as
_READ = "identifier"  # the same once it was read, for an item is a segment elsewhere
#: What is said of items that nobody answered.
UNANSWERED = "items have no answer yet"
_COPIES = ("degraded", "repeat")  # of documents that are shown a second time
_KINDS = ("void", "reset", "tutorial", "check", "form", "replaced")  # rows of Pearmut that are no judgements


def decoded(path: Path, tables: Sequence[Table], told: Design | None) -> list[Table]:
    """Return a file's tables with the columns that its campaign's design knows; without a design as they are.

    told: the design that the user names; None looks for one beside the file, which is used where it knows any of the
    file's items. Raises DataError where the design that was told knows none of them.
    """
    design = told or _beside(path)
    known = [design is not None and _is_of(table, design) for table in tables]
    if told and not any(known):
        raise DataError(f"{path.name} holds no item of {told.path.name}. Name this campaign's design, or leave it out.")
    return [_decoded(table, design) if design and yes else table for table, yes in zip(tables, known)]


def _beside(path: Path) -> Design | None:
    """Find a design beside a file; another file of that name is left alone."""
    place = designs.beside(path)
    if not place or designs.KIND.encode() not in place.read_bytes()[:200]:
        return None
    return designs.read(place)


def _is_of(table: Table, design: Design) -> bool:
    """Tell whether one of a table's first rows is an item of a design."""
    named = {"segment", "system"} if table.kind else {_ITEM}
    return named <= {*table.cells} and any(
        _entry(row, table.kind, design) for row in table.cells.head(HEAD).to_dict("records")
    )


def _entry(row: Mapping[str, Any], tool: str, design: Design) -> tuple[Entry, str] | None:
    """Find what a row is of: by what a table of ours heads so or, in a tool's log, by what Pearmut stored."""
    if tool:
        return design.find(_text(row.get("segment")), _text(row.get("system")))
    return design.find(_text(row.get(_ITEM)))


def _text(cell: object) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _decoded(table: Table, design: Design) -> Table:
    """Return a table with the design's columns; unknown items are broken rows, empty answers none."""
    tool, header = table.kind, table.header
    answers = [name for name in header if vocabulary.bare(name) in ("score", "preference")]
    told: list[dict[str, str]] = []
    keep: list[int] = []
    names: dict[str, None] = {}  # of columns, also where nobody has answered anything yet
    unknown, empty = list(table.broken), 0
    for place, row in enumerate(table.cells.to_dict("records")):
        cells = _cells(row, tool, design, header)
        names |= dict.fromkeys(cells)
        if not tool and answers and not any(_text(row[name]) for name in answers):
            empty += 1
            continue
        if not cells and _text(row.get(annotated.KIND)) not in _KINDS:
            reason = f"is no item of {design.path.name}: correct the identifier, or import it without the design"
            unknown.append(broken(int(table.cells.index[place]), reason, [_text(cell) for cell in row.values()]))
            continue
        keep.append(place)
        told.append(cells)
    kept = table.cells.iloc[keep]
    known = pd.DataFrame(told, kept.index, [*names], dtype="str").replace("", None)
    kept = kept.assign(**{name: known[name].fillna(kept[name]) if name in header else known[name] for name in names})
    if tool:
        kept = kept.assign(**{annotated.DESIGNED: "1"})
        kept = _as_shares(kept) if design.compares else kept
    notes = [f"which item is which was read from {design.path.name}", *([f"{empty:,} {UNANSWERED}"] if empty else [])]
    return replace(
        table,
        cells=kept.rename(columns={_ITEM: _READ}),
        broken=sorted(unknown, key=lambda one: one.line),
        notes=[*table.notes, *notes],
        beside=[*table.beside, Seen.at(design.path)],
        design=design,
    )


def _cells(row: Mapping[str, Any], tool: str, design: Design, header: Sequence[str]) -> dict[str, str]:
    """Return what the design knows of a row; nothing of a row that is none of its judgements."""
    known = _entry(row, tool, design)
    if not known or _text(row.get(annotated.KIND)) in _KINDS:
        return {}
    (entry, alias), said, task = known, design.said, _task(known[0].task)
    people, scale, shown = said.get("annotators") or [], said.get("scale"), [*entry.shown]
    cells = {name: str(said.get(name) or "und") for name in ("src_lang", "tgt_lang")}
    cells |= {"doc": entry.doc, "segment": entry.segment, "hit": task}
    if "annotator" not in header and entry.task <= len(people):
        cells["annotator"] = str(people[entry.task - 1])
    if annotated.ENDS in header and scale:
        cells[annotated.ENDS] = "{:g}:{:g}".format(*scale) if _text(row.get(annotated.ENDS)) else ""
    if design.compares:
        cells["hit"] = f"{task}/{entry.position}"
    if design.compares and not tool:
        sides = {"system_a": design.systems[shown[0]], "system_b": design.systems[shown[-1]]}
        return cells | sides | ({"first": "a"} if len(shown) > 1 else {})
    if design.compares:
        cells |= {"against": next(design.systems[one] for one in shown if one != alias), "item_type": "system"}
    elif alias:
        kind = entry.shown[alias]
        cells |= {"item_type": kind, "position": str(entry.position), "copy": str(kind in _COPIES).lower()}
    if alias:
        cells["system"] = design.systems[alias]
    if alias and len(shown) > 1:  # on one screen
        cells |= {"screen": f"{task}/{entry.position}", "screen_place": str(shown.index(alias) + 1)}
    return cells


def _task(number: int) -> str:
    """Name a task as the design's tables do."""
    return f"task-{number:03d}"


def _as_shares(cells: pd.DataFrame) -> pd.DataFrame:
    """Turn two translations set to 1 or 0 into a comparison won, lost or tied, which has no criterion of its own."""
    scores = pd.to_numeric(cells["score"], errors="coerce")
    other = scores.groupby([cells.index, cells["hit"]]).transform("sum") - scores
    share = pd.Series("0.5", index=cells.index, dtype="str").mask(scores > other, "1").mask(scores < other, "0")
    judged = cells["against"].notna() & scores.notna()
    changed: dict[str, Any] = {"score": cells["score"].mask(judged, share)}
    if "criterion" in cells:
        changed["criterion"] = None
    return cells.assign(**changed)


def outcome(tables: Sequence[Table], ratings: pd.DataFrame) -> dict[str, Any]:
    """Say what was planned and what was collected: by annotator (as they are called in the result) and kind of item.

    ratings: those kept, under their tasks. Nothing where no file has a design, or files have several.
    """
    known = {str(table.design.path.resolve()): table.design for table in tables if table.design}
    if len(known) != 1 or "hit" not in ratings:
        return {}
    [design] = known.values()
    tasks: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    for entry in design.items.values():
        shown = ["system"] if design.compares else entry.shown.values()
        tasks[entry.task] += len(shown)
        kinds.update(shown)
    first = ratings.drop_duplicates("hit") if design.compares else ratings
    task = first["hit"].str.partition("/")[0]
    people = []
    for number in sorted(tasks):
        own = first[task.eq(_task(number))]
        who = own["annotator"].mode()
        name = str(who.iloc[0]) if len(who) else ""
        people.append({"task": _task(number), "annotator": name, "planned": tasks[number], "collected": len(own)})
    have = first.loc[task.str.startswith("task-"), "item_type"].value_counts()
    counts = [{"item_type": one, "planned": n, "collected": int(have.get(one, 0))} for one, n in kinds.items()]
    said = {name: design.said.get(name) for name in ("name", "protocol", "seed", "planned")}
    return {"file": design.path.name, **said, "annotators": people, "kinds": counts}
