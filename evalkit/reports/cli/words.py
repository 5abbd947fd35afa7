"""Words of the command line: read from it, printed by it, completed in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evalkit import nameable


class _Nameable(click.Path):
    """A path that reports and receipts can name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse bytes that are no text."""
        return nameable(Path(str(super().convert(value, param, ctx))))


a_path = _Nameable(path_type=Path)


class Scale(click.ParamType):
    """The two ends of a scale, such as 1:5, as texts."""

    name = "LOW:HIGH"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:
        """Return the ends; wrong usage where there are not two numbers, the lower one first."""
        ends = value.split(":")
        with contextlib.suppress(ValueError):
            if len(ends) == 2 and float(ends[0]) < float(ends[1]):
                return ends
        self.fail(f"{value!r} is not two numbers. Write the lowest and the highest score, such as 1:5.", param, ctx)


class Pair(click.ParamType):
    """Text of the form ``key=value``, split at its first equals sign."""

    name = "KEY=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return key and value; wrong usage without either."""
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not {self.name}.", param, ctx)
        return key.strip(), text


#: What ``options.toml`` calls types.
TYPES: dict[str, Any] = {"path": a_path, "pair": Pair(), "scale": Scale(), "int": int, "float": float}


def options(command: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what gives a command the options that ``options.toml`` lists for it."""
    listed = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))[command]

    def give(function: Callable[..., None]) -> Callable[..., None]:
        for flags, told in reversed(listed.items()):
            kind = told.get("type")
            type_ = click.Choice(kind) if isinstance(kind, list) else TYPES.get(kind)
            function = click.option(*flags.split(), **{"default": None} | told | {"type": type_})(function)
        return function

    return give


def study_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the names of studies that begin so, for the shell to complete."""
    from evalkit.reports.studies import Layout, read_studies

    return [name for name in read_studies(Layout()) if name.startswith(begun)]


def parameter_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List what the studies named so far can be told, each with its default, for the shell to complete."""
    from evalkit.reports import notebooks
    from evalkit.reports.studies import Layout, read_studies

    known = read_studies(Layout())
    words = os.environ.get("COMP_WORDS", "").split()  # click has parsed none of them, for -p still lacks its value
    named = [known[word] for word in words if word in known]
    offered = {f"{one.name}={one.default}" for study in named for one in notebooks.parameters(study.notebook)}
    return sorted(text for text in offered if text.startswith(begun))


def data_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the names of data sets that begin so, for the shell to complete."""
    from evalkit.data import registry

    return [name for name in registry.entries() if name.startswith(begun)]


def width() -> int:
    """Return how wide the terminal is; 80 characters where there is none."""
    return shutil.get_terminal_size((80, 24)).columns


def print_paragraph(text: str) -> None:
    """Print a text whose further lines are indented."""
    indent = " " * (len(text) - len(text.lstrip()))
    print(click.wrap_text(text.strip(), width(), initial_indent=indent, subsequent_indent="    "))
