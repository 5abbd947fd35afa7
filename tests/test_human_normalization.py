"""Normalised scores: oracles, textbook cases, laws, WMT's own z-scores, and what happens without spread."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.data import simulate
from evalkit.human import components, normalization
from evalkit.human.normalization import METHODS, _agreement, quantile
from evalkit.papers import knowles2024
from evalkit.stats import agreement
from tests.makers import laid_out

PER_ANNOTATOR = [name for name in METHODS if name not in ("none", "z_calibration", "mixed", "ticks")]


def rated(scores, *, annotators="a", hits="h", **columns):
    """Make a ratings table of one language pair; all by one annotator in one HIT unless told otherwise."""
    rows = enumerate(np.asarray(scores, dtype=float))
    return laid_out(rows, "segment score", system="s", annotator=annotators, hit=hits, **columns)


def crossed(rng, *, people=7, segments=25, share=0.5, gains=None):
    """Simulate an incomplete campaign of three systems; returns it with the true biases and gains."""
    rows = [(a, s, k) for s in range(segments) for k in range(3) for a in range(people) if rng.random() < share]
    a, s, k = np.array(rows).T
    bias, gain = rng.normal(0, 8, people), np.ones(people) if gains is None else np.asarray(gains)
    quality = rng.normal(0, 5, segments)[s] + np.array([-4.0, 0, 4])[k]
    score = 60 + bias[a] + gain[a] * (quality + rng.normal(0, 6, len(a)))
    return laid_out(zip(a, s, k, score), "annotator segment system score"), bias, gain


# forms


@pytest.mark.parametrize("ddof", [0, 1])
def test_z_equals_scipy_per_annotator_and_pair(ddof):
    rng = np.random.default_rng(1)
    names = list(rng.choice(list("abc"), 60))
    pairs = ("deu", "jpn")
    frame = pd.concat([rated(rng.integers(0, 101, 60), annotators=names, tgt_lang=into) for into in pairs])
    found = normalization.normalize(frame, ddof=ddof)
    expected = frame.groupby(["tgt_lang", "annotator"])["score"].transform(lambda x: stats.zscore(x, ddof=ddof))
    np.testing.assert_allclose(found["normalized"], expected, atol=1e-12)
    assert found["score"].tolist() == frame["score"].tolist()


def test_robust_equals_scipy_and_a_range_of_zero_is_told():
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 101, 41).astype(float)
    expected = (scores - np.median(scores)) / stats.iqr(scores, scale="normal")
    np.testing.assert_allclose(normalization.normalize(rated(scores), method="robust")["normalized"], expected)
    crowded = normalization.normalize(rated([80] * 6 + [20, 90]), method="robust")
    assert crowded["normalized"].isna().all()


def test_ranks_and_normal_scores_equal_scipy():
    scores = np.random.default_rng(3).integers(0, 12, 50).astype(float)
    fractions = (stats.rankdata(scores) - 0.5) / 50
    np.testing.assert_allclose(normalization.normalize(rated(scores), method="rank")["normalized"], fractions)
    found = normalization.normalize(rated(scores), method="normal_scores")["normalized"]
    np.testing.assert_allclose(found, stats.norm.ppf(fractions))


def test_quantiles_give_every_annotator_the_common_distribution():
    rng = np.random.default_rng(4)
    common = rng.permutation(np.arange(50.0))
    strict, own = np.sort(rng.normal(20, 3, 50)), common
    scores = np.stack([strict, own])
    found = quantile(scores, scores, reference=common)
    np.testing.assert_allclose(found, [np.arange(50.0), own])
    pooled = normalization.normalize(
        rated([*strict, *own], annotators=["strict"] * 50 + ["own"] * 50), method="quantile"
    )
    medians = pooled.groupby("annotator")["normalized"].median()
    assert medians["strict"] == pytest.approx(medians["own"])


def test_ticks_are_the_scales_and_the_nearest():
    frame = rated([0, 8, 9, 49, 50, 100])
    assert normalization.normalize(frame, method="ticks")["normalized"].round(2).tolist() == [0, 0, 16.67, 50, 50, 100]
    stars = rated([1, 2.4, 2.5, 5])
    stars.attrs["scale"] = (1, 5)
    assert normalization.normalize(stars, method="ticks", ticks=5)["normalized"].tolist() == [1, 2, 3, 5]


def test_statistics_from_some_items_move_all():
    frame = pd.concat([rated([10, 20, 30], item_type="calibration"), rated([40, 90])], ignore_index=True)
    for options in ({"method": "z_calibration"}, {"item_types": ("calibration",)}):
        assert normalization.normalize(frame, **options)["normalized"].tolist() == [-1, 0, 1, 2, 7]
    ranks = normalization.normalize(frame, method="rank", item_types=("calibration",))["normalized"]
    np.testing.assert_allclose(ranks, [1 / 6, 1 / 2, 5 / 6, 5 / 6, 5 / 6])


def test_without_spread_the_argument_decides():
    frame = rated([50, 50, 10, 30, 7], annotators=["flat", "flat", "a", "a", "once"])
    missing = normalization.normalize(frame)
    assert missing["normalized"].isna().tolist() == [True, True, False, False, True]
    assert normalization.normalize(frame, no_spread="zero")["normalized"][[0, 1, 4]].tolist() == [0, 0, 0]
    frame["item_type"] = ["system", "system", "calibration", "calibration", "calibration"]
    ranks = normalization.normalize(frame, method="rank", item_types=("calibration",), no_spread="zero")
    assert ranks["normalized"].tolist() == [0.5, 0.5, 0.25, 0.75, 0.5]
    points = normalization.normalize(frame, method="quantile", item_types=("calibration",), no_spread="zero")
    assert points["normalized"][0] == pytest.approx(points["normalized"][2:].mean())


SMALL, FLAT = rated([1, 2]), rated([5, 5])
CROSSED, _, _ = crossed(np.random.default_rng(8), people=12, segments=40)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: normalization.normalize(SMALL, method="zscore"), "zscore"),
        (lambda: normalization.normalize(SMALL, method="mixed"), "eng-deu: a mixed model"),
        (lambda: normalization.normalize(SMALL, no_spread="drop"), "no_spread='drop'"),
        (lambda: normalization.normalize(SMALL, by="annotator"), "tuple"),
        (lambda: normalization.normalize(SMALL, by=("session",)), "session"),
        (lambda: components.mixed_effects(CROSSED, steps=2), "eng-deu: .* 2 steps"),
        (lambda: components.mixed_effects(CROSSED, item_types=("calibration",)), "No calibration items"),
        (lambda: components.mixed_effects(rated([1, 1, 5, 5], annotators=list("aabb"))), "two different scores"),
        (lambda: normalization.order_kept(normalization.normalize(FLAT)), "No row"),
        (lambda: normalization.order_kept(normalization.normalize(FLAT).drop(columns="hit")), "hit"),
        (lambda: normalization.means(SMALL, calibration=PANEL), "No annotator"),
        (lambda: normalization.held_out(PANEL, methods=("z_calibration",)), "z_calibration"),
        (lambda: normalization.held_out(PANEL.assign(item_type="system")), "No calibration items"),
        (lambda: normalization.held_out(PANEL[PANEL["annotator"] < "p2"]), "eng-deu: 2 groups"),
        (lambda: knowles2024.compare_with_published(SMALL), "column z"),
    ],
)
def test_what_makes_no_sense_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_every_method_is_described_and_runs():
    assert normalization.methods().notna().all(axis=None)
    frame = simulate.stand_in("wmt22-calibration-hits", seed=1)
    several = normalization.variants(frame, {name: {"method": name} for name in METHODS})
    for name, found in several.items():
        assert found["normalized"].notna().all(), name
        assert found.attrs["normalization"]["method"] == name


# laws

lists = st.lists(st.integers(0, 100), min_size=6, max_size=30).filter(lambda x: len(set(x)) > 1)


@settings(max_examples=10)
@given(lists, st.floats(0.2, 5), st.floats(-40, 40))
def test_bias_and_gain_of_an_annotator_are_taken_out(scores, gain, bias):
    frame = rated(scores)
    moved = frame.assign(score=frame["score"] * gain + bias)
    for method in ("z", "robust", "rank", "normal_scores"):
        plain, after = (normalization.normalize(f, method=method)["normalized"] for f in (frame, moved))
        ties_kept = moved["score"].nunique() == frame["score"].nunique()
        if ties_kept:
            np.testing.assert_allclose(after, plain, atol=1e-6)


@settings(max_examples=10)
@given(st.data())
def test_the_order_of_an_annotators_scores_survives_unless_statistics_change_by_hit(data):
    """One increasing map per annotator keeps their order, whatever the method; the HITs do not matter."""
    scores = data.draw(lists)
    hits = data.draw(st.lists(st.sampled_from("hk"), min_size=len(scores), max_size=len(scores)))
    kinds = data.draw(st.lists(st.sampled_from(["system", "calibration"]), min_size=len(scores), max_size=len(scores)))
    frame = rated(scores, hits=hits, item_type=kinds)
    methods = [*PER_ANNOTATOR, "ticks", *(["z_calibration"] if "calibration" in kinds else [])]
    for method in methods:
        found = normalization.normalize(frame, method=method).dropna(subset="normalized")
        ordered = found.sort_values("score")["normalized"].to_numpy()
        assert (np.diff(ordered) >= 0).all(), method
        if method.startswith("z") and len(found) and found["score"].nunique() > 1:
            assert normalization.order_kept(found)["rho"].iloc[0] == pytest.approx(1, abs=1e-12)
            assert normalization.inversions(found).empty


@pytest.mark.parametrize("method", ["z", "rank", "quantile"])
def test_the_order_of_rows_is_irrelevant(method):
    frame = rated([3, 50, 20, 90, 7, 61, 33, 40, 80, 12, 5, 99], annotators=list("aaabbbcccaaa"))
    frame["segment"] = list("123123123456")
    plain = normalization.normalize(frame, method=method)["normalized"]

    @given(st.permutations(range(12)))
    def shuffled(order):
        found = normalization.normalize(frame.iloc[order], method=method)["normalized"]
        np.testing.assert_allclose(found.sort_index(), plain, atol=1e-9)

    shuffled()


# mixed-effects model


@pytest.mark.filterwarnings("ignore")
def test_without_gains_the_model_is_statsmodels_reml():
    from statsmodels.formula.api import mixedlm

    frame, _, _ = crossed(np.random.default_rng(5))
    found = components.mixed_effects(frame, gain=False, tolerance=1e-9)
    parts = {"a": "0 + C(annotator)", "s": "0 + C(segment)"}
    theirs = mixedlm("score ~ C(system)", frame.assign(one=1), groups="one", vc_formula=parts).fit(gtol=1e-8)
    own = found.parts.set_index("part")["sd"]
    np.testing.assert_allclose(own[["bias", "segment"]], np.sqrt(theirs.vcomp), rtol=1e-4)
    assert own["noise"] == pytest.approx(np.sqrt(theirs.scale), rel=1e-4)
    np.testing.assert_allclose(found.groups["bias"], theirs.random_effects[1].iloc[:7], atol=1e-3)
    assert (found.groups["gain"] == 1).all()


def _restricted(frame, level, noise, segments, biases, gains, log_gain):
    """Evaluate the penalised restricted log-likelihood from the whole covariance matrix, up to a constant."""
    a, s, k = (pd.get_dummies(frame[name]).to_numpy(float) for name in ("annotator", "segment", "system"))
    g = a @ np.exp(log_gain)
    y, x = frame["score"].to_numpy() - level, k * g[:, None]
    covariance = biases * a @ a.T + np.outer(g, g) * (segments * s @ s.T + noise * np.eye(len(y)))
    inverse = np.linalg.inv(covariance)
    projected = x.T @ inverse @ x
    rest = y - x @ np.linalg.solve(projected, x.T @ inverse @ y)
    logdet = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(projected / np.exp(2 * log_gain.mean()))[1]
    return -0.5 * (logdet + rest @ inverse @ rest) - 0.5 * (log_gain**2).sum() / gains


def test_with_gains_the_fit_stands_on_top_of_the_penalised_restricted_likelihood():
    """No small step of a variance or of the gains against each other improves an independent computation of it."""
    frame, _, _ = crossed(np.random.default_rng(6), people=5, segments=14, gains=[0.5, 0.8, 1, 1.3, 1.9])
    found = components.mixed_effects(frame, tolerance=1e-8)
    variances = found.parts.set_index("part")["sd"] ** 2
    level, v = found.groups["level"].iloc[0], np.log(found.groups["gain"].to_numpy())
    order = ["noise", "segment", "bias", "log gain"]

    def value(shift):
        *logs, tau = np.log(variances[order]) + np.array([*shift[:3], 0])
        return _restricted(frame, level, *np.exp([*logs, tau]), v + (shift[3:] - shift[3:].mean()))

    top = value(np.zeros(8))
    for direction in np.eye(8):
        slope = (value(1e-3 * direction) - value(-1e-3 * direction)) / 2e-3
        assert abs(slope) < 2e-3, direction
        assert value(0.2 * direction) < top
        assert value(-0.2 * direction) < top


def test_the_fit_ends_where_annotators_and_segments_do_not_differ():
    rng = np.random.default_rng(22)
    frame, _, _ = crossed(rng, people=8, segments=60, share=0.3)
    frame["score"] = 50 + rng.normal(0, 5, len(frame))
    found = components.mixed_effects(frame)
    sd = found.parts.set_index("part")["sd"]
    assert sd["noise"] == pytest.approx(frame.groupby("system")["score"].std().mean(), rel=0.1)
    assert sd[["segment", "bias"]].max() < 1.5
    np.testing.assert_allclose(found.groups["gain"], 1, atol=0.15)


def test_a_flat_annotator_keeps_the_fit_finite_and_gets_the_quality_of_what_they_saw():
    frame, _, _ = crossed(np.random.default_rng(11), people=6, segments=40, share=1.0)
    flat = frame["annotator"] == "2"
    frame.loc[flat, "score"] = 85.0
    found = normalization.normalize(frame, method="mixed")
    assert components.mixed_effects(frame).groups["gain"].min() == pytest.approx(0.02)
    theirs, others = (found.loc[rows, "normalized"].mean() for rows in (flat, ~flat))
    assert theirs == pytest.approx(others, abs=1)


# WMT's own z-scores


@pytest.mark.slow
def test_wmts_published_z_scores_come_out_of_the_raw_scores(real):
    compared = knowles2024.compare_with_published(real("wmt22-mturk"))
    wmt = compared[compared["variant"] == "as WMT"]
    assert (len(wmt), wmt["judgements"].sum()) == (7, 187734)
    assert (wmt["largest"] <= 1e-9).all()
    assert not compared.loc[compared["variant"] != "as WMT", "equal"].any(), "the comparison can tell other pipelines"


# order of scores


def test_rho_and_pearson_equal_scipy_and_the_inversion_is_found_by_hand():
    rng = np.random.default_rng(9)
    names, hits = list(rng.choice(list("ab"), 80)), list(rng.choice(list("hk"), 80))
    frame = rated(rng.integers(0, 101, 80) + 20 * (np.array(hits) == "k"), annotators=names, hits=hits)
    found = normalization.normalize(frame, by=("annotator", "hit"))
    kept = normalization.order_kept(found).set_index("annotator")
    for name, own in found.groupby("annotator"):
        both = own["score"], own["normalized"]
        assert kept.at[name, "rho"] == pytest.approx(stats.spearmanr(*both)[0])
        assert kept.at[name, "pearson"] == pytest.approx(stats.pearsonr(*both)[0])
    worst = normalization.inversions(found)
    for row in worst.itertuples():
        own = found[found["annotator"] == row.annotator]
        pairs = own.merge(own, how="cross")
        swapped = pairs[(pairs["score_x"] > pairs["score_y"]) & (pairs["normalized_x"] < pairs["normalized_y"])]
        assert row.difference == (swapped["score_x"] - swapped["score_y"]).max() == row.higher_score - row.lower_score
        assert row.reversed_by == pytest.approx(row.lower_normalized - row.higher_normalized)
        assert row.higher_hit_mean == pytest.approx(own.loc[own["hit"] == row.higher_hit, "score"].mean())


def test_the_summary_is_over_annotators_with_several_hits():
    kept = pd.DataFrame({"pair": "p", "annotator": list("abcd"), "hits": [1, 2, 3, 2], "judgements": 9})
    kept["rho"] = [1, 0.95, 0.8, np.nan]
    row = normalization.order_summary(kept, by=["pair"]).iloc[0]
    counts = {"annotators": 4, "several_hits": 2, "reordered": 2, "above_0.9": 0.5}
    assert row.drop("pair").to_dict() == counts | {"lowest": 0.8, "median": 0.875, "one_hit_lowest": 1.0}
    assert normalization.order_summary(kept.assign(hits=1), by=["pair"])["reordered"].tolist() == [0]
    assert normalization.order_kept(normalization.normalize(FLAT, no_spread="zero"))["rho"].isna().all()


def test_means_by_hand_with_and_without_a_calibration_set():
    frame = rated([10, 20, 60, 70, 0], hits=["h", "h", "k", "k", "k"], item_type=[*["system"] * 4, "degraded"])
    own = normalization.means(frame)
    assert own.attrs["reference"] == "annotator"
    assert own[["level", "mean", "reference"]].to_numpy().tolist() == [["HIT", 15, 40], ["HIT", 65, 40]]
    calibration, stranger = rated([30, 40], item_type="calibration", hits="c"), rated([50], annotators="b")
    both = normalization.means(pd.concat([frame, stranger]), calibration=calibration)
    assert both.attrs == {"reference": "calibration", "excluded": {"annotators without calibration items": 1}}
    by_hand = [["annotator", "", 40, 35], ["HIT", "h", 15, 35], ["HIT", "k", 65, 35]]
    assert both[["level", "hit", "mean", "reference"]].to_numpy().tolist() == by_hand
    pd.testing.assert_frame_equal(normalization.means(pd.concat([frame, calibration])), both)
    distances = normalization.mean_distances(both).set_index("level")
    assert distances.loc["HIT", ["n", "median", "largest"]].tolist() == [2, 25, 30]


# held-out agreement


def panel(rng, *, people=5, documents=6, sentences=4, gains=None, noise=6.0):
    """Simulate a complete calibration set: everybody scores every item, with a bias and a gain of their own."""
    items = documents * sentences
    quality = rng.normal(60, 12, items)
    gain = np.ones(people) if gains is None else np.asarray(gains)
    scores = rng.normal(0, 10, people)[:, None] + gain[:, None] * (quality + rng.normal(0, noise, (people, items)))
    numbers = np.repeat(range(documents), sentences)
    return laid_out(scores, "annotator segment", documents=numbers, item_type="calibration")


PANEL = panel(np.random.default_rng(19))


def test_agreement_of_a_half_equals_pingouins_also_with_an_annotator_left_out():
    frame = panel(np.random.default_rng(13))
    wide = frame.pivot(index="annotator", columns="segment", values="score").to_numpy()
    items = np.random.default_rng(14).random((3, wide.shape[1])) < 0.5
    here = np.ones((3, len(wide)), bool)
    here[1, 2] = False
    whole, without = _agreement(np.broadcast_to(wide, (3, *wide.shape)), here, items)
    for split in range(3):
        kept = frame["segment"].isin(np.sort(frame["segment"].unique())[items[split]].tolist())
        part = frame[kept & ~((frame["annotator"] == "p2") & (not here[split, 2]))]
        assert whole[split] == pytest.approx(agreement.intraclass(part)["agreement"].iloc[0])
        fewer = agreement.intraclass(part[part["annotator"] != "p1"])["agreement"].iloc[0]
        assert without[split, 1] == pytest.approx(fewer)
    assert without[1, 2] == pytest.approx(whole[1]), "somebody who was not there is not missed"


def test_the_jackknife_leaves_out_annotators_as_if_they_had_never_been_there():
    frame = panel(np.random.default_rng(15), gains=[0.6, 0.8, 1, 1.2, 1.5])
    options = {"methods": ("none", "z", "rank"), "splits": 15, "seed": 3}
    found = normalization.held_out(frame, **options).set_index("method")
    people = frame["annotator"].unique()
    fewer = [normalization.held_out(frame[frame["annotator"] != who], **options) for who in people]
    for method in options["methods"]:
        left_out = np.array([f.set_index("method").at[method, "agreement"] for f in fewer])
        error = np.sqrt((len(people) - 1) * left_out.var())
        row = found.loc[method]
        reach = stats.t.ppf(0.975, len(people) - 1) * error
        np.testing.assert_allclose([row["low"], row["high"]], [row["agreement"] - reach, row["agreement"] + reach])
    assert found.at["none", "change"] == found.at["none", "change_high"] == 0


def test_methods_bring_together_what_they_are_made_for():
    frame = panel(np.random.default_rng(16), gains=[0.5, 0.8, 1, 1.3, 1.8], noise=3, documents=20)
    found = normalization.held_out(frame, splits=20).set_index("method")
    assert found.loc[["z", "mixed", "robust", "quantile"], "change_low"].gt(0).all()
    assert found.at["mixed", "agreement"] > found.at["z", "agreement"] > found.at["robust", "agreement"]
    assert found.at["z", "closer"] == 1
    same = panel(np.random.default_rng(17), gains=[0.5, 1, 2], people=3, noise=0)
    exact = normalization.held_out(same, methods=("z", "rank"), splits=10).set_index("method")["agreement"]
    assert exact["z"] == pytest.approx(1)
    assert exact["rank"] == pytest.approx(1)


def test_an_annotator_without_values_is_left_out_for_all_methods_and_counted():
    frame = panel(np.random.default_rng(18), documents=10)
    flat = frame["annotator"] == "p0"
    frame.loc[flat, "score"] = np.where(frame.loc[flat, "doc"] == "d00", 10.0, 80.0)
    found = normalization.held_out(frame, methods=("none", "z", "robust"), splits=40).set_index("method")
    assert found.at["robust", "undefined"] == pytest.approx(0.2), "a fifth of a0's scores do not move a quartile"
    others = normalization.held_out(frame[~flat], methods=("none", "z", "robust"), splits=40).set_index("method")
    np.testing.assert_allclose(found["agreement"], others["agreement"])


# figures


def test_the_summary_of_held_out_agreement_is_its_mean():
    held = normalization.held_out(PANEL, methods=("none", "z", "ticks"), splits=5)
    summary = normalization.summarize_cross_validation(held).set_index("method")
    assert summary["agreement"].to_dict() == pytest.approx(held.set_index("method")["agreement"].to_dict())
