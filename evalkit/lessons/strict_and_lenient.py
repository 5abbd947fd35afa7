"""The exercises of the lesson "Strict and lenient annotators", and the simulated campaign that they are about."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.human import calibration
from evalkit.human.normalization import normalize
from evalkit.lessons.exercises import Exercise, Function, Mistake, Value

#: How good the simulated systems are, in points of 100, and who judges which of them.
TRUE = {"sim-P": 80.0, "sim-Q": 76.0, "sim-R": 70.0, "sim-S": 64.0, "sim-T": 60.0, "sim-U": 55.0}
#: Annotator -> points by which all their scores are moved, systems they judge.
PEOPLE = {
    "sim-Anna": (0.0, ("sim-Q", "sim-R", "sim-S")),
    "sim-Bert": (-22.0, ("sim-P", "sim-R")),
    "sim-Cora": (0.0, ("sim-T", "sim-U")),
    "sim-Dana": (10.0, ("sim-S", "sim-T")),
}


def simulated_campaign(*, seed: int = 7) -> pd.DataFrame:
    """Draw a campaign in which one annotator is strict, one is lenient, and one got the weakest systems.

    An annotator judges 80 segments of a system, and all four judge 40 calibration items. Scores are whole numbers from
    0 to 100. Columns src_lang, tgt_lang, system, doc, segment, annotator, score, item_type. Every annotator moves all
    scores by a fixed number of points (``PEOPLE``) and adds noise of 5 points; translations of a system differ by 10
    points.

    >>> simulated_campaign().groupby("item_type")["annotator"].nunique().to_dict()
    {'calibration': 4, 'system': 4}
    """
    rng = np.random.default_rng(seed)
    shared = np.linspace(30, 85, 40)
    judged = {name: true + rng.normal(0, 10, 80) for name, true in TRUE.items()}
    parts = []
    for annotator, (moved, systems) in PEOPLE.items():
        for system, quality in {"sim-calibration": shared, **{name: judged[name] for name in systems}}.items():
            meant = quality + moved + rng.normal(0, 5, len(quality))
            part = pd.DataFrame({"system": system, "annotator": annotator, "score": meant.round().clip(0, 100)})
            kind = "calibration" if system == "sim-calibration" else "system"
            parts.append(part.assign(item_type=kind, segment=np.arange(1, len(part) + 1).astype(str), doc="sim-doc"))
    return pd.concat(parts, ignore_index=True).assign(src_lang="xxx", tgt_lang="eng")


def means(campaign: pd.DataFrame) -> pd.DataFrame:
    """Tabulate each annotator's mean scores: annotator (index), calibration, system."""
    return campaign.pivot_table(index="annotator", columns="item_type", values="score", aggfunc="mean")


def calibrated(campaign: pd.DataFrame) -> pd.DataFrame:
    """Add the column ``adjusted``: system scores shifted by what the calibration set says about each annotator.

    The agreed score of the calibration set is the average of all annotators' means on it. Calibration items are left
    out of the result.
    """
    own = means(campaign)["calibration"]
    tasks = campaign[campaign["item_type"] == "system"]
    alpha = own.mean() - tasks["annotator"].map(own)
    return tasks.assign(adjusted=calibration.shift(tasks["score"], alpha=alpha))


def system_means(campaign: pd.DataFrame) -> pd.DataFrame:
    """Tabulate systems, best first: true (what was put in), raw, z (within annotators), calibrated means.

    >>> list(system_means(simulated_campaign()).columns)
    ['true', 'raw', 'z', 'calibrated']
    """
    tasks = calibrated(campaign)
    z = normalize(tasks, method="z").groupby("system")["normalized"].mean()
    found = tasks.groupby("system")[["score", "adjusted"]].mean()
    table = pd.DataFrame({"true": pd.Series(TRUE), "raw": found["score"], "z": z, "calibrated": found["adjusted"]})
    return table.sort_values("true", ascending=False)


def places_gained(campaign: pd.DataFrame) -> pd.Series:
    """Count how many places each system rises from the raw ranking to the calibrated one (negative: falls)."""
    ranks = system_means(campaign).rank(ascending=False)
    return ranks["raw"] - ranks["calibrated"]


def _lists() -> list[tuple[pd.Series]]:
    """Return lists of scores, as an annotator may have given them."""
    rng = np.random.default_rng(3)
    return [
        (pd.Series(rng.normal(mean, 14, size).round().clip(0, 100)),) for mean, size in ((70, 6), (45, 9), (88, 12))
    ]


def _shifts() -> list[tuple[pd.Series, float, float]]:
    """Return scores with the mean of the calibration set and its consensus."""
    rng = np.random.default_rng(4)
    given = ((2.6, 3.0), (3.45, 3.0), (3.1, 3.0), (2.95, 3.2))
    return [(pd.Series(rng.integers(2, 6, 7) * 0.9), own, agreed) for own, agreed in given]


def _caps() -> list[tuple[pd.Series, float, float, float]]:
    """Return the same with a cap, which some shifts exceed upwards, some downwards, and some not."""
    rng = np.random.default_rng(6)
    given = ((2.1, 3.0, 0.5), (3.9, 3.0, 0.5), (2.9, 3.0, 0.5), (3.2, 3.0, 0.5))
    return [(pd.Series(rng.integers(2, 6, 7) * 0.95), own, agreed, cap) for own, agreed, cap in given]


def _z(scores: pd.Series) -> pd.Series:
    one = pd.DataFrame({"score": scores, "annotator": "a", "src_lang": "xxx", "tgt_lang": "eng"})
    return normalize(one, method="z")["normalized"]


def _shifted(scores: pd.Series, calibration_mean: float, consensus: float) -> np.ndarray:
    return calibration.shift(scores, alpha=consensus - calibration_mean)


def _capped(scores: pd.Series, calibration_mean: float, consensus: float, cap: float) -> np.ndarray:
    return calibration.capped(scores, alpha=consensus - calibration_mean, cap=cap)


def _beyond(campaign: pd.DataFrame) -> pd.Series:
    """Return how far each annotator's task scores lie above their calibration scores."""
    table = means(campaign)
    return table["system"] - table["calibration"]


EXERCISES: dict[str, Exercise] = {
    "strictest": Value(
        right=lambda matrix: matrix.mean().idxmin(),
        mistakes=(
            Mistake(
                answer=lambda matrix: matrix.mean().idxmax(),
                hint="This one gives the highest scores. Is that strict or lenient?",
            ),
            Mistake(
                answer=lambda matrix: matrix.std().idxmin(),
                hint="This one uses the smallest part of the scale. Strict is about where on the scale, not how much.",
            ),
            Mistake(
                answer=lambda matrix: matrix.std().idxmax(),
                hint="This one uses the largest part of the scale. Strict is about where on the scale, not how much.",
            ),
        ),
        names=lambda matrix: matrix.columns,
        otherwise="All columns hold scores of the same items. Summarise each column by one number, and compare those.",
        start="Begin with the mean of each column.",
        well="The items are the same for all, so a low mean can only come from the person.",
    ),
    "zscore": Function(
        right=_z,
        trials=_lists,
        mistakes=(
            Mistake(
                answer=lambda scores: (scores - scores.mean()) / scores.std(ddof=0),
                hint="Nearly. Your standard deviation divides by n, and WMT's by n - 1. Look for the option ddof.",
            ),
            Mistake(
                answer=lambda scores: scores - scores.mean(),
                hint="You centred the scores. Now give them the same spread for everybody.",
            ),
            Mistake(
                answer=lambda scores: scores / scores.std(),
                hint="You gave the scores a spread of 1. Where should their mean be?",
            ),
            Mistake(
                answer=lambda scores: (scores - scores.mean()) / scores.var(),
                hint="You divided by the variance, which is in squared points. What is in points?",
            ),
            Mistake(
                answer=lambda scores: scores - scores.mean() / scores.std(),
                hint="Mind the brackets: what comes first, the difference or the quotient?",
            ),
            Mistake(
                answer=lambda scores: (scores - scores.min()) / (scores.max() - scores.min()),
                hint="This stretches the scores to 0 and 1, so that two single scores decide about all others. "
                "A z-score uses the mean and the standard deviation.",
            ),
            Mistake(
                answer=lambda scores: (scores - scores.median()) / scores.std(),
                hint="You centred on the median. A z-score is centred on the mean.",
            ),
            Mistake(
                answer=lambda scores: scores.mean() / scores.std(),
                hint="This is one number. A z-score is needed for every score in the list.",
            ),
        ),
        otherwise="After it, the scores should have the mean 0 and the standard deviation 1. Check both.",
        start="Begin with the mean, and take it off.",
        well="A z-score says how many of the person's own standard deviations a score lies above their own mean.",
    ),
    "mistaken": Value(
        right=lambda campaign: _beyond(campaign).idxmin(),
        mistakes=(
            Mistake(
                answer=lambda campaign: means(campaign)["system"].idxmin(),
                hint="This one's task scores are the lowest, and so are those on the calibration set. That is a strict "
                "person, and there z helps. Who is ordinary on the calibration set, and low on the task?",
            ),
            Mistake(
                answer=lambda campaign: means(campaign)["calibration"].idxmax(),
                hint="This one is lenient: high on the calibration set as well. z takes that away, as it should.",
            ),
        ),
        names=lambda campaign: campaign["annotator"].unique(),
        otherwise="For each person, compare the mean on the task with the mean on the calibration set.",
        start="Begin with the two people whose task means are low. What did each give to the calibration set?",
        well="The systems were weak, and the person was not strict. z cannot tell the two apart.",
    ),
    "shift": Function(
        right=_shifted,
        trials=_shifts,
        mistakes=(
            Mistake(
                answer=lambda scores, calibration_mean, consensus: scores + calibration_mean - consensus,
                hint="The sign is the wrong way round: a strict person's calibration mean is low, and their scores "
                "should go up.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus: scores - calibration_mean,
                hint="You took the person's mean away. Where should the calibration set end up?",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus: scores + consensus - scores.mean(),
                hint="You moved the mean of the task. That makes everybody's systems equally good, as z does. "
                "The calibration set alone says how strict someone is.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus: scores * consensus / calibration_mean,
                hint="You stretched the scores. The shift adds the same number of points to every score.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus: scores + (consensus - calibration_mean) / 2,
                hint="You went half of the way only.",
            ),
        ),
        otherwise="Put the calibration set itself through your function: its mean should become the consensus.",
        start="Begin with a strict person: should their scores go up or down?",
        well="This is the simple form of Licht and colleagues: one number of points per group of annotators.",
    ),
    "capped_shift": Function(
        right=_capped,
        trials=_caps,
        mistakes=(
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: scores + consensus - calibration_mean,
                hint="The cap has no effect yet.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: scores + min(consensus - calibration_mean, cap),
                hint="Upwards your shift is capped, and downwards it is not. Try a lenient person.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: (
                    scores + max(consensus - calibration_mean, -cap)
                ),
                hint="Downwards your shift is capped, and upwards it is not. Try a strict person.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: scores + cap,
                hint="You always add the whole cap. It is the most that a shift may be.",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: (
                    scores + (consensus - calibration_mean if abs(consensus - calibration_mean) <= cap else 0.0)
                ),
                hint="Where the shift is too large you do not move at all. How far may you go?",
            ),
            Mistake(
                answer=lambda scores, calibration_mean, consensus, cap: (scores + consensus - calibration_mean).clip(
                    1, 5
                ),
                hint="You kept the scores on the scale. The cap is on the shift.",
            ),
        ),
        otherwise="Two steps: the shift as before, then a limit on how large it may be in either direction.",
        start="Begin with the shift of exercise 4, and give it a name.",
        well="A small calibration set errs now and then; the cap limits what such an error can do.",
    ),
    "risen": Value(
        right=lambda campaign: places_gained(campaign).idxmax(),
        mistakes=(
            Mistake(
                answer=lambda campaign: places_gained(campaign).idxmin(),
                hint="This one loses most places. Rank 1 is the best: which way does a rank go when a system rises?",
            ),
            Mistake(
                answer=lambda campaign: system_means(campaign)["raw"].idxmax(),
                hint="This one stood first before. There was no place to gain.",
            ),
            Mistake(
                answer=lambda campaign: system_means(campaign)["raw"].idxmin(),
                hint="This one stood last before. Count the places that it rises, and those of the others.",
            ),
        ),
        names=lambda campaign: system_means(campaign).index,
        otherwise="Rank both columns from the best to the worst, and subtract.",
        start="Begin with the rank of each system in either column.",
        well="It had been judged by a strict person only. No number of segments would have mended that.",
    ),
}
