"""Import layouts that a loader of the suite reads as a whole: mt-metrics-eval's human scores, IndicMT-Eval's CSV."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import indicmt, languages, mqm, mtme
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing.files.rows import Rows, Seen, Source
from evalkit.data.importing.formats import Format, Head, Match
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.kinds import weights
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import DISCARDED, EXCLUDED, Rejection
from evalkit.data.importing.report import Report
from evalkit.data.names import Looks
from evalkit.data.typology import Scheme

_PLACE = re.compile(
    r"(?P<pair>\w\w-\w\w)\.(?P<kind>[\w-]+)(?:\.(?P<rater>\w+))?\.(?P<level>seg|sys|domain|doc)\.(?P<what>score|rating)"
)
_INDIC = {"Source", "Reference", "Translation", "Error1_Type", "Error1_Severity", "Computed_scores", "model"}
_KEPT = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"]


def human_scores(folder: Path) -> list[Path]:
    """List the human judgements of segments in a folder of mt-metrics-eval: single raters' where they are.

    Raises DataError where there are none, or scores of several kinds or language pairs stand side by side.
    """
    placed = [nameable(path) for path in sorted(folder.rglob("*.seg.*")) if path.parent.name == "human-scores"]
    found = [(path, match) for path in placed if (match := _PLACE.fullmatch(path.name))]
    if not found:
        raise DataError(f"{folder} holds no human-scores/*.seg.score or *.seg.rating. Name the files to import.")
    ratings = [(path, match) for path, match in found if match["what"] == "rating"]
    chosen = ratings or found
    kinds = {match["kind"] for _, match in chosen}
    if len(kinds) > 1:
        raise DataError(f"{folder} holds scores of several kinds ({', '.join(sorted(kinds))}). Name the files of one.")
    return [path for path, _ in chosen]


def is_placed(path: Path) -> bool:
    """Tell whether a file is named as mt-metrics-eval names human scores."""
    return bool(_PLACE.fullmatch(path.name))


def source(path: Path, digest: str) -> Source:
    """Take a file that its loader reads by itself; it has no rows here."""
    notes = [UNFINISHED.format(where="its last line")] if is_unfinished(path) else []
    return Source(path, digest, [(1, [path.name])], lambda header, after: no_rows(), notes)


def no_rows() -> Rows:
    """Return no rows."""
    return Rows(pd.DataFrame(index=pd.Index([], name="line", dtype=int)), lambda place: [])


def _match(head: Head, options: Options) -> Match:
    """Fits by its name: ``en-de.mqm.rater1.seg.rating``, ``en-de.mqm.seg.score``."""
    if _PLACE.fullmatch(head.name):
        return Match(1.0, "", [head.name], 0, "by its name", loaded=True)
    return Match(-1.0, "a name like en-de.mqm.rater1.seg.rating or en-de.mqm.seg.score in a folder human-scores")


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read human scores, a line per system and segment, and the documents beside them."""
    name = _PLACE.fullmatch(head.name)
    if not name or name["level"] != "seg":
        raise DataError(f"{head.name} holds means, not judgements. Import the file that ends in .seg.score instead.")
    docs = head.path.parent.parent / "documents" / f"{name['pair']}.docs"
    if not docs.is_file():
        raise DataError(f"{head.name} needs documents/{docs.name} in the folder above it. Keep the whole layout.")
    beside = [Seen.at(docs)]
    if is_unfinished(docs):
        report.note(f"{docs.name}: {UNFINISHED.format(where='its last line')}")
    paths = [head.path.absolute(), docs.absolute()]
    if name["what"] == "rating":
        scheme = _told(options, report, own=None, what="what the file gives each error")
        return _of_tables(*_scored(mqm.ratings(paths), mqm.spans(paths), scheme), options, beside=beside)
    report.orientation = "higher is better, as mt-metrics-eval keeps all scores"
    report.note(
        f"{head.name} holds one score a segment and does not say who gave it: annotator is {name['kind']!r}, and "
        "nothing can be said about agreement"
    )
    scores = mtme.segment_scores(paths)
    scores = scores.astype(dict.fromkeys(scores.select_dtypes("category"), "str"))
    human = scores["system"].str.startswith("ref")
    ratings = scores.rename(columns={"metric": "annotator"}).assign(
        item_type=human.map({True: "reference", False: "system"})
    )
    return _of_tables(ratings, None, options, named=True, beside=beside)


def is_indicmt(header: list[str]) -> bool:
    """Tell whether headings are those of IndicMT-Eval's CSV files."""
    return set(header) >= _INDIC


def of_indicmt(rows: Rows, head: Head, options: Options, report: Report) -> Converted:
    """Read a file of IndicMT-Eval: a CSV as its loader does, or a sheet of a workbook, which its language names."""
    report.note("IndicMT-Eval: annotators are not named; a sentence is recognised by its letters")
    scheme = _told(options, report, own="release", what="the file's Computed_scores, ")
    if not head.typed:
        path = [head.path]
        return _of_tables(*_scored(indicmt.ratings(path), indicmt.spans(path), scheme), options, named=True)
    language = languages.code(options.values.get("tgt_lang", head.title))
    if not language:
        raise DataError(
            f"{head.name}, sheet {head.title}: nothing says into which language these are translations. Pass --value "
            "tgt_lang=hin or the like, or give the sheet the language's name."
        )
    origin = f"{head.name}, sheet {head.title}"
    indicmt.demand_columns(rows.frame, origin)
    sheet = [(rows.frame, language, origin)]
    tables = _scored(indicmt.of_sheets(sheet), indicmt.spans_of_sheets(sheet), scheme)
    return _of_tables(*tables, options, named=True, lines=rows.frame.index)


def _told(options: Options, report: Report, *, own: str | None, what: str) -> Scheme | None:
    """Put into the report what errors weigh, as told or by the file's own scores; return the scheme if it is told.

    own: the scheme that the file's own scores follow, where it is known. what: what these are called.
    """
    scheme = weights.resolve(options.weights or own)
    if options.weights or own:
        top = f"{scheme.top:g} less" if scheme.top else "minus"
        report.weights = ("" if options.weights else what) + scheme.describe()
    else:
        top, report.weights = "minus", what
    report.orientation = f"higher is better: the score is {top} the weights of the errors"
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
) -> Converted:
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
    discarded = kept["score"].isna()
    excluded = [Rejection(int(line), "score", "", DISCARDED, EXCLUDED) for line in lines[discarded]]
    return Converted(kept[~discarded], excluded, spans=spans, read=len(ratings), beside=beside)


MT_METRICS_EVAL = Format("mt-metrics-eval", "human scores as mt-metrics-eval keeps them", None, _match, _convert)
