"""Grading: a table of students by exercise, from what checks recorded."""

import csv
import io
import json
import os

import pytest

from evalkit import ROOT, DataError
from evalkit.lessons import exercises
from evalkit.reports import grading, notebooks
from evalkit.reports.cli import main
from evalkit.reports.notebooks import copied
from evalkit.show import MIME

KAPPA = ROOT / "notebooks" / "lessons" / "1_kappa_by_hand.ipynb"
NAMES = list(exercises("kappa_by_hand"))
RIGHT = "def observed_agreement(table):\n    return float(np.trace(table) / table.sum())"
WRONG = "def observed_agreement(table):\n    return float(np.trace(table) / len(table))"


def hand_in(path, answers=(), records=(), lesson=KAPPA, change=lambda cells: cells):
    """Write a student's notebook: answers (exercise -> code), and what its checks recorded (exercise -> payload)."""
    cells, answers, records, count, above = copied(lesson), dict(answers), dict(records), 0, None
    for cell in cells:
        count += cell["cell_type"] == "code"
        if cell["cell_type"] == "code":
            cell["execution_count"] = count
        if "exercise" in notebooks.tags(cell):
            above = cell
        name = grading.checked(cell)
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
    [row] = [row for row in found if row.student == student and row.exercise == exercise]
    return row


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_exercise_of_every_lesson_is_found_with_the_answer_above_it(path):
    lesson = grading.lesson(path)
    assert set(lesson.exercises) == set(exercises(lesson.module))
    for check, answer in lesson.exercises.values():
        assert "check" in notebooks.tags(lesson.given[check])
        assert "TODO" in notebooks.source(lesson.given[answer])


def test_students_by_exercise_with_the_misconception_behind_each_wrong_answer(tmp_path):
    hand_in(tmp_path / "anna" / KAPPA.name, {"observed_agreement": RIGHT}, {"observed_agreement": right()})
    hand_in(tmp_path / "1_kappa_by_hand_bert.ipynb", {"observed_agreement": WRONG}, {"observed_agreement": wrong()})
    found = grading.grade(tmp_path)
    assert {row.student for row in found} == {"anna", "bert"}
    assert [row.exercise for row in found if row.student == "anna"] == NAMES
    assert one(found, "anna").kind == "right"
    assert one(found, "bert").hint == "You divided by the number of categories."
    assert one(found, "bert", "kappa").kind == "no record"
    table = list(csv.DictReader(io.StringIO(grading.as_csv(found).removeprefix("\ufeff"))))
    assert [(row["student"], row["right"], row["of"]) for row in table] == [("anna", "1", "7"), ("bert", "0", "7")]
    told = table[1]["1_kappa_by_hand observed_agreement"]
    assert told == "misconception: You divided by the number of categories."


def found_in(cells, kind):
    """Return the check of the first exercise, or the cell with its answer."""
    if kind == "check":
        return next(cell for cell in cells if grading.checked(cell) == "observed_agreement")
    return next(cell for cell in cells if "def observed_agreement" in notebooks.source(cell))


@pytest.mark.parametrize(
    ("kind", "change", "doubt"),
    [
        ("check", {"source": 'check("observed_agreement", lambda table: 1)'}, "the check was changed"),
        ("check", {"execution_count": None}, "never ran"),
        ("check", {"source": "gone", "cell_type": "markdown"}, "the check is gone"),
        ("answer", {"execution_count": 99}, "was run after its check"),
        ("nothing", {}, "nothing was filled in"),
        ("check", {}, ""),
    ],
)
def test_what_speaks_against_a_record_is_told(tmp_path, kind, change, doubt):
    def changed(cells):
        if kind != "nothing":
            found_in(cells, kind).update(change)
        return cells

    answers = {} if kind == "nothing" else {"observed_agreement": RIGHT}
    hand_in(tmp_path / "anna" / KAPPA.name, answers, {"observed_agreement": right()}, change=changed)
    found = grading.grade(tmp_path)
    assert doubt in one(found, "anna").doubt
    assert bool(one(found, "anna").doubt) is bool(doubt)
    assert ("Doubtful:" in grading.as_text(found)) is bool(doubt)


def test_records_of_any_form_two_copies_and_links_out_of_the_folder_stop_nothing(tmp_path):
    def odd(cells):
        for cell in cells:
            if grading.checked(cell):
                cell["outputs"] = [3, {"data": 4}, {"data": {MIME: 5}}, {"data": {MIME: {"kind": "check"}}}]
        return cells

    def only_text(cells):
        for output in found_in(cells, "check")["outputs"]:
            output["data"] = {"text/plain": ["✗ Not yet. ", "This is a number of items."]}
        return cells

    trace = tmp_path / "trace"
    code = f"open({str(trace)!r}, 'w')\n{RIGHT}"
    hand_in(tmp_path / "in" / "odd" / KAPPA.name, change=odd)
    hand_in(tmp_path / "in" / "text" / KAPPA.name, {NAMES[0]: code}, {NAMES[0]: wrong()}, change=only_text)
    hand_in(tmp_path / "in" / "twice" / "a" / KAPPA.name, {NAMES[0]: RIGHT}, {NAMES[0]: right()})
    hand_in(tmp_path / "in" / "twice" / "b" / KAPPA.name)
    os.symlink(hand_in(tmp_path / "outside" / KAPPA.name), tmp_path / "in" / "linked.ipynb")
    said = []
    found = grading.grade(tmp_path / "in", say=said.append)
    assert {row.kind for row in found if row.student == "odd"} == {"other"}
    assert (one(found, "text").kind, one(found, "text").hint) == ("other", "This is a number of items.")
    assert len({row.student for row in found}) == 4, "the two copies, and not the link"
    assert "more than once" in said[0]
    assert not trace.exists(), "nothing is executed unless asked for"


def test_a_terminal_obeys_nothing_that_students_write_and_has_room_for_all(tmp_path):
    hint = "\x1b[2Jgone\nsecond \x07 line" + 600 * "x"
    for number in range(12):
        name = f"{number:02d}\x1b[31m_a_student_whose_folder_has_a_name_too_long_for_a_terminal_of_eighty_columns"
        hand_in(tmp_path / name / KAPPA.name, {NAMES[0]: WRONG}, dict.fromkeys(NAMES, wrong(hint)))
    text = grading.as_text(grading.grade(tmp_path))
    assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]
    assert max(map(len, text.splitlines())) <= 80
    assert "12 x  1_kappa_by_hand observed_agreement" in text


def test_no_cell_of_the_csv_starts_as_a_formula(tmp_path):
    hints = {"observed_agreement": wrong("=HYPERLINK(1)", "other"), "kappa": wrong("\t@x", "other")}
    hand_in(tmp_path / "=cmd|'calc'!A1" / KAPPA.name, {}, hints)
    hand_in(tmp_path / "+1" / KAPPA.name, {}, hints)
    hand_in(tmp_path / "@me" / KAPPA.name, {}, hints)
    text = grading.as_csv(grading.grade(tmp_path))
    cells = [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) for cell in row]
    assert sum(cell.startswith("'") for cell in cells) == 2, "+1 is a number"
    for cell in cells:
        assert not cell.strip().startswith(("=", "@", "-", "+")) or cell == "+1", cell


def test_what_is_no_lesson_is_left_out_and_told(tmp_path):
    (tmp_path / "a.ipynb").write_text("{")
    (tmp_path / "b.ipynb").write_text(json.dumps({"cells": [3], "nbformat": 4}))
    (tmp_path / "c.ipynb").write_text(json.dumps({"cells": [], "nbformat": 4}))
    said = []
    with pytest.raises(DataError, match="holds no notebook of a lesson"):
        grading.grade(tmp_path, say=said.append)
    assert [line.split(":")[0] for line in said] == ["left out"] * 3
    with pytest.raises(DataError, match="is no folder"):
        grading.grade(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no notebook"):
        grading.grade(tmp_path / "empty")


@pytest.mark.parametrize(
    "odd",
    [{"id": ["a"]}, {"outputs": 5}, {"source": "-" * 9000 + "1"}, {"source": "(" * 5000}, {"source": "\0"}],
)
def test_an_odd_cell_of_ones_own_changes_no_record(odd, tmp_path, capfd):
    cell = {"id": "own", "cell_type": "code", "metadata": {}, "source": "1", "outputs": [], "execution_count": 1} | odd
    hand_in(tmp_path / "a" / KAPPA.name, records={"kappa": right()}, change=lambda cells: [*cells, cell])
    rows = {row.exercise: row.kind for row in grading.grade(tmp_path)}
    assert rows == dict.fromkeys(NAMES, "no record") | {"kappa": "right"}
    assert capfd.readouterr().err == ""


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


def test_nothing_is_executed_even_when_asked_for(tmp_path, capsys):
    hand_in(tmp_path / "in" / "anna" / KAPPA.name, {"observed_agreement": "open('ran', 'w')"})
    assert main(["grade", str(tmp_path / "in"), "--run"]) == 2
    assert "Run All" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]
