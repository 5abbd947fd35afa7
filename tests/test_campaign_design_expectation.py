"""What a designed campaign is said to distinguish: its assumptions, measured anew, and its smallest difference."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit import DataError, data
from evalkit.campaign.design import Texts, Wish, draw, expectation
from evalkit.campaign.design.drawing import MEASURED, PROTOCOLS
from evalkit.campaign.design.texts import read_texts
from evalkit.campaign.plan import hours
from evalkit.data.importing import import_campaign
from evalkit.human import calibration, components
from evalkit.reports import cli

PARTS = ["document", "item", "annotator", "block", "residual"]


def measured(ratings, layout):
    """Medians over language pairs of the five variances."""
    table = components.estimate(ratings, layout=layout)
    found = pd.DataFrame([components.of_pair(table, pair) for pair in table["pair"]])
    return found[PARTS].median().to_dict()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "layout"),
    [
        pytest.param("wmt22-mturk", "numbered", marks=pytest.mark.nightly),
        ("wmt24-esa", "campaign"),
        ("wmt23-mqm", ""),
    ],
)
def test_what_is_assumed_is_what_public_data_show(real, name, layout):
    ratings = real(name)
    if not layout:  # merged scores of nobody in particular are no judgements
        ratings, layout = ratings[ratings["src_lang"].eq("zho")], "campaign"
    found = measured(ratings, layout)
    assert {part: round(value, 1) for part, value in found.items()} == MEASURED["variances"][name]
    if name in MEASURED["seconds"]:
        table, _ = hours(ratings)
        assert round(table["hours"].sum() * 3600 / table["judgements"].sum()) == MEASURED["seconds"][name]


@pytest.mark.slow
def test_the_time_that_mqm_takes_is_what_a_public_campaign_shows(mirrored, tmp_path):
    path = mirrored("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5/240315rc5MQM.scores.csv")
    import_campaign([path], tmp_path / "mqm.parquet", allow_rejected=True)
    table, _ = hours(data.open_campaign(tmp_path / "mqm.parquet")[0])
    [seconds] = [value for name, value in MEASURED["seconds"].items() if "MQM" in name]
    assert round(table["hours"].sum() * 3600 / table["judgements"].sum()) == seconds


def test_every_protocol_has_assumptions_on_its_own_scale():
    da, xsts = (expectation.usual(PROTOCOLS[name]) for name in ("DA", "XSTS"))
    assert all(expectation.usual(one).seconds > 0 for one in PROTOCOLS.values())
    assert xsts.variances["residual"] == pytest.approx(da.variances["residual"] * (4 / 100) ** 2)


def test_the_smallest_difference_is_found_with_the_chance_that_is_said():
    """Campaigns drawn here, score by score, and tested by scipy's own t-test over documents."""
    variances = dict(zip(PARTS, [0.0, 40.0, 0.0, 20.0, 60.0]))
    found = expectation.smallest_difference(variances, segments=200, annotators=10, block=10, arrangement="same")
    rng = np.random.default_rng(5)
    draws, documents, block = 4000, 20, 10
    own = rng.normal(0, np.sqrt(20), (draws, documents, 2, 1)) + rng.normal(0, 10, (draws, documents, 2, block))
    means = own.mean(axis=3)
    share = (stats.ttest_1samp(found + means[..., 0] - means[..., 1], 0, axis=1).pvalue < 0.05).mean()
    assert abs(share - 0.8) < 3 * np.sqrt(0.8 * 0.2 / draws) + 0.005  # the grid of differences has steps of 1 %


def test_more_annotators_bring_smaller_differences_and_a_calibration_set_never_larger_ones():
    variances = expectation.usual(PROTOCOLS["DA"]).variances
    sizes = [
        expectation.smallest_difference(variances, segments=100 * times, annotators=5 * times, block=10)
        for times in (1, 2, 4)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] / sizes[2] == pytest.approx(2, rel=0.25)
    with_set = expectation.smallest_difference(variances, segments=100, annotators=5, block=10, calibration=50)
    assert with_set < sizes[0]
    assert expectation.smallest_difference(variances, segments=1, annotators=5, block=10) is None


@pytest.fixture
def judged(tmp_path):
    """Files of a test set, and a pilot of it: 40 segments by two systems, scored by three people, with times."""
    rng = np.random.default_rng(3)
    (tmp_path / "outputs").mkdir()
    for name in ("outputs/A.txt", "outputs/B.txt", "source.txt"):
        (tmp_path / name).write_text("".join(f"{name} line {number} of some words\n" for number in range(60)))
    (tmp_path / "documents.txt").write_text("".join(f"doc{number // 4}\n" for number in range(60)))
    rows = []
    for segment, system in ((segment, system) for segment in range(40) for system in "AB"):
        quality = rng.choice([2, 25, 50, 75, 98])
        for person in range(3):
            start = 1e9 + len(rows) * 40
            score = float(np.clip(round(quality + rng.normal(0, 4) + 2 * person), 0, 100))
            at = ("eng", "deu", system, f"doc{segment // 4}", str(segment + 1), f"person{person}")
            rows.append((*at, score, start, start + 25))
    names = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score (0-100)", "started", "ended"]
    pd.DataFrame(rows, columns=names).to_csv(tmp_path / "pilot.csv", index=False)
    return tmp_path


def test_a_pilot_tells_times_variances_and_the_calibration_set(judged):
    pilot, _ = data.open_campaign(judged / "pilot.csv")
    found = expectation.from_pilot(pilot, PROTOCOLS["DA"])
    assert not found.assumed
    table, _ = hours(pilot)
    assert found.seconds == pytest.approx(table["hours"].sum() * 3600 / table["judgements"].sum())
    assert found.variances == components.of_pair(components.estimate(pilot, layout="campaign"), "eng-deu")
    texts = read_texts([judged / "outputs"], source=judged / "source.txt", documents=judged / "documents.txt")
    drawn = draw(texts, Wish(PROTOCOLS["DA"], ("ann", "bob"), calibration=10), prior=pilot)
    levels = [0.0, 25.0, 50.0, 75.0, 100.0]
    chosen = calibration.choose_set(pilot, per_level=2, levels=levels, tolerance=12.5, share=0.5, seed=7)
    wanted = {(row.system, row.segment) for row in chosen.itertuples()}
    for mine in drawn.screens:
        shown = [item for screen in mine if screen.kind == "calibration" for item in screen.items]
        assert {(item.systems[0], texts.segments[item.segment]) for item in shown} == wanted
        others = {screen.doc for screen in mine if screen.kind != "calibration"}
        assert not others & {texts.docs[item.segment] for item in shown}


def test_a_pilot_on_another_scale_or_of_other_texts_is_refused(judged):
    pilot, _ = data.open_campaign(judged / "pilot.csv")
    with pytest.raises(DataError, match="from 0 to 100, and those of XSTS from 1 to 5"):
        expectation.from_pilot(pilot, PROTOCOLS["XSTS"])
    other = Texts(["x"] * 4 + ["y"] * 4, ["s"] * 8, {"C": ["t u v"] * 8, "D": ["u v w"] * 8})
    with pytest.raises(DataError, match="None of the earlier ratings"):
        draw(other, Wish(PROTOCOLS["DA"], ("ann", "bob"), calibration=10), prior=pilot)


def test_a_calibration_set_that_a_pilot_cannot_fill_is_refused_with_an_option_that_there_is(judged, capsys):
    files = [
        "--outputs",
        judged / "outputs",
        "--source",
        judged / "source.txt",
        "--documents",
        judged / "documents.txt",
    ]
    words = ["new", "campaign", "second", "--out", judged, *files, "--protocol", "DA", "--annotators", "3"]
    words = [str(word) for word in (*words, "--pilot", judged / "pilot.csv", "--calibration")]
    assert cli.main([*words, "500"]) == 1
    remedy = re.search(r"Pass --calibration (\d+)", capsys.readouterr().err)
    assert cli.main([*words, remedy[1]]) == 0
    assert "taken from the pilot" in capsys.readouterr().err


def test_what_a_plan_says_of_power_is_recorded_in_full(judged):
    texts = read_texts([judged / "outputs"], source=judged / "source.txt", documents=judged / "documents.txt")
    drawn = draw(texts, Wish(PROTOCOLS["DA"], ("ann", "bob", "cid")))
    expected = expectation.expect(texts, drawn, expectation.usual(PROTOCOLS["DA"]))
    record = expected.as_record()
    direct = expectation.smallest_difference(
        record["variances"], segments=60, annotators=3, block=4, arrangement="mixed"
    )
    assert record["smallest_difference"] == direct
    z = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    assert record["standard_error"] == pytest.approx(direct / z)
    assert [count for count, _ in expected.more] == [3, 6, 12]
    assert expected.limited
