"""Run the cells of one notebook in this process, and write down what its checks say. Started by ``rerun`` only."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from evalkit.reports.grading.rerun import FILE, MEMORY
from evalkit.show import MIME


def limit() -> None:
    """Bound this process's memory and files, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(codes: list[str], taken: Path) -> None:
    """Run cells one after the other, as Run All Cells does but on past errors."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell.instance()
    with taken.open("a", encoding="utf-8") as file:
        for code in codes:
            with capture_output() as seen:
                shell.run_cell(code)
            payloads = [output.data[MIME] for output in seen.outputs if MIME in (output.data or {})]
            for payload in payloads:
                if payload.get("kind") == "check":
                    file.write(json.dumps(payload) + "\n")
            file.flush()


if __name__ == "__main__":
    limit()
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
