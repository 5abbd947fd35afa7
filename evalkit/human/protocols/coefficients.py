"""Every coefficient of agreement of two runs of a protocol, and how the coefficients rank the protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from evalkit.human.protocols import marks
from evalkit.human.protocols.agreement import Laid, Pair, Statistic, lay, pearson_of, redrawn
from evalkit.stats import correlation
from evalkit.stats.agreement.coefficients import PREPARE, coded
from evalkit.stats.correlation import ratio, tau_b

#: Two runs of each protocol: in full, and of the part that was judged again. No second run of DA+SQM is public.
WHOLE: tuple[Pair, ...] = (("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-2"), ("MQM-1", "WMT-MQM"))
PART: tuple[Pair, ...] = (("ESA-IAA", "ESA-1"), ("ESAAI-IAA", "ESAAI-1"), ("MQM-IAA", "MQM-1"))
SETS: dict[str, tuple[Pair, ...]] = {"whole": WHOLE, "part": PART}
#: Coefficient -> how a page writes it. The first ones are of scores, then of classes of severity, then of marks.
COEFFICIENTS = {
    "pearson": "Pearson's r",
    "kendall_b": "Kendall's τ-b",
    "kendall_b_within": "τ-b, systems of one segment",
    "krippendorff_ordinal": "Krippendorff's α, ordinal",
    "fleiss_kappa": "Fleiss' κ, severity",
    "gwet_ac1": "Gwet's AC1, severity",
    "characters_alpha": "α of marked characters",
    "characters_own_alpha": "α of characters not suggested",
    "pearson_without_model": "r, model's score held constant",
    "pearson_z": "r, each person standardised",
    "icc_agreement": "ICC, agreement",
    "krippendorff_interval": "Krippendorff's α, interval",
    "spearman": "Spearman's ρ",
    "icc_consistency": "ICC, consistency",
    "percent_agreement": "percent agreement, severity",
    "error_kappa": "Fleiss' κ, any error",
    "characters_f1": "F1 of marked characters",
}
_OF_SCORES = {
    "krippendorff_ordinal": ("krippendorff_alpha", "ordinal"),
    "icc_agreement": ("icc_agreement", "interval"),
    "krippendorff_interval": ("krippendorff_alpha", "interval"),
    "icc_consistency": ("icc_consistency", "interval"),
}
_OF_CLASSES = ("percent_agreement", "fleiss_kappa", "gwet_ac1")


def coefficients(
    scored: pd.DataFrame,
    marked: pd.DataFrame,
    texts: pd.DataFrame,
    *,
    resamples: int = 200,
    seed: int = 7,
) -> pd.DataFrame:
    """Estimate every coefficient of agreement between two runs of each protocol, on the same translations within a set.

    scored, marked, texts: see ``protocols.scores`` and ``marks``. The runs of each of the ``SETS`` are compared
    on the translations that all of them judged. In ``COEFFICIENTS``: pearson_z standardises
    everybody's scores by their own mean and spread; pearson_without_model is the partial correlation with the
    suggesting model's score (LLM) held constant; kendall_b_within compares systems on one segment only; kappas and
    percent compare classes of severity (none, minor, major by the worst mark), error_kappa whether anything was marked;
    characters_alpha is Krippendorff's nominal alpha of single characters, characters_f1 the F1 of one run's marked
    characters against the other's, and characters_own_alpha leaves out marks that the model suggested (needs the marks'
    column ``suggested``).
    Returns protocol, again (the runs), coefficient, estimate, low, high (95 %, documents and people of both runs drawn
    together), first (share of the draws in which it is the highest of its set), n (translations).
    Caveat: two columns of matrices are two runs, each made by several people; ``icc_agreement`` counts a run's level.
    """
    laid, worst = lay(scored), lay(scored.assign(score=marks.worst(scored, marked)))
    parts = [
        _set(laid, worst, marked, texts, pairs, resamples, seed + place) for place, pairs in enumerate(SETS.values())
    ]
    return pd.concat(parts, ignore_index=True)


def _set(
    laid: Laid, worst: Laid, marked: pd.DataFrame, texts: pd.DataFrame, pairs: Sequence[Pair], resamples: int, seed: int
) -> pd.DataFrame:
    """Estimate all coefficients of the runs of one set."""
    rows = laid.rows([name for pair in pairs for name in pair])
    here, classes = laid.taken(rows), worst.taken(rows)
    items = here.scores.index.to_frame(index=False)
    on = [marks.characters(items, kept, texts) for kept in (marked, marks.own(marked))]
    made = [together(here, classes.scores, on[0], on[1], pair) for pair in pairs]
    functions = [partial(_all, one) for one in made]
    drawn = redrawn(here, pairs, functions, resamples=resamples, seed=seed)
    draws = np.stack([one.narrowed(few=True) for one in drawn])
    first = (draws == np.nan_to_num(draws, nan=-np.inf).max(axis=0)).mean(axis=1)
    columns = [(COEFFICIENTS, one.estimate, *one.interval(), leads) for one, leads in zip(drawn, first)]
    return pd.DataFrame(
        [(*pair, *row, len(rows)) for pair, own in zip(pairs, columns) for row in zip(*own, strict=True)],
        columns=["protocol", "again", "coefficient", "estimate", "low", "high", "first", "n"],
    )


def _all(one: Mapping[str, Statistic], counts: np.ndarray) -> np.ndarray:
    return np.stack([one[name](counts) for name in COEFFICIENTS], axis=-1)


def side_by_side(found: pd.DataFrame) -> pd.DataFrame:
    """Lay the coefficients out as Licht et al.'s Table 3: a row per coefficient, a column per pair of runs.

    found: the result of ``coefficients``. Returns coefficient and a column for every two runs, in their order.
    """
    runs = found["protocol"] + " × " + found["again"]
    wide = found.assign(runs=runs).pivot(index="coefficient", columns="runs", values="estimate")
    order = list(dict.fromkeys(found["coefficient"]))
    return wide.loc[order, list(dict.fromkeys(runs))].rename_axis(columns=None).reset_index()


def highest(found: pd.DataFrame) -> pd.DataFrame:
    """Say which run of each of the ``SETS`` every coefficient puts first, and how sure that is.

    found: the result of ``coefficients``. Returns coefficient, then for every set its name (the run) and its name with
    _first (in which share of the draws it was first). Missing where some runs of the set lack the coefficient.
    """
    order = pd.Index(dict.fromkeys(found["coefficient"]), name="coefficient")
    columns: dict[str, pd.Series] = {}
    for name, pairs in SETS.items():
        rows = found[found["protocol"].isin([protocol for protocol, _ in pairs])]
        rows = rows[rows["estimate"].notna().groupby(rows["coefficient"]).transform("all")]
        best = rows.loc[rows.groupby("coefficient")["estimate"].idxmax()].set_index("coefficient").reindex(order)
        columns |= {name: best["protocol"], f"{name}_first": best["first"]}
    return pd.DataFrame(columns, index=order).reset_index()


def leaders(first: pd.DataFrame) -> pd.DataFrame:
    """Turn the result of ``highest`` into a row per coefficient and set: coefficient, set, protocol, first.

    >>> wide = pd.DataFrame({"coefficient": ["r"], "whole": ["A"], "whole_first": 0.9, "part": [None], "part_first": 0})
    >>> leaders(wide).to_numpy().tolist()
    [['r', 'whole', 'A', 0.9]]
    """
    parts = [
        first[["coefficient"]].assign(set=name, protocol=first[name], first=first[f"{name}_first"]) for name in SETS
    ]
    return pd.concat(parts).dropna(subset="protocol").reset_index(drop=True)


def together(
    laid: Laid, classes: pd.DataFrame, on: Mapping[str, np.ndarray], own: Mapping[str, np.ndarray], pair: Pair
) -> dict[str, Statistic]:
    """Make every coefficient of two runs a function of how often each item counts, (batch,) from (batch, items).

    laid, classes: the scores and the classes of the same items, all of which both runs judged. on, own: their marked
    characters (see ``marks.characters``), of all marks and of those that nobody suggested.
    """
    x, y = (laid.scores[name].to_numpy() for name in pair)
    found: dict[str, Statistic] = {"pearson": pearson_of(x, y)}
    found["pearson_z"] = pearson_of(*(standardised(laid.scores[name].to_numpy(), laid.people[name]) for name in pair))
    model = laid.scores["LLM"].to_numpy() if "LLM" in laid.scores else np.full(len(x), np.nan)
    found["pearson_without_model"] = partial_of(x, y, model)
    found["spearman"] = spearman_of(x, y)
    found["kendall_b"] = lambda counts: correlation.kendall_b_of_values(x, y, counts)
    found["kendall_b_within"] = within_of(x, y, laid.segment)
    found |= {name: _of_matrix(laid.scores[list(pair)], *how) for name, how in _OF_SCORES.items()}
    two = classes[list(pair)]
    found |= {name: _of_matrix(two, name, "none", classes=3) for name in _OF_CLASSES}
    found["error_kappa"] = _of_matrix(two.clip(upper=1), "fleiss_kappa", "none", classes=2)
    found |= _of_characters(on, pair)
    return found | {"characters_own_alpha": _of_characters(own, pair)["characters_alpha"]}


def _of_characters(on: Mapping[str, np.ndarray], pair: Pair) -> dict[str, Statistic]:
    absent = np.zeros(int(on[""].sum()), bool)
    return characters_of(on.get(pair[0], absent), on.get(pair[1], absent), on[""])


def standardised(scores: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Centre and scale everybody's scores by their own mean and spread (ddof=1); 0 for somebody without any spread.

    >>> standardised(np.array([1.0, 3, 5, 50, 50]), np.array([0, 0, 0, 1, 1])).tolist()
    [-1.0, 0.0, 1.0, 0.0, 0.0]
    """
    groups = pd.Series(scores).groupby(people)
    spread = groups.transform("std").fillna(0).to_numpy()
    return np.divide(scores - groups.transform("mean"), spread, out=np.zeros(len(scores)), where=spread > 0)


def partial_of(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Statistic:
    """Make the correlation of x and y with z held constant, (r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²))."""
    pairs = [pearson_of(*two) if np.isfinite(two).all() else None for two in ((x, y), (x, z), (y, z))]

    def of(counts: np.ndarray) -> np.ndarray:
        xy, xz, yz = (np.full(len(counts), np.nan) if each is None else each(counts) for each in pairs)
        return np.asarray(ratio(xy - xz * yz, np.sqrt((1 - xz**2) * (1 - yz**2))))

    return of


def spearman_of(x: np.ndarray, y: np.ndarray) -> Statistic:
    """Make Spearman's rho: ranks among the rows drawn, ties at their middle."""
    codes = [np.unique(values, return_inverse=True)[1] for values in (x, y)]

    def ranks(counts: np.ndarray, code: np.ndarray) -> np.ndarray:
        size = int(code.max()) + 1
        used = np.stack([np.bincount(code, each, size) for each in counts])
        return np.asarray((used.cumsum(axis=1) - used / 2)[:, code] - counts.sum(axis=1, keepdims=True) / 2)

    def of(counts: np.ndarray) -> np.ndarray:
        u, v = (ranks(counts, code) for code in codes)
        one = np.ones_like(u)
        return correlation.pearson_of_sums(
            np.stack([(counts * part).sum(1) for part in (one, u, v, u * u, v * v, u * v)], -1)
        )

    return of


def within_of(x: np.ndarray, y: np.ndarray, group: np.ndarray) -> Statistic:
    """Make tau-b over pairs of rows of the same group (segment) only, pooled over groups."""
    order = np.argsort(group, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    first, second = np.concatenate([block[np.stack(np.triu_indices(len(block), 1))] for block in blocks], axis=1)
    signs = [np.sign(values[first] - values[second]) for values in (x, y)]
    parts = np.stack([signs[0] * signs[1], signs[0] ** 2, signs[1] ** 2], axis=1)
    return lambda counts: tau_b(*((counts[:, first] * counts[:, second]) @ parts).T)


def characters_of(a: np.ndarray, b: np.ndarray, lengths: np.ndarray) -> dict[str, Statistic]:
    """Make the alpha and the F1 of marked characters of translations of such lengths, none of them empty."""
    begin = np.cumsum(lengths) - lengths
    sums = np.stack([lengths, *(np.add.reduceat(each, begin, dtype=int) for each in (a, b, a & b))], axis=1)

    def alpha(counts: np.ndarray) -> np.ndarray:
        size, one, other, both = (counts @ sums).T
        share = ratio(one + other, 2 * size)
        by_chance = ratio(2 * size * 2 * share * (1 - share), 2 * size - 1)
        return 1 - np.asarray(ratio(ratio(one + other - 2 * both, size), by_chance))

    def f1(counts: np.ndarray) -> np.ndarray:
        _, one, other, both = (counts @ sums).T
        return ratio(2 * both, one + other)

    return {"characters_alpha": alpha, "characters_f1": f1}


def _of_matrix(two: pd.DataFrame, name: str, level: str, *, classes: int = 0) -> Statistic:
    """Let ``stats.agreement`` compute a coefficient of a matrix of two columns; classes: how many there are to use."""
    if two.isna().any(axis=None):
        return lambda counts: np.full(len(counts), np.nan)
    table = coded(two, categories=range(classes) if classes else None)
    estimate = PREPARE[name](table, level)
    patterns = len(table.times)
    if patterns == len(table.pattern):
        return estimate
    return lambda counts: estimate(np.stack([np.bincount(table.pattern, each, patterns) for each in counts]))
