"""Many replications in blocks with seeds of their own: computed here, on several processes, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from evalkit import DataError
from evalkit.stats.inference.threads import alone

#: Numbers held in memory by one block of replications (8 bytes each).
BATCH = 4_000_000
#: Blocks that a task is cut into, where each is then still worth its while.
PARTS = 16


def in_blocks(
    work: Callable[[int, np.random.Generator], Any],
    total: int,
    *,
    seed: int | Sequence[int],
    numbers: int = 1,
    block: int | None = None,
    workers: int = 1,
    scheduler: str | None = None,
) -> Iterator[Any]:
    """Yield ``work(count, rng)`` for each block of ``total`` replications, in order.

    Block i draws from its own stream, spawned from ``seed`` by its number. So the results depend on the seed and on how
    the replications are cut into blocks, never on where or by how many workers they are computed.
    numbers: how many numbers one replication holds in memory; a block holds at most ``BATCH`` of them. block:
    replications in a block, where that should not follow from the size. workers, scheduler: see ``spread``.
    Source: NumPy, "Parallel random number generation" (SeedSequence.spawn).

    >>> parts = list(in_blocks(lambda count, rng: rng.random(count), 10, seed=7, block=4))
    >>> [len(part) for part in parts]
    [4, 4, 2]
    """
    starts = cut(total, numbers=numbers, block=block)
    tasks = [(stop - start, (seed, number)) for number, (start, stop) in enumerate(starts)]
    yield from spread(partial(_seeded, work), tasks, workers=workers, scheduler=scheduler)


def cut(total: int, *, numbers: int = 1, block: int | None = None) -> list[tuple[int, int]]:
    """Cut ``total`` replications into blocks (start, stop), by their size alone.

    >>> cut(10, block=4)
    [(0, 4), (4, 8), (8, 10)]
    """
    if total < 1:
        raise DataError(f"{total} resamples were asked for. Ask for at least 1.")
    step = block or max(1, min(BATCH // max(numbers, 1), -(-total // PARTS)))
    return [(start, min(start + step, total)) for start in range(0, total, step)]


def _seeded(work: Callable[[int, np.random.Generator], Any], task: tuple[int, tuple[int | Sequence[int], int]]) -> Any:
    count, (seed, number) = task
    return work(count, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,))))


def spread(
    work: Callable[[Any], Any], tasks: Sequence[Any], *, workers: int = 1, scheduler: str | None = None
) -> Iterator[Any]:
    """Yield ``work(task)`` for each task, in the order of the tasks, wherever it is computed.

    workers: processes on this machine (joblib; -1 for all cores). scheduler: the address of a Dask scheduler, by
    default ``EVALKIT_SCHEDULER``; its workers compute, then, and ``workers`` says nothing. Everywhere linear algebra
    runs in one thread, because the order of a sum changes its last bits: on the same kind of processor the results are
    the same to the last bit. A single task is computed here. ``work`` and its results travel pickled.
    Raises DataError where a process or a cluster's worker is lost again and again, or no cluster answers.
    """
    scheduler = scheduler or os.environ.get("EVALKIT_SCHEDULER")
    if len(tasks) > 1 and scheduler:
        from evalkit.stats.inference import cluster

        yield from cluster.spread(work, tasks, scheduler)
    elif len(tasks) > 1 and workers != 1:
        yield from _on_processes(work, tasks, workers)
    else:
        from threadpoolctl import ThreadpoolController

        libraries = ThreadpoolController()
        for task in tasks:
            with libraries.limit(limits=1):
                result = work(task)
            yield result


def _on_processes(work: Callable[[Any], Any], tasks: Sequence[Any], workers: int) -> Iterator[Any]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator")
    try:
        yield from parallel(delayed(alone)(work, task) for task in tasks)
    except TerminatedWorkerError as problem:
        raise DataError(
            "A background process was killed while it computed, perhaps for its memory. Ask for fewer workers."
        ) from problem
