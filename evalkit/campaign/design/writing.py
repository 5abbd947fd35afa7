"""Write a drawn campaign: for Pearmut, as CSV, as blind workbooks, and the file that knows every item's role."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evalkit.campaign.design.assignment import Item
from evalkit.campaign.design.drawing import Drawn
from evalkit.campaign.design.texts import Texts
from evalkit.data import designs
from evalkit.data.delimited import guarded
from evalkit.data.designs import Entry
from evalkit.data.languages import UNKNOWN


@dataclass(frozen=True)
class Named:
    """An item of somebody's task under its identifier. task, screen, order: counted from 1; order is the item's place
    in the task. doc, segment: their names.
    """

    name: str
    task: int
    screen: int
    order: int
    doc: str
    segment: str
    item: Item


def aliases(systems: list[str], seed: int) -> dict[str, str]:
    """Name systems so that annotators cannot tell them, nor which of them a person wrote; letters, never digits only.

    >>> aliases(["A", "B"], 7) == aliases(["A", "B"], 7)
    True
    """
    rng = np.random.default_rng([seed, 1])
    return dict(zip(systems, _codes("m", len(systems), 16**4, rng)))


def named(drawn: Drawn, docs: list[str]) -> list[list[Named]]:
    """Name everybody's items, screen after screen. docs: the document of each segment."""
    rng = np.random.default_rng([drawn.wish.seed, 2])
    count = sum(len(screen.items) for mine in drawn.screens for screen in mine)
    codes = iter(_codes("i", count, 16**8, rng))
    found = []
    for task, mine in enumerate(drawn.screens, 1):
        order, rows = 0, []
        for place, screen in enumerate(mine, 1):
            for item in screen.items:
                order += 1
                rows.append(Named(next(codes), task, place, order, docs[item.segment], str(item.segment + 1), item))
        found.append(rows)
    return found


def _codes(letter: str, count: int, most: int, rng: np.random.Generator) -> Iterator[str]:
    """Draw different codes, such as i7f3a9c21, as long as the largest number below ``most``."""
    seen: set[str] = set()
    width = len(f"{most - 1:x}")
    while len(seen) < count:
        code = f"{letter}{int(rng.integers(most)):0{width}x}"
        if code not in seen:
            seen.add(code)
            yield code


#: Stands behind the < of what Pearmut would take for markup: it is not seen, and no tag begins with it.
JOINER = "\u2060"
_MARKUP = re.compile(r"<(?=/?(?:br|strong|b|i|p|em|h1|h2|h3)>)|^<(?=(?:audio|video|img|iframe) )")


def pearmut_text(text: str) -> str:
    """Return a text such that Pearmut shows it letter by letter.

    >>> pearmut_text("a <b> c") == f"a <{JOINER}b> c", pearmut_text("1 < 2, <script>"), pearmut_text("x <img src=y>")
    (True, '1 < 2, <script>', 'x <img src=y>')
    """
    return _MARKUP.sub("<" + JOINER, text)


def pearmut_campaign(
    name: str,
    drawn: Drawn,
    items: Sequence[Sequence[Named]],
    sources: Sequence[str],
    alias: Mapping[str, str],
    pair: tuple[str, str],
) -> str:
    """Return the JSON that ``pearmut add`` takes: names of items and systems tell nothing, and nothing is shuffled.

    Sides and order are drawn already, so Pearmut is told to leave them alone.
    """
    wish = drawn.wish
    told = [html.escape(wish.protocol.question)] + ["-".join(pair)] * (UNKNOWN not in pair)
    info = {
        **wish.protocol.pearmut,
        "assignment": "task-based",
        "shuffle": False,
        "seed": wish.seed,
        "users": list(wish.annotators),
        "instructions": " <br>".join(told),
    }
    data = [
        [
            [_item(one, sources, alias) for one in screen]
            for _, screen in itertools.groupby(mine, key=lambda one: one.screen)
        ]
        for mine in items
    ]
    return json.dumps({"campaign_id": name, "info": info, "data": data}, ensure_ascii=False, indent=1) + "\n"


def _item(one: Named, sources: Sequence[str], alias: Mapping[str, str]) -> dict[str, object]:
    outputs = {alias[system]: pearmut_text(text) for system, text in zip(one.item.systems, one.item.texts)}
    return {"item_id": one.name, "src": pearmut_text(sources[one.item.segment]), "tgt": outputs}


_STAMP = (1980, 1, 1, 0, 0, 0)  # of files in a workbook, so that the same campaign is the same bytes
_WIDTHS = {"item": 12, "part": 6, "source": 60, "translation": 60, "translation_a": 60, "translation_b": 60}


def assignment_table(
    drawn: Drawn,
    items: Sequence[Sequence[Named]],
    sources: Sequence[str],
    alias: Mapping[str, str],
    pair: tuple[str, str],
) -> str:
    """Return the CSV of all that is to be judged, with everything that is known of it and an empty score.

    Its columns are this package's own, so it imports by itself. Annotators must not see it: it names systems. What a
    spreadsheet would run as a formula has an apostrophe before it, which an import takes away.
    """
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    compares = drawn.wish.protocol.compares
    judged = (
        ["system_a", "system_b", "source", "translation_a", "translation_b", "preference"]
        if compares
        else ["system", "item_type", "source", "hypothesis", drawn.wish.protocol.heading]
    )
    hit = [] if compares else ["hit"]
    writer.writerow([*designs.HEADINGS[:2], *hit, *designs.HEADINGS[2:], *judged])
    for one in (one for mine in items for one in mine):
        who = [drawn.wish.annotators[one.task - 1], *([task_name(one.task)] if hit else [])]
        rest = [one.order, *pair, one.doc, one.segment]
        source = sources[one.item.segment]
        if compares:
            writer.writerow(_guarded([one.name, *who, *rest, *one.item.systems, source, *one.item.texts, ""]))
            continue
        for name, system, kind, text in _answers(one, alias):
            writer.writerow(_guarded([name, *who, *rest, system, kind, source, text, ""]))
    return table.getvalue()


def _guarded(cells: Sequence[object]) -> list[object]:
    return [guarded(cell) if isinstance(cell, str) else cell for cell in cells]


def task_name(task: int) -> str:
    """Name an annotator's task without naming the annotator."""
    return f"task-{task:03d}"


def _answers(one: Named, alias: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what is scored of an item: its identifier, system, kind and text."""
    several = len(one.item.systems) > 1
    for system, kind, text in zip(one.item.systems, one.item.kinds, one.item.texts):
        yield f"{one.name}.{alias[system]}" if several else one.name, system, kind, text


def workbook(drawn: Drawn, mine: Sequence[Named], sources: Sequence[str], alias: Mapping[str, str]) -> bytes:
    """Return one annotator's XLSX: what to judge, in order, and a column for answers; texts are never formulas."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font

    protocol = drawn.wish.protocol
    judged = (
        ["source", "translation_a", "translation_b", "preference"]
        if protocol.compares
        else ["source", "translation", protocol.heading]
    )
    book = Workbook()
    sheet = book.active
    sheet.title = "judgements"
    rows: list[list[str | int]] = [["item", "part", *judged]]
    for one in mine:
        source = sources[one.item.segment]
        if protocol.compares:
            rows.append([one.name, one.screen, source, *one.item.texts, ""])
            continue
        rows += [[name, one.screen, source, text, ""] for name, _, _, text in _answers(one, alias)]
    for number, row in enumerate(rows, 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(number, column)
            if value != "":
                cell.value = _safe(value) if isinstance(value, str) else value
                cell.data_type = "s" if isinstance(value, str) else "n"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=number == 1)
    for column, name in enumerate(rows[0], 1):
        sheet.column_dimensions[sheet.cell(1, column).column_letter].width = _WIDTHS.get(str(name), 16)
    sheet.freeze_panes = "A2"
    return _plain_bytes(book)


def _safe(text: str) -> str:
    """Leave out the control characters that XML cannot hold."""
    return "".join(letter for letter in text if letter >= " " or letter in "\t\n\r")


def _plain_bytes(book) -> bytes:  # type: ignore[no-untyped-def]
    """Write a workbook without the hour at which it was written."""
    import datetime

    book.properties.created = book.properties.modified = datetime.datetime(1980, 1, 1)
    first, second = io.BytesIO(), io.BytesIO()
    book.save(first)
    with zipfile.ZipFile(first) as given, zipfile.ZipFile(second, "w", zipfile.ZIP_DEFLATED) as taken:
        for name in given.namelist():
            content = given.read(name)
            if name == "docProps/core.xml":
                content = _dated(content)
            taken.writestr(zipfile.ZipInfo(name, _STAMP), content, zipfile.ZIP_DEFLATED)
    return second.getvalue()


def _dated(content: bytes) -> bytes:
    """Put the one date into a workbook's properties, whatever the library wrote there."""
    import re

    return re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"1980-01-01T00:00:00Z", content)


#: The folder of the workbooks.
WORKBOOKS = "for_annotators"


def write(folder: Path, name: str, texts: Texts, drawn: Drawn, *, planned: Mapping[str, Any]) -> list[Path]:
    """Write ``campaign.json``, ``assignment.csv``, a workbook for each annotator and ``design.json``; return the paths.

    Of a protocol without scores there are no workbooks.
    planned: what the campaign is expected to show, which its design keeps.
    """
    pair = (texts.src_lang, texts.tgt_lang)
    items = named(drawn, list(texts.docs))
    alias = aliases(sorted(texts.outputs), drawn.wish.seed)
    contents: dict[str, bytes] = {
        "campaign.json": pearmut_campaign(name, drawn, items, texts.sources, alias, pair).encode(),
        "assignment.csv": assignment_table(drawn, items, texts.sources, alias, pair).encode("utf-8-sig"),
        designs.NAME: designs.written(
            _said(name, texts, drawn, planned),
            {alias[system]: system for system in sorted(texts.outputs)},
            {one.name: entry(one, alias) for mine in items for one in mine},
        ).encode(),
    }
    with_score = drawn.wish.protocol.scale is not None  # else there is nothing to type into a sheet
    for annotator, mine in zip(drawn.wish.annotators, items) if with_score else ():
        contents[f"{WORKBOOKS}/{annotator}.xlsx"] = workbook(drawn, mine, texts.sources, alias)
    for place, content in contents.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [folder / place for place in contents]


def entry(one: Named, alias: Mapping[str, str]) -> Entry:
    """Say what an item is, for the design."""
    shown = {alias[system]: kind for system, kind in zip(one.item.systems, one.item.kinds)}
    return Entry(one.task, one.order, one.doc, one.segment, shown)


def _said(name: str, texts: Texts, drawn: Drawn, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the campaign is."""
    wish = drawn.wish
    return {
        "name": name,
        "protocol": wish.protocol.name,
        "scale": wish.protocol.scale,
        "src_lang": texts.src_lang,
        "tgt_lang": texts.tgt_lang,
        "annotators": wish.annotators,
        "hours": wish.hours,
        "seconds": wish.seconds,
        "overlap": wish.overlap,
        "calibration": wish.calibration,
        "degraded": wish.degraded,
        "repeats": wish.repeats,
        "everybody": wish.everybody,
        "opponents": wish.opponents,
        "seed": wish.seed,
        "inputs": texts.inputs,
        "documents": len(drawn.documents),
        "judgements": drawn.judgements,
        "kinds": counts(drawn),
        "planned": planned,
    }


def counts(drawn: Drawn) -> dict[str, int]:
    """Count the judgements of each kind of item; a comparison of two translations is one."""
    items = [item for mine in drawn.screens for screen in mine for item in screen.items]
    return dict(
        Counter("system" if item.compared else kind for item in items for kind in item.kinds[: item.judgements])
    )
