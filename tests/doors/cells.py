"""Texts that are formulas, markup or TeX to some program, written for it and read back: they stay texts, unchanged."""

from __future__ import annotations

import csv
import io
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from evalkit import DataError, show
from evalkit.campaign.design import Texts, Wish, draw, get_protocol, items, sheets
from evalkit.data.importing import import_campaign
from evalkit.data.names import plain
from evalkit.reports import markup
from evalkit.show import lab, pictures
from evalkit.show.style import UNTYPESET, typeset
from evalkit.stats.terms import display_name
from tests.doors.exported import refused, runs

#: Beginnings, middles and ends of texts; a text is made of one to three of them.
PIECES = [
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+SUM(A1)",
    "-x",
    "@a",
    "\t=1",
    "\r=1",
    "'",
    '"',
    ";=1+1",
    ";",
    "a",
    "Ada",
    "-3.5",
    "-1",
    "＝1",
    "$5 for A and $6 for B",
    "$$x$$",
    r"\(x\)",
    r"\[y\]",
    r"\begin{a}z\end{a}",
    "<b>",
    "</table>",
    "&amp;",
    "<script>a()",
    "<!--",
    "&#36;",
    "`",
    "𝔘字",
    "\u200b",
    "\ufeff",
    "\u202e",
    " ",
    "\n",
    "\\",
    "{{",
    "]]>",
    ",",
    "=HYPERLINK(1)",
    "%0A",
    "1e5",
    "007",
    "<img src=x onerror=a()>",
    "a\u0301",
    "|",
    "*",
    "_b_",
    "#",
    "“",
    "--",
    "–",
    "50 %",
    "-0.3 %",
]


def text(rng: np.random.Generator) -> str:
    """Draw a text in which something is left once names are written in one form."""
    made = "".join(PIECES[place] for place in rng.integers(len(PIECES), size=rng.integers(1, 4)))
    return made if plain(made) else f"{made}x"


def name(rng: np.random.Generator) -> str:
    """Draw a text as names of systems and documents are: a line, in the one form that names have."""
    return plain(" ".join(text(rng).split()))


def attempt(seed: int, folder: Path) -> str:
    """Try the texts of a seed on one way out and back; see ``tests.doors``."""
    rng = np.random.default_rng(seed)
    ways = (through_rejected, through_assignment, *[through_show] * 6, *[through_report] * 2)
    return ways[rng.integers(len(ways))](rng, folder / f"cells{seed}")


def demand_no_formula(content: str) -> None:
    """Demand that no cell of a CSV runs, wherever a program cuts it, and that it is one table."""
    rows = list(csv.reader(io.StringIO(content, newline="")))
    assert len({len(row) for row in rows}) == 1, rows
    assert not [cell for row in rows for cell in row if runs(cell)]


def through_rejected(rng: np.random.Generator, folder: Path) -> str:
    """Import rows of which some are rejected; mend these in the file of rejected rows; import both."""
    folder.mkdir()
    header = ["system", "doc", "segment", "annotator", "score", text(rng)]
    systems = [text(rng) for _ in range(3)]
    places = range(8)
    rows = [[systems[at % 3], text(rng), str(at), f"p{at % 2}", str(10 * at), text(rng)] for at in places]
    sound = _write(folder / "sound.csv", [header, *rows])
    bad = set(map(int, rng.choice(8, rng.integers(1, 4), replace=False)))
    marred = [[*row[:4], "n/a!", row[5]] if place in bad else row for place, row in enumerate(rows)]
    spoilt = _write(folder / "spoilt.csv", [header, *marred])
    told: dict[str, Any] = {"keep_names": True, "scale": (0, 100), "allow_rejected": True, "decimal": "."}
    try:
        wanted = _imported([sound], folder / "a.parquet", told)
        kept = _imported([spoilt], folder / "b.parquet", told)
    except DataError as problem:  # headings that are one of ours, say
        return refused(problem)
    receipt = folder / "b.rejected.csv"
    content = receipt.read_bytes().decode("utf-8-sig")
    demand_no_formula(content)
    head, *below = csv.reader(io.StringIO(content, newline=""))
    place = head.index("score")
    mended = [[*row[:place], str(10 * int(row[head.index("segment")])), *row[place + 1 :]] for row in below]
    _write(receipt, [head, *mended])
    back = _imported([receipt], folder / "c.parquet", told)
    assert wanted == kept + back, (wanted - kept - back, kept + back - wanted)
    return "told"


def _write(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path


def _imported(paths: list[Path], out: Path, told: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    import_campaign(paths, out, **told)
    table = pd.read_parquet(out)[["system", "doc", "segment", "annotator", "score"]]
    return Counter(table.itertuples(index=False, name=None))


def through_assignment(rng: np.random.Generator, folder: Path) -> str:
    """Draw a campaign of such texts, fill in its table, and import it."""
    folder.mkdir()
    systems = dict.fromkeys(name(rng) for _ in range(3))
    docs = [name(rng) for _ in range(3)]
    outputs = {system: [text(rng) for _ in docs] for system in systems}
    texts = Texts(docs, [text(rng) for _ in docs], outputs, src_lang="eng", tgt_lang="deu")
    try:
        wish = Wish(get_protocol("ESA"), ("=Ann", "Bob"), degraded=0.0, repeats=0.0, overlap=0.0)
        drawn = draw(texts, wish)
    except DataError as problem:
        return refused(problem)
    alias, named = items.aliases(sorted(texts.outputs), 7), items.named(drawn, docs)
    content = sheets.assignment(drawn, named, texts.sources, alias, ("eng", "deu"))
    demand_no_formula(content)
    head, *rows = csv.reader(io.StringIO(content, newline=""))
    filled = [[*row[:-1], str(10 + place)] for place, row in enumerate(rows)]
    path = _write(folder / "assignment.csv", [head, *filled])
    told = {"keep_names": True, "scale": (0, 100), "allow_rejected": True}
    found = _imported([path], folder / "a.parquet", told)
    wanted = Counter(
        (one.item.systems[0], one.doc, one.segment, wish.annotators[one.task - 1]) for mine in named for one in mine
    )
    back = Counter({key[:4]: count for key, count in found.items()})
    assert back == wanted, (wanted - back, back - wanted)
    return "read"


class Visible(HTMLParser):
    """What a reader sees of HTML, and the elements and attributes that make it."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.words, self.tags, self.ignored = [], set(), 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take an element down."""
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href", "style")], attrs

    def handle_data(self, data: str) -> None:
        """Take words down."""
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        """Refuse comments, in which words disappear."""
        raise AssertionError(data)


#: Elements that a page's own markup has.
OWN = {
    "p",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "div",
    "style",
    "ol",
    "li",
    "h1",
    "code",
    "em",
    "details",
    "summary",
    "strong",
    "span",
}


def demand_visible(html: str, shown: list[str]) -> None:
    """Demand that these texts are what is seen of some HTML, letter by letter, and that nothing in them is markup."""
    found = Visible(html)
    assert found.tags <= OWN, found.tags
    words = "".join(found.words)
    for one in shown:
        assert one in words, (one, words)


def through_show(rng: np.random.Generator, folder: Path) -> str:
    """Show texts in every way, in a report and to a person at work."""
    made, live = [text(rng).replace("\r", "") for _ in range(4)], bool(rng.integers(2))
    frame = pd.DataFrame({made[0]: [made[1], "a"], "n": [1.5, 2.0]})
    with patch.object(show, "display") as display, patch.object(pictures, "live", lambda: live):
        show.text(made[0])
        show.numbered(made[1])
        show.headline(made[2])
        show.title(made[3])
        show.table(frame, caption=made[2], headings={"n": made[3]})
        try:
            show.table(frame, caption=made[2], columns=[f"{made[0]} lacking"])
        except DataError as problem:
            told = str(problem)
        else:
            raise AssertionError("a column was shown that is not there")
    bundles = [call.args[0]["text/html"] for call in display.call_args_list]
    assert len(bundles) == 5
    for html, one in zip(bundles, made):
        demand_visible(html, [typeset(one)])
    demand_visible(bundles[4], [typeset(made[2]), made[1], display_name(made[0]), made[3]])
    bundles.append(pictures.words({"image/png": {"alt": made[0], "caption": made[1]}})["text/html"])
    demand_visible(bundles[5], [typeset(made[0]), typeset(made[1])])
    label = lab.label(made[0])
    if label.get("description_allow_html"):
        assert Visible(label["description"]).words == [made[0]]
    for html in [*bundles[: 5 * live], bundles[5]]:
        assert html.startswith("<div ")
        assert html.endswith("</div>")
        assert UNTYPESET in html.partition(">")[0], "MathJax would take it for formulas"
    return "refused" if "lacking" in told and rng.random() < 0.2 else "read"


def through_report(rng: np.random.Generator, folder: Path) -> str:
    """Put texts on a page as recorded values."""
    made = [text(rng) for _ in range(3)]
    for value in ([{made[0]: made[1]}], {made[0]: made[1]}, made[0], [made[1]]):
        html = markup.table(value, caption=made[2])
        assert Visible(html).tags <= OWN
    return "read"
