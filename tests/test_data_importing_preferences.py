"""Preferences and ranks: each comparison is two judgements, and shares of wins are those that pandas counts."""

import json

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import compared

HEADER = "annotator,segment,system_a,system_b,preference,lp\n"


#: Many rows of small files are wrong on purpose.


def answers(*given, a="X", b="Y"):
    return HEADER + "".join(f"Ann,{place},{a},{b},{answer},en-de\n" for place, answer in enumerate(given))


def of(ratings, system):
    return ratings[ratings["system"].eq(system)].sort_values("segment")["score"].tolist()


def test_a_comparison_is_a_judgement_of_each_system(imported):
    ratings, spans, report = imported(answers("A", "tie", "B"))
    assert (report.format, report.scale, report.rows_kept, spans) == ("preferences", [0, 1], 6, None)
    assert (of(ratings, "X"), of(ratings, "Y")) == ([1, 0.5, 0], [0, 0.5, 1])
    assert ratings.groupby("system")["against"].unique().map(list).to_dict() == {"X": ["Y"], "Y": ["X"]}
    assert ratings.groupby("hit").size().tolist() == [2, 2, 2]
    assert report.orientation == "higher is better: the score is the share of comparisons won, a tie half"
    assert "my.csv: X against Y: 1 won, 1 ties, 1 lost" in report.notes


@pytest.mark.parametrize(
    ("first", "tie", "second"),
    [
        ("LEFT", "Draw", "right"),
        ("system_a", "no preference", "System_B"),
        ("1", "0", "2"),
        ("x", "Equal", "Y"),
        ("a is better", "SAME", "B is better"),
        ("A>B", "A = B", "A<B"),
        ("Translation 1", "Neither", "Translation 2"),
    ],
)
def test_answers_in_any_words(first, tie, second, imported):
    if tie == "A = B":
        tie = "="
    ratings, _, report = imported(answers(first, tie, second))
    assert (of(ratings, "X"), report.rows_rejected) == ([1, 0.5, 0], 0)


def test_numbers_towards_one_system_need_their_direction(imported):
    text = answers("-3", "0", "2")
    with pytest.raises(DataError, match="--higher-is-better if higher numbers prefer the first system"):
        imported(text)
    assert of(imported(text, lower_is_better=False)[0], "X") == [0, 0.5, 1]
    assert of(imported(text, lower_is_better=True)[0], "X") == [1, 0.5, 0]


def test_numbers_that_may_mean_anything_are_refused_with_a_way_that_works(imported):
    text = answers("1", "3", "5")
    with pytest.raises(DataError, match=r"nothing says what they mean.*--map-values"):
        imported(text)
    assert of(imported(text, words={"1": 1, "3": 0.5, "5": 0})[0], "X") == [1, 0.5, 0]


def test_what_is_no_preference_is_rejected_and_the_rest_kept(imported):
    text = answers("A", "perhaps", "") + "Ann,9,X,X,A,en-de\nAnn,10,,Y,A,en-de\nAnn,,X,Y,A,en-de\n"
    ratings, _, report = imported(text)
    assert len(ratings) == 2
    assert (report.rows_rejected, report.rows_excluded) == (4, 1), "an empty answer is none, and is not to be mended"
    assert [entry["line"] for entry in report.first] == [3, 5, 6, 7]


def test_a_name_that_is_also_a_place_is_not_guessed(imported):
    with pytest.raises(DataError, match="is the name of one system and the place of the other"):
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
    with pytest.raises(DataError, match=r"lacks system_a, system_b.*--value OURS=TEXT"):
        imported(text)
    ratings, *_ = imported(text, values={"system_a": "X", "system_b": "Y"})
    assert ratings[["system", "score", "hypothesis"]].values.tolist() == [
        ["X", 1.0, "first 0"],
        ["Y", 0.0, "second 0"],
        ["X", 0.0, "first 1"],
        ["Y", 1.0, "second 1"],
    ]


def test_answers_under_a_heading_of_their_own_are_mapped(imported):
    text = answers("A", "B").replace("preference", "Q7")
    with pytest.raises(DataError, match="Nearest is preferences, but it lacks preference"):
        imported(text)
    assert of(imported(text, columns={"preference": "Q7"})[0], "X") == [1, 0]


def test_ranks_of_several_systems_in_a_row_are_negated(imported):
    text = "rater,segment,lp,rank_X,rank_Y,Z_rank\nAnn,1,en-de,1,2,3\nAnn,2,en-de,1,1,2\nBob,1,en-de,3,9,1\n"
    ratings, _, report = imported(text)
    assert ratings.groupby("system")["score"].apply(list).to_dict() == {
        "X": [-1, -1, -3],
        "Y": [-2, -1],
        "Z": [-3, -2, -1],
    }
    assert report.scale == [-3, -1]
    assert report.orientation.startswith("lower is better by the headings (rank_X, rank_Y, Z_rank)")
    assert [(entry["line"], entry["value"]) for entry in report.first] == [(4, '"9"')]
    with pytest.raises(DataError, match="Drop --higher-is-better"):
        imported(text, lower_is_better=False)


def places(ratings):
    """Which place each system's translation had, by segment."""
    return {name: own.sort_values("segment")["screen_place"].tolist() for name, own in ratings.groupby("system")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (answers("left", "right"), "the words left, right"),
        (answers("A", "B").replace("system_a,system_b", "left_system,right_system"), "the words left, right"),
        (answers("A", "B").replace("preference", "first,preference").replace("X,Y,", "X,Y,X,"), ""),
        (answers("A", "B").replace("preference", "shown first,preference").replace("X,Y,", "X,Y,a,"), ""),
    ],
)
def test_which_translation_stood_first_is_read_where_the_file_tells_it(text, told, imported):
    ratings, _, report = imported(text)
    assert places(ratings) == {"X": [1, 1], "Y": [2, 2]}
    assert bool(told) == any("stood first" in note for note in report.notes)
    found = compared.of_scores(ratings)
    assert found["first"].tolist() == ["a", "a"]


def test_the_first_named_stood_first_only_where_pairs_come_in_both_orders(imported):
    ratings, _, _ = imported(answers("A", "B"))
    assert "screen_place" not in ratings
    ratings, _, report = imported(answers("A") + "Ann,9,Y,X,A,en-de\n")
    assert places(ratings) == {"X": [1, 2], "Y": [2, 1]}
    assert "system_a is taken to have stood first (left): pairs of systems come in both orders" in report.notes


def test_a_place_that_cannot_be_read_is_unknown_and_told_without_what_stood_there(imported):
    text = answers("A", "B", "A").replace("preference", "first,preference")
    text = text.replace("0,X,Y,", "0,X,Y,Anna,").replace("1,X,Y,", "1,X,Y,Y,").replace("2,X,Y,", "2,X,Y,unknown,")
    ratings, _, report = imported(text)
    assert ratings.groupby("segment")["screen_place"].apply(lambda own: own.notna().sum()).tolist() == [0, 2, 0]
    [note] = [note for note in report.notes if "stood first" in note]
    assert "in 1 rows" in note
    assert "Anna" not in note


def test_places_and_screens_outlast_a_second_import(imported, tmp_path):
    ratings, *_ = imported(answers("left", "right"))
    before = (tmp_path / "c.parquet").rename(tmp_path / "before.parquet")
    again, *_ = imported(before)
    assert places(again) == places(ratings)


def test_ranks_of_one_row_say_what_comparisons_would(imported):
    text = "rater,segment,lp,rank_X,rank_Y,Z_rank\nAnn,1,en-de,1,2,3\nAnn,2,en-de,1,1,2\n"
    found = compared.of_scores(imported(text)[0], together=("screen",))
    rows = found[["segment", "system_a", "system_b", "preference", "first"]].values.tolist()
    assert rows == [
        ["1", "X", "Y", "a", "unknown"],
        ["1", "X", "Z", "a", "unknown"],
        ["1", "Y", "Z", "a", "unknown"],
        ["2", "X", "Y", "tie", "unknown"],
        ["2", "X", "Z", "a", "unknown"],
        ["2", "Y", "Z", "a", "unknown"],
    ]


def test_the_strangers_comparisons(imported, mirrored):
    path = mirrored("../strangers/pairwise.csv")
    plain = pd.read_csv(path)
    worth = plain["preference"].map({"A": 1.0, "tie": 0.5, "B": 0.0})
    ratings, _, report = imported(path)
    assert (report.rows_read, report.rows_kept) == (2 * len(plain), 2 * len(plain))
    assert ratings.groupby("system")["score"].mean().to_dict() == pytest.approx(
        {plain["system_a"][0]: worth.mean(), plain["system_b"][0]: 1 - worth.mean()}, abs=1e-12
    )


def test_preferences_of_translators_between_a_person_and_a_machine(imported, mirrored):
    path = mirrored("laeubli/parity/*/data/ratings.csv")
    plain = pd.read_csv(path)
    plain["worth"] = plain["rating"].map({"mt": 1.0, "tie": 0.5, "human": 0.0})
    ratings, _, report = imported(path)
    of_machine = ratings[ratings["system"].eq("mt")]
    means = of_machine.groupby(["criterion", "annotator", "domain"])["score"].mean()
    expected = plain.groupby(["condition", "participant_id", "type"])["worth"].mean()
    assert means.tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    assert [*means.index] == [*expected.index]
    assert len(of_machine) == len(plain) == 1232
    assert "ratings.csv: human against mt: 585 won, 212 ties, 435 lost" in report.notes
    assert set(ratings["item_type"]) == {"system"}  # the person's translation competes


def test_preferences_with_marks_of_literary_translations(imported, mirrored):
    path = mirrored("marzenakrp/LiteraryTranslation/*/annotations/default_format_v1/all_annotations_v1.json")
    records = json.loads(path.read_text(encoding="utf-8"))
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    ratings, spans, report = imported(lines, name="literary.jsonl")
    wins = [
        (record[f"{side}_tag"], float(record["choice"] == side)) for record in records for side in ("text1", "text2")
    ]
    expected = pd.DataFrame(wins, columns=["system", "won"]).groupby("system")["won"].agg(["mean", "size"])
    found = ratings.groupby("system")["score"].agg(["mean", "size"])
    assert found["mean"].to_dict() == pytest.approx(expected["mean"].to_dict(), abs=1e-12)
    assert found["size"].to_dict() == expected["size"].to_dict()
    marks = [
        (mark["annotated_text"], label.casefold())
        for record in records
        for side in ("text1", "text2")
        for mark in record["annotations"][side]
        for label in mark["labels"]
    ]
    assert list(zip(spans["text"], spans["error_type"].astype("str"))) == marks
    texts = {
        (record["source"].strip(), record[f"{side}_tag"], record[side].strip())
        for record in records
        for side in ("text1", "text2")
    }
    assert set(zip(ratings["source"], ratings["system"], ratings["hypothesis"])) == texts
    assert report.rows_kept == 2 * len(records) == 1080
