"""Whom intervals draw, where human translations stand, and what is said of small and odd campaigns."""

import re

import numpy as np
import pandas as pd
import pytest
from test_campaign import analysed, labelled, table

from evalkit import DataError, campaign
from evalkit.campaign import sentences
from evalkit.campaign.checks import FINE, PROBLEM
from evalkit.campaign.figures import scores as draw_scores
from evalkit.human import ranking
from evalkit.human.ranking import by_rule


def own_documents(people=8, documents=40, **options):
    """Every annotator judges documents of their own, all systems of each."""
    made = table(segments=5 * documents, people=1, **options)
    number = made["doc"].str[1:].astype(int) % people
    return made.assign(annotator="p" + number.astype("str"))


def of(frame, scale=(0.0, 100.0)):
    frame = labelled(frame.reset_index(drop=True))
    frame.attrs["scale"] = scale
    return frame


def method(frame, **options):
    return campaign.choose_method(campaign.from_ratings(of(frame)), **options)


@pytest.mark.parametrize(
    ("frame", "unit"),
    [
        (own_documents(), ("annotator", "doc")),
        (table(people=6, segments=100), ("annotator", "doc")),
        (table(people=6, segments=30), ("annotator", "doc")),
        (table(people=6, segments=10), ("annotator", "segment")),
        (table(people=3, segments=100), ("doc",)),
        (table(people=1, segments=10), ("segment",)),
        (own_documents().assign(doc=lambda f: f["system"] + f["doc"]), ("annotator", "segment")),
        (table(people=1, segments=100).assign(doc=lambda f: f["system"] + f["doc"]), ("segment",)),
    ],
)
def test_what_is_drawn_follows_from_who_judged_what(frame, unit):
    assert method(frame).unit == unit


def test_one_annotator_with_nearly_all_the_work_cannot_stand_for_a_crowd():
    frame = own_documents()
    few = frame[(frame["annotator"] == "p0") | (frame["segment"].astype(int) % 40 == 7)]
    assert few["annotator"].nunique() > 1
    assert not method(few).draws_people
    assert "too few judged" in method(few).why_unit


@pytest.mark.parametrize(
    ("asked", "unit"),
    [
        ("annotators", ("annotator",)),
        ("documents", ("doc",)),
        ("segments", ("segment",)),
        ("annotators and documents", ("annotator", "doc")),
    ],
)
def test_another_unit_can_be_asked_for(asked, unit):
    assert method(table(), unit=asked).unit == unit
    found = campaign.rank_systems(campaign.from_ratings(table(segments=100)), unit=asked, resamples=20)
    assert found.method.unit == unit
    assert f"With other {asked}" in sentences.sure(found)[0]


def test_units_that_are_not_there_are_refused():
    with pytest.raises(DataError, match="unit='people': choose one of auto, annotators, documents, segments"):
        method(table(), unit="people")
    anew = table().assign(doc=lambda f: f["system"] + f["doc"])
    with pytest.raises(DataError, match="documents have other names for each system here"):
        method(anew, unit="documents")


def test_where_annotators_differ_in_taste_drawing_them_widens_everything():
    """The same scores: intervals, places, p-values and moves all follow what is drawn."""
    frame = own_documents(systems=4, gap=0.5, noise=3.0, seed=4)
    likes = np.random.default_rng(1).normal(0, 5, (8, 4))
    person, system = (frame[name].str[-1].astype(int) for name in ("annotator", "system"))
    frame = of(frame.assign(score=(frame["score"] + likes[person, system]).clip(0, 100)))
    mine = campaign.from_ratings(frame)
    people, texts = (campaign.rank_systems(mine, unit=unit, resamples=500) for unit in ("annotators", "segments"))
    wide, narrow = (found.table["high"] - found.table["low"] for found in (people, texts))
    assert (wide > 1.3 * narrow).all()
    places = [(found.table["rank_high"] - found.table["rank_low"]).sum() for found in (people, texts)]
    assert places[0] > places[1]
    assert (people.pairwise["p"] > texts.pairwise["p"]).mean() > 0.8
    moves = [
        campaign.normalize_scores(mine, unit=unit).shifts["beyond_noise"].sum() for unit in ("annotators", "segments")
    ]
    assert moves[0] <= moves[1]


def with_human(**options):
    """Three systems and a human translation, which gets the highest scores."""
    frame = table(systems=4, people=6, segments=60, **options)
    return frame.assign(system=frame["system"].replace({"sys0": "HUMAN-B"}))


@pytest.mark.parametrize("marked", [False, True])
def test_human_translations_are_shown_and_never_win(marked):
    """By name, or by the organiser's mark on references."""
    frame = with_human()
    human = frame["system"].eq("HUMAN-B")
    if marked:
        frame = frame.assign(system=frame["system"].replace({"HUMAN-B": "Petra"}))
        frame["item_type"] = frame["item_type"].mask(human, "reference")
    name = "Petra" if marked else "HUMAN-B"
    mine = campaign.from_ratings(of(frame))
    assert (mine.humans, mine.systems) == ((name,), ["sys1", "sys2", "sys3"])
    found = analysed(of(frame), resamples=100)
    ranked = found.ranking
    assert ranked.names == ["sys1", "sys2", "sys3"]
    shown = ranked.systems.set_index("system")
    assert shown.index[0] == name, "it stands where its score puts it"
    assert shown.loc[name, "kind"] == "human translation"
    assert shown.loc[name, ["rank", "cluster", "rank_low", "best"]].isna().all()
    assert shown["rank"].dropna().tolist() == [1, 2, 3]
    assert shown.loc[name, "mean"] == pytest.approx(frame.loc[human, "score"].mean())
    headline = sentences.headline(found, campaign.run_checks(found))
    assert "sys1 is better than each of the 2 other systems." in headline
    assert f"The human translation {name} is better than every system." in headline
    assert name not in ranked.pairwise[["better", "worse"]].to_numpy()
    assert "human translation" in [text.get_text() for text in draw_scores(ranked).legends[0].get_texts()]
    assert found.pairs["first"].tolist() == ["sys1"]
    assert found.pairs["human"].tolist() == [f"worse than {name}"]


def test_a_reference_under_a_system_s_name_is_no_contestant():
    frame = table(people=6)
    checked = frame[frame["segment"].astype(int) < 5].assign(item_type="reference", score=99.0)
    mine = campaign.from_ratings(of(pd.concat([frame, checked])))
    assert mine.humans == ()
    assert len(mine.compared) == len(mine.judged) == len(frame)


def test_where_only_people_translated_their_translations_are_ranked():
    frame = table(people=6)
    frame = frame.assign(system=frame["system"].replace({"sys0": "translator-A", "sys1": "translator-B"}))
    assert campaign.from_ratings(of(frame)).humans == ()
    assert campaign.rank_systems(campaign.from_ratings(of(frame)), resamples=20).top == "translator-A"


def test_one_difference_is_one_number():
    """The gap that is told is that of the scores that are compared, in points of the scale."""
    frame = own_documents(gap=2.0)
    strict = frame["annotator"].isin(["p0", "p1"])
    frame = of(frame.assign(score=frame["score"].mask(strict, frame["score"] / 2)))
    for score in ("raw", "z"):
        found = campaign.rank_systems(campaign.from_ratings(frame), score=score, resamples=20)
        scores = found.table.set_index("system")["score"]
        assert found.gap(*found.names) == pytest.approx((scores.iloc[0] - scores.iloc[1]) * found.points)
        assert found.pairwise["difference"].iloc[0] * found.points == pytest.approx(found.gap(*found.names))
        assert f"{found.gap(*found.names):.2f}" in sentences.figures(found)[0]
    own = frame.groupby("annotator")["score"]
    pooled = np.sqrt((own.var() * (own.size() - 1)).sum() / (len(frame) - own.ngroups))
    assert found.points == pytest.approx(pooled)


def test_counts_are_reconciled_from_the_file_to_what_ranks():
    frame = with_human()
    degraded = frame[frame["segment"].astype(int) < 4].assign(item_type="degraded")
    other = table(people=2).assign(tgt_lang="fra")
    uses = campaign.count_judgements(campaign.from_ratings(of(pd.concat([frame, degraded, other])))).uses
    counts = dict(zip(uses["what"], uses["judgements"], strict=True))
    assert counts["in the file"] == len(frame) + len(degraded) + len(other)
    less = sum(number for what, number in counts.items() if what.startswith("less "))
    assert counts["in the file"] - less == counts["left of systems"] == 3 * 60 * 6
    assert counts["less of human translations"] == 60 * 6
    assert counts["less of other language pairs"] == len(other)


def answers(frame, **options):
    found = analysed(of(frame), **options)
    checks = campaign.run_checks(found)
    return {check.question: check for check in checks}, sentences.headline(found, checks)


def test_constant_annotators_are_named():
    frame = table(people=6)
    frame.loc[frame["annotator"] == "p3", "score"] = 50.0
    found, _ = answers(frame)
    assert found["Did every annotator use the scale?"].found == (
        "no: p3 gave one score throughout (17% of the judgements)"
    )


def test_systems_with_equal_scores_throughout_are_told():
    frame = table(people=6)
    twin = frame[frame["system"] == "sys0"].assign(system="twin")
    found, headline = answers(pd.concat([frame, twin]))
    assert found["Are all systems different?"].found == "not quite: sys0 and twin have the same scores throughout"
    assert "sys0 has the highest mean score, but twin may be as good. It is better than sys1." in headline


def test_agreement_is_checked_in_the_pair_and_that_of_other_pairs_is_called_theirs():
    good, bad = table(people=2, segments=60), table(people=2, segments=30).assign(tgt_lang="fra")
    rng = np.random.default_rng(3)
    bad["score"] = rng.integers(0, 101, len(bad)).astype(float)
    found, _ = answers(pd.concat([good, bad]))
    check = found["Do annotators agree beyond chance?"]
    assert re.match(r"yes: 0\.\d\d, 95 % interval .*Krippendorff's alpha", check.found)
    [theirs] = [check for question, check in found.items() if "other language pairs" in question]
    assert (theirs.verdict, theirs.elsewhere) == (PROBLEM, True)
    assert theirs.found.startswith("no: not in eng-fra (")


@pytest.mark.parametrize(
    ("frame", "headline"),
    [
        (
            table(people=1),
            "sys0 is better than sys1, the only other system. Even among equally good systems, such a test "
            "calls one better in up to 10% of campaigns. With other documents, sys0 would come first "
            "practically always. This holds for this one annotator; what others would find is not known.",
        ),
        (table(systems=1), "only sys0 was judged"),
        (table().head(3), "only sys0 was judged"),
        (table(systems=3).assign(score=50.0), "all systems have the same mean score, 50.00"),
    ],
)
def test_small_and_odd_campaigns_get_true_sentences(frame, headline):
    assert headline in answers(frame)[1]


def test_half_of_a_campaign_is_ranked_by_the_half_that_is_there():
    frame = table(systems=4, people=6, segments=60)
    half = frame[np.random.default_rng(1).random(len(frame)) < 0.3]
    found, headline = answers(half)
    assert "sys0 is better than each of the 3 other systems" in headline
    assert found["Were all systems judged on the same segments?"].verdict != FINE


def test_a_typo_in_a_rule_is_refused_before_anything_runs(monkeypatch):
    mine = campaign.from_ratings(table())
    monkeypatch.setattr("evalkit.campaign.analysis.rank_systems", lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises(DataError, match=r"no such measure|is no rule"):
        campaign.analyse(mine, rules=["sdd < 5"])


def test_a_far_system_does_not_squeeze_the_others_on_the_figure():
    frame = table(systems=6, people=6, gap=1.0)
    far = frame["system"] == "sys5"
    frame = frame.assign(score=frame["score"].mask(far, frame["score"] - 60).clip(0, 100))
    ranked = campaign.rank_systems(campaign.from_ratings(of(frame)), resamples=100)
    axes = draw_scores(ranked).axes[0]
    assert ranked.means["sys5"] < axes.get_xlim()[0]
    assert any("◂" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("name", sorted(ranking.RULES))
def test_lines_follow_the_rule_that_is_named_and_everything_else_stays(name):
    mine = campaign.from_ratings(of(own_documents()))
    plain, ruled = (campaign.rank_systems(mine, resamples=50, lines=lines) for lines in ("units", name))
    expected = by_rule.rule_clusters(
        mine.judged, rule=name, unit=ruled.method.unit, item_types=ruled.method.item_types, segment=mine.segment
    )
    columns = ["cluster", "wins", "losses", "rank_top", "rank_bottom"]
    theirs = expected.set_index("system").loc[ruled.names, columns]
    assert ruled.table[columns].to_numpy().tolist() == theirs.to_numpy().tolist()
    kept = [column for column in plain.table if column not in columns]
    pd.testing.assert_frame_equal(plain.table[kept], ruled.table[kept])
    assert ("“" + name + "”" in " ".join(sentences.say(ruled))) == (name != "units")


def test_a_rule_that_cannot_be_applied_is_refused_and_said():
    frame = own_documents()
    systems = sorted(frame["system"].unique())
    apart = frame[frame["doc"].str[1:].astype(int) % len(systems) == frame["system"].map(systems.index)]
    found = campaign.rank_systems(campaign.from_ratings(of(apart)), resamples=50, lines="wmt26")
    assert found.method.lines == "units"
    assert "share no two segments" in found.refused
    assert any(found.refused in sentence for sentence in sentences.say(found))
    with pytest.raises(DataError, match="Did you mean 'wmt26'"):
        method(frame, lines="wmt_26")
