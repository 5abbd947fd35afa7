"""What `evalkit new campaign` is told of a campaign by flags, and asks for where a person sits in front of it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evalkit import ROOT, DataError
from evalkit.reports.cli.paths import a_path

#: What cannot be done without, and how it is asked for.
_ASKED = {
    "protocol": "Protocol (DA, SQM, XSTS, ESA, cESA, MQM, preference)",
    "source": "File of source texts",
    "annotators": "Annotators (how many, or their names, with commas)",
}
_OPTIONS = [
    click.option(
        "--outputs",
        multiple=True,
        type=a_path,
        metavar="PATH",
        help="systems' outputs: a file each, a line "
        "a segment, a folder of them, or mt-metrics-eval's layout (repeatable)",
    ),
    click.option("--source", type=a_path, metavar="FILE", help="the source texts, a line a segment"),
    click.option("--reference", type=a_path, metavar="FILE", help="a person's translation, judged like a system"),
    click.option(
        "--references/--no-references",
        "references",
        default=None,
        help="judge people's translations, too (the default)",
    ),
    click.option("--documents", type=a_path, metavar="FILE", help="a document's name a line (default: ten lines each)"),
    click.option("--pair", metavar="PAIR", help="the languages, like eng-deu"),
    click.option("--protocol", metavar="NAME", help="DA, SQM, XSTS, ESA, cESA, MQM or preference"),
    click.option("--annotators", metavar="N", help="how many, or their names, with commas"),
    click.option("--hours", type=float, metavar="H", help="of each annotator (default: all documents are judged)"),
    click.option("--seconds", type=float, metavar="S", help="that a judgement takes (default: the pilot's, or usual)"),
    click.option("--overlap", type=float, metavar="SHARE", help="of documents that two judge (default: 0.2)"),
    click.option("--calibration", type=int, metavar="N", help="items that all judge (default: a tenth, 20 at most)"),
    click.option("--degraded", type=float, metavar="SHARE", help="shown again, degraded on purpose (default: 0.05)"),
    click.option("--repeats", type=float, metavar="SHARE", help="shown again as they are (default: 0.05)"),
    click.option(
        "--opponents",
        type=int,
        metavar="N",
        help="of preference: how many others each system meets in a document (default: all)",
    ),
    click.option(
        "--pilot",
        type=a_path,
        metavar="FILE",
        help="earlier judgements: they tell times, what scatters, and what a calibration set is chosen from",
    ),
    click.option(
        "--class",
        "everybody",
        is_flag=True,
        default=None,
        help="a class: everybody judges everything, and without --outputs the texts of lesson 0",
    ),
    click.option("--seed", type=int, metavar="N", help="of all that is drawn (default: 7)"),
]


def _for_a_class() -> dict[str, Any]:
    """Return the texts that a class judges that brings none of its own: those of lesson 0."""
    texts = ROOT / "notebooks" / "lessons" / "texts"
    return {
        "outputs": (texts / "outputs",),
        "source": texts / "source.txt",
        "documents": texts / "documents.txt",
        "pair": "deu-eng",
        "protocol": "ESA",
    }


def options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of a design."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked(told: dict[str, Any]) -> dict[str, Any]:
    """Ask for what is lacking where somebody can answer; return what is told then, without what is not.

    Without outputs no campaign is designed, and nothing is returned. Raises DataError where something is lacking and
    nobody is there, or flags are given without outputs.
    """
    person = sys.stdin is not None and sys.stdin.isatty()
    if not any(value not in (None, ()) for value in told.values()) and person:
        answer = click.prompt(
            "Systems' outputs, a folder or files with commas (empty: only a template)",
            default="",
            show_default=False,
            err=True,
        )
        told = told | {"outputs": tuple(Path(part.strip()) for part in answer.split(",") if part.strip())}
    given = {name: value for name, value in told.items() if value not in (None, ())}
    if not given:
        return {}
    if given.get("everybody") and "outputs" not in given:
        given |= {name: value for name, value in _for_a_class().items() if name not in given}
    if "outputs" not in given:
        raise DataError(f"--{next(iter(given))} is for a campaign of systems. Name their outputs with --outputs PATH.")
    layout = any((path / "system-outputs").is_dir() for path in given["outputs"])
    for name in (name for name in _ASKED if name not in given and not (name == "source" and layout)):
        if not person:
            raise DataError(f"--{name} is lacking. Pass it: {_ASKED[name][0].lower()}{_ASKED[name][1:]}.")
        answer = click.prompt(_ASKED[name], err=True)
        given[name] = Path(answer) if name == "source" else answer
    if person and "documents" not in given and not layout:
        answer = click.prompt(
            "File of documents' names (empty: ten lines each)", default="", show_default=False, err=True
        )
        given |= {"documents": Path(answer)} if answer.strip() else {}
    if person and "hours" not in given:
        hours = click.prompt("Hours of each annotator (0: all is judged)", type=float, default=0.0, err=True)
        given |= {"hours": hours} if hours else {}
    return given
