"""What each protocol asks of annotators: its scale, how many translations a screen shows, what Pearmut is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evalkit import DataError

_BETTER = "better"


@dataclass(frozen=True)
class Protocol:
    """A way of asking. scale: ends of its scores, None where errors make them. together: how many systems' translations
    stand on one screen (0: all). pearmut: what a campaign's ``info`` says of it. question: for annotators, in a
    sentence.
    """

    name: str
    scale: tuple[float, float] | None
    question: str
    pearmut: dict[str, Any] = field(default_factory=dict)
    together: int = 1

    @property
    def heading(self) -> str:
        """How the column of scores is headed, with the ends of the scale.

        >>> PROTOCOLS["XSTS"].heading
        'score (1-5)'
        """
        return "score ({:g}-{:g})".format(*self.scale) if self.scale else "score"

    @property
    def marks(self) -> bool:
        """Whether errors are marked in the texts, for which a tool is needed."""
        return self.pearmut["protocol"] in ("ESA", "cESA", "MQM")

    @property
    def compares(self) -> bool:
        """Whether one answer compares two translations, so that no item has a score of its own."""
        return self.together == 2


def _slider(name: str, low: int, high: int) -> list[dict[str, Any]]:
    return [{"name": name, "min": low, "max": high, "step": 1}]


_WHOLE = "How good is the translation? 0: nothing of the source's meaning is there; 100: perfect."
_MARK = "Mark every error, say how severe it is, then give the translation a score from 0 to 100."
#: By their names, as the field writes them.
PROTOCOLS = {
    one.name: one
    for one in (
        Protocol("DA", (0, 100), _WHOLE, {"protocol": "DA"}),
        Protocol(
            "SQM",
            (0, 6),
            "How good is the translation? 0: nothing of the meaning is there; 6: perfect.",
            {"protocol": "DA", "sliders": _slider("SQM", 0, 6)},
        ),
        Protocol(
            "XSTS",
            (1, 5),
            "How far do both sentences mean the same? 1: not at all; 5: exactly.",
            {"protocol": "DA", "sliders": _slider("XSTS", 1, 5)},
        ),
        Protocol("ESA", (0, 100), _MARK, {"protocol": "ESA"}),
        Protocol("cESA", (0, 100), _MARK, {"protocol": "cESA"}, together=0),
        Protocol(
            "MQM",
            None,
            "Mark every error, and say of which kind and how severe it is. Give no score.",
            {"protocol": "MQM", "sliders": []},
        ),
        Protocol(
            "preference",
            (0, 1),
            "Which translation is better? Set the better one to 1, the other to 0; both to the same where neither is.",
            {"protocol": "DA", "sliders": _slider(_BETTER, 0, 1)},
            together=2,
        ),
    )
}


def get_protocol(name: str) -> Protocol:
    """Return a protocol by its name, in whatever case.

    >>> get_protocol("esa").name
    'ESA'
    """
    found = {known.casefold(): one for known, one in PROTOCOLS.items()}.get(name.strip().casefold())
    if not found:
        raise DataError(f"{name!r} is no protocol that is known here. Choose one of {', '.join(PROTOCOLS)}.")
    return found
