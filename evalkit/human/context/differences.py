"""The paper's own tests: is the difference zero on average, and is it larger after degraded context than before?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from scipy import stats

#: Which column holds the difference on which scale.
SCALES = {"raw": "difference", "z": "z_difference"}
GROUPS = ("before", "after")


def contrasts(paired: pd.DataFrame) -> pd.DataFrame:
    """Describe the differences of each group: ``before`` and ``after`` the first degraded segment of the copy.

    paired: the result of ``pairs``. Returns pair (or "all"), scale (raw, z), group, n, mean, median, mode, sd (ddof=1),
    p_one_sample (two-sided, ``scipy.stats.ttest_1samp`` against 0; missing below two differences). The mode is the
    commonest difference, the one nearest to zero where several are equally common. Source: Knowles & Lo 2024, section 5
    and footnote k. Caveat: the test takes pairs as independent, which they are not.
    """
    rows = []
    for pair, scale, column, part in _parts(paired):
        for group in GROUPS:
            values = part.loc[part["group"] == group, column].to_numpy()
            rows.append({"pair": pair, "scale": scale, "group": group} | _described(values))
    return pd.DataFrame(rows)


def welch(paired: pd.DataFrame) -> pd.DataFrame:
    """Test whether differences are smaller before degraded context than after it: t, df, one-sided p.

    Returns pair (or "all"), scale, t, df, p_less; all missing where a group has fewer than two pairs. Source: Knowles &
    Lo 2024, footnote l: ``scipy.stats.ttest_ind(before, after, equal_var=False, alternative="less")``.
    """
    rows = []
    for pair, scale, column, part in _parts(paired):
        before, after = (part.loc[part["group"] == group, column].to_numpy() for group in GROUPS)
        if min(len(before), len(after)) > 1:
            test = stats.ttest_ind(before, after, equal_var=False, alternative="less")
            result = {"t": float(test.statistic), "df": float(test.df), "p_less": float(test.pvalue)}
        else:
            result = dict.fromkeys(["t", "df", "p_less"], np.nan)
        rows.append({"pair": pair, "scale": scale} | result)
    return pd.DataFrame(rows)


def repeats(paired: pd.DataFrame) -> pd.DataFrame:
    """Describe the differences of all pairs together, as the paper does for repeats without context.

    paired: the result of ``pairs``. Returns one row: n, mean, median, mode, largest (absolute difference), p_one_sample
    and outcome, "rejected" or "not rejected", of the hypothesis that the mean is 0, at 0.05. Source: Knowles & Lo
    2024, section 5.1 and footnote k.
    """
    values = paired["difference"].to_numpy()
    result = _described(values) | {"largest": float(np.abs(values).max())}
    outcome = "rejected" if result["p_one_sample"] < 0.05 else "not rejected"
    return pd.DataFrame([result | {"outcome": outcome}])


def gap(described: pd.DataFrame) -> pd.DataFrame:
    """Subtract the mean after degraded context from the mean before it, over all pairs together.

    described: the result of ``contrasts``. Returns scale, before_minus_after.
    """
    means = described[described["pair"] == "all"].pivot(index="scale", columns="group", values="mean")
    return (means["before"] - means["after"]).rename("before_minus_after").reset_index()


def sensitivity(paired: pd.DataFrame) -> pd.DataFrame:
    """Repeat the test under each choice that the paper leaves open.

    Returns choice, scale, n_before, mean_before, n_after, mean_after, p_less. Choices: copies without any degraded
    segment left out (the paper has none), or counted as ``before``; only copies that came first, or second; only
    segments before anything else had changed (MTurk copies hold references too) against those after a degraded one;
    only documents that have both groups.
    """
    group = paired["group"]
    both = paired[group != "none"].groupby("document")["group"].transform("nunique").reindex(paired.index).eq(2)
    untouched = (group != "before") | paired["changed_seen"].eq(0)
    choices: Mapping[str, pd.DataFrame] = {
        "copies without a degraded segment left out": paired,
        "copies without a degraded segment count as before": paired.assign(group=group.replace({"none": "before"})),
        "copy scored first": paired[paired["copy_first"]],
        "original scored first": paired[~paired["copy_first"]],
        "before: also no reference seen yet": paired[untouched],
        "only documents with both groups": paired[both],
    }
    rows = []
    for choice, chosen in choices.items():
        described, tested = contrasts(chosen), welch(chosen)
        for scale in SCALES:
            if SCALES[scale] not in paired:
                continue
            here = described[(described["pair"] == "all") & (described["scale"] == scale)].set_index("group")
            test = tested[(tested["pair"] == "all") & (tested["scale"] == scale)].iloc[0]
            row = {"choice": choice, "scale": scale}
            row |= {f"{what}_{group}": here.at[group, what] for group in GROUPS for what in ("n", "mean")}
            rows.append(row | {"p_less": test["p_less"]})
    return pd.DataFrame(rows)


def _parts(paired: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Yield pair, scale, column and rows: all together first, then each language pair."""
    for scale, column in SCALES.items():
        if column in paired:
            yield "all", scale, column, paired
            for pair, part in paired.groupby("pair", sort=True):
                yield pair, scale, column, part


def _described(values: np.ndarray) -> dict[str, float]:
    n = len(values)
    if n == 0:
        return {"n": 0} | dict.fromkeys(["mean", "median", "mode", "sd", "p_one_sample"], np.nan)
    several = n > 1 and np.ptp(values) > 0
    return {
        "n": n,
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "mode": mode(values),
        "sd": float(values.std(ddof=1)) if n > 1 else np.nan,
        "p_one_sample": float(stats.ttest_1samp(values, 0).pvalue) if several else np.nan,
    }


def mode(values: np.ndarray) -> float:
    """Return the commonest value; among equals the one nearest to zero, the lower of two.

    >>> mode(np.array([3.0, 3.0, -1.0, -1.0, 7.0]))
    -1.0
    """
    found, counts = np.unique(np.round(values, 9) + 0.0, return_counts=True)
    commonest = found[counts == counts.max()]
    return float(commonest[np.argmin(np.abs(commonest))])
