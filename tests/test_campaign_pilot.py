"""A pilot of one's own: which files and layouts are read how, what is refused, and what is said of the rest."""

import pandas as pd
import pytest

from evalkit import DataError, campaign, data
from evalkit.campaign.pilot import FEWEST
from evalkit.human import components, planning
from evalkit.reports import cli
from tests.makers import ratings
from tests.pages import telling

read_pilot = telling(campaign.read_pilot)


def table(**options):
    """Draw a pilot in which everybody judges every translation."""
    return ratings(**{"systems": 2, "spread": {"residual": 10.0}, "step": 0.1} | options)


@pytest.fixture
def written(tmp_path):
    """Write a table as a file of a stranger's, and return its path."""

    def write(frame):
        frame.to_csv(tmp_path / "mine.csv", index=False)
        return str(tmp_path / "mine.csv")

    return write


def test_a_pilot_is_any_file_that_the_import_reads_or_has_read(written, tmp_path):
    frame = table()
    path, out = written(frame), str(tmp_path / "mine.parquet")
    assert cli.main(["import", path, "--out", out]) == 0
    for name in (path, out):
        found = read_pilot(name)
        assert (found.pair, found.layout, found.scale) == ("eng-deu", "campaign", (0.0, 100.0))
        assert sorted(found.ratings["score"]) == pytest.approx(sorted(frame["score"]))
        assert not found.stretched


LAYOUTS = {
    "shared documents": (table(), "campaign"),
    "documents of each system": (table(doc=lambda t: t["system"] + t["doc"]), "numbered"),
    "no segment has two systems' translations": (table(segment=lambda t: t["system"] + t["segment"]), "calibration"),
    "nobody is named": (table(annotator="somebody", hit=lambda t: t.index.astype(str)), "unnamed"),
    "calibration items": (table(item_type="calibration"), "calibration"),
}


@pytest.mark.parametrize("case", LAYOUTS)
def test_the_layout_is_recognised_from_who_judged_what(case, written):
    frame, layout = LAYOUTS[case]
    assert read_pilot(written(frame)).layout == layout


def test_another_layout_can_be_set(written):
    path = written(table())
    told = read_pilot(path, layout="calibration")
    assert (told.layout, told.chosen) == ("calibration", False)
    with pytest.raises(DataError, match="layout='cross' is not known"):
        read_pilot(path, layout="cross")


def test_the_examples_of_the_study_are_what_they_were():
    hits = read_pilot("wmt22-calibration-hits", fallback=True)
    assert (hits.pair, hits.layout, hits.example) == ("eng-deu", "calibration", True)
    loaded = data.load("wmt22-calibration-hits", fallback=True)
    expected = components.estimate(loaded).set_index("pair")
    found = components.estimate(hits.ratings, layout=hits.layout).set_index("pair")
    pd.testing.assert_frame_equal(found, expected.loc[found.index])


def test_another_scale_is_stretched_and_told(written):
    frame = table()
    plain = components.estimate(read_pilot(written(frame)).ratings, layout="campaign")
    low = frame.assign(score=1 + frame["score"] / 25)
    found = read_pilot(written(low), scale=(1, 5))
    assert found.scale == (1.0, 5.0)
    assert found.own_points(3) == pytest.approx(0.12)
    moved = components.estimate(found.ratings, layout="campaign")
    for name in ("annotator", "block", "residual"):
        assert moved[name].iloc[0] == pytest.approx(plain[name].iloc[0], rel=1e-6)
    assert found.stretched
    assert found.block == 5


def test_where_low_is_good_scores_are_turned_between_the_ends_that_were_given(written):
    frame = table().rename(columns={"score": "errors"})
    frame["errors"] = (10 - frame["errors"] / 10).round()
    found = read_pilot(written(frame))
    means = found.ratings.groupby("system")["score"].mean()
    assert means["S0"] > means["S1"], "the system with fewer errors is better"
    assert found.ratings["score"].min() == 0
    assert found.ratings["score"].max() == pytest.approx(100)


def test_references_checks_and_repeats_are_kept_out(written):
    frame = table()
    others = [
        frame[frame["system"] == "S0"].assign(item_type=kind, system=name, score=99.0)
        for kind, name in (("reference", "HUMAN-B"), ("degraded", "S0"), ("repeat", "S0"))
    ]
    found = read_pilot(written(pd.concat([frame, *others])))
    assert len(found.ratings) == len(frame)
    assert set(found.ratings["system"]) == {"S0", "S1"}
    assert set(found.apart) == {"reference", "degraded", "repeat"}


def test_of_several_criteria_one_is_planned_for(written):
    frame = table().rename(columns={"score": "adequacy"})
    frame["fluency"] = (frame["adequacy"] / 2).round(2)
    path = written(frame)
    first, second = read_pilot(path), read_pilot(path, criterion="fluency")
    assert (first.criterion, second.criterion) == ("adequacy", "fluency")
    assert len(first.ratings) == len(second.ratings) == len(table())
    with pytest.raises(DataError, match="criterion: there is no 'style'"):
        read_pilot(path, criterion="style")


def test_of_several_language_pairs_the_largest_is_planned_for_and_the_hopeless_are_named(written):
    parts = [table(), table(systems=3).assign(tgt_lang="jpn"), table().head(4).assign(tgt_lang="hin")]
    path = written(pd.concat(parts))
    found = read_pilot(path)
    assert found.pair == "eng-jpn"
    assert set(found.ratings["pair"]) == {"eng-jpn", "eng-deu"}
    with pytest.raises(DataError, match="too few to tell what scatters"):
        read_pilot(path, pair="eng-hin")
    with pytest.raises(DataError, match="there is no 'eng-fra' in these data"):
        read_pilot(path, pair="eng-fra")


CHOICES = pd.DataFrame({"segment": range(60), "annotator": ["p", "q"] * 30, "preference": ["A", "B", "tie"] * 20})
REFUSED = {
    "too few": table().head(3),
    "one person": table(people=1),
    "one system": table(systems=1),
    "nothing scatters": table(score=50.0),
    "no outputs of systems": table(item_type="reference"),
    "choices between": CHOICES.assign(system_a="X", system_b="Y"),
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_a_pilot_cannot_tell_is_refused(word, written):
    with pytest.raises(DataError, match=word):
        read_pilot(written(REFUSED[word]))


def test_one_system_can_be_planned_with_where_the_layout_is_set_by_hand(written):
    found = read_pilot(written(table(systems=1)), layout="calibration")
    assert components.of_pair(components.estimate(found.ratings), "eng-deu", shared=0.5)["residual"] > 0


def test_hours_are_those_of_the_median_judgement(written):
    frame = table()
    place = frame.groupby("annotator").cumcount()
    found = read_pilot(written(frame.assign(started=place * 40.0, ended=place * 40.0 + 30.0)))
    assert found.seconds == pytest.approx(40.0)
    assert found.price(18.0, 1.0) == pytest.approx(0.2)
    assert found.price(0.0, 1.0) == 1.0
    assert read_pilot(written(frame)).price(18.0, 1.0) == 1.0, "no times, no price"


def test_where_no_design_suffices_the_smallest_difference_is_named():
    parts = {"document": 0.0, "item": 40.0, "annotator": 60.0, "block": 20.0, "residual": 60.0}
    limits = planning.Limits(most_segments=400)
    with pytest.raises(DataError, match=r"The smallest difference that one finds is about ([\d.]+) points") as refused:
        planning.plan(parts, delta=0.5, limits=limits)
    smallest = float(str(refused.value).rpartition("about ")[2].partition(" ")[0])
    assert len(planning.plan(parts, delta=1.06 * smallest, limits=limits))
    with pytest.raises(DataError):
        planning.plan(parts, delta=0.9 * smallest, limits=limits)


REAL = {
    "wmt-conference/wmt24-news-systems/*/humeval/esa_generalMT2024_wave3.csv": ("eng-jpn", True),
    "WMT-SLT/wmt-slt22/*/human_evaluation/scores/aggregated/all.csv": ("sgg-deu", False),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", REAL)
def test_real_exports_are_pilots(place, mirrored):
    pair, likes = REAL[place]
    found = read_pilot(str(mirrored(place)))
    assert (found.pair, found.layout) == (pair, "campaign")
    assert found.ratings["item_type"].eq("system").all()
    assert found.apart["reference"] > 300
    parts = components.estimate(found.ratings, layout="campaign", taste=True).set_index("pair")
    assert (parts.loc[pair, "taste"] > 0) == likes
    assert len(found.part) >= FEWEST
