"""A finding is a key and its values; ``wording.toml`` has the words, and one formatter makes English of both.

A key is a group and a variant, such as "agreement.weak". An entry of ``wording.toml`` is a sentence, or a table: say
(the sentence), title (the same as a claim), do (what to do about it), verdict. What a group says for all of its
variants, such as the question that a check asks, stands in the group itself. ``[@holm1979]`` in an entry cites a work
of ``references.bib``: it becomes a mark between control characters, which no name on a page has (``opening.readable``).
A result says by ``tell`` which findings it is. What stands in the place of an analysis that the data do not allow,
``Missing``, says what to collect.
"""

import functools
import re
import string
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

from evalkit import DataError
from evalkit.stats.terms import join_names

P = ParamSpec("P")
Returned = TypeVar("Returned")

WORDING, CAPTIONS = (
    tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    for name in ("wording", "captions")
)
#: Verdicts from worst to best, each a sign and a word, so that neither colour nor sign alone carries it.
SIGNS = {"problem": "✗ problem", "look": "! look", "unknown": "? not known", "fine": "✓ fine"}
#: A citation in ``wording.toml``, and what stands for it in a sentence: one work or several, in brackets.
_CITED, MARK = re.compile(r" ?\[@([a-z0-9;@ ]+)\]"), "\x02{}\x04"


@dataclass(frozen=True)
class Finding:
    """What an analysis found: a key of ``wording.toml``, and the values of its templates."""

    key: str
    values: Mapping[str, Any]

    @property
    def group(self) -> str:
        """What it is about, such as "agreement"."""
        return self.key.partition(".")[0]

    @property
    def verdict(self) -> str:
        """One of ``SIGNS``; "" of what is no check."""
        variant = self.key.partition(".")[2]
        return self._entry("verdict") or (variant if variant in SIGNS else "")

    @property
    def result(self) -> str:
        """The verdict with its sign."""
        return SIGNS[self.verdict]

    @property
    def question(self) -> str:
        """What a check asks, so that yes is good."""
        return self.words("ask")

    @property
    def found(self) -> str:
        """What a check found: the claim, then what it rests on."""
        return " ".join(filter(None, [f"{capital(self.words('title'))}.", str(self)]))

    @property
    def advice(self) -> str:
        """What to do about it; "" for nothing."""
        return self.words("do")

    @property
    def elsewhere(self) -> bool:
        """Whether it is about other language pairs of the file, so that it decides nothing about that in detail."""
        return bool(WORDING[self.group].get("elsewhere"))

    def words(self, register: str) -> str:
        """Fill in a template: say, title, do, ask, option; "" where the key has none."""
        return _English(self).format(_CITED.sub(_mark, self._entry(register)), **self.values)

    def __str__(self) -> str:
        return self.words("say")

    def _entry(self, register: str) -> str:
        group, _, variant = self.key.partition(".")
        own = WORDING[group][variant]
        own = {"say": own} if isinstance(own, str) else own
        return own.get(register, WORDING[group].get(register, ""))


def finding(key: str, /, **values: Any) -> Finding:
    """Make a finding of a key and its values.

    >>> print(finding("items.repeat", n=1200))
    1,200 second showings
    """
    return Finding(key, values)


def words(key: str, /, **values: Any) -> str:
    """Say a finding at once: a reason, or a part of another sentence."""
    return str(Finding(key, values))


def which(group: str, found: object, /, **holds: Any) -> Iterator[Finding]:
    """Yield the findings of a group that hold, in the order in which they are named.

    Their sentences tell ``found``, and what holds by its own name.

    >>> [str(one) for one in which("reading", None, rows="9 read, 8 kept", apart=[])]
    ["Of the file's rows: 9 read, 8 kept."]
    """
    return (finding(f"{group}.{key}", found=found, **{key: one}) for key, one in holds.items() if _there(one))


class Result(SimpleNamespace):
    """What an analysis found, in sentences and tables, whose words stand in ``wording.toml`` and ``captions.toml``.

    A result has the attributes that its docstring names, as those of scipy's optimisers have.

    >>> Result(pair="eng-jpn", hours=2.5)
    Result(pair='eng-jpn', hours=2.5)
    """

    def tell(self) -> Iterable[Finding]:
        """Yield the findings that this is, a paragraph each; what a file lacks is of the group "lacks"."""
        return ()

    @property
    def sentences(self) -> list[str]:
        """Say what is there, a paragraph each."""
        return [str(one).strip() for one in self.tell() if one.group != "lacks"]

    @property
    def tables(self) -> list[dict[str, Any]]:
        """Return the options of ``show.table`` for each table that has rows, in the order of ``captions.toml``."""
        told = CAPTIONS.get(type(self).__name__, {})
        return [
            self._table(name, how) for name, how in told.items() if "always" in how or len(getattr(self, how["of"]))
        ]

    def _table(self, name: str, how: Mapping[str, Any]) -> dict[str, Any]:
        frame = getattr(self, how["of"])
        hidden = {*how.get("hidden", ()), *(name for name in how.get("rare", ()) if not frame[name].fillna(0).any())}
        options = {key: how[key] for key in ("digits", "headings", "folded") if key in how}
        options["columns"] = [name for name in frame if name in how.get("columns", frame) and name not in hidden]
        options |= {"cells": getattr(self, how["cells"])} if "cells" in how else {}
        caption = _English().format(how["say"], found=self)
        return {"frame": frame, "name": name, "caption": caption} | options


@dataclass(frozen=True)
class Missing(Result):
    """An analysis that these data do not allow; false, so that ``if found:`` asks whether there is something to show.

    reason: why, in a sentence; "" where nobody would expect it. collect: what to collect so that there is something, in
    sentences. asked: somebody asked for it, so that its absence is said in its place.
    """

    reason: str
    collect: str
    asked: bool = False

    @property
    def sentences(self) -> list[str]:
        """Say nothing, unless it was asked for."""
        return say(self) if self.asked else []

    def __bool__(self) -> Literal[False]:
        return False

    def tell(self) -> Iterable[Finding]:
        """Say why, and what to collect."""
        if self.reason:
            yield finding("lacks.missing", reason=self.reason, collect=self.collect)


#: What stands in the place of all that is said of annotators, where a file does not say who they are.
NOBODY = Missing(WORDING["lacks"]["names"], WORDING["collect"]["names"])


def or_missing(
    topic: str, *, of_people: bool = False, asked: bool = False
) -> Callable[[Callable[P, Returned]], Callable[P, Returned | Missing]]:
    """Decorate an analysis: where it raises DataError it returns ``Missing``, with the error's sentence as the reason.

    topic: whose entry of the group "collect" says what to collect when the analysis cannot work on these data; "" for
    nothing. of_people: whether it asks who judged what,
    so that it says nothing of a campaign, its first argument, that does not name annotators. asked: see ``Missing``.
    """

    def decorate(analyse: Callable[P, Returned]) -> Callable[P, Returned | Missing]:
        @functools.wraps(analyse)
        def attempt(*arguments: P.args, **options: P.kwargs) -> Returned | Missing:
            if of_people and not arguments[0].names_people:  # type: ignore[attr-defined]
                return NOBODY
            try:
                return analyse(*arguments, **options)
            except DataError as problem:
                return Missing(str(problem), words(f"collect.{topic}") if topic else "", asked)

        return attempt

    return decorate


def say(found: Result) -> list[str]:
    """Return all sentences of one result, a paragraph each, also about what its file lacks."""
    return [str(one).strip() for one in found.tell()]


def not_in_file(**found: Result) -> list[str]:
    """List what results lack, with what to collect, each under its name: ``not_in_file(calibration=…)``."""
    lacks: dict[str, list[str]] = {}
    for name, result in found.items():
        for one in result.tell():
            if one.group == "lacks":
                lacks.setdefault(capital(str(one).strip()), []).append(name.replace("_", " "))
    return [f"{', '.join(names).capitalize()}: {sentence}" for sentence, names in lacks.items()]


class _English(string.Formatter):
    """Format fields as English has them: besides Python's own ways, counts, lists, shares, intervals, p-values.

    A field may call for another entry: ``{x:?some|none}`` for ``some`` of the same group where there is an x, and else
    for ``none`` (either may be lacking); ``{x:in items}`` for the entry of the group ``items`` that x names.

    >>> say = _English().format
    >>> say("{n:# judgement} by {k:# person/people}; {names:list} {names:is|are} ahead", n=1200, k=1, names=["A", "B"])
    '1,200 judgements by 1 person; A and B are ahead'
    >>> say("{share:%}, {ends:to .2f}, {p:p}, {none}{text:low}", share=0.21, ends=(-1.25, 2), p=0, none=None, text="On")
    '21 %, -1.25 to 2.00, p < 0.001, on'
    >>> say("{lead:cap}; {all:list or # system}, {all:#}; {no:# item}", lead=finding("lead.raw"), all="abcd", no=[])
    'Has the highest average; 4 systems, 4; 0 items'
    >>> values = {"n": 1, "none": 0, "kind": "wins"}
    >>> _English(finding("items.repeat", **values)).format("{n:?repeat}{none:?repeat|}, {kind:in lead}", **values)
    '1 second showing, would win most comparisons'
    """

    def __init__(self, found: Finding | None = None) -> None:
        self.found = found

    def format_field(self, value: Any, how: str) -> str:
        if how.startswith("?") and self.found:
            there, _, absent = how[1:].partition("|")
            variant = there if _there(value) else absent
            return words(f"{self.found.group}.{variant}", **self.found.values) if variant else ""
        if how.startswith("in "):
            return words(f"{how[3:]}.{value}", **(self.found.values if self.found else {}))
        value = str(value) if isinstance(value, Finding) else value
        if value is None:
            return ""
        if "|" in how:
            return how.split("|")[_count(value) != 1]
        if how.startswith("#"):
            one, _, many = how[1:].strip().partition("/")
            number = _count(value)
            return f"{number:,} {one if number == 1 else many or (one and one + 's')}".rstrip()
        if how.startswith("list or "):
            return self.format_field(value, "list" if len(value) < 4 else how[8:])
        if how.startswith("to "):
            return " to ".join(format(end, how[3:]) for end in value)
        return _WAYS[how](value) if how in _WAYS else format(value, how)


def _there(value: Any) -> bool:
    """Tell whether there is something: no None, 0, NaN or empty table."""
    if isinstance(value, int | float | np.number | np.bool_) or value is None:
        return value is not None and value == value and bool(value)
    return len(value) > 0 if hasattr(value, "__len__") else bool(value)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float | np.number) else len(value)


def capital(text: str) -> str:
    """Begin with a capital letter; a language pair is not written with one."""
    return text if "-" in text.partition(" ")[0] else text[:1].upper() + text[1:]


def about(number: float) -> str:
    """Say a large number as a plan may: two digits, for its variances are estimates; a small one as it is.

    >>> about(34272), about(1249), about(96), about(0.81)
    ('about 34,000', 'about 1,200', '96', '0.8')
    """
    if number < 100:
        return f"{number:.0f}" if float(number).is_integer() or number >= 10 else f"{number:.1f}"
    step = 10 ** (len(str(int(number))) - 2)
    return f"about {round(number / step) * step:,.0f}"


def percent(share: float) -> str:
    """Say a share; one that is hardly any, or nearly all, is not rounded to none or all.

    >>> percent(0.21), percent(0.001), percent(0.999), percent(1)
    ('21 %', 'less than 1 %', 'more than 99 %', '100 %')
    """
    if 0 < share < 0.005 or 0.995 < share < 1:
        return f"{'less than 1' if share < 0.5 else 'more than 99'} %"
    return f"{share:.0%}".replace("%", " %")


def odds(share: float) -> str:
    """Say how often something happens as people say it.

    >>> odds(0.21), odds(0.999)
    ('in about one case in five', 'nearly always')
    """
    return min(WORDING["odds"].items(), key=lambda known: abs(float(known[0]) - share))[1]


_WAYS: dict[str, Callable[[Any], str]] = {
    "list": join_names,
    "List": lambda names: capital(join_names(names)),
    ";": lambda parts: "; ".join(map(str, parts)),
    "%": percent,
    "p": lambda p: "p < 0.001" if p < 0.001 else f"p = {p:.3f}",
    "about": about,
    "odds": odds,
    "low": lambda text: text[:1].lower() + text[1:],
    "cap": capital,
}


def _mark(cited: re.Match[str]) -> str:
    """Put a citation's keys between control characters."""
    return " " + MARK.format(cited[1].replace("@", "").replace(" ", ""))
