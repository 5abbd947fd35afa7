"""Unfold rows that hold several systems, each in a place of its own with its own scores: sys1, quality1, sys2, …"""

import re
from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit.data.importing.cells import columns, numbers
from evalkit.data.importing.files.rows import Rows, Source
from evalkit.data.importing.formats import Head
from evalkit.data.importing.kinds.answers import STEMS
from evalkit.data.importing.kinds.paired import names_of, slots_of
from evalkit.data.importing.options import Options

_PLACE = re.compile(r"\d{1,2}|[a-h]|left|right|first|second")
_SYSTEM = re.compile(rf"({STEMS})(name|id|tag|label|system|model)?|name")
_FEW = 20  # names of systems that may all differ; texts are more
_MOSTLY = 0.8  # share of cells that are numbers where a column holds scores


def unfolded(source: Source, options: Options) -> Source:
    """Return a source with a row for each system where its rows hold several; else as it is.

    The score at a place is of the system that the same row names there: places are no systems.
    """
    if not source.head or "score" in options.columns:
        return source
    head = Head.of(source)
    if "system" in {*map(columns.meaning, head.header), *options.columns, *options.values} or slots_of(head.header):
        return source
    places = _places(head)
    own = {name for columns_of in places.values() for name in columns_of}
    compared = names_of(head, options)
    if not places or {compared.get("preference", ""), compared.get("score", "")} - {"", *own}:
        return source
    shared = [name for name in head.header if name not in own]
    system, names = _named(head, places)
    titles = [*shared, *names.values()]
    if not system or len({*titles}) < len(titles):
        return source
    bases = [*names]

    def read(header: list[str], after: int) -> Rows:
        rows = head.whole
        parts = [
            rows.frame[[*shared, *(places[base][place] for base in bases)]].set_axis(header, axis=1)
            for place in range(len(places[system]))
        ]
        order = np.arange(len(rows.frame) * len(parts)).reshape(len(parts), -1).T.ravel()
        frame = pd.concat(parts).iloc[order]
        measured = [title for base, title in zip(bases, header[len(shared) :], strict=True) if base != system]
        frame = frame[
            numbers.said(frame[measured[0]]).notna() if len(measured) == 1 else frame[measured].notna().any(axis=1)
        ]
        return Rows(frame, lambda place: frame.iloc[place].fillna("").tolist(), rows.broken, rows.notes)

    frame = head.whole.frame.head(len(head.below) or 1)
    first = [(int(line), row) for line, row in zip(frame.index, frame[shared].fillna("").to_numpy(str).tolist())]
    below = [
        (line, [*row, *(str(frame[places[base][place]].fillna("").iloc[number]) for base in bases)])
        for number, (line, row) in enumerate(first)
        for place in range(len(places[system]))
    ]
    note = (
        f"each row holds {len(places[system])} systems, named in {', '.join(places[system])}; the score at a place is "
        "of the system named there"
    )
    return replace(source, head=[(head.line, titles), *below], read=read, notes=[*source.notes, note])


def _places(head: Head) -> dict[str, list[str]]:
    """Map what headings say beside a place to its columns, one for each of the places that all of them have."""
    found: dict[str, dict[str, str]] = {}
    for name in head.header:
        cut = re.sub(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])", " ", name)
        parts = [part.casefold() for part in re.findall(r"[^\W_]+", cut)]
        spots = [place for place, part in enumerate(parts) if _PLACE.fullmatch(part)]
        if len(spots) == 1 and len(parts) > 1:
            spot = spots[0]
            found.setdefault(" ".join(parts[:spot] + parts[spot + 1 :]), {})[parts[spot]] = name
    systems = [base for base in found if _SYSTEM.fullmatch(base.replace(" ", "")) and len(found[base]) > 1]
    if not systems:
        return {}
    all_of = {*found[max(systems, key=lambda base: len(found[base]))]}
    whole = {base: [own[spot] for spot in sorted(own, key=_order)] for base, own in found.items() if {*own} == all_of}
    return whole if len(whole) > 1 else {}


def _order(spot: str) -> tuple[int, str]:
    return (int(spot), "") if spot.isdecimal() else (0, spot)


def _named(head: Head, places: dict[str, list[str]]) -> tuple[str, dict[str, str]]:
    """Choose what names the systems, and name the columns of each place; "" where nothing names or scores them."""
    cells = {base: pd.concat([head.judged(name) for name in own]) for base, own in places.items()}
    scored = [base for base, own in cells.items() if len(own) and np.isfinite(numbers.read(own)[0]).mean() > _MOSTLY]
    named = [base for base in places if _SYSTEM.fullmatch(base.replace(" ", "")) and base not in scored]
    few = max(_FEW, len(head.whole.frame) / 2)
    named = sorted((base for base in named if cells[base].nunique() <= few), key=lambda base: cells[base].nunique())
    measures = [
        base for base in scored if columns.meaning(base) == "score" or not _SYSTEM.fullmatch(base.replace(" ", ""))
    ]
    measures = [base for base in measures if not {"id", "rank"} & {*base.split()}]
    if not named or not measures:
        return "", {}
    system = named[0]
    titles = {base: _bare(base, system) for base in measures}
    if len(measures) == 1 and columns.meaning(titles[measures[0]]) == "score":
        titles = {measures[0]: "score"}
    return system, {system: "system", **titles}


def _bare(base: str, system: str) -> str:
    """Leave out the words that a measure shares with what names the systems: sys_adequacy is adequacy."""
    return "_".join(word for word in base.split() if word not in system.split()) or base
