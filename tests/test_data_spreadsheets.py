"""Rejected rows, which people repair in spreadsheets: nothing in them runs there, and they come back as they were."""

import csv

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

from evalkit import data
from evalkit.data import importing, spreadsheets

ROWS = 4
SYSTEMS = ["=cmd|' /C calc'!A0", "-1+1", "'quoted", "plain"]


def rated(scores):
    """A row for each system, under a heading that a spreadsheet would run."""
    return pd.DataFrame(
        {
            "src_lang": "eng",
            "tgt_lang": "deu",
            "system": SYSTEMS,
            "doc": "d",
            "segment": [str(n) for n in range(ROWS)],
            "annotator": "p",
            "score": scores,
            "=note": "@SUM(A1)",
        }
    )


def test_rejected_rows_run_nothing_in_a_spreadsheet_and_come_back_as_they_were(tmp_path):
    options = {"keep_names": True, "allow_rejected": True, "scale": (0, 100)}
    rated([50, 60, 70, 80]).to_csv(tmp_path / "good.csv", index=False)
    rated(["5x", "6x", "7x", "8x"]).assign(doc="e").to_csv(tmp_path / "bad.csv", index=False)
    importing.import_campaign([tmp_path / "good.csv", tmp_path / "bad.csv"], tmp_path / "c.parquet", **options)
    text = (tmp_path / "c.rejected.csv").read_text(encoding="utf-8-sig")
    cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
    assert len([cell for cell in cells if "SUM" in cell]) == ROWS
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    for wrong in ("5x", "6x", "7x", "8x"):
        text = text.replace(f",{wrong},", f",{wrong[0]}0,")
    (tmp_path / "repaired.csv").write_text(text, encoding="utf-8")
    importing.import_campaign([tmp_path / "repaired.csv"], tmp_path / "r.parquet", **options)
    found, _ = data.open_campaign(tmp_path / "r.parquet")
    assert found["system"].tolist() == SYSTEMS
    assert found["score"].tolist() == [50, 60, 70, 80]


@example(["-3.5 "])
@example([" ", "=1", "\t"])
@given(st.lists(st.sampled_from(["-3.5", "=1", "'", " ", ";", "\t", "\n", "\u00a0", "@a", "x", "+", '"', "-"])))
def test_guarded_texts_come_back_also_without_the_blanks_around_them(pieces):
    text = "".join(pieces)
    assert spreadsheets.unguarded(spreadsheets.guarded(text)) == text
    # A reader takes blanks off first; pieces after a cut keep theirs.
    assert spreadsheets.unguarded(spreadsheets.guarded(text).strip(" ")).strip() == text.strip()
