"""Gather automatic scores from columns of people's files and from files of metrics, and tell where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from evalkit import DataError, nameable
from evalkit.data.importing.automatic import columns, layout, tables
from evalkit.data.importing.automatic.items import Metric, items_of
from evalkit.data.importing.automatic.names import Undirected, signed
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report

if TYPE_CHECKING:
    from evalkit.data.importing.campaign import File


def of_files(paths: Sequence[str | Path], ratings: pd.DataFrame, *, told: Sequence[str] = ()) -> list[Metric]:
    """Read files of metrics' scores, or folders of mt-metrics-eval, and match them with what people judged.

    ratings: people's judgements. told: names with a sign, + where higher and - where lower is better.
    Raises DataError where a file is not there, or cannot be matched.
    """
    signs = columns.signs(told)
    if not paths:
        return []
    items, found = items_of(ratings), list[Metric]()
    for path in (nameable(Path(path)) for path in paths):
        if not path.exists():
            raise DataError(f"{path} is not there. Check the path of the file of metrics.")
        found += _read(path, items, signs)
    return found


def of_run(paths: Sequence[tuple[Path, bool | None]], ratings: pd.DataFrame) -> list[Metric]:
    """Read files of metrics as the parameter ``metrics`` of a run names them (see ``path_and_sign``)."""
    items = items_of(ratings) if paths else pd.DataFrame()
    every = [_read(nameable(path), items, {}, lower, ask=f"-p metrics={path.name}") for path, lower in paths]
    return [metric for own in every for metric in own]


def path_and_sign(text: str) -> tuple[Path, bool | None]:
    """Part the path of a file of metrics from the sign behind it.

    It tells which way those of its metrics are better of which nothing else tells it.

    >>> path_and_sign("scores.tsv")[1], path_and_sign("ter.tsv-")[1]
    (None, True)
    """
    name, lower = (text, None) if Path(text).exists() else signed(text)
    return Path(name), lower


def _read(
    path: Path, items: pd.DataFrame, signs: Mapping[str, bool], lower: bool | None = None, *, ask: str = ""
) -> list[Metric]:
    """Read one file or folder. lower: which way metrics are better of which nothing says it; ask: how to tell it."""
    read = layout.read if layout.is_layout(path) else tables.read
    try:
        return read(path, items, signs)
    except Undirected as problem:
        if lower is not None:
            return _read(path, items, {**signs, problem.name: lower}, lower)
        if ask:
            raise DataError(str(Undirected(problem.name, ask))) from problem
        raise


def files(place: Path) -> list[Path]:
    """List the files of metrics at a place: one, or those of a folder in mt-metrics-eval's layout."""
    return sorted(place.rglob("*.s[ey][gs].score")) if place.is_dir() else [place] * place.is_file()


def gathered(files: Iterable[File], ratings: pd.DataFrame, options: Options, report: Report) -> list[Metric]:
    """Gather the automatic scores of an import: of columns of its files, of files of metrics, of earlier imports.

    files: as they were read. ratings: people's judgements. The report says where each comes from.
    Raises DataError where a metric that the user names is not there.
    """
    told, found, headings = options.metric_columns, [], []
    for file in files:
        frame, origin = file.rows.frame, file.name
        headings += [name for name in frame if name not in headings]
        for name in columns.unclaimed(frame, told):
            ask = f"--metric {name!r}" if " " in name else f"--metric {name}"
            if name == file.found.names.get("score") or name in file.found.parts:
                report.note(f"{origin}: {name} was read as people's scores, though it has a metric's name. Are they?")
            else:
                report.note(f"{origin}: the column {name} may be an automatic score; it was not used. Pass {ask}")
        if columns.taken(told, [*frame.columns]):
            if file.kind.name not in columns.READ:
                raise DataError(
                    f"{origin} has the format {file.kind.name}, of which --metric reads no column. Write these scores "
                    "as a table with the columns system, doc, segment and score, and pass it as --metrics."
                )
            found += columns.of_rows(
                frame,
                file.found.ratings,
                told,
                origin=origin,
                role=file.found.role,
                decimal=options.decimal,
                typed=file.head.typed,
                note=report.note,
            )
        found += file.found.metrics
    found = _joined(found) + of_files(options.metric_files, ratings, told=told)
    names = {metric.name for metric in found}
    for text in told:
        if not (columns.wanted([text], headings) or names & {*columns.signs([text])}):
            have = f"the columns are {', '.join(headings)}" if headings else "there are no columns"
            raise DataError(f"--metric {text}: there is no such column, and no such metric in a file; {have}.")
    report.metrics = [metric.told for metric in found]
    return found


def _joined(metrics: list[Metric]) -> list[Metric]:
    """Put together the scores that a metric has in several files of people."""
    parts: dict[str, list[Metric]] = {}
    for metric in metrics:
        parts.setdefault(metric.name, []).append(metric)
    return [_one(own) if len(own) > 1 else own[0] for own in parts.values()]


def _one(parts: list[Metric]) -> Metric:
    """Make one metric of its parts. Raises DataError where they do not agree which way is better."""
    first = parts[0]
    if len({part.lower for part in parts}) > 1:
        raise DataError(
            f"{first.name}: lower is better in some files, by their scores, and higher in others. Say which: --metric "
            f"{first.name}+ or --metric {first.name}-."
        )
    scores = pd.concat([part.scores for part in parts], ignore_index=True)
    keys = [name for name in scores if name != "score"]
    whole = [part.systems for part in parts if part.systems is not None]
    return Metric(
        first.name,
        first.lower,
        scores.groupby(keys, sort=False)["score"].mean().reset_index(),
        "; ".join(part.told for part in parts),
        pd.concat(whole, ignore_index=True) if whole else None,
    )
