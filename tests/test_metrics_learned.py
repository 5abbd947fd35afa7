"""The learned metric: what it looks at, how folds are kept apart, how it is held against single metrics."""

import itertools
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import correlation, learned

RNG = np.random.default_rng


def predictions(rng, n=240, sentences=40, languages=("hi", "ta")):
    sentence = rng.integers(0, sentences, n)
    score = rng.integers(0, 8, n).astype(float)
    table = pd.DataFrame({"language": rng.choice(languages, n), "sentence": sentence, "score": score})
    table = table.assign(setting="cv", fold=sentence % 3, near=score + rng.normal(0, 2, n), noise=rng.normal(0, 1, n))
    return table.assign(tied=np.round(score / 3 + rng.normal(0, 1, n)))


# sounds

BLOCKS = {"DEVANAGARI": 0x0900, "BENGALI": 0x0980, "GURMUKHI": 0x0A00, "GUJARATI": 0x0A80}
BLOCKS |= {"TAMIL": 0x0B80, "KANNADA": 0x0C80, "MALAYALAM": 0x0D00}


def test_letters_of_one_name_in_unicode_sound_alike_in_all_scripts():
    letters = {}
    for script, start in BLOCKS.items():
        for code in range(start + 0x15, start + 0x3A):
            name = unicodedata.name(chr(code), "")
            if name.startswith(f"{script} LETTER "):
                letters.setdefault(name.split()[-1], set()).add(learned.skeleton(chr(code)))
    assert len(letters) > 30
    assert all(len(found) == 1 for found in letters.values()), letters
    expected = {"KA": "k", "GHA": "k", "CA": "s", "DDHA": "t", "BHA": "p", "RA": "r", "LLA": "l"}
    assert {name: letters[name].pop() for name in expected} == expected


@pytest.mark.parametrize("spelt", ["बार्सिलोना", "બાર્સેલોના", "பார்சிலோனா", "ബാഴ്സലോണ", "বাৰ্চেলোনা", "ಬಾರ್ಸಿಲೋನಾ"])
def test_a_name_is_heard_in_every_script_and_among_other_words(spelt):
    assert learned.sounding_like("Barcelona", ["अन्य", spelt, "મકાન"]) == 1
    assert learned.sounding_like("Kathmandu", [spelt]) is None


# features

TEXT = st.text(alphabet="ab ०१२कख.।12", max_size=30)


def described(source, hypothesis, reference):
    row = {"source": source, "hypothesis": hypothesis, "reference": reference}
    return learned.features(pd.DataFrame([row])).iloc[0]


@given(TEXT, TEXT, TEXT)
@settings(max_examples=50)
def test_features_are_finite_and_shares_are_shares_for_any_text(source, hypothesis, reference):
    row = described(source, hypothesis, reference)
    assert np.isfinite(row).all()
    bounded = row.drop(["source_length", "length_to_source", "length_to_reference", "length_apart", "repeated_words"])
    assert bounded.between(0, 1).all()


@given(TEXT.filter(lambda text: len(text.split()) > 1))
@settings(max_examples=30)
def test_the_reference_itself_has_full_marks(text):
    row = described("", text, text)
    same = ["char2_precision", "char4_recall", "word_precision", "word_recall", "edits", "edits_sorted", "end_kept"]
    assert (row[same] == 1).all()
    assert row["length_to_reference"] == row["length_apart"] == row["repeated_words"] == 0


def test_precision_and_recall_are_those_of_counted_grams():
    one, other = "abcabd", "abxabcab"
    grams = [Counter("".join(pair) for pair in itertools.pairwise(text)) for text in (one, other)]
    shared = sum(min(grams[0][gram], grams[1][gram]) for gram in grams[0])
    row = described("s", one, other)
    assert row["char2_precision"] == shared / 5
    assert row["char2_recall"] == shared / 7


def test_numbers_count_in_any_digits_and_lost_or_added_ones_cost():
    texts = {"२०२४ में १,५००": 1.0, "2024 में 1500": 1.0, "2024 में": 0.5, "2024, 1500 और 7": 2 / 3, "कुछ नहीं": 0.0}
    kept = [described("1,500 in 2024", text, "क")["numbers_kept"] for text in texts]
    assert kept == pytest.approx([*texts.values()])


def test_script_and_copies_tell_an_untranslated_text():
    source, reference = "They live in Pune now", "वे अब पुणे में रहते हैं"
    found = pd.DataFrame([described(source, text, reference) for text in (source, reference)])
    assert found["script"].tolist() == [0, 1]
    assert found["source_copied"].tolist() == [1, 0]
    assert found["names_kept"].tolist() == [1, 1]


# folds


@given(st.lists(st.integers(0, 12), min_size=8, max_size=60), st.integers(0, 5))
def test_folds_keep_groups_together_and_are_even(groups, seed):
    groups = np.array([*groups, 20, 21, 22])
    fold = learned.folds(groups, k=3, seed=seed)
    assert all(len(set(fold[groups == group])) == 1 for group in groups)
    sizes = [len(set(groups[fold == number])) for number in range(3)]
    assert max(sizes) - min(sizes) <= 1
    assert (fold == learned.folds(groups, k=3, seed=seed)).all()


def test_standing_is_bloms_score_within_each_language():
    score, language = pd.Series([3.0, 1, 2, 9, 9, 5]), pd.Series(list("aaabbb"))
    expected = stats.norm.ppf((np.array([3, 1, 2, 2.5, 2.5, 1]) - 0.375) / 3.25)
    assert learned.standing(score, language).tolist() == pytest.approx(expected.tolist())


class Spy:
    """A regression that knows which sentences and languages it was trained on and objects to be asked about them."""

    def __init__(self, seed):
        self.language_too = None

    def fit(self, x, y):
        self.sentences, self.languages = set(x[:, 0]), set(x[:, 1])
        return self

    def predict(self, x):
        assert not self.sentences & set(x[:, 0])
        Spy.seen.append((frozenset(self.languages), frozenset(x[:, 1])))
        return x[:, 0]


def examples(rng, n=180):
    sentence = rng.integers(0, 30, n)
    language = rng.choice(["gu", "hi", "ta"], n)
    table = pd.DataFrame({"language": language, "score": rng.normal(0, 1, n)})
    table["source"] = [f"{'xyz'[s % 3] * s} tells {s}" for s in sentence]
    looks = pd.DataFrame({"sentence": sentence, "language": pd.factorize(language)[0]}, dtype=float)
    looks["m"] = rng.normal(0, 1, n)
    looks["weak"] = table["score"] + rng.normal(0, 5, n)
    return table, looks


def test_no_model_sees_a_tested_sentence_nor_for_zero_shot_the_language():
    Spy.seen = []
    table, looks = examples(RNG(7))
    found = learned.out_of_fold(table, looks, single=["m"], models={"spy": Spy})
    together, apart = Spy.seen[:3], Spy.seen[3:]
    assert all(len(trained) == 3 for trained, _ in together)
    assert len(apart) == 9
    assert all(not trained & tested and len(tested) == 1 and len(trained) == 2 for trained, tested in apart)
    assert found.groupby("setting").size().tolist() == [len(table)] * 2
    for _, part in found.groupby("setting"):  # every example is predicted once
        assert sorted(part["score"]) == sorted(table["score"])


def test_the_best_single_metric_is_chosen_without_the_tested_fold():
    table, looks = examples(RNG(3))
    fold = learned.folds(learned.sentence_groups(table["source"]), k=3, seed=7)
    table["score"] = np.where(fold == 0, looks["m"], looks["weak"])  # m is perfect on fold 0 and worthless elsewhere
    found = learned.out_of_fold(table, looks, single=["m", "weak"], models={})
    first = found[(found["setting"] == "cv") & (found["fold"] == 0)]
    assert (first[learned.BEST] == first["weak"]).all()
    chosen = learned._best(learned._taus(table, looks[["m", "weak"]]))
    groups = table.groupby("language").groups.values()
    m, weak = (
        np.mean([stats.kendalltau(looks[name][rows], table["score"][rows]).statistic for rows in groups])
        for name in ("m", "weak")
    )
    assert chosen == ("m" if m > weak else "weak")


def test_models_learn_what_is_there_and_nothing_where_nothing_is():
    rng = RNG(11)
    n = 900
    sentence = rng.integers(0, 90, n)
    looks = pd.DataFrame(rng.normal(0, 1, (n, 3)), columns=["a", "b", "c"])
    table = pd.DataFrame(
        {"language": rng.choice(["gu", "hi"], n), "source": [f"{s} says {s * 7919}" for s in sentence]}
    )
    table["score"] = looks["a"] + looks["b"] + rng.normal(0, 0.5, n)
    found = learned.out_of_fold(table, looks, single=["a", "c"])
    gain = correlation.correlate(found, list(learned.MODELS), against=learned.BEST, resamples=200, average=None)
    assert (gain["low"] > 0.1).all()
    table["score"] = rng.permutation(table["score"])
    nothing = correlation.correlate(learned.out_of_fold(table, looks, single=["a"]), list(learned.MODELS), resamples=50)
    assert nothing["kendall_b"].abs().max() < 0.12


def test_other_languages_are_scored_without_their_sentences():
    Spy.seen = []
    table, looks = examples(RNG(5))
    others = table.head(20).assign(language="kn")
    shared = table["source"].isin(others["source"]).sum()
    found = learned.unseen(table, looks, others, looks.head(20), single=["m"], models={"spy": Spy})
    assert found.attrs["excluded"] == {"examples with a tested sentence": shared}
    assert found["score"].tolist() == others["score"].tolist()
    assert found["spy"].tolist() == looks["sentence"].head(20).tolist()


# correlations over clusters


def test_correlations_are_scipys_in_each_fold_and_averaged():
    table = predictions(RNG(7))
    found = correlation.correlate(table, ["near", "tied"], resamples=20).set_index(["language", "model"])
    for model in ("near", "tied"):
        for language, group in table.groupby("language"):
            folds = [part for _, part in group.groupby("fold")]
            pearson = np.mean([stats.pearsonr(part[model], part["score"]).statistic for part in folds])
            tau = np.mean([stats.kendalltau(part[model], part["score"]).statistic for part in folds])
            inside = np.mean([within(part, model) for part in folds])
            expected = [pearson, tau, inside]
            assert found.loc[(language, model), ["pearson", "kendall_b", "within"]].tolist() == pytest.approx(expected)
        every = found.loc[[("hi", model), ("ta", model)], "kendall_b"].mean()
        assert found.loc[("avg", model), "kendall_b"] == pytest.approx(every)


def within(part, model):
    """Compare every two translations of one sentence, one by one."""
    balance = x = y = 0
    for _, group in part.groupby("sentence"):
        for (a, b), (c, d) in itertools.combinations(zip(group[model], group["score"]), 2):
            balance += np.sign(a - c) * np.sign(b - d)
            x, y = x + (a != c), y + (b != d)
    return balance / np.sqrt(x * y)


@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_weights_count_as_if_the_sentences_stood_there_so_often(seed):
    rng = RNG(seed)
    table = predictions(rng, n=90, sentences=12, languages=("hi",))
    weights = rng.integers(0, 4, 12)
    places = pd.Series(table["sentence"].to_numpy(), table.index)
    values = correlation._estimator(table, ["tied"], places)(weights[None].astype(float))[0, 0]
    repeated = table.loc[table.index.repeat(weights[table["sentence"]])]
    folds = [part for _, part in repeated.groupby("fold") if part["tied"].nunique() > 1 and part["score"].nunique() > 1]
    for value, test in zip(values, (stats.pearsonr, stats.kendalltau)):
        assert value == pytest.approx(np.mean([test(part["tied"], part["score"]).statistic for part in folds]))


def test_differences_are_paired_and_order_is_all_that_tau_sees():
    table = predictions(RNG(9))
    table["cubed"], table["minus"] = table["near"] ** 3, -table["near"]

    def found(models, **options):
        return correlation.correlate(table, models, resamples=100, **options).set_index(["language", "model"])

    plain = found(["near", "cubed", "minus", "noise"])
    for language in ("hi", "ta", "avg"):
        same = plain.loc[[(language, "near"), (language, "cubed")], ["kendall_b", "low", "high", "within"]]
        assert np.ptp(same.to_numpy(), axis=0) == pytest.approx(0)
        assert plain.loc[(language, "minus"), "kendall_b"] == pytest.approx(-plain.loc[(language, "near"), "kendall_b"])
        assert plain.loc[(language, "minus"), "low"] == pytest.approx(-plain.loc[(language, "near"), "high"])
    gain = found(["near", "noise"], against="near")
    assert (gain.loc[(slice(None), "near"), ["kendall_b", "low", "high"]] == 0).all(axis=None)
    apart = plain.loc[("hi", "noise"), "kendall_b"] - plain.loc[("hi", "near"), "kendall_b"]
    assert gain.loc[("hi", "noise"), "kendall_b"] == pytest.approx(apart)
    again = found(["near", "noise"], against="near")
    pd.testing.assert_frame_equal(gain, again)


# refusals

TABLE, LOOKS = examples(RNG(7))
FEW, PREDICTED = TABLE.head(20), predictions(RNG(7))
TEXTS = pd.DataFrame([{"source": "a", "hypothesis": "b", "reference": "c"}] * 2)


def out_of_fold(table=TABLE, looks=LOOKS, single="m"):
    return learned.out_of_fold(table, looks, single=[single], models={})


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("column reference", lambda: learned.features(TEXTS.drop(columns="reference"))),
        ("Row 2 .* its hypothesis", lambda: learned.features(TEXTS.assign(hypothesis=["b", None]))),
        ("2 English sentences", lambda: learned.folds(np.array([1, 1, 2]), k=3)),
        ("no column score", lambda: out_of_fold(TABLE.drop(columns="score"))),
        ("score is not a number", lambda: out_of_fold(TABLE.assign(score=np.nan))),
        ("at least two", lambda: out_of_fold(TABLE.assign(language="hi"))),
        ("m is not a number", lambda: out_of_fold(looks=LOOKS.assign(m=np.inf))),
        ("not the same rows", lambda: out_of_fold(looks=LOOKS.iloc[::-1])),
        ("no column q", lambda: out_of_fold(single="q")),
        ("All examples", lambda: learned.unseen(FEW, LOOKS.head(20), FEW, LOOKS.head(20), single=["m"], models={})),
        ("no column best", lambda: correlation.correlate(PREDICTED, ["best"])),
        ("near has no number", lambda: correlation.correlate(PREDICTED.assign(near=np.nan), ["noise", "near"])),
        ("rows twice", lambda: correlation.correlate(pd.concat([PREDICTED, PREDICTED]), ["near"])),
    ],
)
def test_what_cannot_be_learned_or_correlated_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()


# on the real data


@pytest.fixture(scope="module")
def indic(real):
    from evalkit.data.indicmt import SHORT

    ratings = real("indicmt-mqm")
    table = ratings.assign(language=ratings["tgt_lang"].astype(str).map(SHORT), score=ratings["score"].clip(lower=0))
    return table, learned.features(table)


def test_languages_spell_some_english_sentences_differently(indic):
    table, _ = indic
    groups = learned.sentence_groups(table["source"])
    assert (table["source"].nunique(), table["segment"].nunique(), groups.max() + 1) == (380, 379, 377)
    assert (pd.Series(groups).groupby(table["segment"].to_numpy()).nunique() == 1).all()
    kinds = table["source"].groupby(groups).unique().loc[lambda kept: kept.map(len) > 1]
    plain = [{"".join(filter(str.isalpha, text.replace("the fabric", "fabric"))) for text in kept} for kept in kinds]
    assert [len(each) for each in plain] == [1, 1, 1]  # a line break, a comma, an article


def test_what_was_learned_beats_the_best_single_feature_also_where_the_language_is_new(indic):
    table, looks = indic
    found = learned.out_of_fold(table, looks, single=["char4_recall", "edits_sorted"], models={"ridge": learned.ridge})
    assert len(found) == 2 * len(table)
    gain = correlation.correlate(found, ["ridge"], against=learned.BEST, resamples=200).set_index("language")
    assert (gain.loc["avg", ["low", "within_low"]] > 0).all(axis=None)
    assert (gain.loc["avg", "within"] < gain.loc["avg", "kendall_b"]).all()  # part of it is knowing hard sentences
