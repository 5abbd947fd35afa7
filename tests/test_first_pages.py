"""First pages: what a headline says is what its tables hold, one claim has one number, and limits stand beside claims.

Sentences are read by their numbers, never by their words.
"""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from evalkit import ROOT
from evalkit.human import preferences
from tests.pages import numbers

TREE, CIRCLE = [("A", "B"), ("B", "C")], [("A", "B"), ("B", "C"), ("C", "A")]


def reference(name):
    return json.loads((ROOT / "data" / "reference" / f"{name}.json").read_text(encoding="utf-8"))


def recorded(name, table):
    return pd.DataFrame(reference(name)["recorded"][table])


def answered(pairs, rng, *, answers=40, units=20, likes=0.0, ties=0.2):
    """Comparisons of equal systems: each unit (person) likes one system of a pair better, by ``likes`` log odds."""
    rows = []
    for a, b in pairs:
        lead = rng.normal(0, likes, units)
        for k in range(answers):
            who, tie = k % units, rng.random() < ties
            won = rng.random() < 1 / (1 + np.exp(-lead[who]))
            rows.append((a, b, "tie" if tie else "a" if won else "b", f"p{who}"))
    return pd.DataFrame(rows, columns=["system_a", "system_b", "preference", "annotator"])


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
@pytest.mark.parametrize(
    ("pairs", "strengths"), [(TREE, 0), (CIRCLE, 1), ([*TREE, ("C", "D")], 0), ([*combinations("ABCD", 2)], 3)]
)
def test_only_circles_of_pairs_can_contradict_strengths(pairs, strengths, ties):
    found = preferences.goodness(preferences.fit(answered(pairs, np.random.default_rng(1)), ties=ties))
    assert found.strengths.freedom == strengths
    assert found.ties.freedom == (0 if ties == "half" else len(pairs) - 1)
    assert np.isnan(found.strengths.p) == (strengths == 0)


def test_without_ties_strengths_are_tested_as_a_logistic_regression_is():
    table = answered([*combinations("ABCDE", 2)], np.random.default_rng(3), likes=1.0, ties=0)
    won = table.assign(won=table["preference"].eq("a")).groupby(["system_a", "system_b"])["won"].agg(["sum", "size"])
    won = won.reset_index()
    design = np.array([[(a == name) - (b == name) for name in "BCDE"] for a, b in zip(won.system_a, won.system_b)], int)
    model = sm.GLM(np.column_stack([won["sum"], won["size"] - won["sum"]]), design, family=sm.families.Binomial()).fit()
    found = preferences.goodness(preferences.fit(table)).strengths
    assert (found.freedom, found.statistic) == (model.df_resid, pytest.approx(model.pearson_chi2))


def test_ties_of_two_pairs_are_compared_as_their_shares_are():
    """In a tree whose pairs differ in ties alone, one rate of ties is what Pearson's chi-squared of 2 × 2 tests."""
    rows = [("A", "B", "a")] * 20 + [("A", "B", "b")] * 20 + [("A", "B", "tie")] * 10
    rows += [("B", "C", "a")] * 10 + [("B", "C", "b")] * 10 + [("B", "C", "tie")] * 30
    table = pd.DataFrame(rows, columns=["system_a", "system_b", "preference"])
    found = preferences.goodness(preferences.fit(table))
    assert found.ties.statistic == pytest.approx(100 * (10 * 20 - 40 * 30) ** 2 / (50 * 50 * 40 * 60))
    assert found.strengths.freedom == 0


def test_answers_given_three_times_by_the_same_person_tell_no_more():
    table = answered([*combinations("ABC", 2)], np.random.default_rng(5), answers=80, units=8, likes=2.0)
    once, thrice = table, pd.concat([table] * 3, ignore_index=True)
    alike = [
        preferences.goodness(preferences.fit(one), units=preferences.labels(one, ["annotators"]))
        for one in (once, thrice)
    ]
    for part in ("strengths", "ties"):
        one, three = (getattr(each, part) for each in alike)
        assert three.statistic == pytest.approx(3 * one.statistic)
    assert alike[0].strengths.effect > 1
    assert alike[1].strengths.p == pytest.approx(alike[0].strengths.p, rel=1e-6)


@pytest.mark.slow
def test_people_who_like_systems_differently_contradict_no_scale_of_strengths():
    rng, found = np.random.default_rng(11), []
    for _ in range(100):
        table = answered([*combinations("ABCD", 2)], rng, answers=60, units=15, likes=1.5)
        fitted = preferences.fit(table)
        units = preferences.labels(table, ["annotators"])
        found.append([preferences.goodness(fitted, units=one).strengths.p < 0.05 for one in (units, None)])
    known, ignored = np.mean(found, axis=0)
    assert known <= 0.09  # .05 and two standard errors
    assert ignored > 0.2


def test_tables_of_preferences_leave_the_freedom_that_their_pairs_leave(real):
    fits = recorded("preferences", "fit").set_index("data")
    met = real("literary-preferences")
    pairs = met[["system_a", "system_b"]].apply(frozenset, axis=1).nunique()
    systems = len({*met["system_a"], *met["system_b"]})
    assert fits.loc["literary", ["systems", "pairs", "freedom"]].tolist() == [systems, pairs, pairs - systems + 1]
    assert (fits["freedom"] == fits["pairs"] - fits["systems"] + 1).all()
    assert fits["p"].notna().eq(fits["freedom"] > 0).all()
    assert (fits["ties_freedom"] < fits["pairs"]).all()


@pytest.mark.slow
def test_what_a_metric_saves_is_told_with_its_range_over_pairs_of_systems(real):
    saved, told = recorded("judges", "saved"), reference("judges")
    people, machine = real("wmt23-human"), real("wmt23-metrics")
    people = people[people["metric"].eq("mqm") & people["tgt_lang"].eq("deu") & ~people["system"].str.startswith("ref")]
    best = saved[saved["data"].eq("eng-deu") & saved["what"].str.startswith("difference")].nlargest(1, "saved").iloc[0]
    machine = machine[machine["metric"].eq(best["metric"]) & machine["tgt_lang"].eq("deu")]
    wide = [
        table.pivot_table(index=["doc", "segment"], columns="system", values="score", observed=True)
        for table in (people, machine)
    ]
    systems = [name for name in wide[0] if name in wide[1]]
    both = pd.concat([table[systems] for table in wide], axis=1, keys=["h", "m"]).dropna()
    r2 = [
        np.corrcoef(both["h"][a] - both["h"][b], both["m"][a] - both["m"][b])[0, 1] ** 2
        for a, b in combinations(systems, 2)
    ]
    assert best[["saved", "lowest", "highest"]].tolist() == pytest.approx([np.mean(r2), min(r2), max(r2)])
    assert numbers(told["headline"])[-3:] == [round(100 * value) for value in (np.mean(r2), min(r2), max(r2))]


def test_degraded_context_is_judged_by_two_sided_intervals_on_each_scale():
    found, told = recorded("degraded_context", "robust"), numbers(reference("degraded_context")["headline"])
    main = found[found["method"].eq("clustered by annotator")]
    for scale, digits in (("raw", 2), ("z", 3)):
        own = main[main["scale"].eq(scale)]
        ends = own[["estimate", "low", "high"]].round(digits).to_numpy().ravel().tolist()
        place = next(k for k in range(len(told)) if told[k : k + 3] == ends[:3])
        assert {*ends} <= {*told}
        assert [(own["low"] > 0).sum(), len(own)] in [told[k : k + 2] for k in range(place)]
        assert ((own["low"] > 0) == ((own["p"] < 0.05) & (own["estimate"] > 0))).all(), "p is two-sided, too"


def test_differences_between_protocols_have_one_number():
    told = numbers(reference("metric_protocols")["headline"])
    found, cells = (recorded("metric_protocols", name) for name in ("average_differences", "table3"))
    here, elsewhere = (found[found["about"].str.startswith(one)]["survives"] for one in ("these", "other"))
    assert told[:3] == [round((cells["high"] - cells["low"]).mean() / 2, 2), here.sum(), len(here)]
    assert elsewhere.sum() == 0


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
