"""The exercises of the lesson "Strict and lenient annotators", and the simulated campaign that they are about."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.human import calibration
from evalkit.human.normalization import normalize
from evalkit.lessons.checker import Exercise, Function, Value

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
    """Return the same with a cap, which one shift exceeds upwards, one downwards, and two do not."""
    return [(*shifted, 0.3) for shifted in _shifts()]


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
        names=lambda matrix: matrix.columns,
        mistakes={
            "one_gives_the_highest": lambda matrix: matrix.mean().idxmax(),
            "one_uses_the_smallest": lambda matrix: matrix.std().idxmin(),
            "one_uses_the_largest": lambda matrix: matrix.std().idxmax(),
        },
    ),
    "zscore": Function(
        right=_z,
        trials=_lists,
        mistakes={
            "divided_by_n": lambda scores: (scores - scores.mean()) / scores.std(ddof=0),
            "centred_the_scores": lambda scores: scores - scores.mean(),
            "divided_by_the_variance": lambda scores: (scores - scores.mean()) / scores.var(),
        },
    ),
    "mistaken": Value(
        right=lambda campaign: _beyond(campaign).idxmin(),
        names=lambda campaign: campaign["annotator"].unique(),
        mistakes={
            "one_task_scores": lambda campaign: means(campaign)["system"].idxmin(),
            "one_is_lenient": lambda campaign: means(campaign)["calibration"].idxmax(),
        },
    ),
    "shift": Function(
        right=_shifted,
        trials=_shifts,
        mistakes={
            "sign_is_the_wrong_way": lambda scores, calibration_mean, consensus: scores + calibration_mean - consensus,
            "took_the_person_mean": lambda scores, calibration_mean, consensus: scores - calibration_mean,
            "moved_the_mean": lambda scores, calibration_mean, consensus: scores + consensus - scores.mean(),
        },
    ),
    "capped_shift": Function(
        right=_capped,
        trials=_caps,
        mistakes={
            "cap_has_no_effect_yet": lambda scores, own, agreed, cap: _shifted(scores, own, agreed),
            "upwards_your_shift": lambda scores, own, agreed, cap: scores + min(agreed - own, cap),
            "downwards_your_shift": lambda scores, own, agreed, cap: scores + max(agreed - own, -cap),
        },
    ),
    "risen": Value(
        right=lambda campaign: places_gained(campaign).idxmax(),
        names=lambda campaign: system_means(campaign).index,
        mistakes={
            "one_loses_most_places": lambda campaign: places_gained(campaign).idxmin(),
            "one_stood_first_before": lambda campaign: system_means(campaign)["raw"].idxmax(),
            "one_stood_last_before": lambda campaign: system_means(campaign)["raw"].idxmin(),
        },
    ),
}
