"""Licht et al. 2022 in print: each number is transcribed, and has one row in one of its two studies."""

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.licht2022 import comparison as calibration
from evalkit.papers.licht2022 import external, implied, table3
from evalkit.papers.licht2022 import protocol_comparison as protocols
from evalkit.stats import verdicts

LICHT = "000"
STUDIES = ("xsts_calibration", "metric_protocols")
#: Columns with printed results. Tables 1 and 2 and Figure 1 describe; Table 5's ranks are the order of its rows.
RESULTS = {
    "table3": ["kappa"],
    "averages": ["avg", "rank"],
    "table4": ["training_size"],
    "table5": ["raw", "cs", "ht", "cs_ht"],
    "table6": ["printed"],
    "prose": ["printed"],
}
#: Numbers of the text that are no result: how things are counted and named, scales, design, and what examples assume.
NO_RESULT = [
    r"\(\d\)",
    r"<sup>\d</sup>",
    r"\^\d",
    r"\b(?:Tables?|Figure) \d",
    r"\d+[- ][Pp]oint",
    r"4 and 5 (?:were|are) coll",
    r"a score of 4",
    r"2020 and 2021",
    r"WMT 2021",
    r"100-language",
    r"close to 200 languages",
    r"250 sentences",
    r"1012 sentence pairs",
    r"200 sentence pairs from each",
    r"\\begin\{cases\}.*?\\end\{cases\}",
    r"\$s_\{\\text\{(?:top|bottom)\}\} = \d\$",
    r"3 different statistical methods",
    r"1:1 Train",
    r"5000 times",
    r"a mean score of 4\.8",
    r"from 4\.6 to 4\.8",
    r"from 2\.4 to 2\.6",
]
#: Printed values that answer what their sentence says in other words.
SPOKEN = {"all", "both", "passed", "difficult", "differ", "above"}


@pytest.fixture(scope="module")
def printed():
    names = ["table1", "table2", "table3", "averages", "table4", "table5", "table6", "prose"]
    return {name: data.published(f"licht2022_{name}") for name in names}


def of_study(printed, study):
    return printed["prose"][printed["prose"]["study"] == study]


@pytest.fixture(scope="module")
def rows(printed):
    """The rows of both studies, as their notebooks make them."""
    spoken = {
        STUDIES[0]: calibration.prose_tables(*(printed[f"table{number}"] for number in (1, 4, 5, 6))),
        STUDIES[1]: protocols.prose_tables(printed["table3"], printed["table2"]),
    }
    parts = [
        calibration.table4_rows(printed["table4"]),
        calibration.table5_rows(implied.recover(printed["table5"]), printed["table5"]),
        calibration.table6_rows(external.audit(printed["table6"]), printed["table6"]),
        protocols.table3_rows(printed["table3"], printed["averages"]),
        *(claims.look_up(of_study(printed, s), spoken[s], data=printed["table5"]) for s in STUDIES),
    ]
    made = pd.concat(parts, ignore_index=True)
    judged = verdicts.judge(made)
    return made.assign(told=[verdicts.in_words(row) for row in judged])


# What is transcribed ------------------------------------------------------------------------------------------------


def plain(text):
    return " ".join(text.split())


def test_each_claim_stands_in_the_papers_own_words(paper, printed):
    text = plain(paper(LICHT))
    for claim in printed["prose"].to_dict("records"):
        assert plain(claim["quote"]) in text, claim["quote"]
        if claim["printed"] not in SPOKEN or claim["printed"] in plain(claim["quote"]).split():
            word = rf"(?<![\w.]){re.escape(claim['printed'])}(?!\w)"
            assert re.search(word, plain(claim["quote"])), (claim["printed"], claim["quote"])
    assert set(printed["prose"]["study"]) == set(STUDIES)


def prose_of(text):
    """The paper's own prose, without related work, headings, references, and what its tables and Figure 1 hold."""
    body = text.split("## Abstract")[1].split("\n## References")[0]
    body = re.sub(r"## 2 Related Work.*?(?=\n## 3 )", "", body, flags=re.DOTALL)
    body = re.sub(r"\*\*1\*\* The two sentences.*?(?=Figure 1: Part of)", "", body, flags=re.DOTALL)
    return plain(" ".join(line for line in body.splitlines() if "\t" not in line and not line.startswith("#")))


def left_over(text, quotes):
    """Digits of the prose outside quotes and outside what is no result."""
    for quote in sorted(map(plain, quotes), key=len, reverse=True):
        text = text.replace(quote, " ")
    for pattern in [r"[(\s](?:19|20)\d\d\)", *NO_RESULT]:
        text = re.sub(pattern, " ", text)
    return [text[max(0, m.start() - 40) : m.end() + 20] for m in re.finditer(r"(?<![A-Za-z])\d+", text)]


def test_each_number_of_the_prose_is_transcribed_or_known_to_be_no_result(paper, printed):
    text, quotes = prose_of(paper(LICHT)), printed["prose"]["quote"].tolist()
    assert left_over(text, quotes) == []
    numeric = printed["prose"][printed["prose"]["printed"].str.contains(r"\d")]
    for quote in numeric["quote"].unique():
        assert left_over(text, [other for other in quotes if other != quote]), quote  # each is needed
    used = [pattern for pattern in NO_RESULT if not re.search(pattern, text)]
    assert not used, f"patterns that leave out nothing: {used}"


# One row each -------------------------------------------------------------------------------------------------------


def expected(printed):
    return {
        f"licht2022_{name}:{line + 2}:{column}"
        for name, columns in RESULTS.items()
        for column in columns
        for line in printed[name].index
    }


def test_each_printed_number_has_exactly_one_row(printed, rows):
    assert [place for place, n in Counter(rows["place"]).items() if n > 1] == []
    assert set(rows["place"]) == expected(printed)
    for place, shown in zip(rows["place"], rows["printed"], strict=True):
        name, line, column = place.split(":")
        assert printed[name.removeprefix("licht2022_")][column][int(line) - 2] == shown


def test_what_differs_and_what_only_rounding_explains(rows):
    told = rows.assign(where=rows["item"] + ": " + rows["cell"]).set_index("where")["told"]
    assert sorted(told.index[told == "differs"]) == [
        "6.1: BT+MSTS also performs",
        "6.1: protocol with the highest average over all its languages",
        "Table 1: languages of Tables 4 and 5 that the list has",
        "Table 5, CS+HT: X-EN, Azerbaijani",
        "Table 6, r²: CS+HT, X-EN",
    ]
    near = Counter(where.split(":")[0] for where in told.index[told == "within rounding of its inputs"])
    assert near == {"Table 5, CS+HT": 8, "Table 5, CS": 5, "Table 6, r²": 4}
    gone = rows[rows["told"] == "not reproducible"].groupby("lacking").size().to_dict()
    assert gone == {
        "annotations never released": 48 + 28 + 14 + 28 + 5 + 1,
        "spmBLEU scores never printed": 24,
        "training corpora never named": 14 + 1,
        "study never printed": 2 + 4,
    }


# The computed side, by other means ----------------------------------------------------------------------------------


def test_only_inputs_that_round_to_print_reach_the_cells_that_do_not_round(printed, rows):
    """A search over rounded inputs with no formula for intervals finds the same cells, and the same ends."""
    rng = np.random.default_rng(5)
    found = rows[rows["item"] == "Table 5, CS+HT"].set_index("cell")
    for row in printed["table5"].to_dict("records"):
        raw, cs, ht = (float(row[name]) for name in ("raw", "cs", "ht"))
        cs, ht = cs + rng.choice([-1, 1], 400) * 0.005, ht + rng.choice([-1, 1], 400) * 0.005
        h = 4.687 + rng.choice([-1, 1], 400) * 0.0005
        m, r = 3.0 - (cs - raw), h - (ht - raw)
        moved = 3.0 + (h - 3.0) * (raw - m) / (r - m)
        line = found.loc[f"{row['direction']}, {row['language']}"]
        assert (moved.min(), moved.max()) == pytest.approx((line["low"], line["high"]), abs=1e-9)


def test_calibrated_scores_out_of_english_follow_from_the_shift_into_english(printed, rows):
    table = printed["table5"].set_index(["direction", "language"])
    found = rows[(rows["item"] == "Table 5, CS") & rows["computed"].notna()]
    assert len(found) == 14
    for row in found.itertuples():
        language = row.cell.split(", ")[1]
        value = {(d, c): float(table.at[(d, language), c]) for d in ("X-EN", "EN-X") for c in ("raw", "cs")}
        predicted = value["EN-X", "raw"] + value["X-EN", "cs"] - value["X-EN", "raw"]
        assert row.computed == pytest.approx(predicted)
        assert row.told == ("match" if abs(predicted - float(row.printed)) < 0.005 else "within rounding of its inputs")


def test_squares_keep_their_own_intervals(printed, rows):
    """Rows come in print's order and the audit's in another; bounds go with their cells."""
    for row in rows[rows["item"] == "Table 6, r²"].itertuples():
        assert row.low < row.computed < row.high, row.cell
        assert row.high - row.low < 0.002


def test_the_order_of_the_highlighted_languages_by_scipy(printed):
    found = calibration.closer(printed["table4"], printed["table5"]).set_index("direction")
    sizes = printed["table4"].set_index("language_code")["training_size"].astype(int)
    for direction, half in printed["table5"].groupby("direction"):
        half = half[half["language"].isin(calibration.HIGHLIGHTED)]
        for name in ("raw", "cs"):
            rho = stats.spearmanr(half[name].astype(float), half["language_code"].map(sizes)).statistic
            assert found.at[direction, name] == pytest.approx(rho)
    assert (found["lead"] > 0).all()


def test_what_the_claims_say_about_limits_and_shifts_is_so(printed):
    recovered = implied.recover(printed["table5"])
    assert recovered["alpha_cs"].abs().max() < 0.5  # "No shift of Table 5 is so large."
    checks = calibration.moderated_checks()
    assert checks[["rises", "stays"]].all(axis=None)
    assert calibration.examples().set_index("example")["value"].round(9).tolist() == [0.2, 0.3, 5.1, 1000]


def test_a_changed_kappa_changes_the_verdict_on_its_average(printed):
    wrong = printed["table3"].copy()
    wrong.loc[0, "kappa"] = "0.46"
    wrong.attrs = printed["table3"].attrs
    made = protocols.table3_rows(wrong, printed["averages"]).set_index("cell")
    row = made.loc["X-EN, RAW, avg"]
    assert verdicts.verdict(row["printed"], row["computed"]) == "differs"


def test_predictions_are_wide_where_scores_lie_outside_the_two_fixed_points(printed):
    """The page says so; it used to say that the fixed points' disagreement makes them wide, which it does not."""
    recovered = implied.recover(printed["table5"])
    width = recovered["cs_ht_high"] - recovered["cs_ht_low"]
    beyond = (3.0 - recovered["cs_ht_predicted"]).clip(lower=0)
    assert width.nlargest(3).index.tolist() == beyond.nlargest(3).index.tolist()
    shift_by_references = pd.to_numeric(printed["table5"]["ht"]) - recovered["raw"]
    disagreement = (recovered["alpha_cs"] - shift_by_references).abs()
    assert stats.spearmanr(width, disagreement).statistic < 0.2


# What the pages say first -------------------------------------------------------------------------------------------


def report(folder, study):
    return json.loads((folder / f"{study}.json").read_text(encoding="utf-8"))


def test_the_calibration_headline_names_each_form_with_its_range(on_real_data):
    found = report(on_real_data, "xsts_calibration")
    held = pd.DataFrame(found["recorded"]["held_out"]).groupby("form")["ratio"].agg(["min", "max"])
    for form, name in (("shift", "simple shift"), ("line", "line through two points")):
        low, high = held.loc[form]
        assert re.search(rf"{name}[^;.]*left {low:.0%} to {high:.0%}", found["headline"])
    recovered = pd.DataFrame(found["recorded"]["recovered"])
    assert f"{recovered['rounds'].sum()} of 28 doubly corrected" in found["headline"]


def test_the_protocols_headline_says_what_the_page_says(on_real_data):
    found = report(on_real_data, "metric_protocols")
    shares = pd.DataFrame(found["recorded"]["sensitivity"])
    assert set(shares["translations"]) == set(table3.WORTH)
    assumed = shares[(shares["translations"] == "together") & (shares["categories"] == found["parameters"]["marginal"])]
    assert f"±{assumed['mean_width'].item() / 2:.2f}" in found["headline"]
    assert f"So {assumed['averages_apart'].item()} of 15 differences" in found["headline"]
    together = shares[shares["translations"] == "together"].set_index("categories")["mean_width"]
    assert (
        together > 1.9 * shares[shares["translations"] == "independent"].set_index("categories")["mean_width"]
    ).all()
    cells = pd.DataFrame(found["recorded"]["table3"])  # the page's own intervals are the wider ones
    assert (cells["high"] - cells["low"]).mean() == pytest.approx(together[found["parameters"]["marginal"]])


def test_the_protocols_headline_compares_coefficients_that_weigh_alike(on_real_data):
    found = report(on_real_data, "metric_protocols")
    real = pd.DataFrame(found["recorded"]["real_annotators"]).set_index(["coefficient", "data"])
    real = real[real["level"] == "none"]["estimate"]
    gap = (real["gwet_ac1"] - real["fleiss_kappa"]).abs().idxmax()
    told = f"Fleiss' κ is {real['fleiss_kappa', gap]:.2f} and Gwet's AC1 {real['gwet_ac1', gap]:.2f}"
    assert told in found["headline"]
    assert "AC2" not in found["headline"]
