"""Studies on the workers of a Dask cluster.

A cluster is trusted: it executes what it is sent, and what it sends back can make this process execute anything.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from evalkit import DataError, one_line
from evalkit.reports.kernels import Kernels

if TYPE_CHECKING:
    from distributed import Client

    from evalkit.reports.execute import Batch, Outcome
    from evalkit.reports.studies import Study

TIMEOUT = 10.0  # seconds to wait for a scheduler or a first worker that may not be there
ALIKE = ("evalkit", "numpy", "pandas", "scipy")  # what could change a result from one version to the next


def connect(address: str, *, timeout: float = TIMEOUT) -> Client:
    """Connect to a Dask scheduler whose workers have this package, in the same versions as here.

    timeout: seconds for each step. Returns a client to be closed.
    Raises DataError where nothing answers, what answers is no Dask, nobody works, or versions differ.
    """
    try:
        from distributed import Client, comm
    except ImportError:
        raise DataError(
            "A cluster needs the package distributed, which is not here. Install it with: "
            "pip install 'evalkit[distributed]'"
        ) from None
    for chatter in ("distributed", "tornado", "asyncio"):  # what they would tell in tracebacks is told in a sentence
        logging.getLogger(chatter).setLevel(logging.CRITICAL)

    async def greeted() -> None:  # Client waits without end for what is no scheduler, and takes "" for a wish of one
        link = await asyncio.wait_for(comm.connect(address.strip(), timeout=timeout), timeout)
        link.abort()

    try:
        asyncio.run(greeted())
        client = Client(address.strip(), timeout=timeout, set_as_default=False)
    except Exception as problem:  # whatever answers may send anything
        told = f"{type(problem).__name__}: {one_line(problem)}"
        raise DataError(
            f"No Dask scheduler answers at {address} ({told}). "
            "Start one with 'dask scheduler', or compute here, without --scheduler."
        ) from None
    try:
        client.wait_for_workers(1, timeout=timeout)
        _demand_alike(client)
    except BaseException as problem:
        client.close()
        if isinstance(problem, TimeoutError):
            absent = f"The Dask scheduler at {address} has no workers. Start one with: dask worker {address}"
            raise DataError(absent) from None
        raise
    return client


def _demand_alike(client: Client) -> None:
    found: Any = client.get_versions(packages=ALIKE)
    ours = found["client"]["packages"]
    for worker, told in found["workers"].items():
        for name in ALIKE:
            if told["packages"][name] != ours[name]:
                raise DataError(
                    f"The Dask worker {worker} has {name} {told['packages'][name]}, here it is {ours[name]}. "
                    "Install the same versions on both sides, or results would depend on where they are computed."
                )


def runner(client: Client, batch: Batch) -> Callable[[Study], Outcome]:
    """Return what runs a study on a worker of the cluster, and waits for it.

    A study whose worker is lost begins anew on another; its files take their final names once, at its end.
    """
    choices = {name: value for name, value in os.environ.items() if name.startswith("EVALKIT_")}

    def run(task: Study) -> Outcome:
        try:
            return client.submit(on_worker, task, batch, choices, pure=False).result()
        except CancelledError:  # the run was stopped
            raise
        except Exception as problem:  # the worker itself was lost, again and again
            return batch.keep(task, "failed", one_line(problem))

    return run


def on_worker(task: Study, batch: Batch, choices: dict[str, str]) -> Outcome:
    """Run one study on a cluster's worker.

    choices: the ``EVALKIT_`` variables of whoever runs the studies; they replace the worker's own.
    """
    with Kernels() as kernels:
        others = {name: value for name, value in kernels.env.items() if not name.startswith("EVALKIT_")}
        kernels.env = {**others, **choices}
        return batch.run(task, kernels)
