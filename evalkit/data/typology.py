"""Error typologies, severities and the weights that schemes give them, as data."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit.data.schemas import UNSTATED

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: The severities of IndicMT-Eval, the least severe first.
SEVERITIES = ("very low", "low", "medium", "high", "very high")

#: What kinds of errors annotators could mark: "category/subcategory", or a category by itself.
TYPOLOGIES = {name: tuple(types) for name, types in _WORDS["typologies"].items()}


@dataclass(frozen=True)
class Scheme:
    """One way to turn errors into a score: ``top`` less the errors' weights.

    severities: the weight of each severity. factors: what multiplies it for some types (1 for all others). fixed: type,
    severity ("*" is any), weight, which go before both, the last first. floor: the lowest score. non_translation: the
    score of a translation so marked, whatever else is (None: its weight counts like any other). discard: types whose
    translations get no score. ``source`` says where the scheme is described.
    """

    source: str
    severities: Mapping[str, float]
    top: float = 25.0
    factors: Mapping[str, float] = field(default_factory=dict)
    fixed: Sequence[tuple[str, str, float]] = ()
    floor: float | None = None
    non_translation: float | None = None
    discard: Sequence[str] = ()

    def weigh(self, error_type: pd.Series, severity: pd.Series) -> pd.Series:
        """Weigh each error (points of the score); NaN where the scheme does not know its severity.

        error_type, severity: of the errors, however they are spelled (``spelled``); missing ones are unstated.

        >>> kinds = pd.Series(["Fluency / Punctuation", "Non-translation!", "Style/Awkward", "Source issue", "Other"])
        >>> SCHEMES[WMT].weigh(kinds, pd.Series(["minor", "Major", "MAJOR", "Major", "trivial"])).tolist()
        [0.1, 25.0, 5.0, 0.0, nan]
        """
        kind, kinds = pd.factorize(spelled(error_type))
        level, levels = pd.factorize(spelled(severity))
        each = np.array([[self._weight(one, how) for how in levels] for one in kinds], float)
        return pd.Series(each.reshape(len(kinds), len(levels))[kind, level], severity.index)

    def _weight(self, kind: str, severity: str) -> float:
        """Weigh an error of this type and severity; NaN where the scheme does not know the severity."""
        for fixed_type, fixed_severity, value in reversed(self.fixed):
            if kind == fixed_type and fixed_severity in (severity, "*"):
                return value
        unknown = 0.0 if severity == "neutral" else np.nan  # a matter of taste, which no scheme counts
        return self.severities.get(severity, unknown) * self.factors.get(kind, 1.0)

    def scores(
        self, judgement: np.ndarray, error_type: pd.Series, weight: np.ndarray, size: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return penalty and score of each judgement, (size,) both; the score is NaN where the scheme discards it.

        judgement: of each error, 0 to ``size`` - 1. weight: of each, as ``weigh`` gives it.

        >>> SCHEMES[WMT].scores(np.array([0, 0, 2]), pd.Series(["other"] * 3), np.array([1.0, 5.0, 1.0]), 3)[1].tolist()
        [-6.0, 0.0, -1.0]
        """
        penalty = np.bincount(judgement, weights=weight, minlength=size)
        score = float(self.top) - penalty  # of no errors bincount counts in whole numbers
        kind = spelled(error_type).to_numpy()
        if self.non_translation is not None:
            score[judgement[kind == "non-translation"]] = self.non_translation
        if self.floor is not None:
            score = np.maximum(score, self.floor)
        score[judgement[np.isin(kind, self.discard)]] = np.nan
        return penalty, score

    def describe(self) -> str:
        """Name the scheme and say its weights.

        >>> SCHEMES["Kocmi et al. 2024 (ESA)"].describe()
        'Kocmi et al. 2024 (ESA): minor 1, major 5, whatever the type; the score is minus the weights'
        """
        name = next((f"{name}: " for name, scheme in SCHEMES.items() if scheme == self), "")
        return f"{name}{self.source}; the score is {f'{self.top:g} less' if self.top else 'minus'} the weights"


#: What types of errors begin with, where a hyphen may stand for the slash.
_GROUPS = "accuracy|fluency|style|terminology|locale convention|locale conventions|linguistic conventions|verity|design"


def spelled(names: pd.Series) -> pd.Series:
    """Write types or severities of errors as ours: small, the parts of a type cut by a slash; missing ones unstated.

    >>> spelled(pd.Series(["Non-translation!", "Fluency - Spelling", "accuracy-mistranslation", "Source_Error", None],
    ...     dtype="str")).tolist()
    ['non-translation', 'fluency/spelling', 'accuracy/mistranslation', 'source error', 'unstated']
    """
    codes, distinct = pd.factorize(names)
    found = pd.array([*(_spelled(str(text)) for text in distinct), UNSTATED], dtype="str")
    return pd.Series(found.take(codes), index=names.index)


def _spelled(text: str) -> str:
    bare = " ".join(text.casefold().replace("_", " ").rstrip("! ").split())
    if bare in ("non translation", "nontranslation"):
        return "non-translation"
    if bare in ("source-error", "source-issue"):
        return bare.replace("-", " ")
    bare = re.sub(r" ?(/|>|::?|(?<= )-(?= )) ?", "/", bare)
    return re.sub(rf"^({_GROUPS})-", r"\1/", bare)


#: What errors weigh where nobody says otherwise.
WMT = "Freitag et al. 2021 (WMT)"
#: Schemes by name.
SCHEMES = {name: Scheme(**fields) for name, fields in _WORDS["schemes"].items()}
