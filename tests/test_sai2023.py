"""The tables of Sai et al. 2023, each transcription held against the paper's own text, cell by cell."""

import re

import pytest

from evalkit import data

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
