"""Reach the workers of a Dask cluster, on which studies can run."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from evalkit import DataError, __version__, one_line

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
            "Start one with 'dask scheduler', or compute here, without --scheduler."
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
