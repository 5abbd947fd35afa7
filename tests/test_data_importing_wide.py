"""Tables with a column per system or annotator lose none; rejected rows that are a kind of judgement stay refused."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing

ABSENT = ["NA", "N/A", "nan", "null", "None", "-", ""]


def read(folder, text, **told):
    path, out = folder / "my.csv", folder / "c.parquet"
    path.write_text(text, encoding="utf-8")
    report, _ = importing.import_campaign([path], out, keep_names=True, replace=True, **told)
    return data.open_campaign(out)[0], report


def table(seed=1, rows=200):
    """Scores of three systems, a column each; the last is the best."""
    rng = np.random.default_rng(seed)
    scores = np.clip(np.array([60, 50, 85]) + rng.normal(0, 8, (rows, 3)), 0, 100).round().astype(int)
    return pd.DataFrame(scores, columns=["sysA", "sysB", "sysC"])


@pytest.mark.parametrize("word", ABSENT)
@pytest.mark.parametrize("told", [{}, {"wide": "systems"}])
def test_cells_without_a_judgement_lose_no_system(word, told, tmp_path):
    scores = table()
    gone = np.random.default_rng(2).random(len(scores)) < 0.35
    cells = scores.astype("str").assign(sysC=scores["sysC"].astype("str").mask(gone, word))
    cells.insert(0, "segment", range(len(cells)))
    ratings, report = read(tmp_path, cells.assign(annotator="Ann").to_csv(index=False), **told)
    expected = scores.assign(sysC=scores["sysC"].mask(gone)).agg(["count", "mean"]).T
    found = ratings.groupby("system")["score"].agg(["count", "mean"])
    pd.testing.assert_frame_equal(found, expected, check_names=False, check_dtype=False)
    assert report.rows_rejected == 0


def test_a_column_is_judged_by_all_its_rows(tmp_path):
    scores = table(rows=400)
    cells = scores.astype("str")
    cells.loc[:199, "sysC"] = "NA"
    cells.insert(0, "segment", range(len(cells)))
    ratings, _ = read(tmp_path, cells.assign(annotator="Ann").to_csv(index=False))
    assert ratings.groupby("system").size().to_dict() == {"sysA": 400, "sysB": 400, "sysC": 200}


@pytest.mark.parametrize("headings", [["sysA", "sysB", "sysC"], ["Anna Berg", "Bo Lind", "Cy Oda"]])
def test_a_column_like_its_neighbours_that_cannot_be_used_stops_the_import(headings, tmp_path):
    cells = table().astype("str").set_axis(headings, axis=1)
    cells.loc[::3, headings[2]] = "see mail"
    cells.insert(0, "segment", range(len(cells)))
    wide = {"wide": "annotators"} if "Bo Lind" in headings else {"wide": "systems", "values": {"annotator": "Ann"}}
    with pytest.raises(DataError, match=rf"{headings[2]}.*see mail.*line 2") as refused:
        read(tmp_path, cells.to_csv(index=False), **wide)
    assert "a-" not in str(refused.value), "a pseudonym cannot be found by its owner"


def long(scores):
    rows = [
        (system, segment, f"p{segment % 3}", value)
        for system in scores
        for segment, value in enumerate(scores[system].tolist())
    ]
    return pd.DataFrame(rows, columns=["system", "segment", "annotator", "score"])


def test_negatives_of_standardised_scores_never_go(tmp_path):
    rng = np.random.default_rng(3)
    scores = pd.DataFrame(
        {name: rng.normal(mean, 1, 60).round(3) for name, mean in zip("ABC", [1.8, 1, 0.4], strict=True)}
    )
    text = long(scores).to_csv(index=False)
    for told in ({}, {"allow_rejected": True}):
        with pytest.raises(DataError, match="for their value: to leave them out would bend the result"):
            read(tmp_path, text, **told)
    ratings, _ = read(tmp_path, text, scale=(-10, 10))
    assert ratings.groupby("system")["score"].mean().to_dict() == pytest.approx(scores.mean().to_dict())


@pytest.mark.parametrize("answer", ["see mail", "best"])
def test_rows_that_hold_one_answer_are_a_kind(answer, tmp_path):
    rows = long(table(rows=60)).astype("str")
    rows.loc[::6, "score"] = answer
    with pytest.raises(DataError) as refused:
        read(tmp_path, rows.to_csv(index=False), allow_rejected=True)
    assert "pass --allow-rejected" not in str(refused.value)


def test_rows_lost_by_one_system_are_a_kind(tmp_path):
    rows = long(table(rows=60)).astype("str")
    ours = rows.index[rows["system"] == "sysC"][:20]
    rows.loc[ours, "score"] = [f"x{n}" for n in range(20)]
    with pytest.raises(DataError, match="sysC would lose 33%"):
        read(tmp_path, rows.to_csv(index=False), allow_rejected=True)


def test_broken_rows_may_be_left_out(tmp_path):
    rows = long(table(rows=60)).astype("str")
    rows.loc[::12, "score"] = [f"x{n}" for n in range(15)]
    with pytest.raises(DataError, match="pass --allow-rejected"):
        read(tmp_path, rows.to_csv(index=False))
    ratings, report = read(tmp_path, rows.to_csv(index=False), allow_rejected=True)
    assert (len(ratings), report.rows_rejected) == (165, 15)


def test_a_flag_is_no_criterion(tmp_path):
    scores = table().set_axis(["adequacy", "fluency", "untranslated"], axis=1)
    rows = scores.assign(untranslated=(scores["untranslated"] > 90).astype(int), system=["A", "B"] * 100)
    rows.insert(0, "segment", [n // 2 for n in range(200)])
    for told in ({}, {"wide": "criteria"}):
        ratings, _ = read(tmp_path, rows.assign(annotator="Ann").to_csv(index=False), **told)
        assert set(ratings["criterion"]) == {"adequacy", "fluency"}
