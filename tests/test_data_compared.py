"""Comparisons: their rules, what judgements say as comparisons, and the four data sets that hold some."""

import json
import tarfile
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError
from evalkit.data import compared
from evalkit.data.schemas import PREFERENCES

PAIRS = ["system_a", "system_b", "preference"]
COMMON = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1", "annotator": "p"}


def comparison(a="A", b="B", preference="a", **others):
    return COMMON | {"system_a": a, "system_b": b, "preference": preference} | others


def rated(scores, **others):
    """One person's scores of one segment: system -> score."""
    common = COMMON | {"item_type": "system"} | others
    return pd.DataFrame([common | {"system": name, "score": float(score)} for name, score in scores.items()])


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([comparison(preference="better")], "line 2, column preference: 'better'"),
        ([comparison(first="left")], "line 2, column first: 'left'"),
        ([comparison(b="A")], "line 2: .*with itself"),
        ([comparison(), comparison()], "line 3, .*the same as line 2"),
        ([comparison(), comparison("B", "A")], "line 3: .*the other way round"),
        ([comparison(score_a=1, score_b=2)], "line 2: .*the lower score"),
        ([comparison(preference="b", score_a=3, score_b=2)], "line 2: .*the lower score"),
        ([comparison() | {"annotator": ""}], "line 2, column annotator: is empty"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_its_line(rows, told):
    with pytest.raises(DataError, match=f"my.csv, {told}"):
        compared.check(pd.DataFrame(rows), origin="my.csv")


def test_a_second_showing_has_a_screen_of_its_own_and_equal_scores_may_have_a_preference():
    rows = [comparison(screen="1"), comparison("B", "A", screen="2", score_a=2, score_b=2), comparison(screen="3")]
    assert len(compared.check(pd.DataFrame(rows), origin="my.csv")) == 3


def test_scores_further_apart_than_a_tie_prefer_the_higher_one():
    found = compared.of_scores(rated({"A": 70, "B": 75, "C": 76}), tie=5)
    assert found[PAIRS].to_numpy().tolist() == [[*"AB", "tie"], [*"AC", "b"], [*"BC", "tie"]]
    assert set(found["first"]) == {"unknown"}


def test_sums_that_differ_by_rounding_alone_tie():
    found = compared.of_scores(rated({"A": -(0.1 + 0.2), "B": -0.3}))
    assert found["preference"].tolist() == ["tie"]


def test_only_what_one_person_judged_on_one_screen_of_one_question_is_compared():
    first, second = rated({"A": 1, "B": 2}, hit="1"), rated({"C": 3}, hit="2")
    whole = pd.concat([first, second, rated({"D": 9, "E": 8}, annotator="q", hit="1")])
    found = compared.of_scores(whole)
    assert [*zip(found["system_a"], found["system_b"])] == [("A", "B"), ("D", "E")]
    assert found.attrs["alone"] == 1
    assert len(compared.of_scores(whole, together=())) == 3 + 1


def test_repeats_and_degraded_items_are_no_comparisons_unless_asked_for():
    others = [rated({"B": 0}, item_type="degraded"), rated({"A": 3}, item_type="repeat")]
    assert len(compared.of_scores(pd.concat([rated({"A": 1, "B": 2}), *others]))) == 1
    with pytest.raises(DataError, match="No two translations of one segment were judged by one person"):
        compared.of_scores(rated({"A": 1}))


SCORED = st.tuples(st.sampled_from("pqr"), st.sampled_from("123"), st.sampled_from("ABCDE"), st.integers(0, 5))
CHOSEN = st.tuples(
    st.sampled_from("pq"),
    st.sampled_from("12"),
    st.sampled_from(["AB", "AC", "BC", "CB"]),
    st.sampled_from(PREFERENCES),
)
KEY = ["annotator", "segment", *PAIRS]


@given(st.lists(SCORED, min_size=1, max_size=40, unique_by=lambda row: row[:3]), st.integers(0, 2))
def test_pairs_are_those_that_two_loops_find(rows, tie):
    table = pd.concat(rated({name: score}, annotator=who, segment=where) for who, where, name, score in rows)
    expected = set()
    for one, two in combinations(rows, 2):
        if one[:2] == two[:2]:
            lead = one[3] - two[3]
            expected.add((*one[:3], two[2], "tie" if abs(lead) <= tie else "a" if lead > 0 else "b"))
    if not expected:
        with pytest.raises(DataError):
            compared.of_scores(table, tie=tie)
        return
    found = compared.of_scores(table, tie=tie)
    assert len(found) == len(expected)
    assert set(found[KEY].itertuples(index=False, name=None)) == expected


@given(st.lists(CHOSEN, min_size=1, max_size=12, unique_by=lambda row: (row[0], row[1], *sorted(row[2]))))
def test_comparisons_become_judgements_and_the_same_comparisons_again(rows):
    table = pd.DataFrame(comparison(*pair, answer, annotator=who, segment=where) for who, where, pair, answer in rows)
    judged = compared.as_judgements(table)
    assert judged.groupby("hit")["score"].sum().eq(1).all()
    again = compared.of_scores(judged)
    assert again[KEY].to_numpy().tolist() == table[KEY].to_numpy().tolist()


def test_literary_preferences_are_those_of_the_plain_json(real, mirrored):
    path = mirrored("marzenakrp/LiteraryTranslation/*/annotations/default_format_v1/all_annotations_v1.json")
    records = json.loads(path.read_text(encoding="utf-8"))
    found = real("literary-preferences")
    won = Counter(record[record["choice"] + "_tag"] for record in records)
    assert Counter(np.where(found["preference"].eq("a"), found["system_a"], found["system_b"])) == won
    assert found["hypothesis_a"].tolist() == [record["text1"] for record in records]
    assert found["close"].sum() == sum(record["difficult_choice"].startswith("YES") for record in records) == 213


def raw_screens(mirrored):
    with tarfile.open(mirrored("google/wmt-mqm-human-evaluation/*/generalMT2023/ende/sxs_*.tar.gz")) as archive:
        lines = archive.extractfile(archive.getmembers()[0]).read().decode("utf-8").split("\n")
    rows = [line.split("\t") for line in lines[1:] if line]
    return pd.DataFrame([row[:10] for row in rows], columns=lines[0].split("\t")[:10])


def test_side_by_side_finds_the_pairs_that_neighbouring_clicks_show(real, mirrored):
    """A rater's rows in the order of their clocks: what follows each other on a segment stood on one screen."""
    raw = raw_screens(mirrored)
    raw["clock"] = raw["metadata"].map(lambda cell: json.loads(cell)["timestamp"])
    raw["side"] = raw["metadata"].map(lambda cell: json.loads(cell).get("side"))
    raw = raw.sort_values(["rater", "clock"], kind="stable")
    near = raw[["rater", "globalSegId"]].eq(raw[["rater", "globalSegId"]].shift()).all(axis=1)
    near &= raw["system"].ne(raw["system"].shift())
    met = pd.crosstab(raw["system"], raw["system"].shift()[near])
    usual = {name: met.loc[name].idxmax().partition("_with_")[0] for name in met.index}
    ratings = real("wmt23-side-by-side")
    told = ratings[["system", "against"]].drop_duplicates()
    named = {f"GPT4-5shot_with_{b}" if a == "GPT4-5shot" else a: b for a, b in told.itertuples(index=False)}
    assert named == usual
    left = raw[raw["side"].isin([1, 2])].groupby("system")["side"].agg(lambda sides: sides.mean())
    assert set(left) == {1.0, 2.0}, "no system ever changed its side"
    name = ratings["system"].where(ratings["system"].ne("GPT4-5shot"), "GPT4-5shot_with_" + ratings["against"])
    place = ratings["position"].map({"left": 1.0, "right": 2.0})
    assert place.groupby(name).first().to_dict() == left.to_dict()


def test_side_by_side_comparisons_are_those_of_a_plain_recount(real):
    ratings = real("wmt23-side-by-side")
    found = compared.of_screens(ratings)
    assert len(found) == 1560
    assert found.attrs["alone"] == 0
    score = {(r.system, r.against, r.segment, r.annotator): round(r.score, 6) for r in ratings.itertuples()}
    for row in found.itertuples():
        own = score[row.system_a, row.system_b, row.segment, row.annotator]
        other = score[row.system_b, row.system_a, row.segment, row.annotator]
        assert row.preference == ("tie" if own == other else "a" if own > other else "b")
    assert set(found["first"]) == {"a"}
    met = "GPT4-5shot refA, NLLB_MBR_BLEU Lan-BridgeMT, ONLINE-M ONLINE-G, ONLINE-W GPT4-5shot, ONLINE-Y ONLINE-A"
    assert set(found["system_a"] + " " + found["system_b"]) == set(met.split(", "))


@pytest.mark.parametrize(
    ("criterion", "unit", "printed"),
    [
        ("adequacy", "document", (37, 11, 52)),
        ("fluency", "document", (22, 29, 50)),
        ("adequacy", "sentence", (50, 9, 41)),
        ("fluency", "sentence", (32, 17, 51)),
    ],
)
def test_real_preferences_are_those_that_the_paper_prints(real, criterion, unit, printed):
    ratings = real("laeubli-parity")
    own = ratings[ratings["system"].eq("mt") & ratings["criterion"].eq(criterion) & ratings["unit"].eq(unit)]
    shares = own["choice"].value_counts(normalize=True)[["mt", "tie", "human"]]
    assert tuple((100 * shares + 1e-9).round().astype(int)) == printed
