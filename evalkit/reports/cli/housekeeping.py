"""Commands that keep the house: tidy, student, completion."""

from __future__ import annotations

import argparse
from pathlib import Path

from evalkit import ROOT, DataError


def add(commands: argparse._SubParsersAction) -> None:
    """Add these commands to the program."""
    command = commands.add_parser("completion", help="print what makes a shell complete evalkit's words")
    command.add_argument("shell", choices=["bash", "zsh", "fish"], help="write it to the shell's start-up file")
    command.set_defaults(command=completion)

    command = commands.add_parser("tidy", help="strip outputs and write notebooks in canonical form")
    command.add_argument("--check", action="store_true", help="change nothing; exit 1 if anything would change")
    command.set_defaults(command=tidy)

    command = commands.add_parser("student", help="student copies of the lessons, without solutions")
    command.add_argument(
        "--out", type=Path, default=ROOT / "build" / "student", metavar="DIR", help="default: build/student"
    )
    command.set_defaults(command=student)


def tidy(options: argparse.Namespace) -> int:
    """Bring all notebooks into canonical form and print those that were not."""
    from evalkit.reports import notebooks

    paths = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    changed = [path for path in paths if notebooks.tidy(path, check=options.check)]
    for path in changed:
        print(path)
    if changed and options.check:
        raise DataError(f"{len(changed)} of {len(paths)} notebooks are not tidy. Run: evalkit tidy")
    return 0


def student(options: argparse.Namespace) -> int:
    """Write student copies of the lessons and print their paths."""
    from evalkit.reports import notebooks

    lessons = sorted((ROOT / "notebooks" / "lessons").glob("*.ipynb"))
    if not lessons:
        raise DataError(f"There are no lessons in {ROOT / 'notebooks' / 'lessons'}. Add one, then make student copies.")
    for lesson in lessons:
        print(notebooks.student(lesson, options.out / lesson.name))
    return 0


def completion(options: argparse.Namespace) -> int:
    """Print the lines that a shell needs to complete this program's words."""
    import argcomplete

    print(argcomplete.shellcode(["evalkit"], shell=options.shell))
    return 0
