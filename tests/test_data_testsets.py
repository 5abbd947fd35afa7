"""Scores of metrics and of people in mt-metrics-eval's layout: the real files, every year's shape, and what is malformed."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import DataError, data
from evalkit.data import files, languages, mtme, registry, testsets
from evalkit.metrics import rankings
from tests.doors.testsets import SYSTEMS, lines, write
from tests.makers import each


@pytest.fixture
def folder(tmp_path):
    return write(tmp_path / "wmt24", "wmt24")


@each
def test_the_shape_of_every_year_is_read(tmp_path, shape, pair, golds, people):
    found = testsets.open_testset(write(tmp_path / shape, shape))
    assert (found.name, found.pair, [found.gold, found.system_gold]) == (shape, pair, golds)
    assert sorted(found.metrics["metric"].unique()) == ["COMET", "Kiwi-22", "UniTE-src", "chrF"]
    assert found.apart.to_numpy().tolist() == [[name, "a reference translation"] for name in people]
    segments, systems = rankings.aligned(found)
    assert segments[pair].systems == systems[pair].systems == tuple(sorted(SYSTEMS))
    assert sorted(segments[pair].segments, key=len)[0] == "doc-0:1"
    assert found.outputs.groupby("system").size().eq(12).all()


def test_what_is_left_open_is_chosen_by_a_rule_and_told(tmp_path):
    folder = write(write(tmp_path / "wmt22", "wmt22"), "wmt22", segments=4, pair="de-en")
    found = testsets.open_testset(folder)
    told = " ".join(found.notes)
    for chosen in ("en-de has most", "mqm was chosen among", "the reference refA, or none (refA: 2, refB: 2)"):
        assert chosen in told
    asked = testsets.open_testset(folder, pair="deu-eng", gold="wmt-appraise", reference="refB", leave_out=["Alpha"])
    assert (asked.pair, asked.gold, asked.notes) == ("deu-eng", "wmt-appraise", ())
    assert asked.apart.to_numpy().tolist()[0] == ["Alpha", "left out as asked"]
    one, other = (t.metrics[t.metrics["metric"] == "COMET"]["score"].head(4).tolist() for t in (found, asked))
    assert one != other


def test_means_of_segments_stand_in_for_scores_of_systems_that_are_not_there(folder):
    (folder / "human-scores/en-cs.esa.sys.score").unlink()
    for path in (folder / "metric-scores" / "en-cs").glob("*.sys.score"):
        path.unlink()
    found = testsets.open_testset(folder)
    assert sum("means of segments" in note for note in found.notes) == 2
    means = found.human.groupby("system", observed=True)["score"].mean()
    assert found.human_of_systems.set_index("system")["score"].to_dict() == means.to_dict()
    means = found.metrics.groupby(["metric", "system"], observed=True)["score"].mean()
    assert found.of_systems.set_index(["metric", "system"])["score"].to_dict() == means.to_dict()


def test_json_lines_and_spaces_are_read_as_the_layout_allows(folder):
    source = folder / "sources" / "en-cs.txt"
    source.with_suffix(".jsonl").write_text("".join(f'{{"source": "s{n}"}}\n' for n in range(12)))
    source.unlink()
    path = folder / "metric-scores/en-cs/chrF-refA.seg.score"
    before = testsets.open_testset(folder)
    path.write_text(path.read_text().replace("\t", "   ").replace("\n", "\r\n"))
    after = testsets.open_testset(folder)
    assert after.outputs["source"].head(2).tolist() == ["s0", "s1"]
    assert after.metrics["score"].tolist() == before.metrics["score"].tolist()


PEOPLE, METRIC = "human-scores/en-cs.esa.seg.score", "metric-scores/en-cs/chrF-refA.seg.score"
METRIC_SYSTEMS, PEOPLE_SYSTEMS = (name.replace(".seg.", ".sys.") for name in (METRIC, PEOPLE))
#: What is written into a test set (None: taken away), what is asked for, and what must be told.
REFUSED = [
    ("documents/en-cs.docs", None, {}, "<pair>.docs"),
    ("documents/en-cs.docs", "news\n", {}, "line 1: 1 cells"),
    (PEOPLE, None, {}, "no scores of segments"),
    (PEOPLE, "Alpha\t1\n", {}, "Alpha has 1 lines"),
    (PEOPLE, "Alpha\tNone\n" * 12, {}, "only None"),
    (PEOPLE, "Alhpa\t1\n" * 12, {}, "'Alhpa'"),
    (METRIC, "Alpha\tnan\n", {}, "line 1: 'Alpha' and 'nan'"),
    (METRIC, "Alpha\t1\nAlpha\t-1e50\n", {}, "line 2: 'Alpha' and '-1e50'"),
    (PEOPLE, "Alpha\ttrue\n", {}, "line 1: 'Alpha' and 'true'"),
    (PEOPLE, "Alpha\t1\n \t2\n", {}, "line 2: '' and '2' are no system"),
    (METRIC, "Alpha\t1\nAlpha\t2\t3\n", {}, "line 2: 3 cells"),
    (METRIC, b"Alpha\t1\nAlph\xe9\t2\n", {}, "line 2: the byte 0xE9"),
    (METRIC_SYSTEMS, "Alpha\t1\nAlpha\t2\n", {}, "Alpha more than once"),
    (PEOPLE_SYSTEMS, "Nobody\t1\n", {}, "'Nobody'"),
    (PEOPLE_SYSTEMS, "Alpha\tNone\n", {}, "no score, only None"),
    ("system-outputs/en-cs/Alpha.txt", "one\n", {}, "has 1 lines"),
    ("", "", {"pair": "en-de"}, "Choose among en-cs"),
    ("", "", {"gold": "mqm"}, "Choose among esa"),
    ("", "", {"reference": "refB"}, "Choose among refA"),
    ("", "", {"leave_out": ["Zeta"]}, "'Zeta'. Choose among Alpha"),
    ("", "", {"lower_is_better": ["yours"]}, "'yours'"),
    ("m.seg.score", "Alpha\t1\n" * 11, {"metric": "m.seg.score"}, "Alpha has 11 lines"),
    ("m.seg.score", "Alhpa\t1\n" * 12, {"metric": "m.seg.score"}, "'Alhpa'. Did you mean Alpha?"),
    ("m.csv", "system,score\nAlpha,1\n", {"metric": "m.csv"}, "line 1: 1 cells instead of a system and a score"),
]


@pytest.mark.parametrize(("name", "content", "options", "told"), REFUSED)
def test_what_cannot_be_compared_is_refused_in_one_sentence(folder, name, content, options, told):
    if content is None:
        (folder / name).unlink()
    elif name:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    own = {"metric": str(folder / options["metric"])} if "metric" in options else {}
    with pytest.raises(DataError) as problem:
        testsets.open_testset(folder, **options | own)
    assert told in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("place", ["..", "metric-scores", "../../wmt24.tgz", "nowhere"])
def test_a_folder_too_high_too_low_or_packed_is_told(tmp_path, place):
    folder = write(tmp_path / "level" / "wmt24", "wmt24")
    (tmp_path / "wmt24.tgz").write_bytes(b"\x1f\x8b")
    with pytest.raises(DataError, match="is no test set"):
        testsets.open_testset((folder / place).resolve())


# One's own metric


def scores_of(folder, name="COMET-refA"):
    rows = (folder / f"metric-scores/en-cs/{name}.seg.score").read_text().splitlines()
    return {system: [float(row.split("\t")[1]) for row in rows if row.split("\t")[0] == system] for system in SYSTEMS}


@pytest.mark.parametrize("name", ["lines.seg.score", "lines.sys.score"])
def test_ones_own_metric_stands_beside_those_of_the_test_set(folder, tmp_path, name):
    scores, path = scores_of(folder), tmp_path / name
    means = {system: [float(np.mean(row))] for system, row in scores.items()}
    path.write_text(lines(scores if ".seg." in name else means))
    found = testsets.open_testset(folder, metric=str(path))
    assert found.yours == "lines (yours)"
    assert any("lines (yours)" in note and "of whole systems" in note for note in found.notes)
    segments, systems = rankings.aligned(found)
    own = systems["eng-ces"].only([found.yours]).values.ravel().tolist()
    assert own == pytest.approx([means[system][0] for system in systems["eng-ces"].systems], abs=1e-12)
    mine = [segments["eng-ces"].only([one]).values for one in ({found.yours, "COMET"} & {*segments["eng-ces"].metrics})]
    assert np.array_equal(mine[0], mine[-1])
    assert len(mine) == 1 + (".seg." in name)


def test_signs_are_turned_when_told_and_never_by_themselves(folder, tmp_path):
    path = tmp_path / "ter.seg.score"
    path.write_text(lines({system: [-score for score in row] for system, row in scores_of(folder).items()}))
    as_is = testsets.open_testset(folder, metric=str(path))
    turned = testsets.open_testset(folder, metric=str(path), lower_is_better=["yours"])
    own_scores = [t.metrics[t.metrics["metric"] == "ter (yours)"]["score"] for t in (as_is, turned)]
    assert (own_scores[0].to_numpy() == -own_scores[1].to_numpy()).all()
    assert "Low scores are good in ter (yours), as you say: their signs were turned." in turned.notes
    people = testsets.open_testset(folder, lower_is_better=["esa"])
    assert (people.human["score"].to_numpy() == -as_is.human["score"].to_numpy()).all()
    assert (people.human_of_systems["score"].to_numpy() == -as_is.human_of_systems["score"].to_numpy()).all()


# Against the registered data


@pytest.mark.slow
def test_a_folder_gives_what_the_registered_files_give_to_the_last_bit(real, tmp_path):
    for name in ("metrics", "human", "metrics-systems", "human-systems", "outputs"):
        real(f"wmt23-{name}")
        for file in registry.entry(f"wmt23-{name}").files:
            place = tmp_path / "any" / file.url.partition("/wmt23/")[2]
            if "zh-en" not in str(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.symlink_to(files.obtain(file))
    mine, theirs = testsets.open_testset(tmp_path / "any"), testsets.open_testset(example="wmt23", pair="eng-deu")
    for ours, known in zip(rankings.aligned(mine), rankings.aligned(theirs), strict=True):
        one, other = ours["eng-deu"], known["eng-deu"]
        assert (one.metrics, one.systems, one.segments) == (other.metrics, other.systems, other.segments)
        assert np.array_equal(one.values, other.values, equal_nan=True)
        assert np.array_equal(one.human, other.human, equal_nan=True)
    assert mine.documents.equals(theirs.documents)
    assert [*mine.apart["system"]] == [*theirs.apart["system"]] == ["refA"]


def test_the_door_of_data_opens_folders_and_registered_sets(folder, real):
    real("wmt23-human")
    assert data.open_testset(folder).foreign
    known = data.open_testset("", example="wmt23", fallback=True)
    assert (known.pair, known.gold, known.called, known.foreign) == ("eng-deu", "mqm", "MQM", False)
    with pytest.raises(DataError, match=r"There is no gold 'esa'\. Choose among mqm, da-sqm"):
        data.open_testset("", example="wmt23", gold="esa")


# --- Scores of metrics, and what they are held against: the real files, faulty ones, simulations, and the kept tables


WMT23 = "wmt-conference/ErrorSpanAnnotation/e7f88b51a5d36dd5a9c9c1d80556f69637716cd4/data/mt-metrics-eval-v2/wmt23"
WMT20 = "WMT-Metrics-task/wmt20-metrics/3e434fc32fd02999c885575df6167c31f60ee996"


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


@pytest.mark.parametrize("gold", ["mqm", "da-sqm"])
@pytest.mark.parametrize("pair", ["en-de", "zh-en"])
def test_a_missing_human_score_has_no_row_and_shifts_no_other(real, mirrored, pair, gold):
    raw = rows(mirrored(f"{WMT23}/human-scores/{pair}.{gold}.seg.score"), delimiter="\t")
    segments = len(rows(mirrored(f"{WMT23}/documents/{pair}.docs"), delimiter="\t"))
    expected = [(s, str(n % segments + 1), float(v)) for n, (s, v) in enumerate(raw) if v != "None"]
    assert len(expected) < len(raw)
    ours = of(real("wmt23-human"), *languages.in_full(pair).split("-"), metric=gold)
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


def test_official_results_are_transcribed_as_printed(mirrored):
    printed = data.published("wmt20_darr")
    for pair, file in (("deu-eng", "deen"), ("eng-deu", "ende"), ("zho-eng", "zhen")):
        path = mirrored(f"{WMT20}/results/output/seglevel_allsys/RR-newstest2020-{file}-seg-nohy-cor.csv")
        official = {
            name.replace("_DASH_", "-").replace("_PLUS_", "+"): tau for name, tau, *_ in rows(path, delimiter=" ")
        }
        own = printed[printed["pair"] == pair]
        assert len(own) >= 4
        assert own["tau"].tolist() == [official[name] for name in own["metric"]]


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
