"""Lexical metrics and the store of scores: sacreBLEU, a plain implementation, textbook examples, laws, faults."""

import functools
import itertools
import math
import operator
import sqlite3
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from evalkit import DataError
from evalkit.metrics import lexical


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
    half = lexical.rouge_l("police killed", "police killed the gunman", beta=2)  # all of it right, half of it there
    assert half == pytest.approx(100 * (1 + 4) * 1 * 0.5 / (0.5 + 4 * 1))


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


sentences = st.lists(st.sampled_from(["का", "घर", "है", "नदी", "பாலம்", "a", "bb"]), min_size=5, max_size=12).map(" ".join)


@given(sentences, sentences)
def test_what_sacrebleu_has_is_as_it_has_it(hypothesis, reference):
    measures = {f"BLEU-{order}": BLEU(max_ngram_order=order, effective_order=True) for order in range(1, 5)}
    measures |= {"chrF": CHRF(), "chrF++": CHRF(word_order=2), "TER": TER()}
    found = lexical.scores(table((hypothesis, reference)), metrics=list(measures)).iloc[0]
    for name, measure in measures.items():
        assert found[name] == pytest.approx(measure.sentence_score(hypothesis, [reference]).score, abs=1e-9)


@given(sentences, sentences)
def test_bleu_of_captions_equals_a_plain_implementation(hypothesis, reference):
    words, wanted = hypothesis.split(), reference.split()
    found = lexical.scores(table((hypothesis, reference)), metrics=lexical.CAPTION).iloc[0]
    brevity, logs = min(0, 1 - (len(wanted) + 1e-9) / (len(words) + 1e-15)), []
    for order in range(1, 5):
        ours, theirs = (
            Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1)) for text in (words, wanted)
        )
        logs.append(np.log(((ours & theirs).total() + 1e-15) / (ours.total() + 1e-9)))
        assert found[f"BLEU-{order} caption"] == pytest.approx(100 * np.exp(brevity + np.mean(logs)), rel=1e-12)


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


PAIRS = table(("h", "r"), ("h2", "r2"))


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("column reference", lambda: lexical.scores(PAIRS.drop(columns="reference"))),
        ("Row 2 .* hypothesis", lambda: lexical.scores(PAIRS.assign(hypothesis=["a", None]))),
        ("'METEOR'.* BLEU-1", lambda: lexical.scores(PAIRS, metrics=["METEOR"])),
        ("'mecab'.* 13a", lambda: lexical.scores(PAIRS, tokenize="mecab")),
    ],
)
def test_what_cannot_be_scored_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()
