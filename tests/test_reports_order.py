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


FIGURE = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}}
FIGURE["metadata"] = {"image/png": {"alt": "A picture."}}


def test_the_one_figure_of_the_first_page_stands_beside_what_to_do(tmp_path):
    title, first = cell("markdown", "# T"), {"tags": ["first-page"]}
    answer = [cell("markdown", "## Answer", **first), cell("code", "steps()", TEXT, FIGURE, **first)]
    argument = [cell("markdown", "## A"), cell("code", "a()", FIGURE)]
    html = page(tmp_path, title, *answer, *argument)
    inside = html[html.index('<div class="first beside flat">') : html.index('<div class="guide">')]
    assert all(mark in inside for mark in ('id="answer"', "a result", "<figure>"))
    assert inside.count("<div") == inside.count("</div>"), "it ends before the contents"
    tall = {**FIGURE, "data": {"image/png": "iVBORw0KGgoAAAANSUhEUgAAAoAAAAPo"}}
    html = page(tmp_path, title, cell("code", "b()", tall, **first), *argument)
    assert '<div class="first beside">' in html
    assert 'height="1000"' in html
    assert 'class="first"' in page(tmp_path, title, *answer, cell("code", "b()", FIGURE, **first)), "two have no room"
    assert 'class="first"' not in page(tmp_path, title, *argument)
    assert page(tmp_path, title, *answer).count("<div") == page(tmp_path, title, *answer).count("</div>")


def test_reference_results_are_folded_on_the_first_page_and_open_below(tmp_path):
    recorded = {"data": {"text/html": "<p>now</p>", export.findings.MIME: {"kind": "record", "name": "mean_score"}}}
    recorded |= {"output_type": "display_data", "metadata": {}}
    path = tmp_path / "one.ipynb"
    parameters = cell("code", "seed: int = 7  # a seed", tags=["parameters"])
    path.write_text(json.dumps({"cells": [parameters], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    made = [cell("markdown", "# T"), cell("code", "a()", recorded, tags=["first-page"]), cell("code", "b()", recorded)]
    report = {"headline": "", "data": [{"source": "simulated"}], "published": [], "recorded": {}}
    earlier = {"recorded": {"mean_score": [{"mean": 61.5}]}, "published": [], "signature": "s", "headline": "Before."}
    html = export.export({"cells": made}, Study("one", path, "One"), report, reference=earlier)
    first, below = html.split('<div class="guide">')
    assert "<summary>Computed earlier, on the real data: mean score</summary>" in first
    assert '<p class="reference-title">Computed earlier, on the real data</p>' in below
    assert "61.5" in first
    assert "61.5" in below


def test_beside_a_comparison_stands_what_was_computed_earlier_of_the_same_numbers():
    row = {
        "paper": "P",
        "printed": "1",
        "computed": 1.0,
        "verdict": "match",
        "note": "",
        "basis": "recomputed from data",
    }
    rows = [row | {"item": item, "cell": cell} for item, cell in (("T1", "here"), ("T1", "nowhere"), ("T9", "here"))]
    reference = {"recorded": {}, "published": rows, "signature": "s"}
    payload = {"kind": "published", "rows": rows[:1]}
    [node] = export.beside(payload, reference, short=False)
    assert "comparison with print: match, 1 of 1" in node.data["text/html"]
    assert "nowhere" not in node.data["text/html"]
    assert not list(export.beside(payload, reference | {"published": rows[1:]}, short=False))


def test_a_figure_that_runs_early_is_read_after_what_to_do(tmp_path):
    first = {"tags": ["first-page"]}
    html = page(
        tmp_path,
        cell("markdown", "# T"),
        cell("markdown", "## Answer", **first),
        cell("code", "draw()", TEXT, tags=["first-page", "early"]),
        cell("code", "slow()", TEXT),
        cell("code", "steps()", TEXT, **first),
        cell("code", "sure()", TEXT, **first),
        cell("markdown", "## A"),
    )
    places = [html.index(mark) for mark in ('id="answer"', "steps", "draw", "sure", "slow", 'id="a"')]
    assert places == sorted(places)


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


def test_a_fold_inside_what_moves_moves_along(tmp_path):
    html = page(
        tmp_path,
        cell("markdown", "# T"),
        cell("markdown", "## Print", tags=["back"]),
        cell("markdown", "### Inner", tags=["fold"]),
        cell("code", "x()", TEXT, tags=["solution"]),
        cell("markdown", "## A"),
        cell("code", "y()", TEXT, tags=["solution"]),
    )
    assert html.index('id="a"') < html.index('id="print"') < html.index('id="inner"')
    opened = re.findall(r'<details class="(\w+)"|(</details>)', html)
    names = [name or "/" for name, _ in opened]
    assert names == ["solution", "/", "fold", "fold", "solution", "/", "/", "/", "fold", "/"]


def test_one_switch_shows_the_code_and_a_cell_that_shows_nothing_takes_no_room(tmp_path):
    html = page(tmp_path, cell("markdown", "# T"), cell("code", "quiet()"), cell("code", "loud()", TEXT))
    assert html.count('<input type="checkbox"') == html.count('id="show-code"') == 1
    assert re.findall(r'<div class="(cell[^"]*)">', html) == ["cell silent", "cell"]
    assert html.count('<div class="code">') == 2
    assert html.count("<details") == 1, "of the parameters"


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


def test_a_source_shows_its_dates_and_a_file_of_ones_own_when_people_judged(tmp_path):
    released = {"released": "2022-11-03", "dated_by": "file name"}
    some = source("wmt22-calibration-hits", dates=released | {"judged": ["2022-09-08", "2022-09-09"]})
    more = source("wmt22-calibration-hits", dates=released | {"judged": ["2022-09-01", "2022-09-08"]})
    mine = source("wmt22-mturk", origin="wmt22-mturk.csv", dates={"judged": ["2024-12-31", "2025-01-01"]})
    html = page(tmp_path, cell("markdown", "# T"), cell("code", "a()", some, more), cell("code", "b()", mine))
    assert "Dated 3 November 2022 in the files&#39; names." in html
    assert "Judged from 1 September to 9 September 2022 (time stamps, UTC)." in html
    assert "Judged from 31 December 2024 to 1 January 2025 (time stamps, UTC)." in html
    assert "<strong>wmt22-mturk</strong>" in html, "a file of that name is not the registered data set"
    assert "Kocmi" in html.partition("<strong>wmt22-mturk</strong>")[0]
    assert "Kocmi" not in html.partition("<strong>wmt22-mturk</strong>")[2]


def test_the_json_has_the_dates_beside_what_it_always_had():
    released = {"released": "2022-11-03", "dated_by": "file name"}
    some = source("a", dates=released | {"judged": ["2022-09-08", "2022-09-09"]})
    more = source("a", dates=released | {"judged": ["2022-09-01", "2022-09-08"]})
    found = export.findings.collect({"cells": [cell("code", "a()", some, more, source("b"))]})["data"]
    assert [one["name"] for one in found] == ["a", "b"]
    assert list(found[0]) == ["name", "source", "origin", "digest", "released", "dated_by", "judged"]
    assert (found[0]["released"], found[0]["judged"]) == ("2022-11-03", ["2022-09-01", "2022-09-09"])
    assert list(found[1]) == ["name", "source", "origin", "digest"]


def table(rows, columns=2):
    head, row = (f"<tr>{cell * columns}</tr>" for cell in ("<th>h</th>", "<td>a word</td>"))
    return f"<table><caption>C</caption><thead>{head}</thead><tbody>{row * rows}</tbody></table>"


def test_long_tables_show_twelve_rows_and_a_box_to_tick():
    short, long = (export.markup.sanitised(table(rows)) for rows in (15, 16))
    assert (short.count("<input"), short.count("later")) == (0, 0)
    assert long.count('<tr class="later">') == 4
    assert '<label class="all"><input type="checkbox" autocomplete="off"> Show all 16 rows</label>' in long
    assert '<p class="printed">The first 12 of 16 rows.</p>' in long
    assert long.index('<div class="long">') < long.index('<div class="scroll">') < long.index("<label")


def test_notes_are_no_rows_and_fold_with_theirs():
    note = '<tbody><tr class="note"><th scope="rowgroup" colspan="1">n</th></tr>'
    html = export.markup.sanitised(f"<table>{(note + '<tr><td>1</td></tr>' * 8 + '</tbody>') * 2}</table>")
    assert "Show all 16 rows" in html
    assert (html.count('class="note"'), html.count('class="later"')) == (2, 4)
    html = export.markup.sanitised(f"<table>{(note + '<tr><td>1</td></tr>' * 12 + '</tbody>') * 2}</table>")
    assert (html.count('class="note"'), html.count('class="note later"')) == (1, 1)


def test_only_what_may_scroll_is_a_stop_for_the_keyboard():
    narrow, wide = (export.markup.sanitised(table(2, columns)) for columns in (3, 14))
    assert '<div class="scroll"><table>' in narrow
    assert '<div class="scroll"><span class="stop" role="group" tabindex="0" aria-label="C"></span><table>' in wide
    beyond = export.markup.sanitised(table(2, 40))
    assert '<div class="scroll broad turn shrink" role="group" tabindex="0" aria-label="C"><table>' in beyond
    prose = "| name | what |\n| --- | --- |\n| a | b |"
    html = export.markup.prose(prose, export.markup.Names())
    assert '<div class="scroll"><table>' in html
    assert '<th scope="row">a</th>' in html
    html = export.markup.prose(prose.replace("what", "what" * 20), export.markup.Names())
    assert '<div class="scroll"><span class="stop" role="group" tabindex="0" aria-label="Table"></span><table>' in html


def test_prose_has_its_numbers_set_and_code_keeps_its_characters():
    html = export.markup.prose("It fell by -0.3, 5% of `x = -1` and $-1$; GPT-4.", export.markup.Names())
    assert "by −0.3, 5\u202f% of <code>x = -1</code>" in html
    assert "GPT-4" in html


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


def test_numbered_sentences_are_a_list_and_plain_text():
    html = export.markup.sanitised("<ol><li>a &lt;b&gt;</li></ol>")
    assert html == "<ol><li>a &lt;b&gt;</li></ol>"


def test_the_empty_corner_of_a_table_of_prose_is_no_header():
    html = export.markup.prose("| | good |\n| --- | --- |\n| bad | 5 |\n", export.markup.Names())
    assert re.findall(r"<t[dh][^>]*>[^<]*</t[dh]>", html) == [
        "<td></td>",
        '<th scope="col">good</th>',
        '<th scope="row">bad</th>',
        "<td>5</td>",
    ]
