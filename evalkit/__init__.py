"""evalkit: the helper package behind a suite of notebooks on the human evaluation of machine translation.

``import evalkit as ek`` offers some thirty functions for people with a table or a file: each takes plain frames and
returns one, and its docstring has the formula, its source, and what to beware of. All else stands in rooms: ``data``,
``stats``, ``human``, ``metrics``, ``neural``, ``show``, ``papers``, ``campaign``, ``reports`` and ``lessons``.
After ``make docs`` the [reports of the studies](../index.html) stand beside this reference.
"""

import os
import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.2.0"

#: What the package offers to people with a table or a file, and where it stands; loaded when first touched.
_OFFERED = {
    "evalkit.face": (
        *("agreement", "annotator_profiles", "calibrate", "cluster_lines", "compare_metrics", "compare_systems"),
        *("context_effect", "meta_evaluate", "mqm_score", "normalize", "plan", "rank", "ratings", "reliability"),
        *("report", "screen", "strengths"),
    ),
    "evalkit.data": ("listing", "load", "open_campaign", "open_testset", "published"),
    "evalkit.data.importing": ("import_campaign",),
    "evalkit.human.judges": ("alternative_annotator",),
    "evalkit.human.preferences": ("win_rates",),
    "evalkit.human.planning": ("power",),
}
_PLACES = {name: module for module, names in _OFFERED.items() for name in names}
__all__ = sorted([*_PLACES, "DataError"])

_CARRIED = Path(__file__).resolve().parent / "project"  # what a wheel brings along, see pyproject.toml

#: Whether the package is a clone's. Nothing is ever written into an installation.
CLONE = not _CARRIED.is_dir()

#: The folder of notebooks/ and data/: the clone, or what the wheel carries.
ROOT = Path(__file__).resolve().parent.parent if CLONE else _CARRIED


#: What brings a person in JupyterLab back to the cell that failed: after Run All Cells it shows the last cell.
_GO_TO_CELL = """
for (const wait of [100, 600, 1500]) setTimeout(() => {
    const cell = element.closest('.jp-Cell'), prompt = cell?.querySelector('.jp-InputPrompt');
    for (const kind of ['mousedown', 'mouseup']) prompt?.dispatchEvent(new MouseEvent(kind, {bubbles: true}));
    cell?.scrollIntoView({block: 'center'});
}, wait);
"""


#: What would end a line, or what a terminal would obey.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class DataError(Exception):
    """A problem that the user can mend, in one sentence: what is wrong, where, and what to do; several, a line each.

    Names out of files may hold anything; what ends a line, or what a terminal would obey, is shown as a space.

    >>> str(DataError("The system 'A\\x0bB\\n' has no outputs."))
    "The system 'A B ' has no outputs."
    """

    _shown = False

    def __init__(self, *sentences: object):
        super().__init__(*(_CONTROLS.sub(" ", str(sentence)) for sentence in sentences))

    def __str__(self) -> str:
        """Write a sentence a line."""
        return "\n".join(self.args)

    def _render_traceback_(self) -> list[str]:
        """Give IPython, and so notebooks, the sentence in place of a traceback; Python's own stays as it is.

        >>> DataError("There is no pair 'eng-jnp'. Did you mean 'eng-jpn'?")._render_traceback_()
        ["There is no pair 'eng-jnp'. Did you mean 'eng-jpn'?"]
        """
        if os.environ.get("JPY_SESSION_NAME") and not self._shown:  # a person is at work
            from IPython.display import Javascript, display

            self._shown = True  # IPython asks twice
            display(Javascript(_GO_TO_CELL))
        return [str(self) or type(self).__name__]


def __getattr__(name: str) -> Any:
    """Load what the package offers, when it is first asked for."""
    if name not in _PLACES:
        raise AttributeError(f"module 'evalkit' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_PLACES[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    """Offer what is for users where somebody presses Tab."""
    return [*__all__, "__version__"]


def one_line(problem: object) -> str:
    """Return the first line of a message, of bounded length, or else the name of the problem's class.

    >>> one_line(ValueError("no such file\\nsecond line")), one_line(KeyboardInterrupt())
    ('no such file', 'KeyboardInterrupt')
    """
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]


def nameable(path: Path) -> Path:
    """Return a path that text can name, as reports and receipts do. Raises DataError where its bytes are no UTF-8.

    >>> nameable(Path("größe.csv")).name
    'größe.csv'
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise DataError(f"The name {path} is no text in UTF-8. Rename that file or folder, then try again.") from None
    return path
