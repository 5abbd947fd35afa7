"""Import a campaign: recognise its files, read them in batches, reject what is wrong, write what is left."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.files import stamp
from evalkit.data.importing import recognise, writing
from evalkit.data.importing.chunks import Chunk, Source, ahead
from evalkit.data.importing.formats import Format, Match, Reader, ordered
from evalkit.data.importing.hidden import Hidden
from evalkit.data.importing.judgements import Converted, Options
from evalkit.data.importing.loaded import Loaded, Whole, human_scores
from evalkit.data.importing.mqm import Errors
from evalkit.data.importing.mturk import is_companion
from evalkit.data.importing.rejected import Again
from evalkit.data.importing.report import Rejection, Rejections, Report
from evalkit.data.importing.sources import opened
from evalkit.data.importing.steady import Seen
from evalkit.data.registry import digest

FORMATS = ("auto", "appraise", "esa", "mqm", "mturk-da", "xsts", "mt-metrics-eval", "csv")
_HANGING = ("appraise", "esa", "mturk-da")  # formats whose rows mean nothing without their neighbours
_MOST_WHOLE = 3_000_000  # rows of a format whose judgements hang on each other
_MOST_SHARED = 2_000_000  # rows that judge what another row of the same annotator judges
_DUPLICATE = "repeats the judgement of line {line}: drop one of them"
_AGAIN = "judges again, with another score, what line {line} judged: keep one, or name when each was given (started)"


@dataclass
class Planned:
    """One file, what it was recognised as, who reads it, and how it and what is read with it looked before."""

    source: Source
    kind: Format
    match: Match
    reader: Reader
    seen: list[Seen]


def run(paths: Sequence[Path], out: Path, options: Options, *, name: str = "auto",
        replace: bool = True, tell: Callable[[str], None] = lambda line: None,
        ) -> tuple[Report, list[Path]]:  # fmt: skip
    """Import files as one campaign; return the report and the paths of what was written.

    name: a format, or "auto". replace: see ``writing.guard``. tell: gets a line on progress now and then.
    Raises DataError, having written nothing, where a file is of no known format, formats differ, or no row is sound.
    """
    writing.guard(out, paths, replace=replace)
    report = Report(pseudonyms=not options.pseudonyms.keep)
    plans = _plans(paths, options, report, name)
    report.scale_from = "as told" if options.scale else report.scale_from or f"of the format {report.format}"
    scale = _scale(plans, options)
    report.scale = [float(end) for end in scale] if scale else None
    report.digest = _digest(plans)
    names = _columns(plans, report)
    origin = ", ".join(plan.source.path.name for plan in plans)
    label = {"origin": origin, "digest": report.digest, "scale": report.scale, "format": report.format,
             "files": [entry["name"] for entry in report.files]}  # fmt: skip
    with writing.Draft(out) as draft:
        with draft.place("rejected.csv").open("w", encoding="utf-8-sig", newline="") as stream:
            titles = dict.fromkeys(
                title for plan in plans for title in Hidden(plan.match.header, plan.reader, options.pseudonyms).titles
            )
            rejections = Rejections(stream, report, list(titles))
            ratings = writing.Ratings(draft.place("ratings.parquet"), names, label)
            try:
                spans = _read(plans, ratings, rejections, options, tell)
            except Exception:  # whatever a reader met, a change of the file comes before it
                _hold(plans)
                raise
            finally:
                ratings.close()
            _settle(plans, ratings, rejections, options)
            _hold(plans)
        report.rejected_digest = digest(draft.place("rejected.csv"))
        if not ratings.rows:
            raise DataError(_nothing(report, origin))
        report.rows_kept = ratings.rows
        if report.scale_from == "of the format csv" and ratings.highest < sum(report.scale) / 2:
            report.note(f"all scores lie between {ratings.lowest:g} and {ratings.highest:g}; if the scale is not "
                        f"{report.scale[0]:g} to {report.scale[1]:g}, pass --scale LOW:HIGH")  # fmt: skip
        report.annotators = ratings.distinct("annotator")
        for plan in plans:
            for note in plan.source.notes:
                report.note(f"{plan.source.path.name}: {note}")
        for note in options.looks.notes():
            report.note(note)
        _write_spans(spans, draft.place("spans.parquet"), label, report)
        if not report.rows_rejected + report.rows_excluded:
            draft.place("rejected.csv").unlink()
            report.rejected_digest = ""
        draft.place("import.json").write_text(report.as_json(), encoding="utf-8")
        return report, draft.publish()


def _plans(paths: Sequence[Path], options: Options, report: Report, name: str) -> list[Planned]:
    """Recognise every file before any is read."""
    plans = []
    for path in _files(paths):
        before = stamp(path) if path.is_file() else ()  # opening it says what is wrong
        source, kind, head, match = recognise.chosen(opened(path, options), options, name)
        if plans and kind.name != plans[0].kind.name:
            raise DataError(
                f"{path.name} looks like {kind.name}, {plans[0].source.path.name} like {plans[0].kind.name}. Import "
                "each format by itself, or name the one of all with --format."
            )
        if isinstance(source, Again) and kind.name in _HANGING:
            raise DataError(
                f"{path.name} holds rejected rows of format {kind.name}, where items shown before and after decide "
                "what a row is. Mend them in the export that they come from, on the lines named, and import that again."
            )
        reader = kind.reader(head, match, options, report)
        seen = [Seen(path, before, source.digest), *getattr(reader, "beside", [])]
        plans.append(Planned(Whole(path) if isinstance(reader, Loaded) else source, kind, match, reader, seen))
        report.files.append({"name": path.name, "digest": source.digest})
    if len({entry["digest"] for entry in report.files}) < len(plans):
        raise DataError("Two of the files have the same content. Name each file once.")
    report.format = plans[0].kind.name
    report.how = "as told" if name != "auto" else f"recognised {plans[0].match.why}"
    return plans


def _hold(plans: list[Planned]) -> None:
    """Refuse files that are not any more what they were when the import began."""
    for plan in plans:
        for seen in plan.seen:
            seen.hold()


def _files(paths: Sequence[Path]) -> list[Path]:
    """Name the files to read: those of folders, without the ones that are only read together with others."""
    found = [file for path in paths for file in (human_scores(path) if path.is_dir() else [path])]
    files = [path for path in found if not is_companion(path.name)]
    if not files:
        raise DataError("There is no file of ratings among those named. Name it, too.")
    return files


def _scale(plans: list[Planned], options: Options) -> tuple[float, float] | None:
    """Return the scale of all files. Raises DataError where their headings state different ones."""
    scales = [options.scale or getattr(plan.reader, "scale", plan.kind.scale) for plan in plans]
    for plan, scale in zip(plans, scales):
        if scale != scales[0]:
            named = "{} has scores from {:g} to {:g}".format
            both = "; ".join((named(plans[0].source.path.name, *scales[0]), named(plan.source.path.name, *scale)))
            raise DataError(f"{both}. Import each by itself, or pass --scale LOW:HIGH if they are one scale.")
    return scales[0]


def _digest(plans: list[Planned]) -> str:
    """Name the content of all that is read: a single file's own digest, or the digest of the digests."""
    digests = sorted(seen.digest for plan in plans for seen in plan.seen)
    return digests[0] if len(digests) == 1 else f"sha256:{hashlib.sha256(''.join(digests).encode()).hexdigest()}"


def _columns(plans: list[Planned], report: Report) -> list[str]:
    """Say which columns the result has: those of any file, but hits only where all files have them."""
    every = [set(plan.reader.columns) for plan in plans]
    names = set.union(*every)
    for name in ("hit", "copy"):
        if name in names - set.intersection(*every):
            names.discard(name)
            report.note(f"{name} was dropped, because not all files have it")
    report.columns = ordered(names)
    return report.columns


def _read(plans: list[Planned], ratings: writing.Ratings, rejections: Rejections, options: Options,
          tell: Callable[[str], None]) -> list[pd.DataFrame]:  # fmt: skip
    """Read all files, write what is sound and what is rejected; return the marked errors."""
    spans = []
    for number, plan in enumerate(plans):
        held: list[Converted] = []
        for chunk in ahead(plan.source.chunks(plan.match.header, after=plan.match.after)):
            found = plan.reader.convert(chunk.frame)
            rejections.report.rows_read += len(chunk.broken) + (len(chunk.frame) if found.read is None else found.read)
            if chunk.broken and isinstance(plan.reader, Errors):
                plan.reader.torn(chunk.broken)
            hide = Hidden(plan.match.header, plan.reader, options.pseudonyms)
            _reject(plan, chunk, found.rejected, rejections, hide)
            if plan.reader.whole:
                held.append(found)
                if rejections.report.rows_read > _MOST_WHOLE:
                    raise DataError(
                        f"{plan.source.path.name} has more than {_MOST_WHOLE:,} rows. Split it by language."
                    )
            else:
                ratings.add(found.ratings, number)
                spans += [] if found.spans is None else [found.spans]
            tell(f"{plan.source.path.name}: {rejections.report.rows_read:,} rows read")
        if plan.reader.whole and held:
            found = plan.reader.finish(held)
            rejections.report.rows_folded += found.folded
            rejections.report.rows_read += found.read or 0
            ratings.add(found.ratings, number)
            spans += [] if found.spans is None else [found.spans]
            _reject_late(plan, found.rejected, rejections, options)
    return spans


def _reject(plan: Planned, chunk: Chunk, rejected: list[Rejection], rejections: Rejections, hide: "Hidden") -> None:
    """Write rejected rows of a chunk with their cells."""
    if not (rejected or chunk.broken):
        return
    places = {int(line): place for place, line in enumerate(chunk.frame.index)} if rejected else {}
    broken = [(row.line, Rejection(row.line, "", "", row.reason), row.cells) for row in chunk.broken]
    for line, row, pieces in sorted(
        [*broken, *((row.line, row, None) for row in rejected)], key=lambda entry: entry[0]
    ):
        cells = hide.named(chunk.raw(places[line]), row) if pieces is None else hide.pieces(pieces)
        rejections.add(plan.source.path.name, hide.told(row), cells)


def _reject_late(plan: Planned, late: list[Rejection], rejections: Rejections, options: Options) -> None:
    """Write rows that were rejected after their chunk had gone by: the file is read again for their cells."""
    if not late:
        return
    wanted: dict[int, list[Rejection]] = {}
    for row in late:
        wanted.setdefault(row.line, []).append(row)
    hide = Hidden(plan.match.header, plan.reader, options.pseudonyms)
    lines = np.array(sorted(wanted))
    for chunk in plan.source.chunks(plan.match.header, after=plan.match.after):
        for place in np.flatnonzero(chunk.frame.index.isin(lines)):
            for row in wanted[int(chunk.frame.index[place])]:
                row.annotator = row.annotator or _cell(chunk.frame, plan.reader.names.get("annotator"), place)
                rejections.add(plan.source.path.name, hide.told(row), hide.named(chunk.raw(int(place)), row))


def _cell(frame: pd.DataFrame, heading: str | None, place: int) -> str | None:
    cell = frame[heading].iloc[place] if heading in frame else None
    return None if cell is None or pd.isna(cell) else str(cell)


def _settle(plans: list[Planned], ratings: writing.Ratings, rejections: Rejections, options: Options) -> None:
    """Reject judgements that are there twice; a second judgement with a later time is a repeat."""
    rows = ratings.shared()
    if not len(rows):
        return
    if len(rows) > _MOST_SHARED:
        raise DataError(
            f"{len(rows):,} rows judge an item that the same annotator judges in another row. Is the campaign in the "
            "files twice? Take one copy away, or import it in parts."
        )
    key = [name for name in schemas.RATINGS.metadata["key"] if name in ratings.schema.names]
    item = [name for name in key if name not in ("started", "hit", "item_type")]
    frame = ratings.read(rows, [*dict.fromkeys([*key, "score"])])
    late: dict[int, list[Rejection]] = {}
    drop: set[int] = set()
    first = frame.groupby(key, dropna=False, sort=False).ngroup().to_numpy()
    seen: dict[int, int] = {}
    scores, people = frame["score"].to_numpy(), frame["annotator"].to_numpy()
    for place, group in enumerate(first):
        if group not in seen:
            seen[group] = place
            continue
        file, line = ratings.place(int(rows[place]))
        other_file, other = ratings.place(int(rows[seen[group]]))
        where = str(other) if other_file == file else f"{other} of {plans[other_file].source.path.name}"
        reason = (_DUPLICATE if scores[place] == scores[seen[group]] else _AGAIN).format(line=where)
        column = people[place] if getattr(plans[file].reader, "people", None) else "score"
        late.setdefault(file, []).append(Rejection(line, column, f"{scores[place]:.12g}", reason))
        drop.add(int(rows[place]))
    kinds: dict[int, str] = {}
    if "started" in key and not any("item_type" in plan.reader.names for plan in plans):
        left = frame[~frame.index.isin(drop)].sort_values("started", kind="stable")
        again = left.groupby(item, sort=False).cumcount().gt(0) & left["started"].notna()
        kinds = {int(row): "repeat" for row in left.index[again & left["item_type"].isin(["system", "calibration"])]}
        if kinds:
            rejections.report.note(
                f"{len(kinds):,} later judgements of the same item by the same annotator are repeats"
            )
    if drop or kinds:
        ratings.rewrite(drop, kinds)
    for file, rows_of_file in late.items():
        _reject_late(plans[file], rows_of_file, rejections, options)


def _nothing(report: Report, origin: str) -> str:
    """Say why nothing is left."""
    reasons = "; ".join(
        f"{count:,} rows: {reason}" for reason, count in (report.reasons + report.excluded).most_common(3)
    )
    if not report.rows_read:
        return f"{origin} has headings and no rows below them. Check that the export is complete."
    first = report.first[0] if report.first else None
    example = (
        f" First: line {first['line']}, column {first['column']}: {first['value']} {first['reason']}." if first else ""
    )
    return f"{origin}: of {report.rows_read:,} rows none is a sound judgement ({reasons or 'there are none'}).{example}"


def _write_spans(spans: list[pd.DataFrame], place: Path, label: dict, report: Report) -> None:
    """Write the marked errors beside the ratings."""
    if not spans:
        return
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    frame = pd.concat(spans, ignore_index=True)
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].astype("str")
    report.spans = len(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pq.ParquetWriter(place, table.schema, compression="zstd", write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"evalkit": json.dumps(label)})
