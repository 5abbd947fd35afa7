"""Licht et al. 2022 in print: each number is transcribed, and has one row in one of its two studies."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import data
from evalkit.papers import claims
from evalkit.papers.licht2022 import languages, protocols
from evalkit.stats import verdicts

STUDIES = ("xsts_calibration", "metric_protocols")


@pytest.fixture(scope="module")
def printed():
    names = ["table1", "table2", "table3", "averages", "table4", "table5", "table6", "prose"]
    return {name: data.published(f"licht2022_{name}") for name in names}


@pytest.fixture(scope="module")
def rows(printed):
    """The rows of both studies, as their notebooks make them."""
    tables = {number: printed[f"table{number}"] for number in range(1, 7)}
    spoken = {
        STUDIES[0]: languages.prose_tables(*(tables[n] for n in (1, 4, 5, 6))),
        STUDIES[1]: protocols.prose_tables(tables[3], tables[2]),
    }
    ours = languages.computed(tables[5], languages.recover(tables[5]), languages.audit(tables[6]))
    parts = [
        claims.compare("licht2022", ours | {"averages": protocols.averages(tables[3])}),
        *(claims.look_up(prose, spoken[study], data=tables[5]) for study, prose in printed["prose"].groupby("study")),
    ]
    made = pd.concat(parts, ignore_index=True)
    judged = verdicts.judge(made)
    return made.assign(told=[verdicts.in_words(row) for row in judged])


# Verdicts -------------------------------------------------------------------------------------------------------


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


def test_squares_keep_their_own_intervals(rows):
    """Rows come in print's order and the audit's in another; bounds go with their cells."""
    squares = rows[rows["item"] == "Table 6, r²"]
    assert ((squares["low"] < squares["computed"]) & (squares["computed"] < squares["high"])).all()
    assert (squares["high"] - squares["low"]).max() < 0.002


def test_the_order_of_the_highlighted_languages_by_scipy(printed):
    found = languages.closer(printed["table4"], printed["table5"]).set_index("direction")
    sizes = printed["table4"].set_index("language_code")["training_size"].astype(int)
    for direction, half in printed["table5"].groupby("direction"):
        half = half[half["language"].isin(languages.HIGHLIGHTED)]
        for name in ("raw", "cs"):
            rho = stats.spearmanr(half[name].astype(float), half["language_code"].map(sizes)).statistic
            assert found.at[direction, name] == pytest.approx(rho)
    assert (found["lead"] > 0).all()


def test_what_the_claims_say_about_limits_and_shifts_is_so(printed):
    recovered = languages.recover(printed["table5"])
    assert recovered["alpha_cs"].abs().max() < 0.5  # "No shift of Table 5 is so large."
    checks = languages.moderated_checks()
    assert checks[["rises", "stays"]].all(axis=None)
    assert languages.examples().set_index("example")["value"].round(9).tolist() == [0.2, 0.3, 5.1, 1000]


def test_a_changed_kappa_changes_the_verdict_on_its_average(printed):
    wrong = printed["table3"].copy()
    wrong.loc[0, "kappa"] = "0.46"
    wrong.attrs = printed["table3"].attrs
    made = claims.compare("licht2022", {"averages": protocols.averages(wrong)}, items="Table 3").set_index("cell")
    row = made.loc["X-EN, RAW, avg"]
    assert verdicts.verdict(row["printed"], row["computed"]) == "differs"
