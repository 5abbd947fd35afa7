"""What comes in comes out: files of many formats, written in many ways and damaged, against the numbers in them."""

import os

import numpy as np
import pytest
from mutations import LAYOUTS, case

from evalkit import DataError, data
from evalkit.data import importing

#: Layouts of whose rows some scores are damaged.
DAMAGED = {"commas", "tabs", "semicolons", "decimal commas", "workbook", "JSON lines", "JSON array"}


def attempt(drawn, folder):
    """Import a case and hold the result against it: each number kept as it is or, where it was damaged, refused."""
    path, out = folder / drawn.name, folder / "c.parquet"
    path.write_bytes(drawn.content)
    for left in folder.glob("c.*"):
        left.unlink()
    try:
        report, _ = importing.import_campaign([path], out, keep_names=True, allow_rejected=True, **drawn.options)
    except DataError:
        assert drawn.cut or drawn.scores.keys() == drawn.damaged, "a sound file was refused"
        return None
    assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
    ratings, _ = data.open_campaign(out)
    kept = dict(zip(zip(ratings["system"], ratings["segment"], ratings["annotator"], strict=True), ratings["score"]))
    assert len(kept) == len(ratings), "a judgement is there twice"
    sound = {key: score for key, score in drawn.scores.items() if key not in drawn.damaged}
    if drawn.cut:  # of the last row, a name or a number may have lost its end, and later rows are gone
        odd = [key for key, score in kept.items() if sound.get(key) != score]
        wide = {"systems as columns": [1, 2], "annotators as columns": [0, 1], "preferences": [1, 2]}
        shared = wide.get(drawn.layout, [0, 1, 2])  # what all judgements of one row have in common
        assert len({tuple(key[place] for place in shared) for key in odd}) <= 1
        ended = drawn.content.rstrip(b"\0").endswith((b"\n", b"\r"))
        assert ended or any("cut off" in note for note in report.notes)
    else:
        assert kept == sound
        assert report.rows_rejected == len(drawn.damaged)
    return report


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_numbers_that_come_in_come_out(layout, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    number = int(os.environ.get("EVALKIT_MUTATIONS", "40"))
    damaged = 0
    for seed in range(number):
        drawn = case(np.random.default_rng(seed), layout)
        attempt(drawn, tmp_path)
        damaged += bool(drawn.damaged)
    assert damaged or layout not in DAMAGED
