"""How far a run of studies is: on a terminal a bar that names the section under way, elsewhere a line now and then."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.reports import notebooks

if TYPE_CHECKING:
    from evalkit.reports.execute import Outcome

EVERY = 2.0  # seconds between two lines about sections, where there is no terminal
_HEADING = re.compile(r"^##?\s+(.+?)\s*$", re.MULTILINE)


def headings(cells: Iterable[Any]) -> dict[int, str]:
    """Return the sections of a notebook: the place of each cell that opens one, and its first heading of level 1 or 2.

    >>> cells = [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": "## no heading"}]
    >>> headings([*cells, {"cell_type": "markdown", "source": "## The data\\n\\nOne row is ..."}])
    {0: 'Title', 2: 'The data'}
    """
    opened = (
        (place, _HEADING.search(notebooks.source(cell)))
        for place, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
    )
    return {place: found[1] for place, found in opened if found}


class Progress:
    """Tell of the sections that studies begin and of how the studies end; ``tell`` None tells nothing."""

    def __init__(self, studies: dict[str, Path], tell: Callable[[str], None] | None) -> None:
        """Take the studies to be run, with their notebooks, and what a line is told to."""
        from tqdm import tqdm

        read = {name: notebooks.read(path)["cells"] if path.is_file() else [] for name, path in studies.items()}
        self.sections = {name: list(headings(cells).values()) for name, cells in read.items()}
        self.begun = dict.fromkeys(studies, 0)
        self.tell, self.told, self.lock = tell, time.monotonic(), threading.Lock()
        total = sum(len(sections) + 1 for sections in self.sections.values())
        silent = tell is None or not sys.stderr.isatty()
        self.bar = tqdm(total=total, file=sys.stderr, disable=silent, bar_format="{desc} {percentage:3.0f}% {elapsed}")

    def begin(self, study: str, section: str) -> None:
        """Hear that a study begins a section; called by the threads that run the studies."""
        with self.lock:
            self.begun[study] += 1
            line = f"{study}: {section} ({self.begun[study]} of {len(self.sections[study])})"
            self.bar.set_description_str(line[:70], refresh=False)
            self.bar.update()
            if self.tell is not None and self.bar.disable and time.monotonic() - self.told > EVERY:
                self.told = time.monotonic()
                self.tell(line)

    def over(self, done: Iterable[Outcome], engine: Iterable[Outcome]) -> Iterator[Outcome]:
        """Pass outcomes on as they come, with one line for each study that ended."""
        with self.bar as bar:
            for outcome in chain(done, engine):
                with self.lock:
                    bar.clear()
                    if self.tell is not None:
                        self.tell(_line(outcome))
                    bar.update(len(self.sections[outcome.study]) + 1 - self.begun[outcome.study])
                yield outcome


def _line(outcome: Outcome) -> str:
    return f"{outcome.study}: {outcome.status}" + (f" ({outcome.reason})" if outcome.reason else "")
