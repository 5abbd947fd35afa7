"""Two campaigns compared: as pandas and scipy do on random and on real judgements; laws; what cannot be compared."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, campaign, data
from evalkit.campaign import figures as draw
from evalkit.campaign import sentences
from evalkit.campaign.against import redrawn
from evalkit.campaign.against.comparison import HERE, NEITHER, OPPOSITE, SAME, THERE, find_footing
from evalkit.campaign.against.counterpart import FEWEST, Shared, find_shared
from evalkit.data import importing
from evalkit.reports import cli
from evalkit.stats.agreement import cross_replication
from evalkit.stats.inference import resample

pytestmark = pytest.mark.usefixtures("own_salt")

EXPORTS = {
    "ESA-1": ("240315rc5ESA", "esa"),
    "ESA-2": ("240520rc6ESA", "esa"),
    "ESA-IAA": ("240521rc6ESA", "esa"),
    "MQM-1": ("240315rc5MQM", "mqm"),
}
WEIGHTS = "minor=1,major=5,critical=25,linguistic conventions/punctuation:*=0.1"
LINES = 557  # of the test set: each system has so many in a file of scores


def judgements(
    seed,
    *,
    systems=4,
    documents=6,
    length=5,
    people=("a", "b"),
    prefix="p",
    scale=(0.0, 100.0),
    name="c",
    gap=6.0,
    share=1.0,
    first=0,
):
    """Judgements by people who each judge a random share of all outputs; numbering documents from ``first`` on."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{system}", f"d{document:02}", str(place), prefix + person)
        for system in range(systems)
        for document in range(first, first + documents)
        for place in range(length)
        for person in people
        if rng.random() < share
    ]
    frame = pd.DataFrame(rows, columns=["system", "doc", "segment", "annotator"])
    level = 70 - gap * frame["system"].str[1:].astype(int) + 3 * frame["annotator"].str[-1].map(ord) % 7
    scores = (level + rng.normal(0, 12, len(frame))).clip(0, 100)
    low, high = scale
    frame["score"] = (low + scores * (high - low) / 100).round(0 if high - low > 50 else 1)
    return told(frame.assign(src_lang="eng", tgt_lang="deu", item_type="system"), name=name, scale=scale)


def told(frame, *, name="c", scale=(0.0, 100.0), **reading):
    source = {"name": name, "source": "real", "origin": f"{name}.csv", "digest": name}
    frame.attrs |= {"source": source, "scale": scale, "reading": reading}
    return frame


def compared(here, there, **options):
    mine = campaign.from_ratings(here)
    other = campaign.counterpart(mine, there)
    return campaign.compare_campaigns(mine, other, **({"resamples": 20, "score": "raw"} | options))


def by_item(frame):
    return frame.groupby(["system", "doc", "segment"])["score"].mean()


def held(found):
    """Return the table of systems by name."""
    return found.systems.set_index("system").sort_index()


# Random judgements, computed anew


@pytest.fixture(scope="module")
def two():
    """Two campaigns on two scales that share some documents, two of the three people, and three systems."""
    here = judgements(1, systems=4, people=("a", "b", "c"), share=0.7, name="one")
    there = judgements(2, systems=3, people=("b", "c", "d"), share=0.8, first=2, scale=(1.0, 5.0), name="two")
    return here, there


def test_means_orders_and_levels_are_those_of_pandas_and_scipy(two):
    here, there = two
    found = compared(here, there)
    one, other = by_item(here), by_item(there.assign(score=(there["score"] - 1) * 25))
    both = pd.concat([one, other], axis=1, keys=["here", "there"]).dropna()
    sizes = found.sizes
    assert sizes["items"][2] == len(both)
    assert sizes["items"][:2] == (len(one.drop("s3")), len(other))
    assert sizes["systems"] == (4, 3, 3)
    assert sizes["documents"] == (6, 6, 4)
    assert sizes["annotators"] == (3, 3, 2)
    means = both.groupby("system").mean()
    table = held(found)
    assert table["mean_here"].to_dict() == pytest.approx(means["here"].to_dict())
    assert table["mean_there"].to_dict() == pytest.approx(means["there"].to_dict())
    assert table["difference"].to_dict() == pytest.approx((means["here"] - means["there"]).to_dict())
    ranks = means.rank(ascending=False)
    assert (table["rank_here"].tolist(), table["rank_there"].tolist()) == (list(ranks["here"]), list(ranks["there"]))
    own = [scores.drop("s3", errors="ignore").groupby("system").mean() for scores in (one, other)]
    for of, (x, y) in {
        "systems, on shared items": (means["here"], means["there"]),
        "systems, on all items of either": own,
        "items": (both["here"], both["there"]),
    }.items():
        assert found.measure(of, "kendall_b")["estimate"] == pytest.approx(stats.kendalltau(x, y)[0])
        assert found.measure(of, "pearson")["estimate"] == pytest.approx(stats.pearsonr(x, y)[0])
    difference = both["here"] - both["there"]
    level = found.level
    assert level["difference"] == pytest.approx(difference.mean())
    assert level["sd_difference"] == pytest.approx(np.std(difference, ddof=1))
    assert (level["sd_here"], level["sd_there"]) == pytest.approx(tuple(both.std()))
    assert found.footing.stretched
    assert found.footing.unit == "points of 100"
    assert "Both scales are stretched" in " ".join(sentences.say(found))


def test_agreement_across_is_what_all_pairs_of_judgements_make(two):
    """Of every judgement here with every one there, of the same item and of any two items, each item counting once."""
    here, there = two
    found = compared(here, there)
    scored = [here, there.assign(score=(there["score"] - 1) * 25)]
    lists = [frame.groupby(["system", "doc", "segment"])["score"].agg(list) for frame in scored]
    both = pd.concat(lists, axis=1, keys=["here", "there"]).dropna()
    apart = [[np.mean([(x - y) ** 2 for x in one for y in other]) for other in both["there"]] for one in both["here"]]
    expected = 1 - np.mean(np.diag(apart)) / np.mean(apart)
    row = found.agreement.set_index("where").loc["between the two"]
    assert row["estimate"] == pytest.approx(expected)
    assert row["low"] < row["estimate"] < row["high"]


def test_agreement_across_of_single_judgements_is_lins_concordance():
    rng = np.random.default_rng(3)
    x = rng.normal(60, 10, 50)
    y = x + rng.normal(5, 8, 50)
    concordance = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert cross_replication(x, y, x**2 + y**2, np.ones((1, 50)))[0] == pytest.approx(concordance)
    assert np.isnan(cross_replication(np.full(5, 0.1), np.full(5, 0.1), np.full(5, 0.02), np.ones((1, 5)))[0])


def test_agreement_inside_is_that_of_the_campaigns_own_section_on_shared_items(two):
    here, there = two
    found = compared(here, there)
    for where, frame, rest in (("here", here, there), ("there", there, here)):
        items = pd.MultiIndex.from_frame(rest[["system", "doc", "segment"]])
        kept = frame[pd.MultiIndex.from_frame(frame[["system", "doc", "segment"]]).isin(items)]
        kept.attrs |= frame.attrs
        expected = campaign.measure_agreement(campaign.from_ratings(kept), resamples=20)
        row = found.agreement.set_index("where").loc[where]
        assert tuple(row[["estimate", "low", "high", "items"]]) == pytest.approx(
            (expected.estimate, expected.low, expected.high, expected.items)
        )


def test_people_in_both_are_held_against_themselves(two):
    here, there = two
    found = compared(here, there)
    there = there.assign(score=(there["score"] - 1) * 25)
    assert found.persons["annotator"].tolist() == ["pb", "pc"]
    for row in found.persons.itertuples():
        one, other = (by_item(frame[frame["annotator"] == row.annotator]) for frame in (here, there))
        both = pd.concat([one, other], axis=1, keys=["x", "y"]).dropna()
        assert row.items == len(both) >= FEWEST
        assert row.pearson == pytest.approx(stats.pearsonr(both["x"], both["y"])[0])
        assert row.kendall_b == pytest.approx(stats.kendalltau(both["x"], both["y"])[0])
        assert row.difference == pytest.approx((both["x"] - both["y"]).mean())
        assert row.median_abs_diff == pytest.approx((both["x"] - both["y"]).abs().median())


def test_decisions_are_those_of_wilcoxon_and_holm_on_shared_items():
    here = judgements(5, documents=60, length=1, gap=5.0, name="one")
    there = judgements(6, documents=80, length=1, gap=2.0, first=15, name="two")
    there.loc[there["system"] == "s1", "score"] = (there.loc[there["system"] == "s1", "score"] - 40).clip(0)
    found = compared(here, there)
    both = pd.concat([by_item(here), by_item(there)], axis=1, keys=["here", "there"]).dropna()
    winners = {}
    for side in both:
        wide = both[side].unstack("system")
        tests = {}
        for a, b in itertools.combinations(wide, 2):
            better, worse = (a, b) if wide[a].mean() > wide[b].mean() else (b, a)
            p = stats.wilcoxon(
                wide[better], wide[worse], alternative="greater", correction=True, method="asymptotic"
            ).pvalue
            tests[frozenset((a, b))] = (better, p)
        ordered = sorted(tests, key=lambda pair: tests[pair][1])
        adjusted = np.maximum.accumulate([min(tests[pair][1] * (len(tests) - k), 1) for k, pair in enumerate(ordered)])
        winners[side] = {pair: tests[pair][0] if p < 0.05 else "" for pair, p in zip(ordered, adjusted)}
    verdicts = set()
    for row in found.decisions.itertuples():
        one, other = (winners[side][frozenset((row.system_a, row.system_b))] for side in ("here", "there"))
        assert (row.better_here, row.better_there) == (one, other)
        expected = NEITHER if not one and not other else SAME if one == other else OPPOSITE if one and other else None
        assert row.verdict == (expected or (HERE if one else THERE))
        verdicts.add(row.verdict)
    assert {SAME, OPPOSITE} < verdicts
    assert "The two campaigns contradict each other on" in sentences.say(found)[0]
    assert "is better here, " in " ".join(sentences.say(found))


def test_intervals_are_as_wide_as_a_plain_bootstrap_over_texts_and_people_makes_them():
    here = judgements(7, documents=24, people=("a", "b", "c"), share=0.6, name="one")
    there = judgements(8, documents=24, people=("d", "e", "f", "g"), share=0.6, name="two")
    found = compared(here, there, resamples=1500)
    assert found.drawn == ("documents", "annotators")
    rng, draws = np.random.default_rng(1), []
    both = set(by_item(here).index) & set(by_item(there).index)
    sides = []
    for frame in (here, there):
        kept = frame[pd.MultiIndex.from_frame(frame[["system", "doc", "segment"]]).isin(both)]
        weight = 1 / kept.groupby(["system", "doc", "segment"])["score"].transform("size")
        codes = [pd.factorize(kept[name], sort=True)[0] for name in ("system", "doc", "annotator")]
        sides.append((*codes, weight.to_numpy(), kept["score"].to_numpy()))
    for _ in range(2000):
        times = np.bincount(rng.integers(0, 24, 24), minlength=24)
        means = []
        for system, doc, who, weight, score in sides:
            people = who.max() + 1
            w = weight * times[doc] * np.bincount(rng.integers(0, people, people), minlength=people)[who]
            means.append(np.bincount(system, w * score) / np.bincount(system, w))
        draws.append(means[0] - means[1])
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    table = held(found)
    width = (high - low).mean()
    assert table["low"].to_numpy() == pytest.approx(low, abs=0.1 * width)
    assert table["high"].to_numpy() == pytest.approx(high, abs=0.1 * width)


def test_the_same_texts_and_people_are_drawn_in_both():
    shared = np.array(["d1", "d2", "d3", "d3"])
    other = np.array(["d3", "d2", "d1", "d9", "d8"])
    here, there = redrawn.Together(shared, other)(200, np.random.default_rng(1))
    assert (here[:, [0, 1, 2]] == there[:, [2, 1, 0]]).all()
    assert (here[:, [0, 1, 2]].sum(axis=1) == 3).all()  # three documents are drawn from three, whatever else there is
    assert (there[:, [3, 4]].sum(axis=1) == 2).all()
    assert here.std() > 0


@pytest.mark.parametrize("digits", [-1, 3])
def test_draws_of_items_are_correlations_of_the_items_drawn(digits):
    """By both ways to count pairs: few different scores, and hardly any two alike."""
    rng = np.random.default_rng(4)
    here = rng.normal(60, 15, 80).round(digits)
    there = (here + rng.normal(0, 15, 80)).round(digits)
    segments = [f"{number:02}" for number in range(80)]
    index = pd.MultiIndex.from_product([["s"], ["d"], segments], names=["system", "doc", "segment"])
    cells = pd.DataFrame({"here": here, "there": there, "here_square": here**2, "there_square": there**2}, index=index)
    shared = Shared(("doc", "segment"), ["s"], (), index, (cells, cells), cells)
    found = redrawn.draw_items(cells, shared, ("segments",), resamples=30, seed=3)
    draws = resample(lambda counts: counts, np.arange(80), resamples=30, seed=3).astype(int)  # the same draws
    for counts, (r, tau, across) in zip(draws, found, strict=True):
        x, y = np.repeat(here, counts), np.repeat(there, counts)
        assert (r, tau) == pytest.approx((stats.pearsonr(x, y)[0], stats.kendalltau(x, y)[0]))
        concordance = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
        assert across == pytest.approx(concordance)


# Real judgements


@pytest.fixture(scope="module")
def ruction(mirrored):
    """Name the folder of the campaign that judged one set of texts under four protocols."""
    [folder] = mirrored("MANIFEST.tsv").parent.glob("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5")
    return folder


def released(folder, protocol):
    """Read the released segment scores: (system, line) -> score, without the reference."""
    rows = [line.split("\t") for line in (folder / f"en-de.{protocol}.seg.score").read_text().splitlines()]
    scores = {(system, place % LINES): score for place, (system, score) in enumerate(rows) if score != "None"}
    return pd.Series({key: float(score) for key, score in scores.items() if key[0] != "refA"})


@pytest.fixture(scope="module")
def protocols(ruction, tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("protocols"), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALKIT_SALT_FILE", str(folder / "salt"))
        for name, (export, kind) in EXPORTS.items():
            path = folder / f"{name}.parquet"
            importing.import_campaign(
                [ruction / f"{export}.scores.csv"],
                path,
                batches=ruction / f"data/batches_wmt23_en-de_{kind}.json",
                allow_rejected=True,
                **({"weights": WEIGHTS} if kind == "mqm" else {}),
            )
            found[name] = data.open_campaign(path)[0]
    return found


@pytest.mark.parametrize(
    ("other", "judged", "both"), [("ESA-2", 2484, 2484), ("ESA-IAA", 904, 904), ("MQM-1", 2484, 2484)]
)
def test_two_protocols_compare_as_their_released_scores_do(other, judged, both, protocols, ruction):
    found = compared(protocols["ESA-1"], protocols[other], resamples=60)
    scores = pd.DataFrame({"here": released(ruction, "ESA-1"), "there": released(ruction, other)}).dropna()
    assert found.sizes["items"] == (12 * 207, judged, len(scores))
    means = scores.groupby(level=0).mean()
    table = held(found)
    assert table["mean_here"].to_dict() == pytest.approx(means["here"].to_dict())
    assert table["mean_there"].to_dict() == pytest.approx(means["there"].to_dict(), abs=1e-8)
    for of, pairs in (("systems, on shared items", means), ("items", scores)):
        tau = stats.kendalltau(pairs["here"], pairs["there"])[0]
        assert found.measure(of, "kendall_b")["estimate"] == pytest.approx(tau)
        r = stats.pearsonr(pairs["here"], pairs["there"])[0]
        assert found.measure(of, "pearson")["estimate"] == pytest.approx(r)
    whole = [released(ruction, protocol).groupby(level=0).mean() for protocol in ("ESA-1", other)]
    of_all = found.measure("systems, on all items of either", "kendall_b")
    assert bool(of_all) == (judged < 2484)  # else nothing but shared items was judged
    assert not of_all or of_all["estimate"] == pytest.approx(stats.kendalltau(*whole)[0])
    said = " ".join(sentences.say(found))
    assert found.drawn == ("documents", "annotators")
    if other == "MQM-1":
        assert "Levels are not compared: the ends of the scale are not declared there" in said
        assert "difference" not in table
        assert found.level == {}
        assert len(found.agreement) == 0
    else:
        assert found.level["difference"] == pytest.approx((scores["here"] - scores["there"]).mean())
        x, y = scores["here"], scores["there"]
        concordance = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var(ddof=0) + y.var(ddof=0) + (x.mean() - y.mean()) ** 2)
        assert found.agreement.set_index("where").loc["between the two", "estimate"] == pytest.approx(concordance)
    assert draw.against(found).get_label().startswith("eng-deu: the places of 12 systems in two campaigns")


# Laws


@st.composite
def designs(draw):
    """Any small campaign, and another on the same outputs."""
    seed, systems, documents = (draw(st.integers(*ends)) for ends in ((0, 999), (1, 4), (6, 24)))
    people = draw(st.sampled_from([("a",), ("a", "b"), ("a", "b", "c", "d")]))
    scale = draw(st.sampled_from([(0.0, 100.0), (1.0, 5.0)]))
    options = {"systems": systems, "documents": documents, "people": people, "scale": scale}
    here = judgements(seed, share=draw(st.sampled_from([0.8, 1.0])), name="one", **options)
    share, prefix = draw(st.sampled_from([0.8, 1.0])), draw(st.sampled_from("pq"))
    there = judgements(seed + 1, share=share, name="two", prefix=prefix, **options)
    return here, there


@settings(max_examples=5)
@given(designs())
def test_a_campaign_against_itself_is_the_same(design):
    here, _ = design
    found = compared(here, here, score="auto")
    table = found.systems
    assert (table["rank_here"] == table["rank_there"]).all()
    assert (table["difference"] == 0).all()
    if found.drawn:
        assert (table[["low", "high"]] == 0).all(axis=None)
    one = found.alike[found.alike["estimate"].notna()]
    assert one["estimate"].to_numpy() == pytest.approx(1)
    assert one[["low", "high"]].dropna().to_numpy() == pytest.approx(1)
    assert found.level["sd_difference"] == 0
    assert set(found.decisions["verdict"]) <= {SAME, NEITHER}
    assert (found.persons["median_abs_diff"] == 0).all()
    assert found.names == ("one", "one-against")


@settings(max_examples=5)
@given(designs())
def test_swapping_the_sides_swaps_signs(design):
    here, there = design
    ahead, back = compared(here, there), compared(there, here)
    one, other = held(ahead), held(back)
    for ours, theirs, sign in (
        ("difference", "difference", -1),
        ("low", "high", -1),
        ("mean_here", "mean_there", 1),
        ("rank_here", "rank_there", 1),
    ):
        assert one[ours].to_numpy() == pytest.approx(sign * other[theirs].to_numpy(), nan_ok=True)
    assert ahead.level["difference"] == pytest.approx(-back.level["difference"])
    assert (ahead.level["low"], ahead.level["sd_here"]) == pytest.approx(
        (-back.level["high"], back.level["sd_there"]), nan_ok=True
    )
    values = ["estimate", "low", "high"]
    assert ahead.alike[values].to_numpy() == pytest.approx(back.alike[values].to_numpy(), nan_ok=True)
    across = [found.agreement.set_index("where")[values].loc["between the two"].to_numpy() for found in (ahead, back)]
    assert across[0] == pytest.approx(across[1])
    swapped = {SAME: SAME, OPPOSITE: OPPOSITE, NEITHER: NEITHER, HERE: THERE, THERE: HERE}
    verdicts = [found.decisions.set_index(["system_a", "system_b"])["verdict"].to_dict() for found in (ahead, back)]
    assert verdicts[0] == {pair: swapped[verdict] for pair, verdict in verdicts[1].items()}


@settings(max_examples=3)
@given(designs(), st.integers(0, 99))
def test_the_order_of_rows_is_irrelevant_and_a_shift_of_one_side_moves_the_difference_alone(design, seed):
    here, there = design
    found = compared(here, there)
    shuffled = there.sample(frac=1, random_state=seed).reset_index(drop=True)
    pd.testing.assert_frame_equal(compared(here, shuffled).systems, found.systems)
    low, high = there.attrs["scale"]
    wide = {"scale": (low, high + 10)}
    moved = told(there.assign(score=there["score"] + 10), name="two", **wide)
    base = compared(told(here.copy(), name="one", **wide), told(there.copy(), name="two", **wide))
    up = compared(told(here.copy(), name="one", **wide), moved)
    assert held(up)["difference"].to_numpy() == pytest.approx(held(base)["difference"].to_numpy() - 10)
    assert up.alike["estimate"].to_numpy() == pytest.approx(base.alike["estimate"].to_numpy(), nan_ok=True)


def test_every_design_has_sentences_and_a_picture_and_intervals_hold_their_estimates():
    for seed, (systems, people, share) in enumerate(itertools.product((1, 4), (("a",), tuple("abcd")), (0.5, 1.0))):
        options = {"systems": systems, "people": people, "share": share, "documents": 16}
        found = compared(judgements(seed, name="one", **options), judgements(90 + seed, name="two", **options))
        assert all("nan" not in text for text in sentences.say(found))
        known = found.alike.dropna()
        assert (known["low"] <= known["estimate"]).all()
        assert (known["estimate"] <= known["high"]).all()
        assert draw.against(found).get_label()


# What cannot be compared, or only in part


def test_without_a_second_campaign_there_is_nothing():
    found = campaign.compare_campaigns(campaign.from_ratings(judgements(1)), None)
    assert not found


def test_one_shared_system_has_no_order_but_levels():
    found = compared(judgements(1), judgements(2).query("system == 's1'"))
    assert found.systems["system"].tolist() == ["s1"]
    said = " ".join(sentences.say(found))
    assert "s1 is the only system in both, so there is no order to compare." in said
    assert "3 systems were judged only here." in said
    assert found.decisions.empty
    assert "items" in set(found.alike["of"])
    assert np.isfinite(found.level["difference"])


def test_systems_named_otherwise_share_nothing_and_both_sides_are_named():
    there = judgements(2)
    found = compared(judgements(1), like(there, there.assign(system="wmt23." + there["system"])))
    assert not found
    assert found.reason == (
        "none of the 4 systems here (s0, s1, s2 and s3) is among the 4 systems there (wmt23.s0, wmt23.s1, wmt23.s2 and "
        "wmt23.s3)."
    )
    assert "name systems, documents and segments alike in both files" in sentences.say(found)[0]


def like(frame, made):
    made.attrs = dict(frame.attrs)
    return made


def test_other_documents_and_few_segments_are_refused_with_counts():
    here, there = judgements(1), judgements(2, first=50)
    found = compared(here, there)
    assert "4 systems of both campaigns (s0, s1, s2 and s3) have no segments in common" in found.reason
    assert "30 segments here and 30 there (documents here: d00, d01, d02, d03 and 2 others; there: d50" in found.reason
    few = like(there, pd.concat([there, judgements(3).query("doc == 'd00'")], ignore_index=True))
    assert "have 5 segments in common at most" in compared(here, few).reason


def test_a_system_with_few_shared_segments_is_left_out_and_told():
    here, there = judgements(1), judgements(2)
    there = like(there, there[there["system"].ne("s2") | there["doc"].eq("d00")].reset_index(drop=True))
    found = compared(here, there)
    assert found.sparse == ("s2",)
    assert "s2" not in set(found.systems["system"])
    assert "Left out, with fewer than 10 of them: s2." in " ".join(sentences.say(found))


def test_most_that_is_not_shared_is_told():
    said = " ".join(sentences.say(compared(judgements(1, documents=20), judgements(2, documents=4))))
    assert "20% of the 400 here and all of the 80 there" in said
    assert "Take care: most of what was judged here is not among them." in said


def test_another_language_pair_or_criterion_is_refused():
    here, there = judgements(1), judgements(2)
    found = compared(here, like(there, there.assign(tgt_lang="jpn")))
    assert found.reason == "eng-deu, the language pair in detail, is not in c, which has eng-jpn."
    mine = like(here, here.assign(criterion="adequacy"))
    found = compared(mine, like(there, there.assign(criterion="fluency")))
    assert found.reason == "here adequacy was judged, there fluency."
    both = pd.concat([there.assign(criterion=name) for name in ("fluency", "adequacy")], ignore_index=True)
    both.loc[both["criterion"] == "fluency", "score"] = 0
    found = compared(mine, like(there, both))
    assert found.systems["mean_there"].min() > 0
    assert "What was judged in both is adequacy." in " ".join(sentences.say(found))
    assert "What was judged: here adequacy, there not named." in " ".join(sentences.say(compared(mine, there)))


def test_identical_scores_have_no_order():
    here, there = judgements(1), judgements(2)
    flat = like(there, there.assign(score=50.0))
    found = compared(here, flat)
    said = " ".join(sentences.say(found))
    assert "All systems have the same score there, so there is no order to compare." in said
    assert "one of the campaigns gave all shared items the same score" in said
    both = compared(like(here, here.assign(score=50.0)), flat)
    assert "All systems have the same score here and there" in " ".join(sentences.say(both))
    assert both.level["difference"] == 0
    assert "all judgements are the same score" in " ".join(sentences.say(both))
    assert draw.against(both).get_label()


def test_segments_numbered_throughout_meet_those_of_a_file_that_numbers_them_so_too():
    here, there = judgements(1), judgements(2)
    number = here.groupby(["doc", "segment"]).ngroup().astype("str")
    anew = like(here, here.assign(segment=number, doc=here["doc"] + here["system"]))  # a document for each system
    kept = like(there, there.assign(segment=there.groupby(["doc", "segment"]).ngroup().astype("str")))
    found = compared(anew, kept)
    expected = compared(here, there)
    assert held(found)["difference"].to_numpy() == pytest.approx(held(expected)["difference"].to_numpy())
    found = compared(anew, there)
    assert not found
    assert found.reason == "segments are numbered throughout here, and anew in every document there."


@pytest.mark.parametrize(("ours", "theirs", "turned"), [("", "", True), ("up", "up", True), ("", "higher", False)])
def test_low_is_good_in_both_unless_the_other_import_says_otherwise(ours, theirs, turned):
    here, there = judgements(1), judgements(2, name="d")
    here.attrs["reading"], there.attrs["reading"] = {"orientation": ours}, {"orientation": theirs}
    mine = campaign.from_ratings(here, higher_is_better=False)
    other = campaign.counterpart(mine, there)
    assert other.turned == turned
    found = campaign.compare_campaigns(mine, other, resamples=40, score="raw")
    assert (found.measure("systems, on shared items", "pearson")["estimate"] > 0) == turned
    assert ("its import says: higher." in " ".join(sentences.say(found))) != turned


def test_scores_that_run_against_each_other_are_told():
    here, there = judgements(1, gap=15), judgements(2, gap=15)
    found = compared(here, like(there, there.assign(score=100 - there["score"])))
    assert "in one of the two a low score may be good" in " ".join(sentences.say(found))


def test_errors_that_weigh_alike_have_levels_and_others_have_none():
    here, there = judgements(1), judgements(2)
    for frame in (here, there):
        frame["score"] -= 100
        told(frame, scale=None, receipt={"weights": "minor 1, major 5"})
    there.attrs["source"]["name"] = "d"
    found = compared(here, there)
    assert found.footing.unit.startswith("points of errors")
    assert found.level["difference"] == pytest.approx(by_item(here).mean() - by_item(there).mean())
    there.attrs["reading"] = {"receipt": {"weights": "minor 1, major 25"}}
    found = compared(here, there)
    assert "the ends of the scale are not declared here or there" in " ".join(sentences.say(found))
    assert "difference" not in found.systems
    assert find_footing(campaign.from_ratings(judgements(1)), campaign.from_ratings(judgements(2))).unit


def test_systems_that_are_ranked_by_z_are_compared_by_z():
    here, there = judgements(1, people=tuple("abc")), judgements(2, people=tuple("abc"))
    found = compared(here, there, score="z")
    mine = campaign.from_ratings(here)
    means = mine.judged.groupby(["system", "doc", "segment"])["normalized"].mean().groupby("system").mean()
    assert held(found)["rank_here"].tolist() == means.rank(ascending=False).tolist()
    assert "by z-scores, are alike" in " ".join(sentences.say(found))


def test_only_judgements_that_rank_systems_count():
    here, there = judgements(1), judgements(2)
    odd = there.assign(item_type=np.where(there["system"] == "s3", "degraded", "system"))
    found = compared(here, like(there, odd))
    assert found.systems["system"].tolist() == ["s0", "s1", "s2"]
    shared = find_shared(*(campaign.from_ratings(frame) for frame in (here, like(there, odd))))
    assert not shared.whole or len(shared.systems) == 3


# The page


@pytest.mark.slow
def test_the_page_has_the_section_and_tells_no_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("one", 1), ("two", 2)):
        frame = judgements(seed).drop(columns="item_type")
        frame.to_csv(f"{name}.csv", index=False)
    arguments = ["run", "campaign", "-p", "file=one.csv", "-p", "against=two.csv", "-p", "resamples=20", "--out", "out"]
    assert cli.main(arguments) == 0
    report = json.loads((tmp_path / "out" / "campaign.json").read_text())
    assert [row["system"] for row in report["recorded"]["against_systems"]]
    assert {"against_shared", "against_alike", "against_decisions", "against_agreement", "against_persons"} <= set(
        report["recorded"]
    )
    assert report["parameters"]["against"] == "two.csv"
    assert {"one", "two"} <= {entry["name"] for entry in report["data"]}
    page = (tmp_path / "out" / "campaign.html").read_text()
    assert str(tmp_path) not in page
    assert "The two campaigns do not contradict each other" in page


def test_a_second_campaign_alone_stands_beside_the_example(tmp_path):
    from evalkit import ROOT
    from evalkit.reports import execute
    from evalkit.reports.studies import Study

    (tmp_path / "mine.csv").write_text("x", encoding="utf-8")
    notebook = ROOT / "notebooks" / "studies" / "campaign.ipynb"
    study = Study("campaign", notebook, "t", data=("wmt22-mturk",), parameters={"against": "mine.csv"})
    task = execute.bound(study, {}, tmp_path)
    assert task.data == ("wmt22-mturk",), "the example still needs its data"
    assert (
        execute.bound(replace(study, parameters={"file": "mine.csv", "against": "mine.csv"}), {}, tmp_path).data == ()
    )


def test_a_file_that_cannot_be_read_is_refused():
    with pytest.raises(DataError):
        data.open_campaign("absent.parquet")
