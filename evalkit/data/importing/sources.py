"""Open a file as what it is: delimited text, JSON lines, or the sheets of a workbook."""

import hashlib
from pathlib import Path

from evalkit import DataError
from evalkit.data import delimited
from evalkit.data.importing import imported, jsonl, loaded, rejected, sheets, text
from evalkit.data.importing.options import Options
from evalkit.data.importing.rows import Source

_REFUSED = {
    b"\x1f\x8b": "is compressed (gzip, perhaps a tar archive): unpack it, then import the files in it",
    b"BZh": "is compressed (bzip2): unpack it, then import the files in it",
    b"\xfd7zXZ": "is compressed (xz): unpack it, then import the files in it",
    b"\xd0\xcf\x11\xe0": "is an old spreadsheet (.xls) or one with a password: save it as .xlsx without one",
    b"%PDF": "is a PDF: export the table as CSV or XLSX",
    b"\x89PNG": "is a picture: export the table as CSV or XLSX",
}


def opened(path: Path, options: Options) -> list[Source]:
    """Read one file into memory: one source, or one for each sheet of a workbook.

    Raises DataError where it is not there, may not be read, is empty or too large, or is no table of any kind.
    """
    if not path.is_file():
        raise DataError(f"{path} is not there, or is no file. Check the path.")
    content = delimited.content(path)
    if not content:
        raise DataError(f"{path.name} is empty. Check that the export is complete.")
    for sign, sentence in _REFUSED.items():
        if content.startswith(sign):
            raise DataError(f"{path.name} {sentence}.")
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if loaded.is_placed(path):
        return [loaded.source(path, digest)]
    if content.startswith(b"PAR1"):
        return [imported.source(path, digest)]
    if content.startswith(b"PK"):
        return [rejected.again(sheet) for sheet in sheets.sources(path, content, digest, name=options.sheet)]
    if path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        return [jsonl.source(path, content, digest)]
    return [rejected.again(text.source(path, content, digest, encoding=options.encoding))]
