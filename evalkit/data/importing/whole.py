"""Read layouts that loaders of the suite know: mt-metrics-eval's, IndicMT-Eval's, WMT's crowds, earlier imports."""

import contextlib
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import indicmt, languages, mtme, mturk, schemas
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing import metrics, numbers, wall, writing
from evalkit.data.importing.annotated import resolve, tell
from evalkit.data.importing.judgements import Rows
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import DISCARDED, EXCLUDED, Judgements, Seen, Table
from evalkit.data.names import Looks
from evalkit.data.typology import Scheme

IMPORTED, MTME = "imported", "mt-metrics-eval"
_PLACE = re.compile(
    r"(?P<pair>[a-z]+-\w+)\.(?P<kind>[\w-]+)(?:\.(?P<rater>\w+))?\.(?P<level>seg|sys|domain|doc)\.(?P<what>score|rating)"
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


def convert_mtme(rows: Rows) -> Judgements:
    """Read human scores, a line per system and segment, and the documents beside them."""
    path, name = rows.table.path, _PLACE.fullmatch(rows.table.name)
    if not name or name["level"] != "seg":
        raise DataError(f"{path.name} holds means, not judgements. Import the file that ends in .seg.score instead.")
    docs = path.parent.parent / "documents" / f"{name['pair']}.docs"
    if not docs.is_file():
        raise DataError(f"{path.name} needs documents/{docs.name} in the folder above it. Keep the whole layout.")
    rows.table.beside.append(Seen.at(docs))
    if is_unfinished(docs):
        rows.note(f"{docs.name}: {UNFINISHED.format(where='its last line')}")
    paths = [path.absolute(), docs.absolute()]
    if name["what"] == "rating":
        scheme = _scheme(rows, own=None, what="what the file gives each error")
        return _of_tables(rows, *_scored(*mtme.mqm(paths), scheme))
    rows.receipt.orientation = "higher is better, as mt-metrics-eval keeps all scores"
    rows.note(f"{path.name} does not say who gave its scores: annotator is {name['kind']!r}, and agreement is unknown")
    scores = mtme.segment_scores(paths)
    scores = scores.astype(dict.fromkeys(scores.select_dtypes("category"), "str"))
    kinds = np.where(scores["system"].str.startswith("ref"), "reference", "system")
    ratings = scores.rename(columns={"metric": "annotator"}).assign(item_type=kinds)
    return _of_tables(rows, ratings, None, named=True)


# IndicMT-Eval


def convert_indicmt(rows: Rows) -> Judgements:
    """Read a file of IndicMT-Eval, or a sheet of a workbook; its name says the language."""
    rows.note("IndicMT-Eval: annotators are not named; a sentence is recognised by its letters")
    scheme = _scheme(rows, own="release", what="the file's Computed_scores, ")
    table = rows.table
    origin = f"{table.name}, sheet {table.title}" if table.typed else table.name
    if not (language := languages.code(rows.values.get("tgt_lang", table.title or table.path.stem.partition("_")[0]))):
        raise DataError(
            f"{origin}: nothing says the language of these translations. Pass it like --value tgt_lang=hin."
        )
    sheet = table.cells, language, origin
    return _of_tables(rows, *_scored(indicmt.judgements(*sheet), indicmt.errors(*sheet), scheme), named=True)


def _scheme(rows: Rows, *, own: str | None, what: str) -> Scheme | None:
    """Put into the receipt what errors weigh, as told or by the file's own scores; return the scheme if it is told.

    own: the scheme that the file's own scores follow, where it is known. what: what these are called.
    """
    told, receipt = rows.options.weights, rows.receipt
    scheme = resolve(told or own)
    tell(scheme, receipt, before="" if told else what)
    if not told and not own:
        receipt.weights = what
        receipt.orientation = "higher is better: the score is minus the weights of the errors"
    return scheme if told else None


def _scored(ratings: pd.DataFrame, spans: pd.DataFrame, scheme: Scheme | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give judgements scores made of their errors, each of which names its judgement's row, where a scheme is told."""
    if scheme is None:
        return ratings, spans
    weight = scheme.weigh(spans["error_type"], spans["severity"])
    if weight.isna().any():
        unknown = spans["severity"].astype("str")[weight.isna()].iloc[0]
        raise DataError(f"--weights gives the severity {unknown!r} no weight. Add it, as {unknown}=1.")
    score = scheme.scores(spans["row"].to_numpy(), spans["error_type"], weight.to_numpy(), len(ratings))[1]
    return ratings.assign(score=score + 0.0), spans.assign(weight=weight.to_numpy())


def _of_tables(rows: Rows, ratings: pd.DataFrame, spans: pd.DataFrame | None, *, named: bool = False) -> Judgements:
    """Take what a loader read. named: what stands for annotators is no person's name."""

    def hidden(table: pd.DataFrame) -> pd.DataFrame:
        if named:
            return table
        return rows.options.pseudonyms.owned(table.assign(annotator=table["annotator"].astype("str")))

    ratings = hidden(rows.options.looks.alike(ratings)).reset_index(drop=True)
    texts = ["source", "reference", "hypothesis", "row"]
    marked = spans is not None and len(spans)
    spans = hidden(Looks().alike(spans)).drop(columns=texts, errors="ignore") if marked else None  # names are told once
    kept = ratings[[name for name in (*_KEPT, "hit") if name in ratings]]
    unscored = kept["score"].isna()
    rows.reject(kept.index[unscored], "score", DISCARDED, EXCLUDED)
    return Judgements(kept[~unscored], spans=spans, read=len(ratings))


# What an earlier import wrote, as one file of a campaign among others


def convert_imported(rows: Rows) -> Judgements:
    """Read judgements, those of automatic judges and marked errors; what was told of them is told again."""
    path, told, receipt = rows.table.path, rows.options.scale, rows.receipt
    label = writing.label_of(path)
    scale = tuple(label["scale"]) if label["scale"] else None
    if told not in (None, scale):
        raise DataError(f"{path.name} was imported with another scale. Import the files that it was made from again.")
    parts = [wall.parquet(path)]
    places = [writing.beside(path, what) for what in ("judges.parquet", "spans.parquet", "import.json")]
    rows.table.beside += [Seen.at(place) for place in places if place.is_file()]
    apart, earlier = metrics.read_apart(path), []
    if apart is not None:
        models = apart[apart["kind"] == "judge"].drop(columns=[*metrics.EXTRA])
        parts += [models] if len(models) else []
        receipt.judges += [name for name in models["annotator"].unique() if name not in receipt.judges]
        earlier = metrics.of_apart(apart, path.name)
    ratings = pd.concat(parts, ignore_index=True)
    ratings = schemas.check(ratings, schemas.RATINGS, origin=path.name, scale=scale)
    marked = writing.beside(path, "spans.parquet")
    spans = wall.parquet(marked) if marked.is_file() and writing.label_of(marked) == label else None
    _retell(path, label["digest"], receipt)
    ratings = ratings.assign(annotator=rows.options.pseudonyms.column(ratings["annotator"]))
    return Judgements(ratings, scale=scale, spans=spans, read=len(ratings), metrics=earlier)


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
_DA_KEY = [name for ours, name in mturk.NAMES.items() if ours != "score"]


def is_companion(name: str) -> bool:
    """Tell whether a file only holds workers' means, which are read together with the ratings beside it."""
    return bool(_MEANS.search(name))


def convert_mturk(rows: Rows) -> Judgements:
    """Read ratings by crowd workers; quality-control copies are matched with what they copy."""
    table, aliases, scale = rows.table, rows.options.pseudonyms, rows.options.scale or DA_SCALE
    means, workers = (None, None) if _are_raw(table) else _means(table)
    if means:
        table.beside.append(Seen.at(means))
        rows.note(f"raw scores were recovered from standardised ones with {means.name}")
        if is_unfinished(means):
            rows.note(f"{means.name}: {UNFINISHED.format(where='its last line')}")
    rows.names = dict(mturk.NAMES)
    rows.cells = cells = rows.options.looks.alike(rows.cells, mturk.NAMES)
    codes = _languages(cells)
    for column in mturk.NAMES.values():
        rows.reject(np.flatnonzero(cells[column].isna()), column, "is empty: fill it in, or drop the row")
    for column in ("Input.src", "Input.trg"):
        rows.reject(np.flatnonzero(~cells[column].isin([*codes])), column, "is no language that is known: correct it")
    unknown = np.flatnonzero(~cells["type"].isin([*mturk.ITEM_TYPES]))
    rows.reject(unknown, "type", f"is none of {', '.join(mturk.ITEM_TYPES)}: correct it")
    values, wrong = numbers.read(cells["score"], ".")
    rows.refuse("score", wrong | (numbers.off_scale(values, scale) if workers is None else {}))
    if workers is not None and means:
        score = mturk.recovered(cells["WorkerId"].str.strip(), pd.Series(values, cells.index), workers)
        absent = f"has no mean and deviation in {means.name}"
        rows.reject(np.flatnonzero(score.isna() & ~np.isnan(values)), "WorkerId", absent)
        rows.reject(np.flatnonzero(~_is_whole(score)), "score", f"gives no whole score from 0 to 100 with {means.name}")
    elif all(map(_WHOLE.fullmatch, table.samples("score"))):
        reason = "is no whole number, as raw scores are and those of the first rows: correct it"
        rows.reject(np.flatnonzero(values != np.round(values)), "score", reason)
    again = cells.index[rows.kept][cells[rows.kept].duplicated(_DA_KEY)]
    rows.reject(again, "", "repeats an earlier judgement of the same HIT: drop one of them")
    rows.receipt.describe(mturk.NAMES)
    rows.receipt.orientation = "higher is better, as in WMT's direct assessment"
    found = cells[rows.kept]
    if len(found):
        accounts = found["HITId"] + "/"
        found = mturk.of_rows(found, workers, origin=table.name, codes=codes)
        hidden = aliases.column(found["annotator"])
        found = found.assign(annotator=hidden, hit=accounts + hidden)
    return Judgements(found, names=dict(mturk.NAMES), scale=scale)


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
        f"{table.name} holds standardised scores. Put workers' means and deviations beside it: {beside}{wrong}."
    )
