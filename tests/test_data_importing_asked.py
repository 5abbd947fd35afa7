"""What strangers' files of comparisons, crowds and annotation tools come to, and whether what a refusal suggests works.

All at the command line, or by what an import writes: systems, their judgements and means, computed here by hand.
"""

import csv
import io
import json
import random
import re
import shlex

import pandas as pd
import pytest

from evalkit.reports import cli


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def ask(capsys):
    """Import at the command line: what was asked or refused, or the table of judgements."""

    def run(path, *words, content=None):
        if content is not None:
            with open(path, "w", encoding="utf-8", newline="") as stream:
                stream.write(content if isinstance(content, str) else json.dumps(content))
        status = cli.main(["import", str(path), *words, "--replace", "--out", "c.parquet"])
        said = capsys.readouterr().err
        assert status in (0, 1)
        return said if status else pd.read_parquet("c.parquet")

    return run


def means(table, digits=2):
    """Systems with their means, of a table that was imported."""
    assert not isinstance(table, str), table
    return table.groupby("system")["score"].mean().round(digits).to_dict()


def in_rows(*rows, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, quoting=quoting).writerows(rows)
    return stream.getvalue()


# Comparisons

DRAWN = random.Random(5)
#: Which of two was better: a, b or neither, of X and Y in turn.
TRUTH = [(*(("X", "Y") if place % 2 else ("Y", "X")), DRAWN.choice("aaabbtt")) for place in range(40)]
WON = {
    name: sum(0.5 if said == "t" else float({"a": a, "b": b}[said] == name) for a, b, said in TRUTH) / len(TRUTH)
    for name in "XY"
}
ANSWERS = {
    "signs": (">", "=", "<"),
    "letters": ("a", "tie", "b"),
    "between": ("A>B", "A=B", "A<B"),
    "numbers": ("1", "0", "2"),
    "sentences": ("Translation A is better", "Both are equally good", "Translation B is better"),
    "sides": ("left", "same", "right"),
    "worse": ("B is worse", "equal", "A is worse"),
    "words": ("better", "same", "worse"),
    "degrees": ("A is much better", "About the same", "B is slightly better"),
    "first": ("1 > 2", "1 = 2", "2 > 1"),
    "prefer": ("prefer A", "no preference", "prefer B"),
    "doubled": (">>", "=", "<<"),
}


@pytest.mark.parametrize("heading", ["overall_pref", "winner", "judgement", "answer"])
@pytest.mark.parametrize("kind", ANSWERS)
def test_answers_in_signs_words_and_numbers_are_counted_as_they_are_meant(kind, heading, ask):
    said = dict(zip("atb", ANSWERS[kind]))
    rows = [(place, f"p{place % 3}", a, b, said[one]) for place, (a, b, one) in enumerate(TRUTH)]
    table = ask("my.csv", content=in_rows(("segment", "annotator", "system_a", "system_b", heading), *rows))
    assert (means(table, 6), len(table)) == ({name: round(share, 6) for name, share in WON.items()}, 80)


def test_no_answer_is_no_judgement_and_does_not_stop_the_import(ask):
    said = {"a": "A", "b": "B", "t": "cannot judge"}
    rows = [(place, a, b, said[one]) for place, (a, b, one) in enumerate(TRUTH)]
    content = in_rows(("segment", "model_1", "model_2", "choice"), *rows)
    table = ask("my.csv", content=content)
    answered = [(a, b, one) for a, b, one in TRUTH if one != "t"]
    won = sum({"a": a, "b": b}[one] == "X" for a, b, one in answered) / len(answered)
    assert (means(table, 6)["X"], len(table)) == (round(won, 6), 2 * len(answered))


CONDITIONS = {"guided": 50, "default": 42}
WAYS = {
    "as it is": [],
    "named": ["--format", "preferences"],
    "score": ["--map", "score=overall_pref"],
    "mapped": [
        "--map",
        "system_a=system_a_condition",
        "--map",
        "system_b=system_b_condition",
        "--map",
        "preference=overall_pref",
    ],
}


@pytest.mark.parametrize("way", WAYS)
def test_conditions_are_compared_and_never_the_model_that_made_both(way, ask, mirrored):
    table = ask(mirrored("../strangers/pref_conditions.csv"), *WAYS[way])
    won = table[table["score"].eq(1)].groupby("system").size().to_dict()
    assert (won, table["score"].eq(0.5).sum() / 2, len(table)) == (CONDITIONS, 47, 278)


@pytest.mark.parametrize(
    "words",
    [
        ["--map", "system=model"],
        ["--format", "csv", "--map", "score=overall_pref"],
        [
            "--format",
            "csv",
            "--map-values",
            "a=1",
            "--map-values",
            "b=0",
            "--map-values",
            "tie=0.5",
            "--map",
            "score=overall_pref",
        ],
    ],
)
def test_nothing_ranks_the_models_that_made_both(words, ask, mirrored):
    assert "two systems" in ask(mirrored("../strangers/pref_conditions.csv"), *words)


def test_outputs_of_two_models_for_one_segment_are_two_items(ask):
    rows = [(1, "p", model, "guided", "default", said) for model, said in (("x", "a"), ("y", "b"))]
    table = ask("my.csv", content=in_rows(("item", "annotator", "model", "prompt_a", "prompt_b", "pref"), *rows))
    assert (means(table), table["segment"].nunique()) == ({"guided": 0.5, "default": 0.5}, 2)


# One number for two systems

SLIDER = {"alpha": 13.74, "beta": 2.05, "gamma": -12.57}


def test_a_slider_between_two_asks_whose_side_is_positive_and_keeps_its_strength(ask, mirrored):
    path = mirrored("../strangers/slider.jsonl")
    for words in ([], ["--value", "annotator=p"], ["--format", "preferences"]):
        asked = ask(path, *words)
        assert {"hyp_a_id", "hyp_b_id"} <= {*re.findall(r"--positive (\w+)", asked)}
    assert means(ask(path, "--positive", "hyp_b_id")) == SLIDER
    assert means(ask(path, "--positive", "hyp_a_id")) == {name: -mean for name, mean in SLIDER.items()}
    assert means(ask(path, "--map", "preference=score", "--positive", "B")) == SLIDER
    assert "--positive" in ask(path, "--positive", "gamma")


@pytest.mark.parametrize("words", [[], ["--format", "csv"], ["--format", "xsts"], ["--positive", "hyp_b_id"]])
def test_two_systems_in_a_row_are_never_one(words, ask, mirrored):
    told = ["--value", "system=mt", "--map", "segment=text"]
    assert "two systems" in ask(mirrored("../strangers/slider.jsonl"), *told, *words)


def test_a_slider_without_numbers_below_zero_asks_for_its_middle_too(ask):
    scores = [1, 2, 5, 4, 3, 5]
    rows = [(place, "X", "Y", score) for place, score in enumerate(scores)]
    content = in_rows(("segment", "system_1", "system_2", "rating"), *rows)
    asked = ask("my.csv", content=content)
    assert "--positive" in asked
    assert "--scale" in asked
    table = ask("my.csv", "--positive", "system_2", "--scale", "1:5", content=content)
    assert means(table, 6) == {"X": round(3 - sum(scores) / 6, 6), "Y": round(sum(scores) / 6 - 3, 6)}


def test_prodigys_slider_is_asked_about_and_what_was_skipped_is_none(ask, mirrored):
    rows = [json.loads(line) for line in mirrored("../strangers/slider.jsonl").read_text().splitlines()]
    marks = [{"_input_hash": n, "_task_hash": n, "_timestamp": 1_700_000_000 + n} for n in range(len(rows))]
    skipped = rows[0] | {"score": 100, "answer": "ignore", "text": "skipped", "_input_hash": -1, "_task_hash": -1}
    content = "".join(json.dumps(one) + "\n" for one in [*map(dict.__or__, rows, marks), skipped])
    assert "--positive hyp_b_id" in ask("my.jsonl", content=content)
    table = ask("my.jsonl", "--positive", "hyp_b_id", content=content)
    assert (means(table), table["annotator"].nunique()) == (SLIDER, 2)


# Ranks

RANKS = {"uedin": 0.797, "online-A": 0.635, "jhu": 0.568, "limsi": 0.445, "kit": 0.308, "cmu": 0.203}


def untied(table):
    """Shares of untied comparisons on a screen that were won; a high score is a low rank."""
    pairs = table.merge(table, on=["screen", "annotator"])
    pairs = pairs[pairs["score_x"].ne(pairs["score_y"])]
    return pairs["score_x"].gt(pairs["score_y"]).groupby(pairs["system_x"]).mean().round(3).to_dict()


def test_ranks_of_systems_on_a_screen(ask, mirrored):
    table = ask(mirrored("../strangers/ranks_wmt.csv"))
    assert (untied(table), table["screen"].nunique(), len(table)) == (RANKS, 80, 400)


@pytest.mark.parametrize(
    "heads", [("system_{}", "rank_{}"), ("output{}", "ranking{}"), ("model{}_name", "model{}_rank")]
)
def test_ranks_by_places_are_of_the_systems_that_stood_there_and_minus_one_is_none(heads, ask):
    orders = [("X", "Y", "Z"), ("Z", "X", "Y"), ("Y", "Z", "X")]
    ranks = {"X": "1", "Y": "2", "Z": "3"}
    rows = [[n // 2, f"p{n % 2}", *order, *(ranks[name] for name in order)] for n, order in enumerate(orders * 2)]
    rows[0][-1] = "-1"  # of Z
    head = [one.format(place) for one in heads for place in (1, 2, 3)]
    table = ask("my.csv", content=in_rows(["segment", "annotator", *head], *rows))
    assert (means(table), table["system"].value_counts().to_dict()) == (
        {"X": -1, "Y": -2, "Z": -3},
        {"X": 6, "Y": 6, "Z": 5},
    )


def test_the_same_judge_may_rank_systems_on_a_segment_again(ask, mirrored):
    rows = [*csv.reader(mirrored("../strangers/ranks_wmt.csv").open(newline=""))]
    again = [row[:6] + row[9:] + row[6:9] for row in rows[1:11]]
    table = ask("my.csv", content=in_rows(*rows, *again))
    assert (len(table), table["screen"].nunique()) == (450, 90)


# The way to the report

REPORTS = {
    "pref_conditions.csv": ([], {"guided": 73.5 / 139, "default": 65.5 / 139}),
    "slider.jsonl": (["--positive", "hyp_b_id"], {"alpha": 13.735294, "beta": 2.047619, "gamma": -12.568182}),
    "ranks_wmt.csv": ([], {}),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in REPORTS])
def test_the_report_of_comparisons_says_who_won(name, ask, mirrored, tmp_path):
    words, right = REPORTS[name]
    table = ask(mirrored(f"../strangers/{name}"), *words)
    assert cli.main(["run", "campaign", "-p", "file=c.parquet", "-p", "resamples=30", "--out", "reports"]) == 0
    found = json.loads((tmp_path / "reports" / "campaign.json").read_text())["recorded"]
    ranked = {row["system"]: row["mean"] for row in found["rankings"]}
    assert [*ranked] == sorted(ranked, key=lambda system: -ranked[system])
    assert {system: round(mean, 6) for system, mean in ranked.items() if right} == {
        system: round(mean, 6) for system, mean in right.items()
    }
    pairs = table.merge(table, on=["annotator", "hit"])
    pairs = pairs[pairs["system_x"].ne(pairs["system_y"])]
    won = (pairs["score_x"].gt(pairs["score_y"]) + pairs["score_x"].eq(pairs["score_y"]) / 2).groupby(pairs["system_x"])
    told = {row["system"]: (row["n"], row["won"]) for row in found["strengths" if right else "screens"]}
    assert told == {system: (len(own), pytest.approx(own.mean())) for system, own in won}
    if right:
        duels = {(row["better"], row["worse"]): (row["wins"], row["losses"]) for row in found["duels"]}
        assert duels == {
            (a, b): (
                int(
                    (own := pairs[pairs["system_x"].eq(a) & pairs["system_y"].eq(b)])["score_x"]
                    .gt(own["score_y"])
                    .sum()
                ),
                int(own["score_x"].lt(own["score_y"]).sum()),
            )
            for a, b in duels
        }


# Crowds' files

BATCH = {"A": 70.35, "B": 57.90, "C": 46.35}


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "b.csv"), (";", "b.csv"), ("\t", "b.csv"), ("\t", "b.tsv"), ("|", "b.csv")]
)
def test_a_batch_with_cells_over_many_lines_and_without_its_last_columns(delimiter, name, ask, mirrored):
    path = mirrored("../strangers/mturk_batch.csv")
    rows = [*csv.reader(path.open(encoding="utf-8", newline=""))]
    table = ask(name, content=in_rows(*rows, delimiter=delimiter, quoting=csv.QUOTE_ALL))
    assert (means(table), len(table)) == (BATCH, 60)
    rows[7] += ["x"]  # somebody approved one
    table = ask(name, content=in_rows(*rows, delimiter=delimiter, quoting=csv.QUOTE_ALL))
    assert (means(table), len(table)) == (BATCH, 60)


def test_empty_cells_left_out_at_the_end_are_empty_and_one_that_lacks_in_the_middle_is_not_guessed(ask):
    head = ["segment", "annotator", "system", "score", "comment", "feedback"]
    more = [["fine"], [], ["ok", "thanks"]]
    rows = [[place, f"p{place % 2}", "AB"[place // 2 % 2], place % 101, *more[place % 3]] for place in range(200)]
    right = {name: round(sum(row[3] for row in rows if row[2] == name) / 100, 2) for name in "AB"}
    assert means(ask("my.csv", content=in_rows(head, *rows))) == right
    rows[51] = [51, "p1", 100, "fine"]  # whose system is not there
    table = ask("my.csv", content=in_rows(head, *rows))
    assert (len(table), {*table["system"]}) == (199, {"A", "B"})


def test_scores_that_a_spreadsheet_left_out_at_the_end_of_a_row_are_none(ask):
    drawn = random.Random(7)
    rows = [[place, "p", *(drawn.randint(20, 95) for _ in range(3 if place % 4 else 2))] for place in range(40)]
    table = ask("my.csv", content=in_rows(["segment", "annotator", "MT-A", "MT-B", "MT-C"], *rows))
    scores = [[row[place] for row in rows if place < len(row)] for place in (2, 3, 4)]
    assert table.groupby("system")["score"].agg(["size", "mean"]).round(6).to_numpy().tolist() == [
        [len(own), round(sum(own) / len(own), 6)] for own in scores
    ]


MTURK = "wmt-conference/wmt21-news-systems/*/humaneval/newstest2021-toen/ad-isen-{}"


@pytest.fixture(scope="module")
def crowd(mirrored):
    """WMT21's Mechanical Turk ratings from Icelandic: standardised rows, workers' means, and raw rows."""
    head, *rows = mirrored(MTURK.format("good-stnd.csv")).read_text().splitlines()
    means = mirrored(MTURK.format("trk-mean-sd.txt")).read_text()
    cells = [line.partition("]")[2].strip().strip('"') for line in means.splitlines()]
    of = {name: (float(mean), float(sd)) for name, mean, sd in zip(cells[::3], cells[1::3], cells[2::3]) if sd != "NA"}
    cut = [row.split("\t") for row in rows]
    raw = [[*row[:10], str(round(float(row[10]) * of[row[1]][1] + of[row[1]][0])), *row[11:]] for row in cut]
    return head, rows, means, raw


def test_wmts_raw_crowd_scores_are_raw_however_their_cells_are_cut(crowd, ask):
    head, _, _, raw = crowd
    right = pd.DataFrame(raw).astype({10: float})[[6, 10]].groupby(6)[10].mean().round(2).to_dict()
    halves = [[*row[:10], f"{min(float(row[10]) + 0.5 * (n % 9 == 0), 100)}", *row[11:]] for n, row in enumerate(raw)]
    ways = {
        "tabs": ["\t".join(row) for row in raw],
        "turns": [("\t", " ")[n % 2].join(row) for n, row in enumerate(raw)],
        "mixed": ["\t".join(row[:4]) + " " + " ".join(row[4:]) for row in raw],
        "quoted": [" ".join([f'"{row[0]}"', *row[1:5]]) + "\t" + "\t".join(row[5:]) for row in raw],
        "decimals": ["\t".join(row) for row in halves],
    }
    for way, rows in ways.items():
        expected = (
            right
            if way != "decimals"
            else (pd.DataFrame(halves).astype({10: float}).groupby(6)[10].mean().round(2).to_dict())
        )
        assert means(ask("ad-isen-good-raw.csv", content="\n".join([head, *rows]) + "\n")) == expected, way


@pytest.mark.parametrize(
    "beside", ["ad-isen-trk-mean-sd.txt", "ad-isen-redup-mean-sd.txt", "ad-isen-trk-mean-sd-redup.txt"]
)
def test_standardised_scores_find_the_workers_means_that_turn_them_back(beside, crowd, ask, tmp_path):
    head, rows, workers, raw = crowd
    content = "\n".join([head, *rows]) + "\n"
    wrong = re.sub(r"(?m)^\[1\] (\d)(.*)$", r"[1] 1\1\2", workers)  # other references, other means
    (tmp_path / "ad-isen-good-stnd-redup-no-refs-mean-sd.txt").write_text(wrong)
    assert "standardised" in ask("ad-isen-good-stnd-redup.csv", content=content)
    (tmp_path / beside).write_text(workers)
    right = pd.DataFrame(raw).astype({10: float}).groupby(6)[10].mean().round(2).to_dict()
    assert means(ask("ad-isen-good-stnd-redup.csv", content=content)) == right


# Label Studio

PENALTY = {"A": 0, "B": 1, "C": 6}


def tasks(results, *, data=None, who=lambda number: number):
    """Write Label Studio's JSON: four segments, three systems, two annotators. results: of a system's translation."""
    made = []
    for number, (segment, system) in enumerate((n, name) for n in range(4) for name in "ABC"):
        own = {"source": f"Source {segment}", "translation": f"{segment} {system}"}
        own |= data(segment, system) if data else {"system": system, "segment_id": segment}
        annotations = [
            {
                "id": 10 * number + n,
                "completed_by": who(n),
                "result": results(system),
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2024-05-03T10:00:00.000000Z",
                "lead_time": 3.2,
            }
            for n in (1, 2)
        ]
        made.append(
            {
                "id": 100 + number,
                "annotations": annotations,
                "predictions": [{"result": results("A")}],
                "drafts": [],
                "data": own,
                "meta": {},
                "total_annotations": 2,
            }
        )
    return made


def said(kind, value, name="quality", region="", to="translation"):
    return {"id": region or "whole", "from_name": name, "to_name": to, "type": kind, "value": value}


def marked(system, *, labels=("Fluency/Grammar", "Accuracy"), more=("choices", "severity", ["Minor"], ["Major"])):
    """Errors of a translation: B a minor one, C a major one besides; what the second control says has their places."""
    found = []
    for n in range({"A": 0, "B": 1, "C": 2}[system]):
        place = {"start": n, "end": n + 2, "text": "x"}
        found += [said("labels", place | {"labels": [labels[n]]}, "label", f"r{n}")]
        if more:
            found += [said(more[0], place | {more[0]: more[2 + n]}, more[1], f"r{n}")]
    return found


TAXONOMY = ("taxonomy", "category", [["Fluency", "Grammar"]], [["Accuracy", "Omission"]])
SCORE = {"A": 90, "B": 70, "C": 40}
WORDS, STEPS = {"A": "Excellent", "B": "Good", "C": "Fair"}, {"A": 5, "B": 4, "C": 3}
STUDIO = {
    "severity of a region": (lambda system: marked(system), {}),
    "taxonomy of a region": (lambda system: marked(system, labels=("Minor", "Major"), more=TAXONOMY), {}),
    "both in one label": (lambda system: marked(system, labels=("Minor: Grammar", "Accuracy - Major"), more=()), {}),
    "annotators as objects": (lambda system: marked(system), {"who": lambda n: {"id": n, "email": f"p{n}@x.org"}}),
    "number": (lambda system: [said("number", {"number": SCORE[system]})], {}),
    "number as text": (lambda system: [said("textarea", {"text": [str(SCORE[system])]}, "score")], {}),
    "rating and remark": (
        lambda system: [said("rating", {"rating": SCORE[system] / 10}), said("textarea", {"text": ["ok"]}, "note")],
        {},
    ),
    "words": (lambda system: [said("choices", {"choices": [WORDS[system]]})], {}),
    "words in a tree": (lambda system: [said("taxonomy", {"taxonomy": [[WORDS[system]]]})], {}),
}
RIGHT = {
    "number": SCORE,
    "number as text": SCORE,
    "rating and remark": {"A": 9, "B": 7, "C": 4},
    "words": STEPS,
    "words in a tree": STEPS,
}


@pytest.mark.parametrize("kind", STUDIO)
def test_label_studio_as_it_is_written(kind, ask):
    results, options = STUDIO[kind]
    table = ask("export.json", content=tasks(results, **options))
    right = RIGHT.get(kind, {name: -penalty for name, penalty in PENALTY.items()})
    assert (means(table), len(table), table["annotator"].nunique()) == (right, 24, 2)


@pytest.mark.parametrize("ending", ["json", "csv"])
@pytest.mark.parametrize("kind", ["severity of a region", "number", "words", "taxonomy of a region"])
def test_label_studios_short_exports_say_the_same(kind, ending, ask):
    results, options = STUDIO[kind]
    rows = []
    for task in tasks(results, **options):
        for one in task["annotations"]:
            values: dict[str, list] = {}
            for result in one["result"]:
                values.setdefault(result["from_name"], []).append(result["value"])
            whole = {name: (own if "start" in own[0] else next(iter(own[0].values()))) for name, own in values.items()}
            plain = {
                name: own[0] if isinstance(own, list) and not isinstance(own[0], dict) else own
                for name, own in whole.items()
            }
            about = {"annotator": one["completed_by"], "annotation_id": one["id"], "created_at": one["created_at"]}
            rows.append(task["data"] | {"id": task["id"]} | plain | about | {"lead_time": 3.2})
    names = [*dict.fromkeys(name for row in reversed(rows) for name in row)]
    cells = [
        [json.dumps(row[name]) if isinstance(row.get(name), list) else row.get(name, "") for name in names]
        for row in rows
    ]
    table = ask(f"export.{ending}", content=rows if ending == "json" else in_rows(names, *cells))
    assert means(table) == RIGHT.get(kind, {name: -penalty for name, penalty in PENALTY.items()})


def test_cancelled_annotations_and_predictions_are_no_judgements(ask):
    export = tasks(STUDIO["number"][0])
    export[0]["annotations"][0] |= {"was_cancelled": True, "result": []}
    table = ask("export.json", content=export)
    assert (means(table), len(table)) == (SCORE, 23)


PAIRED = {
    "pairwise": lambda side: said("pairwise", {"selected": side}, "which", to="a,b"),
    "choices": lambda side: said("choices", {"choices": [f"The {side} one is better"]}, "better"),
}


@pytest.mark.parametrize("kind", PAIRED)
@pytest.mark.parametrize(
    "names", [("system_a", "system_b"), ("model_left", "model_right"), ("text1_system", "text2_system")]
)
def test_comparisons_in_label_studio(names, kind, ask):
    sides = [{"a": "left", "b": "right"}.get(one, "left") for *_, one in TRUTH]
    export = [
        {
            "id": n,
            "data": {"source": f"s{n}", "text1": f"t{n}{a}", "text2": f"t{n}{b}", names[0]: a, names[1]: b},
            "annotations": [{"id": n, "completed_by": n % 3, "result": [PAIRED[kind](side)]}],
        }
        for n, ((a, b, _), side) in enumerate(zip(TRUTH, sides))
    ]
    won = sum((a if side == "left" else b) == "X" for (a, b, _), side in zip(TRUTH, sides)) / len(TRUTH)
    assert means(ask("export.json", content=export), 6)["X"] == round(won, 6)


# What a refusal suggests

MARKS = in_rows(
    ("segment", "rater", "category", "severity"), (1, "p", "Accuracy", "Major"), (2, "p", "Fluency", "Minor")
)
ODD = in_rows(
    ("user", "engine", "sentence", "kind of error", "how bad"),
    ("p", "A", 1, "Accuracy", "Major"),
    ("p", "B", 1, "Fluency", "Minor"),
)
UNKNOWN = tasks(lambda system: marked(system, more=("choices", "severity", ["Minor"], ["Serious"])))
#: A file that lacks something: name and content, what stands for the words in capitals, and the means in the end.
LACKING = {
    "slider": (
        "s.csv",
        in_rows(("segment", "system_a", "system_b", "score"), (1, "X", "Y", -5), (2, "X", "Y", 9)),
        {},
        {"X": 2, "Y": -2},
    ),
    "middle": (
        "s.csv",
        in_rows(("segment", "model_a", "model_b", "slider"), *((n, "X", "Y", n) for n in range(1, 8))),
        {"LOW:HIGH": "1:9"},
        {"X": -1, "Y": 1},
    ),
    "numbers": (
        "n.csv",
        in_rows(("segment", "system_a", "system_b", "winner"), (1, "X", "Y", 1), (2, "X", "Y", 3)),
        {"ANSWER=1": "1=1", "ANSWER=0": "3=0"},
        {"X": 0.5, "Y": 0.5},
    ),
    "no system": ("m.csv", MARKS, {"HEADING": "", "TEXT": "A"}, {"A": -3}),
    "system of another name": (
        "e.json",
        tasks(marked, data=lambda n, name: {"origin": name}),
        {"HEADING": "origin"},
        {name: -penalty for name, penalty in PENALTY.items()},
    ),
    "an unknown severity": ("e.json", UNKNOWN, {}, {"A": 0, "B": -1, "C": -2}),
    "no severity": ("e.json", tasks(lambda system: marked(system, more=())), {}, {"A": 0, "B": -1, "C": -2}),
}


def suggested(sentence, instead):
    """Options that a refusal names, as they stand or with what is meant; those without a meaning are left out."""
    found = []
    for name, value in re.findall(r"(--[a-z-]+) (?:('[^']*'|[^\s,;.)]+(?:[,.][^\s,;.)]+)*))", sentence):
        word = shlex.split(value)[0]
        for capitals, meant in instead.items():
            word = word.replace(capitals, meant)
        if not re.search(r"[A-Z]{4}|=$|…", word):
            found.append((name, word))
    return found


@pytest.mark.parametrize("kind", LACKING)
def test_what_a_refusal_suggests_works(kind, ask):
    name, content, instead, right = LACKING[kind]
    refusal = ask(name, content=content)
    assert isinstance(refusal, str)
    ways = [way for way in suggested(refusal, instead) if way[0] != "--allow-rejected"]
    first = ways[0]
    together = [way for way in ways if way[0] != first[0] or first[0] == "--map-values" or way == first]
    words = [word for way in together for word in way]
    assert means(ask(name, *words, content=content)) == right


NAMED = {
    "m.csv": MARKS,
    "odd.csv": ODD,
    "none.csv": in_rows(("segment", "system_a", "system_b", "remark"), (1, "X", "Y", "fine")),
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("kind", ["mqm", "preferences"])
def test_a_format_that_is_named_says_how_the_file_is_read_and_not_to_name_it(name, kind, ask):
    refusal = ask(name, "--format", kind, content=NAMED[name])
    assert isinstance(refusal, str)
    assert "--format" not in refusal or "--format auto" in refusal
    if name == "odd.csv" and kind == "mqm":
        headings = {"system": "engine", "segment": "sentence", "category": "kind of error", "severity": "how bad"}
        asked = re.findall(r"--map (\w+)=HEADING", refusal)
        words = [word for ours in asked for word in ("--map", f"{ours}={headings[ours]}")]
        assert means(ask(name, "--format", kind, *words, content=NAMED[name])) == {"A": -5, "B": -1}
