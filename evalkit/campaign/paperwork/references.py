"""What the methods of a campaign can cite: each work once, as data, for lists of references and for BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

#: How BibTeX spells what stands over or under a letter.
_ACCENTS = {"\u0301": "'", "\u0300": "`", "\u0302": "^", "\u0308": '"', "\u0303": "~", "\u030c": "v", "\u0327": "c"}
_SPECIAL = {"&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$", "_": r"\_", "–": "--"}


@dataclass(frozen=True)
class Reference:
    """A work that can be cited.

    kind: of a BibTeX entry. authors: "Family, Given" each. fields: the other fields, by BibTeX's names; braces keep
    capitals of names and abbreviations, and page ranges have an en dash.
    """

    kind: str
    authors: tuple[str, ...]
    fields: Mapping[str, str]

    @property
    def label(self) -> str:
        """Who and when, as a text cites it.

        >>> REFERENCES["liang1986"].label, REFERENCES["graham2013"].label
        ('Liang & Zeger 1986', 'Graham et al. 2013')
        """
        families = [name.partition(",")[0] for name in self.authors]
        who = " & ".join(families) if len(families) < 3 else f"{families[0]} et al."
        return f"{who} {self.fields['year']}"

    @property
    def text(self) -> str:
        """The line of a list of references.

        >>> REFERENCES["holm1979"].text
        'Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2), 65–70.'
        """  # noqa: E501
        names = [_initials(name) for name in self.authors]
        who = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        said = {name: value.replace("{", "").replace("}", "") for name, value in self.fields.items()}
        where = said.get("journal") or said.get("booktitle") or said.get("institution") or said["publisher"]
        number = f"({said['number']})" if "number" in said else ""
        volume = f" {said['volume']}{number}" if "volume" in said else ""
        pages = f", {said['pages']}" if "pages" in said else ""
        link = f" https://doi.org/{said['doi']}" if "doi" in said else f" {said['url']}" if "url" in said else ""
        return f"{who} ({said['year']}). {said['title']}. {where}{volume}{pages}.{link}"

    def entry(self, key: str) -> dict[str, str]:
        """Return the entry as plain data: key, kind, and every field as BibTeX is to read it."""
        fields = {"author": " and ".join(self.authors), **self.fields}
        return {"key": key, "kind": self.kind} | {
            name: value if name in ("doi", "url") else spelled(value) for name, value in fields.items()
        }


def _initials(name: str) -> str:
    family, _, given = name.partition(", ")
    return f"{family}, {' '.join(f'{part[0]}.' for part in given.split())}"


def spelled(text: str) -> str:
    r"""Spell a text for BibTeX, whose oldest version knows no letters beyond ASCII.

    >>> print(spelled("Popović, Maja & Guzmán, 65–70"))
    Popovi{\'c}, Maja \& Guzm{\'a}n, 65--70
    """
    found = ""
    for letter in unicodedata.normalize("NFC", text):
        parts = unicodedata.normalize("NFD", letter)
        base, marks = parts[0], parts[1:]
        if marks in _ACCENTS:
            accent = _ACCENTS[marks]
            found += f"{{\\{accent}{{{base}}}}}" if accent.isalpha() else f"{{\\{accent}{base}}}"
        else:
            found += _SPECIAL.get(letter, letter)
    return found


def bibtex(entries: list[dict[str, str]]) -> str:
    r"""Write entries, as ``Reference.entry`` returns them, as a BibTeX file; by key, so equal ones are equal bytes.

    >>> print(bibtex([REFERENCES["holm1979"].entry("holm1979")]))
    @article{holm1979,
      author = {Holm, Sture},
      title = {A simple sequentially rejective multiple test procedure},
      journal = {Scandinavian Journal of Statistics},
      volume = {6},
      number = {2},
      pages = {65--70},
      year = {1979}
    }
    <BLANKLINE>
    """
    blocks = []
    for entry in sorted(entries, key=lambda one: one["key"]):
        fields = ",\n".join(f"  {name} = {{{value}}}" for name, value in entry.items() if name not in ("key", "kind"))
        blocks.append(f"@{entry['kind']}{{{entry['key']},\n{fields}\n}}\n")
    return "\n".join(blocks)


def linked(text: str) -> list[tuple[str, str]]:
    """Cut a text at the labels of works that it names: pieces of text, each with the key of the label behind it, or "".

    >>> linked("as in Holm 1979, twice")
    [('as in ', 'holm1979'), (', twice', '')]
    """
    keys = {work.label: key for key, work in REFERENCES.items()}
    *before, last = re.split(f"({'|'.join(map(re.escape, keys))})", text)
    pairs = zip(before[::2], before[1::2], strict=True)
    return [*((piece, keys[label]) for piece, label in pairs), (last, "")]


#: Citation key -> work.
REFERENCES = {
    "bell2002": Reference(
        "article",
        ("Bell, Robert M.", "McCaffrey, Daniel F."),
        {
            "title": "Bias reduction in standard errors for linear regression with multi-stage samples",
            "journal": "Survey Methodology",
            "volume": "28",
            "number": "2",
            "pages": "169–181",
            "year": "2002",
        },
    ),
    "burchardt2014": Reference(
        "techreport",
        ("Burchardt, Aljoscha", "Lommel, Arle"),
        {
            "title": "Practical Guidelines for the Use of {MQM} in Scientific Research on Translation Quality",
            "institution": "DFKI, QTLaunchPad",
            "year": "2014",
        },
    ),
    "bradley1952": Reference(
        "article",
        ("Bradley, Ralph Allan", "Terry, Milton E."),
        {
            "title": "Rank Analysis of Incomplete Block Designs: {I}. The Method of Paired Comparisons",
            "journal": "Biometrika",
            "volume": "39",
            "number": "3/4",
            "pages": "324–345",
            "year": "1952",
        },
    ),
    "cameron2011": Reference(
        "article",
        ("Cameron, A. Colin", "Gelbach, Jonah B.", "Miller, Douglas L."),
        {
            "title": "Robust inference with multiway clustering",
            "journal": "Journal of Business & Economic Statistics",
            "volume": "29",
            "number": "2",
            "pages": "238–249",
            "year": "2011",
        },
    ),
    "davidson1970": Reference(
        "article",
        ("Davidson, Roger R.",),
        {
            "title": "On Extending the {B}radley-{T}erry Model to Accommodate Ties in Paired Comparison Experiments",
            "journal": "Journal of the American Statistical Association",
            "volume": "65",
            "number": "329",
            "pages": "317–328",
            "year": "1970",
        },
    ),
    "efron1993": Reference(
        "book",
        ("Efron, Bradley", "Tibshirani, Robert J."),
        {
            "title": "An Introduction to the Bootstrap",
            "publisher": "Chapman & Hall",
            "year": "1993",
        },
    ),
    "freitag2021": Reference(
        "article",
        (
            "Freitag, Markus",
            "Foster, George",
            "Grangier, David",
            "Ratnakar, Viresh",
            "Tan, Qijun",
            "Macherey, Wolfgang",
        ),
        {
            "title": "Experts, Errors, and Context: A Large-Scale Study of Human Evaluation for Machine Translation",
            "journal": "Transactions of the Association for Computational Linguistics",
            "volume": "9",
            "pages": "1460–1474",
            "year": "2021",
            "url": "https://aclanthology.org/2021.tacl-1.87",
        },
    ),
    "graham2013": Reference(
        "inproceedings",
        (
            "Graham, Yvette",
            "Baldwin, Timothy",
            "Moffat, Alistair",
            "Zobel, Justin",
        ),
        {
            "title": "Continuous Measurement Scales in Human Evaluation of Machine Translation",
            "booktitle": "Proceedings of the 7th Linguistic Annotation Workshop and Interoperability with Discourse",
            "pages": "33–41",
            "year": "2013",
            "url": "https://aclanthology.org/W13-2305",
        },
    ),
    "gwet2008": Reference(
        "article",
        ("Gwet, Kilem Li",),
        {
            "title": "Computing inter-rater reliability and its variance in the presence of high agreement",
            "journal": "British Journal of Mathematical and Statistical Psychology",
            "volume": "61",
            "number": "1",
            "pages": "29–48",
            "year": "2008",
        },
    ),
    "henderson1953": Reference(
        "article",
        ("Henderson, Charles R.",),
        {
            "title": "Estimation of variance and covariance components",
            "journal": "Biometrics",
            "volume": "9",
            "number": "2",
            "pages": "226–252",
            "year": "1953",
        },
    ),
    "henderson1975": Reference(
        "article",
        ("Henderson, Charles R.",),
        {
            "title": "Best linear unbiased estimation and prediction under a selection model",
            "journal": "Biometrics",
            "volume": "31",
            "number": "2",
            "pages": "423–447",
            "year": "1975",
        },
    ),
    "holm1979": Reference(
        "article",
        ("Holm, Sture",),
        {
            "title": "A simple sequentially rejective multiple test procedure",
            "journal": "Scandinavian Journal of Statistics",
            "volume": "6",
            "number": "2",
            "pages": "65–70",
            "year": "1979",
        },
    ),
    "james1971": Reference(
        "article",
        ("James, Alan T.", "Wilkinson, Graham N."),
        {
            "title": "Factorization of the residual operator and canonical decomposition of nonorthogonal factors in "
            "the analysis of variance",
            "journal": "Biometrika",
            "volume": "58",
            "number": "2",
            "pages": "279–294",
            "year": "1971",
        },
    ),
    "knowles2024": Reference(
        "article",
        ("Knowles, Rebecca", "Lo, Chi-kiu"),
        {
            "title": "Calibration and context in human evaluation of machine translation",
            "journal": "Natural Language Processing",
            "year": "2024",
            "doi": "10.1017/nlp.2024.5",
        },
    ),
    "kocmi2024": Reference(
        "inproceedings",
        (
            "Kocmi, Tom",
            "Zouhar, Vilém",
            "Avramidis, Eleftherios",
            "Grundkiewicz, Roman",
            "Karpinska, Marzena",
            "Popović, Maja",
            "Sachan, Mrinmaya",
            "Shmatova, Mariya",
        ),
        {
            "title": "Error Span Annotation: A Balanced Approach for Human Evaluation of Machine Translation",
            "booktitle": "Proceedings of the Ninth Conference on Machine Translation",
            "pages": "1440–1453",
            "year": "2024",
            "doi": "10.18653/v1/2024.wmt-1.131",
        },
    ),
    "krippendorff2011": Reference(
        "techreport",
        ("Krippendorff, Klaus",),
        {
            "title": "Computing {Krippendorff}'s alpha-reliability",
            "institution": "University of Pennsylvania, Annenberg School for Communication",
            "year": "2011",
        },
    ),
    "liang1986": Reference(
        "article",
        ("Liang, Kung-Yee", "Zeger, Scott L."),
        {
            "title": "Longitudinal data analysis using generalized linear models",
            "journal": "Biometrika",
            "volume": "73",
            "number": "1",
            "pages": "13–22",
            "year": "1986",
        },
    ),
    "licht2022": Reference(
        "inproceedings",
        (
            "Licht, Daniel",
            "Gao, Cynthia",
            "Lam, Janice",
            "Guzmán, Francisco",
            "Diab, Mona",
            "Koehn, Philipp",
        ),
        {
            "title": "Consistent Human Evaluation of Machine Translation across Language Pairs",
            "booktitle": "Proceedings of the 15th Biennial Conference of the Association for Machine Translation in "
            "the Americas (Volume 1: Research Track)",
            "pages": "309–321",
            "year": "2022",
            "url": "https://aclanthology.org/2022.amta-research.24",
        },
    ),
    "lommel2014": Reference(
        "article",
        ("Lommel, Arle", "Uszkoreit, Hans", "Burchardt, Aljoscha"),
        {
            "title": "Multidimensional Quality Metrics ({MQM}): A Framework for Declaring and Describing Translation "
            "Quality Metrics",
            "journal": "Tradumàtica",
            "volume": "12",
            "pages": "455–463",
            "year": "2014",
        },
    ),
    "owen2007": Reference(
        "article",
        ("Owen, Art B.",),
        {
            "title": "The pigeonhole bootstrap",
            "journal": "Annals of Applied Statistics",
            "volume": "1",
            "number": "2",
            "pages": "386–411",
            "year": "2007",
        },
    ),
    "sai2023": Reference(
        "inproceedings",
        (
            "Sai, Ananya B.",
            "Dixit, Tanay",
            "Nagarajan, Vignesh",
            "Kunchukuttan, Anoop",
            "Kumar, Pratyush",
            "Khapra, Mitesh M.",
            "Dabre, Raj",
        ),
        {
            "title": "{IndicMT} Eval: A Dataset to Meta-Evaluate Machine Translation Metrics for {Indian} Languages",
            "booktitle": "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics "
            "(Volume 1: Long Papers)",
            "year": "2023",
        },
    ),
}
