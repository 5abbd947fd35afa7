"""Execute the cells of one study's notebook through papermill, and tell where and why one failed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import papermill
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from evalkit import DataError, one_line
from evalkit.reports import notebooks
from evalkit.reports.kernels import Kernels
from evalkit.reports.progress import headings
from evalkit.reports.studies import Study


class Engine(NBClientEngine):
    """papermill's own engine, but the executed copy is written once, at the end, however that comes.

    papermill writes the whole notebook before and after every cell, which costs a study with many figures seconds.
    ``begin`` is told the heading of each section that is begun.
    """

    @classmethod
    def execute_managed_notebook(
        cls, nb_man: Any, kernel_name: str, *, begin: Callable[[str], None], **options: Any
    ) -> None:
        """Execute the cells while there is no path to write to."""
        path, nb_man.output_path = nb_man.output_path, None
        sections, cell_start = headings(nb_man.nb.cells), nb_man.cell_start

        def start(cell: Any, cell_index: int, **more: Any) -> None:
            if cell_index in sections:
                begin(sections[cell_index])
            cell_start(cell, cell_index, **more)

        nb_man.cell_start = start
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **options)
        finally:
            nb_man.output_path = path


papermill_engines.register("evalkit", Engine)


def execute(
    task: Study,
    executed: Path,
    timeout: float,
    kernels: Kernels,
    *,
    begin: Callable[[str], None] = lambda heading: None,
) -> Any:
    """Execute a notebook in its own folder; the executed copy is left under ``executed``, whole or as far as it came.

    timeout: seconds for one cell. begin: is told the heading of each section that is begun.
    Returns the executed notebook; raises whatever stopped it, see ``explain``.
    """
    for chatter in ("papermill", "asyncio"):  # what they would log of a failure, the outcome says in one line
        logging.getLogger(chatter).setLevel(logging.CRITICAL)
    try:
        return papermill.execute_notebook(
            task.notebook,
            executed,
            task.parameters,
            engine_name="evalkit",
            kernel_name="python3",
            language="python",
            progress_bar=False,
            execution_timeout=timeout,
            begin=begin,
            kernel_manager_class=kernels.manager,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(task.notebook.parent)}},  # papermill's own cwd= moves the whole process
        )
    finally:
        ensure_event_loop().close()  # this thread's, which nbclient opened and nobody closes


def explain(problem: Exception, executed: Path, timeout: float) -> str:
    """Tell in one line why a study failed, and in which cell."""
    if isinstance(problem, PapermillExecutionError):
        name = "" if problem.ename == "DataError" else f"{problem.ename}: "
        return f"{last_cell(executed)}: {name}{one_line(problem.evalue)}"
    if isinstance(problem, DeadKernelError):
        return f"{last_cell(executed)}: the kernel died (killed, out of memory, or a crash in a library)"
    if isinstance(problem, CellTimeoutError):
        return f"{last_cell(executed)}: still running after {timeout:g} s"
    return one_line(problem) if isinstance(problem, DataError) else f"{type(problem).__name__}: {one_line(problem)}"


def last_cell(executed: Path) -> str:
    """Name the last cell that an executed notebook has begun."""
    from evalkit.reports import export

    cells = notebooks.read(executed)["cells"] if executed.exists() else []
    begun = [
        (number, cell)
        for number, cell in export.authored(cells)
        if cell["cell_type"] == "code" and cell["metadata"].get("papermill", {}).get("start_time")
    ]
    return export.cell_name(*begun[-1]) if begun else "before the first cell"
