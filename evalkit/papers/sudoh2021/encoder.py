"""Fine-tune RoBERTa to label translations, as Sudoh et al. 2021 did, by transformers' Trainer on the paper's grid.

    .venv-neural/bin/python -m evalkit.papers.sudoh2021.encoder --out runs/roberta --labels median

``requirements-neural.txt`` says how to make that environment. The command loads the real data, trains a model for each
dimension, batch size and dropout, goes on where it was stopped, and prints Tables 11 to 14 of the models that are best
on the development translations. In their folders, ``model`` is transformers' own:
``transformers.pipeline("text-classification", "FOLDER/model")({"text": hypothesis, "text_pair": reference})`` labels
other translations.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.neural import in_a_sentence
from evalkit.papers.sudoh2021 import classification
from evalkit.papers.sudoh2021.labels import KEY, TAXONOMIES, categories, named
from evalkit.papers.sudoh2021.reduction import RULES, reduce
from evalkit.stats.terms import join_names

#: The grids of the paper (section 5.1.2), and what it chose for each dimension: batch size and dropout.
BATCH_SIZES = (4, 8, 16)
DROPOUTS = (0.1, 0.3, 0.5, 0.75)
CHOSEN = {"fluency": (4, 0.75), "adequacy": (8, 0.5)}
#: Labels to train on: this name for the released agreed ones, which are the worst of three, or a rule of ``RULES``.
RELEASED = "released"
_PREDICTIONS = "predictions.csv"


@dataclass(frozen=True)
class Plan:
    """What one training is: printed are encoder, epochs and learning_rate; ours seed and max_length, in tokens."""

    encoder: str = "roberta-large"
    epochs: int = 30
    learning_rate: float = 1e-5
    seed: int = 7
    max_length: int = 512


def examples(*, labels: str = RELEASED) -> pd.DataFrame:
    """Return the real translations with a label of each dimension: ``classification.examples``, with dimension.

    labels: "released", or the rule that reduces the three annotators' labels, as "median", which is what the paper's
    Tables 9 and 10 follow.
    Caveat: annotator C's labels of WMT17 were never released, so under a rule the split test has no labels.
    """
    from evalkit import data

    translations = data.load("sudoh-translations")
    if labels == RELEASED:
        own = data.load("sudoh-agreed")
    elif labels in RULES:
        given = pd.concat([data.load("sudoh-labels"), data.load("sudoh-labels-wmt17")])
        own = pd.concat([reduce(given, rule=labels, dimension=name).assign(dimension=name) for name in TAXONOMIES])
    else:
        raise DataError(f"There are no labels {labels!r} here. Choose {RELEASED}, or among {', '.join(RULES)}.")
    parts = {name: classification.examples(translations, named(own), dimension=name) for name in TAXONOMIES}
    return pd.concat(parts, names=["dimension"]).reset_index("dimension").reset_index(drop=True)


def train(
    rows: pd.DataFrame,
    out: Path,
    plan: Plan,
    *,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    dropouts: Sequence[float] = DROPOUTS,
) -> pd.DataFrame:
    """Train a model for each dimension, batch size and dropout, or go on with it; return ``tried(out)``.

    rows: as ``examples`` gives them; of the split test only the texts are read. Only the model that is best so far
    keeps its weights, in each dimension. Raises DataError where ``out`` holds models of another plan.
    """
    out.mkdir(parents=True, exist_ok=True)
    noted, mine = out / "plan.json", json.dumps(asdict(plan))
    if noted.exists() and noted.read_text(encoding="utf-8") != mine:
        raise DataError(f"{out} holds models by other settings. Give another folder, or delete it.")
    noted.write_text(mine, encoding="utf-8")
    for dimension, own in rows.groupby("dimension", sort=False):
        for batch_size in batch_sizes:
            for dropout in dropouts:
                folder = out / str(dimension) / f"batch-{batch_size}-dropout-{dropout:g}"
                if not (folder / _PREDICTIONS).exists():
                    _train_one(own, folder, plan, batch_size, dropout)
                    _keep_best(out)
    return tried(out)


def tried(out: Path) -> pd.DataFrame:
    """List finished models: dimension, folder, dev_accuracy; the best of each dimension first, of equals by name."""
    found = []
    for path in sorted(out.glob(f"*/*/{_PREDICTIONS}")):
        dev = _read(path.parent).query("split == 'dev'")
        found.append((path.parts[-3], str(path.parent), dev["true"].eq(dev["predicted"]).mean()))
    table = pd.DataFrame(found, columns=["dimension", "folder", "dev_accuracy"])
    return table.sort_values(["dimension", "dev_accuracy"], ascending=[False, False], kind="stable", ignore_index=True)


def predictions(out: Path) -> pd.DataFrame:
    """Return how the model that is best on dev labels what it did not train on, in the columns of ``predict``."""
    best = tried(out).drop_duplicates("dimension")
    return pd.concat([_read(Path(folder)) for folder in best["folder"]], ignore_index=True)


def _read(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / _PREDICTIONS, dtype={"segment": "str"})


def _train_one(rows: pd.DataFrame, folder: Path, plan: Plan, batch_size: int, dropout: float) -> None:
    """Train one cell of the grid, save the model of its best epoch, and label all rows outside of training.

    Source: Sudoh et al. 2021, section 5.1.2. Caveat: the paper does not print how the loss of a batch is averaged (here
    over its rows, "sample-wise") nor a schedule of the learning rate (here none but Adam's own), and its added layer is
    here the one that transformers adds.
    """
    import transformers

    dimension = rows["dimension"].iloc[0]
    names, parts = categories(dimension), dict(iter(rows.groupby("split")))
    if not {"train", "dev"} <= set(parts):
        raise DataError(f"{dimension} needs translations to train on and to choose by. Mark some as train and dev.")
    transformers.set_seed(plan.seed)  # the new layer is drawn before the trainer sets it
    tokenizer, model = _start(plan, names, dropout)

    def encoded(part: pd.DataFrame) -> list[dict]:
        texts = part["hypothesis"].tolist(), part["reference"].tolist()
        most = min(plan.max_length, tokenizer.model_max_length)
        read = tokenizer(*texts, truncation=True, max_length=most)["input_ids"]
        known = part["true"].map(names.index, na_action="ignore").fillna(0).astype(int)
        return [{"input_ids": ids, "labels": label} for ids, label in zip(read, known)]

    trainer = transformers.Trainer(
        model=model,
        args=_arguments(plan, folder, batch_size),
        processing_class=tokenizer,
        compute_loss_func=_weighted_loss(classification.class_weights(parts["train"]["true"]), names),
        compute_metrics=lambda said: {"accuracy": float((said.predictions.argmax(1) == said.label_ids).mean())},
        train_dataset=encoded(parts["train"]),
        eval_dataset=encoded(parts["dev"]),
    )
    stopped = transformers.trainer_utils.get_last_checkpoint(folder / "checkpoints") if folder.exists() else None
    trainer.train(resume_from_checkpoint=stopped)
    others = rows[rows["split"] != "train"]
    codes = trainer.predict(encoded(others)).predictions.argmax(axis=1)
    table = others[[*KEY, "split", "z", "sentence", "true", "dimension"]]
    trainer.save_model(str(folder / "model"))
    shutil.rmtree(folder / "checkpoints")
    table = table.assign(model=Path(plan.encoder).name, predicted=np.array(names)[codes])
    table.to_csv(folder / _PREDICTIONS, index=False)


def _arguments(plan: Plan, folder: Path, batch_size: int):
    """Set the training up: Adam without a schedule, and after each epoch the accuracy on development rows."""
    import transformers

    return transformers.TrainingArguments(
        output_dir=str(folder / "checkpoints"),
        num_train_epochs=plan.epochs,
        learning_rate=plan.learning_rate,
        lr_scheduler_type="constant",
        per_device_train_batch_size=batch_size,
        max_grad_norm=0,
        seed=plan.seed,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        report_to="none",
    )


def _weighted_loss(weights: pd.Series, names: list[str]):
    """Make the loss of a batch: the mean over its rows of cross-entropy times the label's weight."""
    import torch

    of_label = torch.tensor(weights.reindex(names, fill_value=0.0).to_numpy(), dtype=torch.float32)

    def loss(outputs, labels, num_items_in_batch=None):
        each = torch.nn.functional.cross_entropy(outputs.logits, labels, reduction="none")
        return (of_label.to(each.device)[labels] * each).mean()

    return loss


def _start(plan: Plan, names: list[str], dropout: float):
    """Load the tokenizer, and the encoder with a new layer on the first token's vector."""
    import transformers

    labels = {"id2label": dict(enumerate(names)), "label2id": {name: code for code, name in enumerate(names)}}
    options = labels | {"classifier_dropout": dropout, "use_safetensors": True}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(plan.encoder)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(plan.encoder, **options)
    except (OSError, ValueError) as problem:  # what transformers raises for a name, a network or a file that fails
        reason = str(problem).strip().partition("\n")[0].rstrip(".")
        raise DataError(
            f"The encoder {plan.encoder!r} cannot be had ({reason}). Give the path of a folder with its config, "
            "tokenizer and model.safetensors, or its name on Hugging Face where that can be reached."
        ) from None
    return tokenizer, model


def _keep_best(out: Path) -> None:
    """Delete the weights of finished models that are not the best of their dimension: each takes gigabytes."""
    table = tried(out)
    for folder in table.loc[table.duplicated("dimension"), "folder"]:
        shutil.rmtree(Path(folder) / "model", ignore_errors=True)


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Train the grid, write the predictions of the best models, and print the tables of the paper."""
    usual = Plan()
    parser = argparse.ArgumentParser(prog="python -m evalkit.papers.sudoh2021.encoder", description=main.__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write; what is finished there is kept")
    parser.add_argument("--labels", default=RELEASED, help="released, or a rule, as median")
    parser.add_argument("--dimension", nargs="+", choices=tuple(TAXONOMIES), default=list(TAXONOMIES))
    parser.add_argument("--batch-size", nargs="+", type=int, default=BATCH_SIZES, help="one, or several to try")
    parser.add_argument("--dropout", nargs="+", type=float, default=DROPOUTS, help="of the added layer; or several")
    for name, value in asdict(usual).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    asked = parser.parse_args(arguments)
    if lacking := [name for name in ("torch", "transformers", "accelerate") if not find_spec(name)]:
        raise DataError(
            f"The neural classifier needs {join_names(lacking)} (PyTorch, transformers' Trainer). Make the environment "
            "that requirements-neural.txt describes, and run this command in it."
        )
    rows = examples(labels=asked.labels)
    plan = Plan(**{name: getattr(asked, name) for name in asdict(usual)})
    rows = rows[rows["dimension"].isin(asked.dimension)]
    print(train(rows, asked.out, plan, batch_sizes=asked.batch_size, dropouts=asked.dropout).to_string(index=False))
    found = predictions(asked.out)
    found.to_csv(asked.out / _PREDICTIONS, index=False)
    known = found[found["true"].notna()]
    for split, part in known.groupby("split"):
        confused = classification.confusion(part)
        for table in (confused, classification.scores(confused), classification.summary(confused)):
            print(f"\n{split}\n{table.to_string(index=False)}")


if __name__ == "__main__":
    sys.exit(main())
