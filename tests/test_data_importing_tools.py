"""JSON in its shapes, and what annotation tools export: one judgement an output, everything else told and counted."""

import contextlib
import csv
import json
import random
import re

import pytest

from evalkit import DataError
from evalkit.data.importing.cells import columns
from evalkit.data.importing.files import jsonl

#: Many rows of small files are wrong on purpose.


@pytest.fixture
def imported(imported):
    """Name what is written as JSON is named."""
    return lambda content, name="my.json", **options: imported(content, name, **options)


def rejected_in(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def in_lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


# JSON


def judged(system="A", segment=1, annotator="Ann", score=80, **more):
    return {"lp": "en-de", "system": system, "segment": segment, "annotator": annotator, "score": score} | more


ROWS = [judged(), judged("B", score=60.5), judged(segment=2, score=70)]


@pytest.mark.parametrize(
    "wrap", [lambda rows: rows, lambda rows: {"annotations": rows}, lambda rows: {"version": "1", "n": 3, "rows": rows}]
)
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_is_read_wherever_it_stands(imported, wrap, indent):
    ratings, _, report = imported(json.dumps(wrap(ROWS), indent=indent))
    assert ratings[["system", "segment", "score"]].values.tolist() == [["A", "1", 80], ["B", "1", 60.5], ["A", "2", 70]]
    assert report.format == "csv"
    assert any("what is called a line is the number of an object" in note for note in report.notes)


def test_objects_within_objects_have_dotted_names(imported):
    nested = [
        {
            "rater": {"id": row["annotator"]},
            "item": {"system": {"name": row["system"]}, "segment": row["segment"], "lp": row["lp"]},
            "judgement": {"score": row["score"], "z.score": 0.5},
        }
        for row in ROWS
    ]
    ratings, _, report = imported(in_lines(*nested), name="my.jsonl")
    assert ratings[["system", "segment", "annotator", "score"]].values.tolist() == [
        ["A", "1", "Ann", 80],
        ["B", "1", "Ann", 60.5],
        ["A", "2", "Ann", 70],
    ]
    assert report.mapping["system"] == {"theirs": "item.system.name", "how": "synonym"}
    assert report.unused == ["judgement.z.score"]


def test_another_json_beside_a_log_is_left_alone(imported, tmp_path):
    (tmp_path / "camp.en-de.json").write_text('[{"score": 1}]', encoding="utf-8")
    ratings, _, _ = imported(in_lines(*LOG), name="camp.en-de.jsonl")
    (tmp_path / "camp.en-de.json").unlink()
    alone, _, _ = imported(in_lines(*LOG), name="camp.en-de.jsonl")
    assert len(alone)
    assert ratings["score"].tolist() == alone["score"].tolist()


def test_dotted_names_can_be_mapped(imported):
    odd = [
        {
            "who": {"x": row["annotator"]},
            "what": {"mt": row["system"], "no": row["segment"]},
            "points": row["score"],
            "lp": "en-de",
        }
        for row in ROWS
    ]
    with pytest.raises(DataError, match=r"its objects have the names who\.x, what\.mt, what\.no, points, lp"):
        imported(in_lines(*odd), name="my.jsonl")
    mapped = {"annotator": "who.x", "system": "what.mt", "segment": "what.no", "score": "points"}
    assert imported(in_lines(*odd), name="my.jsonl", columns=mapped)[0]["score"].tolist() == [80, 60.5, 70]


def test_several_arrays_are_sheets(imported):
    content = {"en-de": [row | {"lp": ""} for row in ROWS], "en-cs": [judged("C") | {"lp": ""}]}
    content = {
        pair: [{name: cell for name, cell in row.items() if name != "lp"} for row in rows]
        for pair, rows in content.items()
    }
    ratings, _, report = imported(content)
    assert ratings.groupby("tgt_lang")["system"].apply(list).to_dict() == {"ces": ["C"], "deu": ["A", "B", "A"]}
    assert any("the judgements of 2 sheets were put together: en-de, en-cs" in note for note in report.notes)
    assert imported(content, sheet="en-cs")[0]["system"].tolist() == ["C"]
    with pytest.raises(DataError, match=r"has no array 'en-fr'; it has en-de, en-cs"):
        imported(content, sheet="en-fr")


def test_what_is_no_object_in_an_array_is_rejected_with_its_number(imported):
    ratings, _, report = imported([ROWS[0], 7, ROWS[1], {"x": "\udc80"}, ["a"], ROWS[2]])
    assert len(ratings) == 3
    assert [entry["line"] for entry in report.first] == [2, 4, 5]
    assert report.reasons == {"is no JSON object": 2, "holds half of a surrogate pair, which is no letter": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "no JSON object in it"),
        ("{}", "none of the formats"),
        ('[{"a": 1},', "is no JSON object"),
        ("[1, 2]", "no JSON object in it"),
        ('{"a": 1, "a": 2}', "a name stands twice"),
        ("5", "no JSON object"),
        ('{"a": [', "is no JSON object"),
        ("[" * 100_000 + "]" * 100_000, "is no JSON object|no JSON object in it"),
    ],
)
def test_json_that_holds_no_table_is_refused(imported, text, message):
    with pytest.raises(DataError, match=message):
        imported(text)


def test_json_is_read_within_bounds(imported, monkeypatch):
    deep = {"score": 1}
    for _ in range(50):
        deep = {"item": deep}
    ratings, _, report = imported([*ROWS, deep])
    assert (len(ratings), report.reasons) == (3, {"is no JSON object": 1})
    assert "nest more than 32 deep" in report.first[0]["reason"]
    monkeypatch.setattr(jsonl, "_MOST_WHOLE", 100)
    with pytest.raises(DataError, match=r"Write one object a line"):
        imported(ROWS)


def test_two_values_of_one_dotted_name_are_not_chosen_from(imported):
    twice = judged() | {"item": {"doc": "d"}, "item.doc": "e"}
    _, _, report = imported([*ROWS, twice])
    assert "two values have the name item.doc" in report.first[0]["reason"]


def test_an_r_style_name_is_no_path():
    assert [columns.meaning(name) for name in ("z.score", "mean.score", "raw.system")] == [None, None, None]


@pytest.mark.parametrize("name", ["array.json", "nested.jsonl"])
def test_the_strangers_json(imported, mirrored, name):
    path = mirrored(f"../strangers/{name}")
    text = path.read_text(encoding="utf-8")
    objects = json.loads(text) if name == "array.json" else [json.loads(line) for line in text.splitlines()]
    ratings, _, report = imported(path)
    assert (report.rows_kept, report.rows_rejected) == (len(objects), 0)
    flat = [one.get("item", one) | one.get("rater", {}) | one for one in objects]
    expected = [
        [one["system"], one["doc"], str(one["segment"]), one.get("annotator", one.get("id")), one["score"]]
        for one in flat
    ]
    assert ratings[["system", "doc", "segment", "annotator", "score"]].values.tolist() == expected


# Pearmut


def span(start, end, severity="minor", category=None):
    return {"start_i": start, "end_i": end, "severity": severity, "category": category}


def answer(score, *spans, **more):
    return {"score": score, "error_spans": list(spans), "textfield": None} | more


def item(name, source, **outputs):
    return {"item_id": name, "src": source, "tgt": outputs}


def entry(user, position, items, said, *, times=(10.0, 25.5), **more):
    actions = [{"time": time, "action": "x"} for time in times]
    return {"annotation": said, "actions": actions, "item": items, "user_id": user, "item_i": position} | more


ONE, TWO = item("d_1", "One.", A="Eins.", B="Ein."), item("d_2", "Two 😀.", A="Zwei 😀 x.", B="<b>Zwo</b>")
TUTORIAL = item("t", "T", A="T") | {"validation": {"A": {"warning": "w", "score": [90, 100], "allow_skip": True}}}
CHECK = item("c", "C", A="C") | {"validation": {"A": {"score": [0, 10]}}}
FORM = {"text": "Your name?", "form": "string"}
LOG = [
    entry("ann", "welcome_0", [FORM], ["Ann Secret"], times=(1.0, 2.0)),
    entry("ann", "welcome_1", [TUTORIAL], [{"A": answer(None)}], validations=[False]),
    entry(
        "ann",
        0,
        [ONE, TWO],
        [
            {"A": answer(90), "B": answer(40, span(0, 1, "major"))},
            {"A": answer(70, span(5, 6), span(10, 10)), "B": answer(55, span(3, 5))},
        ],
    ),
    entry("ann", "random_0", [CHECK], [{"A": answer(5)}], validations=[True]),
    entry("ann", 1, [CHECK], [{"A": answer(50)}], validations=[False]),
    entry("bob", 0, [ONE], [{"A": answer(1), "B": answer(2)}]),
    {"user_id": "bob", "annotation": "__RESET__", "item_i": 0},
    entry("bob", 0, [ONE], [{"A": answer(88), "B": answer(None)}], times=(30, 40)),
    entry("bob", 0, [ONE], [{"A": answer(89), "B": answer(33)}], times=(41, 60)),
]


def test_pearmut_gives_one_judgement_an_output_and_sets_everything_else_apart(imported, tmp_path):
    ratings, spans, report = imported(in_lines(*LOG), name="camp.en-de.jsonl")
    found = ratings[["annotator", "segment", "system", "score", "started", "ended"]].values.tolist()
    assert found == [
        ["ann", "d_1", "A", 90, 10, 25.5],
        ["ann", "d_1", "B", 40, 10, 25.5],
        ["ann", "d_2", "A", 70, 10, 25.5],
        ["ann", "d_2", "B", 55, 10, 25.5],
        ["bob", "d_1", "A", 89, 41, 60],
        ["bob", "d_1", "B", 33, 41, 60],
    ]
    assert report.excluded == {
        "is a question of a form": 1,
        "is an item of the tutorial": 1,
        "is an attention check": 2,
        "is an annotation that was reset": 2,
        "is the mark of a reset": 1,
        "was replaced by a later submission": 2,
    }
    assert (report.format, report.scale, report.rows_rejected) == ("pearmut", [0, 100], 0)
    assert "1 of 3 checks that Pearmut made" in " ".join(report.notes)
    assert ratings["errors"].tolist() == [0, 1, 2, 1, 0, 0]
    marked = spans[["segment", "system", "severity", "error_type", "start", "end", "text"]].astype(object)
    marked = marked.where(marked.notna(), "-").values.tolist()
    assert marked == [
        ["d_1", "B", "major", "other", 0, 2, "Ei"],
        ["d_2", "A", "minor", "other", 5, 7, "😀"],
        ["d_2", "A", "minor", "omission", "-", "-", "-"],
        ["d_2", "B", "minor", "other", 3, 6, "Zwo"],
    ]
    for path in tmp_path.glob("c.*"):
        assert b"Secret" not in path.read_bytes(), "what a form asks is about a person"


def test_pseudonyms_hide_who_judged(imported, tmp_path):
    ratings, _, _ = imported(in_lines(*LOG), name="camp.en-de.jsonl", keep_names=False, salt="pepper")
    assert not ratings[["annotator", "hit", "segment"]].isin(["ann", "bob"]).any().any()
    for path in tmp_path.glob("c.*"):
        if path.suffix != ".parquet":
            assert not re.search(r"\b(ann|bob)\b", path.read_text(encoding="utf-8-sig")), path.name


def test_a_rejected_output_is_written_with_its_own_cells_and_read_again(imported, tmp_path):
    log = [entry("ann", 0, [ONE, TWO], [{"A": answer(190), "B": answer(40)}, {"A": answer(None), "B": answer(20)}])]
    ratings, _, report = imported(in_lines(*log), name="x.en-de.jsonl")
    assert (ratings["score"].tolist(), report.rows_rejected) == ([40, 20], 2)
    text = (tmp_path / "c.rejected.csv").read_text(encoding="utf-8-sig")
    (tmp_path / "again.csv").write_text(text.replace(",190,", ",19,"), encoding="utf-8")
    again, _, second = imported(tmp_path / "again.csv")
    assert again[["system", "segment", "score", "hypothesis"]].values.tolist() == [["A", "d_1", 19, "Eins."]]
    assert (second.format, second.rows_rejected) == ("pearmut", 1)


def test_the_same_output_on_two_screens_is_a_second_showing(imported):
    log = [
        entry("ann", 0, [ONE], [{"A": answer(80)}], times=(1, 2)),
        entry("ann", 7, [ONE], [{"A": answer(60)}], times=(8, 9)),
    ]
    ratings, _, _ = imported(in_lines(*log), name="x.en-de.jsonl")
    assert ratings[["score", "item_type"]].values.tolist() == [[80, "system"], [60, "repeat"]]


def test_one_name_for_several_texts_names_no_segment(imported):
    other = item("d_1", "Another.", A="Andere.")
    log = [entry("ann", 0, [ONE], [{"A": answer(80)}]), entry("bob", 0, [other], [{"A": answer(60)}])]
    ratings, _, _ = imported(in_lines(*log), name="x.en-de.jsonl")
    assert ratings["segment"].nunique() == 2


def test_items_without_names_are_known_by_their_texts(imported):
    bare = {"src": "One.", "tgt": {"A": "Eins."}}
    log = [
        entry("ann", 0, [bare], [{"A": answer(80)}]),
        entry("bob", 5, [bare], [{"A": answer(60)}]),
        entry("bob", 0, [bare | {"src": "Two."}], [{"A": answer(50)}]),
    ]
    ratings, _, report = imported(in_lines(*log), name="x.en-de.jsonl")
    first, second, third = ratings["segment"]
    assert first == second != third
    assert "one source text is one segment" in report.segments


def test_typed_errors_are_mqm_beside_the_score_that_was_given(imported):
    said = [
        {
            "A": answer(92, span(0, 1, "Minor", "Terminology"), span(2, 3, "major", "Accuracy / Addition")),
            "B": answer(70),
        }
    ]
    ratings, spans, report = imported(in_lines(entry("ann", 0, [ONE], said)), name="x.en-de.jsonl")
    assert ratings.groupby("criterion")["score"].apply(list).to_dict() == {"MQM": [-6, 0], "score": [92, 70]}
    assert spans[["error_type", "severity"]].values.tolist() == [
        ["terminology", "minor"],
        ["accuracy/addition", "major"],
    ]
    assert report.scale is None
    assert "minor 1" in report.weights
    said = [{model: one | {"score": 0} for model, one in said[0].items()}]
    ratings, _, _ = imported(in_lines(entry("ann", 0, [ONE], said)), name="x.en-de.jsonl")
    assert ("criterion" in ratings, ratings["score"].tolist()) == (False, [-6, 0])
    said[0]["A"]["error_spans"][0]["severity"] = "awful"
    ratings, _, report = imported(in_lines(entry("ann", 0, [ONE], said)), name="x.en-de.jsonl")
    assert (ratings["system"].tolist(), report.rows_rejected) == (["B"], 1)
    assert "severity 'awful', no weight (known are" in report.first[0]["reason"]


SLIDERS = [{"name": "Fluency", "min": 0, "max": 5, "step": 1}, {"name": "Adequacy", "min": 0, "max": 100, "step": 1}]


def test_sliders_are_criteria_each_on_its_own_scale(imported, tmp_path):
    said = [
        {
            "A": answer(None, sliders={"Fluency": 3, "Adequacy": 77}),
            "B": answer(None, sliders={"Fluency": 9, "Adequacy": 0}),
        }
    ]
    log = in_lines(entry("ann", 0, [ONE], said))
    ratings, _, report = imported(log, name="data/annotations/x.en-de.jsonl")
    assert ratings.groupby("criterion")["score"].apply(list).to_dict() == {"Fluency": [3, 9], "Adequacy": [77, 0]}
    (tmp_path / "data/campaigns").mkdir()
    campaign = {
        "info": {"protocol": "ESA", "assignment": "task-based", "sliders": SLIDERS},
        "campaign_id": "x",
        "data": {},
    }
    (tmp_path / "data/campaigns/x.en-de.json").write_text(json.dumps(campaign), encoding="utf-8")
    ratings, _, report = imported(log, name="data/annotations/x.en-de.jsonl")
    assert (len(ratings), report.scale) == (3, None)
    assert "is outside 0-5, the ends of its slider" in report.first[0]["reason"]
    assert any("x.en-de.json beside it was read, too" in note for note in report.notes)


def test_the_log_of_an_early_version_takes_its_items_from_the_campaign(imported, tmp_path):
    log = [
        {"user_id": user, "item_i": 0, "annotation": {"A": answer(score), "B": answer(50)}, "actions": []}
        for user, score in (("ann", 80), ("bob", 60))
    ]
    ratings, _, report = imported(in_lines(*log), name="data/outputs/x.en-de.jsonl")
    assert ratings["segment"].nunique() == 2, "a position in one's own task is no segment"
    assert "--map segment=item_i" in report.segments
    shared, _, _ = imported(in_lines(*log), name="data/outputs/x.en-de.jsonl", columns={"segment": "item_i"})
    assert set(shared["segment"]) == {"0"}
    (tmp_path / "data/tasks").mkdir()
    campaign = {"info": {"assignment": "task-based"}, "data": {"ann": [[ONE]], "bob": [[ONE]]}}
    (tmp_path / "data/tasks/x.en-de.json").write_text(json.dumps(campaign), encoding="utf-8")
    ratings, _, report = imported(tmp_path / "data")
    assert (set(ratings["segment"]), set(ratings["hypothesis"]), report.segments) == ({"d_1"}, {"Eins.", "Ein."}, "")


def test_the_strangers_pearmut(imported, mirrored):
    path = mirrored("../strangers/pearmut_esa.jsonl")
    ratings, spans, report = imported(path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    expected = [[one["user_id"], system, said["score"]] for one in lines for system, said in one["annotation"].items()]
    assert ratings[["annotator", "system", "score"]].values.tolist() == expected
    assert spans[["system", "severity", "start", "end"]].values.tolist() == [["GPT-4", "minor", 11, 17]]
    assert ratings["started"].tolist()[:2] == [1705680000, 1705680000]
    assert (report.rows_kept, report.scale) == (6, [0, 100])


def test_contrastive_esa_of_the_mirror(imported, mirrored):
    """Of 105 screens, 175 shown segments give 288 judgements; means are those of the plain JSON."""
    folder = mirrored("zouharvi/cESA/*/api/main_cESA_phase1_v2_enja")
    scores, errors, tutorial, texts = {}, 0, 0, {}
    for path in folder.glob("*.json"):
        screen = json.loads(path.read_text(encoding="utf-8"))
        for shown, said in zip(screen["payload"], screen["payload_existing"]["annotation"], strict=True):
            if "tutorial" in shown["item_id"]:
                tutorial += len(said)
                continue
            for system, one in said.items():
                key = (system.rstrip("'"), "repeat" if system.endswith("'") else "first")
                scores.setdefault(key, []).append(one["score"])
                texts.setdefault((shown["item_id"], key[0]), set()).add(shown["tgt"][system])
                errors += len(one["error_spans"])
    assert all(len(found) == 1 for found in texts.values()), "an output that is shown again is the same to the letter"
    ratings, spans, report = imported(folder)
    assert (report.rows_kept, report.excluded) == (288, {"is an item of the tutorial": tutorial})
    kinds = ratings["item_type"].where(ratings["item_type"].eq("repeat"), "first")
    means = ratings.groupby([ratings["system"], kinds])["score"].mean().to_dict()
    assert means == pytest.approx({key: sum(found) / len(found) for key, found in scores.items()}, rel=1e-12)
    assert ratings.groupby([ratings["system"], kinds]).size().to_dict() == {
        key: len(one) for key, one in scores.items()
    }
    assert len(spans) == errors == ratings["errors"].sum()
    assert set(ratings["src_lang"] + ratings["tgt_lang"]) == {"engjpn"}
    assert set(ratings.loc[ratings["system"].eq("refA"), "item_type"]) == {"reference", "repeat"}
    assert ratings["annotator"].nunique() == 2
    assert not ratings["segment"].str.contains("dup").any()
    placed = spans.dropna(subset=["start", "text"])
    whole = ratings.drop_duplicates(["system", "doc", "segment"]).set_index(["system", "doc", "segment"])["hypothesis"]
    for one in placed.itertuples():
        assert whole[one.system, one.doc, one.segment][int(one.start) : int(one.end)] == one.text


def test_a_single_screen_is_refused_with_the_remedy(imported, tmp_path):
    folder = tmp_path / "site.en-de"
    folder.mkdir()
    for place in range(2):
        screen = {
            "status": "ok",
            "info": {"item_i": place, "protocol": "ESA"},
            "payload": [ONE],
            "payload_existing": {"annotation": [{"A": answer(10 * place)}]},
        }
        (folder / f"{place}.json").write_text(json.dumps(screen), encoding="utf-8")
    with pytest.raises(DataError, match=r"Import its folder: evalkit import site\.en-de"):
        imported(folder / "0.json")
    ratings, _, report = imported(folder)
    assert ratings["score"].tolist() == [0, 10]
    assert ratings["hit"].nunique() == 2
    assert any("screens do not say who judged" in note for note in report.notes)


# Label Studio


def region(start, end, *labels, to="target", name="label", **more):
    value = {"start": start, "end": end, "text": "x", "labels": list(labels)}
    return {"value": value, "from_name": name, "to_name": to, "type": "labels", "id": f"r{start}"} | more


def rated(value, kind="rating", name="quality"):
    return {"value": {kind: value}, "from_name": name, "to_name": "target", "type": kind, "id": f"{name}-1"}


def task(number, system, *annotations, **more):
    fields = {"system": system, "segment": number, "source": f"Source {number}", "target": "Ein Haus am See"} | more
    return {"id": 100 + number, "data": fields, "annotations": list(annotations), "predictions": [], "project": 1}


def by(person, *results, **more):
    return {
        "id": 1,
        "completed_by": person,
        "result": list(results),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-09T22:16:08Z",
        "lead_time": 8.0,
    } | more


def test_ratings_of_label_studio_with_marked_errors_are_esa(imported):
    tasks = [
        task(1, "A", by({"id": 3, "email": "ann@x"}, rated("4"), region(0, 3, "Major")), by(7, rated(3))),
        task(2, "A", by(7, rated(5)), by(8, was_cancelled=True), by(9, rated(1), ground_truth=True)),
    ]
    ratings, spans, report = imported(tasks, name="project-1-at-2026.json")
    assert ratings[["segment", "annotator", "score"]].values.tolist() == [
        ["1", "ann@x", 4],
        ["1", "7", 3],
        ["2", "7", 5],
    ]
    assert ratings["ended"].tolist() == [1773094568.0] * 3
    assert (ratings["ended"] - ratings["started"]).tolist() == [8, 8, 8]
    assert report.excluded == {
        "is a task that was skipped": 1,
        "is an answer that others are held against (ground truth)": 1,
    }
    marked = spans[["segment", "annotator", "severity", "error_type", "start", "end", "text"]].values.tolist()
    assert marked == [["1", "ann@x", "major", "other", 0, 3, "Ein"]]
    assert (report.format, report.scale, ratings["errors"].tolist()) == ("label-studio", None, [1, 0, 0])


def test_labels_of_label_studio_are_mqm(imported):
    severity = {
        "value": {"choices": ["Minor"]},
        "from_name": "severity",
        "to_name": "target",
        "type": "choices",
        "id": "r4",
    }
    tasks = [
        task(1, "A", by(1, region(0, 3, "Accuracy/Omission - major"), region(4, 8, "Fluency"), severity)),
        task(1, "B", by(1)),
        task(2, "A", by(1, region(0, 3, "Fluency"))),
    ]
    ratings, spans, report = imported(tasks)
    assert ratings[["system", "score"]].values.tolist() == [["A", -6], ["B", 0]]
    assert spans[["error_type", "severity"]].values.tolist() == [["accuracy/omission", "major"], ["fluency", "minor"]]
    assert "has an error without a severity" in report.first[0]["reason"]
    assert "Freitag" in report.weights
    assert imported(tasks, weights="minor=2,major=7")[0]["score"].tolist() == [-9, 0]


def test_several_ratings_of_label_studio_are_criteria_and_words_are_mapped(imported):
    tasks = [task(1, "A", by(1, rated(4, name="fluency"), rated(["Good"], "choices", "adequacy")))]
    _, _, report = imported(tasks)
    assert report.rows_rejected == 1
    ratings, _, report = imported(tasks, words={"good": 4.5})
    assert ratings.groupby("criterion")["score"].first().to_dict() == {"adequacy": 4.5, "fluency": 4}


def test_label_studio_tasks_without_a_segment_are_known_by_their_source(imported):
    tasks = [task(number, system, by(1, rated(4))) for number, system in ((1, "A"), (1, "B"), (2, "A"))]
    for one in tasks:
        del one["data"]["segment"]
    ratings, _, report = imported(tasks)
    first, second, third = ratings["segment"]
    assert first == second != third
    assert "one source text is one segment" in report.segments


SHORT = {
    "id": 5,
    "system": "A",
    "segment": "1",
    "source": "S",
    "target": "Ein Haus",
    "annotator": 2,
    "annotation_id": 9,
    "created_at": "2026-03-09T22:16:08Z",
    "updated_at": "2026-03-09T22:16:09Z",
    "lead_time": 4,
}
MARKED = {"label": [{"start": 0, "end": 3, "text": "Ein", "labels": ["Minor"]}]}


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_the_short_export_of_label_studio_says_the_same(imported, kind, tmp_path):
    rows = [
        SHORT | MARKED | {"quality": [{"rating": 4}]},
        SHORT | {"segment": "2", "quality": [{"rating": 2}], "label": ""},
    ]
    name = f"project.{kind}"
    if kind == "csv":
        cells = [
            [one[key] if isinstance(one[key], str | int) else json.dumps(one[key]) for key in rows[0]] for one in rows
        ]
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([list(rows[0]), *cells])
    else:
        (tmp_path / name).write_text(json.dumps(rows), encoding="utf-8")
    ratings, spans, report = imported(tmp_path / name)
    assert ratings[["system", "segment", "annotator", "score"]].values.tolist() == [
        ["A", "1", "2", 4],
        ["A", "2", "2", 2],
    ]
    assert spans[["severity", "start", "end", "text"]].values.tolist() == [["minor", 0, 3, "Ein"]]
    assert (report.format, report.rows_rejected) == ("label-studio", 0)


def test_a_short_table_without_errors_is_a_table(imported):
    header = "annotation_id,annotator,created_at,id,lead_time,rating,segment,system"
    ratings, _, report = imported(f"{header}\n1,7,2026-03-09T22:16:08Z,1,3,4,1,A\n", name="x.csv")
    assert (report.format, ratings["score"].tolist()) == ("csv", [4])


def pair(person, selected=None, **more):
    chosen = {"value": {"selected": selected}, "from_name": "pw", "to_name": "t1,t2", "type": "pairwise", "id": "p"}
    return by(person, *([chosen] if selected else []), **more)


def test_comparisons_of_label_studio_are_preferences(imported, tmp_path):
    fields = {"system_a": "A", "system_b": "B", "source": "S"}
    tasks = [
        {"id": 1, "data": fields, "annotations": [pair(3, "left"), pair(4, was_cancelled=True), pair(5, "right")]},
        {"id": 2, "data": fields | {"source": "T"}, "annotations": [pair(3, "right")]},
    ]
    ratings, _, report = imported(tasks)
    assert (report.format, ratings["segment"].nunique()) == ("preferences", 2)
    found = ratings[["annotator", "system", "against", "score"]].values.tolist()
    assert found == [
        ["3", "A", "B", 1],
        ["3", "B", "A", 0],
        ["5", "A", "B", 0],
        ["5", "B", "A", 1],
        ["3", "A", "B", 0],
        ["3", "B", "A", 1],
    ]
    assert [row["annotator"] for row in rejected_in(tmp_path / "c.rejected.csv")] == ["4"], "what was skipped is told"


# Doccano and Prodigy


@pytest.mark.parametrize("shape", ["label", "labels", "entities", "data"])
def test_labels_of_doccano_are_errors(imported, shape):
    labels = [[0, 3, "MAJOR"], [4, 8, "Fluency-minor"]]
    if shape == "entities":
        labels = [{"id": n, "start_offset": a, "end_offset": b, "label": name} for n, (a, b, name) in enumerate(labels)]
    text, name = ("data" if shape == "data" else "text"), ("label" if shape == "data" else shape)
    objects = [
        {"id": n, text: "Ein Haus", name: one, "system": "A", "segment": n, "Comments": []}
        for n, one in enumerate((labels, []))
    ]
    with pytest.raises(DataError, match=r"no column for annotator.*--value annotator=TEXT"):
        imported(in_lines(*objects), name="all.jsonl")
    ratings, spans, report = imported(in_lines(*objects), name="all.jsonl", values={"annotator": "Ann"})
    assert ratings["score"].tolist() == [-6, 0]
    assert spans[["severity", "error_type", "start", "end", "text"]].values.tolist() == [
        ["major", "unstated", 0, 3, "Ein"],
        ["minor", "fluency", 4, 8, "Haus"],
    ]
    assert report.format == "doccano"


def test_early_exports_of_doccano_name_their_users(imported):
    one = {
        "id": 1,
        "text": "Ein Haus",
        "meta": {"system": "A", "segment": 4},
        "annotations": [
            {"label": "minor", "start_offset": 0, "end_offset": 3, "user": 1},
            {"label": "major", "start_offset": 0, "end_offset": 3, "user": 2},
        ],
    }
    ratings, _, _ = imported(in_lines(one), name="x.jsonl")
    assert ratings[["annotator", "system", "segment", "score"]].values.tolist() == [
        ["1", "A", "4", -1],
        ["2", "A", "4", -5],
    ]


def prodigy(answer="accept", **more):
    return {
        "text": "Ein Haus",
        "meta": {"system": "A", "segment": 1},
        "_input_hash": 1,
        "_task_hash": 2,
        "answer": answer,
        "_timestamp": 1700000000,
        "_annotator_id": "db-ann",
        "_session_id": "db-ann",
    } | more


def test_spans_of_prodigy_are_errors(imported):
    spans = [{"start": 0, "end": 3, "label": "MINOR", "token_start": 0}, {"start": 4, "end": 8, "label": "MAJOR"}]
    objects = [prodigy(spans=spans), prodigy("ignore", spans=[]), prodigy(spans=[], _annotator_id="db-bob")]
    ratings, marked, report = imported(in_lines(*objects), name="x.jsonl")
    assert ratings[["annotator", "score", "ended"]].values.tolist() == [["db-ann", -6, 17e8], ["db-bob", 0, 17e8]]
    assert report.excluded == {"is a task that was skipped": 1}
    assert marked["text"].tolist() == ["Ein", "Haus"]


def test_choices_of_prodigy_are_scores(imported):
    objects = [
        prodigy(options=[{"id": n} for n in range(1, 6)], accept=[score], meta={"system": "A", "segment": score})
        for score in (4, 5)
    ]
    ratings, spans, _ = imported(in_lines(*objects), name="x.jsonl")
    assert (ratings["score"].tolist(), spans) == ([4, 5], None)


def test_an_error_without_a_place_takes_its_judgement_with_it(imported):
    for start, end in ((3, 1), (-1, 2), ("a", 2)):
        objects = [
            prodigy(spans=[{"start": start, "end": end, "label": "MINOR"}]),
            prodigy(spans=[], _annotator_id="b"),
        ]
        ratings, _, report = imported(in_lines(*objects), name="x.jsonl")
        assert ratings["annotator"].tolist() == ["b"]
        assert "whose place is no whole number" in report.first[0]["reason"]


# Attacks


ODD = [
    None,
    True,
    "",
    "x",
    -1,
    2.5,
    1e400,
    [],
    {},
    ["a"],
    {"a": 1},
    [[1, 2, 3]],
    "\u2028<script>",
    10**30,
    [None],
    [{}],
]
SEEDS = {
    "pearmut.en-de.jsonl": LOG,
    "tasks.json": [
        task(1, "A", by(1, rated(4), region(0, 3, "Major"), rated(["Good"], "choices", "c")), by(2)),
        task(2, "A", by(1, rated(4), region(0, 3, "Minor"))),
    ],
    "short.json": [SHORT | MARKED | {"quality": [{"rating": 4}]}, SHORT | {"segment": "2", "quality": [{"rating": 2}]}],
    "doccano.jsonl": [
        {"id": n, "text": "Haus", "label": [[0, 3, "MAJOR"]], "system": "A", "segment": n, "user": "u"}
        for n in range(2)
    ],
    "prodigy.jsonl": [prodigy(spans=[{"start": 0, "end": 3, "label": "MINOR"}]), prodigy(spans=[], _annotator_id="b")],
    "nested.jsonl": [
        {"rater": {"id": "Ann"}, "item": {"system": "A", "segment": n, "lp": "en-de"}, "score": 80 + n}
        for n in range(3)
    ],
}


def places(value, path=()):
    """List where something stands within nested values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*path, key) for key, _ in inner] + [place for key, one in inner for place in places(one, (*path, key))]


def mutated(objects, draw):
    """Put something odd in the place of something, or take it away."""
    objects = json.loads(json.dumps(objects))
    for _ in range(draw.randint(1, 3)):
        where = places(objects)
        *path, last = draw.choice(where)
        parent = objects
        for key in path:
            parent = parent[key]
        if draw.random() < 0.25:
            del parent[last]
        else:
            parent[last] = draw.choice(ODD)
        if not objects:
            break
    return objects


@pytest.mark.parametrize("name", SEEDS)
def test_whatever_a_tool_writes_is_read_or_refused_in_a_sentence(imported, name):
    draw, read = random.Random(name), 0
    for _ in range(60):
        objects = mutated(SEEDS[name], draw)
        text = in_lines(*objects) if name.endswith("l") else json.dumps(objects)
        with contextlib.suppress(DataError):  # anything else is a traceback
            ratings, _, _ = imported(text, name=name)
            read += 1
            assert ratings["score"].between(-1e15, 1e15).all()
    assert read > 5, "most of a file survives"
