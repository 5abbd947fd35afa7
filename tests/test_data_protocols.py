"""One set of texts under several protocols: released scores come out of the exports, and collections fit together."""

import csv
import json
import re

import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import protocols
from evalkit.human.protocols import KINDS, ORDER, SHORT, counts, scores

FOLDER = "wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5"
KEY = ["system", "segment"]


@pytest.fixture
def folder(mirrored):
    [found] = mirrored("MANIFEST.tsv").parent.glob(FOLDER)
    return found


@pytest.mark.parametrize("protocol", protocols.EXPORTS)
def test_released_scores_come_out_of_the_exports_in_every_row(protocol, real, folder):
    judged = real("wmt23-protocols")
    own = judged[(judged["protocol"] == protocol) & (judged["item_type"] != "degraded")]
    rows = [line.split("\t") for line in (folder / f"en-de.{protocol}.seg.score").read_text().splitlines()]
    lines = len(rows) // len({system for system, _ in rows})
    told = {(s, str(n % lines + 1)): float(score) for n, (s, score) in enumerate(rows) if score != "None"}
    found = {(row.system, row.segment): row.score for row in own.itertuples()}
    assert len(found) == len(own)
    assert found == pytest.approx(told, abs=1e-9)
    released = real("wmt23-protocols-released")
    released = released[released["protocol"] == protocol]
    assert {(row.system, row.segment): row.score for row in released.itertuples()} == told


def test_marked_errors_are_those_of_the_judgements(real):
    judged, marked = real("wmt23-protocols"), real("wmt23-protocols-spans")
    keys = ["protocol", "system", "segment", "hit", "item_type", "mark", "started"]
    counts = marked.groupby(keys).size().rename("marked").reset_index()
    both = judged.merge(counts, on=keys, how="left").fillna({"marked": 0})
    assert len(both) == len(judged)
    assert (both["marked"] == both["errors"]).all()
    assert both["marked"].sum() == len(marked)
    typed = marked[marked["protocol"] == "MQM-1"]["error_type"]
    assert "accuracy/mistranslation" in set(typed)


def test_marks_that_a_model_suggested_are_told_from_those_that_people_drew(real, folder):
    marked = real("wmt23-protocols-spans")
    shares = marked.groupby("protocol")["suggested"].mean()
    assert (shares.drop(["ESAAI-1", "ESAAI-2", "ESAAI-IAA"]) == 0).all()
    latest = {}
    for row in csv.reader((folder / "240520rc6GEMBA.scores.csv").read_text(encoding="utf-8").splitlines()):
        filler = "duplicate" in row[7] and row[3] == "TGT"  # degraded copies that fill a task check attention as well
        if "tutorial" not in row[1] and not filler:
            latest[row[0], row[2]] = max(latest.get((row[0], row[2]), (0.0, "")), (float(row[11]), row[9]))
    raw = [mark for _, cell in latest.values() for mark in json.loads(cell)]
    own = marked[marked["protocol"] == "ESAAI-2"]
    assert (len(own), own["suggested"].sum()) == (len(raw), sum("error_type" not in mark for mark in raw))


def test_all_collections_lie_in_one_table(real):
    judged, released, human = (real(n) for n in ("wmt23-protocols", "wmt23-protocols-released", "wmt23-human"))
    table = scores(judged, released, human)
    assert tuple(table["protocol"].unique()) == ORDER == tuple(KINDS) == tuple(SHORT)
    wmt = human[(human["metric"] == "mqm") & (human["tgt_lang"] == "deu")].astype({"system": str, "segment": str})
    truth = wmt.set_index(KEY)["score"]
    own = table[table["protocol"] == "WMT-MQM"].set_index(KEY)["score"]
    pd.testing.assert_series_equal(own.sort_index(), truth.loc[own.index].sort_index(), check_index_type=False)
    assert not table["item_type"].eq("degraded").any()
    assert counts(table).set_index("protocol").loc["ESA-1"].tolist() == [2691, 8, 207, 13]
    with pytest.raises(DataError, match=re.escape("ESA-1 scores")):
        scores(pd.concat([judged, judged[judged["item_type"] == "system"].head(1)]), released, human)
