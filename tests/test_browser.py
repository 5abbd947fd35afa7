"""Every page, opened by headless Chromium with the network off: nothing asked for, nothing hidden, nothing cut off."""

import contextlib
import os
import re
import shutil

import pytest

from evalkit.reports import slides
from tests.makers import cases

SCRIPTS = cases("scripts")["page"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
#: Of a flag that is given twice the last one counts.
THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
#: Sheets of A4 and screens of 1280 x 800 that no report may go beyond, with folded what is folded.
PAGES, SCREENS = 20, 20
#: Pages of the project that are looked at before a change is taken: between them they have all that a page can hold.
SOME = ("campaign", "index", "metric_meta_evaluation", "xsts_calibration")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium")


@pytest.fixture(
    scope="module",
    params=["tiny", pytest.param("some", marks=pytest.mark.slow), pytest.param("all", marks=pytest.mark.nightly)],
)
def reports_paths(request):
    """The reports to look at: the tests' own studies, some of the project, and at night all of those."""
    if request.param == "tiny":
        return sorted(request.getfixturevalue("site")[0].reports.glob("*.html"))
    folder = request.getfixturevalue("all_reports")
    return [path for path in sorted(folder.glob("*.html")) if request.param == "all" or path.stem in SOME]


@contextlib.contextmanager
def chromium(*flags):
    """Chromium, with a profile of its own, that reaches nothing; further flags may let it reach this machine."""
    playwright = pytest.importorskip("playwright.sync_api")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as driver:
        options = [*FLAGS, *flags, *["--no-sandbox"] * root]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser():
    """Chromium, which reaches nothing."""
    with chromium() as running:
        yield running


@pytest.fixture
def look(browser, reports_paths):
    """Open every page of the folder in a given size and colour scheme, yielding its name and the page.

    A page that asks for anything but itself, or says anything to the console, fails the test.
    """

    def pages(scheme, width, **options):  # one tab shows all: a tab of its own costs a page four times as much
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, **options)
        context.set_offline(True)
        asked, said = [], []
        context.route(
            "**/*", lambda route: route.continue_() if route.request.url.startswith("file:") else route.abort()
        )
        context.on("request", lambda request: asked.append(request.url))
        context.on("console", lambda message: said.append(message.text))
        context.on("weberror", lambda error: said.append(str(error.error)))
        page = context.new_page()
        assert "index" in {path.stem for path in reports_paths}
        assert len(reports_paths) > 1
        for path in reports_paths:
            asked.clear()
            page.goto(path.as_uri())
            yield path.stem, page
            assert [url for url in asked if url != path.as_uri() and not url.startswith("data:image/")] == [], path.stem
            assert said == [], path.stem
        context.close()

    return pages


def check(page, name, width):
    """Demand that a page shows everything, in legible colours, and that no figure needs scrolling."""
    told = page.evaluate(SCRIPTS["look"])
    assert (told["pictures"], told["formulas"], told["clipped"], told["cut"]) == ([], [], [], []), name
    assert told["overflow"] <= 0, f"{name} is wider than {width} px"
    assert told["titled"], name
    assert name != "gallery" or told["counts"] == [2, 5]
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    for figure in page.evaluate(SCRIPTS["figures"]):
        assert not figure["scrolls"], f"{name}: {figure['alt']}"
        assert figure["wide"] <= width, f"{name}: {figure['alt']}"
        assert width < 1000 or figure["shrunk"] >= 0.99, f"{name}: {figure['alt']} is drawn wider than its column"
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = false)")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_on_a_screen_a_page_shows_everything_and_is_not_endless(look, scheme):
    for name, page in look(scheme, 1280):
        assert page.evaluate("document.documentElement.scrollHeight") / 800 <= SCREENS, name
        check(page, name, 1280)
        page.keyboard.press("Tab")  # what a keyboard reaches first is the way past the head
        assert page.evaluate("document.activeElement.className") == "skip", name
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") > 0, name


@pytest.mark.parametrize("scheme", ["dark", pytest.param("light", marks=pytest.mark.nightly)])
def test_on_a_phone_a_page_shows_everything_and_opens_what_it_folds(look, scheme):
    for name, page in look(scheme, 375):
        check(page, name, 375)
        if name == "index":
            continue
        code = page.locator(".cell:not(details *) > .code").first
        for shown in (False, True, False):
            page.locator("#show-code").set_checked(shown)
            assert code.is_visible() == shown, name
        for long in page.locator(".long:not(details *)").all()[:3]:
            for shown in (False, True, False):
                long.locator("input").set_checked(shown)
                assert long.locator(".later").first.is_visible() == shown, name
        for stop in page.locator(".scroll:not(details *)").all()[:2]:
            stop.focus()
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(300)
            left, room = stop.evaluate("box => [box.scrollLeft, box.scrollWidth - box.clientWidth]")
            assert left > 0 or room <= 1, f"{name}: the keyboard scrolls no table"
        fold = page.locator("details.fold").last
        if fold.count():  # a study without data and parameters has none
            assert not fold.locator("table").is_visible(), name
            fold.locator("summary").click()
            assert fold.locator("table").is_visible(), name
        page.evaluate(SCRIPTS["open"])
        assert page.evaluate(SCRIPTS["look"])["overflow"] <= 0, f"{name} with all open is wider than the phone"
        boxes = "[...document.querySelectorAll('.scroll')].filter(b => b.getBoundingClientRect().right > 376).length"
        assert page.evaluate(boxes) == 0, name


#: Pixels between the margins of a sheet of A4, upright and turned.
SHEET, TURNED = 680, 1016


def test_a_page_prints_without_scripts_on_few_sheets_and_nothing_sticks_out(look):
    for name, page in look("light", SHEET, java_script_enabled=False):
        page.emulate_media(media="print")
        assert page.locator("h1").is_visible()
        assert not page.locator(".guide").or_(page.locator(".skip")).first.is_visible()
        assert page.evaluate(SCRIPTS["unfolded"]) == [], f"{name}: folded stays folded"
        assert page.evaluate(SCRIPTS["sticking"], [SHEET + 1, TURNED + 1]) == [], name
        sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
        assert 0 < len(sheets) <= PAGES, name
        if page.locator("details").count():
            page.evaluate(SCRIPTS["open"])
            assert page.evaluate(SCRIPTS["unfolded"]) != [], f"{name}: what is open is seen to be"
        page.emulate_media(media="null")


# Accessibility

#: The rules of WCAG 2.2 AA that a machine can check, and good practice beside them.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def accessibility(browser, path, scheme="light", width=1280, *, opened=False):
    """List what axe finds on a page: by rule, the elements."""
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    if opened:
        page.evaluate(SCRIPTS["open"])
    assert width < 1000 or page.evaluate(SCRIPTS["look"])["overflow"] <= 0
    page.evaluate(Axe().axe_script)
    found = dict(page.evaluate(SCRIPTS["axe"], RULES))
    page.close()
    return found


@pytest.mark.parametrize("name", ["gallery", "index"])
def test_axe_finds_nothing_on_small_pages(browser, site, name):
    assert accessibility(browser, site[0].reports / f"{name}.html", "dark", 390, opened=True) == {}


def test_axe_finds_nothing_on_the_longest_page(browser, all_reports):
    assert accessibility(browser, all_reports / "campaign.html") == {}


@pytest.mark.nightly
@pytest.mark.parametrize(("scheme", "width", "opened"), [("light", 1280, False), ("dark", 390, True)])
def test_axe_finds_nothing_on_any_page_and_slides_fit_a_screen(browser, all_reports, scheme, width, opened, tmp_path):
    paths = [*all_reports.glob("*.html"), slides.make("0_annotate", tmp_path)]
    found = {path.stem: accessibility(browser, path, scheme, width, opened=opened) for path in paths}
    assert len(found) > 2
    assert {name: faults for name, faults in found.items() if faults} == {}
