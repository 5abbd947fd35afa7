"""Automation bias in scores: how far a model's suggestions pull people's scores and rankings towards its own.

Scores of people and of a model agree because both see the quality of a translation. Suggestions pull if people who see
them agree more with the model than that: more than people without suggestions do, and more than independent MQM
explains. MQM is itself noisy, so what it leaves unexplained is partly quality; two independent MQM judgements tell how
much, for the errors of one say nothing about the other (each is the instrument of the other).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.schemas import ITEM, SEGMENT
from evalkit.human.protocols.scores import SHORT, drawn_units
from evalkit.stats import correlation
from evalkit.stats.correlation import covariances
from evalkit.stats.inference import Shuffles, permutation_test
from evalkit.stats.widths import Part, combine, redraw

#: Campaigns without and with suggested marks, the model that suggested them, and independent judgements of quality.
ALONE, ASSISTED, MODEL = ("ESA-1", "ESA-2"), ("ESAAI-1", "ESAAI-2"), "LLM"
QUALITY = ("MQM-1", "WMT-MQM")
#: What two means of campaigns and their difference are called, where each campaign has a row.
MEANS = ("ESA", "ESAAI", "ESAAI less ESA")
#: How campaigns and means are written on pages.
CALLED = {**SHORT, MEANS[1]: "ESA^AI", MEANS[2]: "ESA^AI less ESA"}
#: Weight of one major error in the model's score.
MAJOR = 5
#: How the agreement of scores with the model's is measured; see ``pull``. The last is not moved by noise in MQM.
PULLS = (
    "correlation with the model",
    "correlation, one MQM held constant",
    "correlation, both MQM held constant",
    "points a major error of the model, one MQM held constant",
    "points a major error of the model, noise of MQM removed",
    "correlation with the model as a multiple of that with MQM",
)
_BOTH = {PULLS[2], PULLS[4], PULLS[5]}  # what needs both MQM
#: Orders of systems that a test tries.
SHUFFLES = 9_999


def pull(scored: pd.DataFrame, *, resamples: int = 200, seed: int = 7) -> pd.DataFrame:
    r"""Measure how far scores follow the model's, by campaign: measure, protocol, n, estimate, low, high.

    scored: the result of ``protocols.scores``; systems' outputs under ``ALONE``, ``ASSISTED``, ``MODEL`` and
    ``QUALITY`` are used. measure: a name of ``PULLS``; protocol: a campaign, or one of ``MEANS``. Points are the change
    of a score (0 to 100) for one major error more that the model sees (``MAJOR`` points of its score). Held constant:
    partial correlation, or the coefficient of the model beside MQM in a least-squares fit. Where the noise of MQM is
    removed, each MQM is instrumented by the other and the mean of both directions is taken:
    :math:`\beta = (Z'X)^{-1}Z'y` with X = (model, one MQM) and Z = (model, the other). The multiple is
    :math:`2 r_{yL} / (r_{y1} + r_{y2})` for scores y, the model L and both MQM: noise in scores weakens all three
    alike, and noise in MQM is the same for each campaign. If people shared nothing but quality with model and MQM,
    removing the noise would leave no points, and all campaigns would have the same multiple.
    Intervals draw documents and people anew; see ``inference.crossed``. Source: Wooldridge 2010, section 5.3 (several
    indicators of an unobserved variable). Caveat: people and model may err alike for other reasons, such as looking at
    the same kinds of errors, which campaigns without suggestions show, too; the difference counts, and it still
    contains what other people would have made of it.
    """
    rows = _joined(scored, [*ALONE, *ASSISTED])
    values = {name: part[["score", MODEL, *QUALITY]].to_numpy(float) for name, part in rows.groupby("protocol")}
    known = {name: np.isfinite(own).all(axis=1) for name, own in values.items()}
    of_both = np.array([measure in _BOTH for measure in PULLS])
    parts = {
        name: Part(
            partial(_pulls, values[name], known[name]), drawn_units(part), len(part), known[name][:, None] | ~of_both
        )
        for name, part in rows.groupby("protocol")
    }
    sizes = {name: [both.sum() if measure in _BOTH else len(both) for measure in PULLS] for name, both in known.items()}
    return campaigns(parts, PULLS, sizes, resamples=resamples, seed=seed)


def campaigns(
    parts: Mapping[str, Part], measures: Sequence[str], sizes: Mapping[str, Sequence[int]], *, resamples: int, seed: int
) -> pd.DataFrame:
    """Tabulate measures of campaigns, of both means and of their difference, each with its interval.

    parts: name of each of ``ALONE`` and ``ASSISTED`` -> its statistic. sizes: judgements behind each measure.
    Returns measure, protocol (a campaign or one of ``MEANS``), n (of means: those without suggestions), estimate, low,
    high.
    """
    names = [*ALONE, *ASSISTED]
    found = redraw([parts[name] for name in names], resamples=resamples, seed=seed)
    without = np.isin(names, ALONE) / len(ALONE)
    shown = np.isin(names, ASSISTED) / len(ASSISTED)
    found += [combine(found, weights) for weights in (without, shown, shown - without)]
    counts = [*(sizes[name] for name in names), *[np.sum([sizes[name] for name in ALONE], axis=0)] * len(MEANS)]
    rows = [
        pd.DataFrame(
            {
                "measure": measures,
                "protocol": name,
                "n": count,
                "estimate": one.estimate,
                **dict(zip(("low", "high"), one.interval())),
            }
        )
        for name, one, count in zip([*names, *MEANS], found, counts)
    ]
    table = pd.concat(rows)
    return table.iloc[np.argsort(table["measure"].map(list(measures).index), kind="stable")].reset_index(drop=True)


def beside(found: pd.DataFrame) -> pd.DataFrame:
    """Put campaigns without and with suggestions side by side: measure, n, esa, esaai, difference, low, high.

    found: the result of ``pull`` or ``marking``; low and high belong to the difference.

    >>> row = {"measure": "r", "n": 9, "low": 0.1, "high": 0.3}
    >>> found = pd.DataFrame([{**row, "protocol": name, "estimate": x} for name, x in zip(MEANS, (0.4, 0.6, 0.2))])
    >>> beside(found).values.tolist()
    [['r', 9, 0.4, 0.6, 0.2, 0.1, 0.3]]
    """
    wide = {name: found[found["protocol"] == name].set_index("measure") for name in MEANS}
    table = wide[MEANS[2]][["n", "estimate", "low", "high"]].rename(columns={"estimate": "difference"})
    table.insert(1, "esa", wide[MEANS[0]]["estimate"])
    table.insert(2, "esaai", wide[MEANS[1]]["estimate"])
    return table.reset_index()


def favour(scored: pd.DataFrame, *, quality: str = QUALITY[0]) -> pd.DataFrame:
    """List, system by system, whom the model and whom suggestions move up: system, model, people.

    model: places by which the model ranks a system above ``quality``; people: places by which campaigns with
    suggestions rank it above those without (means of both campaigns). Only segments that ``quality`` has.
    """
    rows, columns = _ranked(scored, quality)
    model, people = _moved(_means(columns, np.ones((1, len(rows))))[0])
    table = pd.DataFrame({"system": columns.systems, "model": model, "people": people})
    return table.sort_values(["model", "system"], ascending=[False, True], ignore_index=True)


def favoured(scored: pd.DataFrame, *, seed: int = 7) -> pd.DataFrame:
    """Correlate over systems what the model favours with what suggestions favour: quality, systems, pearson, p, steady.

    quality: what stands for systems' quality, each of ``QUALITY``; the model favours a system whose place by its scores
    is above that by ``quality``, suggestions one whose place with them is above that without (see ``favour``). p is
    two-sided, of a permutation test in which systems change places (``SHUFFLES`` of them). steady: the correlation of
    what suggestions favour in the first campaigns with that in the second; near 0, there is nothing systematic to
    explain. Missing where nobody moves. Caveat: a dozen systems, many of which hardly move.
    """
    return pd.DataFrame([_favoured(scored, quality, seed) for quality in QUALITY])


def _favoured(scored: pd.DataFrame, quality: str, seed: int) -> dict[str, object]:
    rows, columns = _ranked(scored, quality)
    means = _means(columns, np.ones((1, len(rows))))[0]
    model, people = _moved(means)
    places = correlation.ranks(means)
    exchange = Shuffles(people, np.zeros(len(people)))
    test = permutation_test(partial(_alike, model), exchange, resamples=SHUFFLES, seed=seed)
    return {
        "quality": quality,
        "systems": len(people),
        "pearson": float(correlation.pearson(people, model)),
        "p": float(test.p),
        "steady": float(correlation.pearson(places[2] - places[0], places[3] - places[1])),
    }


def _alike(model: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Return how strongly arrangements (batch, systems) go with what the model favours, whatever the sign."""
    return np.abs(correlation.pearson(people, model[None]))


def _joined(scored: pd.DataFrame, protocols: Sequence[str]) -> pd.DataFrame:
    """Return the judgements of campaigns beside the model's and MQM's scores of the same translations."""
    outputs = scored[scored["item_type"].eq("system")]
    if lacks := {*protocols, MODEL, *QUALITY} - set(outputs["protocol"]):
        raise DataError(f"No score under {', '.join(sorted(lacks))}: who pulls whom needs all of these protocols.")
    wide = outputs.pivot_table(index=ITEM, columns="protocol", values="score", observed=True)
    rows = outputs[outputs["protocol"].isin(protocols)]
    rows = rows.join(wide[[MODEL, *QUALITY]], on=ITEM)
    return rows.dropna(subset=["score", MODEL, QUALITY[0]]).reset_index(drop=True)


def _pulls(values: np.ndarray, known: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Compute ``PULLS`` of one campaign under each weighting of rows, (batch, measures).

    values: (rows, score, model and MQM). known: (rows,) whether both MQM are there.
    """
    one, both = covariances(values[:, :3], times), covariances(values[known], times[:, known])
    plain = one[:, 0, 1] / np.sqrt(one[:, 0, 0] * one[:, 1, 1])
    clean = (_slope(both, (1, 2), (1, 3)) + _slope(both, (1, 3), (1, 2))) / 2
    slope = _slope(one, (1, 2), (1, 2))
    spread = np.sqrt(np.diagonal(both, axis1=1, axis2=2))
    r = both[:, 0] / spread  # times the spread of the scores, which the multiple does not know
    multiple = 2 * r[:, 1] / (r[:, 2] + r[:, 3])
    return np.stack([plain, _partial(one), _partial(both), MAJOR * slope, MAJOR * clean, multiple], axis=1)


def _partial(covariance: np.ndarray) -> np.ndarray:
    """Return the partial correlation of the first two columns given the others, (batch,)."""
    precision = np.linalg.pinv(covariance)
    return -precision[:, 0, 1] / np.sqrt(precision[:, 0, 0] * precision[:, 1, 1])


def _slope(covariance: np.ndarray, regressors: Sequence[int], instruments: Sequence[int]) -> np.ndarray:
    """Return the first regressor's coefficient for column 0, (batch,); NaN where it is not determined."""
    left = covariance[:, list(instruments)][:, :, list(regressors)]
    right = covariance[:, list(instruments), 0]
    bad = ~np.isfinite(left).all(axis=(1, 2)) | (np.abs(np.linalg.det(left)) < 1e-12)
    left = np.where(bad[:, None, None], np.eye(left.shape[1]), left)
    return np.where(bad, np.nan, np.linalg.solve(left, right[..., None])[:, 0, 0])


class _Columns(NamedTuple):
    """Hold the score of each row and which protocol and system it is of, for means by both."""

    scores: np.ndarray
    cell: np.ndarray  # (rows, protocols * systems), sparse in kind
    systems: list[str]


def _ranked(scored: pd.DataFrame, quality: str) -> tuple[pd.DataFrame, _Columns]:
    """Return the rows of all protocols on segments that ``quality`` has, and what their means are taken over."""
    protocols = [*ALONE, *ASSISTED, quality, MODEL]
    outputs = scored[scored["item_type"].eq("system") & scored["protocol"].isin(protocols)].dropna(subset="score")
    segments = pd.MultiIndex.from_frame(outputs[[*SEGMENT]])
    rows = outputs[segments.isin(segments[outputs["protocol"] == quality])].reset_index(drop=True)
    systems = sorted(rows["system"].astype("str").unique())
    place = rows["protocol"].map(protocols.index).to_numpy() * len(systems)
    place = place + rows["system"].map(systems.index).to_numpy(int)
    return rows, _Columns(rows["score"].to_numpy(float), place, systems)


def _means(columns: _Columns, times: np.ndarray) -> np.ndarray:
    """Return systems' means by protocol, (batch, protocols, systems); NaN where nothing is drawn."""
    size = len(columns.systems) * (len(ALONE) + len(ASSISTED) + 2)
    cells = np.zeros((len(columns.cell), size))
    cells[np.arange(len(cells)), columns.cell] = 1
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (times @ (cells * columns.scores[:, None])) / (times @ cells)
    return means.reshape(len(times), -1, len(columns.systems))


def _moved(means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many places the model stands above quality, and suggestions above none, from (protocols, systems)."""
    sides = [means[-1], means[-2], means[2:4].mean(axis=0), means[:2].mean(axis=0)]
    model, quality, esaai, esa = correlation.ranks(np.stack(sides))
    return model - quality, esaai - esa
