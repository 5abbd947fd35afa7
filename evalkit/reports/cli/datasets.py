"""Commands over registered data: data list, data fetch, data verify."""

from __future__ import annotations

import argparse

from evalkit.reports.cli.words import data_names, print_frame


def add(commands: argparse._SubParsersAction) -> None:
    """Add these commands to the program."""
    command = commands.add_parser("data", help="the data sets: list, fetch, verify")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    for action, line in (
        ("list", "names, licences, sizes, whether they are here"),
        ("fetch", "download, or copy from the mirror"),
        ("verify", "check every file that is here"),
    ):
        sub = actions.add_parser(action, help=line)
        if action != "list":
            names = sub.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
            names.completer = data_names
        sub.set_defaults(command={"list": list_data, "fetch": fetch_data, "verify": verify_data}[action])


def list_data(_: argparse.Namespace) -> int:
    """Print the data sets as a table."""
    from evalkit import data

    print_frame(data.listing())
    return 0


def fetch_data(options: argparse.Namespace) -> int:
    """Fetch data sets and print the paths of their files."""
    from evalkit import data

    for path in data.fetch(options.names or None):
        print(path)
    return 0


def verify_data(options: argparse.Namespace) -> int:
    """Check the files of the data sets and print what each is worth; 1 where one is not as it should be."""
    from evalkit import data

    print_frame(data.verify(options.names or None))
    return 0
