"""Neural metrics: Indic-COMET trained on a tiny model, and a small encoder held against people."""

import dataclasses
import importlib.util
import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from evalkit import DataError
from evalkit.data.provenance import Elsewhere, elsewhere
from evalkit.metrics import rankings, scores, statistics
from evalkit.neural import comet, similar

# --- Indic-COMET: the configuration everywhere; training on a tiny random encoder where comet is installed


@pytest.fixture
def examples():
    sentence = "the quick brown fox jumps over a lazy dog and runs away from seven small cats today"
    words = sentence.split()
    rows = []
    for s in range(60):
        kept, start = s * 7 % 11, words[s % 9 :]
        texts = {"source": start[:6], "hypothesis": start[: 1 + kept], "reference": start[:6]}
        row = {name: " ".join(text) for name, text in texts.items()}
        row |= {"score": kept / 10, "sentence": s, "fold": s % 3}
        rows += [row | {"language": language} for language in ("hi", "ta")]
    return pd.DataFrame(rows)


def test_the_settings_are_those_that_the_paper_prints(paper):
    text = paper("003")
    printed = text[text.index("Hyperparameters Value") : text.index("Table 7:")]
    names = {name.replace("_", " "): name for name in comet.TABLE7 if name != "nr_frozen_epochs"}
    names["no. of frozen epochs"] = "nr_frozen_epochs"
    for name, ours in names.items():
        value = re.search(rf"^{re.escape(name)} (.+)$", printed, re.MULTILINE)[1].strip()
        assert value == (f"{comet.TABLE7[ours]:.1e}" if "rate" in name else str(comet.TABLE7[ours]).strip("[]"))
    patience = int(re.search(r"early stopping with a patience of (\d+)", text)[1])
    assert patience == comet.PATIENCE


@pytest.mark.parametrize("select", ["held_out", "test"])
@pytest.mark.parametrize("left_out", [None, "ta"])
def test_no_sentence_is_trained_on_and_tested(examples, select, left_out):
    for fold in range(3):
        known, chosen, tested = comet.parts(examples, fold, left_out=left_out, select=select)
        assert not set(known["sentence"]) & set(tested["sentence"])
        assert not set(known["sentence"]) & set(chosen["sentence"])
        assert (set(chosen["sentence"]) == set(tested["sentence"])) == (select == "test")
        if left_out:
            assert left_out not in set(known["language"])
            assert set(tested["language"]) == {left_out}
        else:
            assert set(tested["language"]) == set(known["language"]) == {"hi", "ta"}


def test_faults_are_one_sentence_and_exit_code_2(examples, tmp_path, capsys):
    file = tmp_path / "examples.csv"
    for broken, said in (
        (examples.drop(columns="fold"), "no column fold"),
        (examples.assign(score=25.0), "line 2: the score is not between 0 and 1"),
        (examples.assign(score=["x"] + [0.5] * (len(examples) - 1)), "line 2"),
    ):
        broken.to_csv(file, index=False)
        assert comet.main(["train", "--examples", str(file), "--out", str(tmp_path / "run")]) == 2
        assert said in capsys.readouterr().err
    examples.to_csv(file, index=False)
    given, out = ["--examples", str(file)], ["--out", str(tmp_path / "scored.csv")]
    assert comet.main(["score", *given, "--runs", str(tmp_path), *out]) == 2
    assert "has no model of fold 0" in capsys.readouterr().err
    assert comet.main(["train", "--examples", str(tmp_path / "none.csv"), *out]) == 2
    assert "no file none.csv" in capsys.readouterr().err
    with pytest.raises(DataError, match="no example of kn to test on"):
        comet.parts(examples, 0, left_out="kn")
    with pytest.raises(DataError, match="no example to test on"):
        comet.parts(examples, 7)


def test_a_folder_with_another_model_is_refused_and_a_finished_one_is_kept(examples, tmp_path):
    done = {"fold": 0, "left_out": None, "init": "xlmr", "select": "held_out", "kendall": 0.5}
    (tmp_path / "done.json").write_text(pd.Series(done).to_json())
    assert comet.train(examples, tmp_path, 0) == done
    with pytest.raises(DataError, match="trained otherwise"):
        comet.train(examples, tmp_path, 0, init="scratch")


if importlib.util.find_spec("comet"):

    @pytest.fixture(scope="module")
    def real_examples(mirrored):
        """Read 240 real examples of two languages, folds by sentence."""
        folder = "AI4Bharat/IndicMT-Eval/d8a8666b7e79975d0c3490e433e3a2b98961e86e/legacy/data/csv"
        names = {"Source": "source", "Translation": "hypothesis", "Reference": "reference", "Computed_scores": "score"}
        parts = [
            pd.read_csv(mirrored(f"{folder}/{name}.csv")).head(120).assign(language=language)
            for name, language in (("Hindi", "hi"), ("Tamil", "ta"))
        ]
        table = pd.concat(parts, ignore_index=True).rename(columns=names)
        sentence = pd.factorize(table["source"])[0]
        table = table.assign(score=table["score"].clip(lower=0) / 25, sentence=sentence, fold=sentence % 3)
        return table[list(comet.COLUMNS)]

    @pytest.fixture(scope="module")
    def encoder(tmp_path_factory):
        """Save a random encoder of three thin layers, and a tokenizer of letters."""
        from tokenizers import Tokenizer, models, pre_tokenizers, processors
        from transformers import XLMRobertaConfig, XLMRobertaTokenizerFast

        folder = tmp_path_factory.mktemp("encoder")
        special = {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>", "mask": "<mask>"}
        indic = map(chr, [*range(0x0900, 0x0980), *range(0x0B80, 0x0C00)])
        letters = [*special.values(), *"▁abcdefghijklmnopqrstuvwxyz", *indic]
        tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, [], unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
        )
        fast = XLMRobertaTokenizerFast(
            tokenizer_object=tokenizer,
            cls_token="<s>",
            sep_token="</s>",
            model_max_length=128,
            **{f"{name}_token": token for name, token in special.items()},
        )
        fast.save_pretrained(folder)
        XLMRobertaConfig(
            vocab_size=len(letters),
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=130,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
        ).save_pretrained(folder)
        return str(folder)

    def losses(run):
        logs = sorted((run / "log").glob("version_*/metrics.csv"), key=lambda path: int(path.parent.name.split("_")[1]))
        return pd.concat([pd.read_csv(log) for log in logs])["train_loss_epoch"].dropna().tolist()

    def trained(examples, run, encoder, **options):
        fast = {"hidden_sizes": [16, 8], "learning_rate": 3e-3, "offline": True}
        return comet.train(examples, run, 0, init="scratch", encoder=encoder, **fast, **options)

    def test_the_loss_falls_a_stop_is_resumed_and_scores_are_the_same_after_reloading(real_examples, encoder, tmp_path):
        examples = real_examples
        run = tmp_path / "fold-0"
        trained(examples, run, encoder, epochs=2)
        (run / "done.json").unlink()  # as if stopped after two epochs
        done = trained(examples, run, encoder, epochs=4)
        assert done["epochs"] <= 4
        assert losses(run)[-1] < losses(run)[0]
        assert len(losses(run)) > 2
        assert done["settings"]["layerwise_decay"] == comet.TABLE7["layerwise_decay"]
        first, again = (comet.score(examples, run / "checkpoints" / "best.ckpt") for _ in range(2))
        assert first == again
        assert len(set(first)) > 1
        from comet.models import load_from_checkpoint

        theirs = load_from_checkpoint(str(run / "checkpoints" / "best.ckpt"), local_files_only=True)
        samples = examples.rename(columns={"source": "src", "hypothesis": "mt", "reference": "ref"})
        scores = theirs.predict(samples[["src", "mt", "ref"]].to_dict("records"), gpus=0, progress_bar=False).scores
        assert scores == pytest.approx(first, abs=1e-6)

    def test_lower_layers_learn_slower(encoder):
        from comet.models import RegressionMetric

        model = RegressionMetric(
            **comet.TABLE7,
            pretrained_model=encoder,
            load_pretrained_weights=False,
            local_files_only=True,
            train_data=[],
            validation_data=[],
        )
        rates = [group["lr"] for group in model.configure_optimizers()[0][0].param_groups]
        top, decay = comet.TABLE7["encoder_learning_rate"], comet.TABLE7["layerwise_decay"]
        assert rates[:3] == pytest.approx([top, top * decay, top * decay**2])
        assert rates[4] == comet.TABLE7["learning_rate"]

    def test_training_starts_from_a_checkpoint_and_every_fold_scores_its_own_sentences(examples, encoder, tmp_path):
        start = tmp_path / "start"
        trained(examples, start, encoder, epochs=1)
        for fold in range(3):
            comet.train(
                examples,
                tmp_path / "runs" / f"fold-{fold}",
                fold,
                epochs=1,
                offline=True,
                init=str(start / "checkpoints" / "best.ckpt"),
            )
        scored = comet.score_folds(examples, tmp_path / "runs")
        assert scored.index.tolist() == examples.index.tolist()
        alone = comet.score(examples[examples["fold"] == 1], tmp_path / "runs" / "fold-1" / "checkpoints" / "best.ckpt")
        assert scored.loc[scored["fold"] == 1, "comet"].tolist() == alone


# --- Likeness by the pretrained encoder held against people: by hand, by scipy, and beside what the study computes


SIZES = {
    ("newstest2016", "ces"): 9,
    ("newstest2016", "deu"): 14,
    ("newstest2017", "ces"): 8,
    ("newstest2015", "deu"): 5,
}


@pytest.fixture
def older():
    rng = np.random.default_rng(7)
    rows = [(language, doc) for (doc, language), size in SIZES.items() for _ in range(size)]
    rng.shuffle(rows)
    return pd.DataFrame(rows, columns=["src_lang", "doc"]).assign(z=rng.normal(size=len(rows)))


def test_the_layer_is_chosen_by_the_mean_over_languages_on_wmt16_alone(older):
    rng = np.random.default_rng(8)
    f1 = older["z"].to_numpy()[:, None] + rng.normal(size=(len(older), 3)) * [3, 0.3, 2]
    tried = similar.layers(older, f1)
    for row in tried.itertuples():
        own = []
        for language in ("ces", "deu"):
            here = ((older["doc"] == "newstest2016") & (older["src_lang"] == language)).to_numpy()
            own.append(pearsonr(f1[here, row.layer - 1], older["z"][here]).statistic)
        assert row.pearson == pytest.approx(np.mean(own), abs=1e-12)
    assert similar.best(tried) == 2
    other = older.assign(z=older["z"].where(older["doc"] == "newstest2016", 0))
    pd.testing.assert_frame_equal(similar.layers(other, f1), tried)
    with pytest.raises(DataError, match="no translations of newstest2016"):
        similar.layers(older[older["doc"] != "newstest2016"], f1)


def test_segments_are_correlated_by_language_on_wmt17_and_averaged(real):
    older = real("sudoh-translations")
    scores = {"length": older["hypothesis"].str.len().to_numpy(float), "z itself": older["z"].to_numpy()}
    found = similar.of_segments(older, scores, resamples=50).set_index(["metric", "pair"])
    assert set(found.loc["z itself", "value"].round(12)) == {1}
    lengths = found.loc["length"]
    for language in ("ces", "zho"):
        part = older[(older["doc"] == "newstest2017") & (older["src_lang"] == language)]
        wanted = pearsonr(part["hypothesis"].str.len(), part["z"]).statistic
        assert lengths.at[f"{language}-eng", "value"] == pytest.approx(wanted, abs=1e-12)
    each = lengths.drop("mean")
    assert (len(each), set(each["n"]), lengths.at["mean", "n"]) == (7, {560}, 3920)
    assert lengths.at["mean", "value"] == pytest.approx(each["value"].mean())
    assert ((each["low"] < each["value"]) & (each["value"] < each["high"])).all()
    mean = lengths.loc["mean"]
    assert mean["high"] - mean["low"] < (each["high"] - each["low"]).min()  # seven languages say more than one


def test_what_is_read_of_wmt23_is_what_professionals_judged(real, here):
    here("wmt23-outputs")
    human, table = real("wmt23-human"), similar.judged()
    mqm = human[(human["metric"] == "mqm") & (human["tgt_lang"] == "eng")]
    assert len(table) == len(mqm[mqm["system"] != "refA"]) == 17655
    assert "refA" not in set(table["system"])
    assert table["hypothesis"].str.len().gt(0).all()


@pytest.mark.slow
def test_wmt23_is_computed_as_in_the_study_of_metrics(real, here):
    """A copy of a published metric gets its values, which are those of every_statistic on the same segments."""
    here("wmt23-outputs", "wmt23-human")
    metrics, outputs = real("wmt23-metrics"), similar.judged()
    copy = metrics[(metrics["metric"] == "chrF") & (metrics["tgt_lang"] == "eng")].drop(columns="reference")
    keys = ["system", "doc", "segment"]
    own = outputs[keys].merge(copy.astype(dict.fromkeys(keys, "str")), on=keys, how="left")["score"].to_numpy()
    found = similar.of_wmt23({"copy": own}, outputs, resamples=10).set_index(["metric", "statistic"])
    for statistic in rankings.WORDS:
        one, other = (found.loc[(name, statistic), ["value", "low", "high"]] for name in ("copy", "chrF"))
        assert one.tolist() == pytest.approx(other.tolist(), abs=1e-12)
    chosen = metrics[metrics["metric"].isin(["COMET", "chrF"])]
    pair = scores.pick(scores.each_pair(chosen, real("wmt23-human"), gold="mqm"), "zho-eng")
    values = statistics.every_statistic(pair)
    values = values.assign(name=rankings.label(values)).set_index(["metric", "name"])["value"]
    for statistic in ("segment Pearson", "segment Kendall b by item", "segment acc_eq", "SPA"):
        for metric in ("COMET", "chrF"):
            assert found.at[(metric, statistic), "value"] == pytest.approx(values[metric, statistic], abs=1e-9)
    committed = elsewhere("minilm_wmt23").table("wmt23").set_index(["metric", "statistic"])
    for name in (*similar.BESIDE, "length"):  # these need no encoder, so the committed numbers can be made again
        for statistic in rankings.WORDS:
            assert committed.at[(name, statistic), "value"] == pytest.approx(
                found.at[(name, statistic), "value"], abs=1e-6
            )


def test_results_come_back_rounded_and_a_wrong_name_is_told(tmp_path):
    made = Elsewhere("m", "p 1", "ab" * 32, ["one"], {"d": "e"}, {}, {"t": [{"x": 1 / 3, "y": math.nan}]})
    made.write(tmp_path / "mine.json")
    back = elsewhere("mine", tmp_path)
    assert back == dataclasses.replace(made, tables={"t": [{"x": 0.333333, "y": None}]})
    assert back.told == "computed elsewhere with m, SHA-256 of its weights abababababab…"
    with pytest.raises(DataError, match="There are mine"):
        elsewhere("mime", tmp_path)


def test_the_committed_results_rest_on_the_texts_that_are_here(real):
    found = elsewhere("minilm_wmt23")
    real("wmt23-outputs")
    older = real("sudoh-translations")
    tables = {"wmt23-outputs": similar.judged(), "sudoh-translations": similar.older_pairs()}
    assert found.data == {name: similar.mark(table) for name, table in tables.items()}
    assert (found.model, found.package, found.sha256) == (similar.NAME, similar.PACKAGE, similar.DIGEST)
    assert found.commands == similar.COMMANDS
    assert found.settings["layer"] == similar.best(found.table("layers"))
    pearson = found.table("wmt17").query("metric == 'length'").set_index("pair")["value"]
    assert set(pearson.index) == {*(f"{language}-eng" for language in older["src_lang"].unique()), "mean"} - {"ron-eng"}


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"others")
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError, match="has not the weights of all-MiniLM-L6-v2"):
            similar.results(folder)
