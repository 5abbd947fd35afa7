"""Read layouts that loaders of the suite know: mt-metrics-eval's, IndicMT-Eval's, WMT's crowds, earlier imports."""

import contextlib
import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import indicmt, languages, mtme, mturk, schemas
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing import metrics, numbers, wall, writing
from evalkit.data.importing.annotated import resolve, tell
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import (
    DISCARDED,
    Judgements,
    Rejecting,
    Seen,
    Table,
    excluded,
)
from evalkit.data.names import Looks
from evalkit.data.typology import Scheme

IMPORTED, MTME = "imported", "mt-metrics-eval"
_PLACE = re.compile(
    r"(?P<pair>\w\w-\w\w)\.(?P<kind>[\w-]+)(?:\.(?P<rater>\w+))?\.(?P<level>seg|sys|domain|doc)\.(?P<what>score|rating)"
)
#: What IndicMT-Eval's files have.
INDIC = ("Source", "Reference", "Translation", "Error1_Type", "Error1_Severity", "Computed_scores", "model")
_KEPT = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"]


def by_name(path: Path, start: bytes) -> Table | None:
    """Return a file that is known by its name or its start, and read by its loader; None for any other.

    Raises DataError for a Parquet file that no import wrote.
    """
    none = pd.DataFrame(index=pd.Index([], name="line", dtype=int))
    if _PLACE.fullmatch(path.name):
        notes = [UNFINISHED.format(where="its last line")] if is_unfinished(path) else []
        return Table(path, none, named=path.name, kind=MTME, notes=notes)
    if not start.startswith(b"PAR1"):
        return None
    if path.suffix != ".parquet" or not writing.label_of(path):
        raise DataError(f"{path.name} is a Parquet table that no import wrote. Write it as CSV, and import that.")
    return Table(path, none, named=path.name, kind=IMPORTED)


# mt-metrics-eval


def human_scores(folder: Path) -> list[Path]:
    """List the human judgements of segments in a folder of mt-metrics-eval: single raters' where they are.

    Raises DataError where there are none, or scores of several kinds or language pairs stand side by side.
    """
    placed = [nameable(path) for path in sorted(folder.rglob("*.seg.*")) if path.parent.name == "human-scores"]
    found = [(path, match) for path in placed if (match := _PLACE.fullmatch(path.name))]
    if not found:
        raise DataError(f"{folder} holds no human-scores/*.seg.score or *.seg.rating. Name the files to import.")
    chosen = [(path, match) for path, match in found if match["what"] == "rating"] or found
    kinds = {match["kind"] for _, match in chosen}
    if len(kinds) > 1:
        raise DataError(f"{folder} holds scores of several kinds ({', '.join(sorted(kinds))}). Name the files of one.")
    return [path for path, _ in chosen]


def convert_mtme(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read human scores, a line per system and segment, and the documents beside them."""
    path, name = table.path, _PLACE.fullmatch(table.name)
    if not name or name["level"] != "seg":
        raise DataError(f"{path.name} holds means, not judgements. Import the file that ends in .seg.score instead.")
    docs = path.parent.parent / "documents" / f"{name['pair']}.docs"
    if not docs.is_file():
        raise DataError(f"{path.name} needs documents/{docs.name} in the folder above it. Keep the whole layout.")
    beside = [Seen.at(docs)]
    if is_unfinished(docs):
        receipt.note(f"{docs.name}: {UNFINISHED.format(where='its last line')}")
    paths = [path.absolute(), docs.absolute()]
    if name["what"] == "rating":
        scheme = _scheme(options, receipt, own=None, what="what the file gives each error")
        return _of_tables(*_scored(mtme.mqm_ratings(paths), mtme.mqm_spans(paths), scheme), options, beside=beside)
    receipt.orientation = "higher is better, as mt-metrics-eval keeps all scores"
    receipt.note(
        f"{path.name} holds one score a segment and does not say who gave it: annotator is {name['kind']!r}, and "
        "nothing can be said about agreement"
    )
    scores = mtme.segment_scores(paths)
    scores = scores.astype(dict.fromkeys(scores.select_dtypes("category"), "str"))
    kinds = np.where(scores["system"].str.startswith("ref"), "reference", "system")
    ratings = scores.rename(columns={"metric": "annotator"}).assign(item_type=kinds)
    return _of_tables(ratings, None, options, named=True, beside=beside)


# IndicMT-Eval


def convert_indicmt(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read a file of IndicMT-Eval: a CSV as its loader does, or a sheet of a workbook, which its language names."""
    receipt.note("IndicMT-Eval: annotators are not named; a sentence is recognised by its letters")
    scheme = _scheme(options, receipt, own="release", what="the file's Computed_scores, ")
    if table.typed:
        origin = f"{table.name}, sheet {table.title}"
        language = languages.code(options.values.get("tgt_lang", table.title))
        if not language:
            raise DataError(
                f"{origin}: nothing says into which language these are translations. Pass --value tgt_lang=hin or the "
                "like, or give the sheet the language's name."
            )
        sheet, lines = (table.cells, language, origin), table.cells.index
    else:  # the loader cuts the rows in its own way
        sheet, lines, table.broken = indicmt.sheet(table.path), None, []
    tables = _scored(indicmt.judgements(*sheet), indicmt.errors(*sheet), scheme)
    return _of_tables(*tables, options, named=True, lines=lines)


def _scheme(options: Options, receipt: Receipt, *, own: str | None, what: str) -> Scheme | None:
    """Put into the receipt what errors weigh, as told or by the file's own scores; return the scheme if it is told.

    own: the scheme that the file's own scores follow, where it is known. what: what these are called.
    """
    scheme = resolve(options.weights or own)
    tell(scheme, receipt, before="" if options.weights else what)
    if not options.weights and not own:
        receipt.weights = what
        receipt.orientation = "higher is better: the score is minus the weights of the errors"
    return scheme if options.weights else None


def _scored(ratings: pd.DataFrame, spans: pd.DataFrame, scheme: Scheme | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give judgements scores made of their errors, where a scheme is told."""
    if scheme is None:
        return ratings, spans
    weight = scheme.weigh(spans["error_type"], spans["severity"])
    if weight.isna().any():
        unknown = spans["severity"].astype("str")[weight.isna()].iloc[0]
        raise DataError(f"--weights gives the severity {unknown!r} no weight. Add it, as {unknown}=1.")
    key = [name for name in (*_KEPT, "row") if name in spans and name in ratings]
    named = pd.concat([ratings[key].astype("str"), spans[key].astype("str")], ignore_index=True)
    judged = named.groupby(key, sort=False).ngroup().to_numpy()
    score = scheme.scores(judged[len(ratings) :], spans["error_type"], weight.to_numpy(), len(ratings))[1]
    return ratings.assign(score=score + 0.0), spans.assign(weight=weight.to_numpy())


def _of_tables(
    ratings: pd.DataFrame,
    spans: pd.DataFrame | None,
    options: Options,
    *,
    named: bool = False,
    beside: Sequence[Seen] = (),
    lines: pd.Index | None = None,
) -> Judgements:
    """Take what a loader read. named: what stands for annotators is no person's name. lines: of the file, if known."""

    def hidden(table: pd.DataFrame) -> pd.DataFrame:
        if named:
            return table
        return options.pseudonyms.owned(table.assign(annotator=table["annotator"].astype("str")))

    ratings = hidden(options.looks.alike(ratings))
    if spans is not None:
        spans = hidden(Looks().alike(spans))  # the same names, told once
        spans = spans.drop(columns=["source", "reference", "hypothesis", "row"], errors="ignore")
    lines = pd.RangeIndex(1, len(ratings) + 1, name="line") if lines is None else lines
    kept = ratings[[name for name in (*_KEPT, "hit") if name in ratings]].set_axis(lines)
    unscored = kept["score"].isna()
    rejected = excluded(lines[unscored], DISCARDED, "score")
    return Judgements(kept[~unscored], rejected, spans=spans, read=len(ratings), beside=beside)


# What an earlier import wrote, as one file of a campaign among others


def convert_imported(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read judgements, those of automatic judges and marked errors; what was told of them is told again."""
    path = table.path
    label = writing.label_of(path)
    scale = tuple(label["scale"]) if label["scale"] else None
    if options.scale not in (None, scale):
        raise DataError(f"{path.name} was imported with another scale. Import the files that it was made from again.")
    parts = [wall.parquet(path)]
    places = [writing.beside(path, what) for what in ("judges.parquet", "spans.parquet", "import.json")]
    beside = [Seen.at(place) for place in places if place.is_file()]
    apart, earlier = metrics.read_apart(path), []
    if apart is not None:
        models = apart[apart["kind"] == "judge"].drop(columns=[*metrics.EXTRA])
        parts += [models] if len(models) else []
        receipt.judges += [name for name in models["annotator"].unique() if name not in receipt.judges]
        earlier = metrics.of_apart(apart, path.name)
    ratings = pd.concat(parts, ignore_index=True)
    ratings = schemas.check(ratings, schemas.RATINGS, origin=path.name, scale=scale)
    marked = writing.beside(path, "spans.parquet")
    same = marked.is_file() and writing.label_of(marked) == label
    _retell(path, label["digest"], receipt)
    ratings = ratings.assign(annotator=options.pseudonyms.column(ratings["annotator"]))
    return Judgements(
        ratings.set_axis(pd.RangeIndex(1, len(ratings) + 1, name="line")),
        scale=scale,
        spans=wall.parquet(marked) if same else None,
        read=len(ratings),
        beside=beside,
        metrics=earlier,
    )


def _retell(path: Path, digest: str, receipt: Receipt) -> None:
    """Pass on what the earlier import's receipt says, as long as it lies beside its result."""
    said = writing.receipt_beside(path)
    if not said or said.digest != digest:
        receipt.note(f"{path.name}: the report of its import is not beside it, so what was set apart is not known")
        return
    for name in ("orientation", "segments", "weights"):
        setattr(receipt, name, getattr(receipt, name) or getattr(said, name))
    for note in said.notes:
        receipt.note(f"{path.name}: {note}")
    if apart := Counter(said.reasons) + Counter(said.excluded):
        told = "; ".join(f"{count:,} {reason}" for reason, count in apart.most_common())
        receipt.note(f"{path.name}: its import had set rows apart: {told}")


# WMT's Mechanical Turk files: a header cut by spaces over rows cut by tabs, scores raw or standardised

DA_SCALE = (0.0, 100.0)
_MEANS = re.compile(r"mean-sd[\w.-]*\.txt$")
_WHOLE, _MOST = re.compile(r"\d{1,3}(\.0+)?"), 10  # raw scores; a standardised one is never so high
_DA = {
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
_DA_KEY = [name for ours, name in _DA.items() if ours != "score"]


def is_companion(name: str) -> bool:
    """Tell whether a file only holds workers' means, which are read together with the ratings beside it."""
    return bool(_MEANS.search(name))


def convert_mturk(table: Table, options: Options, receipt: Receipt) -> Judgements:
    """Read ratings by crowd workers; quality-control copies are matched with what they copy."""
    means, workers = (None, None) if _are_raw(table) else _means(table)
    if means:
        receipt.note(f"raw scores were recovered from standardised ones with {means.name}")
        if is_unfinished(means):
            receipt.note(f"{means.name}: {UNFINISHED.format(where='its last line')}")
    cells, scale = options.looks.alike(table.cells, _DA), options.scale or DA_SCALE
    codes = _languages(cells)
    reject = Rejecting(cells, "WorkerId")
    for column in (*_DA_KEY, "score"):
        reject(np.flatnonzero(cells[column].isna()), column, "is empty: fill it in, or drop the row")
    for column in ("Input.src", "Input.trg"):
        reject(np.flatnonzero(~cells[column].isin([*codes])), column, "is no language that is known: correct it")
    unknown = np.flatnonzero(~cells["type"].isin([*mturk.ITEM_TYPES]))
    reject(unknown, "type", f"is none of {', '.join(mturk.ITEM_TYPES)}: correct it")
    values, wrong = numbers.read(cells["score"], ".")
    for place, reason in (wrong | (numbers.off_scale(values, scale) if workers is None else {})).items():
        reject([place], "score", reason)
    if workers is not None and means:
        score = mturk.recovered(cells["WorkerId"].str.strip(), pd.Series(values, cells.index), workers)
        absent = f"has no mean and deviation in {means.name}"
        reject(np.flatnonzero(score.isna() & ~np.isnan(values)), "WorkerId", absent)
        reject(np.flatnonzero(~_is_whole(score)), "score", f"gives no whole score from 0 to 100 with {means.name}")
    elif all(map(_WHOLE.fullmatch, table.samples("score"))):
        reason = "is no whole number, as raw scores are and those of the first rows: correct it"
        reject(np.flatnonzero(values != np.round(values)), "score", reason)
    kept = np.flatnonzero(reject.kept)
    again = kept[cells.iloc[kept].duplicated(_DA_KEY)]
    reject(again, "", "repeats an earlier judgement of the same HIT: drop one of them")
    receipt.describe(_DA, "layout")
    receipt.orientation = "higher is better, as in WMT's direct assessment"
    found = cells[reject.kept]
    if len(found):
        accounts = found["HITId"] + "/"
        found = mturk.of_rows(found, workers, origin=table.name, codes=codes)
        aliases = options.pseudonyms.column(found["annotator"])
        found = found.assign(annotator=aliases, hit=accounts + aliases)
    return Judgements(found, reject.rows, dict(_DA), scale, beside=[Seen.at(means)] if means else [])


def _languages(cells: pd.DataFrame) -> dict[str, str]:
    """Return the codes of a file's languages: as in WMT's own files, else as people write them."""
    written = {str(text) for column in ("Input.src", "Input.trg") for text in cells[column].dropna().unique()}
    codes = {text: mturk.LANGUAGES.get(text) or languages.code(text) for text in written}
    return {text: code for text, code in codes.items() if code}


def _is_whole(score: pd.Series) -> pd.Series:
    """Mark whole scores from 0 to 100."""
    return ((score - score.round()).abs() < 1e-3) & (score >= -0.5) & (score <= 100.5)


def _are_raw(table: Table) -> bool:
    """Tell whether the first scores are raw ones, 0 to 100."""
    scores = table.samples("score")
    first, _ = numbers.read(pd.Series(scores, dtype="str"), ".")
    in_range = bool(((first >= 0) & (first <= 100)).all()) and bool(scores) and first.max() > _MOST
    return bool(scores) and (all(map(_WHOLE.fullmatch, scores)) or in_range)


def _means(table: Table) -> tuple[Path, pd.DataFrame]:
    """Find the workers' means and deviations beside standardised scores.

    Files whose scores stand for several systems (redup) share another's: what turns most first scores into whole ones
    from 0 to 100 is taken, the name most alike first.
    """
    first = table.cells.head(50)
    values = pd.Series(numbers.read(first["score"], ".")[0], first.index)
    folder = sorted(path for path in table.path.parent.glob("*.txt") if is_companion(path.name))
    for path in sorted(folder, key=lambda path: -SequenceMatcher(None, path.name, table.name).ratio()):
        with contextlib.suppress(DataError):
            workers = Looks().alike(mturk.statistics(path))
            once = workers.drop_duplicates("annotator")
            if _is_whole(mturk.recovered(first["WorkerId"].str.strip(), values, once)).mean() > 0.5:
                return path, workers.drop_duplicates("annotator", keep=False)  # of two that look alike nobody is known
    beside = re.sub(r"good-stnd.*\.csv$", "trk-mean-sd.txt", table.name)
    beside = beside if beside != table.name else "ad-csen-trk-mean-sd.txt"
    names = ", ".join(path.name for path in folder[:5])
    wrong = f" ({names} does not turn them into scores from 0 to 100)" if folder else ""
    raise DataError(
        f"{table.name} holds standardised scores. Put the workers' means and deviations beside it, as {beside}{wrong}, "
        "and keep WMT's file names."
    )
