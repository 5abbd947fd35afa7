"""The same tasks on the workers of a Dask cluster; the one place that knows how to reach one."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from evalkit import DataError, __version__, one_line
from evalkit.stats.inference.threads import alone

if TYPE_CHECKING:
    from distributed import Client

TIMEOUT = 10  # seconds to wait for a scheduler or a first worker that may not be there
ALIKE = ("numpy", "pandas", "scipy")  # beside this package: what could change a result from one version to the next


def connect(address: str, *, timeout: float | None = None) -> Client:
    """Connect to a Dask scheduler whose workers have this package, in the same versions as here.

    Returns a client to be closed. Raises DataError where nothing answers, nobody works, or versions differ.
    """
    timeout = TIMEOUT if timeout is None else timeout
    try:
        from distributed import Client
    except ImportError:
        raise DataError(
            "A cluster needs the package distributed, which is not here. Install it with: "
            "pip install 'evalkit[distributed]'"
        ) from None
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError) as problem:
        raise DataError(
            f"No Dask scheduler answers at {address} ({one_line(problem)}). "
            "Start one with 'dask scheduler', or compute here, without --scheduler and EVALKIT_SCHEDULER."
        ) from None
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


def spread(work: Callable[[Any], Any], tasks: Sequence[Any], address: str) -> Iterator[Any]:
    """Yield ``work(task)`` for each task, in order, computed on a cluster.

    A task that is lost with its worker is computed again on another, from the same seed; each result is read once.
    ``work`` travels once, as a task of its own that can be repeated: data scattered to workers would die with them.
    """
    import cloudpickle
    import dask
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    with connect(address) as client, dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        parcel = client.submit(bytes, cloudpickle.dumps(work), pure=False)
        futures = client.map(_unpacked, tasks, parcel=parcel, pure=False)
        try:
            for future in futures:
                yield future.result()
        except KilledWorker as problem:
            raise DataError(
                f"Workers of the cluster at {address} died several times over the same task, perhaps for its memory. "
                "Give them more memory, or compute here."
            ) from problem
        except FutureCancelledError as problem:
            raise DataError(f"The Dask scheduler at {address} was lost. Start it again, then repeat this.") from problem


def _unpacked(task: Any, parcel: bytes) -> Any:
    return alone(pickle.loads(parcel), task)
