"""The simulated tables have the shape of the real ones and follow the equations that they state."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

from evalkit.data import simulate

ITEM = ["src_lang", "tgt_lang", "system", "doc", "segment"]


@pytest.fixture(scope="module")
def hits():
    return simulate.calibration_hits()


@pytest.fixture(scope="module")
def campaign():
    return simulate.xsts_campaign()


@pytest.mark.parametrize("draw", [simulate.calibration_hits, simulate.calibration_mapping, simulate.xsts_campaign])
def test_the_seed_alone_decides(draw):
    assert_frame_equal(draw(seed=3), draw(seed=3))
    assert not draw(seed=3).equals(draw(seed=4))
    assert draw(seed=3).attrs["seed"] == 3


def shape(ratings):
    """Count, per pair, what the simulation copies from the real files."""
    first = ratings[ratings["item_type"] == "calibration"]
    pairs = ratings.groupby(["src_lang", "tgt_lang"])
    return pd.DataFrame(
        {
            "rows": pairs.size(),
            "repeats": pairs["item_type"].agg(lambda kinds: kinds.eq("repeat").sum()),
            "annotators": pairs["annotator"].nunique(),
            "systems": pairs["system"].nunique(),
            "snippets": pairs["doc"].nunique(),
            "segments": first.drop_duplicates(ITEM).groupby(["src_lang", "tgt_lang"]).size(),
            "complete": first.groupby(["src_lang", "tgt_lang", "annotator"]).size().groupby(level=[0, 1]).agg(
                lambda sizes: sizes.eq(sizes.max()).sum()
            ),
        }
    )  # fmt: skip


def test_calibration_hits_have_the_shape_of_the_real_ones(hits, real):
    truth = real("wmt22-calibration-hits")
    assert list(hits) == list(truth)
    assert hits.dtypes.equals(truth.dtypes)
    assert_frame_equal(shape(hits), shape(truth))


def test_the_mapping_has_the_shape_of_the_real_one(hits, real):
    counts = []
    for mapping in (simulate.calibration_mapping(), real("wmt22-calibration-mapping")):
        pair = mapping["annotator"].str.removeprefix("sim-").str[:6]
        counts.append(mapping.groupby(pair).agg(hits=("hit", "size"), annotators=("annotator", "nunique")))
    assert_frame_equal(*counts)
    assert set(simulate.calibration_mapping()["annotator"]) <= set(hits["annotator"])


def test_names_are_plainly_simulated(hits, campaign):
    for frame in (hits, campaign, simulate.calibration_mapping()):
        for column in {"system", "doc", "annotator", "hit"} & set(frame):
            assert frame[column].str.startswith("sim-").all()


def test_repeats_repeat_an_earlier_showing(hits):
    showings = hits.groupby([*ITEM, "annotator"])["started"]
    earliest = hits["started"].eq(showings.transform("min"))
    assert earliest.eq(hits["item_type"].eq("calibration")).all()
    assert showings.size().max() == 2
    assert (hits["ended"] > hits["started"]).all()


def test_scores_follow_the_stated_model():
    """Over eight seeds: location, leniency, ticks, and repeats that differ by their noise alone."""
    draws = [simulate.calibration_hits(seed=seed).assign(seed=seed) for seed in range(8)]
    ratings = pd.concat(draws)
    by = ratings.groupby(["seed", "annotator"])["score"]
    middle = by.median()
    n = len(middle)
    # the median of s * theta adds little to the leniency of sd 8; the bounds leave room for its spread over pairs
    assert abs(middle.mean() - 83) < 4 * 8.6 / np.sqrt(n)
    assert 7 < middle.std() < 9.5
    coarse = int(by.agg(lambda scores: scores.mod(5).eq(0).all()).sum())
    assert stats.binomtest(coarse, n, 0.4).pvalue > 0.001
    twice = ratings.groupby(["seed", "annotator", *ITEM])["score"].agg(["first", "last", "size"])
    twice = twice[twice["size"].eq(2) & twice[["first", "last"]].lt(90).all(axis=1)]  # away from the cut at 100
    difference = twice["last"] - twice["first"]
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))
    assert 7 < difference.std() < 12  # 7 * sqrt(2) = 9.9, less the selection below 90, plus the ticks


def test_the_campaign_shows_each_group_its_leniency():
    """On levels 2 to 4 the calibration set's mean median lies at 3 plus the group's leniency, as equation 2 wants."""
    campaign = simulate.xsts_campaign(sd_language=0.6)
    items = campaign[campaign["item_type"] == "calibration"]
    level = items["segment"].astype(int).sub(1) // 12 + 1
    items = items[level.between(2, 4)]
    medians = items.groupby(["src_lang", "tgt_lang", "segment"])["score"].median().reset_index()
    language = medians["src_lang"].where(medians["src_lang"] != "eng", medians["tgt_lang"])
    found = medians.groupby(language)["score"].mean() - 3
    truth = pd.Series(campaign.attrs["truth"]["leniency"])
    error = found - truth
    # sd of an error: the annotators' own leniencies, .15 * 1.25 / sqrt(3) = .11, and little else
    assert np.sqrt((error**2).mean()) < 0.2
    assert error.abs().max() < 0.45
    assert np.sqrt((truth**2).mean()) > 0.35  # so that a campaign without leniency would have failed above


def test_the_campaign_is_balanced(campaign):
    assert campaign["score"].isin([1, 2, 3, 4, 5]).all()
    sizes = campaign.groupby(["src_lang", "tgt_lang", "annotator", "item_type"]).size().unstack()
    assert sizes.drop_duplicates().to_dict("records") == [{"calibration": 60, "reference": 60, "system": 60}]
    assert len(sizes) == 14 * 2 * 3
    small = simulate.xsts_campaign(languages=("swh",), annotators=2, segments=5, per_level=1)
    assert len(small) == 2 * 2 * 15
    quality = pd.Series(campaign.attrs["truth"]["quality"])
    assert quality.between(2, 4.6).all()
    assert len(quality) == 28


def test_references_beat_systems(campaign):
    means = campaign.groupby(["src_lang", "tgt_lang", "item_type"])["score"].mean().unstack()
    assert (means["reference"] > means["system"]).mean() > 0.9
