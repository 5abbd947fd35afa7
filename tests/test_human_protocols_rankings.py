"""Rankings under several protocols: against scipy, pandas, loops and campaigns whose truth is known; laws."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.human.protocols import rankings
from tests.makers import ratings

NAMES = ("ESA-1", "ESA-2", "ESAAI-1", "MQM-1", "WMT-MQM", "WMT-DASQM", "LLM")


def campaigns(rng, *, names=NAMES, systems=5, documents=10, length=2, people=6, steps=3.0, noise=6.0, taste=0.0):
    """One judgement a translation and protocol, by a person at random; people may like systems differently."""
    spread = {"segment": 0.0, "annotator": 0.0, "taste": taste, "residual": noise}
    sizes = {"systems": systems, "documents": documents, "length": length, "people": people}
    options = {"each": 1, "dealt": "item", "gap": -steps, "level": 0.0, "scale": None, "spread": spread}
    parts = []
    for name in names:
        part = ratings(rng, **sizes, **options, protocol=name)
        parts.append(part.assign(annotator=None) if name.startswith(("WMT", "LLM")) else part)
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def scored():
    """Seven protocols whose systems are close enough to change places."""
    return campaigns(np.random.default_rng(4))


@pytest.fixture(scope="module")
def drawn(scored):
    """The same, drawn 200 times."""
    return rankings.draw_scores(scored, resamples=200)


def means(scored):
    """Return the means of systems, systems × protocols, by pandas alone."""
    return scored.pivot_table(index="system", columns="protocol", values="score")[list(NAMES)]


def test_means_and_places_are_those_of_pandas(scored, drawn):
    placed = rankings.places(drawn)
    wide = means(scored)
    found = placed.pivot(index="system", columns="protocol", values="mean")[list(NAMES)]
    np.testing.assert_allclose(found, wide, rtol=1e-12)
    ranks = placed.pivot(index="system", columns="protocol", values="rank")[list(NAMES)]
    np.testing.assert_array_equal(ranks, wide.rank(ascending=False))
    assert (placed["rank_low"].le(placed["rank"]) & placed["rank"].le(placed["rank_high"])).all()


def test_every_two_rankings_correlate_as_in_scipy(scored, drawn):
    found, wide = rankings.between(drawn), means(scored)
    assert len(found) == 21
    for row in found.itertuples():
        x, y = wide[row.a], wide[row.b]
        assert row.pearson == pytest.approx(stats.pearsonr(x, y).statistic)
        assert row.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        assert row.kendall_b == pytest.approx(stats.kendalltau(x, y).statistic)
        pairs = [np.sign((x.iloc[i] - x.iloc[j]) * (y.iloc[i] - y.iloc[j])) for i, j in combinations(range(5), 2)]
        assert row.same_order == pytest.approx(np.mean(np.array(pairs) > 0))
        assert -1 <= row.low <= row.kendall_b <= row.high <= 1
    same = {(row.a, row.b) for row in found.itertuples() if row.kind == "same"}
    assert same == {("ESA-1", "ESA-2"), ("MQM-1", "WMT-MQM")}


def test_opposed_pairs_are_sure_in_both_and_otherwise_ordered():
    scored = campaigns(np.random.default_rng(4), steps=6.0, documents=20)
    turned = scored.assign(score=scored["score"].where(scored["protocol"] != "MQM-1", -scored["score"]))
    drawn = rankings.draw_scores(turned, resamples=300)
    found = rankings.between(drawn).set_index(["a", "b"])["opposed"]

    def sure(name, i, j):
        own = drawn.draws[:, NAMES.index(name)]
        low, high = np.quantile(own[:, i] - own[:, j], [0.025, 0.975])
        return int(low > 0) - int(high < 0)

    for a, b in (("ESA-1", "MQM-1"), ("ESA-1", "ESA-2")):
        assert found[a, b] == sum(sure(a, i, j) * sure(b, i, j) < 0 for i, j in combinations(range(5), 2))


def test_without_gold_every_other_kind_has_one_vote(scored, drawn):
    found, wide = rankings.against(drawn).set_index("protocol"), means(scored)
    tau = {(a, b): stats.kendalltau(wide[a], wide[b]).statistic for a in NAMES for b in NAMES}
    of_kind = {"ESA": ["ESA-1", "ESA-2"], "AI": ["ESAAI-1"], "MQM": ["MQM-1", "WMT-MQM"], "DA": ["WMT-DASQM"]}
    for name, own in {"ESA-1": "ESA", "ESAAI-1": "AI", "WMT-MQM": "MQM", "LLM": "AI"}.items():
        kinds = [others for kind, others in of_kind.items() if kind != own]
        theirs = np.mean([np.mean([tau[name, other] for other in others]) for others in kinds])
        assert found.loc[name, "others"] == pytest.approx(theirs)
    assert found.loc["ESA-2", "gold"] == pytest.approx(tau["ESA-2", "WMT-MQM"])
    assert found.loc["WMT-MQM", ["gold", "gold_low", "gold_high"]].isna().all()
    alone = campaigns(np.random.default_rng(1), names=("MQM-1", "WMT-MQM"))
    assert rankings.against(rankings.draw_scores(alone, resamples=50))["others"].isna().all()


def test_campaigns_of_one_kind_are_compared_with_those_of_two(scored, drawn):
    found, wide = rankings.kinds_apart(drawn).set_index("kind"), means(scored).drop(columns="LLM")
    tau = {pair: stats.kendalltau(wide[pair[0]], wide[pair[1]]).statistic for pair in combinations(wide, 2)}
    same = [tau["ESA-1", "ESA-2"], tau["MQM-1", "WMT-MQM"]]
    other = [value for pair, value in tau.items() if pair not in (("ESA-1", "ESA-2"), ("MQM-1", "WMT-MQM"))]
    assert found.loc["same", "kendall_b"] == pytest.approx(np.mean(same))
    assert found.loc["other", "kendall_b"] == pytest.approx(np.mean(other))
    assert found.loc["same - other", "kendall_b"] == pytest.approx(np.mean(same) - np.mean(other))
    assert found["pairs"].tolist() == [2, 13, 15]


def test_customary_wins_are_scipys_signed_rank_tests(scored, drawn):
    found = rankings.clusters(scored, drawn).set_index("protocol")
    for name in ("ESA-1", "WMT-MQM"):
        wide = scored[scored["protocol"] == name].pivot(index="segment", columns="system", values="score")
        p = [stats.wilcoxon(wide[a], wide[b], correction=True).pvalue / 2 for a, b in combinations(wide, 2)]
        assert found.loc[name, "distinguished"] == np.sum(np.array(p) < 0.05)
        assert found.loc[name, "pairs"] == 10
    order = rankings.sure_order(drawn)
    np.testing.assert_array_equal(found["sure"], (order != 0).sum(axis=1))


def test_draws_vary_as_much_as_campaigns_do():
    """Judged once each, by people who only scatter: the error of a difference is known, √(2/n) times the noise."""
    options = {"systems": 4, "documents": 40, "length": 3, "people": 10, "steps": 0.0, "noise": 6.0}
    scored = campaigns(np.random.default_rng(3), names=("ESA-1", "WMT-MQM"), **options)
    drawn = rankings.draw_scores(scored, resamples=2000).draws
    first, second = np.triu_indices(4, 1)
    spread = (drawn[..., first] - drawn[..., second]).std(axis=0).mean(axis=1)
    np.testing.assert_allclose(spread, 6 * np.sqrt(2 / 120), rtol=0.15)


def test_people_who_like_systems_differently_widen_intervals():
    """Ten people, each with likings of standard deviation 5: they are what scatters, and are hardly overcounted."""
    options = {"systems": 8, "documents": 200, "people": 10, "noise": 0.1, "taste": 5.0}
    scored = campaigns(np.random.default_rng(8), names=("ESA-1",), **options)
    drawn = rankings.draw_scores(scored, resamples=1000).draws
    first, second = np.triu_indices(8, 1)
    assert (drawn[..., first] - drawn[..., second]).var(axis=0).mean() == pytest.approx(2 * 5**2 / 10, rel=0.5)


def test_only_segments_that_all_protocols_have_are_compared(scored):
    fewer = scored.query("not (protocol == 'WMT-MQM' and segment in ['003', '007'])")
    fewer = fewer.query("not (protocol == 'WMT-DASQM' and segment == '005' and system == 'S2')")
    part = scored[scored["protocol"] == "ESA-1"].assign(protocol="ESA-IAA").head(5)
    reference = scored[scored["system"] == "S0"].assign(system="refA", item_type="reference")
    kept = rankings.same_segments(pd.concat([fewer, part, reference]))
    assert set(kept["segment"]) == set(scored["segment"]) - {"003", "005", "007"}
    assert set(kept["protocol"]) == set(NAMES)
    assert kept.groupby("protocol").size().tolist() == [17 * 5] * 7
    assert "refA" not in set(kept["system"])
    assert len(rankings.same_segments(fewer, protocols=["ESA-1", "MQM-1"])) == 2 * 20 * 5


def of(scored, *names):
    return rankings.draw_scores(scored, protocols=names, resamples=5)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda s: of(s, "ESA-1", "MQM-9"), "MQM-9"),
        (lambda s: rankings.same_segments(s[(s["protocol"] == "ESA-1") != (s["segment"] < "005")]), "share no segment"),
        (lambda s: rankings.draw_scores(s.query("protocol != 'MQM-1' or system != 'S2'")), "MQM-1 .* S2"),
        (lambda s: of(campaigns(np.random.default_rng(1), documents=1, people=20, length=1), "ESA-1"), "ESA-1"),
        (lambda s: rankings.against(of(s, "ESA-1", "LLM")), "WMT-MQM"),
        (lambda s: rankings.kinds_apart(of(s, "ESA-1", "LLM", "MQM-1")), "of one kind"),
        (lambda s: rankings.subset_consistency(s[s["doc"] < "d03"]), "3 documents"),
        (lambda s: rankings.subset_consistency(s, protocols=["ESA-1", "MQM-1"]), "WMT-MQM"),
    ],
)
def test_what_cannot_be_compared_is_refused(scored, call, word):
    with pytest.raises(DataError, match=word):
        call(scored)


def by_all_splits(scored, names, share):
    """Average scipy's tau over every way to part documents into halves, and to take some of the first."""
    documents, found = range(scored["doc"].nunique()), {}
    by = scored.groupby(["protocol", "doc", "system"])["score"]
    total, count = (one.unstack("system") for one in (by.sum(), by.count()))

    def scores(name, chosen):
        return total.loc[name].to_numpy()[chosen].sum(0) / count.loc[name].to_numpy()[chosen].sum(0)

    for half in map(list, combinations(documents, len(documents) // 2)):
        rest = [document for document in documents if document not in half]
        for few in map(list, combinations(half, max(1, round(share * len(half))))):
            mine, theirs = ([scores(name, chosen) for name in names] for chosen in (few, rest))
            for a, x in zip(names, mine):
                for b, y in zip(names, theirs):
                    found.setdefault((a, b), []).append(stats.kendalltau(x, y).statistic)
    return {pair: np.mean(values) for pair, values in found.items()}


def test_consistency_is_the_mean_over_all_splits():
    names, share = ("ESA-1", "WMT-MQM", "WMT-DASQM"), 0.5
    scored = campaigns(np.random.default_rng(9), names=names, documents=6)
    found = rankings.subset_consistency(scored, shares=[share], splits=4000, resamples=10)
    found = found.set_index(["protocol", "against"])["kendall"]
    tau = by_all_splits(scored, names, share)
    assert found["ESA-1", "itself"] == pytest.approx(tau["ESA-1", "ESA-1"], abs=0.03)
    assert found["ESA-1", "gold"] == pytest.approx(tau["ESA-1", "WMT-MQM"], abs=0.03)
    others = (tau["ESA-1", "WMT-MQM"] + tau["ESA-1", "WMT-DASQM"]) / 2
    assert found["ESA-1", "others"] == pytest.approx(others, abs=0.03)
    assert ("WMT-MQM", "gold") not in found.index


def test_systems_whose_scores_add_up_to_the_same_in_another_order_are_tied():
    one, other = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert one > other
    totals = np.array([[one, other, 3, 3], [one + 1e-6, other, 3, 3], [one, other, 3, 0]])
    assert rankings._order(totals).tolist() == [[0], [1], [0]]


def test_more_documents_rank_better_and_the_interval_holds_the_estimate():
    found = rankings.subset_consistency(campaigns(np.random.default_rng(7), documents=24), splits=100, resamples=10)
    for _, part in found.groupby(["protocol", "against"]):
        assert part["segments"].is_monotonic_increasing
        assert part["agreement"].iloc[-1] > part["agreement"].iloc[0]
    assert found["segments"].max() == 24  # half of the documents, of two segments each
    assert (found["low"].le(found["agreement"]) & found["agreement"].le(found["high"])).all()
    np.testing.assert_allclose(found["kendall"], 2 * found["agreement"] - 1)


def test_segments_needed_are_read_off_a_straight_line():
    curve = pd.DataFrame({"protocol": list("AAABBB"), "against": "itself", "segments": [10, 20, 40] * 2})
    curve["agreement"] = [0.9, 0.95, 0.97, 0.6, 0.7, 0.8]
    found = rankings.segments_needed(curve, agreement=0.75).set_index("protocol")
    assert found["segments"].tolist() == [10, pytest.approx(30)]
    assert rankings.segments_needed(curve, agreement=0.96)["segments"].isna().tolist() == [False, True]
    assert found["reached"].tolist() == [0.97, 0.8]


@settings(max_examples=2)
@given(shift=st.floats(-50, 50), factor=st.sampled_from([0.25, 2.0, 8.0]), seed=st.integers(0, 99))
def test_the_unit_of_a_protocol_and_the_order_of_rows_change_nothing(shift, factor, seed):
    scored = campaigns(np.random.default_rng(seed), names=("ESA-1", "MQM-1", "WMT-MQM"), documents=12)
    other = scored.assign(score=scored["score"].where(scored["protocol"] != "MQM-1", factor * scored["score"] + shift))
    other = other.sample(frac=1, random_state=seed)
    found = [rankings.draw_scores(table, resamples=20, seed=seed) for table in (scored, other)]
    columns = ["protocol", "system", "rank", "rank_low", "rank_high"]
    pd.testing.assert_frame_equal(*(rankings.places(one)[columns] for one in found))
    pd.testing.assert_frame_equal(*map(rankings.between, found))
    options = {"splits": 20, "resamples": 3, "shares": [0.5, 1.0]}
    pd.testing.assert_frame_equal(*(rankings.subset_consistency(one, **options) for one in (scored, other)))
