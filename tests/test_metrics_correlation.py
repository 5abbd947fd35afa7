"""Metrics against human scores: correlations with intervals, subsets of errors, spread; a metric learned from several."""

import unicodedata

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.metrics import alignment, correlation, learned
from evalkit.papers.sai2023 import metrics as subsets

WORDS = np.array(["na", "lomi", "katera", "vi", "suradanta", "ok", "belo"])


def aligned(rows, seed, *, repeats=0.3):
    """Make up a file of sources and references of like length, some with numbers, some sources more than once."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(rows):
        if pairs and rng.random() < repeats:
            pairs.append(pairs[rng.integers(len(pairs))])
            continue
        length = rng.integers(4, 40)
        number = f" {rng.integers(1, 3000)}" if rng.random() < 0.4 else ""
        source = " ".join(rng.choice(WORDS, length)) + number
        reference = " ".join(rng.choice(WORDS, max(2, round(length * rng.normal(1.1, 0.1))))) + number
        pairs.append((source, reference))
    return pd.DataFrame(pairs, columns=["source", "reference"]).assign(tgt_lang="hin")


def slipped(table, first, last, shift):
    """Move the references of a run of rows: each row then holds the one of the row ``shift`` places away."""
    reference = table["reference"].to_numpy(copy=True)
    reference[first : last + 1] = reference[first - shift : last + 1 - shift]
    return table.assign(reference=reference)


# Slipped references


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5]))
@settings(max_examples=12)
def test_a_file_in_order_is_left_as_it_is(seed, repeats):
    whole = aligned(150, seed, repeats=repeats)
    assert alignment.runs(whole).empty
    mended = alignment.corrected(whole)
    assert mended["correction"].eq(alignment.KEPT).all()
    pd.testing.assert_frame_equal(mended.drop(columns="correction"), whole)


@given(st.integers(0, 10_000), st.sampled_from([-1, 1]))
@settings(max_examples=12)
def test_what_is_put_back_is_what_was_there(seed, shift):
    whole = aligned(200, seed)
    mended = alignment.corrected(slipped(whole, 60, 140, shift))
    right = mended["reference"].eq(whole["reference"].loc[mended.index])
    assert right.mean() > 0.98  # at the edges a row or two cannot be told
    assert len(whole) - len(mended) == mended.attrs.get("excluded", {}).get("references lost", 0) <= 3


# Correlations

BOTH = {"gold": "score", "metrics": ["chrF", "TER"]}


def scored(seed, *, rows=60, sentences=20, languages=("tam",), systems=4):
    """Make up judgements with two metrics, ties and gaps."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"tgt_lang": np.repeat(languages, rows), "score": rng.integers(0, 26, len(languages) * rows)})
    table["segment"] = rng.integers(0, sentences, len(table)).astype(str)
    table["system"] = rng.integers(0, systems, len(table)).astype(str)
    table["chrF"] = table["score"] + rng.normal(0, 8, len(table)).round()
    table["TER"] = -table["score"] + rng.normal(0, 8, len(table)).round()
    return table.astype({"score": "float"})


# Subsets by family of error

KEY = {"src_lang": "eng", "doc": "d", "annotator": "a"}


def judged():
    """Six judgements: faultless; a fluency error; two; fluency and accuracy; accuracy and terminology; one untyped."""
    columns = {"score": [25.0, 24, 20, 15, 10, 24], "own_score": [25, 20, 24, 15, 9, 8]}
    columns["chrF"] = [90, 50, 60, 55, 20, 70]
    marks = {"2": "fluency/grammar", "3": "fluency/spelling fluency/grammar", "4": "fluency/grammar accuracy/omission"}
    marks |= {"5": "accuracy/addition terminology/inappropriate", "6": "unstated"}
    spans = [(segment, kind) for segment, kinds in marks.items() for kind in kinds.split()]
    names = {"tgt_lang": "tam", "system": "s"} | KEY
    table = pd.DataFrame({"segment": list("123456")} | columns).assign(**names)
    return table, pd.DataFrame(spans, columns=["segment", "error_type"]).assign(**names)


def test_errors_are_counted_by_judgement_and_family():
    found = subsets.count_errors(*judged())
    counts = found[["errors", "fluency", "accuracy", "terminology"]].to_numpy()
    assert ["".join(map(str, row)) for row in counts] == ["0000", "1100", "2200", "2110", "2011", "0000"]
    table, spans = judged()
    assert subsets.count_errors(table[1:], spans[3:])["errors"].tolist() == [0, 0, 2, 2, 0]


MEMBERS = dict.fromkeys(["authors", "formula's score"], ("1236", "156")) | {"terminology apart": ("1236", "16")}
MEMBERS |= {"without error-free": ("23", "5"), "literal": ("23", ""), "one error": ("2", "")}


@pytest.mark.parametrize("rule", MEMBERS)
def test_rules_choose_the_judgements_they_describe(rule):
    table = subsets.count_errors(*judged())
    for family, wanted in zip(("fluency", "accuracy"), MEMBERS[rule]):
        assert "".join(table.loc[subsets.member(table, family, rule), "segment"]) == wanted


def test_the_authors_rule_is_their_notebooks_loop(real, mirrored):
    """Cell 94, told anew: slots of the raw CSV file, whose types are counted by the word before the underscore."""
    commit = "d8a8666b7e79975d0c3490e433e3a2b98961e86e"
    raw = pd.read_csv(mirrored(f"AI4Bharat/IndicMT-Eval/{commit}/legacy/data/csv/Tamil.csv"))
    names = raw[[f"Error{slot}_Type" for slot in range(1, 6)]].map(lambda kind: kind.split("_")[0])
    none, fluency = names.eq("Default").sum(axis=1), names.eq("Fluency").sum(axis=1)
    accuracy = names.isin(["Accuracy", "Terminology"]).sum(axis=1)
    table = subsets.count_errors(real("indicmt-mqm"), real("indicmt-mqm-spans"))
    tamil = table[table["tgt_lang"] == "tam"]
    for family, of in (("fluency", fluency), ("accuracy", accuracy)):
        assert subsets.member(tamil, family, "authors").tolist() == (of + none).eq(5).tolist()


def test_ranges_and_scales():
    table = pd.DataFrame({"tgt_lang": "tam", "score": [-100.0, 5, 25], "chrF": [10.0, 20, 60], "TER": [0.0, 50, 200]})
    ends = [["human", -100, 25, 3], ["chrF", 10, 60, 3], ["TER", 0, 200, 3]]
    assert correlation.ranges(table, **BOTH).values.tolist() == ends
    normal = correlation.normalised(table, **BOTH).groupby("metric", sort=False)["value"].apply(list).to_dict()
    assert normal == {"human": [0, 0.2, 1], "chrF": [0.1, 0.2, 0.6], "TER": [0, 0.25, 1]}
    found = correlation.summary(correlation.normalised(table, **BOTH)).set_index("metric")
    assert found["lower_half"].round(6).to_dict() == {"human": 0.666667, "chrF": 0.666667, "TER": 0.666667}


# Refusals

TABLE, (ROWS, SPANS) = scored(6), judged()


# The learned metric: what it looks at, how folds are kept apart, how it is held against single metrics.

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
    assert learned.sounds_like("Barcelona", ["अन्य", spelt, "મકાન"])
    assert not learned.sounds_like("Kathmandu", [spelt])


# features

TEXT = st.text(alphabet="ab ०१२कख.।12", max_size=30)


def described(source, hypothesis, reference):
    row = {"source": source, "hypothesis": hypothesis, "reference": reference}
    return learned.features(pd.DataFrame([row])).iloc[0]


@given(TEXT, TEXT, TEXT)
def test_features_are_finite_and_shares_are_shares_for_any_text(source, hypothesis, reference):
    row = described(source, hypothesis, reference)
    assert np.isfinite(row).all()
    bounded = row.drop(["source_length", "length_to_source", "length_to_reference", "length_apart", "repeated_words"])
    assert bounded.between(0, 1).all()


def test_numbers_count_in_any_digits_and_lost_or_added_ones_cost():
    texts = {"२०२४ में १,५००": 1.0, "2024 में 1500": 1.0, "2024 में": 0.5, "2024, 1500 और 7": 2 / 3, "कुछ नहीं": 0.0}
    kept = [described("1,500 in 2024", text, "क")["numbers_kept"] for text in texts]
    assert kept == pytest.approx([*texts.values()])


# folds


@given(st.lists(st.integers(0, 12), min_size=8, max_size=60), st.integers(0, 5))
def test_folds_keep_groups_together_and_are_even(groups, seed):
    groups = np.array([*groups, 20, 21, 22])
    fold = learned.folds(groups, k=3, seed=seed)
    assert all(len(set(fold[groups == group])) == 1 for group in groups)
    sizes = [len(set(groups[fold == number])) for number in range(3)]
    assert max(sizes) - min(sizes) <= 1
    assert (fold == learned.folds(groups, k=3, seed=seed)).all()


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
    looks = pd.DataFrame({"sentence": sentence, "tongue": pd.factorize(language)[0]}, dtype=float)
    looks["m"] = rng.normal(0, 1, n)
    looks["weak"] = table["score"] + rng.normal(0, 5, n)
    return table, looks


def test_no_model_sees_a_tested_sentence_nor_for_zero_shot_the_language():
    Spy.seen = []
    table, looks = examples(RNG(7))
    found = learned.out_of_fold(table.join(looks), single=["m"], models={"spy": Spy})
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
    found = learned.out_of_fold(table.join(looks), single=["m", "weak"], models={})
    for number, own in found[found["setting"] == "cv"].groupby("fold"):
        known = table[fold != number].join(looks)
        parts = [part for _, part in known.groupby("language")]
        taus = {n: np.mean([stats.kendalltau(own[n], own["score"])[0] for own in parts]) for n in ("m", "weak")}
        assert (own[learned.BEST] == own[max(taus, key=taus.get)]).all()


def test_other_languages_are_scored_without_their_sentences():
    Spy.seen = []
    table, looks = examples(RNG(5))
    others = table.head(20).assign(language="kn")
    shared = table["source"].isin(others["source"]).sum()
    found = learned.unseen(table.join(looks), others.join(looks), single=["m"], models={"spy": Spy})
    assert found.attrs["excluded"] == {"examples with a tested sentence": shared}
    assert found["score"].tolist() == others["score"].tolist()
    assert found["spy"].tolist() == looks["sentence"].head(20).tolist()


# refusals

TABLE_LEARNED, LOOKS = examples(RNG(7))
FEW, PREDICTED = TABLE_LEARNED.head(20), predictions(RNG(7))
TEXTS = pd.DataFrame([{"source": "a", "hypothesis": "b", "reference": "c"}] * 2)


def out_of_fold(table=TABLE_LEARNED, looks=LOOKS):
    return learned.out_of_fold(table.join(looks), single=["m"], models={})


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("19 rows", lambda: alignment.runs(aligned(19, 1))),
        ("'mqm'", lambda: correlation.segments(TABLE, gold="mqm", metrics=["TER"])),
        ("'BLEU-1'", lambda: correlation.segments(TABLE, gold="score", metrics=["BLEU-1"])),
        ("ta has 1 systems", lambda: correlation.systems(TABLE.assign(system="one"), **BOTH)),
        ("Two judgements", lambda: subsets.count_errors(pd.concat([ROWS, ROWS]), SPANS)),
        ("No error .*'9'", lambda: subsets.count_errors(ROWS, SPANS.assign(segment="9"))),
        ("TER is 3", lambda: correlation.normalised(TABLE.assign(TER=3.0), **BOTH)),
        ("column reference", lambda: learned.features(TEXTS.drop(columns="reference"))),
        ("Row 2 .* its hypothesis", lambda: learned.features(TEXTS.assign(hypothesis=["b", None]))),
        ("2 English sentences", lambda: learned.folds(np.array([1, 1, 2]), k=3)),
        ("score is not a number", lambda: out_of_fold(TABLE_LEARNED.assign(score=np.nan))),
        ("at least two", lambda: out_of_fold(TABLE_LEARNED.assign(language="hi"))),
        ("m is not a number", lambda: out_of_fold(looks=LOOKS.assign(m=np.inf))),
        ("All examples", lambda: learned.unseen(FEW.join(LOOKS), FEW.join(LOOKS), single=["m"], models={})),
        ("near has no number", lambda: correlation.correlate(PREDICTED.assign(near=np.nan), ["noise", "near"])),
    ],
)
def test_what_cannot_be_computed_learned_or_correlated_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()


@given(st.integers(0, 10_000))
@settings(max_examples=12)
def test_segments_equal_scipy_and_ter_is_turned(seed):
    table = scored(seed, languages=("tam", "guj"))
    table.loc[3, "chrF"] = np.nan
    found = correlation.segments(table, **BOTH).set_index(["language", "metric"])
    assert found.index.get_level_values(0).unique().tolist() == ["gu", "ta"]  # the paper's order
    for (language, metric), row in found.iterrows():
        part = table[table["tgt_lang"] == {"gu": "guj", "ta": "tam"}[language]].dropna(subset=metric)
        x = part[metric] * (-1 if metric == "TER" else 1)
        assert row["pearson"] == pytest.approx(stats.pearsonr(x, part["score"])[0])
        assert row["kendall_b"] == pytest.approx(stats.kendalltau(x, part["score"])[0])
        assert row["n"] == len(part)
