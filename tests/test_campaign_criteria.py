"""Several criteria in one file, and scores that are made of marked errors."""

import pandas as pd
import pytest

from evalkit import DataError, campaign, data
from evalkit.data import importing
from tests.makers import ratings
from tests.pages import telling

rank_criteria = telling(campaign.rank_criteria)

pytestmark = pytest.mark.usefixtures("own_salt")


def test_each_criterion_has_its_ranking(tmp_path):
    adequacy = ratings(systems=list("ABC"), step=1, criterion="adequacy")
    fluency = adequacy.assign(criterion="fluency", score=100 - adequacy["score"])
    pd.concat([adequacy, fluency]).to_csv(tmp_path / "my.csv", index=False)
    judged, _ = data.open_campaign(tmp_path / "my.csv")
    mine = campaign.from_ratings(judged)
    assert (mine.criteria, mine.criterion, len(mine.ratings)) == (["adequacy", "fluency"], "adequacy", len(adequacy))
    found = rank_criteria(mine, resamples=50)
    for name, table in (("adequacy", adequacy), ("fluency", fluency)):
        means = table.groupby("system")["score"].mean()
        assert found.rankings[name].means == pytest.approx(dict(means))
        assert found.rankings[name].top == means.idxmax()
    assert found.table["same_order"].tolist() == [1, -1]
    other = campaign.from_ratings(judged, criterion="fluency")
    assert other.criterion == "fluency"
    assert not rank_criteria(campaign.from_ratings(judged[judged["criterion"].eq("fluency")]))
    with pytest.raises(DataError, match="adequacy, fluency"):
        campaign.from_ratings(judged, criterion="style")


def test_errors_weigh_what_the_import_was_told(tmp_path):
    rows = ["A,d,1,Ann,s,t,Accuracy,Major", "A,d,2,Ann,s,t,No-error,No-error", "B,d,1,Ann,s,t,Accuracy,minor"]
    head = "system,doc,seg_id,rater,source,target,category,severity"
    (tmp_path / "mqm.csv").write_text("\n".join([head, *rows, ""]), encoding="utf-8")
    importing.import_campaign([tmp_path / "mqm.csv"], tmp_path / "my.parquet", weights="minor=2,major=7")
    judged, _ = data.open_campaign(tmp_path / "my.parquet")
    assert dict(judged.groupby("system")["score"].sum()) == {"A": -7, "B": -2}
    assert "major 7" in campaign.from_ratings(judged).receipt["how"].str.cat(sep=" ")
