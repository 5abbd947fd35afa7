"""Open a file as what it is: delimited text, JSON lines, or the sheets of a workbook."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from evalkit import DataError
from evalkit.data import archives, delimited
from evalkit.data.importing import jsonl, loaded, rejected, sheets, text
from evalkit.data.importing.options import Options
from evalkit.data.importing.rows import Source

_REFUSED = {
    b"\x1f\x8b": "is compressed (gzip, perhaps a tar archive): unpack it, then import the files in it",
    b"BZh": "is compressed (bzip2): unpack it, then import the files in it",
    b"\xfd7zXZ": "is compressed (xz): unpack it, then import the files in it",
    b"\xd0\xcf\x11\xe0": "is an old spreadsheet (.xls) or one with a password: save it as .xlsx without one",
    b"PAR1": "is a Parquet table: open it as it is if an import wrote it, else write it as CSV",
    b"%PDF": "is a PDF: export the table as CSV or XLSX",
    b"\x89PNG": "is a picture: export the table as CSV or XLSX",
}
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_INSIDE = re.compile(r"(?!\.|readme|licen[cs]e).+", re.IGNORECASE)  # what an archive holds besides such files


def opened(path: Path, options: Options) -> list[Source]:
    """Read one file into memory: one source, or one for each sheet of a workbook.

    Raises DataError where it is not there, may not be read, is empty or too large, or is no table of any kind.
    """
    if not path.is_file():
        raise DataError(f"{path} is not there, or is no file. Check the path.")
    content = delimited.content(path)
    if not content:
        raise DataError(f"{path.name} is empty. Check that the export is complete.")
    if content.startswith(_PACKED) and (inside := _unpacked(path)):
        return [_packed(path, content, *inside, options)]
    for sign, sentence in _REFUSED.items():
        if content.startswith(sign):
            raise DataError(f"{path.name} {sentence}.")
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if loaded.is_placed(path):
        return [loaded.source(path, digest)]
    if content.startswith(b"PK"):
        return [rejected.again(sheet) for sheet in sheets.sources(path, content, digest, name=options.sheet)]
    if path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        return [jsonl.source(path, content, digest)]
    return [rejected.again(text.source(path, content, digest, encoding=options.encoding))]


def _unpacked(path: Path) -> tuple[str, bytes] | None:
    """Return name and content of the one file in a tar archive, a table; None where it has others, or is none."""
    try:
        found = archives.only(path, _INSIDE)
    except archives.Damaged:
        return None
    return found if found and found[0].casefold().endswith((".tsv", ".csv", ".txt")) else None


def _packed(path: Path, content: bytes, name: str, text_in_it: bytes, options: Options) -> Source:
    """Take the one table of an archive, whose digest is the archive's."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if not text_in_it:
        raise DataError(f"{path.name}: {name} in it is empty. Check that the export is complete.")
    found = text.source(path.with_name(name), text_in_it, digest, encoding=options.encoding)
    found.notes.append(f"{name} was read out of this archive")
    return rejected.again(replace(found, path=path, named=name))
