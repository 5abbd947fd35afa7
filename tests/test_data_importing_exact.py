"""What comes in comes out, in every layout and from all real data; whatever the bytes, a true number or a sentence."""

import contextlib
import csv
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd
import psutil
import pytest

from evalkit import DataError, data
from evalkit.data import registry
from evalkit.data.files import obtain
from tests.doors import DOORS, attempt
from tests.doors.inputs import FILES, NUMBERS, TABLE, spoilt
from tests.doors.testsets import SYSTEMS
from tests.doors.testsets import write as a_testset

KEYS = ["system", "segment", "annotator"]
HEADINGS = {
    "system": ["system", "System", "sys_id"],
    "segment": ["segment", "segment_id", "SegID"],
    "annotator": ["annotator", "rater", "Evaluator ID"],
    "score": ["score", "Rating", "da_score"],
}
#: What stands in place of a score and is none: such a row is rejected, and no other; two of them say "no judgement".
JUNK = ["85%", "12a", "1e400", "=1+1", "101", "-1", "Excellent!!", "n/a", ""]
NOISE = ["ok", 'he said "no", twice', "x;y\tz", "1999", "ü", "<b>&amp;</b>", "=SUM(A1)", ""]


def judgements(rng):
    """Draw who gave which score to what; some are missing."""
    systems = rng.permutation(["Ada", "Bravo-2", "Ürün", "D, E"])[: rng.integers(2, 5)]
    people = rng.permutation(["Ann", "Bob Ko", "Zoë"])[: rng.integers(1, 4)]
    keys = [(s, str(n), a) for s in systems for n in range(rng.integers(4, 12)) for a in people]
    kept = [key for key in keys if key[1] == "0" or rng.random() < 0.95]
    return pd.DataFrame(kept, columns=KEYS).assign(score=rng.integers(0, 101, len(kept)).astype(float))


def disturbed(table, rng):
    """Give other headings, shuffle rows and columns, add a column of remarks."""
    table = table.rename(columns={ours: str(rng.choice(names)) for ours, names in HEADINGS.items()})
    if rng.random() < 0.5:
        table = table.assign(comment=rng.choice(NOISE, len(table)))
    return table.iloc[rng.permutation(len(table)), rng.permutation(table.shape[1])]


def delimited(table, rng, sep=",", name="my.csv"):
    quoting = csv.QUOTE_ALL if rng.random() < 0.2 else csv.QUOTE_MINIMAL
    text = disturbed(table, rng).to_csv(index=False, sep=sep, quoting=quoting)
    text = text.replace("\n", str(rng.choice(["\n", "\r\n"])))
    return text.encode(str(rng.choice(["utf-8", "utf-8-sig", "utf-16"]))), name, {}


def of_columns(table, rng, what, told):
    """Write a column of scores for each system or annotator."""
    others = [name for name in KEYS if name != what]
    wide = table.pivot(index=others, columns=what, values="score").reset_index()
    if len(wide.columns) == 3:  # one person
        told = {"values": {"annotator": wide.columns[-1]}, "columns": {"score": wide.columns[-1]}}
    return wide.to_csv(index=False, sep=str(rng.choice([",", ";", "\t"]))).encode(), "my.csv", told


def mqm(table, rng):
    """Write the errors that a score is minus the sum of, or that there is none."""
    rows = []
    for system, segment, annotator, score in table.itertuples(index=False):
        marks = ["Major"] * int(score // 5) + ["Minor"] * int(score % 5)
        rows += [[system, "d", segment, annotator, "Other", mark] for mark in marks]
        rows += [] if marks else [[system, "d", segment, annotator, "No-error", "no-error"]]
    head = ["system", "doc", "seg_id", "rater", "category", "severity"]
    rows = [rows[place] for place in rng.permutation(len(rows))]
    return pd.DataFrame(rows, columns=head).to_csv(index=False, sep="\t").encode(), "my.tsv", {"format": "mqm"}


def esa(table, rng):
    """Write Appraise's rows, without headings and with marked errors."""
    span = {"start_i": 1, "end_i": 3, "severity": "minor", "error_type": None}
    frame = table[["annotator", "system", "segment"]].assign(kind="TGT", src="eng", tgt="deu", score=table["score"])
    frame = frame.assign(doc="d", whole="False", spans=[json.dumps([span] * rng.integers(0, 3)) for _ in table.index])
    frame = frame.assign(start=np.arange(len(frame)) + 1000.5, end=np.arange(len(frame)) + 1001.25)
    return frame.to_csv(index=False, header=False).encode(), "my.csv", {}


def pearmut(table, rng):
    """Write a log of screens with all outputs of a segment."""
    lines = []
    for (segment, annotator), own in table.groupby(["segment", "annotator"], sort=False):
        said = {system: {"score": score, "error_spans": []} for system, score in zip(own["system"], own["score"])}
        lines.append(json.dumps({"user_id": annotator, "item_i": int(segment), "annotation": said, "actions": []}))
    return ("\n".join(lines) + "\n").encode(), "my.jsonl", {"columns": {"segment": "item_i"}}


def objects(table, rng):
    """Write objects, one a line or in an array."""
    lines = bool(rng.integers(2))
    text = disturbed(table, rng).to_json(orient="records", lines=lines, force_ascii=bool(rng.integers(2)))
    return text.encode(), "my.jsonl" if lines else "my.json", {}


def workbook(table, rng, folder):
    table = disturbed(table, rng).replace({"=1+1": "#REF!", "=SUM(A1)": "ok"})  # formulas without a value are refused
    table.to_excel(folder / "made.xlsx", index=False)
    return (folder / "made.xlsx").read_bytes(), "my.xlsx", {}


WRITERS = {
    "commas": delimited,
    "tabs": lambda table, rng: delimited(table, rng, "\t", "my.tsv"),
    "semicolons": lambda table, rng: delimited(table, rng, ";"),
    "systems as columns": lambda table, rng: of_columns(table, rng, "system", {"wide": "systems"}),
    "people as columns": lambda table, rng: of_columns(table, rng, "annotator", {"wide": "annotators"}),
    "objects": objects,
    "workbook": workbook,
    "MQM": mqm,
    "ESA": esa,
    "Pearmut": pearmut,
}
DAMAGED = ("commas", "tabs", "semicolons", "objects", "workbook")


@pytest.mark.parametrize("layout", WRITERS)
def test_numbers_that_come_in_come_out(layout, imported, tmp_path):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        table = judgements(rng)
        shown, spoilt = table, table.index[:0]
        if layout in DAMAGED and seed % 2:
            spoilt = rng.choice(table.index, 3, replace=False)
            shown = table.astype({"score": object})
            shown.loc[spoilt, "score"] = rng.choice(JUNK, 3)
        more = [tmp_path] if layout == "workbook" else []
        content, name, told = WRITERS[layout](shown, rng, *more)
        told = told if layout == "MQM" else told | {"scale": (0, 100)}
        ratings, _, report = imported(content, name, **told)
        right = table.drop(spoilt).set_index(KEYS)["score"] * (-1 if layout == "MQM" else 1)
        found = ratings.set_index(KEYS)["score"]
        assert (len(found), found.to_dict()) == (len(right), right.to_dict()), seed
        assert report.rows_rejected + report.rows_excluded == len(spoilt)


# Every real data set: what is imported equals what the suite's own loader reads


def files(name, pattern=""):
    """Name the verified files of a data set that match a pattern."""
    return [path for path in map(obtain, registry.entry(name).files) if re.search(pattern, path.name)]


def test_calibration_hits(real):
    """Oracle: plain pandas on the file; of what an account saw twice, the later showing is a repeat."""
    header = ["annotator", "system", "segment", "type", "source", "target", "score", "doc", "whole", "started", "ended"]
    raw = pd.read_csv(*files("wmt22-calibration-hits", r"20221103\.csv"), names=header, dtype=str)
    raw = raw[raw["whole"] == "False"].astype({"score": float, "started": float})
    shown = raw.sort_values("started").groupby(["annotator", "system", "doc", "segment"]).cumcount().sort_index()
    expected = raw.assign(item_type=np.where(shown > 0, "repeat", "calibration"))
    columns = ["annotator", "system", "doc", "segment", "score", "item_type", "started"]
    found, expected = (table[columns].to_numpy().tolist() for table in (real("wmt22-calibration-hits"), expected))
    assert found == expected


def test_error_span_annotation(real, imported):
    """Oracle: plain pandas on the files; of each showing, the submission that ended last."""
    header = ["account", "system", "segment", "type", "source", "target", "score", "doc", "whole", "spans"]
    header += ["started", "ended"]
    raw = pd.concat([pd.read_csv(path, names=header, dtype=str, keep_default_na=False) for path in files("wmt24-esa")])
    told = raw[~raw["system"].str.contains("tutorial")].astype({"score": float, "started": float, "ended": float})
    showing = ["account", "source", "target", "system", "doc", "segment", "type"]
    last = told.sort_values("ended", kind="stable").drop_duplicates(showing, keep="last")
    counted = last.assign(hit=last["account"], errors=last["spans"].map(count_errors))
    judged = real("wmt24-esa")
    columns = ["hit", "system", "segment", "score", "started", "errors"]
    found, expected = (Counter(one[columns].itertuples(index=False, name=None)) for one in (judged, counted))
    assert found == expected
    degraded = last["type"].eq("BAD").sum()
    assert (judged["item_type"] == "degraded").sum() == degraded
    _, spans, report = imported(files("wmt24-esa"))
    assert report.format == "esa"
    assert len(spans) == judged["errors"].sum() == 20_656
    assert report.excluded["is an item of the tutorial"] == len(raw) - len(told)


def count_errors(cell):
    return len(json.loads(cell))


# Folders and results


def test_of_mt_metrics_eval_files_are_named_and_no_folder(imported, tmp_path):
    top = a_testset(tmp_path / "wmt24")
    lines = [f'{name}\t{{"errors": []}}\n' for name in (*SYSTEMS, "refA") for _ in range(12)]
    (path := top / "human-scores/en-cs.mqm.rater1.seg.rating").write_text("".join(lines))
    assert set(imported([path])[0]["annotator"]) == {"rater1"}
    with pytest.raises(DataError, match="Name the files"):
        imported([top])
    top = a_testset(tmp_path / "wmt25", "wmt25")
    place, metric = (top / name for name in ("human-scores/en-sr_Cyrl_RS.esa-human1.seg.score", "metric-scores"))
    assert imported([place], metric_files=[metric])[0]["tgt_lang"].unique().tolist() == ["srp_Cyrl_RS"]


def test_an_earlier_result_is_told_again_and_keeps_its_scale(imported, tmp_path):
    text = "system,doc,segment,annotator,score,check\n" + "".join(f"A,d,{n},Ann,{n % 101},no\n" for n in range(30))
    imported(text + "A,d,99,Ann,50,yes\n")
    for name in ("c.parquet", "c.import.json"):
        (tmp_path / name.replace("c.", "one.")).write_bytes((tmp_path / name).read_bytes())
    ratings, _, report = imported([tmp_path / "one.parquet"])
    assert (len(ratings), report.format) == (30, "imported")
    assert any("had set rows apart: 1 is an attention check" in note for note in report.notes)
    with pytest.raises(DataError, match="another scale"):
        imported([tmp_path / "one.parquet"], scale=(0, 7))
    (tmp_path / "one.import.json").unlink()
    assert any("is not beside it" in note for note in imported([tmp_path / "one.parquet"])[2].notes)


# Under attack: a result or a sentence, never a wrong number, bounded time and memory


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


#: Seeds of spoilt inputs: a few, or as many as ``make fuzz`` asks for.
FIRST, COUNT = int(os.environ.get("EVALKIT_FUZZ_FIRST", "0")), int(os.environ.get("EVALKIT_FUZZ_COUNT", "20"))


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, 100))
@pytest.mark.parametrize("door", DOORS)
def test_spoilt_input_ends_in_a_result_or_in_one_sentence(door, first, tmp_path, own_salt):
    (tmp_path / "in").mkdir()
    came = [attempt(door, seed, tmp_path / "in") for seed in range(first, min(first + 100, FIRST + COUNT))]
    assert COUNT < 20 or {*came} == {0, 1}, "the door shows nothing: none, or each, of its inputs was read"


@pytest.mark.parametrize("case", NUMBERS)
def test_spoilt_files_give_numbers_that_stand_in_them_or_a_sentence(case, imported):
    (name, start), kept = FILES[case], 0
    for seed in range(7):
        content = spoilt(start.encode(), np.random.default_rng(seed)) if seed else start.encode()
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
    name = "my.jsonl" if NONSENSE[kind][:1] in b"[{" else "my.csv"
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_who_parses_ends_when_the_import_is_killed(tmp_path):
    os.mkfifo(tmp_path / "endless.csv")  # which nobody writes to, so it is parsed for ever
    code = (
        "import sys; from pathlib import Path; from evalkit.data.importing import wall; "
        "print(wall.start().pid, flush=True); "
        "wall.parsed(Path(sys.argv[1]), 'head', '', encoding=None, tabs=False)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "endless.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = psutil.Process(int(parent.stdout.readline()))
        time.sleep(1)  # for the request
        parent.kill()
    child.wait(timeout=20)


def test_a_report_of_other_kinds_beside_a_campaign_is_passed_over_or_read(imported, tmp_path):
    ratings, *_ = imported(TABLE.to_csv(index=False))
    beside = tmp_path / "c.import.json"
    said = json.loads(beside.read_text(encoding="utf-8"))
    for name, value in itertools.product(["notes", "reasons", "scale", "plan", "judges"], [None, 3, {"a": None}]):
        beside.write_text(json.dumps(said | {name: value}), encoding="utf-8")
        assert data.open_campaign(tmp_path / "c.parquet")[0].equals(ratings)
