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
from scipy import stats

from evalkit import DataError
from evalkit.metrics import lexical, store
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
    scores = [
        lexical.rouge_l(text, "police killed the gunman", beta=1)
        for text in ("police kill the gunman", "the gunman kill police", "the gunman police killed")
    ]
    assert scores == [75, 50, 50]


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
def test_a_reference_is_its_own_best_translation(text):
    found = lexical.scores(table((text, text)), metrics=lexical.METRICS + lexical.CAPTION).iloc[0]
    assert found["TER"] == 0
    assert found.drop(["TER", "hypothesis", "reference"]).astype(float).tolist() == pytest.approx([100] * 12)


def test_caption_bleu_parts_translations_as_the_caption_code_does():
    """Where an order has no match, 1e-15 over the count plus 1e-9 decides; where it has no place, it is 1e-6."""
    short = lexical.caption_bleu("a", "a b", order=2)
    assert short == pytest.approx(100 * np.exp(1 - 2) * (1e-6) ** 0.5, rel=1e-6)
    same = lexical.scores(table(("a b c d", "a b c d")), metrics=lexical.CAPTION).iloc[0]
    assert 0 < 100 - same["BLEU-1 caption"] < 1e-6  # 4 / (4 + 1e-9) is not 1: equal precisions of other lengths differ


def test_an_empty_hypothesis_is_scored_and_not_refused():
    found = lexical.scores(table(("", "நதி ஓடுகிறது"))).iloc[0]
    assert found["TER"] == 100
    assert found.drop(["TER", "hypothesis", "reference"]).astype(float).tolist() == [0] * 8


def test_the_danda_clings_to_its_word_unless_the_tokenizer_parts_it():
    pair = ("वह घर है।", "वह घर है .")
    assert one("BLEU-1", *pair, tokenize="13a") < one("BLEU-1", *pair, tokenize="intl")


def test_processes_change_nothing():
    pairs = [(f"w{i} w{i + 1} x", f"w{i} y w{i * 7 % 5}") for i in range(450)]
    metrics = ["BLEU-2", "ROUGE-L", "TER"]
    alone = [lexical._scored(name, "13a", 1, pairs) for name in metrics]
    assert alone == [lexical._scored(name, "13a", 2, pairs) for name in metrics]


def test_a_table_keeps_its_rows_its_index_and_what_it_says_of_itself():
    frame = table(("a b", "a b"), ("c", "d"), ("a b", "a b")).set_index(pd.Index([7, 3, 5]))
    frame.attrs["source"] = {"name": "x"}
    scored = lexical.scores(frame, metrics=["BLEU-1"])
    assert scored.index.tolist() == [7, 3, 5]
    assert scored["BLEU-1"].tolist() == pytest.approx([100, 0, 100])
    assert scored.attrs["source"] == {"name": "x"}
    assert set(scored.attrs["signatures"]) == {"BLEU-1"}


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        (lambda t: t.drop(columns="reference"), {}, "needs the column reference. Add it"),
        (lambda t: t.assign(hypothesis=["a", None]), {}, "Row 2 of the table lacks its hypothesis"),
        (lambda t: t, {"metrics": ["METEOR"]}, "no metric 'METEOR' here. Choose among BLEU-1"),
        (lambda t: t, {"tokenize": "mecab"}, "no tokenizer 'mecab' here. Choose among 13a"),
    ],
)
def test_faults_are_told(change, options, told):
    with pytest.raises(DataError, match=told):
        lexical.scores(change(table(("a", "b"), ("c", "d"))), **options)


# The store


def test_a_score_is_computed_once_and_kept_to_the_last_bit():
    asked = []

    def compute(rows):
        asked.append(rows)
        return [1 / 3 + len(text) for text, _ in rows]

    first = store.remembered("m|1", [("a", "b"), ("cc", "d"), ("a", "b")], compute)
    again = store.remembered("m|1", [("cc", "d"), ("eee", ""), ("a", "b")], compute)
    assert asked == [[("a", "b"), ("cc", "d")], [("eee", "")]]
    assert first.tolist() == [1 / 3 + 1, 1 / 3 + 2, 1 / 3 + 1]
    assert again.tolist() == [1 / 3 + 2, 1 / 3 + 3, 1 / 3 + 1]


def test_the_same_texts_in_another_order_get_their_own_numbers():
    numbers = {("a", "b"): [1.0, 2.0], ("cc", "d"): [3.0, 4.0], ("e", "f"): [5.0, 6.0]}

    def compute(rows):
        return [numbers[row] for row in rows]

    for order in itertools.permutations(numbers):
        for _ in range(2):  # computed or put together, then looked up as a whole
            assert store.remembered("m|2", list(order), compute).tolist() == [numbers[row] for row in order]
    with pytest.raises(ZeroDivisionError):
        store.remembered("m|3", [("a", "b")], lambda rows: 1 / 0)
    assert store.remembered("m|2", [], compute).shape == (0,)


def test_texts_that_only_together_look_alike_are_told_apart():
    store.remembered("m", [("ab", "c")], lambda rows: [1])
    assert store.remembered("m", [("a", "bc"), ("", "abc")], lambda rows: [2, 3]).tolist() == [2, 3]


def test_another_signature_is_another_score():
    store.remembered("m|v1", [("a", "b")], lambda rows: [1])
    assert store.remembered("m|v2", [("a", "b")], lambda rows: [2]).tolist() == [2]
    signatures = {
        lexical.signature(name, tokenize=tokenize) for name in lexical.METRICS[:5] for tokenize in lexical.TOKENIZERS
    }
    assert len(signatures) == 20
    assert len({lexical.signature(name) for name in lexical.METRICS + lexical.CAPTION}) == 13


def test_a_damaged_store_is_told_with_its_remedy(cache):
    (cache / "metric-scores.sqlite").write_bytes(b"no database at all" * 400)
    with pytest.raises(DataError, match=r"metric-scores.sqlite, cannot be used .*Delete it"):
        store.remembered("m", [("a", "b")], lambda rows: [1])


def test_scores_that_somebody_put_into_the_store_are_computed_again(cache):
    """Who may write to the cache and does not have this user's secret cannot make a score."""
    texts, true = [("a", "b"), ("c", "d")], [0.25, 0.75]
    assert store.remembered("m", texts, lambda rows: true).tolist() == true
    forged = np.array([0.75, 0.25]).tobytes()
    for change in (
        ("UPDATE sealed SET numbers = ? WHERE length(texts) = 32", (forged,)),
        ("UPDATE sealed SET numbers = ?, seal = NULL", ("as text",)),
        ("UPDATE sealed SET numbers = ?, seal = ''", (forged,)),
        (
            "UPDATE sealed SET numbers = (SELECT numbers FROM sealed WHERE length(texts) = 32), seal = (SELECT seal FROM "
            "sealed WHERE length(texts) = 32) WHERE length(texts) = 16",
            (),
        ),  # a sound one, moved
    ):
        with sqlite3.connect(cache / "metric-scores.sqlite") as other:
            other.execute(*change)
        other.close()
        assert store.remembered("m", texts, lambda rows: [true[texts.index(row)] for row in rows]).tolist() == true
        for text, number in zip(texts, true):
            assert store.remembered("m", [text], lambda rows: [true[texts.index(row)] for row in rows]) == [number]
    assert store.remembered("m", texts, lambda rows: 1 / 0).tolist() == true, "sound again"


def test_without_a_secret_scores_are_computed_each_time(cache, monkeypatch):
    (cache / "file").write_text("no folder")
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(cache / "file" / "salt"))
    for value in (1.0, 2.0):
        found = store.remembered("m", [("a", "b"), ("c", "d"), ("a", "b")], lambda rows, value=value: [value, 3.0])
        assert found.tolist() == [value, 3.0, value]


def test_a_store_whose_table_is_another_is_told(cache):
    with sqlite3.connect(cache / "metric-scores.sqlite") as other:
        other.execute("CREATE TABLE sealed (x)")
    other.close()
    with pytest.raises(DataError, match="cannot be used"):
        store.remembered("m", [("a", "b")], lambda rows: [1])


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


def test_comet_gets_source_translation_and_reference(packages):
    def predict(samples, **options):
        asked.append((samples, options))
        return types.SimpleNamespace(scores=[0.5, -0.25])

    asked = packages(
        comet={
            "download_model": lambda name: f"cache/{name}",
            "load_from_checkpoint": lambda path: asked.append(path) or types.SimpleNamespace(predict=predict),
        },
        torch={"cuda": types.SimpleNamespace(is_available=lambda: False)},
    )
    frame = table(("h", "r"), ("h2", "r2")).assign(source=["s", "s2"])
    scored = pretrained.scores(frame, metrics=["COMET-DA"], batch=4)
    again = pretrained.scores(frame, metrics=["COMET-DA"])
    assert asked == [
        "cache/Unbabel/wmt20-comet-da",
        (
            [{"src": "s", "mt": "h", "ref": "r"}, {"src": "s2", "mt": "h2", "ref": "r2"}],
            {"batch_size": 4, "gpus": 0, "progress_bar": False},
        ),
    ]
    assert scored["COMET-DA"].tolist() == again["COMET-DA"].tolist() == [0.5, -0.25]
    assert (
        scored.attrs["signatures"]["COMET-DA"] == "COMET-DA|model:Unbabel/wmt20-comet-da|unbabel-comet:of unbabel-comet"
    )


def test_bertscore_takes_f1_from_the_layers_of_the_authors_notebook(packages, tmp_path):
    class Scorer:
        def __init__(self, **options):
            if options["model_type"] == str(tmp_path):
                raise AssertionError("between 0 and 2")
            asked.append(options)

        def score(self, hypotheses, references, *, batch_size):
            asked.append((hypotheses, references))
            return [np.array([9.0]), np.array([8.0]), np.array([0.75])]

    asked = packages(bert_score={"BERTScorer": Scorer})
    scored = pretrained.scores(table(("h", "r")), metrics=["mBERT", "distilmBERT", "IndicBERT", "MuRIL"])
    assert scored[list(pretrained.LAYERS)].iloc[0].tolist() == [0.75] * 4
    models = [
        "bert-base-multilingual-cased",
        "distilbert-base-multilingual-cased",
        "ai4bharat/indic-bert",
        "google/muril-base-cased",
    ]
    assert asked[::2] == [
        {"model_type": model, "batch_size": 16, "num_layers": layer} for model, layer in zip(models, [9, 5, 4, 4])
    ]
    assert asked[1::2] == [(["h"], ["r"])] * 4
    signature = scored.attrs["signatures"]["MuRIL"]
    assert signature == "MuRIL|model:google/muril-base-cased|layer:4|bert-score:of bert-score"
    with pytest.raises(DataError, match=r"cannot take layer 4 of .*between 0 and 2"):
        pretrained.scores(table(("h", "r")), metrics=["MuRIL"], models={"MuRIL": str(tmp_path)})


class Encoder:
    """Sentence vectors of two numbers: how many characters there are, and how many of them are a."""

    def encode(self, texts, **options):
        return np.array([[len(text), text.count("a")] for text in texts], float)


def test_sentences_are_compared_by_the_cosine_of_their_vectors(packages):
    asked = packages(sentence_transformers={"SentenceTransformer": lambda name: asked.append(name) or Encoder()})
    scored = pretrained.scores(table(("aab", "bbb"), ("ab", "abab")), metrics=["LaBSE"])
    assert scored["LaBSE"].tolist() == pytest.approx([9 / (13**0.5 * 3), 1])
    assert asked == ["sentence-transformers/LaBSE"]


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
    with pytest.raises(DataError, match="needs the column tgt_lang"):
        pretrained.scores(frame.drop(columns="tgt_lang"), metrics=["LASER"])


def test_a_model_that_is_not_there_is_told_in_one_sentence(packages):
    def absent(name):
        raise OSError(f"We cannot connect to find {name}.\nAnd more.")

    packages(sentence_transformers={"SentenceTransformer": absent})
    with pytest.raises(DataError, match=r"'sentence-transformers/LaBSE' cannot be loaded \(We cannot .*\)\. Give"):
        pretrained.scores(table(("h", "r")), metrics=["LaBSE"])


def test_bleurt_reads_a_folder_and_is_known_by_its_content(packages, tmp_path):
    def scorer(folder):
        asked.append(folder)
        return types.SimpleNamespace(score=lambda *, references, candidates, batch_size: [len(candidates[0])])

    asked = packages(bleurt={}, bleurt__score={"BleurtScorer": scorer})
    with pytest.raises(DataError, match=r"checkpoint 'BLEURT-20' is no folder here\. Download it"):
        pretrained.scores(table(("hyp", "r")), metrics=["BLEURT-20"])
    folder = tmp_path / "weights"
    (folder / "variables").mkdir(parents=True)
    (folder / "variables" / "a").write_bytes(b"1")
    models = {"BLEURT-20": str(folder)}
    first = pretrained.scores(table(("hyp", "r")), metrics=["BLEURT-20"], models=models)
    assert first["BLEURT-20"].tolist() == [3]
    (folder / "variables" / "a").write_bytes(b"2")
    second = pretrained.scores(table(("hyp", "r")), metrics=["BLEURT-20"], models=models)
    assert second.attrs["signatures"] != first.attrs["signatures"]
    assert asked == [str(folder)] * 2


FAKE = """
class BERTScorer:
    def __init__(self, **options):
        print("loading", options)
    def score(self, hypotheses, references, batch_size):
        import types
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
    with pytest.raises(DataError, match=r"gave no scores: RuntimeError: no GPU\. Try"):
        pretrained.scores(table(("new", "r")), metrics=["mBERT"], python=sys.executable)
    with pytest.raises(DataError, match=r"needs the package unbabel-comet"):
        pretrained.scores(frame.assign(source="s"), metrics=["COMET-DA"], python=sys.executable)
    with pytest.raises(DataError, match=r"cannot be started \(No such file.*Give the path of a Python"):
        pretrained.scores(frame, metrics=["mBERT"], python=str(tmp_path / "python"))


def test_a_package_that_is_not_here_is_told_with_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    frame = table(("h", "r")).assign(source="s")
    with pytest.raises(DataError, match=r"needs the package unbabel-comet.*pip install unbabel-comet"):
        pretrained.scores(frame, metrics=["COMET-MQM"])
    with pytest.raises(DataError, match=r"no metric 'GPT' here\. Choose among COMET-DA"):
        pretrained.scores(frame, metrics=["GPT"])


def test_a_model_that_returns_too_few_scores_is_told(packages):
    packages(
        bert_score={
            "BERTScorer": lambda **options: types.SimpleNamespace(
                score=lambda *texts, batch_size: [None, None, np.array([0.5])]
            )
        },
        bert_score__utils={"model2layers": {"bert-base-multilingual-cased": 9}},
    )
    with pytest.raises(DataError, match="returned 1 scores for 2 translations"):
        pretrained.scores(table(("h", "r"), ("i", "r")), metrics=["mBERT"])


# The real data


def test_words_of_the_metrics_order_translations_as_humans_do_somewhat(real):
    ratings = real("indicmt-mqm")
    part = ratings[ratings["tgt_lang"] == "guj"].iloc[:200]
    scored = lexical.scores(part, metrics=["BLEU-1", "ROUGE-L"])
    assert all(stats.kendalltau(scored[name], scored["score"]).pvalue < 0.01 for name in ("BLEU-1", "ROUGE-L"))
