"""A campaign goes all the way: designed, served by the real Pearmut, judged in a browser, imported."""

import json
import os
import re
import shutil
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
from tests.test_browser import CHROMIUM, FLAGS

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


OTHERS = ("XSTS", "SQM", "MQM", "cESA", "preference")


@pytest.fixture(scope="module")
def designed(tmp_path_factory):
    """The folder of a small campaign by ESA, of texts that are no markup; beside it one by each other protocol."""
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
    for name, protocol in [("tiny", "ESA"), *((f"by_{protocol}", protocol) for protocol in OTHERS)]:
        copies = ["--degraded", "0.2", "--repeats", "0.2"] if name == "tiny" else []
        assert cli.main(list(map(str, ["new", "campaign", name, *words, "--protocol", protocol, *copies]))) == 0
    return home / "tiny"


@pytest.fixture(scope="module")
def served(pearmut, designed):
    """The address of a server that has the campaign, the annotators' links, and the server's folder."""
    folder = designed / "server"
    folder.mkdir()
    script = folder / "serve.py"
    script.write_text(SERVE)
    campaigns = [designed / "campaign.json", *(designed.parent / f"by_{name}" / "campaign.json" for name in OTHERS)]
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
    playwright = pytest.importorskip("playwright.sync_api")
    flags = [flag for flag in FLAGS if "host-resolver" not in flag]
    flags += ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"]
    flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser.new_page(viewport={"width": 1300, "height": 2000})
        browser.close()


def judge(page, screens, campaign):
    """Judge a number of screens by clicks; return (item, text, score) of each translation."""
    found = []
    for screen in range(screens):
        items = campaign[screen]
        blocks = page.locator(".output_block")
        page.wait_for_function(
            "count => document.querySelectorAll('.output_block').length === count"
            " && !document.querySelector('.output_block[data-judged]')",
            arg=len(items),
        )
        for place, item in enumerate(items):
            block = blocks.nth(place)
            [text] = item["tgt"].values()
            assert block.locator(".output_src").inner_text().strip() == item["src"].strip()
            shown = "".join(block.locator(".tgt_char:not(.special_token)").all_text_contents())
            assert shown == text
            assert (
                block.locator(".output_item b, .output_item img, .output_item audio, .output_item script").count() == 0
            )
            slider = block.locator("input[type=range]")
            box = slider.bounding_box()
            slider.click(
                position={"x": box["width"] * (0.1 + 0.07 * ((screen * 5 + place * 3) % 11)), "y": box["height"] / 2}
            )
            score = int(block.locator(".slider_label").inner_text().split("/")[0])
            found.append((item["item_id"], text, score))
        assert page.title() != "taken"
        page.evaluate("() => document.querySelector('.output_block').dataset.judged = 'yes'")
        page.locator("#button_next").click()
    return found


def logged(page, log, screens):
    """Wait until the server has written down so many screens."""
    for _ in range(100):
        if log.exists() and len(log.read_text().splitlines()) == screens:
            return
        page.wait_for_timeout(100)
    pytest.fail(f"{log.name} has not {screens} screens after ten seconds")


def test_a_campaign_is_planned_served_judged_fetched_and_imported(designed, served, page, capsys):
    address, every, folder = served
    links = [link for link in every if "campaign_id=tiny" in link]
    plan = designs.read(designed / "design.json")
    campaign = json.loads((designed / "campaign.json").read_text())
    assert [link.partition("user_id=")[2] for link in links] == ["annotator-01", "annotator-02"]

    # the first annotator judges everything, the second the first two screens
    judged, sent = {}, 0
    for number, (link, task) in enumerate(zip(links, campaign["data"])):
        page.goto(link)
        screens = len(task) if number == 0 else 2
        judged[number + 1] = judge(page, screens, task)
        logged(page, folder / "data" / "annotations" / "tiny.jsonl", sent := sent + screens)
        seen = page.content() + page.inner_text("body")
        assert not [word for word in (*SYSTEMS, "reference", "degraded", "calibration") if word in seen]

    # fetched over the network as the dashboard offers it
    fetched = designed / "fetched.json"
    with urllib.request.urlopen(f"{address}/download-annotations?campaign_id=tiny") as answer:
        fetched.write_bytes(answer.read())
    log = folder / "data" / "annotations" / "tiny.jsonl"
    shutil.copy(log, designed / "tiny.jsonl")

    tables = {}
    for source in (designed / "tiny.jsonl", fetched):
        out = designed / f"{source.stem}.parquet"
        arguments = ["import", source, "--design", designed / "design.json", "--out", out, "--keep-names"]
        assert cli.main(list(map(str, arguments))) == 0, capsys.readouterr().err
        tables[source.name], _ = data.open_campaign(out)
    ratings = tables["tiny.jsonl"]
    assert ratings.equals(tables["fetched.json"])

    # every judgement has come back with its score, its system and its role
    expected = []
    for task, rows in judged.items():
        for name, text, score in rows:
            entry = plan.items[name]
            [(alias, kind)] = entry.shown.items()
            assert entry.task == task
            at = (f"annotator-{task:02d}", plan.systems[alias], entry.doc, entry.segment)
            expected.append((*at, kind, text, float(score)))
    columns = ["annotator", "system", "doc", "segment", "item_type", "hypothesis", "score"]
    assert sorted(ratings[columns].itertuples(index=False, name=None)) == sorted(expected)
    assert {"system", "reference", "calibration", "degraded", "repeat"} == set(ratings["item_type"])

    # plan and outcome
    told = reading_of(ratings)["plan"]
    counts = {row["annotator"]: (row["planned"], row["collected"]) for row in told["annotators"]}
    sizes = [sum(len(item["tgt"]) for screen in task for item in screen) for task in campaign["data"]]
    assert counts == {"annotator-01": (sizes[0], sizes[0]), "annotator-02": (sizes[1], len(judged[2]))}


@pytest.mark.parametrize("protocol", OTHERS)
def test_every_protocol_can_be_judged_on_its_screen_and_comes_back(protocol, designed, served, page, capsys):
    _, links, folder = served
    home = designed.parent / f"by_{protocol}"
    plan = designs.read(home / "design.json")
    [screen, *_] = json.loads((home / "campaign.json").read_text())["data"][0]
    page.goto(next(link for link in links if f"campaign_id=by_{protocol}" in link))
    page.wait_for_function("count => document.querySelectorAll('.output_block').length === count", arg=len(screen))
    sides = page.locator(".output_candidate").evaluate_all("all => all.map(one => one.dataset.model)")
    assert sides == [model for item in screen for model in item["tgt"]]  # from left to right as they were drawn
    sliders = page.locator("input[type=range]")
    answers = len(sides) if protocol != "MQM" else 0
    assert sliders.count() == answers
    for place in range(answers):
        box = sliders.nth(place).bounding_box()
        sliders.nth(place).click(position={"x": box["width"] * (0.15, 0.85, 0.6)[place % 3], "y": box["height"] / 2})
    if protocol in ("MQM", "cESA"):
        mark(page)
    said = [int(text.split("/")[0].split()[-1]) for text in page.locator(".slider_label").all_text_contents()]
    page.locator("#button_next").click()
    log = folder / "data" / "annotations" / f"by_{protocol}.jsonl"
    logged(page, log, 1)
    out = home / "out.parquet"
    arguments = ["import", log, "--design", home / "design.json", "--out", out, "--keep-names"]
    assert cli.main(list(map(str, arguments))) == 0, capsys.readouterr().err
    ratings, spans = data.open_campaign(out)
    wanted = [(item["item_id"], model) for item in screen for model in item["tgt"]]
    assert len(ratings) == len(wanted)
    scores = dict(zip(wanted, said))
    for name, model in wanted:
        entry = plan.items[name]
        own = ratings[ratings["system"].eq(plan.systems[model]) & ratings["segment"].eq(entry.segment)]
        [other] = [one for one in entry.shown if one != model] if protocol == "preference" else [model]
        if protocol == "preference":
            mine, theirs = scores[name, model], scores[name, other]
            assert set(own[own["against"].eq(plan.systems[other])]["score"]) == {0.5 + (mine - theirs) / 2}
        elif protocol != "MQM":
            assert own["score"].tolist() == [scores[name, model]]
            assert own["item_type"].tolist() == [entry.shown[model]]
    assert (spans is not None) is (protocol in ("MQM", "cESA"))
    if protocol == "MQM":
        assert sorted(ratings["score"])[0] < 0
        assert sorted(ratings["score"])[1] == 0


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
