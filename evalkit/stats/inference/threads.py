"""Linear algebra in one thread, because the order of a sum changes its last bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def alone(work: Callable[[Any], Any], task: Any) -> Any:
    """Compute one task in a process that does nothing else: linear algebra keeps to one thread from now on.

    >>> alone(sum, [1, 2])
    3
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    return work(task)
