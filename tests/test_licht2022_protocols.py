"""Protocols compared: the rubric and Table 3 against the paper, intervals against coverage, scores against oracles."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import fleiss_kappa

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.human import observed
from evalkit.papers.licht2022 import protocols
from evalkit.stats import agreement

LICHT = "000"


@pytest.fixture(scope="module")
def printed():
    return data.published("licht2022_table3")


@pytest.fixture(scope="module")
def belt():
    return protocols.belt(marginal=protocols.MARGINALS["good"], replicates=480)


@pytest.fixture(scope="module")
def cells(printed, belt):
    return protocols.intervals(printed, belt)


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


def test_protocols_apply_to_the_directions_that_table_3_has(printed):
    for row in data.published("licht2022_protocols").itertuples():
        there = printed.loc[printed["protocol"] == row.protocol, "direction"].unique()
        assert set(row.directions.split(", ")) == set(there)


# --- Table 3 from its own cells


def test_averages_and_ranks_are_those_of_the_cells(printed):
    found = protocols.averages(printed).set_index(["direction", "protocol"])
    assert found.loc[("X-EN", "RAW"), "mean"] == pytest.approx((0.36 + 0.39 + 0.26 + 0.50 + 0.16 + 0.40) / 6)
    assert found.loc[("both", "XSTS"), "mean"] == pytest.approx((2.55 + 4.00) / 12)
    assert found.loc["EN-X", "rank"].to_dict() == {"XSTS": 1, "PE": 2, "RAW": 3, "BT+MSTS": 4}
    assert found.loc["both"].index.tolist() == ["XSTS", "RAW", "PE"]

    equal = pd.DataFrame({"protocol": list("AABBCC"), "kappa": ["0.1", "0.3", "0.2", "0.2", "0.1", "0.1"]})
    table = equal.assign(direction="X-EN", language=["x", "y"] * 3)
    assert protocols.averages(table).set_index("protocol")["rank"].to_dict() == {"A": 1, "B": 1, "C": 3}


def test_a_translation_alone_gives_wider_intervals_than_four_independent_ones(cells, printed):
    four = protocols.intervals(
        printed, protocols.belt(marginal=protocols.MARGINALS["good"], translations=4, replicates=120)
    )
    ratio = (cells["high"] - cells["low"]).mean() / (four["high"] - four["low"]).mean()
    assert ratio == pytest.approx(2, abs=0.15)  # the mean of four independent kappas has half the standard error


def five_points():
    ratings = simulate.campaign(scale=(1, 5), quality=simulate.Quality(3, 0.4, 0.2, 1))
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


def test_the_intervals_hold_the_printed_number_and_are_lopsided_at_the_ends(cells):
    assert (cells["low"] < cells["printed"]).all()
    assert (cells["printed"] < cells["high"]).all()
    assert cells["high"].max() <= 1
    assert cells["low"].min() >= 0
    top = cells.loc[cells["printed"].idxmax()]
    assert top["printed"] == 0.99
    assert top["printed"] - top["low"] > top["high"] - top["printed"]


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


def test_an_annotation_file_of_the_printed_design_gives_its_kappas_back(printed):
    study = simulate.protocol_study(protocols.true_kappas(printed), marginal=protocols.MARGINALS["good"])
    assert len(study) == 48 * 4 * 250 * 3
    truth = protocols.true_kappas(printed).set_index(["protocol", "src_lang", "tgt_lang"])["kappa"]
    for (doc, *pair), cell in study.groupby(["doc", "src_lang", "tgt_lang"], observed=True):
        matrices = (agreement.score_matrix(part) for _, part in cell.groupby("system"))
        found = [agreement.coefficients(m, measures=[("fleiss_kappa", "none")], resamples=0) for m in matrices]
        estimate = np.mean([each["estimate"].item() for each in found])
        assert estimate == pytest.approx(truth[doc.removeprefix("sim-"), *pair], abs=0.06)


# --- differences


def test_with_six_languages_no_sign_flip_survives_but_the_sampled_sentences_do(cells):
    found = protocols.average_differences(cells)
    assert found.groupby("about").size().to_dict() == {"other languages": 15, "these languages": 15}
    elsewhere = found[found["about"] == "other languages"]
    assert elsewhere["p"].min() == 2 / 64
    assert not elsewhere["survives"].any()
    assert found.loc[found["about"] == "these languages", "survives"].sum() == 12


def test_equal_protocols_do_not_differ(cells):
    same = cells.assign(printed=0.5)
    assert protocols.cell_differences(same)["p"].eq(1).all()
    assert not protocols.average_differences(same)["survives"].any()


# --- post-edits


def slow_levenshtein(a, b):
    """Count edits by the textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    return row[-1]


@given(st.text("ab ", min_size=1, max_size=12), st.text("ab ", min_size=1, max_size=12))
def test_edit_distances_are_those_of_the_textbook(a, b):
    found = protocols.edit_scores(pd.DataFrame({"hypothesis": [a], "post_edit": [b], "score": [0.0]})).iloc[0]
    assert found["characters"] == slow_levenshtein(a, b)
    assert found["words"] == slow_levenshtein(a.split(), b.split())
    assert a != b or found["chrf"] == pytest.approx(100 * bool(a.strip()))


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
    options = {"translations": protocols.PROGRESSION, "sentences": sentences, "seed": seed}
    return simulate.protocol_study(cell, marginal=shares, **options)


def test_the_test_of_a_step_is_the_paired_t_and_the_signed_ranks_of_scipy():
    ratings = stepped(0.2)
    row = protocols.progression(ratings).iloc[0]
    wide = ratings.groupby(["segment", "system"])["score"].mean().unstack()
    oracle = stats.ttest_rel(wide["sim-HT0"], wide["sim-MT1"], alternative="greater")
    assert row["p"] == pytest.approx(oracle.pvalue, rel=1e-9)
    assert row["low"] == pytest.approx(oracle.confidence_interval(0.95).low)
    signed = stats.wilcoxon(wide["sim-HT0"], wide["sim-MT1"], alternative="greater", zero_method="zsplit")
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
    drawn = {"behaviour": simulate.Behaviour(0.3, 0.1, 0.5), "quality": simulate.Quality(3, 0.4, 0.2, 1)}
    design = simulate.Design(annotators=6, judgements=3, missing=0.1)
    ratings = simulate.campaign(scale=(1, 5), design=design, **drawn)
    options = {"measures": list(observed.ANONYMOUS), "resamples": 0, "categories": [1, 2, 3, 4, 5]}
    matrices = [observed.matrix(ratings, named=named) for named in (True, False)]
    named, placed = (agreement.coefficients(matrix, **options)["estimate"] for matrix in matrices)
    assert matrices[1].shape[1] == 3
    assert placed.to_numpy() == pytest.approx(named.to_numpy(), abs=1e-12)


@pytest.fixture(scope="module")
def found(real):
    from evalkit.human import annotators as people

    hits = real("wmt22-calibration-hits")
    kept = people.keep(hits, people.accounts(hits, real("wmt22-calibration-mapping"), complete_at=100))
    return observed.matrices(
        labels=real("sudoh-labels"), calibration=kept, assessments=real("mlqe-pe"), signed=real("wmt-slt22")
    )


def test_all_collections_are_in_the_forest_plot(found):
    assert len(found) == 2 + 6 + 7 + 1
    assert found["sudoh-fluency"].shape == found["sudoh-adequacy"].shape == (5360, 3)
    assert not found["sudoh-fluency"].isna().any(axis=None)
    assert found["mlqe-pe/rus-eng"].shape == (9000, 3)
    assert found["mlqe-pe/eng-deu"].shape == (9000, 6)
    assert set(np.unique(found["wmt22-calibration/eng-jpn"].stack())) == set(range(7))


def test_coefficients_of_the_labels_are_those_of_statsmodels_and_krippendorff(found):
    import krippendorff

    table = observed.coefficients({"sudoh-fluency": found["sudoh-fluency"]}, resamples=50, seed=7)
    value = table.set_index(["coefficient", "level"])["estimate"]
    scores = found["sudoh-fluency"].to_numpy()
    counts = np.stack([(scores == k).sum(1) for k in range(1, 6)], axis=1)
    assert value["fleiss_kappa", "none"] == pytest.approx(fleiss_kappa(counts))
    assert value["randolph_kappa", "none"] == pytest.approx(fleiss_kappa(counts, method="randolph"))
    alpha = krippendorff.alpha(reliability_data=scores.T, level_of_measurement="ordinal")
    assert value["krippendorff_alpha", "ordinal"] == pytest.approx(alpha)
    assert table[["items", "annotators"]].drop_duplicates().to_numpy().tolist() == [[5360, 3]]
    assert {"cohen_kappa", "conger_kappa"} <= set(table["coefficient"])
    nameless = observed.coefficients({"wmt-slt22": found["wmt-slt22"]}, resamples=20, seed=7)
    assert not {"cohen_kappa", "conger_kappa"} & set(nameless["coefficient"])


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
        ("fewer than 5", lambda _: protocols.progression(stepped(0.2).query("system != 'sim-MT1'"))),
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
