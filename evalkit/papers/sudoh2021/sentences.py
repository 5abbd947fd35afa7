"""What the study of critical errors says on its first page, computed from its results."""

from __future__ import annotations

import pandas as pd

from evalkit.papers.sudoh2021 import costs

#: Signals of critical errors, as somebody who knows none of them reads them; the others are classifiers.
_SIGNALS = {costs.NO_MODEL: costs.NO_MODEL, "DA": "people's scores", "chrF": "overlap with the reference (chrF)"}


def headline(finding: pd.DataFrame, *, found: float) -> str:
    """Say what crowds' scores make of critical errors, and how many contradictions a classifier finds.

    finding: as ``labels.finding`` makes it. found: the classifier's recall of contradictions, from 0 to 1.

    >>> row = {"model": "all rows", "tests": 6, "above": 6, "clear": 6, "least": 0.19, "most": 0.43}
    >>> print(headline(pd.DataFrame([row]), found=0.03))  # doctest: +NORMALIZE_WHITESPACE
    Crowds score translations with contradictions or serious errors higher than incomprehensible ones, by 0.19 to 0.43
    standard deviations. A small classifier finds 3% of the contradictions.
    """
    higher = "higher" if finding["above"].sum() == finding["tests"].sum() else "not always higher"
    return (
        f"Crowds score translations with contradictions or serious errors {higher} than incomprehensible ones, by "
        f"{finding['least'].min():.2f} to {finding['most'].max():.2f} standard deviations. A small classifier "
        f"finds {found:.0%} of the contradictions."
    )


def steps(strictness: pd.Series, critical: pd.Series, paid: pd.DataFrame, *, missed_cost: float) -> list[str]:
    """Say what an organiser should do: labels beside scores, borders, one label of three, and what a model costs.

    strictness: annotator -> share of the same translations that they call critical. critical: rule of reduction ->
    share of critical labels. paid: rows of ``costs.curve`` at missed_cost, what a missed error costs in false alarms.

    >>> rules = pd.Series({"worst": 0.52, "majority-else-worst": 0.35, "median": 0.26})
    >>> paid = pd.DataFrame({"signal": [costs.NO_MODEL, "DA"], "flagged": [1.0, 0.9], "relative": [1, 1.1]})
    >>> print(steps(pd.Series({"A": 0.2, "C": 0.4}), rules, paid, missed_cost=10)[1])
    Say before the campaign what a critical error is, and let annotators practise on both sides of each border: of the \
same translations, one annotator called 20% critically wrong and another 40%.
    """
    named = {name: _SIGNALS.get(name, "a small classifier") for name in paid["signal"]}
    ways = f"{critical['worst']:.0%} of translations by the worst of three labels, "
    ways += f"{critical['majority-else-worst']:.0%} by majority (the worst label where there is none), "
    return [
        "Do not look for dangerous translations by an average of scores from 0 to 100. Ask for a label as well: one "
        "number does not say in which way a translation fails.",
        "Say before the campaign what a critical error is, and let annotators practise on both sides of each border: "
        f"of the same translations, one annotator called {strictness.min():.0%} critically wrong and another "
        f"{strictness.max():.0%}.",
        "Release every annotator's labels, and the rule that made one of them. Critical are "
        f"{ways}{critical['median']:.0%} by the middle label.",
        "Before a model decides what a person checks, compare its cost with checking everything. If a missed critical "
        f"error costs {missed_cost:g} false alarms, {costs.in_words(paid.replace({'signal': named}))}.",
    ]


def certainty(finding: pd.DataFrame, *, annotators: int) -> str:
    """Say how sure the finding is: how many differences stay clear, and how many people gave the labels.

    >>> row = {"model": "all rows", "tests": 6, "above": 6, "clear": 5, "least": 0.19, "most": 0.43}
    >>> certainty(pd.DataFrame([row]), annotators=3).split(": ")[1]
    '5 of 6 over all rows. The labels come from 3 people, which says little about others.'
    """
    where = {"all rows": "over all rows", "same test set": "within a test set", "same sentence": "within a sentence"}
    clear = ", ".join(f"{row.clear} of {row.tests} {where[row.model]}" for row in finding.itertuples())
    return (
        "How sure? Bars are 95 % intervals. Differences that stay clear after correction for the number of tests: "
        f"{clear}. The labels come from {annotators} people, which says little about others."
    )
