"""Find out how a text file is encoded; what is no text is refused."""

import codecs
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE

from evalkit import DataError, one_line

_MARKS = {
    BOM_UTF32_LE: "utf-32",
    BOM_UTF32_BE: "utf-32",
    BOM_UTF8: "utf-8-sig",
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
}
#: Codecs of names and of source code, which turn text into other text, or nothing into anything.
_NO_FILES = {
    "undefined",
    "punycode",
    "idna",
    "unicode-escape",
    "raw-unicode-escape",
    "unicode_escape",
    "raw_unicode_escape",
    "mbcs",
    "oem",
    "charmap",
}
_SAMPLE = 1 << 18  # bytes by which an encoding is told
#: Encodings that exports come in besides Unicode; others are read where the user names them.
_LEGACY = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
#: Letters that are common in the languages of encodings which are easily taken for each other.
_LETTERS = {
    "cp1252": "àâäçèéêëîïñôöøåæùûüßÄÖÜÉÀÅØ«»áíóúãõìòœ",
    "cp1250": "áčďéěíňóřšťúůýžąćęłńśźżőűăäöüßČŘŠŽŁ",
    "cp1254": "çğıİöşüŞâî",
}


def decoded(origin: str, content: bytes, told: str | None) -> tuple[str, bytes]:
    """Return the encoding of a text and the text in UTF-8, without a byte order mark.

    told: the encoding that the user names; None finds it out. Raises DataError where there is none.
    """
    if told:
        _demand_known(told)
        return told, _text(origin, content, told)
    marked = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    try:
        content.decode()
        odd = None
    except UnicodeDecodeError as problem:
        odd = problem.start
    if marked and (odd is None or marked != "utf-8-sig"):
        return marked, _text(origin, content, marked)
    if b"\0" in content:
        name = _without_mark(origin, content[:_SAMPLE])
    elif odd is None:
        return "utf-8", content
    else:
        name = _legacy(origin, content, odd)
    return name, _text(origin, content, name)


def _demand_known(told: str) -> None:
    """Refuse names of no encoding, and of codecs that no text file is written in."""
    try:
        codec = codecs.lookup(told)
        known = codec._is_text_encoding and codec.name not in _NO_FILES
    except (LookupError, ValueError):  # whatever else stands in the name, such as a zero
        known = False
    if not known:
        raise DataError(f"--encoding {told[:40]!r} is no encoding of files. Name one such as utf-8, cp1252, shift_jis.")


def _text(origin: str, content: bytes, encoding: str) -> bytes:
    """Decode a whole file, which must hold no zero characters, and write it in UTF-8."""
    try:
        text = content.decode(encoding)
        text.encode()  # utf-7 may spell half of a surrogate pair, which is no letter
    except UnicodeError as problem:
        reason = getattr(problem, "reason", None) or one_line(problem)
        raise DataError(
            f"{origin} is not sound {encoding}: {reason}. Save it as CSV in UTF-8, or name its --encoding."
        ) from problem
    if "\0" in text:
        raise DataError(f"{origin} holds zero characters, so it is no text. Export it as CSV or XLSX.")
    return text.encode()


def _without_mark(origin: str, sample: bytes) -> str:
    """Tell UTF-16 without a byte order mark by the zeros in its first line; other zeros belong to no text."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.3 * len(sample) / 2 and min(even, odd) < 0.05 * len(sample):
        return "utf-16-le" if odd > even else "utf-16-be"
    raise DataError(f"{origin} holds zero bytes, so it is no text. Export it as CSV in UTF-8, or as XLSX.")


def _legacy(origin: str, content: bytes, odd: int) -> str:
    """Tell the encodings from before Unicode apart by what they spell. odd: where the first byte is no UTF-8."""
    from charset_normalizer import from_bytes

    start = 0 if odd < _SAMPLE else odd - 200  # a sample that tells something has the odd bytes in it
    sample = content[start : start + _SAMPLE]
    cut = sample.rfind(b"\n") + 1
    lines = (sample[:cut] if cut else sample).split(b"\n")
    telling = b"\n".join(line for line in lines if not line.isascii()) or sample
    syllables = {name: _kana(telling, name) for name in ("cp932", "euc_jp")}
    if max(syllables.values()) > 0.15:  # no other script gives Japanese syllables by chance
        return max(syllables, key=lambda name: syllables[name])
    best = from_bytes(telling, cp_isolation=_LEGACY, threshold=0.6).best()
    if best is None:
        raise DataError(f"The encoding of {origin} cannot be told. Save it as CSV in UTF-8, or name its --encoding.")
    return _settled(best.encoding, telling)


def _settled(encoding: str, sample: bytes) -> str:
    """Choose between encodings that share most bytes, by the letters that each makes of the others."""
    if encoding not in _LETTERS:
        return encoding
    votes = {}
    for name, letters in _LETTERS.items():
        text = sample.decode(name, "replace")
        votes[name] = sum(text.count(letter) for letter in letters) - 5 * text.count("\ufffd")
    return max(votes, key=lambda name: votes[name])  # the first of those with most votes


def _kana(sample: bytes, encoding: str) -> float:
    """Compute the share of Japanese syllables among a text's characters beyond ASCII; 0 where it does not decode."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:  # the sample may end within a character
        text = sample[:-1].decode(encoding, "ignore") if len(sample) == _SAMPLE else ""
    letters = [letter for letter in text if letter > "\x7f"]
    return sum("\u3041" <= letter <= "\u30ff" for letter in letters) / max(len(letters), 1)
