"""Import a campaign: recognise its files, read them, reject what is wrong, write what is left."""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import schemas
from evalkit.data.importing import formats, metrics, pearmut, planned, reading, receipt, scales, whole
from evalkit.data.importing import writing as written
from evalkit.data.importing.formats import Recognised
from evalkit.data.importing.judgements import Rows, ordered
from evalkit.data.importing.options import Options, gathered
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Rejection, Seen, demand_few

_DUPLICATE = "repeats the judgement of line {line}: drop one of them"
_AGAIN = "judges again, with another score, what line {line} judged: keep one, or name when each was given (started)"


def import_campaign(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    format: str = "auto",
    keep_names: bool = False,
    salt: str | None = None,
    replace: bool = True,
    check: bool = False,
    allow_rejected: bool = False,
    tell: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> tuple[Receipt, list[Path]]:
    """Import the files of a campaign as one table of ratings, and say what was read, rejected and why.

    out: the Parquet file; ``….spans.parquet`` (marked errors), ``….rejected.csv`` (rows that are not in the result,
    with the reason) and ``….import.json`` (the receipt) stand beside it. keep_names: write annotators' names, not
    pseudonyms. salt: what pseudonyms are made with; None takes this user's own. replace: write over an earlier result
    whatever it was made from; False keeps one of other files. check: write nothing, only report. allow_rejected: go on
    though more than one row in a hundred is rejected. tell: gets lines on progress.
    options: columns (our name -> theirs), values (our name -> one value for all rows, or "FILE:our name" for those of
    one file), item_types (theirs -> ours), scale (low, high), sheet, encoding, decimal, batches, accounts, judges,
    metric_columns (headings of automatic scores, or NAME=HEADING), metric_files (tables of them, or mt-metrics-eval's
    files), weights, lower_is_better, positive (whose side high numbers between two systems are on), wide, words (word
    -> score), design (that a campaign began with; None looks for one beside the files), mapping (a TOML file with the
    first four of these).
    Returns the receipt and the paths of what was written. Raises DataError, having changed nothing, where a file is of
    no known format, scales differ, or no row is sound.
    """
    out = Path(out)
    if out.suffix != ".parquet":
        raise DataError(f"{out.name} is no name for the result. Name it like campaign.parquet.")
    accounts = options.pop("accounts", None)
    people = reading.owners(Path(accounts)) if accounts else {}
    stated = gathered(keep_names=keep_names, salt=salt, people=people, **options)
    if format not in formats.NAMES:
        raise DataError(f"{format!r:.60} is no format. Choose one of {', '.join(formats.NAMES)}.")
    files = [Path(path) for path in paths]
    if not check:
        written.guard(nameable(out), files, replace=replace)
        written.guard(out, stated.metric_files, replace=True)
    told = Receipt(pseudonyms=not keep_names)
    tables = _made(files, stated, told, format, allow_rejected=allow_rejected, tell=tell)
    if check:
        return told, []
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.", suffix=".part") as folder:
        for part, write in tables.items():
            write(Path(folder, part))
        Path(folder, "import.json").write_text(told.as_json(), encoding="utf-8")
        return told, written.publish(Path(folder), out)


def _made(
    paths: Sequence[Path],
    options: Options,
    told: Receipt,
    name: str,
    *,
    allow_rejected: bool,
    tell: Callable[[str], None],
) -> dict[str, Callable[[Path], None]]:
    """Read a campaign, and complete its receipt; return how each of its parts is written."""
    files, seen = _recognised(paths, options, told, name)
    try:
        _read(files, options, told, tell)
    finally:  # whatever a reader met, a change of a file comes before it
        seen += [one for file in files for one in file.table.beside]
        for one in seen:
            one.hold()
    parts = [(file.table, file.judgements) for file in files]
    label = _label(files, seen, options, told)
    ratings = _settled(files, told)
    rejected = [(file.name, row) for file in files for row in _rejected(file, options, told)]
    if ratings.empty:
        notes = [note for table, _ in parts for note in table.notes]
        waiting = [note for note in notes if note == reading.PASSED_OVER or planned.UNANSWERED in note]
        raise DataError(told.nothing("; ".join(waiting)))
    receipt.refuse_many(told, parts, allowed=allow_rejected)
    _demand_accounts(told, options)
    told.rows_kept = len(ratings)
    people = metrics.without_judges(ratings, options, told, str(label["origin"]))
    automatic, of_metrics = _metrics(files, people, options, told)
    if of_metrics:
        label["metrics"] = [{"name": one.path.name, "digest": one.digest} for one in of_metrics]
    told.plan = planned.outcome([table for table, _ in parts], people)
    receipt.complete(told, people)
    for note in [f"{file.name}: {note}" for file in files for note in file.table.notes] + options.looks.notes():
        told.note(note)
    judged = metrics.apart(ratings[~ratings.index.isin(people.index)], automatic)
    spans = [found.spans for _, found in parts if found.spans is not None]
    told.spans = sum(map(len, spans))
    made = {"ratings.parquet": lambda place: written.write_ratings(people, told.columns, place, label)}
    if len(judged):
        columns = [*told.columns, *metrics.EXTRA]
        made["judges.parquet"] = lambda place: written.write_ratings(judged, columns, place, label)
    if spans:
        every = pd.concat(spans, ignore_index=True)
        made["spans.parquet"] = lambda place: written.write(every, place, label)
    if rejected:
        made["rejected.csv"] = lambda place: written.write_rejected(rejected, place)
    return made


def _recognised(
    paths: Sequence[Path], options: Options, told: Receipt, name: str
) -> tuple[list[Recognised], list[Seen]]:
    """Recognise every file before any is read: those of folders, without ones that are only read with others."""
    found: list[Recognised] = []
    seen: list[Seen] = []
    files = [file for path in paths for file in (pearmut.files(path) if path.is_dir() else [path])]
    for path in map(nameable, files):
        if whole.is_companion(path.name):
            continue
        own = options.of(path.name)
        before = [] if path.is_dir() else [Seen.at(path)]
        tables = planned.decoded(path, reading.opened(path, own), own.design)
        found += formats.recognised(tables, own, name)
        seen += before
        digest = before[0].digest if before else _digest([one for table in tables for one in table.beside])
        told.files.append({"name": path.name, "digest": digest})
    if not found:
        raise DataError("There is no file of ratings among those named. Name it, too.")
    if len({entry["digest"] for entry in told.files}) < len(told.files):
        raise DataError("Two of the files have the same content. Name each file once.")
    if unknown := sorted({*options.file_values} - {one.table.name for one in found}):
        raise DataError(f"--value {unknown[0]}:…: no file of that name is imported. Write the file's name as it is.")
    kinds = {one.format.name: one.why for one in found}
    told.format = " + ".join(kinds)
    told.how = "as told" if name != "auto" else f"recognised {'; '.join(dict.fromkeys(kinds.values()))}"
    return found, seen


def _read(files: list[Recognised], options: Options, told: Receipt, tell: Callable[[str], None]) -> None:
    """Turn the rows of all tables into judgements, and say on which line each stands."""
    for one in files:
        several = sum(other.table.path == one.table.path for other in files) > 1
        one.name = one.table.name + (f", {one.table.title}" if several else "")
        rows = Rows(one.table, options.of(one.table.name), told)
        one.judgements = found = one.format.convert(rows)
        count = len(rows.cells) if found.read is None else found.read
        lines = rows.lines if len(rows.lines) else pd.RangeIndex(1, count + 1)
        found.ratings = found.ratings.set_axis(pd.Index(lines[found.ratings.index], name="line"))
        found.rejected = [*found.rejected, *(changed(row, line=int(lines[row.line])) for row in rows.gone.values())]
        found.rejected += one.table.broken
        told.rows_read += count + len(one.table.broken)
        told.rows_folded += found.folded
        demand_few(found.rejected)
        tell(f"{one.name}: {told.rows_read:,} rows read")


def _label(files: list[Recognised], seen: list[Seen], options: Options, told: Receipt) -> dict[str, Any]:
    """Say what the result is made of, in the receipt, too: scale, digest, columns."""
    scale = _scale(files)
    told.scale = [float(end) for end in scale] if scale else None
    of_formats = f"of the format{'s' * ('+' in told.format)} {told.format}"
    told.scale_from = "as told" if options.scale else told.scale_from or of_formats
    told.digest = _digest(seen)
    every = [set(file.judgements.ratings.columns) for file in files]
    names = set.union(*every)
    for name in ({"hit", "copy"} & names) - set.intersection(*every):
        names.discard(name)
        told.note(f"{name} was dropped, because not all files have it")
    told.columns = ordered(names)
    named = [entry["name"] for entry in told.files]
    same = {name: getattr(told, name) for name in ("digest", "scale", "format", "orientation")}
    return {"origin": ", ".join(named), "files": named, **same}


def _scale(files: list[Recognised]) -> tuple[float, float] | None:
    """Return the scale of all files; a guess from few scores gives way to a scale that holds it.

    Raises DataError where their headings state different ones, or scores support different ones.
    """
    found = [file.judgements for file in files]
    sure = [one for one in found if not one.weak] or found
    first = sure[0].scale
    if all(one.weak for one in found):
        first = scales.holding([one.scale for one in found if one.scale]) or first
    for one in found:
        held = one.weak and first and one.scale and scales.holding([first, one.scale]) == first
        if one.scale != first and not held:
            ends = {
                file.judgements.scale: f"{file.name} has scores "
                + ("from {:g} to {:g}".format(*file.judgements.scale) if file.judgements.scale else "without ends")
                for file in reversed(files)
            }
            remedy = ", or pass --scale LOW:HIGH if they are one scale" if None not in ends else ""
            raise DataError(f"{'; '.join(reversed(ends.values()))}. Import each by itself{remedy}.")
    return first


def _digest(seen: list[Seen]) -> str:
    """Name the content of all that is read: a single file's own digest, or the digest of the digests."""
    digests = sorted(one.digest for one in seen)
    return digests[0] if len(digests) == 1 else f"sha256:{hashlib.sha256(''.join(digests).encode()).hexdigest()}"


def _demand_accounts(told: Receipt, options: Options) -> None:
    """Say which accounts nobody has. Raises DataError where the file of accounts names none of those met."""
    named, met = options.pseudonyms.accounts
    if options.accounts and not named:
        raise DataError(
            "The file of --accounts names none of the accounts here. Pass this campaign's: account, person."
        )
    if options.accounts and named < met:
        told.note(f"--accounts names {named:,} of {met:,} accounts; each of the others counts as one person")


def _metrics(
    files: list[Recognised], people: pd.DataFrame, options: Options, told: Receipt
) -> tuple[list[metrics.Metric], list[Seen]]:
    """Gather the automatic scores of an import: of columns of its files, of files of metrics, of earlier imports.

    people: their judgements. The receipt says where each comes from. Returns the files of metrics, too.
    Raises DataError where a metric that the user names is not there.
    """
    own = (metrics.of_columns(one.table, one.judgements, one.format.name, options, told) for one in files)
    of_files, seen = metrics.of_files(options.metric_files, people, options.metric_columns)
    found = metrics.joined([*chain.from_iterable(own), *of_files])
    for name, heading, _ in metrics.asked(options.metric_columns):
        if name not in [metric.name for metric in found]:
            have = ", ".join(dict.fromkeys(heading for one in files for heading in one.table.header)) or "none"
            raise DataError(f"--metric {heading}: no such column or metric is there; the columns are {have}.")
    told.metrics = [metric.told for metric in found]
    return found, seen


def _settled(files: list[Recognised], told: Receipt) -> pd.DataFrame:
    """Put all judgements together; reject those that are there twice; a second one with a later time is a repeat."""
    ratings = pd.concat([file.judgements.ratings for file in files], keys=range(len(files)), names=["file", "line"])
    places, ratings = ratings.index, ratings.reset_index(drop=True)
    key = [name for name in schemas.RATINGS.key if name in told.columns]
    item = [name for name in key if name not in ("started", "hit", "item_type")]
    twice = ratings[ratings.duplicated(item, keep=False)]
    if twice.empty:
        return ratings
    first = twice.assign(_first=twice.index).groupby(key, dropna=False, sort=False)["_first"].transform("first")
    late = first[first.ne(first.index)]
    if "started" in key and not any("item_type" in file.judgements.names for file in files):
        left = twice.drop(late.index).sort_values("started", kind="stable")
        again = left.groupby(item, sort=False).cumcount().gt(0) & left["started"].notna()
        again &= left["item_type"].isin(["system", "calibration"])
        if count := int(again.sum()):
            ratings.loc[left.index[again], "item_type"] = "repeat"
            told.note(f"{count:,} later judgements of the same item by the same annotator are repeats")
    for place, before in late.items():
        (number, line), (other, earlier) = places[place], places[before]
        found, name = files[number].judgements, files[other].name
        of = "" if number == other else f" of {name!r}" if " " in name else f" of {name}"
        same = ratings.at[place, "score"] == ratings.at[before, "score"]
        reason = (_DUPLICATE if same else _AGAIN).format(line=f"{earlier}{of}")
        column = ratings.at[place, "annotator"] if found.role == "annotator" else "score"
        if found.parts and found.role != "annotator":
            column = next(heading for heading, named in found.parts.items() if named == ratings.at[place, found.role])
        found.rejected.append(Rejection(int(line), reason, column, f"{ratings.at[place, 'score']:.12g}"))
        demand_few(found.rejected)
    return ratings.drop(late.index)


def _rejected(file: Recognised, options: Options, told: Receipt) -> list[Rejection]:
    """List the rows of a file that are no judgements, without names of people, and count them in the receipt."""
    hide, rows = options.pseudonyms.within, []
    for row in sorted(file.judgements.rejected, key=lambda one: one.line):
        rows.append(changed(row, value=hide(row.value, row.annotator), reason=hide(row.reason, row.annotator)))
        told.reject(file.name, rows[-1])
    return rows
