"""Several criteria in one file, automatic judges beside people, and which way is better, said where it is ranked."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import DataError, campaign, data
from evalkit.campaign import sentences
from evalkit.campaign.judges.comparison import PEOPLE
from evalkit.data import importing

SYSTEMS = ("A", "B", "C")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def judgements(**columns):
    """Judgements of three systems by three people on 30 segments, the first system the best."""
    rng = np.random.default_rng(5)
    rows = [
        ("eng", "deu", system, "d", str(segment), person, 40 + 10 * (2 - place) + rng.integers(0, 31))
        for place, system in enumerate(SYSTEMS)
        for segment in range(30)
        for person in ("Ann", "Bob", "Cy")
    ]
    names = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score"]
    return pd.DataFrame(rows, columns=names).assign(**columns)


def opened(tmp_path, frame, **told):
    frame.to_csv(tmp_path / "my.csv", index=False)
    importing.import_campaign([tmp_path / "my.csv"], tmp_path / "my.parquet", keep_names=True, **told)
    return data.open_campaign(tmp_path / "my.parquet")[0]


def test_each_criterion_has_its_ranking(tmp_path):
    adequacy, fluency = judgements(criterion="adequacy"), judgements(criterion="fluency")
    fluency["score"] = 140 - fluency["score"]  # the other way round
    ratings = opened(tmp_path, pd.concat([adequacy, fluency]))
    mine = campaign.from_ratings(ratings)
    assert (mine.criteria, mine.criterion, len(mine.ratings)) == (["adequacy", "fluency"], "adequacy", len(adequacy))
    found = campaign.rank_criteria(mine, resamples=50)
    for name, table in (("adequacy", adequacy), ("fluency", fluency)):
        means = table.groupby("system")["score"].mean()
        assert found.rankings[name].means == pytest.approx(dict(means))
        assert found.rankings[name].top == means.idxmax()
    assert found.table["same_order"].tolist() == [1, -1]
    assert sentences.say(found) == ["fluency orders the systems otherwise."]
    other = campaign.from_ratings(ratings, criterion="fluency")
    assert other.criterion == "fluency"
    checks = campaign.run_checks(analysis := campaign.analyse(other, resamples=50))
    assert "This is fluency, one of 2 criteria." in sentences.headline(analysis, checks)
    with pytest.raises(DataError, match=r"there is no 'style' in these data\. Choose one of: adequacy, fluency"):
        campaign.from_ratings(ratings, criterion="style")


def test_one_criterion_needs_no_section(tmp_path):
    found = campaign.rank_criteria(campaign.from_ratings(opened(tmp_path, judgements())))
    assert not found
    assert sentences.say(found)[0].startswith("One criterion was judged. To compare several")


def test_automatic_judges_stand_beside_people(tmp_path):
    people = judgements()
    model = people[people["annotator"] == "Ann"].assign(annotator="gpt", score=lambda t: t["score"] - 7)
    ratings = opened(tmp_path, pd.concat([people, model]), judges=["gpt"])
    assert "gpt" not in set(ratings["annotator"])
    assert dict(ratings.groupby("system")["score"].mean()) == dict(people.groupby("system")["score"].mean())
    judged = data.open_judges(tmp_path / "my.parquet")
    assert judged["annotator"].unique().tolist() == ["gpt"]
    judges = campaign.compare_judges(campaign.from_ratings(ratings), judged)
    found, model_row = judges.table.set_index("judge"), judges.models.set_index("judge").loc["gpt"]
    wide = people.pivot_table(index=["system", "segment"], columns="annotator", values="score")
    ours = model.set_index(["system", "segment"])["score"].reindex(wide.index)
    row = found.loc["gpt"]
    assert row["pearson"] == pytest.approx(stats.pearsonr(ours, wide.mean(axis=1))[0])
    assert row["kendall_b"] == pytest.approx(stats.kendalltau(ours, wide.mean(axis=1))[0])
    assert model_row["difference"] == pytest.approx((ours - wide.mean(axis=1)).mean())
    assert (model_row["judgements"], row["items"], row["systems"], row["system_kendall_b"]) == (90, 90, 3, 1)
    one_by_one = [stats.pearsonr(wide[name], wide.drop(columns=name).mean(axis=1))[0] for name in wide]
    assert found.loc[PEOPLE, "pearson"] == pytest.approx(np.median(one_by_one))
    with pytest.raises(DataError, match=r"--judge 'claude': no annotator of my\.csv is called that"):
        opened(tmp_path, people, judges=["claude"])


def test_without_judges_there_is_nothing_to_compare(tmp_path):
    ratings = opened(tmp_path, judgements())
    assert data.open_judges(tmp_path / "my.parquet") is None
    found = campaign.compare_judges(campaign.from_ratings(ratings), None)
    assert sentences.say(found)[0].startswith("No automatic judge or metric is named in the file.")


def test_what_errors_weigh_stands_on_the_first_page(tmp_path):
    rows = ["A,d,1,Ann,s,t,Accuracy,Major", "A,d,2,Ann,s,t,No-error,No-error", "B,d,1,Ann,s,t,Accuracy,minor"]
    head = "system,doc,seg_id,rater,source,target,category,severity"
    (tmp_path / "mqm.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    importing.import_campaign([tmp_path / "mqm.csv"], tmp_path / "my.parquet", weights="minor=2,major=7")
    ratings, _ = data.open_campaign(tmp_path / "my.parquet")
    assert dict(ratings.groupby("system")["score"].sum()) == {"A": -7, "B": -2}
    [said] = sentences.weights(campaign.from_ratings(ratings))
    assert said.startswith("Scores are made of marked errors. Weights: ")
    assert "minor 2" in said
    assert "major 7" in said
    assert sentences.weights(campaign.from_ratings(opened(tmp_path, judgements()))) == []
