"""Load one set of texts that people judged under several protocols: ESA, ESA with suggested marks, and MQM."""

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import importing, mtme
from evalkit.data.provenance import like

#: What the release calls each collection -> the export that holds it, and the tasks that its accounts were given.
EXPORTS = {
    "ESA-1": ("240315rc5ESA", "esa"),
    "ESA-2": ("240520rc6ESA", "esa"),
    "ESAAI-1": ("240315rc5GEMBA", "esa"),
    "ESAAI-2": ("240520rc6GEMBA", "esa"),
    "MQM-1": ("240315rc5MQM", "mqm"),
    "ESA-IAA": ("240521rc6ESA", "esa"),
    "ESAAI-IAA": ("240521rc6GEMBA", "esa"),
    "MQM-IAA": ("240521rc6MQM", "mqm"),
}
#: Parts judged again, by accounts of which the release does not say whose they are.
AGAIN = ("ESA-IAA", "ESAAI-IAA", "MQM-IAA")
#: What an error costs in the released scores of MQM.
WEIGHTS = "minor=1,major=5,critical=25,linguistic conventions/punctuation:*=0.1"
_PEOPLE = "Annotators_mapping.csv"


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load all judgements as the importer reads the exports, with the lists of tasks that tell which segment is which.

    Adds ``protocol``, a name of ``EXPORTS``, to the columns of ``esa.ratings``. ``segment`` is the line of the test set
    counted from 1, as in mt-metrics-eval's files. ``annotator`` is the person, where the release says whose an account
    is, else the account (``AGAIN``); ``hit`` is the account. Scores of ESA go from 0 to 100; those of MQM are minus the
    weighted errors (``WEIGHTS``), so that higher is better everywhere.
    Raises DataError with file and line where an export breaks a rule.
    """
    return _stacked([_imported(paths, protocol)[0] for protocol in EXPORTS])


def spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of these judgements, with their ``protocol``; otherwise as ``esa.spans``.

    Under ESA with suggested marks, these are the marks as people left them; ``suggested`` tells which of them a model
    had suggested. What people removed is not in the release. Suggestions came with ends behind their last character,
    where Appraise names the last character itself, so that the importer puts them one too far: taken back here.
    """
    marked = _stacked([_imported(paths, protocol)[1] for protocol in EXPORTS])
    suggested = marked["suggested"].eq(True)
    return like(marked.assign(suggested=suggested, end=marked["end"] - suggested), marked)


def released(paths: list[Path]) -> pd.DataFrame:
    """Load the scores of segments that were released, and those of the model that suggested marks (``LLM``).

    Columns protocol, src_lang, tgt_lang, system, doc, segment, score; higher is better.
    """
    return mtme.segment_scores(paths).rename(columns={"metric": "protocol"})


def _imported(paths: list[Path], protocol: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Import one collection, as `evalkit import --batches --accounts --weights` does."""
    by_name = {path.name: path for path in paths}
    export, tasks = EXPORTS[protocol]
    told: dict[str, Any] = {} if protocol in AGAIN else {"accounts": by_name[_PEOPLE]}
    told |= {"weights": WEIGHTS} if tasks == "mqm" else {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "campaign.parquet")
        batches = by_name[f"batches_wmt23_en-de_{tasks}.json"]
        importing.import_campaign([by_name[f"{export}.scores.csv"]], out, keep_names=True, batches=batches, **told)
        judged, marked = importing.open_campaign(out)
    if marked is None:
        raise DataError(f"{export}.scores.csv holds no marked errors. Get the file again.")
    own = [_told(frame, protocol) for frame in (judged, marked)]
    return own[0], own[1]


def _told(frame: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Name the protocol, the account where nobody maps it, and the line counted from 1; the tasks count from 0."""
    if protocol in AGAIN:
        frame["hit"] = frame["annotator"]
    frame["segment"] = frame["segment"].astype(int).add(1).astype("str")
    frame.insert(0, "protocol", protocol)
    return frame


def _stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Put collections on top of each other; what was excluded is counted over all of them."""
    excluded: dict[str, int] = {}
    for frame in frames:
        for reason, count in frame.attrs.get("excluded", {}).items():
            excluded[reason] = excluded.get(reason, 0) + count
    whole = pd.concat(frames, ignore_index=True)
    whole.attrs = {"excluded": excluded} if excluded else {}
    return whole
