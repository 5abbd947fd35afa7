"""The command line: results on stdout, progress on stderr, problems in one sentence.

Heavy packages are imported inside the commands, so that ``evalkit --help`` answers at once.
"""

from __future__ import annotations

import codecs
import os
import signal
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import click

from evalkit import DataError, __version__
from evalkit.reports.cli import campaigns, studies
from evalkit.reports.notebooks import Misuse

__all__ = ["main", "program"]


#: Commands by what one wants to do, as the help lists them.
JOBS = {
    "Your own campaign": ("demo", "new", "import", "export"),
    "Studies and their reports": ("list", "params", "run", "data"),
    "Teaching": ("student", "grade", "slides"),
    "This suite": ("completion", "tidy"),
}


class _ByJob(click.Group):
    """A group whose help lists commands by what one wants to do."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section a job."""
        for job, names in JOBS.items():
            with formatter.section(job):
                room = formatter.width - 4 - max(map(len, self.commands))
                formatter.write_dl([(name, self.commands[name].get_short_help_str(room)) for name in names])


@click.group(
    "evalkit",
    cls=_ByJob,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with: evalkit demo. Help for one command: evalkit import -h",
)
@click.version_option(__version__, message="evalkit %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Human evaluation of machine translation, on published data or your own."""
    if context.invoked_subcommand is None:  # a person who wants to know what there is, not wrong usage
        print(context.get_help())


for command in (*studies.COMMANDS, *campaigns.COMMANDS):
    program.add_command(command)


def _heard(unraisable: Any) -> None:
    """Repeat a stop that came where Python can only ignore it, such as in the middle of an import."""
    if unraisable.exc_type is KeyboardInterrupt:  # not in here, where it would be ignored, too
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
    else:
        sys.__unraisablehook__(unraisable)


def _written(problem: UnicodeError) -> tuple[bytes, int]:
    """Write what an encoding lacks as ?, and bytes of file names that are no text as the bytes that they are."""
    assert isinstance(problem, UnicodeEncodeError)
    signs = problem.object[problem.start : problem.end]
    return bytes(ord(sign) - 0xDC00 if "\udc80" <= sign <= "\udcff" else ord("?") for sign in signs), problem.end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when fine, 1 for a problem told in a sentence, 2 for wrong usage, 130 when stopped."""
    codecs.register_error("evalkit", _written)  # type: ignore[arg-type]  # bytes are allowed, too
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="evalkit")
    before, sys.unraisablehook = sys.unraisablehook, _heard
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with clean-up
        return program.main(arguments, prog_name="evalkit", standalone_mode=False) or 0
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except DataError as problem:
        sentence, code = str(problem), 1 + isinstance(problem, Misuse)
    except OSError as problem:
        place = f" {problem.filename}" if problem.filename else ""
        sentence, code = f"The system refused{place}: {problem.strerror or problem}. Correct that, then try again.", 1
    except click.Abort:
        sentence, code = "stopped.", 130
    finally:
        sys.unraisablehook = before
    print(f"evalkit: {sentence}", file=sys.stderr)
    return code
