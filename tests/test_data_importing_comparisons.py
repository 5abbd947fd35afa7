"""Preferences, sliders, ranks and crowds' files: means are those counted by hand, and what a refusal suggests works."""

import csv
import random
import re

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import compared
from tests.makers import ask, followed, in_rows


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def means(table, digits=2):
    """Systems with their means, of a table that was imported."""
    assert not isinstance(table, str), table
    return table.groupby("system")["score"].mean().round(digits).to_dict()


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
    B is worse | equal | A is worse
    better | same | worse
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
    for heading in ("overall_pref", "winner"):
        table = ask("my.csv", content=in_rows(("segment", "annotator", "system_a", "system_b", heading), *rows))
        assert (means(table, 6), len(table)) == ({name: share(TRUTH, name) for name in "XY"}, 80)


def test_no_answer_is_no_judgement_and_does_not_stop_the_import():
    said = {"a": "A", "b": "B", "t": "cannot judge"}
    rows = [(place, a, b, said[one]) for place, (a, b, one) in enumerate(TRUTH)]
    table = ask("my.csv", content=in_rows(("segment", "model_1", "model_2", "choice"), *rows))
    answered = [one for one in TRUTH if one[2] != "t"]
    assert (means(table, 6)["X"], len(table)) == (share(answered), 2 * len(answered))


HEADER = "annotator,segment,system_a,system_b,preference,lp\n"


def answers(*given, a="X", b="Y"):
    return HEADER + "".join(f"Ann,{place},{a},{b},{answer},en-de\n" for place, answer in enumerate(given))


def of(ratings, system):
    return ratings[ratings["system"].eq(system)].sort_values("segment")["score"].tolist()


def test_a_comparison_is_a_judgement_of_each_system(imported):
    ratings, spans, report = imported(answers("x", "Equal", "Y"))
    assert (report.format, report.scale, report.rows_kept, spans) == ("preferences", [0, 1], 6, None)
    assert (of(ratings, "X"), of(ratings, "Y")) == ([1, 0.5, 0], [0, 0.5, 1])
    assert ratings.groupby("system")["against"].unique().map(list).to_dict() == {"X": ["Y"], "Y": ["X"]}
    assert ratings.groupby("hit").size().tolist() == [2, 2, 2]
    assert any("X against Y: 1 won, 1 ties, 1 lost" in note for note in report.notes)


def test_numbers_need_their_direction_or_their_meaning(imported):
    text = answers("-3", "0", "2")
    with pytest.raises(DataError, match=r"--higher-is-better"):
        imported(text)
    assert of(imported(text, lower_is_better=False)[0], "X") == [0, 0.5, 1]
    assert of(imported(text, lower_is_better=True)[0], "X") == [1, 0.5, 0]
    text = answers("1", "3", "5")
    with pytest.raises(DataError, match=r"--map-values"):
        imported(text)
    assert of(imported(text, words={"1": 1, "3": 0.5, "5": 0})[0], "X") == [1, 0.5, 0]


def test_what_is_no_preference_is_rejected_and_the_rest_kept(imported):
    text = answers("A", "perhaps", "") + "Ann,9,X,X,A,en-de\nAnn,10,,Y,A,en-de\nAnn,,X,Y,A,en-de\n"
    ratings, _, report = imported(text)
    assert len(ratings) == 2
    assert (report.rows_rejected, report.rows_excluded) == (4, 1), "an empty answer is none, and is not to be mended"
    assert [entry["line"] for entry in report.first] == [3, 5, 6, 7]


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


# Conditions that one model was run under

CONDITIONS = ["--map=system_a=system_a_condition", "--map=system_b=system_b_condition", "--map=preference=overall_pref"]
WAYS = {
    "as it is": [],
    "named": ["--format", "preferences"],
    "score": ["--map", "score=overall_pref"],
    "mapped": [word for option in CONDITIONS for word in option.split("=", 1)],
}


@pytest.mark.parametrize("way", WAYS)
def test_conditions_are_compared_and_never_the_model_that_made_both(way, mirrored):
    table = ask(mirrored("../strangers/pref_conditions.csv"), *WAYS[way])
    won = table[table["score"].eq(1)].groupby("system").size().to_dict()
    assert (won, table["score"].eq(0.5).sum() / 2, len(table)) == ({"guided": 50, "default": 42}, 47, 278)


def test_outputs_of_two_models_for_one_segment_are_two_items():
    rows = [(1, "p", model, "guided", "default", said) for model, said in (("x", "a"), ("y", "b"))]
    table = ask("my.csv", content=in_rows(("item", "annotator", "model", "prompt_a", "prompt_b", "pref"), *rows))
    assert (means(table), table["segment"].nunique()) == ({"guided": 0.5, "default": 0.5}, 2)


# One number for two systems

SLIDER = {"alpha": 13.74, "beta": 2.05, "gamma": -12.57}


def test_a_slider_between_two_asks_whose_side_is_positive_and_keeps_its_strength(mirrored):
    path = mirrored("../strangers/slider.jsonl")
    assert {"hyp_a_id", "hyp_b_id"} <= {*re.findall(r"--positive (\w+)", ask(path))}
    table = ask(path, "--positive", "hyp_b_id")
    assert (means(table), table["system"].value_counts().to_dict()) == (SLIDER, {"gamma": 44, "beta": 42, "alpha": 34})
    assert means(ask(path, "--positive", "hyp_a_id")) == {name: -mean for name, mean in SLIDER.items()}
    assert "--positive" in ask(path, "--positive", "gamma")


@pytest.mark.parametrize("words", [[], ["--format", "xsts"], ["--positive", "hyp_b_id"]])
def test_two_systems_in_a_row_are_never_one(words, mirrored):
    told = ["--value", "system=mt", "--map", "segment=text"]
    assert "two systems" in ask(mirrored("../strangers/slider.jsonl"), *told, *words)


# Ranks

RANKS = {"uedin": 0.797, "online-A": 0.635, "jhu": 0.568, "limsi": 0.445, "kit": 0.308, "cmu": 0.203}


def untied(table):
    """Shares of untied comparisons on a screen that were won; a high score is a low rank."""
    pairs = table.merge(table, on=["screen", "annotator"])
    pairs = pairs[pairs["score_x"].ne(pairs["score_y"])]
    return pairs["score_x"].gt(pairs["score_y"]).groupby(pairs["system_x"]).mean().round(3).to_dict()


def test_ranks_of_systems_on_a_screen_and_again_by_the_same_judge(mirrored):
    rows = [line.split(",") for line in mirrored("../strangers/ranks_wmt.csv").read_text().splitlines()]
    table = ask("my.csv", content=in_rows(*rows))
    assert (untied(table), table["screen"].nunique(), len(table)) == (RANKS, 80, 400)
    again = [row[:6] + row[9:] + row[6:9] for row in rows[1:11]]
    table = ask("my.csv", content=in_rows(*rows, *again))
    assert (len(table), table["screen"].nunique()) == (450, 90)


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
    assert (report.scale, [(entry["line"], entry["value"]) for entry in report.first]) == ([-3, -1], [(4, '"9"')])
    assert report.orientation.startswith("lower is better")
    with pytest.raises(DataError, match=r"--higher-is-better"):
        imported(text, lower_is_better=False)
    found = compared.of_scores(ratings[ratings["annotator"].eq("Ann")], together=("screen",))
    rows = found[["segment", "system_a", "system_b", "preference"]].values.tolist()
    assert [" ".join(row) for row in rows] == ["1 X Y a", "1 X Z a", "1 Y Z a", "2 X Y tie", "2 X Z a", "2 Y Z a"]


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
