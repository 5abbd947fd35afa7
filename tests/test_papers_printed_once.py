"""Each printed number stands in one row of one study: the transcribed tables walked against the reference results.

That the reference equals what a run computes is tested in ``test_studies.py``.
"""

import csv
import json
from collections import Counter

import pytest

from evalkit import ROOT
from evalkit.stats import verdicts

#: Columns of each transcribed table that hold what the paper prints as a result; the others name a row or describe it.
#: A column with names behind a colon repeats one printed number over the rows that share them; the first row holds it.
RESULTS = {
    "armitage1969_table2": ["printed"],
    "kocmi2024_esa": ["printed"],
    "knowles2024_context": ["printed"],
    "knowles2024_prose": ["printed"],
    "laeubli2018_preferences": ["printed"],
    "licht2022_averages": ["avg", "rank"],
    "licht2022_figure1": [],
    "licht2022_prose": ["printed"],
    "licht2022_table1": [],
    "licht2022_table2": [],
    "licht2022_table3": ["kappa"],
    "licht2022_table4": ["training_size"],
    "licht2022_table5": ["raw", "cs", "ht", "cs_ht"],
    "licht2022_table6": ["printed"],
    "metric_entries": [],
    "metric_tasks": [],
    "metric_tests": [],
    "perrella2024_wmt23": ["printed"],
    "sai2023_prose": ["printed"],
    "sai2023_table1": ["pearson", "kendall"],
    "sai2023_table2": ["pearson", "kendall"],
    "sai2023_table3": ["pearson", "kendall"],
    "sai2023_table4": ["kendall"],
    "sai2023_table7": ["value"],
    "sai2023_table8": ["min", "max"],
    "sai2023_table9": ["mean_score"],
    "sai2023_table10": ["fluency", "accuracy"],
    "song2025_gains": ["printed"],
    "spbleu_flores": [],
    "stanchev2020_claims": ["printed"],
    "sudoh2021_claims": ["printed"],
    "sudoh2021_table1": ["bleu", "chrf", "bertscore", "bleurt"],
    "sudoh2021_table4": ["share"],
    "sudoh2021_table5": ["share"],
    "sudoh2021_table6": ["mean", "sd"],
    "sudoh2021_table7": ["mean", "sd"],
    "sudoh2021_table8": ["value"],
    "sudoh2021_table9": ["count"],
    "sudoh2021_table10": ["count"],
    "sudoh2021_table11": ["count"],
    "sudoh2021_table12": ["precision", "recall", "f1"],
    "sudoh2021_table13": ["count"],
    "sudoh2021_table14": ["precision", "recall", "f1"],
    "wmt20_darr": ["pairs", "tau"],
    "wmt22_pvalues": ["p"],
    "wmt23_clusters": ["score", "z", "wins", "line"],
    "wmt24_autorank": ["autorank", "past_cutoff"],
    "wmt_clusters": ["wins", "line"],
    "zouhar2025_esaai": ["printed"],
}


def transcribed(name):
    """Return the printed numbers of a table: place -> what is printed."""
    with (ROOT / "data" / "published" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for column, _, shared in (declared.partition(":") for declared in RESULTS[name]):
        seen = set()
        for line, row in enumerate(rows, start=2):
            key = tuple(row[other] for other in shared.split()) if shared else line
            if row[column] != "" and key not in seen:
                found[f"{name}:{line}:{column}"] = row[column]
            seen.add(key)
    return found


@pytest.fixture(scope="module")
def compared():
    """Every row of every study's comparison with print."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "data" / "reference").glob("*.json")]
    return [row for report in reports for row in report["published"]]


def test_what_each_transcribed_table_prints_is_declared():
    assert set(RESULTS) == {path.stem for path in (ROOT / "data" / "published").glob("*.csv")}


@pytest.mark.parametrize("name", [name for name, columns in RESULTS.items() if columns])
def test_each_printed_number_stands_in_exactly_one_row_of_one_study(name, compared):
    rows = Counter(row["place"] for row in compared if row.get("place", "").startswith(f"{name}:"))
    assert {place: number for place, number in rows.items() if number > 1} == {}
    assert set(rows) == set(transcribed(name))


@pytest.mark.parametrize("name", [name for name, columns in RESULTS.items() if columns])
def test_a_row_prints_what_the_transcription_has_at_its_place(name, compared):
    own = {row["place"]: row["printed"] for row in compared if row.get("place", "").startswith(f"{name}:")}
    assert own == transcribed(name)


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
