"""Studies on the workers of a Dask cluster.

A cluster is trusted: it executes what it is sent, and what it sends back can make this process execute anything.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from collections.abc import Generator, Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

from evalkit import DataError, __version__, one_line
from evalkit.reports.kernels import Kernels

if TYPE_CHECKING:
    from distributed import Client

    from evalkit.reports.execute import Batch, Outcome
    from evalkit.reports.studies import Study

TIMEOUT = 10.0  # seconds to wait for a scheduler or a first worker that may not be there
ALIKE = ("numpy", "pandas", "scipy")  # beside this package: what could change a result from one version to the next
_GREETING = 1 << 16  # bytes; a scheduler introduces itself with some two hundred
_ADDRESS = re.compile(
    r"(?:(tcp|tls|ws|wss|ucx)://)?(\[[0-9a-f:.%]+\]|[^\s:/@\[\]]+):(\d{1,5})/?", re.ASCII | re.IGNORECASE
)
_START = "Start one with 'dask scheduler', or compute here, without --scheduler."


def connect(address: str, *, timeout: float = TIMEOUT) -> Client:
    """Connect to a Dask scheduler whose workers have this package, in the same versions as here.

    timeout: seconds for each step. Returns a client to be closed.
    Raises DataError where nothing answers, what answers is no Dask, nobody works, or versions differ.
    """
    parts = _ADDRESS.fullmatch(address.strip())
    if parts is None or not 0 < int(parts[3]) < 1 << 16:  # some of these distributed would take for a wish of a cluster
        raise DataError(f"{address!r} is no address of a Dask scheduler. Write it like tcp://host:8786.")
    try:
        from distributed import Client
    except ImportError:
        raise DataError(
            "A cluster needs the package distributed, which is not here. Install it with: "
            "pip install 'evalkit[distributed]'"
        ) from None
    with _unheard():
        try:
            if (parts[1] or "tcp").lower() == "tcp":
                _demand_greeting(parts[2].strip("[]"), int(parts[3]), timeout)
            client = Client(address.strip(), timeout=timeout, set_as_default=False)
        except OSError as problem:
            told = f"{type(problem).__name__}: {one_line(problem)}"
            raise DataError(f"No Dask scheduler answers at {address} ({told}). {_START}") from None
        try:
            client.wait_for_workers(1, timeout=timeout)
            _demand_alike(client)
        except TimeoutError:
            client.close()
            raise DataError(
                f"The Dask scheduler at {address} has no workers. Start one with: dask worker {address}"
            ) from None
        except BaseException:
            client.close()
            raise
        return client


def _demand_greeting(host: str, port: int, timeout: float) -> None:
    """Refuse what does not introduce itself unasked, by a few bytes that eight others count, as a scheduler does.

    For a web server, such as a scheduler's own dashboard, distributed would wait without end.
    """
    with socket.create_connection((host, port), timeout=timeout) as link:
        if not 0 < int.from_bytes(link.recv(8), "little") < _GREETING:
            raise DataError(f"What answers at {host}:{port} is no Dask scheduler. Correct the address. {_START}")


@contextlib.contextmanager
def _unheard() -> Iterator[None]:
    """Keep Dask from telling in tracebacks what is told in a sentence."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        yield
    finally:
        for logger, level in zip(loggers, before):
            logger.setLevel(level)


def _demand_alike(client: Client) -> None:
    ours = versions()
    for worker, theirs in client.run(versions, on_error="return").items():
        if isinstance(theirs, Exception) and not isinstance(theirs, OSError):  # that would be a worker just lost
            raise DataError(f"The Dask worker {worker} cannot import evalkit ({theirs}). Install it there as here.")
        if isinstance(theirs, dict) and theirs != ours:
            name = next(name for name in ours if theirs.get(name) != ours[name])
            raise DataError(
                f"The Dask worker {worker} has {name} {theirs.get(name)}, here it is {ours[name]}. "
                "Install the same versions on both sides, or results would depend on where they are computed."
            )


def versions() -> dict[str, str]:
    """Return the versions on which a result may depend."""
    return {"evalkit": __version__, **{name: metadata.version(name) for name in ALIKE}}


def on_cluster(tasks: list[Study], batch: Batch, jobs: int | None, address: str) -> Generator[Outcome]:
    """Run studies on the workers of a Dask cluster: a study for each of their threads, or ``jobs`` at a time.

    A study whose worker is lost begins anew on another; its files take their final names once, at its end.
    """
    with connect(address) as client:
        from distributed import as_completed

        choices = {name: value for name, value in os.environ.items() if name.startswith("EVALKIT_")}
        waiting = iter(tasks)

        def start(task: Study) -> Any:
            future = client.submit(on_worker, task, batch, choices, pure=False)
            under_way[future] = task
            return future

        under_way: dict[Any, Study] = {}
        most = jobs or sum(client.nthreads().values())
        ended = as_completed([start(task) for _, task in zip(range(most), waiting)], loop=client.loop)
        for future in ended:
            task = under_way.pop(future)
            if (following := next(waiting, None)) is not None:
                ended.add(start(following))
            if (problem := future.exception()) is None:
                yield future.result()
            else:  # the worker itself was lost, again and again
                yield batch.keep(task, "failed", one_line(problem))


def on_worker(task: Study, batch: Batch, choices: dict[str, str]) -> Outcome:
    """Run one study on a cluster's worker.

    choices: the ``EVALKIT_`` variables of whoever runs the studies; they replace the worker's own.
    """
    with Kernels() as kernels:
        others = {name: value for name, value in kernels.env.items() if not name.startswith("EVALKIT_")}
        kernels.env = {**others, **choices}
        return batch.run(task, kernels)
