"""Printed claims stand in their papers' words, and find their computed counterparts, or say which one does not."""

import io
import re
import tarfile

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import wmt19 as files
from evalkit.papers import claims, esa
from evalkit.papers.stanchev2020 import claimed, wmt19
from evalkit.stats import verdicts
from tests.makers import read

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


def beside(ours, printed=PRINTED, **options):
    options = {"item": "T", "on": ["pair"], "values": {"tau": "x"}, "basis": "definition"} | options
    return claims.compare_with_print(printed, pd.DataFrame(ours), **options)


def test_a_printed_table_is_laid_beside_a_computed_one():
    ours = {"pair": ["c", "a"], "x": [0.3, np.nan], "y": [3, 1]}
    made = beside(ours, values={"tau": "x", "r": "y"}, note="n", absent="gone", lacking="labels")
    assert list(made) == claims.COLUMNS
    assert made["cell"].tolist() == ["a, tau", "b, tau", "c, tau", "a, r", "b, r", "c, r"]
    assert made["computed"].tolist() == [None, None, 0.3, 1, None, 3]
    assert made["note"].tolist() == ["gone", "gone", "n", "n", "gone", "n"]
    assert made["lacking"].tolist() == ["labels", "labels", "", "", "labels", ""]
    assert made["place"].tolist() == [f"t:{line}:{column}" for column in ("tau", "r") for line in (2, 3, 4)]


def test_rows_chosen_from_a_printed_table_keep_their_places_and_notes_of_their_own_go_first():
    ours = {"pair": ["c"], "x": [0.3], "note": ["its own"]}
    notes = {("c",): "by name", (): "all"}
    made = beside(ours, PRINTED[PRINTED["pair"] == "c"], note=notes)
    assert made[["note", "place", "paper"]].to_numpy().tolist() == [["its own", "t:4:tau", "P"]]
    assert beside({"pair": ["c"], "x": [0.3]}, note=notes)["note"].tolist() == ["all", "all", "by name"]
    with pytest.raises(DataError, match="T: several computed rows are called a"):
        beside({"pair": ["a", "a"], "x": [0.3, 0.4]})


# What rests on WMT19's files, of which small ones of the documented form are made here: no real number is in them.

RANKS = """LP DATA SID BETTER WORSE
de-en newstest2019 1200 uedin.6749 UCAM.6461
zh-en newstest2019 604 MSRA.MASS.6996.zh-en Baidu-system.6940.zh-en
zh-en newstest2019 604 Baidu-system.6940.zh-en KSAI.6927.zh-en
zh-en newstest2019 605 Baidu-system.6940.zh-en KSAI.6927.zh-en
gu-en newstest2019 1 NEU.6756 UEDIN.6534
"""
SCORES = read("""
    pair system segment score
    zh-en Baidu-system.6940 604 0.5
    zh-en MSRA.MASS.6996 604 0.5
    zh-en KSAI.6927 604 0.75
    zh-en KSAI.6927 605 0.5""")
TEXTS = {
    ("zh-en", "Baidu-system.6940"): "same\na\n",
    ("zh-en", "MSRA.MASS.6996"): "same\nb\n",
    ("zh-en", "KSAI.6927"): "other\na\n",
    ("gu-en", "NEU.6756"): "x\n",
    ("gu-en", "UEDIN.6534"): "y\n",
}
ASSESSED = """SYS SID RAW.SCR Z.SCR N
a.1 1 10 0.1 1
b.2 1 11.5 0.1 1
c.3 1 36.5 0.1 1
d.4 1 90 0.1 1
"""


def archived(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return [path]


@pytest.fixture
def package(tmp_path):
    """Load made archives as a reader's own would be."""
    lines = "".join(
        f"YiSi-1\t{row.pair}\tnewstest2019\t{row.system}\t{row.segment}\t{row.score}\n" for row in SCORES.itertuples()
    )
    scores = {"YiSi-1": lines, "EED": lines.replace("YiSi-1", "EED").replace("\t604\t0.5", "\t604\t0.4", 1)}
    texts = {
        f"d/txt/system-outputs/newstest2019/{pair}/newstest2019.{name}.{pair}": "x\n" * 603 * (pair == "zh-en") + text
        for (pair, name), text in TEXTS.items()
    }
    loaded = {}
    for name, load, members in (
        ("wmt19-darr", files.relative_rankings, {"p/manual-evaluation/RR-seglevel.csv": RANKS}),
        ("wmt19-metrics", files.metrics, {f"p/submissions-corrected/{n}.seg.score": t for n, t in scores.items()}),
        ("wmt19-outputs", files.outputs, texts),
        ("wmt19-da", files.direct_assessments, {"e/ad-seg-scores-de-en.csv": ASSESSED}),
    ):
        loaded[name] = from_source(load(archived(tmp_path / f"{name}.tgz", members)), name=name)
    return loaded


def test_tables_of_wmt19_count_what_plain_eyes_count(package):
    made = wmt19.tables(data.published("stanchev2020_claims"), package)
    by_pair = {name: table.set_index("pair") for name, table in made.items() if "pair" in table}
    assert by_pair["wmt19_sizes"]["pairs"].dropna().to_dict() == {"zho-eng": 3, "guj-eng": 1}
    ties = made["wmt19_ties"].set_index(["metric", "pair"])["ties"]
    assert (ties["YiSi-1", "zho-eng"], ties["EED", "zho-eng"]) == (1, 0)
    assert ties.isna()["YiSi-1", "guj-eng"], "no score of it is in the archive, so that it ties none is not known"
    assert by_pair["wmt19_identical"]["identical"].dropna().to_dict() == {"zho-eng": 2, "guj-eng": 0}
    order = {"deu-eng": "uedin.6749", "zho-eng": "MSRA.MASS.6996.zh-en", "eng-zho": "not in the rankings"}
    assert by_pair["wmt19_ordered"]["better"].to_dict() == order
    texts = {"deu-eng": "not the same text", "zho-eng": "same", "eng-zho": "not the same text"}
    assert by_pair["wmt19_texts"]["hypothesis"].to_dict() == texts
    # differences 1.5, 25, 26.5, 53.5, 78.5 and 80: six reach 1, five reach 25, three reach 50
    assert made["wmt19_kept"][["times", "left"]].to_numpy().tolist() == [[2.0, "leaves 83%"]]


def judged(package):
    printed = data.published("stanchev2020_claims")
    tables = claimed.claim_tables(printed) | wmt19.tables(printed, package)
    rows = claims.look_up(wmt19.marked(printed, package), tables, data=data.published("wmt20_darr"))
    return {(row["item"], row["cell"]): row for row in verdicts.judge(rows)}


def test_with_wmt19s_files_its_claims_get_verdicts(package):
    told = judged(package)
    assert told["Table 1", "de-en, segment 1200, better"]["verdict"] == "match"
    assert told["Table 1", "zh-en, segment 604, better"]["verdict"] == "differs"
    assert told["Table 3", "gu-en, identical sentences"]["verdict"] == "match"
    assert told["Table 3", "kk-en, YiSi-1 ties"]["lacking"] == "not in WMT19's archives"
    assert told["section 2.3", "average number of sentences, threshold 1 against 50"]["verdict"] == "differs"


def test_without_them_each_claim_names_the_files_to_fetch(package):
    told = judged({})
    lacking = {row.get("lacking") for row in told.values()} - {None}
    assert lacking == {"file not here: wmt19-darr, wmt19-metrics, wmt19-outputs, wmt19-da"}
    assert "`evalkit data fetch wmt19-darr wmt19-outputs`" in told["Table 3", "gu-en, identical sentences"]["note"]
    one = judged({"wmt19-darr": package["wmt19-darr"]})["Table 3", "gu-en, EED ties"]
    assert one["lacking"] == "file not here: wmt19-metrics, wmt19-outputs, wmt19-da"
