"""The pretrained encoder: its bytes, what needs no PyTorch, and, in the neural environment, its real weights.

Oracles there: sentence-transformers and bert-score themselves, and the model computed by numpy from its weights.
"""

import dataclasses
import importlib.util
import math

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT, DataError
from evalkit.data.provenance import Elsewhere, elsewhere
from evalkit.neural import minilm, minilm_files

PAIRS = [
    ("The cat sat on the mat.", "A cat was sitting on the mat."),
    ("He drove to the stadium.", "He did not drive to the stadium."),
    ("The weather is lovely today.", "It's so sunny outside!"),
    ("He drove to the stadium.", "A cat was sitting on the mat."),
    ("x", "x"),
]


# Files of pairs and of scores

TEXTS = [("a\nb", "tab\there"), ("\u2028 “quoted”, \\", ""), ("नदी", "\x1c")]


def test_pairs_come_back_as_they_were_written(tmp_path):
    minilm.write_pairs(tmp_path / "pairs", TEXTS)
    assert minilm.read_pairs(tmp_path / "pairs") == TEXTS


@pytest.mark.parametrize("line", ['["a"]', '["a", 3]', "{", '["a", "b", "c"]', "null", ""])
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    (tmp_path / "pairs").write_text(f'["a", "b"]\n{line}\n')
    with pytest.raises(DataError, match="pairs, line 2: this is no pair of two texts"):
        minilm.read_pairs(tmp_path / "pairs")


def test_scores_of_other_texts_or_by_other_weights_are_refused(tmp_path, monkeypatch):
    file, found = tmp_path / "scores.npz", {"f1": np.zeros((3, 6)), "cosine": np.arange(3.0)}
    minilm.write_scores(file, TEXTS, found)
    assert minilm.read_scores(file, TEXTS)["cosine"].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="of other texts or of another encoder"):
        minilm.read_scores(file, TEXTS[::-1])
    monkeypatch.setattr(minilm, "DIGEST", "0" * 64)
    with pytest.raises(DataError, match="of other texts or of another encoder"):
        minilm.read_scores(file, TEXTS)
    file.write_bytes(b"no archive")
    with pytest.raises(DataError, match="cannot be read"):
        minilm.read_scores(file, TEXTS)


# BERTScore's F1 from vectors


def by_hand(one, other):
    """Match each piece with its nearest, one number at a time."""

    def cosine(a, b):
        return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    precision = [max(cosine(a, b) for b in other) for a in one[1:-1]]
    recall = [max(cosine(a, b) for a in one) for b in other[1:-1]]
    precision, recall = (sum(part) / len(part) for part in (precision, recall))
    return 2 * precision * recall / (precision + recall)


def test_f1_is_that_of_a_plain_loop_and_does_not_know_sides_or_directions():
    rng = np.random.default_rng(7)
    one, other = rng.normal(1, 1, (2, 5, 8)), rng.normal(1, 1, (2, 9, 8))
    found = minilm.bertscore(one, other)
    assert found == pytest.approx([by_hand(a, b) for a, b in zip(one, other)], abs=1e-12)
    assert minilm.bertscore(other, one) == pytest.approx(found, abs=1e-12)
    turned, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    assert minilm.bertscore(one @ turned, 3 * other @ turned) == pytest.approx(found, abs=1e-12)
    assert minilm.bertscore(one, one) == pytest.approx([1, 1])


class Letters:
    """Stand in for the encoder: a letter is a piece, and a layer turns its direction a little further."""

    def layers(self, texts, *, pieces=minilm.MOST_PIECES):
        angles = [np.array([0.1, *(ord(letter) / 20 for letter in text[: pieces - 2]), 0.2]) for text in texts]
        turned = [np.stack([each * (1 + number / 5) for number in range(minilm.LAYERS)]) for each in angles]
        return [np.pad(np.stack([np.cos(t), np.sin(t)], axis=2), [(0, 0), (0, 0), (0, 382)]) for t in turned]

    sentence = minilm.Encoder.sentence


def test_scores_do_not_depend_on_how_pairs_are_put_together():
    pairs, encoder = [*PAIRS, ("long " * 80, "longer " * 70)], Letters()
    found = [minilm.score(encoder, pairs, batch=size) for size in (1, 4, 100)]
    for name, values in found[0].items():
        assert all(np.allclose(values, other[name], atol=1e-12) for other in found[1:])
    for place, (hypothesis, reference) in enumerate(pairs):
        one, other = (encoder.layers([text])[0] for text in (hypothesis, reference))
        assert found[0]["f1"][place] == pytest.approx(minilm.bertscore(one, other), abs=1e-12)
    cut = encoder.layers([pairs[-1][0]], pieces=256)[0][-1].mean(axis=0)
    assert found[0]["hypothesis"][-1] == pytest.approx(cut / np.linalg.norm(cut), abs=1e-6)
    told = []
    minilm.score(encoder, pairs, batch=2, report=told.append)
    assert sum(told) == len(pairs)


# Results that were computed elsewhere


def test_results_come_back_rounded_and_a_wrong_name_is_told(tmp_path):
    made = Elsewhere("m", "p 1", "ab" * 32, ["one"], {"d": "e"}, {}, {"t": [{"x": 1 / 3, "y": math.nan}]})
    made.write(tmp_path / "mine.json")
    back = elsewhere("mine", tmp_path)
    assert back == dataclasses.replace(made, tables={"t": [{"x": 0.333333, "y": None}]})
    assert back.told == "computed elsewhere with m, SHA-256 of its weights abababababab…"
    with pytest.raises(DataError, match="There are mine"):
        elsewhere("mime", tmp_path)


@pytest.mark.parametrize("name", ["minilm_wmt23"])
def test_committed_results_name_the_pinned_weights_and_are_written_as_they_would_be_again(name, tmp_path):
    found = elsewhere(name)
    assert (found.model, found.package, found.sha256) == (minilm.NAME, minilm.PACKAGE, minilm.DIGEST)
    found.write(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (
        ROOT / "data" / "reference" / "elsewhere" / f"{name}.json"
    ).read_bytes()


if importlib.util.find_spec("torch") and importlib.util.find_spec(minilm_files._FOLDER.partition("/")[0]):

    @pytest.fixture(scope="module")
    def encoder():
        return minilm.Encoder()

    LONG = [("word " * 300 + "end.", "He drove to the stadium."), ("", "nothing")]

    def test_sentences_are_those_of_sentence_transformers(encoder):
        from sentence_transformers import SentenceTransformer

        theirs = SentenceTransformer(str(minilm_files.installed()), device="cpu")
        found = minilm.score(encoder, [*PAIRS, *LONG])
        for side, texts in zip(("hypothesis", "reference"), zip(*PAIRS, *LONG)):
            np.testing.assert_allclose(found[side], theirs.encode(list(texts)), atol=1e-5)

    def test_f1_is_that_of_bert_score_by_every_layer(encoder):
        from bert_score import BERTScorer

        pairs = [*PAIRS, LONG[0]]
        found = minilm.score(encoder, pairs)["f1"]
        for layer in range(1, minilm.LAYERS + 1):
            scorer = BERTScorer(model_type=str(minilm_files.installed()), num_layers=layer, device="cpu")
            theirs = scorer.score(*map(list, zip(*pairs)))[2]
            np.testing.assert_allclose(found[:, layer - 1], theirs, atol=1e-5)

    def test_the_command_scores_pairs_with_the_installed_package(tmp_path, encoder):
        minilm.write_pairs(tmp_path / "pairs", PAIRS)
        command = ["--pairs", str(tmp_path / "pairs"), "--out", str(tmp_path / "scores.npz"), "--vectors"]
        assert minilm.main(command) == 0
        found = minilm.read_scores(tmp_path / "scores.npz", PAIRS)
        for name, values in minilm.score(encoder, PAIRS).items():
            np.testing.assert_array_equal(found[name], values)
        assert pd.Series(found["cosine"]).idxmax() == len(PAIRS) - 1
