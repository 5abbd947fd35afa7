"""Make a campaign of what somebody tells: read texts, draw, say what to expect, write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalkit import DataError, data
from evalkit.campaign.design import wording
from evalkit.campaign.design.drawing import Wish, draw
from evalkit.campaign.design.expectation import expect, from_pilot, usual
from evalkit.campaign.design.protocols import get_protocol
from evalkit.campaign.design.sheets import task_name
from evalkit.campaign.design.texts import read_texts
from evalkit.campaign.design.writing import write

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
    told, noted = wording.expectation(texts, drawn, expected), wording.notes(texts, drawn)
    write(folder, name, texts, drawn, planned=expected.as_record())
    text = wording.plan(name, told, noted, workbooks=kind.scale is not None, everybody=wish.everybody)
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
