"""Kernels for a run of studies, and the execution of a notebook in one.

A kernel is this interpreter, in one environment for all, with sockets in a folder of the run's own. ``Kernels.manager``
is a kernel manager class, which papermill and nbclient take as it is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import papermill
import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from evalkit import DataError, one_line
from evalkit.reports import notebooks
from evalkit.reports.notebooks import headings
from evalkit.reports.studies import Study


@contextlib.contextmanager
def scratch(parent: Path, name: str) -> Iterator[Path]:
    """Give this process a folder of its own below ``parent``; clear away those of processes that have gone.

    The folder's name starts with ``name``, this machine's name and the process id. Raises OSError where it cannot be.
    """
    mark = f"{name}-{socket.gethostname()}-"
    for left in parent.glob(f"{mark}*"):
        pid = left.name.removeprefix(mark).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{mark}{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


#: Kernels hash, compute and draw alike on every machine: one thread each, because the order of a sum changes its bits.
FIXED = {
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "JPY_SESSION_NAME": "",  # nobody is at work in a run, even where it was started from a notebook
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}
SOCKET_PATH_LIMIT = 90  # Unix socket paths end at 104 to 108 characters; names of about ten are added to the folder


class Manager(AsyncKernelManager):
    """Manage one kernel of a run: this interpreter, the run's environment and the run's folder for its sockets."""

    kernels: Kernels

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self._kernel_spec = KernelSpec(argv=launch, language="python", display_name="Python 3")  # not a user's own
        folder = self.kernels.folder
        if os.name == "posix" and len(str(folder)) < SOCKET_PATH_LIMIT:
            self.transport = "ipc"  # sockets in a private folder; TCP ports could be reached by every local user
        self.connection_file = tempfile.mktemp(prefix="k", suffix=".json", dir=folder)  # the folder is ours alone

    async def _async_pre_start_kernel(self, **kwargs: Any) -> Any:
        if self.kernels.closed:
            raise RuntimeError("the run has ended")
        self.kernels.started.append(self)
        command, options = await super()._async_pre_start_kernel(**{**kwargs, "env": self.kernels.env})
        return command, options | dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)

    pre_start_kernel = _async_pre_start_kernel


class Kernels:
    """The kernels of one run, as a context; whatever still lives at its end is killed."""

    def __init__(self) -> None:
        self.started: list[Manager] = []
        self.closed = False

    def __enter__(self) -> Kernels:
        self.scratch = scratch(Path(tempfile.gettempdir()), "evalkit")
        self.folder = self.scratch.__enter__()
        # a profile of its own: nobody's start-up files take part, and a home that cannot be written is no obstacle
        self.env = {**os.environ, **FIXED, "IPYTHONDIR": str(self.folder / "ipython")}
        self.manager = type("RunManager", (Manager,), {"kernels": self})
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.scratch.__exit__(None, None, None)

    def close(self) -> None:
        """Kill every kernel that still lives; a study that waits for one notices within a second or two."""
        self.closed = True
        for manager in self.started:
            provisioner: Any = manager.provisioner
            process = getattr(provisioner, "process", None)
            if process is not None and process.poll() is None:
                with contextlib.suppress(OSError):
                    os.killpg(provisioner.pgid, signal.SIGKILL) if provisioner.pgid else process.kill()


class Engine(NBClientEngine):
    """papermill's own engine, but the executed copy is written once, at the end, however that comes.

    papermill writes the whole notebook before and after every cell, which costs a study with many figures seconds.
    """

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **options: Any) -> None:
        """Execute the cells while there is no path to write to."""
        path, nb_man.output_path = nb_man.output_path, None
        try:
            super().execute_managed_notebook(nb_man, kernel_name, **options)
        finally:
            nb_man.output_path = path


papermill_engines.register("evalkit", Engine)


def execute_notebook(
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

    def started(cell: Any, cell_index: int) -> None:
        for heading in headings([cell]).values():
            begin(heading)

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
            on_cell_start=started,
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
