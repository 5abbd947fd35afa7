"""What certainty costs: the standard error of a difference between two systems against hours of work."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.data.schemas import ITEM
from evalkit.human.annotators import PAUSE
from evalkit.human.planning import difference_variance
from evalkit.human.protocols import components as model
from evalkit.human.protocols import effort
from evalkit.stats import inference, widths

#: How components are called in tables.
NAMES = {
    "showing": "documents by system",
    "annotator": "people's levels",
    "taste": "people by system",
    "residual": "segments and noise",
}
#: Systems that the hours of a campaign are for.
SYSTEMS = 12
#: Chance to find a difference, and error of the first kind of the two-sided test, that ``hours_needed`` asks for.
POWER, ALPHA = 0.8, 0.05
#: What is left out in turn: to tell how sure components are. Cells: what one person judged of one document.
LEFT_OUT = {"documents": ("documents",), "people": ("people",), "cells": ("documents", "people")}


def components(
    scored: pd.DataFrame, judged: pd.DataFrame, *, pause: float = PAUSE, groups: int = 10, seed: int = 7
) -> pd.DataFrame:
    """Estimate the variance components of each complete campaign, also with parts of it left out.

    scored: protocol, system, doc, segment, annotator, item_type, score. judged: judgements with times (see
    ``effort.work``). Only outputs of systems count, and protocols with people, times and a judgement of every output.
    groups: parts into which the documents are dealt by chance; each is left out once; so is each person, and each of as
    many parts of what one person judged of one document.
    Returns protocol, left_out ("" for the estimate itself; otherwise one of ``LEFT_OUT``), the columns of
    ``effort.work``, systems, outputs (judged), block (size of a document as a segment sees it), spread (standard
    deviation of the systems' true means: the unit in which protocols are compared), in points, and one column per
    component (``components.estimate``), squared points.
    Source of leaving out: Efron & Tibshirani 1993, ch. 11. People are not drawn with replacement: somebody drawn twice
    would look like two people who agree.
    """
    outputs = scored[(scored["item_type"] == "system") & scored["annotator"].notna()]
    timed, rows = effort.add_times(judged, pause=pause), []
    for protocol in _complete(outputs, judged):
        own, done = (table[table["protocol"] == protocol] for table in (outputs, timed))
        coded, document = model.code(own), pd.factorize(own["doc"])[0]
        done = done[["item_type", "annotator", "doc", "seconds"]]
        for left_out, (stays, works) in _left_out(own, done, groups=groups, seed=seed):
            kept = coded.keep(stays)
            variances = model.estimate(kept)
            row: dict[str, object] = {"protocol": protocol, "left_out": left_out, **effort.sum_up(done[works])}
            row |= {"systems": int(coded.system.max()) + 1, "outputs": int(stays.sum())}
            row |= {"block": _block(kept.segment, document[stays]), "spread": spread(kept, variances)}
            rows.append(row | variances)
    if not rows:
        raise DataError("No protocol has a judgement of every output, people and times. Load the released judgements.")
    return pd.DataFrame(rows)


def _complete(outputs: pd.DataFrame, judged: pd.DataFrame) -> list[str]:
    """Name the protocols that judged every output, in their order."""
    cells = outputs.drop_duplicates(["protocol", *ITEM]).groupby("protocol", sort=False).size()
    return [name for name in cells.index[cells == cells.max()] if name in set(judged["protocol"])]


def _left_out(
    own: pd.DataFrame, done: pd.DataFrame, *, groups: int, seed: int
) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield which scores and judgements stay: all, then all but a part."""
    both, rng = (own, done), np.random.default_rng(seed)
    yield "", [np.ones(len(table), bool) for table in both]
    for person in sorted(own["annotator"].unique()):
        yield "people", [(table["annotator"] != person).to_numpy() for table in both]
    for what, columns in (("documents", ["doc"]), ("cells", ["annotator", "doc"])):
        units = [pd.MultiIndex.from_frame(table[columns]) for table in both]
        dealt = pd.MultiIndex.from_tuples(rng.permutation(units[0].unique().sort_values()))
        places = [dealt.get_indexer(own_units) for own_units in units]
        for number in range(min(groups, len(dealt))):
            yield what, [(own_places < 0) | (own_places % groups != number) for own_places in places]


def _block(segment: np.ndarray, document: np.ndarray) -> float:
    """Return the mean size of a segment's document, from the numbers of both for each judgement."""
    _, first = np.unique(segment, return_index=True)
    sizes = np.bincount(document[first])
    return float((sizes**2).sum() / sizes.sum())


def spread(judged: model.Coded, variances: Mapping[str, float]) -> float:
    """Return the standard deviation of the systems' true means, points.

    That of the means found, less what the components say is chance in it; 0 where nothing else is left.
    """
    share = judged.share()[None]
    noise = model.expected_difference(judged, variances, share)
    return float(np.sqrt(max(model.observed_difference(judged, share) - noise, 0.0) / 2))


def variance(parts: pd.DataFrame, hours: ArrayLike, *, people: float | None = None) -> np.ndarray:
    r"""Return the variance of the difference of two systems' means after ``hours`` of work, squared points.

    parts: rows of ``components``. The hours are spent on ``SYSTEMS`` systems, each segment judged once for each, and
    whole documents go to people by chance, as in these campaigns. With N judgements a system, documents of b segments
    and P people,

    .. math:: 2\,\frac{V_{residual} + b\,(V_{showing} + V_{annotator})}{N} + 2\,\frac{V_{taste}}{P}

    people: P; by default as many as share the hours when everybody works as long as here (``hours_each``).
    Returns (rows, hours). Source: ``planning.difference_variance``.
    """
    spent = np.atleast_1d(np.asarray(hours, float))
    found = np.empty((len(parts), len(spent)))
    for number, row in enumerate(parts.to_dict("records")):
        own = {"item": 0.0, "residual": row["residual"], "document": row["showing"], "block": 0.0}
        judgements = spent * 3600 / row["seconds"] / SYSTEMS
        crew = spent / row["hours_each"] if people is None else people
        noise = difference_variance(own | {"annotator": row["annotator"]}, judgements=judgements, block=row["block"])
        found[number] = noise + 2 * row["taste"] / crew
    return found


def standard_errors(parts: pd.DataFrame, *, hours: Sequence[float], people: float | None = None) -> pd.DataFrame:
    """Compute the standard error of a difference after so many hours, in units of the systems' spread.

    parts: the result of ``components``. Dividing by ``spread``, how far apart the same systems are by the same
    protocol, makes scales comparable. Returns protocol, hours, se, low, high: 95 % intervals by leaving out people and
    documents, with Student's t of people - 1. Caveat: the standard error is of what this protocol measures; a bias
    that all its people share is not in it.
    """
    logs = np.log(np.sqrt(variance(parts, hours, people=people)) / parts["spread"].to_numpy()[:, None])
    rows = []
    for protocol, (centre, error, freedom) in _estimates(parts, logs).items():
        reach = stats.t.ppf(0.975, freedom) * error
        ends = {"se": np.exp(centre), "low": np.exp(centre - reach), "high": np.exp(centre + reach)}
        rows.append(pd.DataFrame({"protocol": protocol, "hours": hours, **ends}))
    return pd.concat(rows, ignore_index=True)


def _estimates(parts: pd.DataFrame, values: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """Read off each protocol's estimate, its standard error and degrees of freedom; values: (rows of parts, ...)."""
    found, whole = {}, (parts["left_out"] == "").to_numpy()
    for protocol in parts["protocol"].unique():
        own = (parts["protocol"] == protocol).to_numpy()
        without = {kinds: values[own & (parts["left_out"] == what).to_numpy()] for what, kinds in LEFT_OUT.items()}
        squares = {kinds: inference.jackknife_error(some) ** 2 for kinds, some in without.items()}
        error = np.sqrt(widths.crossed_variance(squares))
        people = int(parts.loc[own & whole, "people"].iloc[0])
        found[str(protocol)] = values[own & whole][0], error, people - 1
    return found


def relative_hours(parts: pd.DataFrame, families: Mapping[str, str], *, base: str) -> pd.DataFrame:
    """Compare the hours that protocols need for the same certainty.

    families: campaign -> its protocol; campaigns of one protocol are averaged (geometric mean of the hours). base: the
    protocol that counts 1. Returns protocol, campaigns, hours (in units of the base's), low, high (95 %, normal on the
    logarithm; the protocols' people are different ones). Where everybody works as long as in these campaigns, the
    ratio does not depend on how many hours there are.
    """
    logs = np.log(variance(parts, [1.0])[:, 0] / parts["spread"].to_numpy() ** 2)
    table = pd.DataFrame(
        [
            (families[name], float(centre), float(error) ** 2)
            for name, (centre, error, _) in _estimates(parts, logs).items()
        ],
        columns=["protocol", "log", "square"],
    )
    if base not in set(table["protocol"]):
        raise DataError(f"base={base!r} is no protocol here. Choose one of: {', '.join(table['protocol'].unique())}.")
    groups = table.groupby("protocol", sort=False)
    means = groups.agg(campaigns=("log", "size"), log=("log", "mean"), square=("square", "sum"))
    means["square"] /= means["campaigns"] ** 2
    difference = means["log"] - means.loc[base, "log"]
    reach = stats.norm.ppf(0.975) * np.sqrt(means["square"] + means.loc[base, "square"]).where(means.index != base, 0.0)
    ends = {"hours": np.exp(difference), "low": np.exp(difference - reach), "high": np.exp(difference + reach)}
    return means[["campaigns"]].assign(**ends).reset_index()


def differences(scored: pd.DataFrame, parts: pd.DataFrame) -> pd.Series:
    """Average the systems' means over complete campaigns, in units of each one's spread, the best system first.

    Returns system -> mean, 0 on average. Several campaigns know the systems' differences better than any one.
    """
    whole = parts[parts["left_out"] == ""].set_index("protocol")["spread"]
    rows = scored[(scored["item_type"] == "system") & scored["protocol"].isin(whole.index)]
    means = rows.groupby(["system", "protocol"])["score"].mean().unstack() / whole
    return (means - means.mean()).mean(axis=1).sort_values(ascending=False).rename("mean")


def gaps(means: pd.Series) -> dict[str, float]:
    """Return the median difference of two systems in the unit of the means: neighbours in the ranking, and any two.

    >>> gaps(pd.Series([0.0, 1.0, 3.0, 7.0]))
    {'neighbours': 2.0, 'any two': 3.5}
    """
    ordered = np.sort(means.to_numpy(float))
    first, second = np.triu_indices(len(ordered), 1)
    between = {"neighbours": np.diff(ordered), "any two": ordered[second] - ordered[first]}
    return {name: float(np.median(values)) for name, values in between.items()}


def needed_error(gap: ArrayLike) -> np.ndarray:
    """Return the standard error that finds a difference of ``gap`` with 80 % power at 5 %, two-sided, in its unit.

    Source: the normal test; of the wrong sign's chance nothing is left at this power.

    >>> float(needed_error(2.8).round(2))
    1.0
    """
    return np.asarray(np.asarray(gap, float) / (stats.norm.isf(ALPHA / 2) + stats.norm.ppf(POWER)))


def hours_needed(parts: pd.DataFrame, found: Mapping[str, float]) -> pd.DataFrame:
    """Compute the hours that distinguish two systems so far apart, with 80 % power at 5 %.

    parts: the result of ``components``. found: the result of ``gaps``. People are added with the hours (see
    ``variance``). Returns protocol, pair, gap, hours, low, high; intervals as in ``standard_errors``, for a gap that
    is known. Caveat: gaps are of estimated means, so that neighbours look farther apart than they are.
    """
    one = standard_errors(parts, hours=[1.0])
    rows = []
    for pair, gap in found.items():
        ratio = one[["se", "low", "high"]] / needed_error(gap)
        table = (ratio**2).set_axis(["hours", "low", "high"], axis=1)
        rows.append(pd.concat([one[["protocol"]].assign(pair=pair, gap=gap), table], axis=1))
    return pd.concat(rows, ignore_index=True)


def prices(parts: pd.DataFrame, found: Mapping[str, float], *, hours: float) -> pd.DataFrame:
    """Put beside each other what certainty costs in each campaign.

    Returns protocol, seconds (per useful judgement), se, low, high (after ``hours`` of work, as in
    ``standard_errors``), and for each pair of ``found`` (see ``gaps``) the hours that distinguish it.
    """
    seconds = parts[parts["left_out"] == ""][["protocol", "seconds"]]
    needed = hours_needed(parts, found).pivot(index="protocol", columns="pair", values="hours")[list(found)]
    return seconds.merge(standard_errors(parts, hours=[hours]).drop(columns="hours")).merge(needed, on="protocol")


def shares(parts: pd.DataFrame) -> pd.DataFrame:
    """Split the variance of a difference by its causes, for hours as spent in the campaign itself.

    Returns protocol, se (points), spread (points), share of the variance of the difference for each name in ``NAMES``,
    together (se where one person judges all systems' versions of a document, over se: levels then cancel) and floor
    (se in units of the spread that the same people cannot go below, however long they work).
    """
    rows = []
    for row in parts[parts["left_out"] == ""].to_dict("records"):
        judgements = row["outputs"] / row["systems"]
        each = {"showing": row["block"] * row["showing"], "annotator": row["block"] * row["annotator"]}
        each |= {"taste": row["taste"] * judgements / row["people"], "residual": row["residual"]}
        total = math.fsum(each.values())
        own = {NAMES[name]: value / total for name, value in each.items()}
        points, unit = np.sqrt(2 * total / judgements), row["spread"]
        found = {"together": np.sqrt(1 - own[NAMES["annotator"]])}
        found |= {"floor": np.sqrt(2 * row["taste"] / row["people"]) / unit}
        rows.append({"protocol": row["protocol"], "se": points, "spread": unit} | own | found)
    return pd.DataFrame(rows)
