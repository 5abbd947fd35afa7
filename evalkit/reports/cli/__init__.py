"""The command line: results on stdout, progress on stderr, problems in one sentence.

Heavy packages are imported inside the commands, so that ``evalkit --help`` answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence

from evalkit import DataError, __version__
from evalkit.reports.cli import campaigns, datasets, housekeeping, studies

__all__ = ["main", "parser"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when fine, 1 for a problem told in a sentence, 130 when stopped."""
    known = parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what could come next
        import argcomplete

        argcomplete.autocomplete(known)
    options = known.parse_args(arguments)
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
        prog="evalkit",
        description="Human evaluation of machine translation: run studies, on published data or on your own.",
    )
    top.add_argument("--version", action="version", version=f"evalkit {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for group in (studies, datasets, campaigns, housekeeping):
        group.add(commands)
    return top
