"""Which system is better: which scores are chosen, widths and tests, people's translations, comparisons, criteria."""

import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import linalg

from evalkit import DataError, campaign, data
from evalkit.campaign.agreement import measure_agreement
from evalkit.human.ranking import lines, rules
from evalkit.reports import cli
from evalkit.stats import widths
from tests import widths_by_hand as by_hand
from tests.makers import as_judgements, comparisons, finished, ratings
from tests.pages import opened, page, plain, ranked, telling

#: Ends that cut nothing off.
SCALE = (-1000.0, 2000.0)
TRUTH = np.array([82.0, 79.0, 66.0, 50.0])
#: Who judged how many outputs of which system: annotators × systems.
PARTLY = [[42, 8, 8, 0], [46, 11, 5, 0], [0, 38, 11, 19], [2, 25, 8, 12], [0, 6, 34, 27], [0, 2, 24, 32]]
CROSSED = [[15] * 4] * 6
NESTED = np.repeat(np.eye(4, dtype=int) * 18, 5, axis=0)
TWO_EACH = np.repeat(np.eye(4, dtype=int) * 45, 2, axis=0)
ONE_EACH = np.eye(4, dtype=int) * 90
DESIGNS = {"crossed": CROSSED, "partly nested": PARTLY, "nested": NESTED}


def simulated(work, seed, *, strict=6.0, taste=3.0, calibration=0):
    """One campaign of 15 documents of 6 segments: each output is judged by one annotator; who, is drawn by ``work``."""
    rng, work = np.random.default_rng(seed), np.asarray(work)
    people, systems = work.shape
    s = np.repeat(np.arange(systems), work.sum(axis=0))
    a = np.concatenate([rng.permutation(np.repeat(np.arange(people), column)) for column in work.T])
    g = np.tile(np.arange(work.sum(axis=0)[0]), systems)
    if calibration:
        s, a = np.r_[s, np.full(calibration * people, systems)], np.r_[a, np.repeat(np.arange(people), calibration)]
        g = np.r_[g, np.tile(1000 + np.arange(calibration), people)]
    d = g // 6
    level, offset, liking = (
        np.r_[TRUTH, 70],
        strict * rng.standard_normal(people),
        taste * rng.standard_normal((people, 5)),
    )
    score = level[s] + offset[a] + liking[a, s] + 4 * rng.standard_normal(2000)[g] + 10 * rng.standard_normal(len(s))
    score += 6 * rng.standard_normal(400)[d] + 3 * rng.standard_normal((400, 5))[d, s]
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "doc": [f"d{n}" for n in d],
            "segment": [str(n) for n in g],
            "system": [f"S{n + 1}" for n in s],
            "annotator": [f"p{n}" for n in a],
            "score": score,
            "item_type": np.where(s == systems, "calibration", "system"),
        }
    )
    return finished(frame, SCALE)


def trial(mine, score="auto"):
    """First system and, for the six differences, whether an interval misses the truth; people and documents drawn."""
    method = campaign.choose_method(mine, score=score, unit="annotators and documents")
    table = method.table(mine)
    scores, half = table.totals(), table.influences.half_widths()
    if score == "z":
        return scores.argmax(), []
    pairs = np.triu_indices(4, 1)
    return scores.argmax(), np.abs((scores[:, None] - scores - (TRUTH[:, None] - TRUTH))[pairs]) > half[pairs]


@pytest.mark.parametrize(
    "runs", [pytest.param(25, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.nightly)]
)
def test_the_order_and_the_widths_are_right_where_z_turns_the_order(runs):
    wrong, missed, by_z = {}, {}, {}
    for name, work in DESIGNS.items():
        drawn = [campaign.from_ratings(simulated(work, seed)) for seed in range(runs)]
        found = [trial(mine) for mine in drawn]
        wrong[name] = np.mean([first != 0 for first, _ in found])
        missed[name] = np.mean([miss for _, miss in found])
        by_z[name] = np.mean([trial(mine, "z")[0] != 0 for mine in drawn])
    noise = 3 * np.sqrt(0.05 * 0.95 / runs)  # differences of one campaign may all miss at once
    assert max(missed.values()) < 0.05 + noise, missed
    assert wrong["crossed"] < wrong["partly nested"] < 0.4, wrong
    assert by_z["partly nested"] > 0.9, by_z
    assert by_z["nested"] > 0.5, by_z
    assert by_z["crossed"] == pytest.approx(wrong["crossed"], abs=0.1), "where all judged all, nothing is at stake"


@pytest.mark.parametrize(
    ("work", "column", "e"),
    [
        (CROSSED, "score", 1.0),
        (PARTLY, "adjusted", 0.339),
        (NESTED, "score", 0.0),
        (np.array(CROSSED) + np.eye(6, 4, dtype=int) * 4, "score", None),
        ([[60, 30, 30, 30], [30, 60, 60, 60]] * 3, "adjusted", None),
        ([[88, 2, 2, 2], [2, 88, 2, 2], [2, 2, 88, 2], [2, 2, 2, 88]] * 3, "adjusted", None),
    ],
)
def test_the_design_decides_and_z_is_never_chosen(work, column, e):
    method = campaign.choose_method(campaign.from_ratings(simulated(_filled(work), 1)))
    assert method.column == column
    if e is not None:
        assert round(method.kept, 3) == e


def _filled(work):
    """Let the last annotator judge what some systems lack."""
    work = np.array(work)
    work[-1] += work.sum(axis=0).max() - work.sum(axis=0)
    return work


@pytest.mark.parametrize(
    ("work", "calibration", "ordered"),
    [(NESTED, 0, True), (TWO_EACH, 0, False), (ONE_EACH, 0, False), (TWO_EACH, 12, True)],
)
def test_there_is_no_order_where_people_and_systems_cannot_be_told_apart(work, calibration, ordered):
    mine = campaign.from_ratings(simulated(work, 3, calibration=calibration))
    for score in ("auto", "raw", "z"):
        found = campaign.rank_systems(mine, score=score, resamples=50)
        assert bool(found) == ordered
        if not ordered:
            assert "Let every annotator judge all systems" in found.reason
    assert bool(campaign.normalize_scores(mine, resamples=20)) == ordered
    assert bool(campaign.screen_annotators(mine).first) == ordered


@settings(max_examples=50)
@given(arrays.arrays(int, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=st.integers(0, 9)), st.randoms())
def test_laws_of_the_efficiency_of_a_design(counts, random):
    counts = (counts + np.eye(*counts.shape, dtype=int)).astype(float)
    counts[0] += 1.0
    counts[:, 0] += 1.0
    found = widths.efficiency(counts)
    rows, columns = (random.sample(range(n), n) for n in counts.shape)
    np.testing.assert_allclose(widths.efficiency(counts[rows][:, columns]), found, atol=1e-9)
    np.testing.assert_allclose(widths.efficiency(counts * 3), found, atol=1e-9)
    np.testing.assert_allclose(widths.efficiency(np.outer(counts.sum(axis=1), counts.sum(axis=0))), 1)
    kept = np.diag(counts.sum(axis=0)) - counts.T @ (counts / counts.sum(axis=1, keepdims=True))
    expected = linalg.eigvalsh(kept, np.diag(counts.sum(axis=0)))[1:]  # information that people's levels leave
    np.testing.assert_allclose(found, np.clip(expected, 0, 1), atol=1e-9)
    assert widths.efficiency(linalg.block_diag([[3.0]], counts))[0] == 0


def test_the_width_is_that_of_two_way_clustering_and_its_factors():
    """statsmodels clusters, numpy's matrices correct for few units: unequal shares, several judgements a segment."""
    rng = np.random.default_rng(8)
    frame = simulated(CROSSED, 2)
    frame = finished(frame[rng.random(len(frame)) < 0.7].reset_index(drop=True), SCALE)
    mine = campaign.from_ratings(frame)
    method = campaign.choose_method(mine, score="raw", unit="annotators and documents")
    variance, freedom = method.table(mine).influences.spread()
    dummies = pd.get_dummies(frame["system"]).astype(float)
    fit = sm.OLS(frame["score"], dummies)
    parts = {}
    both = frame["annotator"] + frame["doc"]
    for name, unit in (("a", frame["annotator"]), ("d", frame["doc"]), ("ad", both)):
        found = fit.fit(cov_type="cluster", cov_kwds={"groups": pd.factorize(unit)[0], "use_correction": False})
        parts[name] = found.cov_params().to_numpy()
    for i, j in ((0, 1), (2, 3)):
        contrast = np.eye(4)[i] - np.eye(4)[j]
        v = {name: contrast @ part @ contrast for name, part in parts.items()}
        few = {}
        for name, column in (("a", "annotator"), ("d", "doc")):
            counts = pd.crosstab(frame[column], frame["system"]).to_numpy(float)[:, [i, j]]
            few[name] = by_hand.few(counts / counts.sum(axis=0))
        one, two = sorted(((few[name][0] * v[name], few[name][1]) for name in "ad"), reverse=True)
        whole = max(one[0] + two[0] - v["ad"], one[0])
        assert variance[i, j] == pytest.approx(whole)
        assert freedom[i, j] == pytest.approx(whole**2 / (one[0] ** 2 / one[1] + (whole - one[0]) ** 2 / two[1]))


def test_strictness_is_the_best_linear_prediction_and_its_weights_are_its_own():
    frame = simulated(PARTLY, 4)
    mine = campaign.from_ratings(frame)
    strict, people = mine.strict, sorted(frame["annotator"].unique())
    codes = [frame.groupby(name).ngroup().to_numpy() for name in (["doc", "segment"], "annotator", "system")]
    fit = campaign.opening.components.fit_mixed(frame["score"].to_numpy(float), *codes, gain=False)
    parts = pd.Series(np.sqrt(fit.state[:3]), ["noise", "segment", "bias"])
    X, Z = (pd.get_dummies(frame[name]).astype(float).to_numpy() for name in ("system", "annotator"))
    G = pd.get_dummies(frame["doc"] + frame["segment"]).astype(float).to_numpy()
    V = parts["noise"] ** 2 * np.eye(len(frame)) + parts["bias"] ** 2 * Z @ Z.T + parts["segment"] ** 2 * G @ G.T
    inverse, y = np.linalg.inv(V), frame["score"].to_numpy()
    beta = np.linalg.solve(X.T @ inverse @ X, X.T @ inverse @ y)
    bias = parts["bias"] ** 2 * Z.T @ inverse @ (y - X @ beta)
    np.testing.assert_allclose(strict.bias, bias, atol=0.02)
    np.testing.assert_allclose(strict.weights(np.eye(len(people))).T @ y, strict.bias, atol=1e-6)
    adjusted = campaign.rank_systems(mine, resamples=20).table.set_index("system")["score"].sort_index()
    np.testing.assert_allclose(adjusted, beta, atol=0.02)


def test_where_all_judged_all_alike_adjusted_differences_are_raw_ones():
    frame = simulated(CROSSED, 5)
    raw, adjusted = (scores(frame, score) for score in ("raw", "adjusted"))
    np.testing.assert_allclose(adjusted - adjusted.mean(), raw - raw.mean(), atol=1e-9)


def test_constants_of_annotators_are_taken_out_the_better_the_larger_they_are():
    """Least squares ignores them exactly; the mixed model, which shrinks, comes to least squares as they grow."""
    frame, constants = simulated(PARTLY, 6), 300.0 * np.array([1, -2, 0.5, 3, -1, -1.5])
    moved = finished(frame.assign(score=frame["score"] + constants[frame["annotator"].str[1:].astype(int)]), SCALE)
    X = pd.get_dummies(frame[["system", "annotator"]]).astype(float)
    exact = (sm.OLS(table["score"], X).fit().params.iloc[:4].to_numpy() for table in (frame, moved))
    (one, other), now, raw = ((v - v.mean() for v in exact), scores(moved, "auto"), scores(moved, "raw"))
    np.testing.assert_allclose(one, other, atol=1e-6)
    assert np.abs(raw - raw.mean() - one).max() > 100
    assert np.abs(now - now.mean() - scores(frame, "auto") + scores(frame, "auto").mean()).max() < 2.5


def scores(frame, score):
    """Scores of the systems by name."""
    found = campaign.rank_systems(campaign.from_ratings(frame), score=score, resamples=20)
    return found.table.set_index("system")["score"].sort_index().to_numpy()


def odd_file():
    """Several annotators a segment, second showings, degraded and calibration items, a reference, a repeated one."""
    rng = np.random.default_rng(9)
    rows = [("system", s, g, a) for s in "ABC" for g in range(24) for a in "xyz" if rng.random() < 0.6 or a == "x"]
    rows += [("repeat", s, g, "x") for s in "AB" for g in range(0, 24, 5)]
    rows += [("degraded", s, g, "y") for s in "ABC" for g in range(3)] + [("calibration", "cal", 90, a) for a in "xyz"]
    rows += [("reference", "C", g, "y") for g in range(24)]  # under a system's name: checks annotators
    rows += [("reference", "human", g, "z") for g in range(12)] + [("repeat", "checked", g, "x") for g in range(4)]
    frame = pd.DataFrame(rows, columns=["item_type", "system", "segment", "annotator"])
    score = rng.integers(30, 100, len(frame)) - 15 * frame["item_type"].eq("degraded")
    score = score.where(frame["item_type"].ne("reference"), 100)
    return frame.assign(doc="d" + (frame["segment"] // 4).astype(str), score=score, src_lang="eng", tgt_lang="deu")


def test_one_system_has_one_mean_from_the_receipt_to_the_exported_tables(tmp_path):
    odd_file().to_csv(tmp_path / "c.csv", index=False)
    out = tmp_path / "c.parquet"
    options = ["--keep-names", "--scale", "0:100", "--out", str(out)]
    assert cli.main(["import", str(tmp_path / "c.csv"), *options]) == 0
    receipt = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    rows = pd.read_parquet(out)
    rows = rows[rows["item_type"].isin(["system", "repeat"]) | rows["system"].eq("human")].query("system != 'checked'")
    mean = rows.groupby(["system", "doc", "segment"])["score"].mean().groupby("system").mean()
    assert mean.round(2).ne(rows.groupby("system")["score"].mean().round(2)).any(), "the two means are not the same"
    size, people = rows["system"].value_counts(), rows["annotator"].value_counts()
    plain = rows.groupby("system")["score"].mean()
    assert {row["system"]: row["mean"] for row in receipt["systems"]} == pytest.approx(plain.to_dict(), abs=1e-5)
    once = {row["system"]: row["mean of segments"] for row in receipt["systems"]}
    assert once == pytest.approx(mean.to_dict(), abs=1e-5)
    assert {row["system"]: row["judgements"] for row in receipt["systems"]} == size.to_dict()
    assert {row["annotator"]: row["judgements"] for row in receipt["people"]} == people.to_dict()
    assert sum(receipt["besides"].values()) + len(rows) == receipt["rows_kept"]
    found = campaign.analyse(campaign.from_ratings(data.open_campaign(out)[0]), resamples=50)
    systems = found.collection.systems.set_index("system")
    assert systems["mean"].to_dict() == pytest.approx(mean.drop("human").to_dict())
    assert systems["judgements"].to_dict() == size.drop("human").to_dict()
    assert found.ranking.means == pytest.approx(mean.drop("human").to_dict())
    shown = found.ranking.systems.set_index("system")["mean"]
    assert shown.to_dict() == pytest.approx(mean.to_dict())
    annotators = found.collection.annotators.set_index("annotator")
    assert annotators["judgements"].to_dict() == people.to_dict()
    assert annotators["mean"].to_dict() == pytest.approx(rows.groupby("annotator")["score"].mean().to_dict())
    by_treatment = campaign.normalize_scores(campaign.from_ratings(data.open_campaign(out)[0]), resamples=20).ranks
    expected = mean.drop("human").rank(ascending=False).astype(int)
    assert by_treatment.set_index("system")["raw scores"].to_dict() == expected.to_dict()


rank_systems = telling(campaign.rank_systems)


def own_documents(people=8, documents=40, **options):
    """Every annotator judges documents of their own, all systems of each."""
    return plain(people=people, documents=documents, each=1, **options)


def of_each_system(frame):
    """The same judgements, but every system's documents have names of their own."""
    return frame.assign(doc=frame["system"] + frame["doc"])


def one_does_most():
    frame = own_documents()
    return frame[(frame["annotator"] == "p0") | (frame["segment"].astype(int) % 40 == 7)]


@pytest.mark.parametrize(
    ("frame", "unit"),
    [
        (own_documents(), ("annotator", "doc")),
        (plain(people=6, documents=20), ("annotator", "doc")),
        (plain(people=6, documents=6), ("annotator", "doc")),
        (plain(people=6, documents=2), ("annotator", "segment")),
        (plain(people=3, documents=20), ("doc",)),
        (plain(people=1, documents=2), ("segment",)),
        (one_does_most(), ("doc",)),
        (of_each_system(own_documents()), ("annotator", "segment")),
        (of_each_system(plain(people=1, documents=20)), ("segment",)),
    ],
)
def test_what_is_drawn_follows_from_who_judged_what_unless_another_unit_is_asked_for(frame, unit):
    mine = opened(frame)
    assert campaign.choose_method(mine).unit == unit
    assert campaign.choose_method(mine, unit="annotators").unit == ("annotator",)


@pytest.mark.parametrize("name", ["HUMAN-B", "Petra"])
def test_human_translations_are_shown_and_never_win(name):
    """By name, or by the organiser's mark on references."""
    frame = plain(systems=[name, "S1", "S2", "S3"], people=6, documents=12)
    human = frame["system"].eq(name)
    frame["item_type"] = frame["item_type"].mask(human & (name == "Petra"), "reference")
    shown = page(frame)
    mine, found = shown.found.campaign, shown.found.ranking
    assert (mine.humans, mine.systems, found.names) == ((name,), ["S1", "S2", "S3"], ["S1", "S2", "S3"])
    table = found.systems.set_index("system")
    assert table.index[0] == name, "it stands where its score puts it"
    assert table.loc[name, ["rank", "cluster", "rank_low", "best"]].isna().all()
    assert table["rank"].dropna().tolist() == [1, 2, 3]
    assert table.loc[name, "mean"] == pytest.approx(frame.loc[human, "score"].mean())
    assert name not in found.pairwise[["better", "worse"]].to_numpy()
    assert campaign.rank_pairs(mine)[["first", "human"]].to_numpy().tolist() == [["S1", f"worse than {name}"]]


def test_a_reference_is_no_contestant_under_a_systems_name_and_people_are_ranked_among_themselves():
    frame = plain(people=6)
    checked = frame[frame["segment"].astype(int) < 5].assign(item_type="reference", score=99.0)
    mine = opened(pd.concat([frame, checked]))
    assert (mine.humans, len(mine.compared), len(mine.judged)) == ((), len(frame), len(frame))
    translators = plain(systems=["translator-A", "translator-B"], people=6)
    assert opened(translators).humans == ()
    assert ranked(translators).top == "translator-A"


@pytest.mark.parametrize("score", ["raw", "z"])
def test_one_difference_is_one_number(score):
    """The gap that is told is that of the scores that are compared, in points of the scale."""
    frame = own_documents(gap=2)
    strict = frame["annotator"].isin(["p0", "p1"])
    frame["score"] = frame["score"].mask(strict, frame["score"] / 2)
    found = ranked(frame, score=score)
    scores, gap = found.table.set_index("system")["score"], found.gap(*found.names)
    assert gap == pytest.approx((scores.iloc[0] - scores.iloc[1]) * found.points)
    assert gap == pytest.approx(found.pairwise["difference"].iloc[0] * found.points)
    own = frame.groupby("annotator")["score"]
    pooled = np.sqrt((own.var() * (own.size() - 1)).sum() / (len(frame) - own.ngroups))
    assert found.points == pytest.approx(pooled if score == "z" else 1)


@pytest.mark.parametrize("name", sorted(rules.RULES))
def test_lines_follow_the_rule_that_is_named_and_everything_else_stays(name):
    mine = opened(own_documents())
    units, ruled = (rank_systems(mine, resamples=50, lines=lines) for lines in ("units", name))
    expected = lines.rule_clusters(
        mine.judged, rule=name, unit=ruled.method.unit, item_types=ruled.method.item_types, segment=mine.segment
    )
    columns = ["cluster", "wins", "losses", "rank_top", "rank_bottom"]
    theirs = expected.set_index("system").loc[ruled.names, columns]
    assert ruled.table[columns].to_numpy().tolist() == theirs.to_numpy().tolist()
    kept = [column for column in units.table if column not in columns]
    pd.testing.assert_frame_equal(units.table[kept], ruled.table[kept])


def test_a_rule_that_cannot_be_applied_is_refused_and_said():
    frame = own_documents()
    apart = frame[frame["doc"].str[1:].astype(int) % 2 == frame["system"].str[1:].astype(int)]
    found = ranked(apart, resamples=50, lines="wmt26")
    assert found.method.lines == "units"
    assert "share no two segments" in found.refused


find_comparisons = telling(campaign.find_comparisons)

FAST = {"resamples": 40, "seed": 1}


def judged(rows):
    """Rows of (annotator, segment, system_a, system_b, preference, first) as an imported file has them."""
    table = pd.DataFrame(rows, columns=["annotator", "segment", "system_a", "system_b", "preference", "first"])
    table = table.assign(src_lang="eng", tgt_lang="deu", doc="d" + table["segment"].str[0])
    return finished(as_judgements(table.astype("str")), (0.0, 1.0))


def drawn(worth, pairs, *, people=6, segments=20, place=0.0, seed=1, first="a"):
    """Answers after Davidson: every person compares each pair of systems on every segment; the order is drawn."""
    sizes = {"people": people, "documents": segments}
    table = comparisons(seed, strengths=worth, pairs=pairs, place=place, tie=0.5, first="a", **sizes)
    return campaign.from_ratings(finished(as_judgements(table.assign(first=first).astype("str")), (0.0, 1.0)))


def every(names):
    return [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10_000))
def test_where_all_met_equally_often_the_expected_share_is_the_share_that_was_won(seed):
    found = drawn({"A": 0.6, "B": 0.0, "C": -0.4}, every("ABC"), people=5, segments=8, seed=seed, first="unknown")
    assert found.compares
    table = rank_systems(found, **FAST).systems.set_index("system")
    wins = found.judged.groupby("system")["score"].mean()
    assert table["expected"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-9)
    assert table["mean"].to_dict() == pytest.approx(wins.to_dict(), abs=1e-12)


def test_whom_a_system_met_does_not_matter():
    """B, second best, met only the best one; C, third, only the worst."""
    worth = {"A": 2.0, "B": 1.0, "C": 0.0, "D": -1.5}
    ranking = rank_systems(drawn(worth, [("A", "B"), ("A", "C"), ("C", "D")], segments=60), **FAST)
    assert ranking.names == list("ABCD")
    assert ranking.means["B"] < ranking.means["C"], "shares of wins would have it the other way round"
    tests = ranking.pairwise.set_index(["better", "worse"])
    assert tests.loc[("B", "D"), ["wins", "ties", "losses"]].tolist() == [0, 0, 0]
    assert np.isnan(tests.loc[("B", "D"), "superiority"])
    assert bool(tests.loc[("B", "D"), "significant"])


def test_systems_that_never_met_are_refused_and_each_group_has_strengths_of_its_own():
    found = drawn({"A": 0.5, "B": 0.0, "C": 0.3, "D": 0.0}, [("A", "B"), ("C", "D")])
    whole = campaign.analyse(found, **FAST)
    assert not whole.ranking
    met = find_comparisons(found, whole.ranking, **FAST)
    assert met.groups == [["A", "B"], ["C", "D"]]
    assert met.table.groupby("group")["strength"].sum().tolist() == pytest.approx([0, 0], abs=1e-9)


def test_the_effect_of_the_place_is_found_taken_out_and_told():
    worth = {"A": 0.4, "B": 0.0, "C": -0.4}
    found = drawn(worth, every("ABC"), segments=60, place=0.8)
    ranking = rank_systems(found, **FAST)
    met = find_comparisons(found, ranking, **FAST)
    effect, low, high = met.place
    assert low < 0.8 < high
    assert effect == pytest.approx(0.8, abs=0.15)
    strength = ranking.standing.table.set_index("system")["strength"]
    assert strength.to_dict() == pytest.approx(worth, abs=0.2)


@pytest.mark.parametrize(("first", "pairs"), [("unknown", every("ABC")), ("a", [("A", "B"), ("A", "C")])])
def test_a_place_that_cannot_be_told_is_unknown(first, pairs):
    rows = [
        (f"p{who}", str(segment), a, b, ["a", "b", "tie"][(who + segment) % 3], first)
        for who in range(5)
        for segment in range(9)
        for a, b in pairs
    ]
    found = campaign.from_ratings(judged(rows))
    assert find_comparisons(found, rank_systems(found, **FAST), **FAST).place is None


def test_people_who_give_the_same_answers_agree_whatever_a_system_met():
    """Of A they think otherwise against B than against C: only an item that names both is one."""
    rows = [
        (f"p{who}", str(segment), "A", other, answer, "a")
        for who in range(3)
        for segment in range(12)
        for other, answer in (("B", "a" if segment % 2 else "b"), ("C", "b" if segment % 2 else "a"))
    ]
    found = campaign.from_ratings(judged(rows))
    agreement = measure_agreement(found, resamples=20)
    assert agreement.estimate == pytest.approx(1)
    assert agreement.items == 24
    assert campaign.count_judgements(found).duplicates == 0


def test_people_s_translations_compete_and_have_no_place():
    found = drawn({"A": 0.3, "B": 0.0, "refA": 1.5}, every(["A", "B", "refA"]), segments=40)
    ranking = rank_systems(found, **FAST)
    assert (ranking.names, ranking.humans["system"].tolist()) == (["A", "B"], ["refA"])
    assert ranking.systems["system"].tolist()[0] == "refA"
    assert ranking.systems["rank"].isna().tolist() == [True, False, False]
    assert ranking.duels["better"].tolist() == ["refA", "refA"]


def test_other_rules_for_lines_and_normalising_are_refused_plainly():
    found = drawn({"A": 0.3, "B": 0.0}, [("A", "B")])
    ranking = rank_systems(found, lines="wmt22", **FAST)
    assert "these are comparisons" in ranking.refused
    assert "no level" in campaign.normalize_scores(found).reason


def test_one_system_against_a_persons_translation_is_ranked_without_tests_between_systems():
    found = drawn({"mt": -1.0, "human": 0.5}, [("mt", "human")])
    ranking = rank_systems(found, **FAST)
    assert [*found.humans] == ["human"]
    assert ranking.table["system"].tolist() == ["mt"]
    assert ranking.pairwise.empty
    [duel] = ranking.duels.to_dict("records")
    assert (duel["better"], duel["worse"]) == ("human", "mt")


rank_criteria = telling(campaign.rank_criteria)

pytestmark = pytest.mark.usefixtures("own_salt")


def test_each_criterion_has_its_ranking(tmp_path):
    adequacy = ratings(systems=list("ABC"), step=1, criterion="adequacy")
    fluency = adequacy.assign(criterion="fluency", score=100 - adequacy["score"])
    pd.concat([adequacy, fluency]).to_csv(tmp_path / "my.csv", index=False)
    judged, _ = data.open_campaign(tmp_path / "my.csv")
    mine = campaign.from_ratings(judged)
    assert (mine.criteria, mine.criterion, len(mine.ratings)) == (["adequacy", "fluency"], "adequacy", len(adequacy))
    found = rank_criteria(mine, resamples=50)
    for name, table in (("adequacy", adequacy), ("fluency", fluency)):
        means = table.groupby("system")["score"].mean()
        assert found.rankings[name].means == pytest.approx(dict(means))
        assert found.rankings[name].top == means.idxmax()
    assert found.table["same_order"].tolist() == [1, -1]
    other = campaign.from_ratings(judged, criterion="fluency")
    assert other.criterion == "fluency"
    assert not rank_criteria(campaign.from_ratings(judged[judged["criterion"].eq("fluency")]))
    with pytest.raises(DataError, match="adequacy, fluency"):
        campaign.from_ratings(judged, criterion="style")
