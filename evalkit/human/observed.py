"""Agreement of real annotators, by every coefficient, over data sets of different kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import fact, like, scale_of
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
#: What ``misled`` returns, in words.
GAPS = {
    "kappa": "Fleiss' κ",
    "ac1": "Gwet's AC1",
    "gap": "apart (exact)",
    "alpha": "α (interval)",
    "ac2": "AC2 (quadratic)",
    "gap_squared": "apart (squared)",
}
#: What coefficients call chance, and where that misleads.
CHANCE = (
    ("percent agreement", "nothing", "categories are few, or one nearly always applies"),
    ("Randolph's κ", "all categories alike", "some categories are never used"),
    (
        "Fleiss' κ, Conger's κ, Krippendorff's α (nominal)",
        "categories as often as used",
        "one category dominates: agreement on it hardly counts",
    ),
    ("Gwet's AC1", "only hard items are guessed", "one category dominates: high even if nobody distinguishes items"),
    (
        "Krippendorff's α (ordinal, interval), weighted κ, Gwet's AC2",
        "as above; near misses count partly",
        "AC2 is high where scores bunch together",
    ),
)
#: How the names of data sets begin, and what a reader knows them as.
COLLECTIONS = {
    "sudoh-": "WMT15-16 ",
    "wmt22-calibration/": "WMT22 calibration, ",
    "mlqe-pe/": "MLQE-PE, ",
    "wmt-slt22": "WMT-SLT 2022",
}


def explained() -> pd.DataFrame:
    """Say what the coefficients call chance: coefficient, chance is, misleads where."""
    return pd.DataFrame(CHANCE, columns=["coefficient", "chance is", "misleads where"])


def titled(name: str) -> str:
    """Say a data set's name in words.

    >>> titled("wmt22-calibration/eng-zho"), titled("sudoh-fluency"), titled("mine")
    ('WMT22 calibration, eng-zho', 'WMT15-16 fluency', 'mine')
    """
    return next((title + name[len(code) :] for code, title in COLLECTIONS.items() if name.startswith(code)), name)


def binned(ratings: pd.DataFrame, bins: int, *, scale: tuple[float, float] | None = None) -> pd.DataFrame:
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


def matrices(
    *, labels: pd.DataFrame, calibration: pd.DataFrame, assessments: pd.DataFrame, signed: pd.DataFrame, bins: int = 7
) -> dict[str, pd.DataFrame]:
    """Arrange the four collections as one matrix of categories per data set, name -> items × annotators or places.

    labels: ``sudoh-labels``, all pairs of a dimension together, as its annotators are the same throughout.
    calibration: WMT22 calibration HITs of the annotators who are kept. assessments: ``mlqe-pe``. signed: ``wmt-slt22``.
    Scores from 0 to 100 go to ``bins`` points. ``attrs`` hold ``named`` (whether columns are people) and
    ``categories`` (all that the scale offers).
    """
    found, offered = {}, {}
    for dimension, part in labels.groupby("dimension"):
        one = part.assign(doc=part["doc"] + "." + part["src_lang"], src_lang="all")  # rows of ten files stay apart
        found[f"sudoh-{dimension}"] = matrix(one)
        offered[f"sudoh-{dimension}"] = np.arange(1.0, part["score"].max() + 1).tolist()
    for name, ratings, named in (("wmt22-calibration", calibration, True), ("mlqe-pe", assessments, False)):
        for pair, part in with_pair(binned(ratings, bins)).groupby("pair"):
            found[f"{name}/{pair}"] = matrix(part, named=named)
    found["wmt-slt22"] = matrix(binned(signed[signed["item_type"].ne("repeat")], bins), named=False)
    for name, scores in found.items():
        scores.attrs["named"] = name.startswith(("sudoh", "wmt22"))
        scores.attrs["categories"] = offered.get(name, np.arange(float(bins)).tolist())
    return found


def coefficients(found: Mapping[str, pd.DataFrame], *, resamples: int, seed: int) -> pd.DataFrame:
    """Compute every coefficient that a data set allows.

    Returns data, coefficient, level, estimate, low, high, items, annotators.
    found: the result of ``matrices``. Coefficients that follow annotators are left out where columns are places, since
    places are not people. ``annotators`` is then the largest number of scores that an item has.
    """
    parts = []
    for name, scores in found.items():
        named, offered = (fact(scores, what, by="human.observed.matrices") for what in ("named", "categories"))
        options = {"measures": [*ANONYMOUS, *(NAMED if named else ())], "categories": offered}
        parts.append(agreement.coefficients(scores, **options, resamples=resamples, seed=seed).assign(data=name))
    columns = ["data", "coefficient", "level", "estimate", "low", "high", "items", "annotators"]
    return pd.concat(parts, ignore_index=True)[columns]


def skew(found: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Say how unevenly each data set's categories are used: data, categories, commonest, effective.

    commonest: the share of the commonest category; effective: how many equally frequent categories would agree by
    chance as often (the inverse of the summed squared shares).
    """
    rows = []
    for name, scores in found.items():
        share = scores.stack().value_counts(normalize=True)
        rows.append((name, len(share), float(share.max()), float(1 / (share**2).sum())))
    return pd.DataFrame(rows, columns=["data", "categories", "commonest", "effective"])


def by_bins(ratings: Mapping[str, pd.DataFrame], *, bins: Sequence[int], resamples: int, seed: int) -> pd.DataFrame:
    """Compute agreement with the scale cut into different numbers of bins: data, bins, coefficient, level, estimate …

    ratings: name -> one pair's ratings from 0 to 100; 101 bins are the scale as it is. Annotators' names are
    not used.
    """
    measures = [("fleiss_kappa", "none"), ("gwet_ac1", "none"), ("krippendorff_alpha", "interval")]
    parts = []
    for (name, part), count in product(ratings.items(), bins):
        options = {"measures": measures, "categories": np.arange(float(count)).tolist()}
        scores = matrix(binned(part, count), named=False)
        table = agreement.coefficients(scores, **options, resamples=resamples, seed=seed)
        parts.append(table.assign(data=name, bins=count))
    return pd.concat(parts, ignore_index=True)[["data", "bins", "coefficient", "level", "estimate", "low", "high"]]


def collapsed(found: Mapping[str, pd.DataFrame], *, resamples: int, seed: int) -> pd.DataFrame:
    """Merge the two best categories, as Licht et al. merged XSTS's 4 and 5.

    Returns data, coefficient, level, before, after, after_low, after_high, change.
    found: the result of ``matrices``, or a part of it.
    """
    measures = [
        ("percent_agreement", "none"),
        *(ALIKE[name] for name in ("kappa", "ac1")),
        ("krippendorff_alpha", "ordinal"),
    ]
    parts = []
    for name, scores in found.items():
        offered = fact(scores, "categories", by="human.observed.matrices")
        before, after = (
            agreement.coefficients(
                scores.clip(upper=some[-1]), measures=measures, categories=some, resamples=resamples, seed=seed
            )
            for some in (offered, offered[:-1])
        )
        after = after[["estimate", "low", "high"]].set_axis(["after", "after_low", "after_high"], axis=1)
        change = after["after"] - before["estimate"]
        table = before[["coefficient", "level"]].assign(data=name, before=before["estimate"])
        parts.append(table.join(after).assign(change=change))
    columns = ["data", "coefficient", "level", "before", "after", "after_low", "after_high", "change"]
    return pd.concat(parts, ignore_index=True)[columns]


def places(assessments: pd.DataFrame) -> pd.DataFrame:
    """Ask whether places in a list of scores could be people: pair, doc (split), places, apart, expected, ratio.

    apart: standard deviation of the places' mean scores over the segments where all places are filled. expected: what
    it would be if each segment's scores stood in a random order (root mean square); ratio: of the two. Where apart is
    many times as large, places do differ; that they are the same people throughout does not follow.
    """
    rows = []
    for (pair, doc), part in with_pair(assessments).groupby(["pair", "doc"]):
        wide = part.set_index(["segment", "annotator"])["score"].unstack().dropna()
        if wide.empty:
            raise DataError(f"{pair}, {doc}: no segment has a score in every place. Split the table by places first.")
        within = wide.var(axis=1, ddof=1).mean()
        rows.append((pair, doc, wide.shape[1], wide.mean().std(ddof=1), float(np.sqrt(within / len(wide)))))
    found = pd.DataFrame(rows, columns=["pair", "doc", "places", "apart", "expected"])
    return found.assign(ratio=found["apart"] / found["expected"])


def misled(table: pd.DataFrame) -> pd.DataFrame:
    """Rank data sets by how far Fleiss' κ and AC1 lie apart, which weigh alike and call other things chance.

    table: the result of ``coefficients``. Returns data, kappa, ac1, gap (AC1 minus κ), and the same for squared
    distances: alpha (interval), ac2 (quadratic), gap_squared.
    """
    value = table.set_index(["data", "coefficient", "level"])["estimate"]
    wide = pd.DataFrame({name: value.xs(key, level=[1, 2]) for name, key in ALIKE.items()})
    wide = wide.assign(gap=wide["ac1"] - wide["kappa"], gap_squared=wide["ac2"] - wide["alpha"]).reset_index()
    return wide[["data", *GAPS]].sort_values("gap", key=abs, ascending=False, ignore_index=True)
