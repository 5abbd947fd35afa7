"""Names written beside lines, so that nobody must match a legend's marks with those of a panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

from evalkit.show.plots import GREY, readable

#: Letters of names beside lines, in points; the height of a line of them and the width of a letter, in inches.
_SIZE = 9
_HIGH, _WIDE = 1.3 * _SIZE / 72, 0.6 * _SIZE / 72
#: The part of a figure's height and width that its panels have at least, beside titles and names of axes.
_PANEL = 0.66

#: A name, safe in a figure (``literal``), where its line is (x, y in data), and the line's colour.
Named = tuple[str, float, float, str]


def name_ends(axes: Axes, lines: Iterable[Named], *, rows: int = 1) -> None:
    """Write each line's name right of the panel, as high as its end or, where ends are close, as near as there is room.

    lines: names with the last point of each. rows: how many panels the figure has below each other.
    A name that had to move is joined with its line. Call it when the limits of the axes stand.
    """
    named = sorted(lines, key=lambda one: _height(axes, one))
    figure = axes.get_figure(root=True)
    inches = _PANEL * (figure.get_figheight() if figure else 1) / rows
    ends = [_height(axes, one) for one in named]
    places = spread(ends, [_HIGH * (name.count("\n") + 1) / inches for name, *_ in named])
    for (name, x, y, colour), end, place in zip(named, ends, places, strict=True):
        joint = {"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 1} if place != end else None
        axes.annotate(
            name,
            (x, y),
            (1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize=_SIZE,
            color=readable(colour),
            arrowprops=joint,
            annotation_clip=False,
        )


def name_on_lines(axes: Axes, lines: Iterable[Named]) -> bool:
    """Write short names on lines, on a ground of their own; False, and nothing is written, where two would collide.

    lines: names with the point of each where the name stands.
    """
    named = list(lines)
    figure = axes.get_figure(root=True)
    wide, high = (_PANEL * size for size in figure.get_size_inches()) if figure else (1.0, 1.0)
    axes.get_xlim(), axes.get_ylim()  # the limits of what has been drawn until now
    points = (axes.transScale + axes.transLimits).transform([(x, y) for _, x, y, _ in named]) * (wide, high)
    for place, one in enumerate(named):
        for other in range(place):
            across, down = np.abs(points[place] - points[other])
            if across < _WIDE * (len(one[0]) + len(named[other][0]) + 2) / 2 and down < _HIGH:
                return False
    for name, x, y, colour in named:
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(x, y, name, ha="center", va="center", fontsize=_SIZE, color=readable(colour), bbox=ground)
    return True


def spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Move places apart until each has the room that it needs around it, as little as can be in squares.

    wanted: in rising order; sizes: how much each takes, half of it on either side.

    >>> spread([0.0, 0.5, 0.6], [0.2, 0.2, 0.2])
    [0.0, 0.45, 0.65]
    """
    before = np.concatenate([[0.0], np.cumsum([(one + other) / 2 for one, other in pairwise(sizes)])])
    blocks: list[tuple[float, int]] = []  # the mean of a run of neighbours that touch, and how many they are
    for value in np.asarray(wanted, dtype=float) - before[: len(wanted)]:
        mean, number = float(value), 1
        while blocks and blocks[-1][0] > mean:
            earlier, count = blocks.pop()
            mean, number = (earlier * count + mean * number) / (count + number), count + number
        blocks.append((mean, number))
    means = np.repeat([mean for mean, _ in blocks], [number for _, number in blocks])
    return [round(float(place), 9) for place in means + before[: len(wanted)]]


def _height(axes: Axes, one: Named) -> float:
    """Return how high a point is in its panel: 0 at the bottom, 1 at the top."""
    axes.get_xlim(), axes.get_ylim()  # the limits of what has been drawn until now
    return round(float((axes.transScale + axes.transLimits).transform((one[1], one[2]))[1]), 9)
