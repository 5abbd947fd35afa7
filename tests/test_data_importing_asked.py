"""Crowds' files, and whether what a refusal suggests works: all at the command line, with means computed by hand."""

import csv
import random
import re

import pandas as pd
import pytest

from tests.makers import ask, followed, in_rows


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def means(table, digits=2):
    """Systems with their means, of a table that was imported."""
    assert not isinstance(table, str), table
    return table.groupby("system")["score"].mean().round(digits).to_dict()


# Crowds' files

BATCH = {"A": 70.35, "B": 57.90, "C": 46.35}


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "b.csv"), (";", "b.csv"), ("\t", "b.csv"), ("\t", "b.tsv"), ("|", "b.csv")]
)
def test_a_batch_with_cells_over_many_lines_and_without_its_last_columns(delimiter, name, mirrored):
    with mirrored("../strangers/mturk_batch.csv").open(encoding="utf-8", newline="") as stream:
        rows = [*csv.reader(stream)]
    for approved in (False, True):
        rows[7] += ["x"] * approved
        table = ask(name, content=in_rows(*rows, delimiter=delimiter, quoting=csv.QUOTE_ALL))
        assert (means(table), len(table)) == (BATCH, 60)


def test_empty_cells_left_out_at_the_end_are_empty_and_one_that_lacks_in_the_middle_is_not_guessed():
    head = ["segment", "annotator", "system", "score", "comment", "feedback"]
    more = [["fine"], [], ["ok", "thanks"]]
    rows = [[place, f"p{place % 2}", "AB"[place // 2 % 2], place % 101, *more[place % 3]] for place in range(200)]
    right = {name: round(sum(row[3] for row in rows if row[2] == name) / 100, 2) for name in "AB"}
    assert means(ask("my.csv", content=in_rows(head, *rows))) == right
    rows[51] = [51, "p1", 100, "fine"]  # whose system is not there
    table = ask("my.csv", content=in_rows(head, *rows))
    assert (len(table), {*table["system"]}) == (199, {"A", "B"})


HEAD = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


@pytest.mark.parametrize("pair", ["sv en swe eng", "en uk eng ukr", "nl hr nld hrv"])
@pytest.mark.parametrize("cut", ["mixed", "tabs"])
def test_crowd_ratings_of_any_languages_cut_by_blanks_and_tabs_are_read(pair, cut, imported):
    source, target, *codes = pair.split()
    drawn = random.Random(8)
    starts = [f"H1 W1 {source} {target} ad 1 S{n % 4} doc SYSTEM {n}".split() for n in range(40)]
    rows = [[*start, str(drawn.randint(0, 100)), "31.0"] for start in starts]
    lines = [HEAD, *map("\t".join, rows)]
    if cut == "mixed":
        lines = [HEAD.replace(" ", "\t")]
        lines += ["".join(cell + drawn.choice(["\t", " ", "  "]) for cell in row).strip() for row in rows]
    ratings, _, report = imported("\n".join(lines) + "\n")
    assert report.format == "mturk-da"
    assert ratings["score"].tolist() == [float(row[10]) for row in rows]
    assert {*zip(ratings["src_lang"], ratings["tgt_lang"])} == {tuple(codes)}


def test_crowd_ratings_that_are_none_are_rejected(imported):
    row = "H1\tW1\tcs\ten\tad\t1\tA\t{}\t{}\t{}\t{}\t9.0\n"
    cells = [("d1", "SYSTEM", 1, 80), ("d2", "REPEAT", 1, 85), ("d1", "SYSTEM", 2, 180), ("d1", "ODD", 3, 80)]
    cells += [("d1", "SYSTEM", n, 1) for n in range(10, 70)] + [("d1", "SYSTEM", 70, 0.73)]  # standardised
    ratings, _, report = imported(f"{HEAD}\n" + "".join(row.format(*one) for one in cells))
    assert ratings["score"].tolist() == [80, 85, *[1] * 60]
    assert ratings["copy"].tolist()[:2] == [False, True]
    assert [(entry["line"], entry["column"]) for entry in report.first] == [(4, "score"), (5, "type"), (66, "score")]


MTURK = "wmt-conference/wmt21-news-systems/*/humaneval/newstest2021-toen/ad-isen-{}"


@pytest.fixture(scope="module")
def crowd(mirrored):
    """WMT21's Mechanical Turk ratings from Icelandic: standardised rows, workers' means, and raw rows."""
    head, *rows = mirrored(MTURK.format("good-stnd.csv")).read_text().splitlines()
    workers = mirrored(MTURK.format("trk-mean-sd.txt")).read_text()
    cells = [line.partition("]")[2].strip().strip('"') for line in workers.splitlines()]
    of = {name: (float(mean), float(sd)) for name, mean, sd in zip(cells[::3], cells[1::3], cells[2::3]) if sd != "NA"}
    cut = [row.split("\t") for row in rows]
    raw = [[*row[:10], str(round(float(row[10]) * of[row[1]][1] + of[row[1]][0])), *row[11:]] for row in cut]
    return head, rows, workers, raw


def by_system(rows):
    return pd.DataFrame(rows).astype({10: float}).groupby(6)[10].mean().round(2).to_dict()


def test_standardised_scores_find_the_workers_means_that_turn_them_back(crowd, tmp_path):
    head, rows, workers, raw = crowd
    content = "\n".join([head, *rows]) + "\n"
    wrong = re.sub(r"(?m)^\[1\] (\d)(.*)$", r"[1] 1\1\2", workers)  # other references, other means
    (tmp_path / "ad-isen-good-stnd-redup-no-refs-mean-sd.txt").write_text(wrong)
    assert "standardised" in ask("ad-isen-good-stnd-redup.csv", content=content)
    (tmp_path / "ad-isen-redup-mean-sd.txt").write_text(workers)
    assert means(ask("ad-isen-good-stnd-redup.csv", content=content)) == by_system(raw)


# What a refusal suggests

MARKS = in_rows(
    ("segment", "rater", "category", "severity"), (1, "p", "Accuracy", "Major"), (2, "p", "Fluency", "Minor")
)
PAIRED = ("segment", "system_a", "system_b")
#: A file that lacks something: name and content, what stands for the words in capitals, and the means in the end.
LACKING = {
    "slider": ("s.csv", in_rows((*PAIRED, "score"), (1, "X", "Y", -5), (2, "X", "Y", 9)), {}, {"X": 2, "Y": -2}),
    "middle": (
        "s.csv",
        in_rows(("segment", "model_a", "model_b", "slider"), *((n, "X", "Y", n) for n in range(1, 8))),
        {"LOW:HIGH": "1:9"},
        {"X": -1, "Y": 1},
    ),
    "numbers": (
        "n.csv",
        in_rows((*PAIRED, "winner"), (1, "X", "Y", 1), (2, "X", "Y", 3)),
        {"ANSWER=1": "1=1", "ANSWER=0": "3=0"},
        {"X": 0.5, "Y": 0.5},
    ),
    "no system": ("m.csv", MARKS, {"HEADING": "", "TEXT": "A"}, {"A": -3}),
}


@pytest.mark.parametrize("kind", LACKING)
def test_what_a_refusal_suggests_works(kind):
    *told, right = LACKING[kind]
    assert means(followed(*told)) == right
