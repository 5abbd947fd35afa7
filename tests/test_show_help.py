"""Help where it is asked for: what a kernel completes, and the first lines that ``?`` shows."""

import re

import pytest
from jupyter_client.manager import start_new_kernel

DOORS = ("show", "data", "explore")


@pytest.fixture(scope="module")
def kernel():
    """A kernel as a notebook has it, with the doors of the package imported."""
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60)
    client.execute_interactive("from evalkit import data, show; from evalkit.show import explore", timeout=60)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def completed(client, code):
    """Return what the kernel offers after some code."""
    return client.complete(code, len(code), reply=True, timeout=30)["content"]["matches"]


def told(client, code):
    """Return what ``?`` shows for a name, without the colours of a terminal."""
    content = client.inspect(code, len(code), detail_level=0, reply=True, timeout=30)["content"]
    assert content["found"], code
    return re.sub(r"\x1b\[[0-9;]*m", "", content["data"]["text/plain"])


def test_tab_after_a_door_offers_its_functions_and_not_its_imports(kernel):
    offered = {door: {match.removeprefix(f"{door}.") for match in completed(kernel, f"{door}.")} for door in DOORS}
    assert {"table", "figure", "text", "compare", "source", "signature"} <= offered["show"]
    assert {"load", "read", "open_campaign", "listing"} <= offered["data"]
    assert {"figure", "Choice", "Choices", "Range"} <= offered["explore"]
    for door in DOORS:
        assert not offered[door] & {"pd", "os", "io", "math", "hashlib", "base64", "annotations", "Any", "display"}


def test_tab_inside_a_call_offers_its_options(kernel):
    assert "fallback=" in completed(kernel, "data.load(")
    assert {"alt=", "caption="} <= set(completed(kernel, "show.figure("))


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("data.load", ["Load a registered data set", "fallback:", "data.listing()"]),
        ("show.table", ["Show a table", "caption", "digits:"]),
        ("show.figure", ["Show a figure", "alt"]),
        ("explore.figure", ["with controls", "Raises DataError"]),
        ("explore.Choices", ["boxes to tick", "of:"]),
    ],
)
def test_a_question_mark_answers_what_a_function_does_and_what_it_takes(kernel, name, answers):
    shown = told(kernel, name)
    for answer in answers:
        assert answer in shown
