"""Importers under attack: whatever the bytes, a result or a sentence; never a wrong number, bounded time and memory."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.campaign.design import texts
from evalkit.data import importing
from evalkit.data.files import is_abandoned
from evalkit.data.importing import FORMATS, writing
from evalkit.data.importing.files import text
from evalkit.reports import cli
from tests.doors.testsets import write as a_testset

SEEDS = {
    "csv": """src_lang,tgt_lang,system,doc,segment,annotator,score
eng,deu,A,d,1,Ann,80
eng,deu,"B, b",d,2,Bob,60.5
""",
    "semicolons": """src_lang;tgt_lang;system;doc;segment;annotator;score
eng;deu;\u00dc;d;1;Ann;80,5
eng;deu;B;d;2;Bob;7
""",
    "appraise": """deu1,S,1,TGT,eng,deu,80,d#1,False,1.5,2.5
deu1,S,2,TGT,eng,deu,70,d#1,True,1.5,2.5
deu1,S,3,BAD,eng,deu,7,d#1#bad,False,3,4
""",
    "esa": """a,S,1,TGT,eng,jpn,90,d,False,"[{""start_i"":1,""end_i"":2,""severity"":""minor""}]",1.0,2.0
a,S,2,TGT,eng,jpn,9,d#dup,False,[],1.0,2.0
""",
    "mqm": """system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tlp
A\td\t1\tr\ts\tt <v>u</v>\tOther\tMajor\ten-de
A\td\t2\tr\ts\tt\tNo-error\tno-error\ten-de
""",
    "mturk": """HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time
H\tW\tcs\ten\tad\t1\tA\td\tSYSTEM\t1\t80\t9.0
""",
    "xsts": """segment,lp,Evaluator 1,Evaluator 2
1,en-de,4,5
2,en-de,,3
""",
    "jsonl": """{"src_lang":"eng","tgt_lang":"deu","system":"A","doc":"d","segment":1,"annotator":"x","score":80}
{"score":1e3}
""",
}
SEEDS = {name: text.encode("cp1252") for name, text in SEEDS.items()} | {"utf16": SEEDS["csv"].encode("utf-16")}
PIECES = [
    b"\0",
    b"\xff",
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"85,5",
    b"1e999",
    b"-0",
    b"NaN",
    b"1.5%",
    b"\xe2\x88\x925",
    b"\xed\xa0\x80",
    b"=1+1",
    b"<v>",
    b"[",
    b"{",
    b"]" * 50,
    b"#bad",
    b"True",
    b"TGT",
    b"\xc2\xa0",
    b"9" * 400,
    b"2026-05-03",
    b"\xe2\x80\xa8",
    b"\x1a",
    b"\x0b",
    b"\x0c",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all attacks, with a salt of its own."""
    return tmp_path_factory.mktemp("hostile")


def attempt(folder, content, *, name="my.csv", **told):
    """Import bytes; return what came of it, None where they were rejected with a sentence."""
    path, out = folder / name, folder / "c.parquet"
    path.write_bytes(content)
    for left in folder.glob("c.*"):
        left.unlink()
    report = None
    with contextlib.suppress(DataError):
        report, _ = importing.import_campaign([path], out, keep_names=True, allow_rejected=True, **told)
    if report is None:
        assert not list(folder.glob("c.*"))
        assert not list(folder.glob(".c.*"))
        return None
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    ratings, spans = data.open_campaign(out)
    assert len(ratings) == report.rows_kept
    assert ratings["score"].between(*(report.scale or (-1e300, 1e300))).all()
    json.loads((folder / "c.import.json").read_text(encoding="utf-8"))
    return ratings, spans, report


def numbers_in(content):
    """Every number that stands in the bytes, however they may be read."""
    found = set()
    for encoding in ("utf-8", "cp1252", "utf-16", "utf-16-le", "utf-16-be"):
        text = content.decode(encoding, "ignore").replace("−", "-")
        for word in re.findall(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?", text):
            for reading in {word, word.replace(",", "."), *word.split(",")}:
                with contextlib.suppress(ValueError):
                    found.add(float(reading))
    return found


@st.composite
def mutated(draw):
    """A small real-looking file with a few pieces put in, taken out or doubled."""
    name = draw(st.sampled_from(sorted(SEEDS)))
    content = SEEDS[name]
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(content)))
        what = draw(st.integers(0, 3))
        if what == 0:
            content = content[:place] + draw(st.sampled_from(PIECES)) + content[place:]
        elif what == 1:
            content = content[:place] + content[place + draw(st.integers(1, 8)) :]
        elif what == 2:
            content = content[:place] + content[draw(st.integers(0, place)) :]
        else:
            content = content[:place] + draw(st.binary(max_size=5)) + content[place + 1 :]
    return name, content


REAL = [
    "*/wmt22-news-systems/*/humaneval/DA+SQM/*/*HITs.20221103.csv",
    "*/wmt24-news-systems/*/humeval/*wave2.csv",
    "*/wmt22-news-systems/*/humaneval/DA/*/ad-csen-good-stnd.csv",
    "*/wmt-slt22/*/human_evaluation/*/*/all.csv",
    "*/IndicMT-Eval/*/legacy/data/csv/Hindi.csv",
    "*/ErrorSpanAnnotation/*/data/campaign-ruction-rc5/240315rc5ESA.scores.csv",
    "*/ErrorSpanAnnotation/*/data/campaign-ruction-rc5/240315rc5MQM.scores.csv",
    "*/wmt-mqm-human-evaluation/*/ted/ende/mqm_ted_ende.tsv",
    "*/parity/*/data/ratings.csv",
]


def demand_true(content, ratings, spans, report):
    """Hold scores against what made them: errors of a judgement, who won a comparison, or numbers in the file."""
    if report.format == "preferences":
        assert set(ratings["score"]) <= {0, 0.5, 1}
        assert ratings.groupby(["hit", *(["criterion"] if "criterion" in ratings else [])])["score"].sum().eq(1).all()
    elif report.weights and "IndicMT" not in report.weights and "release" not in report.weights:
        who = ["system", "doc", "segment", "annotator"]
        lost = spans.groupby(who, observed=True)["weight"].sum() if spans is not None else pd.Series(dtype=float)
        found = ratings.groupby(who)["score"].sum()
        pd.testing.assert_series_equal(-lost.reindex(found.index).fillna(0), found, check_names=False, atol=1e-9)
    elif "z" not in ratings:
        assert set(ratings["score"]) <= numbers_in(content) | {0.0}


@pytest.mark.parametrize("pattern", REAL)
def test_mutated_real_files_give_numbers_that_stand_in_them_or_a_sentence(pattern, folder, mirrored):
    real_file = mirrored(pattern)
    means = real_file.with_name("ad-csen-trk-mean-sd.txt")
    if means.exists():
        (folder / means.name).write_bytes(means.read_bytes())
    start = b"".join(real_file.read_bytes().splitlines(keepends=True)[:40])
    rng = np.random.default_rng(7)
    kept = 0
    for _ in range(25):
        content = bytearray(start)
        for _ in range(rng.integers(1, 12)):
            place = rng.integers(0, len(content))
            content[place : place + rng.integers(0, 4)] = PIECES[rng.integers(0, len(PIECES))]
        found_here = attempt(folder, bytes(content), name=real_file.name, salt="pepper")
        kept += 0 if found_here is None else len(found_here[0])
        if found_here:
            demand_true(bytes(content), *found_here)
    assert kept > 100 or "IndicMT" in pattern, "most rows survive"


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mutated())
def test_mutated_files_give_numbers_that_stand_in_them_or_a_sentence(folder, case):
    name, content = case
    found = attempt(folder, content, name="my.jsonl" if name == "jsonl" else "my.csv", salt="pepper")
    if found and found[2].format != "mqm":
        assert set(found[0]["score"]) <= numbers_in(content) | {0.0}


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=300),
    st.sampled_from(["my.csv", "my.tsv", "my.jsonl", "my.xlsx", "x.en-de.csv"]),
    st.sampled_from([name for name in FORMATS if name != "mt-metrics-eval"]),
)
@example(b"PK\x03\x04", "my.xlsx", "auto")
@example(b"\xff\xfe", "my.csv", "csv")
@example(b"\x2b\x2f\x76\x38", "my.csv", "auto")
def test_any_bytes_under_any_format_end_in_a_sentence_or_a_result(folder, content, name, kind):
    attempt(folder, content, name=name, format=kind, salt="pepper")


def workbook():
    book = openpyxl.Workbook()
    for row in (
        ["system", "segment", "rater", "score", "lp"],
        ["A", 1, "Ann", 80, "en-de"],
        ["B", 1, "Ann", "=1+1", "en-de"],
    ):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


WORKBOOK = workbook()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WORKBOOK)), st.binary(max_size=6), st.integers(0, 40))
def test_damaged_workbooks_end_in_a_sentence_or_a_result(folder, place, piece, gap):
    found = attempt(folder, WORKBOOK[:place] + piece + WORKBOOK[place + gap :], name="my.xlsx", salt="pepper")
    assert not found or set(found[0]["score"]) <= {80.0}


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_workbooks_with_damaged_parts_end_in_a_sentence_or_a_result(folder, data):
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(parts)))
    place = data.draw(st.integers(0, len(parts[name])))
    tags = [
        b"<f>1</f>",
        b'r="XFD9999999"',
        b"<v>",
        b"</c>",
        b' t="s"',
        b' t="d"',
        b' t="b"',
        b"99999999",
        b"-1",
        b"<row/>",
        b"&x;",
    ]
    piece = data.draw(st.sampled_from(tags) | st.binary(max_size=6))
    parts[name] = parts[name][:place] + piece + parts[name][place + data.draw(st.integers(0, 20)) :]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    attempt(folder, stream.getvalue(), name="my.xlsx", salt="pepper")


def sheet_of(rows):
    """A workbook whose one sheet holds the given rows of XML; style 1 is a percentage."""
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        f"{rows}</sheetData></worksheet>"
    ).encode()
    parts["xl/styles.xml"] = re.sub(
        rb"<cellXfs.*?</cellXfs>",
        b'<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs>',
        parts["xl/styles.xml"],
        flags=re.DOTALL,
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def text_row(number, *cells):
    """A row of texts, each saying where it stands."""
    inner = "".join(
        f'<c r="{"ABCDEFG"[place]}{number}" t="inlineStr"><is><t>{cell}</t></is></c>'
        for place, cell in enumerate(cells)
    )
    return f'<row r="{number}">{inner}</row>'


HEADED = text_row(1, "segment", "lp", "Evaluator 1", "Evaluator 2")


def rated(number, *cells):
    """A row of scores under ``HEADED``: the XML of each evaluator's cell, without its place."""
    row = text_row(number, str(number), "en-de").removesuffix("</row>")
    return row + "".join(f'<c r="{"CD"[place]}{number}"{cell}' for place, cell in enumerate(cells)) + "</row>"


FIVE = "><v>5</v></c>"


def test_a_percentage_an_error_and_an_unknown_formula_are_no_empty_cells(folder):
    """calamine reads 85 % as .85, and errors and formulas without a stored value as nothing."""
    odd = ['s="1"><v>0.85</v></c>', 't="e"><v>#DIV/0!</v></c>', "><f>1+1</f></c>", "><f>1+1</f><v></v></c>"]
    rows = [rated(2 + n, f" {cell}", FIVE) for n, cell in enumerate(odd)] + [rated(n, FIVE, FIVE) for n in range(9, 20)]
    ratings, _, report = attempt(folder, sheet_of(HEADED + "".join(rows)), name="my.xlsx", salt="pepper")
    assert (len(ratings), report.rows_rejected, report.blank_cells) == (26, 4, 0)
    assert [entry["value"] for entry in report.first][:2] == ['"85%"', '"#DIV/0!"']
    assert report.reasons == {
        "is a percentage": 1,
        "is a formula's error, or a formula without a stored value": 3,
    }


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ('<c r="XFD1048576"><v>1</v></c>', "cells in up to 1,048,576 rows and 16,384 columns"),
        ('<c r="A9999999"><v>1</v></c>', "more than 1,048,576 rows"),
        ('<c r="CV999999"><v>1</v></c>', "cells in up to 999,999 rows and 100 columns"),
        ('<c foo=">" r="XFD1048576"><v>1</v></c>', "written in no usual way"),
        ('<c foo=\' r="A1"\' r="XFD1048576"><v>1</v></c>', "written in no usual way"),
        ("<c><v>1</v></c>" * 3_000, "in up to 1 rows"),
    ],
)
def test_a_few_cells_that_span_a_sheet_without_end_are_refused(tmp_path, cell, message):
    """calamine holds the whole rectangle in memory, 400 GB for two cells at the ends of a sheet."""
    (tmp_path / "my.xlsx").write_bytes(sheet_of(text_row(1, "system") + f"<row>{cell}</row>"))
    with pytest.raises(DataError, match=message):
        importing.import_campaign([tmp_path / "my.xlsx"], tmp_path / "c.parquet")


CELLS = st.sampled_from(["a", '"a"', '"a""b"', '""', '"a,b"', 'a"b', '"a"b', '"a', "", " x ", '"\n"', '""""'])


@given(
    st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=8),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_quick_reading_gives_what_careful_reading_gives_or_leaves_it_alone(rows, delimiter, end, last):
    body = end.join(delimiter.join(cells) for cells in rows) + end * last
    header = ["x", "y"]
    quick = text._quick(body.encode(), header, 0, delimiter)
    if quick:
        careful = text._careful(text._lines(body.encode()), header, 0, delimiter)
        pd.testing.assert_frame_equal(quick.frame, careful.frame, check_index_type=False)
        assert not careful.broken
        assert [quick.raw(place) for place in range(len(quick.frame))] == [
            list(careful.raw(place)) for place in range(len(quick.frame))
        ]


@settings(max_examples=300)
@given(
    st.lists(
        st.lists(st.text('ab"\n ', max_size=6), min_size=3, max_size=3).filter(lambda row: "".join(row).strip()),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from("\t,"),
)
def test_what_csv_writes_is_read_back_whatever_cell_goes_on_over_lines(rows, delimiter):
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([["x", "y", "z"], *rows])
    found = text._read(stream.getvalue().encode(), ["x", "y", "z"], 1, delimiter)
    assert not found.broken
    assert [list(found.raw(place)) for place in range(len(rows))] == rows
    assert found.frame.fillna("").to_numpy().tolist() == [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize("last", ['"no end', 'no" end', '"a" b'])
def test_a_quote_that_is_a_letter_takes_no_other_row_of_tabs_with_it(last):
    lines = [f"{place}\t{place}\t{last}" for place in range(5)] + ['5\t5\tends here"']
    found = text._read("\n".join(lines).encode(), ["x", "y", "z"], 0, "\t")
    assert not found.broken
    assert found.frame["z"].tolist() == [last] * 5 + ['ends here"']


@pytest.mark.parametrize(("name", "kept"), [("ml.tsv", {"A": 80, "B": 70, "C": 60}), ("mh.tsv", {"A": 80, "B": 70})])
def test_cells_and_headings_of_tabs_go_on_over_lines(name, kept, tmp_path, mirrored):
    importing.import_campaign([mirrored(f"../hostile/{name}")], tmp_path / "c.parquet")
    assert data.open_campaign(tmp_path / "c.parquet")[0].set_index("system")["score"].to_dict() == kept


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.text(max_size=5), st.sampled_from(["80", "7.5", "x", "", "1,5", "101"])), min_size=1, max_size=8
    )
)
def test_every_row_is_kept_or_rejected_with_all_its_cells(folder, rows):
    """Nothing is lost: what csv writes is either in the result or, cell for cell, among the rejected rows."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score"])
    for place, (system, score) in enumerate(rows):
        writer.writerow(["eng", "deu", system, "d", str(place), "Ann", score])
    content = stream.getvalue().encode("utf-8", "surrogatepass")
    found = attempt(folder, content, salt="pepper")
    kept = dict(zip(found[0]["segment"], found[0]["score"])) if found else {}
    for place, (_, score) in enumerate(rows):
        if str(place) in kept:
            assert kept[str(place)] == float(score.replace(",", "."))
    if found and (folder / "c.rejected.csv").exists():
        with (folder / "c.rejected.csv").open(encoding="utf-8-sig", newline="") as rejected:
            cells = list(csv.DictReader(rejected))
        segments = [row["segment"] for row in cells if not row["cells"]]
        assert sorted([*kept, *segments], key=int) == [str(place) for place in range(len(rows))] or any(
            row["cells"] for row in cells
        )


@pytest.mark.parametrize(
    "content",
    [
        b'"a,\n' * 200_000,
        b'a,"b\n' * 200_000,
        b"a" * 5_000_000,
        b",,,,,,,\n" * 200_000,
        b'"' * 1_000_000,
        b"[" * 1_000_000,
        b"score,system,segment,annotator,lp\n" + b'80,"A\n' * 100_000,
        b"a,b\r" * 200_000,
        "\u5b57".encode("cp932") * 300_000,
        b"," * 1_000_000 + b"\n1,2\n",
    ],
    ids=[
        "open quotes",
        "quotes within",
        "one line",
        "empty cells",
        "quotes",
        "brackets",
        "headed",
        "returns",
        "kanji",
        "columns",
    ],
)
def test_long_nonsense_comes_to_an_end(content, folder):
    for name in ("my.csv", "my.jsonl"):
        attempt(folder, content, name=name, salt="pepper")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's account of a process")
def test_a_million_judgements_take_less_than_a_gigabyte(tmp_path):
    # not ru_maxrss, which counts what the parent used before it started this process
    code = (
        "import sys; from evalkit.data import importing; "
        "importing.import_campaign(sys.argv[1:2], sys.argv[2], salt='x'); "
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')])"
    )
    path = tmp_path / "long.csv"
    with path.open("w", encoding="utf-8") as stream:
        stream.write("src_lang,tgt_lang,system,doc,segment,annotator,score\n")
        for row in range(1_000_000):
            stream.write(f'eng,deu,"S{row % 30}",document-{row // 300},{row // 30},Annotator {row % 97},{row % 101}\n')
    kilo = subprocess.check_output([sys.executable, "-c", code, path, tmp_path / "c.parquet"])
    assert int(kilo) * 1024 < 1e9


# Silent wrong numbers


JUDGED = {"system": "A", "segment": "1", "annotator": "Ann", "score": 80, "lp": "en-de"}


def judged(*changes):
    """Objects of one judgement each, a segment each."""
    return "".join(
        json.dumps(JUDGED | {"segment": str(n)} | change) + "\n" for n, change in enumerate(changes)
    ).encode()


@pytest.mark.parametrize("before", [49, 50, 51, 700])
def test_a_key_counts_wherever_it_first_appears(folder, before):
    """Ten degraded items became outputs of a system, for the first fifty objects had no item_type."""
    content = judged(*[{}] * before, *[{"item_type": "degraded"}] * 10, {"source": "text"})
    ratings, _, report = attempt(folder, content, name="keys.jsonl")
    assert ratings["item_type"].value_counts().to_dict() == {"system": before + 1, "degraded": 10}
    assert ratings["source"].dropna().tolist() == ["text"]
    assert any("rows without a kind of item" in note for note in report.notes)
    assert not any("not read" in note for note in report.notes)


def test_odd_names_letters_and_depths_of_objects_are_told(folder):
    """Each ended in a traceback."""
    deep = json.dumps(JUDGED)[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    halves = '{"system": "\\ud800B", "segment": "2", "annotator": "A", "score": 7, "lp": "en-de"}\n{"\\ud800": 1}\n'
    content = judged({}, {"": "nameless"}) + (deep + halves).encode()
    ratings, _, report = attempt(folder, content, name="odd.jsonl")
    assert (len(ratings), report.rows_rejected, report.unused) == (2, 3, ["column 6"])
    assert report.reasons["holds half of a surrogate pair, which is no letter"] == 2


def test_objects_of_ever_new_keys_are_no_table(folder):
    many = judged(*({f"key {n}": n} for n in range(2_100)))
    assert attempt(folder, many, name="keys.jsonl") is None
    with pytest.raises(DataError, match=r"keys\.jsonl, line 1996: more than 2,000 different names up to here"):
        importing.import_campaign([folder / "keys.jsonl"], folder / "c.parquet")


def test_an_evaluators_column_counts_that_is_empty_on_the_first_rows(folder):
    rows = [
        "segment,lp,source,score 1,score 2,score 3",
        *(f"{n},en-de,text {n},4,5," for n in range(60)),
        *(f"{n},en-de,text {n},4,5,2" for n in range(60, 70)),
    ]
    ratings, _, _ = attempt(folder, "\n".join([*rows, ""]).encode())
    assert ratings.groupby("annotator").size().to_dict() == {"score 1": 70, "score 2": 70, "score 3": 10}


def test_a_standardised_score_among_raw_ones_is_rejected(folder):
    rows = [f"H\tW\tcs\ten\tad\t1\tA\td\tSYSTEM\t{n}\t1\t9.0" for n in range(60)]
    late = ["H\tW\tcs\ten\tad\t1\tA\td\tSYSTEM\t60\t0.73\t9.0"]
    header = SEEDS["mturk"].decode().splitlines()[0]
    ratings, _, report = attempt(folder, "\n".join([header, *rows, *late, ""]).encode())
    assert (len(ratings), report.rows_rejected) == (60, 1)
    assert report.first[0]["reason"].startswith("is no whole number, as raw scores are")


def mtme_layout(folder, cells, *, name="en-de.mqm.rater1.seg.rating"):
    (folder / "documents").mkdir(exist_ok=True, parents=True)
    (folder / "documents" / "en-de.docs").write_text("news\td\n" * len(cells))
    (folder / "human-scores").mkdir(exist_ok=True)
    path = folder / "human-scores" / name
    path.write_text("".join(f"S\t{cell}\n" for cell in cells), encoding="utf-8")
    return path


@pytest.mark.parametrize(("score", "told"), [("-5", "is -5, below 0"), ("true", "is true, no number")])
def test_a_rating_of_another_sign_or_type_is_rejected_in_one_sentence(tmp_path, capsys, score, told):
    """-5 came out as +5, true as -1."""
    error = {"start": 1, "end": 2, "category": "c", "severity": "major", "score": 5, "is_source_error": False}
    cell = json.dumps({"errors": [error]})
    path = mtme_layout(tmp_path, [cell, cell.replace('"score": 5', f'"score": {score}')])
    assert cli.main(["import", str(path), "--out", str(tmp_path / "c.parquet")]) == 1
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert f"{path.name}, line 2: an error's score {told}" in said[0]
    assert not (tmp_path / "c.parquet").exists()


@pytest.mark.parametrize("place", [0, 1])
def test_a_score_with_further_cells_is_refused_wherever_it_stands(place, tmp_path, capfd):
    """Of the first row pandas leaves the others out, with a warning."""
    cells = ["5", "6"]
    cells[place] += "\t7"
    path = mtme_layout(tmp_path, cells, name="en-de.esa.seg.score")
    with pytest.raises(DataError, match=rf"^{path.name}: .* Expected system and score, cut by a tab\.$"):
        importing.import_campaign([path], tmp_path / "c.parquet")
    assert capfd.readouterr().err == ""


LATIN = os.fsdecode(b"gr\xf6\xdfe")
WAYS = {
    "file": (f"{LATIN}.csv", lambda top, path: importing.import_campaign([path], top / "c.parquet")),
    "opened": (f"{LATIN}.csv", lambda top, path: data.open_campaign(path)),
    "folder": (
        f"human-scores/en-cs.{LATIN}.seg.score",
        lambda top, path: importing.import_campaign([top], top / "c.parquet"),
    ),
    "log": (f"annotations/{LATIN}.jsonl", lambda top, path: importing.import_campaign([top], top / "c.parquet")),
    "metric": (
        f"{LATIN}.csv",
        lambda top, path: importing.import_campaign(
            [top / "human-scores/en-cs.esa.seg.score"], top / "c.parquet", metric_files=[path]
        ),
    ),
    "metrics": (
        f"metric-scores/en-cs/{LATIN}-refA.seg.score",
        lambda top, path: importing.import_campaign(
            [top / "human-scores/en-cs.esa.seg.score"], top / "c.parquet", metric_files=[top]
        ),
    ),
    "testset": (f"system-outputs/en-cs/{LATIN}.txt", lambda top, path: data.open_testset(top)),
    "outputs": (f"system-outputs/en-cs/{LATIN}.txt", lambda top, path: texts.read_texts([top])),
}


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="names of files are always text there")
@pytest.mark.parametrize("way", WAYS)
def test_a_file_whose_name_is_no_text_is_refused_wherever_it_lies(way, tmp_path):
    """As archives from elsewhere bring them; a traceback or, in a folder, left out without a word."""
    name, act = WAYS[way]
    top = a_testset(tmp_path / "wmt24")
    (top / name).parent.mkdir(exist_ok=True)
    shutil.copy(next((top / "system-outputs/en-cs").iterdir()), top / name)
    before = sorted(top.rglob("*"))
    with pytest.raises(DataError, match=r"^The name \S*gr\udcf6\udcdfe\S* is no text in UTF-8\. Rename that file or"):
        act(top, top / name)
    assert sorted(top.rglob("*")) == before


#: One system, spelt in ways that look alike.
ALIKE = ["Café A", "Cafe\u0301 A", "\ufeffCafé A", "Caf\u00ade\u0301\u200b A\u2060", "Café\u00a0A", "Café\u202fA\ufe0f"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "xlsx"])
@pytest.mark.parametrize("ours", ["system", "annotator", "doc", "segment", "tgt_lang", "item_type"])
def test_names_that_look_alike_are_one_and_that_is_told(tmp_path, kind, ours):
    """A byte-order mark inside the file, a soft hyphen or another form of é split one system in two."""
    usual = {"tgt_lang": "deu", "item_type": "degraded"}.get(ours, "Café A")
    forms = [usual, *(f"{usual[:2]}{mark}{usual[2:]}" for mark in "\u200b\u00ad\ufeff\u2060\u061c")]
    forms += ALIKE[1:] if usual == "Café A" else []
    rows = [
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": "S",
            "doc": "d",
            "segment": "1",
            "annotator": "Ann",
            "score": 10 + n,
            "item_type": "system",
            "started": n,
        }
        | {ours: form}
        for n, form in enumerate(forms)
    ]
    if ours != "segment":
        rows = [row | {"segment": str(n)} for n, row in enumerate(rows)]
    path = tmp_path / f"alike.{kind}"
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.DictWriter(stream, list(rows[0])).writeheader()
            csv.DictWriter(stream, list(rows[0])).writerows(rows)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        book = openpyxl.Workbook()
        book.active.append(list(rows[0]))
        for row in rows:
            book.active.append(list(row.values()))
        book.save(path)
    report, _ = importing.import_campaign([path], tmp_path / "c.parquet", keep_names=True)
    ratings, _ = data.open_campaign(tmp_path / "c.parquet")
    assert ratings[ours].unique().tolist() == [usual]
    assert report.rows_kept == len(rows)
    notes = [note for note in ratings.attrs["notes"] if "names that look alike" in note]
    assert len(notes) == 1
    assert f"in {len(forms) - 1} cells of {ours}" in notes[0]
    assert "U+200B" in notes[0]
    hidden, _ = importing.import_campaign([path], tmp_path / "d.parquet", salt="a salt of some length")
    assert hidden.annotators == 1
    assert "Caf" not in (tmp_path / "d.import.json").read_text(encoding="utf-8") or ours != "annotator"


def test_names_that_look_alike_are_one_where_a_file_is_read_directly(tmp_path, capsys):
    path = tmp_path / "my.csv"
    texts = ["src_lang,tgt_lang,system,doc,segment,annotator,score,item_type,hypothesis"]
    texts += [f"eng,deu,{name},d,{n},Ann,80,system,Cafe\u0301\u200b" for n, name in enumerate(ALIKE)]
    path.write_text("\n".join([*texts, ""]), encoding="utf-8")
    ratings = data.read(path)
    assert ratings["system"].unique().tolist() == ["Café A"]
    assert ratings["hypothesis"].unique().tolist() == ["Cafe\u0301\u200b"], "a translation is no name"
    (note,) = ratings.attrs["notes"]
    assert "in 5 cells of system characters that cannot be seen" in note
    assert note in capsys.readouterr().err


def test_a_name_that_shows_nothing_is_none(folder):
    content = "system,segment,annotator,score,lp\nA,1,Ann,80,en-de\n\u200b\ufeff,2,Ann,80,en-de\n".encode()
    ratings, _, report = attempt(folder, content)
    assert (len(ratings), report.first[0]["reason"]) == (1, "is empty: fill it in, or drop the row")


def test_usual_names_are_left_alone(folder):
    content = 'system,segment,annotator,score,lp\n系统 ε-1,1,Ann,80,en-de\n"a\nb",1,Ann,70,en-de\n'.encode()
    ratings, _, report = attempt(folder, content)
    assert ratings["system"].tolist() == ["系统 ε-1", "a\nb"]
    assert not any("look alike" in note for note in report.notes)


CUT = "system,segment,annotator,lp,score\nA,1,Ann,en-de,70\nB,1,Ann,en-de,85\nA,2,Ann,en-de,8"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
@pytest.mark.parametrize(
    ("end", "open_end"),
    [("", True), ("5", True), ("5\n", False), ("5\r\n", False), ("5\r", False), ("\n\n", False), ("5\n  ", False)],
)
def test_a_text_that_does_not_end_in_a_line_break_may_be_cut_off(folder, encoding, end, open_end):
    told = {"encoding": encoding} if encoding in ("utf-16-be", "cp1252") else {}
    content = CUT.replace("\n", "\r") + end if end == "5\r" else CUT + end
    ratings, _, _ = attempt(folder, content.encode(encoding), **told)
    warned = [note for note in ratings.attrs["notes"] if "does not end in a line break" in note]
    assert len(warned) == open_end
    assert all("hold line 4 against the export" in note for note in warned)


def test_a_file_that_may_be_cut_off_is_told_wherever_it_is_read(tmp_path, capsys):
    """85 read as 8 was taken as whole."""
    path = tmp_path / "my.csv"
    path.write_text("src_lang,tgt_lang,system,doc,segment,annotator,score,item_type\neng,deu,A,d,1,Ann,8,system")
    assert any("does not end in a line break" in note for note in data.read(path).attrs["notes"])
    assert "does not end in a line break" in capsys.readouterr().err
    (tmp_path / "cut.csv").write_text(CUT)
    assert cli.main(["import", str(tmp_path / "cut.csv"), "--out", str(tmp_path / "c.parquet")]) == 0
    assert "note: cut.csv: warning: the file does not end in a line break" in capsys.readouterr().err
    scores = mtme_layout(tmp_path / "m", ["-5", "-2"], name="en-de.mqm.seg.score")
    scores.write_text("S\t-5\nS\t-2")
    ratings, _ = data.open_campaign(scores)
    assert any(f"{scores.name}: warning: the file does not end" in note for note in ratings.attrs["notes"])


def workbook(path, score):
    book = openpyxl.Workbook()
    for row in (
        ["system", "segment", "annotator", "score", "lp"],
        *(["A", n, "Ann", score, "en-de"] for n in range(9)),
    ):
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize("name", ["my.csv", "my.jsonl", "my.xlsx", "en-de.mqm.seg.score"])
@pytest.mark.parametrize("back", [False, True])
def test_a_file_that_changes_while_it_is_imported_is_rejected(tmp_path, name, back):
    """Rows of both contents were a result, under the digest of the old one."""
    if name.endswith("score"):
        path = mtme_layout(tmp_path, ["-5", "-2"], name=name)
    else:
        path = tmp_path / name
        workbook(path, 80) if name == "my.xlsx" else path.write_bytes(judged(*[{}] * 9))
        if name == "my.csv":
            path.write_text(CUT + "5\n")
    old, before = path.read_bytes(), path.stat()

    def meanwhile(_):
        time.sleep(0.02)  # a file system's clock moves in steps
        path.write_bytes(old.replace(b"80", b"20").replace(b"-5", b"-1") + (b"" if name == "my.xlsx" else b"\n"))
        if back:
            path.write_bytes(old)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(DataError, match=rf"{re.escape(path.name)} changed while it was read, and nothing was imported"):
        importing.import_campaign([path], tmp_path / "c.parquet", tell=meanwhile)
    assert not (tmp_path / "c.parquet").exists()
    assert len(importing.import_campaign([path], tmp_path / "c.parquet")[1]) > 1, "at rest it is read"


def test_what_is_read_beside_a_file_is_part_of_its_digest_and_may_not_change_either(tmp_path):
    path = mtme_layout(tmp_path, ["-5", "-2"], name="en-de.mqm.seg.score")
    docs = tmp_path / "documents" / "en-de.docs"
    first, _ = importing.import_campaign([path], tmp_path / "c.parquet")
    docs.write_text("news\td\nnews\tother\n")
    second, _ = importing.import_campaign([path], tmp_path / "c.parquet")
    assert first.digest != second.digest

    def meanwhile(_):
        docs.write_text("news\td\nnews\td\n")

    with pytest.raises(DataError, match=r"en-de\.docs changed while it was read"):
        importing.import_campaign([path], tmp_path / "c.parquet", tell=meanwhile)


def _two_campaigns(folder):
    """Write two small campaigns of which only one has rows that are set apart; return their files."""
    files = []
    for name, score in (("one.csv", 10), ("two.csv", 90)):
        rows = [f"{system},{segment},ann,{score}" for system in "AB" for segment in range(9)]
        rows += ["A,99,ann,junk"] if score == 90 else []
        (folder / name).write_text("\n".join(["system,segment,annotator,score", *rows, ""]))
        files.append(folder / name)
    return files


@pytest.mark.parametrize("opened", [data.open_campaign, data.open_judges])
@pytest.mark.parametrize("between", ["label_of", "frame_at", "report_of"])
def test_a_result_that_is_replaced_while_it_is_read_is_refused(opened, between, tmp_path, own_salt, monkeypatch):
    """Two processes: the label of one import was told with the scores of the other."""
    one, two = _two_campaigns(tmp_path)
    out = tmp_path / "c.parquet"
    importing.import_campaign([one], out)
    before, read = opened(out), getattr(writing, between)

    def late(path):
        monkeypatch.setattr(writing, between, read)
        importing.import_campaign([two], out, allow_rejected=True)
        return read(path)

    monkeypatch.setattr(writing, between, late)
    with pytest.raises(DataError, match=r"^c\.parquet was imported anew while it was read\. Open it again\.$"):
        opened(out)
    after = opened(out)
    assert (before is None) == (after is None) == (opened is data.open_judges)
    assert data.open_campaign(out)[0]["score"].unique().tolist() == [90]


def test_judges_are_of_the_campaign_whose_ratings_were_opened(tmp_path, own_salt):
    one, two = _two_campaigns(tmp_path)
    out = tmp_path / "c.parquet"
    importing.import_campaign([one], out)
    ratings, _ = data.open_campaign(out)
    assert data.open_judges(out, ratings=ratings.head(3)) is None
    importing.import_campaign([two], out, allow_rejected=True)
    with pytest.raises(
        DataError, match=r"^c\.parquet was imported anew since its ratings were opened\. Open both again\.$"
    ):
        data.open_judges(out, ratings=ratings.head(3))


@pytest.mark.skipif(os.name == "nt", reason="does not apply: this system locks no folders")
def test_one_import_at_a_time_moves_its_files_into_a_folder(tmp_path, own_salt):
    import fcntl

    one, two = _two_campaigns(tmp_path)
    out = tmp_path / "c.parquet"
    importing.import_campaign([one], out)
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    options = {"allow_rejected": True, "replace": True}
    other = threading.Thread(target=importing.import_campaign, args=([two], out), kwargs=options)
    other.start()
    other.join(1)
    assert other.is_alive()
    assert data.open_campaign(out)[0]["score"].unique().tolist() == [10]
    os.close(held)
    other.join(20)
    assert not other.is_alive()
    assert data.open_campaign(out)[0]["score"].unique().tolist() == [90]
    assert sorted(path.name for path in tmp_path.glob("c.*")) == ["c.import.json", "c.parquet", "c.rejected.csv"]
    assert not [*tmp_path.glob(".c.*")]


def test_what_another_process_takes_away_meanwhile_was_not_abandoned(tmp_path):
    left = tmp_path / ".c.parquet.0.part"
    assert not is_abandoned(left)
    left.mkdir()
    assert not is_abandoned(left)
    os.utime(left, (0, 0))
    assert is_abandoned(left)
