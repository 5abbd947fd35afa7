"""Likeness by the pretrained encoder held against people: by hand, by scipy, and beside what the study computes."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from evalkit import DataError
from evalkit.data.provenance import Elsewhere, elsewhere
from evalkit.metrics import rankings, scores, statistics
from evalkit.neural import similar

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
