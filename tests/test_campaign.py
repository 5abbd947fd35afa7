"""The campaign room: its analyses against the rooms they call and against pandas and scipy, on any small design."""

import itertools
import json
import re
import warnings
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, campaign, data
from evalkit.campaign import figures as draw
from evalkit.campaign import paperwork, sentences, spread
from evalkit.campaign.checks import FINE, LOOK, PROBLEM, UNKNOWN
from evalkit.campaign.names import LONGEST, readable
from evalkit.campaign.people import agreement as agreeing
from evalkit.campaign.people import annotators as people
from evalkit.campaign.planning import cost
from evalkit.campaign.sentences import say
from evalkit.data import registry, schemas, simulate
from evalkit.human import annotators, calibration, context, normalization, ranking
from evalkit.reports import cli
from evalkit.stats import agreement
from tests import widths_by_hand as widths

#: A whole report takes a moment, and to shrink a counterexample would take thousands of them.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
RESULTS = (
    "collection",
    "agreement",
    "profiles",
    "screening",
    "quality",
    "context",
    "calibration",
    "normalization",
    "ranking",
    "errors",
    "cost",
    "plan",
)


def table(systems=2, segments=30, people=3, seed=1, gap=10.0, noise=5.0, **columns):
    """Draw a plain campaign: every annotator judges every segment of every system; the first system is best."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([range(systems), range(segments), range(people)], names=["s", "g", "a"])
    frame = index.to_frame(index=False)
    quality = rng.normal(0, 8, segments)[frame["g"]]
    score = 70 - gap * frame["s"] + quality + rng.normal(0, noise, len(frame)) + 3.0 * frame["a"]
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": "sys" + frame["s"].astype("str"),
            "doc": "d" + (frame["g"] // 5).astype("str"),
            "segment": frame["g"].astype("str"),
            "annotator": "p" + frame["a"].astype("str"),
            "score": score.clip(0, 100).round(),
            "item_type": "system",
        }
        | columns
    )
    frame.attrs["scale"] = (0.0, 100.0)
    return labelled(frame)


def labelled(frame, name="mine"):
    frame.attrs["source"] = {"name": name, "source": "real", "origin": f"{name}.csv", "digest": "sha256:0"}
    return frame


@st.composite
def designs(draw):
    """Any small valid table of ratings, and what is said about it."""
    scale, values = draw(
        st.sampled_from(
            [
                ((1.0, 5.0), [1.0, 2.0, 3.0, 4.0, 5.0]),
                ((0.0, 1.0), [0.0, 0.25, 0.4, 0.99, 1.0]),
                ((0.0, 1.0), [0.0, 1.0]),
                ((0.0, 100.0), [float(n) for n in range(0, 101, 7)]),
                (None, [-25.0, -11.1, -5.0, -1.0, 0.0]),
                (None, [3.0]),
                ((0.0, 100.0), [100.0]),
                ((0.0, 25.0), [0.0, 24.5, 25.0]),
            ]
        )
    )
    pairs = draw(st.integers(1, 3))
    systems, people = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    documents, length = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    index = pd.MultiIndex.from_product(
        [range(pairs), range(systems), range(documents), range(length), range(people)], names=list("psdga")
    )
    frame = index.to_frame(index=False)
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "t" + frame["p"].astype("str"),
            "system": "s" + frame["s"].astype("str"),
            "doc": "d" + frame["d"].astype("str"),
            "segment": frame["g"].astype("str"),
            "annotator": "a" + frame["a"].astype("str"),
            "score": rng.choice(values, len(frame)),
            "item_type": "system",
        }
    )
    kinds = draw(st.lists(st.sampled_from(schemas.ITEM_TYPES[1:]), max_size=4, unique=True))
    if draw(st.booleans()) and kinds:
        frame["item_type"] = rng.choice(["system", *kinds], len(frame))
    elif kinds:  # the same items once more, as something else
        more = [frame.assign(item_type=kind, score=rng.choice(values, len(frame))) for kind in kinds]
        frame = pd.concat([frame, *more], ignore_index=True)
    frame = frame[rng.random(len(frame)) >= draw(st.sampled_from([0.0, 0.3, 0.8]))]
    if frame.empty:
        frame = pd.DataFrame(
            [
                {
                    **dict.fromkeys(schemas.ITEM, "x"),
                    "src_lang": "eng",
                    "tgt_lang": "t0",
                    "annotator": "a",
                    "score": values[0],
                    "item_type": "system",
                }
            ]
        )
    if draw(st.booleans()):
        start = rng.uniform(0, 1e5, len(frame))
        frame = frame.assign(started=start, ended=np.where(rng.random(len(frame)) < 0.2, np.nan, start + 9))
    if draw(st.booleans()):
        frame = frame.assign(hit="h" + frame["annotator"], copy=frame["item_type"].isin(["repeat", "degraded"]))
        frame["position"] = np.arange(len(frame))
        if draw(st.booleans()):
            frame["hit_seconds"] = 60.0
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    spans = None
    if draw(st.booleans()):
        chosen = frame[frame["item_type"].eq("system")].sample(frac=0.5, random_state=2)
        key = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator"]
        spans = chosen[key].assign(
            span="1",
            error_type=draw(st.sampled_from(["unstated", "accuracy/omission"])),
            severity=rng.choice(["minor", "major"], len(chosen)),
        )
        spans = labelled(spans.astype("category"))
    frame.attrs["scale"] = scale
    return labelled(frame), spans, draw(st.booleans())


def analysed(ratings, spans=None, *, resamples=20, score="auto", **options):
    """Look at a table as a campaign and make all analyses."""
    return campaign.analyse(campaign.from_ratings(ratings, spans, **options), resamples=resamples, score=score)


@pytest.fixture(scope="module")
def plain():
    """The analyses of a plain campaign of two systems."""
    return analysed(table())


def texts(found):
    """Everything that the report of an analysis says, whatever it lacks."""
    checks = campaign.run_checks(found)
    told = [sentence for name in RESULTS for sentence in say(getattr(found, name))]
    told += [sentences.headline(found, checks), sentences.trust(checks), *sentences.steps(found, checks)]
    told += sentences.figures(found.ranking) if found.ranking else []
    told += [cell for column in campaign.tabulate(checks) for cell in campaign.tabulate(checks)[column]]
    return [
        *told,
        *say(found.campaign),
        *sentences.language_pairs(found.pairs),
        paperwork.methods(found, resamples=20, seed=7).text,
    ]


def figures(found):
    """Every figure that the report of an analysis has."""
    ranked = found.ranking
    if ranked:
        yield draw.scores(ranked)
        if len(ranked.names) > 1 and not ranked.unsure:
            yield draw.places(ranked)
    if found.profiles and found.profiles.scores["score"].nunique() > 1:
        yield draw.annotators(found.profiles)
    if found.normalization and len(found.normalization.shifts):
        yield draw.ways(found.normalization)
    if found.errors:
        yield draw.errors(found.errors)
    if found.plan and found.plan.table["segments_needed"].notna().any():
        yield draw.plan(found.plan)


def verdicts(found):
    """The verdict on each question, as words."""
    return {check.question: check.verdict.partition(" ")[2] for check in campaign.run_checks(found)}


@settings(max_examples=6, phases=NO_SHRINKING)
@given(designs())
def test_any_valid_table_gets_a_whole_report_that_says_true_things(design):
    ratings, spans, higher = design
    schemas.check(ratings, schemas.RATINGS, origin="the design")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = campaign.from_ratings(ratings, spans, higher_is_better=higher)
        found = campaign.analyse(mine, resamples=20, hourly_pay=10, currency="EUR")
        told = texts(found)
    assert all(say(getattr(found, name)) for name in RESULTS), "every part has a word to say"
    for text in told:
        assert not {"nan", "None", "<NA>"} & set(text.split()), text
        assert "Traceback" not in text, text
    assert found.collection.pairs["judgements"].sum() == len(ratings)
    assert len(mine.part) == ratings.groupby(["src_lang", "tgt_lang"]).size().max()
    checks = campaign.run_checks(found)
    results = [check.verdict for check in checks]
    assert results == sorted(results, key=[PROBLEM, LOOK, UNKNOWN, FINE].index)
    trust = sentences.trust(campaign.run_checks(found)).removeprefix("Can you rely on it? ")
    results = [check.verdict for check in checks if not check.elsewhere]
    assert trust.startswith("Yes") == (set(results) == {FINE})
    assert trust.startswith("Not yet") == (PROBLEM in results)
    ranked = found.ranking
    if ranked and len(ranked.names) > 1:
        rows = mine.judged.groupby(["system", *mine.segment])["score"].mean().groupby("system").mean()
        assert ranked.means == pytest.approx(rows.to_dict())
        assert ranked.method.by_z or rows[ranked.top] == pytest.approx(rows.max())
        assert sorted([ranked.top, *ranked.level, *ranked.beaten]) == sorted(ranked.names) == mine.systems


@settings(max_examples=2, phases=NO_SHRINKING)
@given(designs())
def test_every_figure_of_any_valid_table_can_be_drawn(design):
    ratings, spans, higher = design
    for figure in figures(analysed(ratings, spans, higher_is_better=higher)):
        figure.canvas.draw()
        assert figure.get_label().endswith(".")


def test_the_ranking_is_that_of_the_ranking_room():
    mine = campaign.from_ratings(table(systems=4, gap=2.0))
    found = campaign.rank_systems(mine, score="raw", resamples=100)
    options = {"segment": ("doc", "segment"), "item_types": ("system", "repeat")}
    expected = ranking.significance_clusters(mine.part, test="t", correction="holm", unit="doc", **options)
    assert found.names == expected["system"].tolist()
    np.testing.assert_allclose(found.systems["mean"], expected["score"])
    assert found.systems["cluster"].tolist() == expected["cluster"].tolist()
    assert found.method.unit == ("doc",)
    cells = mine.part.groupby(["system", "doc"])["score"].mean().unstack("system")[found.names]
    error = stats.t.ppf(0.975, len(cells) - 1) * cells.sem()
    np.testing.assert_allclose(found.systems["high"] - found.systems["mean"], error), "documents of one size each"


def test_ranking_by_z_is_ranking_by_the_normalisation_rooms_z():
    ratings = table(systems=3, gap=1.0)
    z = normalization.normalize(ratings)
    expected = ranking.system_scores(z, score="normalized", segment=("doc", "segment")).set_index("system")["score"]
    shown = campaign.rank_systems(campaign.from_ratings(ratings), score="z", resamples=50).systems.set_index("system")
    np.testing.assert_allclose(shown["z"], expected[shown.index])


@pytest.mark.parametrize(("score", "way"), [("raw", "raw scores"), ("z", "z per annotator")])
@pytest.mark.parametrize("gap", [0.5, 8.0])
def test_the_clusters_of_normalised_scores_are_drawn_by_the_tests_of_the_ranking(gap, score, way):
    mine = campaign.from_ratings(table(systems=4, gap=gap, noise=20.0))
    rows = campaign.normalize_scores(mine, resamples=20).rankings
    own = rows[rows["variant"] == way].set_index("system")["cluster"]
    expected = campaign.rank_systems(mine, score=score, resamples=20).systems.set_index("system")["cluster"]
    assert own[expected.index].tolist() == expected.tolist()


def test_agreement_takes_the_coefficient_that_fits_the_scale(plain):
    five = table(people=2)
    five["score"] = five["score"].div(25).round().clip(1, 4)
    assert campaign.measure_agreement(campaign.from_ratings(five), resamples=20).level == "ordinal"
    two = five.assign(score=five["score"].gt(2).astype(float))
    assert campaign.measure_agreement(campaign.from_ratings(two), resamples=20).level == "nominal"
    expected = agreement.coefficients(
        agreement.score_matrix(plain.campaign.part), measures=[("krippendorff_alpha", "interval")], resamples=20, seed=7
    )
    assert plain.agreement.estimate == pytest.approx(expected["estimate"].iloc[0])
    assert plain.agreement.low == pytest.approx(expected["low"].iloc[0])


def test_every_two_annotators_are_correlated_as_scipy_does(plain):
    from scipy import stats

    between = plain.agreement.between
    assert between[["annotator_a", "annotator_b"]].values.tolist() == [["p0", "p1"], ["p0", "p2"], ["p1", "p2"]]
    scores = agreement.score_matrix(plain.campaign.part)
    for row in between.itertuples():
        one, other = scores[row.annotator_a], scores[row.annotator_b]
        assert row.spearman == pytest.approx(stats.spearmanr(one, other).statistic)
        assert row.difference == pytest.approx((one - other).mean())
        assert row.items == 60
    assert agreeing.every_two(table(people=9)).empty, "of many annotators the profiles say it"


def test_agreement_leaves_calibration_items_out_where_there_are_enough_others():
    ratings = table(people=2)
    known = table(systems=1, segments=40, people=2, seed=8).assign(item_type="calibration", doc="c", system="cal")
    one = ratings[ratings["annotator"].eq("p0")]
    both, few = (labelled(pd.concat([part, known], ignore_index=True)) for part in (ratings, one))
    both.attrs["scale"] = few.attrs["scale"] = (0.0, 100.0)
    mixed, alone, rest = (
        campaign.measure_agreement(campaign.from_ratings(rows), resamples=20) for rows in (both, ratings, few)
    )
    assert (mixed.items, mixed.estimate, mixed.calibration) == (60, alone.estimate, False)
    assert (rest.items, rest.calibration) == (40, True)


def test_twenty_language_pairs_of_two_segments_each_get_a_report():
    parts = [table(segments=2, seed=n).assign(tgt_lang=f"t{n:02}") for n in range(20)]
    ratings = labelled(pd.concat(parts, ignore_index=True))
    ratings.attrs["scale"] = (0.0, 100.0)
    found = analysed(ratings, pair="eng-t07")
    assert len(found.pairs) == len(found.collection.pairs) == 20
    assert sentences.headline(found, campaign.run_checks(found)).startswith("eng-t07: ")
    assert found.agreement.estimate is None, "four items are too few"


def test_screening_proposes_whom_the_annotators_room_would_send_away_and_leaves_nobody_out():
    ratings = table(people=4)
    ratings.loc[ratings["annotator"].eq("p3"), "score"] = 50.0
    mine = campaign.from_ratings(ratings)
    found = campaign.screen_annotators(mine)
    expected = annotators.screen(ratings, ["sd < 5"])
    assert list(found.proposed) == expected.loc[expected["flagged"], "annotator"].tolist() == ["p3"]
    assert (found.share, found.first, found.first_without) == (0.25, "sys0", "sys0")
    assert mine.judged["annotator"].nunique() == 4


def test_rules_that_do_not_fit_the_scale_are_set_aside_with_the_reason():
    five = table()
    five["score"] = five["score"].div(25).round().clip(1, 4)
    five.attrs["scale"] = (1.0, 5.0)
    found = campaign.screen_annotators(campaign.from_ratings(five))
    assert "unique_scores < 6" not in found.rules
    assert found.aside["unique_scores < 6"].startswith("all annotators together used")
    unknown = table()
    unknown.attrs["scale"] = None
    found = campaign.screen_annotators(campaign.from_ratings(unknown))
    assert "sd < 5" not in found.rules
    assert "with_others < 0.1" in found.rules


def test_wrong_options_are_refused(plain):
    mine = plain.campaign
    for wrong in ({"score": "best"}, {"resamples": 3}):
        with pytest.raises(DataError, match=next(iter(wrong))):
            campaign.analyse(mine, **wrong)
    assert "below 0" in campaign.measure_cost(mine, hourly_pay=-1).reason
    assert "no such measure" in campaign.screen_annotators(mine, rules=["speed < 1"]).reason
    with pytest.raises(DataError, match=r"there is no .eng-xxx. in these data\. Choose one of: eng-deu"):
        campaign.from_ratings(table(), pair="eng-xxx")


def test_what_the_data_do_not_allow_is_missing_and_asked_for():
    found = analysed(table(people=1))
    for name, word in (
        ("calibration", "calibration"),
        ("errors", "mark errors"),
        ("cost", "started"),
        ("context", "copy"),
        ("normalization", "two annotators"),
    ):
        missing = getattr(found, name)
        assert not missing
        assert word in missing.collect, name
        assert sentences.known(missing) == []
        assert sentences.not_in_file(part=missing) == [f"Part: {say(missing)[0]}"]
    assert "two or more annotators judge the same items" in say(found.agreement)[0]
    assert "No degraded items" in say(found.quality)[-1]
    assert "No items shown twice" in say(found.quality)[-1]


def test_lower_is_better_turns_scores_round_on_their_scale():
    ratings = table(gap=15)
    mine = campaign.from_ratings(ratings, higher_is_better=False)
    assert campaign.rank_systems(mine, resamples=20).top == "sys1"
    np.testing.assert_allclose(mine.part["score"], 100 - ratings["score"])
    assert "turned round" in say(mine)[0]


def test_uneven_work_is_found_and_strictness_taken_out():
    both = table(systems=2, people=2, segments=40)
    strict = both["annotator"].eq("p0")
    both.loc[strict, "score"] = (both.loc[strict, "score"] - 40).clip(0)
    keep = ~(strict & both["system"].eq("sys1") & (both["segment"].astype(int) % 4 > 0))
    keep &= ~(~strict & both["system"].eq("sys0") & (both["segment"].astype(int) % 4 > 0))
    uneven, even = campaign.from_ratings(labelled(both[keep].reset_index(drop=True))), campaign.from_ratings(both)
    assert spread.Spread.of(uneven.judged).kept < 0.95 < spread.Spread.of(even.judged).kept
    assert "unequally often" in campaign.choose_method(uneven).why
    found = campaign.rank_systems(uneven, resamples=50)
    assert found.method.score == "adjusted"
    assert found.top == "sys0", "the model undoes what the strict annotator did to the better system"
    assert found.means["sys0"] < found.means["sys1"]


def test_segments_numbered_throughout_are_known_by_their_number_alone():
    ratings = table()
    assert campaign.from_ratings(ratings).segment == ("doc", "segment")
    anew = labelled(ratings.assign(doc=ratings["system"] + ratings["doc"]))
    assert campaign.from_ratings(anew).segment == ("segment",)
    assert campaign.from_ratings(anew).shared_segments == 1.0
    restarting = labelled(anew.assign(segment=(anew["segment"].astype(int) % 5).astype("str")))
    assert campaign.from_ratings(restarting).segment == ("doc", "segment")


def test_hours_count_every_second_once_and_breaks_not():
    rng = np.random.default_rng(5)
    start = rng.uniform(0, 5000, 60).round()
    part = pd.DataFrame({"annotator": "a", "started": start, "ended": start + rng.integers(1, 900, 60)})
    signs = sorted({*start, *part["ended"]})
    worked = np.zeros(10_000, bool)
    for one, other in itertools.pairwise(signs):
        worked[int(one) : int(other)] = other - one <= cost.PAUSE
    assert cost.hours(part)[0]["hours"].iloc[0] * 3600 == pytest.approx(worked.sum())


def test_breaks_are_left_out_and_reading_between_stamps_counts():
    stamps = np.array([0.0, 40.0, 100.0, 100.0 + cost.PAUSE, 5000.0, 5030.0])
    found, how = cost.hours(pd.DataFrame({"annotator": "a", "started": stamps, "ended": stamps}))
    assert found[["judgements", "mean_seconds"]].to_numpy().tolist() == [[6, (100 + cost.PAUSE + 30) / 6]]
    assert found["median_seconds"].iloc[0] == np.median([40, 60, cost.PAUSE, 30])
    assert "10 minutes" in how
    assert "break" in how
    one = pd.DataFrame({"annotator": ["a"], "started": [5.0], "ended": [5.0]})
    assert cost.hours(one)[0].empty, "a single stamp tells no time"


def test_what_the_hours_cost_is_hours_times_pay():
    ratings = table(started=0.0)
    ratings["started"] = np.arange(len(ratings)) * 60.0
    ratings["ended"] = ratings["started"] + 30
    found = campaign.measure_cost(campaign.from_ratings(ratings), hourly_pay=12.0, currency="EUR")
    spans = ratings.groupby("annotator").agg(first=("started", "min"), last=("ended", "max"))
    worked = float((spans["last"] - spans["first"]).sum())
    assert found.cost == pytest.approx(worked / 3600 * 12) == found.by_annotator["cost"].sum()
    assert "EUR" in say(found)[1]


def test_stamps_are_not_taken_for_lengths_of_judgements():
    ratings = table()
    ratings["started"] = np.arange(len(ratings)) * 20.0
    ratings["ended"] = ratings["started"] + np.where(np.arange(len(ratings)) % 2, 0.001, 9.0)
    mine = campaign.from_ratings(ratings)
    found = campaign.screen_annotators(mine)
    assert "seconds < 2" not in found.rules
    assert found.aside["seconds < 2"].startswith("many judgements end as")
    assert "seconds" not in campaign.profile_annotators(mine).table
    ratings["ended"] = ratings["started"] + 9.0
    assert not people.stamped(ratings)
    assert "seconds < 2" in campaign.screen_annotators(campaign.from_ratings(ratings)).rules


def test_the_plans_axis_is_labelled_in_plain_numbers(plain):
    figure = draw.plan(plain.plan)
    figure.canvas.draw()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels(which="both") if label.get_text()]
    assert len(labels) >= 2
    assert all(re.fullmatch(r"[\d,]+", label) for label in labels)


def test_calibration_items_of_language_pairs_give_all_four_forms():
    parts = []
    for shift, target in ((0, "deu"), (-1, "jpn"), (1, "hin")):
        ratings = table(systems=2, segments=12, people=3, seed=len(parts))
        ratings["score"] = (ratings["score"] / 25 + shift + 0.5).round().clip(1, 5)
        own = ratings.assign(tgt_lang=target)
        known = table(systems=1, segments=20, people=3, seed=9, gap=0)
        known["score"] = (known["segment"].astype(int) % 5 + 1 + shift * 0.5).round().clip(1, 5)
        known = known.assign(tgt_lang=target, system="calibration", doc="c", item_type="calibration")
        human = own[own["system"].eq("sys0")].assign(item_type="reference", system="human")
        human["score"] = np.where(human.index % 3, 5.0, 4.0)
        parts += [own, known, human]
    ratings = labelled(pd.concat(parts, ignore_index=True))
    ratings.attrs["scale"] = (1.0, 5.0)
    found = campaign.calibrate(campaign.from_ratings(ratings), resamples=30)
    assert found.by == "pair"
    assert found.systems["form"].tolist()[::6] == ["raw scores", *calibration.forms.FORMS.values()]
    direct = calibration.ratings.calibrate(ratings, by="pair", scale=(1.0, 5.0), resamples=30, seed=7)
    for name in ("raw", "adjusted", "se", "low", "high"):
        np.testing.assert_allclose(found.groups[name], direct[name], rtol=0, atol=0)
    one = found.groups[found.groups["group"].eq("eng-jpn") & found.groups["system"].eq("sys0")].set_index("form")
    agreed_on = calibration.ratings.own_standard(ratings, by="pair", scale=(1.0, 5.0))
    means = {"calibration_mean": one["calibration_mean"].iloc[0], "reference_mean": one["reference_mean"].iloc[0]}
    by_hand = calibration.forms.adjust(one["raw"].iloc[0], **means, standard=agreed_on)
    for form, value in by_hand.items():
        assert one.loc[calibration.forms.FORMS[form], "adjusted"] == pytest.approx(float(value)), form
    options = {"by": "pair", "within": None, "splits": 50, "resamples": 30, "seed": 7}
    with np.errstate(invalid="ignore", divide="ignore"):
        held = calibration.held_out.held_out(ratings, scale=(1.0, 5.0), **options)
    pd.testing.assert_frame_equal(
        found.carry_over.drop(columns="form"), held.drop(columns=["form", "within"]), check_dtype=False
    )
    assert found.strictness["pair"].iloc[0] == "eng-jpn"
    assert found.strictness["shift"].iloc[0] > 0


@pytest.mark.parametrize("seed", [3, 4])
def test_annotators_calibrated_by_shared_items_are_those_of_the_calibration_room(seed):
    design = simulate.Design(systems=3, documents=8, annotators=4, judgements=4, calibration=24)
    ratings = labelled(simulate.campaign(design=design, seed=seed))
    mine = campaign.from_ratings(ratings)
    found = campaign.calibrate(mine, resamples=25, seed=11)
    assert found.by == "annotator"
    options = {"by": "annotator", "within": "pair", "resamples": 25, "seed": 11}
    direct = calibration.ratings.calibrate(ratings, scale=mine.scale, **options)
    for name in ("raw", "adjusted", "se", "low", "high"):
        np.testing.assert_allclose(found.groups[name], direct[name], rtol=0, atol=0)
    mean = direct[direct["form"] == "moderated"].groupby("system")["adjusted"].mean()
    shown = found.systems.set_index(["form", "system"])
    for system, value in mean.items():
        assert shown.loc[("moderated shift", system), "adjusted"] == pytest.approx(value)
    slope = calibration.held_out.carry_over(ratings, splits=50, **options).iloc[0]
    assert found.share == pytest.approx(slope["slope"])
    strict = found.strictness.set_index("annotator")["mean"]
    own = ratings[ratings["item_type"].eq("calibration")].groupby("annotator")["score"].mean()
    np.testing.assert_allclose(strict[own.index], own)


def test_a_simulated_campaign_with_quality_control_has_all_analyses():
    design = simulate.Design(systems=3, documents=12, annotators=6, judgements=2, calibration=20)
    ratings = simulate.campaign(design=design, control=simulate.Control(copies=2))
    ratings["position"] = ratings.groupby("annotator").cumcount()
    ratings["copy"] = ratings["item_type"].isin(["degraded", "repeat"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = analysed(labelled(ratings))
    assert [name for name in RESULTS if not getattr(found, name)] == ["errors"]
    assert found.quality.tested == 6
    assert found.ranking.top in ratings.attrs["truth"]["systems"]


def test_the_check_of_degraded_context_is_that_of_the_context_room():
    mine = campaign.from_ratings(labelled(simulate.wmt22_mturk()))
    found = campaign.compare_contexts(mine, resamples=99, seed=5)
    paired = context.pairs(mine.part)
    grouped = paired[paired["group"] != "none"]
    means = grouped.groupby("group")["difference"].mean()
    assert found.effect == pytest.approx(means["after"] - means["before"])
    assert found.p == context.permutation(grouped, resamples=99, rng=np.random.default_rng(5))[1]
    pd.testing.assert_frame_equal(found.sizes, context.group_sizes(paired))
    shown = found.contrasts.set_index("group")
    assert shown["n"].to_dict() == grouped["group"].value_counts()[shown.index].to_dict()
    np.testing.assert_allclose(shown["mean"], means[shown.index])


def test_a_drag_of_degraded_neighbours_is_found():
    control = simulate.Control(copies=3, context=-25.0)
    design = simulate.Design(systems=3, documents=40, annotators=6, judgements=2, hit=60)
    still = simulate.Behaviour(sd_noise=3.0)
    ratings = simulate.campaign(design=design, behaviour=still, control=control, seed=2)
    ratings["position"] = ratings.groupby("hit").cumcount()
    ratings["copy"] = ratings["item_type"].isin(["degraded", "repeat"])
    found = campaign.compare_contexts(campaign.from_ratings(labelled(ratings)), resamples=99)
    assert found.effect > 10
    assert found.p < 0.05
    assert found.equivalence.verdict == "different"


def test_long_and_unseen_names_are_shortened_and_never_meet():
    long, other = "L" * 2000, "L" * 1999 + "M"
    turned = f"a{chr(0x202E)}b"
    ratings = table(systems=4)
    ratings["system"] = ratings["system"].map(dict(zip(("sys0", "sys1", "sys2", "sys3"), (long, other, turned, "a b"))))
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    spans = ratings[keys].iloc[::3].assign(span="1", error_type="unstated", severity="major").astype("category")
    spans.attrs = dict(ratings.attrs)
    found = analysed(ratings, spans)
    mine = found.campaign
    assert len(mine.systems) == 4
    assert max(map(len, mine.systems)) <= LONGEST
    assert "3 names of systems or annotators" in say(mine)[0]
    assert all(long not in text and chr(0x202E) not in text for text in texts(found))
    assert found.errors.by_system["errors"].sum() == len(spans)
    assert found.ranking.means["a b"] == pytest.approx(ratings.groupby("system")["score"].mean()["a b"])
    assert [source.attrs["source"]["name"] for source in mine.sources] == ["mine", "mine-errors"]
    assert campaign.from_ratings(table()).renamed == 0


def test_pictures_have_room_for_long_names_of_systems():
    names = [f"{letter} {'very ' * 12}long name of a system" for letter in "abcd"]
    ratings = table(systems=4)
    ratings["system"] = ratings["system"].map(dict(zip([f"sys{n}" for n in range(4)], names)))
    mine = campaign.from_ratings(ratings)
    ranked = campaign.rank_systems(mine, resamples=20)
    for figure in (draw.scores(ranked), draw.places(ranked), draw.ways(campaign.normalize_scores(mine, resamples=20))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a layout that collapses warns
            figure.canvas.draw()
        labels = " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))
        assert "…" in labels
        assert names[0] not in labels


def test_errors_of_degraded_items_and_of_references_are_no_systems_errors():
    frame = table(systems=2, segments=12, people=1)
    bad = frame.assign(item_type="degraded", score=5.0)
    reference = frame[frame["system"] == "sys0"].assign(system="refA", item_type="reference")
    whole = pd.concat([frame, bad, reference], ignore_index=True)
    whole.attrs |= frame.attrs
    key = ["src_lang", "tgt_lang", *schemas.ITEM, "annotator", "item_type"]
    marked = pd.concat([frame[frame["system"] == "sys1"], bad, bad.assign(system="sys0"), reference])
    spans = labelled(marked[key].assign(span="1", error_type="unstated", severity="minor").reset_index(drop=True))
    found = campaign.count_errors(campaign.from_ratings(whole, spans))
    assert found.by_system.set_index("system")["errors"].to_dict() == {"sys0": 0, "sys1": 12}
    assert (found.errors, found.judgements) == (12, 24)


@settings(max_examples=60)
@given(st.lists(st.text(max_size=80), unique=True, max_size=8))
def test_names_stay_different_and_short_ones_stay_themselves(names):
    shown = readable(names)
    after = [shown.get(name, name) for name in names]
    assert len(set(after)) == len(names)
    assert all(0 < len(name) <= LONGEST for name in after)
    assert all(name not in shown for name in names if name.isalnum() and len(name) <= LONGEST)


@pytest.mark.parametrize(
    ("segments", "people", "expected"),
    [
        (100, 4, ("fine", "fine")),
        (99, 3, ("look", "not known")),
        (30, 1, ("look", "problem")),
        (29, 2, ("problem", "look")),
    ],
)
def test_verdicts_on_what_was_collected_turn_at_the_stated_limits(plain, segments, people, expected):
    mine = campaign.from_ratings(table(segments=segments, people=people))
    ranked = campaign.rank_systems(mine, resamples=20)
    found = verdicts(replace(plain, campaign=mine, collection=campaign.count_judgements(mine), ranking=ranked))
    question = "Does the result hold for other annotators, too?"
    assert (found["Were enough segments judged?"], found[question]) == expected


#: A stranger's files: how each is made from what is here, and what its report must hold.
STRANGERS = {
    "appraise.csv": {"rankings", "agreement", "coverage_annotators", "time"},
    "esa.csv": {"rankings", "errors_systems", "quality_control", "time"},
    "mqm_ende.tsv": {"rankings", "errors_systems", "errors_types", "agreement"},
    "xsts.xlsx": {"rankings", "agreement", "plan"},
}
_WMT22 = "wmt-conference/wmt22-news-systems/20240a2e96a50e823ea8cdf37fd8af52547146e3/humaneval/DA+SQM/calibration-HITs/"
_WMT24 = "wmt-conference/wmt24-news-systems/bfa937ee53586aa173d68657b89b8642693f7b66/humeval/"


def strangers_file(name, folder, mirrored):
    """Write a file as a person would send it; parts of the real ones, for whole ones take long."""
    path = folder / name
    rng = np.random.default_rng(3)
    if name in ("appraise.csv", "esa.csv"):
        places = {
            "appraise.csv": _WMT22 + "WMT22.Appraise.calibrationHITs.20221103.csv",
            "esa.csv": _WMT24 + "esa_generalMT2024_wave3.csv",
        }
        lines = mirrored(places[name]).read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:2500]), encoding="utf-8")
    elif name == "xsts.xlsx":
        frame = table(systems=3, segments=40)
        frame["score"] = (frame["score"] / 20).round().clip(1, 5)
        frame.drop(columns="item_type").to_excel(path, index=False)
    else:
        frame = table(systems=3, segments=30, people=2)
        frame = frame.loc[frame.index.repeat(1 + rng.integers(0, 2, len(frame)))].reset_index(drop=True)
        none = rng.random(len(frame)) < 0.3
        frame = pd.DataFrame(
            {
                "system": frame["system"],
                "doc": frame["doc"],
                "doc_id": "1",
                "seg_id": frame["segment"],
                "rater": frame["annotator"],
                "source": "A source " + frame["segment"],
                "target": np.where(none, "Ein Satz ", "Ein <v>Satz</v> ") + frame["segment"],
                "category": np.where(none, "No-error", "Accuracy/Mistranslation"),
                "severity": np.where(none, "No-error", rng.choice(["Minor", "Major"], len(frame))),
            }
        )
        frame.drop_duplicates(["system", "seg_id", "rater"]).to_csv(path, sep="\t", index=False)
    return path


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "xsts.xlsx" else pytest.mark.slow) for name in STRANGERS]
)
def test_a_stranger_gets_a_report_from_one_command(name, tmp_path, mirrored, monkeypatch, capsys):
    folder = tmp_path / "private folder"
    folder.mkdir()
    strangers_file(name, folder, mirrored)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)
    assert cli.main(["run", "campaign", "-p", f"file={name}", "-p", "resamples=30", "--out", "reports"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(folder / "reports" / "campaign.html")
    found = json.loads((folder / "reports" / "campaign.json").read_text(encoding="utf-8"))
    assert STRANGERS[name] <= set(found["recorded"])
    assert found["parameters"]["file"] == name
    assert name.partition(".")[0] in found["signature"]
    assert {source["source"] for source in found["data"]} == {"real"}
    for ending in ("html", "json"):
        text = (folder / "reports" / f"campaign.{ending}").read_text(encoding="utf-8")
        assert "private folder" not in text
        assert "not a campaign of yours" not in text
    assert "stderr" not in (folder / "reports" / "campaign.html").read_text(encoding="utf-8").partition("<body")[2]
    written = campaign.export(folder / "reports" / "campaign.json", folder / "files")
    assert {"rankings.csv", "rankings.parquet", "rankings.tex", "methods.md", "methods.bib", "datasheet.md"} <= {
        path.name for path in written
    }


def test_a_path_is_taken_from_where_the_user_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "campaign", "-p", "file=absent.csv", "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert f"campaign: file=absent.csv is no file in {tmp_path}" in told
    assert told.count("\n") == 1


def test_a_path_in_the_studies_file_is_taken_from_that_files_folder(tmp_path):
    from evalkit import ROOT
    from evalkit.reports import execute
    from evalkit.reports.studies import Study

    (tmp_path / "mine.csv").write_text("x", encoding="utf-8")
    notebook = ROOT / "notebooks" / "studies" / "campaign.ipynb"
    study = Study("campaign", notebook, "t", data=("wmt22-mturk",), parameters={"file": "mine.csv"})
    task = execute.bound(study, {}, tmp_path)
    assert task.parameters["file"] == str(tmp_path / "mine.csv")
    assert task.data == (), "nothing is fetched for a file of one's own"
    assert execute.without_folders(task).parameters["file"] == "mine.csv"
    assert execute.bound(replace(study, parameters={}), {}, tmp_path).data == ("wmt22-mturk",)


@pytest.mark.parametrize(
    "dataset",
    [
        "wmt22-calibration-hits",
        "indicmt-mqm",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("wmt24-esa", "wmt23-mqm")),
    ],
)
def test_registered_data_of_every_kind_make_an_example(dataset, real):
    real(dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = campaign.from_ratings(*campaign.example(dataset), example=True)
        found = campaign.analyse(mine, resamples=20)
    assert "not a campaign of yours" in say(mine)[0]
    assert found.collection.pairs["judgements"].sum() == len(real(dataset))
    assert bool(found.errors) == (f"{dataset}-spans" in registry.entries())
    assert bool(found.calibration) == (dataset == "wmt22-calibration-hits")


@pytest.fixture(scope="module")
def japanese(here):
    """The example's Japanese to English."""
    here("wmt22-mturk")
    return campaign.from_ratings(*campaign.example("wmt22-mturk"), pair="jpn-eng", example=True)


def test_the_example_by_z_is_the_official_ranking_to_its_printed_digits(real, japanese):
    """Our z-scores, from raw scores alone, against the system scores that WMT22 published, where counts agree."""
    official = real("wmt22-mturk-ranking")
    shown = campaign.rank_systems(japanese, score="z", resamples=20).systems.set_index("system")["z"]
    printed = official[official["src_lang"].eq("jpn") & official["tgt_lang"].eq("eng")].set_index("system")["z"]
    equal = (shown[printed.index] - printed.astype(float)).abs() <= 0.0005 + 1e-9
    assert len(printed) == 14
    assert equal.sum() == 12
    rows = campaign.compare_official(japanese).table
    assert rows["computed"].notna().all()
    assert len(rows) == 28


def test_the_example_is_what_pandas_and_scipy_make_of_the_raw_file(japanese, mirrored):
    """Counts, means, tests, clusters, agreement and quality control of the example, from WMT22's files themselves."""
    from statsmodels.stats.multitest import multipletests

    place = "wmt-conference/wmt22-news-systems/20240a2e96a50e823ea8cdf37fd8af52547146e3/humaneval/DA/newstest2022-toen/"
    raw = pd.read_csv(mirrored(f"{place}ad-jaen-good-stnd.csv"), sep=r"\s+")
    lines = mirrored(f"{place}ad-jaen-trk-mean-sd.txt").read_text(encoding="utf-8").splitlines()
    values = [line.partition("] ")[2].strip('"') for line in lines]
    means, sds = (
        dict(zip(values[::3], [float(value.replace("NA", "nan")) for value in values[n::3]], strict=True))
        for n in (1, 2)
    )
    raw["points"] = (raw["score"] * raw["WorkerId"].map(sds) + raw["WorkerId"].map(means)).round()
    raw["own_z"] = raw.groupby("WorkerId")["points"].transform(lambda own: (own - own.mean()) / own.std())
    kept = raw[raw["type"].isin(["SYSTEM", "REPEAT"])]
    cells = kept.groupby(["sys_id", "sid"])[["points", "own_z"]].mean()
    systems = cells.groupby("sys_id").mean().sort_values("own_z", ascending=False)
    ranked = campaign.rank_systems(japanese, score="z", unit="annotators", resamples=20)
    shown = ranked.systems.set_index("system")
    assert shown.index.tolist() == systems.index.tolist()
    np.testing.assert_allclose(shown["mean"], systems["points"])
    np.testing.assert_allclose(shown["z"], systems["own_z"])
    wide = cells["own_z"].unstack(0)
    pairs = list(itertools.combinations(systems.index, 2))
    weight = 1 / kept.groupby(["sys_id", "sid"])["own_z"].transform("size")
    residual = (kept["own_z"] - kept["sys_id"].map(systems["own_z"])) * weight
    of = [kept["WorkerId"], kept["sys_id"]]
    influence = residual.groupby(of).sum().unstack(fill_value=0) / weight.groupby(kept["sys_id"]).sum()
    work = weight.groupby(of).sum().unstack(fill_value=0)

    def p_value(a, b):
        apart = systems["own_z"][a] - systems["own_z"][b]
        return widths.higher(apart, influence[a] - influence[b], work[[a, b]])

    adjusted = dict(zip(pairs, multipletests([p_value(a, b) for a, b in pairs], method="holm")[1]))
    assert ranked.method.unit == ("annotator",)
    assert len(ranked.pairwise) == len(pairs) == 91
    for row in ranked.pairwise.itertuples():
        assert row.adjusted_p == pytest.approx(adjusted[row.better, row.worse], rel=1e-9)
    ends = [all(adjusted[a, b] < 0.05 for a in systems.index[:n] for b in systems.index[n:]) for n in range(1, 14)]
    assert shown["cluster"].tolist() == [1, *(1 + np.cumsum(ends))]
    judged = kept.groupby(["sys_id", "sid", "WorkerId"])["points"].mean().unstack()
    several = judged[judged.notna().sum(axis=1) > 1]
    found = campaign.measure_agreement(japanese, resamples=20)
    assert found.items == len(several)
    values = several.stack().dropna()  # the package would hold a matrix of all scores for each item
    within = (several.count(axis=1) * several.var(axis=1)).sum() / len(values)
    assert found.estimate == pytest.approx(1 - within / values.var()), "Krippendorff's alpha of an interval scale"
    collected = campaign.count_judgements(japanese)
    assert (collected.cells, collected.judged) == (wide.size, len(cells))
    key = ["HITId", "WorkerId", "sys_id", "sid"]
    first, again = (raw[raw["type"].eq(kind)].set_index(key)["points"] for kind in ("SYSTEM", "REPEAT"))
    apart = (again - first.groupby(level=key).mean()).abs().dropna()
    assert campaign.control_quality(japanese).again == apart.median()


def test_data_without_judgements_are_no_example():
    with pytest.raises(DataError, match="holds no judgements by annotators"):
        campaign.example("wmt22-calibration-mapping", fallback=True)


@pytest.mark.parametrize(
    ("lines", "notes"),
    [
        ("A,1,x,80\nB,1,x,70\nA,2,x,60\nB,2,x,75\n", ("nothing says the languages", "no column names documents")),
        (
            "A,1,x,80\nB,1,x,70\n\ufeffA,2,x,60\nB,2,x,7",
            (
                "mine.csv: warning: the file does not end in a line break",
                "in 1 cell of system characters that cannot be seen (U+FEFF) were left out",
            ),
        ),
    ],
)
def test_the_report_says_how_a_file_was_read(lines, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    (tmp_path / "mine.csv").write_text(f"system,segment,annotator,score\n{lines}", encoding="utf-8")
    mine = campaign.from_ratings(*data.open_campaign(str(tmp_path / "mine.csv")))
    assert mine.systems == ["A", "B"]
    [told] = [
        text for text in say(campaign.count_judgements(mine)) if text.startswith("What was assumed in reading the file")
    ]
    assert all(note in told for note in notes)
