"""Slides of a lesson: cut at headings, complete, self-contained, each on a page of its own."""

import re

import nbformat
import pytest

from evalkit import ROOT, DataError
from evalkit.reports import slides
from evalkit.reports.cli import main
from evalkit.show import MIME
from tests.test_browser import CHROMIUM, FLAGS, RULES

LESSON = ROOT / "notebooks" / "lessons" / "0_annotate.ipynb"


def md(text):
    return nbformat.v4.new_markdown_cell(text)


def code(source="x = 1", *outputs, tags=()):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
    cell.outputs = [nbformat.v4.new_output("display_data", data=data, metadata=about) for data, about in outputs]
    return cell


def of(kind, name="set"):
    return {MIME: {"kind": "source", "name": name, "source": kind}, "text/html": "<p class='source'>raw</p>"}, {}


def cut(*cells):
    return slides.cut(list(cells))


def test_a_heading_begins_a_slide_and_an_empty_one_none():
    made = cut(md("# Title\n\nOne."), md("## Two\n\n### Three\n\nText."), md("More."))
    assert [slide.title for slide in made] == ["Title", "Three"]
    assert made[1].parts == ["<p>Text.</p>", "<p>More.</p>"]


def test_exercises_are_shown_and_checks_setup_and_solutions_are_not():
    check = {"text/html": "<p class='check'>Not yet</p>"}, {}
    made = cut(
        md("## Do\n\nIt."),
        code("import numpy"),
        code("y = 2  # TODO <b>", tags=["exercise"]),
        code("check()", check, tags=["check"]),
        code("seed = 7", tags=["parameters"]),
    )
    [slide] = made
    assert "y = 2  # TODO &lt;b&gt;" in "".join(slide.parts)
    assert not re.search("numpy|Not yet|seed", "".join(slide.parts))


def test_simulated_data_are_marked_where_they_are_shown():
    cells = [md("# T\n\nx"), md("## Real\n\nx"), code("", of("real")), md("## Own\n\nx")]
    cells += [code("", of("simulated", "c")), md("shown"), md("### Sub\n\nx"), md("## After\n\nx")]
    assert [slide.simulated for slide in cut(*cells)] == [[], [], ["c"], ["c"], []]
    every = [md("# T\n\nx"), md("## A\n\nx"), code("", of("simulated", "c")), md("shown"), md("## B\n\nx")]
    assert [slide.simulated for slide in cut(*every)] == [[], ["c"], ["c"]]
    assert "<strong>SIMULATED</strong> data: c" in slides.page(every, "name")


def test_what_data_say_is_no_markup():
    shown = {"text/html": "<p onclick='x()'>a<script>alert(1)</script></p>"}, {}
    html = slides.page([md("# T <img src=x>\n\ntext"), code("", shown)], "name")
    assert "<script" not in html
    assert "onclick" not in html
    assert "<img src=x" not in html


def test_unknown_lessons_are_told(tmp_path, capsys):
    assert main(["slides", "1_kapa_by_hand", "--out", str(tmp_path)]) == 1
    assert slides.lessons()["1"] == slides.lessons()["1_kappa_by_hand"]
    assert "Did you mean '1_kappa_by_hand'" in capsys.readouterr().err
    with pytest.raises(DataError, match="has no headings"):
        slides.page([md("text")], "x")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    return slides.make("0_annotate", folder)


@pytest.mark.nightly
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")
def test_slides_of_a_lesson_fit_the_width_of_a_screen_and_begin_a_page_each_in_print(page, tmp_path):
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    options = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": RULES}}
    over = "document.documentElement.scrollWidth - innerWidth"
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, high, scheme in ((1280, 720, "light"), (1920, 1080, "dark"), (1024, 768, "light")):
            tab = browser.new_page(viewport={"width": width, "height": high}, color_scheme=scheme)
            requests = []
            tab.on("request", lambda request, seen=requests: seen.append(request.url))
            tab.goto(page.as_uri())
            assert tab.evaluate(over) <= 0
            assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
            found = Axe().run(tab, options=options).response["violations"]
            assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
        tab.pdf(path=tmp_path / "slides.pdf", prefer_css_page_size=True)
        count = tab.evaluate("document.querySelectorAll('.slide').length")
        browser.close()
    printed = (tmp_path / "slides.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= count > 12


@pytest.mark.slow
def test_slides_leave_out_solutions_and_hold_no_script(page):
    html = page.read_text(encoding="utf-8")
    for secret in ("value_counts()[you]", "scatter.index[-1]", "<script", 'http-equiv="refresh'):
        assert secret not in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert "SIMULATED" in html
    assert "For teachers" not in html
