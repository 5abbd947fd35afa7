"""Printed tables of Sai et al. 2023 beside computed ones: each cell once, with its value or its reason."""

import pandas as pd
import pytest

from evalkit import data
from evalkit.papers.sai2023 import printed
from evalkit.stats import verdicts


@pytest.fixture
def perfect():
    """Values for chrF that are exactly what is printed for chrF++, by language."""
    part = data.published("sai2023_table1")
    part = part[(part["metric"] == "chrF++") & (part["language"] != printed.AVERAGE)]
    return pd.DataFrame({"language": part["language"], "metric": "chrF", "pearson": part["pearson"].astype(float),
                         "kendall_b": part["kendall"].astype(float), "systems": 6})  # fmt: skip


def test_each_printed_cell_gets_its_value_or_its_reason(perfect):
    found = printed.table1(perfect).set_index("cell")
    whole = data.published("sai2023_table1")
    assert len(found) == 2 * len(whole) == len(found.index.unique())
    here = found[found["computed"].notna() & found["basis"].eq("recomputed from data")]
    assert len(here) == 12  # five languages and the average, two statistics
    assert here["note"].str.len().gt(0).all()
    assert found.loc["hi, chrF++, kendall", "computed"] == float(found.loc["hi, chrF++, kendall", "printed"])
    assert "Hindi's references are corrected" in found.loc["hi, chrF++, kendall", "note"]
    assert "Hindi" not in found.loc["ta, chrF++, kendall", "note"]
    mean = perfect["kendall_b"].mean()
    assert found.loc["average, chrF++, kendall", "computed"] == pytest.approx(mean)
    assert found.loc["ta, COMET-MQM, pearson", "lacking"] == "needs a neural model"
    average = found.loc["average, COMET-QE-DA, pearson"]
    assert average["computed"] == pytest.approx((0.417 + 0.535 + 0.551 + 0.386 + 0.531) / 5)
    assert (average["basis"], average["low"] < average["computed"] < average["high"]) == (
        "follows from other printed numbers", True,
    )  # fmt: skip


def test_system_level_numbers_are_computed_only_where_print_has_the_same_systems(perfect):
    second = printed.table2(perfect).set_index("cell")
    assert second.loc["gu, chrF++, pearson", "computed"] == perfect["pearson"].iloc[0]
    assert second.loc["hi, chrF++, pearson", "lacking"] == "mBART's outputs never released"
    assert second["computed"].notna().sum() == 2


def subset_rows(perfect):
    return pd.concat([perfect.assign(subset=name, rule="authors", kendall_b=value)
                      for name, value in (("fluency", 0.1), ("accuracy", 0.3))])  # fmt: skip


def test_zeros_that_print_drops_are_asked_for(perfect):
    """Table 10 prints .100 as 0.1: a value of .0743 is no match."""
    tenth = printed.table10(subset_rows(perfect)).set_index("cell")
    assert tenth.loc[["mr, chrF++, fluency", "mr, chrF++, accuracy"], "computed"].tolist() == [0.1, 0.3]
    assert tenth.loc["mr, chrF++, fluency", "printed"] == "0.171"
    assert tenth.loc["gu, chrF++, fluency", "printed"] == "0.100"
    told = [verdicts.verdict(tenth.loc["gu, chrF++, fluency", "printed"], value) for value in (0.1004, 0.0743, 0.1006)]
    assert told == ["match", "differs", "differs"]


def test_ranges_are_looked_up_alike():
    ranges = pd.DataFrame({"metric": ["human", "TER", "chrF", "chrF++"], "min": [0.0, 1, 0.97, 1.77],
                           "max": [25.0, 361, 100, 100]})  # fmt: skip
    eighth = printed.table8(ranges).set_index("cell")
    assert eighth.loc[["Human, max", "TER, max", "TER, min"], "computed"].tolist() == [25, 361, 1]
    assert eighth.loc["chrF++, min", "computed"] == 0.97
    assert "With words, as the name says, the lowest is 1.770" in eighth.loc["chrF++, min", "note"]
    assert eighth["computed"].notna().sum() == 6


def test_readings_of_a_name_are_measured_by_both_metrics(perfect):
    first = pd.concat([perfect, perfect.assign(metric="chrF++", pearson=lambda t: t["pearson"] + 0.01)])
    tenth = pd.concat([subset_rows(perfect), subset_rows(perfect).assign(metric="chrF++")])
    ends = pd.DataFrame({"metric": ["chrF", "chrF++"], "min": [0.7, 1.7], "max": 100.0})
    found = printed.readings(first, tenth, ends).set_index(["table", "metric"])
    assert found.loc[("Table 1", "chrF"), ["mean_gap", "equal"]].tolist() == [0, 10]
    assert found.loc[("Table 1", "chrF++"), ["mean_gap", "equal"]].tolist() == pytest.approx([0.005, 5])
    assert found.loc[("Table 8", "chrF"), "largest_gap"] == pytest.approx(1)


def test_baselines_that_two_tables_print_are_held_against_each_other():
    fourth = printed.table4().set_index("cell")
    assert fourth.loc["gu, COMETDA", ["printed", "computed", "basis"]].tolist() == [
        "0.359", 0.359, "follows from other printed numbers",
    ]  # fmt: skip
    assert fourth.loc["gu, IndicCOMETMQM", "lacking"] == "needs a neural model to be trained"


def test_every_cell_of_the_tables_stands_in_one_row(perfect):
    """Each printed number of Tables 1, 2, 3, 4, 7, 8, 9 and 10 is in exactly one row, by its place."""
    means = pd.DataFrame({"language": ["gu"], "system": ["NLLB"], "mean_score": [22.49]})
    ends = pd.DataFrame({"metric": ["chrF"], "min": [1.0], "max": [100.0]})
    rows = pd.concat([
        printed.table1(perfect), printed.table2(perfect), printed.table3(), printed.table4(), printed.table7(),
        printed.table8(ends), printed.table9(means), printed.table10(subset_rows(perfect)),
    ])  # fmt: skip
    names = {"metric", "language", "system", "hyperparameter"}
    tables = {f"sai2023_table{n}": data.published(f"sai2023_table{n}") for n in (1, 2, 3, 4, 7, 8, 9, 10)}
    wanted = [f"{name}:{row + 2}:{column}" for name, table in tables.items() for column in table
              if column not in names for row in range(len(table))]  # fmt: skip
    assert sorted(rows["place"]) == sorted(wanted)
    for place, text in zip(rows["place"], rows["printed"]):
        name, line, column = place.split(":")
        assert text == tables[name][column][int(line) - 2]


def test_printed_averages_are_laid_beside_the_means_of_their_cells():
    tables = {f"table{n}": data.published(f"sai2023_table{n}") for n in (1, 3, 9)}
    found = printed.averages(tables)
    off = [not verdicts.reachable(row.printed, row.low, row.high) for row in found.itertuples()]
    assert found[off][["row", "statistic"]].to_numpy().tolist() == [["COMET-QE-DA", "pearson"]]
