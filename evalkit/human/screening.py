"""Screen annotators by rules that a user sets, and say what a rule would do and how sure its decisions are."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.annotators import (
    FEWEST_SHARED,
    beside_others,
    everyone,
    in_outer_tenths,
    paired_t,
    quality_pairs,
    repeat_differences,
    seconds_taken,
    wilcoxon,
)
from evalkit.stats import inference
from evalkit.stats.correlation import spearman

_COMPARE = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_TEXT = re.compile(r"\s*(\w+)\s*(<=|<|>=|>)\s*(-?\d*\.?\d+(?:e[+-]?\d+)?)\s*$")
_WHO = ["pair", "annotator"]
_IN_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
#: An example of each kind of rule. The last is WMT's quality control.
RULES = (
    "unique_scores < 6",
    "sd < 5",
    "at_ends > 0.95",
    "median_abs_diff > 20",
    "with_others < 0.1",
    "seconds < 3",
    "qc_p >= 0.05",
)


@dataclass(frozen=True)
class Measure:
    """What to draw anew (``units``: ratings -> pair, annotator and values) and what to compute from the values drawn.

    statistic: columns of one annotator's values, each (resamples, units) -> (resamples,). fewest: units needed.
    """

    meaning: str
    units: Callable[[pd.DataFrame], pd.DataFrame]
    statistic: Callable[..., np.ndarray]
    fewest: int = 1

    def of(self, stack: np.ndarray) -> np.ndarray:
        """Compute the measure of resamples × units × columns: (resamples,), missing of too few units."""
        if stack.shape[1] < self.fewest:
            return np.full(len(stack), np.nan)
        return np.asarray(self.statistic(*np.moveaxis(stack, -1, 0)), float)


def _judgements(ratings: pd.DataFrame) -> pd.DataFrame:
    return with_pair(ratings)[[*_WHO, "score"]]


def _ends(ratings: pd.DataFrame) -> pd.DataFrame:
    return _judgements(ratings).assign(score=in_outer_tenths(ratings).astype(float))


def _shared(ratings: pd.DataFrame) -> pd.DataFrame:
    return beside_others(ratings).dropna(subset="others")[[*_WHO, "score", "others"]]


def _distinct(values: np.ndarray) -> np.ndarray:
    return 1.0 + (np.diff(np.sort(values, axis=1), axis=1) > 0).sum(axis=1)


#: What a rule can be about: names as in ``annotators.profiles``.
MEASURES = {
    "unique_scores": Measure("number of distinct scores", _judgements, _distinct),
    "mean": Measure("mean score, points", _judgements, lambda x: x.mean(axis=1)),
    "sd": Measure("standard deviation of scores, points", _judgements, lambda x: x.std(axis=1, ddof=1), 2),
    "at_ends": Measure(
        "share of scores in the lowest or the highest tenth of the scale", _ends, lambda x: x.mean(axis=1)
    ),
    "median_abs_diff": Measure(
        "median difference on repeats, points", repeat_differences, lambda x: np.median(x, axis=1)
    ),
    "max_abs_diff": Measure("largest difference on repeats, points", repeat_differences, lambda x: x.max(axis=1)),
    "with_others": Measure("rank correlation with the mean of the others", _shared, spearman, FEWEST_SHARED),
    "seconds": Measure("median seconds a judgement", seconds_taken, lambda x: np.median(x, axis=1)),
    "qc_p": Measure("p-value (t) of degraded items against their originals", quality_pairs, paired_t, 2),
    "qc_wilcoxon": Measure("p-value (signed rank) of degraded items against their originals", quality_pairs, wilcoxon),
}


@dataclass(frozen=True)
class Rule:
    """Flag an annotator whose ``measure`` compares with ``threshold`` by ``sign``.

    >>> rule = Rule.parse("with_others < 0.1")
    >>> rule.measure, rule.sign, rule.threshold, str(rule)
    ('with_others', '<', 0.1, 'with_others < 0.1')
    """

    measure: str
    sign: str
    threshold: float

    @classmethod
    def parse(cls, text: Rule | str) -> Rule:
        """Read a rule such as ``sd < 5``; raise DataError where there is no such measure or the text is no rule."""
        if isinstance(text, Rule):
            return text
        found = _TEXT.match(text)
        if found is None:
            raise DataError(f"{text!r} is no rule. Write a measure, one of < <= > >=, and a number: 'sd < 5'.")
        if found[1] not in MEASURES:
            raise DataError(f"Rule {text!r}: no such measure. Choose one of: {', '.join(MEASURES)}.")
        return cls(found[1], found[2], float(found[3]))

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.threshold:g}"

    @property
    def in_words(self) -> str:
        """Say the rule as people say it.

        >>> Rule.parse("median_abs_diff > 20").in_words, Rule.parse("unique_scores < 6").in_words
        ('median difference on repeats above 20 points', 'number of distinct scores below 6')
        """
        meaning, _, unit = MEASURES[self.measure].meaning.partition(", ")
        return f"{meaning} {_IN_WORDS[self.sign]} {self.threshold:g} {unit if unit == 'points' else ''}".rstrip()

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Tell which values the rule flags; never missing ones."""
        return _COMPARE[self.sign](values, self.threshold)


def rules_in_words(rules: Sequence[Rule | str] = RULES) -> dict[str, str]:
    """Map rules, as tables of this module have them, to what people call them; "any" stands for one or more of them.

    >>> rules_in_words(["sd < 5"])
    {'sd < 5': 'standard deviation of scores below 5 points', 'any': 'one rule or more'}
    """
    return {str(rule): rule.in_words for rule in map(Rule.parse, rules)} | {"any": "one rule or more"}


def screen(ratings: pd.DataFrame, rules: Sequence[Rule | str] = RULES) -> pd.DataFrame:
    """Apply each rule to each annotator of each language pair.

    rules: texts such as ``sd < 5``; measures are the keys of ``MEASURES``, defined as in ``profiles``. Returns pair,
    annotator, rule, measure, value, threshold, flagged, and unknown, where the measure is missing: that flags nobody.
    """
    parts, people = [], everyone(ratings)
    for rule in _read(rules):
        values = np.concatenate([MEASURES[rule.measure].of(stack) for stack in _stacks(ratings, rule, people)])
        part = pd.DataFrame({"rule": str(rule), "measure": rule.measure, "value": values}, index=people)
        parts.append(part.assign(threshold=rule.threshold, flagged=rule.holds(values), unknown=np.isnan(values)))
    return pd.concat(parts).reset_index()


def screening_totals(screened: pd.DataFrame) -> pd.DataFrame:
    """Count by rule: annotators (of a language pair each), flagged, unknown; the rule "any" is one or more of them."""
    anyone = screened.groupby(_WHO).agg(flagged=("flagged", "any"), unknown=("unknown", "all")).reset_index()
    both = pd.concat([screened, anyone.assign(rule="any")]).groupby("rule", sort=False)
    sums = {"annotators": ("annotator", "size"), "flagged": ("flagged", "sum"), "unknown": ("unknown", "sum")}
    return both.agg(**sums).reset_index()


def exclude_annotators(ratings: pd.DataFrame, screened: pd.DataFrame, *, rule: str | None = None) -> pd.DataFrame:
    """Leave out the judgements of flagged annotators, within their language pair.

    screened: the result of ``screen``. rule: only this one; None takes all. Raises DataError where a language pair
    would be left without judgements, and on a rule that was not applied.
    """
    if rule is not None:
        rule = str(Rule.parse(rule))
        if rule not in set(screened["rule"]):
            raise DataError(f"{rule}: not among the rules applied, which are {'; '.join(screened['rule'].unique())}.")
    chosen = screened[screened["flagged"] & (screened["rule"].eq(rule) if rule else True)]
    frame = with_pair(ratings)
    gone = pd.MultiIndex.from_frame(frame[_WHO]).isin(pd.MultiIndex.from_frame(chosen[_WHO]))
    left = ratings[~gone]
    if emptied := sorted(set(frame["pair"].unique()) - set(frame.loc[~gone, "pair"].unique())):
        raise DataError(f"{', '.join(emptied)}: the rules flag everybody. Loosen them, or leave the pair out.")
    return left.reset_index(drop=True)


def agreement_change(before: pd.DataFrame, after: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    """Compare agreement before and after screening, and with what leaving out anybody would have done.

    Agreement is Krippendorff's alpha (interval) of raw scores, over items that two or more annotators scored; degraded
    items do not count. Returns pair, annotators and judgements, each _before and _after, alpha_before, alpha_after
    (missing where no two annotators share an item any more), and random_low, random_high: the interval of alpha where
    as many annotators leave at random (``resamples`` draws).
    Caveat: a rule that looks at agreement raises it by construction; the interval does not correct for that.
    """
    rng, rows = np.random.default_rng(seed), []
    old, new = (with_pair(table[table["item_type"].ne("degraded")]) for table in (before, after))
    for pair, table in old.groupby("pair"):
        kept, scores = new[new["pair"] == pair], _matrix(table)
        people, stay = scores.shape[1], kept["annotator"].nunique()
        draws = np.array([_alpha(scores[:, rng.permutation(people)[:stay]]) for _ in range(resamples)])
        low, high = inference.defined_interval(draws[:, None]) if resamples else np.full((2, 1), np.nan)
        row = {"pair": pair, "annotators_before": people, "annotators_after": stay}
        row |= {"judgements_before": len(table), "judgements_after": len(kept)}
        row |= {"alpha_before": _alpha(scores), "alpha_after": _alpha(_matrix(kept))}
        rows.append(row | {"random_low": float(low[0]), "random_high": float(high[0])})
    return pd.DataFrame(rows)


def stability(
    ratings: pd.DataFrame, rules: Sequence[Rule | str] = RULES, *, resamples: int = 500, seed: int = 7
) -> pd.DataFrame:
    """Say how often each annotator would be flagged if their items had been others: a bootstrap of the decision.

    Each annotator's own units are drawn anew: judgements, repeated items, items shared with others (whose means stay),
    or pairs of quality control (over all language pairs of the annotator). Returns pair, annotator, rule, value,
    flagged, share (of ``resamples`` that flag the annotator), mean (of the resampled values; far from ``value``, the
    bootstrap is biased, as it is for unique_scores, since a resample holds fewer distinct items) and unknown (the
    measure is missing; share is then too).
    A share near 0 or 1 is a firm decision, one near 0.5 is a coin's toss.
    Caveat: judgements are drawn one by one; those of one document are alike, so true decisions are less firm.
    """
    rng, parts, people = np.random.default_rng(seed), [], everyone(ratings)
    for rule in _read(rules):
        measure, rows = MEASURES[rule.measure], []
        for stack in _stacks(ratings, rule, people):
            [value] = measure.of(stack)
            drawn = np.full(1, np.nan)
            if np.isfinite(value):
                drawn = inference.bootstrap(stack[0], measure.of, resamples=resamples, seed=rng)
            defined = drawn[np.isfinite(drawn)]
            share, mean = (rule.holds(defined).mean(), defined.mean()) if len(defined) else (np.nan, np.nan)
            rows.append((value, share, mean))
        part = pd.DataFrame(rows, columns=["value", "share", "mean"], index=people).assign(rule=str(rule))
        parts.append(part.assign(flagged=rule.holds(part["value"]), unknown=part["value"].isna()))
    names = ["pair", "annotator", "rule", "value", "flagged", "share", "mean", "unknown"]
    return pd.concat(parts).reset_index()[names]


def _read(rules: Sequence[Rule | str]) -> list[Rule]:
    if isinstance(rules, str) or not len(rules):
        raise DataError("Screening needs a list of rules, such as ['sd < 5'].")
    return [Rule.parse(rule) for rule in rules]


def _stacks(ratings: pd.DataFrame, rule: Rule, people: pd.MultiIndex) -> Iterator[np.ndarray]:
    """Yield what a rule's measure is computed from, annotator by annotator: a stack of one, 1 × units × columns."""
    units = MEASURES[rule.measure].units(ratings).set_index(_WHO)
    place = people.get_indexer(units.index)
    order = np.argsort(place, kind="stable")
    values, ends = units.to_numpy(float)[order], np.searchsorted(place[order], np.arange(len(people) + 1))
    return (values[start:end][None] for start, end in itertools.pairwise(ends))


def _matrix(table: pd.DataFrame) -> np.ndarray:
    """Return items × annotators, as they come first; an annotator's scores of one item become their mean."""
    item = [*ITEM, table["item_type"].eq("reference")]
    wide = table.groupby([*item, "annotator"])["score"].mean().unstack("annotator")
    return wide[table["annotator"].unique()].to_numpy()


def _alpha(scores: np.ndarray) -> float:
    """Return Krippendorff's alpha for interval data from sums; the quick way for many subsets of annotators."""
    n = np.isfinite(scores).sum(axis=1)
    n, scores = n[n > 1], scores[n > 1]
    scores = scores - (np.nanmean(scores) if len(scores) else 0)
    total, square = np.nansum(scores, axis=1), np.nansum(scores**2, axis=1)
    observed = ((n * square - total**2) / (n - 1)).sum()
    expected = (n.sum() * square.sum() - total.sum() ** 2) / max(n.sum() - 1, 1)
    return float(1 - observed / expected) if expected > 0 else np.nan
