"""Label translations by small classifiers, and judge predicted labels: confusion, scores, distance, accuracy.

The classifiers read eleven numbers that need no pretrained model. They are a floor, not a rival of the paper's network
(``encoder``): none of them finds contradictions, for a word that turns a sentence round hardly changes such numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.names import one_form
from evalkit.human.judges import trials
from evalkit.metrics import lexical
from evalkit.papers.claims import pivot
from evalkit.papers.sudoh2021.labels import KEY, TABLES, TAXONOMIES, categories, named
from evalkit.papers.sudoh2021.reduction import reduce
from evalkit.stats.inference import column_means, interval, resample

#: What the last row of a table of scores is called, as in print.
AVERAGE = "Ave."
#: What the paper's own network is called beside our models.
PRINTED = "RoBERTa (printed)"
#: Models -> what each looks at. The first three are baselines; the scores of people are no metric.
MODELS = {
    "majority class": "nothing: always the commonest label of training",
    "chrF thresholds": "one metric, cut into labels: F of shared letter sequences",
    "DA thresholds": "people's direct assessment of the same translation, cut into labels",
    "features": "logistic regression on eleven numbers: shared words and letters, edits, lengths",
    "features (weighted)": "the same, trained with the class weights of equation (1)",
}
BASELINES = tuple(MODELS)[:3]
#: Models in place of annotators: name on pages, and what kind of judge each is.
JUDGES = {
    "features": ("classifier on features", "metric"),
    "chrF thresholds": ("chrF, cut into labels", "metric"),
    "DA thresholds": ("crowd's DA, cut into labels", "people"),
    "majority class": ("the commonest label", "knows nothing"),
}


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
    Raises DataError for two labels of one translation, and for a training row without one.

    >>> key = dict.fromkeys(KEY, "x")
    >>> row = pd.DataFrame([key | {"hypothesis": "a", "reference": "b", "z": 0.1, "split": "train"}])
    >>> examples(row, pd.DataFrame([key | {"dimension": "fluency", "label": "Poor"}]), dimension="fluency")["true"][0]
    'Poor'
    """
    own = labels.loc[labels["dimension"] == dimension, [*KEY, "label"]].rename(columns={"label": "true"})
    if own.duplicated(KEY).any():
        raise DataError(f"A translation has two labels of {dimension}. Reduce the annotators' labels to one first.")
    joined = translations.merge(own, on=KEY, how="left", validate="one_to_one")
    if lacking := int((joined["true"].isna() & joined["split"].eq("train")).sum()):
        raise DataError(f"{lacking} training translations have no label of {dimension}. Leave them out, or label them.")
    joined["sentence"] = pd.factorize(joined["reference"])[0]
    return joined[[*KEY, "split", "z", "hypothesis", "reference", "sentence", "true"]]


def features(translations: pd.DataFrame) -> pd.DataFrame:
    """Describe each translation beside its reference by numbers of shared letters and words, edits and lengths.

    translations: hypothesis and reference (English), brought to one form first, for WMT17's texts are in lower case and
    cut into tokens. Returns the same index and a column of finite floats each. Nothing is learned here.

    >>> pair = pd.DataFrame({"hypothesis": ["It cost 30 in Rome."], "reference": ["it cost 30 in pisa."]})
    >>> features(pair)[["ratio", "added", "lost"]].round(1).iloc[0].tolist()
    [78.9, 1.0, 1.0]
    """
    from rapidfuzz import fuzz
    from rapidfuzz.distance import Levenshtein

    alike, rows = translations[["hypothesis", "reference"]].map(one_form), []
    scored = lexical.scores(alike, metrics=["chrF"])
    for hypothesis, reference, chrf in scored.itertuples(index=False):
        said, meant = hypothesis.split(), reference.split()
        length = np.log((len(said) + 1) / (len(meant) + 1))
        rows.append(
            {
                "chrf": chrf,
                "ratio": fuzz.ratio(hypothesis, reference),
                "sorted_ratio": fuzz.token_sort_ratio(hypothesis, reference),
                "set_ratio": fuzz.token_set_ratio(hypothesis, reference),
                "in_order": Levenshtein.normalized_similarity(said, meant),
                "length": np.log1p(len(meant)),
                "length_ratio": length,
                "length_apart": abs(length),
                "identical": hypothesis == reference,
                "added": len(set(said) - set(meant)),
                "lost": len(set(meant) - set(said)),
            }
        )
    return pd.DataFrame(rows, index=translations.index, dtype=float)


def predict(
    translations: pd.DataFrame,
    labels: pd.DataFrame,
    seen: pd.DataFrame,
    *,
    dimension: str,
    models: Sequence[str] = tuple(MODELS),
) -> pd.DataFrame:
    """Train models of a dimension on the training rows, then label all other rows.

    translations, labels: as for ``examples``. seen: the result of ``features`` for these translations.
    Returns a row per model and translation outside of training: KEY, split, z, sentence, true, dimension, model,
    predicted. Nothing is read from a row outside of training but its texts (and its z, for the DA baseline).
    """
    from threadpoolctl import threadpool_limits

    rows = examples(translations, labels, dimension=dimension)
    trained = rows["split"].eq("train").to_numpy()
    truth = rows.loc[trained, "true"]
    if truth.nunique() < 2:
        raise DataError(f"The training rows need two labels of {dimension} or more. Mark others as train.")
    base = rows.loc[~trained, [*KEY, "split", "z", "sentence", "true"]].assign(dimension=dimension)
    found = []
    with threadpool_limits(1):  # or the last bits of a result would depend on the machine
        for name in models:
            table, model = _untrained(name, seen, rows[["z"]], truth)
            model.fit(table[trained], truth)
            found.append(base.assign(model=name, predicted=model.predict(table[~trained])))
    return pd.concat(found, ignore_index=True)


def _untrained(name: str, seen: pd.DataFrame, z: pd.DataFrame, truth: pd.Series):
    """Set a model up: the table that it reads, and its estimator."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if name not in MODELS:
        raise DataError(f"There is no model {name!r} here. Choose among {', '.join(MODELS)}.")
    if name == "majority class":
        return z, DummyClassifier(strategy="most_frequent")
    if name in BASELINES:  # as many stretches of one number as there are labels
        one_number = seen[["chrf"]] if name == "chrF thresholds" else z
        return one_number, DecisionTreeClassifier(max_leaf_nodes=truth.nunique(), random_state=0)
    weights = class_weights(truth).to_dict() if "weighted" in name else None
    return seen, make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=500, class_weight=weights))


def predict_each_test_set(labels: pd.DataFrame, translations: pd.DataFrame) -> pd.DataFrame:
    """Label each test set by classifiers that learned on all others: the columns of ``predict``.

    labels: of all three annotators, whose median is learned. translations: texts and DA scores; those of
    test sets without labels are left out.
    """
    own = translations[translations["doc"].isin(labels["doc"].unique())].reset_index(drop=True)
    seen, parts = features(own), []
    for dimension in TABLES:
        truth = named(reduce(labels, rule="median", dimension=dimension).assign(dimension=dimension))
        for doc in own["doc"].unique():
            split = own.assign(split=np.where(own["doc"] == doc, "test", "train"))
            parts.append(predict(split, truth, seen, dimension=dimension, models=tuple(JUDGES)))
    return pd.concat(parts, ignore_index=True)


def replace_annotators(labels: pd.DataFrame, predicted: pd.DataFrame, *, epsilons: Sequence[float]) -> pd.DataFrame:
    """Try the classifiers in place of annotators: data and the columns of ``judges.trials``.

    predicted: as ``predict_each_test_set`` makes it. Labels of both dimensions are compared as names (is it the same
    label?), those of fluency also as places in their order (how far apart are they?); the labels of adequacy are kinds
    of failure, of which no order is agreed on.
    """
    parts = {}
    for dimension in TABLES:
        rows = named(labels[labels["dimension"] == dimension])
        people = rows.pivot(index=KEY, columns="annotator", values="label")
        own = predicted[predicted["dimension"] == dimension]
        parts[f"Sudoh {dimension}"] = trials(people, _judges(own), alignment="accuracy", epsilons=epsilons)
        if dimension == "fluency":
            order = {name: place for place, name in enumerate(categories(dimension))}
            steps = own.assign(predicted=own["predicted"].map(order))
            numbers = people.apply(lambda column, order=order: column.map(order)).astype(float)
            parts["Sudoh fluency, steps"] = trials(numbers, _judges(steps), epsilons=epsilons)
    return pd.concat(parts, names=["data"]).reset_index("data").reset_index(drop=True)


def critical(predicted: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tell which translations people, and each classifier, call a critical content error: name -> people, judge.

    predicted: as ``predict_each_test_set`` makes it, whose true labels are people's, reduced to one. Translations
    without one are left out.
    """
    own = predicted[predicted["dimension"].eq("adequacy") & predicted["true"].notna()]
    names = set(TAXONOMIES["adequacy"].query("critical")["category"])
    return {
        JUDGES[str(model)][0]: pd.DataFrame(
            {"people": part["true"].isin(names), "judge": part["predicted"].isin(names)}
        )
        for model, part in own.groupby("model", sort=False)
    }


def _judges(predicted: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield each classifier's labels by translation."""
    for name, own in predicted.groupby("model", sort=False):
        yield *JUDGES[str(name)], own.set_index(KEY)["predicted"]


def confusion(predictions: pd.DataFrame) -> pd.DataFrame:
    """Count how often each true label was predicted as each label.

    predictions: a row per translation and model, columns dimension, model, true, predicted (category names).
    Returns dimension, model, true, predicted, count: every pair of the dimension's labels, zeros included, in
    the order of print. Raises DataError for a label that the dimension does not have.

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Fair"], "predicted": "Fair"})
    >>> confusion(rows).query("count > 0")[["true", "predicted"]].values.tolist()
    [['Poor', 'Fair'], ['Fair', 'Fair']]
    """
    if predictions.empty:
        raise DataError("There are no predictions to count. Predict some translations first.")
    parts = []
    for (dimension, model), rows in predictions.groupby(["dimension", "model"], sort=False):
        names = categories(dimension)
        strange = set(rows["true"]).union(rows["predicted"]) - set(names)
        if strange:
            raise DataError(f"{sorted(map(str, strange))[0]!r} is no label of {dimension}. Use {', '.join(names)}.")
        parts.append(_long(pd.crosstab(rows["true"], rows["predicted"]), dimension, str(model)))
    return pd.concat(parts, ignore_index=True)


def printed_confusion(table: pd.DataFrame, *, dimension: str) -> pd.DataFrame:
    """Bring a printed confusion matrix into the form of ``confusion``.

    table: columns true, predicted, count (texts as printed).

    >>> cells = [(a, b, "1,001" if a == b else "0") for a in categories("fluency") for b in categories("fluency")]
    >>> read = printed_confusion(pd.DataFrame(cells, columns=["true", "predicted", "count"]), dimension="fluency")
    >>> int(read["count"].sum())
    5005
    """
    return _long(pivot(table, "true", "predicted", "count"), dimension, PRINTED)


def _long(square: pd.DataFrame, dimension: str, model: str) -> pd.DataFrame:
    """Lay a matrix out in rows, all labels in the order of print."""
    names = categories(dimension)
    whole = square.reindex(index=names, columns=names, fill_value=0).rename_axis(index="true", columns="predicted")
    table = whole.stack().astype(int).rename("count").reset_index()
    return table.assign(dimension=dimension, model=model)[["dimension", "model", "true", "predicted", "count"]]


def scores(confused: pd.DataFrame) -> pd.DataFrame:
    """Compute precision, recall and F1 of each label, and their plain averages, by scikit-learn.

    confused: as ``confusion`` gives it. Returns dimension, model, label, precision, recall, f1; the label "Ave." is
    the mean over the labels that truly occur (macro average). A label never predicted has precision 0; a label that
    never occurs has no row of numbers (NaN).

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Fair"], "predicted": "Fair"})
    >>> scores(confusion(rows)).query("label in ['Fair', 'Ave.']")[["precision", "recall"]].values.tolist()
    [[0.5, 1.0], [0.25, 0.5]]
    """
    from sklearn.metrics import precision_recall_fscore_support

    parts = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        names = rows["true"].unique()
        sides, weights = (rows["true"], rows["predicted"]), rows["count"]
        found = precision_recall_fscore_support(*sides, labels=names, sample_weight=weights, zero_division=0)
        table = pd.DataFrame(dict(zip(["precision", "recall", "f1", "n"], found)), index=names)
        table = table.where(table.pop("n") > 0)
        table.loc[AVERAGE] = table.mean()
        parts.append(table.rename_axis("label").reset_index().assign(dimension=dimension, model=model))
    return pd.concat(parts, ignore_index=True)[["dimension", "model", "label", "precision", "recall", "f1"]]


def summary(confused: pd.DataFrame, *, order: str = "severity") -> pd.DataFrame:
    """Summarise each matrix in a row: share right, and how far away the errors lie.

    order: the order of labels in which distance is counted, in places. Returns dimension, model, n, accuracy,
    adjacent (share of the *errors* that lie one place away), distant_share (of all, three places away or more) and
    mean_places (mean absolute error).
    Caveat: places are not equal steps, and adequacy's four worst labels are kinds, not degrees.

    >>> rows = pd.DataFrame({"dimension": "fluency", "model": "m", "true": ["Poor", "Good"], "predicted": "Fair"})
    >>> summary(confusion(rows))[["accuracy", "adjacent", "mean_places"]].values.tolist()
    [[0.0, 1.0, 1.0]]
    """
    found = []
    for (dimension, model), rows in confused.groupby(["dimension", "model"], sort=False):
        place = {name: number for number, name in enumerate(categories(dimension, order=order))}
        apart = (rows["true"].map(place) - rows["predicted"].map(place)).abs()
        n = int(rows["count"].sum())
        share = rows.groupby(apart)["count"].sum() / n  # by places
        row = {"dimension": dimension, "model": model, "n": n, "accuracy": share.loc[0]}
        row["adjacent"] = share.loc[1] / (1 - share.loc[0]) if share.loc[0] < 1 else np.nan
        found.append(row | {"distant_share": share.loc[3:].sum(), "mean_places": (share * share.index).sum()})
    return pd.DataFrame(found)


def accuracy(predictions: pd.DataFrame, *, by: Sequence[str] = (), resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Return each model's share of right labels with a 95 % interval by a bootstrap over sentences.

    predictions: dimension, model, true, predicted and ``sentence``: rows of one sentence (the same reference) are
    drawn together, because one sentence's translations are alike. All models of a dimension must have the same rows in
    the same order. by: further columns that split the table, as src_lang.
    Returns dimension, *by, model, n, sentences, accuracy, low, high.
    """
    keys, found = ["dimension", *by], []
    for key, part in predictions.groupby(keys, sort=False, observed=True):
        models = part["model"].unique()
        right = part["true"].eq(part["predicted"]).to_numpy(float).reshape(len(models), -1).T
        sentence = part["sentence"].to_numpy()[: len(right)]
        low, high = interval(resample(column_means(right), sentence, resamples=resamples, seed=seed))
        table = pd.DataFrame(dict(zip(keys, key)) | {"model": models, "n": len(right)})
        table["sentences"] = len(np.unique(sentence))
        found.append(table.assign(accuracy=right.mean(axis=0), low=low, high=high))
    return pd.concat(found, ignore_index=True)
