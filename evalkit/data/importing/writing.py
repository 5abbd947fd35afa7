"""Write a campaign to temporary files, then move all of them into place, the table of ratings last; read its label."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit import DataError
from evalkit.data.delimited import guarded
from evalkit.data.files import alone
from evalkit.data.importing import wall
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Rejection

#: What is written for one campaign besides the ratings themselves.
PARTS = ("spans.parquet", "judges.parquet", "rejected.csv", "import.json")
_FLOATS = {"score", "started", "ended", "position", "z", "errors", "hit_seconds", "screen_place", "probability"}
_MOST_RECEIPT = 64 << 20  # bytes


def beside(out: Path, what: str) -> Path:
    """Name a file beside the result: campaign.parquet -> campaign.spans.parquet.

    >>> beside(Path("campaign.parquet"), "rejected.csv").name
    'campaign.rejected.csv'
    """
    return out.with_name(f"{out.name.removesuffix('.parquet')}.{what}")


def guard(out: Path, paths: Sequence[Path], *, replace: bool) -> None:
    """Refuse to write over what cannot be made again from the files that are to be imported.

    replace: write over whatever is there, except the files themselves.
    Raises DataError where a file is both read and written, or a folder has its name; or, unless ``replace``, where no
    receipt says that an import wrote what is there, and from no other files.
    """
    targets = [target for target in (out, *(beside(out, what) for what in PARTS)) if target.exists()]
    if folders := [target.name for target in targets if target.is_dir()]:
        raise DataError(f"{folders[0]} is a folder, and a file is to have its name. Name another result with --out.")
    for path in filter(Path.exists, paths):
        if any(map(path.samefile, targets)):
            raise DataError(f"{path.name} is to be read and would be written over. Name another result with --out.")
    if replace or not targets:
        return
    receipt = receipt_beside(out)
    made = [str(one.get("name")) for one in receipt.files] if receipt else []
    if not made or {*made} - {path.name for path in paths}:
        what = f"was made from {', '.join(made)}" if made else "was not written by an import"
        raise DataError(f"{targets[0].name} is there already and {what}. Name another --out, or pass --replace.")


def receipt_beside(out: Path) -> Receipt | None:
    """Read what an import told beside its result; None where that is not to be had, or not what an import writes."""
    path = beside(out, "import.json")
    try:
        return Receipt.of_json(path.read_text(encoding="utf-8")) if path.stat().st_size < _MOST_RECEIPT else None
    except (OSError, ValueError):
        return None


def publish(made: Path, out: Path) -> list[Path]:
    """Move what was written to a folder into place; parts that an earlier import left and this one has not go."""
    written = []
    with alone(out.parent):
        out.unlink(missing_ok=True)  # until the end there is no result, rather than a mixed one
        for what in PARTS:
            if (made / what).exists():
                written.append((made / what).replace(beside(out, what)))
            else:
                beside(out, what).unlink(missing_ok=True)
        return [(made / "ratings.parquet").replace(out), *written]


def write_ratings(ratings: pd.DataFrame, columns: list[str], place: Path, label: dict[str, Any]) -> None:
    """Write judgements as Parquet, each of our columns with its type, under what they were made from."""
    kinds = {"copy": pa.bool_()} | dict.fromkeys(_FLOATS, pa.float64())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    write(ratings.reindex(columns=columns), place, label, schema)


def write(rows: pd.DataFrame, place: Path, label: dict[str, Any], schema: pa.Schema | None = None) -> None:
    """Write a table as Parquet under what it was made from, with checksums of its pages and of what is no page."""
    named = rows.astype(dict.fromkeys(rows.select_dtypes("category"), "str"))
    table = pa.Table.from_pandas(named, schema=schema, preserve_index=False)
    columns = [f"{one.name}: {one.type}" for one in table.schema]
    said = json.dumps(label | {"check": _check(label, columns, table.num_rows)})
    table = table.replace_schema_metadata({"evalkit": said})
    pq.write_table(table, place, compression="zstd", compression_level=1, write_page_checksum=True)


def _check(label: dict[str, Any], columns: list[str], rows: int) -> str:
    """Digest the label, names and types of columns, and how many rows there are, so that damage is noticed."""
    return hashlib.sha256(json.dumps([label, columns, rows], sort_keys=True).encode()).hexdigest()


def label_of(path: Path) -> dict[str, Any]:
    """Read where a table came from; empty for a Parquet file that no import wrote.

    Raises DataError where the file is no Parquet, or what it says of itself is damaged.
    """
    told = wall.label(path)
    try:
        label: dict[str, Any] = json.loads(told["label"])
        sound = label.pop("check", None) in (None, _check(label, told["columns"], told["rows"]))  # 0.2 wrote none
    except (ValueError, AttributeError, RecursionError):
        sound = False
    if not sound:
        raise DataError(f"{path.name} is damaged: it says of itself what no import writes. Import the campaign again.")
    return label


def write_rejected(rows: Sequence[tuple[str, Rejection]], place: Path) -> None:
    """Write rows that are no judgements, each with its file, for people, who open them in spreadsheets.

    What would run there has an apostrophe before it.
    """
    told = [(row.kind, file, str(row.line), row.column, row.value, row.reason) for file, row in rows]
    table = pd.DataFrame(told, columns=["kind", "file", "line", "column", "value", "reason"]).map(guarded)
    table.to_csv(place, index=False, encoding="utf-8-sig", lineterminator="\r\n")
