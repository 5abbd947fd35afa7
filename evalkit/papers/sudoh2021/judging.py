"""May a classifier stand in for an annotator of critical errors? Answers for the alternative annotator test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from evalkit.human.judges import trials
from evalkit.papers.sudoh2021 import classify, reduction
from evalkit.papers.sudoh2021.features import features
from evalkit.papers.sudoh2021.taxonomy import KEY, TABLES, categories, named

#: Judges, and what each is; ``classify`` says what they look at.
KINDS = {
    "features": "metric",
    "chrF thresholds": "metric",
    "DA thresholds": "people",
    "majority class": "knows nothing",
}
#: How judges are written on pages.
NAMES = {
    "features": "classifier on features",
    "chrF thresholds": "chrF, cut into labels",
    "DA thresholds": "crowd's DA, cut into labels",
    "majority class": "the commonest label",
}


def predictions(labels: pd.DataFrame, translations: pd.DataFrame, *, rule: str = "median") -> pd.DataFrame:
    """Label each test set by classifiers that learned on all others: the columns of ``classify.predict``.

    labels: of all three annotators, whose reduction by ``rule`` is learned. translations: texts and DA scores; those of
    test sets without labels are left out. Texts of the test set that is labelled lend their words to the counts behind
    features, their labels nothing.
    """
    own = translations[translations["doc"].isin(labels["doc"].unique())].reset_index(drop=True)
    described, parts = features(own.assign(split="train")), []
    truth = {name: named(reduction.reduce(labels, rule=rule, dimension=name).assign(dimension=name)) for name in TABLES}
    for doc in own["doc"].unique():
        split = own["doc"].eq(doc).map({True: "test", False: "train"})
        corpus = classify.Corpus(own.assign(split=split), described)
        parts += [classify.predict(corpus, truth[name], dimension=name, models=["features"]) for name in TABLES]
    return pd.concat(parts, ignore_index=True)


def replaced(labels: pd.DataFrame, predicted: pd.DataFrame, *, epsilons: Sequence[float]) -> pd.DataFrame:
    """Try the classifiers in place of annotators: data and the columns of ``judges.trials``.

    Labels of both dimensions are compared as names (is it the same label?), those of fluency also as places in their
    order (how far apart are they?); the labels of adequacy are kinds of failure, of which no order is agreed on.
    """
    parts = []
    for dimension in TABLES:
        rows = named(labels[labels["dimension"] == dimension])
        wide = rows.pivot(index=KEY, columns="annotator", values="label")
        own = predicted[predicted["dimension"] == dimension]
        parts.append(trials(wide, _judges(own), alignment="accuracy", epsilons=epsilons))
        parts[-1].insert(0, "data", f"Sudoh {dimension}")
        if dimension == "fluency":
            order = {name: place for place, name in enumerate(categories(dimension))}
            steps = ((name, kind, one.map(order)) for name, kind, one in _judges(own))
            numbers = wide.apply(lambda column, order=order: column.map(order)).astype(float)
            parts.append(trials(numbers, steps, epsilons=epsilons))
            parts[-1].insert(0, "data", f"Sudoh {dimension}, steps")
    return pd.concat(parts, ignore_index=True)


def _judges(predicted: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series]]:
    """Yield each classifier's labels by translation."""
    for name, own in predicted.groupby("model", sort=False):
        yield NAMES[str(name)], KINDS[str(name)], own.set_index(KEY)["predicted"]
