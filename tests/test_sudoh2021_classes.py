"""Classification of critical errors: features, models, and every number that judges them, against independent ones."""

import warnings
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu import sentence_chrf
from sklearn import metrics
from statsmodels.miscmodels.ordinal_model import OrderedModel

from evalkit import DataError, data
from evalkit.papers.sudoh2021 import classify, contradictions, costs, evaluation, features, models, ngrams
from evalkit.papers.sudoh2021 import figures as draw
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named

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


def corpus_of(table):
    return classify.Corpus(table, features.features(table))


CODES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=40)


@given(CODES)
@settings(max_examples=25)
def test_scores_and_summaries_equal_scikit_learns(pairs):
    true, predicted = np.array(pairs).T
    confused = evaluation.confusion(guesses(true, predicted))
    ours = evaluation.scores(confused).set_index("label")[["precision", "recall", "f1"]].astype(float)
    there = sorted(set(true))
    options = {"labels": there, "zero_division": 0}
    theirs = metrics.precision_recall_fscore_support(true, predicted, **options)[:3]
    np.testing.assert_allclose(ours.iloc[there], np.transpose(theirs))
    assert ours.drop(index=["Ave.", *np.array(ADEQUACY)[there]]).isna().all(axis=None)
    macro = metrics.precision_recall_fscore_support(true, predicted, average="macro", **options)[:3]
    np.testing.assert_allclose(ours.loc["Ave."], macro)
    row = evaluation.summary(confused, order="print").iloc[0]
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
    confused = evaluation.confusion(guesses(np.array(true), np.array(true)))
    assert set(evaluation.scores(confused)["f1"].dropna()) == {1.0}
    row = evaluation.summary(confused).iloc[0]
    assert (row["accuracy"], row["mean_places"], row["distant"]) == (1, 0, 0)
    assert np.isnan(row["adjacent"])


@given(CODES, st.permutations(range(7)))
@settings(max_examples=15)
def test_accuracy_and_macro_scores_do_not_care_what_labels_are_called(pairs, other):
    true, predicted = np.array(pairs).T
    renamed = np.array(other)
    one, two = (
        evaluation.confusion(guesses(true, predicted)),
        evaluation.confusion(guesses(renamed[true], renamed[predicted])),
    )
    means = [evaluation.scores(t).set_index("label").loc["Ave.", ["precision", "recall", "f1"]] for t in (one, two)]
    np.testing.assert_allclose(means[0].to_numpy(float), means[1].to_numpy(float))
    assert evaluation.summary(one)["accuracy"].item() == evaluation.summary(two)["accuracy"].item()


def test_the_printed_matrices_give_the_printed_scores_and_accuracies():
    for dimension, matrix, scores, right in (("fluency", 11, 12, 2267), ("adequacy", 13, 14, 2351)):
        confused = evaluation.printed_confusion(data.published(f"sudoh2021_table{matrix}"), dimension=dimension)
        assert confused.loc[confused["true"] == confused["predicted"], "count"].sum() == right
        ours = evaluation.scores(confused).set_index("label")
        printed = data.published(f"sudoh2021_table{scores}").set_index("label").rename(index={"average": "Ave."})
        gap = ours[["precision", "recall", "f1"]] - printed.loc[ours.index, ["precision", "recall", "f1"]].astype(float)
        assert gap.abs().max().max() <= 0.000501
    assert round(evaluation.summary(confused)["accuracy"].item(), 3) == 0.600


def test_distance_follows_the_order_of_severity():
    for true, predicted, by_severity, by_print in (
        ("Contradiction", "Incomprehensible", 2, 2),
        ("Serious", "Incomprehensible", 1, 3),
    ):
        confused = evaluation.confusion(guesses([ADEQUACY.index(true)], [ADEQUACY.index(predicted)]))
        places = [evaluation.summary(confused, order=o)["mean_places"].item() for o in ("severity", "print")]
        assert places == [by_severity, by_print]


def test_accuracy_intervals_are_wider_where_rows_of_a_sentence_are_alike():
    rng = np.random.default_rng(7)
    right = np.repeat(rng.random(100) < 0.5, 5)
    table = guesses(np.zeros(500, int), np.where(right, 0, 1), "fluency")
    width = {}
    for name, sentence in (("alone", np.arange(500)), ("together", np.repeat(np.arange(100), 5))):
        row = evaluation.accuracy(table.assign(sentence=sentence), resamples=400).iloc[0]
        assert row["low"] <= row["accuracy"] <= row["high"]
        assert row["accuracy"] == pytest.approx(right.mean())
        width[name] = row["high"] - row["low"]
    assert 1.6 < width["together"] / width["alone"] < 3.2  # the theory's ratio is the root of 5


def test_gain_over_a_model_is_the_difference_and_zero_for_itself():
    rows = pd.concat([guesses([0, 1, 2], [0, 1, 1], model="a"), guesses([0, 1, 2], [0, 0, 0], model="b")])
    rows = rows.assign(sentence=[0, 1, 2] * 2)
    table = evaluation.accuracy(rows, against="b", resamples=50).set_index("model")
    assert table.loc["a", "gain"] == pytest.approx(1 / 3)
    assert table.loc["b", ["gain", "gain_low", "gain_high"]].tolist() == [0, 0, 0]


def test_equation_1_gives_the_hand_computed_weights():
    labels = pd.Series(["Serious"] * 100 + ["Fair"] * 25 + ["Unrelated"] * 4)
    assert classify.class_weights(labels).to_dict() == {"Serious": 1.0, "Fair": 2.0, "Unrelated": 5.0}


def test_features_are_finite_and_do_not_depend_on_case_or_tokenisation():
    said = ['He said: "It isn’t 1,200 km."', "he said : &quot; it isn &apos;t 1,200 km . &quot;", ""]
    meant = ['She said: "It is 1,200 km."', "she said : &quot; it is 1,200 km . &quot;", "."]
    described = features.features(pd.DataFrame({"hypothesis": said, "reference": meant, "split": "train"}))
    assert np.isfinite(described.to_numpy()).all()
    np.testing.assert_allclose(described.iloc[0], described.iloc[1])
    assert described.loc[0, ["numbers_lost", "negations_added", "opposites"]].tolist() == [0, 1, 1]


def test_shares_equal_counted_ngrams_and_the_f_of_characters_is_sacrebleus_chrf():
    rng = np.random.default_rng(7)
    texts = [["".join(rng.choice(list("abc"), 25)) for _ in range(20)] for _ in range(2)]
    found = ngrams.shares(ngrams.Grams(*texts, orders=6))
    for order, (precision, recall) in enumerate(found, 1):
        counts = [[Counter(t[i : i + order] for i in range(26 - order)) for t in side] for side in texts]
        both = [(one & other).total() / (26 - order) for one, other in zip(*counts)]
        np.testing.assert_allclose(precision, both)
        np.testing.assert_allclose(recall, both)
    table = pd.DataFrame({"hypothesis": ["a cat sat on mats"], "reference": ["the cat sat on a mat"], "split": "train"})
    ours = features.features(table)["char_f"].item()
    assert 100 * ours == pytest.approx(sentence_chrf(table["hypothesis"][0], [table["reference"][0]]).score)


def test_no_row_outside_of_training_teaches_anything():
    table, labels = corpus()
    described = features.features(table)
    outside = table["split"].ne("train").to_numpy()
    changed = table.copy()
    changed.loc[outside, "hypothesis"] = changed.loc[outside, "hypothesis"].iloc[::-1].to_numpy()
    changed.loc[outside, "reference"] = "entirely other words"
    pd.testing.assert_frame_equal(described[~outside], features.features(changed)[~outside])
    other, seen = labels.copy(), classify.Corpus(table, described)
    other.loc[outside, "label"] = "Poor"
    first, second = (classify.predict(seen, own, dimension="fluency") for own in (labels, other))
    pd.testing.assert_frame_equal(first.drop(columns="true"), second.drop(columns="true"))
    assert not first["true"].equals(second["true"])


def test_a_sentences_own_reference_does_not_make_it_familiar():
    texts = [["a", "b", "c"], ["a", "b", "c"], ["d", "e", "f"]]
    own, lent = np.array([0, 0, 1]), np.array([True, True, True])
    found = ngrams.language_model(ngrams.Grams(texts, texts, orders=3), own, lent)
    assert found["unseen"].tolist() == [1, 1, 1]  # the first two share their reference, the third has its own
    other = ngrams.language_model(ngrams.Grams(texts, texts, orders=3), np.array([0, 1, 2]), lent)
    assert other["unseen"].tolist() == [0, 0, 1]


def test_models_learn_what_there_is_to_learn_the_same_each_time_and_survive_missing_labels():
    table, labels = corpus(400)
    once, again = (classify.predict(corpus_of(table), labels, dimension="fluency") for _ in range(2))
    pd.testing.assert_frame_equal(once, again)
    tested = once[once["split"] == "test"]
    found = evaluation.accuracy(tested, against="majority class", resamples=100).set_index("model")
    assert found.loc[["features", "boosting", "mean of models", "features (weighted)"], "gain_low"].min() > 0.1
    np.testing.assert_allclose(once[FLUENCY].sum(axis=1), 1)
    assert set(classify.choose(once)["model"]).isdisjoint(classify.BASELINES)
    few = labels.assign(label=labels["label"].replace({"Good": "Fair", "Excellent": "Fair"}))
    few.loc[table["split"].ne("train").to_numpy(), "label"] = "Excellent"
    fewer = classify.predict(corpus_of(table), few, dimension="fluency", models=["boosting"])
    fewer = fewer[fewer["model"] == "boosting"]
    assert (fewer[["Good", "Excellent"]] == 0).all().all()
    one = classify.predict(corpus_of(table), labels.assign(label="Fair"), dimension="fluency")
    assert set(one["model"]) == set(classify.BASELINES)


def test_thresholds_are_the_best_of_all_sets_of_cut_points():
    rng = np.random.default_rng(7)
    names = ["a", "b", "c"]
    for _ in range(25):
        values = rng.integers(0, 6, 12).astype(float)
        truth = np.array(names, dtype=object)[rng.integers(0, 3, 12)]
        there = sorted(set(truth), key=lambda name: (values[truth == name].mean(), names.index(name)))
        steps = np.arange(-0.5, 6.5)
        best = max(
            sum(there[np.searchsorted(cuts, value, side="right")] == label for value, label in zip(values, truth))
            for cuts in combinations_with_replacement(steps, len(there) - 1)
        )
        cut = models.fit_thresholds(values, list(truth), names=names)
        assert (cut.predict(values) == truth).sum() == best
        np.testing.assert_allclose(cut.probabilities(values).sum(axis=1), 1)


def test_the_cheapest_threshold_is_found_and_the_curve_tells_its_cost():
    rng = np.random.default_rng(7)
    known, asked = rng.integers(0, 8, 40) / 8, rng.integers(0, 8, 60) / 8
    wrong, really = rng.random(40) < known, rng.random(60) < asked
    trial = costs.Trial({"m": (known, asked)}, (wrong, really), np.arange(60))
    for missed_cost in (0.3, 1, 4, 30):
        tried = [-np.inf, *np.unique(known), np.inf]
        brute = [costs.cost(wrong, known >= cut, missed_cost=missed_cost) for cut in tried]
        found = costs.threshold(known, wrong, missed_cost=missed_cost)
        assert costs.cost(wrong, known >= found, missed_cost=missed_cost) == pytest.approx(min(brute))
        table = costs.curve(trial, missed_costs=[missed_cost], resamples=5).set_index("signal")
        told = np.where(really, missed_cost * (asked < found), asked >= found).mean()
        assert table.loc["m", "cost"] == pytest.approx(told)
        nothing, everything = ([missed_cost * w.mean(), (~w).mean()] for w in (wrong, really))
        assert table.loc[costs.NO_MODEL, "cost"] == pytest.approx(everything[int(np.argmin(nothing))])


def test_recall_at_a_precision_equals_scikit_learns_curve():
    rng = np.random.default_rng(7)
    risk = rng.random(300)
    wrong = rng.random(300) < risk
    table = costs.recall_at_precision(costs.Trial({"m": (risk, risk)}, (wrong, wrong), np.arange(300)), resamples=5)
    table = table.set_index("wanted")
    precision, recall, _ = metrics.precision_recall_curve(wrong, risk)
    for wanted, row in table.iterrows():
        assert row["precision"] >= wanted
        assert row["recall"] == pytest.approx(recall[precision >= wanted].max())


def test_the_cost_of_a_printed_matrix_counts_missed_errors_and_false_alarms():
    true, predicted = ("Serious", "Unrelated", "Good", "Incomprehensible"), ("Contradiction", "Fair", "Serious", "Good")
    rows = guesses([ADEQUACY.index(name) for name in true], [ADEQUACY.index(name) for name in predicted])
    row = costs.of_confusion(evaluation.confusion(rows), missed_cost=10).iloc[0]
    assert (row["missed"], row["false_alarms"], row["recall"], row["cost"]) == (1, 1, 0.5, 11 / 4)
    assert row["relative"] == pytest.approx(11 / 2)  # to check everything costs 2 false alarms


def test_brier_score_log_loss_and_calibration_error_equal_independent_ones():
    rng = np.random.default_rng(7)
    chance = rng.dirichlet(np.ones(5), 400)
    code = np.array([rng.choice(5, p=row) for row in chance])
    rows = pd.DataFrame(chance, columns=FLUENCY).assign(dimension="fluency", model="m", true=np.array(FLUENCY)[code])
    row = evaluation.quality(rows).iloc[0]
    assert row["log_loss"] == pytest.approx(metrics.log_loss(code, chance, labels=range(5)))
    assert row["brier"] == pytest.approx(sum(metrics.brier_score_loss(code == k, chance[:, k]) for k in range(5)))
    order = np.argsort(chance.max(axis=1))
    parts = np.array_split(order, 10)
    gaps = [abs(chance.max(axis=1)[p].mean() - (chance.argmax(axis=1) == code)[p].mean()) for p in parts]
    assert row["ece"] == pytest.approx(np.mean(gaps))


def test_a_temperature_undoes_too_much_confidence_and_leaves_the_labels():
    rng = np.random.default_rng(7)
    honest = rng.dirichlet(np.full(5, 0.7), 6000)
    code = np.array([rng.choice(5, p=row) for row in honest])
    boastful = honest**2.5 / (honest**2.5).sum(axis=1, keepdims=True)
    assert evaluation.temperature(honest, code) == pytest.approx(1, abs=0.05)
    assert evaluation.temperature(boastful, code) == pytest.approx(2.5, rel=0.05)
    rows = pd.DataFrame(boastful, columns=FLUENCY).assign(
        dimension="fluency", model="m", true=np.array(FLUENCY)[code], split=np.repeat(["dev", "test"], 3000)
    )
    corrected = evaluation.calibrated(rows)
    assert (corrected[FLUENCY].to_numpy().argmax(axis=1) == boastful.argmax(axis=1)).all()
    before, after = (evaluation.quality(t[t["split"] == "test"]).iloc[0] for t in (rows, corrected))
    assert after["log_loss"] < before["log_loss"]
    assert after["ece"] < before["ece"] / 3


def test_the_ordinal_model_recovers_parameters_and_equals_statsmodels():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(3000, 3))
    slopes, cuts = np.array([1.0, -0.5, 0.0]), np.array([-1.0, 0.3, 1.5])
    code = (cuts < (x @ slopes + rng.logistic(size=3000))[:, None]).sum(axis=1)
    model = models.fit_cumulative_link(x, code, labels=4)
    np.testing.assert_allclose(model.slopes, slopes, atol=0.12)
    np.testing.assert_allclose(model.cuts, cuts, atol=0.12)
    theirs = OrderedModel(code, x, distr="logit").fit(method="bfgs", disp=False)
    np.testing.assert_allclose(model.slopes, theirs.params[:3], atol=2e-4)
    np.testing.assert_allclose(model.probabilities(x), theirs.predict(x), atol=2e-4)
    held_back = models.fit_cumulative_link(x, code, labels=4, penalty=500)
    assert (np.abs(held_back.slopes[:2]) < np.abs(model.slopes[:2])).all()
    with pytest.raises(DataError, match="Every label"):
        models.fit_cumulative_link(x, np.minimum(code, 2), labels=4)


def test_ordinal_predictions_have_the_shape_of_the_others_and_skip_missing_labels():
    table, labels = corpus(300)
    labels = labels.assign(label=labels["label"].replace({"Poor": "Fair"}))
    found = classify.predict_in_order(corpus_of(table), labels, dimension="fluency")
    assert list(found["model"].unique()) == ["ordinal", "ordinal, middle label"]
    assert (found["Poor"] == 0).all()
    np.testing.assert_allclose(found[FLUENCY].sum(axis=1), 1)
    assert evaluation.summary(evaluation.confusion(found))["weighted_kappa"].min() > 0.3


def test_rules_find_planted_contradictions():
    meant = [f"there are {n} men and it is good today" for n in range(20, 60)]
    said = [text.replace(" is good", " is not good") if row < 10 else text for row, text in enumerate(meant)]
    rows = pd.DataFrame({"hypothesis": said, "reference": meant, "sentence": range(40), "segment": range(40)})
    rows = rows.assign(true=["Contradiction"] * 20 + ["Good"] * 20, src_lang="deu", tgt_lang="eng", doc="d")
    rows = contradictions.with_signs(rows.assign(split="test", z=0.0))
    table = contradictions.rules(rows, resamples=50).set_index("rule")
    assert table.loc["negation", ["flagged", "right", "precision", "recall"]].tolist() == [10, 10, 1, 0.5]
    assert table.loc["number", "flagged"] == 0
    assert np.isnan(table.loc["number", "precision"])
    shown = contradictions.shown(rows, rows.assign(predicted="Fair"))
    assert shown[["sign", "predicted"]].values.tolist() == [["negation", "Fair"]] * 2 + [["none", "Fair"]] * 2


def test_the_share_above_equals_a_count_of_pairs():
    rng = np.random.default_rng(7)
    rows = pd.DataFrame({"true": rng.choice(["Contradiction", "Fair"], 50), "z": rng.integers(0, 5, 50)})
    mine, other = (rows.loc[rows["true"] == name, "z"].to_numpy(float) for name in ("Contradiction", "Fair"))
    pairs = np.subtract.outer(mine, other)
    expected = ((pairs > 0) + 0.5 * (pairs == 0)).mean()
    assert contradictions.above_label(rows.assign(split="test"))["above"].item() == pytest.approx(expected)


def test_figures_are_drawn():
    rng = np.random.default_rng(7)
    rows = guesses(rng.integers(0, 7, 60), rng.integers(0, 7, 60))
    assert draw.confusion(evaluation.confusion(rows), models=["m"]).get_supxlabel() == "predicted label"
    known = rng.random(60)
    trial = costs.Trial({"$m$": (known, known)}, (known > 0.5, known > 0.4), np.arange(60))
    draw.cost(costs.curve(trial, missed_costs=[0.5, 1, 10], resamples=5))
    draw.reliability({"m": evaluation.reliability(known, known > 0.5)}, event="x")
    rows = rows.assign(sentence=range(60), src_lang="deu", tgt_lang="eng")
    pairs = evaluation.accuracy(rows, by=["src_lang", "tgt_lang"], resamples=20)
    assert draw.by_pair(pairs, models=["m"]).axes[0].get_yticklabels()[0].get_text() == "deu-eng"


TABLE, LABELS = corpus(30)
GUESSED = guesses([0, 1], [0, 1]).assign(sentence=[0, 1])


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("'S' is no label", lambda: classify.examples(TABLE, LABELS.assign(label="S"), dimension="fluency")),
        ("two labels", lambda: classify.examples(TABLE, pd.concat([LABELS, LABELS]), dimension="fluency")),
        ("no label of adequacy", lambda: classify.predict(corpus_of(TABLE), LABELS, dimension="adequacy")),
        ("'RoBERTa'", lambda: classify.predict(corpus_of(TABLE), LABELS, dimension="fluency", models=["RoBERTa"])),
        ("split train", lambda: features.features(TABLE.assign(split="test"))),
        ("column reference", lambda: features.features(TABLE.drop(columns="reference"))),
        ("'c'", lambda: evaluation.accuracy(GUESSED, against="c", resamples=5)),
        ("no matrix of n", lambda: draw.confusion(evaluation.confusion(GUESSED), models=["n"])),
        ("Contradiction", lambda: contradictions.rules(contradictions.with_signs(TABLE.assign(true="Good")))),
    ],
)
def test_what_cannot_be_learned_or_judged_is_refused(words, call):
    with pytest.raises(DataError, match=words):
        call()


@pytest.mark.slow
def test_on_the_papers_split_cheap_features_beat_the_commonest_label_and_not_the_paper(real):
    table, labels = real("sudoh-translations"), named(real("sudoh-agreed"))
    assert table["split"].value_counts().to_dict() == {"train": 4824, "test": 3920, "dev": 536}
    seen, options = corpus_of(table), {"models": ["features"]}
    found = pd.concat([classify.predict(seen, labels, dimension=d, **options) for d in ("fluency", "adequacy")])
    tested = found[found["split"] == "test"]
    assert tested.groupby(["dimension", "model"]).size().eq(3920).all()
    gains = evaluation.accuracy(tested, against="majority class", resamples=100).set_index(["dimension", "model"])
    for dimension, printed in (("fluency", 0.578), ("adequacy", 0.600)):
        row = gains.loc[dimension, "features"]
        assert row["gain_low"] > 0.03
        assert row["high"] < printed
    references = table.groupby("split")["reference"].agg(set)
    assert not references["test"] & references["train"]
