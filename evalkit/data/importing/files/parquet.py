"""Read the Parquet tables that imports write, within bounds: what a file claims, then what its pages would unfold to.

A cell may be stored once and meant a million times, so a small file can unfold to more than a machine holds. Metadata
are looked at first, then the headers of pages, which say what each unfolds to; cells that stand in a dictionary are
counted before they are written out.

Source: Apache Parquet, parquet.thrift (PageHeader), and Thrift's compact protocol.
"""

from collections.abc import Iterator
from pathlib import Path

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
            stream.seek(max(path.stat().st_size - 8, 0))
            end = stream.read(8)
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
    for name, rows, chunk in _chunks(told):
        dictionary = 0
        for kind, size in _pages(path, chunk):
            unfolded += max(size, _PAGE)
            dictionary = max(dictionary, size if kind == _DICTIONARY else 0)
            if unfolded > most:
                raise _too_large(path, f"more than {most >> 20:,} MiB")
        texts[name] += rows * dictionary
    sure = sum(texts.values()) <= most
    return [] if sure else [name for name in schema.names if texts[name] and schema.field(name).type in _TEXTS]


def _chunks(told: pq.FileMetaData) -> Iterator[tuple[str, int, pq.ColumnChunkMetaData]]:
    """Yield the columns of each group of rows: name, rows, and where they lie."""
    for number in range(told.num_row_groups):
        group = told.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            yield chunk.path_in_schema, group.num_rows, chunk


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


_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_KIND, _UNPACKED, _PACKED, _CHECKSUM = 1, 2, 3, 4  # fields of a page's header
_HEADER = 64 << 10  # bytes of a header at most: it may hold the lowest and the highest text of its page


def _pages(path: Path, chunk: pq.ColumnChunkMetaData) -> Iterator[tuple[int, int]]:
    """Yield kind and unpacked size of each page of a column's chunk. Raises ValueError where these are none."""
    starts = [start for start in (chunk.dictionary_page_offset, chunk.data_page_offset) if start]
    place = min(starts, default=0)
    end = place + chunk.total_compressed_size
    if not 4 <= place <= end <= path.stat().st_size:
        raise ValueError("columns beyond the end of the file")
    with path.open("rb") as stream:
        while place < end:
            stream.seek(place)
            header = _Header(stream.read(min(_HEADER, end - place)))
            found = header.fields()
            kind, size, packed = (found.get(name, -1) for name in (_KIND, _UNPACKED, _PACKED))
            if kind not in (_DATA, _DICTIONARY, _DATA_2) or min(size, packed) < 0 or _CHECKSUM not in found:
                raise ValueError("a page without its size or its checksum")
            yield kind, size
            place += header.place + packed


class _Header:
    """The header of a page in Thrift's compact protocol."""

    def __init__(self, content: bytes):
        self.content, self.place = content, 0

    def fields(self, depth: int = 0) -> dict[int, int]:
        """Read a structure's whole numbers by their fields; all else is passed over."""
        found, field = {}, 0
        if depth > 8:
            raise ValueError("a page's header that nests too deep")
        while kind := self._byte():
            step, kind = kind >> 4, kind & 15
            field = field + step if step else self._number()
            value = self._value(kind, depth)
            if value is not None:
                found[field] = value
        return found

    def _value(self, kind: int, depth: int) -> int | None:
        if kind in (4, 5, 6):
            return self._number()
        if kind == 8:
            length = self._unsigned()
            self.place += length
        elif kind == 12:
            self.fields(depth + 1)
        elif kind in (3, 7):
            self.place += 1 if kind == 3 else 8
        elif kind not in (1, 2):  # truth stands in the kind itself; a page's header has no lists or maps
            raise ValueError("a page's header of another kind")
        return None

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

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
