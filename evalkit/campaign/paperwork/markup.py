"""Texts from data as they must be written in Markdown and in LaTeX, so that they stay characters."""

from __future__ import annotations

import unicodedata

#: Written otherwise in LaTeX. What has no form in all of its encodings is built from what has one.
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\n": " ",
    "\r": " ",
    "\t": " ",
    "`": r"\textasciigrave{}",
    "…": r"\ldots{}",
    "−": "$-$",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "–": "--",
    "—": "---",
}
#: Letters up to U+017F for which pdfLaTeX has no glyph, and those that it has in the encoding T1 only.
_UNKNOWN, _T1 = set("ĦħĸĿŀŉŦŧſ"), set('ÐðĐđÞþŊŋĄąĘęĮįŲų«»"')
RARE = "% Some letters here are none of pdfLaTeX's: use LuaLaTeX or XeLaTeX, with a font that has them."
ENCODED = r"% With pdfLaTeX these letters need \usepackage[T1]{fontenc}."


def escaped(text: str) -> str:
    r"""Escape what Markdown would take for markup.

    >>> print(escaped("a_b *c* [d](e) <f>"))
    a\_b \*c\* \[d\](e) \<f\>
    """
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>#|$~" else letter for letter in text)


def tex(text: str) -> str:
    r"""Escape what LaTeX would take for a command; letters are composed, and signs that cannot be printed are left out.

    >>> print(tex("50 % of $x_1$ & \\input{a}"))
    50 \% of \$x\_1\$ \& \textbackslash{}input\{a\}
    """
    composed = unicodedata.normalize("NFC", text)
    return "".join(_TEX.get(letter, letter) for letter in composed if letter in _TEX or _printed(letter))


def _printed(letter: str) -> bool:
    """Tell whether a letter is for people's eyes; the joiners of Persian and of Indian scripts are."""
    return unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Cn") or letter in "\u200c\u200d"


def needs(body: str) -> list[str]:
    """Say in comments of LaTeX what a text needs beside a plain document, one line each.

    body: as ``tex`` wrote it.

    >>> needs("café"), len(needs("Đ")), len(needs("字"))
    ([], 1, 1)
    """
    letters = set(body)
    if any(ord(letter) > 0x17F for letter in letters) or letters & _UNKNOWN:
        return [RARE]
    return [ENCODED] if letters & _T1 or r"\textquotedbl" in body else []
