"""Load WMT's Mechanical Turk ratings into English: judgements in the order of annotation, official rankings."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, languages, schemas

#: The header of the ratings files, which stands on one line with spaces between the names; rows are cut by tabs.
COLUMNS = ["HITId", "WorkerId", "Input.src", "Input.trg", "Input.item", "hit"]
COLUMNS += ["sys_id", "rid", "type", "sid", "score", "time"]
#: Our columns -> the files'.
NAMES = {
    "src_lang": "Input.src",
    "tgt_lang": "Input.trg",
    "system": "sys_id",
    "doc": "rid",
    "segment": "sid",
    "annotator": "WorkerId",
    "score": "score",
    "item_type": "type",
    "hit": "HITId",
}
#: What the files call an item, and what we call it: ``repeat`` is an unchanged segment inside a quality-control copy.
ITEM_TYPES = {"SYSTEM": "system", "REPEAT": "repeat", "REF": "reference", "BAD_REF": "degraded"}
#: ISO 639-3 codes of the files' languages. WMT22 writes Livonian as lv.
LANGUAGES = languages.CODES | {"lv": "liv"}
_MEANS = re.compile(r"ad-(?P<source>\w\w)en-trk-mean-sd\.txt")
_RANKING = re.compile(r"ad-sys-ranking-(?P<source>\w\w)-en-z\.csv")
_SHOWN = ["hit", "src_lang", "system", "segment"]
#: What a worker is, of whom scores from 0 to 100 have a mean and, where they are several, a deviation.
_WORKERS = schemas.Schema(
    {"annotator": schemas.Column(), **dict.fromkeys(["mean", "sd"], schemas.Column("float", nullable=True, low=0))},
    key=["annotator"],
    remedy="Get the file again.",
)


def ratings(paths: list[Path]) -> pd.DataFrame:
    """Load standardised ratings, raw scores recovered.

    paths: per language pair ``ad-<pair>-good-stnd.csv`` and ``ad-<pair>-trk-mean-sd.txt``. Besides the schema's
    columns: ``z`` as published (per worker and language pair, over all item types), ``copy`` (the row belongs to a
    quality-control copy of a document), ``position``, the row's place in its HIT as it was annotated, and
    ``hit_seconds``, the seconds that the worker spent on the whole HIT. ``score`` is round(z * sd + mean). ``hit``
    joins the HIT's and the worker's name; ``doc`` is the document as shown, and a copy bears the name of the original
    it copies, so that the two can be paired.
    """
    means = {path.name.partition("trk")[0]: path for path in paths if path.suffix == ".txt"}
    parts = []
    for path in (path for path in paths if path.suffix == ".csv"):
        workers = statistics(means[path.name.partition("good")[0]])
        raw = pd.read_csv(path, sep="\t", names=COLUMNS, skiprows=1, dtype="str", keep_default_na=False)
        parts.append(of_rows(raw, workers, origin=path.name))
    return pd.concat(parts, ignore_index=True)


def of_rows(
    raw: pd.DataFrame, workers: pd.DataFrame | None, *, origin: str, codes: Mapping[str, str] = LANGUAGES
) -> pd.DataFrame:
    """Turn rows under ``COLUMNS`` into ratings; the index, the line of each row, is kept.

    workers: each one's mean and standard deviation, with which raw scores are recovered from standardised ones; None
    where scores are raw, and there is no ``z``. codes: of languages, like ``LANGUAGES``.
    """
    z, hit = pd.to_numeric(raw["score"], errors="coerce"), raw["HITId"] + "/" + raw["WorkerId"]
    scores = {"score": z}
    if workers is not None:
        scores = {"score": recovered(raw["WorkerId"], z, workers).round() + 0.0, "z": z}  # no negative zero
    frame = raw[[*NAMES.values()]].set_axis([*NAMES], axis=1)
    frame = frame.assign(
        src_lang=frame["src_lang"].map(codes),
        tgt_lang=frame["tgt_lang"].map(codes),
        item_type=frame["item_type"].map(ITEM_TYPES),
        hit=hit,
        **scores,
        copy=raw["type"].ne("SYSTEM"),
        position=raw.groupby(hit).cumcount(),
        hit_seconds=pd.to_numeric(raw["time"], errors="coerce"),
    )
    frame = schemas.check(frame, schemas.RATINGS, origin=origin, scale=(0, 100))
    return frame.assign(doc=_named_after_original(frame)).set_axis(raw.index)


def recovered(worker: pd.Series, z: pd.Series, workers: pd.DataFrame) -> pd.Series:
    """Recover raw scores, which are whole numbers but for rounding; NaN of workers who are not known."""
    known = workers.set_index("annotator")
    return z * worker.map(known["sd"]) + worker.map(known["mean"])


def _named_after_original(frame: pd.DataFrame) -> pd.Series:
    """Give each quality-control copy the name of the document that it copies: same HIT, system and segments."""
    originals = frame[~frame["copy"]].drop_duplicates(_SHOWN)
    named = frame[_SHOWN].merge(originals[[*_SHOWN, "doc"]], on=_SHOWN, how="left")["doc"]
    named = named.groupby([frame["hit"], frame["doc"]]).transform("first")  # all of a copy after its first match
    return frame["doc"].where(~frame["copy"] | named.isna(), named)


def annotators(paths: list[Path]) -> pd.DataFrame:
    """Load each worker's mean and standard deviation per language pair.

    Columns src_lang, tgt_lang, annotator, mean, sd. An ``sd`` of 0 belongs to somebody who gave one score throughout, a
    missing one to a single judgement; neither has z-scores, and their judgements are not in the ratings files.
    """
    return _by_source(paths, _MEANS, statistics)[["src_lang", "tgt_lang", "annotator", "mean", "sd"]]


def _by_source(paths: list[Path], named: re.Pattern[str], read: Callable[[Path], pd.DataFrame]) -> pd.DataFrame:
    """Read the files whose names fit, with the source language that each name says."""
    found = {path: name["source"] for path in paths if (name := named.fullmatch(path.name))}
    parts = [read(path).assign(src_lang=LANGUAGES[source], tgt_lang="eng") for path, source in found.items()]
    return pd.concat(parts, ignore_index=True)


def statistics(path: Path) -> pd.DataFrame:
    """Read what R printed: a name, a mean and a standard deviation on three lines.

    Columns annotator, mean, sd; "NA" is a deviation of one score. Raises DataError where the lines are no such triples,
    or somebody stands there twice.
    """
    lines = [line for line in delimited.content(path).decode("utf-8", "replace").split("\n") if line.strip()]
    values = [line.partition("]")[2].strip().strip('"') for line in lines]
    if not values or len(values) % 3 or not all(line.startswith("[1]") for line in lines):
        raise DataError(f"{path.name}: not triples of lines `[1] value` (worker, mean, sd). Get the file again.")
    first = pd.RangeIndex(1, len(values), 3, name="line")
    numbers = pd.DataFrame({"mean": values[1::3], "sd": values[2::3]}, first).replace("NA", "")
    frame = pd.DataFrame({"annotator": values[0::3]}, first).join(numbers)
    return schemas.check(frame, _WORKERS, origin=path.name)


def ranking(paths: list[Path]) -> pd.DataFrame:
    """Load official rankings: src_lang, tgt_lang, system, raw, z, segments, judgements, in the order of ``z``.

    paths: ``ad-sys-ranking-<pair>-z.csv``, and the same rows in another order. ``raw`` and ``z`` stay text, with their
    printed digits.
    """
    header = ["raw", "z", "segments", "judgements", "system"]
    read = partial(pd.read_csv, sep=r"\s+", names=header, dtype="str", index_col=False)
    frame = _by_source(paths, _RANKING, read).astype({"segments": int, "judgements": int})
    return frame[["src_lang", "tgt_lang", "system", "raw", "z", "segments", "judgements"]]
