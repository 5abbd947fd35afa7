"""Commands over studies: list, params, run."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.reports.cli.paths import a_path
from evalkit.reports.cli.words import Pair, parameter_names, print_columns, print_paragraph, study_names, usage

if TYPE_CHECKING:
    from evalkit.reports.studies import Layout

of_file = click.option(
    "--studies",
    type=a_path,
    metavar="FILE",
    help="read these studies, such as your campaign's studies.toml",
)


def layout_of(studies: Path | None, **folders: Path) -> Layout:
    """Return where studies are read, the suite's own place unless ``--studies`` names another."""
    from evalkit.reports.studies import Layout

    given: dict[str, Any] = folders | ({"studies": studies} if studies else {})
    return replace(Layout(), **{name: path.resolve() for name, path in given.items()})


@click.command("list")
@of_file
def list_studies(studies: Path | None) -> None:
    """Studies, their data, whether the data are here."""
    from evalkit import data
    from evalkit.reports.studies import read_studies

    for study in read_studies(layout_of(studies)).values():
        print_paragraph(f"{study.name}  {study.title}")
        for name in study.data + study.optional:
            absent = "optional, not here" if name in study.optional else "not here; a run fetches it"
            print(f"    {name}: {'here' if data.available(name) else absent}")
        if not study.data + study.optional:
            print("    (no data to fetch)")


@click.command()
@click.argument("study", metavar="STUDY", shell_complete=study_names)
@of_file
def params(study: str, studies: Path | None) -> None:
    """A study's parameters, types, defaults, help."""
    from evalkit.reports import notebooks
    from evalkit.reports.studies import choose, read_studies

    known = read_studies(layout_of(studies))
    with usage():
        [chosen] = choose(known, [study])
    declared = notebooks.parameters(chosen.notebook)
    own = notebooks.bind(declared, chosen.parameters, origin=f"studies.toml, [{chosen.name}.parameters]")
    print_columns([(p.name, p.kind, repr(own.get(p.name, p.default)), p.help) for p in declared])


@click.command()
@click.argument("names", nargs=-1, metavar="[STUDY]...", shell_complete=study_names)
@of_file
@click.option("--all", "everything", is_flag=True, help="every study")
@click.option(
    "-p",
    "values",
    multiple=True,
    type=Pair(),
    shell_complete=parameter_names,
    help="set a parameter (repeatable; see: evalkit params)",
)
@click.option("--out", type=a_path, default="reports", metavar="DIR", help="default: ./reports")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="notebooks at a time (default: all cores)")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="spread over the workers of this Dask scheduler, on shared files; one that you trust",
)
def run(
    names: tuple[str, ...],
    studies: Path | None,
    everything: bool,
    values: tuple[tuple[str, str], ...],
    out: Path,
    jobs: int | None,
    scheduler: str | None,
) -> int:
    """Execute studies and write their reports.

    \b
    Examples:
      evalkit run --all                                   every study, into ./reports
      evalkit run wmt22_calibration_hits -p pair=eng-deu  one study, another language pair
      evalkit run campaign -p file=campaign.parquet       your own judgements (see: evalkit import --help)
      evalkit run campaign -p "rules=[sd < 5, median_abs_diff > 20]"   a list, quoted for the shell

    A Dask cluster executes what it is sent, your EVALKIT_ variables with it, and what it sends back can execute
    anything here: give --scheduler only an address, on a network, that you trust.

    What a study can be told: evalkit params STUDY. Data are fetched when first needed. Progress goes to stderr, the
    paths of the index and then of the reports to stdout; the exit status is 1 where a study failed.
    """
    if bool(names) == everything:
        raise click.UsageError("Name the studies to run, or --all.")
    from evalkit.reports import execute
    from evalkit.reports.studies import choose, read_studies

    layout = layout_of(studies, reports=out)
    known = read_studies(layout)
    with usage():
        chosen = choose(known, list(names) or list(known))
        tasks, _ = execute.bind_all(chosen, dict(values), layout.studies.parent, bind=execute.valued)
        for task in tasks:
            execute.check_parameters(task)
    outcomes = execute.run(
        list(names) or None,
        layout,
        values=dict(values),
        jobs=jobs,
        scheduler=scheduler,
        tell=lambda line: print(line, file=sys.stderr),
    )
    print(layout.reports / "index.html")
    for outcome in outcomes:
        print(outcome.path)
    return int(any(outcome.status == "failed" for outcome in outcomes))


COMMANDS = [list_studies, params, run]
