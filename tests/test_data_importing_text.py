"""Text as strangers send it: encodings, delimiters, marks of decimals, quotes, headings, comments, JSON in its shapes."""

import csv
import io
import json
import os
import shutil
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import importing
from tests.doors.testsets import write as a_testset
from tests.makers import rejected_rows
from tests.workbooks import book

CASES = tomllib.loads(Path(__file__).with_name("importing.toml").read_text(encoding="utf-8"))
HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score"
GOOD = ["eng,deu,A,d,1,Ann,80", "eng,deu,B,d,1,Ann,70", "eng,deu,A,d,1,Bob,60.5", "eng,deu,B,d,1,Bob,0"]
SHORT = "system,doc,segment,annotator,score"


def lines(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


# Encodings

GERMAN = "src_lang;tgt_lang;system;doc;segment;annotator;score\neng;deu;Übersetzer größer;d;1;Jürgen Weiß;85,5\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings_are_found_out(encoding, imported):
    ratings, _, report = imported(GERMAN.encode(encoding))
    assert ratings.loc[0, ["system", "annotator", "score"]].tolist() == ["Übersetzer größer", "Jürgen Weiß", 85.5]
    assert encoding.startswith("utf-8") or any("read as" in note for note in report.notes)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp932", "翻訳者の田中さん"),
        ("euc_jp", "翻訳者の田中さん"),
        ("gb18030", "翻译者王小明先生"),
        ("cp1251", "Переводчик Иванов"),
        ("cp1250", "překladatel Žluťoučký kůň"),
        ("cp949", "번역가 김철수는 좋습니다"),
        ("cp1253", "Μεταφραστής Γιώργος"),
    ],
)
def test_encodings_from_before_unicode_are_told_apart(encoding, name, imported):
    text = GERMAN.replace("Übersetzer größer", "S").replace("Jürgen Weiß", name)
    ratings, _, report = imported(text.encode(encoding))
    assert ratings["annotator"].tolist() == [name]
    assert any(f"read as {encoding}" in note for note in report.notes)


def test_an_encoding_can_be_named(imported):
    assert imported(GERMAN.encode("cp850"), encoding="cp850")[0]["annotator"].tolist() == ["Jürgen Weiß"]


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "rot13", "base64", "a\0b", "cp0"])
def test_encodings_that_no_file_is_written_in_are_refused(encoding, imported):
    with pytest.raises(DataError, match=r"no encoding"):
        imported(lines(*GOOD), encoding=encoding)


# What is read, case by case


@pytest.mark.parametrize("kind", CASES["read"])
def test_tables_are_read_as_people_write_them(kind, imported):
    case = CASES["read"][kind]
    ratings, _, report = imported(case["text"], "my.tsv" if "\t" in case["text"] else "my.csv", **case.get("told", {}))
    assert {name: ratings[name].tolist() for name in case["cells"]} == case["cells"]
    assert [entry["line"] for entry in report.first] == case.get("rejected", [])
    assert case.get("says", "") in " ".join([*report.notes, *(entry["reason"] for entry in report.first)])


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20), st.sampled_from(".,"))
def test_numbers_come_back_to_the_last_bit(imported, values, mark):
    values = [value for value in values if mark == "." or "e" not in repr(value)] + [0.5]
    rows = [f"eng;deu;A;d;{n};Ann;{repr(value).replace('.', mark)}" for n, value in enumerate(values)]
    told = {"scale": (-1e9, 1e9), "decimal": mark}
    assert imported(lines(*rows, header=HEADER.replace(",", ";")), **told)[0]["score"].tolist() == values


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text('ab"\n ,', min_size=1, max_size=6), min_size=1, max_size=6), st.sampled_from("\t,;"))
def test_what_csv_writes_is_read_back_whatever_cell_goes_on_over_lines(imported, cells, delimiter):
    stream = io.StringIO()
    rows = [["A", cell, n, "Ann", 80] for n, cell in enumerate(cells)]
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([["system", "source", "segment", "annotator", "score"], *rows])
    ratings, _, report = imported(stream.getvalue())
    assert report.rows_rejected == 0
    assert ratings["source"].fillna("").tolist() == [cell.strip() for cell in cells]


@pytest.mark.parametrize("last", ['"no end', 'no" end', '"a" b'])
def test_a_quote_that_is_a_letter_takes_no_other_row_of_tabs_with_it(last, imported):
    rows = [f"A\t{n}\tAnn\t{n}\t{cell}" for n, cell in enumerate([last] * 5 + ['ends here"'])]
    ratings, _, _ = imported(lines(*rows, header="system\tsegment\tannotator\tscore\tsource"), "my.tsv")
    assert ratings["source"].tolist() == [last] * 5 + ['ends here"']


def test_quick_and_careful_reading_agree(imported):
    rows = [f"eng,deu,S{place % 3},d,{place},A{place % 5},{place % 101}" for place in range(3000)]
    quick, *_ = imported(lines(*rows))
    careful, *_ = imported(lines(*(row.replace(",d,", ',"d",') for row in rows)))
    pd.testing.assert_frame_equal(quick, careful)


# Headings and languages


def test_an_ambiguous_synonym_is_not_applied(imported):
    text = lines("eng,deu,A,d,1,Ann,w1,80", header="src_lang,tgt_lang,system,doc,segment,rater,worker,score")
    with pytest.raises(DataError, match=r"rater.*worker.*--map annotator="):
        imported(text)
    ratings, _, report = imported(text, columns={"annotator": "worker"})
    assert (ratings["annotator"].tolist(), report.mapping["annotator"]["how"]) == (["w1"], "as told")


@pytest.mark.parametrize("case", CASES["languages"], ids=str)
def test_languages_come_from_columns_values_or_the_files_name_or_are_unknown(case, imported):
    row, header, name, told, pair = (case[part] for part in ("row", "header", "name", "told", "pair"))
    ratings, _, report = imported(lines(row, header=header), name, values=told)
    assert ratings[["src_lang", "tgt_lang"]].values.tolist() == [[*pair]]
    assert ("und" in pair) == any("nothing says the language" in note for note in report.notes)


# What is refused

MQM = "system\tseg_id\trater\tcategory\tseverity\tSeverity\tlp\nA\t1\tr\tOther\tMajor\tMinor\ten-de\n"
REFUSED = [  # what comes, as bytes or text, and a word of what is said
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "workbook"),
    (b"%PDF-1.7", "PDF"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"", "empty"),
    (b"\n\n", "no rows"),
    (b"a\0b\0\0\0,", "zero bytes"),
    (lines(GOOD[0] + ",99", header=HEADER + ",Score"), "Score"),
    (lines(GOOD[0] + ",fra", header=HEADER + ",Tgt_Lang"), "tgt_lang"),
    (MQM, "Severity"),
    (lines("en,zh-CN,A,d,1,Ann,80", "en,zh-TW,A,d,2,Ann,80"), "tgt_lang has zh"),
    *((text, r"my\.json") for text in ("[]", "{}", '[{"a": 1},', "[1, 2]", '{"a": 1, "a": 2}', "5", '{"a": [')),
    ("[" * 100_000 + "]" * 100_000, r"my\.json"),
]


@pytest.mark.parametrize(("content", "word"), REFUSED, ids=lambda text: str(text)[:12])
def test_what_is_no_table_or_has_two_meanings_is_refused(content, word, imported):
    with pytest.raises(DataError, match=word):
        imported(content, "my.json" if "json" in word else "my.csv")


@pytest.mark.parametrize(
    ("content", "encoding"), [(b"a,b\n1,2", "utf-16"), (b"a,b\n+2AA-,2\n", "utf-7"), (b"a,\xff\n", "utf-8")]
)
def test_text_that_is_not_in_the_encoding_named_is_refused(content, encoding, imported):
    with pytest.raises(DataError, match=rf"my\.csv is not sound {encoding}"):
        imported(content, encoding=encoding)


# Names that look alike

ALIKE = ["Café A", "Cafe\u0301 A", "\ufeffCafé A", "Caf\u00ade\u0301\u200b A\u2060", "Café\u00a0A", "Café\u202fA\ufe0f"]


@pytest.mark.parametrize("ours", ["system", "annotator", "doc", "segment", "tgt_lang", "item_type"])
def test_names_that_look_alike_are_one_and_that_is_told(ours, imported, tmp_path):
    """A byte-order mark inside the file, a soft hyphen or another form of é split one system in two."""
    usual = {"tgt_lang": "deu", "item_type": "degraded"}.get(ours, "Café A")
    forms = [usual, *(f"{usual[:2]}{mark}{usual[2:]}" for mark in "\u200b\u00ad\ufeff\u2060\u061c")]
    forms += ALIKE[1:] if usual == "Café A" else []
    plain = {"src_lang": "eng", "tgt_lang": "deu", "system": "S", "doc": "d", "annotator": "Ann", "item_type": "system"}
    frame = pd.DataFrame(
        [plain | {"segment": str(n * (ours != "segment")), "score": 10 + n} for n in range(len(forms))]
    )
    frame = frame.assign(started=range(len(forms)), **{ours: forms})
    text = frame.to_csv(index=False)
    ratings, _, report = imported(text)
    assert (ratings[ours].unique().tolist(), report.rows_kept) == ([usual], len(forms))
    [note] = [note for note in ratings.attrs["notes"] if "look alike" in note]
    assert f"in {len(forms) - 1} cells of {ours}" in note
    _, _, hidden = imported(text, keep_names=False)
    assert hidden.annotators == 1
    assert "Caf" not in (tmp_path / "c.import.json").read_text(encoding="utf-8") or ours != "annotator"


# Files that were cut off

CUT = "system,segment,annotator,lp,score\nA,1,Ann,en-de,70\nB,1,Ann,en-de,85\nA,2,Ann,en-de,8"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", ["", "5", "5\n", "5\r", "\n\n", "5\n  "])
def test_a_text_that_does_not_end_in_a_line_break_may_be_cut_off(encoding, end, imported):
    """85 read as 8 was taken as whole."""
    content = CUT.replace("\n", "\r") + end if end == "5\r" else CUT + end
    ratings, _, _ = imported(content.encode(encoding))
    warned = [note for note in ratings.attrs["notes"] if "does not end in a line break" in note]
    assert len(warned) == (end in ("", "5"))
    assert all("line 4" in note for note in warned)


def test_a_file_of_scores_that_may_be_cut_off_is_told(tmp_path):
    scores = a_testset(tmp_path / "wmt24") / "human-scores/en-cs.esa.seg.score"
    scores.write_text(scores.read_text().rstrip())
    notes = data.open_campaign(scores)[0].attrs["notes"]
    assert any("does not end in a line break" in note for note in notes)


# JSON


def judged(system="A", segment=1, score=80, **more):
    return {"lp": "en-de", "system": system, "segment": segment, "annotator": "Ann", "score": score} | more


ROWS = [judged(), judged("B", score=60.5), judged(segment=2, score=70)]
RIGHT = [["A", "1", 80], ["B", "1", 60.5], ["A", "2", 70]]


def in_lines(*objects):
    return "".join(json.dumps(one) + "\n" for one in objects)


@pytest.mark.parametrize("content", [ROWS, {"annotations": ROWS}, {"version": "1", "n": 3, "rows": ROWS}])
def test_an_array_is_read_wherever_it_stands(content, imported):
    for indent in (None, 1):
        ratings, _, report = imported(json.dumps(content, indent=indent), "my.json")
        assert ratings[["system", "segment", "score"]].values.tolist() == RIGHT
        assert report.format == "csv"


def test_objects_within_objects_have_dotted_names_that_can_be_mapped(imported):
    nested = [
        {"rater": {"id": "Ann"}, "item": {"system": {"name": row["system"]}, "segment": row["segment"], "lp": "en-de"}}
        | {"judgement": {"score": row["score"], "z.score": 0.5}}
        for row in ROWS
    ]
    ratings, _, report = imported(in_lines(*nested), "my.jsonl")
    assert ratings[["system", "segment", "score"]].values.tolist() == RIGHT
    assert report.unused == ["judgement.z.score"], "a name in R's style is no path"
    odd = in_lines(*({"who": {"x": "Ann"}, "mt": {"a": row["system"]}, "points": row["score"]} for row in ROWS))
    with pytest.raises(DataError, match=r"who\.x, mt\.a, points"):
        imported(odd, "my.jsonl")
    mapped = {"annotator": "who.x", "system": "mt.a", "score": "points"}
    ratings, *_ = imported(odd, "my.jsonl", columns=mapped, values={"segment": "1"})
    assert ratings["score"].tolist()[:2] == [80, 60.5]


def test_several_arrays_are_sheets(imported):
    rows = [{name: cell for name, cell in row.items() if name != "lp"} for row in ROWS]
    content = {"en-de": rows, "en-cs": [rows[0] | {"system": "C"}]}
    ratings, *_ = imported(content)
    assert ratings.groupby("tgt_lang")["system"].apply(list).to_dict() == {"ces": ["C"], "deu": ["A", "B", "A"]}
    assert imported(content, sheet="en-cs")[0]["system"].tolist() == ["C"]
    with pytest.raises(DataError, match=r"'en-fr'.*en-de, en-cs"):
        imported(content, sheet="en-fr")


def test_what_is_no_object_is_rejected_with_its_number(imported):
    deep = {"score": 1}
    for _ in range(50):
        deep = {"item": deep}
    twice = judged() | {"item": {"doc": "d"}, "item.doc": "e"}
    content = [ROWS[0], 7, ROWS[1], {"x": "\udc80"}, ["a"], ROWS[2], deep, twice]
    ratings, _, report = imported(content)
    assert ratings[["system", "segment", "score"]].values.tolist() == RIGHT
    assert [entry["line"] for entry in report.first] == [2, 4, 5, 7, 8]
    text = "\n".join([json.dumps(ROWS[0]), "[1]", "{", json.dumps(ROWS[1]), '{"score": 1, "score": 2}', ""])
    ratings, _, report = imported(text, "my.jsonl")
    assert ratings["score"].tolist() == [80, 60.5]
    assert [entry["line"] for entry in report.first] == [2, 3, 5]


@pytest.mark.parametrize("before", [50, 700])
def test_a_key_counts_wherever_it_first_appears(before, imported):
    """Ten degraded items became outputs of a system, for the first fifty objects had no item_type."""
    more = [*[{}] * before, *[{"item_type": "degraded"}] * 10, {"source": "text"}]
    ratings, _, report = imported(in_lines(*(judged(segment=n, **one) for n, one in enumerate(more))), "keys.jsonl")
    assert ratings["item_type"].value_counts().to_dict() == {"system": before + 1, "degraded": 10}
    assert ratings["source"].dropna().tolist() == ["text"]
    assert any("without a kind of item" in note for note in report.notes)


def test_odd_names_letters_and_depths_of_objects_are_told(imported):
    """Each ended in a traceback."""
    deep = json.dumps(judged(segment=5))[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    halves = '{"system": "\\ud800B", "segment": "2", "annotator": "A", "score": 7, "lp": "en-de"}\n{"\\ud800": 1}\n'
    ratings, _, report = imported(in_lines(judged(), judged(segment=2) | {"": "nameless"}) + deep + halves, "odd.jsonl")
    assert (len(ratings), report.rows_rejected) == (2, 3)
    assert sum(count for reason, count in report.reasons.items() if "surrogate" in reason) == 2


def test_objects_of_ever_new_keys_are_no_table(imported):
    with pytest.raises(DataError, match=r"keys\.jsonl, line \d+: more than 2,000 different names"):
        imported(in_lines(*(judged(segment=n, **{f"key {n}": n}) for n in range(2_100))), "keys.jsonl")


# Names of files


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="does not apply: names of files are always text there")
@pytest.mark.parametrize(
    ("place", "act"),
    [
        ("{}.csv", lambda top, path: data.open_campaign(path)),
        ("human-scores/en-cs.{}.seg.score", lambda top, path: importing.import_campaign([top], top / "c.parquet")),
        ("system-outputs/en-cs/{}.txt", lambda top, path: data.open_testset(top)),
    ],
)
def test_a_file_whose_name_is_no_text_is_refused_wherever_it_lies(place, act, tmp_path):
    """As archives from elsewhere bring them; a traceback or, in a folder, left out without a word."""
    top = a_testset(tmp_path / "wmt24")
    path = top / place.format(os.fsdecode(b"gr\xf6\xdfe"))
    shutil.copy(next((top / "system-outputs/en-cs").iterdir()), path)
    with pytest.raises(DataError, match=r"gr\udcf6\udcdfe\S* is no text in UTF-8"):
        act(top, path)
    assert not (top / "c.parquet").exists()


def test_errors_of_a_spreadsheet_name_nothing(imported, tmp_path):
    text = "system\tseg_id\trater\tcategory\tseverity\tlp\n"
    text += "A\t1\tr\tOther\tMajor\ten-de\n#N/A\t2\tr\tOther\tMajor\ten-de\n"
    assert imported(text)[2].rows_rejected == 1
    rows = [["=A1", 1, "p", 4], ["#REF!", 2, "p", 4], ["A", 3, "=B9", 4], ["A", 4, "p", 5]]
    ratings, _, report = imported(book(Scores=[["system", "segment", "rater", "score"], *rows]))
    assert (ratings["score"].tolist(), report.rows_rejected) == ([5], 3)
    assert all("formula" in row["reason"] for row in rejected_rows(tmp_path / "c.rejected.csv"))
