"""What the metrics need that are printed and not computed: every name is known, every function that is named exists."""

import re
from importlib import import_module

import pytest

from evalkit import DataError, data
from evalkit.metrics import lexical
from evalkit.neural import pretrained
from evalkit.papers.sai2023 import needs, printed

TABLES = [f"sai2023_table{number}" for number in (1, 2, 3, 4, 8, 10)]


@pytest.mark.parametrize("table", TABLES)
def test_every_printed_metric_is_computed_or_says_what_it_needs(table):
    names = set(data.published(table)["metric"])
    ours = {*lexical.METRICS, *lexical.CAPTION, "human"}
    computed = {name for name in names if printed.NAMES.get(name) in ours}
    assert computed.isdisjoint(needs.SPELT), "a name is both computed and lacking"
    for name in names - computed:
        cause, note = needs.lacking(name)
        assert re.fullmatch(r"needs (word vectors|a neural model( to be trained)?)", cause), name
        assert re.match(r"Needs .*evalkit\.(neural|papers)\.", note), name


def test_a_name_that_no_table_prints_is_refused():
    with pytest.raises(DataError, match="what 'METEOR' needs"):
        needs.lacking("METEOR")


def test_no_spelling_is_idle_and_each_metric_is_printed_somewhere():
    names = {name for table in TABLES for name in data.published(table)["metric"]}
    assert {spelt for spelt in needs.SPELT if spelt not in needs.NEEDS} <= names
    assert set(map(needs.SPELT.get, names)) - {None} == set(needs.NEEDS)


@pytest.mark.parametrize("metric", needs.NEEDS)
def test_what_a_note_names_exists(metric):
    (named,) = re.findall(r"evalkit(?:\.\w+)+", needs.lacking(metric)[1])
    try:
        assert import_module(named).main
    except ModuleNotFoundError:
        module, function = named.rsplit(".", 1)
        assert callable(getattr(import_module(module), function))


def test_what_neural_scores_computes_is_what_is_said_to_need_it():
    said = {metric for metric, need in needs.NEEDS.items() if "pretrained.scores" in need.then}
    assert said == set(pretrained.MODELS)
