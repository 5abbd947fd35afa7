"""Score systems under several protocols, and anew on drawn documents and people.

Documents are drawn anew, the same ones for all protocols, and with them each protocol's own people, where it is known
who judged; see ``inference.crossed``. With 8 to 11 people this says little about people of another kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human.protocols.agreement import ORDER
from evalkit.human.ranking.scores import SegmentMeans, segment_means
from evalkit.stats import widths
from evalkit.stats.correlation import ratio

#: Parts of another collection judged again: each system on other segments, so their rankings compare texts as well.
PARTS = tuple(name for name in ORDER if name.endswith("IAA"))


class Drawn(NamedTuple):
    """Scores of systems under every protocol, (protocols, systems), and on resamples: (resamples, protocols, systems).

    segments: how many segments each system was judged on, (protocols, systems).
    """

    protocols: list[str]
    systems: list[str]
    scores: np.ndarray
    draws: np.ndarray
    segments: np.ndarray


class Cells(NamedTuple):
    """Judgements of a protocol summed over what is drawn: one document and one person, or one document, a row.

    documents: (rows,) places in the list of documents that all protocols share. people: (rows,) numbers, or None where
    nobody knows who judged. sums, weights: (rows, systems), see ``SegmentMeans``.
    """

    documents: np.ndarray
    people: np.ndarray | None
    sums: np.ndarray
    weights: np.ndarray


def same_segments(scored: pd.DataFrame, *, protocols: Sequence[str] | None = None) -> pd.DataFrame:
    """Keep the systems' translations of the segments that every protocol scored for every system.

    scored: the table of ``protocols.scores``. protocols: the ones to compare; by default all but ``PARTS``. A protocol
    that covers fewer segments than another ranks other texts, and what looks like a matter of protocols may be one of
    texts. Raises DataError where no segment is left.

    >>> scored = pd.DataFrame({"protocol": ["ESA-1"] * 4 + ["WMT-MQM"] * 2, "system": list("ABABAB"),
    ...     "doc": "d", "segment": list("112211"), "item_type": "system", "score": range(6)})
    >>> same_segments(scored)["segment"].tolist()
    ['1', '1', '1', '1']
    """
    names = named(scored, protocols)
    own = scored[scored["protocol"].isin(names) & scored["item_type"].eq("system") & scored["score"].notna()]
    there = own.drop_duplicates(["protocol", *ITEM]).groupby([*SEGMENT], observed=True).size()
    common = there.index[there == len(names) * own["system"].nunique()]
    if common.empty:
        raise DataError(f"{', '.join(names)} share no segment that all systems have. Compare fewer protocols.")
    return own[pd.MultiIndex.from_frame(own[[*SEGMENT]]).isin(common)].reset_index(drop=True)


def named(scored: pd.DataFrame, protocols: Sequence[str] | None = None) -> list[str]:
    """Return the protocols to compare in the order of the release; by default all there are, without ``PARTS``."""
    there = set(scored["protocol"].unique())
    chosen = [name for name in there if name not in PARTS] if protocols is None else list(protocols)
    if lost := [name for name in chosen if name not in there]:
        raise DataError(f"{lost[0]}: no such protocol here. Choose among {', '.join(map(str, sorted(there)))}.")
    return sorted(chosen, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def summed(scored: pd.DataFrame, names: Sequence[str]) -> tuple[list[str], dict[str, SegmentMeans], dict[str, Cells]]:
    """Sum each protocol's judgements over documents and people; returns systems, tables and cells by protocol."""
    own = scored[scored["item_type"].eq("system") & scored["score"].notna()].assign(src_lang="", tgt_lang="")
    parts = {name: own[own["protocol"] == name] for name in names}
    systems = sorted(own.loc[own["protocol"].isin(names), "system"].unique())
    documents = pd.Index(sorted(own.loc[own["protocol"].isin(names), "doc"].unique()))
    tables, cells = {}, {}
    for name, part in parts.items():
        people = part["annotator"].notna().all()
        unit = ["annotator", "doc"] if people else ["doc"]
        [table] = segment_means(part, item_types=("system",), unit=unit).values()
        if list(table.systems) != systems:
            [lost, *_] = set(systems) - set(table.systems)
            raise DataError(f"{name} has no score of {lost}. Leave the system out, or the protocol.")
        owner = table.units.get_level_values(0) if people else None
        labels = table.units.get_level_values(1) if people else table.units
        numbers = None if owner is None else pd.factorize(owner, sort=True)[0]
        tables[name], cells[name] = table, Cells(documents.get_indexer(labels), numbers, table.sums, table.weights)
    return systems, tables, cells


def draw_scores(
    scored: pd.DataFrame, *, protocols: Sequence[str] | None = None, resamples: int = 500, seed: int = 7
) -> Drawn:
    """Score systems under every protocol, and anew on drawn documents and people.

    scored: the table of ``protocols.scores`` or ``same_segments``; references are left out. protocols: by default all
    but ``PARTS``. Where a row has no annotator (WMT's own judgements, the model's), documents alone are drawn: such
    intervals leave out what other people would change. A draw that leaves a system without a judgement is replaced by
    another one of that protocol; DataError where that is so of more than half of them.
    """
    names = named(scored, protocols)
    systems, tables, cells = summed(scored, names)
    parts = [as_part(name, one) for name, one in cells.items()]
    found = widths.redraw(parts, resamples=resamples, seed=seed)
    draws = [_whole(one.narrowed(pool=True), name) for name, one in zip(names, found)]
    segments = np.array([np.isfinite(table.means).sum(axis=1) for table in tables.values()])
    return Drawn(names, systems, np.stack([one.estimate for one in found]), np.stack(draws, axis=1), segments)


def as_part(name: str, cells: Cells) -> widths.Part:
    """Make the scores of the systems a statistic of how often each row of cells counts."""
    people = {} if cells.people is None else {f"people of {name}": cells.people}

    def score(times: np.ndarray) -> np.ndarray:
        return np.asarray(ratio(times @ cells.sums, times @ cells.weights))

    return widths.Part(score, {"documents": cells.documents} | people, len(cells.documents), cells.weights > 0)


def _whole(draws: np.ndarray, name: str) -> np.ndarray:
    """Put draws that have a score of every system in the place of those that lack one, (resamples, systems)."""
    there = np.isfinite(draws).all(axis=1)
    if there.mean() < 0.5:
        raise DataError(f"Too few people or documents stand behind {name} to be resampled. Leave this protocol out.")
    places = np.where(there, np.arange(len(draws)), np.resize(np.flatnonzero(there), len(draws)))
    return draws[places]
