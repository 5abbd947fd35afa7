"""What a campaign's report claims is true of the pair, the people and the scale that it names.

Files go in as a stranger's do; the headline and the recorded table of checks come out.
"""

import json
import re

import numpy as np
import pandas as pd
import pytest

from evalkit import campaign, data
from evalkit.campaign import sentences
from evalkit.reports import cli, sources

#: Words by which a check's question is found, whatever else it says.
AGREE, STEADY, OTHERS, ODD, ROOM, RANKED = (
    "agree beyond",
    "steady",
    "other annotators",
    "odd annotators",
    "room",
    "ranked",
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def drawn(gaps=(10, 0), people=6, segments=60, seed=1, favourites=0.0, noise=5.0):
    """Every annotator judges every segment of every system; gaps: points above the last one. favourites: their sd."""
    rng = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [range(len(gaps)), range(segments), range(people)], names=["system", "segment", "annotator"]
    )
    frame = index.to_frame(index=False)
    liked = rng.normal(0, favourites, (people, len(gaps)))[frame["annotator"], frame["system"]]
    text = rng.normal(0, 8, segments)[frame["segment"]]
    score = 60 + np.array(gaps)[frame["system"]] + text + liked + rng.normal(0, noise, len(frame))
    names = {"system": "sys" + frame["system"].astype(str), "annotator": "p" + frame["annotator"].astype(str)}
    return frame.assign(**names, doc="d", score=score.clip(0, 100).round(), src_lang="eng", tgt_lang="deu")


def imported(frame, *options):
    """Import a table as the command line does, and open what it wrote."""
    frame.to_csv("my.csv", index=False)
    arguments = ["import", "my.csv", "--out", "my.parquet", "--keep-names", *options]
    assert cli.main(arguments + ["--scale", "0:100"] * ("preference" not in frame)) == 0
    return data.open_campaign("my.parquet")


def report(ratings, spans=None, **chosen):
    """The headline, the verdict on reliance, and the recorded table of checks by question."""
    found = campaign.analyse(campaign.from_ratings(ratings, spans, **chosen), resamples=100)
    checks = campaign.run_checks(found)
    table = campaign.tabulate(checks).set_index("check")
    told = {name: " ".join(sentences.known(getattr(found, name))) for name in ("collection", "ranking", "profiles")}
    return sentences.headline(found, checks), sentences.trust(checks), table, told


def row(table, words, *, missing=False):
    """The one check whose question has these words."""
    rows = table[table.index.str.contains(words)]
    assert len(rows) == (not missing), rows.index.tolist()
    return None if missing else rows.iloc[0]


def test_a_verdict_about_a_pair_comes_from_its_own_judgements_and_others_are_named():
    own, other = drawn(people=6), drawn(people=6, segments=40).assign(tgt_lang="fra")
    other["score"] = np.random.default_rng(3).integers(0, 101, len(other))  # nobody agrees there
    alone = report(*imported(own))
    both = report(*imported(pd.concat([own, other])), pair="eng-deu")
    assert both[0] == alone[0], "another pair's judgements change nothing that is said of this one"
    assert both[1].startswith(alone[1].rstrip("."))
    assert "eng-fra" in both[1]
    theirs = row(both[2], f"{AGREE}.*other language pairs")
    assert "problem" in theirs["result"]
    assert "eng-fra" in theirs["found"]
    assert row(both[2], f"{AGREE} chance.$")["found"] == row(alone[2], AGREE)["found"]


@pytest.mark.parametrize(("gaps", "favourites"), [((0.3, 0.0), 6.0), ((20, 0), 1.0)])
def test_a_result_holds_for_other_annotators_only_if_they_would_find_the_same_leader(gaps, favourites):
    frame = drawn(gaps, people=12, favourites=favourites)
    headline, _, table, _ = report(*imported(frame))
    by_person = frame.pivot_table(index="annotator", columns="system", values="score")
    rng, wins = np.random.default_rng(2), []
    for _ in range(400):
        means = by_person.iloc[rng.integers(0, 12, 12)].mean()
        wins.append(means["sys0"] > means["sys1"])
    share = max(np.mean(wins), 1 - np.mean(wins))
    held = row(table, OTHERS)
    assert ("fine" in held["result"]) == (share >= 0.95)
    if share < 0.95:
        assert int(re.search(r"first in (\d+)%", held["found"])[1]) / 100 == pytest.approx(share, abs=0.12)
        assert {"sys0", "sys1"} <= {*re.findall(r"sys\d", held["found"])}, "who else comes first is named, too"
    else:
        assert "up to 10%" in headline, "how often such a sentence is wrong"


@pytest.mark.parametrize("score", ["raw", "z"])
def test_the_highest_score_is_that_of_the_column_which_is_named(score):
    frame = drawn((0.4, 0.2, 0.0, -8), people=8, noise=12)
    rng = np.random.default_rng(5)
    frame["score"] = (frame["score"] - 15 * frame["annotator"].isin(["p0", "p1"])).clip(0, 100)
    harsh = frame["annotator"].isin(["p0", "p1"]) & frame["system"].ne("sys0")
    frame = frame[~(harsh & (rng.random(len(frame)) < 0.7))]  # the strict ones judged sys0 more often
    mine = campaign.from_ratings(*imported(frame))
    found = campaign.analyse(mine, score=score, resamples=100)
    headline = sentences.headline(found, campaign.run_checks(found))
    z = frame.groupby("annotator")["score"].transform(lambda x: (x - x.mean()) / x.std())
    scores = {"raw": frame["score"], "z": z}[score]
    best = scores.groupby([frame["system"], frame["segment"]]).mean().groupby("system").mean().idxmax()
    raw = frame.groupby(["system", "segment"])["score"].mean().groupby("system").mean().idxmax()
    assert f"{best} has the highest {'z-score' if score == 'z' else 'mean score'}" in headline
    assert "the highest score" not in headline
    assert (f"By plain means {raw}" in " ".join(sentences.figures(found.ranking))) == (raw != best)


@pytest.mark.parametrize("people", [1, 2, 3])
def test_few_annotators_do_not_speak_for_others(people):
    headline, *_ = report(*imported(drawn((20, 0), people=people)))
    assert ("this one annotator" if people == 1 else f"these {people} annotators") in headline


@pytest.mark.parametrize(("again", "verdict"), [(1, "not known"), (4, "not known"), (5, "fine"), (9, "fine")])
def test_steadiness_is_fine_only_where_half_of_the_annotators_show_it(again, verdict):
    frame = drawn(people=9).assign(item_type="system", hit="h1")
    shown = frame[frame["annotator"].isin([f"p{k}" for k in range(again)]) & (frame["segment"] < 12)]
    ratings, spans = imported(pd.concat([frame, shown.assign(item_type="repeat", hit="h2")]))
    found = row(report(ratings, spans)[2], STEADY)
    assert verdict in found["result"]
    assert f"{again * 24} items shown twice to {again} of 9 annotators" in found["found"]


@pytest.mark.parametrize(("several", "verdict"), [(2, "not known"), (4, "not known"), (5, "fine"), (9, "fine")])
def test_agreement_says_how_many_people_it_rests_on(several, verdict):
    frame = drawn(people=9)
    number = frame["annotator"].str[1:].astype(int)
    alone = number.ge(several) & (frame["segment"] % 9 != number)  # the others judge segments of their own
    shared = number.lt(several) & frame["segment"].mod(9).ge(several)
    frame = frame[(frame["segment"] % 9 == number) & number.ge(several) | (shared if several < 9 else ~alone)]
    people = frame.groupby(["system", "segment"])["annotator"].nunique()
    assert (people > 1).any()
    if several < 9:  # who shares no item with anybody
        mine = frame[number.loc[frame.index].ge(several)].drop(columns="segment")
        frame = pd.concat(
            [frame[number.loc[frame.index].lt(several)], mine.assign(segment=1000 + np.arange(len(mine)))]
        )
    found = row(report(*imported(frame))[2], AGREE)
    items = frame.groupby(["system", "segment"])["annotator"].nunique()
    assert f"rests on {(items > 1).sum()} items and {several} of 9 annotators" in found["found"]
    assert verdict in found["result"]


ANNOTATORLESS = {
    "average": ("mean_score", ["--map", "score=mean_score", "--value", "annotator=average"]),
    "one row": ("score", ["--value", "annotator=Nobody in particular"]),
    "consensus": ("score", []),
}


@pytest.mark.parametrize("kind", ANNOTATORLESS)
def test_of_annotators_whom_a_file_does_not_name_nothing_is_said(kind):
    heading, options = ANNOTATORLESS[kind]
    means = drawn((20, 8, 0), people=4).groupby(["system", "doc", "segment", "src_lang", "tgt_lang"], as_index=False)
    frame = means["score"].mean().rename(columns={"score": heading})
    if kind == "consensus":
        frame["annotator"] = "Consensus"  # a column that names nobody
    headline, trust, table, told = report(*imported(frame, *options))
    for words in (AGREE, STEADY, OTHERS, ODD, "degraded", "counted twice", "use the scale", "equally often"):
        row(table, words, missing=True)
    assert "not known" in row(table, "who judged")["result"]
    assert "does not name who judged" in headline
    assert "sys0 is better than each of the 2 other systems" in headline
    assert not told["profiles"]
    for text in (headline, trust, *told.values(), *table["found"]):
        assert not re.search(r"\b(1|one|this) annotator", text), text


HUMANS = [
    "WebNLG-2020-reference",
    "ref-A",
    "human_ref",
    "reference2",
    "refB",
    "Human-A.0",
    "human translation",
    "gold_reference",
]
MACHINES = ["Refiner", "gpt-4-with-ref", "reference-free", "no-ref", "HumanMT", "prefs"]


@pytest.mark.parametrize("name", [*HUMANS, *MACHINES])
def test_peoples_translations_are_recognised_by_name_and_take_no_place(name):
    frame = drawn((20, 8, 0))
    ratings, _ = imported(frame.assign(system=frame["system"].replace("sys0", name)))
    kinds = ratings.groupby("system")["item_type"].unique()
    assert list(kinds[name]) == (["reference"] if name in HUMANS else ["system"])
    mine = campaign.from_ratings(ratings)
    assert (name in mine.humans) == (name in HUMANS)
    assert (name in campaign.rank_systems(mine, resamples=50).names) == (name in MACHINES)


def test_what_the_file_says_of_kinds_stands_above_names():
    frame = drawn((20, 8, 0)).replace({"sys0": "refA"})
    ratings, _ = imported(frame, "--value", "item_type=system")
    assert ratings["item_type"].eq("system").all()


def answers(pairs, people=4, segments=15, seed=3):
    rng, rows = np.random.default_rng(seed), []
    for person in range(people):
        for segment in range(segments):
            a, b = pairs[(person + segment) % len(pairs)]
            rows.append((f"p{person}", f"{segment}", a, b, rng.choice(["A", "B", "tie"], p=[0.6, 0.2, 0.2])))
    names = ["annotator", "segment", "system_a", "system_b", "preference"]
    return pd.DataFrame(rows, columns=names).assign(src_lang="eng", tgt_lang="deu")


def test_comparisons_have_no_harder_texts_and_who_never_met_is_never_compared():
    ratings, spans = imported(answers([("mtA", "mtB"), ("mtB", "mtC")]))
    *_, table, _ = report(ratings, spans)
    assert not table.apply(lambda column: column.str.contains("harder texts|easier texts")).to_numpy().any()
    assert not table.index.str.contains("same segments").any()
    mine = campaign.from_ratings(ratings)
    found = campaign.find_comparisons(mine, campaign.rank_systems(mine, resamples=50), resamples=50)
    assert "1 pair was never compared" in " ".join(sentences.known(found))


@pytest.mark.parametrize("pairs", [[("mtA", "mtB"), ("mtC", "mtD")], [("mtA", "mtB"), ("mtC", "mtD"), ("mtE", "mtF")]])
def test_a_ranking_that_fails_says_why(pairs):
    headline, trust, table, _ = report(*imported(answers(pairs)))
    assert "never compared" in headline
    assert "no outputs" not in headline
    assert trust.split("?")[1].strip().startswith("Not yet")
    assert not table["found"].str.contains("outputs of .* were judged").any()


def test_what_was_judged_is_never_called_nothing_for_want_of_draws():
    """Where few people judged a system, some draws of people leave it with nothing: then texts are drawn."""
    frame = drawn((20, 8, 0, 30), people=24).replace({"sys3": "refA"})
    number = frame["annotator"].str[1:].astype(int)
    own = {"sys0": number < 10, "sys1": number < 10, "sys2": number.between(10, 13), "refA": number >= 14}
    frame = frame[np.select([frame["system"].eq(name) for name in own], [*own.values()]).astype(bool)]
    mine = campaign.from_ratings(imported(frame)[0])
    assert mine.humans == ("refA",)
    for seed in range(12):
        ranking = campaign.rank_systems(mine, resamples=40, seed=seed)
        assert ranking, seed
        assert ranking.names == ["sys0", "sys1", "sys2"]


@pytest.mark.parametrize(("flagged", "says"), [(7, True), (5, True), (4, False), (1, False)])
def test_a_rule_that_names_most_people_speaks_of_the_scale(flagged, says):
    frame = drawn((6, 0), people=8)
    low = frame["annotator"].str[1:].astype(int) < flagged
    frame["score"] = frame["score"].where(~low, frame["segment"] % 4)  # within a point or two of the bottom
    found = row(report(*imported(frame))[2], ODD)
    assert ("about the scale" in found["found"]) == says
    if says:
        assert f"{flagged} of 8 annotators" in found["found"]
        assert "p0" not in found["to_do"], "nobody is named for what most do"
        crowded = (frame["score"] <= 10).mean()
        assert (f"{crowded:.0%} of scores lie in the lowest tenth" in found["found"]) == (crowded >= 0.6)


@pytest.mark.parametrize("marked", [True, False])
def test_who_marks_errors_already_is_not_advised_to(marked):
    frame = drawn((2, 0)).assign(item_type="system")
    frame["score"] = 90 + frame["score"] / 10
    ratings, _ = imported(frame)
    key = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]
    spans = ratings.head(40)[key].assign(span="1", error_type="unstated", severity="minor")
    spans.attrs = dict(ratings.attrs)
    found = row(report(ratings, spans if marked else None)[2], ROOM)
    assert "look" in found["result"]
    assert ("marked errors" in found["to_do"]) == (not marked)


def test_a_campaign_of_several_files_is_one_data_set_on_its_badge():
    def used(*names, source="real"):
        return [{"name": name, "source": source} for name in names]

    assert sources.badges(used("spring", "spring-errors", "spring-metrics")) == [("real", "1 data set")]
    assert sources.badges(used("wmt22-mturk", "wmt22-mturk-ranking", "wmt22-mturk-annotators")) == [
        ("real", "1 data set")
    ]
    assert sources.badges(used("spring", "spring-2", "autumn")) == [("real", "3 data sets")]
    assert sources.badges(used("wmt23-metrics")) == [("real", "1 data set")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "path", "code"),
    [("COMET", "scores.tsv", 0), ("score", "scores.tsv+", 0), ("score", "scores.tsv-", 0), ("score", "scores.tsv", 1)],
)
def test_scores_of_metrics_are_named_on_the_command_line(heading, path, code, capsys):
    frame = drawn((10, 0))
    imported(frame)
    items = frame.drop_duplicates(["system", "doc", "segment"])[["system", "doc", "segment", "score"]]
    items.rename(columns={"score": heading}).to_csv("scores.tsv", sep="\t", index=False)
    arguments = [
        "run",
        "campaign",
        "-p",
        "file=my.parquet",
        "-p",
        f"metrics={path}",
        "-p",
        "resamples=20",
        "--out",
        "r",
    ]
    assert cli.main(arguments) == code
    told = capsys.readouterr().err
    if code:
        assert "metrics=scores.tsv+" in told
        assert "--metric" not in told
        return
    with open("r/campaign.json", encoding="utf-8") as file:
        assert json.load(file)["recorded"]["judges"]
