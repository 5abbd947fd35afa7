"""How numbers are set on a page: a minus sign, not a hyphen, and a narrow blank before a percent sign.

Only what is read is set so: payloads, code, and texts from data keep their characters.
"""

from __future__ import annotations

import re

#: Classes by which MathJax (its releases 3 and 2) leaves what is in an element alone. JupyterLab has it typeset all
#: HTML, so "$5 for A and $6 for B" would become a formula; no output here is one.
UNTYPESET = "mathjax_ignore tex2jax_ignore"
MINUS = "\N{MINUS SIGN}"
NARROW = "\N{NARROW NO-BREAK SPACE}"
#: A hyphen at the beginning of a number: after a blank, a bracket or a sign of comparison, and nothing else.
_NEGATIVE = re.compile(r"(?<![^\s(\[{=<>≤≥±≈~/|:;,“‘\"'])-(?=\.?\d)")
#: A percent sign after a number that stands by itself, so that "A100%", "50%-mix" and "a%20b" stay as they are.
_PERCENT = re.compile(r"(?<![\w%/.-])([−+±]?\d[\d.,]*(?:[–-]\d[\d.,]*)?)[ \u00a0]?%(?![\w%-])")


def typeset(text: str) -> str:
    """Set the numbers of a sentence, a caption or a cell; names such as GPT-4 and ranges stay as they are.

    >>> typeset("a change of -0.3 (95% interval -1.2 to .4)").replace(NARROW, "_")
    'a change of −0.3 (95_% interval −1.2 to .4)'
    >>> typeset("GPT-4 on eng-jpn, 0-100, 2022-11-03, -p file=x, wmt-22")
    'GPT-4 on eng-jpn, 0-100, 2022-11-03, -p file=x, wmt-22'
    """
    return _PERCENT.sub(rf"\1{NARROW}%", _NEGATIVE.sub(MINUS, text))
