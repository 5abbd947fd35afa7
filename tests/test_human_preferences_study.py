"""The study of preferences: side by side against one by one, marks and choices, what a comparison is worth."""

import numpy as np
import pandas as pd
import pytest
from makers import laid_out

from evalkit import DataError
from evalkit.data import compared, together
from evalkit.human.preferences import beside, drawable, marked, study, worth

SCREENS = pd.DataFrame({"system": ["A", "B"], "against": ["B", "A"]})


def judged(rows, **others):
    """(segment, system, score, errors) of one person."""
    return laid_out(rows, "segment system score errors", **others)


def test_pairs_are_those_of_the_screens():
    found = beside.pairs(judged([("1", "A", -1.0, 1), ("1", "B", -5.0, 1), ("1", "C", 0.0, 0)]), SCREENS)
    assert found[["pair", "a", "b", "errors"]].to_numpy().tolist() == [["A | B", -1.0, -5.0, 2]]
    shown = [("1", "A", -1.0, 1, "B"), ("1", "B", -5.0, 1, "A"), ("1", "A", -9.0, 1, "C")]
    both = laid_out(shown, "segment system score errors against")
    assert beside.pairs(both, SCREENS)[["a", "b"]].to_numpy().tolist() == [[-1.0, -5.0]]


def test_a_mark_is_found_again_where_the_same_words_are_marked_in_the_other_text():
    texts = {("A", "d", "1"): "der rote Hund bellt", ("B", "d", "1"): "ein rote Hund bellt laut"}
    marks = [("A", 4.0, 8.0), ("A", 9.0, 13.0), ("A", 0.0, 3.0), ("B", 4.0, 13.0)]
    spans = pd.DataFrame(marks, columns=["system", "start", "end"])
    spans = spans.assign(doc="d", segment="1", annotator="p0", side="target")
    judgements = judged([("1", "A", -1.0, 3), ("1", "B", -1.0, 1)])
    found = beside.found_again(spans, texts, judgements, SCREENS)
    assert found[["system", "again", "same"]].to_numpy().tolist() == [[system, 1.0, True] for system in "AAB"]
    none = beside.found_again(spans[spans["system"].eq("A")], texts, judgements, SCREENS)
    assert none["again"].tolist() == [0.0, 0.0], "'der' does not stand in the other text"


def test_measures_side_by_side_are_those_of_a_plain_recount(real):
    side, spans = real("wmt23-side-by-side"), real("wmt23-side-by-side-spans")
    single, single_spans, outputs = real("wmt23-mqm"), real("wmt23-mqm-spans"), real("wmt23-outputs")
    found = study.changed(side, spans, single, single_spans, outputs, resamples=20, seed=1).set_index("measure")
    comparisons = together.comparisons(side)
    gap = comparisons["score_a"] - comparisons["score_b"]
    assert found.at["pairs with equal scores, %", "side_by_side"] == pytest.approx(
        100 * comparisons["preference"].eq("tie").mean()
    )
    assert found.at["distance of the two scores", "side_by_side"] == pytest.approx(gap.abs().mean())
    means = gap.groupby([comparisons["system_a"], comparisons["system_b"]]).mean().abs().mean()
    assert found.at["distance of systems' means", "side_by_side"] == pytest.approx(means)
    assert found.at["penalty of a translation", "side_by_side"] == pytest.approx(-side["score"].mean())
    assert found.at["errors marked in a translation", "side_by_side"] == pytest.approx(len(spans) / len(side))
    score = single[single["tgt_lang"].eq("deu")].set_index(["system", "segment"])["score"]
    here = comparisons.drop_duplicates(["system_a", "system_b", "segment"])
    one, other = (np.array([score[key] for key in zip(here[f"system_{side}"], here["segment"])]) for side in "ab")
    assert found.at["distance of the two scores", "pointwise"] == pytest.approx(np.abs(one - other).mean())
    assert found.at["penalty of a translation", "pointwise"] == pytest.approx(-(one + other).mean() / 2)


def test_choices_follow_marks_as_often_as_a_count_says(real):
    found = marked.follow(real("literary-preferences"), resamples=50).set_index("choices")
    table = real("literary-preferences")
    told = table[table["marks_a"].ne(table["marks_b"])]
    fewer = np.where(told["marks_a"] < told["marks_b"], "a", "b")
    assert found.at["all", "share"] == pytest.approx((fewer == told["preference"]).mean())
    assert (found.at["all", "n"], found.at["all", "equal"]) == (len(told), len(table) - len(told))
    kinds = marked.labels(table, real("literary-marks"), resamples=50).set_index("label")
    assert kinds.at["mistranslation", "marks"] == 3306


def test_simpler_rules_stand_beside_each_strength(real):
    tables = {"literary": real("literary-preferences")}
    strengths, _ = study.ranked(tables, ties="half", resamples=20, seed=7)
    found = study.simpler(tables, strengths, seed=7).set_index("system")
    table = tables["literary"]
    won = table["system_a"].where(table["preference"].eq("a"), table["system_b"]).eq("para")
    assert found.at["para", "average"] == pytest.approx(won.mean())  # it met each of three others as often
    assert found["points"].mean() == pytest.approx(1000)
    assert found["spread"].gt(0).all()


def test_few_people_are_not_drawn(real):
    assert drawable(together.comparisons(real("wmt23-side-by-side"))) == ("annotators", "documents")
    assert drawable(real("literary-preferences")) == ("documents",)


def scores(rng, noise, size=400):
    """Three systems .3 apart, a segment a document, with noise of some shape."""
    drawn = noise(rng, (size, 3)) + np.array([0.0, 0.3, 0.6])
    return laid_out(drawn.T, "system segment", documents=range(size))


def test_a_comparison_is_worth_what_pitman_says():
    """Of normal differences 2/pi = .64 of a mean, of differences with heavy tails more than a mean."""
    rng = np.random.default_rng(4)
    normal = worth.efficiency(scores(rng, lambda rng, shape: rng.normal(0, 1, shape), 3000))
    assert normal.efficiency == pytest.approx(2 / np.pi, abs=0.1)
    heavy = worth.efficiency(scores(rng, lambda rng, shape: rng.standard_t(1.5, shape), 3000))
    assert heavy.efficiency > 1
    assert (normal.systems, normal.comparisons, normal.agree) == (3, 9000, 1)


def test_where_nothing_differs_nothing_is_told():
    rng = np.random.default_rng(0)
    flat = scores(rng, lambda rng, shape: rng.normal(0, 1, shape), 60).assign(score=rng.normal(0, 1, 180))
    with pytest.raises(DataError, match="differ by more than chance"):
        worth.efficiency(flat)
    told = study.worths({"flat": flat})
    assert np.isnan(told["efficiency"][0])
    assert "chance" in told["why"][0]


def test_z_of_documents_is_that_of_means_where_each_has_one_segment():
    own = scores(np.random.default_rng(1), lambda rng, shape: rng.normal(0, 1, shape), 50)
    table = worth.statistics(compared.of_scores(own))
    wide = own.pivot(index="segment", columns="system", values="score")
    gap = wide["S0"] - wide["S1"]
    assert table["scores"][0] == pytest.approx(gap.mean() / (gap.std(ddof=1) / np.sqrt(50)))
