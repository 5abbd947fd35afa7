"""A test set and a metric of one's own: where it stands, by other code; what a page says; paths and titles."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import DataError
from evalkit.data import files, registry, testsets
from evalkit.metrics import rankings, statistics
from evalkit.reports import cli, execute, findings
from evalkit.reports.studies import Layout, read_studies
from evalkit.stats.terms import join_names
from tests.doors.testsets import SYSTEMS, lines, write

STUDY = "metric_meta_evaluation"


def scores_in(path):
    return pd.read_csv(path, sep="\t", names=["system", "score"], na_values="None")


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "wmt25", "wmt25", segments=30)


@pytest.fixture
def mine(tmp_path, folder):
    """Return scores of one's own that are the published ones of COMET with noise."""
    rng = np.random.default_rng(3)
    table = scores_in(folder / "metric-scores/en-sr_Cyrl_RS/COMET-refA.seg.score")
    rows = {name: (part["score"] + rng.normal(0, 1, len(part))).tolist() for name, part in table.groupby("system")}
    path = tmp_path / "mine.seg.score"
    path.write_text(lines(rows))
    return path


def test_ones_own_values_are_those_of_scipy(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    segments, systems = rankings.aligned(testset)
    values = statistics.every_statistic(segments[testset.pair], systems[testset.pair])
    values = values[values["metric"] == "mine (yours)"].set_index(["level", "statistic", "grouping"])["value"]
    own, people = scores_in(mine), scores_in(folder / "human-scores/en-sr_Cyrl_RS.esa-human1.seg.score")
    own["place"], people["place"] = (table.groupby("system").cumcount() for table in (own, people))
    both = own.merge(people, on=["system", "place"]).dropna()
    both = both[both["system"].isin(SYSTEMS)]
    expected = stats.pearsonr(both["score_x"], both["score_y"]).statistic
    assert values["segment", "pearson", "none"] == pytest.approx(expected, abs=1e-12)
    taus = [stats.kendalltau(part["score_x"], part["score_y"]).statistic for _, part in both.groupby("place")]
    assert values["segment", "kendall_b", "item"] == pytest.approx(np.nanmean(taus), abs=1e-12)
    whole = scores_in(folder / "human-scores/en-sr_Cyrl_RS.esa-human1.sys.score").set_index("system")["score"]
    means = own.groupby("system")["score"].mean()
    expected = stats.pearsonr(means[list(SYSTEMS)], whole[list(SYSTEMS)]).statistic
    assert values["system", "pearson", "none"] == pytest.approx(expected, abs=1e-12)


def test_what_may_be_claimed_is_what_the_tests_found(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    segments, systems = rankings.aligned(testset)
    both = segments[testset.pair], systems[testset.pair]
    values = statistics.every_statistic(*both)
    tests = rankings.every_test(segments, systems, draws=200)
    leaders = {
        name: rankings.rank_table(values, tests, statistic=name).assign(low=np.nan, high=np.nan)
        for name in ("system Pearson", "segment acc_eq")
    }
    found = rankings.standings(leaders, tests, testset.yours)
    acc = rankings.from_ratings(tests, "segment acc_eq")
    ahead = acc[(acc["metric_a"] == testset.yours) & (acc["p"] <= 0.05)]["metric_b"]
    behind = acc[(acc["metric_b"] == testset.yours) & (acc["p"] <= 0.05)]["metric_a"]
    row = found.set_index("statistic").loc["segment acc_eq"]
    assert len(ahead) + len(behind)
    assert (row["better"], row["worse"], row["alike"]) == (len(ahead), len(behind), 4 - len(ahead) - len(behind))
    assert (row["better_than"], row["worse_than"]) == tuple(join_names(names) or "none" for names in (ahead, behind))
    own = leaders["segment acc_eq"].set_index("metric").loc[testset.yours]
    assert (row["value"], row["cluster"], row["of"]) == (own["value"], own["rank"], 5)
    assert row["place"] == leaders["segment acc_eq"]["metric"].tolist().index(testset.yours) + 1
    assert all(name in rankings.claims(found, metric=testset.yours)[1] for name in (*ahead, *behind))
    assert f"of 5 by {rankings.WORDS['segment acc_eq']}" in rankings.headline(found, testset, [])
    assert testset.yours in rankings.title(testset)
    nothing = rankings.standings(leaders, tests, "flat")
    assert ["has no value" in claim for claim in rankings.claims(nothing, metric="flat")] == [True, True]
    assert "has no value" in rankings.headline(nothing, testset, [])


def test_what_was_left_out_and_what_lies_far_off_are_told(folder, mine):
    testset = testsets.open_testset(folder, metric=str(mine))
    _, systems = rankings.aligned(testset)
    far = rankings.outliers(systems[testset.pair])
    told = rankings.basis(testset, ["Alpha"])
    assert all(name in told for name in (*testset.golds, *testset.apart["system"]))
    assert "leave_out=Alpha" in told
    assert set(far) <= set(systems[testset.pair].systems)
    assert "leave_out" not in rankings.basis(testset, [])


def test_an_upside_down_metric_or_gold_is_warned_of_and_nothing_turned(folder, mine, tmp_path):
    table = scores_in(mine)
    path = tmp_path / "ter.seg.score"
    path.write_text(lines({name: (-part["score"]).tolist() for name, part in table.groupby("system")}))

    def warned(**options):
        testset = testsets.open_testset(folder, metric=str(path), **options)
        segments, systems = rankings.aligned(testset)
        return testset, statistics.every_statistic(segments[testset.pair], systems[testset.pair])

    testset, values = warned()
    told = rankings.upside_down(testset, values)[0]
    assert told.startswith("ter (yours) falls where human scores rise")
    assert "Is a low score good" in rankings.headline(rankings.standings({}, values, "ter"), testset, [told])
    assert "-p lower_is_better=yours" in told
    testset, values = warned(lower_is_better=["yours"])
    assert not any(told.startswith("ter (yours)") for told in rankings.upside_down(testset, values))
    testset, values = warned(lower_is_better=["esa-human1", "yours"])
    assert any("run again with -p lower_is_better=esa-human1" in told for told in rankings.upside_down(testset, values))


def test_one_metric_alone_cannot_be_compared(folder):
    for path in sorted((folder / "metric-scores" / "en-sr_Cyrl_RS").glob("[CU]*")) + sorted(folder.rglob("Kiwi*")):
        path.unlink()
    with pytest.raises(DataError, match=r"Only chrF has scores of segments of eng-srp_Cyrl_RS\. .* add the scores"):
        rankings.aligned(testsets.open_testset(folder))


def test_metrics_without_scores_of_segments_or_of_some_systems_are_told(folder, mine):
    place = folder / "metric-scores" / "en-sr_Cyrl_RS"
    path = place / "chrF-refA.sys.score"
    path.write_text(path.read_text().replace("Alpha", "Alhpa"))
    testset = testsets.open_testset(folder)
    _, systems = rankings.aligned(testset)
    told = "At system level, chrF has no score of Alpha: compared on the others only."
    assert rankings.lacking(systems[testset.pair]) == [told]
    assert any("Alhpa" in note for note in testset.notes)
    for path in place.glob("*.seg.score"):
        path.unlink()
    with pytest.raises(DataError, match="metric-scores/ has no scores of segments of eng-srp_Cyrl_RS"):
        rankings.aligned(testsets.open_testset(folder))


# Paths, titles and pages


def test_a_folder_a_file_and_a_name_are_told_apart_on_the_command_line(folder, mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = read_studies(Layout())[STUDY]
    bound = execute.bound(study, {"data": "wmt25", "metric": "mine.seg.score"}, Layout().studies.parent)
    assert (bound.parameters["data"], bound.parameters["metric"]) == (str(folder), str(mine))
    assert bound.data == ()
    bound = execute.bound(study, {"metric": "MetricX-23-QE-b"}, Layout().studies.parent)
    assert (bound.parameters["metric"], bound.data) == ("MetricX-23-QE-b", study.data)
    for name, value, kind in (("data", "wmt26", "folder"), ("metric", "no.seg.score", "file")):
        with pytest.raises(DataError, match=rf"{name}={value} is no {kind} in .*Correct the path"):
            execute.bound(study, {name: value}, Layout().studies.parent)


@pytest.mark.slow
def test_the_page_of_ones_own_folder_and_metric_is_whole_and_about_them(folder, mine, tmp_path, capsys):
    values = {"data": folder, "metric": mine, "draws": 50, "resamples": 20}
    words = [word for name, value in values.items() for word in ("-p", f"{name}={value}")]
    assert cli.main(["run", STUDY, *words, "--out", str(tmp_path / "out")]) == 0, capsys.readouterr().err
    report = findings.read_report(tmp_path / "out" / f"{STUDY}.json")
    assert report["title"] == "mine (yours) on wmt25 eng-srp_Cyrl_RS: how well does it agree with people?"
    assert "mine (yours) comes" in report["headline"]
    assert {one["name"] for one in report["data"]} >= {"wmt25/metric-scores", "wmt25/human-scores", "mine.seg.score"}
    assert not report["published"]
    assert not {"darr", "kept", "sweep"} & report["recorded"].keys()
    assert {row["statistic"] for row in report["recorded"]["standing"]} == {"system Pearson", "segment acc_eq"}
    html = (tmp_path / "out" / f"{STUDY}.html").read_text()
    assert "How ties are counted" not in html
    assert "esa-human1 was chosen among the human scores (esa-human1, esa-human2)" in html


@pytest.mark.nightly
def test_a_folder_of_wmt23_gives_the_numbers_of_the_standard_run(real, tmp_path):
    for name in ("metrics", "human", "metrics-systems", "human-systems", "outputs"):
        real(f"wmt23-{name}")
        for file in registry.entry(f"wmt23-{name}").files:
            place = tmp_path / "a set" / file.url.partition("/wmt23/")[2]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.symlink_to(files.obtain(file))
    words = ["-p", f"data={tmp_path / 'a set'}", "-p", "pair=eng-deu", "--out", str(tmp_path / "out")]
    assert cli.main(["run", STUDY, *words]) == 0
    found = findings.read_report(tmp_path / "out" / f"{STUDY}.json")["recorded"]
    standard = findings.read_report(Layout().reference / f"{STUDY}.json")["recorded"]
    for name in ("ranks", "disagreement", "movers", "chance"):
        assert found[name] == standard[name], name
    for name in ("intervals", "clusters", "coverage"):
        of_pair = [row for row in standard[name] if row.get("pair", "eng-deu") == "eng-deu"]
        ours = [{**row, "data": None} for row in found[name]]
        assert ours == [{**row, "data": None} for row in of_pair], name
