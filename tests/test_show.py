"""What a notebook displays: payloads, verdicts, and texts from data that never become markup."""

import base64
import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evalkit import DataError, show
from evalkit.show import figures, lab
from evalkit.stats import verdicts

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


@pytest.mark.parametrize(
    ("printed", "match", "differs"),
    [
        ("0.25", [0.25496, 0.255], [0.2551]),
        ("0.26", [0.255], []),
        ("-0.06", [-0.0634], [-0.0454]),
        ("−0.06", [-0.06], []),
        ("52", [52.0], [53]),
        ("2,378", [2378], []),
        (".47", [0.471], []),
        ("<0.001", [9e-4], [0.001]),
        ("three", [3], [4]),
        ("most", ["most"], ["not most"]),
        ("5", [], ["5 or so"]),
        ("6.2e-12", [6.24e-12], [7e-10]),
        ("0.00004", [], [4.6e-05]),
        ("6.22809962025843e-05", [6.22809962025829e-05], [6.228e-05]),
    ],
)
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
    assert page.count("&lt;script&gt;") == 3
    assert re.findall(r"<td[^>]*>([^<&]*)</td>", page) == ["1", "0.00", "yes", "–", "2", "–", "no"]
    assert page.count('<th scope="col"') == 4
    assert bundle[show.MIME]["value"][1] == {HOSTILE: None, "n": 2, "share": None, "ok": False}
    json.dumps(bundle, allow_nan=False)


def test_a_table_shows_chosen_columns_and_names_and_records_the_frame_as_it_is(shown):
    frame = pd.DataFrame({"form": ["line", "shift"], "alpha_cs": [0.12345, 2.0], "kept": [1, 2]})
    cells = {"form": {"line": HOSTILE}}
    options = {"columns": ["alpha_cs", "form"], "headings": {"alpha_cs": "shift <α>"}, "digits": {"alpha_cs": 4}}
    show.table(frame, caption="c", name="t", cells=cells, **options)
    show.table(frame, caption="c", columns={"kept": "stays", "form": "shape"})
    (first, _), (second, _) = shown
    assert re.findall(r"<th[^>]*>([^<]*)</th>", first["text/html"]) == ["shift &lt;α&gt;", "form"]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", first["text/html"])[::2] == ["0.1235", "2.0000"]
    assert "&lt;script&gt;" in first["text/html"]
    assert first[show.MIME] == {"kind": "record", "name": "t", "value": show.plain(frame)}
    assert re.findall(r"<th[^>]*>([^<]*)</th>", second["text/html"]) == ["stays", "shape"]
    assert list(frame) == ["form", "alpha_cs", "kept"]
    with pytest.raises(DataError, match="no column 'gone' to show"):
        show.table(frame, caption="c", columns=["gone"])


@pytest.mark.parametrize(
    ("column", "values", "cells"),
    [
        ("n", [187734, 9999, -3], ["187,734", "9,999", "−3"]),
        ("mean", [1.0, 2.0, 4.5], ["1.00", "2.00", "4.50"]),
        ("mean", [1.0, 2.0], ["1.00", "2.00"]),
        ("p", [1e-9, 0.0421], ["&lt;0.001", "0.042"]),
        ("min_p", [0.5, 1.0], ["0.500", "1.000"]),
        ("xp", [1e-9, 2.5], ["0.00", "2.50"]),
        ("empty", [], ["none"]),
    ],
)
def test_whole_numbers_have_no_decimals_and_p_values_are_never_zero(column, values, cells, shown):
    show.table(pd.DataFrame({column: values}), caption="c")
    assert re.findall(r"<td[^>]*>([^<]*)</td>", shown[0][0]["text/html"]) == cells


def test_a_page_has_the_first_rows_of_a_very_long_table_and_says_where_the_others_are(shown):
    show.table(pd.DataFrame({"n": range(1001)}), caption="very many", name="numbers")
    [(bundle, _)] = shown
    assert bundle["text/html"].count("<tr>") == 201
    assert "The first 200 of 1,001 rows. The JSON report has all, under “numbers”." in bundle["text/html"]
    assert len(bundle[show.MIME]["value"]) == 1001


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
    assert titles == ["differs, 1 of 4", "not reproducible, 1 of 4", "match, 2 of 4 (recomputed from data)"]
    assert page.index("a misprint") < page.index("not reproducible, 1 of 4") < page.index("no data")
    assert page.index("match, 2 of 4") < page.index("by the median"), "notes on matches are shown"
    folded = page[page.index("<details>") : page.index("</details>")]
    assert folded.startswith("<details><summary>Compared: match, 2 of 4"), "what matches is folded, and nothing else"
    assert ("by the median" in folded, "a misprint" in folded) == (True, False)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("GPT-4, eng-jpn, 0-100, 2022-11-03, p-value", "GPT-4, eng-jpn, 0-100, 2022-11-03, p-value"),
        ("-p file=x, 50%-mix, A100%, a%20b, n-1, --out", "-p file=x, 50%-mix, A100%, a%20b, n-1, --out"),
        ("-0.3", "−0.3"),
        ("95%", "95_%"),
        ("by -12.5%.", "by −12.5_%."),
        ("10-20%", "10-20_%"),
    ],
)
def test_numbers_of_sentences_have_a_minus_sign_and_a_narrow_blank(text, parts, shown):
    expected = parts.replace("_", "\u202f")
    assert show.typeset(text) == show.typeset(expected) == expected
    show.text(text)
    show.numbered(text)
    show.headline(text)
    assert all(f">{expected}<" in bundle["text/html"] for bundle, _ in shown)
    assert all(text in bundle["text/plain"] for bundle, _ in shown)
    assert shown[2][0][show.MIME]["text"] == text


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("note", "", "T1, b: 'differs' needs a note"),
        ("lacking", "", "T1, c: 'not reproducible' needs a few words"),
        ("basis", "measured", "T1, a: the basis 'measured' is none of recomputed from data, "),
    ],
)
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
