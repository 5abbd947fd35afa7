"""An item is a segment of a document: results stay, whether segments are numbered through or in each document."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.human import mqm, planning, ranking
from evalkit.human.normalization import normalize
from evalkit.human.protocols import agreement as of_protocols
from evalkit.human.protocols import draws, effort
from evalkit.human.protocols.scores import counts
from evalkit.human.ranking.rule_errors import grid
from evalkit.metrics import correlation
from evalkit.stats import agreement

SYSTEMS, PEOPLE = ["A", "B", "C"], ["p", "q", "r", "s"]


def campaign(seed, *, documents=6, anew=False):
    """Draw documents of several lengths; ``number`` counts segments through, ``segment`` in its document."""
    rng = np.random.default_rng(seed)
    rows, number = [], 0
    for document in range(documents):
        level = rng.normal(0, 8)
        for place in range(int(rng.integers(2, 6))):
            hard = level + rng.normal(0, 5)
            for k, system in enumerate(SYSTEMS):
                for person in rng.choice(PEOPLE, 2, replace=False):
                    rows.append(
                        (
                            f"d{document}{system if anew else ''}",
                            f"{number:03}",
                            f"{place:03}",
                            system,
                            person,
                            float(np.clip(np.round(70 + hard - 2 * k + rng.normal(0, 4)), 0, 100)),
                        )
                    )
            number += 1
    frame = pd.DataFrame(rows, columns=["doc", "number", "segment", "system", "annotator", "score"])
    return frame.assign(
        src_lang="eng",
        tgt_lang="deu",
        item_type="system",
        z=(frame["score"] - 70) / 10,
        own_score=frame["score"].round(-1),
        metric=rng.normal(size=len(frame)),
        normalized=frame["score"],
        hit="h",
    )


def protocols(ratings):
    """Make two protocols of a campaign, one judgement an item each."""
    first = ratings.drop_duplicates(["system", "doc", "segment"])
    last = ratings.drop_duplicates(["system", "doc", "segment"], keep="last")
    return pd.concat([first.assign(protocol="ESA-1"), last.assign(protocol="MQM-1")], ignore_index=True)


def moved(ratings):
    return ranking.resampled({"raw": ratings, "z": ratings}, score={"raw": "score", "z": "z"}, resamples=20)


FUNCTIONS = {
    "system_scores": ranking.system_scores,
    "clusters": ranking.significance_clusters,
    "clusters, matched": lambda r: ranking.significance_clusters(r, test="wilcoxon"),
    "pairwise": lambda r: ranking.pairwise_tests(r, test="permutation", resamples=99),
    "pairwise over units": lambda r: ranking.pairwise_tests(r, test="t", unit=("annotator", "segment")),
    "ranges": lambda r: ranking.rank_ranges(r, resamples=50),
    "ranges over people": lambda r: ranking.rank_ranges(r, unit="annotator", resamples=50),
    "shifts": lambda r: ranking.rank_shifts(moved(r)),
    "rankings": lambda r: ranking.rankings(moved(r)),
    **{
        f"rule {name}": lambda r, name=name: ranking.by_rule.rule_clusters(r, rule=name, resamples=50)
        for name in ranking.RULES
    },
    "grid of rules": lambda r: pd.DataFrame(grid("d", r).raw),
    "formula against own": lambda r: mqm.formula_against_own(r, resamples=0),
    "raters": lambda r: agreement.correlations(r)[["value"]],
    "normalised": lambda r: normalize(r)[["normalized"]],
    "components": lambda r: planning.components(r, layout="campaign"),
    "metric of segments": lambda r: correlation.segments(r, metrics=["metric"], resamples=20),
    "protocols between": lambda r: of_protocols.between(protocols(r), resamples=20),
    "protocols counted": lambda r: counts(protocols(r)),
    "protocols drawn": lambda r: pd.DataFrame(draws.draw_scores(protocols(r), resamples=20).scores),
    "same segments": lambda r: draws.same_segments(protocols(r))[["protocol", "system", "doc", "score"]],
    "words": lambda r: effort.add_words(r, r.assign(source=r["doc"] + " " + "x " * 2))[["words"]],
}


def compare(call, one, other):
    """Run on two tables; they give the same, or are refused alike."""
    found = []
    for ratings in (one, other):
        try:
            found.append(call(ratings))
        except ValueError as refused:  # evalkit's DataError is one
            found.append(pd.DataFrame({"refused": [str(refused)]}))
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in found), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(deadline=None, max_examples=6)
@given(st.integers(0, 10**6))
def test_results_do_not_depend_on_how_segments_are_numbered(name, seed):
    within = campaign(seed)
    compare(FUNCTIONS[name], within.assign(segment=within["number"]), within)


@pytest.mark.parametrize("name", ["system_scores", "clusters", "clusters, matched", "pairwise", "ranges", "rule wmt26"])
def test_documents_that_are_named_anew_for_each_system_or_missing_leave_segments_shared(name):
    ratings = campaign(5).drop(columns="segment").rename(columns={"number": "segment"})
    anew = ratings.assign(doc=ratings["doc"] + ratings["system"])
    compare(FUNCTIONS[name], ratings, anew)
    if name != "rule wmt26":
        compare(FUNCTIONS[name], ratings, ratings.drop(columns="doc"))


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_systems_are_pandas_means_over_segments_of_documents(seed):
    ratings = campaign(seed)
    items = ratings.groupby(["system", "doc", "segment"])["score"].mean().groupby("system")
    found = ranking.significance_clusters(ratings).set_index("system")
    assert found["score"].to_dict() == pytest.approx(items.mean().to_dict())
    assert found["segments"].to_dict() == items.size().to_dict()
