"""Say what a metric that knows nothing scores: a constant, a random number, or the length of the translation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from evalkit.metrics.metaeval.correlations import correlations
from evalkit.metrics.metaeval.scores import Scores
from evalkit.metrics.metaeval.spa import spa
from evalkit.metrics.metaeval.ties import acc_eq

_DRAWS = 20
_VALUE = ["data", "pair", "level", "statistic", "grouping", "metric", "value"]


def every_statistic(*scores: Scores, flips: int = 1000, seed: int = 7) -> pd.DataFrame:
    """Evaluate every metric by all statistics that its level allows: correlations, and for segments acc_eq and SPA.

    Returns data, pair, level, statistic, grouping, metric, value, n, groups.
    """
    tables = []
    for each in scores:
        tables.append(correlations(each))
        if each.level == "segment":
            tables += [acc_eq(each).drop(columns=["threshold", "ties"]), spa(each, flips=flips, seed=seed)]
    return pd.concat(tables, ignore_index=True)


def lengths(outputs: pd.DataFrame) -> pd.DataFrame:
    """Turn translations (column ``hypothesis``) into scores of the metric "length", their number of characters.

    >>> outputs = pd.DataFrame({"system": ["A"], "segment": ["1"], "hypothesis": ["Good day!"]})
    >>> lengths(outputs).to_dict("records")
    [{'system': 'A', 'segment': '1', 'metric': 'length', 'score': 9.0}]
    """
    score = outputs["hypothesis"].fillna("").str.len().astype(float)
    return outputs.drop(columns=["hypothesis", "source", "reference", "domain"], errors="ignore").assign(
        metric="length", score=score
    )


def chance(scores: Scores, *, length: Scores | None = None, seed: int = 7) -> pd.DataFrame:
    """Evaluate metrics that know nothing by every statistic: the level above which a value says something.

    constant: the same score for all; a correlation is then undefined, while accuracies count its ties. random: normal
    numbers, 20 times; value is the mean, low and high hold 95 % of the draws. length: the aligned scores of
    ``lengths``, if given. Returns data, pair, level, statistic, grouping, metric, value, low, high.
    acc_eq calibrates random scores too: it reaches the share t of human ties, or half of the other pairs, (1 - t) / 2,
    whichever is larger, so never less than a third. Caveat: low and high describe random metrics, and are no
    confidence interval of any real one.
    """
    rng = np.random.default_rng(seed)
    shape = (_DRAWS, *scores.human.shape)
    random = replace(scores, metrics=tuple(map(str, range(_DRAWS))), values=rng.normal(size=shape))
    found = every_statistic(random).drop(columns="metric")
    by = [name for name in _VALUE if name in found and name != "value"]
    spread = found.groupby(by, sort=False)["value"]
    table = spread.mean().reset_index().assign(metric="random")
    table["low"], table["high"] = spread.quantile(0.025).to_numpy(), spread.quantile(0.975).to_numpy()
    constant = replace(scores, metrics=("constant",), values=np.zeros((1, *shape[1:])))
    fixed = every_statistic(*filter(None, (constant, length)))
    return pd.concat([fixed[_VALUE], table], ignore_index=True)[[*_VALUE, "low", "high"]]
