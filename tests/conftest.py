"""What all tests share: where the real data and the papers are, and the rule that CI may not do without them."""

import fcntl
import functools
import json
import os
import pickle
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import settings

from evalkit import ROOT

SHARED = ROOT.parent / "shared"
DEMAND = os.environ.get("EVALKIT_DEMAND_DATA") == "1"
#: What a test may lack here: how its skip begins, and how to get it.
LACKING = {
    "real data": "run `evalkit data fetch`, or set EVALKIT_DATA_MIRROR to a folder of them",
    "papers' texts": "set EVALKIT_PAPERS to their folder",
    "a browser": "install Chromium",
    "Pearmut": "let pip reach a package index that has it",
}
#: Needs that no environment demands, for not every machine of CI can get them.
OPTIONAL = ("Pearmut",)
collect_ignore = ["bench", "doors"]  # no tests, and slow to import
TINY = Path(__file__).parent / "notebooks" / "studies.toml"
#: What a good run of one of the small studies, simulated there, might have recorded earlier on real data.
EARLIER = """
{"study": "simulated", "signature": "the|real|one", "headline": "The true finding <i>",
 "recorded": {"means": [{"system": "alpha <b>", "mean": 61.23456, "count": null}, {"system": "beta", "mean": 50.0}]},
 "published": [{"paper": "P", "item": "Table 1", "cell": "alpha", "printed": "1", "computed": 1.0, "verdict": "match",
                "note": "", "basis": "recomputed from data"}]}
"""

# One thread each, as in reports: the workers of the tests share the cores already, and threads that wait cost time.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

settings.register_profile("evalkit", deadline=None, derandomize=True, database=None, max_examples=25)
settings.load_profile("evalkit")

if "EVALKIT_DATA_MIRROR" not in os.environ and (SHARED / "data").is_dir():
    os.environ["EVALKIT_DATA_MIRROR"] = str(SHARED / "data")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what looks at the reports of all studies as slow, and what has them made again as nightly."""
    for item in items:
        for fixture, mark in (("all_reports", "slow"), ("on_real_data", "slow"), ("all_simulated", "nightly")):
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One process more than there are cores: where a test waits for a kernel or a browser, another goes on."""
    return (os.cpu_count() or 1) + 1


def _demanded(report):
    """Turn a skip into a failure where the environment demands that nothing be skipped which it can bring."""
    if DEMAND and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if str(reason).removeprefix("Skipped: ").startswith(OPTIONAL):
            return report
        report.outcome, report.longrepr = "failed", f"EVALKIT_DEMAND_DATA=1 allows no skips. {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Hold each test to the demand."""
    return _demanded((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Hold modules that skip themselves to the demand, too."""
    return _demanded((yield))


def lack(need, what):
    """Skip a test for want of one of the things that can be got; the last line of a run counts them."""
    pytest.skip(f"{need}: {what} is not here, {LACKING[need]}")


def pytest_terminal_summary(terminalreporter):
    """Say in one line how many tests were skipped for want of what, and how to get it."""
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", [])]
    needs = Counter(next((need for need in LACKING if reason.startswith(need)), "") for reason in reasons)
    told = [f"{needs[need]} need {need} ({how})" for need, how in LACKING.items() if needs[need]]
    told += [f"{needs['']} do not apply to this machine (pytest -rs)"] if needs[""] else []
    if told:
        terminalreporter.write_line(f"Skipped tests: {'; '.join(told)}.", yellow=True)


@pytest.fixture(autouse=True)
def _figures_closed():
    """Leave no figure open for the next test."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def here():
    """Skip where the files of some data sets are not here."""

    def check(*names):
        from evalkit import data

        for name in names:
            if not data.available(name):
                lack("real data", name)

    return check


@pytest.fixture(scope="session")
def real(here):
    """Load a data set by name, really; skip where its files are not here. Each test has a copy of its own."""
    from evalkit import data

    loaded = functools.lru_cache(maxsize=8)(data.load)

    def load(name):
        here(name)
        return loaded(name).copy()

    return load


@pytest.fixture(scope="session")
def paper():
    """Read a paper's text by the start of its file name; skip where it is not here."""

    def text(start):
        folder = Path(os.environ.get("EVALKIT_PAPERS") or SHARED / "papers")
        found = sorted(folder.glob(f"{start}*.txt"))
        if not found:
            lack("papers' texts", f"paper {start}")
        return found[0].read_text(encoding="utf-8")

    return text


@pytest.fixture(scope="session")
def mirrored():
    """Find the first file in the mirror folder that fits a path or pattern there; skip where there is none."""

    def find(pattern):
        folder = Path(os.environ.get("EVALKIT_DATA_MIRROR", "no mirror"))
        found = sorted(folder.glob(pattern)) if folder.is_dir() else []
        if not found:
            lack("real data", pattern)
        return found[0]

    return find


@pytest.fixture
def own_salt(tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them."""
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "config" / "salt"))


@pytest.fixture
def own_folder(tmp_path, monkeypatch, own_salt):
    """Work in a folder of one's own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def imported(tmp_path, own_salt):
    """Import files, or content that is written first, under its people's names: ratings, spans, report.

    Many rows of the tests' small files are wrong on purpose, so rejected ones are allowed; every row is accounted for.
    """
    from evalkit import data
    from evalkit.data import importing

    def run(content, name="", **options):
        paths = content if isinstance(content, list) and isinstance(content[0], Path) else [content]
        if not isinstance(paths[0], Path):
            paths = [write(content, name)]
        options = {"keep_names": True, "allow_rejected": True} | options
        report, _ = importing.import_campaign(paths, tmp_path / "c.parquet", **options)
        assert report.rows_read == report.rows_kept + report.rows_rejected + report.rows_excluded + report.rows_folded
        return *data.open_campaign(tmp_path / "c.parquet"), report

    def write(content, name):
        if hasattr(content, "save"):  # a workbook
            content.save(path := tmp_path / (name or "my.xlsx"))
            return path
        text = isinstance(content, (bytes, str))
        path = tmp_path / (name or ("my.csv" if text else "my.json"))
        path.parent.mkdir(parents=True, exist_ok=True)
        content = content if text else json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return run


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Have a folder made once a session, by whichever of its workers comes first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def folder(name, make):
        made, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                make(made)
                done.touch()
        return made

    return folder


@pytest.fixture(scope="session")
def site(once):
    """The tests' own small studies, good and bad, as (layout, outcomes by name): one of them with reference results."""
    from evalkit.reports import execute
    from evalkit.reports.studies import Layout, read_studies

    def layout(folder):
        return Layout(studies=TINY, reports=folder / "reports", reference=folder / "reference")

    def make(folder):
        layout(folder).reference.mkdir(parents=True)
        (layout(folder).reference / "simulated.json").write_text(EARLIER)
        quick = [name for name in read_studies(layout(folder)) if name != "sleeps"]
        outcomes = execute.run(quick, layout(folder)) + execute.run(["sleeps"], layout(folder), timeout=2)
        (folder / "outcomes").write_bytes(pickle.dumps(outcomes))

    folder = once("site", make)
    return layout(folder), {outcome.study: outcome for outcome in pickle.loads((folder / "outcomes").read_bytes())}


@pytest.fixture(scope="session")
def wheel(once):
    """The wheel, built with what is installed here, without a network."""

    def make(folder):
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)

    [built] = once("dist", make).glob("*.whl")
    return built


class Installation:
    """A wheel in an environment of its own, beside the packages that are here, and how a command is run there."""

    def __init__(self, home):
        self.home = home
        self.site = Path(sysconfig.get_path("purelib", vars={"base": str(home / "venv")}))
        self.package = self.site / "evalkit"

    def install(self, wheel):
        """Install a wheel, read-only and without a network."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.home / "venv"], check=True)
        options = ["--quiet", "--offline", "--no-deps", "--compile-bytecode", "--python", self.interpreter()]
        subprocess.run([sys.executable, "-m", "uv", "pip", "install", *options, wheel], check=True)
        # a line in a .pth file names a folder, but obeys no .pth file there: the clone installed here stays unseen
        (self.site / "packages.pth").write_text(sysconfig.get_path("purelib"))
        for path in [self.package, *self.package.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)

    def interpreter(self):
        """Name the environment's Python."""
        return self.home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"

    def python(self, *command, folder):
        """Run Python in a folder, without data and without a network, and return what it prints."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("EVALKIT_", "PYTHON", "XDG_"))}
        environment = kept | {
            "HOME": str(self.home),
            "EVALKIT_OFFLINE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "JUPYTER_PATH": str(Path(sys.prefix) / "share" / "jupyter"),  # nbconvert's templates lie beside its package
        }
        whole = [self.interpreter(), *command]
        done = subprocess.run(whole, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def evalkit(self, *words, folder):
        """Run the command line in a folder and return what it prints."""
        return self.python("-m", "evalkit.reports.cli", *words, folder=folder)

    def written(self):
        """Tell what lies in the package and when it was written."""
        return {str(path.relative_to(self.package)): path.stat().st_mtime_ns for path in self.package.rglob("*")}


@pytest.fixture(scope="session")
def installed(once, wheel):
    """The wheel's installation."""
    return Installation(once("installed", lambda home: Installation(home).install(wheel)))


@pytest.fixture
def without_data(monkeypatch, tmp_path):
    """Leave neither network nor mirror nor cache."""
    monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "nothing"))


@pytest.fixture(scope="session")
def all_simulated(once, installed):
    """The reports of all studies as on a machine without data and without a network, made with the wheel."""

    def make(folder):
        folder.mkdir()
        installed.evalkit("run", "--all", folder=folder)

    return once("all-simulated", make) / "reports"


@pytest.fixture(scope="session")
def all_reports(once):
    """The reports of all studies on whatever data are here; EVALKIT_REPORTS names a folder that has them already."""
    from evalkit.reports import execute
    from evalkit.reports.studies import Layout

    if made := os.environ.get("EVALKIT_REPORTS"):
        return Path(made)
    return once("reports", lambda folder: execute.run(None, Layout(reports=folder)))


@pytest.fixture(scope="session")
def data_of_studies():
    """The names of all data sets that studies need."""
    from evalkit.reports.studies import Layout, read_studies

    return sorted({name for study in read_studies(Layout()).values() for name in study.data})


@pytest.fixture(scope="session")
def on_real_data(request, here, data_of_studies):
    """The same reports, where all of them are on real data; skip elsewhere. A test that asks for them is slow."""
    here(*data_of_studies)
    return request.getfixturevalue("all_reports")  # not before: reports without data would be made for nothing


@pytest.fixture(scope="session")
def kernels():
    """Kernels as studies have them."""
    from evalkit.reports.kernels import Kernels

    with Kernels() as ours:
        yield ours


@pytest.fixture
def executed(kernels):
    """Run a notebook from top to bottom, where it would be opened; a cell that raises fails the test.

    Its kernel is its own, and sees the data that the test sees.
    """
    import nbclient

    def run(notebook):
        others = {name: value for name, value in kernels.env.items() if not name.startswith("EVALKIT_")}
        kernels.env = others | {name: value for name, value in os.environ.items() if name.startswith("EVALKIT_")}
        options = {"kernel_manager_class": kernels.manager, "shutdown_kernel": "immediate", "timeout": 300}
        folder = {"metadata": {"path": str(ROOT / "notebooks")}}
        return nbclient.NotebookClient(notebook, **options, resources=folder).execute()

    return run
