"""Licht et al. 2022: Tables 3, 5 and 6 beside print, the rubric, and protocols compared by independent computations."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import linprog
from statsmodels.stats.inter_rater import fleiss_kappa

from evalkit import ROOT, DataError, data, show
from evalkit.data import simulate, stand_ins
from evalkit.human import calibration, observed
from evalkit.papers.licht2022 import languages as inside
from evalkit.papers.licht2022 import protocols
from evalkit.stats import agreement

# --- The XSTS study: Table 5 from the inside against independent computations, the figures, the notebook


NOTEBOOK = ROOT / "notebooks" / "studies" / "xsts_calibration.ipynb"


@pytest.fixture(scope="module")
def table5() -> pd.DataFrame:
    return data.published("licht2022_table5")


# Table 5 from the inside


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


def test_cells_that_contradict_each_other_are_named(table5):
    broken = table5.copy()
    broken.loc[(broken["language"] == "Urdu") & (broken["direction"] == "EN-X"), "cs_ht"] = "4.08"
    joint = inside.joint_consensus(inside.consensus_by_cell(broken)).iloc[0]
    assert not joint["possible"]
    assert "EN-X Urdu" in joint["low_cell"] + joint["high_cell"]


# Outside scores, ends of the scale and the two directions, by plain arithmetic


def test_the_ends_of_the_scale_go_where_the_recovered_means_send_them(table5):
    ends = inside.off_scale(table5).set_index(["form", "direction", "language"])
    for row in table5.to_dict("records"):
        raw, cs, ht = (float(row[name]) for name in ("raw", "cs", "ht"))
        shift = ends.loc[("shift", row["direction"], row["language"])]
        assert shift[["bottom_to", "top_to"]].tolist() == pytest.approx([1 + cs - raw, 5 + cs - raw])
        means = [3 - (cs - raw), 4.687 - (ht - raw)]  # of the calibration set and of references
        line = ends.loc[("line", row["direction"], row["language"])]
        ends_of_line = np.polyval(np.polyfit(means, [3, 4.687], 1), [1, 5])
        assert line[["bottom_to", "top_to"]].tolist() == pytest.approx(ends_of_line)
        assert line["printed_off"] == (not 1 <= float(row["cs_ht"]) <= 5)


def test_both_directions_agree_where_their_shifts_are_within_two_hundredths(table5):
    found = inside.same_in_both_directions(table5).set_index(["language", "fixed_point"])
    for language, own in table5.set_index("direction").groupby("language"):
        cents = own[["raw", "cs", "ht"]].astype(float).mul(100).round().astype(int)
        for method, name in (("cs", "calibration set"), ("ht", "human references")):
            shifts = cents[method] - cents["raw"]
            apart = shifts["X-EN"] - shifts["EN-X"]
            assert found.loc[(language, name), "difference"] == pytest.approx(apart / 100)
            assert found.loc[(language, name), "can_agree"] == (abs(apart) <= 2)


@pytest.fixture(scope="module")
def outside(table5):
    """Two outside scores, one of which knows one direction only of some languages, and one too few."""
    rng = np.random.default_rng(5)
    codes = table5[["language_code", "direction"]].drop_duplicates()
    known = codes.assign(covariate="drawn", value=pd.to_numeric(table5["cs"]) + rng.normal(0, 0.3, len(codes)))
    few = known[known["direction"] == "X-EN"].head(3).assign(covariate="few")
    return pd.concat([known.drop(index=known.index[[0, 5, 20]]), few])


def test_gains_over_raw_are_those_of_pandas_and_of_a_plain_bootstrap(table5, outside):
    found = inside.gain(table5, outside, resamples=4000, seed=1)
    assert set(found["covariate"]) == {"drawn"}, "three scores are too few"
    joined = inside.merged(table5, outside).query("covariate == 'drawn'")
    rng = np.random.default_rng(2)
    for columns, part in [("both", joined), *joined.groupby("direction")]:
        own = found[found["columns"] == columns].set_index("method")
        r = part[["raw", "cs", "ht", "cs_ht"]].corrwith(part["value"])
        assert own["gain"].tolist() == pytest.approx((r - r["raw"]).drop("raw").tolist())
        assert own["n"].unique().tolist() == [len(part)]
        languages = [rows.to_numpy() for _, rows in part.groupby("language")[["value", "cs", "raw"]]]
        drawn = []
        for _ in range(600):
            again = np.concatenate([languages[k] for k in rng.integers(0, len(languages), len(languages))])
            r = np.corrcoef(again, rowvar=False)[0]
            drawn.append(r[1] - r[2])
        low, high = np.quantile(drawn, [0.025, 0.975])
        assert own.loc["CS", ["low", "high"]].tolist() == pytest.approx([low, high], abs=0.15 * (high - low))
    shuffled = (table.sample(frac=1, random_state=3) for table in (table5, outside))
    turned = inside.gain(*shuffled, resamples=9, seed=1)
    assert turned["gain"].tolist() == pytest.approx(found["gain"].tolist())


def test_the_highest_method_is_that_of_each_column(table5, outside):
    table6 = inside.correlate(table5, outside, splits=20, seed=1)
    found = inside.highest(table6).set_index(["columns", "statistic"])
    for columns, own in table6.set_index("method").groupby("columns"):
        for statistic in inside.STATISTICS:
            row, values = found.loc[(columns, statistic)], own[statistic]
            assert row["highest"] == values.idxmax()
            assert row["lead"] == pytest.approx(values["CS"] - values.drop("CS").max())
            assert row["holds"] == (values.idxmax() == "CS")


@pytest.mark.slow
def test_the_notebook_runs_on_ratings_and_scores_of_ones_own(tmp_path, table5):
    """A small XSTS campaign on 1-5, whose pairs share a calibration set, and an outside score, both from files."""
    import papermill

    pairs = {pair: {} for language in ("amh", "hin", "por") for pair in (f"{language}-eng", f"eng-{language}")}
    design = {"documents": 2, "segments": 6, "annotators": 2, "judgements": 2, "calibration": 20}
    ratings = stand_ins.stand_in("nllb-xsts", pairs=pairs, **design)
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


# Protocols compared: the rubric and Table 3 against the paper, intervals against coverage, scores against oracles.

LICHT = "000"


@pytest.fixture(scope="module")
def printed_protocols():
    return data.published("licht2022_table3")


@pytest.fixture(scope="module")
def belt():
    return protocols.belt(marginal=protocols.MARGINALS["good"], replicates=480)


@pytest.fixture(scope="module")
def cells(printed_protocols, belt):
    return protocols.intervals(printed_protocols, belt)


# --- the rubric and the protocols


def test_the_rubric_is_figure_1_with_every_example(paper):
    figure = paper(LICHT).split("lack of fluency should not be counted")[1]
    figure = figure[figure.index("**1**") : figure.index("Figure 1: Part of the instruction")]
    rubric = data.published("licht2022_figure1")
    definitions = list(map(list, re.findall(r"^\*\*(\d)\*\* (.*)$", figure, re.MULTILINE)))
    assert rubric.drop_duplicates("score")[["score", "definition"]].to_numpy().tolist() == definitions
    assert rubric["example"].tolist() == re.findall(r"^Example ([A-D])", figure, re.MULTILINE)
    texts = re.findall(r"^Text ?[12]: \*(.*)\*$", figure, re.MULTILINE)
    assert rubric[["text_1", "text_2"]].to_numpy().ravel().tolist() == texts
    assert [f"({shows})" in figure for shows in rubric["shows"]] == [True] * 14


# --- Table 3 from its own cells


def test_equal_averages_share_a_rank():
    equal = pd.DataFrame({"protocol": list("AABBCC"), "kappa": ["0.1", "0.3", "0.2", "0.2", "0.1", "0.1"]})
    table = equal.assign(direction="X-EN", language=["x", "y"] * 3)
    assert protocols.averages(table).set_index("protocol")["rank"].to_dict() == {"A": 1, "B": 1, "C": 3}


def test_a_translation_alone_gives_wider_intervals_than_four_independent_ones(cells, printed_protocols):
    independent = protocols.belt(marginal=protocols.MARGINALS["good"], translations=4, replicates=120)
    four = protocols.intervals(printed_protocols, independent)
    ratio = (cells["high"] - cells["low"]).mean() / (four["high"] - four["low"]).mean()
    assert ratio == pytest.approx(2, abs=0.15)  # the mean of four independent kappas has half the standard error


#: How good translations are on a scale from 1 to 5.
QUALITY = {"mean": 3, "sd_system": 0.4, "sd_document": 0.2, "sd_segment": 1}


def five_points():
    ratings = simulate.campaign(simulate.Design(**QUALITY), scale=(1, 5))
    scores = observed.matrix(ratings, named=False)
    scores.attrs |= {"named": False, "categories": [1, 2, 3, 4, 5]}
    return scores


def test_coefficients_are_compared_that_weigh_alike():
    """Fleiss' kappa held against a quadratic AC2 would mix what is chance with how near misses count."""
    table = observed.coefficients({"one": five_points()}, resamples=0, seed=7)
    value = table.set_index(["coefficient", "level"])["estimate"]
    row = observed.misled(table).iloc[0]
    assert row["gap"] == pytest.approx(value["gwet_ac1", "none"] - value["fleiss_kappa", "none"])
    assert row["gap_squared"] == pytest.approx(value["gwet_ac2", "quadratic"] - value["krippendorff_alpha", "interval"])


# --- intervals


@given(st.integers(0, 10_000))
def test_many_kappas_at_once_are_those_of_statsmodels(seed):
    options = {"marginal": [0.2, 0.3, 0.5], "items": 25, "annotators": 4, "draws": 3}
    codes = simulate.categories(0.4, rng=np.random.default_rng(seed), **options)
    expected = [fleiss_kappa(np.stack([(table == k).sum(1) for k in range(3)], axis=1)) for table in codes]
    assert protocols.kappas(codes, categories=3) == pytest.approx(expected, abs=1e-12)


def printed_kappas(kappas):
    return pd.DataFrame({"protocol": "P", "direction": "X-EN", "language": "x", "kappa": kappas})


def test_the_intervals_cover_as_often_as_they_say(belt):
    rng = np.random.default_rng(11)
    for true in (0.1, 0.55, 0.9):
        options = {"marginal": protocols.MARGINALS["good"], "items": 250, "annotators": 3, "draws": 300}
        drawn = protocols.kappas(simulate.categories(true, rng=rng, **options), categories=4)
        found = protocols.intervals(printed_kappas(drawn), belt)
        covered = ((found["low"] <= true) & (true <= found["high"])).mean()
        assert 0.90 < covered < 0.99, (true, covered)  # .95, with a standard error of .013 and that of the belt


# --- differences


def test_equal_protocols_do_not_differ(cells):
    same = cells.assign(printed=0.5)
    assert protocols.cell_differences(same)["p"].eq(1).all()
    assert not protocols.average_differences(same)["survives"].any()


# --- post-edits


def test_simulated_post_edits_rise_with_the_errors_put_in():
    summary = protocols.summary(protocols.edit_scores(simulate.post_edited())).set_index("system")
    for name in ("critical_errors", "characters", "words"):
        assert summary[name].is_monotonic_increasing
    assert summary["chrf"].is_monotonic_decreasing


# --- progression


def stepped(points, kappa=0.5, sentences=250, seed=7):
    best = protocols.MARGINALS["good"]
    shares = {"HT0": best, "MT1": protocols.worse(best, points), "MT2": protocols.worse(best, 2 * points)}
    cell = pd.DataFrame({"protocol": ["P"], "src_lang": "eng", "tgt_lang": "deu", "kappa": kappa})
    return simulate.protocol_study(cell, marginal=shares, sentences=sentences, seed=seed)


def test_the_test_of_a_step_is_the_paired_t_and_the_signed_ranks_of_scipy():
    ratings = stepped(0.2)
    row = protocols.progression(ratings).iloc[0]
    wide = ratings.pivot(index="segment", columns="system", values="score")
    oracle = stats.ttest_rel(wide["HT0"], wide["MT1"], alternative="greater")
    assert row["p"] == pytest.approx(oracle.pvalue, rel=1e-9)
    assert row["low"] == pytest.approx(oracle.confidence_interval(0.95).low)
    signed = stats.wilcoxon(wide["HT0"], wide["MT1"], alternative="greater", zero_method="zsplit")
    assert row["wilcoxon_p"] == pytest.approx(signed.pvalue)
    assert row["n"] == 250


@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=5), st.floats(0, 0.2))
def test_a_worse_distribution_is_worse_by_as_many_points(weights, points):
    marginal = np.array(weights) / sum(weights)
    if points > 1 - marginal[0]:
        with pytest.raises(DataError):
            protocols.worse(marginal, points)
        return
    place = np.arange(len(marginal))
    lower = np.array(protocols.worse(marginal, points))
    assert lower.sum() == pytest.approx(1)
    assert (lower >= -1e-12).all()
    assert place @ marginal - place @ lower == pytest.approx(points)


def test_power_is_the_level_without_a_difference_sure_with_a_large_one_and_no_higher_with_more_agreement():
    """Annotators who repeat each other know less together than annotators who err independently."""
    options = {"marginal": protocols.MARGINALS["good"], "replicates": 2000}
    found = protocols.power({"low": 0.1, "high": 0.9}, points=[0.0, 0.15, 0.5], **options)
    power = found.pivot(index="points", columns="protocol", values="power")
    assert power.loc[0].to_numpy() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))
    assert power.loc[0.15, "low"] > power.loc[0.15, "high"] + 0.05
    assert (power.loc[0.5] == 1).all()


# --- real annotators


@given(st.integers(2, 101), st.lists(st.integers(0, 100), min_size=1, max_size=20))
def test_bins_are_the_nearest_points_and_all_of_them_change_nothing(bins, scores):
    frame = pd.DataFrame({"score": np.array(scores, float)})
    codes = observed.binned(frame, bins, scale=(0, 100))["score"].to_numpy()
    points = codes * 100 / (bins - 1)
    assert np.abs(points - frame["score"]).max() <= 50 / (bins - 1) + 1e-9
    assert observed.binned(frame, 101, scale=(0, 100))["score"].tolist() == frame["score"].tolist()


def test_moving_scores_to_places_changes_no_coefficient_that_needs_no_names():
    behaviour = {"sd_bias": 0.3, "sd_gain": 0.1, "sd_noise": 0.5}
    design = simulate.Design(annotators=6, judgements=3, **behaviour, **QUALITY)
    ratings = simulate.campaign(design, scale=(1, 5)).sample(frac=0.9, random_state=1)
    options = {"measures": list(observed.ANONYMOUS), "resamples": 0, "categories": [1, 2, 3, 4, 5]}
    matrices = [observed.matrix(ratings, named=named) for named in (True, False)]
    named, placed = (agreement.coefficients(matrix, **options)["estimate"] for matrix in matrices)
    assert matrices[1].shape[1] == 3
    assert placed.to_numpy() == pytest.approx(named.to_numpy(), abs=1e-12)


# --- figures, refusals


POST_EDITED = pd.DataFrame({"hypothesis": ["a"], "post_edit": ["b"], "score": [0.0]})


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("outside", lambda belt: protocols.intervals(printed_kappas(["-0.2"]), belt)),
        ("outside", lambda belt: protocols.intervals(printed_kappas(["1.2"]), belt)),
        ("column post_edit", lambda _: protocols.edit_scores(POST_EDITED.drop(columns="post_edit"))),
        ("Row 1 lacks", lambda _: protocols.edit_scores(POST_EDITED.assign(post_edit=[None]))),
        ("fewer than 5", lambda _: protocols.progression(stepped(0.2, sentences=4))),
        ("fewer than 5", lambda _: protocols.progression(stepped(0.2).query("system != 'MT1'"))),
        ("1 bins", lambda _: observed.binned(POST_EDITED, 1, scale=(0, 100))),
    ],
)
def test_what_cannot_be_computed_is_refused(words, call, belt):
    with pytest.raises(DataError, match=words):
        call(belt)


def test_a_post_editing_campaign_of_ones_own_is_scored_like_the_simulation(tmp_path):
    drawn = simulate.post_edited(sentences=30, seed=3)
    own = drawn.assign(system=drawn["system"].str.replace("sim-HT0", "human").str.replace("sim-MT", "engine "))
    own.to_csv(tmp_path / "mine.csv", index=False)
    mine = protocols.edit_scores(protocols.campaign(str(tmp_path / "mine.csv"), seed=0))
    expected = protocols.edit_scores(drawn)
    assert mine[list(protocols.SCORES)].equals(expected[list(protocols.SCORES)])
    told = protocols.post_edit_scores(mine, steps=["human", "engine 1", "engine 2"])
    assert told["p"].tolist() == protocols.post_edit_scores(expected)["p"].tolist()
    assert told["step"].iloc[0] == "human > engine 1"
    with pytest.raises(DataError, match="engine 3 share fewer than 5"):
        protocols.post_edit_scores(mine, steps=["human", "engine 3"])
