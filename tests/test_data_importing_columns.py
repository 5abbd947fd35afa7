"""Tables of all makes: which way is better, what columns of scores are, scales, checks, words, dates and comments."""

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing.cells import checks, dates, ladders, orientation, scales
from evalkit.data.importing.kinds import layouts
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.reports import cli

PEOPLE, SYSTEMS, SEGMENTS = ("Eva", "Uli"), ("A", "B", "C"), range(30)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def strangers(mirrored):
    """Return the folder of files of other people's campaigns, which lies beside the mirror."""
    folder = mirrored("*").parent.parent / "strangers"
    if not folder.is_dir():
        pytest.skip("the files of strangers are not here")
    return folder


def imported(path, **told):
    """Import a file under its people's names; return ratings and report, whose rows add up."""
    out = Path("c.parquet")
    report, _ = importing.import_campaign([path], out, **({"keep_names": True} | told))
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    return data.open_campaign(out)[0], report


def judged(seed=1, **drawn):
    """Make a table of judgements: one of each annotator, system and segment; drawn: a name -> draws its number."""
    rng = random.Random(seed)
    return pd.DataFrame(
        [
            {"annotator": person, "segment": str(segment), "system": system}
            | {name: draw(rng) for name, draw in drawn.items()}
            for person in PEOPLE
            for segment in SEGMENTS
            for system in SYSTEMS
        ]
    )


def written(frame, name="my.csv", **how):
    frame.to_csv(name, index=False, **how)
    return Path(name)


def means(ratings, *by):
    return ratings.groupby([*by] or "system")["score"].mean().to_dict()


def up_to(high, low=0):
    return lambda rng: rng.randint(low, high)


# which way is better

LOW = [
    "mqm_penalty",
    "penalties",
    "errors",
    "error_count",
    "errorCount",
    "Number of Errors",
    "total errors",
    "distance",
    "post_edit_distance",
    "edits",
    "ter",
    "hTER",
    "cost",
    "Fehleranzahl",
    "Fehlerpunkte",
    "Strafpunkte",
    "nombre d'erreurs",
    "pénalité",
    "errores",
    "penalización",
    "počet chyb",
    "chyby",
    "число ошибок",
    "错误数",
    "エラー数",
    "Gesamtfehler",
    "penalità",
    "błędy",
]


@pytest.mark.parametrize("heading", LOW)
def test_of_penalties_errors_and_distances_the_score_is_minus_the_number(heading):
    frame = judged(**{heading: up_to(12)}).sample(frac=1, random_state=3)
    ratings, report = imported(written(frame))
    expected = (-frame.groupby("system")[heading].mean()).to_dict()
    assert means(ratings) == pytest.approx(expected, abs=1e-12)
    assert report.orientation == f"lower is better by the heading {heading}: the score is minus it"
    assert report.scale is None
    assert not np.signbit(ratings["score"][ratings["score"].eq(0)]).any()


@pytest.mark.parametrize(
    "heading", ["score", "DA", "Bewertung", "adequacy", "fluency", "quality", "Hodnocení", "得分", "スコア"]
)
def test_of_scores_the_score_is_the_number(heading):
    frame = judged(**{heading: up_to(100)})
    ratings, report = imported(written(frame))
    assert means(ratings) == pytest.approx(frame.groupby("system")[heading].mean().to_dict(), abs=1e-12)
    assert report.orientation.startswith("higher is better: nothing in the heading")
    assert report.scale == [0, 100]


@pytest.mark.parametrize("heading", ["rank", "Ranking", "Rang", "Platz", "pořadí", "classement", "排名", "順位"])
def test_of_ranks_the_first_is_best(heading):
    rng = random.Random(4)
    frame = judged().assign(**{heading: [place for _ in range(60) for place in rng.sample([1, 2, 3], 3)]})
    ratings, report = imported(written(frame, sep=";"))
    assert means(ratings) == pytest.approx((-frame.groupby("system")[heading].mean()).to_dict(), abs=1e-12)
    assert report.orientation.startswith(f"lower is better by the heading {heading}")


def test_negative_mqm_scores_are_better_the_higher_they_are():
    frame = judged(mqm_score=up_to(0, -25))
    ratings, report = imported(written(frame))
    assert means(ratings) == pytest.approx(frame.groupby("system")["mqm_score"].mean().to_dict(), abs=1e-12)
    assert report.scale is None
    assert report.orientation.startswith("higher is better: no number of mqm_score is above 0")


RANKS = judged().assign(score=[place for number in range(60) for place in random.Random(number).sample([1, 2, 3], 3)])
DISAGREE = {
    "a penalty below 0": (
        judged(penalty=up_to(0, -25)),
        "by the heading 'penalty' low is good, but its numbers go from",
    ),
    "errors of both signs": (judged(errors=up_to(3, -3)), "by the heading 'errors' low is good"),
    "mqm above 0": (judged(mqm=up_to(25)), "'mqm' may hold scores or penalties"),
    "mqm of both signs": (judged(mqm_score=up_to(5, -25)), "'mqm_score' may hold scores or penalties"),
    "ranks beyond the systems": (judged(rank=up_to(100, 1)), "'rank' ranks 3 systems, but its numbers go from"),
    "ranks called scores": (RANKS, "'score' holds 1, 2, 3 … in the order of the systems of each segment"),
    "no errors": (judged(error_free=up_to(10)), "'error_free' can mean that high is good, or that low is"),
    "a German mark": (judged(Note=up_to(5, 1)).rename(columns={"segment": "Satz"}), "'Note' can mean"),
    "a Czech mark": (judged(známka=up_to(5, 1)), "'známka' can mean"),
}


@pytest.mark.parametrize("name", DISAGREE)
def test_where_heading_and_content_disagree_the_user_is_asked_and_decides(name):
    frame, message = DISAGREE[name]
    path = written(frame)
    with pytest.raises(DataError, match=message) as problem:
        imported(path)
    assert "--lower-is-better or --higher-is-better" in str(problem.value)
    heading = next(name for name in frame if name not in ("annotator", "segment", "Satz", "system"))
    expected = frame.groupby("system")[heading].mean()
    for way, sign in (("--lower-is-better", -1), ("--higher-is-better", 1)):
        assert cli.main(["import", str(path), way, "--out", "told.parquet", "--replace"]) == 0
        assert means(data.open_campaign("told.parquet")[0]) == pytest.approx((sign * expected).to_dict(), abs=1e-12)
        told = json.loads(Path("told.import.json").read_text(encoding="utf-8"))["orientation"]
        assert "as told" in told


def test_a_scale_that_is_told_turns_round_with_the_scores():
    path = written(judged(penalty=up_to(25)))
    assert cli.main(["import", str(path), "--scale", "0:25"]) == 0
    assert data.open_campaign("campaign.parquet")[0].attrs["scale"] == (-25, 0)
    path = written(judged(mqm_score=up_to(0, -25)), "mqm.csv")
    assert cli.main(["import", str(path), "--scale", "-25:0", "--replace"]) == 0
    assert data.open_campaign("campaign.parquet")[0].attrs["scale"] == (-25, 0)


def test_criteria_of_one_column_have_an_orientation_each():
    frame = pd.concat([judged(2, score=up_to(5, 1)).assign(criterion=name) for name in ("adequacy", "error_count")])
    ratings, report = imported(written(frame))
    expected = frame.groupby(["criterion", "system"])["score"].mean()
    expected["error_count"] *= -1
    assert means(ratings, "criterion", "system") == pytest.approx(expected.to_dict(), abs=1e-12)
    assert "error_count: lower is better by the heading error_count" in report.orientation
    assert report.scale is None


@pytest.mark.parametrize(
    ("name", "heading"), [("mqmpen.csv", "mqm_penalty"), ("errcount.csv", "errors"), ("ranks.csv", "rank")]
)
def test_strangers_files_in_which_low_is_good(name, heading, strangers):
    frame = pd.read_csv(strangers / name)
    ratings, report = imported(strangers / name)
    assert means(ratings) == pytest.approx((-frame.groupby("system")[heading].mean()).to_dict(), abs=1e-12)
    assert (report.rows_kept, report.scale) == (len(frame), None)
    assert report.orientation.startswith(f"lower is better by the heading {heading}")


# columns of scores

CRITERIA = {
    "English": ("adequacy", "fluency"),
    "sliders": ("Comprehension", "Style", "Tone", "Terminology"),
    "German": ("Adäquatheit", "Flüssigkeit", "Verständlichkeit"),
    "French": ("adéquation", "fluidité"),
    "Spanish": ("adecuación", "fluidez"),
    "Czech": ("přesnost", "plynulost"),
    "Chinese": ("充分性", "流畅性"),
    "Japanese": ("正確性", "流暢性"),
    "with words": ("adequacy_score", "fluency_score"),
}


@pytest.mark.parametrize("language", CRITERIA)
def test_columns_of_criteria_are_judgements_of_a_criterion_each(language):
    names = CRITERIA[language]
    extra = {"time_spent": up_to(90, 10), "age": up_to(60, 20), "Zeichen": up_to(90, 20), "id": up_to(10**6)}
    frame = judged(**{name: up_to(5, 1) for name in names}, **extra)
    frame = frame[random.Random(5).sample([*frame], len(frame.columns))]
    ratings, report = imported(written(frame))
    assert len(ratings) == len(names) * len(frame)
    expected = frame.groupby("system")[[*names]].mean()
    found = ratings.groupby(["system", "criterion"])["score"].mean().unstack()
    for name in names:
        assert found[name.removesuffix("_score")].to_dict() == pytest.approx(expected[name].to_dict(), abs=1e-12)
    assert set(extra) <= set(report.unused)
    assert report.scale == [1, 5]


def test_criteria_may_have_scales_and_orientations_of_their_own():
    frame = judged(adequacy=up_to(5, 1), fluency=up_to(100), errors=up_to(8))
    ratings, report = imported(written(frame))
    expected = frame.groupby("system")[["adequacy", "fluency", "errors"]].mean()
    expected["errors"] *= -1
    found = ratings.groupby(["system", "criterion"])["score"].mean().unstack()
    assert np.allclose(found[expected.columns], expected, rtol=0, atol=1e-12)
    assert report.scale is None
    assert report.scale_from.startswith("criteria differ: adequacy: 1 to 5")
    assert "fluency: 0 to 100" in report.scale_from
    assert "errors: lower is better" in report.orientation


def test_an_empty_cell_of_a_criterion_is_no_judgement():
    frame = judged(adequacy=up_to(5, 1), fluency=up_to(5, 1)).astype({"adequacy": "Int64"})
    frame.loc[[3, 7], "adequacy"] = pd.NA
    ratings, report = imported(written(frame))
    assert ratings["criterion"].value_counts().to_dict() == {"fluency": len(frame), "adequacy": len(frame) - 2}
    assert report.blank_cells == 2


def wide(**drawn):
    rng = random.Random(6)
    return pd.DataFrame(
        [
            {"rater": person, "item": segment} | {name: draw(rng) for name, draw in drawn.items()}
            for person in PEOPLE
            for segment in SEGMENTS
        ]
    )


def test_columns_of_systems_are_judgements_of_a_system_each():
    frame = wide(MT1=up_to(100), duration_ms=up_to(900), GPT=up_to(100), age=up_to(60, 20), DeepL=up_to(100))
    ratings, report = imported(written(frame, sep="\t"))
    assert means(ratings) == pytest.approx(frame[["MT1", "GPT", "DeepL"]].mean().to_dict(), abs=1e-12)
    assert set(ratings["annotator"]) == set(PEOPLE)
    assert report.unused == ["duration_ms", "age"]
    assert report.mapping["score"]["theirs"] == "3 columns, one per system (MT1, GPT, DeepL)"


def test_systems_are_named_without_the_word_score_that_all_have():
    ratings, _ = imported(written(wide(score_DeepL=up_to(100), score_Google=up_to(100))))
    assert set(ratings["system"]) == {"DeepL", "Google"}


def test_penalties_of_systems_are_asked_for_and_then_turned():
    frame = wide(penalty_DeepL=up_to(9), penalty_Google=up_to(9))
    path = written(frame)
    with pytest.raises(DataError, match=r"Say what they are: --wide systems"):
        imported(path)
    ratings, report = imported(path, wide="systems")
    assert means(ratings) == pytest.approx((-frame[["penalty_DeepL", "penalty_Google"]].mean()).to_dict(), abs=1e-12)
    assert report.orientation.startswith("lower is better by the heading penalty")


def test_ranks_of_systems_in_columns_are_asked_for():
    rng = random.Random(7)
    rows = [{"annotator": "Eva", "segment": place} | dict(zip("ABC", rng.sample([1, 2, 3], 3))) for place in SEGMENTS]
    frame = pd.DataFrame(rows)
    with pytest.raises(DataError, match="as ranks do, where 1 is best"):
        imported(written(frame))
    ratings, _ = imported(written(frame), lower_is_better=True)
    assert means(ratings) == pytest.approx((-frame[["A", "B", "C"]].mean()).to_dict(), abs=1e-12)


UNCLEAR = {
    "people or criteria": (
        judged(1, Anna=up_to(100), Bea=up_to(100)).drop(columns="annotator").drop_duplicates(["segment", "system"]),
        ["--wide annotators", "--wide criteria --value annotator=TEXT"],
    ),
    "nothing at all": (
        wide(Foo=up_to(5, 1), Bar=up_to(5, 1)).drop(columns="rater").drop_duplicates("item"),
        [
            "--wide systems --value annotator=TEXT",
            "--wide annotators --value system=TEXT",
            "--wide criteria --value system=TEXT --value annotator=TEXT",
        ],
    ),
    "systems and criteria": (wide(DeepL_adequacy=up_to(5, 1), Google_adequacy=up_to(5, 1)), ["--wide systems"]),
    "of another size": (wide(DeepL=up_to(5, 1), Google=up_to(5, 1), other=up_to(90, 60)), ["--wide systems"]),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_columns_are_is_asked_and_each_way_that_is_proposed_works(name):
    frame, ways = UNCLEAR[name]
    path = written(frame)
    with pytest.raises(DataError) as problem:
        imported(path)
    proposed = str(problem.value).partition("Say what they are: ")[2].removesuffix(".").split(", or ")
    assert set(ways) <= set(proposed)
    for way in proposed:
        assert cli.main(["import", str(path), *way.split(), "--replace", "--allow-rejected"]) == 0, way
    if name == "of another size":
        assert "those of other are of another kind" in str(problem.value)


def test_a_flag_or_a_column_of_one_number_is_no_system_without_being_asked_for():
    for column in ({"seen": up_to(1)}, {"wave": up_to(3, 3)}, {"stars": up_to(5, 1)}):
        frame = wide(DeepL=up_to(100), Google=up_to(100), **column)
        with pytest.raises(DataError, match=r"those of \w+ are of another kind"):
            imported(written(frame.rename(columns={"stars": "likes"})))


def test_the_one_column_that_may_hold_the_scores_is_proposed_and_works():
    frame = judged(**{"how good": up_to(100)})
    path = written(frame)
    with pytest.raises(DataError, match="Say which column holds the scores: --map score='how good'"):
        imported(path)
    ratings, _ = imported(path, columns={"score": "how good"})
    assert means(ratings) == pytest.approx(frame.groupby("system")["how good"].mean().to_dict(), abs=1e-12)


def test_criteria_beside_a_score_are_told_and_read_when_asked_for():
    path = written(judged(score=up_to(100), adequacy=up_to(100), fluency=up_to(100)))
    ratings, report = imported(path)
    assert "criterion" not in ratings
    assert "adequacy, fluency may hold judgements, too: --wide criteria reads all of them" in report.notes
    assert set(imported(path, wide="criteria")[0]["criterion"]) == {"score", "adequacy", "fluency"}


def test_people_with_a_column_each_may_use_any_scale():
    frame = (
        judged(1, rater_A=up_to(4), rater_B=up_to(4)).drop(columns="annotator").drop_duplicates(["segment", "system"])
    )
    ratings, report = imported(written(frame))
    assert means(ratings, "annotator") == pytest.approx(frame[["rater_A", "rater_B"]].mean().to_dict(), abs=1e-12)
    assert report.scale == [0, 4]


def test_columns_that_are_named_are_what_is_said():
    frame = wide(Foo=up_to(100), Bar=up_to(100), Baz=up_to(100)).drop(columns="rater").drop_duplicates("item")
    path = written(frame)
    told = ["import", str(path), "--map", "score=Foo+Baz", "--replace"]
    assert cli.main([*told, "--wide", "systems", "--value", "annotator=Eva"]) == 0
    ratings = data.open_campaign("campaign.parquet")[0]
    assert means(ratings) == pytest.approx(frame[["Foo", "Baz"]].mean().to_dict(), abs=1e-12)
    with pytest.raises(DataError, match="annotators have a column of scores each, so annotator cannot be mapped"):
        imported(
            path, wide="annotators", columns={"score": ["Foo", "Bar"], "annotator": "Baz"}, values={"system": "mt"}
        )
    with pytest.raises(DataError, match="has no two columns of scores that could be criteria"):
        imported(written(frame[["item", "Foo"]], "one.csv"), wide="criteria")


def test_of_a_row_with_a_column_per_system_only_the_rejected_cell_is_written_to_be_repaired():
    frame = wide(MT1=up_to(100), MT2=up_to(100)).astype(str)
    frame.loc[4, "MT2"] = "1x"
    imported(written(frame), allow_rejected=True)
    found = pd.read_csv("c.rejected.csv", dtype=str, encoding="utf-8-sig")
    assert found[["column", "MT2"]].values.tolist() == [["MT2", "1x"]]
    assert found["MT1"].isna().all()
    text = Path("c.rejected.csv").read_text(encoding="utf-8-sig").replace("1x", "17")
    Path("repaired.csv").write_text(text, encoding="utf-8")
    told = {"columns": {"score": ["MT1", "MT2"]}, "wide": "systems", "allow_rejected": True}
    again, _ = imported(Path("repaired.csv"), **told)
    assert again[["system", "score"]].values.tolist() == [["MT2", 17]]


def test_lists_of_scores_are_those_of_people_by_their_place():
    frame = judged().drop(columns="annotator").drop_duplicates()
    frame["score"] = [f"[{place}, {place + 1}, {place + 2.5}]" for place in range(len(frame))]
    ratings, report = imported(written(frame))
    assert ratings.groupby("annotator")["score"].first().to_dict() == {"1": 0, "2": 1, "3": 2.5}
    assert (len(ratings), report.rows_read) == (3 * len(frame), 3 * len(frame))
    assert any("the first of each is annotator 1's" in note for note in report.notes)
    frame["score"] = "3;4"
    assert imported(written(frame))[0]["score"].value_counts().to_dict() == {3: len(frame), 4: len(frame)}
    path = written(frame.assign(rater="Eva"))
    with pytest.raises(DataError, match=r"holds several scores.*--map annotator="):
        imported(path)
    assert imported(path, columns={"annotator": ""})[0]["annotator"].nunique() == 2


def test_strangers_files_with_columns_of_scores(strangers):
    frame = pd.read_csv(strangers / "adeq_flu.csv")
    ratings, report = imported(strangers / "adeq_flu.csv")
    expected = frame.groupby("system")[["adequacy", "fluency"]].mean().stack().to_dict()
    assert means(ratings, "system", "criterion") == pytest.approx(expected, abs=1e-12)
    assert (set(ratings["annotator"]), report.scale) == (set(frame["annotator"]), [1, 5])
    frame = pd.read_csv(strangers / "wide_sys.csv")
    ratings, _ = imported(strangers / "wide_sys.csv")
    assert means(ratings) == pytest.approx(frame.drop(columns=["annotator", "segment"]).mean().to_dict(), abs=1e-12)
    assert len(ratings) == 3 * len(frame)


# scales


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (1, 5, (1, 5)),
        (0, 4, (0, 4)),
        (0, 6, (0, 6)),
        (1, 7, (1, 7)),
        (0, 10, (0, 10)),
        (0, 100, (0, 100)),
        (2, 5, (1, 5)),
        (0, 3, (0, 4)),
        (55, 90, (0, 100)),
        (0, 1, (0, 1)),
    ],
)
def test_the_smallest_usual_scale_that_holds_the_scores_is_proposed(low, high, scale):
    values = np.arange(low, high + 1).repeat(40).astype(float)
    found, how = scales.proposed(values)
    assert found == scale
    assert f"holds all {len(values):,} scores ({low} to {high})" in how
    assert ("both of its ends occur" in how) == ((low, high) == scale)


def test_a_slip_does_not_stretch_the_scale_and_its_share_is_said():
    values = np.array([*[1.0, 2, 3, 4, 5] * 100, 55])
    found, how = scales.proposed(values)
    assert found == (1, 5)
    assert "holds 500 of 501 scores (1 to 55, 0.20% outside)" in how
    frame = judged(score=up_to(100))
    path = written(
        pd.concat([frame, frame.assign(segment="x" + frame["segment"])]).assign(score=lambda f: [850, *f["score"][1:]])
    )
    _, report = imported(path)
    assert (report.rows_rejected, report.rows_kept) == (1, 359)
    assert "359 of 360" in report.scale_from


def test_more_than_one_row_in_a_hundred_refused_is_a_failure(capsys):
    frame = judged(score=up_to(100)).astype({"score": str})
    frame.loc[:1, "score"] = ["85%", "x"]
    path = str(written(frame))
    assert cli.main(["import", path]) == 1
    said = capsys.readouterr().err
    assert "2 of 180 rows (1.1%) cannot be read, and nothing was imported" in said
    assert "is a percentage" in said
    assert "is not a number" in said
    assert "--allow-rejected" in said
    assert not [*Path().glob("campaign*")]
    assert cli.main(["import", path, "--allow-rejected"]) == 0
    assert len(data.open_campaign("campaign.parquet")[0]) == 178
    frame.loc[1, "score"] = "3"
    assert cli.main(["import", str(written(frame, "one.csv")), "--out", "one.parquet"]) == 0


def test_a_scale_is_that_of_all_rows_and_not_of_the_first():
    frame = judged(score=up_to(5, 1))
    frame.loc[100:, "score"] = [0, 6] * 40
    _, report = imported(written(frame))
    assert report.scale == [0, 6]
    assert report.rows_kept == len(frame)


def test_of_several_files_a_guess_from_few_scores_gives_way():
    many, few = (
        written(judged(score=up_to(100)), "many.csv"),
        written(judged(score=up_to(5, 1)).assign(system=["D", "E", "F"] * 60)[:3], "few.csv"),
    )
    report, _ = importing.import_campaign([few, many], "c.parquet")
    assert report.scale == [0, 100]
    other = written(judged(score=up_to(5, 1)).assign(system="D"), "other.csv")
    with pytest.raises(DataError, match=r"has scores from .* pass --scale LOW:HIGH if they are one scale"):
        importing.import_campaign([other, many], "c.parquet", format="csv")


def test_strangers_scores_from_0_to_1(strangers):
    frame = pd.read_csv(strangers / "zero_one.csv")
    ratings, report = imported(strangers / "zero_one.csv")
    assert means(ratings) == pytest.approx(frame.groupby("system")["score"].mean().to_dict(), abs=1e-12)
    assert report.scale == [0, 1]
    assert "proposed from the data" in report.scale_from


# attention checks


def spoilt(**columns):
    frame = judged(score=up_to(100, 50))
    extra = frame[:10].assign(segment=[f"c{place}" for place in range(10)], score=3)
    return frame, pd.concat([frame, extra]).assign(**columns)


CHECKED = {
    "yes or no": {"attention_check": ["no"] * 180 + ["yes"] * 10},
    "true": {"isGold": ["False"] * 180 + ["True"] * 10},
    "ones": {"check": [0] * 180 + [1] * 10},
    "blanks": {"Attention": [""] * 180 + ["x"] * 10},
    "a kind": {"type": ["regular"] * 180 + ["attention"] * 10},
    "a trap": {"kind": ["main"] * 180 + ["Trap"] * 10},
    "German": {"Kontrollfrage": ["nein"] * 180 + ["ja"] * 10},
    "a system": {"system": [*judged()["system"], *["CHECK"] * 10]},
}


@pytest.mark.parametrize("name", CHECKED)
def test_attention_checks_are_set_apart_and_their_scores_told(name):
    frame, whole = spoilt(**CHECKED[name])
    ratings, report = imported(written(whole.sample(frac=1, random_state=1)))
    assert means(ratings) == pytest.approx(frame.groupby("system")["score"].mean().to_dict(), abs=1e-12)
    assert report.excluded == {checks.REASON: 10}
    told = f"10 attention checks were set apart; their scores have the mean 3, the others {frame['score'].mean():.4g}"
    assert told in report.notes
    assert importing.together(checks.REASON) == "attention checks"


def test_a_column_that_marks_most_rows_marks_no_checks():
    path = written(judged(score=up_to(100)).assign(check="yes"))
    with pytest.raises(DataError, match="check marks 100% of the rows, too many for attention checks"):
        imported(path)
    assert imported(written(judged(score=up_to(100)).assign(check="no")))[1].rows_excluded == 0


def test_a_column_of_other_words_marks_no_checks_and_practice_is_set_apart():
    frame, whole = spoilt(type=["test"] * 180 + ["practice"] * 10)
    ratings, report = imported(written(whole.assign(check="passed")))
    assert (len(ratings), report.excluded) == (len(frame), {"is an item of the tutorial": 10})


def test_checks_of_columns_per_criterion_are_set_apart():
    frame = judged(adequacy=up_to(5, 1), fluency=up_to(5, 1)).assign(gold=[True] * 6 + [False] * 174)
    ratings, report = imported(written(frame))
    assert (len(ratings), report.rows_excluded) == (2 * 174, 12)


@pytest.mark.parametrize("name", ["attn_bool.csv", "attn_word.csv"])
def test_strangers_attention_checks(name, strangers):
    frame = pd.read_csv(strangers / name)
    apart = frame["item_type"].eq("attention_check") if "item_type" in frame else frame["is_attention_check"]
    ratings, report = imported(strangers / name)
    assert means(ratings) == pytest.approx(frame[~apart].groupby("system")["score"].mean().to_dict(), abs=1e-12)
    assert report.excluded == {checks.REASON: int(apart.sum())}


# words for scores

LADDERS = {
    "English": {"Excellent": 5, "Very Good": 4, "good": 3, "Fair": 2, "Poor": 1},
    "telephone": {"Excellent": 5, "Good": 4, "Fair": 3, "Poor": 2, "Bad": 1},
    "agreement": {"Strongly agree": 5, "Agree": 4, "Neutral": 3, "Disagree": 2, "Strongly Disagree": 1},
    "German": {"Sehr gut": 5, "gut": 4, "mittel": 3, "schlecht": 2, "sehr schlecht": 1},
    "German agreement": {
        "Stimme voll zu": 5,
        "Stimme zu": 4,
        "Teils teils": 3,
        "Stimme nicht zu": 2,
        "Stimme gar nicht zu": 1,
    },
    "Czech": {"Velmi dobré": 5, "Dobré": 4, "Průměrné": 3, "Špatné": 2, "Velmi špatné": 1},
    "French": {"Très bon": 5, "Bon": 4, "Moyen": 3, "Mauvais": 2, "Très mauvais": 1},
    "Spanish": {"Muy bueno": 5, "Bueno": 4, "Regular": 3, "Malo": 2, "Muy malo": 1},
    "Japanese": {"とても良い": 5, "良い": 4, "普通": 3, "悪い": 2, "とても悪い": 1},
    "Chinese": {"非常好": 5, "好": 4, "一般": 3, "差": 2, "非常差": 1},
    "numbers before": {"5 - Excellent": 5, "4 - Good": 4, "2: Poor": 2},
}


@pytest.mark.parametrize("language", LADDERS)
def test_words_of_a_scale_are_its_scores_and_that_is_told(language):
    words = LADDERS[language]
    frame = judged(word=lambda rng: rng.choice([*words])).rename(columns={"word": "score"})
    ratings, report = imported(written(frame))
    assert means(ratings) == pytest.approx(
        frame["score"].map(words).groupby(frame["system"]).mean().to_dict(), abs=1e-12
    )
    assert report.scale == [1, 5]
    assert any("words for scores in my.csv, score were read as" in note for note in report.notes)


def test_no_word_means_two_things_on_one_scale():
    for ladder in ladders.LADDERS:
        words = [word for step in ladder for word in step]
        assert len(words) == len(set(words)), ladder


def test_words_that_could_be_spaced_in_two_ways_are_asked_for_and_the_proposed_way_works():
    frame = judged(word=lambda rng: rng.choice(["Good", "Poor"])).rename(columns={"word": "score"})
    path = written(frame)
    with pytest.raises(DataError, match=r"the words .* are steps of several scales") as problem:
        imported(path)
    assert "--map-values 'poor=2' --map-values 'good=4'" in str(problem.value) or (
        "--map-values 'good=4' --map-values 'poor=2'" in str(problem.value)
    )
    told = ["--map-values", "good=4", "--map-values", "POOR=2"]
    assert cli.main(["import", str(path), *told]) == 0
    ratings = data.open_campaign("campaign.parquet")[0]
    expected = frame["score"].map({"Good": 4, "Poor": 2}).groupby(frame["system"]).mean().to_dict()
    assert means(ratings) == pytest.approx(expected, abs=1e-12)


def test_words_of_no_known_scale_are_refused_and_can_be_mapped():
    frame = judged(word=lambda rng: rng.choice(["wow", "meh"])).rename(columns={"word": "score"})
    with pytest.raises(DataError, match=r"are of no scale that is known here. Give each its score: --map-values"):
        imported(written(frame))
    assert set(imported(written(frame), words={"wow": 1, "Meh": 0})[0]["score"]) == {0, 1}
    frame.loc[0, "score"] = "hm"
    assert imported(written(frame), words={"wow": 1, "meh": 0})[1].rows_rejected == 1


def test_strangers_words(strangers):
    frame = pd.read_csv(strangers / "likert_text.csv")
    ratings, report = imported(strangers / "likert_text.csv")
    scores = frame["score"].map({"Excellent": 5, "Good": 4, "Fair": 3})
    assert means(ratings) == pytest.approx(scores.groupby(frame["system"]).mean().to_dict(), abs=1e-12)
    assert any("Excellent = 5, Good = 4, Fair = 3" in note for note in report.notes)
    assert any("steps of its scale that do not occur: poor, bad" in note for note in report.notes)


# dates

NOON = pd.Timestamp("2024-03-01 12:00:00").timestamp()
DATES = {
    "01.03.2024 12:00": NOON,
    "1.3.2024, 12:00:00": NOON,
    "01.03.24 12:00": NOON,
    "2024.03.01 12:00": NOON,
    "2024/03/01 12:00": NOON,
    "1 March 2024 12:00": NOON,
    "Mar 1, 2024 12:00 PM": NOON,
    "Fri, 01 Mar 2024 12:00:00 GMT": NOON,
    "1. März 2024 12:00 Uhr": NOON,
    "2024年3月1日 12:00": NOON,
    "01.03.2024 13:00:00+01:00": NOON,
    "01-Mar-2024 12:00": NOON,
    "2024. 3. 1. 12:00": NOON,
    "01.03.2024 12:00:00.5": NOON + 0.5,
}


@pytest.mark.parametrize("text", DATES)
def test_dates_of_many_countries_are_read(text):
    frame = judged(score=up_to(100)).assign(started=text)
    frame["segment"] += frame.index.astype(str)
    ratings, _ = imported(written(frame, sep="\t"), format="csv")
    assert set(ratings["started"]) == {DATES[text]}


@pytest.mark.parametrize(
    ("texts", "seconds"),
    [
        (["03/25/2024 09:00 AM", "03/04/2024 01:30 PM"], ["2024-03-25 09:00", "2024-03-04 13:30"]),
        (["25/03/2024 09:00", "04/03/2024 12:00 AM"], ["2024-03-25 09:00", "2024-03-04 00:00"]),
        (["3/25/24 9:00", "3/4/24 10:00"], ["2024-03-25 09:00", "2024-03-04 10:00"]),
        (["24/03/01 09:00", "24/12/24 10:00"], ["2024-03-01 09:00", "2024-12-24 10:00"]),
        (["03/25/2024 13:05:00 PM", "03/25/2024 09:05:00 AM"], ["2024-03-25 13:05", "2024-03-25 09:05"]),
    ],
)
def test_a_whole_column_settles_the_order_of_its_dates(texts, seconds):
    found, _ = dates.moments(texts)
    assert [found[text][0] for text in texts] == [pd.Timestamp(one).timestamp() for one in seconds]


@pytest.mark.parametrize(
    "texts",
    [
        ["04/03/2024 09:00"],
        ["25/03/2024", "03/25/2024"],
        ["yesterday"],
        ["31.02.2024"],
        ["04-03-24"],
        ["04/03/2024 25:00"],
    ],
)
def test_dates_that_cannot_be_told_are_left_empty_and_no_judgement_is_lost(texts):
    frame = judged(score=up_to(100)).assign(started=[texts[place % len(texts)] for place in range(180)])
    ratings, report = imported(written(frame))
    assert len(ratings) == len(frame)
    assert ratings["started"].isna().all()
    assert any(note.startswith("started was left empty in 180 rows") for note in report.notes)


def test_strangers_dates(strangers):
    for name, layout in (("dates_de.csv", "%d.%m.%Y %H:%M:%S"), ("dates_us.csv", None), ("dates_ambig.csv", None)):
        frame = pd.read_csv(strangers / name)
        ratings, report = imported(strangers / name)
        assert means(ratings) == pytest.approx(frame.groupby("system")["score"].mean().to_dict(), abs=1e-12)
        assert report.rows_kept == len(frame)
        clock = frame["started"].str.replace(" [AP]M", "", regex=True)
        layout = layout or "%m/%d/%Y %H:%M:%S"
        expected = (
            [float("nan")] * len(frame)
            if "ambig" in name
            else [pd.to_datetime(text, format=layout).timestamp() for text in clock]
        )
        assert np.array_equal(ratings["started"], expected, equal_nan=True)


# headings, comments, blanks

TABLE = judged(score=up_to(100)).to_csv(index=False).splitlines()


def test_comments_before_among_and_behind_rows_are_passed_over():
    text = "\n".join(
        [
            "# made by us, in May",
            "#",
            f"{TABLE[0]},# a comment, with a comma",
            *TABLE[1:9],
            "# between",
            *TABLE[9:50],
            f"{TABLE[50]},# late, but fine",
            *TABLE[51:],
        ]
    )
    Path("my.csv").write_text(text + "\n", encoding="utf-8")
    ratings, report = imported(Path("my.csv"))
    assert ratings["score"].tolist() == [float(line.split(",")[-1]) for line in TABLE[1:]]
    assert "my.csv: 1 lines are comments and were passed over" in report.notes
    assert "my.csv: 1 rows end with a comment, which was left out" in report.notes
    left = "the line of headings has more cells than the rows; left out: # a comment; with a comma"
    assert f"my.csv: {left}" in report.notes


def test_a_segment_that_begins_with_a_hash_is_no_comment():
    frame = judged(score=up_to(100))[["segment", "annotator", "system", "score"]]
    ratings, _ = imported(written(frame.assign(segment="#" + frame["segment"])))
    assert len(ratings) == len(frame)
    assert ratings["segment"].str.startswith("#").all()


def test_rows_with_a_number_before_the_first_heading_are_read():
    frame = judged(score=up_to(100))
    Path("my.csv").write_text(
        "\n".join([TABLE[0], *(f"{place},{row}" for place, row in enumerate(TABLE[1:], 1))]) + "\n"
    )
    ratings, report = imported(Path("my.csv"))
    assert means(ratings) == pytest.approx(frame.groupby("system")["score"].mean().to_dict(), abs=1e-12)
    assert "my.csv: the rows have a number before the first heading; it was not used" in report.notes


def test_a_header_with_a_comment_more_than_its_rows_is_read_from_tabs(strangers):
    head = (strangers / "sxs_header_one_longer.tsv").read_text(encoding="utf-8").splitlines()[0].split("\t")
    assert head[-1].startswith("# Documentation")
    Path("my.tsv").write_text(
        "\n".join(["\t".join([*TABLE[0].split(","), head[-1]]), *(row.replace(",", "\t") for row in TABLE[1:])]) + "\n"
    )
    assert len(imported(Path("my.tsv"))[0]) == len(TABLE) - 1


MTURK = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"


@pytest.mark.parametrize(
    ("source", "target", "codes"),
    [("sv", "en", ("swe", "eng")), ("en", "uk", ("eng", "ukr")), ("nl", "hr", ("nld", "hrv"))],
)
def test_mturk_files_of_other_languages_cut_by_blanks_and_tabs_are_read(source, target, codes):
    rng = random.Random(8)
    rows = [
        [
            "H1",
            "W1",
            source,
            target,
            "ad",
            "1",
            f"S{place % 4}",
            "doc",
            "SYSTEM",
            str(place),
            str(rng.randint(0, 100)),
            "31.0",
        ]
        for place in range(40)
    ]
    mixed = ["".join(cell + rng.choice(["\t", " ", "  "]) for cell in row).strip() for row in rows]
    for name, lines in (
        ("mixed.csv", [MTURK.replace(" ", "\t"), *mixed]),
        ("tabs.csv", [MTURK, *map("\t".join, rows)]),
    ):
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        ratings, report = imported(Path(name), format="mturk-da")
        assert ratings["score"].tolist() == [float(row[10]) for row in rows]
        assert set(zip(ratings["src_lang"], ratings["tgt_lang"])) == {codes}
        assert report.orientation.startswith("higher is better")


def test_headings_are_listed_and_json_has_no_line_0():
    Path("my.csv").write_text(",".join(f"h{place}" for place in range(60)) + "\n" + ",".join("x" * 60) + "\n")
    with pytest.raises(DataError, match=r"the headings on line 1 are h0, .*, h19 and 40 others"):
        imported(Path("my.csv"))
    Path("my.jsonl").write_text('{"foo": "a", "bar": "b"}\n', encoding="utf-8")
    with pytest.raises(DataError, match="its objects have the names foo, bar") as problem:
        imported(Path("my.jsonl"))
    assert "line 0" not in str(problem.value)


# people


def test_models_that_judge_keep_their_names():
    frame = judged(score=up_to(100))
    path = written(pd.concat([frame, frame[:90].assign(annotator="GPT-4o judge")]))
    report, _ = importing.import_campaign([path], "c.parquet", salt="pepper", judges=["GPT-4o judge"])
    names = set(data.open_campaign("c.parquet")[0]["annotator"])
    everything = Path("c.import.json").read_text(encoding="utf-8") + str(names)
    assert "Eva" not in everything
    aliases = Pseudonyms("pepper", public=["GPT-4o judge"])
    assert aliases.one("GPT-4o judge") == aliases.mask(" GPT-4o judge").strip() == "GPT-4o judge"
    assert aliases.one("Eva") in names
    assert report.rows_kept == 270


@pytest.mark.parametrize(
    "heading",
    [
        "time_spent",
        "Dauer (s)",
        "age",
        "Alter",
        "sentence length",
        "Anzahl Wörter",
        "id",
        "row_number",
        "čas",
        "时间",
        "BLEU",
        "confidence",
    ],
)
def test_numbers_that_are_no_scores_are_never_taken_for_systems(heading):
    frame = wide(DeepL=up_to(100), Google=up_to(100), **{heading: up_to(100)})
    ratings, report = imported(written(frame))
    assert set(ratings["system"]) == {"DeepL", "Google"}
    assert heading in report.unused


def test_vocabularies_are_small_letters_and_do_not_overlap():
    for words in (layouts.CRITERIA, layouts._NO_SCORES, orientation._RANK, orientation._EXACT):
        assert words == {word.casefold() for word in words}
    assert not layouts.CRITERIA & layouts._NO_SCORES
    assert not layouts.CRITERIA & (orientation._RANK | orientation._EXACT)


def test_names_of_two_words_under_headings_of_two_words_stay_whole():
    frame = judged(score=up_to(100)).assign(annotator="Bob Ko").rename(columns={"annotator": "Evaluator ID"})
    frame = frame.drop_duplicates(["system", "segment"])
    frame.to_csv("my.tsv", sep="\t", index=False)
    ratings, report = imported(Path("my.tsv"))
    assert set(ratings["annotator"]) == {"Bob Ko"}
    assert not any("blanks" in note for note in report.notes)
    assert ratings["score"].tolist() == frame["score"].tolist()
