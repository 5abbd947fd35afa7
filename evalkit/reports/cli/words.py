"""Words of the command line: read from it, printed by it, completed in it."""

from __future__ import annotations

import shutil
import sys
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


class Pair(click.ParamType):
    """Two texts with a sign between them, such as ``key=value``, split at its first one."""

    def __init__(self, name: str = "KEY=VALUE", sign: str = "=") -> None:
        self.name, self.sign = name, sign

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return both; wrong usage without the first or the sign."""
        first, sign, second = value.partition(self.sign)
        if not sign or not first.strip():
            self.fail(f"{value!r} is not {self.name}.", param, ctx)
        return first.strip(), second


#: What ``options.toml`` calls types.
TYPES: dict[str, Any] = {"path": a_path, "pair": Pair(), "scale": Pair("LOW:HIGH", ":"), "int": int, "float": float}


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


def data_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the names of data sets that begin so, for the shell to complete."""
    from evalkit.data import registry

    return [name for name in registry.entries() if name.startswith(begun)]


def print_paragraph(text: str, indent: str = "") -> None:
    """Print a text as wide as the terminal; its further lines are indented."""
    width = shutil.get_terminal_size().columns
    print(click.wrap_text(text, width, initial_indent=indent, subsequent_indent="    "))


def say(line: str) -> None:
    """Print a line of progress, above the bars that are there."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)
