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

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{2,39}")
#: The largest calibration set that is drawn where nobody says its size, and the share of segments that it may be.
_CALIBRATION, _TENTH = 20, 10
_KINDS = {
    "system": "of systems' translations",
    "reference": "of people's translations",
    "repeat": "made a second time",
    "degraded": "of degraded translations",
    "calibration": "of the calibration set",
}


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
    told = [*expectation(texts, drawn, expected), *notes(texts, drawn)]
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


def expectation(texts: Texts, drawn: Drawn, found: Expected) -> list[str]:
    """Say how much is judged, what that distinguishes, and what more people would bring."""
    wish, low, high = drawn.wish, min(drawn.judgements), max(drawn.judgements)
    each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    crew, systems = pluralize(len(wish.annotators), "annotator"), pluralize(len(texts.outputs), "system")
    many = counts(drawn)
    sentences = [
        f"{wish.protocol.name}: {pluralize(sum(drawn.judgements), 'judgement')} by {crew}, {each} each, of {systems} "
        f"on {pluralize(len(drawn.documents), 'document')}. At {wish.seconds:.0f} seconds a judgement that is "
        f"{high * wish.seconds / 3600:.1f} hours for who has most.",
        f"Of these judgements {join_names([f'{count:,} are {_KINDS[kind]}' for kind, count in many.items()])}.",
    ]
    first = sum(drawn.judgements) - sum(many.get(kind, 0) for kind in ("degraded", "repeat", "calibration"))
    for kind, how, option in (("degraded", "degraded", "--degraded"), ("repeat", "as they were", "--repeats")):
        if share := wish.shares[kind]:
            sentences.append(
                f"Of the {first:,} first showings {many.get(kind, 0) / first:.1%} come again {how}; {option} {share:g} "
                f"asks for {share:.1%}, to whole items."
            )
    if found.difference is None:
        sentences.append("No difference can be tested: a test needs two documents or more, and two annotators or more.")
    else:
        more = [f"{_size(value, found)} with {crew}" for crew, value in found.more[1:] if value is not None]
        sentences += [
            f"With a chance of {POWER:.0%} it distinguishes two systems that are {_size(found.difference, found)} "
            "apart or more; smaller differences may go unnoticed.",
            f"With more annotators it would be {join_names(more)}, each with as many documents as now."
            + " That takes more documents than there are." * found.limited,
        ]
    how = "assumed to be" if found.usual.assumed else "taken from"
    return [*sentences, f"What scatters and how long a judgement takes is {how} {found.usual.source}."]


def _size(value: float, found: Expected) -> str:
    return f"{value:.1%} of comparisons" if found.unit != "points" else f"{value:.2g} points"


def notes(texts: Texts, drawn: Drawn) -> list[str]:
    """Say what was assumed, and what could not be had."""
    protocol, told = drawn.wish.protocol, [*texts.notes, *drawn.notes]
    if protocol.marks:
        books = "workbooks have room for scores only" if protocol.scale else "no workbooks were written"
        told.append(f"{protocol.name} marks errors, which takes a tool such as Pearmut; {books}")
    return [f"{note[0].upper()}{note[1:]}." for note in told]
