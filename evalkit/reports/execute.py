"""Run studies: check their parameters, fetch their data, execute their notebooks side by side, move reports into place.

A study that fails costs the others nothing and costs an earlier good report nothing: files are written under names of
their own and replace what stands under the final ones only when they are complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from evalkit import DataError, one_line
from evalkit.reports import notebooks
from evalkit.reports.kernels import Kernels, execute_notebook
from evalkit.reports.notebooks import Misuse
from evalkit.reports.studies import Layout, Study, choose, read_studies, settings

#: What stands in paths, and in no name of a metric or system.
_LIKE_A_PATH = re.compile(r"[/\\]|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)
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
    tell: Callable[[str], None] = lambda line: None,
) -> list[Outcome]:
    """Run studies (default: all) and write their reports and the index; the outcomes come in the order of ``names``.

    values: parameters by name, as text or typed, for every study run. jobs: notebooks at a time (default: all cores).
    scheduler: address of a Dask scheduler whose workers execute the studies; they must see the same files under the
    same paths and have this package installed. timeout: seconds for one cell. tell: takes a line for each study
    that ended.
    Raises, before any kernel starts, DataError for an unknown study or a wrong value, and OSError for a folder that
    cannot be written. A study that its own entry in ``studies.toml``, or its notebook, makes unusable fails alone,
    unless it alone was chosen.
    """
    layout = layout or Layout()
    known = read_studies(layout)
    chosen = choose(known, list(known) if names is None else names)
    batch, tasks, stopped = Batch(layout, timeout), list[Study](), list[tuple[Study, str, str]]()
    for study in chosen:
        try:
            tasks.append(bound(study, values or {}, layout.studies.parent))
        except DataError as problem:
            if isinstance(problem, Misuse) or len(chosen) == 1:
                raise
            stopped.append((replace(study, parameters={}), "failed", one_line(problem)))
    for task in tasks if values else ():
        check_parameters(task)
    layout.reports.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=layout.reports).close()  # a folder that cannot be written is told now
    with contextlib.ExitStack() as stack:
        work: Callable[[Study], Outcome]
        if scheduler is None:
            kernels, cores = stack.enter_context(Kernels()), os.cpu_count() or 1
            work, stop = partial(batch.run, kernels=kernels), kernels.close
        else:
            from evalkit.reports import cluster

            client = stack.enter_context(cluster.connect(scheduler))
            cores, stop = sum(client.nthreads().values()), client.close
            work = cluster.runner(client, batch)
        absent = fetch(tasks)
        why = {task.name: why_skipped(task, absent) for task in tasks}
        stopped += [(task, "skipped", why[task.name]) for task in tasks if why[task.name]]
        done = [batch.keep(*one) for one in stopped]
        todo = [task for task in tasks if not why[task.name]]
        todo.sort(key=lambda task: task.notebook.stat().st_size, reverse=True)  # long ones first, so that none is late
        outcomes = {}
        with contextlib.closing(side_by_side(todo, work, stop, jobs=jobs or cores)) as engine:
            for outcome in chain(done, engine):
                outcomes[outcome.study] = outcome
                tell(f"{outcome.study}: {outcome.status}" + (f" ({outcome.reason})" if outcome.reason else ""))
        from evalkit.reports import index

        notebooks.write_text(layout.reports / "index.html", index.page(layout))
    return [outcomes[study.name] for study in chosen]


@dataclass(frozen=True)
class Batch:
    """The studies of one run: where they read and write, and how many seconds a cell may take."""

    layout: Layout
    timeout: float

    def run(self, task: Study, kernels: Kernels) -> Outcome:
        """Execute one study's notebook and put its report in place, or keep what is left of it."""
        executed, start = kernels.folder / f"{task.name}.ipynb", time.monotonic()
        try:
            notebook = execute_notebook(task, executed, self.timeout, kernels)
            self.report(task, notebook, seconds=time.monotonic() - start)
        except Exception as problem:  # whatever a notebook does, the other studies go on
            if kernels.closed:
                raise CancelledError from None
            reason = ("" if isinstance(problem, DataError) else f"{type(problem).__name__}: ") + one_line(problem)
            return self.keep(task, "failed", reason, seconds=time.monotonic() - start, executed=executed)
        return Outcome(task.name, "ok", self.layout.reports / f"{task.name}.html")

    def report(self, task: Study, notebook: Any, *, seconds: float) -> None:
        """Write a good study's HTML and JSON and clear away what an earlier failure left."""
        from evalkit.data.files import alone
        from evalkit.reports import export, findings

        task = without_folders(task)
        found = findings.collect(notebook)
        report = findings.report(task, "ok", seconds=seconds, found=found)
        text = findings.canonical(report)
        reference = findings.read_report(self.layout.reference / f"{task.name}.json")
        page = export.export(notebook, task, report, reference=reference)
        final = self.layout.reports / task.name
        with alone(self.layout.reports):  # or, of two runs at once, one's page would stand beside the other's numbers
            notebooks.write_text(final.with_suffix(".html"), page)
            notebooks.write_text(final.with_suffix(".json"), text)
            for ending in (".failed.ipynb", ".failed.json"):
                final.with_suffix(ending).unlink(missing_ok=True)

    def keep(
        self, task: Study, status: str, reason: str, *, seconds: float = 0, executed: Path | None = None
    ) -> Outcome:
        """Say that a study failed or was skipped, beside an earlier good report or, without one, in its place."""
        from evalkit.reports import findings

        task = without_folders(task)
        report = findings.report(task, status, seconds=seconds, reason=reason)
        text = findings.canonical(report)
        final = self.layout.reports / f"{task.name}.json"
        note = final.with_suffix(".failed.json")
        notebooks.write_text(note, text)
        if executed is not None and executed.exists():
            note = note.with_suffix(".ipynb")
            notebooks.write_text(note, executed.read_text(encoding="utf-8"))
        if (findings.read_report(final) or {}).get("status") != "ok" or not final.with_suffix(".html").exists():
            notebooks.write_text(final, text)
        return Outcome(task.name, status, note, reason)


def bound(study: Study, values: dict[str, Any], folder: Path) -> Study:
    """Bind a study's parameters; where the first that can name a file of the user's own does, no data set is fetched.

    Other files stand beside that one, or beside the study's data.
    A path on the command line starts from where the user stands, one in ``studies.toml`` from that file's ``folder``;
    the kernel stands elsewhere. Raises DataError where there is no such file.
    """
    from evalkit.data import registry

    chosen, data = settings(study, values), study.data
    declared = notebooks.parameters(study.notebook)
    first = next((one.name for one in declared if one.names not in ("", "files")), "")
    for one in declared:
        base = Path.cwd() if one.name in values else folder
        if one.names == "files":
            chosen[one.name] = [_path(study, one, text, base) for text in chosen[one.name]]
        elif one.names and chosen[one.name] and chosen[one.name] not in registry.entries():
            chosen[one.name] = _path(study, one, chosen[one.name], base)
            data = () if one.name == first else data
    return replace(study, parameters=chosen, data=data)


def _path(study: Study, declared: notebooks.Parameter, value: str, base: Path) -> str:
    """Return the whole path of a file or folder of the user's own, or the name that stands in its place."""
    path = (base / Path(value).expanduser()).resolve()
    folders = declared.names in ("folder", "files")  # a folder's own reader tells what a file is
    unmarked = Path(str(path).rstrip("+-"))  # as in TER-, a file's mark
    if path.is_file() or (folders and (path.exists() or unmarked.exists())):
        return str(path)
    if declared.names == "file or name" and not _LIKE_A_PATH.search(value):
        return value
    kind = "file or folder" if folders else "file"
    raise DataError(f"{study.name}: {declared.name}={value} is no {kind} in {base}. Correct the path.")


def check_parameters(task: Study) -> None:
    """Execute the cell that checks a study's parameters, with what they are bound to, before any kernel starts.

    Raises DataError as the cell does. Whatever else goes wrong in it, the notebook's own run tells where and why.
    """
    try:
        exec(compile(notebooks.checks(task.notebook), str(task.notebook), "exec"), dict(task.parameters))
    except DataError as problem:
        raise Misuse(f"{task.name}: {problem}") from None
    except Exception:  # a kernel meets it, too, and its report shows the cell
        pass


def without_folders(task: Study) -> Study:
    """Return a study as its report tells of it: files of the user's own without their folders, which may be private."""
    told = dict(task.parameters)
    for declared in notebooks.parameters(task.notebook) if told else ():
        if declared.names == "files":
            told[declared.name] = [Path(text).name for text in told[declared.name]]
        elif declared.names:
            told[declared.name] = Path(told[declared.name]).name
    return replace(task, parameters=told)


def fetch(tasks: list[Study]) -> dict[str, str]:
    """Fetch the data of all studies, each set once; return why the absent ones could not be had."""
    from evalkit import data

    absent = {}
    for name in dict.fromkeys(name for task in tasks for name in task.data):
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


def side_by_side(
    tasks: list[Study], work: Callable[[Study], Outcome], stop: Callable[[], object], *, jobs: int
) -> Generator[Outcome]:
    """Run studies, ``jobs`` at a time, by ``work``; call ``stop`` where they are not to end."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        # all that pages need, while kernels work; not in this thread, where a stop within an import can get lost
        threading.Thread(target=import_module, args=["evalkit.reports.index"], daemon=True).start()
        try:
            yield from (future.result() for future in as_completed(futures))
        except BaseException:  # Ctrl-C, too: start no more, and wait for nobody
            pool.shutdown(wait=False, cancel_futures=True)
            stop()
            raise
