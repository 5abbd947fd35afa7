"""Commands over studies, their data, the lessons and the notebooks of the suite."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit import CLONE, ROOT, DataError
from evalkit.reports.cli.words import Pair, a_path, data_names, print_paragraph, say, study_names

if TYPE_CHECKING:
    from evalkit.reports.studies import Layout


of_file = click.option("--studies", type=a_path, metavar="FILE", help="a studies.toml, such as of your campaign")


def layout_of(studies: Path | None, **folders: Path) -> Layout:
    """Return where studies are read, the suite's own place unless ``--studies`` names another."""
    from evalkit.reports.studies import Layout

    given = {"studies": studies, **folders}
    return Layout(**{name: path.resolve() for name, path in given.items() if path})


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


@click.command()
@click.argument("study", metavar="STUDY", shell_complete=study_names)
@of_file
def params(study: str, studies: Path | None) -> None:
    """A study's parameters, types, defaults, help."""
    from evalkit.reports import notebooks
    from evalkit.reports.studies import choose, read_studies, settings

    [chosen] = choose(read_studies(layout_of(studies)), [study])
    declared, own = notebooks.parameters(chosen.notebook), settings(chosen, {})
    formatter = click.HelpFormatter(width=shutil.get_terminal_size().columns)
    formatter.write_dl([(f"{p.name}: {p.kind} = {own[p.name]!r}", p.help) for p in declared])
    print(formatter.getvalue(), end="")


@click.command()
@click.argument("names", nargs=-1, metavar="[STUDY]...", shell_complete=study_names)
@of_file
@click.option("--all", "everything", is_flag=True, help="every study")
@click.option("-p", "values", multiple=True, type=Pair(), help="set a parameter")
@click.option("--out", type=a_path, default="reports", metavar="DIR", help="default: ./reports")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="notebooks at a time (default: all cores)")
@click.option("--scheduler", metavar="ADDRESS", help="of a Dask cluster on shared files, which you trust")
def run(names: tuple[str, ...], studies: Path | None, everything: bool, values: Any, out: Path, **how: Any) -> int:
    """Execute studies and write their reports.

    \b
    Examples:
      evalkit run --all                                   every study, into ./reports
      evalkit run wmt22_calibration_hits -p pair=eng-deu  one study, another language pair
      evalkit run campaign -p file=campaign.parquet       your own judgements (see: evalkit import --help)
      evalkit run campaign -p "rules=[sd < 5, median_abs_diff > 20]"   a list, quoted for the shell

    A Dask cluster executes what it is sent, your EVALKIT_ variables with it, and what it sends back can execute
    anything here: give --scheduler only an address, on a network, that you trust.

    What a study can be told by one or more -p: evalkit params STUDY. Data are fetched when first needed. Progress goes
    to stderr, the paths of the index and then of the reports to stdout; the exit status is 1 where a study failed.
    """
    if bool(names) == everything:
        raise click.UsageError("Name the studies to run, or --all.")
    from evalkit.reports import execute

    layout = layout_of(studies, reports=out)
    outcomes = execute.run(list(names) or None, layout, values=dict(values), tell=say, **how)
    print(layout.reports / "index.html")
    for outcome in outcomes:
        print(outcome.path)
    return int(any(outcome.status == "failed" for outcome in outcomes))


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
        print_paragraph(f"{row.title}. {dated}Licence: {row.licence}", indent="    ")


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=data_names)
def fetch(names: tuple[str, ...]) -> None:
    """Download, or copy from the mirror (default: all)."""
    from evalkit import data

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

    known(names)
    for name, files in data.verify(list(names) or None).groupby("name", sort=False):
        print(f"{name}  {', '.join(f'{count} {state}' for state, count in files['state'].value_counts().items())}")
        for file in files.itertuples():
            if names or file.state != "verified":
                print(f"    {file.file}: {file.state}, {file.digest[:40]}")


def known(names: tuple[str, ...]) -> None:
    """Refuse a data set that is not registered, naming the nearest."""
    from evalkit.data import registry
    from evalkit.reports.notebooks import misuse

    with misuse():
        for name in names:
            registry.entry(name)


def lesson_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the names of lessons that begin so, for the shell to complete."""
    from evalkit.reports.slides import lessons

    return [name for name in lessons() if name.startswith(begun)]


@click.command()
@click.argument("folder", type=a_path, metavar="DIR")
@click.option("--out", type=a_path, default="grades.csv", metavar="CSV", help="default: grades.csv")
def grade(folder: Path, out: Path) -> None:
    """Students' notebooks as a table of exercises.

    Reads the lessons that students handed in, all in one folder or in a folder each, and writes a row per student and
    a column per exercise, with the misconception behind each wrong answer.

    Nothing is executed: the table rests on what the checks recorded when students ran them, and says which checks were
    changed. A record can be forged.

    \b
    Example:
      evalkit grade handed-in --out grades.csv
    """
    from evalkit.reports import grading
    from evalkit.reports.notebooks import write_text

    found = grading.grade(folder, say=say)
    write_text(out, grading.as_csv(found))
    print(grading.as_text(found))
    print(f"\n{out}")


@click.command()
@click.argument("lessons", nargs=-1, required=True, metavar="LESSON...", shell_complete=lesson_names)
@click.option("--out", type=a_path, default="slides", metavar="DIR", help="default: ./slides")
def slides(lessons: tuple[str, ...], out: Path) -> None:
    """Slides of a lesson: one page, no network, no script.

    Runs the students' copy of the lesson on this machine, and writes a slide per heading with the figures of that run.

    \b
    Example:
      evalkit slides 1_kappa_by_hand
    """
    from evalkit.reports.slides import make

    for name in lessons:
        print(make(name, out, say=say))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """What lets a shell complete words.

    Write it to the shell's start-up file.
    """
    from click.shell_completion import get_completion_class

    from evalkit.reports.cli import program

    made: Any = get_completion_class(shell)
    print(made(program, {}, "evalkit", "_EVALKIT_COMPLETE").source())


@click.command()
@click.option("--check", is_flag=True, help="change nothing; exit 1 if anything would change")
def tidy(check: bool) -> None:
    """Notebooks without outputs, in canonical form."""
    from evalkit.reports import notebooks

    if not CLONE:
        raise DataError("tidy is for the notebooks of a clone, and this is an installation. Run it in a clone.")
    paths = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    changed = [path for path in paths if notebooks.tidy(path, check=check)]
    for path in changed:
        print(path)
    if changed and check:
        raise DataError(f"{len(changed)} of {len(paths)} notebooks are not tidy. Run: evalkit tidy")


@click.command()
@click.option("--out", type=a_path, default="student", metavar="DIR", help="default: ./student")
def student(out: Path) -> None:
    """Student copies of the lessons, without solutions."""
    from evalkit.reports import notebooks

    for lesson in sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb")):
        print(notebooks.student(lesson, out / lesson.name))


COMMANDS = [list_studies, params, run, datasets, grade, slides, completion, tidy, student]
