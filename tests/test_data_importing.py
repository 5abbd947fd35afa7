"""Importing a campaign: what is recognised, what is rejected and where it stands, and that nothing is lost."""

import csv
import json
import os
import re
import stat
import subprocess
import sys
import time

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import importing
from evalkit.data.importing.cells import numbers
from evalkit.data.importing.cells.numbers import times
from evalkit.data.importing.pseudonyms import Pseudonyms
from evalkit.data.names import plain
from evalkit.reports import cli
from evalkit.reports.cli import campaigns

pytestmark = pytest.mark.usefixtures("own_salt")

HEADER = "src_lang,tgt_lang,system,doc,segment,annotator,score"
GOOD = ["eng,deu,A,d,1,Ann,80", "eng,deu,B,d,1,Ann,70", "eng,deu,A,d,1,Bob,60.5", "eng,deu,B,d,1,Bob,0"]


@pytest.fixture
def imported(tmp_path, own_salt):
    """Import a text, and return ratings, report and the rejected rows."""

    def run(text, *, name="my.csv", encoding="utf-8", **told):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        report, written = importing.import_campaign(
            [path], tmp_path / "out" / "campaign.parquet", **({"allow_rejected": True} | told)
        )
        ratings, spans = data.open_campaign(tmp_path / "out" / "campaign.parquet")
        rejected = tmp_path / "out" / "campaign.rejected.csv"
        rows = list(csv.DictReader(rejected.open(encoding="utf-8-sig"))) if rejected in written else []
        assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
        assert len(rows) == report.rows_rejected + report.rows_excluded
        assert len(ratings) == report.rows_kept
        return ratings, spans, report, rows

    return run


def lines(*rows, header=HEADER):
    return "\n".join([header, *rows]) + "\n"


def test_a_clean_table_comes_back_exactly(imported):
    ratings, spans, report, rejected = imported(lines(*GOOD), keep_names=True)
    assert ratings["score"].tolist() == [80, 70, 60.5, 0]
    assert ratings["annotator"].tolist() == ["Ann", "Ann", "Bob", "Bob"]
    assert (spans, rejected, report.format, report.scale) == (None, [], "csv", [0, 100])
    assert ratings.attrs["scale"] == (0, 100)
    assert ratings.attrs["source"]["source"] == "real"
    assert ratings.attrs["source"]["origin"] == "my.csv"
    assert re.fullmatch("sha256:[0-9a-f]{64}", ratings.attrs["source"]["digest"])


REFUSED = {
    "eng,deu,A,d,2,Ann,104": ("score", "outside 0-100"),
    "eng,deu,A,d,2,Ann,-1": ("score", "outside 0-100"),
    "eng,deu,A,d,2,Ann,": ("score", "there is no score"),
    "eng,deu,A,d,2,Ann,NA": ("score", "there is no score"),
    "eng,deu,A,d,2,Ann,85%": ("score", "percentage"),
    "eng,deu,A,d,2,Ann,1e400": ("score", "too large"),
    "eng,deu,A,d,2,Ann,nan": ("score", "there is no score"),
    "eng,deu,A,d,2,Ann,inf": ("score", "not a number"),
    "eng,deu,A,d,2,Ann,1_0": ("score", "not a number"),
    "eng,deu,A,d,2,Ann,0x10": ("score", "not a number"),
    "eng,deu,A,d,2,Ann,03.05.2026": ("score", "date"),
    "eng,deu,A,d,2,Ann,3-May": ("score", "date"),
    "eng,deu,A,d,2,Ann,45780": ("score", "date that a spreadsheet made"),
    'eng,deu,A,d,2,Ann,"85,5"': ("score", "comma in a column with decimal points"),
    'eng,deu,A,d,2,Ann,"1,234.5"': ("score", "thousands"),
    "eng,deu,A,d,2,Ann,#DIV/0!": ("score", "formula"),
    "eng,deu,A,d,2,,80": ("annotator", "is empty"),
    "eng,deu,,d,2,Ann,80": ("system", "is empty"),
    "eng,deu,A,d,2,Ann": ("", "6 cells where 7"),
    "eng,deu,A,d,2,Ann,85,5": ("", "decimal comma"),
    'eng,deu,A,d,2,"Ann,85': ("", "quote is not closed"),
    "eng,deu,A,d,1,Ann,80": ("score", "repeats the judgement of line 2"),
    "eng,deu,A,d,1,Ann,81": ("score", "judges again"),
}


@pytest.mark.parametrize("row", REFUSED)
def test_a_bad_row_is_rejected_with_its_line_and_the_rest_is_kept(row, imported):
    column, reason = REFUSED[row]
    ratings, _, report, rejected = imported(lines(*GOOD, row, "eng,deu,C,d,9,Ann,50"))
    assert len(rejected) == 1
    assert (rejected[0]["file"], rejected[0]["line"], rejected[0]["column"]) == ("my.csv", "6", column)
    assert reason in rejected[0]["reason"]
    assert ratings["score"].tolist() == [80, 70, 60.5, 0, 50]
    assert not any("Ann" in cell for cell in rejected[0].values())
    assert any("line 6" in sentence for sentence in report.sentences())


def test_rejected_rows_keep_all_their_cells(imported):
    _, _, _, rejected = imported(lines(*GOOD, "eng,deu,A,d,2,Ann,104"), keep_names=True)
    assert [rejected[0][name] for name in HEADER.split(",")] == ["eng", "deu", "A", "d", "2", "Ann", "104"]


def test_nothing_sound_is_an_error_and_leaves_no_file(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(lines("eng,deu,A,d,1,Ann,104"), encoding="utf-8")
    with pytest.raises(DataError, match=r"of 1 rows none is a sound judgement .*outside 0-100"):
        importing.import_campaign([path], tmp_path / "out.parquet")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["config", "my.csv"]


def test_an_import_that_fails_leaves_the_earlier_result_alone(tmp_path):
    out = tmp_path / "out.parquet"
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(lines(*GOOD, "eng,deu,A,d,2,Ann,104"), encoding="utf-8")
    bad.write_text(lines("eng,deu,A,d,1,Ann,104"), encoding="utf-8")
    importing.import_campaign([good], out, allow_rejected=True)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("out*")}
    assert set(before) == {"out.parquet", "out.rejected.csv", "out.import.json"}
    with pytest.raises(DataError):
        importing.import_campaign([bad], out)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("out*")} == before
    bad.write_text(lines(*GOOD), encoding="utf-8")
    importing.import_campaign([bad], out)
    assert not (tmp_path / "out.rejected.csv").exists(), "the rejected rows of another import are gone"


def test_a_killed_import_leaves_nothing_that_could_pass_for_a_result(tmp_path):
    path = tmp_path / "long.csv"
    rows = (
        f"eng,deu,S{system},d,{segment},A{segment % 7},{segment % 100}"
        for system in range(40)
        for segment in range(25_000)
    )
    path.write_text(lines(*rows), encoding="utf-8")
    code = "import sys; from evalkit.data import importing; importing.import_campaign([sys.argv[1]], sys.argv[2])"
    process = subprocess.Popen([sys.executable, "-c", code, path, tmp_path / "out.parquet"])
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out.parquet.*.part")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert list(tmp_path.glob(".out.parquet.*.part"))
    assert not list(tmp_path.glob("out*"))
    [left] = tmp_path.glob(".out.parquet.*.part")
    os.utime(left, (0, 0))
    path.write_text(lines(*GOOD), encoding="utf-8")
    importing.import_campaign([path], tmp_path / "out.parquet")
    assert not left.exists(), "what a killed import left is cleared away"


def test_headings_are_proposed_by_synonyms_and_the_report_says_so(imported):
    header = "Source Language;Target Language;MT engine;engine;Document ID;Seg-ID;Rater ID;Rating;Comment"
    ratings, _, report, _ = imported(lines("English;de;x;A;d;007;Ann;80;fine", header=header))
    assert ratings.loc[0, ["src_lang", "tgt_lang", "system", "segment", "score"]].tolist() == [
        "eng",
        "deu",
        "A",
        "007",
        80,
    ]
    assert report.mapping["annotator"] == {"theirs": "Rater ID", "how": "synonym"}
    assert report.unused == ["MT engine", "Comment"]


def test_headings_may_span_lines_and_state_the_scale_in_brackets(imported):
    header = HEADER.replace("score", '"Score\n(0-100)"')
    ratings, _, report, rejected = imported(lines(*GOOD, "eng,deu,A,d,2,Ann,104", header=header))
    assert ratings["score"].tolist() == [80, 70, 60.5, 0]
    assert [row["line"] for row in rejected] == ["7"]
    assert report.mapping["score"]["theirs"] == "Score (0-100)"


def test_an_ambiguous_synonym_is_not_applied(tmp_path, imported):
    text = lines("eng,deu,A,d,1,Ann,w1,80", header="src_lang,tgt_lang,system,doc,segment,rater,worker,score")
    with pytest.raises(DataError, match=r"annotator could be 'rater' or 'worker'.*--map annotator='rater'"):
        imported(text)
    ratings, _, report, _ = imported(text, columns={"annotator": "worker"}, keep_names=True)
    assert ratings["annotator"].tolist() == ["w1"]
    assert report.mapping["annotator"]["how"] == "as told"


def test_what_lacks_is_told_with_the_remedy(imported):
    with pytest.raises(
        DataError, match=r"formats that were tried \(.*esa.*csv\)\. Nearest is csv, but it lacks annotator"
    ):
        imported(lines("eng,deu,A,d,1,80", header="src_lang,tgt_lang,system,doc,segment,score"))
    with pytest.raises(DataError, match=r"no column for annotator;.*--map annotator=HEADING.*--value annotator=TEXT"):
        imported(lines("eng,deu,A,d,1,80", header="src_lang,tgt_lang,system,doc,segment,score"), format="csv")


def test_languages_come_from_a_pair_a_value_or_the_files_name(imported):
    short, row = "system,doc,segment,annotator,score", "A,d,1,Ann,80"
    assert imported(lines(row + ",en-de", header=short + ",lp"))[0]["tgt_lang"].tolist() == ["deu"]
    assert imported(lines(row, header=short), values={"pair": "eng_Latn-zho_Hans"})[0]["tgt_lang"].tolist() == ["zho"]
    ratings, _, report, _ = imported(lines(row, header=short), name="scores.en-hi.csv")
    assert ratings["tgt_lang"].tolist() == ["hin"]
    assert any("read from the name" in note for note in report.notes)


def test_varieties_of_a_language_are_not_silently_one(imported):
    ratings, _, report, _ = imported(lines("en-US,de-DE,A,d,1,Ann,80", "en-US,de-DE,A,d,2,Ann,80"))
    assert ratings[["src_lang", "tgt_lang"]].drop_duplicates().values.tolist() == [["eng", "deu"]]
    assert "tgt_lang de-DE was read as deu" in report.notes
    with pytest.raises(DataError, match="tgt_lang has zh-CN and zh-TW, which would become one language, zho"):
        imported(lines("en,zh-CN,A,d,1,Ann,80", "en,zh-TW,A,d,2,Ann,80"))
    header = "lp,system,doc,segment,annotator,score"
    with pytest.raises(DataError, match="tgt_lang has zho_Hans and zho_Hant"):
        imported(lines("eng_Latn-zho_Hans,A,d,1,Ann,80", "eng_Latn-zho_Hant,A,d,2,Ann,80", header=header))


def test_a_column_called_type_that_means_something_else_is_left_alone(imported):
    text = lines("eng,deu,A,d,1,Ann,80,news", header=HEADER + ",Type")
    ratings, _, report, _ = imported(text)
    assert ratings["item_type"].tolist() == ["system"]
    assert "Type" in report.unused
    assert imported(text.replace("news", "REF"))[0]["item_type"].tolist() == ["reference"]
    assert imported(text.replace("news", "REF"), columns={"item_type": ""})[0]["item_type"].tolist() == ["system"]


def test_a_scale_that_hardly_fits_is_told(imported):
    _, _, report, _ = imported(lines("eng,deu,A,d,1,Ann,6", "eng,deu,A,d,2,Ann,7"))
    assert report.scale == [1, 7]
    assert "the smallest usual scale that holds all 2 scores (6 to 7); a guess" in report.scale_from


def test_a_toml_file_maps_columns_values_kinds_and_scale(imported, tmp_path):
    (tmp_path / "map.toml").write_text(
        'scale = [1, 7]\n[columns]\nscore = "Güte"\nitem_type = "Art"\n[values]\nsystem = "S"\npair = "en-de"\n'
        '[item_types]\nKontrolle = "repeat"\n',
        encoding="utf-8",
    )
    text = "segment;annotator;Güte;Art\n1;Ann;6,5;tgt\n2;Ann;7;Kontrolle\n3;Ann;8;tgt\n"
    ratings, _, report, rejected = imported(text, mapping=tmp_path / "map.toml")
    assert ratings["score"].tolist() == [6.5, 7]
    assert ratings["item_type"].tolist() == ["system", "repeat"]
    assert "outside 1-7" in rejected[0]["reason"]
    assert report.scale == [1, 7]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("columns = 3", "columns is no section"),
        ("[columns]\nrater = 'x'", "'rater' is none of our columns"),
        ("colour = 'red'", "'colour' is not known"),
        ("scale = [5, 1]", "does not go up"),
        ("scale = 'x'", "is not two numbers"),
        ("[columns]\nscore = 3", "score names no column"),
        ("[item_types]\nx = 'y'", "'y' is none of"),
        ("decimal = ';'", "neither a point nor a comma"),
        ("scale = '15'", "is not two numbers"),
        ("scale = [false, true]", "is not two numbers"),
        ("scale = [1, 1" + "0" * 400 + "]", "is not two numbers"),
        ("[values]\nsystem = [1]", "'system' in \\[values\\] is no text"),
        ("[values]\ndoc = 1.10", "is no text. Put it in quotes"),
        ("[values]\ndoc = true", "is no text"),
        ("[values]\nsystem = ''", "--value system= gives no text"),
        ("[item_types]\nref = ['reference']", "is no text"),
        ("[columns]\nscore = []", "score names no column"),
        ("format = 'nonsense'", "The mapping names the format 'nonsense'"),
        ("[columns]\nscore = " + "[" * 5000, "cannot be read"),
        ("[", "cannot be read"),
    ],
)
def test_a_bad_mapping_is_told(toml, message, imported, tmp_path):
    (tmp_path / "map.toml").write_text(toml, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        imported(lines(*GOOD), mapping=tmp_path / "map.toml")


GERMAN = "src_lang;tgt_lang;system;doc;segment;annotator;score\neng;deu;Übersetzer größer;d;1;Jürgen Weiß;85,5\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_encodings_are_found_out(encoding, imported):
    ratings, _, report, _ = imported(GERMAN, encoding=encoding, keep_names=True)
    assert ratings.loc[0, ["system", "annotator", "score"]].tolist() == ["Übersetzer größer", "Jürgen Weiß", 85.5]
    if encoding != "utf-8":
        assert any("read as" in note for note in report.notes) or encoding == "utf-8-sig"


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
    ratings, _, report, _ = imported(
        GERMAN.replace("Übersetzer größer", "S").replace("Jürgen Weiß", name), encoding=encoding, keep_names=True
    )
    assert ratings["annotator"].tolist() == [name]
    assert any(f"read as {encoding}" in note for note in report.notes)


def test_an_encoding_can_be_named(tmp_path):
    (tmp_path / "my.csv").write_bytes(GERMAN.encode("cp850"))
    ratings, _ = data.open_campaign(tmp_path / "my.csv", encoding="cp850", keep_names=True)
    assert ratings["annotator"].tolist() == ["Jürgen Weiß"]
    with pytest.raises(DataError, match="'cp0' is no encoding of files"):
        data.open_campaign(tmp_path / "my.csv", encoding="cp0")
    with pytest.raises(DataError, match="is not sound utf-8"):
        data.open_campaign(tmp_path / "my.csv", encoding="utf-8")


def test_a_decimal_comma_is_read_where_nothing_else_is_meant(imported):
    scores = ["85,5", "90", "7,25", "3,125", "88.5"]
    text = lines(
        *(f"eng;deu;A;d;{place};Ann;{score}" for place, score in enumerate(scores)), header=HEADER.replace(",", ";")
    )
    ratings, _, _, rejected = imported(text)
    assert ratings["score"].tolist() == [85.5, 90, 7.25, 3.125]
    assert "decimal point in a column with decimal commas" in rejected[0]["reason"]


def test_a_number_with_two_readings_is_rejected_unless_the_mark_is_told(imported):
    text = lines("eng;deu;A;d;1;Ann;1,234", "eng;deu;A;d;2;Ann;5", header=HEADER.replace(",", ";"))
    ratings, _, _, rejected = imported(text)
    assert ratings["score"].tolist() == [5]
    assert "could be decimals or thousands" in rejected[0]["reason"]
    assert imported(text, decimal=",")[0]["score"].tolist() == [1.234, 5]


def test_quotes_that_swallow_rows_are_noticed(imported):
    rows = [
        "eng,deu,A,d,2,Ann,10",
        'eng,deu,"A,d,3,Ann,20',
        "eng,deu,A,d,4,Ann,30",
        'eng,deu,A",d,5,Ann,40',
        "eng,deu,A,d,6,Ann,50",
    ]
    ratings, _, _, rejected = imported(lines(*GOOD, *rows))
    assert ratings["score"].tolist() == [80, 70, 60.5, 0, 10, 30, 40, 50]
    assert [row["line"] for row in rejected] == ["7"]
    assert ratings["system"].tolist()[-2] == 'A"', "within a cell a quote is a letter like others"


def test_cells_over_several_lines_are_one_cell_and_lines_are_the_files(imported):
    text = lines('eng,deu,A,"a\nb, c",1,Ann,80', "eng,deu,A,d,2,Ann,104", "", "eng,deu,A,d,3,Ann,105")
    ratings, _, _, rejected = imported(text)
    assert ratings["doc"].tolist() == ["a\nb, c"]
    assert [row["line"] for row in rejected] == ["4", "6"]


def test_a_title_above_the_headings_is_skipped(imported):
    ratings, *_ = imported("Campaign of May,,,,,,\n,,,,,,\n" + lines(*GOOD))
    assert ratings["score"].tolist() == [80, 70, 60.5, 0]


def test_json_lines_keep_digits_and_reject_what_is_no_object(imported):
    rows = [dict(zip(HEADER.split(","), row.split(","))) | {"score": float(row.split(",")[-1])} for row in GOOD]
    text = "\n".join([json.dumps(rows[0]), "[1]", "{", json.dumps(rows[2]), '{"score": 1, "score": 2}'])
    ratings, _, report, rejected = imported(text, name="my.jsonl", keep_names=True)
    assert ratings["score"].tolist() == [80, 60.5]
    assert [row["line"] for row in rejected] == ["2", "3", "5"]
    assert report.format == "csv"


def test_later_judgements_of_the_same_item_are_repeats_where_times_tell(imported):
    text = lines(
        "eng,deu,A,d,1,Ann,80,2026-01-02T10:00:00Z",
        "eng,deu,A,d,1,Ann,70,2026-01-01T10:00:00Z",
        header=HEADER + ",started",
    )
    ratings, _, report, _ = imported(text)
    assert ratings["item_type"].tolist() == ["repeat", "system"]
    assert ratings["started"].tolist() == [1767348000.0, 1767261600.0]
    assert any("repeats" in note for note in report.notes)


def test_times_are_seconds_milliseconds_or_dates():
    cells = pd.Series(
        ["1724108687.807", "1724108687807", "2024-08-19 23:04:47", "2024-08-20T01:04:47+02:00", None, "soon"]
    )
    values, left, zoneless, _ = times(cells)
    assert values[:4].tolist() == [1724108687.807, 1724108687.807, 1724108687.0, 1724108687.0]
    assert left == [5]
    assert zoneless


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20))
def test_numbers_come_back_to_the_last_bit(values):
    found, wrong = numbers.read(pd.Series([repr(value) for value in values]))
    assert found.tolist() == values
    assert not wrong
    found, wrong = numbers.read(
        pd.Series([repr(value).replace(".", ",") for value in values if "e" not in repr(value)]), ","
    )
    assert found.tolist() == [value for value in values if "e" not in repr(value)]


@pytest.mark.parametrize("others", [["1", "2"], ["1", "x"]])  # read at once, and cell by cell
def test_a_number_whose_powers_are_infinite_is_none(others):
    found, wrong = numbers.read(pd.Series([*others, "1e49", "-1e50"], dtype="str"))
    assert found[[0, 2]].tolist() == [1, 1e49]
    assert wrong[3] == "is too large for a number"


@given(st.text(max_size=12))
def test_a_cell_is_the_number_it_says_or_none(text):
    [value], wrong = numbers.read(pd.Series([text], dtype="str"))
    if wrong:
        assert pd.isna(value)
    else:
        assert float(text.strip().replace(",", ".").replace("−", "-")) == value
        assert re.fullmatch(r"[+-−]?[0-9.,eE+-]+", text.strip())


LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
#: Names as they are written: in one form, without what cannot be seen, and with a letter, for "-" is no name.
SYSTEMS = st.text(LETTERS, max_size=6).map(lambda text: plain(f"{text}S"))
ROWS = st.lists(st.tuples(SYSTEMS, st.floats(0, 100)), min_size=1, max_size=12)


@given(
    ROWS,
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_clean_export_comes_back_exactly(tmp_path_factory, rows, delimiter, encoding, end):
    folder = tmp_path_factory.mktemp("law")
    frame = pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": [system for system, _ in rows],
            "doc": "a b",
            "segment": [str(place) for place in range(len(rows))],
            "annotator": "Ann O'Neil",
            "score": [score for _, score in rows],
            "item_type": "system",
        }
    )
    frame.to_csv(folder / "my.csv", index=False, sep=delimiter, encoding=encoding, lineterminator=end)
    importing.import_campaign([folder / "my.csv"], folder / "my.parquet", keep_names=True)
    again, _ = data.open_campaign(folder / "my.parquet")
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)


def test_quick_and_careful_reading_agree(imported):
    rows = [f"eng,deu,S{place % 3},d,{place},A{place % 5},{place % 101}" for place in range(3000)]
    quick, *_ = imported(lines(*rows))
    careful, *_ = imported(lines(*(row.replace(",d,", ',"d",') for row in rows)))
    pd.testing.assert_frame_equal(quick, careful)


def test_names_stand_nowhere_in_what_is_written(tmp_path, capsys):
    path = tmp_path / "my.csv"
    name = "Annabel Leigh"
    rows = [
        "en,de,A,d,1,%s,80,task-%s-1,%s@x.org",
        "en,de,A,d,2,%s,104,task-%s-1,%s@x.org",
        "en,de,A,d,3,%s,80,task-%s-1",
        "en,de,A,d,1,%s,80,task-%s-1,%s@x.org",
        'en,de,"A,d,9,%s,1,%s,%s',
        "en,de,A,d,4,%s,,task-%s,%s",
    ]
    path.write_text(lines(*(row.replace("%s", name) for row in rows), header=HEADER + ",hit,e-mail"), encoding="utf-8")
    assert cli.main(["import", str(path), "--allow-rejected", "--out", str(tmp_path / "c.parquet")]) == 0
    printed = capsys.readouterr()
    written = list(tmp_path.glob("c.*"))
    assert len(written) == 3
    everything = b"".join(found.read_bytes() for found in written) + (printed.out + printed.err).encode()
    table = pq.read_table(tmp_path / "c.parquet").to_pylist()
    for text in (everything.decode("utf-8", "replace"), json.dumps(table)):
        assert "annabel" not in text.casefold()
        assert "leigh" not in text.casefold()
    assert table[0]["hit"] == f"task-{table[0]['annotator']}-1"


def test_pseudonyms_are_the_same_at_a_second_import_and_others_with_another_salt(imported, tmp_path):
    first, *_ = imported(lines(*GOOD))
    again, *_ = imported(lines(*reversed(GOOD)))
    assert set(first["annotator"]) == set(again["annotator"])
    assert set(first["annotator"]).isdisjoint(imported(lines(*GOOD), salt="pepper")[0]["annotator"])
    salt = tmp_path / "config" / "salt"
    assert stat.S_IMODE(salt.stat().st_mode) == 0o600
    assert len(salt.read_text(encoding="ascii").strip()) == 64
    salt.write_text("", encoding="ascii")
    with pytest.raises(DataError, match="holds no salt"):
        imported(lines(*GOOD))


@given(st.lists(st.text(min_size=1, max_size=8), min_size=2, max_size=8, unique=True))
def test_different_people_have_different_pseudonyms(names):
    people = set(names)
    aliases = Pseudonyms("pepper")
    found = {name: aliases.one(name) for name in people}
    assert all(re.fullmatch("a-[a-z2-7]{10}", alias) for alias in found.values())
    assert len(set(found.values())) == aliases.count


def test_the_command_prints_paths_on_stdout_and_the_report_on_stderr(tmp_path, capsys):
    path = tmp_path / "my.csv"
    path.write_text(lines(*GOOD), encoding="utf-8")
    code = cli.main(["import", str(path), "--out", str(tmp_path / "c.parquet"), "--scale", "0:90", "--keep-names"])
    printed = capsys.readouterr()
    assert code == 0
    assert printed.out.splitlines() == [str(tmp_path / "c.parquet"), str(tmp_path / "c.import.json")]
    assert "4 rows read: 4 kept, 0 rejected" in printed.err
    report = json.loads((tmp_path / "c.import.json").read_text(encoding="utf-8"))
    assert (report["rows_kept"], report["scale"], report["scale_from"]) == (4, [0, 90], "as told")
    assert cli.main(["import", str(tmp_path / "none.csv")]) == 1
    assert "is not there" in capsys.readouterr().err


def test_the_command_knows_the_same_formats_as_the_package():
    assert campaigns.FORMATS == importing.FORMATS


def test_a_campaign_opens_raw_too_and_a_foreign_parquet_does_not(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text(lines(*GOOD, "eng,deu,A,d,2,Ann,104"), encoding="utf-8")
    with pytest.raises(DataError, match=r"1 of 5 rows \(20\.0%\) cannot be read.*--allow-rejected"):
        data.open_campaign(path)
    ratings, spans = data.open_campaign(path, allow_rejected=True)
    assert (len(ratings), spans) == (4, None)
    assert ratings.attrs["source"]["name"] == "my"
    assert sum(ratings.attrs["excluded"].values()) == 1
    pq.write_table(pa.table({"x": [1]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="was not written by `evalkit import`"):
        data.open_campaign(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match="is no sound Parquet"):
        data.open_campaign(tmp_path / "y.parquet")


def test_several_files_are_one_campaign(tmp_path):
    for number, row in enumerate(GOOD[:2]):
        (tmp_path / f"{number}.csv").write_text(lines(row), encoding="utf-8")
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    report, _ = importing.import_campaign(paths, tmp_path / "c.parquet")
    assert [entry["name"] for entry in report.files] == ["0.csv", "1.csv"]
    assert len(data.open_campaign(tmp_path / "c.parquet")[0]) == 2
    (tmp_path / "1.csv").write_text(lines(GOOD[0]), encoding="utf-8")
    with pytest.raises(DataError, match="same content"):
        importing.import_campaign(paths, tmp_path / "c.parquet")
    (tmp_path / "1.csv").write_text(lines(GOOD[0], GOOD[1]), encoding="utf-8")
    report, _ = importing.import_campaign(paths, tmp_path / "c.parquet", allow_rejected=True)
    assert "repeats the judgement of line 2 of 0.csv" in (tmp_path / "c.rejected.csv").read_text(encoding="utf-8")
