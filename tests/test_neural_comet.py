"""Indic-COMET: the configuration everywhere; training on a tiny random encoder where comet is installed.

The suite's environment has no comet (see ``requirements-neural.txt``), so the last tests exist in the neural one only.
"""

import importlib.util
import re

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.neural import comet


@pytest.fixture
def examples():
    words = [
        "the",
        "quick",
        "brown",
        "fox",
        "jumps",
        "over",
        "a",
        "lazy",
        "dog",
        "and",
        "runs",
        "away",
        "from",
        "seven",
        "small",
        "cats",
        "today",
    ]
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
