"""MQM: schemes, scores, rules of annotation, distributions, unitised alpha and the audit of printed tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import simulate
from evalkit.data.schemas import UNSTATED
from evalkit.human import mqm
from evalkit.papers.sai2023 import printed as prints
from evalkit.papers.sai2023 import release
from tests.makers import laid_out

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
    assert scores("release", most=5) == [-75.0, 24.0, 9.5, 25.0]
    assert np.isnan(scores("release", discard=("source error",))[1])
    assert scores("paper")[0] == 0.0
    assert np.isnan(scores("paper")[1])


def test_punctuation_and_non_translations_weigh_what_the_wmt_scheme_says():
    kinds = ["fluency/punctuation", "other", "non-translation", "source issue", "fluency/punctuation"]
    errors = marks(*[("1", kind, "minor" if n < 2 else "major") for n, kind in enumerate(kinds)])
    assert mqm.weights(errors, "Freitag et al. 2021 (WMT)").tolist() == [0.1, 1.0, 25.0, 0.0, 5.0]


LOW, ODD = marks(("1", "other", "low")), marks(("1", "other", "awful"))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: mqm.segment_scores(judgements("1"), ODD, "release"), "guj, s, d, 1, a: .*awful"),
        (lambda: mqm.weights(LOW, "mine"), "mine"),
        (lambda: mqm.segment_scores(judgements("2"), LOW, "release"), "1, a: an error"),
        (lambda: mqm.segment_scores(judgements("1", "1"), LOW, "release"), "same names"),
        (lambda: mqm.unitised_alpha(units_of([[(3, 4)], [(3, 4)], [(9, 2)]]), length=40, annotators=2), "3 annotators"),
        (lambda: mqm.crossed(judgements("1", "2").assign(annotator=["a", "b"])), "No item"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_means_leave_out_discarded_judgements_and_penalties_are_per_character():
    errors = marks(("1", "source error", "low"), ("2", "other", "high"))
    scored = mqm.segment_scores(judgements("1", "2"), errors, "paper")
    (row,) = mqm.aggregate(scored, by=["system"], texts=pd.Series(["x" * 50, "y" * 200])).itertuples()
    assert (row.segments, row.mqm, row.per_1000) == (1, 21.0, 1000 * 4 / 200)


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


# Table 9


def test_denominators_hold_the_true_number_and_mean_what_they_say():
    rng = np.random.default_rng(5)
    n, scores = 37, rng.integers(0, 50, (4, 37)) / 2
    means = [f"{mean:.3f}" for mean in scores.mean(axis=1)]
    printed = pd.DataFrame({"language": list("abcd"), "system": "NLLB", "mean_score": means})
    found = release.denominators(printed)["n"].loc[lambda n: n <= 60].tolist()
    assert n in found
    assert len(found) < 20
    for k in set(range(1, 61)) - set(found):
        grid = np.arange(50 * k + 1) / 2 / k
        assert any(np.abs(grid - float(m)).min() > 0.0005 for m in printed["mean_score"])


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


def test_raters_agreement_is_measured_on_items_that_all_judged():
    made = simulate.stand_in("wmt23-mqm"), simulate.stand_in("wmt23-mqm-spans"), simulate.stand_in("wmt23-outputs")
    ratings, spans, texts = (table[table["src_lang"] == "zho"] for table in made)
    assert mqm.crossed(ratings).groupby(["system", "segment"])["annotator"].nunique().eq(8).all()
    found = mqm.span_agreement(ratings, spans, texts)
    assert found["low"].lt(found["alpha"]).all()
    assert found["alpha"].lt(found["high"]).all()
    assert found.set_index("compared").at["any error", "alpha"] > 0.2  # they mark the same errors with probability 0.6


# Distributions


def test_shares_sum_to_one_and_counts_to_all_errors():
    gujarati = marks(("1", "other", "low"), ("1", "fluency/grammar", "high"), ("2", "other", "low"))
    spans = pd.concat([gujarati, marks(("1", "other", "very high"), tgt_lang="hin")])
    types, levels = mqm.type_counts(spans), mqm.severity_shares(spans)
    assert types["errors"].sum() == levels["errors"].sum() == len(spans)
    assert np.allclose(types.groupby("tgt_lang")["share"].sum(), 1)
    assert np.allclose(levels.groupby("tgt_lang")["share"].sum(), 1)
    (system,) = mqm.errors_per_system(judgements("1", "2", "3"), gujarati).itertuples()
    assert (system.errors, system.segments) == (3, 3)


def test_misprints_are_found_and_a_mended_table_has_none_of_them():
    printed = {f"table{n}": data.published(f"sai2023_table{n}") for n in (1, 2, 3, 4, 9, 10)}
    key = ("table1", "COMET-QE-DA, average pearson")
    first = printed["table1"]
    wrong = first["metric"].eq("COMET-QE-DA") & first["language"].eq("average")
    mended = printed | {"table1": first.assign(pearson=first["pearson"].mask(wrong, "0.484"))}
    before, after = (set(zip(found["table"], found["cell"])) for found in map(prints.misprints, (printed, mended)))
    assert {key, ("table2", "COMET-QE-DA, gu, kendall"), ("table9", "mBART, average")} <= before
    assert before - after == {key}
