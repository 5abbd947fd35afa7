"""Workbooks made by hand: XLSX by its parts, OpenDocument and the old binary kind byte by byte from their descriptions."""

import io
import struct
import tarfile
import zipfile
from xml.sax.saxutils import quoteattr

import openpyxl

HEAD = ["system", "segment", "rater", "score", "lp"]


def book(**sheets):
    """Make a workbook of sheets, each a list of rows."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    return workbook


def saved(workbook):
    """Return the bytes of a workbook."""
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


def parts_of(content):
    """Unpack an archive: its parts by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts):
    """Pack parts into an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def tarred(path, files, mode="w:gz"):
    """Write a packed archive of files, each a text or bytes; return its path."""
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


# OpenDocument

_NAMES = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "table", "text", "style", "calcext"))
_STYLES = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'


def cell(value, **more):
    """Write a cell: a number, a text, a percentage (like "85%"), nothing, or XML as it is."""
    told = "".join(f" {name.replace('__', ':').replace('_', '-')}={quoteattr(str(one))}" for name, one in more.items())
    if value is None:
        return f"<table:table-cell{told}/>"
    if isinstance(value, str) and value.startswith("<"):
        return value
    kind, number = "string", ""
    if isinstance(value, int | float):
        kind, number, value = "float", f' office:value="{value}"', "as it is shown"
    elif value.endswith("%"):
        kind, number = "percentage", f' office:value="{float(value[:-1]) / 100}"'
    text = f"<text:p>{value}</text:p></table:table-cell>"
    return f'<table:table-cell office:value-type="{kind}"{number}{told}>{text}'


def row(*cells, again=1):
    """Write a row, once or repeated."""
    repeated = f' table:number-rows-repeated="{again}"' if again > 1 else ""
    return f"<table:table-row{repeated}>{''.join(map(cell, cells))}</table:table-row>"


def ods(manifest="<manifest/>", **sheets):
    """Write an OpenDocument spreadsheet; a sheet whose title begins with Hidden is hidden."""
    body = "".join(
        f'<table:table table:name="{title}" table:style-name="{"ta2" if title.startswith("Hidden") else "ta1"}">'
        f"{''.join(rows)}</table:table>"
        for title, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0"?><office:document-content {_NAMES}><office:automatic-styles>{_STYLES}'
        f"</office:automatic-styles><office:body>{body}</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


# Old binary workbooks


def record(kind, body=b""):
    """Write a record."""
    return struct.pack("<HH", kind, len(body)) + body


def number(at, column, value, style=0):
    """Write a cell that holds a number."""
    return record(0x0203, struct.pack("<HHHd", at, column, style, value))


def _cells(at, cells):
    """Write the cells of a row: texts, numbers, pairs of a number and its style, records as they are."""
    found = b""
    for column, value in enumerate(cells):
        if isinstance(value, bytes):
            found += value
        elif isinstance(value, str):
            flag, letters = (0, value.encode("latin-1")) if value.isascii() else (1, value.encode("utf-16-le"))
            found += record(0x0204, struct.pack("<HHHHB", at, column, 0, len(value), flag) + letters)
        elif value is not None:
            found += number(at, column, *(value if isinstance(value, tuple) else (value,)))
    return found


_BOF = {kind: record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0)) for kind in (0x0005, 0x0010)}
_END = record(0x000A)
#: Styles 0 to 2: General, 0 %, and a percentage of one's own making.
_LOOKS = record(0x041E, struct.pack("<HHB", 170, 6, 0) + b"0.000%") + b"".join(
    record(0x00E0, struct.pack("<HH", 0, code) + bytes(16)) for code in (0, 9, 170)
)


def old_book(extra=b"", **sheets):
    """Write an old workbook's stream; a sheet whose title begins with Hidden is hidden."""
    bodies = [
        _BOF[0x0010] + b"".join(_cells(at, row) for at, row in enumerate(rows)) + _END for rows in sheets.values()
    ]

    def start(places):
        named = b"".join(
            record(0x0085, struct.pack("<IBBBB", place, title.startswith("Hidden"), 0, len(title), 0) + title.encode())
            for place, title in zip(places, sheets)
        )
        return _BOF[0x0005] + extra + _LOOKS + named + _END

    place, places = len(start([0] * len(sheets))), []
    for body in bodies:
        places.append(place)
        place += len(body)
    return start(places) + b"".join(bodies)


def compound(stream, name="Workbook"):
    """Put a stream into a compound file, in sectors of 512 bytes."""
    stream = stream.ljust(4096, b"\0")  # shorter ones would go elsewhere
    data = -(-len(stream) // 512)
    tables = next(count for count in range(1, 99) if 128 * count >= 1 + count + data)
    chain = [0xFFFFFFFE, *([0xFFFFFFFD] * tables), *range(tables + 2, tables + 1 + data), 0xFFFFFFFE]
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512 * tables, b"\xff")
    heads = [*range(1, tables + 1)] + [0xFFFFFFFF] * (109 - tables)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<9I", 0, tables, 0, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0) + struct.pack("<109I", *heads)
    directory = b""
    for title, kind, first, size in (("Root Entry", 5, 0xFFFFFFFE, 0), (name, 2, tables + 1, len(stream))):
        letters = title.encode("utf-16-le") + b"\0\0"
        below = 1 if kind == 5 else 0xFFFFFFFF
        directory += letters.ljust(64, b"\0")
        directory += struct.pack("<HBBIII", len(letters), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, below)
        directory += bytes(36) + struct.pack("<IQ", first, size)
    return header + directory.ljust(512, b"\0") + table + stream.ljust(512 * data, b"\0")
