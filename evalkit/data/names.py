"""Write names that look alike in one way: without characters that cannot be seen, accented letters in one form.

And know people's translations by what systems are called.
"""

import html
import os
import re
import secrets
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from evalkit import DataError

#: Our columns that hold names. The texts of translations are none, and stay as they are.
NAMED = ("src_lang", "tgt_lang", "pair", "system", "doc", "segment", "annotator", "item_type", "hit", "domain")
#: Unicode's Default_Ignorable_Code_Point, the marks of interlinear annotation, and controls that are no white space.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\x00-\x08\x0e-\x1b\x7f-\x84"
    "\x86-\x9f]"
)
_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")  # Unicode's spaces (Zs) but the plain one
_STRAIGHT = str.maketrans(dict.fromkeys("‘’´`", "'") | dict.fromkeys("“”„«»", '"') | dict.fromkeys("–—−", "-"))
_APART = re.compile(r"(\w) '(s|t|re|ve|ll|d|m)\b")
#: Names that people's translations have in campaigns: a reference after whatever else, but none that a machine made or
#: used; a human translation; a translator.
_HUMAN = re.compile(
    r"(?!(.*[-_ .])?(with(out)?|wo?|no[nt]?|pseudo|synthetic)[-_ .])"
    r"((.*[-_ .])?ref(erence)?s?|human)[-_ .]?(\w|\d+)?(\.\d+)?"
    r"|human[-_ .]?(ref(erence)?|translat(ion|or)|written)s?[-_ .]?(\w|\d+)?|translator.*",
    re.IGNORECASE,
)
#: What stands for an annotator where nothing says who judged, or a score is the mean of several people's.
UNNAMED = frozenset(("unnamed", "unknown", "anonymous", "nobody", "majority", "consensus", "agreed"))
UNNAMED |= {"average", "averaged", "avg", "mean", "median"}


def plain(name: str) -> str:
    """Write one name as it looks: normal form C, no invisible characters, plain spaces, none around it.

    Source: Unicode Standard Annex 15 (normal forms), Default_Ignorable_Code_Point of Unicode 16. Caveat: letters of
    different scripts that look alike, such as Latin and Cyrillic a, stay apart.

    >>> plain("\\ufeffOnline\\u00a0A\\u200b"), plain("Cafe\\u0301") == plain("Caf\\u00e9")
    ('Online A', True)
    """
    if name.isascii() and name.isprintable():
        return name.strip()
    return unicodedata.normalize("NFC", _SPACE.sub(" ", _UNSEEN.sub("", name))).strip()


def one_form(text: str) -> str:
    """Bring a text into the one form in which texts of different releases can be compared.

    The WMT17 texts are in lower case and tokenised, with &quot; for a quotation mark; those of WMT15 and WMT16 are not.
    A model trained on the one and tested on the other must not see that difference: lower case, characters for their
    codes, straight quotation marks and hyphens, and contractions joined again.

    >>> one_form("it wouldn &apos;t be"), one_form("It wouldn’t be")
    ("it wouldn't be", "it wouldn't be")
    """
    text = html.unescape(text).translate(_STRAIGHT).casefold()
    return _APART.sub(r"\1'\2", text)


class Looks:
    """Write the names of a campaign in one way, table after table, and count what that changed, to be told."""

    def __init__(self):
        self._changed: Counter[str] = Counter()

    def alike(self, table: pd.DataFrame, names: Mapping[str, str] | Iterable[str] = NAMED) -> pd.DataFrame:
        """Return the table with its names in one form; what is nothing then is missing.

        names: our name -> the table's column, or our names where the table has them; columns of other things are left.
        """
        columns = names if isinstance(names, Mapping) else {name: name for name in names}
        new = {}
        for ours, column in columns.items():
            if ours in NAMED and column in table:
                plainly = {text: plain(text) for text in map(str, table[column].dropna().unique())}
                if odd := {text: name or None for text, name in plainly.items() if text != name}:
                    texts = table[column].astype("str")
                    self._changed[ours] += int(texts.isin([*odd]).sum())
                    new[column] = texts.replace(odd)
        return table.assign(**new) if new else table

    def notes(self) -> list[str]:
        """Tell, a sentence for each column, how many cells were written in another way."""
        return [
            f"names that look alike are one: in {count:,} cell{'s' * (count != 1)} of {ours} characters that cannot be "
            "seen were left out, and letters and spaces brought into one form"
            for ours, count in self._changed.items()
        ]


def is_human(systems: pd.Series) -> pd.Series:
    """Tell which systems are people's translations by their names.

    >>> is_human(pd.Series(["refA", "translator-B", "HUMAN-B.12", "WebNLG-2020-reference", "human_ref"])).tolist()
    [True, True, True, True, True]
    >>> is_human(pd.Series(["Refiner", "gpt-4-with-ref", "reference-free", "pseudo-reference", "HumanMT"])).tolist()
    [False, False, False, False, False]
    """
    names = systems.astype("str")
    return names.isin([name for name in names.dropna().unique() if _HUMAN.fullmatch(name)])


def salt_file() -> Path:
    """Name the file, outside the cache, that keeps the secret with which this user's pseudonyms are made."""
    own = os.environ.get("EVALKIT_SALT_FILE")
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(own) if own else Path(home) / "evalkit" / "salt"


def salt() -> bytes:
    """Read this user's secret; the first time, draw one and keep it where only the owner reads it."""
    path = salt_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
                stream.write(secrets.token_hex(32) + "\n")
        found = path.read_bytes().strip()
    except OSError as problem:
        told = f"The secret for pseudonyms cannot be kept in {path}: {problem.strerror}"
        raise DataError(f"{told}. Set EVALKIT_SALT_FILE, or --salt, to a file that you can write.") from problem
    if len(found) < 16:
        raise DataError(f"{path} holds no salt of 16 characters or more. Restore it, or remove it and import anew.")
    return found
