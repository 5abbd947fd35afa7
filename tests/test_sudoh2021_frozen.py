"""The small network on the encoder's vectors: what it learns from, what it must not see, and its committed results."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data.names import one_form
from evalkit.data.provenance import elsewhere
from evalkit.neural import minilm, similar
from evalkit.papers.sudoh2021 import evaluation, frozen, released
from evalkit.papers.sudoh2021.taxonomy import categories, named

NAMES = categories("fluency")


@pytest.fixture
def rows():
    """Give 120 rows of all splits whose first five numbers tell the label; the others tell nothing."""
    rng = np.random.default_rng(7)
    code = rng.integers(0, len(NAMES), 120)
    split = np.array(["train", "train", "dev", "test"])[np.arange(120) % 4]
    seen = np.column_stack([np.eye(len(NAMES))[code], rng.normal(size=(120, 3))])
    return seen, pd.DataFrame({"split": split, "true": [NAMES[place] for place in code]})


def trained(seen, rows, **options):
    return frozen.train(seen, rows, dimension="fluency", **{"seed": 7, "epochs": 25} | options)


def test_it_learns_what_the_numbers_tell_and_the_seed_decides_all(rows):
    seen, table = rows
    chances, epoch = trained(seen, table, epochs=150)
    with pytest.raises(DataError, match="train and dev"):
        trained(seen, table.replace({"split": {"dev": "test"}}))
    truth = table.loc[table["split"] != "train", "true"].map(NAMES.index).to_numpy()
    assert (chances.argmax(axis=1) == truth).mean() > 0.85
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)
    again, same = trained(seen, table, epochs=150)
    assert same == epoch
    assert np.array_equal(again, chances)
    assert not np.allclose(trained(seen, table, seed=8)[0], trained(seen, table)[0])


def test_nothing_of_a_test_row_reaches_the_network(rows):
    seen, table = rows
    tested = (table["split"] == "test").to_numpy()
    chances, epoch = trained(seen, table)
    other = table.assign(true=table["true"].where(~tested, None))
    changed = np.where(tested[:, None], 99.0, seen)
    found, same = trained(changed, other)
    dev = (table.loc[table["split"] != "train", "split"] == "dev").to_numpy()
    assert same == epoch
    assert np.array_equal(found[dev], chances[dev])


def test_results_are_measured_as_the_study_measures_its_own_models(real):
    """On predictions that follow people's scores: right, bounded and averaged as evaluation and released say."""
    translations, agreed = real("sudoh-translations"), real("sudoh-agreed")
    given = pd.concat([real("sudoh-labels"), real("sudoh-labels-wmt17")])
    one = released.release(given, agreed, translations, dimension="adequacy")
    seen = np.column_stack([translations["z"], translations["hypothesis"].str.len()]).astype(float)
    said = frozen.predict(translations, named(agreed), {"z": seen}, dimension="adequacy", seed=7, epochs=2)
    assert len(said) == 536 + 3920
    row = frozen.measured(said, labels="released", seed=7, one=one, resamples=20).iloc[0]
    test, dev = (said[said["split"] == name] for name in ("test", "dev"))
    assert row["accuracy"] == (test["true"] == test["predicted"]).mean()
    assert row["dev_accuracy"] == (dev["true"] == dev["predicted"]).mean()
    assert row["low"] < row["accuracy"] < row["high"]
    scores = evaluation.scores(evaluation.confusion(test)).set_index("label")
    assert row["f1"] == scores.at["Ave.", "f1"]
    assert row["contradictions"] == scores.at["Contradiction", "recall"]
    bound = frozen.measured(said, labels="median", seed=7, one=one).iloc[0]
    assert bound["test_at_least"] == released.accuracy_bounds(test, one)["test_at_least"] < bound["test_at_most"]


def test_the_committed_results_rest_on_the_texts_that_are_here(real):
    table, found = real("sudoh-translations"), elsewhere("minilm_critical_errors")
    read = similar.pairs_of("sudoh-translations")
    assert read[0] == tuple(one_form(table[side].iloc[0]) for side in ("hypothesis", "reference"))
    assert found.data["sudoh-translations"] == minilm.mark(read)
    assert found.commands == frozen.COMMANDS
    tried = found.table("classifier")
    keys = tried[["dimension", "labels", "model", "seed"]].drop_duplicates()
    assert len(keys) == len(tried) == 2 * 2 * len(frozen.MODELS) * len(frozen.SEEDS)
    known = tried[tried["labels"] == "released"]
    assert ((known["low"] < known["accuracy"]) & (known["accuracy"] < known["high"])).all()
