"""Metrics of word vectors: hand examples, laws, an implementation of its own kind, files in fastText's text format."""

import gzip
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evalkit import DataError
from evalkit.metrics import lexical
from evalkit.neural import vectors
from evalkit.neural.vectors import embedding_average, greedy_matching, vector_extrema

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
    for name, metric in zip(vectors.METRICS, ALL, strict=True):
        assert metric(one, other) == pytest.approx(plain(name, one.tolist(), other.tolist()), abs=1e-9)


@pytest.mark.parametrize("metric", ALL)
def test_a_text_without_words_has_no_score(metric):
    assert math.isnan(metric(np.empty((0, 2)), np.ones((1, 2))))
    assert math.isnan(metric(np.ones((1, 2)), np.empty((0, 2))))


# Files of vectors


def test_a_file_is_read_and_the_first_of_a_words_vectors_counts(file):
    found, mean = vectors.read(file(TINY), words=["the", "mat", "dog"])
    assert {word: vector.tolist() for word, vector in found.items()} == {"the": [1, 0], "mat": [1, 1]}
    assert mean.tolist() == [-7 / 4, -6 / 4]
    packed = file(gzip.compress(TINY.encode()), "tiny.vec.gz")
    assert list(vectors.read(packed)[0]) == ["the", "cat", "mat"]


def test_a_word_may_hold_a_blank_of_another_kind_and_lines_end_at_line_feeds_alone(file):
    assert list(vectors.read(file("2 1\na\u00a0b 1\nc\u2028d\x0b 2\n"))[0]) == ["a\u00a0b", "c\u2028d\x0b"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("the 1 0\ncat 0 2\n", r"line 1, does not give"),
        ("", r"line 1, does not give"),
        ("99999999 300\n", r"tells of 99999999 words of 300 dimensions"),
        ("0 2\n", r"0 words"),
        ("2 2\nthe 1 0\ncat 0 2", r"line 3, is no whole line"),  # cut off: the last number may have been 25
        ("1 2\nthe 1 0\ncat 0 2\n", r"more than the 1 words"),
        ("1 2\nthe 1\n", r"line 2, is no whole line"),
        ("1 2\nthe 1 nan\n", r"line 2, is no whole line"),
        ("1 2\n" + "x" * 300_000 + " 1 0\n", r"line 2, is no whole line"),
        (b"1 2\n\xff 1 0\n", r"holds no vectors as text"),
    ],
)
def test_a_file_that_is_not_like_that_is_refused(file, text, problem):
    with pytest.raises(DataError, match=rf"tiny\.vec.*{problem}"):
        vectors.read(file(text))


# Tables of translations


def test_unknown_words_get_the_mean_or_nothing(file):
    path, mean = file(TINY), np.array([-7 / 4, -6 / 4])
    both = vectors.scores(pairs("the dog", "cat"), vectors={"tam": path})
    left = vectors.scores(pairs("the dog", "cat"), vectors={"tam": path}, unknown="drop")
    the, cat = np.array([1.0, 0]), np.array([0, 2.0])
    for name, metric in zip(vectors.METRICS, ALL, strict=True):
        assert both[name].item() == pytest.approx(metric(np.array([the, mean]), np.array([cat])))
        assert left[name].item() == pytest.approx(metric(np.array([the]), np.array([cat])))
    assert vectors.scores(pairs("dog", "cat"), vectors={"tam": path}, unknown="drop")["EA"].isna().all()
    assert left.attrs["signatures"]["GM tam"].startswith("GM|vectors:sha256:")
    assert left.attrs["signatures"]["GM tam"].endswith("|unknown:drop|tok:intl")


def test_punctuation_of_indic_scripts_is_parted_from_its_word(file):
    path = file("2 2\nபூனை 1 0\n। 0 1\n")
    scored = vectors.scores(pairs("பூனை।", "। பூனை"), vectors={"tam": path}, unknown="drop")
    assert scored[list(vectors.METRICS)].iloc[0].tolist() == pytest.approx([1, 1, 1])


def test_each_language_has_its_vectors_and_others_have_no_score(file):
    table = pd.concat([pairs("the", "mat"), pairs("the", "mat", "hin"), pairs("the", "mat", "guj")])
    scored = vectors.scores(
        table, vectors={"tam": file(TINY), "hin": file("2 2\nthe 2 0\nmat 0 1\n", "hi.vec")}, metrics=["GM", "EA"]
    )
    assert scored["EA"].tolist() == pytest.approx([math.sqrt(0.5), 0, math.nan], nan_ok=True)
    assert list(scored.columns) == [*table.columns, "GM", "EA"]


def test_a_second_run_reads_no_vectors_and_changed_vectors_are_noticed(file, monkeypatch):
    path, table, asked = file(TINY), pairs("the", "mat"), []
    first = vectors.scores(table, vectors={"tam": path})
    read = vectors.read
    monkeypatch.setattr(vectors, "read", lambda *args, **options: asked.append(1) or read(*args, **options))
    again = vectors.scores(table, vectors={"tam": path})
    assert (again["EA"].item(), asked) == (first["EA"].item(), [])
    changed = vectors.scores(table, vectors={"tam": file(TINY.replace("mat 1 1", "mat 0 1"))})
    assert changed["EA"].item() == pytest.approx(0)
    assert changed.attrs["signatures"] != first.attrs["signatures"]
    assert lexical.kept_in().exists()
