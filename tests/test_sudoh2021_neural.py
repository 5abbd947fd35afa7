"""The paper's neural classifier: settings, files and choice everywhere; training where transformers is installed.

The suite's environment has no PyTorch (see ``requirements-neural.txt``): the last tests exist in the neural one only.
"""

import importlib.util
import json
import re

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.papers.sudoh2021 import classify, encoder, evaluation, exchange, neural
from evalkit.papers.sudoh2021.encoder import Plan
from evalkit.papers.sudoh2021.taxonomy import KEY, categories

DIMENSIONS = ("fluency", "adequacy")


@pytest.fixture(scope="module")
def real_rows(real):
    """Choose 40 real translations to train on, 12 to choose by and 12 to test on, with every label that occurs."""
    for name in ("sudoh-translations", "sudoh-agreed"):
        real(name)
    table = neural.examples()
    own = table[table["dimension"] == "fluency"]
    order = own.groupby(["split", "true"]).cumcount()
    sizes = own["split"].map({"train": 8, "dev": 3, "test": 3})
    keys = own.loc[order < sizes, KEY]
    return table.merge(keys, on=KEY).sort_values("split", ignore_index=True)


def finished(out, dimension, batch_size, dropout, measured):
    """Write down a model as if it had been trained."""
    folder = out / dimension / f"batch-{batch_size}-dropout-{dropout}"
    folder.mkdir(parents=True)
    rows = [dict(zip(("epoch", "dev_accuracy", "dev_loss"), row)) for row in measured]
    plan = {"batch_size": batch_size, "dropout": dropout}
    said = {"dimension": dimension, "plan": plan, "epoch": encoder.best_epoch(rows), "measured": rows}
    (folder / "done.json").write_text(json.dumps(said))


def test_the_settings_are_those_that_the_paper_prints(paper):
    text = " ".join(paper("004").split())
    rate, epochs = Plan().learning_rate, Plan().epochs
    assert f"for {epochs} epochs with the initial learning rate of {rate:.0e}".replace("e-05", "e-5") in text
    assert f"minibatch sizes ({', '.join(map(str, neural.BATCH_SIZES))})" in text
    assert f"feed-forward layer ({', '.join(map(str, neural.DROPOUTS))})" in text
    assert f"pre-trained RoBERTa model ({Plan().encoder})" in text
    chosen = re.search(r"development set: (\d+) and ([\d.]+) for fluency, (\d+) and ([\d.]+) for adequacy", text)
    found = [float(value) for value in chosen.groups()]
    assert found == [*neural.CHOSEN["fluency"], *neural.CHOSEN["adequacy"]]


def test_examples_hold_the_papers_split_and_the_labels_that_were_asked_for(real):
    translations, agreed = real("sudoh-translations"), real("sudoh-agreed")
    released, median = neural.examples(), neural.examples(labels="median")
    for table in (released, median):
        sizes = table.groupby("dimension")["split"].value_counts().unstack()
        assert sizes.to_numpy().tolist() == [[536, 3920, 4824]] * 2
        assert table["hypothesis"].tolist() == translations["hypothesis"].tolist() * 2
    assert len(released.dropna()) == len(agreed) == 2 * 9280
    assert median.loc[median["split"] == "test", "true"].isna().all()  # C's labels of WMT17 were not released
    dev = median[(median["dimension"] == "adequacy") & (median["split"] == "dev")]["true"].value_counts()
    assert dev[["Serious", "Fair", "Excellent"]].tolist() == [108, 162, 28]  # as Table 10 prints
    plain = neural.examples(plain=True)
    assert (plain["hypothesis"] == plain["hypothesis"].str.casefold()).all()
    with pytest.raises(DataError, match=r"no labels 'mean' here.* released.*median"):
        neural.examples(labels="mean")


def test_a_file_of_examples_comes_back_as_it_was_written(real_rows, tmp_path):
    file = tmp_path / "examples.csv"
    rows = real_rows.assign(true=real_rows["true"].mask(real_rows["split"] == "test"))
    rows.to_csv(file, index=False)
    back = exchange.read(file)
    assert back.index.tolist() == list(range(2, len(rows) + 2))  # lines of the file
    for name in exchange.COLUMNS:
        assert back[name].tolist() == rows[name].tolist() if name != "true" else back[name].isna().any()
    known = back["true"].notna().to_numpy()
    assert known.tolist() == rows["true"].notna().tolist()
    assert back["true"][known].tolist() == rows["true"][known].tolist()


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("split", "training", "train, dev, test"),
        ("dimension", "style", "fluency, adequacy"),
        ("true", "Awful", "no label of"),
        ("true", "Contradiction", "no label of fluency"),
        ("true", None, "no label"),
        ("reference", "", "the reference is empty"),
        ("z", "high", "z is no number"),
    ],
)
def test_a_fault_in_the_examples_is_named_with_its_line(real_rows, tmp_path, column, value, words):
    known = np.flatnonzero((real_rows["split"] == "train") & (real_rows["dimension"] == "fluency"))[0]
    broken = real_rows.astype({column: object})
    broken.loc[known, column] = value
    broken.to_csv(tmp_path / "examples.csv", index=False)
    with pytest.raises(DataError, match=f"examples.csv, line {known + 2}: .*{words}"):
        exchange.read(tmp_path / "examples.csv")


def test_what_is_missing_or_stands_twice_is_refused_with_exit_code_2(real_rows, tmp_path, capsys):
    file, out = tmp_path / "examples.csv", ["--out", str(tmp_path / "out")]
    train = ["train", "--examples", str(file), *out]
    for words, rows, command in (
        ("There is no file examples.csv", None, train),
        ("has no column sentence", real_rows.drop(columns="sentence"), train),
        (f"line {len(real_rows) + 2}: this translation stood", pd.concat([real_rows, real_rows.tail(1)]), train),
        ("has no finished model", real_rows, ["score", "--examples", str(file), "--runs", str(tmp_path), *out]),
    ):
        if rows is not None:
            rows.to_csv(file, index=False)
        assert neural.main(command) == 2
        assert words in capsys.readouterr().err
        assert not (tmp_path / "out").exists()
    with pytest.raises(DataError, match="of fluency to choose by"):
        neural.parts(real_rows[real_rows["split"] != "dev"], "fluency")


def test_the_cell_and_the_epoch_are_chosen_by_accuracy_on_dev_then_by_log_loss(tmp_path):
    finished(tmp_path, "fluency", 4, 0.1, [(1, 0.50, 1.0), (2, 0.60, 1.5), (3, 0.55, 0.9)])
    finished(tmp_path, "fluency", 8, 0.3, [(1, 0.60, 1.4), (2, 0.60, 1.3), (3, 0.60, 1.6)])
    finished(tmp_path, "fluency", 16, 0.5, [(1, 0.59, 0.1)])
    finished(tmp_path, "adequacy", 16, 0.75, [(1, 0.2, 3.0)])
    tried = neural.cells(tmp_path)
    assert len(tried) == 4
    best = neural.chosen(tried.sample(frac=1, random_state=7)).set_index("dimension")
    assert best.loc["fluency", ["batch_size", "dropout", "epoch"]].tolist() == [8, 0.3, 2]
    assert best.loc["adequacy", "batch_size"] == 16
    even = tried.assign(dev_accuracy=0.5, dev_loss=1.0)
    assert neural.chosen(even).query("dimension == 'fluency'")[["batch_size", "dropout"]].values.tolist() == [[4, 0.1]]


def test_what_training_sees_does_not_depend_on_the_test_rows(real_rows):
    changed = real_rows.copy()
    tested = changed["split"] == "test"
    changed.loc[tested, ["hypothesis", "true"]] = ["another text", "Poor"]
    for dimension in DIMENSIONS:
        before, after = neural.parts(real_rows, dimension), neural.parts(changed, dimension)
        assert all(a.equals(b) for a, b in zip(before, after, strict=True))
        assert encoder.mark(*before, Plan()) == encoder.mark(*after, Plan())
        assert encoder.mark(*before, Plan()) != encoder.mark(*before, Plan(seed=8))
        assert encoder.mark(*before, Plan()) != encoder.mark(*reversed(before), Plan())


def predictions_of(rows, seed=7):
    """Make up probabilities for real rows, as a model would give them."""
    rng = np.random.default_rng(seed)
    parts = []
    for dimension in DIMENSIONS:
        own = rows[(rows["dimension"] == dimension) & (rows["split"] != "train")].reset_index(drop=True)
        chances = rng.dirichlet(np.ones(len(categories(dimension))), len(own))
        base = own[[*KEY, "split", "z", "sentence", "true"]]
        parts.append(classify.labelled(base, chances, dimension=dimension, model="made up"))
    return pd.concat(parts, ignore_index=True)


def test_predictions_pass_through_a_file_and_give_the_tables_of_the_paper(real_rows, tmp_path, capsys):
    file = tmp_path / "predictions.csv"
    given = predictions_of(real_rows)
    given.to_csv(file, index=False)
    back = exchange.read_predictions(file)
    pd.testing.assert_frame_equal(back, given, check_dtype=False, rtol=1e-12)
    made = neural.tables(back)
    tested = given[given["split"] == "test"]
    for dimension, rows in tested.groupby("dimension"):
        names = categories(dimension)
        counted = pd.crosstab(rows["true"], rows["predicted"]).reindex(index=names, columns=names, fill_value=0)
        own = made["confusion"].query("dimension == @dimension")
        wide = own.pivot(index="true", columns="predicted", values="count").loc[names, names]
        assert wide.to_numpy().tolist() == counted.to_numpy().tolist()
        summary = made["summary"].set_index("dimension").loc[dimension]
        assert summary["accuracy"] == pytest.approx((rows["true"] == rows["predicted"]).mean())
    assert made["scores"].groupby("dimension").size().to_dict() == {"adequacy": 8, "fluency": 6}  # with the averages
    accuracy = evaluation.accuracy(back[back["split"] == "test"], resamples=20)
    assert accuracy["accuracy"].tolist() == pytest.approx(made["summary"]["accuracy"].tolist())
    both = pd.concat([back, given.assign(model="another")])  # as beside the small classifiers in the study
    assert len(classify.choose(both)) == 4
    assert neural.main(["tables", "--predictions", str(file)]) == 0
    assert "Ave." in capsys.readouterr().out


def test_predictions_that_cannot_be_judged_are_refused(real_rows, tmp_path):
    file = tmp_path / "predictions.csv"
    given = predictions_of(real_rows)
    at = given.index[given["dimension"] == "adequacy"][2]
    for column, value, said in (
        ("Serious", 1.5, "probabilities of adequacy"),
        ("predicted", "Poor", "no label of adequacy"),
        ("predicted", None, "no predicted label"),
        ("split", "eval", "split"),
    ):
        broken = given.astype({column: object})
        broken.loc[at, column] = value
        broken.to_csv(file, index=False)
        with pytest.raises(DataError, match=rf"line {at + 2}: .*{said}"):
            exchange.read_predictions(file)
    given.drop(columns="Contradiction").to_csv(file, index=False)
    with pytest.raises(DataError, match="no probabilities of Contradiction"):
        exchange.read_predictions(file)
    with pytest.raises(DataError, match="No prediction of the split test has a true label"):
        neural.tables(given.assign(true=None))


if importlib.util.find_spec("torch") is None:

    def test_training_without_pytorch_says_how_to_get_it(real_rows, tmp_path, capsys):
        file = tmp_path / "examples.csv"
        real_rows.to_csv(file, index=False)
        assert neural.main(["train", "--examples", str(file), "--out", str(tmp_path / "runs")]) == 2
        problem = capsys.readouterr().err
        assert "requirements-neural.txt" in problem
        assert "PyTorch" in problem

else:
    import torch
    from safetensors.torch import load_file

    FAST = {"learning_rate": 3e-3, "offline": True}

    @pytest.fixture(scope="module")
    def tiny(tmp_path_factory, real_rows):
        """Save a random RoBERTa of two thin layers, and a tokenizer trained on the texts."""
        from tokenizers import ByteLevelBPETokenizer
        from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

        folder = tmp_path_factory.mktemp("tiny")
        trained = ByteLevelBPETokenizer()
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        trained.train_from_iterator(real_rows["reference"].tolist(), vocab_size=400, special_tokens=special)
        trained.save_model(str(folder))
        files = {"vocab_file": str(folder / "vocab.json"), "merges_file": str(folder / "merges.txt")}
        RobertaTokenizerFast(**files, model_max_length=96).save_pretrained(folder)
        torch.manual_seed(7)
        config = RobertaConfig(
            vocab_size=400,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=98,
            type_vocab_size=1,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
        )
        RobertaModel(config).save_pretrained(folder, safe_serialization=True)
        return str(folder)

    def fitted(rows, folder, tiny, dimension="fluency", epochs=4, **options):
        known, held = neural.parts(rows, dimension)
        plan = Plan(encoder=tiny, batch_size=4, dropout=0.1, epochs=epochs, learning_rate=FAST["learning_rate"])
        folder.mkdir(parents=True, exist_ok=True)
        return encoder.fit(known, held, categories(dimension), plan, folder, offline=True, **options), plan

    def same(one, other):
        first, second = (load_file(folder / "state.safetensors") for folder in (one, other))
        assert first.keys() == second.keys()
        return all(torch.equal(first[name], second[name]) for name in first)

    @pytest.mark.parametrize("steps", [3, 15, 27])  # in the first epoch, in the second, in the third
    def test_a_training_that_was_stopped_ends_as_one_that_was_not(real_rows, tiny, tmp_path, monkeypatch, steps):
        whole, _ = fitted(real_rows, tmp_path / "whole", tiny)
        taken = iter(range(steps))
        step = torch.optim.Adam.step

        def stopping(self, *given, **options):
            if next(taken, None) is None:
                raise KeyboardInterrupt
            return step(self, *given, **options)

        with monkeypatch.context() as patched:
            patched.setattr(torch.optim.Adam, "step", stopping)
            with pytest.raises(KeyboardInterrupt):
                fitted(real_rows, tmp_path / "stopped", tiny)
        torch.manual_seed(99)
        told = []
        again, _ = fitted(real_rows, tmp_path / "stopped", tiny, report=told.append)
        assert again == whole
        assert len(told) == 4 - steps // 10  # finished epochs are not trained again
        assert same(tmp_path / "whole", tmp_path / "stopped")

    def test_the_weights_of_the_loss_are_those_of_equation_1(real_rows, tiny, tmp_path, monkeypatch):
        known = neural.parts(real_rows, "adequacy")[0]
        count = known["true"].value_counts()
        used = []
        loss = torch.nn.functional.cross_entropy

        def watched(logits, codes, **options):
            each = loss(logits, codes, **options)
            used.append((codes, each.detach()))
            return each

        monkeypatch.setattr(torch.nn.functional, "cross_entropy", watched)
        measured, _ = fitted(real_rows, tmp_path, tiny, dimension="adequacy", epochs=1)
        names = categories("adequacy")
        total = sum(
            (max(count) / count[names[code]]) ** 0.5 * float(each)
            for codes, losses in used
            for code, each in zip(codes.tolist(), losses)
        )
        assert measured[0]["loss"] == pytest.approx(total / len(known), rel=1e-5)
        assert len(set(count)) > 1  # so that weights matter here

    def test_a_reloaded_model_gives_the_probabilities_that_chose_it(real_rows, tiny, tmp_path):
        measured, plan = fitted(real_rows, tmp_path, tiny)
        best = encoder.best_epoch(measured)
        assert [path.name for path in tmp_path.glob("epoch-*")] == [f"epoch-{best}.safetensors"]
        held = neural.parts(real_rows, "fluency")[1]
        first, again = (encoder.probabilities(tmp_path, held, plan, best, 5) for _ in range(2))
        assert np.array_equal(first, again)
        np.testing.assert_allclose(first.sum(axis=1), 1)
        names = np.array(categories("fluency"))
        row = measured[best - 1]
        assert (names[first.argmax(axis=1)] == held["true"].to_numpy()).mean() == row["dev_accuracy"]
        own = [list(names).index(label) for label in held["true"]]
        assert -np.log(first[np.arange(len(own)), own]).mean() == row["dev_loss"]
        exchanged = held.assign(hypothesis=held["reference"], reference=held["hypothesis"])
        turned = encoder.probabilities(tmp_path, exchanged, plan, best, 5)
        assert not np.allclose(first, turned)  # which text is which matters
        with pytest.raises(DataError, match="no weights of epoch 9"):
            encoder.probabilities(tmp_path, held, plan, 9, 5)

    def test_the_grid_is_tried_and_the_best_on_dev_labels_what_was_not_trained_on(real_rows, tiny, tmp_path, capsys):
        rows = real_rows.copy()
        settings = {"batch_sizes": (4, 16), "dropouts": (0.1, 0.75), "encoder": tiny, "epochs": 2, **FAST}
        tried = neural.train(rows, tmp_path / "one", **settings)
        assert len(tried) == 8
        best = neural.chosen(tried)
        assert best["dev_accuracy"].tolist() == tried.groupby("dimension")["dev_accuracy"].max().tolist()
        kept = {str(path.parent) for path in (tmp_path / "one").rglob("*.safetensors")}
        assert kept == set(best["folder"])  # only the chosen keep their weights, nobody a state
        tested = rows["split"] == "test"
        rows.loc[tested, "true"] = rows.loc[tested, "true"].sample(frac=1, random_state=7).to_numpy()
        rows.loc[tested & rows["dimension"].eq("fluency"), "true"] = "Poor"
        rows.loc[tested & rows["dimension"].eq("adequacy"), "true"] = None
        other = neural.train(rows, tmp_path / "two", **settings)
        pd.testing.assert_frame_equal(other.drop(columns="folder"), tried.drop(columns="folder"))
        found = neural.score(real_rows, tmp_path / "one", name="tiny")
        assert len(found) == (real_rows["split"] != "train").sum()
        assert set(found["split"]) == {"dev", "test"}
        for row in best.itertuples():
            own = found[(found["dimension"] == row.dimension) & (found["split"] == "dev")]
            assert (own["true"] == own["predicted"]).mean() == row.dev_accuracy
        file = tmp_path / "examples.csv"
        real_rows.to_csv(file, index=False)
        command = ["score", "--examples", str(file), "--runs", str(tmp_path / "one"), "--out", str(tmp_path / "p.csv")]
        assert neural.main([*command, "--name", "tiny"]) == 0
        pd.testing.assert_frame_equal(
            exchange.read_predictions(tmp_path / "p.csv"), found, check_dtype=False, rtol=1e-9
        )
        again = neural.train(real_rows, tmp_path / "one", **settings)  # finished: nothing is trained again
        pd.testing.assert_frame_equal(again, tried)
        with pytest.raises(DataError, match="holds a model by other settings"):
            neural.train(real_rows, tmp_path / "one", **settings | {"epochs": 3})
