"""How a figure becomes an output: a picture with its words, and for a person at work a chart to hover over."""

from __future__ import annotations

import base64
import io
import os
from html import escape
from typing import TYPE_CHECKING, Any

from evalkit import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Pixels of a picture per CSS pixel of a page, so that letters are sharp on fine screens, too.
FINE = 2


def picture(
    drawn: Axes | Figure, *, caption: str, alt: str | None = None, hover: dict[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a figure as an output's data and metadata, and close it; options as in ``show.figure``."""
    import matplotlib.pyplot as plt

    figure = drawn.figure.get_figure(root=True)
    alt = (figure.get_label() if alt is None else alt).strip()
    if not alt:
        raise DataError("A figure needs alt text: say in a sentence what it shows, by plots.describe or alt=.")
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=96 * FINE, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)  # or Jupyter would show it a second time
    width = int.from_bytes(png.getvalue()[16:20], "big") // FINE  # the width stands in a PNG's header
    encoded = base64.b64encode(png.getvalue()).decode()
    data: dict[str, Any] = {"image/png": encoded, "text/plain": f"{caption}\n{alt}"}
    described: dict[str, Any] = {"image/png": {"alt": alt, "caption": caption, "width": width}}
    if hover is not None and live():
        from evalkit.show.plots import hover as charts

        data[charts.MIME], described[charts.MIME] = hover, charts.EMBEDDED
    elif live():  # JupyterLab shows a PNG without its alternative text, so it is told as HTML, which it prefers
        data["text/html"] = f'<img alt="{escape(alt)}" width="{width}" src="data:image/png;base64,{encoded}">'
    return data, described


def words(described: dict[str, Any]) -> dict[str, str]:
    """Return an output with a figure's caption, and below it, folded, what the figure shows, in words.

    described: the figure's metadata, as ``picture`` returns it.
    """
    alt, caption = described["image/png"]["alt"], described["image/png"]["caption"]
    folded = f"<details><summary>In words</summary><p>{escape(alt)}</p></details>"
    return {"text/html": f"<p><em>{escape(caption)}</em></p>{folded}", "text/plain": f"{caption}\n{alt}"}


def live() -> bool:
    """Tell whether a person is at work here: Jupyter's server names a notebook's session, a run of reports does not."""
    return bool(os.environ.get("JPY_SESSION_NAME"))
