"""How annotators use the scale: counts by hand, laws, and filters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import laid_out
from scipy import stats

from evalkit import DataError
from evalkit.human import annotators
from evalkit.human.annotators.screening import MEASURES
from evalkit.stats import agreement


def judged(annotator, scores, *, segments=None, item_type="calibration", **columns):
    segments = range(len(scores)) if segments is None else segments
    columns = {"system": "s", "doc": "d#1-9", "hit": annotator} | columns
    rows = zip(segments, scores, strict=True)
    return laid_out(rows, "segment score", annotator=annotator, item_type=item_type, **columns)


def scored(annotator, scores, **more):
    return judged(annotator, scores, item_type="system", **more)


def test_only_annotators_with_a_complete_and_an_additional_hit_stay():
    ratings = pd.concat([judged("full", [1, 2, 3]), judged("short", [1, 2]), judged("alone", [3, 2, 1])])
    mapping = pd.DataFrame({"hit": ["h1", "h2", "h3"], "annotator": ["full", "full", "short"]})
    listed = annotators.accounts(ratings, mapping, complete_at=3).set_index("annotator")
    assert listed["kept"].to_dict() == {"alone": False, "full": True, "short": False}
    assert listed["additional_hits"].to_dict() == {"alone": 0, "full": 2, "short": 1}
    table = annotators.workload(listed.reset_index()).iloc[0]
    assert table[["annotators", "incomplete", "without_additional"]].tolist() == [1, 1, 1]
    assert set(annotators.keep(ratings, listed.reset_index())["annotator"]) == {"full"}
    with pytest.raises(DataError, match="No annotator"):
        annotators.keep(ratings, annotators.accounts(ratings, mapping, complete_at=7))


def test_contents_count_distinct_triplets_and_shared_snippets():
    again = judged("a", [4], item_type="repeat")
    others = judged("a", [5], doc="e#1-1"), judged("a", [5], system="t")
    ratings = pd.concat([judged("a", [1, 2, 3]), again, judged("b", [1, 2, 3]), *others])
    assert annotators.contents(ratings).iloc[0].drop("pair").tolist() == [5, 2, 2, 1, 1, 3]
    assert annotators.shared_snippets(ratings)[["doc", "systems"]].to_numpy().tolist() == [["d#1-9", "s t"]]


scores_0_100 = st.lists(st.integers(0, 100), min_size=2, max_size=40)


@given(scores_0_100)
def test_usage_equals_numpy(scores):
    row = annotators.usage(judged("a", scores)).iloc[0]
    assert (row["n"], row["unique_scores"]) == (len(scores), len(set(scores)))
    assert [row["min"], row["max"]] == [min(scores), max(scores)]
    assert row["mean"] == pytest.approx(np.mean(scores))
    assert row["sd"] == pytest.approx(np.std(scores, ddof=1))
    assert row["at_ends"] == pytest.approx(np.mean([s <= 10 or s >= 90 for s in scores]))
    if len(scores) > 2 and len(set(scores)) > 1:
        assert row["skewness"] == pytest.approx(stats.skew(scores, bias=False), abs=1e-9)
    else:
        assert np.isnan(row["skewness"])
    assert annotators.score_counts(judged("a", scores))["judgements"].sum() == len(scores)


def test_repeats_measure_the_distance_between_two_scores_of_one_segment():
    ratings = pd.concat([judged("a", [10, 50, 90]), judged("a", [14, 20], item_type="repeat"), judged("b", [1, 2, 3])])
    assert annotators.repeats(ratings).drop(columns="pair").to_numpy().tolist() == [["a", 2, 17.0, 30.0]]


@given(scores_0_100)
def test_shares_on_marks_are_shares(scores):
    shares = annotators.ticks(judged("a", scores))
    near = [any(abs(s - m) <= 1 for m in annotators.SQM_TICKS) for s in scores]
    assert shares["share"].sum() == pytest.approx(np.mean(near))
    found = annotators.discretisation(shares).iloc[0]
    assert found["on_marks"] == pytest.approx(np.mean(near))
    assert found["favourite_share"] == shares["share"].max()


# Screening: rules, who goes, how agreement moves, and how firm a decision is


def crowd(rng, *, people, items=40, missing=0.4):
    """Draw annotators who share a quality and skip some items."""
    scores = (rng.normal(60, 15, (items, 1)) + rng.normal(0, 12, (items, people))).round().clip(0, 100)
    return laid_out(np.where(rng.random(scores.shape) > missing, scores, np.nan), "segment annotator", hit="h")


@pytest.mark.parametrize("text", ["sd", "sd = 5", "sd < five", "< 5", ""])
def test_a_text_that_is_no_rule_is_told(text):
    with pytest.raises(DataError, match="no rule"):
        annotators.Rule.parse(text)


FLAT = scored("a", [5, 5, 6])


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: annotators.screen(FLAT, ["speed < 3"]), "unique_scores"),
        (lambda: annotators.screen(FLAT, "sd < 3"), "list of rules"),
        (lambda: annotators.exclude_annotators(FLAT, annotators.screen(FLAT, ["sd < 5"])), "everybody"),
        (lambda: annotators.exclude_annotators(FLAT, annotators.screen(FLAT, ["sd < 5"]), rule="sd < 6"), "not among"),
        (lambda: annotators.ticks(FLAT, tick_marks=(0.0, 1.0), within=1.0), "twice"),
    ],
)
def test_rules_and_marks_that_make_no_sense_are_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


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
    assert set(annotators.exclude_annotators(ratings, screened)["annotator"]) == {"wide"}
    assert set(annotators.exclude_annotators(ratings, screened, rule="sd < 5")["annotator"]) == {"wide", "once"}


def test_somebody_goes_in_one_language_pair_and_stays_in_another():
    one = pd.concat([scored("a", [5, 5, 6]), scored("b", [0, 50, 99])])
    ratings = pd.concat([one, one.assign(tgt_lang="jpn", score=one["score"].to_numpy()[::-1])], ignore_index=True)
    left = annotators.exclude_annotators(ratings, annotators.screen(ratings, ["sd < 5"]))
    assert left.groupby("tgt_lang")["annotator"].unique().map(list).to_dict() == {"deu": ["b"], "jpn": ["a"]}


@given(st.integers(0, 10_000))
def test_agreement_that_moves_is_krippendorffs_alpha(seed):
    ratings = crowd(np.random.default_rng(seed), people=4, items=20)
    fewer = ratings[ratings["annotator"] != "p3"]
    moved = annotators.agreement_change(ratings, fewer, resamples=0).iloc[0]
    for table, found in ((ratings, moved["alpha_before"]), (fewer, moved["alpha_after"])):
        oracle = agreement.coefficients(
            agreement.score_matrix(table), measures=[("krippendorff_alpha", "interval")], resamples=0
        )
        assert found == pytest.approx(oracle["estimate"].iloc[0], abs=1e-9)
    assert (moved["annotators_before"], moved["annotators_after"]) == (4, 3)
    assert (moved["judgements_before"], moved["judgements_after"]) == (len(ratings), len(fewer))


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


def test_without_overlap_agreement_is_missing():
    ratings = pd.concat([scored("a", [1, 2]), scored("b", [3, 4], segments=[7, 8])])
    moved = annotators.agreement_change(ratings, ratings).iloc[0]
    assert moved[["alpha_before", "alpha_after", "random_low", "random_high"]].isna().all()


def test_a_firm_decision_has_a_share_of_one_or_none_and_a_missing_measure_has_no_share():
    ratings = pd.concat([scored("flat", [50, 51] * 20), scored("wide", [0, 30, 60, 90] * 10)])
    found = annotators.stability(ratings, ["sd < 5", "qc_p >= 0.05"], resamples=50).set_index(["rule", "annotator"])
    assert found.loc["sd < 5", "share"].to_dict() == {"flat": 1.0, "wide": 0.0}
    missing = found.loc["qc_p >= 0.05"]
    assert missing[["share", "value", "mean"]].isna().all(axis=None)
    assert missing["unknown"].all()
    assert not missing["flagged"].any()


def test_the_share_is_the_bootstraps_probability():
    scores = np.random.default_rng(3).normal(50, 10, 400)
    threshold = np.round(scores.mean() + 0.5, 3)
    found = annotators.stability(scored("a", scores), [f"mean < {threshold}"], resamples=4000).iloc[0]
    expected = stats.norm.cdf((threshold - scores.mean()) / (scores.std() / 20))
    assert found["share"] == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(4000))
    assert found["mean"] == pytest.approx(scores.mean(), abs=4 * scores.std() / 20 / np.sqrt(4000))


@pytest.mark.parametrize("name", MEASURES)
def test_a_stack_of_resamples_is_measured_like_its_members(name):
    rng = np.random.default_rng(7)
    stack = rng.integers(0, 30, (6, 12, 2)).astype(float)
    statistic = MEASURES[name].statistic
    np.testing.assert_allclose(statistic(stack), [statistic(member[None])[0] for member in stack])
