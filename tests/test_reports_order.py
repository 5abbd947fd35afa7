"""A page's order: the answer first, then the contents, then what has results; parameters at the end."""

import json
import re

from evalkit.reports import export
from evalkit.reports.studies import Study

HEADLINE = {
    "output_type": "display_data",
    "data": {"text/html": "<p>The finding.</p>", export.findings.MIME: {"kind": "headline", "text": "The finding."}},
    "metadata": {},
}
TEXT = {"output_type": "display_data", "data": {"text/html": "<p>a result</p>"}, "metadata": {}}


def cell(kind, source, *outputs, tags=()):
    made = {
        "cell_type": kind,
        "source": source,
        "metadata": {"tags": list(tags)},
        "id": re.sub(r"\W", "-", source)[:20],
    }
    return made | ({"outputs": list(outputs), "execution_count": None} if kind == "code" else {})


def page(tmp_path, *cells):
    """Export cells as a study's page, without its style."""
    path = tmp_path / "one.ipynb"
    parameters = cell("code", "seed: int = 7  # a seed", tags=["parameters"])
    path.write_text(json.dumps({"cells": [parameters], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    report = {"headline": "The finding.", "data": [], "published": [], "recorded": {}}
    html = export.export({"cells": list(cells)}, Study("one", path, "One"), report)
    return re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)


def test_the_first_page_comes_first_then_the_contents_then_the_argument(tmp_path):
    html = page(
        tmp_path, cell("markdown", "# Title\n\nWhat this is."), cell("code", "load()", HEADLINE),
        cell("markdown", "## A"), cell("code", "a()", TEXT),
        cell("markdown", "## Answer", tags=["first-page"]), cell("code", "answer()", TEXT, tags=["first-page"]),
        cell("markdown", "## B"), cell("markdown", "## C"),
    )  # fmt: skip
    marks = [
        "<h1>",
        "The finding.",
        'id="answer"',
        "<nav",
        "What this is.",
        "load",
        'id="a"',
        'id="b"',
        "Parameters of",
    ]
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places), dict(zip(marks, places, strict=True))
    assert re.findall(r'href="#(\w+)">', html) == ["main", "a", "b", "c"], "what stands above is no content"
    assert html.count("The finding.") == 1


def test_a_section_without_results_leaves_the_page_if_it_may(tmp_path):
    html = page(
        tmp_path, cell("markdown", "# T"),
        cell("markdown", "## Empty", tags=["if-shown"]), cell("code", "nothing()"),
        cell("markdown", "## Full", tags=["if-shown"]), cell("code", "something()", TEXT),
        cell("markdown", "## Always"), cell("code", "silent()"),
        cell("markdown", "## Last", tags=["if-shown"]), cell("code", "no()"), cell("code", "yes()", TEXT),
    )  # fmt: skip
    assert re.findall(r'<h2 id="(\w+)"', html) == ["full", "always", "last"]
    assert "nothing" not in html
    assert "silent" in html


def test_numbered_sentences_are_a_list_and_plain_text():
    html = export.markup.sanitised("<ol><li>a &lt;b&gt;</li></ol>")
    assert html == "<ol><li>a &lt;b&gt;</li></ol>"
