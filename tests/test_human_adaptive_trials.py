"""What of real judgements is replayed, and the tables that replays come to."""

import numpy as np
import pandas as pd
import pytest
from makers import ratings

from evalkit.human.adaptive import trials


def campaign(*, systems=6, documents=50, own=False, seed=0):
    """Judge every system on the same documents, or each on documents of its own; better the later it comes."""
    sizes = {"systems": systems, "documents": documents, "length": 2, "people": 4, "each": 1, "dealt": "item"}
    spread = {"segment": 0.0, "annotator": 0.0, "residual": 12.0}
    table = ratings(seed, **sizes, gap=-4, spread=spread)
    return table.assign(doc=table["doc"] + (table["system"] if own else ""))


def test_documents_shared_by_all_systems_are_a_grid_and_the_best_system_comes_first():
    table = campaign()
    (found,) = trials.materials({"mine": table})
    assert (found.data, found.pair, found.shared) == ("mine", "eng-deu", True)
    assert found.scores.shape == (6, 50)
    assert found.screens() == 100  # 300 documents judged, three on a screen
    assert (found.screens(2), found.screens(9)) == (150, 50)
    means = table.groupby(["system", "doc"])["score"].mean().groupby("system").mean().sort_values(ascending=False)
    assert list(found.systems) == list(means.index)
    assert found.truth == pytest.approx(means.to_numpy())


def test_a_system_that_is_hardly_judged_and_documents_that_some_lack_are_left_out():
    table = campaign()
    rare = table["system"].eq("S2") & table["doc"].ne("d01")
    lacking = table["system"].eq("S3") & table["doc"].isin(["d07", "d08"])
    (found,) = trials.materials({"mine": table[~rare & ~lacking]})
    assert sorted(found.systems) == ["S0", "S1", "S3", "S4", "S5"]
    assert found.scores.shape == (5, 48)


def test_systems_without_shared_documents_are_pools_of_their_own():
    table = campaign(own=True)
    (found,) = trials.materials({"mine": table})
    assert not found.shared
    hits = table.groupby(["system", "doc", "annotator"])["score"].mean()
    assert np.isfinite(found.scores).sum() == len(hits)
    assert found.truth == pytest.approx(hits.groupby("system").mean().sort_values(ascending=False).to_numpy())


def test_too_little_is_not_replayed():
    assert trials.materials({"few systems": campaign(systems=4), "few texts": campaign(documents=8)}) == []
    degraded = campaign().assign(item_type="degraded")
    assert trials.materials({"degraded": degraded}) == []


def test_a_replay_has_a_row_for_each_system_estimate_and_assignment():
    used = trials.materials({"mine": campaign(), "own": campaign(own=True)})
    found = trials.replay(used, assignments=["uniform", "greedy"], names=["plain mean"], campaigns=40)
    assert list(found.columns[:5]) == ["data", "pair", "assignment", "estimate", "system"]
    assert found.groupby(["data", "assignment"]).size().eq(6).all()
    again = trials.replay(used, assignments=["uniform", "greedy"], names=["plain mean"], campaigns=40)
    pd.testing.assert_frame_equal(found, again)
    steered = found[found["assignment"] == "greedy"].set_index(["data", "system"])["judgements"]
    for name in ("mine", "own"):
        assert steered[name, "S5"] > 2 * steered[name, "S0"]


def test_alarms_count_campaigns_of_all_language_pairs_that_share_documents():
    used = trials.materials({"a": campaign(), "b": campaign(seed=1), "own": campaign(own=True)})
    found = trials.alarms(used, assignments=["by rank"], points=25.0, campaigns=30)
    assert found["campaigns"].eq(60).all()
    assert set(found["situation"]) == {trials.ALIKE, "better by 25"}
    rate = found.set_index(["situation", "rule"])["rate"]
    assert rate["better by 25", "a strict test at every look"] > 0.9
    assert rate[trials.ALIKE, "a strict test at every look"] < 0.2
    assert found.loc[found["situation"] != trials.ALIKE, "nominal"].isna().all()
