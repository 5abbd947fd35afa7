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
from tests.doors import DOORS, attempt
from tests.doors.inputs import TEXTS, spoilt


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
        assert ratings.groupby("hit")["score"].sum().eq(1).all()
    elif report.weights:
        who = ["system", "doc", "segment", "annotator"]
        lost = spans.groupby(who, observed=True)["weight"].sum() if spans is not None else pd.Series(dtype=float)
        found = ratings.groupby(who)["score"].sum()
        assert found.tolist() == pytest.approx((-lost.reindex(found.index).fillna(0)).tolist(), abs=1e-9)
    else:
        assert set(ratings["score"]) <= numbers_in(content)


@pytest.mark.parametrize("door", DOORS)
def test_spoilt_input_ends_in_a_result_or_in_one_sentence(door, tmp_path, own_salt):
    """Every door is tried with a few of the inputs that ``make fuzz`` tries by the thousand."""
    (tmp_path / "in").mkdir()
    came = [attempt(door, seed, tmp_path / "in") for seed in range(20)]
    assert {*came} == {0, 1}, "the door shows nothing: none, or each, of its inputs was read"


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "mturk.csv"])  # whose one row is refused
def test_spoilt_files_give_numbers_that_stand_in_them_or_a_sentence(name, imported):
    start, kept = TEXTS[name].encode(), 0
    for seed in range(10):
        content = spoilt(start, np.random.default_rng(seed)) if seed else start
        with contextlib.suppress(DataError):
            found = imported(content, name)
            kept += len(found[0])
            demand_true(content, *found)
    assert kept


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
