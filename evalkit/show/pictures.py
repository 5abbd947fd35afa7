"""How a figure becomes an output: a picture with its words."""

from __future__ import annotations

import base64
import io
import os
from html import escape
from typing import TYPE_CHECKING, Any

from evalkit import DataError
from evalkit.show.style import UNTYPESET, typeset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
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
    """Lay a figure out once, and draw it with names that are longer than their axes, which a layout leaves out."""
    from matplotlib.transforms import Bbox
    from PIL.Image import open as read

    figure.set_dpi(DPI)
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    reach = Bbox.union([figure.bbox_inches, figure.get_tightbbox()]).padded(MARGIN / 96)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, bbox_inches=reach, pil_kwargs={"compress_level": 1})
    return read(drawn)


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
