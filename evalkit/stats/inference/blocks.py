"""Many replications in blocks of bounded memory, and tasks that several processes share out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from evalkit import DataError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

#: Numbers held in memory by one block of replications (8 bytes each).
BATCH = 4_000_000
#: Blocks that a task is cut into, where each is then still worth its while.
PARTS = 16

#: Where random numbers come from: an integer, or a generator that is drawn from in turn.
Seed = int | Sequence[int] | np.random.Generator
Task = TypeVar("Task")
Result = TypeVar("Result")


def in_blocks(
    work: Callable[[int, np.random.Generator], Result],
    total: int,
    *,
    seed: Seed,
    numbers: int = 1,
    block: int | None = None,
) -> Iterator[Result]:
    """Yield ``work(count, rng)`` for each block of ``total`` replications, in order.

    seed: of an integer, block i draws from its own stream, spawned by its number, so the results depend on the seed and
    on how the replications are cut; a generator is drawn from by one block after another.
    numbers: how many numbers one replication holds in memory; a block holds at most ``BATCH`` of them. block:
    replications in a block, where that should not follow from the size.
    Raises DataError where no replication is asked for. Source: NumPy, "Parallel random number generation".

    >>> parts = list(in_blocks(lambda count, rng: rng.random(count), 10, seed=7, block=4))
    >>> [len(part) for part in parts]
    [4, 4, 2]
    """
    whole = isinstance(seed, np.random.Generator)
    spans = cut(total, numbers=numbers, block=block or (max(1, BATCH // max(numbers, 1)) if whole else None))
    streams = (seed if isinstance(seed, np.random.Generator) else _stream(seed, place) for place in range(len(spans)))
    yield from spread(lambda task: work(*task), [(stop - start, rng) for (start, stop), rng in zip(spans, streams)])


def _stream(seed: int | Sequence[int], place: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place,)))


def cut(total: int, *, numbers: int = 1, block: int | None = None) -> list[tuple[int, int]]:
    """Cut ``total`` replications into blocks (start, stop), by their size alone.

    >>> cut(10, block=4)
    [(0, 4), (4, 8), (8, 10)]
    """
    if total < 1:
        raise DataError(f"{total} resamples were asked for. Ask for at least 1.")
    step = block or max(1, min(BATCH // max(numbers, 1), -(-total // PARTS)))
    return [(start, min(start + step, total)) for start in range(0, total, step)]


def spread(work: Callable[[Task], Result], tasks: Sequence[Task], *, workers: int = 1) -> Iterator[Result]:
    """Yield ``work(task)`` for each task, in the order of the tasks.

    workers: processes on this machine (joblib; -1 for all cores), to which ``work`` travels pickled; a single task is
    computed here. Linear algebra runs in one thread, because the order of a sum changes its last bits: the results are
    the same to the last bit however many processes compute. Raises DataError where a process is killed.
    """
    if len(tasks) > 1 and workers != 1:
        yield from _on_processes(work, tasks, workers)
        return
    for task in tasks:
        with _libraries().limit(limits=1):
            result = work(task)
        yield result


@cache
def _libraries() -> ThreadpoolController:
    """Find the libraries of linear algebra, once: looking for them takes longer than many a task."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _on_processes(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator")
    try:
        yield from parallel(delayed(partial(_alone, work))(task) for task in tasks)
    except TerminatedWorkerError as problem:
        raise DataError(
            "A background process was killed while it computed, perhaps for its memory. Ask for fewer workers."
        ) from problem


def _alone(work: Callable[[Task], Result], task: Task) -> Result:
    """Compute one task in a process that does nothing else: linear algebra keeps to one thread from now on."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    return work(task)
