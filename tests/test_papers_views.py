"""Figures of papers that a reader may turn: at first as in the report; turned, picture and words follow the table."""

from itertools import product

import pandas as pd
import pytest

from evalkit import DataError, show
from evalkit.papers import views
from evalkit.show import explore
from tests.makers import read

POWERS = read("""
    protocol kappa points power
    XSTS 0.7 0.0 0.0
    XSTS 0.7 0.1 0.8
    XSTS 0.7 0.2 1.0
    RAW 0.4 0.0 0.0
    RAW 0.4 0.1 0.6
    RAW 0.4 0.2 0.85""")
AVERAGED = pd.DataFrame(
    product(["X-EN", "EN-X", "both"], ["these languages", "other languages"]), columns=["direction", "about"]
).assign(protocol_a="XSTS", protocol_b="RAW", difference=0.1, low=-0.1, high=0.3)
AVERAGED["survives"] = [True, *[False] * 5]
LABELLED = read(
    """
    src_lang dimension label z
    ces adequacy Contradiction 0.25
    ces fluency Good 0.25
    deu adequacy Contradiction 0.75
    deu fluency Good 0.75""",
    annotator="A",
)
NORMAL = pd.DataFrame(
    [(language, "BLEU", value) for language, share in (("ml", 1), ("ta", 3)) for value in [0.1] * share + [0.9] * 4],
    columns=["language", "metric", "value"],
)
BOXES = pd.DataFrame({"language": ["ml", "ta"], "metric": "BLEU", "bucket": "0-5", "n": 9, "median": [11.0, 22.0]})
BOXES = BOXES.assign(q1=5.0, q3=30.0, p5=1.0, p95=40.0)
METHODS = ["independent pairs", "clustered by annotator", "clustered by document"]
EFFECTS = pd.DataFrame(
    {"scale": "raw", "data": "WMT21", "method": METHODS, "estimate": [0.5, 0.6, 0.7], "low": 0.1, "high": 0.9}
)


@pytest.fixture
def outputs(monkeypatch):
    """Collect what is shown to somebody who has the notebook open."""
    found = []

    class Place:
        def __init__(self):
            self.number = len(found) - 1

        def update(self, data, metadata=None, raw=False):
            found[self.number] = (data, metadata)

    def display(data, metadata=None, raw=False, display_id=None):
        found.append((data, metadata))
        return Place() if display_id else None

    monkeypatch.setattr(show, "display", display)
    monkeypatch.setattr(explore, "display", display)
    monkeypatch.setenv("JPY_SESSION_NAME", "studies/a.ipynb")
    return found


WANTED = {"wanted_power": explore.Range(0.8, 0.5, 0.95, 0.05)}
BY_DIRECTION = {"direction": explore.Choice("both", of=["X-EN", "both"])}
BY_LANGUAGE = {"src_lang": explore.Choice("all", of=["deu"]), "dimension": "adequacy"}
AT_80 = "They reach 0.8 between 0.10 and 0.18"


@pytest.mark.parametrize(
    ("view", "table", "turned", "value", "before", "after"),
    [
        (views.power_curves, POWERS, WANTED, 0.5, AT_80, "They reach 0.5 between 0.06 and 0.08"),
        (views.average_differences, AVERAGED, BY_DIRECTION, "X-EN", "languages 0 of 1", "languages 1 of 1"),
        (views.da_ridges, LABELLED, BY_LANGUAGE, "deu", "Contradiction 0.50", "Contradiction 0.75"),
        (views.spread, NORMAL, {"language": explore.Choice("ta", of=["ml", "ta"])}, "ml", "BLEU 43%", "BLEU 20%"),
        (views.buckets, BOXES, {"language": explore.Choice("ml", of=["ml", "ta"])}, "ta", "0-5 11", "0-5 22"),
    ],
)
def test_a_turned_value_redraws_the_picture_and_its_words(view, table, turned, value, before, after, outputs):
    explore.figure(view, table, **turned)
    control, *_, message = outputs[0][0].children
    drawn, told = outputs[1]
    assert before in told["image/png"]["alt"]
    control.value = value
    assert message.value == ""
    again, words = outputs[1]
    assert after in words["image/png"]["alt"]
    assert again["image/png"] != drawn["image/png"]


def test_methods_are_ticked_and_none_stands_for_all(outputs):
    explore.figure(views.effect_forest, EFFECTS, methods=explore.Choices(METHODS[:1], of=METHODS))
    _, *boxes = outputs[0][0].children[0].children
    assert [box.value for box in boxes] == [True, False, False]
    assert "Independent pairs: WMT21 +0.50" in outputs[1][1]["image/png"]["alt"]
    boxes[1].value = True
    assert "Clustered by annotator: WMT21 +0.60" in outputs[1][1]["image/png"]["alt"]
    boxes[0].value = boxes[1].value = False
    assert [box.value for box in boxes] == [True, True, True]


def test_a_source_language_that_is_not_there_is_named():
    with pytest.raises(DataError, match=r"xxx: no such .* ces, deu"):
        views.da_ridges(LABELLED, dimension="adequacy", src_lang="xxx")
