"""Pearmut's dynamic assignment: what was shown with which probability is rebuilt from the order of the log, or not told."""

import json

import numpy as np
import pytest

from tests.makers import chances_by_orders, in_lines

SYSTEMS = [f"S{i}" for i in range(6)]
COLD, TOGETHER, DOCUMENTS = 4, 2, 600


def scores_in(log):
    """List the scores of each system in a log."""
    return {
        name: [one["annotation"][0][name]["score"] for one in log if name in one["annotation"][0]] for name in SYSTEMS
    }


def release(place):
    """The weight of a place in release 1.1.6, counted from 1."""
    return 0.5 if place == 1 else 1 / place


def screen(log, weight, rng):
    """Draw the systems of the next screen as Pearmut does by all that was logged: system -> its probability there."""
    scores = scores_in(log)
    low = [name for name in SYSTEMS if len(scores[name]) < COLD]
    if low:
        others = [name for name in SYSTEMS if name not in low]
        sure, drawn = ([], low) if len(low) >= TOGETHER else (low, others)
        share = (TOGETHER - len(sure)) / len(drawn)
        chosen = rng.choice(drawn, size=TOGETHER - len(sure), replace=False)
        return dict.fromkeys(sure, 1.0) | dict.fromkeys(chosen, share)
    best = sorted(SYSTEMS, key=lambda name: -np.mean(scores[name]))
    weights = np.array([weight(place) for place in range(1, len(best) + 1)])
    found = dict(zip(best, chances_by_orders(weights, TOGETHER), strict=True))
    return {name: found[name] for name in rng.choice(best, size=TOGETHER, replace=False, p=weights / weights.sum())}


def steered(weight, *, screens=350, people=1, seed=3):
    """Let people judge as Pearmut steers: the log, and the probability of each output of each screen.

    With several people each screen is drawn when the one before last was not yet submitted, as in real campaigns.
    """
    rng = np.random.default_rng(seed)
    log, probabilities, open_ = [], [], []
    for number in range(screens + people - 1):
        if number < screens:
            shown = screen(log, weight, rng)
            said = {name: {"score": round(float(rng.uniform(40, 80) + 3 * SYSTEMS.index(name)), 3)} for name in shown}
            item = {"item_id": f"en-de_#_x_#_d{number}_#_0", "src": f"t{number}", "tgt": dict.fromkeys(shown, "o")}
            one = {"user_id": f"u{number % people}", "item_i": number, "annotation": [said], "item": [item]}
            open_.append((one | {"actions": [{"time": 10.0 * number}]}, shown))
        if number >= people - 1:
            entry, own = open_.pop(0)
            entry["actions"].append({"time": 10.0 * number + 5})
            log.append(entry)
            probabilities.append(own)
    return log, probabilities


def described(**info):
    data = [
        [{"item_id": f"en-de_#_x_#_d{i}_#_0", "src": f"t{i}", "tgt": dict.fromkeys(SYSTEMS, "o")}]
        for i in range(DOCUMENTS)
    ]
    info = {"assignment": "dynamic", "protocol": "ESA", "dynamic_models": TOGETHER, "dynamic_coldstart": COLD} | info
    return json.dumps({"campaign_id": "x", "info": info, "data": data})


@pytest.fixture
def read(imported, tmp_path):
    """Import a log with its campaign's file beside, if there is one."""

    def read(log, campaign=None):
        (tmp_path / "data/campaigns").mkdir(parents=True, exist_ok=True)
        place = tmp_path / "data/campaigns/x.en-de.json"
        place.unlink(missing_ok=True)
        if campaign:
            place.write_text(campaign, encoding="utf-8")
        ratings, _, report = imported(in_lines(*log), name="data/annotations/x.en-de.jsonl")
        return ratings, [note for note in report.notes if "dynamic" in note]

    return read


def probabilities_in(log, probabilities):
    """List the probability of each output in the order of a log."""
    return [one[name] for entry, one in zip(log, probabilities, strict=True) for name in entry["annotation"][0]]


@pytest.mark.parametrize("people", [1, 4])
def test_probabilities_are_rebuilt_from_the_order_of_the_log(read, people):
    log, probabilities = steered(release, people=people)
    ratings, [note] = read(log, described())
    expected = probabilities_in(log, probabilities)
    assert ratings["probability"].tolist() == pytest.approx(expected, rel=1e-9)
    assert "2 of 6 systems a screen" in note
    assert len(set(np.round(expected, 9))) > 5, "probabilities differ, or there is nothing to rebuild"


UNKNOWN = {  # how systems were drawn, and what the campaign's file says; what the note says then
    "no file": (release, None, ""),
    "not dynamic": (release, described(assignment="single-stream"), ""),
    "another version": (lambda place: 1 / place, described(), "were not rebuilt: the log does not fit"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_probabilities_that_are_not_known_are_not_there(read, kind):
    weight, campaign, told = UNKNOWN[kind]
    ratings, notes = read(steered(weight, screens=250)[0], campaign)
    assert "probability" not in ratings
    assert len(notes) == bool(told)
    assert all(told in note for note in notes)


def test_who_goes_back_draws_nothing_anew_and_who_begins_anew_takes_scores_away(read):
    """One who gave the last system 100 resets; what follows is drawn as if that had never been."""
    log, probabilities = steered(release, screens=200)
    late = log[-1] | {"annotation": [{name: {"score": 1.0} for name in log[-1]["annotation"][0]}]}
    odd = {
        "user_id": "odd",
        "item_i": 599,
        "item": [{"item_id": "en-de_#_x_#_d599_#_0", "src": "t599", "tgt": {"S0": "o", "S1": "o"}}],
    }
    odd |= {"annotation": [{"S0": {"score": 100.0}, "S1": {"score": 99.0}}], "actions": []}
    reset = {"user_id": "odd", "item_i": 599, "annotation": "__RESET__"}
    ratings, _ = read([*log[:60], odd, reset, *log[60:], late], described())
    kept = ratings[ratings["doc"] != "d599"]
    assert kept["probability"].tolist() == pytest.approx(probabilities_in(log, probabilities), rel=1e-9)
    assert kept["score"].tolist()[-2:] == [1, 1]
