"""Printed claims find their computed counterparts, or say which one does not."""

import re

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.papers import claims


def from_source(frame, source="real", name="d"):
    """Say of a table where it comes from."""
    frame.attrs["source"] = {"name": name, "source": source, "origin": "P, a place", "digest": "git:0"}
    return frame


USAGE = pd.DataFrame({"annotator": ["a", "b", "c"], "unique": [5, 40, 47], "mean": [85.0, 70.5, 61.0]})
from_source(USAGE)


def look_up(data=USAGE, **claim):
    row = dict.fromkeys(("printed", "where", "column"), "") | {"paper": "P", "item": "1", "cell": "c", "remark": "r"}
    row |= {"table": "usage", "how": "only", "basis": "recomputed from data", "lacking": "labels"} | claim
    return claims.look_up(from_source(pd.DataFrame([row])), {"usage": USAGE}, data=data)["computed"].iloc[0]


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ({"where": "annotator=b", "column": "mean"}, 70.5),
        ({"where": "annotator!=a; mean<70", "column": "annotator"}, "c"),
        ({"column": "unique", "how": "min"}, 5),
        ({"column": "unique", "how": "max"}, 47),
        ({"column": "mean", "how": "median"}, 70.5),
        ({"where": "unique>=40", "column": "unique", "how": "sum"}, 87),
        ({"where": "unique>5", "how": "count"}, 2),
        ({"where": "unique>99", "how": "count"}, 0),
        ({"column": "annotator", "how": "distinct"}, 3),
        ({"column": "unique>=40", "how": "most"}, "most"),
        ({"column": "unique<40", "how": "most"}, "not most"),
        ({"column": "mean>60", "how": "all"}, "all"),
        ({"column": "mean>61", "how": "all"}, "not all"),
        ({"column": "unique<40", "how": "some"}, "some"),
        ({"column": "unique<5", "how": "some"}, "not some"),
        ({"table": ""}, None),
    ],
)
def test_a_claim_finds_its_value(claim, value):
    assert look_up(**claim) == value


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"table": "usages"}, "no table is called 'usages'; there are usage"),
        ({"column": "median"}, "no column is called 'median'; there are annotator, unique, mean"),
        ({"where": "annotator=z", "column": "mean"}, "no row of usage has annotator=z"),
        ({"where": "unique>5", "column": "mean"}, "2 rows of usage"),
        ({"column": "mean", "how": "average"}, "how='average' is not known"),
        ({"where": "annotator~a", "column": "mean"}, "'annotator~a' is no condition"),
        ({"where": "mean>high", "column": "mean"}, "could not convert string to float"),
    ],
)
def test_a_claim_that_leads_nowhere_is_named(claim, message):
    with pytest.raises(DataError, match=f"Claim 1, c: {message}"):
        look_up(**claim)


def test_on_simulated_data_nothing_is_looked_up():
    assert look_up(data=from_source(USAGE.copy(), "simulated"), where="annotator=z", column="mean") is None


@pytest.mark.parametrize("lost", ["data", "claims"])
def test_without_provenance_nothing_is_compared_with_print(lost):
    """Two loaded tables stacked say no longer that one of them was simulated."""
    stacked = pd.concat([USAGE, from_source(USAGE.copy(), "simulated")])
    claim = {"paper": "P", "item": "1", "cell": "c", "printed": "85", "table": "usage", "where": "annotator=a",
             "column": "mean", "how": "only", "remark": "", "basis": "definition", "lacking": ""}  # fmt: skip
    listed = from_source(pd.DataFrame([claim]))
    bare = pd.DataFrame([claim])
    with pytest.raises(DataError, match="does not say where it comes from"):
        claims.look_up(
            bare if lost == "claims" else listed, {"usage": USAGE}, data=stacked if lost == "data" else USAGE
        )


PRINTED = from_source(pd.DataFrame({"pair": list("abc"), "tau": ["0.10", "0.20", "0.30"], "r": list("123")}), name="t")


def test_a_printed_table_is_laid_beside_a_computed_one():
    ours = pd.DataFrame({"pair": ["c", "a"], "x": [0.3, np.nan], "y": [3, 1]})
    made = claims.compare_with_print(PRINTED, ours, item="T", on=["pair"], values={"tau": "x", "r": "y"}, note="n",
                                     basis="definition", absent="gone", lacking="labels")  # fmt: skip
    assert list(made) == claims.COLUMNS
    assert made["cell"].tolist() == ["a, tau", "b, tau", "c, tau", "a, r", "b, r", "c, r"]
    assert made["computed"].tolist() == [None, None, 0.3, 1, None, 3]
    assert made["note"].tolist() == ["gone", "gone", "n", "n", "gone", "n"]
    assert made["lacking"].tolist() == ["labels", "labels", "", "", "labels", ""]
    assert made["place"].tolist() == [f"t:{line}:{column}" for column in ("tau", "r") for line in (2, 3, 4)]


def test_rows_chosen_from_a_printed_table_keep_their_places_and_notes_of_their_own_go_first():
    ours = pd.DataFrame({"pair": ["c"], "x": [0.3], "note": ["its own"]})
    made = claims.compare_with_print(PRINTED[PRINTED["pair"] == "c"], ours, item="T", on=["pair"], values={"tau": "x"},
                                     basis="definition", note={("c",): "by name", (): "all"})  # fmt: skip
    assert made[["note", "place", "paper"]].to_numpy().tolist() == [["its own", "t:4:tau", "P"]]
    by_name = claims.compare_with_print(PRINTED, ours.drop(columns="note"), item="T", on=["pair"], values={"tau": "x"},
                                        basis="definition", note={("c",): "by name", (): "all"})  # fmt: skip
    assert by_name["note"].tolist() == ["all", "all", "by name"]


def test_a_name_that_several_computed_rows_bear_is_refused():
    ours = pd.DataFrame({"pair": ["a", "a"], "x": [0.3, 0.4]})
    with pytest.raises(DataError, match="T: several computed rows are called a"):
        claims.compare_with_print(PRINTED, ours, item="T", on=["pair"], values={"tau": "x"}, basis="definition")


def test_every_printed_claim_stands_in_the_papers_own_words(paper):
    text = " ".join(paper("001").split())
    for claim in data.published("knowles2024_prose").to_dict("records"):
        quote = " ".join(claim["quote"].split())
        assert quote in text, quote
        if claim["how"] in ("all", "most", "some") or claim["printed"] == "none":  # answers in other words
            continue
        for word in claim["printed"].lower().lstrip("<").split():
            assert re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", quote.lower()), (word, quote)
