"""A section of the campaign's report: what there is to show, or what to collect so that there is something."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pandas as pd

from evalkit import DataError


@dataclass(frozen=True)
class Table:
    """A table to show: recorded under ``name``, with its caption and digits (see ``show.table``)."""

    name: str
    frame: pd.DataFrame
    caption: str
    digits: int | dict[str, int] = 2


@dataclass(frozen=True)
class Section:
    """What one section has to say.

    told: sentences computed from the data. tables: never empty ones. collect: what is missing and how to collect it;
    "" where nothing is. facts: plain values that other sections read. drawn: what a figure is made from (arguments of
    a plotting function); None where there is nothing to draw. alt, caption: the figure's texts.
    """

    name: str
    told: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    collect: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    drawn: tuple | None = None
    alt: str = ""
    caption: str = ""

    def __post_init__(self) -> None:
        """Refuse an empty table and a section without a word: both would leave a reader with nothing."""
        for table in self.tables:
            if table.frame.empty:
                raise ValueError(f"{self.name}: the table {table.name} is empty")
        if not (self.told or self.tables or self.collect or self.drawn):
            raise ValueError(f"{self.name}: nothing to say")

    def frame(self, name: str) -> pd.DataFrame:
        """Return a table by its name; an empty frame where the section has none of that name."""
        return next((table.frame for table in self.tables if table.name == name), pd.DataFrame())

    def tell(self, show: ModuleType, draw: Callable[..., Any] | None = None) -> None:
        """Show the section: sentences, the figure, tables, and what to collect.

        show: the module ``evalkit.show``. draw: makes the figure from ``drawn``; called only where there is something.
        """
        for sentence in self.told:
            show.text(sentence)
        if draw is not None and self.drawn is not None:
            show.figure(draw(*self.drawn), alt=self.alt, caption=self.caption)
        for table in self.tables:
            show.table(table.frame, caption=table.caption, digits=table.digits, name=table.name)
        if self.collect:
            pair = "-" in self.collect.split()[0]  # a language pair is not written with a capital
            missing = self.collect if pair else self.collect[0].upper() + self.collect[1:]
            show.text(f"Missing here: {missing}")


def section(name: str, *, collect: str) -> Callable[[Callable[..., Section]], Callable[..., Section]]:
    """Decorate a function that makes a section: a user's problem becomes what the section says, with a remedy.

    collect: what to collect when an analysis finds that it cannot work on these data.
    """

    def decorate(make: Callable[..., Section]) -> Callable[..., Section]:
        @functools.wraps(make)
        def made(*arguments: Any, **options: Any) -> Section:
            try:
                return make(*arguments, **options)
            except DataError as problem:
                return Section(name, collect=f"{problem} {collect}")

        return made

    return decorate
