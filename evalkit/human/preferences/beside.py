"""What judging two translations side by side changes: the same texts judged one by one, and two at a time.

Pairs are those that stood on one screen. Judged one by one, the same two translations make the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from evalkit.stats.widths import Part, combine, redraw

_TEXT = ["doc", "segment"]
#: The measures of pairs, of what each is told.
PAIRED = (
    "penalty of a translation",
    "errors marked in a translation",
    "pairs with equal scores, %",
    "distance of the two scores",
    "distance of systems' means",
    "the same, % of the spread",
)
#: The measures of marks that could have been made in two translations.
MARKED = ("marks found again, same screen, %", "marks found again, other screens, %")
_SHORTEST = 3  # letters of a stretch that is looked for in the other text


def pairs(ratings: pd.DataFrame, screens: pd.DataFrame) -> pd.DataFrame:
    """Return a row per pair of judgements of one person: doc, segment, annotator, pair, a, b (scores), errors of both.

    ratings: with ``errors``, the number of marks. screens: system, against of what stood on one screen. Where ratings
    have ``against``, the judgements of one screen make the pair.
    """
    told = screens[["system", "against"]].drop_duplicates()
    told = told[told["system"] < told["against"]]
    key = [*_TEXT, "annotator"]
    own = ratings[[*key, "system", "score", "errors", *(["against"] if "against" in ratings else [])]]
    left, right = own.merge(told, on="system") if "against" not in own else own, own
    if "against" in own:
        found = left.merge(right, left_on=[*key, "system", "against"], right_on=[*key, "against", "system"])
        found = found[found["system_x"] < found["system_y"]]
    else:
        found = left.merge(right, left_on=[*key, "against"], right_on=[*key, "system"])
    found = found.assign(pair=found["system_x"] + " | " + found["system_y"], a=found["score_x"], b=found["score_y"])
    return found.assign(errors=found["errors_x"] + found["errors_y"])[[*key, "pair", "a", "b", "errors"]]


def found_again(
    spans: pd.DataFrame, texts: Mapping[tuple[str, str, str], str], ratings: pd.DataFrame, screens: pd.DataFrame
) -> pd.DataFrame:
    """Return a row per mark whose words stand in another translation that the same person judged: was it marked there?

    spans: marks with ``start`` and ``end`` in the translation. texts: (system, doc, segment) -> translation. ratings:
    who judged what. screens: system, against. Columns doc, segment, annotator, system, other, ``same`` (did the two
    stand, or could they stand, on one screen), ``again`` (1 where a mark of the other touches the same words).
    Of Song et al. 2025 only the idea is known here, the consistency of marks between translations: their definition may
    differ. Marks of fewer than three letters, such as punctuation, are left out, as are marks in the source.
    """
    spans = spans[spans["side"].astype(str).eq("target") & spans["start"].notna() & (spans["end"] > spans["start"])]
    beside = {*zip(screens["system"], screens["against"])}
    screen = "hit" if "hit" in ratings else "annotator"
    key = [*_TEXT, "annotator"]
    marks: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for one in spans[[*key, "system", screen, "start", "end"]].itertuples(index=False, name=None):
        marks.setdefault(tuple(map(str, one[:5])), []).append((int(one[5]), int(one[6])))
    rows = []
    for where, own in ratings.groupby(key, sort=False):
        judged = [*own[["system", screen]].drop_duplicates().itertuples(index=False, name=None)]
        for one, other in combinations(judged, 2):
            same = one[1] == other[1] if screen == "hit" else (one[0], other[0]) in beside
            if one[0] == other[0]:
                continue
            for here, there in ((one, other), (other, one)):
                again = _again(where, here, there, marks, texts)
                rows += [(*where, here[0], there[0], same, hit) for hit in again]
    return pd.DataFrame(rows, columns=[*key, "system", "other", "same", "again"])


def _again(
    where: tuple[str, ...],
    here: tuple[str, str],
    there: tuple[str, str],
    marks: Mapping[tuple[str, ...], list[tuple[int, int]]],
    texts: Mapping[tuple[str, str, str], str],
) -> list[float]:
    """Tell of each mark here whose words stand there, too, whether a mark there touches them."""
    own, other = (texts[name[0], where[0], where[1]] for name in (here, there))
    theirs = marks.get((*where, *there), [])
    found = []
    for start, end in marks.get((*where, *here), []):
        words = own[start:end].strip()
        if sum(letter.isalpha() for letter in words) < _SHORTEST or words not in other:
            continue
        place = other.index(words)
        found.append(float(any(begin < place + len(words) and stop > place for begin, stop in theirs)))
    return found


def measures(
    one_by_one: tuple[pd.DataFrame, pd.DataFrame],
    side_by_side: tuple[pd.DataFrame, pd.DataFrame],
    *,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Return measure, pointwise, side_by_side, low, high (the 95 % interval of the difference) and ``drawn``.

    Each of the two is what ``pairs`` and ``found_again`` return. Documents are drawn for both at once, people of either
    by themselves, where there are several; drawn names the ways to judge whose people were, for the interval says
    nothing of how others differ.
    """
    parts = []
    ways = {"one by one": one_by_one, "side by side": side_by_side}
    for name, (paired, again) in ways.items():
        parts += [_part(paired, _of_pairs(paired), name), _part(again, _of_marks(again), name)]
    drawn = redraw(parts, resamples=resamples, seed=seed)
    tables = []
    for names, one, two in ((PAIRED, drawn[0], drawn[2]), (MARKED, drawn[1], drawn[3])):
        low, high = combine([two, one], [1, -1]).interval()
        tables.append(
            pd.DataFrame(
                {"measure": names, "pointwise": one.estimate, "side_by_side": two.estimate, "low": low, "high": high}
            )
        )
    people = [name for name, (paired, _) in ways.items() if paired["annotator"].nunique() > 1]
    return pd.concat(tables, ignore_index=True).assign(drawn=" and ".join(people))


def _part(rows: pd.DataFrame, statistic, name: str) -> Part:  # type: ignore[no-untyped-def]
    units = {"documents": rows["doc"].astype("str").to_numpy(), name: rows["annotator"].astype("str").to_numpy()}
    return Part(statistic, units, len(rows))


def _of_pairs(paired: pd.DataFrame):  # type: ignore[no-untyped-def]
    """Compute ``PAIRED`` where rows count several times: (batch, rows) -> (batch, 6)."""
    a, b = paired["a"].to_numpy(float), paired["b"].to_numpy(float)
    gap = a - b
    plain = np.stack([-(a + b) / 2, paired["errors"] / 2, 100.0 * (np.abs(gap) < 1e-9), np.abs(gap)], axis=1)
    which = pd.get_dummies(paired["pair"]).to_numpy(float)

    def statistic(times: np.ndarray) -> np.ndarray:
        means = times @ plain / times.sum(axis=1, keepdims=True)
        size = np.maximum(times @ which, 1e-12)
        mean = times @ (which * gap[:, None]) / size
        spread = np.sqrt(np.maximum(times @ (which * gap[:, None] ** 2) / size - mean**2, 1e-12))
        apart = np.abs(mean)
        return np.column_stack([means, apart.mean(axis=1), 100 * (apart / spread).mean(axis=1)])

    return statistic


def _of_marks(again: pd.DataFrame):  # type: ignore[no-untyped-def]
    """Compute ``MARKED``: (batch, rows) -> (batch, 2)."""
    hit, same = again["again"].to_numpy(float), again["same"].to_numpy(bool)
    which = np.stack([same, ~same], axis=1).astype(float)

    def statistic(times: np.ndarray) -> np.ndarray:
        return 100 * (times @ (which * hit[:, None])) / np.maximum(times @ which, 1e-12)

    return statistic
