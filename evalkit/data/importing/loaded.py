"""Import layouts that a loader of the suite reads as a whole: mt-metrics-eval's human scores, IndicMT-Eval's CSV."""

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import indicmt, mqm, mtme
from evalkit.data.delimited import UNFINISHED, is_unfinished
from evalkit.data.importing.formats import Format, Head, Match
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Rows, Seen, Source
from evalkit.data.names import Looks

_PLACE = re.compile(
    r"(?P<pair>\w\w-\w\w)\.(?P<kind>[\w-]+)(?:\.(?P<rater>\w+))?\.(?P<level>seg|sys|domain|doc)\.(?P<what>score|rating)"
)
_INDIC = {"Source", "Reference", "Translation", "Error1_Type", "Error1_Severity", "Computed_scores", "model"}
_KEPT = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"]


def human_scores(folder: Path) -> list[Path]:
    """List the human judgements of segments in a folder of mt-metrics-eval: single raters' where they are.

    Raises DataError where there are none, or scores of several kinds or language pairs stand side by side.
    """
    found = [(path, match) for path in sorted(folder.rglob("*.seg.*")) if (match := _PLACE.fullmatch(path.name))
             and path.parent.name == "human-scores"]  # fmt: skip
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
        return _of_tables(mqm.ratings(paths), mqm.spans(paths), options, beside=beside)
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


def of_indicmt(head: Head, options: Options, report: Report) -> Converted:
    """Read a CSV file of IndicMT-Eval."""
    report.note("IndicMT-Eval: score is the file's Computed_scores, of 25; annotators are not named")
    return _of_tables(indicmt.ratings([head.path]), indicmt.spans([head.path]), options, named=True)


def _of_tables(ratings: pd.DataFrame, spans: pd.DataFrame | None, options: Options, *, named: bool = False,
               beside: Sequence[Seen] = ()) -> Converted:  # fmt: skip
    """Take what a loader read. named: what stands for annotators is no person's name."""

    def hidden(table: pd.DataFrame) -> pd.DataFrame:
        if named:
            return table
        return table.assign(annotator=options.pseudonyms.column(table["annotator"].astype("str")))

    ratings = hidden(options.looks.alike(ratings))
    if spans is not None:
        spans = hidden(Looks().alike(spans))  # the same names, told once
        spans = spans.drop(columns=["source", "reference", "hypothesis", "row"], errors="ignore")
    kept = ratings[_KEPT].set_axis(pd.RangeIndex(1, len(ratings) + 1, name="line"))
    return Converted(kept, spans=spans, read=len(ratings), beside=beside)


MT_METRICS_EVAL = Format("mt-metrics-eval", "human scores as mt-metrics-eval keeps them", None, _match, _convert)
