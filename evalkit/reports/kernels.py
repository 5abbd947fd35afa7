"""Kernels for a run of studies: forked from a warm process where the system allows it, ordinary ones elsewhere.

Importing pandas, scipy and matplotlib costs a kernel more than most studies do. A forked kernel finds them imported.
Nobody else needs to know: ``Kernels.manager`` is a kernel manager class, which papermill takes as it is.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, cast

from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from evalkit.reports.scratch import scratch

PRELOAD = (
    "pandas",
    "numpy",
    "scipy.stats",
    "matplotlib.pyplot",
    "evalkit.campaign",
    "evalkit.show.plots",
    "evalkit.show.plots.protocols",
    "evalkit.metrics.learned",
)
#: Kernels hash, compute and draw alike on every machine: one thread each, because the order of a sum changes its bits.
FIXED = {
    "PYTHONHASHSEED": "0",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "JPY_SESSION_NAME": "",  # nobody is at work in a run, even where it was started from a notebook
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's allocator would start a thread before the fork
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}
SOCKET_PATH_LIMIT = 90  # Unix socket paths end at 104 to 108 characters; names of about ten are added to the folder


def preload() -> None:
    """Import what most studies import.

    >>> preload()
    >>> "scipy.stats" in sys.modules
    True
    """
    for name in PRELOAD:
        importlib.import_module(name)


class WarmError(Exception):
    """The warm process cannot serve; kernels are started the ordinary way."""


class Warm:
    """A process with the heavy packages imported, from which kernels are forked (Linux only)."""

    def __init__(self, env: dict[str, str]) -> None:
        """Start the process without waiting for its imports."""
        if not (sys.platform == "linux" and hasattr(os, "fork") and hasattr(os, "pidfd_open")):
            raise WarmError("no safe fork here")
        os.close(os.pidfd_open(os.getpid()))  # some containers forbid it
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "evalkit.reports.warm", *PRELOAD],  # -P: the current folder is no package
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
            start_new_session=True,  # Ctrl-C in a terminal must not reach it before the run has cleaned up
        )
        assert self.process.stdin
        assert self.process.stdout
        self.requests, self.replies = self.process.stdin, self.process.stdout
        self.lock = threading.Lock()
        self.ready = False

    def fork(self, **request: Any) -> int:
        """Fork a kernel and return its process id; WarmError where the warm process has gone."""
        with self.lock:
            try:
                self.ready = self.ready or self.replies.readline() == "ready\n"
                if not self.ready:
                    raise WarmError("its imports failed")
                self.requests.write(json.dumps(request) + "\n")
                return int(self.replies.readline())
            except (OSError, ValueError) as problem:
                raise WarmError(str(problem)) from problem

    def close(self) -> None:
        """End the process, which kills the kernels that still live."""
        with contextlib.suppress(OSError):
            self.requests.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.replies.close()


class Forked:
    """A forked kernel, with what jupyter_client uses of ``Popen``; it is nobody's child here, so a pidfd watches it."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.descriptor = -1
        try:
            self.descriptor = os.pidfd_open(pid)
        except ProcessLookupError:  # dead already
            self.returncode = 1

    def poll(self) -> int | None:
        """Return None while the kernel lives, 1 once it has ended (how, only its parent knows)."""
        if self.descriptor >= 0 and select.select([self.descriptor], [], [], 0)[0]:
            os.close(self.descriptor)
            self.descriptor, self.returncode = -1, 1
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the kernel has ended."""
        if self.poll() is None and not select.select([self.descriptor], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("kernel", timeout or 0)
        return self.poll() or 1

    def send_signal(self, number: int) -> None:
        """Send a signal to exactly this process, never to a later one with its number."""
        if self.poll() is None:
            signal.pidfd_send_signal(self.descriptor, number)

    def kill(self) -> None:
        """Kill the kernel."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)


class Provisioner(LocalProvisioner):
    """Launch a kernel from the run's warm process, or else in the ordinary way."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the process of one kernel and remember it for the run's end."""
        kernels = cast(Manager, self.parent).kernels
        if kernels.closed:
            raise RuntimeError("the run has ended")
        try:
            pid = kernels.fork(argv=cmd[cmd.index("-f") :], env=kwargs["env"], cwd=str(kwargs.get("cwd") or Path.cwd()))
        except WarmError:
            silence = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
            await super().launch_kernel(cmd, **kwargs, **silence)
        else:
            self.process, self.pid, self.pgid = cast(subprocess.Popen, Forked(pid)), pid, pid
        kernels.started.append(self)
        return self.connection_info


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
        if self.provisioner is None:
            self.kernel_id = self.kernel_id or Path(self.connection_file).stem
            self.provisioner = Provisioner(parent=self, kernel_id=self.kernel_id, kernel_spec=self.kernel_spec)
        return await super()._async_pre_start_kernel(**{**kwargs, "env": self.kernels.env})

    pre_start_kernel = _async_pre_start_kernel


class Kernels:
    """The kernels of one run, as a context; whatever still lives at its end is killed.

    warm: fork kernels from a warm process. ``forked`` counts the kernels that were.
    """

    def __init__(self, *, warm: bool = True) -> None:
        self.wants_warm = warm
        self.warm: Warm | None = None
        self.started: list[Provisioner] = []
        self.forked = 0
        self.closed = False

    def __enter__(self) -> Kernels:
        self.scratch = scratch(Path(tempfile.gettempdir()), "evalkit")
        self.folder = self.scratch.__enter__()
        # a profile of its own: nobody's start-up files take part, and a home that cannot be written is no obstacle
        self.env = {**os.environ, **FIXED, "IPYTHONDIR": str(self.folder / "ipython")}
        if self.wants_warm:
            with contextlib.suppress(WarmError, OSError):
                self.warm = Warm(self.env)
        self.manager = type("RunManager", (Manager,), {"kernels": self})
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.scratch.__exit__(None, None, None)

    def fork(self, **request: Any) -> int:
        """Fork a kernel; WarmError where only an ordinary one can be had."""
        if self.warm is None:
            raise WarmError("there is no warm process")
        pid = self.warm.fork(**request)
        self.forked += 1
        return pid

    def close(self) -> None:
        """Kill every kernel that still lives; a study that waits for one notices within a second or two."""
        self.closed = True
        if self.warm is not None:
            self.warm.close()
        for provisioner in self.started:
            process = provisioner.process
            if process is not None and process.poll() is None:
                with contextlib.suppress(OSError):
                    os.killpg(provisioner.pgid, signal.SIGKILL) if provisioner.pgid else process.kill()
