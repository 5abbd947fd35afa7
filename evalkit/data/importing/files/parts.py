"""The parts of a workbook that is a zip archive: unfolded once and measured before anything reads them.

What an entry claims is held against what its bytes unfold to. A few kilobytes can unfold to gigabytes, so there is a
bound on how many times its own size an archive may unfold to, and each of its parts: noise beside one excuses nothing.
"""

import struct
import zipfile
import zlib

from evalkit import DataError

#: Bytes that everything, and each part, may unfold to: always the first; beyond that so many times what it is packed
#: in, to the last at most. Sheets of real campaigns unfold to ten or twenty times their size.
_ALWAYS, _TIMES, _MOST_BYTES = 8 << 20, 100, 1 << 30
_MOST_TEXTS = 256 << 20  # of the texts that cells share, which are held in memory
_MOST_PART = 32 << 20  # of what is read as a whole: lists of sheets, styles and parts
_MOST_FILES = 10_000
_PIECE = 1 << 18
_LOCAL = struct.Struct("<4s22xHH")  # of an entry's own header: sign, length of its name, and of what follows that


def demand_sane(origin: str, content: bytes, archive: zipfile.ZipFile) -> None:
    """Refuse archives that are no workbooks, made to burst, or damaged, before anything of them is parsed.

    Raises DataError, or ValueError where the archive says one thing in one place and another elsewhere.
    """
    parts = archive.infolist()
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names and not is_ods(archive):
        what = (
            "a binary workbook (.xlsb): save it as .xlsx"
            if any(name.endswith("workbook.bin") for name in names)
            else "a zip archive, not a workbook: unpack it, then import the files in it"
        )
        raise DataError(f"{origin} is {what}.")
    total = sum(part.file_size for part in parts)
    most = min(max(_ALWAYS, _TIMES * len(content)), _MOST_BYTES)
    shared = sum(part.file_size for part in parts if "sharedstrings" in part.filename.casefold())
    whole = max((part.file_size for part in parts if _is_list(part.filename)), default=0)
    burst = any(part.file_size > max(_ALWAYS, _TIMES * part.compress_size) for part in parts)
    if len(parts) > _MOST_FILES or total > most or burst or shared > _MOST_TEXTS or whole > _MOST_PART:
        raise DataError(
            f"{origin} would unpack to {total:,} bytes in {len(parts):,} parts, more than a campaign needs. Do not "
            "trust this file; if it is yours, save the sheet as CSV."
        )
    if len({part.filename.replace("\\", "/").casefold() for part in parts}) < len(parts):
        raise ValueError("two parts of one name")
    end = 0
    for part in sorted(parts, key=lambda one: one.header_offset):
        if part.header_offset < end:
            raise ValueError("parts that lie over one another")
        end = _measured(origin, content, part)


def is_ods(archive: zipfile.ZipFile) -> bool:
    """Tell an OpenDocument spreadsheet."""
    names = archive.namelist()
    return "xl/workbook.xml" not in names and "content.xml" in names


def _is_list(name: str) -> bool:
    """Tell the parts that list others, and styles, by their places: read as a whole, here or by calamine."""
    place = name.replace("\\", "/").casefold().lstrip("/")
    return place.endswith((".rels", "[content_types].xml", "manifest.xml")) or (
        place.startswith("xl/") and place.count("/") == 1 and "sharedstrings" not in place
    )


def _measured(origin: str, content: bytes, part: zipfile.ZipInfo) -> int:
    """Unfold a part without keeping it; return where it ends. Raises where it is not what its entry claims."""
    sign, name, extra = _LOCAL.unpack_from(content, part.header_offset)
    start = part.header_offset + _LOCAL.size + name + extra
    packed = memoryview(content)[start : start + part.compress_size]
    if sign != b"PK\3\4" or part.flag_bits & 1 or len(packed) < part.compress_size:
        raise ValueError("a part that is not there, or has a password")
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("a part that is packed in no usual way")
    size, check = (len(packed), zlib.crc32(packed)) if not part.compress_type else _inflated(packed, part.file_size)
    if (size, check) != (part.file_size, part.CRC):
        raise DataError(f"{origin} is a damaged archive: {part.filename[:80]!r} is not whole. Save it again.")
    return start + part.compress_size


def _inflated(packed: memoryview, most: int) -> tuple[int, int]:
    """Return size and checksum of what was packed; a size above ``most`` where there is more, or no end."""
    stream, size, check = zlib.decompressobj(-15), 0, 0
    for place in range(0, len(packed), _PIECE):
        rest: bytes | memoryview = packed[place : place + _PIECE]
        while rest and size <= most:
            piece = stream.decompress(rest, _PIECE)
            size, check, rest = size + len(piece), zlib.crc32(piece, check), stream.unconsumed_tail
    while size <= most and (piece := stream.decompress(b"", _PIECE)):
        size, check = size + len(piece), zlib.crc32(piece, check)
    return (size if stream.eof and not stream.unused_data else most + 1), check
