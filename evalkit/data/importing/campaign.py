"""Import a campaign: recognise its files, read them, reject what is wrong, write what is left."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.files import stamp
from evalkit.data.importing import recognise, rejected, scales, writing
from evalkit.data.importing.formats import Format, Head, Match, ordered
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.loaded import human_scores, no_rows
from evalkit.data.importing.mturk import is_companion
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.rows import Rows, Seen, Source
from evalkit.data.importing.sources import opened
from evalkit.data.registry import digest

FORMATS = ("auto", "appraise", "esa", "mqm", "mturk-da", "xsts", "mt-metrics-eval", "csv")
_HANGING = ("appraise", "esa", "mturk-da")  # formats whose rows mean nothing without their neighbours
_DUPLICATE = "repeats the judgement of line {line}: drop one of them"
_AGAIN = "judges again, with another score, what line {line} judged: keep one, or name when each was given (started)"


@dataclass
class File:
    """One file: what it was recognised as, how it looked before it was read, and later its rows and judgements."""

    source: Source
    kind: Format
    head: Head
    match: Match
    seen: list[Seen]
    rows: Rows
    found: Converted

    @property
    def name(self) -> str:
        """The file's name."""
        return self.source.path.name

    def hidden(self, options: Options) -> rejected.Hidden:
        """Make ready to write its rows without names."""
        return rejected.Hidden(self.match.header, self.found.names, self.found.people, options.pseudonyms,
                               self.found.parts)  # fmt: skip


def run(paths: Sequence[Path], out: Path, options: Options, *, name: str = "auto",
        replace: bool = True, allow_rejected: bool = False, tell: Callable[[str], None] = lambda line: None,
        ) -> tuple[Report, list[Path]]:  # fmt: skip
    """Import files as one campaign; return the report and the paths of what was written.

    name: a format, or "auto". replace: see ``writing.guard``. allow_rejected: go on where more rows are rejected than
    ``rejected.REFUSE_ABOVE``. tell: gets a line on progress now and then.
    Raises DataError, having written nothing, where a file is of no known format, formats differ, or no row is sound.
    """
    writing.guard(out, paths, replace=replace)
    report = Report(pseudonyms=not options.pseudonyms.keep)
    files = _recognised(paths, options, report, name)
    with writing.Draft(out) as draft:
        try:
            for file in files:
                _read(file, options, report)
                tell(f"{file.name}: {report.rows_read:,} rows read")
        except Exception:  # whatever a reader met, a change of the file comes before it
            _hold(files)
            raise
        scale = _scale(files)
        report.scale = [float(end) for end in scale] if scale else None
        report.scale_from = "as told" if options.scale else report.scale_from or f"of the format {report.format}"
        report.digest = _digest(files)
        label = {"origin": ", ".join(file.name for file in files), "digest": report.digest, "scale": report.scale,
                 "format": report.format, "files": [entry["name"] for entry in report.files]}  # fmt: skip
        report.columns = _columns(files, report)
        place = draft.place("rejected.csv")
        with place.open("w", encoding="utf-8-sig", newline="") as stream:
            titles = [title for file in files for title in file.hidden(options).titles]
            writer = rejected.Writer(stream, report, titles)
            for file in files:
                _write_rejected(file, file.found.rejected, writer, options, broken=True)
            ratings = _settled(files, writer, options)
        _hold(files)
        if ratings.empty:
            raise DataError(report.nothing())
        if not allow_rejected:
            _refuse_many(report)
        _finish(report, files, ratings, options)
        writing.write_ratings(ratings, report.columns, draft.place("ratings.parquet"), label)
        if spans := [file.found.spans for file in files if file.found.spans is not None]:
            report.spans = sum(map(len, spans))
            writing.write_spans(pd.concat(spans, ignore_index=True), draft.place("spans.parquet"), label)
        if report.rows_rejected + report.rows_excluded:
            report.rejected_digest = digest(place)
        else:
            place.unlink()
        draft.place("import.json").write_text(report.as_json(), encoding="utf-8")
        return report, draft.publish()


def _recognised(paths: Sequence[Path], options: Options, report: Report, name: str) -> list[File]:
    """Recognise every file before any is read: those of folders, without ones that are only read with others."""
    found = [file for path in paths for file in (human_scores(path) if path.is_dir() else [path])]
    files: list[File] = []
    for path in (path for path in found if not is_companion(path.name)):
        before = stamp(path) if path.is_file() else ()  # opening it says what is wrong
        source, kind, head, match = recognise.chosen(opened(path, options), options, name)
        if files and kind.name != files[0].kind.name:
            raise DataError(
                f"{path.name} looks like {kind.name}, {files[0].name} like {files[0].kind.name}. Import each format by "
                "itself, or name the one of all with --format."
            )
        if source.again and kind.name in _HANGING:
            raise DataError(
                f"{path.name} holds rejected rows of format {kind.name}, where items shown before and after decide "
                "what a row is. Mend them in the export that they come from, on the lines named, and import that again."
            )
        seen = [Seen(path, before, source.digest)]
        files.append(File(source, kind, head, match, seen, no_rows(), Converted(pd.DataFrame())))
        report.files.append({"name": path.name, "digest": source.digest})
    if not files:
        raise DataError("There is no file of ratings among those named. Name it, too.")
    if len({entry["digest"] for entry in report.files}) < len(files):
        raise DataError("Two of the files have the same content. Name each file once.")
    report.format = files[0].kind.name
    report.how = "as told" if name != "auto" else f"recognised {files[0].match.why}"
    return files


def _read(file: File, options: Options, report: Report) -> None:
    """Read all rows of a file, and turn them into judgements."""
    if not file.match.loaded:
        file.rows = file.source.read(file.match.header, file.match.after)
    file.found = file.kind.convert(file.rows, file.head, file.match, options, report)
    file.seen += file.found.beside
    read = len(file.rows.frame) if file.found.read is None else file.found.read
    report.rows_read += read + len(file.rows.broken)
    report.rows_folded += file.found.folded


def _hold(files: list[File]) -> None:
    """Refuse files that are not any more what they were when the import began."""
    for file in files:
        for seen in file.seen:
            seen.hold()


def _scale(files: list[File]) -> tuple[float, float] | None:
    """Return the scale of all files; a guess from few scores gives way to a scale that holds it.

    Raises DataError where their headings state different ones, or scores support different ones.
    """
    sure = [file for file in files if not file.found.weak] or files
    first = sure[0].found.scale
    if all(file.found.weak for file in files) and (
        whole := scales.holding([file.found.scale for file in files if file.found.scale])
    ):
        first = whole
    for file in files:
        scale = file.found.scale
        held = file.found.weak and first and scale and scales.holding([first, scale]) == first
        if scale != first and first and scale and not held:
            both = "; ".join(f"{one.name} has scores from {low:g} to {high:g}"
                             for one, (low, high) in ((sure[0], first), (file, scale)))  # fmt: skip
            raise DataError(f"{both}. Import each by itself, or pass --scale LOW:HIGH if they are one scale.")
    return first


def _digest(files: list[File]) -> str:
    """Name the content of all that is read: a single file's own digest, or the digest of the digests."""
    digests = sorted(seen.digest for file in files for seen in file.seen)
    return digests[0] if len(digests) == 1 else f"sha256:{hashlib.sha256(''.join(digests).encode()).hexdigest()}"


def _columns(files: list[File], report: Report) -> list[str]:
    """Say which columns the result has: those of any file, but hits only where all files have them."""
    every = [set(file.found.ratings.columns) for file in files]
    names = set.union(*every)
    for name in ("hit", "copy"):
        if name in names - set.intersection(*every):
            names.discard(name)
            report.note(f"{name} was dropped, because not all files have it")
    return ordered(names)


def _write_rejected(file: File, rows: Iterable[Rejection], writer: rejected.Writer, options: Options, *,
                    broken: bool = False) -> None:  # fmt: skip
    """Write rejected rows with their cells, in the order of their lines; broken: also those that could not be cut."""
    places = {int(line): place for place, line in enumerate(file.rows.frame.index)} if rows else {}
    hide = file.hidden(options)
    told: list[tuple[int, Rejection, list[str] | None]] = [(row.line, row, None) for row in rows]
    if broken:
        told += [(row.line, Rejection(row.line, "", "", row.reason), row.cells) for row in file.rows.broken]
    for line, row, pieces in sorted(told, key=lambda entry: entry[0]):
        if pieces is not None:
            writer.add(file.name, hide.of(row), hide.pieces(pieces))
        elif line in places:
            names = file.found.names.get("annotator", "")
            if row.annotator is None and names in file.rows.frame:
                cell = file.rows.frame[names].iloc[places[line]]
                row.annotator = None if pd.isna(cell) else str(cell)
            writer.add(file.name, hide.of(row), hide.cells(file.rows.raw(places[line]), row))
        else:  # of a file that its loader read by itself
            writer.add(file.name, hide.of(row), {})


def _settled(files: list[File], writer: rejected.Writer, options: Options) -> pd.DataFrame:
    """Put all judgements together; reject those that are there twice; a second one with a later time is a repeat."""
    ratings = pd.concat([file.found.ratings for file in files], keys=range(len(files)), names=["file", "line"])
    places = ratings.index
    ratings = ratings.reset_index(drop=True)
    key = [name for name in schemas.RATINGS.metadata["key"] if name in writer.report.columns]
    item = [name for name in key if name not in ("started", "hit", "item_type")]
    if ratings.empty or not (shared := ratings.duplicated(item, keep=False)).any():
        return ratings
    twice = ratings[shared]
    group = twice.groupby(key, dropna=False, sort=False).ngroup()
    first = group.map(pd.Series(group.index, index=group.to_numpy()).groupby(level=0).first())
    drop = group.index[first.ne(group.index.to_series())]
    late: dict[int, list[Rejection]] = {}
    for place in drop:
        (number, line), (other, before) = places[place], places[first[place]]
        where = str(before) if other == number else f"{before} of {files[other].name}"
        score = ratings.at[place, "score"]
        reason = (_DUPLICATE if score == ratings.at[first[place], "score"] else _AGAIN).format(line=where)
        column = _heading(files[number].found, ratings.loc[place], options)
        late.setdefault(number, []).append(Rejection(int(line), column, f"{score:.12g}", reason))
    if "started" in key and not any("item_type" in file.found.names for file in files):
        left = twice.drop(drop).sort_values("started", kind="stable")
        again = left.groupby(item, sort=False).cumcount().gt(0) & left["started"].notna()
        again &= left["item_type"].isin(["system", "calibration"])
        if count := int(again.sum()):
            ratings.loc[left.index[again], "item_type"] = "repeat"
            writer.report.note(f"{count:,} later judgements of the same item by the same annotator are repeats")
    for number, rows in late.items():
        _write_rejected(files[number], rows, writer, options)
    return ratings.drop(drop)


def _heading(found: Converted, rating: pd.Series, options: Options) -> str:
    """Return the heading that a judgement stood under, where there are several; else plainly score."""
    if found.people:
        return str(rating["annotator"])
    return next((name for name, value in found.parts.items() if value == rating[found.role]), "score")


def _refuse_many(report: Report) -> None:
    """Refuse a campaign of whose rows many were rejected.

    Raises DataError with the reasons.
    """
    share = report.rows_rejected / max(report.rows_read, 1)
    if share <= rejected.REFUSE_ABOVE:
        return
    reasons = "; ".join(f"{count:,} rows: {reason}" for reason, count in report.reasons.most_common(5))
    more = f"; {len(report.reasons) - 5} further reasons" if len(report.reasons) > 5 else ""
    first = report.first[0]
    example = f"line {first['line']} of {first['file']}, column {first['column']}: {first['value']} {first['reason']}"
    scale = ""
    if report.scale and any("is outside" in reason for reason in report.reasons):
        scale = " The scale is {:g} to {:g}".format(*report.scale) + f" ({report.scale_from})."
    raise DataError(
        f"{', '.join(entry['name'] for entry in report.files)}: {report.rows_rejected:,} of {report.rows_read:,} rows "
        f"({share:.1%}) cannot be read, and nothing was imported ({reasons}{more}). First: {example}.{scale} Mend the "
        "file or the options, or pass --allow-rejected to go on without these rows."
    )


def _finish(report: Report, files: list[File], ratings: pd.DataFrame, options: Options) -> None:
    """Put into the report what all judgements together show."""
    report.rows_kept, report.annotators = len(ratings), int(ratings["annotator"].nunique())
    for file in files:
        for note in (*file.source.notes, *file.rows.notes):
            report.note(f"{file.name}: {note}")
    for note in options.looks.notes():
        report.note(note)
