"""Scores of metrics, and what they are held against: the real files, faulty ones, simulations, and the kept tables."""

import csv
import gzip
import io
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import files, languages, mtme, parsed, registry, schemas, simulate, wmt17, wmt19, wmt20

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


def test_every_metric_of_wmt23_scored_every_translation(real):
    scores = real("wmt23-metrics")
    for source, segments, systems in (("eng", 557, 12), ("zho", 1976, 15)):
        table = scores[scores["src_lang"] == source]
        counts = table.groupby(["metric", "system"], observed=True).size().unstack(fill_value=0)
        assert counts.shape == (43, systems + 2)
        assert set(counts.stack()) == {0, segments}
        assert counts.drop(columns="refA").eq(segments).all(axis=None)
        without_reference = set(table.loc[table["reference"] == "src", "metric"])
        assert without_reference < set(counts.index[counts["refA"] > 0])  # they can score the reference, too
    assert scores.groupby("metric", observed=True)["reference"].nunique().eq(1).all()
    assert set(scores["reference"].unique()) == {"refA", "src"}


@pytest.mark.parametrize("name", ["BLEU-refA", "GEMBA-MQM-src", "MetricX-23-QE-src"])
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


def test_system_scores_of_wmt23(real, mirrored):
    scores, human = real("wmt23-metrics-systems"), real("wmt23-human-systems")
    assert scores.groupby("src_lang", observed=True)["metric"].nunique().tolist() == [45, 45]
    assert len(scores) == 24 * (13 + 16) + 21 * (14 + 17)  # those that read no reference, and two others, score refA
    raw = rows(mirrored(f"{WMT23}/metric-scores/en-de/BLEU-refA.sys.score"), delimiter="\t")
    ours = of(scores, "eng", "deu", metric="BLEU")
    assert list(ours[["system", "score"]].itertuples(index=False, name=None)) == [(s, float(v)) for s, v in raw]
    mean = of(real("wmt23-metrics"), "eng", "deu", metric="BLEU").groupby("system", observed=True)["score"].mean()
    assert (np.abs(mean[ours["system"]].to_numpy() - ours["score"]) > 0.1).all(), "no means of segment scores"
    assert len(human) == 2 * (13 + 16)


def test_outputs_of_wmt23_are_the_lines_of_the_files(real, mirrored):
    outputs = real("wmt23-outputs")
    assert len(outputs) == 13 * 557 + 16 * 1976
    for pair, system in (("en-de", "AIRC"), ("zh-en", "GPT4-5shot")):
        text = mirrored(f"{WMT23}/system-outputs/{pair}/{system}.txt").read_bytes().decode("utf-8-sig")
        ours = of(outputs, *languages.pair(pair, origin=""), system=system)["hypothesis"]
        assert "".join(line + "\n" for line in ours) == text
    assert not outputs["hypothesis"].str.startswith("\ufeff").any()


# WMT20 and WMT17


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


def test_wmt20_assessments_all_find_a_metric_score(real):
    assessed, scores = real("wmt20-da"), real("wmt20-metrics")
    assert assessed["score"].between(0, 100).all()
    assert assessed.groupby(["src_lang", "tgt_lang"], observed=True).ngroups == 18
    machine = assessed[~assessed["system"].str.startswith("Human")]
    official = scores[(scores["reference"] == "newstest2020") & (scores["metric"] == "chrF")]
    keys = ["src_lang", "tgt_lang", *CELL]
    joined = machine[keys].astype(str).merge(official[keys].astype(str), how="left", indicator=True)
    assert len(joined) == len(machine)
    assert (joined["_merge"] == "both").all()


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


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\t1\nA\t2\nA\t3\nB\t1\nB\t2\n"}, "B has 2 lines for 3 segments"),
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\t1\nA\thigh\nA\t3\n"}, "high.*Expected system and score"),
        (DOCS | {"scores.txt": "A\t1\n"}, "scores.txt is not named as mt-metrics-eval names scores"),
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\tTrue\nA\tFalse\nA\tTrue\n"}, r"score, line 1: 'True' stands"),
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\ttrue\nA\t1\nA\t1\n"}, r"score, line 1: 'true' stands"),
        (GOOD | {"documents/en-de.docs": "news\td1\nnews\nsocial\td2\n"}, r"en-de\.docs, row 2: no doc\. Expected"),
        (GOOD | {"documents/en-de.docs": "news\td1\nnews\td1\nx\t\u200b\n"}, r"en-de\.docs, row 3: no doc"),
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\t1\n \t2\nA\t3\n"}, r"score, row 2: no system"),
        (DOCS | {"human-scores/en-de.mqm.seg.score": "A\t1\nA\t2\t3\nA\t3\n"}, r"^en-de.mqm.seg.score: [^\n]*$"),
        ({"documents/xx-de.docs": "n\td\n", "human-scores/xx-de.mqm.seg.score": "A\t1\n"}, "'xx' in 'xx-de'"),
    ],
)
def test_faulty_scores_are_named(tmp_path, files, complaint):
    with pytest.raises(DataError, match=complaint):
        mtme.segment_scores(put(tmp_path, files))


def test_outputs_of_unequal_length_are_refused(tmp_path):
    texts = {f"{kind}/en-de{name}": "a\nb\nc\n" for kind, name in (("sources", ".txt"), ("references", ".refA.txt"))}
    paths = put(tmp_path, DOCS | texts | {"system-outputs/en-de/A.txt": "x\ny\n"})
    with pytest.raises(DataError, match=r"A\.txt has 2 lines, en-de\.docs 3"):
        mtme.outputs(paths)


def test_a_line_separator_within_a_text_is_no_new_line(tmp_path):
    (path,) = put(tmp_path, {"x.txt": "\ufeffa\u2028b\x85c\nd\n"})
    assert mtme.lines(path) == ["a\u2028b\x85c", "d"]


def test_faulty_files_of_wmt20_and_wmt17_are_named(tmp_path):
    good = "SYS SEGID RAW.SCR Z.SCR N SID\nA.1 d::x::1 50 0.1 2 7\n"
    table = wmt20.direct_assessments(put(tmp_path, {"metrics-ad-seg-scores-cs-en.csv": good}))
    assert table.loc[0, ["doc", "segment", "score", "judgements"]].tolist() == ["d::x", "1", 50.0, 2]
    with pytest.raises(DataError, match="score: 500 is outside 0-100"):
        wmt20.direct_assessments(put(tmp_path, {"metrics-ad-seg-scores-cs-en.csv": good.replace("50", "500")}))
    with pytest.raises(DataError, match=r"m\.seg\.score\.gz: .*gz.*Expected the columns metric, pair"):
        wmt20.metrics(put(tmp_path, {"m.seg.score.gz": "no archive"}))
    official = {"RR-newstest2020-csen-seg-nohy-cor.csv": "chrF_PLUS__PLUS_ 0.1 5\nTER 0.2\n"}
    with pytest.raises(DataError, match="a row lacks one of metric, tau and pairs"):
        wmt20.official(put(tmp_path, official))
    header = "LP DATA SYSTEM SID HUMAN\n"
    files = {"DA-seglevel.csv": f"{header}cs-en newstest2017 A.1+B.2 3 0.5\n", "newstest2017.A.1.cs-en": "a\nb\nc\n"}
    with pytest.raises(DataError, match=r"no output of B\.2 \(cs-en\) is at hand"):
        wmt17.direct_assessments(put(tmp_path, files))
    with pytest.raises(DataError, match=r"newstest2017\.B\.2\.cs-en lacks segment 3"):
        wmt17.direct_assessments(put(tmp_path, files | {"newstest2017.B.2.cs-en": "a\n"}))
    with pytest.raises(DataError, match=r"DA-seglevel\.csv, line 2: 'True' stands where a number should"):
        wmt17.direct_assessments(put(tmp_path, files | {"DA-seglevel.csv": f"{header}cs-en n A.1 1 True\n"}))
    with pytest.raises(DataError, match="line 2: 'FALSE' stands where a number should"):
        wmt20.direct_assessments(put(tmp_path, {"metrics-ad-seg-scores-cs-en.csv": good.replace("50", "FALSE")}))
    with pytest.raises(DataError, match="the columns are not LP, DATA"):
        wmt17.direct_assessments(put(tmp_path, {"DA-seglevel.csv": "a b\n1 2\n"}))


def test_scores_that_are_there_twice_or_are_no_numbers_are_refused():
    row = {"src_lang": "eng", "tgt_lang": "deu", "system": "A", "doc": "d", "segment": "1", "metric": "m", "score": 1.0}
    checked = schemas.check(pd.DataFrame([row]), schemas.METRIC_SCORES, origin="x")
    assert isinstance(checked["system"].dtype, pd.CategoricalDtype)
    with pytest.raises(DataError, match=r"the same as line 2\. A metric gives a translation one score"):
        schemas.check(pd.DataFrame([row, row]), schemas.METRIC_SCORES, origin="x")
    schemas.check(pd.DataFrame([row, row | {"metric": "n"}]), schemas.METRIC_SCORES, origin="x")
    for column, wrong, complaint in (
        ("score", np.nan, "is empty"),
        ("system", "", "is empty"),
        ("doc", None, "is empty"),
    ):
        frame = pd.DataFrame([row, row | {"segment": "2", column: wrong}])
        for table in (frame, frame.astype({"system": "category", "doc": "category"})):
            with pytest.raises(DataError, match=f"line 3, column {column}: {complaint}"):
                schemas.check(table, schemas.METRIC_SCORES, origin="x")


# Kept tables


def loader(paths):
    frame = pd.DataFrame({"text": pd.Series(["a", "b"], dtype="category"), "score": [0.1, float(len(paths))]})
    frame.attrs["excluded"] = {"nothing": 0}
    return frame


def refuse(paths):
    raise AssertionError("parsed again")


def test_a_table_is_parsed_once_for_the_same_content(cache):
    first = parsed.table("toy", loader, [1, 2], digest="git:1")
    again = parsed.table("toy", refuse, [1, 2], digest="git:1")
    pd.testing.assert_frame_equal(first, again)
    assert again.attrs == first.attrs
    with pytest.raises(AssertionError, match="parsed again"):
        parsed.table("toy", refuse, [1, 2], digest="git:2")
    parsed.table("other", loader, [1], digest="git:3")
    parsed.table("toy", loader, [1], digest="git:4")
    assert sorted(path.name.split(".")[0] for path in cache.iterdir()) == ["other", "toy"], "one table of each"


def test_a_damaged_or_forged_kept_table_is_parsed_anew(cache, monkeypatch):
    honest = parsed.table("toy", loader, [1], digest="x")
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    forged, inverted = io.BytesIO(), honest.assign(score=1 - honest["score"])
    inverted.to_parquet(forged)
    flipped = whole[:10] + bytes([whole[10] ^ 255]) + whole[11:]
    for damage in (whole[: len(whole) // 2], b"", flipped, forged.getvalue()):
        path.write_bytes(damage)
        assert parsed.states("toy", digest="x") == [(f"parsed/{path.name}", "altered")]
        assert parsed.table("toy", loader, [1], digest="x")["score"].tolist() == [0.1, 1.0]
        assert path.read_bytes() == whole
        assert parsed.states("toy", digest="x") == [(f"parsed/{path.name}", "verified")]
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(cache.parents[1] / "of-somebody-else"))
    parsed.table("toy", lambda paths: inverted, [1], digest="x")  # who may write here, and knows all but the secret
    assert not path.exists()
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(cache.parents[1] / "salt"))
    assert parsed.table("toy", loader, [1], digest="x")["score"].tolist() == [0.1, 1.0]


def test_a_forged_table_neither_reaches_a_study_nor_passes_for_verified(real, tmp_path, monkeypatch):
    """Inverted ESA scores lay in the cache as what had been parsed, ran as real, and were called verified."""
    real("wmt24-esa")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "own"))
    ratings = data.load("wmt24-esa")
    (kept,) = (tmp_path / "own" / "parsed").iterdir()
    told = data.verify(["wmt24-esa"])
    assert told[told["file"].eq(f"parsed/{kept.name}")]["state"].tolist() == ["verified"]
    ratings.assign(score=100 - ratings["score"]).to_parquet(kept)
    with pytest.raises(DataError, match=r"is not what was kept here\. It is never used; delete it"):
        data.verify(["wmt24-esa"])
    assert data.load("wmt24-esa")["score"].tolist() == ratings["score"].tolist()
    assert data.verify(["wmt24-esa"])["state"].eq("verified").all(), "it was parsed again"
    ratings.to_parquet(kept.with_name("wmt24-esa.older.0.parquet"))
    assert data.verify(["wmt24-esa"])["state"].tolist().count("outdated") == 1


def test_without_a_secret_nothing_is_kept_and_everything_is_parsed(cache, monkeypatch, capsys):
    (cache.parents[1] / "file").write_text("no folder")
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(cache.parents[1] / "file" / "salt"))
    for _ in range(2):
        assert len(parsed.table("toy", loader, [1], digest="x")) == 2
    assert not cache.exists()
    assert capsys.readouterr().err.count("nothing is kept") == 1


def test_a_file_that_changes_while_it_is_read_makes_no_table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("first")
    (file,) = registry.entry("nllb-xsts").files

    def meanwhile(content):
        def load(paths):
            path.write_text(content)
            return pd.DataFrame({"text": [path.read_text()]})

        return load

    with pytest.raises(DataError, match=r"scores\.csv changed while it was read"):
        files.steady(meanwhile("other"), [file])([path])
    assert len(files.steady(lambda paths: pd.DataFrame({"x": [1]}), [file])([path])) == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only a block by a file works for root")
def test_a_cache_that_cannot_be_written_costs_time_and_not_the_table(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "file"))
    assert len(parsed.table("toy", loader, [1], digest="x")) == 2
    assert "could not be kept" in capsys.readouterr().err


def test_a_kept_table_is_still_held_against_its_files(real, mirrored, tmp_path, monkeypatch):
    real("wmt23-human")
    entry = registry.entry("wmt23-human")
    for file in entry.files:
        target = tmp_path / "mirror" / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(mirrored(file.path), target)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    whole = data.load("wmt23-human")
    pd.testing.assert_frame_equal(whole, data.load("wmt23-human"))
    assert whole.attrs["source"]["source"] == "real"
    spoilt = tmp_path / "mirror" / entry.files[0].path
    spoilt.write_bytes(spoilt.read_bytes()[::-1])
    with pytest.raises(DataError, match="is altered or cut short"):
        data.load("wmt23-human")


# Simulations


SIMULATED = (
    "wmt23-metrics",
    "wmt23-human",
    "wmt23-metrics-systems",
    "wmt23-human-systems",
    "wmt23-outputs",
    "wmt20-metrics",
    "wmt20-da",
    "wmt17-da",
)


@pytest.mark.parametrize("name", SIMULATED)
def test_a_stand_in_has_the_columns_and_pairs_of_the_real_table(real, name):
    table, true = getattr(simulate, registry.entry(name).simulator)(), real(name)
    assert set(table) == set(true)
    pairs = [set((f["src_lang"].astype(str) + "-" + f["tgt_lang"].astype(str)).unique()) for f in (table, true)]
    assert pairs[0] == pairs[1] - ({"eng-rus", "eng-zho"} if name == "wmt17-da" else no_assessments(name))
    assert table["system"].str.startswith("sim-").all()
    assert table.attrs["seed"] == 7


def no_assessments(name):
    return {"deu-fra", "fra-deu", "eng-khm", "eng-pus"} if name == "wmt20-metrics" else set()


def test_simulated_tables_fit_together_and_depend_on_the_seed():
    drawn = simulate.darr_assessments(seed=1)
    assert not drawn["score"].equals(simulate.darr_assessments(seed=2)["score"])
    pd.testing.assert_frame_equal(drawn, simulate.darr_assessments(seed=1))
    outputs, scores = simulate.metric_outputs(), simulate.metric_scores()
    one = of(scores, "zho", "eng", metric="sim-metric-43")[[*CELL, "score"]].astype(dict.fromkeys(CELL, str))
    both = of(outputs, "zho", "eng").merge(one)
    assert len(both) == len(one)
    of_text = both.groupby(["segment", "hypothesis"])["score"]
    assert of_text.nunique().max() == 1, "the same text has the same score"
    assert of_text.size().max() > 1, "some texts are there twice"
    human = simulate.metric_human_scores()
    human = of(human, "zho", "eng", metric="da-sqm")[[*CELL, "score"]].astype(dict.fromkeys(CELL, str))
    assert of(outputs, "zho", "eng").merge(human).groupby(["segment", "hypothesis"])["score"].nunique().max() > 1


def test_simulated_metrics_follow_the_stated_weights():
    scores, human = simulate.metric_scores(), simulate.metric_human_scores()
    people = of(human, "eng", "deu", metric="da-sqm").set_index(CELL)["score"]
    worst, best = (
        of(scores, "eng", "deu", metric=name).set_index(CELL)["score"].reindex(people.index).corr(people)
        for name in ("sim-metric-02", "sim-metric-43")
    )
    assert best > worst + 0.2


# WMT19, from archives of the documented form


RR = """LP DATA SID BETTER WORSE
de-en newstest2019 1 uedin.6749 UCAM.6461
zh-en newstest2019 2 Baidu-system.6940.zh-en MSRA.MASS.6996.zh-en
fi-en newstest2019 1 Helsinki-NLP.6889 online-A.0
"""
PACKAGE = "wmt19-metrics-task-package"


def scored(metric, *rows, more="\tnon-ensemble\thttps://example.org"):
    lines = [
        f"{metric}\t{pair}\t{data}\t{system}\t{segment}\t{score}{more}\n" for pair, data, system, segment, score in rows
    ]
    return gzip.compress("".join(lines).encode())


def archived(folder, files, name="a.tgz"):
    path = folder / name
    with tarfile.open(path, "w:gz") as archive:
        for place, content in files.items():
            content = content if isinstance(content, bytes) else content.encode()
            info = tarfile.TarInfo(place)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("elsewhere/RR-seglevel.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return [path]


SUBMITTED = f"{PACKAGE}/final-metric-scores/submissions-corrected"
YISI = [
    ("de-en", "newstest2019", "UCAM.6461", 1, 0.5),
    ("fi-en", "newstest2019", "Helsinki_NLP.6889", 1, 0.25),
    ("de-en", "other", "UCAM.6461", 1, 9),
    ("zh-en", "newstest2019", "Baidu-system.6940", 2, "nan"),
]
WMT19 = {
    f"{PACKAGE}/manual-evaluation/RR-seglevel.csv": RR,
    f"{SUBMITTED}/YiSi-1.seg.score.gz": scored("YiSi-1", *YISI),
    f"{PACKAGE}/final-metric-scores/submissions/YiSi-1.seg.score.gz": scored(
        "YiSi-1", ("de-en", "newstest2019", "x", 1, 7)
    ),
    f"{SUBMITTED}/EED.seg.score.gz": scored("EED", ("de-en", "newstest2019", "UCAM.6461", 1, 0.75), more=""),
    f"{SUBMITTED}/BEER.seg.score.gz": scored("BEER", ("de-en", "newstest2019", "UCAM.6461", 1, 0.1)),
    f"{SUBMITTED}/EED.sys.score.gz": scored("EED", ("de-en", "newstest2019", "UCAM.6461", 1, 0.1)),
}


def test_relative_rankings_of_wmt19_name_systems_as_the_scores_do(tmp_path):
    table = wmt19.relative_rankings(archived(tmp_path, WMT19))
    assert table[["src_lang", "tgt_lang", "doc", "segment", "better", "worse"]].to_numpy().tolist() == [
        ["deu", "eng", "newstest2019", "1", "uedin.6749", "UCAM.6461"],
        ["zho", "eng", "newstest2019", "2", "Baidu-system.6940", "MSRA.MASS.6996"],
        ["fin", "eng", "newstest2019", "1", "Helsinki-NLP.6889", "online-A.0"],
    ]
    assert table["better_named"].tolist()[1] == "Baidu-system.6940.zh-en"


def test_metric_scores_of_wmt19_are_the_corrected_ones_of_the_news(tmp_path):
    table = wmt19.metrics(archived(tmp_path, WMT19))
    assert table[["metric", "src_lang", "system", "segment", "score"]].to_numpy().tolist() == [
        ["YiSi-1", "deu", "UCAM.6461", "1", 0.5],
        ["YiSi-1", "fin", "Helsinki-NLP.6889", "1", 0.25],
        ["EED", "deu", "UCAM.6461", "1", 0.75],
    ]
    assert table.attrs["excluded"] == {"translations without a score": 1}
    lacking = {name: content for name, content in WMT19.items() if "EED" not in name}
    with pytest.raises(DataError, match=r"a\.tgz holds no segment scores of EED"):
        wmt19.metrics(archived(tmp_path, lacking))
    with pytest.raises(DataError, match=r"seg\.score, line 1: 'True' stands where a number should"):
        wmt19.metrics(
            archived(tmp_path, WMT19 | {f"{SUBMITTED}/EED.seg.score.gz": scored("EED", (*YISI[0][:4], "True"))})
        )


ASSESSED = "SYS SID RAW.SCR Z.SCR N\n"


def test_direct_assessments_of_wmt19_prefer_sentences_to_documents(tmp_path):
    files = {
        "newstest2019-humaneval/mturk-doclevel-humaneval-newstest2019/analysis/ad-seg-scores-zh-en.csv": f"{ASSESSED}NEU.6832 1 10.0 -1 2\n",
        "newstest2019-humaneval/turkle-sntlevel-humaneval-newstest2019/analysis/ad-seg-scores-zh-en.csv": f"{ASSESSED}NEU.6832.zh-en 1 90.5 1.25 2\nHUMAN 1 80 0.5 1\n",
        "newstest2019-humaneval/appraise-doclevel-humaneval-newstest2019/analysis/ad-seg-scores-en-gu.csv": f"{ASSESSED}online-B.0 3 0.0 -2 1\n",
    }
    table = wmt19.direct_assessments(archived(tmp_path, files))
    assert table[["src_lang", "tgt_lang", "system", "segment", "score", "z", "judgements"]].to_numpy().tolist() == [
        ["eng", "guj", "online-B.0", "3", 0.0, -2.0, 1.0],
        ["zho", "eng", "NEU.6832", "1", 90.5, 1.25, 2.0],
        ["zho", "eng", "HUMAN", "1", 80.0, 0.5, 1.0],
    ]
    assert [name.split("/")[1] for name in table.attrs["passed_over"]] == ["mturk-doclevel-humaneval-newstest2019"]
    place = next(iter(files))
    for content, told in (
        (f"{ASSESSED}A 1 high 0 1\n", "line 2, column score: 'high' is no number"),
        (f"{ASSESSED}A 1 5 0\n", "line 2: 4 cells, not 5"),
        ("A 1 5 0 1\n", "line 1: the columns are not"),
        (f"{ASSESSED}A 1 500 0 1\n", "score: 500 is outside 0-100"),
    ):
        with pytest.raises(DataError, match=told):
            wmt19.direct_assessments(archived(tmp_path, {place: content}))
    with pytest.raises(DataError, match=r"holds no ad-seg-scores"):
        wmt19.direct_assessments(archived(tmp_path, {"x": "y"}))


def test_outputs_of_wmt19(tmp_path):
    base = "wmt19-submitted-data-v3/txt/system-outputs/newstest2019/fi-en/newstest2019"
    files = {
        f"{base}.Helsinki_NLP.6889.fi-en": "a\u2028b\nc\n",
        f"{base}.online-A.0.fi-en": "d\nc\n",
        "wmt19-submitted-data-v3/txt/references/newstest2019-fien-ref.en": "x\ny\n",
    }
    table = wmt19.outputs(archived(tmp_path, files))
    assert table[["src_lang", "system", "segment", "hypothesis"]].to_numpy().tolist() == [
        ["fin", "Helsinki-NLP.6889", "1", "a\u2028b"],
        ["fin", "Helsinki-NLP.6889", "2", "c"],
        ["fin", "online-A.0", "1", "d"],
        ["fin", "online-A.0", "2", "c"],
    ]
    with pytest.raises(DataError, match="has 1 lines, others of its pair 2"):
        wmt19.outputs(archived(tmp_path, files | {f"{base}.z.fi-en": "d\n"}))
    with pytest.raises(DataError, match=r"holds two outputs of online-A\.0"):
        wmt19.outputs(archived(tmp_path, files | {f"{base}.online_A.0.fi-en": "d\ne\n"}))


@pytest.mark.parametrize(
    "change",
    [{"LP": "PAIR"}, {"newstest2019 1 uedin": "newstest2019 uedin"}, {"de-en": "xx-en"}, {"UCAM.6461": "uedin_6749 x"}],
)
def test_rankings_of_another_form_are_refused(tmp_path, change):
    ((old, new),) = change.items()
    with pytest.raises(DataError, match=r"RR-seglevel\.csv"):
        wmt19.relative_rankings(archived(tmp_path, {"RR-seglevel.csv": RR.replace(old, new, 1)}))


@pytest.mark.parametrize("name", ["wmt19-darr", "wmt19-metrics"])
def test_a_first_use_records_the_hash_and_says_so(tmp_path, monkeypatch, capsys, name):
    """The papers give addresses; nobody here knows the files' hashes."""
    (file,) = registry.entry(name).files
    place = tmp_path / "mirror" / file.path
    place.parent.mkdir(parents=True)
    archived(place.parent, WMT19, place.name)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    first = data.load(name)
    assert "no known digest. Taken on trust as sha256:" in capsys.readouterr().err
    assert first.attrs["source"]["digest"].endswith("(trusted on first use)")
    again = data.load(name)
    pd.testing.assert_frame_equal(first, again)
    assert capsys.readouterr().err == ""
    archived(place.parent, WMT19 | {"more": "x"}, place.name)
    with pytest.raises(DataError, match="altered or cut short"):
        data.load(name)


@given(st.integers(1, 6), st.integers(1, 5), st.randoms(use_true_random=False))
def test_each_line_is_placed_by_how_many_of_its_system_came_before(segments, systems, random):
    names = [f"s{number}" for number in range(systems)] * segments
    random.shuffle(names)
    scores = pd.DataFrame({"system": pd.Categorical(names), "score": np.arange(len(names), dtype=float)})
    docs = pd.Series([random.choice("ab") for _ in range(segments)]).astype("category")
    before = [names[:place].count(name) for place, name in enumerate(names)]
    made = mtme.placed(scores, docs, Path("x.seg.score"))
    assert made["segment"].tolist() == [str(number + 1) for number in before]
    assert made["doc"].tolist() == [docs[number] for number in before]
    with pytest.raises(DataError, match=r"lines for .* segments"):
        mtme.placed(pd.concat([scores, scores.head(1)]).astype({"system": "category"}), docs, Path("x.seg.score"))
