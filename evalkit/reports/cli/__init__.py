"""The command line: results on stdout, progress on stderr, problems in one sentence.

Heavy packages are imported inside the commands, so that ``evalkit --help`` answers at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from io import TextIOWrapper

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when fine, 1 for a problem told in a sentence, 2 for wrong usage, 130 when stopped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
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
    print(f"evalkit: {sentence}", file=sys.stderr)
    return code
