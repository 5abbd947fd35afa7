"""Write a campaign as tables: all of it as CSV for who runs it, and a blind workbook for each annotator."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence

from evalkit.campaign.design.drawing import Drawn
from evalkit.campaign.design.items import Named
from evalkit.data import designs
from evalkit.data.delimited import guarded

_STAMP = (1980, 1, 1, 0, 0, 0)  # of files in a workbook, so that the same campaign is the same bytes
_WIDTHS = {"item": 12, "part": 6, "source": 60, "translation": 60, "translation_a": 60, "translation_b": 60}


def assignment(
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
