"""The command line: results on stdout, progress on stderr, problems in one sentence.

Heavy packages are imported inside the commands, so that ``evalkit --help`` answers at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

import click

from evalkit import DataError, __version__
from evalkit.reports.cli import campaigns, datasets, housekeeping, studies, teaching

__all__ = ["main", "program"]


@click.group("evalkit", invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="evalkit %(version)s")
@click.pass_context
def program(context: click.Context) -> None:
    """Human evaluation of machine translation: run studies, on published data or on your own."""
    if context.invoked_subcommand is None:  # a person who wants to know what there is, not wrong usage
        print(context.get_help())


for group in (studies, datasets, campaigns, teaching, housekeeping):
    for command in group.COMMANDS:
        program.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when fine, 1 for a problem told in a sentence, 2 for wrong usage, 130 when stopped."""
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: with clean-up
        return program.main(arguments, prog_name="evalkit", standalone_mode=False) or 0
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except DataError as problem:
        sentence, code = str(problem), 1
    except OSError as problem:
        place = f" {problem.filename}" if problem.filename else ""
        sentence, code = f"The system refused{place}: {problem.strerror or problem}. Correct that, then try again.", 1
    except click.Abort:
        sentence, code = "stopped.", 130
    print(f"evalkit: {sentence}", file=sys.stderr)
    return code
