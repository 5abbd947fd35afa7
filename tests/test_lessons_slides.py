"""Slides of a lesson: cut at headings, complete, self-contained, each within its screen and on a page of its own."""

import base64
import re
import shutil
import struct

import nbformat
import pytest

from evalkit import ROOT, DataError
from evalkit.reports.cli import main
from evalkit.reports.slides import making, pieces
from evalkit.reports.slides.cutting import cut
from evalkit.show import MIME
from tests.test_browser import CHROMIUM, FLAGS, RULES

LESSON = ROOT / "notebooks" / "lessons" / "0_annotate.ipynb"


def md(text):
    return nbformat.v4.new_markdown_cell(text)


def code(source="x = 1", *outputs, tags=()):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
    cell.outputs = [nbformat.v4.new_output("display_data", data=data, metadata=about) for data, about in outputs]
    return cell


def png(wide, high):
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", wide, high) + b"\x08\x02\x00\x00\x00" + 4 * b"\0"
    return {"image/png": base64.b64encode(head).decode()}, {"image/png": {"alt": "An alt <text>", "caption": "A & B"}}


def of(kind, name="set"):
    return {MIME: {"kind": "source", "name": name, "source": kind}, "text/html": "<p class='source'>raw</p>"}, {}


def slides(*cells):
    return cut([piece for cell in cells for piece in pieces.pieces(cell)])


def test_a_heading_begins_a_slide_and_an_empty_one_none():
    made = slides(md("# Title\n\nOne."), md("## Two\n\n### Three\n\nText."), md("More."))
    assert [(slide.title, slide.kind, slide.opens) for slide in made] == [
        ("Title", "title", True),
        ("Three", "plain", False),
    ]
    assert made[1].html == "<p>Text.</p>\n<p>More.</p>"


def test_what_does_not_fit_goes_on_under_the_same_title_and_nothing_is_lost():
    items = "\n".join(f"- item number {number}" for number in range(30))
    made = slides(md(f"## Long\n\n{items}"))
    assert len(made) > 2
    assert {slide.title for slide in made} == {"Long"}
    assert [int(n) for slide in made for n in re.findall(r"item number (\d+)", slide.html)] == list(range(30))
    assert all(slide.html.count("<ul>") == 1 for slide in made), "items of a list stand in one list"


def test_a_numbered_list_goes_on_counting():
    items = "\n".join(f"{number}. item number {number}" for number in range(1, 21))
    made = slides(md(f"## Long\n\n{items}"))
    assert len(made) > 1
    for slide in made:
        begin, first = re.search(r'<ol start="(\d+)">', slide.html)[1], re.search(r"item number (\d+)", slide.html)[1]
        assert begin == first


def test_exercises_are_shown_and_checks_setup_and_solutions_are_not():
    check = {"text/html": "<p class='check'>Not yet</p>"}, {}
    made = slides(
        md("## Do\n\nIt."),
        code("import numpy"),
        code("y = 2  # TODO <b>", tags=["exercise"]),
        code("check()", check, tags=["check"]),
        code("seed = 7", tags=["parameters"]),
    )
    [slide] = made
    assert "y = 2  # TODO &lt;b&gt;" in slide.html
    assert not re.search("numpy|Not yet|seed", slide.html)


def test_few_words_stand_beside_a_figure_and_many_do_not():
    [slide] = slides(md("## See\n\nShort."), code("", png(600, 400)), md("*How to read it.* Short, too."))
    assert slide.kind == "beside"
    assert 'alt="An alt &lt;text&gt;"' in slide.html
    assert "<figcaption>A &amp; B</figcaption>" in slide.html
    assert len(slides(md("## See\n\nShort."), code("", png(600, 400)), md("Long. " * 120))) == 2
    [flat] = slides(md("## See\n\nShort."), code("", png(1500, 400)), md("Short."))
    assert flat.kind == "plain"


def test_simulated_data_are_marked_where_they_are_shown():
    cells = [
        md("# T\n\nx"),
        md("## Real\n\nx"),
        code("", of("real")),
        md("## Own\n\nx"),
        code("", of("simulated", "c")),
        md("shown"),
        md("### Sub\n\nx"),
        md("## After\n\nx"),
    ]
    assert [slide.simulated for slide in slides(*cells)] == [[], [], ["c"], ["c"], []]
    every = [md("# T\n\nx"), md("## A\n\nx"), code("", of("simulated", "c")), md("shown"), md("## B\n\nx")]
    assert [slide.simulated for slide in slides(*every)] == [[], ["c"], ["c"]]
    assert "<strong>SIMULATED</strong> data: c" in making.page(every, "name")


def test_a_long_table_is_cut_and_says_so():
    table = "<table><tbody>" + "".join(f"<tr><td>{n}</td><td>x</td></tr>" for n in range(30)) + "</tbody></table>"
    short = pieces.shortened(table)
    assert short.count("<tr>") == 10
    assert '<td colspan="2">… and 21 more rows in the notebook</td>' in short
    assert pieces.shortened(table[: table.index("<td>8")] + "<td>8</td></tr></tbody></table>").count("<tr>") == 9


def test_a_table_of_many_columns_has_smaller_letters():
    def table(columns):
        row = "".join(f"<th>{n}</th>" for n in range(columns))
        return {"text/html": f"<table><thead><tr>{row}</tr></thead><tbody></tbody></table>"}, {}

    assert 'class="broad"' in slides(md("## T"), code("", table(9)))[0].html
    assert 'class="broad"' not in slides(md("## T"), code("", table(8)))[0].html


def test_what_data_say_is_no_markup():
    shown = {"text/html": "<p onclick='x()'>a<script>alert(1)</script></p>"}, {}
    html = making.page([md("# T <img src=x>\n\ntext"), code("", shown)], "name")
    assert "<script" not in html
    assert "onclick" not in html
    assert "<img src=x" not in html


def test_blocks_keep_every_letter():
    html = "<p>a <b>b</b><br>c</p>\n<div><div>x</div></div><hr><ul>\n<li>é</li></ul> tail"
    assert "".join(pieces.blocks(html)).replace(" ", "") == html.replace("\n<div", "<div").replace(" ", "")
    assert len(pieces.blocks(html)) == 5


def test_unknown_lessons_are_told(tmp_path, capsys):
    assert main(["slides", "1_kapa_by_hand", "--out", str(tmp_path)]) == 1
    assert "Did you mean '1_kappa_by_hand'" in capsys.readouterr().err
    with pytest.raises(DataError, match="has no headings"):
        making.page([md("text")], "x")


def at(tab, slide):
    """Wait until a page shows a slide, counted from 0; the page's policy forbids a watching script."""
    for _ in range(100):
        if abs(tab.evaluate("scrollY / innerHeight") - slide) < 0.01:
            return True
        tab.wait_for_timeout(100)
    return False


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    return making.make("0_annotate", folder)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")
def test_slides_of_a_lesson_fit_their_screen_turn_by_keys_and_print_one_a_page(page, tmp_path):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, high in ((1280, 720), (1280, 800), (1920, 1080), (1024, 768)):
            tab = browser.new_page(viewport={"width": width, "height": high})
            requests = []
            tab.on("request", lambda request, seen=requests: seen.append(request.url))
            tab.goto(page.as_uri())
            over = tab.evaluate(
                "[...document.querySelectorAll('.body')].map(b => [b.scrollHeight - b.clientHeight, "
                "b.scrollWidth - b.clientWidth]).filter(o => o[0] > 1 || o[1] > 1)"
            )
            assert over == []
            assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
        tab.keyboard.press("ArrowDown")
        assert at(tab, 1)
        tab.click("#s2 a[aria-label='Next slide']")
        assert at(tab, 2)
        tab.pdf(path=tmp_path / "slides.pdf", prefer_css_page_size=True)
        count = tab.evaluate("document.querySelectorAll('.slide').length")
        browser.close()
    printed = (tmp_path / "slides.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == count > 15


@pytest.fixture(scope="module")
def samples(page, tmp_path_factory):
    """The folder of two pages of slides: of a lesson, and of cells that have what is hard to reach."""
    wide = "<table><caption>Wide</caption><thead><tr>" + "".join(f"<th>heading {n}</th>" for n in range(9))
    wide += "</tr></thead><tbody><tr>" + "<td>words of a cell</td>" * 9 + "</tr></tbody></table>"
    long = {"output_type": "display_data", "metadata": {}, "data": {"text/html": wide}}
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": "# A lesson\n\n## One section\n\nWords."},
        {"cell_type": "code", "metadata": {}, "source": "show()", "outputs": [long], "execution_count": 1},
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": "## Another\n\n| | b |\n| --- | --- |\n| x | $y^2$ |\n\n"
            "$$a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12} + a_{13} = b$$",
        },
    ]
    folder = tmp_path_factory.mktemp("samples")
    (folder / "hard.html").write_text(making.page(cells, "hard"), encoding="utf-8")
    shutil.copy(page, folder)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing_on_slides(samples, scheme, width):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    options = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": RULES}}
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for path in sorted(samples.glob("*.html")):
            tab = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            tab.goto(path.as_uri())
            tab.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
            found = Axe().run(tab, options=options).response["violations"]
            assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == [], path.stem
            assert tab.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path.stem
            tab.close()
        browser.close()


@pytest.mark.slow
def test_slides_leave_out_solutions_and_hold_no_script(page):
    html = page.read_text(encoding="utf-8")
    for secret in ("value_counts()[you]", "scatter.index[-1]", "<script", 'http-equiv="refresh'):
        assert secret not in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert "SIMULATED" in html
    assert "For teachers" not in html
