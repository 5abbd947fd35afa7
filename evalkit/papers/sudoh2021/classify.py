"""Learn to label translations from n-grams and cheap features, chosen on development rows, beside plain baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import sparse

from evalkit import DataError
from evalkit.papers.sudoh2021.features import checked, differing
from evalkit.papers.sudoh2021.models import fit_cumulative_link, fit_thresholds
from evalkit.papers.sudoh2021.taxonomy import KEY, categories

#: Learned models, and what each looks at. Logistic ones are "weighted" if trained with the weights of equation (1).
MODELS = {
    "n-grams": "logistic regression on words, word pairs and letter triples (TF-IDF)",
    "features": "logistic regression on the features",
    "n-grams + features": "logistic regression on both",
    "boosting": "gradient boosting of small trees on the features",
    "mean of models": "mean of the probabilities of the three models that look at the features",
}
#: Baselines, and what each looks at. Thresholds are fitted on training rows.
BASELINES = {
    "majority class": "nothing: always the commonest label of training",
    "chrF thresholds": "one metric: F of shared letter n-grams",
    "DA thresholds": "the human direct assessment of the same translation: a human signal, not a metric",
}
WEIGHTED = " (weighted)"
MEAN = "mean of models"
_MEAN_OF = ("features", "n-grams + features", "boosting")
#: All learned models, those trained with the weights of equation (1) last.
ALL = (*MODELS, *(name + WEIGHTED for name in ("features", "n-grams + features")))
_PENALTY = 30.0  # of the ordinal model's slopes


def class_weights(labels: pd.Series) -> pd.Series:
    """Return the weight of each label: the root of how many times rarer it is than the commonest one.

    .. math:: w_c = \\sqrt{\\max_{c'} n_{c'} / n_c}

    Source: Sudoh et al. 2021, equation (1).

    >>> class_weights(pd.Series(["Fair"] * 9 + ["Poor"] * 4)).round(9).to_dict()
    {'Fair': 1.0, 'Poor': 1.5}
    """
    counts = labels.value_counts()
    return np.sqrt(counts.max() / counts).rename("weight")


def examples(translations: pd.DataFrame, labels: pd.DataFrame, *, dimension: str) -> pd.DataFrame:
    """Join translations with one label each.

    translations: KEY, hypothesis, reference, z, split. labels: KEY, dimension, label (category names; ``named`` turns
    codes into names). Returns KEY, split, z, hypothesis, reference, sentence (a number, the same for the same
    reference) and true; a row outside of training may lack its label, then true is missing.
    Raises DataError for an unknown label, two labels of one translation, or a training row without one.

    >>> key = dict.fromkeys(KEY, "x")
    >>> row = pd.DataFrame([key | {"hypothesis": "a", "reference": "b", "z": 0.1, "split": "train"}])
    >>> examples(row, pd.DataFrame([key | {"dimension": "fluency", "label": "Poor"}]), dimension="fluency")["true"][0]
    'Poor'
    """
    checked(translations)
    known = categories(dimension)
    own = labels.loc[labels["dimension"] == dimension, [*KEY, "label"]]
    strange = ~own["label"].isin(known)
    if strange.any():
        raise DataError(f"{own['label'][strange].iloc[0]!r} is no label of {dimension}. Use {', '.join(known)}.")
    if own.duplicated(KEY).any():
        raise DataError(f"A translation has two labels of {dimension}. Reduce the annotators' labels to one first.")
    joined = translations.merge(own.rename(columns={"label": "true"}), on=KEY, how="left", validate="one_to_one")
    lacking = int((joined["true"].isna() & joined["split"].eq("train")).sum())
    if lacking:
        raise DataError(f"{lacking} training translations have no label of {dimension}. Leave them out, or label them.")
    joined["sentence"] = pd.factorize(joined["reference"])[0]
    return joined[[*KEY, "split", "z", "hypothesis", "reference", "sentence", "true"]]


@dataclass(frozen=True)
class Corpus:
    """Translations with what the models look at; scales and vocabularies come from training rows.

    translations: as for ``examples``. described: the result of ``features`` for them, row by row.
    """

    translations: pd.DataFrame
    described: pd.DataFrame

    def __post_init__(self) -> None:
        if len(self.described) != len(self.translations):
            raise DataError(
                "Features and translations are not the same rows. Make the features from these translations."
            )
        if self.trained.all():
            raise DataError("All translations are for training, none is left to be labelled. Mark some as dev or test.")

    @cached_property
    def trained(self) -> np.ndarray:
        """Mark the rows to learn from."""
        return self.translations["split"].eq("train").to_numpy()

    @cached_property
    def scaled(self) -> np.ndarray:
        """Standardise the features, and cut what lies more than five deviations off."""
        from sklearn.preprocessing import StandardScaler

        dense = self.described.to_numpy(float)
        return np.clip(StandardScaler().fit(dense[self.trained]).transform(dense), -5, 5)

    @cached_property
    def bags(self) -> sparse.csr_matrix:
        """Weigh the words and letters of hypotheses, and of what differs, by TF-IDF; (rows, terms)."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        parts, learned = differing(self.translations), np.flatnonzero(self.trained)
        others = np.flatnonzero(~self.trained)
        plans = [(side, {"token_pattern": r"\S+", "min_df": 5}) for side in ("only_hypothesis", "only_reference")]
        plans += [("hypothesis", {"token_pattern": r"\S+", "ngram_range": (1, 2), "min_df": 5})]
        plans += [("hypothesis", {"analyzer": "char_wb", "ngram_range": (3, 3), "min_df": 10})]
        bags = []
        for side, plan in plans:
            vectorizer = TfidfVectorizer(sublinear_tf=True, lowercase=False, **plan)
            try:
                known = vectorizer.fit_transform([parts[side][row] for row in learned])
            except ValueError:  # no term is common enough in so few texts
                continue
            rest = vectorizer.transform([parts[side][row] for row in others])
            bags.append(sparse.vstack([known, rest]).tocsr()[np.argsort(np.concatenate([learned, others]))])
        return sparse.hstack(bags or [sparse.csr_matrix((len(self.translations), 1))]).tocsr()

    @cached_property
    def both(self) -> sparse.csr_matrix:
        """Put bags and features side by side, these scaled down so that neither drowns the other."""
        return sparse.hstack([self.bags, sparse.csr_matrix(0.3 * self.scaled)]).tocsr()

    def look(self, model: str) -> np.ndarray | sparse.csr_matrix:
        """Return what a model looks at, a row per translation."""
        if model == "boosting":
            return self.described.to_numpy(float)
        return self.scaled if model == "features" else self.bags if model == "n-grams" else self.both


def predict(
    corpus: Corpus,
    labels: pd.DataFrame,
    *,
    dimension: str,
    models: Sequence[str] = ALL,
    seed: int = 7,
) -> pd.DataFrame:
    """Train models of a dimension on the training rows, then label all other rows.

    labels: as for ``examples``. models: which of ``ALL``; the weighted ones are trained with ``class_weights``.
    Returns a row per model and translation outside of training: KEY, split, z, sentence, dimension, model, true,
    predicted, and a column of probabilities per label that occurs in training (others 0).
    Nothing is read from a row outside of training but its texts (and its z, for the DA baseline).
    """
    if unknown := [name for name in models if name not in ALL]:
        raise DataError(f"There is no model {unknown[0]!r} here. Choose among {', '.join(ALL)}.")
    rows = examples(corpus.translations, labels, dimension=dimension)
    truth, names = rows.loc[corpus.trained, "true"], categories(dimension)
    found = _baselines(rows, corpus, truth, names)
    if truth.nunique() > 1:
        weights = truth.map(class_weights(truth)).to_numpy()
        needed = {*models, *(_MEAN_OF if MEAN in models else ())}
        learned = {
            name: _learned(corpus, name, truth, names, seed, weights if name.endswith(WEIGHTED) else None)
            for name in ALL
            if name in needed and name != MEAN
        }
        if MEAN in models:
            learned[MEAN] = np.mean([learned[name] for name in _MEAN_OF], axis=0)
        found |= {name: learned[name] for name in ALL if name in models}
    base = _base(rows, corpus)
    return pd.concat(
        [labelled(base, chances, dimension=dimension, model=name) for name, chances in found.items()],
        ignore_index=True,
    )


def predict_in_order(corpus: Corpus, labels: pd.DataFrame, *, dimension: str, order: str = "severity") -> pd.DataFrame:
    """Train the cumulative-link model on the training rows, then label all other rows, as ``predict`` does.

    order: how labels are put from worst to best. A label without a training row gets probability 0. Returns the
    models "ordinal" and "ordinal, middle label"; the latter names the median of the probabilities, which costs fewest
    places on average if the probabilities are right.
    """
    rows = examples(corpus.translations, labels, dimension=dimension)
    truth, names = rows.loc[corpus.trained, "true"], categories(dimension)
    occurring = [name for name in categories(dimension, order=order) if truth.eq(name).any()]
    if len(occurring) < 2:
        raise DataError(f"All training rows have one label of {dimension}. An order needs two labels or more.")
    model = fit_cumulative_link(
        corpus.scaled[corpus.trained], truth.map(occurring.index).to_numpy(), labels=len(occurring), penalty=_PENALTY
    )
    chances = np.zeros((int((~corpus.trained).sum()), len(names)))
    chances[:, [names.index(name) for name in occurring]] = model.probabilities(corpus.scaled[~corpus.trained])
    likeliest = labelled(_base(rows, corpus), chances, dimension=dimension, model="ordinal")
    return pd.concat([likeliest, middle(likeliest, order=order)], ignore_index=True)


def middle(predictions: pd.DataFrame, *, order: str = "severity") -> pd.DataFrame:
    """Predict the label at the middle of each row's probabilities instead of the likeliest; the model's name says so.

    predictions: of one dimension, with a column of probabilities per label.

    >>> row = {"dimension": "fluency", "model": "m", "predicted": "Excellent"}
    >>> row |= {"Incomprehensible": 0.3, "Poor": 0.1, "Fair": 0.2, "Good": 0.0, "Excellent": 0.4}
    >>> middle(pd.DataFrame([row]))[["model", "predicted"]].values.tolist()
    [['m, middle label', 'Fair']]
    """
    names = categories(predictions["dimension"].iloc[0], order=order)
    reached = np.cumsum(predictions[names].to_numpy(float), axis=1) >= 0.5 - 1e-9
    chosen = np.array(names, dtype=object)[reached.argmax(axis=1)]
    return predictions.assign(model=predictions["model"] + ", middle label", predicted=chosen)


def labelled(rows: pd.DataFrame, probabilities: np.ndarray, *, dimension: str, model: str) -> pd.DataFrame:
    """Add a model's probabilities and its likeliest label to rows; of equally likely ones the worse in print order."""
    names = categories(dimension)
    best = np.array(names, dtype=object)[probabilities.argmax(axis=1)]
    table = rows.assign(dimension=dimension, model=model, predicted=best)
    return table.join(pd.DataFrame(probabilities, columns=names, index=rows.index))


def choose(predictions: pd.DataFrame, *, among: Sequence[str] | None = None) -> pd.DataFrame:
    """Rank learned models by their accuracy on development rows, as the paper does; the first row is the choice.

    among: models to choose from; where None, all but ``BASELINES``. Ties: the lower log loss. Returns dimension, model,
    accuracy, log_loss, n. Raises DataError where there are no development rows.

    >>> row = {"split": "dev", "dimension": "fluency", "true": "Fair", "predicted": "Fair", "Fair": 0.5}
    >>> choose(pd.DataFrame([row | {"model": "a"}, row | {"model": "b", "Fair": 0.9}]))["model"].tolist()
    ['b', 'a']
    """
    rows = predictions[predictions["split"] == "dev"].dropna(subset=["true"])
    rows = rows[~rows["model"].isin(BASELINES) if among is None else rows["model"].isin(among)]
    if rows.empty:
        raise DataError("No predictions of the split dev can be compared. Mark some translations as dev.")
    right = rows["predicted"].eq(rows["true"])
    likely = np.array([row[true] for true, row in zip(rows["true"], rows.to_dict("records"))], float)
    table = rows[["dimension", "model"]].assign(accuracy=right, log_loss=-np.log(np.maximum(likely, 1e-12)), n=1)
    table = table.groupby(["dimension", "model"], sort=False).agg(
        accuracy=("accuracy", "mean"), log_loss=("log_loss", "mean"), n=("n", "sum")
    )
    table = table.reset_index().sort_values(["accuracy", "log_loss"], ascending=[False, True], kind="stable")
    return table.sort_values("dimension", kind="stable", ignore_index=True)


def _base(rows: pd.DataFrame, corpus: Corpus) -> pd.DataFrame:
    """Take the rows outside of training, without their texts."""
    return rows.loc[~corpus.trained, [*KEY, "split", "z", "sentence", "true"]].reset_index(drop=True)


def _baselines(rows: pd.DataFrame, corpus: Corpus, truth: pd.Series, names: list[str]) -> dict[str, np.ndarray]:
    """Return the baselines' probabilities for the rows outside of training."""
    trained = corpus.trained
    commonest = truth.value_counts().reindex(names, fill_value=0).to_numpy(float)
    found = {"majority class": np.tile(commonest / commonest.sum(), (int((~trained).sum()), 1))}
    signals = {"chrF thresholds": corpus.described["char_f"], "DA thresholds": rows["z"]}
    for name, signal in signals.items():
        values = signal.to_numpy(float)
        found[name] = fit_thresholds(values[trained], list(truth), names=names).probabilities(values[~trained])
    return found


def _learned(
    corpus: Corpus, name: str, truth: pd.Series, names: list[str], seed: int, weight: np.ndarray | None = None
) -> np.ndarray:
    """Train a model and return its probabilities for the other rows, columns as in ``names``."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    models = {
        "n-grams": LogisticRegression(C=1.0, max_iter=300, tol=1e-3),
        "features": LogisticRegression(C=0.01, max_iter=500),
        "n-grams + features": LogisticRegression(C=0.1, max_iter=300, tol=1e-3),
        "boosting": HistGradientBoostingClassifier(
            max_iter=80,
            learning_rate=0.06,
            max_leaf_nodes=8,
            min_samples_leaf=20,
            l2_regularization=5.0,
            max_features=0.3,
            early_stopping=False,
            random_state=seed,
        ),
    }
    name = name.removesuffix(WEIGHTED)
    seen, trained = corpus.look(name), corpus.trained
    with threadpool_limits(1):  # or the last bits of a result would depend on the machine
        fitted = models[name].fit(seen[trained], truth.to_numpy(), sample_weight=weight)
        chances = fitted.predict_proba(seen[~trained])
    spread = np.zeros((int((~trained).sum()), len(names)))
    spread[:, [names.index(label) for label in fitted.classes_]] = chances
    return spread
