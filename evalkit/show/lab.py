"""How tables and sentences look in JupyterLab: as in reports, and not as JupyterLab's own tables."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from evalkit.show import pictures
from evalkit.show.style import UNTYPESET

STYLE = Path(__file__).with_name("lab.css").read_text(encoding="utf-8")
#: What MathJax takes for the beginning of a formula.
_TEX = re.compile(r"\$|\\[(\[]|\\begin\b")


def dressed(html: str) -> str:
    """Put markup into a box with the style of reports where a person is at work; reports have it as it is.

    What looks like TeX in it stays as it is. The style travels with each output, because any of them may be cleared,
    and a saved notebook keeps the others.
    """
    if not pictures.live():
        return html
    return f'<div class="evalkit {UNTYPESET}"><style>{STYLE}</style>{html}</div>'


def label(text: object) -> dict[str, Any]:
    """Return the options of a control for a label from data: no letter of it is markup or TeX.

    >>> label("GPT-4"), label("$a$ < b")["description"]
    ({'description': 'GPT-4'}, '<span class="mathjax_ignore tex2jax_ignore">$a$ &lt; b</span>')
    """
    if not _TEX.search(str(text)):
        return {"description": str(text)}
    return {"description": f'<span class="{UNTYPESET}">{escape(str(text))}</span>', "description_allow_html": True}
