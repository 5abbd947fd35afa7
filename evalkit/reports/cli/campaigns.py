"""Commands over judgements of your own: new, import, export."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from evalkit.reports.cli.words import data_names, pair


def add(commands: argparse._SubParsersAction) -> None:
    """Add these commands to the program."""
    command = commands.add_parser("new", help="start a campaign of your own, or a further study")
    actions = command.add_subparsers(required=True, metavar="WHAT")
    sub = actions.add_parser("campaign", help="a folder with data template, checklist, instructions and report")
    sub.add_argument("name", metavar="NAME", help="of the campaign, its folder and its report")
    sub.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="where the folder goes (default: here)")
    sub.set_defaults(command=new_campaign)
    sub = actions.add_parser("study", help="a notebook that runs at once, and its entry in studies.toml")
    sub.add_argument("name", metavar="NAME", help="of the study and its report")
    sub.add_argument("--data", required=True, metavar="SET", help="the data set that it reads").completer = data_names
    sub.add_argument("--title", required=True, metavar="TEXT", help="its title: the question, in a line")
    sub.set_defaults(command=new_study)

    add_import(commands)

    command = commands.add_parser("export", help="a report's tables and methods paragraph as files for papers")
    command.add_argument("report", type=Path, metavar="REPORT.json", help="the JSON file beside a report's HTML")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for the files")
    command.set_defaults(command=export_report)


def add_import(commands: argparse._SubParsersAction) -> None:
    """Add the command that imports a campaign."""
    command = commands.add_parser(
        "import",
        help="read a campaign of your own: one table of ratings out of exports and spreadsheets",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="examples:\n"
        "  evalkit import appraise_export.csv\n"
        "  evalkit import scores.xlsx --sheet Scores --map annotator=Linguist --value src_lang=eng\n"
        "  evalkit import ratings.csv --mapping mapping.toml --scale 1:5 --out campaign.parquet\n"
        "  evalkit import ratings.csv campaign.rejected.csv --out repaired.parquet   # rejected rows, once repaired\n\n"
        "Files appear when everything went well, all at once. The same files imported again renew the result; a\n"
        "result of other files is left alone unless you pass --replace. Rejected rows stand in campaign.rejected.csv,\n"
        "with the reason, without annotators' names; columns that may hold names (e-mail, user) are hidden, too.",
    )
    command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="CSV, TSV, JSON Lines or XLSX")
    formats = ("auto", "appraise", "esa", "mqm", "mturk-da", "xsts", "mt-metrics-eval", "csv")
    command.add_argument("--format", choices=formats, default="auto", help="default: recognise it")
    command.add_argument(
        "--out", type=Path, default=Path("campaign.parquet"), metavar="PARQUET", help="default: campaign.parquet"
    )
    command.add_argument(
        "--map", dest="columns", action="append", default=[], type=pair, metavar="OURS=THEIRS",
        help="which column of the file is which of ours (repeatable; A+B joins score columns)",
    )  # fmt: skip
    command.add_argument(
        "--value", dest="values", action="append", default=[], type=pair, metavar="OURS=TEXT",
        help="one value for all rows, such as src_lang=eng (repeatable)",
    )  # fmt: skip
    command.add_argument("--mapping", type=Path, metavar="TOML", help="a file with columns, values, scale and the like")
    command.add_argument("--scale", metavar="LOW:HIGH", help="the ends of the scale (default: the format's)")
    command.add_argument(
        "--replace", action="store_true",
        help="write over a result of other files, or repaired rows; without it, an import only renews its own result",
    )  # fmt: skip
    names = command.add_mutually_exclusive_group()
    names.add_argument("--pseudonyms", action="store_true", help="replace annotators' names (the default)")
    names.add_argument("--keep-names", action="store_true", help="write annotators' names as they are")
    command.add_argument("--salt", metavar="TEXT", help="what pseudonyms are made with (default: your own, kept)")
    command.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook")
    command.add_argument("--encoding", metavar="NAME", help="of a text file (default: found out)")
    command.add_argument("--decimal", choices=[".", ","], help="the decimal mark (default: found out)")
    command.set_defaults(command=import_files, wrong=command.error)


def new_campaign(options: argparse.Namespace) -> int:
    """Write the folder of a campaign and print its path."""
    from evalkit.reports import starter

    print(starter.campaign(options.name, options.out))
    return 0


def new_study(options: argparse.Namespace) -> int:
    """Write a study to start from and print its notebook's path."""
    from evalkit.reports import starter

    print(starter.study(options.name, dataset=options.data, title=options.title))
    return 0


def import_files(options: argparse.Namespace) -> int:
    """Import a campaign: the report on stderr, the paths of what was written on stdout."""
    scale = options.scale.split(":") if options.scale else None
    from evalkit.data.importing import import_campaign

    columns = {ours: theirs.split("+") if "+" in theirs else theirs for ours, theirs in options.columns}
    report, written = import_campaign(
        options.files, options.out, format=options.format, keep_names=options.keep_names, salt=options.salt,
        columns=columns, values=dict(options.values), scale=scale, sheet=options.sheet, encoding=options.encoding,
        decimal=options.decimal, mapping=options.mapping, replace=options.replace, tell=progress(),
    )  # fmt: skip
    print("\n".join(report.sentences()), file=sys.stderr)
    for path in written:
        print(path)
    return 0


def progress(every: float = 2.0) -> Callable[[str], None]:
    """Make a function that prints a line on stderr, at most one in so many seconds."""
    last = time.monotonic()

    def tell(line: str) -> None:
        nonlocal last
        if time.monotonic() - last > every:
            last = time.monotonic()
            print(line, file=sys.stderr)

    return tell


def export_report(options: argparse.Namespace) -> int:
    """Write a report's tables and methods paragraph to a folder and print the files."""
    from evalkit import campaign

    for path in campaign.export(options.report, options.out):
        print(path)
    return 0
