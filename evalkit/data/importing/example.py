"""The example row of the template `scores.csv`: passed over, so that who forgets to delete it loses nothing."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from evalkit.data.importing.files.rows import Rows, Source

#: Who judged it, as the template says.
ANNOTATOR = "EXAMPLE-delete-this-row"
#: What is said of it.
NOTE = f"the example row of the template was passed over ({ANNOTATOR})"


def passed_over(sources: Iterable[Source]) -> list[Source]:
    """Take the example row out of files before anything is found out from their rows, such as the scale."""
    return [_without(source) for source in sources]


def _without(source: Source) -> Source:
    head = [(line, cells) for line, cells in source.head if not _is_example(cells)]
    if len(head) == len(source.head):  # it is the first row, or none
        return source
    return replace(source, head=head, read=lambda header, after: _rest(source.read(header, after)))


def _is_example(cells: list[str]) -> bool:
    return ANNOTATOR in (cell.strip() for cell in cells)


def _rest(rows: Rows) -> Rows:
    example = rows.frame.eq(ANNOTATOR).any(axis=1).to_numpy(bool)
    places, raw = np.flatnonzero(~example), rows.raw
    note = [NOTE] if example.any() else []
    return replace(rows, frame=rows.frame[~example], raw=lambda place: raw(int(places[place])), notes=rows.notes + note)
