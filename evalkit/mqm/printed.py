"""Line computed tables up with the cells that Sai et al. 2023 print, each with the reason where the two part."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

_PAPER = "Sai et al. 2023"
#: Metrics of Tables 1, 2, 8 and 10 as the paper spells them in one or the other -> as they are called here.
METRICS = {
    "BLEU 1": "BLEU-1", "BLEU 2": "BLEU-2", "BLEU 3": "BLEU-3", "BLEU 4": "BLEU-4", "BLEU1": "BLEU-1",
    "sacreBLEU": "SacreBLEU", "ROUGE": "ROUGE-L", "Human": "human",
}  # fmt: skip


def held(
    printed: pd.DataFrame,
    computed: pd.DataFrame,
    *,
    item: str,
    values: Mapping[str, str],
    on: tuple[str, ...] = ("metric", "language"),
    absent: str,
    because: Mapping[str, str] | str,
) -> pd.DataFrame:
    """Lay printed cells beside computed ones: paper, item, cell, printed, computed, note.

    values: column of ``printed`` -> column of ``computed``. on: what names a row in both (metrics go by ``METRICS``).
    absent: the note of cells that nothing was computed for. because: the note of the others, which is shown where they
    differ; by the last name of ``on``, with "" for those not listed.
    """
    key = list(on)
    called = printed.assign(metric=printed["metric"].replace(METRICS)) if "metric" in printed else printed
    table = called[key].merge(computed[[*key, *values.values()]], on=key, how="left", validate="many_to_one")
    reasons = because if isinstance(because, Mapping) else {"": because}
    note = called[key[-1]].map(lambda name: reasons.get(name, reasons[""])).to_numpy()
    parts = []
    for ours, theirs in values.items():
        found = table[theirs].to_numpy()
        cell = printed[key].agg(", ".join, axis=1) + (f", {ours}" if len(values) > 1 else "")
        notes = pd.Series(note).where(pd.notna(found), absent)
        rows = {"paper": _PAPER, "item": item, "cell": cell.to_numpy(), "printed": printed[ours].to_numpy()}
        parts.append(pd.DataFrame(rows | {"computed": found, "note": notes.to_numpy()}))
    return pd.concat(parts, ignore_index=True)
