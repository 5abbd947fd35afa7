"""JSON in its shapes, and what annotation tools export: one judgement an output, everything else told and counted."""

import json
import re
from pathlib import Path

import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing import columns, jsonl


@pytest.fixture(autouse=True)
def own_salt(tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them."""
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))


@pytest.fixture
def imported(tmp_path):
    """Import a path, or content that is written first; return ratings, spans and report, every row accounted for."""

    def run(content, name="my.json", **options):
        path = content if isinstance(content, Path) else tmp_path / name
        if not isinstance(content, Path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        report, _ = importing.import_campaign([path], tmp_path / "c.parquet", **({"keep_names": True} | options))
        assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
        return *data.open_campaign(tmp_path / "c.parquet"), report

    return run


def in_lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


# JSON


def judged(system="A", segment=1, annotator="Ann", score=80, **more):
    return {"lp": "en-de", "system": system, "segment": segment, "annotator": annotator, "score": score} | more


ROWS = [judged(), judged("B", score=60.5), judged(segment=2, score=70)]


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"annotations": rows},
                                  lambda rows: {"version": "1", "n": 3, "rows": rows}])  # fmt: skip
@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_is_read_wherever_it_stands(imported, wrap, indent):
    ratings, _, report = imported(json.dumps(wrap(ROWS), indent=indent))
    assert ratings[["system", "segment", "score"]].values.tolist() == [["A", "1", 80], ["B", "1", 60.5], ["A", "2", 70]]
    assert report.format == "csv"
    assert any("what is called a line is the number of an object" in note for note in report.notes)


def test_objects_within_objects_have_dotted_names(imported):
    nested = [{"rater": {"id": row["annotator"]}, "item": {"system": {"name": row["system"]}, "segment": row["segment"],
               "lp": row["lp"]}, "judgement": {"score": row["score"], "z.score": 0.5}} for row in ROWS]  # fmt: skip
    ratings, _, report = imported(in_lines(*nested), name="my.jsonl")
    assert ratings[["system", "segment", "annotator", "score"]].values.tolist() == [
        ["A", "1", "Ann", 80], ["B", "1", "Ann", 60.5], ["A", "2", "Ann", 70]]  # fmt: skip
    assert report.mapping["system"] == {"theirs": "item.system.name", "how": "synonym"}
    assert report.unused == ["judgement.z.score"]


def test_dotted_names_can_be_mapped(imported):
    odd = [{"who": {"x": row["annotator"]}, "what": {"mt": row["system"], "no": row["segment"]}, "points": row["score"],
            "lp": "en-de"} for row in ROWS]  # fmt: skip
    with pytest.raises(DataError, match=r"its objects have the names who\.x, what\.mt, what\.no, points, lp"):
        imported(in_lines(*odd), name="my.jsonl")
    mapped = {"annotator": "who.x", "system": "what.mt", "segment": "what.no", "score": "points"}
    assert imported(in_lines(*odd), name="my.jsonl", columns=mapped)[0]["score"].tolist() == [80, 60.5, 70]


def test_several_arrays_are_sheets(imported):
    content = {"en-de": [row | {"lp": ""} for row in ROWS], "en-cs": [judged("C") | {"lp": ""}]}
    content = {pair: [{name: cell for name, cell in row.items() if name != "lp"} for row in rows]
               for pair, rows in content.items()}  # fmt: skip
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
        ("[]", "no JSON object in it"), ("{}", "none of the formats"), ('[{"a": 1},', "is no JSON object"),
        ("[1, 2]", "no JSON object in it"), ('{"a": 1, "a": 2}', "a name stands twice"), ("5", "no JSON object"),
        ('{"a": [', "is no JSON object"), ("[" * 100_000 + "]" * 100_000, "is no JSON object|no JSON object in it"),
    ],
)  # fmt: skip
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
    expected = [[one["system"], one["doc"], str(one["segment"]), one.get("annotator", one.get("id")), one["score"]]
                for one in flat]  # fmt: skip
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
    entry("ann", 0, [ONE, TWO], [{"A": answer(90), "B": answer(40, span(0, 1, "major"))},
                                 {"A": answer(70, span(5, 6), span(10, 10)), "B": answer(55, span(3, 5))}]),
    entry("ann", "random_0", [CHECK], [{"A": answer(5)}], validations=[True]),
    entry("ann", 1, [CHECK], [{"A": answer(50)}], validations=[False]),
    entry("bob", 0, [ONE], [{"A": answer(1), "B": answer(2)}]),
    {"user_id": "bob", "annotation": "__RESET__", "item_i": 0},
    entry("bob", 0, [ONE], [{"A": answer(88), "B": answer(None)}], times=(30, 40)),
    entry("bob", 0, [ONE], [{"A": answer(89), "B": answer(33)}], times=(41, 60)),
]  # fmt: skip


def test_pearmut_gives_one_judgement_an_output_and_sets_everything_else_apart(imported, tmp_path):
    ratings, spans, report = imported(in_lines(*LOG), name="camp.en-de.jsonl")
    found = ratings[["annotator", "segment", "system", "score", "started", "ended"]].values.tolist()
    assert found == [
        ["ann", "d_1", "A", 90, 10, 25.5], ["ann", "d_1", "B", 40, 10, 25.5], ["ann", "d_2", "A", 70, 10, 25.5],
        ["ann", "d_2", "B", 55, 10, 25.5], ["bob", "d_1", "A", 89, 41, 60], ["bob", "d_1", "B", 33, 41, 60],
    ]  # fmt: skip
    assert report.excluded == {
        "is a question of a form": 1, "is an item of the tutorial": 1, "is an attention check": 2,
        "is an annotation that was reset": 2, "is the mark of a reset": 1, "was replaced by a later submission": 2,
    }  # fmt: skip
    assert (report.format, report.scale, report.rows_rejected) == ("pearmut", [0, 100], 0)
    assert "1 of 3 checks that Pearmut made" in " ".join(report.notes)
    assert ratings["errors"].tolist() == [0, 1, 2, 1, 0, 0]
    marked = spans[["segment", "system", "severity", "error_type", "start", "end", "text"]].astype(object)
    marked = marked.where(marked.notna(), "-").values.tolist()
    assert marked == [
        ["d_1", "B", "major", "unstated", 0, 2, "Ei"], ["d_2", "A", "minor", "unstated", 5, 7, "😀"],
        ["d_2", "A", "minor", "omission", "-", "-", "-"], ["d_2", "B", "minor", "unstated", 3, 6, "Zwo"],
    ]  # fmt: skip
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
    log = [entry("ann", 0, [bare], [{"A": answer(80)}]), entry("bob", 5, [bare], [{"A": answer(60)}]),
           entry("bob", 0, [bare | {"src": "Two."}], [{"A": answer(50)}])]  # fmt: skip
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
    assert "severity 'awful', which has no weight" in report.first[0]["reason"]


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
    log = [{"user_id": user, "item_i": 0, "annotation": {"A": answer(score), "B": answer(50)}, "actions": []}
           for user, score in (("ann", 80), ("bob", 60))]  # fmt: skip
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
        screen = {"status": "ok", "info": {"item_i": place, "protocol": "ESA"}, "payload": [ONE],
                  "payload_existing": {"annotation": [{"A": answer(10 * place)}]}}  # fmt: skip
        (folder / f"{place}.json").write_text(json.dumps(screen), encoding="utf-8")
    with pytest.raises(DataError, match=r"Import its folder: evalkit import site\.en-de"):
        imported(folder / "0.json")
    ratings, _, report = imported(folder)
    assert ratings["score"].tolist() == [0, 10]
    assert ratings["hit"].nunique() == 2
    assert any("screens do not say who judged" in note for note in report.notes)
