"""Does a protocol see that HT0 > MT1 > MT2, and what would it need to see it?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from evalkit import DataError
from evalkit.data import simulate
from evalkit.papers.licht2022 import postedits
from evalkit.papers.licht2022.protocols import PROGRESSION
from evalkit.stats import inference

#: The share of campaigns that shall see a difference.
WANTED_POWER = 0.8


def progression(
    ratings: pd.DataFrame, *, column: str = "score", steps: Sequence[str] = PROGRESSION, falls: bool = True
) -> pd.DataFrame:
    """Test each step of the progression on the same sentences, per protocol and language pair.

    ratings: ``doc`` is the protocol, ``system`` ends in the translation's name; annotators are averaged within an item.
    falls: whether worse translations should have lower values (scores, chrF) or higher ones (errors, edits).
    Returns protocol, pair, step, n (sentences), difference (better minus worse, signed so that positive is as
    expected), low (95 %, one-sided), d (Cohen's d of paired differences), p (paired t, one-sided), wilcoxon_p
    (signed ranks, zeros split), holm_p (of p, over all rows), seen (holm_p < 0.05).
    Source: Licht et al. 2022, section 6.1, who describe but do not print such a test.
    Raises DataError where two translations share fewer than 5 sentences.
    """
    keys = ["doc", "src_lang", "tgt_lang"]
    means = ratings.assign(system=ratings["system"].str.removeprefix("sim-")).groupby([*keys, "system", "segment"])[
        column
    ]
    rows = []
    for (doc, source, target), group in means.mean().reset_index().groupby(keys, sort=False):
        wide = group.pivot(index="segment", columns="system", values=column)
        for better, worse in itertools.pairwise(steps):
            if not {better, worse} <= set(wide) or len(both := wide[[better, worse]].dropna()) < 5:
                raise DataError(
                    f"{doc}, {source}-{target}: {better} and {worse} share fewer than 5 sentences. Add some."
                )
            d = (both[better] - both[worse]).to_numpy() * (1 if falls else -1)
            spread = d.std(ddof=1)
            se = spread / np.sqrt(len(d))
            t = d.mean() / se if se > 0 else np.inf * np.sign(d.mean()) if d.mean() else 0.0
            signed = stats.wilcoxon(d, alternative="greater", zero_method="zsplit").pvalue if d.any() else 1.0
            rows.append(
                (
                    doc.removeprefix("sim-"),
                    f"{source}-{target}",
                    f"{better} > {worse}",
                    len(d),
                    d.mean(),
                    d.mean() - stats.t.ppf(0.95, len(d) - 1) * se,
                    d.mean() / spread if spread > 0 else np.nan,
                    float(stats.t.sf(t, len(d) - 1)),
                    float(signed),
                )
            )
    columns = ["protocol", "pair", "step", "n", "difference", "low", "d", "p", "wilcoxon_p"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["holm_p"] = inference.adjust(frame["p"], method="holm")
    return frame.assign(seen=frame["holm_p"] < 0.05)


def post_edit_scores(scored: pd.DataFrame, *, steps: Sequence[str] = PROGRESSION) -> pd.DataFrame:
    """Test the progression by each score of a post-editing campaign, corrected over all of them.

    scored: the result of ``postedits.scores``. steps: its translations, best first.
    Returns the columns of ``progression`` with ``score`` in front. Only chrF falls where a translation is worse; the
    others rise.
    """
    whole = scored.assign(doc="post-edits", segment=scored["doc"] + " " + scored["segment"])
    parts = [
        progression(whole, column=name, steps=steps, falls=name == "chrf").assign(score=name)
        for name in postedits.SCORES
    ]
    frame = pd.concat(parts, ignore_index=True)
    frame["holm_p"] = inference.adjust(frame["p"], method="holm")
    frame["seen"] = frame["holm_p"] < 0.05
    return frame[["score", *(name for name in frame if name != "score")]]


def worse(marginal: Sequence[float], points: float) -> list[float]:
    """Lower a distribution over categories by ``points`` on average: each category gives a share to the next lower one.

    Raises DataError where the distribution does not have so much to give.

    >>> worse([0.5, 0.5], 0.25)
    [0.75, 0.25]
    """
    share = np.asarray(marginal, float)
    moved = points / (1 - share[0]) * share * (np.arange(len(share)) > 0)
    if points < 0 or (moved > share + 1e-12).any():
        raise DataError(f"Scores distributed as {list(marginal)} cannot fall by {points:g} points. Take fewer points.")
    return (share - moved + np.append(moved[1:], 0)).tolist()


def power(
    reliability: Mapping[str, float],
    *,
    points: Sequence[float],
    marginal: Sequence[float],
    sentences: int = 250,
    annotators: int = 3,
    replicates: int = 1000,
    alpha: float = 0.05,
    seed: int = 7,
) -> pd.DataFrame:
    """Simulate how often a protocol of a given kappa sees that one translation is worse than another by some points.

    reliability: protocol -> true kappa. Both translations' categories come from ``simulate.categories`` with this
    kappa, the better one's from ``marginal``, the worse one's from ``worse(marginal, points)``; the test is the
    paired t of ``progression``, one-sided. Returns protocol, kappa, points, power, and se, the simulation's own error.
    Caveat: the two translations' qualities are independent, sentence by sentence; where hard sentences are hard for
    all, pairing helps and power is higher.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for protocol, kappa in reliability.items():
        for size in points:
            shape: dict[str, Any] = {"items": sentences, "annotators": annotators, "draws": replicates, "rng": rng}
            high = simulate.categories(kappa, marginal=list(marginal), **shape).mean(-1)
            low = simulate.categories(kappa, marginal=worse(marginal, size), **shape).mean(-1)
            d = high - low
            t = d.mean(1) / (d.std(1, ddof=1) / np.sqrt(sentences))
            share = float((stats.t.sf(t, sentences - 1) < alpha).mean())
            rows.append((protocol, kappa, size, share, np.sqrt(share * (1 - share) / replicates)))
    return pd.DataFrame(rows, columns=["protocol", "kappa", "points", "power", "se"])


def detectable(powers: pd.DataFrame, *, wanted: float = WANTED_POWER) -> pd.DataFrame:
    """Read off the difference that each protocol detects with a wanted power: protocol, kappa, points."""
    rows = []
    for (protocol, kappa), group in powers.groupby(["protocol", "kappa"], sort=False):
        curve = group.sort_values("points")
        reached = curve["power"].cummax()
        found = np.interp(wanted, reached, curve["points"]) if reached.max() >= wanted else np.nan
        rows.append((protocol, kappa, float(found)))
    return pd.DataFrame(rows, columns=["protocol", "kappa", "points"])
