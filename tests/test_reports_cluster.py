"""Studies on the workers of a Dask cluster, whatever dies on the way."""

import contextlib
import json
import socket
import sys
import threading
import time

import dask
import distributed
import pytest

from evalkit import DataError
from evalkit.reports import cluster, execute, notebooks
from evalkit.reports.studies import Layout
from evalkit.stats import inference

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize(
    "address", ["", "nonsense", "127.0.0.1", "inproc://x/y", "http://h:8786", "tcp://me:pw@h:8786"]
)
def test_what_is_no_address_is_told_before_distributed_is_imported(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match="is no address of a Dask scheduler"):
        cluster.connect(address)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", (1 << 62).to_bytes(8, "little")])
def test_what_is_no_scheduler_is_told_in_time(said, capfd):
    def answer():
        with contextlib.suppress(OSError):
            while True:
                opened.append(listening.accept()[0])
                opened[-1].sendall(said)

    opened, begun = [], time.monotonic()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(DataError, match=r"No Dask scheduler answers at 127|is no Dask scheduler") as problem:
            cluster.connect(f"127.0.0.1:{listening.getsockname()[1]}", timeout=0.5)
    assert time.monotonic() - begun < 10
    assert "\n" not in str(problem.value)
    assert "Traceback" not in capfd.readouterr().err


def test_a_cluster_that_cannot_help_is_told(address, monkeypatch):
    with (
        dask_cluster(workers=0) as empty,
        pytest.raises(DataError, match=f"no workers. Start one with: dask worker {empty}"),
    ):
        cluster.connect(empty, timeout=0.2)
    own = cluster.versions()
    monkeypatch.setattr(cluster, "versions", Differing(own))
    with pytest.raises(DataError, match=f"has numpy 1.0, here it is {own['numpy']}"):
        cluster.connect(address)


class Differing:
    """Versions as they are here and, once it has travelled, as on a worker with an older numpy."""

    def __init__(self, versions):
        self.versions = versions

    def __call__(self):
        return self.versions

    def __reduce__(self):
        return Differing, (self.versions | {"numpy": "1.0"},)


CELLS = [
    "seed: int = 7  # any integer\nmarker: str = ''  # a file to make before this kernel's worker is killed",
    "import os, signal\nfrom pathlib import Path\n"
    "if marker and not Path(marker).exists():\n"
    "    Path(marker).touch()\n    os.kill(os.getppid(), signal.SIGKILL)",
    "from evalkit.stats import inference; from evalkit import show\n"
    "draws = inference.bootstrap([1.0, 2.0, 4.0], lambda d: d.mean(axis=1), resamples=50, seed=seed)\n"
    "show.record('bytes', draws.tobytes().hex())",
    "show.record('data', os.environ['EVALKIT_DATA_DIR'])\nshow.signature(seed=seed)",
]


@pytest.fixture
def studies(tmp_path):
    """Three studies; the second may kill its worker."""
    for name in "abc":
        plain = {"cell_type": "code", "outputs": [], "execution_count": None}
        made = [plain | {"source": cell, "metadata": {"tags": ["parameters"] * (cell == CELLS[0])}} for cell in CELLS]
        path = tmp_path / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        notebooks.tidy(path)
    entries = [f'[{name}]\nnotebook = "{name}.ipynb"\ntitle = "{name}"\n' for name in "abc"]
    killer = f'[b.parameters]\nmarker = "{tmp_path / "killed"}"\n'
    (tmp_path / "studies.toml").write_text("\n".join([*entries[:2], killer, entries[2]]))
    return tmp_path


@pytest.mark.nightly
def test_studies_share_a_cluster_and_survive_the_loss_of_a_worker(studies, address, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", "where this run keeps its data")
    layout = Layout(studies=studies / "studies.toml", reports=studies / "out", reference=studies)
    told = []
    outcomes = execute.run(None, layout, scheduler=address, timeout=40, tell=told.append)
    assert (studies / "killed").exists()
    assert sorted(told) == ["a: ok", "b: ok", "c: ok"], "each study is told once"
    draws = inference.bootstrap([1.0, 2.0, 4.0], lambda d: d.mean(axis=1), resamples=50, seed=7)
    for outcome in outcomes:
        report = json.loads(outcome.path.with_suffix(".json").read_text())
        found = {"bytes": draws.tobytes().hex(), "data": "where this run keeps its data"}
        assert report["recorded"] == found
    assert {path.name for path in (studies / "out").iterdir()} == {
        "index.html",
        *(f"{name}.{ending}" for name in "abc" for ending in ("html", "json")),
    }
