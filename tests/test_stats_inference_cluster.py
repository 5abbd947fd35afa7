"""The same numbers from one process, from several, and from a Dask cluster, whatever dies on the way."""

import contextlib
import json
import os
import signal
import sys
import time
from functools import partial

import dask
import distributed
import numpy as np
import pytest

from evalkit import DataError
from evalkit.reports import execute, notebooks
from evalkit.reports.studies import Layout
from evalkit.stats import inference
from evalkit.stats.inference import cluster

SCORES = np.random.default_rng(1).normal(70, 15, (60, 40))
LARGE = np.random.default_rng(2).normal(size=200_000)  # joblib maps arrays of this size into the memory of workers


@pytest.fixture(autouse=True)
def nobody_else_computes(monkeypatch):
    monkeypatch.delenv("EVALKIT_SCHEDULER", raising=False)


@contextlib.contextmanager
def dask_cluster(workers):
    """A scheduler and workers, processes of one thread each; gives the scheduler's address."""
    with dask.config.set({"distributed.comm.timeouts.connect": "5s"}):  # how long anyone waits for one who has died
        started = distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    try:
        yield started.scheduler_address
    finally:
        with contextlib.suppress(TimeoutError):  # Dask sometimes waits for ever when it closes after a worker's death
            started.close(timeout=20)


@pytest.fixture(scope="module")
def address():
    """The address of a scheduler with two workers."""
    with dask_cluster(workers=2) as address:
        yield address


def mean(stack):
    return stack.reshape(len(stack), -1) @ np.full(stack[0].size, 1 / stack[0].size)


def noisy_means(count, rng):
    return np.array([mean(LARGE[None] + rng.normal(size=LARGE.size)) for _ in range(count)])


def weighted(counts):
    return counts @ SCORES.ravel() / counts.sum(axis=1)


def difference(swapped):
    return np.where(swapped, -1, 1) @ SCORES


CALLS = {
    "bootstrap": partial(inference.bootstrap, SCORES, mean, resamples=100, axes=(0, 1), seed=7),
    "bootstrap of two levels": partial(
        inference.resample, weighted, np.repeat(np.arange(60), 40), within=np.arange(2400), resamples=100, seed=7
    ),
    "permutation, sampled": lambda **where: inference.permutation_test(
        difference, inference.Swaps(60), resamples=500, seed=7, **where
    ).hits,
    "permutation, exact": lambda **where: inference.permutation_test(
        lambda labels: labels @ SCORES[:10], inference.Shuffles([0] * 5 + [1] * 5), seed=7, **where
    ).hits,
    "power": partial(inference.power, lambda count, rng: rng.random((count, 3)), simulations=500, seed=7),
    "blocks": lambda **where: np.concatenate(list(inference.in_blocks(noisy_means, 4, seed=7, **where))),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_results_are_the_same_to_the_last_bit_wherever_they_are_computed(call, address, monkeypatch):
    here = call()
    np.testing.assert_array_equal(call(workers=2), here)
    np.testing.assert_array_equal(call(scheduler=address), here)
    monkeypatch.setenv("EVALKIT_SCHEDULER", address)
    np.testing.assert_array_equal(call(workers=3), here)


def test_the_cluster_named_by_the_environment_computes(address, monkeypatch):
    assert set(inference.spread(getpid, range(4))) == {os.getpid()}
    assert os.getpid() not in set(inference.spread(getpid, range(4), workers=2))
    monkeypatch.setenv("EVALKIT_SCHEDULER", address)
    with distributed.Client(address, set_as_default=False) as client:
        theirs = set(client.run(os.getpid).values())
    assert set(inference.spread(getpid, range(8))) <= theirs


def getpid(_):
    return os.getpid()


def dies_once(marker, task):
    """Write a line for each time that a task is begun; the process of task 9 is killed the first time."""
    with marker.open("a") as lines:
        lines.write(f"{task}\n")
    if task == 9 and marker.read_text().splitlines().count("9") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return task, np.random.default_rng(task).random()


def test_when_a_worker_is_killed_half_way_nothing_is_lost_or_counted_twice(address, tmp_path):
    expected = [(task, np.random.default_rng(task).random()) for task in range(20)]
    assert list(inference.spread(partial(dies_once, tmp_path / "begun"), range(20), scheduler=address)) == expected
    begun = (tmp_path / "begun").read_text().splitlines()
    assert begun.count("9") == 2, "the worker was killed, and another began again"
    hits = inference.permutation_test(
        partial(difference_once_killed, tmp_path / "killed"), inference.Swaps(60), resamples=500, seed=7,
        scheduler=address,
    ).hits  # fmt: skip
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(hits, CALLS["permutation, sampled"]())


def difference_once_killed(marker, swapped):
    """Kill the process that computes the first of the larger batches."""
    if len(swapped) > 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return difference(swapped)


def always_dies(task):
    if task == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def test_a_task_that_kills_every_worker_is_told():
    with pytest.raises(DataError, match=r"background process was killed .* fewer workers"):
        list(inference.spread(always_dies, range(8), workers=2))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        dask_cluster(workers=1) as lost,
        pytest.raises(DataError, match=f"cluster at {lost} died several times"),
    ):
        list(inference.spread(always_dies, range(8), scheduler=lost))


def breaks(task):
    raise DataError(f"task {task} cannot be")


def test_a_problem_of_the_work_is_told_as_it_is(address):
    for where in ({}, {"workers": 2}, {"scheduler": address}):
        with pytest.raises(DataError, match=r"task . cannot be"):  # processes tell the first that comes up
            list(inference.spread(breaks, range(2), **where))


def test_a_cluster_that_cannot_help_is_told(address, monkeypatch, tmp_path):
    with pytest.raises(DataError, match="No Dask scheduler answers at nonsense://x"):
        cluster.connect("nonsense://x", timeout=1)
    with (
        dask_cluster(workers=0) as empty,
        pytest.raises(DataError, match=f"no workers. Start one with: dask worker {empty}"),
    ):
        cluster.connect(empty, timeout=0.2)
    own = cluster.versions()
    monkeypatch.setattr(cluster, "versions", Differing(own))
    with pytest.raises(DataError, match=f"has numpy 1.0, here it is {own['numpy']}"):
        cluster.connect(address)
    (tmp_path / "only_here.py").write_text("def versions():\n    return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    monkeypatch.setattr(cluster, "versions", only_here.versions)
    with pytest.raises(DataError, match=r"cannot import evalkit .*No module named 'only_here'"):
        cluster.connect(address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match=r"pip install 'evalkit\[distributed\]'"):
        cluster.connect(address)


class Differing:
    """Versions as they are here and, once it has travelled, as on a worker with an older numpy."""

    def __init__(self, versions):
        self.versions = versions

    def __call__(self):
        return self.versions

    def __reduce__(self):
        return Differing, (self.versions | {"numpy": "1.0"},)


# Reports

CELLS = [
    "seed: int = 7  # any integer\nmarker: str = ''  # a file to make before this kernel's worker is killed",
    "import os, signal\nfrom pathlib import Path\n"
    "if marker and not Path(marker).exists():\n"
    "    Path(marker).touch()\n    os.kill(os.getppid(), signal.SIGKILL)",
    "from evalkit.stats import inference; from evalkit import show\n"
    "draws = inference.bootstrap([1.0, 2.0, 4.0], lambda d: d.mean(axis=1), resamples=50, seed=seed)\n"
    "show.record('bytes', draws.tobytes().hex())\n"
    "show.record('computed here', list(set(inference.spread(lambda _: os.getpid(), range(4)))) == [os.getpid()])",
    "show.record('data', os.environ['EVALKIT_DATA_DIR'])\nshow.signature(seed=seed)",
]  # fmt: skip


@pytest.fixture
def studies(tmp_path):
    """Three studies that spread blocks, one after another; the second may kill its worker."""
    for name in "abc":
        made = [{"cell_type": "code", "source": cell, "metadata": {"tags": ["parameters"] if cell == CELLS[0] else []},
                 "outputs": [], "execution_count": None} for cell in CELLS]  # fmt: skip
        path = tmp_path / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        notebooks.tidy(path)
    entries = [f'[{name}]\nnotebook = "{name}.ipynb"\ntitle = "{name}"\n' for name in "abc"]
    killer = f'[b.parameters]\nmarker = "{tmp_path / "killed"}"\n'
    (tmp_path / "studies.toml").write_text("\n".join([*entries[:2], killer, entries[2]]))
    return tmp_path


def test_studies_and_their_blocks_share_a_cluster_and_survive_the_loss_of_a_worker(studies, address, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", "where this run keeps its data")
    layout = Layout(studies=studies / "studies.toml", reports=studies / "out", reference=studies)
    told = []
    outcomes = execute.run(None, layout, scheduler=address, timeout=40, tell=told.append)
    assert (studies / "killed").exists()
    assert sorted(told) == ["a: ok", "b: ok", "c: ok"], "each study is told once"
    draws = inference.bootstrap([1.0, 2.0, 4.0], lambda d: d.mean(axis=1), resamples=50, seed=7)
    for outcome in outcomes:
        report = json.loads(outcome.path.with_suffix(".json").read_text())
        found = {"bytes": draws.tobytes().hex(), "computed here": False, "data": "where this run keeps its data"}
        assert report["recorded"] == found, "blocks went to the cluster"
    assert {path.name for path in (studies / "out").iterdir()} == {
        "index.html", *(f"{name}.{ending}" for name in "abc" for ending in ("html", "json"))
    }  # fmt: skip
