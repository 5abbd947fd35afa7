"""What tests read of a campaign's report (verdicts by key, numbers, never words), and what makes a figure legible."""

import functools
import re
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from evalkit import campaign
from evalkit.campaign import first_page
from evalkit.campaign.analysis import Analysis
from evalkit.campaign.findings import Finding, say
from evalkit.show import figures
from tests.makers import SOURCE, ratings


@dataclass(frozen=True)
class Page:
    """What a report of a campaign says: analyses, checks by key, the headline, how sure it is."""

    found: Analysis
    checks: dict[str, Finding]
    headline: str
    sure: str
    trust: str

    @property
    def verdicts(self):
        """Verdicts by key, without their signs."""
        return {key: check.result.partition(" ")[2] for key, check in self.checks.items()}

    def told(self, *parts):
        """What is said of some of the analyses, as one text."""
        return " ".join(text for part in parts for text in say(getattr(self.found, part)))


def plain(systems=2, documents=6, people=3, **options):
    """A small campaign in which everybody judges everything, in whole points, and the first system is best."""
    return ratings(systems=systems, documents=documents, people=people, **{"step": 1, "gap": 10, "level": 70} | options)


def opened(table, spans=None, **options):
    """Look at a table as a campaign, on the scale of 0 to 100 where it does not say another one."""
    whole = table.reset_index(drop=True)
    whole.attrs = {"scale": (0.0, 100.0), "source": SOURCE} | table.attrs
    return campaign.from_ratings(whole, spans, **options)


def analysed(table, spans=None, *, resamples=20, score="auto", unit="auto", **options):
    """Open a table as a campaign, and make all analyses."""
    return campaign.analyse(opened(table, spans, **options), resamples=resamples, score=score, unit=unit)


def ranked(table, *, resamples=20, score="auto", unit="auto", lines="units", **options):
    """Open a table as a campaign, and rank its systems."""
    mine = opened(table, **options)
    return campaign.rank_systems(mine, resamples=resamples, score=score, unit=unit, lines=lines)


def errors_in(table, *, error_type="unstated", severity="minor"):
    """One marked error in each judgement of a table."""
    key = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    more = ["item_type"] if "item_type" in table else []
    spans = table[key + more].assign(span="1", error_type=error_type, severity=severity).reset_index(drop=True)
    spans.attrs = {"scale": (0.0, 100.0), "source": SOURCE} | table.attrs
    return spans


def page(found, spans=None, **options):
    """What the report of a table of ratings, or of analyses that were made, says."""
    found = found if isinstance(found, Analysis) else analysed(found, spans, **options)
    checks = campaign.run_checks(found)
    by_group = {check.group: check for check in checks}
    sure = " ".join(first_page.how_sure(found))
    return Page(found, by_group, first_page.headline(found, checks), sure, first_page.trust(checks))


def telling(analysis):
    """Have whatever an analysis finds said, too: in a sentence or more, none with a gap where a number should be."""

    @functools.wraps(analysis)
    def found(*given, **options):
        result = analysis(*given, **options)
        said = " ".join(say(result))
        assert said
        assert not {"nan", "NaT", "inf"} & set(re.findall(r"\w+", said)), said
        return result

    return found


def numbers(text):
    """The numbers of a text, in its order; thousands as one number."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text.replace("\u2212", "-"))
    return [float(one) for one in re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?", plain)]


# What makes a drawn figure legible: its width, the height of its letters, the contrast of its words and marks.

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
