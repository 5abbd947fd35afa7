"""Screen annotators by rules that a user sets, and say what a rule would do and how sure its decisions are."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, with_pair
from evalkit.human.annotators.consistency import FEWEST_SHARED, beside_others, repeat_differences
from evalkit.human.annotators.pace import seconds_taken
from evalkit.human.annotators.quality_control import paired_t, quality_pairs, signed_rank
from evalkit.human.annotators.usage import in_outer_tenths
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

    statistic: values of one annotator, resamples × units × columns -> resamples. fewest: units needed.
    """

    units: Callable[[pd.DataFrame], pd.DataFrame]
    statistic: Callable[[np.ndarray], np.ndarray]
    meaning: str
    fewest: int = 1


def _judgements(ratings: pd.DataFrame) -> pd.DataFrame:
    return with_pair(ratings)[["pair", "annotator", "score"]]


def _ends(ratings: pd.DataFrame) -> pd.DataFrame:
    """Mark the scores in the lowest or the highest tenth of the table's scale."""
    return _judgements(ratings).assign(score=in_outer_tenths(ratings).astype(float))


def _shared(ratings: pd.DataFrame) -> pd.DataFrame:
    return beside_others(ratings).dropna(subset="others")[["pair", "annotator", "score", "others"]]


def _distinct(stack: np.ndarray) -> np.ndarray:
    return 1.0 + (np.diff(np.sort(stack[..., 0], axis=1), axis=1) > 0).sum(axis=1)


def _spearman(stack: np.ndarray) -> np.ndarray:
    return spearman(stack[..., 0], stack[..., 1])


#: What a rule can be about: names as in ``profiles``.
MEASURES = {
    "unique_scores": Measure(_judgements, _distinct, "number of distinct scores"),
    "mean": Measure(_judgements, lambda s: s[..., 0].mean(axis=1), "mean score, points"),
    "sd": Measure(_judgements, lambda s: s[..., 0].std(axis=1, ddof=1), "standard deviation of scores, points", 2),
    "at_ends": Measure(
        _ends, lambda s: s[..., 0].mean(axis=1), "share of scores in the lowest or the highest tenth of the scale"
    ),
    "median_abs_diff": Measure(
        repeat_differences, lambda s: np.median(s[..., 0], axis=1), "median difference on repeats, points"
    ),
    "max_abs_diff": Measure(
        repeat_differences, lambda s: s[..., 0].max(axis=1), "largest difference on repeats, points"
    ),
    "with_others": Measure(_shared, _spearman, "rank correlation with the mean of the others", FEWEST_SHARED),
    "seconds": Measure(seconds_taken, lambda s: np.median(s[..., 0], axis=1), "median seconds a judgement"),
    "qc_p": Measure(quality_pairs, paired_t, "p-value (t) of degraded items against their originals", 2),
    "qc_wilcoxon": Measure(
        quality_pairs, signed_rank, "p-value (signed rank) of degraded items against their originals"
    ),
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
    everyone = with_pair(ratings).groupby(_WHO).size().index
    parts = []
    for rule in _read(rules):
        values = np.array([_value(rule.measure, stack) for stack in _stacks(ratings, rule.measure, everyone)])
        part = pd.DataFrame({"rule": str(rule), "measure": rule.measure, "value": values}, index=everyone)
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
    rng = np.random.default_rng(seed)
    old, new = (with_pair(table[table["item_type"].ne("degraded")]) for table in (before, after))
    rows = []
    for pair, table in old.groupby("pair"):
        kept = new[new["pair"] == pair]
        who = table["annotator"].unique()
        stay = kept["annotator"].nunique()
        items, people, scores = _coded(table)
        draws = [_alpha(items, scores, np.isin(people, rng.permutation(len(who))[:stay])) for _ in range(resamples)]
        defined = np.array(draws)[np.isfinite(draws)]
        low, high = inference.interval(defined) if len(defined) else (np.nan, np.nan)
        last, _, final = _coded(kept)
        rows.append(
            {
                "pair": pair,
                "annotators_before": len(who),
                "annotators_after": stay,
                "judgements_before": len(table),
                "judgements_after": len(kept),
                "alpha_before": _alpha(items, scores),
                "alpha_after": _alpha(last, final),
                "random_low": float(low),
                "random_high": float(high),
            }
        )
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
    everyone = with_pair(ratings).groupby(_WHO).size().index
    rng = np.random.default_rng(seed)
    parts = []
    for rule in _read(rules):
        rows = []
        for stack in _stacks(ratings, rule.measure, everyone):
            value = _value(rule.measure, stack)
            drawn = np.full(1, np.nan)
            if np.isfinite(value):
                statistic = MEASURES[rule.measure].statistic
                drawn = inference.bootstrap(stack[0], statistic, resamples=resamples, seed=rng)
            defined = drawn[np.isfinite(drawn)]
            share = rule.holds(defined).mean() if len(defined) else np.nan
            rows.append((value, share, defined.mean() if len(defined) else np.nan))
        part = pd.DataFrame(rows, columns=["value", "share", "mean"], index=everyone).assign(rule=str(rule))
        parts.append(part.assign(flagged=rule.holds(part["value"]), unknown=part["value"].isna()))
    names = ["pair", "annotator", "rule", "value", "flagged", "share", "mean", "unknown"]
    return pd.concat(parts).reset_index()[names]


def _read(rules: Sequence[Rule | str]) -> list[Rule]:
    if isinstance(rules, str) or not len(rules):
        raise DataError("Screening needs a list of rules, such as ['sd < 5'].")
    return [Rule.parse(rule) for rule in rules]


def _stacks(ratings: pd.DataFrame, measure: str, everyone: pd.MultiIndex) -> Iterable[np.ndarray]:
    """Yield what a measure is computed from, annotator by annotator: a stack of one, 1 × units × columns."""
    units = MEASURES[measure].units(ratings)
    columns = [name for name in units.columns if name not in _WHO]
    place = everyone.get_indexer(pd.MultiIndex.from_frame(units[_WHO]))
    order = np.argsort(place, kind="stable")
    values, ends = units[columns].to_numpy(float)[order], np.searchsorted(place[order], np.arange(len(everyone) + 1))
    return (values[start:end][None] for start, end in itertools.pairwise(ends))


def _value(measure: str, stack: np.ndarray) -> float:
    found = MEASURES[measure]
    return float(found.statistic(stack)[0]) if stack.shape[1] >= found.fewest else np.nan


def _coded(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number the items and annotators of one language pair; an annotator's scores of one item become their mean."""
    item = table.groupby([*ITEM, table["item_type"].eq("reference")]).ngroup()
    person = pd.factorize(table["annotator"])[0]
    once = table["score"].groupby([item.to_numpy(), person]).mean()
    return once.index.get_level_values(0).to_numpy(), once.index.get_level_values(1).to_numpy(), once.to_numpy()


def _alpha(items: np.ndarray, scores: np.ndarray, kept: np.ndarray | None = None) -> float:
    """Return Krippendorff's alpha for interval data from sums; the quick way for many subsets of annotators."""
    if kept is not None:
        items, scores = items[kept], scores[kept]
    n = np.bincount(items)
    there = n[items] > 1
    items, scores = items[there], scores[there] - (scores[there].mean() if there.any() else 0)
    n, total, square = (np.bincount(items, weights) for weights in (None, scores, scores**2))
    more = n > 1
    observed = ((n * square - total**2)[more] / (n[more] - 1)).sum()
    expected = (n.sum() * square.sum() - total.sum() ** 2) / max(n.sum() - 1, 1)
    return 1 - observed / expected if expected > 0 else np.nan
