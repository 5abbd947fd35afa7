"""Every broken rule is told once, with file, line, column, value and remedy; good tables pass unharmed."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from evalkit import DataError
from evalkit.data.schemas import HITS, RATINGS, check

ROW = {"src_lang": "eng", "tgt_lang": "jpn", "system": "007", "doc": "d", "segment": "0", "annotator": "a"}
ROW |= {"score": "90", "item_type": "system"}


def table(*changes, **columns):
    """Build a valid table of distinct segments, then change its rows one by one."""
    rows = [ROW | {"segment": str(n)} | change for n, change in enumerate(changes or ({}, {}, {}))]
    return pd.DataFrame(rows).assign(**columns)


def complaint(frame, schema=RATINGS, **options):
    """Return the message that ``check`` raises."""
    with pytest.raises(DataError) as problem:
        check(frame, schema, **{"origin": "my.csv", "scale": (0, 100)} | options)
    return str(problem.value)


def test_a_good_table_keeps_its_rows_and_gets_its_types():
    frame = check(table(hit=7, started="1.5", note="x"), RATINGS, origin="my.csv", scale=(0, 100))
    assert frame["system"].tolist() == ["007"] * 3
    assert frame["hit"].tolist() == ["7"] * 3
    assert frame["score"].tolist() == [90.0] * 3
    assert frame["started"].tolist() == [1.5] * 3
    assert frame["note"].tolist() == ["x"] * 3


def test_judgements_differ_by_hit_time_or_type_but_not_by_score():
    check(table({"segment": "1", "item_type": "repeat"}, {}), RATINGS, origin="x")
    check(table({"segment": "1"}, {}, started=[1, 2]), RATINGS, origin="x")
    check(table({"segment": "1"}, {}, hit=["a", "b"]), RATINGS, origin="x")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([{}, {"score": 104}], "line 3, column score: 104 is outside 0-100"),
        ([{}, {"score": "good"}], "line 3, column score: 'good'"),
        ([{"score": "inf"}], "line 2, column score: 'inf'"),
        ([{"score": "-1e50"}], "line 2, column score: '-1e50'"),
        ([{"score": "nan"}], "line 2, column score: 'nan'"),
        ([{"score": None}], "line 2, column score: is empty"),
        ([{"score": True}], "column score: True"),  # it was once a score of 1
        ([{"score": 10**400}, {"score": [1]}, {"score": pd.NaT}], "line 2, column score: "),
        ([{}, {}, {"system": ""}], "line 4, column system: is empty"),
        ([{"item_type": "sytem"}], "column item_type: 'sytem' is none of system, reference, degraded, repeat, calibr"),
        ([{}, {"started": "soon"}], "line 3, column started: 'soon'"),
        ([{"segment": "1"}, {}], "line 3, columns src_lang, .*item_type: the same as line 2"),
        ([{"segment": "1", "score": 5, "started": None}, {"started": None}], "line 3, .*the same as line 2"),
        ([{"system": "s" * 99, "score": "x" * 99}], "'x{56}[.]{3}"),
        ([{"score": 101}, {"score": 102}, {}, {"score": 103}], r"line 2, column score: 101 .*2 more, up to line 5"),
    ],
)
def test_each_broken_rule_is_told(changes, told):
    assert re.search(told, complaint(table(*changes)))


@pytest.mark.parametrize(
    ("frame", "options", "told"),
    [
        (table().drop(columns=["score", "item_type"]), {}, "columns score, item_type; it has src_lang"),
        (pd.DataFrame(), {}, "it has none"),
        (table().head(0), {}, "no rows"),
        (pd.concat([table(), table()[["score"]]], axis=1), {}, "score twice"),
        (table({}, {"score": 104}), {"first_line": 1}, "line 2,"),
        (table({}, {"score": 104}).set_axis(pd.Index([17, 41], name="line")), {}, "line 41,"),
        (table({"score": 0}), {"scale": (1, 5)}, "outside 1-5"),
        (pd.DataFrame({"hit": ["h1", "h2", "h1"], "annotator": [*"aab"]}), {"schema": HITS}, "line 4, columns hit"),
    ],
)
def test_tables_of_another_form_are_told_with_the_line_of_their_file(frame, options, told):
    assert told in complaint(frame, **options)


def test_the_scale_is_an_argument():
    assert len(check(table({"score": 104}), RATINGS, origin="x", scale=(0, 120))) == 1
    assert len(check(table({"score": 1e9}), RATINGS, origin="x")) == 1


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@given(
    st.lists(st.tuples(NAMES, NAMES, st.floats(0, 100)), min_size=1, max_size=8, unique_by=lambda row: row[:2]),
    st.randoms(use_true_random=False),
)
def test_checking_is_idempotent_and_blind_to_the_order_of_rows(rows, random):
    frame = pd.DataFrame([ROW | {"system": s, "annotator": a, "score": y} for s, a, y in rows])
    once = check(frame, RATINGS, origin="x", scale=(0, 100))
    assert_frame_equal(check(once, RATINGS, origin="x", scale=(0, 100)), once)
    order = random.sample(range(len(rows)), len(rows))
    shuffled = check(frame.iloc[order], RATINGS, origin="x", scale=(0, 100))
    assert_frame_equal(shuffled, once.iloc[order].reset_index(drop=True))


@given(st.lists(st.floats(-50, 150, allow_nan=False), min_size=1, max_size=12))
def test_a_table_passes_exactly_when_every_score_is_on_the_scale(scores):
    frame = table(*[{"score": score} for score in scores])
    if all(0 <= score <= 100 for score in scores):
        assert check(frame, RATINGS, origin="x", scale=(0, 100))["score"].tolist() == scores
    else:
        first = 2 + int(np.flatnonzero([not 0 <= score <= 100 for score in scores])[0])
        assert f"line {first}, column score" in complaint(frame)
