"""The overview of all reports, and the links that lead over it from one report to another."""

import io
import json
import re
import tempfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from evalkit import ROOT, DataError
from evalkit.reports import execute, findings, index, notebooks, studies, tally
from evalkit.reports.index import named_sections, referred_sections
from evalkit.reports.studies import Layout, read_studies
from evalkit.show.chart import decision_chart, in_words
from evalkit.stats import verdicts


def layout(folder, ways):
    """Write a project of two studies, agreement and ranking, with a chart."""
    entry = "[{0}]\nnotebook = '{0}.ipynb'\ntitle = 'T'\n"
    (folder / "studies.toml").write_text(entry.format("agreement") + entry.format("ranking"))
    if ways is not None:
        (folder / "chart.toml").write_text(ways)
    return Layout(studies=folder / "studies.toml")


def words(figure):
    return [" ".join(text.get_text().split()) for text in figure.axes[0].texts if text.get_text()]


def test_every_study_is_in_the_chart_and_nothing_else():
    ways = studies.ways()
    assert set(ways["study"]) == set(read_studies(Layout()))
    assert not ways.duplicated(["have", "want"]).any()
    assert not ways.isna().any().any()


def test_a_study_that_is_not_there_is_not_in_the_chart(tmp_path):
    rows = "rows = [{want = 'Do they agree?', study = 'agreement'}, {want = 'When?', study = 'not_yet'}]"
    ways = studies.ways(layout(tmp_path, f"[[kind]]\nhave = 'Scores'\n{rows}"))
    assert ways.to_numpy().tolist() == [["Scores", "Do they agree?", "agreement"]]


def test_picture_and_text_say_the_same():
    ways = studies.ways()
    figure = decision_chart(ways)
    FigureCanvasAgg(figure).draw()
    shown, told = words(figure), in_words(ways)
    for part in pd.unique(ways.to_numpy().ravel()):
        assert part in shown, part
        assert part in told, part
    assert len(shown) == 1 + ways["have"].nunique() + 2 * len(ways)
    order = [shown.index(want) for want in ways["want"]]
    assert order == sorted(order)
    assert all(shown[place + 1] == study for place, study in zip(order, ways["study"], strict=True))


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        (None, "There is no .*chart.toml. Put it beside studies.toml"),
        ("[[kind]]\nhave = 'x'\n", "lacks the key 'rows'"),
        ("", "lacks the key 'kind'"),
        ("[[kind]", "cannot be read"),
        ("[[kind]]\nhave = 'x'\nrows = [{study = 'agreement'}]", "lacks the key 'want'"),
    ],
)
def test_a_chart_that_cannot_be_read_is_told(tmp_path, ways, message):
    with pytest.raises(DataError, match=message):
        studies.ways(layout(tmp_path, ways))


# The tally of printed numbers: bases apart, what was recomputed first, no number counted twice or lost


@st.composite
def judged(draw):
    """One judged row of a comparison with print."""
    verdict = draw(st.sampled_from(["match", "differs", "not reproducible"]))
    row = {"verdict": verdict, "basis": draw(st.sampled_from(verdicts.BASES))}
    if verdict == "not reproducible":
        row["lacking"] = draw(st.sampled_from(["labels", "a model", "a file", "scores", "people", "time"]))
    if verdict == "differs" and draw(st.booleans()):
        row["reachable"] = [0.0, 1.0]
    return row


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(judged(), max_size=40), min_size=2, max_size=2))
def test_the_parts_on_the_index_add_up_to_its_totals(reports):
    with tempfile.TemporaryDirectory() as folder:
        there = replace(layout(Path(folder), None), reports=Path(folder), reference=Path(folder))
        for name, rows in zip(("agreement", "ranking"), reports, strict=True):
            (there.reports / f"{name}.html").write_text("<p></p>")
            told = json.dumps(UNSOURCED | {"study": name, "data": [], "published": rows})
            (there.reports / f"{name}.json").write_text(told)
        page = index.page(there)
    rows = [row for report in reports for row in report]
    official = [row["basis"] == "official result" for row in rows]
    share = re.search(r"([\d,]+|none) of ([\d,]+) printed", page)
    assert int(share[2]) == official.count(False) if share else all(official)
    assert tally.count(reversed(rows))["bases"] == tally.count(rows)["bases"]
    if len({row["basis"] for row in rows}) < 2:
        return
    shown = pd.read_html(io.StringIO(page))[0].set_index("What the number rests on")
    whole = shown.index.str.startswith("All ")
    assert shown.iloc[:, :-1].sum(axis=1).eq(shown["all"]).all()
    assert shown.loc[~whole, "all"].sum() == len(rows)
    for verdict in ("match", "not reproducible"):
        assert shown.loc[~whole, verdict].sum() == sum(row["verdict"] == verdict for row in rows)
    if whole.any():
        parts = shown.iloc[: int(np.argmax(whole))]
        assert parts.sum().tolist() == shown[whole].iloc[0].tolist()
        assert shown.loc[whole, "all"].item() == int(share[2])
    last = shown.iloc[-1]
    assert last["all"] == official.count(True) if any(official) else last["all"] <= len(rows)


@pytest.mark.parametrize(("large", "told"), [(8, True), (5, False), (0, False)])
def test_one_table_that_holds_most_matches_is_named(large, told):
    data = {"verdict": "match", "basis": "recomputed from data"}
    rows = [data | {"paper": "P 2020", "item": "Table 9"}] * large
    rows += [data | {"paper": "P 2020", "item": f"Table {n}"} for n in range(5)]
    sentences = tally.sentences(tally.count(rows))
    assert any("Table 9" in sentence and f"{large}" in sentence for sentence in sentences) == told


@given(st.lists(judged(), min_size=1, max_size=60))
def test_what_was_recomputed_leads_and_other_bases_never_add_to_it(rows):
    sentences = tally.sentences(tally.count(rows))
    own = [row for row in rows if row["basis"] == "recomputed from data" and row["verdict"] != "not reproducible"]
    printed = sum(row["basis"] != "official result" for row in rows)
    if printed:
        assert sentences[0].startswith(f"Recomputed from data: {len(own) or 'none'} of {printed} printed number")
    assert sum(sentence.startswith("Recomputed") for sentence in sentences) == bool(printed)
    assert tally.count(reversed(rows))["bases"] == tally.count(rows)["bases"]


def test_the_sentences_of_a_mixed_report():
    match, differs = {"verdict": "match"}, {"verdict": "differs"}
    data, prints, definition, official = ({"basis": basis} for basis in verdicts.BASES)
    gone = [data | {"verdict": "not reproducible", "lacking": cause} for cause in ["x", "x", "x", *"aabbccd"]]
    recomputed = [match | data, match | data, differs | data, differs | data | {"reachable": [1, 2]}]
    others = [match | prints, *[match | definition] * 3, match | official, differs | official]
    rows = [*recomputed, *others, *gone]
    assert tally.sentences(tally.count(rows)) == [
        "Recomputed from data: 4 of 18 printed numbers (22 %); 2 match, 1 is within rounding of its inputs, 1 differs.",
        "Not recomputed: 10 (x: 3; a: 2; b: 2; c: 2; other causes: 1).",
    ]
    assert [numbers for _, numbers in tally.table(tally.count(rows))] == [
        [2, 1, 1, 10, 14],
        [1, 0, 0, 0, 1],
        [3, 0, 0, 0, 3],
        [6, 1, 1, 10, 18],
        [1, 0, 1, 0, 2],
    ]
    assert tally.bar(tally.count(rows)) == {"match": 2, "rounding": 1, "differs": 1, "rest": 14}


#: A report but for one thing: nothing says whether its data are real.
UNSOURCED = {"status": "ok", "seconds": 1, "study": "agreement", "recorded": {}, "published": [], "headline": "h"}
UNSOURCED |= {"data": [{"name": "d"}]}


@pytest.mark.parametrize(
    "content", ["[]", "5", "{}", '{"status": "ok"}', "[" * 5000, "\xff", '{"status": ["ok"]}', json.dumps(UNSOURCED)]
)
@pytest.mark.parametrize("name", ["agreement.json", "agreement.failed.json"])
def test_what_is_no_report_is_not_in_the_overview(name, content, tmp_path):
    there = replace(layout(tmp_path, None), reports=tmp_path, reference=tmp_path)
    (tmp_path / "agreement.html").write_bytes(b"<p>\xff</p>")
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    assert "There is no report in this folder yet." in index.page(there)
    assert findings.read_report(tmp_path / name) is None


class Ends(HTMLParser):
    """Where a page's links lead to, and its anchors."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.links, self.anchors = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag == "a":
            self.links.append(found["href"])
        if "id" in found:
            self.anchors.append(found["id"])


def loose_ends(folder):
    """Return the links of a folder's pages that lead to no file in it, or to no anchor of that file."""
    pages = {path.name: Ends(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}
    loose = []
    for name, page in pages.items():
        assert len(page.anchors) == len(set(page.anchors)), name
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", f"{name}: {link}"
                continue
            target = parts.path or name
            anchors = pages[target].anchors if target in pages else None
            there = (folder / target).is_file() and (not parts.fragment or unquote(parts.fragment) in (anchors or ()))
            loose += [] if there else [(name, link)]
    return loose


def project(folder, **studies):
    """Lay out a project of studies that are one Markdown cell each; return its layout."""
    lines = []
    for name, prose in studies.items():
        parameters = {"cell_type": "code", "source": "seed: int = 7  # any", "metadata": {"tags": ["parameters"]}}
        parameters |= {"outputs": [], "execution_count": None}
        cells = [{"cell_type": "markdown", "source": prose, "metadata": {}}, parameters]
        path = folder / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        notebooks.tidy(path)
        lines.append(f'[{name}]\nnotebook = "{name}.ipynb"\ntitle = "The study <{name}>"\nlink = "https://example.org"')
    (folder / "studies.toml").write_text("\n".join(lines))
    return Layout(studies=folder / "studies.toml", reports=folder / "reports", reference=folder / "reference")


ONE = """# One

See [the other](two.ipynb), [its section](two.ipynb#What-is-R&D,-then?), [one that it lacks](two.ipynb#Nowhere),
and [below](#Below,-here).

## Below, here

A [third](three.ipynb#Anything) one."""
TWO = "# Two\n\n## What is R&D, then?\n\nNothing."


def good(layout, *names, tell=None):
    assert [one.status for one in execute.run(list(names), layout, tell=tell)] == ["ok"] * len(names)


def test_a_link_to_a_report_that_was_not_made_leads_to_what_makes_it(tmp_path):
    layout = project(tmp_path, one=ONE, two=TWO)
    good(layout, "one")
    assert loose_ends(layout.reports) == []
    alone = (layout.reports / "one.html").read_bytes()
    index = (layout.reports / "index.html").read_text(encoding="utf-8")
    assert "Referred to, and not in this folder" in index
    assert re.search(r'<li id="two">The study &lt;two&gt; \(<code>evalkit run two</code> makes it\)', index)
    assert re.search('<li id="three">three<span id="three.anything"></span></li>', index), "a study that is not ours"
    assert 'href="two.html' not in index

    told = []
    good(layout, "two", tell=told.append)
    assert told[-1] == "two: ok", "a run tells how far it is"
    assert (layout.reports / "one.html").read_bytes() == alone, "a report is not touched by what is made beside it"
    assert loose_ends(layout.reports) == []
    index = (layout.reports / "index.html").read_text(encoding="utf-8")
    section = '<a id="two.what-is-r-d-then" href="two.html#what-is-r-d-then">What is R&amp;D, then?</a>'
    assert f'<p class="refers">Other reports refer to: {section}</p>' in index
    assert '<h3 id="two">' in index
    assert 'id="two.nowhere"' in index, "a section that a report has not leads to its card"
    assert '<li id="two">' not in index


def test_no_link_is_loose_in_the_small_site(site):
    assert loose_ends(site[0].reports) == []


@pytest.mark.slow
def test_no_link_is_loose_in_the_reports_of_all_studies(all_reports):
    assert loose_ends(all_reports) == []
    found = referred_sections(all_reports.glob("*.html"))
    assert {"how-annotators-use-the-scale", "how-far-annotators-agree"} <= found["wmt22_calibration_hits"]
    index = (all_reports / "index.html").read_text(encoding="utf-8")
    for study, wanted in found.items():
        assert all(words for _, words in named_sections(all_reports / f"{study}.html", wanted)), "sections by name"
    assert "not in this folder" not in index


# In JupyterLab


def headings(cells):
    """Return the anchors that JupyterLab makes of a notebook's headings."""
    words = re.findall(r"^#{1,6} (.+)$", "\n".join(map(notebooks.source, cells)), flags=re.MULTILINE)
    return {word.strip().replace(" ", "-") for word in words}


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").rglob("*.ipynb")), ids=lambda path: path.stem)
def test_every_link_of_a_notebook_leads_to_a_file_and_a_heading_there(path):
    cells = [cell for cell in notebooks.read(path)["cells"] if cell["cell_type"] == "markdown"]
    for cell in cells:
        for link in re.findall(r"\]\(([^)\s]+)\)", notebooks.source(cell)):
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme in ("https", "attachment"), link
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            assert target.is_file(), link
            if parts.fragment or link.endswith("?"):
                there = [one for one in notebooks.read(target)["cells"] if one["cell_type"] == "markdown"]
                assert unquote(link.partition("#")[2]) in headings(there), link
