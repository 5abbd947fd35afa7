"""Make a campaign of what somebody tells: read texts, draw, say what to expect, write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evalkit import DataError, data
from evalkit.campaign.design.drawing import Drawn, Wish, draw, get_protocol
from evalkit.campaign.design.expectation import POWER, Expected, expect, from_pilot, usual
from evalkit.campaign.design.texts import Texts, read_texts
from evalkit.campaign.design.writing import counts, task_name, write
from evalkit.campaign.findings import words

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
    for one in found:
        if not _NAME.fullmatch(one) or one.casefold() in tasks:
            raise DataError(
                f"{one!r} cannot name an annotator, whose address it is. Use 3 to 40 letters, digits, - and _."
            )
    if len({one.casefold() for one in found}) < len(found) or not found:
        raise DataError("Annotators have different names. Correct --annotators.")
    return found


def expectation(texts: Texts, drawn: Drawn, found: Expected) -> Iterator[str]:
    """Say how much is judged, what that distinguishes, and what more people would bring; then what was assumed."""
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
        yield words("design.finds", power=POWER, size=_size(found.difference, found))
        more = [f"{_size(value, found)} with {crew}" for crew, value in found.more[1:] if value is not None]
        yield words("design.more_texts" if found.limited else "design.more", more=more)
    yield words("design.assumed" if found.usual.assumed else "design.taken", source=found.usual.source)
    yield from (words("design.note", note=note) for note in (*texts.notes, *drawn.notes))
    if wish.protocol.marks:
        yield words("design.marks" if wish.protocol.scale else "design.marks_only", protocol=wish.protocol.name)


def _size(value: float, found: Expected) -> str:
    return f"{value:.1%} of comparisons" if found.unit != "points" else f"{value:.2g} points"
