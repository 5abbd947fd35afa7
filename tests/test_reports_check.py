"""The cell that checks a study's parameters: complete, right about types, choices and data, one clear sentence each."""

import ast

import pytest

from evalkit import DataError
from evalkit.reports import check, cli, execute, notebooks
from evalkit.reports.studies import Layout, read_studies
from tests.test_project import STUDIES

#: Which types of parameters a check is for.
FOR = {"truth": {"bool"}, "text": {"str"}, "choice": {"str"}, "whole": {"int"}, "number": {"float"}}
FOR |= {"numbers": {"list[float]"}, "scale": {"list[float]"}, "texts": {"list[str]"}, "choices": {"list[str]"}}
OPTIONS = {"of", "at_least", "at_most", "above", "below", "length", "may_be_empty"}
TASKS = {name: execute.bound(study, {}, Layout().studies.parent) for name, study in read_studies(Layout()).items()}


def calls(source):
    """Yield each call of a check in a cell: its name and its keywords."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("check."):
            yield node.func.attr, {keyword.arg: keyword.value for keyword in node.keywords}


def choices_of(name):
    """Execute a study's cell and collect what each parameter may be."""
    found = {}
    source = notebooks.checks(TASKS[name].notebook).replace("from evalkit.reports import check", "")

    class Spy:
        def __getattr__(self, kind):
            def called(**given):
                of = given.pop("of", None)
                found.update(dict.fromkeys(given, of if of is None else list(of)))

            return called

    exec(source, dict(TASKS[name].parameters) | {"check": Spy()})
    return found


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_each_parameter_is_checked_once_as_its_type_in_the_cell_after_the_parameters(path):
    cells = notebooks.read(path)["cells"]
    assert notebooks.tags(cells[2]) == ["check-parameters"]
    assert sum("check-parameters" in notebooks.tags(cell) for cell in cells) == 1
    declared = {parameter.name: parameter for parameter in notebooks.parameters(path)}
    checked = []
    for kind, given in calls(notebooks.source(cells[2])):
        names = given.keys() - OPTIONS
        assert all(ast.unparse(given[name]) == name for name in names), "a keyword is its parameter's own name"
        assert all(declared[name].kind in FOR[kind] for name in names), (kind, names)
        checked += names
    assert sorted(checked) == sorted(declared)


@pytest.mark.parametrize("name", TASKS)
def test_defaults_pass(name):
    exec(notebooks.checks(TASKS[name].notebook), dict(TASKS[name].parameters))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("wmt22_calibration_hits", {"pair": "eng-jnp"}, "There is no pair 'eng-jnp'. Did you mean 'eng-jpn'?"),
        ("wmt22_calibration_hits", {"splits": "0"}, "splits = 0 cannot be used. Give a whole number of at least 1."),
        ("campaign", {"score": "zz"}, "There is no score 'zz'. Did you mean 'z'? Choose one of: auto, raw, adj"),
        ("study_planner", {"target": "80"}, "target = 80.0 cannot be used. Give a number above 0 and below 1."),
        ("study_planner", {"deltas": "3,0"}, "deltas holds 0.0, which cannot be used. Give a number above 0."),
        ("study_planner", {"scale": "100,0"}, "scale = [100.0, 0.0] is no scale."),
    ],
)
def test_the_command_line_tells_it_before_any_kernel_starts(name, value, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("evalkit.reports.execute.Kernels", None)  # a kernel would be a TypeError
    words = [word for key, text in value.items() for word in ("-p", f"{key}={text}")]
    assert cli.main(["run", name, *words, "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"evalkit: {name}: {sentence}")


@pytest.mark.parametrize(
    ("call", "given", "sentence"),
    [
        ("truth", {"higher_is_better": "no"}, "higher_is_better = 'no' is neither True nor False"),
        ("whole", {"seed": True}, "seed = True cannot be used. Give a whole number."),
        ("whole", {"seed": 70, "at_most": 9}, "seed = 70 cannot be used. Give a whole number of at most 9."),
        ("number", {"delta": float("nan")}, "delta = nan cannot be used. Give a number."),
        ("text", {"pair": 7}, "pair = 7 is no text. Write it in quotation marks."),
        ("texts", {"rules": "sd < 5"}, "rules = 'sd < 5' is no list. Write it in brackets, such as ['sd < 5']."),
        ("texts", {"rules": []}, "rules is empty. Name at least one."),
        ("choice", {"pair": "xyz", "of": map(str, range(30))}, "There is no pair 'xyz'. Choose one of: 0, 1, "),
        ("choice", {"pair": "xyz", "of": []}, "There is no pair 'xyz'. There is none to choose."),
        ("choices", {"shown": ["SAP"], "of": ["SPA"]}, "There is no shown 'SAP'. Did you mean 'SPA'?"),
        ("numbers", {"typed": [1], "length": 5}, "typed has 1 numbers. Give 5."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(call, given, sentence):
    with pytest.raises(DataError) as told:
        getattr(check, call)(**given)
    assert str(told.value).startswith(sentence)


def test_what_can_be_used_passes():
    check.number(delta=3, target=0.8, above=0)  # a whole number is a number
    check.numbers(typed=[], may_be_empty=True)
    check.choice(pair="", of=["eng-deu"], may_be_empty=True)
    check.scale(scale=[])
    check.scale(scale=[1, 5])
    check.choices(shown=["SPA"], of=iter(["SPA"]))


@pytest.mark.parametrize(
    ("study", "parameter", "dataset"),
    [
        ("wmt22_calibration_hits", "pair", "wmt22-calibration-hits"),
        ("wmt22_calibration_hits", "ranked", "wmt22-mturk"),
        ("judges", "pair", "wmt23-human"),
        ("metric_meta_evaluation", "pair", "wmt23-human"),
        ("metric_meta_evaluation", "darr_pair", "wmt20-da"),
    ],
)
def test_language_pairs_that_can_be_chosen_are_those_of_the_data(study, parameter, dataset, real):
    table = real(dataset)
    pairs = set(table["src_lang"].astype(str) + "-" + table["tgt_lang"].astype(str))
    assert set(choices_of(study)[parameter]) == pairs
