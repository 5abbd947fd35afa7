"""Replace annotators' names by stable pseudonyms: the same name and salt give the same one, and none leads back."""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping

import pandas as pd

from evalkit import DataError
from evalkit.data.names import UNNAMED, plain
from evalkit.data.names import salt as own_salt

_LETTERS = 10  # of base 32: 50 bits, so that a thousand annotators collide once in two thousand million imports

#: What a pseudonym looks like.
ALIAS = re.compile(f"a-[a-z2-7]{{{_LETTERS}}}")
_FEW = 500  # names that are looked for inside a text


class Pseudonyms:
    """Give each name its pseudonym; with ``keep`` names stay as they are.

    salt: None reads the salt of this user from its file, and makes one there the first time. public: names that nobody
    needs to hide, such as those of models that judge.

    >>> Pseudonyms("pepper").one("Ann") == Pseudonyms("pepper").one(" Ann ") != Pseudonyms("salt").one("Ann")
    True
    """

    def __init__(self, salt: str | None = None, *, keep: bool = False, public: Iterable[str] = ()):
        self.keep = keep
        self.public = frozenset(map(_plain, {*public, *UNNAMED, *map(str.capitalize, UNNAMED)}))
        self._salt = b"" if keep else (salt.encode() if salt else own_salt())
        self._known: dict[str, str] = {}
        self._given: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._accounts: dict[str, bool] = {}

    def know(self, accounts: Mapping[str, str]) -> None:
        """Learn which account is whose; columns of annotators name people from then on.

        >>> aliases = Pseudonyms(keep=True)
        >>> aliases.know({"deu01": "Ann"})
        >>> aliases.column(pd.Series(["deu01", "deu02"])).tolist()
        ['Ann', 'deu02']
        """
        self._people = {_plain(account): person for account, person in accounts.items()}

    @property
    def accounts(self) -> tuple[int, int]:
        """How many of the accounts met so far are somebody's, and how many there are."""
        return sum(self._accounts.values()), len(self._accounts)

    def one(self, name: str) -> str:
        """Return the pseudonym of one name; white space around it and the form of its accents do not matter.

        What is a pseudonym already stays the same, so that rows that an import rejected can be imported again.

        Raises DataError where two names get the same one, which asks for another salt.
        """
        if self.keep or _plain(name) in self.public:
            return name
        if name not in self._known:
            plain, alias = _plain(name), self.mask(name)
            before = self._given.get(alias, alias)
            if before != plain and alias not in (before, plain):
                raise DataError("Two annotators got the same pseudonym. Import again with another --salt.")
            self._given[alias] = before if plain == alias else plain
            self._known[name] = alias
        return self._known[name]

    def mask(self, text: str) -> str:
        """Return what a name's pseudonym would be, for text that may be a name or anything else."""
        if self.keep or ALIAS.fullmatch(text.strip()) or _plain(text) in self.public:
            return text if self.keep else text.strip()
        code = hmac.new(self._salt, _plain(text).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
        return "a-" + base64.b32encode(code)[:_LETTERS].decode().lower()

    def column(self, names: pd.Series, *, accounts: bool = False) -> pd.Series:
        """Replace a column of names; missing ones stay missing.

        accounts: leave accounts what they are, whoever is known to have them.
        """
        if self._people and not accounts:
            names = self._persons(names)
        if self.keep:
            return names
        codes, distinct = pd.factorize(names)
        aliases = pd.array([*(self.one(str(name)) for name in distinct), None], dtype=names.dtype)
        return pd.Series(aliases.take(codes), index=names.index)

    def owned(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace a table's annotators; where accounts have people, the account is the HIT of a table without HITs."""
        names = table["annotator"]
        hits = {} if "hit" in table or not self._people else {"hit": self.column(names, accounts=True)}
        return table.assign(annotator=self.column(names), **hits)

    def _persons(self, names: pd.Series) -> pd.Series:
        """Replace accounts by the people who have them."""
        codes, distinct = pd.factorize(names)
        plain = [_plain(str(name)) for name in distinct]
        self._accounts |= {name: name in self._people for name in plain}
        people = pd.array(
            [*(self._people.get(key, name) for key, name in zip(plain, distinct)), None], dtype=names.dtype
        )
        return pd.Series(people.take(codes), index=names.index)

    def within(self, text: str, name: str | None) -> str:
        """Return a text without one name in it, in whatever case; parts of other words stay, where words have ends.

        >>> Pseudonyms("pepper").within("ann: Announce, Ann_1", "Ann")
        'a-fp67iip7u7: Announce, a-fp67iip7u7_1'
        """
        if self.keep or not name or len(name) < 3 or not text:
            return text
        before, after = (
            r"(?<![^\W_])" * (name[0].lower() != name[0].upper()),
            r"(?![^\W_])" * (name[-1].lower() != name[-1].upper()),
        )
        return re.sub(before + re.escape(name) + after, self.one(name), text, flags=re.IGNORECASE)

    def hidden(self, text: str) -> str:
        """Return a text without the names that are known so far; among very many, only whole cells are looked at."""
        if self.keep:
            return text
        if text.strip() in self._known:
            return self._known[text.strip()]
        for name in sorted(self._known, key=len, reverse=True) if len(self._known) < _FEW else ():
            if len(name) > 2 and name in text:
                text = text.replace(name, self._known[name])
        return text

    @property
    def count(self) -> int:
        """How many people have a pseudonym."""
        return len(self._given)


def _plain(name: str) -> str:
    """Write a name in one form."""
    return " ".join(plain(name).split())
