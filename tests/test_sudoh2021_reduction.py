"""Three labels to one: every rule against a plain one, bounds against hidden labels, and the released files."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.papers.sudoh2021 import reduction
from evalkit.papers.sudoh2021.labels import KEY, TABLES, categories, places, taxonomy

DIMENSIONS = ["fluency", "adequacy"]
NO_SHARES = pd.DataFrame({"annotator": [], "label": [], "share": []})


def labelled(triples, dimension, *, missing=()):
    rows = [
        ("deu", "eng", "d", str(n), person, code, dimension)
        for n, triple in enumerate(triples)
        for person, code in zip("ABC", triple)
        if not (person == "C" and n in missing)
    ]
    return pd.DataFrame(rows, columns=[*KEY, "annotator", "label", "dimension"])


def drawn(dimension, *, rows, seed):
    codes = list(places(dimension))
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, len(codes), rows)[:, None]
    picks = np.clip(centre + rng.integers(-2, 3, (rows, 3)), 0, len(codes) - 1)
    return [tuple(codes[pick] for pick in row) for row in picks]


def plain(triple, rule, dimension):
    """Apply a rule to one triple of codes, as the words say it."""
    name, _, printed = rule.partition(" (")
    place = places(dimension, order="print" if printed else "severity")
    in_order = sorted(triple, key=place.get)
    if name in "ABC":
        return triple["ABC".index(name)]
    if not name.startswith("majority"):
        return in_order[["worst", "median", "best"].index(name)]
    label, count = Counter(triple).most_common(1)[0]
    if count > 1:
        return label
    otherwise = name.removeprefix("majority-else-")
    return triple["ABC".index(otherwise)] if otherwise in "ABC" else in_order[0 if otherwise == "worst" else 2]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("rule", reduction.RULES)
def test_every_rule_does_what_its_words_say_to_every_triple(rule, dimension):
    triples = list(itertools.product(places(dimension), repeat=3))
    found = reduction.reduce(labelled(triples, dimension), rule=rule, dimension=dimension)
    got = dict(zip(found["segment"], found["label"], strict=True))
    assert [got[str(n)] for n in range(len(triples))] == [plain(triple, rule, dimension) for triple in triples]


@given(st.sampled_from(DIMENSIONS), st.integers(0, 1000))
@settings(max_examples=15)
def test_whatever_the_order_the_median_is_the_majority_where_there_is_one(dimension, seed):
    triples = [triple for triple in drawn(dimension, rows=30, seed=seed) if len(set(triple)) < 3] or [("F", "F", "B")]
    labels = labelled(triples, dimension)
    rules = ["median", "median (print order)", "majority-else-worst", "majority-else-A"]
    first, *others = (reduction.reduce(labels, rule=rule, dimension=dimension) for rule in rules)
    for other in others:
        pd.testing.assert_frame_equal(first, other)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_hold_the_labels_that_were_hidden(seed):
    dimension = DIMENSIONS[seed % 2]
    triples, hidden = drawn(dimension, rows=120, seed=seed), range(40, 120)
    full, part = labelled(triples, dimension), labelled(triples, dimension, missing=set(hidden))
    agreed = reduction.reduce(full, rule="worst", dimension=dimension).assign(dimension=dimension)
    one = reduction.release(part, agreed, agreed[KEY].assign(split="test"), dimension=dimension)
    found = reduction.medians(one)
    codes = dict(zip(taxonomy(dimension)["code"], taxonomy(dimension)["category"]))
    median = reduction.reduce(full, rule="median", dimension=dimension).set_index(KEY)["label"].map(codes)
    place = {name: number for number, name in enumerate(categories(dimension, order="severity"))}
    low, high = found["low"].map(place).to_numpy(), found["high"].map(place).to_numpy()
    truth = found.set_index(KEY).index.map(median).map(place).to_numpy()
    assert ((low <= truth) & (truth <= high)).all()
    assert (low == high).sum() > 40
    assert found["explained"].all()
    perfect = found[KEY].assign(predicted=found["low"])
    bounds = reduction.accuracy_bounds(perfect, one)
    assert bounds["test_at_most"] == 1
    assert bounds["test_at_least"] == bounds["labels_certain"] == (low == high)[~found["three"]].mean()


def test_a_row_that_no_third_label_explains_is_counted():
    labels = labelled([("S", "S", "S"), ("F", "F", "F")], "fluency", missing={1})
    agreed = pd.DataFrame({"segment": ["0", "1"], "label": ["S", "S"], "dimension": "fluency"})
    agreed = agreed.assign(src_lang="deu", tgt_lang="eng", doc="d")
    one = reduction.release(labels, agreed, agreed[KEY].assign(split="test"), dimension="fluency")
    assert reduction.accuracy_bounds(agreed[KEY].assign(predicted="Fair"), one)["excluded"] == 1


@pytest.mark.parametrize("seed", range(2))
def test_the_smallest_difference_is_that_of_trying_all_third_labels(seed):
    triples, hidden = drawn("fluency", rows=9, seed=seed), (6, 7, 8)
    labels = labelled(triples, "fluency", missing=set(hidden))
    agreed = reduction.reduce(labelled(triples, "fluency"), rule="worst", dimension="fluency")
    agreed["dimension"] = "fluency"
    translations = agreed[KEY].assign(split="test")
    names = categories("fluency")
    target = dict(zip(names, np.random.default_rng(seed).multinomial(9, [0.2] * 5).tolist(), strict=True))
    printed = pd.DataFrame({"label": names, "split": "test", "count": [str(target[name]) for name in names]})
    one = reduction.release(labels, agreed, translations, dimension="fluency")
    found = reduction.fit_to_counts(one, printed).set_index("rule")["cells_difference"]
    codes = list(places("fluency"))
    rules = ["median", "majority-else-worst", "C"]
    best = dict.fromkeys(rules, 99)
    for thirds in itertools.product(codes, repeat=3):
        tried = [(*triples[n][:2], third) for n, third in zip(hidden, thirds)]
        if any(plain(a, "worst", "fluency") != plain(triples[n], "worst", "fluency") for a, n in zip(tried, hidden)):
            continue
        for rule in rules:
            counts = Counter(plain(triple, rule, "fluency") for triple in [*triples[:6], *tried])
            apart = sum(abs(counts[code] - target[name]) for code, name in zip(codes, names))
            best[rule] = min(best[rule], apart)
    assert found[rules].to_dict() == best


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[t["annotator"] != "C"], "three annotators"),
        (lambda t: t.assign(label="Q"), "'Q' is no label"),
        (lambda t: t[(t["annotator"] == "A") | (t["segment"] == "1")], "has one label only"),
    ],
)
def test_labels_that_cannot_be_reduced_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        reduction.reduce(change(labelled([("S", "A", "B"), ("F", "F", "D")], "fluency")), dimension="fluency")


def test_an_unknown_rule_and_a_row_without_a_split_are_told():
    labels = labelled([("S", "A", "B")], "fluency")
    with pytest.raises(DataError, match="rule='vote' is not known"):
        reduction.reduce(labels, rule="vote", dimension="fluency")
    agreed = reduction.reduce(labels, rule="worst", dimension="fluency").assign(dimension="fluency")
    with pytest.raises(DataError, match="has no split of fluency"):
        reduction.release(labels, agreed, agreed[KEY].assign(segment="9", split="test"), dimension="fluency")


@pytest.fixture(scope="module")
def labels(real):
    return pd.concat([real("sudoh-labels"), real("sudoh-labels-wmt17")])


@pytest.fixture(scope="module")
def releases(labels, real):
    agreed, translations = real("sudoh-agreed"), real("sudoh-translations")
    return {name: reduction.release(labels, agreed, translations, dimension=name) for name in DIMENSIONS}


def test_the_agreed_files_are_the_worst_of_three_and_nothing_else(releases):
    found = pd.concat([reduction.fit_to_agreed(one) for one in releases.values()])
    whole = found[(found["split"] == "all") & (found["rows_equal"] == found["rows"])]
    assert whole[["dimension", "rule", "rows"]].values.tolist() == [[name, "worst", 9280] for name in DIMENSIONS]
    known = found[found["split"].isin(["train", "dev"]) & (found["rule"] == "worst")]
    assert known["rows_equal"].tolist() == known["rows"].tolist() == [4824, 536, 4824, 536]
    assert set(known["basis"]) == {"three labels"}


def test_tables_9_and_10_are_the_median_but_for_single_labels(releases):
    for dimension, left in (("fluency", 4), ("adequacy", 8)):
        own = TABLES[dimension]
        counts, shares = (data.published(f"sudoh2021_table{number}") for number in (own.counts, own.shares))
        found = reduction.fit_to_counts(releases[dimension], counts, shares=shares)
        apart = found.set_index(["rule", "split"])["cells_difference"].sort_index()
        assert apart["median"].to_dict() == {"train": left, "dev": 0, "test": 0}
        assert (apart["majority-else-worst"] > apart["median"]).all()


def test_counts_by_the_median_are_those_of_plain_pandas(labels, releases, real):
    translations = real("sudoh-translations")
    place = places("adequacy")
    three = labels[labels["dimension"] == "adequacy"].groupby(KEY)["label"].agg(list)
    three = three[three.str.len() == 3].map(lambda given: sorted(given, key=place.get)[1]).rename("code").reset_index()
    three = three.merge(translations[[*KEY, "split"]])
    oracle = three.groupby(["split", "code"]).size()
    found = reduction.counts(releases["adequacy"]).dropna(subset="count").set_index(["split", "label"])
    names = {row.category: row.code for row in taxonomy("adequacy").itertuples()}
    assert len(found) == 14
    test = reduction.counts(releases["fluency"]).query("split == 'test'")
    assert test["count"].isna().all(), "what cannot be known has no count, but bounds"
    assert (test["least"] < test["most"]).all()
    for (split, label), count in found["count"].items():
        assert count == oracle.get((split, names[label]), 0)
