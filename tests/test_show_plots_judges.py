"""Pictures of people and metrics: they draw what the table has, and say it in words."""

import pandas as pd
import pytest

from evalkit.show.plots import judges, page


@pytest.mark.parametrize("width", [page.COLUMN, page.PHONE])
def test_contestants_stand_from_best_to_worst_and_kinds_have_markers_of_their_own(width):
    rows = [
        ("ESA-1", "one person", 0.5),
        ("a + b", "two people", 0.6),
        ("length", "knows nothing", 0.1),
        *((f"m{n}", "metric", 0.9 - n / 10) for n in range(8)),
    ]
    table = pd.DataFrame(rows, columns=["contestant", "kind", "value"])
    table = table.assign(low=table["value"] - 0.05, high=table["value"] + 0.05)
    with page.drawn_for(width):
        figure = judges.ceiling(table, statistic="SPA", gold="MQM", names={"ESA-1": "ESA one"}, most=3)
    [axes] = figure.axes
    written = [label.get_text() for label in axes.get_yticklabels()]
    assert written == ["m0", "m1", "a + b", "ESA one", "m7", "length"]
    assert {line.get_marker() for line in axes.lines} >= {"o", "s", "D", "X"}
    assert {text.get_text() for text in axes.texts} == {"metric", "one person", "two people", "knows nothing"}
    assert "5 metrics between the others are left out" in figure.get_label()


def test_judges_are_told_from_people_and_savings_in_per_cent():
    table = pd.DataFrame(
        {
            "data": ["x", "x", "y"],
            "judge": ["MQM-1", "m", "m"],
            "kind": ["people", "metric", "metric"],
            "winning_rate": [0.2, 0.9, 0.7],
        }
    )
    figure = judges.replacing(table, epsilon=0.15, names={})
    assert [one.get_text() for one in figure.axes[0].get_yticklabels()] == ["m", "MQM-1  (people)"]
    assert "m 0.90 (x)" in figure.get_label()
    saves = pd.DataFrame(
        {
            "metric": ["m", "m", "k", "k"],
            "saved": [0.5, 0.2, 0.6, 0.1],
            "what": ["mean of a system", "difference of two systems"] * 2,
        }
    )
    saves = saves.assign(lowest=0.0, highest=saves["saved"] + 0.1)
    figure = judges.saved(saves, most=1)
    assert [one.get_text() for one in figure.axes[0].get_yticklabels()] == ["m"]
    assert "20% of the judgements for differences" in figure.get_label()
