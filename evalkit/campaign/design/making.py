"""Make a campaign of what somebody tells: read texts, draw, say what to expect, write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalkit import DataError, data
from evalkit.campaign.design.drawing import Drawn, Wish, draw, get_protocol
from evalkit.campaign.design.expectation import POWER, Expected, expect, from_pilot, usual
from evalkit.campaign.design.texts import Texts, read_texts
from evalkit.campaign.design.writing import counts, task_name, write
from evalkit.stats.terms import join_names, pluralize

_KINDS = {
    "system": "of systems' translations",
    "reference": "of people's translations",
    "repeat": "made a second time",
    "degraded": "of degraded translations",
    "calibration": "of the calibration set",
}


def expectation(texts: Texts, drawn: Drawn, found: Expected) -> list[str]:
    """Say how much is judged, what that distinguishes, and what more people would bring."""
    wish, many = drawn.wish, sum(drawn.judgements)
    low, high = min(drawn.judgements), max(drawn.judgements)
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    crew, systems = pluralize(len(wish.annotators), "annotator"), pluralize(len(texts.outputs), "system")
    kinds = join_names([f"{count:,} are {_KINDS[kind]}" for kind, count in counts(drawn).items()])
    sentences = [
        f"{wish.protocol.name}: {pluralize(many, 'judgement')} by {crew}, {each} each, of {systems} on "
        f"{pluralize(len(drawn.documents), 'document')}. At {wish.seconds:.0f} seconds a judgement that is "
        f"{high * wish.seconds / 3600:.1f} hours for who has most.",
        f"Of these judgements {kinds}.",
        *_again(drawn),
    ]
    if found.difference is None:
        sentences.append("No difference can be tested: a test needs two documents or more, and two annotators or more.")
    else:
        size = _size(found.difference, found)
        sentences += [
            f"With a chance of {POWER:.0%} it distinguishes two systems that are {size} apart or more; smaller "
            "differences may go unnoticed.",
            _more(found),
        ]
    how = "assumed to be" if found.usual.assumed else "taken from"
    return [*sentences, f"What scatters and how long a judgement takes is {how} {found.usual.source}."]


def _again(drawn: Drawn) -> list[str]:
    """Say which share of first showings comes again, and which was asked for."""
    wish, many = drawn.wish, counts(drawn)
    first = sum(drawn.judgements) - sum(many.get(kind, 0) for kind in ("degraded", "repeat"))
    first -= many.get("calibration", 0)
    asked = (
        ("degraded", "degraded", "--degraded", wish.degraded),
        ("repeat", "as they were", "--repeats", wish.repeats),
    )
    return [
        f"Of the {first:,} first showings {many.get(kind, 0) / first:.1%} come again {how}; {option} {share:g} asks "
        f"for {share:.1%}, to whole items."
        for kind, how, option, share in asked
        if share
    ]


def _size(value: float, found: Expected) -> str:
    return f"{value:.1%} of comparisons" if found.unit != "points" else f"{value:.2g} points"


def _more(found: Expected) -> str:
    """Say what more annotators would bring."""
    parts = [f"{_size(value, found)} with {count}" for count, value in found.more[1:] if value is not None]
    text = f"With more annotators it would be {join_names(parts)}, each with as many documents as now."
    return f"{text} That takes more documents than there are." if found.limited else text


def notes(texts: Texts, drawn: Drawn) -> list[str]:
    """Say what was assumed, and what could not be had."""
    protocol = drawn.wish.protocol
    tool = [
        f"{protocol.name} marks errors, which takes a tool such as Pearmut; "
        + ("workbooks have room for scores only" if protocol.scale else "no workbooks were written")
    ]
    told = (*texts.notes, *drawn.notes, *(tool if protocol.marks else []))
    return [f"{note[0].upper()}{note[1:]}." for note in told]


def plan(name: str, told: Sequence[str], noted: Sequence[str], *, workbooks: bool, everybody: bool = False) -> str:
    """Write the plan, with the way from here to the report, as Markdown.

    workbooks: whether there are any; everybody: whether it is a class, which goes on to the lessons.
    """
    lines = [f"# {name}: the plan", "", *(f"{sentence}\n" for sentence in told)]
    lines += [*(f"- {sentence}" for sentence in noted), ""] if noted else []
    file = "for_annotators/*.xlsx" if workbooks else f"data/annotations/{name}.jsonl"
    parts = [_WAY.format(name=name, row=_ROW if workbooks else ""), _WORKBOOKS if workbooks else "", _END]
    return "\n".join(lines) + "".join(parts) + (_CLASS.format(file=file) if everybody else "")


_WAY = """
## The files

| file | for whom |
| --- | --- |
| `campaign.json` | Pearmut: an address for each annotator; nothing in it names systems or kinds of items |
{row}| `assignment.csv` | you: everything that is judged, by whom, of which system. Annotators must not see it |
| `design.json` | you: the role of each item. Keep it with the results; without it they cannot be read |

## With Pearmut

```
pearmut add campaign.json
pearmut run
evalkit import data/annotations/{name}.jsonl --design design.json
evalkit run campaign -p file=campaign.parquet
```

`pearmut add` prints an address for each annotator. Pearmut answers on every network address of your machine: let a
firewall, or a server of your own, decide who reaches it.
"""

_ROW = """\
| `for_annotators/` | without Pearmut: a workbook for each annotator; nothing in it names systems or kinds of items |
"""

_WORKBOOKS = """
## With workbooks

```
evalkit import for_annotators/*.xlsx --design design.json
evalkit run campaign -p file=campaign.parquet
```
"""

_END = """
The import knows every item's role from `design.json`, and the report says what was planned and what came of it.
"""

_CLASS = """
## To the lessons

Give each student a number, and by it an address or a workbook; no name need be in any file. The numbers stay in the
result only with `--keep-names`, so that everybody finds their own (of Pearmut, name its `.jsonl`):

```
evalkit import {file} --design design.json --keep-names --out class.parquet
```

Then open lesson 0 and set, in its second cell, `class_file` to the path of
`class.parquet`, and `me` to your number. Lessons 1 to 6 take the same two.
"""


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
    source: Path | None = None,
    reference: Path | None = None,
    references: bool = True,
    documents: Path | None = None,
    pair: str = "",
    seconds: float | None = None,
    calibration: int | None = None,
    **wishes: Any,
) -> list[str]:
    """Write a designed campaign into a folder; return what is to be said of it.

    annotators: how many, or their names with commas. wishes: see ``Wish``.
    """
    kind, people = get_protocol(protocol), names(annotators)
    texts = read_texts(
        outputs, source=source, reference=reference, references=references, documents=documents, pair=pair
    )
    prior = data.open_campaign(pilot)[0] if pilot else None
    assumed = usual(kind) if prior is None else from_pilot(prior, kind)
    shared = kind.compares or wishes.get("everybody")  # a calibration set would be no more shared than the rest
    size = min(_CALIBRATION, len(texts.docs) // _TENTH) if calibration is None and not shared else calibration or 0
    wish = Wish(kind, people, seconds=seconds or assumed.seconds, calibration=size, **wishes)
    drawn = draw(texts, wish, prior=prior)
    expected = expect(texts, drawn, assumed)
    told, noted = expectation(texts, drawn, expected), notes(texts, drawn)
    write(folder, name, texts, drawn, planned=expected.as_record())
    text = plan(name, told, noted, workbooks=kind.scale is not None, everybody=wish.everybody)
    (folder / "plan.md").write_text(text, encoding="utf-8")
    return [*told, *noted]


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
    tasks = " ".join(task_name(number) for number in range(1, len(found) + 1))
    for one in found:
        if not _NAME.fullmatch(one) or one.casefold() in tasks:
            raise DataError(
                f"{one!r} cannot name an annotator, whose address it is. Use 3 to 40 letters, digits, - and _."
            )
    if len({one.casefold() for one in found}) < len(found) or not found:
        raise DataError("Annotators have different names. Correct --annotators.")
    return found
