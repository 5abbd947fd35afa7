"""The functions that `import evalkit as ek` offers, beside independent computations; and that items are segments of documents."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pingouin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

import evalkit as ek
from evalkit import DataError
from evalkit.human import components, mqm
from evalkit.human.normalization import normalize
from evalkit.human.protocols import agreement as of_protocols
from evalkit.human.protocols import counts, effort, rankings
from evalkit.human.ranking import lines, rules, scores
from evalkit.human.ranking.trials import grid
from evalkit.metrics import correlation
from evalkit.stats import agreement
from tests.makers import ratings


@pytest.fixture(scope="module")
def judged() -> pd.DataFrame:
    """Judgements of three systems by four annotators on 30 segments each, all of all."""
    sizes = {"systems": "ABC", "documents": 1, "length": 30, "people": "wxyz", "gap": [10.0, 2.0, 0.0]}
    table = ratings(2, **sizes, spread={"segment": 0.0, "item": 8.0}, step=1)
    return pd.DataFrame({name: table[name].to_numpy() for name in ("system", "segment", "annotator", "score")})


def test_the_face_is_small_documented_and_loads_nothing_at_first() -> None:
    offered = [name for name in dir(ek) if not name.startswith("_")]
    assert 25 <= len(offered) <= 40
    assert all(getattr(ek, name).__doc__.strip() for name in offered)
    with pytest.raises(AttributeError, match="no attribute 'ranke'"):
        ek.ranke  # noqa: B018
    loaded = "import sys, evalkit; print(sum(name in sys.modules for name in ('numpy', 'pandas', 'scipy')))"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout == "0\n"


@pytest.mark.parametrize(
    ("function", "table", "words"),
    [
        (ek.rank, "scores.csv", "is a str, no pandas table"),
        (ek.rank, {"mark": [1]}, "system, segment, score"),
        (ek.normalize, {"system": ["A"], "score": [1]}, "segment, annotator"),
        (ek.context_effect, {"system": ["A"], "segment": [1], "score": [1]}, "hit, copy, position"),
        (ek.strengths, {"system_a": ["A"]}, "system_b, segment, annotator, preference"),
        (ek.rank, {"system": ["A"], "segment": [1], "score": ["good"]}, "'good' is not a number"),
        (ek.rank, {"system": "A", "segment": [1, 2], "score": 1, "criterion": ["flow", "sense"]}, "flow, sense"),
    ],
)
def test_what_a_table_lacks_is_told_at_once(function, table, words) -> None:
    with pytest.raises(ek.DataError, match=words):
        function(pd.DataFrame(table) if isinstance(table, dict) else table)


def test_agreement_is_that_of_statsmodels_for_arrays_frames_and_judgements() -> None:
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 5, 40)
    answers = np.where(rng.random((40, 3)) < 0.7, truth[:, None], rng.integers(1, 5, (40, 3)))
    counts = np.stack([(answers == k).sum(axis=1) for k in range(1, 5)], axis=1)
    measure = [("fleiss_kappa", "none")]
    long = pd.DataFrame(answers, columns=list("abc")).rename_axis("segment").reset_index()
    long = long.melt("segment", var_name="annotator", value_name="score").assign(system="A")
    for table in (answers, pd.DataFrame(answers), long):
        found = ek.agreement(table, measures=measure, resamples=0)
        assert found["estimate"].tolist() == pytest.approx([fleiss_kappa(counts)], abs=1e-12)
    pairs = pd.concat([long.assign(src_lang="eng", tgt_lang=target) for target in ("deu", "jpn")])
    assert ek.agreement(pairs, measures=measure, resamples=0)["pair"].tolist() == ["eng-deu", "eng-jpn"]


def test_reliability_is_that_of_pingouin(judged) -> None:
    items = judged.assign(item=judged["system"] + judged["segment"].astype(str))
    theirs = pingouin.intraclass_corr(items, targets="item", raters="annotator", ratings="score").set_index("Type")
    column = next(name for name in theirs.columns if name.startswith("ICC"))
    found = ek.reliability(judged).iloc[0]
    values = theirs[column].to_numpy(float)
    assert np.abs(values - found["agreement"]).min() < 1e-9
    assert np.abs(values - found["consistency"]).min() < 1e-9


def test_rank_and_compare_agree_with_means_and_know_when_nothing_can_be_said(judged) -> None:
    ranked = ek.rank(judged)
    means = judged.groupby("system")["score"].mean()
    assert ranked["system"].tolist() == ["A", "B", "C"]
    np.testing.assert_allclose(ranked["mean"], means[ranked["system"]])
    assert ((ranked["low"] < ranked["mean"]) & (ranked["mean"] < ranked["high"])).all()
    assert "annotators" in ranked.attrs["unit"]
    tests = ek.compare_systems(judged)
    assert tests[tests["significant"]][["better", "worse"]].to_numpy().tolist() == [["A", "B"], ["A", "C"]]
    nested = judged[judged["annotator"].eq(judged["system"].map(dict(zip("ABC", "wxy"))))]
    with pytest.raises(ek.DataError, match="how strict they are"):
        ek.rank(nested)
    pairs = pd.concat([judged.assign(src_lang="en", tgt_lang=to) for to in ("de", "fr")])[1:]
    with pytest.warns(UserWarning, match="en-fr is ranked, the most judged of 2 language pairs"):
        assert ek.rank(pairs).equals(ranked)


def test_a_pilot_gives_a_plan_as_its_variances_do(judged) -> None:
    pilot = judged.assign(doc=judged["segment"].astype(int) // 5)
    found = ek.plan(pilot, delta=4)
    assert found["power"].ge(0.8).all()
    assert found["cost"].is_monotonic_increasing


def test_the_lines_of_the_readme_run_on_an_imported_file(judged, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    judged.assign(src_lang="eng", tgt_lang="deu").to_csv("judged.csv", index=False)
    ek.import_campaign(["judged.csv"], "campaign.parquet")
    [block] = re.findall(r"^```python\n(.*?)^```", (ek.ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    with pd.option_context("display.max_columns", None):
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("rank_low", "adjusted_p", "krippendorff_alpha", "flagged"))


# An item is a segment of a document: results stay, whether segments are numbered through or in each document.


def campaign(seed):
    """Draw documents of several lengths; ``number`` counts segments through, ``segment`` in its document."""
    rng = np.random.default_rng(seed)
    sizes = {"systems": "ABC", "documents": 6, "length": rng.integers(2, 6, 6), "people": "pqrs"}
    spread = {"text": 8.0, "annotator": 0.0, "residual": 4.0}
    frame = ratings(rng, **sizes, each=2, dealt="item", gap=2, level=70, spread=spread, step=1, hit="h")
    number = frame["segment"].astype(int)
    place = number - number.groupby(frame["doc"]).transform("min")
    frame = frame.assign(number=frame["segment"], segment=place.map("{:03}".format), metric=rng.normal(size=len(frame)))
    score = frame["score"]
    return frame.assign(z=(score - 70) / 10, own_score=score.round(-1), normalized=score)


def protocols(judged):
    """Make two protocols of a campaign, one judgement an item each."""
    first = judged.drop_duplicates(["system", "doc", "segment"])
    last = judged.drop_duplicates(["system", "doc", "segment"], keep="last")
    return pd.concat([first.assign(protocol="ESA-1"), last.assign(protocol="MQM-1")], ignore_index=True)


def moved(judged):
    return lines.resampled({"raw": judged, "z": judged.assign(score=judged["z"])}, resamples=20)


#: A rule of each test and kind of scores.
RULES = {(rule.test, rule.by): name for name, rule in reversed(rules.RULES.items())}.values()
FUNCTIONS = {
    "system_scores": scores.system_scores,
    "clusters, matched": lambda r: lines.significance_clusters(r, test="wilcoxon"),
    "pairwise": lambda r: lines.pairwise_tests(r, test="permutation", resamples=99),
    "pairwise over units": lambda r: lines.pairwise_tests(r, test="t", unit=("annotator", "segment")),
    "ranges": lambda r: lines.rank_ranges(r, resamples=20),
    "ranges over people": lambda r: lines.rank_ranges(r, unit="annotator", resamples=20),
    "shifts": lambda r: lines.rank_shifts(moved(r)),
    "rankings": lambda r: lines.rankings(moved(r)),
    **{f"rule {name}": lambda r, name=name: ek.cluster_lines(r, rule=name, resamples=20) for name in RULES},
    "grid of rules": lambda r: pd.DataFrame(grid("d", r).raw),
    "formula against own": lambda r: mqm.formula_against_own(r, resamples=0),
    "raters": lambda r: agreement.correlations(r)[["value"]],
    "normalised": lambda r: normalize(r)[["normalized"]],
    "components": lambda r: components.estimate(r, layout="campaign"),
    "metric of segments": lambda r: correlation.segments(r, gold="score", metrics=["metric"]),
    "protocols between": lambda r: of_protocols.between(protocols(r), resamples=20),
    "protocols counted": lambda r: counts(protocols(r)),
    "protocols drawn": lambda r: pd.DataFrame(rankings.draw_scores(protocols(r), resamples=20).scores),
    "same segments": lambda r: rankings.same_segments(protocols(r))[["protocol", "system", "doc", "score"]],
    "words": lambda r: effort.add_words(r, r.assign(source=r["doc"] + " " + "x " * 2))[["words"]],
}


def compare(call, one, other):
    """Run on two tables; they give the same, or are refused alike."""
    found = []
    for judged in (one, other):
        try:
            found.append(call(judged))
        except (DataError, ValueError) as refused:
            found.append(pd.DataFrame({"refused": [str(refused)]}))
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in found), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=3)
@given(st.integers(0, 10**6))
def test_results_do_not_depend_on_how_segments_are_numbered(name, seed):
    within = campaign(seed)
    compare(FUNCTIONS[name], within.assign(segment=within["number"]), within)


@pytest.mark.parametrize("name", ["system_scores", "clusters, matched", "pairwise", "ranges", "rule wmt26"])
def test_documents_that_are_named_anew_for_each_system_or_missing_leave_segments_shared(name):
    judged = campaign(5).drop(columns="segment").rename(columns={"number": "segment"})
    anew = judged.assign(doc=judged["doc"] + judged["system"])
    compare(FUNCTIONS[name], judged, anew)
    if name != "rule wmt26":
        compare(FUNCTIONS[name], judged, judged.drop(columns="doc"))
