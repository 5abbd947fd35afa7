"""The studies as a reader gets them: equal to the reference on real data, marked on simulated data, true headlines."""

import html
import json
import math
import re
from itertools import combinations

import nbclient
import nbformat
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from evalkit import ROOT, data, show
from evalkit.human import preferences
from evalkit.reports import execute
from evalkit.reports.studies import Layout, read_studies
from evalkit.stats.verdicts import UNEXPLAINED
from tests.makers import cases
from tests.pages import numbers

NAMES = list(read_studies(Layout()))
#: Studies all of whose printed numbers rest on ratings.
RATINGS_ONLY = ["study_planner", "degraded_context", "wmt22_calibration_hits"]
#: What tools outside the project read: recorded name -> columns of its rows.
COLUMNS = cases("columns")


def differences(found, expected, place=""):
    """List where two JSON values differ; floats may differ in the last bits, as they do between processors."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        return [d for key in found for d in differences(found[key], expected[key], f"{place}/{key}")]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [
            d for i, pair in enumerate(zip(found, expected, strict=True)) for d in differences(*pair, f"{place}/{i}")
        ]
    same_type = isinstance(found, (int, float)) and isinstance(expected, (int, float)) and not isinstance(found, bool)
    same = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12) if same_type else found == expected
    return [] if same else [f"{place}: {found!r} is not {expected!r}"]


def report(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_on_real_data_equals_the_committed_reference(name, on_real_data):
    reference = json.loads((ROOT / "data" / "reference" / f"{name}.json").read_text(encoding="utf-8"))
    found = report(on_real_data, name)
    assert found["status"] == "ok"
    assert UNEXPLAINED not in {row["note"] for row in found["published"]}
    assert {source["source"] for source in found["data"]} <= {"real", "published"}
    assert "real" in {source["source"] for source in found["data"]}
    found["data"] = [{"name": source["name"], "digest": source["digest"]} for source in found["data"]]
    found["rows_left_out"] = {name: len(found["recorded"].pop(name)) for name in reference["rows_left_out"]}
    assert differences({key: found[key] for key in reference}, reference) == []


@pytest.mark.parametrize("name", NAMES)
def test_what_tools_read_has_the_columns_that_they_expect(name, on_real_data):
    recorded = report(on_real_data, name)["recorded"]
    for table, columns in COLUMNS[name].items():
        assert recorded[table], table
        assert set(columns.split()) <= set(recorded[table][0]), table
    if name == "xsts_calibration":
        assert 1 < recorded["consensus"]["low"] < recorded["consensus"]["high"] < 5


def test_the_index_shows_every_study_and_no_banner_on_real_data(on_real_data):
    page = (on_real_data / "index.html").read_text(encoding="utf-8")
    for name in NAMES:
        assert f'href="{name}.html"' in page
        assert show.typeset(report(on_real_data, name)["headline"]).split(".")[0] in html.unescape(page)
    assert "simulated" not in page.lower().split("<main", 1)[1]


def check_simulated(folder, name):
    """Demand that a report is marked, shows the reference beside its own, and compares no simulation with print."""
    found = report(folder, name)
    assert found["status"] == "ok"
    assert "simulated" in {source["source"] for source in found["data"]}
    page = (folder / f"{name}.html").read_text(encoding="utf-8")
    assert 'class="banner' in page
    assert page.count("Computed earlier, on the real data") >= 2
    reference = json.loads((ROOT / "data" / "reference" / f"{name}.json").read_text(encoding="utf-8"))
    assert reference["signature"] in html.unescape(page)
    assert differences(found["recorded"], reference["recorded"]), "a simulation that equals the real data is none"
    if name in RATINGS_ONLY:
        assert {(row["verdict"], row["computed"]) for row in found["published"]} == {("not reproducible", None)}


@pytest.mark.slow
@pytest.mark.usefixtures("without_data")
def test_without_data_a_report_is_marked_and_shows_the_reference_beside_its_own(tmp_path):
    """Another one in ``test_project.py``, all at night."""
    execute.run(["campaign"], Layout(reports=tmp_path / "reports"), values={"resamples": "20"})
    check_simulated(tmp_path / "reports", "campaign")


@pytest.mark.parametrize("name", NAMES)
def test_without_data_every_report_is_marked(name, all_simulated):
    check_simulated(all_simulated, name)


def test_without_data_the_index_is_marked_too(all_simulated):
    page = (all_simulated / "index.html").read_text(encoding="utf-8")
    assert 'class="banner' in page
    assert len(re.findall(r'class="badge [^"]*simulated', page)) >= len(NAMES)


@pytest.mark.slow
@pytest.mark.usefixtures("without_data")
def test_the_tour_runs_from_top_to_bottom_without_data():
    """On real data it runs in ``test_lab.py``."""
    tour = nbformat.read(ROOT / "notebooks" / "start_here.ipynb", as_version=4)
    nbclient.NotebookClient(tour, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    outputs = [output for cell in tour.cells for output in cell.get("outputs", []) if "data" in output]
    shown = "".join(output["data"].get("text/html", "") for output in outputs)
    assert "SIMULATED" in shown
    assert data.listing()["name"].isin(re.findall(r"<t[dh][^>]*>([\w-]+)</t[dh]>", shown)).all()


# First pages: what a headline says is what its tables hold, one claim has one number, and limits stand beside claims.

TREE, CIRCLE = [("A", "B"), ("B", "C")], [("A", "B"), ("B", "C"), ("C", "A")]


def reference(name):
    return json.loads((ROOT / "data" / "reference" / f"{name}.json").read_text(encoding="utf-8"))


def recorded(name, table):
    return pd.DataFrame(reference(name)["recorded"][table])


def answered(pairs, rng, *, ties):
    """Forty comparisons of each pair of equal systems."""
    said = rng.choice(["tie", "a", "b"], (len(pairs), 40), p=[ties, (1 - ties) / 2, (1 - ties) / 2])
    rows = [(a, b, answer) for (a, b), own in zip(pairs, said) for answer in own]
    return pd.DataFrame(rows, columns=["system_a", "system_b", "preference"])


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
@pytest.mark.parametrize(
    ("pairs", "strengths"), [(TREE, 0), (CIRCLE, 1), ([*TREE, ("C", "D")], 0), ([*combinations("ABCD", 2)], 3)]
)
def test_only_circles_of_pairs_can_contradict_strengths(pairs, strengths, ties):
    found = preferences.goodness(preferences.fit(answered(pairs, np.random.default_rng(1), ties=0.2), ties=ties))
    assert found.strengths.freedom == strengths
    assert found.ties.freedom == (0 if ties == "half" else len(pairs) - 1)
    assert np.isnan(found.strengths.p) == (strengths == 0)


def test_without_ties_strengths_are_tested_as_a_logistic_regression_is():
    table = answered([*combinations("ABCDE", 2)], np.random.default_rng(3), ties=0)
    won = table.assign(won=table["preference"].eq("a")).groupby(["system_a", "system_b"])["won"].agg(["sum", "size"])
    won = won.reset_index()
    design = np.array([[(a == name) - (b == name) for name in "BCDE"] for a, b in zip(won.system_a, won.system_b)], int)
    model = sm.GLM(np.column_stack([won["sum"], won["size"] - won["sum"]]), design, family=sm.families.Binomial()).fit()
    found = preferences.goodness(preferences.fit(table)).strengths
    assert (found.freedom, found.statistic) == (model.df_resid, pytest.approx(model.pearson_chi2))


def test_tables_of_preferences_leave_the_freedom_that_their_pairs_leave(real):
    fits = recorded("preferences", "fit").set_index("data")
    met = real("literary-preferences")
    pairs = met[["system_a", "system_b"]].apply(frozenset, axis=1).nunique()
    systems = len({*met["system_a"], *met["system_b"]})
    assert fits.loc["literary", ["systems", "pairs", "freedom"]].tolist() == [systems, pairs, pairs - systems + 1]
    assert (fits["freedom"] == fits["pairs"] - fits["systems"] + 1).all()
    assert fits["p"].notna().eq(fits["freedom"] > 0).all()
    assert (fits["ties_freedom"] < fits["pairs"]).all()


def test_degraded_context_is_judged_by_two_sided_intervals():
    found, headline = recorded("degraded_context", "robust"), reference("degraded_context")["headline"]
    main = found[found["method"].eq("clustered by annotator")]
    raw = main[main["scale"].eq("raw")]
    assert numbers(headline)[: len(raw)] == raw["estimate"].abs().round(1).tolist()
    assert headline.startswith("Bad neighbours drag" if (raw["low"] > 0).any() else "We found no reliable sign")
    assert ((main["low"] > 0) == ((main["p"] < 0.05) & (main["estimate"] > 0))).all(), "p is two-sided, too"


def test_a_higher_kappa_is_held_against_what_a_protocol_sees():
    headline, needed = reference("metric_protocols")["headline"], recorded("metric_protocols", "power")["points"]
    ends = needed.iloc[[0, -1]]
    assert numbers(headline)[:2] == ends.round(2).tolist()
    assert ("does not mean" in headline) == (ends.iloc[1] >= 0.9 * ends.iloc[0])
    found = recorded("metric_protocols", "average_differences")
    assert not found.loc[found["about"].eq("other languages"), "survives"].any()


@pytest.mark.parametrize("study", ["ranking_rules", "steered"])
def test_shares_of_false_findings_stand_beside_the_promised_ones(study):
    told = numbers(reference(study)["headline"])
    if study == "ranking_rules":
        rates = recorded(study, "error_rates")
        rates = rates[rates["rule"].str.startswith("wmt") & rates["situation"].str.contains("document")]
    else:
        rates = recorded(study, "stopping")
        rates = rates[rates["rule"].eq("a test at every look")]
    rates = rates[rates["nominal"].notna()]
    ends = [round(100 * rates["rate"].min()), round(100 * rates["rate"].max())]
    assert {*ends, *(100 * rates["nominal"].unique()).round()} <= {*told}


def test_the_headline_of_critical_errors_spans_what_its_figure_shows():
    found = recorded("critical_errors", "contrasts")
    shown = found[found["against"].eq("Incomprehensible") & found["label"].isin(["Contradiction", "Serious"])]
    told = numbers(reference("critical_errors")["headline"])
    assert told[:2] == [round(shown["difference"].min(), 2), round(shown["difference"].max(), 2)]
