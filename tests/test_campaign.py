"""One report for one campaign: against the analyses called directly, on any small design, on strangers' files."""

import itertools
import json
import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evalkit import DataError, campaign
from evalkit.campaign import agreed, checks, cost, exports, people, planned, ranked
from evalkit.campaign import figures as draw
from evalkit.campaign.names import LONGEST, readable
from evalkit.campaign.opened import shared_segments
from evalkit.data import registry, schemas, simulate
from evalkit.human import annotators, calibration, context, normalization, ranking
from evalkit.reports import cli
from evalkit.stats import agreement

#: A whole report takes a moment, and to shrink a counterexample would take thousands of them.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
#: Which figure a section can have.
DRAWN = {"picture": draw.scores, "annotators": draw.annotators, "ranking": draw.places, "normalisation": draw.ways,
         "errors": draw.errors, "planning": draw.plan}  # fmt: skip


def table(systems=2, segments=30, people=3, seed=1, gap=10.0, noise=5.0, **columns):
    """Draw a plain campaign: every annotator judges every segment of every system; the first system is best."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product([range(systems), range(segments), range(people)], names=["s", "g", "a"])
    frame = index.to_frame(index=False)
    quality = rng.normal(0, 8, segments)[frame["g"]]
    score = 70 - gap * frame["s"] + quality + rng.normal(0, noise, len(frame)) + 3.0 * frame["a"]
    frame = pd.DataFrame({
        "src_lang": "eng", "tgt_lang": "deu", "system": "sys" + frame["s"].astype("str"),
        "doc": "d" + (frame["g"] // 5).astype("str"), "segment": frame["g"].astype("str"),
        "annotator": "p" + frame["a"].astype("str"), "score": score.clip(0, 100).round(), "item_type": "system",
    } | columns)  # fmt: skip
    frame.attrs["scale"] = (0.0, 100.0)
    return labelled(frame)


def labelled(frame, name="mine"):
    frame.attrs["source"] = {"name": name, "source": "real", "origin": f"{name}.csv", "digest": "sha256:0"}
    return frame


@st.composite
def designs(draw):
    """Any small valid table of ratings, and what is said about it."""
    scale, values = draw(st.sampled_from([
        ((1.0, 5.0), [1.0, 2.0, 3.0, 4.0, 5.0]), ((0.0, 1.0), [0.0, 0.25, 0.4, 0.99, 1.0]), ((0.0, 1.0), [0.0, 1.0]),
        ((0.0, 100.0), [float(n) for n in range(0, 101, 7)]), (None, [-25.0, -11.1, -5.0, -1.0, 0.0]),
        (None, [3.0]), ((0.0, 100.0), [100.0]), ((0.0, 25.0), [0.0, 24.5, 25.0]),
    ]))  # fmt: skip
    pairs = draw(st.integers(1, 3))
    systems, people = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    documents, length = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    index = pd.MultiIndex.from_product(
        [range(pairs), range(systems), range(documents), range(length), range(people)], names=list("psdga")
    )
    frame = index.to_frame(index=False)
    frame = pd.DataFrame({
        "src_lang": "eng", "tgt_lang": "t" + frame["p"].astype("str"), "system": "s" + frame["s"].astype("str"),
        "doc": "d" + frame["d"].astype("str"), "segment": frame["g"].astype("str"),
        "annotator": "a" + frame["a"].astype("str"), "score": rng.choice(values, len(frame)), "item_type": "system",
    })  # fmt: skip
    kinds = draw(st.lists(st.sampled_from(schemas.ITEM_TYPES[1:]), max_size=4, unique=True))
    if draw(st.booleans()) and kinds:
        frame["item_type"] = rng.choice(["system", *kinds], len(frame))
    elif kinds:  # the same items once more, as something else
        more = [frame.assign(item_type=kind, score=rng.choice(values, len(frame))) for kind in kinds]
        frame = pd.concat([frame, *more], ignore_index=True)
    frame = frame[rng.random(len(frame)) >= draw(st.sampled_from([0.0, 0.3, 0.8]))]
    if frame.empty:
        frame = pd.DataFrame([{**dict.fromkeys(schemas.ITEM, "x"), "src_lang": "eng", "tgt_lang": "t0",
                               "annotator": "a", "score": values[0], "item_type": "system"}])  # fmt: skip
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
        spans = chosen[key].assign(span="1", error_type=draw(st.sampled_from(["unstated", "accuracy/omission"])),
                                   severity=rng.choice(["minor", "major"], len(chosen)))  # fmt: skip
        spans = labelled(spans.astype("category"))
    frame.attrs["scale"] = scale
    return labelled(frame), spans, draw(st.booleans())


def texts(section):
    return [*section.told, section.collect, section.alt, section.caption, *(t.caption for t in section.tables)]


@settings(max_examples=15, phases=NO_SHRINKING)
@given(designs())
def test_any_valid_table_gets_a_whole_report_that_says_true_things(design):
    ratings, spans, higher = design
    schemas.check(ratings, schemas.RATINGS, origin="the design")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = campaign.of(ratings, spans, higher_is_better=higher)
        found = campaign.analysed(mine, resamples=20, hourly_pay=10, currency="EUR")
        paragraph = campaign.methods(mine, found, resamples=20, seed=7)
        own = campaign.printed(mine)
    for name, section in {**found, "methods": paragraph, "printed": own}.items():
        assert section.told or section.tables or section.collect or section.drawn, name
        for text in texts(section):
            assert not {"nan", "None", "<NA>"} & set(text.split()), text
            assert "Traceback" not in text, text
    assert found["collected"].frame("pairs")["judgements"].sum() == len(ratings)
    assert len(mine.part) == ratings.groupby(["src_lang", "tgt_lang"]).size().max()
    verdicts = found["answers"].frame("checks")["result"]
    assert verdicts.isin([checks.FINE, checks.LOOK, checks.PROBLEM, checks.UNKNOWN]).all()
    trust = found["answers"].facts["trust"]
    assert trust.startswith("Yes") == verdicts.eq(checks.FINE).all()
    assert trust.startswith("Not yet") == verdicts.eq(checks.PROBLEM).any()
    facts = found["ranking"].facts
    if facts.get("top"):
        rows = mine.judged.groupby(["system", *mine.segment])["score"].mean().groupby("system").mean()
        for system, mean in facts["means"].items():
            assert mean == pytest.approx(rows[system])
        if facts["score"] == "score":
            assert rows[facts["systems"][0]] == pytest.approx(rows.max())
        assert set(facts["top"]) | set(facts["beaten"]) == set(facts["systems"])
    elif len(mine.systems) > 1:
        assert "top" not in facts, "several systems are compared"


@settings(max_examples=6, phases=NO_SHRINKING)
@given(designs())
def test_every_figure_of_any_valid_table_can_be_drawn(design):
    ratings, spans, higher = design
    found = campaign.analysed(campaign.of(ratings, spans, higher_is_better=higher), resamples=20)
    for name, make in DRAWN.items():
        if found[name].drawn is not None:
            figure = make(*found[name].drawn)
            figure.canvas.draw()
            assert found[name].alt
            assert found[name].caption


def test_a_section_shows_its_parts_and_no_empty_table():
    shown = []
    show = SimpleNamespace(
        text=lambda t: shown.append(("text", t)), table=lambda f, **o: shown.append(("table", o["name"])),
        figure=lambda f, alt, caption: shown.append(("figure", alt)),
    )  # fmt: skip
    full = campaign.Section("x", ("a.",), (campaign.Table("t", pd.DataFrame({"a": [1]}), "T"),), "collect more.",
                            drawn=(1,), alt="alt", caption="cap")  # fmt: skip
    full.tell(show, lambda one: one)
    assert [kind for kind, _ in shown] == ["text", "figure", "table", "text"]
    assert shown[-1][1] == "Missing here: Collect more."
    with pytest.raises(ValueError, match="the table t is empty"):
        campaign.Section("x", ("a.",), (campaign.Table("t", pd.DataFrame({"a": []}), "T"),))
    with pytest.raises(ValueError, match="nothing to say"):
        campaign.Section("x")


def test_the_ranking_is_that_of_the_ranking_room():
    mine = campaign.of(table(systems=4, gap=2.0))
    section = ranked.ranked(mine, score="raw", resamples=100)
    options = {"segment": ("doc", "segment"), "item_types": ("system", "repeat")}
    expected = ranking.significance_clusters(mine.part, test="wilcoxon", correction="holm", **options)
    shown = section.frame("rankings")
    assert shown["system"].tolist() == expected["system"].tolist()
    np.testing.assert_allclose(shown["mean"], expected["score"])
    assert shown["cluster"].tolist() == expected["cluster"].tolist()
    sure = ranking.rank_ranges(mine.part, resamples=100, segment=("doc", "segment"))
    np.testing.assert_allclose(shown["low"], sure.set_index("system").loc[shown["system"], "low"])


def test_ranking_by_z_is_ranking_by_the_normalisation_rooms_z():
    ratings = table(systems=3, gap=1.0)
    mine = campaign.of(ratings)
    z = normalization.normalize(ratings)
    expected = ranking.system_scores(z, score="normalized", segment=("doc", "segment")).set_index("system")["score"]
    shown = ranked.ranked(mine, score="z", resamples=50).frame("rankings").set_index("system")["z"]
    np.testing.assert_allclose(shown, expected[shown.index])


def test_agreement_takes_the_coefficient_that_fits_the_scale():
    five = table(people=2)
    five["score"] = five["score"].div(25).round().clip(1, 4)
    assert campaign.analysed(campaign.of(five), resamples=20)["agreement"].facts["level"] == "ordinal"
    two = five.assign(score=five["score"].gt(2).astype(float))
    assert campaign.analysed(campaign.of(two), resamples=20)["agreement"].facts["level"] == "nominal"
    mine = campaign.of(table())
    facts = campaign.analysed(mine, resamples=50)["agreement"].facts
    expected = agreement.coefficients(
        agreement.score_matrix(mine.part), measures=[("krippendorff_alpha", "interval")], resamples=50, seed=7
    )
    assert facts["estimate"] == pytest.approx(expected["estimate"].iloc[0])
    assert facts["low"] == pytest.approx(expected["low"].iloc[0])


def test_every_two_annotators_are_correlated_as_scipy_does():
    from scipy import stats

    rows = table(people=3)
    between = campaign.analysed(campaign.of(rows), resamples=20)["agreement"].frame("annotator_pairs")
    assert between[["annotator_a", "annotator_b"]].values.tolist() == [["p0", "p1"], ["p0", "p2"], ["p1", "p2"]]
    scores = agreement.score_matrix(rows)
    for row in between.itertuples():
        one, other = scores[row.annotator_a], scores[row.annotator_b]
        assert row.spearman == pytest.approx(stats.spearmanr(one, other).statistic)
        assert row.difference == pytest.approx((one - other).mean())
        assert row.items == 60
    assert agreed.by_two(table(people=9)).empty, "of many annotators the profiles say it"


def test_twenty_language_pairs_of_two_segments_each_get_a_report():
    parts = [table(segments=2, seed=n).assign(tgt_lang=f"t{n:02}") for n in range(20)]
    ratings = labelled(pd.concat(parts, ignore_index=True))
    ratings.attrs["scale"] = (0.0, 100.0)
    found = campaign.analysed(campaign.of(ratings, pair="eng-t07"), resamples=20)
    assert len(found["other_pairs"].frame("pairs_best")) == len(found["collected"].frame("pairs")) == 20
    assert found["answers"].facts["better"].startswith("eng-t07: ")
    assert found["agreement"].facts["estimate"] is None, "four items are too few"


def test_screening_proposes_whom_the_annotators_room_would_send_away_and_leaves_nobody_out():
    ratings = table(people=4)
    odd = ratings["annotator"].eq("p3")
    ratings.loc[odd, "score"] = 50.0
    mine = campaign.of(ratings)
    section = campaign.analysed(mine, resamples=20)["screening"]
    expected = annotators.screen(ratings, ["sd < 5"])
    assert section.facts["proposed"] == expected.loc[expected["flagged"], "annotator"].tolist() == ["p3"]
    assert mine.judged["annotator"].nunique() == 4


def test_rules_that_do_not_fit_the_scale_are_set_aside_with_the_reason():
    five = table()
    five["score"] = five["score"].div(25).round().clip(1, 4)
    five.attrs["scale"] = (1.0, 5.0)
    section = campaign.analysed(campaign.of(five), resamples=20)["screening"]
    assert "unique_scores < 6" not in section.facts["rules"]
    assert section.told[0].startswith("unique_scores < 6 is set aside: all annotators together used")
    unknown = table()
    unknown.attrs["scale"] = None
    section = campaign.analysed(campaign.of(unknown), resamples=20)["screening"]
    assert "sd < 5" not in section.facts["rules"]
    assert "with_others < 0.1" in section.facts["rules"]


def test_a_wrong_rule_and_other_wrong_options_are_told():
    mine = campaign.of(table())
    found = campaign.analysed(mine, rules=["sd is low"], resamples=20)
    assert "is no rule" in found["screening"].collect
    for wrong, problem in (({"score": "rank"}, "score='rank'"), ({"resamples": 3}, "20 resamples or more")):
        with pytest.raises(DataError, match=problem):
            campaign.analysed(mine, **wrong)
    assert "below 0" in cost.cost(mine, hourly_pay=-1).collect
    with pytest.raises(DataError, match=r"there is no .eng-xxx. in these data\. Choose one of: eng-deu"):
        campaign.of(table(), pair="eng-xxx")


def test_the_first_page_names_the_better_system_and_the_one_that_cannot_be_told_apart():
    clear = campaign.analysed(campaign.of(table(gap=15)), resamples=100)["answers"].facts
    assert clear["better"].startswith("eng-deu: sys0 is better than sys1, the only other system.")
    close = campaign.analysed(campaign.of(table(gap=0.0, segments=12)), resamples=100)["answers"].facts
    assert "cannot be told apart" in close["better"]
    assert any("equally good" in step for step in close["next"])
    one = campaign.analysed(campaign.of(table(systems=1)), resamples=20)["answers"].facts
    assert "only sys0 was judged" in one["better"]


def test_what_is_missing_is_asked_for():
    found = campaign.analysed(campaign.of(table(people=1)), resamples=20)
    assert "two or more annotators judge the same items" in found["agreement"].collect
    assert "no items spoilt on purpose" in found["quality_control"].collect.lower()
    assert "no items shown twice" in found["quality_control"].collect.lower()
    for name, word in (("calibration", "calibration"), ("errors", "mark errors"), ("cost", "started"),
                       ("context", "copy"), ("normalisation", "two annotators")):  # fmt: skip
        assert not found[name].tables, name
        assert word in found[name].collect, name


def test_lower_is_better_turns_scores_round_on_their_scale():
    ratings = table(gap=15)
    facts = campaign.analysed(campaign.of(ratings, higher_is_better=False), resamples=20)["ranking"].facts
    assert facts["systems"][0] == "sys1"
    mine = campaign.of(ratings, higher_is_better=False)
    np.testing.assert_allclose(mine.part["score"], 100 - ratings["score"])
    assert "turned round" in mine.told


def test_uneven_work_is_found_and_ranked_by_z():
    both = table(systems=2, people=2, segments=40)
    strict = both["annotator"].eq("p0")
    both.loc[strict, "score"] = (both.loc[strict, "score"] - 40).clip(0)
    keep = ~(strict & both["system"].eq("sys1") & (both["segment"].astype(int) % 4 > 0))
    keep &= ~(~strict & both["system"].eq("sys0") & (both["segment"].astype(int) % 4 > 0))
    uneven = campaign.of(labelled(both[keep].reset_index(drop=True)))
    assert ranked.association(uneven.judged) > ranked.UNEVEN > ranked.association(campaign.of(both).judged)
    how = ranked.prepared(uneven)
    assert how.column == "normalized"
    assert "unequally often" in how.why
    section = ranked.ranked(uneven, resamples=50)
    assert section.facts["systems"][0] == "sys0", "z undoes what the strict annotator did to the better system"
    assert section.facts["means"]["sys0"] < section.facts["means"]["sys1"]


def test_cramers_v_is_that_of_scipy_before_its_correction():
    from scipy import stats

    rows = table(systems=3, people=4, segments=20).sample(80, random_state=3)
    counts = pd.crosstab(rows["annotator"], rows["system"])
    n, (r, c) = len(rows), counts.shape
    phi = stats.chi2_contingency(counts, correction=False).statistic / n
    corrected = max(phi - (r - 1) * (c - 1) / (n - 1), 0)
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    assert ranked.association(rows) == pytest.approx((corrected / smaller) ** 0.5)


def test_segments_numbered_throughout_are_known_by_their_number_alone():
    ratings = table()
    assert campaign.of(ratings).segment == ("doc", "segment")
    anew = labelled(ratings.assign(doc=ratings["system"] + ratings["doc"]))
    assert campaign.of(anew).segment == ("segment",)
    assert shared_segments(campaign.of(anew)) == 1.0
    restarting = labelled(anew.assign(segment=(anew["segment"].astype(int) % 5).astype("str")))
    assert campaign.of(restarting).segment == ("doc", "segment")


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
    table, how = cost.hours(pd.DataFrame({"annotator": "a", "started": stamps, "ended": stamps}))
    assert table[["judgements", "mean_seconds"]].to_numpy().tolist() == [[6, (100 + cost.PAUSE + 30) / 6]]
    assert table["median_seconds"].iloc[0] == np.median([40, 60, cost.PAUSE, 30])
    assert "10 minutes" in how
    assert "break" in how
    one = pd.DataFrame({"annotator": ["a"], "started": [5.0], "ended": [5.0]})
    assert cost.hours(one)[0].empty, "a single stamp tells no time"


def test_what_the_hours_cost_is_hours_times_pay():
    ratings = table(started=0.0)
    ratings["started"] = np.arange(len(ratings)) * 60.0
    ratings["ended"] = ratings["started"] + 30
    section = cost.cost(campaign.of(ratings), hourly_pay=12.0, currency="EUR")
    spans = ratings.groupby("annotator").agg(first=("started", "min"), last=("ended", "max"))
    worked = float((spans["last"] - spans["first"]).sum())
    assert section.facts["cost"] == pytest.approx(worked / 3600 * 12)
    assert "EUR" in section.told[1]


def test_the_plan_is_the_smallest_number_of_documents_that_reaches_the_power():
    from evalkit.human import planning

    variances = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    design = {"arrangement": "same", "judgements": 1, "block": 10}
    needed = planned.segments_needed(variances, 3.0, **design)
    reached = [float(planning.power(variances, delta=3.0, segments=n, **design)) for n in (needed - 10, needed)]
    assert reached[0] < planned.POWER <= reached[1]
    assert planned.segments_needed(variances, 1e-6, **design) is None
    assert planned.segments_needed(variances, 0.0, **design) is None


def test_calibration_items_of_language_pairs_give_all_four_forms():
    parts = []
    for shift, target in ((0, "deu"), (-1, "jpn"), (1, "hin")):
        ratings = table(systems=2, segments=12, people=3, seed=len(parts))
        ratings["score"] = (ratings["score"] / 25 + shift + 0.5).round().clip(1, 5)
        kinds = {"sys0": "system", "sys1": "system"}
        own = ratings.assign(tgt_lang=target, item_type=ratings["system"].map(kinds))
        known = table(systems=1, segments=20, people=3, seed=9, gap=0)
        known["score"] = (known["segment"].astype(int) % 5 + 1 + shift * 0.5).round().clip(1, 5)
        known = known.assign(tgt_lang=target, system="calibration", doc="c", item_type="calibration")
        human = own[own["system"].eq("sys0")].assign(item_type="reference", system="human")
        human["score"] = np.where(human.index % 3, 5.0, 4.0)
        parts += [own, known, human]
    ratings = labelled(pd.concat(parts, ignore_index=True))
    ratings.attrs["scale"] = (1.0, 5.0)
    section = campaign.analysed(campaign.of(ratings), resamples=30)["calibration"]
    assert section.facts["by"] == "pair"
    assert section.frame("calibrated")["form"].tolist()[::6] == ["raw scores", *calibration.forms.FORMS.values()]
    direct = calibration.ratings.calibrate(ratings, by="pair", scale=(1.0, 5.0), resamples=30, seed=7)
    shown = section.frame("calibrated_groups")
    for name in ("raw", "adjusted", "se", "low", "high"):
        np.testing.assert_allclose(shown[name], direct[name], rtol=0, atol=0)
    one = shown[(shown["group"] == "eng-jpn") & (shown["system"] == "sys0")].set_index("form")
    agreed_on = calibration.ratings.own_standard(ratings, by="pair", scale=(1.0, 5.0))
    means = {"calibration_mean": one["calibration_mean"].iloc[0], "reference_mean": one["reference_mean"].iloc[0]}
    by_hand = calibration.forms.adjust(one["raw"].iloc[0], **means, standard=agreed_on)
    for form, value in by_hand.items():
        assert one.loc[calibration.forms.FORMS[form], "adjusted"] == pytest.approx(float(value)), form
    options = {"by": "pair", "within": None, "splits": 50, "resamples": 30, "seed": 7}
    with np.errstate(invalid="ignore", divide="ignore"):
        held = calibration.held_out.held_out(ratings, scale=(1.0, 5.0), **options)
    pd.testing.assert_frame_equal(
        section.frame("carry_over").drop(columns="form"), held.drop(columns=["form", "within"]), check_dtype=False
    )
    strict = section.frame("strictness")
    assert strict["pair"].iloc[0] == "eng-jpn"
    assert strict["shift"].iloc[0] > 0
    assert "carry_over" in {one.name for one in section.tables}


def test_a_simulated_campaign_with_quality_control_fills_its_sections():
    design = simulate.Design(systems=3, documents=12, annotators=6, judgements=2, calibration=20)
    ratings = simulate.campaign(design=design, control=simulate.Control(copies=2))
    ratings["position"] = ratings.groupby("annotator").cumcount()
    ratings["copy"] = ratings["item_type"].isin(["degraded", "repeat"])
    mine = campaign.of(labelled(ratings))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = campaign.analysed(mine, resamples=50)
    filled = {name for name, section in found.items() if section.tables}
    assert {"collected", "agreement", "annotators", "screening", "quality_control", "calibration", "normalisation",
            "ranking", "cost", "planning", "answers"} <= filled  # fmt: skip
    truth = ratings.attrs["truth"]["systems"]
    assert found["ranking"].facts["systems"][0] in truth


@pytest.mark.parametrize("seed", [3, 4])
def test_annotators_calibrated_by_shared_items_are_those_of_the_calibration_room(seed):
    design = simulate.Design(systems=3, documents=8, annotators=4, judgements=4, calibration=24)
    ratings = labelled(simulate.campaign(design=design, seed=seed))
    mine = campaign.of(ratings)
    section = campaign.analysed(mine, resamples=25, seed=11)["calibration"]
    assert section.facts["by"] == "annotator"
    options = {"by": "annotator", "within": "pair", "resamples": 25, "seed": 11}
    direct = calibration.ratings.calibrate(ratings, scale=mine.scale, **options)
    shown = section.frame("calibrated_groups")
    for name in ("raw", "adjusted", "se", "low", "high"):
        np.testing.assert_allclose(shown[name], direct[name], rtol=0, atol=0)
    mean = direct[direct["form"] == "moderated"].groupby("system")["adjusted"].mean()
    table = section.frame("calibrated").set_index(["form", "system"])
    for system, value in mean.items():
        assert table.loc[("moderated shift", system), "adjusted"] == pytest.approx(value)
    slope = calibration.held_out.carry_over(ratings, splits=50, **options).iloc[0]
    assert section.facts["carry_over"] == pytest.approx(slope["slope"])
    strict = section.frame("strictness").set_index("annotator")["mean"]
    own = ratings[ratings["item_type"].eq("calibration")].groupby("annotator")["score"].mean()
    np.testing.assert_allclose(strict[own.index], own)


def test_the_check_of_degraded_context_is_that_of_the_context_room():
    ratings = labelled(simulate.wmt22_mturk())
    mine = campaign.of(ratings)
    section = campaign.analysed(mine, resamples=99, seed=5)["context"]
    paired = context.pairs(mine.part)
    grouped = paired[paired["group"] != "none"]
    means = grouped.groupby("group")["difference"].mean()
    assert section.facts["effect"] == pytest.approx(means["after"] - means["before"])
    assert section.facts["p"] == context.permutation(grouped, resamples=99, rng=np.random.default_rng(5))[1]
    pd.testing.assert_frame_equal(section.frame("context_sizes"), context.group_sizes(paired))
    shown = section.frame("context").set_index("group")
    assert shown["n"].to_dict() == grouped["group"].value_counts()[shown.index].to_dict()
    np.testing.assert_allclose(shown["mean"], means[shown.index])


def test_a_drag_of_spoilt_neighbours_is_found_and_asked_about():
    control = simulate.Control(copies=3, context=-25.0)
    design = simulate.Design(systems=3, documents=40, annotators=6, judgements=2, hit=60)
    still = simulate.Behaviour(sd_noise=3.0)
    ratings = simulate.campaign(design=design, behaviour=still, control=control, seed=2)
    ratings["position"] = ratings.groupby("hit").cumcount()
    ratings["copy"] = ratings["item_type"].isin(["degraded", "repeat"])
    found = campaign.analysed(campaign.of(labelled(ratings)), resamples=99)
    assert found["context"].facts["effect"] > 10
    assert found["context"].facts["p"] < 0.05
    checked = found["answers"].frame("checks").set_index("check")
    assert checked.loc["Spoilt neighbours did not change scores", "result"] == checks.LOOK


def test_agreement_leaves_calibration_items_out_where_there_are_enough_others():
    ratings = table(people=2)
    known = table(systems=1, segments=40, people=2, seed=8).assign(item_type="calibration", doc="c", system="cal")
    both = labelled(pd.concat([ratings, known], ignore_index=True))
    both.attrs["scale"] = (0.0, 100.0)
    facts = campaign.analysed(campaign.of(both), resamples=20)["agreement"].facts
    alone = campaign.analysed(campaign.of(ratings), resamples=20)["agreement"].facts
    assert facts["items"] == 60
    assert facts["estimate"] == alone["estimate"]
    few = labelled(pd.concat([ratings[ratings["annotator"].eq("p0")], known], ignore_index=True))
    few.attrs["scale"] = (0.0, 100.0)
    section = campaign.analysed(campaign.of(few), resamples=20)["agreement"]
    assert section.facts["items"] == 40
    assert "calibration items among them" in section.told[0]


def test_long_and_unseen_names_are_shortened_and_never_meet():
    long, other = "L" * 2000, "L" * 1999 + "M"
    turned = f"a{chr(0x202E)}b"
    ratings = table(systems=4)
    ratings["system"] = ratings["system"].map(dict(zip(("sys0", "sys1", "sys2", "sys3"), (long, other, turned, "a b"))))
    keys = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    spans = ratings[keys].iloc[::3].assign(span="1", error_type="unstated", severity="major").astype("category")
    spans.attrs = dict(ratings.attrs)
    mine = campaign.of(ratings, spans)
    found = campaign.analysed(mine, resamples=20)
    assert len(mine.systems) == 4
    assert max(map(len, mine.systems)) <= LONGEST
    assert "3 names of systems or annotators" in mine.told
    assert all(long not in text and chr(0x202E) not in text for part in found.values() for text in texts(part))
    assert found["errors"].frame("errors_systems")["errors"].sum() == len(spans)
    expected = ratings.groupby("system")["score"].mean()
    assert found["ranking"].facts["means"][mine.systems[mine.systems.index("a b")]] == pytest.approx(expected["a b"])
    assert [source.attrs["source"]["name"] for source in mine.sources] == ["mine", "mine-errors"]
    assert campaign.of(table()).renamed == 0


@settings(max_examples=60)
@given(st.lists(st.text(max_size=80), unique=True, max_size=8))
def test_names_stay_different_and_short_ones_stay_themselves(names):
    shown = readable(names)
    after = [shown.get(name, name) for name in names]
    assert len(set(after)) == len(names)
    assert all(0 < len(name) <= LONGEST for name in after)
    assert all(name not in shown for name in names if name.isalnum() and len(name) <= LONGEST)


def test_stamps_are_not_taken_for_lengths_of_judgements():
    ratings = table()
    ratings["started"] = np.arange(len(ratings)) * 20.0
    ratings["ended"] = ratings["started"] + np.where(np.arange(len(ratings)) % 2, 0.001, 9.0)
    found = campaign.analysed(campaign.of(ratings), resamples=20)
    assert not any(rule.startswith("seconds") for rule in found["screening"].facts["rules"])
    assert any(told.startswith("seconds < 2 is set aside: many judgements end as") for told in found["screening"].told)
    assert "seconds" not in found["annotators"].frame("profiles")
    ratings["ended"] = ratings["started"] + 9.0
    assert not people.stamped(ratings)
    assert "seconds < 2" in campaign.analysed(campaign.of(ratings), resamples=20)["screening"].facts["rules"]


def test_one_score_throughout_few_segments_and_one_system_are_problems():
    same = table(systems=3)
    same["score"] = 100.0
    found = campaign.analysed(campaign.of(same), resamples=20)
    assert "all systems have the same mean score, 100.00" in found["answers"].facts["better"]
    assert found["answers"].facts["trust"].startswith("Not yet")
    assert not any("100% of draws" in told and "level" not in told for told in found["ranking"].told)
    assert "the same score" in found["answers"].frame("checks").set_index("check").loc[
        "Annotators agree beyond chance", "found"
    ]  # fmt: skip
    few = campaign.analysed(campaign.of(table(gap=15, segments=8)), resamples=20)["answers"]
    enough = few.frame("checks").set_index("check").loc["Enough segments were judged"]
    assert enough["result"] == checks.PROBLEM
    assert enough["found"] == "8 segments a system (fine from 100, look from 30)"
    one = campaign.analysed(campaign.of(table(systems=1)), resamples=20)["answers"]
    assert one.facts["next"][0] == "1. Judge a second system on the same segments."
    assert one.facts["headline"].endswith("Next: Judge a second system on the same segments.")


def test_problems_come_before_the_plan_and_the_plan_before_the_rest():
    close = table(gap=0.0, segments=40, people=1)
    steps = campaign.analysed(campaign.of(close), resamples=20)["answers"].facts["next"]
    assert steps[0].startswith("1. Add annotators")
    assert steps[1].startswith("2. Treat the first two systems as equally good")


def test_sentences_count_correctly():
    for ratings in (table(systems=1, segments=1, people=1), table(people=1, segments=5), table(systems=1)):
        found = campaign.analysed(campaign.of(ratings), resamples=20)
        for section in found.values():
            for text in texts(section):
                for wrong in (" 1 systems", " 1 annotators", " 1 segments", "all 1 others", "there is 2", "1 clusters",
                              " 1 cells", "..", "Eng-deu", "nobody of"):  # fmt: skip
                    assert wrong not in text, text


def test_the_methods_claim_only_forms_of_calibration_that_were_computed():
    ratings = table(systems=1, people=3).assign(item_type="calibration")
    only = labelled(ratings)
    only.attrs["scale"] = (0.0, 100.0)
    mine = campaign.of(only)
    found = campaign.analysed(mine, resamples=20)
    assert found["calibration"].facts["there"]
    assert "Licht" not in campaign.methods(mine, found, resamples=20, seed=7).facts["text"]
    design = simulate.Design(systems=3, documents=6, annotators=4, judgements=4, calibration=20)
    mine = campaign.of(labelled(simulate.campaign(design=design)))
    text = campaign.methods(mine, campaign.analysed(mine, resamples=20), resamples=20, seed=7).facts["text"]
    assert "(simple shift, capped shift and moderated shift; Licht et al. 2022)" in text


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report in the shape of a study's JSON, with hostile names."""
    recorded = {
        "rankings": [{"system": "a_b & $x$ \\input{y}", "score": 1.23456, "sure": True, "note": None},
                     {"system": "=1+1", "score": None, "sure": False, "note": "x"}],
        "nested": [{"name": "n", "value": [1, 2]}, {"name": "m", "value": None}], "alpha": 0.5, "none": [],
        "methods": {"text": "By a_b *and* more (Holm 1979).", "markdown": "", "references": ["Holm, S. (1979)."]},
        "long": [{"n": number} for number in range(100)], "../odd name": [{"n": 1}],
    }  # fmt: skip
    found = {"study": "campaign", "title": "t", "status": "ok", "seconds": 1.0, "parameters": {"seed": 7},
             "data": [{"name": "mine", "source": "simulated", "origin": "o", "digest": "d"}], "recorded": recorded,
             "published": [], "headline": "h", "signature": "evalkit:0.1.0|data:x@1|seed:7"}  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "campaign.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_exports_hold_every_table_to_the_last_digit(report, tmp_path):
    written = {path.name for path in campaign.export(report, tmp_path / "out")}
    recorded = json.loads(report.read_text(encoding="utf-8"))["recorded"]
    for name in ("rankings", "nested", "long"):
        assert {f"{name}.csv", f"{name}.parquet"} <= written
    csv, parquet = pd.read_csv(tmp_path / "out/rankings.csv"), pd.read_parquet(tmp_path / "out/rankings.parquet")
    assert csv["system"].tolist() == parquet["system"].tolist() == [row["system"] for row in recorded["rankings"]]
    assert csv["score"].iloc[0] == parquet["score"].iloc[0] == 1.23456
    assert parquet["sure"].tolist() == [True, False]
    assert pd.isna(parquet["score"].iloc[1])
    assert "long.tex" not in written
    assert "rankings.tex" in written
    assert {path.parent for path in campaign.export(report, tmp_path / "out")} == {tmp_path / "out"}
    assert json.loads((tmp_path / "out/values.json").read_text(encoding="utf-8"))["alpha"] == 0.5


def test_latex_and_markdown_escape_what_comes_from_data(report, tmp_path):
    campaign.export(report, tmp_path)
    text = (tmp_path / "rankings.tex").read_text(encoding="utf-8")
    assert r"a\_b \& \$x\$ \textbackslash{}input\{y\} & 1.235 & yes & -- \\" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    assert "seed:7" in text.splitlines()[0]
    markdown = (tmp_path / "methods.md").read_text(encoding="utf-8")
    assert r"By a\_b \*and\* more (Holm 1979)." in markdown
    assert "SIMULATED" in markdown
    assert "evalkit:0.1.0|data:x@1|seed:7" in markdown
    assert "Holm, S." in markdown
    assert "Signature: evalkit:0.1.0|data:x@1|seed:7" in (tmp_path / "methods.txt").read_text(encoding="utf-8")


def test_latex_of_any_text_keeps_braces_balanced_and_nothing_unescaped():
    for text in ("\\", "{{}", "%", "a\nb", "^~", "_#&$", "<|>", "\\end{tabular}", "✓ fine", "`x`", "“q”…"):
        found = exports.tex(text)
        bare = re.sub(r"\\[{}$&#_%]", "", found)
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0
        assert not set("%#&_^~\n`✓") & set(bare.replace("``", ""))


def test_a_row_of_latex_cannot_be_taken_for_an_option_and_strange_letters_are_announced():
    table = pd.DataFrame({"system": ["[2cm]", "*", "b"], "score": [-0.5, None, 1e-7], "note": ["-x", "--", "ü"]})
    lines = exports.latex(table, name="t").splitlines()
    assert r"{}[2cm] & $-$0.5 & -x \\" in lines
    assert r"{}* & -- & -- \\" in lines
    assert not any(line.startswith("%") for line in lines)
    assert exports.latex(table.assign(note="字"), name="t").startswith("% Some letters")


def test_tables_whose_names_make_the_same_file_do_not_meet(report, tmp_path):
    found = json.loads(report.read_text(encoding="utf-8"))
    found["recorded"] = {"a b": [{"x": 1}], "a/b": [{"x": 2}], "A_B": [{"x": 3}], "huge": [{"x": 1}]}
    found["recorded"]["methods"] = {"text": "t", "references": 5}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    campaign.export(path, tmp_path / "out")
    values = [pd.read_csv(tmp_path / "out" / f"{name}.csv")["x"].iloc[0] for name in ("a_b", "a_b_2", "A_B_3")]
    assert values == [1, 2, 3]
    found["recorded"] = {"huge": [{"x": 10**30}]}
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(DataError, match="the table huge is none that a study writes"):
        campaign.export(path, tmp_path / "other")


@pytest.mark.parametrize(("content", "problem"), [
    ("[]", "no report of a study"), ("{", "no JSON report"), ('{"study": "x"}', "no report of a study"),
    (json.dumps({"study": "x", "status": "failed", "recorded": {}, "signature": "", "data": [], "parameters": {}}),
     "the study x failed"),
    (json.dumps({"study": "x", "status": "ok", "recorded": {}, "signature": "", "data": ["x"], "parameters": {}}),
     "no report of a study"),
    ('{"study": "camp', "no JSON report"), ("[" * 100_000, "no JSON report"),
])  # fmt: skip
def test_what_is_no_good_report_is_refused_in_a_sentence(content, problem, tmp_path, capsys):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    assert cli.main(["export", str(tmp_path / "r.json"), "--out", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_command_prints_the_files_it_wrote(report, tmp_path, capsys):
    assert cli.main(["export", str(report), "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all((tmp_path / "out" / line.rpartition("/")[2]).is_file() for line in lines)
    assert cli.main(["export", str(tmp_path / "absent.json"), "--out", str(tmp_path)]) == 1
    assert cli.main(["export", str(report), "--out", str(report)]) == 1


def test_a_methods_paragraph_cites_what_it_uses_and_nothing_else():
    mine = campaign.of(table())
    found = campaign.analysed(mine, resamples=20)
    facts = campaign.methods(mine, found, resamples=20, seed=7).facts
    assert "90 judgements" not in facts["text"]
    assert f"{len(mine.part):,} judgements" in facts["text"]
    assert any("Krippendorff" in line for line in facts["references"])
    assert not any("Licht" in line for line in facts["references"]), "there is no calibration here"
    assert found["ranking"].facts["systems"][0] in facts["text"]
    assert replace(found["agreement"], facts={}).facts == {}


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
        places = {"appraise.csv": _WMT22 + "WMT22.Appraise.calibrationHITs.20221103.csv",
                  "esa.csv": _WMT24 + "esa_generalMT2024_wave3.csv"}  # fmt: skip
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
        frame = pd.DataFrame({
            "system": frame["system"], "doc": frame["doc"], "doc_id": "1", "seg_id": frame["segment"],
            "rater": frame["annotator"], "source": "A source " + frame["segment"],
            "target": np.where(none, "Ein Satz ", "Ein <v>Satz</v> ") + frame["segment"],
            "category": np.where(none, "No-error", "Accuracy/Mistranslation"),
            "severity": np.where(none, "No-error", rng.choice(["Minor", "Major"], len(frame))),
        })  # fmt: skip
        frame.drop_duplicates(["system", "seg_id", "rater"]).to_csv(path, sep="\t", index=False)
    return path


@pytest.mark.parametrize("name", STRANGERS)
def test_a_stranger_gets_a_report_from_one_command(name, tmp_path, mirrored, monkeypatch, capsys):
    folder = tmp_path / "private folder"
    folder.mkdir()
    strangers_file(name, folder, mirrored)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)
    assert cli.main(["run", "campaign", "-p", f"file={name}", "-p", "resamples=30", "--out", "reports"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(folder / "reports" / "campaign.html")
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
    assert {"rankings.csv", "rankings.parquet", "rankings.tex", "methods.md"} <= {path.name for path in written}


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


@pytest.mark.parametrize("dataset", ["wmt24-esa", "wmt22-calibration-hits", "wmt23-mqm", "indicmt-mqm"])
def test_registered_data_of_every_kind_make_an_example(dataset, real):
    real(dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = campaign.opened(dataset=dataset)
        found = campaign.analysed(mine, resamples=20)
    assert "not a campaign of yours" in mine.told
    assert found["collected"].frame("pairs")["judgements"].sum() == len(real(dataset))
    assert found["errors"].facts["there"] == (f"{dataset}-spans" in registry.entries())
    assert bool(found["calibration"].tables) == (dataset == "wmt22-calibration-hits")


def test_the_example_by_z_is_the_official_ranking_to_its_printed_digits(real):
    """Our z-scores, from raw scores alone, against the system scores that WMT22 published, where counts agree."""
    official = real("wmt22-mturk-ranking")
    real("wmt22-mturk")
    mine = campaign.opened(dataset="wmt22-mturk", pair="jpn-eng")
    shown = ranked.ranked(mine, score="z", resamples=20).frame("rankings").set_index("system")["z"]
    printed = official[official["src_lang"].eq("jpn") & official["tgt_lang"].eq("eng")].set_index("system")["z"]
    equal = (shown[printed.index] - printed.astype(float)).abs() <= 0.0005 + 1e-9
    assert len(printed) == 14
    assert equal.sum() == 12
    rows = campaign.printed(mine).frame("official")
    assert rows["computed"].notna().all()
    assert len(rows) == 28


def test_data_without_judgements_are_no_example():
    with pytest.raises(DataError, match="holds no judgements by annotators"):
        campaign.opened(dataset="wmt22-calibration-mapping", fallback=True)


def test_pictures_have_room_for_long_names_of_systems():
    names = [f"{letter} {'very ' * 12}long name of a system" for letter in "abcd"]
    ratings = table(systems=4)
    ratings["system"] = ratings["system"].map(dict(zip([f"sys{n}" for n in range(4)], names)))
    found = campaign.analysed(campaign.of(ratings), resamples=20)
    for part in ("picture", "ranking", "normalisation"):
        figure = DRAWN[part](*found[part].drawn)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a layout that collapses warns
            figure.canvas.draw()
        labels = " ".join(text.get_text() for text in figure.findobj(mpl.text.Text))
        assert "…" in labels
        assert names[0] not in labels


ALL_THERE, REMOVED = annotators.Caliper(3, 2, 0.6), annotators.Caliper(30, 0, 0.0002)


@pytest.mark.parametrize(("check", "section", "facts", "verdicts"), [
    ("Annotators agree beyond chance", "agreement", [
        {"estimate": 0.40, "low": 0.01, "high": 0.6}, {"estimate": 0.39, "low": 0.01, "high": 0.6},
        {"estimate": 0.39, "low": 0.0, "high": 0.6}, {"estimate": None},
    ], "fine look problem unknown"),
    ("Annotators are steady with themselves", "quality_control", [
        {"tested": 0, "failed": None, "again": again, "repeated": repeated}
        for again, repeated in ((10, 10), (10.1, 10), (20, 10), (20.1, 10), (5, 9), (30, 9), (None, 0))
    ], "fine look look problem unknown unknown unknown"),
    ("Annotators notice spoilt translations", "quality_control", [
        {"tested": tested, "failed": list("abc")[:failed], "open": few, "again": None, "caliper": caliper}
        for tested, failed, few, caliper in (
            (10, 0, 0, ALL_THERE), (10, 1, 0, ALL_THERE), (10, 2, 0, ALL_THERE),
            (10, 0, 0, REMOVED), (10, 1, 0, REMOVED), (10, 2, 0, REMOVED),  # even those left fail too often
            (10, 0, 8, ALL_THERE), (10, 0, 9, ALL_THERE), (1, 0, 0, ALL_THERE), (0, None, 0, ALL_THERE),
        )
    ], "fine look problem unknown unknown problem fine unknown unknown unknown"),
    ("Spoilt neighbours did not change scores", "context", [
        {"effect": 1.0, "p": p,
         "equivalence": verdict and {"estimate": 1.0, "low": 0.5, "high": 1.5, "verdict": verdict}}
        for verdict, p in (("equivalent", 0.6), ("both", 0.01), ("different", 0.6), ("undecided", 0.6),
                           ("undecided", 0.04), ("undecided", None), (None, 0.6), (None, 0.01))
    ], "fine fine look unknown look unknown unknown unknown"),
    ("The result does not hang on odd annotators", "screening", [
        {"proposed": [], "annotators": 3, "rules": ["sd < 5"], "unknown": unknown, "looked_at": looked_at}
        for unknown, looked_at in (([], 3), ([], 2), ([], 1), (["sd < 5"], 0))
    ], "fine fine unknown unknown"),
    ("Annotators agree beyond chance", "agreement", [
        {"estimate": 0.5, "low": float("nan"), "high": float("nan")},
    ], "unknown"),
    ("Nothing was counted twice by accident", "collected", [{"duplicates": 0}, {"duplicates": 1}], "fine look"),
])  # fmt: skip
def test_verdicts_follow_from_the_numbers_and_turn_at_the_limits_that_are_stated(check, section, facts, verdicts):
    mine = campaign.of(table())
    found = campaign.analysed(mine, resamples=20)
    words = {"fine": checks.FINE, "look": checks.LOOK, "problem": checks.PROBLEM, "unknown": checks.UNKNOWN}
    for values, verdict in zip(facts, verdicts.split(), strict=True):
        changed = {**found, section: replace(found[section], facts={**found[section].facts, **values})}
        rows = checks.checks(mine, changed, score="auto")
        assert rows.set_index("check").loc[check, "result"] == words[verdict], (values, verdict)
        places = [checks.PROBLEM, checks.LOOK, checks.UNKNOWN, checks.FINE]
        assert [places.index(result) for result in rows["result"]] == sorted(places.index(r) for r in rows["result"])


@pytest.mark.parametrize(("segments", "people", "verdicts"), [
    (100, 3, ("fine", "fine")), (99, 2, ("look", "look")), (30, 1, ("look", "problem")), (29, 3, ("problem", "fine")),
])  # fmt: skip
def test_verdicts_on_what_was_collected_turn_at_the_stated_limits(segments, people, verdicts):
    rows = campaign.analysed(campaign.of(table(segments=segments, people=people)), resamples=20)["answers"]
    found = rows.frame("checks").set_index("check")["result"].str.partition(" ")[2]
    assert (found["Enough segments were judged"], found["Several annotators took part"]) == verdicts


def test_the_plans_axis_is_labelled_in_plain_numbers():
    found = campaign.analysed(campaign.of(table()), resamples=20)["planning"]
    figure = draw.plan(*found.drawn)
    figure.canvas.draw()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels(which="both") if label.get_text()]
    assert len(labels) >= 2
    assert all(re.fullmatch(r"[\d,]+", label) for label in labels)


def test_the_example_is_what_pandas_and_scipy_make_of_the_raw_file(real, mirrored):
    """Counts, means, tests, clusters, agreement and quality control of the example, from WMT22's files themselves."""
    import krippendorff
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    real("wmt22-mturk")
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
    mine = campaign.opened(dataset="wmt22-mturk", pair="jpn-eng")
    found = campaign.analysed(mine, resamples=20)
    kept = raw[raw["type"].isin(["SYSTEM", "REPEAT"])]
    cells = kept.groupby(["sys_id", "sid"])[["points", "own_z"]].mean()
    systems = cells.groupby("sys_id").mean().sort_values("own_z", ascending=False)
    shown = found["ranking"].frame("rankings").set_index("system")
    assert shown.index.tolist() == systems.index.tolist()
    np.testing.assert_allclose(shown["mean"], systems["points"])
    np.testing.assert_allclose(shown["z"], systems["own_z"])
    wide = cells["own_z"].unstack(0)
    pairs = list(itertools.combinations(systems.index, 2))
    options = {"alternative": "greater", "method": "approx"}
    p = [stats.wilcoxon((wide[a] - wide[b]).dropna(), **options).pvalue for a, b in pairs]
    adjusted = dict(zip(pairs, multipletests(p, method="holm")[1]))
    duels = found["ranking"].frame("duels")
    assert len(duels) == len(pairs) == 91
    for row in duels.itertuples():
        assert row.adjusted_p == pytest.approx(adjusted[row.better, row.worse], abs=2e-4)
    ends = [all(adjusted[a, b] < 0.05 for a in systems.index[:n] for b in systems.index[n:]) for n in range(1, 14)]
    assert shown["cluster"].tolist() == [1, *(1 + np.cumsum(ends))]
    judged = kept.groupby(["sys_id", "sid", "WorkerId"])["points"].mean().unstack()
    several = judged[judged.notna().sum(axis=1) > 1]
    facts = found["agreement"].facts
    assert facts["items"] == len(several)
    alpha = krippendorff.alpha(several.T.to_numpy(), level_of_measurement="interval")
    assert facts["estimate"] == pytest.approx(alpha)
    assert found["collected"].facts["cells"] == wide.size
    assert found["collected"].facts["judged"] == len(cells)
    key = ["HITId", "WorkerId", "sys_id", "sid"]
    first, again = (raw[raw["type"].eq(kind)].set_index(key)["points"] for kind in ("SYSTEM", "REPEAT"))
    apart = (again - first.groupby(level=key).mean()).abs().dropna()
    assert found["quality_control"].facts["again"] == apart.median()


@pytest.mark.parametrize("gap", [0.5, 2.0, 8.0])
def test_the_clusters_of_normalised_scores_are_drawn_by_the_tests_of_the_ranking(gap):
    for score, way in (("raw", "raw scores"), ("z", "z per annotator")):
        mine = campaign.of(table(systems=4, gap=gap, noise=20.0))
        found = campaign.analysed(mine, score=score, resamples=20)
        rows = found["normalisation"].drawn[0]
        own = rows[rows["variant"] == way].set_index("system")["cluster"]
        expected = found["ranking"].frame("rankings").set_index("system")["cluster"]
        assert own[expected.index].tolist() == expected.tolist()


def test_columns_of_sentences_break_lines_in_latex():
    table = pd.DataFrame({"check": ["short"], "found": ["a long sentence " * 5], "to_do": ["x" * 41], "n": [1]})
    assert r"\begin{tabular}{lp{0.38\linewidth}p{0.38\linewidth}r}" in exports.latex(table, name="t").splitlines()
    assert r"\begin{tabular}{lr}" in exports.latex(table[["check", "n"]], name="t").splitlines()


def test_the_report_says_how_a_file_was_read(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    file = tmp_path / "mine.csv"
    file.write_text("system,segment,annotator,score\nA,1,x,80\nB,1,x,70\nA,2,x,60\nB,2,x,75\n", encoding="utf-8")
    mine = campaign.opened(str(file))
    (told,) = [one for one in campaign.analysed(mine, resamples=20)["collected"].told if one.startswith("How the file")]
    assert "nothing says the languages" in told
    assert "no column names documents" in told


def test_the_report_says_that_a_file_may_be_cut_off_and_that_names_looked_alike(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    file = tmp_path / "mine.csv"
    file.write_text("system,segment,annotator,score\nA,1,x,80\nB,1,x,70\n\ufeffA,2,x,60\nB,2,x,7", encoding="utf-8")
    mine = campaign.opened(str(file))
    assert sorted(mine.ratings["system"].unique()) == ["A", "B"]
    (told,) = [one for one in campaign.analysed(mine, resamples=20)["collected"].told if one.startswith("How the file")]
    assert "mine.csv: warning: the file does not end in a line break" in told
    assert "in 1 cell of system characters that cannot be seen (U+FEFF) were left out" in told
