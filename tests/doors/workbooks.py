"""Workbooks, spoilt: XLSX and ODS by their zip archive, parts and XML, XLS by its records, and what unfolds too far."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from tests.doors.lines import judgements, opened

Rows = list[list[str | float]]
HEAD = ["system", "doc", "segment", "annotator", "score", "lp"]
_NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_LIST = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml."
SHEET = "xl/worksheets/sheet1.xml"


def letters(place: int) -> str:
    """Name a column, from 0."""
    return (letters(place // 26 - 1) if place > 25 else "") + chr(65 + place % 26)


def xlsx(rows: Rows, *, shared: bool = False) -> dict[str, bytes]:
    """Write the parts of a workbook. shared: texts stand in a part of their own."""
    texts: dict[str, int] = {}

    def cell(line: int, place: int, value: str | float) -> str:
        at = f'r="{letters(place)}{line}"'
        if not isinstance(value, str):
            return f"<c {at}><v>{value:g}</v></c>"
        if shared:
            return f'<c {at} t="s"><v>{texts.setdefault(value, len(texts))}</v></c>'
        return f'<c {at} t="inlineStr"><is><t>{escape(value)}</t></is></c>'

    body = "".join(
        f'<row r="{line}">{"".join(cell(line, place, value) for place, value in enumerate(cells))}</row>'
        for line, cells in enumerate(rows, 1)
    )
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/xl/workbook.xml" ContentType="{_TYPE}sheet.main+xml"/></Types>',
        "_rels/.rels": f'{_LIST}<Relationship Id="rId1" Type="{_REL}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook {_NS} xmlns:r="{_REL}"><sheets><sheet name="Scores" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{_LIST}<Relationship Id="rId1" Type="{_REL}/worksheet" '
        'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" '
        f'Type="{_REL}/styles" Target="styles.xml"/><Relationship Id="rId3" Type="{_REL}/sharedStrings" '
        'Target="sharedStrings.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet {_NS}><cellXfs><xf numFmtId="0"/><xf numFmtId="9"/></cellXfs></styleSheet>',
        SHEET: f"<worksheet {_NS}><sheetData>{body}</sheetData></worksheet>",
    }
    if shared:
        inside = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        parts["xl/sharedStrings.xml"] = f"<sst {_NS}>{inside}</sst>"
    return {name: text.encode() for name, text in parts.items()}


def ods(rows: Rows) -> dict[str, bytes]:
    """Write the parts of an OpenDocument spreadsheet."""
    names = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "table", "text", "style"))

    def cell(value: str | float) -> str:
        kind = 'string"' if isinstance(value, str) else f'float" office:value="{value:g}"'
        return f'<table:table-cell office:value-type="{kind}><text:p>{escape(str(value))}</text:p></table:table-cell>'

    body = "".join(f"<table:table-row>{''.join(map(cell, cells))}</table:table-row>" for cells in rows)
    content = (
        f"<office:document-content {names}><office:body><office:spreadsheet><table:table table:name='Scores'>{body}"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    return {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": content.encode(),
        "META-INF/manifest.xml": b"<manifest/>",
    }


def zipped(parts: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pack parts into an archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


def record(kind: int, body: bytes = b"") -> bytes:
    """Write a record of an old workbook."""
    return struct.pack("<HH", kind, len(body)) + body


def xls(rows: Rows, rng: np.random.Generator) -> bytes:
    """Write an old workbook's stream: one sheet; texts in cells, or shared."""
    shared: dict[str, int] = {}
    body = b""
    for line, cells in enumerate(rows):
        for place, value in enumerate(cells):
            at = struct.pack("<HHH", line, place, 0)
            if not isinstance(value, str):
                body += record(0x0203, at + struct.pack("<d", value))
            elif rng.random() < 0.5:
                body += record(0x00FD, at + struct.pack("<I", shared.setdefault(value, len(shared))))
            else:
                body += record(0x0204, at + struct.pack("<HB", len(value), 1) + value.encode("utf-16-le"))
    start = [record(0x0809, struct.pack("<HHHHII", 0x0600, kind, 0, 0, 0, 0)) for kind in (0x0005, 0x0010)]
    texts = b"".join(struct.pack("<HB", len(text), 1) + text.encode("utf-16-le") for text in shared)
    texts = record(0x00FC, struct.pack("<II", len(shared), len(shared)) + texts) if shared else b""
    style = record(0x00E0, bytes(20))
    size = len(start[0]) + len(style) + len(texts) + 4 + 8 + 6 + 4
    named = record(0x0085, struct.pack("<IBBBB", size, 0, 0, 6, 0) + b"Scores")
    return start[0] + style + named + texts + record(0x000A) + start[1] + body + record(0x000A)


def compound(stream: bytes) -> bytes:
    """Put an old workbook's stream into a compound file, in sectors of 512 bytes."""
    stream = stream.ljust(4096, b"\0")
    data = -(-len(stream) // 512)
    tables = next(number for number in range(1, 99) if 128 * number >= 1 + number + data)
    chain = [0xFFFFFFFE, *([0xFFFFFFFD] * tables), *range(tables + 2, tables + 1 + data), 0xFFFFFFFE]
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(512 * tables, b"\xff")
    heads = [*range(1, tables + 1)] + [0xFFFFFFFF] * (109 - tables)
    header = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
        + bytes(16)
        + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
        + struct.pack("<9I", 0, tables, 0, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
        + struct.pack("<109I", *heads)
    )
    directory = b""
    for title, kind, first, size in (("Root Entry", 5, 0xFFFFFFFE, 0), ("Workbook", 2, tables + 1, len(stream))):
        name = title.encode("utf-16-le") + b"\0\0"
        below = 1 if kind == 5 else 0xFFFFFFFF
        directory += name.ljust(64, b"\0") + struct.pack("<HBBIII", len(name), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, below)
        directory += bytes(36) + struct.pack("<IQ", first, size)
    return header + directory.ljust(512, b"\0") + table + stream.ljust(512 * data, b"\0")


TAGS = (
    b"<f>1</f>",
    b'<c r="XFD1048576"><v>1</v></c>',
    b"<v>",
    b"</c>",
    b"</row>",
    b' t="s"',
    b' t="e"',
    b' t="b"',
    b' s="1"',
    b"99999999",
    b"-1",
    b"<row/>",
    b"&x;",
    b"&#0;",
    b"&#xD800;",
    b"\0",
    b"\xff",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b'<!DOCTYPE a [<!ENTITY a "b">]>',
    b"<?xml version='1.0' encoding='utf-16'?>",
    b"<c/>",
    b"<c><v>1</v></c>" * 99,
    b'"',
    b"'",
    b"<",
    b">",
    b"/",
    b' r="A1"',
    b"<a>" * 300,
    b'<mergeCell ref="A1:XFD1048576"/>',
    b" " * 999,
    b"1e999",
    b"NaN",
    b"<is><t>x</t></is>",
    b'<sheet name="x" sheetId="9" r:id="rId1"/>',
    b"../../x",
    b"#N/A",
    b"<v>0</v>",
    b"\xed\xa0\x80",
    b'<table:table-row table:number-rows-repeated="9999"/>',
    b' table:number-columns-repeated="16384"',
    b"<text:p>",
    b' table:number-rows-spanned="1048576"',
    b"</table:table>",
    b'<text:s text:c="999999999"/>',
    b"xmlns:x='y'",
)


OTHERS = (
    "xl/externalLinks/externalLink1.xml",
    "xl/vbaProject.bin",
    "xl/media/a.png",
    "xl/SharedStrings.xml",
    "xl/workbook.bin",
    "content.xml",
    "xl/worksheets/sheet2.xml",
    "EncryptedPackage",
)


def _inside(parts: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Put a piece of XML, or none, in place of some letters of a part."""
    for _ in range(rng.integers(1, 4)):
        name = (
            sorted(parts)[rng.integers(len(parts))]
            if rng.random() < 0.5
            else max(parts, key=lambda one: len(parts[one]))
        )
        content, tag = parts[name], TAGS[rng.integers(len(TAGS))]
        edges = [place for place in range(len(content)) if content[place : place + 1] in (b"<", b">", b" ")] or [0]
        place = int(edges[rng.integers(len(edges))] if rng.random() < 0.7 else rng.integers(len(content) + 1))
        parts[name] = content[:place] + tag + content[place + int(rng.integers(0, 3) * rng.integers(0, 20)) :]
    return zipped(parts)


def _parts(parts: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Lose a part, give it another name, add one of another kind, or make one huge."""
    name, way = sorted(parts)[rng.integers(len(parts))], rng.integers(6)
    if way == 0:
        del parts[name]
    elif way == 1:
        names = ["xl/x.xml", name.upper(), "/" + name, "../" + name, name.replace("/", "\\"), "\u202e", "a" * 9999]
        parts[names[rng.integers(len(names))]] = parts.pop(name)
    elif way == 2:
        parts[name] = parts[name][: rng.integers(len(parts[name]) + 1)]
    elif way == 3:
        other = OTHERS[rng.integers(len(OTHERS))]
        parts[other] = (b"", b"<x/>", parts[name], rng.bytes(99))[rng.integers(4)]
    elif way == 4:
        place = parts[name].find(b">") + 1
        piece = (b"<x/>", b'<xf numFmtId="9"/>', b"<sheet ", b"<si><t>a</t></si>", b" ")[rng.integers(5)]
        parts[name] = parts[name][:place] + piece * int(rng.integers(1, 200_000)) + parts[name][place:]
    else:
        parts[name] = parts[name].decode("utf-8", "replace").encode(("utf-16", "utf-8-sig", "cp037")[rng.integers(3)])
    return zipped(parts)


def _archive(parts: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Spoil the archive: bytes, lies about sizes, entries twice or over one another, something before or behind it."""
    kinds = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    content = bytearray(zipped(parts, kinds[rng.choice(4, p=(0.6, 0.2, 0.1, 0.1))]))
    way, entries = rng.integers(6), [place for place in range(len(content)) if content.startswith(b"PK\1\2", place)]
    place = int(entries[rng.integers(len(entries))])
    if way == 0:
        for _ in range(rng.integers(1, 5)):
            content[rng.integers(len(content))] = rng.integers(256)
    elif way == 1:  # checksum, sizes, flags, or where the part begins
        at = place + (8, 10, 16, 20, 24, 28, 42)[rng.integers(7)]
        content[at : at + 4] = struct.pack("<I", (0, 1, 2**31, 2**32 - 1, int(rng.integers(9999)))[rng.integers(5)])
    elif way == 2:  # begins where another does
        other = int(entries[rng.integers(len(entries))])
        content[place + 42 : place + 46] = content[other + 42 : other + 46]
    elif way == 3:
        content = bytearray(rng.bytes(int(rng.integers(1, 99)))) + content
    elif way == 4:
        content += (bytes(content), b"\0" * 99, bytes(content[-22:]), b"PK\5\6" + bytes(18))[rng.integers(4)]
    else:
        content = content[: rng.integers(len(content) + 1)]
    return bytes(content)


def _merged(parts: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Merge cells, over one another and far beyond the table."""
    cells = [
        f"{letters(int(rng.integers(0, 8)))}{rng.integers(1, 30)}:{letters(int(rng.integers(0, 9)))}"
        f"{(30, 1048576)[rng.integers(2)]}"
        for _ in range(rng.integers(1, 300))
    ]
    inside = "".join(f'<mergeCell ref="{one}"/>' for one in cells).encode()
    parts[SHEET] = parts[SHEET].replace(b"</sheetData>", b"</sheetData><mergeCells>" + inside + b"</mergeCells>")
    return zipped(parts)


def _spanning(parts: dict[str, bytes], rng: np.random.Generator) -> bytes:
    """Let a few cells span a sheet, or repeat some."""
    rows = [
        f'<row r="{row}"><c r="{letters(int(rng.integers(0, 17_000)))}{row}"><v>1</v></c></row>'
        for row in sorted(rng.integers(50, 1_100_000, size=3))
    ]
    some = (
        "".join(rows),
        "<row>" + "<c><v>1</v></c>" * int(rng.integers(1, 9000)) + "</row>",
        "<row><c><v>1</v></c></row>" * int(rng.integers(1, 2000)),
    )[rng.integers(3)]
    if SHEET in parts:
        parts[SHEET] = parts[SHEET].replace(b"</sheetData>", some.encode() + b"</sheetData>")
    again = f' table:number-rows-repeated="{rng.integers(1, 1_100_000)}"'.encode()
    return zipped(
        {
            name: content.replace(b"<table:table-row", b"<table:table-row" + again, 1)
            if name == "content.xml"
            else content
            for name, content in parts.items()
        }
    )


_OF_ZIPS: tuple[Callable, ...] = (_inside, _inside, _inside, _parts, _archive)
_OF_XLSX = (*_OF_ZIPS, _merged, _spanning)


def _of_xls(stream: bytes, rng: np.random.Generator) -> bytes:
    """Spoil records, or the file around them."""
    found, way = bytearray(stream), rng.integers(5)
    if way < 2:
        for _ in range(rng.integers(1, 6)):
            found[rng.integers(len(found))] = rng.integers(256)
    elif way == 2:
        place = int(rng.integers(len(found)))
        kinds = (0x0085, 0x00FC, 0x00FD, 0x0200, 0x0809, 0x000A, 0x002F, 0x00BD, 0x0006, 0x003C, 0x041E)
        found[place:place] = record(kinds[rng.integers(len(kinds))], rng.bytes(int(rng.integers(0, 40))))
    whole = bytearray(compound(bytes(found)))
    if way == 3:
        for _ in range(rng.integers(1, 4)):
            whole[rng.integers(min(len(whole), 1600))] = rng.integers(256)
    return bytes(whole[: rng.integers(len(whole))] if way == 4 else whole)


def attempt(seed: int, folder: Path) -> str:
    """Import the workbook of a seed; one that is not spoilt comes in as it was written."""
    rng = np.random.default_rng(seed)
    judged, sound, whole = judgements(rng), rng.random() < 0.15, False
    rows: Rows = [[*HEAD], *([s, "d", g, a, score, "en-de"] for (s, g, a), score in judged.items())]
    kind = ("xlsx", "xlsx", "ods", "xls")[rng.integers(4)]
    if kind == "xls":
        stream = xls(rows, rng)
        content = compound(stream) if sound else _of_xls(stream, rng)
    else:
        parts = xlsx(rows, shared=bool(rng.integers(2))) if kind == "xlsx" else ods(rows)
        ways = _OF_XLSX if kind == "xlsx" else (*_OF_ZIPS, _spanning) if kind == "ods" else ()
        way = ways[rng.integers(len(ways))]
        whole = way is _archive  # whose checksums keep each part as it was
        content = zipped(parts) if sound else way(parts, rng)
    return opened(
        folder, f"my.{kind}", content, judged if sound else None, held=judged if whole else None, scale=(0, 100)
    )
