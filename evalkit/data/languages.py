"""The languages of WMT's file names: two letters there, ISO 639-3 codes here."""

from evalkit import DataError

CODES = {
    "cs": "ces", "de": "deu", "en": "eng", "fi": "fin", "fr": "fra", "he": "heb", "iu": "iku", "ja": "jpn", "km": "khm",
    "lv": "lav", "pl": "pol", "ps": "pus", "ru": "rus", "ta": "tam", "tr": "tur", "zh": "zho",
}  # fmt: skip


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
