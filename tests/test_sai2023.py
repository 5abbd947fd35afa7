"""Sai et al. 2023: tables as the paper prints them, beside computed ones, and what the others would need."""

import re
from collections import Counter
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import DataError, data, show
from evalkit.metrics import lexical
from evalkit.neural import pretrained
from evalkit.papers.sai2023 import given, needs, printed
from evalkit.stats import verdicts

SAI = "003"
LANGUAGES = ["gu", "hi", "mr", "ml", "ta"]


def lines_from(text, first, rows):
    lines = text.splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.startswith(first)]
    return lines[start : start + rows]


def three_digits(text):
    """Give a number back the zeros at its end that print drops; names stay."""
    return re.sub(r"^-?\d\.\d{1,2}$", lambda number: number[0] + "0" * (5 - len(number[0].lstrip("-"))), text)


@pytest.mark.parametrize(
    ("table", "first", "rows", "columns", "languages"),
    [
        ("table1", "BLEU 1 0.364", 23, ["pearson", "kendall"], [*LANGUAGES, "average"]),
        ("table2", "BLEU 1 0.927", 23, ["pearson", "kendall"], LANGUAGES),
        ("table3", "COMET-DA 0.487", 5, ["pearson", "kendall"], [*LANGUAGES, "average"]),
        ("table4", "COMETDA 0.359", 3, ["kendall"], LANGUAGES),
        ("table10", "BLEU-1 0.138", 21, ["fluency", "accuracy"], LANGUAGES),
    ],
)
def test_a_table_of_metrics_and_languages_is_as_printed(paper, table, first, rows, columns, languages):
    transcribed = data.published(f"sai2023_{table}")
    assert transcribed["language"].tolist() == languages * rows
    made = [
        " ".join([metric, *part[columns].to_numpy().ravel()])
        for metric, part in transcribed.groupby("metric", sort=False)
    ]
    assert made == [" ".join(map(three_digits, line.split())) for line in lines_from(paper(SAI), first, rows)]


def test_the_ranges_of_metrics_are_as_printed(paper):
    made = [" ".join(row) for row in data.published("sai2023_table8").itertuples(index=False)]
    assert made == lines_from(paper(SAI), "Human 0 25", 12)


def test_the_means_of_systems_are_as_printed(paper):
    transcribed = data.published("sai2023_table9")
    head, *body = lines_from(paper(SAI), "lang IndicTrans", 7)
    systems = transcribed["system"].drop_duplicates()
    assert head == "lang " + " ".join(systems)
    made = [
        " ".join([{"average": "avg"}.get(language, language), *part["mean_score"]])
        for language, part in transcribed.groupby("language", sort=False)
    ]
    assert made == body


def test_every_claim_quotes_the_paper(paper):
    text = paper(SAI)
    claims = data.published("sai2023_prose")
    assert len(claims) > 30
    for claim in claims.to_dict("records"):
        assert claim["quote"] in text, claim["cell"]
        if claim["printed"].replace(".", "").isdigit():
            assert claim["printed"] in claim["quote"] or claim["how"] == "count", claim["cell"]


def test_the_settings_are_as_printed(paper):
    made = [" ".join(row) for row in data.published("sai2023_table7").itertuples(index=False)]
    assert made == lines_from(paper(SAI), "batch size 16", 11)


def test_tables_2_and_10_drop_the_zeros_at_the_end_of_their_numbers(paper):
    """If numbers of three digits ended in 0 as often as in any other digit, one in ten would; in print none does."""
    tenth = [line.split()[1:] for line in lines_from(paper(SAI), "BLEU-1 0.138", 21)]
    *rest, last = tenth  # COMET-MQM's row prints its zeros
    assert [len(text.partition(".")[2]) for text in last] == [3] * 10
    cells = [text for row in rest for text in row]
    assert not any(text.endswith("0") for text in cells)
    assert 0.05 < sum(len(text.partition(".")[2]) < 3 for text in cells) / len(cells) < 0.17
    second = [text for line in lines_from(paper(SAI), "BLEU 1 0.927", 23) for text in line.split() if "." in text]
    assert sorted(text for text in second if len(text.partition(".")[2]) < 3) == ["0.39", "0.67", "0.67", "0.9"]


# Rows of Table 1 from vectors, a model and scores of this test's own making, which say nothing of the metrics


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def tamil(real):
    ratings = real("indicmt-mqm")
    return ratings[ratings["tgt_lang"] == "tam"].head(150).reset_index(drop=True)


@pytest.fixture
def drawn(tamil, tmp_path):
    """Write a file of random vectors for the words of the references."""
    split = given.vectors._splitter("intl")
    words = Counter(word for text in tamil["reference"] for word in split(text).split())
    numbers = np.random.default_rng(7).normal(size=(len(words), 8)).round(3)
    found = dict(zip(words, numbers, strict=True))
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in found.items()]
    (tmp_path / "ta.vec").write_text(f"{len(found)} 8\n{''.join(lines)}", encoding="utf-8")
    return tmp_path / "ta.vec", found


def test_vectors_fill_their_rows_for_the_languages_that_have_them(tamil, drawn):
    path, found = drawn
    rows = given.table1(tamil, files={"tam": path})
    assert sorted(rows["cell"]) == sorted(f"{m}, ta, {r}" for m in ("EA", "VE", "GM") for r in ("pearson", "kendall"))
    split, mean = given.vectors._splitter("intl"), np.mean(list(found.values()), axis=0)
    sums = [
        [sum(found.get(word, mean) for word in split(text).split()) for text in tamil[side]]
        for side in ("hypothesis", "reference")
    ]
    ea = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(*sums, strict=True)]
    computed = rows.set_index("cell")["computed"]
    gold = tamil["score"].clip(lower=0)
    assert computed["EA, ta, kendall"] == pytest.approx(stats.kendalltau(ea, gold).statistic)
    assert computed["EA, ta, pearson"] == pytest.approx(stats.pearsonr(ea, gold).statistic)


def test_rows_are_fit_for_the_comparison_with_print(tamil, drawn):
    rows = given.table1(tamil, files={"tam": drawn[0]})
    assert set(rows["basis"]) == {"recomputed from data"}
    assert rows["place"].str.fullmatch(r"sai2023_table1:\d+:(pearson|kendall)").all()
    show.compare(rows, data=tamil, caption="Made up")
    printed = data.published("sai2023_table1")
    for row in rows.to_dict("records"):
        _, line, column = row["place"].split(":")
        assert printed.loc[int(line) - 2, column] == row["printed"]


def test_a_model_and_scores_from_elsewhere_fill_theirs_and_five_languages_the_average(real, monkeypatch):
    ratings = real("indicmt-mqm").groupby("tgt_lang", sort=False).head(60).reset_index(drop=True)
    scored = lexical.scores(ratings, metrics=["chrF"])["chrF"]
    monkeypatch.setattr(pretrained, "scores", lambda table, *, metrics, models, python: table.assign(LaBSE=-scored))
    rows = given.table1(ratings.assign(PRISM=scored), models={"LaBSE": "a"}, columns=["PRISM"], python="p")
    computed = rows.set_index("cell")["computed"].astype(float)
    assert len(computed) == 2 * 6 * 2
    for column, correlation in (("kendall", stats.kendalltau), ("pearson", stats.pearsonr)):
        wanted = [
            correlation(scored[part.index], part["score"].clip(lower=0)).statistic
            for _, part in ratings.groupby("tgt_lang")
        ]
        assert computed[f"PRISM, average, {column}"] == pytest.approx(np.mean(wanted))
        assert computed[f"LabSE embs, average, {column}"] == pytest.approx(-np.mean(wanted))


def test_what_is_not_given_or_unknown_is_refused(tamil, drawn):
    with pytest.raises(DataError, match="No word vectors, model or scores were given"):
        given.table1(tamil)
    with pytest.raises(DataError, match="No metric is called 'Prism'"):
        given.table1(tamil, columns=["Prism"])
    with pytest.raises(DataError, match=r"no 'ta' here\. Choose among tam"):
        given.table1(tamil, files={"ta": drawn[0]})
    with pytest.raises(DataError, match="no column 'PRISM'"):
        given.table1(tamil, columns=["PRISM"])


# What the metrics need that are printed and not computed: every name is known, every function that is named exists


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


# Printed tables of Sai et al. 2023 beside computed ones: each cell once, with its value or its reason


@pytest.fixture
def perfect():
    """Values for chrF that are exactly what is printed for chrF++, by language."""
    part = data.published("sai2023_table1")
    part = part[(part["metric"] == "chrF++") & (part["language"] != printed.AVERAGE)]
    return pd.DataFrame(
        {
            "language": part["language"],
            "metric": "chrF",
            "pearson": part["pearson"].astype(float),
            "kendall_b": part["kendall"].astype(float),
            "systems": 6,
        }
    )


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
        "follows from other printed numbers",
        True,
    )


def test_system_level_numbers_are_computed_only_where_print_has_the_same_systems(perfect):
    second = printed.table2(perfect).set_index("cell")
    assert second.loc["gu, chrF++, pearson", "computed"] == perfect["pearson"].iloc[0]
    assert second.loc["hi, chrF++, pearson", "lacking"] == "mBART's outputs never released"
    assert second["computed"].notna().sum() == 2


def subset_rows(perfect):
    return pd.concat(
        [
            perfect.assign(subset=name, rule="authors", kendall_b=value)
            for name, value in (("fluency", 0.1), ("accuracy", 0.3))
        ]
    )


def test_zeros_that_print_drops_are_asked_for(perfect):
    """Table 10 prints .100 as 0.1: a value of .0743 is no match."""
    tenth = printed.table10(subset_rows(perfect)).set_index("cell")
    assert tenth.loc[["mr, chrF++, fluency", "mr, chrF++, accuracy"], "computed"].tolist() == [0.1, 0.3]
    assert tenth.loc["mr, chrF++, fluency", "printed"] == "0.171"
    assert tenth.loc["gu, chrF++, fluency", "printed"] == "0.100"
    told = [verdicts.verdict(tenth.loc["gu, chrF++, fluency", "printed"], value) for value in (0.1004, 0.0743, 0.1006)]
    assert told == ["match", "differs", "differs"]


def test_ranges_are_looked_up_alike():
    ranges = pd.DataFrame(
        {"metric": ["human", "TER", "chrF", "chrF++"], "min": [0.0, 1, 0.97, 1.77], "max": [25.0, 361, 100, 100]}
    )
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
        "0.359",
        0.359,
        "follows from other printed numbers",
    ]
    assert fourth.loc["gu, IndicCOMETMQM", "lacking"] == "needs a neural model to be trained"


def test_every_cell_of_the_tables_stands_in_one_row(perfect):
    """Each printed number of Tables 1, 2, 3, 4, 7, 8, 9 and 10 is in exactly one row, by its place."""
    means = pd.DataFrame({"language": ["gu"], "system": ["NLLB"], "mean_score": [22.49]})
    ends = pd.DataFrame({"metric": ["chrF"], "min": [1.0], "max": [100.0]})
    rows = pd.concat(
        [
            printed.table1(perfect),
            printed.table2(perfect),
            printed.table3(),
            printed.table4(),
            printed.table7(),
            printed.table8(ends),
            printed.table9(means),
            printed.table10(subset_rows(perfect)),
        ]
    )
    names = {"metric", "language", "system", "hyperparameter"}
    tables = {f"sai2023_table{n}": data.published(f"sai2023_table{n}") for n in (1, 2, 3, 4, 7, 8, 9, 10)}
    wanted = [
        f"{name}:{row + 2}:{column}"
        for name, table in tables.items()
        for column in table
        if column not in names
        for row in range(len(table))
    ]
    assert sorted(rows["place"]) == sorted(wanted)
    for place, text in zip(rows["place"], rows["printed"]):
        name, line, column = place.split(":")
        assert text == tables[name][column][int(line) - 2]


def test_printed_averages_are_laid_beside_the_means_of_their_cells():
    tables = {f"table{n}": data.published(f"sai2023_table{n}") for n in (1, 3, 9)}
    found = printed.averages(tables)
    off = [not verdicts.reachable(row.printed, row.low, row.high) for row in found.itertuples()]
    assert found[off][["row", "statistic"]].to_numpy().tolist() == [["COMET-QE-DA", "pearson"]]
