"""Make a campaign of what somebody tells, and write it: for Pearmut, as CSV, as blind workbooks.

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

from evalkit import DataError, data
from evalkit.campaign.design.assignment import Item
from evalkit.campaign.design.drawing import Drawn, Wish, draw, get_protocol
from evalkit.campaign.design.expectation import POWER, Expected, expect, from_pilot, usual
from evalkit.campaign.design.texts import Texts, read_texts
from evalkit.campaign.findings import words
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
    # what a spreadsheet would run as a formula has an apostrophe before it, which an import takes away
    guarded = guard_table(table.drop(columns=["part", "alone"]))
    rows = guarded.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    contents: dict[str, bytes] = {
        "campaign.json": for_pearmut(name, texts, drawn, items, alias).encode(),
        "assignment.csv": rows.encode("utf-8-sig"),
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


def _workbook(own: pd.DataFrame) -> bytes:
    """Return one annotator's XLSX: what to judge, in order, and a column for answers; texts are never formulas."""
    from openpyxl import Workbook
    from openpyxl.styles import Alignment

    sides = ["translation_a", "translation_b"] if "translation_a" in own else ["alone"]
    shown = own[["item", "part", "source", *sides, own.columns[-1]]].rename(columns={"alone": "translation"})
    book = Workbook()
    sheet = book.active
    sheet.title = "judgements"
    for number, row in enumerate([tuple(shown.columns), *shown.itertuples(index=False, name=None)], 1):
        for column, value in enumerate(row, 1):
            cell = sheet.cell(number, column)
            if isinstance(value, str) and value:
                cell.value, cell.data_type = _UNPRINTED.sub("", value), "s"  # no formula
            elif value != "":
                cell.value = value
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for column, name in enumerate(shown, 1):
        sheet.column_dimensions[sheet.cell(1, column).column_letter].width = _WIDTHS.get(str(name), 16)
    sheet.freeze_panes = "A2"
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,39}")
#: The largest calibration set that is drawn where nobody says its size, and the share of segments that it may be.
_CALIBRATION, _TENTH = 20, 10


def make(
    name: str,
    folder: Path,
    *,
    outputs: Sequence[Path],
    protocol: str,
    annotators: str,
    pilot: Path | None = None,
    seconds: float | None = None,
    calibration: int | None = None,
    source: Path | None = None,
    reference: Path | None = None,
    references: bool = True,
    documents: Path | None = None,
    pair: str = "",
    **wishes: Any,
) -> list[str]:
    """Write a designed campaign into a folder; return what is to be said of it, which its README says, too.

    annotators: how many, or their names with commas. source, reference, references, documents, pair: see
    ``read_texts``. wishes: see ``Wish``. A README.md in the folder gets the plan where it says ``{{plan}}``.
    """
    kind, people = get_protocol(protocol), names(annotators)
    beside: dict[str, Any] = {"source": source, "reference": reference, "documents": documents}
    texts = read_texts(outputs, references=references, pair=pair, **beside)
    prior = data.open_campaign(pilot)[0] if pilot else None
    assumed = usual(kind) if prior is None else from_pilot(prior, kind)
    shared = kind.compares or wishes.get("everybody")  # a calibration set would be no more shared than the rest
    size = min(_CALIBRATION, len(texts.docs) // _TENTH) if calibration is None and not shared else calibration or 0
    wish = Wish(kind, people, seconds=seconds or assumed.seconds, calibration=size, **wishes)
    drawn = draw(texts, wish, prior=prior)
    expected = expect(texts, drawn, assumed)
    told = list(expectation(texts, drawn, expected))
    write(folder, name, texts, drawn, planned=expected.as_record())
    if (readme := folder / "README.md").exists():
        text = readme.read_text(encoding="utf-8").replace("{{plan}}", "\n\n".join(told))
        for part, there in (("workbooks", kind.scale is not None), ("class", wish.everybody)):
            text = re.sub(rf"\{{\{{{part}\}}\}}" if there else rf"(?m)^\{{\{{{part}\}}\}}.*\n", "", text)
        readme.write_text(text, encoding="utf-8")
    return told


def names(annotators: str) -> tuple[str, ...]:
    """Read annotators' names, or make them of their number.

    >>> names("2"), names("Ann1, Bob1")
    (('annotator-01', 'annotator-02'), ('Ann1', 'Bob1'))
    """
    if annotators.strip().isdecimal():
        count = int(annotators)
        if not 1 <= count <= 500:
            raise DataError(f"--annotators {count} is no number of people. Give 1 to 500.")
        return tuple(f"annotator-{number:02d}" for number in range(1, count + 1))
    found = tuple(part.strip() for part in annotators.split(",") if part.strip())
    tasks = {task_name(number) for number in range(1, len(found) + 1)}
    if bad := [one for one in found if not _NAME.fullmatch(one) or one.casefold() in tasks]:
        raise DataError(f"{bad[0]!r} cannot name an annotator, whose address it is. Use 3 to 40 letters, digits, -, _.")
    if len({one.casefold() for one in found}) < len(found) or not found:
        raise DataError("Annotators have different names. Correct --annotators.")
    return found


def expectation(texts: Texts, drawn: Drawn, found: Expected) -> Iterator[str]:
    """Say how much is judged, and what that distinguishes; then what was assumed."""
    wish, many, judgements = drawn.wish, counts(drawn), sum(drawn.judgements)
    low, high = min(drawn.judgements), max(drawn.judgements)
    yield words(
        "design.much",
        protocol=wish.protocol.name,
        judgements=judgements,
        people=wish.annotators,
        each=f"{low:,}" if low == high else f"{low:,} to {high:,}",
        systems=texts.outputs,
        documents=drawn.documents,
        seconds=wish.seconds,
        hours=high * wish.seconds / 3600,
    )
    yield words("design.kinds", kinds=[words(f"design_kinds.{kind}", n=count) for kind, count in many.items()])
    first = judgements - sum(many.get(kind, 0) for kind in ("degraded", "repeat", "calibration"))
    for kind, how, option in (("degraded", "degraded", "--degraded"), ("repeat", "as they were", "--repeats")):
        if asked := wish.shares[kind]:
            again: dict[str, Any] = {"first": first, "share": many.get(kind, 0) / first, "asked": asked}
            yield words("design.again", how=how, option=option, **again)
    if found.difference is None:
        yield words("design.nothing")
    else:
        points = found.unit == "points"
        size = f"{found.difference:.2g} points" if points else f"{found.difference:.1%} of comparisons"
        yield words("design.finds", power=POWER, size=size)
    yield words("design.assumed" if found.usual.assumed else "design.taken", source=found.usual.source)
    yield from (words("design.note", note=note) for note in (*texts.notes, *drawn.notes))
    if wish.protocol.marks:
        yield words("design.marks" if wish.protocol.scale else "design.marks_only", protocol=wish.protocol.name)
