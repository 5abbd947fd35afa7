"""Classifiers in place of annotators of critical errors: nothing of the labels that are judged was learned."""

import pandas as pd
import pytest

from evalkit.data import simulate
from evalkit.human.judges import alternative_annotator
from evalkit.papers.sudoh2021 import judging
from evalkit.papers.sudoh2021.taxonomy import KEY, categories, named


@pytest.fixture(scope="module")
def small():
    labels, texts = simulate.stand_in("sudoh-labels"), simulate.stand_in("sudoh-translations")
    few = [table[table["segment"].astype(int) <= 60] for table in (labels, texts)]
    return *few, judging.predictions(*few)


def test_labels_of_a_test_set_are_never_learned_by_who_judges_it(small):
    labels, texts, before = small
    one = sorted(labels["doc"].unique())[0]
    spoilt = labels.copy()
    spoilt.loc[labels["doc"] == one, "label"] = "F"
    after = judging.predictions(spoilt, texts)
    here = before["doc"] == one
    columns = [*KEY, "dimension", "model", "predicted"]
    pd.testing.assert_frame_equal(before.loc[here, columns], after.loc[here, columns])
    assert not before.loc[~here, "predicted"].equals(after.loc[~here, "predicted"])


def test_trials_are_the_test_on_labels_and_on_their_places(small):
    labels, _, predicted = small
    found = judging.replaced(labels, predicted, epsilons=[0.1]).set_index(["data", "judge"])
    assert set(found.index.get_level_values("data")) == {"Sudoh adequacy", "Sudoh fluency", "Sudoh fluency, steps"}
    rows = named(labels[labels["dimension"] == "fluency"])
    wide = rows.pivot(index=KEY, columns="annotator", values="label")
    own = predicted[(predicted["dimension"] == "fluency") & (predicted["model"] == "features")].set_index(KEY)
    by_hand = alternative_annotator(wide, own["predicted"], alignment="accuracy", epsilon=0.1)
    row = found.loc["Sudoh fluency", "classifier on features"]
    assert (row["winning_rate"], row["advantage"]) == (by_hand.winning_rate, by_hand.advantage)
    steps = {name: float(place) for place, name in enumerate(categories("fluency"))}
    placed = wide.apply(lambda column: column.map(steps))
    by_steps = alternative_annotator(placed, own["predicted"].map(steps), alignment="rmse", epsilon=0.1)
    row = found.loc["Sudoh fluency, steps", "classifier on features"]
    assert (row["winning_rate"], row["advantage"]) == (by_steps.winning_rate, by_steps.advantage)
    assert row["items"] == len(wide)
