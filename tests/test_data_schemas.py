"""Every broken rule is told once, with file, line, column, value and remedy; good tables pass unharmed."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.schemas import HITS, RATINGS, check

ROW = {
    "src_lang": "eng",
    "tgt_lang": "jpn",
    "system": "007",
    "doc": "d",
    "segment": "0",
    "annotator": "a",
    "score": "90",
    "item_type": "system",
}


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


def test_true_is_no_score_of_one():
    assert "column score: True is not a number" in complaint(table().assign(score=[True, True, False]))
    assert "column score: True is not a number" in complaint(
        table().assign(score=pd.Series([90, True, 1], dtype=object))
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([{}, {"score": 104}], "my.csv, line 3, column score: 104 is outside 0-100."),
        ([{"score": -0.5}], "my.csv, line 2, column score: -0.5 is outside 0-100."),
        ([{}, {"score": "good"}], "my.csv, line 3, column score: 'good' is not a number."),
        ([{"score": "inf"}], "my.csv, line 2, column score: 'inf' is not a number."),
        ([{"score": "-1e50"}], "my.csv, line 2, column score: '-1e50' is not a number."),
        ([{"score": "nan"}], "my.csv, line 2, column score: 'nan' is not a number."),
        ([{"score": None}], "my.csv, line 2, column score: is empty."),
        ([{}, {}, {"system": ""}], "my.csv, line 4, column system: is empty."),
        ([{"item_type": "sytem"}], "column item_type: 'sytem' is none of system, reference, degraded, repeat, calibr"),
        ([{}, {"started": "soon"}], "my.csv, line 3, column started: 'soon' is not a number."),
        (
            [{"segment": "1"}, {}],
            "line 3, columns src_lang, tgt_lang, system, doc, segment, annotator, item_type: "
            "the same as line 2. Drop one of them",
        ),
        ([{"system": "s" * 99, "score": "x" * 99}], "'" + "x" * 56 + "... is not a number"),
    ],
)
def test_each_broken_rule_is_told(changes, message):
    assert message in complaint(table(*changes))


CELLS = {
    "score": st.sampled_from([0.0, -1.0, 100.0, 100.5, None]),
    "item_type": st.sampled_from(["system", "repeat", "sytem", "", None]),
    "probability": st.sampled_from([0.0, 0.5, 1.0, 1.5, None]),
}


@given(st.lists(st.fixed_dictionaries(CELLS), min_size=1, max_size=8), st.sampled_from([None, (0, 100)]))
def test_rules_asked_one_by_one_are_those_that_pandera_finds_in_the_whole(rows, scale):
    frame = pd.DataFrame([ROW | {"segment": str(place)} | row for place, row in enumerate(rows)])
    names = [*CELLS]
    typed = frame.assign(**{name: schemas._coerced(frame[name], RATINGS.columns[name]) for name in names})
    schema = (
        RATINGS
        if scale is None
        else RATINGS.update_column(
            "score",
            checks=schemas.pa.Check.in_range(
                *scale, error="is outside 0-100. Correct it, drop the row, or pass your scale=(low, high)"
            ),
        )
    )
    try:
        schema.select_columns(names).validate(typed[names], lazy=True)
        wanted = set()
    except schemas.pa.errors.SchemaErrors as errors:
        cases = errors.failure_cases
        cases = cases[cases["check"].ne("not_nullable")]
        wanted = set(zip(cases["column"], cases["check"], cases["index"].astype(int)))
    assert sorted(schemas._violations(typed, RATINGS, scale)) == sorted(wanted)


def test_one_message_per_rule_counts_the_other_lines():
    text = complaint(table({"score": 101}, {"score": 102}, {}, {"score": 103}, {"doc": None}))
    assert text.splitlines() == [
        "my.csv, line 6, column doc: is empty. Fill it in, or drop the row.",
        "my.csv, line 2, column score: 101 is outside 0-100. Correct it, drop the row, or pass your scale=(low, high) "
        "(and 2 more, up to line 5).",
    ]


def test_missing_double_and_no_columns_and_no_rows():
    lacking = complaint(table().drop(columns=["score", "item_type"]))
    assert "lacks the columns score, item_type; it has src_lang" in lacking
    assert "columns={'score': " in complaint(table().drop(columns="score"))
    assert "it has none" in complaint(pd.DataFrame())
    assert "no rows" in complaint(table().head(0))
    assert "the column score twice" in complaint(pd.concat([table(), table()[["score"]]], axis=1))


def test_lines_with_and_without_a_header_and_from_the_reader():
    frame = table({}, {"score": 104})
    assert "line 3," in complaint(frame)
    assert "line 2," in complaint(frame, first_line=1)
    assert "line 41," in complaint(frame.set_axis(pd.Index([17, 41], name="line")))
    assert "line 3," in complaint(frame.set_axis([17, 41]))


def test_the_scale_is_an_argument():
    assert len(check(table({"score": 104}), RATINGS, origin="x", scale=(0, 120))) == 1
    assert len(check(table({"score": 1e9}), RATINGS, origin="x")) == 1
    assert "is outside 1-5" in complaint(table({"score": 0}), scale=(1, 5))


def test_judgements_differ_by_hit_time_or_type_but_not_by_score():
    check(table({"segment": "1", "item_type": "repeat"}, {}), RATINGS, origin="x")
    check(table({"segment": "1"}, {}, started=[1, 2]), RATINGS, origin="x")
    check(table({"segment": "1"}, {}, hit=["a", "b"]), RATINGS, origin="x")
    assert "the same as line 2" in complaint(table({"segment": "1", "score": 5}, {}, started=[None, None]))


def test_a_hit_has_one_annotator():
    hits = pd.DataFrame({"hit": ["h1", "h2", "h1"], "annotator": ["a", "a", "b"]})
    assert complaint(hits, HITS, scale=None) == (
        "my.csv, line 4, columns hit: the same as line 2. A HIT has one annotator: drop one of them."
    )


def test_odd_cells_in_a_table_from_memory_are_problems_and_not_crashes():
    odd = [10**400, [1], {}, b"5", True, pd.NaT, pd.NA, object()]
    text = complaint(table(*[{"score": cell} for cell in odd]))
    assert "is not a number" in text
    assert "is empty" in text


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


def test_item_types_are_the_shared_vocabulary():
    assert schemas.ITEM_TYPES == ("system", "reference", "degraded", "repeat", "calibration")
