"""Find out how a text file is encoded, and its digest, in one pass; what is no text is rejected."""

import hashlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE, getincrementaldecoder
from pathlib import Path

from evalkit import DataError

_BLOCK = 8 << 20
_MARKS = {
    BOM_UTF32_LE: "utf-32", BOM_UTF32_BE: "utf-32", BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
}  # fmt: skip
#: Encodings that exports come in besides Unicode; others are read where the user names them.
_LEGACY = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "euc_jp", "gb18030", "big5", "cp949"]
#: Letters that are common in the languages of encodings which are easily taken for each other.
_LETTERS = {
    "cp1252": "àâäçèéêëîïñôöøåæùûüßÄÖÜÉÀÅØ«»áíóúãõìòœ",
    "cp1250": "áčďéěíňóřšťúůýžąćęłńśźżőűăäöüßČŘŠŽŁ",
    "cp1254": "çğıİöşüŞâî",
}


def find(path: Path, told: str | None) -> tuple[str, str]:
    """Find a file's encoding and its digest, in one pass over it."""
    hashed, utf8 = hashlib.sha256(), getincrementaldecoder("utf-8")("strict")
    sample, zeros, valid = b"", 0, True
    with path.open("rb") as stream:
        while piece := stream.read(_BLOCK):
            hashed.update(piece)
            zeros += piece.count(0)
            sample = sample or piece[: 1 << 18]
            if valid:
                try:
                    utf8.decode(piece)
                except UnicodeDecodeError as problem:
                    valid = False
                    if sample.isascii():  # a sample that tells something begins where the first odd byte stands
                        sample = sample[:1000] + b"\n" + piece[max(problem.start - 200, 0) :][: 1 << 18]
        try:
            utf8.decode(b"", final=True)
        except UnicodeDecodeError:
            valid = False
    digest = f"sha256:{hashed.hexdigest()}"
    if told:
        return _told(path, told), digest
    marked = next((name for mark, name in _MARKS.items() if sample.startswith(mark)), None)
    if marked and (valid or marked != "utf-8-sig"):
        return _checked(path, marked), digest
    if zeros:
        return _checked(path, _without_mark(path, sample)), digest
    if valid:
        return "utf-8", digest
    return _checked(path, _legacy(path, sample)), digest


def _told(path: Path, name: str) -> str:
    """Check the encoding that the user names."""
    try:
        "".encode(name)
    except LookupError as problem:
        raise DataError(f"--encoding {name!r} is not known. Name one such as utf-8, cp1252 or shift_jis.") from problem
    return _checked(path, name)


def _checked(path: Path, encoding: str) -> str:
    """Make sure that the whole file can be decoded, and hold no zero bytes."""
    decoder = getincrementaldecoder(encoding)("strict")
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_BLOCK):
                if "\0" in decoder.decode(piece):
                    raise DataError(f"{path.name} holds zero characters, so it is no text. Export it as CSV or XLSX.")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as problem:
        raise DataError(
            f"{path.name} is not sound {encoding}: {problem.reason}. Save it as CSV in UTF-8, or name its --encoding."
        ) from problem
    return encoding


def _without_mark(path: Path, sample: bytes) -> str:
    """Tell UTF-16 without a byte order mark by the zeros in its first line; other zeros belong to no text."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.3 * len(sample) / 2 and min(even, odd) < 0.05 * len(sample):
        return "utf-16-le" if odd > even else "utf-16-be"
    raise DataError(f"{path.name} holds zero bytes, so it is no text. Export it as CSV in UTF-8, or as XLSX.")


def _legacy(path: Path, sample: bytes) -> str:
    """Tell the encodings from before Unicode apart by what they spell."""
    from charset_normalizer import from_bytes

    cut = sample.rfind(b"\n") + 1
    lines = (sample[:cut] if cut else sample).split(b"\n")
    telling = b"\n".join(line for line in lines if not line.isascii()) or sample
    syllables = {name: _kana(telling, name) for name in ("cp932", "euc_jp")}
    if max(syllables.values()) > 0.15:  # no other script gives Japanese syllables by chance
        return max(syllables, key=syllables.get)
    best = from_bytes(telling, cp_isolation=_LEGACY, threshold=0.6).best()
    if best is None:
        raise DataError(f"The encoding of {path.name} cannot be told. Save it as CSV in UTF-8, or name its --encoding.")
    return _settled(best.encoding, telling)


def _settled(encoding: str, sample: bytes) -> str:
    """Choose between encodings that share most bytes, by the letters that each makes of the others."""
    if encoding not in _LETTERS:
        return encoding
    votes = {}
    for name, letters in _LETTERS.items():
        text = sample.decode(name, "replace")
        votes[name] = sum(text.count(letter) for letter in letters) - 5 * text.count("\ufffd")
    return max(votes, key=votes.get)  # the first of those with most votes


def _kana(sample: bytes, encoding: str) -> float:
    """Compute the share of Japanese syllables among a text's characters beyond ASCII; 0 where it does not decode."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:  # the sample may end within a character
        text = sample[:-1].decode(encoding, "ignore") if len(sample) == 1 << 18 else ""
    letters = [letter for letter in text if letter > "\x7f"]
    return sum("\u3041" <= letter <= "\u30ff" for letter in letters) / max(len(letters), 1)
