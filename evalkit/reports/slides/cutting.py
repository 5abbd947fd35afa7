"""Cut pieces into slides: a new one at each heading, and where one is full; few words stand beside their figure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalkit.reports.slides.pieces import ROOM, Piece

_HEAD, _TITLE = 2.2, 4.5  # lines that a slide's heading takes, and that of the first one
_SMALL = 0.72  # of a line, that references take
_BESIDE = 5.2  # lines of words, as wide as the slide, that have room in the column beside a figure


@dataclass
class Slide:
    """A slide. title: its heading as HTML. opens: whether a section of the lesson begins with it. simulated: names of
    simulated data that it may rest on.
    """

    title: str
    opens: bool
    level: int
    simulated: list[str]
    parts: list[Piece] = field(default_factory=list)

    @property
    def figures(self) -> int:
        """How many figures it shows that words can stand beside."""
        return sum(piece.html.startswith("<figure>") for piece in self.parts)

    @property
    def kind(self) -> str:
        """How it is laid out: as the title, in small letters, with words beside a figure, or plain."""
        if self.level == 1 and self.opens:
            return "title"
        if self.figures == 1 and len(self.parts) > 1:
            return "beside"
        return "small" if sum(piece.lines for piece in self.parts) > ROOM or self.title == "References" else "plain"

    @property
    def html(self) -> str:
        """What it shows under its title; items of one list stand in one list again."""
        joined = "\n".join(piece.html for piece in self.parts)
        return re.sub(r"</(ul|ol)>\s*<\1(?: start=\"\d+\")?>", "", joined)

    def has_room(self, piece: Piece) -> bool:
        """Tell whether a further piece fits."""
        both = [*self.parts, piece]
        if any(one.html.startswith("<figure>") for one in both):
            words = [one for one in both if not one.html.startswith("<figure")]
            beside = all(one.html.startswith("<p") and not one.html.startswith("<pre") for one in words)
            return len(both) - len(words) == 1 and beside and sum(one.lines for one in words) <= _BESIDE
        head = _TITLE if self.level == 1 else _HEAD
        share = _SMALL if self.title == "References" else 1.0
        return share * sum(one.lines for one in both) <= ROOM - head


def cut(pieces: Sequence[Piece]) -> list[Slide]:
    """Return the slides of a lesson, without pieces before its first heading, and headings with nothing under them."""
    slides: list[Slide] = []
    simulated: list[str] = []
    sources = [piece.source for piece in pieces if piece.source]
    mixed = len({kind == "simulated" for _, kind in sources}) > 1  # then simulated data are one section's alone
    for piece in pieces:
        if piece.source:
            name, kind = piece.source
            simulated = [*simulated, name] if kind == "simulated" and name not in simulated else simulated
            if slides and not slides[-1].parts:
                slides[-1].simulated = simulated
        elif piece.level:
            simulated = [] if mixed and piece.level <= 2 else simulated
            title = re.sub(r"</?h\d[^>]*>", "", piece.html).strip()
            slides.append(Slide(title, piece.level <= 2, piece.level, simulated))
        elif slides:
            _put(slides, piece, simulated)
    return [slide for slide in slides if slide.parts]


def _put(slides: list[Slide], piece: Piece, simulated: list[str]) -> None:
    """Put a piece on the last slide, or on a new one of the same title."""
    now = slides[-1]
    if now.parts and not now.has_room(piece):
        slides.append(Slide(now.title, False, now.level, simulated, _carried(now, piece)))
    slides[-1].parts.append(piece)
    slides[-1].simulated = simulated


def _carried(now: Slide, piece: Piece) -> list[Piece]:
    """Take along the last paragraph to the code or figure that it introduces, where there is room for both."""
    last = now.parts[-1]
    introduces = piece.html.startswith(("<pre", "<figure")) and last.html.startswith("<p") and len(now.parts) > 1
    return [now.parts.pop()] if introduces and not last.html.startswith("<pre") and last.lines <= 3.6 else []
