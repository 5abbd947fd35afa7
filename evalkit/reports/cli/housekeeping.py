"""Commands that keep the house: tidy, student, completion."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit import CLONE, ROOT, DataError
from evalkit.reports.cli.paths import a_path


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print what lets a shell complete words.

    Write it to the shell's start-up file.
    """
    from click import shell_completion

    from evalkit.reports.cli import program

    shells = {
        "bash": shell_completion.BashComplete,
        "zsh": shell_completion.ZshComplete,
        "fish": shell_completion.FishComplete,
    }
    print(shells[shell](program, {}, "evalkit", "_EVALKIT_COMPLETE").source())


@click.command()
@click.option("--check", is_flag=True, help="change nothing; exit 1 if anything would change")
def tidy(check: bool) -> None:
    """Strip outputs and write notebooks in canonical form."""
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

    lessons = sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))
    if not lessons:
        raise DataError(f"There are no lessons in {ROOT / 'notebooks' / 'lessons'}. Add one, then make student copies.")
    for lesson in lessons:
        print(notebooks.student(lesson, out / lesson.name))


COMMANDS = [completion, tidy, student]
