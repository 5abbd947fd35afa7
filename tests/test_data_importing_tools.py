"""What annotation tools and forms export: one judgement an output, everything else told and counted."""

import itertools
import json
import re
from itertools import product

import numpy as np
import pytest

from evalkit import DataError
from tests.makers import followed, in_lines, in_rows, means, rejected_rows


@pytest.fixture
def exported(imported):
    """Name what is written as JSON is named."""
    return lambda content, name="my.json", **options: imported(content, name, **options)


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
SCREEN = [
    {"A": answer(90), "B": answer(40, span(0, 1, "major"))},
    {"A": answer(70, span(5, 6), span(10, 10)), "B": answer(55, span(3, 5))},
]
LOG = [
    entry("ann", "welcome_0", [FORM], ["Ann Secret"], times=(1.0, 2.0)),
    entry("ann", "welcome_1", [TUTORIAL], [{"A": answer(None)}], validations=[False]),
    entry("ann", 0, [ONE, TWO], SCREEN),
    entry("ann", "random_0", [CHECK], [{"A": answer(5)}], validations=[True]),
    entry("ann", 1, [CHECK], [{"A": answer(50)}], validations=[False]),
    entry("bob", 0, [ONE], [{"A": answer(1), "B": answer(2)}]),
    {"user_id": "bob", "annotation": "__RESET__", "item_i": 0},
    entry("bob", 0, [ONE], [{"A": answer(88), "B": answer(None)}], times=(30, 40)),
    entry("bob", 0, [ONE], [{"A": answer(89), "B": answer(33)}], times=(41, 60)),
]


def test_pearmut_gives_one_judgement_an_output_and_sets_everything_else_apart(exported, tmp_path):
    ratings, spans, report = exported(in_lines(*LOG), "camp.en-de.jsonl")
    assert ratings[["annotator", "segment", "system", "score", "started", "ended"]].values.tolist() == [
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
    assert ratings["errors"].tolist() == [0, 1, 2, 1, 0, 0]
    marked = spans[["segment", "system", "severity", "error_type", "start", "end", "text"]].astype(object)
    assert marked.where(marked.notna(), "-").values.tolist() == [
        ["d_1", "B", "major", "other", 0, 2, "Ei"],
        ["d_2", "A", "minor", "other", 5, 7, "😀"],
        ["d_2", "A", "minor", "omission", "-", "-", "-"],
        ["d_2", "B", "minor", "other", 3, 6, "Zwo"],
    ]
    assert not any(b"Secret" in path.read_bytes() for path in tmp_path.glob("c.*")), "what a form asks is of a person"
    hidden, _, _ = exported(in_lines(*LOG), "camp.en-de.jsonl", keep_names=False)
    written = hidden.to_csv() + (tmp_path / "c.import.json").read_text() + (tmp_path / "c.rejected.csv").read_text()
    assert not re.search(r"\b(ann|bob)\b", written)


BARE = {"src": "One.", "tgt": {"A": "Eins."}}
SHOWN = {  # log -> segments by number, and kinds of items
    "on two screens": ([("ann", 0, ONE), ("ann", 7, ONE)], [0, 0], ["system", "repeat"]),
    "one name, several texts": ([("ann", 0, ONE), ("bob", 0, item("d_1", "Another.", A="Andere."))], [0, 1], None),
    "no names": ([("ann", 0, BARE), ("bob", 5, BARE), ("bob", 0, BARE | {"src": "Two."})], [0, 0, 1], None),
}


@pytest.mark.parametrize("name", SHOWN)
def test_segments_are_known_by_their_names_and_texts(name, exported):
    shown, segments, kinds = SHOWN[name]
    log = [entry(who, n, [one], [{"A": answer(80)}], times=(n, n + 1)) for who, n, one in shown]
    ratings, _, _ = exported(in_lines(*log), "x.en-de.jsonl")
    assert ratings["segment"].factorize()[0].tolist() == segments
    assert ratings["item_type"].tolist() == (kinds or ["system"] * len(shown))


def test_typed_errors_are_mqm_beside_the_score_that_was_given(exported):
    spans = [span(0, 1, "Minor", "Terminology"), span(2, 3, "major", "Accuracy / Addition")]
    said = [{"A": answer(92, *spans), "B": answer(70)}]
    ratings, marked, report = exported(in_lines(entry("ann", 0, [ONE], said)), "x.en-de.jsonl")
    assert ratings.groupby("criterion")["score"].apply(list).to_dict() == {"MQM": [-6, 0], "score": [92, 70]}
    assert marked["error_type"].tolist() == ["terminology", "accuracy/addition"]
    assert (report.scale, "minor 1" in report.weights) == (None, True)
    said = [{model: one | {"score": 0} for model, one in said[0].items()}]
    ratings, _, _ = exported(in_lines(entry("ann", 0, [ONE], said)), "x.en-de.jsonl")
    assert ("criterion" in ratings, ratings["score"].tolist()) == (False, [-6, 0])
    said[0]["A"]["error_spans"][0]["severity"] = "awful"
    ratings, _, report = exported(in_lines(entry("ann", 0, [ONE], said)), "x.en-de.jsonl")
    assert (ratings["system"].tolist(), report.rows_rejected) == (["B"], 1)


def test_sliders_are_criteria_each_on_its_own_scale(exported, tmp_path):
    told = [{"Fluency": 3, "Adequacy": 77}, {"Fluency": 9, "Adequacy": 0}]
    said = [{name: answer(None, sliders=sliders) for name, sliders in zip("AB", told)}]
    log = in_lines(entry("ann", 0, [ONE], said))
    ratings, _, _ = exported(log, "data/annotations/x.en-de.jsonl")
    assert ratings.groupby("criterion")["score"].apply(list).to_dict() == {"Fluency": [3, 9], "Adequacy": [77, 0]}
    (tmp_path / "data/campaigns").mkdir()
    sliders = [{"name": name, "min": 0, "max": top, "step": 1} for name, top in (("Fluency", 5), ("Adequacy", 100))]
    info = {"protocol": "ESA", "assignment": "task-based", "sliders": sliders}
    campaign = json.dumps({"info": info, "campaign_id": "x", "data": {}})
    (tmp_path / "data/campaigns/x.en-de.json").write_text(campaign, encoding="utf-8")
    ratings, _, report = exported(log, "data/annotations/x.en-de.jsonl")
    assert (len(ratings), report.scale) == (3, None)
    assert "outside 0-5" in report.first[0]["reason"]


# Label Studio: four segments, three systems, two annotators

PENALTY, SCORE = {"A": 0, "B": -1, "C": -6}, {"A": 90, "B": 70, "C": 40}


def said(kind, value, name="quality", region="", to="translation"):
    return {"id": region or "whole", "from_name": name, "to_name": to, "type": kind, "value": value}


def by(person, *results, **more):
    about = {"was_cancelled": False, "ground_truth": False, "created_at": "2026-03-09T22:16:08Z", "lead_time": 8.0}
    return {"id": 1, "completed_by": person, "result": list(results)} | about | more


def task(number, data, *annotations):
    return {"id": 100 + number, "data": data, "annotations": list(annotations), "drafts": [], "project": 1}


def tasks(results, data=None):
    """Write Label Studio's JSON; results: of a system's translation."""
    made = []
    for number, (n, system) in enumerate((n, name) for n in range(4) for name in "ABC"):
        own = data(n, system) if data else {"system": system, "segment_id": n}
        own |= {"source": f"Source {n}", "translation": f"{n} {system}"}
        annotations = [by(person, *results(system), id=10 * number + person) for person in (1, 2)]
        made.append(task(number, own, *annotations) | {"predictions": [{"result": results("A")}]})
    return made


def marked(system, *, labels=("Fluency/Grammar", "Accuracy"), more=("choices", "severity", ["Minor"], ["Major"])):
    """Errors of a translation: B a minor one, C a major one besides; what the second control says has their places."""
    found = []
    for n in range("ABC".index(system)):
        found += [said("labels", {"start": n, "end": n + 2, "text": "x", "labels": [labels[n]]}, "label", f"r{n}")]
        if more:
            place = {"start": n, "end": n + 2, "text": "x"}
            found += [said(more[0], place | {more[0]: more[2 + n]}, more[1], f"r{n}")]
    return found


TAXONOMY = ("taxonomy", "category", [["Fluency", "Grammar"]], [["Accuracy", "Omission"]])
WORDS, STEPS = {"A": "Excellent", "B": "Good", "C": "Fair"}, {"A": 5, "B": 4, "C": 3}
STUDIO = {  # what is said of a translation, and the means that it comes to
    "severity of a region": (marked, PENALTY),
    "taxonomy of a region": (lambda system: marked(system, labels=("Minor", "Major"), more=TAXONOMY), PENALTY),
    "both in one": (lambda system: marked(system, labels=("Minor: Grammar", "Accuracy - Major"), more=()), PENALTY),
    "number": (lambda system: [said("number", {"number": SCORE[system]})], SCORE),
    "number as text": (lambda system: [said("textarea", {"text": [str(SCORE[system])]}, "score")], SCORE),
    "words": (lambda system: [said("choices", {"choices": [WORDS[system]]})], STEPS),
    "words in a tree": (lambda system: [said("taxonomy", {"taxonomy": [[WORDS[system]]]})], STEPS),
}


@pytest.mark.parametrize("kind", STUDIO)
def test_label_studio_as_it_is_written(kind, exported):
    results, right = STUDIO[kind]
    ratings, _, _ = exported(tasks(results))
    assert (means(ratings), len(ratings), ratings["annotator"].nunique()) == (right, 24, 2)


@pytest.mark.parametrize(
    ("kind", "ending"),
    [
        *[("severity of a region", "json"), ("severity of a region", "csv"), ("number", "json")],
        *[("words", "csv"), ("taxonomy of a region", "json"), ("taxonomy of a region", "csv")],
    ],
)
def test_label_studios_short_exports_say_the_same(kind, ending, exported):
    results, right = STUDIO[kind]
    rows = []
    judged = [(one, annotation) for one in tasks(results) for annotation in one["annotations"]]
    for shown, annotation in judged:
        values = {"comment": f"Remark {len(rows)}."}
        for result in annotation["result"]:
            value, name = result["value"], result["from_name"]
            if "start" in value:
                values.setdefault(name, []).append(value)
            else:
                [cell] = value.values()
                values[name] = cell[0] if isinstance(cell, list) and isinstance(cell[0], str) else cell
        about = {"annotator": annotation["completed_by"], "annotation_id": annotation["id"], "lead_time": 3.2}
        rows.append(shown["data"] | {"id": shown["id"], "created_at": annotation["created_at"]} | values | about)
    names = [*dict.fromkeys(name for row in reversed(rows) for name in row)]
    cells = [[row.get(name, "") for name in names] for row in rows]
    cells = [[json.dumps(cell) if isinstance(cell, list) else cell for cell in row] for row in cells]
    ratings, spans, report = exported(rows if ending == "json" else in_rows(names, *cells), f"export.{ending}")
    assert (means(ratings), report.rows_rejected) == (right, 0)
    if kind == "severity of a region":
        assert {*zip(spans["severity"], spans["start"], spans["end"])} == {("minor", 0, 2), ("major", 1, 3)}


def test_what_a_refusal_suggests_works(tmp_path, monkeypatch, own_salt):
    monkeypatch.chdir(tmp_path)
    named_otherwise = tasks(marked, lambda n, name: {"origin": name})
    assert means(followed("e.json", named_otherwise, {"HEADING": "origin"})) == PENALTY
    unknown = tasks(lambda system: marked(system, more=("choices", "severity", ["Minor"], ["Serious"])))
    assert means(followed("e.json", unknown, {})) == {"A": 0, "B": -1, "C": -2}


def region(start, end, *labels):
    value = {"start": start, "end": end, "text": "x", "labels": list(labels)}
    return said("labels", value, "label", f"r{start}", "target")


def rated(value, kind="rating", name="quality"):
    return said(kind, {kind: value}, name, to="target")


def of(system, number, **more):
    return {"system": system, "segment": number, "source": f"Source {number}", "target": "Ein Haus am See"} | more


def test_ratings_of_label_studio_with_marked_errors_are_esa(exported):
    ann = by({"id": 3, "email": "ann@x"}, rated("4"), region(0, 3, "Major"))
    two = [by(7, rated(5)), by(8, was_cancelled=True), by(9, rated(1), ground_truth=True)]
    ratings, spans, report = exported([task(1, of("A", 1), ann, by(7, rated(3))), task(2, of("A", 2), *two)])
    found = ratings[["segment", "annotator", "score", "errors"]].values.tolist()
    assert found == [["1", "ann@x", 4, 1], ["1", "7", 3, 0], ["2", "7", 5, 0]]
    assert ratings["ended"].tolist() == [1773094568.0] * 3
    assert (ratings["ended"] - ratings["started"]).tolist() == [8, 8, 8]
    assert [*report.excluded.values()] == [1, 1], "what was skipped, and what others are held against"
    found = spans[["segment", "annotator", "severity", "error_type", "start", "end", "text"]].values.tolist()
    assert found == [["1", "ann@x", "major", "other", 0, 3, "Ein"]]
    assert (report.format, report.scale) == ("label-studio", None)


def test_labels_of_label_studio_are_mqm(exported):
    first = by(1, region(0, 3, "Accuracy/Omission - major"), region(4, 8, "Non-translation"))
    made = [(of("A", 1), first), (of("B", 1), by(1)), (of("A", 2), by(1, region(0, 3, "Fluency")))]
    export = [task(n, *one) for n, one in enumerate(made)]
    ratings, spans, report = exported(export)
    assert ratings[["system", "score"]].values.tolist() == [["A", -30], ["B", 0]], "it weighs the same at any severity"
    assert spans["error_type"].tolist() == ["accuracy/omission", "non-translation"]
    assert ("severity" in report.first[0]["reason"], "Freitag" in report.weights) == (True, True)
    assert exported(export[1:], weights="minor=2,major=7")[0]["score"].tolist() == [0]


def test_several_ratings_of_label_studio_are_criteria_and_words_are_mapped(exported):
    export = [task(1, of("A", 1), by(1, rated(4, name="fluency"), rated(["Good"], "choices", "adequacy")))]
    assert exported(export)[2].rows_rejected == 1
    ratings, _, _ = exported(export, words={"good": 4.5})
    assert ratings.groupby("criterion")["score"].first().to_dict() == {"adequacy": 4.5, "fluency": 4}


def test_label_studio_tasks_without_a_segment_are_known_by_their_source(exported):
    made = [{"system": system, "source": f"Source {n}"} for n, system in ((1, "A"), (1, "B"), (2, "A"))]
    ratings, _, _ = exported([task(n, one, by(1, rated(4))) for n, one in enumerate(made)])
    assert ratings["segment"].factorize()[0].tolist() == [0, 0, 1]


PAIRED = {
    "pairwise": lambda side: said("pairwise", {"selected": side}, "which", to="a,b"),
    "choices": lambda side: said("choices", {"choices": [f"The {side} one is better"]}, "better"),
}


@pytest.mark.parametrize("kind", PAIRED)
@pytest.mark.parametrize("names", ["system_a system_b", "text1_system text2_system"])
def test_comparisons_in_label_studio(names, kind, exported, tmp_path):
    sides = ["left", "right", "left", "left", "right", "left"]
    export = [
        task(n, {"source": f"s{n}"} | dict(zip(names.split(), "XY" if n % 2 else "YX")), by(n % 3, PAIRED[kind](side)))
        for n, side in enumerate(sides)
    ]
    export[0]["annotations"].append(by(4, was_cancelled=True))
    ratings, _, report = exported(export)
    won = [("XY" if n % 2 else "YX")[side == "right"] == "X" for n, side in enumerate(sides)]
    assert (report.format, ratings["segment"].nunique()) == ("preferences", 6)
    assert ratings[ratings["system"].eq("X")]["score"].tolist() == [float(one) for one in won]
    if kind == "pairwise":
        assert [row["line"] for row in rejected_rows(tmp_path / "c.rejected.csv")] == ["2"], "skipped, and told"


# Doccano and Prodigy

LABELS = [[0, 3, "MAJOR"], [4, 8, "Fluency-minor"]]
ENTITIES = [{"id": n, "start_offset": a, "end_offset": b, "label": name} for n, (a, b, name) in enumerate(LABELS)]


@pytest.mark.parametrize("shape", ["text label", "text labels", "text entities", "data label"])
def test_labels_of_doccano_are_errors(exported, shape):
    text, name = shape.split()
    made = [ENTITIES if name == "entities" else LABELS, []]
    objects = [
        {"id": n, text: "Ein Haus", name: one, "system": "A", "segment": n, "Comments": []}
        for n, one in enumerate(made)
    ]
    with pytest.raises(DataError, match=r"--value annotator=TEXT"):
        exported(in_lines(*objects), "all.jsonl")
    ratings, spans, report = exported(in_lines(*objects), "all.jsonl", values={"annotator": "Ann"})
    assert (report.format, ratings["score"].tolist()) == ("doccano", [-6, 0])
    assert spans[["severity", "error_type", "start", "end", "text"]].values.tolist() == [
        ["major", "unstated", 0, 3, "Ein"],
        ["minor", "fluency", 4, 8, "Haus"],
    ]


def test_early_exports_of_doccano_name_their_users(exported):
    said_by = [
        {"label": label, "start_offset": 0, "end_offset": 3, "user": n} for n, label in ((1, "minor"), (2, "major"))
    ]
    one = {"id": 1, "text": "Ein Haus", "meta": {"system": "A", "segment": 4}, "annotations": said_by}
    ratings, _, _ = exported(in_lines(one), "x.jsonl")
    found = ratings[["annotator", "system", "segment", "score"]].values.tolist()
    assert found == [["1", "A", "4", -1], ["2", "A", "4", -5]]


def prodigy(said="accept", **more):
    marks = {"_input_hash": 1, "_task_hash": 2, "_timestamp": 1700000000, "_annotator_id": "ann", "_session_id": "ann"}
    return {"text": "Ein Haus", "meta": {"system": "A", "segment": 1}, "answer": said} | marks | more


def test_spans_and_choices_of_prodigy_are_judgements(exported):
    spans = [{"start": 0, "end": 3, "label": "MINOR", "token_start": 0}, {"start": 4, "end": 8, "label": "MAJOR"}]
    objects = [prodigy(spans=spans), prodigy("ignore", spans=[]), prodigy(spans=[], _annotator_id="bob")]
    ratings, marks, report = exported(in_lines(*objects), "x.jsonl")
    assert ratings[["annotator", "score", "ended"]].values.tolist() == [["ann", -6, 17e8], ["bob", 0, 17e8]]
    assert (report.excluded, marks["text"].tolist()) == ({"is a task that was skipped": 1}, ["Ein", "Haus"])
    options = [{"id": n} for n in range(1, 6)]
    objects = [prodigy(options=options, accept=[n], meta={"system": "A", "segment": n}) for n in (4, 5)]
    ratings, marks, _ = exported(in_lines(*objects), "x.jsonl")
    assert (ratings["score"].tolist(), marks) == ([4, 5], None)


@pytest.mark.parametrize(("start", "end"), [(3, 1), (-1, 2), ("a", 2)])
def test_an_error_without_a_place_takes_its_judgement_with_it(start, end, exported):
    objects = [prodigy(spans=[{"start": start, "end": end, "label": "MINOR"}]), prodigy(spans=[], _annotator_id="b")]
    ratings, _, report = exported(in_lines(*objects), "x.jsonl")
    assert (ratings["annotator"].tolist(), report.rows_rejected) == (["b"], 1)


# WMT25's release


def test_a_line_of_wmt25_has_the_judgements_of_a_segment(exported):
    by_two = {"human1": 85.0, "errors1": [span(0, 3)], "annotator1": "x1", "human2": 70, "annotator2": "x2"}
    scores = {"A": by_two, "refA": {"human2": 99.0, "errors2": [], "annotator2": "x2"}}
    texts = {"A": "Ein Haus", "refA": "Das Haus", "unjudged": "Haus"}
    one = {"doc_id": "en-de_DE_#_news_#_x.1_#_0", "src_text": "A house", "tgt_text": texts, "scores": scores}
    nobody = one | {"doc_id": "en-de_DE_#_news_#_x.1_#_1", "scores": {}}
    ratings, spans, report = exported(in_lines(one, nobody), "wmt25.jsonl", keep_names=True)
    assert (report.format, report.scale) == ("wmt25", [0, 100])
    names = ["tgt_lang", "domain", "doc", "segment", "system", "item_type", "annotator", "score", "hypothesis"]
    said = ["deu", "news", "x.1", "0"]
    assert ratings[names].values.tolist() == [
        [*said, "A", "system", "x1", 85, "Ein Haus"],
        [*said, "A", "system", "x2", 70, "Ein Haus"],
        [*said, "refA", "reference", "x2", 99, "Das Haus"],
    ]
    assert spans[["annotator", "severity", "text"]].values.tolist() == [["x1", "minor", "Ein "]]


# Probabilities of what was shown: a column that is kept, and those that Pearmut's log lets one rebuild

HEADER = "lp,system,doc,segment,annotator,score,"


def table(*probabilities, name="probability"):
    rows = [f"en-de,S{i},d,{i},ann,{50 + i},{value}" for i, value in enumerate(probabilities)]
    return "\n".join([HEADER + name, *rows]) + "\n"


@pytest.mark.parametrize("name", ["probability", "Propensity", "inclusion_probability", "Selection probability"])
def test_a_column_of_probabilities_is_kept_and_what_is_none_is_left_empty_and_told(name, exported):
    ratings, _, report = exported(table(0.25, 1, "1e-3", 0, 1.2, -0.1, "35 %", "", "often", name=name), "my.csv")
    assert ratings["score"].tolist() == [*range(50, 59)]
    assert ratings["probability"].dropna().tolist() == [0.25, 1, 0.001]
    assert (report.mapping["probability"]["theirs"], report.unused) == (name, [])
    assert [note for note in report.notes if f"{name} was left empty in 5 rows" in note]
    with pytest.raises(DataError, match="One value of probability for all rows"):
        exported(table(0.5), "my.csv", values={"probability": "0.5"})


# Pearmut's dynamic assignment

SYSTEMS = [f"S{i}" for i in range(6)]
COLD, TOGETHER, DOCUMENTS = 4, 2, 600


def chances(weights, shown=TOGETHER):
    """Enumerate every order of draws: the probability that each is among those drawn."""
    found = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights)), shown):
        left, chance = sum(weights), 1.0
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        found[list(order)] += chance
    return found


def scores_in(log):
    """List the scores of each system in a log."""
    return {
        name: [one["annotation"][0][name]["score"] for one in log if name in one["annotation"][0]] for name in SYSTEMS
    }


def release(place):
    """The weight of a place in release 1.1.6, counted from 1."""
    return 0.5 if place == 1 else 1 / place


def screen(log, weight, rng):
    """Draw the systems of the next screen as Pearmut does by all that was logged: system -> its probability there."""
    scores = scores_in(log)
    low = [name for name in SYSTEMS if len(scores[name]) < COLD]
    if low:
        others = [name for name in SYSTEMS if name not in low]
        sure, drawn = ([], low) if len(low) >= TOGETHER else (low, others)
        share = (TOGETHER - len(sure)) / len(drawn)
        chosen = rng.choice(drawn, size=TOGETHER - len(sure), replace=False)
        return dict.fromkeys(sure, 1.0) | dict.fromkeys(chosen, share)
    best = sorted(SYSTEMS, key=lambda name: -np.mean(scores[name]))
    weights = np.array([weight(place) for place in range(1, len(best) + 1)])
    found = dict(zip(best, chances(weights), strict=True))
    return {name: found[name] for name in rng.choice(best, size=TOGETHER, replace=False, p=weights / weights.sum())}


def steered(weight, *, screens=350, people=1, seed=3):
    """Let people judge as Pearmut steers: the log, and the probability of each output of each screen.

    With several people each screen is drawn when the one before last was not yet submitted, as in real campaigns.
    """
    rng = np.random.default_rng(seed)
    log, probabilities, open_ = [], [], []
    for number in range(screens + people - 1):
        if number < screens:
            shown = screen(log, weight, rng)
            said = {name: {"score": round(float(rng.uniform(40, 80) + 3 * SYSTEMS.index(name)), 3)} for name in shown}
            item = {"item_id": f"en-de_#_x_#_d{number}_#_0", "src": f"t{number}", "tgt": dict.fromkeys(shown, "o")}
            one = {"user_id": f"u{number % people}", "item_i": number, "annotation": [said], "item": [item]}
            open_.append((one | {"actions": [{"time": 10.0 * number}]}, shown))
        if number >= people - 1:
            entry, own = open_.pop(0)
            entry["actions"].append({"time": 10.0 * number + 5})
            log.append(entry)
            probabilities.append(own)
    return log, probabilities


def described(**info):
    data = [
        [{"item_id": f"en-de_#_x_#_d{i}_#_0", "src": f"t{i}", "tgt": dict.fromkeys(SYSTEMS, "o")}]
        for i in range(DOCUMENTS)
    ]
    info = {"assignment": "dynamic", "protocol": "ESA", "dynamic_models": TOGETHER, "dynamic_coldstart": COLD} | info
    return json.dumps({"campaign_id": "x", "info": info, "data": data})


@pytest.fixture
def read(exported, tmp_path):
    """Import a log with its campaign's file beside, if there is one."""

    def read(log, campaign=None):
        (tmp_path / "data/campaigns").mkdir(parents=True, exist_ok=True)
        place = tmp_path / "data/campaigns/x.en-de.json"
        place.unlink(missing_ok=True)
        if campaign:
            place.write_text(campaign, encoding="utf-8")
        ratings, _, report = exported(in_lines(*log), name="data/annotations/x.en-de.jsonl")
        return ratings, [note for note in report.notes if "dynamic" in note]

    return read


def probabilities_in(log, probabilities):
    """List the probability of each output in the order of a log."""
    return [one[name] for entry, one in zip(log, probabilities, strict=True) for name in entry["annotation"][0]]


@pytest.mark.parametrize("people", [1, 4])
def test_probabilities_are_rebuilt_from_the_order_of_the_log(read, people):
    log, probabilities = steered(release, people=people)
    ratings, [note] = read(log, described())
    expected = probabilities_in(log, probabilities)
    assert ratings["probability"].tolist() == pytest.approx(expected, rel=1e-9)
    assert "2 of 6 systems a screen" in note
    assert len(set(np.round(expected, 9))) > 5, "probabilities differ, or there is nothing to rebuild"


UNKNOWN = {  # how systems were drawn, and what the campaign's file says; what the note says then
    "no file": (release, None, ""),
    "not dynamic": (release, described(assignment="single-stream"), ""),
    "another version": (lambda place: 1 / place, described(), "were not rebuilt: the log does not fit"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_probabilities_that_are_not_known_are_not_there(read, kind):
    weight, campaign, told = UNKNOWN[kind]
    ratings, notes = read(steered(weight, screens=250)[0], campaign)
    assert "probability" not in ratings
    assert len(notes) == bool(told)
    assert all(told in note for note in notes)


def test_who_goes_back_draws_nothing_anew_and_who_begins_anew_takes_scores_away(read):
    """One who gave the last system 100 resets; what follows is drawn as if that had never been."""
    log, probabilities = steered(release, screens=200)
    late = log[-1] | {"annotation": [{name: {"score": 1.0} for name in log[-1]["annotation"][0]}]}
    odd = {"user_id": "odd", "item_i": 599, "item": [item("en-de_#_x_#_d599_#_0", "t599", S0="o", S1="o")]}
    odd |= {"annotation": [{"S0": {"score": 100.0}, "S1": {"score": 99.0}}], "actions": []}
    reset = {"user_id": "odd", "item_i": 599, "annotation": "__RESET__"}
    ratings, _ = read([*log[:60], odd, reset, *log[60:], late], described())
    kept = ratings[ratings["doc"] != "d599"]
    assert kept["probability"].tolist() == pytest.approx(probabilities_in(log, probabilities), rel=1e-9)
    assert kept["score"].tolist()[-2:] == [1, 1]


# Exports of forms (Google Forms, Qualtrics) and nested JSON: a row a respondent, or names for rows, become judgements.

SYSTEMS_FORMS = ("DeepL", "Google", "NLLB")
PEOPLE = tuple(f"p{number}@uni.edu" for number in range(5))
LONG = "Dies ist der Anfang eines langen Satzes, und"
TEXTS = tuple(f"Satz Nummer {number}, der übersetzt wird." for number in range(1, 9))


@pytest.fixture
def scores():
    """Scores from 1 to 5: segments × systems × people, of which no two systems have one mean."""
    drawn = np.random.default_rng(3).integers(1, 6, (len(TEXTS), len(SYSTEMS_FORMS), len(PEOPLE)))
    drawn[:, 0] = np.minimum(drawn[:, 0] + 2, 5)
    drawn[:, 2] = np.maximum(drawn[:, 2] - 2, 1)
    drawn[0, :, 0] = 1, 5, 5
    return drawn


def google(scores, headings, order="segment system", more=()):
    """A row a respondent: the score of each question in the order of the headings."""
    axes = {"segment": 0, "system": 1}
    cells = scores.transpose(*(axes[name] for name in order.split()), 2).reshape(-1, len(PEOPLE))
    rows = [[f"2026/03/0{k + 1} 10:00:11", who, *cells[:, k], *more] for k, who in enumerate(PEOPLE)]
    return in_rows(["Timestamp", "Email Address", *headings, *(["Comments [optional]"] if more else [])], *rows)


def expected(scores):
    return dict(zip(SYSTEMS_FORMS, scores.mean(axis=(0, 2))))


def found(ratings):
    assert not ratings.duplicated(["system", "segment", "annotator"]).any()
    return ratings.groupby("system")["score"].mean().to_dict()


GRIDS = {
    "systems in brackets": ([f"{i}. {t} How good? [{s}]" for i, t in enumerate(TEXTS, 1) for s in SYSTEMS_FORMS], ""),
    "named with words around": ([f"{t} [Translation by {s}]" for t in TEXTS for s in SYSTEMS_FORMS], ""),
    "heading over two lines": ([f"{t}\n(1 bad, 5 good) [{s}]" for t in TEXTS for s in SYSTEMS_FORMS], ""),
    "a question a system": (
        [f"Rate {s}: [Sentence {i}]" for s in SYSTEMS_FORMS for i in range(1, 9)],
        "system segment",
    ),
    "a system's sentences": (
        [f"Rate {s} [{i}. {LONG} {t}]" for s in SYSTEMS_FORMS for i, t in enumerate(TEXTS)],
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
    ratings, _, _ = imported(google(words, [f"{i}. [{s}]" for i in range(1, 9) for s in SYSTEMS_FORMS]))
    left = scores.astype(float)
    left[1, 1, 2] = left[3, 0, 0] = np.nan
    assert found(ratings) == pytest.approx(dict(zip(SYSTEMS_FORMS, np.nanmean(left, axis=(0, 2)))))


@pytest.mark.parametrize(
    "asked",
    ["{t} How {c} is each translation?", "{C}: {t}", "How {c} is translation {i}?"],
)
def test_two_questions_about_each_segment_are_two_criteria(imported, scores, asked):
    other = scores[::-1]
    headings, cells = [], []
    for i, text in enumerate(TEXTS):
        for criterion, noun, own in (("adequate", "Adequacy", scores), ("fluent", "Fluency", other)):
            headings += [f"{asked.format(t=text, c=criterion, C=noun, i=i + 1)} [{s}]" for s in SYSTEMS_FORMS]
            cells.append(own[i])
    cells = np.concatenate(cells)
    rows = [["2026/03/01 10:00:11", who, *cells[:, k]] for k, who in enumerate(PEOPLE)]
    ratings, _, _ = imported(in_rows(["Timestamp", "Email Address", *headings], *rows))
    assert ratings["segment"].nunique() == len(TEXTS)
    assert len(ratings) == 2 * scores.size
    adequate = ratings[ratings["criterion"].str.startswith("adequa")]
    assert adequate.groupby("system")["score"].mean().to_dict() == pytest.approx(expected(scores))


def qualtrics(scores, name, text, more=()):
    """A row a respondent below three of headings: names, texts and Qualtrics' identifiers."""
    about = [
        ["StartDate", "Start Date", *["2026-03-01 10:00:00"] * len(PEOPLE)],
        ["Status", "Response Type", *["IP Address"] * len(PEOPLE)],
        ["ResponseId", "Response ID", *(f"R_{k}" for k in range(len(PEOPLE)))],
    ]
    asked = [
        [name.format(i=i + 1, j=j + 1), text.format(t=TEXTS[i], s=SYSTEMS_FORMS[j]), *scores[i, j]]
        for i, j in np.ndindex(*scores.shape[:2])
    ]
    names, texts, *rows = zip(*about, *asked, ["Q1_DO_1", "", *[1] * len(PEOPLE)])
    return in_rows(names, texts, [json.dumps({"ImportId": "x"})] * len(names), *rows, *more)


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
        ([f"Rate translation {s}: [Sentence {i}]" for s in "ABC" for i in range(1, 9)], "places on a screen"),
        ([f"{t} [{s}]" for t in TEXTS for s in ("Adequacy", "Fluency", "Style")], "--value system=NAME"),
        ([f"{w} {t} [{s}]" for w in ("Is it good:", "Edit:") for t in TEXTS[:4] for s in SYSTEMS_FORMS], "several"),
        ([f"How good? [{s}]" for _ in TEXTS for s in SYSTEMS_FORMS], "twice"),
    ],
)
def test_what_a_form_leaves_open_is_asked(imported, scores, headings, told):
    with pytest.raises(DataError, match=told):
        imported(google(scores, headings))


def test_criteria_of_one_system_and_places_that_are_systems_are_read_as_told(imported, scores):
    asked = ("Adequacy", "Fluency", "Style")
    ratings, *_ = imported(google(scores, [f"{t} [{s}]" for t in TEXTS for s in asked]), values={"system": "X"})
    means = ratings.groupby("criterion")["score"].mean().to_dict()
    assert means == pytest.approx(dict(zip(asked, expected(scores).values())))
    assert {*ratings["system"]} == {"X"}
    headings = [f"{t} [Translation {s}]" for t in TEXTS for s in "ABC"]
    means = found(imported(google(scores, headings), wide="systems")[0])
    assert means == pytest.approx(dict(zip([f"Translation {s}" for s in "ABC"], expected(scores).values())))


def nested(scores):
    """One campaign in the shapes that people write JSON in."""
    every = [*product(enumerate(TEXTS), enumerate(SYSTEMS_FORMS))]
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
            {"segment": i, "outputs": {s: {"text": "t", "ratings": each[i, j]} for j, s in enumerate(SYSTEMS_FORMS)}}
            for i in range(len(TEXTS))
        ],
        "worker, item, system": {
            workers[p]: {
                f"item{i}": {s: {"score": each[i, j][p]} for j, s in enumerate(SYSTEMS_FORMS)} for i in range(8)
            }
            for p in PEOPLE
        },
        "judgements by name": {
            f"j{i}-{j}-{p}": {"system": s, "segment": i, "annotator": p, "score": v}
            for (i, _), (j, s) in every
            for p, v in each[i, j].items()
        },
    }


@pytest.mark.parametrize("shape", nested(np.ones((len(TEXTS), len(SYSTEMS_FORMS), len(PEOPLE)), int)))
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
