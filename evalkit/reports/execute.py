"""Run studies: check their parameters, fetch their data, execute their notebooks side by side, move reports into place.

A study that fails costs the others nothing and costs an earlier good report nothing: files are made in a folder of
the run's own and replace what stands under the final names only when they are complete.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from evalkit import DataError, one_line
from evalkit.reports import notebooks
from evalkit.reports.kernels import Kernels, execute_notebook, explain, scratch
from evalkit.reports.studies import Layout, Study, choose, read_studies

#: What stands in paths, and in no name of a metric or system.
_LIKE_A_PATH = re.compile(r"[/\\]|\.(score|scores|tsv|csv|txt)$", re.IGNORECASE)
EVERY = 2.0  # seconds between two lines about sections, where there is no terminal
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
    same paths and have this package installed. timeout: seconds for one cell. tell: takes a line for each study that
    ended, and now and then the section that one has begun.
    Raises DataError before any kernel starts for an unknown study, a wrong value or an unwritable folder. A study that
    its own entry in ``studies.toml``, or its notebook, makes unusable fails alone, unless there is no other.
    """
    layout = layout or Layout()
    known = read_studies(layout)
    chosen = choose(known, list(known) if names is None else names)
    tasks, unusable = bind_all(chosen, values or {}, layout.studies.parent)
    for task in tasks if values else ():
        check_parameters(task)
    with contextlib.ExitStack() as stack:
        progress = Progress({task.name: task.notebook for task in tasks} | dict.fromkeys(unusable, Path()), tell)
        batch = Batch(layout, stack.enter_context(partial_folder(layout.reports)), timeout)
        kernels = None if scheduler is not None else stack.enter_context(Kernels())
        absent = fetch(tasks)
        skipped = {task.name: reason for task in tasks if (reason := why_skipped(task, absent))}
        done = [
            batch.keep(replace(study, parameters={}), "failed", unusable[study.name])
            for study in chosen
            if study.name in unusable
        ]
        done += [batch.keep(task, "skipped", skipped[task.name]) for task in tasks if task.name in skipped]
        todo = [task for task in tasks if task.name not in skipped]
        todo.sort(key=lambda task: task.notebook.stat().st_size, reverse=True)  # long ones first, so that none is late
        if kernels is None:
            engine = import_module("evalkit.reports.cluster").on_cluster(todo, batch, jobs, str(scheduler))
        else:
            engine = here(todo, replace(batch, begin=progress.begin), jobs or os.cpu_count() or 1, kernels)
        with contextlib.closing(engine):
            outcomes = {one.study: one for one in progress.over(done, engine)}
        from evalkit.reports import index

        batch.place(layout.reports / "index.html", index.page(layout))
    return [outcomes[study.name] for study in chosen]


def unheard(study: str, heading: str) -> None:
    """Tell nobody that a study begins a section."""


@dataclass(frozen=True)
class Batch:
    """The studies of one run: where they read and write, the run's own folder, and how many seconds a cell may take.

    begin: is told each section that a study begins, by the study's name and its heading.
    """

    layout: Layout
    partial: Path
    timeout: float
    begin: Callable[[str, str], None] = unheard

    def run(self, task: Study, kernels: Kernels) -> Outcome:
        """Execute one study's notebook and put its report in place, or keep what is left of it."""
        executed, start = self.partial / f"{task.name}.failed.ipynb", time.monotonic()
        try:
            notebook = execute_notebook(task, executed, self.timeout, kernels, begin=partial(self.begin, task.name))
            self.report(task, notebook, seconds=time.monotonic() - start)
        except Exception as problem:  # whatever a notebook does, the other studies go on
            if kernels.closed:
                raise CancelledError from None
            reason = explain(problem, executed, self.timeout)
            return self.keep(task, "failed", reason, seconds=time.monotonic() - start, executed=executed)
        return Outcome(task.name, "ok", self.layout.reports / f"{task.name}.html")

    def report(self, task: Study, notebook: Any, *, seconds: float) -> None:
        """Write a good study's HTML and JSON and clear away what an earlier failure left."""
        from evalkit.data.files import alone
        from evalkit.reports import export, findings

        task = without_folders(task)
        found = findings.collect(notebook)
        report = findings.report(task, "ok", seconds=seconds, parameters=task.parameters, found=found)
        text = findings.canonical(report)
        reference = findings.read_report(self.layout.reference / f"{task.name}.json")
        page = export.export(notebook, task, report, reference=reference)
        final = self.layout.reports / task.name
        with alone(self.layout.reports):  # or, of two runs at once, one's page would stand beside the other's numbers
            self.place(final.with_suffix(".html"), page)
            self.place(final.with_suffix(".json"), text)
            for ending in (".failed.ipynb", ".failed.json"):
                final.with_suffix(ending).unlink(missing_ok=True)

    def keep(
        self, task: Study, status: str, reason: str, *, seconds: float = 0, executed: Path | None = None
    ) -> Outcome:
        """Say that a study failed or was skipped, beside an earlier good report or, without one, in its place."""
        from evalkit.reports import findings

        task = without_folders(task)
        report = findings.report(task, status, seconds=seconds, parameters=task.parameters, reason=reason)
        text = findings.canonical(report)
        final = self.layout.reports / f"{task.name}.json"
        note = final.with_suffix(".failed.json")
        self.place(note, text)
        if executed is not None and executed.exists():
            note = note.with_suffix(".ipynb")
            os.replace(executed, note)
        if (findings.read_report(final) or {}).get("status") != "ok" or not final.with_suffix(".html").exists():
            self.place(final, text)
        return Outcome(task.name, status, note, reason)

    def place(self, final: Path, text: str) -> None:
        """Write a file in the run's own folder, then move it to its final name."""
        (self.partial / final.name).write_text(text, encoding="utf-8")
        os.replace(self.partial / final.name, final)


def settings(study: Study, values: dict[str, Any]) -> dict[str, Any]:
    """Bind a study's parameters: the notebook's defaults, then ``studies.toml``, then ``values``."""
    declared = notebooks.parameters(study.notebook)
    defaults = {parameter.name: parameter.default for parameter in declared}
    own = notebooks.bind(declared, study.parameters, origin=f"studies.toml, [{study.name}.parameters]")
    return defaults | own | notebooks.bind(declared, values, origin=study.name)


def bind_all(
    chosen: list[Study],
    values: dict[str, Any],
    folder: Path,
    *,
    bind: Callable[[Study, dict[str, Any], Path], Study] | None = None,
) -> tuple[list[Study], dict[str, str]]:
    """Bind the parameters of studies; return those that can be used, and why the others cannot, by name.

    bind: ``bound``, unless only ``valued`` is asked for.
    Raises DataError for what ``values`` get wrong, and where no study can be used.
    """
    tasks: list[Study] = []
    problems: dict[str, DataError] = {}
    for study in chosen:
        try:
            tasks.append((bind or bound)(study, values, folder))
        except DataError as problem:
            if values and is_usable(study, folder):
                raise
            problems[study.name] = problem
    if problems and not tasks:
        raise next(iter(problems.values()))
    return tasks, {name: one_line(problem) for name, problem in problems.items()}


def is_usable(study: Study, folder: Path) -> bool:
    """Tell whether a study's own entry and notebook, without further values, make a task."""
    try:
        bound(study, {}, folder)
    except DataError:
        return False
    return True


def valued(study: Study, values: dict[str, Any], folder: Path) -> Study:
    """Bind a study's parameters without a look at the files that they name."""
    return replace(study, parameters=settings(study, values))


def bound(study: Study, values: dict[str, Any], folder: Path) -> Study:
    """Bind a study's parameters; where the first that can name a file of the user's own does, no data set is fetched.

    Other files stand beside that one, or beside the study's data.
    A path on the command line starts from where the user stands, one in ``studies.toml`` from that file's ``folder``;
    the kernel stands elsewhere. Raises DataError where there is no such file.
    """
    chosen = settings(study, values)
    files = files_named(study)
    own = [name for name in files if chosen[name] and not registered(chosen[name])]
    for declared in (one for one in notebooks.parameters(study.notebook) if one.name in own):
        base = Path.cwd() if declared.name in values else folder
        chosen[declared.name] = _path(study, declared, chosen[declared.name], base)
    chosen |= _found(study, chosen, values, folder)
    return replace(study, parameters=chosen, data=() if own[:1] == files[:1] != [] else study.data)


def _path(study: Study, declared: notebooks.Parameter, value: str, base: Path) -> str:
    """Return the whole path of a file or folder of the user's own, or the name that stands in its place."""
    path = (base / Path(value).expanduser()).resolve()
    if path.is_file() or (declared.names_a_folder and path.exists()):  # a folder's own reader tells what a file is
        return str(path)
    if declared.may_be_a_name and not _LIKE_A_PATH.search(value):
        return value
    kind = "folder" if declared.names_a_folder else "file"
    raise DataError(f"{study.name}: {declared.name}={value} is no {kind} in {base}. Correct the path.")


def _found(study: Study, chosen: dict[str, Any], values: dict[str, Any], folder: Path) -> dict[str, list[str]]:
    """Return the paths of files and folders that parameters list, whole; DataError where one is not there."""
    found = {}
    for name in (declared.name for declared in notebooks.parameters(study.notebook) if declared.names_files):
        base = Path.cwd() if name in values else folder
        paths = [(base / Path(text).expanduser()).resolve() for text in chosen[name]]
        told = [path if path.exists() else path.with_name(path.name.rstrip("+-") or path.name) for path in paths]
        if absent := [text for text, path in zip(chosen[name], told) if not path.exists()]:
            raise DataError(f"{study.name}: {name}={absent[0]} is no file or folder in {base}. Correct the path.")
        found[name] = [str(path) for path in paths]
    return found


def check_parameters(task: Study) -> None:
    """Execute the cell that checks a study's parameters, with what they are bound to, before any kernel starts.

    Raises DataError as the cell does. Whatever else goes wrong in it, the notebook's own run tells where and why.
    """
    try:
        exec(compile(notebooks.checks(task.notebook), str(task.notebook), "exec"), dict(task.parameters))
    except DataError as problem:
        raise DataError(f"{task.name}: {problem}") from None
    except Exception:  # a kernel meets it, too, and its report shows the cell
        pass


def registered(name: str) -> bool:
    """Tell whether a parameter that may name a file names a registered data set instead."""
    from evalkit.data import registry

    return name in registry.entries()


def files_named(study: Study) -> list[str]:
    """Return the parameters that name a file."""
    return [declared.name for declared in notebooks.parameters(study.notebook) if declared.names_a_file]


def without_folders(task: Study) -> Study:
    """Return a study as its report tells of it: files of the user's own without their folders, which may be private."""
    if not task.parameters:
        return task
    names: dict[str, Any] = {
        name: Path(task.parameters[name]).name for name in files_named(task) if task.parameters.get(name)
    }
    lists = [declared.name for declared in notebooks.parameters(task.notebook) if declared.names_files]
    names |= {name: [Path(text).name for text in task.parameters[name]] for name in lists if task.parameters.get(name)}
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


def here(tasks: list[Study], batch: Batch, jobs: int, kernels: Kernels) -> Generator[Outcome]:
    """Run studies on this machine, ``jobs`` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(batch.run, task, kernels) for task in tasks]
        try:
            import_module("evalkit.reports.index")  # nbconvert and all that pages need, while kernels work
            yield from (future.result() for future in as_completed(futures))
        except BaseException:  # Ctrl-C, too: start no more, and wait for nobody
            pool.shutdown(wait=False, cancel_futures=True)
            kernels.close()
            raise


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


class Progress:
    """Tell of the sections that studies begin and of how the studies end; ``tell`` None tells nothing."""

    def __init__(self, studies: dict[str, Path], tell: Callable[[str], None] | None) -> None:
        """Take the studies to be run, with their notebooks, and what a line is told to."""
        from tqdm import tqdm

        read = {name: notebooks.read(path)["cells"] if path.is_file() else [] for name, path in studies.items()}
        self.sections = {name: list(notebooks.headings(cells).values()) for name, cells in read.items()}
        self.begun = dict.fromkeys(studies, 0)
        self.tell, self.told, self.lock = tell, time.monotonic(), threading.Lock()
        total = sum(len(sections) + 1 for sections in self.sections.values())
        silent = tell is None or not sys.stderr.isatty()
        self.bar = tqdm(total=total, file=sys.stderr, disable=silent, bar_format="{desc} {percentage:3.0f}% {elapsed}")

    def begin(self, study: str, section: str) -> None:
        """Hear that a study begins a section; called by the threads that run the studies."""
        with self.lock:
            self.begun[study] += 1
            line = f"{study}: {section} ({self.begun[study]} of {len(self.sections[study])})"
            self.bar.set_description_str(line[:70], refresh=False)
            self.bar.update()
            if self.tell is not None and self.bar.disable and time.monotonic() - self.told > EVERY:
                self.told = time.monotonic()
                self.tell(line)

    def over(self, done: Iterable[Outcome], engine: Iterable[Outcome]) -> Iterator[Outcome]:
        """Pass outcomes on as they come, with one line for each study that ended."""
        with self.bar as bar:
            for outcome in chain(done, engine):
                with self.lock:
                    bar.clear()
                    if self.tell is not None:
                        self.tell(_line(outcome))
                    bar.update(len(self.sections[outcome.study]) + 1 - self.begun[outcome.study])
                yield outcome


def _line(outcome: Outcome) -> str:
    return f"{outcome.study}: {outcome.status}" + (f" ({outcome.reason})" if outcome.reason else "")
