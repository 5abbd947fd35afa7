"""Gather what a user tells about a campaign's files, by flags or in a small TOML file; and what becomes of names.

Annotators' names are replaced by pseudonyms, accounts by the people who have them.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from evalkit import DataError
from evalkit.data import designs, languages, registry, schemas
from evalkit.data.designs import Design
from evalkit.data.importing.tables import mapped_cells
from evalkit.data.importing.vocabulary import EXTRAS, OTHERS, OURS
from evalkit.data.names import UNNAMED, Looks, plain
from evalkit.data.names import salt as own_salt

_LETTERS = 10  # of base 32: 50 bits, so that a thousand annotators collide once in two thousand million imports
#: What a pseudonym looks like.
ALIAS = re.compile(f"a-[a-z2-7]{{{_LETTERS}}}")


class Pseudonyms:
    """Give each name its pseudonym; the same name and salt give the same one, and none leads back.

    salt: None reads the salt of this user from its file, and makes one there the first time. keep: names stay as they
    are. public: names that nobody needs to hide, such as those of models that judge. people: whose an account is;
    columns of annotators name people then.

    >>> Pseudonyms("pepper").one("Ann") == Pseudonyms("pepper").one(" Ann ") != Pseudonyms("salt").one("Ann")
    True
    >>> Pseudonyms(keep=True, people={"deu01": "Ann"}).column(pd.Series(["deu01", "deu02"])).tolist()
    ['Ann', 'deu02']
    """

    def __init__(
        self,
        salt: str | None = None,
        *,
        keep: bool = False,
        public: Iterable[str] = (),
        people: Mapping[str, str] | None = None,
    ):
        self.keep = keep
        self._public = frozenset(map(_plain, {*public, *UNNAMED, *map(str.capitalize, UNNAMED)}))
        self._salt = b"" if keep else (salt.encode() if salt else own_salt())
        self._people = {_plain(account): person for account, person in (people or {}).items()}
        self._known: dict[str, str] = {}
        self._met: set[str] = set()

    @property
    def accounts(self) -> tuple[int, int]:
        """How many of the accounts met so far are somebody's, and how many there are."""
        return len(self._met & {*self._people}), len(self._met)

    def one(self, name: str) -> str:
        """Return the pseudonym of one name; white space around it and the form of its accents do not matter.

        What is a pseudonym already stays the same.
        """
        if self.keep or _plain(name) in self._public or ALIAS.fullmatch(name.strip()):
            return name if self.keep else name.strip()
        if name not in self._known:
            code = hmac.new(self._salt, _plain(name).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
            self._known[name] = "a-" + base64.b32encode(code)[:_LETTERS].decode().lower()
        return self._known[name]

    def column(self, names: pd.Series, *, accounts: bool = False) -> pd.Series:
        """Replace a column of names; missing ones stay missing.

        accounts: leave accounts what they are, whoever is known to have them.
        """
        people = {} if accounts else self._people
        if people:
            self._met |= {_plain(str(name)) for name in names.dropna().unique()}
        return mapped_cells(names, lambda name: self.one(people.get(_plain(name), name)))

    def owned(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace a table's annotators; where accounts have people, the account is the HIT of a table without HITs."""
        names = table["annotator"]
        hits = {} if "hit" in table or not self._people else {"hit": self.column(names, accounts=True)}
        return table.assign(annotator=self.column(names), **hits)

    def within(self, text: str, name: str | None) -> str:
        """Return a text without one name in it, in whatever case; parts of other words stay, where words have ends.

        >>> Pseudonyms("pepper").within("ann: Announce, Ann_1", "Ann")
        'a-fp67iip7u7: Announce, a-fp67iip7u7_1'
        """
        if self.keep or not name or len(name) < 3 or not text:
            return text
        before, after = (
            rf"{mark}[^\W_])" * (end.lower() != end.upper()) for mark, end in (("(?<!", name[0]), ("(?!", name[-1]))
        )
        return re.sub(before + re.escape(name) + after, self.one(name), text, flags=re.IGNORECASE)


def _plain(name: str) -> str:
    """Write a name in one form."""
    return " ".join(plain(name).split())


# What a user tells

#: What the columns of scores of a wide table can be, and which of our columns their headings then fill.
WIDE = {"systems": "system", "annotators": "annotator", "criteria": "criterion"}
_SECTIONS = ("columns", "values", "item_types")


@dataclass
class Options:
    """What the user told about a campaign's files, and what is to happen to names."""

    pseudonyms: Pseudonyms
    columns: dict[str, str | list[str]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    file_values: dict[str, dict[str, str]] = field(default_factory=dict)  # of single files, by their name
    item_types: dict[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    sheet: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    batches: tuple[Path, ...] = ()  # what Appraise was given: which segment each of its items is
    accounts: bool = False  # whether accounts are somebody's
    judges: tuple[str, ...] = ()  # annotators that are models
    metric_columns: tuple[str, ...] = ()  # columns of automatic scores, as NAME=COLUMN, + or - says what is better
    metric_files: tuple[Path, ...] = ()  # files of automatic scores
    weights: str | None = None  # of marked errors: a scheme's name, or like minor=1,major=5
    lower_is_better: bool | None = None
    positive: str = ""  # where one number is for two systems: whose side high ones are on, a heading or A or B
    wide: str | None = None  # what the score columns of a wide table are: one of WIDE
    words: dict[str, float] = field(default_factory=dict)  # words for scores, casefolded
    design: Design | None = None  # of a campaign that was designed here: the roles of its items
    looks: Looks = field(default_factory=Looks)

    @property
    def single(self) -> dict[str, str]:
        """Return our names that are mapped to one column each."""
        return {ours: theirs for ours, theirs in self.columns.items() if isinstance(theirs, str)}

    def of(self, name: str) -> "Options":
        """Return the options for one file: what was told of it alone comes before what was told of all."""
        return replace(self, values=self.values | self.file_values.get(name, {}))


def gathered(
    *,
    keep_names: bool = False,
    salt: str | None = None,
    people: Mapping[str, str] | None = None,
    mapping: str | Path | None = None,
    **told: Any,
) -> Options:
    """Return the options; what is told directly comes before the TOML file.

    people: whose each account is. told: the other options of ``import_campaign``.
    Raises DataError for names that are not ours, a scale that is none, or a file that cannot be read.
    """
    file = _toml(Path(mapping)) if mapping else {}
    sections = {name: {**file.get(name, {}), **(told.get(name) or {})} for name in _SECTIONS}
    told = file | {name: value for name, value in told.items() if value is not None} | sections
    told["file_values"] = {}
    for key in [key for key in told["values"] if ":" in key]:  # --value wave2.csv:doc=second
        name, _, ours = key.rpartition(":")
        told["file_values"].setdefault(name, {})[ours] = told["values"].pop(key)
    known = {name: _READ.get(name, lambda value: value)(value) for name, value in told.items()}
    pseudonyms = Pseudonyms(salt, keep=keep_names, public=known.get("judges", ()), people=people)
    return Options(pseudonyms, accounts=bool(people), **known)


def _paths(told: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    return tuple(map(Path, [told] if isinstance(told, str | Path) else told))


def _names(told: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(plain, told))


def _of_ours(told: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse a name that is none of our columns."""
    known = (*OURS, *EXTRAS, *OTHERS)
    if wrong := [ours for ours in told if ours not in known]:
        raise DataError(f"{wrong[0]!r:.60} is none of our columns. Map one of {', '.join(known)}.")
    return dict(told)


def _one_of(told: str, known: Iterable[str], what: str) -> str:
    """Refuse what is none of the known words."""
    if told not in known:
        raise DataError(f"{what} {told!r:.60} is none of {' '.join(known)}. Correct it.")
    return told


def _kinds(kinds: Mapping[str, str]) -> dict[str, str]:
    """Check what kinds of items are called."""
    return {str(theirs): _one_of(str(ours), schemas.ITEM_TYPES, "item_types:") for theirs, ours in kinds.items()}


def _values(values: Mapping[str, Any]) -> dict[str, str]:
    """Check values that all rows have; a language pair is two of them."""
    plainly = {ours: plain(str(value)) for ours, value in _of_ours(values).items()}
    for ours, value in plainly.items():
        if not value:
            raise DataError(f"--value {ours:.60}= gives no text. Write what all rows have, or leave it out.")
        if ours in ("score", "started", "ended", "probability", *EXTRAS):
            raise DataError(f"One value of {ours} for all rows makes no sense. Map a column with --map {ours}=….")
    if "pair" in plainly:
        if not (pair := languages.split(plainly.pop("pair"))):
            raise DataError("The language pair of all rows cannot be read. Write it like --value pair=en-de.")
        plainly |= dict(zip(("src_lang", "tgt_lang"), pair))
    return plainly


def _scale(scale: Any) -> tuple[float, float]:
    """Check the ends of a scale."""
    try:
        low, high = (float(end) for end in scale if not isinstance(scale, str) and not isinstance(end, bool))
    except (TypeError, ValueError, OverflowError) as problem:
        wrong = f"The scale {scale!r:.60} is not two numbers. Write the lowest and the highest score."
        raise DataError(wrong) from problem
    if not -1e15 < low < high < 1e15:
        raise DataError(f"The scale {low:g}-{high:g} does not go up. Write the lowest, then the highest score.")
    return low, high


def _words(words: Mapping[str, float | str]) -> dict[str, float]:
    """Check words for scores."""
    scores = {}
    for word, value in words.items():
        try:
            scores[plain(str(word)).casefold()] = float(value)
        except ValueError as problem:
            raise DataError(f"--map-values {word}={value}: the score is no number. Write like Good=4.") from problem
    return scores


#: Options of which something is to be checked or made.
_READ: dict[str, Callable[[Any], Any]] = {
    "columns": _of_ours,
    "values": _values,
    "file_values": lambda told: {name: _values(own) for name, own in told.items()},
    "item_types": _kinds,
    "scale": _scale,
    "decimal": lambda told: _one_of(told, ".,", "The decimal mark"),
    "batches": _paths,
    "judges": _names,
    "metric_columns": _names,
    "metric_files": _paths,
    "positive": plain,
    "wide": lambda told: _one_of(told, WIDE, "--wide"),
    "words": _words,
    "design": lambda path: designs.read(Path(path)),
}


def _toml(path: Path) -> dict[str, Any]:
    """Read a mapping file, its sections and entries of the kinds that they are to be."""
    said = registry.toml(path, remedy="A mapping is a few lines of TOML, such as [columns] score = 'DA'.")
    for name, value in said.items():
        sound = name == "scale"
        if name in _SECTIONS and isinstance(value, dict):
            kinds = (str, list) if name == "columns" else (str, int)  # 1.10 and 2024-01-01 would be written otherwise
            sound = all(type(one) in kinds for one in value.values())
        if not sound:
            raise DataError(
                f"{path.name}: {name!r:.60} is not known, or is not as it must be. Write scale = [0, 100], and lines "
                f"like name = 'text', in quotes, below [{'], ['.join(_SECTIONS)}]."
            )
    return said
