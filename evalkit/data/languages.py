"""The languages of WMT's file names and of people's own files: two letters or names there, ISO 639-3 codes here."""

import re

from evalkit import DataError

CODES = {
    "cs": "ces",
    "de": "deu",
    "en": "eng",
    "fi": "fin",
    "fr": "fra",
    "he": "heb",
    "iu": "iku",
    "ja": "jpn",
    "km": "khm",
    "lv": "lav",
    "pl": "pol",
    "ps": "pus",
    "ru": "rus",
    "ta": "tam",
    "tr": "tur",
    "zh": "zho",
}


#: ISO 639's code for a language that nobody stated.
UNKNOWN = "und"


def pair(name: str, *, origin: str) -> tuple[str, str]:
    """Read source and target language from a pair as WMT writes it.

    Raises DataError for a language that is not known here, naming ``origin``.

    >>> pair("en-de", origin="my.tsv")
    ('eng', 'deu')
    """
    source, _, target = name.partition("-")
    for code in (source, target):
        if code not in CODES:
            raise DataError(f"{origin}: {code!r} in {name!r} is no language of WMT that is known here. Correct it.")
    return CODES[source], CODES[target]


#: Further languages of campaigns, with their names in English; ``CODES`` stays what WMT's own files are held to.
_MORE = {
    "af": "afr",
    "am": "amh",
    "ar": "ara",
    "as": "asm",
    "be": "bel",
    "bg": "bul",
    "bn": "ben",
    "bs": "bos",
    "ca": "cat",
    "da": "dan",
    "el": "ell",
    "es": "spa",
    "et": "est",
    "eu": "eus",
    "fa": "fas",
    "ga": "gle",
    "gl": "glg",
    "gu": "guj",
    "ha": "hau",
    "hi": "hin",
    "hr": "hrv",
    "hu": "hun",
    "hy": "hye",
    "id": "ind",
    "ig": "ibo",
    "is": "isl",
    "it": "ita",
    "ka": "kat",
    "kk": "kaz",
    "kn": "kan",
    "ko": "kor",
    "lo": "lao",
    "lt": "lit",
    "mk": "mkd",
    "ml": "mal",
    "mn": "mon",
    "mr": "mar",
    "ms": "msa",
    "mt": "mlt",
    "my": "mya",
    "nb": "nob",
    "ne": "npi",
    "nl": "nld",
    "no": "nor",
    "pa": "pan",
    "pt": "por",
    "si": "sin",
    "sk": "slk",
    "sl": "slv",
    "so": "som",
    "sq": "sqi",
    "sr": "srp",
    "sv": "swe",
    "sw": "swh",
    "te": "tel",
    "th": "tha",
    "tl": "tgl",
    "uk": "ukr",
    "ur": "urd",
    "uz": "uzb",
    "vi": "vie",
    "xh": "xho",
    "yo": "yor",
    "zu": "zul",
}
_NAMES = {
    "arabic": "ara",
    "bengali": "ben",
    "bulgarian": "bul",
    "chinese": "zho",
    "croatian": "hrv",
    "czech": "ces",
    "danish": "dan",
    "dutch": "nld",
    "english": "eng",
    "finnish": "fin",
    "french": "fra",
    "german": "deu",
    "greek": "ell",
    "gujarati": "guj",
    "hausa": "hau",
    "hebrew": "heb",
    "hindi": "hin",
    "hungarian": "hun",
    "icelandic": "isl",
    "indonesian": "ind",
    "italian": "ita",
    "japanese": "jpn",
    "kannada": "kan",
    "korean": "kor",
    "malayalam": "mal",
    "marathi": "mar",
    "norwegian": "nor",
    "polish": "pol",
    "portuguese": "por",
    "romanian": "ron",
    "russian": "rus",
    "spanish": "spa",
    "swedish": "swe",
    "tamil": "tam",
    "telugu": "tel",
    "thai": "tha",
    "turkish": "tur",
    "ukrainian": "ukr",
    "vietnamese": "vie",
}
_TWO = _MORE | CODES | {"ro": "ron"}
_THREE = {*_TWO.values(), *_NAMES.values(), "asm", "mai", "sgg", "liv", "hsb", "sah", "bho", "mni"}


def code(text: str) -> str | None:
    """Read one language as people write it; None where it is not known here.

    Two letters, three letters, a script or a region behind them, and English names are known.

    >>> [code(text) for text in ("en", "zh-CN", "eng_Latn", "German", "DEU", "xx")]
    ['eng', 'zho', 'eng', 'deu', 'deu', None]
    """
    plain = text.strip().casefold()
    stem = re.split(r"[-_]", plain)[0]
    return next(
        (found for word in (plain, stem) if (found := _TWO.get(word) or _NAMES.get(word) or _three(word))), None
    )


def _three(word: str) -> str | None:
    return word if word in _THREE else None


def locale(text: str) -> str:
    """Write a language as this suite does, and a script or region behind it as it stands; others stay as they are.

    >>> [locale(text) for text in ("de", "cs_CZ", "sr_Cyrl_RS", "mas_KE", "fil")]
    ['deu', 'ces_CZ', 'srp_Cyrl_RS', 'mas_KE', 'fil']
    """
    stem, mark, rest = text.partition("_")
    return f"{_TWO.get(stem, stem)}{mark}{rest}"


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
    source = target = None
    if len(parts) == 2 or (len(parts) == 4 and code(parts[2])):
        half = len(parts) // 2
        source, target = code("-".join(parts[:half])), code("-".join(parts[half:]))
    elif len(plain) == 4:
        source, target = _TWO.get(plain[:2]), _TWO.get(plain[2:])
    elif len(plain) == 6:
        source, target = _three(plain[:3]), _three(plain[3:])
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
