"""Each printed number stands in one row of one study: the transcribed tables walked against the reference results.

That the reference equals what a run computes is tested in ``test_studies.py``.
"""

import csv
import json
from collections import Counter

import pytest

from evalkit import ROOT
from evalkit.stats import verdicts

#: Columns that hold what a paper prints as a result, where that is not the column "printed", and the tables that have
#: them; the other columns name a row or describe it.
COLUMNS = {
    "avg rank": "licht2022_averages",
    "kappa": "licht2022_table3",
    "training_size": "licht2022_table4",
    "raw cs ht cs_ht": "licht2022_table5",
    "pearson kendall": "sai2023_table1 sai2023_table2 sai2023_table3",
    "kendall": "sai2023_table4",
    "value": "sai2023_table7 sudoh2021_table8",
    "min max": "sai2023_table8",
    "mean_score": "sai2023_table9",
    "fluency accuracy": "sai2023_table10",
    "bleu chrf bertscore bleurt": "sudoh2021_table1",
    "share": "sudoh2021_table4 sudoh2021_table5",
    "mean sd": "sudoh2021_table6 sudoh2021_table7",
    "count": "sudoh2021_table9 sudoh2021_table10 sudoh2021_table11 sudoh2021_table13",
    "precision recall f1": "sudoh2021_table12 sudoh2021_table14",
    "pairs tau": "wmt20_darr",
    "p": "wmt22_pvalues",
    "score z wins line": "wmt23_clusters",
    "autorank past_cutoff": "wmt24_autorank",
    "wins line": "wmt_clusters",
    # these describe: nothing in them is a result
    "": "licht2022_figure1 licht2022_protocols licht2022_table1 licht2022_table2 metric_entries metric_tasks metric_tests"
    " spbleu_flores sudoh2021_labels",
}
OF_TABLE = {name: columns.split() for columns, names in COLUMNS.items() for name in names.split()}
RESULTS = {path.stem: OF_TABLE.get(path.stem, ["printed"]) for path in (ROOT / "data" / "published").glob("*.csv")}


def transcribed(name):
    """Return the printed numbers of a table: place -> what is printed."""
    with (ROOT / "data" / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        f"{name}:{line}:{column}": row[column]
        for line, row in enumerate(rows, start=2)
        for column in RESULTS[name]
        if row[column] != ""
    }


@pytest.fixture(scope="module")
def compared():
    """Every row of every study's comparison with print."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "data" / "reference").glob("*.json")]
    return [row for report in reports for row in report["published"]]


@pytest.mark.parametrize("name", sorted(name for name, columns in RESULTS.items() if columns))
def test_each_printed_number_stands_as_it_is_printed_in_exactly_one_row_of_one_study(name, compared):
    rows = [row for row in compared if row.get("place", "").startswith(f"{name}:")]
    assert {place: n for place, n in Counter(row["place"] for row in rows).items() if n > 1} == {}
    assert {row["place"]: row["printed"] for row in rows} == transcribed(name)


def test_no_number_without_a_place_is_compared_twice(compared):
    """Official results stand in data files; their rows have names instead."""
    loose = [row for row in compared if "place" not in row]
    assert {row["basis"] for row in loose} <= {"official result"}
    assert max(Counter((row["paper"], row["item"], row["cell"]) for row in loose).values(), default=1) == 1


def test_each_row_says_what_it_rests_on_and_what_it_lacks(compared):
    for row in compared:
        assert row["basis"] in verdicts.BASES
        assert (row["verdict"] == "not reproducible") == ("lacking" in row), row
        assert row["verdict"] == verdicts.verdict(row["printed"], row["computed"]), row
