"""Importers under attack: whatever the bytes, a result or a sentence; never a wrong number, bounded time and memory."""

import contextlib
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from tests.doors.inputs import TEXTS, spoilt

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


def numbers_in(content):
    """Every number that stands in the bytes, however they may be read."""
    found = {0.0}
    for encoding in ("utf-8", "cp1252", "utf-16", "utf-16-le", "utf-16-be"):
        text = content.decode(encoding, "ignore").replace("−", "-")
        for word in re.findall(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?", text):
            for reading in {word, word.replace(",", "."), *word.split(",")}:
                with contextlib.suppress(ValueError):
                    found.add(float(reading))
    return found


def demand_true(content, ratings, spans, report):
    """Hold scores against what made them: errors of a judgement, who won a comparison, or numbers in the file."""
    assert ratings["score"].between(*(report.scale or (-1e300, 1e300))).all()
    if report.format == "preferences":
        assert set(ratings["score"]) <= {0, 0.5, 1}
        assert ratings.groupby(["hit", *(["criterion"] if "criterion" in ratings else [])])["score"].sum().eq(1).all()
    elif report.weights and "IndicMT" not in report.weights and "release" not in report.weights:
        who = ["system", "doc", "segment", "annotator"]
        lost = spans.groupby(who, observed=True)["weight"].sum() if spans is not None else pd.Series(dtype=float)
        found = ratings.groupby(who)["score"].sum()
        assert found.tolist() == pytest.approx((-lost.reindex(found.index).fillna(0)).tolist(), abs=1e-9)
    elif "z" not in ratings:
        assert set(ratings["score"]) <= numbers_in(content)


def attacked(imported, start, name, times=10):
    """Import a file, then others spoilt from it; count the judgements, each of which is held against its file."""
    kept = 0
    for seed in range(times):
        content = spoilt(start, np.random.default_rng(seed)) if seed else start
        with contextlib.suppress(DataError):
            found = imported(content, name)
            kept += len(found[0])
            demand_true(content, *found)
    return kept


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "mturk.csv"])  # whose one row is refused
def test_spoilt_files_give_numbers_that_stand_in_them_or_a_sentence(name, imported):
    assert attacked(imported, TEXTS[name].encode(), name)


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", REAL)
def test_spoilt_real_files_give_numbers_that_stand_in_them_or_a_sentence(pattern, imported, mirrored, tmp_path):
    path = mirrored(pattern)
    means = path.with_name("ad-csen-trk-mean-sd.txt")
    if means.exists():
        (tmp_path / means.name).write_bytes(means.read_bytes())
    start = b"".join(path.read_bytes().splitlines(keepends=True)[:40])
    assert attacked(imported, start, path.name, times=4) > 50 or "IndicMT" in pattern, "most rows survive"


NONSENSE = {
    "open quotes": b'"a,\n' * 50_000,
    "quotes within": b'a,"b\n' * 50_000,
    "one line": b"a" * 5_000_000,
    "empty cells": b",,,,,,,\n" * 50_000,
    "quotes": b'"' * 1_000_000,
    "brackets": b"[" * 1_000_000,
    "headed": b"score,system,segment,annotator,lp\n" + b'80,"A\n' * 10_000,
    "kanji": "\u5b57".encode("cp932") * 300_000,
    "columns": b"x," * 10_000_000 + b"\n1,2\n",
    "empty lists": b"[" + b"[]," * 4_000_000 + b"[]]\n",
    "deep arrays": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "lists of nothing": b'{"system":"A","spans":[' + b"{}," * 3_000_000 + b"{}]}\n",
    "digits": b'{"score":' + b"9" * 3_000_000 + b"}\n",
    "names": json.dumps({f"k{n}": n for n in range(50_000)}).encode(),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_long_nonsense_is_refused_in_one_sentence(kind, imported):
    for name in ("my.csv", "my.jsonl"):
        with pytest.raises(DataError, match=name) as refused:
            imported(NONSENSE[kind], name)
        assert len(str(refused.value).splitlines()) == 1


@pytest.mark.nightly
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


@pytest.mark.parametrize("value", [None, 3, {"a": None}])
@pytest.mark.parametrize("name", ["notes", "reasons", "scale", "plan", "judges"])
def test_a_report_of_other_kinds_beside_a_campaign_is_passed_over_or_read(name, value, imported, tmp_path):
    ratings, *_ = imported(TEXTS["comma.csv"], "my.csv")
    beside = tmp_path / "c.import.json"
    said = json.loads(beside.read_text(encoding="utf-8"))
    beside.write_text(json.dumps(said | {name: value}), encoding="utf-8")
    assert data.open_campaign(tmp_path / "c.parquet")[0].equals(ratings)
