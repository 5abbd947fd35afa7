"""WMT24's error span annotation: which submission counts, what a document's mark means, broken spans."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import appraise
from evalkit.data.schemas import UNSTATED
from evalkit.human import mqm

ROWS = [
    "a1,tutorial1,9,TGT,eng,jpn,0,ende-tutorial1,False,[],1.0,1.0",
    "a1,refA,7,TGT,eng,jpn,40,doc1,False,[],2.0,2.5",
    'a1,refA,7,BAD,eng,jpn,10,doc1#bad,False,"[{""start_i"":1},{""start_i"":5}]",3.0,3.5',
    "a1,refA,7,TGT,eng,jpn,50,doc1,False,[],2.0,9.5",  # submitted again, at the same start
    "a1,refA,7,TGT,eng,jpn,45,doc1#dup,False,[],4.0,4.5",
    "a1,S,8,TGT,eng,jpn,90,doc2#incomplete,False,[],5.0,5.5",
]


def load(tmp_path, rows):
    path = tmp_path / "wave.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return appraise.esa([path])


def test_the_latest_submission_counts_and_marks_tell_the_kind(tmp_path):
    frame = load(tmp_path, ROWS)
    assert frame.attrs["excluded"] == {"tutorial items": 1, "submissions that a later one replaced": 1}
    assert frame["score"].tolist() == [50, 10, 45, 90]
    assert frame["item_type"].tolist() == ["reference", "degraded", "repeat", "system"]
    assert frame["copy"].tolist() == [False, True, True, False]
    assert frame["mark"].tolist() == ["", "bad", "dup", ""]
    assert frame["doc"].tolist() == ["doc1", "doc1", "doc1", "doc2"]
    assert frame["errors"].tolist() == [0, 2, 0, 0]


def marked(tmp_path, *spans, tail=()):
    """Load the errors of one judgement, written as the files write them."""
    cell = "[" + ", ".join(spans) + "]"
    quoted = '"' + cell.replace('"', '""') + '"'
    path = tmp_path / "wave.csv"
    row = f"a1,S,8,TGT,eng,jpn,90,doc2,False,{quoted},5.0,5.5"
    path.write_text("\n".join([ROWS[0], row, *tail]) + "\n", encoding="utf-8")
    return appraise.esa_spans([path])


def span(start, end, severity='"minor"'):
    return f'{{"start_i": {start}, "end_i": {end}, "severity": {severity}, "error_type": null}}'


def test_a_span_becomes_a_row_whose_end_is_excluded(tmp_path):
    frame = marked(
        tmp_path, span(0, 0), span(4, 9, '"major"'), span('"missing"', '"missing"'), span(11, 12, '"undecided"')
    )
    assert frame["start"].iloc[[0, 1, 3]].tolist() == [0, 4, 11]
    assert frame["end"].iloc[[0, 1, 3]].tolist() == [1, 10, 13]
    assert frame.loc[2, ["start", "end"]].isna().all()
    assert frame["error_type"].tolist() == ["other", "other", "omission", "other"]
    assert frame["severity"].tolist() == ["minor", "major", "minor", UNSTATED]
    assert frame["span"].tolist() == ["1", "2", "3", "4"]
    assert frame["side"].eq("target").all()
    assert "weight" not in frame


def test_a_replaced_submission_takes_its_spans_with_it_and_a_copy_keeps_its_own(tmp_path):
    again = '"[' + span(7, 8).replace('"', '""') + ']"'
    frame = marked(tmp_path, span(0, 1), span(3, 4), tail=[f"a1,S,8,TGT,eng,jpn,80,doc2,False,{again},5.0,9.5"])
    assert frame["start"].tolist() == [7]
    frame = marked(tmp_path, span(0, 1), tail=[f"a1,S,8,BAD,eng,jpn,80,doc2#bad,False,{again},7.0,9.5"])
    assert frame[["mark", "item_type", "span"]].to_numpy().tolist() == [["", "system", "1"], ["bad", "degraded", "1"]]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (span(9, 4), "9 to 4 is no stretch"),
        (span(1.5, 4), "1.5 to 4 is no stretch"),
        (span('"missing"', 4), "'missing' to 4 is no stretch"),
        (span('"3"', '"4"'), "'3' to '4' is no stretch"),
        (span(1, 4, '"awful"'), "severity 'awful'"),
        (span(1, 4, '["minor"]'), "severity"),
        ('{"start_i": 1, "severity": "minor"}', "lacks start_i"),
        ("{", "no list in JSON"),
    ],
)
def test_a_broken_span_is_told(bad, told):
    with pytest.raises(DataError, match=told):
        appraise.errors_of(f"[{bad}]")


def test_spans_join_the_judgements_that_are_kept(real):
    judged, errors = real("wmt24-esa"), real("wmt24-esa-spans")
    key = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "item_type", "hit", "started", "mark"]
    counts = errors[key].astype("str").value_counts().rename("found").reset_index()
    names = judged[key].astype("str").assign(errors=judged["errors"].to_numpy())
    joined = names.merge(counts, how="outer", on=key, validate="one_to_one")
    assert len(joined) == len(judged)
    assert joined["found"].fillna(0).eq(joined["errors"]).all()


def tables(rng, judgements=400):
    """Draw judgements with minor and major errors whose costs are known: 3 and 11 points."""
    minor, major = rng.poisson(1, judgements), rng.poisson(0.5, judgements)
    score = 95 - 3 * minor - 11 * major + rng.normal(0, 2, judgements)
    frame = pd.DataFrame(
        {"src_lang": "eng", "tgt_lang": "ces", "system": "S", "doc": "d", "annotator": "a"}, range(judgements)
    )
    frame = frame.assign(segment=np.arange(judgements).astype(str), score=score)
    errors = frame.loc[frame.index.repeat(minor + major)]
    number = errors.groupby(level=0).cumcount()
    severity = np.where(number < minor[errors.index], "minor", "major")
    errors = errors.drop(columns="score").assign(span=number.astype(str), severity=severity, error_type="other")
    return frame, errors.reset_index(drop=True), minor, major


def test_scores_of_marks_correlate_as_scipy_says():
    from scipy import stats

    judged, errors, minor, major = tables(np.random.default_rng(3))
    row = mqm.marks_against_scores(judged, errors, resamples=50).iloc[0]
    made = -(minor + 5 * major)
    assert row["kendall_b"] == pytest.approx(stats.kendalltau(made, judged["score"]).statistic, rel=1e-12)
    assert row["pearson"] == pytest.approx(stats.pearsonr(made, judged["score"]).statistic, rel=1e-12)
    assert row["low"] < row["kendall_b"] < row["high"]
    assert row["unmarked"] == np.mean(minor + major == 0)


def test_costs_of_errors_are_those_of_least_squares_and_come_back():
    judged, errors, minor, major = tables(np.random.default_rng(4))
    found = mqm.severity_costs(judged, errors, resamples=100).set_index("severity")
    looks = np.column_stack([np.ones(len(judged)), minor, major])
    expected = np.linalg.lstsq(looks, judged["score"], rcond=None)[0]
    assert found["each"].to_numpy() == pytest.approx(-expected[1:], rel=1e-9)
    assert found["errors"].tolist() == [minor.sum(), major.sum()]
    score = judged["score"].to_numpy()
    alone = score[minor + major == 0].mean() - score[(minor == 1) & (major == 0)].mean()
    assert found.at["minor", "alone"] == pytest.approx(alone, rel=1e-12)
    for name, true in (("minor", 3), ("major", 11)):
        assert found.at[name, "low"] < true < found.at[name, "high"]


def test_a_severity_that_nobody_marked_has_no_cost():
    judged, errors, *_ = tables(np.random.default_rng(5))
    found = mqm.severity_costs(judged, errors[errors["severity"].eq("minor")], resamples=20).set_index("severity")
    assert found.loc["major", ["each", "low", "high", "alone"]].isna().all()
    assert found.at["major", "errors"] == 0
    assert np.isfinite(found.at["minor", "each"])
