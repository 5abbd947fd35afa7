"""Open a file as what it is: delimited text, JSON, what annotation tools export, or the sheets of a workbook."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

from evalkit import DataError
from evalkit.data import delimited, files
from evalkit.data.importing import rejected
from evalkit.data.importing.files import jsonl, nested, sheets, text
from evalkit.data.importing.files.rows import Source, headings
from evalkit.data.importing.kinds import annotation_tools, imported, loaded, pearmut
from evalkit.data.importing.options import Options

_REFUSED = {
    b"\x1f\x8b": "is compressed (gzip, perhaps a tar archive): unpack it, then import the files in it",
    b"BZh": "is compressed (bzip2): unpack it, then import the files in it",
    b"\xfd7zXZ": "is compressed (xz): unpack it, then import the files in it",
    b"%PDF": "is a PDF: export the table as CSV or XLSX",
    b"\x89PNG": "is a picture: export the table as CSV or XLSX",
}
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_INSIDE = re.compile(r"(?!\.|readme|licen[cs]e).+", re.IGNORECASE)  # what an archive holds besides such files


def opened(path: Path, options: Options) -> list[Source]:
    """Read one file into memory: one source, or one for each sheet of a workbook and each array of a JSON object.

    A folder is one of screens that Pearmut baked.

    Raises DataError where it is not there, may not be read, is empty or too large, or is no table of any kind.
    """
    if path.is_dir():
        return [pearmut.screens(path)]
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
    if content.startswith(b"PAR1"):
        return [imported.source(path, digest)]
    if content.startswith((b"PK", b"\xd0\xcf\x11\xe0")):
        return [rejected.of_design(sheet) for sheet in sheets.sources(path, digest, name=options.sheet)]
    if path.suffix.casefold() in (".jsonl", ".ndjson", ".json"):
        return _of_json(path, content, digest, options.sheet)
    found = text.source(path, content, digest, encoding=options.encoding)
    rejected.demand_none(found)
    return [rejected.of_design(_of_text(path, found))]


def _of_text(path: Path, found: Source) -> Source:
    """Take a table as it is or, where an annotation tool wrote JSON into its cells, as that tool's export."""
    (line, cells), *below = found.head or [(0, [])]
    if not annotation_tools.is_short_table(cells, (row for _, row in below)):
        return found
    table = found.read(headings(cells), line)
    objects = [
        (at, {name: cell for name, cell in zip(table.frame, row) if isinstance(cell, str)})
        for at, row in zip(table.frame.index, table.frame.itertuples(index=False, name=None))
    ]
    objects = [(int(at), dict.fromkeys(table.frame, "") | one) for at, one in objects]
    read = jsonl.Records(objects, table.broken, notes=[*found.notes, *table.notes])
    tool = annotation_tools.tool_of(objects)
    return jsonl.source(path, found.digest, read, annotation_tools.rows(tool, read)) if tool else found


def _of_json(path: Path, content: bytes, digest: str, name: str | None) -> list[Source]:
    """Take the arrays of a JSON file, each as what it is. name: of the one array that is wanted."""
    arrays = jsonl.records(path, content)
    if name is not None and name not in (titles := [read.title for read in arrays]):
        raise DataError(f"{path.name} has no array {name!r}; it has {', '.join(titles)}. Correct --sheet.")
    return [_laid_out(path, digest, read) for read in arrays if name in (None, read.title)]


def _laid_out(path: Path, digest: str, read: jsonl.Records) -> Source:
    """Lay objects out as a table: those of an annotation tool as its module does, others under dotted names."""
    first = [found for _, found in read.found]
    if any(map(pearmut.is_screen, first)):
        raise DataError(
            f"{path.name} is one screen of a site that Pearmut baked. Import its folder: evalkit import "
            f"{path.parent.name or '.'}"
        )
    if first and all(map(pearmut.is_log, first)):
        return pearmut.source(path, digest, read)
    if tool := annotation_tools.tool_of(read.found):
        return jsonl.source(path, digest, read, annotation_tools.rows(tool, read))
    read = nested.rows(read)
    return jsonl.source(path, digest, read, jsonl.flattened(path, read))


def _unpacked(path: Path) -> tuple[str, bytes] | None:
    """Return name and content of the one file in a tar archive, a table; None where it has others, or is none."""
    try:
        found = files.only(path, _INSIDE)
    except files.Damaged:
        return None
    return found if found and found[0].casefold().endswith((".tsv", ".csv", ".txt")) else None


def _packed(path: Path, content: bytes, name: str, text_in_it: bytes, options: Options) -> Source:
    """Take the one table of an archive, whose digest is the archive's."""
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    if not text_in_it:
        raise DataError(f"{path.name}: {name} in it is empty. Check that the export is complete.")
    found = text.source(path.with_name(name), text_in_it, digest, encoding=options.encoding)
    found.notes.append(f"{name} was read out of this archive")
    return rejected.of_design(replace(found, path=path, named=name))
