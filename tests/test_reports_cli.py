"""The command line: what it prints where and how it ends; studies on a Dask cluster, whatever dies on the way."""

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import distributed
import psutil
import pytest

from evalkit import DataError, data
from evalkit.reports import cli, cluster, execute, studies
from evalkit.stats import inference
from tests.makers import each, project

TINY = Path(__file__).parent / "notebooks" / "studies.toml"
HEAVY = ["pandas", "numpy", "scipy", "seaborn", "matplotlib", "nbconvert", "nbformat", "papermill", "jinja2", "bleach"]
#: The command line over the tiny studies, in a process of its own.
OVER_TINY = (
    "import functools, pathlib, sys; from evalkit.reports import cli; from evalkit.reports import studies; "
    f"studies.Layout = functools.partial(studies.Layout, studies=pathlib.Path({str(TINY)!r})); sys.exit(cli.main())"
)


@pytest.fixture
def tiny(monkeypatch):
    """Let the command line see the tiny studies."""
    monkeypatch.setattr(studies, "Layout", functools.partial(studies.Layout, studies=TINY))


def test_help_imports_nothing_heavy():
    code = "import sys, evalkit.reports.cli as c; c.main(['--help']); "
    code += f"print([m for m in {HEAVY} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).endswith("\n[]\n")


@pytest.mark.usefixtures("tiny")
@each
def test_a_problem_is_one_sentence_before_any_kernel_starts(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("evalkit.reports.execute.Kernels", None)  # a kernel would be a TypeError
    monkeypatch.setattr("evalkit.reports.cluster.TIMEOUT", 1)
    code = 1 if "--scheduler" in arguments else 2  # that nobody answers is no fault of the words
    assert cli.main([*arguments, *(["--out", str(tmp_path)] if arguments[0] == "run" else [])]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"evalkit: {sentence}")
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "told", [["export", "gr\udcf6\udcdfe"], ["import", "gr\udcf6\udcdfe"], ["grade", "x/gr\udcf6\udcdfe"]]
)
def test_bytes_that_are_no_text_are_no_path(told, capsysbinary, tmp_path):
    """As in file names that were written in Latin-1: no report or receipt could name them."""
    assert cli.main([*told, "--out", str(tmp_path / "out")]) == 1
    sentence = f"evalkit: The name {told[-1]} is no text in UTF-8. Rename that file or folder, then try again.\n"
    assert capsysbinary.readouterr().err == sentence.encode(errors="backslashreplace")
    assert list(tmp_path.iterdir()) == []


@each
def test_wrong_usage_exits_2_and_what_is_nearest_to_a_misspelt_word_is_named(arguments, said, capsys):
    assert cli.main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("tiny")
def test_what_is_asked_for_is_printed(capsys, tmp_path):
    for words in (["list"], ["data", "list"], ["completion", "bash"], ["student", "--out", str(tmp_path)]):
        assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("gallery  What does a page have to carry?")
    assert "_EVALKIT_COMPLETE" in printed
    assert "wmt22-calibration-hits" in printed
    assert [line for line in printed.splitlines() if line.startswith(str(tmp_path))] == sorted(
        map(str, tmp_path.glob("*.ipynb"))
    )


@pytest.mark.usefixtures("tiny")
def test_run_prints_paths_on_stdout_and_the_rest_on_stderr(capsys, tmp_path):
    assert cli.main(["run", "environment", "raises", "--out", str(tmp_path), "--jobs", "1"]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        str(tmp_path / name) for name in ("index.html", "environment.html", "raises.failed.ipynb")
    ]
    assert "raises: failed (cell 3 (message" in captured.err
    assert "Traceback" not in captured.err


def test_data_commands_print_results(capsys, monkeypatch):
    monkeypatch.setattr(data, "fetch", lambda names, **_: [Path("/cache") / name for name in names or ["all"]])
    assert cli.main(["data", "fetch", "wmt20-da", "mlqe-pe"]) == 0
    assert cli.main(["data", "fetch"]) == 0
    assert capsys.readouterr().out.split() == ["/cache/wmt20-da", "/cache/mlqe-pe", "/cache/all"]


def test_tidy_check_says_what_is_not_tidy(capsys, tmp_path, monkeypatch):
    folder = tmp_path / "notebooks"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    for place in (folder, folder / ".ipynb_checkpoints"):
        (place / "a.ipynb").write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    monkeypatch.setattr(cli.studies, "ROOT", tmp_path)
    assert cli.main(["tidy", "--check"]) == 1
    assert "1 of 1 notebooks are not tidy" in capsys.readouterr().err
    assert cli.main(["tidy"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(folder / "a.ipynb")]
    assert cli.main(["tidy", "--check"]) == 0


def begun(out: Path, *, by: float = 30) -> subprocess.Popen:
    """Start a run of the study that sleeps and wait until its kernel is asleep."""
    marker = out.with_name("asleep")
    arguments = ["run", "sleeps", "--out", str(out), "-p", f"marker={marker}"]
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job in the background has it ignored
    command = [sys.executable, "-c", OVER_TINY, *arguments]
    runner = subprocess.Popen(command, stdout=-1, stderr=-1, text=True, preexec_fn=heeding)
    until = time.monotonic() + by
    while not marker.exists():
        assert time.monotonic() < until
        assert runner.poll() is None, runner.stderr.read()
        time.sleep(0.05)
    return runner


def descendants(runner: subprocess.Popen) -> list[psutil.Process]:
    """Return the kernel of a run."""
    found = psutil.Process(runner.pid).children(recursive=True)
    assert found
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_a_stopped_run_ends_with_130_and_leaves_nothing(tmp_path, number):
    runner = begun(out := tmp_path / "out")
    kernels = descendants(runner)
    runner.send_signal(number)
    out_of_it, told = runner.communicate(timeout=15)
    assert told.split("\n") == ["", "evalkit: stopped.", ""]
    assert out_of_it == ""
    assert runner.returncode == 130
    assert list(out.iterdir()) == []
    assert psutil.wait_procs(kernels, timeout=5)[1] == []


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_killed_run_leaves_no_process_and_no_half_file_and_the_next_is_clean(tmp_path):
    runner = begun(out := tmp_path / "out")
    kernels = descendants(runner)
    runner.kill()
    runner.communicate()
    assert psutil.wait_procs(kernels, timeout=5)[1] == []
    assert list(out.iterdir()) == []
    command = [sys.executable, "-c", OVER_TINY, "run", "sleeps", "-p", "seconds=0", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    assert sorted(path.name for path in out.iterdir()) == ["index.html", "sleeps.html", "sleeps.json"]


# Studies on the workers of a Dask cluster, whatever dies on the way.


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "address", ["", "nonsense", "127.0.0.1", "inproc://x/y", "http://h:8786", "tcp://me:pw@h:8786"]
)
def test_what_is_no_address_is_told(address):
    with pytest.raises(DataError, match="No Dask scheduler answers at"):
        cluster.connect(address)


@pytest.mark.slow
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
        with pytest.raises(DataError, match="No Dask scheduler answers at 127") as problem:
            cluster.connect(f"127.0.0.1:{listening.getsockname()[1]}", timeout=0.5)
    assert time.monotonic() - begun < 10
    assert "\n" not in str(problem.value)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.slow
def test_a_cluster_that_cannot_help_is_told(address, monkeypatch):
    with (
        dask_cluster(workers=0) as empty,
        pytest.raises(DataError, match=f"no workers. Start one with: dask worker {empty}"),
    ):
        cluster.connect(empty, timeout=0.2)
    older = {"numpy": "1.0", "evalkit": "0", "pandas": "0", "scipy": "0"}
    asked = {"client": {"packages": older | {"numpy": "2.0"}}, "workers": {"tcp://w": {"packages": older}}}
    monkeypatch.setattr(distributed.Client, "get_versions", lambda client, packages: asked)
    with pytest.raises(DataError, match=r"tcp://w has numpy 1\.0, here it is 2\.0"):
        cluster.connect(address)


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


@pytest.mark.nightly
def test_studies_share_a_cluster_and_survive_the_loss_of_a_worker(tmp_path, address, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", "where this run keeps its data")
    layout, told = project(tmp_path, dict.fromkeys("abc", CELLS)), []
    with layout.studies.open("a") as stream:
        stream.write(f'[b.parameters]\nmarker = "{tmp_path / "killed"}"\n')
    outcomes = execute.run(None, layout, scheduler=address, timeout=40, tell=told.append)
    assert (tmp_path / "killed").exists()
    assert sorted(told) == ["a: ok", "b: ok", "c: ok"], "each study is told once"
    draws = inference.bootstrap([1.0, 2.0, 4.0], lambda d: d.mean(axis=1), resamples=50, seed=7)
    for outcome in outcomes:
        report = json.loads(outcome.path.with_suffix(".json").read_text())
        assert report["recorded"] == {"bytes": draws.tobytes().hex(), "data": "where this run keeps its data"}
    names = {f"{name}.{ending}" for name in "abc" for ending in ("html", "json")}
    assert {path.name for path in layout.reports.iterdir()} == {"index.html", *names}
