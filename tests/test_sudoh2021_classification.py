"""Classification of critical errors: small models and the paper's neural one, and every number that judges them."""

import importlib.util
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from evalkit import DataError
from evalkit.data import stand_ins
from evalkit.papers.sudoh2021 import classification, encoder
from evalkit.papers.sudoh2021.encoder import Plan
from evalkit.papers.sudoh2021.labels import KEY, categories

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
@settings(max_examples=12)
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
    matrix = confused["count"].to_numpy().reshape(7, 7)
    assert (matrix == metrics.confusion_matrix(true, predicted, labels=range(7))).all()


def test_distance_follows_the_order_of_severity():
    confused = classification.confusion(guesses([ADEQUACY.index("Serious")], [ADEQUACY.index("Incomprehensible")]))
    places = [classification.summary(confused, order=o)["mean_places"].item() for o in ("severity", "print")]
    assert places == [1, 3]


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
    learned = found.loc[["features", "features (weighted)", "DA thresholds"], "low"]
    assert learned.min() > 0.1 + found.at["majority class", "high"]
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
    labels, texts = stand_ins.stand_in("sudoh-labels"), stand_ins.stand_in("sudoh-translations")
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


# The paper's neural classifier: settings, examples and choice everywhere; training where transformers is installed.


@pytest.fixture(scope="module")
def real_rows(real):
    """Choose real translations to train on, to choose by and to test on, with every label of fluency that occurs."""
    for name in ("sudoh-translations", "sudoh-agreed"):
        real(name)
    table = encoder.examples()
    own = table[table["dimension"] == "fluency"]
    order = own.groupby(["split", "true"]).cumcount()
    keys = own.loc[order < own["split"].map({"train": 8, "dev": 3, "test": 3}), KEY]
    return table.merge(keys, on=KEY).sort_values("split", ignore_index=True)


def test_the_settings_are_those_that_the_paper_prints(paper):
    text = " ".join(paper("004").split())
    rate, epochs = Plan().learning_rate, Plan().epochs
    assert f"for {epochs} epochs with the initial learning rate of {rate:.0e}".replace("e-05", "e-5") in text
    assert f"minibatch sizes ({', '.join(map(str, encoder.BATCH_SIZES))})" in text
    assert f"feed-forward layer ({', '.join(map(str, encoder.DROPOUTS))})" in text
    assert f"pre-trained RoBERTa model ({Plan().encoder})" in text
    chosen = re.search(r"development set: (\d+) and ([\d.]+) for fluency, (\d+) and ([\d.]+) for adequacy", text)
    found = [float(value) for value in chosen.groups()]
    assert found == [*encoder.CHOSEN["fluency"], *encoder.CHOSEN["adequacy"]]


def test_examples_hold_the_papers_split_and_the_labels_that_were_asked_for(real):
    translations, agreed = real("sudoh-translations"), real("sudoh-agreed")
    released, median = encoder.examples(), encoder.examples(labels="median")
    for table in (released, median):
        sizes = table.groupby("dimension")["split"].value_counts().unstack()
        assert sizes.to_numpy().tolist() == [[536, 3920, 4824]] * 2
        assert table["hypothesis"].tolist() == translations["hypothesis"].tolist() * 2
    assert len(released.dropna()) == len(agreed) == 2 * 9280
    assert median.loc[median["split"] == "test", "true"].isna().all()  # C's labels of WMT17 were not released
    dev = median[(median["dimension"] == "adequacy") & (median["split"] == "dev")]["true"].value_counts()
    assert dev[["Serious", "Fair", "Excellent"]].tolist() == [108, 162, 28]  # as Table 10 prints
    with pytest.raises(DataError, match=r"no labels 'mean' here.* released.*median"):
        encoder.examples(labels="mean")


def test_the_cell_is_chosen_by_accuracy_on_development_rows_alone(tmp_path):
    dev = {"a": ["Fair", "Fair"], "b": ["Fair", "Poor"], "c": ["Poor", "Poor"]}
    for dimension in ("adequacy", "fluency"):
        for cell, said in dev.items():
            folder = tmp_path / dimension / cell
            folder.mkdir(parents=True)
            rows = pd.DataFrame({"split": ["dev", "dev", "test"], "true": "Fair", "predicted": [*said, "Poor"]})
            rows.assign(dimension=dimension, cell=cell).to_csv(folder / "predictions.csv", index=False)
    found = encoder.tried(tmp_path)
    assert found["dev_accuracy"].tolist() == [1, 0.5, 0] * 2
    assert encoder.predictions(tmp_path)["cell"].unique().tolist() == ["a"]
    changed = tmp_path / "fluency" / "c" / "predictions.csv"
    changed.write_text(changed.read_text().replace("test,Fair,Poor", "test,Fair,Fair"))
    pd.testing.assert_frame_equal(encoder.tried(tmp_path), found)


if importlib.util.find_spec("torch") is None:

    def test_training_without_pytorch_says_how_to_get_it(tmp_path, capsys):
        assert encoder.main(["--out", str(tmp_path / "runs")]) == 2
        problem = capsys.readouterr().err
        assert "requirements-neural.txt" in problem
        assert "PyTorch" in problem

else:
    import torch
    import transformers

    @pytest.fixture(scope="module")
    def tiny(tmp_path_factory, real_rows):
        """Save a random RoBERTa of two thin layers, and a tokenizer trained on the texts."""
        from tokenizers import ByteLevelBPETokenizer

        folder = tmp_path_factory.mktemp("tiny")
        trained = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator(real_rows["reference"].tolist(), vocab_size=400, special_tokens=special)
        trained.save_model(str(folder))
        files = {"vocab_file": str(folder / "vocab.json"), "merges_file": str(folder / "merges.txt")}
        transformers.RobertaTokenizerFast(**files, model_max_length=96).save_pretrained(folder)
        torch.manual_seed(7)
        thin = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
        ends = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "type_vocab_size": 1}
        config = transformers.RobertaConfig(vocab_size=400, max_position_embeddings=98, **thin, **ends)
        transformers.RobertaModel(config).save_pretrained(folder, safe_serialization=True)
        return Plan(encoder=str(folder), epochs=2, learning_rate=3e-3)

    def test_the_grid_is_tried_and_the_best_on_dev_labels_what_was_not_trained_on(real_rows, tiny, tmp_path):
        settings = {"batch_sizes": (4, 16), "dropouts": (0.1, 0.75)}
        tried = encoder.train(real_rows, tmp_path / "one", tiny, **settings)
        assert tried.groupby("dimension").size().tolist() == [4, 4]
        best = tried.groupby("dimension", sort=False).first()
        assert {str(path.parent) for path in (tmp_path / "one").glob("*/*/model")} == set(best["folder"])
        found = encoder.predictions(tmp_path / "one")
        assert len(found) == (real_rows["split"] != "train").sum()
        dev = found[found["split"] == "dev"]
        right = dev["true"].eq(dev["predicted"]).groupby(dev["dimension"]).mean()
        assert (
            right.to_dict()
            == best["dev_accuracy"].to_dict()
            == tried.groupby("dimension")["dev_accuracy"].max().to_dict()
        )
        tested = classification.confusion(found[found["split"] == "test"])
        assert tested.groupby("dimension")["count"].sum().eq((real_rows["split"] == "test").sum() / 2).all()
        # a researcher labels other pairs by transformers' own pipeline
        row = found[found["dimension"] == "fluency"].iloc[0]
        text = real_rows.merge(row[KEY].to_frame().T, on=KEY).iloc[0]
        label = transformers.pipeline("text-classification", best.at["fluency", "folder"] + "/model")
        assert label({"text": text["hypothesis"], "text_pair": text["reference"]})["label"] == row["predicted"]
        # nothing of a test label reaches a model
        blind = real_rows.assign(true=real_rows["true"].mask(real_rows["split"] == "test"))
        other = encoder.train(blind, tmp_path / "two", tiny, **settings)
        assert other["dev_accuracy"].tolist() == tried["dev_accuracy"].tolist()
        again = encoder.predictions(tmp_path / "two")
        assert again["predicted"].tolist() == found["predicted"].tolist()
        with pytest.raises(DataError, match="holds models by other settings"):
            encoder.train(real_rows, tmp_path / "one", replace(tiny, epochs=3), **settings)

    def test_a_training_that_was_stopped_ends_as_one_that_was_not(real_rows, tiny, tmp_path, monkeypatch):
        rows, one = real_rows[real_rows["dimension"] == "fluency"], {"batch_sizes": [4], "dropouts": [0.1]}
        encoder.train(rows, tmp_path / "whole", tiny, **one)
        steps = iter(range(14))  # of 20: in the second epoch
        step = torch.optim.AdamW.step

        def stopping(self, *given, **options):
            if next(steps, None) is None:
                raise KeyboardInterrupt
            return step(self, *given, **options)

        with monkeypatch.context() as patched:
            patched.setattr(torch.optim.AdamW, "step", stopping)
            with pytest.raises(KeyboardInterrupt):
                encoder.train(rows, tmp_path / "stopped", tiny, **one)
        encoder.train(rows, tmp_path / "stopped", tiny, **one)
        whole, stopped = (
            transformers.AutoModelForSequenceClassification.from_pretrained(next((tmp_path / name).glob("*/*/model")))
            for name in ("whole", "stopped")
        )
        pairs = zip(whole.state_dict().values(), stopped.state_dict().values(), strict=True)
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in pairs)

    def test_the_weights_of_the_loss_are_those_of_equation_1(real_rows, tiny, tmp_path, monkeypatch):
        rows = real_rows[real_rows["dimension"] == "adequacy"]
        count = rows.loc[rows["split"] == "train", "true"].value_counts()
        names, used, means = categories("adequacy"), [], []
        entropy, backward = torch.nn.functional.cross_entropy, torch.Tensor.backward

        def watched(logits, codes, **options):
            each = entropy(logits, codes, **options)
            used.append([(max(count) / count[names[code]]) ** 0.5 * float(loss) for code, loss in zip(codes, each)])
            return each

        def learned(loss, *given, **options):
            means.append((float(loss), sum(used[-1]) / len(used[-1])))
            return backward(loss, *given, **options)

        monkeypatch.setattr(torch.nn.functional, "cross_entropy", watched)
        monkeypatch.setattr(torch.Tensor, "backward", learned)
        encoder.train(rows, tmp_path, replace(tiny, epochs=1), batch_sizes=[4], dropouts=[0.1])
        assert len(means) == 10
        assert [loss for loss, _ in means] == pytest.approx([weighted for _, weighted in means], rel=1e-5)
        assert len(set(count)) > 1  # so that weights matter here
