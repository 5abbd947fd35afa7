"""A campaign goes all the way: designed, served by the real Pearmut, judged in a browser, imported."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from importlib import metadata

import pytest

from evalkit import data
from evalkit.data import designs
from evalkit.data.provenance import reading_of
from evalkit.reports import cli
from tests.conftest import lack
from tests.test_browser import CHROMIUM, THIS_MACHINE, chromium

pytestmark = pytest.mark.slow

#: Texts that would become markup, or worse, where a page took them for that.
HOSTILE = [
    "<b>bold</b> claims",
    "<img src=x onerror=document.title='taken'>",
    "<script>document.title='taken'</script>",
    'fish & chips &lt; 5 "quoted"',
    "<audio src=x> sings",
    "plain words and no marks at all",
]
#: Pearmut listens on all interfaces; here it is told to stay on this machine.
SERVE = """
import sys, uvicorn
run = uvicorn.run
uvicorn.run = lambda app, **options: run(app, **{**options, "host": "127.0.0.1"})
from pearmut.cli import main
sys.argv = ["pearmut", *sys.argv[1:]]
main()
"""
SYSTEMS = {"AlphaNet": "alpha", "BetaMT": "beta"}


@pytest.fixture(scope="module")
def pearmut(once):
    """The Python of an environment that has Pearmut; skip where it cannot be had."""

    def make(folder):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        words = "-m uv pip install --quiet --only-binary :all: --python"
        install = [sys.executable, *words.split(), folder / "bin" / "python"]
        # it runs on Python 3.11, too, but does not say so
        alone = [*install, "--python-version", "3.12", "--no-deps", "pearmut==1.1.6"]
        done = subprocess.run(alone, capture_output=True, text=True)
        for described in folder.rglob("pearmut-*.dist-info"):
            needed = metadata.PathDistribution(described).requires
            done = subprocess.run([*install, *needed], capture_output=True, text=True)
        (folder / "said").write_text(done.stderr if done.returncode else "")

    if sys.version_info < (3, 11) or os.name == "nt":
        lack("Pearmut", "a system that it runs on")
    folder = once("pearmut", make)
    if said := (folder / "said").read_text():
        lack("Pearmut", f"version 1.1.6 ({said.strip().splitlines()[-1][:200]})")
    return folder / "bin" / "python"


PROTOCOLS = ("ESA", "XSTS", "SQM", "MQM", "cESA", "preference")


@pytest.fixture(scope="module")
def homes(tmp_path_factory):
    """A folder with a small campaign by each protocol, of texts that are no markup."""
    home = tmp_path_factory.mktemp("loop")
    (home / "outputs").mkdir()
    lines = [f"{HOSTILE[number % len(HOSTILE)]} number {number}" for number in range(8)]
    (home / "source.txt").write_text("\n".join(lines) + "\n")
    (home / "reference.txt").write_text("\n".join(f"{line} by hand" for line in lines) + "\n")
    (home / "documents.txt").write_text("\n".join(f"doc{number // 2}" for number in range(8)) + "\n")
    for name, word in SYSTEMS.items():
        (home / "outputs" / f"{name}.txt").write_text("\n".join(f"{line} {word}" for line in lines) + "\n")
    words = ["--out", home, "--pair", "en-de", "--annotators", "2", "--calibration", "2", "--outputs", home / "outputs"]
    for name in ("source", "reference", "documents"):
        words += [f"--{name}", home / f"{name}.txt"]
    for protocol in PROTOCOLS:
        copies = ["--degraded", "0.2", "--repeats", "0.2"] if protocol == "ESA" else []
        assert cli.main(list(map(str, ["new", "campaign", protocol, *words, "--protocol", protocol, *copies]))) == 0
    return home


@pytest.fixture(scope="module")
def served(pearmut, homes):
    """The address of a server that has the campaigns, the annotators' links, and the server's folder."""
    folder = homes / "server"
    folder.mkdir()
    script = folder / "serve.py"
    script.write_text(SERVE)
    campaigns = [homes / name / "campaign.json" for name in PROTOCOLS]
    added = subprocess.run([pearmut, script, "add", *campaigns], cwd=folder, capture_output=True, text=True)
    assert added.returncode == 0, added.stdout + added.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    with log.open("w") as sink:
        server = subprocess.Popen([pearmut, script, "run", "--port", str(port)], cwd=folder, stdout=sink, stderr=sink)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(150):
            assert server.poll() is None, log.read_text()
            try:
                with urllib.request.urlopen(address, timeout=2):
                    break
            except OSError:
                time.sleep(0.2)
        else:
            pytest.fail(f"Pearmut does not answer: {log.read_text()[-2000:]}")
        links = [f"{address}/{link}" for link in re.findall(r"http://localhost:8001/(annotate\?\S+)", added.stdout)]
        yield address, links, folder
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def page():
    """A page of a browser that reaches nothing but this machine."""
    if CHROMIUM is None:
        lack("a browser", "Chromium")
    with chromium(THIS_MACHINE) as browser:
        yield browser.new_page(viewport={"width": 1300, "height": 2000})


def judge(page, number, screen, protocol):
    """Judge a screen by clicks, having seen that its texts stand there as they are; return the sliders' scores."""
    page.wait_for_function(
        "count => document.querySelectorAll('.output_block').length === count"
        " && !document.querySelector('.output_block[data-judged]')",
        arg=len(screen),
    )
    candidates = page.locator(".output_candidate")
    sides = candidates.evaluate_all("all => all.map(one => one.dataset.model)")
    assert sides == [model for item in screen for model in item["tgt"]]  # from left to right as they were drawn
    for place, text in enumerate(text for item in screen for text in item["tgt"].values()):
        letters = candidates.nth(place).locator(".tgt_char:not(.special_token)").all_text_contents()
        assert "".join(letters) == text
    assert page.locator(".output_item b, .output_item img, .output_item audio, .output_item script").count() == 0
    assert page.title() != "taken"
    sliders = page.locator("input[type=range]")
    assert sliders.count() == (len(sides) if protocol != "MQM" else 0)
    for place in range(sliders.count()):
        box = sliders.nth(place).bounding_box()
        share = 0.1 + 0.07 * ((5 * number + 3 * place) % 11)
        sliders.nth(place).click(position={"x": box["width"] * share, "y": box["height"] / 2})
    if protocol in ("MQM", "cESA"):
        mark(page)
    said = [int(text.split("/")[0].split()[-1]) for text in page.locator(".slider_label").all_text_contents()]
    page.evaluate("() => document.querySelector('.output_block').dataset.judged = 'yes'")
    page.locator("#button_next").click()
    return said


def mark(page):
    """Mark one error in the first translation: its first letters, severe, of the first kind there is."""
    letters = page.locator(".output_candidate").first.locator(".tgt_char")
    letters.nth(0).click()
    letters.nth(3).click()
    letters.nth(2).hover()
    tool = page.locator(".span_toolbox_parent").first
    tool.locator("input.error_major").click()
    for choice in tool.locator("select").all():
        if choice.is_enabled():
            choice.select_option(index=1)


def logged(page, log, screens):
    """Wait until the server has written down so many screens."""
    for _ in range(100):
        if log.exists() and len(log.read_text().splitlines()) == screens:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{log.name} has not {screens} screens after ten seconds")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_judged_on_the_screen_comes_back_with_its_score_system_and_role(protocol, homes, served, page, capsys):
    """By ESA, whose campaign has items of every kind, all that the first annotator is shown; else the first screen."""
    address, links, folder = served
    home = homes / protocol
    plan = designs.read(home / "design.json")
    task = json.loads((home / "campaign.json").read_text())["data"][0]
    screens = task if protocol == "ESA" else task[:1]
    page.goto(next(link for link in links if f"campaign_id={protocol}&" in link and "annotator-01" in link))
    scores, log = {}, folder / "data" / "annotations" / f"{protocol}.jsonl"
    for number, screen in enumerate(screens, 1):
        said = judge(page, number, screen, protocol)
        wanted = [(item["item_id"], model) for item in screen for model in item["tgt"]]
        scores |= dict(zip(wanted, said or [None] * len(wanted), strict=True))
        logged(page, log, number)
    fetched = home / "fetched.json"  # over the network, as the dashboard offers it
    with urllib.request.urlopen(f"{address}/download-annotations?campaign_id={protocol}") as answer:
        fetched.write_bytes(answer.read())
    tables = []
    for source in (log, fetched):
        arguments = ["import", source, "--design", home / "design.json", "--out", home / "out.parquet"]
        assert cli.main([*map(str, arguments), "--keep-names", "--replace"]) == 0, capsys.readouterr().err
        tables.append(data.open_campaign(home / "out.parquet"))
    (ratings, spans), (again, _) = tables
    assert ratings.equals(again)
    assert len(ratings) == len(scores)
    for (name, model), score in scores.items():
        entry = plan.items[name]
        own = ratings[
            ratings["system"].eq(plan.systems[model])
            & ratings["segment"].eq(entry.segment)
            & ratings["item_type"].eq(entry.shown[model] if protocol != "preference" else "system")
        ]
        if protocol == "preference":
            [other] = [one for one in entry.shown if one != model]
            own = own[own["against"].eq(plan.systems[other])]
            score = 0.5 + (score - scores[name, other]) / 2
        assert protocol == "MQM" or own["score"].tolist() == [score]
    assert (spans is not None) is (protocol in ("MQM", "cESA"))
    assert protocol != "MQM" or sorted(ratings["score"])[0] < 0 == sorted(ratings["score"])[1]
    if protocol == "ESA":
        assert {"system", "reference", "calibration", "degraded", "repeat"} == set(ratings["item_type"])
        counts = {row["annotator"]: row["collected"] for row in reading_of(ratings)["plan"]["annotators"]}
        assert counts["annotator-01"] == len(scores)
