"""Whom intervals draw, where human translations stand, and by which rule lines are drawn."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, campaign
from evalkit.human import ranking
from tests.pages import opened, page, plain, ranked, telling

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
def test_what_is_drawn_follows_from_who_judged_what(frame, unit):
    assert campaign.choose_method(opened(frame)).unit == unit


@pytest.mark.parametrize(
    ("asked", "unit"), [("annotators", ("annotator",)), ("annotators and documents", ("annotator", "doc"))]
)
def test_another_unit_can_be_asked_for(asked, unit):
    assert campaign.choose_method(opened(plain(documents=20)), unit=asked).unit == unit


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (plain(), {"unit": "people"}, "auto, annotators, documents, segments"),
        (of_each_system(plain()), {"unit": "documents"}, "other names for each system"),
        (plain(), {"lines": "wmt_26"}, "Did you mean 'wmt26'"),
    ],
)
def test_units_and_rules_that_are_not_there_are_refused(frame, options, words):
    with pytest.raises(DataError, match=words):
        campaign.choose_method(opened(frame), **options)


def test_where_annotators_differ_in_taste_drawing_them_widens_everything():
    """The same scores: intervals, places, p-values and moves all follow what is drawn."""
    spread = {"residual": 3.0, "taste": 5.0, "annotator": 3.0}
    mine = opened(own_documents(systems=4, gap=0.5, seed=4, spread=spread))
    units = ("annotators", "segments")
    people, texts = (rank_systems(mine, unit=unit, resamples=500) for unit in units)
    wide, narrow = (found.table["high"] - found.table["low"] for found in (people, texts))
    assert (wide > 1.3 * narrow).all()
    places = [(found.table["rank_high"] - found.table["rank_low"]).sum() for found in (people, texts)]
    assert places[0] > places[1]
    assert (people.pairwise["p"] > texts.pairwise["p"]).mean() > 0.8
    moves = [campaign.normalize_scores(mine, unit=unit).shifts["beyond_noise"].sum() for unit in units]
    assert moves[0] <= moves[1]


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
    assert shown.found.pairs[["first", "human"]].to_numpy().tolist() == [["S1", f"worse than {name}"]]


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


def test_counts_are_reconciled_from_the_file_to_what_ranks():
    frame = plain(systems=["HUMAN-B", "S1", "S2", "S3"], people=6, documents=12)
    degraded = frame[frame["segment"].astype(int) < 4].assign(item_type="degraded")
    other = plain(people=2).assign(tgt_lang="fra")
    uses = campaign.count_judgements(opened(pd.concat([frame, degraded, other]))).uses
    counts = dict(zip(uses["what"], uses["judgements"], strict=True))
    assert counts["in the file"] == len(frame) + len(degraded) + len(other)
    less = sum(number for what, number in counts.items() if what.startswith("less "))
    assert counts["in the file"] - less == counts["left of systems"] == 3 * 60 * 6
    assert counts["less of human translations"] == 60 * 6
    assert counts["less of other language pairs"] == len(other)


@pytest.mark.parametrize("name", sorted(ranking.RULES))
def test_lines_follow_the_rule_that_is_named_and_everything_else_stays(name):
    mine = opened(own_documents())
    units, ruled = (rank_systems(mine, resamples=50, lines=lines) for lines in ("units", name))
    expected = ranking.rule_clusters(
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
