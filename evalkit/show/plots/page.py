"""How much room a page gives a figure: each is drawn for a page's column, and where needed again for a phone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator

#: CSS pixels: the widest figure on a page, the widest one on a phone, the least height of its letters.
COLUMN, PHONE, LETTER = 640, 350, 9
#: Inches: a figure as wide as this, in letters of 9 points, can still be read when it is shrunk to a phone's width, so
#: that one drawing does for both. It saves a third of the time that drawing twice takes.
BOTH = 4.8
#: CSS pixels of margin around a figure, on each side.
MARGIN = 2
_INCH = 96
#: Width of a usual letter, in parts of its size; a point is 1/72 inch.
_LETTER = 0.56 / 72
#: A panel is made no narrower than this part of its drawn width, and than so many inches on a page and on a phone,
#: before panels stand below each other.
_SQUEEZE, _LEAST = 0.52, (1.2, 1.5)

_room: ContextVar[int] = ContextVar("room", default=COLUMN)
_again: WeakKeyDictionary[Figure, Callable[[], Any]] = WeakKeyDictionary()
_whole: WeakSet[Figure] = WeakSet()
_least: WeakKeyDictionary[Figure, float] = WeakKeyDictionary()


def room() -> float:
    """Return how wide a figure may be now, in inches.

    >>> with drawn_for(PHONE):
    ...     round(room(), 2)
    3.6
    """
    return (_room.get() - 2 * MARGIN) / _INCH


def narrow() -> bool:
    """Tell whether a figure is being drawn for a phone."""
    return _room.get() <= PHONE


@contextmanager
def drawn_for(pixels: int) -> Iterator[None]:
    """Draw for a page that is so many CSS pixels wide."""
    token = _room.set(pixels)
    try:
        yield
    finally:
        _room.reset(token)


def remember(figure: Figure, draw: Callable[[], Any]) -> None:
    """Keep how a figure was drawn, so that it can be drawn again for another width."""
    _again[figure] = draw


def again(figure: Figure) -> Figure:
    """Draw a figure for the room that there is now: anew where it is known how, otherwise the same one, fitted."""
    if figure in _again:
        drawn = _again[figure]()
        new: Figure = drawn.figure.get_figure(root=True)
        return new
    figure.set_layout_engine("constrained")
    fit(figure)
    return figure


def keep_grid(figure: Figure) -> Figure:
    """Say that the panels of a figure are the cells of one table, which stay where they are; return the figure."""
    _whole.add(figure)
    return figure


def keep_wide(figure: Figure, inches: float) -> None:
    """Say how wide a panel must be for what is written in it; fewer then stand side by side."""
    _least[figure] = inches


def legend(target: Axes | Figure, *handles: Any, columns: int = 2, **options: Any) -> Legend:
    """Add a legend with as many columns as the room allows; on a phone one of an ``Axes`` stands above the panel.

    handles: as of matplotlib's ``legend``. columns: side by side at most. options: as there.
    """
    if narrow() and isinstance(target, Axes) and "bbox_to_anchor" not in options:
        return above(target, columns=columns, **{name: one for name, one in options.items() if name == "handles"})
    labels = handles[1] if handles else _labels(target)
    size = 9.0 if narrow() else options.pop("fontsize", 9.0)
    options.pop("fontsize", None)
    longest = max((len(str(label)) for label in labels), default=1) * size * _LETTER + 0.55
    free = room() if isinstance(target, Figure) else room() / _grid(target)[1]
    made = target.legend(*handles, ncols=max(1, min(columns, int(free / longest))), fontsize=size, **options)
    for text in made.get_texts():
        _wrap(text, free - 0.6)
    return made


def above(axes: Axes, *, columns: int = 2, **options: Any) -> Legend:
    """Put a legend between a panel and its title; columns: side by side at most."""
    title = axes.get_title(loc="left") or None
    axes.set_title("", loc="left")
    bold = {"weight": "bold", "size": 10}
    return legend(
        axes,
        columns=columns,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        alignment="left",
        title=title,
        title_fontproperties=bold,
        **options,
    )


def _labels(target: Axes | Figure) -> list[str]:
    panels = [target] if isinstance(target, Axes) else target.axes
    return [label for axes in panels for label in axes.get_legend_handles_labels()[1]]


def fit(figure: Figure) -> None:
    """Make a figure as narrow as the room: panels move below each other, long names and titles are broken."""
    wide = figure.get_figwidth()
    if figure not in _whole and wide > room():
        _reflow(figure, panels_of(figure))
    figure.set_figwidth(min(wide, room()))
    _break_names(figure)
    _break_titles(figure)


def panels_of(figure: Figure) -> list[Axes]:
    """Return the axes that stand in a grid and show something, row by row; colour bars are none."""
    return [axes for axes in figure.axes if axes.get_subplotspec() is not None and axes.axison]


def _grid(panel: Axes) -> tuple[int, int]:
    spec = panel.get_subplotspec()
    return spec.get_gridspec().get_geometry() if spec else (1, 1)


def _reflow(figure: Figure, panels: list[Axes]) -> None:
    """Put panels side by side only as many as the room holds; where they go below each other, the figure grows."""
    if len({_grid(panel) for panel in panels}) != 1:
        return
    rows, across = _grid(panels[0])
    spec = panels[0].get_subplotspec()
    ratios = _ratios(spec.get_gridspec().get_width_ratios() if spec else None, across)
    own = 0 if _shared(panels) else max(_names_width(panel) for panel in panels)
    least = max(_SQUEEZE * figure.get_figwidth() / across, _LEAST[narrow()] + own, _least.get(figure, 0))
    fits = max(1, int(room() / least))
    if across == 1 or fits >= across or len(set(ratios)) > 1:
        return
    heights = _heights(figure, panels, rows)
    for axes in [axes for axes in figure.axes if not axes.axison and axes.get_subplotspec() is not None]:
        axes.remove()
    tall = [max(heights[start : start + fits]) for start in range(0, len(panels), fits)]
    new = GridSpec(len(tall), fits, figure=figure, height_ratios=tall)
    for place, panel in enumerate(panels):
        panel.set_subplotspec(new[place // fits, place % fits])
    figure.set_figheight(sum(tall))
    _label_edges(figure, panels, fits)


def _heights(figure: Figure, panels: list[Axes], rows: int) -> list[float]:
    """Return how high the panels are, in inches."""
    specs = [spec for panel in panels if (spec := panel.get_subplotspec())]
    ratios = _ratios(specs[0].get_gridspec().get_height_ratios(), rows)
    return [figure.get_figheight() * ratios[spec.rowspan.start] / sum(ratios) for spec in specs]


def _ratios(given: Any, count: int) -> list[float]:
    """Return a grid's ratios as numbers; it has None for equal ones."""
    return [1.0] * count if given is None else [float(ratio) for ratio in given]


def _label_edges(figure: Figure, panels: list[Axes], columns: int) -> None:
    """Name axes where they now are at an edge, and say what is the same for all panels once."""
    ylabel, xlabels = panels[0].get_ylabel(), {panel.get_xlabel() for panel in panels}
    shared = _shared(panels)
    once = len({panel.get_ylabel() for panel in panels} - {"", ylabel}) == 0
    for place, panel in enumerate(panels):
        lowest = place + columns >= len(panels)
        if lowest:
            panel.tick_params(labelbottom=True)
            if len(xlabels - {""}) == 1:
                panel.set_xlabel(max(xlabels))
        elif len(xlabels - {""}) == 1:
            panel.set_xlabel("")
        if shared:
            panel.tick_params(labelleft=place % columns == 0)
        if once:
            panel.set_ylabel(ylabel if place % columns == 0 else "")


def _shared(panels: list[Axes]) -> bool:
    """Tell whether all panels share one y-axis."""
    return all(panels[0].get_shared_y_axes().joined(panels[0], panel) for panel in panels)


def _names_width(panel: Axes) -> float:
    """Return how much room the names of a panel's rows take, in inches; numbers count as none."""
    if not isinstance(panel.yaxis.get_major_locator(), FixedLocator) or not panel.yaxis.get_tick_params()["labelleft"]:
        return 0.0
    names = [label.get_text() for label in panel.get_yticklabels()]
    letters = max((len(line) for name in names for line in name.split("\n")), default=0)
    return min(letters * 9 * _LETTER, 0.4 * room())  # longer ones are broken


def _break_names(figure: Figure) -> None:
    """Break long names of rows so that they take two fifths of the room at most; the figure grows where they do."""
    letters = int(0.4 * room() / (9 * _LETTER))
    need, names = {}, 0
    for panel in panels_of(figure):
        if not isinstance(panel.yaxis.get_major_locator(), FixedLocator):
            continue
        found = [label.get_text() for label in panel.get_yticklabels()]
        broken = ["\n".join(_lines(name, letters)) for name in found]
        if broken != found:
            panel.set_yticks(panel.get_yticks(), broken)
        spec = panel.get_subplotspec()
        names += len(broken)
        if spec:
            need[spec.rowspan.start] = 0.16 * sum(name.count("\n") + 1 for name in broken)
    most = sum(need.values()) + 0.9 * len(need)
    if (
        names
        and most > figure.get_figheight()
        and any("\n" in label.get_text() for panel in panels_of(figure) for label in panel.get_yticklabels())
    ):
        figure.set_figheight(most)


def _lines(name: str, letters: int) -> list[str]:
    """Break a name into lines, after spaces and where words of a name are joined.

    >>> _lines("a_long_name-of a system", 12)
    ['a_long_name-', 'of a system']
    """
    if "\n" in name or len(name) <= letters:
        return name.split("\n")
    lines = [""]
    for piece in re.findall(r"\S+?(?:[-_./]+|\s+|$)|\S+\s*", name):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return [part for line in lines for part in textwrap.wrap(line.rstrip(), letters + 2)]


def _break_titles(figure: Figure) -> None:
    """Break titles and names of axes that are longer than what they stand at."""
    panels = panels_of(figure)
    down, across = (max((_grid(panel)[edge] for panel in panels), default=1) for edge in (0, 1))
    aside = {panel: 0.35 + _names_width(panel) for panel in panels}
    whole, names = figure.get_figwidth(), max(aside.values(), default=0)
    for panel in [] if figure in _whole else panels:
        inside = (whole - names) / across if _shared(panels) else whole / across - aside[panel]
        for title in (panel.title, panel._left_title, panel._right_title):  # type: ignore[attr-defined]
            _wrap(title, inside - 0.1)
        name = panel.xaxis.label
        if across == 1 and _length(name) > inside and panel.get_aspect() == "auto":
            name.set(x=1, ha="right")
        _wrap(name, whole - 0.2 if across == 1 else inside)
        _wrap(panel.yaxis.label, 0.9 * figure.get_figheight() / down)
    for text in figure.texts + [one for one in (figure._supxlabel, figure._supylabel) if one is not None]:  # type: ignore[attr-defined]
        _wrap(text, figure.get_figheight() - 0.3 if text.get_rotation() else figure.get_figwidth() - 0.1)


def _length(text: Text) -> float:
    """Return about how long a text's longest line is, in inches."""
    bold = 1.15 if text.get_fontweight() == "bold" else 1.0
    return max(map(len, text.get_text().split("\n"))) * float(text.get_fontsize()) * _LETTER * bold


def _wrap(text: Text, inches: float) -> None:
    """Break a text into lines of about that length, where it is longer."""
    if text.get_text() and _length(text) > inches:
        longest = max(map(len, text.get_text().split("\n")))
        letters = max(8, int(inches / _length(text) * longest))
        text.set_text("\n".join(line for part in text.get_text().split("\n") for line in textwrap.wrap(part, letters)))


def smallest(figure: Figure | SubFigure) -> float:
    """Return the height of the smallest letters of a drawn figure, in CSS pixels."""
    shown = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    return min((float(text.get_fontsize()) for text in shown), default=12.0) * _INCH / 72
