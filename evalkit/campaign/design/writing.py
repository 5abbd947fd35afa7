"""Write a drawn campaign: for Pearmut, as CSV, as workbooks, and the file that knows every item's role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit.campaign.design import pearmut, sheets
from evalkit.campaign.design.drawing import Drawn
from evalkit.campaign.design.items import Named, aliases, named
from evalkit.campaign.design.texts import Texts
from evalkit.data import designs
from evalkit.data.designs import Entry

#: The folder of the workbooks.
WORKBOOKS = "for_annotators"


def write(folder: Path, name: str, texts: Texts, drawn: Drawn, *, planned: Mapping[str, Any]) -> list[Path]:
    """Write ``campaign.json``, ``assignment.csv``, a workbook for each annotator and ``design.json``; return the paths.

    Of a protocol without scores there are no workbooks.
    planned: what the campaign is expected to show, which its design keeps.
    """
    pair = (texts.src_lang, texts.tgt_lang)
    items = named(drawn, list(texts.docs))
    alias = aliases(sorted(texts.outputs), drawn.wish.seed)
    contents: dict[str, bytes] = {
        "campaign.json": pearmut.campaign(name, drawn, items, texts.sources, alias, pair).encode(),
        "assignment.csv": sheets.assignment(drawn, items, texts.sources, alias, pair).encode("utf-8-sig"),
        designs.NAME: designs.written(
            _said(name, texts, drawn, planned),
            {alias[system]: system for system in sorted(texts.outputs)},
            {one.name: entry(one, alias) for mine in items for one in mine},
        ).encode(),
    }
    with_score = drawn.wish.protocol.scale is not None  # else there is nothing to type into a sheet
    for annotator, mine in zip(drawn.wish.annotators, items) if with_score else ():
        contents[f"{WORKBOOKS}/{annotator}.xlsx"] = sheets.workbook(drawn, mine, texts.sources, alias)
    for place, content in contents.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [folder / place for place in contents]


def entry(one: Named, alias: Mapping[str, str]) -> Entry:
    """Say what an item is, for the design."""
    shown = {alias[system]: kind for system, kind in zip(one.item.systems, one.item.kinds)}
    return Entry(one.task, one.order, one.doc, one.segment, shown)


def _said(name: str, texts: Texts, drawn: Drawn, planned: Mapping[str, Any]) -> dict[str, Any]:
    """Say what the campaign is."""
    wish = drawn.wish
    return {
        "name": name,
        "protocol": wish.protocol.name,
        "scale": wish.protocol.scale,
        "src_lang": texts.src_lang,
        "tgt_lang": texts.tgt_lang,
        "annotators": wish.annotators,
        "hours": wish.hours,
        "seconds": wish.seconds,
        "overlap": wish.overlap,
        "calibration": wish.calibration,
        "degraded": wish.degraded,
        "repeats": wish.repeats,
        "everybody": wish.everybody,
        "opponents": wish.opponents,
        "seed": wish.seed,
        "inputs": texts.inputs,
        "documents": len(drawn.documents),
        "judgements": drawn.judgements,
        "kinds": counts(drawn),
        "planned": planned,
    }


def counts(drawn: Drawn) -> dict[str, int]:
    """Count the judgements of each kind of item; a comparison of two translations is one."""
    items = [item for mine in drawn.screens for screen in mine for item in screen.items]
    return dict(
        Counter("system" if item.compared else kind for item in items for kind in item.kinds[: item.judgements])
    )
