"""Marks of errors as answers: F1 of characters against sets, laws, and the test against a plain reading of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.human.judges import alternative_annotator, spans

MARK = st.tuples(st.integers(0, 40), st.integers(1, 15)).map(lambda one: (one[0], one[0] + one[1]))
MARKS = st.lists(MARK, max_size=5)


def characters(own):
    return {place for start, end in own for place in range(start, end)}


@given(MARKS, MARKS)
def test_likeness_is_the_f1_of_sets_of_characters(one, other):
    a, b = characters(one), characters(other)
    hits = len(a & b)
    precision, recall = (hits / len(side) if side else 0.0 for side in (a, b))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else float(not a and not b)
    found = spans.alike(spans.mask(one), spans.mask(other))
    assert found == pytest.approx(f1)
    assert found == spans.alike(spans.mask(other), spans.mask(one))
    assert (found == 1) == (a == b)
    assert 0 <= found <= 1


@given(MARKS, MARKS, st.integers(0, 30))
def test_where_in_the_text_marks_stand_does_not_matter_only_where_beside_each_other(one, other, by):
    moved = [[(start + by, end + by) for start, end in own] for own in (one, other)]
    assert spans.alike(*map(spans.mask, moved)) == spans.alike(spans.mask(one), spans.mask(other))


def campaign(seed=1, items=60):
    rng = np.random.default_rng(seed)
    scored, marked = [], []
    for n in range(items):
        for protocol in ("ESA-1", "ESA-2", "MQM-1"):
            key = {"protocol": protocol, "system": f"s{n % 3}", "doc": "d", "segment": str(n)}
            scored.append(key | {"annotator": f"p{n % 2}", "item_type": "system", "score": 50.0})
            for _ in range(rng.integers(0, 3)):
                start = int(rng.integers(0, 12))
                marked.append(key | {"start": start, "end": start + int(rng.integers(1, 6)), "item_type": "system"})
    return pd.DataFrame(scored), pd.DataFrame(marked)


def test_marks_become_answers_of_people_and_none_is_an_answer_too():
    scored, marked = campaign()
    odd = marked.iloc[[0]].assign(start=-1.0, end=-1.0)
    degraded = marked.iloc[[0]].assign(start=30, end=40, item_type="degraded")
    table = spans.answers(scored[scored["protocol"] != "MQM-1"], pd.concat([marked, odd, degraded]))
    assert sorted(table) == ["ESA-1 p0", "ESA-1 p1", "ESA-2 p0", "ESA-2 p1"]
    assert (table.notna().sum(axis=1) == 2).all()
    for (system, _, segment), row in table.iterrows():
        own = marked[(marked["system"] == system) & (marked["segment"] == segment) & (marked["protocol"] == "ESA-1")]
        given = row[[name for name in table if name.startswith("ESA-1")]].dropna().item()
        places = {place for place in range(60) if given >> place & 1}
        assert places == characters(zip(own["start"], own["end"], strict=True))


def test_the_trial_is_the_test_read_aloud():
    scored, marked = campaign(5, 140)
    found = spans.marks(scored, marked, pd.DataFrame(), others=["MQM-1", "ESA-9"], epsilons=[0.2]).set_index("judge")
    assert list(found.index.unique().sort_values()) == ["MQM-1", "no marks"]
    by_segment = marked.groupby(["protocol", "segment"])
    chars = {key: characters(zip(own["start"], own["end"], strict=True)) for key, own in by_segment}

    def f1(one, other):
        return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0

    ahead = {}
    for row in scored[scored["protocol"] != "MQM-1"].itertuples():
        other = "ESA-2" if row.protocol == "ESA-1" else "ESA-1"
        theirs, own, judge = (chars.get((name, row.segment), set()) for name in (other, row.protocol, "MQM-1"))
        ahead.setdefault((row.protocol, row.annotator), []).append(f1(judge, theirs) >= f1(own, theirs))
    assert found.loc["MQM-1", "advantage"] == pytest.approx(np.mean([np.mean(one) for one in ahead.values()]))
    assert (found.loc["MQM-1", "annotators"], found.loc["MQM-1", "items"]) == (4, 140)


def test_who_marks_nothing_passes_where_people_mark_little():
    rng = np.random.default_rng(2)
    marks = [[0 if rng.random() < 0.8 else 1 << int(rng.integers(0, 40)) for _ in "abc"] for _ in range(100)]
    nothing = pd.Series([0] * 100, dtype=object)
    people = pd.DataFrame(marks, dtype=object)
    assert alternative_annotator(people, nothing, alignment=spans.alike, epsilon=0.1).passed
