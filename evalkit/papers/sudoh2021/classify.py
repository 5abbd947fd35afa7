"""Learn to label translations from n-grams and cheap features, chosen on development rows, beside plain baselines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021 import thresholds
from evalkit.papers.sudoh2021.features import checked, differing
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
_MEAN_OF = ("features", "n-grams + features", "boosting")
_HEAVY = ("features", "n-grams + features")


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


def predict(
    translations: pd.DataFrame,
    labels: pd.DataFrame,
    described: pd.DataFrame,
    *,
    dimensions: Sequence[str] = ("fluency", "adequacy"),
    models: Sequence[str] = tuple(MODELS),
    weighted: bool = True,
    seed: int = 7,
) -> pd.DataFrame:
    """Train models on the training rows, then label all other rows.

    translations, labels: as for ``examples``. described: the result of ``features`` for these translations, row by
    row. models: which of ``MODELS``. weighted: train the logistic ones that look at the features a second time, with
    the weights of ``class_weights``.
    Returns a row per model and translation outside of training: KEY, split, z, sentence, dimension, model, true,
    predicted, and a column of probabilities per label that occurs in training (others 0).
    Nothing is read from a row outside of training but its texts (and its z, for the DA baseline).
    """
    if len(described) != len(translations):
        raise DataError("Features and translations are not the same rows. Make the features from these translations.")
    trained = translations["split"].eq("train").to_numpy()
    if trained.all():
        raise DataError("All translations are for training, so none is left to be labelled. Mark some as dev or test.")
    unknown = [name for name in models if name not in MODELS]
    if unknown:
        raise DataError(f"There is no model {unknown[0]!r} here. Choose among {', '.join(MODELS)}.")
    needed = _MEAN_OF if "mean of models" in models else ()
    light = [name for name in MODELS if name in models or name in needed]
    heavy = [name for name in _HEAVY if weighted and name in models]
    looks, parts = None, []
    for dimension in dimensions:
        rows = examples(translations, labels, dimension=dimension)
        truth, names = rows.loc[trained, "true"], categories(dimension)
        found = _baselines(rows, described, trained, names)
        if truth.nunique() > 1:
            looks = looks or _looks(rows, described, trained, grams=any("n-grams" in name for name in light))
            weights = truth.map(class_weights(truth)).to_numpy()
            learned = _learned(looks, truth.to_numpy(), trained, None, names, seed, light)
            found |= {name: learned[name] for name in models}
            learned = _learned(looks, truth.to_numpy(), trained, weights, names, seed, heavy)
            found |= {name + WEIGHTED: values for name, values in learned.items()}
        base = rows.loc[~trained, [*KEY, "split", "z", "sentence", "true"]].reset_index(drop=True)
        parts += [labelled(base, values, dimension=dimension, model=name) for name, values in found.items()]
    return pd.concat(parts, ignore_index=True)


def labelled(rows: pd.DataFrame, probabilities: np.ndarray, *, dimension: str, model: str) -> pd.DataFrame:
    """Add a model's probabilities and its likeliest label to rows; of equally likely ones the worse in print order."""
    names = categories(dimension)
    best = np.array(names, dtype=object)[probabilities.argmax(axis=1)]
    table = rows.assign(dimension=dimension, model=model, predicted=best)
    return table.join(pd.DataFrame(probabilities, columns=names, index=rows.index))


def choose(predictions: pd.DataFrame, *, among: Sequence[str] | None = None, split: str = "dev") -> pd.DataFrame:
    """Rank learned models by their accuracy on development rows, as the paper does; the first row is the choice.

    among: models to choose from; where None, all but ``BASELINES``. Ties: the lower log loss. Returns dimension, model,
    accuracy, log_loss, n. Raises DataError where the split has no rows.

    >>> row = {"split": "dev", "dimension": "fluency", "true": "Fair", "predicted": "Fair", "Fair": 0.5}
    >>> choose(pd.DataFrame([row | {"model": "a"}, row | {"model": "b", "Fair": 0.9}]))["model"].tolist()
    ['b', 'a']
    """
    rows = predictions[predictions["split"] == split].dropna(subset=["true"])
    rows = rows[~rows["model"].isin(BASELINES) if among is None else rows["model"].isin(among)]
    if rows.empty:
        raise DataError(f"No predictions of the split {split} can be compared. Mark some translations as {split}.")
    right = rows["predicted"].eq(rows["true"])
    likely = np.array([row[true] for true, row in zip(rows["true"], rows.to_dict("records"))], float)
    table = rows[["dimension", "model"]].assign(accuracy=right, log_loss=-np.log(np.maximum(likely, 1e-12)), n=1)
    table = table.groupby(["dimension", "model"], sort=False).agg(
        accuracy=("accuracy", "mean"), log_loss=("log_loss", "mean"), n=("n", "sum")
    )
    table = table.reset_index().sort_values(["accuracy", "log_loss"], ascending=[False, True], kind="stable")
    return table.sort_values("dimension", kind="stable", ignore_index=True)


def _baselines(
    rows: pd.DataFrame, described: pd.DataFrame, trained: np.ndarray, names: list[str]
) -> dict[str, np.ndarray]:
    """Return the baselines' probabilities for the rows outside of training."""
    truth = rows.loc[trained, "true"]
    commonest = truth.value_counts().reindex(names, fill_value=0).to_numpy(float)
    found = {"majority class": np.tile(commonest / commonest.sum(), (int((~trained).sum()), 1))}
    signals = {"chrF thresholds": described["char_f"].to_numpy(float), "DA thresholds": rows["z"].to_numpy(float)}
    for name, values in signals.items():
        found[name] = thresholds.fit(values[trained], list(truth), names=names).probabilities(values[~trained])
    return found


def _looks(rows: pd.DataFrame, described: pd.DataFrame, trained: np.ndarray, *, grams: bool) -> dict:
    """Make what the models look at; scales and vocabularies come from training rows."""
    from scipy import sparse
    from sklearn.preprocessing import StandardScaler

    dense = described.to_numpy(float)
    scaled = np.clip(StandardScaler().fit(dense[trained]).transform(dense), -5, 5)
    looks = {"features": scaled, "boosting": dense}
    if grams:
        bags = _bags(rows, trained)
        both = sparse.hstack([bags, sparse.csr_matrix(0.3 * scaled)]).tocsr()  # so that neither drowns the other
        looks |= {"n-grams": bags, "n-grams + features": both}
    return looks


def _bags(rows: pd.DataFrame, trained: np.ndarray):
    """Weigh the words and letters of hypotheses, and of what differs, by TF-IDF; sparse (rows, terms)."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    parts = differing(rows)
    plans = [(side, {"token_pattern": r"\S+", "min_df": 5}) for side in ("only_hypothesis", "only_reference")]
    plans += [("hypothesis", {"token_pattern": r"\S+", "ngram_range": (1, 2), "min_df": 5})]
    plans += [("hypothesis", {"analyzer": "char_wb", "ngram_range": (3, 3), "min_df": 10})]
    bags = []
    for side, plan in plans:
        learned = [text for text, used in zip(parts[side], trained) if used]
        try:
            vectorizer = TfidfVectorizer(sublinear_tf=True, lowercase=False, **plan).fit(learned)
        except ValueError:  # no term is common enough in so few texts
            continue
        bags.append(vectorizer.transform(parts[side]))
    return sparse.hstack(bags or [sparse.csr_matrix((len(rows), 1))]).tocsr()


def _learned(
    looks: dict, truth: np.ndarray, trained: np.ndarray, weight: np.ndarray | None, names: list[str], seed: int,
    asked: Sequence[str],
) -> dict[str, np.ndarray]:  # fmt: skip
    """Train the models and return their probabilities for the other rows, columns as in ``names``."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    models = {
        "n-grams": LogisticRegression(C=1.0, max_iter=300, tol=1e-3),
        "features": LogisticRegression(C=0.01, max_iter=500),
        "n-grams + features": LogisticRegression(C=0.1, max_iter=300, tol=1e-3),
        "boosting": HistGradientBoostingClassifier(
            max_iter=80, learning_rate=0.06, max_leaf_nodes=8, min_samples_leaf=20, l2_regularization=5.0,
            max_features=0.3, early_stopping=False, random_state=seed,
        ),
    }  # fmt: skip
    found = {}
    for name in [name for name in asked if name in models]:
        with threadpool_limits(1):  # or the last bits of a result would depend on the machine
            fitted = models[name].fit(looks[name][trained], truth, sample_weight=weight)
        spread = np.zeros((int((~trained).sum()), len(names)))
        spread[:, [names.index(label) for label in fitted.classes_]] = fitted.predict_proba(looks[name][~trained])
        found[name] = spread
    if "mean of models" in asked:
        found["mean of models"] = np.mean([found[name] for name in _MEAN_OF], axis=0)
    return found
