"""Kernels for a run of studies, and the execution of a notebook in one.

A kernel is this interpreter, in one environment for all, with sockets in a folder of the run's own. ``Kernels.manager``
is a kernel manager class, which papermill and nbclient take as it is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError

from evalkit import DataError, one_line
from evalkit.reports.notebooks import METADATA, authored, cell_name, read
from evalkit.reports.studies import Study

#: Kernels hash, compute and draw alike on every machine: one thread each, because the order of a sum changes its bits.
FIXED = {
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "JPY_SESSION_NAME": "",  # nobody is at work in a run, even where it was started from a notebook
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}
#: What tqdm is told of a notebook's bar: none where nobody looks on.
BAR = {"leave": False, "disable": None, "bar_format": "{desc} {percentage:3.0f}%"}
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

    async def _async_start_kernel(self, **options: Any) -> None:
        if self.kernels.closed:
            raise RuntimeError("the run has ended")
        self.kernels.started.append(self)
        silent = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
        await super()._async_start_kernel(**options, **silent, env=self.kernels.env)

    start_kernel = _async_start_kernel


class Kernels(contextlib.AbstractContextManager["Kernels"]):
    """The kernels of one run, as a context; whatever still lives at its end is killed."""

    def __init__(self) -> None:
        self.started: list[Manager] = []
        self.closed = False
        self.scratch = tempfile.TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True)
        self.folder = Path(self.scratch.name)
        # a profile of its own: nobody's start-up files take part, and a home that cannot be written is no obstacle
        self.env = {**os.environ, **FIXED, "IPYTHONDIR": str(self.folder / "ipython")}
        self.manager = type("RunManager", (Manager,), {"kernels": self})

    def __exit__(self, *_: object) -> None:
        self.close()
        self.scratch.cleanup()

    def close(self) -> None:
        """Kill every kernel that still lives; a study that waits for one notices within a second or two."""
        self.closed = True
        for manager in self.started:
            provisioner: Any = manager.provisioner
            process = getattr(provisioner, "process", None)
            if process is not None and process.poll() is None:
                with contextlib.suppress(OSError):
                    os.killpg(provisioner.pgid, signal.SIGKILL) if provisioner.pgid else process.kill()


def execute_notebook(task: Study, executed: Path, timeout: float, kernels: Kernels) -> Any:
    """Execute a notebook in its own folder; the executed copy is left under ``executed``, whole or as far as it came.

    timeout: seconds for one cell. At a terminal papermill shows how far the notebook is.
    Returns the executed notebook. Raises DataError, naming the cell, for whatever stopped it.
    """
    begun: list[Any] = []
    for chatter in ("papermill", "asyncio"):  # what they would log of a failure, the outcome says in one line
        logging.getLogger(chatter).setLevel(logging.CRITICAL)
    try:
        return papermill.execute_notebook(
            task.notebook,
            executed,
            task.parameters,
            kernel_name="python3",
            language="python",
            progress_bar=BAR | {"desc": task.name},
            request_save_on_cell_execute=False,  # twice a cell, which takes seconds where there are many figures
            execution_timeout=timeout,
            on_cell_start=lambda cell, cell_index: begun.append(cell),
            kernel_manager_class=kernels.manager,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(task.notebook.parent)}},  # papermill's own cwd= moves the whole process
        )
    except (PapermillExecutionError, DeadKernelError, CellTimeoutError) as problem:
        own = list(authored(begun))
        if not isinstance(problem, PapermillExecutionError):  # papermill has written nothing
            cells = [*begun, *read(task.notebook)["cells"][len(own) :]]
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=METADATA), executed)
        where = cell_name(*own[-1]) if own else "before the first cell"
        raise DataError(f"{where}: {_stopped(problem, timeout)}") from None
    finally:
        if not (loop := ensure_event_loop()).is_running():  # this thread's, which nbclient opened and nobody closes
            loop.close()


def _stopped(problem: Exception, timeout: float) -> str:
    """Tell in one line what stopped a cell."""
    if isinstance(problem, PapermillExecutionError):
        return ("" if problem.ename == "DataError" else f"{problem.ename}: ") + one_line(problem.evalue)
    if isinstance(problem, CellTimeoutError):
        return f"still running after {timeout:g} s"
    return "the kernel died (killed, out of memory, or a crash in a library)"
