"""Read which account is whose: a table of two columns, or a JSON object, from accounts to people or the other way."""

import csv
import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evalkit import DataError
from evalkit.data import delimited
from evalkit.data.importing.cells import columns
from evalkit.data.names import plain

_MOST = 16 << 20  # bytes
_ACCOUNT = {"account", "accountid", "login", "username", "user", "userid", "hit", "hitid", "task", "taskid"}
_PERSON = {"person", "personid", "people", "human", "name", "calibrationhit", "who"}
_REMEDY = "Write one account and its person a line, such as deu01,Ann, or a JSON object."


def owners(path: Path) -> dict[str, str]:
    """Return whose each account is.

    path: CSV or TSV with a column of accounts and one of people (told apart by headings; without headings accounts
    are the column in which nothing stands twice, else the first), or JSON: account -> person, or person -> [accounts].
    Raises DataError where the file cannot be read, or gives an account to two people.
    """
    content = delimited.content(path)
    if len(content) > _MOST:
        raise DataError(f"{path.name} is larger than {_MOST >> 20} MiB. {_REMEDY}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise DataError(f"{path.name} is not in UTF-8. Save it as UTF-8.") from problem
    pairs = _of_json(text, path) if text.lstrip()[:1] in ("{", "[") else _of_table(text, path)
    found: dict[str, str] = {}
    for account, person in pairs:
        if found.setdefault(account, person) != person:
            raise DataError(f"{path.name} gives one account to two people (line or entry of {account!r}). Correct it.")
    if not found:
        raise DataError(f"{path.name} names no accounts. {_REMEDY}")
    return found


def _of_json(text: str, path: Path) -> Iterable[tuple[str, str]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{path.name} is no JSON: {problem}. {_REMEDY}") from problem
    if not isinstance(found, dict):
        raise DataError(f"{path.name} is no JSON object. {_REMEDY}")
    pairs: list[tuple[Any, Any]] = []
    for key, value in found.items():
        pairs += [(one, key) for one in value] if isinstance(value, list) else [(key, value)]
    if not all(isinstance(one, str | int) and plain(str(one)) for pair in pairs for one in pair):
        raise DataError(f"{path.name} has an entry that is no name. {_REMEDY}")
    return [(plain(str(account)), plain(str(person))) for account, person in pairs]


def _of_table(text: str, path: Path) -> Iterable[tuple[str, str]]:
    """Read a table; columns that are empty, and those that the headings tell to be neither, are left out."""
    first = text.lstrip().split("\n", 1)[0]
    cut = max("\t;,", key=first.count)
    try:
        rows = [[plain(cell) for cell in row] for row in csv.reader(io.StringIO(text), delimiter=cut)]
    except csv.Error as problem:
        raise DataError(f"{path.name} cannot be cut into columns: {problem}. {_REMEDY}") from problem
    rows = [row for row in rows if any(row)]
    used = [
        place for place in range(max(map(len, rows), default=0)) if any(row[place : place + 1] > [""] for row in rows)
    ]
    table = [[row[place] if place < len(row) else "" for place in used] for row in rows]
    account, person, headed = _places(table, path)
    pairs = [(row[account], row[person]) for row in table[headed:]]
    if lacking := [pair for pair in pairs if not all(pair)]:
        raise DataError(f"{path.name}: a row lacks {'its person' if lacking[0][0] else 'its account'}. {_REMEDY}")
    return pairs


def _places(table: list[list[str]], path: Path) -> tuple[int, int, int]:
    """Return the column of accounts, that of people, and the number of rows of headings."""
    heads = [re.sub(r"\d+$", "", columns.plain(cell)) for cell in table[0]] if table else []
    accounts = [place for place, name in enumerate(heads) if name in _ACCOUNT]
    people = [place for place, name in enumerate(heads) if name in _PERSON]
    people = people or [
        place for place, name in enumerate(heads) if place not in accounts and columns.meaning(name) == "annotator"
    ]
    if len(accounts) == len(people) == 1:
        return accounts[0], people[0], 1
    if len(heads) != 2:
        raise DataError(f"{path.name} has {len(heads)} columns, and no two headings like account and person. {_REMEDY}")
    headed = int(bool(accounts or people))
    if accounts or people:
        account = accounts[0] if accounts else 1 - people[0]
        return account, 1 - account, headed
    repeated = [len({row[place] for row in table}) < len(table) for place in (0, 1)]
    return (1, 0, 0) if repeated == [True, False] else (0, 1, 0)
