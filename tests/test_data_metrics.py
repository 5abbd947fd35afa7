"""Scores of metrics, and what they are held against: the real files, faulty ones, simulations, and the kept tables."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import files, languages, mtme

WMT23 = "wmt-conference/ErrorSpanAnnotation/e7f88b51a5d36dd5a9c9c1d80556f69637716cd4/data/mt-metrics-eval-v2/wmt23"
WMT20 = "WMT-Metrics-task/wmt20-metrics/3e434fc32fd02999c885575df6167c31f60ee996"
CELL = ["system", "doc", "segment"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "parsed"


def rows(path, **options):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream, quoting=csv.QUOTE_NONE, **options))


def of(table, source, target, **names):
    chosen = (table["src_lang"] == source) & (table["tgt_lang"] == target)
    for column, name in names.items():
        chosen &= table[column] == name
    return table[chosen]


# WMT23


@pytest.mark.parametrize("name", ["BLEU-refA", "GEMBA-MQM-src"])
def test_wmt23_scores_are_the_files_own_to_the_last_bit(real, mirrored, name):
    raw = rows(mirrored(f"{WMT23}/metric-scores/zh-en/{name}.seg.score"), delimiter="\t")
    metric, _, reference = name.rpartition("-")
    ours = of(real("wmt23-metrics"), "zho", "eng", metric=metric, reference=reference)
    assert ours["score"].tolist() == [float(score) for _, score in raw]
    assert ours["system"].tolist() == [system for system, _ in raw]
    assert ours["segment"].tolist() == [str(n % 1976 + 1) for n in range(len(raw))]
    docs = [doc for _, doc in rows(mirrored(f"{WMT23}/documents/zh-en.docs"), delimiter="\t")]
    assert ours["doc"].tolist() == docs * (len(raw) // 1976)


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
@pytest.mark.parametrize("pair", ["en-de", "zh-en"])
def test_a_missing_human_score_has_no_row_and_shifts_no_other(real, mirrored, pair, gold):
    raw = rows(mirrored(f"{WMT23}/human-scores/{pair}.{gold}.seg.score"), delimiter="\t")
    segments = len(rows(mirrored(f"{WMT23}/documents/{pair}.docs"), delimiter="\t"))
    expected = [(s, str(n % segments + 1), float(v)) for n, (s, v) in enumerate(raw) if v != "None"]
    assert len(expected) < len(raw)
    ours = of(real("wmt23-human"), *languages.pair(pair, origin=""), metric=gold)
    assert list(ours[["system", "segment", "score"]].itertuples(index=False, name=None)) == expected


# WMT20 and WMT17


@pytest.mark.slow
def test_wmt20_scores_are_the_files_own_to_the_last_bit(real, mirrored):
    with gzip.open(mirrored(f"{WMT20}/final-metric-scores/submissions/SWSS+METEOR.seg.score.gz"), "rt") as stream:
        raw = [line.rstrip("\n").split("\t") for line in stream]
    scores = real("wmt20-metrics")
    ours = scores[scores["metric"] == "SWSS+METEOR"]
    assert ours["score"].tolist() == [float(row[7]) for row in raw]
    for place, column in ((3, "reference"), (4, "system"), (5, "doc"), (6, "segment")):
        assert ours[column].tolist() == [row[place] for row in raw]
    pairs = [f"{languages.CODES[row[1][:2]]}-{languages.CODES[row[1][3:]]}" for row in raw]
    assert (ours["src_lang"].astype(str) + "-" + ours["tgt_lang"].astype(str)).tolist() == pairs
    assert scores.attrs["excluded"] == {"out-of-domain scores of English-Inuktitut": 2 * 11 * 1405}


def test_official_results_are_transcribed_as_printed(real):
    files, table = real("wmt20-darr"), data.published("wmt20_darr")
    assert table.groupby("pair").size().between(3, 5).all()
    assert table["pair"].nunique() == 18
    files = files.assign(pair=files["src_lang"] + "-" + files["tgt_lang"], pairs=files["pairs"].astype(str))
    both = table.merge(files, on=["pair", "metric"], suffixes=("", "_file"))
    assert set(both["pair"]) == {"deu-eng", "eng-deu", "zho-eng"}
    assert len(both) == 4 + 4 + 5
    assert (both["tau"] == both["tau_file"]).all()
    assert (both["pairs"] == both["pairs_file"]).all()


def test_wmt17_gives_every_joined_system_its_row_and_its_text(real, mirrored):
    table = real("wmt17-da")
    path = "AIPHES/ACL20-Reference-Free-MT-Evaluation/2026e18c8874e5659ea6c03f82ec3e600d0feac1/WMT17/"
    raw = rows(mirrored(f"{path}DA-seglevel.csv"), delimiter=" ")[1:]
    assert len(table) == sum(len(row[2].split("+")) for row in raw)
    assert table.drop_duplicates(["src_lang", "tgt_lang", "segment", "together"]).shape[0] == len(raw)
    assert (table["hypothesis"] == "").eq(table["src_lang"] == "eng").all()
    text = mirrored(f"{path}system-outputs/de-en/newstest2017.C-3MA.4958.de-en").read_text(encoding="utf-8").split("\n")
    ours = of(table, "deu", "eng", system="C-3MA.4958")
    assert ours["hypothesis"].tolist() == [text[int(number) - 1] for number in ours["segment"]]
    joined = table[table["together"].str.contains("+", regex=False) & (table["src_lang"] != "eng")]
    texts = joined.groupby(["src_lang", "together", "segment"], observed=True)["hypothesis"]
    assert texts.nunique().eq(1).all(), "systems are joined because they wrote the same"


# Faulty files


def put(folder, files):
    paths = []
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        paths.append(path)
    return paths


DOCS = {"documents/en-de.docs": "news\td1\nnews\td1\nsocial\td2\n"}
GOOD = DOCS | {"metric-scores/en-de/my-metric-src.seg.score": "A\t0.5\nA\tNone\nA\t1\nB\t1e-3\nB\t-2\nB\t0\n"}


def test_scores_of_ones_own_in_the_same_layout(tmp_path):
    table = mtme.segment_scores(put(tmp_path, GOOD))
    assert table[["system", "doc", "segment", "score"]].values.tolist() == [
        ["A", "d1", "1", 0.5],
        ["A", "d2", "3", 1.0],
        ["B", "d1", "1", 0.001],
        ["B", "d1", "2", -2.0],
        ["B", "d2", "3", 0.0],
    ]
    assert table[["metric", "reference"]].drop_duplicates().values.tolist() == [["my-metric", "src"]]


def human(content):
    return DOCS | {"human-scores/en-de.mqm.seg.score": content}


TEXT = {f"{kind}/en-de{name}": "a\nb\nc\n" for kind, name in (("sources", ".txt"), ("references", ".refA.txt"))}


@pytest.mark.parametrize(
    ("load", "files", "told"),
    [
        (mtme.segment_scores, human("A\t1\nA\t2\nA\t3\nB\t1\nB\t2\n"), "B has 2 lines for 3 segments"),
        (mtme.segment_scores, human("A\t1\nA\thigh\nA\t3\n"), "high"),
        (mtme.segment_scores, human("A\ttrue\nA\t1\nA\t1\n"), "line 1: 'true'"),
        (mtme.segment_scores, human("A\t1\n \t2\nA\t3\n"), "line 2: no system"),
        (mtme.segment_scores, human("A\t1\nA\t2\t3\nA\t3\n"), "line 2: 3 cells"),
        (mtme.segment_scores, human("A\t1\t7\nA\t2\nA\t3\n"), "line 1: 3 cells"),
        (mtme.segment_scores, DOCS | {"scores.txt": "A\t1\n"}, "scores.txt is not named"),
        (mtme.segment_scores, GOOD | {"documents/en-de.docs": "news\td1\nnews\nsocial\td2\n"}, "line 2: 1 cells"),
        (mtme.outputs, DOCS | TEXT | {"system-outputs/en-de/A.txt": "x\ny\n"}, "A.txt has 2 lines"),
    ],
)
def test_faulty_files_of_scores_are_told(tmp_path, load, files, told):
    with pytest.raises(DataError, match=told):
        load(put(tmp_path, files))


# Kept tables


def loader(paths):
    frame = pd.DataFrame({"text": pd.Series(["a", "b"], dtype="category"), "score": [0.1, float(len(paths))]})
    frame.attrs["excluded"] = {"nothing": 0}
    return frame


def refuse(paths):
    raise AssertionError("parsed again")


def test_a_table_is_parsed_once_for_the_same_content(cache):
    first = files.kept("toy", loader, [1, 2], digest="git:1")
    again = files.kept("toy", refuse, [1, 2], digest="git:1")
    pd.testing.assert_frame_equal(first, again)
    assert again.attrs == first.attrs
    with pytest.raises(AssertionError, match="parsed again"):
        files.kept("toy", refuse, [1, 2], digest="git:2")
    files.kept("other", loader, [1], digest="git:3")
    files.kept("toy", loader, [1], digest="git:4")
    assert sorted(path.name.split(".")[0] for path in cache.iterdir()) == ["other", "toy"], "one table of each"
    [kept] = cache.glob("toy*")
    whole = kept.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", whole[:10] + bytes([whole[10] ^ 255]) + whole[11:]):
        kept.write_bytes(damage)
        assert files.kept("toy", loader, [1], digest="git:4")["score"].tolist() == [0.1, 1.0]
        assert kept.read_bytes() == whole


def test_a_cache_that_cannot_be_written_costs_time_and_not_the_table(cache, monkeypatch, capsys):
    (cache.parents[1] / "file").write_text("no folder")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(cache.parents[1] / "file" / "x"))
    assert len(files.kept("toy", loader, [1], digest="x")) == 2
    assert "kept" in capsys.readouterr().err


# Places of lines


@given(st.integers(1, 6), st.integers(1, 5), st.randoms(use_true_random=False))
def test_each_line_is_placed_by_how_many_of_its_system_came_before(segments, systems, random):
    names = [f"s{number}" for number in range(systems)] * segments
    random.shuffle(names)
    scores = pd.DataFrame({"system": pd.Categorical(names), "score": np.arange(len(names), dtype=float)})
    docs = pd.DataFrame({"doc": [random.choice("ab") for _ in range(segments)]})
    docs["segment"] = [str(number + 1) for number in range(segments)]
    before = [names[:place].count(name) for place, name in enumerate(names)]
    made = mtme.lined_up(scores, docs, Path("x.seg.score"))
    assert made["segment"].tolist() == [str(number + 1) for number in before]
    assert made["doc"].tolist() == [docs["doc"][number] for number in before]
    with pytest.raises(DataError, match=r"lines.* for .* segments"):
        mtme.lined_up(pd.concat([scores, scores.head(1)]).astype({"system": "category"}), docs, Path("x.seg.score"))
