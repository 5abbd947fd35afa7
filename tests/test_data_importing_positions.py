"""Rows that hold several systems, each at a place with its own scores: places are no systems."""

import itertools

import numpy as np
import pandas as pd
import pytest

from evalkit import data
from evalkit.data import importing

SYSTEMS = {"alpha": 74, "beta": 57, "gamma": 49}


def judged(places, seed=5):
    """Judgements, and on which screen and at which place each was made."""
    rng = np.random.default_rng(seed)
    rows = []
    for screen in range(120):
        for place, system in enumerate(rng.permutation([*SYSTEMS])[:places]):
            score = int(np.clip(SYSTEMS[system] + rng.normal(0, 9), 0, 100))
            rows.append((screen, "xyz"[screen % 3], place, system, score))
    return pd.DataFrame(rows, columns=["segment", "annotator", "place", "system", "score"])


HEADINGS = {
    ("sys{}", "quality{}"): "123",
    ("model_{}", "score_{}"): "123",
    ("system_{}", "score_{}"): "abc",
    ("Model {}", "Score {}"): "ABC",
    ("mt{}_name", "mt{}_score"): "123",
    ("mt_{}_id", "mt_{}_rating"): "123",
    ("system{}Id", "system{}Rating"): "123",
}


@pytest.mark.parametrize("places", [2, 3])
@pytest.mark.parametrize("named", HEADINGS, ids="|".join)
@pytest.mark.parametrize("by_place", [True, False])
def test_a_score_is_of_the_system_named_at_its_place(places, named, by_place, tmp_path):
    rows = judged(places)
    spots = HEADINGS[named][:places]
    wide = rows.pivot(index=["segment", "annotator"], columns="place", values=["system", "score"])
    pairs = itertools.product(range(places), (0, 1)) if by_place else ((p, k) for k in (0, 1) for p in range(places))
    columns = {
        named[kind].format(spots[place]): wide["system" if kind == 0 else "score", place] for place, kind in pairs
    }
    path, out = tmp_path / "my.csv", tmp_path / "c.parquet"
    pd.DataFrame(columns).reset_index().to_csv(path, index=False)
    report, _ = importing.import_campaign([path], out, keep_names=True)
    ratings = data.open_campaign(out)[0]
    found = ratings.groupby("system")["score"].agg(["size", "mean"])
    expected = rows.groupby("system")["score"].agg(["size", "mean"])
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert report.rows_rejected == 0
    assert set(ratings["annotator"]) == set("xyz")


def test_two_criteria_a_place_stay_two(tmp_path):
    rows = judged(2)
    wide = rows.pivot(index=["segment", "annotator"], columns="place", values=["system", "score"])
    columns = {}
    for place in (0, 1):
        score = wide["score", place].astype(int)
        columns |= {f"system{place + 1}": wide["system", place], f"adequacy{place + 1}": score}
        columns[f"fluency{place + 1}"] = score // 2
    path, out = tmp_path / "my.csv", tmp_path / "c.parquet"
    pd.DataFrame(columns).reset_index().to_csv(path, index=False)
    importing.import_campaign([path], out, keep_names=True)
    ratings = data.open_campaign(out)[0]
    found = ratings.groupby(["criterion", "system"])["score"].mean()
    for name, scores in {"adequacy": rows["score"], "fluency": rows["score"] // 2}.items():
        expected = rows.assign(score=scores).groupby("system")["score"].mean()
        assert found[name].to_dict() == pytest.approx(expected.to_dict())
