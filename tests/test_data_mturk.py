"""WMT's Mechanical Turk files: raw scores recovered, copies named after originals, official digits, broken files."""

import numpy as np
import pytest

from evalkit import DataError
from evalkit.data import mturk, simulate
from evalkit.human import context
from evalkit.papers import wmt
from tests.workbooks import tarred

HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
ROWS = [  # a copy (rid 9) of document 5, annotated before it; mean 50, sd 20
    ("W1", "9", "REPEAT", "1", 0.5),
    ("W1", "9", "BAD_REF", "2", -2.5),
    ("W1", "9", "REF", "3", 2.5),
    ("W1", "5", "SYSTEM", "1", 1.0),
    ("W1", "5", "SYSTEM", "2", 1.5),
    ("W1", "5", "SYSTEM", "3", -0.05),
]
STATISTICS = '[1] "W1"\n[1] 50\n[1] 20\n[1] "W2"\n[1] 0\n[1] 0\n[1] "W3"\n[1] 1\n[1] NA\n'


@pytest.fixture
def written(tmp_path):
    """Write the two files of a language pair; returns their paths."""

    def write(rows=ROWS, header=HEADER, statistics=STATISTICS):
        lines = [f"H1\t{w}\tlv\ten\tad\t1\tX.1\t{rid}\t{kind}\t{sid}\t{z}\t9.0" for w, rid, kind, sid, z in rows]
        ratings, means = tmp_path / "ad-lven-good-stnd.csv", tmp_path / "ad-lven-trk-mean-sd.txt"
        ratings.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        means.write_text(statistics, encoding="utf-8")
        return [ratings, means]

    return write


def test_scores_types_and_places_of_a_small_file(written):
    frame = mturk.ratings(written())
    assert frame["score"].tolist() == [60, 0, 100, 70, 80, 49]
    assert frame["item_type"].tolist() == ["repeat", "degraded", "reference", "system", "system", "system"]
    assert frame["copy"].tolist() == [True] * 3 + [False] * 3
    assert frame["position"].tolist() == list(range(6))
    assert frame["hit_seconds"].tolist() == [9.0] * 6
    assert frame["doc"].unique().tolist() == ["5"], "the copy bears its original's name"
    assert frame["hit"].unique().tolist() == ["H1/W1"]
    assert frame["src_lang"].unique().tolist() == ["liv"], "WMT22's lv is Livonian"
    people = mturk.annotators(written()[1:]).set_index("annotator")
    assert people["sd"].tolist()[:2] == [20, 0]
    assert np.isnan(people.at["W3", "sd"]), "annotators without spread stay visible"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[1] "W1"\n[1] 50\n', "not triples of lines"),
        ('[1] "W1"\n[1] 50\n[1] -20\n', "line 1: a worker .* whose mean and sd"),
        ('[1] "W1"\n[1] fifty\n[1] 20\n', "line 1: a worker .* whose mean and sd"),
        (STATISTICS * 2, "line 10: a worker who stands there twice"),
    ],
)
def test_broken_statistics_are_told_with_their_line(text, told, tmp_path):
    (tmp_path / "sd.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=told):
        mturk.statistics(tmp_path / "sd.txt")


def test_rankings_keep_their_digits(tmp_path):
    rows = ["74 0.05 3 4 A.1 \n", "70.5 0.1 2 2 B.2 \n"]
    for scale, order in (("raw", rows), ("z", rows[::-1])):
        (tmp_path / f"ad-sys-ranking-cs-en-{scale}.csv").write_text("".join(order), encoding="utf-8")
    paths = sorted(tmp_path.iterdir())
    frame = mturk.ranking(paths)
    assert frame["system"].tolist() == ["B.2", "A.1"]
    assert frame["raw"].tolist() == ["70.5", "74"]


@pytest.mark.parametrize(("year", "rows", "pairs"), [(21, 115_059, 6), (22, 187_734, 7)])
def test_real_raw_scores_standardise_to_the_published_z(year, rows, pairs, real):
    frame = real(f"wmt{year}-mturk")
    assert len(frame) == rows
    assert frame["src_lang"].nunique() == pairs
    assert frame["score"].eq(frame["score"].round()).all()
    by_worker = frame.groupby(["src_lang", "annotator"])["score"]
    z = (frame["score"] - by_worker.transform("mean")) / by_worker.transform("std", ddof=1)
    assert (z - frame["z"]).abs().max() < 5e-5  # R printed means and deviations with seven digits


@pytest.mark.parametrize("year", [21, 22])
def test_the_simulation_has_its_own_ranking(year):
    drawn, table = simulate.stand_in(f"wmt{year}-mturk"), simulate.stand_in(f"wmt{year}-mturk-ranking")
    assert wmt.compare_with_official(drawn, table)["equal"].all()


# Archives of a year's evaluation


def archived(folder, files):
    named = {f"newstest2020-humaneval/{name}": content for name, content in files.items()}
    return [tarred(folder / "newstest2020-humaneval.tar.gz", named)]


SENTENCES = "mturk-sntlevel-humaneval-newstest2020/analysis"


def test_without_documents_each_copy_is_paired_with_its_own_original(written, tmp_path):
    rows = [
        ("W1", "9", "REPEAT", "1", 0.5),
        ("W1", "9", "REPEAT", "2", 1.0),
        ("W1", "3", "SYSTEM", "1", 1.0),
        ("W1", "4", "SYSTEM", "2", 0.5),
        ("W1", "4", "SYSTEM", "2", 0.75),
    ]
    ratings, means = (path.read_bytes().replace(b"\tlv\t", b"\tkm\t") for path in written(rows=rows))
    files = {f"{SENTENCES}/ad-kmen-good-stnd.csv": ratings, f"{SENTENCES}/ad-kmen-trk-mean-sd.txt": means}
    frame = mturk.archive(archived(tmp_path, files))
    assert (frame["context"].unique().tolist(), frame["src_lang"].unique().tolist()) == (["sentence"], ["khm"])
    expected = [["repeat", *"31", 60], ["repeat", *"42", 70], ["system", *"31", 70], ["system", *"42", 60]]
    assert frame[["item_type", "doc", "segment", "score"]].to_numpy().tolist() == expected
    assert frame.attrs["excluded"] == {"judgements that are there twice in a HIT": 1}
    assert context.pairs(frame)["difference"].tolist() == [10, -10]
