"""Reports: what they hold and in which order, what they refuse, what becomes of them when something fails."""

import base64
import json
import re
import struct
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.reports import execute, export, findings, kernels, markup, notebooks, reference
from evalkit.reports.studies import Layout, Study, read_studies
from evalkit.show import tables
from tests.makers import each, notebook, project

TINY = Path(__file__).parent / "notebooks" / "studies.toml"
GOOD = ("gallery", "simulated", "hostile", "environment")
VOID = {"meta", "img", "br", "hr", "col", "input", "source"}


class Page(HTMLParser):
    """A page taken apart: its elements with their attributes, its text, and whether its elements nest."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.open, self.crossed = [], "", [], []
        self.feed(path.read_text(encoding="utf-8") if isinstance(path, Path) else path)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), "/".join(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), "/".join(self.open)))

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, words):
        if "style" not in self.open:
            self.text += words

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]


def without_seconds(text):
    return re.sub(r'"seconds": [\d.]+|ran in [\d.]+ s', "", text)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


# What a report holds


@pytest.mark.parametrize("name", [*GOOD, "index"])
def test_a_page_needs_nothing_but_itself(site, name):
    layout, _ = site
    page = Page(layout.reports / f"{name}.html")
    assert page.crossed == []
    assert page.open == []
    names = {tag for tag, *_ in page.elements}
    assert not names & {"script", "iframe", "link", "object", "embed", "form", "base", "video", "audio", "button"}
    assert all(box["type"] == "checkbox" for box in page.all("input")), "switches that styles read"
    assert {meta.get("content") for meta in page.all("meta") if "http-equiv" in meta} == {export.POLICY}
    for tag, attributes, _ in page.elements:
        assert not {"poster", "background", "action"} & attributes.keys()
        assert "srcset" not in attributes or (tag == "source" and attributes["srcset"].startswith("data:image/png;"))
        assert not [key for key in attributes if key.startswith("on")]
        assert tag == "img" or "src" not in attributes
    assert all(image["src"].startswith("data:image/") for image in page.all("img"))
    assert "@import" not in (layout.reports / f"{name}.html").read_text(encoding="utf-8")
    assert "url(" not in export.STYLESHEET


def test_the_json_report_keeps_the_contract(site):
    report = json.loads((site[0].reports / "gallery.json").read_text())
    keys = "study title status seconds parameters data recorded published headline signature"
    assert list(report) == keys.split()
    assert (report["study"], report["status"], report["title"]) == ("gallery", "ok", "What does a page have to carry?")
    assert report["parameters"] == {"seed": 7, "source": "real", "systems": ["alpha", "beta", "007"], "fallback": True}
    assert [(s["name"], s["source"], s["origin"]) for s in report["data"]] == [("gallery-scores", "real", "a test")]
    assert set(report["recorded"]) == {"means", "best"}
    assert [row["verdict"] for row in report["published"]] == ["match", "differs", "not reproducible"]
    columns = ["paper", "item", "cell", "printed", "computed", "verdict", "note", "basis"]
    assert list(report["published"][0]) == columns
    assert list(report["published"][2]) == [*columns, "lacking"]
    assert report["headline"] == "007 is the best of 3 systems."
    assert report["signature"].startswith("evalkit:")


def test_the_page_shows_figures_tables_equations_and_folded_code(site):
    page = Page(site[0].reports / "gallery.html")
    png, svg = page.all("img")
    assert png["alt"] == "Three rising curves, one for each system, side by side."
    wide, high = struct.unpack(">II", base64.b64decode(png["src"].split(",")[1])[16:24])
    assert int(png["width"]) == wide // 2
    assert int(png["height"]) == pytest.approx(high / 2, abs=1)
    assert svg["src"].startswith("data:image/svg+xml;base64,")
    assert "Scores of each system, as cumulative shares." in page.text
    assert len(page.all("math")) == 5
    assert "$" not in page.text
    assert len([each for each in page.all("details") if each.get("class") == "solution"]) == 2
    assert "Recomputed from data: 2 of 3 printed numbers (67\u202f%); 1 matches, 1 differs." in page.text
    assert "Not recomputed: 1 (inputs never published)." in page.text


def test_a_simulated_report_is_loud_and_shows_the_reference(site):
    page = Page(site[0].reports / "simulated.html")
    assert [each for each in page.all("aside") if each.get("class") == "banner"]
    assert "simulated 1 data set" in page.text
    words = " ".join(page.text.split())
    assert words.count("Computed earlier, on the real data") == 5  # banner, finding, tally, a table, the comparison
    assert "Computed earlier, on the real data. The true finding <i>" in words
    assert "On simulated data. 007 is the best of 3 systems." in words
    assert "61.23" in page.text
    assert "alpha <b>" in page.text
    real = Page(site[0].reports / "gallery.html")
    assert "Computed earlier" not in real.text
    assert not [each for each in real.all("aside") if each.get("class") == "banner"]


def test_the_index_has_a_card_for_every_study(site):
    page = Page(site[0].reports / "index.html")
    assert len(page.all("article")) == len(read_studies(site[0]))
    assert [each for each in page.all("aside") if each.get("class") == "banner"]
    assert "Texts <from> strangers" in page.text
    assert "Computed earlier, on the real data. The true finding <i>" in page.text
    assert "On simulated data. 007 is the best" in page.text
    assert "Does <b>data</b> stay text?" in page.text
    assert 'The latest run failed. cell 3 (message = "<b>wrong</b>"): ValueError: <b>wrong</b>' in page.text
    links = [link["href"] for link in page.all("a") if not link["href"].startswith("#")]
    own = ["simulated.html", "hostile.html", "environment.html"]
    assert links == [*own, "gallery.html", "https://example.org/nothing"], "what is no paper's stands first"


def test_texts_of_strangers_stay_text(site):
    page = Page(site[0].reports / "hostile.html")
    source = notebooks.read(TINY.parent / "hostile.ipynb")["cells"][1]["source"]
    space = {}
    exec(source[source.index("texts = [") : source.index("rows =")], space)
    for text in space["texts"]:
        assert page.text.count(text) >= 5, text  # a table, show.text, Markdown, LaTeX, a frame, standard output
    assert {tag for tag, *_ in page.elements} & {"script", "iframe", "math"} == set()
    assert len(page.all("img")) == len(page.all("h1")) == 1
    assert [link["href"] for link in page.all("a")] == ["#main", "index.html", "hostile.json"]
    assert [attributes for _, attributes, _ in page.elements if "style" in attributes] == []


@pytest.mark.slow
def test_two_runs_give_the_same_bytes_whatever_the_kernels(site, tmp_path):
    layout = Layout(studies=TINY, reports=tmp_path, reference=site[0].reference)
    assert [outcome.status for outcome in execute.run(["simulated"], layout)] == ["ok"]
    for ending in ("html", "json"):
        one, two = ((place / f"simulated.{ending}").read_text() for place in (site[0].reports, tmp_path))
        assert without_seconds(one) == without_seconds(two)


# What fails, and what is kept


@each
def test_a_study_that_fails_says_where_and_keeps_its_notebook(site, name, reason):
    layout, outcomes = site
    assert outcomes[name].status == "failed"
    assert re.fullmatch(reason, outcomes[name].reason)
    assert outcomes[name].path == layout.reports / f"{name}.failed.ipynb"
    assert notebooks.read(outcomes[name].path)["cells"]
    report = json.loads((layout.reports / f"{name}.json").read_text())
    assert (report["status"], report["reason"]) == ("failed", outcomes[name].reason)
    assert (layout.reports / f"{name}.json").read_bytes() == (layout.reports / f"{name}.failed.json").read_bytes()
    assert not (layout.reports / f"{name}.html").exists()


def test_a_run_leaves_only_final_names(site):
    names = {f"{name}.{ending}" for name in GOOD for ending in ("html", "json")}
    bad = ("raises", "dies", "sleeps", "without_alt", "bad_tex")
    names |= {f"{name}.{ending}" for name in bad for ending in ("json", "failed.json", "failed.ipynb")}
    assert set(files(site[0].reports)) == names | {"index.html"}


def test_a_failure_leaves_the_earlier_report_untouched_and_a_success_clears_it(tmp_path):
    cells = ["fail: bool = False  # whether to fail", "assert not fail, 'as asked'"]
    layout = project(tmp_path, {"one": cells})
    assert execute.run(None, layout)[0].status == "ok"
    good = files(layout.reports)
    [outcome] = execute.run(None, layout, values={"fail": "yes"})
    assert outcome.status == "failed"
    assert outcome.reason == "cell 2 (assert not fail, 'as asked'): AssertionError: as asked"
    now = files(layout.reports)
    assert all(now[name] == good[name] for name in ("one.html", "one.json"))
    assert set(now) - set(good) == {"one.failed.json", "one.failed.ipynb"}
    assert "The earlier report is kept." in Page(layout.reports / "index.html").text
    assert execute.run(None, layout)[0].status == "ok"
    assert set(files(layout.reports)) == set(good)


def test_a_study_without_its_data_or_a_fallback_is_skipped(tmp_path, monkeypatch):
    def offline(names, **_):
        raise DataError(f"{names[0]} is not here and the network is off. Go online.")

    monkeypatch.setattr(data, "fetch", offline)
    layout = project(tmp_path, {"one": ["fallback: bool = True  # or not"]}, data='["far"]')
    [outcome] = execute.run(None, layout)
    assert (outcome.status, outcome.reason) == ("skipped", "far is not here and the network is off. Go online.")
    assert json.loads((layout.reports / "one.json").read_text())["status"] == "skipped"
    assert "The latest run was skipped. far is not here" in Page(layout.reports / "index.html").text
    (tmp_path / "studies.toml").write_text((tmp_path / "studies.toml").read_text() + '\nfallback = "simulated"\n')
    assert execute.run(None, layout, values={"fallback": "no"})[0].status == "skipped"
    assert execute.run(None, layout)[0].status == "ok"


@each
def test_a_wrong_studies_file_is_told(tmp_path, toml, message):
    (tmp_path / "studies.toml").write_text(toml)
    with pytest.raises(DataError, match=re.escape(message)):
        read_studies(Layout(studies=tmp_path / "studies.toml"))


@each
def test_a_parameter_that_cannot_be_costs_other_studies_nothing(tmp_path, monkeypatch, code, setting, told):
    layout = project(tmp_path, {"one": [code], "two": ["x: int = 1  # any"]})
    with layout.studies.open("a") as stream:
        stream.write(f"[one.parameters]\n{setting}\n")
    begun = []

    def here(tasks, *_, **__):
        begun.extend(task.name for task in tasks)
        yield execute.Outcome("two", "ok", tmp_path)

    monkeypatch.setattr(execute, "side_by_side", here)
    one, two = execute.run(None, layout)
    assert (begun, two.status, one.status) == (["two"], "ok", "failed")
    assert told in one.reason
    assert told in json.loads(one.path.read_text())["reason"]
    assert "The latest run failed" in Page(layout.reports / "index.html").text
    with pytest.raises(DataError, match=re.escape(told)):
        execute.run(["one"], layout)


# Findings


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([{"kind": "record", "name": "a", "value": 1}] * 2, "records 'a' twice"),
        ([{"kind": "rumour"}], "a payload that no report knows"),
        ([{"kind": "record", "name": "a", "value": [{"x": float("inf")}]}], "'a' holds a NaN or an infinity"),
    ],
)
def test_payloads_that_cannot_be_right_are_refused(said, message):
    outputs = [{"output_type": "display_data", "data": {findings.MIME: payload}, "metadata": {}} for payload in said]

    def report():
        found = findings.collect({"cells": [{"cell_type": "code", "source": "", "outputs": outputs}]})
        return findings.report(Study("a", Path("a"), "A"), "ok", seconds=1, found=found)

    with pytest.raises(DataError, match=message):
        findings.canonical(report())


# Markup


@pytest.mark.parametrize("tex", [r"\frac{1}", r"\foo x", r"\text{a <b>}", r"\sqrt[3"])
def test_tex_that_cannot_be_typeset_is_refused(tex):
    with pytest.raises(DataError, match="the TeX"):
        markup.mathml(tex, display="inline")


@pytest.mark.parametrize("tex", [r"\href{javascript:a()}{x}", r'\href{a" onclick="b">c}{x}', r"\style{a}{x}"])
def test_equations_lead_nowhere_and_dress_like_the_page(tex):
    plain, found = markup.mathml("x", display="inline"), markup.mathml(tex, display="inline")
    assert re.sub("</?mrow>", "", found) == re.sub("</?mrow>", "", plain)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("![a dot](https://example.org/dot.png)", "lies outside the notebook"),
        ("![](attachment:dot.png)", "has no alternative text"),
    ],
)
def test_prose_brings_no_image_from_elsewhere(source, message):
    with pytest.raises(DataError, match=message):
        markup.prose(source, markup.Names(), attachments={"dot.png": {"image/png": "AA=="}})


def test_prose_is_escaped_and_its_headings_have_names_of_their_own():
    names = markup.Names()
    html = markup.prose("## A *b* $x$\n## A b\n<b onclick=x>raw</b> [x](javascript:alert)\n\n|a|\n|-|\n|1|", names)
    assert [name for name, _ in names.sections] == ["a-b", "a-b-2"]
    page = Page(html)
    assert "<b onclick=x>raw</b>" in page.text
    assert not [link for link in page.all("a") if "javascript" in link["href"]]
    assert [cell["scope"] for cell in page.all("th")] == ["col"]


def test_long_tables_show_twelve_rows_and_a_box_to_tick():
    frame = pd.DataFrame({"pair": ["eng-jpn"] * 16, "said": ["a word"] * 16})
    long = Page(markup.sanitised(tables.markup(frame, caption="C", notes=["one"] * 13 + ["two"] * 3)))
    assert [row.get("class") for row in long.all("tr")] == [
        None,
        "note",
        *[None] * 12,
        "later",
        "note later",
        *["later"] * 3,
    ]
    assert [cell["scope"] for cell in long.all("th")] == [
        "col",
        "col",
        "rowgroup",
        *["row"] * 13,
        "rowgroup",
        *["row"] * 3,
    ]
    assert long.all("input") == [{"type": "checkbox", "autocomplete": "off"}]
    assert "Show all 16 rows" in long.text
    assert "The first 12 of 16 rows." in long.text


def test_html_from_elsewhere_keeps_its_tables_and_loses_its_teeth():
    frame = '<div><style scoped>.x{}</style><table border="1"><thead><tr><th>a</th></tr></thead><tbody><tr><th>0</th>'
    rest = "<td style='x' onclick='y'>1 &amp; 2</td></tr></tbody></table></div><style>p{}</style>"
    page = Page(markup.sanitised(frame + rest))
    assert page.all("td") == [{}]
    assert "1 & 2" in page.text
    assert "scoped" not in page.text
    assert page.crossed == []


# Kernels


def test_kernels_hash_alike_draw_apart_and_leave_no_folder(tmp_path):
    task = read_studies(Layout(studies=TINY))["environment"]
    with kernels.Kernels() as pool:
        one, two = (
            findings.collect(kernels.execute_notebook(task, tmp_path / f"{number}.ipynb", 60, pool))["recorded"]
            for number in range(2)
        )
        folder = pool.folder
    assert one["stream"] != two["stream"]
    assert one["hash"] == two["hash"]
    assert (one["folder"], one["threads"]) == ("notebooks", "1"), "a kernel finds what it needs"
    assert not folder.exists()


# Reference results


def test_reference_results_come_from_good_runs_on_real_data_only(site, tmp_path):
    names = ("gallery", "simulated", "raises")
    read = {name: json.loads((site[0].reports / f"{name}.json").read_text()) for name in names}
    with pytest.raises(DataError, match="simulated ran on simulated data for gallery-scores"):
        reference.reference(read["simulated"])
    with pytest.raises(DataError, match="raises failed: cell 3"):
        reference.reference(read["raises"])
    expected = reference.reference(read["gallery"])
    long = {**read["gallery"], "recorded": {"short": [{"a": 1}], "long": [{"a": 1}] * (reference.LONGEST + 1)}}
    assert reference.reference(long)["recorded"] == {"short": [{"a": 1}]}
    assert reference.reference(long)["rows_left_out"] == {"long": reference.LONGEST + 1}
    kept = "study data signature parameters headline recorded published rows_left_out"
    assert list(expected) == kept.split()
    assert list(expected["data"][0]) == ["name", "digest"]
    layout = Layout(studies=TINY, reports=tmp_path / "unused", reference=tmp_path / "reference")
    with pytest.raises(DataError, match="simulated ran on simulated data"):
        reference.write_references(["gallery", "simulated"], layout)
    assert not layout.reference.exists()
    [path] = reference.write_references(["gallery"], layout)
    assert json.loads(path.read_text()) == expected
    assert not layout.reports.exists()


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
    path = notebook(tmp_path / "one.ipynb", "seed: int = 7  # a seed")
    made, study = {"cells": list(cells)}, Study("one", path, "One")
    html = export.export(made, study, findings.report(study, "ok", seconds=1, found=findings.collect(made)))
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
    [html] = export.beside(payload, reference)
    assert "comparison with print: match, 1 of 1" in html
    assert "nowhere" not in html
    assert not list(export.beside(payload, reference | {"published": rows[1:]}))


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
