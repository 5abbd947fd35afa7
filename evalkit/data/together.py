"""Load judgements of translations that stood together on a screen: MQM side by side, and contrastive ESA."""

import json
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import compared, files, importing, provenance, schemas

_MQM = "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv"
_WITH = "_with_"
_DOC = r"^[a-z]+_(.*):en-de$"  # the domain before, and the pair behind, what the test set calls a document
_LEFT, _RIGHT = 1, 2


def side_by_side(paths: list[Path]) -> pd.DataFrame:
    """Load MQM of two translations side by side, a row per judged translation, as the importer reads it.

    ``score`` is minus the weighted errors (Freitag et al. 2021). ``against`` is the other system on the screen, ``hit``
    the screen, ``position`` left or right. The file names the pair in GPT4-5shot's names only; of the others it is read
    off errors of the source, which are written down for both texts in the same moment. ``doc`` and ``segment`` are
    those of ``wmt23-mqm``. Every pair always stood in the same order, so that place and system cannot be told apart.
    """
    ratings, _ = _imported(paths[0])
    return _in_test_set(_placed(ratings, _screens(paths[0])), _lines(ratings, paths))


def side_by_side_spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per error that was marked on these screens, with ``against``, ``hit`` and ``weight``."""
    ratings, spans = _imported(paths[0])
    return _in_test_set(_placed(spans, _screens(paths[0])), _lines(ratings, paths))


def one_by_one(paths: list[Path]) -> pd.DataFrame:
    """Load MQM of the same texts, one translation at a time, by three raters each; nobody here has seen the file."""
    ratings, _ = _imported(paths[0])
    return _in_test_set(ratings, _lines(ratings, paths))


def contrastive(paths: list[Path]) -> pd.DataFrame:
    """Load contrastive ESA, a row per judged output: up to four outputs of a segment stand on one screen.

    ``hit`` is the screen, ``position`` the place of an output on it from 1 (as stored; the site may have shown another
    order). ``score`` goes from 0 to 100; a second showing of an output is a ``repeat``.
    """
    ratings, _ = _screens_of_esa(paths)
    key = ["hit", "doc", "segment"]
    return provenance.like(ratings.assign(position=ratings.groupby(key).cumcount() + 1), ratings)


def contrastive_spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per error that was marked on these screens."""
    return _screens_of_esa(paths)[1]


def comparisons(ratings: pd.DataFrame, *, tie: float = 0.0) -> pd.DataFrame:
    """Compare what stood on one screen, by the scores there; ``first`` is the one with the lower position.

    ratings: with ``hit`` and ``position`` (numbers, or left and right). tie: see ``compared.of_scores``.
    """
    order = ratings["position"].replace({"left": 1, "right": 2}).astype(int)
    placed = ratings.assign(_order=order).sort_values("_order", kind="stable")
    found = compared.of_scores(provenance.like(placed.drop(columns="_order"), ratings), tie=tie)
    return provenance.like(found.assign(first="a"), found)


def _imported(path: Path, **told: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Import one file or folder as `evalkit import --keep-names` does."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "campaign.parquet")
        importing.import_campaign([path], out, keep_names=True, **told)
        ratings, spans = importing.open_campaign(out)
    if spans is None:
        raise DataError(f"{path.name} holds no marked errors. Get the file again.")
    ratings.attrs, spans.attrs = {"excluded": ratings.attrs.get("excluded", {})}, {}
    return ratings, spans


def _screens_of_esa(paths: list[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Import the verified screens only, from a folder that bears the campaign's name."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, paths[0].parent.name)
        place.mkdir()
        for path in paths:
            shutil.copyfile(path, place / path.name)
        return _imported(place)


def _screens(path: Path) -> dict[str, tuple[str, str]]:
    """Tell of each system as the file names it what stood beside it, and where itself stood."""
    lines = files.member(path, _MQM).decode("utf-8").split("\n")
    cells = [line.split("\t") for line in lines[1:] if line]
    sides: dict[str, Counter[int]] = {}
    moments: dict[tuple[str, ...], set[str]] = {}
    for row in cells:
        content = json.loads(row[9])
        sides.setdefault(row[0], Counter())[content.get("side", 0)] += 1
        if row[7] == "Source issue":
            moments.setdefault((row[3], row[4], str(content["timestamp"])), set()).add(row[0])
    where = {name: "left" if count[_LEFT] > count[_RIGHT] else "right" for name, count in sides.items()}
    beside: dict[str, str] = {}
    for pair in (tuple(sorted(names)) for names in moments.values() if len(names) == 2):
        beside |= {pair[0]: pair[1], pair[1]: pair[0]}
    if absent := sorted(set(where) - set(beside)):
        raise DataError(f"{path.name} does not tell what {absent[0]} was shown with. Get the file again.")
    return {name: (beside[name].partition(_WITH)[0], side) for name, side in where.items()}


def _placed(frame: pd.DataFrame, screens: dict[str, tuple[str, str]]) -> pd.DataFrame:
    """Add what stood beside each judgement, where it stood, the screen, and the test set's names of documents."""
    told = frame["against"].eq(schemas.UNSTATED)
    names = (
        frame["system"].astype(object).where(told, frame["system"].astype(str) + _WITH + frame["against"].astype(str))
    )
    against = names.map({name: other for name, (other, _) in screens.items()})
    position = names.map({name: side for name, (_, side) in screens.items()})
    pair = np.where(
        position.eq("left"),
        frame["system"].astype(str) + " | " + against,
        against + " | " + frame["system"].astype(str),
    )
    hit = frame["annotator"].astype(str) + ": " + pair
    return provenance.like(frame.assign(against=against, position=position, hit=hit), frame)


def _lines(ratings: pd.DataFrame, paths: list[Path]) -> dict[str, tuple[str, str]]:
    """Find the document and the line of each segment in the test set, by document and source text.

    The release numbers its own selection, 1 to 104. paths: behind the release, the test set's documents and sources.
    """
    docs = [line.split("\t")[1] for line in paths[1].read_text(encoding="utf-8").splitlines()]
    texts = paths[2].read_text(encoding="utf-8").split("\n")
    places: dict[tuple[str, str], list[int]] = {}
    for line, (doc, text) in enumerate(zip(docs, texts), start=1):
        places.setdefault((doc, " ".join(text.split())), []).append(line)
    found = {}
    for row in ratings.drop_duplicates("segment").itertuples():
        doc = re.sub(_DOC, r"\1", row.doc)
        lines = places.get((doc, " ".join(row.source.split())), [])
        if len(lines) != 1:
            raise DataError(f"{paths[0].name}: segment {row.segment} of {doc} is {len(lines)} times in the test set.")
        found[row.segment] = (doc, str(lines[0]))
    return found


def _in_test_set(frame: pd.DataFrame, lines: dict[str, tuple[str, str]]) -> pd.DataFrame:
    """Name documents and segments as the test set does."""
    names = frame["segment"].astype("str")
    doc, segment = (names.map({name: place[k] for name, place in lines.items()}) for k in (0, 1))
    return provenance.like(frame.assign(doc=doc, segment=segment), frame)
