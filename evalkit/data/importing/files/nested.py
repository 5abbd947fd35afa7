"""Write nested JSON as a row a judgement, where names of its objects are people, systems or segments."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from evalkit.data.importing.cells import columns
from evalkit.data.importing.files.jsonl import Records
from evalkit.data.importing.kinds.layouts import is_criterion

#: What objects are called whose names are people, and whose names are systems.
_CALLED = {
    "annotator": columns.vocabulary(
        "annotators workers raters evaluators judges reviewers people participants byannotator byrater byworker"
    ),
    "system": columns.vocabulary("systems outputs models hypotheses candidates translations mts engines bysystem"),
    "segment": columns.vocabulary("segments sentences items sources lines bysegment byitem"),
}
_LOOKS = {
    "annotator": re.compile(
        r"(w|a|ann|p|worker|annotator|rater|user|judge|participant|evaluator)[\W_]*\d+|\S+@\S+", re.I
    ),
    "segment": re.compile(r"(item|it|seg|segment|sent|sentence|line|src)?[\W_]*\d+", re.I),
}
_OF_ERRORS = {"severity", "category", "start", "end", "start_i", "end_i", "span"}
_MOST = 8  # levels of objects

Object = dict[str, Any]


def rows(read: Records) -> Records:
    """Return records with an object for each judgement where theirs hold several under names; else as they are.

    Names that are no headings, at as many places as there are judgements, become a column: of annotators, systems or
    segments where what the object is called, how the names look, or what else is lacking tells which; else of that
    object's own name, which ``--map`` then takes.
    """
    found = [(line, whole) for line, one in read.found for whole in _keyed(one)]
    notes = [] if len(found) == len(read.found) else ["each object within an object became a row"]
    for _ in range(_MOST):
        name, role, measures = _several(found)
        if not name and not measures:
            break
        found = [(line, one) for line, whole in found for one in _each(whole, name, role, measures)]
        notes.append(f"what {name or ', '.join(measures)} holds became a row each" + (f", by {role}" if role else ""))
    return replace(read, found=found, notes=[*read.notes, *notes]) if notes else read


def _keyed(whole: Object) -> Iterator[Object]:
    """Take objects in objects in objects, whose names are all of one kind at each depth, apart; level 1, level 2, …"""
    depths = _depths(whole)
    if not depths:
        yield whole
        return
    leaves = [*_leaves(whole, depths)]
    have = {columns.meaning(name) for _, leaf in leaves for name in leaf}
    names = [[path[depth] for path, _ in leaves] for depth in range(depths)]
    roles = _roles(names, have)
    for path, leaf in leaves:
        yield dict(zip(roles, path)) | leaf


def _depths(whole: Object) -> int:
    """Count the levels of names above judgements or numbers, in an object that holds nothing but objects; else 0."""
    level, depth = [whole], 0
    while depth < _MOST and level and not any(map(_is_heading, _names(level))):
        inner = [value for one in level for value in one.values()]
        if all(map(_is_number, inner)):
            return depth + 1 if depth else 0
        if not all(isinstance(value, dict) and value for value in inner) or len(whole) < 2:
            return 0
        level, depth = inner, depth + 1
    alike = len({frozenset(filter(_is_heading, one)) for one in level}) == 1 and any(map(_is_measure, _names(level)))
    return depth if depth > 1 or alike else 0


def _names(objects: Iterable[Object]) -> set[str]:
    return {name for one in objects for name in one}


def _leaves(value: Any, depths: int, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Object]]:
    if len(path) == depths:
        yield path, value if isinstance(value, dict) else {"score": value}
        return
    for name, inner in value.items():
        yield from _leaves(inner, depths, (*path, name))


def _roles(names: list[list[str]], have: set[str | None]) -> list[str]:
    """Name the levels: by how their names look, the last one by what is still lacking."""
    lacking = [role for role in ("segment", "annotator", "system") if role not in have]
    roles = [f"level {depth}" for depth in range(1, len(names) + 1)]
    for role in ("annotator", "segment"):
        alike = [depth for depth, own in enumerate(names) if all(map(_LOOKS[role].fullmatch, own))]
        alike = [depth for depth in alike if roles[depth].startswith("level")]
        if role in lacking and len(alike) == 1:
            roles[alike[0]] = role
            lacking.remove(role)
    left = [depth for depth, role in enumerate(roles) if role.startswith("level")]
    if len(left) == 1 and len(lacking) == 1:
        roles[left[0]] = lacking[0]
    return roles


def _several(found: list[tuple[int, Object]]) -> tuple[str, str, list[str]]:
    """Find what holds several judgements in each object: how it is called, the column of its names, and its parts."""
    first = next((whole for _, whole in found), {})
    have = {columns.meaning(name) for name in first} | ({"segment"} if "source" in first else set())
    measures = [name for name, value in first.items() if isinstance(value, dict) and is_criterion(name)]
    inner = {one for _, whole in found for name in measures for one in whole.get(name) or ()}
    values = [value for name in measures for value in first[name].values()]
    if inner and not any(map(_is_heading, inner)) and all(map(_is_number, values)):
        return "", _role("", inner, have) or "names", measures
    for name, value in first.items():
        if not isinstance(value, list | dict) or not value:
            continue
        inner = {one for _, whole in found if isinstance(whole.get(name), dict) for one in whole[name]}
        if isinstance(value, list) and _are_judgements(value) and "score" not in have:
            return name, "", []
        if isinstance(value, dict) and not any(map(_is_heading, inner)):
            parts = [one for _, whole in found if isinstance(whole.get(name), dict) for one in whole[name].values()]
            role = _role(name, inner, have)
            called = [own for own, words in _CALLED.items() if columns.plain(name) in words]
            if all(isinstance(part, dict) for part in parts):
                deeper = bool(called) and any(isinstance(one, dict) for part in parts for one in part.values())
                if deeper or any(map(_is_measure, _names(parts))):
                    return name, role or name, []
            people = role == "annotator" and all(map(_LOOKS["annotator"].fullmatch, inner))
            if all(map(_is_number, parts)) and (people or role in called):
                return name, role, []
    return "", "", []


def _role(name: str, inner: set[str], have: set[str | None]) -> str:
    """Say what names are: as their object is called or they look, else the one thing that is lacking; "" where open."""
    lacking = [role for role in ("system", "annotator", "segment") if role not in have]
    told = [role for role in _told(name, inner) if role in lacking]
    return told[0] if told else lacking[0] if len(lacking) == 1 else ""


def _told(name: str, inner: set[str]) -> list[str]:
    looks = [role for role, look in _LOOKS.items() if all(map(look.fullmatch, inner))]
    called = [role for role, words in _CALLED.items() if columns.plain(name) in words]
    return [*looks, *called]


def _each(whole: Object, name: str, role: str, measures: list[str]) -> Iterator[Object]:
    """Take the judgements of an object apart, each with what all of them share."""
    if measures:
        rest = {key: value for key, value in whole.items() if key not in measures}
        parts = {measure: whole.get(measure) or {} for measure in measures}
        if not all(isinstance(part, dict) for part in parts.values()):
            yield whole
            return
        for one in dict.fromkeys(one for part in parts.values() for one in part):
            yield rest | {role: one} | {measure: part.get(one) for measure, part in parts.items()}
        return
    rest = {key: value for key, value in whole.items() if key != name}
    value = whole.get(name)
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        yield from (rest | one for one in value)
    elif isinstance(value, dict) and role:
        for one, part in value.items():
            yield rest | {role: one} | (part if isinstance(part, dict) else {"score": part})
    elif value:  # not what the others have there: a row of its own, which lacks what a judgement must have
        yield whole


def _are_judgements(values: list[Any]) -> bool:
    """Tell whether a list holds judgements rather than marked errors."""
    if not all(isinstance(value, dict) for value in values) or _OF_ERRORS & _names(values):
        return False
    meant = {columns.meaning(name) for name in _names(values)}
    return "annotator" in meant and ("score" in meant or any(map(is_criterion, _names(values))))


def _is_heading(name: str) -> bool:
    return columns.meaning(name) is not None or is_criterion(name) or name in columns.OTHERS


def _is_measure(name: str) -> bool:
    return is_criterion(name) or columns.meaning(name) == "score"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, str) and bool(re.fullmatch(r"-?\d+([.,]\d+)?|", value.strip())))
