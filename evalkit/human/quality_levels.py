r"""Marked errors as a level of quality: penalties per word, scores against a tolerance, and is a text long enough?

Every marked error weighs some penalty points (``evalkit.data.typology``). How many a text may have to pass is agreed on
beforehand, for a text of so many words: a ``Tolerance``. The calibrated score of a text with penalty P is

.. math:: 100 - (100 - \text{threshold}) \, P / T(\text{words})

so that who uses up the tolerance T is at the threshold. T is a straight line through 0 and one point (MQM's linear
calibrated model), or :math:`a \ln(1 + b \cdot \text{words})` through two points, for people forgive a long text less
than in proportion (its logarithmic one). The raw score, 100 (1 - P / words), needs no tolerance.

A text is a sample of what its translator, or system, makes: ``penalty_interval`` says which penalties are usual
for texts like it, ``verdict`` whether it is long enough to say pass or fail, ``words_needed`` how long it must be.
Source: Lommel et al. 2024 (arXiv 2405.16969) and themqm.org for both scores; Gladkoff, Han & Gasova 2025 (arXiv
2511.13467) for the logarithm; intervals and verdicts are this project's. ISO 5060:2024 names types of errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import optimize, stats

from evalkit import DataError
from evalkit.stats.correlation import ratio

#: Words that penalties are told per.
PER = 1000
#: Fewest documents, or other groups, whose scatter says how sure a penalty is; with fewer, segments do.
GROUPS = 10
#: What a text shows.
PASSED, FAILED, CRITICAL, SHORT = "pass", "fail", "fail: critical error", "too short to say"
#: Longest text that is thought of, in words.
LONGEST = 10_000_000
#: Languages written without spaces between words.
UNSPACED = frozenset(["zho", "yue", "wuu", "jpn", "tha", "lao", "khm", "mya", "bod", "dzo"])


@dataclass(frozen=True)
class Tolerance:
    """How many penalty points a text may have, by its words; DataError for points that no such curve goes through.

    points: one or two of (words, penalty points). threshold: the score of a text that has just as many as it may.

    >>> Tolerance([(1000, 10)]).allowed([500, 2000]).tolist()
    [5.0, 20.0]
    >>> Tolerance([(1000, 10), (8000, 30)]).allowed([500, 1000, 8000, 16000]).round(6).tolist()
    [5.957137, 10.0, 30.0, 38.209989]
    """

    points: Sequence[tuple[float, float]]
    threshold: float = 90.0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        few = len(self.points) in (1, 2) and all(number > 0 for point in self.points for number in point)
        if not few or not 0 <= self.threshold < 100:
            raise DataError("A tolerance is words and penalty points above 0, once or twice, as in [1000, 10].")
        if len(self.points) == 2:
            (words, allowed), (more, most) = sorted(self.points)
            if not 1 < most / allowed < more / words:
                raise DataError(
                    f"{more:g} words must be allowed more points than {words:g} words, but less than in proportion: "
                    f"between {allowed:g} and {allowed * more / words:g}."
                )

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Tolerance:
        """Read words and points, in turn: [1000, 10] or [1000, 10, 8000, 30]."""
        return cls([(words, points) for words, points in zip(numbers[::2], numbers[1::2], strict=True)])

    @cached_property
    def _log_b(self) -> float:
        """The logarithm of b, at which the curve's heights at both points have the ratio that they must have."""
        (words, allowed), (more, most) = sorted(self.points)

        def over(log_b: float) -> float:
            heights = np.log(np.logaddexp(0, log_b + np.log([words, more])))
            return float(heights[1] - heights[0] - np.log(most / allowed))

        return float(optimize.brentq(over, -np.log(more) - 20, 1e6))

    def allowed(self, words: ArrayLike) -> np.ndarray:
        """Return the penalty points that texts of so many words may have."""
        size = np.asarray(words, float)
        reference, points = min(self.points)
        if len(self.points) == 1:
            return points * size / reference
        heights = [np.logaddexp(0, self._log_b + np.log(np.maximum(one, 1e-300))) for one in (size, reference)]
        return points * heights[0] / heights[1]

    def score(self, penalty: ArrayLike, words: ArrayLike) -> np.ndarray:
        """Return calibrated scores, 100 at best; at the threshold where the tolerance is used up, and below 0 perhaps.

        >>> Tolerance([(1000, 10)], threshold=95).score([0, 10, 30], [1000, 2000, 1000]).tolist()
        [100.0, 97.5, 85.0]
        """
        return 100 - (100 - self.threshold) * np.asarray(penalty, float) / self.allowed(words)


def raw_score(penalty: ArrayLike, words: ArrayLike) -> np.ndarray:
    """Return 100 less the penalty per hundred words: MQM's raw score, which needs no tolerance.

    >>> raw_score(10, 1000).tolist()  # ten minor errors in a thousand words
    99.0
    """
    return 100 * (1 - np.asarray(penalty, float) / np.asarray(words, float))


def penalty_interval(
    penalty: ArrayLike, variance: ArrayLike, *, another: tuple[float, float] = (1.0, 1.0)
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the 95 % interval of a penalty: of the mean of texts as long, by the same translator.

    variance: of the penalty; where errors come independently of each other, the sum of their squared weights. another:
    the mean and the mean squared weight of an error, for the one that was missed by chance. Exact for errors of one
    weight (Garwood 1936). Source: gamma intervals of weighted sums of Poisson counts (Fay & Feuer 1997), the upper end
    as modified by Tiwari, Clegg & Zou 2006; in simulations it holds in 95 to 99 % of texts.  Caveat: errors much
    heavier than all that were seen are not foreseen.

    >>> [end.round(2).tolist() for end in penalty_interval([0, 10], [0, 10])]
    [[0.0, 4.8], [3.69, 18.39]]
    """
    y, v, tail = np.asarray(penalty, float), np.asarray(variance, float), 0.025
    low = np.nan_to_num(ratio(v, 2 * y) * stats.chi2.ppf(tail, ratio(2 * y**2, v)), nan=0.0)
    y, v = y + another[0], v + another[1]
    return low, v / (2 * y) * stats.chi2.isf(tail, 2 * y**2 / v)


def words_needed(per_word: float, variance: float, tolerance: Tolerance) -> float:
    """Return from how many words on a text shows whether it passes; missing where none of ``LONGEST`` words would.

    per_word, variance: the penalty of a word and its variance. Of such texts 80 % are then told apart from the
    tolerance by a 95 % interval. Source: normal approximation.

    >>> round(words_needed(0.006, 0.02, Tolerance([(1000, 10)])), -2)
    9800.0
    """
    words = np.geomspace(10, LONGEST, 20_000)
    reach = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    enough = np.abs(tolerance.allowed(words) - per_word * words) >= reach * np.sqrt(variance * words)
    return float(np.ceil(words[enough.argmax()])) if enough.any() else np.nan


def count_words(texts: pd.Series) -> pd.Series:
    """Count words: what stands between spaces.

    >>> count_words(pd.Series(["Two words.", ""])).tolist()
    [2, 0]
    """
    return texts.astype("str").str.split().str.len()


def quality_levels(
    judged: pd.DataFrame, *, another: tuple[float, float], tolerance: Tolerance | None = None
) -> pd.DataFrame:
    """Grade every system's translations: penalties, scores, verdicts.

    judged: a row per judgement: system, item (whose translation of which segment), group (its document), words,
    penalty, squares (its errors' squared weights, added up) and critical (how many of them are critical). Where several
    people judged an item, their mean counts. another: see ``penalty_interval``. The variance is that of independent
    errors, or of documents as they scatter, whichever is more. Returns system, words, penalty, per_1000, low, high (its
    95 % interval), raw, critical; with a tolerance also allowed (points for so many words), score, score_low,
    score_high, verdict (see ``PASSED`` and what follows it; MQM lets one critical error fail a text) and words_needed.
    Caveat: errors that nobody marked cost nothing, and people mark differently many.
    """
    ways = {"group": "first", "words": "first"} | dict.fromkeys(["penalty", "squares", "critical"], "mean")
    rows = []
    for name, own in judged.groupby(["system", "item"], observed=True).agg(ways).groupby(level=0):
        penalty, words = own["penalty"].sum(), own["words"].sum()
        if not words:
            raise DataError(f"{name}: its texts have no words, so nothing can be said per word.")
        whole = own.groupby("group")[["penalty", "words"]].sum()
        units = whole if len(whole) >= GROUPS else own
        left = (units["penalty"] - penalty / words * units["words"]) ** 2
        scatter = left.sum() * len(units) / max(len(units) - 1, 1)
        rows.append((name, int(words), penalty, max(own["squares"].sum(), scatter), own["critical"].sum()))
    table = pd.DataFrame(rows, columns=["system", "words", "penalty", "variance", "critical"])
    ends = penalty_interval(table["penalty"], table["variance"], another=another)
    table["per_1000"], table["low"], table["high"] = (PER * one / table["words"] for one in (table["penalty"], *ends))
    table["raw"] = raw_score(table["penalty"], table["words"])
    columns = ["system", "words", "penalty", "per_1000", "low", "high", "raw", "critical"]
    if tolerance is None:
        return table[columns].sort_values("per_1000", kind="stable", ignore_index=True)
    table["allowed"] = tolerance.allowed(table["words"])
    scores = {"score": table["penalty"], "score_low": ends[1], "score_high": ends[0]}
    table = table.assign(**{name: tolerance.score(one, table["words"]) for name, one in scores.items()})
    sure = np.select([ends[1] <= table["allowed"], ends[0] > table["allowed"]], [PASSED, FAILED], SHORT)
    table["verdict"] = np.where(table["critical"] > 0, CRITICAL, sure)
    each = [(row.penalty / row.words, row.variance / row.words) for row in table.itertuples()]
    table["words_needed"] = [words_needed(*one, tolerance) for one in each]
    columns += ["allowed", *scores, "verdict", "words_needed"]
    return table[columns].sort_values("per_1000", kind="stable", ignore_index=True)
