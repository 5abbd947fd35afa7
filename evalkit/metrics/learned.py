"""Learn to score translations from cheap features, and hold that against each single metric, as Sai et al. 2023 do.

The protocol is the paper's (section 6, appendix B.2): three folds without a common English sentence; ``cv`` learns from
all languages of the other two folds, ``zero_shot`` from the same without the language that is tested. A neural metric
that was trained the same way (``neural.comet``) must beat this baseline.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import pandas as pd
from rapidfuzz import fuzz, process
from scipy import stats
from scipy.sparse.csgraph import connected_components

from evalkit import DataError
from evalkit.stats.correlation import kendall_b

#: Folds of English sentences, as in the paper.
FOLDS = 3
#: What the best single metric is called: chosen on the training folds, never on the fold that it is tested on.
BEST = "best_single"
_ALIKE = 95.0  # of 100: from this likeness on, two sentences are spellings of one
_DIGITS = 10  # of predictions: the same translation by two systems ties, whatever the order in which a processor adds


def sentence_groups(sources: Sequence[str]) -> np.ndarray:
    """Number English sentences so that spellings of the same one share a number, (rows,).

    Sentences are the same if 95 % of their letters and digits are alike (share of characters kept in order): languages
    of one release differ by a lost space or article, and such a pair would leak into a test fold.

    >>> sentence_groups(["The U.N. also hopes.", "The U.N. alsohopes.", "It rains."]).tolist()
    [0, 0, 1]
    """
    plain = [re.sub(r"\W", "", unicodedata.normalize("NFKC", str(source))).casefold() for source in sources]
    codes, distinct = pd.factorize(np.array(plain, dtype=object))
    near = process.cdist(distinct, distinct, scorer=fuzz.ratio, score_cutoff=_ALIKE) > 0
    labels = connected_components(near, directed=False)[1][codes] if len(distinct) else codes
    return pd.factorize(labels)[0]


def folds(groups: np.ndarray, *, k: int = FOLDS, seed: int = 7) -> np.ndarray:
    """Deal groups into k folds of as many groups each as can be; return each row's fold, 0 to k-1.

    >>> fold = folds(np.array([0, 0, 1, 2, 2, 3]), k=2)
    >>> bool(fold[0] == fold[1] and fold[3] == fold[4]), np.bincount(fold[[0, 2, 3, 5]]).tolist()
    (True, [2, 2])
    """
    distinct, codes = np.unique(groups, return_inverse=True)
    if not 2 <= k <= len(distinct):
        raise DataError(f"{len(distinct)} English sentences make no {k} folds. Ask for 2 to {len(distinct)} folds.")
    dealt = np.empty(len(distinct), int)
    dealt[np.random.default_rng(seed).permutation(len(distinct))] = np.arange(len(distinct)) % k
    return dealt[codes]


class Regression(Protocol):
    """What scikit-learn's regressions do."""

    def fit(self, features: np.ndarray, goal: pd.Series) -> Regression:
        """Learn from rows of features and what to predict of them."""

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Predict rows of features."""


Maker = Callable[[int], Regression]


def standing(scores: pd.Series, language: pd.Series) -> pd.Series:
    """Replace scores by their standing among those of their language, as normal quantiles; ties at their middle.

    Languages have annotators of their own who use the scale differently, and a few totals lie far below the rest: what
    is common to languages is the order. Source: Blom 1958.

    >>> standing(pd.Series([0.0, 25, 25, -100]), pd.Series(["a", "a", "b", "b"])).round(2).tolist()
    [-0.59, 0.59, 0.59, -0.59]
    """
    rank = scores.groupby(language).rank()
    size = scores.groupby(language).transform("size")
    return pd.Series(stats.norm.ppf((rank - 0.375) / (size + 0.25)), index=scores.index)


def ridge(seed: int) -> Regression:
    """Make a linear regression on standardised features, its penalty chosen by leave-one-out on the training rows."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-1, 4, 11)))


def boosting(seed: int) -> Regression:
    """Make gradient boosting of small regression trees: bends and interactions that ``ridge`` cannot have."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=120,
        learning_rate=0.05,
        max_leaf_nodes=8,
        min_samples_leaf=40,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    )


#: Learned models by name: functions of a seed that make a regression with ``fit`` and ``predict``.
MODELS: dict[str, Maker] = {"ridge": ridge, "boosting": boosting}
#: What a table of results shows: the learned models, and the best single metric.
SHOWN = (*MODELS, BEST)


def out_of_fold(
    examples: pd.DataFrame,
    features: pd.DataFrame,
    *,
    single: Sequence[str],
    models: Mapping[str, Maker] = MODELS,
    seed: int = 7,
) -> pd.DataFrame:
    """Predict every example by models that saw neither its English sentence nor, for zero_shot, its language.

    examples: columns language, source, score (higher is better), any index without repeats. features: the same index,
    finite numbers; it holds what the models look at and, by the names in ``single``, the single metrics to compare
    with (each with higher meaning better, so give TER its minus).
    Returns setting (cv | zero_shot), language, sentence, fold, score, a column for each of ``models`` and of
    ``single``, and ``best_single``: in each fold the metric with the highest mean τ-b over the languages trained on.
    Raises DataError for rows without a score, other indexes, or a single language (zero_shot needs two).
    """
    examples = _checked(examples, features, single)
    sentence = sentence_groups(examples["source"])
    fold = folds(sentence, seed=seed)
    language = examples["language"]
    if language.nunique() < 2:
        raise DataError("Zero-shot scoring leaves one language out, so at least two are needed. Give more languages.")
    tasks = [("cv", None, number) for number in range(FOLDS)]
    tasks += [("zero_shot", left_out, number) for left_out in language.unique() for number in range(FOLDS)]
    known = [(examples[fold != number], features.loc[fold != number, list(single)]) for number in range(FOLDS)]
    taus = [_taus(rows["score"], rows["language"], metrics) for rows, metrics in known]
    parts = []
    for setting, left_out, number in tasks:
        tested = (fold == number) & ((language == left_out) if left_out else True)
        trained = (fold != number) & ((language != left_out) if left_out else True)
        best = _best(taus[number].drop(index=left_out) if left_out else taus[number])
        part = _predicted(examples, features, trained, tested, best=best, single=single, models=models, seed=seed)
        parts.append(part.assign(setting=setting, sentence=sentence[tested], fold=number))
    return _ordered(pd.concat(parts, ignore_index=True), models, single)


def unseen(
    examples: pd.DataFrame,
    features: pd.DataFrame,
    others: pd.DataFrame,
    other_features: pd.DataFrame,
    *,
    single: Sequence[str],
    models: Mapping[str, Maker] = MODELS,
    seed: int = 7,
) -> pd.DataFrame:
    """Predict other languages by models of all of ``examples`` but those with an English sentence of ``others``.

    Arguments and result as for ``out_of_fold``; setting is zero_shot and the only fold 0. ``attrs["excluded"]`` counts
    the examples that were not trained on because of their sentence.
    """
    examples, others = _checked(examples, features, single), _checked(others, other_features, single)
    both = sentence_groups([*examples["source"], *others["source"]])
    sentence, tested = both[: len(examples)], both[len(examples) :]
    trained = ~np.isin(sentence, tested)
    if not trained.any():
        raise DataError("All examples share an English sentence with the other languages. Train on other sentences.")
    together = pd.concat([examples, others], ignore_index=True)
    columns = pd.concat([features, other_features], ignore_index=True)
    rest = np.arange(len(together)) >= len(examples)
    best = best_single(examples["score"][trained], examples["language"][trained], features.loc[trained, list(single)])
    part = _predicted(
        together,
        columns,
        np.append(trained, np.zeros(len(others), bool)),
        rest,
        best=best,
        single=single,
        models=models,
        seed=seed,
    )
    table = _ordered(part.assign(setting="zero_shot", sentence=tested, fold=0).reset_index(drop=True), models, single)
    table.attrs["excluded"] = {"examples with a tested sentence": int((~trained).sum())}
    return table


def crossed(
    examples: pd.DataFrame,
    features: pd.DataFrame,
    others: pd.DataFrame,
    other_features: pd.DataFrame,
    *,
    models: Mapping[str, Maker] = MODELS,
    seed: int = 7,
) -> pd.DataFrame:
    """Score other translations, such as a challenge set's, by models that did not see their English sentence.

    others: column source. Sentences are dealt into folds; each fold of others is scored by models of the examples in
    the rest. Returns a column per model, on the index of others.
    """
    examples = _checked(examples, features, list(features.columns[:1]))
    both = sentence_groups([*examples["source"], *others["source"]])
    fold = folds(both, seed=seed)
    known, asked = fold[: len(examples)], fold[len(examples) :]
    scored = pd.DataFrame(index=others.index, columns=list(models), dtype=float)
    for number in range(FOLDS):
        goal = standing(examples["score"][known != number], examples["language"][known != number])
        for name, make in models.items():
            fitted = make(seed).fit(features[known != number].to_numpy(float), goal)
            if (asked == number).any():
                predicted = fitted.predict(other_features[asked == number].to_numpy(float))
                scored.loc[asked == number, name] = predicted.round(_DIGITS)
    return scored


def best_single(score: pd.Series, language: pd.Series, metrics: pd.DataFrame) -> str:
    """Name the metric with the highest τ-b with the scores, averaged over languages."""
    return _best(_taus(score, language, metrics))


def _taus(score: pd.Series, language: pd.Series, metrics: pd.DataFrame) -> pd.DataFrame:
    """Compute each metric's τ-b with the scores of each language: a row per language, a column per metric."""
    groups = score.groupby(language).groups
    rows = [[kendall_b(metrics[name][rows], score[rows]) for name in metrics] for rows in groups.values()]
    return pd.DataFrame(rows, index=list(groups), columns=metrics.columns)


def _best(taus: pd.DataFrame) -> str:
    mean = taus.mean()
    return max(mean.index, key=mean.__getitem__)


def _predicted(
    examples: pd.DataFrame,
    features: pd.DataFrame,
    trained: np.ndarray,
    tested: np.ndarray,
    *,
    best: str,
    single: Sequence[str],
    models: Mapping[str, Maker],
    seed: int,
) -> pd.DataFrame:
    """Train on some rows and predict others; ``best`` is the best single metric of the rows trained on."""
    known, asked = examples[trained], features[tested]
    goal = standing(known["score"], known["language"])
    table = examples.loc[tested, ["language", "score"]].join(asked[list(single)])
    for name, make in models.items():
        fitted = make(seed).fit(features[trained].to_numpy(float), goal)
        table[name] = fitted.predict(asked.to_numpy(float)).round(_DIGITS)
    return table.assign(**{BEST: asked[best]})


def _ordered(table: pd.DataFrame, models: Mapping[str, Maker], single: Sequence[str]) -> pd.DataFrame:
    return table[["setting", "language", "sentence", "fold", "score", *models, BEST, *single]]


def _checked(examples: pd.DataFrame, features: pd.DataFrame, single: Sequence[str]) -> pd.DataFrame:
    missing = [name for name in ("language", "source", "score") if name not in examples]
    if missing:
        raise DataError(f"The examples have no column {', '.join(missing)}. They need language, source and score.")
    unknown = [name for name in single if name not in features]
    if unknown or not single:
        raise DataError(f"There is no single metric {', '.join(unknown) or 'named'}. Name columns of the features.")
    if not examples.index.equals(features.index) or not examples.index.is_unique:
        raise DataError("Examples and features are not the same rows. Make the features from these examples.")
    if examples["score"].isna().any():
        raise DataError(f"{int(examples['score'].isna().sum())} examples have no score. Leave them out first.")
    bad = ~np.isfinite(features.to_numpy(float)).all(axis=0)
    if bad.any():
        raise DataError(
            f"The feature {features.columns[int(np.argmax(bad))]} is not finite in some row. Mend or drop it."
        )
    return examples
