"""The rules by which WMT drew lines between clusters of systems, WMT20 to WMT26, and four beside them: as data.

Each says what is averaged, which test compares two systems and at which level, and where a line stands then. What the
words mean stands in ``TESTS`` and in ``LINES``; ``by_rule`` applies a rule to ratings, ``rule_errors`` measures it.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import numpy as np

from evalkit import DataError
from evalkit.stats import inference

#: Where a line stands below a system, in words.
LINES = {
    "all": "all systems above beat all below",
    "own": "it beats as many systems as stand below",
    "least": "nobody above beats fewer systems than stand below",
    "next": "it beats the one just below",
    "ranges": "no range of ranks, up to the nearest difference, crosses it",
}
#: How two systems are compared, in words.
TESTS = {
    "rank sum": "ranks of all segments (Mann-Whitney)",
    "matched rank sum": "ranks of shared segments, unpaired",
    "signed rank": "ranks of differences (Wilcoxon)",
    "signed rank by domain": "ranks of differences in each domain, combined (Stouffer)",
    "either t": "Student's t, paired or independent, the lower p",
    "sign flips": "random signs of differences",
    "bootstrap": "differences drawn anew, segment by segment",
    "units": "Student's t over whole documents or annotators",
}
#: How p-values are corrected for many tests, in words that follow the level.
CORRECTIONS = {None: "", "holm": ", Holm's correction over all pairs", "lines": ", Holm's correction over lines"}


@dataclass(frozen=True)
class LineRule:
    """One way from judgements to lines between systems.

    by: "raw" scores or "z" (standardised per annotator). mean: over all "segments" alike, or over "domains" alike.
    test: see ``TESTS``. two_sided: whether its p-values are; else the better is tested to be better. alpha: their
    level. correction: see ``corrected``. line: see ``LINES``. upsets: whether a system may beat one with a higher mean.
    apart: whether several judgements of a segment count as so many segments. digits: significant ones of segments'
    means. source: whose rule it is, and where it is defined.
    """

    name: str
    title: str
    source: str
    by: str = "raw"
    mean: str = "segments"
    test: str = "rank sum"
    two_sided: bool = False
    alpha: float = 0.05
    correction: str | None = None
    line: str = "all"
    upsets: bool = False
    apart: bool = False
    digits: int | None = None

    @property
    def nominal(self) -> float:
        """How often two systems that do not differ are parted if the test keeps its level.

        A one-sided test of the one that happens to be ahead errs at twice its level.
        """
        return self.alpha if self.two_sided else 2 * self.alpha

    @property
    def sides(self) -> str:
        """The test's level in words."""
        return f"p < {self.alpha:g}, {'two-sided' if self.two_sided else 'one-sided'}{CORRECTIONS[self.correction]}"


_NEWS = "github.com/wmt-conference/wmt{}-news-systems, {}"
_ALL = [
    LineRule(
        "wmt20",
        "WMT20: rank sums of z-scores",
        "Barrault et al. 2020, and so WMT21's and WMT22's findings in words",
        by="z",
        test="rank sum",
    ),
    LineRule(
        "wmt21-into-english",
        "WMT21 and WMT22 into English, as their files are",
        _NEWS.format("21", "humaneval/newstest2021-toen") + "; the same of WMT22",
        by="z",
        test="rank sum",
        line="own",
        upsets=True,
        digits=15,
    ),
    LineRule(
        "wmt22",
        "WMT22 (and WMT21 out of English): matched rank sums of z-scores",
        _NEWS.format("22", "humaneval/DA+SQM/make_rankings.py"),
        by="z",
        test="matched rank sum",
        line="least",
    ),
    LineRule(
        "wmt23",
        "WMT23: matched rank sums of raw scores",
        "github.com/AppraiseDev/Appraise, ComputeWMT23Results.py; Kocmi et al. 2023",
        test="matched rank sum",
        line="least",
    ),
    LineRule(
        "wmt24",
        "WMT24: signed ranks within domains, combined",
        _NEWS.format("24", "humeval/calculate_clusters.py and tools.py"),
        mean="domains",
        test="signed rank by domain",
        two_sided=True,
    ),
    LineRule(
        "wmt24-micro",
        "WMT24's option: signed ranks over all segments",
        _NEWS.format("24", "humeval/calculate_clusters.py --micro"),
        test="signed rank",
        two_sided=True,
    ),
    LineRule(
        "wmt25",
        "WMT25: signed ranks, neighbours only",
        "github.com/wmt-conference/wmt25-general-mt, humeval/05-compute_clusters.py (clusters)",
        test="signed rank",
        line="next",
        apart=True,
    ),
    LineRule(
        "wmt25-ranges",
        "WMT25's tables: signed ranks, ranges of ranks",
        "github.com/wmt-conference/wmt25-general-mt, humeval/05-compute_clusters.py (tables)",
        test="signed rank",
        line="ranges",
        apart=True,
    ),
    LineRule(
        "wmt25-permutation",
        "WMT25's other test: random signs, neighbours only",
        "github.com/wmt-conference/wmt25-general-mt, humeval/05-compute_clusters.py (commented out)",
        test="sign flips",
        line="next",
        apart=True,
    ),
    LineRule(
        "wmt26",
        "WMT26: t-test, paired or independent",
        "github.com/wmt-conference/wmt26-general-mt, humeval/04-analysis.py",
        test="either t",
        two_sided=True,
    ),
    LineRule(
        "wmt26-next",
        "WMT26's thin lines: the same, neighbours only",
        "github.com/wmt-conference/wmt26-general-mt, humeval/04-analysis.py",
        test="either t",
        two_sided=True,
        line="next",
    ),
    LineRule(
        "bootstrap",
        "paired bootstrap of segments",
        "Koehn 2004; no script of WMT20 to WMT26 uses it",
        test="bootstrap",
    ),
    LineRule(
        "units",
        "whole documents or annotators, Holm over all pairs",
        "this project's campaign report: Liang & Zeger 1986; Holm 1979",
        test="units",
        correction="holm",
    ),
    LineRule(
        "units-plain",
        "whole documents or annotators, not corrected",
        "this project: Liang & Zeger 1986",
        test="units",
    ),
    LineRule(
        "units-lines",
        "whole documents or annotators, Holm over lines",
        "this project: Liang & Zeger 1986; Berger 1982; Holm 1979",
        test="units",
        correction="lines",
    ),
]
#: Every rule by its name, the oldest first.
RULES = {rule.name: rule for rule in _ALL}


def named(name: str) -> LineRule:
    """Return the rule of a name; DataError names the nearest one for another.

    >>> named("wmt26").line
    'all'
    >>> named("wmt2")
    Traceback (most recent call last):
    evalkit.DataError: There is no rule 'wmt2'. Did you mean 'wmt26'? There are wmt20, wmt21-into-english, wmt22, wmt...
    """
    if name in RULES:
        return RULES[name]
    near = difflib.get_close_matches(name, RULES, n=1)
    meant = f" Did you mean '{near[0]}'?" if near else ""
    raise DataError(f"There is no rule {name!r}.{meant} There are {', '.join(RULES)}.")


def corrected(p: np.ndarray, rule: LineRule) -> np.ndarray:
    """Correct the p-values of every two systems, (..., pairs) in the order of ``np.triu_indices``.

    "holm": over all pairs (Holm 1979). "lines": the claim of a line is that everybody above is better than everybody
    below, whose p-value is the highest across it (the intersection-union test, Berger 1982); these, one a line, are
    corrected by Holm, and two systems have the lowest of the lines between them. Fewer claims, so more is found.

    >>> over_lines = LineRule("l", "", "", correction="lines")
    >>> corrected(np.array([0.03, 0.001, 0.001]), over_lines).tolist()
    [0.03, 0.002, 0.002]
    """
    if rule.correction is None or p.shape[-1] < 2:
        return p
    if rule.correction == "holm":
        return _holm(p)
    size = round((1 + np.sqrt(1 + 8 * p.shape[-1])) / 2)
    better, worse = np.triu_indices(size, 1)
    across = (better <= np.arange(size - 1)[:, None]) & (worse > np.arange(size - 1)[:, None])
    adjusted = _holm(np.where(across, p[..., None, :], 0).max(axis=-1))
    return np.where(across, adjusted[..., None], 1).min(axis=-2)


def _holm(p: np.ndarray) -> np.ndarray:
    return np.apply_along_axis(inference.adjust, -1, p, method="holm")


def ends(beats: np.ndarray, line: str) -> np.ndarray:
    """Tell below which systems a line stands, (..., systems); below the last one always.

    beats: (..., systems, systems), whether the i-th beats the j-th, in the order of the ranking. line: see ``LINES``.

    >>> beats = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)
    >>> {line: ends(beats, line).tolist() for line in ("all", "next")}
    {'all': [False, True, True], 'next': [False, True, True]}
    """
    if line not in LINES:
        raise DataError(f"line={line!r}: choose one of {', '.join(LINES)}.")
    size = beats.shape[-1]
    won, below = beats.sum(axis=-1), np.arange(size)[::-1]
    if line == "own":
        found = won == below
    elif line == "least":
        found = np.minimum.accumulate(won, axis=-1) == below
    elif line == "next":
        found = np.concatenate([np.diagonal(beats, 1, -2, -1), np.ones_like(won[..., :1], bool)], axis=-1)
    elif line == "ranges":
        top, bottom = nearest(beats)
        found = np.stack(
            [
                (bottom[..., : i + 1] <= i + 1).all(axis=-1) & (top[..., i + 1 :] > i + 1).all(axis=-1)
                for i in range(size)
            ],
            axis=-1,
        )
    else:
        found = complete(beats)
    found[..., -1] = True
    return found


def complete(beats: np.ndarray) -> np.ndarray:
    """Tell below which systems all from the first on beat all that follow; beats: see ``ends``.

    >>> complete(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)).tolist()
    [False, True, True]
    """
    size = beats.shape[-1]
    return np.stack([beats[..., : i + 1, i + 1 :].all(axis=(-2, -1)) for i in range(size)], axis=-1)


def nearest(beats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return WMT25's ranges of ranks, (..., systems) each: a range ends before the nearest system that parts.

    beats: see ``ends``. Upwards, that is the nearest one that beats this system; downwards, that it beats.

    >>> [end.tolist() for end in nearest(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool))]
    [[1, 1, 3], [2, 2, 3]]
    """
    size = beats.shape[-1]
    places = np.arange(1, size + 1)
    upper = np.triu(beats, 1)
    top = 1 + (upper * places[:, None]).max(axis=-2)
    bottom = np.where(upper, places, size + 1).min(axis=-1) - 1
    return top, bottom
