"""IndicMT-Eval and MQM ratings: what the loaders make of them, what they mend, and what they refuse."""

import json

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import indicmt, mtme
from evalkit.data.schemas import UNSTATED

ERRORS = [f"Error{n}_{part}" for n in range(1, 6) for part in ("Type", "Severity")]
ROW = {"ID (ignore_column)": "1", "Source": "One two.", "Reference": "r", "Translation": "t"}
ROW |= dict.fromkeys(ERRORS, "Default")
ROW |= {"Computed_scores": "25", "Human_scores": "24", "Full_scores": "25", "model": "NLLB"}


def row(**changes):
    return ROW | changes


def written(folder, *rows, name="Gujarati.csv"):
    path = folder / name
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_a_stray_mark_is_read_over_and_a_blank_own_score_is_missing_and_both_are_counted(tmp_path):
    path = written(tmp_path, row(Human_scores="`19"), row(Source="B", Human_scores=""), row(Source="C"))
    frame = indicmt.ratings([path])
    assert frame["own_score"].tolist()[0] == 19.0
    assert pd.isna(frame["own_score"][1])
    assert frame.attrs["corrected"] == {"blank own scores": 1, "own scores with a stray mark": 1}


@pytest.mark.parametrize(
    ("load", "rows", "name", "told"),
    [
        (indicmt.ratings, [row(Human_scores="19x")], "Gujarati", "Gujarati.csv, line 2, column Human_scores: '19x'"),
        (indicmt.ratings, [row(Computed_scores="")], "Gujarati", "line 2, column score: is empty"),
        (indicmt.ratings, [row(Translation="")], "Gujarati", "line 2, column Translation: is empty"),
        (indicmt.spans, [row(Error2_Type="Typo")], "Gujarati", "line 2, column Error2_Type: 'Typo'"),
        (indicmt.spans, [row(Error2_Severity="Awful")], "Gujarati", "line 2, column Error2_Severity: 'Awful'"),
        (indicmt.ratings, [row(), row()], "Gujarati", "the same as line 2"),
        (indicmt.ratings, [row()], "Klingon", "does not begin with a language"),
        (indicmt.ratings, [{"Source": "a", "model": "b"}], "Hindi", "Hindi.csv lacks the column Reference"),
    ],
)
def test_a_bad_cell_is_refused_with_its_place(tmp_path, load, rows, name, told):
    with pytest.raises(DataError, match=told):
        load([written(tmp_path, *rows, name=f"{name}.csv")])


def test_negative_totals_are_kept_and_half_stated_errors_are_errors(tmp_path):
    path = written(
        tmp_path,
        row(Error1_Type="Non-translation", Error1_Severity="High", Computed_scores="-75"),
        row(Source="B", Error1_Type="Other"),
        row(Source="C", Error3_Severity="Low"),
    )
    assert indicmt.ratings([path])["score"].tolist() == [-75.0, 25.0, 25.0]
    spans = indicmt.spans([path]).astype("str")
    expected = [["1", "non-translation", "high"], ["1", "other", UNSTATED], ["3", UNSTATED, "low"]]
    assert spans[["span", "error_type", "severity"]].to_numpy().tolist() == expected


def test_sentences_have_one_name_whatever_white_space_was_lost():
    names = indicmt.segment_names(pd.Series(["Also hopes.", "Alsohopes.", " Also hopes. ", "Also hoped."]))
    assert names.nunique() == 2
    assert names[:3].nunique() == 1
    assert names.str.fullmatch("[0-9a-f]{8}").all()


def test_a_split_is_read_line_by_line(tmp_path):
    scores = {"mqm_norm": "0.9", "da_norm": "0.8", "adequacy": "25", "fluency": "", "full": "22.5"}
    scores = {f"{name}_score": value for name, value in scores.items()}
    good = {"src": "A b.", "ref": "r", "translation": "w x y", "completion": []} | scores
    empty = good | {"src": ""}
    path = tmp_path / "Guj_test.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (empty, good)) + "\n")
    frame = indicmt.splits([path])
    chosen = ["tgt_lang", "split", "row", "score", "own_score"]
    assert frame[chosen].to_numpy().tolist() == [["guj", "test", 1, 0.9, 0.8]]
    assert pd.isna(frame["fluency_score"][0])
    assert frame.attrs["excluded"] == {"rows without texts": 1}


# MQM ratings in mt-metrics-eval's layout


def rating(folder, *cells, name="zh-en.mqm.rater1.seg.rating"):
    (folder / "zh-en.docs").write_text("".join(f"news\tdoc{n}\n" for n in range(len(cells))))
    (folder / name).write_text("".join(f"S\t{cell}\n" for cell in cells))
    return [folder / "zh-en.docs", folder / name]


KEY = ["tgt_lang", "system", "segment"]
ERROR = {"start": 1, "end": 4, "category": "Non-translation!", "severity": "major", "score": 25}
ERROR |= {"is_source_error": False}


def test_judgements_add_up_their_errors_and_what_nobody_judged_has_no_row(tmp_path):
    two = json.dumps({"errors": [ERROR, ERROR | {"score": 0.1, "is_source_error": True}]})
    paths = rating(tmp_path, two, "None", '{"errors": []}')
    assert mtme.mqm_ratings(paths)[["segment", "score"]].to_numpy().tolist() == [["1", -25.1], ["3", 0.0]]
    ten = json.dumps({"errors": [ERROR | {"score": 0.1}] * 10})
    assert mtme.mqm_ratings(rating(tmp_path, ten))["score"].tolist() == [-1.0]
    rating(tmp_path, two, "None", '{"errors": []}')
    spans = mtme.mqm_spans(paths).astype({"side": "str", "error_type": "str"})
    assert spans["side"].tolist() == ["target", "source"]
    assert set(spans["error_type"]) == {"non-translation"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"score": -5}, "line 2: an error's score is -5"),
        ({"score": True}, "line 2: an error's score is true"),
        ({"score": float("nan")}, "score is NaN"),
        ({"score": [5]}, "no number"),
        ({"start": True}, "start is true"),
        ({"end": "4"}, "end is .4., no number"),
        ({"is_source_error": 1}, "is_source_error is 1"),
        ({"severity": 5}, "severity is 5"),
    ],
)
def test_a_value_of_another_sign_or_type_is_refused_and_never_read_as_a_number(tmp_path, changed, told):
    """A score of -5 came out as +5, and true as -1."""
    paths = rating(tmp_path, json.dumps({"errors": [ERROR]}), json.dumps({"errors": [ERROR, ERROR | changed]}))
    for load in (mtme.mqm_ratings, mtme.mqm_spans):
        with pytest.raises(DataError, match=told) as problem:
            load(paths)
        assert "\n" not in str(problem.value)


TWICE = json.dumps({"errors": [ERROR]}).replace('"score": 25', '"score": 25, "score": 1')


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (TWICE, "no list of errors in JSON"),
        ("[1", "line 1: '.1' is no list of errors"),
        ('{"errors": [{"start": 1}]}', "lacks one of start, end"),
        (json.dumps({"errors": [ERROR | {"start": 5}]}), "ends before it starts"),
        (json.dumps({"errors": [ERROR | {"start": -1}]}), "before the text"),
    ],
)
def test_a_broken_judgement_is_refused(tmp_path, cell, told):
    with pytest.raises(DataError, match=told):
        mtme.mqm_spans(rating(tmp_path, cell))


def test_a_file_that_is_cut_short_or_named_otherwise_is_refused(tmp_path):
    paths = rating(tmp_path, "None", "None")
    paths[1].write_text("S\tNone\n")
    with pytest.raises(DataError, match="S has 1 lines for 2 segments"):
        mtme.mqm_ratings(paths)
    with pytest.raises(DataError, match="is not named as"):
        mtme.mqm_ratings(rating(tmp_path, "None", name="ratings.txt"))
