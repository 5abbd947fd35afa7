"""The warm process: import the heavy packages once, then fork a kernel for every request line on standard input.

Started by ``evalkit.reports.kernels`` as ``python -m evalkit.reports.warm MODULE...``. It answers ``ready``, then a
process id per request. It stays single-threaded, because a fork copies only the forking thread; it reaps its dead
children; and when its standard input closes, as it does when the runner ends in whatever way, it kills the living ones.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
from typing import Any

CHILD_SIGNAL = {signal.SIGCHLD}


def serve(modules: list[str]) -> None:
    """Import ``modules``, say so, and fork a kernel per request until standard input closes."""
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # kernels watch this process; ipykernel reads it on import
    for name in (*modules, "ipykernel.kernelapp", "ipykernel.zmqshell", "matplotlib_inline.backend_inline"):
        importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) > 1:
        raise SystemExit("an import has started a thread, so forking is not safe")
    gc.collect()
    gc.freeze()  # or the children's garbage collectors would touch, and so copy, every page
    living: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: reap(living))
    print("ready", flush=True)
    for line in sys.stdin:
        signal.pthread_sigmask(signal.SIG_BLOCK, CHILD_SIGNAL)  # or a child could be reaped before it is counted
        pid = os.fork()
        if pid == 0:
            become_kernel(**json.loads(line))
        living.add(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CHILD_SIGNAL)
        print(pid, flush=True)
    for pid in tuple(living):
        for kill in (os.killpg, os.kill):  # the group does not exist yet in a child that was forked just now
            with contextlib.suppress(ProcessLookupError):
                kill(pid, signal.SIGKILL)


def reap(living: set[int]) -> None:
    """Collect the children that have died, so that none stays a zombie."""
    with contextlib.suppress(ChildProcessError):
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            living.discard(pid)


def become_kernel(argv: list[str], env: dict[str, str], cwd: str) -> None:
    """Turn this forked child into an IPython kernel of its own; never returns."""
    try:
        os.setsid()  # a process group of its own, which can be killed with everything that the kernel starts
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CHILD_SIGNAL)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        run_kernel(argv)
    finally:
        os._exit(1)


def run_kernel(argv: list[str]) -> None:
    """Serve as a kernel until shut down, with figures inline and random state of its own."""
    import matplotlib
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp
    from IPython.core.pylabtools import activate_matplotlib
    from matplotlib_inline.backend_inline import configure_inline_support

    np.random.seed()  # noqa: NPY002 - every fork would share the parent's global stream; a fresh kernel does not
    sys.argv = ["ipykernel_launcher", *argv]
    app: Any = IPKernelApp.instance()
    app.initialize(argv)
    activate_matplotlib(matplotlib.get_backend())  # pyplot does both on import, but then there was no shell yet
    configure_inline_support(app.shell, matplotlib.get_backend())
    app.start()
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1:])
