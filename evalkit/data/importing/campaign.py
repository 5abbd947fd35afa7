"""Import a campaign: recognise its files, read them, reject what is wrong, write what is left."""

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit import DataError, nameable
from evalkit.data import schemas
from evalkit.data.importing import (
    formats,
    metrics,
    pearmut,
    planned,
    reading,
    receipt,
    scales,
    whole,
    writing,
)
from evalkit.data.importing.formats import Recognised
from evalkit.data.importing.judgements import ordered
from evalkit.data.importing.options import Options
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Rejection, Seen, demand_few

_DUPLICATE = "repeats the judgement of line {line}: drop one of them"
_AGAIN = "judges again, with another score, what line {line} judged: keep one, or name when each was given (started)"


def run(
    paths: Sequence[Path],
    out: Path,
    options: Options,
    *,
    name: str = "auto",
    replace: bool = True,
    allow_rejected: bool = False,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Receipt, list[Path]]:
    """Import files as one campaign; return the receipt and the paths of what was written.

    name: a format, or "auto". replace: see ``writing.guard``. allow_rejected: go on where more rows are rejected than
    ``tables.REFUSE_ABOVE``. tell: gets a line on progress now and then.
    Raises DataError, having written nothing, where a file is of no known format, scales differ, or no row is sound.
    """
    writing.guard(nameable(out), paths, replace=replace)
    writing.guard(out, options.metric_files, replace=True)
    told = Receipt(pseudonyms=not options.pseudonyms.keep)
    files, seen = _recognised(paths, options, told, name)
    try:
        for one in files:
            _read(one, options, told, several=sum(other.table.path == one.table.path for other in files) > 1)
            tell(f"{one.name}: {told.rows_read:,} rows read")
    except Exception:  # whatever a reader met, a change of the file comes before it
        _hold(seen)
        raise
    seen += [one for file in files for one in (*file.table.beside, *file.judgements.beside)]
    parts = [(file.table, file.judgements) for file in files]
    label = _label(files, seen, options, told)
    rejected = writing.Rejected(options.pseudonyms, told)
    for file in files:
        rejected.add(file.name, file.table, file.judgements, file.judgements.rejected, file.table.broken)
    ratings = _settled(files, told, rejected)
    _hold(seen)
    if ratings.empty:
        waiting = [note for table, _ in parts for note in table.notes]
        raise DataError(
            told.nothing([one for one in waiting if one == reading.PASSED_OVER or planned.UNANSWERED in one])
        )
    receipt.refuse_many(told, parts, allowed=allow_rejected)
    _demand_accounts(told, options)
    told.rows_kept = len(ratings)
    people = metrics.without_judges(ratings, options, told, str(label["origin"]))
    automatic, of_metrics = _metrics(files, people, options, told)
    if of_metrics:
        label["metrics"] = [{"name": one.path.name, "digest": one.digest} for one in of_metrics]
    for file in files:
        for note in file.table.notes:
            told.note(f"{file.name}: {note}")
    told.plan = planned.outcome([table for table, _ in parts], people)
    receipt.complete(told, people)
    for note in options.looks.notes():
        told.note(note)
    judged = metrics.apart(ratings[~ratings.index.isin(people.index)], automatic)
    spans = [found.spans for _, found in parts if found.spans is not None]
    told.spans = sum(map(len, spans))
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.", suffix=".part") as folder:
        made = Path(folder)
        writing.write_ratings(people, told.columns, made / "ratings.parquet", label)
        if len(judged):
            writing.write_ratings(judged, [*told.columns, *metrics.EXTRA], made / "judges.parquet", label)
        if spans:
            writing.write_spans(pd.concat(spans, ignore_index=True), made / "spans.parquet", label)
        if told.rows_rejected + told.rows_excluded:
            rejected.write(made / "rejected.csv")
            told.rejected_digest = Seen.at(made / "rejected.csv").digest
        (made / "import.json").write_text(told.as_json(), encoding="utf-8")
        return told, writing.publish(made, out)


def _recognised(
    paths: Sequence[Path], options: Options, told: Receipt, name: str
) -> tuple[list[Recognised], list[Seen]]:
    """Recognise every file before any is read: those of folders, without ones that are only read with others."""
    found: list[Recognised] = []
    seen: list[Seen] = []
    for path in (nameable(file) for given in paths for file in _files(given)):
        if whole.is_companion(path.name):
            continue
        own = options.of(path.name)
        before = [Seen.at(path)] if path.is_file() else []  # opening it says what is wrong
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


def _files(path: Path) -> list[Path]:
    """List the files of a folder that hold judgements; a folder of Pearmut's screens is read as a whole."""
    return (pearmut.files(path) or whole.human_scores(path)) if path.is_dir() else [path]


def _read(one: Recognised, options: Options, told: Receipt, *, several: bool) -> None:
    """Turn the rows of a table into judgements. several: sheets of its file are read."""
    one.name = one.table.name + (f", {one.table.title}" if several else "")
    one.judgements = found = one.format.convert(one.table, options.of(one.table.name), told)
    demand_few(found.rejected)
    told.rows_read += (len(one.table.cells) if found.read is None else found.read) + len(one.table.broken)
    told.rows_folded += found.folded


def _hold(seen: list[Seen]) -> None:
    """Refuse files that are not any more what they were when the import began."""
    for one in seen:
        one.hold()


def _label(files: list[Recognised], seen: list[Seen], options: Options, told: Receipt) -> dict[str, Any]:
    """Say what the result is made of, in the receipt, too: scale, digest, columns."""
    scale = _scale(files)
    told.scale = [float(end) for end in scale] if scale else None
    of_formats = f"of the format{'s' * ('+' in told.format)} {told.format}"
    told.scale_from = "as told" if options.scale else told.scale_from or of_formats
    told.digest = _digest(seen)
    told.columns = _columns(files, told)
    named = [entry["name"] for entry in told.files]
    return {
        "origin": ", ".join(named),
        "digest": told.digest,
        "scale": told.scale,
        "format": told.format,
        "files": named,
        "orientation": told.orientation,
    }


def _scale(files: list[Recognised]) -> tuple[float, float] | None:
    """Return the scale of all files; a guess from few scores gives way to a scale that holds it.

    Raises DataError where their headings state different ones, or scores support different ones.
    """
    found = [file.judgements for file in files]
    sure = [one for one in found if not one.weak] or found
    first = sure[0].scale
    if all(one.weak for one in found):
        first = scales.holding([one.scale for one in found if one.scale]) or first
    for file, one in zip(files, found):
        scale = one.scale
        held = one.weak and first and scale and scales.holding([first, scale]) == first
        if scale != first and not held:
            other = next(other for other in files if other.judgements.scale != scale)
            both = sorted((file, other), key=files.index)
            told = "; ".join(f"{each.name} has scores {_ends(each.judgements.scale)}" for each in both)
            remedy = ", or pass --scale LOW:HIGH if they are one scale" if first and scale else ""
            raise DataError(f"{told}. Import each by itself{remedy}.")
    return first


def _ends(scale: tuple[float, float] | None) -> str:
    return "without ends" if scale is None else "from {:g} to {:g}".format(*scale)


def _digest(seen: list[Seen]) -> str:
    """Name the content of all that is read: a single file's own digest, or the digest of the digests."""
    digests = sorted(one.digest for one in seen)
    return digests[0] if len(digests) == 1 else f"sha256:{hashlib.sha256(''.join(digests).encode()).hexdigest()}"


def _columns(files: list[Recognised], told: Receipt) -> list[str]:
    """Say which columns the result has: those of any file, but hits only where all files have them."""
    every = [set(file.judgements.ratings.columns) for file in files]
    names = set.union(*every)
    for name in ("hit", "copy"):
        if name in names - set.intersection(*every):
            names.discard(name)
            told.note(f"{name} was dropped, because not all files have it")
    return ordered(names)


def _demand_accounts(told: Receipt, options: Options) -> None:
    """Say which accounts nobody has. Raises DataError where the file of accounts names none of those met."""
    named, met = options.pseudonyms.accounts
    if options.accounts and not named:
        raise DataError(
            "The file of --accounts names none of the accounts of this campaign. Check that it belongs to it, and that "
            "its columns are account and person."
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
    parts = [(file.table, file.judgements) for file in files]
    found = metrics.of_columns(parts, [file.format.name for file in files], options, told)
    of_files, seen = metrics.of_files(options.metric_files, people, options.metric_columns)
    found += of_files
    headings = list(dict.fromkeys(name for table, _ in parts for name in table.header))
    names = {metric.name for metric in found}
    for text in options.metric_columns:
        if not (metrics.wanted([text], headings) or names & {*metrics.signs([text])}):
            have = f"the columns are {', '.join(headings)}" if headings else "there are no columns"
            raise DataError(f"--metric {text}: there is no such column, and no such metric in a file; {have}.")
    told.metrics = [metric.told for metric in found]
    return found, seen


def _settled(files: list[Recognised], told: Receipt, rejected: writing.Rejected) -> pd.DataFrame:
    """Put all judgements together; reject those that are there twice; a second one with a later time is a repeat."""
    every = [file.judgements.ratings for file in files]
    ratings = pd.concat(every, keys=range(len(files)), names=["file", "line"])
    places = ratings.index
    ratings = ratings.reset_index(drop=True)
    key = [name for name in schemas.RATINGS.key if name in told.columns]
    item = [name for name in key if name not in ("started", "hit", "item_type")]
    if ratings.empty or not (shared := ratings.duplicated(item, keep=False)).any():
        return ratings
    twice = ratings[shared]
    group = twice.groupby(key, dropna=False, sort=False).ngroup()
    first = group.map(pd.Series(group.index, index=group.to_numpy()).groupby(level=0).first())
    drop = group.index[first.ne(group.index.to_series())]
    if "started" in key and not any("item_type" in file.judgements.names for file in files):
        left = twice.drop(drop).sort_values("started", kind="stable")
        again = left.groupby(item, sort=False).cumcount().gt(0) & left["started"].notna()
        again &= left["item_type"].isin(["system", "calibration"])
        if count := int(again.sum()):
            ratings.loc[left.index[again], "item_type"] = "repeat"
            told.note(f"{count:,} later judgements of the same item by the same annotator are repeats")
    late = drop.to_numpy()
    for number in dict.fromkeys(places.codes[0][late]):
        own = late[places.codes[0][late] == number]
        rows = _late(files, number, ratings, places, own, first[own].to_numpy())
        demand_few(rows)
        rejected.add(files[number].name, files[number].table, files[number].judgements, rows)
    return ratings.drop(drop)


def _late(
    files: list[Recognised],
    number: int,
    ratings: pd.DataFrame,
    places: pd.MultiIndex,
    late: np.ndarray,
    before: np.ndarray,
) -> list[Rejection]:
    """Reject a file's judgements at the places ``late`` of all: each judges what that at ``before`` judged already."""
    found, scores = files[number].judgements, ratings["score"].to_numpy()
    owners, lines = places.codes[0], places.get_level_values("line").to_numpy()
    spots = ratings["_place"].to_numpy(float) if "_place" in ratings else np.full(len(ratings), np.nan)
    named = {value: name for name, value in reversed(found.parts.items())}
    columns = ratings["annotator"] if found.people else ratings[found.role].map(named) if found.parts else None
    rows = []
    for place, other in zip(late, before):
        name = files[owners[other]].name
        of = "" if owners[other] == number else f" of {repr(name) if ' ' in name else name}"
        reason = (_DUPLICATE if scores[place] == scores[other] else _AGAIN).format(line=f"{lines[other]}{of}")
        column = "score" if columns is None else str(columns.iloc[place])
        spot = None if np.isnan(spots[place]) else int(spots[place])
        rows.append(Rejection(int(lines[place]), column, f"{scores[place]:.12g}", reason, place=spot))
    return rows
