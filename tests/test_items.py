"""An item is a segment of a document: results stay, whether segments are numbered through or in each document."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.human import components, mqm, ranking
from evalkit.human.normalization import normalize
from evalkit.human.protocols import agreement as of_protocols
from evalkit.human.protocols import counts, effort, rankings
from evalkit.human.ranking.trials import grid
from evalkit.metrics import correlation
from evalkit.stats import agreement
from tests.makers import ratings


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
    return ranking.resampled({"raw": judged, "z": judged.assign(score=judged["z"])}, resamples=20)


FUNCTIONS = {
    "system_scores": ranking.system_scores,
    "clusters, matched": lambda r: ranking.significance_clusters(r, test="wilcoxon"),
    "pairwise": lambda r: ranking.pairwise_tests(r, test="permutation", resamples=99),
    "pairwise over units": lambda r: ranking.pairwise_tests(r, test="t", unit=("annotator", "segment")),
    "ranges": lambda r: ranking.rank_ranges(r, resamples=20),
    "ranges over people": lambda r: ranking.rank_ranges(r, unit="annotator", resamples=20),
    "shifts": lambda r: ranking.rank_shifts(moved(r)),
    "rankings": lambda r: ranking.rankings(moved(r)),
    **{
        f"rule {name}": lambda r, name=name: ranking.rule_clusters(r, rule=name, resamples=20) for name in ranking.RULES
    },
    "grid of rules": lambda r: pd.DataFrame(grid("d", r).raw),
    "formula against own": lambda r: mqm.formula_against_own(r, resamples=0),
    "raters": lambda r: agreement.correlations(r)[["value"]],
    "normalised": lambda r: normalize(r)[["normalized"]],
    "components": lambda r: components.estimate(r, layout="campaign"),
    "metric of segments": lambda r: correlation.segments(r, metrics=["metric"], resamples=20),
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
