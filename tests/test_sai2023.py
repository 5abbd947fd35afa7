"""Sai et al. 2023: tables as the paper prints them, beside computed ones, and what the others would need."""

import json
import re

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from scipy import stats

from evalkit import DataError, data
from evalkit.metrics import lexical
from evalkit.neural import scorer
from evalkit.papers import claims
from evalkit.papers.sai2023 import metrics, printed
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
    ("table", "first", "rows", "name", "columns"),
    [
        ("table1", "BLEU 1 0.364", 23, "metric", ["pearson", "kendall"]),
        ("table2", "BLEU 1 0.927", 23, "metric", ["pearson", "kendall"]),
        ("table3", "COMET-DA 0.487", 5, "metric", ["pearson", "kendall"]),
        ("table4", "COMETDA 0.359", 3, "metric", ["kendall"]),
        ("table7", "batch size 16", 11, "hyperparameter", ["value"]),
        ("table8", "Human 0 25", 12, "metric", ["min", "max"]),
        ("table9", "lang IndicTrans", 7, "language", ["mean_score"]),
        ("table10", "BLEU-1 0.138", 21, "metric", ["fluency", "accuracy"]),
    ],
)
def test_a_table_is_as_printed(paper, table, first, rows, name, columns):
    """Print drops zeros at the end of some numbers with three digits; its languages stand in one order."""
    printed, transcribed = lines_from(paper(SAI), first, rows), data.published(f"sai2023_{table}")
    made = [" ".join([key, *part[columns].to_numpy().ravel()]) for key, part in transcribed.groupby(name, sort=False)]
    if table == "table9":
        head = "lang " + " ".join(transcribed["system"].drop_duplicates())
        made = [head, *(row.replace("average", "avg") for row in made)]
    elif name == "metric" and "language" in transcribed:
        printed = [" ".join(map(three_digits, line.split())) for line in printed]
        assert transcribed.groupby("metric")["language"].agg(lambda own: list(own)[:5] == LANGUAGES).all()
    assert made == printed


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
    split = BLEU(tokenize="intl").tokenizer
    words = dict.fromkeys(word for text in tamil["reference"] for word in split(text).split())
    found = dict(zip(words, np.random.default_rng(7).normal(size=(len(words), 8)).round(3), strict=True))
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in found.items()]
    (tmp_path / "ta.vec").write_text(f"{len(found)} 8\n{''.join(lines)}", encoding="utf-8")
    return tmp_path / "ta.vec", found


def test_vectors_fill_their_rows_for_the_languages_that_have_them(tamil, drawn):
    path, found = drawn
    rows = metrics.table1(tamil, files={"tam": path})
    assert set(rows["basis"]) == {"recomputed from data"}
    assert rows["place"].str.fullmatch(r"sai2023_table1:\d+:(pearson|kendall)").all()
    assert sorted(rows["cell"]) == sorted(f"ta, {m}, {r}" for m in ("EA", "VE", "GM") for r in ("pearson", "kendall"))
    split, mean = BLEU(tokenize="intl").tokenizer, np.mean(list(found.values()), axis=0)
    sums = [
        [sum(found.get(word, mean) for word in split(text).split()) for text in tamil[side]]
        for side in ("hypothesis", "reference")
    ]
    ea = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(*sums, strict=True)]
    computed = rows.set_index("cell")["computed"]
    gold = tamil["score"].clip(lower=0)
    assert computed["ta, EA, kendall"] == pytest.approx(stats.kendalltau(ea, gold).statistic)
    assert computed["ta, EA, pearson"] == pytest.approx(stats.pearsonr(ea, gold).statistic)


def test_a_model_and_scores_from_elsewhere_fill_theirs_and_five_languages_the_average(real, monkeypatch):
    ratings = real("indicmt-mqm").groupby("tgt_lang", sort=False).head(60).reset_index(drop=True)
    scored = lexical.scores(ratings, metrics=["chrF"])["chrF"]
    monkeypatch.setattr(scorer, "scores", lambda table, **asked: table.assign(LaBSE=-scored))
    rows = metrics.table1(ratings.assign(PRISM=scored), models={"LaBSE": "a"}, columns=["PRISM"], python="p")
    computed = rows.set_index("cell")["computed"].astype(float)
    assert len(computed) == 2 * 6 * 2
    for column, correlation in (("kendall", stats.kendalltau), ("pearson", stats.pearsonr)):
        wanted = [
            correlation(scored[part.index], part["score"].clip(lower=0)).statistic
            for _, part in ratings.groupby("tgt_lang")
        ]
        assert computed[f"average, PRISM, {column}"] == pytest.approx(np.mean(wanted))
        assert computed[f"average, LabSE embs, {column}"] == pytest.approx(-np.mean(wanted))


def test_what_is_not_given_or_unknown_is_refused(tamil, drawn):
    for words, call in {
        "No word vectors, model or scores": lambda: metrics.table1(tamil),
        "'Prism'": lambda: metrics.table1(tamil, columns=["Prism"]),
        "'ta'.* tam": lambda: metrics.table1(tamil, files={"ta": drawn[0]}),
        "'PRISM'": lambda: metrics.table1(tamil, columns=["PRISM"]),
    }.items():
        with pytest.raises(DataError, match=words):
            call()


# Printed tables of Sai et al. 2023 beside computed ones: each cell once, with its value or its reason


@pytest.fixture
def perfect():
    """Values for chrF that are exactly what is printed for chrF++, by language."""
    part = data.published("sai2023_table1")
    part = part[(part["metric"] == "chrF++") & (part["language"] != printed.AVERAGE)]
    part = part.astype({"pearson": "float", "kendall": "float"}).rename(columns={"kendall": "kendall_b"})
    return part[["language", "pearson", "kendall_b"]].assign(metric="chrF", systems=6)


EMPTY = pd.DataFrame(
    columns=["language", "metric", "system", "pearson", "kendall_b", "min", "max", "subset", "rule", "mean_score"]
)


def beside_print(item, **tables):
    """Compare one printed table with computed ones, by cell."""
    given = {name: tables.get(name, EMPTY) for name in ("segments", "systems", "ranges", "subsets", "means")}
    return claims.compare("sai2023", printed.computed(**given), items=item).set_index("cell")


def test_each_printed_cell_gets_its_value_or_its_reason(perfect):
    found = beside_print("Table 1", segments=perfect)
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
    assert average["low"] < average["computed"] < average["high"]
    assert average["basis"] == "follows from other printed numbers"


def test_system_level_numbers_are_computed_only_where_print_has_the_same_systems(perfect):
    second = beside_print("Table 2", systems=perfect)
    assert second.loc["gu, chrF++, pearson", "computed"] == perfect["pearson"].iloc[0]
    assert second.loc["hi, chrF++, pearson", "lacking"] == "mBART's outputs never released"
    assert second["computed"].notna().sum() == 2


def subset_rows(perfect):
    values = {"fluency": 0.1, "accuracy": 0.3}
    return pd.concat([perfect.assign(subset=name, rule="authors", kendall_b=v) for name, v in values.items()])


def test_zeros_that_print_drops_are_asked_for(perfect):
    """Table 10 prints .100 as 0.1: a value of .0743 is no match."""
    tenth = beside_print("Table 10", subsets=subset_rows(perfect))
    assert tenth.loc[["mr, chrF++, fluency", "mr, chrF++, accuracy"], "computed"].tolist() == [0.1, 0.3]
    assert tenth.loc["mr, chrF++, fluency", "printed"] == "0.171"
    assert tenth.loc["gu, chrF++, fluency", "printed"] == "0.100"
    told = [verdicts.verdict(tenth.loc["gu, chrF++, fluency", "printed"], value) for value in (0.1004, 0.0743, 0.1006)]
    assert told == ["match", "differs", "differs"]


def test_ranges_are_looked_up_alike():
    ranges = pd.DataFrame({"metric": ["human", "TER", "chrF", "chrF++"], "min": [0.0, 1, 0.97, 1.77]})
    ranges["max"] = [25.0, 361, 100, 100]
    eighth = beside_print("Table 8", ranges=ranges)
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


# Challenge sets in ACES' format, and their Kendall-like tau

ROW = {"source": 'It "rains" in Pune.', "good-translation": "पुणे में बारिश है।", "phenomena": "antonym"}
ROW |= {"incorrect-translation": "पुणे में धूप है।", "reference": "पुणे में बारिश हो रही है।", "langpair": "en-hi"}


def scored(good, wrong, **columns):
    base = {"challenge": range(len(good)), "phenomena": "x", "source": [f"s{i}" for i in range(len(good))]} | columns
    sides = {"good": good, "incorrect": wrong}
    return pd.concat([pd.DataFrame(base | {"side": side, "m": m}) for side, m in sides.items()], ignore_index=True)


@hypothesis.given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30))
@hypothesis.settings(max_examples=30)
def test_tau_counts_right_and_wrong_preferences_and_a_tie_is_wrong(pairs):
    good, wrong = zip(*pairs)
    row = metrics.kendall_like(scored(good, wrong), ["m"], resamples=20).iloc[0]
    right = sum(g > w for g, w in pairs)
    assert row["tau"] == pytest.approx((right - (len(pairs) - right)) / len(pairs))
    assert (row["n"], row["ties"]) == (len(pairs), sum(g == w for g, w in pairs))
    assert row["low"] <= row["tau"] + 1e-12
    turned = metrics.kendall_like(scored(good, wrong), ["m"], lower_is_better={"m"}, resamples=20).iloc[0]
    assert turned["tau"] + row["tau"] == pytest.approx(-2 * row["ties"] / row["n"])


def test_intervals_draw_sentences_and_groups_are_apart():
    rng = np.random.default_rng(7)
    good, wrong = rng.normal(0.3, 1, 200), rng.normal(0, 1, 200)
    each = metrics.kendall_like(scored(good, wrong), ["m"], resamples=2000).iloc[0]
    p = (each["tau"] + 1) / 2
    assert each["high"] - each["low"] == pytest.approx(2 * 1.96 * 2 * np.sqrt(p * (1 - p) / 200), rel=0.1)
    # the same judgements of ten sentences only: what is drawn are the sentences
    ten = metrics.kendall_like(scored(good, wrong, source=[f"s{i // 20}" for i in range(200)]), ["m"], resamples=500)
    assert ten.iloc[0]["tau"] == each["tau"]
    both = scored([1, 1, 0, 0], [0, 0, 1, 1], phenomena=["a", "a", "b", "b"])
    found = metrics.kendall_like(both, ["m"], resamples=10)
    columns = ["phenomena", "tau", "low", "high", "n"]
    assert found[columns].to_numpy().tolist() == [["a", 1, 1, 1, 2], ["b", -1, -1, -1, 2]]


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_a_file_in_aces_format_is_read_to_the_letter(tmp_path, suffix):
    path = tmp_path / f"set{suffix}"
    if suffix == ".tsv":
        path.write_text("\t".join(ROW) + "\n" + "\t".join(ROW.values()) + "\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(ROW, ensure_ascii=False) + "\n", encoding="utf-8")
    found = metrics.read_aces(path)
    assert found.to_dict("records") == [ROW | {"language": "hi"}]
    sides = metrics.two_sided(found)
    assert sides["hypothesis"].tolist() == [ROW["good-translation"], ROW["incorrect-translation"]]
    assert sides["side"].tolist() == ["good", "incorrect"]


SCORED = scored([1.0, 2], [0.0, 1])


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("langpair is not", {"langpair": "hi"}),
        ("challenge 2: reference is empty", {"reference": " "}),
        ("the same", {"incorrect-translation": ROW["good-translation"]}),
        ("source is empty", {"source": ""}),
    ],
)
def test_a_challenge_that_is_broken_is_named(words, broken, tmp_path):
    pd.DataFrame([ROW, ROW | broken]).to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    with pytest.raises(DataError, match=words):
        metrics.read_aces(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("no column good-translation", lambda folder: metrics.read_aces(folder / "a.tsv")),
        ("no challenge set", lambda folder: metrics.read_aces(folder / "b.jsonl")),
        ("no file c.tsv", lambda folder: metrics.read_aces(folder / "c.tsv")),
        ("no challenges", lambda folder: metrics.read_aces(folder / "d.tsv")),
        ("no column m", lambda _: metrics.kendall_like(SCORED.drop(columns="m"), ["m"])),
        ("one good and one incorrect", lambda _: metrics.kendall_like(SCORED.iloc[:3], ["m"])),
        ("no score", lambda _: metrics.kendall_like(SCORED.assign(m=np.nan), ["m"])),
    ],
)
def test_a_challenge_set_that_is_none_is_refused(words, call, tmp_path):
    (tmp_path / "a.tsv").write_text("source\treference\nx\ty\n")
    (tmp_path / "b.jsonl").write_text("{no json\n")
    (tmp_path / "d.tsv").write_text("\t".join(ROW) + "\n")
    with pytest.raises(DataError, match=words):
        call(tmp_path)
