"""How tables and sentences look in JupyterLab: as in reports, and not as JupyterLab's own tables."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from evalkit.show import pictures

STYLE = Path(__file__).with_name("lab.css")


def dressed(html: str) -> str:
    """Put markup into a box with the style of reports where a person is at work; reports have it as it is.

    The style travels with each output, because any of them may be cleared, and a saved notebook keeps the others.
    """
    return f'<div class="evalkit"><style>{_style()}</style>{html}</div>' if pictures.live() else html


@lru_cache(maxsize=1)
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")
