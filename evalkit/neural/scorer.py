"""Metrics that need a model or word vectors: COMET, BLEURT, BERTScore, LaBSE, LASER; averages, extrema, matching.

Models are scored through their own packages, of which nothing is imported before it is asked for. unbabel-comet needs
an older numpy than this suite, so a metric may be computed by the Python of another environment
(``requirements-neural.txt``), to which this file talks; there it needs no package of the suite. Embedding averages
(EA), vector extrema (VE) and greedy matching (GM) are computed here from files of word vectors that you give.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import evalkit
from evalkit import DataError, one_line

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

#: Metrics of word vectors.
VECTORS = ("EA", "VE", "GM")
_PAIR = ("hypothesis", "reference")


class Kind(NamedTuple):
    """A family of metrics: the function that scores, its package, how to install it, and the texts it reads.

    setting: what its scores depend on besides the model, for the signature.
    """

    score: Callable[[str, list[tuple[str, ...]], int], Iterable[float]]
    module: str
    distribution: str
    reads: tuple[str, ...] = _PAIR
    install: str = ""
    setting: str = ""


def scores(
    table: pd.DataFrame,
    *,
    models: Sequence[str] | Mapping[str, str] = (),
    vectors: Mapping[str, str | Path] | None = None,
    batch: int = 16,
    python: str | None = None,
) -> pd.DataFrame:
    """Add a column per metric to a table of translations, as ``lexical.scores`` does, from models and word vectors.

    table: ``hypothesis`` and ``reference``, and as far as a metric reads them ``source`` and ``tgt_lang``. models:
    metrics of ``MODELS``; or metric -> another checkpoint, by name or path (a file or a folder, then known by its
    content). BERTScore is F1 without rescaling and without weights of rare words, from the layer in ``LAYERS``; LaBSE
    and LASER are cosines of the two sentences' vectors. vectors: a language of the table -> its file (``read``), for
    the metrics in ``VECTORS``; other languages get NaN. Words are parted by sacreBLEU's "intl", and one without a
    vector gets the mean of all, as in nlg-eval: our choice, since how the authors of IndicMT did it is not released.
    batch: translations scored at once. A GPU is used where there is one. python: the Python of the environment that has
    the packages, by default this one. Scores are remembered by texts, checkpoint and package version, so a second run
    loads nothing.
    Raises DataError for an unknown metric or language, a missing file, or a package that is not installed, with the
    command that installs it.
    Source: Rei et al. 2020; Sellam et al. 2020; Zhang et al. 2020; Feng et al. 2022; Artetxe & Schwenk 2019.
    """
    from evalkit.data.provenance import like

    asked = dict(models) if isinstance(models, Mapping) else dict.fromkeys(models, "")
    languages = sorted(set(table["tgt_lang"])) if vectors else []
    for known, names in ((MODELS, asked), (languages, vectors or {})):
        if strange := [each for each in names if each not in known]:
            raise DataError(f"There is no {strange[0]!r} here. Choose among {', '.join(known)}.")
    scored, signatures = _of_vectors(table, vectors) if vectors else (table, {})
    ask = answer if python is None else partial(_asked, python)
    for name, model in asked.items():
        values, signatures[name] = _of_model(table, name, model or MODELS[name][1], ask, batch)
        scored = scored.assign(**{name: values})
    return like(scored, table, signatures=table.attrs.get("signatures", {}) | signatures)


def _of_model(
    table: pd.DataFrame, name: str, model: str, ask: Callable[[Mapping[str, Any]], dict[str, Any]], batch: int
) -> tuple[np.ndarray, str]:
    """Score translations by one model: the scores, and their signature."""
    from evalkit.data.indicmt import SHORT
    from evalkit.metrics import lexical

    kind, _ = MODELS[name]
    question = {"metric": name, "model": model, "batch": batch}
    rows = lexical.texts(table, kind.reads)
    if "tgt_lang" in kind.reads:  # LASER's tokenizer knows languages by two letters
        rows = [(*both, SHORT.get(language, language)) for *both, language in rows]

    def compute(some: list[tuple[str, ...]]) -> list[float]:
        return ask({**question, "rows": some})["scores"]

    signature = ask({**question, "rows": []})["signature"]
    return lexical.remembered(signature, rows, compute), signature


def answer(question: Mapping[str, Any]) -> dict[str, Any]:
    """Score rows of texts with one metric: ``signature`` and ``scores``; without rows no package is imported.

    question: metric, model, batch, rows. The signature names metric, checkpoint (a path by its content) and version.
    """
    (kind, _), model = MODELS[question["metric"]], question["model"]
    rows = [tuple(row) for row in question["rows"]]
    try:
        if util.find_spec(kind.module) is None:
            raise ModuleNotFoundError(f"No module named {kind.module!r}")
        version = metadata.version(kind.distribution)
        found = kind.score(model, rows, question["batch"]) if rows else []
    except ImportError as problem:
        raise DataError(
            f"This metric needs the package {kind.distribution}, which cannot be imported ({problem}). "
            f"Install it, best into an environment of its own (give its Python in python), with: "
            f"{kind.install or f'pip install {kind.distribution}'}"
        ) from None
    except OSError as problem:
        told = f"The model {model!r} cannot be loaded ({one_line(problem)})"
        raise DataError(f"{told}. Give the path of a folder with it in models.") from None
    known = f"sha256:{content(Path(model))}" if Path(model).exists() else model
    signature = "|".join(filter(None, [question["metric"], f"model:{known}", kind.setting]))
    return {"signature": f"{signature}|{kind.distribution}:{version}", "scores": [float(value) for value in found]}


def cosines(ones: ArrayLike, others: ArrayLike) -> np.ndarray:
    """Return the cosine of each row's angle between two tables of vectors: (rows,); NaN where a vector is zero.

    ones, others: (rows, dimensions).

    >>> cosines([[3.0, 4.0], [0.0, 0.0]], [[4.0, 3.0], [1.0, 0.0]])
    array([0.96,  nan])
    """
    ones, others = np.asarray(ones, float), np.asarray(others, float)
    lengths = np.linalg.norm(ones, axis=1) * np.linalg.norm(others, axis=1)
    return (ones * others).sum(axis=1) / np.where(lengths > 0, lengths, np.nan)


#: Run this module in another environment, which shall see this package and nothing else of this one's.
_ANSWER = """
import importlib.util, runpy, sys
spec = importlib.util.spec_from_file_location("evalkit", sys.argv[1])
package = sys.modules["evalkit"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
runpy.run_module("evalkit.neural.scorer", run_name="__main__")
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


def _bert(layer: int) -> Kind:
    return Kind(partial(_bertscore, layer), "bert_score", "bert-score", setting=f"layer:{layer}")


_COMET = Kind(_comet, "comet", "unbabel-comet", ("source", *_PAIR))
_BLEURT = Kind(_bleurt, "bleurt", "BLEURT", install="pip install git+https://github.com/google-research/bleurt")
_SENTENCES = Kind(_sentences, "sentence_transformers", "sentence-transformers")
_MINILM = "sentence-transformers/all-MiniLM-L6-v2"
#: metric -> its family and the checkpoint that Sai et al. used, as far as they say which. COMET's of 2020 are on the
#: Hugging Face hub, those of 2021 go by their names in its older store. MiniLM is a small encoder of English.
MODELS = {
    "COMET-DA": (_COMET, "Unbabel/wmt20-comet-da"),
    "COMET-MQM": (_COMET, "wmt21-comet-mqm"),
    "COMET-QE-DA": (_COMET, "Unbabel/wmt20-comet-qe-da"),
    "COMET-QE-MQM": (_COMET, "wmt21-comet-qe-mqm"),
    "BLEURT-20": (_BLEURT, "BLEURT-20"),
    "mBERT": (_bert(LAYERS["mBERT"]), "bert-base-multilingual-cased"),
    "distilmBERT": (_bert(LAYERS["distilmBERT"]), "distilbert-base-multilingual-cased"),
    "IndicBERT": (_bert(LAYERS["IndicBERT"]), "ai4bharat/indic-bert"),
    "MuRIL": (_bert(LAYERS["MuRIL"]), "google/muril-base-cased"),
    "LaBSE": (_SENTENCES, "sentence-transformers/LaBSE"),
    "LASER": (Kind(_laser, "laserembeddings", "laserembeddings", (*_PAIR, "tgt_lang")), "93langs"),
    "MiniLM cosine": (_SENTENCES, _MINILM),
} | {f"MiniLM layer {layer}": (_bert(layer), _MINILM) for layer in range(1, 7)}


def embedding_average(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return EA: the cosine of the two texts' mean word vectors.

    hypothesis, reference: (words, dimensions). NaN where a text has no word or its vectors add up to nothing.
    Source: Landauer & Dumais 1997, as in nlg-eval (Sharma et al. 2017).

    >>> round(embedding_average(np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]])), 3)  # 45 degrees apart
    0.707
    """
    return _of_texts(lambda words: words.sum(axis=0), hypothesis, reference)


def vector_extrema(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return VE: the cosine of two vectors that hold, for each dimension, the value of a text farthest from zero.

    hypothesis, reference: (words, dimensions). Where a highest and a lowest value are equally far, the lowest counts.
    NaN where a text has no word or its vectors are zero. Source: Forgues et al. 2014.

    >>> round(vector_extrema(np.array([[1.0, -3], [2, 1]]), np.array([[2.0, 3]])), 3)  # (2, -3) and (2, 3)
    -0.385
    """
    return _of_texts(_extrema, hypothesis, reference)


def greedy_matching(hypothesis: np.ndarray, reference: np.ndarray) -> float:
    """Return GM: how near, by cosine, each word's nearest word in the other text is; the mean of the two directions.

    hypothesis, reference: (words, dimensions). A vector of zeros has cosine 0 with everything. NaN where a text has no
    word. Source: Rus & Lintean 2012.

    >>> greedy_matching(np.array([[1.0, 0], [0, 1]]), np.array([[1.0, 0]]))  # (1 + 0) / 2 one way, 1 the other
    0.75
    """
    if not len(hypothesis) or not len(reference):
        return np.nan
    lengths = [np.linalg.norm(words, axis=1, keepdims=True) for words in (hypothesis, reference)]
    ones, others = (words / np.where(size > 0, size, 1) for words, size in zip((hypothesis, reference), lengths))
    near = ones @ others.T
    return float((near.max(axis=0).mean() + near.max(axis=1).mean()) / 2)


def _of_texts(summary: Callable[[np.ndarray], np.ndarray], *texts: np.ndarray) -> float:
    """Return the cosine of what two texts' vectors come to; NaN where a text has no word."""
    return float(cosines(*([summary(words)] for words in texts))[0]) if all(map(len, texts)) else np.nan


def _extrema(vectors: np.ndarray) -> np.ndarray:
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    return np.where(high > -low, high, low)


def read(path: str | Path, *, words: Collection[str] | None = None) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Read word vectors in fastText's text format (.vec, .vec.gz): those of ``words``, and the mean of all.

    A first line with the numbers of words and dimensions, then a word and its numbers in each line, parted by single
    blanks; of a word that comes twice the first, more frequent, counts. words: by default all. A model in fastText's
    binary format also composes vectors of unseen words; that is not read here.
    Raises DataError, naming the line, where a file is not like that.
    """
    known: dict[str, np.ndarray] = {}
    total, count = np.zeros(1), 0
    for word, vector in _lines(Path(path)):
        total, count = total + vector, count + 1
        if words is None or word in words:
            known.setdefault(word, vector)
    return known, total / count


def _lines(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Go through a file's words and vectors."""
    number = 1
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8", newline="\n") as file:
            count, dimensions = map(int, file.readline().split())
            for line in file:
                number += 1
                word, *values = line.rstrip(" \r\n").rsplit(" ", dimensions)
                vector = np.array(values, float)
                if not (word and line.endswith("\n") and len(vector) == dimensions and np.isfinite(vector).all()):
                    raise ValueError(f"no whole line of a word and {dimensions} numbers")
                yield word, vector
            if number != count + 1 or not count:
                raise ValueError(f"the file ends, and its first line tells of {count} words")
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        raise DataError(
            f"{path.name}, line {number}: {one_line(problem)}. Give a .vec or .vec.gz file of fastText."
        ) from None


def _of_vectors(table: pd.DataFrame, vectors: Mapping[str, str | Path]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Score translations by word vectors, language by language: the table with scores, and their signatures."""
    from evalkit.metrics import lexical

    values = np.full((len(table), len(VECTORS)), np.nan)
    signatures: dict[str, str] = {}
    for language, path in vectors.items():
        if not Path(path).is_file():
            raise DataError(f"There is no file of word vectors {path}. Give the path of a .vec or .vec.gz file.")
        rows = (table["tgt_lang"] == language).to_numpy()
        signature = f"vectors:sha256:{content(Path(path))}|unknown:mean|tok:intl"
        pairs = lexical.texts(table[rows], _PAIR)
        values[rows] = lexical.remembered(f"{'+'.join(VECTORS)}|{signature}", pairs, partial(_matched, Path(path)))
        signatures |= {f"{name} {language}": f"{name}|{signature}" for name in VECTORS}
    return table.assign(**dict(zip(VECTORS, values.T, strict=True))), signatures


def _matched(path: Path, pairs: list[tuple[str, ...]]) -> list[tuple[float, ...]]:
    """Compute the metrics of word vectors for pairs of texts."""
    from sacrebleu.metrics import BLEU

    split = BLEU(tokenize="intl").tokenizer
    parted = [[split(text).split() for text in pair] for pair in pairs]
    known, mean = read(path, words={word for pair in parted for text in pair for word in text})
    texts = [[np.array([known.get(word, mean) for word in text]) for text in pair] for pair in parted]
    return [tuple(metric(*pair) for metric in (embedding_average, vector_extrema, greedy_matching)) for pair in texts]


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
