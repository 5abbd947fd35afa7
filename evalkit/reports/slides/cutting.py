"""Cut pieces into slides: a new one at each heading, at each figure, and where one is full."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from evalkit.reports.slides.pieces import ROOM, Piece


@dataclass
class Slide:
    """A slide. title: its heading as HTML. opens: whether a section of the lesson begins with it. kind: of layout."""

    title: str
    opens: bool
    level: int
    parts: list[Piece] = field(default_factory=list)

    @property
    def lines(self) -> float:
        """How many lines are taken."""
        return sum(piece.lines for piece in self.parts)

    @property
    def kind(self) -> str:
        """Title, references, or an ordinary slide."""
        if self.level == 1 and self.opens:
            return "title"
        return "small" if self.lines > ROOM or self.title == "References" else "plain"

    @property
    def html(self) -> str:
        """What it shows under its title; items of one list stand in one list again."""
        joined = "\n".join(piece.html for piece in self.parts)
        return re.sub(r"</(ul|ol)>\s*<\1(?: start=\"\d+\")?>", "", joined)


def cut(pieces: Iterable[Piece]) -> list[Slide]:
    """Return the slides of a lesson; pieces before its first heading are left out.

    A heading with nothing under it stands on the next slide with the heading that follows.
    """
    slides: list[Slide] = []
    for piece in pieces:
        if piece.level:
            slides.append(Slide(re.sub(r"</?h\d[^>]*>", "", piece.html).strip(), piece.level <= 2, piece.level))
        elif slides:
            room = ROOM - 2.2
            now = slides[-1]
            if now.parts and now.lines + piece.lines > room:
                left = _carried(now, piece)
                slides.append(Slide(now.title, False, now.level, left))
            slides[-1].parts.append(piece)
    return [slide for slide in slides if slide.parts]


def _carried(now: Slide, piece: Piece) -> list[Piece]:
    """Take along the last paragraph to the code or figure that it introduces, where there is room for both."""
    last = now.parts[-1]
    introduces = piece.html.startswith(("<pre", "<figure")) and last.html.startswith("<p") and len(now.parts) > 1
    if introduces and last.lines <= 3 and last.lines + piece.lines <= ROOM - 2.2:
        return [now.parts.pop()]
    return []
