"""The decision chart: what a person has, what they want to know, and which study to open, from top to bottom."""

from __future__ import annotations

import textwrap
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from evalkit.show.figures import INK, LIGHT, describe, house, literal

#: Width of the picture and height of a line of text, in inches: on a telephone it is hardly made smaller.
_WIDTH, _LINE = 4.2, 0.185
_CHARACTERS = {"have": 38, "want": 40}


@house
def decision_chart(ways: pd.DataFrame) -> Figure:
    """Draw a trunk with a grey box for each kind of data, and under it the questions, each with its study in black.

    ways: columns have, want, study, a row per question; rows of one kind follow one another. The picture is black
    and white, and narrow enough for a telephone. Raises nothing for long texts: they are broken into lines.
    """
    steps = _steps(ways)
    height = sum(step["height"] for step in steps) + 0.55
    figure = plt.figure(figsize=(_WIDTH, height), layout="none")  # every place is computed here
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, _WIDTH), ylim=(height, 0))
    axes.set_axis_off()
    text: dict[str, Any] = {"color": INK, "va": "center", "fontsize": 11}
    axes.text(0.1, 0.24, "What do you have?", weight="bold", **(text | {"fontsize": 13}))
    top, trunk, branch, lowest = 0.5, 0.2, 0.55, 0.5
    for step in steps:
        middle = top + step["height"] / 2
        if step["kind"] == "have":
            box = {"boxstyle": "round,pad=0.35", "facecolor": LIGHT, "edgecolor": INK}
            axes.text(trunk + 0.25, middle, step["text"], weight="bold", bbox=box, **text)
            axes.plot([trunk, trunk + 0.15], [middle] * 2, color=INK, lw=1.5)
            lowest = middle
        elif step["kind"] == "want":
            axes.text(branch, middle, step["text"], **text)
        else:
            box = {"boxstyle": "square,pad=0.3", "facecolor": INK, "edgecolor": INK}
            arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.5}
            axes.annotate("", (branch + 0.42, middle), (branch + 0.04, middle), arrowprops=arrow)
            axes.text(branch + 0.5, middle, step["text"], bbox=box, weight="bold", **(text | {"color": "white"}))
        top += step["height"]
    axes.plot([trunk, trunk], [0.4, lowest], color=INK, lw=1.5, zorder=0)
    return describe(figure, in_words(ways))


def in_words(ways: pd.DataFrame) -> str:
    """Say the whole chart in words, for people who do not see it. ways: as for ``decision_chart``.

    >>> in_words(pd.DataFrame([("Scores", "Do they agree?", "agreement"), ("Scores", "Which rank", "ranking")],
    ...                       columns=["have", "want", "study"]))
    'What do you have? Scores: Do they agree? Open agreement. Which rank: open ranking.'
    """
    sentences = []
    for have, rows in ways.groupby("have", sort=False):
        asked = (
            f"{row.want} Open {row.study}." if row.want.endswith("?") else f"{row.want}: open {row.study}."
            for row in rows.itertuples()
        )
        sentences.append(f"{have}: {' '.join(asked)}")
    return f"What do you have? {' '.join(sentences)}"


def _steps(ways: pd.DataFrame) -> list[dict]:
    """List the boxes and texts from top to bottom, each with its lines and its height in inches."""
    steps = []
    for have, rows in ways.groupby("have", sort=False):
        steps.append(_step("have", have, 0.34))
        for row in rows.itertuples():
            steps += [_step("want", row.want, 0.1), _step("study", row.study, 0.2)]
    return steps


def _step(kind: str, words: str, margin: float) -> dict:
    """Break a text into lines and say how high it is with its margin."""
    lines = textwrap.wrap(str(words), _CHARACTERS[kind]) if kind in _CHARACTERS else [str(words)]
    return {"kind": kind, "text": literal("\n".join(lines)), "height": _LINE * len(lines) + margin}
