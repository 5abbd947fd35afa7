"""What the papers on ESA and ESA^AI print is recomputed by their authors' rules, checked against scipy and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalkit.papers import esa
from tests.makers import read

NAMES = ("wmt23-protocols", "wmt23-protocols-spans", "wmt23-protocols-released", "wmt23-human")


@pytest.fixture
def frames(real):
    return [real(name) for name in NAMES], real("wmt23-mqm-spans")


@pytest.mark.slow
def test_without_marks_that_have_no_severity_the_printed_time_per_mark_comes_out(frames):
    (judged, marked, *_), _ = frames
    own = marked[marked["item_type"] != "degraded"].astype({"severity": "str"})
    undecided = own[~own["severity"].isin(["minor", "major", "critical"])]
    keys = ["protocol", "hit", "system", "segment"]
    lost = undecided.astype(dict.fromkeys(keys, "str")).groupby(keys).size().rename("lost").reset_index()
    fewer = judged.astype(dict.fromkeys(keys, "str")).merge(lost, on=keys, how="left").fillna({"lost": 0})
    assert fewer.loc[fewer["item_type"] != "degraded", "lost"].sum() == len(undecided) > 0
    fewer["errors"] -= fewer["lost"].where(fewer["item_type"] != "degraded", 0)
    now, without = (esa.effort(esa.seconds(one)).set_index("kind")["per_error"] for one in (judged, fewer))
    assert [f"{one:.1f}" for one in now[["ESA", "ESAAI"]]] == ["70.4", "31.0"]
    assert f"{without['ESA']:.1f}" == "70.8"


@pytest.mark.slow
def test_what_remarks_say_of_the_release_holds(frames):
    (judged, marked, released, human), wmt_marked = frames
    side = esa.grids(judged, marked, released, human, wmt_marked)
    assert (len(side.scores), len(side.common()), len(side.everywhere())) == (2691, 156 * 13, 743)
    on_common = esa.filtering(esa.Grids(*(grid.loc[side.common()] for grid in side)))
    assert round(on_common["agreed"].iloc[0]) == 90
    shown = marked[marked["suggested"] & (marked["item_type"] != "degraded")].astype({"segment": str, "system": str})
    nothing = side.scores.index[side.scores["LLM"].eq(0)]
    assert not nothing.isin(pd.MultiIndex.from_frame(shown[["segment", "system"]])).any(), "0 means: nothing suggested"


@pytest.fixture
def side():
    """Scores of 40 translations under all collections, many of them tied and some missing, with marks."""
    rng = np.random.default_rng(5)
    index = pd.MultiIndex.from_product([[str(n) for n in range(10)], list("abcd")], names=["segment", "system"])
    names = [
        "ESA-1",
        "ESA-2",
        "ESAAI-1",
        "ESAAI-2",
        "MQM-1",
        "WMT-MQM",
        "WMT-DASQM",
        "ESA-IAA",
        "ESAAI-IAA",
        "MQM-IAA",
        "LLM",
    ]
    errors = pd.DataFrame(rng.poisson(0.7, (40, 11)).astype(float), index, names)
    scores = pd.DataFrame(rng.integers(0, 12, (40, 11)).astype(float), index, names)
    scores.iloc[:8, 5] = scores.iloc[5:20, 7] = np.nan
    return esa.Grids(scores, -errors * 2, errors)


@pytest.mark.parametrize("items", ["all", "judged everywhere"])
def test_coefficients_are_scipys(side, items):
    made = esa.agreement(side).query("items == @items").set_index(["kind", "when", "rests"])
    rows = side.scores.index if items == "all" else side.scores.dropna().index
    for kind, when, one, other in (
        ("ESA", "again", "ESA-1", "ESA-IAA"),
        ("MQM", "between", "MQM-1", "WMT-MQM"),
        ("ESAAI", "between", "ESAAI-1", "ESAAI-2"),
    ):
        both = side.scores.loc[rows, [one, other]].dropna()
        x, y = both.to_numpy().T
        found = made.loc[(kind, when, "scores")]
        assert found["n"] == len(both)
        assert found["tau_c"] == pytest.approx(stats.kendalltau(x, y, variant="c")[0])
        assert found["pearson"] == pytest.approx(stats.pearsonr(x, y)[0])
        assert found["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
        marked = (side.errors.loc[both.index, [one, other]] > 0).sum(axis=1)
        assert found["alike"] == pytest.approx(100 * (marked != 1).sum() / len(both))
    assert ("MQM", "again", "marks") not in made.index
    x, y = (side.weighed.loc[rows, name] for name in ("ESA-1", "ESA-2"))
    assert made.loc[("ESA", "between", "marks"), "spearman"] == pytest.approx(stats.spearmanr(x, y)[0])


def test_standing_is_that_of_plain_loops(side):
    made = esa.standing(side).set_index("protocol")
    assert "WMT-MQM" not in made.index
    there = side.scores[side.scores["WMT-MQM"].notna()]
    gold, own = ({s: there.xs(s, level="system")[name].mean() for s in "abcd"} for name in ("WMT-MQM", "WMT-DASQM"))
    pairs = [(a, b) for a in "abcd" for b in "abcd" if a < b]
    alike = sum((gold[a] - gold[b]) * (own[a] - own[b]) > 0 for a, b in pairs)
    assert made.loc["WMT-DASQM", "accuracy"] == pytest.approx(100 * alike / 6)
    expected = stats.spearmanr([gold[s] for s in "abcd"], [own[s] for s in "abcd"])[0]
    assert made.loc["WMT-DASQM", "rho"] == pytest.approx(expected)


def test_a_long_time_becomes_the_persons_median_and_people_count_alike():
    judged = read("""
        protocol annotator hit started errors item_type
        ESA-1 p a 0 1 system
        ESA-1 p a 40 0 system
        ESA-1 p a 60 0 degraded
        ESA-1 p a 80 1 reference
        ESA-1 p a 480 2 system
        ESA-2 q b 7 3 system
        ESA-IAA r c 7 90 system""")
    timed = esa.seconds(judged.sample(frac=1, random_state=3))
    assert sorted(timed["seconds"]) == [0, 0, 0, 20, 20, 40, 400]
    [made] = esa.effort(timed).to_dict("records")
    # p: 0, 40, 20 and 400, whose median 30 stands for 400; q: 0
    assert made == {"kind": "ESA", "people": 2, "seconds": 22.5 / 2, "errors": 2.0, "per_error": 22.5 / 4}


@pytest.mark.parametrize(("nothing", "words"), [(3, "30.0%"), (0, "0.0%")])
def test_translations_without_suggestions_count_as_100(nothing, words):
    index = pd.MultiIndex.from_product([[str(n) for n in range(5)], ["a", "b"]], names=["segment", "system"])
    score = [50.0, 60.0] * 5  # b is better, until a's without suggestions count as 100
    llm = pd.Series([-1.0] * 10, index)
    llm.iloc[: 2 * nothing : 2] = 0.0
    scores = pd.DataFrame({"ESAAI-1": score, "LLM": llm}, index)
    errors = pd.DataFrame({"ESAAI-1": [0.0, 1, 2, 0, 0, 0, 0, 0, 0, 0]}, index)
    [made] = esa.filtering(esa.Grids(scores, scores, errors)).to_dict("records")
    assert (made["share"], made["words"], made["mismatched"]) == (10 * nothing, words, int(nothing > 0))
    assert nothing == 0 or made["agreed"] == pytest.approx(200 / 3)


def test_grids_leave_out_degraded_copies_and_other_languages_and_count_marks_that_cost_nothing():
    item = {"src_lang": "eng", "tgt_lang": "deu", "system": "a", "doc": "d", "segment": "1"}
    own = item | {"protocol": "ESA-1", "annotator": "p", "hit": "h"}
    judged = read("item_type score errors\nsystem 70.0 2.0\ndegraded 5.0 9.0", **own)
    marked = read("item_type severity\nsystem major\nsystem undecided\ndegraded major", **own)
    released = pd.DataFrame([item | {"protocol": "LLM", "score": -1.0}])
    human = pd.DataFrame([item | {"metric": "mqm", "score": 0.0}])
    wmt_marked = pd.DataFrame([item | {"weight": 0.0}, item | {"tgt_lang": "eng", "weight": 1.0}])
    made = esa.grids(judged, marked, released, human, wmt_marked)
    assert made.scores.loc[("a", "d", "1")].to_dict() == {"ESA-1": 70.0, "LLM": -1.0, "WMT-MQM": 0.0}
    assert made.weighed.loc[("a", "d", "1"), "ESA-1"] == -5.0
    assert made.errors.loc[("a", "d", "1")].to_dict() == {"ESA-1": 2.0, "WMT-MQM": 1}


def test_on_simulated_data_nothing_is_compared():
    nothing = pd.DataFrame()
    nothing.attrs["source"] = {"name": "wmt23", "source": "simulated", "origin": "a test", "digest": "none"}
    assert esa.compare(*[nothing] * 4, wmt_marked=nothing)["computed"].isna().all()
