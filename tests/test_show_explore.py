"""Controls and charts: reports have the plain figure; at work, figure and words follow the values of a reader."""

import base64

import pandas as pd
import pytest

from evalkit import DataError, show
from evalkit.reports import export, kernels
from evalkit.show import explore, figures, pictures

HOSTILE = "<img src=x onerror=alert(1)> datum['a'].b $x$ \\(y\\) {{signal}}"


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


def turnable():
    return {
        "pair": explore.Choice("eng-jpn", of=list(WHO)),
        "annotators": explore.Choices(["jpn1", "deu1"], of=WHO, by="pair"),
    }


def test_a_run_of_reports_shows_the_bytes_of_the_plain_figure_and_nothing_else(shown):
    explore.figure(people, **turnable(), caption="{pair}, drawn")
    show.figure(people(pair="eng-jpn", annotators=["jpn1"]), caption="eng-jpn, drawn")
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


@pytest.mark.parametrize("problem", [DataError(HOSTILE), ValueError(HOSTILE)])
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


def test_words_are_added_beside_the_picture_only_where_somebody_is_at_work(shown, monkeypatch):
    show.figure(dots([1]), alt=HOSTILE, caption="A caption.")
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    show.figure(dots([1]), alt=HOSTILE, caption=HOSTILE)
    (report, _), (lab, _), (words, _) = shown
    assert lab["image/png"] == report["image/png"]
    assert base64.b64decode(lab["image/png"]).startswith(b"\x89PNG")
    assert lab["text/html"].startswith('<img alt="&lt;img src=x')
    assert "<img" not in words["text/html"]
    assert "&lt;img" in words["text/html"]
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "VBox()"}
    assert list(export.displayed({"data": widget}, None)) == [], "pages leave controls out"
