"""Metrics that need a model: COMET, BLEURT, BERTScore, LaBSE and LASER, each through its own package.

Nothing of these packages is imported before it is asked for. unbabel-comet needs an older numpy than this suite, so a
metric may be computed by the Python of another environment (``requirements-neural.txt``), to which this file talks;
there it needs no package of the suite.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import evalkit
from evalkit import DataError, one_line

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import ArrayLike


class Kind(NamedTuple):
    """A family of metrics: its package, how to install it, the texts it reads and the function that scores.

    setting: what its scores depend on besides the model, for the signature.
    """

    module: str
    distribution: str
    install: str
    reads: tuple[str, ...]
    score: Callable[[str, list[tuple[str, ...]], int], Iterable[float]]
    setting: str = ""


def scores(
    table: pd.DataFrame,
    *,
    metrics: Sequence[str],
    models: Mapping[str, str] | None = None,
    batch: int = 16,
    python: str | None = None,
) -> pd.DataFrame:
    """Add a column per metric to a table of translations, as ``lexical.scores`` does, from models.

    table: ``source``, ``hypothesis``, ``reference`` and (for LASER) ``tgt_lang``, as far as a metric reads them.
    metrics: of ``MODELS``. models: metric -> another checkpoint, by name or path (a file or a folder, then known by its
    content). batch: translations scored at once. A GPU is used where there is one. BERTScore is F1 without rescaling
    and without weights of rare words, from the layer in ``LAYERS``; LaBSE and LASER are cosines of the two sentences'
    vectors.
    python: the Python of the environment that has the packages, by default this one.
    Scores are remembered by texts, checkpoint and package version, so a second run loads no model.
    Raises DataError for an unknown metric, or a package that is not installed, with the command that installs it.
    Source: Rei et al. 2020; Sellam et al. 2020; Zhang et al. 2020; Feng et al. 2022; Artetxe & Schwenk 2019.
    """
    from evalkit.data.indicmt import SHORT
    from evalkit.data.provenance import like
    from evalkit.metrics import lexical
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
        rows = texts(table, kind.reads)
        if "tgt_lang" in kind.reads:  # LASER's tokenizer knows languages by two letters
            rows = [(*both, SHORT.get(language, language)) for *both, language in rows]
        found[name] = lexical.remembered(signatures[name], rows, compute)
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
    except OSError as problem:
        raise DataError(
            f"The model {question['model']!r} cannot be loaded ({one_line(problem)}). "
            "Give the path of a folder with it in models."
        ) from None
    known = f"sha256:{content(place)}" if place.exists() else question["model"]
    signature = "|".join(filter(None, [question["metric"], f"model:{known}", kind.setting]))
    return {"signature": f"{signature}|{kind.distribution}:{version}", "scores": [float(value) for value in found]}


def cosines(ones: ArrayLike, others: ArrayLike) -> np.ndarray:
    """Return the cosine of each row's angle between two tables of vectors: (rows,); NaN where a vector is zero.

    ones, others: (rows, dimensions).

    >>> cosines([[3.0, 4.0], [0.0, 0.0]], [[4.0, 3.0], [1.0, 0.0]])
    array([0.96,  nan])
    """
    import numpy as np

    ones, others = np.asarray(ones, float), np.asarray(others, float)
    lengths = np.linalg.norm(ones, axis=1) * np.linalg.norm(others, axis=1)
    return (ones * others).sum(axis=1) / np.where(lengths > 0, lengths, np.nan)


#: Run this module in another environment, which shall see this package and nothing else of this one's.
_ANSWER = """
import importlib.util, runpy, sys
spec = importlib.util.spec_from_file_location("evalkit", sys.argv[1])
package = sys.modules["evalkit"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
runpy.run_module("evalkit.neural.pretrained", run_name="__main__")
"""


def _asked(python: str, question: Mapping[str, Any]) -> dict[str, Any]:
    """Have another environment's Python answer."""
    command = [python, "-c", _ANSWER, evalkit.__file__]
    try:
        done = subprocess.run(command, input=json.dumps(question), capture_output=True, text=True)
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


def content(place: Path) -> str:
    """Hash a file, or all files of a folder with their names."""
    files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    whole = hashlib.sha256()
    for path in files:
        with path.open("rb") as opened:
            content = hashlib.file_digest(opened, "sha256").hexdigest()
        whole.update(f"{'' if path == place else path.relative_to(place).as_posix()}:{content}\n".encode())
    return whole.hexdigest()


def _comet(model: str, rows: list[tuple[str, ...]], batch: int) -> Iterable[float]:
    """Score with COMET; a checkpoint that reads no reference ignores it."""
    import comet
    import torch

    try:
        path = model if Path(model).exists() else comet.download_model(model)
    except KeyError as problem:  # which it also raises without a network
        raise OSError(problem.args[0]) from None
    samples = [dict(zip(("src", "mt", "ref"), row)) for row in rows]
    scorer = comet.load_from_checkpoint(path)
    return scorer.predict(samples, batch_size=batch, gpus=int(torch.cuda.is_available()), progress_bar=False).scores


def _bleurt(model: str, rows: list[tuple[str, ...]], batch: int) -> Iterable[float]:
    """Score with BLEURT from a folder with its checkpoint."""
    from bleurt.score import BleurtScorer

    if not Path(model).is_dir():
        raise DataError(f"BLEURT's checkpoint {model!r} is no folder here. Download it and give its path in models.")
    hypotheses, references = map(list, zip(*rows))
    return BleurtScorer(model).score(references=references, candidates=hypotheses, batch_size=batch)


def _bertscore(layer: int, model: str, rows: list[tuple[str, ...]], batch: int) -> Iterable[float]:
    """Score with BERTScore's F1 from one layer of a model."""
    from bert_score import BERTScorer

    hypotheses, references = map(list, zip(*rows))
    try:
        scorer = BERTScorer(model_type=model, batch_size=batch, num_layers=layer)
    except AssertionError as problem:
        raise DataError(f"BERTScore cannot take layer {layer} of {model} ({problem}). Give a deeper model.") from None
    return scorer.score(hypotheses, references, batch_size=batch)[2].tolist()


def _sentences(model: str, rows: list[tuple[str, ...]], batch: int) -> Iterable[float]:
    """Score with the cosine of sentence vectors, pooled as the model's own files say."""
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(model)
    return cosines(*(encoder.encode(list(side), batch_size=batch, show_progress_bar=False) for side in zip(*rows)))


def _laser(model: str, rows: list[tuple[str, ...]], batch: int) -> Iterable[float]:
    """Score with the cosine of LASER's sentence vectors, from a folder with its files or the package's own."""
    from laserembeddings import Laser

    files = [str(Path(model) / name) for name in _LASER_FILES] if Path(model).is_dir() else []
    encoder, (hypotheses, references, languages) = Laser(*files), map(list, zip(*rows))
    return cosines(*(encoder.embed_sentences(side, lang=languages) for side in (hypotheses, references)))


#: What laserembeddings downloads: the codes and words of its subword units, and the encoder.
_LASER_FILES = ("93langs.fcodes", "93langs.fvocab", "bilstm.93langs.2018-12-26.pt")
#: The layer that BERTScore reads: four in the notebook of Sai et al. for the two Indian models (cells 46 and 49). It
#: names none for the others (cells 52 and 55), for which bert-score then takes the one that it was tuned to.
LAYERS = {"mBERT": 9, "distilmBERT": 5, "IndicBERT": 4, "MuRIL": 4}
_COMET = Kind("comet", "unbabel-comet", "pip install unbabel-comet", ("source", "hypothesis", "reference"), _comet)
_FROM_GITHUB = "pip install git+https://github.com/google-research/bleurt"
_BLEURT = Kind("bleurt", "BLEURT", _FROM_GITHUB, ("hypothesis", "reference"), _bleurt)
_LABSE = Kind(
    "sentence_transformers",
    "sentence-transformers",
    "pip install sentence-transformers",
    ("hypothesis", "reference"),
    _sentences,
)
_LASER = Kind(
    "laserembeddings", "laserembeddings", "pip install laserembeddings", ("hypothesis", "reference", "tgt_lang"), _laser
)


def _bert(metric: str) -> Kind:
    layer, reads = LAYERS[metric], ("hypothesis", "reference")
    score = partial(_bertscore, layer)
    return Kind("bert_score", "bert-score", "pip install bert-score", reads, score, f"layer:{layer}")


#: metric -> its family and the checkpoint that Sai et al. used, as far as they say which. COMET's of 2020 are on the
#: Hugging Face hub, those of 2021 go by their names in its older store.
MODELS = {
    "COMET-DA": (_COMET, "Unbabel/wmt20-comet-da"),
    "COMET-MQM": (_COMET, "wmt21-comet-mqm"),
    "COMET-QE-DA": (_COMET, "Unbabel/wmt20-comet-qe-da"),
    "COMET-QE-MQM": (_COMET, "wmt21-comet-qe-mqm"),
    "BLEURT-20": (_BLEURT, "BLEURT-20"),
    "mBERT": (_bert("mBERT"), "bert-base-multilingual-cased"),
    "distilmBERT": (_bert("distilmBERT"), "distilbert-base-multilingual-cased"),
    "IndicBERT": (_bert("IndicBERT"), "ai4bharat/indic-bert"),
    "MuRIL": (_bert("MuRIL"), "google/muril-base-cased"),
    "LaBSE": (_LABSE, "sentence-transformers/LaBSE"),
    "LASER": (_LASER, "93langs"),
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
