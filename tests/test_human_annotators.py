"""How annotators use the scale: counts by hand, laws, and filters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.data.provenance import like
from evalkit.human import annotators


def judged(annotator, scores, *, doc="d#1-9", system="s", first=1, item_type="calibration"):
    frame = pd.DataFrame({
        "src_lang": "eng", "tgt_lang": "jpn", "system": system, "doc": doc,
        "segment": [str(first + i) for i in range(len(scores))], "annotator": annotator,
        "score": np.asarray(scores, dtype=float), "item_type": item_type, "hit": annotator,
    })  # fmt: skip
    return like(frame, frame, scale=(0, 100))


def test_only_annotators_with_a_complete_and_an_additional_hit_stay():
    ratings = pd.concat([judged("full", [1, 2, 3]), judged("short", [1, 2]), judged("alone", [3, 2, 1])])
    mapping = pd.DataFrame({"hit": ["h1", "h2", "h3"], "annotator": ["full", "full", "short"]})
    listed = annotators.accounts(ratings, mapping, complete_at=3).set_index("annotator")
    assert listed["kept"].to_dict() == {"alone": False, "full": True, "short": False}
    assert listed["additional_hits"].to_dict() == {"alone": 0, "full": 2, "short": 1}
    table = annotators.workload(listed.reset_index()).iloc[0]
    assert table[["annotators", "incomplete", "without_additional"]].tolist() == [1, 1, 1]
    assert set(annotators.keep(ratings, listed.reset_index())["annotator"]) == {"full"}
    with pytest.raises(DataError, match="No annotator is left"):
        annotators.keep(ratings, annotators.accounts(ratings, mapping, complete_at=7))


def test_contents_count_distinct_triplets_and_shared_snippets():
    ratings = pd.concat([
        judged("a", [1, 2, 3]), judged("a", [4], item_type="repeat"), judged("b", [1, 2, 3]),
        judged("a", [5], doc="e#1-1"), judged("a", [5], system="t"),
    ])  # fmt: skip
    row = annotators.contents(ratings).iloc[0]
    assert row.drop("pair").tolist() == [5, 2, 2, 1, 1, 3]
    assert annotators.shared_snippets(ratings).to_dict("records") == [
        {"pair": "eng-jpn", "doc": "d#1-9", "systems": "s t"}
    ]


scores_0_100 = st.lists(st.integers(0, 100), min_size=2, max_size=40)


@given(scores_0_100)
def test_usage_equals_numpy(scores):
    row = annotators.usage(judged("a", scores)).iloc[0]
    assert (row["n"], row["unique_scores"]) == (len(scores), len(set(scores)))
    assert [row["min"], row["max"]] == [min(scores), max(scores)]
    assert row["mean"] == pytest.approx(np.mean(scores))
    assert row["sd"] == pytest.approx(np.std(scores, ddof=1))
    assert row["at_ends"] == pytest.approx(np.mean([s <= 10 or s >= 90 for s in scores]))
    if len(scores) > 2 and len(set(scores)) > 1:
        assert row["skewness"] == pytest.approx(stats.skew(scores, bias=False), abs=1e-9)
    else:
        assert np.isnan(row["skewness"])
    assert annotators.score_counts(judged("a", scores))["judgements"].sum() == len(scores)


def test_repeats_measure_the_distance_between_two_scores_of_one_segment():
    ratings = pd.concat([judged("a", [10, 50, 90]), judged("a", [14, 20], item_type="repeat"), judged("b", [1, 2, 3])])
    assert annotators.repeats(ratings).to_dict("records") == [
        {"pair": "eng-jpn", "annotator": "a", "n": 2, "median_abs_diff": 17.0, "max_abs_diff": 30.0}
    ]


@given(scores_0_100)
def test_shares_on_marks_are_shares(scores):
    shares = annotators.ticks(judged("a", scores))
    near = [any(abs(s - m) <= 1 for m in annotators.SQM_TICKS) for s in scores]
    assert shares["share"].sum() == pytest.approx(np.mean(near))
    found = annotators.discretisation(shares).iloc[0]
    assert found["on_marks"] == pytest.approx(np.mean(near))
    assert found["favourite_share"] == shares["share"].max()


def test_someone_on_the_marks_is_told_from_someone_who_spreads():
    rng = np.random.default_rng(0)
    ratings = pd.concat([judged("ticks", [0, 17, 33, 50, 67, 83, 100] * 9), judged("even", rng.integers(0, 101, 4000))])
    found = annotators.discretisation(annotators.ticks(ratings)).set_index("annotator")["on_marks"]
    assert found["ticks"] == pytest.approx(1)
    # four standard errors of a share of 0.149 among 4,000
    assert abs(found["even"] - annotators.even_share()) < 4 * np.sqrt(0.149 * 0.851 / 4000)


def test_marks_too_close_to_tell_apart_are_refused():
    with pytest.raises(DataError, match="would count a score twice"):
        annotators.ticks(judged("a", [1, 2]), tick_marks=(0.0, 1.0), within=1.0)
