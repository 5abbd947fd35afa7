"""Classification of critical errors: small models, and every number that judges them, against independent ones."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.human.judges import alternative_annotator
from evalkit.papers.sudoh2021 import classification
from evalkit.papers.sudoh2021.labels import KEY, categories, named

FLUENCY, ADEQUACY = categories("fluency"), categories("adequacy")


def guesses(true, predicted, dimension="adequacy", model="m"):
    names = np.array(categories(dimension), dtype=object)
    return pd.DataFrame({"dimension": dimension, "model": model, "true": names[true], "predicted": names[predicted]})


def corpus(rows=160, seed=7):
    """Translations whose quality shows: the more words are wrong, the worse the label."""
    rng = np.random.default_rng(seed)
    lexicon = [f"word{number}" for number in range(60)]
    quality = rng.integers(0, 5, rows)
    references = [" ".join(rng.choice(lexicon, 12)) for _ in range(rows)]
    said = []
    for text, level in zip(references, quality):
        tokens = text.split()
        for place in rng.choice(12, 2 * (4 - level), replace=False):
            tokens[place] = str(rng.choice(lexicon))
        said.append(" ".join(tokens))
    table = pd.DataFrame({"segment": [str(row) for row in range(rows)], "hypothesis": said, "reference": references})
    table = table.assign(src_lang="deu", tgt_lang="eng", doc="d", z=quality + rng.normal(0, 0.5, rows))
    table["split"] = rng.permutation(np.where(np.arange(rows) < 0.6 * rows, "train", ["dev", "test"] * (rows // 2)))
    labels = table[KEY].assign(dimension="fluency", label=np.array(FLUENCY, dtype=object)[quality])
    return table, labels


CODES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=40)


@given(CODES)
@settings(max_examples=25)
def test_scores_and_summaries_equal_scikit_learns(pairs):
    true, predicted = np.array(pairs).T
    confused = classification.confusion(guesses(true, predicted))
    ours = classification.scores(confused).set_index("label")[["precision", "recall", "f1"]].astype(float)
    there = sorted(set(true))
    options = {"labels": there, "zero_division": 0}
    theirs = metrics.precision_recall_fscore_support(true, predicted, **options)[:3]
    np.testing.assert_allclose(ours.iloc[there], np.transpose(theirs))
    assert ours.drop(index=["Ave.", *np.array(ADEQUACY)[there]]).isna().all(axis=None)
    macro = metrics.precision_recall_fscore_support(true, predicted, average="macro", **options)[:3]
    np.testing.assert_allclose(ours.loc["Ave."], macro)
    row = classification.summary(confused, order="print").iloc[0]
    assert row["accuracy"] == pytest.approx(metrics.accuracy_score(true, predicted))
    assert row["mean_places"] == pytest.approx(metrics.mean_absolute_error(true, predicted))
    if len(set(true) | set(predicted)) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kappa = metrics.cohen_kappa_score(true, predicted, labels=range(7), weights="quadratic")
        assert row["weighted_kappa"] == pytest.approx(kappa)
    matrix = confused["count"].to_numpy().reshape(7, 7)
    assert (matrix == metrics.confusion_matrix(true, predicted, labels=range(7))).all()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_perfect_prediction_scores_one_and_has_no_errors(true):
    confused = classification.confusion(guesses(np.array(true), np.array(true)))
    assert set(classification.scores(confused)["f1"].dropna()) == {1.0}
    row = classification.summary(confused).iloc[0]
    assert (row["accuracy"], row["mean_places"], row["distant"]) == (1, 0, 0)
    assert np.isnan(row["adjacent"])


@given(CODES, st.permutations(range(7)))
@settings(max_examples=15)
def test_accuracy_and_macro_scores_do_not_care_what_labels_are_called(pairs, other):
    true, predicted = np.array(pairs).T
    renamed = np.array(other)
    one, two = (
        classification.confusion(guesses(true, predicted)),
        classification.confusion(guesses(renamed[true], renamed[predicted])),
    )
    means = [classification.scores(t).set_index("label").loc["Ave.", ["precision", "recall", "f1"]] for t in (one, two)]
    np.testing.assert_allclose(means[0].to_numpy(float), means[1].to_numpy(float))
    assert classification.summary(one)["accuracy"].item() == classification.summary(two)["accuracy"].item()


def test_the_printed_matrices_give_the_printed_scores_and_accuracies():
    for dimension, matrix, scores, right in (("fluency", 11, 12, 2267), ("adequacy", 13, 14, 2351)):
        confused = classification.printed_confusion(data.published(f"sudoh2021_table{matrix}"), dimension=dimension)
        assert confused.loc[confused["true"] == confused["predicted"], "count"].sum() == right
        ours = classification.scores(confused).set_index("label")
        printed = data.published(f"sudoh2021_table{scores}").set_index("label").rename(index={"average": "Ave."})
        gap = ours[["precision", "recall", "f1"]] - printed.loc[ours.index, ["precision", "recall", "f1"]].astype(float)
        assert gap.abs().max().max() <= 0.000501
    assert round(classification.summary(confused)["accuracy"].item(), 3) == 0.600


def test_distance_follows_the_order_of_severity():
    for true, predicted, by_severity, by_print in (
        ("Contradiction", "Incomprehensible", 2, 2),
        ("Serious", "Incomprehensible", 1, 3),
    ):
        confused = classification.confusion(guesses([ADEQUACY.index(true)], [ADEQUACY.index(predicted)]))
        places = [classification.summary(confused, order=o)["mean_places"].item() for o in ("severity", "print")]
        assert places == [by_severity, by_print]


def test_accuracy_intervals_are_wider_where_rows_of_a_sentence_are_alike():
    rng = np.random.default_rng(7)
    right = np.repeat(rng.random(100) < 0.5, 5)
    table = guesses(np.zeros(500, int), np.where(right, 0, 1), "fluency")
    width = {}
    for name, sentence in (("alone", np.arange(500)), ("together", np.repeat(np.arange(100), 5))):
        row = classification.accuracy(table.assign(sentence=sentence), resamples=400).iloc[0]
        assert row["low"] <= row["accuracy"] <= row["high"]
        assert row["accuracy"] == pytest.approx(right.mean())
        width[name] = row["high"] - row["low"]
    assert 1.6 < width["together"] / width["alone"] < 3.2  # the theory's ratio is the root of 5


def test_equation_1_gives_the_hand_computed_weights():
    labels = pd.Series(["Serious"] * 100 + ["Fair"] * 25 + ["Unrelated"] * 4)
    assert classification.class_weights(labels).to_dict() == {"Serious": 1.0, "Fair": 2.0, "Unrelated": 5.0}


def guessed(table, labels, **options):
    return classification.predict(table, labels, classification.features(table), dimension="fluency", **options)


def test_features_are_finite_and_do_not_depend_on_case_or_the_form_of_quotation_marks():
    said = ['He said: "It isn’t 1,200 km."', "he said: &quot;it isn &apos;t 1,200 km.&quot;", ""]
    meant = ['She said: "It is 1,200 km."', "she said: &quot;it is 1,200 km.&quot;", "."]
    seen = classification.features(pd.DataFrame({"hypothesis": said, "reference": meant}))
    assert np.isfinite(seen.to_numpy()).all()
    np.testing.assert_allclose(seen.iloc[0], seen.iloc[1])
    same = classification.features(pd.DataFrame({"hypothesis": meant, "reference": meant}))
    assert same[["chrf", "ratio", "identical", "in_order"]].drop_duplicates().values.tolist() == [[100, 100, 1, 1]]


def test_no_row_outside_of_training_teaches_anything():
    table, labels = corpus()
    outside = table["split"].ne("train").to_numpy()
    other = labels.copy()
    other.loc[outside, "label"] = "Poor"
    first, second = guessed(table, labels), guessed(table, other)
    pd.testing.assert_frame_equal(first.drop(columns="true"), second.drop(columns="true"))
    assert not first["true"].equals(second["true"])
    tested = table["split"].eq("test").to_numpy()
    changed = table.assign(hypothesis=table["hypothesis"].where(~tested, "entirely other words"))
    dev = [found.loc[found["split"] == "dev", "predicted"].tolist() for found in (first, guessed(changed, labels))]
    assert dev[0] == dev[1]


def test_models_learn_what_there_is_to_learn_the_same_each_time():
    table, labels = corpus(400)
    once = guessed(table, labels)
    pd.testing.assert_frame_equal(once, guessed(table, labels))
    found = classification.accuracy(once[once["split"] == "test"], resamples=100).set_index("model")
    assert (
        found.loc[["features", "features (weighted)", "DA thresholds"], "low"].min()
        > 0.1 + found.at["majority class", "high"]
    )
    commonest = labels.loc[table["split"].eq("train"), "label"].mode()[0]
    assert set(once.loc[once["model"] == "majority class", "predicted"]) == {commonest}


def test_thresholds_cut_one_number_into_stretches():
    table, labels = corpus(300)
    found = guessed(table, labels, models=["DA thresholds"]).sort_values("z")
    assert found["predicted"].ne(found["predicted"].shift()).sum() <= len(FLUENCY)
    chrf = classification.features(table)["chrf"]
    found = guessed(table, labels, models=["chrF thresholds"]).merge(table[KEY].assign(chrf=chrf), on=KEY)
    found = found.sort_values("chrf")["predicted"]
    assert found.ne(found.shift()).sum() <= len(FLUENCY)


@pytest.fixture(scope="module")
def small():
    labels, texts = simulate.stand_in("sudoh-labels"), simulate.stand_in("sudoh-translations")
    few = [table[table["segment"].astype(int) <= 60] for table in (labels, texts)]
    return *few, classification.predict_each_test_set(*few)


def test_labels_of_a_test_set_are_never_learned_by_who_judges_it(small):
    labels, texts, before = small
    one = sorted(labels["doc"].unique())[0]
    spoilt = labels.copy()
    turned = np.where(labels["segment"].astype(int) % 2, "F", "B")
    spoilt["label"] = labels["label"].where(labels["doc"] != one, turned)
    after = classification.predict_each_test_set(spoilt, texts)
    here = before["doc"] == one
    columns = [*KEY, "dimension", "model", "predicted"]
    pd.testing.assert_frame_equal(before.loc[here, columns], after.loc[here, columns])
    assert not before.loc[~here, "predicted"].equals(after.loc[~here, "predicted"])


def test_trials_are_the_test_on_labels_and_on_their_places(small):
    labels, _, predicted = small
    found = classification.replace_annotators(labels, predicted, epsilons=[0.1]).set_index(["data", "judge"])
    assert set(found.index.get_level_values("data")) == {"Sudoh adequacy", "Sudoh fluency", "Sudoh fluency, steps"}
    rows = named(labels[labels["dimension"] == "fluency"])
    wide = rows.pivot(index=KEY, columns="annotator", values="label")
    own = predicted[(predicted["dimension"] == "fluency") & (predicted["model"] == "features")].set_index(KEY)
    steps = {name: float(place) for place, name in enumerate(categories("fluency"))}
    placed = wide.apply(lambda column: column.map(steps))
    for name, people, answers, alignment in (
        ("Sudoh fluency", wide, own["predicted"], "accuracy"),
        ("Sudoh fluency, steps", placed, own["predicted"].map(steps), "rmse"),
    ):
        by_hand = alternative_annotator(people, answers, alignment=alignment, epsilon=0.1)
        row = found.loc[name, "classifier on features"]
        assert (row["winning_rate"], row["advantage"]) == (by_hand.winning_rate, by_hand.advantage)
        assert row["items"] == len(wide)


TABLE, LABELS = corpus(30)


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("two labels of fluency. Reduce", lambda: guessed(TABLE, pd.concat([LABELS, LABELS]))),
        ("have no label of fluency", lambda: guessed(TABLE, LABELS[:0])),
        ("'RoBERTa'", lambda: guessed(TABLE, LABELS, models=["RoBERTa"])),
        ("need two labels", lambda: guessed(TABLE, LABELS.assign(label="Fair"))),
        ("'Serious' is no label", lambda: classification.confusion(guesses([0], [3]).assign(dimension="fluency"))),
        ("no predictions", lambda: classification.confusion(guesses([], []))),
    ],
)
def test_what_cannot_be_learned_or_judged_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()


@pytest.mark.slow
def test_on_the_papers_split_small_models_beat_the_commonest_label_not_the_paper_and_find_no_contradictions(real):
    table, labels = real("sudoh-translations"), named(real("sudoh-agreed"))
    assert table["split"].value_counts().to_dict() == {"train": 4824, "test": 3920, "dev": 536}
    seen = classification.features(table)
    found = [classification.predict(table, labels, seen, dimension=d) for d in ("fluency", "adequacy")]
    tested = pd.concat(found).query("split == 'test'")
    assert tested.groupby(["dimension", "model"]).size().eq(3920).all()
    right = classification.accuracy(tested, resamples=100).set_index(["dimension", "model"])
    for dimension, printed in (("fluency", 0.578), ("adequacy", 0.600)):
        assert right.loc[(dimension, "features"), "low"] > right.loc[(dimension, "majority class"), "high"]
        assert right.loc[(dimension, "features"), "high"] < printed
    scored = classification.scores(classification.confusion(tested))
    assert scored[scored["label"] == "Contradiction"]["recall"].max() < 0.05
    references = table.groupby("split")["reference"].agg(set)
    assert not references["test"] & references["train"]
