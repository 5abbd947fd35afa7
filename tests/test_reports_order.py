"""A page's order: the answer first, then contents and argument; at the end, folded, what only some readers open."""

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
    made = {"cell_type": kind, "source": source, "metadata": {"tags": list(tags)}}
    made["id"] = re.sub(r"\W", "-", source)[:20]
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
        tmp_path,
        cell("markdown", "# Title\n\nWhat this is."),
        cell("code", "load()", HEADLINE),
        cell("markdown", "## A"),
        cell("code", "a()", TEXT),
        cell("markdown", "## Answer", tags=["first-page"]),
        cell("code", "answer()", TEXT, tags=["first-page"]),
        cell("markdown", "## B"),
        cell("markdown", "## C"),
    )
    marks = ["<h1>", "The finding.", 'id="answer"', "<nav", 'id="show-code"', "What this is.", "load", 'id="a"']
    marks += ['id="b"', "What this report was made with"]
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places), dict(zip(marks, places, strict=True))
    assert links(html) == ["main", "a", "b", "c", "parameters"], "what stands above is no content"
    assert html.count("The finding.") == 1


def test_beside_a_comparison_stands_what_was_computed_earlier_of_the_same_numbers():
    row = {"paper": "P", "printed": "1", "computed": 1.0, "verdict": "match", "note": ""}
    row |= {"basis": "recomputed from data"}
    rows = [row | {"item": item, "cell": cell} for item, cell in (("T1", "here"), ("T1", "nowhere"), ("T9", "here"))]
    reference = {"recorded": {}, "published": rows, "signature": "s"}
    payload = {"kind": "published", "rows": rows[:1]}
    [node] = export.beside(payload, reference, short=False)
    assert "comparison with print: match, 1 of 1" in node.data["text/html"]
    assert "nowhere" not in node.data["text/html"]
    assert not list(export.beside(payload, reference | {"published": rows[1:]}, short=False))


def links(html):
    return re.findall(r'href="#([\w-]+)">', html)


def test_sections_fold_in_their_place_or_move_to_the_end(tmp_path):
    html = page(
        tmp_path,
        cell("markdown", "# T"),
        cell("markdown", "## Print\n\nwhy", tags=["back"]),
        cell("code", "print()", TEXT),
        cell("markdown", "### Deep"),
        cell("markdown", "## A"),
        cell("markdown", "### Proof\n\nproof", tags=["fold"]),
        cell("code", "prove()", TEXT),
        cell("markdown", "#### In"),
        cell("markdown", "### Next"),
        cell("markdown", "### Side", tags=["back"]),
        cell("markdown", "#### Below"),
        cell("markdown", "## B", tags=["fold"]),
        cell("markdown", "no heading"),
        cell("code", "b()", TEXT),
    )
    order = ["T", "A", "Proof", "In", "Next", "B", "Print", "Deep", "Side", "Below", "Parameters of this run"]
    assert re.findall(r"<h\d[^>]*>([^<]*)</h\d>", html) == order
    folds = re.findall(r'<details class="fold"><summary><h(\d) id="([\w-]+)">', html)
    assert folds == [("3", "proof"), ("2", "b"), ("2", "print"), ("2", "side"), ("2", "parameters")]
    inside = {name: html[html.index(f'id="{name}"') :].partition("</details>")[0] for _, name in folds}
    assert all(word in inside["proof"] for word in ("<p>proof</p>", "prove", 'id="in"'))
    assert "Next" not in inside["proof"]
    assert "no heading" in inside["b"]
    assert "Deep" in inside["print"]
    assert '<h3 id="below">' in inside["side"], "what moves rises with its section"
    assert html.count("<details") == html.count("</details>") == 5
    assert links(html) == ["main", "a", "b", "print", "side", "parameters"]
    assert re.findall(r'href="#([\w-]+)">[^<]*</a> <small>folded', html) == ["b", "print", "side", "parameters"]


def test_one_switch_shows_the_code_and_a_cell_that_shows_nothing_takes_no_room(tmp_path):
    html = page(tmp_path, cell("markdown", "# T"), cell("code", "quiet()"), cell("code", "loud()", TEXT))
    assert html.count('<input type="checkbox"') == html.count('id="show-code"') == 1


def source(name, kind="real", **facts):
    payload = {"kind": "source", "name": name, "source": kind, "digest": "git:0123456789abcdef+git:1", "rows": 1234}
    payload |= {"origin": "https://raw.githubusercontent.com/a/b/20240a2e96a50e82/x.csv", "excluded": {}} | facts
    data = {"text/html": f"<p>{name} stands here</p>", export.findings.MIME: payload}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def test_sources_stand_at_the_end_each_once_with_short_names(tmp_path):
    own = source("<i>mine</i>", "simulated", origin="my <b> file.csv", excluded={"documents": 1139, "nothing": 0})
    html = page(
        tmp_path,
        cell("markdown", "# T"),
        cell("code", "load()", source("wmt22-calibration-hits")),
        cell("code", "again()", source("wmt22-calibration-hits"), own),
        cell("markdown", "## A"),
    )
    assert "stands here" not in html
    assert html.index('id="a"') < html.index('<h2 id="data">') < html.index('id="parameters"')
    assert html.count("<strong>WMT22 calibration HITs</strong>") == 1
    link = '<a href="https://github.com/a/b/tree/20240a2e96a50e82">github.com/a/b, version 20240a2</a>'
    assert link in html
    assert "Kocmi et al. 2022" in html
    assert "<code>git:01234567 and 1 more file</code>" in html
    assert "From my &lt;b&gt; file.csv." in html
    assert "&lt;i&gt;mine&lt;/i&gt;" in html
    assert "Left out: documents (1,139)." in html
    badges = re.findall(r'<li class="badge (\w+)"><a href="#data"><strong>\w+</strong> ([^<]*)</a>', html)
    assert badges == [("real", "1 data set"), ("simulated", "1 data set")]


def table(rows, columns=2):
    head, row = (f"<tr>{cell * columns}</tr>" for cell in ("<th>h</th>", "<td>a word</td>"))
    return f"<table><caption>C</caption><thead>{head}</thead><tbody>{row * rows}</tbody></table>"


def test_long_tables_show_twelve_rows_and_a_box_to_tick():
    short, long = (export.markup.sanitised(table(rows)) for rows in (15, 16))
    assert (short.count("<input"), short.count("later")) == (0, 0)
    assert long.count('<tr class="later">') == 4
    assert '<label class="all"><input type="checkbox" autocomplete="off"> Show all 16 rows</label>' in long
    assert '<p class="printed">The first 12 of 16 rows.</p>' in long
    assert long.index('<div class="long">') < long.index('<div class="scroll"') < long.index("<label")


def test_what_may_scroll_is_a_stop_for_the_keyboard_and_wide_tables_wrap():
    narrow, wide = (export.markup.sanitised(table(2, columns)) for columns in (3, 14))
    assert all('tabindex="0" aria-label="C"' in html for html in (narrow, wide))
    assert "broad" in wide
    assert "broad" not in narrow


def test_a_section_without_results_leaves_the_page_if_it_may(tmp_path):
    html = page(
        tmp_path,
        cell("markdown", "# T"),
        cell("markdown", "## Empty", tags=["if-shown"]),
        cell("code", "nothing()"),
        cell("markdown", "## Full", tags=["if-shown"]),
        cell("code", "something()", TEXT),
        cell("markdown", "## Always"),
        cell("code", "silent()"),
        cell("markdown", "## Last", tags=["if-shown"]),
        cell("code", "no()"),
        cell("code", "yes()", TEXT),
    )
    assert re.findall(r'<h2 id="(\w+)"', html) == ["full", "always", "last", "parameters"]
    assert "nothing" not in html
    assert "silent" in html
