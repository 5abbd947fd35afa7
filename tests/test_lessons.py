"""Lessons: solved ones pass their checks, mistakes get the hint that fits, and what they compute is what libraries do."""

import ast
import itertools
import json
import re
from functools import partial

import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalkit import ROOT, DataError, lessons
from evalkit.data import stand_ins
from evalkit.human import mqm, planning
from evalkit.human import preferences as human
from evalkit.lessons import (
    Function,
    Made,
    Value,
    context_matters,
    kappa_by_hand,
    many_comparisons,
    model_judges,
    preferences,
    strict_and_lenient,
)
from evalkit.lessons import planning as lesson_planning
from evalkit.lessons.checker import form, same
from evalkit.reports import notebooks
from evalkit.reports.notebooks import BEGIN, END, student
from evalkit.show import MIME
from tests.makers import each, notebook

LESSONS = sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
#: Each lesson is executed once, on real data; without data, an unsolved copy of the first one, and all nightly.
WITHOUT_DATA = [
    pytest.param(path, solved, marks=pytest.mark.nightly if solved or path != LESSONS[0] else pytest.mark.slow)
    for path in LESSONS
    for solved in (False, True)
]
SAID = "application/json"  # what an injected cell tells the test
INJECTED = """
from evalkit import lessons as _lessons
_exercise, _context = _lessons.exercises("{lesson}")["{name}"], [{context}]
_right = _exercise.right(*_context) if isinstance(_exercise, _lessons.Value) else ""
_wrong = [(_exercise.hints[key], mistake) for key, mistake in _exercise.mistakes.items()]
_wrong = [(hint, one if isinstance(_exercise, _lessons.Function) else one(*_context)) for hint, one in _wrong]
_told = [{{"wanted": hint, "hint": _exercise.verdict(one, *_context)}} for hint, one in _wrong]
_told = [each | {{"hint": each["hint"].hint}} for each in _told if each["hint"].kind != "right"]
display({{"{said}": {{"exercise": "{name}", "told": _told, "right": str(_right)}}}}, raw=True)
"""


def module(path):
    """Name the module with a lesson's exercises."""
    return path.stem.partition("_")[2]


def cells(path, tag=None):
    return [cell for cell in notebooks.read(path)["cells"] if tag is None or tag in notebooks.tags(cell)]


def call(cell):
    """Return the one call of a check cell: the exercise's name, and its other arguments as they are written."""
    [statement] = ast.parse(cell["source"]).body
    assert statement.value.func.id == "check"
    name, *arguments = statement.value.args
    return name.value, [ast.unparse(each) for each in arguments]


def shown(notebook, mime):
    """Collect what the cells show in one format, in order."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output["output_type"] == "error"]
    return [output["data"][mime] for output in outputs if mime in output.get("data", {})]


def checked(notebook):
    return [payload for payload in shown(notebook, MIME) if payload["kind"] == "check"]


def removed(path):
    """List the lines that a student must not see: those of marked solutions, and cells that are left out whole."""
    lines = []
    for cell in cells(path, "solution"):
        text = cell["source"]
        inside = re.findall(rf"{re.escape(BEGIN)}\n(.*?)\n\s*{re.escape(END)}", text, re.DOTALL)
        lines += "\n".join(inside or [text]).splitlines()
    return [line.strip() for line in lines]


@each_lesson
def test_no_solution_survives_in_the_students_copy_nor_in_a_hint(path, tmp_path):
    copy = student(path, tmp_path / path.name)
    kept = "\n".join(cell["source"] for cell in cells(copy))
    hints = " ".join(hint for each in lessons.exercises(module(path)).values() for hint in each.hints.values())
    secret = [line for line in removed(path) if len(line) >= 12]
    assert secret
    for line in secret:
        assert line not in kept
        assert line not in hints
    assert not {BEGIN, END} & set(kept.split("\n"))
    assert not cells(copy, "solution") + cells(copy, "teacher")
    assert not notebooks.tidy(copy, check=True)


@each_lesson
def test_a_right_function_passes_its_trials_and_each_wrong_one_gets_its_hint(path):
    for exercise in lessons.exercises(module(path)).values():
        if isinstance(exercise, Function):
            assert exercise.verdict(exercise.right).kind == "right"
            assert {key: exercise.verdict(wrong).hint for key, wrong in exercise.mistakes.items()} == exercise.hints


@pytest.mark.slow
@each_lesson
def test_on_real_data_solutions_pass_and_each_typical_mistake_gets_its_own_hint(path, here, executed):
    for name in set(re.findall(r'data\.load\("([\w-]+)"', json.dumps(cells(path)).replace('\\"', '"'))):
        here(name)
    asked = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    with_mistakes = []
    for cell in asked.cells:
        with_mistakes.append(cell)
        if "check" in cell.metadata.get("tags", []):
            name, (_, *context) = call(cell)
            code = INJECTED.format(lesson=module(path), name=name, context=", ".join(context), said=SAID)
            with_mistakes.append(nbformat.v4.new_code_cell(code))
    asked.cells = with_mistakes
    run = executed(asked)
    assert [each for each in checked(run) if not each["passed"]] == []
    assert len(checked(run)) == len(cells(path, "check"))
    sources = [source for source in shown(run, MIME) if source["kind"] == "source"]
    others = [one for one in sources if one["name"] not in ("simulated-class", "simulated-class-marks")]
    assert {source["source"] for source in others} <= {"real", "published"}
    for answered in shown(run, SAID):
        made = isinstance(lessons.exercises(module(path))[answered["exercise"]], Made)
        assert answered["told"] or made, f"{answered['exercise']}: no typical mistake is wrong on these data"
        for mistake in answered["told"]:
            assert mistake["hint"] == mistake["wanted"], answered["exercise"]
            assert len(answered["right"]) < 4 or answered["right"][:5] not in mistake["hint"], "a hint is no answer"


@pytest.mark.parametrize(("path", "solved"), WITHOUT_DATA)
@pytest.mark.usefixtures("without_data")
def test_without_data_solutions_pass_on_simulations_and_an_unsolved_copy_gets_hints(path, solved, tmp_path, executed):
    copy = path if solved else student(path, tmp_path / path.name)
    run = executed(nbformat.reads(copy.read_text(encoding="utf-8"), as_version=4))
    told = checked(run)
    assert len(told) == len(cells(path, "check")) > 0
    assert {each["passed"] for each in told} == {solved}
    assert solved or all(len(each["text"].removeprefix("✗ Not yet.").strip()) > 20 for each in told)
    sources = [each["source"] for each in shown(run, MIME) if each["kind"] == "source"]
    assert "real" not in sources
    assert "simulated" not in sources or "SIMULATED" in "".join(shown(run, "text/html"))


DOUBLE = Function(
    right=lambda x: 2 * x,
    trials=lambda: [(1.25,), (2.5,), (-3.0,)],
    mistakes={"added": lambda x: x + 2, "squared": lambda x: x**2},
    hints={"added": "You added.", "squared": "You squared."},
    otherwise="Something else.",
)


class Hostile:
    """An answer whose methods fail."""

    def __float__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("answer", "kind", "hint"),
    [
        (lambda x: x + x, "right", ""),
        (lambda x: print("trial") or 2 * x, "right", ""),
        (lambda x: x + 2, "misconception", "You added."),
        (lambda x: x * x, "misconception", "You squared."),
        (lambda x: print(2 * x), "misconception", "prints its result and returns nothing"),
        (lambda x: 7 * x + 1, "other", "Something else."),
        (lambda x: -2 * x, None, "wrong sign"),
        (lambda x: 200 * x, None, "percentage"),
        (lambda x: [x, x], "form", "2 values. Asked for: a number"),
        (lambda x: "2x", "form", "a text in quotation marks. Asked for: a number"),
        (lambda x: Hostile(), None, "of type Hostile"),
        (lambda x: x / 0, "error", "ZeroDivisionError"),
        (lambda x: y, "error", "name 'y' is not defined"),  # noqa: F821
        (lambda x: None, "empty", "no answer yet"),
        (..., "empty", "no answer yet"),
        (lambda x: 2 * x if x > 0 else None, None, "returns nothing"),
        (2.5, "form", "a function is asked for"),
    ],
)
def test_a_function_gets_the_hint_that_fits(answer, kind, hint, capsys):
    found = DOUBLE.verdict(answer)
    assert kind in (None, found.kind)
    assert hint in (found.hint or "")
    assert (found.kind == "right") is (kind == "right")
    assert capsys.readouterr().out == "", "what a function prints is not shown by its check"


def test_a_function_that_changes_its_input_does_not_change_what_it_is_held_against():
    def spoils(table):
        table[:] = 0
        return 0.0

    total = Function(right=np.sum, trials=lambda: [(np.arange(4),)], otherwise="Add them up.")
    assert total.verdict(spoils).hint == "Add them up."
    assert total.verdict(lambda table: table.sum()).kind == "right"


def test_a_value_is_held_against_the_data_of_the_run():
    highest = Value(
        right=lambda scores: scores.idxmax(),
        mistakes={"lowest": lambda scores: scores.idxmin()},
        hints={"lowest": "This is the lowest."},
        otherwise="Look again.",
    )
    scores = pd.Series({"a": 1.0, "b": 3.0, "c": 2.0})
    assert highest.verdict("b", scores).kind == "right"
    assert highest.verdict("a", scores).hint == "This is the lowest."
    assert highest.verdict("c", scores).hint == "Look again."
    assert "Asked for: a text" in highest.verdict(3.0, scores).hint
    assert highest.verdict("a", scores[["a"]]).kind == "right", "a mistake that happens to be right is none"


def test_a_made_thing_is_told_the_first_property_that_it_lacks():
    pair = Made(needs={"two": lambda made: len(made) == 2, "sum": sum}, hints={"two": "Two.", "sum": "Not nothing."})
    assert [pair.verdict(made).hint for made in ([1, 2, 3], 5, [0, 0], [1, 2])] == ["Two.", "Two.", "Not nothing.", ""]


@pytest.mark.parametrize(
    ("found", "wanted", "told"),
    [
        (50, 0.5, "percentage"),
        ("0.5", 0.5, "quotation marks"),
        (None, True, "Asked for: True or False"),
        (len, {"b": 1}, "Asked for is a mapping"),
        ({"a": 1}, {"a": 1, "b": 2}, "the keys 'a', 'b'"),
    ],
)
def test_the_form_of_an_answer_is_told_in_words(found, wanted, told):
    assert told in form(found, wanted)


@pytest.mark.parametrize(
    ("found", "wanted", "equal"),
    [
        *((1, 1.0, True), (1.0, 1.0 + 1e-12, True), (1.0, 1.0001, False), (np.nan, np.nan, True), (True, 1.0, True)),
        *(([1, 2], (1.0, 2.0), True), ([2, 1], (1.0, 2.0), False), ([1], 1, False), ("1", 1, False), (..., 1, False)),
        *(({"a": 1}, {"a": 1.0}, True), ({"a": 1}, {"b": 1}, False), ({"a", "b"}, ["b", "a"], True)),
        *((["a", "a"], ["a"], False), ([], ["a"], False)),
        (pd.Series([2, 1], ["b", "a"]), pd.Series([1, 2], ["a", "b"]), True),
    ],
)
def test_answers_are_the_same_or_not(found, wanted, equal):
    assert same(found, wanted) is equal


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=5))
def test_rounding_is_told_and_only_where_it_is_the_mistake(values):
    wanted = np.array(values) + 0.0123456789
    told = form(wanted.round(2), wanted)
    assert told is None or "rounding" in told
    assert "rounding" in str(told) or same(wanted.round(2), wanted)
    assert form(wanted + 1, wanted) is None or "rounding" not in form(wanted + 1, wanted)


def test_check_shows_text_as_text(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("evalkit.lessons.checker.display", lambda bundle, **_: shown.append(bundle))

    def stops(table):
        raise ValueError("<b>bold</b>")

    lessons.of("kappa_by_hand")("kappa", stops)
    [bundle] = shown
    assert "&lt;b&gt;bold" in bundle["text/html"]
    assert bundle[MIME]["passed"] is False
    assert bundle["text/plain"].startswith("✗ Not yet. Your function stops with ValueError: <b>bold</b>")


def test_lessons_go_on_with_a_students_own_function_once_it_passes():
    check = lessons.of("many_comparisons")
    mine = partial(many_comparisons.any_false)
    assert check.passed("any_false", mine) is mine
    assert check.passed("any_false", ...) is check.passed("any_false", max) is many_comparisons.any_false


def test_unknown_lessons_and_exercises_are_told():
    for ask, told in (
        (lambda: lessons.of("kapa"), "no lesson 'kapa'"),
        (lambda: lessons.exercises("checks"), "no lesson 'checks'"),
        (lambda: lessons.of("kappa_by_hand")("kapppa", 1), "Did you mean 'kappa'"),
    ):
        with pytest.raises(DataError, match=told):
            ask()


def test_a_students_copy_keeps_the_start_of_an_exercise_and_leaves_out_what_is_for_teachers(tmp_path):
    code = f'def f(x):\n    """Return x."""\n    # TODO: write it\n    {BEGIN}\n    return x\n    {END}'
    made = [("markdown", "Question", []), ("markdown", "Ten minutes", ["teacher"]), ("code", code, ["solution"])]
    made += [("markdown", "Because.", ["solution"]), ("code", "check(f)", ["check"])]
    copy = cells(student(notebook(tmp_path / "a.ipynb", *made), tmp_path / "copy.ipynb"))
    kept = 'def f(x):\n    """Return x."""\n    # TODO: write it'
    assert [cell["source"] for cell in copy] == ["Question", kept, "check(f)"]
    assert [notebooks.tags(cell) for cell in copy] == [[], ["exercise"], ["check"]]


@each
def test_a_lesson_whose_solution_would_leak_or_leave_no_python_is_refused(tmp_path, cell, message):
    with pytest.raises(DataError, match=message):
        student(notebook(tmp_path / "a.ipynb", tuple(cell)), tmp_path / "copy.ipynb")
    assert not (tmp_path / "copy.ipynb").exists()


@pytest.mark.parametrize(
    ("table", "printed"),
    [([[40, 9], [6, 45]], 0.70), ([[80, 10], [5, 5]], 0.32), ([[45, 15], [25, 15]], 0.13), ([[25, 35], [5, 35]], 0.26)],
)
def test_kappas_of_the_two_paradoxes_are_those_of_feinstein_and_cicchetti(table, printed):
    assert round(kappa_by_hand.coefficient(np.array(table), "cohen_kappa"), 2) == printed


@pytest.mark.parametrize("seed", range(2))
def test_the_simulated_campaign_holds_the_trap_that_the_lesson_speaks_of(seed):
    campaign = strict_and_lenient.simulated_campaign(seed=seed)
    means = strict_and_lenient.means(campaign)
    assert means["calibration"].idxmin() == means["system"].idxmin() == "sim-Bert", "the strict one is lowest in both"
    assert means["system"].nsmallest(2).index.tolist() == ["sim-Bert", "sim-Cora"]
    known = lessons.exercises("strict_and_lenient")
    assert known["mistaken"].right(campaign) == "sim-Cora"
    ranks = strict_and_lenient.system_means(campaign).rank(ascending=False)
    off = ranks.sub(ranks["true"], axis=0).abs().sum()
    assert off["calibrated"] < off["z"]
    assert off["calibrated"] < off["raw"]
    gained = strict_and_lenient.places_gained(campaign)
    assert (gained == gained.max()).sum() == 1, "one answer is right"


def test_a_copy_that_somebody_has_worked_in_is_not_overwritten(tmp_path):
    source = notebook(tmp_path / "a.ipynb", ("code", f"x = ...  # TODO\n{BEGIN}\nx = 1\n{END}", ["solution"]))
    copy = student(source, tmp_path / "copy.ipynb")
    student(source, copy)
    run = notebooks.read(copy)
    run["cells"][0] |= {"execution_count": 3}
    copy.write_text(json.dumps(run))
    student(source, copy)
    run["cells"][0]["source"] = ["x = 2"]
    copy.write_text(json.dumps(run))
    with pytest.raises(DataError, match="holds somebody's answers"):
        student(source, copy)
    assert "x = 2" in copy.read_text()


# What lessons say and compute: their texts, their right functions against other libraries, their hints.

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_balanced_places_make_the_pull_of_a_place_vanish(seed):
    shown = preferences.screens(4000, pull=0.3, seed=seed)
    assert preferences.fair_share(shown, "A") == pytest.approx(0.5, abs=0.06)
    assert preferences.fair_share(shown, "A") + preferences.fair_share(shown, "B") == pytest.approx(1)
    assert preferences.by_place(shown, "A")["all"] > 0.53


def test_duels_are_those_of_one_pair_after_another():
    shared = mqm.crossed(stand_ins.stand_in("wmt23-mqm").query("tgt_lang == 'eng'"))
    scores = shared.pivot(index=["annotator", "doc", "segment"], columns="system", values="score")
    won, tied = preferences.duels(shared)
    for first, second in itertools.islice(itertools.permutations(scores, 2), 40):
        wins, ties, losses = preferences.duel(scores, first, second)
        assert (won.loc[first, second], tied.loc[first, second], won.loc[second, first]) == (wins, ties, losses)


def test_repeating_the_rule_settles_on_the_packages_strengths():
    for wins, strength in lessons.exercises("preferences")["update"].trials():
        for _ in range(500):
            strength = preferences.update(wins, strength)
        assert strength == pytest.approx(human.fit_cells(human.of_wins(pd.DataFrame(wins))).odds, rel=1e-6)


def test_tests_of_two_systems_are_those_of_scipy():
    rng = np.random.default_rng(1)
    scores = pd.DataFrame({"B": rng.normal(0, 3, 70), "A": rng.normal(1, 3, 70)})
    [row] = many_comparisons.compare(scores).itertuples()
    assert (row.first, row.second) == ("A", "B")
    assert row.difference == pytest.approx(scores["A"].mean() - scores["B"].mean())
    options = {"correction": True, "method": "asymptotic"}
    assert row.p == pytest.approx(stats.wilcoxon(scores["A"], scores["B"], **options).pvalue, rel=1e-6)
    [row] = many_comparisons.compare(scores, test="t").itertuples()
    assert row.p == pytest.approx(stats.ttest_rel(scores["A"], scores["B"]).pvalue, rel=1e-6)


def test_in_a_world_of_equals_one_test_in_twenty_raises_an_alarm():
    rng = np.random.default_rng(5)
    scores = pd.DataFrame(np.round(rng.normal(0, 4, (120, 6)) + rng.normal(0, 5, (120, 1))), columns=[*"ABCDEF"])
    p = many_comparisons.worlds(scores, number=60, seed=7)
    assert p.shape == (60, 15)
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.02)
    tried = many_comparisons.variants(scores, number=6, seed=7)
    assert tried.shape == (90, 12)
    assert many_comparisons.hacked(tried) > 2 * (tried.iloc[:, 0] < 0.05).mean()


def test_small_campaigns_exaggerate_and_large_ones_hardly():
    rng = np.random.default_rng(6)
    scores = pd.DataFrame(rng.normal([0, 0.7, 1.4], 4, (1200, 3)), columns=[*"ABC"])
    small, large = (many_comparisons.redrawn(scores, segments=n, number=20, seed=7) for n in (50, 600))
    assert many_comparisons.exaggeration(small) > 1.4
    assert many_comparisons.exaggeration(large) == pytest.approx(1, abs=0.15)
    assert many_comparisons.held_up(small) < many_comparisons.held_up(large)


def test_a_model_that_does_not_look_contradicts_itself_and_one_that_sees_does_not():
    assert model_judges.consistent(model_judges.asked_twice(50, pull=1.0, tell=1.0)) == 0
    assert model_judges.consistent(model_judges.asked_twice(50, pull=0.0, tell=1.0)) == 1
    assert model_judges.consistent(model_judges.asked_twice(50, pull=0.0, tell=0.0)) == 1, "always a tie"


def test_of_several_names_the_unknown_one_is_told():
    circle = lessons.exercises("preferences")["circle"]
    assert "There is no 'F' here" in circle.verdict({"B", "C", "F"}, preferences.ROUND).hint


def test_copying_every_pair_changes_no_test_that_lets_documents_count():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"document": np.repeat([*"abcdef"], 3), "difference": rng.normal(2, 4, 18)})
    ten = pd.concat([table] * 10)
    signs = rng.choice([-1, 1], (300, 6))
    for test in (context_matters.p_by_document, lambda t: context_matters.p_by_flipping(t, signs)):
        assert test(ten) == pytest.approx(test(table))
    plain = [stats.ttest_1samp(t["difference"], 0).pvalue for t in (table, ten)]
    assert plain[1] < plain[0] / 10, "the plain test is fooled"


@pytest.mark.parametrize("judgements", [1, 3])
def test_the_variance_of_a_document_is_that_behind_the_power_of_the_package(judgements):
    v = {"document": 3.0, "item": 70.0, "annotator": 90.0, "block": 11.0, "residual": 150.0}
    segments, block, delta = 160, 8, 2.0
    documents = segments // block
    error = lesson_planning.standard_error(v, segments, judgements, block)
    critical = stats.t.isf(0.025, documents - 1)
    expected = stats.nct.sf(critical, documents - 1, delta / error) + stats.nct.cdf(
        -critical, documents - 1, delta / error
    )
    found = planning.power(v, delta=delta, segments=segments, judgements=judgements, block=block)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def campaign(variances, delta, documents, block, rng, mistake=""):
    """Draw a campaign as lesson 5 asks for it, or with a typical mistake in it."""

    def effect(name, *size):
        return rng.normal(0, variances[name] if mistake == "variances" else np.sqrt(variances[name]), size)

    scores = effect("document", documents, 2, 1) + effect("block", documents, 2, 1)
    scores = scores + effect("annotator", documents, 2 if mistake == "annotator_still_in" else 1, 1)
    inside = 1 if mistake == "no_average_over_segments" else block
    scores = scores + effect("item", documents, 2, inside) + effect("residual", documents, 2, inside)
    scores[:, 1 if mistake == "wrong_sign" else 0] += delta * (2 if mistake == "not_delta" else 1)
    means = scores.mean(axis=2)
    return means if mistake == "one_for_each_document" else means[:, 0] - means[:, 1]


PARADOX = {
    "kappa_is_high": [[47, 3], [3, 47]],
    "one_category": [[100, 0], [0, 0]],
    "off_the_diagonal": [[25, 25], [25, 25]],
    "whole_numbers": [[0.94, 0.03], [0.03, 0.0]],
}


def test_what_is_made_lacks_nothing_or_what_its_hint_names():
    simulation = lessons.exercises("planning")["one_campaign"]
    assert simulation.verdict(campaign).kind == "right", "its scatter is that of the formula"
    assert simulation.verdict(lambda *drawn: None).kind == "empty"
    for lacking in simulation.needs.keys() - {"begun", "scatter"}:
        assert simulation.verdict(partial(campaign, mistake=lacking)).hint == simulation.hints[lacking]
    paradox = lessons.exercises("kappa_by_hand")["paradox"]
    assert paradox.verdict(np.array([[96, 2], [2, 0]])).kind == "right"
    assert {key: paradox.verdict(np.array(table)).hint for key, table in PARADOX.items()} == paradox.hints
