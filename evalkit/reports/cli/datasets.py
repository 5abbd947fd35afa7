"""Commands over registered data: data list, data fetch, data verify."""

from __future__ import annotations

import click

from evalkit.reports.cli.words import data_names, print_frame


@click.group("data")
def datasets() -> None:
    """The data sets: list, fetch, verify."""


@datasets.command("list")
def list_data() -> None:
    """Names, licences, sizes, whether they are here."""
    from evalkit import data

    print_frame(data.listing())


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=data_names)
def fetch(names: tuple[str, ...]) -> None:
    """Download, or copy from the mirror (default: all)."""
    from evalkit import data

    for path in data.fetch(list(names) or None):
        print(path)


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=data_names)
def verify(names: tuple[str, ...]) -> None:
    """Check every file that is here (default: all sets)."""
    from evalkit import data

    print_frame(data.verify(list(names) or None))


COMMANDS = [datasets]
