"""Give results of a designed campaign their roles back: what annotators saw as codes, its design knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import designs
from evalkit.data.designs import Design, Entry
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.rows import Broken, Rows, Seen, Source
from evalkit.data.importing.kinds import annotated

_ITEM = "item"  # the heading of identifiers in the tables that a design is written as
_READ = "identifier"  # the same once it was read, for an item is a segment elsewhere
#: What is said of items that nobody answered.
UNANSWERED = "items have no answer yet"
_UNKNOWN = "is no item of {name}: correct the identifier, or import it without the design"
_COPIES = ("degraded", "repeat")  # of documents that are shown a second time
_KINDS = ("void", "reset", "tutorial", "check", "form", "replaced")  # rows of Pearmut that are no judgements


def decoded(path: Path, sources: Sequence[Source], told: Design | None) -> list[Source]:
    """Return a file's sources with the columns that its campaign's design knows; without a design as they are.

    told: the design that the user names; None looks for one beside the file, which is used where it knows any of the
    file's items. Raises DataError where the design that was told knows none of them.
    """
    design = told or _beside(path)
    found = [_decoded(source, design) if design else None for source in sources]
    if told and not any(found):
        raise DataError(
            f"{path.name} holds no item of {told.path.name}. Name the design that this campaign began with, or leave "
            "out --design."
        )
    return [one or source for one, source in zip(found, sources)]


def _beside(path: Path) -> Design | None:
    """Find a design beside a file; another file of that name is left alone."""
    place = designs.beside(path)
    if not place or designs.KIND.encode() not in place.read_bytes()[:200]:
        return None
    return designs.read(place)


def _decoded(source: Source, design: Design) -> Source | None:
    """Return a source with the design's columns; None where none of its first rows is an item of it."""
    place = next((at for at, (_, cells) in enumerate(source.head) if _headings(cells)), None)
    if place is None:
        return None
    line, cells = source.head[place]
    header = [cell.strip() for cell in cells]
    below = [dict(zip(header, row)) for _, row in source.head[place + 1 :]]
    if not any(_found(row, design) for row in below):
        return None
    names = [name for name in _columns(design, header) if name not in header]
    head = [*source.head[:place], (line, [*(_READ if cell == _ITEM else cell for cell in header), *names])]
    for (at, row), named in zip(source.head[place + 1 :], below):
        told = _cells(named, design, header)
        filled = [told.get(name, cell) for name, cell in zip(header, row)] + [""] * (len(header) - len(row))
        head.append((at, [*filled, *(told.get(name, "") for name in names)]))
    note = f"which item is which was read from {design.path.name}"
    return replace(
        source,
        head=head,
        read=lambda given, after: _read(source, design, header, given, after),
        notes=[*source.notes, note],
        beside=[*source.beside, Seen.at(design.path)],
        design=design,
    )


def _headings(cells: Sequence[str]) -> bool:
    """Tell whether a row heads identifiers: those of a table of ours, or of what Pearmut stored."""
    names = {cell.strip() for cell in cells}
    return _ITEM in names or {annotated.TOOL, "segment", "system"} <= names


def _found(row: Mapping[str, Any], design: Design) -> tuple[Entry, str] | None:
    """Find what a row is of."""
    if annotated.TOOL in row:
        return design.find(_text(row.get("segment")), _text(row.get("system")))
    return design.find(_text(row.get(_ITEM)))


def _text(cell: object) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _columns(design: Design, header: Iterable[str]) -> list[str]:
    """Name the columns that a design knows."""
    by_tool = annotated.TOOL in header
    compared = ["system_a", "system_b"] if not by_tool else ["system", "item_type", "against"]
    judged = compared if design.compares else ["system", "item_type"]
    names = ["src_lang", "tgt_lang", "annotator", "doc", "segment", *judged, "hit"]
    names += [] if design.compares else ["position", "copy"]
    if any(len(entry.shown) > 1 for entry in design.items.values()):  # on one screen
        names += ["screen", "screen_place"] if by_tool or not design.compares else ["first"]
    return [*names, annotated.ENDS] if annotated.ENDS in header and design.said.get("scale") else names


def _cells(row: Mapping[str, Any], design: Design, header: Sequence[str]) -> dict[str, str]:
    """Return what the design knows of a row; nothing of a row that is none of its judgements."""
    found = _found(row, design)
    if not found or _text(row.get(annotated.KIND)) in _KINDS:
        return {}
    entry, alias = found
    people = design.said.get("annotators") or []
    cells = {"doc": entry.doc, "segment": entry.segment, "position": str(entry.position), "hit": _task(entry.task)}
    cells |= {name: str(design.said.get(name) or "und") for name in ("src_lang", "tgt_lang")}
    if "annotator" not in header and entry.task <= len(people):
        cells["annotator"] = str(people[entry.task - 1])
    if row.get(annotated.ENDS):
        cells[annotated.ENDS] = "{:g}:{:g}".format(*design.said["scale"])
    if design.compares:
        shown = [design.systems[one] for one in entry.shown]
        others = [design.systems[one] for one in entry.shown if one != alias]
        cells |= {"system_a": shown[0], "system_b": shown[-1], "against": others[0]}
        cells["hit"] = f"{_task(entry.task)}/{entry.position}"
        cells["first"] = "a"
    if alias:
        kind = "system" if design.compares else entry.shown[alias]
        cells |= {"system": design.systems[alias], "item_type": kind, "copy": str(kind in _COPIES).lower()}
    if alias and len(entry.shown) > 1:
        cells |= {"screen": f"{_task(entry.task)}/{entry.position}"}
        cells |= {"screen_place": str(list(entry.shown).index(alias) + 1)}
    return cells


def _task(number: int) -> str:
    """Name a task as the design's tables do."""
    return f"task-{number:03d}"


def _read(source: Source, design: Design, header: list[str], given: list[str], after: int) -> Rows:
    """Read the rows below a line, with the design's columns; unknown items are broken rows, empty answers none."""
    width = len(header)
    rows = source.read(given[:width], after)
    frame = rows.frame
    told: list[dict[str, str]] = []
    keep: list[int] = []
    broken, empty = list(rows.broken), 0
    answers = [name for name in given[:width] if columns.plain(name) in ("score", "preference")]
    for place, row in enumerate(frame.to_dict("records")):
        named = {name: row[shown] for name, shown in zip(header, given)}
        by_tool = annotated.TOOL in named
        if not by_tool and answers and not any(_text(row[name]) for name in answers):
            empty += 1
            continue
        cells = _cells(named, design, header)
        if not cells and _text(named.get(annotated.KIND)) not in _KINDS:
            broken.append(
                Broken(int(frame.index[place]), _UNKNOWN.format(name=design.path.name), list(rows.raw(place)))
            )
            continue
        keep.append(place)
        told.append(cells)
    notes = [*rows.notes, *([f"{empty:,} {UNANSWERED}"] if empty else [])]
    frame = frame.iloc[keep]
    for name in _columns(design, header):
        values = pd.Series([cells.get(name) or None for cells in told], index=frame.index, dtype="str")
        shown = given[header.index(name)] if name in header else given[width + _added(design, header).index(name)]
        frame = frame.assign(**{shown: values.fillna(frame[shown]) if name in header else values})
    if annotated.TOOL in header:
        frame = frame.assign(**{annotated.DESIGNED: "1"})
        if design.compares:
            frame = _as_shares(frame)
    names = _added(design, header)

    def raw(place: int) -> list[str]:
        return [*rows.raw(keep[place]), *(told[place].get(name, "") for name in names)]

    return Rows(frame, raw, sorted(broken, key=lambda one: one.line), notes)


def _added(design: Design, header: list[str]) -> list[str]:
    """Name the columns that a file has not itself."""
    return [name for name in _columns(design, header) if name not in header]


def _as_shares(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn two translations set to 1 or 0 into a comparison won, lost or tied, which has no criterion of its own."""
    scores = pd.to_numeric(frame["score"], errors="coerce")
    other = scores.groupby([frame.index, frame["hit"]]).transform("sum") - scores
    share = pd.Series("0.5", index=frame.index, dtype="str").mask(scores > other, "1").mask(scores < other, "0")
    judged = frame["against"].notna() & scores.notna()
    changed: dict[str, Any] = {"score": frame["score"].mask(judged, share)}
    if "criterion" in frame:
        changed["criterion"] = None
    return frame.assign(**changed)


def outcome(found: Sequence[Design], ratings: pd.DataFrame) -> dict[str, Any]:
    """Say what was planned and what was collected: by annotator (as they are called in the result) and kind of item.

    ratings: those kept, under their tasks. Nothing where no file has a design, or files have several.
    """
    if len({str(one.path.resolve()) for one in found}) != 1 or "hit" not in ratings:
        return {}
    design = found[0]
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
        people.append(
            {
                "task": _task(number),
                "annotator": str(who.iloc[0]) if len(who) else "",
                "planned": tasks[number],
                "collected": len(own),
            }
        )
    have = first.loc[task.str.startswith("task-"), "item_type"].value_counts()
    counts = [
        {"item_type": kind, "planned": count, "collected": int(have.get(kind, 0))} for kind, count in kinds.items()
    ]
    said = {name: design.said.get(name) for name in ("name", "protocol", "seed", "planned")}
    return {"file": design.path.name, **said, "annotators": people, "kinds": counts}
