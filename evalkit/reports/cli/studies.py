"""Commands over studies: list, params, run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit import ROOT
from evalkit.reports.cli.words import pair, parameter_names, positive, print_columns, study_names

if TYPE_CHECKING:
    from evalkit.reports.studies import Layout

RUN_EXAMPLES = """examples:
  evalkit run --all                                             every study, into reports/
  evalkit run wmt22_calibration_hits -p pair=eng-deu            one study, another language pair
  evalkit run campaign -p file=campaign.parquet --out mine      your own judgements (see: evalkit import --help)
  evalkit run campaign -p "rules=[sd < 5, median_abs_diff > 20]"   a list, quoted for the shell

What a study can be told: evalkit params STUDY. Data are fetched when first needed. Progress goes to stderr, the
paths of the reports to stdout; the exit status is 1 where a study failed."""


def add(commands: argparse._SubParsersAction) -> None:
    """Add these commands to the program."""
    command = commands.add_parser("list", help="studies, their data, whether the data are here")
    add_studies(command)
    command.set_defaults(command=list_studies)

    command = commands.add_parser("params", help="a study's parameters, types, defaults, help")
    command.add_argument("study", metavar="STUDY").completer = study_names
    add_studies(command)
    command.set_defaults(command=show_parameters)

    command = commands.add_parser(
        "run",
        help="execute studies and write their reports",
        epilog=RUN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("names", nargs="*", metavar="STUDY").completer = study_names
    add_studies(command)
    command.add_argument("--all", action="store_true", help="every study")
    command.add_argument(
        "-p",
        dest="values",
        action="append",
        default=[],
        type=pair,
        metavar="KEY=VALUE",
        help="set a parameter (repeatable; see: evalkit params)",
    ).completer = parameter_names
    command.add_argument(
        "--out", type=Path, default=ROOT / "reports", metavar="DIR", help="the reports folder (default: reports)"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="notebooks at a time (default: all cores)")
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="spread over the workers of this Dask scheduler, on shared files"
    )
    command.set_defaults(command=run, wrong=command.error)


def add_studies(command: argparse.ArgumentParser) -> None:
    """Let a command read the studies of another file than the suite's own."""
    command.add_argument(
        "--studies", type=Path, metavar="FILE", help="read these studies, such as your campaign's studies.toml"
    )


def layout_of(options: argparse.Namespace) -> Layout:
    """Return where studies are read, the suite's own place unless ``--studies`` names another."""
    from dataclasses import replace

    from evalkit.reports.studies import Layout

    return replace(Layout(), studies=options.studies.resolve()) if options.studies else Layout()


def list_studies(options: argparse.Namespace) -> int:
    """Print a line per study, then a line for each of its data sets."""
    from evalkit import data
    from evalkit.reports.studies import read_studies

    for study in read_studies(layout_of(options)).values():
        print(f"{study.name}  {study.title}")
        for name in study.data + study.optional:
            absent = "optional, not here" if name in study.optional else "not here; a run fetches it"
            print(f"    {name}: {'here' if data.available(name) else absent}")
        if not study.data + study.optional:
            print("    (no data to fetch)")
    return 0


def show_parameters(options: argparse.Namespace) -> int:
    """Print a study's parameters as one table."""
    from evalkit.reports import notebooks
    from evalkit.reports.studies import choose, read_studies

    [study] = choose(read_studies(layout_of(options)), [options.study])
    declared = notebooks.parameters(study.notebook)
    own = notebooks.bind(declared, study.parameters, origin=f"studies.toml, [{study.name}.parameters]")
    print_columns([(p.name, p.kind, repr(own.get(p.name, p.default)), p.help) for p in declared])
    return 0


def run(options: argparse.Namespace) -> int:
    """Run studies and print the paths of what they made; 1 where one failed."""
    if bool(options.names) == options.all:
        options.wrong("name the studies to run, or --all")
    from dataclasses import replace

    from evalkit.reports import execute

    layout = replace(layout_of(options), reports=options.out.resolve())
    outcomes = execute.run(
        None if options.all else options.names,
        layout,
        values=dict(options.values),
        jobs=options.jobs,
        scheduler=options.scheduler,
        tell=lambda line: print(line, file=sys.stderr),
    )
    for outcome in outcomes:
        print(outcome.path)
    print(layout.reports / "index.html")
    return int(any(outcome.status == "failed" for outcome in outcomes))
