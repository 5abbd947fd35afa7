"""Hold metrics' scores and human scores against each other, cell by cell: a cell is a system's output for a segment."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import source_of
from evalkit.data.schemas import ITEM

#: How the names of human translations, and of the synthetic reference of WMT23, begin in WMT's files.
PEOPLE = ("Human", "ref", "synthetic_ref")
_CELL = ["metric", *ITEM]
#: The only "segment" of scores of whole systems.
_WHOLE = pd.MultiIndex.from_tuples([("", "")], names=ITEM[1:])


@dataclass(frozen=True)
class Scores:
    """Keep the scores of many metrics, and the human scores, of the same systems and segments.

    values: metrics × systems × segments, human: systems × segments, both NaN where a score is missing. Scores of whole
    systems have one column of segments, named "". Every statistic uses a metric's cells that have a human score too.
    data, pair, gold: what the scores are, for tables.
    """

    metrics: tuple[str, ...]
    systems: tuple[str, ...]
    segments: tuple[str, ...]
    values: np.ndarray
    human: np.ndarray
    data: str = ""
    pair: str = ""
    gold: str = ""

    @property
    def level(self) -> str:
        """Say whether these are scores of segments or of whole systems."""
        return "system" if self.segments == ("",) else "segment"

    @property
    def documents(self) -> list[str]:
        """Name the document of each segment: the part of its name before the last colon."""
        return [name.rsplit(":", 1)[0] for name in self.segments]

    @property
    def judged(self) -> np.ndarray:
        """Mark the cells, systems × segments, that have a human score."""
        return np.isfinite(self.human)

    def texts(self, outputs: pd.DataFrame) -> np.ndarray:
        """Lay out the texts of translations, systems × segments; missing where there is none, the first of several."""
        place = outputs["doc"].astype("str") + ":" + outputs["segment"].astype("str")
        said = pd.Series(outputs["hypothesis"].astype(object).to_numpy(), [outputs["system"].astype("str"), place])
        cells = pd.MultiIndex.from_product([self.systems, self.segments])
        return said[~said.index.duplicated()].reindex(cells).to_numpy().reshape(self.human.shape)

    def only(self, metrics: Sequence[str]) -> Scores:
        """Keep some metrics, in the order given."""
        unknown = [name for name in metrics if name not in self.metrics]
        if unknown:
            raise DataError(f"There is no metric {unknown[0]!r} here. Choose among {', '.join(self.metrics)}.")
        rows = [self.metrics.index(name) for name in metrics]
        return replace(self, metrics=tuple(metrics), values=self.values[rows])


#: Scores by language pair, such as ``each_pair`` returns.
ByPair = Mapping[str, Scores]


def align(
    metric_scores: pd.DataFrame, human_scores: pd.DataFrame, *, without: Collection[str] = (), data: str | None = None
) -> Scores:
    """Match metrics' and human scores of one language pair by the names of system, document and segment.

    Both tables have src_lang, tgt_lang, system, metric, score, and doc and segment unless they score whole systems; in
    human_scores, metric names the gold standard. Rows in any order; missing scores are rows that are not there, so a
    metric that left out another segment than its neighbour is never shifted against the human scores.
    Systems are those that both tables have. without: systems to leave out, such as references.
    data: how the scores are called in tables; None takes the name of the metrics' source.
    Raises DataError for several pairs or golds, a score that is there twice, and tables that share no cell.

    >>> names = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d"}
    >>> human = pd.DataFrame([names | {"system": s, "segment": "1", "metric": "mqm", "score": v} for s, v in
    ...     [("A", -1.0), ("B", -5.0)]])
    >>> scores = align(human.assign(metric="length", score=[9.0, 7.0])[::-1], human, data="two")
    >>> scores.metrics, scores.systems, scores.values.tolist(), scores.human.tolist()
    (('length',), ('A', 'B'), [[[9.0], [7.0]]], [[-1.0], [-5.0]])
    """
    pairs = _names(metric_scores) | _names(human_scores)
    if len(pairs) != 1:
        raise DataError(f"The scores are of several language pairs: {', '.join(sorted(pairs))}. Choose one of them.")
    gold = _distinct(human_scores["metric"])
    if len(gold) > 1:
        raise DataError(f"There are several human scores, {' and '.join(gold)}. Choose the rows of one of them.")
    names = sorted({*_distinct(human_scores["system"])} & {*_distinct(metric_scores["system"])} - {*without})
    whole = any(set(ITEM[1:]).isdisjoint(table.columns) for table in (metric_scores, human_scores))
    segments = _WHOLE if whole else pd.MultiIndex.from_frame(human_scores[ITEM[1:]].drop_duplicates().astype("str"))
    metrics = tuple(_distinct(metric_scores["metric"]))
    values = _filled(metric_scores, metrics, names, segments)
    human = _filled(human_scores, gold, names, segments)[0]
    if not np.isfinite(values + human).any():
        raise DataError("Metrics and humans scored no translation in common. Check that names and language pair agree.")
    name = source_of(metric_scores)["name"] if data is None else data
    labels = tuple(_labels(segments))
    return Scores(metrics, tuple(names), labels, values, human, data=name, pair=pairs.pop(), gold=gold[0])


def of_pair(table: pd.DataFrame, pair: str) -> pd.DataFrame:
    """Choose the rows of a language pair by its name, such as eng-deu."""
    source, _, target = pair.partition("-")
    return table[(table["src_lang"] == source) & (table["tgt_lang"] == target)]


def each_pair(
    metric_scores: pd.DataFrame, human_scores: pd.DataFrame, *, gold: str = "", without: Collection[str] | None = None
) -> dict[str, Scores]:
    """Align metrics with human scores in every language pair that both tables have, by the name of the pair.

    gold: which human scores, where there are several kinds. without: systems to leave out; None leaves out human
    translations (``PEOPLE``). Raises DataError where the tables share no language pair.
    """
    human_scores = human_scores[human_scores["metric"] == gold] if gold else human_scores
    found, shared = {}, sorted(_names(metric_scores) & _names(human_scores))
    if not shared:
        raise DataError("Metrics and humans scored no language pair in common. Check which scores were chosen.")
    for pair in shared:
        people = of_pair(human_scores, pair)
        humans = [name for name in _distinct(people["system"]) if name.startswith(PEOPLE)]
        found[pair] = align(of_pair(metric_scores, pair), people, without=humans if without is None else without)
    return found


def coverage(*scores: Scores) -> pd.DataFrame:
    """Count for each metric the cells with a human score, those of them that it scored, and those that it left out.

    Returns data, pair, metric, judged, scored, missing.
    """
    tables = []
    for each in scores:
        judged = int(each.judged.sum())
        scored = (np.isfinite(each.values) & each.judged).sum(axis=(1, 2))
        table = pd.DataFrame({"metric": each.metrics, "judged": judged, "scored": scored, "missing": judged - scored})
        tables.append(described(each, table))
    return pd.concat(tables, ignore_index=True)


def averaged(scores: Scores, units: Sequence[str]) -> Scores:
    """Average the judged cells of each system over units of segments, such as documents or domains.

    units: the name of each segment's unit; "" leaves a segment out. The units become the "segments" of the result, in
    the order in which they come. A metric's mean is of the cells that people judged, too; a unit in which one of these
    lacks its score has none. Means are rounded to nine digits: equal cells have equal means, however sums round.

    >>> two = Scores(("m",), ("A",), ("d:1", "d:2", "e:1"), np.array([[[1.0, 3, 5]]]), np.array([[0.0, 2, 4]]))
    >>> averaged(two, ["d", "d", "e"]).human.tolist()
    [[1.0, 4.0]]
    """
    names = [name for name in dict.fromkeys(units) if name]
    member = np.array([[unit == name for name in names] for unit in units], float)  # segments × units
    judged = scores.judged @ member

    def mean(cells: np.ndarray) -> np.ndarray:
        there = np.isfinite(cells) & scores.judged
        whole = (there @ member == judged) & (judged > 0)
        means = np.where(there, cells, 0) @ member / np.where(judged > 0, judged, 1)
        return np.where(whole, np.round(means, 9), np.nan)

    return replace(scores, segments=tuple(names), values=mean(scores.values), human=mean(scores.human))


def of_systems(scores: Scores) -> Scores:
    """Average scores of segments over each system; all cells must be there."""
    values, human = scores.values.mean(axis=2, keepdims=True), scores.human.mean(axis=1, keepdims=True)
    return replace(scores, segments=("",), values=values, human=human)


def described(scores: Scores, table: pd.DataFrame) -> pd.DataFrame:
    """Put in front of a table which data and language pair it is about."""
    return pd.concat([pd.DataFrame({"data": scores.data, "pair": scores.pair}, index=table.index), table], axis=1)


def patterns(scores: Scores) -> list[tuple[np.ndarray, np.ndarray]]:
    """Group the metrics by the judged cells that they scored: (cells, systems × segments; positions of the metrics)."""
    groups: dict[bytes, list[int]] = {}
    usable = np.isfinite(scores.values) & scores.judged
    for number, cells in enumerate(usable):
        groups.setdefault(np.packbits(cells).tobytes(), []).append(number)
    return [(usable[members[0]], np.array(members)) for members in groups.values()]


def pairings(scores: Scores) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the cells that both of two metrics scored, the metrics concerned, and the pairs of them to compare.

    The second and third are positions of metrics, and pairs × 2 positions among these. Where all metrics scored the
    same cells, one item holds all pairs; else one for every two patterns of missing scores.
    """
    for (cells, some), (others, more) in itertools.combinations_with_replacement(patterns(scores), 2):
        pairs = np.array([*itertools.combinations(some, 2)] if some is more else [*itertools.product(some, more)])
        if len(pairs):
            members, places = np.unique(pairs, return_inverse=True)
            yield cells & others, members, places.reshape(-1, 2)


def _names(table: pd.DataFrame) -> set[str]:
    """Name the language pairs of a table."""
    return {"-".join(ends) for ends in table[["src_lang", "tgt_lang"]].drop_duplicates().astype("str").to_numpy()}


def _distinct(column: pd.Series) -> list[str]:
    """List the names in a column in the order in which they first occur."""
    return [str(name) for name in column.unique()]


def _labels(segments: pd.MultiIndex) -> list[str]:
    return [f"{doc}:{segment}" if doc or segment else "" for doc, segment in segments]


def _filled(table: pd.DataFrame, metrics: Sequence[str], systems: Sequence[str], segments: pd.MultiIndex) -> np.ndarray:
    """Put scores in their places, metrics × systems × segments; NaN where none is."""
    if segments is _WHOLE:
        table = table.assign(doc="", segment="")
    table = table.astype({name: "str" for name in _CELL if table[name].dtype != "category"})  # categories are texts
    places = [pd.Index(metrics).get_indexer(table["metric"]), pd.Index(systems).get_indexer(table["system"])]
    places.append(segments.get_indexer(pd.MultiIndex.from_frame(table[ITEM[1:]])))
    wanted = np.min(places, axis=0) >= 0
    sizes = (len(metrics), len(systems), len(segments))
    cell = np.ravel_multi_index(np.array(places)[:, wanted], sizes)
    if np.bincount(cell, minlength=1).max(initial=0) > 1:
        metric, system, segment = map(int, np.unravel_index(np.bincount(cell).argmax(), sizes))
        place = f"{metrics[metric]} scored {systems[system]} {_labels(segments)[segment]}".strip()
        raise DataError(f"{place} more than once. Keep one of the rows.")
    values = np.full(sizes, np.nan)
    values.reshape(-1)[cell] = table["score"].to_numpy(float)[wanted]
    return values
