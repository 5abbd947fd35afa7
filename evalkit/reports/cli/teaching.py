"""Commands for teachers: grade, slides."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evalkit.reports.cli.paths import a_path


def lesson_names(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """List the names of lessons that begin so, for the shell to complete."""
    from evalkit.reports.slides import lessons

    return [name for name in lessons() if name.startswith(begun)]


@click.command()
@click.argument("folder", type=a_path, metavar="DIR")
@click.option("--out", type=a_path, default="grades.csv", metavar="CSV", help="default: grades.csv")
@click.option("--run", "again", is_flag=True, hidden=True)
def grade(folder: Path, out: Path, again: bool) -> None:
    """Students' notebooks as a table of exercises.

    Reads the lessons that students handed in, all in one folder or in a folder each, and writes a row per student and
    a column per exercise, with the misconception behind each wrong answer.

    Nothing is executed: the table rests on what the checks recorded when students ran them, and says what does not
    fit, such as an answer run after its check. A record can be forged.

    \b
    Example:
      evalkit grade handed-in --out grades.csv
    """
    from evalkit.reports import grading
    from evalkit.reports.notebooks import write_text

    def say(line: str) -> None:
        print(line, file=sys.stderr)

    if again:
        raise click.UsageError("grade runs no notebook. Run it yourself in JupyterLab (Run All), save it, grade again.")
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
        print(make(name, out, say=lambda line: print(line, file=sys.stderr)))


COMMANDS = [grade, slides]
