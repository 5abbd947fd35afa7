"""System scores as WMT computes them: by hand, by law, and to the digits of the official files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.human import ranking


def ratings(rows):
    frame = pd.DataFrame(rows, columns=["system", "segment", "item_type", "score"])
    return frame.assign(src_lang="ces", tgt_lang="eng", doc="d", annotator="a", z=frame["score"] / 10)


SMALL = [
    ("A", "1", "system", 80.0), ("A", "1", "repeat", 40.0), ("A", "2", "system", 30.0), ("A", "2", "degraded", 0.0),
    ("B", "1", "system", 50.0), ("B", "2", "reference", 100.0), ("B", "2", "system", 44.0),
]  # fmt: skip


def test_segments_are_averaged_before_systems_and_only_system_and_repeat_count():
    scores = ranking.system_scores(ratings(SMALL)).set_index("system")
    assert scores["score"].to_dict() == {"A": 45.0, "B": 47.0}  # ((80 + 40) / 2 + 30) / 2
    assert scores["judgements"].to_dict() == {"A": 3, "B": 2}
    assert scores["rank"].to_dict() == {"A": 2, "B": 1}
    without = ranking.system_scores(ratings(SMALL), item_types=("system",)).set_index("system")
    assert without.at["A", "score"] == 55.0


def test_moves_are_told_against_the_official_order():
    official = pd.DataFrame({"system": ["B", "A"], "raw": ["47", "45.1"], "z": ["4.7", "4.5"], "segments": 2,
                             "judgements": [2, 3], "src_lang": "ces", "tgt_lang": "eng"})  # fmt: skip
    compared = ranking.against_official(ratings(SMALL), official, scale="raw").set_index("system")
    assert compared["equal"].to_dict() == {"B": True, "A": False}
    assert compared["moved"].to_dict() == {"B": -1, "A": 1}
    with pytest.raises(DataError, match="only one of ratings and official"):
        ranking.against_official(ratings(SMALL), official.replace({"A": "C"}))


def test_without_z_there_is_no_ranking_by_z():
    without = ratings(SMALL).drop(columns="z")
    with pytest.raises(DataError, match="needs the column z, which these ratings lack"):
        ranking.system_scores(without, score="z")
    assert ranking.system_scores(without)["rank"].tolist() == [2, 1], "raw scores are enough for a ranking of them"


@given(st.permutations(SMALL), st.floats(0.1, 9), st.floats(-50, 50))
def test_order_of_rows_is_irrelevant_and_ranks_survive_a_change_of_scale(rows, gain, shift):
    plain, moved = ranking.system_scores(ratings(SMALL)), ratings(rows)
    moved["score"] = moved["score"] * gain + shift
    changed = ranking.system_scores(moved)
    assert changed["rank"].tolist() == plain["rank"].tolist()
    assert np.allclose(changed["score"], plain["score"] * gain + shift)


@given(st.integers(0, 3))
def test_zeros_taken_away_are_found_again(which):
    """Judgements of 0 that vanish from a file leave the official score within the bounds."""
    rows = [
        *SMALL,
        ("A", "1", "system", 0.0),
        ("A", "3", "system", 0.0),
        ("B", "4", "system", 0.0),
        ("B", "1", "repeat", 0.0),
    ]
    full, gone = ratings(rows), ratings(rows).drop(index=len(SMALL) + which)
    true = ranking.system_scores(full)
    official = true.assign(raw=true["score"].round(1).astype(str), z="0", src_lang="ces", tgt_lang="eng")
    compared = ranking.against_official(gone, official.drop(columns=["pair"]), scale="raw")
    told = ranking.explain_missing(gone, compared, scale="raw")
    assert len(told) == 1
    assert told["explained"].all()


@pytest.mark.parametrize(
    ("year", "scale", "equal", "pairs_that_differ"),
    [(21, "z", 80, set()), (21, "raw", 77, {"deu-eng"}), (22, "z", 68, {"deu-eng", "jpn-eng"}),
     (22, "raw", 58, {"deu-eng", "jpn-eng"})],
)  # fmt: skip
def test_official_rankings_come_out_to_the_printed_digits(year, scale, equal, pairs_that_differ, real):
    rated, official = real(f"wmt{year}-mturk"), real(f"wmt{year}-mturk-ranking")
    compared = ranking.against_official(rated, official, scale=scale)
    assert compared["equal"].sum() == equal
    wrong = compared[~compared["equal"]]
    assert set(wrong["pair"]) == pairs_that_differ
    complete = compared["judgements"] == compared["official_judgements"]
    assert compared.loc[complete, "equal"].all(), "whatever differs lacks judgements"
    assert ranking.explain_missing(rated, compared, scale=scale)["explained"].all()


def test_the_reason_stands_in_the_files(real):
    flat = ranking.flat_annotators(real("wmt22-mturk-annotators")).set_index("pair")
    assert flat.at["jpn-eng", "without_spread"] == 8
    assert flat.at["jpn-eng", "scores"] == "0"
    rated = real("wmt22-mturk")
    workers = data.load("wmt22-mturk-annotators")
    zero = workers[workers["sd"].eq(0)]
    assert not rated.merge(zero, on=["src_lang", "tgt_lang", "annotator"]).shape[0]
