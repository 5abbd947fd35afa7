"""WMT24's error span annotation: which submission counts, what a document's mark means, broken rows."""

import pytest

from evalkit import DataError
from evalkit.data import esa

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
    return esa.ratings([path])


def test_the_latest_submission_counts_and_marks_tell_the_kind(tmp_path):
    frame = load(tmp_path, ROWS)
    assert frame.attrs["left_out"] == {"tutorial items": 1, "submissions that a later one replaced": 1}
    assert frame["score"].tolist() == [50, 10, 45, 90]
    assert frame["item_type"].tolist() == ["reference", "degraded", "repeat", "system"]
    assert frame["copy"].tolist() == [False, True, True, False]
    assert frame["mark"].tolist() == ["", "bad", "dup", ""]
    assert frame["doc"].tolist() == ["doc1", "doc1", "doc1", "doc2"]
    assert frame["errors"].tolist() == [0, 2, 0, 0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a1,S,8,XXX,eng,jpn,90,doc2,False,[],5.0,5.5", "line 7, column type: 'XXX'"),
        ("a1,S,9,TGT,eng,jpn,90,doc2,False,oops,5.0,5.5", "line 7, column spans: 'oops'"),
        ("a1,S,9,TGT,eng,jpn,101,doc2,False,[],5.0,5.5", "line 7, column score: 101 is outside"),
    ],
)
def test_a_broken_row_is_told_with_its_line(row, message, tmp_path):
    with pytest.raises(DataError, match=message):
        load(tmp_path, [*ROWS, row])


def test_real_files_hold_no_unchanged_segment_in_a_degraded_document(real):
    frame = real("wmt24-esa")
    assert frame.attrs["left_out"]["submissions that a later one replaced"] == 222
    bad = frame[frame["mark"].str.contains("bad")]
    assert len(bad) == 3_780
    assert bad["item_type"].eq("degraded").all()
    assert frame["item_type"].eq("repeat").sum() == 254
