"""Preferences, sliders, ranks, crowds' files and exports of Appraise: means are those counted by hand."""

import json
import random
import re
from collections import defaultdict

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import compared
from evalkit.human.annotators import quality_control
from tests.makers import ask, followed, in_rows, means

pytestmark = pytest.mark.usefixtures("own_folder")


# Answers

DRAWN = random.Random(5)
#: Which of two was better: a, b or neither, of X and Y in turn.
TRUTH = [(*(("X", "Y") if place % 2 else ("Y", "X")), DRAWN.choice("aaabbtt")) for place in range(40)]
ANSWERS = """> | = | <
    a | tie | b
    A>B | A=B | A<B
    1 | 0 | 2
    Translation A is better | Both are equally good | Translation B is better
    left | same | right
    A is much better | About the same | B is slightly better
    1 > 2 | 1 = 2 | 2 > 1
    prefer A | no preference | prefer B
    >> | = | <<
    LEFT | Draw | right
    system_a | no preference | System_B
    a is better | SAME | B is better
    Translation 1 | Neither | Translation 2"""


def share(answers, system="X"):
    """The share of comparisons that a system won, a tie half."""
    won = [0.5 if said == "t" else float({"a": a, "b": b}[said] == system) for a, b, said in answers]
    return round(sum(won) / len(won), 6)


@pytest.mark.parametrize("answers", [line.strip() for line in ANSWERS.splitlines()])
def test_answers_in_signs_words_and_numbers_are_counted_as_they_are_meant(answers):
    said = dict(zip("atb", answers.split(" | "), strict=True))
    rows = [(place, f"p{place % 3}", a, b, said[one]) for place, (a, b, one) in enumerate(TRUTH)]
    table = ask("my.csv", content=in_rows(("segment", "annotator", "system_a", "system_b", "winner"), *rows))
    assert (means(table, 6), len(table)) == ({name: share(TRUTH, name) for name in "XY"}, 80)
    assert (table["system"] + table["against"]).isin(["XY", "YX"]).all()
    assert table.groupby("hit").size().eq(2).all()


HEADER = "annotator,segment,system_a,system_b,preference,lp\n"


def answers(*given, a="X", b="Y"):
    return HEADER + "".join(f"Ann,{place},{a},{b},{answer},en-de\n" for place, answer in enumerate(given))


def of(ratings, system):
    return ratings[ratings["system"].eq(system)].sort_values("segment")["score"].tolist()


def test_numbers_need_their_direction_or_their_meaning(imported):
    text = answers("-3", "0", "2")
    with pytest.raises(DataError, match=r"--positive system_a or --positive system_b"):
        imported(text)
    assert of(imported(text, positive="A")[0], "X") == [-3, 0, 2]
    assert of(imported(text, positive="system_b")[0], "X") == [3, 0, -2]
    text = answers("1", "3", "5")
    with pytest.raises(DataError, match=r"which number is no preference.*--map-values"):
        imported(text)
    assert of(imported(text, words={"1": 1, "3": 0.5, "5": 0})[0], "X") == [1, 0.5, 0]
    with pytest.raises(DataError, match=r"outside 0-1"):
        imported(text, words={"1": 1, "3": 3, "5": 0})
    ratings, _, report = imported(answers("A", "B", "tie", "-1"))
    assert (len(ratings), report.first[0]["reason"][:11]) == (6, "is a number"), "-1 is no place"


def test_what_is_no_preference_is_rejected_and_the_rest_kept(imported):
    text = answers("A", "perhaps", "", "cannot judge") + "Ann,9,X,X,A,en-de\nAnn,10,,Y,A,en-de\nAnn,,X,Y,A,en-de\n"
    ratings, _, report = imported(text)
    assert len(ratings) == 2
    assert (report.rows_rejected, report.rows_excluded) == (4, 2), "no answer is not to be mended"
    assert [entry["line"] for entry in report.first] == [3, 6, 7, 8]


def test_a_name_that_is_also_a_place_is_not_guessed(imported):
    with pytest.raises(DataError, match=r"the name of one system and the place of the other"):
        imported(answers("A", "B", a="B", b="A"))
    assert of(imported(answers("A", "B", a="A", b="B"))[0], "A") == [1, 0]


def test_the_same_comparison_twice_is_told(imported):
    ratings, _, report = imported(answers("A") + "Ann,0,X,Y,A,en-de\nAnn,0,Y,X,A,en-de\n")
    assert report.rows_rejected == 2, "a repeat counts once"
    assert len(ratings) == 4, "shown the other way round it is another comparison"


def test_texts_are_no_names_of_systems(imported):
    text = "segment,source,Translation 1,Translation 2,Which is better?,rater,lp\n" + "".join(
        f"{place},s{place},first {place},second {place},{answer},Ann,en-de\n" for place, answer in enumerate("12")
    )
    for named in ({}, {"format": "preferences"}):
        with pytest.raises(DataError, match=r"lacks system_a, system_b.*--value system_a=TEXT --value system_b=TEXT"):
            imported(text, **named)
    ratings, *_ = imported(text, values={"system_a": "X", "system_b": "Y"})
    right = [["X", 1, "first 0"], ["Y", 0, "second 0"], ["X", 0, "first 1"], ["Y", 1, "second 1"]]
    assert ratings[["system", "score", "hypothesis"]].values.tolist() == right


# Which of two stood first


def places(ratings):
    """Which place each system's translation had, by segment."""
    return {name: own.sort_values("segment")["screen_place"].tolist() for name, own in ratings.groupby("system")}


FIRST = [
    answers("left", "right"),
    answers("A", "B").replace("system_a,system_b", "left_system,right_system"),
    answers("A", "B").replace("preference", "first,preference").replace("X,Y,", "X,Y,X,"),
    answers("A", "B").replace("preference", "first,preference").replace("X,Y,", "X,Y,1,"),
    answers("A", "B").replace("preference", "shown first,preference").replace("X,Y,", "X,Y,a,"),
]


@pytest.mark.parametrize("text", FIRST)
def test_which_translation_stood_first_is_read_where_the_file_tells_it(text, imported, tmp_path):
    ratings, _, _ = imported(text)
    assert places(ratings) == {"X": [1, 1], "Y": [2, 2]}
    assert compared.of_scores(ratings)["first"].tolist() == ["a", "a"]
    again, *_ = imported((tmp_path / "c.parquet").rename(tmp_path / "before.parquet"))
    assert places(again) == places(ratings)


def test_the_first_named_stood_first_only_where_pairs_come_in_both_orders(imported):
    assert "screen_place" not in imported(answers("A", "B"))[0]
    ratings, _, report = imported(answers("A") + "Ann,9,Y,X,A,en-de\n")
    assert places(ratings) == {"X": [1, 2], "Y": [2, 1]}
    assert any("stood first" in note for note in report.notes)


def test_two_systems_in_a_row_are_never_one():
    content = in_rows(("segment", "system_a", "system_b", "score"), (1, "X", "Y", -5), (2, "X", "Y", 9))
    for words in ([], ["--format", "xsts"], ["--positive", "system_b"]):
        assert "two systems" in ask("my.csv", "--value", "system=mt", *words, content=content)
    assert "--positive" in ask("my.csv", "--positive", "Z", content=content)


# Ranks


@pytest.mark.parametrize("heads", ["system_{} rank_{}", "output{} ranking{}", "model{}_name model{}_rank"])
def test_ranks_by_places_are_of_the_systems_that_stood_there_and_minus_one_is_none(heads):
    orders = [("X", "Y", "Z"), ("Z", "X", "Y"), ("Y", "Z", "X")]
    ranks = {"X": "1", "Y": "2", "Z": "3"}
    rows = [[n // 2, f"p{n % 2}", *order, *(ranks[name] for name in order)] for n, order in enumerate(orders * 2)]
    rows[0][-1] = "-1"  # of Z
    head = [one.format(place) for one in heads.split() for place in (1, 2, 3)]
    table = ask("my.csv", content=in_rows(["segment", "annotator", *head], *rows))
    assert means(table) == {"X": -1, "Y": -2, "Z": -3}
    assert table["system"].value_counts().to_dict() == {"X": 6, "Y": 6, "Z": 5}


def test_ranks_of_several_systems_in_a_row_are_negated_and_say_what_comparisons_would(imported):
    text = "rater,segment,lp,rank_X,rank_Y,Z_rank\nAnn,1,en-de,1,2,3\nAnn,2,en-de,1,1,2\nBob,1,en-de,3,9,1\n"
    ratings, _, report = imported(text)
    right = {"X": [-1, -1, -3], "Y": [-2, -1], "Z": [-3, -2, -1]}
    assert ratings.groupby("system")["score"].apply(list).to_dict() == right
    [entry] = report.first
    assert (report.scale, entry["line"], entry["column"], entry["value"]) == ([-3, -1], 4, "rank_Y", '"9"')
    assert report.orientation.startswith("lower is better")
    with pytest.raises(DataError, match=r"--higher-is-better"):
        imported(text, lower_is_better=False)
    found = compared.of_scores(ratings[ratings["annotator"].eq("Ann")], together=("screen",))
    rows = found[["segment", "system_a", "system_b", "preference"]].values.tolist()
    assert [" ".join(row) for row in rows] == ["1 X Y a", "1 X Z a", "1 Y Z a", "2 X Y tie", "2 X Z a", "2 Y Z a"]


# Crowds' files


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
def test_crowd_ratings_of_any_languages_cut_by_blanks_and_tabs_are_read(pair, imported):
    source, target, *codes = pair.split()
    drawn = random.Random(8)
    starts = [f"H1 W1 {source} {target} ad 1 S{n % 4} doc SYSTEM {n}".split() for n in range(40)]
    rows = [[*start, str(drawn.randint(0, 100)), "31.0"] for start in starts]
    mixed = ["".join(cell + drawn.choice(["\t", " ", "  "]) for cell in row).strip() for row in rows]
    ratings, _, report = imported("\n".join([HEAD.replace(" ", "\t"), *mixed]) + "\n")
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
    return pd.DataFrame(rows).astype({10: float}).groupby(6)[10].mean().round(9).to_dict()


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


# Exports of Appraise: layouts, segments, degraded items, typed spans, people by accounts.

# Layouts

ROW = "deu01,SysA,{n},{kind},eng,deu,{score}"
SPAN = '"[{{""start_i"":3,""end_i"":5,""severity"":""major""}}]"'
LAYOUTS = {
    "9 columns": ROW + ",{n}.5,{n}.75",
    "11 columns": ROW + ",doc#1-2,False,{n}.5,{n}.75",
    "12 columns": ROW + f",doc,False,{SPAN},{{n}}.5,{{n}}.75",
    "batch 11": ROW + ",{n}.5,{n}.75,3,812",
    "batch 13": ROW + ",doc,False,{n}.5,{n}.75,3,812",
    "batch 14": ROW + ",doc,False,[],{n}.5,{n}.75,3,812",
    "two systems": ROW + ",doc,False,{n}.5,{n}.75,3,812,0",
    "comments": ROW + ",a comment,,{n}.5,{n}.75",
}


def written(layout, *rows):
    """Write rows of a layout: (segment, kind, score) of each."""
    return "".join(LAYOUTS[layout].format(n=n, kind=kind, score=score) + "\n" for n, kind, score in rows)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_appraise_are_told_by_their_rows(layout, imported):
    reference = written(layout, (4, "REF", 9)).replace("SysA", "SysR")
    ratings, spans, report = imported(written(layout, (1, "TGT", 80), (2, "TGT", 0), (3, "BAD", 7)) + reference)
    assert report.format == ("esa" if layout in ("12 columns", "batch 14") else "appraise")
    assert ratings["score"].tolist() == [80, 0, 7, 9]
    assert ratings["item_type"].tolist()[2:] == ["degraded", "reference"]
    assert ratings["hit"].tolist() == ["deu01"] * 4
    assert ratings["started"].tolist() == [1.5, 2.5, 3.5, 4.5]
    if layout == "12 columns":
        assert spans[["start", "end", "severity"]].values.tolist() == [[3, 6, "major"]] * 4


HEAD_APPRAISE = "username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd"


def test_headings_of_appraise_may_stand_above_and_be_mapped(imported):
    text = HEAD_APPRAISE.replace("username", "login") + "\n" + written("11 columns", (1, "TGT", 80), (1, "TGT", 85))
    with pytest.raises(DataError, match=r"no column for annotator"):
        imported(text, format="appraise")
    ratings, *_ = imported(text, format="appraise", columns={"annotator": "login"})
    assert ratings["item_type"].tolist() == ["system", "repeat"]


def test_an_export_that_a_spreadsheet_saved_with_decimal_commas_is_read_all_the_same(imported):
    rows = [f"u{n % 3};S;{n};TGT;eng;deu;{n + 60};d;False;1724108{n}87,807;1724108{n}97,25" for n in range(6)]
    for text in ("\n".join(rows), "\n".join([HEAD_APPRAISE.replace(",", ";"), *rows])):
        ratings, _, report = imported(text)
        assert (report.format, report.rows_rejected) == ("appraise", 0)
        assert sorted(ratings["started"])[:2] == [1724108087.807, 1724108187.807]


BROKEN = [
    '[{""start_i"":3}]',
    '[{""start_i"":9,""end_i"":5,""severity"":""major""}]',
    '[{""start_i"":1,""end_i"":5,""severity"":""awful""}]',
    "[" * 100_000,
]


@pytest.mark.parametrize("cell", BROKEN, ids=lambda cell: cell[:20])
def test_a_row_with_broken_spans_is_rejected_alone(cell, imported):
    rows = written("12 columns", *((n, "TGT", 80) for n in range(1, 6)))
    ratings, spans, report = imported(rows + f'deu01,SysA,6,TGT,eng,deu,30,doc,False,"{cell}",9.5,9.75\n')
    assert len(ratings) == len(spans) == 5
    assert [entry["line"] for entry in report.first] == [6]
    assert "no list in JSON" in report.first[0]["reason"]


def test_documents_are_told_from_their_degraded_copies(imported):
    rows, moment = [], 0
    for account, doc in ((a, d) for a in ("deu01", "deu02") for d in ("a#1-4", "b#1-4", "c#1-4")):
        for copy in ("", "#bad") if doc != "c#1-4" else ("",):
            for segment in [1, 2, 3, 4] if (account, doc, copy) != ("deu02", "a#1-4", "") else [1, 3, 2, 4]:
                kind = "BAD" if copy and segment > 2 else "TGT"
                moment += 7
                judged = f"{account},S,{segment},{kind},eng,deu,{moment % 101},{doc}{copy}"
                rows.append(f"{judged},False,{moment}.5,{moment + 5}.5")
            rows.append(f"{account},S,4,TGT,eng,deu,50,{doc}{copy},True,{moment + 6}.5,{moment + 6}.75")
    ratings, _, report = imported("\n".join(rows))
    assert set(ratings["doc"]) == {"a#1-4", "b#1-4", "c#1-4"}
    counts = ratings.groupby(["copy", "item_type"]).size().to_dict()
    assert counts == {(False, "system"): 20, (True, "degraded"): 8, (True, "repeat"): 8}
    by_time = ratings.sort_values(["hit", "started"])
    assert by_time["position"].eq(by_time.groupby("hit").cumcount()).all()
    assert report.excluded == {
        "is the score of a whole document": 10,
        "belongs to a showing of a document whose segments were not scored in order": 4,
    }


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


def plain(ratings):
    return ratings[ratings["item_type"].isin(["system", "reference"])]


@pytest.mark.slow
def test_with_batches_the_released_scores_come_out_in_every_row(ruction, imported):
    batches = ruction / "data/batches_wmt23_en-de_mqm.json"
    ratings, _, report = imported(ruction / "240315rc5MQM.scores.csv", batches=batches, weights=RELEASED)
    judged, expected = plain(ratings), released(ruction, "MQM-1")
    found = dict(zip(zip(judged["system"], judged["segment"]), judged["score"]))
    assert len(found) == len(judged) == len(expected) == 2691
    assert found == pytest.approx(expected, abs=1e-9)
    assert "exactly" in report.segments


def test_without_batches_order_within_documents_finds_the_segments_and_names_what_is_unsure(ruction, imported):
    ratings, _, report = imported(ruction / "240315rc5ESA.scores.csv")
    judged, lines = plain(ratings), defaultdict(set)
    for task in json.loads((ruction / "data/batches_wmt23_en-de_esa.json").read_text()):
        for _, line, doc in (item["_item"].split(" | ") for item in task["items"] if "_item" in item):
            lines[doc].add(int(line))
    lines = {doc: sorted(own) for doc, own in lines.items()}  # the n-th segment of a document is its n-th line
    by_line = {(row.system, str(lines[row.doc][int(row.segment) - 1])): row.score for row in judged.itertuples()}
    assert by_line == pytest.approx(released(ruction, "ESA-1"), abs=1e-9)
    assert "132 of 207 segments are sure" in report.segments


# Segments


class Tasks:
    """Write the rows of an export, in the order of a clock."""

    def __init__(self):
        self.rows, self.clock = [], 1000

    def show(self, account, system, doc, first, count, *, kind="TGT", score=50, cell="[]", marks="", without=()):
        for n in range(first, first + count):
            self.clock += 2
            if n not in without:
                row = f"{account},{system},{n},{kind},eng,deu,{score},{doc}#{system.split('.')[-1]}{marks},False"
                self.rows.append(f"{row},{cell},{self.clock}.5,{self.clock + 1}.5")
        return self

    def __str__(self):
        return "\n".join(self.rows) + "\n"


def whole():
    """Three systems, two documents, each system in an account of its own, at places of its own."""
    tasks = Tasks()
    for number, system in enumerate(("wmt23.refA", "wmt23.X", "wmt23.Y")):
        tasks.show(f"deu0{number}", system, "d", 5 + 7 * number, 3, score=10 + number)
        tasks.show(f"deu0{number}", system, "e", 50 - 9 * number, 4, score=20 + number)
    return tasks


def test_places_in_tasks_become_segments_by_their_order_and_what_is_missing_moves_no_other(imported):
    tasks = whole().show("deu04", "wmt23.Z", "e", 30, 4, without=(31,)).show("deu04", "wmt23.Z", "d", 60, 3)
    ratings, _, report = imported(str(tasks))
    both = ratings[ratings["system"].ne("Z")].groupby(["doc", "segment"])["system"].nunique()
    assert both.to_dict() == {(doc, str(n)): 3 for doc, size in (("d", 3), ("e", 4)) for n in range(1, size + 1)}
    assert sorted(ratings.query("system == 'Z' and doc == 'e'")["segment"]) == ["1", "3", "4"]
    assert "7 of 7 segments are sure" in report.segments
    assert sorted(ratings["item_type"].unique()) == ["reference", "system"]


FOLLOWING = {"deu09 deu0a": True, "deu09 deu10": True, "Ann Bob": False, "deu07 deu09": False}


@pytest.mark.parametrize("accounts", FOLLOWING)
def test_parts_are_joined_only_where_accounts_follow_each_other(accounts, imported):
    one, other = accounts.split()
    tasks = whole().show(one, "wmt23.Z", "d", 60, 2).show(other, "wmt23.Z", "d", 8, 1)
    tasks.show(other, "wmt23.Z", "d", 90, 1, kind="BAD", marks="#bad4").show(other, "wmt23.Z", "e", 40, 4)
    ratings, _, report = imported(str(tasks))
    part = ratings[ratings["system"].eq("Z") & ratings["doc"].eq("d")]
    clean = part[part["item_type"].eq("system")].sort_values("started")["segment"].tolist()
    assert quality_control(ratings)["qc_pairs"].sum() == 1, "the degraded copy is of the part that its account saw"
    assert "4 of 7 segments are sure" in report.segments
    assert ("likely and not certain" in report.segments) == FOLLOWING[accounts]
    assert (clean == ["1", "2", "3"]) == FOLLOWING[accounts]
    assert FOLLOWING[accounts] or (not {*clean} & {"1", "2", "3"} and len({*clean}) == 3)


def test_item_numbers_that_are_segments_stay_and_so_do_those_that_are_neither(imported):
    tasks, other = Tasks(), Tasks()
    for number, system in enumerate(("A", "B", "C")):
        for doc, first in (("d", 101), ("e", 201)):
            tasks.show(f"deu0{number}", system, doc, first, 3)
            for place in range(3):  # of each document every system has other segments
                other.show(f"deu0{number}", system, doc, 1 + 10 * place + 2 * number, 1)
    ratings, _, report = imported(str(tasks))
    assert sorted(ratings["segment"].unique()) == ["101", "102", "103", "201", "202", "203"]
    assert "share 100% of them" in report.segments
    ratings, _, report = imported(str(other))
    assert set(ratings["segment"]) == {str(1 + 10 * place + 2 * n) for place in range(3) for n in range(3)}
    assert "share only 0% of them" in report.segments


def batch(*items, named=True):
    """Write a task of what Appraise was given: number, document, system, line and text of each item."""
    listed = []
    for number, doc, system, line, text in items:
        about = {"itemID": number, "documentID": doc, "targetID": system, "itemType": "TGT", "sourceText": text}
        listed.append(about | {"_item": f"{system} | {line} | {doc}" if named else 0})
    return {"items": listed, "task": {}}


def three_tasks(named):
    """Accounts whose tasks have the same numbers for the same document and system, and mean other segments."""
    one = [(1, "d#X", "X", 10, "a"), (2, "d#X", "X", 11, "b"), (3, "d#X", "X", 12, "a"), (9, "f#X", "X", 30, "f")]
    two = [(1, "d#Y", "Y", 10, "a"), (2, "d#Y", "Y", 11, "b"), (3, "d#Y", "Y", 12, "a"), (9, "g#X", "X", 31, "g")]
    three = [(1, "d#Y", "Y", 11, "b"), (2, "d#Y", "Y", 12, "a"), (9, "h#X", "X", 32, "h")]
    return [batch(*items, named=named) for items in (one, two, three)]


@pytest.mark.parametrize("named", [True, False])
def test_batches_tell_segments_task_by_task(named, imported, tmp_path):
    (tmp_path / "batches.json").write_text(json.dumps(three_tasks(named)))
    tasks = Tasks().show("a", "X", "d", 1, 3).show("a", "X", "f", 9, 1).show("b", "Y", "d", 1, 3)
    tasks.show("b", "X", "g", 9, 1).show("c", "Y", "d", 1, 2).show("c", "X", "h", 9, 1)
    ratings, _, report = imported(str(tasks), batches=[tmp_path / "batches.json"])
    found = ratings.query("doc == 'd'").sort_values(["hit", "started"]).groupby("hit")["segment"].agg(list).to_dict()
    numbers = ["10", "11", "12"] if named else ["1", "2", "3"]
    assert found == {"a": numbers, "b": numbers, "c": numbers[1:]}
    assert "exactly: all 11 items" in report.segments
    assert imported(str(tasks))[2].digest != report.digest, "what is read of a file is in its digest"


def test_source_texts_tell_segments(imported):
    shown = [
        ("u1", "A", 5, "abcb"),
        ("u2", "B", 30, "bcb"),
        ("u3", "C", 60, "a"),
        ("u3", "C", 70, "cb"),
        ("u4", "D", 9, "b"),
    ]
    items = [(who, system, first + n, text) for who, system, first, texts in shown for n, text in enumerate(texts)]
    rows = [
        f"{who},{system},{n},TGT,eng,deu,50,d,False,{t},{t},{text}" for t, (who, system, n, text) in enumerate(items, 1)
    ]
    rows.append(rows[1].replace(",50,", ",60,").replace("2,2,", "2.5,99,"))  # the item b of A, submitted again
    ratings, _, report = imported(f"{HEAD_APPRAISE},sourceText\n" + "\n".join(rows) + "\n")
    assert ratings.query("score == 60")["segment"].tolist() == ["2"]
    found = ratings.query("score == 50").groupby("system")["segment"].agg(list).to_dict()
    assert (found["A"], found["B"], found["C"][0]) == (["1", "2", "3", "4"], ["2", "3", "4"], "1")
    assert found["D"][0].startswith("9@"), "the text stands twice in the document"
    assert "source texts" in report.segments


PREFIXES = {
    "wmt23.A wmt23.B": "wmt23.",
    "newstest2021.online-A newstest2021.online-B": "newstest2021.",
    "set.refA set.X": "set.",
    "GPT-3.5 GPT-3.7": "",
    "online.A online.B": "",
    "A B": "",
}


@pytest.mark.parametrize("systems", PREFIXES)
def test_what_stands_before_all_systems_is_set_apart_where_it_is_a_test_set(systems, imported):
    rows = [f"u{n},{name},{n},TGT,eng,deu,5,d,False,{n},{n}" for n, name in enumerate(systems.split())]
    ratings, _, report = imported("\n".join(rows) + "\n")
    assert sorted(ratings["system"]) == sorted(name.removeprefix(PREFIXES[systems]) for name in systems.split())
    assert any("set apart" in note for note in report.notes) == bool(PREFIXES[systems])


# Typed errors


def spans(*marked):
    """Write spans as a cell: (severity, type) of each."""
    listed = [{"start_i": 0, "end_i": 1, "severity": severity, "error_type": kind} for severity, kind in marked]
    return '"' + json.dumps(listed).replace('"', '""') + '"'


MINOR, MAJOR = ("minor", ["Fluency", "Punctuation"]), ("Major", ["Accuracy", "Addition"])
CRITICAL = ("CRITICAL", "Terminology")


def test_typed_errors_make_the_score_whatever_stands_in_its_column(imported):
    tasks = Tasks()
    for number, (system, cell) in enumerate([("A", spans(MINOR, MAJOR)), ("B", spans(CRITICAL)), ("C", "[]")]):
        tasks.show("deu01", system, "d", 1 + number, 1, score=90 - number, cell=cell)
    ratings, marked, report = imported(str(tasks))
    assert ratings.set_index("system")["score"].to_dict() == pytest.approx({"A": -5.1, "B": -10, "C": 0})
    assert marked["error_type"].tolist() == ["fluency/punctuation", "accuracy/addition", "terminology"]
    assert marked["severity"].tolist() == ["minor", "major", "critical"]
    assert marked["weight"].tolist() == [0.1, 5, 10]
    assert "Freitag" in report.weights
    ratings, _, report = imported(str(tasks), weights="minor=1,major=2,critical=25")
    assert ratings.set_index("system")["score"].to_dict() == {"A": -3, "B": -25, "C": 0}
    ratings, _, report = imported(str(tasks), scale=(-8, 0))
    assert (report.scale, report.rows_rejected, len(ratings)) == ([-8, 0], 1, 2)


def test_an_error_without_a_weight_rejects_its_judgement_and_few_types_make_no_mqm(imported):
    rows = [spans(MAJOR), spans(("undecided", "X"))], [spans(("minor", None)), spans(MAJOR)]
    found = [
        imported(str(Tasks().show("u", "A", "d", 1, 3, cell=a).show("u", "A", "d", 4, 1, cell=b))) for a, b in rows
    ]
    (typed, _, report), (untyped, _, other) = found
    assert (len(typed), report.rows_rejected) == (3, 1)
    assert "no weight" in next(iter(report.reasons))
    assert ({*untyped["score"]}, other.weights) == ({50.0}, "")
    assert any("1 of 4" in note for note in other.notes)


# Accounts

ACCOUNTS = {
    "two.csv": "deu00,Ann\ndeu01,Ann\ndeu02,Bob\n",
    "a heading among them.csv": "deu00,Ann\ndeu01,Ann\ndeu02,Bob\nsystem,Zoe\n",
    "turned.csv": "Ann,deu00\nAnn,deu01\nBob,deu02\n",
    "headed.tsv": "person\taccount\nAnn\tdeu00\nAnn\tdeu01\nBob\tdeu02\n",
    "more.csv": "AnnotatorID,protocol,login,,\nAnn,ESA,deu00,,\nAnn,ESA,deu01,,\nBob,MQM,deu02,,\n",
    "flat.json": '{"deu00": "Ann", "deu01": "Ann", "deu02": "Bob"}',
    "lists.json": '{"Ann": ["deu00", "deu01"], "Bob": ["deu02"]}',
    "semicolons.csv": "\ufefflogin;name\r\ndeu00;Ann\r\ndeu01;Ann\r\ndeu02;Bob\r\n",
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_files_of_accounts_are_read_in_every_form(name, tmp_path, imported):
    (tmp_path / name).write_text(ACCOUNTS[name], encoding="utf-8")
    ratings, _, report = imported(str(whole()), accounts=tmp_path / name)
    assert ratings.groupby("hit")["annotator"].first().to_dict() == {"deu00": "Ann", "deu01": "Ann", "deu02": "Bob"}
    assert report.annotators == 2


def test_accounts_hold_in_other_formats(tmp_path, imported):
    (tmp_path / "a.csv").write_text("u1,Ann\nu2,Ann\n")
    rows = "system,doc,segment,annotator,score\nA,d,1,u1,80\nA,d,2,u2,70\nA,d,2,u3,70\n"
    ratings, _, report = imported(rows, accounts=tmp_path / "a.csv")
    assert ratings[["annotator", "hit"]].values.tolist() == [["Ann", "u1"], ["Ann", "u2"], ["u3", "u3"]]
    assert any("2 of 3 accounts" in note for note in report.notes)
    rows = "system\tdoc\tseg_id\trater\tcategory\tseverity\n" + "A\td\t1\tu1\tOther\tMajor\nA\td\t1\tu2\tOther\tMinor\n"
    ratings, marked, _ = imported(rows, accounts=tmp_path / "a.csv")
    assert ratings[["annotator", "hit", "score"]].values.tolist() == [["Ann", "u1", -5.0], ["Ann", "u2", -1.0]]
    assert marked[["annotator", "hit", "weight"]].values.tolist() == [["Ann", "u1", 5.0], ["Ann", "u2", 1.0]]


DEEP = '{"a":' * 100_000
UNREAD = [
    ("batches", DEEP, "JSON"),
    ("batches", "{}", "no list of tasks"),
    ("batches", '[{"items": [7]}]', "items"),
    ("batches", '[{"items": [{"itemID": 1, "documentID": "d", "targetID": "X"}]}]', "sourceText"),
    (
        "batches",
        '[{"items": [{"itemID": 1, "documentID": "q", "targetID": "X", "_item": "X | 1 | q"}]}]',
        "none of the items",
    ),
    ("batches", None, "not there"),
    ("accounts", "x,Ann\ny,Bob\n", "none of the accounts"),
    ("accounts", "account,person\ndeu00,Ann\ndeu00,Bob\n", "two people"),
    ("accounts", "deu00,Ann,7\n", "3 columns"),
    ("accounts", "deu00,Ann\n,Bob\n", "account"),
    ("accounts", "", "empty"),
    ("accounts", '{"deu00": {"name": "Ann"}}', "name"),
    ("accounts", DEEP, "JSON"),
]


@pytest.mark.parametrize(("option", "content", "told"), UNREAD, ids=lambda cell: str(cell)[:20])
def test_files_beside_an_export_that_say_nothing_sound_are_refused(option, content, told, imported, tmp_path):
    if content is not None:
        (tmp_path / "beside").write_text(content)
    with pytest.raises(DataError, match=told):
        imported(str(whole()), **{option: tmp_path / "beside"})
