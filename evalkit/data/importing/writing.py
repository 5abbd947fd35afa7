"""Write a campaign to temporary files, then move all of them into place, the table of ratings last; and open it again.

Rows that are no judgements are written without names of people.
"""

import csv
import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit import DataError
from evalkit.data.delimited import guarded
from evalkit.data.files import alone
from evalkit.data.importing import vocabulary, wall
from evalkit.data.importing.options import Pseudonyms
from evalkit.data.importing.receipt import Receipt
from evalkit.data.importing.tables import Broken, Judgements, Rejection, Table
from evalkit.data.registry import digest

#: What the file of rejected rows says of each, before the row's own cells, and behind them where these cannot be cut.
FIELDS, UNCUT = ["kind", "file", "line", "column", "value", "reason"], "cells"
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
    receipt says that an import wrote what is there, and from no other files, or its rejected rows were changed since.
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
        raise DataError(
            f"{targets[0].name} is there already and {what}. Name another --out, or write over it: --replace."
        )
    rejected = beside(out, "rejected.csv")
    if receipt and rejected.exists() and receipt.rejected_digest != digest(rejected):
        raise DataError(
            f"{rejected.name} was changed since an import wrote it. Keep it under another name, name another --out, or "
            "write over it: --replace."
        )


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
    _write(pa.Table.from_pandas(ratings.reindex(columns=columns), schema=schema, preserve_index=False), place, label)


def write_spans(spans: pd.DataFrame, place: Path, label: dict[str, Any]) -> None:
    """Write marked errors as Parquet, under what they were made from."""
    named = spans.astype(dict.fromkeys(spans.select_dtypes("category"), "str"))
    _write(pa.Table.from_pandas(named, preserve_index=False), place, label)


def _write(table: pa.Table, place: Path, label: dict[str, Any]) -> None:
    """Write a table with checksums of its pages, and one of what these do not cover."""
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


class Rejected:
    """Gather rows that are no judgements, without names of people, and count them in the receipt."""

    def __init__(self, aliases: Pseudonyms, receipt: Receipt):
        self._aliases, self._receipt = aliases, receipt
        self._rows: list[tuple[list[str], dict[str, str], str]] = []

    def add(
        self, file: str, table: Table, found: Judgements, rows: Sequence[Rejection], broken: Sequence[Broken] = ()
    ) -> None:
        """Add rows of one table in the order of their lines; broken: those that could not be cut into cells."""
        used = {name for ours, name in found.names.items() if ours != "annotator"} | {*found.people}
        named = found.names.get("annotator", "")
        private = {name for name in table.header if name not in used and vocabulary.personal(name)}
        private |= {named} & {*table.header}
        places = {int(line): place for place, line in enumerate(table.cells.index)} if rows else {}
        columns = {name: table.cells[name].array for name in table.cells}  # a frame takes long to find a cell
        every: list[tuple[Rejection, list[str]]] = [(row, []) for row in rows]
        every += [(Rejection(one.line, "", "", one.reason), one.cells) for one in broken]
        hide = self._aliases.within
        for row, cut in sorted(every, key=lambda one: one[0].line):
            place = places.get(row.line) if row.place is None else row.place
            cells: dict[str, str] = {}
            if not cut and place is not None and place < len(table.cells):
                said = {name: _text(cells_of[place]) for name, cells_of in columns.items()}
                row.annotator = row.annotator or said.get(named) or None
                cells = self._hidden(said, row, found, private)
            row = replace(row, value=hide(row.value, row.annotator), reason=hide(row.reason, row.annotator))
            self._receipt.reject(file, row)
            masked = [self._aliases.one(one) if one.strip() else one for one in cut] if private else cut
            fields = [row.kind, file, str(row.line), row.column, row.value, row.reason]
            self._rows.append((fields, cells, json.dumps(masked, ensure_ascii=False) if cut else ""))

    def write(self, place: Path) -> None:
        """Write them for people, who open them in spreadsheets: what would run there has an apostrophe before it."""
        headings = [*dict.fromkeys(name for _, cells, _ in self._rows for name in cells)]
        with place.open("w", encoding="utf-8-sig", newline="") as stream:
            rows = csv.writer(stream)
            rows.writerow(map(guarded, [*FIELDS, *headings, UNCUT]))
            for fields, cells, uncut in self._rows:
                rows.writerow(map(guarded, [*fields, *(cells.get(name, "") for name in headings), uncut]))

    def _title(self, name: str, found: Judgements) -> str:
        return self._aliases.one(name) if name in found.people else name

    def _hidden(self, said: dict[str, str], row: Rejection, found: Judgements, private: set[str]) -> dict[str, str]:
        """Write a whole row without names; of columns that hold judgements each, only the rejected one's cell."""
        aliases, parts = self._aliases, {self._title(name, found) for name in (*found.people, *found.parts)}
        others = parts - {row.column} if row.column in parts else set()
        cells = {}
        for name, cell in said.items():
            title = self._title(name, found)
            if title not in others:
                masked = name in private and cell.strip()
                cells[title] = aliases.one(cell) if masked else aliases.within(cell, row.annotator)
        return cells


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else "" if cell is None or cell != cell else json.dumps(cell, default=str)
