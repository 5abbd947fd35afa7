"""Show what normalising does to the order of an annotator's own scores, and how far means of single HITs lie apart.

An annotator whose statistics are computed once keeps the order of their scores, whatever the statistics are: the map is
one increasing line. With statistics of its own for each HIT the map is a different line per HIT, and two judgements
from two HITs may change places (Knowles & Lo 2024, section 4.3).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import fact
from evalkit.data.schemas import with_pair
from evalkit.stats.correlation import pearson

_WHO = ["pair", "annotator"]
#: What ``means`` averages: everything but degraded copies (Knowles & Lo 2024, footnote f).
ORDINARY = ("system", "reference", "repeat")


def order_kept(ratings: pd.DataFrame) -> pd.DataFrame:
    """Correlate every annotator's scores before and after normalising: 1 says that their order is kept.

    ratings: as ``normalize`` returns them, with ``hit``. Returns pair, annotator, hits, judgements, rho (Spearman, ties
    averaged), pearson, the furthest from 1 first within each pair. Judgements without a normalised score are left
    out; a correlation is NaN where one side does not vary.  Caveat: an annotator with one HIT has rho 1 by
    construction, so look at those with several.

    >>> frame = pd.DataFrame({"src_lang": "eng", "tgt_lang": "jpn", "annotator": "a", "hit": list("hhkk"),
    ...     "score": [10.0, 30, 20, 40], "normalized": [-0.7, 0.7, -0.7, 0.7]})
    >>> order_kept(frame)[["hits", "judgements", "rho"]].round(2).values.tolist()
    [[2.0, 4.0, 0.89]]
    """
    _demand(ratings, "score", "normalized", "hit")
    there = with_pair(ratings)[[*_WHO, "hit", "score", "normalized"]].dropna()
    if there.empty:
        raise DataError("No row has both score and normalized. Were the scores normalised without any spread?")
    judged = there.groupby(_WHO)
    table = judged.agg(hits=("hit", "nunique"), judgements=("score", "size")).reset_index()
    columns, who = there[["score", "normalized"]], judged.ngroup()  # the numbers of the table's rows
    table["rho"] = _correlation(columns.groupby(who).rank(), who)
    table["pearson"] = _correlation(columns, who)
    return table.sort_values(["pair", "rho"], kind="stable", ignore_index=True)


def _correlation(columns: pd.DataFrame, who: pd.Series) -> pd.Series:
    """Return Pearson's r of two columns within each annotator."""
    centred = columns - columns.groupby(who).transform("mean")
    x, y = (centred.iloc[:, k] for k in (0, 1))
    sums = pd.DataFrame({"xy": x * y, "xx": x * x, "yy": y * y}).groupby(who).sum()
    varies = columns.groupby(who).nunique().gt(1).all(axis=1)
    return (sums["xy"] / np.sqrt(sums["xx"] * sums["yy"])).where(varies).clip(-1, 1)


def order_summary(kept: pd.DataFrame, *, by: list[str]) -> pd.DataFrame:
    """Summarise ``order_kept`` over annotators with several HITs, for whom the question arises.

    by: columns that name what is summarised apart, such as the pair. Returns these, annotators, several_hits, lowest,
    median, above_0.9 (share of those with several HITs whose rho is above 0.9), reordered (how many of those have a
    rho below 1), one_hit_lowest (lowest rho of those with one HIT).
    """
    defined = kept.dropna(subset="rho")
    several = defined[defined["hits"] > 1].groupby(by)["rho"]
    table = kept.groupby(by, sort=False).agg(annotators=("annotator", "size"))
    table["several_hits"] = several.size().reindex(table.index, fill_value=0)
    table = table.join(several.agg(["min", "median"]).rename(columns={"min": "lowest"}))
    table["above_0.9"] = several.agg(lambda rho: (rho > 0.9).mean())
    table["reordered"] = several.agg(lambda rho: (rho < 1 - 1e-12).sum()).reindex(table.index, fill_value=0).astype(int)
    table["one_hit_lowest"] = defined[defined["hits"] == 1].groupby(by)["rho"].min()
    return table.reset_index()


def inversions(ratings: pd.DataFrame, *, worst: int = 5) -> pd.DataFrame:
    """Name, for the annotators whose order suffers most, the two judgements furthest apart that change places.

    ratings: as ``normalize(..., by=("hit",))`` returns them. Returns at most ``worst`` rows, lowest rho first: pair,
    annotator, rho; for the judgement scored higher and the one scored lower: score, normalized, the mean and sd of its
    HIT and the HIT itself (``higher_…``, ``lower_…``); difference (points between the two, > 0); reversed_by
    (normalised units by which the lower one comes out above). Annotators without such judgements have no row.
    """
    kept = order_kept(ratings)
    lowest = kept[kept["rho"] < 1].nsmallest(worst, "rho", keep="first")
    there = with_pair(ratings).dropna(subset=["score", "normalized"])
    hits = there.groupby([*_WHO, "hit"])["score"].agg(["mean", "std"])
    rows = []
    for found in lowest.itertuples():
        own = there[(there["pair"] == found.pair) & (there["annotator"] == found.annotator)]
        raw, moved = own["score"].to_numpy(float), own["normalized"].to_numpy(float)
        swapped = np.where(moved[:, None] < moved, raw[:, None] - raw, -np.inf)  # row scored higher, comes out lower
        high, low = np.unravel_index(np.argmax(swapped), swapped.shape)
        if swapped[high, low] <= 0:
            continue
        row = {"pair": found.pair, "annotator": found.annotator, "rho": found.rho}
        for name, k in (("higher", high), ("lower", low)):
            mean, sd = hits.loc[(found.pair, found.annotator, own["hit"].iloc[k])]
            row |= {
                f"{name}_score": raw[k],
                f"{name}_normalized": moved[k],
                f"{name}_hit_mean": mean,
                f"{name}_hit_sd": sd,
                f"{name}_hit": own["hit"].iloc[k],
            }
        rows.append(row | {"difference": raw[high] - raw[low], "reversed_by": moved[low] - moved[high]})
    columns = [f"{n}_{c}" for n in ("higher", "lower") for c in ("score", "normalized", "hit_mean", "hit_sd", "hit")]
    return pd.DataFrame(rows, columns=["pair", "annotator", "rho", *columns, "difference", "reversed_by"])


def means(ratings: pd.DataFrame, *, calibration: pd.DataFrame | None = None) -> pd.DataFrame:
    """Set annotators' means and the means of their single HITs against a reference mean (Knowles & Lo 2024, Figure 3).

    ratings: with ``hit``. calibration: a table of calibration items; None: the calibration items in ``ratings``, if
    there are any. Where an annotator has calibration items, their mean is the ``reference``, and rows of both levels
    follow; where no one has, the reference is the annotator's own mean over all their HITs, and HITs alone follow.
    Degraded and calibration items of ``ratings`` do not count.
    Returns pair, annotator, level ("annotator" or "HIT"), hit (empty for an annotator), judgements, sd, reference,
    mean; points of the scale. ``attrs["reference"]`` says "calibration" or "annotator". Annotators without
    calibration items are left out where others have some, and counted in ``attrs["excluded"]``.
    """
    _demand(ratings, "score", "hit")
    everything = with_pair(ratings)
    known = with_pair(calibration) if calibration is not None else everything
    known = known[known["item_type"] == "calibration"]
    counted = everything[everything["item_type"].isin(ORDINARY)]
    if counted.empty:
        raise DataError(f"There is no {' or '.join(ORDINARY)} item here whose mean could be compared.")
    scores = {"judgements": ("score", "size"), "sd": ("score", "std"), "mean": ("score", "mean")}
    by_annotator = counted.groupby(_WHO).agg(**scores).reset_index().assign(level="annotator", hit="")
    by_hit = counted.groupby([*_WHO, "hit"]).agg(**scores).reset_index().assign(level="HIT")
    if known.empty:
        table, reference = by_hit, by_annotator.set_index(_WHO)["mean"]
    else:
        table, reference = pd.concat([by_annotator, by_hit]), known.groupby(_WHO)["score"].mean()
    table = table.merge(reference.rename("reference").reset_index(), on=_WHO, how="left")
    lost = table["reference"].isna()
    if lost.all():
        raise DataError("No annotator here has calibration items. Do both tables use the same names of annotators?")
    frame = table.loc[~lost, [*_WHO, "level", "hit", "judgements", "sd", "reference", "mean"]].reset_index(drop=True)
    absent = int(table.loc[lost, _WHO].drop_duplicates().shape[0])
    frame.attrs = {
        "reference": "annotator" if known.empty else "calibration",
        "excluded": {"annotators without calibration items": absent},
    }
    return frame


def mean_distances(compared: pd.DataFrame) -> pd.DataFrame:
    """Summarise ``means``: how far means lie from their reference, and how far they would by chance alone.

    Returns pair, level, n, median and largest distance (points), by_chance, r (Pearson's, with the reference).
    by_chance is the median distance expected if every HIT were a random sample of its annotator's judgements (their sd
    over the root of n, times 0.674, shrunk for the share of the HIT in the annotator's mean); a larger median says
    that HITs differ by what is in them, or that annotators drift. It is NaN where the reference is a calibration set.
    """
    rows = []
    own_mean = fact(compared, "reference", by="normalization.means") == "annotator"
    several = compared.groupby([*_WHO, "level"])["hit"].transform("size") > 1
    own = compared["level"].eq("annotator") | (several if own_mean else True)
    for (pair, level), part in compared[own].groupby(["pair", "level"], sort=True):
        distance = (part["mean"] - part["reference"]).abs()
        chance = np.nan
        if own_mean:
            total = part.groupby("annotator")["judgements"].transform("sum")
            within = (part["sd"] ** 2 * part["judgements"]).groupby(part["annotator"]).transform("sum") / total
            chance = float((np.sqrt(within * (1 / part["judgements"] - 1 / total)) * 0.6744897501960817).median())
        r = float(pearson(part["reference"].to_numpy(), part["mean"].to_numpy())) if len(part) > 2 else np.nan
        rows.append((pair, level, len(part), float(distance.median()), float(distance.max()), chance, r))
    return pd.DataFrame(rows, columns=["pair", "level", "n", "median", "largest", "by_chance", "r"])


def _demand(ratings: pd.DataFrame, *columns: str) -> None:
    if lacking := [name for name in columns if name not in ratings]:
        raise DataError(
            f"These ratings have no column {', '.join(lacking)}. Load ratings that have it, or normalise them first."
        )
