"""Agreement of real annotators, by every coefficient, over data sets of different kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import Scale, fact, like, scale_of
from evalkit.data.schemas import ITEM, with_pair
from evalkit.stats import agreement

#: Coefficients that ask only how often each score was given to an item, not by whom.
ANONYMOUS = (
    ("percent_agreement", "none"),
    ("fleiss_kappa", "none"),
    ("randolph_kappa", "none"),
    ("krippendorff_alpha", "nominal"),
    ("krippendorff_alpha", "ordinal"),
    ("krippendorff_alpha", "interval"),
    ("gwet_ac1", "none"),
    ("gwet_ac2", "quadratic"),
)
#: Coefficients that follow each annotator from item to item.
NAMED = (("cohen_kappa", "none"), ("cohen_kappa", "quadratic"), ("conger_kappa", "none"))
#: Two coefficients that weigh exact matches, then two that weigh squared distances: each two differ in chance only.
ALIKE = {
    "kappa": ("fleiss_kappa", "none"),
    "ac1": ("gwet_ac1", "none"),
    "alpha": ("krippendorff_alpha", "interval"),
    "ac2": ("gwet_ac2", "quadratic"),
}
#: How the names of data sets begin, and what a reader knows them as.
COLLECTIONS = {
    "sudoh-": "WMT15-16 ",
    "wmt22-calibration/": "WMT22 calibration, ",
    "mlqe-pe/": "MLQE-PE, ",
    "wmt-slt22": "WMT-SLT 2022",
}


def titled(name: str) -> str:
    """Say a data set's name in words.

    >>> titled("wmt22-calibration/eng-zho"), titled("sudoh-fluency"), titled("mine")
    ('WMT22 calibration, eng-zho', 'WMT15-16 fluency', 'mine')
    """
    return next((title + name[len(code) :] for code, title in COLLECTIONS.items() if name.startswith(code)), name)


def binned(ratings: pd.DataFrame, bins: int, *, scale: Scale | None = None) -> pd.DataFrame:
    """Move every score to the nearest of ``bins`` evenly spaced points of the scale, numbered from 0.

    scale: its ends; None takes the table's own. The result's scale runs from 0 to ``bins`` - 1. Seven bins on 0-100 are
    the ticks of WMT's SQM slider. A score half-way between two goes to the even one.

    >>> binned(pd.DataFrame({"score": [0, 8, 9, 100]}), 7, scale=(0, 100))["score"].tolist()
    [0.0, 0.0, 1.0, 6.0]
    """
    low, high = scale_of(ratings, given=scale)
    if bins < 2:
        raise DataError(f"{bins} bins cannot distinguish scores. Take 2 or more.")
    moved = ratings.assign(score=((ratings["score"] - low) / (high - low) * (bins - 1)).round())
    return like(moved, ratings, scale=(0.0, bins - 1.0))


def matrix(ratings: pd.DataFrame, *, named: bool = True) -> pd.DataFrame:
    """Arrange one pair's scores as items × annotators, or where annotators have no names, as items × places.

    Where someone judged an item twice, the first showing counts, so that every cell is a score that was given. Without
    names the scores of an item move to its first places, which leaves every count of scores as it is.
    """
    if named:
        return agreement.score_matrix(ratings, repeats="first")
    first = ratings.drop_duplicates([*ITEM, "annotator"])
    place = first.groupby(ITEM, sort=False).cumcount()
    return first.assign(place=place).set_index([*ITEM, "place"])["score"].unstack("place")


def cut(ratings: pd.DataFrame, bins: int, *, named: bool = False) -> pd.DataFrame:
    """Arrange one pair's scores, moved to ``bins`` points of the scale, as ``matrices`` does."""
    return _offered(matrix(binned(ratings, bins), named=named), named=named, categories=np.arange(float(bins)).tolist())


def _offered(scores: pd.DataFrame, *, named: bool, categories: Sequence[float]) -> pd.DataFrame:
    scores.attrs = {"named": named, "categories": list(categories)}
    return scores


def merged_best(scores: pd.DataFrame) -> pd.DataFrame:
    """Merge the two best categories of a matrix of ``matrices``, as Licht et al. merged XSTS's 4 and 5."""
    *kept, _ = fact(scores, "categories", by="human.observed.matrices")
    return _offered(scores.clip(upper=kept[-1]), named=scores.attrs["named"], categories=kept)


def matrices(
    *, labels: pd.DataFrame, calibration: pd.DataFrame, assessments: pd.DataFrame, signed: pd.DataFrame, bins: int = 7
) -> dict[str, pd.DataFrame]:
    """Arrange the four collections as one matrix of categories per data set, name -> items × annotators or places.

    labels: ``sudoh-labels``, all pairs of a dimension together, as its annotators are the same throughout.
    calibration: WMT22 calibration HITs of the annotators who are kept. assessments: ``mlqe-pe``. signed: ``wmt-slt22``.
    Scores from 0 to 100 go to ``bins`` points. ``attrs`` hold ``named`` (whether columns are people) and
    ``categories`` (all that the scale offers).
    """
    found = {}
    for dimension, part in labels.groupby("dimension"):
        one = part.assign(doc=part["doc"] + "." + part["src_lang"], src_lang="all")  # rows of ten files stay apart
        offered = np.arange(1.0, part["score"].max() + 1)
        found[f"sudoh-{dimension}"] = _offered(matrix(one), named=True, categories=offered.tolist())
    for name, ratings, named in (("wmt22-calibration", calibration, True), ("mlqe-pe", assessments, False)):
        for pair, part in with_pair(ratings).groupby("pair"):
            found[f"{name}/{pair}"] = cut(part, bins, named=named)
    return found | {"wmt-slt22": cut(signed[signed["item_type"].ne("repeat")], bins)}


def coefficients(
    found: Mapping[str, pd.DataFrame], *, measures: Sequence[tuple[str, str]] | None = None, **drawn: int
) -> pd.DataFrame:
    """Compute coefficients, by default every one that a data set allows.

    Returns data, coefficient, level, estimate, low, high, items, annotators.
    found: the result of ``matrices``. Coefficients that follow annotators are left out where columns are places, since
    places are not people. ``annotators`` is then the largest number of scores that an item has. drawn: resamples and
    seed of ``stats.agreement.coefficients``.
    """
    parts = []
    for name, scores in found.items():
        named, offered = (fact(scores, what, by="human.observed.matrices") for what in ("named", "categories"))
        wanted = measures or [*ANONYMOUS, *(NAMED if named else ())]
        table = agreement.coefficients(scores, measures=wanted, categories=offered, **drawn)
        parts.append(table.assign(data=name))
    columns = ["data", "coefficient", "level", "estimate", "low", "high", "items", "annotators"]
    return pd.concat(parts, ignore_index=True)[columns]


def skew(found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Say how unevenly each data set's categories are used: data, categories, commonest, effective.

    commonest: the share of the commonest category; effective: how many equally frequent categories would agree by
    chance as often (the inverse of the summed squared shares).
    """
    used = {name: scores.stack().value_counts(normalize=True) for name, scores in found.items()}
    rows = [(name, len(share), share.max(), 1 / (share**2).sum()) for name, share in used.items()]
    return pd.DataFrame(rows, columns=["data", "categories", "commonest", "effective"])


def misled(table: pd.DataFrame) -> pd.DataFrame:
    """Rank data sets by how far Fleiss' κ and AC1 lie apart, which weigh alike and call other things chance.

    table: the result of ``coefficients``. Returns data, kappa, ac1, gap (AC1 minus κ), and the same for squared
    distances: alpha (interval), ac2 (quadratic), gap_squared.
    """
    value = table.set_index(["data", "coefficient", "level"])["estimate"]
    wide = pd.DataFrame({name: value.xs(key, level=[1, 2]) for name, key in ALIKE.items()})
    wide = wide.assign(gap=wide["ac1"] - wide["kappa"], gap_squared=wide["ac2"] - wide["alpha"]).reset_index()
    order = ["data", "kappa", "ac1", "gap", "alpha", "ac2", "gap_squared"]
    return wide[order].sort_values("gap", key=abs, ascending=False, ignore_index=True)
