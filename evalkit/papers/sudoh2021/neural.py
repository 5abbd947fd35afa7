"""Train and apply the neural classifier of Sudoh et al. 2021, in an environment of its own.

    python -m evalkit.papers.sudoh2021.neural examples --labels median --out examples.csv  # in the suite's environment
    python -m evalkit.papers.sudoh2021.neural train --examples examples.csv --out runs/roberta    # in the neural one
    python -m evalkit.papers.sudoh2021.neural score --examples examples.csv --runs runs/roberta --out predictions.csv
    python -m evalkit.papers.sudoh2021.neural tables --predictions predictions.csv               # in either

``requirements-neural.txt`` says how to make that environment. ``train`` tries the paper's grid for each dimension and
goes on where it was stopped. ``predictions.csv`` has the columns of ``classify.predict``, so that whatever judges the
small classifiers judges this one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.neural.commands import in_a_sentence
from evalkit.papers.sudoh2021 import classify, encoder, evaluation
from evalkit.papers.sudoh2021.exchange import COLUMNS, SPLITS, read, read_predictions
from evalkit.papers.sudoh2021.reduction import RULES, reduce
from evalkit.papers.sudoh2021.taxonomy import KEY, TAXONOMIES, categories, named

#: The grids of the paper (section 5.1.2).
BATCH_SIZES = (4, 8, 16)
DROPOUTS = (0.1, 0.3, 0.5, 0.75)
#: What it chose for each dimension: batch size and dropout.
CHOSEN = {"fluency": (4, 0.75), "adequacy": (8, 0.5)}
#: Labels to train on: this name for the released agreed ones, which are the worst of three, or a rule of ``RULES``.
RELEASED = "released"
_DONE = "done.json"


def examples(*, labels: str = RELEASED, plain: bool = False) -> pd.DataFrame:
    """Return the real translations with a label of each dimension: ``COLUMNS``, a row per translation and dimension.

    labels: "released", or the rule that reduces the three annotators' labels, as "median", which is what the paper's
    Tables 9 and 10 follow. plain: bring the texts to one form (those of WMT17 are in lower case and tokenised).
    Caveat: annotator C's labels of WMT17 were never released, so under a rule the split test has no labels;
    ``bounds.middle_of_three`` bounds those of the median.
    """
    from evalkit import data
    from evalkit.data.names import one_form
    from evalkit.data.provenance import stack

    translations = data.load("sudoh-translations")
    if plain:
        translations = translations.assign(
            hypothesis=translations["hypothesis"].map(one_form), reference=translations["reference"].map(one_form)
        )
    if labels == RELEASED:
        own = data.load("sudoh-agreed")
    elif labels in RULES:
        given = stack([data.load("sudoh-labels"), data.load("sudoh-labels-wmt17")])
        own = pd.concat([reduce(given, rule=labels, dimension=name).assign(dimension=name) for name in TAXONOMIES])
    else:
        raise DataError(f"There are no labels {labels!r} here. Choose {RELEASED}, or among {', '.join(RULES)}.")
    parts = [classify.examples(translations, named(own), dimension=d).assign(dimension=d) for d in TAXONOMIES]
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def train(
    rows: pd.DataFrame,
    out: Path,
    *,
    dimensions: Iterable[str] = tuple(TAXONOMIES),
    batch_sizes: Iterable[int] = BATCH_SIZES,
    dropouts: Iterable[float] = DROPOUTS,
    offline: bool = False,
    report=lambda where, measured: None,
    **settings: Any,
) -> pd.DataFrame:
    """Train a model for each dimension, batch size and dropout, or go on with it; return ``cells(out)``.

    rows: as ``read`` gives them; those of the split test are not looked at. settings: the other fields of
    ``encoder.Plan``. Only the model that is best so far keeps its weights, in each dimension.
    """
    dropouts = list(dropouts)
    for dimension in dimensions:
        known, held = parts(rows, dimension)
        for batch_size in batch_sizes:
            for dropout in dropouts:
                plan = encoder.Plan(batch_size=batch_size, dropout=dropout, **settings)
                folder = Path(out) / dimension / f"batch-{batch_size}-dropout-{dropout:g}"
                _cell(known, held, dimension, plan, folder, offline, report)
                _tidy(Path(out), dimension)
    return cells(out)


def parts(rows: pd.DataFrame, dimension: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Part the examples of a dimension into those to train on and those to choose by.

    >>> rows = pd.DataFrame({"dimension": "fluency", "split": ["train", "dev", "test", "train"]})
    >>> [part.index.tolist() for part in parts(rows, "fluency")]
    [[0, 3], [1]]
    """
    own = rows[rows["dimension"] == dimension]
    found = own[own["split"] == "train"], own[own["split"] == "dev"]
    for what, part in zip(("train on (split train)", "choose by (split dev)"), found):
        if part.empty:
            raise DataError(f"There is no example of {dimension} to {what}. Mark some rows so.")
    return found


def cells(out: str | Path) -> pd.DataFrame:
    """List finished models: dimension, batch_size, dropout, epoch (the best), dev_accuracy, dev_loss, folder."""
    found = []
    for path in sorted(Path(out).glob(f"*/*/{_DONE}")):
        done = json.loads(path.read_text(encoding="utf-8"))
        best = next(row for row in done["measured"] if row["epoch"] == done["epoch"])
        found.append(
            {
                "dimension": done["dimension"],
                "batch_size": done["plan"]["batch_size"],
                "dropout": done["plan"]["dropout"],
                "epoch": done["epoch"],
                "dev_accuracy": best["dev_accuracy"],
                "dev_loss": best["dev_loss"],
                "folder": str(path.parent),
            }
        )
    if not found:
        raise DataError(f"{out} has no finished model. Train one first: the command train, with --out {out}.")
    return pd.DataFrame(found)


def chosen(tried: pd.DataFrame) -> pd.DataFrame:
    """Choose the best model of each dimension by its accuracy on development rows; ties: log loss, then smaller values.

    tried: as ``cells`` lists them. Nothing of the split test can matter here, because nothing of it is in ``tried``.

    >>> rows = [("fluency", 4, 0.5, 0.6, 1.0), ("fluency", 8, 0.1, 0.7, 1.2), ("fluency", 8, 0.3, 0.7, 1.1)]
    >>> table = pd.DataFrame(rows, columns=["dimension", "batch_size", "dropout", "dev_accuracy", "dev_loss"])
    >>> chosen(table)[["batch_size", "dropout"]].values.tolist()
    [[8.0, 0.3]]
    """
    order = ["dimension", "dev_accuracy", "dev_loss", "batch_size", "dropout"]
    ranked = tried.sort_values(order, ascending=[True, False, True, True, True])
    return ranked.drop_duplicates("dimension").reset_index(drop=True)


def score(rows: pd.DataFrame, runs: str | Path, *, name: str | None = None) -> pd.DataFrame:
    """Label all rows outside of training by the chosen model of each dimension that the runs have.

    Returns the columns of ``classify.predict``. name: what to call the model; by default after its encoder.
    """
    found = []
    best_of = chosen(cells(runs)).set_index("dimension").to_dict("index")
    for dimension in [name for name in TAXONOMIES if name in best_of]:
        best = best_of[dimension]
        folder = Path(best["folder"])
        plan = _plan(json.loads((folder / _DONE).read_text(encoding="utf-8"))["plan"])
        own = rows[rows["dimension"].eq(dimension) & rows["split"].ne("train")].reset_index(drop=True)
        if own.empty:
            raise DataError(f"No example of {dimension} is outside of training. Mark some as dev or test.")
        chances = encoder.probabilities(folder, own, plan, best["epoch"], len(categories(dimension)))
        base = own[[*KEY, "split", "z", "sentence", "true"]]
        found.append(classify.labelled(base, chances, dimension=dimension, model=name or Path(plan.encoder).name))
    return pd.concat(found, ignore_index=True)


def tables(predictions: pd.DataFrame, *, split: str = "test") -> dict[str, pd.DataFrame]:
    """Make Tables 11 to 14 of predictions: ``confusion``, ``scores`` and ``summary``, each as in ``evaluation``.

    predictions: as ``read_predictions`` or ``classify.predict`` give them; rows without a true label are left out.
    """
    rows = predictions[predictions["split"].eq(split) & predictions["true"].notna()]
    if rows.empty:
        raise DataError(
            f"No prediction of the split {split} has a true label. Write examples with --labels {RELEASED}."
        )
    confused = evaluation.confusion(rows)
    return {"confusion": confused, "scores": evaluation.scores(confused), "summary": evaluation.summary(confused)}


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the commands."""
    asked = parser().parse_args(arguments)
    if asked.command == "examples":
        table = examples(labels=asked.labels, plain=asked.plain)
        table.to_csv(asked.out, index=False)
        print(f"{len(table)} examples in {asked.out}")
    elif asked.command == "train":
        settings = {
            field.name: getattr(asked, field.name)
            for field in fields(encoder.Plan)
            if field.name not in ("batch_size", "dropout")
        }
        tried = train(
            read(asked.examples),
            Path(asked.out),
            dimensions=asked.dimension,
            batch_sizes=asked.batch_size,
            dropouts=asked.dropout,
            offline=asked.offline,
            report=_said,
            **settings,
        )
        print(chosen(tried).drop(columns="folder").to_string(index=False))
    elif asked.command == "score":
        predictions = score(read(asked.examples), asked.runs, name=asked.name)
        predictions.to_csv(asked.out, index=False)
        print(f"{len(predictions)} predictions in {asked.out}")
    else:
        for title, table in tables(read_predictions(asked.predictions), split=asked.split).items():
            print(f"{title}\n{table.to_string(index=False)}\n")


def parser() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    usual = encoder.Plan()
    top = argparse.ArgumentParser(
        prog="python -m evalkit.papers.sudoh2021.neural", description="Train and apply a classifier"
    )
    commands = top.add_subparsers(dest="command", required=True)
    make = commands.add_parser("examples", help="write the labelled translations as a file of examples")
    fit = commands.add_parser(
        "train", help="train a model per dimension and cell of the grid; goes on where it stopped"
    )
    use = commands.add_parser("score", help="label what was not trained on by the model that is best on dev")
    show = commands.add_parser("tables", help="print Tables 11 to 14 of predictions")
    for command in (make, fit, use):
        command.add_argument("--out", required=True, help="the file, or for train the folder, to write")
    for command in (fit, use):
        command.add_argument("--examples", required=True, help="a file that the command examples wrote")
    make.add_argument(
        "--labels", default=RELEASED, help="released, or a rule, as median (see evalkit.papers.sudoh2021.reduction)"
    )
    make.add_argument("--plain", action="store_true", help="bring the texts of all years to one form")
    fit.add_argument("--dimension", nargs="+", choices=tuple(TAXONOMIES), default=list(TAXONOMIES))
    fit.add_argument("--batch-size", nargs="+", type=int, default=list(BATCH_SIZES), help="one, or several to try")
    fit.add_argument("--dropout", nargs="+", type=float, default=list(DROPOUTS), help="of the added layer; or several")
    fit.add_argument("--encoder", default=usual.encoder, help="by path or name on Hugging Face")
    fit.add_argument("--epochs", type=int, default=usual.epochs)
    fit.add_argument("--learning-rate", type=float, default=usual.learning_rate)
    fit.add_argument("--max-length", type=int, default=usual.max_length, help="tokens of both texts together, at most")
    fit.add_argument("--seed", type=int, default=usual.seed)
    fit.add_argument("--offline", action="store_true", help="do not look for the encoder on the network")
    use.add_argument("--runs", required=True, help="the folder that train wrote")
    use.add_argument("--name", help="what to call the model; by default after its encoder")
    show.add_argument("--predictions", required=True, help="a file that the command score wrote")
    show.add_argument("--split", choices=SPLITS[1:], default="test")
    return top


def _cell(
    known: pd.DataFrame, held: pd.DataFrame, dimension: str, plan: encoder.Plan, folder: Path, offline: bool, report
) -> None:
    """Train one cell of the grid unless it is finished."""
    own, done = encoder.mark(known, held, plan), folder / _DONE
    if done.exists():
        if json.loads(done.read_text(encoding="utf-8"))["mark"] != own:
            raise DataError(f"{folder} holds a model by other settings or rows. Give another folder, or delete it.")
        return
    measured = encoder.fit(
        known, held, categories(dimension), plan, folder, offline=offline, report=lambda row: report(folder, row)
    )
    said = {
        "dimension": dimension,
        "epoch": encoder.best_epoch(measured),
        "plan": asdict(plan),
        "mark": own,
        "measured": measured,
    }
    unfinished = done.with_suffix(".part")
    unfinished.write_text(json.dumps(said, indent=1), encoding="utf-8")
    unfinished.replace(done)


def _tidy(out: Path, dimension: str) -> None:
    """Free the space of finished models that were not chosen."""
    tried = cells(out)
    tried = tried[tried["dimension"] == dimension]
    best = chosen(tried)["folder"].item()
    for folder in tried["folder"]:
        encoder.forget(Path(folder), weights=folder != best)


def _plan(said: dict) -> encoder.Plan:
    return encoder.Plan(**{field.name: said[field.name] for field in fields(encoder.Plan)})


def _said(folder: Path, measured: dict) -> None:
    print(
        f"{folder.parent.name}, {folder.name}, epoch {measured['epoch']}: loss {measured['loss']:.4f}, "
        f"dev accuracy {measured['dev_accuracy']:.4f}",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
