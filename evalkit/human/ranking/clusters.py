"""Draw the lines between groups of systems that a test tells apart, and count who beats whom."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.human.ranking.pairwise import Comparison, compared, upsets
from evalkit.human.ranking.scores import COUNTED, SEGMENT, SegmentMeans, ranked, segment_means

#: A line stands below a system if "all" from the first to it beat each one below; or by the number of its "own" wins.
LINES = ("all", "own")


def significance_clusters(
    ratings: pd.DataFrame,
    *,
    score: str = "score",
    test: str = "mann-whitney",
    alpha: float = 0.05,
    alternative: str = "greater",
    correction: str | None = None,
    line: str = "all",
    with_upsets: bool = False,
    item_types: tuple[str, ...] = COUNTED,
    segment: tuple[str, ...] = SEGMENT,
    digits: int | None = None,
    resamples: int = 5000,
    seed: int = 7,
) -> pd.DataFrame:
    """Rank the systems of each language pair, and part them into clusters by pairwise tests.

    line: "all" draws one below a system if it and all above are significantly better than all below, which is how
    WMT's findings describe clusters; "own" if it has as many wins as there are systems below, whatever those above
    have, which is the rule of WMT's published files. with_upsets: a system may also win over one with a higher score,
    as in these files (a mean and a rank test can disagree); needs alternative="greater". All other options: see
    ``pairwise_tests``; the defaults with score="z" are WMT22's.
    Returns, in the order of the ranking: pair, system, score, segments, judgements, rank, cluster (1 is best), wins and
    losses (significant ones), rank_top = 1 + losses and rank_bottom = systems - wins, the range of ranks that WMT
    prints.  Source: WMT22 findings (Kocmi et al. 2022).  Caveat: a range is no confidence interval; many tests at
    ``alpha`` each draw some lines by chance (see correction), and a line not drawn says nothing about equality.

    >>> ratings = pd.DataFrame({"src_lang": "ces", "tgt_lang": "eng", "system": list("AAAABBBB"),
    ...     "segment": list("1234") * 2, "score": [60.0, 70, 80, 90, 10, 20, 30, 65], "item_type": "system"})
    >>> significance_clusters(ratings)[["system", "cluster", "rank_top", "rank_bottom"]].values.tolist()
    [['A', 1, 1, 1], ['B', 2, 2, 2]]
    """
    how = Comparison(test, alpha, alternative, correction, resamples, seed)
    tables = segment_means(ratings, score=score, item_types=item_types, segment=segment, digits=digits)
    parts = [clustered(pair, table, how, line=line, with_upsets=with_upsets) for pair, table in tables.items()]
    return pd.concat(parts, ignore_index=True)


def clustered(
    pair: str, table: SegmentMeans, how: Comparison, *, line: str = "all", with_upsets: bool = False
) -> pd.DataFrame:
    """Part the systems of one language pair."""
    if line not in LINES:
        raise DataError(f"line={line!r}: choose one of {', '.join(LINES)}.")
    if with_upsets and how.two_sided:
        raise DataError("with_upsets needs one-sided tests: pass alternative='greater'.")
    table = table.ordered()
    size = len(table.systems)
    beats = np.zeros((size, size), bool)
    beats[np.triu_indices(size, 1)] = compared(pair, table, how)["significant"]
    if with_upsets:
        beats |= upsets(table, how)
    won, lost = beats.sum(axis=1), beats.sum(axis=0)
    ends = won == np.arange(size)[::-1] if line == "own" else complete(beats)
    return ranked(pair, table).assign(
        cluster=1 + np.cumsum(np.r_[0, ends[:-1]]), wins=won, losses=lost, rank_top=1 + lost, rank_bottom=size - won
    )


def complete(beats: np.ndarray) -> np.ndarray:
    """Tell below which systems all from the first on beat all that follow; [i, j]: the i-th beats the j-th.

    >>> complete(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [False, True, True]
    """
    return np.array([beats[: i + 1, i + 1 :].all() for i in range(len(beats))])
