"""What lessons say and compute: their texts, their right functions against other libraries, their hints."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from evalkit import campaign, data, lessons
from evalkit.data import importing, simulate
from evalkit.human import mqm, planning, ranking
from evalkit.human import preferences as human
from evalkit.lessons import (
    context_matters,
    error_spans,
    many_comparisons,
    metric_correlations,
    model_judges,
    preferences,
)
from evalkit.lessons import planning as lesson_planning
from evalkit.stats import inference

SEEDS = st.integers(0, 2**32 - 1)


def test_scores_of_marked_errors_are_those_of_adding_up_printed_weights():
    for (errors,) in lessons.exercises("error_spans")["mqm_score"].trials():
        weights = {"minor": 1, "major": 5}
        special = {("fluency/punctuation", "minor"): 0.1} | {("non-translation", name): 25 for name in weights}
        by_hand = -sum(special.get(error, weights[error[1]]) for error in errors)
        assert error_spans.mqm_score(errors) == pytest.approx(by_hand)


@given(SEEDS)
def test_contradictions_are_those_that_counting_pairs_gives(seed):
    rng = np.random.default_rng(seed)
    errors, score = pd.Series(rng.integers(0, 5, 7)), pd.Series(-rng.integers(0, 5, 7))
    counted = sum(
        (errors[i] < errors[j] and score[i] < score[j]) or (errors[i] > errors[j] and score[i] > score[j])
        for i, j in itertools.combinations(range(7), 2)
    )
    assert error_spans.contradictions(errors, score) == counted


@pytest.mark.parametrize("seed", range(4))
def test_alpha_of_characters_is_that_of_krippendorffs_own_package_and_of_the_second_table(seed):
    import krippendorff

    rng = np.random.default_rng(seed)
    one, other = rng.random((2, 60)) < 0.3
    found = error_spans.character_alpha(one, other)
    theirs = krippendorff.alpha([one.astype(int), other.astype(int)], level_of_measurement="nominal")
    assert found == pytest.approx(theirs)
    m, size = one.sum() + other.sum(), 120
    assert found == pytest.approx(1 - np.mean(one != other) / (2 * m * (size - m) / (size * (size - 1))))
    key = {"src_lang": "zho", "tgt_lang": "eng", "system": "A", "doc": "d", "segment": "1"}
    ratings = pd.DataFrame([key | {"annotator": name} for name in "ab"])
    kind = {"side": "target", "severity": "minor", "error_type": "other"}
    rows = [
        key | kind | {"annotator": name, "start": k + 0.0, "end": k + 1.0}
        for name, marks in (("a", one), ("b", other))
        for k in np.flatnonzero(marks)
    ]
    texts = pd.DataFrame([key | {"hypothesis": "x" * 60}])
    table = mqm.span_agreement(
        pd.concat([ratings, ratings.assign(segment="2")]),
        pd.DataFrame(rows),
        pd.concat([texts, texts.assign(segment="2", hypothesis="")]),
    )
    assert table["characters"].iloc[0] == pytest.approx(found)


def test_the_cost_of_a_major_error_is_that_of_the_package():
    ratings, spans = simulate.stand_in("wmt24-esa"), simulate.stand_in("wmt24-esa-spans")
    ratings, spans = (table.query("mark == '' and tgt_lang == 'jpn'") for table in (ratings, spans))
    cost = mqm.severity_costs(ratings, spans, resamples=0).set_index("severity")["alone"]
    assert error_spans.cost_of_a_major(error_spans.with_counts(ratings, spans)) == pytest.approx(cost["major"])


def test_averages_of_systems_are_those_of_the_package():
    ratings, spans = simulate.stand_in("wmt23-mqm"), simulate.stand_in("wmt23-mqm-spans")
    judged, marks = (table[table["tgt_lang"] == "deu"] for table in (ratings, spans))
    marks = marks.assign(weight=mqm.weights(marks, error_spans.WMT))
    table = mqm.aggregate(mqm.segment_scores(judged, marks, error_spans.WMT), by=["system"]).set_index("system")["mqm"]
    pd.testing.assert_series_equal(error_spans.system_means(judged, marks), table, check_names=False)


@given(SEEDS)
def test_balanced_places_make_the_pull_of_a_place_vanish(seed):
    shown = preferences.screens(4000, pull=0.3, seed=seed)
    assert preferences.fair_share(shown, "A") == pytest.approx(0.5, abs=0.06)
    assert preferences.fair_share(shown, "A") + preferences.fair_share(shown, "B") == pytest.approx(1)
    assert preferences.by_place(shown, "A")["all"] > 0.53


def test_duels_are_those_of_one_pair_after_another():
    shared = mqm.crossed(simulate.stand_in("wmt23-mqm").query("tgt_lang == 'eng'"))
    scores = shared.pivot(index=["annotator", "doc", "segment"], columns="system", values="score")
    won, tied = preferences.duels(shared)
    for first, second in itertools.islice(itertools.permutations(scores, 2), 40):
        wins, ties, losses = preferences.duel(scores, first, second)
        assert (won.loc[first, second], tied.loc[first, second], won.loc[second, first]) == (wins, ties, losses)


def test_repeating_the_rule_settles_on_the_packages_strengths():
    for wins, strength in lessons.exercises("preferences")["update"].trials():
        for _ in range(500):
            strength = preferences.update(wins, strength)
        assert strength == pytest.approx(human.fit_cells(human.of_wins(pd.DataFrame(wins))).odds, rel=1e-6)


@pytest.mark.parametrize("test", ["wilcoxon", "mann-whitney"])
def test_clusters_are_those_of_the_package(test):
    ratings = simulate.stand_in("wmt24-esa").query("item_type == 'system'")
    rng = np.random.default_rng(3)
    parts = [
        ratings.assign(system=name, score=(ratings["score"] - cost + rng.normal(0, 9, len(ratings))).clip(0, 100))
        for name, cost in (("A", 0), ("B", 1), ("C", 9), ("D", 9.5))
    ]
    options = {"test": test, "segment": ("doc", "segment")}
    drawn = pd.concat(parts).drop_duplicates(["system", "doc", "segment"])
    table, tests = ranking.significance_clusters(drawn, **options), ranking.pairwise_tests(drawn, **options)
    place = {name: k for k, name in enumerate(table["system"])}
    beats = np.zeros((4, 4), bool)
    for row in tests[tests["significant"]].itertuples():
        beats[place[row.better], place[row.worse]] = True
    assert preferences.clusters(beats) == table["cluster"].max() > 1


def test_a_league_keeps_the_meetings_of_neighbours_only():
    kept = preferences.neighbours(preferences.ROUND, list("EDCBA"), reach=1)
    met = kept + kept.T
    assert {frozenset((i, j)) for i in met for j in met if met.loc[i, j]} == set(
        map(frozenset, ["ED", "DC", "CB", "BA"])
    )


@pytest.mark.parametrize("seed", range(4))
def test_corrections_are_those_of_statsmodels(seed):
    p = np.random.default_rng(seed).beta(0.5, 4, 12).round(4)
    assert many_comparisons.holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    found = multipletests(p, alpha=0.05, method="fdr_bh")[0]
    assert many_comparisons.benjamini_hochberg(p, 0.05).tolist() == found.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_tests_of_two_systems_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    scores = pd.DataFrame({"B": rng.normal(0, 3, 70), "A": rng.normal(1, 3, 70)})
    [row] = many_comparisons.compare(scores).itertuples()
    assert (row.first, row.second) == ("A", "B")
    assert row.difference == pytest.approx(scores["A"].mean() - scores["B"].mean())
    options = {"correction": True, "method": "asymptotic"}
    assert row.p == pytest.approx(stats.wilcoxon(scores["A"], scores["B"], **options).pvalue, rel=1e-6)
    [row] = many_comparisons.compare(scores, test="t").itertuples()
    assert row.p == pytest.approx(stats.ttest_rel(scores["A"], scores["B"]).pvalue, rel=1e-6)


def test_in_a_world_of_equals_one_test_in_twenty_raises_an_alarm():
    rng = np.random.default_rng(5)
    scores = pd.DataFrame(np.round(rng.normal(0, 4, (120, 6)) + rng.normal(0, 5, (120, 1))), columns=[*"ABCDEF"])
    p = many_comparisons.worlds(scores, number=60, seed=7)
    assert p.shape == (60, 15)
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.02)
    tried = many_comparisons.variants(scores, number=6, seed=7)
    assert tried.shape == (90, 12)
    assert many_comparisons.hacked(tried) > 2 * (tried.iloc[:, 0] < 0.05).mean()


def test_small_campaigns_exaggerate_and_large_ones_hardly():
    rng = np.random.default_rng(6)
    scores = pd.DataFrame(rng.normal([0, 0.7, 1.4], 4, (1200, 3)), columns=[*"ABC"])
    small, large = (many_comparisons.redrawn(scores, segments=n, number=20, seed=7) for n in (50, 600))
    assert many_comparisons.exaggeration(small) > 1.4
    assert many_comparisons.exaggeration(large) == pytest.approx(1, abs=0.15)
    assert many_comparisons.held_up(small) < many_comparisons.held_up(large)


def test_persons_beaten_are_those_of_a_campaigns_report(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "config" / "salt"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(8)
    true = {(system, str(segment)): rng.normal(60, 12) for system in "ABCD" for segment in range(20)}
    rows = [
        ("eng", "deu", *item, name, round(value + rng.normal(0, spread)), round(value + rng.normal(0, 9), 3))
        for name, spread in zip("pqrs", (5, 9, 25, 30))
        for item, value in true.items()
    ]
    frame = pd.DataFrame(rows, columns=["src_lang", "tgt_lang", "system", "segment", "annotator", "score", "COMET"])
    frame["COMET"] = frame.groupby(["system", "segment"])["COMET"].transform("first")
    frame = frame.assign(doc="d", item_type="system", score=frame["score"].clip(0, 100))
    frame.to_csv("my.csv", index=False)
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, metric_columns=["COMET"])
    ratings, _ = data.open_campaign("my.parquet")
    found = campaign.compare_judges(campaign.from_ratings(ratings), data.open_judges("my.parquet"), resamples=0)
    wide = frame.pivot(index=["system", "segment"], columns="annotator", values="score")
    judge = frame.groupby(["system", "segment"])["COMET"].first().reindex(wide.index)
    assert model_judges.beaten(wide, judge) == found.beaten["COMET"]
    assert 0 < found.beaten["COMET"] < 4


@pytest.mark.parametrize("seed", range(3))
def test_favour_is_what_is_added_to_own_items_and_no_more(seed):
    rng = np.random.default_rng(seed)
    people = pd.Series(rng.normal(0, 1, 4000))
    own = pd.Series(rng.random(4000) < 0.2)
    better = people + 1.0 * own
    assert model_judges.favour(3 * better + 7, better, own) == pytest.approx(0), "a good system is no favour"
    judge = people + 0.5 * own
    apart = (people[own].mean() - people[~own].mean()) * (1 / judge.std() - 1 / people.std())
    assert model_judges.favour(judge, people, own) == pytest.approx(0.5 / judge.std() + apart)


def test_a_model_that_does_not_look_contradicts_itself_and_one_that_sees_does_not():
    assert model_judges.consistent(model_judges.asked_twice(50, pull=1.0, tell=1.0)) == 0
    assert model_judges.consistent(model_judges.asked_twice(50, pull=0.0, tell=1.0)) == 1
    assert model_judges.consistent(model_judges.asked_twice(50, pull=0.0, tell=0.0)) == 1, "always a tie"


@pytest.mark.parametrize(
    ("lesson", "name", "answer", "context", "told"),
    [
        ("preferences", "circle", {"B", "C", "F"}, (preferences.ROUND,), "There is no 'F' here"),
        ("preferences", "won_share", lambda choices, name: print(preferences.won_share(choices, name)), (), "'return'"),
        ("many_comparisons", "any_false", lambda tests, level: 100 * (1 - (1 - level) ** tests), (), "percentage"),
        ("error_spans", "marked", lambda spans, length: list(spans), (), "asked for"),
    ],
)
def test_printing_percentages_and_unknown_names_are_told(lesson, name, answer, context, told):
    assert told in lessons.exercises(lesson)[name].verdict(answer, *context).hint


@pytest.mark.parametrize("seed", range(3))
def test_flipping_documents_is_the_permutation_test_of_the_package(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"document": rng.choice([*"abcdefg"], 40), "difference": rng.normal(1, 3, 40)})
    sums = table.groupby("document")["difference"].sum().to_numpy()
    every = np.where(inference.Swaps(len(sums)).numbered(1, 2 ** len(sums)), -1, 1)  # all but the one given
    test = inference.permutation_test(lambda m: abs(np.where(m, -1, 1) @ sums), inference.Swaps(len(sums)), seed=1)
    assert test.exact
    assert context_matters.p_by_flipping(table, every) == pytest.approx(float(test.p))


def test_copying_every_pair_changes_no_test_that_lets_documents_count():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"document": np.repeat([*"abcdef"], 3), "difference": rng.normal(2, 4, 18)})
    ten = pd.concat([table] * 10)
    signs = rng.choice([-1, 1], (300, 6))
    for test in (context_matters.p_by_document, lambda t: context_matters.p_by_flipping(t, signs)):
        assert test(ten) == pytest.approx(test(table))
    plain = [stats.ttest_1samp(t["difference"], 0).pvalue for t in (table, ten)]
    assert plain[1] < plain[0] / 10, "the plain test is fooled"


@pytest.mark.parametrize("judgements", [1, 3])
def test_the_variance_of_a_document_is_that_behind_the_power_of_the_package(judgements):
    v = {"document": 3.0, "item": 70.0, "annotator": 90.0, "block": 11.0, "residual": 150.0}
    segments, block, delta = 160, 8, 2.0
    documents = segments // block
    error = lesson_planning.standard_error(v, segments, judgements, block)
    critical = stats.t.isf(0.025, documents - 1)
    expected = stats.nct.sf(critical, documents - 1, delta / error) + stats.nct.cdf(
        -critical, documents - 1, delta / error
    )
    found = planning.power(v, delta=delta, segments=segments, judgements=judgements, block=block)
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_the_simulation_of_the_lesson_has_the_variance_of_its_formula():
    v = lesson_planning.EXAMPLE
    drawn = lesson_planning.one_campaign(v, 5.0, 40_000, 10, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(5, abs=5 * np.sqrt(lesson_planning.document_variance(v) / 40_000))
    assert drawn.var() == pytest.approx(lesson_planning.document_variance(v), rel=5 * np.sqrt(2 / 40_000))


@pytest.mark.parametrize("seed", range(4))
def test_toy_counts_and_accuracy_are_what_counting_by_hand_gives(seed):
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 4, (2, 8)).astype(float)
    found = dict.fromkeys(("concordant", "discordant", "metric_ties", "human_ties", "both_tie"), 0)
    right, kept, points = 0, 0, 0
    for i in range(8):
        for j in range(i):
            h, m = human[i] - human[j], metric[i] - metric[j]
            kind = "both_tie" if h == m == 0 else "human_ties" if h == 0 else "metric_ties" if m == 0 else ""
            found[kind or ("concordant" if h * m > 0 else "discordant")] += 1
            right += (h == 0 and abs(m) <= 1) or (h * m > 0 and abs(m) > 1)
            kept += abs(25 * h) >= 25
            points += (1 if h * m > 0 else -1) if abs(25 * h) >= 25 else 0
    assert metric_correlations.counted(human, metric) == found
    assert metric_correlations.accuracy(human, metric, 1.0) == pytest.approx(right / 28)
    assert metric_correlations.darr_tau(25 * human, metric) == pytest.approx(points / kept)
