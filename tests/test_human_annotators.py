"""Annotators: how they use the scale, who is screened, profiles; and models and people in their place."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import DataError
from evalkit.human import annotators, judges
from evalkit.human.judges import alternative_annotator
from evalkit.stats import agreement
from tests.makers import laid_out, read

FEW = settings(max_examples=8)


def judged(annotator, scores, *, segments=None, item_type="calibration", **columns):
    segments = range(len(scores)) if segments is None else segments
    columns = {"system": "s", "doc": "d#1-9", "hit": annotator} | columns
    rows = zip(segments, scores, strict=True)
    return laid_out(rows, "segment score", annotator=annotator, item_type=item_type, **columns)


def scored(annotator, scores, **more):
    return judged(annotator, scores, **{"item_type": "system", **more})


def test_only_annotators_with_a_complete_and_an_additional_hit_stay():
    ratings = pd.concat([judged("full", [1, 2, 3]), judged("short", [1, 2]), judged("alone", [3, 2, 1])])
    mapping = pd.DataFrame({"hit": ["h1", "h2", "h3"], "annotator": ["full", "full", "short"]})
    listed = annotators.accounts(ratings, mapping, complete_at=3).set_index("annotator")
    assert listed["kept"].to_dict() == {"alone": False, "full": True, "short": False}
    assert listed["additional_hits"].to_dict() == {"alone": 0, "full": 2, "short": 1}
    table = annotators.workload(listed.reset_index()).iloc[0]
    assert table[["annotators", "additional_hits_max", "incomplete", "without_additional"]].tolist() == [1, 2, 1, 1]
    assert set(annotators.keep(ratings, listed.reset_index())["annotator"]) == {"full"}


@settings(max_examples=15)
@given(st.lists(st.integers(0, 100), min_size=2, max_size=40))
def test_how_somebody_uses_the_scale_equals_numpy_and_scipy(scores):
    ratings, size, varied = judged("a", scores), len(scores), len(set(scores)) > 1
    row = annotators.usage(ratings).iloc[0]
    assert (row["n"], row["unique_scores"]) == (size, len(set(scores)))
    assert [row["min"], row["max"]] == [min(scores), max(scores)]
    assert row["mean"] == pytest.approx(np.mean(scores))
    assert row["sd"] == pytest.approx(np.std(scores, ddof=1))
    assert row["at_ends"] == pytest.approx(np.mean([s <= 10 or s >= 90 for s in scores]))
    skewness = stats.skew(scores, bias=False) if size > 2 and varied else np.nan
    assert row["skewness"] == pytest.approx(skewness, abs=1e-9, nan_ok=True)
    near = [any(abs(s - m) <= 1 for m in annotators.SQM_TICKS) for s in scores]
    assert annotators.on_marks(ratings)["on_marks"][0] == pytest.approx(np.mean(near))
    expected = np.nan
    if size > 3 and varied:
        even = 3 * (size - 1) ** 2 / ((size - 2) * (size - 3))
        expected = (skewness**2 + 1) / (stats.kurtosis(scores, bias=False) + even)
    assert annotators.bimodality(ratings)["bimodality"][0] == pytest.approx(expected, rel=1e-6, nan_ok=True)


def test_repeats_measure_the_distance_between_two_scores_of_one_segment():
    ratings = pd.concat([judged("a", [10, 50, 90]), judged("a", [14, 20], item_type="repeat"), judged("b", [1, 2, 3])])
    assert annotators.repeats(ratings).drop(columns="pair").to_numpy().tolist() == [["a", 2, 17.0, 30.0]]


# Screening: rules, who goes, how agreement moves, and how firm a decision is


def crowd(rng, *, people=6, items=40, missing=0.4):
    """Draw annotators who share a quality and skip some items."""
    scores = (rng.normal(60, 15, (items, 1)) + rng.normal(0, 12, (items, people))).round().clip(0, 100)
    return laid_out(np.where(rng.random(scores.shape) > missing, scores, np.nan), "segment annotator", hit="h")


@given(st.sampled_from(["<", "<=", ">", ">="]), st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)))
def test_a_rule_reads_what_it_prints(sign, threshold):
    rule = annotators.Rule("sd", sign, float(f"{threshold:g}"))
    assert annotators.Rule.parse(str(rule)) == rule


def test_who_goes_and_who_is_unknown():
    ratings = pd.concat([scored("flat", [50, 51, 50, 51]), scored("wide", [0, 30, 60, 90]), scored("once", [40])])
    screened = annotators.screen(ratings, ["sd < 5", "unique_scores <= 2", "qc_p >= 0.05"])
    rows = screened.set_index(["rule", "annotator"])
    assert rows["flagged"].groupby("rule").sum().to_dict() == {"qc_p >= 0.05": 0, "sd < 5": 1, "unique_scores <= 2": 2}
    assert rows.loc["sd < 5", "unknown"].to_dict() == {"flat": False, "once": True, "wide": False}
    assert rows.loc["qc_p >= 0.05", "unknown"].all()
    totals = annotators.screening_totals(screened).set_index("rule")
    assert totals.loc["any", ["annotators", "flagged", "unknown"]].tolist() == [3, 2, 0]


def test_somebody_is_flagged_in_one_language_pair_and_not_in_another():
    one = pd.concat([scored("a", [5, 5, 6]), scored("b", [0, 50, 99])])
    ratings = pd.concat([one, one.assign(tgt_lang="jpn", score=one["score"].to_numpy()[::-1])], ignore_index=True)
    screened = annotators.screen(ratings, ["sd < 5"]).query("flagged")
    assert screened[["pair", "annotator"]].to_numpy().tolist() == [["eng-deu", "a"], ["eng-jpn", "b"]]


@FEW
@given(st.integers(0, 10_000))
def test_agreement_that_moves_is_krippendorffs_alpha(seed):
    ratings = crowd(np.random.default_rng(seed), people=4, items=20)
    fewer = ratings[ratings["annotator"] != "p3"]
    moved = annotators.agreement_change(ratings, fewer, resamples=2).iloc[0]
    for table, found in ((ratings, moved["alpha_before"]), (fewer, moved["alpha_after"])):
        oracle = agreement.coefficients(
            agreement.score_matrix(table), measures=[("krippendorff_alpha", "interval")], resamples=0
        )
        assert found == pytest.approx(oracle["estimate"].iloc[0], abs=1e-9)


def test_leaving_out_nobody_at_random_moves_nothing_and_a_bad_annotator_moves_more_than_chance():
    rng = np.random.default_rng(1)
    ratings = crowd(rng, people=8, missing=0.1)
    bad = ratings["annotator"] == "p0"
    ratings.loc[bad, "score"] = rng.integers(0, 101, bad.sum())
    same = annotators.agreement_change(ratings, ratings).iloc[0]
    assert same[["alpha_before", "random_low", "random_high"]].tolist() == pytest.approx([same["alpha_after"]] * 3)
    moved = annotators.agreement_change(ratings, ratings[~bad]).iloc[0]
    assert moved["alpha_after"] > moved["alpha_before"]
    # one draw of eight leaves out the bad one too: the interval reaches up to the same value, and no further
    assert moved["random_low"] < moved["alpha_before"] < moved["alpha_after"] <= moved["random_high"] + 1e-12


# Profiles of annotators


def people_on(ticks, rng, *, judgements=120, stray=0.1):
    """Draw scores on a grid of ticks, one point off at times, a few anywhere."""
    on = rng.choice(np.linspace(0, 100, ticks), judgements) + rng.choice([-1, 0, 0, 0, 1], judgements)
    anywhere = rng.integers(0, 101, judgements)
    return np.where(rng.random(judgements) < stray, anywhere, on.round()).clip(0, 100)


@pytest.mark.parametrize("ticks", annotators.GRIDS)
def test_a_grid_in_use_is_found_among_those_that_contain_it(ticks):
    rng = np.random.default_rng(ticks)
    ratings = pd.concat([scored(f"a{k}", people_on(ticks, rng, judgements=300)) for k in range(12)])
    found = annotators.scale_grid(ratings)
    assert found.loc[found["in_use"], "ticks"].tolist() == [ticks] * 12


def test_smooth_scores_and_single_heaps_have_no_grid():
    rng = np.random.default_rng(3)
    shapes = [rng.beta(6, 2, (50, 200)) * 100, rng.beta(0.5, 0.5, (50, 200)) * 100, rng.normal(75, 6, (50, 200))]
    shapes += [rng.normal(85, 0.8, (50, 200)), rng.choice([50, 100], (50, 200)), rng.uniform(40, 100, (50, 200))]
    scores = np.round(np.concatenate(shapes)).clip(0, 100)
    # at a familywise 5 % one false grid may occur in an unlucky draw; without adjustment there would be dozens
    assert annotators.scale_grid(laid_out(scores, "annotator segment"))["in_use"].sum() <= 1


def test_the_test_of_a_grid_equals_a_binomial_count_by_hand():
    values = people_on(7, np.random.default_rng(5), stray=0.5)
    found = annotators.scale_grid(scored("a", values)).set_index("ticks")
    for ticks, row in found.iterrows():
        marks, cells = np.linspace(0, 100, ticks), []
        for k, mark in list(enumerate(marks))[1:-1]:
            cell = [p for p in range(101) if np.abs(p - marks).argmin() == k]
            near = [p for p in cell if abs(p - mark) <= min(1, 100 / (ticks - 1) / 8)]
            cells.append((np.isin(values, cell).sum(), np.isin(values, near).sum(), len(near) / len(cell)))
        best = max(cells, key=lambda cell: cell[1] - cell[0] * cell[2])
        rest = [cell for cell in cells if cell is not best]
        n, hits = sum(cell[0] for cell in rest), sum(cell[1] for cell in rest)
        rate = sum(cell[0] * cell[2] for cell in rest) / n
        assert row["p"] == pytest.approx(stats.binomtest(hits, n, rate, alternative="greater").pvalue)
        assert row["n"] == sum(cell[0] for cell in cells)
        assert row["on_ticks"] == pytest.approx(sum(cell[1] for cell in cells) / row["n"])


@pytest.mark.filterwarnings("error")
def test_a_tick_that_no_point_of_the_scale_is_nearest_to_counts_for_nothing():
    """On a scale from 1 to 5, thirteen ticks leave cells without a whole number; nothing may be divided by those."""
    stars = scored("a", [1.0, 2.0, 3.0, 4.0, 5.0] * 20)
    assert annotators.scale_grid(stars, scale=(1, 5))["p"].between(0, 1).all()


def test_p_values_are_adjusted_within_each_language_pair_as_statsmodels_does():
    rng = np.random.default_rng(6)
    ratings = pd.concat([scored(f"a{k}", people_on(7, rng, judgements=25, stray=0.6)) for k in range(4)])
    found = annotators.scale_grid(pd.concat([ratings, ratings.assign(tgt_lang="jpn").iloc[:50]]))
    for _, rows in found.groupby("pair"):
        np.testing.assert_allclose(rows["p_adjusted"], multipletests(rows["p"], method="holm")[1])


@FEW
@given(st.integers(0, 10_000))
def test_agreement_with_the_others_equals_scipy_item_by_item(seed):
    ratings = crowd(np.random.default_rng(seed))
    wide = ratings.pivot(index="segment", columns="annotator", values="score")
    found = annotators.agreement_with_others(ratings).set_index("annotator")
    for name in wide:
        rest = wide.drop(columns=name).mean(axis=1)
        both = wide[name].notna() & rest.notna()
        assert found.at[name, "shared"] == both.sum()
        expected = stats.spearmanr(wide[name][both], rest[both]).statistic if both.sum() >= 10 else np.nan
        assert found.at[name, "with_others"] == pytest.approx(expected, nan_ok=True)


def test_degraded_items_have_no_others_and_references_are_items_of_their_own():
    rows = [("a", 0, "system", 10), ("a", 1, "system", 20), ("b", 0, "system", 30), ("b", 1, "system", 40)]
    rows += [("b", 0, "repeat", 50), ("b", 1, "degraded", 0), ("a", 0, "reference", 90), ("c", 0, "reference", 99)]
    ratings = laid_out(rows, "annotator segment item_type score")
    found = annotators.beside_others(ratings).set_index(["annotator", "segment"])["others"]
    assert found.loc[[("a", "1")]].tolist() == [40]
    assert sorted(found.loc[[("a", "0")]]) == [40, 99]  # the mean of b's 30 and 50; c's of the reference
    assert found.loc[[("c", "0")]].tolist() == [90]


def test_speed_is_the_median_of_what_is_known():
    times = {"started": [0.0, 10, 20, 90], "ended": [4.0, 16, 20, 190]}  # the third took no time at all
    found = annotators.speed(scored("a", [1, 2, 3, 4], **times))
    assert found["seconds"].tolist() == [6.0]
    hits = [scored("a", [1, 2], hit_seconds=30.0), scored("a", [1] * 4, hit_seconds=20.0, hit="other")]
    assert annotators.speed(pd.concat(hits))["seconds"].tolist() == [10.0]
    assert np.isnan(annotators.speed(scored("a", [1]))["seconds"][0])


def test_drift_equals_weighted_least_squares_on_means_of_documents():
    rng = np.random.default_rng(1)
    sizes = rng.integers(2, 7, 9)
    doc = np.repeat(np.arange(9), sizes)
    scores = rng.integers(0, 101, len(doc))
    ratings = scored("a", scores, doc=[f"d{k}" for k in doc], started=10.0 * np.arange(len(doc)))
    x = pd.Series((np.arange(len(doc)) + 1) / 100).groupby(doc).mean()
    fit = sm.WLS(pd.Series(scores).groupby(doc).mean(), sm.add_constant(x), weights=sizes).fit()
    found = annotators.drift(ratings).iloc[0]
    assert found["drift"] == pytest.approx(fit.params.iloc[1])
    assert found["drift_p"] == pytest.approx(fit.pvalues.iloc[1])
    assert found["drift_of"] == "score"


def test_what_a_reference_of_a_systems_name_got_does_not_drift():
    rng, places = np.random.default_rng(3), np.arange(20)
    shown = {"doc": [f"d{n // 4}" for n in places], "hit": "h"}
    judged_by = {name: rng.integers(0, 101, 20) for name in "ab"}
    outputs = [scored(name, own, started=10.0 * places, **shown) for name, own in judged_by.items()]
    later = {"item_type": "reference", "started": 1000.0 + places, **shown}
    references = [judged(name, rng.integers(0, 101, 20), **later) for name in "ac"]
    found = (
        annotators.drift(pd.concat([*references, *outputs], ignore_index=True)).set_index("annotator").loc[["a", "b"]]
    )
    pd.testing.assert_frame_equal(
        found.reset_index(), annotators.drift(pd.concat(outputs, ignore_index=True))[[*found.reset_index()]]
    )
    assert found["drift_of"].eq("difference from others").all()


@FEW
@given(st.lists(st.integers(-20, 40), min_size=1, max_size=30))
def test_quality_control_is_students_test_of_differences(differences):
    whole = scored("a", [60] * len(differences))
    worse = scored("a", 60 - np.array(differences), item_type="degraded")
    row = annotators.quality_control(pd.concat([whole, worse, scored("b", [5])])).iloc[0]
    if len(differences) < 2:
        assert np.isnan(row["qc_p"])
    elif len(set(differences)) == 1:
        assert row["qc_p"] == (0 if differences[0] > 0 else 1)
    else:
        assert row["qc_p"] == pytest.approx(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)


def test_degraded_items_are_paired_with_the_original_in_the_same_hit_and_people_judged_by_all_their_pairs():
    parts = [scored("a", [80, 70, 60]), scored("a", [20, 30], item_type="degraded", segments=[0, 2])]
    parts += [scored("a", [5], item_type="degraded", segments=[1], hit="other"), scored("a", [50], tgt_lang="jpn")]
    parts += [scored("a", [44], item_type="degraded", tgt_lang="jpn")]
    parts += [scored(who, [50], tgt_lang="zho") for who in "ab"]
    found = annotators.quality_control(pd.concat(parts))
    assert found["annotator"].tolist() == ["a"] * 3
    assert found["qc_pairs"].tolist() == [3] * 3
    assert found["qc_difference"].tolist() == pytest.approx([(60 + 30 + 6) / 3] * 3)


def test_what_is_missing_is_empty():
    profile = annotators.profiles(scored("a", [3, 3, 3])).iloc[0]
    assert profile[["repeated", "shared", "qc_pairs"]].tolist() == [0, 0, 0]
    empty = ["skewness", "bimodality", "median_abs_diff", "with_others", "seconds", "drift", "drift_p", "qc_p"]
    assert profile[empty].isna().all()


def of_people(scores, documents):
    """Lay out scores, (annotators, items, systems), the items in so many documents."""
    return laid_out(scores, "annotator segment system", documents=np.arange(scores.shape[1]) % documents)


def test_wmt26s_filter_is_its_script_in_loops():
    rng = np.random.default_rng(3)
    scores = rng.normal(60, 15, (4, 12, 3)).round()
    scores[3] = rng.choice([0, 100], (12, 3))
    scores[..., :2][rng.random((4, 12, 2)) < 0.1] = np.nan
    scores[:, 10:, 2] = scores[1:, :, 2] = np.nan  # ten scores: no pair with this system counts
    both = scores[..., :2].reshape(-1, 2)
    distance, variance = np.diff(np.nanmean(both, axis=0))[0], np.nanvar(both, axis=0, ddof=1).sum()
    expected = [
        np.mean([2 ** -((b - a - distance) ** 2 / (2 * variance + 1e-6)) for a, b, _ in own if np.isfinite(b - a)])
        for own in scores
    ]
    ratings = of_people(scores, documents=3)
    assert annotators.plausible_differences(ratings)["plausible"].tolist() == pytest.approx(expected)
    screened = annotators.screen(ratings, ["wmt26-filter"])
    assert screened["flagged"].tolist() == [value < 0.75 for value in expected] == [False, False, False, True]
    assert annotators.screen(of_people(scores, documents=2), ["wmt26-filter"])["unknown"].all()


def test_steadiness_is_spearman_over_annotators():
    rng = np.random.default_rng(10)
    spread = np.linspace(2, 25, 12)[:, None]
    tables = [laid_out(rng.normal(50, spread, (12, 80)).clip(0, 100), "annotator segment") for _ in range(2)]
    found = annotators.intra_annotator_consistency(*tables).set_index("use")
    theirs = stats.spearmanr(*(table.groupby("annotator")["score"].std() for table in tables))
    assert found.loc["sd", ["rho", "p"]].tolist() == pytest.approx([theirs.statistic, theirs.pvalue])
    assert found["annotators"].eq(12).all()
    few = annotators.intra_annotator_consistency(*(table[table["annotator"] < "p10"] for table in tables))
    assert few["rho"].isna().all()


# Models and people in place of annotators: what the test's authors print, its definition read aloud, and its laws.

#: What alt_test_example.ipynb prints (nitaytech/AltTest at 18428b1f): winning rate and advantage of each model.
PRINTED = read("""
    model        lgbteen   10k_prompts cebab_stars
    gemini_flash 0.25:0.71 0.31:0.67   0.60:0.82
    gemini_pro   0.00:0.67 0.08:0.63   0.80:0.87
    gpt-4o       0.75:0.77 0.69:0.76   0.90:0.90
    llama-31     0.00:0.72 0.15:0.67   0.60:0.85
    gpt-4o-mini  0.75:0.76 0.92:0.80   0.90:0.89
    mistral-v03  0.25:0.75 0.15:0.67   0.50:0.83
""").set_index("model")
#: Alignment and epsilon of its cells.
CELLS = {"lgbteen": ("accuracy", 0.2), "10k_prompts": ("rmse", 0.15), "cebab_stars": ("rmse", 0.1)}


@pytest.mark.parametrize("name", CELLS)
def test_what_the_authors_print_comes_out(name, mirrored):
    files = sorted(mirrored("MANIFEST.tsv").parent.glob(f"nitaytech/AltTest/*/data/{name}/*.json"))
    humans, models = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    alignment, epsilon = CELLS[name]
    people = pd.DataFrame({who: pd.Series(answers, dtype=object) for who, answers in humans.items()})
    for model, printed in PRINTED[name].items():
        judge = pd.Series(models[model], dtype=object)
        _, found = tried(people, judge, alignment=alignment, epsilon=epsilon)
        assert f"{found.winning_rate:.2f}:{found.advantage:.2f}" == printed, model
        assert found.passed == (found.winning_rate >= 0.5)


def tried(people, judge, *, alignment, epsilon):
    """Return what is found of each annotator, and the verdict on the judge."""
    found = alternative_annotator(people, judge, alignment=alignment, epsilons=[epsilon])
    return found, judges.verdicts(found).iloc[0]


def test_items_of_which_an_alignment_says_nothing_are_left_out():
    rng = np.random.default_rng(4)
    people, judge = pd.DataFrame(rng.integers(0, 6, (80, 2)), columns=list("ab")), pd.Series(rng.integers(0, 5, 80))
    unknown = people.eq(5).any(axis=1)

    def alike(one, other):
        return np.nan if 5 in (one, other) else -abs(one - other)

    found, clean = (tried(table, judge, alignment=alike, epsilon=0.1)[0] for table in (people, people[~unknown]))
    assert 0 < unknown.sum() < 50
    pd.testing.assert_frame_equal(found, clean)


def by_definition(people, judge, near, epsilon):
    """Read the paper's section 3 aloud, item by item; people: name -> item -> answer."""
    items = {item for answers in people.values() for item in answers}
    counted = {i for i in items if sum(i in a for a in people.values()) >= 2 and i in judge}
    rows = []
    for name, answers in people.items():
        own = [item for item in answers if item in counted]
        if len(own) < 30:
            continue
        ahead, behind = [], []
        for item in own:
            others = [a[item] for who, a in people.items() if who != name and item in a]
            person, model = near(answers[item], others), near(judge[item], others)
            ahead.append(float(model >= person))
            behind.append(float(person >= model))
        gap = np.subtract(behind, ahead)
        p = stats.ttest_1samp(gap, epsilon, alternative="less").pvalue if np.ptp(gap) else float(gap[0] >= epsilon)
        rows.append((name, len(own), np.mean(ahead), np.mean(behind), p))
    wins = stats.false_discovery_control([p for *_, p in rows], method="by") <= 0.05
    return [(*row, bool(won)) for row, won in zip(rows, wins, strict=True)]


def same(one, others):
    return np.mean([one == other for other in others])


def close(one, others):
    return -np.sqrt(np.mean([(one - other) ** 2 for other in others]))


@pytest.mark.parametrize(("alignment", "near"), [("accuracy", same), ("rmse", close), (lambda a, b: a == b, same)])
@given(data=st.data())
@FEW
def test_it_is_what_the_paper_defines(alignment, near, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    items, number = data.draw(st.integers(31, 60)), data.draw(st.integers(2, 5))
    truth = rng.integers(0, 4, items)
    noisy = [np.where(rng.random(items) < 0.3, rng.integers(0, 4, items), truth) for _ in range(number + 1)]
    people = pd.DataFrame({f"p{n}": one.astype(float) for n, one in enumerate(noisy[:-1])})
    people = people.where(rng.random(people.shape) < data.draw(st.sampled_from([0.8, 0.95, 1.0])))
    judge = pd.Series(noisy[-1].astype(float)).where(rng.random(items) < 0.95)
    plain = {name: people[name].dropna().to_dict() for name in people}
    expected = by_definition(plain, judge.dropna().to_dict(), near, 0.15)
    if not expected:
        with pytest.raises(DataError, match="No annotator has 30 items"):
            tried(people, judge, alignment=alignment, epsilon=0.15)
        return
    found, _ = tried(people, judge, alignment=alignment, epsilon=0.15)
    rows = found[["annotator", "items", "ahead", "behind", "p", "wins"]].itertuples(index=False)
    for (name, count, ahead, behind, p, won), row in zip(expected, rows, strict=True):
        assert (row.annotator, row.items, row.wins) == (name, count, won)
        assert (row.ahead, row.behind, row.p) == pytest.approx((ahead, behind, p), abs=1e-9)


# Metrics and people in place of annotators


def tables(seed, *, noise=0.8):
    """Draw two collections of 200 translations by three people each, and judges: one like people, one random."""
    rng = np.random.default_rng(seed)
    number = np.arange(200)
    system, person = np.char.add("s", (number % 4).astype(str)), number % 3
    quality = rng.normal(0, 1, 200)
    scored = []
    for collection in ("ESA-1", "ESA-2", "MQM-1"):
        score = 70 + 5 * person + (4 + 3 * person) * (quality + noise * rng.normal(size=200))
        scored.append(laid_out(zip(system, number, person, score, strict=True), protocol=collection))
    answers = {"good": 0.1 * (quality + 0.5 * noise * rng.normal(size=200)), "random": rng.normal(size=200)}
    metrics = [laid_out(zip(system, number, own), "system segment score", metric=name) for name, own in answers.items()]
    return pd.concat(scored, ignore_index=True), pd.concat(metrics, ignore_index=True)


def by_ranks(own):
    return pd.Series((stats.rankdata(own) - 0.5) / len(own), own.index)


def by_spread(own):
    return (own - own.mean()) / own.std(ddof=1)


@pytest.mark.parametrize(("scale", "scaled"), [("z", by_spread), ("rank", by_ranks)])
def test_it_is_the_test_on_scores_scaled_by_hand(scale, scaled):
    scored, metrics = tables(1)
    options = {"collections": ["ESA-1", "ESA-2"], "people": ["MQM-1"], "epsilons": [0.15], "scale": scale}
    found = judges.stand_ins(scored, metrics, **options)
    own = scored[scored["protocol"] != "MQM-1"].set_index("segment").groupby(["protocol", "annotator"])["score"]
    wide = pd.DataFrame({" ".join(who): scaled(scores) for who, scores in own})
    judge = scaled(metrics[metrics["metric"] == "good"].set_index("segment")["score"])
    _, by_hand = tried(wide, judge, alignment="rmse", epsilon=0.15)
    [row] = found[found["judge"] == "good"].itertuples()
    assert (row.winning_rate, row.advantage, row.passed) == (by_hand.winning_rate, by_hand.advantage, by_hand.passed)
    assert (row.annotators, row.items, row.kind) == (6, 200, "metric")
    assert set(found["kind"]) == {"people", "metric", "knows nothing"}


# Marks of errors as answers


MARK = st.tuples(st.integers(0, 40), st.integers(1, 15)).map(lambda one: (one[0], one[0] + one[1]))
MARKS = st.lists(MARK, max_size=5)


def characters(own):
    return {place for start, end in own for place in range(start, end)}


@given(MARKS, MARKS)
def test_likeness_is_the_f1_of_sets_of_characters(one, other):
    a, b = characters(one), characters(other)
    hits = len(a & b)
    precision, recall = (hits / len(side) if side else 0.0 for side in (a, b))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else float(not a and not b)
    bits = [sum(1 << place for place in side) for side in (a, b)]
    found = judges.alike(*bits)
    assert found == pytest.approx(f1)
    assert (found == 1) == (a == b)


# What is refused


FLAT, SCORES = scored("a", [5, 5, 6]), scored("a", [1, 60])
PEOPLE = pd.DataFrame({name: range(40) for name in "abc"})
NOT_JUDGED = tables(2)[0], tables(2)[1].assign(tgt_lang="jpn")


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: annotators.keep(FLAT, pd.DataFrame({"annotator": ["a"], "kept": False})), "No annotator"),
        (lambda: annotators.intra_annotator_consistency(SCORES, SCORES.assign(annotator="z")), "both"),
        (lambda: annotators.scale_grid(SCORES, scale=(0, 50)), "0-50"),
        (lambda: annotators.Rule.parse("sd < five"), "no rule"),
        (lambda: annotators.screen(FLAT, ["speed < 3"]), "unique_scores"),
        (lambda: annotators.screen(FLAT, "sd < 3"), "list of rules"),
    ],
)
def test_what_has_no_answer_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()
