"""The door to people's own campaigns: import files of many formats, open what was imported."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing import metrics as automatic
from evalkit.data.importing import wall, writing
from evalkit.data.importing.campaign import import_campaign
from evalkit.data.importing.formats import NAMES as FORMATS
from evalkit.data.importing.formats import listed as formats
from evalkit.data.importing.receipt import Receipt, together
from evalkit.data.provenance import declared_scale, like, source_of

__all__ = ["FORMATS", "Receipt", "formats", "import_campaign", "open_campaign", "open_judges", "together"]


def open_campaign(
    path: str | Path, *, keep_names: bool = False, **options: Any
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Open a campaign: its ratings and, where errors were marked, their spans.

    path: what ``import_campaign`` wrote, or a file that it can read, which is then imported in passing, with
    ``options`` as there. ``attrs["source"]`` names file, origin and digest, ``attrs["scale"]`` the ends of the scale
    (None where there are none), ``attrs["excluded"]`` how many rows were rejected or excluded, by reason,
    ``attrs["notes"]`` what the import assumed, and ``attrs["reading"]`` how it read the file (see
    ``provenance.reading_of``); the last three as long as the import's receipt lies beside its result.
    Raises DataError where the file cannot be read, or is not what an import wrote.
    """
    path = Path(path)
    if path.suffix == ".parquet" and not options:
        return _read(path)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"{path.stem or 'campaign'}.parquet"
        try:
            import_campaign([path], out, keep_names=keep_names, **options)
        except DataError as problem:
            if "--" not in str(problem) or options:
                raise
            way = f"Options belong to the import: evalkit import {path.name} …; then report on its campaign.parquet."
            raise DataError(f"{problem} {way}") from problem
        return _read(out)


def _read(path: Path) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Read what an import wrote."""
    label = _label(path)
    ratings, spans, marked = _ratings(path, label), None, writing.beside(path, "spans.parquet")
    if marked.is_file():
        if writing.label_of(marked) != label:
            raise DataError(f"{marked.name} belongs to another import than {path.name}. Import the campaign again.")
        spans = wall.parquet(marked)  # of a translation that was shown again, each showing has its own
        shown = [name for name in ("item_type", "hit", "started", "mark") if name in spans]
        spans = schemas.check(spans, schemas.SPANS.also(key=shown), origin=marked.name)
        source = source_of(ratings) | {"name": f"{path.stem}-spans"}
        spans.attrs |= {"source": source, "scale": declared_scale(ratings)}
    return ratings, spans


def _label(path: Path) -> dict[str, Any]:
    """Read what an import wrote of its files beside its scores; raise DataError where no import did."""
    if not path.is_file():
        raise DataError(f"{path} is not there. Run: evalkit import FILE... --out {path.name}")
    label = writing.label_of(path)
    if not label:
        raise DataError(f"{path.name} was not written by `evalkit import`. Import the file that it was made from.")
    return label


def _ratings(path: Path, label: dict[str, Any]) -> pd.DataFrame:
    """Read an import's scores, and what its receipt says of rows that are not there, and of what was assumed."""
    scale = tuple(label["scale"]) if label["scale"] else None
    ratings = schemas.check(wall.parquet(path), schemas.RATINGS, origin=path.name, scale=scale)
    source = {"name": path.stem, "source": "real", "origin": label["origin"], "digest": label["digest"]}
    ratings.attrs |= {"source": source, "scale": scale}
    receipt = writing.receipt_beside(path)
    if not receipt or receipt.digest != label["digest"]:
        return ratings
    said = {"rows": f"{receipt.rows_read:,} read, {receipt.rows_kept:,} kept"} | receipt.read_as()
    said |= {what: f"{count:,}" for what, count in receipt.apart().items()}
    names = ("format", "orientation", "segments", "unsure_segments", "plan", "unnamed")
    counts = [*receipt.reasons.items(), *receipt.excluded.items()]
    ratings.attrs |= {
        "excluded": {together(reason): int(count) for reason, count in counts},
        "notes": receipt.notes,
        "reading": {"receipt": said, **{name: getattr(receipt, name) for name in names}},
    }
    return ratings


def open_judges(
    path: str | Path = "", *, ratings: pd.DataFrame | None = None, metrics: str | Path | Sequence[str | Path] = ()
) -> pd.DataFrame | None:
    """Open automatic judges and metrics of a campaign: a table like its ratings; None where there are none.

    path: what ``import_campaign`` wrote; what stands apart beside it is read. ratings, metrics: the campaign's ratings,
    and files of metrics to match with them now, as ``metric_files`` of an import; then path may be another file.
    Returns the columns of ratings, where ``annotator`` is the judge or metric, kind (judge or metric), better (higher
    or lower) and level (segment; or system, where a whole system is scored, and doc and segment are "*").
    Raises DataError where a file of metrics cannot be matched, or two have one name.
    """
    path, texts = Path(path), [metrics] if isinstance(metrics, str | Path) else metrics
    named, found, label = [str(one) for one in texts if str(one)], None, dict[str, Any]()
    if ratings is None or path.suffix == ".parquet":
        label = _label(path)
        ratings = _ratings(path, label) if ratings is None else ratings
        found = automatic.read_apart(path)
        if source_of(ratings)["digest"] != label["digest"]:
            raise DataError(f"{path.name} was imported anew since its ratings were opened. Open both again.")
    more, seen = automatic.of_files(named, ratings)
    more = automatic.joined(more)
    if found is None and not more:
        return None
    whole = automatic.apart(ratings.head(0) if found is None else found, more)
    files = [*label.get("metrics", []), *({"name": one.path.name, "digest": one.digest} for one in seen)]
    told = {"notes": [metric.told for metric in more], "excluded": {}}
    return like(whole, ratings, source=automatic.source(source_of(ratings), files), **told)
