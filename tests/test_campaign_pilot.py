"""A pilot of one's own: which files and layouts are read how, what is refused, and what is said of the rest."""

import json

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.campaign.planning.pilot import FEWEST, Pilot, read_pilot
from evalkit.campaign.sentences import answer, say
from evalkit.human import planning
from evalkit.reports import cli


def table(systems=2, documents=6, length=5, people=3, seed=1, **columns):
    """Draw a pilot in which everybody judges every translation."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [range(systems), range(documents), range(length), range(people)], names=["s", "d", "g", "a"]
    )
    frame = index.to_frame(index=False)
    score = 60 + 6 * frame["a"] - 4 * frame["s"] + rng.normal(0, 10, len(frame))
    return pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": "sys" + frame["s"].astype("str"),
            "doc": "d" + frame["d"].astype("str"),
            "segment": frame["g"].astype("str"),
            "annotator": "p" + frame["a"].astype("str"),
            "score": score.clip(0, 100).round(1),
            "item_type": "system",
        }
        | columns
    )


@pytest.fixture
def written(tmp_path):
    """Write a table as a file of a stranger's, and return its path."""

    def write(frame, name="mine.csv"):
        path = tmp_path / name
        if path.suffix == ".xlsx":
            frame.to_excel(path, index=False)
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")), encoding="utf-8")
        else:
            frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
        return path

    return write


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv", "mine.xlsx", "mine.jsonl", "mine.parquet"])
def test_a_pilot_is_any_file_that_the_import_reads(name, written, tmp_path):
    frame = table()
    path = written(frame, "mine.csv" if name.endswith("parquet") else name)
    if name.endswith("parquet"):
        assert cli.main(["import", str(path), "--out", str(tmp_path / name)]) == 0
    found = read_pilot(str(tmp_path / name))
    assert (found.pair, found.layout, found.scale) == ("eng-deu", "campaign", (0.0, 100.0))
    assert sorted(found.ratings["score"]) == pytest.approx(sorted(frame["score"]))
    assert not found.stretched


def test_the_layout_is_recognised_from_who_judged_what(written):
    shared = read_pilot(str(written(table())))
    assert shared.layout == "campaign"
    own = table().assign(doc=lambda t: t["system"] + t["doc"])
    own["segment"] = own["doc"] + own["segment"]
    assert read_pilot(str(written(own))).layout == "calibration", "no segment has two systems' translations"
    named = table().assign(segment=lambda t: t["doc"] + "-" + t["segment"], doc=lambda t: t["system"] + t["doc"])
    assert read_pilot(str(written(named))).layout == "numbered"
    nobody = table(annotator="somebody")
    nobody["hit"] = np.arange(len(nobody)).astype(str)
    assert read_pilot(str(written(nobody))).layout == "unnamed"
    common = table(item_type="calibration")
    assert read_pilot(str(written(common))).layout == "calibration"
    told = read_pilot(str(written(table())), layout="calibration")
    assert (told.layout, told.chosen) == ("calibration", False)
    assert any("Layout set by you: calibration" in text for text in say(told))
    with pytest.raises(DataError, match="layout='cross' is not known"):
        read_pilot(str(written(table())), layout="cross")


def test_the_examples_of_the_study_are_what_they_were():
    hits = read_pilot("wmt22-calibration-hits", fallback=True)
    assert (hits.pair, hits.layout, hits.example) == ("eng-deu", "calibration", True)
    loaded = data.load("wmt22-calibration-hits", fallback=True)
    expected = planning.components(loaded).set_index("pair")
    found = planning.components(hits.ratings, layout=hits.layout).set_index("pair")
    pd.testing.assert_frame_equal(found, expected.loc[found.index])


def test_files_that_name_documents_anew_for_each_system_are_numbered(here):
    here("wmt22-mturk")
    assert read_pilot("wmt22-mturk").layout == "numbered"


def test_another_scale_is_stretched_and_told(written):
    frame = table()
    plain = planning.components(read_pilot(str(written(frame))).ratings, layout="campaign")
    low = frame.assign(score=1 + frame["score"] / 25)
    found = read_pilot(str(written(low)), scale=(1, 5))
    assert found.scale == (1.0, 5.0)
    assert found.own_points(3) == pytest.approx(0.12)
    moved = planning.components(found.ratings, layout="campaign")
    for name in ("annotator", "block", "residual"):
        assert moved[name].iloc[0] == pytest.approx(plain[name].iloc[0], rel=1e-6)
    assert "onto which the pilot's was stretched (from 1 to 5): 1 point is 0.04 of its own." in say(found)[1]
    assert found.block == 5
    assert read_pilot(str(written(frame))).ratings.attrs["scale"] == (0.0, 100.0)


def test_where_low_is_good_scores_are_turned_and_ends_that_nobody_declared_are_told(written):
    frame = table().rename(columns={"score": "errors"})
    frame["errors"] = (10 - frame["errors"] / 10).round()
    found = read_pilot(str(written(frame)))
    means = found.ratings.groupby("system")["score"].mean()
    assert means["sys0"] > means["sys1"], "the system with fewer errors is better"
    text = " ".join(say(found))
    assert "Lower is better by the heading errors" in text
    assert "the lowest and the highest score given" in text
    assert "tell them by -p scale=" in text
    assert found.ratings["score"].min() == 0
    assert found.ratings["score"].max() == pytest.approx(100)


def test_references_checks_and_repeats_are_kept_out(written):
    frame = table()
    others = [
        frame[frame["system"] == "sys0"].assign(item_type=kind, system=name, score=99.0)
        for kind, name in (("reference", "HUMAN-B"), ("degraded", "sys0"), ("repeat", "sys0"))
    ]
    found = read_pilot(str(written(pd.concat([frame, *others]))))
    assert len(found.ratings) == len(frame)
    assert set(found.ratings["system"]) == {"sys0", "sys1"}
    assert set(found.apart) == {"reference", "degraded", "repeat"}
    assert "Kept out: " in say(found)[0]
    assert all(f"90 {kind}" in say(found)[0] for kind in ("references", "degraded items", "second showings"))


def test_of_several_criteria_one_is_planned_for(written):
    frame = table().rename(columns={"score": "adequacy"})
    frame["fluency"] = (frame["adequacy"] / 2).round(2)
    path = str(written(frame))
    first, second = read_pilot(path), read_pilot(path, criterion="fluency")
    assert (first.criterion, second.criterion) == ("adequacy", "fluency")
    assert "by adequacy, one of 2 criteria" in say(first)[0]
    assert len(first.ratings) == len(second.ratings) == len(table())
    with pytest.raises(DataError, match="criterion: there is no 'style'"):
        read_pilot(path, criterion="style")


def test_of_several_language_pairs_the_largest_is_planned_for_and_the_hopeless_are_named(written):
    parts = [table(), table(systems=3).assign(tgt_lang="jpn"), table().head(4).assign(tgt_lang="hin")]
    path = str(written(pd.concat(parts)))
    found = read_pilot(path)
    assert found.pair == "eng-jpn"
    assert set(found.ratings["pair"]) == {"eng-jpn", "eng-deu"}
    assert "eng-hin: the pilot has 4 judgements" in say(found)[-1]
    assert read_pilot(path, pair="eng-deu").pair == "eng-deu"
    with pytest.raises(DataError, match="too few to tell what scatters"):
        read_pilot(path, pair="eng-hin")
    with pytest.raises(DataError, match="there is no 'eng-fra' in these data"):
        read_pilot(path, pair="eng-fra")


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (table().head(3), "the pilot has 3 judgements, too few to tell what scatters. Collect 20 or more"),
        (
            table(people=1),
            "one person judged everything, so the pilot cannot tell how much people differ. Have a second",
        ),
        (
            table(systems=1),
            "the pilot has one system, so it cannot tell how differently segments suit two of them. Have",
        ),
        (
            table(score=50.0),
            "all scores of the pilot are 50, so nothing scatters that could be planned for. Take texts",
        ),
        (table(item_type="reference"), "no outputs of systems were judged"),
    ],
)
def test_what_a_pilot_cannot_tell_is_refused_in_a_sentence_with_the_remedy(frame, said, written):
    with pytest.raises(DataError) as refused:
        read_pilot(str(written(frame)))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_system_can_be_planned_with_where_the_layout_is_set_by_hand(written):
    found = read_pilot(str(written(table(systems=1))), layout="calibration")
    assert planning.variances(planning.components(found.ratings), "eng-deu", shared=0.5)["residual"] > 0


def test_choices_between_translations_are_no_scores(written):
    frame = pd.DataFrame(
        {
            "segment": range(60),
            "annotator": ["p", "q"] * 30,
            "system_a": "X",
            "system_b": "Y",
            "preference": ["A", "B", "tie"] * 20,
        }
    )
    with pytest.raises(DataError, match="choices between two translations"):
        read_pilot(str(written(frame)))


def test_hours_are_those_of_the_median_judgement(written):
    frame = table()
    place = frame.groupby("annotator").cumcount()
    found = read_pilot(str(written(frame.assign(started=place * 40.0, ended=place * 40.0 + 30.0))))
    assert found.seconds == pytest.approx(40.0)
    assert found.price(18.0, 1.0) == pytest.approx(0.2)
    assert found.price(0.0, 1.0) == 1.0
    assert read_pilot(str(written(frame))).price(18.0, 1.0) == 1.0, "no times, no price"


BEST = {
    "arrangement": "same",
    "calibration": 0,
    "segments": 800,
    "judgements_each": 1,
    "annotators": 3,
    "judgements": 1600,
    "cost": 1900.0,
    "power": 0.8,
}


def told(taste, liked, seconds=36.0, scale=(0.0, 100.0), **options):
    """Say the answer of a pilot with a variance of liking and the design that it asks for."""
    ratings = data.load("wmt22-calibration-hits", fallback=True).head(1).assign(pair="eng-deu")
    found = Pilot(ratings, "eng-deu", "campaign", True, scale, True, "", "", (), seconds, {}, {}, True)
    row = {"pair": "eng-deu", "taste": taste, **(liked or dict.fromkeys(BEST))}
    return answer(found, BEST, pd.DataFrame([row]).convert_dtypes(), delta=3, target=0.8, **options)


def test_the_answer_counts_people_where_they_like_systems_differently():
    liked = BEST | {"segments": 1000, "annotators": 20, "judgements": 2000}
    text = told(12.0, liked, hourly_pay=15, currency="EUR")
    assert text.startswith("To distinguish two systems 3 points apart you need 1,000 segments, each translation scored")
    assert "2,000 judgements by 20 annotators" in text
    assert "At 36 seconds a judgement that is 20 hours of work, about 300 EUR." in text
    assert "So many people are needed because they like systems differently; " in text
    assert text.endswith("3 people and 1,600 judgements would do if they did not.")
    assert told(12.0, None).startswith("No campaign within these limits finds two systems 3 points apart")
    assert "Points are hundredths of the pilot's scale: 3 are 0.12 of its own." in told(0.0, BEST, scale=(1.0, 5.0))
    plain = told(0.0, BEST, seconds=None)
    assert "hours" not in plain
    assert plain.endswith("No sign was found that people like systems differently.")
    assert told(None, BEST).endswith("cannot be told, so engage more of them than these.")
    assert "with the variances typed in" in told(12.0, liked, typed=True)


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
    "wmt-conference/wmt24-news-systems/bfa937ee53586aa173d68657b89b8642693f7b66/humeval/esa_generalMT2024_wave3.csv": (
        "eng-jpn",
        "campaign",
        True,
    ),
    "WMT-SLT/wmt-slt22/0b7829221e99672885d9c28bcfe773084792d08c/human_evaluation/scores/aggregated/all.csv": (
        "sgg-deu",
        "campaign",
        False,
    ),
}


@pytest.mark.parametrize("place", REAL, ids=lambda place: place.split("/")[1])
def test_real_exports_are_pilots(place, mirrored):
    pair, layout, likes = REAL[place]
    found = read_pilot(str(mirrored(place)))
    assert (found.pair, found.layout) == (pair, layout)
    assert found.ratings["item_type"].eq("system").all()
    assert found.apart["reference"] > 300
    assert found.seconds > 1
    parts = planning.components(found.ratings, layout=layout, taste=True).set_index("pair")
    assert (parts.loc[pair, "taste"] > 0) == likes
    assert len(found.part) >= FEWEST
