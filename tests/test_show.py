"""What a notebook displays: payloads and verdicts, figures that can be read on a phone and in grey, and controls."""

import base64
import json
import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit import DataError, show
from evalkit.campaign import Missing
from evalkit.reports import kernels
from evalkit.show import explore, figures, lab, pictures
from evalkit.show import figures as draw
from evalkit.stats import verdicts
from tests.makers import each
from tests.pages import MARKS, WORDS, contrast, faults

HOSTILE = '<script>alert(1)</script> **bold** $x^2$ =HYPERLINK("x") & "quoted" \\(y\\)'


def from_source(frame, source="real"):
    frame.attrs["source"] = {"name": "d", "source": source, "origin": "o", "digest": "git:0123456789abcdef"}
    return frame


@pytest.fixture
def shown(monkeypatch):
    """Collect what would be displayed, as (bundle, metadata)."""
    outputs = []
    monkeypatch.setattr(show, "display", lambda bundle, metadata=None, raw=False: outputs.append((bundle, metadata)))
    return outputs


@each
def test_a_number_matches_print_where_it_rounds_to_the_printed_digits(printed, match, differs):
    assert {show.verdict(printed, computed) for computed in match} <= {"match"}
    assert {show.verdict(printed, computed) for computed in differs} <= {"differs"}
    assert {show.verdict(printed, missing) for missing in (None, np.nan, pd.NA)} == {"not reproducible"}


@given(st.integers(-999, 999), st.integers(0, 3), st.floats(-0.49, 0.49), st.sampled_from([-1, 1]))
def test_a_number_matches_exactly_what_it_rounds_to(digits, places, within, side):
    printed = f"{digits / 10**places:.{places}f}"
    assert show.verdict(printed, (digits + within) / 10**places) == "match"
    assert show.verdict(printed, (digits + side * (1.01 - abs(within))) / 10**places) == "differs"


@given(st.integers(-999, 999), st.integers(0, 3), st.floats(-2, 2), st.floats(0, 1))
def test_rounded_inputs_reach_a_number_where_their_interval_meets_what_rounds_to_it(digits, places, off, wide):
    printed, low = f"{digits / 10**places:.{places}f}", digits + off
    ends = (low / 10**places, (low + wide) / 10**places)
    meets = low <= digits + 0.5 and low + wide >= digits - 0.5
    assume(min(abs(low - digits - 0.5), abs(low + wide - digits + 0.5)) > 1e-6)  # a tie is decided elsewhere
    assert verdicts.reachable(printed, *ends) == meets


def test_what_only_rounding_of_inputs_explains_is_no_match(shown):
    rows = comparison(printed=["2.46", "2.46"], computed=[2.4661, 2.4661], note="Its inputs are rounded.")
    rows = rows.assign(low=[2.452, 2.4652], high=[2.481, 2.487])
    show.compare(rows, data=from_source(pd.DataFrame()), caption="c")
    within, outside = shown[0][0][show.MIME]["rows"]
    assert (within["verdict"], within["reachable"]) == ("differs", [2.452, 2.481])
    assert (outside["verdict"], "reachable" in outside) == ("differs", False)
    titles = re.findall("<caption>([^<]*)", shown[0][0]["text/html"])
    parts = [title.rpartition(": ")[2] for title in titles]
    assert parts == ["differs, 1 of 2", "within rounding of its inputs, 1 of 2"]


def test_tables_escape_everything_and_record_plain_values(shown):
    frame = pd.DataFrame({HOSTILE: [HOSTILE, None], "n": [1, 2], "share": [-0.0001, np.nan], "ok": [True, False]})
    show.table(frame, caption=HOSTILE, name="t")
    ((bundle, _),) = shown
    page = bundle["text/html"]
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4
    assert re.findall(r"<td[^>]*>([^<&]*)</td>", page) == ["1", "0.00", "yes", "–", "2", "–", "no"]
    assert page.count('<th scope="col"') == 4
    assert bundle[show.MIME]["value"][1] == {HOSTILE: None, "n": 2, "share": None, "ok": False}
    json.dumps(bundle, allow_nan=False)


@pytest.mark.parametrize("name", ["segments", "p", "p_value"])
def test_a_table_may_lack_any_number(name):
    kinds = (pd.array([pd.NA, pd.NA], kind) for kind in ("Int64", "Float64", "boolean", "string"))
    for cells in (*kinds, [np.nan] * 2, [None] * 2, [pd.NaT] * 2, pd.array([pd.NA, 30_000], "Int64")):
        page = show.tables.markup(pd.DataFrame({name: cells}), caption="a table", name="a table")
        assert page.count("–") == pd.isna(pd.Series(cells)).sum()


def test_a_table_shows_chosen_columns_and_names_and_records_the_frame_as_it_is(shown):
    frame = pd.DataFrame({"form": ["line", "shift"], "alpha_cs": [0.12345, 2.0], "kept": [1, 2]})
    cells = {"form": {"line": HOSTILE}}
    options = {"columns": ["alpha_cs", "form"], "headings": {"alpha_cs": "shift <α>"}, "digits": {"alpha_cs": 4}}
    show.table(frame, caption="c", name="t", cells=cells, **options)
    show.table(frame, caption="c", columns=["kept", "form"], headings={"kept": "stays", "form": "shape"})
    (first, _), (second, _) = shown
    assert re.findall(r"<th[^>]*>([^<]*)</th>", first["text/html"]) == ["shift &lt;α&gt;", "form"]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", first["text/html"])[::2] == ["0.1235", "2.0000"]
    assert "&lt;script&gt;" in first["text/html"]
    assert first[show.MIME] == {"kind": "record", "name": "t", "value": show.plain(frame)}
    assert re.findall(r"<th[^>]*>([^<]*)</th>", second["text/html"]) == ["stays", "shape"]
    assert list(frame) == ["form", "alpha_cs", "kept"]


def test_results_show_sentences_then_tables_and_what_is_missing_shows_nothing(shown):
    table = {"frame": pd.DataFrame({"n": [1]}), "caption": HOSTILE, "name": "t", "folded": True}
    found = SimpleNamespace(sentences=["One.", HOSTILE], tables=[table])
    show.results(found, Missing("why", "what"))
    show.figure(lambda of: pytest.fail("drawn"), of=Missing("why", "what"), caption="c")
    show.figure(lambda of: None, of=found, caption="c")
    one, two, folded = (bundle["text/html"] for bundle, _ in shown)
    assert ">One.<" in one
    assert re.match(r"<details><summary>.*&lt;script&gt;", folded)
    assert "<script" not in two + folded
    assert shown[2][0][show.MIME]["value"] == [{"n": 1}]


@each
def test_whole_numbers_have_no_decimals_and_p_values_are_never_zero(column, values, cells, shown):
    show.table(pd.DataFrame({column: values}), caption="c")
    assert re.findall(r"<td[^>]*>([^<]*)</td>", shown[0][0]["text/html"]) == cells


def test_sentences_are_plain_text(shown):
    show.text(HOSTILE)
    show.headline(HOSTILE)
    for bundle, _ in shown:
        assert re.sub(r'<p class="\w+">|</p>', "", bundle["text/html"]).count("<") == 0
    assert shown[1][0][show.MIME] == {"kind": "headline", "text": HOSTILE}


def test_a_figure_carries_alt_text_caption_and_width_and_is_closed(shown):
    table = pd.DataFrame({"x": [1.0], "y": [1 / 3]})
    for alt in ("A rising line.", "A rising line.", None):
        figure, axes = plt.subplots(figsize=(4, 2))
        axes.plot([1, 2], [3, 4])
        figures.describe(axes, "One dot.")
        show.figure(axes, alt=alt, caption="Rising", name="dots", data=table)
        assert not plt.fignum_exists(figure.number)
    (bundle, metadata), again, (_, described) = shown
    assert again == (bundle, metadata), "the same figure has the same bytes"
    png = base64.b64decode(bundle["image/png"])
    assert metadata["image/png"]["alt"] == "A rising line."
    assert described["image/png"]["alt"] == "One dot.", "words of whoever drew it"
    assert abs(2 * metadata["image/png"]["width"] - int.from_bytes(png[16:20], "big")) <= 1
    assert bundle[show.MIME] == {"kind": "record", "name": "dots", "value": show.plain(table)}
    for drawn, alt in ((axes, " "), (plt.figure(), None)):
        with pytest.raises(DataError, match="needs alt text"):
            show.figure(drawn, alt=alt, caption="c")


def comparison(**columns):
    """Rows of a comparison with print, with what every row needs."""
    given = {"paper": "P", "item": "T1", "cell": list("abcdefgh")[: len(columns["printed"])], "note": ""}
    return pd.DataFrame(given | {"basis": verdicts.BASES[0], "lacking": "", "place": ""} | columns)


def test_comparison_counts_verdicts_and_demands_reasons(shown):
    rows = comparison(
        printed=["0.5", "0.6", "0.7", "0.8"],
        computed=[0.51, 0.4, None, 0.8],
        note=["by the median", "a misprint", "no data", ""],
        lacking=["", "", "labels", ""],
        place=["t:2:x", "", "", ""],
    )
    show.compare(rows, data=from_source(pd.DataFrame()), caption="Compared")
    payload = shown[0][0][show.MIME]["rows"]
    assert [row["verdict"] for row in payload] == ["match", "differs", "not reproducible", "match"]
    first = {"paper": "P", "item": "T1", "cell": "a", "printed": "0.5", "computed": 0.51, "verdict": "match"}
    first |= {"note": "by the median", "basis": "recomputed from data", "place": "t:2:x"}
    assert payload[0] == first
    assert payload[2]["lacking"] == "labels"
    page = shown[0][0]["text/html"]
    titles = re.findall(r"<caption>Compared: ([^<]*)", page)
    assert titles == ["differs, 1 of 4", "not reproducible, 1 of 4", "match, 2 of 4 (T1; recomputed from data)"]
    assert page.index("a misprint") < page.index("not reproducible, 1 of 4") < page.index("no data")
    assert page.index("match, 2 of 4") < page.index("by the median"), "notes on matches are shown"
    folded = page[page.index("<details>") : page.index("</details>")]
    assert folded.startswith("<details><summary>Compared: match, 2 of 4"), "what matches is folded, and nothing else"
    assert ("by the median" in folded, "a misprint" in folded) == (True, False)


@each
def test_numbers_of_sentences_have_a_minus_sign_and_a_narrow_blank(text, parts, shown):
    expected = parts.replace("_", "\u202f")
    assert show.typeset(text) == show.typeset(expected) == expected
    show.text(text)
    show.numbered(text)
    show.headline(text)
    assert all(f">{expected}<" in bundle["text/html"] for bundle, _ in shown)
    assert all(text in bundle["text/plain"] for bundle, _ in shown)
    assert shown[2][0][show.MIME]["text"] == text


@each
def test_a_row_that_does_not_say_what_it_rests_on_is_refused(shown, column, value, message):
    rows = comparison(printed=["0.5", "0.6", "0.7"], computed=[0.51, 0.4, None], note="why", lacking="labels")
    with pytest.raises(DataError, match=message):
        show.compare(rows.assign(**{column: value}), data=from_source(pd.DataFrame()), caption="c")
    with pytest.raises(DataError, match=f"print lack {column}"):
        show.compare(rows.drop(columns=column), data=from_source(pd.DataFrame()), caption="c")


def test_simulated_data_are_never_compared_with_print(shown):
    rows = comparison(printed=["0.5"], computed=[0.5])
    drawn, real = from_source(pd.DataFrame(), "simulated"), from_source(pd.DataFrame())
    for tables in (drawn, [real, drawn]):
        show.compare(rows.assign(low=0.4, high=0.6), data=tables, caption="c")
    for bundle, _ in shown:
        (row,) = bundle[show.MIME]["rows"]
        assert (row["verdict"], row["computed"], row["lacking"]) == ("not reproducible", None, "real data")


def test_sources_say_where_a_table_comes_from_and_what_was_left_out(shown):
    frame = from_source(pd.DataFrame({"x": range(1234)}), "simulated")
    frame.attrs["excluded"] = {"document scores": 1139}
    show.source(frame)
    excluded = {"document scores": 1139}
    assert shown[0][0][show.MIME] == {"kind": "source", **frame.attrs["source"], "rows": 1234, "excluded": excluded}
    assert "1,234 rows, SIMULATED" in shown[0][0]["text/html"]
    assert "Left out: document scores (1,139)." in shown[0][0]["text/html"]
    with pytest.raises(DataError, match="does not say where it comes from"):
        show.source(pd.DataFrame())
    show.source(from_source(pd.DataFrame({"started": [1.7e9]})))
    assert shown[1][0][show.MIME]["dates"] == {"judged": ["2023-11-14", "2023-11-14"]}


def test_the_signature_names_version_data_and_settings(shown):
    show.signature(from_source(pd.DataFrame()), resamples=1000, seed=7)
    assert re.fullmatch(r"evalkit:[\d.]+\|data:d@[0-9a-f]{8}\|resamples:1000\|seed:7", shown[0][0][show.MIME]["text"])


# Help where it is asked for: what a kernel completes


@pytest.mark.parametrize("text", ["$5 for A and $6 for B", r"\(x\) and \[y\]", r"\begin{a}z\end{a}"])
def test_what_a_person_at_work_is_shown_is_left_alone_by_mathjax(text, shown, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    for say in (show.text, show.numbered, show.headline, show.title):
        say(text)
    show.table(pd.DataFrame({text: [text]}), caption=text)
    show.figure(figures.describe(pd.DataFrame({"a": [1]}).plot.barh(), text), caption=text)
    htmls = [bundle["text/html"] for bundle, _ in shown]
    figure = htmls.pop(5)
    assert len(htmls) == 6
    for html in htmls:
        assert re.match(r'<div class="[^"]*\bmathjax_ignore tex2jax_ignore"', html), html
        assert text in html
        assert html.endswith("</div>"), "all of it is in there"
    assert figure.startswith("<img "), "attributes are never typeset"
    assert lab.label(text)["description"].count("mathjax_ignore") == 1


# Figures say what they show, name their axes, take any text, and can be read on a phone and in grey.

HOSTILE_FIGURES = "$x$ <img src=x> _hidden \\frac{"
LONG = "a-name-of_a_system that is longer than half of a phone, and then some more of it"
NAMES = ["A", HOSTILE_FIGURES, LONG]
RNG = np.random.default_rng(7)

TABLE = pd.DataFrame(
    [
        (panel, name, kind, RNG.normal())
        for panel in ("one", HOSTILE_FIGURES)
        for name in NAMES
        for kind in ("raw", HOSTILE_FIGURES)
    ],
    columns=["panel", "name", "kind", "value"],
).assign(low=lambda t: t["value"] - 0.5, high=lambda t: t["value"] + 0.5)
CURVES = pd.DataFrame([(k, x, x / (n + 1)) for n, k in enumerate(NAMES) for x in range(1, 30)], columns=["k", "x", "y"])
MANY = pd.DataFrame(
    {"x": RNG.normal(50, 10, 900).clip(0, 100), "who": NAMES * 300, "kind": ["raw", HOSTILE_FIGURES] * 450}
)
SCORES = MANY.rename(columns={"x": "score", "who": "annotator"})
PLACES = pd.DataFrame([(w, n, p) for w, ps in (("raw", (1, 2, 3)), ("z", (2, 1, 3))) for n, p in zip(NAMES, ps)])
PLACES = PLACES.set_axis(["way", "system", "place"], axis=1).assign(cluster=PLACES[2] // 2)
AXES = {"title": f"{HOSTILE_FIGURES} leads", "xlabel": f"{HOSTILE_FIGURES} (points)", "ylabel": "system"}
ENDS = {"low": "low", "high": "high"}

FIGURES = {
    "forest": lambda: draw.forest(TABLE, x="value", y="name", **ENDS, series="kind", panels="panel", line=0, **AXES),
    "forest_plain": lambda: draw.forest(
        TABLE.query("panel == 'one' and kind == 'raw'").assign(sure=[True, False, True], goal=0.5),
        **(AXES | ENDS | {"x": "value", "y": "name", "filled": "sure", "mark": "goal"}),
        band=(-1, 1),
    ),
    "ranges": lambda: draw.forest(
        TABLE.head(6).assign(value=np.nan), x="value", y="name", **ENDS, series="kind", **AXES
    ),
    "lines": lambda: draw.lines(
        CURVES, x="x", y="y", series="k", log="x", target=3, at=5, marks=CURVES[::9], spans=[4, 5], **AXES
    ),
    "lines_in_panels": lambda: draw.lines(CURVES, x="x", y="y", series="k", panels="k", **AXES),
    "scatter": lambda: draw.scatter(
        TABLE.assign(short="$x"),
        x="low",
        y="high",
        panels="panel",
        label="short",
        diagonal=True,
        fit=True,
        **AXES,
    ),
    "strips": lambda: draw.strips(TABLE, x="value", y="name", series="kind", panels="panel", line=0, **AXES),
    "outlines": lambda: draw.strips(MANY, x="x", y="who", middle="mean", **AXES),
    "histogram": lambda: draw.histogram(MANY, x="x", series="kind", panels="who", line=50, **AXES),
    "histogram_plain": lambda: draw.histogram(MANY, x="x", **AXES),
    "bars": lambda: draw.bars(TABLE.assign(value=0.3), x="value", y="name", series="kind", panels="panel", **AXES),
    "shades": lambda: draw.bars(TABLE.head(6), x="high", y="name", series="kind", shades=True, percent=False, **AXES),
    "heat": lambda: draw.heat(
        TABLE.assign(words="$1"), x="kind", y="name", value="value", text="words", panels="panel", **AXES
    ),
    "heat_of_texts": lambda: draw.heat(
        TABLE.head(6).assign(words="1\n1-2"), x="name", y="kind", value="value", text="words", dark="low", **AXES
    ),
    "hexbins": lambda: draw.hexbins(MANY.assign(y=MANY["x"]), x="x", y="y", **AXES),
    "score_strips": lambda: draw.score_strips(SCORES, ticks=[0, 50, 100], **AXES),
    "rank_moves": lambda: draw.rank_moves(
        PLACES, x="way", y="place", series="system", bold=[HOSTILE_FIGURES], clusters="cluster", **AXES
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_names_its_axes_takes_any_text_and_can_be_read(name):
    figure = FIGURES[name]()
    figure.canvas.draw()  # an unclosed equation would raise here
    assert faults(figure) == []
    assert figure.get_supxlabel().startswith(r"\$x\$ <img")
    assert figure.get_supylabel() == "system"
    assert figure.legends[0].get_title().get_text().startswith(r"\$x\$ <img")
    assert figure.get_label().startswith(f"{HOSTILE_FIGURES} leads."), "words have every letter of the data"
    assert any(character.isdigit() for character in figure.get_label().removeprefix(HOSTILE_FIGURES))


def test_words_tell_the_numbers_of_the_table_and_how_many_are_left_out():
    one = pd.DataFrame({"system": ["A", "B"], "z": [0.25, np.nan], "low": [0.1, 0.2], "high": [0.4, 0.5]})
    figure = draw.forest(one, x="z", y="system", low="low", high="high", title="A leads")
    assert figure.get_label() == "A leads. A: 0.25 (0.1 to 0.4); B:  (0.2 to 0.5)."
    many = pd.DataFrame({"system": range(20), "z": range(20)}).astype({"system": str})
    assert draw.forest(many, x="z", y="system").get_label().endswith("13: 13; and 6 more.")
    curves = draw.lines(CURVES.replace({HOSTILE_FIGURES: "B", LONG: "C"}), x="x", y="y", series="k", title="Rise")
    assert curves.get_label() == "Rise. A, 29: 29; B, 29: 14.5; C, 29: 9.67."


def test_marks_are_told_apart_without_colour_and_colours_can_be_seen():
    figure = draw.forest(TABLE.head(6), x="value", y="name", series="kind")
    assert (
        len(
            {
                (line.get_marker(), line.get_markerfacecolor() == "white")
                for line in figure.axes[0].lines
                if len(line.get_xdata())
            }
        )
        == 2
    )
    for scheme in ("light", "dark"):
        assert all(contrast(colour, scheme=scheme) >= MARKS for colour in (*draw.PALETTE, draw.GREY))
        assert contrast(draw.GREY, scheme=scheme) >= WORDS
        assert contrast(draw.LIGHT, scheme=scheme) < MARKS, "what carries no meaning recedes"


def test_nothing_to_draw_is_a_sentence_with_a_remedy():
    with pytest.raises(DataError, match="no row is left"):
        draw.forest(TABLE.head(0), x="value", y="name")
    with pytest.raises(DataError, match="outside 0-100"):
        draw.score_strips(SCORES.assign(score=104.0))


# Controls and charts: reports have the plain figure; at work, figure and words follow the values of a reader.

HOSTILE_EXPLORE = "<img src=x onerror=alert(1)> datum['a'].b $x$ \\(y\\) {{signal}}"


WHO = {"eng-deu": ["deu1", "deu2", "deu3"], "eng-jpn": ["jpn1", "jpn2", "jpn3"]}


def dots(values, title=""):
    """Draw a dot a value."""
    table = pd.DataFrame({"who": [f"w{number}" for number in range(len(values))], "value": values})
    return figures.forest(table, x="value", y="who", title=title)


def people(*, pair, annotators):
    """Draw chosen annotators of a pair, such as a cell of a notebook would."""
    chosen = [name for name in annotators if name in WHO[pair]]
    return dots([int(name[-1]) for name in chosen], title=f"{pair}: {', '.join(chosen)}")


class Place:
    """What IPython gives for an output that can be put anew."""

    def __init__(self, outputs, number):
        self.outputs, self.number = outputs, number

    def update(self, data, metadata=None, raw=False):
        self.outputs[self.number] = (data, metadata)


@pytest.fixture
def shown_explore(monkeypatch):
    """Collect outputs, as (data, metadata), or the widget."""
    outputs = []

    def display(data, metadata=None, raw=False, display_id=None):
        outputs.append((data, metadata))
        return Place(outputs, len(outputs) - 1) if display_id else None

    monkeypatch.setattr(show, "display", display)
    monkeypatch.setattr(explore, "display", display)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return outputs


@pytest.fixture
def at_work(shown_explore, monkeypatch):
    """Say, as Jupyter's server does, that somebody has this notebook open."""
    monkeypatch.setenv("JPY_SESSION_NAME", "studies/a.ipynb")
    return shown_explore


def turnable():
    return {
        "pair": explore.Choice("eng-jpn", of=list(WHO)),
        "annotators": explore.Choices(["jpn1", "deu1"], of=WHO, by="pair"),
    }


def test_a_run_of_reports_shows_the_bytes_of_the_plain_figure_and_nothing_else(shown_explore):
    explore.figure(people, **turnable(), caption="{pair}, drawn")
    show.figure(people(pair="eng-jpn", annotators=["jpn1"]), caption="eng-jpn, drawn")
    assert len(shown_explore) == 2
    assert shown_explore[0] == shown_explore[1]
    assert {"image/png", "text/plain"} <= set(shown_explore[0][0])
    assert "text/html" not in shown_explore[0][0]


def test_kernels_of_a_run_are_nobodys_session_even_where_a_notebook_starts_the_run(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "studies/a.ipynb")
    assert pictures.live()
    with kernels.Kernels() as run:
        monkeypatch.setenv("JPY_SESSION_NAME", run.env["JPY_SESSION_NAME"])
    assert not pictures.live()


def test_a_turned_control_draws_another_figure_whose_words_follow(at_work):
    explore.figure(people, **turnable(), caption="{pair}, drawn")
    pair, annotators, message = at_work[0][0].children
    label, *boxes = annotators.children
    assert (pair.description, label.value) == ("pair", "annotators")
    assert [(box.description, box.value) for box in boxes[:3]] == [("jpn1", True), ("jpn2", False), ("jpn3", False)]
    before, told = at_work[1], at_work[2][0]["text/html"]
    boxes[2].value = True
    after = at_work[1]
    assert after[0]["image/png"] != before[0]["image/png"]
    assert "jpn1, jpn3" in after[1]["image/png"]["alt"]
    assert at_work[2][0]["text/html"] != told
    assert after[1]["image/png"]["alt"] in at_work[2][0]["text/html"]
    pair.value = "eng-deu"
    assert "no row is left" in message.value, "nobody of that pair is ticked"
    boxes = annotators.children[1:]
    assert [box.description for box in boxes] == WHO["eng-deu"]
    boxes[1].value = True
    assert (at_work[1][1]["image/png"]["caption"], message.value) == ("eng-deu, drawn", "")
    assert "eng-deu: deu2" in at_work[1][1]["image/png"]["alt"]
    assert len(at_work) == 3, "nothing is shown a second time"


@pytest.mark.parametrize("problem", [DataError(HOSTILE_EXPLORE), ValueError(HOSTILE_EXPLORE)])
def test_a_problem_is_one_sentence_under_the_controls_and_the_figure_stays(problem, at_work):
    def view(*, level):
        if level > 1:
            raise problem
        return dots([level])

    explore.figure(view, level=explore.Range(1, low=0, high=3))
    level, message = at_work[0][0].children
    before = at_work[1]
    level.value = 2
    assert at_work[1] is before
    assert 'role="alert"' in message.value
    assert "&lt;img" in message.value
    assert "<img" not in message.value
    level.value = 1
    assert message.value == ""


def test_the_notebooks_own_values_are_refused_as_in_a_report_or_kept(at_work):
    with pytest.raises(DataError, match="no row is left"):
        explore.figure(people, pair=explore.Choice("eng-deu", of=["eng-deu"]), annotators=[])
    assert at_work == []
    explore.figure(lambda value: dots([value]), value=explore.Range(4.2, low=1, high=4, step=0.1))
    assert at_work[0][0].children[0].value == 4.2, "outside what is offered"
