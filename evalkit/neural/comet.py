"""Train and apply Indic-COMET as Sai et al. 2023 do, in an environment of its own (``requirements-neural.txt``).

    python -m evalkit.neural.comet examples --out examples.csv                        # in the suite's environment
    python -m evalkit.neural.comet train --examples examples.csv --out runs/xlmr     # in the neural one
    python -m evalkit.neural.comet score --examples examples.csv --runs runs/xlmr --out scored.csv

``train`` goes on where it was stopped. ``scored.csv`` has a column comet, by the model of each row's fold, which
``correlation.correlate`` holds against the other metrics. PyTorch and comet are imported where they are used.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.neural import in_a_sentence

#: Table 7 of the paper, in comet's names; pool, layer and the rest as printed there.
TABLE7 = {
    "batch_size": 16,
    "dropout": 0.1,
    "encoder_learning_rate": 1.0e-05,
    "encoder_model": "XLM-RoBERTa",
    "hidden_sizes": [3072, 1536],
    "layer": "mix",
    "layerwise_decay": 0.95,
    "learning_rate": 3.0e-05,
    "nr_frozen_epochs": 1,
    "optimizer": "AdamW",
    "pool": "avg",
}
#: Of these, what a checkpoint brings along itself: it cannot be changed without losing its weights.
ARCHITECTURE = frozenset({"encoder_model", "hidden_sizes", "layer", "pool", "dropout"})
#: Epochs without a better Kendall's τ before training stops (appendix B.2).
PATIENCE = 3
#: The columns of the file of examples; score lies between 0 and 1.
COLUMNS = ("language", "source", "hypothesis", "reference", "score", "sentence", "fold")
_THEIRS = {"source": "src", "hypothesis": "mt", "reference": "ref"}  # our name of a text -> comet's
_DONE = "done.json"


def parts(
    examples: pd.DataFrame, fold: int, *, left_out: str | None = None, select: str = "held_out"
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Part examples into those to train on, to choose the best epoch by, and to test on.

    left_out: a language that is neither trained on nor chosen by, and alone tested (zero-shot). select: "held_out"
    chooses by every tenth English sentence of the other folds; "test" by the tested sentences, as the paper
    does, which flatters the result. Raises DataError where a part is empty.

    >>> table = pd.DataFrame({"language": "hi", "sentence": range(60), "fold": [i % 3 for i in range(60)]})
    >>> [len(part) for part in parts(table, 0)], [len(part) for part in parts(table, 0, select="test")]
    ([36, 4, 20], [40, 20, 20])
    """
    tested = (examples["fold"] == fold) & (True if left_out is None else examples["language"] == left_out)
    others = (examples["fold"] != fold) & (examples["language"] != left_out)
    sentences = sorted(examples.loc[others, "sentence"].unique())
    held = others & examples["sentence"].isin(sentences[::10])  # every tenth chooses the epoch
    known, chosen = (others, tested) if select == "test" else (others & ~held, held)
    for what, rows in (("train on", known), ("choose by", chosen), ("test on", tested)):
        if not rows.any():
            alone = f" of {left_out}" if left_out else ""
            raise DataError(f"Fold {fold} leaves no example{alone} to {what}. Give more sentences or other folds.")
    return examples[known], examples[chosen], examples[tested]


def read(path: str | Path) -> pd.DataFrame:
    """Read a file of examples; DataError where a column, or a score from 0 to 1, is missing."""
    try:
        table = pd.read_csv(path, dtype={"language": str}, keep_default_na=False)
    except FileNotFoundError:
        raise DataError(f"There is no file {Path(path).name}. Write it with the command examples.") from None
    if missing := [name for name in COLUMNS if name not in table]:
        raise DataError(f"{Path(path).name} has no column {', '.join(missing)}. It needs {', '.join(COLUMNS)}.")
    score = pd.to_numeric(table["score"], errors="coerce")
    if (wrong := ~score.between(0, 1)).any():
        line = int(wrong.idxmax()) + 2
        raise DataError(f"{Path(path).name}, line {line}: the score is not between 0 and 1. Correct it, or drop it.")
    return table.assign(score=score)


def indic_examples(*, seed: int = 7, as_shipped: bool = False) -> pd.DataFrame:
    """Return the Indic MQM data as examples: formula scores clipped at 0, over 25, and folds by English sentence.

    as_shipped: leave Hindi's slipped references where they are, as the paper must have had them.
    """
    from evalkit import data
    from evalkit.data.indicmt import SHORT
    from evalkit.metrics.alignment import corrected
    from evalkit.metrics.learned import folds, sentence_groups

    ratings = data.load("indicmt-mqm")
    ratings = ratings if as_shipped else corrected(ratings)
    sentence = sentence_groups(ratings["source"])
    language, score = ratings["tgt_lang"].astype(str).map(SHORT), ratings["score"].clip(lower=0) / 25
    table = ratings.assign(language=language, score=score, sentence=sentence, fold=folds(sentence, seed=seed))
    return table[list(COLUMNS)]


def train(
    examples: pd.DataFrame,
    out: Path,
    fold: int,
    *,
    init: str = "xlmr",
    encoder: str = "xlm-roberta-large",
    left_out: str | None = None,
    select: str = "held_out",
    epochs: int = 10,
    seed: int = 7,
    offline: bool = False,
    **changed: object,
) -> dict:
    """Train one fold's model into the folder ``out``, or go on with it; return what ``done.json`` says.

    init: xlmr (the encoder's published weights), scratch (random ones, for trials), or a checkpoint's path or name.
    changed: other values than Table 7's, by comet's names. The encoder stays frozen for the first epoch, also where
    training goes on after a stop, and each layer below learns slower; the epoch with the highest τ is kept.
    """
    asked = {"fold": fold, "left_out": left_out, "init": init, "select": select}
    if (out / _DONE).exists():
        done = json.loads((out / _DONE).read_text(encoding="utf-8"))
        if {name: done[name] for name in asked} != asked:
            raise DataError(f"{out} holds a model that was trained otherwise. Give another folder, or delete this one.")
        return done
    import shutil

    import pytorch_lightning as lightning
    from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint
    from pytorch_lightning.loggers import CSVLogger

    class Thawed(Callback):
        """Tell comet which epoch it is: it counts from zero after each stop, and would freeze the encoder again."""

        def on_train_start(self, trainer, model):
            model.epoch_nr = trainer.current_epoch
            if model.epoch_nr >= model.nr_frozen_epochs:
                model.unfreeze_encoder()

    out.mkdir(parents=True, exist_ok=True)
    for name, part in zip(("train", "choose", "test"), parts(examples, fold, left_out=left_out, select=select)):
        part.rename(columns=_THEIRS).to_csv(out / f"{name}.csv", index=False)
    lightning.seed_everything(seed, verbose=False)
    files = {"train_data": [str(out / "train.csv")], "validation_data": [str(out / "choose.csv")]}
    model = _started(init, encoder, {**TABLE7, **changed, **files}, offline)
    watched = {"monitor": "val_kendall", "mode": "max"}
    best = ModelCheckpoint(out / "checkpoints", "best", save_last=True, enable_version_counter=False, **watched)
    last = out / "checkpoints" / "last.ckpt"
    trainer = lightning.Trainer(
        max_epochs=epochs,
        accelerator="auto",
        devices=1,
        num_sanity_val_steps=0,
        enable_progress_bar=False,
        callbacks=[best, EarlyStopping(patience=PATIENCE, **watched), Thawed()],
        logger=CSVLogger(out, name="log"),
        log_every_n_steps=1,
    )
    trainer.fit(model, ckpt_path=str(last) if last.exists() else None, weights_only=False)
    shutil.copy(Path(trainer.logger.log_dir) / "hparams.yaml", out)  # where comet's own commands look for it
    done = asked | {"epochs": trainer.current_epoch, "kendall": float(best.best_model_score)}
    done |= {"device": type(trainer.accelerator).__name__, "settings": {name: model.hparams[name] for name in TABLE7}}
    (out / _DONE).write_text(json.dumps(done, indent=1), encoding="utf-8")
    return done


def _started(init: str, encoder: str, settings: dict, offline: bool):
    """Make a model with an encoder's weights, random ones, or those of a checkpoint."""
    from comet.models import RegressionMetric, download_model

    if init in ("xlmr", "scratch"):
        pretrained = {"pretrained_model": encoder, "load_pretrained_weights": init == "xlmr"}
        return RegressionMetric(**settings, **pretrained, local_files_only=offline)
    path = init if Path(init).is_file() else download_model(init, local_files_only=offline)
    kept = {name: value for name, value in settings.items() if name not in ARCHITECTURE}
    return RegressionMetric.load_from_checkpoint(
        path, strict=False, load_pretrained_weights=False, local_files_only=offline, weights_only=False, **kept
    )


def score(examples: pd.DataFrame, checkpoint: Path, *, batch_size: int = 16) -> list[float]:
    """Score translations by a trained model, on a GPU if there is one."""
    import torch
    from comet.models import RegressionMetric

    model = RegressionMetric.load_from_checkpoint(
        checkpoint, load_pretrained_weights=False, map_location="cpu", weights_only=False
    )
    samples = examples[list(_THEIRS)].rename(columns=_THEIRS).to_dict("records")
    return model.predict(samples, batch_size=batch_size, gpus=int(torch.cuda.is_available()), progress_bar=False).scores


def score_folds(examples: pd.DataFrame, runs: Path) -> pd.DataFrame:
    """Score each example by the model of its fold, which was not trained on its sentence; add the column comet."""
    scored = []
    for fold, group in examples.groupby("fold"):
        checkpoint = runs / f"fold-{fold}" / "checkpoints" / "best.ckpt"
        if not checkpoint.exists():
            raise DataError(f"{runs.name} has no model of fold {fold}. Train it first: comet train --fold {fold}.")
        scored.append(group.assign(comet=score(group, checkpoint)))
    return pd.concat(scored).sort_index()


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the commands."""
    asked = vars(_parser().parse_args(arguments))
    command, out = asked.pop("command"), Path(asked.pop("out"))
    if command == "examples":
        made = indic_examples(**asked)
    else:
        examples = read(asked.pop("examples"))
        made = score_folds(examples, Path(asked["runs"])) if command == "score" else None
    if made is not None:
        made.to_csv(out, index=False)
        print(out)
        return
    fold = asked.pop("fold")
    for number in sorted(examples["fold"].unique()) if fold is None else [fold]:
        done = train(examples, out / f"fold-{number}", int(number), **asked)
        print(f"fold {number}: τ {done['kendall']:.3f} on the sentences that chose the epoch")


def _parser() -> argparse.ArgumentParser:
    """Describe the commands and their options."""
    top = argparse.ArgumentParser(prog="python -m evalkit.neural.comet", description="Train and apply Indic-COMET")
    commands = top.add_subparsers(dest="command", required=True)
    make = commands.add_parser("examples", help="write the annotated data as a file of examples")
    fit = commands.add_parser("train", help="train a model per fold; goes on where it was stopped")
    use = commands.add_parser("score", help="score examples by the models of their folds")
    for command in (make, fit, use):
        command.add_argument("--out", required=True, help="the file, or for train the folder, to write")
        if command is not make:
            command.add_argument("--examples", required=True, help="a file that the command examples wrote")
        if command is not use:
            command.add_argument("--seed", type=int, default=7)
    make.add_argument("--as-shipped", action="store_true", help="do not repair Hindi's slipped references")
    use.add_argument("--runs", required=True, help="the folder that train wrote")
    fit.add_argument("--init", default="xlmr", help="xlmr, scratch, or a COMET checkpoint by path or name")
    fit.add_argument("--encoder", default="xlm-roberta-large", help="the encoder, by path or name")
    fit.add_argument("--fold", type=int, help="one fold instead of all")
    fit.add_argument("--left-out", help="zero-shot: a language that is tested and not trained on")
    fit.add_argument("--select", choices=("held_out", "test"), default="held_out", help="what chooses the best epoch")
    fit.add_argument("--epochs", type=int, default=10, help="at most")
    return top


if __name__ == "__main__":
    sys.exit(main())
