"""Licht et al. 2022, Tables 5 and 6: what cells imply by other ways to compute it, and comparisons with print."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linprog

from evalkit import ROOT, data, show
from evalkit.data import simulate
from evalkit.human import calibration
from evalkit.papers import claims
from evalkit.papers.licht2022 import languages, protocols
from evalkit.papers.licht2022 import languages as inside
from evalkit.stats import verdicts

# --- Licht et al. 2022 in print: each number is transcribed, and has one row in one of its two studies


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


# --- The XSTS study: Table 5 from the inside against independent computations, the figures, the notebook


NOTEBOOK = ROOT / "notebooks" / "studies" / "xsts_calibration.ipynb"
LAW = settings(deadline=None, max_examples=40)


@pytest.fixture(scope="module")
def table5() -> pd.DataFrame:
    return data.published("licht2022_table5")


@pytest.fixture(scope="module")
def table6() -> pd.DataFrame:
    return data.published("licht2022_table6")


# Table 5 from the inside ---------------------------------------------------------------------------------------------


def test_the_recovered_table_has_one_unreachable_cell(table5):
    recovered = inside.recover(table5)
    assert len(recovered) == 28
    lost = recovered[~recovered["reachable"]]
    assert (lost["direction"] + " " + lost["language"]).tolist() == ["X-EN Azerbaijani"]
    rounds = [f"{value:.2f}" == printed for value, printed in zip(recovered["cs_ht_predicted"], table5["cs_ht"])]
    assert recovered["rounds"].tolist() == rounds
    assert (recovered["rounds"] <= recovered["reachable"]).all()


def test_recovered_means_give_the_printed_shifts_back(table5):
    for printed, row in zip(table5.to_dict("records"), inside.recover(table5).itertuples(), strict=True):
        shift = calibration.adjust(row.raw, calibration_mean=row.calibration_mean)["shift"]
        assert f"{shift:.2f}" == printed["cs"]
        assert f"{row.raw + 4.687 - row.reference_mean:.2f}" == printed["ht"]
        assert row.beta * row.raw + row.alpha == pytest.approx(row.cs_ht_predicted)
        assert row.cs_ht_low <= row.cs_ht_predicted <= row.cs_ht_high


def by_definition(raw, cs, ht, h, c):
    """CS+HT by the two means and the line, with RAW, as the authors would have computed it."""
    m, r = c - (cs - raw), h - (ht - raw)
    return c + (h - c) * (raw - m) / (r - m)


def test_the_interval_holds_all_inputs_that_round_to_print_and_its_ends_are_reached(table5):
    rng = np.random.default_rng(7)
    for row in table5.to_dict("records"):
        box = [(float(row[k]), 0.005) for k in ("raw", "cs", "ht")] + [(4.687, 0.0005)]
        values = by_definition(*(m + w * rng.uniform(-1, 1, 2000) for m, w in box), 3.0)
        low, high = map(float, inside.predicted_interval(row["cs"], row["ht"]))
        assert low - 1e-12 <= values.min()
        assert values.max() <= high + 1e-12
        corners = np.array(np.meshgrid(*([m - w, m + w] for m, w in box))).reshape(4, -1)
        reached = by_definition(*corners, 3.0)
        assert (reached.min(), reached.max()) == pytest.approx((low, high), abs=1e-12)


def reachable_by_linear_programme(table5, consensus, *, linked):
    """Is there one set of unrounded numbers behind all cells? For fixed c and h, CS+HT <= t is linear in CS and HT.

    Variables RAW, CS, HT per cell. ``linked`` adds that both directions share a calibration mean and that the
    references of all cells average to h.
    """
    n, cells = len(table5), table5[["raw", "cs", "ht", "cs_ht"]].astype(float)
    bounds = [(value - 0.005, value + 0.005) for value in cells[["raw", "cs", "ht"]].to_numpy().ravel()]
    equal = np.zeros((15, n, 3))
    for k, (_, place) in enumerate(table5.groupby("language").groups.items()):
        for i, sign in zip(place, (1, -1)):
            equal[k, i, :2] = -sign, sign
    equal[14, :, 0], equal[14, :, 2] = -1, 1
    linking = {"A_eq": equal.reshape(15, -1), "b_eq": np.zeros(15)} if linked else {}
    for h in (4.6865, 4.687, 4.6875):
        lines, ends = np.zeros((2 * n, n, 3)), np.zeros(2 * n)
        for k, (i, sign) in enumerate(itertools.product(range(n), (1, -1))):
            t = cells["cs_ht"][i] + sign * 0.005
            lines[k, i, 1:] = sign * (h - t), sign * (t - consensus)  # h·CS − c·HT <= t (h + CS − c − HT), or >=
            ends[k] = sign * t * (h - consensus) + 1e-12
        if linprog(np.zeros(3 * n), A_ub=lines.reshape(2 * n, -1), b_ub=ends, bounds=bounds, **linking).status == 0:
            return True
    return False


@pytest.mark.parametrize("linked", [False, True])
def test_the_consensus_interval_is_exact_by_linear_programming(table5, linked):
    joint = inside.joint_consensus(inside.consensus_by_cell(table5)).iloc[0]
    low, high = joint["low"], joint["high"]
    ends = [(low - 1e-5, False), (low + 1e-5, True), (high - 1e-5, True), (high + 1e-5, False)]
    for consensus, possible in ends:
        assert reachable_by_linear_programme(table5, consensus, linked=linked) is possible, consensus


def test_the_consensus_interval_and_what_sets_its_ends(table5):
    joint = inside.joint_consensus(inside.consensus_by_cell(table5)).iloc[0]
    assert (round(joint["low"], 4), round(joint["high"], 4)) == (2.8605, 2.9899)
    assert joint["low_cell"] == "X-EN Urdu and EN-X Urdu"
    assert joint["high_cell"] == "X-EN Azerbaijani"
    assert round(joint["high_else"], 4) == 3.0678  # without that one cell, 3.0 would be among them
    assert joint["possible"]


def test_a_cells_interval_is_where_its_prediction_meets_print(table5):
    cells = inside.consensus_by_cell(table5).set_index(["direction", "language"])
    for row in table5.to_dict("records"):
        low, high = cells.loc[(row["direction"], row["language"])]
        for consensus in np.linspace(1.05, 4.35, 34).round(3):
            standard = calibration.Standard(consensus=consensus)
            reach = inside.predicted_interval(row["cs"], row["ht"], standard=standard)
            assert inside._overlap(reach, inside._rounds_to(row["cs_ht"])) == (low <= consensus <= high)


def test_at_the_middle_of_the_interval_every_cell_is_reached(table5):
    joint = inside.joint_consensus(inside.consensus_by_cell(table5)).iloc[0]
    middle = calibration.Standard(consensus=round((joint["low"] + joint["high"]) / 2, 4))
    assert inside.recover(table5, standard=middle)["reachable"].all()


GROUP = st.tuples(st.floats(1.2, 4.8), st.floats(2.4, 3.5), st.floats(4, 5))  # raw, calibration mean, reference mean


@LAW
@given(st.floats(2.6, 3.4), st.lists(GROUP, min_size=3, max_size=8))
def test_a_made_up_table_gives_its_consensus_back(consensus, means):
    """Round a table made with a known consensus as print does: the consensus is among those found."""
    rows = []
    for n, (raw, m, r) in enumerate(means):
        moved = calibration.adjust(
            raw, calibration_mean=m, reference_mean=r, standard=calibration.Standard(consensus=consensus)
        )
        cs, line = float(moved["shift"]), float(moved["line"])
        rows.append(("X-EN", f"language {n}", f"{raw:.2f}", f"{cs:.2f}", f"{raw + 4.687 - r:.2f}", f"{line:.2f}"))
    table = pd.DataFrame(rows, columns=["direction", "language", "raw", "cs", "ht", "cs_ht"])
    cells = inside.consensus_by_cell(table)
    for name, pieces in cells.groupby("language"):
        assert ((pieces["low"] - 1e-9 <= consensus) & (consensus <= pieces["high"] + 1e-9)).any(), name
    assert set(cells["language"]) == set(table["language"])


def test_cells_that_contradict_each_other_are_named(table5):
    broken = table5.copy()
    broken.loc[(broken["language"] == "Urdu") & (broken["direction"] == "EN-X"), "cs_ht"] = "4.08"
    joint = inside.joint_consensus(inside.consensus_by_cell(broken)).iloc[0]
    assert not joint["possible"]
    assert "EN-X Urdu" in joint["low_cell"] + joint["high_cell"]


# Rankings and Table 6 ------------------------------------------------------------------------------------------------


def test_printed_order_is_the_order_of_the_printed_scores(table5):
    ranked = inside.rankings(table5)
    for _, part in ranked.groupby(["direction", "method"]):
        assert sorted(part["position"]) == list(range(1, 15))
        assert part.sort_values("position")["score"].is_monotonic_decreasing
        assert (part["rank"] <= part["position"]).all()


def test_portuguese_overtakes_hindi_and_arabic_by_the_calibration_set_only(table5):
    claims = inside.above(inside.rankings(table5), "Portuguese", ["Hindi", "Arabic"])
    holds = claims.set_index(["method", "direction", "claim"])["holds"]
    assert holds["CS"].all()
    assert not holds["RAW"].any()
    assert not holds["HT"].all()
    hindi = claims.query("method == 'CS' and direction == 'X-EN' and claim.str.contains('Hindi')").iloc[0]
    assert (hindi["margin"], hindi["certain"]) == (0.01, False)  # a tie before rounding is possible


def test_one_printed_r2_is_not_the_square_of_its_r(table6):
    audited = inside.audit(table6)
    wrong = audited[~audited["consistent"]]
    assert wrong[["method", "columns", "r", "r2"]].to_numpy().tolist() == [["CS+HT", "X-EN", 0.934, 0.874]]


# Figures and the notebook --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_notebook_runs_on_ratings_and_scores_of_ones_own(tmp_path, table5):
    """A small XSTS campaign on 1-5, whose pairs share a calibration set, and an outside score, both from files."""
    import papermill

    pairs = {pair: {} for language in ("amh", "hin", "por") for pair in (f"{language}-eng", f"eng-{language}")}
    design = {"systems": 1, "documents": 2, "segments": 6, "annotators": 2, "judgements": 2, "calibration": 20}
    ratings = simulate.stand_in("nllb-xsts", pairs=pairs, design=design)
    ratings.to_csv(tmp_path / "mine.csv", index=False)
    own = table5[["language_code", "direction", "cs"]].rename(columns={"cs": "score"})
    own.to_csv(tmp_path / "own.csv", index=False)
    parameters = {"ratings": str(tmp_path / "mine.csv"), "automatic_scores": str(tmp_path / "own.csv")}
    parameters |= {"ratings_scale": [1, 5], "splits": 20, "halves": 20, "resamples": 10, "fallback": False}
    done = papermill.execute_notebook(NOTEBOOK, None, parameters, progress_bar=False)
    outputs = [output for cell in done.cells for output in cell.get("outputs", [])]
    payloads = [output["data"][show.MIME] for output in outputs if show.MIME in output.get("data", {})]
    recorded = {p["name"]: p["value"] for p in payloads if p["kind"] == "record"}
    assert set(recorded) >= {"recovered", "consensus", "table6", "held_out", "carry_over"}
    assert {row["within"] for row in recorded["held_out"]} == {"all"}
    own = [r for r in recorded["table6"] if r["covariate"] == "own" and r["method"] == "CS"]
    assert [row["pearson"] for row in own] == pytest.approx([1.0] * 3)
    assert list(recorded["table6"][0]) == ["covariate", "columns", "method", "n", "pearson", "r2", "linreg"]
    assert recorded["consensus"] == {"low": pytest.approx(2.8605), "high": pytest.approx(2.98988095238)}
    assert not any(output["output_type"] in ("stream", "error") for output in outputs)
