"""Printed claims find their computed counterparts, or say which one does not."""

import re

import pandas as pd
import pytest

from evalkit import DataError, claims, data

USAGE = pd.DataFrame({"annotator": ["a", "b", "c"], "unique": [5, 40, 47], "mean": [85.0, 70.5, 61.0]})


def look_up(data=USAGE, **claim):
    row = dict.fromkeys(("printed", "where", "column"), "") | {"paper": "P", "item": "1", "cell": "c", "remark": "r"}
    row |= {"table": "usage", "how": "only"} | claim
    return claims.look_up(pd.DataFrame([row]), {"usage": USAGE}, data=data)["computed"].iloc[0]


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
    simulated = USAGE.copy()
    simulated.attrs["source"] = {"source": "simulated"}
    assert look_up(data=simulated, where="annotator=z", column="mean") is None


def test_every_printed_claim_stands_in_the_papers_own_words(paper):
    text = " ".join(paper("001").split())
    spoken = {"all", "none"}  # answers to a question that the sentence settles in other words
    for claim in data.published("knowles2024_prose").to_dict("records"):
        quote = " ".join(claim["quote"].split())
        assert quote in text, quote
        if claim["printed"] in spoken or (claim["printed"] == "most" and "tended to" in quote):
            continue
        for word in claim["printed"].lower().lstrip("<").split():
            assert re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", quote.lower()), (word, quote)
