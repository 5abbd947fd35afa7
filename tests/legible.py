"""What makes a drawn figure legible: its width, the height of its letters, the contrast of its words and marks."""

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from evalkit.show import figures

#: The pages' grounds in the two schemes of report.css, and what its filter does to a colour in the dark one.
PAPERS = {"light": np.array([0xFD, 0xFD, 0xFB]) / 255, "dark": np.array([0x15, 0x19, 0x1C]) / 255}
HALF_TURN = np.array([[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]])
#: WCAG 2.2, AA: contrast of words, and of marks that carry meaning.
WORDS, MARKS = 4.5, 3.0


def shown(colour, scheme="light"):
    """Return a colour as a page shows it: multiplied with light paper; inverted, turned and screened on dark."""
    rgb = np.array(to_rgb(colour))
    if scheme == "light":
        return rgb * PAPERS["light"]
    turned = (HALF_TURN @ (1 - rgb)).clip(0, 1)
    return 1 - (1 - turned) * (1 - PAPERS["dark"])


def contrast(one, other="white", scheme="light"):
    """Return the contrast of two colours of a figure in a scheme, from 1 to 21; white is the page."""

    def luminance(colour):
        rgb = shown(colour, scheme)
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


#: CSS pixels: the width of a phone's column, and the least height of letters there.
PHONE, LETTER = 350, 9


def faults(figure):
    """List what hinders a reader of a figure on a page or a phone."""
    found = []
    if figure.get_figwidth() > figures.WIDTH:
        found.append(f"{figure.get_figwidth():.2f} inches wide")
    shown = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    smallest = min(float(text.get_fontsize()) for text in shown) * 96 / 72 * PHONE / (figure.get_figwidth() * 96)
    if smallest < LETTER:
        found.append(f"letters of {smallest:.1f} px on a phone")
    for scheme in PAPERS:
        found += [
            f"{scheme}: faint words {text.get_text()!r} ({text.get_color()})"
            for text in figure.findobj(Text)
            if text.get_text().strip() and text.get_visible() and faint(text, scheme)
        ]
        found += [
            f"{scheme}: faint marks {colour}" for colour in marks(figure) if contrast(colour, scheme=scheme) < MARKS
        ]
    return found


def faint(text, scheme):
    """Tell whether words can hardly be read on what lies behind them."""
    return contrast(text.get_color(), behind(text), scheme) < WORDS


def behind(text):
    """Return the colour behind the words of a panel: of their box, a bar, a cell of a heat map, or the page."""
    if box := text.get_bbox_patch():
        return box.get_facecolor()[:3]
    axes = text.axes
    if axes is None or text.get_transform() != axes.transData:
        return "white"
    x, y = text.get_position()
    for image in axes.images:
        return image.to_rgba(image.get_array()[round(y), round(x)])[:3]
    under = [one for one in axes.patches if isinstance(one, Rectangle) and one.get_bbox().contains(x, y)]
    return under[-1].get_facecolor()[:3] if under else "white"


def marks(figure):
    """Return the colours of lines through data and of markers; a line of two points parts or guides."""
    for axes in figure.axes:
        for line in axes.lines:
            marked = line.get_marker() not in ("None", "", None) and len(line.get_xdata())
            hollow = (
                to_rgb(line.get_markerfacecolor()) == (1, 1, 1)
                if marked and line.get_markerfacecolor() != "none"
                else True
            )
            if marked:
                yield line.get_markeredgecolor() if hollow else line.get_markerfacecolor()
            if line.get_linestyle() != "None" and len(line.get_xdata()) > 2:
                yield line.get_color()
