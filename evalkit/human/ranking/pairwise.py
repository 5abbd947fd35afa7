"""Compare every two systems of a language pair by a test on their segments' mean scores, and part them into clusters.

All pairs at once: the Mann-Whitney statistics follow from products of counts per distinct score, systems × values; the
signed-rank test ranks the differences of one system from all worse ones together; the t-test needs one covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.human.ranking import drawn
from evalkit.human.ranking.rules import ends
from evalkit.human.ranking.scores import COUNTED, SegmentMeans, ranked, segment_means
from evalkit.stats import inference

CORRECTIONS = (None, "holm")
#: Below so many segments on either side, and without ties, R's tests are exact.
EXACT_BELOW = 50


@dataclass(frozen=True)
class Comparison:
    """How two systems are compared; see ``pairwise_tests``."""

    test: str = "mann-whitney"
    alpha: float = 0.05
    correction: str | None = None
    resamples: int = 5000
    seed: int = 7

    def __post_init__(self) -> None:
        """Refuse what is not known."""
        for name, known in (("test", (*TESTS,)), ("correction", CORRECTIONS)):
            if getattr(self, name) not in known:
                raise DataError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(map(str, known))}.")

    def p_values(self, table: SegmentMeans) -> tuple[np.ndarray, ...]:
        """Test systems in the order of the ranking: wins, ties, losses, p, corrected p; an element a pair of them."""
        *counts, p = TESTS[self.test](table, self)
        return *counts, p, inference.adjust(p, method="holm") if self.correction else p


def pairwise_tests(
    ratings: pd.DataFrame,
    *,
    score: str = "score",
    test: str = "mann-whitney",
    alpha: float = 0.05,
    correction: str | None = None,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
    digits: int | None = None,
    unit: str | Sequence[str] | None = None,
    resamples: int = 5000,
    seed: int = 7,
) -> pd.DataFrame:
    """Test whether the better of two systems is better, for every two systems of a language pair.

    test: "mann-whitney", on all segments of either system, as WMT does; "wilcoxon", signed ranks on the segments that
    both have; "permutation", random signs of these differences; "t", the difference of the scores over its standard
    error under another choice of ``unit`` (see ``drawn.covariance``), with effective units less 1 degrees of freedom.
    The first two are R's wilcox.test: ties corrected, continuity corrected, exact in small samples without ties. All
    are one-sided: the better beats the worse.
    correction: None (WMT's) or "holm", for all tests of a language pair. digits: see ``segment_means``; 15 gives
    WMT22's published p-values to their last digit. unit: what the t-test takes as drawn by chance, a column such as
    "annotator" or two that are crossed; None for segments. resamples, seed: of the permutation test, whose
    p is (hits + 1) / (resamples + 1).
    Returns, in the order of the ranking: pair, better, worse, difference (of scores), n_better, n_worse (segments),
    wins, ties, losses (over all pairs of segments, or matched ones), superiority (of the better: share of wins plus
    half the ties), p, adjusted (p after correction), significant (adjusted < alpha).
    Source: Mann & Whitney 1947; Wilcoxon 1945; Holm 1979; WMT22 findings.  Caveat: segments count as independent,
    although an annotator judged many of them, so p-values are too small where annotators differ, but for "t"
    with that unit.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": ["A"] * 4 + ["B"] * 4,
    ...     "segment": list("1234") * 2, "score": [60.0, 70, 80, 90, 10, 20, 30, 65], "item_type": "system"})
    >>> pairwise_tests(ratings)[["better", "worse", "wins", "losses", "p"]].round(3).values.tolist()
    [['A', 'B', 15, 1, 0.029]]
    """
    comparison = Comparison(test, alpha, correction, resamples, seed)
    tables = segment_means(ratings, score=score, item_types=item_types, segment=segment, digits=digits, unit=unit)
    parts = [compared(pair, table.ordered(), comparison) for pair, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def significance_clusters(
    ratings: pd.DataFrame,
    *,
    score: str = "score",
    test: str = "mann-whitney",
    alpha: float = 0.05,
    correction: str | None = None,
    line: str = "all",
    with_upsets: bool = False,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] | None = None,
    digits: int | None = None,
    unit: str | Sequence[str] | None = None,
    seed: int = 7,
) -> pd.DataFrame:
    """Rank the systems of each language pair, and part them into clusters by pairwise tests.

    line: "all" draws one below a system if it and all above are significantly better than all below, which is how
    WMT's findings describe clusters; "own" if it has as many wins as there are systems below, whatever those above
    have, which is the rule of WMT's published files; others stand in ``rules.LINES``, and ``rules`` has them by
    year. with_upsets: a system may also win over one with a higher score, as in these files (a mean and a rank test can
    disagree). All other options: see ``pairwise_tests``; the defaults with score="z" are WMT22's.
    Returns, in the order of the ranking: pair, system, score, segments, judgements, rank, cluster (1 is best), wins and
    losses (significant ones), rank_top = 1 + losses and rank_bottom = systems - wins, the range of ranks that WMT
    prints.  Source: WMT22 findings (Kocmi et al. 2022).  Caveat: a range is no confidence interval; many tests at
    ``alpha`` each draw some lines by chance (see correction), and a line not drawn says nothing about equality.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": list("AAAABBBB"),
    ...     "segment": list("1234") * 2, "score": [60.0, 70, 80, 90, 10, 20, 30, 65], "item_type": "system"})
    >>> significance_clusters(ratings)[["system", "cluster", "rank_top", "rank_bottom"]].values.tolist()
    [['A', 1, 1, 1], ['B', 2, 2, 2]]
    """
    how = Comparison(test, alpha, correction, seed=seed)
    tables = segment_means(ratings, score=score, item_types=item_types, segment=segment, digits=digits, unit=unit)
    parts = [clustered(pair, table, how, line=line, with_upsets=with_upsets) for pair, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def clustered(
    pair: str, table: SegmentMeans, how: Comparison, *, line: str = "all", with_upsets: bool = False
) -> pd.DataFrame:
    """Part the systems of one language pair."""
    table = table.ordered()
    size = len(table.systems)
    beats = np.zeros((size, size), bool)
    beats[np.triu_indices(size, 1)] = compared(pair, table, how)["significant"]
    if with_upsets:
        beats |= upsets(table, how)
    won, lost = beats.sum(axis=1), beats.sum(axis=0)
    cluster = 1 + np.cumsum(np.r_[0, ends(beats, line)[:-1]])
    return ranked(pair, table).assign(cluster=cluster, wins=won, losses=lost, rank_top=1 + lost, rank_bottom=size - won)


def compared(pair: str, table: SegmentMeans, how: Comparison) -> pd.DataFrame:
    """Tabulate the tests of one language pair, whose systems stand in the order of the ranking."""
    better, worse = np.triu_indices(len(table.systems), 1)
    there = np.isfinite(table.means)
    n = there.sum(axis=1)
    n_better, n_worse = n[better], n[worse]
    if how.test in ("wilcoxon", "permutation"):
        common = there.astype(float) @ there.T.astype(float)
        n_better = n_worse = common[better, worse].astype(int)
        if (n_better == 0).any():
            a, b = (table.systems[side[np.argmin(n_better)]] for side in (better, worse))
            raise DataError(f"{pair}: {a} and {b} share no segment. Use test='mann-whitney', which matches none.")
    won, tied, lost, p, adjusted = how.p_values(table)
    compared_on, totals = won + tied + lost, table.totals()
    return pd.DataFrame(
        {
            "pair": pair,
            "better": pd.Series(table.systems[better], dtype="str"),
            "worse": pd.Series(table.systems[worse], dtype="str"),
            "difference": totals[better] - totals[worse],
            "n_better": n_better,
            "n_worse": n_worse,
            "wins": won.astype(int),
            "ties": tied.astype(int),
            "losses": lost.astype(int),
            "superiority": np.divide(won + tied / 2, compared_on, out=np.full(len(won), np.nan), where=compared_on > 0),
            "p": p,
            "adjusted": adjusted,
            "significant": (adjusted < how.alpha) & (totals[better] > totals[worse]),
        }
    )


def upsets(table: SegmentMeans, how: Comparison) -> np.ndarray:
    """Tell, at [j, i], whether the j-th system is significantly better than the i-th, whose score is higher."""
    size = len(table.systems)
    found = np.zeros((size, size), bool)
    found[np.triu_indices(size, 1)] = how.p_values(table.taken(np.arange(size)[::-1]))[-1] < how.alpha
    return found[::-1, ::-1]


def _mann_whitney(table: SegmentMeans, how: Comparison) -> tuple[np.ndarray, ...]:
    """Count wins, ties and losses over all pairs of segments of every two systems, and test their balance."""
    means, there = table.means, np.isfinite(table.means)
    rows = np.nonzero(there)[0]
    distinct, codes = np.unique(means[there], return_inverse=True)
    shape = len(means), len(distinct)
    counts = np.bincount(rows * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    below = np.cumsum(counts, axis=1) - counts
    won, tied, n = counts @ below.T, counts @ counts.T, counts.sum(axis=1)
    squares = counts**2
    mixed, cubes = squares @ counts.T, (squares * counts).sum(axis=1)
    cubes = cubes[:, None] + cubes + 3 * (mixed + mixed.T)  # of the numbers of tied segments in both systems together
    both, pairs = n[:, None] + n, n[:, None] * n
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = pairs / 12 * (both + 1 - (cubes - both) / (both * (both - 1)))
    upper = np.triu_indices(len(means), 1)
    distance = (won + tied / 2 - pairs / 2)[upper]
    p = inference.normal(distance, variance[upper], continuity=0.5)
    small = (n[:, None] < EXACT_BELOW) & (n < EXACT_BELOW) & (cubes == both)
    for k in np.flatnonzero(small[upper]):
        a, b = (means[side[k]][there[side[k]]] for side in upper)
        p[k] = stats.mannwhitneyu(a, b, alternative="greater", method="exact").pvalue
    return won[upper], tied[upper], won.T[upper], p


def _wilcoxon(table: SegmentMeans, how: Comparison) -> tuple[np.ndarray, ...]:
    """Test by the ranks of the matched differences, zeros left out, one system against all worse ones at a time."""
    means, parts = table.means, []
    for a in range(len(means) - 1):
        difference = means[a] - means[a + 1 :]
        p = inference.signed_rank(difference, continuity=0.5, exact_up_to=EXACT_BELOW - 1)
        parts.append((*_signs(difference), p))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True)) if parts else (np.zeros(0),) * 4


def _permutation(table: SegmentMeans, how: Comparison) -> tuple[np.ndarray, ...]:
    """Test the sum of the matched differences against sums with random signs, the same for all pairs of systems."""
    better, worse = np.triu_indices(len(table.means), 1)
    difference = table.means[better] - table.means[worse]
    p = inference.sign_flips(difference, resamples=how.resamples, seed=np.random.default_rng(how.seed))
    return *_signs(difference), p


def _t(table: SegmentMeans, how: Comparison) -> tuple[np.ndarray, ...]:
    """Hold differences of scores against what another choice of units would do to them."""
    better, worse = np.triu_indices(len(table.means), 1)
    if table.influences:
        p = drawn.apart(table.totals(), *table.influences.spread())
    else:
        p = drawn.higher(table.totals(), drawn.covariance(table), drawn.fewest_units(table))
    return *_signs(table.means[better] - table.means[worse]), p


def _signs(difference: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count positive, zero and negative differences a row; missing ones are none of these."""
    return tuple(kind.sum(axis=1) for kind in (difference > 0, difference == 0, difference < 0))


#: What to compare two systems by: (table in the order of the ranking, how) -> wins, ties, losses, p.
TESTS: dict[str, Callable[..., tuple[np.ndarray, ...]]] = {
    "mann-whitney": _mann_whitney,
    "wilcoxon": _wilcoxon,
    "permutation": _permutation,
    "t": _t,
}
