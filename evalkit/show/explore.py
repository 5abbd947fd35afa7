"""Controls for a person at work in JupyterLab: turn a value, and one figure is drawn anew.

A notebook says which values may be turned; a run of reports shows the same figure at the notebook's own values, as
``show.figure`` would, without controls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from IPython.display import display
from matplotlib.figure import Figure

from evalkit import DataError, show
from evalkit.show import lab, pictures
from evalkit.stats.terms import display_name

__all__ = ["Choice", "Choices", "Range", "at_first", "figure"]


def __dir__() -> list[str]:
    """Offer what notebooks call, and no imports, where somebody presses Tab."""
    return __all__


@dataclass(frozen=True)
class Choice:
    """One value from a list, as a drop-down menu.

    value: chosen at first. of: what there is to choose.
    """

    value: Any
    of: Sequence[Any]


@dataclass(frozen=True)
class Choices:
    """Several values from a list, as boxes to tick: in JupyterLab the keyboard cannot mark lines of a list.

    value: chosen at first. of: what there is to choose, for each value of the control ``by``.
    """

    value: Sequence[Any]
    of: Mapping[Any, Sequence[Any]]
    by: str


@dataclass(frozen=True)
class Range:
    """A number between two ends, as a field with arrows: unlike a slider, it tells screen readers its name.

    value: at first. low, high: the ends. step: from one value to the next.
    """

    value: float
    low: float
    high: float
    step: float = 1.0


Control = Choice | Choices | Range


def figure(draw: Callable[..., Figure], *tables: Any, caption: str = "", **values: Any) -> None:
    """Show a figure at the notebook's values; where a person is at work, with controls that draw it anew.

    draw: a function that draws ``tables`` for some values, such as one of a cell; work it out beforehand, because
    turning a control only draws. caption: may name values in braces. values: the function's options; a ``Choice``,
    ``Choices`` or ``Range`` among them may be turned.
    Raises DataError where the notebook's own values cannot be drawn. A problem met later is told under the controls.
    """
    drawn = draw(*tables, **at_first(values))
    if pictures.live() and any(isinstance(value, Control) for value in values.values()):
        _Panel(partial(draw, *tables), caption, values).open(drawn)
    else:
        show.figure(drawn, caption=caption.format(**at_first(values)))


def at_first(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values: for each control, the one that the notebook gives it.

    >>> at_first({"pair": Choice("eng-jpn", of=["eng-deu", "eng-jpn"]), "unit": "points"})
    {'pair': 'eng-jpn', 'unit': 'points'}
    """
    return {name: value.value if isinstance(value, Control) else value for name, value in values.items()}


class _Panel:
    """Controls above a figure. The figure is an output of its own, so a saved notebook keeps it as a picture."""

    def __init__(self, draw: Callable[..., Figure], caption: str, values: Mapping[str, Any]) -> None:
        self.draw, self.caption, self.values = draw, caption, dict(values)
        self.controls: dict[str, Any] = {}
        for name, control in values.items():
            if isinstance(control, Choices):
                self.controls[name] = _Boxes(name, control, values, partial(self.turn, name))
            elif isinstance(control, (Choice, Range)):
                self.controls[name] = _Field(name, control, partial(self.turn, name))

    def open(self, drawn: Figure) -> None:
        """Show the controls, and the figure below them."""
        import ipywidgets

        self.message = ipywidgets.HTML(layout={"max_width": "600px"})
        display(ipywidgets.VBox([*(control.shown for control in self.controls.values()), self.message]))
        data, described = self.painted(drawn, at_first(self.values))
        self.picture = display(data, metadata=described, raw=True, display_id=True)
        self.words = display(pictures.words(described), raw=True, display_id=True)

    def painted(self, drawn: Figure, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a figure as an output's data and metadata."""
        return pictures.picture(drawn, caption=self.caption.format(**values))

    def turn(self, name: str) -> None:
        """Answer a turned control: offer what now is to choose elsewhere, then put a new picture in the figure's place.

        Where there is none to draw, the figure stays, and a sentence under the controls, also for screen readers, says
        why.
        """
        for other, control in self.values.items():
            if isinstance(control, Choices) and control.by == name:
                self.controls[other].offer(control.of.get(self.controls[name].value, ()))
        now = at_first(self.values) | {name: control.value for name, control in self.controls.items()}
        try:
            data, described = self.painted(self.draw(**now), now)
        except Exception as problem:  # a person who turns a control has no cell in which a traceback could appear
            told = str(problem) if isinstance(problem, DataError) else f"{type(problem).__name__}: {problem}"
            self.message.value = f'<p role="alert">The figure still shows the values before. {escape(told)}</p>'
        else:
            self.message.value = ""
            self.picture.update(data, metadata=described, raw=True)
            self.words.update(pictures.words(described), raw=True)


class _Field:
    """A drop-down menu or a field for a number; the notebook's own value is always among those offered."""

    def __init__(self, name: str, control: Choice | Range, heard: Callable[[], None]) -> None:
        import ipywidgets

        shared: dict[str, Any] = {"description": display_name(name), "style": {"description_width": "initial"}}
        if isinstance(control, Range):
            low, high = min(control.low, control.value), max(control.high, control.value)
            field = ipywidgets.BoundedIntText if isinstance(control.value, int) else ipywidgets.BoundedFloatText
            shared |= {"min": low, "max": high, "step": control.step, "tooltip": f"a number from {low:g} to {high:g}"}
            self.shown = field(control.value, **shared)
        else:
            offered = list(dict.fromkeys([*control.of, control.value]))
            shared["tooltip"] = "the space bar opens the list, arrows and Enter choose"
            self.shown = ipywidgets.Dropdown(options=offered, value=control.value, **shared)
        self.shown.observe(lambda change: heard(), names="value")

    @property
    def value(self) -> Any:
        return self.shown.value


class _Boxes:
    """A box to tick for each value that can be chosen."""

    def __init__(self, name: str, control: Choices, values: Mapping[str, Any], heard: Callable[[], None]) -> None:
        import ipywidgets

        self.heard = heard
        self.title = ipywidgets.Label(display_name(name))
        self.shown = ipywidgets.HBox(layout={"flex_flow": "row wrap", "max_width": "900px"})
        self.offer([*control.of.get(at_first(values)[control.by], ()), *control.value], ticked=control.value)

    def offer(self, values: Sequence[Any], *, ticked: Sequence[Any] = ()) -> None:
        """Offer these values in place of those before."""
        import ipywidgets

        for box in self.shown.children[1:]:
            box.close()
        style = {"indent": False, "layout": {"width": "auto", "margin": "2px 14px 2px 2px"}}
        self.boxes = {
            value: ipywidgets.Checkbox(value in ticked, **lab.label(value), **style) for value in dict.fromkeys(values)
        }
        for box in self.boxes.values():
            box.observe(lambda change: self.heard(), names="value")
        self.shown.children = [self.title, *self.boxes.values()]

    @property
    def value(self) -> list[Any]:
        return [value for value, box in self.boxes.items() if box.value]
