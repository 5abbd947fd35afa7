"""Normalised scores and MQM: oracles, textbook cases, laws, WMT's own z-scores, schemes and printed tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.data import stand_ins
from evalkit.data.schemas import UNSTATED
from evalkit.human import components, mqm, normalization
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


def fitted(frame, **options):
    """Fit bias and gain of every annotator; beside the fit, standard deviations by part."""
    columns = (["doc", "segment"], "annotator", "system")
    codes = [frame.groupby(name).ngroup().to_numpy() for name in columns]
    fit = components.fit_mixed(frame["score"].to_numpy(float), *codes, **options)
    return fit, pd.Series(np.sqrt(fit.state[:4]), ["noise", "segment", "bias", "log gain"])


# forms


#: Method, options, and what scipy makes of an annotator's scores.
OF_SCIPY = [
    ("z", {}, lambda x: stats.zscore(x, ddof=1)),
    ("z", {"ddof": 0}, stats.zscore),
    ("robust", {}, lambda x: (x - np.median(x)) / stats.iqr(x, scale="normal")),
    ("rank", {}, lambda x: (stats.rankdata(x) - 0.5) / len(x)),
    ("normal_scores", {}, lambda x: stats.norm.ppf((stats.rankdata(x) - 0.5) / len(x))),
]


@pytest.mark.parametrize(("method", "options", "theirs"), OF_SCIPY)
def test_scores_are_normalised_as_scipy_does_per_annotator_and_pair(method, options, theirs):
    rng = np.random.default_rng(1)
    names = list(rng.choice(list("abc"), 60))
    frame = pd.concat([rated(rng.integers(0, 30, 60), annotators=names, tgt_lang=into) for into in ("deu", "jpn")])
    found = normalization.normalize(frame, method=method, **options)
    expected = frame.groupby(["tgt_lang", "annotator"])["score"].transform(theirs)
    np.testing.assert_allclose(found["normalized"], expected, atol=1e-12)
    assert found["score"].tolist() == frame["score"].tolist()


def test_quantiles_give_every_annotator_the_common_distribution():
    rng = np.random.default_rng(4)
    common = rng.permutation(np.arange(50.0))
    strict, own = np.sort(rng.normal(20, 3, 50)), common
    scores = np.stack([strict, own])
    found = quantile(scores, scores, reference=common)
    np.testing.assert_allclose(found, [np.arange(50.0), own])


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
    crowded = rated([80] * 6 + [20, 90])  # a range of zero between the quartiles
    assert normalization.normalize(crowded, method="robust")["normalized"].isna().all()
    points = normalization.normalize(frame, method="quantile", item_types=("calibration",), no_spread="zero")
    assert points["normalized"][0] == pytest.approx(points["normalized"][2:].mean())


def test_every_method_is_described_and_runs():
    assert normalization.methods().notna().all(axis=None)
    frame = stand_ins.stand_in("wmt22-calibration-hits", seed=1)
    several = {name: normalization.normalize(frame, method=name) for name in METHODS}
    for name, found in several.items():
        assert found["normalized"].notna().all(), name


# laws

lists = st.lists(st.integers(0, 100), min_size=6, max_size=30).filter(lambda x: len(set(x)) > 1)


@settings(max_examples=5)
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


@settings(max_examples=15)
@given(st.permutations(range(12)), st.sampled_from(["z", "rank", "quantile"]))
def test_the_order_of_rows_is_irrelevant(order, method):
    frame = rated([3, 50, 20, 90, 7, 61, 33, 40, 80, 12, 5, 99], annotators=list("aaabbbcccaaa"))
    frame["segment"] = list("123123123456")
    plain, found = (normalization.normalize(f, method=method)["normalized"] for f in (frame, frame.iloc[order]))
    np.testing.assert_allclose(found.sort_index(), plain, atol=1e-9)


# mixed-effects model


@pytest.mark.filterwarnings("ignore")
def test_without_gains_the_model_is_statsmodels_reml():
    from statsmodels.formula.api import mixedlm

    frame, _, _ = crossed(np.random.default_rng(5))
    found, own = fitted(frame, gain=False, tolerance=1e-9)
    parts = {"a": "0 + C(annotator)", "s": "0 + C(segment)"}
    theirs = mixedlm("score ~ C(system)", frame.assign(one=1), groups="one", vc_formula=parts).fit(gtol=1e-8)
    np.testing.assert_allclose(own[["bias", "segment"]], np.sqrt(theirs.vcomp), rtol=1e-4)
    assert own["noise"] == pytest.approx(np.sqrt(theirs.scale), rel=1e-4)
    np.testing.assert_allclose(found.bias, theirs.random_effects[1].iloc[:7], atol=1e-3)
    assert (found.state.log_gain == 0).all()


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
    found, own = fitted(frame, tolerance=1e-8)
    variances, level, v = own**2, found.level, found.state.log_gain
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
    found, sd = fitted(frame)
    assert sd["noise"] == pytest.approx(frame.groupby("system")["score"].std().mean(), rel=0.1)
    assert sd[["segment", "bias"]].max() < 1.5
    np.testing.assert_allclose(np.exp(found.state.log_gain), 1, atol=0.15)


def test_a_flat_annotator_keeps_the_fit_finite_and_gets_the_quality_of_what_they_saw():
    frame, _, _ = crossed(np.random.default_rng(11), people=6, segments=40, share=1.0)
    flat = frame["annotator"] == "2"
    frame.loc[flat, "score"] = 85.0
    found = normalization.normalize(frame, method="mixed")
    assert np.exp(fitted(frame)[0].state.log_gain.min()) == pytest.approx(0.02)
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


def test_rho_and_pearson_equal_scipy():
    rng = np.random.default_rng(9)
    names, hits = list(rng.choice(list("ab"), 80)), list(rng.choice(list("hk"), 80))
    frame = rated(rng.integers(0, 101, 80) + 20 * (np.array(hits) == "k"), annotators=names, hits=hits)
    found = normalization.normalize(frame, by=("annotator", "hit"))
    kept = normalization.order_kept(found).set_index("annotator")
    for name, own in found.groupby("annotator"):
        both = own["score"], own["normalized"]
        assert kept.at[name, "rho"] == pytest.approx(stats.spearmanr(*both)[0])
        assert kept.at[name, "pearson"] == pytest.approx(stats.pearsonr(*both)[0])


def test_means_by_hand_with_and_without_a_calibration_set():
    frame = rated([10, 20, 60, 70, 0], hits=["h", "h", "k", "k", "k"], item_type=[*["system"] * 4, "degraded"])
    own = normalization.means(frame)
    assert own[["level", "mean", "reference"]].to_numpy().tolist() == [["HIT", 15, 40], ["HIT", 65, 40]]
    calibration, stranger = rated([30, 40], item_type="calibration", hits="c"), rated([50], annotators="b")
    both = normalization.means(pd.concat([frame, stranger]), calibration=calibration)
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
    items = np.random.default_rng(14).random((2, wide.shape[1])) < 0.5
    here = np.ones((2, len(wide)), bool)
    here[1, 2] = False
    whole, without = _agreement(np.broadcast_to(wide, (2, *wide.shape)), here, items)
    for split in range(2):
        kept = frame["segment"].isin(np.sort(frame["segment"].unique())[items[split]].tolist())
        part = frame[kept & ~((frame["annotator"] == "p2") & (not here[split, 2]))]
        assert whole[split] == pytest.approx(agreement.intraclass(part)["agreement"].iloc[0])
        fewer = agreement.intraclass(part[part["annotator"] != "p1"])["agreement"].iloc[0]
        assert without[split, 1] == pytest.approx(fewer)
    assert without[1, 2] == pytest.approx(whole[1]), "somebody who was not there is not missed"


def test_the_jackknife_leaves_out_annotators_as_if_they_had_never_been_there():
    frame = panel(np.random.default_rng(15), gains=[0.6, 0.8, 1, 1.2, 1.5])
    options = {"splits": 15, "seed": 3}
    found = normalization.held_out(frame, **options).set_index("method")
    people = frame["annotator"].unique()
    fewer = [normalization.held_out(frame[frame["annotator"] != who], **options) for who in people]
    for method in ("none", "z", "rank"):
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


def test_an_annotator_without_values_is_left_out_for_all_methods_and_counted():
    frame = panel(np.random.default_rng(18), documents=10)
    flat = frame["annotator"] == "p0"
    frame.loc[flat, "score"] = np.where(frame.loc[flat, "doc"] == "d00", 10.0, 80.0)
    found = normalization.held_out(frame, splits=40).set_index("method")
    assert found.at["robust", "undefined"] == pytest.approx(0.2), "a fifth of a0's scores do not move a quartile"
    others, own = normalization.held_out(frame[~flat], splits=40).set_index("method"), ["none", "z", "robust"]
    np.testing.assert_allclose(found.loc[own, "agreement"], others.loc[own, "agreement"])


# MQM: schemes, scores, rules of annotation, distributions, unitised alpha and the audit of printed tables.

NAMED = {"tgt_lang": "guj", "system": "s", "annotator": "a"}
SIX = (*mqm.SEVERITIES, UNSTATED)


def judgements(*segments):
    return laid_out([(name, 25.0) for name in segments], "segment score", **NAMED)


def marks(*errors, **columns):
    """Make errors of (segment, type, severity), numbered as they come."""
    frame = pd.DataFrame(errors, columns=["segment", "error_type", "severity"])
    return frame.assign(src_lang="eng", doc="d", span=frame.index.astype("str"), **NAMED | columns)


# Scores


KINDS = st.sampled_from(["other", "fluency/grammar"])
ERRORS = st.lists(st.tuples(st.sampled_from("123"), KINDS, st.sampled_from(SIX)), min_size=1, max_size=12)


@settings(max_examples=15)
@given(ERRORS)
def test_scores_are_the_top_less_what_a_loop_adds_up(errors):
    table = mqm.segment_scores(judgements("1", "2", "3"), marks(*errors), "release").set_index("segment")
    weigh = {"very low": 0.5, "low": 1, "medium": 2, "high": 4, "very high": 5, UNSTATED: 1}
    for segment in ("1", "2", "3"):
        mine = [weigh[v] for s, _, v in errors if s == segment]
        assert table.at[segment, "mqm"] == 25 - sum(mine)
        assert table.at[segment, "errors"] == len(mine)


def test_rules_of_schemes_act_alone():
    third = [("3", "other", level) for level in ("very high", "very high", "high", "low", "very low", "very low")]
    source = ("2", "source error", "high"), ("2", "other", "low")
    errors = marks(("1", "non-translation", "high"), *source, *third)

    def scores(scheme, **fields):
        judged = judgements("1", "2", "3", "4")
        return mqm.segment_scores(judged, errors, mqm.changed(scheme, **fields))["mqm"].tolist()

    assert scores("release") == [25 - 100, 24.0, 25 - 16, 25.0]
    assert scores("release", floor=0.0) == [0.0, 24.0, 9.0, 25.0]
    assert scores("release", non_translation=0.0) == [0.0, 24.0, 9.0, 25.0]
    assert np.isnan(scores("release", discard=("source error",))[1])
    assert scores("paper")[0] == 0.0
    assert np.isnan(scores("paper")[1])


# Weights behind shipped scores


@pytest.mark.slow
def test_wmt_weights_give_every_error_its_shipped_weight_and_every_segment_its_official_score(real):
    spans, ratings = real("wmt23-mqm-spans"), real("wmt23-mqm")
    assert np.array_equal(mqm.weights(spans, "Freitag et al. 2021 (WMT)"), spans["weight"])
    official = real("wmt23-human").query("metric == 'mqm'")
    key = ["src_lang", "tgt_lang", "system", "segment"]
    means = ratings.groupby(key)["score"].mean()
    both = official.astype(dict.fromkeys(key, "str")).set_index(key)["score"].to_frame("official").join(means)
    assert both["score"].isna().sum() == 3  # scored, but by nobody whose ratings are there
    assert np.allclose(both["official"], both["score"].fillna(both["official"]), rtol=0, atol=1e-9)


# Agreement


def gaps_of(part, length):
    """Walk along the continuum and list the stretches that nobody marked."""
    free = [not any(a <= place < b for a, b in part) for place in range(length)]
    edges = [
        place for place in range(length + 1) if (place > 0 and free[place - 1]) != (place < length and free[place])
    ]
    return list(zip(edges[::2], edges[1::2]))


def brute_expected(marked, length):
    """Average the difference of every two units over all places they can have relative to each other."""
    units = [tuple(map(int, unit)) for part in marked for unit in part]
    gaps = [gap for part in marked for gap in gaps_of(part, length)]
    total = 0.0
    for (a, b), (c, d) in itertools.permutations(units, 2):
        one, two = b - a, d - c
        total += sum(shift**2 + (shift + one - two) ** 2 for shift in range(-one + 1, two))
    for (a, b), (c, d) in itertools.product(units, gaps):
        one, two = b - a, d - c
        total += 2 * sum(one**2 for _ in range(two - one + 1))
    everything = len(marked) * length
    return total / length / (everything * (everything - 1) - sum((b - a) * (b - a - 1) for a, b in units))


def brute_observed(marked, length):
    total = 0.0
    for i, j in itertools.permutations(range(len(marked)), 2):
        for a, b in marked[i]:
            for c, d in marked[j]:
                if a < d and c < b:
                    total += (a - c) ** 2 + (b - d) ** 2
            total += 2 * sum((b - a) ** 2 for c, d in gaps_of(marked[j], length) if c <= a and b <= d)
    return total / (len(marked) * (len(marked) - 1) * length**2)


MARKED = st.lists(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=4), min_size=2, max_size=4)


def units_of(people):
    rows = [(str(n), a, a + size) for n, person in enumerate(people) for a, size in person]
    frame = pd.DataFrame(rows, columns=["annotator", "start", "end"])
    return mqm.merged(frame.astype({"annotator": "str", "start": int, "end": int}), by=["annotator"])


@given(MARKED)
def test_unitised_alpha_is_what_counting_all_places_gives(people):
    units = units_of(people)
    marked = [units.loc[units["annotator"] == str(n), ["start", "end"]].to_numpy(float) for n in range(len(people))]
    found = mqm.unitised_alpha(units, length=40, annotators=len(people))
    if len(units) == 0:
        assert np.isnan(found)
    else:
        expected = 1 - brute_observed(marked, 40) / brute_expected(marked, 40)
        assert found == pytest.approx(expected, abs=1e-9)


# What is refused


SMALL, FLAT = rated([1, 2]), rated([5, 5])
CROSSED, _, _ = crossed(np.random.default_rng(8), people=12, segments=40)
LOW, ODD = marks(("1", "other", "low")), marks(("1", "other", "awful"))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: normalization.normalize(SMALL, method="zscore"), "zscore"),
        (lambda: normalization.normalize(SMALL, method="mixed"), "eng-deu: a mixed model"),
        (lambda: normalization.normalize(SMALL, no_spread="drop"), "no_spread='drop'"),
        (lambda: normalization.normalize(SMALL, by=("session",)), "session"),
        (lambda: fitted(CROSSED, steps=2), "2 steps"),
        (lambda: normalization.normalize(CROSSED, method="mixed", item_types=("repeat",)), "of repeat items"),
        (lambda: fitted(rated([1, 1, 5, 5], annotators=list("aabb"))), "two different scores"),
        (lambda: normalization.order_kept(normalization.normalize(FLAT)), "No row"),
        (lambda: normalization.order_kept(normalization.normalize(FLAT).drop(columns="hit")), "hit"),
        (lambda: normalization.means(SMALL, calibration=PANEL), "No annotator"),
        (lambda: normalization.held_out(PANEL.assign(item_type="system")), "No calibration items"),
        (lambda: normalization.held_out(PANEL[PANEL["annotator"] < "p2"]), "eng-deu: 2 groups"),
        (lambda: mqm.segment_scores(judgements("1"), ODD, "release"), "guj, s, d, 1, a: .*awful"),
        (lambda: mqm.weights(LOW, "mine"), "mine"),
        (lambda: mqm.segment_scores(judgements("2"), LOW, "release"), "1, a: an error"),
        (lambda: mqm.segment_scores(judgements("1", "1"), LOW, "release"), "same names"),
    ],
)
def test_what_makes_no_sense_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()
