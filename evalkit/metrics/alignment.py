"""Find references that slipped up or down against their sources, and mend them; scores are never looked at.

The evidence for a pair of source and reference is a log-likelihood ratio (translation against chance) of three things:
their lengths, the numbers in them, and whether rows with the same source have the same reference. What each is worth is
learned from the table itself, and a few wrong references are expected anywhere, so that a single row proves little. The
most likely course of shifts down the file is then found by dynamic programming.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from rapidfuzz import fuzz
from scipy import sparse, stats

from evalkit import DataError
from evalkit.data.provenance import like
from evalkit.metrics.lexical import texts

#: What became of a row's reference.
KEPT, SHIFTED, BORROWED, LOST = "kept", "shifted back", "from the same source elsewhere", "lost"
_ROUNDS = 5  # of learning what evidence is worth, and aligning by it
_STRAY = 0.05  # share of rows that may have a wrong reference wherever one looks, so that a row alone proves little
_SAME = 90  # of 100: from this similarity on, two texts are spellings of one
_MOST = 3  # rows that a reference may have slipped up or down
_FEWEST = 20  # rows below which nothing can be learned
_NUMBER = re.compile(r"\d+")


def runs(table: pd.DataFrame) -> pd.DataFrame:
    """List runs of rows whose reference stands elsewhere: tgt_lang, first, last, rows, shift, evidence.

    table: as for ``evidence``. first, last: rows of the language, from 0. shift -1: the right reference stands one row
    above. evidence: by how many natural logarithms the shifted references fit these rows better than their own do.
    No rows: every reference stands where it should.
    """
    found = []
    for language, part in table.groupby("tgt_lang", sort=False):
        ratios, shifts = _aligned(part)
        edges = np.flatnonzero(np.diff(shifts, prepend=0, append=0))
        for first, stop in pairwise(edges):
            if shift := int(shifts[first]):
                gain = ratios[first:stop, _MOST + shift].sum() - ratios[first:stop, _MOST].sum()
                found.append((language, int(first), int(stop) - 1, int(stop - first), shift, float(gain)))
    return pd.DataFrame(found, columns=["tgt_lang", "first", "last", "rows", "shift", "evidence"])


def corrected(table: pd.DataFrame) -> pd.DataFrame:
    """Put every reference back to its source, and say in ``correction`` what was done to each row.

    table: as for ``evidence``. A reference that different sources would then claim goes to the one that has it in more
    rows, or that it fits better; a reference that does not fit is outvoted where its source has another in more rows.
    Who comes away empty takes the reference that the source has elsewhere (a sentence has one), or is ``LOST`` and
    dropped, counted in ``attrs["excluded"]["references lost"]``. Texts that differ by a slip of spelling are the same.
    """
    groups = [part for _, part in table.groupby("tgt_lang", sort=False)]
    whole = pd.concat([_corrected(part, *_aligned(part)) for part in groups]).loc[table.index]
    lost = whole["correction"].eq(LOST)
    counts = {"references lost": int(lost.sum())} if lost.any() else {}
    return like(whole[~lost], table, excluded=table.attrs.get("excluded", {}) | counts)


def evidence(table: pd.DataFrame) -> pd.DataFrame:
    """Return how well each row's source fits the reference ``shift`` rows further down: row, shift, evidence, chosen.

    table: one language, ``source`` and ``reference`` in the order of the file. evidence: log-likelihood ratio; above 0
    speaks for a translation. chosen: whether the row is taken to be shifted so.
    Raises DataError below 20 rows: what evidence is worth cannot be learned from fewer.
    """
    ratios, shifts = _aligned(table)
    found = pd.DataFrame(ratios, columns=range(-_MOST, _MOST + 1)).rename_axis(index="row", columns="shift")
    found = found.stack().rename("evidence").reset_index()
    return found.assign(chosen=found["shift"].to_numpy() == shifts[found["row"]])


class _Pairs(NamedTuple):
    """What is seen in pairs of source and reference: the reference's length, the source's, and two classes."""

    length: np.ndarray  # natural logarithm of characters
    expected: np.ndarray
    numbers: np.ndarray  # 0 neither has any, 1 the same, 2 some the same, 3 none the same
    elsewhere: np.ndarray  # 0 the source stands once, 1 another row has this reference too, 2 all others differ


def _aligned(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the evidence, rows × shifts (from -_MOST to _MOST), and the shift of each row."""
    if len(table) < _FEWEST:
        raise DataError(f"{len(table)} rows are too few to see whether references slipped. Give at least {_FEWEST}.")
    return _course_of(tuple(texts(table, ["source", "reference"])))


@lru_cache(maxsize=8)  # who lists the slips also mends them, language by language
def _course_of(pairs: tuple[tuple[str, ...], ...]) -> tuple[np.ndarray, np.ndarray]:
    n, sides = len(pairs), list(zip(*pairs))
    length = np.log([[len(text) + 1 for text in side] for side in sides])
    numbers = [[frozenset(map(int, _NUMBER.findall(text))) for text in side] for side in sides]
    source, reference = (np.unique(side, return_inverse=True)[1] for side in sides)
    times, together = np.bincount(source), sparse.csr_array((np.ones(n, int), (source, reference)))

    def described(i: np.ndarray, j: np.ndarray) -> _Pairs:
        """Describe pairs of the sources of rows i and the references of rows j."""
        shared = [_shared(numbers[0][one], numbers[1][other]) for one, other in zip(i.ravel(), j.ravel())]
        rows = together[source[i].ravel(), reference[j].ravel()].reshape(i.shape)
        own = (reference[i] == reference[j]).astype(int) + ((source[i] == source[j]) & (i != j))
        elsewhere = np.where(times[source[i]] == 1, 0, np.where(rows > own, 1, 2))  # whether a third row has both
        return _Pairs(length[1][j], length[0][i], np.reshape(shared, i.shape), elsewhere)

    here = np.arange(n)
    near = here[:, None] + np.arange(-_MOST, _MOST + 1)
    inside = (near >= 0) & (near < n)
    candidates = described(np.broadcast_to(here[:, None], near.shape), np.clip(near, 0, n - 1))
    far = [(here + n * part // 7) % n for part in range(1, 7)]  # as good as chance, without drawing
    chance = described(np.tile(here, len(far)), np.concatenate(far))
    shifts = np.zeros(n, int)
    for _ in range(_ROUNDS):
        match = _Pairs(*(column[here, _MOST + shifts] for column in candidates))
        ratios = np.where(inside, _ratios(candidates, match, chance), 0.0)
        before, shifts = shifts, _course(ratios) - _MOST
        if (shifts == before).all():
            break
    for each in (ratios, shifts):
        each.setflags(write=False)
    return ratios, shifts


def _shared(numbers: frozenset[int], others: frozenset[int]) -> int:
    if not numbers and not others:
        return 0
    return 1 if numbers == others else 2 if numbers & others else 3


def _ratios(pairs: _Pairs, match: _Pairs, chance: _Pairs) -> np.ndarray:
    """Return log-likelihood ratios of pairs, learned from pairs that match and pairs that met by chance."""
    excess = match.length - match.expected
    centre = np.median(excess)
    width = max(1.4826 * np.median(np.abs(excess - centre)), 1e-3)  # of a normal distribution, outliers left aside
    ratio = stats.norm.logpdf(pairs.length - pairs.expected, centre, width)
    ratio = ratio - stats.norm.logpdf(pairs.length, chance.length.mean(), max(chance.length.std(), 1e-3))
    for seen, right, wrong in zip(pairs[2:], match[2:], chance[2:]):
        share = [np.bincount(group.ravel(), minlength=4) + 0.5 for group in (right, wrong)]
        logs = np.log(share[0] / share[0].sum()) - np.log(share[1] / share[1].sum())
        ratio = ratio + logs[seen]
    return np.logaddexp(np.log1p(-_STRAY) + ratio, np.log(_STRAY))


def _course(ratios: np.ndarray) -> np.ndarray:
    """Return the most likely column of each row, where one change of column is expected in the whole file (Viterbi)."""
    n, columns = ratios.shape
    change = np.log(1 / (n * (columns - 1)))
    best, came = ratios[0] + np.where(np.arange(columns) == columns // 2, 0, change), np.empty((n, columns), int)
    for row in range(1, n):
        leap = best.max() + change
        came[row] = np.where(best >= leap, np.arange(columns), best.argmax())
        best = np.maximum(best, leap) + ratios[row]
    course = np.empty(n, int)
    course[-1] = best.argmax()
    for row in range(n - 1, 0, -1):
        course[row - 1] = came[row, course[row]]
    return course


def _corrected(part: pd.DataFrame, ratios: np.ndarray, shifts: np.ndarray) -> pd.DataFrame:
    """Give each row the reference it is aligned to, unless another source, or other rows of its own, speak against."""
    n = len(part)
    place, fit = np.arange(n) + shifts, ratios[np.arange(n), _MOST + shifts]
    inside = (place >= 0) & (place < n)
    table = pd.DataFrame({"source": part["source"].to_numpy(), "fit": fit})
    table["reference"] = pd.Series(part["reference"].to_numpy()[np.clip(place, 0, n - 1)]).where(inside)
    table["rows"] = pd.Series(place).where(inside).groupby([table["source"], table["reference"]]).transform("nunique")
    claims = table.dropna().sort_values(["rows", "fit"], ascending=False, kind="stable")
    owner = table["reference"].map(claims.drop_duplicates("reference").set_index("reference")["source"])
    own = table["reference"].where(_alike(table["source"], owner))
    best = claims[own.notna()[claims.index]].drop_duplicates("source").set_index("source")
    usual, votes = table["source"].map(best["reference"]), table["source"].map(best["rows"])
    own = own.mask((table["fit"] < 0) & (table["rows"] < votes) & ~_alike(own, usual))
    state = np.where(own.notna(), np.where(shifts == 0, KEPT, SHIFTED), np.where(usual.notna(), BORROWED, LOST))
    return part.assign(reference=own.fillna(usual).to_numpy(), correction=state)


def _alike(texts: pd.Series, others: pd.Series) -> pd.Series:
    """Tell which texts are the same but for a slip of spelling; a missing one is like none."""
    return pd.Series([fuzz.ratio(*pair) >= _SAME for pair in zip(texts, others)], texts.index)
