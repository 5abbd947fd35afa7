"""Load WMT's Mechanical Turk ratings into English: judgements in the order of annotation, official rankings."""

import io
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, files, schemas

#: The header of the ratings files, which stands on one line with spaces between the names; rows are cut by tabs.
COLUMNS = [
    "HITId",
    "WorkerId",
    "Input.src",
    "Input.trg",
    "Input.item",
    "hit",
    "sys_id",
    "rid",
    "type",
    "sid",
    "score",
    "time",
]
#: What the files call an item, and what we call it: ``repeat`` is an unchanged segment inside a quality-control copy.
ITEM_TYPES = {"SYSTEM": "system", "REPEAT": "repeat", "REF": "reference", "BAD_REF": "degraded"}
#: ISO 639-3 codes of the files' languages. WMT22 writes Livonian as lv.
LANGUAGES = {
    "cs": "ces",
    "de": "deu",
    "en": "eng",
    "et": "est",
    "fi": "fin",
    "gu": "guj",
    "ha": "hau",
    "is": "isl",
    "iu": "iku",
    "ja": "jpn",
    "kk": "kaz",
    "km": "khm",
    "lt": "lit",
    "lv": "liv",
    "pl": "pol",
    "ps": "pus",
    "ru": "rus",
    "ta": "tam",
    "tr": "tur",
    "uk": "ukr",
    "zh": "zho",
}
_NAME = re.compile(r"ad-(?P<pair>\w{4})-(?P<what>good-stnd\.csv|trk-mean-sd\.txt)$")
_RANKING = re.compile(r"ad-sys-ranking-(?P<pair>\w\w-\w\w)-(?P<scale>raw|z)\.csv$")
_SHOWN = ["hit", "src_lang", "system", "segment"]
#: Files of an archive of a year's evaluation; their folders say how it was done (mturk-doclevel-..., for instance).
_IN_ARCHIVE = re.compile(r"(?P<folder>.*/)?ad-(?P<pair>\w\wen)-(?P<what>good-stnd\.csv|trk-mean-sd\.txt)")
_ROW = ["HITId", "WorkerId", "Input.src", "Input.trg", "sys_id", "rid", "sid", "type"]


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load standardised ratings, raw scores recovered.

    paths: per language pair ``ad-<pair>-good-stnd.csv`` and ``ad-<pair>-trk-mean-sd.txt``. Besides the schema's
    columns: ``z`` as published (per worker and language pair, over all item types), ``copy`` (the row belongs to a
    quality-control copy of a document), ``position``, the row's place in its HIT as it was annotated, and
    ``hit_seconds``, the seconds that the worker spent on the whole HIT. ``score`` is round(z * sd + mean). ``hit``
    joins the HIT's and the worker's name; ``doc`` is the document as shown, and a copy bears the name of the original
    it copies, so that the two can be paired. Raises DataError where a worker has no mean
    or a recovered score is no whole number on 0-100.
    """
    files = {(m["pair"], m["what"][:4]): path for path in paths if (m := _NAME.search(path.name))}
    parts = []
    for path, means in ((path, files[pair, "trk-"]) for (pair, what), path in files.items() if what == "good"):
        rows = _rows(delimited.content(path), path.name)
        parts.append(of_rows(rows, statistics(means), origin=path.name, means=means.name))
    return pd.concat(parts, ignore_index=True)


def _rows(content: bytes, origin: str) -> pd.DataFrame:
    """Read the rows of a ratings file, of which the line is the index."""
    header, _, rows = content.partition(b"\n")
    if header.decode("utf-8", "replace").split() != COLUMNS:
        raise DataError(f"{origin}, line 1: the columns are not {', '.join(COLUMNS)}. Get the file again.")
    raw = delimited.table(rows, origin=origin, header=COLUMNS, delimiter="\t")
    raw.index = raw.index + 1  # the header stands above
    unknown = raw.index[~raw["type"].isin(ITEM_TYPES)]
    if len(unknown):
        raise DataError(f"{origin}, line {unknown[0]}: type {raw['type'][unknown[0]]!r} is none of {[*ITEM_TYPES]}.")
    return raw


def archive(paths: list[Path]) -> pd.DataFrame:
    """Load one year's Mechanical Turk ratings into English out of the archive that Graham et al. publish.

    paths: ``newstest20XX-humaneval.tar.gz``, with ``ad-<pair>en-good-stnd.csv`` and ``ad-<pair>en-trk-mean-sd.txt`` in
    folders. Columns as of ``ratings``, and ``context``: "document" where segments were judged in the order of their
    document (folders called doclevel), else "sentence"; there, copies are paired with originals one by one.
    What Appraise and Turkle collected is not Mechanical Turk's, and is passed over, as in Knowles & Lo 2024, footnote
    j. Rows that say a second time what a worker judged in a HIT are left out and counted in ``attrs["excluded"]``.
    Raises DataError as ``ratings``.
    """
    found = {}
    for place, content in files.members(paths[0], _IN_ARCHIVE):
        if not re.search("appraise|turkle", (place["folder"] or "").casefold()):
            found[place["folder"] or "", place["pair"], place["what"][:4]] = (place.string, content)
    parts: list[pd.DataFrame] = []
    again = 0
    for (folder, pair, what), (name, content) in sorted(found.items()):
        if what != "good":
            continue
        part, twice = _archived(name, content, *found[folder, pair, "trk-"])
        parts, again = [*parts, part], again + twice
    frame = pd.concat(parts, ignore_index=True)
    frame.attrs["excluded"] = {"judgements that are there twice in a HIT": again}
    return frame


def _archived(name: str, content: bytes, means: str, statistics: bytes) -> tuple[pd.DataFrame, int]:
    """Turn one language pair of an archive into ratings; count the rows that are there twice."""
    raw, context = _rows(content, name), "document" if "doclevel" in name.casefold() else "sentence"
    again = raw.duplicated(_ROW)
    workers = _statistics(statistics, means)
    found = of_rows(raw[~again], workers, origin=name, means=means, documents=context == "document")
    return found.assign(context=context), int(again.sum())


def of_rows(
    raw: pd.DataFrame,
    workers: pd.DataFrame | None,
    *,
    origin: str,
    means: str = "",
    documents: bool = True,
    codes: Mapping[str, str] = LANGUAGES,
) -> pd.DataFrame:
    """Turn rows under ``COLUMNS`` into ratings; the index, the line of each row, is kept.

    workers: each one's mean and standard deviation, with which raw scores are recovered from standardised ones; None
    where scores are raw, and there is no ``z``. means: the name of the file that ``workers`` come from. documents: a
    quality-control copy is that of a whole document, else of a single segment. codes: of languages, like ``LANGUAGES``.
    """
    lines = raw.index
    z = pd.to_numeric(raw["score"], errors="coerce")
    whole = z if workers is None else _recovered(raw, z, workers.set_index("annotator"), origin, means)
    hit = raw["HITId"] + "/" + raw["WorkerId"]
    frame = pd.DataFrame(
        {
            "src_lang": raw["Input.src"].map(codes),
            "tgt_lang": raw["Input.trg"].map(codes),
            "system": raw["sys_id"],
            "doc": raw["rid"],
            "segment": raw["sid"],
            "annotator": raw["WorkerId"],
            "score": whole,
            "item_type": raw["type"].map(ITEM_TYPES),
            "hit": hit,
            "z": z,
            "copy": raw["type"].ne("SYSTEM"),
            "position": raw.groupby(hit).cumcount(),
            "hit_seconds": pd.to_numeric(raw["time"], errors="coerce"),
        }
    )
    frame = frame.drop(columns="z") if workers is None else frame
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    return frame.assign(doc=_named_after_original(frame, documents)).set_axis(lines)


def _recovered(raw: pd.DataFrame, z: pd.Series, workers: pd.DataFrame, origin: str, means: str) -> pd.Series:
    """Recover raw scores, which must be whole numbers."""
    nameless = raw.index[~raw["WorkerId"].isin(workers.index)]
    if len(nameless):
        raise DataError(f"{origin}, line {nameless[0]}: {means} has no mean of {raw['WorkerId'][nameless[0]]}.")
    score = z * raw["WorkerId"].map(workers["sd"]) + raw["WorkerId"].map(workers["mean"])
    whole = score.round() + 0.0  # no negative zero
    bad = raw.index[~((score - whole).abs() < 1e-3)]
    if len(bad):
        raise DataError(
            f"{origin}, line {bad[0]}: z {raw['score'][bad[0]]} of {raw['WorkerId'][bad[0]]} gives no whole raw "
            f"score with {means}. Use the file of means over all items (not -no-refs)."
        )
    return whole


def _named_after_original(frame: pd.DataFrame, documents: bool) -> pd.Series:
    """Give each quality-control copy the name of the document that it copies: same HIT, system and segments."""
    originals = frame[~frame["copy"]].drop_duplicates(_SHOWN)
    matched = frame[_SHOWN].merge(originals[[*_SHOWN, "doc"]], on=_SHOWN, how="left")["doc"]
    named = matched
    if documents:
        named = matched.groupby([frame["hit"], frame["doc"]]).transform("first")  # all of a copy after its first match
    return frame["doc"].where(~frame["copy"] | named.isna(), named)


def annotators(paths: list[Path]) -> pd.DataFrame:
    """Load each worker's mean and standard deviation per language pair.

    Columns src_lang, tgt_lang, annotator, mean, sd, judged. An ``sd`` of 0 belongs to somebody who gave one score
    throughout, a missing one to a single judgement; neither has z-scores, and their judgements are not in the
    ratings files.
    """
    parts = []
    for path in paths:
        if name := _NAME.search(path.name):
            source, target = LANGUAGES[name["pair"][:2]], LANGUAGES[name["pair"][2:]]
            parts.append(statistics(path).assign(src_lang=source, tgt_lang=target))
    return pd.concat(parts, ignore_index=True)[["src_lang", "tgt_lang", "annotator", "mean", "sd"]]


def statistics(path: Path) -> pd.DataFrame:
    """Read what R printed: a name, a mean and a standard deviation on three lines.

    Columns annotator, mean, sd. Raises DataError where the lines are no such triples, or somebody stands there twice.
    """
    return _statistics(delimited.content(path), path.name)


def _statistics(content: bytes, origin: str) -> pd.DataFrame:
    lines = content.decode("utf-8", "replace").split("\n")
    values = [line.partition("]")[2].strip().strip('"') for line in lines if line.strip()]
    if not values or len(values) % 3 or not all(line.startswith("[1]") for line in lines if line.strip()):
        raise DataError(f"{origin}: not triples of lines `[1] value` (worker, mean, sd). Get the file again.")
    frame = pd.DataFrame({"annotator": values[0::3], "mean": values[1::3], "sd": values[2::3]})
    for name in ("mean", "sd"):
        numbers = pd.to_numeric(frame[name], errors="coerce")
        wrong = (numbers.isna() & frame[name].ne("NA")) | (numbers < 0)  # a deviation below 0 would turn scores round
        if wrong.any():
            line = 3 * int(np.flatnonzero(wrong)[0]) + (2 if name == "mean" else 3)
            value = frame[name][wrong].iloc[0]
            raise DataError(f"{origin}, line {line}: {value!r} is no {name} of scores from 0 to 100. Correct it.")
        frame[name] = numbers
    if frame["annotator"].duplicated().any():
        line = 3 * int(np.flatnonzero(frame["annotator"].duplicated())[0]) + 1
        raise DataError(f"{origin}: the worker on line {line} stands there twice. Keep one of them.")
    return frame


def ranking(paths: list[Path]) -> pd.DataFrame:
    """Load official rankings: src_lang, tgt_lang, system, raw, z, segments, judgements, in the order of ``z``.

    The raw and the z file of a language pair must hold the same rows. ``raw`` and ``z`` stay text, with their printed
    digits.
    """
    found = {}
    for path, name in ((path, name) for path in paths if (name := _RANKING.search(path.name))):
        names = ["raw", "z", "segments", "judgements", "system"]
        text = delimited.content(path).decode("utf-8")
        frame = pd.read_csv(io.StringIO(text), sep=r"\s+", names=names, dtype="str", index_col=False)
        found[name["pair"], name["scale"]] = frame
    parts = []
    for (pair, scale), frame in found.items():
        if scale != "z":
            continue
        languages = {"src_lang": LANGUAGES[pair[:2]], "tgt_lang": LANGUAGES[pair[3:]]}
        parts.append(frame.astype({"segments": int, "judgements": int}).assign(**languages))
    order = ["src_lang", "tgt_lang", "system", "raw", "z", "segments", "judgements"]
    return pd.concat(parts, ignore_index=True)[order]
