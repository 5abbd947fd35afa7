"""The rules by which WMT drew lines between clusters of systems, WMT20 to WMT26, and four beside them: as data.

Each says what is averaged, which test compares two systems and at which level, and where a line stands then. The rules
stand in ``rules.toml``, and so does what their words mean (``TESTS`` and ``LINES``). ``lines`` applies a rule,
``trials`` measures how often it errs.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.stats import inference

_WRITTEN = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
#: Where a line stands below a system, in words.
LINES: dict[str, str] = _WRITTEN.pop("lines")
#: How two systems are compared, in words; ``lines`` has the functions.
TESTS: dict[str, str] = _WRITTEN.pop("tests")
#: How p-values are corrected for many tests, in words that follow the level; see ``corrected``.
CORRECTIONS = {None: "", "holm": ", Holm's correction over all pairs", "lines": ", Holm's correction over lines"}


@dataclass(frozen=True)
class LineRule:
    """One way from judgements to lines between systems; DataError for a test, correction or line that there is not.

    title: what it is. source: whose rule it is, and where it is defined. by: "raw" scores or "z" (standardised per
    annotator). mean: over all "segments" alike, or over "domains" alike. test: see ``TESTS``. two_sided: whether its
    p-values are; else the better is tested to be better. alpha: their level. correction: see ``corrected``. line: see
    ``LINES``. upsets: whether a system may beat one with a higher mean. apart: whether several judgements of a segment
    count as so many segments. digits: significant ones of segments' means. resamples: how many the rule draws; None for
    as many as are asked for. ranges: whether places are ranges up to the nearest difference, wherever lines stand.
    """

    name: str = ""
    title: str = ""
    source: str = ""
    by: str = "raw"
    mean: str = "segments"
    test: str = "mann-whitney"
    two_sided: bool = False
    alpha: float = 0.05
    correction: str | None = None
    line: str = "all"
    upsets: bool = False
    apart: bool = False
    digits: int | None = None
    resamples: int | None = None
    ranges: bool = False

    def __post_init__(self) -> None:
        """Refuse what is not known."""
        for name, known in (("test", TESTS), ("correction", CORRECTIONS), ("line", LINES)):
            if getattr(self, name) not in known:
                raise DataError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(map(str, known))}.")

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


#: Every rule by its name, the oldest first.
RULES = {name: LineRule(name, **row) for name, row in _WRITTEN.items()}


def table() -> pd.DataFrame:
    """List the rules in words: rule, scores, test, level, where a line stands, source."""
    rows = []
    for one in RULES.values():
        scores = f"{one.by}, by domain" if one.mean == "domains" else one.by
        rows.append((one.name, scores, TESTS[one.test], one.sides, LINES[one.line], one.source))
    return pd.DataFrame(rows, columns=["rule", "scores", "test", "level", "line below a system if", "source"])


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

    >>> over_lines = LineRule(correction="lines")
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


def ends(beats: np.ndarray, line: str = "all") -> np.ndarray:
    """Tell below which systems a line stands, (..., systems); below the last one always.

    beats: (..., systems, systems), whether the i-th beats the j-th, in the order of the ranking. line: see ``LINES``.

    >>> beats = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], bool)
    >>> {line: ends(beats, line).tolist() for line in ("all", "next")}
    {'all': [False, True, True], 'next': [False, True, True]}
    """
    size = beats.shape[-1]
    won, (top, bottom) = beats.sum(axis=-1), nearest(beats)
    found = np.ones(won.shape, bool)
    for i in range(size - 1):
        below = size - 1 - i
        if line == "own":
            found[..., i] = won[..., i] == below
        elif line == "least":
            found[..., i] = won[..., : i + 1].min(axis=-1) == below
        elif line == "next":
            found[..., i] = beats[..., i, i + 1]
        elif line == "ranges":
            found[..., i] = (bottom[..., : i + 1] <= i + 1).all(axis=-1) & (top[..., i + 1 :] > i + 1).all(axis=-1)
        else:
            found[..., i] = beats[..., : i + 1, i + 1 :].all(axis=(-2, -1))
    return found


def clusters(beats: np.ndarray, line: str = "all") -> np.ndarray:
    """Number the clusters of one ranking, 1 is best; see ``ends``."""
    return 1 + np.cumsum(np.r_[0, ends(beats, line)[:-1]])


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
