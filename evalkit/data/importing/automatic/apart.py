"""Keep judges that are models, and metrics, apart from people: one table of both beside the campaign's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import writing
from evalkit.data.importing.automatic.items import EXTRA, KEY, WHOLE, Metric
from evalkit.data.importing.options import Options
from evalkit.data.importing.report import Report, beside

#: Of a table that was written before there were metrics, in which all are judges.
_JUDGE = {"kind": "judge", "better": "higher", "level": "segment"}


def without_judges(ratings: pd.DataFrame, options: Options, report: Report, origin: str) -> pd.DataFrame:
    """Leave the judgements of models to a file of their own, and say whose they are."""
    judged = ratings["annotator"].isin([*options.judges, *report.judges])
    if absent := [name for name in options.judges if not ratings["annotator"].eq(name).any()]:
        raise DataError(f"--judge {absent[0]!r}: no annotator of {origin} is called that. Write it as the file does.")
    if judged.all():
        raise DataError(f"All annotators of {origin} are automatic judges. Leave out --judge to report on them alone.")
    counts = ratings.loc[judged, "annotator"].value_counts(sort=False)
    report.judges = [f"{name} ({count:,} judgements, apart)" for name, count in counts.items()]
    return ratings[~judged]


def table(judged: pd.DataFrame, metrics: Sequence[Metric]) -> pd.DataFrame:
    """Put what judges said and metrics below one another, with the columns ``EXTRA``.

    judged: judgements of models, like people's. Raises DataError where two of them have one name.
    """
    names = [*judged["annotator"].unique(), *(metric.name for metric in metrics)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"Two metrics or judges are called {twice}. Rename one: --metric NAME=COLUMN, or its file.")
    parts = [judged.assign(**_JUDGE)] if len(judged) else []
    for metric in metrics:
        facts = {"annotator": metric.name, "kind": "metric", "better": "lower" if metric.lower else "higher"}
        parts.append(metric.scores.assign(**facts, level="segment"))
        if metric.systems is not None:
            whole = {"doc": WHOLE, "segment": WHOLE, "item_type": "system", "level": "system"}
            parts.append(metric.systems.assign(**facts, **whole))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*KEY, "annotator", "score", *EXTRA])


def read(out: Path, scale: tuple[float, float] | None) -> pd.DataFrame | None:
    """Read the table of judges and metrics beside an import's result; None where it has none.

    scale: people's, which is that of judges, too; metrics have scales of their own.
    """
    place = beside(out, "judges.parquet")
    if not place.is_file() or writing.label_of(place) != writing.label_of(out):
        return None
    found = writing.frame_at(place)
    found = found.assign(**{name: value for name, value in _JUDGE.items() if name not in found})
    _demand_sound(found, place.name)
    own = found["kind"] == "judge"
    for part, ends in ((found[own], scale), (found.loc[~own, [*KEY, "annotator", "score"]], None)):
        if len(part):
            schemas.check(part, schemas.RATINGS, origin=place.name, scale=ends)
    return found


def _demand_sound(found: pd.DataFrame, origin: str) -> None:
    """Refuse a table that lacks what tells judges and metrics apart, or says of one what is not known."""
    absent = [name for name in (*KEY, "annotator", "score", *EXTRA) if name not in found]
    known = {"kind": ("judge", "metric"), "better": ("higher", "lower"), "level": ("segment", "system")}
    odd = [name for name, values in known.items() if name in found and not found[name].isin(values).all()]
    if absent or odd:
        raise DataError(f"{origin} is damaged: {(absent or odd)[0]} is not what an import writes. Import it again.")


def metrics_of(found: pd.DataFrame, origin: str) -> list[Metric]:
    """Take the metrics of such a table, as ``read`` returns it, for another import."""
    metrics = []
    for name, own in found[found["kind"] == "metric"].groupby("annotator", sort=False):
        by_system = own["level"] == "system"
        scores = own.loc[~by_system, [*KEY, "score"]].reset_index(drop=True)
        whole = own.loc[by_system, ["src_lang", "tgt_lang", "system", "score"]].reset_index(drop=True)
        better = str(own["better"].iloc[0])
        told = f"{name}: {origin}, {len(scores):,} items; {better} is better, as imported before"
        metrics.append(Metric(str(name), better == "lower", scores, told, whole if len(whole) else None))
    return metrics


def source(campaign: dict[str, str], files: Sequence[dict[str, str]]) -> dict[str, str]:
    """Say where judges and metrics come from: the campaign's source, and the files of metrics (name, digest).

    >>> own = {"name": "my", "source": "real", "origin": "my.csv", "digest": "a"}
    >>> source(own, [{"name": "m.csv", "digest": "b"}])
    {'name': 'my-metrics', 'source': 'real', 'origin': 'my.csv, m.csv', 'digest': 'a+b'}
    """
    origins = [campaign["origin"], *(one["name"] for one in files)]
    return campaign | {
        "name": f"{campaign['name']}-metrics",
        "origin": ", ".join(origins),
        "digest": "+".join([campaign["digest"], *(one["digest"] for one in files)]),
    }
