"""Comparisons that imports keep, and crowds' and Appraise's real campaigns: scores are those that were released."""

import json
import re
from collections import defaultdict

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import compared
from tests.makers import means


def test_which_translation_stood_first_is_kept_when_a_result_is_imported_again(imported, tmp_path):
    ratings, *_ = imported("annotator,segment,left_system,right_system,preference,lp\nAnn,0,X,Y,A,en-de\n")
    again, *_ = imported((tmp_path / "c.parquet").rename(tmp_path / "before.parquet"))
    for found in (ratings, again):
        assert found.set_index("system")["screen_place"].to_dict() == {"X": 1, "Y": 2}
        assert compared.of_scores(found)["first"].tolist() == ["a"]


def test_ranks_are_the_comparisons_of_those_on_one_screen(imported):
    ratings, *_ = imported("rater,segment,lp,rank_X,rank_Y,Z_rank\nAnn,1,en-de,1,2,3\nAnn,2,en-de,1,1,2\n")
    found = compared.of_scores(ratings, together=("screen",))
    rows = found[["segment", "system_a", "system_b", "preference"]].values.tolist()
    assert [" ".join(row) for row in rows] == ["1 X Y a", "1 X Z a", "1 Y Z a", "2 X Y tie", "2 X Z a", "2 Y Z a"]


# Crowds' files

HEAD = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


def test_crowd_ratings_that_are_none_are_rejected(imported):
    row = "H1\tW1\tcs\ten\tad\t1\tA\t{}\t{}\t{}\t{}\t9.0\n"
    cells = [("d1", "SYSTEM", 1, 80), ("d2", "REPEAT", 1, 85), ("d1", "SYSTEM", 2, 180), ("d1", "ODD", 3, 80)]
    cells += [("d1", "SYSTEM", n, 1) for n in range(10, 70)] + [("d1", "SYSTEM", 70, 0.73)]  # standardised
    ratings, _, report = imported(f"{HEAD}\n" + "".join(row.format(*one) for one in cells))
    assert ratings["score"].tolist() == [80, 85, *[1] * 60]
    assert ratings["copy"].tolist()[:2] == [False, True]
    assert [(entry["line"], entry["column"]) for entry in report.first] == [(4, "score"), (5, "type"), (66, "score")]


MTURK = "wmt-conference/wmt21-news-systems/*/humaneval/newstest2021-toen/ad-isen-{}"


def test_standardised_scores_find_the_workers_means_that_turn_them_back(mirrored, imported, tmp_path):
    """WMT21's Mechanical Turk ratings from Icelandic: standardised rows, workers' means, and raw rows."""
    content, workers = (mirrored(MTURK.format(name)).read_text() for name in ("good-stnd.csv", "trk-mean-sd.txt"))
    cells = [line.partition("]")[2].strip().strip('"') for line in workers.splitlines()]
    known = {name: (float(mean), float(sd)) for name, mean, sd in zip(*(cells[n::3] for n in range(3))) if sd != "NA"}
    rows = pd.DataFrame([row.split("\t") for row in content.splitlines()[1:]])
    mean, sd = (rows[1].map({name: both[part] for name, both in known.items()}) for part in (0, 1))
    raw = (rows[10].astype(float) * sd + mean).round().groupby(rows[6]).mean().round(9).to_dict()
    wrong = re.sub(r"(?m)^\[1\] (\d)(.*)$", r"[1] 1\1\2", workers)  # other references, other means
    (tmp_path / "ad-isen-good-stnd-redup-no-refs-mean-sd.txt").write_text(wrong)
    with pytest.raises(DataError, match="standardised"):
        imported(content, "ad-isen-good-stnd-redup.csv")
    (tmp_path / "ad-isen-redup-mean-sd.txt").write_text(workers)
    assert means(imported(content, "ad-isen-good-stnd-redup.csv")[0]) == raw


# The campaign that judged one set of texts under four protocols

RELEASED = "minor=1,major=5,critical=25,linguistic conventions/punctuation:*=0.1"  # the campaign's own weights
LINES = 557  # of the test set: each system has so many in a file of scores


@pytest.fixture
def ruction(mirrored):
    """Name the folder of that campaign."""
    return mirrored("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5")


def released(folder, protocol):
    """Read the released scores of segments by system and line."""
    rows = [line.split("\t") for line in (folder / f"en-de.{protocol}.seg.score").read_text().splitlines()]
    assert len(rows) % LINES == 0
    return {(system, str(n % LINES)): float(score) for n, (system, score) in enumerate(rows) if score != "None"}


@pytest.mark.slow
def test_with_batches_the_released_scores_come_out_in_every_row(ruction, imported):
    batches = ruction / "data/batches_wmt23_en-de_mqm.json"
    ratings, _, report = imported(ruction / "240315rc5MQM.scores.csv", batches=batches, weights=RELEASED)
    judged = ratings[ratings["item_type"].isin(["system", "reference"])]
    found = dict(zip(zip(judged["system"], judged["segment"]), judged["score"]))
    assert len(found) == len(judged) == 2691
    assert found == pytest.approx(released(ruction, "MQM-1"), abs=1e-9)
    assert "exactly" in report.segments


def test_without_batches_order_within_documents_finds_the_segments_and_names_what_is_unsure(ruction, imported):
    ratings, _, report = imported(ruction / "240315rc5ESA.scores.csv")
    judged, lines = ratings[ratings["item_type"].isin(["system", "reference"])], defaultdict(set)
    for task in json.loads((ruction / "data/batches_wmt23_en-de_esa.json").read_text()):
        for _, line, doc in (item["_item"].split(" | ") for item in task["items"] if "_item" in item):
            lines[doc].add(int(line))
    lines = {doc: sorted(own) for doc, own in lines.items()}  # the n-th segment of a document is its n-th line
    by_line = {(row.system, str(lines[row.doc][int(row.segment) - 1])): row.score for row in judged.itertuples()}
    assert by_line == pytest.approx(released(ruction, "ESA-1"), abs=1e-9)
    assert "132 of 207 segments are sure" in report.segments


@pytest.mark.parametrize("option", ["batches", "accounts"])
def test_a_file_beside_an_export_that_is_nested_without_end_is_refused(option, imported, tmp_path):
    (tmp_path / "beside.json").write_text('{"a":' * 100_000)
    with pytest.raises(DataError, match="JSON"):
        imported("deu00,X,1,TGT,eng,deu,10,d,False,1,2\n", **{option: tmp_path / "beside.json"})
