"""Reach the workers of a Dask cluster, on which studies can run.

Whoever answers there may be no Dask, or one that has stopped: everything that waits for it does so for a bounded time,
and on a thread of its own, so that whoever waits can be stopped at once. A cluster is trusted: it executes what it is
sent, and what it sends back can make this process execute anything.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar

from evalkit import DataError, __version__, one_line
from evalkit.reports.kernels import Kernels

if TYPE_CHECKING:
    from distributed import Client

    from evalkit.reports.execute import Batch, Outcome
    from evalkit.reports.studies import Study

TIMEOUT = 10.0  # seconds to wait for a scheduler or a first worker that may not be there
ALIKE = ("numpy", "pandas", "scipy")  # beside this package: what could change a result from one version to the next
_CLOSING = 2.0  # seconds to take leave of a scheduler
_GREETING = 1 << 16  # bytes; a scheduler introduces itself with some two hundred
_ADDRESS = re.compile(
    r"(?:(tcp|tls|ws|wss|ucx)://)?(\[[0-9a-f:.%]+\]|[^\s:/@\[\]]+):(\d{1,5})/?", re.ASCII | re.IGNORECASE
)
_START = "Start one with 'dask scheduler', or compute here, without --scheduler."
_Found = TypeVar("_Found")


def connect(address: str, *, timeout: float | None = None) -> Client:
    """Connect to a Dask scheduler whose workers have this package, in the same versions as here.

    timeout: seconds for each step. Returns a client to be closed.
    Raises DataError where nothing answers, what answers is no Dask, nobody works, or versions differ.
    """
    seconds = TIMEOUT if timeout is None else timeout
    scheme, host, port = _parts(address)
    try:
        import distributed
    except ImportError:
        raise DataError(
            "A cluster needs the package distributed, which is not here. Install it with: "
            "pip install 'evalkit[distributed]'"
        ) from None
    del distributed
    _within(seconds, lambda: _demand_greeting(host, port, seconds, greets=scheme == "tcp"), address)
    with _unheard():
        return _within(4 * seconds, lambda: _client(address, seconds), address)


def _within(seconds: float, work: Callable[[], _Found], address: str) -> _Found:
    """Wait for work on a thread of its own; give it up, saying so, after so many seconds."""
    found: list[_Found] = []
    problems: list[Exception] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception as problem:  # told by whoever waits
            problems.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds + 1)
    if problems and isinstance(problems[0], DataError):
        raise problems[0]
    if not found:
        reason = f"{type(problems[0]).__name__}: {one_line(problems[0])}" if problems else f"silent for {seconds:g} s"
        raise DataError(f"No Dask scheduler answers at {address} ({reason}). {_START}")
    return found[0]


def _parts(address: str) -> tuple[str, str, int]:
    """Take an address apart, into scheme, host and port, or refuse what is none."""
    if not (parts := _ADDRESS.fullmatch(address.strip())) or not 0 < int(parts[3]) < 1 << 16:
        raise DataError(f"{address!r} is no address of a Dask scheduler. Write it like tcp://host:8786.")
    return (parts[1] or "tcp").lower(), parts[2].strip("[]"), int(parts[3])


def _demand_greeting(host: str, port: int, seconds: float, *, greets: bool) -> None:
    """Refuse a place where nobody answers or, where a scheduler ``greets``, no Dask does.

    By tcp it introduces itself unasked: eight bytes that count the others, then names and values.
    """
    until = time.monotonic() + seconds
    with socket.create_connection((host, port), timeout=seconds) as link:
        size = int.from_bytes(_received(link, 8, until), "little") if greets else 0
        if greets and not (size < _GREETING and b"pickle-protocol" in _received(link, size, until)):
            raise DataError(f"What answers at {host}:{port} is no Dask scheduler. Correct the address. {_START}")


def _received(link: socket.socket, size: int, until: float) -> bytes:
    """Read so many bytes, or fewer where the other side hangs up, until a time."""
    content = b""
    while len(content) < size:
        link.settimeout(max(until - time.monotonic(), 0.001))
        if not (block := link.recv(size - len(content))):
            break
        content += block
    return content


def _client(address: str, seconds: float) -> Client:
    """Make a client of a scheduler whose workers are like this process."""
    from distributed import Client

    class Brief(Client):
        """A client that takes leave within seconds, or without a word, also of a scheduler that has stopped."""

        def close(self, timeout: float = _CLOSING) -> None:
            with contextlib.suppress(Exception):
                super().close(timeout=min(timeout, _CLOSING))

    client = Brief(address, timeout=seconds, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=seconds)
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
        from distributed import as_completed as completed

        choices = {name: value for name, value in os.environ.items() if name.startswith("EVALKIT_")}
        under_way, ended, waiting = {}, completed(loop=client.loop), iter(tasks)

        def start(worker: str, task: Study) -> None:
            options = {"workers": [worker], "allow_other_workers": True, "pure": False}
            future = client.submit(on_worker, task, batch, choices, **options)
            under_way[future] = worker, task
            ended.add(future)

        threads = sorted((number, worker) for worker, size in client.nthreads().items() for number in range(size))
        for (_, worker), task in zip(threads[:jobs], waiting):  # in this order: what is left keeps waiting
            start(worker, task)
        for future in ended:
            worker, task = under_way.pop(future)
            if (following := next(waiting, None)) is not None:
                start(worker, following)
            if (problem := future.exception()) is None:
                yield future.result()
            else:  # the worker itself was lost, again and again
                yield batch.keep(task, "failed", one_line(problem))


def on_worker(task: Study, batch: Batch, choices: dict[str, str]) -> Outcome:
    """Run one study on a cluster's worker, in an ordinary kernel.

    choices: the ``EVALKIT_`` variables of whoever runs the studies; they replace the worker's own.
    """
    with Kernels(warm=False) as kernels:
        others = {name: value for name, value in kernels.env.items() if not name.startswith("EVALKIT_")}
        kernels.env = {**others, **choices}
        return batch.run(task, kernels)
