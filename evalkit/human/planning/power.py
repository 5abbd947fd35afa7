"""How many segments, annotators and judgements distinguish two systems: power, in closed form and by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evalkit import DataError
from evalkit.human.planning.components import NEEDED
from evalkit.stats import inference

#: Who judges which system. same: whoever scores a document scores it by both systems. mixed: each document is given
#: to other annotators for each system, by chance. separate: half of the annotators score one system, half the other.
ARRANGEMENTS = ("same", "mixed", "separate")


def _level(variances: Mapping[str, float], calibration: int) -> float:
    """Return the variance of an annotator's level, or of what a calibration set leaves of it."""
    if not calibration:
        return variances["annotator"]
    return (variances["block"] + variances["residual"]) / calibration


def _check(
    variances: Mapping[str, float], arrangement: str, segments: ArrayLike, block: float, judgements: int
) -> None:
    """Refuse what no test can be made of."""
    known = {name: variances.get(name, -1) for name in NEEDED}
    if arrangement == "same" and math.isnan(known["annotator"]):
        known["annotator"] = 0.0  # nobody knows it, and it cancels
    if wrong := [name for name, value in known.items() if not value >= 0]:
        raise DataError(f"The component {wrong[0]} is missing or negative. Give its variance in squared points.")
    if arrangement not in ARRANGEMENTS:
        raise DataError(f"arrangement={arrangement!r} is not known. Choose one of: {', '.join(ARRANGEMENTS)}.")
    if block < 1 or judgements < 1 or np.min(segments) < 2 * block:
        raise DataError(f"A test needs two documents or more: raise segments to {2 * block:g}, or make block smaller.")
    if arrangement == "separate" and judgements > 1:
        raise DataError("With separate annotators each segment is judged once for each system. Set judgements to 1.")
    if variances.get("taste", 0) > 0 and arrangement == "mixed":
        raise DataError(
            "Where annotators have tastes, documents dealt out by chance are no independent evidence. "
            "Choose the arrangement same or separate."
        )
    if _over_annotators(variances, arrangement) and judgements > 1:
        raise DataError("A test over annotators takes each document to be judged by one of them. Set judgements to 1.")


def _over_annotators(variances: Mapping[str, float], arrangement: str) -> bool:
    """Tell whether documents of one annotator are alike even in the difference of two systems."""
    return arrangement == "same" and variances.get("taste", 0) > 0


def document_variance(variances: Mapping[str, float], *, block: float, judgements: int = 1) -> float:
    """Return what scatters in the mean of a document's ``block`` segments of one system, squared points.

    judgements: of each translation, by as many annotators. Levels of annotators, and their tastes, are not in it.

    >>> document_variance({"document": 5.0, "item": 40.0, "block": 20.0, "residual": 60.0}, block=10)
    35.0
    """
    noise = (variances["residual"] / block + variances["block"]) / judgements
    return variances["document"] + variances["item"] / block + noise


def power(
    variances: Mapping[str, float],
    *,
    delta: ArrayLike,
    segments: ArrayLike,
    judgements: int = 1,
    annotators: int = 10,
    arrangement: str = "same",
    block: int = 10,
    calibration: int = 0,
    alpha: float = 0.05,
    metric: float = 0.0,
    scored: float = np.inf,
) -> np.ndarray:
    r"""Return the chance of finding a true difference between two systems, by a two-sided paired t-test.

    delta: true difference of mean scores, points. segments: n source segments, translated by both systems, in
    documents of ``block`` b segments. judgements: r, of each translation. variances: see ``planning.variances``.
    The test is over the D = n / b documents' differences (``separate``: over pairs of annotators who scored the same
    documents), whose variance is

    .. math:: \sigma_d^2 = 2\,(V_{document} + V_{item}/b + (V_{residual}/b + V_{block} + \kappa V_{level}) / r)

    with :math:`\kappa` = 0 for ``same`` and 1 for ``mixed``; for ``separate`` b becomes an annotator's n / (m/2)
    segments, and :math:`V_{document} + V_{block}` is divided by their documents. Power is that of the noncentral t
    distribution with D - 1 (m/2 - 1) degrees of freedom and noncentrality :math:`\delta\sqrt{D}/\sigma_d`; exact for
    normal scores in ``same`` and ``separate``. ``calibration``: segments of single documents that annotators' levels
    are estimated on; 0: raw scores. Broadcasts delta, segments.
    A sixth variance, ``taste``, says how differently annotators like a system. Then documents of one annotator are no
    independent evidence: in ``same`` the test is over the m annotators' differences, each from D / m documents, with
    variance :math:`2\,(V_{taste} + (V_{document} + V_{item}/b + V_{block} + V_{residual}/b)\,m/D)` and m - 1 degrees of
    freedom; in ``separate`` it adds to the level, and no calibration set takes it off; ``mixed`` has no such test.
    metric: the correlation :math:`\rho` of a metric with human scores on differences of the two systems. As
    a control variate on N = ``scored`` segments, judged ones included, it takes :math:`\rho^2(1 - n/N)` off the
    variance of documents, items and noise, but nothing off levels and tastes, and one degree of freedom.
    Caveat: ``mixed`` is an approximation that improves with the number of annotators. The ends of the scale are not in
    the model.

    >>> V = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    >>> power(V, delta=3, segments=[100, 200], block=10).round(2).tolist()
    [0.2, 0.38]
    """
    _check(variances, arrangement, segments, block, judgements)
    taste = variances.get("taste", 0.0)
    level = _level(variances, calibration) + taste
    documents = np.asarray(segments, float) / block
    if not 0 <= metric < 1:
        raise DataError(
            f"A metric's correlation of {metric:g} is none that a plan can use. Give one from 0 to below 1."
        )
    left = 1 - metric**2 * np.clip(1 - np.asarray(segments, float) / scored, 0, 1)
    own = left * document_variance(variances, block=block, judgements=judgements)  # and what its unit adds to it:
    units, added = documents, level / judgements if arrangement == "mixed" else 0.0
    if arrangement == "separate":
        if annotators < 4:
            raise DataError("Separate annotators: a test needs two for each system or more. Raise annotators to 4.")
        units, added = np.full_like(documents, annotators // 2), level
    elif _over_annotators(variances, arrangement):
        if annotators < 2 or documents.min() < annotators:
            raise DataError("A test over annotators needs two of them or more, and a document for each.")
        units, added = np.full_like(documents, annotators), taste
    spread = 2 * (own * units / documents + added)
    return t_power(
        np.abs(np.asarray(delta, float)) * np.sqrt(units / spread), np.maximum(units - 1 - (metric > 0), 1), alpha=alpha
    )


def t_power(shift: ArrayLike, freedom: ArrayLike, *, alpha: float = 0.05) -> np.ndarray:
    """Return the power of a two-sided t-test with its noncentrality ``shift``, 0 or more; both broadcast.

    shift: the true difference over its standard error. freedom: degrees of freedom, 1 or more.

    >>> t_power([0, 3], [9, 9]).round(2).tolist()
    [0.05, 0.76]
    """
    shift, freedom = np.asarray(shift, float), np.asarray(freedom, float)
    critical = stats.t.isf(alpha / 2, freedom)
    # The wrong tail has less than the normal's probability below -shift, which vanishes; scipy gives NaN far out there.
    wrong_sign = np.where(shift < 8, stats.nct.cdf(-critical, freedom, np.minimum(shift, 8)), 0.0)
    return np.asarray(stats.nct.sf(critical, freedom, shift) + wrong_sign)


def simulate_power(
    variances: Mapping[str, float],
    *,
    delta: float,
    segments: int,
    judgements: int = 1,
    annotators: int = 10,
    arrangement: str = "same",
    block: int = 10,
    calibration: int = 0,
    alpha: float = 0.05,
    resamples: int = 2000,
    over: str = "annotators",
    seed: int = 7,
) -> dict[str, float]:
    """Count how often simulated campaigns find a true difference; every single judgement is drawn.

    Scores are the sum of normal effects with the given variances; the calibration set is drawn too, and each
    annotator's mean on it is taken off their scores. The test is that of ``power``; ``segments`` is rounded down to
    whole documents (``separate``: to as many for each pair of annotators, with taste for each annotator). over:
    "documents" tests over documents where annotators have tastes, as if they had none. Returns power, power_low,
    power_high: the share of ``resamples`` campaigns with p below alpha and its 95 % Wilson interval.
    """
    _check(variances, arrangement, segments, block, judgements)
    rng = np.random.default_rng(seed)
    documents = segments // block
    shares = annotators // 2 if arrangement == "separate" else annotators
    whole = arrangement == "separate" or _over_annotators(variances, arrangement)
    documents = documents // shares * shares if whole else documents
    if arrangement == "mixed" and annotators < 2 * judgements:
        raise DataError(f"Mixed annotators: {2 * judgements} judge each document. Raise annotators to that number.")
    if not documents:
        raise DataError("Each pair of annotators needs a document. Raise segments, or lower annotators.")
    step = max(1, inference.BATCH // (documents * block * judgements * 2 + annotators * (calibration + documents)))
    hits = 0
    for start in range(0, resamples, step):
        batch = min(step, resamples - start)
        shape = (batch, annotators, documents, judgements, calibration)
        differences = _campaigns(variances, delta, shape, arrangement, block, rng)
        if _over_annotators(variances, arrangement) and over == "annotators":
            differences = differences.reshape(batch, annotators, -1).mean(axis=2)
        hits += int((stats.ttest_1samp(differences, 0, axis=1).pvalue < alpha).sum())
    interval = stats.binomtest(hits, resamples).proportion_ci(0.95, method="wilson")
    return {"power": hits / resamples, "power_low": float(interval.low), "power_high": float(interval.high)}


def _campaigns(
    variances: Mapping[str, float],
    delta: float,
    shape: tuple[int, int, int, int, int],
    arrangement: str,
    block: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw campaigns judgement by judgement; return (campaigns, units) differences of the units' mean scores."""
    campaigns, annotators, documents, judges, calibration = shape

    def normal(variance: float, *sizes: int) -> np.ndarray:
        return rng.standard_normal((campaigns, *sizes), dtype=np.float32) * np.float32(math.sqrt(variance))

    levels = normal(0.0 if arrangement == "same" else variances["annotator"], annotators)
    if calibration:  # what is taken off holds the level itself and the mean error over the set
        noise = normal(variances["block"], annotators, calibration)
        levels = -(noise + normal(variances["residual"], annotators, calibration)).mean(axis=2, dtype=float)
    taste = variances.get("taste", 0.0)
    evenly = _over_annotators(variances, arrangement)
    who = _assigned(campaigns, annotators, documents, judges, "evenly" if evenly else arrangement, rng)
    given = np.take_along_axis(levels[:, None, None, :], who, axis=3)
    if taste:
        given = given + np.take_along_axis(normal(taste, 2, annotators)[:, None], who, axis=3)
    scores = normal(variances["residual"], documents, 2, judges, block)
    scores += normal(variances["item"], documents, 2, 1, block) + normal(variances["document"], documents, 2, 1, 1)
    scores += (given + normal(variances["block"], documents, 2, judges))[..., None]
    means = scores.mean(axis=(3, 4), dtype=float)
    differences = delta + means[:, :, 0] - means[:, :, 1]
    if arrangement == "separate":
        differences = differences.reshape(campaigns, annotators // 2, -1).mean(axis=2)
    return differences


def _assigned(
    campaigns: int, annotators: int, documents: int, judges: int, arrangement: str, rng: np.random.Generator
) -> np.ndarray:
    """Say who judges which document by which system: (campaigns, documents, 2, judges) numbers of annotators."""
    shape = (campaigns, documents, 2, judges)
    if arrangement in ("evenly", "separate"):
        crews, other = (annotators, 0) if arrangement == "evenly" else (annotators // 2, annotators // 2)
        first = np.repeat(np.arange(crews), documents // crews)
        return np.broadcast_to(np.stack([first, first + other], axis=1)[None, :, :, None], shape)
    wanted = judges if arrangement == "same" else 2 * judges
    drawn = rng.random((campaigns, documents, annotators)).argsort(axis=2)[..., :wanted]
    if arrangement == "same":
        return np.broadcast_to(drawn[:, :, None, :], shape)
    return drawn.reshape(shape)
