"""A class: its campaign for the lessons, a table of who answered what, and slides."""

import csv
import io
import json
import os
import re

import nbformat
import numpy as np
import openpyxl
import pandas as pd
import pytest

from evalkit import ROOT, DataError, data, lessons
from evalkit.data.importing import import_campaign
from evalkit.data.provenance import source_of
from evalkit.lessons import annotate, classroom, exercises
from evalkit.lessons import error_spans as made
from evalkit.reports import grading, notebooks, slides
from evalkit.reports.cli import main
from evalkit.reports.notebooks import copied
from evalkit.show import MIME
from evalkit.stats import agreement


def new_class(folder, name, *options):
    """Make a campaign for a class; return its design."""
    assert main(["new", "campaign", name, "--class", *options, "--out", str(folder)]) == 0
    return json.loads((folder / name / "design.json").read_text())


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Make a class's campaign as its teacher does."""
    folder = tmp_path_factory.mktemp("class")
    new_class(folder, "our_class", "--protocol", "esa", "--annotators", "3")
    return folder / "our_class"


@pytest.fixture(scope="module")
def class_file(campaign):
    """Fill in the students' workbooks, and import them."""
    rng = np.random.default_rng(3)
    for path in sorted((campaign / "for_annotators").glob("*.xlsx")):
        book = openpyxl.load_workbook(path)
        for row in range(2, book.active.max_row + 1):
            book.active.cell(row, 5).value = int(rng.integers(0, 101))
        book.save(path)
    books = sorted((campaign / "for_annotators").glob("*.xlsx"))
    out = campaign / "class.parquet"
    import_campaign(books, out, design=campaign / "design.json", keep_names=True)
    return out


#: How many screens each student has judged: the second and the third have not come to the end.
SCREENS = {"annotator-01": 14, "annotator-02": 14, "annotator-03": 7}


@pytest.fixture(scope="module")
def marked_file(campaign, tmp_path_factory):
    """Write Pearmut's log of a class of which one has not finished, as Pearmut 1.1.6 writes it, and import it."""
    rng, lines = np.random.default_rng(5), []
    given = json.loads((campaign / "campaign.json").read_text())
    for user, task in zip(given["info"]["users"], given["data"]):
        for number, screen in enumerate(task[: SCREENS[user]]):
            answers = []
            for item in screen:
                [(alias, _)] = item["tgt"].items()
                marks = [
                    {"start_i": 0, "end_i": 3 + int(rng.integers(0, 4)), "category": None, "severity": severity}
                    for severity in rng.choice(["minor", "major"], int(rng.integers(0, 2)))
                ]
                answers.append({alias: {"score": int(rng.integers(0, 101)), "error_spans": marks, "textfield": None}})
            actions = [{"time": 1.7e9 + 100 * number, "action": "load"}, {"time": 1.7e9 + 100 * number + 80}]
            lines.append({"annotation": answers, "actions": actions, "item": screen, "user_id": user, "item_i": number})
    folder = tmp_path_factory.mktemp("pearmut")
    log, out = folder / "our_class.jsonl", folder / "class.parquet"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_campaign([log], out, design=campaign / "design.json", keep_names=True)
    return out


def test_a_class_meets_its_own_marks(marked_file, class_file):
    ratings, marks = classroom.marks(str(marked_file))
    assert set(ratings["item_type"]) == set(marks["item_type"]) == {"system"}
    assert ratings["annotator"].value_counts()["annotator-01"] == 48
    assert set(marks["annotator"]) == {"annotator-01", "annotator-02", "annotator-03"}
    assert source_of(marks)["source"] == "real"
    assert marks["end"].sub(marks["start"]).between(4, 7).all(), "Pearmut names the last character, we the one after it"
    with pytest.raises(DataError, match=r"class\.parquet holds no marked errors: workbooks have room for scores only"):
        classroom.marks(str(class_file))


def test_the_simulated_class_marks_more_where_it_scores_lower():
    ratings, marks = classroom.marks()
    assert {source_of(table)["source"] for table in (ratings, marks)} == {"simulated"}
    counted = made.with_counts(ratings, marks)
    assert counted["errors"].corr(counted["score"]) < -0.5
    assert counted["major"].sum() > 50
    pd.testing.assert_frame_equal(marks, classroom.marks()[1])
    assert len(classroom.marks(seed=8)[1]) != len(marks)


def test_a_class_of_which_one_has_not_finished_is_a_class(marked_file):
    ratings = classroom.judgements(str(marked_file))
    table = annotate.items(ratings)
    assert table.isna().any(axis=None), "not everybody judged everything"
    most = table.std(axis=1).idxmax()
    assert lessons.exercises("annotate")["most_disputed"].verdict(most, table).kind == "right"
    followed = classroom.as_metrics(ratings)
    assert followed["pairwise"].between(0, 1).all()
    apart = ratings[~(ratings["annotator"].eq("annotator-03") & ratings["system"].ne("clean"))]
    alone = classroom.as_metrics(apart[apart["annotator"].ne("annotator-02") | apart["system"].eq("clean")])
    assert alone["pairwise"].isna().all(), "no two translations of a segment were judged by two people"


def test_in_a_class_everybody_judges_everything(campaign):
    design = json.loads((campaign / "design.json").read_text())
    assert (design["everybody"], design["calibration"], design["protocol"]) == (True, 0, "ESA")
    rows = pd.read_csv(campaign / "assignment.csv")
    own = rows[rows["item_type"] == "system"]
    assert own.groupby(["system", "doc", "segment"])["annotator"].nunique().eq(3).all()
    assert len(own) == 3 * 3 * 16
    assert set(rows["item_type"]) == {"system", "repeat", "degraded"}
    orders = own.groupby("annotator")[["system", "segment"]].agg(list).apply(tuple, axis=1)
    assert len(set(map(str, orders))) == 3, "everybody in an order of their own"
    assert "--keep-names" in (campaign / "README.md").read_text()
    assert "more documents than there are" not in (campaign / "README.md").read_text()


def test_a_class_meets_its_own_file_in_the_lessons(class_file):
    ratings = classroom.judgements(str(class_file))
    assert source_of(ratings)["source"] == "real"
    assert classroom.person(ratings) == "annotator-01", "numbers survive the import"
    assert f"Your class: 3 annotators, {len(ratings)} judgements" in classroom.introduced(ratings, "annotator-02")
    assert ratings["item_type"].value_counts()["system"] == 48 * 3
    assert classroom.matrix(ratings).shape == (48, 3)
    assert set(classroom.copies(ratings)["item_type"]) == {"repeat", "degraded"}
    assert classroom.disputed(ratings)["hypothesis"].str.len().min() > 5, "texts come from the workbooks"
    with pytest.raises(DataError, match="there is no 'annotator-9' in this file"):
        classroom.person(ratings, "annotator-9")


def test_a_class_of_which_one_hardly_judged_is_told_who(class_file, tmp_path):
    ratings, _ = data.open_campaign(class_file)
    own = ratings[ratings["item_type"].eq("system")].drop(columns=["source", "hypothesis"])
    late = own["annotator"].eq("annotator-02") & ~(own["segment"].eq("3") & own["system"].eq("clean"))
    own[~late].to_csv(tmp_path / "short.csv", index=False)
    import_campaign([tmp_path / "short.csv"], tmp_path / "short.parquet", keep_names=True)
    with pytest.raises(DataError, match=r"annotator-02 judged fewest \(1\)"):
        classroom.judgements(str(tmp_path / "short.parquet"))


LESSONS = sorted((ROOT / "notebooks" / "lessons").glob("[0-6]_*.ipynb"))


#: Lessons on files of a class: one in each run of slow tests, all nightly. Workbooks have no room for marks.
ON_A_CLASS = [
    pytest.param(path, tool, marks=pytest.mark.slow if path.stem[0] == "6" else pytest.mark.nightly)
    for path in LESSONS
    for tool in ("class_file", "marked_file")
    if (path.stem, tool) != ("6_error_spans", "class_file")
]


@pytest.mark.parametrize(("path", "tool"), ON_A_CLASS)
@pytest.mark.usefixtures("without_data")
def test_every_lesson_runs_on_a_class_of_its_own(path, tool, request, executed):
    class_file = request.getfixturevalue(tool)
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    [cell] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    cell.source += f"\nclass_file, me = {str(class_file)!r}, 'annotator-02'"
    run = executed(notebook)
    outputs = [output for cell in run.cells for output in cell.get("outputs", []) if "data" in output]
    told = [output["data"][MIME] for output in outputs if MIME in output["data"]]
    assert [one for one in told if one["kind"] == "check" and not one["passed"]] == []
    sources = {one["name"]: one["source"] for one in told if one["kind"] == "source"}
    assert "simulated-class" not in sources
    assert sources[class_file.name if class_file.name in sources else class_file.stem] == "real"
    words = "".join(str(output["data"].get("text/plain", "")) for output in outputs)
    whole = classroom.marks if path.stem.startswith("6") else data.open_campaign
    counted = len(whole(str(class_file))[0])
    assert f'Your class: 3 annotators, {counted} judgements. Where it says "you", it means annotator-02.' in words


@pytest.mark.parametrize("seed", [7, 8])
def test_the_simulated_class_says_that_it_is_one_and_holds_what_was_put_in(seed):
    assert source_of(classroom.judgements())["source"] == "simulated"
    assert "SIMULATED: nobody gave these scores" in classroom.introduced(classroom.judgements())
    ratings = classroom.simulated(seed=seed)
    strict = classroom.strictness(ratings).set_index("annotator")
    assert strict.index[0] == "sim-02", "the strictest by 14 points"
    assert strict["below"].sum() == pytest.approx(0)
    losses = classroom.copies(ratings).groupby("item_type")["loss"].mean()
    assert losses["degraded"] > 20 > losses["repeat"] > -20
    wide = classroom.matrix(ratings)
    by_sense = wide["sim-04"] - wide["sim-06"]
    by_system = by_sense.groupby("system").mean()
    assert by_system["smooth"] < by_system["stiff"], "one counts what is said, the other how"


def test_what_a_class_is_told_is_what_other_ways_give():
    ratings = classroom.simulated()
    wide = classroom.matrix(ratings)
    you, other = classroom.nearest(ratings)
    counts = classroom.agreement_table(ratings, you, other).to_numpy()
    parts = [pd.cut(wide[name], [-1, 33.33, 66.66, 101], labels=False) for name in (you, other)]
    assert counts.sum() == 48
    assert np.trace(counts) == (parts[0] == parts[1]).sum()
    table = classroom.as_metrics(ratings).set_index("annotator")
    rest = wide.drop(columns="sim-03").mean(axis=1)
    assert table.loc["sim-03", "pearson"] == pytest.approx(np.corrcoef(wide["sim-03"], rest)[0, 1])
    right = total = 0
    for _, part in pd.DataFrame({"a": wide["sim-03"], "b": rest}).groupby(["doc", "segment"]):
        for i in range(3):
            for j in range(i):
                a, b = part["a"].iloc[i] - part["a"].iloc[j], part["b"].iloc[i] - part["b"].iloc[j]
                right, total = right + (np.sign(a) == np.sign(b)), total + 1
    assert table.loc["sim-03", "pairwise"] == pytest.approx(right / total)
    first = classroom.disputed(ratings).iloc[0]
    row = wide.loc[(first["system"], first["doc"], first["segment"])]
    assert (row.min(), row.max()) == (first["lowest"], first["highest"])
    assert row.std() == wide.std(axis=1).max()
    assert agreement.score_matrix(ratings[ratings["item_type"] == "system"]).equals(wide)


KAPPA = ROOT / "notebooks" / "lessons" / "1_kappa_by_hand.ipynb"
NAMES = list(exercises("kappa_by_hand"))
RIGHT = "def observed_agreement(table):\n    return float(np.trace(table) / table.sum())"
WRONG = "def observed_agreement(table):\n    return float(np.trace(table) / len(table))"


def hand_in(path, answers=(), records=(), lesson=KAPPA, change=lambda cells: cells):
    """Write a student's notebook: answers (exercise -> code), and what its checks recorded (exercise -> payload)."""
    cells, answers, records, above = copied(lesson), dict(answers), dict(records), None
    for cell in cells:
        if "exercise" in notebooks.tags(cell):
            above = cell
        name = next(iter(grading.exercises([cell])), "")
        if name in answers:
            above["source"] = answers[name]
        if name in records:
            data = {"text/plain": "told", MIME: {"kind": "check", "exercise": name, **records[name]}}
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": change(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def right():
    return {"passed": True, "found": "right", "hint": ""}


def wrong(hint="You divided by the number of categories.", found="misconception"):
    return {"passed": False, "found": found, "hint": hint}


def one(found, student, exercise="observed_agreement"):
    [row] = found[found["student"].eq(student) & found["exercise"].eq(exercise)].itertuples()
    return row


def test_every_exercise_of_every_lesson_is_found():
    known = grading.lessons()
    assert {name for name, _ in known.values()} == {
        path.stem for path in (ROOT / "notebooks" / "lessons").glob("*.ipynb")
    }
    for module, (_, cells) in known.items():
        found = grading.exercises(cells)
        assert set(found) == set(exercises(module))
        assert all("check" in notebooks.tags(check) for check in found.values())


def test_students_by_exercise_with_the_misconception_behind_each_wrong_answer(tmp_path):
    hand_in(tmp_path / "anna" / KAPPA.name, {"observed_agreement": RIGHT}, {"observed_agreement": right()})
    hand_in(tmp_path / "1_kappa_by_hand_bert.ipynb", {"observed_agreement": WRONG}, {"observed_agreement": wrong()})
    found = grading.grade(tmp_path)
    assert set(found["student"]) == {"anna", "bert"}
    assert found.loc[found["student"].eq("anna"), "exercise"].tolist() == NAMES
    assert one(found, "anna").kind == "right"
    assert one(found, "bert").hint == "You divided by the number of categories."
    assert one(found, "bert", "kappa").kind == "no record"
    table = list(csv.DictReader(io.StringIO(grading.as_csv(found).removeprefix("\ufeff"))))
    assert [(row["student"], row["right"], row["of"]) for row in table] == [("anna", "1", "7"), ("bert", "0", "7")]
    told = table[1]["1_kappa_by_hand observed_agreement"]
    assert told == "misconception: You divided by the number of categories."


@pytest.mark.parametrize("source", ['check("observed_agreement", lambda table: 1)', "gone", None])
def test_a_record_of_a_check_that_was_changed_is_doubtful(tmp_path, source):
    def changed(cells):
        if source is not None:
            next(cell for cell in cells if "observed_agreement" in grading.exercises([cell])).update(source=source)
        return cells

    hand_in(tmp_path / "anna" / KAPPA.name, {NAMES[0]: RIGHT}, {NAMES[0]: right()}, change=changed)
    found = grading.grade(tmp_path)
    assert one(found, "anna").kind == ("doubtful" if source else "right")
    assert one(found, "anna").hint == ("the check was changed" if source else "")
    assert ("Doubtful, the most" in grading.as_text(found)) is bool(source)


def test_records_of_any_form_two_copies_and_links_out_of_the_folder_stop_nothing(tmp_path):
    def odd(cells):
        for cell in cells:
            if grading.exercises([cell]):
                shown = (5, {"kind": "check"}, {"kind": "check", "found": ["right"], "hint": ""})
                data = [{MIME: payload, "text/plain": "✗ Not yet. No."} for payload in shown]
                cell["outputs"] = [{"output_type": "display_data", "data": one, "metadata": {}} for one in data]
        return cells

    trace = tmp_path / "trace"
    code = f"open({str(trace)!r}, 'w')\n{RIGHT}"
    hand_in(tmp_path / "in" / "odd" / KAPPA.name, change=odd)
    hand_in(tmp_path / "in" / "code" / KAPPA.name, {NAMES[0]: code}, {NAMES[0]: wrong()})
    hand_in(tmp_path / "in" / "twice" / "a" / KAPPA.name, {NAMES[0]: RIGHT}, {NAMES[0]: right()})
    hand_in(tmp_path / "in" / "twice" / "b" / KAPPA.name)
    os.symlink(hand_in(tmp_path / "outside" / KAPPA.name), tmp_path / "in" / "linked.ipynb")
    said = []
    found = grading.grade(tmp_path / "in", say=said.append)
    assert set(found.loc[found["student"].eq("odd"), "kind"]) == {"other"}
    assert found["student"].nunique() == 4, "the two copies, and not the link"
    assert "more than once" in said[0]
    assert not trace.exists(), "nothing is executed unless asked for"


def test_what_is_no_lesson_is_left_out_and_told(tmp_path):
    with pytest.raises(DataError, match="holds no notebook"):
        grading.grade(tmp_path)
    for name, content in (("a", "{"), ("b", '{"cells": [3], "nbformat": 4}'), ("c", '{"cells": [], "nbformat": 4}')):
        (tmp_path / f"{name}.ipynb").write_text(content)
    said = []
    with pytest.raises(DataError, match="holds no notebook of a lesson"):
        grading.grade(tmp_path, say=said.append)
    assert [line.split(":")[0] for line in said] == ["left out"] * 3


def test_the_command_prints_the_table_and_writes_it(tmp_path, capsys):
    hand_in(tmp_path / "in" / "anna" / KAPPA.name, {"observed_agreement": WRONG}, {"observed_agreement": wrong()})
    out = tmp_path / "grades.csv"
    assert main(["grade", str(tmp_path / "in"), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed.strip().endswith(str(out))
    assert "anna" in printed
    assert "0 of 7" in printed
    assert out.read_bytes().startswith(b"\xef\xbb\xbfstudent,right,of,1_kappa_by_hand observed_agreement")
    assert main(["grade", str(tmp_path / "nowhere")]) == 1
    assert main(["grade", str(tmp_path / "in"), "--run"]) == 2, "nothing is executed"


def md(text):
    return nbformat.v4.new_markdown_cell(text)


def code(source="x = 1", *outputs, tags=()):
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})
    cell.outputs = [nbformat.v4.new_output("display_data", data=data, metadata=about) for data, about in outputs]
    return cell


def of(kind, name="set"):
    return {MIME: {"kind": "source", "name": name, "source": kind}, "text/html": "<p class='source'>raw</p>"}, {}


def cut(*cells):
    return slides.cut(list(cells))


def test_a_heading_begins_a_slide_and_exercises_are_shown_but_no_checks():
    check = {"text/html": "<p class='check'>Not yet</p>"}, {}
    made = cut(
        md("# Title\n\nOne."),
        md("## Two\n\n### Three\n\nText."),
        code("import numpy"),
        code("y = 2  # TODO <b>", tags=["exercise"]),
        code("check()", check, tags=["check"]),
        code("seed = 7", tags=["parameters"]),
    )
    assert [slide.title for slide in made] == ["Title", "Three"]
    slide = made[1]
    assert "y = 2  # TODO &lt;b&gt;" in "".join(slide.parts)
    assert not re.search("numpy|Not yet|seed", "".join(slide.parts))


def test_simulated_data_are_marked_on_every_slide():
    cells = [md("# T\n\nx"), code("", of("real")), md("## Own\n\nx"), code("", of("simulated", "c"))]
    assert slides.page(cells).count("with <strong>SIMULATED</strong> data: c<") == 2
    assert "SIMULATED" not in slides.page(cells[:2])


def test_what_data_say_is_no_markup():
    shown = {"text/html": "<p onclick='x()'>a<script>alert(1)</script></p>"}, {}
    html = slides.page([md("# T <img src=x>\n\ntext"), code("", shown)])
    assert "<script" not in html
    assert "onclick" not in html
    assert "<img src=x" not in html


def test_unknown_lessons_are_told(tmp_path, capsys):
    assert main(["slides", "1_kapa_by_hand", "--out", str(tmp_path)]) == 1
    assert slides.lessons()["1"] == slides.lessons()["1_kappa_by_hand"]
    assert "Did you mean '1_kappa_by_hand'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    return slides.make("0_annotate", folder)


@pytest.mark.slow
def test_slides_leave_out_solutions_and_hold_no_script(page):
    html = page.read_text(encoding="utf-8")
    for secret in ("value_counts()[you]", "scatter.index[-1]", "<script", 'http-equiv="refresh'):
        assert secret not in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert "SIMULATED" in html
    assert "For teachers" not in html
