"""Fine-tune a pretrained encoder to label translations, so that a stopped training goes on as if it had not stopped.

PyTorch and transformers (``requirements-neural.txt``) are imported where they are used. Nothing is stored as pickle:
weights, the optimizer's state and what was measured lie in safetensors files, moved into place when they are whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.classify import class_weights

#: Translations labelled at once; it does not change what comes out, but for the last bits.
_AT_ONCE = 32
_STATE = "state.safetensors"
_LEAST = 1e-12


@dataclass(frozen=True)
class Plan:
    """What one training is: the paper's settings where it prints any (section 5.1.2), else ours.

    Printed: encoder, learning_rate, epochs, and the grids from which batch_size and dropout (of the added layer; the
    encoder keeps its own) come. Ours: seed, max_length (tokens of both texts, the longer one cut first).
    """

    encoder: str = "roberta-large"
    batch_size: int = 4
    dropout: float = 0.75
    epochs: int = 30
    learning_rate: float = 1e-5
    seed: int = 7
    max_length: int = 512


def fit(
    known: pd.DataFrame,
    held: pd.DataFrame,
    names: list[str],
    plan: Plan,
    folder: Path,
    *,
    offline: bool = False,
    report: Callable[[dict], None] = lambda measured: None,
) -> list[dict]:
    """Train one classifier, or go on with it; return what was measured after each epoch.

    known, held: hypothesis, reference and true (one of ``names``) of the rows to learn from, and of those that choose
    the epoch. folder: gets the weights of the best epoch so far and the state to go on from. report: called after each
    epoch with epoch, loss (mean weighted loss per training row), dev_accuracy and dev_loss (mean log loss).
    On one CPU with the same number of threads a training that was killed at any time ends as one that was not.
    Raises DataError where packages or weights cannot be had, or the folder holds a training by other settings.
    Source: Sudoh et al. 2021, section 5.1.2.  Caveat: the paper does not print how the loss of a batch is averaged
    (here over its rows, "sample-wise"), nor a schedule of the learning rate (here none but Adam's own).
    """
    torch, _ = packages()
    own = mark(known, held, plan)
    measured, kept = _stored(folder / _STATE, own, torch)
    if len(measured) >= plan.epochs:
        return measured
    torch.manual_seed(plan.seed)
    tokenizer, model = _start(plan, len(names), folder, offline)
    adam = torch.optim.Adam(model.parameters(), lr=plan.learning_rate)
    if kept:
        _put_back(kept, model, adam)
    weights = class_weights(known["true"]).reindex(names, fill_value=0.0)
    weights = torch.tensor(weights.to_numpy(), dtype=torch.float32, device=model.place)
    code = {name: number for number, name in enumerate(names)}
    for epoch in range(len(measured) + 1, plan.epochs + 1):
        loss = _epoch(model, adam, tokenizer, known, known["true"].map(code).to_numpy(int), weights, plan, epoch)
        chances = _probabilities(model, tokenizer, held, plan.max_length)
        measured.append({"epoch": epoch, "loss": loss, **quality(chances, held["true"].map(code).to_numpy(int))})
        best = best_epoch(measured)
        if best == epoch:
            _write(folder / _weights(epoch), _tensors(model.state_dict()), {})
        tensors = _tensors(model.state_dict(), "model.") | _moments(adam)
        _write(folder / _STATE, tensors, {"mark": own, "measured": json.dumps(measured)})
        for old in folder.glob("epoch-*.safetensors"):
            if old.name != _weights(best):
                old.unlink()
        report(measured[-1])
    return measured


def best_epoch(measured: list[dict]) -> int:
    """Choose the epoch with the highest accuracy on the development rows; of equal ones, the lowest log loss.

    >>> rows = [(1, 0.5, 1.2), (2, 0.6, 1.1), (3, 0.6, 1.0), (4, 0.4, 0.9)]
    >>> best_epoch([dict(zip(("epoch", "dev_accuracy", "dev_loss"), row)) for row in rows])
    3
    """
    return min(measured, key=lambda row: (-row["dev_accuracy"], row["dev_loss"], row["epoch"]))["epoch"]


def probabilities(folder: Path, rows: pd.DataFrame, plan: Plan, epoch: int, labels: int) -> np.ndarray:
    """Return the probabilities of each label, (rows, labels), by the weights of an epoch; needs no network."""
    torch, transformers = packages()
    from safetensors.torch import load_file

    place = folder / _weights(epoch)
    if not place.is_file():
        raise DataError(f"{folder} has no weights of epoch {epoch}. Train this model again, in another folder.")
    config = transformers.AutoConfig.from_pretrained(folder / "encoder", local_files_only=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "encoder", local_files_only=True)
    model = _classifier(transformers.AutoModel.from_config(config, dtype=torch.float32), labels, plan.dropout, torch)
    model.load_state_dict(load_file(place))
    return _probabilities(model, tokenizer, rows, plan.max_length)


def forget(folder: Path, *, weights: bool) -> None:
    """Delete the state to go on from, and the weights, too, where another model was better: each takes gigabytes."""
    for path in [folder / _STATE, *(folder.glob("epoch-*.safetensors") if weights else ())]:
        path.unlink(missing_ok=True)


def packages():
    """Import PyTorch and transformers, or say how to get them."""
    try:
        import torch
        import transformers
    except ImportError as problem:
        raise DataError(
            f"The neural classifier needs PyTorch and transformers, which cannot be imported ({problem}). "
            "Make the environment that requirements-neural.txt describes, and run this command in it."
        ) from None
    return torch, transformers


def _start(plan: Plan, labels: int, folder: Path, offline: bool):
    """Fetch the encoder, add the layer, and note beside them what is needed to load them again."""
    torch, transformers = packages()
    tokenizers, encoders = transformers.AutoTokenizer, transformers.AutoModel
    try:
        tokenizer = tokenizers.from_pretrained(plan.encoder, local_files_only=offline)
        encoder = encoders.from_pretrained(
            plan.encoder, local_files_only=offline, use_safetensors=True, dtype=torch.float32
        )
    except (OSError, ValueError) as problem:  # what transformers raises for a name, a network or a file that fails
        reason = str(problem).strip().partition("\n")[0].rstrip(".")
        raise DataError(
            f"The encoder {plan.encoder!r} cannot be had ({reason}). Give the path of a folder with its config, "
            "tokenizer and model.safetensors, or its name on Hugging Face where that can be reached."
        ) from None
    (folder / "encoder").mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder / "encoder")
    encoder.config.save_pretrained(folder / "encoder")
    return tokenizer, _classifier(encoder, labels, plan.dropout, torch)


def _classifier(encoder, labels: int, dropout: float, torch):
    """Add one feed-forward layer on the first token's vector; on a GPU where there is one."""
    nn = torch.nn
    head = nn.Sequential(nn.Dropout(dropout), nn.Linear(encoder.config.hidden_size, labels))
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.ModuleDict({"encoder": encoder, "head": head}).to(place)
    model.place = place
    return model


def _logits(model, tokenizer, rows: pd.DataFrame, max_length: int):
    """Read hypothesis and reference as a pair; (rows, labels) before the softmax."""
    texts = [rows[side].tolist() for side in ("hypothesis", "reference")]
    most = min(max_length, tokenizer.model_max_length)
    read = tokenizer(*texts, truncation=True, max_length=most, padding=True, return_tensors="pt").to(model.place)
    return model["head"](model["encoder"](**read).last_hidden_state[:, 0])


def _epoch(model, adam, tokenizer, known: pd.DataFrame, truth: np.ndarray, weights, plan: Plan, number: int) -> float:
    """Go once through the training rows in an order, and with a dropout, that follow from seed and epoch alone."""
    torch, _ = packages()
    order = np.random.default_rng([plan.seed, number])
    torch.manual_seed(int(order.integers(2**31)))
    model.train()
    total = 0.0
    for taken in _batches(order.permutation(len(known)), plan.batch_size):
        codes = torch.tensor(truth[taken], device=model.place)
        each = torch.nn.functional.cross_entropy(
            _logits(model, tokenizer, known.iloc[taken], plan.max_length), codes, reduction="none"
        )
        loss = (weights[codes] * each).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += float(loss.detach()) * len(taken)
    return total / len(known)


def _probabilities(model, tokenizer, rows: pd.DataFrame, max_length: int) -> np.ndarray:
    torch, _ = packages()
    model.eval()
    with torch.no_grad():
        parts = [
            torch.softmax(_logits(model, tokenizer, rows.iloc[taken], max_length).double(), dim=1).cpu().numpy()
            for taken in _batches(np.arange(len(rows)), _AT_ONCE)
        ]
    return np.concatenate(parts)


def _batches(order: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (order[start : start + size] for start in range(0, len(order), size))


def quality(chances: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return dev_accuracy and dev_loss (mean log loss) of probabilities, (rows, labels), of labels by their places.

    >>> quality(np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0, 1]))["dev_accuracy"]
    1.0
    """
    likely = np.maximum(chances[np.arange(len(truth)), truth], _LEAST)
    return {
        "dev_accuracy": float((chances.argmax(axis=1) == truth).mean()),
        "dev_loss": float(-np.log(likely).mean()),
    }


def mark(known: pd.DataFrame, held: pd.DataFrame, plan: Plan) -> str:
    """Tell trainings apart: by their settings, and by the rows to learn from and to choose by."""
    rows = [part[["hypothesis", "reference", "true"]].to_numpy(str).tolist() for part in (known, held)]
    return json.dumps(asdict(plan) | {"rows": hashlib.sha256(json.dumps(rows).encode()).hexdigest()})


def _stored(path: Path, own: str, torch) -> tuple[list[dict], dict]:
    """Read what was measured and kept when training stopped; nothing where it did not begin."""
    from safetensors import safe_open

    if not path.exists():
        return [], {}
    with safe_open(path, framework="pt") as opened:
        said = opened.metadata()
        if said["mark"] != own:
            raise DataError(f"{path.parent} holds a training by other settings or rows. Give another folder.")
        return json.loads(said["measured"]), {name: opened.get_tensor(name) for name in sorted(opened.keys())}


def _moments(adam) -> dict:
    """Name what Adam remembers of each parameter, in the parameters' order."""
    state = adam.state_dict()["state"]
    return _tensors(
        {f"{number}.{name}": value for number, own in state.items() for name, value in own.items()}, "adam."
    )


def _put_back(kept: dict, model, adam) -> None:
    """Set model and optimizer to what was kept."""
    model.load_state_dict({name[6:]: value for name, value in kept.items() if name.startswith("model.")})
    state: dict[int, dict] = {}
    for name, value in kept.items():
        if name.startswith("adam."):
            _, number, what = name.split(".")
            state.setdefault(int(number), {})[what] = value
    adam.load_state_dict(adam.state_dict() | {"state": state})


def _tensors(state: dict, before: str = "") -> dict:
    return {before + name: value.detach().cpu().contiguous().clone() for name, value in state.items()}


def _weights(epoch: int) -> str:
    return f"epoch-{epoch}.safetensors"


def _write(path: Path, tensors: dict, said: dict[str, str]) -> None:
    """Write a file beside its place and move it there, so that a kill leaves the old one or the new one."""
    from safetensors.torch import save_file

    unfinished = path.with_name(f"{path.name}.part")
    save_file(tensors, unfinished, metadata=said)
    os.replace(unfinished, path)
