"""Printed claims stand in their papers' words, and find their computed counterparts, or say which one does not."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT, DataError, data
from evalkit.metrics import darr
from evalkit.papers import claims, esa
from evalkit.show import verdicts

STANCHEV = "002"
#: Lists of claims, and the paper that each quotes.
LISTS = {
    "licht2022_prose": "000",
    "knowles2024_prose": "001",
    "knowles2024_context": "001",
    "stanchev2020_claims": STANCHEV,
    "sai2023_prose": "003",
    "sudoh2021_claims": "004",
}


def from_source(frame, source="real", name="d"):
    """Say of a table where it comes from."""
    frame.attrs["source"] = {"name": name, "source": source, "origin": "P, a place", "digest": "git:0"}
    return frame


# What is transcribed


def holds(quote, word):
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\d|\.\d)", quote)


@pytest.mark.parametrize("name", LISTS)
def test_every_claim_is_quoted_from_its_paper_and_holds_the_number_that_is_printed(paper, name):
    text, listed = " ".join(paper(LISTS[name]).split()), data.published(name)
    assert not listed.duplicated(["item", "cell"]).any()
    for claim in listed.to_dict("records"):
        quote = " ".join(claim["quote"].split())
        assert quote in text, quote
        words = claim["printed"].lstrip("<").replace(", ", " ").split() if claim["how"] != "count" else []
        assert all(holds(quote, word) for word in words if re.search(r"\d", word)), (claim["printed"], quote)


@pytest.mark.parametrize("name", esa.LISTS)
def test_numbers_of_esa_stand_in_what_is_quoted_and_say_where_it_was_read(name):
    listed = data.published(name)
    assert not listed.duplicated(["item", "cell"]).any()
    for claim in listed.to_dict("records"):
        poster = f"misc/poster_{name.split('_')[1].upper()}.svg"
        assert re.match(poster if claim["item"].startswith("Poster") else "README.md|https://", claim["source"])
        assert claim["printed"] in ("most", "one") or holds(claim["quote"], claim["printed"]), claim["quote"]


@pytest.mark.parametrize(
    ("table", "title"), [("4a", "(a) No tie"), ("4b", "(b) Soft"), ("4c", "(c) Hard"), ("5", "Table 5:")]
)
def test_matrices_are_transcribed_as_printed(paper, table, title):
    before = paper(STANCHEV).split(title)[0].rstrip().splitlines()
    block = [line.split("\t") for line in before if line.split("\t")[0] in ("Human", "") and line.count("\t") == 4][-3:]
    listed = data.published("stanchev2020_claims").query(f"item == 'Table {table}'")
    assert listed["printed"].tolist() == [cell for row in block for cell in row[2:]]
    assert listed["cell"].tolist() == [f"human {row[1]}, metric {order}" for row in block for order in "<=>"]


# How a claim finds its value

USAGE = from_source(pd.DataFrame({"annotator": list("abc"), "unique": [5, 40, 47], "mean": [85.0, 70.5, 61.0]}))
CLAIM = {
    **{
        "paper": "P",
        "item": "1",
        "cell": "c",
        "remark": "r",
        "printed": "",
        "table": "usage",
        "where": "",
        "column": "",
    },
    **{"how": "only", "basis": "recomputed from data", "lacking": "labels"},
}


def look_up(claim, *, listed=from_source, table=USAGE):
    """Look up one claim, written as table, where, column, how."""
    table_name, where, column, how = (part.strip() for part in claim.split("|"))
    row = CLAIM | {"table": table_name, "where": where, "column": column, "how": how}
    return claims.look_up(listed(pd.DataFrame([row])), {"usage": USAGE}, data=table)["computed"].iloc[0]


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("usage | annotator=b | mean | only", 70.5),
        ("usage | annotator!=a; mean<70 | annotator | only", "c"),
        ("usage | | unique | min", 5),
        ("usage | | unique | max", 47),
        ("usage | | mean | median", 70.5),
        ("usage | unique>=40 | unique | sum", 87),
        ("usage | unique>5 | | count", 2),
        ("usage | unique>99 | | count", 0),
        ("usage | | annotator | distinct", 3),
        ("usage | | unique>=40 | most", "most"),
        ("usage | | unique<40 | most", "not most"),
        ("usage | | mean>60 | all", "all"),
        ("usage | | mean>61 | all", "not all"),
        ("usage | | unique<40 | some", "some"),
        ("usage | | unique<5 | some", "not some"),
        (" | | | only", None),
    ],
)
def test_a_claim_finds_its_value(claim, value):
    assert look_up(claim) == value


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("usages | | | only", "'usages'.* usage"),
        ("usage | | median | only", "'median'.* annotator, unique, mean"),
        ("usage | annotator=z | mean | only", "no row of usage has annotator=z"),
        ("usage | unique>5 | mean | only", "2 rows of usage"),
        ("usage | | mean | average", "how='average'"),
        ("usage | annotator~a | mean | only", "'annotator~a'"),
        ("usage | mean>high | mean | only", "float"),
    ],
)
def test_a_claim_that_leads_nowhere_is_named(claim, words):
    with pytest.raises(DataError, match=f"Claim 1, c: .*{words}"):
        look_up(claim)


def test_on_simulated_data_nothing_is_looked_up():
    assert look_up("usage | annotator=z | mean | only", table=from_source(USAGE.copy(), "simulated")) is None


def test_without_provenance_nothing_is_compared_with_print():
    """Two loaded tables stacked say no longer that one of them was simulated."""
    stacked = pd.concat([USAGE, from_source(USAGE.copy(), "simulated")])
    for lost in ({"listed": pd.DataFrame}, {"table": stacked}):
        with pytest.raises(DataError, match="where it comes from"):
            look_up("usage | annotator=a | mean | only", **lost)


PRINTED = from_source(pd.DataFrame({"pair": list("abc"), "tau": ["0.10", "0.20", "0.30"], "r": list("123")}), name="t")


def test_claims_of_stanchev_match_or_rest_on_archives_that_could_not_be_had():
    printed = data.published("stanchev2020_claims")
    rows = claims.look_up(printed, darr.claim_tables(printed), data=data.published("wmt20_darr"))
    told = Counter((row["verdict"], row.get("lacking")) for row in verdicts.judge(rows))
    assert told == {("match", None): 50, ("not reproducible", "file not here: WMT19's archives"): 35}


# What a paper's file says

PART = {"item": "T", "printed": "t", "on": ["pair"], "values": {"tau": "x"}, "computed": "ours", "basis": "definition"}


@pytest.fixture
def planned(monkeypatch):
    """Compare the printed table above as a specification of the test's own says."""
    monkeypatch.setattr(claims.data, "published", lambda name: PRINTED)

    def compared(ours, part, **lists):
        plan = {"names": {}, "notes": {}, "gaps": {}, "compare": [PART | part]} | lists
        monkeypatch.setattr(claims, "_plan", lambda paper: plan)
        return claims.compare("p", {"ours": pd.DataFrame(ours)})

    return compared


def test_cells_find_their_values_by_names_and_say_why_they_lack_one(planned):
    part = {"spelt": ["pair"], "values": {"tau": "x", "r": "y"}, "note": "n.", "because": "gone.", "lacking": "labels"}
    part |= {"notes": ["files"], "gaps": ["models"], "within": 0.05}
    files = [{"where": "pair=A|c; verdict=differs", "text": "{x:.1f} here."}, {"text": "All."}]
    models = [{"where": "pair=b", "because": "no {pair}", "lacking": "a model"}]
    ours = {"pair": ["c", "A"], "x": [0.25, 0.1], "y": [3, np.nan]}
    made = planned(ours, part, names={"a": "A"}, notes={"files": files}, gaps={"models": models})
    assert made["cell"].tolist() == ["a, tau", "b, tau", "c, tau", "a, r", "b, r", "c, r"]
    assert made["computed"].tolist() == [0.1, None, 0.25, None, None, 3]
    assert made["note"].tolist() == ["All. n.", "no b", "0.2 here. All. n.", "gone.", "no b", "All. n."]
    assert made["lacking"].tolist() == ["", "a model", "", "labels", "a model", ""]
    assert made["high"].tolist() == pytest.approx([0.15, np.nan, 0.3, np.nan, np.nan, 3.05], nan_ok=True)
    assert made["place"].tolist() == [f"t:{line}:{column}" for column in ("tau", "r") for line in (2, 3, 4)]


def test_chosen_rows_keep_their_places_and_names_may_be_numbers(planned, monkeypatch):
    part = {"rows": "pair!=a", "cell": "pair {pair}", "on": ["r"], "bounds": ["x", "y"]}
    made = planned({"r": [3, 2], "x": [0.3, 0.2], "y": [0.4, 0.3]}, part)
    assert made[["cell", "computed", "low", "high", "place"]].to_numpy().tolist() == [
        ["pair b", 0.2, 0.2, 0.3, "t:3:tau"],
        ["pair c", 0.3, 0.3, 0.4, "t:4:tau"],
    ]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"computed": "theirs"}, "T: no table is called 'theirs'; there are ours"),
        ({"values": {"tau": "z"}}, "T: no column is called 'z'"),
        ({"rows": "pairs=a"}, "T: no column is called 'pairs'"),
        ({}, "T: several computed rows are called a"),
    ],
)
def test_a_specification_that_leads_nowhere_is_named(planned, part, words):
    with pytest.raises(DataError, match=words):
        planned({"pair": ["a", "a" if not part else "b"], "x": [1, 2]}, part)


def test_an_unknown_paper_or_item_is_named():
    with pytest.raises(DataError, match=r"'sai'.* sai2023"):
        claims.compare("sai", {})
    with pytest.raises(DataError, match="'Table 11'"):
        claims.compare("sai2023", {}, items="Table 11")


@pytest.mark.parametrize("path", sorted((ROOT / "data" / "published").glob("*.toml")), ids=lambda path: path.stem)
def test_what_a_papers_file_names_is_there(path):
    """Also of parts whose study no test runs."""
    plan = claims._plan(path.stem)
    for part in plan["compare"]:
        printed = claims._chosen(data.published(part["printed"]), part.get("rows", ""))
        assert len(printed), part
        assert {*part["on"], *part["values"], *part.get("spelt", []), *([] if "item" in part else ["item"])} <= {
            *printed
        }
        assert "computed" in part or isinstance(part["values"], list), part
        assert isinstance(part["values"], dict) or part.get("because") or part.get("gaps"), part
        for kind in ("notes", "gaps"):
            assert {*part.get(kind, [])} <= {*plan[kind]}, part
