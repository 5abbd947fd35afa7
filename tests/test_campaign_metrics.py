"""Metrics and models beside the people of a campaign: against pandas and scipy, laws, odd cases, real scores."""

from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import campaign, data
from evalkit.campaign import figures, sentences
from evalkit.campaign.judges.comparison import PEOPLE
from evalkit.data import importing
from evalkit.human.judges import alternative_annotator

PERSONS = ("Ann", "Bob", "Cy", "Di")


@pytest.fixture(autouse=True)
def own_folder(own_salt, tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them, and results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def people(systems="ABCDE", segments=30, persons=PERSONS, seed=2, share=0.7):
    """Judgements with gaps: whoever judges a segment judges all systems; each system differs, each person is noisy."""
    rng = np.random.default_rng(seed)
    quality = dict(zip(systems, (60, 62, 50, 45, 30)))
    rows = []
    for segment in range(segments):
        hard = rng.normal(0, 8)
        own = rng.normal(0, 6, len(systems))
        for place, person in enumerate(persons):
            if rng.random() < share or place == segment % len(persons):
                for (system, mean), extra in zip(quality.items(), own):
                    score = round(float(np.clip(mean + hard + extra + rng.normal(0, 4 + 3 * place), 0, 100)))
                    rows.append(("eng", "deu", system, "d", str(segment), person, score))
    names = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score"]
    return pd.DataFrame(rows, columns=names).assign(item_type="system")


def with_metric(frame, noise=6.0, seed=4, name="COMET"):
    """Give each item a metric's score: people's mean with noise."""
    rng = np.random.default_rng(seed)
    means = frame.groupby(["system", "segment"])["score"].mean()
    scores = (means + rng.normal(0, noise, len(means))).rename(name)
    return frame.merge(scores.reset_index(), on=["system", "segment"])


def compared(frame, ranked=False, **options):
    frame.to_csv("my.csv", index=False)
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, scale=(0, 100), **options)
    ratings, _ = data.open_campaign("my.parquet")
    mine = campaign.from_ratings(ratings)
    ranking = campaign.rank_systems(mine, score="raw", resamples=50) if ranked else None
    judged = data.open_judges("my.parquet")
    return campaign.compare_judges(mine, judged, ranking=ranking, resamples=50), mine, ranking


def wide_of(frame):
    return frame.pivot_table(index=["system", "segment"], columns="annotator", values="score")


def test_metrics_and_persons_are_compared_on_their_items():
    frame = with_metric(people())
    frame.loc[frame["segment"].eq("3") & frame["system"].eq("B"), "COMET"] = np.nan
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
    said = " ".join(sentences.say(found))
    assert f"COMET ({len(pairs)} items) " in said
    assert (
        f"{min(persons.values()):.2f} to {max(persons.values()):.2f}, {rows.iloc[0]:.2f} in the median (4 persons"
        in said
    )


def test_pairs_of_systems_in_another_order_are_named():
    frame = people(share=1)
    means = frame.groupby("system")["score"].mean()
    order = means.sort_values(ascending=False).index.tolist()
    swapped = dict(zip(order, [4, 5, 3, 2, 1]))
    frame["COMET"] = frame["system"].map(swapped) + frame["segment"].astype(int) % 3 / 10
    found, _, ranking = compared(frame, ranked=True, metric_columns=["COMET"])
    assert found.pairs[["judge", "above", "below"]].to_numpy().tolist() == [["COMET", order[0], order[1]]]
    tests = ranking.pairwise.set_index(["better", "worse"])["significant"]
    assert found.pairs["sure"].tolist() == [bool(tests[order[0], order[1]])]
    sure = "" if found.pairs["sure"].iloc[0] else "do not "
    said = sentences.say(found)[0]
    assert f"orders the systems as people do but for {order[0]} and {order[1]} (people's judgements {sure}dist" in said
    apart = campaign.disagreeing_systems(found, resamples=50)
    assert apart[["system", "place", "place_by_judge"]].to_numpy().tolist() in (
        [[order[0], 1, 2], [order[1], 2, 1]],
        [[order[1], 2, 1], [order[0], 1, 2]],
    )
    x, y = frame.groupby("system")["COMET"].mean(), wide_of(frame).mean(axis=1).groupby("system").mean()
    bias = (x - x.mean()) / x.std() - (y - y.mean()) / y.std()
    assert apart.set_index("system")["bias"].to_dict() == pytest.approx(bias[order[:2]].to_dict())
    assert (apart["low"] < apart["bias"]).all()
    assert (apart["bias"] < apart["high"]).all()


def test_items_of_disagreement_are_the_farthest_in_rank():
    frame = with_metric(people()).assign(source=lambda t: "s" + t["segment"], hypothesis=lambda t: "<b>" + t["system"])
    found, mine, _ = compared(frame, metric_columns=["COMET"])
    items = campaign.disagreeing_items(found, mine)
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
    assert (first["percentile"], first["people_percentile"]) == pytest.approx(
        (ranks.loc[key, "x"], ranks.loc[key, "y"])
    )
    assert (first["source"], first["hypothesis"]) == (f"s{first['segment']}", f"<b>{first['system']}")


def test_peoples_mean_agrees_fully_and_a_lower_is_better_metric_is_its_mirror():
    frame = with_metric(with_metric(people(), noise=0), name="BLEU")
    frame["TER"] = -3 * frame["BLEU"] + 400
    found, mine, _ = compared(frame, metric_columns=["COMET", "BLEU", "TER"])
    table = found.table.set_index("judge")
    names = ["pearson", "kendall_b", "kendall_b_within", "acc_eq", "system_pearson", "system_kendall_b", "spa"]
    assert table.loc["COMET", names].astype(float).tolist() == pytest.approx([1] * 7)
    assert table.loc["TER", names].astype(float).tolist() == pytest.approx(
        table.loc["BLEU", names].astype(float).tolist()
    )
    assert found.lower == ("TER",)
    said = sentences.say(found)
    assert said[0].startswith(
        "COMET (150 items) orders the systems as people do; over items Kendall's τ-b with people's "
    )
    assert "Lower is better by TER, which is turned round for every comparison here." in said
    assert found.names[0] == "COMET"
    items = campaign.disagreeing_items(found, mine)
    assert (items.query("judge == 'TER'")["score"] > 0).all()  # shown as the file has them


def test_one_annotator_has_nobody_to_agree_with():
    found, _, _ = compared(with_metric(people(persons=("Ann",))), metric_columns=["COMET"])
    assert (found.persons, found.beaten) == (0, {"COMET": 0})
    assert set(found.table["kind"]) == {"metric"}
    said = sentences.say(found)
    assert said[1].startswith("How well people agree among themselves cannot be said, because nobody shares 10 items")
    assert "An item's score tells" not in " ".join(said)
    assert figures.judges(found).axes


def test_one_system_and_a_constant_metric_are_said_as_such():
    frame = with_metric(people(systems="A"))
    frame["BLEU"] = 5.0
    found, mine, _ = compared(frame, metric_columns=["COMET", "BLEU"])
    said = sentences.say(found)
    assert "COMET (30 items) scored one system, so that no order can be compared; over items" in said[0]
    assert said[1].endswith("over items nothing can be correlated, because one side never varies.")
    assert campaign.disagreeing_systems(found).empty
    assert figures.judges(found).axes
    frame = with_metric(people()).assign(BLEU=5.0)
    found, mine, _ = compared(frame, metric_columns=["COMET", "BLEU"])
    flat = next(text for text in sentences.say(found) if text.startswith("BLEU"))
    assert "gives all systems the same score, or people do, so that no order can be compared" in flat
    assert "BLEU" not in set(campaign.disagreeing_systems(found)["judge"])
    assert len(campaign.disagreeing_items(found, mine))


def test_a_model_is_one_more_annotator_and_never_ranks():
    frame = people(share=1)
    rng = np.random.default_rng(9)
    model = frame[frame["annotator"] == "Ann"].assign(annotator="gpt")
    model["score"] = (model["score"] + rng.integers(-9, 4, len(model))).clip(0, 100)
    model = model[model["segment"] != "4"]
    found, mine, ranking = compared(pd.concat([frame, model]), ranked=True, judges=["gpt"])
    alone = campaign.rank_systems(campaign.from_ratings(mine.ratings), score="raw", resamples=50)
    assert ranking.means == pytest.approx(frame.groupby("system")["score"].mean().to_dict())
    assert ranking.means == alone.means
    [row] = found.models.itertuples()
    wide = wide_of(frame)
    own = model.set_index(["system", "segment"])["score"]
    shared = wide.reindex(own.index)
    assert (row.judge, row.judgements, row.items) == ("gpt", len(model), len(model))
    assert (row.mean, row.sd) == pytest.approx((own.mean(), own.std()))
    assert row.difference == pytest.approx((own - shared.mean(axis=1)).mean())
    level = {"level_of_measurement": "interval"}
    assert row.alpha_without == pytest.approx(krippendorff.alpha(shared.to_numpy().T, **level))
    assert row.alpha == pytest.approx(krippendorff.alpha(shared.assign(gpt=own).to_numpy().T, **level))
    said = " ".join(sentences.say(found))
    assert "gpt as one more annotator, who never enters the ranking: 145 judgements, mean" in said
    way = "raises" if row.alpha > row.alpha_without else "lowers"
    assert f"On 145 items that two people or more judged, it {way} Krippendorff's alpha from" in said
    test = alternative_annotator(shared, own, alignment="rmse", epsilon=0.15)
    assert (row.tested, row.advantage, row.winning_rate) == (len(wide.columns), test.advantage, test.winning_rate)
    assert f"It {'passes' if test.passed else 'does not pass'} the alternative annotator test: on" in said


def test_a_model_is_calibrated_on_what_it_shares_with_people():
    frame = people(share=1)
    model = frame[frame["annotator"] == "Ann"].assign(annotator="gpt")
    model["score"] = (model["score"] / 2 + 10).round(-1)
    found, _, _ = compared(pd.concat([frame, model]), judges=["gpt"])
    wide = pd.DataFrame({"people": wide_of(frame).mean(axis=1), "gpt": model.set_index(["system", "segment"])["score"]})
    value = found.calibrated.set_index("measure")["value"]
    assert value["bias"] == pytest.approx((wide["gpt"] - wide["people"]).mean())
    assert value["spread"] == pytest.approx(wide["gpt"].std() / wide["people"].std())
    assert value["slope"] == pytest.approx(np.polyfit(wide["people"], wide["gpt"], 1)[0])
    ties = {
        name: [np.equal(*pair) for _, own in wide[name].groupby("segment") for pair in combinations(own, 2)]
        for name in wide
    }
    assert value["ties"] == pytest.approx(np.mean(ties["gpt"]))
    assert value["more ties"] == pytest.approx(np.mean(ties["gpt"]) - np.mean(ties["people"]))
    assert not {"drift", "more drift"} & set(value.index)
    [said] = [one for one in sentences.say(found) if one.startswith("Do not put gpt's scores among people's")]
    assert f"spread {value['spread']:.2f} times as widely" in said
    assert f"tie {value['ties']:.0%} of the pairs of outputs of a segment" in said
    assert f"differ from people's mean by {value['bias']:+.2f} points" in said


def test_without_enough_shared_items_nobody_can_say_whether_a_model_may_replace_an_annotator():
    frame = people(share=1, segments=5)
    model = frame[frame["annotator"] == "Ann"].assign(annotator="gpt")
    found, _, _ = compared(pd.concat([frame, model]), judges=["gpt"])
    [row] = found.models.itertuples()
    assert (row.tested, row.advantage == row.advantage) == (0, False)
    assert "nobody shares 30 items with it and another person" in " ".join(sentences.say(found))


def test_metrics_of_another_pair_are_missing_here():
    both = pd.concat([with_metric(people()), people(segments=5).assign(tgt_lang="jpn")])
    both.to_csv("my.csv", index=False)
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, metric_columns=["COMET"])
    ratings, _ = data.open_campaign("my.parquet")
    found = campaign.compare_judges(campaign.from_ratings(ratings, pair="eng-jpn"), data.open_judges("my.parquet"))
    assert not found
    assert found.reason == "no automatic judge or metric scored an output of a system in eng-jpn."


def test_scores_of_whole_systems_order_systems_only():
    frame = people()
    frame.to_csv("my.csv", index=False)
    path = importing.Path("en-de.slide-src.sys.score")
    path.write_text("".join(f"{name}\t{score}\n" for name, score in zip("ABCDE", (5, 4, 3, 2, 1))))
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, metric_files=[path])
    ratings, _ = data.open_campaign("my.parquet")
    mine = campaign.from_ratings(ratings)
    found = campaign.compare_judges(mine, data.open_judges("my.parquet"), resamples=50)
    means = wide_of(frame).mean(axis=1).groupby("system").mean()
    row = found.table.iloc[0]
    assert row["system_kendall_b"] == pytest.approx(
        stats.kendalltau([5, 4, 3, 2, 1], means.loc[list("ABCDE")]).statistic
    )
    assert sentences.say(found)[0].startswith("slide scored whole systems only: it orders ")
    assert campaign.disagreeing_items(found, mine).empty
    assert figures.judges(found).axes


def test_wmt23_metrics_on_esa_agree_with_scipy(tmp_path, mirrored):
    folder = mirrored("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5/240315rc5ESA.scores.csv").parent
    place = folder.parent / "mt-metrics-eval-v2" / "wmt23" / "metric-scores" / "en-de"
    names = ["COMET-refA", "MetricX-23-refA", "Random-sysname-src"]
    importing.import_campaign(
        [folder / "240315rc5ESA.scores.csv"],
        "esa.parquet",
        batches=folder / "data" / "batches_wmt23_en-de_esa.json",
        metric_files=[place / f"{name}.seg.score" for name in names],
    )
    ratings, _ = data.open_campaign("esa.parquet")
    found = campaign.compare_judges(campaign.from_ratings(ratings), data.open_judges("esa.parquet"), resamples=20)
    released = pd.read_csv(folder / "en-de.ESA-1.seg.score", sep="\t", names=["system", "score"], na_values=["None"])
    released["line"] = released.groupby("system").cumcount()
    for name in names:
        lines = pd.read_csv(place / f"{name}.seg.score", sep="\t", names=["system", "metric"])
        lines["line"] = lines.groupby("system").cumcount()
        both = released.merge(lines, on=["system", "line"]).dropna()
        both = both[both["system"] != "refA"]
        row = found.table.set_index("judge").loc[name.rpartition("-")[0]]
        assert row["items"] == len(both) == 2484
        assert row["pearson"] == pytest.approx(stats.pearsonr(both["metric"], both["score"]).statistic)
        assert row["kendall_b"] == pytest.approx(stats.kendalltau(both["metric"], both["score"]).statistic)
        means = both.groupby("system")[["metric", "score"]].mean()
        assert row["system_pearson"] == pytest.approx(stats.pearsonr(means["metric"], means["score"]).statistic)
    assert found.unit == "documents"
    assert (found.persons, found.lower) == (0, ())


def test_where_low_scores_are_good_people_and_models_are_turned_and_metrics_are_not():
    frame = with_metric(people(share=1))
    model = frame[frame["annotator"] == "Ann"].assign(annotator="gpt")
    both = pd.concat([frame, model])
    options = {"metric_columns": ["COMET"], "judges": ["gpt"]}
    found, _, _ = compared(both, **options)
    both.assign(score=100 - both["score"]).to_csv("low.csv", index=False)
    importing.import_campaign(["low.csv"], "low.parquet", keep_names=True, scale=(0, 100), **options)
    ratings, _ = data.open_campaign("low.parquet")
    turned = campaign.from_ratings(ratings, higher_is_better=False)
    again = campaign.compare_judges(turned, data.open_judges("low.parquet"), resamples=50)
    pd.testing.assert_frame_equal(again.table, found.table)
    pd.testing.assert_frame_equal(again.models, found.models)


def test_metrics_stand_beside_the_criterion_in_detail():
    frame = with_metric(people()).assign(criterion="adequacy")
    other = frame.assign(criterion="fluency", score=lambda t: 100 - t["score"])
    pd.concat([frame, other]).to_csv("my.csv", index=False)
    importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, scale=(0, 100), metric_columns=["COMET"])
    ratings, _ = data.open_campaign("my.parquet")
    judged = data.open_judges("my.parquet")
    values = [
        campaign.compare_judges(campaign.from_ratings(ratings, criterion=name), judged, resamples=20)
        .table.set_index("judge")
        .loc["COMET", "kendall_b"]
        for name in ("adequacy", "fluency")
    ]
    assert values[0] == pytest.approx(-values[1])
    assert values[0] > 0.5
