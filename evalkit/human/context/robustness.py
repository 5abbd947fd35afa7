"""The same question for pairs that share annotators and documents: clusters, mixed models, permutation, equivalence."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.linear_model import OLS

from evalkit import DataError
from evalkit.human.context.differences import SCALES
from evalkit.stats import inference
from evalkit.stats.random_intercept import random_intercept

#: What is estimated: the mean difference of a group, or how much larger it is after degraded context than before.
EFFECT = "after - before"
#: Steps of degraded context that ``dose`` tells apart.
MOST = 8


def robust(paired: pd.DataFrame, *, resamples: int, rng: np.random.Generator, scale: str = "raw") -> pd.DataFrame:
    """Estimate how much more an unchanged segment loses after degraded context than before it.

    paired: the result of ``pairs``; copies without a degraded segment stay out. scale: raw (points), or z (standard
    deviations of the annotator). Returns method, estimate, low, high (95 %), p (two-sided) and p_greater
    (one-sided, against the hypothesis that nothing more is lost; the paper's question). Methods:

    - *independent pairs (Welch)*: the paper's test, two-sided;
    - *clustered by annotator*, *by document* (an original and its copy): least squares with cluster-robust errors
      (Liang & Zeger 1986, small-sample factor, t with clusters - 1 degrees of freedom);
    - *clustered by annotator, pair and order held fixed*: the same beside a constant for each language pair and
      which of the two was scored first;
    - *mixed model, annotator* and *document*: a random intercept of each (REML);
    - *permutation within documents*: differences are shuffled among the repeats of each document, so only documents
      with both groups speak; no interval. Its estimate is the mean over such repeats, after less before, both weighted
      by document.
    """
    known = paired[paired["group"] != "none"]
    after = known["group"].eq("after").to_numpy(float)
    y = _differences(known, scale)
    if not 1 < after.sum() < len(after) - 1:
        raise DataError("The comparison needs repeats before and after a degraded segment. Choose data with documents.")
    split = stats.ttest_ind(y[after == 1], y[after == 0], equal_var=False)
    low, high = split.confidence_interval(0.95)
    rows: list[tuple[object, ...]] = [
        ("independent pairs (Welch)", y[after == 1].mean() - y[after == 0].mean(), low, high, split.pvalue)
    ]
    plain = np.column_stack([np.ones(len(y)), after])
    for unit in ("annotator", "document"):
        rows.append((f"clustered by {unit}", *_clustered(y, plain, known[unit])))
    fixed = pd.get_dummies(known["pair"], drop_first=True, dtype=float).to_numpy()
    order = known["copy_first"].to_numpy(float) - 0.5
    held = np.column_stack([plain, order, fixed])
    rows.append(("clustered by annotator, pair and order held fixed", *_clustered(y, held, known["annotator"])))
    for unit in ("annotator", "document"):
        rows.append((f"mixed model, {unit}", *_mixed(y, plain, known[unit])))
    estimate, p, p_greater = _shuffled(known, y, resamples, rng)
    rows.append(("permutation within documents", estimate, np.nan, np.nan, p))
    table = pd.DataFrame(rows, columns=["method", "estimate", "low", "high", "p"])
    half = table["p"] / 2  # the other methods' statistics are symmetric
    table["p_greater"] = half.where(table["estimate"] > 0, 1 - half).where(table["p"].notna())
    table.loc[len(table) - 1, "p_greater"] = p_greater
    return table


def _differences(paired: pd.DataFrame, scale: str) -> np.ndarray:
    """Return the losses on one scale, or say that there are none."""
    if SCALES.get(scale) not in paired:
        there = ", ".join(name for name, column in SCALES.items() if column in paired)
        raise DataError(f"These pairs have no differences on the scale {scale!r}. Ask for one of: {there}.")
    return paired[SCALES[scale]].to_numpy(float)


def _clustered(y: np.ndarray, x: np.ndarray, clusters: pd.Series, *, column: int = 1) -> tuple[float, ...]:
    """Fit least squares with cluster-robust errors: estimate, low, high and p of one column of x."""
    codes = pd.factorize(clusters)[0]
    fit = OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    low, high = fit.conf_int(0.05)[column]
    return fit.params[column], low, high, fit.pvalues[column]


def _mixed(y: np.ndarray, x: np.ndarray, groups: pd.Series) -> tuple[float, ...]:
    """Fit a random intercept per group: estimate, low, high and p of the second column of x; missing without a fit."""
    fit = random_intercept(y, x, pd.factorize(groups)[0])
    if fit is None:
        return (np.nan,) * 4
    estimate, error = fit.coefficients[1], np.sqrt(fit.covariance[1, 1])
    margin = stats.norm.ppf(0.975) * error
    p = 2 * stats.norm.sf(abs(estimate / error))
    return tuple(round(float(value), 4) for value in (estimate, estimate - margin, estimate + margin, p))


def permutation(paired: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Shuffle differences among the repeats of each document; return the estimate and its two-sided p.

    The statistic adds up, over documents that have repeats of both groups, the sum of ``after`` differences less what
    the document's mean would give, divided by the number of effective comparisons n_before * n_after / n: the
    least-squares estimate with a constant for each document. p is (hits + 1) / (resamples + 1).
    """
    return _shuffled(paired, paired["difference"].to_numpy(float), resamples, rng)[:2]


def _shuffled(
    paired: pd.DataFrame, y: np.ndarray, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Permute as ``permutation`` does: estimate, two-sided p, and the one-sided p of more being lost after."""
    both = paired.groupby("document")["group"].transform("nunique").eq(2).to_numpy()
    chosen, y = paired[both], y[both]
    if chosen.empty:
        return np.nan, np.nan, np.nan
    document = pd.factorize(chosen["document"])[0]
    after = chosen["group"].eq("after").to_numpy(float)
    centred = y - (np.bincount(document, y) / np.bincount(document))[document]
    weight = (after * (1 - (np.bincount(document, after) / np.bincount(document))[document])).sum()
    order = np.argsort(document, kind="stable")
    centred, after, document = centred[order], after[order], document[order]

    def estimate(shuffled: np.ndarray) -> np.ndarray:
        drawn = shuffled @ after / weight
        return np.stack([np.abs(drawn), drawn], axis=1)

    exchange = inference.Shuffles(centred, document)
    test = inference.permutation_test(estimate, exchange, resamples=resamples, seed=rng)
    return float(test.observed[1]), float(test.p[0]), float(test.p[1])


def order_effects(paired: pd.DataFrame) -> pd.DataFrame:
    """Separate the effect of context from that of order: is the second score of a segment higher or lower?

    With c = +1/2 where the copy was scored first and -1/2 where the original was, the difference original - copy is
    context + order * c: swapping the two turns the order effect round and leaves the context effect alone. Per group
    (before, after, none), least squares clustered by annotator. Returns group, n, copy_first (share), mean,
    and the estimates ``context`` and ``order`` (second score less first) with low, high, p.
    """
    rows = []
    for group, part in paired.groupby("group", sort=False):
        c = part["copy_first"].to_numpy(float) - 0.5
        x = np.column_stack([np.ones(len(part)), c])
        row = {"group": group, "n": len(part), "copy_first": float(part["copy_first"].mean())}
        row["mean"] = float(part["difference"].mean())
        for column, name in enumerate(("context", "order")):
            estimates = _clustered(part["difference"].to_numpy(), x, part["annotator"], column=column)
            row |= dict(zip((name, f"{name}_low", f"{name}_high", f"{name}_p"), map(float, estimates), strict=True))
        rows.append(row)
    order = {"before": 0, "after": 1, "none": 2}
    return pd.DataFrame(rows).sort_values("group", key=lambda g: g.map(order), ignore_index=True)


def dose(paired: pd.DataFrame, *, by: str) -> pd.DataFrame:
    """Describe the difference by the amount of degraded context: mean with an interval clustered by annotator.

    by: ``distance`` in segments from the first degraded one (negative: the repeat came before it), or
    ``degraded_seen``, how many degraded segments the copy had shown by then. Amounts beyond ``MOST`` are pooled
    into the last step. Returns value, label, n, mean, low, high; steps with fewer than two annotators are left out.
    """
    known = paired[paired["group"] != "none"]
    value = known[by].clip(-MOST, MOST).astype(int)
    rows = []
    for step, part in known.groupby(value):
        if part["annotator"].nunique() > 1:
            estimates = _clustered(part["difference"].to_numpy(), np.ones((len(part), 1)), part["annotator"], column=0)
            label = f"{step:+d}" if by == "distance" else str(step)
            label += " or more" if step == MOST else " or fewer" if step == -MOST else ""
            rows.append((int(step), label, len(part), *map(float, estimates[:3])))
    return pd.DataFrame(rows, columns=["value", "label", "n", "mean", "low", "high"])


def equivalence(paired: pd.DataFrame, *, margin: float, scale: str = "raw") -> pd.DataFrame:
    """Test whether an effect is so small that it may count as none: two one-sided tests against +-``margin``.

    margin: points, or standard deviations of the annotator where ``scale`` is z.
    For the mean of each group and for after - before, with errors clustered by annotator. p_equivalent is the larger
    of the two one-sided p-values, p_zero the usual two-sided p against 0. ``verdict``: "equivalent" (p_equivalent
    below 0.05), "different" (p_zero below 0.05), "both" (not zero, yet within the margin) or "undecided".
    Returns effect, estimate, low, high, margin, p_zero, p_equivalent, verdict. Source: Schuirmann 1987.
    """
    known = paired[paired["group"] != "none"]
    after = known["group"].eq("after").to_numpy(float)
    designs = [(f"mean {group}", known[known["group"] == group]) for group in ("before", "after")]
    rows = []
    for effect, part in [*designs, (EFFECT, known)]:
        y = _differences(part, scale)
        x = np.column_stack([np.ones(len(y)), after]) if effect == EFFECT else np.ones((len(y), 1))
        column = x.shape[1] - 1
        codes = pd.factorize(part["annotator"])[0]
        fit = OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
        estimate, error, df = fit.params[column], fit.bse[column], codes.max()
        p_equivalent = max(stats.t.sf((estimate + margin) / error, df), stats.t.cdf((estimate - margin) / error, df))
        low, high = fit.conf_int(0.05)[column]
        verdicts = {(True, False): "equivalent", (False, True): "different", (True, True): "both"}
        verdict = verdicts.get((p_equivalent < 0.05, fit.pvalues[column] < 0.05), "undecided")
        rows.append((effect, estimate, low, high, margin, fit.pvalues[column], p_equivalent, verdict))
    names = ["effect", "estimate", "low", "high", "margin", "p_zero", "p_equivalent", "verdict"]
    return pd.DataFrame(rows, columns=names)
