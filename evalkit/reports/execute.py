"""Run studies: check their parameters, fetch their data, execute their notebooks side by side, move reports into place.

A study that fails costs the others nothing and costs an earlier good report nothing: files are made in a folder of
the run's own and replace what stands under the final names only when they are complete.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from evalkit import DataError, one_line
from evalkit.reports import notebooks
from evalkit.reports.kernels import Kernels
from evalkit.reports.scratch import scratch
from evalkit.reports.studies import Layout, Study, choose, read_studies

CELL_TIMEOUT = 900  # seconds; no cell of a study comes near it, so one that does is stuck


@dataclass(frozen=True)
class Outcome:
    """How one study ended: ``ok``, ``failed`` or ``skipped``, its report (or what is kept of it), and why."""

    study: str
    status: str
    path: Path
    reason: str = ""


def run(
    names: list[str] | None = None,
    layout: Layout | None = None,
    *,
    values: dict[str, Any] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    timeout: float = CELL_TIMEOUT,
    tell: Callable[[str], None] | None = None,
) -> list[Outcome]:
    """Run studies (default: all) and write their reports and the index; the outcomes come in the order of ``names``.

    values: parameters by name, as text or typed, for every study run. jobs: notebooks at a time (default: all cores).
    scheduler: address of a Dask scheduler whose workers execute the studies; they must see the same files under the
    same paths and have this package installed. timeout: seconds for one cell. tell: takes one line per study.
    Raises DataError before any kernel starts for an unknown study, a wrong parameter or an unwritable folder.
    """
    layout = layout or Layout()
    known = read_studies(layout)
    chosen = choose(known, list(known) if names is None else names)
    tasks = [bound(study, values or {}, layout.studies.parent) for study in chosen]
    kernels = contextlib.nullcontext() if scheduler else Kernels()  # they import what they need beside the fetching
    with partial_folder(layout.reports) as partial, kernels:
        absent = fetch(tasks)
        skipped = {task.name: reason for task in tasks if (reason := why_skipped(task, absent))}
        done = [keep(task, layout, partial, "skipped", skipped[task.name]) for task in tasks if task.name in skipped]
        todo = [task for task in tasks if task.name not in skipped]
        if scheduler:
            engine = on_cluster(todo, layout, partial, timeout, jobs, scheduler)
        else:
            engine = here(todo, layout, partial, timeout, jobs or os.cpu_count() or 1, kernels)
        with contextlib.closing(engine):
            told = with_progress(done, engine, total=len(tasks), tell=tell)
            outcomes = {outcome.study: outcome for outcome in told}
        from evalkit.reports import index

        place(partial, layout.reports / "index.html", index.page(layout))
    return [outcomes[task.name] for task in tasks]


def settings(study: Study, values: dict[str, Any]) -> dict[str, Any]:
    """Bind a study's parameters: the notebook's defaults, then ``studies.toml``, then ``values``."""
    declared = notebooks.parameters(study.notebook)
    defaults = {parameter.name: parameter.default for parameter in declared}
    own = notebooks.bind(declared, study.parameters, origin=f"studies.toml, [{study.name}.parameters]")
    return defaults | own | notebooks.bind(declared, values, origin=study.name)


def bound(study: Study, values: dict[str, Any], folder: Path) -> Study:
    """Bind a study's parameters; where one of them names a file of the user's own, no data set needs to be fetched.

    A path on the command line starts from where the user stands, one in ``studies.toml`` from that file's ``folder``;
    the kernel stands elsewhere. Raises DataError where there is no such file.
    """
    chosen = settings(study, values)
    own = [name for name in files_named(study) if chosen[name]]
    for name in own:
        base = Path.cwd() if name in values else folder
        path = (base / Path(chosen[name]).expanduser()).resolve()
        if not path.is_file():
            raise DataError(f"{study.name}: {name}={chosen[name]} is no file in {base}. Correct the path.")
        chosen[name] = str(path)
    return replace(study, parameters=chosen, data=() if own else study.data)


def files_named(study: Study) -> list[str]:
    """Return the parameters that name a file."""
    return [declared.name for declared in notebooks.parameters(study.notebook) if declared.names_a_file]


def told(task: Study) -> Study:
    """Return a study as its report tells of it: files of the user's own without their folders, which may be private."""
    names = {name: Path(task.parameters[name]).name for name in files_named(task) if task.parameters.get(name)}
    return replace(task, parameters={**task.parameters, **names})


def fetch(tasks: list[Study]) -> dict[str, str]:
    """Fetch the data of all studies, each set once; return why the absent ones could not be had."""
    absent = {}
    for name in dict.fromkeys(name for task in tasks for name in task.data):
        from evalkit import data

        try:
            data.fetch([name])
        except DataError as problem:
            absent[name] = one_line(problem)
    return absent


def why_skipped(task: Study, absent: dict[str, str]) -> str:
    """Return why a study cannot run: its data are absent and it may not fall back on simulated ones; or else ''."""
    if task.fallback and task.parameters.get("fallback", True):
        return ""
    return "; ".join(absent[name] for name in task.data if name in absent)


def here(
    tasks: list[Study], layout: Layout, partial: Path, timeout: float, jobs: int, kernels: Kernels
) -> Iterator[Outcome]:
    """Run studies on this machine, ``jobs`` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_study, task, layout, partial, timeout, kernels) for task in tasks]
        try:
            import_module("evalkit.reports.index")  # nbconvert and all that pages need, while kernels work
            yield from (future.result() for future in as_completed(futures))
        except BaseException:  # Ctrl-C, too: start no more, and wait for nobody
            pool.shutdown(wait=False, cancel_futures=True)
            kernels.close()
            raise


def on_cluster(
    tasks: list[Study], layout: Layout, partial: Path, timeout: float, jobs: int | None, address: str
) -> Iterator[Outcome]:
    """Run studies on the workers of a Dask cluster: a study for each of their threads, or ``jobs`` at a time.

    A study whose worker is lost begins anew on another; its files take their final names once, at its end.
    """
    from evalkit.reports import cluster

    with cluster.connect(address) as client:
        from distributed import as_completed as completed

        choices = {name: value for name, value in os.environ.items() if name.startswith("EVALKIT_")}
        under_way, ended, waiting = {}, completed(loop=client.loop), iter(tasks)

        def start(worker: str, task: Study) -> None:
            options = {"workers": [worker], "allow_other_workers": True, "pure": False}
            future = client.submit(on_worker, task, layout, partial, timeout, choices, **options)
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
                yield keep(task, layout, partial, "failed", one_line(problem))


def on_worker(task: Study, layout: Layout, partial: Path, timeout: float, choices: dict[str, str]) -> Outcome:
    """Run one study on a cluster's worker, in an ordinary kernel.

    choices: the ``EVALKIT_`` variables of whoever runs the studies; they replace the worker's own.
    """
    with Kernels(warm=False) as kernels:
        others = {name: value for name, value in kernels.env.items() if not name.startswith("EVALKIT_")}
        kernels.env = {**others, **choices}
        return run_study(task, layout, partial, timeout, kernels)


def run_study(task: Study, layout: Layout, partial: Path, timeout: float, kernels: Kernels) -> Outcome:
    """Execute one study's notebook and put its report in place, or keep what is left of it."""
    from evalkit.reports import cells  # papermill, imported while the warm process imports what kernels need

    executed, start = partial / f"{task.name}.failed.ipynb", time.monotonic()
    try:
        notebook = cells.execute(task, executed, timeout, kernels)
        write_report(task, layout, partial, notebook, seconds=time.monotonic() - start)
    except Exception as problem:  # whatever a notebook does, the other studies go on
        if kernels.closed:
            raise CancelledError from None
        reason = cells.explain(problem, executed, timeout)
        return keep(task, layout, partial, "failed", reason, seconds=time.monotonic() - start, executed=executed)
    return Outcome(task.name, "ok", layout.reports / f"{task.name}.html")


def write_report(task: Study, layout: Layout, partial: Path, notebook: Any, *, seconds: float) -> None:
    """Write a good study's HTML and JSON and clear away what an earlier failure left."""
    from evalkit.reports import export, findings

    task = told(task)
    report = findings.report(task, "ok", seconds=seconds, parameters=task.parameters, found=findings.collect(notebook))
    text = findings.canonical(report)
    reference = findings.read_report(layout.reference / f"{task.name}.json")
    place(partial, layout.reports / f"{task.name}.html", export.export(notebook, task, report, reference=reference))
    place(partial, layout.reports / f"{task.name}.json", text)
    for ending in ("ipynb", "json"):
        (layout.reports / f"{task.name}.failed.{ending}").unlink(missing_ok=True)


def keep(
    task: Study,
    layout: Layout,
    partial: Path,
    status: str,
    reason: str,
    *,
    seconds: float = 0,
    executed: Path | None = None,
) -> Outcome:
    """Say that a study failed or was skipped, beside an earlier good report or, without one, in its place."""
    from evalkit.reports import findings

    task = told(task)
    text = findings.canonical(findings.report(task, status, seconds=seconds, parameters=task.parameters, reason=reason))
    final, note = (layout.reports / f"{task.name}{ending}" for ending in (".json", ".failed.json"))
    place(partial, note, text)
    if executed is not None and executed.exists():
        os.replace(executed, note.with_suffix(".ipynb"))
        note = note.with_suffix(".ipynb")
    if (findings.read_report(final) or {}).get("status") != "ok" or not final.with_suffix(".html").exists():
        place(partial, final, text)
    return Outcome(task.name, status, note, reason)


def place(partial: Path, final: Path, text: str) -> None:
    """Write a file in the run's own folder, then move it to its final name."""
    (partial / final.name).write_text(text, encoding="utf-8")
    os.replace(partial / final.name, final)


@contextlib.contextmanager
def partial_folder(reports: Path) -> Iterator[Path]:
    """Give a run a folder inside the reports folder, where no half-made file has a final name.

    Raises DataError where the reports folder cannot be written.
    """
    with contextlib.ExitStack() as stack:
        try:
            reports.mkdir(parents=True, exist_ok=True)
            partial = stack.enter_context(scratch(reports, ".partial"))
        except OSError as problem:
            raise DataError(
                f"The reports folder {reports} cannot be written: {problem.strerror}. "
                "Make it writable, or choose another with --out."
            ) from None
        yield partial


def with_progress(
    done: list[Outcome], engine: Iterator[Outcome], *, total: int, tell: Callable[[str], None] | None
) -> Iterator[Outcome]:
    """Pass outcomes on as they come, with a bar on a terminal's stderr and one line for each study that ended."""
    from tqdm import tqdm

    with tqdm(total=total, unit="study", file=sys.stderr, disable=tell is None or not sys.stderr.isatty()) as bar:
        for outcome in chain(done, engine):
            if tell is not None:
                bar.clear()
                tell(f"{outcome.study}: {outcome.status}" + (f" ({outcome.reason})" if outcome.reason else ""))
            bar.update()
            yield outcome
