"""Calibration and degraded context: forms and their laws, held-out tests, labels known by hand, tests beside scipy."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from statsmodels.stats.weightstats import DescrStatsW

from evalkit import DataError, data
from evalkit.human import calibration, context
from evalkit.papers.licht2022 import languages as inside
from tests.makers import each, laid_out

ON_SCALE = st.floats(1, 5)
ALPHA = st.floats(-4, 4)


# The four forms


def test_the_papers_worked_examples():
    assert calibration.shift(4.0, alpha=3.0 - 3.2) == pytest.approx(3.8)  # section 4: deduct 0.2
    assert calibration.shift(4.8, alpha=3.0 - 2.7) == pytest.approx(5.1)  # section 5.3: off the scale


@given(ON_SCALE, ON_SCALE, ALPHA)
def test_moderated_stays_on_the_scale_rises_with_both_and_treats_both_ends_alike(x, y, alpha):
    moved = calibration.moderated(x, alpha=alpha)
    assert 1 <= moved <= 5
    assert calibration.moderated(6 - x, alpha=-alpha) == pytest.approx(6 - moved)
    assert y - x <= 1e-6 or moved < calibration.moderated(y, alpha=alpha)
    assert x == calibration.moderated(x, alpha=0.0) <= calibration.moderated(x, alpha=abs(alpha) / 2)
    assert calibration.moderated(x, alpha=abs(alpha) / 2) <= calibration.moderated(x, alpha=abs(alpha))


@given(ON_SCALE, st.floats(1e-6, 0.5))
def test_moderated_is_x_plus_alpha_only_up_to_the_room_that_is_left(x, alpha):
    moved = calibration.moderated(x, alpha=alpha) - x
    assert moved == pytest.approx(math.tanh(5 - x) * alpha, abs=alpha**3 + 1e-14)  # tanh(α) is α up to α³


@given(ON_SCALE, st.floats(-1.5, 2))
def test_forms_are_the_same_on_every_scale(x, alpha):
    standard = calibration.Standard(consensus=50, human_reference=25 * 3.687, scale=(0, 100))
    means = calibration.adjust(x, calibration_mean=3 - alpha, reference_mean=4.7)
    hundred = {"calibration_mean": 25 * (2 - alpha), "reference_mean": 25 * 3.7}
    for form, moved in calibration.adjust(25 * (x - 1), **hundred, standard=standard).items():
        assert moved == pytest.approx(25 * (means[form] - 1), rel=1e-6, nan_ok=True)


@given(st.floats(1.5, 3.4), st.floats(3.6, 5), st.floats(2, 4), st.floats(4.1, 5))
def test_the_line_sends_both_fixed_points_home(m, r, c, h):
    standard = calibration.Standard(consensus=c, human_reference=h)
    assert calibration.adjust(m, calibration_mean=m, reference_mean=r, standard=standard)["line"] == pytest.approx(c)
    assert calibration.adjust(r, calibration_mean=m, reference_mean=r, standard=standard)["line"] == pytest.approx(h)
    assert calibration.adjust(m, calibration_mean=m, standard=standard)["shift"] == pytest.approx(c)


@given(ON_SCALE, ALPHA, st.floats(0.01, 3))
def test_capped_is_the_shift_within_the_cap(x, alpha, cap):
    assert abs(calibration.capped(x, alpha=alpha, cap=cap) - x) == pytest.approx(min(abs(alpha), cap))


# From ratings to calibrated scores


def judgements(scores, item_type, *, system="s", scale=(1, 5)):
    """Make ratings of annotator -> scores, two segments a document."""
    rows = [(name, n, f"d{n // 2}", score) for name, given in scores.items() for n, score in enumerate(given)]
    columns = {"src_lang": "amh", "tgt_lang": "eng", "system": system, "item_type": item_type}
    return laid_out(rows, "annotator segment doc score", scale=scale, **columns)


def campaign():
    parts = [
        judgements({"a": [1, 3, 5, 4], "b": [2, 3, 5, 4], "c": [5, 3, 4, 1]}, "calibration", system="mixed"),
        judgements({"a": [5, 4], "b": [5, 5], "c": [4, 5]}, "reference", system="human"),
        judgements({"a": [4, 2, 3], "b": [4, 3, 3], "c": [5, 1, 4]}, "system", system="nmt"),
    ]
    return pd.concat(parts, ignore_index=True)


def test_medians_and_means_by_hand():
    medians = calibration.item_medians(campaign())
    assert medians.query("item_type == 'calibration'")["score"].tolist() == [2, 3, 5, 4]
    assert medians.query("item_type == 'calibration'")["annotators"].tolist() == [3] * 4
    means = calibration.group_means(campaign()).set_index(["item_type", "system"])["mean"].to_dict()
    assert means == pytest.approx({("calibration", ""): 3.5, ("reference", ""): 5.0, ("system", "nmt"): 3.0})
    means = calibration.group_means(campaign(), by="annotator").query("item_type == 'calibration'")
    assert means.set_index("annotator")["mean"].to_dict() == {"a": 3.25, "b": 3.5, "c": 3.25}
    twice = pd.concat([campaign(), campaign().query("annotator == 'c'")])
    pd.testing.assert_frame_equal(calibration.item_medians(twice), medians)  # an annotator's repeats count once


def test_calibrate_by_hand():
    table = calibration.calibrate(campaign(), standard=calibration.PAPER, resamples=50).set_index("form")
    assert table["raw"].tolist() == pytest.approx([3.0] * 4)
    assert table.loc["shift", "adjusted"] == pytest.approx(3.0 + 3.0 - 3.5)
    assert table.loc["line", "adjusted"] == pytest.approx(3.0 + (4.687 - 3.0) * (3.0 - 3.5) / (5.0 - 3.5))
    assert table.loc["moderated", "adjusted"] == pytest.approx(3.0 - math.tanh(2.0) * math.tanh(0.5))
    assert (table["low"] <= table["adjusted"]).all()
    assert (table["adjusted"] <= table["high"]).all()


def test_calibrate_does_not_depend_on_the_order_of_rows_or_names_of_annotators():
    plain = calibration.calibrate(campaign(), resamples=40)
    shuffled = campaign().sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(calibration.calibrate(shuffled, resamples=40), plain)
    renamed = campaign().assign(annotator=lambda d: "x-" + d["annotator"])
    pd.testing.assert_frame_equal(calibration.calibrate(renamed, resamples=40), plain)


def test_standard_error_of_one_annotator_is_the_textbook_sum():
    rng = np.random.default_rng(4)
    of_set, task = rng.normal(3, 1, 80).clip(1, 5), rng.normal(4, 0.5, 60).clip(1, 5)
    ratings = pd.concat([judgements({"a": list(of_set)}, "calibration"), judgements({"a": list(task)}, "system")])
    found = calibration.calibrate(ratings, standard=calibration.PAPER, resamples=4000).set_index("form").loc["shift"]
    raw_se = task.std() / np.sqrt(60)
    assert found["raw_se"] == pytest.approx(raw_se, rel=0.05)
    assert found["se"] == pytest.approx(np.hypot(raw_se, of_set.std() / np.sqrt(80)), rel=0.05)


def test_drawing_annotators_cancels_a_strictness_that_the_calibration_set_shares():
    rng = np.random.default_rng(5)
    strict = dict(zip("abcdefg", rng.normal(0, 5, 7)))
    items = {kind: rng.normal(50, 1, 40) for kind in ("calibration", "system")}
    parts = [judgements({a: list(v + b) for a, b in strict.items()}, kind) for kind, v in items.items()]
    found = calibration.calibrate(pd.concat(parts), scale=(0, 100), resamples=400).set_index("form").loc["shift"]
    assert found["raw_se"] > 1.5
    assert found["se"] < 0.4


def test_the_groups_own_averages_are_the_standard():
    both = pd.concat([campaign(), campaign().assign(src_lang="hin", score=lambda d: (d["score"] - 0.5).clip(1, 5))])
    assert calibration.design(both) == {"by": "pair", "within": None}
    standard = calibration.own_standard(both)
    means = calibration.group_means(both).groupby("item_type")["mean"].mean()
    assert (standard.consensus, standard.human_reference) == (means["calibration"], means["reference"])
    adjusted = calibration.calibrate(both, resamples=10).query("form == 'shift'")
    assert (adjusted["adjusted"] - adjusted["raw"]).sum() == pytest.approx(0)


def without(item_type):
    """Add a language pair that lacks one kind of items."""
    return pd.concat([campaign(), campaign().assign(src_lang="hin").query("item_type != @item_type")])


# A calibration set


def prior():
    levels = np.repeat([1.0, 2, 3, 4, 5], 6)
    off = np.zeros(30)
    off[::6] = np.where(levels[::6] < 4, 1, -1)  # one of the six of each level is not agreed upon
    return judgements({"a": levels, "b": levels + 0.4 + 2 * off, "c": levels + off}, "system")


def test_a_set_is_balanced_agreed_and_seeded():
    how = {"per_level": 4, "levels": range(1, 6)}
    chosen = calibration.choose_set(prior(), **how)
    assert chosen["level"].value_counts().to_dict() == dict.fromkeys([1.0, 2, 3, 4, 5], 4)
    assert not set(chosen["segment"]) & {"0", "6", "12", "18", "24"}
    pd.testing.assert_frame_equal(chosen, calibration.choose_set(prior().sample(frac=1, random_state=1), **how))
    assert not chosen.equals(calibration.choose_set(prior(), **how, seed=8))


# Held out


def crossed(bias, noise, *, items=40, seed=0):
    rng = np.random.default_rng(seed)
    quality = rng.normal(60, 8, items)
    scores = {f"a{k:02}": quality + b + rng.normal(0, noise, items) for k, b in enumerate(bias)}
    return judgements(scores, "calibration", scale=(0, 100))


@pytest.mark.parametrize("doc", ["", "all"])
def test_a_pure_shift_carries_over_completely(doc):
    ratings = crossed(np.linspace(-10, 10, 8), 0)
    ratings["doc"] = doc or ratings["doc"]
    table, carried = calibration.held_out(ratings, splits=20, resamples=20)
    table = table.set_index("form")
    assert table.loc["shift", "documents"] == (40 if doc else 20)  # items without documents are split singly
    assert table.loc["shift", "after"] == pytest.approx(0, abs=1e-9)
    assert table.loc[["line", "capped"], "ratio"].tolist() == pytest.approx([0, 0], abs=1e-9)
    assert table.loc["shift", "closer"] == 1
    assert carried["slope"].iloc[0] == pytest.approx(1)


def test_few_documents_are_halved_in_all_ways_whatever_the_seed():
    """With nine documents 200 random halves are a sample of 126, and the line's ratio moved from 1.6 to 2.3 by seed."""
    ratings = crossed(np.linspace(-5, 5, 6), 4, items=12)
    first, second = (calibration.held_out(ratings, splits=20, resamples=5, seed=seed)[0] for seed in (1, 2))
    assert first["ratio"].tolist() == second["ratio"].tolist()
    wide = ratings.pivot(index="annotator", columns=["doc", "segment"], values="score")
    before, after = [], []
    for chosen in itertools.combinations(sorted(set(ratings["doc"])), 3):
        calibrates = wide.columns.get_level_values("doc").isin(chosen)
        means, task = wide.loc[:, calibrates].mean(axis=1), wide.loc[:, ~calibrates].mean(axis=1)
        before.append(task.std())
        after.append((task + means.mean() - means).std())
    shift = first.set_index("form").loc["shift"]
    assert len(before) == 20
    assert shift["ratio"] == pytest.approx(np.median(after) / np.median(before))
    assert shift["closer"] == pytest.approx(np.mean(np.array(after) < before))


@pytest.mark.filterwarnings("error")
def test_draws_of_one_group_only_do_not_spoil_the_intervals():
    """Of three groups one draw in nine is a single group three times, and has no spread to compare."""
    ratings = crossed([-5.0, 0.0, 5.0], 2, items=12)
    tables = calibration.held_out(ratings, splits=20, resamples=100)
    assert np.isfinite([table[["low", "high"]].iloc[0] for table in tables]).all()


def test_who_left_items_out_is_left_out_and_counted():
    ratings = crossed(np.linspace(-5, 5, 6), 1)
    gap = (ratings["annotator"] == "a03") & (ratings["segment"] == "7")
    table, _ = calibration.held_out(ratings[~gap], splits=5, resamples=5)
    assert (table["groups"] == 5).all()
    assert (table["left_out"] == 1).all()


def test_a_group_that_tells_nothing_apart_has_no_line():
    ratings = crossed(np.linspace(-5, 5, 5), 1)
    ratings.loc[ratings["annotator"] == "a02", "score"] = 80.0
    table = calibration.held_out(ratings, splits=10, resamples=20)[0].set_index("form")
    assert table.loc["line", ["after", "ratio", "high"]].isna().all()
    assert table.loc["line", "closer"] == 0
    assert table.loc["shift", "after"] > 0


def test_half_of_the_documents_play_the_task():
    task = calibration.with_task(crossed(np.linspace(-5, 5, 4), 1), seed=7)
    assert task.groupby("item_type")["doc"].nunique().to_dict() == {"calibration": 10, "system": 10}
    pd.testing.assert_frame_equal(calibration.with_task(campaign(), seed=7), campaign())
    table = calibration.calibrate(task, by="annotator", within="pair", scale=(0, 100), resamples=10)
    adjusted = table.query("form == 'shift'")
    assert adjusted["adjusted"].std() < 0.2 * adjusted["raw"].std()


# Outside scores


def outside_columns():
    table5, table4 = data.published("licht2022_table5"), data.published("licht2022_table4")
    return table5, inside.training_size(table4)


def test_correlations_equal_pandas_and_scikit_learn():
    table5, sizes = outside_columns()
    found = inside.correlate(table5, sizes, splits=3000, seed=7).set_index(["columns", "method"])
    joined = inside.merged(table5, sizes)
    for columns in inside.COLUMNS:
        rows = joined if columns == "both" else joined[joined["direction"] == columns]
        assert found.loc[(columns, "CS"), "pearson"] == pytest.approx(rows["value"].corr(rows["cs"]))
        assert found.loc[(columns, "CS"), "r2"] == pytest.approx(rows["value"].corr(rows["cs"]) ** 2)
    rows = joined[joined["direction"] == "EN-X"]
    x, y = rows[["value"]].to_numpy(), rows["cs"].to_numpy()
    folds = [
        [LinearRegression().fit(x[known], y[known]).score(x[held], y[held]) for known, held in halves.split(x)]
        for halves in (KFold(2, shuffle=True, random_state=n) for n in range(300))
    ]
    se = np.std(np.mean(folds, axis=1)) / np.sqrt(300)
    assert found.loc[("EN-X", "CS"), "linreg"] == pytest.approx(np.mean(folds), abs=5 * se)


def test_scores_of_ones_own(tmp_path):
    table5, _ = outside_columns()
    file = tmp_path / "chrf.csv"
    own = table5[["language_code", "direction"]].assign(score=range(len(table5)))
    own.to_csv(file, index=False, encoding="utf-8-sig")
    both = inside.covariates(data.published("licht2022_table4"), data.published("spbleu_flores"), own=str(file))
    assert both.attrs["own"].startswith("chrf.csv@")
    assert both.query("covariate == 'chrf'")["value"].tolist() == list(range(28))
    assert set(inside.correlate(table5, both, splits=4, seed=7).query("covariate == 'chrf'")["n"]) == {14, 28}


@each
def test_bad_scores_of_ones_own_are_told_by_line(tmp_path, text, told):
    file = tmp_path / "own.csv"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match=told):
        inside.read_scores(file, codes=data.published("licht2022_table4")["language_code"])


# Degraded context: labels known by hand, the paper's tests against scipy, laws of the robust ones.


def document(hit, copy, original, *, copy_first=True, annotator=None, doc="d"):
    """Rows of one HIT with a copy (kind, score per segment) and its original (scores)."""
    shown = [(True, copy), (False, [("system", score) for score in original])]
    rows = []
    for is_copy, items in shown if copy_first else shown[::-1]:
        rows += [(hit, is_copy, str(k), kind, float(score)) for k, (kind, score) in enumerate(items)]
    frame = pd.DataFrame(rows, columns=["hit", "copy", "segment", "item_type", "score"])
    frame = frame.assign(position=range(len(frame)), annotator=annotator or hit, system="S", doc=doc)
    return frame.assign(src_lang="ces", tgt_lang="eng", z=frame["score"] / 10)


KINDS = ["repeat", "reference", "repeat", "degraded", "repeat", "degraded", "repeat"]
COPY = list(zip(KINDS, [70, 95, 60, 5, 50, 0, 40], strict=True))
ORIGINAL = [70, 71, 62, 73, 74, 75, 76]


def test_copies_are_labelled_by_what_had_been_seen():
    found = context.pairs(document("h", COPY, ORIGINAL))
    columns = ["segment", "group", "difference", "distance", "degraded_seen", "changed_seen"]
    assert found[columns].to_numpy().tolist() == [
        ["0", "before", 0.0, -3, 0, 0],
        ["2", "before", 2.0, -1, 0, 1],
        ["4", "after", 24.0, 1, 1, 2],
        ["6", "after", 36.0, 3, 2, 3],
    ]
    assert found["copy_first"].all()
    assert np.allclose(found["z_difference"], found["difference"] / 10)
    plain = [("repeat", 70), ("reference", 90)]
    assert context.pairs(document("h", plain, [70, 60]))["group"].tolist() == ["none"]
    example = context.label_example(document("h", COPY, ORIGINAL), segments=7)
    assert example["label"].tolist() == ["before", "", "before", "", "after", "", "after"]


def test_the_order_of_showing_and_of_rows_does_not_change_the_labels():
    one = context.pairs(document("h", COPY, ORIGINAL, copy_first=False))
    two = context.pairs(document("h", COPY, ORIGINAL, copy_first=False).sample(frac=1, random_state=3))
    assert not one["copy_first"].any()
    assert one["group"].tolist() == ["before", "before", "after", "after"]
    pd.testing.assert_frame_equal(one, two)


def test_other_hits_annotators_and_documents_are_never_mixed():
    tables = [document("h1", COPY, ORIGINAL), document("h2", COPY, [99] * 7), document("h1", COPY, [1] * 7, doc="e")]
    found = context.pairs(pd.concat(tables, ignore_index=True))
    highest = found.groupby(["hit", "doc"])["original"].max().to_dict()
    assert highest == {("h1", "d"): 76, ("h1", "e"): 1, ("h2", "d"): 99}
    assert found["document"].nunique() == 3


def test_copies_without_an_original_are_counted():
    assert context.pairs(document("h", COPY, ORIGINAL[:5])).attrs["unpaired"] == 1


def campaign_context(seed, *, annotators=30, documents=6, effect=0.0, order=0.0, leniency=3.0):
    """Pairs with a known effect of degraded context and of order, and something that annotators share."""
    rng = np.random.default_rng(seed)
    rows = []
    for a in range(annotators):
        shared = rng.normal(0, leniency)
        for d in range(documents):
            first, of_document = rng.random() < 0.5, rng.normal(0, 2)
            for s in range(8):
                after = s >= 3
                loss = shared + of_document + effect * after + order * (first - 0.5) + rng.normal(0, 5)
                rows.append((f"a{a}", f"a{a}d{d}", "after" if after else "before", first, loss, s - 3 + after, s // 3))
    names = ["annotator", "document", "group", "copy_first", "difference", "distance", "degraded_seen"]
    return pd.DataFrame(rows, columns=names).assign(pair="ces-eng", changed_seen=0)


def test_the_papers_tests_are_scipys():
    table = campaign_context(1, effect=1)
    before, after = (table.loc[table["group"] == g, "difference"] for g in ("before", "after"))
    described = context.contrasts(table)
    row = described[(described["pair"] == "all") & (described["group"] == "after")].iloc[0]
    assert row["p_one_sample"] == stats.ttest_1samp(after, 0).pvalue
    assert row[["n", "mean", "median"]].tolist() == pytest.approx([len(after), after.mean(), after.median()])
    expected = stats.ttest_ind(before, after, equal_var=False, alternative="less")
    told = context.welch(table).iloc[0]
    assert (told["t"], told["df"], told["p_less"]) == (expected.statistic, expected.df, expected.pvalue)


def test_order_is_told_apart_from_an_effect():
    order = context.order_effects(campaign_context(3, effect=4, order=6))
    assert order["order_low"].lt(6).all()
    assert order["order_high"].gt(6).all()


@pytest.mark.parametrize("effect", [1.5, -1.5])
def test_one_sided_p_values_are_scipys_and_statsmodels(effect):
    import statsmodels.formula.api as smf

    table = campaign_context(7, effect=effect).assign(z_difference=lambda t: t["difference"] / 20)
    told = context.robust(table, resamples=99, rng=np.random.default_rng(1)).set_index("method")
    before, after = (table.loc[table["group"] == g, "difference"] for g in ("before", "after"))
    welch = stats.ttest_ind(after, before, equal_var=False, alternative="greater")
    assert told.at["independent pairs (Welch)", "p_greater"] == pytest.approx(welch.pvalue, rel=1e-9)
    codes = pd.factorize(table["annotator"])[0]
    model = smf.ols("difference ~ I(1.0 * (group == 'after'))", table)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    row = told.loc["clustered by annotator"]
    assert row["p_greater"] == pytest.approx(stats.t.sf(fit.tvalues.iloc[1], codes.max()), rel=1e-9)
    assert row[["low", "high"]].tolist() == pytest.approx(fit.conf_int().iloc[1].tolist(), rel=1e-6)
    assert (told["p_greater"] < 0.05).all() == (effect > 0)
    assert (told["p_greater"] > 0.95).all() == (effect < 0)
    by_z = context.robust(table, resamples=99, rng=np.random.default_rng(1), scale="z").set_index("method")
    exact = [name for name in told.index if not name.startswith("mixed")]  # those stop where processors still agree
    assert np.allclose(by_z.loc[exact, "estimate"], told.loc[exact, "estimate"] / 20)
    assert np.allclose(by_z.loc[exact, "p_greater"], told.loc[exact, "p_greater"])


def test_permutation_is_the_estimate_with_a_constant_per_document_and_uniform_without_an_effect():
    import statsmodels.formula.api as smf

    table = campaign_context(4, annotators=5, effect=2)
    estimate, *_ = context.permutation(table, resamples=9, rng=np.random.default_rng(1))
    fit = smf.ols("difference ~ I(1.0 * (group == 'after')) + C(document)", table).fit()
    assert estimate == pytest.approx(fit.params.iloc[-1])
    draws = [campaign_context(seed, annotators=3, documents=3) for seed in range(60)]
    p = [context.permutation(table, resamples=39, rng=np.random.default_rng(k))[1] for k, table in enumerate(draws)]
    assert stats.kstest(p, "uniform").pvalue > 0.001


def test_equivalence_is_statsmodels_for_one_pair_an_annotator():
    table = campaign_context(5).assign(annotator=lambda t: [str(k) for k in range(len(t))])
    told = context.equivalence(table, margin=0.5).set_index("effect")
    for group in ("before", "after"):
        values = table.loc[table["group"] == group, "difference"]
        expected = DescrStatsW(values).ttost_mean(-0.5, 0.5)[0]
        assert told.at[f"mean {group}", "p_equivalent"] == pytest.approx(expected)
    wide = context.equivalence(table, margin=50)
    assert wide["verdict"].isin(["equivalent", "both"]).all()
    z = context.equivalence(table.assign(z_difference=table["difference"] / 20), margin=0.5 / 20, scale="z")
    assert np.allclose(told["p_equivalent"], z["p_equivalent"])
    assert np.allclose(told["low"], z["low"] * 20)


# What is refused


SHOWN = document("h", COPY, ORIGINAL)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: calibration.Standard(scale=(5, 1)), "inside"),
        (lambda: calibration.Standard(consensus=6), "inside"),
        (lambda: calibration.calibrate(campaign().iloc[:0]), "no ratings"),
        (lambda: calibration.calibrate(without("calibration"), resamples=10), "hin-eng: .* 'calibration'"),
        (lambda: calibration.calibrate(without("system"), resamples=10), "hin-eng: .* 'system'"),
        (lambda: calibration.own_standard(campaign().query("item_type == 'system'")), "No calibration items"),
        (lambda: calibration.item_medians(campaign(), by="team"), "team"),
        (
            lambda: calibration.choose_set(prior(), per_level=6, levels=range(1, 6)),
            "5 at level 1, 5 at level 2, .* 6 are wanted",
        ),
        (lambda: calibration.held_out(crossed([0, 1], 1)), "amh-eng: 2 groups"),
        (lambda: calibration.held_out(crossed([0, 1, 2], 1).assign(item_type="system")), "No calibration items"),
        (lambda: context.pairs(pd.concat([SHOWN, SHOWN[~SHOWN["copy"]]])), "twice"),
        (lambda: context.pairs(SHOWN.drop(columns="copy")), "column copy"),
        (lambda: context.label_example(SHOWN, segments=30), "30 segments"),
    ],
)
def test_what_cannot_be_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()
