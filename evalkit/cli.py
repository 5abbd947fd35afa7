"""The command line: results on stdout, progress on stderr, problems in one sentence.

Heavy packages are imported inside the commands, so that ``evalkit --help`` answers at once.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit import ROOT, DataError, __version__

if TYPE_CHECKING:
    import pandas as pd


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when fine, 1 for a problem told in a sentence, 130 when stopped."""
    options = parser().parse_args(arguments)
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with clean-up
        return options.command(options)
    except DataError as problem:
        sentence, code = str(problem), 1
    except BrokenPipeError:  # the reader of stdout, such as head, has had enough
        sys.stderr.close()
        return 1
    except OSError as problem:
        place = f" {problem.filename}" if problem.filename else ""
        sentence, code = f"The system refused{place}: {problem.strerror or problem}. Correct that, then try again.", 1
    except KeyboardInterrupt:
        sentence, code = "stopped.", 130
    print(f"evalkit: {sentence}", file=sys.stderr)
    return code


def parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="evalkit", description="Human evaluation of machine translation: run studies, fetch their data."
    )
    top.add_argument("--version", action="version", version=f"evalkit {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="studies, their data, whether the data are here")
    command.set_defaults(command=list_studies)

    command = commands.add_parser("params", help="a study's parameters, types, defaults, help")
    command.add_argument("study", metavar="STUDY")
    command.set_defaults(command=show_parameters)

    command = commands.add_parser("run", help="execute studies and write their reports")
    command.add_argument("studies", nargs="*", metavar="STUDY")
    command.add_argument("--all", action="store_true", help="every study")
    command.add_argument(
        "-p",
        dest="values",
        action="append",
        default=[],
        type=pair,
        metavar="KEY=VALUE",
        help="set a parameter (repeatable; see: evalkit params)",
    )
    command.add_argument(
        "--out", type=Path, default=ROOT / "reports", metavar="DIR", help="the reports folder (default: reports)"
    )
    command.add_argument("--jobs", type=positive, metavar="N", help="notebooks at a time (default: all cores)")
    command.add_argument(
        "--scheduler", metavar="ADDRESS", help="spread over the workers of this Dask scheduler, on shared files"
    )
    command.set_defaults(command=run, wrong=command.error)

    command = commands.add_parser("data", help="the data sets: list, fetch, verify")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    for action, line in (
        ("list", "names, licences, sizes, whether they are here"),
        ("fetch", "download, or copy from the mirror"),
        ("verify", "check every file that is here"),
    ):
        sub = actions.add_parser(action, help=line)
        if action != "list":
            sub.add_argument("names", nargs="*", metavar="NAME", help="data sets (default: all)")
        sub.set_defaults(command={"list": list_data, "fetch": fetch_data, "verify": verify_data}[action])

    command = commands.add_parser("tidy", help="strip outputs and write notebooks in canonical form")
    command.add_argument("--check", action="store_true", help="change nothing; exit 1 if anything would change")
    command.set_defaults(command=tidy)

    command = commands.add_parser("student", help="student copies of the lessons, without solutions")
    command.add_argument(
        "--out", type=Path, default=ROOT / "build" / "student", metavar="DIR", help="default: build/student"
    )
    command.set_defaults(command=student)
    return top


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


def list_studies(_: argparse.Namespace) -> int:
    """Print a line per study, then a line for each of its data sets."""
    from evalkit import data
    from evalkit.reports.studies import Layout, read_studies

    for study in read_studies(Layout()).values():
        print(f"{study.name}  {study.title}")
        for name in study.data + study.optional:
            absent = "optional, not here" if name in study.optional else "not here; a run fetches it"
            print(f"    {name}: {'here' if data.available(name) else absent}")
        if not study.data + study.optional:
            print("    (no data to fetch)")
    return 0


def show_parameters(options: argparse.Namespace) -> int:
    """Print a study's parameters as one table."""
    from evalkit import notebooks
    from evalkit.reports.studies import Layout, choose, read_studies

    [study] = choose(read_studies(Layout()), [options.study])
    declared = notebooks.parameters(study.notebook)
    own = notebooks.bind(declared, study.parameters, origin=f"studies.toml, [{study.name}.parameters]")
    print_columns([(p.name, p.kind, repr(own.get(p.name, p.default)), p.help) for p in declared])
    return 0


def run(options: argparse.Namespace) -> int:
    """Run studies and print the paths of what they made; 1 where one failed."""
    if bool(options.studies) == options.all:
        options.wrong("name the studies to run, or --all")
    from dataclasses import replace

    from evalkit.reports import execute
    from evalkit.reports.studies import Layout

    layout = replace(Layout(), reports=options.out.resolve())
    outcomes = execute.run(
        None if options.all else options.studies,
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


def tidy(options: argparse.Namespace) -> int:
    """Bring all notebooks into canonical form and print those that were not."""
    from evalkit import notebooks

    paths = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    changed = [path for path in paths if notebooks.tidy(path, check=options.check)]
    for path in changed:
        print(path)
    if changed and options.check:
        raise DataError(f"{len(changed)} of {len(paths)} notebooks are not tidy. Run: evalkit tidy")
    return 0


def student(options: argparse.Namespace) -> int:
    """Write student copies of the lessons and print their paths."""
    from evalkit import notebooks

    lessons = sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))
    if not lessons:
        raise DataError(f"There are no lessons in {ROOT / 'notebooks' / 'lessons'}. Add one, then make student copies.")
    for lesson in lessons:
        print(notebooks.student(lesson, options.out / lesson.name))
    return 0


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


if __name__ == "__main__":
    raise SystemExit(main())
