"""Make a campaign of what somebody tells, and write it: for Pearmut, as CSV, as blind workbooks.

Source of what Pearmut shows: Pearmut 1.1.6 (github.com/zouharvi/pearmut), README and ``contentToCharSpans`` of its
pages: texts come letter by letter, but for the tags ``br strong b i p em h1 h2 h3`` without attributes, and texts that
begin as a tag of audio, video, img or iframe, which become markup.
"""

import csv
import html
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError, data
from evalkit.campaign.design.drawing import Drawn, Wish, draw, get_protocol
from evalkit.campaign.design.expectation import expect, from_pilot, usual
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


def write(folder: Path, name: str, texts: Texts, drawn: Drawn, *, planned: Mapping[str, Any]) -> list[Path]:
    """Write ``campaign.json``, ``assignment.csv``, a workbook for each annotator and ``design.json``; return the paths.

    Of a protocol without scores there are no workbooks.
    planned: what the campaign is expected to show, which its design keeps.
    """
    wish, shown = drawn.wish, lay_out(texts, drawn)
    table, kept = answers(texts, drawn, shown)
    roles: dict[str, Entry] = {}
    for row in shown.itertuples():
        kinds = dict(roles[row.item].shown) if row.item in roles else {}
        roles[row.item] = Entry(row.task, row.position, row.doc, row.segment, kinds | {row.alias: row.item_type})
    systems = {alias: system for system, alias in aliases(sorted(texts.outputs), wish.seed).items()}
    # what a spreadsheet would run as a formula has an apostrophe before it, which an import takes away
    rows = guard_table(table[kept]).to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    contents: dict[str, bytes] = {
        "campaign.json": for_pearmut(name, texts, drawn, shown).encode(),
        "assignment.csv": rows.encode("utf-8-sig"),
        designs.NAME: designs.written(_said(name, texts, drawn, planned), systems, roles).encode(),
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


def lay_out(texts: Texts, drawn: Drawn) -> pd.DataFrame:
    """List what everybody is shown, a row a translation, screen after screen.

    item: its identifier, which tells nothing. task, position, part: counted from 1; position is the item's place in the
    task, part the screen. system, alias: whose translation it is, and under which name.
    """
    wish, rows = drawn.wish, []
    alias = aliases(sorted(texts.outputs), wish.seed)
    count = sum(len(screen.items) for mine in drawn.screens for screen in mine)
    codes = _codes("i", count, 16**8, np.random.default_rng([wish.seed, 2]))
    for task, (person, mine) in enumerate(zip(wish.annotators, drawn.screens), 1):
        items = [(part, item) for part, screen in enumerate(mine, 1) for item in screen.items]
        for position, (part, item) in enumerate(items, 1):
            place = item.segment
            whose = {"item": next(codes), "task": task, "annotator": person, "hit": task_name(task), "part": part}
            where = {"doc": texts.docs[place], "segment": str(place + 1), "source": texts.sources[place]}
            for system, kind, text in zip(item.systems, item.kinds, item.texts):
                told = {"system": system, "alias": alias[system], "item_type": kind, "hypothesis": text}
                rows.append(whose | where | told | {"position": position})
    return pd.DataFrame(rows).astype({"task": object, "position": object})


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


def answers(texts: Texts, drawn: Drawn, shown: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Lay out all that is to be judged, a row an answer, with everything that is known of it and an empty score.

    Returns the table, and those of its columns that are this package's own, so that it imports by itself; annotators
    must not see it, for it names systems. The others are for workbooks: part (the screen), and the translations.
    """
    protocol, shown = drawn.wish.protocol, shown.assign(src_lang=texts.src_lang, tgt_lang=texts.tgt_lang)
    where = ["position", "src_lang", "tgt_lang", "doc", "segment"]
    if protocol.compares:
        left, right = (shown.iloc[side::2].reset_index(drop=True) for side in (0, 1))
        sides = {f"system_{side}": own["system"] for side, own in (("a", left), ("b", right))}
        sides |= {f"translation_{side}": own["hypothesis"] for side, own in (("a", left), ("b", right))}
        kept = ["item", "annotator", *where, "system_a", "system_b", "source", "translation_a", "translation_b"]
        return left.assign(**sides, preference=""), [*kept, "preference"]
    several = shown.duplicated("item", keep=False)
    names = shown["item"].where(~several, shown["item"] + "." + shown["alias"])
    table = shown.assign(item=names, translation=shown["hypothesis"], **{protocol.heading: ""})
    kept = ["item", "annotator", "hit", *where, "system", "item_type", "source", "hypothesis", protocol.heading]
    return table, kept


def counts(drawn: Drawn) -> dict[str, int]:
    """Count the judgements of each kind of item; a comparison of two translations is one."""
    items = [item for mine in drawn.screens for screen in mine for item in screen.items]
    return dict(
        Counter("system" if item.compared else kind for item in items for kind in item.kinds[: item.judgements])
    )


def _said(name: str, texts: Texts, drawn: Drawn, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the campaign is."""
    protocol = drawn.wish.protocol
    told = {"name": name, **vars(drawn.wish), "protocol": protocol.name, "scale": protocol.scale}
    told |= {"src_lang": texts.src_lang, "tgt_lang": texts.tgt_lang, "inputs": texts.inputs}
    told |= {"documents": len(drawn.documents), "judgements": drawn.judgements}
    return told | {"kinds": counts(drawn), "planned": planned}


# For Pearmut


def pearmut_text(text: str) -> str:
    """Return a text such that Pearmut shows it letter by letter.

    >>> pearmut_text("a <b> c") == f"a <{JOINER}b> c", pearmut_text("1 < 2, <script>"), pearmut_text("x <img src=y>")
    (True, '1 < 2, <script>', 'x <img src=y>')
    """
    return _MARKUP.sub("<" + JOINER, text)


def for_pearmut(name: str, texts: Texts, drawn: Drawn, shown: pd.DataFrame) -> str:
    """Return the JSON that ``pearmut add`` takes: names of items and systems tell nothing, and nothing is shuffled.

    Sides and order are drawn already, so Pearmut is told to leave them alone.
    """
    wish, pair = drawn.wish, (texts.src_lang, texts.tgt_lang)
    told = [html.escape(wish.protocol.question)] + ["-".join(pair)] * (UNKNOWN not in pair)
    users: dict[str, Any] = {"users": list(wish.annotators), "instructions": " <br>".join(told)}
    info = {**wish.protocol.pearmut, "assignment": "task-based", "shuffle": False, "seed": wish.seed, **users}
    data: list[list[list[dict[str, Any]]]] = [[[] for _ in mine] for mine in drawn.screens]
    for row in shown.itertuples():
        screen = data[row.task - 1][row.part - 1]
        if not screen or screen[-1]["item_id"] != row.item:
            screen.append({"item_id": row.item, "src": pearmut_text(row.source), "tgt": {}})
        screen[-1]["tgt"][row.alias] = pearmut_text(row.hypothesis)
    return json.dumps({"campaign_id": name, "info": info, "data": data}, ensure_ascii=False, indent=1) + "\n"


# In tables


def _workbook(own: pd.DataFrame) -> bytes:
    """Return one annotator's XLSX: what to judge, in order, and a column for answers; texts are never formulas."""
    from openpyxl.styles import Alignment

    sides = [name for name in own if name.startswith("translation")]
    shown = own[["item", "part", "source", *sides, own.columns[-1]]]
    printed = shown.map(lambda value: _UNPRINTED.sub("", value) or None if isinstance(value, str) else value)
    written = io.BytesIO()
    with pd.ExcelWriter(written, engine="openpyxl") as book:
        printed.to_excel(book, sheet_name="judgements", index=False, freeze_panes=(1, 0))
        sheet = book.sheets["judgements"]
        for cells in sheet.columns:
            sheet.column_dimensions[cells[0].column_letter].width = _WIDTHS.get(cells[0].value, 16)
            for cell in cells:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
                cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type  # no formula, no error
    return written.getvalue()


MOST_ANNOTATORS = 500
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,39}")
#: The largest calibration set that is drawn where nobody says its size, and the share of segments that it may be.
_CALIBRATION, _TENTH = 20, 10
#: Options of ``read_texts``.
OF_TEXTS = ("source", "reference", "references", "documents", "pair")


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
    **wishes: Any,
) -> list[str]:
    """Write a designed campaign into a folder; return what is to be said of it, which its README says, too.

    annotators: how many, or their names with commas. wishes: see ``Wish``, and what ``read_texts``
    takes (``OF_TEXTS``). A README.md in the folder gets the plan where it says ``{{plan}}``.
    """
    kind, people = get_protocol(protocol), names(annotators)
    texts = read_texts(outputs, **{option: wishes.pop(option) for option in OF_TEXTS if option in wishes})
    prior = data.open_campaign(pilot)[0] if pilot else None
    assumed = usual(kind) if prior is None else from_pilot(prior, kind)
    shared = kind.compares or wishes.get("everybody")  # a calibration set would be no more shared than the rest
    size = min(_CALIBRATION, len(texts.docs) // _TENTH) if calibration is None and not shared else calibration or 0
    wish = Wish(kind, people, seconds=seconds or assumed["seconds"], calibration=size, **wishes)
    drawn = draw(texts, wish, prior=prior)
    planned = expect(texts, drawn, assumed)
    told = list(expectation(texts, drawn, planned, assumed=prior is None))
    write(folder, name, texts, drawn, planned=planned)
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
    found = tuple(part.strip() for part in annotators.split(",") if part.strip())
    if annotators.strip().isdecimal():
        found = tuple(f"annotator-{number:02d}" for number in range(1, min(int(annotators), MOST_ANNOTATORS + 1) + 1))
    if not 1 <= len(found) <= MOST_ANNOTATORS:
        raise DataError(f"--annotators {annotators[:60]} is no number of people. Give 1 to {MOST_ANNOTATORS}.")
    tasks = {task_name(number) for number in range(1, len(found) + 1)}
    if bad := [one for one in found if not _NAME.fullmatch(one) or one.casefold() in tasks]:
        raise DataError(f"{bad[0]!r} cannot name an annotator, whose address it is. Use 3 to 40 letters, digits, -, _.")
    if len({one.casefold() for one in found}) < len(found):
        raise DataError("Annotators have different names. Correct --annotators.")
    return found


def expectation(texts: Texts, drawn: Drawn, planned: Mapping[str, Any], *, assumed: bool) -> Iterator[str]:
    """Say how much is judged, and what that distinguishes; then what was assumed. assumed: not measured on a pilot."""
    wish, many, judgements = drawn.wish, counts(drawn), sum(drawn.judgements)
    low, high = min(drawn.judgements), max(drawn.judgements)
    values = {"wish": wish, "texts": texts, "drawn": drawn, "judgements": judgements}
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    yield words("design.much", each=each, hours=high * wish.seconds / 3600, **values)
    yield words("design.kinds", kinds=[words(f"design_kinds.{kind}", n=count) for kind, count in many.items()])
    unit = "points" if planned["unit"] == "points" else "comparisons"
    yield words(f"design.finds_{unit}" if planned["smallest_difference"] else "design.nothing", **planned)
    yield words("design.assumed" if assumed else "design.taken", **planned)
    yield from (words("design.note", note=note) for note in (*texts.notes, *drawn.notes))
    if wish.protocol.marks:
        yield words("design.marks" if wish.protocol.scale else "design.marks_only", protocol=wish.protocol.name)
