"""Words of the command line: read from it, printed by it, completed in it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def pair(text: str) -> tuple[str, str]:
    """Split ``key=value``; the value may contain further equals signs."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key.strip(), value


def positive(text: str) -> int:
    """Read a positive number of jobs."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def study_names(**_: object) -> list[str]:
    """List the names of studies, for the shell to complete."""
    from evalkit.reports.studies import Layout, read_studies

    return list(read_studies(Layout()))


def parameter_names(parsed_args: argparse.Namespace, **_: object) -> list[str]:
    """List what the studies named so far can be told, each with its equals sign, for the shell to complete."""
    from evalkit.reports import notebooks
    from evalkit.reports.studies import Layout, read_studies

    known = read_studies(Layout())
    own = [known[name] for name in parsed_args.names or [] if name in known]
    return sorted({f"{one.name}=" for study in own for one in notebooks.parameters(study.notebook)})


def data_names(**_: object) -> list[str]:
    """List the names of data sets, for the shell to complete."""
    from evalkit.data import registry

    return list(registry.entries())


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
