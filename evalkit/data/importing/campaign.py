"""Import a campaign: recognise its files, read them, reject what is wrong, write what is left."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import schemas
from evalkit.data.files import stamp
from evalkit.data.importing import example, lost, planned, receipt, recognise, rejected, writing
from evalkit.data.importing.automatic import apart, gathering
from evalkit.data.importing.automatic.items import EXTRA
from evalkit.data.importing.cells import scales
from evalkit.data.importing.files.rows import Rows, Seen, Source
from evalkit.data.importing.formats import Format, Head, Match, ordered
from evalkit.data.importing.judgements import Converted
from evalkit.data.importing.kinds import pearmut
from evalkit.data.importing.kinds.loaded import human_scores, no_rows
from evalkit.data.importing.kinds.mturk import is_companion
from evalkit.data.importing.options import Options
from evalkit.data.importing.rejected import Rejection
from evalkit.data.importing.report import Report
from evalkit.data.importing.sources import opened
from evalkit.data.registry import digest

FORMATS = (
    "auto",
    "appraise",
    "esa",
    "mqm",
    "mturk-da",
    "xsts",
    "mt-metrics-eval",
    "preferences",
    "csv",
    "pearmut",
    "label-studio",
    "doccano",
    "prodigy",
)
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
    sheet: str = ""

    @property
    def name(self) -> str:
        """The file's name, with the sheet's where several are read."""
        return self.source.path.name + (f", {self.sheet}" if self.sheet else "")

    def hidden(self, options: Options) -> rejected.Hidden:
        """Make ready to write its rows without names."""
        return rejected.Hidden(
            self.match.header, self.found.names, self.found.people, options.pseudonyms, self.found.parts
        )


def run(
    paths: Sequence[Path],
    out: Path,
    options: Options,
    *,
    name: str = "auto",
    replace: bool = True,
    allow_rejected: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Report, list[Path]]:
    """Import files as one campaign; return the report and the paths of what was written.

    name: a format, or "auto". replace: see ``writing.guard``. allow_rejected: go on where more rows are rejected than
    ``rejected.REFUSE_ABOVE``. tell: gets a line on progress now and then.
    Raises DataError, having written nothing, where a file is of no known format, scales differ, or no row is sound.
    """
    writing.guard(nameable(out), paths, replace=replace)
    writing.guard(out, options.metric_files, replace=True)
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
        formats = f"of the format{'s' * ('+' in report.format)} {report.format}"
        report.scale_from = "as told" if options.scale else report.scale_from or formats
        report.digest = _digest(files)
        named = [entry["name"] for entry in report.files]
        label: dict[str, Any] = {
            "origin": ", ".join(named),
            "digest": report.digest,
            "scale": report.scale,
            "format": report.format,
            "files": named,
            "orientation": report.orientation,
        }
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
            notes = [note for file in files for note in file.rows.notes]
            raise DataError(report.nothing([n for n in notes if n == example.NOTE or n.endswith(planned.UNANSWERED)]))
        receipt.refuse_many(report, lost.kinds(files, report), allowed=allow_rejected)
        report.rows_kept = len(ratings)
        people = apart.without_judges(ratings, options, report, str(label["origin"]))
        seen = [Seen.at(path) for place in options.metric_files for path in gathering.files(place)]
        metrics = gathering.gathered(files, people, options, report)
        for one in seen:
            one.hold()
        label |= {"metrics": [{"name": one.path.name, "digest": one.digest} for one in seen]} if seen else {}
        for file in files:
            for note in (*file.source.notes, *file.rows.notes):
                report.note(f"{file.name}: {note}")
        report.plan = planned.outcome([file.source.design for file in files if file.source.design], people)
        receipt.complete(report, people, options)
        report.unnamed = report.annotators == 1 and "annotator" not in report.mapping
        writing.write_ratings(people, report.columns, draft.place("ratings.parquet"), label)
        if len(judged := apart.table(ratings[~ratings.index.isin(people.index)], metrics)):
            writing.write_ratings(judged, [*report.columns, *EXTRA], draft.place("judges.parquet"), label)
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
    found = [nameable(file) for path in paths for file in _files(path)]
    files: list[File] = []
    for path in (path for path in found if not is_companion(path.name)):
        before = stamp(path) if path.is_file() else ()  # opening it says what is wrong
        own = options.of(path.name)
        sheets = recognise.chosen(planned.decoded(path, example.passed_over(opened(path, own)), own.design), own, name)
        for place, (source, kind, head, match) in enumerate(sheets):
            seen = [*source.beside] if path.is_dir() else [Seen(path, before, source.digest), *source.beside]
            sheet = source.title if len(sheets) > 1 else ""
            first = seen if not place else []  # of a workbook once
            files.append(File(source, kind, head, match, first, no_rows(), Converted(pd.DataFrame()), sheet))
        report.files.append({"name": path.name, "digest": sheets[0][0].digest})
    if not files:
        raise DataError("There is no file of ratings among those named. Name it, too.")
    if len({entry["digest"] for entry in report.files}) < len(report.files):
        raise DataError("Two of the files have the same content. Name each file once.")
    if unknown := sorted({*options.file_values} - {file.source.path.name for file in files}):
        raise DataError(f"--value {unknown[0]}:…: no file of that name is imported. Write the file's name as it is.")
    kinds = {file.kind.name: file.match.why for file in files}
    report.format = " + ".join(kinds)
    report.how = "as told" if name != "auto" else f"recognised {'; '.join(dict.fromkeys(kinds.values()))}"
    return files


def _files(path: Path) -> list[Path]:
    """List the files of a folder that hold judgements; a folder of Pearmut's screens is read as a whole."""
    return (pearmut.files(path) or human_scores(path)) if path.is_dir() else [path]


def _read(file: File, options: Options, report: Report) -> None:
    """Read all rows of a file, and turn them into judgements."""
    if not file.match.loaded:
        same = (file.match.header, file.match.after) == (file.head.header, file.head.line)
        file.rows = file.head.whole if same else file.source.read(file.match.header, file.match.after)
    try:
        file.found = file.kind.convert(file.rows, file.head, file.match, options.of(file.source.path.name), report)
    except rejected.TooMany as problem:
        raise DataError(f"{file.name}, {problem}") from problem
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
        if scale != first and not held:
            other = next(one for one in files if one is not file and one.found.scale != scale)
            both = "; ".join(
                f"{one.name} has scores {_ends(one.found.scale)}" for one in sorted((file, other), key=files.index)
            )
            remedy = ", or pass --scale LOW:HIGH if they are one scale" if first and scale else ""
            raise DataError(f"{both}. Import each by itself{remedy}.")
    return first


def _ends(scale: tuple[float, float] | None) -> str:
    return "without ends" if scale is None else "from {:g} to {:g}".format(*scale)


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


def _write_rejected(
    file: File, rows: Iterable[Rejection], writer: rejected.Writer, options: Options, *, broken: bool = False
) -> None:
    """Write rejected rows with their cells, in the order of their lines; broken: also those that could not be cut."""
    places = {int(line): place for place, line in enumerate(file.rows.frame.index)} if rows else {}
    hide, frame = file.hidden(options), file.rows.frame
    column = file.found.names.get("annotator", "")
    names = frame[column].array if rows and column in frame else None  # a frame takes long to find a cell
    told: list[tuple[int, Rejection, list[str] | None]] = [(row.line, row, None) for row in rows]
    if broken:
        told += [(row.line, Rejection(row.line, "", "", row.reason), row.cells) for row in file.rows.broken]
    for line, row, pieces in sorted(told, key=lambda entry: entry[0]):
        if pieces is not None:
            writer.add(file.name, hide.of(row), hide.pieces(pieces))
        elif line in places:
            place = places[line] if row.place is None else row.place
            if row.annotator is None and names is not None:
                cell = names[place]
                row.annotator = None if pd.isna(cell) else str(cell)
            writer.add(file.name, hide.of(row), hide.cells(file.rows.raw(place), row))
        else:  # of a file that its loader read by itself
            writer.add(file.name, hide.of(row), {})


def _settled(files: list[File], writer: rejected.Writer, options: Options) -> pd.DataFrame:
    """Put all judgements together; reject those that are there twice; a second one with a later time is a repeat."""
    ratings = pd.concat([file.found.ratings for file in files], keys=range(len(files)), names=["file", "line"])
    places = ratings.index
    ratings = ratings.reset_index(drop=True)
    key = [name for name in schemas.RATINGS.key if name in writer.report.columns]
    item = [name for name in key if name not in ("started", "hit", "item_type")]
    if ratings.empty or not (shared := ratings.duplicated(item, keep=False)).any():
        return ratings
    twice = ratings[shared]
    group = twice.groupby(key, dropna=False, sort=False).ngroup()
    first = group.map(pd.Series(group.index, index=group.to_numpy()).groupby(level=0).first())
    drop = group.index[first.ne(group.index.to_series())]
    if "started" in key and not any("item_type" in file.found.names for file in files):
        left = twice.drop(drop).sort_values("started", kind="stable")
        again = left.groupby(item, sort=False).cumcount().gt(0) & left["started"].notna()
        again &= left["item_type"].isin(["system", "calibration"])
        if count := int(again.sum()):
            ratings.loc[left.index[again], "item_type"] = "repeat"
            writer.report.note(f"{count:,} later judgements of the same item by the same annotator are repeats")
    if len(drop) > rejected.MOST:
        number, line = places[drop[rejected.MOST]]
        raise DataError(f"{files[number].name}, {rejected.TooMany(line, 'repeats an earlier judgement')}")
    again = drop.to_numpy()
    for number in dict.fromkeys(places.codes[0][again]):
        own = again[places.codes[0][again] == number]
        rows = _late(files, number, ratings, places, own, first[own].to_numpy())
        _write_rejected(files[number], rows, writer, options)
    return ratings.drop(drop)


def _late(
    files: list[File], number: int, ratings: pd.DataFrame, places: pd.MultiIndex, late: np.ndarray, before: np.ndarray
) -> list[Rejection]:
    """Reject a file's judgements at the places ``late`` of all: each judges what that at ``before`` judged already."""
    scores, owners, lines = ratings["score"].to_numpy(), places.codes[0], places.get_level_values("line").to_numpy()
    of = [f" of {repr(file.name) if ' ' in file.name else file.name}" for file in files]
    of[number] = ""
    spots = ratings["_place"].to_numpy(float)[late] if "_place" in ratings else np.full(len(late), np.nan)
    found = zip(
        lines[late],
        _headings(files[number].found, ratings.iloc[late]),
        scores[late],
        scores[before],
        lines[before],
        owners[before],
        spots,
    )
    return [
        Rejection(
            int(line),
            heading,
            f"{score:.12g}",
            (_DUPLICATE if score == other else _AGAIN).format(line=f"{where}{of[owner]}"),
            place=None if np.isnan(spot) else int(spot),
        )
        for line, heading, score, other, where, owner, spot in found
    ]


def _headings(found: Converted, ratings: pd.DataFrame) -> list[str]:
    """Return the headings that judgements stood under, where there are several; else plainly score."""
    if found.people:
        return ratings["annotator"].tolist()
    if not found.parts:
        return ["score"] * len(ratings)
    named = {value: name for name, value in reversed(found.parts.items())}
    return [named.get(value, "score") for value in ratings[found.role]]
