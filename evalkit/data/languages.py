"""The languages of WMT's file names and of people's own files: two letters or names there, ISO 639-3 codes here."""

import csv
import re
from pathlib import Path

_KNOWN = list(csv.DictReader(Path(__file__).with_suffix(".csv").read_text(encoding="utf-8").splitlines()))
#: ISO 639-1's two letters -> ISO 639-3's three, of the languages in ``languages.csv``.
CODES = {two: row["code"] for row in _KNOWN for two in row["two"].split()}
_WORDS = CODES | {word: row["code"] for row in _KNOWN for word in (row["code"], row["name"]) if word}
#: ISO 639's code for a language that nobody stated.
UNKNOWN = "und"


def code(text: str) -> str | None:
    """Read one language as people write it; None where it is not known here.

    Two letters, three letters, a script or a region behind them, and English names are known.

    >>> [code(text) for text in ("en", "zh-CN", "eng_Latn", "German", "DEU", "xx")]
    ['eng', 'zho', 'eng', 'deu', 'deu', None]
    """
    plain = text.strip().casefold()
    return _WORDS.get(plain) or _WORDS.get(re.split(r"[-_]", plain)[0])


def locale(text: str) -> str:
    """Write a language as this suite does, and a script or region behind it as it stands; others stay as they are.

    >>> [locale(text) for text in ("de", "cs_CZ", "sr_Cyrl_RS", "mas_KE", "fil")]
    ['deu', 'ces_CZ', 'srp_Cyrl_RS', 'mas_KE', 'fil']
    """
    stem, mark, rest = text.partition("_")
    return f"{CODES.get(stem, stem)}{mark}{rest}"


def in_full(pair: str) -> str:
    """Write a language pair of a test set's file names as this suite does, whatever its languages are.

    >>> in_full("en-sr_Cyrl_RS"), in_full("xx-de")
    ('eng-srp_Cyrl_RS', 'xx-deu')
    """
    return "-".join(locale(side) for side in pair.split("-"))


def split(text: str) -> tuple[str, str] | None:
    """Read a language pair as people write it; None where it is none.

    >>> split("en-de"), split("eng_Latn-zho_Hans"), split("English → German"), split("ende"), split("x")
    (('eng', 'deu'), ('eng', 'zho'), ('eng', 'deu'), ('eng', 'deu'), None)
    """
    plain = re.sub(r"\s*(→|->|–|>|/|\bto\b|\s)\s*", "-", text.strip().casefold())
    parts = plain.split("-")
    if len(parts) == 1 and len(plain) in (4, 6):
        parts = [plain[: len(plain) // 2], plain[len(plain) // 2 :]]
    if len(parts) != 2 and not (len(parts) == 4 and code(parts[2])):
        return None
    half = len(parts) // 2
    source, target = code("-".join(parts[:half])), code("-".join(parts[half:]))
    return (source, target) if source and target else None


def in_name(name: str) -> tuple[str, str] | None:
    """Find the one language pair that a file's name states; None where it states none, or several.

    Pairs written in one word count where English is one of the two, because ``data`` is not Danish into Tamil.

    >>> in_name("mqm_newstest2020_ende.tsv"), in_name("scores.en-de.csv"), in_name("data.csv")
    (('eng', 'deu'), ('eng', 'deu'), None)
    """
    words = re.findall(r"(?<![a-z])(?:[a-z]{2}-[a-z]{2}|[a-z]{3}-[a-z]{3}|[a-z]{4}|[a-z]{6})(?![a-z])", name.casefold())
    found = {
        pair
        for word in words
        if ("-" in word or "en" in (word[:2], word[-2:]) or "eng" in (word[:3], word[3:]))
        and (pair := split(word))
        and pair[0] != pair[1]
    }
    return found.pop() if len(found) == 1 else None
