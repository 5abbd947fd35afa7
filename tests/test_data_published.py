"""Each transcribed table is held against the paper's own text, cell by cell and in the printed order."""

import csv
import re

import pytest

from evalkit import DataError, data

LICHT = "000"


def printed(text, first, rows):
    """Cut a table's block out of the paper: ``rows`` lines of cells from the one that starts with ``first``."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if line.startswith(first)]
    assert len(starts) == 1, f"{first!r} stands {len(starts)} times in the paper"
    block = lines[starts[0] : starts[0] + rows]
    assert all(block), "a blank line within the block"
    assert not lines[starts[0] + rows], "the table goes on after the block"
    return [re.sub(r"</?b>", "", line).rstrip("\t").split("\t") for line in block]


def cells(frame):
    """List a frame's rows as lists of text."""
    return [[str(cell) for cell in row] for row in frame.itertuples(index=False)]


def test_table1(paper):
    block = printed(paper(LICHT), "Metric Study\t", 8)
    table = data.published("licht2022_table1")
    metric, calibration = (table.loc[table["study"] == study, "language"].tolist() for study in block[0])
    assert (len(metric), len(calibration)) == (6, 13)
    columns = [[*metric, ""], calibration[:7], [*calibration[7:], ""]]
    assert [list(row) for row in zip(*columns)] == [row + [""] * (3 - len(row)) for row in block[1:]]


def test_table2(paper):
    block = printed(paper(LICHT), "Language\tMorphological", 7)
    table = data.published("licht2022_table2").drop(columns="language_code")
    assert [name.replace("_", " ").capitalize() for name in table] == block[0]
    assert cells(table) == block[1:]


def test_table3(paper):
    block = printed(paper(LICHT), "X-English\t\t\t\t\t\t\t", 11)
    table, averages = data.published("licht2022_table3"), data.published("licht2022_averages")
    beside = averages.set_index(["direction", "protocol"])
    assert (len(table), len(averages)) == (8 * 6, 8)
    grid = []
    for direction, title in (("X-EN", "X-English"), ("EN-X", "English-X")):
        half = table[table["direction"] == direction]
        grid.append([title])
        if direction == "X-EN":
            grid.append(["", *half["language"].head(6), "AVG", "Rank"])
        for protocol, rows in half.groupby("protocol", sort=False):
            assert rows["language"].tolist() == table["language"].head(6).tolist()
            grid.append([protocol, *rows["kappa"], *beside.loc[(direction, protocol)]])
    assert grid == block


def test_table4(paper):
    block = printed(paper(LICHT), "Language\tLanguage family\t", 15)
    table = data.published("licht2022_table4").drop(columns="language_code")
    table["training_size"] = [f"{int(size):,}" for size in table["training_size"]]
    assert block[0] == ["Language", "Language family", "Writing system", "Linguistic properties", "", "Training size"]
    assert cells(table) == block[1:]


def test_table5(paper):
    block = printed(paper(LICHT), "X-English\t\t\t\tEnglish-X", 16)
    assert block[0] == ["X-English", "", "", "", "English-X"]
    assert block[1] == ["RAW", "CS", "HT", "CS+HT"] * 2
    table = data.published("licht2022_table5")
    columns = []
    for direction in ("X-EN", "EN-X"):
        half = table[table["direction"] == direction]
        for method in ("raw", "cs", "ht", "cs_ht"):
            rank = half[f"rank_{method}"].astype(int)
            assert sorted(rank) == list(range(1, 15))
            columns.append((half[method] + " " + half["language"]).iloc[rank.argsort()].tolist())
    assert [list(row) for row in zip(*columns)] == block[2:]
    assert table["rank_raw"].tolist() == [str(n) for n in range(1, 15)] * 2


def test_table6(paper):
    block = printed(paper(LICHT), "Method\tPearson", 6)
    assert [cell for cell in block[0] if cell] == ["Method", "Pearson's R", "$r^2$", "LinReg"]
    table = data.published("licht2022_table6")
    assert table["statistic"].drop_duplicates().tolist() == ["pearson", "r2", "linreg"]
    rows = [[method, *rows["printed"]] for method, rows in table.groupby("method", sort=False)]
    assert rows == block[2:]
    order = table["direction"].tolist()
    assert order == ["X-EN", "EN-X", "both"] * 12
    assert order[:9] == block[1][1:]


def test_spbleu_is_the_collected_table(mirrored):
    path = mirrored("spbleu_flores.tsv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows[0] == ["lp", "testset", "model", "spbleu", "repo", "commit", "path"]
    table = data.published("spbleu_flores")
    assert list(table) == ["pair", "testset", "system", "spbleu", "repository", "commit", "path"]
    assert cells(table) == rows[1:]


def test_published_tables_say_where_they_come_from():
    table = data.published("licht2022_table5")
    source = table.attrs["source"]
    assert (source["name"], source["source"]) == ("licht2022_table5", "published")
    assert source["origin"] == "Licht et al. 2022, Table 5"
    assert re.fullmatch("sha256:[0-9a-f]{64}", source["digest"])
    assert data.published("licht2022_table6")["printed"].iloc[0] == ".897"
    with pytest.raises(DataError, match=r"no published table 'licht2022_tabel5'.*Did you mean licht2022_table5\?"):
        data.published("licht2022_tabel5")


SUDOH = "004"


def sudoh(paper, first, rows):
    """Cut a block of ``rows`` lines out of the paper, from the one that is ``first``, without mark-up."""
    lines = paper(SUDOH).splitlines()
    (start,) = [n for n, line in enumerate(lines) if line == first]
    block = [re.sub(r"</?[a-z]+>", "", line).split("\t") for line in lines[start : start + rows]]
    assert not lines[start + rows].strip(), "the table goes on after the block"
    return block


def wide(number, index, columns, values):
    """Lay a transcribed table of Sudoh et al. out as it is printed: a header, and a row per value of ``index``."""
    table = data.published(f"sudoh2021_table{number}")
    assert not table.duplicated([index, columns]).any()
    cells = table.pivot(index=index, columns=columns, values=values)
    cells = cells.loc[table[index].drop_duplicates(), table[columns].drop_duplicates()]
    return list(cells.columns), [[name, *row] for name, row in zip(cells.index, cells.to_numpy().tolist())]


def test_sudoh_table1(paper):
    head, *block = sudoh(paper, "ID\tHypothesis\tBLEU-4\tchrF\tBERTScore\tBLEURT", 11)
    assert [name.lower() for name in head] == ["id", "hypothesis", "bleu-4", "chrf", "bertscore", "bleurt"]
    joined = [[cell.replace("Mars .", "Mars.") for cell in row] for row in block]  # the text version cuts off one stop
    assert cells(data.published("sudoh2021_table1")) == joined


@pytest.mark.parametrize(("number", "rows"), [(4, 5), (5, 7)])
def test_sudoh_shares_of_labels(paper, number, rows):
    title = {4: "Fluency", 5: "Adequacy"}[number]
    head, *block = sudoh(paper, f"{title}\tA\tB\tC\tAve.", rows + 1)
    columns, found = wide(number, "label", "annotator", "share")
    assert [*columns[:3], columns[3].replace("average", "Ave.")] == head[1:]
    assert found == block


@pytest.mark.parametrize(("number", "rows"), [(6, 5), (7, 7)])
def test_sudoh_scores_by_label(paper, number, rows):
    head, *block = sudoh(paper, f"{ {6: 'Fluency', 7: 'Adequacy'}[number] }\tA\tB\tC", rows + 1)
    (columns, means), (_, deviations) = (wide(number, "label", "annotator", name) for name in ("mean", "sd"))
    assert columns == head[1:]
    pairs = zip(means, deviations)
    assert [[a[0], *(f"{m} ({s})" for m, s in zip(a[1:], b[1:]))] for a, b in pairs] == block


def test_sudoh_table8(paper):
    head, *block = sudoh(paper, "Metric\t\tA-B\tA-C\tB-C", 5)
    table = data.published("sudoh2021_table8")
    rows = [
        [dimension if statistic == "kappa" else "", {"kappa": "κ", "concordance": "r"}[statistic], *part["value"]]
        for (dimension, statistic), part in table.groupby(["dimension", "statistic"], sort=False)
    ]
    assert [[row[0].lower(), *row[1:]] for row in block] == rows
    assert table["pair"].tolist() == head[2:] * 4


@pytest.mark.parametrize(("number", "rows"), [(9, 5), (10, 7)])
def test_sudoh_counts_of_labels(paper, number, rows):
    _, *block = sudoh(paper, f"{ {9: 'Fluency', 10: 'Adequacy'}[number] }\tTraining\tDev.\tTest", rows + 1)
    columns, found = wide(number, "label", "split", "count")
    assert columns == ["train", "dev", "test"]
    assert found == block


@pytest.mark.parametrize(
    ("number", "head"),
    [(11, "ref \\ pred\tInc.\tPoor\tFair\tGood\tExc."), (13, "r\\p\tInc.\tUnr.\tCon.\tSer.\tFair\tGood\tExc.")],
)
def test_sudoh_confusion_matrices(paper, number, head):
    _, *block = sudoh(paper, head, head.count("\t") + 1)
    columns, found = wide(number, "true", "predicted", "count")
    assert found == block
    assert columns == [row[0] for row in block]
    assert all(name.startswith(short.rstrip(".")) for name, short in zip(columns, head.split("\t")[1:]))


@pytest.mark.parametrize(("number", "rows"), [(12, 6), (14, 8)])
def test_sudoh_precision_recall_and_f1(paper, number, rows):
    _, *block = sudoh(paper, f"{ {12: 'Fluency', 14: 'Adequacy'}[number] }\tPrecision\tRecall\tF1-score", rows + 1)[:]
    found = cells(data.published(f"sudoh2021_table{number}"))
    assert [[row[0].replace("average", "Ave."), *row[1:]] for row in found] == block


def test_every_claim_of_sudoh_quotes_the_paper(paper):
    text = paper(SUDOH)
    claims = data.published("sudoh2021_claims").fillna("")
    assert len(claims) > 40
    for claim in claims.to_dict("records"):
        assert claim["quote"] in text, claim["cell"]
        if claim["printed"].replace(".", "").replace(",", "").isdigit() and claim["item"] != "6":
            assert claim["printed"] in claim["quote"] or claim["how"] in ("min", "max"), claim["cell"]
