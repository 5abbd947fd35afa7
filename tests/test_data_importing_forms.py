"""Exports of forms (Google Forms, Qualtrics) and nested JSON: a row a respondent, or names for rows, become judgements."""

import csv
import io
import json
from itertools import product

import numpy as np
import pytest

from evalkit import DataError

SYSTEMS = ("DeepL", "Google", "NLLB")
PEOPLE = tuple(f"p{number}@uni.edu" for number in range(5))
LONG = "Dies ist der Anfang eines langen Satzes, und"
TEXTS = tuple(f"Satz Nummer {number}, der übersetzt wird." for number in range(1, 9))


@pytest.fixture
def scores():
    """Scores from 1 to 5: segments × systems × people, of which no two systems have one mean."""
    drawn = np.random.default_rng(3).integers(1, 6, (len(TEXTS), len(SYSTEMS), len(PEOPLE)))
    drawn[:, 0] = np.minimum(drawn[:, 0] + 2, 5)
    drawn[:, 2] = np.maximum(drawn[:, 2] - 2, 1)
    drawn[0, :, 0] = 1, 5, 5
    return drawn


def table(*rows):
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue()


def google(scores, headings, order="segment system", more=()):
    """A row a respondent: the score of each question in the order of the headings."""
    axes = {"segment": 0, "system": 1}
    cells = scores.transpose(*(axes[name] for name in order.split()), 2).reshape(-1, len(PEOPLE))
    rows = [[f"2026/03/0{k + 1} 10:00:11", who, *cells[:, k], *more] for k, who in enumerate(PEOPLE)]
    return table(["Timestamp", "Email Address", *headings, *(["Comments [optional]"] if more else [])], *rows)


def expected(scores):
    return dict(zip(SYSTEMS, scores.mean(axis=(0, 2))))


def found(ratings):
    assert not ratings.duplicated(["system", "segment", "annotator"]).any()
    return ratings.groupby("system")["score"].mean().to_dict()


GRIDS = {
    "systems in brackets": ([f"{i}. {t} How good? [{s}]" for i, t in enumerate(TEXTS, 1) for s in SYSTEMS], ""),
    "named with words around": ([f"{t} [Translation by {s}]" for t in TEXTS for s in SYSTEMS], ""),
    "heading over two lines": ([f"{t}\n(1 bad, 5 good) [{s}]" for t in TEXTS for s in SYSTEMS], ""),
    "a question a system": ([f"Rate {s}: [Sentence {i}]" for s in SYSTEMS for i in range(1, 9)], "system segment"),
    "a system's sentences": (
        [f"Rate {s} [{i}. {LONG} {t}]" for s in SYSTEMS for i, t in enumerate(TEXTS)],
        "system segment",
    ),
}


@pytest.mark.parametrize(("headings", "order"), GRIDS.values(), ids=GRIDS)
def test_grids_of_a_google_form_become_a_row_a_judgement(imported, scores, headings, order):
    content = google(scores, headings, order or "segment system", more=["fine"])
    ratings, _, report = imported(content)
    assert len(ratings) == scores.size == report.rows_kept
    assert set(ratings["annotator"]) == {*PEOPLE}
    assert ratings["segment"].nunique() == len(TEXTS)
    assert found(ratings) == pytest.approx({system.strip(): mean for system, mean in expected(scores).items()})


def test_words_of_a_scale_and_unanswered_questions_of_a_form(imported, scores):
    words = np.array(["", "Bad", "Poor", "Fair", "Good", "Excellent"], dtype=object)[scores]
    words[1, 1, 2] = words[3, 0, 0] = ""
    ratings, _, _ = imported(google(words, [f"{i}. [{s}]" for i in range(1, 9) for s in SYSTEMS]))
    left = scores.astype(float)
    left[1, 1, 2] = left[3, 0, 0] = np.nan
    assert found(ratings) == pytest.approx(dict(zip(SYSTEMS, np.nanmean(left, axis=(0, 2)))))


@pytest.mark.parametrize(
    "asked",
    ["{t} How {c} is each translation?", "{C}: {t}", "How {c} is translation {i}?", "{i}{ab}. Source {ab}: {c}?"],
)
def test_two_questions_about_each_segment_are_two_criteria(imported, scores, asked):
    other = scores[::-1]
    headings, cells = [], []
    for i, text in enumerate(TEXTS):
        for criterion, noun, ab, own in (("adequate", "Adequacy", "a", scores), ("fluent", "Fluency", "b", other)):
            headings += [f"{asked.format(t=text, c=criterion, C=noun, i=i + 1, ab=ab)} [{s}]" for s in SYSTEMS]
            cells.append(own[i])
    cells = np.concatenate(cells)
    rows = [["2026/03/01 10:00:11", who, *cells[:, k]] for k, who in enumerate(PEOPLE)]
    ratings, _, _ = imported(table(["Timestamp", "Email Address", *headings], *rows))
    assert ratings["segment"].nunique() == len(TEXTS)
    assert len(ratings) == 2 * scores.size
    adequate = ratings[ratings["criterion"].str.startswith("adequa")]
    assert adequate.groupby("system")["score"].mean().to_dict() == pytest.approx(expected(scores))


def test_a_form_filled_in_once_a_judgement_names_its_columns_by_its_questions(imported, scores):
    asked = "How adequate is it?\n(1 worst, 5 best)"
    head = ["Timestamp", "Your ID", "Which sentence?\n(number)", "Which system", asked]
    places = product(range(len(TEXTS)), range(len(SYSTEMS)), range(len(PEOPLE)))
    rows = [["3/1/2026 10:00:11", PEOPLE[k], i + 1, SYSTEMS[j], scores[i, j, k]] for i, j, k in places]
    with pytest.raises(DataError, match="--map score='How adequate is it"):
        imported(table(head, *rows))
    told = {"score": asked.replace("\n", " ")}
    assert found(imported(table(head, *rows), columns=told)[0]) == pytest.approx(expected(scores))


def qualtrics(scores, name, text, more=()):
    meta = ["StartDate", "Status", "ResponseId"]
    places = [*product(range(len(TEXTS)), range(len(SYSTEMS)))]
    heads = [
        [*meta, *(name.format(i=i + 1, j=j + 1) for i, j in places), "Q1_DO_1"],
        ["Start Date", "Response Type", "Response ID", *(text.format(t=TEXTS[i], s=SYSTEMS[j]) for i, j in places), ""],
        [json.dumps({"ImportId": "x"})] * (len(places) + 4),
    ]
    rows = [
        ["2026-03-01 10:00:00", "IP Address", f"R_{k}", *(scores[i, j, k] for i, j in places), 1]
        for k in range(len(PEOPLE))
    ]
    return table(*heads, *rows, *more)


@pytest.mark.parametrize(
    ("name", "text"),
    [("Q{i}_{j}", "{t} - {s}"), ("{i}_Q{j}", "Rate {s}"), ("Q{i}_{j}", "How good is this?\n{t} - Output of {s}")],
)
def test_matrices_and_loops_of_qualtrics_become_a_row_a_judgement(imported, scores, name, text):
    width = scores.shape[0] * scores.shape[1]
    preview = ["2026-03-01 09:00:00", "Survey Preview", "R_me", *[1] * width, 1]
    ratings, _, report = imported(qualtrics(scores, name, text, more=[preview]))
    assert set(ratings["annotator"]) == {f"R_{k}" for k in range(len(PEOPLE))}
    assert found(ratings) == pytest.approx(expected(scores))
    assert ratings["segment"].nunique() == len(TEXTS)
    assert any("1 responses are previews" in note for note in report.notes)


@pytest.mark.parametrize(
    ("headings", "told"),
    [
        ([f"{t} [Translation {s}]" for t in TEXTS for s in "ABC"], "places on a screen"),
        ([f"{t} [{s}]" for t in TEXTS for s in ("Adequacy", "Fluency", "Style")], "--value system=NAME"),
        ([f"{w} {t} [{s}]" for w in ("Is it good:", "Edit:") for t in TEXTS[:4] for s in SYSTEMS], "several"),
        ([f"How good? [{s}]" for _ in TEXTS for s in SYSTEMS], "twice"),
    ],
)
def test_what_a_form_leaves_open_is_asked(imported, scores, headings, told):
    with pytest.raises(DataError, match=told):
        imported(google(scores, headings))


def test_places_that_are_systems_in_every_question_are_read_as_told(imported, scores):
    headings = [f"{t} [Translation {s}]" for t in TEXTS for s in "ABC"]
    names = [f"Translation {s}" for s in "ABC"]
    means = found(imported(google(scores, headings), wide="systems")[0])
    assert means == pytest.approx(dict(zip(names, expected(scores).values())))


def nested(scores):
    """One campaign in the shapes that people write JSON in."""
    every = [*product(enumerate(TEXTS), enumerate(SYSTEMS))]
    each = {(i, j): {who: int(scores[i, j, k]) for k, who in enumerate(PEOPLE)} for (i, _), (j, _) in every}
    workers = {who: f"W{k:04}" for k, who in enumerate(PEOPLE)}
    return {
        "criteria by annotators": [{"segment": i, "system": s, "adequacy": each[i, j]} for (i, _), (j, s) in every],
        "a list of ratings": {
            "campaign": "x",
            "items": [
                {"segment_id": i, "system": s, "ratings": [{"annotator": p, "score": v} for p, v in each[i, j].items()]}
                for (i, _), (j, s) in every
            ],
        },
        "outputs with ratings": [
            {"segment": i, "outputs": {s: {"text": "t", "ratings": each[i, j]} for j, s in enumerate(SYSTEMS)}}
            for i in range(len(TEXTS))
        ],
        "worker, item, system": {
            workers[p]: {f"item{i}": {s: {"score": each[i, j][p]} for j, s in enumerate(SYSTEMS)} for i in range(8)}
            for p in PEOPLE
        },
        "judgements by name": {
            f"j{i}-{j}-{p}": {"system": s, "segment": i, "annotator": p, "score": v}
            for (i, _), (j, s) in every
            for p, v in each[i, j].items()
        },
    }


@pytest.mark.parametrize("shape", nested(np.ones((len(TEXTS), len(SYSTEMS), len(PEOPLE)), int)))
def test_nested_json_has_the_judgements_that_it_holds(imported, scores, shape):
    ratings, _, _ = imported(nested(scores)[shape])
    assert len(ratings) == scores.size
    assert ratings["annotator"].nunique() == len(PEOPLE)
    assert ratings["segment"].nunique() == len(TEXTS)
    assert found(ratings) == pytest.approx(expected(scores))


@pytest.mark.parametrize("names", [("q1", "q2"), ("expert", "layman")])
def test_names_that_may_be_people_or_criteria_are_asked(imported, names):
    rows = [{"segment": i, "system": s, "scores": dict.fromkeys(names, i % 5 + 1)} for i in range(9) for s in "AB"]
    with pytest.raises(DataError, match=r"--wide annotators|lacks annotator"):
        imported(rows)


def test_an_object_of_parts_is_one_judgement(imported):
    """Parts of a record are no records, however alike their keys are."""
    rows = [
        {"item": {"system": s, "segment": i}, "rater": {"id": "Ann"}, "score": 10 * i} for i in range(9) for s in "AB"
    ]
    assert len(imported(rows)[0]) == 18
