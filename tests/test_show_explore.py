"""Controls and charts: reports have the plain figure; at work, figure and words follow the values of a reader."""

import base64
import json

import ipywidgets
import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, show
from evalkit.data.schemas import with_pair
from evalkit.human.calibration import PAPER
from evalkit.reports import export, kernels
from evalkit.show import explore, pictures
from evalkit.show.plots import annotators as draw_people
from evalkit.show.plots import hover, views
from evalkit.stats import agreement

HOSTILE = "<img src=x onerror=alert(1)> datum['a'].b $x$ \\(y\\) {{signal}}"


@pytest.fixture
def ratings():
    """Two language pairs, four annotators each, who judge the same twelve items."""
    rng = np.random.default_rng(5)
    rows = [
        (pair, f"{pair}{person}", item, float(np.clip(60 + 3 * item + rng.normal(0, 12), 0, 100)))
        for pair in ("deu", "jpn")
        for person in "abcd"
        for item in range(12)
    ]
    frame = pd.DataFrame(rows, columns=["tgt_lang", "annotator", "segment", "score"])
    frame.attrs["scale"] = (0, 100)
    return frame.assign(src_lang="eng", system="s", doc="d", item_type="calibration")


@pytest.fixture
def extremes(ratings):
    return agreement.correlation_extremes(agreement.correlations(ratings))


class Place:
    """What IPython gives for an output that can be put anew."""

    def __init__(self, outputs, number):
        self.outputs, self.number = outputs, number

    def update(self, data, metadata=None, raw=False):
        self.outputs[self.number] = (data, metadata)


@pytest.fixture
def shown(monkeypatch):
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
def at_work(shown, monkeypatch):
    """Say, as Jupyter's server does, that somebody has this notebook open."""
    monkeypatch.setenv("JPY_SESSION_NAME", "studies/a.ipynb")
    return shown


def turnable(ratings):
    who = with_pair(ratings).groupby("pair")["annotator"].unique().map(list).to_dict()
    return {
        "pair": explore.Choice("eng-jpn", of=list(who)),
        "annotators": explore.Choices([], of=who, by="pair"),
    }


def opened(ratings, extremes, outputs):
    """Open the grid of scores at work; return its two controls and the line for messages."""
    explore.figure(views.score_grid, ratings, extremes, **turnable(ratings))
    [(box, _), *_] = outputs
    assert isinstance(box, ipywidgets.VBox)
    return box.children


def test_a_run_of_reports_shows_the_bytes_of_the_plain_figure_and_nothing_else(ratings, extremes, shown):
    explore.figure(views.score_grid, ratings, extremes, **turnable(ratings))
    here = ratings[ratings["tgt_lang"] == "jpn"]
    chosen = agreement.extreme_annotators(extremes, "eng-jpn")
    described = views.score_grid(ratings, extremes, pair="eng-jpn")
    show.figure(draw_people.score_grid(here, chosen), caption=described.caption)
    assert len(shown) == 2
    assert shown[0] == shown[1]
    assert {"image/png", "text/plain"} <= set(shown[0][0])
    assert "text/html" not in shown[0][0]


def test_kernels_of_a_run_are_nobodys_session_even_where_a_notebook_starts_the_run(monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", "studies/a.ipynb")
    assert pictures.live()
    with kernels.Kernels() as run:
        monkeypatch.setenv("JPY_SESSION_NAME", run.env["JPY_SESSION_NAME"])
    assert not pictures.live()


def test_a_turned_control_draws_another_figure_whose_words_follow(ratings, extremes, at_work):
    pair, annotators, message = opened(ratings, extremes, at_work)
    label, *boxes = annotators.children
    assert (pair.description, label.value) == ("pair", "annotators")
    assert [box.description for box in boxes] == ["jpna", "jpnb", "jpnc", "jpnd"]
    ticked = [box.description for box in boxes if box.value]
    assert sorted(ticked) == sorted(agreement.extreme_annotators(extremes, "eng-jpn")), "ticked is what is drawn"
    before, told = at_work[1], at_work[2][0]["text/html"]
    pair.value = "eng-deu"
    after = at_work[1]
    assert after[0]["image/png"] != before[0]["image/png"]
    assert "eng-deu" in after[1]["image/png"]["caption"]
    assert at_work[2][0]["text/html"] != told
    assert after[1]["image/png"]["alt"] in at_work[2][0]["text/html"]
    boxes = annotators.children[1:]
    extreme = agreement.extreme_annotators(extremes, "eng-deu")
    expected = [(f"deu{person}", f"deu{person}" in extreme) for person in "abcd"]
    assert [(box.description, box.value) for box in boxes] == expected
    for place, box in enumerate(boxes):
        box.value = place in (0, 2)
    assert "deua, deuc" in at_work[1][1]["image/png"]["alt"]
    boxes[0].value = boxes[2].value = False  # nobody is left: the extremes again, drawn and ticked
    assert [(box.description, box.value) for box in boxes] == expected
    assert message.value == ""
    assert len(at_work) == 3, "nothing is shown a second time"


@pytest.mark.parametrize("problem", [DataError(HOSTILE), ValueError(HOSTILE)])
def test_a_problem_is_one_sentence_under_the_controls_and_the_figure_stays(problem, at_work):
    def view(*, level):
        if level > 1:
            raise problem
        return views.what_if(raw=4.2, calibration_mean=2.4, reference_mean=4.3, standard=PAPER)

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


def test_the_notebooks_own_values_are_refused_as_in_a_report_or_kept(ratings, extremes, at_work):
    with pytest.raises(DataError, match="no such language pair"):
        explore.figure(views.score_grid, ratings, extremes, pair=explore.Choice("eng-xxx", of=["eng-deu"]))
    assert at_work == []
    given = {"raw": explore.Range(4.2, low=1, high=4, step=0.1), "calibration_mean": 2.4, "reference_mean": 4.3}
    explore.figure(views.what_if, standard=PAPER, **given)
    assert at_work[0][0].children[0].value == 4.2, "outside what is offered"


def every(node):
    """Yield every dictionary in a specification."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from every(inner)


@pytest.mark.parametrize("build", ["intervals", "points"])
def test_texts_from_data_are_values_and_never_fields_or_expressions(build):
    frame = pd.DataFrame({"who": ["a", HOSTILE], HOSTILE: [0.25, 0.5], "low": [0.1, np.nan], "high": [0.4, 0.6]})
    names = {"who": HOSTILE, HOSTILE: HOSTILE, "low": "from", "high": "to"}
    if build == "intervals":
        spec = hover.intervals(frame, alt=HOSTILE, label="who", value=HOSTILE, low="low", high="high", names=names)
    else:
        spec = hover.points(frame, alt=HOSTILE, x=HOSTILE, y="low", label="who", names=names)
    json.dumps(spec, allow_nan=False)
    own = {f"f{number}" for number in range(len(names))}
    for node in every(spec):
        assert not {"expr", "signal", "calculate", "filter", "labelExpr", "url", "href", "param", "params"} & set(node)
        assert node.get("field", "f0") in own
    first, second = spec["data"]["values"]
    assert [*first.values()] == ["a", 0.25, 0.1, 0.4], "a chart holds the table's numbers"
    assert [*second.values()] == [HOSTILE, 0.5, None, 0.6], "gaps stay gaps, and texts are told in full"


def test_hover_and_words_are_added_beside_the_picture_only_where_somebody_is_at_work(shown, monkeypatch):
    def drawn():
        return views.what_if(raw=4.2, calibration_mean=2.4, reference_mean=4.3, standard=PAPER).figure

    spec = {"a": "chart"}
    show.figure(drawn(), alt=HOSTILE, caption="A caption.")
    show.figure(drawn(), alt=HOSTILE, caption="A caption.", hover=spec)
    assert shown[0] == shown[1]
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    show.figure(drawn(), alt=HOSTILE, caption="A caption.")
    show.figure(drawn(), alt=HOSTILE, caption=HOSTILE, hover=spec)
    (report, _), _, (lab, _), _, (data, described), (words, _) = shown
    assert data[hover.MIME] == spec
    assert data["image/png"] == lab["image/png"] == report["image/png"]
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert not described[hover.MIME]["embed_options"]["actions"]["editor"], "no link to other sites"
    assert lab["text/html"].startswith('<img alt="&lt;img src=x')
    assert "<img" not in words["text/html"]
    assert "&lt;img" in words["text/html"]
    [block] = export.displayed({"data": data, "metadata": described}, None)
    assert "<img " in block["data"]["text/html"], "a page takes the picture from beside a chart"
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "VBox()"}
    assert list(export.displayed({"data": widget}, None)) == [], "and leaves controls out"
