"""The protocols of Licht et al. 2022: what annotators see, the scores of post-edits, and what a protocol can detect.

A meaningful protocol sees that HT0 > MT1 > MT2: ``progression`` tests it, and ``power`` says what that would need.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import CHRF
from scipy import stats

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.stats import inference

#: The translations in the order that section 6.1 expects of any meaningful protocol.
PROGRESSION = ("HT0", "MT1", "MT2")
#: The share of campaigns that shall see a difference.
WANTED_POWER = 0.8
SCORES = ("critical_errors", "characters", "words", "chrf")
#: What the scores are called in tables.
WORDS = {
    "critical_errors": "critical errors",
    "characters": "edits in characters",
    "words": "edits in words",
    "chrf": "chrF",
}


def campaign(path: str, *, seed: int) -> pd.DataFrame:
    """Load a post-editing campaign of one's own, or draw a simulated one where no file is named.

    path: a file of judgements as ``data.open_campaign`` takes it, with the columns ``hypothesis`` and ``post_edit``
    besides, and the number of critical errors in ``score``.
    """
    if not path:
        return simulate.post_edited(seed=seed)
    return data.open_campaign(path, scale=(0, 1000), lower_is_better=False)[0]


def edit_scores(edited: pd.DataFrame) -> pd.DataFrame:
    """Add the three scores of Licht et al.'s PE protocol to each judgement; distances in characters and in words.

    edited: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, the number of critical errors.
    Adds critical_errors; characters and words, Levenshtein distances from output to post-edit (0: nothing to mend);
    and chrf of the output against its post-edit (0-100, 100: nothing to mend; sacrebleu's defaults).
    Source: Licht et al. 2022, section 5.1; Levenshtein 1966; Popović 2015. Words are what blanks separate, so ``words``
    says nothing for languages written without blanks. Raises DataError where a text is missing.

    >>> frame = pd.DataFrame({"hypothesis": ["a cat sat"], "post_edit": ["the cat sat"], "score": [1.0]})
    >>> edit_scores(frame)[["critical_errors", "characters", "words"]].iloc[0].tolist()
    [1.0, 3.0, 1.0]
    """
    needed = [name for name in ("hypothesis", "post_edit", "score") if name not in edited]
    if needed:
        raise DataError(f"Post-edit scores need the column{'s' * (len(needed) > 1)} {', '.join(needed)}. Add them.")
    empty = edited[["hypothesis", "post_edit"]].isna().any(axis=1)
    if empty.any():
        raise DataError(
            f"Row {int(empty.to_numpy().argmax()) + 1} lacks its output or post-edit. Fill it in or drop it."
        )
    pairs = list(zip(edited["hypothesis"], edited["post_edit"], strict=True))
    measure = CHRF()
    return edited.assign(
        critical_errors=edited["score"].astype(float),
        characters=[float(Levenshtein.distance(before, after)) for before, after in pairs],
        words=[float(Levenshtein.distance(before.split(), after.split())) for before, after in pairs],
        chrf=[measure.sentence_score(before, [after]).score for before, after in pairs],
    )


def summary(scored: pd.DataFrame) -> pd.DataFrame:
    """Average each score per translation: system, judgements, then the four scores."""
    grouped = scored.groupby("system")
    return grouped.agg(judgements=("score", "size"), **{name: (name, "mean") for name in SCORES}).reset_index()


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
        named = {"protocol": doc.removeprefix("sim-"), "pair": f"{source}-{target}"}
        for better, worse in itertools.pairwise(steps):
            if not {better, worse} <= set(wide) or len(both := wide[[better, worse]].dropna()) < 5:
                raise DataError(
                    f"{doc}, {source}-{target}: {better} and {worse} share fewer than 5 sentences. Add some."
                )
            differences = (both[better] - both[worse]).to_numpy() * (1 if falls else -1)
            rows.append(named | {"step": f"{better} > {worse}"} | _test(differences))
    frame = pd.DataFrame(rows)
    frame["holm_p"] = inference.adjust(frame["p"], method="holm")
    return frame.assign(seen=frame["holm_p"] < 0.05)


def _test(differences: np.ndarray) -> dict[str, float]:
    """Test whether paired differences are above 0, by their mean and by their ranks."""
    mean, spread = differences.mean(), differences.std(ddof=1)
    if spread == 0:
        p = 0.5 if mean == 0 else float(mean < 0)
        found = {"low": mean, "d": np.nan, "p": p}
    else:
        t = stats.ttest_1samp(differences, 0, alternative="greater")
        found = {"low": t.confidence_interval(0.95).low, "d": mean / spread, "p": float(t.pvalue)}
    ranks = stats.wilcoxon(differences, alternative="greater", zero_method="zsplit").pvalue if differences.any() else 1
    return {"n": len(differences), "difference": mean} | found | {"wilcoxon_p": float(ranks)}


def post_edit_scores(scored: pd.DataFrame, *, steps: Sequence[str] = PROGRESSION) -> pd.DataFrame:
    """Test the progression by each score of a post-editing campaign, corrected over all of them.

    scored: the result of ``edit_scores``. steps: its translations, best first.
    Returns the columns of ``progression`` with ``score`` in front. Only chrF falls where a translation is worse; the
    others rise.
    """
    whole = scored.assign(doc="post-edits", segment=scored["doc"] + " " + scored["segment"])
    parts = [progression(whole, column=name, steps=steps, falls=name == "chrf").assign(score=name) for name in SCORES]
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
