"""How a figure becomes an output: a picture with its words."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from evalkit import DataError
from evalkit.show.style import UNTYPESET, typeset

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from PIL.Image import Image

#: Pixels of a picture per CSS pixel of a page, so that letters are sharp on fine screens, too.
FINE = 2
DPI = 96 * FINE
#: CSS pixels of margin around a figure, on each side.
MARGIN = 2


def picture(drawn: Axes | Figure, *, caption: str, alt: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a figure as an output's data and metadata, and close it; options as in ``show.figure``."""
    import matplotlib.pyplot as plt

    figure = drawn.figure.get_figure(root=True)
    alt = str(figure.get_label() if alt is None else alt).strip()
    if not alt:
        raise DataError("A figure needs alt text: say in a sentence what it shows, by figures.describe or alt=.")
    image = _drawn(figure)
    plt.close(figure)  # or Jupyter would show it a second time
    encoded, width, height = base64.b64encode(_png(image)).decode(), image.width // FINE, image.height // FINE
    data: dict[str, Any] = {"image/png": encoded, "text/plain": f"{caption}\n{alt}"}
    described: dict[str, Any] = {"image/png": {"alt": alt, "caption": caption, "width": width, "height": height}}
    if live():  # JupyterLab shows a PNG without its alternative text, so it is told as HTML, which it prefers
        data["text/html"] = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{encoded}">'
    return data, described


def words(described: dict[str, Any]) -> dict[str, str]:
    """Return an output with a figure's caption, and below it, folded, what the figure shows, in words.

    described: the figure's metadata, as ``picture`` returns it.
    """
    alt, caption = described["image/png"]["alt"], described["image/png"]["caption"]
    folded = f"<details><summary>In words</summary><p>{escape(typeset(alt))}</p></details>"
    html = f'<div class="{UNTYPESET}"><p><em>{escape(typeset(caption))}</em></p>{folded}</div>'
    return {"text/html": html, "text/plain": f"{caption}\n{alt}"}


def live() -> bool:
    """Tell whether a person is at work here: Jupyter's server names a notebook's session, a run of reports does not."""
    return bool(os.environ.get("JPY_SESSION_NAME"))


def _drawn(figure: Figure) -> Image:
    """Lay a figure out once and draw it once; ``savefig`` would draw it twice, and lay out a tight one twice more."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL.Image import fromarray
    from PIL.Image import open as read
    from PIL.ImageOps import expand

    margin = MARGIN * FINE
    figure.set_dpi(DPI)
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    reach = _reach(figure)
    if reach.width > figure.bbox.width or reach.height > figure.bbox.height:  # names stick out
        drawn = io.BytesIO()
        inches = reach.transformed(figure.dpi_scale_trans.inverted()).padded(margin / DPI)
        figure.savefig(drawn, format="png", dpi=DPI, bbox_inches=inches, pil_kwargs={"compress_level": 1})
        return read(drawn)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return expand(fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"), border=margin, fill="white")


def _reach(figure: Figure) -> Bbox:
    """Return what to draw, in pixels: the figure, and names longer than their axes, which a layout leaves out."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    def boxes(artists: Iterable[Artist]) -> list[Bbox]:
        return [one.get_window_extent() for one in artists if not isinstance(one, Text) or one.get_text()]

    titles = [one for axes in figure.axes for one in axes.get_children() if isinstance(one, Text)]
    across = boxes([*figure.texts, *figure.legends, *titles, *(axes.xaxis.label for axes in figure.axes)])
    up = boxes(axes.yaxis.label for axes in figure.axes)
    whole = figure.bbox
    left, right = min([whole.x0, *(box.x0 for box in across)]), max([whole.x1, *(box.x1 for box in across)])
    low, high = min([whole.y0, *(box.y0 for box in up)]), max([whole.y1, *(box.y1 for box in up)])
    return Bbox.from_extents(left, low, right, high)


def _png(image: Image) -> bytes:
    """Return a picture as PNG of at most 256 colours, a quarter of the size.

    Each channel keeps 18 levels, black and white among them, so that the many shades at the edges of letters and lines
    become few; no colour moves by more than 7 of 255.
    """
    from PIL.Image import Dither, Quantize

    levels = [15 * round(value / 15) for value in range(256)]
    few = image.convert("RGB").point(levels * 3)
    png = io.BytesIO()
    few = few.quantize(256, method=Quantize.MAXCOVERAGE, dither=Dither.NONE)
    few.save(png, format="png", compress_level=7)  # higher levels take five times as long for a twentieth
    return png.getvalue()
