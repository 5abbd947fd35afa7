"""Words of the command line: read from it, printed by it, completed in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pandas as pd


class Pair(click.ParamType):
    """Text of the form ``key=value``, split at its first equals sign."""

    name = "KEY=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Return key and value; wrong usage without either."""
        key, equals, text = value.partition("=")
        if not equals or not key.strip():
            self.fail(f"{value!r} is not {self.name}.", param, ctx)
        return key.strip(), text


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


def print_frame(frame: pd.DataFrame) -> None:
    """Print a table with its header; gaps as a dash, truth as yes or no."""
    rows = frame.astype(object).where(frame.notna(), "–").to_numpy()
    print_columns([tuple(frame.columns), *(tuple(map(cell_text, row)) for row in rows)])


def cell_text(cell: object) -> str:
    """Print one value for people.

    >>> cell_text(True), cell_text(1077023), cell_text("here")
    ('yes', '1,077,023', 'here')
    """
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def print_columns(rows: list[tuple[str, ...]]) -> None:
    """Print rows of text in aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
