"""Printed claims find their computed counterparts, or say which one does not."""

import io
import re
import tarfile

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import wmt19 as files
from evalkit.papers import claims
from evalkit.papers.stanchev2020 import claimed, wmt19
from evalkit.stats import verdicts


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
    claim = {
        "paper": "P",
        "item": "1",
        "cell": "c",
        "printed": "85",
        "table": "usage",
        "where": "annotator=a",
        "column": "mean",
        "how": "only",
        "remark": "",
        "basis": "definition",
        "lacking": "",
    }
    listed = from_source(pd.DataFrame([claim]))
    bare = pd.DataFrame([claim])
    with pytest.raises(DataError, match="does not say where it comes from"):
        claims.look_up(
            bare if lost == "claims" else listed, {"usage": USAGE}, data=stacked if lost == "data" else USAGE
        )


PRINTED = from_source(pd.DataFrame({"pair": list("abc"), "tau": ["0.10", "0.20", "0.30"], "r": list("123")}), name="t")


def test_a_printed_table_is_laid_beside_a_computed_one():
    ours = pd.DataFrame({"pair": ["c", "a"], "x": [0.3, np.nan], "y": [3, 1]})
    made = claims.compare_with_print(
        PRINTED,
        ours,
        item="T",
        on=["pair"],
        values={"tau": "x", "r": "y"},
        note="n",
        basis="definition",
        absent="gone",
        lacking="labels",
    )
    assert list(made) == claims.COLUMNS
    assert made["cell"].tolist() == ["a, tau", "b, tau", "c, tau", "a, r", "b, r", "c, r"]
    assert made["computed"].tolist() == [None, None, 0.3, 1, None, 3]
    assert made["note"].tolist() == ["gone", "gone", "n", "n", "gone", "n"]
    assert made["lacking"].tolist() == ["labels", "labels", "", "", "labels", ""]
    assert made["place"].tolist() == [f"t:{line}:{column}" for column in ("tau", "r") for line in (2, 3, 4)]


def test_rows_chosen_from_a_printed_table_keep_their_places_and_notes_of_their_own_go_first():
    ours = pd.DataFrame({"pair": ["c"], "x": [0.3], "note": ["its own"]})
    made = claims.compare_with_print(
        PRINTED[PRINTED["pair"] == "c"],
        ours,
        item="T",
        on=["pair"],
        values={"tau": "x"},
        basis="definition",
        note={("c",): "by name", (): "all"},
    )
    assert made[["note", "place", "paper"]].to_numpy().tolist() == [["its own", "t:4:tau", "P"]]
    by_name = claims.compare_with_print(
        PRINTED,
        ours.drop(columns="note"),
        item="T",
        on=["pair"],
        values={"tau": "x"},
        basis="definition",
        note={("c",): "by name", (): "all"},
    )
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


# Every number of two papers' prose stands in a claim, every claim in the paper's words, and none is counted twice


STANCHEV, SUDOH = "002", "004"
LISTS = {STANCHEV: "stanchev2020_claims", SUDOH: "sudoh2021_claims"}
#: Numbers in the prose that are no results, data or settings of the paper, by what they are.
KINDS = {
    "years, names and places of publication": r"\b(?:1[89]|20)\d\ds?[ab]?\b(?:-2017)?|WMT ?(?:20)?\d\d(?:-2017)?",
    "test sets": r"newstest\d+",
    "parts of the paper": r"(?:Tables?|Figures?|[Ss]ections?|Equations?|footnotes?)\s+\(?\d+[a-c]?\)?(?: and \d+)?",
    "headings": r"#+ \d[\d.]*",
    "equations": r"\(\d\) ?and \(\d\)|\$\$.*?\$\$",
    "the scale of direct assessment": r"(?:scale )?(?:of|from) 0 to 100|100-point",
    "addresses, licences, versions and footnotes": r"<?https?://\S+|CC BY-NC-SA 4\.0|fingerprint: \S+|<sup>\d</sup>",
}
#: The same of single papers.
OWN = {
    STANCHEV: {
        "what others do or recommend": r"at least 15 \(|three different methods|five (?:system|sentences|tuples)",
        "the criterion again": r"The threshold of 25|less than 25, and where",
        "the threshold that counts as none": r"a threshold of 1\)",
        "signs in a matrix": r"pair \(-?1\)|1 - E",
        "a metric's name": r"YiSi-1",
        "grants": r"agreement No \d+|NE 572/8-1",
        "no counts": r"two (?:sentences|different correlation|systems|metrics)|(?:the|All) three (?:methods|matrices)",
    },
    SUDOH: {
        "a sentence that is translated": r"445 light-years",
        "scales of others": r"1-5 Likert|five-point scale|not 5 in|criterion “1:",
        "names of hypotheses and metrics": r"hyp\d(?:-\d)?|BLEU-4|chrF2|F1-scores?",
        "section 5.2 again": r"The overall classification accuracy was 0\.\d+",
        "examples, in brackets": r"\(\d\)(?= \*|:|\.? For| in)",
        "the annotators again": r"the three (?:different )?annotators|two or three annotators",
        "critical labels by name": r"three types: \*Unrelated\*, \*Contradiction\*, and \*Serious\*",
        "no counts": r"one or two wrong",
        "a grant": r"JPMJPR1856",
    },
}
SPELLED = "two|three|four|five|six|seven|eight|nine|ten"


def squeezed(text):
    return " ".join(text.split())


def prose(text):
    """Return what stands between abstract and references, without tables, whose rows have tabs, and numbered titles."""
    body = re.split(r"\n(?:## )?Abstract\n|\n(?:## )?References\n", text)[1]
    lines = [line for line in body.splitlines() if "\t" not in line]
    return squeezed("\n".join(re.sub(r"^\d[\d.]* (?=[A-Z][^.]*$)", "", line) for line in lines))


@pytest.mark.parametrize("number", LISTS)
def test_every_claim_is_quoted_from_its_paper_and_holds_what_is_printed(paper, number):
    text = squeezed(paper(number))
    in_words = {"all", "most", "yes", "no", "more", "B", "C", "the same", "almost halves"}  # answers to the sentence
    for claim in data.published(LISTS[number]).to_dict("records"):
        quote = squeezed(claim["quote"])
        assert quote in text, quote
        if claim["printed"] in in_words:
            continue
        for word in re.split(r",? ", squeezed(claim["printed"])):
            assert re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", quote), (word, quote)


@pytest.mark.parametrize("number", LISTS)
def test_every_number_of_the_prose_stands_in_a_claim(paper, number):
    left = prose(paper(number))
    for quote in sorted(map(squeezed, data.published(LISTS[number])["quote"]), key=len, reverse=True):
        left = left.replace(quote, " § ")
    for pattern in (*KINDS.values(), *OWN[number].values()):
        left = re.sub(pattern, " ", left)
    found = [left[max(m.start() - 60, 0) : m.end() + 40] for m in re.finditer(rf"\d[\d,.]*|\b(?:{SPELLED})\b", left)]
    assert found == []


@pytest.mark.parametrize("number", LISTS)
def test_no_printed_number_is_claimed_twice(number):
    listed = data.published(LISTS[number])
    assert not listed.duplicated(["item", "cell"]).any()
    counted = listed[listed["printed"].str.fullmatch(r"[-<\d.,e]+k?")].groupby(["item", "quote", "printed"]).size()
    for (item, quote, printed), times in counted.items():
        occurs = len(re.findall(rf"(?<![\w.,-]){re.escape(printed)}(?![\w]|[.,]\d)", quote))
        if printed in quote:
            assert times <= max(occurs, 1), (item, quote, printed)


@pytest.mark.parametrize(
    ("table", "title"), [("4a", "(a) No tie"), ("4b", "(b) Soft"), ("4c", "(c) Hard"), ("5", "Table 5:")]
)
def test_matrices_are_transcribed_as_printed(paper, table, title):
    before = paper(STANCHEV).split(title)[0].rstrip().splitlines()
    block = [line.split("\t") for line in before if line.split("\t")[0] in ("Human", "") and line.count("\t") == 4][-3:]
    listed = data.published(LISTS[STANCHEV])
    listed = listed[listed["item"] == f"Table {table}"]
    assert listed["printed"].tolist() == [cell for row in block for cell in row[2:]]
    assert listed["cell"].tolist() == [f"human {row[1]}, metric {order}" for row in block for order in "<=>"]


# What rests on WMT19's files, of which small ones of the documented form are made here: no real number is in them.

RANKS = """LP DATA SID BETTER WORSE
de-en newstest2019 1200 uedin.6749 UCAM.6461
zh-en newstest2019 604 MSRA.MASS.6996.zh-en Baidu-system.6940.zh-en
zh-en newstest2019 604 Baidu-system.6940.zh-en KSAI.6927.zh-en
zh-en newstest2019 605 Baidu-system.6940.zh-en KSAI.6927.zh-en
gu-en newstest2019 1 NEU.6756 UEDIN.6534
"""
SCORES = [
    ("zh-en", "Baidu-system.6940", 604, 0.5),
    ("zh-en", "MSRA.MASS.6996", 604, 0.5),
    ("zh-en", "KSAI.6927", 604, 0.75),
    ("zh-en", "KSAI.6927", 605, 0.5),
]
TEXTS = {
    ("zh-en", "Baidu-system.6940"): ["same", "a"],
    ("zh-en", "MSRA.MASS.6996"): ["same", "b"],
    ("zh-en", "KSAI.6927"): ["other", "a"],
    ("gu-en", "NEU.6756"): ["x"],
    ("gu-en", "UEDIN.6534"): ["y"],
}
ASSESSED = "SYS SID RAW.SCR Z.SCR N\n" + "".join(
    f"{system} 1 {score} 0.1 1\n" for system, score in (("a.1", 10), ("b.2", 11.5), ("c.3", 36.5), ("d.4", 90))
)


@pytest.fixture
def package(archived):
    """Load made archives as a reader's own would be."""
    lines = "".join(f"YiSi-1\t{pair}\tnewstest2019\t{system}\t{seg}\t{score}\n" for pair, system, seg, score in SCORES)
    scores = {"YiSi-1": lines, "EED": lines.replace("YiSi-1", "EED").replace("\t604\t0.5", "\t604\t0.4", 1)}
    metrics = {f"p/submissions-corrected/{name}.seg.score": rows for name, rows in scores.items()}
    place = "d/txt/system-outputs/newstest2019/{0}/newstest2019.{1}.{0}"
    texts = {
        place.format(pair, name): "x\n" * 603 * (pair == "zh-en") + "\n".join(lines) + "\n"
        for (pair, name), lines in TEXTS.items()
    }
    loaded = {
        "wmt19-darr": files.relative_rankings(archived({"p/manual-evaluation/RR-seglevel.csv": RANKS})),
        "wmt19-metrics": files.metrics(archived(metrics)),
        "wmt19-outputs": files.outputs(archived(texts)),
        "wmt19-da": files.direct_assessments(archived({"e/ad-seg-scores-de-en.csv": ASSESSED})),
    }
    for name, table in loaded.items():
        table.attrs["source"] = {"name": name, "source": "real", "origin": "made for a test", "digest": "none"}
    return loaded


@pytest.fixture
def archived(tmp_path):
    def made(members):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.tgz"
        with tarfile.open(path, "w:gz") as archive:
            for name, text in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(text.encode())
                archive.addfile(info, io.BytesIO(text.encode()))
        return [path]

    return made


def test_tables_of_wmt19_count_what_plain_eyes_count(package):
    printed = data.published(LISTS[STANCHEV])
    made = wmt19.tables(printed, package)
    assert made["wmt19_sizes"].set_index("pair")["pairs"].dropna().to_dict() == {"zho-eng": 3, "guj-eng": 1}
    ties = made["wmt19_ties"].set_index(["metric", "pair"])["ties"]
    assert ties["YiSi-1", "zho-eng"] == 1
    assert ties["EED", "zho-eng"] == 0
    assert ties.isna()["YiSi-1", "guj-eng"], "no score of it is in the archive, so that it ties none is not known"
    assert made["wmt19_identical"].set_index("pair")["identical"].dropna().to_dict() == {"zho-eng": 2, "guj-eng": 0}
    order = made["wmt19_ordered"].set_index("pair")["better"]
    assert order.to_dict() == {
        "deu-eng": "uedin.6749",
        "zho-eng": "MSRA.MASS.6996.zh-en",
        "eng-zho": "not in the rankings",
    }
    texts = made["wmt19_texts"].set_index("pair")["hypothesis"]
    assert texts.to_dict() == {"deu-eng": "not the same text", "zho-eng": "same", "eng-zho": "not the same text"}
    # differences 1.5, 25, 26.5, 53.5, 78.5 and 80: six reach 1, five reach 25, three reach 50
    assert made["wmt19_kept"][["times", "left"]].to_numpy().tolist() == [[2.0, "leaves 83%"]]


def judged(package):
    printed = data.published(LISTS[STANCHEV])
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
    assert "evalkit data fetch wmt19-metrics`" in one["note"]
