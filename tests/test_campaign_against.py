"""Two campaigns compared: as pandas and scipy do on random and on real judgements; laws; what cannot be compared."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import campaign, data
from evalkit.campaign.against import HERE, NEITHER, OPPOSITE, SAME, THERE, Shared, draw_items
from evalkit.data import importing
from evalkit.stats.inference import resample
from tests.makers import ratings
from tests.pages import telling

compare_campaigns = telling(campaign.compare_campaigns)

pytestmark = pytest.mark.usefixtures("own_salt")

LINES = 557  # of the test set: each system has so many in a file of scores


def judgements(seed, *, people="ab", first=0, share=1.0, scale=(0.0, 100.0), name="c", prefix="p", **sizes):
    """Draw judgements of texts that are equally hard, numbering documents from ``first`` on, segments in each."""
    sizes = {"systems": 4, "documents": 6, "length": 5, "gap": 6.0} | sizes
    spread = {"segment": 0.0, "annotator": 3.0, "residual": 12.0}
    people = [prefix + person for person in people]
    frame = ratings(seed, people=people, level=70, spread=spread, missing=1 - share, step=1, **sizes)
    place = (frame["segment"].astype(int) % sizes["length"]).astype(str)
    doc = [f"d{first + int(doc[1:]):02}" for doc in frame["doc"]]
    low, high = scale
    score = (low + frame["score"] * (high - low) / 100).round(1)
    return told(frame.assign(segment=place, doc=doc, score=score), name=name, scale=scale)


def told(frame, *, name="c", scale=(0.0, 100.0), **reading):
    """Say which file a table is of, its scale, and how it was read."""
    source = {"name": name, "source": "real", "origin": f"{name}.csv", "digest": name}
    frame.attrs |= {"source": source, "scale": scale, "reading": reading}
    return frame


def like(frame, **columns):
    """The same judgements with other columns."""
    made = frame.assign(**columns)
    made.attrs = dict(frame.attrs)
    return made


def compared(here, there, **options):
    mine = campaign.from_ratings(here)
    other = campaign.counterpart(mine, there)
    return compare_campaigns(mine, other, **({"resamples": 20, "score": "raw"} | options))


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
    both = pd.concat([one, other], axis=1, keys=["here", "there"]).dropna().round(9)  # so that ties are ties
    sizes = found.sizes
    assert sizes["items"][2] == len(both)
    assert sizes["items"][:2] == (len(one.drop("S3")), len(other))
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
    shown = found.places.pivot(index="system", columns="campaign")
    for side, name in (("here", "here: one"), ("there", "there: two")):  # those of places, not of differences
        ends = table[[f"rank_{side}", f"rank_{side}_low", f"rank_{side}_high"]]
        assert shown.xs(name, axis=1, level="campaign").to_numpy().tolist() == ends.to_numpy().tolist()
    for of, (x, y) in {"systems": (means["here"], means["there"]), "items": (both["here"], both["there"])}.items():
        assert found.measure(of, "kendall_b")["estimate"] == pytest.approx(stats.kendalltau(x, y)[0])
        assert found.measure(of, "pearson")["estimate"] == pytest.approx(stats.pearsonr(x, y)[0])
    difference = both["here"] - both["there"]
    level = found.level
    assert level["difference"] == pytest.approx(difference.mean())
    assert found.footing.stretched


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


def test_decisions_are_those_of_wilcoxon_and_holm_on_shared_items():
    here = judgements(5, documents=60, length=1, gap=5.0, name="one")
    there = judgements(6, documents=80, length=1, gap=2.0, first=15, name="two")
    there.loc[there["system"] == "S1", "score"] = (there.loc[there["system"] == "S1", "score"] - 40).clip(0)
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


def test_intervals_of_differences_are_paired_t_intervals_over_documents_where_one_person_judged():
    here, there = (judgements(seed, documents=24, people=people, name=people) for seed, people in ((7, "a"), (8, "b")))
    found = compared(here, there, resamples=2000)
    assert found.drawn == ("documents",)
    apart = (by_item(here) - by_item(there)).groupby(["system", "doc"]).mean().unstack("system")
    reach = stats.t.ppf(0.975, 23) * apart.sem()
    table = held(found)
    for end, expected in (("low", apart.mean() - reach), ("high", apart.mean() + reach)):
        assert table[end].to_numpy() == pytest.approx(expected.to_numpy(), abs=0.12 * reach.mean())


def test_draws_of_items_are_correlations_of_the_items_drawn():
    rng = np.random.default_rng(4)
    here = rng.normal(60, 15, 80).round(-1)
    there = (here + rng.normal(0, 15, 80)).round(-1)
    segments = [f"{number:02}" for number in range(80)]
    index = pd.MultiIndex.from_product([["s"], ["d"], segments], names=["system", "doc", "segment"])
    sides = pd.DataFrame({"here": here, "there": there}, index=index)
    cells = pd.concat({"score": sides, "square": sides**2}, axis=1)
    shared = Shared(key=("doc", "segment"), items=index)
    found = draw_items(cells, shared, documents=False, resamples=30, seed=3)
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


@pytest.mark.slow
def test_two_protocols_compare_as_their_released_scores_do(ruction, tmp_path):
    def judged(export):
        out, batches = tmp_path / f"{export}.parquet", ruction / "data/batches_wmt23_en-de_esa.json"
        importing.import_campaign([ruction / f"{export}.scores.csv"], out, batches=batches, allow_rejected=True)
        return data.open_campaign(out)[0]

    found = compared(judged("240315rc5ESA"), judged("240521rc6ESA"), resamples=60)
    scores = pd.DataFrame({"here": released(ruction, "ESA-1"), "there": released(ruction, "ESA-IAA")}).dropna()
    assert found.sizes["items"] == (2484, len(scores), len(scores))
    means, table = scores.groupby(level=0).mean(), held(found)
    assert table["mean_here"].to_dict() == pytest.approx(means["here"].to_dict())
    assert table["mean_there"].to_dict() == pytest.approx(means["there"].to_dict(), abs=1e-8)
    for of, pairs in (("systems", means), ("items", scores)):
        for measure, function in (("kendall_b", stats.kendalltau), ("pearson", stats.pearsonr)):
            expected = function(pairs["here"], pairs["there"])[0]
            assert found.measure(of, measure)["estimate"] == pytest.approx(expected)
    assert found.drawn == ("documents", "annotators")
    assert found.level["difference"] == pytest.approx((scores["here"] - scores["there"]).mean())


# Laws


@pytest.mark.parametrize(
    "here", [judgements(1, name="one"), judgements(2, people="a", share=0.8, scale=(1.0, 5.0), name="one")]
)
def test_a_campaign_against_itself_is_the_same(here):
    found = compared(here, here, score="auto")
    table = found.systems
    assert (table["rank_here"] == table["rank_there"]).all()
    assert (table["difference"] == 0).all()
    if found.drawn:
        assert (table[["low", "high"]] == 0).all(axis=None)
    one = found.alike[found.alike["estimate"].notna()]
    assert one["estimate"].to_numpy() == pytest.approx(1)
    assert one[["low", "high"]].dropna().to_numpy() == pytest.approx(1)
    assert found.level["difference"] == 0
    assert set(found.decisions["verdict"]) <= {SAME, NEITHER}
    assert found.names == ("one", "one-against")


# What cannot be compared, or only in part


def test_segments_numbered_throughout_meet_those_of_a_file_that_numbers_them_so_too():
    here, there = judgements(1), judgements(2)
    number = here.groupby(["doc", "segment"]).ngroup().astype("str")
    anew = like(here, segment=number, doc=here["doc"] + here["system"])  # a document for each system
    kept = like(there, segment=there.groupby(["doc", "segment"]).ngroup().astype("str"))
    found = compared(anew, kept)
    expected = compared(here, there)
    assert held(found)["difference"].to_numpy() == pytest.approx(held(expected)["difference"].to_numpy())
    assert "numbered throughout here" in compared(anew, there).reason


HERE_JUDGED, THERE_JUDGED = judgements(1), judgements(2)
#: What cannot be compared: the two campaigns, and words of the reason.
APART = {
    "systems": (HERE_JUDGED, like(THERE_JUDGED, system="x" + THERE_JUDGED["system"]), "none of the 4 systems"),
    "documents": (HERE_JUDGED, judgements(2, first=50), "no segments in common"),
    "few segments": (HERE_JUDGED, judgements(2, first=5), "5 segments in common"),
    "languages": (HERE_JUDGED, like(THERE_JUDGED, tgt_lang="jpn"), "not in c"),
    "criteria": (like(HERE_JUDGED, criterion="adequacy"), like(THERE_JUDGED, criterion="fluency"), "adequacy"),
}


@pytest.mark.parametrize("case", APART)
def test_what_cannot_be_compared_is_refused_with_its_reason(case):
    here, there, reason = APART[case]
    found = compared(here, there)
    assert not found
    assert reason in found.reason


def test_only_what_is_shared_enters():
    there = THERE_JUDGED
    found = compared(HERE_JUDGED, like(there[there["system"] == "S1"]))
    assert found.systems["system"].tolist() == ["S1"]
    assert found.decisions.empty, "one system has no order"
    assert np.isfinite(found.level["difference"])
    few = compared(HERE_JUDGED, like(there[there["system"].ne("S2") | there["doc"].eq("d00")].reset_index(drop=True)))
    assert few.sparse == ("S2",)
    odd = compared(HERE_JUDGED, like(there, item_type=np.where(there["system"] == "S3", "degraded", "system")))
    for one, names in ((few, ["S0", "S1", "S3"]), (odd, ["S0", "S1", "S2"])):
        assert held(one).index.tolist() == names
    both = pd.concat([like(there, criterion="fluency", score=0.0), like(there, criterion="adequacy")])
    same = compared(like(HERE_JUDGED, criterion="adequacy"), like(both.reset_index(drop=True)))
    assert same.systems["mean_there"].min() > 0, "what was judged in both is adequacy"


def test_identical_scores_have_levels_but_no_order():
    found = compared(like(HERE_JUDGED, score=50.0), like(THERE_JUDGED, score=50.0))
    assert found.level["difference"] == 0
    assert found.alike["estimate"].isna().all()


@pytest.mark.parametrize(("ours", "theirs", "turned"), [("", "", True), ("up", "up", True), ("", "higher", False)])
def test_low_is_good_in_both_unless_the_other_import_says_otherwise(ours, theirs, turned):
    here, there = told(like(HERE_JUDGED), orientation=ours), told(like(THERE_JUDGED), name="d", orientation=theirs)
    mine = campaign.from_ratings(here, higher_is_better=False)
    other = campaign.counterpart(mine, there)
    assert other.turned == turned
    found = compare_campaigns(mine, other, resamples=40, score="raw")
    assert (found.measure("systems", "pearson")["estimate"] > 0) == turned


@pytest.mark.parametrize("weight", [5, 25])
def test_errors_that_weigh_alike_have_levels_and_others_have_none(weight):
    here, there = (
        like(HERE_JUDGED, score=HERE_JUDGED["score"] - 100),
        like(THERE_JUDGED, score=THERE_JUDGED["score"] - 100),
    )
    here = told(here, scale=None, receipt={"weights": "minor 1, major 5"})
    there = told(there, scale=None, name="d", receipt={"weights": f"minor 1, major {weight}"})
    found = compared(here, there)
    assert ("difference" in found.systems) == (weight == 5)
    if weight == 5:
        assert found.level["difference"] == pytest.approx(by_item(here).mean() - by_item(there).mean())
