"""Tables of all makes: which way is better, what columns of scores are, places, scales, checks, words and dates."""

import itertools
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing import numbers, scales, vocabulary
from evalkit.reports import cli

PEOPLE, SYSTEMS, SEGMENTS = ("Eva", "Uli"), ("A", "B", "C"), range(30)


pytestmark = pytest.mark.usefixtures("own_folder")


def imported(path, **told):
    """Import a file under its people's names; return ratings and report, whose rows add up."""
    report, _ = importing.import_campaign([path], "c.parquet", **({"keep_names": True} | told))
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    return data.open_campaign("c.parquet")[0], report


def told(path, *words):
    """Import at the command line; the table."""
    assert cli.main(["import", str(path), *words, "--replace", "--out", "told.parquet"]) == 0, words
    return data.open_campaign("told.parquet")[0]


def judged(seed=1, **drawn):
    """Make a table of judgements: one of each annotator, system and segment; drawn: a name -> draws its number."""
    rng = random.Random(seed)
    keys = [(person, str(n), system) for person in PEOPLE for n in SEGMENTS for system in SYSTEMS]
    frame = pd.DataFrame(keys, columns=["annotator", "segment", "system"])
    numbers = [[draw(rng) for draw in drawn.values()] for _ in keys]
    return frame.join(pd.DataFrame(numbers, columns=[*drawn]))


def wide(**drawn):
    """Make a table with a row for each person and segment."""
    frame = judged(6, **drawn).drop(columns="system").drop_duplicates(["annotator", "segment"], ignore_index=True)
    return frame.rename(columns={"annotator": "rater", "segment": "item"})


def written(frame, name="my.csv", **how):
    frame.to_csv(name, index=False, **how)
    return Path(name)


def means(ratings, *by):
    return ratings.groupby([*by] or "system")["score"].mean().to_dict()


def close(expected):
    return pytest.approx(dict(expected), abs=1e-12)


def up_to(high, low=0):
    return lambda rng: rng.randint(low, high)


def words(text):
    return [word.strip() for word in text.split(";")]


# which way is better

LOW = words(
    "mqm_penalty; penalties; errors; error_count; errorCount; Number of Errors; total errors; distance; edits; ter; hTER;"
    "post_edit_distance; cost; Fehleranzahl; Fehlerpunkte; Strafpunkte; nombre d'erreurs; pénalité; errores; penalización;"
    "počet chyb; chyby; число ошибок; 错误数; エラー数; Gesamtfehler; penalità; błędy"
)
RANKS = words("rank; Ranking; Rang; Platz; pořadí; classement; 排名; 順位")
HIGH = words("score; DA; Bewertung; adequacy; fluency; quality; Hodnocení; 得分; スコア")


def test_headings_in_many_languages_say_that_low_is_good():
    expected = dict.fromkeys(LOW, "penalty") | dict.fromkeys(RANKS, "rank") | dict.fromkeys(HIGH, "")
    assert {heading: vocabulary.tendency(heading) for heading in expected} == expected


def ranked(heading):
    rng = random.Random(4)
    return judged().assign(**{heading: [place for _ in range(60) for place in rng.sample([1, 2, 3], 3)]})


@pytest.mark.parametrize("heading", words("Fehlerpunkte; число ошибок; Rang; score; 得分"))
def test_of_penalties_and_ranks_the_score_is_minus_the_number(heading):
    low = heading not in HIGH
    frame = ranked(heading) if heading in RANKS else judged(**{heading: up_to(12 if low else 100)})
    ratings, report = imported(written(frame.sample(frac=1, random_state=3), sep=";"))
    assert means(ratings) == close((-1 if low else 1) * frame.groupby("system")[heading].mean())
    assert report.orientation.startswith("lower is better by the heading" if low else "higher is better")
    assert report.scale == (None if low else [0, 100])
    assert not np.signbit(ratings["score"][ratings["score"].eq(0)]).any()


DISAGREE = {
    "a penalty below 0": ("penalty", up_to(0, -25)),
    "errors of both signs": ("errors", up_to(3, -3)),
    "mqm above 0": ("mqm", up_to(25)),
    "mqm of both signs": ("mqm_score", up_to(5, -25)),
    "ranks beyond the systems": ("rank", up_to(100, 1)),
    "ranks called scores": ("score", None),
    "no errors": ("error_free", up_to(10)),
    "a German mark": ("Note", up_to(5, 1)),
    "a Czech mark": ("známka", up_to(5, 1)),
}


@pytest.mark.parametrize("name", DISAGREE)
def test_where_heading_and_content_disagree_the_user_is_asked_and_decides(name):
    heading, draw = DISAGREE[name]
    frame = judged(**{heading: draw}) if draw else ranked(heading)
    path = written(frame.rename(columns={"segment": "Satz"} if heading == "Note" else {}))
    with pytest.raises(DataError, match=rf"'{heading}'.*--lower-is-better or --higher-is-better"):
        imported(path)
    assert means(told(path, "--lower-is-better")) == close(-frame.groupby("system")[heading].mean())


@pytest.mark.parametrize(("heading", "ends", "sign"), [("penalty", (0, 25), -1), ("mqm_score", (-25, 0), 1)])
def test_a_scale_that_is_told_turns_round_with_the_scores(heading, ends, sign):
    frame = judged(**{heading: up_to(ends[1], ends[0])})
    ratings = told(written(frame), "--scale", f"{ends[0]}:{ends[1]}")
    assert means(ratings) == close(sign * frame.groupby("system")[heading].mean())
    assert ratings.attrs["scale"] == (-25, 0)


# what columns of scores are

CRITERIA = words(
    "Comprehension, Style, Tone, Terminology; Adäquatheit, Flüssigkeit, Verständlichkeit; přesnost, plynulost;"
    "正確性, 流暢性; adequacy_score, fluency_score"
)


@pytest.mark.parametrize("listed", CRITERIA)
def test_columns_of_criteria_are_judgements_of_a_criterion_each(listed):
    names = listed.split(", ")
    extra = {"time_spent": up_to(90, 10), "age": up_to(60, 20), "Zeichen": up_to(90, 20), "id": up_to(10**6)}
    frame = judged(**dict.fromkeys(names, up_to(5, 1)), **extra)
    frame = frame[random.Random(5).sample([*frame], len(frame.columns))]
    ratings, report = imported(written(frame))
    assert len(ratings) == len(names) * len(frame)
    found = ratings.groupby(["system", "criterion"])["score"].mean().unstack()
    for name in names:
        assert found[name.removesuffix("_score")].to_dict() == close(frame.groupby("system")[name].mean())
    assert set(extra) <= set(report.unused)
    assert report.scale == [1, 5]


@pytest.mark.parametrize("long", [False, True])
def test_criteria_may_have_scales_and_orientations_of_their_own(long):
    names = ["adequacy", "fluency", "errors"]
    frame = judged(adequacy=up_to(5, 1), fluency=up_to(100), errors=up_to(8)).astype(dict.fromkeys(names, "Int64"))
    frame.loc[[3, 7], "adequacy"] = pd.NA  # no judgement
    expected = frame.groupby("system")[names].mean() * [1, 1, -1]
    keys = ["annotator", "segment", "system"]
    table = frame.melt(keys, var_name="criterion", value_name="score").dropna() if long else frame
    ratings, report = imported(written(table))
    found = ratings.groupby(["system", "criterion"])["score"].mean().unstack()
    assert np.allclose(found[names], expected.astype(float), rtol=0, atol=1e-12)
    assert ratings["criterion"].value_counts().to_dict() == {"fluency": 180, "adequacy": 178, "errors": 180}
    assert report.scale is None


def test_criteria_beside_a_score_are_told_and_read_when_asked_for_and_a_flag_is_none():
    drawn = dict.fromkeys(("score", "adequacy", "fluency"), up_to(100))
    path = written(judged(**drawn, untranslated=up_to(1)))
    ratings, report = imported(path)
    assert "criterion" not in ratings
    assert any("adequacy, fluency" in note and "--wide criteria" in note for note in report.notes)
    assert set(imported(path, wide="criteria")[0]["criterion"]) == {"score", "adequacy", "fluency"}


NO_SCORES = words(
    "time_spent; Dauer (s); age; Alter; sentence length; Anzahl Wörter; id; row_number; čas; 时间; BLEU; confidence"
)


def test_columns_of_systems_are_judgements_of_a_system_each_and_other_numbers_are_none():
    frame = wide(**dict.fromkeys(["MT1", *NO_SCORES[:6], "GPT", *NO_SCORES[6:], "DeepL"], up_to(100)))
    ratings, report = imported(written(frame, sep="\t"))
    assert means(ratings) == close(frame[["MT1", "GPT", "DeepL"]].mean())
    assert (set(ratings["annotator"]), report.unused) == (set(PEOPLE), NO_SCORES)
    ratings, _ = imported(written(wide(score_DeepL=up_to(100), score_Google=up_to(100))))
    assert set(ratings["system"]) == {"DeepL", "Google"}


ABSENT = ["NA", "N/A", "nan", "null", "None", "-", ""]


@pytest.mark.parametrize(("where", "words_told"), [("a third", {}), ("the first half", {"wide": "systems"})])
def test_cells_without_a_judgement_lose_no_system(words_told, where):
    frame = wide(sysA=up_to(70), sysB=up_to(60), sysC=up_to(100, 70))
    gone = np.random.default_rng(2).random(len(frame)) < 0.35 if where == "a third" else np.arange(len(frame)) < 30
    cells = frame.assign(sysC=frame["sysC"].astype("str").mask(gone, np.resize(ABSENT, len(frame))))
    ratings, report = imported(written(cells), **words_told)
    expected = frame[["sysA", "sysB", "sysC"]].assign(sysC=frame["sysC"].mask(gone)).agg(["count", "mean"]).T
    found = ratings.groupby("system")["score"].agg(["count", "mean"])
    pd.testing.assert_frame_equal(found, expected, check_names=False, check_dtype=False)
    assert report.rows_rejected == 0


def test_a_column_like_its_neighbours_that_cannot_be_used_stops_the_import():
    cells = wide(**dict.fromkeys(["sysA", "sysB", "sysC"], up_to(100))).astype("str")
    cells.loc[::3, "sysC"] = "see mail"
    with pytest.raises(DataError, match=r"sysC.*see mail.*line 2"):
        imported(written(cells), wide="systems")


def test_penalties_and_ranks_of_systems_are_asked_for_and_then_turned():
    frame = wide(penalty_DeepL=up_to(9), penalty_Google=up_to(9))
    with pytest.raises(DataError, match=r"--wide systems"):
        imported(written(frame))
    ratings, _ = imported(written(frame), wide="systems")
    assert means(ratings) == close(-frame[["penalty_DeepL", "penalty_Google"]].mean())
    frame = ranked("score").pivot(index=["annotator", "segment"], columns="system", values="score").reset_index()
    with pytest.raises(DataError, match=r"as ranks do"):
        imported(written(frame))


FEW = judged(1, Anna=up_to(100), Bea=up_to(100)).drop(columns="annotator").drop_duplicates(["segment", "system"])
UNCLEAR = {
    "people or criteria": (FEW, ["--wide annotators", "--wide criteria --value annotator=TEXT"]),
    "nothing at all": (
        wide(Foo=up_to(5, 1), Bar=up_to(5, 1)).drop(columns="rater").drop_duplicates("item"),
        ["--wide systems --value annotator=TEXT", "--wide annotators --value system=TEXT"],
    ),
    "systems and criteria": (wide(DeepL_adequacy=up_to(5, 1), Google_adequacy=up_to(5, 1)), ["--wide systems"]),
    "of another size": (wide(DeepL=up_to(5, 1), Google=up_to(5, 1), other=up_to(90, 60)), ["--wide systems"]),
    "a flag": (wide(DeepL=up_to(100), Google=up_to(100), seen=up_to(1)), []),
    "likes": (wide(DeepL=up_to(100), Google=up_to(100), likes=up_to(5, 1)), []),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_columns_are_is_asked_and_each_way_that_is_proposed_works(name):
    frame, ways = UNCLEAR[name]
    path = written(frame)
    with pytest.raises(DataError, match=r"Say what they are: ") as problem:
        imported(path)
    proposed = str(problem.value).partition("Say what they are: ")[2].partition(". Or ")[0].split(", or ")
    assert set(ways) <= set(proposed)
    for way in proposed:
        told(path, *way.split(), "--allow-rejected")


def test_columns_that_are_named_are_what_is_said():
    frame = wide(Foo=up_to(100), Bar=up_to(100), Baz=up_to(100)).drop(columns="rater").drop_duplicates("item")
    path = written(frame)
    ratings = told(path, "--map", "score=Foo+Baz", "--wide", "systems", "--value", "annotator=Eva")
    assert means(ratings) == close(frame[["Foo", "Baz"]].mean())
    columns = {"score": ["Foo", "Bar"], "annotator": "Baz"}
    with pytest.raises(DataError, match=r"annotator cannot be mapped"):
        imported(path, wide="annotators", columns=columns, values={"system": "mt"})


# places of systems are no systems

PLACES = {
    ("sys{}", "quality{}"): "123",
    ("model_{}", "score_{}"): "123",
    ("Model {}", "Score {}"): "ABC",
    ("mt{}_name", "mt{}_score"): "123",
    ("system{}Id", "system{}Rating"): "123",
}


def screens(places, seed=5):
    """Judgements, and on which screen and at which place each was made, with a row a screen beside."""
    rng, rows = np.random.default_rng(seed), []
    lead = {"alpha": 74, "beta": 57, "gamma": 49}
    for screen in range(60):
        for place, system in enumerate(rng.permutation([*lead])[:places]):
            rows.append(
                (screen, "xyz"[screen % 3], place, system, int(np.clip(lead[system] + rng.normal(0, 9), 0, 100)))
            )
    rows = pd.DataFrame(rows, columns=["segment", "annotator", "place", "system", "score"])
    return rows, rows.pivot(index=["segment", "annotator"], columns="place", values=["system", "score"])


@pytest.mark.parametrize("named", PLACES, ids="|".join)
def test_a_score_is_of_the_system_named_at_its_place(named):
    by_place = [*PLACES].index(named) % 2
    places = 2 if by_place else 3
    rows, shown = screens(places)
    order = itertools.product(range(places), (0, 1)) if by_place else ((p, k) for k in (0, 1) for p in range(places))
    heads = {(place, kind): named[kind].format(PLACES[named][place]) for place, kind in order}
    columns = {head: shown["system" if kind == 0 else "score", place] for (place, kind), head in heads.items()}
    ratings, report = imported(written(pd.DataFrame(columns).reset_index()))
    found, expected = (table.groupby("system")["score"].agg(["size", "mean"]) for table in (ratings, rows))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    assert (report.rows_rejected, set(ratings["annotator"])) == (0, set("xyz"))


def test_two_criteria_a_place_stay_two():
    rows, shown = screens(2)
    columns = {}
    for place in (0, 1):
        score = shown["score", place].astype(int)
        columns |= {f"system{place + 1}": shown["system", place], f"adequacy{place + 1}": score}
        columns[f"fluency{place + 1}"] = score // 2
    ratings, _ = imported(written(pd.DataFrame(columns).reset_index()))
    for name, scores in {"adequacy": rows["score"], "fluency": rows["score"] // 2}.items():
        own = ratings[ratings["criterion"] == name]
        assert means(own) == close(rows.assign(score=scores).groupby("system")["score"].mean())


# what --allow-rejected may leave out: broken rows, never a kind of judgement


def test_negatives_of_standardised_scores_never_go():
    rng = random.Random(3)
    frame = judged(score=lambda _: round(rng.gauss(1, 1), 3))
    for words_told in ({}, {"allow_rejected": True}):
        with pytest.raises(DataError, match=r"falsify the result"):
            imported(written(frame), **words_told)
    ratings, _ = imported(written(frame), scale=(-10, 10))
    assert means(ratings) == close(frame.groupby("system")["score"].mean())


def test_a_column_that_tells_no_segments_apart_cannot_stand_for_them():
    frame = judged(score=up_to(100)).assign(item="ad").rename(columns={"segment": "line"})
    for words_told in ({}, {"allow_rejected": True}):
        with pytest.raises(DataError, match=r"item hardly names segments.*--map segment="):
            imported(written(frame), **words_told)
    ratings, _ = imported(written(frame), columns={"segment": "line"})
    assert means(ratings) == close(frame.groupby("system")["score"].mean())


def test_broken_rows_may_be_left_out_but_no_kind_of_judgement():
    frame = judged(score=up_to(100)).astype({"score": object})
    slips, answer, system = frame.copy(), frame.copy(), frame.copy()
    slips.loc[::13, "score"] = [f"x{n}" for n in range(14)]
    assert imported(written(slips), allow_rejected=True)[1].rows_rejected == 14
    answer.loc[::6, "score"] = "see mail"
    system.loc[2::6, "score"] = [f"x{n}" for n in range(30)]
    for kind in (answer, system):
        with pytest.raises(DataError, match="so --allow-rejected does not"):
            imported(written(kind), allow_rejected=True)


# scales

SCALES = {(1, 5): (1, 5), (0, 4): (0, 4), (0, 6): (0, 6), (1, 7): (1, 7), (0, 10): (0, 10), (0, 100): (0, 100)}
SCALES |= {(2, 5): (1, 5), (0, 3): (0, 4), (55, 90): (0, 100), (0, 1): (0, 1)}


@pytest.mark.parametrize("ends", SCALES)
def test_the_smallest_usual_scale_that_holds_the_scores_is_proposed(ends):
    scale, why = scales.proposed(np.arange(ends[0], ends[1] + 1.0))
    assert scale == SCALES[ends]
    assert f"({ends[0]} to {ends[1]})" in why
    slipped, why = scales.proposed(np.array([850, *np.tile(np.arange(ends[0], ends[1] + 1.0), 300)[:359]]))
    assert (slipped, "359 of 360" in why) == (scale, True), "a slip does not stretch it, and is told"


def test_of_several_files_a_guess_from_few_scores_gives_way():
    many, few = judged(score=up_to(100)), judged(score=up_to(5, 1)).assign(system=["D", "E", "F"] * 60)[:3]
    report, _ = importing.import_campaign([written(few, "few.csv"), written(many, "many.csv")], "c.parquet")
    assert report.scale == [0, 100]
    other = written(judged(score=up_to(5, 1)).assign(system="D"), "other.csv")
    with pytest.raises(DataError, match=r"--scale LOW:HIGH"):
        importing.import_campaign([other, "many.csv"], "c.parquet", format="csv")


# attention checks

CHECKED = {
    "yes or no": ("attention_check", "no", "yes"),
    "true": ("isGold", "False", "True"),
    "blanks": ("Attention", "", "x"),
    "a trap": ("kind", "main", "Trap"),
    "German": ("Kontrollfrage", "nein", "ja"),
    "a system": ("system", None, "CHECK"),
    "practice": ("type", "test", "practice"),
}


@pytest.mark.parametrize("name", CHECKED)
def test_attention_checks_and_practice_are_set_apart_and_their_scores_told(name):
    heading, usual, check = CHECKED[name]
    frame = judged(score=up_to(100, 50))
    extra = frame[:10].assign(segment=[f"c{place}" for place in range(10)], score=3, **{heading: check})
    whole = pd.concat([frame if usual is None else frame.assign(**{heading: usual}), extra])
    ratings, report = imported(written(whole.sample(frac=1, random_state=1)))
    assert means(ratings) == close(frame.groupby("system")["score"].mean())
    assert [*report.excluded.values()] == [10]
    if name != "practice":
        assert any("the mean 3," in note and f"{frame['score'].mean():.4g}" in note for note in report.notes)


def test_a_column_that_marks_most_rows_or_none_marks_no_checks():
    with pytest.raises(DataError, match=r"check marks 100% of the rows"):
        imported(written(judged(score=up_to(100)).assign(check="yes")))
    for word in ("no", "passed"):
        assert imported(written(judged(score=up_to(100)).assign(check=word)))[1].rows_excluded == 0


# words for scores

FIVE = (5, 4, 3, 2, 1)
LADDERS = {
    "Excellent; Very Good; good; Fair; Poor": FIVE,
    "Excellent; Good; Fair; Poor; Bad": FIVE,
    "Sehr gut; gut; mittel; schlecht; sehr schlecht": FIVE,
    "Stimme voll zu; Stimme zu; Teils teils; Stimme nicht zu; Stimme gar nicht zu": FIVE,
    "とても良い; 良い; 普通; 悪い; とても悪い": FIVE,
    "5 - Excellent; 4 - Good; 2: Poor": (5, 4, 2),
}


@pytest.mark.parametrize("ladder", LADDERS)
def test_words_of_a_scale_are_its_scores_and_that_is_told(ladder):
    worth, notes = dict(zip(words(ladder), LADDERS[ladder], strict=True)), []
    cells = pd.Series([*worth] * 3, dtype="str")
    found, ends = scales.in_numbers(cells, {}, notes.append, heading="score")
    assert found.astype(float).tolist() == cells.map(worth).tolist()
    assert ends == ((1, 5) if len(worth) == 5 else None)
    assert any("words for scores" in note for note in notes)


@pytest.mark.parametrize("worth", [{"Good": 4, "Poor": 2}, {"wow": 1, "meh": 0}])
def test_words_of_no_known_scale_or_of_two_are_refused_and_can_be_mapped(worth):
    frame = judged(score=lambda rng: rng.choice([*worth]))
    with pytest.raises(DataError, match=r"--map-values"):
        imported(written(frame))
    frame.loc[0, "score"] = "hm"
    ratings, report = imported(written(frame), words={word.upper(): score for word, score in worth.items()})
    assert means(ratings) == close(frame["score"].map(worth).groupby(frame["system"]).mean())
    assert report.rows_rejected == 1


# dates

DATES = """01.03.2024 12:00 | 1.3.2024, 12:00:00 | 01.03.24 12:00 | 2024.03.01 12:00 | 2024/03/01 12:00 | 1709294400000
    1709294400 | 2024年3月1日 12:00 | 01.03.2024 13:00:00+01:00 | 2024. 3. 1. 12:00 | 01.03.2024 12:00:00"""


ORDERS = {
    "03/25/2024 09:00 AM | 03/04/2024 01:30 PM": "2024-03-25 09:00 | 2024-03-04 13:30",
    "25/03/2024 09:00 | 04/03/2024 12:00 AM": "2024-03-25 09:00 | 2024-03-04 00:00",
    "3/25/24 9:00 | 3/4/24 10:00": "2024-03-25 09:00 | 2024-03-04 10:00",
    "24/03/01 09:00 | 24/12/24 10:00": "2024-03-01 09:00 | 2024-12-24 10:00",
    **{one.strip(): "2024-03-01 12:00" for line in DATES.splitlines() for one in line.split("|")},
}


@pytest.mark.parametrize("texts", ORDERS)
def test_dates_of_many_countries_are_read_in_the_order_that_a_whole_column_settles(texts):
    moments = [pd.Timestamp(one).timestamp() for one in ORDERS[texts].split(" | ")]
    assert numbers.times(pd.Series(texts.split(" | ") * 3, dtype="str"))[0].tolist() == moments * 3


UNTOLD = words("04/03/2024 09:00; 25/03/2024|03/25/2024; 1 March 2024; 31.02.2024; 04-03-24; 04/03/2024 25:00")


@pytest.mark.parametrize("texts", UNTOLD)
def test_dates_that_cannot_be_told_are_left_empty(texts):
    assert np.isnan(numbers.times(pd.Series(texts.split("|"), dtype="str"))[0]).all()
