"""Links: each one of a page leads somewhere, also where the report that it is about was not made."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from evalkit import ROOT
from evalkit.reports import execute, notebooks
from evalkit.reports.index import named_sections, referred_sections
from evalkit.reports.studies import Layout


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
