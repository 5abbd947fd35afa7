"""Write a drawn campaign: for Pearmut, as CSV, as blind workbooks, and the file that knows every item's role.

Source of what Pearmut shows: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``contentToCharSpans`` of its
pages: texts come letter by letter, but for the tags ``br strong b i p em h1 h2 h3`` without attributes, and texts that
begin as a tag of audio, video, img or iframe, which become markup.
"""

from __future__ import annotations

import csv
import html
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit.campaign.design.assignment import Item
from evalkit.campaign.design.drawing import Drawn
from evalkit.campaign.design.texts import Texts
from evalkit.data import designs
from evalkit.data.delimited import guard_table
from evalkit.data.designs import Entry
from evalkit.data.languages import UNKNOWN

#: The folder of the workbooks.
WORKBOOKS = "for_annotators"
#: Stands behind the < of what Pearmut would take for markup: it is not seen, and no tag begins with it.
JOINER = "\u2060"
_MARKUP = re.compile(r"<(?=/?(?:br|strong|b|i|p|em|h1|h2|h3)>)|^<(?=(?:audio|video|img|iframe) )")
_UNPRINTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # what XML cannot hold
_WIDTHS = {"item": 12, "part": 6, "source": 60, "translation": 60, "translation_a": 60, "translation_b": 60}


@dataclass(frozen=True)
class Named:
    """An item of somebody's task under its identifier, which tells nothing.

    task, screen, order: counted from 1; order is the item's place in the task. doc, segment: their names.
    """

    name: str
    task: int
    screen: int
    order: int
    doc: str
    segment: str
    item: Item


def write(folder: Path, name: str, texts: Texts, drawn: Drawn, *, planned: Mapping[str, Any]) -> list[Path]:
    """Write ``campaign.json``, ``assignment.csv``, a workbook for each annotator and ``design.json``; return the paths.

    Of a protocol without scores there are no workbooks.
    planned: what the campaign is expected to show, which its design keeps.
    """
    wish, items = drawn.wish, named(drawn, list(texts.docs))
    alias = aliases(sorted(texts.outputs), wish.seed)
    table = answers(texts, drawn, items, alias)
    roles = {}
    for one in itertools.chain.from_iterable(items):
        kinds = {alias[system]: kind for system, kind in zip(one.item.systems, one.item.kinds)}
        roles[one.name] = Entry(one.task, one.order, one.doc, one.segment, kinds)
    design = designs.written(_said(name, texts, drawn, planned), {alias[system]: system for system in alias}, roles)
    contents: dict[str, bytes] = {
        "campaign.json": for_pearmut(name, texts, drawn, items, alias).encode(),
        "assignment.csv": _guarded(table.drop(columns=["part", "alone"])).encode("utf-8-sig"),
        designs.NAME: design.encode(),
    }
    for annotator, own in table.groupby("annotator", sort=False) if wish.protocol.scale else ():
        contents[f"{WORKBOOKS}/{annotator}.xlsx"] = _workbook(own)
    for place, content in contents.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_bytes(content)
    return [folder / place for place in contents]


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
    codes, found = _codes("i", count, 16**8, rng), []
    for task, mine in enumerate(drawn.screens, 1):
        shown = [(place, item) for place, screen in enumerate(mine, 1) for item in screen.items]
        found.append(
            [
                Named(next(codes), task, place, order, docs[item.segment], str(item.segment + 1), item)
                for order, (place, item) in enumerate(shown, 1)
            ]
        )
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


def task_name(task: int) -> str:
    """Name an annotator's task without naming the annotator."""
    return f"task-{task:03d}"


def answers(texts: Texts, drawn: Drawn, items: Sequence[Sequence[Named]], alias: Mapping[str, str]) -> pd.DataFrame:
    """Lay out all that is to be judged, a row an answer, with everything that is known of it and an empty score.

    Its columns are this package's own, so it imports by itself; annotators must not see it, for it names systems. Two
    columns are for workbooks: part (the screen), and the translations alone.
    """
    protocol, rows = drawn.wish.protocol, []
    for one in itertools.chain.from_iterable(items):
        shown = one.item
        who = {"annotator": drawn.wish.annotators[one.task - 1], "hit": task_name(one.task), "position": one.order}
        where = {"src_lang": texts.src_lang, "tgt_lang": texts.tgt_lang, "doc": one.doc, "segment": one.segment}
        source = {"source": texts.sources[shown.segment], "part": one.screen}
        if shown.compared:
            (a, b), (text_a, text_b) = shown.systems, shown.texts
            judged = {"system_a": a, "system_b": b, **source, "translation_a": text_a, "translation_b": text_b}
            rows.append({"item": one.name, **who, **where, **judged, "alone": None, "preference": ""})
            continue
        for system, kind, text in zip(shown.systems, shown.kinds, shown.texts):
            name = f"{one.name}.{alias[system]}" if len(shown.systems) > 1 else one.name
            judged = {"system": system, "item_type": kind, **source, "hypothesis": text, "alone": text}
            rows.append({"item": name, **who, **where, **judged, protocol.heading: ""})
    table = pd.DataFrame(rows)
    return table.drop(columns="hit") if protocol.compares else table


def counts(drawn: Drawn) -> dict[str, int]:
    """Count the judgements of each kind of item; a comparison of two translations is one."""
    items = [item for mine in drawn.screens for screen in mine for item in screen.items]
    return dict(
        Counter("system" if item.compared else kind for item in items for kind in item.kinds[: item.judgements])
    )


def _said(name: str, texts: Texts, drawn: Drawn, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the campaign is."""
    wish = drawn.wish
    kept = ["annotators", "hours", "seconds", "overlap", "calibration", "degraded", "repeats", "everybody", "opponents"]
    return {
        "name": name,
        "protocol": wish.protocol.name,
        "scale": wish.protocol.scale,
        "src_lang": texts.src_lang,
        "tgt_lang": texts.tgt_lang,
        **{field: getattr(wish, field) for field in [*kept, "seed"]},
        "inputs": texts.inputs,
        "documents": len(drawn.documents),
        "judgements": drawn.judgements,
        "kinds": counts(drawn),
        "planned": planned,
    }


# For Pearmut


def pearmut_text(text: str) -> str:
    """Return a text such that Pearmut shows it letter by letter.

    >>> pearmut_text("a <b> c") == f"a <{JOINER}b> c", pearmut_text("1 < 2, <script>"), pearmut_text("x <img src=y>")
    (True, '1 < 2, <script>', 'x <img src=y>')
    """
    return _MARKUP.sub("<" + JOINER, text)


def for_pearmut(
    name: str, texts: Texts, drawn: Drawn, items: Sequence[Sequence[Named]], alias: Mapping[str, str]
) -> str:
    """Return the JSON that ``pearmut add`` takes: names of items and systems tell nothing, and nothing is shuffled.

    Sides and order are drawn already, so Pearmut is told to leave them alone.
    """
    wish, pair = drawn.wish, (texts.src_lang, texts.tgt_lang)
    told = [html.escape(wish.protocol.question)] + ["-".join(pair)] * (UNKNOWN not in pair)
    users: dict[str, Any] = {"users": list(wish.annotators), "instructions": " <br>".join(told)}
    info = {**wish.protocol.pearmut, "assignment": "task-based", "shuffle": False, "seed": wish.seed, **users}
    data: list[list[list[dict[str, Any]]]] = []
    for mine in items:
        data.append([])
        for _, screen in itertools.groupby(mine, key=lambda one: one.screen):
            data[-1].append([])
            for one in screen:
                shown = {alias[system]: pearmut_text(text) for system, text in zip(one.item.systems, one.item.texts)}
                source = pearmut_text(texts.sources[one.item.segment])
                data[-1][-1].append({"item_id": one.name, "src": source, "tgt": shown})
    return json.dumps({"campaign_id": name, "info": info, "data": data}, ensure_ascii=False, indent=1) + "\n"


# In tables


def _guarded(table: pd.DataFrame) -> str:
    """Write CSV; what a spreadsheet would run as a formula has an apostrophe before it, which an import takes away."""
    text: str = guard_table(table).to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def _workbook(own: pd.DataFrame) -> bytes:
    """Return one annotator's XLSX: what to judge, in order, and a column for answers; texts are never formulas."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font

    sides = ["translation_a", "translation_b"] if "translation_a" in own else ["alone"]
    shown = own[["item", "part", "source", *sides, own.columns[-1]]].rename(columns={"alone": "translation"})
    book = Workbook()
    sheet = book.active
    sheet.title = "judgements"
    for number, row in enumerate([tuple(shown.columns), *shown.itertuples(index=False, name=None)], 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(number, column)
            if value != "":
                cell.value = _UNPRINTED.sub("", value) if isinstance(value, str) else value
                cell.data_type = "s" if isinstance(value, str) else "n"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=number == 1)
    for column, name in enumerate(shown, 1):
        sheet.column_dimensions[sheet.cell(1, column).column_letter].width = _WIDTHS.get(str(name), 16)
    sheet.freeze_panes = "A2"
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()
