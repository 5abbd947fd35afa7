"""Read the Parquet tables that imports write, within bounds: what a file claims, then what its pages would unfold to.

A cell may be stored once and meant a million times, so a small file can unfold to more than a machine holds. Metadata
are looked at first, then the headers of pages, which say what each unfolds to; cells that stand in a dictionary are
counted before they are written out.

Where columns lie is read from the metadata here, not by pyarrow: it ends the whole process where those of a column are
damaged in some ways (pyarrow 26; compare apache/arrow, issue 45283).

Source: Apache Parquet, parquet.thrift (FileMetaData, PageHeader), and Thrift's compact protocol.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evalkit import DataError, one_line

_MOST_FOOTER = 4 << 20  # bytes of metadata
_MOST_COLUMNS = 200
#: Bytes that a table may unfold to: always the first; beyond that so many times its file's, to the last at most.
_ALWAYS, _TIMES, _MOST = 128 << 20, 300, 4 << 30
_CELL = 8  # bytes that a cell takes at least
_PAGE = 1 << 10  # bytes that a page counts for at least, so that empty ones end, too
_TEXTS = (pa.string(), pa.large_string())
_KINDS = {*_TEXTS, pa.float64(), pa.int64(), pa.bool_(), pa.null()}
_REMEDY = "Import the campaign again."


def metadata_of(path: Path) -> pq.FileMetaData:
    """Read what a file says of itself. Raises DataError where it is no sound Parquet file."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(path.stat().st_size - _END, 0))
            end = stream.read(_END)
        if end[4:] != b"PAR1" or int.from_bytes(end[:4], "little") > _MOST_FOOTER:
            raise ValueError("its end is not that of a Parquet file")
        return pq.read_metadata(path)
    except Exception as problem:  # whatever pyarrow meets: errors of its own, of texts, numbers and types
        raise DataError(f"{path.name} is no sound Parquet file: {_told(problem)}. {_REMEDY}") from problem


def frame_of(path: Path) -> pd.DataFrame:
    """Read a whole table, its pages held against their checksums; texts are pandas' own.

    Raises DataError where it is damaged, has columns of other types than text, numbers and truth, or would unfold to
    more than can be held in memory.
    """
    told = metadata_of(path)
    try:
        unsure = _demand_bounded(path, told)
        with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=unsure) as file:
            table = _unfolded(path, file.read())
        table.validate(full=True)
        kinds = dict.fromkeys(_TEXTS, pd.StringDtype(na_value=np.nan))
        return table.to_pandas(types_mapper=kinds.get, ignore_metadata=True)
    except DataError:
        raise
    except Exception as problem:
        raise DataError(f"{path.name} is damaged: {_told(problem)}. {_REMEDY}") from problem


def _told(problem: Exception) -> str:
    return one_line(problem).rstrip(".")


def _most(path: Path) -> int:
    return min(max(_ALWAYS, _TIMES * path.stat().st_size), _MOST)


def _too_large(path: Path, what: str) -> DataError:
    return DataError(
        f"{path.name} would unfold to {what}, far more than a file of {path.stat().st_size:,} bytes should. Do not "
        "trust this file; if it is yours, import the campaign again."
    )


def _demand_bounded(path: Path, told: pq.FileMetaData) -> list[str]:
    """Refuse what claims too much; return the columns of text whose dictionaries could unfold to more than is known."""
    schema = told.schema.to_arrow_schema()
    if odd := next((one for one in schema if one.type not in _KINDS), None):
        raise DataError(
            f"{path.name}, column {one_line(odd.name)}: of the type {one_line(odd.type)}, which no import writes. "
            "Import the file that it was made from."
        )
    if len(schema) > _MOST_COLUMNS or len(set(schema.names)) < len(schema):
        raise ValueError(f"{len(schema):,} columns, {len(set(schema.names)):,} with a name of their own")
    most, cells = _most(path), told.num_rows * len(schema)
    if not 0 <= cells * _CELL <= most:
        raise _too_large(path, f"{told.num_rows:,} rows of {len(schema)} columns")
    unfolded, texts = 0, dict.fromkeys(schema.names, 0)
    for name, rows, chunk in _chunks(path, told):
        dictionary = 0
        for kind, size in _pages(path, chunk):
            unfolded += max(size, _PAGE)
            dictionary = max(dictionary, size if kind == _DICTIONARY else 0)
            if unfolded > most:
                raise _too_large(path, f"more than {most >> 20:,} MiB")
        texts[name] += rows * dictionary
    sure = sum(texts.values()) <= most
    return [] if sure else [name for name in schema.names if texts[name] and schema.field(name).type in _TEXTS]


def _chunks(path: Path, told: pq.FileMetaData) -> Iterator[tuple[str, int, dict[int, Any]]]:
    """Yield columns of each group of rows: name, rows, and where they lie. Raises ValueError where these are none."""
    with path.open("rb") as stream:
        stream.seek(-_END, os.SEEK_END)
        size = int.from_bytes(stream.read(4), "little")
        stream.seek(-_END - size, os.SEEK_END)
        groups = _Thrift(stream.read(size)).fields().get(_GROUPS, [])
    names = told.schema.names
    if told.num_row_groups != len(groups) or told.num_rows != sum(_whole(group, _ROWS) for group in groups):
        raise ValueError("its groups of rows are not those that it names")
    for group in groups:
        chunks = [chunk[_COLUMN] for chunk in group[_COLUMNS]]
        if [chunk[_PATH] for chunk in chunks] != [[name.encode()] for name in names]:
            raise ValueError("a group of rows has other columns")
        for name, chunk in zip(names, chunks):
            yield name, _whole(group, _ROWS), chunk


def _whole(fields: dict[int, Any], field: int, default: int | None = None) -> int:
    """Return a field that is a whole number. Raises ValueError where it is none."""
    value = fields.get(field, default)
    if type(value) is not int:
        raise ValueError("metadata without a number that they need")
    return value


def _unfolded(path: Path, table: pa.Table) -> pa.Table:
    """Write cells out that stand in dictionaries, once they are counted."""
    size, most = table.nbytes, _most(path)
    folded = [name for name in table.column_names if pa.types.is_dictionary(table.schema.field(name).type)]
    for name in folded:
        for chunk in table[name].chunks:
            lengths = pc.binary_length(chunk.dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
            places = chunk.indices.drop_null().to_numpy(zero_copy_only=False)
            size += int(np.bincount(places, minlength=len(lengths)) @ lengths)
    if size > most:
        raise _too_large(path, f"{size:,} bytes")
    for name in folded:
        plain = pa.chunked_array([one.dictionary_decode() for one in table[name].chunks], pa.string())
        table = table.set_column(table.column_names.index(name), name, plain)
    return table


_END = 8  # bytes behind the metadata: their length, and the letters PAR1
_GROUPS, _COLUMNS, _ROWS, _COLUMN, _PATH = 4, 1, 3, 3, 3  # fields of the metadata, of a group of rows, of its columns
_SIZE, _FIRST, _FIRST_DICTIONARY = 7, 9, 11  # fields of a column: packed bytes, and where its pages begin
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_KIND, _UNPACKED, _PACKED, _CHECKSUM = 1, 2, 3, 4  # fields of a page's header
_HEADER = 64 << 10  # bytes of a header at most: it may hold the lowest and the highest text of its page
_MOST_VALUES, _DEEPEST = 200_000, 8


def _pages(path: Path, chunk: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Yield kind and unpacked size of each page of a column's chunk. Raises ValueError where these are none."""
    starts = [start for start in (_whole(chunk, _FIRST_DICTIONARY, 0), _whole(chunk, _FIRST)) if start]
    place = min(starts, default=0)
    end = place + _whole(chunk, _SIZE)
    if not 4 <= place <= end <= path.stat().st_size:
        raise ValueError("columns beyond the end of the file")
    with path.open("rb") as stream:
        while place < end:
            stream.seek(place)
            header = _Thrift(stream.read(min(_HEADER, end - place)))
            found = header.fields()
            kind, size, packed = (_whole(found, name, -1) for name in (_KIND, _UNPACKED, _PACKED))
            if kind not in (_DATA, _DICTIONARY, _DATA_2) or min(size, packed) < 0 or _CHECKSUM not in found:
                raise ValueError("a page without its size or its checksum")
            yield kind, size
            place += header.place + packed


class _Thrift:
    """A structure in Thrift's compact protocol. Whatever is none raises ValueError or IndexError."""

    def __init__(self, content: bytes):
        self.content, self.place, self._left = content, 0, _MOST_VALUES

    def fields(self, depth: int = 0) -> dict[int, Any]:
        """Read a structure: its values by their fields."""
        found, field = dict[int, Any](), 0
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            field = field + step if step else self._number()
            found[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)  # truth stands in the kind itself
        return found

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ValueError("metadata of too many values, or that nest too deep")
        if kind in (1, 2, 3):
            return self._byte()
        if kind in (4, 5, 6):
            return self._number()
        if kind in (7, 8):
            return self._bytes(8 if kind == 7 else self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = self._unsigned() if head >> 4 == 15 else head >> 4
            return [self._value(head & 15, depth + 1) for _ in range(count)]
        if kind == 12:
            return self.fields(depth + 1)
        raise ValueError("metadata of another kind")

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _bytes(self, length: int) -> bytes:
        self.place += length
        return self.content[self.place - length : self.place]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) > 127:
            value, shift = value | (byte & 127) << shift, shift + 7
            if shift > 63:
                raise ValueError("a number without end")
        return value | byte << shift

    def _number(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
