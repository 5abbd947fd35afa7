"""Repeated segments before and after degraded context: what degraded neighbours do to the score of an unchanged one.

Pairing: each original beside its copy, and what the annotator had seen of the copy by then. The paper's own tests: is
the difference zero on average, and larger after degraded context than before? And the same for pairs that share
annotators and documents: clusters, permutation, equivalence.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.linear_model import OLS, RegressionResults

from evalkit import DataError
from evalkit.data.provenance import like
from evalkit.data.schemas import with_pair
from evalkit.stats import inference

#: What names a document as one annotator was shown it, the original and its copy alike.
DOCUMENT = ["hit", "src_lang", "tgt_lang", "system", "doc"]
_KEEP = [*DOCUMENT, "segment", "annotator"]
#: Which column holds the difference on which scale.
SCALES = {"raw": "difference", "z": "z_difference"}
GROUPS = ("before", "after")
#: What is estimated beside the groups' means: how much larger the difference is after degraded context than before.
EFFECT = "after - before"
#: Steps of degraded context that ``dose`` tells apart.
MOST = 8


def pairs(ratings: pd.DataFrame, *, kind: str | None = "repeat") -> pd.DataFrame:
    """Pair originals with their copies by the same annotator in the same HIT.

    ratings: with the columns hit, ``copy`` (the row belongs to a quality-control copy) and ``position`` (its place in
    the HIT as annotated), as the loaders of MTurk, Appraise and ESA make them. kind: which items of the copies to pair,
    ``repeat`` (unchanged segments), ``degraded`` (worsened ones), None for all.
    Returns a row per pair: ``original`` and ``repeated`` scores, ``difference`` = original - repeated (positive: the
    copy scored lower), the same from z-scores as ``z_difference`` where there are any; ``copy_first`` (the copy was
    scored before the original); ``group``: ``before`` the first degraded segment of the copy, ``after`` it, or
    ``none`` in copies without any; ``distance`` in segments from the first degraded one (negative before it);
    ``degraded_seen`` so far in the copy; ``changed_seen``, the same with references counted too; ``document``, a name
    for the original and its copy together. Copies without an original are counted in ``attrs["unpaired"]``.
    Source: Knowles & Lo 2024, section 5.2. Raises DataError where two originals compete for a copy.
    """
    if lacking := [name for name in ("hit", "copy", "position") if name not in ratings]:
        raise DataError(f"Pairing needs the column {lacking[0]}, which the loaders of whole documents add.")
    ratings = ratings.sort_values(["hit", "position"], kind="stable")
    originals = ratings[~ratings["copy"] & ratings["item_type"].isin(["system", "reference"])]
    twice = originals.duplicated(_KEEP)
    if twice.any():
        row = originals[twice].iloc[0]
        raise DataError(f"HIT {row['hit']} has segment {row['segment']} of {row['doc']} by {row['system']} twice.")
    copies = ratings[ratings["copy"]].copy()
    document = [copies[name] for name in DOCUMENT]
    bad = copies["item_type"].eq("degraded")
    changed = bad | copies["item_type"].eq("reference")
    for name, seen in (("degraded_seen", bad), ("changed_seen", changed)):
        copies[name] = seen.groupby(document).cumsum() - seen  # the segment itself does not count
    first = copies["position"].where(bad).groupby(document).transform("min")
    copies["distance"] = copies["position"] - first
    copies["group"] = np.select([first.isna(), copies["distance"] < 0], ["none", "before"], "after")
    wanted = copies if kind is None else copies[copies["item_type"].eq(kind)]
    values = ["score", "position", *(["z"] if "z" in ratings else [])]
    extra = ["item_type", "degraded_seen", "changed_seen", "distance", "group"]
    joined = wanted[[*_KEEP, *values, *extra]].merge(originals[[*_KEEP, *values]], on=_KEEP, suffixes=("", "_original"))
    joined, names = with_pair(joined), {"score": "repeated", "score_original": "original"}
    joined["difference"] = joined["score_original"] - joined["score"]
    if "z" in ratings:
        joined["z_difference"] = joined["z_original"] - joined["z"]
    joined["copy_first"] = joined["position"] < joined["position_original"]
    joined["document"] = joined["hit"] + "|" + joined["system"] + "|" + joined["doc"]
    columns = ["pair", "annotator", "document", "hit", "system", "doc", "segment", "original", "repeated", "difference"]
    columns += [*(["z_difference"] if "z" in ratings else []), *extra, "copy_first", "position"]
    return like(joined.rename(columns=names)[columns], ratings, unpaired=len(wanted) - len(joined))


def degraded_item_effect(ratings: pd.DataFrame) -> pd.DataFrame:
    """Compare each kind of item in quality-control copies with its original: was the degradation noticed at all?

    Returns item_type (degraded, reference, repeat), n, original and copy (mean scores), difference (original - copy),
    share_lower (copy scored below the original), share_to_10 (copies scored 10 or less).
    """
    found = pairs(ratings, kind=None).rename(columns={"repeated": "copy"})
    found = found.assign(n=1, share_lower=found["difference"] > 0, share_to_10=found["copy"] <= 10)
    means = dict.fromkeys(["original", "copy", "difference", "share_lower", "share_to_10"], "mean")
    return found.groupby("item_type").agg({"n": "size"} | means).reset_index()


def restrict(ratings: pd.DataFrame, mapping: pd.DataFrame) -> pd.DataFrame:
    """Keep the HITs of annotators who also did a calibration HIT, and their language pairs, as the paper does.

    mapping: hit -> annotator, the data set ``wmt22-calibration-mapping``; ``annotator`` becomes the person.
    """
    person = mapping.set_index("hit")["annotator"]
    kept = ratings[ratings["hit"].isin(person.index)]
    return like(kept.assign(annotator=kept["hit"].map(person)).reset_index(drop=True), ratings)


def label_example(ratings: pd.DataFrame, *, segments: int = 7) -> pd.DataFrame:
    """Show one quality-control copy beside its original, labelled as in the paper's Table 4.

    The first copy, in the order of the table, that has segments of both groups and ``segments`` of them in all, each
    with its original.
    Columns segment, original (score), copy_item, copy (score), label, difference;
    ``attrs`` name hit, system, doc and whether the copy came first. Texts are not in WMT's score files.
    """
    key = ["hit", "system", "doc"]
    found = pairs(ratings, kind=None)
    found["label"] = found["group"].where(found["item_type"].eq("repeat") & found["group"].ne("none"))
    copies = found.groupby(key, sort=False)["label"].agg(["size", "nunique"])
    chosen = copies.index[copies["size"].eq(segments) & copies["nunique"].eq(2)]
    if chosen.empty:
        raise DataError(f"No copy of {segments} segments has repeats before and after a degraded one. Ask for others.")
    one = found.set_index(key).loc[[chosen[0]]].fillna({"label": ""})
    frame = one.rename(columns={"item_type": "copy_item", "repeated": "copy"}).reset_index(drop=True)
    frame = frame[["segment", "original", "copy_item", "copy", "label", "difference"]]
    frame.attrs = dict(zip(key, chosen[0], strict=True)) | {"copy_first": bool(one["copy_first"].iloc[0])}
    return frame


def contrasts(paired: pd.DataFrame) -> pd.DataFrame:
    """Describe the differences of each group: ``before`` and ``after`` the first degraded segment of the copy.

    paired: the result of ``pairs``. Returns pair (or "all"), scale (raw, z), group, n, mean, median, mode, sd (ddof=1),
    p_one_sample (two-sided, ``scipy.stats.ttest_1samp`` against 0; missing below two differences). The mode is the
    commonest difference, the one nearest to zero where several are equally common. Source: Knowles & Lo 2024, section 5
    and footnote k. Caveat: the test takes pairs as independent, which they are not.
    """
    long, key = _by_scale(paired), ["scale", "pair", "group"]
    groups = long.groupby(key)["difference"]
    table = groups.agg(n="size", mean="mean", median="median", mode=mode, sd="std", p_one_sample=_p_of_zero)
    every = pd.MultiIndex.from_product([long["scale"].unique(), long["pair"].unique(), GROUPS], names=key)
    return table.reindex(every).fillna({"n": 0}).astype({"n": int}).reset_index()


def welch(paired: pd.DataFrame) -> pd.DataFrame:
    """Test whether differences are smaller before degraded context than after it: t, df, one-sided p.

    Returns pair (or "all"), scale, t, df, p_less; all missing where a group has fewer than two pairs. Source: Knowles &
    Lo 2024, footnote l: ``scipy.stats.ttest_ind(before, after, equal_var=False, alternative="less")``.
    """
    return _tested(paired)[["pair", "scale", "t", "df", "p_less"]]


def _tested(paired: pd.DataFrame) -> pd.DataFrame:
    """Make the rows of ``welch``, with n and mean of each group."""
    rows = []
    for (scale, pair), part in _by_scale(paired).groupby(["scale", "pair"], sort=False):
        sides = {group: part.loc[part["group"] == group, "difference"] for group in GROUPS}
        row = {"pair": pair, "scale": scale, "t": np.nan, "df": np.nan, "p_less": np.nan}
        for group, own in sides.items():
            row |= {f"n_{group}": len(own), f"mean_{group}": own.mean()}
        if min(map(len, sides.values())) > 1:
            test = stats.ttest_ind(*sides.values(), equal_var=False, alternative="less")
            row |= {"t": test.statistic, "df": test.df, "p_less": test.pvalue}
        rows.append(row)
    return pd.DataFrame(rows)


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
    choices = {
        "copies without a degraded segment left out": paired,
        "copies without a degraded segment count as before": paired.assign(group=group.replace({"none": "before"})),
        "copy scored first": paired[paired["copy_first"]],
        "original scored first": paired[~paired["copy_first"]],
        "before: also no reference seen yet": paired[untouched],
        "only documents with both groups": paired[both],
    }
    table = pd.concat(_tested(chosen).assign(choice=choice) for choice, chosen in choices.items()).query(
        "pair == 'all'"
    )
    columns = ["choice", "scale", "n_before", "mean_before", "n_after", "mean_after", "p_less"]
    return table[columns].reset_index(drop=True)


def _by_scale(paired: pd.DataFrame) -> pd.DataFrame:
    """Add ``scale``, on which the difference is: of all language pairs together as "all", then of each."""
    both = pd.concat([paired.assign(pair="all"), paired.sort_values("pair", kind="stable")])
    known = {scale: both.assign(difference=both[column]) for scale, column in SCALES.items() if column in both}
    return pd.concat(known, names=["scale"]).reset_index("scale")


def _p_of_zero(values: pd.Series) -> float:
    return float(stats.ttest_1samp(values, 0).pvalue) if values.nunique() > 1 else np.nan


def mode(values: np.ndarray) -> float:
    """Return the commonest value; among equals the one nearest to zero, the lower of two.

    >>> mode(np.array([3.0, 3.0, -1.0, -1.0, 7.0]))
    -1.0
    """
    found, counts = np.unique(np.round(values, 9) + 0.0, return_counts=True)
    commonest = found[counts == counts.max()]
    return float(commonest[np.argmin(np.abs(commonest))])


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
    - *permutation within documents*: differences are shuffled among the repeats of each document, so only documents
      with both groups speak; no interval. Its estimate is the mean over such repeats, after less before, both weighted
      by document.
    """
    known = paired[paired["group"] != "none"]
    after = known["group"].eq("after").to_numpy(float)
    y = known[SCALES[scale]].to_numpy(float)
    if not 1 < after.sum() < len(after) - 1:
        raise DataError("The comparison needs repeats before and after a degraded segment. Choose data with documents.")
    split = stats.ttest_ind(y[after == 1], y[after == 0], equal_var=False)
    plain = np.column_stack([np.ones(len(y)), after])
    fixed = pd.get_dummies(known["pair"], drop_first=True, dtype=float).to_numpy()
    held = np.column_stack([plain, known["copy_first"].to_numpy(float) - 0.5, fixed])
    estimate, p, p_greater = permutation(known, resamples=resamples, rng=rng, scale=scale)
    means = y[after == 1].mean() - y[after == 0].mean()
    rows = {
        "independent pairs (Welch)": (means, *split.confidence_interval(0.95), split.pvalue),
        "clustered by annotator": _of_column(_clustered(y, plain, known["annotator"])),
        "clustered by document": _of_column(_clustered(y, plain, known["document"])),
        "clustered by annotator, pair and order held fixed": _of_column(_clustered(y, held, known["annotator"])),
        "permutation within documents": (estimate, np.nan, np.nan, p),
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["estimate", "low", "high", "p"])
    half = table["p"] / 2  # all but the last method's statistics are symmetric
    table["p_greater"] = half.where(table["estimate"] > 0, 1 - half).where(table["p"].notna())
    table.iloc[-1, -1] = p_greater
    return table.rename_axis("method").reset_index()


def _clustered(y: pd.Series | np.ndarray, x: np.ndarray, clusters: pd.Series) -> RegressionResults:
    """Fit least squares with cluster-robust errors."""
    return OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": pd.factorize(clusters)[0]}, use_t=True)


def permutation(
    paired: pd.DataFrame, *, resamples: int, rng: np.random.Generator, scale: str = "raw"
) -> tuple[float, float, float]:
    """Shuffle differences among the repeats of each document: estimate, two-sided p, one-sided p of more lost after.

    The statistic adds up, over documents that have repeats of both groups, the sum of ``after`` differences less what
    the document's mean would give, divided by the number of effective comparisons n_before * n_after / n: the
    least-squares estimate with a constant for each document. p is (hits + 1) / (resamples + 1). Missing where no
    document has both groups.
    """
    chosen = paired[paired.groupby("document")["group"].transform("nunique").eq(2)]
    if chosen.empty:
        return np.nan, np.nan, np.nan
    y, document = chosen[SCALES[scale]].to_numpy(float), pd.factorize(chosen["document"])[0]
    after = chosen["group"].eq("after").to_numpy(float)
    size = np.bincount(document)
    centred = y - (np.bincount(document, y) / size)[document]
    weight = (after * (1 - (np.bincount(document, after) / size)[document])).sum()
    order = np.argsort(document, kind="stable")
    after, centred, document = after[order], centred[order], document[order]
    observed = float(centred @ after / weight)
    slack = inference.TOLERANCE * max(1, abs(observed))

    def reached(count: int, rng: np.random.Generator) -> np.ndarray:
        within = np.argsort(rng.random((count, len(centred))) + document, axis=1)  # documents stay in order
        drawn = centred[within] @ after / weight
        return np.array([(np.abs(drawn) >= abs(observed) - slack).sum(), (drawn >= observed - slack).sum()])

    hits = np.add.reduce([*inference.in_blocks(reached, resamples, seed=rng, numbers=len(centred) + 2)])
    two_sided, one_sided = (hits + 1) / (resamples + 1)
    return observed, float(two_sided), float(one_sided)


def order_effects(paired: pd.DataFrame) -> pd.DataFrame:
    """Separate the effect of context from that of order: is the second score of a segment higher or lower?

    With c = +1/2 where the copy was scored first and -1/2 where the original was, the difference original - copy is
    context + order * c: swapping the two turns the order effect round and leaves the context effect alone. Per group
    (before, after, none), least squares clustered by annotator. Returns group, n, copy_first (share), mean,
    and the estimates ``context`` and ``order`` (second score less first) with low, high, p.
    """
    rows = []
    for group in (name for name in (*GROUPS, "none") if paired["group"].eq(name).any()):
        part = paired[paired["group"] == group]
        x = np.column_stack([np.ones(len(part)), part["copy_first"].to_numpy(float) - 0.5])
        fit = _clustered(part["difference"].to_numpy(), x, part["annotator"])
        row = {"group": group, "n": len(part)} | part[["copy_first", "difference"]].mean().to_dict()
        for column, name in enumerate(("context", "order")):
            bounds = (name, f"{name}_low", f"{name}_high", f"{name}_p")
            row |= dict(zip(bounds, _of_column(fit, column), strict=True))
        rows.append(row)
    return pd.DataFrame(rows).rename(columns={"difference": "mean"})


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
            fit = _clustered(part["difference"].to_numpy(), np.ones((len(part), 1)), part["annotator"])
            label = f"{step:+d}" if by == "distance" else str(step)
            label += {MOST: " or more", -MOST: " or fewer"}.get(int(step), "")
            rows.append((int(step), label, len(part), *_of_column(fit, 0)[:3]))
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
    ones = np.ones((len(known), 1))
    designs = {f"mean {group}": (known["group"].eq(group).to_numpy(), ones) for group in GROUPS}
    designs[EFFECT] = (np.full(len(known), True), np.column_stack([ones, after]))
    rows = []
    for effect, (kept, x) in designs.items():
        fit = _clustered(known.loc[kept, SCALES[scale]], x[kept], known.loc[kept, "annotator"])
        estimate, low, high, p_zero = _of_column(fit, -1)
        error, df = np.asarray(fit.bse)[-1], known.loc[kept, "annotator"].nunique() - 1
        p_equivalent = max(stats.t.sf((estimate + margin) / error, df), stats.t.cdf((estimate - margin) / error, df))
        verdicts = {(True, False): "equivalent", (False, True): "different", (True, True): "both"}
        verdict = verdicts.get((p_equivalent < 0.05, p_zero < 0.05), "undecided")
        rows.append((effect, estimate, low, high, margin, p_zero, p_equivalent, verdict))
    names = ["effect", "estimate", "low", "high", "margin", "p_zero", "p_equivalent", "verdict"]
    return pd.DataFrame(rows, columns=names)


def _of_column(fit: RegressionResults, column: int = 1) -> tuple[float, ...]:
    """Return estimate, low, high and p of one column of a fit."""
    told = np.column_stack([fit.params, fit.conf_int(0.05), fit.pvalues])
    return tuple(told[column].tolist())
