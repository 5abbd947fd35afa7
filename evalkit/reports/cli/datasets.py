"""Commands over registered data: data list, data fetch, data verify."""

from __future__ import annotations

import click

from evalkit.reports.cli.words import data_names, print_paragraph, usage


@click.group("data")
def datasets() -> None:
    """The data sets: list, fetch, verify."""


@datasets.command("list")
def list_data() -> None:
    """Names, whether they are here, sizes, dates, licences."""
    import pandas as pd

    from evalkit import data

    for row in data.listing().astype(object).itertuples():
        size = f", {row.bytes:,} bytes" if pd.notna(row.bytes) else ""
        print(f"{row.name}  ({'here' if row.here else 'not here'}{size})")
        dated = f"Released: {row.released}. " if row.released else ""
        print_paragraph(f"    {row.title}. {dated}Licence: {row.licence}")


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=data_names)
def fetch(names: tuple[str, ...]) -> None:
    """Download, or copy from the mirror (default: all)."""
    from evalkit import data

    with usage():
        known(names)
    for path in data.fetch(list(names) or None):
        print(path)


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=data_names)
def verify(names: tuple[str, ...]) -> None:
    """Check every file that is here (default: all sets).

    Says for each data set how many of its files are verified, and names the others; of the sets NAME every file.
    """
    from evalkit import data

    with usage():
        known(names)
    for name, files in data.verify(list(names) or None).groupby("name", sort=False):
        print(f"{name}  {', '.join(f'{count} {state}' for state, count in files['state'].value_counts().items())}")
        for file in files.itertuples():
            if names or file.state != "verified":
                print(f"    {file.file}: {file.state}, {file.digest[:40]}")


def known(names: tuple[str, ...]) -> None:
    """Raise DataError for a data set that is not registered, naming the nearest."""
    from evalkit.data import registry

    for name in names:
        registry.entry(name)


COMMANDS = [datasets]
