"""Rules for lines between systems: definitions, laws, printed tables, and how often they err where that is known."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, data
from evalkit.human import ranking
from evalkit.human.ranking import lines, rules, trials
from evalkit.papers import claims, wmt
from tests.makers import laid_out, ratings

NAMES = list(rules.RULES)


def campaign(seed=0, *, systems=5, documents=12, step=3.0, gaps=0.0, domains=2):
    """Draw judgements: every system on the same documents, one annotator a document and system, scores 0 to 100."""
    spread = {"block": 6.0, "residual": 12.0, "segment": 0.0, "annotator": 0.0}
    sizes = {"systems": systems, "documents": documents, "length": 4, "people": 6, "each": 1, "dealt": "showing"}
    frame = ratings(seed, **sizes, gap=step, level=70, spread=spread, missing=gaps, step=1)
    return frame.assign(domain="x" + (frame["doc"].str[1:].astype(int) % domains).astype(str))


OPTIONS = {"segment": ("doc", "segment"), "item_types": ("system",)}


def brute(beats, line):
    """Say below which systems a line stands, pair by pair."""
    size, found = len(beats), []
    won = [sum(row) for row in beats]
    for k in range(size - 1):
        above, below = range(k + 1), range(k + 1, size)
        bottom = [next((b for b in range(a + 1, size) if beats[a][b]), size) for a in range(size)]
        top = [next((a for a in range(b - 1, -1, -1) if beats[a][b]), -1) for b in range(size)]
        found.append(
            {
                "all": all(beats[a][b] for a in above for b in below),
                "own": won[k] == len(below),
                "least": min(won[a] for a in above) == len(below),
                "next": bool(beats[k][k + 1]),
                "ranges": all(bottom[a] <= k + 1 for a in above) and all(top[b] >= k for b in below),
            }[line]
        )
    return [*found, True]


@given(st.integers(2, 7), st.integers(0, 2**21 - 1), st.sampled_from(sorted(rules.LINES)))
def test_lines_equal_brute_force(size, bits, line):
    flags = iter(np.binary_repr(bits, 21))
    beats = np.zeros((size, size), bool)
    for a, b in itertools.combinations(range(size), 2):
        beats[a, b] = next(flags) == "1"
    assert rules.ends(beats, line).tolist() == brute(beats.tolist(), line)


def test_correcting_over_lines_equals_holm_on_the_highest_p_across_each_line():
    p = np.random.default_rng(4).random(15) ** 6
    matrix = np.zeros((6, 6))
    matrix[np.triu_indices(6, 1)] = p
    highest = [matrix[: k + 1, k + 1 :].max() for k in range(5)]
    adjusted = np.empty(5)
    running = 0.0
    for place, k in enumerate(np.argsort(highest)):
        running = max(running, (5 - place) * highest[k])
        adjusted[k] = min(running, 1)
    found = np.zeros((6, 6))
    found[np.triu_indices(6, 1)] = rules.corrected(p, rules.named("units-lines"))
    for a, b in itertools.combinations(range(6), 2):
        assert math.isclose(found[a, b], adjusted[a:b].min())


def by_hand(frame, name):
    """Rank and test as WMT's scripts do, in loops, with scipy: order and who beats whom."""
    rule = rules.named(name)
    frame = frame.copy()
    if rule.by == "z":
        grouped = frame.groupby("annotator")["score"]
        frame["score"] = (frame["score"] - grouped.transform("mean")) / grouped.transform("std")
    table = frame.pivot(index=["doc", "segment"], columns="system", values="score")
    domain = frame.drop_duplicates(["doc", "segment"]).set_index(["doc", "segment"])["domain"].loc[table.index]
    mean = table.groupby(domain).mean().mean() if rule.mean == "domains" else table.mean()
    order = mean.sort_values(ascending=False).index
    beats = np.zeros((len(order), len(order)), bool)
    for i, j in itertools.combinations(range(len(order)), 2):
        a, b = table[order[i]], table[order[j]]
        both = a.notna() & b.notna()
        side = "two-sided" if rule.two_sided else "greater"
        if rule.test == "rank sum":
            p = stats.mannwhitneyu(a.dropna(), b.dropna(), alternative=side).pvalue
        elif rule.test == "matched rank sum":
            p = stats.mannwhitneyu(a[both], b[both], alternative=side).pvalue
        elif rule.test == "signed rank":
            p = stats.wilcoxon((a - b)[both], alternative=side).pvalue
        elif rule.test == "signed rank by domain":
            parts = [stats.wilcoxon((a - b)[both & (domain == one)]).pvalue for one in sorted(domain.unique())]
            p = stats.norm.sf(sum(stats.norm.ppf(1 - part) for part in parts) / math.sqrt(len(parts)))
        else:
            paired = stats.ttest_rel(a, b, nan_policy="omit").pvalue
            p = min(paired, stats.ttest_ind(a, b, nan_policy="omit").pvalue)
        beats[i, j] = p < 0.05
    return list(order), beats


@pytest.mark.parametrize(
    "name", ["wmt20", "wmt22", "wmt23", "wmt24", "wmt24-micro", "wmt25", "wmt25-ranges", "wmt26", "wmt26-next"]
)
@pytest.mark.parametrize("gaps", [0.0, 0.15])
def test_a_rule_equals_its_script_in_loops(name, gaps):
    parted = 0
    for seed in range(2):
        frame = campaign(seed, documents=30, gaps=gaps, step=2.0)
        order, beats = by_hand(frame, name)
        one = lines.apply_rule(frame, rules.named(name), **OPTIONS)[0]
        assert one.table["system"].tolist() == order
        assert (one.beats == beats).all()
        cluster = 1 + np.cumsum([0, *brute(beats.tolist(), rules.named(name).line)[:-1]])
        assert one.table["cluster"].tolist() == cluster.tolist()
        parted += int(beats.sum())
    assert parted


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("test", ["rank sum", "matched rank sum"])
@pytest.mark.parametrize(("size", "levels"), [(9, 1000), (30, 1000), (30, 3)])
def test_rank_sums_equal_scipys_pair_by_pair(size, levels, test, two_sided):
    rng = np.random.default_rng(size + levels)
    scores = np.round(rng.normal(size=(4, size)) * levels)
    scores[rng.random(scores.shape) < 0.2] = np.nan
    [found] = lines.apply_rule(laid_out(scores, "system segment"), rules.LineRule(test=test, two_sided=two_sided))
    ordered = scores[[int(name[1:]) for name in found.table["system"]]]
    for i, j in itertools.combinations(range(4), 2):
        both = np.isfinite(ordered[i] - ordered[j]) if "matched" in test else np.ones(size, bool)
        a, b = (row[both & np.isfinite(row)] for row in (ordered[i], ordered[j]))
        theirs = stats.mannwhitneyu(a, b, alternative="two-sided" if two_sided else "greater")
        assert found.p[i, j] == pytest.approx(theirs.pvalue, rel=1e-9)


def test_ours_equals_the_campaign_s_clusters():
    frame = campaign(3, documents=30, step=5.0)
    ours = lines.rule_clusters(frame, rule="units", **OPTIONS)
    theirs = ranking.significance_clusters(frame, test="t", correction="holm", unit="doc", **OPTIONS)
    columns = ["system", "cluster", "wins", "losses", "rank_top", "rank_bottom"]
    pd.testing.assert_frame_equal(ours[columns], theirs[columns], check_dtype=False)


def test_rules_side_by_side_give_what_each_gives_alone():
    frame = campaign(5, documents=30, step=4.0)
    together, counts = lines.side_by_side({"mine": (frame, OPTIONS)}, resamples=200)
    for name in NAMES:
        alone = lines.rule_clusters(frame, rule=name, resamples=200, **OPTIONS)
        own = together[together["rule"] == name]
        assert own[["system", "cluster"]].to_numpy().tolist() == alone[["system", "cluster"]].to_numpy().tolist()
    drawn = counts.set_index("rule")["lines"]
    assert drawn["units"] <= drawn["units-lines"] <= drawn["units-plain"]
    assert drawn["wmt25"] >= drawn["wmt25-ranges"]


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(NAMES), st.floats(0.2, 3), st.floats(-20, 20))
def test_names_of_systems_order_of_rows_and_a_change_of_scale_change_no_line(seed, name, gain, shift):
    frame = campaign(seed, systems=4)
    other = frame.sample(frac=1, random_state=seed) if not rules.named(name).apart else frame
    other = other.assign(score=np.round(other["score"] * gain + shift, 9), system="x" + other["system"])
    one, two = (lines.rule_clusters(f, rule=name, resamples=100, **OPTIONS) for f in (frame, other))
    assert two["system"].tolist() == ["x" + system for system in one["system"]]
    if rules.named(name).test not in ("permutation", "bootstrap"):  # these draw in the order of the segments
        assert one["cluster"].tolist() == two["cluster"].tolist()


def test_what_a_rule_needs_is_said():
    frame = campaign(1)
    apart = frame[(frame["system"] == "S0") == (frame["doc"] < "d06")]
    cases = [(frame.drop(columns="annotator"), "wmt22", "annotator"), (frame, "wmt25-range", "wmt25-ranges")]
    for table, rule, word in [*cases, (apart, "wmt26", "no two segments")]:
        with pytest.raises(DataError, match=word):
            lines.rule_clusters(table, rule=rule, **OPTIONS)
    _, counts = lines.side_by_side({"mine": (apart, OPTIONS)}, ["wmt20", "wmt26"])
    assert counts.set_index("rule")["why"].str.contains("share no").to_dict() == {"wmt20": False, "wmt26": True}


def test_neighbours_only_part_systems_that_their_own_test_does_not():
    """S1 beats S2 only just, and S0, ahead of both but as erratic as can be, beats neither."""
    rng = np.random.default_rng(0)
    base = rng.normal(60, 5, 40)
    scores = [base + np.where(np.arange(40) % 4, -2, 14), base + rng.normal(1.5, 0.4, 40), base]
    frame = laid_out(scores, "system segment", documents=range(40))
    found = lines.apply_rule(frame, rules.named("wmt25"), **OPTIONS)[0]
    assert found.table["system"].tolist() == ["S0", "S1", "S2"]
    assert (found.counts()["lines"], found.counts()["unproved"]) == (1, 1)
    assert lines.apply_rule(frame, rules.named("wmt25-ranges"), **OPTIONS)[0].counts()["lines"] == 0


def test_what_each_rule_parts_is_counted():
    rows = [(rule, *row) for rule, ends in zip("xyz", (2, 1, 1)) for row in (("A", 1), ("B", ends))]
    frame = pd.DataFrame(rows, columns=["rule", "system", "cluster"]).assign(data="d", pair="p")
    frame.loc[frame["rule"] == "z", "cluster"] = [2, 1]
    found = lines.parted(frame)[["better", "worse", "rules", "of", "against", "names"]]
    assert found.to_numpy().tolist() == [["A", "B", 1, 3, 1, "x"]]


def laid(seed=1, **options):
    return trials.grids({"drawn": campaign(seed, systems=8, documents=40, step=0.0, **options)})


def test_exchanging_names_keeps_the_mean_over_systems_and_the_level_of_a_test_by_segment():
    (grid,) = laid()

    def swapped(by, campaigns, **options):
        return trials.swapped(grid, by=by, campaigns=campaigns, rng=np.random.default_rng(1), **options)

    batch = next(swapped("document", 3, points=(0.0,) * 8))
    np.testing.assert_allclose(batch.fields["raw"].means.mean(axis=1), np.tile(grid.raw.mean(axis=0), (3, 1)))
    both = trials.rates(swapped("segment", 300), "alike", names=NAMES)
    single = both[~both["rule"].isin(["wmt26", "wmt26-next"])]  # these take the better of two tests
    error = np.sqrt(single["nominal"] * (1 - single["nominal"]) / 300)
    assert (single["rate"] <= single["nominal"] + 4 * error).all()
    assert (both["low"] <= 2 * both["nominal"]).all()
    by_document = trials.rates(swapped("document", 300), "alike", names=NAMES).set_index("rule")
    assert by_document.loc["units", "low"] <= 0.1
    assert by_document.loc["wmt24-micro", "low"] > 0.05, "what depends within documents is no independent evidence"


def test_rearranged_campaigns_are_tested_as_ratings_are():
    (grid,) = laid(seed=6, gaps=0.1)
    options = {"by": "document", "campaigns": 1, "points": (9.0, 4.0, 0.0), "true": True}
    batch = next(trials.swapped(grid, rng=np.random.default_rng(3), **options))
    frame = laid_out(batch.fields["raw"].means[0], "system segment", documents=grid.docs)
    frame["domain"] = [f"x{grid.domains[int(segment)]}" for segment in frame["segment"]]
    names = [name for name in NAMES if rules.named(name).by == "raw" and rules.named(name).test != "permutation"]
    _, parted = trials.lined(batch, [rules.named(name) for name in names], resamples=200)
    for name, found in zip(names, parted[:, 0], strict=True):
        one = lines.apply_rule(frame, rules.named(name), **OPTIONS, resamples=200)[0]
        assert found == one.beats.any(), name


def test_halves_of_a_crowd_split_every_judgement_once():
    frame = campaign(2, systems=2, documents=60)
    frame["annotator"] = "a" + (frame.index % 24).astype(str)
    frame = frame.assign(z=frame["score"] / 10, segment=frame["doc"] + frame["segment"])
    batch = next(trials.halves(frame, campaigns=8, rng=np.random.default_rng(0)))
    raw = batch.fields["raw"]
    assert raw.weights.shape == (4, 2, 24)
    assert ((raw.weights > 0).sum(axis=(1, 2)) == 24).all()
    np.testing.assert_allclose(raw.weights.sum(axis=-1), np.isfinite(raw.means).sum(axis=-1))
    np.testing.assert_allclose(raw.sums.sum(axis=-1), np.nansum(raw.means, axis=-1))


def test_a_rule_that_errs_is_not_advised():
    alike = [("bold", "alike", 0.3, 0.2, 0.1), ("sound", "alike", 0.1, 0.08, 0.1), ("timid", "alike", 0.05, 0.03, 0.1)]
    differ = [
        (rule, "differ", rate, rate / 2, np.nan) for rule, rate in (("bold", 0.9), ("sound", 0.6), ("timid", 0.2))
    ]
    found = pd.DataFrame([*alike, *differ], columns=["rule", "situation", "rate", "low", "nominal"])
    assert trials.advised(found, power="differ") == "sound"
    assert trials.advised(found[found["rule"] == "bold"], power="differ") == "bold"


def test_autorank_by_hand():
    metrics = {"metricx": [1.0, 2.0, 5.0], "cometkiwi": [-0.5, -0.9, -0.1]}
    found = wmt.auto_rank(pd.DataFrame({"pair": "p", "system": list("ABC"), **metrics}))
    assert found["autorank"].tolist() == pytest.approx([(1 + 2.5) / 2, (1.75 + 1) / 2, 4.0])
    assert found["past_cutoff"].tolist() == [False, False, True]


def test_wmt23_s_lines_follow_from_its_wins_and_its_automatic_ranks_from_the_metrics(real):
    printed, nothing = data.published("wmt23_clusters"), pd.DataFrame(columns=["data", "equal_wins", "equal_line"])
    ours = {"wmt24 automatic ranks": wmt.automatic_ranks(data.published("wmt24_autorank"))}
    found, ranks = wmt.wmt23_lines(printed, real("wmt23-human")), claims.compare("shared_tasks", ours, items="AutoRank")
    came = wmt.reproduced(found, printed, nothing, ranks).set_index("what")
    equal = came["equal"] == came["numbers"]
    assert equal[["lines, from the printed wins", "AutoRank and cutoff"]].all()
