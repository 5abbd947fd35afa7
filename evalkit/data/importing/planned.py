"""Give results of a designed campaign their roles back: what annotators saw as codes, its design knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import designs
from evalkit.data.designs import Design, Entry
from evalkit.data.importing import annotated, vocabulary
from evalkit.data.importing.tables import Rejection, Seen, Table

Known = tuple[Entry, str]  # what an item is, and the alias of the system that a row is of

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
    known = [_known(table, design) if design else [] for table in tables]
    if told and not any(map(any, known)):
        raise DataError(f"{path.name} holds no item of {told.path.name}. Name this campaign's design, or leave it out.")
    return [_decoded(table, design, own) if design and any(own) else table for table, own in zip(tables, known)]


def _beside(path: Path) -> Design | None:
    """Find a design beside a file; another file of that name is left alone."""
    place = designs.beside(path)
    if not place or designs.KIND.encode() not in place.read_bytes()[:200]:
        return None
    return designs.read(place)


def _known(table: Table, design: Design) -> list[Known | None]:
    """Find what each row is of: by what a table of ours heads so or, in a tool's log, by what Pearmut stored."""
    named = ["segment", "system"] if table.kind else [_ITEM]
    if not {*named} <= {*table.cells}:
        return []
    return [design.find(*row) for row in table.cells[named].fillna("").itertuples(index=False)]


def _decoded(table: Table, design: Design, known: list[Known | None]) -> Table:
    """Return a table with the design's columns; unknown items are broken rows, empty answers none."""
    tool, cells = table.kind, table.cells
    apart = cells[annotated.KIND].isin(_KINDS) if annotated.KIND in cells else pd.Series(False, cells.index)
    answers = [name for name in cells if vocabulary.bare(name) in ("score", "preference") and not tool]
    empty = cells[answers].isna().all(axis=1) & bool(answers)
    unknown = ~apart & ~empty & np.array([one is None for one in known])
    reason = f"is no item of {design.path.name}: correct the identifier, or import it without the design"
    wrong = [Rejection(int(line), reason) for line in cells.index[unknown]]
    told = [_cells(*one, table, design) if one and not other else {} for one, other in zip(known, apart)]
    names = dict.fromkeys(name for one in told for name in one)
    found = pd.DataFrame(told, cells.index, [*names], dtype="str").replace("", None)
    if annotated.ENDS in found:
        found[annotated.ENDS] = found[annotated.ENDS].where(cells[annotated.ENDS].notna())
    kept = cells.assign(**{name: found[name].fillna(cells[name]) if name in cells else found[name] for name in found})
    kept = kept[~empty & ~unknown].rename(columns={_ITEM: _READ})
    if tool:
        kept = kept.assign(**{annotated.DESIGNED: "1"})
        kept = _as_shares(kept) if design.compares else kept
    notes = [f"which item is which was read from {design.path.name}"]
    return replace(
        table,
        cells=kept,
        broken=sorted([*table.broken, *wrong], key=lambda one: one.line),
        notes=[*table.notes, *notes, *([f"{empty.sum():,} {UNANSWERED}"] if empty.any() else [])],
        beside=[*table.beside, Seen.at(design.path)],
        design=design,
    )


def _cells(entry: Entry, alias: str, table: Table, design: Design) -> dict[str, str]:
    """Return what the design knows of a judgement."""
    said, task, shown = design.said, _task(entry.task), [*entry.shown]
    people = said.get("annotators") or []
    cells = {name: str(said.get(name) or "und") for name in ("src_lang", "tgt_lang")}
    cells |= {"doc": entry.doc, "segment": entry.segment, "hit": task}
    if "annotator" not in table.cells and entry.task <= len(people):
        cells["annotator"] = str(people[entry.task - 1])
    if annotated.ENDS in table.cells and said.get("scale"):
        cells[annotated.ENDS] = "{:g}:{:g}".format(*said["scale"])
    if design.compares:
        cells["hit"] = f"{task}/{entry.position}"
    if design.compares and not table.kind:
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
    shown = [
        (_task(entry.task), ["system"] if design.compares else [*entry.shown.values()])
        for entry in design.items.values()
    ]
    asked = pd.DataFrame(shown, columns=["task", "item_type"]).explode("item_type")
    first = ratings.drop_duplicates("hit") if design.compares else ratings
    there = first.assign(task=first["hit"].str.partition("/")[0])
    there = there[there["task"].isin(asked["task"])]

    def counted(by: str) -> pd.DataFrame:
        planned = asked[by].value_counts(sort=False).to_frame("planned")
        return planned.assign(collected=there[by].value_counts()).fillna(0).astype(int)

    who = there.groupby("task")["annotator"].agg(lambda names: names.mode().iloc[0])
    tasks = counted("task").sort_index().assign(annotator=who).fillna("").reset_index()
    said = {name: design.said.get(name) for name in ("name", "protocol", "seed", "planned")}
    kinds = counted("item_type").reset_index()
    return {"file": design.path.name, **said, "annotators": tasks.to_dict("records"), "kinds": kinds.to_dict("records")}
