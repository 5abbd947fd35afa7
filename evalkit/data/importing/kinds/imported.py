"""Take what an earlier import wrote as one file of a campaign among others."""

from collections import Counter
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import writing
from evalkit.data.importing.automatic import apart
from evalkit.data.importing.automatic.items import EXTRA
from evalkit.data.importing.files.rows import Rows, Seen, Source
from evalkit.data.importing.formats import Format, Head, Match
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.kinds.loaded import no_rows
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report, beside

_ENDING = ".parquet"


def source(path: Path, digest: str) -> Source:
    """Take the table of an earlier import. Raises DataError for a Parquet file that no import wrote."""
    if path.suffix != _ENDING or not writing.label_of(path):
        raise DataError(f"{path.name} is a Parquet table that no import wrote. Write it as CSV, and import that.")
    return Source(path, digest, [(1, [path.name])], lambda header, after: no_rows())


def _match(head: Head, options: Options) -> Match:
    """Fits by its name; what it is was seen when it was opened."""
    if head.path.suffix == _ENDING:
        return Match(1.0, "", [head.name], 0, "as the result of an earlier import", loaded=True)
    return Match(-1.0, "the name of an earlier import's result, like campaign.parquet")


def _convert(rows: Rows, head: Head, match: Match, options: Options, report: Report) -> Converted:
    """Read judgements, those of automatic judges and marked errors; what was told of them is told again."""
    label = writing.label_of(head.path)
    scale = tuple(label["scale"]) if label["scale"] else None
    if options.scale not in (None, scale):
        raise DataError(f"{head.name} was imported with another scale. Import the files that it was made from again.")
    parts, others = [writing.frame_at(head.path)], []
    for what in ("judges.parquet", "spans.parquet", "import.json"):
        if (place := beside(head.path, what)).is_file():
            others.append(Seen.at(place))
    judges, metrics = apart.read(head.path, scale), []
    if judges is not None:
        models = judges[judges["kind"] == "judge"].drop(columns=[*EXTRA])
        parts += [models] if len(models) else []
        report.judges += [name for name in models["annotator"].unique() if name not in report.judges]
        metrics = apart.metrics_of(judges, head.name)
    ratings = pd.concat(parts, ignore_index=True)
    ratings = schemas.check(ratings, schemas.RATINGS, origin=head.name, scale=scale)
    spans, marked = None, beside(head.path, "spans.parquet")
    if marked.is_file() and writing.label_of(marked) == label:
        spans = writing.frame_at(marked)
    _retell(head, label, report)
    ratings = ratings.assign(annotator=options.pseudonyms.column(ratings["annotator"]))
    return Converted(
        ratings.set_axis(pd.RangeIndex(1, len(ratings) + 1, name="line")),
        scale=scale,
        spans=spans,
        read=len(ratings),
        beside=others,
        metrics=metrics,
    )


def _retell(head: Head, label: dict, report: Report) -> None:
    """Pass on what the earlier import's report says, as long as it lies beside its result."""
    said = writing.report_of(beside(head.path, "import.json"))
    if said.get("digest") != label["digest"]:
        report.note(f"{head.name}: the report of its import is not beside it, so what was set apart is not known")
        return
    for name in ("orientation", "segments", "weights"):
        if not getattr(report, name):
            setattr(report, name, str(said.get(name, "")))
    for note in said.get("notes", ()):
        report.note(f"{head.name}: {note}")
    apart = Counter(said.get("reasons", {})) + Counter(said.get("excluded", {}))
    if apart:
        told = "; ".join(f"{count:,} {reason}" for reason, count in apart.most_common())
        report.note(f"{head.name}: its import had set rows apart: {told}")


IMPORTED = Format("imported", "the result of an earlier import", None, _match, _convert)
