"""Metrics that need a model: COMET, BLEURT and BERTScore, each through its own package.

Nothing of these packages is imported before it is asked for. unbabel-comet needs an older numpy than this suite, so a
metric may be computed by the Python of another environment (``requirements-neural.txt``), to which this file talks
through ``python -m evalkit.metrics.neural``; there it needs no package of the suite.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalkit import ROOT, DataError
from evalkit.provenance import like

if TYPE_CHECKING:
    import pandas as pd


class Kind(NamedTuple):
    """A family of metrics: its package, how to install it, the texts it reads and the function that scores."""

    module: str
    distribution: str
    install: str
    reads: tuple[str, ...]
    score: Callable[[str, list[tuple[str, ...]], int], Sequence[float]]


def scores(
    table: pd.DataFrame,
    *,
    metrics: Sequence[str],
    models: Mapping[str, str] | None = None,
    batch: int = 16,
    python: str | None = None,
) -> pd.DataFrame:
    """Add a column per metric to a table of translations, as ``lexical.scores`` does, from models.

    table: ``source``, ``hypothesis`` and ``reference``, as far as a metric reads them. metrics: of ``MODELS``. models:
    metric -> another checkpoint, by name or path (a file or a folder, then known by its content).
    batch: translations scored at once. A GPU is used where there is one. BERTScore is F1 without rescaling.
    python: the Python of the environment that has the packages, by default this one.
    Scores are remembered by texts, checkpoint and package version, so a second run loads no model.
    Raises DataError for an unknown metric, or a package that is not installed, with the command that installs it.
    Source: Rei et al. 2020; Sellam et al. 2020; Zhang et al. 2020.
    """
    from evalkit.metrics import store
    from evalkit.metrics.lexical import texts

    for name in metrics:
        if name not in MODELS:
            raise DataError(f"There is no metric {name!r} here. Choose among {', '.join(MODELS)}.")
    ask = answer if python is None else partial(_asked, python)
    found, signatures = {}, {}
    for name in metrics:
        kind, usual = MODELS[name]
        model = (models or {}).get(name, usual)
        question = {"metric": name, "model": model, "batch": batch}
        signatures[name] = ask({**question, "rows": []})["signature"]
        compute = partial(_computed, ask, question)
        found[name] = store.remembered(signatures[name], texts(table, kind.reads), compute)
    scored = table.assign(**found)
    return like(scored, table, signatures=table.attrs.get("signatures", {}) | signatures)


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Score rows of texts with one metric: ``signature`` and ``scores``; without rows no package is imported.

    question: metric, model, batch, rows. The signature names metric, checkpoint (a path by its content) and version.
    """
    kind, _ = MODELS[question["metric"]]
    place, rows = Path(question["model"]), [tuple(row) for row in question["rows"]]
    try:
        if util.find_spec(kind.module) is None:
            raise ModuleNotFoundError(f"No module named {kind.module!r}")
        version = metadata.version(kind.distribution)
        found = kind.score(question["model"], rows, question["batch"]) if rows else []
    except ImportError as problem:
        raise DataError(
            f"This metric needs the package {kind.distribution}, which cannot be imported ({problem}). "
            f"Install it, best into an environment of its own (give its Python in python), with: {kind.install}"
        ) from None
    known = f"sha256:{_content(place)}" if place.exists() else question["model"]
    signature = f"{question['metric']}|model:{known}|{kind.distribution}:{version}"
    return {"signature": signature, "scores": [float(value) for value in found]}


def _asked(python: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """Have another environment's Python answer."""
    command = [python, "-m", "evalkit.metrics.neural"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            command, input=json.dumps(question), capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
        )
    except OSError as problem:
        raise DataError(f"{python} cannot be started ({problem.strerror}). Give the path of a Python.") from None
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise DataError(f"{python} gave no scores: {last}. Try the metric there by itself.") from None
    if "problem" in reply:
        raise DataError(reply["problem"])
    return reply


def _computed(
    ask: Callable[[Mapping[str, Any]], dict[str, Any]], question: Mapping[str, Any], rows: list[tuple[str, ...]]
) -> list[float]:
    found = ask({**question, "rows": rows})["scores"]
    if len(found) != len(rows):
        name = MODELS[question["metric"]][0].distribution
        raise DataError(f"{name} returned {len(found)} scores for {len(rows)} translations. Update it.")
    return found


def _content(place: Path) -> str:
    """Hash a file, or all files of a folder with their names."""
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        whole.update(f"{'' if path == place else path.relative_to(place).as_posix()}:{content}\n".encode())
    return whole.hexdigest()


def _comet(model: str, rows: list[tuple[str, ...]], batch: int) -> Sequence[float]:
    """Score with COMET; a checkpoint that reads no reference ignores it."""
    import comet
    import torch

    path = model if Path(model).exists() else comet.download_model(model)
    samples = [dict(zip(("src", "mt", "ref"), row)) for row in rows]
    scorer = comet.load_from_checkpoint(path)
    return scorer.predict(samples, batch_size=batch, gpus=int(torch.cuda.is_available()), progress_bar=False).scores


def _bleurt(model: str, rows: list[tuple[str, ...]], batch: int) -> Sequence[float]:
    """Score with BLEURT from a folder with its checkpoint."""
    from bleurt.score import BleurtScorer

    if not Path(model).is_dir():
        raise DataError(f"BLEURT's checkpoint {model!r} is no folder here. Download it and give its path in models.")
    hypotheses, references = map(list, zip(*rows))
    return BleurtScorer(model).score(references=references, candidates=hypotheses, batch_size=batch)


def _bertscore(model: str, rows: list[tuple[str, ...]], batch: int) -> Sequence[float]:
    """Score with BERTScore's F1, from the last but three layers where the package knows no better for a model."""
    from bert_score import BERTScorer
    from bert_score.utils import model2layers

    layers = {} if model in model2layers else {"num_layers": _layers(model)}
    hypotheses, references = map(list, zip(*rows))
    scorer = BERTScorer(model_type=model, batch_size=batch, **layers)
    return scorer.score(hypotheses, references, batch_size=batch)[2].tolist()


def _layers(model: str) -> int:
    """Choose a layer for a model that BERTScore was not tuned on: three quarters up, as its authors found for BERT."""
    from transformers import AutoConfig

    return max(1, round(AutoConfig.from_pretrained(model).num_hidden_layers * 0.75))


_COMET = Kind("comet", "unbabel-comet", "pip install unbabel-comet", ("source", "hypothesis", "reference"), _comet)
_FROM_GITHUB = "pip install git+https://github.com/google-research/bleurt"
_BLEURT = Kind("bleurt", "BLEURT", _FROM_GITHUB, ("hypothesis", "reference"), _bleurt)
_BERT = Kind("bert_score", "bert-score", "pip install bert-score", ("hypothesis", "reference"), _bertscore)

#: metric -> its family and the checkpoint that Sai et al. used, as far as they say which.
MODELS = {
    "COMET-DA": (_COMET, "Unbabel/wmt20-comet-da"),
    "COMET-MQM": (_COMET, "Unbabel/wmt21-comet-mqm"),
    "COMET-QE-DA": (_COMET, "Unbabel/wmt20-comet-qe-da"),
    "COMET-QE-MQM": (_COMET, "Unbabel/wmt21-comet-qe-mqm"),
    "BLEURT-20": (_BLEURT, "BLEURT-20"),
    "mBERT": (_BERT, "bert-base-multilingual-cased"),
    "distilmBERT": (_BERT, "distilbert-base-multilingual-cased"),
    "IndicBERT": (_BERT, "ai4bharat/indic-bert"),
    "MuRIL": (_BERT, "google/muril-base-cased"),
}


def main() -> None:
    """Answer the question on standard input, on standard output; what packages print goes to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        try:
            reply = answer(json.load(sys.stdin))
        except DataError as problem:
            reply = {"problem": str(problem)}
    print(json.dumps(reply))


if __name__ == "__main__":
    main()
