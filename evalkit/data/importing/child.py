"""What runs behind the wall: parse one file after the other. It imports nothing of ours, and is run as a script.

Delimited text of any encoding is read here, and what is no row is told with its line; so are JSON and Parquet.

Each line of standard input is a request: kind, path, the folder for what is found, and what else must be known.
``done`` is written last; it holds what is wrong with the file, or nothing.
"""

import codecs
import csv
import json
import os
import re
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from itertools import count, islice, pairwise


def beside(name):
    """Import a module of this folder by its file: on the path, its other modules would hide the library's."""
    spec = spec_from_file_location(name, os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py"))
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sheets = beside("child_sheets")
Refused = sheets.Refused

# Delimited text

csv.field_size_limit(1 << 26)
HEAD, START = 50, 1 << 20  # rows, and bytes, by which a format is told
MOST_COLUMNS = 2_000  # more of them are no table
LONGEST = 8 << 20  # bytes of one line
MOST_BROKEN = 200_000  # more rows that cannot be cut into columns are another kind of file
MOST_LINES, MOST_FAILURES = 200, 200  # lines of a cell in quotes; quotes that turned out not to close
SLICE = 50_000  # rows that are turned into columns at a time, so that single cells take little memory
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
WORD = re.compile(rb'"[^"\n]*"|[^\s"]+')  # what stands in quotes is one
END = re.compile(rb"\r\n|\n|\r")
DELIMITERS = "\t,;|"
#: How tables begin that this suite writes: commas cut them.
OWN = ("kind,file,line,column,", "item,annotator,")


# Encodings

MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Codecs of names and of source code, which turn text into other text, or nothing into anything.
NO_FILES = {"undefined", "punycode", "idna", "unicode-escape", "raw-unicode-escape", "mbcs", "oem", "charmap"}
SAMPLE = 1 << 18  # bytes by which an encoding is told
#: Encodings that exports come in besides Unicode; others are read where the user names them.
LEGACY = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
#: Letters that are common in the languages of encodings which are easily taken for each other.
LETTERS = {
    "cp1252": "àâäçèéêëîïñôöøåæùûüßÄÖÜÉÀÅØ«»áíóúãõìòœ",
    "cp1250": "áčďéěíňóřšťúůýžąćęłńśźżőűăäöüßČŘŠŽŁ",
    "cp1254": "çğıİöşüŞâî",
}


def decoded(content, told):
    """Return the encoding of a text and the text in UTF-8, without a byte order mark; told: the user's, or None."""
    if told:
        try:
            codec = codecs.lookup(told)
            known = codec._is_text_encoding and codec.name.replace("_", "-") not in NO_FILES
        except (LookupError, ValueError):  # whatever else stands in the name, such as a zero
            known = False
        if not known:
            raise Refused(f"is said to be in {told[:40]!r}, which is no encoding of files (--encoding)")
        return told, in_utf8(content, told)
    marked = next((name for mark, name in MARKS.items() if content.startswith(mark)), None)
    try:
        content.decode()
        odd = None
    except UnicodeDecodeError as problem:
        odd = problem.start
    if marked and (odd is None or marked != "utf-8-sig"):
        return marked, in_utf8(content, marked)
    if b"\0" not in content and odd is None:
        return "utf-8", content
    name = without_mark(content[:SAMPLE]) if b"\0" in content else legacy(content, odd)
    return name, in_utf8(content, name)


def in_utf8(content, encoding):
    """Decode a whole file, which must hold no zero characters, and write it in UTF-8."""
    try:
        text = content.decode(encoding)
        text.encode()  # utf-7 may spell half of a surrogate pair, which is no letter
    except UnicodeError as problem:
        raise Refused(f"is not sound {encoding}: {getattr(problem, 'reason', None) or problem}") from problem
    if "\0" in text:
        raise Refused("holds zero characters, so it is no text")
    return text.encode()


def without_mark(sample):
    """Tell UTF-16 without a byte order mark by the zeros in its first line; other zeros belong to no text."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.3 * len(sample) / 2 and min(even, odd) < 0.05 * len(sample):
        return "utf-16-le" if odd > even else "utf-16-be"
    raise Refused("holds zero bytes, so it is no text")


def legacy(content, odd):
    """Tell the encodings from before Unicode apart by what they spell. odd: where the first byte is no UTF-8."""
    from charset_normalizer import from_bytes

    start = 0 if odd < SAMPLE else odd - 200  # a sample that tells something has the odd bytes in it
    sample = content[start : start + SAMPLE]
    whole = sample.rfind(b"\n") + 1
    lines = (sample[:whole] if whole else sample).split(b"\n")
    telling = b"\n".join(line for line in lines if not line.isascii()) or sample
    syllables = {name: kana(telling, name) for name in ("cp932", "euc_jp")}
    if max(syllables.values()) > 0.15:  # no other script gives Japanese syllables by chance
        return max(syllables, key=syllables.get)
    best = from_bytes(telling, cp_isolation=LEGACY, threshold=0.6).best()
    if best is None:
        raise Refused("is in an encoding that cannot be told")
    if best.encoding not in LETTERS:
        return best.encoding
    votes = {}
    for name, letters in LETTERS.items():  # they share most bytes: what each makes of the others tells
        text = telling.decode(name, "replace")
        votes[name] = sum(map(text.count, letters)) - 5 * text.count("\ufffd")
    return max(votes, key=votes.get)


def kana(sample, encoding):
    """Compute the share of Japanese syllables among a text's characters beyond ASCII; 0 where it does not decode."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:  # the sample may end within a character
        text = sample[:-1].decode(encoding, "ignore") if len(sample) == SAMPLE else ""
    letters = [letter for letter in text if letter > "\x7f"]
    return sum("\u3041" <= letter <= "\u30ff" for letter in letters) / max(len(letters), 1)


# The first rows, by which the parent tells headings and format


def head(path, folder, said):
    """Write the first rows with their lines, and how the text is encoded and cut."""
    with open(path, "rb") as stream:
        encoding, text = decoded(stream.read(), said["encoding"])
    if len(text) > LONGEST and max(map(len, text.split(b"\n"))) > LONGEST:
        raise Refused(f"has a line of more than {LONGEST >> 20} MiB, so it is no table")
    first = lines_of(start_of(text))
    blanks = by_blanks(first)
    if blanks:
        text = with_tabs(text)
        first = lines_of(start_of(text))
    delimiter = "\t" if said["tabs"] else delimiter_of(first)
    # a row's line is its last one here, because cells may span lines
    rows = []
    whole = True
    for _, end, cells, reason in records(first, 0, delimiter, None):
        whole &= not reason  # where a quote is cut off with the text, its further lines are no rows
        if not reason and (whole or not rows or len(cells) in {len(row) for _, row in rows}):
            rows.append((end, cells))
    usual = Counter(len(cells) for _, cells in rows).most_common(1)
    rows = [(end, cells) for end, cells in rows if not (usual and is_comment(cells, usual[0][0]))]
    last = text.rpartition(b"\n")[2]
    open_end = count_lines(text) + 1 if last.strip() and not last.endswith(b"\r") else 0
    found = {"encoding": encoding, "delimiter": delimiter, "blanks": blanks, "rows": rows[:HEAD], "open": open_end}
    KEPT.clear()
    KEPT[path] = text
    with open(os.path.join(folder, "head"), "w", encoding="utf-8", errors="surrogatepass") as stream:
        json.dump(found, stream)


KEPT: dict[str, bytes] = {}  # the text of the file whose head was read last


def start_of(text):
    """Return whole lines from the start of the file, enough to tell its format."""
    start = text[:START]
    ends = [found.end() for found in END.finditer(start)][: 4 * HEAD]
    if ends and (len(ends) == 4 * HEAD or len(start) < len(text)):
        return start[: ends[-1]]
    return start.decode("utf-8", "ignore").encode()


def lines_of(text):
    """Cut a text into lines, whatever ends them."""
    lines = text.decode("utf-8", "surrogatepass").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def count_lines(text):
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def with_tabs(text):
    """Put a tab between the words of each line."""
    return b"\n".join(b"\t".join(WORD.findall(line)) for line in text.split(b"\n"))


def by_blanks(lines):
    """Tell whether rows are cut by blanks and tabs: as many words on each line, and no delimiter cuts all lines alike.

    Words may agree by chance where a delimiter is there: a heading of two words over names of two words.
    """
    rows = [line for line in lines if line.strip()]
    counts = {len(WORD.findall(line.encode("utf-8", "surrogatepass"))) for line in rows}
    if len(rows) < 2 or len(counts) != 1 or (width := counts.pop()) < 3:
        return False
    for delimiter in DELIMITERS:
        headed, *below = (width_of(line, delimiter) for line in rows)
        if set(below) == {width} or (headed > 1 and set(below) == {headed}):
            return False
    return True


def width_of(line, delimiter):
    """Count the cells of a line."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return line.count(delimiter) + 1


def delimiter_of(lines):
    """Choose the delimiter that cuts most lines into equally many cells."""
    if lines and lines[0].replace('"', "").startswith(OWN):
        return ","
    texts = [line for line in lines if line.strip()][: 2 * HEAD]
    best, choice = (0.0, 0), ","
    for delimiter in DELIMITERS:  # cells in quotes may hold lines, with delimiters of their own
        widths = []
        for *_, cells, reason in records(texts, 0, delimiter, None):
            if reason and len(widths) - widths.count(0) > 1:
                break  # a cell that goes on behind these lines
            widths.append(0 if reason else len(cells))
        counts = Counter(width for width in widths if width > 1)
        width, rows = max(counts.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
        share = rows / max(len(widths), 1) * (1.0 if widths and widths[0] > 1 else 0.5)  # the headings are cut, too
        if (share, width) > best:
            best, choice = (share, width), delimiter
    return choice


# All rows, under headings that the parent has found


def cut(path, folder, said):
    """Write all rows below the headings as columns of text, stripped; and those that are no rows, with the reason."""
    import pyarrow as pa

    text = KEPT.pop(path, None)
    if text is None:
        with open(path, "rb") as stream:
            _, text = decoded(stream.read(), said["encoding"])
        text = with_tabs(text) if said["blanks"] else text
    rows = Rows(said["width"], said["needed"], said["delimiter"])
    table = rows.quick(text, said["after"]) or rows.careful(lines_of(text), said["after"])
    with pa.OSFile(os.path.join(folder, "rows"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    told = {"broken": rows.broken, "notes": [f"{count:,} {what}" for what, count in rows.comments.items()]}
    with open(os.path.join(folder, "broken"), "w", encoding="utf-8", errors="surrogatepass") as stream:
        json.dump(told, stream)


class Rows:
    """The rows of a text. width: how many cells each has; needed: how many every one must have at least."""

    def __init__(self, width, needed, delimiter):
        self.width, self.needed, self.delimiter = width, needed, delimiter
        self.broken, self.comments = [], Counter()

    def quick(self, text, after):
        """Read plain rows; None where quotes are not plain, or there are blank lines or uneven rows."""
        import pyarrow as pa
        import pyarrow.csv

        start = 0
        for _ in range(after):
            start = text.find(b"\n", start) + 1
        body = text[start:]
        returns, quoted = text.count(b"\r"), b'"' in body
        if not body or b"\n\n" in body or body[:1] in b"\r\n" or (quoted and not quotes_close(body, self.delimiter)):
            return None
        if returns and (b"\n\r\n" in body or returns != text.count(b"\r\n")):
            return None
        names = [str(place) for place in range(self.width)]
        reading = pa.csv.ReadOptions(column_names=names, block_size=LONGEST)
        quotes = '"' if quoted else False
        parsing = pa.csv.ParseOptions(delimiter=self.delimiter, quote_char=quotes, ignore_empty_lines=False)
        kinds = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        try:
            table = pa.csv.read_csv(
                pa.BufferReader(body), read_options=reading, parse_options=parsing, convert_options=kinds
            )
        except pa.ArrowInvalid:
            return None
        lines = pa.array(range(after + 1, after + 1 + table.num_rows), pa.int64())
        return stripped(table).append_column("line", lines)

    def careful(self, text, after):
        """Read lines with quotes, blank lines or uneven rows."""
        import pyarrow as pa

        names = [str(place) for place in range(self.width)]
        kinds = pa.schema([*((name, pa.string()) for name in names), ("line", pa.int64())])
        parts, rows = [], self.sound(text, after)
        while taken := list(islice(rows, SLICE)):
            columns = [list(column) for column in zip(*(cells for _, cells in taken))]
            parts.append(pa.table([*columns, [line for line, _ in taken]], schema=kinds))
        table = pa.concat_tables(parts) if parts else kinds.empty_table()
        return stripped(table.select(names)).append_column("line", table["line"])

    def sound(self, text, after):
        """Yield line and cells of each row; keep those that are none with the reason."""
        width, number_columns = self.width, [None] * self.width  # which hold nothing else so far, of those that do
        for line, _, cells, reason in records(text, after, self.delimiter, width):
            if is_comment(cells, width):
                self.comments["lines are comments and were passed over"] += 1
                continue
            if len(cells) > width and next(filter(None, map(str.strip, cells[width:])), "").startswith("#"):
                self.comments["rows end with a comment, which was left out"] += 1
                cells = cells[:width]
            plain = [bool(NUMBER.fullmatch(cell.strip())) if cell.strip() else None for cell in cells[:width]]
            shifted = any(held and one is False for one, held in zip(plain, number_columns))
            if not reason and self.needed <= len(cells) < width and not shifted:
                cells = cells + [""] * (width - len(cells))
                self.comments["rows end before the last column; what they lack was taken as empty"] += 1
            reason = reason or self.uneven(cells)
            if reason:
                self.broken.append((line, reason, cells[: width + MOST_COLUMNS]))
                if len(self.broken) > MOST_BROKEN:
                    raise Refused(f"has more than {MOST_BROKEN:,} lines up to line {line} that are no rows ({reason})")
                continue
            for place, one in enumerate(plain):
                if one is not None:
                    number_columns[place] = one and number_columns[place] is not False
            yield line, cells[:width]

    def uneven(self, cells):
        """Say why a row has too few or too many cells, and what to do; nothing where it has not."""
        width = self.width
        if len(cells) == width or (len(cells) > width and not any(map(str.strip, cells[width:]))):
            return ""
        remedy = "quote cells that contain the delimiter"
        if len(cells) < width:
            remedy = "write an empty cell for each that it lacks"
        elif self.delimiter == "," and len(cells) <= MOST_COLUMNS:
            digits = [bool(re.fullmatch(r"\d+", cell.strip())) for cell in cells]
            remedy = "a decimal comma may cut a number" if any(map(all, pairwise(digits))) else remedy
        return f"{len(cells)} cells where {width} columns are named: {remedy}"


def stripped(table):
    """Take away white space around cells; what is then empty is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        cells = pc.utf8_trim_whitespace(column)
        columns.append(pc.if_else(pc.equal(cells, ""), pa.scalar(None, pa.string()), cells))
    return pa.table(columns, names=table.column_names) if columns else table


def quotes_close(body, delimiter):
    """Tell whether all quotes open at the start of a cell, close at its end on the same line, or are doubled."""
    import numpy as np

    letters = np.frombuffer(b"\n" + body + b"\n", dtype=np.uint8)
    quotes, ends = np.flatnonzero(letters == ord('"')), np.flatnonzero(letters == ord("\n"))
    borders = [ord(letter) for letter in f'{delimiter}\n"']
    return bool(
        (np.searchsorted(quotes, ends) % 2 == 0).all()
        and np.isin(letters[quotes[0::2] - 1], borders).all()
        and np.isin(letters[quotes[1::2] + 1], [*borders, ord("\r")]).all()
    )


def is_comment(cells, width):
    """Tell whether a line is a comment: it begins with a hash, and is no row."""
    return len(cells) != width and cells[0].lstrip().startswith("#")


def records(text, start, delimiter, width):
    """Yield first and last line, cells and, of what is no row, the reason. Blank lines are passed over."""
    place, failures, before = start, 0, []
    usual = width or Counter(line.count("\t") + 1 for line in text).most_common(1)[0][0] if text else 0
    quoted = bool(text) and width is None and all(cell[:1] == cell[-1:] == '"' for cell in text[0].split("\t"))
    while place < len(text):
        line, first, reason = text[place], place, ""
        place += 1
        if not line.strip():
            continue
        if '"' not in line:
            cells = line.split(delimiter)
        elif delimiter == "\t" and not quoted and (width is None or line.count("\t") == width - 1):
            cells = [unquoted(cell) for cell in line.split("\t")]
            if failures < MOST_FAILURES and cells[-1].startswith('"') and cells[-1].count('"') % 2:
                whole = continued(text, first, usual)
                failures += whole is None
                cells, place = whole or (cells, place)
        else:  # where quotes have failed often, they are not followed any further
            most = MOST_LINES if failures < MOST_FAILURES else 1
            cells, used, reason = quoted_row(text, first, delimiter, most, before)
            failures += bool(reason)
            place = first + used
        if not reason:
            before = cells
        yield first + 1, place, cells, reason


def continued(text, place, width):
    """Follow a tab-separated row whose last cell on this line opens a quote; return its cells and where it ends.

    None where no quote closes, or a line on the way has as many cells as a row: then the quote is a letter of a text.
    """
    cells, used, reason = quoted_row(text, place, "\t", MOST_LINES, [])
    inner = text[place + 1 : place + used]
    whole = not reason and inner and len(cells) == width and all(line.count("\t") < width - 1 for line in inner)
    return (cells, place + used) if whole else None


def quoted_row(text, place, delimiter, most, before):
    """Cut a row whose cells may go on over several lines; return its cells, their lines, and why it is no row."""
    lines = (text[at] + "\n" for at in range(place, min(place + most, len(text))))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        cells = next(reader)
        if reader.line_num == 1 or not swallows(cells, before, delimiter):
            return cells, reader.line_num, ""
        reason = f"a quote opens here and does not close before line {place + reader.line_num}"
    except (csv.Error, StopIteration) as problem:
        reason = f"a quote is not closed or not doubled ({problem})"
    return text[place].split(delimiter), 1, reason


def swallows(cells, before, delimiter):
    """Tell whether a cell holds a line that reads like a row: as many cells, numbers where the last row had."""

    def numbers(row):
        return [bool(NUMBER.fullmatch(cell.strip())) for cell in row]

    usual = numbers(before)
    inner = [line.split(delimiter) for cell in cells if "\n" in cell for line in cell.split("\n")[1:]]
    return any(usual) and any(len(row) == len(usual) and numbers(row) == usual for row in inner)


def unquoted(cell):
    """Take away quotes around a cell where they can only be that."""
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


# JSON and Parquet


def parquet(path, folder, said):
    """Read a whole table, its pages held against their checksums."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read()
    table.validate(full=True)
    with pa.OSFile(os.path.join(folder, "table"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def label(path, folder, said):
    """Read what a Parquet file says of itself: its metadata, its columns with their types, how many rows it has."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    schema = metadata.schema.to_arrow_schema()
    own = (metadata.metadata or {}).get(b"evalkit", b"{}").decode()
    found = {"label": own, "columns": [f"{one.name}: {one.type}" for one in schema], "rows": metadata.num_rows}
    with open(os.path.join(folder, "label"), "w", encoding="utf-8") as stream:
        json.dump(found, stream)


MOST_VALUES = 3_000_000  # of JSON, in all its lists and objects


class Digits(str):
    """A number as it is written, as the parent keeps it."""

    __slots__ = ()


def objects(path, folder, said):
    """Read JSON, whole or line by line, as the parent will, and keep all of it; what is none is the parent's to say."""
    with open(path, "rb") as stream:
        content = stream.read()
    kept = []
    for part in [content, *content.split(b"\n")]:
        try:
            kept.append(json.loads(part, parse_float=Digits, parse_int=Digits))
        except (ValueError, RecursionError):
            continue
        if part is content:
            break
    count, rest = 0, [kept]
    while rest:
        one = rest.pop()
        values = one.values() if isinstance(one, dict) else one
        count += len(one)
        rest += [value for value in values if isinstance(value, dict | list)]
        if count > MOST_VALUES:
            raise Refused(f"holds more than {MOST_VALUES:,} values, more than can be read at once")


KINDS = {
    "workbook": sheets.workbook,
    "parquet": parquet,
    "label": label,
    "json": objects,
    "head": head,
    "cut": cut,
}
SOUND = {"workbook": "workbook", "parquet": "Parquet file", "label": "Parquet file"}


def main():
    """Do one request after the other, until there are no more."""
    for number in count():
        request = sys.stdin.buffer.readline()
        if not request:
            return
        kind, path, folder, said = json.loads(request)
        problem = ""
        try:
            KINDS[kind](path, folder, said)
        except Refused as one:
            problem = str(one)
        except BaseException as one:  # whatever parsers meet; a panic in Rust is no Exception
            why = " ".join(f"{type(one).__name__}: {one}".split())
            problem = f"is no sound {SOUND.get(kind, 'text')}: {why[:120]}"
        begun = os.path.join(folder, f"done.{number}")
        with open(begun, "w", encoding="utf-8") as stream:
            json.dump(problem, stream)
        os.replace(begun, os.path.join(folder, "done"))


if __name__ == "__main__":
    main()
