"""Load exports of Appraise, XSTS, and texts judged under several protocols: ESA, suggested marks, MQM, side by side.

All are read by the importer, as `evalkit import --keep-names` reads them.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit.data import files, importing, mtme, schemas
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
#: What stood left and right on each screen, as the file names systems. It says so itself of GPT4-5shot only; of others
#: it was read off errors of the source, which are written down for both texts in the same moment.
SCREENS = [
    ("NLLB_MBR_BLEU", "Lan-BridgeMT"),
    ("ONLINE-Y", "ONLINE-A"),
    ("ONLINE-M", "ONLINE-G"),
    ("ONLINE-W", "GPT4-5shot_with_ONLINE-W"),
    ("GPT4-5shot_with_refA", "refA"),
]
#: The table in the archive of NLLB's judgements.
XSTS = "NLLB_200_XSTS_annotation_data.tsv"
_WITH = "_with_"
_DOC = r"^[a-z]+_(.*):en-de$"  # the domain before, and the pair behind, what the test set calls a document


def calibration_hits(paths: list[Path]) -> pd.DataFrame:
    """Load WMT22's calibration HITs: every segment score, the second showing of a segment as ``repeat``.

    ``hit`` is the account, ``doc`` the snippet, ``segment`` the 0-based item. Scores given to whole documents are left
    out and counted in ``attrs["excluded"]``. Which showing came second is told by ``started``.
    """
    return _imported(paths[:1], item_types={"TGT": "calibration"})[0]


def calibration_mapping(paths: list[Path]) -> pd.DataFrame:
    """Load who did which additional HIT: ``hit`` is its account, ``annotator`` theirs in the calibration HITs."""
    table = pd.read_csv(paths[0], names=paths[1].read_text(encoding="utf-8-sig").strip().split(","), dtype="str")
    names = {"username": "hit", "calibrationHIT": "annotator"}
    return schemas.check(table[[*names]].rename(columns=names), schemas.HITS, origin=paths[0].name)


def sign_language(paths: list[Path]) -> pd.DataFrame:
    """Load WMT-SLT's segment scores; a second showing to the same account is a ``repeat``, people's a ``reference``.

    ``annotator`` and ``hit`` are the account; one person has several. Scores of whole documents are left out
    and counted in ``attrs["excluded"]``.
    """
    return _imported(paths)[0]


def snippets(paths: list[Path]) -> pd.DataFrame:
    """Load ratings of snippets with quality control: segment scores, told apart into originals and copies.

    Besides the schema's columns: ``copy`` (the row belongs to a quality-control copy, a showing of the snippet with
    degraded segments in it) and ``position``, its place in the HIT by time. ``item_type`` is ``degraded`` for BAD
    segments, ``repeat`` for unchanged segments of a copy, else ``system``. Scores of whole documents, and showings
    whose segments were not scored in order, are left out and counted in ``attrs["excluded"]``.
    """
    return _imported(paths[:1])[0]


def esa(paths: list[Path]) -> pd.DataFrame:
    """Load WMT24's segment scores of ESA; where an annotator submitted a judgement again, the latest counts.

    item_type is ``degraded`` for items of type BAD, ``repeat`` for others in marked documents, else ``system`` or, for
    systems called ref..., ``reference``. Besides the schema's columns: ``mark`` (``bad``, ``dup`` or nothing; ``doc``
    is the document's name without it), ``copy`` (there is a mark), ``errors`` (how many spans were marked),
    ``position`` (the row's place in its HIT by time). ``hit`` is the account. Tutorial items and replaced submissions
    are left out and counted in ``attrs["excluded"]``.
    """
    judged = _in_time(_imported(paths)[0])
    return judged.assign(errors=judged["errors"].astype(int), position=judged.groupby("hit").cumcount())


def esa_spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of the judgements that ``esa`` keeps, in the same order.

    ``item_type``, ``hit``, ``started`` and ``mark`` are the judgement's: with the schema's columns they tell the first
    showing of a translation from its copies. ``start`` and ``end`` count UTF-16 code units of the trimmed translation,
    as browsers do (a character beyond U+FFFF is two of them). The files give the last marked character; ``end`` is one
    more. What an annotator found missing has no place: its ``start`` and ``end`` are empty, its error_type is
    ``omission``; the rest is ``other``.
    ``severity`` is ``minor``, ``major``, ``critical``, ``neutral``, or unstated where the file says "undecided": the
    stretch was marked and its severity never chosen. Overlapping spans, which the annotation tool does not allow to be
    drawn, are kept.
    Caveat: the files hold no texts, so nothing says what was marked, or that it does not lie beyond a text's end.
    """
    return _in_time(_imported(paths)[1]).drop(columns=["text", "suggested"], errors="ignore")


def xsts(paths: list[Path], *, columns: dict[str, str | list[str]] | None = None) -> pd.DataFrame:
    """Load the table of XSTS scores (1-5) inside an archive, whose columns the user names.

    columns: our name -> the archive's; ``score`` may list several columns, one per annotator of a row. What the archive
    may not have gets a plain value: system "nllb-200", doc "all", segments by the text of ``source`` or else the row.
    Raises DataError where the importer does, naming the columns found and needed.
    """
    told = columns or {}
    values = {} if "system" in told else {"system": "nllb-200"}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, XSTS)
        place.write_bytes(files.member(paths[0], XSTS))
        return _imported([place], format="xsts", columns=told, values=values, scale=(1, 5))[0]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load all judgements as the importer reads the exports, with the lists of tasks that tell which segment is which.

    Adds ``protocol``, a name of ``EXPORTS``, to the columns of ``esa``. ``segment`` is the line of the test
    set counted from 1, as in mt-metrics-eval's files. ``annotator`` is the person, where the release says whose an
    account is, else the account (``AGAIN``); ``hit`` is the account. Scores of ESA go from 0 to 100; those of MQM are
    minus the weighted errors (``WEIGHTS``), so that higher is better everywhere.
    """
    return _stacked([_collection(paths, protocol)[0] for protocol in EXPORTS])


def spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per marked error of these judgements, with their ``protocol``; otherwise as ``esa_spans``.

    Under ESA with suggested marks, these are the marks as people left them; ``suggested`` tells which of them a model
    had suggested. What people removed is not in the release. Suggestions came with ends behind their last character,
    where Appraise names the last character itself, so that the importer puts them one too far: taken back here.
    """
    marked = _stacked([_collection(paths, protocol)[1] for protocol in EXPORTS])
    suggested = marked["suggested"].eq(True)
    return like(marked.assign(suggested=suggested, end=marked["end"] - suggested), marked)


def released(paths: list[Path]) -> pd.DataFrame:
    """Load the scores of segments that were released, and those of the model that suggested marks (``LLM``).

    Columns protocol, src_lang, tgt_lang, system, doc, segment, score; higher is better.
    """
    return mtme.segment_scores(paths).rename(columns={"metric": "protocol"})


def _imported(paths: list[Path], **options: Any) -> list[pd.DataFrame]:
    """Import files or a folder: the judgements, and errors where they are marked, that know what was excluded."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "campaign.parquet")
        importing.import_campaign(paths, out, keep_names=True, **options)
        found = [table for table in importing.open_campaign(out) if table is not None]
    for table in found:
        table.attrs = {"excluded": table.attrs["excluded"]} if "excluded" in table.attrs else {}
    return found


def _collection(paths: list[Path], protocol: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Import one collection, as `evalkit import --batches --accounts --weights` does."""
    by_name = {path.name: path for path in paths}
    export, tasks = EXPORTS[protocol]
    options: dict[str, Any] = {} if protocol in AGAIN else {"accounts": by_name["Annotators_mapping.csv"]}
    options |= {"weights": WEIGHTS} if tasks == "mqm" else {}
    batches = by_name[f"batches_wmt23_en-de_{tasks}.json"]
    judged, marked = map(_in_time, _imported([by_name[f"{export}.scores.csv"]], batches=batches, **options))
    both = judged, marked.drop(columns="text", errors="ignore")
    for frame in both:
        if protocol in AGAIN:
            frame["hit"] = frame["annotator"]
        frame["segment"] = frame["segment"].astype(int).add(1).astype("str")  # the tasks count from 0
        frame.insert(0, "protocol", protocol)
    return both


def _in_time(frame: pd.DataFrame) -> pd.DataFrame:
    """Bring judgements, or their errors, into the order of each account's work."""
    return frame.sort_values(["hit", "started"], kind="stable", ignore_index=True)


def _stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Put collections on top of each other; what was excluded is counted over all of them."""
    whole = pd.concat(frames, ignore_index=True)
    excluded = pd.DataFrame([frame.attrs.get("excluded", {}) for frame in frames])
    whole.attrs = {"excluded": excluded.sum().astype(int).to_dict()} if len(excluded.columns) else {}
    return whole


def side_by_side(paths: list[Path]) -> pd.DataFrame:
    """Load MQM of two translations side by side, a row per judged translation, as the importer reads it.

    ``score`` is minus the weighted errors (Freitag et al. 2021). ``against`` is the other system on the screen, ``hit``
    the screen, ``position`` left or right (see ``SCREENS``). ``doc`` and ``segment`` are those of ``wmt23-mqm``. Every
    pair always stood in the same order, so that place and system cannot be told apart.
    """
    ratings, _ = _imported(paths[:1])
    return _in_test_set(_placed(ratings), ratings, paths)


def side_by_side_spans(paths: list[Path]) -> pd.DataFrame:
    """Load a row per error that was marked on these screens, with ``against``, ``hit`` and ``weight``."""
    ratings, spans = _imported(paths[:1])
    return _in_test_set(_placed(spans), ratings, paths)


def contrastive(paths: list[Path]) -> pd.DataFrame:
    """Load contrastive ESA, a row per judged output: up to four outputs of a segment stand on one screen.

    ``hit`` is the screen, ``position`` the place of an output on it from 1 (as stored; the site may have shown another
    order). ``score`` goes from 0 to 100; a second showing of an output is a ``repeat``.
    """
    with tempfile.TemporaryDirectory() as folder:  # of verified screens only, named like the campaign
        place = Path(folder, paths[0].parent.name)
        place.mkdir()
        for path in paths:
            shutil.copyfile(path, place / path.name)
        ratings, _ = _imported([place])
    return ratings.assign(position=ratings.groupby(["hit", "doc", "segment"]).cumcount() + 1)


def _placed(frame: pd.DataFrame) -> pd.DataFrame:
    """Add what stood beside each judgement, where it stood, and the screen."""
    system = frame["system"].astype("str")
    own = system.where(frame["against"].eq(schemas.UNSTATED), system + _WITH + frame["against"].astype("str"))
    sides = {name: (screen, side) for screen in SCREENS for name, side in zip(screen, ("left", "right"))}
    shown = [sides[name] for name in own]
    names = [[name.partition(_WITH)[0] for name in screen] for screen, _ in shown]
    return frame.assign(
        against=[right if side == "left" else left for (left, right), (_, side) in zip(names, shown)],
        position=[side for _, side in shown],
        hit=frame["annotator"].astype("str") + ": " + pd.Series(names, frame.index).str.join(" | "),
    )


def _in_test_set(frame: pd.DataFrame, ratings: pd.DataFrame, paths: list[Path]) -> pd.DataFrame:
    """Name documents and segments as the test set does, found by document and source text.

    The release numbers its own selection, 1 to 104. paths: behind the release, the test set's documents and sources.
    """
    texts = [" ".join(text.split()) for text in mtme.lines(paths[2])]
    line = mtme.documents(paths[1]).assign(text=texts).set_index(["doc", "text"])["segment"]
    own = ratings.drop_duplicates("segment").set_index("segment")
    doc = own["doc"].str.replace(_DOC, r"\1", regex=True)
    places = pd.MultiIndex.from_arrays([doc, own["source"].str.split().str.join(" ")])
    names = frame["segment"].astype("str")
    return frame.assign(doc=names.map(doc), segment=names.map(dict(zip(own.index, line[places], strict=True))))
