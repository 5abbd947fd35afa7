"""Load WMT's Mechanical Turk ratings into English: judgements in the order of annotation, official rankings."""

import gzip
import io
import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import delimited, files, languages, schemas

#: The header of the ratings files, which stands on one line with spaces between the names; rows are cut by tabs.
COLUMNS = ["HITId", "WorkerId", "Input.src", "Input.trg", "Input.item", "hit"]
COLUMNS += ["sys_id", "rid", "type", "sid", "score", "time"]
#: What the files call an item, and what we call it: ``repeat`` is an unchanged segment inside a quality-control copy.
ITEM_TYPES = {"SYSTEM": "system", "REPEAT": "repeat", "REF": "reference", "BAD_REF": "degraded"}
#: ISO 639-3 codes of the files' languages. WMT22 writes Livonian as lv.
LANGUAGES = languages.CODES | {"lv": "liv"}
#: A file of one language pair; folders of an archive say how it was done (mturk-doclevel-..., for instance).
_NAME = re.compile(
    r"(?P<folder>.*/)?ad-(?P<source>\w\w)en-(?P<what>good|trk)-(stnd\.csv|mean-sd\.txt)(?P<packed>\.gz)?"
)
_RANKING = re.compile(r"ad-sys-ranking-(?P<source>\w\w)-en-z\.csv")
_SHOWN = ["hit", "src_lang", "system", "segment"]
_ROW = ["HITId", "WorkerId", "Input.src", "Input.trg", "sys_id", "rid", "sid", "type"]


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
        parts.append(of_rows(_rows(path.read_bytes()), workers, origin=path.name))
    return pd.concat(parts, ignore_index=True)


def archive(paths: list[Path]) -> pd.DataFrame:
    """Load one year's Mechanical Turk ratings into English out of the archive that Graham et al. publish.

    paths: ``newstest20XX-humaneval.tar.gz``, with files as for ``ratings`` in folders. Columns as there, and
    ``context``: "document" where segments were judged in the order of their document (folders called doclevel), else
    "sentence"; there, copies are paired with originals one by one. What Appraise and Turkle collected is not Mechanical
    Turk's, and is passed over, as in Knowles & Lo 2024, footnote j. Rows that say a second time what a worker judged in
    a HIT are left out and counted in ``attrs["excluded"]``.
    """
    found = {}
    for place, content in files.members(paths[0], lambda place: bool(_NAME.fullmatch(place))):
        if (match := _NAME.fullmatch(place)) and not re.search("appraise|turkle", (match["folder"] or "").casefold()):
            content = gzip.decompress(content) if match["packed"] else content
            found[match["folder"] or "", match["source"], match["what"]] = place, content
    parts: list[pd.DataFrame] = []
    again = 0
    for (folder, source, what), (name, content) in sorted(found.items()):
        if what == "good":
            raw, documents = _rows(content), "doclevel" in folder.casefold()
            twice = raw.duplicated(_ROW)
            workers = _statistics(found[folder, source, "trk"][1], name)
            part = of_rows(raw[~twice], workers, origin=name, documents=documents)
            parts.append(part.assign(context="document" if documents else "sentence"))
            again += int(twice.sum())
    frame = pd.concat(parts, ignore_index=True)
    frame.attrs["excluded"] = {"judgements that are there twice in a HIT": again}
    return frame


def _rows(content: bytes) -> pd.DataFrame:
    """Read the rows of a ratings file, below its header."""
    return pd.read_csv(io.BytesIO(content), sep="\t", names=COLUMNS, skiprows=1, dtype="str", keep_default_na=False)


def of_rows(
    raw: pd.DataFrame,
    workers: pd.DataFrame | None,
    *,
    origin: str,
    documents: bool = True,
    codes: Mapping[str, str] = LANGUAGES,
) -> pd.DataFrame:
    """Turn rows under ``COLUMNS`` into ratings; the index, the line of each row, is kept.

    workers: each one's mean and standard deviation, with which raw scores are recovered from standardised ones; None
    where scores are raw, and there is no ``z``. documents: a quality-control copy is that of a whole document, else of
    a single segment. codes: of languages, like ``LANGUAGES``.
    """
    z = pd.to_numeric(raw["score"], errors="coerce")
    hit = raw["HITId"] + "/" + raw["WorkerId"]
    frame = pd.DataFrame(
        {
            "src_lang": raw["Input.src"].map(codes),
            "tgt_lang": raw["Input.trg"].map(codes),
            "system": raw["sys_id"],
            "doc": raw["rid"],
            "segment": raw["sid"],
            "annotator": raw["WorkerId"],
            "score": z if workers is None else recovered(raw["WorkerId"], z, workers).round() + 0.0,  # no negative zero
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
    return frame.assign(doc=_named_after_original(frame, documents)).set_axis(raw.index)


def recovered(worker: pd.Series, z: pd.Series, workers: pd.DataFrame) -> pd.Series:
    """Recover raw scores, which are whole numbers but for rounding; NaN of workers who are not known."""
    known = workers.set_index("annotator")
    return z * worker.map(known["sd"]) + worker.map(known["mean"])


def _named_after_original(frame: pd.DataFrame, documents: bool) -> pd.Series:
    """Give each quality-control copy the name of the document that it copies: same HIT, system and segments."""
    originals = frame[~frame["copy"]].drop_duplicates(_SHOWN)
    named = frame[_SHOWN].merge(originals[[*_SHOWN, "doc"]], on=_SHOWN, how="left")["doc"]
    if documents:
        named = named.groupby([frame["hit"], frame["doc"]]).transform("first")  # all of a copy after its first match
    return frame["doc"].where(~frame["copy"] | named.isna(), named)


def annotators(paths: list[Path]) -> pd.DataFrame:
    """Load each worker's mean and standard deviation per language pair.

    Columns src_lang, tgt_lang, annotator, mean, sd. An ``sd`` of 0 belongs to somebody who gave one score throughout, a
    missing one to a single judgement; neither has z-scores, and their judgements are not in the ratings files.
    """
    parts = []
    for path in paths:
        if name := _NAME.fullmatch(path.name):
            parts.append(statistics(path).assign(src_lang=LANGUAGES[name["source"]], tgt_lang="eng"))
    return pd.concat(parts, ignore_index=True)[["src_lang", "tgt_lang", "annotator", "mean", "sd"]]


def statistics(path: Path) -> pd.DataFrame:
    """Read what R printed: a name, a mean and a standard deviation on three lines.

    Columns annotator, mean, sd. Raises DataError where the lines are no such triples, or somebody stands there twice.
    """
    return _statistics(delimited.content(path), path.name)


def _statistics(content: bytes, origin: str) -> pd.DataFrame:
    lines = [line for line in content.decode("utf-8", "replace").split("\n") if line.strip()]
    values = [line.partition("]")[2].strip().strip('"') for line in lines]
    if not values or len(values) % 3 or not all(line.startswith("[1]") for line in lines):
        raise DataError(f"{origin}: not triples of lines `[1] value` (worker, mean, sd). Get the file again.")
    frame = pd.DataFrame({"annotator": values[0::3], "mean": values[1::3], "sd": values[2::3]})
    numbers = frame[["mean", "sd"]].apply(pd.to_numeric, errors="coerce")
    # "NA" is a deviation of one score; one below 0 would turn scores round.
    wrong = (numbers.isna() & frame[["mean", "sd"]].ne("NA")) | (numbers < 0)
    twice = frame["annotator"].duplicated()
    if (bad := wrong.any(axis=1) | twice).any():
        line = 3 * int(bad.argmax()) + 1
        raise DataError(
            f"{origin}, line {line}: a worker who stands there twice, or whose mean and sd on the next two lines are "
            "none of scores from 0 to 100. Correct it."
        )
    return frame.assign(**numbers)


def ranking(paths: list[Path]) -> pd.DataFrame:
    """Load official rankings: src_lang, tgt_lang, system, raw, z, segments, judgements, in the order of ``z``.

    paths: ``ad-sys-ranking-<pair>-z.csv``, and the same rows in another order. ``raw`` and ``z`` stay text, with their
    printed digits.
    """
    parts = []
    for path in paths:
        if name := _RANKING.fullmatch(path.name):
            header = ["raw", "z", "segments", "judgements", "system"]
            frame = pd.read_csv(path, sep=r"\s+", names=header, dtype="str", index_col=False)
            frame = frame.astype({"segments": int, "judgements": int})
            parts.append(frame.assign(src_lang=LANGUAGES[name["source"]], tgt_lang="eng"))
    order = ["src_lang", "tgt_lang", "system", "raw", "z", "segments", "judgements"]
    return pd.concat(parts, ignore_index=True)[order]
