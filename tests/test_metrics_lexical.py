"""Lexical metrics and the store of scores: independent implementations, textbook examples, laws, faults."""

import functools
import itertools
import math
import operator
import sqlite3
import sys
import types
from collections import Counter
from importlib import metadata
from importlib.machinery import ModuleSpec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from evalkit import DataError
from evalkit.metrics import lexical
from evalkit.neural import pretrained


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Give each test a store of its own."""
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    return tmp_path


def table(*pairs):
    return pd.DataFrame(pairs, columns=["hypothesis", "reference"])


def one(metric, hypothesis, reference, **options):
    return float(lexical.scores(table((hypothesis, reference)), metrics=[metric], **options)[metric].iloc[0])


# Textbook examples


def test_papineni_clips_the_count_of_the():
    assert one("BLEU-1", "the the the the the the the", "The cat is on the mat".lower()) == pytest.approx(100 * 2 / 7)


def test_snover_counts_a_shift_as_one_edit():
    reference = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"
    hypothesis = "THIS WEEK THE SAUDIS denied information published in the new york times"
    assert one("TER", hypothesis, reference) == pytest.approx(100 * 4 / 13)


def test_lin_prefers_the_sentence_that_keeps_the_order():
    texts = ("police kill the gunman", "the gunman kill police", "the gunman police killed")
    assert [lexical.rouge_l(text, "police killed the gunman", beta=1) for text in texts] == [75, 50, 50]


# Exact sums: the last bit decides on ties, and Python's sum of floats has rounded otherwise since 3.12


@pytest.mark.parametrize("metric", ["BLEU-3", "BLEU-4", "SacreBLEU"])
def test_logarithms_are_added_exactly(metric):
    rng, words = np.random.default_rng(3), [*"abcdef"]
    pairs = [tuple(" ".join(rng.choice(words, rng.integers(2, 14))) for _ in range(2)) for _ in range(300)]
    scores = lexical.scores(table(*pairs), metrics=[metric])[metric]
    order, effective = (4, False) if metric == "SacreBLEU" else (int(metric[-1]), True)
    measure = BLEU(max_ngram_order=order, effective_order=effective)
    naive = []
    for (said, meant), score in zip(pairs, scores, strict=True):
        found = measure.corpus_score([said], [[meant]])
        assert score == pytest.approx(found.score, rel=1e-12)
        kept = [p for p, total in zip(found.precisions, found.totals) if total or not effective]
        if found.score and all(kept):
            logs = [math.log(p) for p in kept]
            assert score == found.bp * math.exp(math.fsum(logs) / len(logs))
            naive.append(found.bp * math.exp(functools.reduce(operator.add, logs) / len(logs)) != score)
    assert any(naive)


# Independent implementations


def grams(tokens, order):
    return Counter(tuple(tokens[i : i + order]) for i in range(len(tokens) - order + 1))


def bleu(hypothesis, reference, order, *, caption=False):
    """BLEU with exponential smoothing and effective order (as Post 2018), or as code for image captions has it."""
    words, wanted = hypothesis.split(), reference.split()
    logs, halvings = [], 1
    for n in range(1, order + 1):
        mine, theirs = grams(words, n), grams(wanted, n)
        total, match = max(len(words) - n + 1, 0), (mine & theirs).total()
        if caption:
            logs.append(np.log((match + 1e-15) / (total + 1e-9)))
            continue
        if total == 0:
            break
        if match == 0:
            halvings *= 2
        logs.append(np.log((match or 1 / halvings) / total))
    brevity = min(0, 1 - (len(wanted) + 1e-9) / (len(words) + 1e-15) if caption else 1 - len(wanted) / len(words))
    return 100 * np.exp(brevity + np.mean(logs)) if caption or (grams(words, 1) & grams(wanted, 1)) else 0.0


def chrf(hypothesis, reference, words, beta=2):
    """chrF's F of averaged precisions and recalls, over orders that either side reaches."""
    orders = [("".join(hypothesis.split()), "".join(reference.split()), n) for n in range(1, 7)]
    orders += [(hypothesis.split(), reference.split(), n) for n in range(1, words + 1)]
    precisions, recalls = [], []
    for mine, theirs, n in orders:
        a, b = grams(mine, n), grams(theirs, n)
        if a and b:
            precisions.append((a & b).total() / a.total())
            recalls.append((a & b).total() / b.total())
    p, r = np.mean(precisions or [0]), np.mean(recalls or [0])
    return 100 * (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def longest_common(a, b):
    lengths = np.zeros((len(a) + 1, len(b) + 1), int)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            lengths[i, j] = lengths[i - 1, j - 1] + 1 if x == y else max(lengths[i - 1, j], lengths[i, j - 1])
    return lengths[-1, -1]


sentences = st.lists(st.sampled_from(["का", "घर", "है", "नदी", "பாலம்", "a", "bb"]), min_size=5, max_size=12).map(" ".join)


@given(sentences, sentences)
@settings(max_examples=25)
def test_metrics_equal_plain_implementations(hypothesis, reference):
    found = lexical.scores(table((hypothesis, reference)), metrics=lexical.METRICS + lexical.CAPTION).iloc[0]
    for order in range(1, 5):
        assert found[f"BLEU-{order}"] == pytest.approx(bleu(hypothesis, reference, order))
        plain = bleu(hypothesis, reference, order, caption=True)
        assert found[f"BLEU-{order} caption"] == pytest.approx(plain, rel=1e-12)
    assert found["SacreBLEU"] == pytest.approx(bleu(hypothesis, reference, 4))
    assert found["chrF"] == pytest.approx(chrf(hypothesis, reference, 0))
    assert found["chrF++"] == pytest.approx(chrf(hypothesis, reference, 2))
    words, wanted = hypothesis.split(), reference.split()
    common = longest_common(words, wanted)
    p, r = common / len(words), common / len(wanted)
    rouge = 100 * (1 + 1.2**2) * p * r / (r + 1.2**2 * p) if common else 0
    assert found["ROUGE-L"] == pytest.approx(rouge)
    assert found["TER"] <= 100 * max(len(words), len(wanted)) / len(wanted) + 1e-9


@given(sentences)
@settings(max_examples=15)
def test_a_reference_is_its_own_best_translation_and_nothing_is_the_worst(text):
    both = lexical.scores(table((text, text), ("", text)), metrics=lexical.METRICS)
    found = both.drop(columns=["TER", "hypothesis", "reference"]).astype(float).to_numpy()
    assert both["TER"].tolist() == [0, 100]
    assert found == pytest.approx(np.array([[100] * 8, [0] * 8]))


def test_caption_bleu_parts_translations_as_the_caption_code_does():
    """Where an order has no match, 1e-15 over the count plus 1e-9 decides; where it has no place, it is 1e-6."""
    short = lexical.caption_bleu("a", "a b", order=2)
    assert short == pytest.approx(100 * np.exp(1 - 2) * (1e-6) ** 0.5, rel=1e-6)
    same = lexical.scores(table(("a b c d", "a b c d")), metrics=lexical.CAPTION).iloc[0]
    assert 0 < 100 - same["BLEU-1 caption"] < 1e-6  # 4 / (4 + 1e-9) is not 1: equal precisions of other lengths differ


def test_the_danda_clings_to_its_word_unless_the_tokenizer_parts_it():
    pair = ("वह घर है।", "वह घर है .")
    assert one("BLEU-1", *pair, tokenize="13a") < one("BLEU-1", *pair, tokenize="intl")


# The store


def test_a_score_is_computed_once_and_kept_to_the_last_bit():
    asked = []

    def compute(rows):
        asked.append(rows)
        return [1 / 3 + len(text) for text, _ in rows]

    first = lexical.remembered("m|1", [("a", "b"), ("cc", "d"), ("a", "b")], compute)
    again = lexical.remembered("m|1", [("cc", "d"), ("eee", ""), ("a", "b")], compute)
    assert asked == [[("a", "b"), ("cc", "d")], [("eee", "")]]
    assert first.tolist() == [1 / 3 + 1, 1 / 3 + 2, 1 / 3 + 1]
    assert again.tolist() == [1 / 3 + 2, 1 / 3 + 3, 1 / 3 + 1]


def test_the_same_texts_in_another_order_get_their_own_numbers():
    numbers = {("a", "b"): [1.0, 2.0], ("cc", "d"): [3.0, 4.0], ("e", "f"): [5.0, 6.0]}

    def compute(rows):
        return [numbers[row] for row in rows]

    for order in itertools.permutations(numbers):
        for _ in range(2):  # computed or put together, then looked up as a whole
            assert lexical.remembered("m|2", list(order), compute).tolist() == [numbers[row] for row in order]
    with pytest.raises(ZeroDivisionError):
        lexical.remembered("m|3", [("a", "b")], lambda rows: 1 / 0)
    assert lexical.remembered("m|2", [], compute).shape == (0,)


def test_other_texts_and_other_signatures_are_other_scores():
    lexical.remembered("m", [("ab", "c")], lambda rows: [1])
    assert lexical.remembered("m", [("a", "bc"), ("", "abc")], lambda rows: [2, 3]).tolist() == [2, 3]
    assert lexical.remembered("m|v2", [("ab", "c")], lambda rows: [4]).tolist() == [4]
    tokenized = {lexical.signature(name, tokenize=t) for name in lexical.METRICS[:5] for t in lexical.TOKENIZERS}
    assert len(tokenized) == 20
    assert len({lexical.signature(name) for name in lexical.METRICS + lexical.CAPTION}) == 13


@pytest.mark.parametrize("damage", ["no database", "another table"])
def test_a_damaged_store_is_told_with_its_remedy(cache, damage):
    path = cache / "metric-scores.sqlite"
    if damage == "no database":
        path.write_bytes(b"no database at all" * 400)
    else:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE scores (x)")
        other.close()
    with pytest.raises(DataError, match=r"metric-scores.sqlite, cannot be used .*Delete it"):
        lexical.remembered("m", [("a", "b")], lambda rows: [1])


# Metrics that need a model, whose packages are played by stand-ins


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
    scored = pretrained.scores(PAIRS, metrics=["COMET-DA"], batch=4)
    again = pretrained.scores(PAIRS, metrics=["COMET-DA"])
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
    scored = pretrained.scores(table(("h", "r")), metrics=["mBERT", "distilmBERT", "IndicBERT", "MuRIL"])
    assert scored[list(pretrained.LAYERS)].iloc[0].tolist() == [0.75] * 4
    assert asked == [
        ("bert-base-multilingual-cased", 9),
        ("distilbert-base-multilingual-cased", 5),
        ("ai4bharat/indic-bert", 4),
        ("google/muril-base-cased", 4),
    ]
    signature = scored.attrs["signatures"]["MuRIL"]
    assert signature == "MuRIL|model:google/muril-base-cased|layer:4|bert-score:of bert-score"
    with pytest.raises(DataError, match=r"layer 4 of .*between 0 and 2"):
        pretrained.scores(table(("h", "r")), metrics=["MuRIL"], models={"MuRIL": str(tmp_path)})
    with pytest.raises(DataError, match="0 scores for 1 translations"):
        pretrained.scores(table(("other", "r")), metrics=["mBERT"])


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
    scored = pretrained.scores(table(("aab", "bbb"), ("ab", "abab")), metrics=["LaBSE"])
    assert scored["LaBSE"].tolist() == pytest.approx([9 / (13**0.5 * 3), 1])
    assert asked == ["sentence-transformers/LaBSE"]
    with pytest.raises(DataError, match=r"'sentence-transformers/LaBSE' cannot be loaded \(We cannot .*\)"):
        pretrained.scores(PAIRS, metrics=["LaBSE"])


def test_laser_knows_languages_by_two_letters_and_its_files_from_a_folder(packages, tmp_path):
    class Laser(Encoder):
        def __init__(self, *files):
            asked.append(files)

        def embed_sentences(self, texts, *, lang):
            asked.append((texts, lang))
            return self.encode(texts)

    asked = packages(laserembeddings={"Laser": Laser})
    frame = table(("tam", "ab"), ("b", "hin")).assign(tgt_lang=["tam", "hin"])
    scored = pretrained.scores(frame, metrics=["LASER"])
    assert scored["LASER"].tolist() == pytest.approx([7 / 50**0.5, 1])
    assert asked == [(), (["tam", "b"], ["ta", "hi"]), (["ab", "hin"], ["ta", "hi"])]
    pretrained.scores(frame, metrics=["LASER"], models={"LASER": str(tmp_path)})
    names = ["93langs.fcodes", "93langs.fvocab", "bilstm.93langs.2018-12-26.pt"]
    assert asked[3] == tuple(str(tmp_path / name) for name in names)
    with pytest.raises(DataError, match="column tgt_lang"):
        pretrained.scores(PAIRS, metrics=["LASER"])


def test_bleurt_reads_a_folder_and_is_known_by_its_content(packages, tmp_path):
    def scorer(folder):
        return types.SimpleNamespace(score=lambda *, references, candidates, batch_size: [len(candidates[0])])

    packages(bleurt={}, bleurt__score={"BleurtScorer": scorer})
    signatures = set()
    for content in (b"1", b"2"):
        (tmp_path / "weights").mkdir(exist_ok=True)
        (tmp_path / "weights" / "a").write_bytes(content)
        models = {"BLEURT-20": str(tmp_path / "weights")}
        scored = pretrained.scores(table(("hyp", "r")), metrics=["BLEURT-20"], models=models)
        assert scored["BLEURT-20"].tolist() == [3]
        signatures.add(scored.attrs["signatures"]["BLEURT-20"])
    assert len(signatures) == 2
    with pytest.raises(DataError, match="'BLEURT-20' is no folder here"):
        pretrained.scores(table(("hyp", "r")), metrics=["BLEURT-20"])


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
    scored = pretrained.scores(frame, metrics=["mBERT"], python=sys.executable)
    assert scored["mBERT"].tolist() == [3 / 8, 1 / 8]
    assert scored.attrs["signatures"]["mBERT"] == "mBERT|model:bert-base-multilingual-cased|layer:9|bert-score:0.1"
    (package / "__init__.py").write_text("raise RuntimeError('no GPU')")
    for words, metric, python in (
        ("RuntimeError: no GPU", "mBERT", sys.executable),
        ("package unbabel-comet", "COMET-DA", sys.executable),
        ("cannot be started", "mBERT", str(tmp_path / "python")),
    ):
        with pytest.raises(DataError, match=words):
            pretrained.scores(PAIRS, metrics=[metric], python=python)


def test_a_package_that_is_not_here_is_told_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match="pip install unbabel-comet"):
        pretrained.scores(PAIRS, metrics=["COMET-MQM"])


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("column reference", lambda: lexical.scores(PAIRS.drop(columns="reference"))),
        ("Row 2 .* hypothesis", lambda: lexical.scores(PAIRS.assign(hypothesis=["a", None]))),
        ("'METEOR'.* BLEU-1", lambda: lexical.scores(PAIRS, metrics=["METEOR"])),
        ("'mecab'.* 13a", lambda: lexical.scores(PAIRS, tokenize="mecab")),
        ("'GPT'.* COMET-DA", lambda: pretrained.scores(PAIRS, metrics=["GPT"])),
    ],
)
def test_what_cannot_be_scored_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()
