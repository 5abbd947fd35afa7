"""Metrics and models beside people, few human scores with more of a metric's, and campaigns that were steered."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import campaign, data
from evalkit.campaign import few, steering
from evalkit.campaign.checks import steered as check
from evalkit.campaign.judges import PEOPLE
from evalkit.data import importing
from evalkit.human import adaptive
from evalkit.human.judges import alternative_annotator, verdicts
from evalkit.metrics import ppi
from tests.makers import laid_out, ratings
from tests.pages import opened, telling

compare_judges = telling(campaign.compare_judges)

PERSONS = ("Ann", "Bob", "Cy", "Di")


@pytest.fixture(autouse=True)
def own_folder(own_salt, tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them, and results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def people(systems="ABCDE", segments=30, persons=PERSONS, *, each=3):
    """Judgements in which whoever judges a segment judges it of all systems; the first two are the best."""
    gap, spread = [30, 32, 20, 15, 0][: len(systems)], {"item": 6.0, "residual": 8.0}
    sizes = {"systems": systems, "documents": segments, "length": 1, "people": persons, "each": each}
    return ratings(2, **sizes, gap=gap, level=35, spread=spread, step=1)


def with_model(frame, score):
    """Give some of Ann's judgements, changed, to a model."""
    model = frame[frame["annotator"] == "Ann"]
    return pd.concat([frame, model.assign(annotator="gpt", score=score(model["score"]).clip(0, 100))])


def with_metric(frame, noise=6.0, seed=4, name="COMET"):
    """Give each item a metric's score: people's mean with noise."""
    rng = np.random.default_rng(seed)
    means = frame.groupby(["system", "segment"])["score"].mean()
    scores = (means + rng.normal(0, noise, len(means))).rename(name)
    return frame.merge(scores.reset_index(), on=["system", "segment"])


def compared(frame, *, ranked=False, opening=None, **options):
    """Import a table and compare its judges; opening: how it is looked at."""
    frame.to_csv("my.csv", index=False)
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, scale=(0, 100), **options)
    mine = campaign.from_ratings(data.open_campaign("my.parquet")[0], **(opening or {}))
    ranking = campaign.rank_systems(mine, score="raw", resamples=50) if ranked else None
    judged = data.open_judges("my.parquet")
    return compare_judges(mine, judged, ranking=ranking, resamples=50), mine, ranking


def wide_of(frame):
    return frame.pivot_table(index=["system", "segment"], columns="annotator", values="score")


def test_metrics_and_persons_are_compared_on_their_items():
    frame = with_metric(people())
    frame.loc[frame["segment"].eq("003") & frame["system"].eq("B"), "COMET"] = np.nan
    found, _, _ = compared(frame, metric_columns=["COMET"])
    wide = wide_of(frame)
    own = frame.groupby(["system", "segment"])["COMET"].first()
    pairs = pd.DataFrame({"x": own, "y": wide.mean(axis=1)}).dropna()
    row = found.table.set_index("judge").loc["COMET"]
    assert (row["items"], row["systems"], row["kind"]) == (len(pairs), 5, "metric")
    assert row["pearson"] == pytest.approx(stats.pearsonr(pairs["x"], pairs["y"]).statistic)
    assert row["kendall_b"] == pytest.approx(stats.kendalltau(pairs["x"], pairs["y"]).statistic)
    within = [stats.kendalltau(one["x"], one["y"]).statistic for _, one in pairs.groupby("segment")]
    assert row["kendall_b_within"] == pytest.approx(np.nanmean(within))
    means = pairs.groupby("system").mean()
    assert row["system_pearson"] == pytest.approx(stats.pearsonr(means["x"], means["y"]).statistic)
    assert row["system_kendall_b"] == pytest.approx(stats.kendalltau(means["x"], means["y"]).statistic)
    persons, beaten = {}, 0
    for name in PERSONS:
        both = pd.DataFrame(
            {"own": wide[name], "others": wide.drop(columns=name).mean(axis=1), "metric": own.reindex(wide.index)}
        ).dropna(subset=["own", "others"])
        persons[name] = stats.kendalltau(both["own"], both["others"]).statistic
        there = both.dropna()
        taus = [stats.kendalltau(there[side], there["others"]).statistic for side in ("metric", "own")]
        beaten += taus[0] > taus[1]
    rows = found.table[found.table["kind"] == "people"].set_index("judge")["kendall_b"]
    assert rows.tolist() == pytest.approx(
        [np.median([*persons.values()]), min(persons.values()), max(persons.values())]
    )
    assert (found.persons, found.beaten["COMET"]) == (4, beaten)
    ends = found.intervals[found.intervals["judge"].eq(PEOPLE) & found.intervals["statistic"].eq("kendall_b")].iloc[0]
    assert (ends["low"], ends["high"]) == pytest.approx((min(persons.values()), max(persons.values())))


def test_systems_that_a_metric_places_otherwise_are_named():
    frame = people(each=None)
    means = frame.groupby("system")["score"].mean()
    order = means.sort_values(ascending=False).index.tolist()
    swapped = dict(zip(order, [4, 5, 3, 2, 1]))
    frame["COMET"] = frame["system"].map(swapped) + frame["segment"].astype(int) % 3 / 10
    found, _, _ = compared(frame, ranked=True, metric_columns=["COMET"])
    apart = found.systems.set_index("system")
    assert apart[["place", "place_by_judge"]].T.to_dict("list") == {order[0]: [1, 2], order[1]: [2, 1]}


def test_items_of_disagreement_are_the_farthest_in_rank():
    frame = with_metric(people()).assign(source=lambda t: "s" + t["segment"], hypothesis=lambda t: "<b>" + t["system"])
    found, _, _ = compared(frame, metric_columns=["COMET"])
    items = found.items
    own = frame.groupby(["system", "segment"])["COMET"].first()
    both = pd.DataFrame({"x": own, "y": wide_of(frame).mean(axis=1)}).dropna()
    ranks = 100 * both.apply(lambda side: stats.rankdata(side) / len(side))
    far = (ranks["x"] - ranks["y"]).abs()
    assert len(items) == 10
    got = [far[row.system, row.segment] for row in items.itertuples()]
    assert got == pytest.approx(far.sort_values(ascending=False).head(10).tolist())
    first = items.iloc[0]
    key = (first["system"], first["segment"])
    assert (first["people"], first["score"]) == pytest.approx((both.loc[key, "y"], own[key]))
    assert (first["source"], first["hypothesis"]) == (f"s{first['segment']}", f"<b>{first['system']}")


def test_peoples_mean_agrees_fully_and_a_lower_is_better_metric_is_its_mirror():
    frame = with_metric(with_metric(people(), noise=0), name="BLEU")
    frame["TER"] = -3 * frame["BLEU"] + 400
    found, _, _ = compared(frame, metric_columns=["COMET", "BLEU", "TER"])
    names = ["pearson", "kendall_b", "kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa"]
    table = found.table.set_index("judge")[names].astype(float)
    assert table.loc["COMET"].tolist() == pytest.approx([1] * 7)
    assert table.loc["TER"].tolist() == pytest.approx(table.loc["BLEU"].tolist())
    assert found.sides.lower == ["TER"]
    items = found.items
    assert (items.query("judge == 'TER'")["score"] > 0).all()  # shown as the file has them


def test_what_one_annotator_one_system_or_a_constant_metric_cannot_tell():
    found, _, _ = compared(with_metric(people(persons=("Ann",), each=None)), metric_columns=["COMET"])
    assert (found.persons, found.beaten, set(found.table["kind"])) == (0, {"COMET": 0}, {"metric"})
    found, _, _ = compared(with_metric(people(systems="A")), metric_columns=["COMET"])
    assert found.systems.empty
    found, _, _ = compared(with_metric(people()).assign(BLEU=5.0), metric_columns=["COMET", "BLEU"])
    assert found.table.set_index("judge").loc["BLEU", ["kendall_b", "system_kendall_b"]].isna().all()
    assert "BLEU" not in set(found.systems["judge"])
    assert len(found.items)


def test_a_model_is_one_more_annotator_and_never_ranks():
    frame = people(each=None)
    rng = np.random.default_rng(9)
    both = with_model(frame, lambda scores: scores + rng.integers(-9, 4, len(scores)))
    both = both[both["annotator"].ne("gpt") | both["segment"].ne("004")]
    model = both[both["annotator"] == "gpt"]
    found, _, ranking = compared(both, ranked=True, judges=["gpt"])
    assert ranking.means == pytest.approx(frame.groupby("system")["score"].mean().to_dict())
    [row] = found.models.itertuples()
    wide = wide_of(frame)
    own = model.set_index(["system", "segment"])["score"]
    shared = wide.reindex(own.index)
    assert (row.judge, row.judgements, row.items) == ("gpt", len(model), len(model))
    assert (row.mean, row.sd) == pytest.approx((own.mean(), own.std()))
    assert row.difference == pytest.approx((own - shared.mean(axis=1)).mean())
    test = verdicts(alternative_annotator(shared, own, alignment="rmse", epsilons=[0.15])).iloc[0]
    assert (row.tested, row.advantage, row.winning_rate) == (len(wide.columns), test.advantage, test.winning_rate)


def test_a_model_is_calibrated_on_what_it_shares_with_people():
    frame = people(each=None)
    both = with_model(frame, lambda scores: (scores / 2 + 10).round(-1))
    found, _, _ = compared(both, judges=["gpt"])
    own = both[both["annotator"] == "gpt"].set_index(["system", "segment"])["score"]
    wide = pd.DataFrame({"people": wide_of(frame).mean(axis=1), "gpt": own})
    value = found.calibrated.set_index("measure")["value"]
    assert value["bias"] == pytest.approx((wide["gpt"] - wide["people"]).mean())
    assert value["spread"] == pytest.approx(wide["gpt"].std() / wide["people"].std())
    assert value["slope"] == pytest.approx(np.polyfit(wide["people"], wide["gpt"], 1)[0])
    ties = {
        name: np.mean([np.equal(*pair) for _, own in wide[name].groupby("segment") for pair in combinations(own, 2)])
        for name in wide
    }
    assert value["ties"] == pytest.approx(ties["gpt"])
    assert value["more ties"] == pytest.approx(ties["gpt"] - ties["people"])


def test_scores_of_whole_systems_order_systems_only():
    path, frame = importing.Path("en-de.slide-src.sys.score"), people()
    path.write_text("".join(f"{name}\t{score}\n" for name, score in zip("ABCDE", (5, 4, 3, 2, 1))))
    found, _, _ = compared(frame, metric_files=[path])
    means = wide_of(frame).mean(axis=1).groupby("system").mean()
    expected = stats.kendalltau([5, 4, 3, 2, 1], means).statistic
    assert found.table["system_kendall_b"].iloc[0] == pytest.approx(expected)
    assert found.items.empty


def test_where_low_scores_are_good_people_and_models_are_turned_and_metrics_are_not():
    both = with_model(with_metric(people(each=None)), lambda scores: scores)
    options = {"metric_columns": ["COMET"], "judges": ["gpt"]}
    found, _, _ = compared(both, **options)
    low = both.assign(score=100 - both["score"])
    again, _, _ = compared(low, opening={"higher_is_better": False}, **options)
    pd.testing.assert_frame_equal(again.table, found.table)
    pd.testing.assert_frame_equal(again.models, found.models)


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
    judges = compare_judges(mine, judged, None, resamples=10)
    return judges, estimate_with_metrics(judges)


def test_segments_that_nobody_judged_narrow_intervals_and_enter_no_comparison(tmp_path):
    judges, found = estimated(tmp_path)
    assert len(judges.sides.grid) == 64
    assert judges.table.set_index("judge").loc["COMET", "items"] == 128  # agreement is on what people judged
    table = found.table.set_index("name")
    assert table[["judged", "others"]].drop_duplicates().values.tolist() == [[64, 128]]
    for row in table.itertuples():
        assert row.plain_low < row.plain < row.plain_high
        assert row.low < row.estimate < row.high
    assert table.loc[["A", "B"], "narrower"].min() > 0.15
    grid = judges.sides.grid
    assert table.loc["A − B", "plain"] == pytest.approx((grid["A"] - grid["B"]).mean())


def test_an_interval_is_that_of_documents_added_up_one_by_one(tmp_path):
    judges, found = estimated(tmp_path, r=0.8, seed=4)
    metric = judges.sides.everywhere["COMET"]
    human = judges.sides.grid.reindex(metric.index)
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


def labelled(*, sure=0.9, persons=1, seed=3):
    """People label some outputs 1 or 0 (a problem), a model all of them, right so often."""
    rng = np.random.default_rng(seed)
    fine = rng.random((2, 150)) < [[0.8], [0.6]]
    model = np.where(rng.random(fine.shape) < sure, fine, ~fine)
    parts = [laid_out(model, "system segment", annotator="gpt", doc="d", scale=(0, 1))]
    parts += [
        laid_out(fine[:, :60], "system segment", annotator=f"p{k}", doc="d", scale=(0, 1)) for k in range(persons)
    ]
    pd.concat(parts).to_csv("labels.csv", index=False)
    importing.import_campaign(["labels.csv"], "labels.parquet", keep_names=True, scale=(0, 1), judges=["gpt"])
    mine = campaign.from_ratings(data.open_campaign("labels.parquet")[0])
    judges = compare_judges(mine, data.open_judges("labels.parquet"), None, resamples=10)
    return campaign.correct_labels(mine, judges), ~fine, ~model


def test_a_model_s_labels_are_corrected_by_its_errors_on_what_people_checked():
    found, truth, flagged = labelled()
    assert found.worse == 0
    y, f, rest = truth[:, :60], flagged[:, :60], flagged[:, 60:]
    table = found.table.set_index("system")
    assert table["others"].tolist() == [180, 90, 90]
    for name, own in {"all systems": rest, "S0": rest[0], "S1": rest[1]}.items():
        counts = {"hits": (y & f).sum(), "positives": y.sum(), "passes": (~y & ~f).sum(), "negatives": (~y).sum()}
        expected = ppi.corrected_share(own.sum(), own.size, **counts)
        assert table.loc[name, ["corrected", "low", "high"]].tolist() == pytest.approx(list(expected[:3]))
        assert table.loc[name, "flagged"] == pytest.approx(own.mean())
    by_ppi = ppi.mean(y.ravel(), f.ravel(), rest.ravel())
    assert table.loc["all systems", ["ppi", "ppi_low", "ppi_high"]].tolist() == pytest.approx(list(by_ppi[:3]))
    assert table.loc["all systems", "people"] == y.mean()
    assert "PPI++" in " ".join(found.sentences)


def test_labels_of_a_model_that_guesses_are_not_corrected_and_scores_are_no_labels(tmp_path):
    found = labelled(sure=0.4, persons=2)[0]
    assert found.table["corrected"].isna().all()
    assert "count people's alone" in " ".join(found.sentences)
    paths = files(tmp_path)
    ratings, _ = data.open_campaign(paths[0])
    judged = data.open_judges(paths[0], ratings=ratings, metrics=[paths[1]])
    mine = campaign.from_ratings(ratings)
    assert not campaign.correct_labels(mine, compare_judges(mine, judged, None, resamples=10))


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


# Steered campaigns: weighted means by hand and against full grids, what is told otherwise, when to stop.

weigh_steered = telling(campaign.weigh_steered)
may_stop = telling(campaign.may_stop)

LANGUAGES = {"src_lang": "eng", "tgt_lang": "deu", "segment": "1", "item_type": "system"}


def rows(log, systems, *, number=0, day=40, kept=True):
    """Write one campaign of a log as judgements: a row an output that was shown; screens of a day after each other."""
    found = []
    for screen, (scores, chance) in enumerate(zip(log.scores[number], log.probability[number], strict=True)):
        at = {
            "doc": f"d{screen}",
            "annotator": f"p{screen % 7}",
            "hit": f"h{screen}",
            "started": 1.7e9 // 86400 * 86400 + screen // day * 86400.0 + screen % day * 60,
        }
        for place in np.flatnonzero(np.isfinite(scores)):
            own = {"system": systems[place], "score": scores[place]}
            found.append(LANGUAGES | at | own | ({"probability": chance[place]} if kept else {}))
    return pd.DataFrame(found)


def simulated(*, policy="by rank", step=2.0, systems=6, screens=300, campaigns=1, seed=4):
    """Steer drawn scores; systems are ``step`` points apart, the last is the best."""
    rng = np.random.default_rng(seed)
    level = 70 + step * np.arange(systems)[:, None] + rng.normal(0, 6, 200)
    grid = np.clip(level + rng.normal(0, 8, (systems, 200)), 0, 100)
    drawn = adaptive.draw(grid, campaigns=campaigns, screens=screens, rng=rng)
    return adaptive.steer(drawn, policy, rng=rng, start=8), [f"S{i}" for i in range(systems)]


def weighed(frame):
    return weigh_steered(opened(frame))


def test_means_are_weighted_by_one_over_the_probability():
    """Two segments of A on screen 1, one on screen 2; by hand."""
    at = [
        ("1", "A", "1", 80, 0.5),
        ("1", "A", "2", 60, 0.5),
        ("2", "A", "1", 50, 0.25),
        ("1", "B", "1", 40, 0.5),
        ("2", "B", "1", 30, 1.0),
    ]
    names = ["doc", "system", "segment", "score", "probability"]
    found = weighed(laid_out(at, " ".join(names))).table.set_index("system")
    assert found.loc["A", ["judgements", "plain"]].tolist() == [3, pytest.approx(190 / 3)]
    assert found.loc["A", "weighted"] == pytest.approx((80 * 2 + 60 * 2 + 50 * 4) / 8)
    assert found.loc["B", "weighted"] == pytest.approx((40 * 2 + 30) / 3)
    assert np.isnan(found["any_low"]).all(), "the file has no order in time"


@pytest.mark.parametrize("change", ["constant", "even", "none"])
def test_what_was_not_steered_is_told_nothing(change):
    log, systems = simulated(policy="uniform")
    frame = rows(log, systems, kept=change != "none")
    if change == "constant":
        frame["probability"] = 0.5
    assert not weighed(frame)
    assert not may_stop(opened(frame), weighed(frame)), "nobody looks before the end"
    assert not may_stop(opened(frame.drop(columns=["started"])), weighed(frame), planned=500), "no order in time"


def test_uneven_counts_that_follow_scores_matter_and_cannot_be_weighted_without_probabilities():
    log, systems = simulated(step=4, screens=400)
    frame = rows(log, systems, kept=False)
    found = weighed(frame)
    assert found.matters
    assert not found.weighted
    assert not weighed(frame.assign(score=100 - frame["score"])), "leaders have fewer"


def test_a_column_that_says_something_else_is_not_used():
    """Such as how sure a model was: as probabilities, its values would stand for screens that never were."""
    frame = rows(*simulated(step=4, screens=400))
    frame["probability"] = np.random.default_rng(0).uniform(0.01, 0.08, len(frame))
    assert not weighed(frame).weighted
    frame["probability"] = np.where(np.arange(len(frame)) % 3, np.nan, 0.3)
    assert "67%" in weighed(frame).why


@pytest.mark.parametrize(
    ("plain", "weighted", "p", "verdict"),
    [
        ([80, 70], [80, 70.4], [1, 0.4], "fine"),
        ([80, 70], [80, 74], [1, 0.01], "look"),  # the mean of B moves
        ([79, 80], [81, 80], [0.2, 1], "look"),  # the first system is another one
        ([80, 70], np.nan, np.nan, "unknown"),
    ],
)
def test_a_check_speaks_where_it_matters(plain, weighted, p, verdict):
    table = pd.DataFrame({"system": ["A", "B"], "judgements": [90, 30], "plain": plain, "weighted": weighted, "p": p})
    table = table.assign(low=0.0, high=100.0, any_low=np.nan, any_high=np.nan)
    known = verdict != "unknown"
    found = steering.Steering(pair="x", table=table, weighted=known, why="")
    assert check(SimpleNamespace(steering=found)).verdict == verdict
    assert check(SimpleNamespace(steering=steering.NOT_STEERED)) is None


# May the campaign stop?


def test_a_clear_winner_ends_a_watched_campaign_and_the_look_is_named():
    mine = opened(rows(*simulated(step=9, systems=4, screens=400)))
    found = may_stop(mine, weigh_steered(mine), planned=1200, resamples=100)
    assert found.table["rule"].tolist() == [steering.NAIVE, steering.STRICT, steering.SHARED]
    assert (found.systems, found.rule["verdict"]) == (("S3", "S2"), "S3 is better")
    assert found.daily
    assert found.rule["screens"] < 400
    assert found.rule["screens"] % 40 == 0, "a day has 40 screens"


def test_false_alarms_are_those_of_many_looks_without_a_difference():
    log, systems = simulated(step=0, systems=4, screens=600, policy="uniform")
    mine = opened(rows(log, systems, day=20))
    found = may_stop(mine, weigh_steered(mine), planned=1800, resamples=400).table.set_index("rule")
    assert found.loc[steering.NAIVE, "low"] > 0.1
    assert found.loc[[steering.STRICT, steering.SHARED], "low"].max() <= 0.05
