"""What the index shows: the decision chart, with every study in it, and the tally of printed numbers."""

import io
import json
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg

from evalkit import DataError
from evalkit.reports import chart, findings, index, tally
from evalkit.reports.studies import Layout, read_studies
from evalkit.show.plots.chart import decision_chart, in_words
from evalkit.stats import verdicts

#: CSS pixels that a picture may be wide on a telephone of 375, and that a letter must be high there.
PHONE, LETTER = 343, 12


def layout(folder, ways):
    """Write a project of two studies, agreement and ranking, with a chart."""
    entry = "[{0}]\nnotebook = '{0}.ipynb'\ntitle = 'T'\n"
    (folder / "studies.toml").write_text(entry.format("agreement") + entry.format("ranking"))
    if ways is not None:
        (folder / "chart.toml").write_text(ways)
    return Layout(studies=folder / "studies.toml")


def words(figure):
    return [" ".join(text.get_text().split()) for text in figure.axes[0].texts if text.get_text()]


def drawn():
    """Draw the project's own chart; return the figure with its renderer."""
    figure = decision_chart(chart.ways())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return figure, canvas


def test_every_study_is_in_the_chart_and_nothing_else():
    ways = chart.ways()
    assert set(ways["study"]) == set(read_studies(Layout()))
    assert not ways.duplicated(["have", "want"]).any()
    assert not ways.isna().any().any()


def test_a_study_that_is_not_there_is_not_in_the_chart(tmp_path):
    rows = "rows = [{want = 'Do they agree?', study = 'agreement'}, {want = 'When?', study = 'not_yet'}]"
    ways = chart.ways(layout(tmp_path, f"[[kind]]\nhave = 'Scores'\n{rows}"))
    assert ways.to_numpy().tolist() == [["Scores", "Do they agree?", "agreement"]]


def test_picture_and_text_say_the_same():
    ways = chart.ways()
    figure, _ = drawn()
    shown, told = words(figure), in_words(ways)
    for part in pd.unique(ways.to_numpy().ravel()):
        assert part in shown, part
        assert part in told, part
    assert len(shown) == 1 + ways["have"].nunique() + 2 * len(ways)
    order = [shown.index(want) for want in ways["want"]]
    assert order == sorted(order)
    assert all(shown[place + 1] == study for place, study in zip(order, ways["study"], strict=True))


def test_the_picture_is_black_and_white():
    _, canvas = drawn()
    red, green, blue, _ = np.moveaxis(np.asarray(canvas.buffer_rgba()), -1, 0).astype(int)
    assert (red == green).all()
    assert (green == blue).all()
    assert red.min() < 60
    assert red.max() == 255


def test_letters_are_large_enough_on_a_telephone():
    figure, _ = drawn()
    shrunk = min(1, PHONE / (figure.get_figwidth() * 96))
    assert min(text.get_fontsize() for text in figure.axes[0].texts if text.get_text()) * 96 / 72 * shrunk >= LETTER


def test_nothing_sticks_out_and_no_text_lies_on_another():
    figure, canvas = drawn()
    boxes = [t.get_window_extent(canvas.get_renderer()) for t in figure.axes[0].texts if t.get_text()]
    width, height = figure.get_size_inches() * figure.dpi
    for box in boxes:
        assert 0 <= box.x0 < box.x1 <= width, box
        assert 0 <= box.y0 < box.y1 <= height, box
    tops = [box.y0 for box in boxes]
    assert all(tops[i] >= boxes[i + 1].y1 - 1 for i in range(len(boxes) - 1)), "each text lies below the one before"


def test_long_names_and_dollars_stay_text():
    ways = pd.DataFrame(
        [("Scores that cost $5 and $6 " * 4, "Why? " * 30, "a_study")], columns=["have", "want", "study"]
    )
    figure = decision_chart(ways)
    FigureCanvasAgg(figure).draw()
    assert sum("\\$5" in said for said in words(figure)) == 1


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        (None, "There is no .*chart.toml. Put it beside studies.toml"),
        ("[[kind]]\nhave = 'x'\n", "lacks the key 'rows'"),
        ("", "lacks the key 'kind'"),
        ("[[kind]", "cannot be read"),
        ("[[kind]]\nhave = 'x'\nrows = [{study = 'agreement'}]", "lacks the key 'want'"),
    ],
)
def test_a_chart_that_cannot_be_read_is_told(tmp_path, ways, message):
    with pytest.raises(DataError, match=message):
        chart.ways(layout(tmp_path, ways))


# The tally of printed numbers: bases apart, what was recomputed first, no number counted twice or lost


@st.composite
def judged(draw):
    """One judged row of a comparison with print."""
    verdict = draw(st.sampled_from(["match", "differs", "not reproducible"]))
    row = {"verdict": verdict, "basis": draw(st.sampled_from(verdicts.BASES))}
    if verdict == "not reproducible":
        row["lacking"] = draw(st.sampled_from(["labels", "a model", "a file", "scores", "people", "time"]))
    if verdict == "differs" and draw(st.booleans()):
        row["reachable"] = [0.0, 1.0]
    return row


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(judged(), max_size=40), min_size=2, max_size=2))
def test_the_parts_on_the_index_add_up_to_its_totals(reports):
    with tempfile.TemporaryDirectory() as folder:
        there = replace(layout(Path(folder), None), reports=Path(folder), reference=Path(folder))
        for name, rows in zip(("agreement", "ranking"), reports, strict=True):
            (there.reports / f"{name}.html").write_text("<p></p>")
            told = json.dumps(UNSOURCED | {"study": name, "data": [], "published": rows})
            (there.reports / f"{name}.json").write_text(told)
        page = index.page(there)
    rows = [row for report in reports for row in report]
    official = [row["basis"] == "official result" for row in rows]
    share = re.search(r"([\d,]+|none) of ([\d,]+) printed", page)
    assert int(share[2]) == official.count(False) if share else all(official)
    assert tally.count(reversed(rows))["bases"] == tally.count(rows)["bases"]
    if len({row["basis"] for row in rows}) < 2:
        return
    shown = pd.read_html(io.StringIO(page))[0].set_index("What the number rests on")
    whole = shown.index.str.startswith("All ")
    assert shown.iloc[:, :-1].sum(axis=1).eq(shown["all"]).all()
    assert shown.loc[~whole, "all"].sum() == len(rows)
    for verdict in ("match", "not reproducible"):
        assert shown.loc[~whole, verdict].sum() == sum(row["verdict"] == verdict for row in rows)
    if whole.any():
        parts = shown.iloc[: int(np.argmax(whole))]
        assert parts.sum().tolist() == shown[whole].iloc[0].tolist()
        assert shown.loc[whole, "all"].item() == int(share[2])
    last = shown.iloc[-1]
    assert last["all"] == official.count(True) if any(official) else last["all"] <= len(rows)


@pytest.mark.parametrize(("large", "told"), [(8, True), (5, False), (0, False)])
def test_one_table_that_holds_most_matches_is_named(large, told):
    data = {"verdict": "match", "basis": "recomputed from data"}
    rows = [data | {"paper": "P 2020", "item": "Table 9"}] * large
    rows += [data | {"paper": "P 2020", "item": f"Table {n}"} for n in range(5)]
    assert (
        any("Table 9" in sentence and f"{large}" in sentence for sentence in tally.sentences(tally.count(rows))) == told
    )


@given(st.lists(judged(), min_size=1, max_size=60))
def test_what_was_recomputed_leads_and_other_bases_never_add_to_it(rows):
    sentences = tally.sentences(tally.count(rows))
    own = [row for row in rows if row["basis"] == "recomputed from data" and row["verdict"] != "not reproducible"]
    printed = sum(row["basis"] != "official result" for row in rows)
    if printed:
        assert sentences[0].startswith(f"Recomputed from data: {len(own) or 'none'} of {printed} printed number")
    assert sum(sentence.startswith("Recomputed") for sentence in sentences) == bool(printed)
    assert tally.count(reversed(rows))["bases"] == tally.count(rows)["bases"]


def test_the_sentences_of_a_mixed_report():
    match, differs = {"verdict": "match"}, {"verdict": "differs"}
    data, prints, definition, official = ({"basis": basis} for basis in verdicts.BASES)
    gone = [data | {"verdict": "not reproducible", "lacking": cause} for cause in ["x", "x", "x", *"aabbccd"]]
    rows = [
        match | data,
        match | data,
        differs | data,
        differs | data | {"reachable": [1, 2]},
        match | prints,
        *[match | definition] * 3,
        match | official,
        differs | official,
        *gone,
    ]
    assert tally.sentences(tally.count(rows)) == [
        "Recomputed from data: 4 of 18 printed numbers (22 %); 2 match, 1 is within rounding of its inputs, 1 differs.",
        "Not recomputed: 10 (x: 3; a: 2; b: 2; c: 2; other causes: 1).",
    ]
    assert [numbers for _, numbers in tally.table(tally.count(rows))] == [
        [2, 1, 1, 10, 14],
        [1, 0, 0, 0, 1],
        [3, 0, 0, 0, 3],
        [6, 1, 1, 10, 18],
        [1, 0, 1, 0, 2],
    ]
    assert tally.bar(tally.count(rows)) == {"match": 2, "rounding": 1, "differs": 1, "rest": 14}


#: A report but for one thing: nothing says whether its data are real.
UNSOURCED = {
    "status": "ok",
    "seconds": 1,
    "study": "agreement",
    "recorded": {},
    "published": [],
    "headline": "h",
    "data": [{"name": "d"}],
}


@pytest.mark.parametrize(
    "content", ["[]", "5", "{}", '{"status": "ok"}', "[" * 5000, "\xff", '{"status": ["ok"]}', json.dumps(UNSOURCED)]
)
@pytest.mark.parametrize("name", ["agreement.json", "agreement.failed.json"])
def test_what_is_no_report_is_not_in_the_overview(name, content, tmp_path):
    there = replace(layout(tmp_path, None), reports=tmp_path, reference=tmp_path)
    (tmp_path / "agreement.html").write_bytes(b"<p>\xff</p>")
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    assert "There is no report in this folder yet." in index.page(there)
    assert findings.read_report(tmp_path / name) is None


def test_a_pipe_or_a_device_is_no_report(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("the system has no pipes with names")
    os.mkfifo(tmp_path / "agreement.json")
    (tmp_path / "ranking.json").symlink_to("/dev/zero")
    there = replace(layout(tmp_path, None), reports=tmp_path, reference=tmp_path)
    assert "There is no report in this folder yet." in index.page(there)
