"""Label translations by a pretrained encoder whose weights stay as they are: a small network reads its vectors.

    python -m evalkit.neural.similar pairs sudoh-translations --out sudoh.jsonl
    .venv-neural/bin/python -m evalkit.neural.minilm --pairs sudoh.jsonl --out sudoh.npz --vectors
    python -m evalkit.papers.sudoh2021.frozen --pairs sudoh.jsonl --scored sudoh.npz --out FILE

The first and the last need the suite's environment only. FILE has the results that the study of critical errors shows
as computed elsewhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data.provenance import Elsewhere
from evalkit.neural import minilm
from evalkit.neural.commands import in_a_sentence
from evalkit.papers.sudoh2021 import classify, evaluation, features, neural, released
from evalkit.papers.sudoh2021.encoder import best_epoch, quality
from evalkit.papers.sudoh2021.taxonomy import CRITICAL, KEY, TAXONOMIES, categories
from evalkit.stats.terms import join_names

#: What the small network reads.
MODELS = {
    "encoder": "vectors u, v of translation and reference, |u - v|, u * v, their cosine, BERTScore by each layer",
    "encoder + features": "the same, and the features of the small classifiers",
}
SEEDS = (7, 8, 9)
#: The small network: one layer of so many units, this penalty on its weights, rows at once, epochs at most.
UNITS, PENALTY, BATCH, EPOCHS = 64, 1.0, 64, 10
#: How the results are made.
COMMANDS = [
    "python -m evalkit.neural.similar pairs sudoh-translations --out sudoh.jsonl",
    minilm.command("sudoh", "--vectors"),
    "python -m evalkit.papers.sudoh2021.frozen --pairs sudoh.jsonl --scored sudoh.npz --out FILE",
]


def look(scored: Mapping[str, np.ndarray]) -> np.ndarray:
    """Put side by side what the encoder says of pairs: (pairs, 4 x dimensions + 1 + layers).

    scored: as ``minilm.score`` gives it, with vectors.

    >>> one = {"hypothesis": np.array([[1.0, 0.0]]), "reference": np.array([[0.6, 0.8]])}
    >>> look(one | {"cosine": np.array([0.6]), "f1": np.array([[0.5]])}).round(2).tolist()
    [[1.0, 0.0, 0.6, 0.8, 0.4, 0.8, 0.6, 0.0, 0.6, 0.5]]
    """
    u, v = (scored[side].astype(float) for side in ("hypothesis", "reference"))
    return np.column_stack([u, v, np.abs(u - v), u * v, scored["cosine"], scored["f1"]])


def train(
    seen: np.ndarray, rows: pd.DataFrame, *, dimension: str, seed: int, epochs: int = EPOCHS
) -> tuple[np.ndarray, int]:
    """Train the small network; return probabilities of the labels for the rows outside of training, and the epoch.

    seen: (rows, numbers); rows: split and true, as ``classify.examples`` has them. Numbers are standardised by training
    rows; labels are not weighted, as in the small classifiers that the study chooses. The epoch is the best on
    development rows, as in ``encoder.best_epoch``.
    Raises DataError without training or development rows.
    """
    from sklearn.neural_network import MLPClassifier
    from threadpoolctl import threadpool_limits

    names, split = categories(dimension), rows["split"].to_numpy()
    known, held = split == "train", split[split != "train"] == "dev"
    if not known.any() or not held.any():
        raise DataError(f"{dimension} needs translations of the splits train and dev. Mark some so.")
    code = rows["true"].map({name: place for place, name in enumerate(names)})
    truth, answers = code[known].to_numpy(int), code[split == "dev"].to_numpy(int)
    scaled = _scaled(seen, known).astype(np.float32)
    network = MLPClassifier((UNITS,), alpha=PENALTY, batch_size=min(BATCH, len(truth)), random_state=seed)
    measured, chances = [], []
    with threadpool_limits(1):  # or the last bits of a result would depend on the machine
        for epoch in range(1, epochs + 1):
            network.partial_fit(scaled[known], truth, classes=np.arange(len(names)))
            chances.append(network.predict_proba(scaled[~known]).astype(float))
            measured.append({"epoch": epoch} | quality(chances[-1][held], answers))
    best = best_epoch(measured)
    return chances[best - 1], best


def predict(
    translations: pd.DataFrame,
    labels: pd.DataFrame,
    looks: Mapping[str, np.ndarray],
    *,
    dimension: str,
    seed: int,
    epochs: int = EPOCHS,
) -> pd.DataFrame:
    """Label all rows outside of training by each model of ``looks``, in the columns of ``classify.predict``.

    labels: as for ``classify.examples``. looks: model -> what it reads, (translations, numbers).
    """
    rows = classify.examples(translations, labels, dimension=dimension)
    base = rows.loc[rows["split"] != "train", [*KEY, "split", "z", "sentence", "true"]].reset_index(drop=True)
    found = []
    for model, seen in looks.items():
        chances, epoch = train(seen, rows, dimension=dimension, seed=seed, epochs=epochs)
        found.append(classify.labelled(base, chances, dimension=dimension, model=model).assign(epoch=epoch))
    return pd.concat(found, ignore_index=True)


def measured(
    predictions: pd.DataFrame, *, labels: str, seed: int, one: released.Release, resamples: int = 500
) -> pd.DataFrame:
    """Say how right predictions of one dimension are, a row per model.

    labels: "released" (the test labels are known) or "median" (the test accuracy is bounded). Returns dimension,
    labels, model, seed, epoch, dev_accuracy, accuracy, low, high (95 %, a bootstrap over sentences), f1 (mean over
    labels), contradictions (recall), critical (recall of critical labels), test_at_least, test_at_most.
    """
    dev = predictions[predictions["split"].eq("dev")]
    right = dev["true"].eq(dev["predicted"]).groupby(dev["model"]).mean()
    rows = []
    for model, own in predictions[predictions["split"].eq("test")].groupby("model", sort=False):
        row = {"dimension": one.wide.dimension, "labels": labels, "model": model, "seed": seed}
        row |= {"epoch": int(own["epoch"].iloc[0]), "dev_accuracy": float(right[model])}
        if labels == neural.RELEASED:
            row |= _known(own, resamples)
        else:
            bounds = released.accuracy_bounds(own, one)
            row |= {name: bounds[name] for name in ("test_at_least", "test_at_most")}
        rows.append(row)
    return pd.DataFrame(rows)


def results(scored: Mapping[str, np.ndarray], *, seeds: Sequence[int] = SEEDS) -> list[dict]:
    """Train on both sets of labels, in both dimensions, with every seed; return the rows of ``measured``."""
    from evalkit import data
    from evalkit.data.provenance import stack
    from evalkit.papers.sudoh2021.reduction import reduce
    from evalkit.papers.sudoh2021.taxonomy import named

    translations, agreed = data.load("sudoh-translations"), data.load("sudoh-agreed")
    given = stack([data.load("sudoh-labels"), data.load("sudoh-labels-wmt17")])
    read, described = look(scored), features.features(translations).to_numpy(float)
    looks = dict(zip(MODELS, (read, np.column_stack([read, described]))))
    found = []
    for dimension in TAXONOMIES:
        one = released.release(given, agreed, translations, dimension=dimension)
        median = named(reduce(given, rule="median", dimension=dimension).assign(dimension=dimension))
        for labels, own in ((neural.RELEASED, named(agreed)), ("median", median)):
            for seed in seeds:
                said = predict(translations, own, looks, dimension=dimension, seed=seed)
                found.append(measured(said, labels=labels, seed=seed, one=one))
                print(f"{dimension}, {labels}, seed {seed}", file=sys.stderr, flush=True)
    table = pd.concat(found, ignore_index=True)
    return table.astype(object).where(table.notna(), None).to_dict("records")


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Average results over seeds: dimension, labels, model, seeds, means, and the widest ends of their intervals.

    found: rows of ``measured``. spread: the test accuracy of the best seed less that of the worst.

    >>> keys = {"dimension": "fluency", "labels": "released", "model": "encoder", "dev_accuracy": 0.5}
    >>> rest = dict.fromkeys(["f1", "contradictions", "critical", "test_at_least", "test_at_most"])
    >>> found = pd.DataFrame([keys | rest] * 2).assign(seed=[7, 8], accuracy=[0.4, 0.5], low=[0.3, 0.4], high=0.6)
    >>> summary(found)[["seeds", "accuracy", "low", "high"]].round(9).values.tolist()
    [[2.0, 0.45, 0.3, 0.6]]
    """
    means = ["dev_accuracy", "accuracy", "f1", "contradictions", "critical", "test_at_least", "test_at_most"]
    groups = found.astype(dict.fromkeys(means, float)).groupby(["dimension", "labels", "model"], sort=False)
    table = (
        groups[means]
        .mean()
        .assign(
            seeds=groups["seed"].nunique(),
            low=groups["low"].min(),
            high=groups["high"].max(),
            spread=groups["accuracy"].max() - groups["accuracy"].min(),
        )
    )
    return table.reset_index()


def beside(
    averaged: pd.DataFrame, accuracies: pd.DataFrame, confused: pd.DataFrame, *, chosen: Mapping[str, str]
) -> pd.DataFrame:
    """Put the models that read the encoder beside the small classifier and the paper's network, on test translations.

    averaged: the result of ``summary``. accuracies, confused: as ``evaluation`` makes them of the study's own models;
    confused also has the paper's printed matrices, from which its accuracy is taken, without an interval.
    Returns dimension, model, accuracy, low, high, f1, contradictions (recall). Trained on released labels.
    """
    front = ["dimension", "model", "accuracy", "low", "high", "f1", "contradictions"]
    cells = evaluation.scores(confused).set_index(["dimension", "model", "label"])
    right = evaluation.summary(confused).set_index(["dimension", "model"])["accuracy"]
    ends, rows = accuracies.set_index(["dimension", "model"]), [averaged[averaged["labels"] == neural.RELEASED][front]]
    for dimension, own in chosen.items():
        for model in (own, evaluation.PRINTED):
            row = {"dimension": dimension, "model": model, "accuracy": right[dimension, model]}
            row |= ends.loc[(dimension, model), ["low", "high"]].to_dict() if model == own else {}
            row |= {"f1": cells.at[(dimension, model, evaluation.AVERAGE), "f1"]}
            row |= {"contradictions": cells["recall"].get((dimension, model, "Contradiction"), np.nan)}
            rows.append(pd.DataFrame([row]))
    return pd.concat(rows, ignore_index=True)[front].sort_values("dimension", ascending=False, kind="stable")


def in_words(both: pd.DataFrame, found: Elsewhere) -> str:
    """Say how many test translations the models that read the encoder label right.

    both: as ``beside`` makes it.

    >>> from evalkit.data.provenance import elsewhere
    >>> row = {"dimension": "adequacy", "accuracy": 0.44, "contradictions": 0.1}
    >>> both = pd.DataFrame([row | {"model": name} for name in MODELS])
    >>> print(in_words(both, elsewhere("minilm_critical_errors")).partition(": ")[2])
    44% in adequacy; with the small model's features as well, 44% in adequacy. Contradictions found: 10% and 10%.
    """
    told = []
    for model in MODELS:
        own = both[both["model"] == model]
        told.append(join_names(f"{row.accuracy:.0%} in {row.dimension}" for row in own.itertuples()))
    hits = both[both["model"].isin(MODELS) & both["dimension"].eq("adequacy")]["contradictions"]
    return (
        f"A pretrained encoder of English, {found.model}, whose weights stay as they are, read by a small network "
        f"(computed elsewhere): {told[0]}; with the small model's features as well, {told[1]}. Contradictions found: "
        f"{join_names(f'{share:.0%}' for share in hits)}."
    )


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and write the results."""
    asked = parser().parse_args(arguments)
    _trained(asked.pairs, asked.scored).write(asked.out)
    print(asked.out)


def parser() -> argparse.ArgumentParser:
    """Describe the command's options."""
    top = argparse.ArgumentParser(prog="python -m evalkit.papers.sudoh2021.frozen", description="Train on its vectors")
    top.add_argument("--pairs", required=True, help="the file that evalkit.neural.similar pairs wrote")
    top.add_argument("--scored", required=True, help="the file that evalkit.neural.minilm --vectors wrote of it")
    top.add_argument("--out", required=True, help="the file to write")
    return top


def _trained(file: str, scored_file: str) -> Elsewhere:
    """Train on scored pairs, and put the results beside all that made them."""
    read = minilm.read_pairs(file)
    scored = minilm.read_scores(scored_file, read)
    if "hypothesis" not in scored:
        raise DataError(f"{Path(scored_file).name} has no vectors. Make it with evalkit.neural.minilm --vectors.")
    settings = {"models": MODELS, "units": UNITS, "penalty": PENALTY, "batch": BATCH, "epochs": EPOCHS}
    tables = {"classifier": results(scored)}
    return minilm.told(COMMANDS, {"sudoh-translations": minilm.mark(read)}, settings, tables)


def _scaled(seen: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Standardise by the known rows, and cut what lies more than five deviations off."""
    from sklearn.preprocessing import StandardScaler

    return np.clip(StandardScaler().fit(seen[known]).transform(seen), -5, 5)


def _known(own: pd.DataFrame, resamples: int) -> dict[str, float]:
    """Measure one model's predictions of the test translations, whose labels are known."""
    ends = evaluation.accuracy(own, resamples=resamples).iloc[0]
    of_label = evaluation.scores(evaluation.confusion(own)).set_index("label")
    found = {name: float(ends[name]) for name in ("accuracy", "low", "high")}
    found["f1"] = float(of_label.at[evaluation.AVERAGE, "f1"])
    if "Contradiction" in of_label.index:
        critical = own["true"].isin(CRITICAL)
        found["contradictions"] = float(of_label.at["Contradiction", "recall"])
        found["critical"] = float(own.loc[critical, "predicted"].isin(CRITICAL).mean())
    return found


if __name__ == "__main__":
    sys.exit(main())
