"""The simulated tables have the shape of the real ones and follow the equations that they state."""

import itertools
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import fleiss_kappa

from evalkit import DataError
from evalkit.data import registry, simulate
from evalkit.data.simulate import Behaviour, Control, Design, Quality
from evalkit.human import preferences

ITEM = ["src_lang", "tgt_lang", "system", "doc", "segment"]


STAND_INS = [name for name, entry in registry.entries().items() if entry.stand_in]
#: Those that lack texts or times, which no study reads of them.
PARTIAL = ["literary-preferences", "wmt23-side-by-side", "contrastive-esa"]


#: Before a change is taken one data set of each maker is drawn; the others, which it makes alike, at night.
FIRST = {simulate.recipes()[name]["maker"]: name for name in reversed(STAND_INS)}
DRAWN = [name if name in FIRST.values() else pytest.param(name, marks=pytest.mark.nightly) for name in STAND_INS]


def test_each_data_set_that_is_stood_in_for_has_a_recipe():
    assert {*simulate.recipes()} == {*STAND_INS, "tasks"}


@pytest.mark.parametrize("name", [*DRAWN, "a campaign", "post-edits"])
def test_the_seed_alone_decides_a_table_that_has_the_columns_of_the_real_one_and_names_of_its_own(name, real):
    draw = {"a campaign": simulate.campaign, "post-edits": simulate.post_edited}.get(name)
    draw = draw or partial(simulate.stand_in, name)
    drawn = draw(seed=3)
    assert drawn.equals(draw(seed=3))
    assert not drawn.equals(draw(seed=4))
    assert drawn.attrs["seed"] == 3
    for column in {"system", "annotator", "hit"} & set(drawn):
        names = "\n".join(drawn[column].dropna().unique())
        assert re.fullmatch(r"((sim-.*|place-\d|unnamed|refA|human|mt|agreed|merged)(\n|$))*", names)
    known = registry.entries().get(name)
    truth = real(name) if known and not known.optional else drawn
    assert name in PARTIAL or set(truth) <= set(drawn)
    if "tgt_lang" in truth:
        assert set(drawn["tgt_lang"].unique()) <= set(truth["tgt_lang"].unique())
    if "item_type" in truth:
        assert set(drawn["item_type"].unique()) <= set(truth["item_type"].unique())


def test_repeats_repeat_an_earlier_showing():
    hits = simulate.stand_in("wmt22-calibration-hits")
    showings = hits.groupby([*ITEM, "annotator"])["started"]
    earliest = hits["started"].eq(showings.transform("min"))
    assert earliest.eq(hits["item_type"].eq("calibration")).all()
    assert showings.size().max() == 2
    assert (hits["ended"] > hits["started"]).all()


def test_scores_follow_the_stated_model():
    """Over eight seeds: location, leniency, ticks, and repeats that differ by their noise alone."""
    draws = [simulate.stand_in("wmt22-calibration-hits", seed=seed).assign(seed=seed) for seed in range(8)]
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


def test_every_annotator_of_a_pair_judges_the_same_items_and_the_calibration_set():
    campaign = simulate.stand_in("nllb-xsts")
    assert campaign["score"].isin([1, 2, 3, 4, 5]).all()
    sizes = campaign.groupby(["src_lang", "tgt_lang", "annotator", "item_type"]).size().unstack()
    assert sizes.drop_duplicates().to_dict("records") == [{"calibration": 60, "system": 60}]
    assert len(sizes) == 14 * 2 * 3


# The generative models hit what they promise: exact kappas by enumeration, campaigns part by part


STILL = Behaviour(sd_bias=0, sd_gain=0, sd_noise=0)


def joint(kappa, marginal, annotators):
    """Enumerate the model's exact distribution over all combinations of annotators' categories."""
    share, p = np.asarray(marginal), np.sqrt(kappa)
    kinds = range(len(share))

    def chance(codes, true):
        return share[true] * np.prod([p * (code == true) + (1 - p) * share[code] for code in codes])

    every = itertools.product(kinds, repeat=annotators)
    return {codes: sum(chance(codes, true) for true in kinds) for codes in every}


@given(
    kappa=st.floats(0, 1),
    weights=st.lists(st.floats(0.01, 1), min_size=2, max_size=4),
    annotators=st.integers(2, 4),
)
def test_the_expected_kappa_is_the_square_of_the_chance_to_report_the_truth(kappa, weights, annotators):
    marginal = np.array(weights) / sum(weights)
    table = joint(kappa, marginal, annotators)
    pairs = itertools.combinations(range(annotators), 2)
    agree = np.mean([sum(prob for codes, prob in table.items() if codes[a] == codes[b]) for a, b in pairs])
    own = [sum(prob for codes, prob in table.items() if codes[0] == k) for k in range(len(marginal))]
    chance = (marginal**2).sum()
    assert sum(table.values()) == pytest.approx(1, abs=1e-12)
    assert own == pytest.approx(marginal, abs=1e-12)
    assert (agree - chance) / (1 - chance) == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(
    ("kappa", "marginal"),
    [(0.0, [0.5, 0.5]), (0.09, [0.1, 0.2, 0.7]), (0.64, [0.25] * 4), (0.99, [0.9, 0.1]), (-1 / 3, [0.25] * 4)],
)
def test_what_is_drawn_follows_the_model(kappa, marginal):
    size = 40_000
    codes = simulate.categories(kappa, marginal=marginal, items=size, annotators=3, rng=np.random.default_rng(3))[0]
    counts = np.stack([(codes == k).sum(1) for k in range(len(marginal))], axis=1)
    assert kappa >= -0.3 or (counts < 2).all(), "those who avoid each other never agree"
    assert np.bincount(codes.ravel()) / codes.size == pytest.approx(marginal, abs=0.01)
    # the agreement of an item lies in 0-1, so a mean over `size` items has a standard error of at most .0025
    assert fleiss_kappa(counts) == pytest.approx(kappa, abs=4 * 0.0025 / (1 - np.square(marginal).sum()))


# --- campaigns


def test_a_campaign_without_noise_shows_the_truth_alone():
    ratings = simulate.campaign(behaviour=STILL, quality=Quality(sd_document=0, sd_segment=0, sd_system=6), seed=2)
    truth = ratings.attrs["truth"]["systems"]
    means = ratings.groupby("system")["score"].agg(["min", "max"])
    assert (means["min"] == means["max"]).all()
    assert means["min"].to_dict() == pytest.approx({name: round(min(100, value)) for name, value in truth.items()})


def drop(ratings):
    """Tell how much lower each annotator's last five scores are than the first five."""
    by = ratings.groupby("annotator")["score"]
    return by.agg(lambda scores: scores.iloc[:5].mean() - scores.iloc[-5:].mean())


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({"sd_bias": 6.0}, lambda r: r.groupby("annotator")["score"].mean().std() > 2),
        ({"drift": -20.0}, lambda r: drop(r).min() > 12),
        ({"ticks": 7}, lambda r: r["score"].nunique() <= 7),
        ({"cut": 0.4}, lambda r: (r["score"] < 100).all()),
    ],
)
def test_each_part_of_the_behaviour_does_what_it_says_and_is_off_otherwise(change, moved):
    flat = Quality(sd_system=0, sd_document=0, sd_segment=0)
    wide = Quality(mean=100, sd_system=0, sd_document=0, sd_segment=30) if {"ticks", "cut"} & set(change) else flat
    design = Design(judgements=5)
    assert not moved(simulate.campaign(design=design, quality=wide, behaviour=STILL))
    on = {"sd_bias": 0.0, "sd_gain": 0.0, "sd_noise": 0.0} | change
    assert moved(simulate.campaign(design=design, quality=wide, behaviour=Behaviour(**on)))


def test_gain_stretches_scores_by_its_factor():
    ratings = simulate.campaign(
        design=Design(judgements=5), behaviour=Behaviour(sd_bias=0, sd_gain=0.4, sd_noise=0), quality=Quality(mean=50)
    )
    spread = ratings.groupby("annotator")["score"].std()
    gain = pd.DataFrame.from_dict(ratings.attrs["truth"]["annotators"], orient="index")["gain"]
    assert (spread / spread.iloc[0]).to_numpy() == pytest.approx((gain / gain.iloc[0]).to_numpy(), rel=0.03)


def test_fatigue_adds_noise_towards_the_end():
    flat = Quality(mean=50, sd_system=0, sd_document=0, sd_segment=0)
    tired = Behaviour(sd_bias=0, sd_gain=0, sd_noise=5, fatigue=2)
    ratings = simulate.campaign(design=Design(documents=60, annotators=2), quality=flat, behaviour=tired)
    thirds = ratings.groupby("annotator").cumcount() * 3 // ratings.groupby("annotator")["score"].transform("size")
    spread = ratings.groupby(thirds)["score"].std()
    # noise grows evenly from 5 to 15: in the first third its sd is near 6.7, in the last near 13.4
    assert spread[2] / spread[0] == pytest.approx(13.4 / 6.7, rel=0.1)


def test_degraded_context_moves_clean_copies_after_the_first_spoilt_segment_by_its_effect():
    control = Control(copies=2, degraded=0.4, loss=30, context=5)
    ratings = simulate.campaign(control=control, behaviour=STILL, quality=Quality(mean=50), design=Design(documents=40))
    keys = ["annotator", "hit", "system", "doc", "segment"]
    originals = ratings[ratings["item_type"] == "system"].set_index(keys)["score"]
    copies = ratings[ratings["item_type"] != "system"]
    before = originals.loc[list(copies[keys].itertuples(index=False, name=None))].to_numpy()
    copies = copies.assign(difference=copies["score"] - before)
    spoilt = copies["item_type"].eq("degraded")
    seen = spoilt.groupby([copies[name] for name in keys[:4]]).cumsum() > 0
    inside = (before >= 31) & (before <= 94)
    assert set(copies[spoilt & inside]["difference"].round()) <= {-30.0, -31.0, -29.0}
    assert copies[~spoilt & ~seen]["difference"].abs().max() == 0
    assert set(copies[~spoilt & seen & inside]["difference"]) <= {4.0, 5.0, 6.0}
    assert 0.3 < spoilt.mean() < 0.5


def test_hits_hold_documents_of_one_system_within_their_size_and_each_document_has_its_judgements():
    ratings = simulate.campaign(design=Design(hit=24, judgements=3))
    assert ratings.groupby("hit").size().max() <= 24
    assert ratings.groupby("hit")["system"].nunique().max() == 1
    assert (ratings.groupby(["system", "doc", "segment"])["annotator"].nunique() == 3).all()


def test_missing_judgements_and_calibration_items():
    full = simulate.campaign(design=Design(calibration=10))
    gaps = simulate.campaign(design=Design(calibration=10, missing=0.3))
    assert len(gaps) / len(full) == pytest.approx(0.7, abs=0.05)
    calibration = full[full["item_type"] == "calibration"]
    assert (calibration.groupby("annotator").size() == 10).all()
    stars = simulate.campaign(scale=(1, 5), quality=Quality(3, 0.4, 0.2, 1), behaviour=Behaviour(0.3, 0.1, 0.5))
    assert set(stars["score"]) == {1.0, 2.0, 3.0, 4.0, 5.0}


def drawn_categories(kappa, marginal):
    return simulate.categories(kappa, marginal=marginal, items=5, annotators=3, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: simulate.campaign(design=Design(judgements=9)),
        lambda: simulate.campaign(design=Design(missing=1.0)),
        lambda: simulate.campaign(behaviour=Behaviour(ticks=1)),
        lambda: drawn_categories(1.1, [0.5, 0.5]),
        lambda: drawn_categories(-0.5, [0.25] * 4),
        lambda: drawn_categories(-0.1, [0.2, 0.3, 0.5]),
        lambda: drawn_categories(0.5, [0.5, 0.6]),
    ],
)
def test_what_no_model_can_draw_is_refused(draw):
    with pytest.raises(DataError):
        draw()


@pytest.mark.parametrize("name", ["wmt22-calibration-hits", "sudoh-labels", "mlqe-pe", "wmt-slt22"])
def test_stand_ins_have_the_size_of_the_real_tables(name, real):
    assert len(simulate.stand_in(name)) == pytest.approx(len(real(name)), rel=0.15)


def test_literary_preferences_have_the_strengths_that_were_stated():
    drawn = [simulate.stand_in("literary-preferences", seed=seed) for seed in range(40)]
    stated = {"sim-para": 0.8, "sim-para_sent": 0.1, "sim-sent": -0.1, "sim-gtr": -0.8}
    fitted = preferences.fit(pd.concat(drawn, ignore_index=True))
    found = dict(zip(fitted.cells.systems, fitted.strength))
    assert found == pytest.approx(stated, abs=0.13)  # four standard errors of 7,200 comparisons a pair
    assert drawn[0].groupby(["doc", "segment", "tgt_lang"]).size().eq(3).all()
