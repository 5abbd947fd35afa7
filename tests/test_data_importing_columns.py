"""Tables of all makes: which way is better, what columns of scores are, places, scales, checks, words and dates."""

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing
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


def ranked(heading):
    rng = random.Random(4)
    return judged().assign(**{heading: [place for _ in range(60) for place in rng.sample([1, 2, 3], 3)]})


@pytest.mark.parametrize("heading", [*LOW, *RANKS, *HIGH])
def test_of_penalties_and_ranks_the_score_is_minus_the_number(heading):
    low = heading not in HIGH
    frame = ranked(heading) if heading in RANKS else judged(**{heading: up_to(12 if low else 100)})
    ratings, report = imported(written(frame.sample(frac=1, random_state=3), sep=";"))
    assert means(ratings) == close((-1 if low else 1) * frame.groupby("system")[heading].mean())
    assert report.orientation.startswith("lower is better by the heading" if low else "higher is better")
    assert report.scale == (None if low else [0, 100])
    assert not np.signbit(ratings["score"][ratings["score"].eq(0)]).any()


# what columns of scores are

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


# what --allow-rejected may leave out: broken rows, never a kind of judgement


def test_negatives_of_standardised_scores_never_go():
    rng = random.Random(3)
    frame = judged(score=lambda _: round(rng.gauss(1, 1), 3))
    for words_told in ({}, {"allow_rejected": True}):
        with pytest.raises(DataError, match=r"falsify the result"):
            imported(written(frame), **words_told)
    ratings, _ = imported(written(frame), scale=(-10, 10))
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


def test_a_slip_stretches_no_scale_and_is_told():
    path = written(judged(score=up_to(10)).assign(score=lambda table: table["score"].mask(table.index == 7, 850)))
    _, report = imported(path, allow_rejected=True)
    assert (report.scale, report.rows_rejected) == ([0, 10], 1)
    assert "179 of 180" in report.scale_from


def test_of_several_files_a_guess_from_few_scores_gives_way():
    many, few = judged(score=up_to(100)), judged(score=up_to(5, 1)).assign(system=["D", "E", "F"] * 60)[:3]
    report, _ = importing.import_campaign([written(few, "few.csv"), written(many, "many.csv")], "c.parquet")
    assert report.scale == [0, 100]
    other = written(judged(score=up_to(5, 1)).assign(system="D"), "other.csv")
    with pytest.raises(DataError, match=r"--scale LOW:HIGH"):
        importing.import_campaign([other, "many.csv"], "c.parquet", format="csv")
