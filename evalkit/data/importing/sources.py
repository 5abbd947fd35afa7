"""Open a file as what it is: delimited text, JSON lines, or a sheet of a workbook."""

from pathlib import Path

from evalkit import DataError
from evalkit.data.importing.chunks import Source
from evalkit.data.importing.judgements import Options
from evalkit.data.importing.loaded import Whole, is_placed
from evalkit.data.importing.rejected import again
from evalkit.data.importing.text import Text

_REFUSED = {
    b"\x1f\x8b": "is compressed (gzip, perhaps a tar archive): unpack it, then import the files in it",
    b"BZh": "is compressed (bzip2): unpack it, then import the files in it",
    b"\xfd7zXZ": "is compressed (xz): unpack it, then import the files in it",
    b"\xd0\xcf\x11\xe0": "is an old spreadsheet (.xls) or one with a password: save it as .xlsx without one",
    b"PAR1": "is a Parquet table: open it as it is if an import wrote it, else write it as CSV",
    b"%PDF": "is a PDF: export the table as CSV or XLSX",
    b"\x89PNG": "is a picture: export the table as CSV or XLSX",
}


def opened(path: Path, options: Options) -> list[Source]:
    """Open one file for reading in chunks: one source, or one for each sheet of a workbook.

    Raises DataError where it is not there, may not be read, is empty, or is no table of any kind.
    """
    try:
        if not path.is_file():
            raise DataError(f"{path} is not there, or is no file. Check the path.")
        with path.open("rb") as stream:
            start = stream.read(8)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise DataError(f"{path} cannot be read: {reason}. Check the path and its permissions.") from problem
    if not start:
        raise DataError(f"{path.name} is empty. Check that the export is complete.")
    for sign, sentence in _REFUSED.items():
        if start.startswith(sign):
            raise DataError(f"{path.name} {sentence}.")
    if is_placed(path):
        return [Whole(path)]
    if start.startswith(b"PK"):
        from evalkit.data.importing.sheets import sheets

        return [again(sheet) for sheet in sheets(path, name=options.sheet)]
    if path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        from evalkit.data.importing.jsonl import Lines

        return [Lines(path)]
    delimiter = "\t" if path.suffix.casefold() == ".tsv" else None
    return [again(Text(path, encoding=options.encoding, delimiter=delimiter))]
