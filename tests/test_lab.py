"""JupyterLab as a person uses it: open a study, run all cells, change a parameter, run again, see the figure change."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT
from evalkit.data import names
from evalkit.data.importing import import_campaign
from evalkit.reports import notebooks
from evalkit.reports.studies import Layout, read_studies
from tests import makers
from tests.test_browser import CHROMIUM, THIS_MACHINE, chromium

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt-get install chromium"),
    pytest.mark.slow,
]

#: The study that is opened before a change is taken; the others at night.
STUDY = "xsts_calibration"
STUDIES = [name if name == STUDY else pytest.param(name, marks=pytest.mark.nightly) for name in read_studies(Layout())]
#: What a person changes, and how far: a figure must then look different.
TURNED = {
    "xsts_calibration": ("consensus", "2.5"),
    "metric_protocols": ("sentences", "100"),
    "protocols_compared": ("hours", "200.0"),
    "wmt22_calibration_hits": ("pair", '"eng-deu"'),
    "degraded_context": ("margin", "2.0"),
    "study_planner": ("target", "0.9"),
    "metric_meta_evaluation": ("gold", '"da-sqm"'),
    "indicmt_mqm": ("tokenize", '"char"'),
    "relative_ranking": ("threshold", "10.0"),
    "critical_errors": ("dimension", '"fluency"'),
    "campaign": ("pair", '"ces-eng"'),
    "preferences": ("resamples", "40"),
    "steered": ("shown", "2"),
    "judges": ("statistic", '"segment Pearson"'),
    "ranking_rules": ("shown", '"wmt24-esa eng-jpn"'),
}
#: Parameters that say how long a run takes, made short: what is tried here is the way, not the numbers.
QUICK = {"resamples": 20, "splits": 4, "replicates": 20, "matches": 300, "draws": 100, "redrawn": 10, "campaigns": 10}
CELLS = ".jp-Notebook .jp-Cell"
DOWN = ("Space", "ArrowDown", "Enter")  # JupyterLab takes the arrows for itself until a menu is open
#: Controls above a figure: the function that draws it, the control's name, and the keys that turn it (none: a click).
CONTROLS = {
    "xsts_calibration": [("what_if", "raw", ["ArrowDown"]), ("outside_scores", "outside score", DOWN)],
    "wmt22_calibration_hits": [("two_by_two", "pair", DOWN), ("two_by_two", 2, [])],
    "study_planner": [("chances", "delta", ["ArrowUp"])],
}
SCRIPTS = makers.cases("scripts")["lab"]
SHOWN = "const shown = window.jupyterapp.shell.currentWidget;"


def until(page, script, argument=None, *, what, seconds):
    """Wait until a script in the page names nothing that is left to wait for."""
    end = time.monotonic() + seconds
    while left := page.evaluate(script, argument):
        if time.monotonic() > end:
            pytest.fail(f"{what}: waited {seconds} seconds in vain for {left}")
        page.wait_for_timeout(300)  # looking costs time, too


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a copy of the notebooks and with settings of a person who wants no news."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    (folder / "reports").mkdir()  # as a clone has it, and as an import leaves it
    (folder / "my-campaign.parquet").touch()
    for plugin, settings in {
        "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
        "notebook-extension/tracker": '{"windowingMode": "none"}',  # or cells off screen are not in the page
        "docmanager-extension/plugin": '{"autosave": false}',
    }.items():
        file = folder / "settings" / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(settings, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(home):
    """The address that `make lab` would have a browser open."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^lab:.*\n\t\$\(BIN\)/jupyter (.+)$", makefile, re.M)
    told = home / "address"
    write = f"import sys, pathlib; pathlib.Path({str(told)!r}).write_text(sys.argv[1])"
    environment = os.environ | {
        "HOME": str(home),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "PYTHONPATH": str(ROOT),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "EVALKIT_DATA_DIR": os.environ.get("EVALKIT_DATA_DIR", str(ROOT / "data" / "cache")),
        # by which the cache's tables and scores are known: under another one all would be parsed and scored anew
        "EVALKIT_SALT_FILE": str(names.salt_file()),
        "BROWSER": f"{sys.executable} -c {shlex.quote(write)} %s",
    }
    command = [
        sys.executable,
        "-m",
        "jupyter",
        *shlex.split(recipe),
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0",
        "--LabApp.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = home / "jupyterlab.log"
    with log.open("w") as sink:
        server = subprocess.Popen(command, env=environment, stdout=sink, stderr=subprocess.STDOUT, cwd=home)
    try:
        for _ in range(300):
            if told.exists() and told.read_text():
                break
            assert server.poll() is None, log.read_text()[-2000:]
            time.sleep(0.2)
        else:
            pytest.fail(f"JupyterLab opened no browser within 60 seconds: {log.read_text()[-2000:]}")
        yield told.read_text()
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="module")
def window(address):
    """JupyterLab in a browser that reaches nothing but this machine."""
    with chromium(THIS_MACHINE) as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(address)  # a file that leads on to the server, so that no token is in a list of processes
        page.wait_for_url("**/lab/tree/notebooks/start_here.ipynb*")
        page.wait_for_function("() => window.jupyterapp?.shell")
        until(page, SCRIPTS["opening"], "notebooks/start_here.ipynb", what="JupyterLab opens on the tour", seconds=90)
        yield page


@pytest.fixture
def opened(window):
    """Open a notebook by the menu, as the only one; afterwards its kernel is shut down."""

    def open_notebook(path):
        if window.evaluate("() => window.jupyterapp.shell.currentWidget?.context?.path") != path:
            window.evaluate(SCRIPTS["close"])
            window.get_by_role("menuitem", name="File", exact=True).click()
            window.get_by_role("menuitem", name="Open from Path…", exact=True).click()
            window.keyboard.type(path)
            window.keyboard.press("Enter")
        until(window, SCRIPTS["opening"], path, what=f"{path} opens", seconds=60)
        return window

    yield open_notebook
    window.keyboard.press("Escape")
    window.evaluate(SCRIPTS["close"])


def choose_run_all(page):
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def run_all(page, *, seconds=300):
    """Choose Run > Run All Cells, wait until every cell has run, and demand that none failed or complained."""
    before = page.evaluate(SCRIPTS["count"])
    choose_run_all(page)
    until(page, SCRIPTS["running"], before, what="Run All Cells", seconds=seconds)
    assert page.evaluate(SCRIPTS["errors"]) == []


def write(page, text):
    """Replace the parameters, the second cell, as a person does: click into it, select all, type."""
    page.locator(".jp-Notebook .jp-Cell").nth(1).locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def turned(source, values):
    """Change the defaults in a cell of parameters; every name must be there."""
    lines = source.splitlines()
    for name, value in values.items():
        [number] = [i for i, line in enumerate(lines) if line.startswith(f"{name}:")]
        declared, _, rest = lines[number].partition(" = ")
        comment = rest.partition("  #")[2]
        lines[number] = f"{declared} = {value}  #{comment}"
    return "\n".join(lines)


def place_of(cells, call):
    """Return the place of the one cell that makes a call."""
    [place] = [i for i, cell in enumerate(cells) if cell["cell_type"] == "code" and call in cell["source"]]
    return place


def pictures(shown):
    """Return the pictures and charts that a cell, or a page, shows now."""
    look = "cell => [...cell.querySelectorAll('.jp-OutputArea-output img')].map(image => image.src).concat("
    look += "[...cell.querySelectorAll('.jp-OutputArea-output svg.marks')].map(chart => chart.textContent))"
    return shown.evaluate(look)


def turn(page, cell, control, keys):
    """Turn a control of a cell by the keyboard, or click on a box, and wait until as many pictures show, but others."""
    before = pictures(cell)
    if keys:
        cell.get_by_label(control, exact=True).focus()
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(100)  # a menu opens
    else:
        cell.get_by_role("checkbox").nth(control).click()
    end = time.monotonic() + 30
    while (now := pictures(cell)) == before or len(now) != len(before):
        assert time.monotonic() < end, f"{control} changed no figure: {len(before)} pictures, now {len(now)}"
        page.wait_for_timeout(100)


def test_make_lab_opens_the_tour_which_runs(opened):
    page = opened("notebooks/start_here.ipynb")
    run_all(page)
    look = "images => images.map(image => [image.alt !== '', image.naturalWidth > 100])"
    seen = page.locator(".jp-OutputArea-output img").evaluate_all(look)
    assert seen
    assert all(told and drawn for told, drawn in seen), "each picture has words and is drawn"
    assert "SIMULATED" not in page.locator(".jp-Notebook").inner_text()
    listed = page.get_by_role("region", name="file browser").or_(page.locator("#filebrowser")).first
    for name in ("notebooks", "reports", "my-campaign.parquet"):
        assert listed.get_by_text(name, exact=True).count(), f"{name} is in the file browser"
    head = page.locator(".jp-RenderedHTMLCommon .evalkit thead th").first
    look = "cell => [getComputedStyle(cell).textAlign, getComputedStyle(cell.closest('table')).tableLayout]"
    assert head.evaluate(look) == ["left", "auto"], "tables look as in reports"
    page.get_by_role("link", name="XSTS: one scale for many languages").click()
    until(
        page, SCRIPTS["opening"], "notebooks/studies/xsts_calibration.ipynb", what="a link opens its study", seconds=60
    )


@pytest.mark.parametrize("name", STUDIES)
def test_a_person_opens_a_study_runs_it_changes_a_parameter_and_sees_another_figure(name, opened, here, home, tmp_path):
    study = read_studies(Layout())[name]
    here(*study.data)
    cells = notebooks.read(study.notebook)["cells"]
    declared = {parameter.name for parameter in notebooks.parameters(study.notebook)}
    short = turned(cells[1]["source"], {key: QUICK[key] for key in QUICK.keys() & declared})
    page = opened(f"notebooks/studies/{study.notebook.name}")
    write(page, short)
    run_all(page)
    before = pictures(page.locator(".jp-Notebook"))
    assert before

    for call, control, keys in CONTROLS.get(name, []):
        turn(page, page.locator(CELLS).nth(place_of(cells, f"explore.figure({call},")), control, keys)
    parameter, value = TURNED[name]
    cells[1]["source"] = turned(short, {parameter: value})
    write(page, cells[1]["source"])
    run_all(page)
    assert pictures(page.locator(".jp-Notebook")) != before, f"{parameter} = {value} changes no figure"

    page.keyboard.press("ControlOrMeta+s")
    until(page, f"() => {{ {SHOWN} return shown.context.model.dirty ? 'saving' : ''; }}", what="Ctrl+S", seconds=30)
    saved = Path(shutil.copy(home / "notebooks" / "studies" / study.notebook.name, tmp_path))
    assert "image/png" in saved.read_text(encoding="utf-8")
    notebooks.tidy(saved)
    assert saved.read_text(encoding="utf-8") == notebooks.canonical(cells), "a person's work leaves traces"


# A reader's own frame in place of the one that a study loads, as docs/running.md says

ROWS = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", (ROOT / "docs" / "running.md").read_text(encoding="utf-8"), re.M)
#: Study -> the code that the page has a reader write at the end of the cell that loads data.
LINES = {study: re.findall(r"`([^`]+)`", told) for study, told in ROWS}


def own_frame(study):
    """Make a frame of a person's own: a calibration set that all judged, or documents shown again, some degraded."""
    drawn = makers.ratings(7, systems=2, documents=8, people=5, src_lang="eng", tgt_lang="fra", hit="h1")
    if study != "degraded_context":
        return drawn.assign(item_type="calibration")
    rng, first = np.random.default_rng(7), drawn.groupby(["annotator", "system", "doc"]).cumcount()
    drawn["hit"] = drawn["annotator"] + drawn["doc"]
    again = drawn.assign(item_type=rng.choice(["repeat", "degraded"], len(drawn), p=[0.7, 0.3]), copy=True)
    again["score"] = (again["score"] - rng.uniform(0, 30, len(drawn))).clip(0, 100)
    early = drawn["doc"] < "d04"  # half of the copies come first
    both = pd.concat([drawn.assign(copy=False, position=first + 5 * early), again.assign(position=first + 5 * ~early)])
    return both.assign(z=(both["score"] - both["score"].mean()) / both["score"].std())


@pytest.mark.nightly
@pytest.mark.parametrize("study", LINES)
def test_a_reader_puts_an_own_frame_in_place_of_the_studys(study, opened, here, home):
    here(*read_studies(Layout())[study].data)
    own_frame(study).to_csv(home / "mine.csv", index=False)
    mine = ["mine = pd.read_csv('../../mine.csv', dtype={'segment': str})", "mine.attrs['scale'] = (0, 100)"]
    if study != "degraded_context":
        import_campaign([home / "mine.csv"], home / "mine.parquet", scale=["0", "100"], replace=True)
        mine = ["mine, _ = data.open_campaign('../../mine.parquet')"]
    notebook = notebooks.read(read_studies(Layout())[study].notebook)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    again = [line for line in code[2]["source"].splitlines() if line.startswith("groups, scale")]
    lines = [line for line in LINES[study] if " = " in line and "…" not in line]
    code[2]["source"] = "\n".join([code[2]["source"], *mine, *lines, *again])
    short = {name: value for name, value in QUICK.items() if f"\n{name}: " in code[0]["source"]}
    if "\npair: " in "\n" + code[0]["source"]:
        short["pair"] = '"eng-fra"'
        code[1]["source"] = code[1]["source"].replace('"eng-hrv"', '"eng-fra"')
    code[0]["source"] = turned(code[0]["source"], short)
    print_cells = [cell for cell in code if "show.compare(" in cell["source"]]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in print_cells]
    (home / "notebooks" / "studies" / "mine.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    page = opened("notebooks/studies/mine.ipynb")
    run_all(page)
    seen = page.locator(".jp-Notebook").inner_text()
    assert {"degraded_context": "ours"}.get(study, "eng-fra") in seen
    assert pictures(page.locator(".jp-Notebook"))
