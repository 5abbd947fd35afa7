"""Sentences as plain text, Markdown and LaTeX: names stay characters, and works are cited.

A citation is marked by ``findings.MARK``, between control characters, which no name on a page has; what is none of our
keys stays text.
"""

import re
import tomllib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evalkit.campaign.findings import MARK

#: Written otherwise in LaTeX.
_TEX: dict[str, str] = tomllib.loads(Path(__file__).with_name("tex.toml").read_text(encoding="utf-8"))


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


_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "v": "\u030c", "c": "\u0327"}


@dataclass(frozen=True)
class Reference:
    """A work that can be cited. entry: as BibTeX has it; fields: by BibTeX's names, as people read them."""

    entry: str
    fields: dict[str, str]

    @property
    def label(self) -> str:
        """Who and when, as a text cites it.

        >>> REFERENCES["liang1986"].label, REFERENCES["graham2013"].label
        ('Liang & Zeger 1986', 'Graham et al. 2013')
        """
        families = [name.partition(",")[0] for name in self.fields["author"].split(" and ")]
        who = " & ".join(families) if len(families) < 3 else f"{families[0]} et al."
        return f"{who} {self.fields['year']}"

    @property
    def text(self) -> str:
        """The line of a list of references.

        >>> print(REFERENCES["holm1979"].text)  # doctest: +NORMALIZE_WHITESPACE
        Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics
        6(2), 65–70.
        """
        said = self.fields
        names = [_initials(name) for name in said["author"].split(" and ")]
        who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        where = next(said[name] for name in ("journal", "booktitle", "institution", "publisher") if name in said)
        number = f"({said['number']})" if "number" in said else ""
        volume = f" {said['volume']}{number}" if "volume" in said else ""
        pages = f", {said['pages']}" if "pages" in said else ""
        link = f" https://doi.org/{said['doi']}" if "doi" in said else f" {said['url']}" if "url" in said else ""
        return f"{who} ({said['year']}). {said['title']}. {where}{volume}{pages}.{link}"


def _initials(name: str) -> str:
    family, _, given = name.partition(", ")
    return f"{family}, {' '.join(f'{part[0]}.' for part in given.split())}"


def _read(path: Path) -> dict[str, Reference]:
    """Read our own BibTeX file, in which every field has a line, and every entry ends in a line with a brace."""
    found = {}
    for entry in re.findall(r"^@.*?^}$", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL):
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, flags=re.MULTILINE))
        key = entry.partition("{")[2].partition(",")[0]
        found[key] = Reference(entry, {name: _readable(value) for name, value in fields.items()})
    return found


def _readable(value: str) -> str:
    r"""Write what BibTeX's spelling means.

    >>> print(_readable(r"Popovi{\'c}, Maja \& Guzm{\'a}n, {MQM} 65--70"))
    Popović, Maja & Guzmán, MQM 65–70
    """
    text = re.sub(r"\{\\(\W|[vc])\{?(\w)\}?\}", lambda found: found[2] + _ACCENTS[found[1]], value)
    text = unicodedata.normalize("NFC", text).replace("--", "–")
    return re.sub(r"[{}]|\\(?=&)", "", text)


#: Citation key -> work.
REFERENCES = _read(Path(__file__).parent / "references.bib")
#: Begins a mark whose label stands in the text without brackets.
_BARE = "bare"
_KEY = f"(?:{'|'.join([_BARE, *REFERENCES])})"
_MARK = re.compile(MARK.format(f"({_KEY}(?:;{_KEY})*)"))


def works(text: str) -> list[str]:
    """List the works whose keys stand in a text, as a list of references has them.

    >>> works("holm1979 gwet2008")[0][:13]
    'Gwet, K. L. ('
    """
    return sorted(REFERENCES[key].text for key in text.split())


def bibtex(keys: list[str]) -> str:
    """Write the entries of works as a BibTeX file, by key; keys that are none of ours are left out."""
    return "\n".join(f"{REFERENCES[key].entry}\n" for key in sorted({*keys} & {*REFERENCES}))


def with_marks(text: str) -> str:
    """Mark the works that a text names by their labels, such as what an import tells of weights.

    >>> latex(with_marks("Holm 1979: 5 %")), cited(with_marks("Holm 1979: 5 %"))
    ('\\\\citealp{holm1979}: 5 \\\\%', ['holm1979'])
    """
    keys = {work.label: key for key, work in REFERENCES.items()}
    return re.sub("|".join(map(re.escape, keys)), lambda found: MARK.format(f"{_BARE};{keys[found[0]]}"), text)


def plain(text: str) -> str:
    """Tell a marked text with labels for citations."""
    return _told(text, str, _labels)


def latex(text: str) -> str:
    """Tell a marked text as LaTeX: citations as natbib's, names escaped."""
    return _told(text, tex, lambda keys, bare: rf"\{'citealp' if bare else 'citep'}{{{','.join(keys)}}}")


def cited(text: str) -> list[str]:
    """List the keys of all works that a marked text cites, in order."""
    return sorted({key for found in _MARK.findall(text) for key in found.split(";")} & {*REFERENCES})


def _labels(keys: list[str], bare: bool) -> str:
    names = "; ".join(REFERENCES[key].label for key in keys)
    return names if bare else f"({names})"


def _told(text: str, words: Callable[[str], str], citation: Callable[[list[str], bool], str]) -> str:
    """Tell the words of a text in one way, and the citations between them in another."""
    parts = _MARK.split(text)
    parts[::2] = map(words, parts[::2])
    for place, (first, *rest) in enumerate(keys.split(";") for keys in parts[1::2]):
        parts[2 * place + 1] = citation(rest, True) if first == _BARE else citation([first, *rest], False)
    return "".join(parts)
