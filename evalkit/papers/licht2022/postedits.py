"""Scores of a post-editing campaign: what annotators changed, and how much of it mattered."""

from __future__ import annotations

import pandas as pd
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics import CHRF

from evalkit import DataError, data
from evalkit.data import simulate

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


def scores(edited: pd.DataFrame) -> pd.DataFrame:
    """Add the three scores of Licht et al.'s PE protocol to each judgement; distances in characters and in words.

    edited: ratings with ``hypothesis``, ``post_edit`` and, in ``score``, the number of critical errors.
    Adds critical_errors; characters and words, Levenshtein distances from output to post-edit (0: nothing to mend);
    and chrf of the output against its post-edit (0-100, 100: nothing to mend; sacrebleu's defaults).
    Source: Licht et al. 2022, section 5.1; Levenshtein 1966; Popović 2015. Words are what blanks separate, so ``words``
    says nothing for languages written without blanks. Raises DataError where a text is missing.

    >>> frame = pd.DataFrame({"hypothesis": ["a cat sat"], "post_edit": ["the cat sat"], "score": [1.0]})
    >>> scores(frame)[["critical_errors", "characters", "words"]].iloc[0].tolist()
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
