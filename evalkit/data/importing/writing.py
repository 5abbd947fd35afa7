"""Write a campaign in batches to temporary files, then move all of them into place, the table of ratings last."""

import bisect
import json
import shutil
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from evalkit import DataError
from evalkit.data import schemas
from evalkit.data.importing.report import beside
from evalkit.data.registry import digest

_FLOATS = {"score", "started", "ended", "position", "z", "errors", "hit_seconds"}
_STORED = {"compression": "zstd", "compression_level": 1, "write_page_checksum": True}
_STALE = 3600.0  # seconds after which what a killed import left is nobody's any more
#: What is written for one campaign besides the ratings themselves.
PARTS = ("spans.parquet", "rejected.csv", "import.json")


def guard(out: Path, paths: Sequence[Path], *, replace: bool) -> None:
    """Refuse to write over what cannot be made again from the files that are to be imported.

    replace: write over whatever is there, except the files themselves.
    Raises DataError where a file is both read and written; or, unless ``replace``, where the earlier result was made
    from other files, or its rejected rows were changed since.
    """
    targets = [out, *(beside(out, what) for what in PARTS)]
    for path in paths:
        if any(target.exists() and path.exists() and target.samefile(path) for target in targets):
            raise DataError(f"{path.name} is to be read and would be written over. Name another result with --out.")
    if replace:
        return
    if out.exists():
        label = label_of(out) if _is_parquet(out) else {}
        others = [name for name in label.get("files", ["?"]) if name not in {path.name for path in paths}]
        if others:
            what = f"was made from {', '.join(others)}" if label else "was not written by an import"
            raise DataError(f"{out.name} is there already and {what}. Name another --out, or write over it: --replace.")
    said, rejected = beside(out, "import.json"), beside(out, "rejected.csv")
    if rejected.exists() and told_of(said).get("rejected_digest") != digest(rejected):
        raise DataError(
            f"{rejected.name} was changed since an import wrote it. If you repaired rows, import it beside the other "
            "files under another --out; or write over it: --replace."
        )


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def told_of(path: Path) -> dict:
    """Read what an import reported; empty where that is not to be had."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class Draft:
    """A folder of unfinished files beside the result; nothing of it stays unless ``publish`` is reached."""

    def __init__(self, out: Path):
        self.out = out
        out.parent.mkdir(parents=True, exist_ok=True)
        for left in out.parent.glob(f".{_plain(out.name)}.*.part"):
            if time.time() - left.stat().st_mtime > _STALE:
                shutil.rmtree(left, ignore_errors=True)
        self.folder = out.parent / f".{_plain(out.name)}.{uuid.uuid4().hex}.part"

    def __enter__(self) -> "Draft":
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def place(self, what: str) -> Path:
        """Name an unfinished file."""
        return self.folder / what

    def publish(self) -> list[Path]:
        """Move what was written into place; parts that an earlier import left and this one has not are removed."""
        written = []
        self.out.unlink(missing_ok=True)  # from here on and until the end there is no result rather than a mixed one
        for what in PARTS:
            target = beside(self.out, what)
            if self.place(what).exists():
                self.place(what).replace(target)
                written.append(target)
            else:
                target.unlink(missing_ok=True)
        self.place("ratings.parquet").replace(self.out)
        return [self.out, *written]


def _plain(name: str) -> str:
    """Write a file's name without what means something in a pattern."""
    return "".join("_" if letter in "[]*?" else letter for letter in name)


def schema(columns: list[str]) -> pa.Schema:
    """Give our columns their types in Parquet."""
    kinds = {"copy": pa.bool_()} | dict.fromkeys(_FLOATS, pa.float64())
    return pa.schema([(name, kinds.get(name, pa.string())) for name in columns])


class Ratings:
    """Write judgements batch by batch, and remember in little space which item each row judges and where it stood."""

    def __init__(self, path: Path, columns: list[str], label: dict):
        self.path, self.schema, self.label = path, schema(columns), {"evalkit": json.dumps(label)}
        self._writer = pq.ParquetWriter(path, self.schema, **_STORED)
        self._thread, self._pending = ThreadPoolExecutor(1), None
        self._hashes: list[np.ndarray] = []
        self._lines: list[tuple[int, np.ndarray | range]] = []  # of each batch: file, line of each row
        self._starts: list[int] = []
        self.rows, self.lowest, self.highest = 0, np.inf, -np.inf

    def add(self, ratings: pd.DataFrame, file: int) -> None:
        """Write rows whose index is their line in the file."""
        if ratings.empty:
            return
        table = {
            name: ratings[name] if name in ratings else pd.Series(None, index=ratings.index, dtype=object)
            for name in self.schema.names
        }
        self._write(pa.Table.from_pandas(pd.DataFrame(table), schema=self.schema, preserve_index=False))
        self._hashes.append(_hash(ratings))
        self._lines.append((file, _compact(ratings.index)))
        self._starts.append(self.rows)
        self.lowest = min(self.lowest, float(ratings["score"].min()))
        self.highest = max(self.highest, float(ratings["score"].max()))
        self.rows += len(ratings)

    def _write(self, table: pa.Table) -> None:
        """Write a batch beside the reading of the next one."""
        if self._pending:
            self._pending.result()
        self._pending = self._thread.submit(self._writer.write_table, table)

    def close(self) -> None:
        """Finish the file, and write into it where it came from."""
        self._thread.shutdown()
        if self._pending:
            self._pending.result()
        self._writer.add_key_value_metadata(self.label)
        self._writer.close()

    def place(self, row: int) -> tuple[int, int]:
        """Return file and line of a row."""
        batch = bisect.bisect_right(self._starts, row) - 1
        file, lines = self._lines[batch]
        return file, int(lines[row - self._starts[batch]])

    def shared(self) -> np.ndarray:
        """Return the rows that judge what another row may judge, too: the same item, by the same annotator."""
        hashes = np.concatenate(self._hashes) if self._hashes else np.empty(0, np.uint64)
        alone = np.sort(hashes)
        if not (alone[1:] == alone[:-1]).any():  # as nearly always, and much quicker than to order the rows
            return np.empty(0, np.int64)
        order = np.argsort(hashes, kind="stable")
        same = hashes[order[1:]] == hashes[order[:-1]]
        marked = np.zeros(len(hashes), dtype=bool)
        marked[order[1:][same]] = True
        marked[order[:-1][same]] = True
        return np.flatnonzero(marked)

    def read(self, rows: np.ndarray, columns: list[str]) -> pd.DataFrame:
        """Read some rows back."""
        parts, start = [], 0
        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(columns=columns):
                inside = rows[(rows >= start) & (rows < start + len(batch))]
                if len(inside):
                    parts.append(batch.take(pa.array(inside - start)))
                start += len(batch)
        frame = frame_of(pa.Table.from_batches(parts))
        return frame.set_axis(rows)

    def distinct(self, column: str) -> int:
        """Count the different texts of a column."""
        with pq.ParquetFile(self.path) as file:
            found: set[str] = set()
            for batch in file.iter_batches(columns=[column]):
                found.update(batch.column(0).unique().to_pylist())
        return len(found)

    def rewrite(self, drop: set[int], kinds: dict[int, str]) -> None:
        """Write the file again without some rows, and with other item types for some."""
        target, start = self.path.with_suffix(".again"), 0
        gone, others = np.array(sorted(drop), dtype=int), pd.Index(sorted(kinds), dtype=int)
        with pq.ParquetFile(self.path) as file, pq.ParquetWriter(target, self.schema, **_STORED) as writer:
            for batch in file.iter_batches():
                frame = frame_of(pa.Table.from_batches([batch])).set_axis(range(start, start + len(batch)))
                again = frame.index.intersection(others)
                frame.loc[again, "item_type"] = [kinds[row] for row in again]
                kept = frame[~frame.index.isin(gone)]
                writer.write_table(pa.Table.from_pandas(kept, schema=self.schema, preserve_index=False))
                start += len(batch)
            writer.add_key_value_metadata(self.label)
        target.replace(self.path)
        self.rows -= len(drop)


def _hash(ratings: pd.DataFrame) -> np.ndarray:
    """Compute a number for what each row judges, and who; rows with equal numbers are compared in full later."""
    total = np.zeros(len(ratings), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for name in ("src_lang", "tgt_lang", *schemas.ITEM, "annotator"):
            codes, distinct = pd.factorize(ratings[name])
            total = (
                total * np.uint64(0x9E3779B97F4A7C15)
                + pd.util.hash_array(np.asarray(distinct, dtype=object), categorize=False)[codes]
            )
            total ^= total >> np.uint64(29)
    return total


def _compact(index: pd.Index) -> np.ndarray | range:
    """Keep line numbers, as a range where they are one."""
    lines = index.to_numpy()
    if (np.diff(lines) == 1).all():
        return range(int(lines[0]), int(lines[-1]) + 1)
    return lines.astype(np.uint32) if lines[-1] < 2**32 else lines


def frame_of(table: pa.Table) -> pd.DataFrame:
    """Turn a table into a frame whose texts are pandas' own."""
    kinds = {pa.string(): pd.StringDtype(na_value=np.nan), pa.large_string(): pd.StringDtype(na_value=np.nan)}
    return table.to_pandas(types_mapper=kinds.get, ignore_metadata=True)


def frame_at(path: Path) -> pd.DataFrame:
    """Read a table that an import wrote, its pages held against their checksums.

    Raises DataError where it is damaged.
    """
    try:
        return frame_of(pq.read_table(path, page_checksum_verification=True))
    except (OSError, pa.ArrowException) as problem:
        raise DataError(f"{path.name} is damaged: {problem}. Import the campaign again.") from problem


def label_of(path: Path) -> dict:
    """Read where a table came from; empty for a Parquet file that no import wrote.

    Raises DataError where the file is no Parquet.
    """
    try:
        metadata = pq.read_metadata(path).metadata or {}
        return json.loads(metadata.get(b"evalkit", b"{}"))
    except (pa.ArrowInvalid, ValueError) as problem:
        raise DataError(f"{path.name} is no sound Parquet file: {problem}. Import the campaign again.") from problem
