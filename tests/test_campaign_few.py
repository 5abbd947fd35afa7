"""Few human scores and a metric of more segments, in a campaign: intervals by hand, and the sentences."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import campaign, data
from evalkit.campaign import few
from tests.pages import telling

compare_judges = telling(campaign.compare_judges)
estimate_with_metrics = telling(campaign.estimate_with_metrics)


def files(folder, *, r=0.9, judged=16, documents=48, chosen="chance", scored=True, seed=1):
    """Write a campaign of two systems in documents of four segments, and a metric of all documents."""
    rng = np.random.default_rng(seed)
    rows, metric = [], []
    hard = rng.normal(0, 8, documents)
    order = np.argsort(hard) if chosen == "hard" else np.arange(documents)
    for place, doc in enumerate(order):
        for segment in range(4):
            for system, level in (("A", 62), ("B", 60)):
                quality = level + hard[doc] + rng.normal(0, 10)
                at = {"src_lang": "eng", "tgt_lang": "deu", "system": system, "doc": f"d{doc}", "segment": str(segment)}
                if place < judged:
                    score = min(max(quality, 0), 100)
                    rows += [at | {"annotator": f"p{doc % 4}", "score": round(score, 3)}]
                if scored or place < judged:
                    value = r * (quality - 61) + np.sqrt(1 - r**2) * 13 * rng.normal()
                    metric.append(at | {"COMET": round(0.01 * value, 6)})
    paths = folder / "judged.csv", folder / "metric.csv"
    for path, table in zip(paths, (rows, metric), strict=True):
        pd.DataFrame(table).to_csv(path, index=False)
    return paths


def estimated(folder, **options):
    paths = files(folder, **options)
    ratings, spans = data.open_campaign(paths[0])
    judged = data.open_judges(paths[0], ratings=ratings, metrics=[paths[1]])
    mine = campaign.from_ratings(ratings, spans)
    judges = compare_judges(mine, judged, resamples=10)
    return judges, estimate_with_metrics(judges)


def test_segments_that_nobody_judged_narrow_intervals_and_enter_no_comparison(tmp_path):
    judges, found = estimated(tmp_path)
    assert len(judges.grid) == 64
    assert judges.table.set_index("judge").loc["COMET", "items"] == 128  # agreement is on what people judged
    table = found.table.set_index("name")
    assert table[["judged", "others"]].drop_duplicates().values.tolist() == [[64, 128]]
    for row in table.itertuples():
        assert row.plain_low < row.plain < row.plain_high
        assert row.low < row.estimate < row.high
    assert table.loc[["A", "B"], "narrower"].min() > 0.15
    grid = judges.grid
    assert table.loc["A − B", "plain"] == pytest.approx((grid["A"] - grid["B"]).mean())


def test_an_interval_is_that_of_documents_added_up_one_by_one(tmp_path):
    judges, found = estimated(tmp_path, r=0.8, seed=4)
    metric = judges.everywhere["COMET"]
    human = judges.grid.reindex(metric.index)
    scale = np.nanstd(human.to_numpy()) / np.nanstd(metric.where(human.notna()).to_numpy())
    row = found.table[found.table["name"] == "A"].iloc[0]
    y, f = human["A"], scale * metric["A"]
    weight, there = row["weight"], y.notna()
    assert 0 < weight <= 1
    value = y[there].mean() + weight * (f[~there].mean() - f[there].mean())
    residual = (y - weight * f)[there]
    left = [
        sum((residual.get(key, residual.mean()) - residual.mean()) / there.sum() for key in keys if there[key])
        + sum(weight * (f[key] - f[~there].mean()) / (~there).sum() for key in keys if not there[key])
        for keys in (y.index[y.index.get_level_values("doc") == doc] for doc in y.index.unique("doc"))
    ]
    reach = stats.t.ppf(0.975, 15) * np.sqrt(16 / 15 * np.square(left).sum())
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx([value, value - reach, value + reach])


def test_a_choice_that_the_metric_sees_is_known_and_where_nothing_helps_nothing_is_shown(tmp_path):
    _, found = estimated(tmp_path, chosen="hard")
    assert found.chance["COMET"] < 0.01
    _, none = estimated(tmp_path, scored=False)
    assert not none
    assert not estimate_with_metrics(campaign.Missing("no judge.", "Name one."))


def test_intervals_hold_in_campaigns_drawn_again_and_again():
    """The true mean and difference lie in 95 % of intervals: 800 draws have a standard error of .008."""
    rng, held, draws = np.random.default_rng(6), np.zeros(2), 800
    documents, judged = 60, 25
    groups = np.repeat(np.arange(documents), 3)
    for _ in range(draws):
        y = np.repeat(rng.normal(0, 1, documents), 3) + rng.normal(0, 1, 3 * documents)
        f = 0.8 * y + 0.6 * rng.normal(0, 1, len(y))
        there = groups < judged
        for place, weight in enumerate((0.0, 0.7)):
            low, high = few._ends(np.where(there, y, np.nan), f, there, ~there, groups, weight)[1:]
            held[place] += low <= 0 <= high
    assert held / draws == pytest.approx([0.95, 0.95], abs=0.025)


def test_a_pilot_s_metric_says_its_correlation_on_differences(tmp_path):
    paths = files(tmp_path, r=0.95, judged=48)
    ratings, _ = data.open_campaign(paths[0])
    judged = data.open_judges(paths[0], ratings=ratings, metrics=[paths[1]])
    found = campaign.of_pilot(ratings, judged, pair="eng-deu")
    wide = ratings.pivot(index=["doc", "segment"], columns="system", values="score")
    other = judged.pivot(index=["doc", "segment"], columns="system", values="score").reindex(wide.index)
    r = np.corrcoef(wide["A"] - wide["B"], other["A"] - other["B"])[0, 1]
    assert found.metric == "COMET"
    assert found.differences == pytest.approx(abs(r))
    assert found.within == pytest.approx(np.sqrt(np.mean([wide[s].corr(other[s]) ** 2 for s in "AB"])))
    assert campaign.of_pilot(ratings, None, pair="eng-deu") is None
